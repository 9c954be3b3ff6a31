/* requests.c: the exported functions of requests. */
#include "api/guard.h"

/* Coverage alone keeps no call paths: there nothing is below an endpoint. */
static bool has_endpoints(const qprof_thread *th)
{
    return th && qp_is_open(th) && !QP_PRODUCT_IS_COVERAGE && qp_recorder_has_paths();
}

void qprof_request_begin_of(qprof_thread *th, const char *endpoint,
                            const unsigned char *trace_id, const unsigned char *span_id)
{
    if (has_endpoints(th))
        qp_request_begin(th, endpoint, trace_id, span_id);
}

void qprof_request_end_of(qprof_thread *th, int has_failed)
{
    if (has_endpoints(th))
        qp_request_end(th, has_failed != 0);
}

void qprof_request_begin(const char *endpoint, const unsigned char *trace_id,
                         const unsigned char *span_id)
{
    qprof_thread *th = qp_guard_last();
    qprof_request_begin_of(th, endpoint, trace_id, span_id);
    if (th)
        qp_thread_drop();
}

void qprof_request_begin_vt(const char *endpoint, const unsigned char *trace_id,
                            const unsigned char *span_id, VthreadID vt)
{
    qprof_thread *th = qp_guard_vt(vt);
    qprof_request_begin_of(th, endpoint, trace_id, span_id);
    if (th)
        qp_thread_drop();
}

void qprof_request_end(int has_failed)
{
    qprof_thread *th = qp_guard_last();
    qprof_request_end_of(th, has_failed);
    if (th)
        qp_thread_drop();
}

void qprof_request_end_vt(int has_failed, VthreadID vt)
{
    qprof_thread *th = qp_guard_vt(vt);
    qprof_request_end_of(th, has_failed);
    if (th)
        qp_thread_drop();
}
