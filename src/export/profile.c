/* profile.c: the list of profile exporters, and what several of their formats need. */
#include "export/profile.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

#define QP_EXPORTER(name) &qp_export_##name,
const qp_exporter *const qp_exporters[] = {QP_EXPORTERS(QP_EXPORTER) NULL};
#undef QP_EXPORTER

const qp_exporter *qp_exporter_named(const char *name)
{
    const qp_exporter *const *x = qp_exporters;
    while (*x && strcmp((*x)->name, name) != 0)
        x++;
    return *x;
}

bool qp_export_fails(char error[QP_ERROR_BYTES])
{
    qp_text_format(error, QP_ERROR_BYTES, "out of memory");
    return false;
}

/* Has it figures of its own? Where interrupts are all there is, those in no procedure are no time. */
static bool has_own(const qp_model *m, const qp_figures *f)
{
    return f->calls || f->self || f->samples || (f->interrupts && !m->run.is_stack_only);
}

/* Frames of a node. The root of a thread is one only where it has something of its own: time of
 * hidden callees, or interrupts in no procedure. */
static uint32_t frames_of(const qp_model *m, const qp_model_node *n)
{
    return n->depth > 1 ? n->depth - 1 : n->depth == 1 && has_own(m, &n->f);
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
        if (has_own(m, &paths[i].f)) {
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
        is_on_path[i] |= is_wanted(m, n, thread) && has_own(m, &n->f);
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
    const qp_run *run = &m->run;
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
    uint64_t nobodys = qp_measure_own(qp_export_measure(m, o), &m->nodes[th->root].f);
    return (o->thread == QP_ALL_THREADS || o->thread == thread) &&
           (th->calls || th->total || nobodys);
}

const char *qp_export_measure_name(const qp_model *m, qp_measure measure)
{
    return measure != QP_MEASURE_TIME              ? qp_measure_unit(measure, m)
           : strcmp(m->run.unit, "ns") != 0        ? m->run.unit
           : m->run.clock_kind == QP_CLOCK_ELAPSED ? "wall"
                                                   : "cpu";
}
