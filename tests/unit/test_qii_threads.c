/* test_qii_threads.c: OS threads and virtual threads, spec/qii.md sections 3 and 6. */
#include <pthread.h>
#include <string.h>

#include "unit/play.h"

/* An OS thread that executes commands and waits in between. */
typedef struct {
    play_ctx *p;
    const char *score;
} carried;

static void *carry(void *argument)
{
    carried *c = argument;
    play(c->p, c->score);
    return NULL;
}

static void play_on_another_os_thread(play_ctx *p, const char *score)
{
    carried c = {p, score};
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, carry, &c), 0);
    pthread_join(other, NULL);
}

static void virtual_threads_on_one_os_thread_do_not_share_time(void **state) /* qii 36 */
{
    play_ctx *p = *state;
    play_begin_vt(p, "");
    /* what passes before an event of b is still a's: b begins at its event */
    play(p, "@a f( 5 @b g( 7 h( 1 @a . 3 ) 100 @b ) 2 )");
    play_end(p);
    assert_int_equal(p->m->n_threads, 3);
    assert_flat_on(p, 1, "f", 1, 8, 8);
    assert_flat_on(p, 2, "g", 1, 10, 9);
    assert_flat_on(p, 2, "h", 1, 1, 1);
    assert_true(p->m->run.is_virtual);
}

static void a_virtual_thread_keeps_its_stack_on_another_os_thread(void **state) /* qii 37 */
{
    play_ctx *p = *state;
    play_begin_vt(p, "");
    play(p, "@a f( 5 @b g( 1 )"); /* a is parked after 5 */
    play_clock_add(1000);
    play_on_another_os_thread(p, "@a h( 2 ) 3");
    play(p, "@a ) @b");
    assert_int_equal(qprof_diagnostic("vt_migrations"), 2);
    play_end(p);
    assert_int_equal(p->m->n_threads, 3);
    assert_flat(p, "f", 1, 10, 8);
    assert_flat(p, "h", 1, 2, 2);
    assert_path(p, "f>h", 1, 2);
    assert_flat(p, "g", 1, 1, 1);
}

/* Every call of one family, made in the other mode. */
static void call_the_vt_family(VthreadID vt)
{
    qprof_thread_create_vt(1, vt);
    qprof_set_thread_name_vt("x", vt);
    qprof_record_fn_entry_vt(5, 1, vt);
    qprof_record_fn_exit_vt(1, vt);
    qprof_record_counts_vt(1, vt);
    qprof_record_bb_counts_vt(0, 1, vt);
    qprof_record_bb_time_vt(0, vt);
    qprof_thread_destroy_vt(vt);
    assert_int_equal(qprof_current_method_id_vt(vt), 0);
}

static void vt_calls_in_system_mode_are_ignored_and_counted(void **state) /* qii 38 */
{
    play_ctx *p = play_start(state, "");
    play(p, "main( 1");
    call_the_vt_family(9);
    assert_int_equal(qprof_diagnostic("wrong_mode"), 9);
    qprof_register_method_id_vt(5, "f", NULL, 0, "f", NULL, 0, 9); /* works, not counted */
    assert_int_equal(qprof_diagnostic("wrong_mode"), 9);
    assert_int_equal(qprof_current_method_id(), play_method(p, "main"));
    qprof_record_fn_entry(5, 1);
    qprof_shutdown_vt(9); /* works, counted */
    assert_int_equal(qprof_is_running(), 0);
    play_read(p, "run.qprof");
    assert_flat(p, "f", 1, 0, 0);
    assert_flat(p, "main", 1, 1, 1);
    assert_int_equal(p->m->n_threads, 2);
    assert_int_equal(play_file_diagnostic(p, "wrong_mode"), 10);
}

static void plain_calls_in_vt_mode_are_ignored_and_counted(void **state) /* qii 38 */
{
    play_ctx *p = *state;
    play_begin_vt(p, "");
    play(p, "@a main( 1");
    qprof_thread_create(1);
    qprof_thread_destroy(1);
    qprof_record_fn_entry(5, 1);
    qprof_record_fn_exit(0);
    qprof_record_counts(1);
    qprof_record_bb_time(0);
    assert_int_equal(qprof_current_method_id(), 0);
    assert_int_equal(qprof_diagnostic("wrong_mode"), 7);
    qprof_register_method_id(5, "f", NULL, 0, "f", NULL, 0); /* works, not counted */
    assert_ptr_not_equal(qprof_get_option("clock"), NULL);
    assert_int_equal(qprof_diagnostic("wrong_mode"), 7);
    assert_int_equal(qprof_current_method_id_vt(play_vt(p, "a")), play_method(p, "main"));
    qprof_shutdown();
    play_read(p, "run.qprof");
    assert_flat(p, "main", 1, 1, 1);
    assert_absent(p, "f");
    assert_int_equal(play_file_diagnostic(p, "wrong_mode"), 8);
}

static void calls_without_a_vt_form_act_on_the_virtual_thread_last_named(void **state) /* 54 */
{
    static const qprof_LineInfo table[] = {{0, 1}, {4, 2}};
    play_ctx *p = *state;
    play_begin_vt(p, "");
    play_register(p, "f", 0, table, 2);
    play_register(p, "g", 0, table, 2);
    qprof_set_thread_name("nowhere"); /* none was named yet */
    qprof_record_bb_counts(0, 1);
    assert_int_equal(qprof_diagnostic("unknown_thread"), 2);
    play(p, "@a f( @b g(");
    qprof_set_thread_name("bert");
    qprof_record_bb_counts(0, 3);
    qprof_set_thread_name_vt("anna", play_vt(p, "a"));
    qprof_record_bb_counts_vt(1, 4, play_vt(p, "a"));
    assert_int_equal(qprof_diagnostic("wrong_mode"), 0);
    play_end(p);
    assert_block(p, "g", 0, 3, 0, 0);
    assert_block(p, "f", 1, 4, 0, 0);
    assert_string_equal(p->m->threads[1].name, "anna");
    assert_string_equal(p->m->threads[2].name, "bert");
}

static void destroying_a_thread_closes_its_frames_and_keeps_its_data(void **state) /* qii 39 */
{
    play_ctx *p = play_start(state, "");
    qprof_thread_create(7);
    play(p, "f( 5 g( 3");
    qprof_thread_destroy(7);
    p->threads[0].depth = 0;
    assert_int_equal(qprof_current_method_id(), 0);
    play_clock_add(100);
    qprof_thread_create(7);
    play(p, "f( 2 )");
    qprof_thread_destroy(7);
    qprof_thread_destroy(7);
    qprof_thread_destroy(8);
    assert_int_equal(qprof_diagnostic("unknown_thread"), 2);
    play_end(p);
    assert_int_equal(p->m->n_threads, 3);
    assert_int_equal(p->m->threads[1].host_id, 7);
    assert_int_equal(p->m->threads[2].host_id, 7);
    assert_int_equal(p->m->threads[1].ordinal, 1);
    assert_int_equal(p->m->threads[2].ordinal, 2);
    assert_int_equal(p->m->threads[1].n_destroyed_live, 2);
    assert_flat_on(p, 1, "f", 1, 8, 5);
    assert_flat_on(p, 1, "g", 1, 3, 3);
    assert_flat_on(p, 2, "f", 1, 2, 2);
}

static void destroying_a_virtual_thread_closes_its_frames(void **state) /* qii 39 */
{
    play_ctx *p = *state;
    play_begin_vt(p, "");
    play(p, "@a f( 5 @b g( 4 @a g( 1");
    qprof_thread_destroy_vt(play_vt(p, "a"));
    p->threads[0].depth = 0;
    play(p, "50 @a h( 2 )");
    qprof_thread_destroy_vt(12345);
    assert_int_equal(qprof_diagnostic("unknown_thread"), 1);
    play_end(p);
    assert_int_equal(p->m->n_threads, 4);
    assert_flat_on(p, 1, "f", 1, 6, 5);
    assert_flat_on(p, 1, "g", 1, 1, 1);
    assert_flat_on(p, 2, "g", 1, 4, 4);
    assert_flat_on(p, 3, "h", 1, 2, 2);
    assert_path(p, "h", 1, 2);
    assert_int_equal(p->m->threads[1].n_destroyed_live, 2);
}

static void *run_unnamed(void *method)
{
    qprof_record_fn_entry((qprof_MethodID)method, 1);
    qprof_record_fn_exit(0);
    return NULL;
}

static void
a_name_is_the_calling_threads_and_the_others_follow_the_pattern(void **state) /* 40 */
{
    play_ctx *p = *state;
    char name[8] = "Mine";
    pthread_t other;
    play_begin(p, "");
    qprof_set_thread_name(name);
    memset(name, 'x', 4);
    play(p, "f( 1 )");
    assert_int_equal(pthread_create(&other, NULL, run_unnamed, (void *)play_method(p, "g")), 0);
    pthread_join(other, NULL);
    play_end(p);
    assert_string_equal(p->m->threads[1].name, "Mine");
    assert_string_equal(p->m->threads[2].name, ".g_2.");
}

static void a_thread_without_any_entry_is_called_after_its_ordinal(void **state) /* qii 40 */
{
    play_ctx *p = *state;
    play_begin_vt(p, "");
    play(p, "@a f( 1 )");
    qprof_thread_create_vt(7, play_vt(p, "b"));
    play_end(p);
    assert_string_equal(p->m->threads[1].name, ".f_1.");
    assert_string_equal(p->m->threads[2].name, ".thread_2.");
}

static void a_handle_that_is_mounted_parks_the_one_before(void **state) /* qii 36, design D7 */
{
    play_ctx *p = *state;
    play_begin_vt(p, "");
    qprof_MethodID f = play_method(p, "f"), g = play_method(p, "g");
    qprof_thread *a = qprof_thread_handle_vt(1, QPROF_INLINE_VERSION);
    qprof_thread *b = qprof_thread_handle_vt(2, QPROF_INLINE_VERSION);
    qprof_thread *none = qprof_thread_mount(a);
    assert_ptr_not_equal(none, a);
    assert_int_equal(none->gate, 0);
    qprof_entry(a, f, 10);
    play_clock_add(5);
    assert_ptr_equal(qprof_thread_mount(b), a);
    qprof_entry(b, g, 10);
    play_clock_add(7);
    assert_ptr_equal(qprof_thread_mount(a), b);
    play_clock_add(2);
    qprof_exit(a, 0);
    qprof_thread_mount(b);
    play_clock_add(3);
    qprof_exit(b, 0);
    play_end(p);
    assert_flat(p, "f", 1, 7, 7);
    assert_flat(p, "g", 1, 10, 10);
}

/* Thread time at which a suspended thread continues. */
static uint64_t time_of_suspended(const qprof_thread *th)
{
    return th->pulse->suspended_at - th->pulse->offset;
}

static void a_switch_reads_the_clock_once_and_loses_no_tick(void **state)
{
    play_ctx *p = *state;
    qprof_set_clock(NULL);
    play_begin_vt(p, "-time=exact");
    qprof_MethodID f = play_method(p, "f");
    qprof_thread *th[2];
    for (unsigned i = 0; i < 2; i++) {
        th[i] = qprof_thread_handle_vt(i + 1, QPROF_INLINE_VERSION);
        qprof_thread_mount(th[i]);
        qprof_entry(th[i], f, 10);
    }
    if (!(th[0]->gate & QPROF_HOOK_TSC))
        skip(); /* other clocks are read at both ends */
    for (unsigned i = 0; i < 1000; i++) {
        qprof_thread *next = th[i % 2], *last = th[(i + 1) % 2];
        uint64_t before = time_of_suspended(next);
        assert_true(next->pulse->suspended_at != 0 && last->pulse->suspended_at == 0);
        assert_ptr_equal(qprof_thread_mount(next), last);
        assert_true(next->pulse->suspended_at == 0);
        assert_true(last->pulse->suspended_at - next->pulse->offset == before);
        if (i % 7 == 0)
            qprof_entry(next, f, 20);
        if (i % 7 == 4)
            qprof_exit(next, 10);
    }
    assert_int_equal(qprof_diagnostic("clock_backwards"), 0);
}

static void a_stop_between_two_switches_is_no_time_of_either_thread(void **state)
{
    play_ctx *p = *state;
    qprof_set_clock(NULL);
    play_begin_vt(p, "-time=exact");
    qprof_MethodID f = play_method(p, "f");
    qprof_thread *a = qprof_thread_handle_vt(1, QPROF_INLINE_VERSION);
    qprof_thread *b = qprof_thread_handle_vt(2, QPROF_INLINE_VERSION);
    qprof_thread_mount(a);
    qprof_entry(a, f, 10);
    qprof_thread_mount(b);
    qprof_entry(b, f, 10);
    qprof_thread_mount(a);
    qprof_thread_mount(b);
    uint64_t of_a = time_of_suspended(a);
    qprof_stop_recording();
    qprof_thread_mount(a);
    qprof_thread_mount(b);
    qprof_start_recording();
    assert_true(time_of_suspended(a) == of_a); /* it ran only while recording was stopped */
    qprof_exit(b, 0);
    qprof_thread_mount(a);
    qprof_exit(a, 0);
    assert_int_equal(qprof_diagnostic("clock_backwards"), 0);
    play_end(p);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "f").calls, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(virtual_threads_on_one_os_thread_do_not_share_time),
        PLAY_TEST(a_virtual_thread_keeps_its_stack_on_another_os_thread),
        PLAY_TEST(vt_calls_in_system_mode_are_ignored_and_counted),
        PLAY_TEST(plain_calls_in_vt_mode_are_ignored_and_counted),
        PLAY_TEST(calls_without_a_vt_form_act_on_the_virtual_thread_last_named),
        PLAY_TEST(destroying_a_thread_closes_its_frames_and_keeps_its_data),
        PLAY_TEST(destroying_a_virtual_thread_closes_its_frames),
        PLAY_TEST(a_name_is_the_calling_threads_and_the_others_follow_the_pattern),
        PLAY_TEST(a_thread_without_any_entry_is_called_after_its_ordinal),
        PLAY_TEST(a_handle_that_is_mounted_parks_the_one_before),
        PLAY_TEST(a_switch_reads_the_clock_once_and_loses_no_tick),
        PLAY_TEST(a_stop_between_two_switches_is_no_time_of_either_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
