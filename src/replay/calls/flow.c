/* flow.c: see calls.h. Each thread has a list of items, callers before what they called: the
 * open calls, and the ended calls in them that are not reported yet. Read leave first. */
#include "replay/calls/calls.h"

#include "base/containers/alloc.h"

enum { ITEMS_MOST = 4096 }; /* that wait to be reported, besides open calls */

typedef struct {
    uint32_t method, depth;
    uint32_t size;       /* items of it, with itself, once it has ended; 0: open */
    uint32_t last_child; /* item + 1 of the last one that has ended in it; 0: none */
    uint64_t n, raw, total;
    uint64_t shape;          /* hash of the methods in it; of open ones, so far */
    bool is_whole, is_begun; /* begun: a BEGIN line was reported */
} item;

typedef struct {
    qp_buf items;
    uint32_t last_root; /* as last_child */
} lane;

static item *item_at(const lane *l, size_t i)
{
    return (item *)l->items.items + i;
}

static lane *lane_of(qp_flow *f, qp_span_thread *th)
{
    lane *l = th->data;
    if (!l && (th->data = l = qp_alloc(1, sizeof *l)))
        *l = (lane){.items = QP_BUF(item)};
    f->failed |= !l;
    return l;
}

static void report(qp_flow *f, const qp_span_thread *th, const item *x, qp_flow_kind kind)
{
    const qp_flow_line line = {kind,       x->method, x->depth,
                               x->n,       x->raw,    kind == QP_FLOW_BEGIN ? 0 : x->total,
                               x->is_whole};
    f->line(f->to, th, &line);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return qp_hash_bytes(hash, &value, sizeof value);
}

/* @return the field last_child of the call at a depth of the stack, or of the lane */
static uint32_t *last_child_of(lane *l, const qp_span_thread *th, uint32_t depth)
{
    return depth ? &item_at(l, th->spans[depth - 1].tag)->last_child : &l->last_root;
}

/* Report all calls except those that are open and the last one that has ended in the innermost, which
 * may be repeated. */
static void report_most(qp_flow *f, lane *l, qp_span_thread *th)
{
    uint32_t last = *last_child_of(l, th, th->depth), kept = 0;
    size_t keep_from =
        last && item_at(l, last - 1)->size <= ITEMS_MOST / 2 ? last - 1 : l->items.n;
    for (size_t i = 0; i < l->items.n; i++) {
        item *x = item_at(l, i);
        bool is_open = !x->size;
        if (i < keep_from && !x->is_begun)
            report(f, th, x, is_open ? QP_FLOW_BEGIN : QP_FLOW_CALL);
        x->is_begun |= is_open;
        if (!is_open && i < keep_from)
            continue;
        if (is_open) {
            x->last_child = 0;
            th->spans[x->depth].tag = kept;
        }
        *item_at(l, kept++) = *x;
    }
    l->last_root = 0;
    *last_child_of(l, th, th->depth) =
        keep_from < l->items.n ? kept - (uint32_t)(l->items.n - keep_from) + 1 : 0;
    l->items.n = kept;
}

static void enter(void *to, qp_span_thread *th, qp_span *s)
{
    qp_flow *f = to;
    lane *l = lane_of(f, th);
    uint32_t n_open = th->depth - 1;
    if (l && l->items.n - n_open > ITEMS_MOST + (size_t)n_open) {
        th->depth--; /* this one has no item yet */
        report_most(f, l, th);
        th->depth++;
    }
    item *x = l ? qp_buf_add(&l->items) : NULL;
    f->failed |= !x;
    if (!x)
        return;
    s->tag = (uint32_t)l->items.n - 1;
    *x = (item){.method = s->method,
                .depth = n_open,
                .n = 1,
                .raw = s->raw,
                .shape = mix(QP_HASH_START, s->method)};
}

/* Join the call that ended with the one before it, which has the same shape. */
static void join(lane *l, size_t before, size_t at)
{
    for (size_t i = 0; i < item_at(l, at)->size; i++) {
        item *x = item_at(l, before + i);
        const item *y = item_at(l, at + i);
        x->n += y->n;
        x->total += y->total;
        x->is_whole &= y->is_whole;
    }
    l->items.n = at;
}

static void report_rest(qp_flow *f, lane *l, const qp_span_thread *th, size_t from)
{
    for (size_t i = from; i < l->items.n; i++)
        report(f, th, item_at(l, i), QP_FLOW_CALL);
}

static void leave(void *to, qp_span_thread *th, const qp_span *s, qp_span_end end)
{
    qp_flow *f = to;
    lane *l = lane_of(f, th);
    if (!l || f->failed)
        return;
    size_t at = s->tag;
    item *x = item_at(l, at);
    uint32_t *last = last_child_of(l, th, th->depth - 1);
    x->total = qp_span_total(th, s);
    x->is_whole = !(s->flags & QP_SPAN_CUT) && end <= QP_END_UNWOUND;
    if (x->is_begun) {
        report_rest(f, l, th, at + 1);
        x->raw = th->raw;
        report(f, th, x, QP_FLOW_END);
        l->items.n = at;
        *last = 0;
        return;
    }
    x->size = (uint32_t)(l->items.n - at);
    const item *before = *last ? item_at(l, *last - 1) : NULL;
    if (before && before->shape == x->shape && before->size == x->size) {
        join(l, *last - 1, at);
        return;
    }
    *last = (uint32_t)at + 1;
    if (th->depth > 1)
        item_at(l, th->spans[th->depth - 2].tag)->shape =
            mix(item_at(l, th->spans[th->depth - 2].tag)->shape, x->shape);
}

qp_span_sink qp_flow_sink(qp_flow *f)
{
    return (qp_span_sink){.to = f, .enter = enter, .leave = leave};
}

void qp_flow_end(qp_flow *f, qp_spans *x)
{
    for (size_t i = 0; i < x->threads.n; i++) {
        qp_span_thread *th = qp_spans_thread(x, i);
        lane *l = th->data;
        if (!l)
            continue;
        if (!f->failed)
            report_rest(f, l, th, 0);
        qp_free(l->items.items);
        qp_free(l);
        th->data = NULL;
    }
}
