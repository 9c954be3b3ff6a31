/* trace_xbase_none.c: the trace of the Xbase++ profiler, as libcprof exports it. */
#include "api/door.h"
#include "qprof/trace.h"

#if QP_PRODUCT_IS_COVERAGE

static int refuse(void)
{
    return qp_door_refuse(QPROF_E_UNSUPPORTED, "libcprof does not trace");
}

int qprof_trace_set(const char *key, const char *value)
{
    (void)key, (void)value;
    return refuse();
}

const char *qprof_trace_get(const char *key)
{
    (void)key;
    return NULL;
}

int qprof_trace_load(const char *pri_file)
{
    (void)pri_file;
    return refuse();
}

int qprof_trace_save(const char *pri_file)
{
    (void)pri_file;
    return refuse();
}

int qprof_trace_start(const char *prf_file)
{
    (void)prf_file;
    return refuse();
}

int qprof_trace_stop(void)
{
    return refuse();
}

int qprof_trace_flush(void)
{
    return refuse();
}

#endif
