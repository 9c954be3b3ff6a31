/* compare.c: both trees are walked by paths of method ids; what is zero on one side may be
 * absent on the other. Read compare_tree first. */
#include "model/compare.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"
#include "model/model.h"
#include "model/naive_tree.h"
#include "qprof.h"

static bool differ(comparison *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->difference, c->n_text, format, args);
    va_end(args);
    return false;
}

/* "12>34>56": ids of the methods from the outermost. */
static void print_path(const naive_node *node, char *out, size_t n_out)
{
    const naive_node *path[24];
    size_t depth = 0, used = 0;
    for (; node->parent && depth < 24; node = node->parent)
        path[depth++] = node;
    used += (size_t)snprintf(out, n_out, node->parent ? "..>" : "");
    while (depth-- > 0 && used < n_out - 24)
        used += (size_t)snprintf(out + used, n_out - used, "%" PRIx64 "%s", path[depth]->method,
                                 depth ? ">" : "");
}

static bool same(comparison *c, const naive_node *node, uint32_t thread, const char *what,
                 uint64_t recorded, uint64_t expected)
{
    if (recorded == expected)
        return true;
    char path[160];
    print_path(node, path, sizeof path);
    return differ(c, "thread %u, path %s: %s is %" PRIu64 ", expected %" PRIu64, thread, path,
                  what, recorded, expected);
}

static bool compare_times(comparison *c, const naive_node *node, uint32_t thread,
                          const qp_figures *f)
{
    if (!same(c, node, thread, "self", f->self, node->self) ||
        !same(c, node, thread, "total", f->total, node->total))
        return false;
    if (!c->has_min_max || (f->min > f->max && node->min > node->max))
        return true;
    return same(c, node, thread, "min", f->min, node->min) &&
           same(c, node, thread, "max", f->max, node->max);
}

/* With adaptive timing: was every call on the path timed? Else totals above are estimates, and
 * those below are fitted into them. */
static bool is_timed_whole(const naive_node *node)
{
    for (; node->parent; node = node->parent)
        if (node->n_hits > 16 || node->is_open)
            return false;
    return true;
}

static bool compare_node(comparison *c, const naive_node *node, uint32_t thread,
                         const qp_figures *f)
{
    c->n_nodes++;
    if (!same(c, node, thread, "hits", f->hits, node->n_hits) ||
        !same(c, node, thread, "skips", f->skips, node->n_skips) ||
        !same(c, node, thread, "calls", f->calls, node->n_hits + node->n_skips) ||
        !same(c, node, thread, "counts", f->counts, node->counts))
        return false;
    if (c->depth == COMPARE_TIMES)
        return compare_times(c, node, thread, f);
    if (c->depth == COMPARE_FIRST && is_timed_whole(node))
        return same(c, node, thread, "total", f->total, node->total);
    return true;
}

static bool is_silent(const naive_node *node)
{
    return !(node->n_hits | node->n_skips | node->self | node->counts);
}

static naive_node *child_with(const naive_node *parent, uint64_t method)
{
    naive_node *child = parent->children;
    while (child && child->method != method)
        child = child->next;
    return child;
}

static uint64_t count_loud(const naive_node *root)
{
    uint64_t n = 0;
    for (const naive_node *node = root; node;) {
        n += node->parent && !is_silent(node);
        if (node->children) {
            node = node->children;
            continue;
        }
        while (node && !node->next)
            node = node->parent;
        node = node ? node->next : NULL;
    }
    return n;
}

/* Every recorded node has its naive one with the same figures, and none is missing. */
static bool compare_tree(comparison *c, const qp_model *m, uint32_t thread,
                         const naive_thread *th, const naive_node **twins)
{
    uint64_t n_loud = 0;
    for (uint32_t i = 1; i < m->n_nodes; i++) {
        const qp_model_node *node = &m->nodes[i];
        if (node->thread != thread)
            continue;
        if (node->depth == 1) {
            twins[i] = th->root;
            if (c->depth == COMPARE_TIMES &&
                !same(c, th->root, thread, "self", node->f.self, th->root->self))
                return false;
            continue;
        }
        const naive_node *above = twins[node->parent];
        uint64_t method = m->methods[node->method].id;
        twins[i] = above ? child_with(above, method) : NULL;
        if (twins[i]) {
            n_loud += !is_silent(twins[i]);
            if (!compare_node(c, twins[i], thread, &node->f))
                return false;
        } else if (node->f.calls || node->f.self || node->f.counts) {
            return differ(c, "thread %u: a node of %s with %" PRIu64 " calls that never were",
                          thread, m->methods[node->method].name, node->f.calls);
        }
    }
    uint64_t n_expected = count_loud(th->root);
    if (n_loud != n_expected)
        return differ(c, "thread %u: %" PRIu64 " paths recorded, expected %" PRIu64, thread,
                      n_loud, n_expected);
    return true;
}

static bool same_term(comparison *c, uint32_t thread, const char *what, uint64_t recorded,
                      uint64_t expected)
{
    return recorded == expected || differ(c, "thread %u: %s is %" PRIu64 ", expected %" PRIu64,
                                          thread, what, recorded, expected);
}

static bool compare_thread(comparison *c, const qp_model *m, uint32_t thread,
                           const naive_thread *th)
{
    const qp_model_thread *t = &m->threads[thread];
    return same_term(c, thread, "depth", t->depth, th->depth) &&
           same_term(c, thread, "still live", t->n_still_live, th->depth) &&
           same_term(c, thread, "destroyed live", t->n_destroyed_live, th->n_destroyed_live) &&
           same_term(c, thread, "dropped", t->n_dropped, 0) &&
           same_term(c, thread, "in no area", t->n_overflowed, th->n_excluded) &&
           (!c->has_exits || (same_term(c, thread, "frames ended by exits",
                                        t->n_exits + t->n_unwound, th->n_popped) &&
                              same_term(c, thread, "exits", t->n_exits, th->n_popping_exits)));
}

static bool compare_block(comparison *c, uint32_t thread, uint64_t method, int index,
                          const qp_block_figures *b, const naive_block *expected)
{
    static const naive_block none;
    const naive_block *e = expected ? expected : &none;
    uint64_t total = e->total + e->open_callees;
    if (b->count != e->count)
        return differ(
            c, "thread %u, method %" PRIx64 ", block %d: count %" PRIu64 ", expected %" PRIu64,
            thread, method, index, b->count, e->count);
    if (c->depth == COMPARE_TIMES && (b->self != e->self || b->total != total))
        return differ(c,
                      "thread %u, method %" PRIx64 ", block %d: self %" PRIu64
                      ", total %" PRIu64 "; expected %" PRIu64 ", %" PRIu64,
                      thread, method, index, b->self, b->total, e->self, total);
    return true;
}

static bool compare_blocks(comparison *c, const qp_model *m, uint32_t thread,
                           const naive_thread *th)
{
    for (uint32_t i = 1; i < m->n_methods; i++) {
        qp_block_figures *blocks;
        size_t n;
        if (!qp_model_blocks(m, i, thread, &blocks, &n))
            return differ(c, "no memory");
        bool is_same = true;
        for (size_t k = 0; k < n && is_same; k++)
            is_same = compare_block(c, thread, m->methods[i].id, (int)k, &blocks[k],
                                    naive_find_block(th, m->methods[i].id, (int)k));
        qp_free(blocks);
        if (!is_same)
            return false;
    }
    return true;
}

static bool compare_checks(comparison *c, const qp_model *m)
{
    qp_check *checks;
    size_t n;
    bool passed = true;
    if (!qp_model_check(m, &checks, &n))
        return differ(c, "no memory");
    for (size_t i = 0; i < n && passed; i++)
        passed =
            checks[i].passed || differ(c, "check %s: %s", checks[i].name, checks[i].detail);
    qp_free(checks);
    return passed;
}

/* ---- threads that share rows ------------------------------------------------------------------ */

static bool compare_sum(comparison *c, naive_node *sum)
{
    for (naive_node *node = sum; node; node = naive_tree_next(node)) {
        c->n_nodes++;
        if (!node->parent)
            continue;
        if (!same(c, node, 0, "hits", node->recorded.n_hits, node->n_hits) ||
            !same(c, node, 0, "skips", node->recorded.n_skips, node->n_skips) ||
            !same(c, node, 0, "counts", node->recorded.counts, node->counts) ||
            (c->depth == COMPARE_TIMES &&
             !same(c, node, 0, "self", node->recorded.self, node->self)))
            return false;
    }
    return true;
}

/* A thread that waits may leave its row to another: the sums of all threads are compared, by path. */
static bool compare_sums(comparison *c, const naive *n, const qp_model *m)
{
    naive_node *sum = naive_tree_root(), **twins = calloc(m->n_nodes, sizeof *twins);
    for (size_t i = 0; i < n->n_threads; i++)
        naive_tree_add(sum, n->threads[i].root);
    for (uint32_t i = 1; twins && i < m->n_nodes; i++) {
        const qp_model_node *node = &m->nodes[i];
        naive_node *above = node->depth > 1 ? twins[node->parent] : NULL;
        twins[i] = above ? naive_tree_child(above, m->methods[node->method].id) : sum;
        twins[i]->recorded.n_hits += node->f.hits;
        twins[i]->recorded.n_skips += node->f.skips;
        twins[i]->recorded.self += node->f.self;
        twins[i]->recorded.counts += node->f.counts;
    }
    bool is_same = twins && compare_sum(c, sum);
    naive_tree_free(sum);
    free(twins);
    return is_same && compare_checks(c, m);
}

static bool compare_model(comparison *c, naive *n, const qp_model *m)
{
    if (c->shares_rows)
        return compare_sums(c, n, m);
    if (m->n_threads - 1 != n->n_threads)
        return differ(c, "%u threads, expected %zu", m->n_threads - 1, n->n_threads);
    for (uint32_t i = 1; i < m->n_threads; i++)
        if (m->threads[i].ordinal != i)
            return differ(c, "thread %u has ordinal %u", i, m->threads[i].ordinal);
    const naive_node **twins = calloc(m->n_nodes, sizeof *twins);
    bool is_same = twins != NULL;
    for (uint32_t i = 1; i < m->n_threads && is_same; i++)
        is_same = compare_tree(c, m, i, &n->threads[i - 1], twins) &&
                  compare_thread(c, m, i, &n->threads[i - 1]) &&
                  compare_blocks(c, m, i, &n->threads[i - 1]);
    free(twins);
    return is_same && compare_checks(c, m);
}

bool compare_file(comparison *c, naive *n, const char *file)
{
    qp_error error;
    qp_model *m = NULL;
    qp_load_status status = qp_model_load(file, NULL, &m, &error);
    bool is_same = false;
    if (status == QP_LOAD_UNUSABLE)
        differ(c, "%s: %s", file, error.text);
    else if (status == QP_LOAD_SALVAGED)
        differ(c, "%s: %s", file, m->n_losses ? m->losses[0] : "salvaged");
    else
        is_same = compare_model(c, n, m);
    qp_model_free(m);
    return is_same;
}

bool compare_diagnostics(comparison *c, const naive *n)
{
    for (size_t i = 0; i < NAIVE_N_DIAGNOSTICS; i++) {
        uint64_t recorded = qprof_diagnostic(naive_diagnostic_names[i]);
        if (recorded != n->diagnostics[i])
            return differ(c, "diagnostic %s is %" PRIu64 ", expected %" PRIu64,
                          naive_diagnostic_names[i], recorded, n->diagnostics[i]);
    }
    uint64_t back = qprof_diagnostic("clock_backwards"),
             largest = qprof_diagnostic("clock_backwards_max");
    if (back < n->n_backwards || back > n->n_backwards_at_most)
        return differ(c, "clock_backwards is %" PRIu64 ", expected %" PRIu64 " to %" PRIu64,
                      back, n->n_backwards, n->n_backwards_at_most);
    if (largest < n->backwards_max || largest > n->backwards_max_at_most)
        return differ(c, "clock_backwards_max is %" PRIu64 ", expected %" PRIu64 " to %" PRIu64,
                      largest, n->backwards_max, n->backwards_max_at_most);
    static const char *const losses[] = {
        "reentrant",           "callback_nesting", "tree_overflow",  "depth_overflow",
        "stack_nomem",         "thread_nomem",     "out_of_memory",  "vt_conflict",
        "saturated",           "lost_full",        "fd_hijacked",    "no_crash_safety",
        "exit_search_limited", "method_limit",     "clamped_options"};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (qprof_diagnostic(losses[i]))
            return differ(c, "diagnostic %s is %" PRIu64 ", expected 0", losses[i],
                          qprof_diagnostic(losses[i]));
    return true;
}
