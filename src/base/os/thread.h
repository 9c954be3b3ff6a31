/* thread.h: threads of the library's own, what the system knows of a thread, and signals that are
 * kept from the host. */
#ifndef QP_BASE_OS_THREAD_H
#define QP_BASE_OS_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Start a thread named "qprof" that takes none of the host's signals; join it with pthread_join().
 * @return false: the system has none left, or the library is built without threads */
bool qp_own_thread_start(pthread_t *thread, void *(*run)(void *unused), size_t stack_bytes);

/* The same, for a tool: with an argument, and the size of stack that threads have by default. */
bool qp_helper_thread_start(pthread_t *thread, void *(*run)(void *to), void *to);

/* Give the calling thread a descriptor table of its own, in which none is open: what it opens takes
 * no number from the process. @return false: the system cannot */
bool qp_task_own_descriptors(void);

/* Is a thread of a process (pid 0: of this one) on a processor, or waiting for one? true where the
 * system does not say. Opens a file for a moment. Cost: 10 us. */
bool qp_task_is_running(uint64_t pid, uint64_t tid);

/* ns on a processor, up to its last switch or tick of the system; 0: the thread has ended, or its
 * time is unknown. Opens a file for a moment. */
uint64_t qp_task_cpu(uint64_t pid, uint64_t tid);

/* ns for which a thread of this process was ready while others had the processors, up to when it got one last; 0: not
 * known. Opens a file for a moment. */
uint64_t qp_task_delay(uint64_t tid);

typedef struct {
    sigset_t held, before;
    bool was_pending;
} qp_signal_hold;

/* Keep a signal that a system call may raise from the calling thread, up to the end. */
void qp_signal_hold_begin(qp_signal_hold *h, int number);

/* Forget what came meanwhile, unless one was pending before. Preserves errno. */
void qp_signal_hold_end(qp_signal_hold *h);

#endif
