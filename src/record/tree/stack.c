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
    uint64_t flagged = qp_own_of(th)->flagged;
    qp_record_of(th)->chunk = chunk;
    th->floor = (uint64_t)(chunk + 1) << 6;
    th->span = (uint64_t)(chunk_at(th, chunk)->n_cells - 2) << 6; /* up to the last slot */
    th->low = flagged - th->floor <= th->span ? flagged : th->floor;
}

qprof_frame *qp_stack_floor(const qprof_thread *th)
{
    return QPROF_AT(th, qprof_frame, th->floor);
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
    uint64_t top = QPROF_LOAD(th->pulse->top) & ~QPROF_TOP_BUSY;
    if (top & QPROF_TOP_TOKEN) {
        QPROF_STORE(qp_stack_floor(th)->node, top - QPROF_TOP_TOKEN);
        return qp_stack_floor(th);
    }
    if (top && QP_UNLIKELY(top - th->floor > th->span)) {
        qp_cell frame = (qp_cell)(top >> 6), chunk = chunk_of(th, &frame);
        if (chunk)
            use_chunk(th, chunk);
        top = chunk ? (uint64_t)frame << 6 : th->floor;
    }
    return top ? QPROF_AT(th, qprof_frame, top) : NULL;
}

bool qp_stack_has_call(const qprof_thread *th, const qprof_frame *top)
{
    return qp_stack_depth(th, top) || qp_frame_path(top) != qp_record_of(th)->root;
}

static qp_cell new_chunk(qprof_thread *th, uint32_t n_cells, qp_reserve room)
{
    return qp_extent_claim(&qp_recorder.space, QP_EXTENT_FRAMES, qp_record_cell(th), n_cells,
                           room);
}

/* Only the root frame is left. */
static qprof_frame *use_first_chunk(qprof_thread *th)
{
    qp_cell chunk = qp_record_of(th)->chunk;
    while (chunk_at(th, chunk)->prev)
        chunk = chunk_at(th, chunk)->prev;
    qp_own_of(th)->flagged = 0;
    use_chunk(th, chunk);
    return qp_stack_floor(th);
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
    qp_own_of(th)->has_token = false; /* the row may be a used one */
    qprof_frame *root = use_first_chunk(th);
    qp_store(&root->node, (uint64_t)r->root << 6); /* others look whether a call is open */
    root->flags = 0;
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
    qp_record_of(th)->chunk = to;
    qp_stack_relink(th, slot_at(th, to, n_used - 1));
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
    qprof_frame *slot = slot_at(th, e->next, 0);
    *slot = *top;
    if (qp_own_of(th)->flagged == QPROF_OFFSET(th, top))
        qp_own_of(th)->flagged = QPROF_OFFSET(th, slot);
    use_chunk(th, e->next);
    return slot + 1;
}

qprof_frame *qp_stack_above(qprof_thread *th, qprof_frame *top)
{
    return QPROF_OFFSET(th, top) - th->floor < th->span ? top + 1 : next_chunk(th, top);
}

/* The frame below a chunk's slot 0, which supersedes the last slot of the chunk before. */
static qprof_frame *below_floor(const qprof_thread *th, qp_cell prev)
{
    return slot_at(th, prev, chunk_at(th, prev)->n_cells - 3);
}

/* Frames above the top have no flags, so that an ordinary entry need not clear them. */
static void drop_flags(qprof_thread *th, qprof_frame *f)
{
    if (QP_LIKELY(!f->flags))
        return;
    if (qp_own_of(th)->flagged == QPROF_OFFSET(th, f)) {
        qp_own_of(th)->flagged = (uint64_t)f->low << 6;
        use_chunk(th, qp_record_of(th)->chunk);
    }
    QPROF_STORE(f->flags, 0);
}

qprof_frame *qp_stack_below(qprof_thread *th, qprof_frame *f)
{
    drop_flags(th, f);
    if (f > qp_stack_floor(th))
        return f - 1;
    qp_cell prev = chunk_at(th, qp_record_of(th)->chunk)->prev;
    use_chunk(th, prev);
    QPROF_STORE(below_floor(th, prev)[1].flags, 0);
    return below_floor(th, prev);
}

void qp_stack_flag(qprof_thread *th, qprof_frame *f, uint32_t flags)
{
    if (!f->flags && flags) {
        f->low = (qp_cell)(qp_own_of(th)->flagged >> 6);
        qp_own_of(th)->flagged = QPROF_OFFSET(th, f);
        use_chunk(th, qp_record_of(th)->chunk);
    }
    QPROF_STORE(f->flags, f->flags | flags);
}

void qp_stack_relink(qprof_thread *th, qprof_frame *top)
{
    qp_stack_cursor c = qp_stack_from(th, top);
    qprof_frame *above = NULL;
    qp_own_of(th)->flagged = 0;
    do {
        if (!c.f->flags)
            continue;
        c.f->low = 0;
        if (above)
            above->low = QPROF_INDEX(th, c.f);
        else
            qp_own_of(th)->flagged = QPROF_OFFSET(th, c.f);
        above = c.f;
    } while (qp_stack_down(th, &c));
    use_chunk(th, qp_record_of(th)->chunk);
}

void qp_stack_flag_all(qprof_thread *th, qprof_frame *top, uint32_t flags)
{
    qp_stack_cursor c = qp_stack_from(th, top);
    for (uint64_t n = qp_stack_depth(th, top); n; n--, qp_stack_down(th, &c))
        QPROF_STORE(c.f->flags, c.f->flags | flags);
    qp_stack_relink(th, top);
}

/* ---- tokens ------------------------------------------------------------------------------ */

qprof_frame *qp_stack_unfold(qprof_thread *th, qprof_frame *top)
{
    uint32_t root = qp_record_of(th)->root;
    qp_cell path = qp_frame_path(top);
    if (!qp_own_of(th)->has_token)
        return top;
    for (qp_cell at = path; at != root; at = qp_node_at(th, at)->parent) {
        qprof_frame *f = qp_stack_above(th, top);
        if (!f) {
            use_first_chunk(th);
            return NULL;
        }
        top = f;
    }
    qp_stack_cursor c = qp_stack_from(th, top);
    do {
        QPROF_STORE(c.f->node, (uint64_t)path << 6);
        QPROF_STORE(c.f->stack_id, path == root ? 0 : (uint64_t)path << 6 | QPROF_TOP_TOKEN);
        QPROF_STORE(c.f->start, QP_NO_START);
        path = qp_node_at(th, path)->parent;
    } while (qp_stack_down(th, &c));
    qp_own_of(th)->has_token = false;
    qp_fetch_and(&th->gate, ~(uint32_t)QPROF_HOOK_TOKENS);
    return top;
}

bool qp_stack_fold(qprof_thread *th, qprof_frame *top)
{
    qp_thread_private *own = qp_own_of(th);
    if (own->has_token)
        return true;
    if (!own->uses_tokens || (QPROF_LOAD(th->gate) & QP_HOOKS_FRAMES) ||
        !qp_recorder_has_paths())
        return false;
    while (own->flagged) {
        qprof_frame *f = QPROF_AT(th, qprof_frame, own->flagged);
        if (f->flags & ~(uint32_t)QPROF_FRAME_SKIP)
            return false;
        own->flagged = (uint64_t)f->low << 6;
        QPROF_STORE(f->flags, 0);
    }
    uint64_t node = top->node;
    QPROF_STORE(use_first_chunk(th)->node, node);
    own->has_token = true;
    qp_fetch_or(&th->gate, QPROF_HOOK_TOKENS);
    return true;
}

uint64_t qp_stack_depth(const qprof_thread *th, const qprof_frame *f)
{
    return chunk_at(th, qp_record_of(th)->chunk)->base_depth +
           (uint64_t)(f - qp_stack_floor(th));
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
    const qprof_node *n = qp_frame_node(th, f);
    bool is_elsewhere = (f->flags & (QPROF_FRAME_OVERFLOWED | QPROF_FRAME_EXCLUDED)) ||
                        n->method == qp_recorder.methods.overflow;
    return is_elsewhere ? (qp_cell)f->mark_at : n->method;
}

uint64_t qp_frame_method_id(const qprof_thread *th, const qprof_frame *f)
{
    return f->node ? qp_method_id(qp_frame_method(th, f)) : f->method_id;
}

bool qp_stack_is_idle(const qprof_thread *th)
{
    uint64_t top = QPROF_LOAD(th->pulse->top);
    return top && !(top & QPROF_TOP_BUSY);
}

qp_cell qp_stack_method_record(const qprof_thread *th, uint64_t top)
{
    return top & QPROF_TOP_TOKEN ? QPROF_AT(th, qprof_node, top - QPROF_TOP_TOKEN)->method
           : top                 ? qp_frame_method(th, QPROF_AT(th, qprof_frame, top))
                                 : 0;
}

uint64_t qp_stack_method(const qprof_thread *th)
{
    uint64_t top = QPROF_LOAD(th->pulse->top);
    if (!qp_stack_is_idle(th))
        return 0;
    return top & QPROF_TOP_TOKEN ? qp_method_id(qp_stack_method_record(th, top))
                                 : qp_frame_method_id(th, QPROF_AT(th, qprof_frame, top));
}

bool qp_stack_is_excluded(const qprof_thread *th)
{
    uint64_t top = QPROF_LOAD(th->pulse->top);
    return top && !(top & (QPROF_TOP_BUSY | QPROF_TOP_TOKEN)) &&
           (QPROF_AT(th, qprof_frame, top)->flags & QPROF_FRAME_EXCLUDED);
}
