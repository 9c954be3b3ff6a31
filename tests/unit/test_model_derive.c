/* test_model_derive.c: totals, recursion, callers and callees, open frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"
#include "unit/profile.h"

/* spec/qii.md section 8: main 17/45, fun_one 10/20, fun_three 10/10, fun_two 8/8. */
static void the_reference_run_has_its_documented_times(void **state)
{
    (void)state;
    profile *p = profile_new();
    qp_cell th = profile_thread(p);
    qp_cell main_ = profile_call(p, th, 0, 1, "main", 1, 17);
    qp_cell one = profile_call(p, th, main_, 2, "fun_one", 1, 10);
    profile_call(p, th, one, 3, "fun_three", 1, 10);
    profile_call(p, th, main_, 4, "fun_two", 1, 8);
    profile_balance(p, th, 4, 0);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    profile_assert_times(m, "main", 17, 45);
    profile_assert_times(m, "fun_one", 10, 20);
    profile_assert_times(m, "fun_three", 10, 10);
    profile_assert_times(m, "fun_two", 8, 8);
    assert_int_equal(m->run.total, 45);
    assert_int_equal(m->run.calls, 4);
    assert_int_equal(m->nodes[m->threads[1].root].f.total, 45);
    assert_string_equal(m->threads[1].name, ".main_1.");
    assert_true(profile_passes(m, "accounting_identity"));
    assert_true(profile_passes(m, "time_sum"));
    qp_model_free(m);
}

/* A -> B -> C -> A -> D with self times 32, 17, 23, 32, 14. */
static qp_model *recursion_example(void)
{
    profile *p = profile_new();
    qp_cell th = profile_thread(p);
    qp_cell a = profile_method(p, 1, "A", NULL, NULL),
            b = profile_method(p, 2, "B", NULL, NULL);
    qp_cell c = profile_method(p, 3, "C", NULL, NULL),
            d = profile_method(p, 4, "D", NULL, NULL);
    qp_cell outer = profile_node(p, th, 0, a, 1, 32);
    qp_cell in_b = profile_node(p, th, outer, b, 1, 17);
    qp_cell in_c = profile_node(p, th, in_b, c, 1, 23);
    qp_cell inner = profile_node(p, th, in_c, a, 1, 32);
    profile_node(p, th, inner, d, 1, 14);
    profile_balance(p, th, 5, 0);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    return m;
}

/* spec/qii.md section 9. */
static void recursion_is_counted_once(void **state)
{
    (void)state;
    qp_model *m = recursion_example();
    profile_assert_times(m, "A", 64, 118);
    profile_assert_times(m, "B", 17, 86);
    profile_assert_times(m, "C", 23, 69);
    profile_assert_times(m, "D", 14, 14);
    assert_int_equal(m->run.total, 118);
    qp_model_free(m);
}

static void assert_edge(const qp_model *m, const qp_edge *e, const char *name, uint64_t time,
                        bool is_recursive)
{
    assert_string_equal(m->methods[e->method].name, name);
    assert_int_equal(e->time, time);
    assert_int_equal(e->is_recursive, is_recursive);
}

static void a_callee_of_a_recursive_method_has_none_of_its_own_time(void **state)
{
    (void)state;
    qp_model *m = recursion_example();
    qp_edge *edges;
    size_t n;
    assert_true(qp_model_callees(m, profile_index(m, "A"), QP_ALL_THREADS, &edges, &n));
    assert_int_equal(n, 2);
    assert_edge(m, &edges[0], "B", 54, true);
    assert_edge(m, &edges[1], "D", 14, false);
    qp_free(edges);
    qp_model_free(m);
}

static void times_of_callers_add_up_to_the_total(void **state)
{
    (void)state;
    qp_model *m = recursion_example();
    qp_edge *edges;
    size_t n;
    assert_true(qp_model_callers(m, profile_index(m, "A"), QP_ALL_THREADS, &edges, &n));
    assert_int_equal(n, 2);
    assert_int_equal(edges[0].method, QP_ROOT_METHOD);
    assert_edge(m, &edges[0], ".root.", 118, false);
    assert_int_equal(edges[1].calls, 1);
    assert_edge(m, &edges[1], "C", 0, true);
    qp_free(edges);
    qp_model_free(m);
}

/* f -> f -> g: 10 in each f, 5 in g: the total of f is 25 and not 25 + 15. */
static void direct_recursion_does_not_multiply(void **state)
{
    (void)state;
    profile *p = profile_new();
    qp_cell th = profile_thread(p);
    qp_cell f = profile_method(p, 1, "f", NULL, NULL);
    qp_cell outer = profile_node(p, th, 0, f, 1, 10);
    qp_cell inner = profile_node(p, th, outer, f, 1, 10);
    profile_call(p, th, inner, 2, "g", 1, 5);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    profile_assert_times(m, "f", 20, 25);
    qp_edge *edges;
    size_t n;
    assert_true(qp_model_callees(m, profile_index(m, "f"), QP_ALL_THREADS, &edges, &n));
    assert_int_equal(n, 2);
    assert_string_equal(m->methods[edges[0].method].name, "g");
    assert_int_equal(edges[0].time, 5);
    assert_int_equal(edges[1].time, 0); /* f is not its own descendant */
    assert_true(edges[1].is_recursive);
    qp_free(edges);
    qp_model_free(m);
}

/* Two threads run f: 10 + 3 below, and 20. */
static void threads_are_apart_and_together(void **state)
{
    (void)state;
    profile *p = profile_new();
    qp_cell one = profile_thread(p), two = profile_thread(p);
    qp_cell f = profile_method(p, 1, "f", NULL, NULL),
            g = profile_method(p, 2, "g", NULL, NULL);
    profile_node(p, one, profile_node(p, one, 0, f, 2, 10), g, 1, 3);
    profile_node(p, two, 0, f, 5, 20);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    qp_figures rows[8];
    profile_assert_times(m, "f", 30, 33);
    assert_true(qp_model_flat(m, 1, rows));
    assert_int_equal(rows[profile_index(m, "f")].total, 13);
    assert_int_equal(rows[profile_index(m, "f")].calls, 2);
    assert_true(qp_model_flat(m, 2, rows));
    assert_int_equal(rows[profile_index(m, "f")].total, 20);
    assert_int_equal(rows[profile_index(m, "g")].calls, 0);
    assert_int_equal(m->threads[1].total, 13);
    assert_int_equal(m->threads[2].total, 20);
    qp_model_free(m);
}

static void skips_are_calls_and_no_hits(void **state)
{
    (void)state;
    profile *p = profile_new();
    qp_cell th = profile_thread(p);
    qp_cell n = profile_call(p, th, 0, 1, "f", 4, 22);
    qp_node_more *more = profile_more(p, th, n);
    more->n_skips = 3;
    more->counts = 7;
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    const qp_figures *f = &profile_find(m, "f")->all;
    assert_int_equal(f->calls, 7);
    assert_int_equal(f->hits, 4);
    assert_int_equal(f->skips, 3);
    assert_int_equal(f->counts, 7);
    assert_int_equal(qp_figures_average(f), 5); /* 22 / 4 hits */
    qp_model_free(m);
}

/* ---- open frames ------------------------------------------------------------------------- */

/* main entered at 0, f at 100; last event at 100; the run ends at 1000. main has 100, f nothing
 * yet. */
static profile *open_frames(void)
{
    profile *p = profile_new();
    qp_cell th = profile_thread(p);
    qp_cell main_ = profile_call(p, th, 0, 1, "main", 1, 100);
    qp_cell f = profile_call(p, th, main_, 2, "f", 1, 0);
    qp_cell frames = profile_stack(p, th, (qp_cell[]){main_, f}, 2);
    ((qp_frame *)profile_at(p, frames + 2))->start = 100;
    ((qp_thread_record *)profile_at(p, th))->last = 100;
    return p;
}

static void a_sealed_profile_closes_open_frames_at_its_end(void **state)
{
    (void)state;
    profile *p = open_frames();
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    profile_assert_times(m, "f", 900, 900);
    profile_assert_times(m, "main", 100, 1000);
    assert_int_equal(m->threads[1].depth, 2);
    assert_int_equal(m->threads[1].n_still_live, 2);
    assert_true(m->nodes[m->threads[1].frames[1]].is_open);
    assert_true(profile_find(m, "f")->all.min > profile_find(m, "f")->all.max); /* none */
    assert_true(profile_passes(m, "accounting_identity"));
    assert_true(profile_passes(m, "open_frames"));
    qp_model_free(m);
}

static void a_crashed_profile_ends_with_the_last_event(void **state)
{
    (void)state;
    profile *p = open_frames();
    profile_head(p)->state = QP_LIVE;
    profile_head(p)->end_raw = 0;
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    assert_int_equal(m->run.state, QP_RUN_CRASHED);
    assert_string_equal(m->run.state_text, "unsealed");
    profile_assert_times(m, "f", 0, 0);
    profile_assert_times(m, "main", 100, 100);
    qp_model_free(m);
}

/* Recording stopped at 400 (raw 1400): nothing after that counts. */
static void time_stands_while_recording_is_stopped(void **state)
{
    (void)state;
    profile *p = open_frames();
    profile_head(p)->stopped_since = PROFILE_START + 400;
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    profile_assert_times(m, "f", 300, 300);
    assert_int_equal(m->run.stopped, 600);
    qp_model_free(m);
}

/* Recording was stopped for 50 before, which the thread has not seen. */
static void stops_that_a_thread_has_not_seen_are_taken_off(void **state)
{
    (void)state;
    profile *p = open_frames();
    profile_head(p)->stopped_total = 50;
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    profile_assert_times(m, "f", 850, 850);
    qp_model_free(m);
}

static void the_clock_of_a_parked_thread_stands(void **state)
{
    (void)state;
    profile *p = open_frames();
    profile_head(p)->flags |= QP_FLAG_VIRTUAL;
    for (qp_cell cell = QP_HEAD_CELLS; cell < p->n_cells;) {
        const qp_extent *e = profile_at(p, cell);
        if (e->kind == QP_EXTENT_THREADS)
            ((qp_thread_record *)profile_at(p, cell + 1))->suspended_at = PROFILE_START + 130;
        cell += e->n_cells;
    }
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    profile_assert_times(m, "f", 30, 30);
    assert_true(m->threads[1].is_suspended);
    qp_model_free(m);
}

/* Data were cleared at 600, and the thread has had no event since. */
static void a_thread_that_has_not_seen_a_clear_starts_at_it(void **state)
{
    (void)state;
    profile *p = open_frames();
    profile_head(p)->clear_count = 1;
    profile_head(p)->clear_raw = PROFILE_START + 600;
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    profile_assert_times(m, "f", 400, 400);
    profile_assert_times(m, "main", 0, 400);
    assert_int_equal(profile_find(m, "f")->all.calls, 0);
    assert_true(profile_passes(m, "accounting_identity"));
    qp_model_free(m);
}

/* A chunk of 4 slots: root, a, b, c; the next one holds c again, and d. */
static void a_stack_continues_in_the_next_chunk(void **state)
{
    (void)state;
    profile *p = profile_new();
    qp_cell th = profile_thread(p), nodes[4], parent = 0;
    const char *names[] = {"a", "b", "c", "d"};
    for (unsigned i = 0; i < 4; i++)
        nodes[i] = parent = profile_node(
            p, th, parent, profile_method(p, 1 + i, names[i], NULL, NULL), 1, i < 2 ? 10 : 20);
    qp_cell first = profile_extent(p, QP_EXTENT_FRAMES, th, 4);
    qp_cell second = profile_extent(p, QP_EXTENT_FRAMES, th, 8);
    qp_thread_record *r = profile_at(p, th);
    ((qp_frame *)profile_at(p, first))->node = (uint64_t)r->root * QP_CELL;
    for (unsigned i = 0; i < 3; i++)
        *(qp_frame *)profile_at(p, first + 1 + i) =
            (qp_frame){.node = (uint64_t)nodes[i] * QP_CELL};
    for (unsigned i = 0; i < 2; i++)
        *(qp_frame *)profile_at(p, second + i) =
            (qp_frame){.node = (uint64_t)nodes[2 + i] * QP_CELL};
    qp_extent *above = profile_at(p, second - 1);
    above->prev = first - 1;
    above->base_depth = 3;
    r->chunk = second - 1;
    r->top = (uint64_t)(second + 1) * QP_CELL;
    r->last = 1000; /* the end: nothing is added */
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    profile_assert_times(m, "a", 10, 60);
    profile_assert_times(m, "b", 10, 50);
    profile_assert_times(m, "c", 20, 40); /* its place in the first chunk is superseded */
    profile_assert_times(m, "d", 20, 20);
    assert_int_equal(m->threads[1].depth, 4);
    assert_int_equal(m->threads[1].n_frames, 4);
    assert_true(profile_passes(m, "accounting_identity"));
    assert_true(profile_passes(m, "open_frames"));
    qp_model_free(m);
}

/* ---- the rest ---------------------------------------------------------------------------- */

static void ticks_become_nanoseconds_exactly(void **state)
{
    (void)state;
    profile *p = profile_new();
    qp_head *h = profile_head(p);
    h->clock_source = QP_SOURCE_TSC;
    h->tick_0 = 1000;
    h->tick_1 = 1000 + 3000000000u; /* 3 GHz for a second */
    h->ns_0 = 5;
    h->ns_1 = 5 + 1000000000u;
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    assert_int_equal(qp_model_ns(m, 3), 1);
    assert_int_equal(qp_model_ns(m, 4), 1);
    assert_int_equal(qp_model_ns(m, 5), 2);
    assert_int_equal(qp_model_ns(m, 3000000000000000000u), 1000000000000000000u);
    assert_int_equal(qp_model_ns(m, 0), 0);
    qp_model_free(m);
}

/* main calls f twice, once while recording is off: two times what a call costs inside, one time
 * what it costs a caller that is a method, 2 * 3 + 10 + 7 = 23 ticks; a skip costs nothing. */
static void the_cost_of_recording_is_what_the_times_contain(void **state)
{
    (void)state;
    profile *p = profile_new();
    qp_cell thread = profile_thread(p);
    qp_cell outer = profile_call(p, thread, 0, 1, "main", 1, 100);
    qp_cell inner = profile_call(p, thread, outer, 2, "f", 1, 50);
    profile_more(p, thread, inner)->n_skips = 1;
    profile_balance(p, thread, 3, 0);
    profile_head(p)->cost_entry = 10000;
    profile_head(p)->cost_exit = 7000;
    profile_head(p)->cost_inside = 3000;
    qp_model *m = profile_load(p, QP_LOAD_CLEAN);
    assert_int_equal(m->run.cost_total, 23);
    qp_model_free(m);
    profile_head(p)->cost_inside = 300000;
    m = profile_load(p, QP_LOAD_CLEAN);
    assert_int_equal(m->run.cost_total, 150); /* not more than there is */
    qp_model_free(m);
    profile_free(p);
}

/* main calls f three times: 4 calls, 8 events, half of them out of line, which took 100 ticks. A call costs
 * inside 3 / 2, its caller (10 + 7) / 2 in line, 2 / 2 of the host, 100 / 4: f has 3 * 1.5, main 1.5 + 3 * 34.5.
 * Where all are out of line, it is 100 / 4 + 2 for each of the three calls that are in main. */
static void events_out_of_line_cost_what_they_took(void **state)
{
    (void)state;
    profile *p = profile_new();
    qp_cell thread = profile_thread(p);
    qp_cell outer = profile_call(p, thread, 0, 1, "main", 1, 1000);
    profile_call(p, thread, outer, 2, "f", 3, 500);
    profile_balance(p, thread, 4, 0);
    profile_head(p)->cost_entry = 10000;
    profile_head(p)->cost_exit = 7000;
    profile_head(p)->cost_inside = 3000;
    profile_head(p)->cost_host = 2000;
    qp_thread_record *r = profile_at(p, thread);
    r->n_apart = 4;
    r->apart_ticks = 100;
    qp_model *m = profile_load(p, QP_LOAD_CLEAN);
    assert_int_equal(profile_find(m, "f")->all.cost, 4);
    assert_int_equal(profile_find(m, "main")->all.cost, 105);
    assert_int_equal(m->run.cost_total, 109);
    qp_model_free(m);
    r = profile_at(p, thread);
    r->n_apart = 1000; /* an estimate */
    m = profile_load(p, QP_LOAD_CLEAN);
    assert_int_equal(m->run.cost_total, 81);
    qp_model_free(m);
    profile_free(p);
}

/* A thread whose calls are in no area: what they took, 50 ticks, is in the time that its root has, and not more than there is of
 * that. Without times all of it counts, and so does what main costs the root: 17 ticks. */
static void calls_in_no_area_cost_the_time_of_the_root(void **state)
{
    (void)state;
    profile *p = profile_new();
    qp_cell main_thread = profile_thread(p), thread = profile_thread(p);
    profile_call(p, main_thread, 0, 1, "main", 1, 1000);
    profile_balance(p, main_thread, 1, 0);
    profile_head(p)->cost_entry = 10000;
    profile_head(p)->cost_exit = 7000;
    qp_thread_record *r = profile_at(p, thread);
    r->apart_ticks = 50;
    qp_node *root = profile_at(p, r->root);
    root->self_max = 60; /* what it has itself */
    qp_model *m = profile_load(p, QP_LOAD_CLEAN);
    assert_int_equal(m->run.cost_total, 50);
    qp_model_free(m);
    root->self_max = 40;
    m = profile_load(p, QP_LOAD_CLEAN);
    assert_int_equal(m->run.cost_total, 40);
    qp_model_free(m);
    profile_head(p)->time_mode = QP_TIME_NONE;
    m = profile_load(p, QP_LOAD_CLEAN);
    assert_int_equal(m->run.cost_total, 67);
    qp_model_free(m);
    profile_free(p);
}

static void ascend(void *to, unsigned percent)
{
    unsigned *last = to;
    assert_true(percent >= *last && percent <= 100);
    *last = percent;
}

static void loading_says_how_far_it_is(void **state)
{
    (void)state;
    unsigned last = 0;
    profile *p = profile_new();
    qp_load_options o = {.progress = {ascend, &last}};
    qp_model_free(profile_load_with(p, &o, QP_LOAD_CLEAN));
    assert_int_equal(last, 100);
    profile_free(p);
}

static void names_follow_the_rules(void **state)
{
    (void)state;
    profile *p = profile_new();
    profile_method(p, 1, "run", "Server", "s.lua");
    qp_cell placeholder = profile_method(p, 0xAB12, "", NULL, NULL);
    ((qp_method *)profile_at(p, placeholder))->flags = 0;
    profile_thread(p);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    assert_string_equal(profile_find(m, "Server.run")->class_name, "Server");
    assert_string_equal(profile_find(m, "run")->name, "Server.run"); /* by its bare name */
    assert_non_null(profile_find(m, "UnnamedFunctionab12"));
    assert_string_equal(m->threads[1].name, ".thread_1.");
    qp_model_free(m);
}

/* Two records of one name stay two rows, unless they are asked to be one. */
static void equal_methods_are_merged_on_request(void **state)
{
    (void)state;
    profile *p = profile_new();
    qp_cell th = profile_thread(p);
    qp_cell f1 = profile_method(p, 1, "f", NULL, "a.lua");
    qp_cell f2 = profile_method(p, 2, "f", NULL, "a.lua");
    profile_method(p, 3, "f", NULL, "b.lua");
    profile_node(p, th, profile_node(p, th, 0, f1, 1, 10), f2, 1, 5);
    qp_model *m = profile_load(p, QP_LOAD_CLEAN);
    uint32_t n_found;
    qp_model_method_named(m, "f", &n_found);
    assert_int_equal(n_found, 3);
    qp_model_free(m);
    m = profile_load_with(p, &(qp_load_options){.merge_same = true}, QP_LOAD_CLEAN);
    const qp_model_method *f = &m->methods[qp_model_method_named(m, "f", &n_found)];
    assert_int_equal(n_found, 2);
    assert_int_equal(f->all.calls, 2);
    assert_int_equal(f->all.total, 15); /* the inner one is recursion now */
    qp_model_free(m);
    profile_free(p);
}

static void the_hottest_path_ends_where_own_time_prevails(void **state)
{
    (void)state;
    profile *p = profile_new();
    qp_cell th = profile_thread(p);
    qp_cell a = profile_call(p, th, 0, 1, "a", 1, 5);
    profile_call(p, th, a, 2, "b", 1, 20);
    qp_cell c = profile_call(p, th, a, 3, "c", 1, 60);
    profile_call(p, th, c, 4, "d", 1, 15);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    uint32_t *path;
    size_t n;
    assert_true(qp_model_hottest_path(m, QP_ALL_THREADS, &path, &n));
    assert_int_equal(n, 2);
    assert_string_equal(m->methods[m->nodes[path[0]].method].name, "a");
    assert_string_equal(m->methods[m->nodes[path[1]].method].name, "c");
    qp_free(path);
    qp_model_free(m);
}

/* 5 calls in the tree and 6 at <overflow>; 3 beyond the deepest stack, 2 dropped, 11 without a path. Where
 * areas leave methods out, only 4 of the 11 are lost: 10 did not fit, 6 of them are at <overflow>. */
static void lost_calls_are_those_that_no_path_counts(void **state)
{
    (void)state;
    for (int has_areas = 0; has_areas <= 1; has_areas++) {
        profile *p = profile_new();
        qp_cell th = profile_thread(p), f = profile_method(p, 1, "f", NULL, NULL),
                overflow = profile_method(p, 0, "<overflow>", NULL, NULL),
                left_out = profile_method(p, 2, "g", NULL, NULL);
        ((qp_method *)profile_at(p, overflow))->flags |= QP_METHOD_OVERFLOW;
        ((qp_method *)profile_at(p, left_out))->flags |= has_areas ? QP_METHOD_EXCLUDED : 0;
        profile_node(p, th, profile_node(p, th, 0, f, 5, 50), overflow, 6, 7);
        profile_balance(p, th, 11, 0);
        qp_thread_record *r = profile_at(p, th);
        r->n_deep_total = 3;
        r->n_dropped = 2;
        r->n_overflowed = 11;
        profile_head(p)->diagnostics[QP_D_tree_overflow] = 10;
        qp_model *m = profile_read(p, QP_LOAD_CLEAN);
        assert_int_equal(m->run.calls, 11);
        assert_int_equal(m->run.calls_lost, has_areas ? 9 : 16);
        qp_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reference_run_has_its_documented_times),
        cmocka_unit_test(recursion_is_counted_once),
        cmocka_unit_test(a_callee_of_a_recursive_method_has_none_of_its_own_time),
        cmocka_unit_test(times_of_callers_add_up_to_the_total),
        cmocka_unit_test(direct_recursion_does_not_multiply),
        cmocka_unit_test(threads_are_apart_and_together),
        cmocka_unit_test(skips_are_calls_and_no_hits),
        cmocka_unit_test(a_sealed_profile_closes_open_frames_at_its_end),
        cmocka_unit_test(a_crashed_profile_ends_with_the_last_event),
        cmocka_unit_test(time_stands_while_recording_is_stopped),
        cmocka_unit_test(stops_that_a_thread_has_not_seen_are_taken_off),
        cmocka_unit_test(the_clock_of_a_parked_thread_stands),
        cmocka_unit_test(a_thread_that_has_not_seen_a_clear_starts_at_it),
        cmocka_unit_test(a_stack_continues_in_the_next_chunk),
        cmocka_unit_test(ticks_become_nanoseconds_exactly),
        cmocka_unit_test(the_cost_of_recording_is_what_the_times_contain),
        cmocka_unit_test(events_out_of_line_cost_what_they_took),
        cmocka_unit_test(calls_in_no_area_cost_the_time_of_the_root),
        cmocka_unit_test(loading_says_how_far_it_is),
        cmocka_unit_test(names_follow_the_rules),
        cmocka_unit_test(equal_methods_are_merged_on_request),
        cmocka_unit_test(the_hottest_path_ends_where_own_time_prevails),
        cmocka_unit_test(lost_calls_are_those_that_no_path_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
