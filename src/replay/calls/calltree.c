/* calltree.c: see calls.h. */
#include "replay/calls/calls.h"

#include "base/containers/alloc.h"

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
