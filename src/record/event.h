/* event.h: everything an event may need that the inline path leaves out.
 *
 * Every call here is made by the thread that drives th, and leaves errno as it was. */
#ifndef QP_RECORD_EVENT_H
#define QP_RECORD_EVENT_H

#include "record/thread.h"

/* Run f(th, top, …) as an event: not inside another one, with what other threads asked for done.
 * @return the top frame, and the thread busy until qp_event_end(); NULL: dropped, and counted */
qprof_frame *qp_event_begin(qprof_thread *th);
/* The same, while interrupts that wait go on waiting. */
qprof_frame *qp_event_look(qprof_thread *th);
void qp_event_end(qprof_thread *th, qprof_frame *top);

/* Between the two the host may be called, or whatever takes a lock: the thread is in no event. An
 * event that asked for it has changed nothing yet, or is complete.
 * @param here  frame address of the function that calls the host, to know that it left by a jump
 * @return false: too deep in callbacks already, nothing was ended */
typedef struct {
    const void *outer;
    uint32_t nesting;
    bool was_mounted;
} qp_outside;
bool qp_event_leave(qprof_thread *th, qprof_frame *top, qp_outside *o, const void *here);
/* @return the top frame, in an event again; NULL: the thread is not recorded any more */
qprof_frame *qp_event_return(qprof_thread *th, const qp_outside *o);

/* The record of the method of a frame. */
qp_cell qp_event_method(const qprof_thread *th, const qprof_frame *f);

/* End all frames at `now`, in the thread's time. Inside an event; qp_thread_unsettled(th, 0) is left to the
 * caller, who counts them. @return how many there were, those that are only counted included */
uint64_t qp_event_unroll(qprof_thread *th, qprof_frame **top, uint64_t now);

#endif
