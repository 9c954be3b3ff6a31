/* control.c: the exported functions that begin, end, configure, save and diagnose a run. */
#include <string.h>

#include "api/guard.h"
#include "record/control/control.h"
#include "record/trigger/trigger.h"

/* ---- begin and end ----------------------------------------------------------------------- */

static int initialize(const qprof_InitInfo *info, const void *here)
{
    qp_error error = {0};
    int host_errno = errno, code;
    if (!info)
        return qp_guard_refuse(QPROF_E_ARG, "qprof_initialize_ex: the structure is NULL");
    if (info->version != 0)
        return qp_guard_refuse(QPROF_E_VERSION, "qprof_initialize_ex: only version 0 is known");
    if (qp_guard_is_nested(here))
        return qp_guard_refuse(QPROF_E_STATE, "qprof_initialize: inside another call");
    qp_control_lock();
    code = qp_recorder_begin(info, &error);
    qp_control_unlock();
    if (code && !error.text[0])
        qp_error_fail(&error, "qprof_initialize: %s", qprof_strerror(code));
    errno = host_errno;
    return code ? qp_guard_refuse(code, error.text) : 0;
}

int qprof_initialize_ex(qprof_InitInfo *info)
{
    return initialize(info, __builtin_frame_address(0));
}

int qprof_initialize(const char *initial_options, void (*callback)(qprof_MethodID))
{
    const qprof_InitInfo info = {0, initial_options, callback, 0};
    return initialize(&info, __builtin_frame_address(0));
}

static void shut_down(bool is_virtual_call, const void *here)
{
    int host_errno = errno;
    if (!qp_is_running())
        return;
    if (qp_guard_is_nested(here)) {
        qp_guard_refuse(QPROF_E_STATE, "qprof_shutdown: inside another call");
    } else {
        if (is_virtual_call != qp_recorder.is_virtual && !qp_recorder.is_embedded)
            qp_count(&qp_recorder.space, QP_D_wrong_mode);
        qp_recorder_end(false);
    }
    errno = host_errno;
}

void qprof_shutdown(void)
{
    shut_down(false, __builtin_frame_address(0));
}

void qprof_shutdown_vt(QP_UNUSED VthreadID vt)
{
    shut_down(true, __builtin_frame_address(0));
}

/* ---- options ----------------------------------------------------------------------------- */

void *qprof_get_option(const char *name)
{
    if (!name || !qp_is_running())
        return NULL;
    qp_option which = qp_option_find(name, strlen(name));
    if (which == QP_N_OPTIONS)
        return NULL;
    qp_option_kind kind = qp_option_kind_of(which);
    if (kind == QP_OPTION_TEXT || kind == QP_OPTION_WORD || kind == QP_OPTION_SET)
        return (void *)(uintptr_t)qp_option_text(&qp_recorder.options, which);
    return (void *)(uintptr_t)qp_recorder.options.number[which];
}

/* What follows every configuration. @return code */
static int configured(int code, const qp_error *error)
{
    if (qp_event_triggers.has_deferred)
        qp_worker_start();
    if (code)
        qp_recorder_log("%s", error->text);
    return code;
}

static int add_file(const char *file, qp_error *error)
{
    return configured(qp_config_file(file, false, error), error);
}

static int add_line(const char *text, qp_error *error)
{
    return configured(qp_config_words(text, error), error);
}

int qprof_load_config(const char *file)
{
    return file ? qp_guard_control("qprof_load_config", add_file, file)
                : qp_guard_refuse(QPROF_E_ARG, "qprof_load_config: no file");
}

int qprof_config_line(const char *text)
{
    return text ? qp_guard_control("qprof_config_line", add_line, text)
                : qp_guard_refuse(QPROF_E_ARG, "qprof_config_line: no text");
}

void qprof_set_clock(uint64_t (*now)(void))
{
    if (qp_is_running())
        qp_guard_refuse(QPROF_E_STATE, "qprof_set_clock: before qprof_initialize");
    else
        qp_recorder_set_clock(now);
}

/* ---- data -------------------------------------------------------------------------------- */

int qprof_is_running(void)
{
    return qp_is_running();
}

int qprof_is_recording(void)
{
    return qp_is_running() && (qp_load(&qp_recorder_head()->flags) & QP_FLAG_RECORDING);
}

/* @return 1: it was done; 0: not, or it is not possible now */
static int change(const char *function, qp_data_change_kind kind, const char *file,
                  const char *label)
{
    if (qp_guard_begin(function))
        return 0;
    bool is_done = qp_data_change(kind, file, label);
    qp_guard_end(0, "");
    int host_errno = errno;
    qp_event_triggers_settle();
    errno = host_errno;
    return is_done;
}

int qprof_start_recording(void)
{
    return change("qprof_start_recording", QP_DATA_START, NULL, NULL);
}

int qprof_stop_recording(void)
{
    return change("qprof_stop_recording", QP_DATA_STOP, NULL, NULL);
}

int qprof_disable_recording(void)
{
    return change("qprof_disable_recording", QP_DATA_DISABLE, NULL, NULL);
}

int qprof_clear_data(void)
{
    return change("qprof_clear_data", QP_DATA_CLEAR, NULL, NULL);
}

int qprof_save_data(void)
{
    return change("qprof_save_data", QP_DATA_SAVE, NULL, NULL);
}

int qprof_save_data_to_file(const char *name)
{
    if (name && name[0])
        return change("qprof_save_data_to_file", QP_DATA_SAVE, name, NULL);
    qp_guard_refuse(QPROF_E_ARG, "qprof_save_data_to_file: no name");
    return 0;
}

int qprof_new_phase(const char *label)
{
    return QP_PRODUCT_IS_COVERAGE ? 0
                                  : change("qprof_new_phase", QP_DATA_NEW_PHASE, NULL, label);
}

int qprof_add_annotation(const char *text)
{
    if (!text || !qp_is_running())
        return 0;
    if (text[0] && !change("qprof_add_annotation", QP_DATA_ANNOTATE, NULL, text))
        return 0;
    size_t n = strlen(text);
    return n > INT32_MAX ? INT32_MAX : (int)n;
}
