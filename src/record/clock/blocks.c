/* blocks.c: counter blocks. Read counters_of first; clock.h has the usual case. */
#include "record/clock/clock.h"

#include <string.h>

#include "base/atomic.h"
#include "base/containers/trie.h"
#include "record/tree/tree.h"

enum { FIRST_CELLS = 16 };

static uint64_t counters_key(uint64_t method, qp_counter_block_kind kind)
{
    return method << 3 | (uint64_t)kind;
}

static uint64_t key_of(void *owner, uint32_t cell)
{
    const qp_counter_block *b = qp_counter_block_at(owner, cell);
    return counters_key(b->method, (qp_counter_block_kind)b->kind);
}

static uint32_t block_of(void *owner)
{
    return qp_tree_aux_cell(owner);
}

qp_cell qp_counter_block_new(qp_cell *newest, qp_cell thread, const qp_counter_block *from)
{
    uint32_t n_cells = 1 + (uint32_t)(((uint64_t)from->n_values * 8 + QP_CELL - 1) / QP_CELL);
    qp_cell cell =
        qp_cells_take(&qp_recorder.space, newest, thread ? QP_EXTENT_BANKS : QP_EXTENT_SHARES,
                      thread, n_cells, FIRST_CELLS, QP_RESERVE_ORDINARY);
    if (!cell)
        return 0;
    qp_counter_block *b = qp_at(&qp_recorder.space, cell);
    memcpy(b, from, offsetof(qp_counter_block, values));
    b->n_cells = n_cells;
    qp_cells_publish(&qp_recorder.space, *newest, n_cells);
    return cell;
}

/* The thread's counter block of a method, made if necessary. @return 0: nothing to count, or no
 * room */
static qp_cell counters_of(qprof_thread *th, qp_cell method, qp_counter_block_kind kind,
                           uint32_t n_values, uint32_t n_blocks)
{
    qprof_pulse *p = th->pulse;
    const qp_trie index = {th->base, key_of, block_of, th};
    if (!n_values)
        return 0;
    if (!p->index)
        p->index = qp_tree_aux_cell(th);
    if (!p->index)
        return 0;
    qp_cell cell = qp_trie_get(index, p->index, counters_key(method, kind));
    if (cell)
        return cell;
    const qp_counter_block from = {
        .method = method, .kind = kind, .n_values = n_values, .n_blocks = n_blocks};
    cell = qp_counter_block_new(&qp_record_of(th)->counter_blocks, qp_record_cell(th), &from);
    return cell ? qp_trie_put(index, p->index, counters_key(method, kind), cell) : 0;
}

/* The counter block of the frame's method, which its node remembers. @return NULL: the reason
 * is counted */
static qp_counter_block *frame_counters(qprof_thread *th, const qprof_frame *f,
                                        qp_counter_block_kind kind, int bb)
{
    const qprof_node *n = qp_frame_node(th, f);
    if (f->flags & QPROF_FRAME_EXCLUDED)
        return NULL;
    if (f->flags & QPROF_FRAME_OVERFLOWED) { /* its node is its caller's, or the root */
        qp_count(&qp_recorder.space, QP_D_out_of_memory);
        return NULL;
    }
    if (qp_blocks_are_excluded(n->method))
        return NULL;
    uint32_t n_blocks = qp_method_n_blocks(&qp_recorder.methods, n->method);
    if (bb < 0 || (uint32_t)bb >= n_blocks) {
        qp_count(&qp_recorder.space, QP_D_bb_out_of_range);
        return NULL;
    }
    qp_node_more *more = qp_tree_more(th, qp_frame_path(f));
    qp_cell *place = !more                             ? NULL
                     : kind == QP_COUNTER_BLOCK_COUNTS ? &more->counters
                                                       : &more->time_counters;
    if (place && !*place) {
        uint32_t n_values =
            kind == QP_COUNTER_BLOCK_COUNTS ? n_blocks : 2 * n_blocks + (n_blocks + 63) / 64;
        *place = counters_of(th, n->method, kind, n_values, n_blocks);
    }
    if (!place || !*place) {
        qp_count(&qp_recorder.space, QP_D_out_of_memory);
        return NULL;
    }
    return qp_counter_block_at(th, *place);
}

void qp_blocks_saturate(uint64_t *counter)
{
    qp_store(counter, UINT64_MAX);
    qp_count(&qp_recorder.space, QP_D_saturated);
}

void qp_blocks_count(qprof_thread *th, qprof_frame *top, int bb, uint64_t n)
{
    if (qp_recorder_head()->grain == QP_GRAIN_FUNCTION || !n)
        return;
    qp_counter_block *b = frame_counters(th, top, QP_COUNTER_BLOCK_COUNTS, bb);
    if (!b || (QPROF_LOAD(th->gate) & (QP_HOOK_STOPPED | QP_HOOK_OFF)) ||
        (uint32_t)bb >= b->n_values)
        return;
    if (!(qp_recorder_head()->collect & QP_COLLECT_ONCE))
        qp_blocks_add(&b->values[bb], n);
    else if (!b->values[bb])
        qp_store(&b->values[bb], 1);
}

void qp_blocks_units(qprof_thread *th, qprof_frame *top, uint64_t n)
{
    if (QPROF_LOAD(th->gate) & (QP_HOOK_STOPPED | QP_HOOK_OFF))
        return;
    qp_node_more *more = qp_tree_more(th, qp_frame_path(top));
    if (more)
        qp_blocks_add(&more->counts, n);
    else
        qp_count(&qp_recorder.space, QP_D_out_of_memory);
    if (qp_recorder_head()->clock_kind == QP_CLOCK_COUNTS) {
        qp_blocks_add(&th->pulse->counts, n);
        qp_clock(th, top,
                 qp_clock_now(th)); /* now: after a clear they would be charged wrongly */
    }
}

void qp_block_mark(qprof_thread *th, qprof_frame *top, int bb)
{
    uint32_t hooks = QPROF_LOAD(th->gate);
    if (qp_recorder_head()->grain == QP_GRAIN_FUNCTION)
        return;
    if (!(hooks & QP_HOOKS_EXACT) || (hooks & QP_HOOK_CLASSES))
        return; /* the times of blocks are parts of exact times of one clock */
    uint64_t now = qp_clock_now(th);
    qp_clock(th, top, now);
    qp_counter_block *b = frame_counters(th, top, QP_COUNTER_BLOCK_TIMES, bb);
    if (!b)
        return;
    const qprof_node *n = qp_frame_node(th, top);
    uint64_t begun = n->begun & ~QP_NO_EXTREMES;
    if (top->flags & QPROF_FRAME_MARKED)
        qp_tree_settle_block(th, top, now);
    else /* the prologue */
        qp_tree_charge_block(b, (uint32_t)bb, n->self - begun,
                             top->start == QP_NO_START ? n->self - begun : now - top->start);
    uint64_t *marked = &b->values[2 * b->n_blocks + (uint32_t)bb / 64];
    qp_store(marked, *marked | 1ull << ((uint32_t)bb % 64));
    QPROF_STORE(top->block, (uint32_t)bb);
    QPROF_STORE(top->mark_at, now);
    QPROF_STORE(top->mark_self, n->self);
    qp_stack_flag(th, top, QPROF_FRAME_MARKED);
}

/* Values of a block that a host tells, of which each has `each`. @return NULL: the reason is counted */
static uint64_t *values_told(qprof_thread *th, qp_cell method, qp_counter_block_kind kind,
                             int block, uint32_t each)
{
    uint32_t n_blocks = method ? qp_method_n_blocks(&qp_recorder.methods, method) : 0;
    bool is_block = (uint32_t)block < n_blocks;
    qp_cell cell = 0;
    if (qp_blocks_are_excluded(method))
        return NULL;
    if (is_block)
        cell = counters_of(th, method, kind, each * n_blocks, n_blocks);
    if (cell)
        return &qp_counter_block_at(th, cell)->values[(size_t)each * (uint32_t)block];
    qp_count(&qp_recorder.space, is_block ? QP_D_out_of_memory : QP_D_bb_out_of_range);
    return NULL;
}

void qp_blocks_sampled(qprof_thread *th, qp_cell method, int block, uint64_t n)
{
    uint64_t *samples = values_told(th, method, QP_COUNTER_BLOCK_SAMPLES, block, 1);
    if (samples)
        qp_blocks_add(samples, n);
}

void qp_blocks_allocated(qprof_thread *th, qp_cell method, int block, uint64_t bytes,
                         uint64_t objects)
{
    uint64_t *memory = values_told(th, method, QP_COUNTER_BLOCK_MEMORY, block, 2);
    if (!memory)
        return;
    qp_blocks_add(&memory[0], bytes);
    qp_blocks_add(&memory[1], objects);
}

/* With function granularity a host counts entries alone. */
static bool is_entry_alone(const qp_jumps *jumps)
{
    return jumps && jumps->n_jumps == 1 && jumps->jumps[0].from_block == QP_JUMP_ENTRY;
}

uint64_t *qp_blocks_counters(qprof_thread *th, qp_cell method)
{
    uint32_t n_blocks = qp_method_n_blocks(&qp_recorder.methods, method);
    const qp_method *m = qp_at(&qp_recorder.space, method);
    const qp_jumps *jumps = qp_method_jumps(m);
    uint32_t n_values = jumps ? jumps->n_jumps : n_blocks;
    bool is_brief = qp_recorder_head()->grain == QP_GRAIN_FUNCTION;
    if (is_brief ? !is_entry_alone(jumps) || (qp_load(&m->flags) & QP_METHOD_EXCLUDED)
                 : qp_blocks_are_excluded(method))
        return NULL;
    qp_cell cell = counters_of(th, method, QP_COUNTER_BLOCK_COUNTS, n_values, n_blocks);
    qp_counter_block *b = cell ? qp_counter_block_at(th, cell) : NULL;
    if (!b)
        return NULL;
    qp_store(&b->clear_count, 1 + (uint64_t)qp_load(&qp_recorder_head()->clear_count));
    return b->values;
}

static void zero_values(qp_counter_block *b)
{
    for (uint32_t i = 0; i < b->n_values; i++)
        qp_store(&b->values[i], 0);
}

static bool zero_counters(void *thread, qp_counter_block *b)
{
    zero_values(b);
    if (b->base) /* of a clear before this thread had a stack */
        zero_values(qp_counter_block_at(thread, b->base));
    return true;
}

void qp_blocks_zero(qprof_thread *th)
{
    qp_walk_counter_blocks(qp_record_of(th), zero_counters, th);
}
