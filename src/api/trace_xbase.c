/* trace_xbase.c: the trace of the Xbase++ profiler, as exported. libcprof: trace_xbase_none.c. */
#include "record/trace_xbase.h"
#include "api/door.h"
#include "qprof/trace.h"

#if !QP_PRODUCT_IS_COVERAGE

typedef int (*job)(const char *, qp_parse_error *);

/* A control call about one text. */
static int control(job make, const char *argument)
{
    qp_parse_error error = {0, ""};
    int host_errno = errno;
    if (qp_state() != QP_STATE_RUNNING)
        return qp_door_refuse(QPROF_E_STATE, "a trace needs a run: qprof_initialize");
    if (!qp_control_lock())
        return qp_door_refuse(QPROF_E_STATE, "inside another call");
    int code = make(argument, &error);
    qp_control_unlock();
    errno = host_errno;
    return code ? qp_door_refuse(code, error.message) : 0;
}

static int need(const char *argument)
{
    return argument ? 0 : qp_door_refuse(QPROF_E_ARG, "a setting or a file name is NULL");
}

static int stop(const char *unused, qp_parse_error *error)
{
    (void)unused;
    return qp_trace_xbase_stop(error);
}

static int flush(const char *unused, qp_parse_error *error)
{
    (void)unused;
    return qp_trace_xbase_flush(error);
}

int qprof_trace_set(const char *key, const char *value)
{
    qp_parse_error error = {0, ""};
    int host_errno = errno;
    if (need(key) || need(value))
        return QPROF_E_ARG;
    if (qp_state() != QP_STATE_RUNNING || !qp_control_lock())
        return qp_door_refuse(QPROF_E_STATE, "not running, or inside another call");
    int code = qp_trace_xbase_set(key, value, &error);
    qp_control_unlock();
    errno = host_errno;
    return code ? qp_door_refuse(code, error.message) : 0;
}

const char *qprof_trace_get(const char *key)
{
    return key && qp_state() == QP_STATE_RUNNING ? qp_trace_xbase_get(key) : NULL;
}

int qprof_trace_load(const char *pri_file)
{
    return need(pri_file) ? QPROF_E_ARG : control(qp_trace_xbase_load, pri_file);
}

int qprof_trace_save(const char *pri_file)
{
    return need(pri_file) ? QPROF_E_ARG : control(qp_trace_xbase_save, pri_file);
}

int qprof_trace_start(const char *prf_file)
{
    return control(qp_trace_xbase_start, prf_file);
}

int qprof_trace_stop(void)
{
    return control(stop, NULL);
}

int qprof_trace_flush(void)
{
    return control(flush, NULL);
}

#endif
