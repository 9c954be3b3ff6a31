/* stat.c: sums of calls: by size, by call path, by method. See calls.h. Calls are counted when they end. */
#include "replay/calls/calls.h"

#include <math.h>
#include <string.h>

#include "base/containers/alloc.h"

/* ---- histogram ---------------------------------------------------------------------------- */

uint64_t *qp_histogram_grow(qp_histogram *h, unsigned octave)
{
    unsigned first = h->n && h->first < octave ? h->first : octave;
    unsigned end = h->n && h->first + h->n > octave + 1 ? h->first + h->n : octave + 1u;
    size_t row = QP_HISTOGRAM_STEPS * sizeof(uint64_t);
    uint64_t *counts = qp_alloc_zeroed(end - first, row);
    if (!counts)
        return NULL;
    if (h->n)
        memcpy(counts + (size_t)(h->first - first) * QP_HISTOGRAM_STEPS, h->counts, h->n * row);
    qp_free(h->counts);
    *h = (qp_histogram){counts, (uint8_t)first, (uint8_t)(end - first)};
    return counts + (size_t)(octave - first) * QP_HISTOGRAM_STEPS;
}

uint64_t qp_histogram_low(unsigned at)
{
    unsigned octave = at / QP_HISTOGRAM_STEPS, step = at % QP_HISTOGRAM_STEPS;
    if (octave >= QP_HISTOGRAM_OCTAVES)
        return UINT64_MAX;
    return octave ? (uint64_t)(QP_HISTOGRAM_STEPS + step) << (octave - 1) : step;
}

uint64_t qp_histogram_quantile(const qp_histogram *h, uint64_t n, double share)
{
    double wanted = ceil((double)n * share);
    uint64_t rank = wanted < 1 ? 1 : (uint64_t)wanted, before = 0;
    for (unsigned i = 0; i < h->n * (unsigned)QP_HISTOGRAM_STEPS; i++) {
        if (before + h->counts[i] < rank) {
            before += h->counts[i];
            continue;
        }
        unsigned at = h->first * (unsigned)QP_HISTOGRAM_STEPS + i;
        uint64_t low = qp_histogram_low(at), width = qp_histogram_low(at + 1) - low;
        double part = ((double)(rank - before) - 0.5) / (double)h->counts[i];
        return low + (uint64_t)((double)width * part);
    }
    return 0;
}

/* ---- sums by call path -------------------------------------------------------------------- */

void qp_calltree_init(qp_calltree *t)
{
    *t = (qp_calltree){.nodes = QP_BUF(qp_calltree_node)};
    t->failed = !qp_buf_add(&t->nodes);
}

void qp_calltree_fini(qp_calltree *t)
{
    qp_free(t->nodes.items);
    qp_dict_fini(&t->index);
}

void qp_calltree_clear(qp_calltree *t)
{
    t->nodes.n = t->nodes.n ? 1 : 0;
    qp_dict_fini(&t->index);
}

uint32_t qp_calltree_root(qp_calltree *t, uint32_t method)
{
    qp_calltree_node *n = t->nodes.n < UINT32_MAX ? qp_buf_add(&t->nodes) : NULL;
    t->failed |= !n;
    if (!n)
        return 0;
    n->method = method;
    n->min = UINT64_MAX;
    return (uint32_t)t->nodes.n - 1;
}

uint32_t qp_calltree_child(qp_calltree *t, uint32_t parent, uint32_t method)
{
    uint64_t key = (uint64_t)parent << 32 | method;
    uint32_t node = qp_dict_get(&t->index, key);
    if (node || !(node = qp_calltree_root(t, method)))
        return node;
    t->failed |= !qp_dict_put(&t->index, key, node);
    qp_calltree_node *above = qp_calltree_at(t, parent);
    qp_calltree_at(t, node)->parent = parent;
    if (above->last_child)
        qp_calltree_at(t, above->last_child)->next = node;
    else
        above->first_child = node;
    above->last_child = node;
    return node;
}

void qp_calltree_add(qp_calltree *t, uint32_t node, const qp_span_thread *th, const qp_span *s,
                     bool is_complete)
{
    qp_calltree_node *n = qp_calltree_at(t, node);
    uint64_t self = qp_span_self(th, s);
    n->calls += !(s->flags & QP_SPAN_SKIPPED);
    n->self += self;
    n->total += qp_span_total(th, s);
    if (!is_complete)
        return;
    n->min = self < n->min ? self : n->min;
    n->max = self > n->max ? self : n->max;
}

/* ---- sums by method ----------------------------------------------------------------------- */

void qp_stats_init(qp_stats *s, bool is_by_thread)
{
    *s = (qp_stats){.is_by_thread = is_by_thread,
                    .rows = QP_BUF(qp_call_stat),
                    .row_of_method = QP_BUF(uint32_t)};
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
