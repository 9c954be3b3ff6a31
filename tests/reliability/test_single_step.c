/* test_single_step.c: an interrupt at every instruction of the event path. A child with
 * -pc-signal is stepped through its events one instruction at a time; after the n-th a signal
 * of its timer arrives, for every n there is. All others are kept from it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/leavings.h"
#include "unit/play.h"

enum { STEPS_MAX = 20000, OUTER = 1, INNER = 2, TIMER_US = 1000 };

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

static int resume(pid_t child, int how, int signal)
{
    assert_int_equal(ptrace(how, child, NULL, (void *)(intptr_t)signal), 0);
    return wait_for(child);
}

static bool has_stopped_by(int status, int signal)
{
    return WIFSTOPPED(status) && WSTOPSIG(status) == signal;
}

static bool is_of_timer(int status)
{
    return WIFSTOPPED(status) && WSTOPSIG(status) >= SIGRTMIN;
}

/* Signals of the timer stay away from the child. */
static int resume_quietly(pid_t child, int how)
{
    int status = resume(child, how, 0);
    while (is_of_timer(status))
        status = resume(child, how, 0);
    return status;
}

/* The timer's next signal, which arrived when the child continues; its own one comes before, if
 * it is about to stop itself. @return its number */
static int signal_of_timer(pid_t child)
{
    usleep(2 * TIMER_US);
    int status = resume(child, PTRACE_SINGLESTEP, 0);
    if (has_stopped_by(status, SIGSTOP))
        status = resume(child, PTRACE_SINGLESTEP, 0);
    assert_true(is_of_timer(status));
    return WSTOPSIG(status);
}

/* Let the signal come after n instructions. @return false: there were fewer */
static bool interrupt_after(const char *options, unsigned n)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child)
        record(options);
    int status = wait_for(child);
    if (is_of_timer(status))
        status = resume_quietly(child, PTRACE_CONT);
    assert_true(has_stopped_by(status, SIGSTOP));
    bool is_inside = true;
    for (unsigned i = 0; i < n && is_inside; i++) {
        status = resume_quietly(child, PTRACE_SINGLESTEP);
        is_inside = has_stopped_by(status, SIGTRAP);
    }
    status = resume(child, PTRACE_CONT, signal_of_timer(child));
    while (WIFSTOPPED(status))
        status = resume_quietly(child, PTRACE_CONT);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("%s: a signal after instruction %u: status %#x", options, n, status);
    return is_inside;
}

static void interrupt_everywhere(play_ctx *p, const char *options, uint64_t calls)
{
    unsigned n = 0;
    char words[256];
    snprintf(words, sizeof words, "-output=step.qprof '-pc=REAL %u' -pc-signal=yes %s",
             TIMER_US, options);
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

STEPPED_MAIN(true, PLAY_TEST(an_interrupt_does_no_harm_while_calls_are_counted),
             PLAY_TEST(an_interrupt_does_no_harm_while_calls_are_timed),
             PLAY_TEST(an_interrupt_does_no_harm_while_the_stack_is_kept))
