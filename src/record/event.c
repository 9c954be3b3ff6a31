/* event.c: entries and exits out of line: first calls, unwinding, limits, stops.
 *
 * The inline path (include/qprof/inline.h) comes here when anything is out of the ordinary, and
 * has changed nothing by then. The order of a rare event is that of the usual one: the thread is
 * busy while it lasts, an entry reads the clock last, an exit reads it first. */
#include "record/event.h"

#include <errno.h>

#include "base/atomic.h"
#include "record/charge.h"
#include "record/samples.h"
#include "record/stack.h"
#include "record/tree.h"

enum { SEARCH_MAX = 4096, SEARCHES_MAX = 1000, CALLBACKS_MAX = 4 };

static bool has_hook(const qprof_thread *th, uint32_t bits)
{
    return QPROF_LOAD(th->gate) & bits;
}

qprof_frame *qp_event_look(qprof_thread *th)
{
    if (!qp_is_open(th))
        return NULL;
    if (QP_UNLIKELY(!qp_set_busy(th))) {
        qp_count(&qp_run.space, QP_D_reentrant);
        return NULL;
    }
    qprof_frame *top = qp_busy_top(th);
    if (QP_UNLIKELY(!top))
        top = qp_stack_first(th);
    if (!top) {
        QPROF_STORE(th->pulse->top, 0);
        qp_count(&qp_run.space, QP_D_out_of_memory);
        return NULL;
    }
    qp_charge_sync(th, top);
    return top;
}

qprof_frame *qp_event_begin(qprof_thread *th)
{
    qprof_frame *top = qp_event_look(th);
    if (top && QP_UNLIKELY(has_hook(th, QP_HOOK_SAMPLE)))
        qp_samples_take(th, top, 0);
    return top;
}

void qp_event_end(qprof_thread *th, qprof_frame *top)
{
    __atomic_store_n(&th->pulse->top, QPROF_INDEX(th, top), __ATOMIC_RELEASE);
}

/* ---- entry --------------------------------------------------------------------------------- */

/* After a callback, which may have driven another virtual thread: th is driven from here again.
 * @return false: another carrier has it, or it has ended; the event that asked is dropped */
static bool regain(qprof_thread *th, bool was_mounted)
{
    bool is_ours = !was_mounted || (qp_thread_mount(th) && qp_thread_hold(th));
    if (qp_is_open(th) && is_ours)
        return true;
    qp_bump(&qp_record_of(th)->n_dropped, 1);
    return false;
}

/* Ask the host for a method it has not described. Nested events are welcome: the event that asked
 * has not begun. @return the top frame afterwards; NULL: the thread is not recorded any more */
static qprof_frame *ask_host(qprof_thread *th, qprof_frame *top, uintptr_t method)
{
    if (qp_thread_callbacks(__builtin_frame_address(0)) >= CALLBACKS_MAX) {
        qp_count(&qp_run.space, QP_D_callback_nesting);
        return top;
    }
    bool was_mounted = qp_here.th == th;
    qp_event_end(th, top);
    uint32_t nesting = qp_here.callbacks++;
    const void *outer = qp_here.callback_frame;
    qp_here.callback_frame = __builtin_frame_address(0);
    qp_run.callback(method);
    qp_here.callback_frame = outer;
    qp_here.callbacks = nesting;
    return regain(th, was_mounted) ? qp_event_begin(th) : NULL;
}

/* The record of a method that is called on a path for the first time. It is there before the host
 * is asked: a callback that leaves by a jump is not called for that id again. */
static qp_cell method_of(qprof_thread *th, qprof_frame **top, uintptr_t method)
{
    qp_methods *all = &qp_run.methods;
    if (qp_method_is_nameless(method))
        return all->anonymous;
    bool is_new;
    qp_cell cell = qp_methods_mention(all, method, &is_new);
    if (!cell) {
        qp_count(&qp_run.space, QP_D_method_limit);
        return all->overflow;
    }
    if (is_new && qp_run.callback && !qp_method_is_registered(all, cell))
        *top = ask_host(th, *top, method);
    if (*top && !qp_method_is_registered(all, cell) && qp_method_miss(all, cell))
        qp_count(&qp_run.space, QP_D_unknown_method);
    return cell;
}

/* Whose callee the next call is: coverage alone has no paths, each method is the root's. */
static qp_cell caller_of(const qprof_thread *th, const qprof_frame *top)
{
    uint32_t without_paths = QP_COLLECT_COVERAGE | QP_COLLECT_ONCE;
    return qp_run_head()->collect & ~without_paths ? top->node : qp_record_of(th)->root;
}

/* The call path of a callee; 0: fold it into its caller's. NULL in *top: the event is off. */
static qp_cell callee_of(qprof_thread *th, qprof_frame **top, uintptr_t method)
{
    qp_cell parent = caller_of(th, *top);
    if (parent == (*top)->node &&
        (((*top)->flags & QPROF_FRAME_FOLDED) || qp_tree_is_overflow(th, parent))) {
        qp_count(&qp_run.space, QP_D_tree_overflow);
        return ((*top)->flags & QPROF_FRAME_FOLDED) ? 0 : parent;
    }
    bool is_anonymous = qp_method_is_nameless(method);
    uint64_t key = is_anonymous ? 0 : method;
    if (is_anonymous)
        qp_count(&qp_run.space, QP_D_bad_method_id);
    qp_cell cell = qp_tree_find(th, parent, key);
    if (cell)
        return cell;
    qp_cell record = method_of(th, top, method);
    if (!*top)
        return 0;
    parent = caller_of(th, *top); /* the callback may have moved the stack, or called it */
    cell = qp_tree_find(th, parent, key);
    if (!cell)
        cell = qp_tree_add(th, parent, key, record);
    if (!cell || qp_tree_is_overflow(th, cell))
        qp_count(&qp_run.space, QP_D_tree_overflow);
    return cell;
}

/* Count the call where it belongs. */
static void count_call(qprof_thread *th, qprof_frame *f, bool is_folded)
{
    qprof_node *n = qp_node_at(th, f->node);
    if (!is_folded && !has_hook(th, QP_HOOK_STOPPED)) {
        QPROF_ADD(n->n_calls, 1);
        return;
    }
    qp_node_more *more = is_folded ? NULL : qp_tree_more(th, f->node);
    if (more)
        qp_bump(&more->n_skips, 1);
    else
        qp_bump(&qp_record_of(th)->n_folded, 1);
}

/* The smallest and the largest id among the last stored frames: while frames above them are only
 * counted they do not change. */
static void note_range(qprof_thread *th, qprof_frame *top)
{
    qp_stack_cursor c = qp_stack_from(th, top);
    uint64_t depth = qp_stack_depth(th, top);
    th->deep_low = UINT64_MAX;
    th->deep_high = 0;
    for (uint64_t n = 0; n < depth && n < SEARCH_MAX; n++, qp_stack_down(th, &c)) {
        th->deep_low = c.f->stack_id < th->deep_low ? c.f->stack_id : th->deep_low;
        th->deep_high = c.f->stack_id > th->deep_high ? c.f->stack_id : th->deep_high;
    }
}

static void count_deep(qprof_thread *th, qprof_frame *top)
{
    if (!th->pulse->n_deep)
        note_range(th, top);
    QPROF_ADD(th->pulse->n_deep, 1);
    qp_bump(&qp_record_of(th)->n_deep_total, 1);
    qp_fetch_or(&th->gate, QP_HOOK_DEEP);
    qp_count(&qp_run.space, QP_D_depth_overflow);
}

static void note_zero(qprof_thread *th, uintptr_t id)
{
    if (id)
        return;
    qp_count(&qp_run.space, QP_D_entry_zero_stack_id);
    qp_fetch_or(&th->gate, QP_HOOK_ZERO);
}

static void start_frame(qprof_thread *th, qprof_frame *top, qprof_frame *f)
{
    uint32_t hooks = QPROF_LOAD(th->gate);
    QPROF_STORE(f->start, 0);
    if (hooks & QPROF_HOOK_EXACT) {
        uint64_t now = qp_charge_now(th);
        qp_charge(th, top, now);
        QPROF_STORE(f->start, now);
    } else if ((hooks & QPROF_HOOK_ADAPTIVE) && !(hooks & QP_HOOK_STOPPED)) {
        qprof_node *n = qp_node_at(th, f->node);
        if (qprof_entry_is_timed(th, hooks, n))
            qprof_entry_charge(th, QPROF_HOOK_ADAPTIVE, f, n, qp_charge_now(th));
    }
}

/* Ask the host for the methods of sampled paths that it has not described: with samples alone it is
 * not asked at each first call. NULL in *top: the event is off. */
static void ask_for_sampled(qprof_thread *th, qprof_frame **top)
{
    for (qp_cell path = qp_samples_path(th, *top); path && *top;) {
        const qprof_node *n = qp_node_at(th, path);
        path = n->parent;
        if (n->method && n->method_id && !qp_method_is_registered(&qp_run.methods, n->method) &&
            qp_method_miss(&qp_run.methods, n->method))
            *top = ask_host(th, *top, (uintptr_t)n->method_id);
    }
}

/* A frame above the top, which moves along when that makes a new chunk necessary. NULL: the call
 * is only counted, and the event over. */
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

/* Samples alone: the path is looked up when it is sampled. */
static void enter_stack(qprof_thread *th, qprof_frame *top, uintptr_t method, uintptr_t id)
{
    if (QP_UNLIKELY(qp_load(&qp_run.has_unknown)))
        ask_for_sampled(th, &top);
    qprof_frame *f = top ? frame_above(th, &top) : NULL;
    if (!f)
        return;
    QPROF_STORE(f->stack_id, (uint64_t)id);
    QPROF_STORE(f->method_id, (uint64_t)method);
    QPROF_STORE(f->node, 0);
    QPROF_STORE(f->flags, id ? 0 : QPROF_FRAME_ZERO);
    note_zero(th, id);
    qp_event_end(th, f);
}

static void enter(qprof_thread *th, uintptr_t method, uintptr_t id)
{
    qprof_frame *top = qp_event_begin(th);
    if (!top) {
        if (qp_is_open(th))
            qp_bump(&qp_record_of(th)->n_dropped, 1);
        return;
    }
    qp_store(&qp_run.has_entries, true);
    if (has_hook(th, QPROF_HOOK_STACK)) {
        enter_stack(th, top, method, id);
        return;
    }
    qp_cell callee = has_hook(th, QP_HOOK_DEEP) ? 0 : callee_of(th, &top, method);
    qprof_frame *f = top ? frame_above(th, &top) : NULL;
    if (!f)
        return;
    uint32_t flags = (callee ? 0 : QPROF_FRAME_FOLDED) |
                     (has_hook(th, QP_HOOK_STOPPED) ? QPROF_FRAME_SKIP : 0) |
                     (id ? 0 : QPROF_FRAME_ZERO);
    QPROF_STORE(f->stack_id, (uint64_t)id);
    QPROF_STORE(f->own, 0);
    QPROF_STORE(f->node, callee ? callee : top->node);
    QPROF_STORE(f->flags, flags);
    note_zero(th, id);
    count_call(th, f, !callee);
    if (callee && !qp_tree_is_overflow(th, callee))
        QPROF_STORE(qp_node_at(th, top->node)->last, callee);
    start_frame(th, top, f);
    qp_event_end(th, f);
}

/* Is nothing but the stack kept, and nothing out of the ordinary? */
static bool is_stack_only(const qprof_thread *th)
{
    return QPROF_LOAD(th->gate) == (QPROF_GATE_OPEN | QPROF_HOOK_STACK);
}

void qprof_cold_entry(qprof_thread *th, uintptr_t method, uintptr_t id)
{
    if (is_stack_only(th) && qprof_push(th, method, id))
        return;
    int host_errno = errno;
    enter(th, method, id);
    errno = host_errno;
}

void qprof_cold_entry_time(qprof_thread *th, qprof_frame *f)
{
    int host_errno = errno;
    qprof_entry_charge(th, QPROF_LOAD(th->gate), f, qp_node_at(th, f->node), qp_charge_now(th));
    qp_event_end(th, f);
    errno = host_errno;
}

/* ---- exit ---------------------------------------------------------------------------------- */

static void pop_to(qprof_thread *th, qprof_frame **top, uint64_t depth)
{
    uint64_t now = qp_charge_now(th);
    qp_charge(th, *top, now);
    for (uint64_t left = qp_stack_depth(th, *top); left > depth; left--) {
        qp_charge_settle(th, *top, now);
        *top = qp_stack_below(th, *top);
    }
    QPROF_STORE(th->pulse->n_deep, 0);
    qp_fetch_and(&th->gate, ~(uint32_t)(depth ? QP_HOOK_DEEP : QP_HOOK_DEEP | QP_HOOK_ZERO));
}

/* Pop n frames, the counted ones first. */
static void pop(qprof_thread *th, qprof_frame **top, uint64_t stored)
{
    uint64_t depth = qp_stack_depth(th, *top);
    uint64_t n = stored + th->pulse->n_deep;
    if (!n)
        return;
    pop_to(th, top, depth - stored);
    QPROF_ADD(th->pulse->n_exits, 1);
    QPROF_ADD(th->pulse->n_unwound, n - 1);
}

/* How many stored frames stand above the innermost one with this id; -1: none has it. */
static int64_t frames_above(qprof_thread *th, qprof_frame *top, uintptr_t id, uint64_t max)
{
    qp_stack_cursor c = qp_stack_from(th, top);
    uint64_t depth = qp_stack_depth(th, top);
    for (uint64_t n = 0; n < depth; n++) {
        if (n == max) {
            qp_count(&qp_run.space, QP_D_exit_search_limited);
            return -1;
        }
        if (c.f->stack_id == id && !(c.f->flags & QPROF_FRAME_ZERO))
            return (int64_t)n;
        qp_stack_down(th, &c);
    }
    return -1;
}

/* How far to look for an id among the stored frames. Ids are compared for equality only; but where
 * those of the last frames rise or fall, an id on their other side is that of a frame further down
 * (an error that is caught there), and one on this side that of a counted frame. A search in vain
 * costs the whole depth: there are few. */
static uint64_t search_limit(qprof_thread *th, const qprof_frame *top, uint64_t id)
{
    if (id >= th->deep_low && id <= th->deep_high)
        return SEARCH_MAX;
    bool rises = top->stack_id == th->deep_high, falls = top->stack_id == th->deep_low;
    if ((rises && !falls && id > th->deep_high) || (falls && !rises && id < th->deep_low))
        return 0;
    return th->n_searches < SEARCHES_MAX ? UINT64_MAX : 0;
}

static void leave_deep(qprof_thread *th, qprof_frame **top, uintptr_t id)
{
    uint64_t limit = search_limit(th, *top, id);
    int64_t above = limit ? frames_above(th, *top, id, limit) : -1;
    if (above >= 0) {
        pop(th, top, (uint64_t)above);
        return;
    }
    th->n_searches += limit > SEARCH_MAX;
    QPROF_ADD(th->pulse->n_exits, 1);
    QPROF_STORE(th->pulse->n_deep, th->pulse->n_deep - 1);
    if (!th->pulse->n_deep)
        qp_fetch_and(&th->gate, ~(uint32_t)QP_HOOK_DEEP);
}

static void leave(qprof_thread *th, qprof_frame **top, uintptr_t id)
{
    uint64_t depth = qp_stack_depth(th, *top);
    bool ignores = qp_run.options.number[QP_OPT_unknown_exit] == 1;
    if (!id) {
        pop(th, top, depth);
    } else if (th->pulse->n_deep) {
        leave_deep(th, top, id);
    } else if (!depth) {
        qp_count(&qp_run.space, QP_D_exit_empty_stack);
    } else {
        int64_t above = frames_above(th, *top, id, ignores ? SEARCH_MAX : UINT64_MAX);
        if (above >= 0) {
            pop(th, top, (uint64_t)above);
        } else if (depth == 1) {
            pop(th, top, 1);
        } else {
            qp_count(&qp_run.space, QP_D_exit_unknown_id);
            if (!ignores)
                pop(th, top, depth);
        }
    }
}

void qprof_cold_exit(qprof_thread *th, uintptr_t id)
{
    if (is_stack_only(th) && qprof_pop(th, id))
        return;
    int host_errno = errno;
    qprof_frame *top = qp_event_begin(th);
    if (top) {
        leave(th, &top, id);
        qp_event_end(th, top);
    }
    errno = host_errno;
}

uint64_t qp_event_unroll(qprof_thread *th, qprof_frame **top)
{
    uint64_t n = qp_stack_depth(th, *top) + th->pulse->n_deep;
    pop_to(th, top, 0);
    return n;
}
