/* kept.c: the timeline of one request that was kept whole. */
#include <string.h>

#include "export/timeline/steps.h"
#include "model/read/read.h"

/* @return 0: the model lacks the function */
static uint32_t method_of(const qp_kept_picture *p, const qp_kept_call *c)
{
    const uint64_t at = (uint64_t)p->first_method + c->method;
    return at < p->m->n_methods && strcmp(p->m->methods[at].name, c->name) == 0 ? (uint32_t)at
                                                                                : 0;
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
                                       .self = qp_kept_self(p->calls, i)};
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
    p->thread = qp_timeline_thread(p->m, p->r->thread, p->r->thread_ordinal);
    *t = (qp_timeline){.begin = p->begin,
                       .end = qp_sum(p->begin, p->r->elapsed_ns),
                       .n_lost = qp_sum(p->r->n_before, p->r->n_after),
                       .from = p,
                       .each = each,
                       .ns_of_ticks = QP_TIMELINE_TICKS,
                       .about = about};
}
