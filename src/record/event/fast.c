/* fast.c: what the inline path leaves out and still is usual: calls of which only the stack is kept,
 * in a host without the calls for that, calls that leave a record in a trace, and calls with tokens
 * where frames are kept. Compiled for speed; all else is event.c, exit.c and token.c. */
/* The event path is straight: what it jumps to is rare and need not be aligned. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-align-jumps", "no-align-labels")
#endif
#undef QPROF_ELSEWHERE

#include "record/event/event.h"
#include "record/ring/trace_fast.h"

qp_event_calls qp_on_event = {qp_event_enter_id, qp_event_exit_id, qp_event_enter_above,
                              qp_event_leave_token};

void qprof_cold_entry(qprof_thread *th, uintptr_t method, uintptr_t id)
{
    if (!qp_trace_fast_entry(th, method, id) &&
        (qprof_is_due(th) || !qprof_stack_push(th, method, id)))
        qp_on_event.enter_id(th, method, id);
}

void qprof_cold_exit(qprof_thread *th, uintptr_t id)
{
    if (!qp_trace_fast_exit(th, id) && (qprof_is_due(th) || !qprof_stack_pop(th, id)))
        qp_on_event.exit_id(th, id);
}

/* ---- steps of a request: qp_on_event leads here ------------------------------------------ */

/* An entry, or with method 0 an exit, of a host that keeps no tokens, and its step. What the inline path leaves
 * out comes back here, and leaves its step itself.
 * @return false: it is not the usual case, or has come back */
static bool step(qprof_thread *th, uintptr_t method, uintptr_t id)
{
    const uint32_t gate = QPROF_LOAD(th->gate);
    const qprof_pulse *u = th->pulse;
    qp_steps *s = qp_steps_of(th);
    uint64_t *at = s->at;
    if (!qp_steps_are_usual(gate, 0) || s->is_inside || at == s->end || u->offset != s->offset)
        return false;
    s->is_inside = true;
    if (method)
        qprof_timed_entry(th, gate, method, id);
    else
        qprof_timed_exit(th, id);
    s->is_inside = false;
    if (s->at == at && s->open)
        qp_steps_put(s, u->last + u->offset,
                     QPROF_FRAME_AT(th, QPROF_LOAD(u->top) & ~QPROF_TOP_BUSY)->node);
    return true;
}

void qp_event_step_in(qprof_thread *th, uintptr_t method, uintptr_t id)
{
    if (!method || !step(th, method, id))
        qp_event_enter_id(th, method, id);
}

void qp_event_step_out(qprof_thread *th, uintptr_t id)
{
    if (!step(th, 0, id))
        qp_event_exit_id(th, id);
}

/* ---- tokens: where frames are kept, the stack id of a frame is its token ----------------- */

/* Is the frame on top that of the token? */
static inline bool is_of_top(const qprof_thread *th, qprof_token token)
{
    uint64_t top = QPROF_LOAD(th->pulse->top);
    return top - th->floor < th->span && QPROF_FRAME_AT(th, top)->stack_id == token &&
           qp_own_of(th)->uses_tokens;
}

/* Is there nothing but a reason to keep frames? Else the event folds them, or is a rare one. */
static inline bool keeps_frames(const qprof_thread *th, uint32_t gate)
{
    const uint32_t usual = QPROF_HOOK_EXACT | QPROF_HOOK_ADAPTIVE | QPROF_HOOK_TSC |
                           QPROF_HOOK_WAITS | QPROF_HOOK_STACK | QP_HOOK_TRACE;
    return (gate & ~usual) == QPROF_GATE_OPEN &&
           (gate & (QPROF_HOOK_STACK | QP_HOOK_TRACE) || qp_own_of(th)->flagged ||
            !qp_recorder_has_paths());
}

static qprof_token enter(qprof_thread *th, qprof_token caller, uintptr_t method)
{
    uint32_t gate = QPROF_LOAD(th->gate);
    const qprof_frame *f = QPROF_FRAME_AT(th, QPROF_LOAD(th->pulse->top));
    bool is_stack = gate & QPROF_HOOK_STACK;
    uint64_t path = 0;
    if (!is_of_top(th, caller) || !keeps_frames(th, gate) || !method ||
        (!is_stack &&
         !(path = qprof_callee(th->base, QPROF_AT(th, qprof_node, f->node), method))))
        return qp_on_event.enter_above(th, caller, method);
    qprof_token token = path && qp_recorder_has_paths()
                            ? path | QPROF_TOP_TOKEN
                            : QPROF_OFFSET(th, f + 1) | QP_TOKEN_OF_FRAME;
    qprof_open_entry(th, gate, method, token);
    return is_of_top(th, token) ? token : qprof_cold_top(th);
}

static void leave(qprof_thread *th, qprof_token token)
{
    uint32_t gate = QPROF_LOAD(th->gate);
    uint64_t top = QPROF_LOAD(th->pulse->top);
    if (is_of_top(th, token) && keeps_frames(th, gate) && (int64_t)top > (int64_t)th->low)
        qprof_open_exit(th, gate, QPROF_FRAME_AT(th, top)[-1].stack_id);
    else
        qp_on_event.leave_token(th, token);
}

/* ---- the same, timed now and then -------------------------------------------------------- */

static QP_RARE __attribute__((noinline)) qprof_token
enter_timed(qprof_thread *th, qprof_token caller, uintptr_t method)
{
    uint64_t start = qp_cost_start();
    qprof_token token = enter(th, caller, method);
    qp_cost_add(th, qp_event_cost_kind(th), start);
    return token;
}

static QP_RARE __attribute__((noinline)) void leave_timed(qprof_thread *th, qprof_token token)
{
    qp_cost_kind kind = qp_event_cost_kind(th);
    uint64_t start = qp_cost_start();
    leave(th, token);
    qp_cost_add(th, kind, start);
}

qprof_token qprof_cold_enter(qprof_thread *th, qprof_token caller, uintptr_t method)
{
    uint32_t gate = QPROF_LOAD(th->gate);
    if (qp_steps_are_usual(gate, QPROF_HOOK_TOKENS)) {
        qprof_token token = qp_steps_fast_enter(th, gate, caller, method);
        if (QP_LIKELY(token != QPROF_NO_TOKEN))
            return token;
    }
    return qp_cost_is_due() ? enter_timed(th, caller, method) : enter(th, caller, method);
}

void qprof_cold_leave(qprof_thread *th, qprof_token token)
{
    if (qp_steps_are_usual(QPROF_LOAD(th->gate), QPROF_HOOK_TOKENS) &&
        QP_LIKELY(qp_steps_fast_leave(th, token)))
        return;
    if (qp_cost_is_due())
        leave_timed(th, token);
    else
        leave(th, token);
}
