/* stack_suffixes.c: groups the call paths of a method by their innermost frames.
 *
 * All call paths of the method begin as one group. Each step compares the callers one frame
 * further out and divides the groups: split. The caller of an outermost frame is .root. A path
 * that is alone in its group is a suffix and takes no further part: settle. The groups that
 * remain after the last step are suffixes. No frame is kept once it has been compared, so
 * memory does not depend on how many frames a suffix has. */
#include <stdlib.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/containers/search.h"
#include "model/figures/figures.h"
#include "model/read/read.h"

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
    qp_buf suffixes; /* qp_stack_suffix */
} search;

/* @return false: no memory */
static bool find_paths(search *s, uint32_t method, uint32_t thread)
{
    const qp_model *m = s->m;
    qp_buf paths = QP_BUF(path);
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
    qp_dict groups = {0}; /* group so far, method seen -> group from now on */
    bool is_good = true;
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

/* Paths of a suffix come in the order of their nodes. */
static void add_path(const search *s, qp_stack_suffix *suffix, uint32_t node)
{
    const qp_model_node *n = &s->m->nodes[node];
    uint32_t n_frames = n->depth - 1; /* that of a thread's root is 1 */
    if (!suffix->node) {
        suffix->node = node;
        suffix->n_frames = n_frames < s->most_frames ? n_frames : s->most_frames;
    }
    suffix->is_cut |= n_frames > s->most_frames;
    suffix->hits = qp_sum(suffix->hits, n->f.hits);
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
        qp_stack_suffix *suffix = is_alone ? qp_buf_add(&s->suffixes) : NULL;
        if (suffix)
            add_path(s, suffix, s->paths[i].node);
        else if (!is_alone)
            s->paths[n_left++] = s->paths[i];
    }
    s->n_paths = n_left;
    qp_free(n_members);
    return n_members && !s->suffixes.failed;
}

/* Of groups as split left them: each has members. @return false: no memory */
static bool sum_groups(search *s)
{
    qp_stack_suffix *suffixes = s->n_paths ? qp_buf_add_many(&s->suffixes, s->n_groups) : NULL;
    for (size_t i = 0; i < s->n_paths && suffixes; i++)
        add_path(s, &suffixes[s->paths[i].group - 1], s->paths[i].node);
    return !s->suffixes.failed;
}

static int compare_suffixes(const void *a, const void *b)
{
    const qp_stack_suffix *x = a, *y = b;
    int c = QP_ORDER(y->hits, x->hits);
    return c ? c : QP_ORDER(x->node, y->node);
}

bool qp_model_stack_suffixes(const qp_model *m, uint32_t method, uint32_t thread,
                             uint32_t n_frames, qp_stack_suffix **out, size_t *n)
{
    search s = {.m = m, .most_frames = n_frames, .suffixes = QP_BUF(qp_stack_suffix)};
    bool is_good = find_paths(&s, method, thread);
    for (uint32_t k = 1; k < n_frames && s.n_paths && is_good; k++)
        is_good = (k == 1 || settle(&s)) && split(&s);
    s.suffixes.failed |= !(is_good && sum_groups(&s));
    qp_free(s.paths);
    *out = qp_buf_take(&s.suffixes, n);
    if (*out)
        qsort(*out, *n, sizeof **out, compare_suffixes);
    return *out != NULL;
}
