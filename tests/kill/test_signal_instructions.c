/* test_signal_instructions.c: a signal handler that records, at every instruction of the inline
 * path. A child plays the same calls round after round; in round n it is stepped through n
 * instructions, then the signal comes. No call is lost or counted twice, the stack is what it was,
 * and the handler's call is in the tree or counted as dropped. */
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

/* Far from the first instruction, where each step takes so long that calls are timed that would not
 * be, some are left out. */
enum { ROUNDS_MAX = 20000, NEAR = 600 };
enum { MAIN = 1, OUTER, INNER, HANDLER };
enum { ID_MAIN = 0x10, ID_OUTER = 0x20, ID_INNER = 0x30, ID_HANDLER = 0x40 };

/* What the child tells the test. */
typedef struct {
    unsigned n_rounds, n_signals, n_wrong_tops, n_dropped, n_unknown_exits;
    bool is_refused;
} tally;
static tally *shared;

static qprof_thread *th;
static bool has_tokens, is_over; /* the calls are over: what comes now is not recorded */
static qprof_token token_main;

/* ---- the child --------------------------------------------------------------------------- */

/* Balanced, whatever it interrupts: it returns to the innermost frame that is there. */
static void record_in_the_handler(int number)
{
    static const uintptr_t below[] = {ID_INNER, ID_OUTER, ID_MAIN};
    (void)number;
    if (is_over)
        return;
    shared->n_signals++;
    if (has_tokens) {
        qprof_token_leave(th, qprof_token_enter(th, qprof_token_top(th), HANDLER));
        return;
    }
    qprof_entry(th, HANDLER, ID_HANDLER);
    for (int i = 0; i < 3 && qprof_current_method_id() == HANDLER; i++)
        qprof_exit(th, below[i]);
}

static void play_calls(void)
{
    if (has_tokens) {
        qprof_token outer = qprof_token_enter(th, token_main, OUTER);
        qprof_token_leave(th, qprof_token_enter(th, outer, INNER));
        qprof_token_leave(th, outer);
    } else {
        qprof_entry(th, OUTER, ID_OUTER);
        qprof_entry(th, INNER, ID_INNER);
        qprof_exit(th, ID_OUTER);
        qprof_exit(th, ID_MAIN);
    }
}

static void enter_main(void)
{
    th = qprof_thread_handle(QPROF_INLINE_VERSION);
    if (has_tokens)
        token_main = qprof_token_enter(th, qprof_token_top(th), MAIN);
    else
        qprof_entry(th, MAIN, ID_MAIN);
}

static void leave_main(void)
{
    if (has_tokens)
        qprof_token_leave(th, token_main);
    else
        qprof_exit(th, 0);
}

static void record(const char *options)
{
    struct sigaction action = {.sa_handler = record_in_the_handler};
    static const char *const names[] = {"main", "outer", "inner", "handler"};
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    sigaction(SIGUSR1, &action, NULL);
    shared->is_refused = qprof_initialize(options, NULL) == QPROF_E_UNSUPPORTED;
    for (uintptr_t i = 0; i < 4; i++)
        qprof_register_method_id(MAIN + i, names[i], NULL, 0, "step", NULL, 0);
    enter_main();
    for (;;) {
        raise(SIGSTOP);
        play_calls();
        shared->n_wrong_tops += qprof_current_method_id() != MAIN;
        if (++shared->n_rounds == ROUNDS_MAX)
            break;
        if (shared->n_rounds > shared->n_signals) /* the signal came after the calls */
            break;
    }
    is_over = true;
    leave_main();
    shared->n_dropped = (unsigned)qprof_diagnostic("reentrant");
    shared->n_unknown_exits = (unsigned)qprof_diagnostic("exit_unknown_id");
    qprof_shutdown();
    _exit(0);
}

static uint64_t count_reads(void)
{
    static uint64_t n;
    return n += 10;
}

/* ---- the test ---------------------------------------------------------------------------- */

static int resume(pid_t child, int how, int signal)
{
    int status;
    assert_int_equal(ptrace(how, child, NULL, (void *)(intptr_t)signal), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* Let the signal come after n instructions of the next round, and the round end.
 * @return the child's status */
static int interrupt_after(pid_t child, unsigned n)
{
    int status = resume(child, PTRACE_SINGLESTEP, 0);
    for (unsigned i = 0; i < n && leavings_stopped_by(status, SIGTRAP); i++)
        status = resume(child, PTRACE_SINGLESTEP, 0);
    if (!leavings_stopped_by(status, SIGTRAP))
        return status; /* the round is over */
    return resume(child, PTRACE_CONT, SIGUSR1);
}

static void interrupt_everywhere(play_ctx *p, const char *options)
{
    char words[200];
    int status;
    unsigned n = 0;
    memset(shared, 0, sizeof *shared);
    snprintf(words, sizeof words, "-output=step.qprof -unknown-exit=ignore %s", options);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child)
        record(words);
    assert_int_equal(waitpid(child, &status, 0), child);
    for (; leavings_stopped_by(status, SIGSTOP) && !shared->is_refused;
         n += n < NEAR ? 1 : 1 + (n - NEAR) / 10)
        status = interrupt_after(child, n);
    if (shared->is_refused) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return; /* this machine's counter is not used as a clock */
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("%s: a signal after instruction %u: status %#x", options, n, (unsigned)status);
    play_read(p, "step.qprof");
    printf("%s%s: %u signals, %u of them dropped\n", options, has_tokens ? ", tokens" : "",
           shared->n_signals, shared->n_dropped);
    assert_true(shared->n_rounds > 50 && shared->n_rounds < ROUNDS_MAX);
    assert_int_equal(shared->n_wrong_tops, 0);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "outer").calls, shared->n_rounds);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "inner").calls, shared->n_rounds);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "handler").calls + shared->n_dropped,
                     shared->n_signals);
    for (uint32_t i = p->m->n_threads; i < p->m->n_nodes; i++) {
        const qp_model_node *node = &p->m->nodes[i];
        const char *name = p->m->methods[node->method].name;
        if (strcmp(name, "handler") != 0) /* main, outer, inner: each in the one before */
            assert_int_equal(node->depth, strcmp(name, "main") == 0    ? 2
                                          : strcmp(name, "outer") == 0 ? 3
                                                                       : 4);
    }
    unlink("step.qprof");
}

static void interrupt_in_both_orders(play_ctx *p, const char *options)
{
    static const char *const orders[] = {"overlap", "wait"};
    char words[160];
    bool is_in_line = !has_tokens || !strstr(options, "trace");
    for (int i = 0; i < 1 + is_in_line; i++) {
        snprintf(words, sizeof words, "%s -elapsed-source=tsc -clock-reads=%s", options,
                 orders[i]);
        interrupt_everywhere(p, words);
    }
}

static void interrupt_each_host(void **state, void (*interrupt)(play_ctx *, const char *),
                                const char *options)
{
    qprof_set_clock(NULL);
    for (int i = 0; i < 2; i++) {
        has_tokens = i;
        interrupt(*state, options);
    }
}

static void counted_calls(void **state)
{
    interrupt_each_host(state, interrupt_everywhere, "-time=none");
}

/* On the host's clock there is no coarse clock: calls are in line until one is due. */
static void interrupt_with_both_clocks(play_ctx *p, const char *options)
{
    qprof_set_clock(count_reads);
    interrupt_everywhere(p, options);
    qprof_set_clock(NULL);
    interrupt_everywhere(p, options);
}

static void adaptive_calls(void **state)
{
    interrupt_each_host(state, interrupt_with_both_clocks, "-time=adaptive");
}

static void exact_calls(void **state)
{
    interrupt_each_host(state, interrupt_in_both_orders, "-time=exact");
}

static void traced_calls(void **state)
{
    interrupt_each_host(state, interrupt_in_both_orders, "-time=exact -collect=profile,trace");
}

static bool share_tally(void)
{
    shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared != MAP_FAILED;
}

STEPPED_MAIN(share_tally(), PLAY_TEST(counted_calls), PLAY_TEST(adaptive_calls),
             PLAY_TEST(exact_calls), PLAY_TEST(traced_calls))
