/* door.h: what every exported call does first: look at the state, and count what is refused. */
#ifndef QP_API_DOOR_H
#define QP_API_DOOR_H

#include <errno.h>

#include "base/atomic.h"
#include "record/event.h"
#include "record/thread.h"
#include "record/watch.h"

/* Count a refused control call; remember what it disliked. @return code */
int qp_door_refuse(int code, const char *message);

/* Why an event was not let through: count it. */
void qp_door_shut(uint32_t gate);

/* The thread of a plain event call. @return NULL: dropped, and counted */
qprof_thread *qp_door_plain(void);

/* The virtual thread of an event, mounted here and held until qp_thread_drop().
 * @return NULL: dropped, and counted */
qprof_thread *qp_door_vt(VthreadID vt);

/* The same for calls that must not make the thread. */
qprof_thread *qp_door_known_vt(VthreadID vt);

/* The virtual thread last named by a _vt call on this system thread; in system-thread mode the
 * calling thread. Held until qp_thread_drop(). @return NULL: none, counted as unknown_thread */
qprof_thread *qp_door_last(void);

#endif
