/* samples.h: crediting interrupts to call paths.
 *
 * Whoever makes interrupts, the sampler's thread or a signal's timer, only counts them for a
 * thread and sets a hook. The thread itself credits them at its next event: up to then its stack
 * has not changed, so that the credit is exact, nothing is ever read half written, and the path
 * that the stack stands for is looked up by the one thread that may add to the tree. */
#ifndef QP_RECORD_SAMPLES_H
#define QP_RECORD_SAMPLES_H

#include "record/thread.h"

/* A pass over a thread. Any thread, any signal handler. @param ticks  since the one before, for
 * -time=sampled. @param n_interrupts  of the PC command */
void qp_samples_note(qprof_thread *th, uint64_t ticks, uint64_t n_interrupts);

/* Credit what waits to a path, 0: to the one on top; th is in an event. */
void qp_samples_take(qprof_thread *th, qprof_frame *top, qp_cell path);

/* The path of a callee, made if need be; its caller's where there is no room. */
qp_cell qp_samples_callee(qprof_thread *th, qp_cell parent, uint64_t method);

/* n interrupts to the path on top, now. */
void qp_samples_add(qprof_thread *th, qprof_frame *top, uint64_t n);

/* The path of a frame whose calls are not counted, looked up if it never was. */
qp_cell qp_samples_path(qprof_thread *th, qprof_frame *top);

/* No thread records any more: credit what still waits. */
void qp_samples_end(void);

#endif
