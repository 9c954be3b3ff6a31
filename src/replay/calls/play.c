/* play.c: puts the records of a trace, all or those of a window, into spans. */
#include "replay/calls/calls.h"

/* The spans are muted for the records before the window. @return false: the window has ended */
static bool put_run(qp_spans *x, const qp_trace_run *run, const qp_trace_window *w)
{
    size_t first = x->is_muted ? qp_trace_count_before(run->records, run->n, w->from) : 0;
    if (first)
        qp_spans_put(x, run->os_thread, run->records, first);
    if (first == run->n)
        return true;
    if (x->is_muted)
        qp_spans_cut(x, w->from);
    size_t n = qp_trace_count_before(run->records + first, run->n - first, w->to);
    if (n)
        qp_spans_put(x, run->os_thread, run->records + first, n);
    return n == run->n - first;
}

void qp_trace_spans(qp_trace *t, qp_spans *x, const qp_span_sink *sink)
{
    qp_spans_init(x, qp_trace_names(t), sink);
    x->is_shared = x->counts_from_call = qp_trace_about(t)->kind == QP_TRACE_OF_XBASE;
}

bool qp_trace_play_on(qp_trace *t, qp_spans *x, const qp_trace_window *window,
                      const qp_progress *progress)
{
    const qp_trace_window whole = {0, UINT64_MAX}, *w = window ? window : &whole;
    const qp_trace_info *info = qp_trace_about(t);
    qp_trace_run run;
    unsigned shown = 0;
    x->is_muted = w->from > x->counts.last && w->from > info->begun_raw;
    while (!x->failed && qp_trace_next(t, &run) && put_run(x, &run, w)) {
        uint64_t all = info->n_bytes ? info->n_bytes : 1, at = qp_trace_position(t);
        unsigned percent = (unsigned)(100 * (at < all ? at : all) / all);
        if (percent != shown)
            qp_progress_show(progress, shown = percent);
    }
    return !x->failed && !qp_trace_failed(t);
}

uint64_t qp_trace_missing(const qp_trace *t, const qp_span_counts *counts,
                          const qp_trace_window *window, uint64_t *places)
{
    const qp_trace_losses *losses = qp_trace_lost(t);
    uint64_t counted = losses->n_unheld + losses->n_unwritten;
    bool has_end = !window || window->to == UINT64_MAX;
    bool is_cut = has_end && !qp_trace_about(t)->is_live && counted > counts->n_lost;
    *places = counts->n_gaps + is_cut;
    return is_cut ? counted : counts->n_lost;
}

uint64_t qp_trace_end_raw(const qp_trace *t, const qp_spans *x, const qp_trace_window *window)
{
    uint64_t end_raw = qp_trace_about(t)->end_raw;
    uint64_t end = end_raw > x->counts.last ? end_raw : x->counts.last;
    return window && window->to < end ? window->to : end;
}

bool qp_trace_play(qp_trace *t, qp_spans *x, const qp_trace_window *window,
                   const qp_progress *progress)
{
    bool is_played = qp_trace_play_on(t, x, window, progress);
    bool has_end = qp_trace_about(t)->end_raw || (window && window->to != UINT64_MAX);
    qp_spans_end(x, has_end ? qp_trace_end_raw(t, x, window) : 0);
    return is_played && !x->failed;
}
