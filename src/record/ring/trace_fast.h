/* trace_fast.h: the usual entry and exit of a traced thread: what include/qprof/inline.h does,
 * and one record. Both headers are changed together. */
#ifndef QP_RECORD_RING_TRACE_FAST_H
#define QP_RECORD_RING_TRACE_FAST_H

#include "record/clock/clock.h"
#include "record/ring/ring.h"

/* Fill the next slot, and publish it. Stores are released in their order: a reader of a slot
 * that is being reused finds a head that shows it. There must be room. */
static inline void qp_trace_put(const qp_trace_lane *lane, qp_trace_op op, uint64_t ticks,
                                uint32_t a, uint32_t b)
{
    uint64_t head = qp_load(&lane->ring->head);
    qp_trace_record *r = &qp_trace_ring_records(lane->ring)[head & lane->mask];
    qp_publish(&r->word, (uint64_t)op << QP_TRACE_OP_SHIFT | (ticks & QP_TRACE_TICKS));
    qp_publish(&r->a, a);
    qp_publish(&r->b, b);
    qp_publish(&lane->ring->head, head + 1);
}

/* Store a frame's node, and that it is traced, in one store if possible. */
static inline void qp_trace_begin_frame(qprof_frame *f, qp_cell node)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    qp_store((qprof_word *)(void *)&f->node, (uint64_t)QP_FRAME_TRACED << 32 | node);
#else
    qp_store(&f->node, node);
    qp_store(&f->flags, QP_FRAME_TRACED);
#endif
}

static inline bool qp_trace_is_usual(const qprof_thread *th, uint32_t gate,
                                     const qp_trace_lane *lane)
{
    return (gate & ~(uint32_t)QPROF_HOOK_EXACT) ==
               (QPROF_GATE_OPEN | QPROF_HOOK_TSC | QP_HOOK_TRACE) &&
           qp_load(&lane->th) == th && qp_load(&lane->ring->head) != lane->limit;
}

/* @return false: not the usual case, nothing was changed */
static inline bool qp_trace_fast_entry(qprof_thread *th, uintptr_t method, uintptr_t id)
{
    uint32_t gate = QPROF_LOAD(th->gate), top = QPROF_LOAD(th->pulse->top);
    const qp_trace_lane *lane = qp_here.lane;
    if (QP_UNLIKELY(!qp_trace_is_usual(th, gate, lane) || top - th->floor >= th->span ||
                    !method || !id))
        return false;
    qprof_frame *f = QPROF_CELL(th, qprof_frame, top) + 1;
    qprof_node *p = QPROF_CELL(th, qprof_node, f[-1].node);
    uint32_t cell = QPROF_LOAD(p->last);
    qprof_node *n = QPROF_CELL(th, qprof_node, cell);
    if (n->method_id != method) {
        cell = QPROF_LOAD(n->next);
        n = QPROF_CELL(th, qprof_node, cell);
        if (QP_UNLIKELY(n->method_id != method))
            return false;
        QPROF_STORE(p->last, cell);
    }
    QPROF_STORE(th->pulse->top, top | QPROF_TOP_BUSY);
    QPROF_FENCE();
    QPROF_STORE(f->stack_id, (uint64_t)id);
    qp_trace_begin_frame(f, cell);
    QPROF_STORE(f->start, 0);
    QPROF_STORE(f->self, 0);
    QPROF_ADD(n->n_calls, 1);
    uint64_t raw = qprof_ticks(); /* read last ... */
    if (gate & QPROF_HOOK_EXACT) {
        uint64_t now = raw - th->pulse->offset;
        if (QP_UNLIKELY((int64_t)(now - th->pulse->last) < 0))
            now = qp_clock_now(th);
        qprof_entry_charge(th, QPROF_HOOK_EXACT, f, n, now);
    }
    qp_trace_put(lane, QP_TRACE_ENTRY, raw, cell, n->method);
    QPROF_FENCE();
    QPROF_END_ENTRY(th->pulse->top);
    return true;
}

/* The same. */
static inline bool qp_trace_fast_exit(qprof_thread *th, uintptr_t id)
{
    qprof_pulse *pulse = th->pulse;
    uint32_t gate = QPROF_LOAD(th->gate), top = QPROF_LOAD(pulse->top);
    const qp_trace_lane *lane = qp_here.lane;
    if (QP_UNLIKELY(!qp_trace_is_usual(th, gate, lane) || top - th->floor - 1 >= th->span))
        return false;
    qprof_frame *f = QPROF_CELL(th, qprof_frame, top);
    if (QP_UNLIKELY(f[-1].stack_id != id || f->stack_id == id || f->flags != QP_FRAME_TRACED))
        return false;
    uint64_t raw = qprof_ticks(); /* ... read first */
    uint64_t now = raw - pulse->offset;
    if (QP_UNLIKELY((gate & QPROF_HOOK_EXACT) && (int64_t)(now - pulse->last) < 0))
        return false;
    QPROF_STORE(pulse->top, top | QPROF_TOP_BUSY);
    QPROF_FENCE();
    if (gate & QPROF_HOOK_EXACT)
        qprof_exit_charge(th, QPROF_HOOK_EXACT, f, now);
    qp_trace_put(lane, QP_TRACE_EXIT, raw, 1, f[-1].node);
    QPROF_ADD(pulse->n_exits, 1);
    QPROF_FENCE();
    QPROF_STORE(pulse->top, top - 1);
    return true;
}

#endif
