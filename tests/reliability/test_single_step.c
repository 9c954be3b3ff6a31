/* test_single_step.c: an interrupt at every instruction of the event path. A child is stepped through
 * its events one instruction at a time; behind the n-th a signal comes, whose handler does what the
 * handler of -pc-signal does; for every n there is. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/interrupt.h"
#include "unit/play.h"

enum { STEPS_MAX = 20000, OUTER = 1, INNER = 2 };

static void on_signal(int number)
{
    (void)number;
    interrupt_here();
}

/* What is stepped through: the stack is empty, outer, inner, outer, empty. */
static void play_events(void)
{
    qprof_record_fn_entry(OUTER, 0x10);
    qprof_record_fn_entry(INNER, 0x20);
    qprof_record_fn_exit(0x10);
    qprof_record_fn_exit(0);
}

/* The child: paths are there already, so that the usual way of an event is what is stepped. */
static void record(const char *options)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    if (qprof_initialize(options, NULL) != 0)
        _exit(9);
    qprof_register_method_id(OUTER, "outer", NULL, 0, "step", NULL, 0);
    qprof_register_method_id(INNER, "inner", NULL, 0, "step", NULL, 0);
    play_events();
    play_events();
    raise(SIGSTOP);
    play_events();
    raise(SIGSTOP);
    play_events(); /* whatever still waits is credited */
    qprof_PcTotals t;
    bool is_right = qprof_pc_totals(&t) == 0 && t.occurred == 1 &&
                    !qprof_diagnostic("reentrant") && !qprof_diagnostic("exit_unknown_id") &&
                    !qprof_diagnostic("sample_lost");
    qprof_shutdown();
    _exit(is_right ? 0 : 1);
}

static int wait_for(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static bool has_stopped_by_itself(int status)
{
    return WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP;
}

/* Let the signal come behind n instructions. @return false: there were fewer */
static bool interrupt_after(const char *options, unsigned n)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child)
        record(options);
    int status = wait_for(child);
    assert_true(has_stopped_by_itself(status));
    bool is_inside = true;
    for (unsigned i = 0; i < n && is_inside; i++) {
        assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
        status = wait_for(child);
        is_inside = WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
    }
    for (int signal = SIGUSR1; WIFSTOPPED(status); signal = 0) {
        assert_int_equal(ptrace(PTRACE_CONT, child, NULL, (void *)(intptr_t)signal), 0);
        status = wait_for(child);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("%s: a signal behind instruction %u: status %#x", options, n, status);
    return is_inside;
}

static void interrupt_everywhere(play_ctx *p, const char *options, uint64_t calls)
{
    unsigned n = 0;
    char words[256];
    snprintf(words, sizeof words, "-output=step.qprof '-pc=REAL 3600000000' %s", options);
    for (bool is_inside = true; is_inside && n < STEPS_MAX; n++) {
        is_inside = interrupt_after(words, n);
        play_read(p, "step.qprof");
        assert_int_equal(play_figures(p, QP_ALL_THREADS, "outer").calls, calls);
        assert_int_equal(play_figures(p, QP_ALL_THREADS, "inner").calls, calls);
        unlink("step.qprof");
    }
    assert_true(n > 50 && n < STEPS_MAX);
}

static void an_interrupt_does_no_harm_while_calls_are_counted(void **state)
{
    interrupt_everywhere(*state, "-time=none", 4);
}

static void an_interrupt_does_no_harm_while_calls_are_timed(void **state)
{
    interrupt_everywhere(*state, "-time=exact", 4);
}

static void an_interrupt_does_no_harm_while_the_stack_is_kept(void **state)
{
    interrupt_everywhere(*state, "-collect=samples", 0);
}

/* The instructions of a sanitizer are not those that users run, and ten times as many. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

int main(void)
{
    if (IS_SANITIZED) {
        puts("with a sanitizer there is another event path: stepped through without one");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        PLAY_TEST(an_interrupt_does_no_harm_while_calls_are_counted),
        PLAY_TEST(an_interrupt_does_no_harm_while_calls_are_timed),
        PLAY_TEST(an_interrupt_does_no_harm_while_the_stack_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
