/* perf.h: one event of the kernel's performance counters, counted for each thread on its own. */
#ifndef QP_BASE_OS_PERF_H
#define QP_BASE_OS_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the process counts from now on: type and config of perf_event_open(). With the kernel's own
 * share where the machine permits it, else without; for all threads alike.
 * @return 0, or the errno with which the kernel refuses it */
int qp_perf_choose(uint32_t type, uint64_t config);

/* The reason in words, and what to do. */
void qp_perf_explain(int refused, char *to, size_t n_bytes);

/* The calling thread counts from 0, or does not count any more. Where the kernel refuses another
 * counter, it does not count either. Some system calls. errno is kept. */
void qp_perf_attach(void);
void qp_perf_detach(void);

/* In a forked child: no thread counts, and the descriptors that it got are closed. errno is kept. */
void qp_perf_forget(void);

/* What the calling thread has counted: never less than before. A few instructions where the
 * processor lets programs read its counters, else two system calls that do not wait. errno is kept.
 * @return false: it does not count, and the value is that of the reading before */
bool qp_perf_read(uint64_t *value);

#endif
