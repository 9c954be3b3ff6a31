/* trace_file.h: a .qtrace file that is being written: records in, packets out.
 *
 * It knows which entries of the dictionary the file has, so that each packet finds in front of it
 * what it needs. One thread writes it. */
#ifndef QP_RECORD_TRACE_FILE_H
#define QP_RECORD_TRACE_FILE_H

#include "record/trace.h"

typedef struct qp_trace_sink qp_trace_sink;

typedef enum {
    QP_SINK_GOOD,
    QP_SINK_FULL, /* it cannot be written: no space, or none for this process */
    QP_SINK_GONE  /* the file is not ours any more: removed, cut, or its descriptor closed */
} qp_sink_state;

/* Begin a file.
 * @param path  [n_bytes] expanded; an existing name gets .1 to .999 appended, and path is changed
 * @return NULL: errno says why; nothing is left */
qp_trace_sink *qp_trace_sink_new(char *path, size_t n_bytes);
/* Closes the file. @param s  NULL is allowed */
void qp_trace_sink_free(qp_trace_sink *s);

/* n records of ring i, number `first` and so on. They are in the file after a flush.
 * @return false: see qp_trace_sink_state(); what was handed in since the last flush is lost */
bool qp_trace_sink_put(qp_trace_sink *s, uint32_t i, uint64_t first, const qp_trace_record *r,
                       uint64_t n);
bool qp_trace_sink_flush(qp_trace_sink *s);

/* How time is to be read, and what was lost so far. */
bool qp_trace_sink_clock(qp_trace_sink *s);

/* The trace ends: names that became known late, clock, end; the file has its size. */
bool qp_trace_sink_finish(qp_trace_sink *s);

qp_sink_state qp_trace_sink_state(const qp_trace_sink *s);
/* Number of the record of ring i behind the last packet that was written. */
uint64_t qp_trace_sink_written(const qp_trace_sink *s, uint32_t i);
/* Nothing more is to be written. @param s  NULL is allowed. Any thread */
void qp_trace_sink_abandon(qp_trace_sink *s);
/* There may be space again. */
void qp_trace_sink_retry(qp_trace_sink *s);

#endif
