/* task.h: what the system says of a thread, of another process or, pid 0, of this one. */
#ifndef QP_BASE_OS_TASK_H
#define QP_BASE_OS_TASK_H

#include <stdbool.h>
#include <stdint.h>

/* Is it on a processor, or waits for nothing but one? true where the system does not say. Opens a
 * file for a moment. Cost: 10 us. */
bool qp_task_is_running(uint64_t pid, uint64_t tid);

/* ns on a processor, as of its last switch or tick of the system; 0: it is gone, or nobody knows.
 * Opens a file for a moment. */
uint64_t qp_task_cpu(uint64_t pid, uint64_t tid);

/* The calling thread has descriptors of its own from now on, and none open: what it opens takes no
 * number from the process. @return false: the system cannot */
bool qp_task_own_descriptors(void);

#endif
