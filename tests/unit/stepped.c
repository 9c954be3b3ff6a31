/* stepped.c: stepping through a child by ptrace, and reading what it would leave. */
#include "unit/stepped.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"

enum { STATES_MIN = 5 };

/* What the child tells the test. */
typedef struct {
    char live_file[300];
    uint64_t entries_begun, entries_done, exits_begun, exits_done;
} tally;
static tally *shared;

uintptr_t stepped_depth;
VthreadID stepped_thread;
static qprof_thread *handle;   /* of a host that keeps tokens; NULL: stack ids */
static qprof_token tokens[17]; /* [0] of no frame */

static void enter_by_token(uintptr_t method)
{
    stepped_depth++;
    tokens[stepped_depth] = qprof_token_enter(handle, tokens[stepped_depth - 1], method);
}

static void return_by_token(uintptr_t n_left, uintptr_t depth)
{
    if (n_left == 1)
        qprof_token_leave(handle, tokens[depth + 1]);
    else
        qprof_token_unwind(handle, tokens[depth]);
}

void stepped_in(uintptr_t method)
{
    shared->entries_begun++;
    if (handle)
        enter_by_token(method);
    else if (stepped_thread)
        qprof_record_fn_entry_vt(method, ++stepped_depth, stepped_thread);
    else
        qprof_record_fn_entry(method, ++stepped_depth);
    shared->entries_done++;
}

void stepped_back_to(uintptr_t depth)
{
    uintptr_t n_left = stepped_depth - depth;
    uint64_t n_exits = handle ? n_left : 1; /* with tokens the calls that end are counted */
    shared->exits_begun += n_exits;
    stepped_depth = depth;
    if (handle)
        return_by_token(n_left, depth);
    else if (stepped_thread)
        qprof_record_fn_exit_vt(depth, stepped_thread);
    else
        qprof_record_fn_exit(depth);
    shared->exits_done += n_exits;
}

/* ---- stepping ---------------------------------------------------------------------------- */

static void run(const stepped_program *p)
{
    static const qprof_LineInfo lines[] = {{0, 1}, {8, 2}};
    static const char *const names[] = {"a", "b", "c", "hooked", "other", "excluded"};
    qprof_InitInfo info = {.initial_options = p->options, .usingVirtualThreads = p->is_virtual};
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    if (qprof_initialize_ex(&info))
        _exit(9);
    for (uintptr_t id = A; id < NEW; id++)
        qprof_register_method_id(id, names[id - A], NULL, 0, "file", lines, 2);
    handle = p->keeps_tokens ? qprof_thread_handle(QPROF_INLINE_VERSION) : NULL;
    tokens[0] = handle ? qprof_token_top(handle) : QPROF_NO_TOKEN;
    snprintf(shared->live_file, sizeof shared->live_file, "%s", qprof_live_file());
    if (p->prepare)
        p->prepare();
    raise(SIGSTOP);
    p->play();
    raise(SIGSTOP);
    qprof_shutdown();
    _exit(0);
}

static void compare_with_tally(const qp_model *m, const char *where, bool uses_tokens)
{
    uint64_t entries = 0, exits = 0, n_unsettled = 0;
    /* With tokens, exits are the calls that are counted and not open: one that begins may be either
     * alone. */
    uint64_t slack = uses_tokens ? shared->entries_begun - shared->entries_done : 0;
    for (uint32_t i = 1; i < m->n_threads; i++) {
        const qp_model_thread *th = &m->threads[i];
        entries +=
            th->n_in_tree + th->n_overflowed + th->n_deep_total + th->n_dropped + th->n_cleared;
        exits += th->n_exits;
        n_unsettled += th->n_unsettled;
    }
    if (entries < shared->entries_done || entries > shared->entries_begun + n_unsettled ||
        exits + slack < shared->exits_done ||
        exits > shared->exits_begun + slack + (uses_tokens ? n_unsettled : 0))
        fail_msg("%s: %ju entries of %ju to %ju, %ju exits of %ju to %ju", where,
                 (uintmax_t)entries, (uintmax_t)shared->entries_done,
                 (uintmax_t)shared->entries_begun, (uintmax_t)exits,
                 (uintmax_t)shared->exits_done, (uintmax_t)shared->exits_begun);
}

static void read_leavings(const leavings *x, const stepped_program *p, const char *where)
{
    qp_error error;
    qp_model *m;
    qp_check *checks;
    size_t n_checks;
    qp_load_status status = qp_model_load_bytes(x->dead, x->n_bytes, NULL, &m, &error);
    if (status != QP_LOAD_CLEAN)
        fail_msg("%s: %s", where, m && m->n_losses ? m->losses[0] : error.text);
    assert_int_equal(m->run.state, QP_RUN_CRASHED);
    assert_true(qp_model_check(m, &checks, &n_checks));
    for (size_t i = 0; i < n_checks; i++)
        if (!checks[i].passed)
            fail_msg("%s: %s: %s", where, checks[i].name, checks[i].detail);
    if (p->judge)
        p->judge(m, where);
    else
        compare_with_tally(m, where, p->keeps_tokens);
    qp_free(checks);
    qp_model_free(m);
}

void stepped_everywhere(const char *what, const stepped_program *p)
{
    leavings x;
    char where[200];
    unsigned n = 0, n_states = 0;
    int status;
    memset(shared, 0, sizeof *shared);
    stepped_depth = stepped_thread = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child)
        run(p);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(leavings_stopped_by(status, SIGSTOP));
    leavings_open(&x, shared->live_file);
    while (leavings_stopped_by(status = leavings_step(child, PTRACE_SINGLESTEP), SIGTRAP)) {
        n++;
        if (!leavings_look(&x))
            continue;
        snprintf(where, sizeof where, "%s, killed after instruction %u", what, n);
        read_leavings(&x, p, where);
        leavings_look(&x); /* what other threads wrote meanwhile is not the step's */
        n_states++;
    }
    assert_true(leavings_stopped_by(status, SIGSTOP));
    printf("%s: %u instructions, %u states\n", what, n, n_states);
    assert_true(n_states > STATES_MIN);
    leavings_close(&x);
    status = leavings_step(child, PTRACE_CONT);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void stepped_in_every_mode(const char *what, stepped_program p, const char *more)
{
    static const char *const modes[] = {"-time=none", "-time=exact", "-time=adaptive"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        char words[128], title[128];
        snprintf(words, sizeof words, "%s %s -output=steps.qprof", modes[i], more);
        snprintf(title, sizeof title, "%s, %s", what, modes[i]);
        p.options = words;
        stepped_everywhere(title, &p);
    }
}

bool stepped_prepare(void)
{
    shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared != MAP_FAILED;
}
