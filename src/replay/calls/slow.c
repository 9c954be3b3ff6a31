/* slow.c: see calls.h. A call within another call that is kept is a part of it. */
#include "replay/calls/calls.h"

#include "base/containers/alloc.h"

/* A call that is open, of a thread. */
typedef struct {
    uint32_t depth; /* of the stack with it; 0: none is open */
    qp_slow_call *call;
} watch;

static void free_call(qp_slow_call *c)
{
    if (c)
        qp_calltree_fini(&c->tree);
    qp_free(c);
}

bool qp_slow_init(qp_slow *s, uint32_t n_most)
{
    *s = (qp_slow){.n_most = n_most, .answers = QP_BUF(char)};
    s->calls = qp_alloc_zeroed((size_t)n_most + 1, sizeof *s->calls);
    return s->calls != NULL;
}

void qp_slow_fini(qp_slow *s, qp_spans *x)
{
    for (size_t i = 0; i < x->threads.n; i++) {
        qp_span_thread *th = qp_spans_thread(x, i);
        watch *w = th->data;
        if (w)
            free_call(w->call);
        qp_free(w);
        th->data = NULL;
    }
    for (uint32_t i = 0; i < s->n; i++)
        free_call(s->calls[i]);
    qp_free(s->calls);
    qp_free(s->answers.items);
}

static bool is_wanted(qp_slow *s, uint32_t method)
{
    signed char *answer = qp_buf_at(&s->answers, method);
    s->failed |= !answer;
    if (answer && !*answer)
        *answer = s->is_wanted(s->to, method) ? 1 : -1;
    return answer && *answer > 0;
}

static watch *watch_of(qp_slow *s, qp_span_thread *th)
{
    watch *w = th->data;
    if (!w)
        th->data = w = qp_alloc_zeroed(1, sizeof *w);
    if (w && !w->call) {
        w->call = qp_alloc_zeroed(1, sizeof *w->call);
        if (w->call)
            qp_calltree_init(&w->call->tree);
    }
    s->failed |= !w || !w->call;
    return w && w->call ? w : NULL;
}

static void enter(void *to, qp_span_thread *th, qp_span *span)
{
    qp_slow *s = to;
    watch *w = th->data;
    if (w && w->depth) {
        span->tag = qp_calltree_child(&w->call->tree, span[-1].tag, span->method);
        s->failed |= !span->tag;
        return;
    }
    if ((span->flags & QP_SPAN_SKIPPED) || !is_wanted(s, span->method) ||
        !(w = watch_of(s, th)))
        return;
    w->depth = th->depth;
    qp_calltree_clear(&w->call->tree);
    span->tag = qp_calltree_root(&w->call->tree, span->method);
    s->failed |= !span->tag;
}

/* Keep the call if it is among the slowest. @return a call that can be reused; NULL: none */
static qp_slow_call *keep(qp_slow *s, qp_slow_call *c)
{
    uint32_t at = s->n;
    while (at && s->calls[at - 1]->total < c->total) {
        s->calls[at] = s->calls[at - 1];
        at--;
    }
    s->calls[at] = c;
    if (s->n < s->n_most) {
        s->n++;
        return NULL;
    }
    return s->calls[s->n];
}

static void leave(void *to, qp_span_thread *th, const qp_span *span, qp_span_end end)
{
    qp_slow *s = to;
    watch *w = th->data;
    if (!w || !w->depth || s->failed)
        return;
    qp_calltree_add(&w->call->tree, span->tag, th, span, true);
    if (th->depth != w->depth)
        return;
    w->depth = 0;
    s->n_seen++;
    w->call->thread = th->number;
    w->call->method = span->method;
    w->call->raw = span->raw;
    w->call->total = qp_span_total(th, span);
    w->call->self = qp_span_self(th, span);
    w->call->end = end;
    w->call->is_cut = span->flags & QP_SPAN_CUT;
    w->call = keep(s, w->call);
}

qp_span_sink qp_slow_sink(qp_slow *s)
{
    return (qp_span_sink){.to = s, .enter = enter, .leave = leave};
}
