/* stat.c: see calls.h. All is done when a call ends. */
#include "replay/calls/calls.h"

#include "base/containers/alloc.h"

void qp_stats_init(qp_stats *s, bool is_by_thread)
{
    *s = (qp_stats){.is_by_thread = is_by_thread};
    qp_buf_init(&s->rows, sizeof(qp_call_stat));
    qp_buf_init(&s->row_of_method, sizeof(uint32_t));
}

void qp_stats_fini(qp_stats *s)
{
    for (size_t i = 0; i < s->rows.n; i++)
        qp_free(((qp_call_stat *)s->rows.items)[i].histogram.counts);
    qp_free(s->rows.items);
    qp_free(s->row_of_method.items);
    qp_dict_fini(&s->row_of_pair);
}

/* @return NULL: no memory */
static qp_call_stat *row_of(qp_stats *s, uint32_t thread, uint32_t method)
{
    uint64_t key = (uint64_t)thread << 32 | method;
    uint32_t *by_method = s->is_by_thread ? NULL : qp_buf_at(&s->row_of_method, method);
    uint32_t row = by_method ? *by_method : qp_dict_get(&s->row_of_pair, key);
    if (row)
        return (qp_call_stat *)s->rows.items + row - 1;
    qp_call_stat *r = qp_buf_add(&s->rows);
    row = (uint32_t)s->rows.n;
    if (!r || (!by_method && !qp_dict_put(&s->row_of_pair, key, row)))
        return NULL;
    if (by_method)
        *by_method = row;
    *r = (qp_call_stat){.method = method, .thread = thread, .min = UINT64_MAX};
    return r;
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
    qp_call_stat *r = row_of(s, s->is_by_thread ? th->number : 0, span->method);
    s->failed |= !r;
    if (!r)
        return;
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
