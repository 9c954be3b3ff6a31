/* walk.c: extents of a thread, newest first. Records are published one by one and never move. */
#include "record/walk.h"

#include "base/atomic.h"

bool qp_walk_banks(const qp_thread_record *r, qp_bank_visitor *visit, void *to)
{
    for (qp_cell cell = qp_observe(&r->banks); cell;) {
        const qp_extent *e = qp_at(&qp_run.space, cell);
        uint32_t n_used = qp_observe(&e->n_used);
        for (uint32_t at = 1; at <= n_used;) {
            qp_bank *b = qp_at(&qp_run.space, cell + at);
            if (!visit(to, b))
                return false;
            at += b->n_cells;
        }
        cell = e->prev;
    }
    return true;
}

bool qp_walk_nodes(const qp_thread_record *r, qp_node_visitor *visit, void *to)
{
    for (qp_cell cell = qp_observe(&r->nodes); cell;) {
        const qp_extent *e = qp_at(&qp_run.space, cell);
        uint32_t n_used = qp_observe(&e->n_used);
        for (uint32_t at = 1; at <= n_used; at++)
            if (!visit(to, cell + at, qp_at(&qp_run.space, cell + at)))
                return false;
        cell = e->prev;
    }
    return true;
}
