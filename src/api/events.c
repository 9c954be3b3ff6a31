/* events.c: the exported event calls. The first four are the hot ones. */
#include "api/door.h"
#include "record/blocks.h"
#include "record/charge.h"
#include "record/stack.h"
#include "record/trace_xbase.h"

void qprof_record_fn_entry(qprof_MethodID method, qprof_StackID id)
{
    qprof_thread *th = qp_here.plain;
    uint32_t gate = QPROF_LOAD(th->gate);
    if (QP_UNLIKELY(!(gate & QPROF_GATE_OPEN))) {
        if (!qp_load(&qp_gate_plain) || !(th = qp_door_plain()))
            return;
        if (!(gate = QPROF_LOAD(th->gate))) /* the run has ended meanwhile */
            return;
    }
    qprof_open_entry(th, gate, method, id);
}

void qprof_record_fn_exit(qprof_StackID id)
{
    qprof_thread *th = qp_here.plain;
    uint32_t gate = QPROF_LOAD(th->gate);
    if (QP_UNLIKELY(!(gate & QPROF_GATE_OPEN))) {
        if (!qp_load(&qp_gate_plain) || !(th = qp_door_plain()))
            return;
        if (!(gate = QPROF_LOAD(th->gate))) /* the run has ended meanwhile */
            return;
    }
    qprof_open_exit(th, gate, id);
}

/* The virtual thread that this carrier drove last, held; NULL: ask the door. */
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

void qprof_record_fn_entry_vt(qprof_MethodID method, qprof_StackID id, VthreadID vt)
{
    qprof_thread *th = same_vt(vt);
    if (QP_UNLIKELY(!th)) {
        if (!qp_load(&qp_gate_vt) || !(th = qp_door_vt(vt)))
            return;
    }
    qprof_entry(th, method, id); /* its gate may have been closed meanwhile */
    qp_thread_drop();
}

void qprof_record_fn_exit_vt(qprof_StackID id, VthreadID vt)
{
    qprof_thread *th = same_vt(vt);
    if (QP_UNLIKELY(!th)) {
        if (!qp_load(&qp_gate_vt) || !(th = qp_door_vt(vt)))
            return;
    }
    qprof_exit(th, id);
    qp_thread_drop();
}

/* ---- events on the frame on top ------------------------------------------------------------ */
/* Those that cost time are the profiler's: in libcprof they have no effect. */

typedef enum { UNITS, BLOCK_COUNT, BLOCK_MARK } detail_kind;

typedef struct {
    detail_kind kind;
    int block;
    uint64_t n;
} detail;

/* Its object is the method on top. */
static void watch_detail(qprof_thread *th, const qprof_frame *top, uint32_t event)
{
    qp_cell method = top->node && qp_stack_depth(th, top) ? qp_event_method(th, top) : 0;
    const qp_method *m = method ? qp_at(&qp_run.space, method) : NULL;
    qp_watch_settle();
    qp_watch_raise(th, event, m ? (uintptr_t)m->id : 0, NULL);
}

static void record_detail(qprof_thread *th, detail d)
{
    int host_errno = errno;
    qprof_frame *top = qp_event_begin(th);
    if (!top)
        return;
    bool is_in_call = !top->node || qp_stack_depth(th, top);
    if (!top->node)
        ; /* samples alone: nothing of a call is kept */
    else if (!is_in_call)
        qp_count(&qp_run.space, d.kind == UNITS ? QP_D_counts_no_frame : QP_D_bb_no_frame);
    else if (d.kind == UNITS)
        qp_blocks_units(th, top, d.n);
    else if (d.kind == BLOCK_COUNT)
        qp_blocks_count(th, top, d.block, d.n);
    else
        qp_blocks_mark(th, top, d.block);
    bool is_traced = !QP_PRODUCT_IS_COVERAGE && (QPROF_LOAD(th->gate) & QP_HOOK_TRACE);
    if (QP_UNLIKELY(is_traced) && d.kind != UNITS && qp_trace_xbase_wants_lines())
        qp_trace_xbase_block(th, top, d.block);
    qp_event_end(th, top);
    if (QP_UNLIKELY(qp_load(&qp_watch_on)) && is_in_call)
        watch_detail(th, top, d.kind == UNITS ? QP_EVENT_COUNTS : QP_EVENT_BLOCK);
    errno = host_errno;
}

static void record_detail_plain(detail d)
{
    qprof_thread *th = qp_door_plain();
    if (th)
        record_detail(th, d);
}

static void record_detail_vt(detail d, VthreadID vt)
{
    qprof_thread *th = qp_door_vt(vt);
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

void qprof_record_bb_counts(int bb_num, qprof_Counts n)
{
    qprof_thread *th = qp_door_last();
    if (!th)
        return;
    record_detail(th, (detail){BLOCK_COUNT, bb_num, n});
    qp_thread_drop();
}

void qprof_record_bb_counts_vt(int bb_num, qprof_Counts n, VthreadID vt)
{
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
