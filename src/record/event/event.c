/* event.c: entries out of line: first calls, limits, stops, hooked methods. Read enter
 * first.
 *
 * The inline path (include/qprof/inline.h) calls these functions in all unusual cases, and has
 * changed nothing by then. A rare event works in the order of the usual one: the thread is busy
 * while it lasts, an entry reads the clock last, an exit reads it first. */
#include "record/event/event.h"

#include <errno.h>

#include "base/atomic.h"
#include "record/clock/clock.h"
#include "record/pause/pause.h"
#include "record/ring/ring.h"
#include "record/sample/sample.h"
#include "record/tree/tree.h"
#include "record/trigger/trigger.h"

enum { RANGE_MAX = 4096, CALLBACKS_MAX = 4 };

static bool has_hook(const qprof_thread *th, uint32_t bits)
{
    return QPROF_LOAD(th->gate) & bits;
}

/* Something looks at the frames of the stack. @return NULL: no room for them, the event is over */
static qprof_frame *with_frames(qprof_thread *th, qprof_frame *top)
{
    qprof_frame *unfolded = qp_stack_unfold(th, top);
    if (!unfolded)
        qp_event_end(th, qp_busy_top(th));
    return unfolded;
}

qprof_frame *qp_event_look(qprof_thread *th)
{
    if (!qp_is_open(th))
        return NULL;
    if (QP_UNLIKELY(!qp_set_busy(th))) {
        qp_count(&qp_recorder.space, QP_D_reentrant);
        return NULL;
    }
    qprof_frame *top = qp_busy_top(th);
    bool is_first = !top;
    if (QP_UNLIKELY(is_first))
        top = qp_stack_first(th);
    if (!top) {
        QPROF_STORE(th->pulse->top, 0);
        qp_count(&qp_recorder.space, QP_D_out_of_memory);
        return NULL;
    }
    if (is_first) /* the values of a call that follows compare it */
        QPROF_STORE(th->pulse->top, QPROF_OFFSET(th, top) | QPROF_TOP_BUSY);
    qp_pause_sync(th, top);
    if (is_first)
        qp_triggers_thread(th, top);
    if (QP_UNLIKELY(has_hook(th, QP_HOOKS_FRAMES)) && !(top = with_frames(th, top)))
        return NULL;
    qp_triggers_sync(th, top, false);
    if (QP_UNLIKELY(has_hook(th, QP_HOOK_UNTRACED))) {
        qp_fetch_and(&th->gate, ~(uint32_t)QP_HOOK_UNTRACED);
        qp_stack_flag_all(th, top, QP_FRAME_UNTRACED);
    }
    return top;
}

qprof_frame *qp_event_begin(qprof_thread *th)
{
    qprof_frame *top = qp_event_look(th);
    if (top && QP_UNLIKELY(has_hook(th, QP_HOOK_SAMPLE)))
        qp_samples_take(th, top, 0, QP_NO_BLOCK);
    return top;
}

/* ---- entry ------------------------------------------------------------------------------- */

bool qp_event_leave(qprof_thread *th, qprof_frame *top, qp_host_call *o, const void *here)
{
    if (qp_thread_callbacks(here) >= CALLBACKS_MAX) {
        qp_count(&qp_recorder.space, QP_D_callback_nesting);
        return false;
    }
    *o = (qp_host_call){qp_here.callback_frame, qp_here.callbacks, qp_here.th == th,
                        qp_own_of(th)->is_resuming};
    qp_own_of(th)->is_resuming = false;
    qp_event_end(th, top);
    qp_here.callbacks++;
    qp_here.callback_frame = here;
    return true;
}

/* The host may have mounted another virtual thread: mount th again. If another OS thread drives
 * it, or it has ended, the event that called the host is dropped. */
qprof_frame *qp_event_return(qprof_thread *th, const qp_host_call *o)
{
    qp_here.callback_frame = o->outer;
    qp_here.callbacks = o->nesting;
    qp_own_of(th)->is_resuming = o->was_resuming;
    bool is_ours = !o->was_mounted || (qp_thread_mount(th) && qp_thread_hold(th));
    if (qp_is_open(th) && is_ours)
        return qp_event_begin(th);
    qp_bump(&qp_record_of(th)->n_dropped, 1);
    return NULL;
}

/* Ask the host to describe a method. Nested events are allowed, because the event that asks has
 * changed nothing yet. @return the top frame afterwards; NULL: the thread is no longer
 * recorded */
static qprof_frame *ask_host(qprof_thread *th, qprof_frame *top, uintptr_t method)
{
    qp_host_call outside;
    const uint64_t vt = qp_record_of(th)->vt_id;
    if (!qp_event_leave(th, top, &outside, __builtin_frame_address(0)))
        return top;
    qp_recorder.callback(method);
    top = qp_event_return(th, &outside);
    if (!top || qp_load(&qp_record_of(th)->vt_id) == vt)
        return top;
    qp_event_end(th, top); /* the row is another thread's: this one was parked */
    qp_bump(&qp_record_of(th)->n_dropped, 1);
    return NULL;
}

/* The record of a method that is called on a path for the first time. It is made before the
 * host is asked: after a callback that leaves by a jump, the host is not asked for that id
 * again. */
static qp_cell method_of(qprof_thread *th, qprof_frame **top, uintptr_t method)
{
    qp_methods *all = &qp_recorder.methods;
    if (qp_method_is_nameless(method))
        return all->anonymous;
    bool is_new;
    qp_cell cell = qp_methods_mention(all, method, &is_new);
    if (!cell) {
        qp_count(&qp_recorder.space, QP_D_method_limit);
        return all->overflow;
    }
    if (is_new && qp_method_is_registered(all, cell)) /* a pseudo-method */
        qp_triggers_method(cell);
    else if (is_new && qp_recorder.callback)
        *top = ask_host(th, *top, method);
    if (*top && !qp_method_is_registered(all, cell) && qp_method_miss(all, cell)) {
        qp_count(&qp_recorder.space, QP_D_unknown_method);
        qp_triggers_method(cell);
    }
    return cell;
}

static uint32_t flags_of(qp_cell method)
{
    return method ? qp_load(&((qp_method *)qp_at(&qp_recorder.space, method))->flags) : 0;
}

/* What is known of a call when its frame is made. */
typedef struct {
    qp_cell path;   /* 0: its frame has its caller's */
    qp_cell method; /* if it must be hidden from the inline path; else 0 */
    uint32_t flags; /* QPROF_FRAME_* */
} qp_call;

/* The node whose callee the next call is. */
static qp_cell caller_of(const qprof_thread *th, const qprof_frame *top)
{
    return qp_recorder_has_paths() ? qp_frame_path(top) : qp_record_of(th)->root;
}

static qp_cell path_or_overflow(qp_cell path, const qprof_thread *th)
{
    if (!path || qp_tree_is_overflow(th, path))
        qp_count(&qp_recorder.space, QP_D_tree_overflow);
    return path;
}

/* Make the path of a call that is the first one there. A host that reports calls of a thread which it has
 * not mounted is noticed here, where it costs nothing. */
static QP_RARE qp_cell new_path(qprof_thread *th, qp_cell parent, qp_cell method)
{
    if (QPROF_LOAD(th->os_thread) != qp_here.ordinal || qp_here.epoch != qp_recorder.epoch)
        qp_count(&qp_recorder.space, QP_D_unmounted);
    return path_or_overflow(qp_tree_add(th, parent, method), th);
}

/* Enter a method that is hooked, or that is not measured. */
static void enter_hooked(qprof_thread *th, qprof_frame **top, qp_call *call, uint32_t flags)
{
    if (flags & QP_METHOD_HOOKED) {
        call->flags |= QPROF_FRAME_HOOKED;
        call->flags |= qp_actions_entry(th, top, call->method);
    }
    if (!*top)
        return;
    if (flags & QP_METHOD_EXCLUDED) {
        call->flags |= QPROF_FRAME_EXCLUDED;
        return;
    }
    qp_cell parent =
        caller_of(th, *top); /* actions may have moved the stack, or called the method */
    call->path = qp_tree_find(th, parent, qp_method_id(call->method));
    if (!call->path)
        call->path = new_path(th, parent, call->method);
}

/* A callee below an <overflow>. */
static qp_call overflowed_callee(qprof_thread *th, qprof_frame **top, qp_cell parent,
                                 uint64_t key)
{
    qp_call call = {.method = qp_methods_find(&qp_recorder.methods, key)};
    if (flags_of(call.method) & QP_METHOD_HOOKED)
        call.flags = QPROF_FRAME_HOOKED | qp_actions_entry(th, top, call.method);
    if (*top && !((*top)->flags & QPROF_FRAME_OVERFLOWED))
        call.path = parent;
    qp_count(&qp_recorder.space, QP_D_tree_overflow);
    return call;
}

/* The call path of a callee. NULL in *top: the event is dropped. */
static qp_call callee_of(qprof_thread *th, qprof_frame **top, uintptr_t method)
{
    qp_call call = {0};
    qp_cell parent = caller_of(th, *top);
    bool is_anonymous = qp_method_is_nameless(method);
    uint64_t key = is_anonymous ? 0 : method;
    if (is_anonymous)
        qp_count(&qp_recorder.space, QP_D_bad_method_id);
    if (parent == qp_frame_path(*top) &&
        (((*top)->flags & QPROF_FRAME_OVERFLOWED) || qp_tree_is_overflow(th, parent)))
        return overflowed_callee(th, top, parent, key);
    call.path = qp_tree_find(th, parent, key);
    qp_cell record = call.path ? qp_node_at(th, call.path)->method : 0;
    uint32_t flags = flags_of(record);
    if (QP_LIKELY(call.path) && !(flags & (QP_METHOD_HOOKED | QP_METHOD_EXCLUDED)))
        return call;
    record = method_of(th, top, method);
    if (!*top)
        return call;
    call.path = 0;
    flags = flags_of(record);
    if (QP_UNLIKELY(flags & (QP_METHOD_HOOKED | QP_METHOD_EXCLUDED))) {
        call.method = record;
        enter_hooked(th, top, &call, flags);
        return call;
    }
    parent =
        caller_of(th, *top); /* the callback may have moved the stack, or called the method */
    if (QP_UNLIKELY(record == qp_recorder.methods.overflow))
        call.path = path_or_overflow(qp_tree_overflow(th, parent), th);
    else if (!(call.path = qp_tree_find(th, parent, key)) &&
             !(call.path = new_path(th, parent, record)))
        call.method = record;
    return call;
}

/* Count the call where it belongs. */
static void count_call(qprof_thread *th, qprof_frame *f)
{
    qprof_node *n = qp_frame_node(th, f);
    bool is_folded = f->flags & (QPROF_FRAME_OVERFLOWED | QPROF_FRAME_EXCLUDED);
    bool is_resumed = qp_own_of(th)->is_resuming; /* no call, whether it is recorded or not */
    bool is_hit = !is_folded && (is_resumed || !has_hook(th, QP_HOOK_STOPPED | QP_HOOK_OFF));
    qp_own_of(th)->is_resuming = false;
    if (is_hit)
        QPROF_ADD(n->n_calls, 1);
    if (is_hit && !is_resumed)
        return;
    qp_node_more *more = is_folded ? NULL : qp_tree_more(th, qp_frame_path(f));
    if (more)
        qp_bump(is_hit ? &more->n_resumes : &more->n_skips, 1);
    else if (!is_hit) /* else it is counted as a call */
        qp_bump(&qp_record_of(th)->n_overflowed, 1);
}

/* Note the smallest and the largest id among the last stored frames, which do not change while
 * frames above them are only counted. */
static void note_range(qprof_thread *th, qprof_frame *top)
{
    qp_stack_cursor c = qp_stack_from(th, top);
    uint64_t depth = qp_stack_depth(th, top);
    qp_own_of(th)->deep_low = UINT64_MAX;
    qp_own_of(th)->deep_high = 0;
    for (uint64_t n = 0; n < depth && n < RANGE_MAX; n++, qp_stack_down(th, &c)) {
        qp_own_of(th)->deep_low =
            c.f->stack_id < qp_own_of(th)->deep_low ? c.f->stack_id : qp_own_of(th)->deep_low;
        qp_own_of(th)->deep_high =
            c.f->stack_id > qp_own_of(th)->deep_high ? c.f->stack_id : qp_own_of(th)->deep_high;
    }
}

static void count_deep(qprof_thread *th, qprof_frame *top)
{
    if (!th->pulse->n_deep)
        note_range(th, top);
    QPROF_ADD(th->pulse->n_deep, 1);
    qp_bump(&qp_record_of(th)->n_deep_total, 1);
    qp_fetch_or(&th->gate, QP_HOOK_DEEP);
    qp_count(&qp_recorder.space, QP_D_depth_overflow);
}

/* Who enters a method. */
typedef struct {
    uintptr_t id;  /* stack id of the new frame */
    bool is_token; /* or: a host that keeps tokens */
} qp_caller;

/* The id by which exits name the frame: the host's, or a token, which a call path of its own has
 * anyway. */
static void name_frame(qprof_thread *th, qprof_frame *f, qp_caller by, uint32_t flags)
{
    uint32_t shared = QPROF_FRAME_OVERFLOWED | QPROF_FRAME_EXCLUDED;
    bool has_path = f->node && !(flags & shared) && qp_recorder_has_paths() &&
                    !qp_tree_is_overflow(th, qp_frame_path(f));
    uint64_t id = !by.is_token ? by.id
                  : has_path   ? f->node | QPROF_TOP_TOKEN
                               : QPROF_OFFSET(th, f) | QP_TOKEN_OF_FRAME;
    QPROF_STORE(f->stack_id, id);
    if (!by.is_token && qp_own_of(th)->uses_tokens)
        flags |= QPROF_FRAME_ID;
    if (id == f[-1].stack_id && id)
        flags |= QPROF_FRAME_SAME;
    if (!id) {
        flags |= QPROF_FRAME_ZERO;
        qp_count(&qp_recorder.space, QP_D_entry_zero_stack_id);
        qp_fetch_or(&th->gate, QP_HOOK_ZERO);
    }
    qp_stack_flag(th, f, flags);
}

/* The frame's call begins; a caller that is off is not charged for the recorder's work. */
static void start_frame(qprof_thread *th, qprof_frame *top, qprof_frame *f)
{
    uint32_t hooks = QPROF_LOAD(th->gate);
    bool is_own = !(f->flags & (QPROF_FRAME_OVERFLOWED | QPROF_FRAME_EXCLUDED));
    uint32_t restores = f->flags & (QPROF_FRAME_RESTORE | QPROF_FRAME_RESTORE_ON);
    bool was_turned_on = restores == QPROF_FRAME_RESTORE && !(hooks & QP_HOOK_OFF);
    QPROF_STORE(f->start, 0);
    if (hooks & QP_HOOKS_EXACT) {
        uint64_t now = was_turned_on ? th->pulse->last : qp_clock_now(th);
        qp_clock(th, top, now);
        QPROF_STORE(f->start, now);
    }
    if (is_own)
        qp_clock_begin_call(th, qp_frame_node(th, f));
    else if (!qp_stack_depth(th,
                             top)) /* its time is the root's, and not that outside of calls */
        QPROF_STORE(qp_frame_node(th, f)->begun, qp_frame_node(th, f)->self);
}

/* Ask the host for the undescribed methods of sampled paths: with samples alone it is not asked
 * at first calls. NULL in *top: the event is dropped. */
static void ask_for_sampled(qprof_thread *th, qprof_frame **top)
{
    for (qp_cell path = qp_samples_path(th, *top); path && *top;) {
        const qprof_node *n = qp_node_at(th, path);
        uint64_t id = qp_method_id(n->method);
        path = n->parent;
        if (id && !qp_method_is_registered(&qp_recorder.methods, n->method) &&
            qp_method_miss(&qp_recorder.methods, n->method))
            *top = ask_host(th, *top, (uintptr_t)id);
    }
}

/* A frame above the top; the top moves with it into a new chunk if necessary. @return NULL: the
 * call is only counted, and the event has ended */
static qprof_frame *frame_above(qprof_thread *th, qprof_frame **top)
{
    qprof_frame *f = has_hook(th, QP_HOOK_DEEP) ? NULL : qp_stack_above(th, *top);
    if (f) {
        *top = f - 1;
        return f;
    }
    count_deep(th, *top);
    qp_event_end(th, *top);
    return NULL;
}

/* With samples alone, the path is looked up when it is sampled. */
static qprof_token enter_stack(qprof_thread *th, qprof_frame *top, qp_caller by,
                               uintptr_t method)
{
    if (QP_UNLIKELY(qp_load(&qp_recorder.has_unknown)))
        ask_for_sampled(th, &top);
    qprof_frame *f = top ? frame_above(th, &top) : NULL;
    if (!f)
        return top ? qp_token_of_deep(th) : QPROF_NO_TOKEN;
    QPROF_STORE(f->method_id, (uint64_t)method);
    QPROF_STORE(f->node, 0);
    name_frame(th, f, by, 0);
    qp_event_end(th, f);
    return f->stack_id;
}

/* Fill the frame of a call; it is not on the stack yet. */
static void make_frame(qprof_thread *th, qprof_frame *f, const qp_call *call, qp_caller by)
{
    uint32_t flags = call->flags;
    if (!call->path && !(flags & QPROF_FRAME_EXCLUDED))
        flags |= QPROF_FRAME_OVERFLOWED;
    if (has_hook(th, QP_HOOK_STOPPED | QP_HOOK_OFF))
        flags |= QPROF_FRAME_SKIP;
    if (has_hook(th, QP_HOOK_EVENT_TRIGGERS))
        flags |= QPROF_FRAME_HOOKED;
    if (call->path && qp_tree_is_overflow(th, call->path))
        flags |= QPROF_FRAME_FOLDED;
    QPROF_STORE(f->node, call->path ? (uint64_t)call->path << 6 : f[-1].node);
    QPROF_STORE(f->mark_at, (uint64_t)call->method);
    if (flags & QPROF_FRAME_HOOKED)
        QPROF_STORE(f->method_id, qp_clock_elapsed());
    name_frame(th, f, by, flags);
}

/* Raise the event of the call, which is complete. */
static void raise_entry(qprof_thread *th, const qprof_frame *f, uintptr_t method)
{
    if (!(f->flags & QPROF_FRAME_HOOKED) || !qp_load(&qp_is_triggering))
        return;
    const qp_event_call call = {.depth = qp_stack_depth(th, f)};
    qp_event_triggers_raise(th, QP_EVENT_FN_ENTRY, method, &call);
}

/* Enter a method for which a token suffices. @return its token */
static qprof_token enter_token(qprof_thread *th, qprof_frame *top, qp_cell path)
{
    qprof_node *n = qp_node_at(th, path);
    qp_clock(th, top, qp_clock_now(th));
    QPROF_ADD(n->n_calls, 1);
    qp_clock_begin_call(th, n);
    qp_tree_link(th, qp_frame_path(top), path);
    QPROF_STORE(top->node, (uint64_t)path << 6);
    if (has_hook(th, QP_HOOK_STEPS))
        qp_steps_note(th, top);
    qp_event_end(th, top);
    return (uint64_t)path << 6 | QPROF_TOP_TOKEN;
}

static void trace_entry(qprof_thread *th, qprof_frame *f)
{
    if (has_hook(th, QP_HOOK_STEPS))
        qp_steps_note(th, f);
    if (qp_trace_users())
        qp_trace_entry(th, f);
}

/* Enter a method with a frame. */
static qprof_token enter_frame(qprof_thread *th, qprof_frame *top, const qp_call *call,
                               qp_caller by, uintptr_t method)
{
    qprof_frame *f = frame_above(th, &top);
    if (!f)
        return qp_token_of_deep(th);
    make_frame(th, f, call, by);
    count_call(th, f);
    if (call->path && !call->flags)
        qp_tree_link(th, qp_frame_path(top), call->path);
    start_frame(th, top, f);
    if (qp_trace_is_any() && !(f->flags & (QPROF_FRAME_SKIP | QPROF_FRAME_EXCLUDED)))
        trace_entry(th, f);
    qprof_token token = f->stack_id;
    qp_event_end(th, f);
    raise_entry(th, f, method);
    return token;
}

static qprof_token enter(qprof_thread *th, uintptr_t method, qp_caller by)
{
    qprof_frame *top = qp_event_begin(th);
    if (!top) {
        if (qp_is_open(th))
            qp_bump(&qp_record_of(th)->n_dropped, 1);
        return QPROF_NO_TOKEN;
    }
    if (!qp_load(&qp_recorder.has_entries)) /* a line that all threads read */
        qp_store(&qp_recorder.has_entries, true);
    if (has_hook(th, QPROF_HOOK_STACK))
        return enter_stack(th, top, by, method);
    if (!qp_own_of(th)->has_token && !frame_above(th, &top))
        return qp_token_of_deep(th);
    const qp_call call = callee_of(th, &top, method);
    if (!top)
        return QPROF_NO_TOKEN;
    bool is_plain = call.path && !call.flags && !qp_tree_is_overflow(th, call.path);
    if (by.is_token && is_plain && qp_stack_fold(th, top)) /* the top frame is the root's now */
        return enter_token(th, qp_stack_floor(th), call.path);
    if (!(top = with_frames(th, top))) {
        qp_bump(&qp_record_of(th)->n_dropped, 1);
        return QPROF_NO_TOKEN;
    }
    return enter_frame(th, top, &call, by, method);
}

static qprof_token enter_slowly(qprof_thread *th, uintptr_t method, qp_caller by)
{
    int host_errno = errno;
    qprof_token token = enter(th, method, by);
    qp_event_triggers_settle();
    errno = host_errno;
    return token;
}

qp_cost_kind qp_event_cost_kind(const qprof_thread *th)
{
    return qp_stack_is_excluded(th) ? QP_COST_OUTSIDE : QP_COST_EVENT;
}

static QP_RARE __attribute__((noinline)) void enter_timed(qprof_thread *th, uintptr_t method,
                                                          uintptr_t id)
{
    uint64_t start = qp_cost_start();
    enter_slowly(th, method, (qp_caller){.id = id});
    qp_cost_add(th, qp_event_cost_kind(th), start);
}

void qp_event_enter_id(qprof_thread *th, uintptr_t method, uintptr_t id)
{
    if (qp_cost_is_due())
        enter_timed(th, method, id);
    else
        enter_slowly(th, method, (qp_caller){.id = id});
}

qprof_token qp_event_enter_token(qprof_thread *th, uintptr_t method)
{
    return enter_slowly(th, method, (qp_caller){.is_token = true});
}

/* Events of a signal handler came between the choice of the frame and the top that has been
 * published: fill it again. */
void qprof_cold_overtaken(qprof_thread *th, uintptr_t id, uint64_t node, uint64_t top)
{
    qprof_node *n = QPROF_AT(th, qprof_node, node);
    if (top - th->floor <= th->span) { /* else the stack has moved: the next event finds it */
        qprof_frame *f = QPROF_AT(th, qprof_frame, top);
        QPROF_STORE(f->stack_id, (uint64_t)id);
        QPROF_STORE(f->node, node);
    }
    if (!has_hook(th, QPROF_HOOK_ADAPTIVE))
        QPROF_ADD(n->n_calls, 1);
    else if (qprof_count_untimed(th, n))
        qprof_cold_begin_timing(th, n);
}
