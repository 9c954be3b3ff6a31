/* trace_writer.h: what the files of this room share. */
#ifndef QP_RECORD_STREAM_TRACE_WRITER_H
#define QP_RECORD_STREAM_TRACE_WRITER_H

#include "record/stream/stream.h"

/* ---- trace_writer.c: what the writer thread does for the Xbase++ trace ------------------------ */

/* Another consumer of records, called pass by pass on the writer thread. It walks the rings
 * itself, with a cursor of its own in each; slots before a cursor are reused. */
typedef struct {
    /* Take what is there up to a moment, in raw ticks, so that records of all rings can be
     * merged. A thread that is interrupted between its clock and its record may still leave an
     * earlier one. */
    void (*pass)(uint64_t until);
    /* Number of the first record of ring i that it still needs. */
    uint64_t (*cursor)(uint32_t i);
} qp_trace_consumer;

/* Register a consumer; NULL: remove it after it has taken all records. @return 0 or
 * QPROF_E_MEMORY */
int qp_trace_demand(const qp_trace_consumer *consumer);

/* Wait until what is in the rings now has been taken; bounded. */
void qp_trace_drain(void);

/* Does the native trace go to this file? */
bool qp_trace_is_stream(const char *path);

/* ---- trace_file.c: a .qtrace file that is being written: records in, packets out --------------
 *
 * It knows which entries of the dictionary the file has, so that each packet follows the entries
 * that it needs. One thread writes it. */

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
