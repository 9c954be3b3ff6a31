/* request_open.c: which of the open calls are requests, for the ends of calls. */
#include "base/atomic.h"
#include "record/event/event.h"
#include "record/tree/tree.h"

bool qp_method_is_endpoint(qp_cell method)
{
    const qp_method *m = method ? qp_at(&qp_recorder.space, method) : NULL;
    return m && (qp_load(&m->flags) & QP_METHOD_ENDPOINT);
}

qp_cell qp_request_method(const qprof_thread *th, const qprof_frame *f)
{
    return f->node        ? qp_frame_method(th, f)
           : f->method_id ? qp_methods_find(&qp_recorder.methods, f->method_id)
                          : 0;
}

uint64_t qp_request_run(const qprof_thread *th, qprof_frame *top, uint64_t n)
{
    qp_stack_cursor c = qp_stack_from(th, top);
    uint64_t run = 0;
    for (uint64_t i = 0; qp_load(&qp_recorder.n_endpoints) && i < n; i++) {
        run = qp_method_is_endpoint(qp_request_method(th, c.f)) ? run + 1 : 0;
        qp_stack_down(th, &c);
    }
    return run;
}

qp_cell qp_request_above(const qprof_thread *th, qp_cell top, qp_cell path)
{
    qp_cell highest = 0;
    for (qp_cell at = top; qp_load(&qp_recorder.n_endpoints) && at != path;
         at = qp_node_at(th, at)->parent) {
        bool is_endpoint = qp_method_is_endpoint(qp_node_at(th, at)->method);
        highest = !is_endpoint ? 0 : highest ? highest : at;
    }
    return highest ? highest : path;
}

qprof_frame *qp_request_below(const qprof_thread *th, qprof_frame *top)
{
    qp_stack_cursor c = qp_stack_from(th, top);
    uint64_t depth = qp_stack_depth(th, top);
    if (qp_own_of(th)->has_token) {
        qp_cell at = qp_frame_path(top);
        while (qp_method_is_endpoint(qp_node_at(th, at)->method))
            at = qp_node_at(th, at)->parent;
        QPROF_STORE(top->node, (uint64_t)at << 6);
        return top;
    }
    for (; depth && qp_method_is_endpoint(qp_request_method(th, c.f)); depth--)
        qp_stack_down(th, &c);
    return c.f;
}

uint64_t qp_request_depth(const qprof_thread *th, qprof_frame *top)
{
    uint64_t n = 0, depth = qp_own_of(th)->has_token ? 0 : qp_stack_depth(th, top);
    qp_stack_cursor c = qp_stack_from(th, top);
    if (!qp_load(&qp_recorder.n_endpoints))
        return 0;
    for (; depth; depth--, qp_stack_down(th, &c))
        n += qp_method_is_endpoint(qp_request_method(th, c.f));
    qp_cell at = qp_own_of(th)->has_token ? qp_frame_path(top) : 0;
    for (; at; at = qp_node_at(th, at)->parent)
        n += qp_method_is_endpoint(qp_node_at(th, at)->method);
    return n;
}
