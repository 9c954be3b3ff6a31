/* walk.c: walks over records that others may be adding to: they are published one by one and
 * never move. */
#include "record/run/run.h"

qp_thread_record *qp_walk_records(uint32_t *i, bool counts)
{
    for (const qprof_thread *th; (th = qp_threads_at(*i)) != NULL;) {
        ++*i;
        if (qp_observe(&th->pulse) &&
            (!counts || qp_load(&qp_record_of(th)->clear_count) ==
                            qp_load(&qp_recorder_head()->clear_count)))
            return qp_record_of(th);
    }
    return NULL;
}

qp_cell qp_walk_methods(qp_method_walk *w)
{
    if (!w->extent)
        w->extent = qp_slab_newest(&qp_recorder.methods.slab);
    while (w->extent) {
        const qp_extent *e = qp_at(&qp_recorder.space, w->extent);
        while (++w->at < e->n_cells) {
            const qp_method *m = qp_at(&qp_recorder.space, w->extent + w->at);
            if (qp_observe(&m->published))
                return w->extent + w->at;
        }
        *w = (qp_method_walk){e->prev, 0};
    }
    return 0;
}

uint32_t qp_method_first_line(const qp_method *m)
{
    qp_ref ref = qp_observe(&m->lines);
    const qp_lines *lines = ref ? qp_at_ref(&qp_recorder.space, ref) : NULL;
    return lines && lines->n_lines && lines->lines[0].line > 0 ? (uint32_t)lines->lines[0].line
                                                               : 0;
}

const qp_jumps *qp_method_jumps(const qp_method *m)
{
    qp_ref ref = qp_observe(&m->jumps);
    return ref ? qp_at_ref(&qp_recorder.space, ref) : NULL;
}

bool qp_walk_counter_blocks(const qp_thread_record *r, qp_counter_block_visitor *visit,
                            void *to)
{
    for (qp_cell cell = qp_observe(&r->counter_blocks); cell;) {
        const qp_extent *e = qp_at(&qp_recorder.space, cell);
        uint32_t n_used = qp_observe(&e->n_used);
        for (uint32_t at = 1; at <= n_used;) {
            qp_counter_block *b = qp_at(&qp_recorder.space, cell + at);
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
        const qp_extent *e = qp_at(&qp_recorder.space, cell);
        uint32_t n_used = qp_observe(&e->n_used);
        for (uint32_t at = 1; at <= n_used; at++)
            if (!visit(to, cell + at, qp_at(&qp_recorder.space, cell + at)))
                return false;
        cell = e->prev;
    }
    return true;
}
