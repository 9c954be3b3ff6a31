/* spans_parts.h: what the halves of spans share: spans_state.c keeps threads, carriers and open
 * methods, spans.c changes them. */
#ifndef QP_REPLAY_SPANS_PARTS_H
#define QP_REPLAY_SPANS_PARTS_H

#include "base/atomic.h"
#include "replay/spans.h"

/* What a carrier does, and a record whose texts or value are still to come. */
typedef struct {
    qp_span_thread *thread; /* NULL: none */
    qp_trace_record begun;  /* VALUE or COUNTER; op 0: none */
    uint64_t n_missing;     /* bytes of text */
    qp_buf text;            /* char */
} qp_span_carrier;

/* NULL: no memory. Until the next call. */
qp_span_carrier *qp_span_carrier_at(qp_spans *x, uint32_t carrier);
qp_span_thread *qp_span_thread_of(qp_spans *x, uint32_t number);

/* How often a method is open on a thread: a table of those that are, at most half full. */
struct qp_open_method {
    uint32_t method;
    uint32_t n; /* 0: the slot is free */
};

/* Room for one more. @return false: no memory, and th->failed */
bool qp_open_grow(qp_span_thread *th);
/* A slot is free now: what stands behind it for its sake moves up. */
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

/* Take a record that belongs to the one before it, or that others belong to.
 * @return true: it has been told, or will be */
bool qp_span_collect(qp_spans *x, qp_span_carrier *c, qp_trace_op op, const qp_trace_record *r);
/* Tell whoever wants to know. */
void qp_span_tell(qp_spans *x, qp_span_carrier *c, qp_span_thread *th, qp_trace_op op,
                  const qp_trace_record *r);

#endif
