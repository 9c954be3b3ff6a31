/* test_qii_stack.c: the shadow stack, spec/qii.md section 8. Figures are worked out by hand. */
#include <pthread.h>

#include "unit/play.h"

/* Section 8: the seed's sequence with its times. */
static void assert_reference_run(play_ctx *p)
{
    assert_flat(p, "main", 1, 45, 17);
    assert_flat(p, "fun_one", 1, 20, 10);
    assert_flat(p, "fun_three", 1, 10, 10);
    assert_flat(p, "fun_two", 1, 8, 8);
    assert_int_equal(p->m->run.total, 45);
    assert_path(p, "main>fun_one>fun_three", 1, 10);
}

static void the_reference_run_has_the_times_of_the_specification(void **state) /* qii 7 */
{
    play_ctx *p = *state;
    p->first_id = 65;
    play_begin(p, "");
    play(p, "main( 10 fun_one( 5 fun_three( 10 ) 5 ) 2 fun_two( 8 ) 5 $");
    play_end(p);
    assert_reference_run(p);
}

static void an_unknown_id_ends_the_reference_run_silently(void **state) /* qii 7 */
{
    play_ctx *p = *state;
    p->first_id = 65;
    play_begin(p, "");
    play(p, "main( 10 fun_one( 5 fun_three( 10 ) 5 ) 2 fun_two( 8 ) 5 !");
    assert_int_equal(qprof_diagnostic("exit_unknown_id"), 0);
    play_end(p);
    assert_reference_run(p);
}

static void an_exit_to_the_top_frames_own_id_pops_nothing(void **state) /* qii 8 */
{
    play_ctx *p = play_start(state, "");
    play(p, "main( 3 f( 2 . 2 .");
    assert_int_equal(qprof_current_method_id(), play_method(p, "f"));
    play(p, "1 ) 4 )");
    play_end(p);
    assert_flat(p, "main", 1, 12, 7);
    assert_flat(p, "f", 1, 5, 5);
}

static void an_exit_to_an_outer_frame_ends_all_above_it_at_one_time(void **state) /* qii 9 */
{
    play_ctx *p = play_run(state, "", "a( 1 b( 2 c( 3 d( 4 ^a 5 )");
    assert_flat(p, "a", 1, 15, 6);
    assert_flat(p, "b", 1, 9, 2);
    assert_flat(p, "c", 1, 7, 3);
    assert_flat(p, "d", 1, 4, 4);
    assert_int_equal(p->m->threads[1].n_exits, 2);
    assert_int_equal(p->m->threads[1].n_unwound, 2);
}

static void ids_that_count_down_give_the_same_result(void **state) /* qii 10 */
{
    play_ctx *p = *state;
    p->first_id = 0x7fff0000;
    p->id_step = -48;
    play_begin(p, "");
    play(p, "main( 10 fun_one( 5 fun_three( 10 ) 5 ) 2 fun_two( 8 ) 5 $");
    play_end(p);
    assert_reference_run(p);
}

static void exit_zero_ends_the_whole_stack_silently(void **state) /* qii 11 */
{
    play_ctx *p = play_start(state, "");
    play(p, "a( 1 b( 2 c( 3 $ 50 a( 4 $ $");
    assert_int_equal(qprof_diagnostic("exit_unknown_id"), 0);
    assert_int_equal(qprof_diagnostic("exit_empty_stack"), 0);
    play_end(p);
    assert_flat(p, "a", 2, 10, 5);
    assert_flat(p, "b", 1, 5, 2);
    assert_flat(p, "c", 1, 3, 3);
}

static void an_unknown_id_ends_the_whole_stack_and_is_counted(void **state) /* qii 11 */
{
    play_ctx *p = play_start(state, "");
    play(p, "a( 1 b( 2 !");
    assert_int_equal(qprof_diagnostic("exit_unknown_id"), 1);
    assert_int_equal(qprof_current_method_id(), 0);
    play(p, "7 c( 3 )");
    play_end(p);
    assert_flat(p, "a", 1, 3, 1);
    assert_flat(p, "b", 1, 2, 2);
    assert_flat(p, "c", 1, 3, 3);
    assert_path(p, "c", 1, 3);
    assert_int_equal(play_file_diagnostic(p, "exit_unknown_id"), 1);
}

static void an_exit_on_an_empty_stack_does_nothing(void **state) /* qii 12 */
{
    play_ctx *p = play_start(state, "");
    play(p, "! 5 ! $ a( 2 )");
    assert_int_equal(qprof_diagnostic("exit_empty_stack"), 2); /* not the exit(0) */
    assert_int_equal(qprof_diagnostic("exit_unknown_id"), 0);
    play_end(p);
    assert_flat(p, "a", 1, 2, 2);
}

static void of_equal_ids_on_a_stack_the_innermost_is_meant(void **state) /* qii 13 */
{
    play_ctx *p = play_start(state, "");
    qprof_MethodID a = play_method(p, "a"), b = play_method(p, "b"), c = play_method(p, "c");
    qprof_record_fn_entry(a, 5);
    qprof_record_fn_entry(b, 5);
    qprof_record_fn_entry(c, 6);
    play_clock_add(9);
    qprof_record_fn_exit(5);
    assert_int_equal(qprof_current_method_id(), b);
    qprof_record_fn_exit(5); /* b itself: nothing */
    assert_int_equal(qprof_current_method_id(), b);
    qprof_record_fn_exit(0);
    play_end(p);
    assert_flat(p, "a", 1, 9, 0);
    assert_flat(p, "c", 1, 9, 9);
}

static void *play_other_thread(void *method)
{
    qprof_record_fn_entry((qprof_MethodID)method, 100);
    qprof_record_fn_entry((qprof_MethodID)method, 101);
    play_clock_add(10);
    qprof_record_fn_exit(100);
    qprof_record_fn_exit(0);
    return NULL;
}

static void equal_ids_on_two_threads_are_unrelated(void **state) /* qii 14 */
{
    play_ctx *p = *state;
    pthread_t other;
    play_begin(p, "");
    play(p, "main( 1 f( 2");
    qprof_MethodID g = play_method(p, "g");
    assert_int_equal(pthread_create(&other, NULL, play_other_thread, (void *)g), 0);
    pthread_join(other, NULL);
    assert_int_equal(qprof_current_method_id(), play_method(p, "f"));
    play(p, "3 ) 4 )");
    play_end(p);
    assert_flat(p, "f", 1, 15, 15);
    assert_flat(p, "main", 1, 20, 5);
    assert_flat(p, "g", 2, 10, 10);
    assert_int_equal(p->m->n_threads, 3);
    assert_int_equal(qprof_diagnostic("exit_unknown_id"), 0);
}

static void the_current_method_follows_entries_and_exits(void **state) /* qii 15 */
{
    play_ctx *p = play_start(state, "");
    assert_int_equal(qprof_current_method_id(), 0);
    play(p, "a(");
    assert_int_equal(qprof_current_method_id(), play_method(p, "a"));
    play(p, "b( c(");
    assert_int_equal(qprof_current_method_id(), play_method(p, "c"));
    play(p, "^a");
    assert_int_equal(qprof_current_method_id(), play_method(p, "a"));
    play(p, ")");
    assert_int_equal(qprof_current_method_id(), 0);
    qprof_shutdown();
    assert_int_equal(qprof_current_method_id(), 0);
}

static void unknown_exit_ignore_pops_nothing_while_frames_are_open(void **state) /* qii 51 */
{
    play_ctx *p = play_start(state, "-unknown-exit=ignore");
    qprof_MethodID a = play_method(p, "a"), b = play_method(p, "b");
    qprof_record_fn_entry(a, 1);
    qprof_record_fn_entry(b, 2);
    play_clock_add(4);
    qprof_record_fn_exit(PLAY_UNKNOWN_ID);
    assert_int_equal(qprof_current_method_id(), b);
    assert_int_equal(qprof_diagnostic("exit_unknown_id"), 1);
    play_clock_add(3);
    qprof_record_fn_exit(1);
    qprof_record_fn_exit(PLAY_UNKNOWN_ID); /* the last one: popped, not counted */
    assert_int_equal(qprof_current_method_id(), 0);
    assert_int_equal(qprof_diagnostic("exit_unknown_id"), 1);
    qprof_record_fn_entry(a, 1);
    qprof_record_fn_entry(b, 2);
    qprof_record_fn_exit(0); /* 0 still ends everything */
    assert_int_equal(qprof_current_method_id(), 0);
    play_end(p);
    assert_flat(p, "a", 2, 7, 0);
    assert_flat(p, "b", 2, 7, 7);
}

static void an_entry_with_id_zero_is_named_by_no_exit(void **state) /* qii 11, section 8 */
{
    play_ctx *p = play_start(state, "");
    qprof_MethodID a = play_method(p, "a"), b = play_method(p, "b"), c = play_method(p, "c");
    qprof_record_fn_entry(a, 7);
    qprof_record_fn_entry(b, 0);
    qprof_record_fn_entry(c, 8);
    play_clock_add(1);
    qprof_record_fn_exit(0); /* not to b: everything ends */
    assert_int_equal(qprof_current_method_id(), 0);
    assert_int_equal(qprof_diagnostic("entry_zero_stack_id"), 1);
    assert_int_equal(qprof_diagnostic("exit_unknown_id"), 0);
    qprof_record_fn_entry(a, 7);
    qprof_record_fn_entry(b, 0);
    play_clock_add(2);
    qprof_record_fn_exit(7);
    assert_int_equal(qprof_current_method_id(), a);
    play_end(p);
    assert_flat(p, "a", 2, 3, 0);
    assert_flat(p, "b", 2, 3, 2);
    assert_flat(p, "c", 1, 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(the_reference_run_has_the_times_of_the_specification),
        PLAY_TEST(an_unknown_id_ends_the_reference_run_silently),
        PLAY_TEST(an_exit_to_the_top_frames_own_id_pops_nothing),
        PLAY_TEST(an_exit_to_an_outer_frame_ends_all_above_it_at_one_time),
        PLAY_TEST(ids_that_count_down_give_the_same_result),
        PLAY_TEST(exit_zero_ends_the_whole_stack_silently),
        PLAY_TEST(an_unknown_id_ends_the_whole_stack_and_is_counted),
        PLAY_TEST(an_exit_on_an_empty_stack_does_nothing),
        PLAY_TEST(of_equal_ids_on_a_stack_the_innermost_is_meant),
        PLAY_TEST(equal_ids_on_two_threads_are_unrelated),
        PLAY_TEST(the_current_method_follows_entries_and_exits),
        PLAY_TEST(unknown_exit_ignore_pops_nothing_while_frames_are_open),
        PLAY_TEST(an_entry_with_id_zero_is_named_by_no_exit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
