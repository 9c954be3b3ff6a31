/* tree.c: finding and making call paths. Read qp_tree_add first.
 *
 * Callees of a node form a ring in the order of their first calls, so that callees called in
 * turn are found in one step; a node with many callees also has an index. A node never moves,
 * and its parent's cell is smaller than its own: readers need no more than `parent`. */
#include "record/tree/tree.h"

#include "base/atomic.h"
#include "base/containers/trie.h"

/* Key of a callee that the inline path must not find: its node has no method_id, so the cell of
 * its record identifies it. No pointer is an id that high. */
#define HOOKED_KEY 0xFFFFFFFF00000000u

enum {
    RING_MAX = 8, /* a walk over 8 lines costs about what an index look-up costs */
    FIRST_CELLS = 16,
    FIRST_CELLS_VIRTUAL = 4
};

static uint32_t first_cells(void)
{
    return qp_recorder.is_virtual ? FIRST_CELLS_VIRTUAL : FIRST_CELLS;
}

static bool is_hooked(qp_cell method)
{
    const qp_method *m = qp_at(&qp_recorder.space, method);
    return qp_load(&m->flags) & (QP_METHOD_HOOKED | QP_METHOD_EXCLUDED);
}

/* The key of a node. Anonymous and <overflow> nodes: 0. */
static uint64_t key_of(uint64_t method_id, qp_cell method)
{
    bool is_without_key = !method || method == qp_recorder.methods.anonymous ||
                          method == qp_recorder.methods.overflow;
    return method_id ? method_id : is_without_key ? 0 : HOOKED_KEY | method;
}

static uint64_t node_key(const qprof_node *n)
{
    return key_of(n->method_id, n->method);
}

static qp_cell new_node(qprof_thread *th, qp_cell parent, uint64_t method_id, qp_cell method,
                        qp_reserve room)
{
    qp_thread_record *r = qp_record_of(th);
    qp_cell cell = qp_cells_take(&qp_recorder.space, &r->nodes, QP_EXTENT_NODES,
                                 qp_record_cell(th), 1, first_cells(), room);
    if (!cell)
        return 0;
    qprof_node *n = qp_node_at(th, cell);
    n->method_id = method_id;
    n->method = method;
    n->parent = parent;
    n->self_min = qp_load(&qp_recorder.hooks) & QPROF_HOOK_ADAPTIVE ? 0 : UINT64_MAX;
    n->last = QP_NIL_NODE;
    n->next = cell;
    qp_cells_publish(&qp_recorder.space, r->nodes, 1);
    return cell;
}

qp_cell qp_tree_root(qprof_thread *th)
{
    return new_node(th, 0, 0, 0, QP_RESERVE_RESERVED);
}

qp_cell qp_tree_aux_cell(qprof_thread *th)
{
    qp_thread_record *r = qp_record_of(th);
    qp_cell cell = qp_cells_take(&qp_recorder.space, &r->aux, QP_EXTENT_AUX, qp_record_cell(th),
                                 1, first_cells(), QP_RESERVE_RESERVED);
    if (cell)
        qp_cells_publish(&qp_recorder.space, r->aux, 1);
    return cell;
}

static uint32_t index_block(void *owner)
{
    return qp_tree_aux_cell(owner);
}

static uint64_t index_key(void *owner, uint32_t node)
{
    return node_key(qp_node_at(owner, node));
}

static qp_trie index_of(qprof_thread *th)
{
    return (qp_trie){th->base, index_key, index_block, th};
}

/* Make an index of the callees so far; without room for it the ring remains in use. */
static void index_callees(qprof_thread *th, qprof_node *p)
{
    uint32_t root = qp_tree_aux_cell(th);
    qp_cell cell = p->last;
    if (!root)
        return;
    do {
        qprof_node *n = qp_node_at(th, cell);
        if (node_key(n) && !qp_trie_put(index_of(th), root, node_key(n), cell))
            return;
        cell = n->next;
    } while (cell != p->last);
    p->kids = root;
}

qp_cell qp_tree_find(qprof_thread *th, qp_cell parent, uint64_t key)
{
    qprof_node *p = qp_node_at(th, parent);
    if (p->kids && key) {
        return qp_trie_get(index_of(th), p->kids, key);
    }
    qp_cell cell = p->last;
    if (cell == QP_NIL_NODE)
        return 0;
    unsigned n_walked = 0;
    do {
        qprof_node *n = qp_node_at(th, cell);
        if (node_key(n) == key && n->method != qp_recorder.methods.overflow)
            return cell;
        cell = n->next;
        n_walked++;
    } while (cell != p->last);
    if (n_walked >= RING_MAX && !p->kids)
        index_callees(th, p);
    return 0;
}

qp_cell qp_tree_find_hooked(qprof_thread *th, qp_cell parent, qp_cell method)
{
    return qp_tree_find(th, parent, key_of(0, method));
}

static void link_callee(qprof_thread *th, qprof_node *p, qp_cell cell)
{
    qprof_node *n = qp_node_at(th, cell);
    if (p->last != QP_NIL_NODE) {
        qprof_node *before = qp_node_at(th, p->last);
        qp_store(&n->next, before->next);
        qp_store(&before->next, cell);
    }
    qp_store(&p->last, cell);
}

bool qp_tree_holds(const qprof_thread *th, qp_cell cell)
{
    for (qp_cell at = qp_record_of(th)->nodes; at;) {
        const qp_extent *e = QPROF_CELL(th, qp_extent, at);
        if (cell - at - 1 < e->n_used)
            return true;
        at = e->prev;
    }
    return false;
}

bool qp_tree_is_overflow(const qprof_thread *th, qp_cell node)
{
    return qp_node_at(th, node)->method == qp_recorder.methods.overflow;
}

qp_node_more *qp_tree_more(qprof_thread *th, qp_cell node)
{
    qprof_node *n = qp_node_at(th, node);
    if (!n->more) {
        qp_cell cell = qp_tree_aux_cell(th);
        if (!cell)
            return NULL;
        qp_publish(&n->more, cell);
    }
    return QPROF_CELL(th, qp_node_more, n->more);
}

void qp_tree_charge_block(qp_counter_block *times, uint32_t block, uint64_t self,
                          uint64_t total)
{
    qp_bump(&times->values[(size_t)2 * block], self);
    qp_bump(&times->values[(size_t)2 * block + 1], total);
}

void qp_tree_settle_block(qprof_thread *th, qprof_frame *f, uint64_t now)
{
    const qprof_node *n = qp_node_at(th, f->node);
    const qp_node_more *more = n->more ? QPROF_CELL(th, qp_node_more, n->more) : NULL;
    if (more && more->time_counters)
        qp_tree_charge_block(QPROF_CELL(th, qp_counter_block, more->time_counters), f->block,
                             f->self - f->mark_self, now - f->mark_at);
}

static qp_cell overflow_of(qprof_thread *th, qp_cell parent)
{
    qp_node_more *more = qp_tree_more(th, parent);
    if (!more)
        return 0;
    if (!more->overflow)
        more->overflow =
            new_node(th, parent, 0, qp_recorder.methods.overflow, QP_RESERVE_RESERVED);
    return more->overflow;
}

qp_cell qp_tree_add(qprof_thread *th, qp_cell parent, uint64_t method_id, qp_cell method)
{
    qp_cell known = 0;
    if (QP_UNLIKELY(method_id && is_hooked(method))) {
        method_id = 0;
        known = qp_tree_find_hooked(th, parent, method);
    }
    if (known)
        return known;
    qp_cell cell = new_node(th, parent, method_id, method, QP_RESERVE_ORDINARY);
    if (!cell)
        return overflow_of(th, parent);
    qprof_node *p = qp_node_at(th, parent);
    uint64_t key = key_of(method_id, method);
    if (p->kids && key) {
        const qp_trie index = index_of(th);
        if (!qp_trie_put(index, p->kids, key, cell))
            p->kids = 0; /* no room to index it: the ring has all */
    }
    link_callee(th, p, cell);
    return cell;
}

static bool hook_node(void *thread, qp_cell cell, QP_UNUSED const qp_node *unused)
{
    qprof_thread *th = thread;
    qprof_node *n = qp_node_at(th, cell);
    if (!key_of(0, n->method))
        return true;
    const qp_method *m = qp_at(&qp_recorder.space, n->method);
    uint64_t method_id = is_hooked(n->method) ? 0 : m->id;
    if (n->method_id != method_id) {
        qp_store(&n->method_id, method_id);
        qp_node_at(th, n->parent)->kids = 0; /* it was indexed by another key */
    }
    return true;
}

void qp_tree_hook(qprof_thread *th)
{
    qp_walk_nodes(qp_record_of(th), hook_node, th);
}
