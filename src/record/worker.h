/* worker.h: the thread that does what cannot be done at once: deferred actions of event triggers, and
 * configurations that another process hands in. */
#ifndef QP_RECORD_WORKER_H
#define QP_RECORD_WORKER_H

#include "record/watch_parts.h"

/* Start it, if it does not run. Under the control lock.
 * @return false: the system has no thread; deferred actions will be dropped, which is counted */
bool qp_worker_start(void);

/* Queue an action. A full queue drops it: counted, and the first one logged. Threads: any. No lock
 * is taken. */
void qp_worker_add(const qp_deed *deed);

/* Forget what is queued. */
void qp_worker_reset(void);

/* Do what is queued, then end. Not under the control lock, which actions may take. */
void qp_worker_stop(void);

/* In a forked child: the thread is the parent's. */
void qp_worker_forget(void);

/* Actions that found the queue full, in this run. */
uint64_t qp_worker_dropped(void);

#endif
