/* test_fold.c: hidden methods give their time to their callers; a focus hides everything
 * else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"
#include "unit/profile.h"

static void assert_times(const qp_model *m, const char *name, uint64_t calls, uint64_t self,
                         uint64_t total)
{
    const qp_figures *f = &profile_find(m, name)->all;
    assert_int_equal(f->calls, calls);
    assert_int_equal(f->self, self);
    assert_int_equal(f->total, total);
}

/* @param names  hidden ones, "" after the last @param focus  NULL: all */
static qp_model *fold(qp_model *m, const char *const *names, const char *focus)
{
    bool *is_hidden = qp_alloc_zeroed(m->n_methods, sizeof *is_hidden);
    for (; **names; names++)
        is_hidden[profile_index(m, *names)] = true;
    qp_collapse how = {.is_hidden = is_hidden, .focus = focus ? profile_index(m, focus) : 0};
    assert_true(qp_model_collapse(&m, &how));
    qp_free(is_hidden);
    return m;
}
#define HIDING(...) ((const char *const[]){__VA_ARGS__, ""})

/* main 17 calls one (10, calls three 10) and two (8): spec/qii.md section 8. */
static qp_model *reference_run(void)
{
    profile *p = profile_new();
    qp_cell th = profile_thread(p);
    qp_cell three = profile_method(p, 3, "three", NULL, NULL);
    qp_cell top = profile_call(p, th, 0, 1, "main", 1, 17);
    qp_cell one = profile_call(p, th, top, 2, "one", 1, 10);
    profile_node(p, th, one, three, 1, 10);
    qp_cell two = profile_call(p, th, top, 4, "two", 1, 8);
    profile_node(p, th, two, three, 2, 0);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    return m;
}

static void a_hidden_method_gives_its_time_to_its_caller(void **state)
{
    (void)state;
    qp_model *m = fold(reference_run(), HIDING("three"), NULL);
    assert_times(m, "main", 1, 17, 45);
    assert_times(m, "one", 1, 20, 20);
    assert_times(m, "two", 1, 8, 8);
    assert_times(m, "three", 0, 0, 0);
    assert_int_equal(m->run.total, 45);
    assert_int_equal(m->run.calls, 3);
    assert_true(profile_find(m, "one")->has_hidden);
    assert_true(profile_find(m, "two")->has_hidden);
    assert_false(profile_find(m, "main")->has_hidden);
    qp_model_free(m);
}

/* three was called by one once and by two twice: now by main, in one path. */
static void callees_of_a_hidden_method_are_called_by_its_caller(void **state)
{
    (void)state;
    qp_model *m = fold(reference_run(), HIDING("one", "two"), NULL);
    assert_times(m, "main", 1, 35, 45);
    assert_times(m, "three", 3, 10, 10);
    assert_int_equal(m->n_nodes, 4); /* run, thread, main, three */
    qp_edge *edges;
    size_t n;
    assert_true(qp_model_callers(m, profile_index(m, "three"), QP_ALL_THREADS, &edges, &n));
    assert_int_equal(n, 1);
    assert_int_equal(edges[0].method, profile_index(m, "main"));
    assert_int_equal(edges[0].calls, 3);
    qp_free(edges);
    qp_model_free(m);
}

static void time_without_a_visible_caller_belongs_to_the_root(void **state)
{
    (void)state;
    qp_model *m = fold(reference_run(), HIDING("main"), NULL);
    assert_int_equal(m->nodes[m->threads[1].root].f.self, 17);
    assert_int_equal(m->run.total, 45);
    assert_int_equal(m->threads[1].total, 45);
    assert_int_equal(m->methods[QP_ROOT_METHOD].all.self, 45);
    assert_times(m, "one", 1, 10, 20);
    m = fold(m, HIDING("one"), NULL); /* once more, of a folded model */
    assert_int_equal(m->nodes[m->threads[1].root].f.self, 27);
    assert_times(m, "three", 3, 10, 10);
    assert_int_equal(m->run.total, 45);
    qp_model_free(m);
}

static void a_focus_is_the_whole_run(void **state)
{
    (void)state;
    qp_model *m = fold(reference_run(), HIDING(""), "one");
    assert_int_equal(m->run.total, 20);
    assert_int_equal(m->run.calls, 2);
    assert_int_equal(m->threads[1].total, 20);
    assert_times(m, "one", 1, 10, 20);
    assert_times(m, "three", 1, 10, 10);
    assert_times(m, "main", 0, 0, 0);
    assert_int_equal(m->nodes[m->threads[1].root].f.self, 0);
    qp_model_free(m);
}

/* Hiding what is in focus leaves the focus. */
static void the_focus_is_never_hidden(void **state)
{
    (void)state;
    qp_model *m = fold(reference_run(), HIDING("one", "three"), "one");
    assert_times(m, "one", 1, 20, 20);
    assert_int_equal(m->run.total, 20);
    qp_model_free(m);
}

/* A 32, B 17, C 23, A 32, D 14 one below the other: with B and C hidden A calls itself. */
static void recursion_through_hidden_methods_is_counted_once(void **state)
{
    (void)state;
    profile *p = profile_new();
    qp_cell th = profile_thread(p), a = profile_method(p, 1, "A", NULL, NULL);
    qp_cell outer = profile_node(p, th, 0, a, 1, 32);
    qp_cell b = profile_call(p, th, outer, 2, "B", 1, 17);
    qp_cell c = profile_call(p, th, b, 3, "C", 1, 23);
    qp_cell inner = profile_node(p, th, c, a, 1, 32);
    profile_call(p, th, inner, 4, "D", 1, 14);
    qp_model *m = fold(profile_read(p, QP_LOAD_CLEAN), HIDING("B", "C"), NULL);
    assert_times(m, "A", 2, 104, 118);
    assert_times(m, "D", 1, 14, 14);
    qp_model_free(m);
}

static void one_call_has_no_extremes_where_others_are_inside(void **state)
{
    (void)state;
    profile *p = profile_new();
    qp_cell th = profile_thread(p);
    qp_cell f = profile_call(p, th, 0, 1, "f", 1, 5);
    qp_cell g = profile_call(p, th, f, 2, "g", 1, 3);
    for (int i = 0; i < 2; i++) {
        qp_node *n = profile_at(p, i ? g : f);
        n->self_min = n->self_max = n->self;
    }
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    assert_int_equal(profile_find(m, "f")->all.min, 5);
    m = fold(m, HIDING("g"), NULL);
    const qp_figures *figures = &profile_find(m, "f")->all;
    assert_true(figures->min > figures->max);
    qp_model_free(m);
}

/* main and hidden are open, hidden on top. */
static void open_frames_are_the_visible_ones(void **state)
{
    (void)state;
    profile *p = profile_new();
    qp_cell th = profile_thread(p);
    qp_cell top = profile_call(p, th, 0, 1, "main", 1, 0);
    qp_cell hid = profile_call(p, th, top, 2, "hid", 1, 0);
    qp_cell f = profile_call(p, th, hid, 3, "f", 1, 0);
    profile_stack(p, th, (qp_cell[]){top, hid, f}, 3);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    assert_int_equal(m->threads[1].depth, 3);
    m = fold(m, HIDING("hid"), NULL);
    assert_int_equal(m->threads[1].n_frames, 2);
    assert_int_equal(m->threads[1].depth, 2);
    assert_int_equal(m->nodes[m->threads[1].frames[0]].method, profile_index(m, "main"));
    assert_int_equal(m->nodes[m->threads[1].frames[1]].method, profile_index(m, "f"));
    qp_model_free(m);
}

/* f: 100 samples of 10 ticks, its hidden callee 44: variances 1000^2/100 and 440^2/44 add to
 * 14400, half = 1.96 * 120 = 235.2. */
static void intervals_of_samples_add_up(void **state)
{
    (void)state;
    profile *p = profile_new();
    profile_head(p)->time_mode = QP_TIME_SAMPLED;
    profile_head(p)->end_raw = PROFILE_START + 2000;
    qp_cell th = profile_thread(p);
    qp_cell f = profile_call(p, th, 0, 1, "f", 3, 1000);
    qp_cell g = profile_call(p, th, f, 2, "g", 3, 440);
    ((qp_node *)profile_at(p, f))->self_max = 100;
    ((qp_node *)profile_at(p, g))->self_max = 44;
    qp_model *m = fold(profile_read(p, QP_LOAD_CLEAN), HIDING("g"), NULL);
    assert_int_equal(profile_find(m, "f")->all.self, 1440);
    assert_int_equal(profile_find(m, "f")->all.self_half, 235);
    assert_int_equal(profile_find(m, "f")->all.total_half, 235);
    assert_int_equal(profile_find(m, "f")->all.samples, 144);
    qp_model_free(m);
}

/* What each call adds to its caller is 2 ticks, to the called method 1. f is entered once from
 * outside and calls g 3 times, g calls h 5 times: 3*2 + 1, 5*2 + 3 and 5 of cost. */
static void what_recording_cost_moves_with_the_time(void **state)
{
    (void)state;
    profile *p = profile_new();
    profile_head(p)->cost_entry = 1500;
    profile_head(p)->cost_exit = 500;
    profile_head(p)->cost_inside = 1000;
    qp_cell th = profile_thread(p);
    qp_cell f = profile_call(p, th, 0, 1, "f", 1, 100);
    qp_cell g = profile_call(p, th, f, 2, "g", 3, 100);
    profile_call(p, th, g, 3, "h", 5, 100);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    assert_int_equal(profile_find(m, "f")->all.cost, 7);
    assert_int_equal(profile_find(m, "g")->all.cost, 13);
    assert_int_equal(profile_find(m, "h")->all.cost, 5);
    assert_int_equal(m->run.cost_total, 25);
    m = fold(m, HIDING("g"), NULL);
    assert_int_equal(profile_find(m, "f")->all.cost, 20);
    assert_int_equal(m->run.cost_total, 25);
    m = fold(m, HIDING(""), "h");
    assert_int_equal(m->run.cost_total, 5);
    qp_model_free(m);
}

static void without_memory_the_model_stays(void **state)
{
    (void)state;
    qp_model *m = reference_run(), *before = m;
    bool is_hidden[8] = {false};
    is_hidden[profile_index(m, "three")] = true;
    qp_collapse how = {.is_hidden = is_hidden};
    bool is_folded = false;
    for (uint64_t n = 1; !is_folded; n++) {
        qp_alloc_fail_after(n, true);
        is_folded = qp_model_collapse(&m, &how);
        qp_alloc_fail_after(0, false);
        assert_true(is_folded || m == before);
        assert_true(n < 100);
    }
    assert_times(m, "one", 1, 20, 20);
    qp_model_free(m);
}

/* ---- against a naive fold ---------------------------------------------------------------- */

enum { TREE_METHODS = 6, TREE_NODES = 120, TREES = 60, PATH_BYTES = TREE_NODES + 1 };

/* A visible path as a text of a letter each, with what is charged to it. */
typedef struct {
    char path[PATH_BYTES];
    uint64_t calls, self;
} naive_path;

typedef struct {
    naive_path paths[TREE_NODES + 2];
    size_t n;
} naive_sums;

static naive_path *naive_at(naive_sums *s, const char *path)
{
    size_t i = 0;
    while (i < s->n && strcmp(s->paths[i].path, path) != 0)
        i++;
    if (i == s->n)
        strcpy(s->paths[s->n++].path, path);
    return &s->paths[i];
}

/* The letters of a node's path, outermost first. */
static void path_of(const qp_model *m, uint32_t node, char *to)
{
    size_t n = m->nodes[node].depth - 1;
    to[n] = '\0';
    for (; n > 0; node = m->nodes[node].parent)
        to[--n] = m->methods[m->nodes[node].method].name[0];
}

/* Cut the path off before the focus, drop the hidden letters. @return false: not in the
 * focus */
static bool fold_path(char *path, const char *hidden, char focus)
{
    char *begin = focus ? strchr(path, focus) : path, *to = path;
    if (!begin)
        return false;
    for (; *begin; begin++)
        if (*begin == focus || !strchr(hidden, *begin))
            *to++ = *begin;
    *to = '\0';
    return true;
}

static void sum_naively(naive_sums *s, const qp_model *m, const char *hidden, char focus)
{
    char path[PATH_BYTES];
    s->n = 0;
    for (uint32_t i = m->n_threads; i < m->n_nodes; i++) {
        const qp_model_node *node = &m->nodes[i];
        char own = m->methods[node->method].name[0];
        path_of(m, i, path);
        if (!fold_path(path, hidden, focus))
            continue;
        naive_path *sum = naive_at(s, path);
        sum->self += node->f.self;
        if (own == focus || !strchr(hidden, own))
            sum->calls += node->f.calls;
    }
}

/* Of a method: its self, and the self of all paths that hold its letter. */
static void compare_methods(const naive_sums *s, const qp_model *m)
{
    for (uint32_t k = 1; k < m->n_methods; k++) {
        uint64_t self = 0, total = 0;
        char letter = m->methods[k].name[0];
        for (size_t i = 0; i < s->n; i++) {
            size_t n = strlen(s->paths[i].path);
            self += n && s->paths[i].path[n - 1] == letter ? s->paths[i].self : 0;
            total += strchr(s->paths[i].path, letter) ? s->paths[i].self : 0;
        }
        assert_int_equal(m->methods[k].all.self, self);
        assert_int_equal(m->methods[k].all.total, total);
    }
}

static void compare_paths(naive_sums *s, const qp_model *m)
{
    char path[PATH_BYTES];
    uint64_t total = 0;
    for (size_t i = 0; i < s->n; i++)
        total += s->paths[i].self;
    assert_int_equal(m->run.total, total);
    for (uint32_t i = 1; i < m->n_nodes; i++) {
        path_of(m, i, path);
        naive_path *sum = naive_at(s, path);
        assert_int_equal(m->nodes[i].f.calls, sum->calls);
        assert_int_equal(m->nodes[i].f.self, sum->self);
        assert_true(m->nodes[i].parent < i);
        sum->calls = sum->self = 0; /* no path is there twice, and none is left out */
    }
    for (size_t i = 0; i < s->n; i++)
        assert_int_equal(s->paths[i].calls + s->paths[i].self, 0);
}

static unsigned pick(unsigned *seed, unsigned n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 12) % n;
}

static qp_model *random_model(unsigned *seed)
{
    profile *p = profile_new();
    qp_cell th = profile_thread(p), methods[TREE_METHODS], nodes[TREE_NODES];
    for (unsigned k = 0; k < TREE_METHODS; k++)
        methods[k] = profile_method(p, k + 1, (char[]){(char)('a' + k), '\0'}, NULL, NULL);
    for (unsigned i = 0; i < TREE_NODES; i++) {
        unsigned parent = pick(seed, i + 1);
        nodes[i] =
            profile_node(p, th, parent ? nodes[parent - 1] : 0,
                         methods[pick(seed, TREE_METHODS)], 1 + pick(seed, 9), pick(seed, 100));
    }
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    return m;
}

static void a_folded_tree_is_what_a_naive_fold_makes_of_it(void **state)
{
    (void)state;
    static naive_sums sums;
    unsigned seed = 4;
    for (int round = 0; round < TREES; round++) {
        bool is_hidden[TREE_METHODS + 1] = {false};
        char hidden[TREE_METHODS + 1] = "";
        unsigned focus = pick(&seed, 2) ? 1 + pick(&seed, TREE_METHODS) : 0;
        qp_model *m = random_model(&seed);
        for (uint32_t k = 1; k < m->n_methods; k++) {
            is_hidden[k] = pick(&seed, 3) == 0;
            if (is_hidden[k])
                strncat(hidden, m->methods[k].name, 1);
        }
        sum_naively(&sums, m, hidden, focus ? m->methods[focus].name[0] : '\0');
        qp_collapse how = {.is_hidden = is_hidden, .focus = focus};
        assert_true(qp_model_collapse(&m, &how));
        compare_methods(&sums, m);
        compare_paths(&sums, m);
        qp_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hidden_method_gives_its_time_to_its_caller),
        cmocka_unit_test(callees_of_a_hidden_method_are_called_by_its_caller),
        cmocka_unit_test(time_without_a_visible_caller_belongs_to_the_root),
        cmocka_unit_test(a_focus_is_the_whole_run),
        cmocka_unit_test(the_focus_is_never_hidden),
        cmocka_unit_test(recursion_through_hidden_methods_is_counted_once),
        cmocka_unit_test(one_call_has_no_extremes_where_others_are_inside),
        cmocka_unit_test(open_frames_are_the_visible_ones),
        cmocka_unit_test(intervals_of_samples_add_up),
        cmocka_unit_test(what_recording_cost_moves_with_the_time),
        cmocka_unit_test(without_memory_the_model_stays),
        cmocka_unit_test(a_folded_tree_is_what_a_naive_fold_makes_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
