/* stream.h: the consumers of the rings: the .qtrace file and the .PRF file of the Xbase++
 * profiler.
 *
 * A writer thread takes records out of the rings while the program runs. The calls below are
 * control calls, under the control lock. */
#ifndef QP_RECORD_STREAM_STREAM_H
#define QP_RECORD_STREAM_STREAM_H

#include "base/text/error.h"
#include "config/config.h"
#include "record/ring/ring.h"

/* ---- the .qtrace file: trace_writer.c ---------------------------------------------------- */

/* Begin a trace if one is asked for; the clocks of the run are chosen.
 * @return 0, QPROF_E_OPTION, _IO or _MEMORY with *error */
int qp_trace_start(qp_error *error);

/* Recording has ended, or the options change: take what the rings hold, and close the file.
 * Bounded: a disk that hangs is abandoned. */
void qp_trace_stop(void);

/* In a forked child: the thread and the file are the parent's. */
void qp_trace_forget(void);

/* Write what the rings hold to a file.
 * @param pattern  its name, with conversions; NULL: beside the next dataset
 * @return 0; QPROF_E_STATE: nothing is traced, or it is written to a file; QPROF_E_OPTION: the
 * name; QPROF_E_IO, QPROF_E_MEMORY; *error explains */
int qp_trace_dump(const char *pattern, qp_error *error);

/* ---- the .PRF file: trace_xbase.c -------------------------------------------------------- */

/* Settings belong to the run, and begin with the defaults. */

/* Text of a setting; NULL: unknown. Valid until a setting changes. */
const char *qp_trace_xbase_get(const char *key);

/* @return 0 or QPROF_E_NOTFOUND, _OPTION, _STATE, _IO, _SYNTAX: *error explains */
int qp_trace_xbase_set(const char *key, const char *value, qp_error *error);
int qp_trace_xbase_load(const char *pri_file, qp_error *error);
int qp_trace_xbase_save(const char *pri_file, qp_error *error);

/* Sinks of `trace` and `pri` lines, and the begin and end of a file of such lines. */
int qp_trace_xbase_on_trace(void *unused, const char *key, const char *value, qp_error *error);
int qp_trace_xbase_on_pri(void *unused, const char *file, qp_error *error);
void qp_trace_xbase_file_begin(void);
/* @param is_kept  false: restore the settings before the file */
void qp_trace_xbase_file_end(bool is_kept);

/* @param prf_file  with conversions as -output; NULL: OUTFILE */
int qp_trace_xbase_start(const char *prf_file, qp_error *error);
int qp_trace_xbase_stop(qp_error *error);
int qp_trace_xbase_flush(qp_error *error);

/* The run begins, or its options have changed: start if -trace asks for it. */
int qp_trace_xbase_begin(qp_error *error);
/* The run ends, or its options change. */
void qp_trace_xbase_end(void);
/* In a forked child: nothing is open here. */
void qp_trace_xbase_forget(void);

/* Does an option ask for the trace? */
bool qp_trace_xbase_is_asked_for(void);
bool qp_trace_xbase_wants_lines(void);
/* QPROF_WANT_TRACE, QPROF_WANT_PARAMETERS. */
unsigned qp_trace_xbase_wants(void);

/* From within an event: a block of the frame on top was executed. */
void qp_trace_xbase_block(qprof_thread *th, const qprof_frame *top, int block);

#endif
