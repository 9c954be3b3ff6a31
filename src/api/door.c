/* door.c: the cold side of the door. */
#include "api/door.h"

#include <stdio.h>
#include <string.h>

static _Thread_local char error_text[256] __attribute__((tls_model("initial-exec")));

int qp_door_refuse(int code, const char *message)
{
    static const qp_diagnostic counters[] = {
        QP_D_e_arg, QP_D_e_version, QP_D_e_state,       QP_D_e_option,   QP_D_e_memory,
        QP_D_e_io,  QP_D_e_syntax,  QP_D_e_unsupported, QP_D_e_notfound, QP_D_e_limit};
    snprintf(error_text, sizeof error_text, "%s", message);
    if (qp_state() == QP_STATE_RUNNING || qp_state() == QP_STATE_CLOSED)
        qp_count(&qp_run.space, counters[-code - 1]);
    return code;
}

const char *qprof_error_text(void)
{
    return error_text;
}

void qp_door_shut(uint32_t gate)
{
    if (gate == QP_GATE_CLOSED && qp_state() == QP_STATE_CLOSED)
        qp_count(&qp_run.space, QP_D_after_shutdown);
    if (gate == QP_GATE_WRONG_MODE && qp_state() == QP_STATE_RUNNING)
        qp_count(&qp_run.space, QP_D_wrong_mode);
}

qprof_thread *qp_door_plain(void)
{
    uint32_t gate = qp_load(&qp_gate_plain);
    if (gate != QP_GATE_OPEN) {
        qp_door_shut(gate);
        return NULL;
    }
    qprof_thread *th = qp_here.plain;
    if (QP_LIKELY(qp_is_open(th)))
        return th;
    int host_errno = errno;
    th = qp_thread_own();
    if (!th && qp_state() == QP_STATE_RUNNING)
        qp_count(&qp_run.space, QP_D_out_of_memory);
    errno = host_errno;
    return th;
}

/* Mount and hold; what lost the thread in between is turned away. */
static qprof_thread *enter(qprof_thread *th)
{
    qprof_thread *before = th ? qp_thread_mount(th) : NULL;
    if (!before)
        return NULL;
    if (QP_UNLIKELY(before != th && qp_load(&qp_watch_on))) {
        qp_watch_raise(th, QP_EVENT_VT_SWITCH, qp_watch_id(th), NULL);
        if (!qp_thread_mount(th)) /* an action drove another one */
            return NULL;
    }
    if (qp_thread_hold(th))
        return th;
    qp_thread_drop();
    qp_count(&qp_run.space, QP_D_vt_conflict);
    return NULL;
}

static bool vt_gate_is_open(void)
{
    uint32_t gate = qp_load(&qp_gate_vt);
    if (gate == QP_GATE_OPEN)
        return true;
    qp_door_shut(gate);
    return false;
}

qprof_thread *qp_door_vt(VthreadID vt)
{
    if (!vt_gate_is_open())
        return NULL;
    int host_errno = errno;
    qprof_thread *th = qp_thread_vt(vt, 0);
    if (!th && qp_state() == QP_STATE_RUNNING)
        qp_count(&qp_run.space, QP_D_out_of_memory);
    th = enter(th);
    errno = host_errno;
    return th;
}

qprof_thread *qp_door_known_vt(VthreadID vt)
{
    if (!vt_gate_is_open() || qp_state() != QP_STATE_RUNNING)
        return NULL;
    qprof_thread *th = qp_thread_find_vt(vt);
    if (!th)
        qp_count(&qp_run.space, QP_D_unknown_thread);
    return th;
}

qprof_thread *qp_door_last(void)
{
    if (qp_state() != QP_STATE_RUNNING) {
        qp_door_shut(qp_load(&qp_gate_plain));
        return NULL;
    }
    if (!qp_run.is_virtual)
        return qp_door_plain();
    if (qp_here.epoch == qp_run.epoch && qp_is_open(qp_here.th)) {
        if (qp_thread_hold(qp_here.th))
            return qp_here.th;
        qp_thread_drop();
    }
    qp_count(&qp_run.space, QP_D_unknown_thread);
    return NULL;
}
