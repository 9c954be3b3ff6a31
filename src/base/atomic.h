/* atomic.h: the few atomic operations that the recorder uses, by what they are for. */
#ifndef QP_BASE_ATOMIC_H
#define QP_BASE_ATOMIC_H

#include <stdint.h>

#define QP_LIKELY(c)   __builtin_expect(!!(c), 1)
#define QP_UNLIKELY(c) __builtin_expect(!!(c), 0)
#define QP_UNUSED      __attribute__((unused)) /* a parameter that the type of a callback demands */

/* A variable of each thread. With QPROF_NO_THREADS the process has one thread, and the library starts none. */
#if defined(QPROF_NO_THREADS)
#define QP_THREAD_LOCAL
#else
#define QP_THREAD_LOCAL __attribute__((tls_model("initial-exec"))) _Thread_local
#endif

/* One writer, any readers: each access is atomic, without any order. */
#define qp_load(p)     __atomic_load_n((p), __ATOMIC_RELAXED)
#define qp_store(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define qp_bump(p, n)  qp_store((p), qp_load(p) + (n))

/* Publishing: a thread that sees the value sees what was written before it. */
#define qp_publish(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define qp_observe(p)    __atomic_load_n((p), __ATOMIC_ACQUIRE)

/* Several writers. */
#define qp_fetch_add(p, n)    __atomic_fetch_add((p), (n), __ATOMIC_RELAXED)
#define qp_announce(p, n)     __atomic_fetch_add((p), (n), __ATOMIC_SEQ_CST)
#define qp_fetch_or(p, bits)  __atomic_fetch_or((p), (bits), __ATOMIC_SEQ_CST)
#define qp_fetch_and(p, bits) __atomic_fetch_and((p), (bits), __ATOMIC_SEQ_CST)
#define qp_swap_if(p, expected, v)                                                             \
    __atomic_compare_exchange_n((p), (expected), (v), 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

/* A signal handler of the same thread sees the stores before and after it in this order. */
#define qp_signal_fence() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#ifdef __SANITIZE_THREAD__ /* it knows no fences, but orders by what is exchanged */
#define qp_fence() ((void)__atomic_fetch_add(&(uint32_t){0}, 0u, __ATOMIC_SEQ_CST))
#else
#define qp_fence() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#endif

#endif
