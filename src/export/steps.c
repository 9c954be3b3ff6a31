/* steps.c: see steps.h. Without recursion: trees may be millions of levels deep. */
#include "export/steps.h"

void qp_steps_init(qp_steps *s, const qp_model *m, uint32_t thread, qp_measure measure)
{
    *s = (qp_steps){.m = m, .root = m->threads[thread].root, .measure = measure};
}

static uint64_t worth(const qp_steps *s, uint32_t node)
{
    return qp_measure_own(s->measure, &s->m->nodes[node].f);
}

static bool advance(qp_steps *s)
{
    const qp_model_node *n = &s->m->nodes[s->node];
    bool was_left = s->node && !s->is_entry;
    if (was_left && s->node == s->root)
        return false;
    s->is_entry = !s->node || (s->is_entry ? n->first_child : n->next_sibling);
    if (!s->node)
        s->node = s->root;
    else if (s->is_entry)
        s->node = was_left ? n->next_sibling : n->first_child;
    else if (was_left)
        s->node = n->parent;
    if (!s->is_entry)
        s->sum += worth(s, s->node);
    return true;
}

bool qp_steps_next(qp_steps *s)
{
    bool is_more = advance(s);
    while (is_more && s->node == s->root && worth(s, s->root) == 0)
        is_more = advance(s);
    return is_more;
}

uint64_t qp_steps_at(const qp_steps *s)
{
    return qp_measure_units(s->measure, s->m, s->sum);
}

uint64_t qp_path_own(const qp_model *m, uint32_t path, qp_measure measure)
{
    return qp_measure_units(measure, m, qp_measure_own(measure, &m->nodes[path].f));
}

void qp_steps_paths(const qp_model *m, uint32_t thread, qp_measure measure, qp_buf *out)
{
    qp_steps s;
    out->n = 0;
    qp_steps_init(&s, m, thread, measure);
    while (qp_steps_next(&s)) {
        uint32_t *path = s.is_entry ? qp_buf_add(out) : NULL;
        if (path)
            *path = s.node;
    }
}
