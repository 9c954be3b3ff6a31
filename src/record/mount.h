/* mount.h: who drives a thread, for thread.c; qp_thread_mount() is for everybody. */
#ifndef QP_RECORD_MOUNT_H
#define QP_RECORD_MOUNT_H

#include "record/thread.h"

/* Drive the thread from here. @return false: another carrier is in an event of it, counted */
bool qp_thread_take(qprof_thread *th);

/* Let the thread go: its clock stands until somebody takes it; if it ends, nobody does. */
void qp_thread_release(qprof_thread *th, bool ends);

/* The virtual thread that this carrier is about from now on. */
void qp_thread_look_at(qprof_thread *th, uintptr_t vt);

/* Forget what an earlier run left in this system thread's memory. */
void qp_carrier_renew(void);

#endif
