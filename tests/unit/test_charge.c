/* test_charge.c tests model/figures/attribution.c: the worked results of spec/sampling.md
 * through a profile, sums worked out by hand, and the recorder's own figures of the same run.
 * Random trees: test_charge_trees.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "code/pattern.h"
#include "format/builder.h"
#include "unit/patterns.h"
#include "unit/play.h"
#include "unit/stacks.h"

/* ---- one stack --------------------------------------------------------------------------- */

/* One path per word, the last one with an interrupt. */
static qp_model *one_stack(const char *text)
{
    stacks v = {.p = profile_new()};
    qp_cell th = profile_thread(v.p);
    qp_cell node = ((qp_thread_record *)profile_at(v.p, th))->root;
    while (*(text += strspn(text, " "))) {
        int n = (int)strcspn(text, " ");
        node = profile_node(v.p, th, node, stacks_method(&v, text, n), 1, 10);
        text += n;
    }
    profile_more(v.p, th, node)->samples = 1;
    qp_model *m = profile_load(v.p, QP_LOAD_CLEAN);
    profile_free(v.p);
    return m;
}

static const char *name_of(const qp_attributions *c, uint32_t node, char *to)
{
    const qp_model_node *n = &c->m->nodes[node];
    if (!qp_attribution_is_procedure(c->m, node))
        return "foreignPcs";
    sprintf(to, "%s.%s", c->modules[n->method], c->m->methods[n->method].bare_name);
    return to;
}

/* A pattern that means the same and is too large to be written out. */
static void repeat(const char *pattern, char *to)
{
    static const int often[] = {1100, 700, 350, 270};
    static qp_pattern p;
    qp_error error;
    qp_parse parse = QP_PARSE_ROOM;
    for (size_t k = 0; k < sizeof often / sizeof *often && parse == QP_PARSE_ROOM; k++) {
        char *at = to;
        for (int i = 0; i < often[k]; i++)
            at += sprintf(at, "%s%s", i ? "|" : "", pattern);
        parse = qp_pattern_parse(&p, to, &error);
    }
    assert_int_equal(parse, QP_PARSE_OK);
}

/* Claim: "m.q", "foreignPcs", or "-" for not counted; the same if the pattern is too large to
 * be written out. */
static void assert_charged(const char *pattern, const char *stack, const char *wanted)
{
    char name[2 * STACKS_NAME_BYTES], large[64 * 1024];
    qp_model *m = one_stack(stack);
    repeat(pattern, large);
    for (int is_large = 0; is_large < 2; is_large++) {
        qp_attributions c;
        stacks_apply(&c, m, is_large ? large : pattern);
        uint32_t charged = c.nodes[m->n_nodes - 1];
        const char *got = charged == QP_ATTRIBUTION_SKIPPED ? "-" : name_of(&c, charged, name);
        if (strcmp(got, wanted) != 0)
            fail_msg("%s on %s charges %s, not %s", pattern, stack, got, wanted);
        qp_attributions_fini(&c);
    }
    qp_model_free(m);
}

/* ---- the specification ------------------------------------------------------------------- */

static void the_worked_results_hold_of_a_profile(void **state) /* sampling 40 */
{
    (void)state;
    static const pattern_result rows[] = {
        /* the rules besides */
        {"m.b", "m.a m.b", "m.b"},
        {"m->n", "m.a m.b m.c n.q", "n.q"},
        {"m->n", "m.a x.p n.q", "-"},
        {"M.A->$ARYMOD.New", "m.a $arymod.NEW", "$arymod.NEW"},
        {":m.a->*", "m.a m.b", "foreignPcs"},
        {"m.a", "m.a ?", "-"},
        {"m.a->*", "m.a ?", "foreignPcs"},
        {"m.a:->*", "m.a ?", "m.a"},
        {"*", "m.a ?", "foreignPcs"},
        {"m.a", "", "-"},
    };
    for (size_t i = 0; i < n_pattern_results; i++)
        assert_charged(pattern_results[i].pattern, pattern_results[i].stack,
                       pattern_results[i].charged);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_charged(rows[i].pattern, rows[i].stack, rows[i].charged);
}

static void assert_row(const qp_attribution_row *r, const char *module, const char *procedure,
                       uint64_t shallow, uint64_t deep)
{
    assert_string_equal(r->module, module);
    assert_string_equal(r->procedure, procedure);
    assert_int_equal(r->shallow, shallow);
    assert_int_equal(r->deep, deep);
}

/* What a pattern counts, all threads together. */
typedef struct {
    qp_attributions c;
    qp_attribution_row *rows;
    size_t n;
    qp_attribution_totals t;
} listing;

static listing list_all(const qp_model *m, const char *pattern)
{
    listing l = {.rows = NULL};
    stacks_apply(&l.c, m, pattern);
    assert_true(qp_attributions_list(&l.c, QP_ALL_THREADS, false, &l.rows, &l.n, &l.t));
    return l;
}

static void free_listing(listing *l)
{
    qp_free(l->rows);
    qp_attributions_fini(&l->c);
}

static void deep_counts_are_of_distinct_procedures(void **state) /* sampling 8, 9, 10, 11, 35 */
{
    (void)state;
    qp_model *m = stacks_recursive_run();
    listing l = list_all(m, "");
    assert_int_equal(l.n, 3);
    assert_row(&l.rows[0], "m", "a", 5, 15);
    assert_row(&l.rows[1], "m", "b", 2, 14);
    assert_row(&l.rows[2], "x", "c", 8, 8);
    assert_int_equal(l.t.occurred, 63);
    assert_int_equal(l.t.counted, 63);
    assert_int_equal(l.t.skipped, 0);
    assert_int_equal(l.t.critical, 32);
    assert_int_equal(l.t.foreign, 16);
    qp_free(l.rows);
    l.t = (qp_attribution_totals){0};
    assert_true(qp_attributions_list(&l.c, 1, true, &l.rows, &l.n, &l.t));
    assert_int_equal(l.n, 2);
    assert_row(&l.rows[0], "m", "", 7, 15);
    assert_row(&l.rows[1], "x", "", 8, 8);
    assert_int_equal(l.t.counted, 31); /* critical sections are of no thread */
    free_listing(&l);
    qp_model_free(m);
}

static void a_colon_moves_charges_and_skips_nothing(void **state) /* sampling 26, 31, 44 */
{
    (void)state;
    qp_model *m = stacks_recursive_run();
    listing l = list_all(m, "m.b:->*");
    assert_int_equal(l.n, 2); /* x.c was called by m.b */
    assert_row(&l.rows[0], "m", "a", 0, 14);
    assert_row(&l.rows[1], "m", "b", 14, 14);
    assert_int_equal(l.t.occurred, 63);
    assert_int_equal(l.t.counted, 46);
    assert_int_equal(l.t.skipped, 17);
    assert_int_equal(l.t.foreign, 0);
    free_listing(&l);
    qp_model_free(m);
}

static void a_mistake_names_its_column(void **state) /* sampling 33 */
{
    (void)state;
    qp_model *m = one_stack("m.a");
    qp_attributions c;
    qp_error error;
    assert_int_equal(qp_attributions_init(&c, m, "m.a->()", true, &error),
                     QP_ATTRIBUTION_SYNTAX);
    assert_int_equal(error.column, 7);
    qp_attributions_fini(&c);
    qp_model_free(m);
}

static void modules_are_classes_or_files(void **state)
{
    (void)state;
    static const struct {
        const char *class_name, *file, *module;
    } known[] = {
        {"K", "src/a.lua", "K"}, {NULL, "src/a.b.lua", "a.b"},     {NULL, "a.lua", "a"},
        {NULL, "a.lua", "a"},    {NULL, "src/.hidden", ".hidden"}, {NULL, "src.d/make", "make"},
        {NULL, NULL, ""}};
    profile *p = profile_new();
    qp_cell th = profile_thread(p);
    for (uint64_t i = 0; i < 7; i++)
        profile_node(p, th, 0,
                     profile_method(p, i + 1, "f", known[i].class_name, known[i].file), 1, 1);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    qp_attributions c;
    stacks_apply(&c, m, "");
    for (int i = 0; i < 7; i++)
        assert_string_equal(c.modules[i + 1], known[i].module);
    qp_attributions_fini(&c);
    qp_model_free(m);
}

/* ---- the recorder ------------------------------------------------------------------------ */

static void sample_a_score(void)
{
    qprof_pc_sample(3);
}

static void play_sampled(play_ctx *p)
{
    static const char *const parts[] = {"a( b(", ") b( c(", ") ) a( a(", ") c(", ") ) )", "b("};
    sample_a_score(); /* before the first entry: of the thread's root */
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        play(p, parts[i]);
        sample_a_score();
    }
    qprof_record_fn_entry(QPROF_METHOD_NATIVE, 999);
    sample_a_score();
    play(p, ".");
    qprof_pc_enter_critical();
    sample_a_score();
    qprof_pc_leave_critical();
}

/* What the recorder says of a run with the pattern, before it ends. */
typedef struct {
    uint64_t shallow[3], deep[3];
    qprof_PcTotals t;
} recorded;

static void read_recorder(play_ctx *p, recorded *r)
{
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            qprof_pc_procedure(play_method(p, names[i]), &r->shallow[i], &r->deep[i]), 0);
    assert_int_equal(qprof_pc_totals(&r->t), 0);
}

static void assert_model_says(play_ctx *p, const recorded *r, const char *pattern)
{
    static const char *const names[] = {"a", "b", "c"};
    listing l = list_all(p->m, pattern);
    for (int i = 0; i < 3; i++) {
        uint64_t deep;
        assert_int_equal(stacks_shallow(l.rows, l.n, "score", names[i], &deep), r->shallow[i]);
        assert_int_equal(deep, r->deep[i]);
    }
    assert_int_equal(l.t.occurred, r->t.occurred);
    assert_int_equal(l.t.counted, r->t.counted);
    assert_int_equal(l.t.skipped, r->t.skipped);
    assert_int_equal(l.t.critical, r->t.critical);
    assert_int_equal(l.t.foreign, r->t.foreign);
    free_listing(&l);
}

/* Recorded with the pattern, and recorded without it and applied then. */
static void a_pattern_gives_afterwards_what_it_gave_while_recording(void **state)
{
    play_ctx *p = *state;
    static const char *const patterns[] = {"",
                                           "*",
                                           "score.b",
                                           "score.a->*",
                                           ":score.b",
                                           "score.b:->*",
                                           "score.a->score.a",
                                           ":score.a->score.c | score.b:->*",
                                           "score",
                                           "(score.a|score.b)->*->score.c"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        for (int is_stack_only = 0; is_stack_only < 2; is_stack_only++) {
            const char *only = is_stack_only ? "-collect=samples " : "";
            char options[256];
            recorded r;
            snprintf(options, sizeof options, "%s-pc='REAL 3600000000 %s%s%s'", only,
                     *patterns[i] ? "WHEN " : "", patterns[i], *patterns[i] ? ";" : "");
            unlink("run.qprof");
            play_begin(p, options);
            play_sampled(p);
            read_recorder(p, &r);
            play_end(p);
            assert_string_equal(p->m->run.pc_pattern, patterns[i]);
            assert_model_says(p, &r, p->m->run.pc_pattern);
            snprintf(options, sizeof options, "%s-pc='REAL 3600000000'", only);
            unlink("run.qprof");
            play_begin(p, options);
            play_sampled(p);
            play_end(p);
            assert_model_says(p, &r, patterns[i]);
        }
}

/* ---- limits ------------------------------------------------------------------------------ */

/* Quadratic, it would be 10 to the power of 11 steps. */
static void a_path_of_300000_frames_is_nothing_special(void **state)
{
    enum { DEEP = 300000 };
    (void)state;
    qp_error error;
    qp_builder *b = qp_builder_new(0);
    qp_head *h = qp_builder_head(b);
    h->clock_source = QP_SOURCE_NS;
    h->collect = QP_COLLECT_SAMPLES;
    h->pc_period = 1000000;
    const qp_builder_code codes[] = {
        {.id = 1, .flags = QP_METHOD_REGISTERED, .name = "a", .class_name = "m"},
        {.id = 2, .flags = QP_METHOD_REGISTERED, .name = "b", .class_name = "x"}};
    uint32_t methods[] = {qp_builder_method(b, &codes[0]), qp_builder_method(b, &codes[1])};
    qp_builder_thread(b, &(qp_thread_record){.state = QP_THREAD_ENDED});
    for (uint32_t i = 0, node = 0; i < DEEP; i++) {
        node = qp_builder_node(b, node, methods[i % 2], &(qp_node){.self_min = UINT64_MAX});
        qp_builder_node_more(b, 0, 0, 1, 0);
    }
    assert_true(qp_builder_finish(b, "deep.qprof", &error));
    qp_builder_free(b);
    qp_model *m;
    assert_int_equal(qp_model_load("deep.qprof", NULL, &m, &error), QP_LOAD_CLEAN);
    qp_attributions c;
    qp_attribution_row *rows;
    qp_attribution_totals t = {0};
    size_t n;
    stacks_apply(&c, m, "m.a:->*->x.b");
    assert_true(qp_attributions_list(&c, QP_ALL_THREADS, false, &rows, &n, &t));
    assert_int_equal(t.counted, DEEP / 2);
    assert_row(&rows[0], "m", "a", DEEP / 2, DEEP / 2);
    /* the first interrupt of x.b is charged to m.a before any x.b was active */
    assert_row(&rows[1], "x", "b", 0, DEEP / 2 - 1);
    qp_free(rows);
    qp_attributions_fini(&c);
    qp_model_free(m);
}

static void without_memory_there_is_nothing(void **state)
{
    (void)state;
    qp_model *m = stacks_recursive_run();
    bool is_done = false;
    for (uint64_t n = 1; !is_done; n++) {
        qp_attributions c;
        qp_attribution_row *rows = NULL;
        qp_attribution_totals t = {0};
        qp_error error;
        size_t n_rows;
        qp_alloc_fail_after(n, true);
        qp_attribution_status status = qp_attributions_init(&c, m, "m.a->*", true, &error);
        is_done = status == QP_ATTRIBUTION_OK &&
                  qp_attributions_list(&c, QP_ALL_THREADS, false, &rows, &n_rows, &t);
        qp_alloc_fail_after(0, false);
        assert_true(is_done || status != QP_ATTRIBUTION_SYNTAX);
        qp_free(rows);
        qp_attributions_fini(&c);
        assert_true(n < 50);
    }
    qp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worked_results_hold_of_a_profile),
        cmocka_unit_test(deep_counts_are_of_distinct_procedures),
        cmocka_unit_test(a_colon_moves_charges_and_skips_nothing),
        cmocka_unit_test(a_mistake_names_its_column),
        cmocka_unit_test(modules_are_classes_or_files),
        PLAY_TEST(a_pattern_gives_afterwards_what_it_gave_while_recording),
        PLAY_TEST(a_path_of_300000_frames_is_nothing_special),
        cmocka_unit_test(without_memory_there_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
