/* qprof/trace.h: events in order, with values: raw traces. Guide: docs/trace.md.
 *
 * -collect=profile,trace records a trace: entries, exits and thread switches, and what a host
 * adds with the functions below. Without a trace they have no effect, except qprof_mark(). In
 * libcprof they have no effect. */
#ifndef QPROF_TRACE_H
#define QPROF_TRACE_H

#include "qprof/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- markers and counters -------------------------------------------------------------------
 *
 * Thread safety: any thread. A record belongs to the calling thread; in virtual-thread mode to
 * the one last named there by a _vt call. */

/** Record a marker: a moment worth finding again.
 *
 * It is listed with the profile, with or without a trace, and shown in the trace.
 *
 * @param text  copied, up to 64 KiB; NULL or "" is ignored
 * Cost: one look-up of the text. */
QPROF_FN(void) qprof_mark(const char *text);

/** Record the value that a figure of the host has from now on: the length of a queue, bytes in
 * use.
 *
 * @param name   of the counter, copied once; NULL or "" is ignored
 * @param value  its new value
 * Cost: one look-up of the name. */
QPROF_FN(void) qprof_counter(const char *name, int64_t value);

/** Write what the trace holds now to a file, and continue: the last events of each OS thread,
 * as many as -trace-buffer keeps.
 *
 * @param file  name, with conversions as -filename-prefix; if it exists, .1 to .999 is appended
 * @return 0 on success, else
 *         - QPROF_E_ARG          no name
 *         - QPROF_E_STATE        no trace is recorded, or it is already written to a file
 *         - QPROF_E_OPTION       an unknown conversion
 *         - QPROF_E_UNSUPPORTED  libcprof
 *         - QPROF_E_IO, QPROF_E_MEMORY
 * Thread safety: any thread; one control function runs at a time. */
QPROF_FN(int) qprof_trace_dump(const char *file);

/* ---- both ends of a call, and its values ----------------------------------------------------
 *
 * A host whose qprof_wants() has QPROF_WANT_TRACE reports each call before it is made and after
 * it has returned, around the entry and the exit that the callee reports. A callee that reports
 * no entry is known by these alone. The functions that end in _vt are for virtual-thread mode.
 *
 * Thread safety: any thread; a record belongs to the calling thread, or to vt. */

/** Record that the top frame calls a method, or that the method has returned.
 *
 * @param callee  the method
 * @param line    of the call; 0: unknown
 * @param vt      the virtual thread
 * Source: Xbase++ profiler, the operations i and o. */
QPROF_FN(void) qprof_trace_call(qprof_MethodID callee, int line);
QPROF_FN(void) qprof_trace_return(qprof_MethodID callee, int line);
QPROF_FN(void) qprof_trace_call_vt(qprof_MethodID callee, int line, VthreadID vt);
QPROF_FN(void) qprof_trace_return_vt(qprof_MethodID callee, int line, VthreadID vt);

/** Record that the top frame is at a line.
 *
 * @param line  the line
 * @param vt    the virtual thread */
QPROF_FN(void) qprof_trace_line(int line);
QPROF_FN(void) qprof_trace_line_vt(int line, VthreadID vt);

/** Record a value that is passed to the next call, or entry, of this thread.
 *
 * It is kept if an area retrieves the values of that method (qprof_area_set_parameters()), or
 * if a trace of the Xbase++ kind does. Texts are copied.
 *
 * @param number   of the parameter, from 1; other numbers are ignored
 * @param type     its type in the host's words, up to 63 bytes; NULL means ""
 * @param value    up to 1535 bytes; NULL means ""
 * @param comment  for example its name, up to 255 bytes; NULL: none
 * @param vt       the virtual thread
 * Source: AQtime, Function Trace; Xbase++ profiler, PARAMS. */
QPROF_FN(void)
qprof_trace_parameter(int number, const char *type, const char *value, const char *comment);
QPROF_FN(void)
qprof_trace_parameter_vt(int number, const char *type, const char *value, const char *comment,
                         VthreadID vt);

/** Record the value that the next exit, or return, of this thread gives.
 *
 * @param type   as for qprof_trace_parameter()
 * @param value  as for qprof_trace_parameter()
 * @param vt     the virtual thread
 * Source: as qprof_trace_parameter(). */
QPROF_FN(void) qprof_trace_result(const char *type, const char *value);
QPROF_FN(void) qprof_trace_result_vt(const char *type, const char *value, VthreadID vt);

/* ---- traces of the Xbase++ kind -------------------------------------------------------------
 *
 * One record a call and return, in a .PRF file that database tools read. Guide:
 * docs/trace-xbase.md. In libcprof the functions return QPROF_E_UNSUPPORTED or NULL.
 *
 * Thread safety: any thread, outside of events; one control function runs at a time.
 * Source: Xbase++ profiler, the keys of a PRI file and its three kinds of output. */

/** Change one setting. OPERATIONMODE, OUTFLUSHEVERY, BUILTINS and lists hold from the next
 * entry.
 *
 * @param key    a key of a PRI file, in any case
 * @param value  its value
 * @return 0 on success, else
 *         - QPROF_E_NOTFOUND  no such key
 *         - QPROF_E_OPTION    invalid value
 *         - QPROF_E_STATE     not running, or it would change the layout of an open file
 *         - QPROF_E_ARG       key or value is NULL */
QPROF_FN(int) qprof_trace_set(const char *key, const char *value);

/** Return a setting.
 *
 * @param key  a key of a PRI file, in any case
 * @return the value, valid until a setting changes; NULL if the key is unknown or no run is
 *         on */
QPROF_FN(const char *) qprof_trace_get(const char *key);

/** Read settings from a PRI file. Keys that it lacks stay; unknown keys are kept for the next
 * save.
 *
 * @param pri_file  name of the file
 * @return as qprof_trace_set(), and QPROF_E_IO; QPROF_E_SYNTAX: nothing has changed, and
 *         qprof_error_text() names file and line */
QPROF_FN(int) qprof_trace_load(const char *pri_file);

/** Write the settings to a PRI file, unknown keys and comments included.
 *
 * @param pri_file  name of the file
 * @return 0; QPROF_E_IO, QPROF_E_STATE, QPROF_E_ARG */
QPROF_FN(int) qprof_trace_save(const char *pri_file);

/** Begin a file of records. An existing file is replaced. Ask qprof_wants() again afterwards.
 *
 * @param prf_file  name, with conversions as -output; NULL: the setting OUTFILE
 * @return 0 on success, else
 *         - QPROF_E_STATE   a file is already open, or no run is on
 *         - QPROF_E_OPTION  invalid name
 *         - QPROF_E_IO, QPROF_E_MEMORY */
QPROF_FN(int) qprof_trace_start(const char *prf_file);

/** Write what is left and close the file. The end of the run does the same.
 *
 * @return 0; QPROF_E_STATE if none is open; QPROF_E_IO if the file ended early: see
 *         qprof_error_text() */
QPROF_FN(int) qprof_trace_stop(void);

/** Hand all records to the system, so that other programs can read them.
 *
 * @return as qprof_trace_stop() */
QPROF_FN(int) qprof_trace_flush(void);

#ifdef __cplusplus
}
#endif
#endif
