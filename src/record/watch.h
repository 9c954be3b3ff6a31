/* watch.h: event triggers: what is done when something happens.
 *
 * The list and its triggers lie in memory of their own that never moves (watch_list.c). Few of them
 * are enabled: those stand in a row of slots, which an event looks through without a lock
 * (watch.c). Adding, deleting and naming is under the control lock; enabling, disabling, hits and
 * the triggering bit are not. */
#ifndef QP_RECORD_WATCH_H
#define QP_RECORD_WATCH_H

#include "config/config.h"
#include "format/events.h"
#include "record/thread.h"

/* What is known of the call that begins or ends. */
typedef struct {
    uint64_t duration_ns, depth;
} qp_watch_call;

/* The triggering bit. */
extern uint32_t qp_watch_on;

/* Are there event triggers, so that all events must be sent, whatever is collected? */
bool qp_watch_is_used(void);

/* A method is registered, or compared again. Does an event trigger look at its calls? */
bool qp_watch_names(const qp_method *m);

/* Does one look at the calls of all methods? */
bool qp_watch_all_calls(void);

/* Something has happened: compare it with the list. Actions and conditions may make any call and may
 * leave by a jump.
 * @param th  that it happened on, in no event; NULL: none. @param call  NULL: it is no call */
void qp_watch_raise(qprof_thread *th, uint32_t event, uintptr_t object,
                    const qp_watch_call *call);

/* The same, for what happens where nothing may be called: it is raised by the next settle. */
void qp_watch_later(uint32_t event, uintptr_t object);

/* Raise what waits on this system thread; look how much memory is used. */
void qp_watch_settle(void);

/* Whom something happens on that this system thread does; NULL: no thread. */
qprof_thread *qp_watch_here(void);

/* The host's id of a thread: the object of its events. */
uintptr_t qp_watch_id(const qprof_thread *th);

/* ---- a run ---------------------------------------------------------------------------------- */

/* No event triggers; those of the run before are forgotten. */
void qp_watch_begin(void);

/* The run ends: triggering does, too. Say in the log what names fitted nothing. */
void qp_watch_end(void);

/* ---- configuration files; under the control lock --------------------------------------------- */

/* What is said between the two is of one file and in force at its end, or not at all.
 * @param replaces  what files before it have said is gone then */
void qp_watch_begin_file(bool replaces);
/* As a qp_config_sink calls them. @return 0 or QPROF_E_* with error->message */
int qp_watch_on_event_trigger(void *unused, const qp_config_event_trigger *said,
                              qp_config_error *error);
int qp_watch_on_triggering(void *unused, bool is_on, qp_config_error *error);
/* Is there what it refers to? @return 0 or QPROF_E_*, with the place in *error */
int qp_watch_check_file(qp_config_error *error);
void qp_watch_end_file(bool is_kept);

#endif
