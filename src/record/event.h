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

/* End all frames now. @return how many there were, counted ones included. Inside an event. */
uint64_t qp_event_unroll(qprof_thread *th, qprof_frame **top);

#endif
