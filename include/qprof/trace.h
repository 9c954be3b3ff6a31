/* qprof/trace.h: what happened, in order: raw traces. Guide: docs/trace.md. */
#ifndef QPROF_TRACE_H
#define QPROF_TRACE_H

#include "qprof.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A trace is recorded with -collect=profile,trace: entries, exits and thread switches by themselves,
 * and what the calls below say. Where there is none they do nothing, but for qprof_mark(); nor do they
 * in libcprof. */

/** Something worth finding again happens now: it is listed with the profile, traced or not, and shown
 * in the trace.
 *
 * @param text  copied; longer than 64 KiB: cut. NULL or "": ignored
 * Threads: any; it belongs to the calling thread (the virtual thread last named there). Cost: a
 * look-up of the text. */
QPROF_API void _EXT_REF qprof_mark(const char *text);

/** A figure of the host's has this value from now on: a queue's length, bytes in use.
 *
 * @param name  of the counter, copied once; NULL or "": ignored
 * Threads: as qprof_mark. Cost: the same. */
QPROF_API void _EXT_REF qprof_counter(const char *name, int64_t value);

/** Write what the trace holds now to a file of its own, while the program goes on: the last events
 * of each system thread, -trace-buffer of them.
 *
 * @param file  its name, with conversions as -filename-prefix; an existing one gets .1 to .999
 *              appended
 * @return 0; QPROF_E_ARG: no name; QPROF_E_STATE: no trace is recorded, or it is being written to
 *         a file already; QPROF_E_OPTION: an unknown conversion; QPROF_E_IO, QPROF_E_MEMORY;
 *         QPROF_E_UNSUPPORTED: libcprof
 * Threads: any, one control call at a time. */
QPROF_API int _EXT_REF qprof_trace_dump(const char *file);

/* ---- more about calls ------------------------------------------------------------------------ */

/* A host that is asked for QPROF_WANT_TRACE says of each call when it is about to be made, and when
 * it has returned, around the entry and the exit that the callee reports; a callee that reports none
 * is known by these alone. */

/** The top frame calls a method. @param line  of the call; 0: unknown. Threads: as qprof_mark;
 * system-thread mode. Source: the raw trace's operation i. */
QPROF_API void _EXT_REF qprof_trace_call(qprof_MethodID callee, int line);
/** The method has returned. Source: operation o. */
QPROF_API void _EXT_REF qprof_trace_return(qprof_MethodID callee, int line);
/** The top frame is at this line. */
QPROF_API void _EXT_REF qprof_trace_line(int line);

/** A value that is passed to the next call, or entry, of this thread. It is kept if an area retrieves
 * the values of that method (qprof_area_set_parameters()), or a trace of the Xbase++ profiler does.
 *
 * @param number   of the parameter, from 1; others are ignored
 * @param type     its type in the host's words, at most 63 bytes of it; NULL: ""
 * @param value    at most 1535 bytes; NULL: ""
 * @param comment  a name, for example; at most 255 bytes; NULL: none
 * All are copied. */
QPROF_API void _EXT_REF qprof_trace_parameter(int number, const char *type, const char *value,
                                              const char *comment);
/** The value that the next exit, or return, of this thread gives. */
QPROF_API void _EXT_REF qprof_trace_result(const char *type, const char *value);

/** The same in virtual-thread mode. */
QPROF_API void _EXT_REF qprof_trace_call_vt(qprof_MethodID callee, int line, VthreadID);
QPROF_API void _EXT_REF qprof_trace_return_vt(qprof_MethodID callee, int line, VthreadID);
QPROF_API void _EXT_REF qprof_trace_line_vt(int line, VthreadID);
QPROF_API void _EXT_REF qprof_trace_parameter_vt(int number, const char *type,
                                                 const char *value, const char *comment,
                                                 VthreadID);
QPROF_API void _EXT_REF qprof_trace_result_vt(const char *type, const char *value, VthreadID);

/* ---- the trace of the Xbase++ profiler --------------------------------------------------------- */
/* One record a call and return, in a .PRF file that database tools read. Guide: docs/trace-xbase.md.
 * These are control calls: any thread, one at a time, not from inside an event. */

/** Change one setting, a key of a PRI file. OPERATIONMODE, OUTFLUSHEVERY, BUILTINS and the lists take
 * effect at the next entry.
 * @param key  in any case
 * @return 0; QPROF_E_NOTFOUND: no such key; QPROF_E_OPTION: bad value; QPROF_E_STATE: no run, or
 *         it would change the layout of a file that is open; QPROF_E_ARG: NULL */
QPROF_API int _EXT_REF qprof_trace_set(const char *key, const char *value);

/** @return the value of a setting, valid until one changes; NULL: unknown key, no run */
QPROF_API const char *_EXT_REF qprof_trace_get(const char *key);

/** Read a PRI file. Keys that it does not have stay; unknown ones are kept for the next save.
 * @return as qprof_trace_set; QPROF_E_IO; QPROF_E_SYNTAX: qprof_error_text() says file and line,
 *         and nothing has changed */
QPROF_API int _EXT_REF qprof_trace_load(const char *pri_file);

/** Write the settings, unknown keys and comments included. @return 0; QPROF_E_IO, _STATE, _ARG */
QPROF_API int _EXT_REF qprof_trace_save(const char *pri_file);

/** Begin a .PRF file. What it replaces is gone.
 * @param prf_file  conversions as with -output; NULL: the setting OUTFILE
 * @return 0; QPROF_E_STATE: one is open already, or no run; QPROF_E_OPTION: a bad name;
 *         QPROF_E_IO; QPROF_E_MEMORY. Ask qprof_wants() again afterwards */
QPROF_API int _EXT_REF qprof_trace_start(const char *prf_file);

/** Write what is left and close it. The end of the run does the same.
 * @return 0; QPROF_E_STATE: none is open; QPROF_E_IO: it ended early, see qprof_error_text() */
QPROF_API int _EXT_REF qprof_trace_stop(void);

/** Hand everything up to now to the system: other programs can read it. @return as stop */
QPROF_API int _EXT_REF qprof_trace_flush(void);

#ifdef __cplusplus
}
#endif
#endif
