/* test_single_step.c: an interrupt at every instruction of the event path. A child with
 * -pc-signal is stepped through its events one instruction at a time; after the n-th a signal
 * of its timer arrives, for every n there is. All others are kept from it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/leavings.h"
#include "unit/play.h"

enum {
    STEPS_MAX = 20000,
    OUTER = 1,
    INNER = 2,
    TIMER_US = 1000,
    N_EVENTS = 4,
    NONE = N_EVENTS
};

/* What is stepped through: the stack is empty, outer, inner, outer, empty. */
static void play_event(unsigned event)
{
    switch (event) {
    case 0:
        qprof_record_fn_entry(OUTER, 0x10);
        break;
    case 1:
        qprof_record_fn_entry(INNER, 0x20);
        break;
    case 2:
        qprof_record_fn_exit(0x10);
        break;
    default:
        qprof_record_fn_exit(0);
    }
}

/* What both sides know. */
static struct {
    unsigned event;    /* that is stepped through in this round */
    unsigned n_rounds; /* that are over */
    bool is_last;      /* this one */
    bool is_right;     /* so far */
} * shared;

static void play_events(unsigned stepped)
{
    for (unsigned i = 0; i < N_EVENTS; i++) {
        if (i == stepped)
            raise(SIGSTOP);
        play_event(i);
        if (i == stepped)
            raise(SIGSTOP);
    }
}

/* The child: paths are there already, so that the usual way of an event is what is stepped. */
static void record(const char *options)
{
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    if (qprof_initialize(options, NULL) != 0)
        _exit(9);
    qprof_register_method_id(OUTER, "outer", NULL, 0, "step", NULL, 0);
    qprof_register_method_id(INNER, "inner", NULL, 0, "step", NULL, 0);
    play_events(NONE);
    do {
        qprof_PcTotals t;
        play_events(shared->event);
        play_events(NONE); /* whatever still waits is credited */
        shared->n_rounds++;
        shared->is_right = qprof_pc_totals(&t) == 0 && t.occurred == shared->n_rounds &&
                           !qprof_diagnostic("reentrant") &&
                           !qprof_diagnostic("exit_unknown_id") &&
                           !qprof_diagnostic("sample_lost");
    } while (shared->is_right && !shared->is_last);
    qprof_shutdown();
    _exit(0);
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

static bool is_of_timer(int status)
{
    return WIFSTOPPED(status) && WSTOPSIG(status) >= SIGRTMIN;
}

/* Signals of the timer stay away from the child. */
static int resume_quietly(pid_t child, int how)
{
    int status = leavings_step(child, how);
    while (is_of_timer(status))
        status = leavings_step(child, how);
    return status;
}

/* The timer's next signal, which arrived when the child continues; its own one comes before, if
 * it is about to stop itself. @return its number */
static int signal_of_timer(pid_t child)
{
    usleep(2 * TIMER_US);
    int status = resume(child, PTRACE_SINGLESTEP, 0);
    if (leavings_stopped_by(status, SIGSTOP))
        status = resume(child, PTRACE_SINGLESTEP, 0);
    assert_true(is_of_timer(status));
    return WSTOPSIG(status);
}

/* Let the signal come after n instructions of this round's event, and the round end. The next one
 * steps through the next event if this one has no more instructions.
 * @return the child's status */
static int interrupt_after(pid_t child, unsigned n)
{
    int status = 0;
    bool is_inside = true;
    for (unsigned i = 0; i < n && is_inside; i++) {
        status = resume_quietly(child, PTRACE_SINGLESTEP);
        is_inside = leavings_stopped_by(status, SIGTRAP);
    }
    shared->event += !is_inside;
    shared->is_last = shared->event == N_EVENTS;
    unsigned n_over = shared->n_rounds;
    status = resume(child, PTRACE_CONT, signal_of_timer(child));
    while (WIFSTOPPED(status) &&
           (is_of_timer(status) || shared->n_rounds == n_over || shared->is_last))
        status = resume_quietly(child, PTRACE_CONT);
    if (!shared->is_right)
        fail_msg("event %u: a signal after instruction %u", shared->event, n);
    return status;
}

static void interrupt_everywhere(play_ctx *p, const char *options, bool counts_calls)
{
    char words[256];
    unsigned n = 0;
    snprintf(words, sizeof words, "-output=step.qprof '-pc=REAL %u' -pc-signal=yes %s",
             TIMER_US, options);
    memset(shared, 0, sizeof *shared);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child)
        record(words);
    int status = wait_for(child);
    if (is_of_timer(status))
        status = resume_quietly(child, PTRACE_CONT);
    while (leavings_stopped_by(status, SIGSTOP) && n < STEPS_MAX) {
        unsigned event = shared->event;
        status = interrupt_after(child, n++);
        if (shared->event != event) {
            assert_true(n > 10);
            n = 0;
        }
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("%s: after %u instructions: status %#x", options, n, (unsigned)status);
    printf("%s: %u signals\n", options, shared->n_rounds);
    assert_int_equal(shared->event, N_EVENTS);
    play_read(p, "step.qprof");
    unsigned n_calls = counts_calls ? 1 + 2 * shared->n_rounds : 0; /* once before the rounds */
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "outer").calls, n_calls);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "inner").calls, n_calls);
    unlink("step.qprof");
}

static void an_interrupt_does_no_harm_while_calls_are_counted(void **state)
{
    interrupt_everywhere(*state, "-time=none", true);
}

static void an_interrupt_does_no_harm_while_calls_are_timed(void **state)
{
    interrupt_everywhere(*state, "-time=exact", true);
}

static void an_interrupt_does_no_harm_while_the_stack_is_kept(void **state)
{
    interrupt_everywhere(*state, "-collect=samples", false);
}

static bool prepare(void)
{
    shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared != MAP_FAILED;
}

STEPPED_MAIN(prepare(), PLAY_TEST(an_interrupt_does_no_harm_while_calls_are_counted),
             PLAY_TEST(an_interrupt_does_no_harm_while_calls_are_timed),
             PLAY_TEST(an_interrupt_does_no_harm_while_the_stack_is_kept))
