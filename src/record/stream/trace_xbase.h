/* trace_xbase.h: state of the Xbase++ trace, shared by trace_xbase.c and trace_xbase_pass.c. */
#ifndef QP_RECORD_STREAM_TRACE_XBASE_H
#define QP_RECORD_STREAM_TRACE_XBASE_H

#include <pthread.h>

#include "base/containers/pool.h"
#include "record/stream/stream.h"
#include "xbase/xbase.h"

enum {
    QP_XBASE_RINGS = 4096,
    QP_XBASE_THREADS = 4096, /* in a chunk */
    QP_XBASE_CHUNKS = 4096
};

/* The place of a reader in a ring. */
typedef struct qp_xbase_cursor qp_xbase_cursor;
struct qp_xbase_cursor {
    uint64_t at;    /* number of the next record */
    qp_cell thread; /* driven there; 0: none */
    uint32_t reserved;
    /* of the pass: */
    uint64_t head, mask;
    const qp_trace_record *records;
    qp_xbase_cursor *next; /* of those that hold something */
};

typedef struct {
    pthread_mutex_t lock;  /* a pass, or a change of what it uses */
    uint32_t is_on;        /* a file takes entries */
    bool is_open;          /* between start and stop; control lock */
    bool is_inherited;     /* the parent of this process had a trace open */
    bool is_interrupted;   /* closed because options of the run change */
    uint32_t unknown_bits; /* of OPERATIONMODE that were logged */
    uint32_t epoch;        /* of the run that the settings belong to */
    bool has_clamped;      /* it was logged that a number did not fit */
    qp_pri settings;
    const char *excluded_threads, *excluded_symbols; /* in the settings */
    qp_filter filter;
    qp_prf prf;
    qp_pool pool;                      /* of all that follows */
    uint32_t cursors;                  /* [QP_XBASE_RINGS] qp_xbase_cursor */
    uint32_t threads[QP_XBASE_CHUNKS]; /* chunks of qp_filter_thread, by ordinal */
    double ms_per_tick;                /* as of this pass */
    uint64_t last_ms;                  /* times do not fall */
} qp_xbase;

extern qp_xbase qp_trace_xbase;

/* Under the lock: skip what the rings hold now, and forget all threads. */
void qp_trace_xbase_skip_rings(void);
/* As qp_trace_consumer: take what the rings hold up to a moment, in the order of time. */
void qp_trace_xbase_pass(uint64_t until);
/* Number of the next record of a ring; UINT64_MAX: none are wanted. */
uint64_t qp_trace_xbase_cursor(uint32_t ring);

/* As qp_filter.is_excluded. */
bool qp_trace_xbase_excludes(void *unused, const qp_filter_thread *th, uint32_t method);

/* Set whether a file takes entries. */
void qp_trace_xbase_set_on(bool is_on);

/* Under the lock: write the calls that are held, and forget open ones. */
void qp_trace_xbase_end_threads(void);
void qp_trace_xbase_report_error(void);

#endif
