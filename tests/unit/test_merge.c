/* test_merge.c: the sum of several profiles, worked out by hand. */
#include <string.h>

#include "format/layout.h"
#include "model/figures/figures.h"
#include "unit/files.h"

static const qp_line three_blocks[] = {{0, 15}, {7, 16}, {12, 15}};
/* ---- merging ----------------------------------------------------------------------------- */

static qp_model *merge_two(const profile *a, const profile *b)
{
    qp_merge *s = qp_merge_new();
    sum_add_profile(s, a, "a.qprof");
    sum_add_profile(s, b, "b.qprof");
    return sum_finish(s, "sum.qprof");
}

static void assert_refused(const profile *a, const profile *b, const char *expected)
{
    qp_error error;
    qp_merge *s = qp_merge_new();
    sum_add_profile(s, a, "a.qprof");
    qp_model *m = profile_load(b, QP_LOAD_CLEAN);
    assert_false(qp_merge_add(s, m, "b.qprof", false, &error));
    assert_string_equal(error.text, expected);
    qp_model_free(m);
    qp_merge_free(s);
}

/* ---- by hand ----------------------------------------------------------------------------- */

static qp_node *node_at(profile *p, qp_cell cell)
{
    return profile_at(p, cell);
}

/* main calls f; f's self time, least and most as given. */
static profile *two_functions(uint64_t f_calls, uint64_t f_self, uint64_t f_min, uint64_t f_max)
{
    profile *p = profile_new();
    qp_cell f = profile_method(p, 7, "f", "K", "f.lua"),
            top = profile_method(p, 3, "top", 0, 0);
    qp_cell th = profile_thread(p), outer = profile_node(p, th, 0, top, 1, 10);
    qp_cell inner = profile_node(p, th, outer, f, f_calls, f_self);
    *node_at(p, outer) = (qp_node){.n_calls = 1,
                                   .self = 10,
                                   .self_min = 10,
                                   .self_max = 10,
                                   .parent = node_at(p, outer)->parent,
                                   .method = top};
    node_at(p, inner)->self_min = f_min;
    node_at(p, inner)->self_max = f_max;
    profile_balance(p, th, 1 + f_calls, 0);
    return p;
}

/* main calls spawn, which created a thread whose work 20 waited 7; it is called in main itself if is_other. */
static profile *run_with_a_thread(bool is_other, bool has_waits)
{
    profile *p = profile_new();
    qp_cell top = profile_method(p, 3, "main", 0, 0),
            spawn = profile_method(p, 4, "spawn", 0, 0),
            work = profile_method(p, 5, "work", 0, 0);
    qp_cell th = profile_thread(p), outer = profile_node(p, th, 0, top, 1, 10);
    qp_cell inner = profile_node(p, th, outer, spawn, 1, 2);
    qp_cell coroutine = profile_thread(p), node = profile_node(p, coroutine, 0, work, 1, 20);
    ((qp_thread_record *)profile_at(p, coroutine))->creator = is_other ? outer : inner;
    ((qp_thread_record *)profile_at(p, coroutine))->name = profile_text(p, "worker");
    profile_metrics(p, coroutine, profile_more(p, coroutine, node))->off = has_waits ? 7 : 0;
    profile_head(p)->flags |= has_waits ? QP_FLAG_WAITS : 0;
    profile_balance(p, th, 2, 0);
    profile_balance(p, coroutine, 1, 0);
    return p;
}

static qp_model *merge_threads(bool is_other, bool has_waits)
{
    profile *a = run_with_a_thread(false, true), *b = run_with_a_thread(is_other, has_waits);
    qp_model *m = merge_two(a, b);
    profile_free(a);
    profile_free(b);
    return m;
}

static void threads_of_one_name_and_one_creator_are_one(void **state)
{
    (void)state;
    qp_model *m = merge_threads(false, true);
    assert_int_equal(m->n_threads - 1, 2);
    assert_true(m->run.has_waits);
    assert_int_equal(profile_find(m, "work")->all.off, 14);
    assert_true(qp_model_join_threads(&m));
    assert_int_equal(profile_find(m, "spawn")->all.total, 2 * (2 + 20));
    assert_int_equal(profile_find(m, "main")->all.off_total, 14);
    qp_model_free(m);
    m = merge_threads(true, true);
    assert_int_equal(m->n_threads - 1, 3);
    assert_true(qp_model_join_threads(&m));
    assert_int_equal(profile_find(m, "spawn")->all.total, 2 * 2 + 20);
    assert_int_equal(profile_find(m, "main")->all.total, 2 * (10 + 2 + 20));
    qp_model_free(m);
}

static void waits_of_a_sum_are_known_if_all_runs_know_them(void **state)
{
    (void)state;
    qp_model *m = merge_threads(false, false);
    assert_false(m->run.has_waits);
    assert_int_equal(profile_find(m, "work")->all.off, 0);
    assert_int_equal(profile_find(m, "work")->all.self, 40);
    qp_model_free(m);
}

static void times_and_calls_add_and_extremes_combine(void **state)
{
    (void)state;
    profile *a = two_functions(3, 30, 5, 15), *b = two_functions(4, 80, 12, 40);
    qp_model *m = merge_two(a, b);
    const qp_figures *f = &profile_find(m, "K.f")->all, *top = &profile_find(m, "top")->all;
    assert_int_equal(f->hits, 7);
    assert_int_equal(f->self, 110);
    assert_int_equal(f->min, 5);
    assert_int_equal(f->max, 40);
    assert_int_equal(top->hits, 2);
    assert_int_equal(top->self, 20);
    assert_int_equal(top->total, 130);
    assert_int_equal(m->n_threads, 2); /* .top_1. of both */
    assert_string_equal(m->threads[1].name, ".top_1.");
    assert_int_equal(m->threads[1].n_lives, 2);
    assert_int_equal(m->run.wall, 2000);
    qp_model_free(m);
    profile_free(a);
    profile_free(b);
}

/* 3 ticks a ns. f has 10 ticks in the one run and 11 in the other: 3 ns and 4 ns. */
static void ticks_become_nanoseconds_run_by_run(void **state)
{
    (void)state;
    profile *a = two_functions(1, 10, 10, 10), *b = two_functions(1, 11, 11, 11);
    profile *both[] = {a, b};
    for (int i = 0; i < 2; i++) {
        qp_head *h = profile_head(both[i]);
        h->clock_source = QP_SOURCE_TSC;
        h->tick_1 = 3000;
        h->ns_1 = 1000;
    }
    qp_model *m = merge_two(a, b);
    const qp_figures *f = &profile_find(m, "K.f")->all;
    assert_int_equal(f->self, 7);
    assert_int_equal(f->min, 3);
    assert_int_equal(f->max, 4);
    assert_int_equal(qp_model_ns(m, 7), 7);
    qp_model_free(m);
    profile_free(a);
    profile_free(b);
}

static void one_name_with_other_lines_is_another_function(void **state)
{
    (void)state;
    profile *a = two_functions(1, 1, 1, 1), *b = two_functions(1, 1, 1, 1);
    qp_cell other = profile_method(b, 9, "f", "K", "f.lua");
    ((qp_method *)profile_at(b, other))->lines = profile_lines(b, three_blocks, 3);
    qp_model *m = merge_two(a, b);
    uint32_t n_found;
    qp_model_method_named(m, "K.f", &n_found);
    assert_int_equal(n_found, 2);
    qp_model_free(m);
    profile_free(a);
    profile_free(b);
}

/* f is open in a killed run: its 5 ticks count, and it is still open in the sum. */
static void what_is_open_at_the_end_counts_and_stays_open(void **state)
{
    (void)state;
    profile *a = two_functions(1, 1, 1, 1), *b = profile_new();
    qp_cell f = profile_method(b, 7, "f", "K", "f.lua"), th = profile_thread(b);
    qp_cell node = profile_node(b, th, 0, f, 2, 20 + 5);
    profile_stack(b, th, &node, 1);
    profile_balance(b, th, 2, 1);
    profile_head(b)->state = QP_LIVE;
    profile_head(b)->end_raw = profile_head(b)->ended_at = 0;
    qp_model *m = merge_two(a, b);
    assert_int_equal(profile_find(m, "K.f")->all.self, 26);
    uint64_t n_open = 0;
    for (uint32_t i = 1; i < m->n_threads; i++)
        n_open += m->threads[i].n_still_live;
    assert_int_equal(n_open, 1);
    assert_non_null(strstr(m->run.notes[1].text, "unsealed"));
    qp_model_free(m);
    profile_free(a);
    profile_free(b);
}

/* f was called 100 times in both runs, of which 40 were timed and represent all: 1000 ticks. The
 * variance of the one is 13313, of the other not known to be more than 1; a tick of the coarse clock
 * represented 10 ns and 20 ns: 1.96 * sqrt(13314 + 20 * 20) + 1.04 * 20 = 250.3. All of top is known. */
static void adaptive_estimates_add_with_their_errors(void **state)
{
    (void)state;
    profile *p[2];
    for (int i = 0; i < 2; i++) {
        p[i] = two_functions(100, 1000, 99, 0);
        qp_head *h = profile_head(p[i]);
        h->time_mode = QP_TIME_ADAPTIVE;
        h->end_raw = PROFILE_START + 10000;
        h->coarse_period = i ? 10 : 20;
        for (uint32_t cell = QP_HEAD_CELLS; cell < p[i]->n_cells; cell++) {
            const qp_extent *e = profile_at(p[i], cell);
            qp_node *n = profile_at(p[i], cell + 1);
            if (e->magic != QP_EXTENT_MAGIC || e->kind != QP_EXTENT_NODES || !n->n_calls)
                continue;
            if (n->n_calls == 100)
                *profile_timing(p[i], e->owner, cell + 1) =
                    (qp_node_timing){.covered = 100, .n_timed = 40, .variance = i ? 13 : 0};
            else
                *n = (qp_node){.n_calls = 1,
                               .self = 5000,
                               .self_min = 2,
                               .parent = n->parent,
                               .method = n->method};
        }
    }
    qp_model *m = merge_two(p[0], p[1]);
    const qp_figures *f = &profile_find(m, "K.f")->all;
    assert_int_equal(f->hits, 200);
    assert_int_equal(f->self, 2000);
    assert_int_equal(f->self_half, 250);
    assert_int_equal(f->total_half, 250);
    assert_int_equal(profile_find(m, "top")->all.total, 10000);
    assert_int_equal(profile_find(m, "top")->all.self, 8000);
    qp_model_free(m);
    profile_free(p[0]);
    profile_free(p[1]);
}

/* 16 samples of 1600 ticks and 9 of 900: 2500 ± 1.96 * 2500 / 5. */
static void samples_add(void **state)
{
    (void)state;
    profile *a = two_functions(1, 1600, 0, 16), *b = two_functions(1, 900, 0, 9);
    profile_head(a)->time_mode = profile_head(b)->time_mode = QP_TIME_SAMPLED;
    profile_head(a)->end_raw = profile_head(b)->end_raw = PROFILE_START + 2000;
    profile_head(a)->n_passes = 100;
    profile_head(b)->n_passes = 50;
    qp_model *m = merge_two(a, b);
    const qp_figures *f = &profile_find(m, "K.f")->all;
    assert_int_equal(f->self, 2500);
    assert_int_equal(f->samples, 25);
    assert_int_equal(f->self_half, 980);
    assert_int_equal(m->run.n_passes, 150);
    qp_model_free(m);
    profile_free(a);
    profile_free(b);
}

static void diagnostics_and_notes_add(void **state)
{
    (void)state;
    profile *a = two_functions(1, 1, 1, 1), *b = two_functions(1, 1, 1, 1);
    profile_head(a)->diagnostics[QP_D_reentrant] = 2;
    profile_head(b)->diagnostics[QP_D_reentrant] = 3;
    profile_head(a)->diagnostics[QP_D_clock_backwards_max] = 9;
    profile_head(b)->diagnostics[QP_D_clock_backwards_max] = 4;
    profile_head(a)->program = profile_text(a, "one");
    profile_head(b)->program = profile_text(b, "two");
    qp_model *m = merge_two(a, b);
    for (size_t i = 0; i < m->run.n_diagnostics; i++) {
        const qp_run_diagnostic *d = &m->run.diagnostics[i];
        assert_int_equal(d->count, strcmp(d->name, "reentrant") == 0 ? 5 : 9);
    }
    assert_int_equal(m->run.n_diagnostics, 2);
    assert_string_equal(m->run.program, "several programs");
    assert_string_equal(m->run.notes[0].text, "merged from a.qprof (one, process 4000000000, "
                                              "started 1970-01-01 00:00:00 UTC)");
    assert_int_equal(m->run.n_notes, 2);
    qp_model_free(m);
    profile_free(a);
    profile_free(b);
}

static void what_has_no_true_sum_is_refused(void **state)
{
    (void)state;
    profile *a = two_functions(1, 1, 1, 1), *b = two_functions(1, 1, 1, 1);
    qp_head *h = profile_head(b);
    h->clock_kind = h->user_clock = h->wait_clock = QP_CLOCK_USER;
    assert_refused(a, b,
                   "b.qprof: its clock is user, but elapsed in a.qprof: they do not add up");
    h->clock_kind = QP_CLOCK_ELAPSED;
    assert_refused(a, b,
                   "b.qprof: its functions, or those that wait, have other clocks than in "
                   "a.qprof: they do not add up");
    h->user_clock = h->wait_clock = QP_CLOCK_ELAPSED;
    h->time_mode = QP_TIME_SAMPLED;
    assert_refused(a, b,
                   "b.qprof: its times are sampled, but exact in a.qprof: they do not add up");
    h->time_mode = QP_TIME_EXACT;
    h->grain = QP_GRAIN_FUNCTION;
    assert_refused(
        a, b, "b.qprof: its granularity is function, but line in a.qprof: they do not add up");
    h->grain = QP_GRAIN_LINE;
    h->clock_source = QP_SOURCE_HOST;
    assert_refused(a, b,
                   "b.qprof: its time comes from the program, but the machine in a.qprof: "
                   "they do not add up");
    h->clock_source = QP_SOURCE_NS;
    h->flags |= QP_FLAG_NO_CALLS;
    assert_refused(
        a, b, "b.qprof: its calls are not known, but counted in a.qprof: they do not add up");
    profile_free(a);
    profile_free(b);
}

/* Top was found 5 times in the one and 3 times in the other. */
static profile *interrupted(uint64_t n, uint64_t period_us, const char *pattern)
{
    profile *p = two_functions(1, 1, 1, 1);
    qp_head *h = profile_head(p);
    qp_cell th = profile_thread(p), top = profile_method(p, 4, "top", 0, 0);
    h->collect = QP_COLLECT_PROFILE | QP_COLLECT_SAMPLES;
    h->pc_kind = QP_PC_VIRTUAL;
    h->pc_period = period_us * 1000;
    qp_ref when = *pattern ? profile_text(p, pattern) : 0;
    profile_head(p)->pc_pattern = when;
    profile_more(p, th, profile_node(p, th, 0, top, 1, 1))->samples = n;
    profile_balance(p, th, 1, 0);
    return p;
}

static void interrupts_add_and_keep_what_counts(void **state)
{
    (void)state;
    profile *a = interrupted(5, 1000, "*->K.f"), *b = interrupted(3, 1000, "*->K.f"),
            *plain = two_functions(1, 1, 1, 1);
    qp_merge *s = qp_merge_new();
    sum_add_profile(s, plain, "plain.qprof"); /* has no PC samples: it does not matter */
    sum_add_profile(s, a, "a.qprof");
    sum_add_profile(s, b, "b.qprof");
    qp_model *m = sum_finish(s, "sum.qprof");
    assert_int_equal(profile_find(m, "top")->all.pc_samples, 8);
    assert_string_equal(m->run.pc_pattern, "*->K.f");
    assert_int_equal(m->run.pc_period_ns, 1000000);
    qp_model_free(m);
    profile *fine = interrupted(5, 50, ""), *all = interrupted(5, 1000, "");
    assert_refused(
        a, fine,
        "b.qprof: its PC samples are of PC VIRTUAL 50, but those before of PC VIRTUAL "
        "1000 WHEN *->K.f: they do not add up (merge the profiles of each command separately)");
    assert_refused(
        all, a,
        "b.qprof: its PC samples are of PC VIRTUAL 1000 WHEN *->K.f, but those before "
        "of PC VIRTUAL 1000: they do not add up (merge the profiles of each command "
        "separately)");
    profile *const used[] = {a, b, plain, fine, all};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        profile_free(used[i]);
}

/* The sum also names the source of the ticks, though its own are nanoseconds. */
static void a_sum_names_the_clock_of_its_runs(void **state)
{
    (void)state;
    profile *a = two_functions(1, 1000, 1, 1), *b = two_functions(1, 1, 1, 1);
    profile_head(a)->clock_source = QP_SOURCE_TSC;
    profile_head(a)->tick_1 = 2000;
    profile_head(a)->ns_1 = 1000;
    qp_merge *s = qp_merge_new();
    sum_add_profile(s, a, "a.qprof");
    qp_model *m = sum_finish(s, "sum.qprof"), *both = merge_two(a, b);
    assert_string_equal(m->run.source_text, "tsc");
    assert_int_equal(qp_model_ns(m, profile_find(m, "K.f")->all.self), 500);
    assert_string_equal(both->run.source_text, "monotonic");
    assert_int_equal(qp_model_ns(both, profile_find(both, "K.f")->all.self), 501);
    qp_model_free(m);
    qp_model_free(both);
    profile_free(a);
    profile_free(b);
}

static void another_version_of_a_source_is_refused_unless_asked_for(void **state)
{
    qp_error error;
    (void)state;
    profile *a = two_functions(1, 1, 1, 1), *b = two_functions(1, 1, 1, 1);
    profile_source(a, "f.lua", 1);
    profile_source(b, "f.lua", 2);
    assert_refused(
        a, b,
        "b.qprof: its f.lua is another version than before; with --force-merge, functions "
        "of both are kept apart");
    qp_merge *s = qp_merge_new();
    sum_add_profile(s, a, "a.qprof");
    qp_model *m = profile_load(b, QP_LOAD_CLEAN);
    assert_true(qp_merge_add(s, m, "b.qprof", true, &error));
    qp_model_free(m);
    qp_model_free(sum_finish(s, "sum.qprof"));
    profile_free(a);
    profile_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILES_TEST(times_and_calls_add_and_extremes_combine),
        FILES_TEST(threads_of_one_name_and_one_creator_are_one),
        FILES_TEST(waits_of_a_sum_are_known_if_all_runs_know_them),
        FILES_TEST(ticks_become_nanoseconds_run_by_run),
        FILES_TEST(one_name_with_other_lines_is_another_function),
        FILES_TEST(what_is_open_at_the_end_counts_and_stays_open),
        FILES_TEST(adaptive_estimates_add_with_their_errors),
        FILES_TEST(samples_add),
        FILES_TEST(diagnostics_and_notes_add),
        FILES_TEST(what_has_no_true_sum_is_refused),
        FILES_TEST(interrupts_add_and_keep_what_counts),
        FILES_TEST(a_sum_names_the_clock_of_its_runs),
        FILES_TEST(another_version_of_a_source_is_refused_unless_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
