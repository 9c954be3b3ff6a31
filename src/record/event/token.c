/* token.c: the ends of calls of hosts that keep tokens, out of line. Read leave_token first; entries
 * are in event.c.
 *
 * With a token on top the thread has no frames, and the root frame has the path of the token while
 * an event lasts. Where something looks at frames there is one for each call, and its stack id
 * is its token. */
#include <errno.h>

#include "base/atomic.h"
#include "record/clock/clock.h"
#include "record/event/event.h"
#include "record/ring/ring.h"
#include "record/tree/tree.h"
#include "record/trigger/trigger.h"

static qprof_token token_of(const qprof_thread *th, const qprof_frame *top)
{
    return qp_own_of(th)->has_token ? top->node | QPROF_TOP_TOKEN : top->stack_id;
}

/* The first token on this thread: stack ids that are open are no tokens. */
static void begin_tokens(qprof_thread *th, qprof_frame *top)
{
    qp_own_of(th)->uses_tokens = true;
    qp_store(&qp_record_of(th)->has_tokens, 1);
    qp_stack_flag_all(th, top, QPROF_FRAME_ID);
}

/* Is it the path of the token on top, or of a caller of it? */
static bool is_open(const qprof_thread *th, qp_cell top, qp_cell path)
{
    while (top > path)
        top = qp_node_at(th, top)->parent;
    return top == path;
}

uint64_t qp_event_end_calls(qprof_thread *th, qprof_frame *top, qp_cell resumes, uint64_t now)
{
    uint64_t n = 0;
    qp_clock(th, top, now);
    for (qp_cell at = qp_frame_path(top); at != resumes; at = qp_node_at(th, at)->parent, n++)
        qp_clock_end_call(th, qp_node_at(th, at));
    QPROF_STORE(top->node, (uint64_t)resumes << 6);
    if (QPROF_LOAD(th->gate) & QP_HOOK_STEPS)
        qp_steps_note(th, top);
    return n;
}

/* The path of a token, if it is open. @return 0: no */
static qp_cell path_of(const qprof_thread *th, const qprof_frame *top, qprof_token token)
{
    bool is_path = (token & 63) == QPROF_TOP_TOKEN && token >> 6 <= qp_frame_path(top);
    return is_path && is_open(th, qp_frame_path(top), (qp_cell)(token >> 6))
               ? (qp_cell)(token >> 6)
               : 0;
}

/* Frames that are only counted end down to number n. */
static void end_deep(qprof_thread *th, uint32_t n)
{
    uint32_t n_ended = th->pulse->n_deep - n;
    if (n_ended > 1)
        qp_thread_unsettled(th, n_ended);
    QPROF_ADD(th->pulse->n_exits, 1);
    QPROF_ADD(th->pulse->n_unwound, n_ended - 1);
    QPROF_STORE(th->pulse->n_deep, n);
    if (!n)
        qp_fetch_and(&th->gate, ~(uint32_t)QP_HOOK_DEEP);
}

/* With frames: all above that of the token end; `and_it`: and it.
 * @return false: no frame has it */
static bool end_frames(qprof_thread *th, qprof_frame **top, qprof_token token, bool and_it)
{
    uint32_t n_deep = th->pulse->n_deep;
    if ((token & 7) == QP_TOKEN_OF_DEEP) {
        uint64_t n = (token >> 3) - and_it;
        if (n >= n_deep || !(token >> 3))
            return n == n_deep;
        end_deep(th, (uint32_t)n);
        return true;
    }
    int64_t above = qp_event_frames_above(th, *top, token, UINT64_MAX);
    if (above < 0)
        return false;
    if (!and_it)
        above -= (int64_t)qp_request_run(th, *top, (uint64_t)above);
    if (n_deep || above + and_it)
        qp_event_pop(th, top, (uint64_t)above + and_it);
    return true;
}

/* @return false: the token is not open, nothing was changed */
static bool resume(qprof_thread *th, qprof_frame **top, qprof_token token, bool and_it)
{
    qp_cell root = qp_record_of(th)->root;
    if (!qp_own_of(th)->has_token && token != ((uint64_t)root << 6 | QPROF_TOP_TOKEN))
        return end_frames(th, top, token, and_it);
    if (!qp_own_of(th)->has_token) { /* the bottom of the stack */
        uint64_t depth = qp_stack_depth(th, *top);
        if (!and_it)
            qp_event_pop(th, top, depth - qp_request_run(th, *top, depth));
        return !and_it;
    }
    qp_cell path = path_of(th, *top, token);
    if (!path || (and_it && path == root))
        return false;
    qp_cell resumes =
        and_it ? qp_node_at(th, path)->parent : qp_request_above(th, qp_frame_path(*top), path);
    if (resumes != qp_frame_path(*top))
        qp_event_end_calls(th, *top, resumes, qp_clock_now(th));
    return true;
}

/* Execution is in the frame of the token, or with and_it in its caller: what is above has ended.
 * @param is_exit  the token must be open */
static void leave_token(qprof_thread *th, qprof_token token, bool and_it, bool is_exit)
{
    int host_errno = errno;
    qprof_frame *top = qp_event_begin(th);
    uint64_t n_unwound = th->pulse->n_unwound;
    if (top && !qp_own_of(th)->uses_tokens)
        begin_tokens(th, top);
    if (top && token != QPROF_NO_TOKEN && (and_it || token != token_of(th, top)) &&
        !resume(th, &top, token, and_it) && is_exit)
        qp_count(&qp_recorder.space, QP_D_exit_unknown_id);
    if (top && qp_stack_fold(th, top))
        top = qp_stack_floor(th);
    if (top)
        qp_event_left(th, top, n_unwound);
    qp_event_triggers_settle();
    errno = host_errno;
}

qprof_token qp_event_enter_above(qprof_thread *th, qprof_token caller, uintptr_t method)
{
    bool is_on_top = caller == QPROF_NO_TOKEN || QPROF_LOAD(th->pulse->top) == caller;
    if (!is_on_top || !qp_own_of(th)->uses_tokens)
        leave_token(th, caller, false, false);
    return qp_event_enter_token(th, method);
}

void qp_event_leave_token(qprof_thread *th, qprof_token token)
{
    if (token != QPROF_NO_TOKEN)
        leave_token(th, token, true, true);
}

/* The innermost open frame of a method. */
static qprof_token find(const qprof_thread *th, qprof_frame *top, uintptr_t method)
{
    qp_stack_cursor c = qp_stack_from(th, top);
    if (th->pulse->n_deep) /* these are only counted */
        return qp_token_of_deep(th);
    for (uint64_t n = qp_stack_depth(th, top); n; n--, qp_stack_down(th, &c))
        if (qp_frame_method_id(th, c.f) == method)
            return c.f->stack_id;
    qp_cell at = qp_own_of(th)->has_token ? qp_frame_path(top) : 0;
    for (; at && qp_node_at(th, at)->parent; at = qp_node_at(th, at)->parent)
        if (qp_method_id(qp_node_at(th, at)->method) == method)
            return (uint64_t)at << 6 | QPROF_TOP_TOKEN;
    qp_count(&qp_recorder.space, QP_D_exit_unknown_id);
    return QPROF_NO_TOKEN;
}

qprof_token qprof_cold_find(qprof_thread *th, qprof_MethodID method)
{
    qprof_token token = QPROF_NO_TOKEN;
    if (!qp_is_open(th))
        return token;
    int host_errno = errno;
    qprof_frame *top = qp_event_begin(th);
    if (top) {
        token = find(th, top, method);
        qp_event_end(th, top);
    }
    errno = host_errno;
    return token;
}

/* The first resume of a path: its counter is made. */
static void count_first_resume(qprof_thread *th)
{
    int host_errno = errno;
    qprof_frame *top = qp_event_look(th);
    if (top) {
        qp_node_more *more = qp_tree_more(th, qp_frame_path(top));
        if (more)
            qp_bump(&more->n_resumes, 1);
        qp_event_end(th, top);
    }
    errno = host_errno;
}

qprof_token qprof_token_resume(qprof_thread *th, qprof_token caller, qprof_MethodID method)
{
    if (!th || !qp_is_open(th))
        return QPROF_NO_TOKEN;
    qp_thread_private *own = qp_own_of(th);
    own->is_resuming = true;
    qprof_token token = qprof_token_enter(th, caller, method);
    if (own->is_resuming && (token & 63) == QPROF_TOP_TOKEN) { /* nothing has looked at it */
        const qprof_node *n = QPROF_AT(th, qprof_node, token - QPROF_TOP_TOKEN);
        if (n->more)
            qp_bump(&QPROF_CELL(th, qp_node_more, n->more)->n_resumes, 1);
        else
            count_first_resume(th);
    }
    own->is_resuming = false;
    return token;
}

/* The calls up to a path continue: each is a resume. */
static void resume_calls(qprof_thread *th, qprof_frame *top, qp_cell path)
{
    for (qp_cell at = path; qp_node_at(th, at)->parent; at = qp_node_at(th, at)->parent) {
        qprof_node *n = qp_node_at(th, at);
        qp_node_more *more = qp_tree_more(th, at);
        QPROF_ADD(n->n_calls, 1);
        if (more)
            qp_bump(&more->n_resumes, 1);
        qp_clock_begin_call(th, n);
    }
    QPROF_STORE(top->node, (uint64_t)path << 6);
}

/* The same where frames are kept: one event for each call. */
static void resume_frames(qprof_thread *th, qp_cell path)
{
    uint64_t depth = 0;
    for (qp_cell at = path; qp_node_at(th, at)->parent; at = qp_node_at(th, at)->parent)
        depth++;
    while (depth--) {
        qp_cell at = path;
        for (uint64_t n = 0; n < depth; n++)
            at = qp_node_at(th, at)->parent;
        qprof_token_resume(th, qprof_token_top(th),
                           (uintptr_t)qp_method_id(qp_node_at(th, at)->method));
    }
}

/* @return whether resume_frames() has to do it */
static bool restore(qprof_thread *th, qp_cell path)
{
    qprof_frame *top = qp_event_begin(th);
    if (!top)
        return false;
    qp_steps_drop(th);
    bool has_frames = !qp_stack_fold(th, top);
    if (has_frames) {
        qp_event_pop(th, &top, qp_stack_depth(th, top));
        if (!top)
            return false;
    } else {
        top = qp_stack_floor(th);
        qp_event_end_calls(th, top, qp_record_of(th)->root, qp_clock_now(th));
        resume_calls(th, top, path);
    }
    qp_event_end(th, top);
    return has_frames;
}

void qprof_token_restore(qprof_thread *th, qprof_token token)
{
    if (!th || !qp_is_open(th))
        return;
    int host_errno = errno;
    qp_cell root = qp_record_of(th)->root, path = (qp_cell)(token >> 6);
    if ((token & 63) != QPROF_TOP_TOKEN || token == QPROF_NO_TOKEN || !qp_tree_holds(th, path))
        path = root;
    if (root && restore(th, path))
        resume_frames(th, path);
    errno = host_errno;
}

void (*qp_on_unwind)(qprof_thread *th, qprof_token token, bool and_it, bool is_exit);

void qprof_token_unwind(qprof_thread *th, qprof_token token)
{
    if (!th || !qp_is_open(th))
        return;
    if (token == QPROF_NO_TOKEN)
        token = (uint64_t)qp_record_of(th)->root << 6 | QPROF_TOP_TOKEN;
    if (QPROF_LOAD(th->gate) & QP_HOOK_CHECK)
        qp_on_unwind(th, token, false, true);
    leave_token(th, token, false, true);
}

qprof_token qprof_cold_top(qprof_thread *th)
{
    qprof_token token = QPROF_NO_TOKEN;
    if (!qp_is_open(th) || QPROF_LOAD(th->pulse->top) & QPROF_TOP_BUSY)
        return token; /* to ask is no event: none is dropped */
    int host_errno = errno;
    qprof_frame *top = qp_event_look(th);
    if (top) {
        bool is_bottom = !qp_own_of(th)->has_token && !qp_stack_depth(th, top);
        token = th->pulse->n_deep ? qp_token_of_deep(th)
                : is_bottom       ? (uint64_t)qp_record_of(th)->root << 6 | QPROF_TOP_TOKEN
                                  : token_of(th, top);
        qp_event_end(th, top);
    }
    errno = host_errno;
    return token;
}
