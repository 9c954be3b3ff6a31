/* coverage.c: contexts and sources, as exported. */
#include "api/door.h"

int qprof_context(const char *name)
{
    if (qp_state() != QP_STATE_RUNNING)
        return qp_door_refuse(QPROF_E_STATE, "qprof_context: not running");
    if (!qp_control_lock())
        return qp_door_refuse(QPROF_E_STATE, "qprof_context: inside another call");
    int host_errno = errno;
    bool is_running = qp_state() == QP_STATE_RUNNING;
    bool is_switched = is_running && qp_contexts_switch(name);
    qp_control_unlock();
    errno = host_errno;
    if (!is_running)
        return qp_door_refuse(QPROF_E_STATE, "qprof_context: not running");
    return is_switched ? 0 : qp_door_refuse(QPROF_E_MEMORY, "qprof_context: out of memory");
}

int qprof_register_source(const char *file, const void *text, size_t n_bytes)
{
    if (qp_state() != QP_STATE_RUNNING)
        return qp_door_refuse(QPROF_E_STATE, "qprof_register_source: not running");
    if (!file || !file[0] || (n_bytes && !text))
        return qp_door_refuse(QPROF_E_ARG, "qprof_register_source: no file name, or no text");
    if (!qp_control_lock())
        return qp_door_refuse(QPROF_E_STATE, "qprof_register_source: inside another call");
    int host_errno = errno;
    bool is_added =
        qp_state() == QP_STATE_RUNNING && qp_sources_add(&qp_run.sources, file, text, n_bytes);
    qp_control_unlock();
    errno = host_errno;
    return is_added ? 0
                    : qp_door_refuse(QPROF_E_MEMORY, "qprof_register_source: out of memory");
}

const char *qprof_environment(void)
{
    return QP_PRODUCT_ENVIRONMENT;
}
