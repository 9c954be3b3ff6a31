/* guard.h: what every exported function does first: check the state, count a refusal. */
#ifndef QP_API_GUARD_H
#define QP_API_GUARD_H

#include <errno.h>

#include "base/atomic.h"
#include "base/text/error.h"
#include "record/event/event.h"
#include "record/run/run.h"
#include "record/trigger/trigger.h"

static inline bool qp_is_running(void)
{
    return qp_state() == QP_STATE_RUNNING;
}

static inline bool qp_is_user_event(qprof_event_t event)
{
    return event >= QPROF_EV_USER_FIRST && event <= QPROF_EV_USER_LAST;
}

/* Return code, a QPROF_E_*; count it, and keep the message for qprof_error_text(). */
int qp_guard_refuse(int code, const char *message);

/* Whether the host was compiled with this library's inline header; counted, and shown in every report,
 * if not. */
bool qp_guard_version(const char *function, unsigned version);

/* Whether a callback of an event, or a signal handler that interrupted a control function,
 * calls. @param here frame of the exported function */
bool qp_guard_is_nested(const void *here);

/* Begin a control function: take the control lock of a run that is on. @return 0;
 * QPROF_E_STATE: not running, or inside another control function; refused, unless function is
 * NULL */
int qp_guard_begin(const char *function);

/* End it: release the lock and restore errno. @return code; refused with the message unless
 * 0 */
int qp_guard_end(int code, const char *message);

/* A control function whose work is a job with one text. @return as its two parts above */
int qp_guard_control(const char *function, int (*job)(const char *, qp_error *),
                     const char *text);

/* Whether a gate, qp_gate_plain or qp_gate_vt, is open; counted if not. */
bool qp_guard_is_open(const uint32_t *gate);

/* The thread of an event without vt. @return NULL: the event is dropped and counted */
qprof_thread *qp_guard_plain(void);

/* The virtual thread of an event, mounted here and held until qp_thread_drop(). @return NULL:
 * the event is dropped and counted */
qprof_thread *qp_guard_vt(VthreadID vt);

/* A virtual thread that exists; not mounted. @return NULL: none, counted as unknown_thread */
qprof_thread *qp_guard_known_vt(VthreadID vt);

/* The virtual thread last named by a _vt function on this OS thread; without virtual threads
 * the calling thread. Held until qp_thread_drop(). @return NULL: none, counted as
 * unknown_thread */
qprof_thread *qp_guard_last(void);

#endif
