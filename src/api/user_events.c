/* user_events.c: the exported functions that raise events of the host. Its functions are called with the
 * host's actions above them, those of event_triggers.c are not: it has unwind tables. */
#include "api/guard.h"
#include "record/ring/ring.h"
#include "record/tree/tree.h"
#include "record/trigger/trigger.h"

void qprof_trg_event(qprof_event_t id)
{
    if (QP_UNLIKELY(qp_load(&qp_is_triggering)) && qp_is_user_event(id) && qp_is_running())
        qp_event_triggers_raise(qp_event_triggers_here(), id, 0, NULL);
}

static bool is_recording(qprof_thread *th)
{
    uint32_t flags = qp_load(&qp_recorder_head()->flags);
    if (!(flags & QP_FLAG_RECORDING) || (flags & QP_FLAG_CLOSED))
        return false;
    return !th || (!(QPROF_LOAD(th->gate) & QP_HOOK_OFF) && !qp_stack_is_excluded(th));
}

int qprof_user_event(qprof_event_t id)
{
    int host_errno = errno;
    if (!qp_is_user_event(id))
        return qp_guard_refuse(QPROF_E_ARG, "qprof_user_event: not an event of the host");
    if (!qp_is_running())
        return qp_guard_refuse(QPROF_E_STATE, "qprof_user_event: not running");
    if (is_recording(qp_event_triggers_here()))
        qp_event_count_add(id);
    qprof_trg_event(id);
    errno = host_errno;
    return 0;
}
