/* profile.c: what writers of profiles share: see profile.h. */
#include "export/shared/profile.h"

#include "base/containers/alloc.h"

bool qp_export_fails(qp_error *error)
{
    return qp_error_fail(error, "out of memory");
}

/* Does it have self figures? In a profile of PC samples alone, those in no procedure are not time. */
static bool has_self(const qp_model *m, const qp_figures *f)
{
    return f->calls || f->self || f->samples || (f->interrupts && !m->run.is_stack_only);
}

/* Frames of a node. The root of a thread is one only if it has self figures: time of
 * hidden callees, or interrupts in no procedure. */
static uint32_t frames_of(const qp_model *m, const qp_model_node *n)
{
    return n->depth > 1 ? n->depth - 1 : n->depth == 1 && has_self(m, &n->f);
}

static bool is_wanted(const qp_model *m, const qp_model_node *n, uint32_t thread)
{
    return frames_of(m, n) > 0 && (thread == QP_ALL_THREADS || n->thread == thread);
}

static void add_figures(qp_figures *to, const qp_figures *f)
{
    to->calls += f->calls;
    to->self += f->self;
    to->samples += f->samples;
    to->interrupts += f->interrupts;
}

bool qp_export_paths(const qp_model *m, uint32_t thread, qp_export_path **out, size_t *n)
{
    qp_export_path *paths = qp_alloc_zeroed(m->n_nodes, sizeof *paths);
    *out = paths;
    *n = 0;
    if (!paths)
        return false;
    /* From the leaves up: what is too deep goes to the parent. */
    for (uint32_t i = m->n_nodes; i-- > 1;) {
        const qp_model_node *node = &m->nodes[i];
        if (!is_wanted(m, node, thread))
            continue;
        add_figures(&paths[i].f, &node->f);
        if (frames_of(m, node) > QP_EXPORT_FRAMES) {
            add_figures(&paths[node->parent].f, &paths[i].f);
            paths[i].f = (qp_figures){0};
        }
    }
    for (uint32_t i = 1; i < m->n_nodes; i++)
        if (has_self(m, &paths[i].f)) {
            qp_export_path path = paths[i];
            path.node = i;
            paths[(*n)++] = path;
        }
    return true;
}

uint32_t qp_export_frames(const qp_model *m, uint32_t node, uint32_t frames[QP_EXPORT_FRAMES])
{
    uint32_t n = 0;
    uint32_t n_frames = frames_of(m, &m->nodes[node]);
    for (; n < QP_EXPORT_FRAMES && n < n_frames; node = m->nodes[node].parent)
        frames[n++] = m->nodes[node].method;
    return n;
}

bool qp_export_methods(const qp_model *m, uint32_t thread, bool **out)
{
    bool *is_on_path = qp_alloc_zeroed(m->n_nodes, sizeof *is_on_path);
    qp_figures *flat = qp_alloc_zeroed(m->n_methods, sizeof *flat);
    *out = qp_alloc_zeroed(m->n_methods, sizeof **out);
    bool is_good = is_on_path && flat && *out && qp_model_flat(m, thread, flat);
    for (uint32_t i = 1; is_good && i < m->n_methods; i++)
        (*out)[i] = qp_figures_is_seen(&flat[i]);
    for (uint32_t i = m->n_nodes; is_good && i-- > 1;) {
        const qp_model_node *n = &m->nodes[i];
        is_on_path[i] |= is_wanted(m, n, thread) && has_self(m, &n->f);
        is_on_path[n->parent] |= is_on_path[i];
        (*out)[n->method] |= is_on_path[i];
    }
    qp_free(is_on_path);
    qp_free(flat);
    return is_good;
}

static bool is_placeholder(const qp_model_method *x)
{
    return (x->flags & QP_METHOD_OVERFLOW) || !(x->flags & QP_METHOD_REGISTERED);
}

bool qp_export_numbers(const qp_model *m, uint32_t thread, uint32_t **out)
{
    bool *is_needed;
    uint32_t n = 0;
    bool is_good = qp_export_methods(m, thread, &is_needed);
    *out = qp_alloc_zeroed(m->n_methods, sizeof **out);
    for (uint32_t i = 1; is_good && i < m->n_nodes;
         i++) /* open since before a clear: no figures */
        is_needed[m->nodes[i].method] |= is_wanted(m, &m->nodes[i], thread);
    for (uint32_t i = 1; is_good && *out && i < m->n_methods; i++)
        if (is_needed[i] || !is_placeholder(&m->methods[i]))
            (*out)[i] = ++n;
    qp_free(is_needed);
    return is_good && *out;
}

qp_measure qp_export_measure(const qp_model *m, const qp_export_options *o)
{
    bool is_missing = o->measure == QP_MEASURE_TIME && !m->run.has_times;
    return is_missing ? QP_MEASURE_CALLS : o->measure;
}

uint32_t qp_export_measures(const qp_model *m, qp_measure out[QP_MEASURES])
{
    const qp_run_info *run = &m->run;
    uint32_t n = 0;
    if (run->has_calls || !run->has_times)
        out[n++] = QP_MEASURE_CALLS;
    if (run->time_mode == QP_TIME_SAMPLED)
        out[n++] = QP_MEASURE_SAMPLES;
    if (run->pc_period_ns && !run->is_stack_only)
        out[n++] = QP_MEASURE_INTERRUPTS;
    if (run->has_times)
        out[n++] = QP_MEASURE_TIME;
    return n;
}

bool qp_export_has_thread(const qp_model *m, uint32_t thread, const qp_export_options *o)
{
    const qp_model_thread *th = &m->threads[thread];
    uint64_t at_root = qp_measure_self(qp_export_measure(m, o), &m->nodes[th->root].f);
    return (o->thread == QP_ALL_THREADS || o->thread == thread) &&
           (th->calls || th->total || at_root);
}

const char *qp_export_measure_name(const qp_model *m, qp_measure measure)
{
    return measure != QP_MEASURE_TIME              ? qp_measure_unit(measure, m)
           : strcmp(m->run.unit, "ns") != 0        ? m->run.unit
           : m->run.clock_kind == QP_CLOCK_ELAPSED ? "wall"
                                                   : "cpu";
}

/* ---- walking: without recursion, for trees may be millions of levels deep -------------------- */

void qp_path_walk_init(qp_path_walk *s, const qp_model *m, uint32_t thread, qp_measure measure)
{
    *s = (qp_path_walk){.m = m, .root = m->threads[thread].root, .measure = measure};
}

static uint64_t worth(const qp_path_walk *s, uint32_t node)
{
    return qp_measure_self(s->measure, &s->m->nodes[node].f);
}

static bool advance(qp_path_walk *s)
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

bool qp_path_walk_next(qp_path_walk *s)
{
    bool is_more = advance(s);
    while (is_more && s->node == s->root && worth(s, s->root) == 0)
        is_more = advance(s);
    return is_more;
}

uint64_t qp_path_walk_at(const qp_path_walk *s)
{
    return qp_measure_units(s->measure, s->m, s->sum);
}

uint64_t qp_path_self(const qp_model *m, uint32_t path, qp_measure measure)
{
    return qp_measure_units(measure, m, qp_measure_self(measure, &m->nodes[path].f));
}
