/* open_methods.h: how often each method is open on a thread: a table, at most half full. */
#ifndef QP_REPLAY_CALLS_OPEN_METHODS_H
#define QP_REPLAY_CALLS_OPEN_METHODS_H

#include "base/atomic.h"
#include "replay/calls/calls.h"

struct qp_open_method {
    uint32_t method;
    uint32_t n; /* 0: the slot is free */
};

/* Room for one more. @return false: no memory, and th->failed */
bool qp_open_grow(qp_span_thread *th);
/* Close the gap of a slot that became free: entries after it that collided move up. */
void qp_open_close(qp_span_thread *th, uint32_t hole);

static inline uint32_t qp_open_home(const qp_span_thread *th, uint32_t method)
{
    return (method * 0x9E3779B1u) >> th->open_shift;
}

/* Of a table that is there: the method's slot, or a free one. */
static inline uint32_t qp_open_slot(const qp_span_thread *th, uint32_t method)
{
    uint32_t i = qp_open_home(th, method);
    while (th->open[i].n && th->open[i].method != method)
        i = (i + 1) & th->open_mask;
    return i;
}

/* @return QP_SPAN_OUTERMOST, or 0 */
static inline uint32_t qp_open_begin(qp_span_thread *th, uint32_t method)
{
    if (QP_UNLIKELY(2 * (uint64_t)th->n_open >= th->open_mask) && !qp_open_grow(th))
        return 0;
    struct qp_open_method *s = &th->open[qp_open_slot(th, method)];
    if (s->n++)
        return 0;
    s->method = method;
    th->n_open++;
    return QP_SPAN_OUTERMOST;
}

static inline void qp_open_end(qp_span_thread *th, uint32_t method)
{
    uint32_t i = qp_open_slot(th, method);
    if (--th->open[i].n)
        return;
    th->n_open--;
    if (QP_UNLIKELY(th->open[(i + 1) & th->open_mask].n))
        qp_open_close(th, i);
}

static inline uint32_t qp_open_count(const qp_span_thread *th, uint32_t method)
{
    return th->open ? th->open[qp_open_slot(th, method)].n : 0;
}

#endif
