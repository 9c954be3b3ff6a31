/* view.c: figures of a thread, with or without the recorder's own cost; places and lines of methods. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "cli/show/show.h"

static uint64_t less(uint64_t from, uint64_t cost)
{
    return from > cost ? from - cost : 0;
}

/* Take the cost off every node, then sum up from the leaves. Parents have smaller indices, so one
 * pass backwards sees children first. */
static bool subtract_cost(qp_view *v)
{
    const qp_model *m = v->m;
    v->node_self = qp_alloc_zeroed(m->n_nodes, sizeof *v->node_self);
    v->node_total = qp_alloc_zeroed(m->n_nodes, sizeof *v->node_total);
    if (!v->node_self || !v->node_total)
        return false;
    for (uint32_t i = 0; i < m->n_methods; i++)
        v->flat[i].self = v->flat[i].total = 0;
    for (uint32_t i = m->n_nodes; i-- > 1;) {
        const qp_model_node *node = &m->nodes[i];
        v->node_self[i] = less(node->f.self, node->f.cost);
        v->node_total[i] += v->node_self[i];
        v->node_total[node->parent] += v->node_total[i];
        if (v->thread != QP_ALL_THREADS && node->thread != v->thread)
            continue;
        v->flat[node->method].self += v->node_self[i];
        if (node->is_outermost)
            v->flat[node->method].total += v->node_total[i];
        v->whole += v->node_self[i];
    }
    return true;
}

bool qp_view_init(qp_view *v, const qp_model *m, uint32_t thread, bool is_subtracted)
{
    *v = (qp_view){.m = m, .thread = thread};
    v->flat = qp_alloc_zeroed(m->n_methods, sizeof *v->flat);
    if (!v->flat || !qp_model_flat(m, thread, v->flat))
        return false;
    if (!is_subtracted)
        v->whole = thread == QP_ALL_THREADS ? m->run.total : m->threads[thread].total;
    else if (!subtract_cost(v))
        return false;
    v->whole_off = v->flat[QP_ROOT_METHOD].off;
    v->whole_off = v->whole_off < v->whole ? v->whole_off : v->whole;
    v->whole_self = v->whole_total = v->whole;
    v->whole_run = v->whole - v->whole_off;
    return true;
}

void qp_view_fini(qp_view *v)
{
    qp_free(v->flat);
    qp_free(v->node_self);
    qp_free(v->node_total);
}

uint64_t qp_view_self(const qp_view *v, uint32_t node)
{
    return v->node_self ? v->node_self[node] : v->m->nodes[node].f.self;
}

uint64_t qp_view_total(const qp_view *v, uint32_t node)
{
    return v->node_total ? v->node_total[node] : v->m->nodes[node].f.total;
}

const char *qp_view_noun(const qp_model *m)
{
    return qp_view_is_time(m) ? "time" : m->run.unit;
}

bool qp_view_is_time(const qp_model *m)
{
    return strcmp(m->run.unit, "ns") == 0;
}

char *qp_view_amount(const qp_model *m, char *to, uint64_t ticks)
{
    uint64_t value = qp_model_ns(m, ticks);
    return qp_view_is_time(m) ? qp_unit_time(to, value)
                              : qp_unit_amount(to, value, m->run.unit);
}

char *qp_view_estimate(const qp_model *m, char *to, uint64_t ticks, uint64_t half)
{
    return qp_view_is_time(m)
               ? qp_unit_time_estimate(to, qp_model_ns(m, ticks), qp_model_ns(m, half))
               : qp_view_amount(m, to, ticks);
}

double qp_view_percent(uint64_t part, uint64_t whole)
{
    return whole ? (double)part * 100.0 / (double)whole : 0.0;
}

bool qp_view_is_enough(const qp_view *v, const qp_args *args, double self, uint64_t total)
{
    return !v->m->run.has_times ||
           (self >= args->min_percent && qp_view_percent(total, v->whole) >= args->min_total);
}

qp_unit qp_view_unit(const qp_model *m, uint64_t ticks, const char *wanted)
{
    return qp_unit_for(qp_model_ns(m, ticks), qp_view_is_time(m), wanted);
}

bool qp_view_is_busy(const qp_model_thread *thread)
{
    return thread->calls || thread->total || thread->depth;
}

uint32_t qp_view_threads(const qp_model *m)
{
    uint32_t n = 0;
    for (uint32_t i = 1; i < m->n_threads; i++)
        n += qp_view_is_busy(&m->threads[i]);
    return n;
}

char *qp_view_place(char *to, size_t n_bytes, const qp_model_method *method)
{
    if (method->first_line && *method->file)
        snprintf(to, n_bytes, "%s:%" PRIu32, method->file, method->first_line);
    else
        snprintf(to, n_bytes, "%s", method->file);
    return to;
}

enum { TAB_COLUMNS = 4 };

void qp_listing_line(char *to, size_t n_bytes, const qp_source *source, uint32_t line)
{
    size_t at = 0;
    uint32_t n = source && line && line <= source->n_lines ? source->line_bytes[line - 1] : 0;
    for (uint32_t i = 0; i < n && at + TAB_COLUMNS < n_bytes; i++) {
        char c = source->lines[line - 1][i];
        if (c == '\t')
            do
                to[at++] = ' ';
            while (at % TAB_COLUMNS);
        else if (c != '\r' && c != '\0')
            to[at++] = c;
    }
    to[at] = '\0';
}
