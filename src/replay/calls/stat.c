/* stat.c: see calls.h. All is done when a call ends. */
#include "replay/calls/calls.h"

#include <string.h>

#include "base/containers/alloc.h"

void qp_stats_init(qp_stats *s, bool is_by_thread)
{
    *s = (qp_stats){.is_by_thread = is_by_thread};
    qp_buf_init(&s->rows, sizeof(qp_call_stat));
}

void qp_stats_fini(qp_stats *s)
{
    for (size_t i = 0; i < s->rows.n; i++)
        qp_free(((qp_call_stat *)s->rows.items)[i].histogram.counts);
    qp_free(s->rows.items);
    qp_free(s->row_of);
    qp_dict_fini(&s->row_of_pair);
}

static uint32_t add_row(qp_stats *s, uint32_t thread, uint32_t method)
{
    qp_call_stat *r = qp_buf_add(&s->rows);
    if (!r)
        return 0;
    *r = (qp_call_stat){.method = method, .thread = thread, .min = UINT64_MAX};
    return (uint32_t)s->rows.n;
}

static uint32_t row_of_pair(qp_stats *s, uint32_t thread, uint32_t method)
{
    uint64_t key = (uint64_t)thread << 32 | method;
    uint32_t row = qp_dict_get(&s->row_of_pair, key);
    if (!row && (row = add_row(s, thread, method)) && !qp_dict_put(&s->row_of_pair, key, row))
        row = 0;
    return row;
}

/* @return false: no memory */
static bool grow(qp_stats *s, uint32_t method)
{
    size_t n = ((size_t)method + 64) * 2;
    uint32_t *wider = qp_realloc(s->row_of, n, sizeof *wider);
    if (!wider)
        return false;
    memset(wider + s->n_methods, 0, (n - s->n_methods) * sizeof *wider);
    s->row_of = wider;
    s->n_methods = n;
    return true;
}

static uint32_t row_of_method(qp_stats *s, uint32_t method)
{
    if (method >= s->n_methods && !grow(s, method))
        return 0;
    if (!s->row_of[method])
        s->row_of[method] = add_row(s, 0, method);
    return s->row_of[method];
}

static void count(qp_stats *s, qp_call_stat *r, uint64_t total)
{
    r->n_complete++;
    r->sum += total;
    r->min = total < r->min ? total : r->min;
    r->max = total > r->max ? total : r->max;
    s->failed |= !qp_histogram_add(&r->histogram, total);
}

static void leave(void *to, qp_span_thread *th, const qp_span *span, qp_span_end end)
{
    qp_stats *s = to;
    uint64_t total = qp_span_total(th, span), self = qp_span_self(th, span);
    uint32_t row = s->is_by_thread ? row_of_pair(s, th->number, span->method)
                                   : row_of_method(s, span->method);
    if (!row) {
        s->failed = true;
        return;
    }
    qp_call_stat *r = (qp_call_stat *)s->rows.items + row - 1;
    r->calls += !(span->flags & QP_SPAN_SKIPPED);
    r->self += self;
    s->self += self;
    if (span->flags & QP_SPAN_OUTERMOST)
        r->total += total;
    r->n_unwound += end == QP_END_UNWOUND;
    if (!(span->flags & QP_SPAN_CUT) && end <= QP_END_UNWOUND)
        count(s, r, total);
    else
        r->n_incomplete += !(span->flags & QP_SPAN_SKIPPED);
}

qp_span_sink qp_stats_sink(qp_stats *s)
{
    return (qp_span_sink){.to = s, .leave = leave};
}

uint64_t qp_call_stat_average(const qp_call_stat *r)
{
    return r->n_complete ? r->sum / r->n_complete : 0;
}

uint64_t qp_call_stat_quantile(const qp_call_stat *r, double share)
{
    uint64_t value = qp_histogram_quantile(&r->histogram, r->n_complete, share);
    if (!r->n_complete)
        return 0;
    if (share * (double)r->n_complete > (double)(r->n_complete - 1))
        return r->max;
    return value < r->min ? r->min : value > r->max ? r->max : value;
}
