/* record_calls.c: the exported functions that record events. The first four are on the event
 * path. */
/* The event path is straight: what it jumps to is rare and need not be aligned. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-align-jumps", "no-align-labels")
#endif
#include "api/guard.h"
#include "record/clock/clock.h"
#include "record/stream/stream.h"
#include "record/tree/tree.h"

/* The inline path becomes part of the function. Where all files are one, the whole library would. */
#if defined(QPROF_SINGLE_FILE)
#define IN_LINE
#else
#define IN_LINE __attribute__((flatten))
#endif

/* The thread of a call outside of what is known to be recorded. @return NULL: it is not recorded */
static inline qprof_thread *unknown_thread(void)
{
    qprof_thread *th = qp_guard_plain();
    return th && QPROF_LOAD(th->gate) ? th : NULL; /* closed: the run has ended meanwhile */
}

static QPROF_APART void enter_unknown(uintptr_t method, uintptr_t id)
{
    qprof_thread *th = unknown_thread();
    if (th)
        qprof_cold_entry(th, method, id);
}

static QPROF_APART void exit_unknown(uintptr_t id)
{
    qprof_thread *th = unknown_thread();
    if (th)
        qprof_cold_exit(th, id);
}

IN_LINE void qprof_record_fn_entry(qprof_MethodID method, qprof_StackID id)
{
    qprof_thread *th = qp_here.plain;
    uint32_t gate = QPROF_LOAD(th->gate);
    if (QP_LIKELY(gate & QPROF_GATE_OPEN))
        qprof_open_entry(th, gate, method, id);
    else if (qp_load(&qp_gate_plain))
        enter_unknown(method, id);
}

IN_LINE void qprof_record_fn_exit(qprof_StackID id)
{
    qprof_thread *th = qp_here.plain;
    uint32_t gate = QPROF_LOAD(th->gate);
    if (QP_LIKELY(gate & QPROF_GATE_OPEN))
        qprof_open_exit(th, gate, id);
    else if (qp_load(&qp_gate_plain))
        exit_unknown(id);
}

/* The virtual thread that this OS thread drove last, held; NULL: it is another: ask
 * qp_guard_vt(). */
static inline qprof_thread *same_vt(VthreadID vt)
{
    qprof_thread *th = qp_here.th;
    if (QP_UNLIKELY(qp_here.vt != vt || !qp_is_open(th)))
        return NULL;
    if (qp_thread_hold(th))
        return th;
    qp_thread_drop();
    return NULL;
}

IN_LINE void qprof_record_fn_entry_vt(qprof_MethodID method, qprof_StackID id, VthreadID vt)
{
    qprof_thread *th = same_vt(vt);
    if (QP_UNLIKELY(!th)) {
        if (!qp_load(&qp_gate_vt) || !(th = qp_guard_vt(vt)))
            return;
    }
    qprof_entry(th, method, id); /* its gate may have been closed meanwhile */
    qp_thread_drop();
}

IN_LINE void qprof_record_fn_exit_vt(qprof_StackID id, VthreadID vt)
{
    qprof_thread *th = same_vt(vt);
    if (QP_UNLIKELY(!th)) {
        if (!qp_load(&qp_gate_vt) || !(th = qp_guard_vt(vt)))
            return;
    }
    qprof_exit(th, id);
    qp_thread_drop();
}

/* ---- events on the frame on top ---------------------------------------------------------- */
/* In libcprof units and block times have no effect. */

typedef enum { UNITS, BLOCK_COUNT, BLOCK_MARK } detail_kind;

typedef struct {
    detail_kind kind;
    int block;
    uint64_t n;
} detail;

static void watch_detail(qprof_thread *th, const qprof_frame *top, uint32_t event)
{
    bool has_method = top->node && qp_stack_has_call(th, top);
    uint64_t id = has_method ? qp_frame_method_id(th, top) : 0;
    qp_event_triggers_settle();
    qp_event_triggers_raise(th, event, (uintptr_t)id, NULL);
}

/* Blocks are of the host's frames, and not of requests that one of them has begun. @param kept  the
 * path on top, which the root frame gets again where tokens are used */
static qprof_frame *host_top(qprof_thread *th, qprof_frame *top, const detail *d,
                             uint64_t *kept)
{
    *kept = top->node;
    if (d->kind == UNITS || !qp_method_is_endpoint(qp_request_method(th, top)))
        return top;
    if (d->kind == BLOCK_MARK) /* the time so far is the request's */
        qp_clock(th, top, qp_clock_now(th));
    return qp_request_below(th, top);
}

static void record_detail(qprof_thread *th, detail d)
{
    int host_errno = errno;
    uint64_t kept;
    qprof_frame *const above = qp_event_begin(th);
    if (!above)
        return;
    qprof_frame *const top = host_top(th, above, &d, &kept);
    bool is_in_call = !top->node || qp_stack_has_call(th, top);
    if (!top->node)
        ; /* only samples: nothing of a call is kept */
    else if (!is_in_call)
        qp_count(&qp_recorder.space, d.kind == UNITS ? QP_D_counts_no_frame : QP_D_bb_no_frame);
    else if (d.kind == UNITS)
        qp_blocks_units(th, top, d.n);
    else if (d.kind == BLOCK_COUNT)
        qp_blocks_count(th, top, d.block, d.n);
    else
        qp_block_mark(th, top, d.block);
    bool is_traced = !QP_PRODUCT_IS_COVERAGE && (QPROF_LOAD(th->gate) & QP_HOOK_TRACE);
    if (QP_UNLIKELY(is_traced) && d.kind != UNITS && qp_trace_xbase_wants_lines())
        qp_trace_xbase_block(th, top, d.block);
    if (qp_own_of(th)->has_token)
        QPROF_STORE(above->node, kept);
    qp_event_end(th, above);
    if (QP_UNLIKELY(qp_load(&qp_is_triggering)) && is_in_call)
        watch_detail(th, top, d.kind == UNITS ? QP_EVENT_COUNTS : QP_EVENT_BLOCK);
    errno = host_errno;
}

static void record_detail_plain(detail d)
{
    qprof_thread *th = qp_guard_plain();
    if (th)
        record_detail(th, d);
}

static void record_detail_vt(detail d, VthreadID vt)
{
    qprof_thread *th = qp_guard_vt(vt);
    if (!th)
        return;
    record_detail(th, d);
    qp_thread_drop();
}

void qprof_record_counts(qprof_Counts n)
{
    if (!QP_PRODUCT_IS_COVERAGE)
        record_detail_plain((detail){UNITS, 0, n});
}

void qprof_record_counts_vt(qprof_Counts n, VthreadID vt)
{
    if (!QP_PRODUCT_IS_COVERAGE)
        record_detail_vt((detail){UNITS, 0, n}, vt);
}

static __attribute__((noinline)) void count_block(int block, uint64_t n)
{
    qprof_thread *th = qp_guard_last();
    if (!th)
        return;
    if (th == qp_here.plain || !qp_blocks_count_usual(th, block, n))
        record_detail(th, (detail){BLOCK_COUNT, block, n});
    qp_thread_drop();
}

void qprof_record_bb_counts(int bb_num, qprof_Counts n)
{
    if (!qp_blocks_count_usual(qp_here.plain, bb_num, n))
        count_block(bb_num, n);
}

void qprof_record_bb_counts_vt(int bb_num, qprof_Counts n, VthreadID vt)
{
    qprof_thread *th = same_vt(vt);
    bool is_counted = th && qp_blocks_count_usual(th, bb_num, n);
    if (th)
        qp_thread_drop();
    if (!is_counted)
        record_detail_vt((detail){BLOCK_COUNT, bb_num, n}, vt);
}

void qprof_record_bb_time(int bb_num)
{
    if (!QP_PRODUCT_IS_COVERAGE)
        record_detail_plain((detail){BLOCK_MARK, bb_num, 0});
}

void qprof_record_bb_time_vt(int bb_num, VthreadID vt)
{
    if (!QP_PRODUCT_IS_COVERAGE)
        record_detail_vt((detail){BLOCK_MARK, bb_num, 0}, vt);
}

/* ---- what the host believes -------------------------------------------------------------- */

static void check_depth(qprof_thread *th, uint64_t n)
{
    int host_errno = errno;
    qprof_frame *top = qp_event_look(th);
    if (!top)
        return;
    uint64_t depth = qp_host_depth(th, top);
    if (depth != n) {
        qp_finding *f = &qp_recorder_head()->findings[QP_HOST_wrong_depth];
        if (!qp_load(&f->count)) {
            qp_store(&f->wanted, n);
            qp_store(&f->found, depth);
        }
        qp_host_note(QP_HOST_wrong_depth, th, top->node ? qp_frame_node(th, top)->method : 0, 0,
                     depth);
    }
    qp_event_end(th, top);
    errno = host_errno;
}

void qprof_check_depth_of(qprof_thread *th, unsigned n)
{
    if (th && qp_is_open(th))
        check_depth(th, n);
}

void qprof_check_depth(unsigned n)
{
    qprof_thread *th = qp_guard_last();
    if (!th)
        return;
    check_depth(th, n);
    qp_thread_drop();
}

void qprof_check_depth_vt(unsigned n, VthreadID vt)
{
    qprof_thread *th = qp_guard_vt(vt);
    if (!th)
        return;
    check_depth(th, n);
    qp_thread_drop();
}
