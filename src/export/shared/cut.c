/* cut.c: paths cut to what a receiver takes: see qp_export_cut() in profile.h. Read it first, at the end. */
#include <stdlib.h>

#include "base/containers/alloc.h"
#include "export/shared/profile.h"

enum { SHOWN = 1, HAS_REST = 2 }; /* marks of a node: its frame is in what is kept */

typedef struct {
    uint64_t weight;
    uint32_t at; /* in paths */
} rank;

typedef struct {
    const qp_model *m;
    uint32_t depth;
    qp_export_path *paths; /* [n] */
    size_t n;
    rank *ranks;          /* [n] the heaviest first */
    unsigned char *marks; /* [n_nodes] */
    uint32_t *rest_at;    /* [n_nodes] of its rest, + 1; 0: none */
} cut;

static bool is_too_deep(const cut *c, uint32_t node, uint32_t n_frames)
{
    const uint32_t depth = c->m->nodes[node].depth;
    return depth > 2 && depth - 1 > n_frames;
}

/* Paths with too many frames go to the rest of the ancestor that has one fewer than allowed. */
static void cut_depth(cut *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        qp_export_path path = c->paths[i];
        if (is_too_deep(c, path.node, c->depth)) {
            while (is_too_deep(c, path.node, c->depth - 1))
                path.node = c->m->nodes[path.node].parent;
            path.is_rest = true;
            uint32_t *rest = &c->rest_at[path.node];
            if (*rest) {
                qp_export_add(&c->paths[*rest - 1].f, &path.f);
                continue;
            }
            *rest = (uint32_t)n + 1;
        }
        c->paths[n++] = path;
    }
    c->n = n;
}

static int compare_ranks(const void *a, const void *b)
{
    const rank *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void rank_all(cut *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const qp_figures *f = &c->paths[i].f;
        c->ranks[i] = (rank){c->m->run.has_times ? f->self : f->calls, (uint32_t)i};
    }
    qsort(c->ranks, c->n, sizeof *c->ranks, compare_ranks);
}

/* Where a path that is cut goes: to a node that is shown, or the root of its thread. */
static uint32_t rest_node(const cut *c, uint32_t node)
{
    while (c->m->nodes[node].depth > 1 &&
           (!(c->marks[node] & SHOWN) || is_too_deep(c, node, c->depth - 1)))
        node = c->m->nodes[node].parent;
    return node;
}

/* Mark what is shown if the first n_kept paths are kept. @return how many paths there are then */
static size_t try_kept(cut *c, size_t n_kept)
{
    size_t n = n_kept;
    memset(c->marks, 0, c->m->n_nodes);
    for (size_t i = 0; i < n_kept; i++) {
        const qp_export_path *path = &c->paths[c->ranks[i].at];
        c->marks[path->node] |= path->is_rest ? HAS_REST : 0;
        for (uint32_t node = path->node; node && !(c->marks[node] & SHOWN);
             node = c->m->nodes[node].parent)
            c->marks[node] |= SHOWN;
    }
    for (size_t i = n_kept; i < c->n; i++) {
        const uint32_t node = rest_node(c, c->paths[c->ranks[i].at].node);
        n += !(c->marks[node] & HAS_REST);
        c->marks[node] |= HAS_REST;
    }
    return n;
}

/* @param to  [c->n] receives what is left. @return how many */
static size_t collect(const cut *c, size_t n_kept, qp_export_path *to)
{
    size_t n = 0;
    memset(c->rest_at, 0, c->m->n_nodes * sizeof *c->rest_at);
    for (; n < n_kept; n++) {
        to[n] = c->paths[c->ranks[n].at];
        if (to[n].is_rest)
            c->rest_at[to[n].node] = (uint32_t)n + 1;
    }
    for (size_t i = n_kept; i < c->n; i++) {
        const qp_export_path *path = &c->paths[c->ranks[i].at];
        const uint32_t node = rest_node(c, path->node);
        uint32_t *rest = &c->rest_at[node];
        if (!*rest) {
            to[n] = (qp_export_path){.node = node, .is_rest = true};
            *rest = (uint32_t)++n;
        }
        qp_export_add(&to[*rest - 1].f, &path->f);
    }
    return n;
}

/* Rests count as paths, and where they lie depends on what is kept: the number is searched for. */
static bool cut_number(cut *c, size_t n_most)
{
    c->ranks = qp_alloc(c->n, sizeof *c->ranks);
    c->marks = qp_alloc(c->m->n_nodes, 1);
    qp_export_path *left = qp_alloc(c->n, sizeof *left);
    const bool is_good = c->ranks && c->marks && left;
    if (is_good) {
        size_t n_kept = 0, n_beyond = n_most + 1;
        rank_all(c);
        while (n_beyond - n_kept > 1) {
            const size_t n = n_kept + (n_beyond - n_kept) / 2;
            const bool fits = try_kept(c, n) <= n_most;
            n_kept = fits ? n : n_kept;
            n_beyond = fits ? n_beyond : n;
        }
        try_kept(c, n_kept);
        c->n = collect(c, n_kept, left);
        memcpy(c->paths, left, c->n * sizeof *left);
    }
    qp_free(c->ranks);
    qp_free(c->marks);
    qp_free(left);
    return is_good;
}

bool qp_export_cut(const qp_model *m, size_t n_most, uint32_t depth, qp_export_path *paths,
                   size_t *n)
{
    cut c = {.m = m, .depth = depth, .paths = paths, .n = *n};
    c.rest_at = qp_alloc_zeroed(m->n_nodes, sizeof *c.rest_at);
    if (!c.rest_at)
        return false;
    cut_depth(&c);
    const bool is_good = c.n <= n_most || cut_number(&c, n_most);
    *n = c.n;
    qp_free(c.rest_at);
    return is_good;
}

void qp_export_note_cut(const qp_model *m, const qp_export_path *paths, size_t n,
                        qp_export_limits *limits)
{
    const qp_measure x = m->run.has_times ? QP_MEASURE_TIME : QP_MEASURE_CALLS;
    uint64_t all = 0, rest = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t self = qp_measure_self(x, &paths[i].f);
        all += self;
        rest += paths[i].is_rest ? self : 0;
    }
    limits->n_samples = n;
    limits->all = qp_measure_units(x, m, all);
    limits->rest = qp_measure_units(x, m, rest);
}
