/* trace_writer.h: who takes records out of the rings: a thread of ours while the program runs, and
 * qprof_trace_dump(). Control calls, under the control lock. */
#ifndef QP_RECORD_TRACE_WRITER_H
#define QP_RECORD_TRACE_WRITER_H

#include "record/trace.h"

/* Who else takes records, on the thread of ours, pass by pass. It walks the rings itself, from a
 * cursor of its own in each; behind a cursor a slot is used again. */
typedef struct {
    /* Take what is there, up to a moment, raw ticks: so records of all rings can be merged. A thread
     * that is interrupted between its clock and its record may still leave an earlier one. */
    void (*pass)(uint64_t until);
    /* Number of the first record of ring i that it still wants. */
    uint64_t (*cursor)(uint32_t i);
} qp_trace_consumer;

/* Is a trace asked for? Begin it, when the clocks of the run are chosen.
 * @return 0, QPROF_E_OPTION, _IO or _MEMORY with *error */
int qp_trace_start(qp_parse_error *error);

/* Does the native trace go to this file? */
bool qp_trace_is_stream(const char *path);

/* Nobody records any more, or the options change: what the rings hold is taken, files are closed.
 * Bounded: a disk that hangs is left alone. */
void qp_trace_stop(void);

/* Somebody else wants records from now on; NULL: no longer, and all that there were are taken.
 * @return 0 or QPROF_E_MEMORY */
int qp_trace_demand(const qp_trace_consumer *consumer);

/* What is in the rings now has been taken when it returns; bounded. */
void qp_trace_drain(void);

/* Write what the rings hold to a file. @param pattern  its name, with conversions; NULL: beside the
 * next dataset
 * @return 0; QPROF_E_STATE: nothing is traced, or it goes to a file anyway; QPROF_E_OPTION: the
 * name; QPROF_E_IO, QPROF_E_MEMORY; *error says why */
int qp_trace_dump(const char *pattern, qp_parse_error *error);

/* In a forked child: the thread and the file are the parent's. */
void qp_trace_forget(void);

#endif
