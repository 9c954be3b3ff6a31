/* kept.c: the calls of requests that were kept whole, with their waits. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/search.h"
#include "model/figures/figures.h"
#include "model/read/read.h"

/* Calls while records are played. */
typedef struct {
    const qp_model_private *own;
    qp_buf calls; /* qp_kept_call */
    qp_buf open;  /* uint32_t: their numbers */
    qp_buf next;  /* uint32_t: nodes of calls that begin at once, the innermost first */
    qp_buf waits; /* qp_kept_wait, in ticks; the last n_pending have no begin yet */
    size_t n_pending;
    uint64_t begun_raw, raw;
    uint32_t path; /* node; of the request's caller, before its begin */
} player;

static qp_kept_call *call_at(player *p, uint32_t i)
{
    return (qp_kept_call *)p->calls.items + i;
}

/* @return NULL: none is open */
static qp_kept_call *top_of(player *p)
{
    return p->open.n ? call_at(p, ((uint32_t *)p->open.items)[p->open.n - 1]) : NULL;
}

static void enter(player *p, uint32_t method)
{
    uint32_t *number = qp_buf_add(&p->open);
    qp_kept_call *c = number ? qp_buf_add(&p->calls) : NULL;
    if (!c)
        return;
    *number = (uint32_t)(p->calls.n - 1);
    *c = (qp_kept_call){.method = method,
                        .depth = (uint32_t)(p->open.n - 1),
                        .begin = qp_ticks_between(p->begun_raw, p->raw)};
}

static void leave(player *p)
{
    qp_kept_call *c = top_of(p);
    c->total = qp_ticks_between(p->begun_raw + c->begin, p->raw);
    c->off_total += c->off;
    c->suspended_total += c->suspended;
    c->n_below = (uint32_t)(call_at(p, (uint32_t)p->calls.n - 1) - c);
    p->open.n--;
    qp_kept_call *caller = top_of(p);
    if (caller) {
        caller->off_total += c->off_total;
        caller->suspended_total += c->suspended_total;
    }
}

/* Another path is on top: calls have ended, and others have begun. */
static void go_to(player *p, uint32_t path)
{
    const qp_model_node *nodes = p->own->nodes;
    uint32_t common = path, n = 0, above = p->path;
    while (above != common)
        if (above > common) {
            above = nodes[above].parent;
            n++;
        } else {
            common = nodes[common].parent;
        }
    for (; n && p->open.n > 1; n--)
        leave(p);
    p->next.n = 0;
    for (uint32_t at = path; at != common; at = nodes[at].parent) {
        uint32_t *node = qp_buf_add(&p->next);
        if (!node)
            return;
        *node = at;
    }
    for (size_t i = p->next.n; i--;)
        enter(p, nodes[((const uint32_t *)p->next.items)[i]].method);
    p->path = path;
}

/* What the thread waited lasted up to now. */
static void place_waits(player *p)
{
    uint64_t end = qp_ticks_between(p->begun_raw, p->raw);
    qp_kept_wait *w = (qp_kept_wait *)p->waits.items + p->waits.n;
    for (; p->n_pending; p->n_pending--) {
        w--;
        w->duration = w->duration < end ? w->duration : end;
        w->begin = end -= w->duration;
    }
}

static void add_wait(player *p, uint64_t ticks, bool is_off)
{
    qp_kept_wait *w = qp_buf_add(&p->waits);
    if (!w)
        return;
    *w = (qp_kept_wait){.duration = ticks, .is_off = is_off};
    p->n_pending++;
}

static void play(player *p, const qp_model_step *step)
{
    qp_kept_call *top = top_of(p);
    if (!step->what && step->ticks > p->raw)
        p->raw = step->ticks;
    if (!step->what)
        place_waits(p);
    else
        add_wait(p, step->ticks, step->what == QP_STEP_OFF);
    if (!step->what)
        go_to(p, step->node);
    else if (top && step->what == QP_STEP_OFF)
        top->off = qp_sum(top->off, step->ticks);
    else if (top)
        top->suspended = qp_sum(top->suspended, step->ticks);
}

/* Ticks become ns. */
static void finish(const player *p)
{
    const qp_model *m = &p->own->model;
    qp_kept_call *calls = p->calls.items;
    for (size_t i = 0; i < p->calls.n; i++) {
        uint64_t *const times[] = {&calls[i].begin,     &calls[i].total,
                                   &calls[i].off,       &calls[i].suspended,
                                   &calls[i].off_total, &calls[i].suspended_total};
        for (size_t k = 0; k < sizeof times / sizeof *times; k++)
            *times[k] = qp_model_ns(m, *times[k]);
        calls[i].name = m->methods[calls[i].method].name;
    }
    qp_kept_wait *waits = p->waits.items;
    for (size_t i = 0; i < p->waits.n; i++) {
        waits[i].begin = qp_model_ns(m, waits[i].begin);
        waits[i].duration = qp_model_ns(m, waits[i].duration);
    }
}

/* @return false: no memory */
static bool calls_of(const qp_model_private *own, const qp_model_kept *k, qp_kept_calls *out)
{
    qp_model_step *steps;
    size_t n_steps;
    player p = {.own = own,
                .calls = QP_BUF(qp_kept_call),
                .open = QP_BUF(uint32_t),
                .next = QP_BUF(uint32_t),
                .waits = QP_BUF(qp_kept_wait),
                .begun_raw = k->at->begun_raw,
                .raw = k->at->begun_raw,
                .path = own->nodes[k->node].parent};
    bool is_good = qp_load_kept_steps(own, k, &steps, &n_steps);
    go_to(&p, k->node);
    /* a step begins one call; where some are missing, those of a path: more are in no file of the recorder */
    const uint64_t most = 2 * (uint64_t)n_steps + own->model.n_nodes;
    for (size_t i = 0; is_good && i < n_steps && p.calls.n <= most; i++) {
        play(&p, &steps[i]);
        is_good = !p.calls.failed && !p.open.failed && !p.next.failed && !p.waits.failed;
    }
    p.raw = k->at->ended_raw > p.raw ? k->at->ended_raw : p.raw;
    place_waits(&p);
    while (is_good && p.open.n)
        leave(&p);
    finish(&p);
    qp_free(steps);
    qp_free(p.open.items);
    qp_free(p.next.items);
    *out = (qp_kept_calls){.items = NULL};
    out->items = qp_buf_take(&p.calls, &out->n);
    out->waits = qp_buf_take(&p.waits, &out->n_waits);
    return is_good && out->items && out->waits;
}

static const qp_model_private *read_model(const qp_model *m)
{
    while (m->own->uncollapsed)
        m = m->own->uncollapsed;
    return m->own;
}

static qp_kept_request describe(const qp_model_private *own, const qp_model_kept *k)
{
    static const uint8_t none[16];
    const qp_kept *at = k->at;
    const qp_head *h = qp_image_head(&own->image);
    const qp_model *m = &own->model;
    const qp_model_thread *th = &m->threads[own->nodes[k->node].thread];
    qp_kept_request r = {
        .endpoint = m->methods[own->nodes[k->node].method].name,
        .thread = th->name,
        .thread_ordinal = th->ordinal,
        .node = k->node,
        .has_failed = (at->flags & QP_KEPT_FAILED) != 0,
        .is_cut = (at->flags & QP_KEPT_CUT) != 0,
        .has_trace = memcmp(at->trace, none, sizeof none) != 0,
        .window = at->window,
        .begun_ns = qp_model_ns(m, qp_ticks_between(h->begun_raw, at->begun_raw)),
        .elapsed_ns = qp_model_ns(m, qp_ticks_between(at->begun_raw, at->ended_raw)),
        .n_before = at->n_before,
        .n_after = at->n_after,
        .cell = k->cell};
    r.begun_at = h->started_at + r.begun_ns;
    memcpy(r.trace, at->trace, sizeof r.trace);
    memcpy(r.span, at->span, sizeof r.span);
    return r;
}

/* The slowest first; of equal ones the earlier, or the outer one. */
static int by_time(const void *a, const void *b)
{
    const qp_kept_request *x = a, *y = b;
    int most = QP_ORDER(y->elapsed_ns, x->elapsed_ns);
    int first = most ? most : QP_ORDER(x->begun_ns, y->begun_ns);
    return first ? first : QP_ORDER(x->node, y->node);
}

bool qp_model_kept_requests(const qp_model *m, qp_kept_request **out, size_t *n)
{
    const qp_model_private *own = read_model(m);
    qp_model_kept *all;
    *out = NULL;
    bool is_good =
        qp_load_kept(own, &all, n) && (*out = qp_alloc_zeroed(*n + 1, sizeof **out)) != NULL;
    for (size_t i = 0; is_good && i < *n; i++) {
        qp_kept_calls calls;
        is_good = calls_of(own, &all[i], &calls);
        (*out)[i] = describe(own, &all[i]);
        if (is_good && calls.n) {
            (*out)[i].n_calls = calls.n - 1;
            (*out)[i].off_ns = calls.items->off_total;
            (*out)[i].suspended_ns = calls.items->suspended_total;
        }
        qp_kept_calls_fini(&calls);
    }
    if (is_good && *n)
        qsort(*out, *n, sizeof **out, by_time);
    qp_free(all);
    return is_good;
}

void qp_kept_calls_fini(qp_kept_calls *calls)
{
    qp_free(calls->items);
    qp_free(calls->waits);
}

uint64_t qp_kept_self(const qp_kept_calls *calls, size_t i)
{
    const qp_kept_call *c = &calls->items[i];
    uint64_t others = c->suspended;
    for (size_t k = i + 1; k <= i + c->n_below; k += calls->items[k].n_below + (size_t)1)
        others = qp_sum(others, calls->items[k].total);
    return c->total > others ? c->total - others : 0;
}

bool qp_model_kept_calls(const qp_model *m, const qp_kept_request *r, qp_kept_calls *out)
{
    const qp_model_private *own = read_model(m);
    const qp_kept *at = qp_image_cell(&own->image, r->cell);
    const qp_model_kept k = {r->cell, at, qp_index_at(own, at->path, QP_TAG_NODE)};
    return calls_of(own, &k, out);
}
