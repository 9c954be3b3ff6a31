/* trace_fast.h: the usual entry and exit of a traced thread, and of one that leaves steps: what
 * include/qprof/inline.h does, and one record or step. Both headers are changed together. */
#ifndef QP_RECORD_RING_TRACE_FAST_H
#define QP_RECORD_RING_TRACE_FAST_H

#include "record/clock/clock.h"
#include "record/ring/ring.h"

typedef uint64_t __attribute__((may_alias)) qp_trace_word;

/* Fill the next slot, and publish it. Stores are released in their order: a reader of a slot
 * that is being reused finds a head that shows it. There must be room. */
static inline void qp_trace_put(const qp_trace_lane *lane, qp_trace_op op, uint64_t ticks,
                                uint32_t a, uint32_t b)
{
    uint64_t head = qp_load(&lane->ring->head);
    qp_trace_record *r = &qp_trace_ring_records(lane->ring)[head & lane->mask];
    qp_publish(&r->word, (uint64_t)op << QP_TRACE_OP_SHIFT | (ticks & QP_TRACE_TICKS));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    qp_publish((qp_trace_word *)(void *)&r->a, (uint64_t)b << 32 | a);
#else
    qp_publish(&r->a, a);
    qp_publish(&r->b, b);
#endif
    qp_publish(&lane->ring->head, head + 1);
}

static inline bool qp_trace_is_usual(uint32_t gate, const qprof_thread *th,
                                     const qp_trace_lane *lane)
{
    const uint32_t varies = QPROF_HOOK_EXACT | QPROF_HOOK_WAITS;
    return (gate & ~varies) == (QPROF_GATE_OPEN | QPROF_HOOK_TSC | QP_HOOK_TRACE) &&
           qp_load(&lane->th) == th && qp_load(&lane->ring->head) != lane->limit;
}

/* @return false: not the usual case, nothing was changed */
static inline bool qp_trace_fast_entry(qprof_thread *th, uintptr_t method, uintptr_t id)
{
    uint32_t gate = QPROF_LOAD(th->gate);
    const qp_trace_lane *lane = qp_here.lane;
    uint64_t raw = gate & QPROF_HOOK_WAITS ? qprof_ticks() : 0;
    if (QP_UNLIKELY(!qp_trace_is_usual(gate, th, lane)))
        return false;
    const qprof_place c = qprof_choose(th, method, id);
    if (QP_UNLIKELY(!c.at))
        return false;
    qprof_pulse *u = c.u;
    qprof_node *n = QPROF_AT(&c, qprof_node, c.at);
    qprof_frame *f = QPROF_AT(&c, qprof_frame, c.top) + 1;
    if (!(gate & QPROF_HOOK_WAITS))
        raw = qprof_ticks();
    uint64_t now = raw - u->offset;
    QPROF_STORE(u->top, c.top | QPROF_TOP_BUSY);
    QPROF_FENCE();
    if (QP_UNLIKELY(QPROF_LOAD(u->n_exits) != c.n_exits ||
                    ((gate & QPROF_HOOK_EXACT) && now - u->last >= QPROF_LONG))) {
        QPROF_STORE(u->top, c.top);
        return false;
    }
    QPROF_STORE(f->stack_id, (uint64_t)id);
    QPROF_STORE(f->node, c.at);
    QPROF_ADD(n->n_calls, 1);
    if (gate & QPROF_HOOK_EXACT) {
        QPROF_STORE(f->start, now);
        qprof_charge(u, QPROF_AT(&c, qprof_node, f[-1].node), now);
        QPROF_STORE(n->begun, n->self);
    }
    qp_trace_put(lane, QP_TRACE_ENTRY, raw, (qp_cell)(c.at >> 6), n->method);
    QPROF_FENCE();
    QPROF_PUBLISH(u->top, c.top + sizeof(qprof_frame));
    return true;
}

/* The same. */
static inline bool qp_trace_fast_exit(qprof_thread *th, uintptr_t id)
{
    uint32_t gate = QPROF_LOAD(th->gate);
    qprof_pulse *u = th->pulse;
    uint64_t top = QPROF_LOAD(u->top);
    const qp_trace_lane *lane = qp_here.lane;
    if (QP_UNLIKELY(!qp_trace_is_usual(gate, th, lane) || !qprof_ends_top(th, top, id)))
        return false;
    const qprof_frame *f = QPROF_AT(th, const qprof_frame, top);
    uint64_t raw = qprof_ticks(), now = raw - u->offset;
    if (QP_UNLIKELY((gate & QPROF_HOOK_EXACT) && now - u->last >= QPROF_LONG))
        return false;
    QPROF_STORE(u->top, top | QPROF_TOP_BUSY);
    QPROF_FENCE();
    if (gate & QPROF_HOOK_EXACT) {
        qprof_node *n = QPROF_AT(th, qprof_node, f->node);
        qprof_charge(u, n, now);
        qprof_settle(n);
    }
    qp_trace_put(lane, QP_TRACE_EXIT, raw, 1, (qp_cell)(f[-1].node >> 6));
    QPROF_ADD(u->n_exits, 1);
    QPROF_FENCE();
    QPROF_PUBLISH(u->top, top - sizeof(qprof_frame));
    return true;
}

/* ---- steps of a request: with exact times ------------------------------------------------ */

/* Is nothing but a step to be done besides what the inline path does? */
static inline bool qp_steps_are_usual(uint32_t gate, uint32_t more)
{
    return (gate & ~(uint32_t)QPROF_HOOK_WAITS) ==
           (QPROF_GATE_OPEN | QPROF_HOOK_TSC | QP_HOOK_STEPS | more);
}

/* Can the step be left now, and the time be charged in line? */
static inline bool qp_steps_fit(const qp_steps *s, uint64_t offset, uint64_t interval)
{
    return interval < QPROF_LONG && offset == s->offset && s->at != s->end;
}

static inline void qp_steps_put(qp_steps *s, uint64_t raw, uint64_t path)
{
    uint64_t *at = s->at;
    at[0] = raw;
    at[1] = path;
    s->at = at + 2;
}

/* @return QPROF_NO_TOKEN: not the usual case, nothing was changed */
static inline qprof_token qp_steps_fast_enter(qprof_thread *th, uint32_t gate,
                                              qprof_token caller, uintptr_t method)
{
    uint64_t raw = gate & QPROF_HOOK_WAITS ? qprof_ticks() : 0;
    qprof_pulse *u = th->pulse;
    char *base = th->base;
    qp_steps *s = qp_steps_of(th);
    uint64_t at = qprof_token_callee(u, base, caller, method);
    if (QP_UNLIKELY(!at))
        return QPROF_NO_TOKEN;
    qprof_node *n = (qprof_node *)(void *)(base + at);
    if (!(gate & QPROF_HOOK_WAITS))
        raw = qprof_ticks();
    uint64_t offset = u->offset, now = raw - offset;
    QPROF_STORE(u->top, caller | QPROF_TOP_BUSY);
    QPROF_FENCE();
    if (QP_UNLIKELY(!qp_steps_fit(s, offset, now - u->last))) {
        QPROF_STORE(u->top, caller);
        return QPROF_NO_TOKEN;
    }
    QPROF_ADD(n->n_calls, 1);
    qprof_charge(u, (qprof_node *)(void *)(base + (caller - QPROF_TOP_TOKEN)), now);
    QPROF_STORE(n->begun, n->self);
    qp_steps_put(s, raw, at);
    QPROF_FENCE();
    QPROF_PUBLISH(u->top, at | QPROF_TOP_TOKEN);
    return at | QPROF_TOP_TOKEN;
}

/* @return false: the same */
static inline bool qp_steps_fast_leave(qprof_thread *th, qprof_token token)
{
    uint64_t raw = qprof_ticks();
    qprof_pulse *u = th->pulse;
    char *base = th->base;
    qp_steps *s = qp_steps_of(th);
    uint64_t offset = u->offset, now = raw - offset;
    qprof_token caller = qprof_token_caller(u, base, token);
    if (QP_UNLIKELY(!caller || !qp_steps_fit(s, offset, now - u->last)))
        return false;
    qprof_node *n = (qprof_node *)(void *)(base + (token - QPROF_TOP_TOKEN));
    QPROF_STORE(u->top, token | QPROF_TOP_BUSY);
    QPROF_FENCE();
    qprof_charge(u, n, now);
    qprof_settle(n);
    qp_steps_put(s, raw, caller - QPROF_TOP_TOKEN);
    QPROF_FENCE();
    QPROF_PUBLISH(u->top, caller);
    return true;
}

#endif
