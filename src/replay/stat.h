/* stat.h: what the calls of a trace add up to, method by method. */
#ifndef QP_REPLAY_STAT_H
#define QP_REPLAY_STAT_H

#include "replay/histogram.h"
#include "replay/spans.h"

/* Of a method, on one thread or all. Times in ticks. */
typedef struct {
    uint32_t method, thread; /* numbers; thread 0: all */
    uint64_t calls;
    uint64_t total; /* callees included; of calls that are not inside one of the same method */
    uint64_t self;  /* of all calls */
    uint64_t n_incomplete; /* of the calls: their beginning or end is not in the trace */
    uint64_t n_unwound;    /* of the calls: they did not return */
    /* of complete calls, each of them, callees included */
    uint64_t n_complete, sum, min, max;
    qp_histogram histogram;
} qp_call_stat;

typedef struct {
    qp_buf rows;       /* qp_call_stat, in the order of the first ends */
    uint64_t self;     /* of all calls */
    bool is_by_thread; /* a row for each thread */
    bool failed;       /* no memory */
    uint32_t *row_of;  /* [n_methods] index + 1 */
    size_t n_methods;
    qp_dict row_of_pair; /* thread, method -> index + 1 */
} qp_stats;

void qp_stats_init(qp_stats *s, bool is_by_thread);
void qp_stats_fini(qp_stats *s);

/* What is to be told of calls. */
qp_span_sink qp_stats_sink(qp_stats *s);

/* Average of complete calls; 0 of none. */
uint64_t qp_call_stat_average(const qp_call_stat *r);
/* A percentile of them: `share` from 0 to 1; never outside of min and max. */
uint64_t qp_call_stat_quantile(const qp_call_stat *r, double share);

#endif
