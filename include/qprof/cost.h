/* qprof/cost.h: what recording costs, as reports state it. Guide: docs/embedding.md. */
#ifndef QPROF_COST_H
#define QPROF_COST_H

#include "qprof/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Calls that qprof_measure_calls() asks a host to execute.
 *
 * @param data      as given there
 * @param th        the handle whose calls they are: closed, or of a scratch thread
 * @param caller    token of the frame that calls
 * @param function  what it calls: n times, one after the other, a function that does nothing */
typedef void (*qprof_calls_function)(void *data, qprof_thread *th, qprof_token caller,
                                     qprof_MethodID function);

/** Measure what recording a call costs in the host's own loop, for the overhead that reports state.
 *
 * Without it only the recorder's own instructions are known. Nothing of these calls is recorded.
 *
 * @param execute  executes the calls, as its other calls, with tokens; it is called some 20 times, with and
 *                 without recording
 * @param data     for it
 * @param n        how many calls it executes each time; 500 are enough
 * @param is_native  the function is one of native code, for which the host does other work; measured after
 *                 the others. In a profile, functions without a file are native
 * Thread safety: the OS thread that has begun the run, before any other uses it. Cost: that of the calls. */
QPROF_FN(void)
qprof_measure_calls(qprof_calls_function execute, void *data, unsigned n, int is_native);

/** Begin work that the host does only because it is recorded: it finds names or lines.
 *
 * Its time is a part of the overhead that reports state.
 *
 * @return what qprof_work_end() needs
 * Thread safety: any thread. */
QPROF_FN(uint64_t) qprof_work_begin(void);

/** End the work, on the same OS thread.
 *
 * @param begun  from qprof_work_begin()
 * Thread safety: any thread. */
QPROF_FN(void) qprof_work_end(uint64_t begun);

#ifdef __cplusplus
}
#endif
#endif
