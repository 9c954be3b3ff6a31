/* locks.c: which functions waited for locks, and which ones held them. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/search.h"
#include "model/figures/figures.h"
#include "model/read/read.h"

uint32_t qp_model_with_source(const qp_model *m, uint32_t node)
{
    uint32_t at = node;
    while (at != QP_ROOT_NODE && m->nodes[at].method != QP_ROOT_METHOD &&
           !*m->methods[m->nodes[at].method].file)
        at = m->nodes[at].parent;
    return at != QP_ROOT_NODE && m->nodes[at].method != QP_ROOT_METHOD ? at : node;
}

typedef struct {
    const qp_model *m;
    bool by_paths;
} order;

/* What makes two rows one: the node, or its function. */
static uint32_t key_of(const order *o, uint32_t node)
{
    return o->by_paths ? node : o->m->nodes[node].method;
}

static int by_parts(const void *a, const void *b, void *data)
{
    const qp_lock_waits *x = a, *y = b;
    const order *o = data;
    int lock = strcmp(x->lock, y->lock),
        waiter = QP_ORDER(key_of(o, x->waiter), key_of(o, y->waiter));
    return lock ? lock : waiter ? waiter : QP_ORDER(key_of(o, x->holder), key_of(o, y->holder));
}

static int by_time(const void *a, const void *b, void *data)
{
    const qp_lock_waits *x = a, *y = b;
    int time = QP_ORDER(y->ns, x->ns), count = QP_ORDER(y->n, x->n);
    return time ? time : count ? count : by_parts(a, b, data);
}

bool qp_model_lock_waits(const qp_model *m, bool by_paths, qp_lock_waits **out, size_t *n)
{
    while (m->own->uncollapsed)
        m = m->own->uncollapsed;
    order o = {m, by_paths};
    const qp_buf *all = &m->own->waits;
    qp_lock_waits *rows = *out = qp_alloc(all->n + 1, sizeof *rows);
    *n = 0;
    if (!rows)
        return false;
    for (size_t i = 0; i < all->n; i++) {
        const qp_model_lock_wait *w = (const qp_model_lock_wait *)all->items + i;
        rows[i] = (qp_lock_waits){w->lock,
                                  qp_model_with_source(m, w->node),
                                  w->holder ? qp_model_with_source(m, w->holder) : 0,
                                  w->n,
                                  w->ns,
                                  w->longest_ns};
    }
    qsort_r(rows, all->n, sizeof *rows, by_parts, &o);
    for (size_t i = 0; i < all->n; i++) {
        qp_lock_waits *last = *n ? &rows[*n - 1] : NULL;
        if (!last || by_parts(last, &rows[i], &o) != 0) {
            rows[(*n)++] = rows[i];
            continue;
        }
        last->n = qp_sum(last->n, rows[i].n);
        last->ns = qp_sum(last->ns, rows[i].ns);
        last->longest_ns =
            rows[i].longest_ns > last->longest_ns ? rows[i].longest_ns : last->longest_ns;
    }
    qsort_r(rows, *n, sizeof *rows, by_time, &o);
    return true;
}
