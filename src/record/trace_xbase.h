/* trace_xbase.h: the trace of the Xbase++ profiler: what the rings hold, as a .PRF file.
 *
 * The writer thread of the rings calls qp_trace_xbase_pass(); all else is called under the control
 * lock. */
#ifndef QP_RECORD_TRACE_XBASE_H
#define QP_RECORD_TRACE_XBASE_H

#include "config/config.h"
#include "format/trace.h"
#include "record/thread.h"
#include "xbase/pri.h"

/* ---- settings ------------------------------------------------------------------------------ */

/* They belong to the run, and begin with the defaults. */

/* Text of a setting; NULL: unknown. Valid until a setting changes. */
const char *qp_trace_xbase_get(const char *key);

/* @return 0 or QPROF_E_NOTFOUND, _OPTION, _STATE, _IO, _SYNTAX: *error says what is wrong */
int qp_trace_xbase_set(const char *key, const char *value, qp_parse_error *error);
int qp_trace_xbase_load(const char *pri_file, qp_parse_error *error);
int qp_trace_xbase_save(const char *pri_file, qp_parse_error *error);

/* As qp_option_events.pri. */
qp_parse qp_trace_xbase_take_pri(void *unused, const char *file, qp_parse_error *error);

/* Sinks of `trace` and `pri` lines, and what stands around the lines of a file. */
int qp_trace_xbase_on_trace(void *unused, const char *key, const char *value,
                            qp_config_error *error);
int qp_trace_xbase_on_pri(void *unused, const char *file, qp_config_error *error);
void qp_trace_xbase_file_begin(void);
/* @param is_kept  false: the settings are again what they were */
void qp_trace_xbase_file_end(bool is_kept);

/* ---- the file ------------------------------------------------------------------------------ */

/* @param prf_file  with conversions as -output; NULL: OUTFILE */
int qp_trace_xbase_start(const char *prf_file, qp_parse_error *error);
int qp_trace_xbase_stop(qp_parse_error *error);
int qp_trace_xbase_flush(qp_parse_error *error);

/* The run begins, or its options have changed: start if -trace says so. */
int qp_trace_xbase_begin(qp_parse_error *error);
/* The run ends, or its options change. */
void qp_trace_xbase_end(void);
/* In a forked child: nothing is open here. */
void qp_trace_xbase_forget(void);

/* ---- what others ask ----------------------------------------------------------------------- */

/* By an option. */
bool qp_trace_xbase_is_asked_for(void);
bool qp_trace_xbase_is_on(void);
bool qp_trace_xbase_wants_lines(void);
bool qp_trace_xbase_wants_parameters(void);
/* QPROF_WANT_TRACE, QPROF_WANT_PARAMETERS. */
unsigned qp_trace_xbase_wants(void);

/* From within an event: a block of the frame on top was executed. */
void qp_trace_xbase_block(qprof_thread *th, const qprof_frame *top, int block);

/* Records of a ring that were taken; UINT64_MAX: none are wanted. */
uint64_t qp_trace_xbase_cursor(uint32_t ring);

/* As qp_trace_consumer: take what the rings hold up to a moment, in the order of time. */
void qp_trace_xbase_pass(uint64_t until);

#endif
