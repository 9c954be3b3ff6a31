/* dot.c: the call graph for Graphviz, as Quantify draws it: the functions with most time
 * (descendants included), edges as thick as the time that went through them, and highlighted the
 * path from the most expensive function back to .root.
 *
 * The label of a function counts its callees that are not in the picture. */
#include <inttypes.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/text.h"
#include "base/text/unit.h"
#include "export/shared/profile.h"
#include "model/figures/figures.h"

enum {
    MOST_FUNCTIONS = 20,
    LABEL_COLUMNS = 60,
    LABEL_BYTES = 512 /* 60 columns in UTF-8, combining characters included */
};

typedef struct {
    const qp_model *m;
    qp_out *out;
    qp_measure measure;
    qp_arena tables;  /* memory of the arrays but edges */
    qp_figures *flat; /* [n_methods] */
    qp_pair *edges;   /* [n_edges] by callee, then by caller */
    size_t n_edges;
    bool *is_shown; /* [n_methods] */
    bool *is_hot;   /* [n_methods] on the highlighted path */
    bool *is_way;   /* [n_edges] the same */
    uint64_t whole; /* 100 % */
} graph;

/* What a function, or an edge, is drawn by. */
static uint64_t weight(const graph *g, uint64_t calls, uint64_t time)
{
    return g->measure == QP_MEASURE_CALLS ? calls : time;
}

static uint64_t weight_of(const graph *g, uint32_t method)
{
    return weight(g, g->flat[method].calls, g->flat[method].total);
}

/* ---- what is in the picture ------------------------------------------------------------------ */

static void choose_functions(graph *g)
{
    g->is_shown[QP_ROOT_METHOD] = true;
    for (uint32_t n = 0; n < MOST_FUNCTIONS; n++) {
        uint32_t best = QP_ROOT_METHOD;
        for (uint32_t i = 1; i < g->m->n_methods; i++)
            if (!g->is_shown[i] && qp_figures_is_seen(&g->flat[i]) &&
                (best == QP_ROOT_METHOD || weight_of(g, i) > weight_of(g, best)))
                best = i;
        g->is_shown[best] = true;
    }
}

/* @return the path with most self time of the function with most self time */
static uint32_t most_expensive(const graph *g, uint32_t thread)
{
    const qp_model *m = g->m;
    uint32_t method = 0, node = 0;
    uint64_t most = 0;
    for (uint32_t i = 1; i < m->n_methods; i++) {
        uint64_t self = weight(g, g->flat[i].calls, g->flat[i].self);
        if (self > most) {
            most = self;
            method = i;
        }
    }
    for (uint32_t i = 1; method && i < m->n_nodes; i++) {
        const qp_model_node *n = &m->nodes[i], *best = &m->nodes[node];
        if (n->method == method && (thread == QP_ALL_THREADS || n->thread == thread) &&
            (!node ||
             weight(g, n->f.calls, n->f.self) > weight(g, best->f.calls, best->f.self)))
            node = i;
    }
    return node;
}

static size_t edge_between(const graph *g, uint32_t caller, uint32_t callee)
{
    size_t low = 0, high = g->n_edges;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const qp_pair *p = &g->edges[middle];
        if (p->callee < callee || (p->callee == callee && p->caller < caller))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void highlight(graph *g, uint32_t node)
{
    const qp_model_node *nodes = g->m->nodes;
    for (; nodes[node].method != QP_ROOT_METHOD; node = nodes[node].parent) {
        uint32_t method = nodes[node].method;
        g->is_shown[method] = g->is_hot[method] = true;
        g->is_way[edge_between(g, nodes[nodes[node].parent].method, method)] = true;
    }
    g->is_hot[QP_ROOT_METHOD] = true;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Within the quotes of a label: a backslash begins an escape, an ampersand an entity. */
static void write_text(qp_out *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            qp_out_char(out, '\\');
        qp_out_char(out, *text);
        if (*text == '&')
            qp_out_text(out, "amp;");
    }
}

/* What is cut within a character is made whole by the second escaping. */
static void write_name(qp_out *out, const char *name)
{
    char whole[4 * LABEL_BYTES], fitting[LABEL_BYTES];
    qp_text_terminal(whole, sizeof whole, name, NULL);
    qp_text_fit(fitting, sizeof fitting, whole, LABEL_COLUMNS, false);
    qp_text_terminal(whole, sizeof whole, fitting, NULL);
    write_text(out, whole);
}

static void write_amount(const graph *g, const char *before, uint64_t ticks, bool has_percent)
{
    char text[QP_NUMBER_BYTES];
    uint64_t value = qp_model_ns(g->m, ticks);
    bool is_ns = strcmp(g->m->run.unit, "ns") == 0;
    qp_out_text(g->out, before);
    qp_out_text(g->out, is_ns ? qp_unit_time(text, value) : qp_unit_count(text, value));
    if (has_percent)
        qp_out_format(g->out, " (%s %%)", qp_unit_percent(text, ticks, g->whole));
}

/* "2 of 5 callees shown", unless all are. */
static void write_rest(const graph *g, uint32_t caller)
{
    size_t n = 0, n_shown = 0;
    for (size_t i = 0; i < g->n_edges; i++)
        if (g->edges[i].caller == caller) {
            n++;
            n_shown += g->is_shown[g->edges[i].callee];
        }
    if (n_shown < n)
        qp_out_format(g->out, "\\n%zu of %zu callees shown", n_shown, n);
}

static void write_function(const graph *g, uint32_t method)
{
    const qp_model_method *x = &g->m->methods[method];
    const qp_figures *f = &g->flat[method];
    char calls[QP_NUMBER_BYTES];
    qp_out_format(g->out, "  f%" PRIu32 " [label=\"", method);
    write_name(g->out, x->name);
    if (method != QP_ROOT_METHOD && g->m->run.has_calls)
        qp_out_format(g->out, "\\n%s", qp_unit_things(calls, f->calls, "call"));
    if (method != QP_ROOT_METHOD && g->m->run.has_times)
        write_amount(g, "\\nF ", f->self, true);
    if (g->m->run.has_times)
        write_amount(g, "\\nF+D ", f->total, true);
    write_rest(g, method);
    qp_out_text(g->out, "\", tooltip=\"");
    if (*x->file) {
        write_name(g->out, x->file);
        if (x->first_line)
            qp_out_format(g->out, ":%" PRIu32, x->first_line);
    }
    qp_out_char(g->out, '"');
    if (g->is_hot[method])
        qp_out_text(g->out, ", color=\"#c2410c\", penwidth=3");
    qp_out_text(g->out, "];\n");
}

static void write_edge(const graph *g, size_t i)
{
    const qp_pair *e = &g->edges[i];
    uint64_t part = weight(g, e->calls, e->time), most = g->whole ? g->whole : 1;
    uint64_t hundredths = 50 + (uint64_t)(750.0 * (double)part / (double)most + 0.5);
    char calls[QP_NUMBER_BYTES];
    bool has_calls = g->m->run.has_calls;
    qp_out_format(g->out, "  f%" PRIu32 " -> f%" PRIu32 " [label=\"%s", e->caller, e->callee,
                  has_calls ? qp_unit_things(calls, e->calls, "call") : "");
    if (g->m->run.has_times)
        write_amount(g, has_calls ? "\\n" : "", e->time, false);
    qp_out_format(g->out, "\", penwidth=%" PRIu64 ".%02" PRIu64, hundredths / 100,
                  hundredths % 100);
    qp_out_text(g->out, g->is_way[i] ? ", color=\"#c2410c\"];\n" : "];\n");
}

static void write_graph(const graph *g)
{
    const qp_run_info *run = &g->m->run;
    qp_out_text(g->out, "digraph calls {\n"
                        "  graph [fontname=\"Helvetica\", labelloc=t, label=\"");
    write_name(g->out, run->program);
    if (*run->focus) {
        qp_out_text(g->out, "\\n100 % is ");
        write_name(g->out, run->focus);
    }
    if (*run->when) {
        qp_out_text(g->out, "\\nwhen ");
        write_name(g->out, run->when);
    }
    qp_out_text(g->out, "\"];\n"
                        "  node [shape=box, fontname=\"Helvetica\", color=\"#475569\"];\n"
                        "  edge [fontname=\"Helvetica\", fontsize=10, color=\"#94a3b8\"];\n");
    for (uint32_t i = 0; i < g->m->n_methods; i++)
        if (g->is_shown[i])
            write_function(g, i);
    for (size_t i = 0; i < g->n_edges; i++)
        if (g->is_shown[g->edges[i].caller] && g->is_shown[g->edges[i].callee])
            write_edge(g, i);
    qp_out_text(g->out, "}\n");
}

static bool draw(graph *g, uint32_t thread)
{
    const qp_model *m = g->m;
    if (!g->flat || !g->is_shown || !g->is_hot || !qp_model_flat(m, thread, g->flat) ||
        !qp_model_caller_pairs(m, thread, &g->edges, &g->n_edges))
        return false;
    g->is_way = qp_arena_take(&g->tables, g->n_edges, sizeof *g->is_way);
    if (!g->is_way)
        return false;
    g->whole = weight_of(g, QP_ROOT_METHOD);
    choose_functions(g);
    highlight(g, most_expensive(g, thread));
    write_graph(g);
    return true;
}

bool qp_export_dot(const qp_model *m, qp_out *out, const qp_export_options *o, qp_error *error)
{
    graph g = {.m = m, .out = out, .measure = qp_export_measure(m, o)};
    g.flat = qp_arena_take(&g.tables, m->n_methods, sizeof *g.flat);
    g.is_shown = qp_arena_take(&g.tables, m->n_methods, sizeof *g.is_shown);
    g.is_hot = qp_arena_take(&g.tables, m->n_methods, sizeof *g.is_hot);
    bool is_written = draw(&g, o->thread);
    qp_arena_fini(&g.tables);
    qp_free(g.edges);
    return is_written || qp_error_fail(error, "out of memory");
}
