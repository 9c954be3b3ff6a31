/* test_qii_time.c: times, counts and blocks, spec/qii.md section 9. Figures are worked out by
 * hand. */
#include <pthread.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"
#include "unit/play.h"

static const qprof_LineInfo three_blocks[] = {{0, 15}, {7, 16}, {12, 19}};

static void counts_go_to_the_top_call_and_leave_times_alone(void **state) /* qii 24 */
{
    play_ctx *p = play_start(state, "");
    play(p, "f( 2 +5 g( 3 +7 ) +1 4 ) +9");
    assert_int_equal(qprof_diagnostic("counts_no_frame"), 1);
    play_end(p);
    assert_flat(p, "f", 1, 9, 6);
    assert_flat(p, "g", 1, 3, 3);
    assert_counts(p, "f", 6, 13);
    assert_counts(p, "g", 7, 7);
}

static void counts_follow_the_rule_of_recursion(void **state) /* qii 24, 25 */
{
    play_ctx *p = play_run(state, "", "f( +5 g( +2 f( +3 ) ) )");
    assert_counts(p, "f", 8, 10);
    assert_counts(p, "g", 2, 5);
}

static void with_the_clock_counts_the_figures_are_counts(void **state) /* qii 25 */
{
    play_ctx *p = play_run(state, "-clock=counts",
                           "A( +32 9 B( +17 9 C( +23 9 A( +32 9 D( +14 9 ) ) ) ) )");
    assert_flat(p, "A", 2, 118, 64);
    assert_flat(p, "B", 1, 86, 17);
    assert_flat(p, "C", 1, 69, 23);
    assert_flat(p, "D", 1, 14, 14);
    assert_string_equal(p->m->run.unit, "counts");
}

static void minimum_maximum_and_average_are_of_own_time(void **state) /* qii 26 */
{
    play_ctx *p = play_run(state, "", "f( 5 g( 100 ) 2 ) f( 3 ) f( 14 )");
    assert_flat(p, "f", 3, 124, 24);
    assert_min_max(p, "f", 3, 14);
    assert_min_max(p, "g", 100, 100);
    qp_figures f = play_figures(p, QP_ALL_THREADS, "f");
    assert_int_equal(qp_figures_average(&f), 8);
}

static void the_documented_recursion_has_its_figures(void **state) /* qii 27 */
{
    play_ctx *p = play_run(state, "", "A( 32 B( 17 C( 23 A( 32 D( 14 ) ) ) ) )");
    assert_flat(p, "A", 2, 118, 64);
    assert_flat(p, "B", 1, 86, 17);
    assert_flat(p, "C", 1, 69, 23);
    assert_flat(p, "D", 1, 14, 14);
}

static void callees_of_a_recursive_method_exclude_its_own_time(void **state) /* qii 27 */
{
    play_ctx *p = play_run(state, "", "A( 32 B( 17 C( 23 A( 32 D( 14 ) ) ) ) )");
    qp_edge *edges;
    size_t n;
    uint32_t a = qp_model_method_named(p->m, "A", NULL);
    assert_true(qp_model_callees(p->m, a, QP_ALL_THREADS, &edges, &n));
    assert_int_equal(n, 2);
    assert_string_equal(p->m->methods[edges[0].method].name, "B");
    assert_int_equal(edges[0].time, 54);
    assert_true(edges[0].is_recursive);
    assert_string_equal(p->m->methods[edges[1].method].name, "D");
    assert_int_equal(edges[1].time, 14);
    assert_false(edges[1].is_recursive);
    qp_free(edges);
}

static void a_recursive_method_adds_its_total_once(void **state) /* qii 28 */
{
    play_ctx *p = play_run(state, "", "f( 5 f( 3 ) 2 )");
    assert_flat(p, "f", 2, 10, 10);
    assert_min_max(p, "f", 3, 7);
}

static void own_times_add_up_to_the_total_of_the_root(void **state) /* qii 29 */
{
    play_ctx *p = play_run(state, "", "a( 1 b( 2 a( 3 ) c( 4 b( 5 ) ) ) ) 100 d( 6 a( 7 ) )");
    uint64_t sum = 0;
    for (uint32_t i = 1; i < p->m->n_methods; i++)
        sum += p->m->methods[i].all.self;
    assert_int_equal(sum, 28);
    assert_int_equal(p->m->run.total, 28);
    assert_int_equal(p->m->nodes[QP_ROOT_NODE].f.total, 28);
}

static void block_times_of_the_specifications_example(void **state) /* qii 30 */
{
    play_ctx *p = play_start(state, "");
    play_register(p, "f", 0, three_blocks, 3);
    play(p, "f( 4 :2 2 g( 10 ) 4 :0 5 :2 5 )");
    play_end(p);
    assert_flat(p, "f", 1, 30, 20);
    assert_block(p, "f", 2, 0, 15, 25);
    assert_block(p, "f", 0, 0, 5, 5);
    assert_block(p, "f", 1, 0, 0, 0);
}

static void time_before_the_first_mark_goes_to_the_first_marked_block(void **state) /* qii 30 */
{
    play_ctx *p = play_start(state, "");
    play_register(p, "f", 0, three_blocks, 3);
    play(p, "f( 3 g( 20 ) 4 :1 5 ) f( 6 )");
    play_end(p);
    assert_flat(p, "f", 2, 38, 18);
    assert_block(p, "f", 1, 0, 12, 32); /* without any mark nothing: not the 6 */
}

static void a_mark_is_measured_in_counts_with_the_clock_counts(void **state) /* qii 25, 30 */
{
    play_ctx *p = play_start(state, "-clock=counts");
    play_register(p, "f", 0, three_blocks, 3);
    play(p, "f( +3 :0 +4 g( +10 ) +1 :1 +2 )");
    play_end(p);
    assert_block(p, "f", 0, 0, 8, 18);
    assert_block(p, "f", 1, 0, 2, 2);
}

static void block_counts_index_the_line_table(void **state) /* qii 23 */
{
    play_ctx *p = play_start(state, "");
    play_register(p, "f", 0, three_blocks, 3);
    play(p, "#0 f( 1 #0 #2*5 #2 #3 #-1 g( #0 ) )");
    assert_int_equal(qprof_diagnostic("bb_no_frame"), 1);
    assert_int_equal(qprof_diagnostic("bb_out_of_range"), 3); /* 3, -1, and g has no table */
    play_end(p);
    assert_block(p, "f", 0, 1, 0, 0);
    assert_block(p, "f", 1, 0, 0, 0);
    assert_block(p, "f", 2, 6, 0, 0);
    assert_flat(p, "f", 1, 1, 1);
}

static void marks_outside_the_table_are_refused(void **state) /* qii 23 */
{
    play_ctx *p = play_start(state, "");
    play_register(p, "f", 0, three_blocks, 3);
    play(p, ":0 f( 1 :-1 1 :3 1 :2147483647 1 g( 1 :0 ) )");
    assert_int_equal(qprof_diagnostic("bb_no_frame"), 1);
    assert_int_equal(qprof_diagnostic("bb_out_of_range"), 4);
    play_end(p);
    for (size_t i = 0; i < 3; i++)
        assert_block(p, "f", i, 0, 0, 0);
}

static void block_counts_of_zero_do_nothing_and_large_ones_survive(void **state) /* qii 53 */
{
    play_ctx *p = play_start(state, "");
    play_register(p, "f", 0, three_blocks, 3);
    play(p, "f( #0*0 #1*10000000000 #1*1 )");
    play_end(p);
    assert_block(p, "f", 0, 0, 0, 0);
    assert_block(p, "f", 1, 10000000001, 0, 0);
}

static void a_stopped_recording_keeps_the_stack_and_adds_no_time(void **state) /* qii 31 */
{
    play_ctx *p = play_start(state, "");
    play(p, "main( 10");
    assert_int_equal(qprof_stop_recording(), 1);
    assert_int_equal(qprof_stop_recording(), 0);
    assert_int_equal(qprof_is_recording(), 0);
    play(p, "5 f( 5 +3 ) 5 h( 5");
    assert_int_equal(qprof_start_recording(), 1);
    assert_int_equal(qprof_start_recording(), 0);
    play(p, "1 g( 2 ) 4 ) 3 )");
    play_end(p);
    assert_flat(p, "main", 1, 20, 13);
    assert_flat(p, "f", 1, 0, 0);
    assert_skips(p, "f", 0, 1);
    assert_counts(p, "f", 0, 0);
    assert_skips(p, "h", 0, 1);
    assert_flat(p, "h", 1, 7, 5);
    assert_path(p, "main>h>g", 1, 2);
    /* main was not recorded from end to end: no minimum, no maximum */
    qp_figures main_figures = play_figures(p, QP_ALL_THREADS, "main");
    assert_true(main_figures.min > main_figures.max);
    assert_min_max(p, "g", 2, 2);
}

static void recording_can_start_stopped(void **state) /* qii 31 */
{
    play_ctx *p = play_start(state, "-record-data=no");
    assert_int_equal(qprof_is_recording(), 0);
    play(p, "main( 10 f( 5");
    assert_int_equal(qprof_start_recording(), 1);
    play(p, "3 ) 4 )");
    play_end(p);
    assert_flat(p, "main", 1, 7, 4);
    assert_flat(p, "f", 1, 3, 3);
    assert_skips(p, "main", 0, 1);
    assert_skips(p, "f", 0, 1);
}

static void *stop_and_start(void *unused)
{
    (void)unused;
    qprof_stop_recording();
    play_clock_add(7);
    qprof_start_recording();
    return NULL;
}

static void another_thread_splits_the_interval_where_it_stops_and_starts(void **state) /* 56 */
{
    play_ctx *p = *state;
    pthread_t other;
    play_begin(p, "");
    play(p, "main( 10");
    assert_int_equal(pthread_create(&other, NULL, stop_and_start, NULL), 0);
    pthread_join(other, NULL);
    play(p, "3 )");
    play_end(p);
    assert_flat(p, "main", 1, 13, 13);
}

static void
blocking_methods_have_the_clock_and_the_type_of_their_class(void **state) /* qii 42 */
{
    play_ctx *p = play_start(state, "-time-blocking-functions=ignore");
    play_register(p, "main", 0, three_blocks, 3);
    play_register(p, "plain", 0, NULL, 0);
    play_register(p, "read", QPROF_METHOD_FLAGS_BLOCKS, NULL, 0);
    play_register(p, "wait", QPROF_METHOD_FLAGS_WAITS, NULL, 0);
    play_register(p, "both", QPROF_METHOD_FLAGS_BLOCKS | QPROF_METHOD_FLAGS_WAITS, NULL, 0);
    play(p, "main( 1 read( 10 plain( 2 ) 10 ) 1 wait( 20 ) both( 40 ) 1 )");
    qprof_record_fn_entry(QPROF_METHOD_GC, 1);
    qprof_record_fn_exit(0);
    play_end(p);
    assert_flat(p, "read", 1, 2, 0);
    assert_flat(p, "wait", 1, 0, 0);
    assert_flat(p, "both", 1, 0, 0);
    assert_flat(p, "main", 1, 5, 3);
    const char *const types[][2] = {{"read", "Sys Block"},
                                    {"wait", "Sys Wait"},
                                    {"both", "Sys Block"},
                                    {"main", "Line"},
                                    {"<Garbage collector>", "System"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        uint32_t method = qp_model_method_named(p->m, types[i][0], NULL);
        assert_string_equal(p->m->methods[method].type, types[i][1]);
    }
}

static void methods_without_flags_can_be_ignored_too(void **state) /* qii 42 */
{
    play_ctx *p = play_start(state, "-time-user-functions=ignore");
    play_register(p, "read", QPROF_METHOD_FLAGS_BLOCKS, NULL, 0);
    play(p, "main( 5 read( 7 ) 5 )");
    play_end(p);
    assert_flat(p, "main", 1, 7, 0);
    assert_flat(p, "read", 1, 7, 7);
}

static void function_granularity_shows_functions(void **state) /* qii 42 */
{
    play_ctx *p = play_start(state, "-collection-granularity=function");
    play_register(p, "main", 0, three_blocks, 3);
    play(p, "main( 5 )");
    play_end(p);
    assert_string_equal(p->m->methods[qp_model_method_named(p->m, "main", NULL)].type,
                        "Function");
}

static void without_times_calls_are_exact_and_no_time_is_shown(void **state) /* design D4 */
{
    play_ctx *p = play_run(state, "-time=none", "main( 5 f( 1 ) f( 2 ) f( g( ) ) )");
    assert_false(p->m->run.has_times);
    assert_flat(p, "main", 1, 0, 0);
    assert_flat(p, "f", 3, 0, 0);
    assert_path(p, "main>f>g", 1, 0);
}

static void adaptive_times_of_the_first_calls_are_whole(void **state) /* design D4 */
{
    play_ctx *p = play_start(state, "-time=adaptive");
    play(p, "main(");
    for (int i = 0; i < 64; i++)
        play(p, "f( 3 g( 2 ) 1 )");
    play(p, ")");
    play_end(p);
    assert_flat(p, "f", 64, 384, 256);
    assert_flat(p, "g", 64, 128, 128);
    assert_flat(p, "main", 1, 384, 0);
}

static void a_clock_that_steps_back_is_held(void **state) /* reliability 2.5 */
{
    play_ctx *p = play_start(state, "");
    play(p, "main( 10 f(");
    play_clock_add(-6);
    play(p, ") "); /* read 6 ns before the last event */
    play_clock_add(10);
    play(p, ")");
    assert_true(qprof_diagnostic("clock_backwards") >= 1);
    assert_int_equal(qprof_diagnostic("clock_backwards_max"), 6);
    play_end(p);
    assert_flat(p, "f", 1, 0, 0);
    assert_flat(p, "main", 1, 14, 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(counts_go_to_the_top_call_and_leave_times_alone),
        PLAY_TEST(counts_follow_the_rule_of_recursion),
        PLAY_TEST(with_the_clock_counts_the_figures_are_counts),
        PLAY_TEST(minimum_maximum_and_average_are_of_own_time),
        PLAY_TEST(the_documented_recursion_has_its_figures),
        PLAY_TEST(callees_of_a_recursive_method_exclude_its_own_time),
        PLAY_TEST(a_recursive_method_adds_its_total_once),
        PLAY_TEST(own_times_add_up_to_the_total_of_the_root),
        PLAY_TEST(block_times_of_the_specifications_example),
        PLAY_TEST(time_before_the_first_mark_goes_to_the_first_marked_block),
        PLAY_TEST(a_mark_is_measured_in_counts_with_the_clock_counts),
        PLAY_TEST(block_counts_index_the_line_table),
        PLAY_TEST(marks_outside_the_table_are_refused),
        PLAY_TEST(block_counts_of_zero_do_nothing_and_large_ones_survive),
        PLAY_TEST(a_stopped_recording_keeps_the_stack_and_adds_no_time),
        PLAY_TEST(recording_can_start_stopped),
        PLAY_TEST(another_thread_splits_the_interval_where_it_stops_and_starts),
        PLAY_TEST(blocking_methods_have_the_clock_and_the_type_of_their_class),
        PLAY_TEST(methods_without_flags_can_be_ignored_too),
        PLAY_TEST(function_granularity_shows_functions),
        PLAY_TEST(without_times_calls_are_exact_and_no_time_is_shown),
        PLAY_TEST(adaptive_times_of_the_first_calls_are_whole),
        PLAY_TEST(a_clock_that_steps_back_is_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
