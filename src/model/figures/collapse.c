/* collapse.c: merges hidden call paths into their nearest visible callers, call paths that a
 * pattern selects into those to which it charges them, or threads into those that created them.
 *
 * Parents have smaller indices than their children, so one pass forwards knows the place of a
 * node's caller when it comes to the node. Start reading at place_node(). */
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "model/figures/figures.h"
#include "model/read/read.h"

/* A node outside the focus has no place. */
enum { NOWHERE = QP_ROOT_NODE };

typedef struct {
    const qp_model *from;
    qp_collapse how;
    qp_model_private *to;
    uint32_t *places; /* [from->n_nodes] the node of the view that has a node's time */
    qp_dict paths;    /* caller in the view, method -> node of the view */
    bool *is_kept;    /* [from->n_nodes] of a pattern: it, or a path below it, is charged */
} view;

/* Add a node's self figures to a node of the view: its own, or that of a caller. */
static void add_time(view *x, uint32_t from, uint32_t to)
{
    const qp_model_private *own = x->from->own;
    qp_figures_add_self(&x->to->nodes[to].f, &x->from->nodes[from].f);
    if (own->self_variance && own->model.run.time_mode != QP_TIME_ADAPTIVE)
        x->to->self_variance[to] += own->self_variance[from];
}

static void add_calls(view *x, uint32_t from, uint32_t to)
{
    const qp_model_private *own = x->from->own;
    const qp_model_node *n = &x->from->nodes[from];
    qp_model_node *sum = &x->to->nodes[to];
    qp_figures_add_calls(&sum->f, &n->f);
    sum->is_open |= n->is_open;
    sum->has_hidden |= n->has_hidden;
    if (own->total_variance && own->model.run.time_mode == QP_TIME_ADAPTIVE)
        x->to->total_variance[to] += own->total_variance[from]; /* of whole times */
    if (own->joined_variance)
        x->to->joined_variance[to] += own->joined_variance[from];
}

/* The view's node of a method below a caller; it is made if there is none. NOWHERE: no
 * memory. */
static uint32_t node_at(view *x, uint32_t parent, uint32_t from)
{
    const qp_model_node *n = &x->from->nodes[from];
    uint64_t key = (uint64_t)parent << 32 | n->method;
    uint32_t at = qp_dict_get(&x->paths, key);
    if (at)
        return at;
    at = x->to->model.n_nodes;
    if (!qp_dict_put(&x->paths, key, at))
        return NOWHERE;
    x->to->nodes[at] = (qp_model_node){.parent = parent,
                                       .method = n->method,
                                       .thread = n->thread,
                                       .depth = x->to->nodes[parent].depth + 1,
                                       .is_joined = n->is_joined,
                                       .f.min = UINT64_MAX};
    x->to->model.n_nodes++;
    return at;
}

/* The node of a method at or above a node of the view; NOWHERE: there is none. */
static uint32_t find_open(const view *x, uint32_t at, uint32_t method)
{
    while (at != NOWHERE && x->to->nodes[at].method != method)
        at = x->to->nodes[at].parent;
    return at;
}

/* Whether a path begins a thread that was created in the focus. */
static bool is_created(const view *x, uint32_t i)
{
    const qp_model_node *n = &x->from->nodes[i];
    const qp_model_thread *th = &x->from->threads[n->thread];
    return x->how.follows_creators && n->parent == th->root && th->creator && th->creator < i &&
           x->places[th->creator] != NOWHERE;
}

static bool has_focus(const view *x)
{
    return x->how.focus || x->how.is_focus;
}

/* Into places[i]. @return false: no memory */
static bool place_node(view *x, uint32_t i)
{
    const qp_model_node *n = &x->from->nodes[i];
    uint32_t above = x->places[n->parent];
    bool is_focus =
        n->method == x->how.focus || (x->how.is_focus && x->how.is_focus[n->method]);
    if (above == NOWHERE && (is_focus || is_created(x, i)))
        above = x->from->threads[n->thread].root;
    if (above == NOWHERE)
        return true;
    bool is_hidden = x->how.is_hidden && x->how.is_hidden[n->method] && !is_focus;
    uint32_t outer = x->how.joins_recursion ? find_open(x, above, n->method) : NOWHERE;
    x->places[i] = is_hidden ? above : outer != NOWHERE ? outer : node_at(x, above, i);
    if (x->places[i] == NOWHERE)
        return false;
    add_time(x, i, x->places[i]);
    if (!is_hidden)
        add_calls(x, i, x->places[i]);
    else if (n->f.calls || n->f.self)
        x->to->nodes[above].has_hidden = true;
    return true;
}

/* The same by a pattern. A caller that is not charged has no figures of its own. */
static bool place_charged(view *x, uint32_t i)
{
    const qp_model_node *n = &x->from->nodes[i];
    uint32_t charged = x->how.charged[i];
    if (x->is_kept[i])
        x->places[i] = node_at(x, x->places[n->parent], i);
    if (x->is_kept[i] && x->places[i] == NOWHERE)
        return false;
    if (charged == QP_ATTRIBUTION_SKIPPED)
        return true;
    add_time(x, i, x->places[charged]);
    if (charged == i)
        add_calls(x, i, x->places[i]);
    else if (n->f.calls || n->f.self)
        x->to->nodes[x->places[charged]].has_hidden = true;
    return true;
}

/* Find the paths that are charged, and their callers, which have smaller indices. */
static bool find_kept(view *x)
{
    x->is_kept = qp_alloc_zeroed(x->from->n_nodes, sizeof *x->is_kept);
    for (uint32_t i = x->from->n_nodes; x->is_kept && i-- > 1;) {
        uint32_t charged = x->how.charged[i];
        if (charged != QP_ATTRIBUTION_SKIPPED)
            x->is_kept[charged] = true;
        if (x->is_kept[i])
            x->is_kept[x->from->nodes[i].parent] = true;
    }
    return x->is_kept != NULL;
}

/* ---- threads ----------------------------------------------------------------------------- */

/* A path of a thread, below its caller or, of the outermost ones, the path that created the thread.
 * @return false: no memory */
static bool place_joined(view *x, uint32_t i, uint32_t lane)
{
    const qp_model_private *own = x->from->own;
    const qp_model_node *n = &x->from->nodes[i];
    const qp_model_thread *th = &x->from->threads[n->thread];
    const bool is_joined = n->parent == th->root && th->creator;
    const uint32_t above = x->places[n->parent], n_before = x->to->model.n_nodes;
    const uint32_t place = node_at(x, above, i);
    if (place == NOWHERE)
        return false;
    x->places[i] = place;
    x->to->nodes[place].thread = lane;
    if (place == n_before)
        x->to->nodes[place].is_joined = is_joined;
    add_time(x, i, place);
    add_calls(x, i, place);
    if (is_joined && x->to->joined_variance)
        x->to->joined_variance[above] += own->total_variance[i];
    return true;
}

static bool place_thread(view *x, uint32_t thread, uint32_t lane)
{
    const qp_model_thread *th = &x->from->threads[thread];
    x->places[th->root] = th->creator ? x->places[th->creator] : lane;
    for (qp_walk w = {.m = x->from, .root = th->root}; qp_walk_next(&w);)
        if (w.is_entry && w.node != th->root && !place_joined(x, w.node, lane))
            return false;
    return true;
}

/* Each thread after the one that created it: parents have smaller indices. */
static bool place_threads(view *x)
{
    const qp_model *from = x->from;
    const uint32_t lane = x->how.joined;
    uint32_t *above = qp_alloc_zeroed(from->n_threads, sizeof *above);
    bool *is_placed = qp_alloc_zeroed(from->n_threads, sizeof *is_placed);
    bool is_ok = above && is_placed;
    for (uint32_t i = 1; is_ok && i < from->n_threads; i++) {
        qp_model_node *root = &x->to->nodes[lane];
        if (i != lane) {
            qp_figures_add_self(&root->f, &x->to->nodes[i].f);
            x->to->nodes[i].f = (qp_figures){.min = UINT64_MAX};
        }
    }
    for (uint32_t i = 1; is_ok && i < from->n_threads; i++) {
        uint32_t n = 0, creator;
        for (uint32_t at = i; !is_placed[at]; at = from->nodes[creator].thread) {
            above[n++] = at;
            is_placed[at] = true;
            if (!(creator = from->threads[at].creator))
                break;
        }
        while (is_ok && n)
            is_ok = place_thread(x, above[--n], lane);
    }
    qp_free(above);
    qp_free(is_placed);
    return is_ok;
}

/* What was created below a path is in its total. */
static void add_joined_variances(view *x)
{
    double *joined = x->to->joined_variance;
    for (uint32_t i = x->to->model.n_nodes; joined && i-- > 1;)
        joined[x->to->nodes[i].parent] += joined[i];
}

/* Roots are kept; with a focus they lose their own time. */
static void place_roots(view *x)
{
    x->to->nodes[QP_ROOT_NODE].f.min = UINT64_MAX;
    for (uint32_t i = 1; i < x->from->n_threads; i++) {
        const qp_model_node *root = &x->from->nodes[i];
        x->to->nodes[i] =
            (qp_model_node){.thread = root->thread, .depth = 1, .f.min = UINT64_MAX};
        x->places[i] = has_focus(x) ? NOWHERE : i;
        if (has_focus(x) || (x->how.charged && x->how.charged[i] == QP_ATTRIBUTION_SKIPPED))
            continue;
        x->to->nodes[i].f.self = root->f.self; /* of an earlier collapse */
        x->to->nodes[i].f.off = root->f.off;
        x->to->nodes[i].f.pc_samples = root->f.pc_samples;
        x->to->nodes[i].f.memory = root->f.memory;
        x->to->nodes[i].f.metric = root->f.metric;
    }
    x->to->model.n_nodes = x->from->n_threads;
}

/* The self time of one call is not known where that of others is included. */
static void forget_extremes(view *x)
{
    for (uint32_t i = 0; i < x->to->model.n_nodes; i++) {
        qp_model_node *n = &x->to->nodes[i];
        if (!n->has_hidden)
            continue;
        n->f.min = UINT64_MAX;
        n->f.max = 0;
        x->to->methods[n->method].has_hidden = n->method != QP_ROOT_METHOD;
    }
}

/* Open frames whose node is visible; several in a row may be on one. */
static void place_frames(view *x)
{
    uint32_t *frames = x->to->frames;
    for (uint32_t t = 1; t < x->from->n_threads; t++) {
        const qp_model_thread *from = &x->from->threads[t];
        qp_model_thread *to = &x->to->threads[t];
        to->creator = x->places[from->creator];
        to->frames = frames;
        to->n_frames = 0;
        to->calls = to->resumes = 0;
        for (uint32_t i = 0; i < from->n_frames; i++) {
            uint32_t node = from->frames[i], place = x->places[node];
            if (place != NOWHERE && x->to->nodes[place].method == x->from->nodes[node].method)
                frames[to->n_frames++] = place;
        }
        to->depth -= from->n_frames - to->n_frames;
        frames += to->n_frames;
    }
}

static bool make_room(view *x)
{
    const qp_model *from = x->from;
    qp_model_private *to = x->to;
    uint64_t n_frames = 0;
    for (uint32_t t = 1; t < from->n_threads; t++)
        n_frames += from->threads[t].n_frames;
    to->nodes = qp_alloc_zeroed(from->n_nodes, sizeof *to->nodes);
    to->methods = qp_alloc(from->n_methods, sizeof *to->methods);
    to->threads = qp_alloc(from->n_threads, sizeof *to->threads);
    to->frames = qp_alloc(n_frames, sizeof *to->frames);
    bool is_ok = to->nodes && to->methods && to->threads && to->frames;
    to->self_variance = to->total_variance = to->joined_variance = NULL;
    if (from->own->joined_variance || (x->how.joined && from->own->self_variance &&
                                       from->run.time_mode == QP_TIME_ADAPTIVE)) {
        to->joined_variance = qp_alloc_zeroed(from->n_nodes, sizeof *to->joined_variance);
        is_ok &= to->joined_variance != NULL;
    }
    if (from->own->self_variance) {
        to->self_variance = qp_alloc_zeroed(from->n_nodes, sizeof *to->self_variance);
        to->total_variance = qp_alloc_zeroed(from->n_nodes, sizeof *to->total_variance);
        is_ok &= to->self_variance && to->total_variance;
    }
    x->places = qp_alloc_zeroed(from->n_nodes, sizeof *x->places);
    if (!is_ok || !x->places)
        return false;
    memcpy(to->methods, from->methods, from->n_methods * sizeof *to->methods);
    memcpy(to->threads, from->threads, from->n_threads * sizeof *to->threads);
    to->model.methods = to->methods;
    to->model.threads = to->threads;
    to->model.nodes = to->nodes;
    return true;
}

static void sum_up(view *x)
{
    qp_run_info *run = &x->to->model.run;
    uint64_t cost = 0;
    run->total = x->to->nodes[QP_ROOT_NODE].f.total;
    run->off = x->to->nodes[QP_ROOT_NODE].f.off_total;
    run->calls = x->to->methods[QP_ROOT_METHOD].all.calls;
    for (uint32_t i = 1; i < x->to->model.n_nodes; i++)
        cost = qp_sum(cost, x->to->nodes[i].f.cost);
    bool is_part = has_focus(x) || x->how.charged; /* hiding does not change it */
    run->has_instructions &= !is_part;
    if (is_part) {
        run->cost_total = cost < run->total ? cost : run->total;
        run->cost_skipped = 0;
        run->calls_lost = 0; /* whose they were is not known */
    }
    if (x->how.focus)
        run->focus = x->from->methods[x->how.focus].name;
    if (x->how.is_focus)
        run->focus = x->how.name;
    if (x->how.charged)
        run->when = x->how.when;
    for (uint32_t i = 1; x->how.is_hidden && i < x->from->n_methods; i++)
        run->n_hidden += !x->how.charges_collector && x->how.is_hidden[i] &&
                         i != x->how.focus && x->from->methods[i].all.calls > 0;
    uint32_t n_roots = is_part ? 0 : x->how.joined ? 1 : x->from->n_threads;
    for (uint32_t i = 0; i < n_roots; i++)
        x->to->nodes[i].f.total_half = x->from->nodes[i].f.total_half;
    for (uint32_t i = 1; run->joined && !is_part && i < x->from->n_threads; i++) {
        x->to->threads[i].total = x->from->threads[i].total;
        x->to->threads[i].calls = x->from->threads[i].calls;
        x->to->threads[i].resumes = x->from->threads[i].resumes;
    }
}

static bool make_view(view *x)
{
    if (!make_room(x))
        return false;
    place_roots(x);
    if (x->how.charged && !find_kept(x))
        return false;
    x->to->model.run.joined |= x->how.joined;
    if (x->how.joined && !place_threads(x))
        return false;
    for (uint32_t i = x->from->n_threads; !x->how.joined && i < x->from->n_nodes; i++)
        if (x->how.charged ? !place_charged(x, i) : !place_node(x, i))
            return false;
    if (x->how.joined)
        add_joined_variances(x);
    forget_extremes(x);
    place_frames(x);
    qp_link_children(x->to);
    if (!qp_derive_totals(x->to))
        return false;
    sum_up(x);
    return true;
}

bool qp_model_collapse(qp_model **m, const qp_collapse *how)
{
    view x = {.from = *m, .how = *how, .to = qp_alloc(1, sizeof *x.to)};
    if (!x.to)
        return false;
    *x.to = *(*m)->own; /* what does not depend on the tree is borrowed */
    x.to->model.run.is_collector_charged |= how->charges_collector;
    x.to->model.own = x.to;
    x.to->node_cells = NULL;
    x.to->uncollapsed = *m;
    bool is_ok = make_view(&x);
    qp_dict_fini(&x.paths);
    qp_free(x.places);
    qp_free(x.is_kept);
    if (is_ok) {
        *m = &x.to->model;
        return true;
    }
    qp_model_free_view(x.to);
    return false;
}

bool qp_model_charge_collector(qp_model **m)
{
    bool *is_hidden = qp_alloc_zeroed((*m)->n_methods, sizeof *is_hidden), has_any = false;
    if (!is_hidden)
        return false;
    for (uint32_t i = 1; i < (*m)->n_methods; i++) {
        is_hidden[i] = qp_method_is_collector((*m)->methods[i].name) &&
                       qp_figures_is_seen(&(*m)->methods[i].all);
        has_any |= is_hidden[i];
    }
    bool is_ok = !has_any || qp_model_collapse(m, &(qp_collapse){.is_hidden = is_hidden,
                                                                 .charges_collector = true});
    qp_free(is_hidden);
    return is_ok;
}

bool qp_model_join_threads(qp_model **m)
{
    uint32_t n = 0, first = 0;
    for (uint32_t i = (*m)->n_threads; i-- > 1;)
        if ((*m)->nodes[(*m)->threads[i].root].first_child) {
            n++;
            first = !(*m)->threads[i].creator || !first ? i : first;
        }
    return n < 2 || (*m)->run.joined || qp_model_collapse(m, &(qp_collapse){.joined = first});
}

const qp_model *qp_model_joined(const qp_model *m)
{
    qp_model *joined = &m->own->model;
    return qp_model_join_threads(&joined) ? joined : NULL;
}

void qp_model_joined_end(const qp_model *joined, const qp_model *m)
{
    if (joined && joined != m)
        qp_model_free_view(joined->own);
}
