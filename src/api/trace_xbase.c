/* trace_xbase.c: the exported functions of Xbase++ traces. Of libcprof: not supported. */
#include "api/guard.h"
#include "qprof.h"
#include "record/stream/stream.h"

static int control(const char *function, int (*job)(const char *, qp_error *), const char *text)
{
    return QP_PRODUCT_IS_COVERAGE
               ? qp_guard_refuse(QPROF_E_UNSUPPORTED, "libcprof does not trace")
               : qp_guard_control(function, job, text);
}

static int control_file(const char *function, int (*job)(const char *, qp_error *),
                        const char *file)
{
    return file ? control(function, job, file)
                : qp_guard_refuse(QPROF_E_ARG, "the file name is NULL");
}

static int stop(const char *unused, qp_error *error)
{
    (void)unused;
    return qp_trace_xbase_stop(error);
}

static int flush(const char *unused, qp_error *error)
{
    (void)unused;
    return qp_trace_xbase_flush(error);
}

int qprof_trace_set(const char *key, const char *value)
{
    qp_error error = {0};
    if (QP_PRODUCT_IS_COVERAGE)
        return qp_guard_refuse(QPROF_E_UNSUPPORTED, "libcprof does not trace");
    if (!key || !value)
        return qp_guard_refuse(QPROF_E_ARG, "qprof_trace_set: key or value is NULL");
    int code = qp_guard_begin("qprof_trace_set");
    if (code)
        return code;
    return qp_guard_end(qp_trace_xbase_set(key, value, &error), error.text);
}

const char *qprof_trace_get(const char *key)
{
    return !QP_PRODUCT_IS_COVERAGE && key && qp_is_running() ? qp_trace_xbase_get(key) : NULL;
}

int qprof_trace_load(const char *pri_file)
{
    return control_file("qprof_trace_load", qp_trace_xbase_load, pri_file);
}

int qprof_trace_save(const char *pri_file)
{
    return control_file("qprof_trace_save", qp_trace_xbase_save, pri_file);
}

int qprof_trace_start(const char *prf_file)
{
    return control("qprof_trace_start", qp_trace_xbase_start, prf_file);
}

int qprof_trace_stop(void)
{
    return control("qprof_trace_stop", stop, NULL);
}

int qprof_trace_flush(void)
{
    return control("qprof_trace_flush", flush, NULL);
}
