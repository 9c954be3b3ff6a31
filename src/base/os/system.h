/* system.h: what the recorder needs from a system beyond POSIX. One file for each system has it: linux.c.
 *
 * The processor counters of perf.h and the tasks of thread.h are also there or beside it; all are listed,
 * with what other systems have instead, in docs/platforms.md. */
#ifndef QP_BASE_OS_SYSTEM_H
#define QP_BASE_OS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The system's number of the calling thread. */
uint64_t qp_system_thread_id(void);

/* Let memory be zero in a forked child; whole pages. @return false: it is copied, the system cannot */
bool qp_system_wipe_on_fork(void *p, size_t n_bytes);

/* Register for qp_system_barrier(), once a process. */
void qp_system_barrier_begin(void);
/* Every thread of the process has passed a full fence since the call. @return false: the system cannot,
 * and stores of others may still be on their way */
bool qp_system_barrier(void);

/* Random bytes, without waiting for any. @return false: none are ready */
bool qp_system_random(void *to, size_t n_bytes);

/* Is the process privileged, so that its environment is not to be trusted? */
bool qp_system_is_privileged(void);

/* The path of the program. @param n_bytes  with NUL; "" where it is unknown */
void qp_system_program(char *to, size_t n_bytes);

/* When the process started, to tell it from a later one with the same number; 0: unknown. */
uint64_t qp_system_process_start(void);

/* Wait until the bell, in memory that processes share, is no more what was heard; may return early.
 * @param most_ns  UINT64_MAX: for ever */
void qp_system_bell_wait(const uint32_t *bell, uint32_t heard, uint64_t most_ns);
/* Wake those that wait, at most so many. @return false: none did */
bool qp_system_bell_ring(const uint32_t *bell, int n_most);

/* The names in an open folder, one after the other, without memory of the heap. */
typedef struct {
    int fd;
    int n, at; /* 0 to begin with */
    _Alignas(8) char bytes[4096];
} qp_folder;
/* @return NULL: no more, or they cannot be read */
const char *qp_system_next_name(qp_folder *f);

/* The calling thread's name in tools of the system. */
void qp_system_name_thread(const char *name);

#endif
