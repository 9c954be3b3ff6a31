/* stack.c: chunks of the shadow stack. Read qp_stack_above first. */
#include "record/tree/tree.h"

#include <string.h>

#include "base/atomic.h"

enum {
    FIRST_CELLS = 64, /* one page */
    FIRST_CELLS_VIRTUAL = 8,
    SETTLED_CELLS =
        512, /* smaller stacks move when they grow, so that none alternates between chunks */
    CHUNK_CELLS = 16384 /* one MiB */
};

static qp_extent *chunk_at(const qprof_thread *th, qp_cell cell)
{
    return QPROF_CELL(th, qp_extent, cell);
}

static qprof_frame *slot_at(const qprof_thread *th, qp_cell chunk, uint32_t slot)
{
    return QPROF_CELL(th, qprof_frame, chunk + 1 + slot);
}

static void use_chunk(qprof_thread *th, qp_cell chunk)
{
    qp_record_of(th)->chunk = chunk;
    th->floor = chunk + 1;
    th->span = chunk_at(th, chunk)->n_cells - 2; /* up to the last slot */
}

static qprof_frame *floor_of(const qprof_thread *th)
{
    return QPROF_CELL(th, qprof_frame, th->floor);
}

static bool holds(const qprof_thread *th, qp_cell chunk, qp_cell frame)
{
    return chunk && frame - chunk - 1 < chunk_at(th, chunk)->n_cells - 1;
}

/* The chunk that holds a frame; 0: none does. A frame that moved meanwhile gets its new
 * cell. */
static qp_cell chunk_of(const qprof_thread *th, qp_cell *frame)
{
    for (qp_cell cell = qp_record_of(th)->chunk; cell; cell = chunk_at(th, cell)->prev) {
        qp_cell before = chunk_at(th, cell)->moved_from;
        if (holds(th, before, *frame))
            *frame = *frame - before + cell;
        if (holds(th, cell, *frame))
            return cell;
    }
    return 0;
}

/* A signal handler of the host may have recorded between the moment when an inline event read
 * the top and the moment when it was marked: then the chunk can be another one, or, if the
 * handler did not leave the stack as it was, the frame may be none. */
qprof_frame *qp_busy_top(qprof_thread *th)
{
    uint32_t top = QPROF_LOAD(th->pulse->top) & ~QPROF_TOP_BUSY;
    if (top && QP_UNLIKELY(top - th->floor > th->span)) {
        qp_cell chunk = chunk_of(th, &top);
        if (chunk)
            use_chunk(th, chunk);
        else
            top = th->floor;
    }
    return top ? QPROF_CELL(th, qprof_frame, top) : NULL;
}

static qp_cell new_chunk(qprof_thread *th, uint32_t n_cells, qp_reserve room)
{
    return qp_extent_claim(&qp_recorder.space, QP_EXTENT_FRAMES, qp_record_cell(th), n_cells,
                           room);
}

qprof_frame *qp_stack_first(qprof_thread *th)
{
    qp_thread_record *r = qp_record_of(th);
    if (!r->root)
        qp_publish(&r->root, qp_tree_root(th));
    if (r->root && !r->chunk)
        r->chunk = new_chunk(th, qp_recorder.is_virtual ? FIRST_CELLS_VIRTUAL : FIRST_CELLS,
                             QP_RESERVE_RESERVED);
    if (!r->root || !r->chunk)
        return NULL;
    use_chunk(th, r->chunk);
    qprof_frame *root = floor_of(th);
    root->node = r->root;
    return root;
}

/* Move a small stack to a chunk of eight times its size; the old one is left unchanged for a
 * reader that is looking at it. @return NULL: no room */
static qprof_frame *move_stack(qprof_thread *th, const qp_extent *e, uint32_t n_used)
{
    qp_cell from = e->self, to = new_chunk(th, e->n_cells * 8, QP_RESERVE_ORDINARY);
    if (!to)
        return NULL;
    memcpy(slot_at(th, to, 0), slot_at(th, from, 0), (size_t)n_used * sizeof(qprof_frame));
    chunk_at(th, to)->moved_from = from;
    use_chunk(th, to);
    return slot_at(th, to, n_used);
}

static qprof_frame *next_chunk(qprof_thread *th, const qprof_frame *top)
{
    qp_cell here = qp_record_of(th)->chunk;
    qp_extent *e = chunk_at(th, here);
    uint64_t depth = qp_stack_depth(th, top);
    if (depth >= QP_MAX_DEPTH_STORED)
        return NULL;
    if (!e->prev && e->n_cells < SETTLED_CELLS) {
        qprof_frame *f = move_stack(th, e, (uint32_t)depth + 1);
        if (!f)
            qp_count(&qp_recorder.space, QP_D_stack_nomem);
        return f;
    }
    if (!e->next) {
        uint32_t n_cells = e->n_cells < CHUNK_CELLS / 2 ? e->n_cells * 2 : CHUNK_CELLS;
        qp_cell cell = new_chunk(th, n_cells, QP_RESERVE_ORDINARY);
        if (!cell) {
            qp_count(&qp_recorder.space, QP_D_stack_nomem);
            return NULL;
        }
        qp_extent *above = chunk_at(th, cell);
        above->prev = here;
        above->base_depth = depth;
        qp_publish(&e->next, cell);
    }
    *slot_at(th, e->next, 0) = *top;
    use_chunk(th, e->next);
    return floor_of(th) + 1;
}

qprof_frame *qp_stack_above(qprof_thread *th, qprof_frame *top)
{
    return QPROF_INDEX(th, top) - th->floor < th->span ? top + 1 : next_chunk(th, top);
}

/* The frame below a chunk's slot 0, which supersedes the last slot of the chunk before. */
static qprof_frame *below_floor(const qprof_thread *th, qp_cell prev)
{
    return slot_at(th, prev, chunk_at(th, prev)->n_cells - 3);
}

qprof_frame *qp_stack_below(qprof_thread *th, qprof_frame *f)
{
    if (f > floor_of(th))
        return f - 1;
    qp_cell prev = chunk_at(th, qp_record_of(th)->chunk)->prev;
    use_chunk(th, prev);
    return below_floor(th, prev);
}

uint64_t qp_stack_depth(const qprof_thread *th, const qprof_frame *f)
{
    return chunk_at(th, qp_record_of(th)->chunk)->base_depth + (uint64_t)(f - floor_of(th));
}

qp_stack_cursor qp_stack_from(const qprof_thread *th, qprof_frame *top)
{
    return (qp_stack_cursor){top, qp_record_of(th)->chunk};
}

bool qp_stack_down(const qprof_thread *th, qp_stack_cursor *c)
{
    if (c->f != slot_at(th, c->chunk, 0)) {
        c->f--;
        return true;
    }
    qp_cell prev = chunk_at(th, c->chunk)->prev;
    if (!prev)
        return false;
    c->f = below_floor(th, prev);
    c->chunk = prev;
    return true;
}

void qp_stack_up(const qprof_thread *th, qp_stack_cursor *c)
{
    if (c->chunk == qp_record_of(th)->chunk || c->f != below_floor(th, c->chunk)) {
        c->f++;
        return;
    }
    c->chunk = chunk_at(th, c->chunk)->next; /* its slot 0 supersedes the last one here */
    c->f = slot_at(th, c->chunk, 0);
}

qp_cell qp_frame_method(const qprof_thread *th, const qprof_frame *f)
{
    const qprof_node *n = qp_node_at(th, f->node);
    bool is_elsewhere = (f->flags & (QPROF_FRAME_OVERFLOWED | QPROF_FRAME_EXCLUDED)) ||
                        n->method == qp_recorder.methods.overflow;
    return is_elsewhere ? f->block : n->method;
}

uint64_t qp_frame_method_id(const qprof_thread *th, const qprof_frame *f)
{
    return f->node ? qp_method_id(qp_frame_method(th, f)) : f->method_id;
}
