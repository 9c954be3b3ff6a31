/* trace.c: see trace.h. */
#include "export/trace.h"

bool qp_trace_export_play(qp_trace_export *x, const qp_span_sink *sink)
{
    qp_spans spans;
    const qp_span_sink chosen = x->choose(x->to, sink);
    qp_trace_spans(x->trace, &spans, &chosen);
    spans.counts_from_call = false;
    bool is_played = qp_trace_play(x->trace, &spans, x->window, x->progress);
    x->counts = spans.counts;
    qp_spans_fini(&spans);
    return is_played;
}

uint64_t qp_trace_export_begin(const qp_trace_export *x, const qp_span *s)
{
    return qp_trace_moment(qp_trace_about(x->trace), s->raw);
}
