/* test_reentrancy.c: events inside events: signal handlers that record, callbacks that do what
 * they like. reliability.md 2.4, 2.5. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/play.h"

enum { MAIN = 1, F = 2, HANDLER = 3, INNER = 4, ID_MAIN = 77, ID_F = 78, ID_HANDLER = 79 };

/* ---- signals ----------------------------------------------------------------------------- */

static qprof_thread *handle; /* NULL: the exported calls */
static volatile sig_atomic_t n_signals;

static void enter(uintptr_t method, uintptr_t id)
{
    if (handle)
        qprof_entry(handle, method, id);
    else
        qprof_record_fn_entry(method, id);
}

static void leave(uintptr_t id)
{
    if (handle)
        qprof_exit(handle, id);
    else
        qprof_record_fn_exit(id);
}

/* Balanced, whatever it interrupts: it goes back to f if f is there, else to main. With
 * -unknown-exit=ignore the first exit does nothing when f is not on the stack. */
static void record_in_the_handler(int number)
{
    (void)number;
    n_signals++;
    enter(HANDLER, ID_HANDLER);
    leave(ID_F);
    if (qprof_current_method_id() == HANDLER)
        leave(ID_MAIN);
}

static void interrupt_often(bool is_on)
{
    struct sigaction action = {.sa_handler = is_on ? record_in_the_handler : SIG_DFL,
                               .sa_flags = SA_RESTART};
    struct itimerval period = {{0, is_on ? 40 : 0}, {0, is_on ? 40 : 0}};
    if (is_on)
        sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &period, NULL);
    if (!is_on) {
        action.sa_handler = SIG_IGN;
        sigaction(SIGALRM, &action, NULL);
    }
}

static void record_under_signals(play_ctx *p, bool by_handle, const char *options)
{
    uint64_t n_calls = 0;
    qprof_set_clock(NULL);
    n_signals = 0;
    play_begin(p, options);
    static const char *const names[] = {"main", "f", "handler", "inner"};
    for (uintptr_t i = 0; i < 4; i++)
        qprof_register_method_id(MAIN + i, names[i], NULL, 0, "file", NULL, 0);
    handle = by_handle ? qprof_thread_handle(QPROF_INLINE_VERSION) : NULL;
    enter(MAIN, ID_MAIN);
    interrupt_often(true);
    while (n_signals < 3000) {
        for (int i = 0; i < 100; i++, n_calls++) {
            enter(F, ID_F);
            leave(ID_MAIN);
        }
    }
    interrupt_often(false);
    leave(0);
    uint64_t n_handled = (uint64_t)n_signals;
    play_end(p);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "main").calls, 1);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "f").calls, n_calls);
    uint64_t n_dropped = p->m->threads[1].n_dropped;
    assert_true(play_figures(p, QP_ALL_THREADS, "handler").calls + n_dropped >= n_handled);
    assert_true(play_figures(p, QP_ALL_THREADS, "handler").calls <= n_handled);
}

static void a_signal_handler_that_records_loses_none_of_its_hosts_events(void **state) /* 2.5 */
{
    record_under_signals(*state, false, "-unknown-exit=ignore");
}

static void the_same_on_the_inline_path(void **state)
{
    record_under_signals(*state, true, "-unknown-exit=ignore");
}

static void the_same_with_counts_only(void **state)
{
    record_under_signals(*state, true, "-unknown-exit=ignore -time=none");
}

static void the_same_with_adaptive_times(void **state)
{
    record_under_signals(*state, false, "-unknown-exit=ignore -time=adaptive");
}

/* Control calls in a handler must not wait for a lock that the interrupted code holds. */
static void control_in_the_handler(int number)
{
    (void)number;
    n_signals++;
    qprof_stop_recording();
    qprof_start_recording();
    qprof_add_annotation("from a handler");
    qprof_register_method_id(1000 + (uintptr_t)n_signals, "m", NULL, 0, "f", NULL, 0);
    qprof_diagnostic("wrong_mode");
}

static void control_calls_in_a_signal_handler_do_not_hang(void **state) /* 2.2, 2.3 */
{
    play_ctx *p = *state;
    struct sigaction action = {.sa_handler = control_in_the_handler, .sa_flags = SA_RESTART};
    struct itimerval period = {{0, 60}, {0, 60}};
    uint64_t n_calls = 0;
    qprof_set_clock(NULL);
    n_signals = 0;
    play_begin(p, "");
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &period, NULL);
    for (uintptr_t i = 0; n_signals < 1500; i++) {
        qprof_record_fn_entry(1 + i % 5, 1);
        qprof_record_fn_exit(0);
        n_calls++;
        qprof_stop_recording();
        qprof_start_recording();
        qprof_register_method_id(100000 + i, "n", NULL, 0, "f", NULL, 0);
    }
    interrupt_often(false);
    play_end(p);
    assert_int_equal(p->m->run.calls, n_calls);
}

/* ---- callbacks --------------------------------------------------------------------------- */

static jmp_buf out_of_the_callback;
static int n_asked, code_in_callback, child_status;

static void begin_with(void (*callback)(qprof_MethodID))
{
    n_asked = 0;
    assert_int_equal(qprof_initialize("-output=run.qprof", callback), 0);
}

static void jump_out(qprof_MethodID id)
{
    (void)id;
    if (n_asked++ == 0)
        longjmp(out_of_the_callback, 1);
}

static void a_callback_that_jumps_out_blocks_nothing(void **state) /* 2.4 */
{
    play_ctx *p = *state;
    begin_with(jump_out);
    play(p, "main( 2");
    if (setjmp(out_of_the_callback) == 0)
        qprof_record_fn_entry(0x55, 900);
    qprof_record_fn_exit(100); /* back in main, as after an error */
    play(p, "f( 3 ) 1");
    qprof_record_fn_entry(0x66, 900);
    assert_int_equal(n_asked, 2);
    assert_int_equal(qprof_current_method_id(), 0x66);
    qprof_record_fn_exit(100);
    qprof_record_fn_entry(0x55, 900); /* never asked for again */
    qprof_record_fn_exit(100);
    assert_int_equal(n_asked, 2);
    play(p, ")");
    assert_int_equal(qprof_diagnostic("reentrant"), 0);
    play_end(p);
    assert_flat(p, "main", 1, 6, 3);
    assert_flat(p, "f", 1, 3, 3);
}

static void record_inside(qprof_MethodID id)
{
    (void)id;
    n_asked++;
    qprof_record_fn_entry(INNER, 500);
    play_clock_add(2);
    qprof_record_fn_exit(100);
}

static void a_callback_may_record_balanced_events(void **state) /* 2.4 */
{
    play_ctx *p = *state;
    begin_with(record_inside);
    qprof_register_method_id(INNER, "inner", NULL, 0, "f", NULL, 0);
    play(p, "main( 1");
    qprof_record_fn_entry(0x55, 900);
    play_clock_add(4);
    qprof_record_fn_exit(100);
    play(p, ")");
    assert_int_equal(n_asked, 1);
    play_end(p);
    assert_flat(p, "UnnamedFunction55", 1, 4, 4);
    assert_flat(p, "main", 1, 7, 1);
    assert_path(p, "main>inner", 1, 2); /* before the entry is recorded: spec/qii.md 7 */
}

static void enter_more_unknown(qprof_MethodID id)
{
    n_asked++;
    if (id < 0x500 + 40) {
        qprof_record_fn_entry(id + 1, 900 + id);
        qprof_record_fn_exit(100);
    }
}

static void callbacks_inside_callbacks_end(void **state) /* 2.4: nesting */
{
    play_ctx *p = *state;
    begin_with(enter_more_unknown);
    play(p, "main( 1");
    qprof_record_fn_entry(0x500, 900);
    qprof_record_fn_exit(100);
    play(p, "2 )");
    assert_true(n_asked >= 1 && n_asked <= 41);
    play_end(p);
    assert_flat(p, "main", 1, 3, 3);
    assert_flat(p, "UnnamedFunction500", 1, 0, 0);
}

static void register_others(qprof_MethodID id)
{
    n_asked++;
    for (uintptr_t i = 1; i <= 1000; i++)
        qprof_register_method_id(id + i, "other", NULL, 0, "f", NULL, 0);
}

static void a_callback_may_register_other_methods(void **state) /* 2.4 */
{
    play_ctx *p = *state;
    begin_with(register_others);
    qprof_record_fn_entry(0x5000, 1);
    qprof_record_fn_entry(0x5001, 2);
    qprof_record_fn_exit(0);
    assert_int_equal(n_asked, 1);
    assert_int_equal(qprof_diagnostic("unknown_method"), 1);
    play_end(p);
    assert_flat(p, "UnnamedFunction5000", 1, 0, 0);
    assert_flat(p, "other", 1, 0, 0);
}

static void begin_and_end_inside(qprof_MethodID id)
{
    (void)id;
    n_asked++;
    code_in_callback = qprof_initialize("-time=none", NULL);
    qprof_shutdown();
}

static void a_callback_cannot_end_the_run_it_is_part_of(void **state) /* 2.2, 2.4 */
{
    play_ctx *p = *state;
    begin_with(begin_and_end_inside);
    play(p, "main( 1");
    qprof_record_fn_entry(0x55, 900);
    assert_int_equal(code_in_callback, QPROF_E_STATE);
    assert_int_equal(qprof_is_running(), 1);
    assert_true(qprof_diagnostic("e_state") >= 1);
    qprof_record_fn_exit(100);
    play(p, ")");
    play_end(p);
    assert_flat(p, "main", 1, 1, 1);
    assert_flat(p, "UnnamedFunction55", 1, 0, 0);
}

static void ask_again_and_end(qprof_MethodID id)
{
    n_asked++;
    if (id != 0x55)
        return;
    qprof_record_fn_entry(0x56, 901);
    qprof_record_fn_exit(900);
    qprof_shutdown();
}

static void a_callback_is_one_after_another_inside_it_has_returned(void **state) /* 2.4 */
{
    play_ctx *p = *state;
    begin_with(ask_again_and_end);
    play(p, "main( 1");
    qprof_record_fn_entry(0x55, 900);
    assert_int_equal(n_asked, 2);
    assert_int_equal(qprof_is_running(), 1);
    qprof_record_fn_exit(100);
    play(p, ")");
    play_end(p);
    assert_flat(p, "main", 1, 1, 1);
}

static void fork_inside(qprof_MethodID id)
{
    (void)id;
    fflush(NULL);
    int child = fork();
    if (child == 0) {
        qprof_record_fn_entry(F, 1);
        qprof_record_fn_exit(0);
        exit(0);
    }
    waitpid(child, &child_status, 0);
}

static void a_callback_may_fork(void **state) /* 2.4 */
{
    play_ctx *p = *state;
    begin_with(fork_inside);
    play(p, "main( 1");
    qprof_record_fn_entry(0x55, 900);
    qprof_record_fn_exit(100);
    play(p, ")");
    assert_int_equal(child_status, 0);
    play_end(p);
    assert_flat(p, "main", 1, 1, 1);
    assert_int_equal(p->m->run.calls, 2);
}

static void *ask_on_a_thread(void *id)
{
    qprof_record_fn_entry((uintptr_t)id, 1);
    return NULL;
}

static void end_the_thread(qprof_MethodID id)
{
    (void)id;
    n_asked++;
    pthread_exit(NULL);
}

static void a_callback_may_end_its_thread(void **state) /* 2.4: pthread_exit */
{
    play_ctx *p = *state;
    pthread_t thread;
    begin_with(end_the_thread);
    for (uintptr_t i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&thread, NULL, ask_on_a_thread, (void *)(0x55 + i)), 0);
        pthread_join(thread, NULL);
    }
    assert_int_equal(n_asked, 3);
    play(p, "main( 1 )");
    play_end(p);
    assert_flat(p, "main", 1, 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(a_signal_handler_that_records_loses_none_of_its_hosts_events),
        PLAY_TEST(the_same_on_the_inline_path),
        PLAY_TEST(the_same_with_counts_only),
        PLAY_TEST(the_same_with_adaptive_times),
        PLAY_TEST(control_calls_in_a_signal_handler_do_not_hang),
        PLAY_TEST(a_callback_that_jumps_out_blocks_nothing),
        PLAY_TEST(a_callback_may_record_balanced_events),
        PLAY_TEST(callbacks_inside_callbacks_end),
        PLAY_TEST(a_callback_may_register_other_methods),
        PLAY_TEST(a_callback_cannot_end_the_run_it_is_part_of),
        PLAY_TEST(a_callback_is_one_after_another_inside_it_has_returned),
        PLAY_TEST(a_callback_may_fork),
        PLAY_TEST(a_callback_may_end_its_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
