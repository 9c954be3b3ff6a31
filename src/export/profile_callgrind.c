/* profile_callgrind.c: what callgrind writes, for KCachegrind and callgrind_annotate (valgrind's
 * manual, "Callgrind Format Specification").
 *
 * Readers take for a function's inclusive cost the sum over its callers. So that this is our total,
 * recursion or not, a call costs something only where the callee is not active yet, and every
 * outermost function has a caller: its thread. Written in the form that all readers agree on: one
 * line of events, all costs on every line, absolute lines. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/dict.h"
#include "base/text.h"
#include "export/profile.h"
#include "model/lines.h"

typedef struct {
    uint64_t time, calls; /* ticks; entries */
    uint64_t
        executions; /* of a line; own ones only: those of callees are not known by caller */
} cost;

typedef struct {
    uint32_t callee;
    uint64_t calls;
    cost inclusive;
    uint32_t next; /* of the same caller, index + 1; 0: none */
} edge;

typedef struct {
    const qp_model *m;
    qp_out *out;
    uint32_t thread;
    bool has_jumps;
    bool has_executions; /* a function that is written counts its lines */
    cost all;            /* sums over the functions that are written; time is in sums */
    qp_dict index;       /* caller, callee -> index + 1 into edges */
    qp_buf edges;        /* edge, in the order in which they are found */
    uint32_t *first; /* [n_methods + n_threads] the caller's edges, newest first: index + 1 */
    cost *sums;      /* [n_nodes] with descendants */
    qp_figures *flat;
    qp_dict files;  /* name -> number */
    bool *is_named; /* [n_methods] */
} graph;

/* ---- edges ----------------------------------------------------------------------------------- */

static bool is_wanted(const graph *g, const qp_model_node *n)
{
    return n->method != QP_ROOT_METHOD &&
           (g->thread == QP_ALL_THREADS || n->thread == g->thread);
}

/* @return index + 1; 0: no memory */
static uint32_t edge_of(graph *g, uint32_t caller, uint32_t callee)
{
    uint64_t key = (uint64_t)caller << 32 | callee;
    uint32_t at = qp_dict_get(&g->index, key);
    if (at)
        return at;
    edge *e = qp_buf_add(&g->edges);
    if (!e || !qp_dict_put(&g->index, key, (uint32_t)g->edges.n)) {
        g->edges.failed = true;
        return 0;
    }
    *e = (edge){.callee = callee, .next = g->first[caller]};
    return g->first[caller] = (uint32_t)g->edges.n;
}

static void sum_nodes(graph *g)
{
    for (uint32_t i = g->m->n_nodes; i-- > 1;) {
        const qp_model_node *n = &g->m->nodes[i];
        if (g->thread == QP_ALL_THREADS || n->thread == g->thread) {
            g->sums[i].time += n->f.self;
            g->sums[i].calls += n->f.calls;
        }
        g->sums[n->parent].time += g->sums[i].time;
        g->sums[n->parent].calls += g->sums[i].calls;
    }
}

static void find_edges(graph *g)
{
    for (uint32_t i = 1; !g->edges.failed && i < g->m->n_nodes; i++) {
        const qp_model_node *n = &g->m->nodes[i], *parent = &g->m->nodes[n->parent];
        if (!is_wanted(g, n))
            continue;
        uint32_t caller =
            parent->method != QP_ROOT_METHOD ? parent->method : g->m->n_methods + n->thread;
        uint32_t at = edge_of(g, caller, n->method);
        if (!at)
            return;
        edge *e = (edge *)g->edges.items + at - 1;
        e->calls += n->f.calls;
        if (n->is_outermost) {
            e->inclusive.time += g->sums[i].time;
            e->inclusive.calls += g->sums[i].calls;
        }
    }
}

/* ---- text ------------------------------------------------------------------------------------ */

/* "(4)", the first time "(4) name". */
static void write_name(graph *g, const char *keyword, uint32_t number, bool is_first,
                       const char *name)
{
    qp_out_format(g->out, "%s=(%" PRIu32 ")", keyword, number);
    if (is_first) {
        qp_out_char(g->out, ' ');
        qp_text_line(g->out, *name ? name : "???", "");
    }
    qp_out_char(g->out, '\n');
}

static void write_file(graph *g, const char *keyword, uint32_t method)
{
    const char *file = g->m->methods[method].file;
    uint64_t key = qp_hash_bytes(QP_HASH_START, file, strlen(file));
    uint32_t number = qp_dict_get(&g->files, key);
    bool is_first = number == 0;
    if (is_first) {
        number = (uint32_t)g->files.n + 1;
        g->edges.failed |= !qp_dict_put(&g->files, key, number);
    }
    write_name(g, keyword, number, is_first, file);
}

static void write_method(graph *g, const char *keyword, uint32_t method)
{
    write_name(g, keyword, method, !g->is_named[method], g->m->methods[method].name);
    g->is_named[method] = true;
}

/* @param c  its time in the run's unit */
static void write_cost(graph *g, uint32_t line, cost c)
{
    qp_out_format(g->out, "%" PRIu32, line);
    if (g->m->run.has_times)
        qp_out_format(g->out, " %" PRIu64, c.time);
    qp_out_format(g->out, " %" PRIu64, c.calls);
    if (g->has_executions)
        qp_out_format(g->out, " %" PRIu64, c.executions);
    qp_out_char(g->out, '\n');
}

/* @param lines  receives the lines of a method, none if it has no file
 * @return false: no memory */
static bool find_lines(const graph *g, uint32_t method, qp_line_figures **lines, size_t *n)
{
    const char *file = g->m->methods[method].file;
    *lines = NULL;
    *n = 0;
    return !file[0] || qp_model_lines(g->m, file, method, g->thread, lines, n);
}

static bool is_written(const graph *g, uint32_t method)
{
    return g->flat[method].calls || g->flat[method].self;
}

static bool sum_methods(graph *g)
{
    for (uint32_t i = 1; i < g->m->n_methods; i++) {
        qp_line_figures *lines;
        size_t n;
        if (!is_written(g, i))
            continue;
        g->all.calls += g->flat[i].calls;
        if (!find_lines(g, i, &lines, &n))
            return false;
        for (size_t k = 0; k < n; k++) {
            g->has_executions |= lines[k].is_counted;
            g->all.executions += lines[k].count;
        }
        qp_free(lines);
    }
    return true;
}

/* Executions and own time on the lines that have them, the rest and the calls where the function
 * begins: rounded parts of a time that add up to it. */
static bool write_self(graph *g, uint32_t method)
{
    const qp_model_method *x = &g->m->methods[method];
    qp_line_figures *lines;
    size_t n;
    cost rest = {.time = qp_model_ns(g->m, g->flat[method].self),
                 .calls = g->flat[method].calls};
    if (!find_lines(g, method, &lines, &n))
        return false;
    for (size_t i = 0; i < n; i++) {
        uint64_t self = qp_model_ns(g->m, lines[i].self);
        self = self < rest.time ? self : rest.time;
        if (self || lines[i].count)
            write_cost(g, lines[i].line, (cost){.time = self, .executions = lines[i].count});
        rest.time -= self;
    }
    write_cost(g, x->first_line, rest);
    qp_free(lines);
    return true;
}

/* @param line  where the caller begins: where in it a call stands is not known */
static void write_calls(graph *g, uint32_t caller, uint32_t line)
{
    for (uint32_t at = g->first[caller]; at;) {
        const edge *e = (const edge *)g->edges.items + at - 1;
        write_file(g, "cfi", e->callee);
        write_method(g, "cfn", e->callee);
        qp_out_format(g->out, "calls=%" PRIu64 " %" PRIu32 "\n", e->calls,
                      g->m->methods[e->callee].first_line);
        write_cost(
            g, line,
            (cost){.time = qp_model_ns(g->m, e->inclusive.time), .calls = e->inclusive.calls});
        at = e->next;
    }
}

/* Jumps on code that ran. KCachegrind wants a line behind each that has a place alone. */
static bool write_jumps(graph *g, uint32_t method)
{
    qp_jump_figures *jumps;
    size_t n;
    if (!qp_model_jumps(g->m, method, g->thread, &jumps, &n))
        return false;
    for (size_t i = 0; i < n; i++) {
        const qp_jump_figures *j = &jumps[i];
        if (j->from_line <= 0 || j->to_line <= 0 ||
            !(j->is_conditional ? j->executed : j->taken))
            continue;
        if (j->is_conditional)
            qp_out_format(g->out, "jcnd=%" PRIu64 "/%" PRIu64, j->taken, j->executed);
        else
            qp_out_format(g->out, "jump=%" PRIu64, j->taken);
        qp_out_format(g->out, " %" PRId32 "\n%" PRId32 "\n", j->to_line, j->from_line);
    }
    qp_free(jumps);
    return true;
}

static bool write_methods(graph *g)
{
    const qp_model *m = g->m;
    for (uint32_t i = 1; i < m->n_methods; i++) {
        if (!is_written(g, i))
            continue;
        qp_out_char(g->out, '\n');
        write_file(g, "fl", i);
        write_method(g, "fn", i);
        if (!write_self(g, i) || (g->has_jumps && !write_jumps(g, i)))
            return false;
        write_calls(g, i, m->methods[i].first_line);
    }
    for (uint32_t i = 1; i < m->n_threads; i++) {
        uint32_t caller = m->n_methods + i;
        if (!g->first[caller])
            continue;
        qp_out_char(g->out, '\n');
        write_file(g, "fl", QP_ROOT_METHOD);
        write_name(g, "fn", caller, true, m->threads[i].name);
        uint64_t hidden = m->nodes[m->threads[i].root].f.self; /* of hidden callees */
        write_cost(g, 0, (cost){.time = qp_model_ns(m, hidden)});
        write_calls(g, caller, 0);
    }
    return !g->edges.failed;
}

static void write_head(graph *g)
{
    const qp_run *run = &g->m->run;
    qp_out_text(g->out, "# callgrind format\nversion: 1\n"
                        "creator: qprof " QPROF_VERSION_TEXT "\n");
    qp_out_format(g->out, "pid: %" PRIu64 "\ncmd: ", run->pid);
    qp_text_line(g->out, run->program, "");
    qp_out_text(g->out, "\npart: 1\npositions: line\n");
    if (run->has_times)
        qp_out_format(g->out, "event: %s_%s : %s time (%s)\n", qp_export_time_name(g->m),
                      run->unit, run->clock_text, run->unit);
    qp_out_text(g->out, "event: Calls : Calls\n");
    if (g->has_executions)
        qp_out_text(g->out, "event: Executions : Executions of lines, without callees\n");
    qp_out_text(g->out, "events:");
    if (run->has_times)
        qp_out_format(g->out, " %s_%s", qp_export_time_name(g->m), run->unit);
    qp_out_format(g->out, " Calls%s\nsummary:", g->has_executions ? " Executions" : "");
    if (run->has_times)
        qp_out_format(g->out, " %" PRIu64, qp_model_ns(g->m, g->sums[QP_ROOT_NODE].time));
    qp_out_format(g->out, " %" PRIu64, g->all.calls);
    if (g->has_executions)
        qp_out_format(g->out, " %" PRIu64, g->all.executions);
    qp_out_char(g->out, '\n');
}

static bool write(const qp_model *m, qp_out *out, const qp_export_options *o,
                  char error[QP_ERROR_BYTES])
{
    graph g = {.m = m, .out = out, .thread = o->thread, .has_jumps = o->has_jumps};
    qp_dict_init(&g.index);
    qp_dict_init(&g.files);
    qp_buf_init(&g.edges, sizeof(edge));
    g.first = qp_alloc_zeroed((size_t)m->n_methods + m->n_threads, sizeof *g.first);
    g.sums = qp_alloc_zeroed(m->n_nodes, sizeof *g.sums);
    g.flat = qp_alloc_zeroed(m->n_methods, sizeof *g.flat);
    g.is_named = qp_alloc_zeroed(m->n_methods, sizeof *g.is_named);
    bool is_good = g.first && g.sums && g.flat && g.is_named &&
                   qp_model_flat(m, o->thread, g.flat) && sum_methods(&g);
    if (is_good) {
        sum_nodes(&g);
        find_edges(&g);
        write_head(&g);
        is_good = write_methods(&g);
    }
    qp_free(g.first);
    qp_free(g.sums);
    qp_free(g.flat);
    qp_free(g.is_named);
    qp_free(g.edges.items);
    qp_dict_fini(&g.index);
    qp_dict_fini(&g.files);
    return is_good || qp_export_fails(error);
}

const qp_exporter qp_export_callgrind = {
    .name = "callgrind",
    .suffix = ".callgrind",
    .summary = "KCachegrind, callgrind_annotate, PhpStorm",
    .limits = "the tree (callers and callees only), threads side by side, lines of calls, "
              "executions of callees, jumps (but see --callgrind-jumps)",
    .write = write};
