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

/* Open calls of a method on a thread. */
bool qp_open_begin(qp_span_thread *th, uint32_t method); /* @return true: the first one */
void qp_open_end(qp_span_thread *th, uint32_t method);
uint32_t qp_open_count(const qp_span_thread *th, uint32_t method);

/* Take a record that belongs to the one before it, or that others belong to.
 * @return true: it has been told, or will be */
bool qp_span_collect(qp_spans *x, qp_span_carrier *c, qp_trace_op op, const qp_trace_record *r);
/* Tell whoever wants to know. */
void qp_span_tell(qp_spans *x, qp_span_carrier *c, qp_span_thread *th, qp_trace_op op,
                  const qp_trace_record *r);

#endif
