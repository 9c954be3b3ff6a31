/* slow.h: the slowest calls of a method, with what each of them called. */
#ifndef QP_REPLAY_SLOW_H
#define QP_REPLAY_SLOW_H

#include "replay/calltree.h"

enum { QP_SLOW_MOST = 1000 };

typedef struct {
    uint32_t thread, method; /* numbers in names */
    uint64_t raw;            /* when it began */
    uint64_t total, self;    /* ticks */
    qp_span_end end;
    bool is_cut;      /* it began before the trace */
    qp_calltree tree; /* node 1 is the call itself */
} qp_slow_call;

typedef struct {
    /* Is the method meant? Asked once each. */
    bool (*is_wanted)(void *to, uint32_t method);
    void *to;
    uint32_t n_most;      /* calls that are kept; 1 to QP_SLOW_MOST */
    qp_slow_call **calls; /* [n] slowest first */
    uint32_t n;
    uint64_t n_seen;      /* calls that are not inside another one */
    bool failed;          /* no memory */
    signed char *answers; /* [n_answers] by method; 0: not asked yet */
    size_t n_answers;
} qp_slow;

/* @return false: no memory */
bool qp_slow_init(qp_slow *s, uint32_t n_most);
void qp_slow_fini(qp_slow *s, qp_spans *x);

/* What is to be told of calls. */
qp_span_sink qp_slow_sink(qp_slow *s);

#endif
