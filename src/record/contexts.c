/* contexts.c: handing out what was counted. Read hand_out first. */
#include "record/contexts.h"

#include "base/atomic.h"
#include "base/trie.h"
#include "record/walk.h"

enum { FIRST_CELLS = 16 };

static qp_contexts *own(void)
{
    return &qp_run.contexts;
}

static qp_bank *bank_at(qp_cell cell)
{
    return qp_at(&qp_run.space, cell);
}

static uint32_t index_block(void *unused)
{
    (void)unused;
    return qp_texts_block(&qp_run.texts);
}

/* ---- contexts ------------------------------------------------------------------------------ */

static uint64_t name_of(void *unused, uint32_t cell)
{
    (void)unused;
    return ((const qp_context *)qp_at(&qp_run.space, cell))->name;
}

static qp_cell new_context(qp_ref name)
{
    qp_cell cell = qp_cells_take(&qp_run.space, &own()->context_end, QP_EXTENT_CONTEXTS, 0, 1,
                                 FIRST_CELLS, QP_ROOM_ORDINARY);
    if (!cell)
        return 0;
    qp_context *c = qp_at(&qp_run.space, cell);
    c->name = name;
    c->ordinal = ++own()->n;
    c->published = 1;
    qp_cells_publish(&qp_run.space, own()->context_end, 1);
    return cell;
}

static qp_cell context_named(const char *name)
{
    const qp_trie index = {qp_run.space.map.base, name_of, index_block, NULL};
    qp_ref ref = qp_texts_add(&qp_run.texts, name);
    if (!ref)
        return name && *name ? 0 : own()->unnamed;
    qp_cell cell = qp_trie_get(&index, own()->names, ref);
    if (cell)
        return cell;
    cell = new_context(ref);
    return cell ? qp_trie_put(&index, own()->names, ref, cell) : 0;
}

/* The first time: what was counted so far was counted without a context. */
static bool begin(void)
{
    qp_contexts *c = own();
    if (!c->names)
        c->names = index_block(NULL);
    if (!c->shares)
        c->shares = index_block(NULL);
    if (!c->unnamed)
        c->unnamed = c->names && c->shares ? new_context(0) : 0;
    if (c->unnamed && !qp_run_head()->context)
        qp_publish(&qp_run_head()->context, c->unnamed);
    return c->unnamed != 0;
}

/* ---- banks --------------------------------------------------------------------------------- */

static qp_cell new_bank(qp_bank_kind kind, qp_cell method, uint32_t n_values, uint32_t n_blocks)
{
    uint32_t n_cells = 1 + (uint32_t)(((uint64_t)n_values * 8 + QP_CELL - 1) / QP_CELL);
    qp_cell cell = qp_cells_take(&qp_run.space, &own()->share_end, QP_EXTENT_SHARES, 0, n_cells,
                                 FIRST_CELLS, QP_ROOM_ORDINARY);
    if (!cell)
        return 0;
    qp_bank *b = bank_at(cell);
    b->n_cells = n_cells;
    b->method = method;
    b->n_values = n_values;
    b->n_blocks = n_blocks;
    b->kind = kind;
    return cell;
}

static uint64_t share_key(qp_cell context, qp_cell method)
{
    return (uint64_t)context << 32 | method;
}

static uint64_t key_of_share(void *unused, uint32_t cell)
{
    (void)unused;
    return share_key(bank_at(cell)->context, bank_at(cell)->method);
}

/* What the current context has of a method, made if need be. @return NULL: no room */
static qp_bank *share_of(qp_cell method)
{
    const qp_trie index = {qp_run.space.map.base, key_of_share, index_block, NULL};
    qp_cell context = qp_run_head()->context;
    uint64_t key = share_key(context, method);
    qp_cell cell = qp_trie_get(&index, own()->shares, key);
    if (cell)
        return bank_at(cell);
    const qp_method *m = qp_at(&qp_run.space, method);
    uint32_t n_blocks = qp_method_n_blocks(&qp_run.methods, method);
    qp_ref jumps = qp_observe(&m->jumps);
    uint32_t n_values =
        jumps ? ((const qp_jumps *)qp_at_ref(&qp_run.space, jumps))->n_jumps : n_blocks;
    cell = new_bank(QP_BANK_SHARE, method, n_values, n_blocks);
    if (!cell)
        return NULL;
    bank_at(cell)->context = context;
    qp_cells_publish(&qp_run.space, own()->share_end, bank_at(cell)->n_cells);
    cell = qp_trie_put(&index, own()->shares, key, cell);
    return cell ? bank_at(cell) : NULL;
}

/* A bank beside another one, in which earlier values of it are kept. @return NULL: no room */
static qp_bank *twin_of(const qp_bank *b, qp_cell *place, qp_bank_kind kind)
{
    if (!*place) {
        qp_cell cell = new_bank(kind, b->method, b->n_values, b->n_blocks);
        if (!cell)
            return NULL;
        qp_cells_publish(&qp_run.space, own()->share_end, bank_at(cell)->n_cells);
        qp_publish(place, cell);
    }
    return bank_at(*place);
}

static uint32_t first_change(const qp_bank *b, const qp_bank *seen)
{
    uint32_t i = 0;
    while (i < b->n_values && qp_load(&b->values[i]) == seen->values[i])
        i++;
    return i;
}

/* Give the current context what a bank has gained since it was seen last. The shares alone say who
 * has what, `seen` only what they add up to: being killed in between does no harm. */
static bool hand_out_bank(void *record, qp_bank *b)
{
    const qp_thread_record *r = record;
    if (b->kind != QP_BANK_COUNTS)
        return true;
    qp_bank *seen = twin_of(b, &b->seen, QP_BANK_SEEN);
    if (!seen)
        return false;
    if (seen->clear_count != qp_load(&r->clear_count)) { /* the thread has zeroed it since */
        for (uint32_t i = 0; i < b->n_values; i++)
            seen->values[i] = b->base ? bank_at(b->base)->values[i] : 0;
        seen->clear_count = qp_load(&r->clear_count);
    }
    uint32_t i = first_change(b, seen);
    if (i == b->n_values)
        return true;
    qp_bank *share = share_of(b->method);
    if (!share)
        return false;
    if (share->n_values !=
        b->n_values) { /* blocks here, jumps there: who has what is unknown */
        qp_count(&qp_run.space, QP_D_context_mixed);
        return true;
    }
    for (; i < b->n_values; i++) {
        uint64_t now = qp_load(&b->values[i]);
        qp_bump(&share->values[i], now - seen->values[i]);
        seen->values[i] = now;
    }
    return true;
}

/* ---- threads ------------------------------------------------------------------------------- */

/* A thread's record, if it counts at present. @return false: no more threads */
static bool next_record(uint32_t i, qp_thread_record **r)
{
    const qprof_thread *th = qp_threads_at(i);
    *r = NULL;
    if (!th)
        return false;
    if (qp_observe(&th->pulse) &&
        qp_load(&qp_record_of(th)->clear_count) == qp_run_head()->clear_count)
        *r = qp_record_of(th);
    return true;
}

/* ---- calls --------------------------------------------------------------------------------- */

enum { LIST_END = 1 }; /* a cell of the head: never a method */

/* Add the calls of a path to its method; those that have any form a list. */
static bool add_calls(void *list, qp_cell cell, const qp_node *n)
{
    qp_cell *first = list;
    qp_method *m = qp_at(&qp_run.space, n->method);
    (void)cell;
    if (!n->method)
        return true;
    m->calls_now += qp_load(&n->n_calls);
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
    *m = qp_at(&qp_run.space, cell);
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
        qp_bank *share = calls != m->calls_seen && has_room ? share_of(cell) : NULL;
        if (share) {
            qp_bump(&share->calls, calls - m->calls_seen);
            m->calls_seen = calls;
        }
        has_room = has_room && (share || calls == m->calls_seen);
    }
    return has_room;
}

/* ---- all of it ----------------------------------------------------------------------------- */

/* Give the current context what all counters have gained since the last time. */
static bool hand_out(void)
{
    qp_thread_record *r;
    qp_cell list = LIST_END;
    bool has_room = true;
    for (uint32_t i = 0; next_record(i, &r); i++) {
        if (!r)
            continue;
        qp_walk_nodes(r, add_calls, &list);
        has_room = has_room && qp_walk_banks(r, hand_out_bank, r);
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
    qp_context *c = qp_at(&qp_run.space, cell);
    qp_bump(&c->n_switches, 1);
    qp_publish(&qp_run_head()->context, cell);
    return true;
}

/* ---- clears -------------------------------------------------------------------------------- */

static bool set_base(void *unused, qp_bank *b)
{
    (void)unused;
    if (b->kind != QP_BANK_COUNTS)
        return true;
    qp_bank *base = twin_of(b, &b->base, QP_BANK_BASE);
    if (!base) {
        qp_count(&qp_run.space, QP_D_out_of_memory);
        return true;
    }
    for (uint32_t i = 0; i < b->n_values; i++)
        qp_store(&base->values[i], qp_load(&b->values[i]));
    return true;
}

static void zero_shares(void)
{
    for (qp_cell cell = own()->share_end; cell;) {
        const qp_extent *e = qp_at(&qp_run.space, cell);
        for (uint32_t at = 1; at <= e->n_used;) {
            qp_bank *b = bank_at(cell + at);
            for (uint32_t i = 0; b->kind == QP_BANK_SHARE && i < b->n_values; i++)
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
    qp_method *m;
    uint64_t calls;
    for (uint32_t i = 0; qp_threads_at(i); i++) {
        const qprof_thread *th = qp_threads_at(i);
        if (!qp_observe(&th->pulse))
            continue;
        qp_thread_record *r = qp_record_of(th);
        qp_walk_nodes(r, add_calls, &list);
        if (qp_load(&r->top))
            continue; /* it does its part itself, at its next event */
        qp_walk_banks(r, set_base, NULL);
        qp_publish(&r->clear_count, qp_run_head()->clear_count);
    }
    while (next_called(&list, &m, &calls) != LIST_END)
        m->calls_seen = 0;
    zero_shares();
    qp_publish(&qp_run_head()->context_clears, qp_run_head()->clear_count);
}
