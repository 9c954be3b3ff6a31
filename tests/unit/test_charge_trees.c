/* test_charge_trees.c tests model/figures/attribution.c and collapse.c: sums over random trees
 * against the matcher that looks at each path by itself, and views of what a pattern counts. */
#include <stdio.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "code/pattern.h"
#include "model/figures/figures.h"
#include "unit/patterns.h"
#include "unit/stacks.h"

/* ---- random trees ------------------------------------------------------------------------ */

enum { NODES = 60, WORDS = 7 };

/* Two threads; no caller calls the same procedure on two paths. */
static qp_model *random_run(void)
{
    static const char *const words[WORDS] = {"m.a", "m.b", "x.a", "x.b", "y.a", "y.b", "?"};
    stacks v = {.p = profile_new()};
    qp_cell threads[2] = {profile_thread(v.p), profile_thread(v.p)};
    qp_cell cells[NODES + 2];
    int above[NODES + 2] = {0}, word_of[NODES + 2], thread_of[NODES + 2] = {0, 1};
    for (int i = 0; i < NODES + 2; i++) {
        int parent = i < 2 ? i : (int)pattern_pick((unsigned)i),
            word = (int)pattern_pick(WORDS);
        for (int k = 2; k < i; k++)
            if (above[k] == parent && word_of[k] == word)
                parent = k;
        above[i] = parent;
        word_of[i] = i < 2 ? -1 : word;
        thread_of[i] = i < 2 ? i : thread_of[parent];
        qp_cell th = threads[thread_of[i]];
        cells[i] = i < 2
                       ? ((qp_thread_record *)profile_at(v.p, th))->root
                       : profile_node(v.p, th, cells[parent],
                                      stacks_method(&v, words[word], (int)strlen(words[word])),
                                      1 + pattern_pick(3), 1 + pattern_pick(100));
        if (pattern_pick(3))
            profile_more(v.p, th, cells[i])->samples = pattern_pick(50);
    }
    profile_head(v.p)->pc_period = 1000;
    qp_model *m = profile_load(v.p, QP_LOAD_CLEAN);
    profile_free(v.p);
    return m;
}

typedef struct {
    const qp_model *m;
    const qp_pattern *p;
    const char *const *modules;
    uint32_t frames[NODES + 2], n;
} path;

static bool frame_fits(void *to, const qp_item *item, uint32_t frame)
{
    const path *x = to;
    uint32_t method = x->m->nodes[x->frames[frame]].method;
    return qp_attribution_is_procedure(x->m, x->frames[frame]) &&
           qp_pattern_name_fits(x->p, item, x->modules[method],
                                x->m->methods[method].bare_name);
}

/* Figures of the spec's sections 2 and 4, path by path. */
typedef struct {
    uint64_t shallow[WORDS + 1], deep[WORDS + 1]; /* by method */
    qp_attribution_totals t;
    uint64_t total; /* ticks of what counts */
} naive;

static void read_path(path *x, uint32_t node)
{
    x->n = 0;
    for (uint32_t at = node; x->m->nodes[at].method; at = x->m->nodes[at].parent)
        x->n++;
    uint32_t n = x->n;
    for (uint32_t at = node; n; at = x->m->nodes[at].parent)
        x->frames[--n] = at;
}

static void add_naively(naive *to, path *x, uint32_t node)
{
    static uint64_t scratch[1 << 16];
    uint64_t n = x->m->nodes[node].f.pc_samples;
    int64_t charged;
    uint32_t n_deep;
    bool has[WORDS + 1] = {false};
    read_path(x, node);
    bool is_foreign = x->n && !qp_attribution_is_procedure(x->m, node);
    const qp_pattern_stack stack = {x->n, is_foreign, frame_fits, x};
    to->t.occurred += n;
    if (qp_pattern_match(x->p, &stack, scratch, sizeof scratch, &charged, &n_deep) !=
        QP_PATTERN_YES) {
        to->t.skipped += n;
        return;
    }
    to->t.counted += n;
    to->total += x->n ? x->m->nodes[node].f.self : 0;
    if (charged >= 0 && qp_attribution_is_procedure(x->m, x->frames[charged]))
        to->shallow[x->m->nodes[x->frames[charged]].method] += n;
    else
        to->t.foreign += n;
    for (uint32_t i = 0; i < n_deep; i++) {
        uint32_t method = x->m->nodes[x->frames[i]].method;
        if (qp_attribution_is_procedure(x->m, x->frames[i]) && !has[method])
            to->deep[method] += n;
        has[method] = true;
    }
}

static void assert_sums(const qp_model *m, const qp_attributions *c, const naive *wanted,
                        const char *pattern)
{
    qp_attribution_row *rows;
    size_t n;
    qp_attribution_totals t = {0};
    assert_true(qp_attributions_list(c, QP_ALL_THREADS, false, &rows, &n, &t));
    for (uint32_t i = 1; i < m->n_methods; i++) {
        const qp_model_method *k = &m->methods[i];
        uint64_t deep, shallow = stacks_shallow(rows, n, c->modules[i], k->bare_name, &deep);
        if (k->flags & QP_METHOD_PSEUDO)
            continue;
        if (shallow != wanted->shallow[i] || deep != wanted->deep[i])
            fail_msg("%s: %s: %d, %d deep; expected %d, %d", pattern, k->name, (int)shallow,
                     (int)deep, (int)wanted->shallow[i], (int)wanted->deep[i]);
        assert_true(deep >= shallow);
    }
    assert_memory_equal(&t, &wanted->t, sizeof t);
    qp_free(rows);
}

/* A view has the time and the PC samples of what counts, and no more. */
static void assert_view(qp_model *m, const qp_attributions *c, const naive *wanted,
                        const char *pattern)
{
    uint64_t pc_samples = 0;
    assert_true(qp_model_collapse(&m, &(qp_collapse){.charged = c->nodes, .when = pattern}));
    for (uint32_t i = 1; i < m->n_nodes; i++)
        pc_samples += m->nodes[i].f.pc_samples;
    assert_int_equal(pc_samples, wanted->t.counted);
    assert_int_equal(m->run.total, wanted->total);
    assert_string_equal(m->run.when, pattern);
    for (uint32_t i = 1; i < m->n_methods; i++)
        if (!(m->methods[i].flags & QP_METHOD_PSEUDO))
            assert_int_equal(m->methods[i].all.pc_samples, wanted->shallow[i]);
    qp_model_free(m);
}

static void random_trees_sum_up_as_path_by_path(void **state)
{
    (void)state;
    static qp_pattern p;
    int n_skipped = 0, n_moved = 0;
    for (int round = 0; round < 4000; round++) {
        char pattern[4096], *at = pattern;
        qp_error error;
        qp_attributions c;
        qp_model *m = random_run();
        pattern_write(&at, 3);
        assert_int_equal(qp_pattern_parse(&p, pattern, &error), QP_PARSE_OK);
        stacks_apply(&c, m, pattern);
        naive wanted = {0};
        path x = {.m = m, .p = &p, .modules = c.modules};
        for (uint32_t i = 1; i < m->n_nodes; i++) {
            add_naively(&wanted, &x, i);
            n_skipped += c.nodes[i] == QP_ATTRIBUTION_SKIPPED;
            n_moved += c.nodes[i] != QP_ATTRIBUTION_SKIPPED && c.nodes[i] != i;
        }
        assert_sums(m, &c, &wanted, pattern);
        assert_view(m, &c, &wanted, pattern);
        qp_attributions_fini(&c);
    }
    assert_true(n_skipped > 1000 && n_moved > 1000); /* the patterns mean something */
}

/* ---- views ------------------------------------------------------------------------------- */

/* m.a calls m.b (10 each), which calls m.a, which calls x.c. */
static void a_view_charges_time_and_keeps_callers(void **state)
{
    (void)state;
    qp_model *m = stacks_recursive_run();
    qp_attributions c;
    stacks_apply(&c, m, "m.b:->*");
    assert_true(qp_model_collapse(&m, &(qp_collapse){.charged = c.nodes, .when = "m.b:->*"}));
    qp_attributions_fini(&c);
    assert_int_equal(m->n_nodes, 4); /* run, thread, m.a, m.b */
    assert_int_equal(m->run.total, 30);
    assert_int_equal(m->run.unfolded_total, 40);
    assert_int_equal(m->run.calls, 1); /* of m.b; others are charged to it */
    const qp_figures *a = &profile_find(m, "m.a")->all, *b = &profile_find(m, "m.b")->all;
    assert_int_equal(a->self, 0);
    assert_int_equal(a->total, 30);
    assert_int_equal(a->calls, 0);
    assert_int_equal(b->self, 30);
    assert_true(profile_find(m, "m.b")->has_hidden);
    qp_model_free(m);
}

static void a_view_without_colons_leaves_out_the_rest(void **state)
{
    (void)state;
    qp_model *m = stacks_recursive_run();
    qp_attributions c;
    stacks_apply(&c, m, "m.a");
    assert_true(qp_model_collapse(&m, &(qp_collapse){.charged = c.nodes, .when = "m.a"}));
    qp_attributions_fini(&c);
    assert_int_equal(m->n_nodes, 5);
    assert_int_equal(m->run.total, 20);
    assert_int_equal(profile_find(m, "m.a")->all.calls, 2);
    assert_int_equal(profile_find(m, "m.a")->all.self, 20);
    assert_int_equal(profile_find(m, "m.a")->all.pc_samples, 5);
    assert_int_equal(profile_find(m, "m.b")->all.self, 0);
    assert_int_equal(profile_find(m, "m.b")->all.total, 10);
    assert_int_equal(profile_find(m, "x.c")->all.total, 0);
    qp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_trees_sum_up_as_path_by_path),
        cmocka_unit_test(a_view_charges_time_and_keeps_callers),
        cmocka_unit_test(a_view_without_colons_leaves_out_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
