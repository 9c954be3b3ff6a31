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

/* Frames of a node. The root of a thread is one only where it has time of its own: of hidden
 * callees. */
static uint32_t frames_of(const qp_model_node *n)
{
    return n->depth > 1 ? n->depth - 1 : n->depth == 1 && n->f.self > 0;
}

static bool is_wanted(const qp_model_node *n, uint32_t thread)
{
    return frames_of(n) > 0 && (thread == QP_ALL_THREADS || n->thread == thread);
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
        if (!is_wanted(node, thread))
            continue;
        uint32_t at = frames_of(node) > QP_EXPORT_FRAMES ? node->parent : i;
        paths[i].calls += node->f.calls;
        paths[i].self += node->f.self;
        if (at != i) {
            paths[at].calls += paths[i].calls;
            paths[at].self += paths[i].self;
            paths[i] = (qp_export_path){0};
        }
    }
    for (uint32_t i = 1; i < m->n_nodes; i++)
        if (paths[i].calls || paths[i].self) {
            qp_export_path path = paths[i];
            path.node = i;
            paths[(*n)++] = path;
        }
    return true;
}

uint32_t qp_export_frames(const qp_model *m, uint32_t node, uint32_t frames[QP_EXPORT_FRAMES])
{
    uint32_t n = 0;
    uint32_t n_frames = frames_of(&m->nodes[node]);
    for (; n < QP_EXPORT_FRAMES && n < n_frames; node = m->nodes[node].parent)
        frames[n++] = m->nodes[node].method;
    return n;
}

bool qp_export_has_thread(const qp_model *m, uint32_t thread, const qp_export_options *o)
{
    const qp_model_thread *th = &m->threads[thread];
    return (o->thread == QP_ALL_THREADS || o->thread == thread) && (th->calls || th->total);
}

const char *qp_export_time_name(const qp_model *m)
{
    return strcmp(m->run.unit, "ns") != 0          ? m->run.unit
           : m->run.clock_kind == QP_CLOCK_ELAPSED ? "wall"
                                                   : "cpu";
}
