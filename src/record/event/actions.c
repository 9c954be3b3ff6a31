/* actions.c: what triggers and actions do at the entry and exit of a hooked method. Read
 * qp_actions_entry first. */
#include "record/event/event.h"
#include "record/trigger/trigger.h"

/* Perform an action between events, because it may need the control lock. NULL in *top: the
 * thread is no longer recorded. */
static void act(qprof_thread *th, qprof_frame **top, qp_action_kind kind)
{
    qp_host_call o;
    if (!qp_event_leave(th, *top, &o, __builtin_frame_address(0)))
        return;
    if (kind == QP_ACTION_GET_RESULTS) {
        qp_perform(&(qp_action_request){.action = QPROF_TRG_ACT_SNAPSHOT});
    } else if (kind == QP_ACTION_CLEAR_RESULTS) {
        qp_perform(&(qp_action_request){.action = QP_ACT_CLEAR});
    } else if (qp_control_lock()) {
        qp_triggers_turn_all(kind == QP_ACTION_ENABLE);
        qp_control_unlock();
    }
    *top = qp_event_return(th, &o);
}

/* After each action, in which the thread is not busy, the hooks may be others. */
static void run_actions(qprof_thread *th, qprof_frame **top, const qp_hooks *h, qp_cell method,
                        unsigned when)
{
    for (uint32_t i = 0; *top && h && i < h->n;) {
        const qp_trigger *action = qp_triggers_next_action(th, h, &i, method, when);
        if (!action)
            continue;
        act(th, top, (qp_action_kind)action->type);
        h = qp_triggers_hooks(method);
    }
}

uint32_t qp_actions_entry(qprof_thread *th, qprof_frame **top, qp_cell method)
{
    const qp_hooks *h = qp_triggers_hooks(method);
    if (!h)
        return 0;
    bool status = qp_triggers_is_on(th);
    uint32_t flags = qp_triggers_act(th, h, method, &status);
    qp_triggers_turn(th, *top, status, 0);
    run_actions(th, top, h, method, QPROF_ON_ENTER);
    return flags;
}

void qp_actions_exit(qprof_thread *th, qprof_frame **top, qp_cell method, uint32_t frame_flags)
{
    const qp_hooks *h = method ? qp_triggers_hooks(method) : NULL;
    if (h)
        run_actions(th, top, h, method, QPROF_ON_EXIT);
    if (!*top || !(frame_flags & QPROF_FRAME_RESTORE))
        return;
    bool on = frame_flags & QPROF_FRAME_RESTORE_ON,
         is_exact = QPROF_LOAD(th->gate) & QP_HOOKS_EXACT;
    uint64_t ended = is_exact && !on ? th->pulse->last + th->pulse->offset : 0;
    qp_triggers_turn(th, *top, on, ended); /* the recorder's own work is not charged */
}
