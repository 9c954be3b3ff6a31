/* graph.c: call paths from edges, as gprof divides times among callers (Graham, Kessler,
 * McKusick 1982): a function that took 30 for one caller and 10 for another is below each of
 * them with three and one quarters of all that it has and all that it called.
 *
 * Calls that lead back into an activation, found by a walk that follows costly calls first, end
 * their path: they have calls and no cost, which stays with the outer activation. Without them
 * the graph has an order, callers first, in which each function hands its paths on. Paths are
 * as many as the product of callers on the way: a function with more than a limit hands the
 * largest ones on, and what the others would have had goes to the largest. Read hand_on
 * first. */
#include <stdlib.h>

#include "base/containers/alloc.h"
#include "base/containers/search.h"
#include "model/import/gather.h"

enum { PATHS_MOST = 1 << 21, PATHS_OF_ONE_MOST = 4096, THREADS_APART = 64 };
static const double ROUNDING = 1000; /* the part of all that rounding may leave */

/* A call path that ends in a vertex, and its weight there. */
typedef struct {
    uint32_t node;
    uint32_t next; /* of the same vertex; 0: none */
    double weight;
} path;

typedef struct {
    uint32_t first, n; /* in `sorted`: its edges */
    uint32_t paths;    /* the newest one */
    double cost_in, calls_in;
    bool has_callers, is_entered, is_on_path;
} state;

typedef struct {
    qp_import *im;
    const qp_import_graph *g;
    state *states;    /* [n vertices + 1] */
    uint32_t *sorted; /* [n edges] by caller, most costly first */
    bool *is_back;    /* [n edges + 1] */
    uint32_t *order;  /* [n vertices] callers first */
    size_t n_ordered;
    qp_buf paths;
    qp_buf work; /* path: those of one vertex */
    uint32_t most;
} expansion;

static const qp_import_vertex *vertex_at(const expansion *x, uint32_t v)
{
    return QP_IMPORT_AT(x->g->vertices, const qp_import_vertex, v);
}

static const qp_import_edge *edge_at(const expansion *x, uint32_t e)
{
    return QP_IMPORT_AT(x->g->edges, const qp_import_edge, e);
}

/* ---- order ------------------------------------------------------------------------------- */

static int by_caller(const void *a, const void *b, void *context)
{
    const expansion *x = context;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const qp_import_edge *e = edge_at(x, i), *f = edge_at(x, k);
    int order = QP_ORDER(e->caller, f->caller);
    order = order ? order : QP_ORDER(f->cost, e->cost);
    return order ? order : QP_ORDER(i, k);
}

static void sort_edges(expansion *x)
{
    uint32_t n = (uint32_t)x->g->edges.n;
    for (uint32_t i = 0; i < n; i++)
        x->sorted[i] = i + 1;
    if (n)
        qsort_r(x->sorted, n, sizeof *x->sorted, by_caller, x);
    for (uint32_t i = n; i-- > 0;) {
        const qp_import_edge *e = edge_at(x, x->sorted[i]);
        x->states[e->caller].first = i;
        x->states[e->caller].n++;
        x->states[e->callee].has_callers |= e->caller != e->callee;
    }
}

/* A step of a walk: a vertex and the next of its edges. */
typedef struct {
    uint32_t vertex, next;
} step;

static void push(expansion *x, qp_buf *stack, uint32_t v)
{
    step *s = qp_buf_add(stack);
    x->im->failed |= !s;
    if (s)
        *s = (step){v, 0};
    x->states[v].is_entered = x->states[v].is_on_path = true;
}

/* Visit all that can be reached; a vertex gets its place, from the end, after all below it. */
static void walk_from(expansion *x, uint32_t start, qp_buf *stack)
{
    push(x, stack, start);
    while (stack->n && !x->im->failed) {
        step *top = (step *)stack->items + stack->n - 1;
        state *s = &x->states[top->vertex];
        if (top->next == s->n) {
            s->is_on_path = false;
            x->order[--x->n_ordered] = top->vertex;
            stack->n--;
            continue;
        }
        uint32_t e = x->sorted[s->first + top->next++];
        const state *callee = &x->states[edge_at(x, e)->callee];
        x->is_back[e] = callee->is_on_path;
        if (!callee->is_entered)
            push(x, stack, edge_at(x, e)->callee);
    }
}

/* Vertices without callers come first, then those that are called in circles only. */
static void order_all(expansion *x)
{
    qp_buf stack = QP_BUF(step);
    uint32_t n = (uint32_t)x->g->vertices.n;
    x->n_ordered = n;
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t v = 1; v <= n && !x->im->failed; v++)
            if (!x->states[v].is_entered && (pass || !x->states[v].has_callers))
                walk_from(x, v, &stack);
    qp_free(stack.items);
}

/* ---- paths ------------------------------------------------------------------------------- */

static void add_path(expansion *x, uint32_t v, uint32_t node, double weight)
{
    path *p = node ? qp_buf_add(&x->paths) : NULL;
    x->im->failed |= x->paths.failed;
    if (!p)
        return;
    *p = (path){node, x->states[v].paths, weight};
    x->states[v].paths = (uint32_t)x->paths.n;
}

static void sum_callers(expansion *x)
{
    for (uint32_t e = 1; e <= x->g->edges.n; e++) {
        if (x->is_back[e])
            continue;
        state *callee = &x->states[edge_at(x, e)->callee];
        callee->cost_in += (double)edge_at(x, e)->cost;
        callee->calls_in += (double)edge_at(x, e)->calls;
    }
}

/* What no caller of a vertex accounts for is below its thread: all, if it has no callers. A
 * thousandth may come from rounding. In a circle costs are counted more than once and mean
 * nothing. */
static void add_root(expansion *x, uint32_t v, bool is_in_circle)
{
    const state *s = &x->states[v];
    double all = (double)vertex_at(x, v)->self;
    for (uint32_t i = 0; i < s->n; i++)
        if (!x->is_back[x->sorted[s->first + i]])
            all += (double)edge_at(x, x->sorted[s->first + i])->cost;
    double rest = all - s->cost_in;
    bool is_rooted = !s->paths || (!is_in_circle && rest > all / ROUNDING);
    uint32_t root = is_rooted ? qp_import_root(x->im, vertex_at(x, v)->thread) : 0;
    uint32_t method = vertex_at(x, v)->method;
    uint32_t node = vertex_at(x, v)->is_thread ? root : qp_import_child(x->im, root, method);
    add_path(x, v, node, s->paths ? rest : 1);
}

static int by_weight(const void *a, const void *b)
{
    const path *p = a, *q = b;
    int order = QP_ORDER(q->weight, p->weight);
    return order ? order : QP_ORDER(p->node, q->node);
}

/* The paths of a vertex into `work`, largest first. @return the sum of their weights */
static double gather(expansion *x, uint32_t v)
{
    double sum = 0;
    x->work.n = 0;
    for (uint32_t i = x->states[v].paths; i; i = QP_IMPORT_AT(x->paths, path, i)->next) {
        path *p = qp_buf_add(&x->work);
        if (p)
            *p = *QP_IMPORT_AT(x->paths, path, i);
        sum += QP_IMPORT_AT(x->paths, path, i)->weight;
    }
    x->im->failed |= x->work.failed;
    if (x->work.failed || !x->work.n)
        return 0;
    qsort(x->work.items, x->work.n, sizeof(path), by_weight);
    if (!(sum > 0)) /* only from calls without cost: the first has it */
        ((path *)x->work.items)->weight = sum = 1;
    return sum;
}

/* A number divided by weights into parts that add up to it. */
typedef struct {
    uint64_t all, given;
    double sum, weights; /* of all, so far */
} division;

static uint64_t next_part(division *d, double weight, bool is_last)
{
    d->weights += weight;
    long double up_to = d->sum > 0 ? (long double)d->all * d->weights / d->sum + 0.5L : 0;
    uint64_t end = is_last || up_to >= (long double)d->all ? d->all : (uint64_t)up_to;
    uint64_t part = end > d->given ? end - d->given : 0;
    d->given += part;
    return part;
}

static void divide_self(expansion *x, uint32_t v, double sum)
{
    const path *paths = x->work.items;
    division d = {.all = vertex_at(x, v)->self, .sum = sum};
    for (size_t i = 0; i < x->work.n; i++)
        qp_import_charge(
            x->im, paths[i].node,
            &(qp_import_figures){.self = next_part(&d, paths[i].weight, i + 1 == x->work.n)});
}

/* Lines of code belong to threads, in proportion to the paths there. */
static void divide_lines(expansion *x, uint32_t v, double sum)
{
    double on[THREADS_APART + 1] = {0};
    const qp_import_vertex *vertex = vertex_at(x, v);
    const path *paths = x->work.items;
    for (size_t i = 0; i < x->work.n && vertex->lines; i++) {
        uint32_t th = QP_IMPORT_AT(x->im->nodes, qp_import_node, paths[i].node)->thread;
        on[th <= THREADS_APART ? th : 1] += paths[i].weight;
    }
    uint32_t last = 1;
    for (uint32_t th = 1; th <= THREADS_APART; th++)
        last = on[th] > 0 ? th : last;
    for (uint32_t c = vertex->lines; c;) {
        const qp_import_cost *cost = QP_IMPORT_AT(x->g->costs, const qp_import_cost, c);
        division self = {.all = cost->self, .sum = sum},
                 total = {.all = cost->total, .sum = sum};
        for (uint32_t th = 1; th <= last; th++) {
            uint64_t self_part = next_part(&self, on[th], th == last);
            uint64_t total_part = next_part(&total, on[th], th == last);
            qp_import_line *l = self_part || total_part
                                    ? qp_import_line_of(x->im, th, vertex->method, cost->line)
                                    : NULL;
            if (l) {
                l->self += self_part;
                l->total += total_part;
            }
        }
        c = cost->next;
    }
}

/* Divide the calls along one edge among all paths of the caller. */
static void hand_on(expansion *x, const qp_import_edge *e, bool is_back, double sum)
{
    const path *paths = x->work.items;
    size_t n = x->work.n < x->most ? x->work.n : x->most;
    division d = {.all = e->calls, .sum = sum};
    double rest = sum;
    const state *callee = &x->states[e->callee];
    /* among the edges of the callee: by cost, else by calls, else equal */
    double of_edge = callee->cost_in > 0    ? (double)e->cost
                     : callee->calls_in > 0 ? (double)e->calls
                                            : 1;
    for (size_t i = 0; i < n; i++)
        rest -= paths[i].weight;
    for (size_t i = 0; i < n; i++) {
        double weight = paths[i].weight + (i == 0 && n < x->work.n && rest > 0 ? rest : 0);
        if (!(weight > 0))
            break;
        uint32_t node = qp_import_child(x->im, paths[i].node, vertex_at(x, e->callee)->method);
        bool is_last = i + 1 == n || !(paths[i + 1].weight > 0);
        qp_import_charge(x->im, node,
                         &(qp_import_figures){.calls = next_part(&d, weight, is_last)});
        if (!is_back)
            add_path(x, e->callee, node, of_edge * (weight / sum));
    }
}

static void expand(expansion *x)
{
    bool *is_in_circle = qp_alloc_zeroed(x->g->vertices.n + 1, sizeof *is_in_circle);
    x->im->failed |= !is_in_circle;
    for (uint32_t e = 1; is_in_circle && e <= x->g->edges.n; e++)
        is_in_circle[edge_at(x, e)->callee] |= x->is_back[e];
    for (size_t i = 0; i < x->g->vertices.n && !x->im->failed && !x->im->is_too_much; i++) {
        uint32_t v = x->order[i];
        const state *s = &x->states[v];
        add_root(x, v, is_in_circle[v]);
        double sum = gather(x, v);
        if (x->im->failed || !(sum > 0))
            continue;
        if (!vertex_at(x, v)->is_thread) {
            divide_self(x, v, sum);
            divide_lines(x, v, sum);
        }
        for (uint32_t k = 0; k < s->n && !x->im->failed && !x->im->is_too_much; k++) {
            uint32_t e = x->sorted[s->first + k];
            hand_on(x, edge_at(x, e), x->is_back[e], sum);
        }
    }
    qp_free(is_in_circle);
}

void qp_import_paths(qp_import *im, const qp_import_graph *g)
{
    expansion x = {.im = im, .g = g, .paths = QP_BUF(path), .work = QP_BUF(path)};
    size_t n_edges = g->edges.n, n = n_edges ? PATHS_MOST / n_edges : PATHS_OF_ONE_MOST;
    x.most = n > PATHS_OF_ONE_MOST ? PATHS_OF_ONE_MOST : n ? (uint32_t)n : 1;
    qp_arena tables = {0};
    x.states = qp_arena_take(&tables, g->vertices.n + 1, sizeof *x.states);
    x.sorted = qp_arena_take(&tables, n_edges, sizeof *x.sorted);
    x.is_back = qp_arena_take(&tables, n_edges + 1, sizeof *x.is_back);
    x.order = qp_arena_take(&tables, g->vertices.n, sizeof *x.order);
    im->failed |= !x.states || !x.sorted || !x.is_back || !x.order;
    if (!im->failed) {
        sort_edges(&x);
        order_all(&x);
        sum_callers(&x);
        expand(&x);
    }
    qp_arena_fini(&tables);
    qp_free(x.paths.items);
    qp_free(x.work.items);
}
