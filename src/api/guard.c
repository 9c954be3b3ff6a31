/* guard.c: the checks of exported functions that are not on the event path. */
#include "api/guard.h"

#include <stdio.h>
#include <string.h>

#include "base/atomic.h"

static QP_THREAD_LOCAL char error_text[256];
static QP_THREAD_LOCAL int host_errno;

int qp_guard_refuse(int code, const char *message)
{
    static const qp_diagnostic counters[] = {
        QP_D_e_arg, QP_D_e_version, QP_D_e_state,       QP_D_e_option,   QP_D_e_memory,
        QP_D_e_io,  QP_D_e_syntax,  QP_D_e_unsupported, QP_D_e_notfound, QP_D_e_limit};
    snprintf(error_text, sizeof error_text, "%s", message);
    if (qp_is_running() || qp_state() == QP_STATE_CLOSED)
        qp_count(&qp_recorder.space, counters[-code - 1]);
    return code;
}

bool qp_guard_version(const char *function, unsigned version)
{
    char text[160];
    if (version == QPROF_INLINE_VERSION)
        return true;
    snprintf(text, sizeof text,
             "%s: the host was compiled with version %u of the inline header; this library has "
             "version %u",
             function, version, QPROF_INLINE_VERSION);
    if (qp_is_running()) {
        qp_count(&qp_recorder.space, QP_D_inline_version);
        qp_recorder_note(QP_NOTE_MESSAGE, text);
    }
    qp_guard_refuse(QPROF_E_VERSION, text);
    return false;
}

const char *qprof_error_text(void)
{
    return error_text;
}

bool qp_guard_is_nested(const void *here)
{
    return qp_here.in_control || qp_thread_callbacks(here);
}

int qp_guard_begin(const char *function)
{
    char text[80];
    int before = errno;
    bool is_locked = qp_is_running() && qp_control_lock();
    if (is_locked && qp_is_running()) {
        host_errno = before;
        return 0;
    }
    bool is_nested = !is_locked && qp_is_running();
    if (is_locked) /* the run ended meanwhile */
        qp_control_unlock();
    errno = before;
    if (!function)
        return QPROF_E_STATE;
    snprintf(text, sizeof text, "%s: %s", function,
             is_nested ? "inside another control function" : "not running");
    return qp_guard_refuse(QPROF_E_STATE, text);
}

int qp_guard_end(int code, const char *message)
{
    qp_control_unlock();
    errno = host_errno;
    return code ? qp_guard_refuse(code, message) : 0;
}

int qp_guard_control(const char *function, int (*job)(const char *, qp_error *),
                     const char *text)
{
    qp_error error = {0};
    int code = qp_guard_begin(function);
    return code ? code : qp_guard_end(job(text, &error), error.text); /* the job fills it */
}

bool qp_guard_is_open(const uint32_t *gate)
{
    uint32_t state = qp_load(gate);
    if (QP_UNLIKELY(qp_host_child))
        qp_host_in_child();
    if (state == QP_GATE_CLOSED && qp_state() == QP_STATE_CLOSED)
        qp_count(&qp_recorder.space, QP_D_after_shutdown);
    if (state == QP_GATE_WRONG_MODE && qp_is_running())
        qp_count(&qp_recorder.space, QP_D_wrong_mode);
    return state == QP_GATE_OPEN;
}

qprof_thread *qp_guard_plain(void)
{
    if (!qp_guard_is_open(&qp_gate_plain))
        return NULL;
    qprof_thread *th = qp_here.plain;
    if (QP_LIKELY(qp_is_open(th)))
        return th;
    int before = errno;
    th = qp_thread_own();
    if (!th && qp_is_running())
        qp_count(&qp_recorder.space, QP_D_out_of_memory);
    errno = before;
    return th;
}

/* Mount and hold. @return NULL: another OS thread has taken the thread meanwhile, or it was parked */
static qprof_thread *enter(qprof_thread *th, VthreadID vt)
{
    qp_here.wanted = vt;
    qprof_thread *before = qp_thread_mount(th);
    qp_here.wanted = 0;
    if (!before || qp_load(&qp_record_of(th)->vt_id) != vt)
        return NULL;
    if (QP_UNLIKELY(before != th && qp_load(&qp_is_triggering))) {
        qp_event_triggers_raise(th, QP_EVENT_VT_SWITCH, qp_event_triggers_id(th), NULL);
        if (!qp_thread_mount(th)) /* an action drove another one */
            return NULL;
    }
    if (qp_thread_hold(th))
        return th;
    qp_thread_drop();
    qp_count(&qp_recorder.space, QP_D_vt_conflict);
    return NULL;
}

qprof_thread *qp_guard_vt(VthreadID vt)
{
    if (!qp_guard_is_open(&qp_gate_vt))
        return NULL;
    int before = errno;
    qprof_thread *found, *th = NULL;
    do { /* again if it was parked before it was mounted */
        if ((found = qp_thread_vt(vt, 0)) != NULL)
            th = enter(found, vt);
    } while (found && !th && qp_load(&qp_record_of(found)->vt_id) != vt);
    if (!found && qp_is_running())
        qp_count(&qp_recorder.space, QP_D_out_of_memory);
    errno = before;
    return th;
}

qprof_thread *qp_guard_known_vt(VthreadID vt)
{
    if (!qp_guard_is_open(&qp_gate_vt) || !qp_is_running())
        return NULL;
    qprof_thread *th = qp_thread_known_vt(vt);
    if (!th)
        qp_count(&qp_recorder.space, QP_D_unknown_thread);
    return th;
}

qprof_thread *qp_guard_last(void)
{
    if (!qp_is_running()) {
        qp_guard_is_open(&qp_gate_plain);
        return NULL;
    }
    if (!qp_recorder.is_virtual)
        return qp_guard_plain();
    if (qp_here.epoch == qp_recorder.epoch && qp_is_open(qp_here.th)) {
        if (qp_thread_hold(qp_here.th))
            return qp_here.th;
        qp_thread_drop();
    }
    qp_count(&qp_recorder.space, QP_D_unknown_thread);
    return NULL;
}
