/* own_thread.h: threads of the library's own. */
#ifndef QP_BASE_OS_OWN_THREAD_H
#define QP_BASE_OS_OWN_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Start a thread named "qprof" that takes none of the host's signals; join it with pthread_join().
 * @return false: the system has none left */
bool qp_own_thread_start(pthread_t *thread, void *(*run)(void *unused), size_t stack_bytes);

#endif
