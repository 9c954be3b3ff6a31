/* flow.h: the calls of each thread in their order, repeats folded: what a person can read.
 *
 * A call is told with all that is in it once it has ended; calls of the same shape in a row become
 * one, with a count. A call in which too much happens is told in two parts, its beginning and its
 * end. Memory: some thousand lines for each thread. */
#ifndef QP_REPLAY_FLOW_H
#define QP_REPLAY_FLOW_H

#include "replay/spans.h"

typedef enum {
    QP_FLOW_CALL,  /* ended; what it called follows, deeper */
    QP_FLOW_BEGIN, /* what it called follows, then its end */
    QP_FLOW_END
} qp_flow_kind;

typedef struct {
    qp_flow_kind kind;
    uint32_t method, depth; /* outermost: 0 */
    uint64_t n;             /* calls that were folded, with this one */
    uint64_t raw;           /* when the first of them began, or of END: ended */
    uint64_t total;         /* ticks, of all of them; BEGIN: 0 */
    bool is_whole;          /* of all of them, beginning and end are in the trace */
} qp_flow_line;

typedef struct {
    void *to;
    void (*line)(void *to, const qp_span_thread *th, const qp_flow_line *line);
    bool failed; /* no memory */
} qp_flow;

/* What is to be told of calls. */
qp_span_sink qp_flow_sink(qp_flow *f);
/* After the end: tell the rest, free what threads have. */
void qp_flow_end(qp_flow *f, qp_spans *x);

#endif
