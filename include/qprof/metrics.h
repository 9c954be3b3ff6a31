/* qprof/metrics.h: what the host counts, by call path: rows that were read, bytes that were sent, retries. Part
 * of qprof.h and of qprof/inline.h. Read qprof_record_metric() first. Guide: docs/metrics.md. */
#ifndef QPROF_METRICS_H
#define QPROF_METRICS_H

#include "qprof/inline.h"

enum { QPROF_METRICS = 16 }; /* that can be defined */

#ifdef __cplusplus
extern "C" {
#endif

/** Define a metric, or find the one of this name.
 *
 * Before a run, or at any time in it. It stays for the runs that follow, and in forked processes.
 *
 * @param name  for example "rows"; copied; 63 bytes of it count
 * @param unit  of its values, for example "rows" or "bytes"; 15 bytes of it count; NULL: none. That of the first
 *              call for a name holds
 * @return its number, from 1
 *         - QPROF_E_ARG    name is NULL or ""
 *         - QPROF_E_LIMIT  QPROF_METRICS others exist
 *         - QPROF_E_STATE  inside a callback or another control function
 * Thread safety: any thread. Cost: not for hot paths. */
QPROF_FN(int) qprof_metric_create(const char *name, const char *unit);

/** Add to a metric, for a call that is open. See qprof_record_metric(), which is in line.
 *
 * @param th      as there
 * @param path    qprof_thread_path() of this thread, or qprof_path_of_token() of an open frame; else, and where it is
 *                0, the path on top
 * @param metric  as there
 * @param n       as there
 * Thread safety: only the thread that uses the handle. Cost: about 20 ns. */
QPROF_FN(void)
qprof_record_metric_of(qprof_thread *th, uint64_t path, int metric, uint64_t n);

/** Handle the rare cases of the function below. Nothing else calls it.
 *
 * @param th      as there
 * @param metric  as there
 * @param n       as there
 * Thread safety: only the thread that uses the handle. */
QPROF_FN(void) qprof_cold_metric(qprof_thread *th, int metric, uint64_t n);

#ifdef __cplusplus
}
#endif

#if (defined(__GNUC__) || defined(__clang__)) && !defined(QPROF_NO_INLINE)

/** Add to a metric, for the call on top.
 *
 * While recording is stopped, nothing is added. A sum of 2^64 begins again at 0.
 *
 * @param th      from qprof_thread_handle(), and for a stack of qprof/embed.h stack->th
 * @param metric  from qprof_metric_create(); another number, such as an error, is counted as e_arg
 * @param n       what is added; 2^48 and more are refused and counted as e_arg
 * Thread safety: only the thread that uses the handle. Cost: about 1 ns; a test if nothing is recorded. */
static inline void qprof_record_metric(qprof_thread *th, int metric, uint64_t n)
{
    const unsigned at = (unsigned)metric - 1;
    const qprof_metrics *m;
    uint32_t cell;
    if (!QPROF_LOAD(th->gate))
        return;
    m = at < QPROF_METRICS && !(n >> 48) ? qprof_top_metrics(th) : NULL;
    cell = m ? QPROF_LOAD(m->values) : 0;
    if (QPROF_UNLIKELY(!cell))
        qprof_cold_metric(th, metric, n);
    else
        QPROF_ADD(QPROF_CELL(th, uint64_t, cell)[at], n);
}

#endif
#endif
