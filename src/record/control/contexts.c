/* contexts.c: distributing counts to contexts. Read hand_out first. */
#include "record/control/control.h"

#include "base/atomic.h"
#include "base/containers/trie.h"
#include "record/clock/clock.h"

enum { FIRST_CELLS = 16 };

static qp_contexts *own(void)
{
    return &qp_recorder.contexts;
}

static qp_counter_block *counters_at(qp_cell cell)
{
    return qp_at(&qp_recorder.space, cell);
}

/* ---- contexts ---------------------------------------------------------------------------- */

static uint64_t name_of(QP_UNUSED void *unused, uint32_t cell)
{
    return ((const qp_context *)qp_at(&qp_recorder.space, cell))->name;
}

static qp_cell new_context(qp_ref name)
{
    qp_cell cell = qp_cells_take(&qp_recorder.space, &own()->context_end, QP_EXTENT_CONTEXTS, 0,
                                 1, FIRST_CELLS, QP_RESERVE_ORDINARY);
    if (!cell)
        return 0;
    qp_context *c = qp_at(&qp_recorder.space, cell);
    c->name = name;
    c->ordinal = ++own()->n;
    c->published = 1;
    qp_cells_publish(&qp_recorder.space, own()->context_end, 1);
    return cell;
}

static qp_cell context_named(const char *name)
{
    const qp_trie index = {qp_recorder.space.map.base, name_of, qp_recorder_block, NULL};
    qp_ref ref = qp_texts_add(&qp_recorder.texts, name);
    if (!ref)
        return name && *name ? 0 : own()->unnamed;
    qp_cell cell = qp_trie_get(index, own()->names, ref);
    if (cell)
        return cell;
    cell = new_context(ref);
    return cell ? qp_trie_put(index, own()->names, ref, cell) : 0;
}

/* Begin with the unnamed context: what was counted so far belongs to it. */
static bool begin(void)
{
    qp_contexts *c = own();
    if (!c->names)
        c->names = qp_recorder_block(NULL);
    if (!c->shares)
        c->shares = qp_recorder_block(NULL);
    if (!c->unnamed)
        c->unnamed = c->names && c->shares ? new_context(0) : 0;
    if (c->unnamed && !qp_recorder_head()->context)
        qp_publish(&qp_recorder_head()->context, c->unnamed);
    return c->unnamed != 0;
}

/* ---- counters ---------------------------------------------------------------------------- */

static uint64_t share_key(qp_cell context, qp_cell method)
{
    return (uint64_t)context << 32 | method;
}

static uint64_t key_of_share(QP_UNUSED void *unused, uint32_t cell)
{
    return share_key(counters_at(cell)->context, counters_at(cell)->method);
}

/* The current context's counters of a method, made if necessary. @return NULL: no room */
static qp_counter_block *share_of(qp_cell method)
{
    const qp_trie index = {qp_recorder.space.map.base, key_of_share, qp_recorder_block, NULL};
    qp_cell context = qp_recorder_head()->context;
    uint64_t key = share_key(context, method);
    qp_cell cell = qp_trie_get(index, own()->shares, key);
    if (cell)
        return counters_at(cell);
    uint32_t n_blocks = qp_method_n_blocks(&qp_recorder.methods, method);
    const qp_jumps *jumps = qp_method_jumps(qp_at(&qp_recorder.space, method));
    const qp_counter_block from = {.kind = QP_COUNTER_BLOCK_SHARE,
                                   .method = method,
                                   .context = context,
                                   .n_values = jumps ? jumps->n_jumps : n_blocks,
                                   .n_blocks = n_blocks};
    cell = qp_counter_block_new(&own()->share_end, 0, &from);
    cell = cell ? qp_trie_put(index, own()->shares, key, cell) : 0;
    return cell ? counters_at(cell) : NULL;
}

/* A second block of counters, which keeps earlier values of b. @return NULL: no room */
static qp_counter_block *twin_of(const qp_counter_block *b, qp_cell *place,
                                 qp_counter_block_kind kind)
{
    const qp_counter_block from = {
        .kind = kind, .method = b->method, .n_values = b->n_values, .n_blocks = b->n_blocks};
    if (!*place)
        qp_publish(place, qp_counter_block_new(&own()->share_end, 0, &from));
    return *place ? counters_at(*place) : NULL;
}

/* Give the current context what a counter block has gained since it was last seen. Safe if the
 * process is killed here: readers use the shares alone; `seen` is only what they add up to. */
static bool hand_out_counters(void *record, qp_counter_block *b)
{
    const qp_thread_record *r = record;
    if (b->kind != QP_COUNTER_BLOCK_COUNTS)
        return true;
    qp_counter_block *seen = twin_of(b, &b->seen, QP_COUNTER_BLOCK_SEEN);
    if (!seen)
        return false;
    if (seen->clear_count != qp_load(&r->clear_count)) { /* zeroed since */
        for (uint32_t i = 0; i < b->n_values; i++)
            seen->values[i] = b->base ? counters_at(b->base)->values[i] : 0;
        seen->clear_count = qp_load(&r->clear_count);
    }
    uint32_t i = 0;
    while (i < b->n_values && qp_load(&b->values[i]) == seen->values[i])
        i++;
    if (i == b->n_values)
        return true;
    qp_counter_block *share = share_of(b->method);
    if (!share)
        return false;
    if (share->n_values != b->n_values) { /* blocks against jumps: they cannot be attributed */
        qp_count(&qp_recorder.space, QP_D_context_mixed);
        return true;
    }
    for (; i < b->n_values; i++) {
        uint64_t now = qp_load(&b->values[i]);
        qp_bump(&share->values[i], now - seen->values[i]);
        seen->values[i] = now;
    }
    return true;
}

/* ---- calls ------------------------------------------------------------------------------- */

enum { LIST_END = 1 }; /* a cell of the head: never a method */

/* Methods with calls form a list. */
static bool add_calls(void *list, QP_UNUSED qp_cell cell, const qp_node *n)
{
    qp_cell *first = list;
    qp_method *m = qp_at(&qp_recorder.space, n->method);
    if (!n->method)
        return true;
    m->calls_now += qp_node_calls(n);
    if (!m->calls_next) {
        m->calls_next = *first;
        *first = n->method;
    }
    return true;
}

/* Take the first method off the list. @return its cell; LIST_END: none is left */
static qp_cell next_called(qp_cell *list, qp_method **m, uint64_t *calls)
{
    qp_cell cell = *list;
    if (cell == LIST_END)
        return LIST_END;
    *m = qp_at(&qp_recorder.space, cell);
    *list = (*m)->calls_next;
    *calls = (*m)->calls_now;
    (*m)->calls_next = 0;
    (*m)->calls_now = 0;
    return cell;
}

static bool hand_out_calls(qp_cell list)
{
    qp_method *m;
    uint64_t calls;
    bool has_room = true;
    for (qp_cell cell; (cell = next_called(&list, &m, &calls)) != LIST_END;) {
        qp_counter_block *share = calls != m->calls_seen && has_room ? share_of(cell) : NULL;
        if (share) {
            qp_bump(&share->calls, calls - m->calls_seen);
            m->calls_seen = calls;
        }
        has_room = has_room && (share || calls == m->calls_seen);
    }
    return has_room;
}

/* ---- all of it --------------------------------------------------------------------------- */

/* Give the current context what all counters have gained since the last time. */
static bool hand_out(void)
{
    qp_thread_record *r;
    qp_cell list = LIST_END;
    bool has_room = true;
    for (uint32_t i = 0; (r = qp_walk_records(&i, true)) != NULL;) {
        qp_walk_nodes(r, add_calls, &list);
        has_room = has_room && qp_walk_counter_blocks(r, hand_out_counters, r);
    }
    return hand_out_calls(list) && has_room;
}

bool qp_contexts_switch(const char *name)
{
    if (!begin())
        return false;
    qp_cell cell = context_named(name);
    if (!cell || !hand_out())
        return false;
    qp_context *c = qp_at(&qp_recorder.space, cell);
    qp_bump(&c->n_switches, 1);
    qp_publish(&qp_recorder_head()->context, cell);
    return true;
}

/* ---- clears ------------------------------------------------------------------------------ */

static bool set_base(QP_UNUSED void *unused, qp_counter_block *b)
{
    if (b->kind != QP_COUNTER_BLOCK_COUNTS)
        return true;
    qp_counter_block *base = twin_of(b, &b->base, QP_COUNTER_BLOCK_BASE);
    if (!base) {
        qp_count(&qp_recorder.space, QP_D_out_of_memory);
        return true;
    }
    for (uint32_t i = 0; i < b->n_values; i++)
        qp_store(&base->values[i], qp_load(&b->values[i]));
    return true;
}

static void zero_shares(void)
{
    for (qp_cell cell = own()->share_end; cell;) {
        const qp_extent *e = qp_at(&qp_recorder.space, cell);
        for (uint32_t at = 1; at <= e->n_used;) {
            qp_counter_block *b = counters_at(cell + at);
            for (uint32_t i = 0; b->kind == QP_COUNTER_BLOCK_SHARE && i < b->n_values; i++)
                qp_store(&b->values[i], 0);
            b->calls = 0;
            at += b->n_cells;
        }
        cell = e->prev;
    }
}

void qp_contexts_clear(void)
{
    qp_cell list = LIST_END;
    qp_thread_record *r;
    qp_method *m;
    uint64_t calls;
    for (uint32_t i = 0; (r = qp_walk_records(&i, false)) != NULL;) {
        qp_walk_nodes(r, add_calls, &list);
        if (qp_load(&r->top) || qp_load(&r->root))
            continue; /* it, or what begins on its row, clears its own at its next event */
        qp_walk_counter_blocks(r, set_base, NULL);
        qp_publish(&r->clear_count, qp_recorder_head()->clear_count);
    }
    while (next_called(&list, &m, &calls) != LIST_END)
        m->calls_seen = 0;
    zero_shares();
    qp_publish(&qp_recorder_head()->context_clears, qp_recorder_head()->clear_count);
}
