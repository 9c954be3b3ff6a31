/* qprof/locks.h: waits for locks: which path waited, and which one held the lock. Part of qprof.h, which
 * includes it. Guide: docs/locks.md. */
#ifndef QPROF_LOCKS_H
#define QPROF_LOCKS_H

#include "qprof/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Begin to wait for a lock that is held.
 *
 * @param th  from qprof_thread_handle(), and for a stack of qprof/embed.h stack->th
 * @return the moment, for qprof_wait_end(); 0: nothing is recorded
 * Thread safety: only the thread that uses the handle. Cost: of a clock read. */
QPROF_FN(uint64_t) qprof_wait_begin(const qprof_thread *th);

/** Record a wait that is over: the path on top has waited since `begun`.
 *
 * The time is elapsed time, while the thread was suspended or stopped included. A path keeps the first 64 pairs of
 * a lock and a holder; further ones are added up as others. Without memory a wait is counted as out_of_memory.
 *
 * @param th      as above
 * @param begun   from qprof_wait_begin(); 0: nothing happens; a moment that is not in the run is counted as e_arg
 * @param lock    name of the lock, or of a kind of locks; copied, and kept for the run. NULL, "": without a name
 * @param waiter  what waited: qprof_thread_path() of this thread, or of a call that is open on it; 0: the path on top
 * @param holder  qprof_thread_path() of the thread that held the lock, from when it took it; 0: not known
 * Thread safety: only the thread that uses the handle. Cost: of a clock read and a look-up of the name. */
QPROF_FN(void)
qprof_wait_end(qprof_thread *th, uint64_t begun, const char *lock, uint64_t waiter,
               uint64_t holder);

/** Return the call path of an open frame, for a host that keeps tokens.
 *
 * @param here   qprof_thread_path() of its thread
 * @param token  of the frame
 * @return as qprof_thread_path(); 0: the frame has no path of its own
 * Thread safety: any thread. Cost: a few instructions. */
static __inline uint64_t qprof_path_of_token(uint64_t here, qprof_token token)
{
    const uint64_t in_cell = 63, is_token = 1, upper = ~(uint64_t)0 << 32;
    return here && token != QPROF_NO_TOKEN && (token & in_cell) == is_token
               ? (here & upper) | token >> 6
               : 0;
}

#ifdef __cplusplus
}
#endif
#endif
