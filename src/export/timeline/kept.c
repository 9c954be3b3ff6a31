/* kept.c: the timeline of one request that was kept whole. */
#include <string.h>

#include "export/timeline/steps.h"
#include "model/read/read.h"

/* The thread of that name, else the one of that number; 0: neither is shown. */
static uint32_t thread_of(const qp_model *m, const qp_kept_request *r)
{
    uint32_t alike = 0;
    for (uint32_t i = 1; i < m->n_threads; i++) {
        if (strcmp(m->threads[i].name, r->thread) == 0)
            return i;
        if (m->threads[i].ordinal == r->thread_ordinal)
            alike = i;
    }
    return alike;
}

/* @return 0: the model lacks the function */
static uint32_t method_of(const qp_kept_picture *p, const qp_kept_call *c)
{
    const uint64_t at = (uint64_t)p->first_method + c->method;
    return at < p->m->n_methods && strcmp(p->m->methods[at].name, c->name) == 0 ? (uint32_t)at
                                                                                : 0;
}

static uint64_t self_of(const qp_kept_calls *calls, size_t i)
{
    const qp_kept_call *c = &calls->items[i];
    uint64_t others = c->suspended;
    for (size_t k = i + 1; k <= i + c->n_below; k += calls->items[k].n_below + (size_t)1)
        others = qp_sum(others, calls->items[k].total);
    return c->total > others ? c->total - others : 0;
}

static bool each(void *from, qp_timeline_take *take, void *to, qp_timeline_limit *limit)
{
    const qp_kept_picture *p = from;
    bool is_good = true;
    (void)limit;
    for (size_t i = 0; is_good && i < p->calls->n; i++) {
        const qp_kept_call *c = &p->calls->items[i];
        const qp_timeline_item item = {.kind = QP_TIMELINE_CALL,
                                       .thread = p->thread,
                                       .method = method_of(p, c),
                                       .depth = c->depth,
                                       .begin = p->begin + c->begin,
                                       .duration = c->total,
                                       .self = self_of(p->calls, i)};
        is_good = !item.method || take(to, &item);
    }
    for (size_t i = 0; is_good && i < p->calls->n_waits; i++) {
        const qp_kept_wait *w = &p->calls->waits[i];
        const qp_timeline_item item = {.kind = QP_TIMELINE_PAUSE,
                                       .thread = p->thread,
                                       .begin = p->begin + w->begin,
                                       .duration = w->duration};
        is_good = take(to, &item);
    }
    return is_good;
}

void qp_timeline_of_kept(qp_timeline *t, qp_kept_picture *p, const char *about)
{
    p->thread = thread_of(p->m, p->r);
    *t = (qp_timeline){.begin = p->begin,
                       .end = qp_sum(p->begin, p->r->elapsed_ns),
                       .n_lost = qp_sum(p->r->n_before, p->r->n_after),
                       .from = p,
                       .each = each,
                       .ns_of_ticks = QP_TIMELINE_TICKS,
                       .about = about};
}
