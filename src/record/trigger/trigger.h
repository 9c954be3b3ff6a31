/* trigger.h: what triggers and event triggers do with the events of a thread. The lists
 * themselves are in trigger_list.h. */
#ifndef QP_RECORD_TRIGGER_TRIGGER_H
#define QP_RECORD_TRIGGER_TRIGGER_H

#include "record/trigger_list/trigger_list.h"

/* A request for an action; deferred ones wait in the queue of the worker in this form. */
typedef struct {
    uint32_t action; /* QPROF_TRG_ACT_*, QP_ACT_CLEAR */
    uint32_t name;   /* of the event trigger: ref; 0: none */
    int (*function)(intptr_t argument);
    intptr_t argument;
    bool is_deferred;
} qp_action_request;

enum { QP_ACT_CLEAR = QPROF_TRG_ACT_MARK + 1 }; /* clear the data */

/* Performs an action, or queues it; in no event, without a lock. Set by the control room. */
extern void (*qp_perform)(const qp_action_request *request);

/* ---- triggers: trigger.c ----------------------------------------------------------------- */

/* A thread is made: it begins with the initial status. */
void qp_triggers_create(const qprof_thread *th);

/* It has its first event. */
void qp_triggers_thread(qprof_thread *th, qprof_frame *top);

/* Apply what other threads changed: the thread's status, and which of its paths are hooked.
 * @param is_suspended  no OS thread drives it yet: its clock is paused since it was released */
void qp_triggers_sync(qprof_thread *th, qprof_frame *top, bool is_suspended);

/* Status of the calling thread. */
bool qp_triggers_status(void);

/* The status of th. */
static inline bool qp_triggers_is_on(const qprof_thread *th)
{
    return !(QPROF_LOAD(th->gate) & QP_HOOK_OFF);
}

/* Set it. @param raw  when, in ticks of a clock that other threads can read; 0: now */
void qp_triggers_turn(qprof_thread *th, qprof_frame *top, bool on, uint64_t raw);

/* Enable or disable all threads: each applies it at its next event. Under the control lock. */
void qp_triggers_turn_all(bool on);

/* Let the triggers of a method act on a call. @param status  receives what they set
 * @return QPROF_FRAME_RESTORE* */
uint32_t qp_triggers_act(qprof_thread *th, const qp_hooks *h, qp_cell method, bool *status);

/* The trigger of member *i, with a marker for this call unless it is a trigger; *i advances to
 * the first member of another one. @return NULL: it is not an action for `when`, or not in
 * use */
const qp_trigger *qp_triggers_next_action(const qprof_thread *th, const qp_hooks *h,
                                          uint32_t *i, qp_cell method, unsigned when);

/* ---- event triggers: event_trigger.c ----------------------------------------------------- */

/* What is known of the call that begins or ends. */
typedef struct {
    uint64_t duration_ns, depth;
} qp_event_call;

/* Compare an event with the list. Actions and conditions may make any call and may leave by a
 * jump.
 * @param th  the thread that it happened on, in no event; NULL: none. @param call  NULL: it is
 * not a call */
void qp_event_triggers_raise(qprof_thread *th, uint32_t event, uintptr_t object,
                             const qp_event_call *call);

/* Raise what waits on this OS thread: see qp_event_later(). Check how much memory is used. */
void qp_event_triggers_settle(void);

/* The thread on which something happens that this OS thread does; NULL: none. */
qprof_thread *qp_event_triggers_here(void);

/* The host's id of a thread: the object of its events. */
uintptr_t qp_event_triggers_id(const qprof_thread *th);

#endif
