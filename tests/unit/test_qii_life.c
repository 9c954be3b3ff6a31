/* test_qii_life.c: initialise, wants, shutdown, exit handler, new runs, spec/qii.md section
 * 4. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/play.h"

static void play_a_little(play_ctx *p)
{
    play(p, "main( 10 f( 5 ) )");
}

static void
initialise_takes_no_options_and_refuses_what_it_does_not_know(void **state) /* 1 2 */
{
    (void)state;
    qprof_InitInfo info = {1, NULL, NULL, 0};
    assert_int_equal(qprof_initialize_ex(NULL), QPROF_E_ARG);
    assert_int_equal(qprof_initialize_ex(&info), QPROF_E_VERSION);
    info.version = -1;
    assert_int_equal(qprof_initialize_ex(&info), QPROF_E_VERSION);
    assert_int_equal(qprof_is_running(), 0);
    assert_int_equal(qprof_initialize(NULL, NULL), 0);
    assert_int_equal(qprof_is_running(), 1);
    assert_int_equal(qprof_initialize(NULL, NULL), QPROF_E_STATE);
    info.version = 0;
    assert_int_equal(qprof_initialize_ex(&info), QPROF_E_STATE);
    assert_int_equal(qprof_is_running(), 1);
    qprof_shutdown();
    assert_int_equal(qprof_is_running(), 0);
    assert_int_equal(qprof_initialize("", NULL), 0);
}

static void version_zero_with_system_threads_is_initialise(void **state) /* qii 2 */
{
    play_ctx *p = *state;
    qprof_InitInfo info = {0, "-output=run.qprof", NULL, 0};
    assert_int_equal(qprof_initialize_ex(&info), 0);
    play_a_little(p);
    play_end(p);
    assert_flat(p, "main", 1, 15, 10);
    assert_false(p->m->run.is_virtual);
}

static void wants_follow_the_granularity_and_the_clock(void **state) /* qii 1, 60 */
{
    const unsigned detail = QPROF_WANT_LINES | QPROF_WANT_BLOCKS | QPROF_WANT_BLOCK_TIME;
    static const struct {
        const char *options;
        unsigned wants;
        bool has_detail;
    } rows[] = {
        {"", QPROF_WANT_CALLS, true},
        {"-collection-granularity=line", QPROF_WANT_CALLS, true},
        {"-collection-granularity=basic-block", QPROF_WANT_CALLS, true},
        {"-collection-granularity=function", QPROF_WANT_CALLS, false},
        {"-clock=counts", QPROF_WANT_CALLS | QPROF_WANT_COUNTS, true},
    };
    (void)state;
    assert_int_equal(qprof_wants(), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(qprof_initialize(rows[i].options, NULL), 0);
        assert_int_equal(qprof_wants(), rows[i].wants | (rows[i].has_detail ? detail : 0));
        qprof_shutdown();
        assert_int_equal(qprof_wants(), 0);
    }
}

static void a_failed_initialise_leaves_nothing_running(void **state) /* section 4 */
{
    (void)state;
    assert_int_equal(qprof_initialize("-time=sometimes", NULL), QPROF_E_OPTION);
    assert_int_equal(qprof_is_running(), 0);
    assert_int_not_equal(strlen(qprof_error_text()), 0);
    assert_int_equal(qprof_wants(), 0);
    assert_int_equal(play_count_files(""), 0);
    assert_int_equal(qprof_initialize("-time=exact", NULL), 0);
}

/* What a child did, read back by the parent. */
static void run_child(void (*body)(play_ctx *), play_ctx *p)
{
    fflush(NULL);
    int child = fork();
    if (child == 0) {
        body(p);
        _exit(99);
    }
    assert_int_equal(play_child_status(child), 0);
}

static void exit_in_mid_call(play_ctx *p)
{
    play_begin(p, "");
    play(p, "main( 10 f( 5");
    exit(0);
}

static void a_process_that_exits_without_shutdown_leaves_its_profile(void **state) /* qii 41 */
{
    play_ctx *p = *state;
    run_child(exit_in_mid_call, p);
    play_read(p, "run.qprof");
    assert_flat(p, "main", 1, 15, 10);
    assert_flat(p, "f", 1, 5, 5);
    assert_int_equal(p->m->run.state, QP_RUN_SEALED);
    assert_true(p->m->run.is_at_exit);
}

static void shutdown_and_record_at_exit(void)
{
    qprof_record_fn_entry(1, 1);
    qprof_shutdown();
    qprof_record_fn_entry(1, 1);
}

static void shut_down_in_an_exit_handler(play_ctx *p)
{
    atexit(shutdown_and_record_at_exit); /* runs after the library's own handler */
    play_begin(p, "");
    play_a_little(p);
    exit(0);
}

static void calls_in_exit_handlers_are_harmless(void **state) /* qii 41, reliability 2.2 */
{
    play_ctx *p = *state;
    run_child(shut_down_in_an_exit_handler, p);
    play_read(p, "run.qprof");
    assert_flat(p, "main", 1, 15, 10);
}

static void calls_after_shutdown_are_harmless_and_counted(void **state) /* qii 41 */
{
    play_ctx *p = play_start(state, "");
    play_a_little(p);
    qprof_thread *handle = qprof_thread_handle(QPROF_INLINE_VERSION);
    play_end(p);
    qprof_record_fn_entry(1, 1);
    qprof_record_fn_exit(0);
    qprof_entry(handle, 1, 1);
    qprof_exit(handle, 0);
    qprof_record_counts(3);
    qprof_record_bb_counts(0, 1);
    qprof_record_bb_time(0);
    qprof_thread_create(1);
    qprof_thread_destroy(1);
    qprof_register_method_id(7, "x", NULL, 0, NULL, NULL, 0);
    qprof_set_thread_name("x");
    qprof_shutdown();
    qprof_shutdown_vt(3);
    assert_int_equal(qprof_current_method_id(), 0);
    assert_true(qprof_diagnostic("after_shutdown") >= 2);
    play_read(p, "run.qprof");
    assert_flat(p, "main", 1, 15, 10);
    assert_int_equal(p->m->run.calls, 2);
}

static void a_new_run_starts_empty_and_keeps_the_old_files(void **state) /* qii 59 */
{
    play_ctx *p = *state;
    uint32_t first = 0;
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(qprof_initialize("-filename-prefix=data.%n", NULL), 0);
        p->n_methods = 0;
        assert_int_equal(qprof_current_method_id(), 0);
        play(p, i ? "g( 1 )" : "! f( 1 g(");
        assert_int_equal(qprof_diagnostic("exit_empty_stack"), i == 0);
        qprof_save_data_to_file("saved.qprof");
        play_read(p, "saved.qprof");
        unlink("saved.qprof");
        first = i ? first : p->m->run.dataset;
        assert_int_equal(p->m->run.dataset, first + i); /* the number continues */
        qprof_shutdown();
        p->threads[0].depth = 0;
    }
    assert_flat(p, "g", 1, 1, 1);
    assert_absent(p, "f");
    assert_int_equal(play_count_files(".qprof"), 3);
}

static void an_existing_output_gets_a_neighbour(void **state) /* reliability 2.1 */
{
    play_ctx *p = *state;
    for (int i = 0; i < 3; i++) {
        play_begin(p, "");
        play(p, i == 1 ? "f( 2 )" : "f( 1 )");
        qprof_shutdown();
    }
    assert_true(play_file_exists("run.qprof"));
    play_read(p, "run.qprof.1");
    assert_flat(p, "f", 1, 2, 2);
    assert_true(play_file_exists("run.qprof.2"));
}

static void open_frames_end_at_shutdown(void **state) /* section 4 */
{
    play_ctx *p = play_run(state, "", "main( 10 f( 5");
    assert_flat(p, "main", 1, 15, 10);
    assert_flat(p, "f", 1, 5, 5);
    assert_int_equal(p->m->threads[1].n_still_live, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(initialise_takes_no_options_and_refuses_what_it_does_not_know),
        PLAY_TEST(version_zero_with_system_threads_is_initialise),
        PLAY_TEST(wants_follow_the_granularity_and_the_clock),
        PLAY_TEST(a_failed_initialise_leaves_nothing_running),
        PLAY_TEST(a_process_that_exits_without_shutdown_leaves_its_profile),
        PLAY_TEST(calls_in_exit_handlers_are_harmless),
        PLAY_TEST(calls_after_shutdown_are_harmless_and_counted),
        PLAY_TEST(a_new_run_starts_empty_and_keeps_the_old_files),
        PLAY_TEST(an_existing_output_gets_a_neighbour),
        PLAY_TEST(open_frames_end_at_shutdown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
