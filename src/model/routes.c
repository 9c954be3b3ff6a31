/* routes.c: call paths of a method, grouped by their innermost frames.
 *
 * All call paths of the method begin as one group. Frame by frame all look one caller further out,
 * and a group falls apart by whom its members see there: split. A stack that has ended goes on
 * seeing .root., as those do that are the same. A path that is alone in its group is a route, and
 * looks no further: settle. What is together at last is a route, too. So nothing is held of a frame
 * once it has been seen, however many frames a route has. */
#include "model/routes.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/dict.h"
#include "model/private.h"

typedef struct {
    uint32_t node;
    uint32_t at;    /* the frame that is compared: node, or above it */
    uint32_t group; /* from 1 */
} path;

typedef struct {
    const qp_model *m;
    uint32_t most_frames;
    path *paths; /* [n_paths] that are not alone in their groups */
    size_t n_paths;
    uint32_t n_groups;
    qp_buf routes; /* qp_route */
} search;

/* @return false: no memory */
static bool find_paths(search *s, uint32_t method, uint32_t thread)
{
    const qp_model *m = s->m;
    qp_buf paths;
    qp_buf_init(&paths, sizeof(path));
    for (uint32_t i = 1; i < m->n_nodes; i++) {
        const qp_model_node *node = &m->nodes[i];
        if (node->method != method || method == QP_ROOT_METHOD || !node->f.hits ||
            (thread != QP_ALL_THREADS && node->thread != thread))
            continue;
        path *p = qp_buf_add(&paths);
        if (p)
            *p = (path){.node = i, .at = i, .group = 1};
    }
    s->paths = qp_buf_take(&paths, &s->n_paths);
    s->n_groups = s->n_paths > 0;
    return s->paths != NULL;
}

/* @return false: no memory */
static bool split(search *s)
{
    const qp_model_node *nodes = s->m->nodes;
    qp_dict groups; /* group so far, method seen -> group from now on */
    bool is_good = true;
    qp_dict_init(&groups);
    s->n_groups = 0;
    for (size_t i = 0; i < s->n_paths && is_good; i++) {
        path *p = &s->paths[i];
        p->at = nodes[p->at].parent;
        uint64_t key = (uint64_t)p->group << 32 | nodes[p->at].method;
        p->group = qp_dict_get(&groups, key);
        if (!p->group) {
            p->group = ++s->n_groups;
            is_good = qp_dict_put(&groups, key, p->group);
        }
    }
    qp_dict_fini(&groups);
    return is_good;
}

/* Paths of a route come in the order of their nodes. */
static void add_path(const search *s, qp_route *route, uint32_t node)
{
    const qp_model_node *n = &s->m->nodes[node];
    uint32_t n_frames = n->depth - 1; /* that of a thread's root is 1 */
    if (!route->node) {
        route->node = node;
        route->n_frames = n_frames < s->most_frames ? n_frames : s->most_frames;
    }
    route->is_cut |= n_frames > s->most_frames;
    route->hits = qp_sum(route->hits, n->f.hits);
}

/* @return false: no memory */
static bool settle(search *s)
{
    uint32_t *n_members = qp_alloc_zeroed((size_t)s->n_groups + 1, sizeof *n_members);
    size_t n_left = 0;
    for (size_t i = 0; i < s->n_paths && n_members; i++)
        n_members[s->paths[i].group]++;
    for (size_t i = 0; i < s->n_paths && n_members; i++) {
        bool is_alone = n_members[s->paths[i].group] == 1;
        qp_route *route = is_alone ? qp_buf_add(&s->routes) : NULL;
        if (route)
            add_path(s, route, s->paths[i].node);
        else if (!is_alone)
            s->paths[n_left++] = s->paths[i];
    }
    s->n_paths = n_left;
    qp_free(n_members);
    return n_members && !s->routes.failed;
}

/* Of groups as split left them: each has members. @return false: no memory */
static bool sum_groups(search *s)
{
    qp_route *routes = s->n_paths ? qp_buf_add_many(&s->routes, s->n_groups) : NULL;
    for (size_t i = 0; i < s->n_paths && routes; i++)
        add_path(s, &routes[s->paths[i].group - 1], s->paths[i].node);
    return !s->routes.failed;
}

static int compare_routes(const void *a, const void *b)
{
    const qp_route *x = a, *y = b;
    if (x->hits != y->hits)
        return x->hits < y->hits ? 1 : -1;
    return (x->node > y->node) - (x->node < y->node);
}

bool qp_model_routes(const qp_model *m, uint32_t method, uint32_t thread, uint32_t n_frames,
                     qp_route **out, size_t *n)
{
    search s = {.m = m, .most_frames = n_frames};
    qp_buf_init(&s.routes, sizeof(qp_route));
    bool is_good = find_paths(&s, method, thread);
    for (uint32_t k = 1; k < n_frames && s.n_paths && is_good; k++)
        is_good = (k == 1 || settle(&s)) && split(&s);
    s.routes.failed |= !(is_good && sum_groups(&s));
    qp_free(s.paths);
    *out = qp_buf_take(&s.routes, n);
    if (*out)
        qsort(*out, *n, sizeof **out, compare_routes);
    return *out != NULL;
}
