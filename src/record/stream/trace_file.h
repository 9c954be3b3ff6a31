/* trace_file.h: a .qtrace file that is being written: records in, packets out. For this room
 * only.
 *
 * It knows which entries of the dictionary the file has, so that each packet follows the
 * entries that it needs. One thread writes it. */
#ifndef QP_RECORD_STREAM_TRACE_FILE_H
#define QP_RECORD_STREAM_TRACE_FILE_H

#include "record/ring/ring.h"

typedef struct qp_trace_sink qp_trace_sink;

typedef enum {
    QP_SINK_GOOD,
    QP_SINK_FULL, /* writing fails: no space, or none for this process */
    QP_SINK_GONE  /* the file is no longer ours: removed, cut, or its descriptor closed */
} qp_sink_state;

/* Begin a file.
 * @param path  [n_bytes] expanded; an existing name gets .1 to .999 appended, and path is
 * changed
 * @return NULL: errno explains; nothing is left */
qp_trace_sink *qp_trace_sink_new(char *path, size_t n_bytes);
/* Close the file. @param s  may be NULL */
void qp_trace_sink_free(qp_trace_sink *s);

/* Add n records of ring i, number `first` and so on. They are in the file after a flush.
 * @return false: see qp_trace_sink_state(); what was added since the last flush is lost */
bool qp_trace_sink_put(qp_trace_sink *s, uint32_t i, uint64_t first, const qp_trace_record *r,
                       uint64_t n);
bool qp_trace_sink_flush(qp_trace_sink *s);

/* Write the calibration of the clock, and what was lost so far. */
bool qp_trace_sink_clock(qp_trace_sink *s);

/* End the trace: write names that became known late, the clock, the end; cut the file to its
 * size. */
bool qp_trace_sink_finish(qp_trace_sink *s);

qp_sink_state qp_trace_sink_state(const qp_trace_sink *s);
/* Number of the record of ring i that follows the last packet written. */
uint64_t qp_trace_sink_written(const qp_trace_sink *s, uint32_t i);
/* Write nothing more. @param s  may be NULL. Any thread */
void qp_trace_sink_abandon(qp_trace_sink *s);
/* Try again: there may be space now. */
void qp_trace_sink_retry(qp_trace_sink *s);

#endif
