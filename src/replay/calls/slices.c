/* slices.c: what functions did in each slice of time. See calls.h. Read qp_slices_play first.
 *
 * At the end of a slice all open calls are cut, as where a window of the trace ends and the next
 * one begins, so that the sums of adjacent slices are those of one window. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/search.h"
#include "replay/calls/calls.h"

enum {
    SLICES_FIRST = 1024,
    ROWS_MOST = 200000 /* where there are more, two slices become one */
};

/* The row of a method on a thread, if n_edges slices ended before it was made. */
typedef struct {
    uint32_t n_edges, row;
} current;

typedef struct qp_slicer {
    qp_slices *s;
    qp_trace *t;
    qp_spans spans;
    uint64_t edge;    /* raw ticks of the end of the current slice */
    qp_buf threads;   /* by index of the thread: qp_buf of `current`, by slot of the method */
    uint32_t n_edges; /* slices that ended, and 1 */
    uint32_t slice;
    size_t n_most; /* rows, before two slices become one */
} slicer;

/* ---- rows -------------------------------------------------------------------------------- */

/* @return NULL: no memory */
static current *current_of(slicer *x, const qp_span_thread *th, uint32_t slot)
{
    while (x->threads.n <= th->index) {
        qp_buf *next = qp_buf_add(&x->threads);
        if (!next)
            return NULL;
        *next = QP_BUF(current);
    }
    return qp_buf_at((qp_buf *)x->threads.items + th->index, slot);
}

static qp_slice_row *row_of(slicer *x, const qp_span_thread *th, const qp_span *span)
{
    static qp_slice_row lost;
    current *c = current_of(x, th, span->slot);
    if (c && c->n_edges == x->n_edges)
        return (qp_slice_row *)x->s->rows.items + c->row;
    qp_slice_row *r = c ? qp_buf_add(&x->s->rows) : NULL;
    if (!r) {
        x->s->failed = true;
        return &lost;
    }
    *c = (current){x->n_edges, (uint32_t)x->s->rows.n - 1};
    *r = (qp_slice_row){.slice = x->slice, .thread = th->number, .method = span->method};
    return r;
}

static int compare_rows(const void *a, const void *b)
{
    const qp_slice_row *x = a, *y = b;
    int c = QP_ORDER(x->thread, y->thread);
    c = c ? c : QP_ORDER(x->slice, y->slice);
    return c ? c : QP_ORDER(x->method, y->method);
}

/* Sort all rows, and add up those of one slice, thread and method. */
static void join_rows(qp_slices *s)
{
    qp_slice_row *rows = s->rows.items;
    size_t n = 0;
    if (s->rows.n)
        qsort(rows, s->rows.n, sizeof *rows, compare_rows);
    for (size_t i = 0; i < s->rows.n; i++) {
        if (!n || compare_rows(&rows[n - 1], &rows[i])) {
            rows[n++] = rows[i];
            continue;
        }
        rows[n - 1].began += rows[i].began;
        rows[n - 1].ended += rows[i].ended;
        rows[n - 1].self += rows[i].self;
        rows[n - 1].total += rows[i].total;
    }
    s->rows.n = n;
}

static void halve(slicer *x)
{
    qp_slice_row *rows = x->s->rows.items;
    for (size_t i = 0; i < x->s->rows.n; i++)
        rows[i].slice /= 2;
    x->s->width *= 2;
    x->slice /= 2;
    join_rows(x->s);
}

/* ---- the sink ---------------------------------------------------------------------------- */

static void enter(void *to, qp_span_thread *th, qp_span *span)
{
    if (!(span->flags & QP_SPAN_SKIPPED))
        row_of(to, th, span)->began++;
}

static void leave(void *to, qp_span_thread *th, const qp_span *span, qp_span_end end)
{
    uint64_t total = qp_span_total(th, span);
    bool is_end = end != QP_END_OF_SLICE && !(span->flags & QP_SPAN_SKIPPED);
    if (!is_end && !total) /* suspended in all of the slice */
        return;
    qp_slice_row *r = row_of(to, th, span);
    r->ended += is_end;
    r->self += qp_span_self(th, span);
    r->total += span->flags & QP_SPAN_OUTERMOST ? total : 0;
}

/* ---- playing ----------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten, so that people can write the ends of slices. */
static uint64_t round_width(uint64_t least)
{
    for (uint64_t power = 1;; power *= 10) {
        if (power >= least || power > UINT64_MAX / 100)
            return power;
        if (2 * power >= least)
            return 2 * power;
        if (5 * power >= least)
            return 5 * power;
    }
}

static void find_edge(slicer *x)
{
    x->edge = qp_trace_raw(qp_trace_about(x->t), (x->slice + 1ull) * x->s->width);
}

/* The current slice has ended. */
static void pass_edge(slicer *x)
{
    qp_spans_slice(&x->spans, x->edge);
    x->n_edges++;
    x->slice++;
    if (x->s->rows.n > x->n_most && x->slice >= 2 && x->s->width <= UINT64_MAX / 4) {
        halve(x);
        if (x->s->rows.n > x->n_most / 2) /* few were alike */
            x->n_most *= 2;
    }
    find_edge(x);
}

qp_slicer *qp_slices_begin(qp_slices *s, qp_trace *t, uint64_t begin, uint64_t end)
{
    *s = (qp_slices){.rows = QP_BUF(qp_slice_row),
                     .width = round_width((end > begin ? end - begin : 1) / SLICES_FIRST + 1)};
    slicer *x = qp_alloc(1, sizeof *x);
    s->failed = !x;
    if (!x)
        return NULL;
    *x = (slicer){.s = s,
                  .t = t,
                  .threads = QP_BUF(qp_buf),
                  .n_edges = 1,
                  .slice = (uint32_t)(begin / s->width),
                  .n_most = ROWS_MOST};
    qp_trace_spans(t, &x->spans, &(qp_span_sink){x, enter, leave, NULL});
    find_edge(x);
    return x;
}

void qp_slices_put(qp_slicer *x, const qp_trace_run *run)
{
    for (size_t at = 0; at < run->n && !x->spans.failed && !x->s->failed;) {
        size_t n = qp_trace_count_before(run->records + at, run->n - at, x->edge);
        if (n)
            qp_spans_put(&x->spans, run->os_thread, run->records + at, n);
        at += n;
        if (at < run->n)
            pass_edge(x);
    }
}

bool qp_slices_end(qp_slicer *x)
{
    qp_slices *s = x->s;
    bool has_end = qp_trace_about(x->t)->end_raw;
    uint64_t end_raw = has_end ? qp_trace_end_raw(x->t, &x->spans, NULL) : 0;
    while (end_raw > x->edge && !x->spans.failed && !s->failed)
        pass_edge(x);
    qp_spans_end(&x->spans, end_raw);
    join_rows(s);
    s->failed |= x->spans.failed || qp_trace_failed(x->t) || s->rows.failed;
    for (size_t i = 0; i < x->threads.n; i++)
        qp_free(((qp_buf *)x->threads.items)[i].items);
    qp_free(x->threads.items);
    qp_spans_fini(&x->spans);
    qp_free(x);
    return !s->failed;
}

bool qp_slices_play(qp_slices *s, qp_trace *t, uint64_t begin, uint64_t end)
{
    qp_trace_run run;
    qp_slicer *x = qp_slices_begin(s, t, begin, end);
    if (!x)
        return false;
    qp_trace_ahead_begin(t);
    while (!x->spans.failed && !s->failed && qp_trace_next(t, &run))
        qp_slices_put(x, &run);
    qp_trace_ahead_end(t);
    return qp_slices_end(x);
}

void qp_slices_fini(qp_slices *s)
{
    qp_free(s->rows.items);
}
