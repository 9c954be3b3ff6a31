/* trace_writer.h: what the writer thread does for the Xbase++ trace; for trace_xbase.c only. */
#ifndef QP_RECORD_STREAM_TRACE_WRITER_H
#define QP_RECORD_STREAM_TRACE_WRITER_H

#include "record/stream/stream.h"

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

#endif
