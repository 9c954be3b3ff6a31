/* exit.c: exits out of line: unwinding, unknown frames, hooked methods. The usual exit is
 * qprof_open_exit() of include/qprof/inline.h. Read qp_event_exit_id and qp_event_pop first.
 *
 * As in event.c, the inline path has changed nothing when it calls these functions, and an exit
 * reads the clock first. */
#include <errno.h>

#include "base/atomic.h"
#include "record/clock/clock.h"
#include "record/event/event.h"
#include "record/ring/ring.h"
#include "record/tree/tree.h"
#include "record/trigger/trigger.h"

enum { SEARCH_MAX = 4096, SEARCHES_MAX = 1000 };

/* Frames that are only counted end, among n_ending frames that do. */
static void drop_deep(qprof_thread *th, uint64_t n_ending)
{
    qp_thread_unsettled(th, n_ending);
    QPROF_STORE(th->pulse->n_deep, 0);
    qp_fetch_and(&th->gate, ~(uint32_t)QP_HOOK_DEEP);
}

/* End the top frame. @return whether its entry was traced */
static bool drop_frame(qprof_thread *th, qprof_frame **top, uint64_t now)
{
    uint32_t flags = (*top)->flags;
    qp_clock_settle(th, *top, now);
    *top = qp_stack_below(th, *top);
    if ((flags & (QPROF_FRAME_OVERFLOWED | QPROF_FRAME_EXCLUDED)) &&
        !qp_stack_depth(th, *top)) {
        qprof_node *root = qp_frame_node(th, *top);
        QPROF_ADD(root->self_max, root->self - root->begun);
    }
    return qp_flags_are_traced(flags);
}

/* A hooked frame has ended: run actions, restore the thread's status, raise the event, in this
 * order. NULL in *top: the thread is no longer recorded. */
static void after_exit(qprof_thread *th, qprof_frame **top, const qprof_frame *ended)
{
    qp_cell method = qp_frame_method(th, ended);
    const qp_method *m = method ? qp_at(&qp_recorder.space, method) : NULL;
    uint64_t ticks = qp_clock_elapsed() - ended->method_id;
    qp_event_call call = {.duration_ns = qp_clock_ns(ticks), .depth = 1};
    call.depth += qp_stack_depth(th, *top);
    qp_actions_exit(th, top, method, ended->flags);
    qp_host_call outside;
    if (!*top || !qp_load(&qp_is_triggering) ||
        !qp_event_leave(th, *top, &outside, __builtin_frame_address(0)))
        return;
    qp_event_triggers_raise(th, QP_EVENT_FN_EXIT, m ? (uintptr_t)m->id : 0, &call);
    *top = qp_event_return(th, &outside);
}

/* Count n more frames ended by one exit, which has already counted *n_before. */
static void count_ends(qprof_thread *th, uint64_t n, uint64_t *n_before)
{
    uint64_t n_exits = n && !*n_before;
    if (n + *n_before > 1)
        qp_thread_unsettled(th, n + *n_before);
    QPROF_ADD(th->pulse->n_exits, n_exits);
    QPROF_ADD(th->pulse->n_unwound, n - n_exits);
    *n_before += n;
}

/* Record that frames have ended, n of them traced. @param has_skips  some were entered while
 * recording was off */
static void trace_ends(qprof_thread *th, uint32_t n, bool is_unwound, bool has_skips,
                       const qprof_frame *top)
{
    if (QPROF_LOAD(th->gate) & QP_HOOK_STEPS)
        qp_steps_note(th, top);
    if (n)
        qp_trace_exit(th, n, is_unwound, top);
    else if (has_skips && qp_trace_users())
        qp_trace_resume(th, top);
}

/* Pop the counted frames and `stored` stored ones. They are counted together, right before the
 * top is stored: at the end, and before a hooked one is handled. */
void qp_event_pop(qprof_thread *th, qprof_frame **top, uint64_t stored)
{
    uint64_t left = qp_stack_depth(th, *top) - stored, n = th->pulse->n_deep, n_counted = 0;
    uint64_t now = qp_clock_now(th);
    if (!stored && !n)
        return;
    qp_clock(th, *top, now);
    bool is_unwound = stored + n > 1;
    uint32_t n_traced = 0;
    bool has_skips = false;
    if (n)
        drop_deep(th, stored + n);
    while (*top && qp_stack_depth(th, *top) > left) {
        const qprof_frame ended = **top;
        n_traced += drop_frame(th, top, now);
        has_skips |=
            (ended.flags & (QPROF_FRAME_SKIP | QPROF_FRAME_EXCLUDED)) == QPROF_FRAME_SKIP;
        n++;
        if (QP_LIKELY(!(ended.flags & QPROF_FRAME_HOOKED)))
            continue;
        count_ends(th, n, &n_counted);
        if (qp_trace_is_any())
            trace_ends(th, n_traced, is_unwound, has_skips, *top);
        n = n_traced = 0;
        has_skips = false;
        after_exit(th, top, &ended);
        now = *top ? qp_clock_now(th) : now;
        if (*top)
            qp_clock(th, *top, now);
    }
    count_ends(th, n, &n_counted);
    if (n && qp_trace_is_any())
        trace_ends(th, n_traced, is_unwound, has_skips, *top);
    if (!left && *top)
        qp_fetch_and(&th->gate, ~(uint32_t)QP_HOOK_ZERO);
}

int64_t qp_event_frames_above(qprof_thread *th, qprof_frame *top, uint64_t id, uint64_t max)
{
    qp_stack_cursor c = qp_stack_from(th, top);
    uint64_t depth = qp_stack_depth(th, top);
    for (uint64_t n = 0; n < depth; n++) {
        if (n == max) {
            qp_count(&qp_recorder.space, QP_D_exit_search_limited);
            return -1;
        }
        if (c.f->stack_id == id && !(c.f->flags & QPROF_FRAME_ZERO))
            return (int64_t)n;
        qp_stack_down(th, &c);
    }
    return -1;
}

/* How many stored frames to search for an id. Ids are compared for equality only. But where
 * those of the last frames rise or fall, an id beyond them in this direction belongs to a
 * counted frame, and one in the other direction to a frame further down (where an error is
 * caught). A failed search costs the whole depth, so their number is limited. */
static uint64_t search_limit(qprof_thread *th, const qprof_frame *top, uint64_t id)
{
    if (id >= qp_own_of(th)->deep_low && id <= qp_own_of(th)->deep_high)
        return SEARCH_MAX;
    bool rises = top->stack_id == qp_own_of(th)->deep_high,
         falls = top->stack_id == qp_own_of(th)->deep_low;
    if ((rises && !falls && id > qp_own_of(th)->deep_high) ||
        (falls && !rises && id < qp_own_of(th)->deep_low))
        return 0;
    return qp_own_of(th)->n_searches < SEARCHES_MAX ? UINT64_MAX : 0;
}

static void leave_deep(qprof_thread *th, qprof_frame **top, uintptr_t id)
{
    uint64_t limit = search_limit(th, *top, id);
    int64_t above = limit ? qp_event_frames_above(th, *top, id, limit) : -1;
    if (above >= 0) {
        qp_event_pop(th, top, (uint64_t)above);
        return;
    }
    qp_own_of(th)->n_searches += limit > SEARCH_MAX;
    QPROF_ADD(th->pulse->n_exits, 1);
    QPROF_STORE(th->pulse->n_deep, th->pulse->n_deep - 1);
    if (!th->pulse->n_deep)
        qp_fetch_and(&th->gate, ~(uint32_t)QP_HOOK_DEEP);
}

/* Frames down to the requests that were begun outside of all others, which no exit ends. */
static uint64_t host_depth(const qprof_thread *th, qprof_frame *top)
{
    uint64_t depth = qp_stack_depth(th, top);
    return depth - qp_request_run(th, top, depth);
}

/* An exit that names no open frame. */
static void leave_unknown(qprof_thread *th, qprof_frame **top, bool ignores)
{
    uint64_t depth = host_depth(th, *top);
    if (depth == 1)
        qp_event_pop(th, top, 1);
    if (depth == 1)
        return;
    qp_count(&qp_recorder.space, depth ? QP_D_exit_unknown_id : QP_D_exit_empty_stack);
    if (!ignores)
        qp_event_pop(th, top, depth);
}

static void leave(qprof_thread *th, qprof_frame **top, uintptr_t id)
{
    uint64_t depth = qp_stack_depth(th, *top);
    bool ignores = qp_recorder.options.number[QP_OPT_unknown_exit] == 1;
    if (!id) {
        qp_event_pop(th, top, host_depth(th, *top));
    } else if (th->pulse->n_deep) {
        leave_deep(th, top, id);
    } else if (!depth) {
        qp_count(&qp_recorder.space, QP_D_exit_empty_stack);
    } else {
        int64_t above = qp_event_frames_above(th, *top, id, ignores ? SEARCH_MAX : UINT64_MAX);
        if (above >= 0)
            qp_event_pop(th, top, (uint64_t)above);
        else
            leave_unknown(th, top, ignores);
    }
}

/* Raise the event of several frames that ended at once. */
static void raise_unwind(qprof_thread *th, const qprof_frame *top)
{
    qp_cell method = qp_stack_depth(th, top) ? qp_frame_method(th, top) : 0;
    const qp_method *m = method ? qp_at(&qp_recorder.space, method) : NULL;
    qp_event_triggers_raise(th, QP_EVENT_UNWIND, m ? (uintptr_t)m->id : 0, NULL);
}

void qp_event_left(qprof_thread *th, qprof_frame *top, uint64_t n_unwound)
{
    qp_event_end(th, top);
    if (QP_UNLIKELY(qp_record_of(th)->n_unsettled))
        qp_thread_unsettled(th, 0);
    if (QP_UNLIKELY(th->pulse->n_unwound != n_unwound) && qp_load(&qp_is_triggering))
        raise_unwind(th, top);
}

static void exit_slowly(qprof_thread *th, uintptr_t id)
{
    int host_errno = errno;
    qprof_frame *top = qp_event_begin(th);
    uint64_t n_unwound = th->pulse->n_unwound;
    if (top)
        top = qp_stack_unfold(th, top); /* a stack id names a frame */
    if (top)
        leave(th, &top, id);
    if (top)
        qp_event_left(th, top, n_unwound);
    qp_event_triggers_settle();
    errno = host_errno;
}

static QP_RARE __attribute__((noinline)) void exit_timed(qprof_thread *th, uintptr_t id)
{
    qp_cost_kind kind = qp_event_cost_kind(th);
    uint64_t start = qp_cost_start();
    exit_slowly(th, id);
    qp_cost_add(th, kind, start);
}

void qp_event_exit_id(qprof_thread *th, uintptr_t id)
{
    if (qp_cost_is_due())
        exit_timed(th, id);
    else
        exit_slowly(th, id);
}

uint64_t qp_event_unroll(qprof_thread *th, qprof_frame **top, uint64_t now)
{
    uint64_t depth = qp_stack_depth(th, *top), n = depth + th->pulse->n_deep;
    qp_steps_close(th);
    if (qp_own_of(th)->has_token)
        return qp_event_end_calls(th, *top, qp_record_of(th)->root, now);
    qp_clock(th, *top, now);
    drop_deep(th, n);
    uint32_t n_traced = 0;
    while (depth--)
        n_traced += drop_frame(th, top, now);
    qp_trace_exit(th, n_traced, true, *top);
    qp_fetch_and(&th->gate, ~(uint32_t)QP_HOOK_ZERO);
    return n;
}
