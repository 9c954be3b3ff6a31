/* tree.c: finding and making call paths. Read qp_tree_add first.
 *
 * Callees of a node form a ring in the order of their first calls, so that callees called in
 * turn are found in one step; a node with many callees also has an index. A node never moves,
 * and its parent's cell is smaller than its own: readers need no more than `parent`. */
#include "record/tree/tree.h"

#include "base/atomic.h"
#include "base/containers/trie.h"

enum {
    RING_MAX = 8, /* a walk over 8 lines costs about what an index look-up costs */
    FIRST_CELLS = 16,
    FIRST_CELLS_VIRTUAL = 4
};

static uint32_t first_cells(void)
{
    return qp_recorder.is_virtual ? FIRST_CELLS_VIRTUAL : FIRST_CELLS;
}

/* The key of a node: the host's id of its method; of nodes that are anonymous, <overflow> or of an
 * unloaded method: 0. */
static uint64_t node_key(const qprof_node *n)
{
    return qp_method_id(n->method);
}

static void begin_node(qprof_node *n, qp_cell cell, qp_cell parent, qp_cell method)
{
    n->method = method;
    qp_store(&n->parent, parent); /* a save may look at it */
    n->self_min = qp_load(&qp_recorder.hooks) & QPROF_HOOK_ADAPTIVE ? 1 : QP_NO_MIN;
    n->last = (uint64_t)QP_NIL_NODE * QP_CELL;
    n->next = cell;
}

static qp_cell new_node(qprof_thread *th, qp_cell parent, qp_cell method, qp_reserve room)
{
    qp_thread_record *r = qp_record_of(th);
    qp_cell cell = qp_cells_take(&qp_recorder.space, &r->nodes, QP_EXTENT_NODES,
                                 qp_record_cell(th), 1, first_cells(), room);
    if (!cell)
        return 0;
    begin_node(qp_node_at(th, cell), cell, parent, method);
    qp_cells_publish(&qp_recorder.space, r->nodes, 1);
    return cell;
}

qp_cell qp_tree_root(qprof_thread *th)
{
    return new_node(th, 0, 0, QP_RESERVE_RESERVED);
}

static qp_cell aux_cells(qprof_thread *th, uint32_t n_cells)
{
    qp_thread_record *r = qp_record_of(th);
    qp_cell cell = qp_cells_take(&qp_recorder.space, &r->aux, QP_EXTENT_AUX, qp_record_cell(th),
                                 n_cells, first_cells(), QP_RESERVE_RESERVED);
    if (cell)
        qp_cells_publish(&qp_recorder.space, r->aux, n_cells);
    return cell;
}

qp_cell qp_tree_aux_cell(qprof_thread *th)
{
    return aux_cells(th, 1);
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

/* A callee, where the ring of them is entered; the nil node: there is none. The link that the
 * inline path follows leads to no method that is handled apart. */
static qp_cell ring_of(const qprof_thread *th, const qprof_node *p)
{
    qp_cell last = (qp_cell)(p->last >> 6);
    qp_cell apart = p->more ? QPROF_CELL(th, const qp_node_more, p->more)->ring : 0;
    return last != QP_NIL_NODE || !apart ? last : apart;
}

/* Make an index of the callees so far; without room for it the ring remains in use. */
static void index_callees(qprof_thread *th, qp_cell parent)
{
    const qprof_node *p = qp_node_at(th, parent);
    qp_node_more *more = qp_tree_more(th, parent);
    uint32_t root = more ? qp_tree_aux_cell(th) : 0;
    qp_cell first = ring_of(th, p), cell = first;
    if (!root)
        return;
    do {
        const qprof_node *n = qp_node_at(th, cell);
        if (node_key(n) && !qp_trie_put(index_of(th), root, node_key(n), cell))
            return;
        cell = n->next;
    } while (cell != first);
    more->kids = root;
}

/* The index of a node's callees; 0: none. */
static uint32_t kids_of(const qprof_thread *th, const qprof_node *p)
{
    return p->more ? QPROF_CELL(th, const qp_node_more, p->more)->kids : 0;
}

qp_cell qp_tree_find(qprof_thread *th, qp_cell parent, uint64_t key)
{
    const qprof_node *p = qp_node_at(th, parent);
    uint32_t kids = kids_of(th, p);
    if (kids && key)
        return qp_trie_get(index_of(th), kids, key);
    qp_cell first = ring_of(th, p), cell = first;
    if (cell == QP_NIL_NODE)
        return 0;
    unsigned n_walked = 0;
    do {
        const qprof_node *n = qp_node_at(th, cell);
        if (key ? node_key(n) == key : n->method == qp_recorder.methods.anonymous)
            return cell;
        cell = n->next;
        n_walked++;
    } while (cell != first);
    if (n_walked >= RING_MAX && !kids)
        index_callees(th, parent);
    return 0;
}

static bool is_apart(qp_cell method)
{
    const qp_method *m = qp_at(&qp_recorder.space, method);
    return !m->id || (qp_load(&m->flags) & (QP_METHOD_HOOKED | QP_METHOD_EXCLUDED));
}

/* @return false: no room for the way to it */
static bool link_callee(qprof_thread *th, qp_cell parent, qp_cell cell)
{
    qprof_node *p = qp_node_at(th, parent), *n = qp_node_at(th, cell);
    bool apart = is_apart(n->method);
    qp_node_more *more = apart ? qp_tree_more(th, parent) : NULL;
    qp_cell first = ring_of(th, p);
    if (apart && !more)
        return false;
    if (first != QP_NIL_NODE) {
        qprof_node *before = qp_node_at(th, first);
        qp_store(&n->next, before->next);
        qp_store(&before->next, cell);
    }
    if (apart)
        qp_store(&more->ring, cell);
    else
        QPROF_STORE(p->last, (uint64_t)cell << 6);
    return true;
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

qp_node_metrics *qp_tree_metrics(qprof_thread *th, qp_cell node)
{
    qp_node_more *more = qp_tree_more(th, node);
    if (more && !more->metrics) {
        qp_cell cell = qp_tree_aux_cell(th);
        if (!cell)
            return NULL;
        qp_publish(&more->metrics, cell);
    }
    return more ? QPROF_CELL(th, qp_node_metrics, more->metrics) : NULL;
}

qp_node_values *qp_tree_values(qprof_thread *th, qp_cell node)
{
    qp_node_metrics *m = qp_tree_metrics(th, node);
    if (m && !m->values) {
        qp_cell cell = aux_cells(th, sizeof(qp_node_values) / QP_CELL);
        if (!cell)
            return NULL;
        qp_publish(&m->values, cell);
    }
    return m ? QPROF_CELL(th, qp_node_values, m->values) : NULL;
}

qp_node_requests *qp_tree_requests(qprof_thread *th, qp_cell node)
{
    qp_node_more *more = qp_tree_more(th, node);
    if (more && !more->requests) {
        qp_cell cell = aux_cells(th, sizeof(qp_node_requests) / QP_CELL);
        if (!cell)
            return NULL;
        qp_publish(&more->requests, cell);
    }
    return more ? QPROF_CELL(th, qp_node_requests, more->requests) : NULL;
}

void qp_tree_charge_block(qp_counter_block *times, uint32_t block, uint64_t self,
                          uint64_t total)
{
    qp_bump(&times->values[(size_t)2 * block], self);
    qp_bump(&times->values[(size_t)2 * block + 1], total);
}

void qp_tree_settle_block(qprof_thread *th, qprof_frame *f, uint64_t now)
{
    const qprof_node *n = qp_frame_node(th, f);
    const qp_node_more *more = n->more ? QPROF_CELL(th, qp_node_more, n->more) : NULL;
    if (more && more->time_counters)
        qp_tree_charge_block(QPROF_CELL(th, qp_counter_block, more->time_counters), f->block,
                             n->self - f->mark_self, now - f->mark_at);
}

qp_cell qp_tree_overflow(qprof_thread *th, qp_cell parent)
{
    qp_node_more *more = qp_tree_more(th, parent);
    if (!more)
        return 0;
    if (!more->overflow)
        more->overflow =
            new_node(th, parent, qp_recorder.methods.overflow, QP_RESERVE_RESERVED);
    return more->overflow;
}

qp_cell qp_tree_add(qprof_thread *th, qp_cell parent, qp_cell method)
{
    qp_cell cell = new_node(th, parent, method, QP_RESERVE_ORDINARY);
    if (!cell)
        return qp_tree_overflow(th, parent);
    uint32_t kids = kids_of(th, qp_node_at(th, parent));
    if (kids && qp_method_id(method) &&
        !qp_trie_put(index_of(th), kids, qp_method_id(method), cell))
        qp_tree_more(th, parent)->kids = 0; /* no room to index it: the ring has all */
    return link_callee(th, parent, cell) ? cell : qp_tree_overflow(th, parent);
}

static bool renew_node(void *thread, qp_cell cell, const qp_node *n)
{
    const qp_cell parent = n->parent, method = n->method;
    qprof_node *node = qp_node_at(thread, cell);
    *node = (qprof_node){0};
    begin_node(node, cell, parent, method);
    return true;
}

static bool link_again(void *thread, qp_cell cell, const qp_node *n)
{
    bool is_overflow = n->method == qp_recorder.methods.overflow;
    qp_node_more *more = is_overflow ? qp_tree_more(thread, n->parent) : NULL;
    if (more)
        more->overflow = cell;
    else if (n->parent && !is_overflow)
        link_callee(thread, n->parent, cell);
    return true;
}

void qp_tree_renew(qprof_thread *th)
{
    qp_walk_nodes(qp_record_of(th), renew_node, th);
    qp_walk_nodes(qp_record_of(th), link_again, th);
}

void qp_tree_link(qprof_thread *th, qp_cell parent, qp_cell path)
{
    const qprof_node *n = qp_node_at(th, path);
    if (n->parent == parent && n->method && !is_apart(n->method))
        QPROF_STORE(qp_node_at(th, parent)->last, (uint64_t)path << 6);
}

/* Let `last` lead to no method that is apart now. */
static bool unlink_node(void *thread, qp_cell cell, QP_UNUSED const qp_node *unused)
{
    qprof_thread *th = thread;
    qprof_node *p = qp_node_at(th, cell);
    qp_cell last = (qp_cell)(p->last >> 6);
    if (last == QP_NIL_NODE || !is_apart(qp_node_at(th, last)->method))
        return true;
    qp_node_more *more = qp_tree_more(th, cell);
    if (more) /* else there is no room, and its callees are made anew */
        qp_store(&more->ring, last);
    QPROF_STORE(p->last, (uint64_t)QP_NIL_NODE << 6);
    return true;
}

void qp_tree_hook(qprof_thread *th)
{
    qp_walk_nodes(qp_record_of(th), unlink_node, th);
}
