/* clock.h: the clocks of the machine. */
#ifndef QP_BASE_OS_CLOCK_H
#define QP_BASE_OS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

uint64_t qp_clock_monotonic(void);   /* ns */
uint64_t qp_clock_wall(void);        /* ns since 1970 */
uint64_t qp_clock_process_cpu(void); /* ns, user + kernel, all threads */

/* Of the calling thread. */
uint64_t qp_clock_thread_cpu(void); /* ns, user + kernel */
typedef enum {
    QP_USAGE_USER,   /* ns */
    QP_USAGE_KERNEL, /* ns */
    QP_USAGE_SWITCHES,
    QP_USAGE_SOFT_FAULTS,
    QP_USAGE_HARD_FAULTS,
    QP_USAGE_FAULTS
} qp_usage;
uint64_t qp_clock_thread_usage(qp_usage what);

/* CPU time of another thread of this process by its system id, ns; 0: it is gone. */
uint64_t qp_clock_cpu_of(int tid);
int qp_clock_id_of(int tid); /* that clock, a clockid_t */

/* May the processor's counter be read instead of the monotonic clock? Only if it ticks at one rate on
 * all processors and the kernel's clock is computed from it. */
bool qp_clock_has_tsc(void);
uint64_t qp_clock_tsc(void);

/* Sleep up to an absolute monotonic time; early only if a signal interrupts it. */
void qp_clock_sleep_until(uint64_t monotonic_ns);

#endif
