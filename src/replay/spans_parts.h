/* spans_parts.h: what the halves of spans share: spans_state.c keeps threads, carriers and open
 * methods, spans.c changes them. */
#ifndef QP_REPLAY_SPANS_PARTS_H
#define QP_REPLAY_SPANS_PARTS_H

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

/* How often a method is open on a thread. */
struct qp_open_method {
    uint32_t key; /* method + 1; 0: free */
    uint32_t n;   /* 0: free for others once the table grows */
};

static inline uint32_t qp_open_slots(const qp_span_thread *th)
{
    return th->open ? 1u << (32 - th->open_shift) : 0;
}

/* Of a table that is there: the method's slot, or a free one. */
static inline struct qp_open_method *qp_open_slot(const qp_span_thread *th, uint32_t method)
{
    uint32_t i = (method * 0x9E3779B1u) >> th->open_shift, mask = qp_open_slots(th) - 1;
    while (th->open[i].key && th->open[i].key != method + 1)
        i = (i + 1) & mask;
    return &th->open[i];
}

/* A slot for a method that has none. @return NULL: no memory, and th->failed */
struct qp_open_method *qp_open_add(qp_span_thread *th, uint32_t method);

/* @return QP_SPAN_OUTERMOST, or 0 */
static inline uint32_t qp_open_begin(qp_span_thread *th, uint32_t method)
{
    struct qp_open_method *s = th->open ? qp_open_slot(th, method) : NULL;
    if (!s || !s->key)
        s = qp_open_add(th, method);
    return s && s->n++ == 0 ? QP_SPAN_OUTERMOST : 0;
}

static inline void qp_open_end(qp_span_thread *th, uint32_t method)
{
    qp_open_slot(th, method)->n--;
}

static inline uint32_t qp_open_count(const qp_span_thread *th, uint32_t method)
{
    return th->open ? qp_open_slot(th, method)->n : 0;
}

/* Take a record that belongs to the one before it, or that others belong to.
 * @return true: it has been told, or will be */
bool qp_span_collect(qp_spans *x, qp_span_carrier *c, qp_trace_op op, const qp_trace_record *r);
/* Tell whoever wants to know. */
void qp_span_tell(qp_spans *x, qp_span_carrier *c, qp_span_thread *th, qp_trace_op op,
                  const qp_trace_record *r);

#endif
