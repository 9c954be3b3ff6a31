/* pause.h: times that do not count: a thread is suspended, recording is stopped, the thread's
 * status is off, or what it has measured is cleared. */
#ifndef QP_RECORD_PAUSE_PAUSE_H
#define QP_RECORD_PAUSE_PAUSE_H

#include "record/run/run.h"

/* Apply stops, starts and clears since the thread last looked. @param top  its top frame */
void qp_pause_sync(qprof_thread *th, qprof_frame *top);

/* Apply the last clear now, to a thread that is busy. */
void qp_pause_clear(qprof_thread *th, qprof_frame *top);

/* Set the thread's status: while it is off, its clock is paused and its calls are skips.
 * @param raw  when another thread decided it, raw ticks; 0: now
 * @param is_suspended  no OS thread drives it: see qp_pause_suspend() */
void qp_pause_turn(qprof_thread *th, qprof_frame *top, bool on, uint64_t raw,
                   bool is_suspended);

/* Stop the thread's clock, and start it again. @param top  its top frame, or NULL */
void qp_pause_suspend(qprof_thread *th, qprof_frame *top);
void qp_pause_resume(qprof_thread *th, qprof_frame *top);

/* Has the top frame run since the thread's last event, or the last clear? Any thread may ask; of the
 * clocks that it can read. What the owner does meanwhile changes only whether it is seen. */
bool qp_pause_has_run(const qp_thread_record *r);

/* The thread continues on another OS thread without having been suspended. */
void qp_pause_migrate(qprof_thread *th);

#endif
