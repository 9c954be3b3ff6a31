/* told.c: a trace played by replay/calls, and counted. */
#include "unit/told.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "replay/calls/calls.h"

static void tell_enter(void *to, qp_span_thread *th, qp_span *s)
{
    told *x = to;
    x->n_calls++;
    x->n_incomplete += s->flags & QP_SPAN_CUT;
    x->depth_max = th->depth > x->depth_max ? th->depth : x->depth_max;
}

static void tell_leave(void *to, qp_span_thread *th, const qp_span *s, qp_span_end end)
{
    (void)th, (void)s;
    ((told *)to)->n_incomplete += end == QP_END_LOST;
}

static void tell_event(void *to, qp_span_thread *th, const qp_span_event *e)
{
    (void)th;
    ((told *)to)->n_markers += e->op == QP_TRACE_MARKER;
}

told tell(const char *file)
{
    told x = {0};
    qp_error error;
    qp_spans spans;
    const qp_span_sink sink = {&x, tell_enter, tell_leave, tell_event};
    qp_trace *trace = qp_trace_open(file, &error);
    assert_non_null(trace);
    qp_trace_spans(trace, &spans, &sink);
    assert_true(qp_trace_play(trace, &spans, NULL, NULL));
    x.n_gaps = spans.counts.n_gaps;
    x.n_unmatched = spans.counts.n_unmatched;
    qp_spans_fini(&spans);
    qp_trace_close(trace);
    return x;
}
