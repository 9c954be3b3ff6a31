/* test_join.c: threads that begin with the same function become one branch, below the path that created
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "model/figures/figures.h"
#include "unit/profile.h"

enum { MAIN = 1, WORK, LEAF, SPAWN };

/* A path "main>work": of the whole model; -1: there is none. */
static uint32_t find(const qp_model *m, const char *path)
{
    for (uint32_t i = m->n_threads; i < m->n_nodes; i++) {
        const char *end = path + strlen(path);
        uint32_t at = i;
        for (;; at = m->nodes[at].parent) {
            const char *begin = end;
            while (begin > path && begin[-1] != '>')
                begin--;
            const char *name = m->methods[m->nodes[at].method].name;
            if (strlen(name) != (size_t)(end - begin) ||
                strncmp(name, begin, (size_t)(end - begin)) != 0)
                break;
            end = begin - (begin > path);
            if (begin == path)
                break;
        }
        if (end == path && m->nodes[m->nodes[at].parent].method == QP_ROOT_METHOD)
            return i;
    }
    return UINT32_MAX;
}

static void assert_path(const qp_model *m, const char *path, uint64_t calls, uint64_t self,
                        uint64_t total)
{
    uint32_t i = find(m, path);
    assert_int_not_equal(i, UINT32_MAX);
    assert_int_equal(m->nodes[i].f.calls, calls);
    assert_int_equal(m->nodes[i].f.self, self);
    assert_int_equal(m->nodes[i].f.total, total);
}

static void set_creator(profile *p, qp_cell thread, qp_cell node)
{
    ((qp_thread_record *)profile_at(p, thread))->creator = node;
}

typedef struct {
    profile *p;
    qp_cell main, work, leaf, spawn; /* methods */
    qp_cell threads[4];
    qp_cell spawned;  /* node of main spawn */
    qp_cell inner[4]; /* node of work of each thread but the first */
} run;

/* main 10 calls spawn 2, which created threads 2 and 3 with work 5, 7 that call leaf 1, 2; the first of them
 * created thread 4, work 20, within leaf. */
static run make_run(void)
{
    run r = {.p = profile_new()};
    r.main = profile_method(r.p, MAIN, "main", NULL, NULL);
    r.work = profile_method(r.p, WORK, "work", NULL, NULL);
    r.leaf = profile_method(r.p, LEAF, "leaf", NULL, NULL);
    r.spawn = profile_method(r.p, SPAWN, "spawn", NULL, NULL);
    static const uint64_t self[] = {0, 5, 7, 20};
    qp_cell leaf = 0;
    /* the creator's record comes last: the order of the file does not matter */
    for (int i = 3; i >= 0; i--)
        r.threads[i] = profile_thread(r.p);
    qp_cell main = profile_node(r.p, r.threads[0], 0, r.main, 1, 10);
    r.spawned = profile_node(r.p, r.threads[0], main, r.spawn, 3, 2);
    for (int i = 1; i < 4; i++) {
        r.inner[i] = profile_node(r.p, r.threads[i], 0, r.work, 1, self[i]);
        if (i < 3) {
            qp_cell node = profile_node(r.p, r.threads[i], r.inner[i], r.leaf, 1, (uint64_t)i);
            leaf = leaf ? leaf : node;
            set_creator(r.p, r.threads[i], r.spawned);
        }
    }
    set_creator(r.p, r.threads[3], leaf);
    return r;
}

static qp_model *join(run r, qp_load_status expected)
{
    qp_model *m = profile_read(r.p, expected);
    assert_true(qp_model_join_threads(&m));
    return m;
}

static void threads_are_below_their_creators(void **state)
{
    (void)state;
    qp_model *m = join(make_run(), QP_LOAD_CLEAN);
    assert_path(m, "main", 1, 10, 47);
    assert_path(m, "main>spawn", 3, 2, 37);
    assert_path(m, "main>spawn>work", 2, 12, 35);
    assert_path(m, "main>spawn>work>leaf", 2, 3, 23);
    assert_path(m, "main>spawn>work>leaf>work", 1, 20, 20);
    assert_int_equal(m->n_nodes - m->n_threads, 5);
    assert_int_equal(m->run.total, 47);
    assert_int_equal(m->run.calls, 9); /* 1 + 3 + 3 + 2 */
    assert_true(m->run.joined);
    profile_assert_times(m, "work", 32, 35); /* recursion counts once */
    profile_assert_times(m, "main", 10, 47);
    assert_int_equal(m->nodes[QP_ROOT_NODE].f.total, 47);
    static const uint64_t totals[] = {20, 9, 6, 12}; /* in the order of the file: 4, 3, 2, 1 */
    for (uint32_t i = 1; i < m->n_threads; i++)
        assert_int_equal(m->threads[i].total, totals[i - 1]);
    qp_model_free(m);
}

static void threads_without_creators_are_one_branch(void **state)
{
    (void)state;
    run r = make_run();
    for (int i = 1; i < 4; i++)
        set_creator(r.p, r.threads[i], 0);
    qp_model *m = join(r, QP_LOAD_CLEAN);
    assert_path(m, "main", 1, 10, 12);
    assert_path(m, "work", 3, 32, 35);
    assert_path(m, "work>leaf", 2, 3, 3);
    assert_int_equal(m->nodes[m->threads[m->run.joined].root].f.total, 47);
    qp_model_free(m);
}

/* Created while no call was open: it has the place of the thread that created it. */
static void a_root_is_the_place_of_its_thread(void **state)
{
    (void)state;
    run r = make_run();
    set_creator(r.p, r.threads[3], ((qp_thread_record *)profile_at(r.p, r.threads[1]))->root);
    qp_model *m = join(r, QP_LOAD_CLEAN);
    assert_path(m, "main>spawn>work", 3, 32, 35);
    assert_path(m, "main", 1, 10, 47);
    qp_model_free(m);
}

/* Damage: each of two threads was created by the other, a thread by itself, by a cell that is no node. */
static void damaged_creators_are_harmless(void **state)
{
    (void)state;
    run r = make_run();
    set_creator(r.p, r.threads[1], r.inner[2]);
    set_creator(r.p, r.threads[2], r.inner[1]);
    set_creator(r.p, r.threads[3], r.inner[3]);
    qp_model *m = join(r, QP_LOAD_CLEAN);
    assert_int_equal(m->nodes[QP_ROOT_NODE].f.total, 47);
    assert_path(m, "main", 1, 10, 12);
    assert_int_equal(profile_find(m, "work")->all.calls, 3);
    qp_model_free(m);
    static const qp_cell wrong[] = {1, QP_NIL_NODE, QP_HEAD_CELLS, 3000, UINT32_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        r = make_run();
        set_creator(r.p, r.threads[3], wrong[i]);
        m = join(r, QP_LOAD_CLEAN);
        assert_path(m, "work", 1, 20, 20);
        assert_path(m, "main", 1, 10, 27);
        qp_model_free(m);
    }
}

static void one_thread_alone_is_not_joined(void **state)
{
    (void)state;
    profile *p = profile_new();
    profile_call(p, profile_thread(p), 0, 1, "main", 1, 17);
    profile_thread(p); /* it called nothing */
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    assert_true(qp_model_join_threads(&m));
    assert_int_equal(m->run.joined, 0);
    qp_model_free(m);
}

/* A joined model is collapsed like any other. */
static void a_joined_model_can_be_collapsed(void **state)
{
    (void)state;
    qp_model *m = join(make_run(), QP_LOAD_CLEAN);
    bool is_hidden[8] = {0};
    is_hidden[profile_index(m, "spawn")] = true;
    assert_true(qp_model_collapse(&m, &(qp_collapse){.is_hidden = is_hidden}));
    assert_path(m, "main", 1, 12, 47);
    assert_path(m, "main>work", 2, 12, 35);
    qp_model_free(m);
}

/* a 1 calls b 2, which calls a 4, which calls b 8 and c 16. */
static void recursion_is_at_the_outer_call(void **state)
{
    (void)state;
    profile *p = profile_new();
    qp_cell th = profile_thread(p);
    qp_cell a = profile_method(p, 1, "a", NULL, NULL),
            b = profile_method(p, 2, "b", NULL, NULL);
    qp_cell c = profile_method(p, 3, "c", NULL, NULL);
    qp_cell inner = profile_node(
        p, th, profile_node(p, th, profile_node(p, th, 0, a, 1, 1), b, 1, 2), a, 3, 4);
    profile_node(p, th, inner, b, 5, 8);
    profile_node(p, th, inner, c, 7, 16);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    bool is_hidden[8] = {0};
    assert_true(
        qp_model_collapse(&m, &(qp_collapse){.is_hidden = is_hidden, .joins_recursion = true}));
    assert_int_equal(m->n_nodes - m->n_threads, 3);
    assert_path(m, "a", 4, 5, 31);
    assert_path(m, "a>b", 6, 10, 10);
    assert_path(m, "a>c", 7, 16, 16);
    assert_int_equal(m->run.total, 31);
    qp_model_free(m);
}

static void a_joined_view_leaves_its_model_as_it_is(void **state)
{
    (void)state;
    qp_model *m = profile_read(make_run().p, QP_LOAD_CLEAN);
    const qp_model *joined = qp_model_joined(m);
    assert_ptr_not_equal(joined, m);
    assert_path(joined, "main>spawn", 3, 2, 37);
    assert_path(m, "main>spawn", 3, 2, 2);
    assert_true(m->run.joined == 0 && joined->run.joined != 0);
    const qp_model *again = qp_model_joined(joined);
    assert_ptr_equal(again, joined);
    qp_model_joined_end(again, joined);
    qp_model_joined_end(joined, m);
    assert_path(m, "main>spawn", 3, 2, 2);
    qp_model_free(m);
}

/* What the calls of spawn created is in the focus on them, before threads are joined as after it. */
static void a_focus_follows_creators(void **state)
{
    (void)state;
    for (int is_followed = 0; is_followed < 2; is_followed++) {
        qp_model *m = profile_read(make_run().p, QP_LOAD_CLEAN);
        const qp_collapse focus = {.focus = profile_index(m, "spawn"),
                                   .follows_creators = is_followed};
        assert_true(qp_model_collapse(&m, &focus));
        assert_int_equal(m->run.total, is_followed ? 37 : 2);
        assert_true(qp_model_join_threads(&m));
        assert_path(m, "spawn", 3, 2, is_followed ? 37 : 2);
        if (is_followed)
            assert_path(m, "spawn>work>leaf>work", 1, 20, 20);
        qp_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_below_their_creators),
        cmocka_unit_test(a_focus_follows_creators),
        cmocka_unit_test(a_joined_view_leaves_its_model_as_it_is),
        cmocka_unit_test(threads_without_creators_are_one_branch),
        cmocka_unit_test(a_root_is_the_place_of_its_thread),
        cmocka_unit_test(damaged_creators_are_harmless),
        cmocka_unit_test(one_thread_alone_is_not_joined),
        cmocka_unit_test(a_joined_model_can_be_collapsed),
        cmocka_unit_test(recursion_is_at_the_outer_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
