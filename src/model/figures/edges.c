/* edges.c: callers, callees, pairs, the hottest path.
 *
 * A pair (caller, callee) has all nodes of the callee directly below a node of the caller. One
 * walk over the tree finds for every pair how often it was called and the time of its outermost
 * nodes, those with no node of the same pair above. Start reading at enter_node(). */
#include <math.h>
#include <stdlib.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/containers/search.h"
#include "model/figures/figures.h"
#include "model/read/read.h"

typedef struct {
    const qp_model *m;
    uint32_t thread;    /* QP_ALL_THREADS: any */
    uint32_t method;    /* whose edges; UINT32_MAX: all pairs */
    bool is_of_callers; /* time: as the method's total; else as that of its callees */
    qp_dict pairs;      /* caller, callee -> index + 1 in rows */
    qp_buf rows;        /* pair_row */
    uint32_t *n_open;   /* [n_methods] nodes of the method above us */
    uint64_t *inside;   /* [n_nodes] callees: the method's own time below and at the node */
    bool *leads_back;   /* [n_nodes] callees: a node of the method is below, or it is one */
} search;

typedef struct {
    qp_pair pair;
    uint32_t n_open; /* nodes of the pair above us */
    double squares;  /* of half the intervals of its time */
} pair_row;

static uint64_t key_of(uint32_t caller, uint32_t callee)
{
    return (uint64_t)caller << 32 | callee;
}

static pair_row *row_of(search *s, uint32_t caller, uint32_t callee)
{
    bool is_new;
    uint32_t at = qp_buf_keyed(&s->rows, &s->pairs, key_of(caller, callee), &is_new);
    pair_row *row = at ? (pair_row *)s->rows.items + at - 1 : NULL;
    if (is_new)
        row->pair = (qp_pair){.caller = caller, .callee = callee};
    return row;
}

static bool is_wanted(const search *s, const qp_model_node *n)
{
    if (n->method == QP_ROOT_METHOD || (s->thread != QP_ALL_THREADS && n->thread != s->thread))
        return false;
    uint32_t caller = s->m->nodes[n->parent].method;
    return s->method == UINT32_MAX || s->method == (s->is_of_callers ? n->method : caller);
}

/* Ticks that an outermost node adds to its pair. */
static uint64_t time_of(const search *s, uint32_t node)
{
    uint64_t total = s->m->nodes[node].f.total;
    return total - (s->inside && !s->is_of_callers ? s->inside[node] : 0);
}

static void enter_node(search *s, uint32_t i)
{
    const qp_model_node *n = &s->m->nodes[i];
    uint32_t caller = s->m->nodes[n->parent].method;
    pair_row *row = is_wanted(s, n) ? row_of(s, caller, n->method) : NULL;
    if (row) {
        row->pair.calls = qp_sum(row->pair.calls, n->f.calls);
        row->pair.is_recursive |= s->is_of_callers ? s->n_open[n->method] > 0
                                  : s->leads_back  ? s->leads_back[i]
                                                   : s->n_open[n->method] > 0;
        bool is_counted = s->is_of_callers ? n->is_outermost : !row->n_open;
        /* a callee is not its own descendant */
        if (is_counted && (s->is_of_callers || n->method != caller)) {
            row->pair.time = qp_sum(row->pair.time, time_of(s, i));
            row->squares += (double)n->f.total_half * (double)n->f.total_half;
        }
        row->n_open++;
    }
    s->n_open[n->method]++;
}

static void leave_node(search *s, uint32_t i)
{
    const qp_model_node *n = &s->m->nodes[i];
    s->n_open[n->method]--;
    if (is_wanted(s, n) && !s->rows.failed)
        row_of(s, s->m->nodes[n->parent].method, n->method)->n_open--;
}

/* The method's own time below each node, from the leaves up. */
static bool find_inside(search *s)
{
    const qp_model *m = s->m;
    s->inside = qp_alloc_zeroed(m->n_nodes, sizeof *s->inside);
    s->leads_back = qp_alloc_zeroed(m->n_nodes, sizeof *s->leads_back);
    if (!s->inside || !s->leads_back)
        return false;
    for (uint32_t i = m->n_nodes; --i > 0;) {
        const qp_model_node *n = &m->nodes[i];
        if (n->method == s->method) {
            s->inside[i] = qp_sum(s->inside[i], n->f.self);
            s->leads_back[i] = true;
        }
        s->inside[n->parent] = qp_sum(s->inside[n->parent], s->inside[i]);
        s->leads_back[n->parent] |= s->leads_back[i];
    }
    return true;
}

/* @return [*n] free with qp_free(); NULL: no memory */
static qp_pair *find_pairs(search *s, size_t *n)
{
    s->rows = QP_BUF(pair_row);
    s->n_open = qp_alloc_zeroed(s->m->n_methods, sizeof *s->n_open);
    bool needs_inside = s->method != UINT32_MAX && !s->is_of_callers;
    s->rows.failed = !s->n_open || (needs_inside && !find_inside(s));
    for (qp_walk w = {.m = s->m}; !s->rows.failed && qp_walk_next(&w);)
        (w.is_entry ? enter_node : leave_node)(s, w.node);
    qp_free(s->n_open);
    qp_free(s->inside);
    qp_free(s->leads_back);
    qp_dict_fini(&s->pairs);
    pair_row *rows = qp_buf_take(&s->rows, n);
    qp_pair *pairs = rows ? qp_alloc(*n, sizeof *pairs) : NULL;
    for (size_t i = 0; pairs && i < *n; i++)
        pairs[i] = rows[i].pair;
    for (size_t i = 0; pairs && i < *n; i++)
        pairs[i].half = (uint64_t)sqrt(rows[i].squares);
    qp_free(rows);
    *n = pairs ? *n : 0;
    return pairs;
}

static int compare_edges(const void *a, const void *b)
{
    const qp_edge *x = a, *y = b;
    int c = QP_ORDER(y->time, x->time);
    c = c ? c : QP_ORDER(y->calls, x->calls);
    return c ? c : QP_ORDER(x->method, y->method);
}

static bool find_edges(search *s, qp_edge **out, size_t *n)
{
    qp_pair *pairs = find_pairs(s, n);
    *out = pairs ? qp_alloc(*n, sizeof **out) : NULL;
    for (size_t i = 0; *out && i < *n; i++) {
        const qp_pair *p = &pairs[i];
        (*out)[i] = (qp_edge){s->is_of_callers ? p->caller : p->callee, p->is_recursive,
                              p->calls, p->time, p->half};
    }
    qp_free(pairs);
    *n = *out ? *n : 0;
    if (*out)
        qsort(*out, *n, sizeof **out, compare_edges);
    return *out != NULL;
}

bool qp_model_callers(const qp_model *m, uint32_t method, uint32_t thread, qp_edge **out,
                      size_t *n)
{
    search s = {.m = m, .thread = thread, .method = method, .is_of_callers = true};
    return find_edges(&s, out, n);
}

bool qp_model_callees(const qp_model *m, uint32_t method, uint32_t thread, qp_edge **out,
                      size_t *n)
{
    search s = {.m = m, .thread = thread, .method = method};
    return find_edges(&s, out, n);
}

static int compare_pairs(const void *a, const void *b)
{
    const qp_pair *x = a, *y = b;
    return QP_ORDER(key_of(x->caller, x->callee), key_of(y->caller, y->callee));
}

static int compare_caller_pairs(const void *a, const void *b)
{
    const qp_pair *x = a, *y = b;
    return QP_ORDER(key_of(x->callee, x->caller), key_of(y->callee, y->caller));
}

static bool find_all(search *s, qp_pair **out, size_t *n)
{
    *out = find_pairs(s, n);
    if (*out)
        qsort(*out, *n, sizeof **out, s->is_of_callers ? compare_caller_pairs : compare_pairs);
    return *out != NULL;
}

bool qp_model_pairs(const qp_model *m, uint32_t thread, qp_pair **out, size_t *n)
{
    search s = {.m = m, .thread = thread, .method = UINT32_MAX};
    return find_all(&s, out, n);
}

bool qp_model_caller_pairs(const qp_model *m, uint32_t thread, qp_pair **out, size_t *n)
{
    search s = {.m = m, .thread = thread, .method = UINT32_MAX, .is_of_callers = true};
    return find_all(&s, out, n);
}

static uint32_t hottest_child(const qp_model *m, uint32_t node)
{
    uint32_t best = m->nodes[node].first_child;
    for (uint32_t i = best; i; i = m->nodes[i].next_sibling)
        if (m->nodes[i].f.total > m->nodes[best].f.total)
            best = i;
    return best;
}

bool qp_model_hottest_path(const qp_model *m, uint32_t thread, uint32_t **out, size_t *n)
{
    qp_buf path = QP_BUF(uint32_t);
    uint32_t at =
        thread != QP_ALL_THREADS ? m->threads[thread].root : hottest_child(m, QP_ROOT_NODE);
    for (uint32_t next = at ? hottest_child(m, at) : 0;
         next && m->nodes[next].f.total && m->nodes[next].f.total >= m->nodes[at].f.self;
         next = hottest_child(m, at)) {
        uint32_t *step = qp_buf_add(&path);
        if (step)
            *step = next;
        at = next;
    }
    *out = qp_buf_take(&path, n);
    return *out != NULL;
}
