/* profile.c: what writers of profiles share: see profile.h. */
#include "export/shared/profile.h"

#include "base/containers/alloc.h"

/* Whether a path has figures of its own. In a profile of PC samples alone, those in no procedure
 * are not time. */
static bool has_self(const qp_model *m, const qp_figures *f)
{
    return f->calls || f->self || f->samples || f->memory.bytes || f->memory.objects ||
           f->metric || (f->pc_samples && !m->run.is_stack_only);
}

/* Frames of a node. The root of a thread is one only if it has self figures: time of
 * hidden callees, PC samples in no procedure, or memory. */
static uint32_t frames_of(const qp_model *m, const qp_model_node *n)
{
    return n->depth > 1 ? n->depth - 1 : n->depth == 1 && has_self(m, &n->f);
}

static bool is_wanted(const qp_model *m, const qp_model_node *n, uint32_t thread)
{
    return frames_of(m, n) > 0 && (thread == QP_ALL_THREADS || n->thread == thread);
}

void qp_export_add(qp_figures *to, const qp_figures *f)
{
    to->calls += f->calls;
    to->self += f->self;
    to->samples += f->samples;
    to->pc_samples += f->pc_samples;
    qp_memory_add(&to->memory, &f->memory);
    to->metric += f->metric;
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
        qp_export_add(&paths[i].f, &node->f);
        if (frames_of(m, node) > QP_EXPORT_FRAMES) {
            qp_export_add(&paths[node->parent].f, &paths[i].f);
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

bool qp_export_numbers(const qp_model *m, uint32_t thread, uint32_t **out)
{
    bool *is_needed;
    uint32_t n = 0;
    bool is_good = qp_export_methods(m, thread, &is_needed);
    *out = qp_alloc_zeroed(m->n_methods, sizeof **out);
    for (uint32_t i = 1; is_good && i < m->n_nodes;
         i++) /* open since before a clear: no figures */
        is_needed[m->nodes[i].method] |= is_wanted(m, &m->nodes[i], thread);
    for (uint32_t i = 1; is_good && *out && i < m->n_methods; i++) {
        uint32_t flags = m->methods[i].flags;
        if (is_needed[i] || ((flags & QP_METHOD_REGISTERED) && !(flags & QP_METHOD_OVERFLOW)))
            (*out)[i] = ++n;
    }
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
    if (run->has_memory) {
        out[n++] = QP_MEASURE_OBJECTS;
        out[n++] = QP_MEASURE_BYTES;
    }
    if (run->metric)
        out[n++] = QP_MEASURE_METRIC;
    if (run->has_times)
        out[n++] = QP_MEASURE_TIME;
    return n;
}

const char *qp_export_thread_name(const qp_model *m, uint32_t thread)
{
    return m->threads[m->run.joined ? QP_ALL_THREADS : thread].name;
}

bool qp_export_has_thread(const qp_model *m, uint32_t thread, const qp_export_options *o)
{
    if (m->run.joined)
        return thread == m->run.joined;
    const qp_model_thread *th = &m->threads[thread];
    uint64_t at_root = qp_measure_self(qp_export_measure(m, o), &m->nodes[th->root].f);
    return (o->thread == QP_ALL_THREADS || o->thread == thread) &&
           (th->calls || th->total || at_root);
}

const char *qp_export_measure_name(const qp_model *m, qp_measure measure)
{
    return measure == QP_MEASURE_BYTES      ? "alloc_space"
           : measure == QP_MEASURE_OBJECTS  ? "alloc_objects"
           : measure == QP_MEASURE_METRIC   ? m->run.metric ? m->run.metric->name : "metric"
           : measure != QP_MEASURE_TIME     ? qp_measure_unit(measure, m)
           : strcmp(m->run.unit, "ns") != 0 ? m->run.unit
           : m->run.clock_kind == QP_CLOCK_ELAPSED ? "wall"
                                                   : "cpu";
}

/* ---- walking --------------------------------------------------------------------------------- */

void qp_path_walk_init(qp_path_walk *s, const qp_model *m, uint32_t thread, qp_measure measure)
{
    *s = (qp_path_walk){.walk = {.m = m, .root = m->threads[thread].root}, .measure = measure};
}

bool qp_path_walk_next(qp_path_walk *s)
{
    qp_walk *w = &s->walk;
    while (qp_walk_next(w)) {
        uint64_t self = qp_measure_self(s->measure, &w->m->nodes[w->node].f);
        s->sum += w->is_entry ? 0 : self;
        if (w->node != w->root || self)
            return true;
    }
    return false;
}

uint64_t qp_path_walk_at(const qp_path_walk *s)
{
    return qp_measure_units(s->measure, s->walk.m, s->sum);
}

uint64_t qp_path_self(const qp_model *m, uint32_t path, qp_measure measure)
{
    return qp_measure_units(measure, m, qp_measure_self(measure, &m->nodes[path].f));
}

/* ---- self times of call paths on source lines ------------------------------------------------- */

/* Lines of a function, and how much of them no path has yet. */
typedef struct {
    qp_line_figures *lines;
    size_t n, at;
} rest;

void qp_shares_init(qp_shares *s, const qp_model *m)
{
    *s = (qp_shares){.m = m, .rests = QP_BUF(rest)};
}

void qp_shares_fini(qp_shares *s)
{
    for (size_t i = 0; i < s->rests.n; i++)
        qp_free(((rest *)s->rests.items)[i].lines);
    qp_free(s->rests.items);
    qp_dict_fini(&s->index);
}

/* @return NULL: no memory */
static rest *rest_of(qp_shares *s, uint32_t method, uint32_t thread)
{
    uint64_t key = (uint64_t)thread << 32 | method;
    uint32_t at = qp_dict_get(&s->index, key);
    if (at)
        return (rest *)s->rests.items + at - 1;
    rest *r = qp_buf_add(&s->rests);
    const char *file = s->m->methods[method].file;
    bool is_good = r && qp_dict_put(&s->index, key, (uint32_t)s->rests.n) &&
                   (!*file || qp_model_lines(s->m, file, method, thread, &r->lines, &r->n));
    s->failed |= !is_good;
    return is_good ? r : NULL;
}

bool qp_shares_next(qp_shares *s, uint32_t method, uint32_t thread, uint64_t self,
                    uint32_t *line, uint64_t *part)
{
    rest *r = self && !s->failed ? rest_of(s, method, thread) : NULL;
    while (r && r->at < r->n && r->lines[r->at].self == 0)
        r->at++;
    if (!r || r->at == r->n)
        return false;
    qp_line_figures *l = &r->lines[r->at];
    *line = l->line;
    *part = l->self < self ? l->self : self;
    l->self -= *part;
    return true;
}
