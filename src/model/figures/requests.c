/* requests.c: what became of the requests of each endpoint. */
#include <string.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"
#include "model/read/read.h"

/* A request that is open is not over, unless its program is. */
uint64_t qp_requests_open(const qp_model *m, const qp_model_requests *r)
{
    bool goes_on = m->run.state == QP_RUN_LIVE || m->run.state == QP_RUN_SNAPSHOT;
    return goes_on && m->nodes[r->node].is_open &&
           r->r.n_begun > r->r.n_ended; /* else it began unrecorded */
}

/* Of equal ones the earlier, so that the order of adding does not matter. */
static bool is_slower(const qp_node_requests *a, const qp_node_requests *b)
{
    if (a->slowest_ns != b->slowest_ns)
        return a->slowest_ns > b->slowest_ns;
    if (a->slowest_at != b->slowest_at)
        return a->slowest_at < b->slowest_at;
    int order = memcmp(a->slowest_trace, b->slowest_trace, sizeof a->slowest_trace);
    return order ? order < 0
                 : memcmp(a->slowest_span, b->slowest_span, sizeof a->slowest_span) < 0;
}

void qp_requests_add(qp_node_requests *to, const qp_node_requests *from)
{
    if (from->n_timed && (!to->n_timed || is_slower(from, to))) {
        to->slowest_ns = from->slowest_ns;
        to->slowest_at = from->slowest_at;
        memcpy(to->slowest_trace, from->slowest_trace, sizeof to->slowest_trace);
        memcpy(to->slowest_span, from->slowest_span, sizeof to->slowest_span);
    }
    to->n_begun = qp_sum(to->n_begun, from->n_begun);
    to->n_ended = qp_sum(to->n_ended, from->n_ended);
    to->n_failed = qp_sum(to->n_failed, from->n_failed);
    to->n_timed = qp_sum(to->n_timed, from->n_timed);
    to->elapsed_ns = qp_sum(to->elapsed_ns, from->elapsed_ns);
}

static qp_endpoint endpoint_of(uint32_t method, const qp_node_requests *r, uint64_t n_open)
{
    static const uint8_t none[16];
    qp_endpoint e = {.method = method,
                     .requests = r->n_begun > r->n_ended ? r->n_begun : r->n_ended,
                     .failed = r->n_failed,
                     .open = n_open,
                     .timed = r->n_timed,
                     .elapsed_ns = r->elapsed_ns,
                     .slowest_ns = r->slowest_ns,
                     .slowest_at = r->slowest_at};
    e.cut = e.requests - r->n_ended;
    e.has_trace = memcmp(r->slowest_trace, none, sizeof none) != 0;
    memcpy(e.trace, r->slowest_trace, sizeof e.trace);
    memcpy(e.span, r->slowest_span, sizeof e.span);
    return e;
}

bool qp_model_endpoints(const qp_model *m, qp_endpoint **out, size_t *n)
{
    while (m->own->uncollapsed)
        m = m->own->uncollapsed;
    const qp_buf *all = &m->own->requests;
    qp_node_requests *sums = qp_alloc_zeroed(m->n_methods, sizeof *sums);
    uint64_t *n_open = qp_alloc_zeroed(m->n_methods, sizeof *n_open);
    qp_buf list = QP_BUF(qp_endpoint);
    for (size_t i = 0; sums && n_open && i < all->n; i++) {
        const qp_model_requests *r = (const qp_model_requests *)all->items + i;
        const uint32_t method = m->nodes[r->node].method;
        qp_node_requests over = r->r;
        over.n_begun -= qp_requests_open(m, r);
        n_open[method] += r->r.n_begun - over.n_begun;
        qp_requests_add(&sums[method], &over);
    }
    for (uint32_t i = 1; sums && n_open && i < m->n_methods; i++) {
        qp_endpoint *e =
            sums[i].n_begun || n_open[i] || sums[i].n_ended ? qp_buf_add(&list) : NULL;
        if (e)
            *e = endpoint_of(i, &sums[i], n_open[i]);
    }
    bool is_good = sums && n_open;
    qp_free(sums);
    qp_free(n_open);
    *out = qp_buf_take(&list, n);
    return is_good && *out;
}
