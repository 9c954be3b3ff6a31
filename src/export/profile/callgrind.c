/* callgrind.c: what callgrind writes, for KCachegrind and callgrind_annotate (valgrind's
 * manual, "Callgrind Format Specification").
 *
 * Readers take for a function's inclusive cost the sum over its callers. So that this is our total,
 * recursion or not, a call costs something only where the callee is not active yet, and every
 * outermost function has a caller: its thread. Written in the form that all readers agree on: one
 * line of events, all costs on every line, absolute lines. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/text/buf.h"
#include "base/text/text.h"
#include "export/shared/profile.h"
#include "model/figures/figures.h"

typedef struct {
    uint64_t by[QP_MEASURES]; /* time in ticks */
    uint64_t executions; /* of a line; self only: those of callees are not known by caller */
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
    bool has_executions;            /* a function that is written counts its lines */
    bool has[QP_MEASURES];          /* they are events, in this order */
    bool *is_written;               /* [n_methods] */
    uint64_t n_calls, n_executions; /* of the functions that are written */
    qp_dict index;                  /* caller, callee -> index + 1 into edges */
    qp_buf edges;                   /* edge, in the order in which they are found */
    uint32_t *first; /* [n_methods + n_threads] the caller's edges, newest first: index + 1 */
    cost *sums;      /* [n_nodes] with descendants */
    qp_figures *flat;
    qp_dict files;  /* name -> number */
    bool *is_named; /* [n_methods] */
} graph;

/* ---- edges ----------------------------------------------------------------------------------- */

/* @return NULL: no memory */
static edge *edge_of(graph *g, uint32_t caller, uint32_t callee)
{
    bool is_new;
    uint32_t at = qp_buf_keyed(&g->edges, &g->index, (uint64_t)caller << 32 | callee, &is_new);
    edge *e = at ? (edge *)g->edges.items + at - 1 : NULL;
    if (is_new) {
        *e = (edge){.callee = callee, .next = g->first[caller]};
        g->first[caller] = at;
    }
    return e;
}

static void add_cost(cost *to, const cost *c)
{
    for (qp_measure x = 0; x < QP_MEASURES; x++)
        to->by[x] += c->by[x];
}

static cost cost_of(const qp_figures *f)
{
    cost self = {.executions = 0};
    for (qp_measure x = 0; x < QP_MEASURES; x++)
        self.by[x] = qp_measure_self(x, f);
    return self;
}

static cost in_units(const graph *g, cost c)
{
    c.by[QP_MEASURE_TIME] = qp_model_ns(g->m, c.by[QP_MEASURE_TIME]);
    return c;
}

static void sum_nodes(graph *g)
{
    for (uint32_t i = g->m->n_nodes; i-- > 1;) {
        const qp_model_node *n = &g->m->nodes[i];
        const cost self = cost_of(&n->f);
        if (g->thread == QP_ALL_THREADS || n->thread == g->thread)
            add_cost(&g->sums[i], &self);
        add_cost(&g->sums[n->parent], &g->sums[i]);
    }
}

static bool is_nothing(const cost *c)
{
    bool is_none = true;
    for (qp_measure x = 0; x < QP_MEASURES; x++)
        is_none &= c->by[x] == 0;
    return is_none;
}

static void find_edges(graph *g)
{
    for (uint32_t i = 1; !g->edges.failed && i < g->m->n_nodes; i++) {
        const qp_model_node *n = &g->m->nodes[i], *parent = &g->m->nodes[n->parent];
        if (n->method == QP_ROOT_METHOD || is_nothing(&g->sums[i]) ||
            (g->thread != QP_ALL_THREADS && n->thread != g->thread))
            continue;
        uint32_t caller =
            parent->method != QP_ROOT_METHOD ? parent->method : g->m->n_methods + n->thread;
        edge *e = edge_of(g, caller, n->method);
        if (!e)
            return;
        e->calls += n->f.calls;
        if (n->is_outermost)
            add_cost(&e->inclusive, &g->sums[i]);
    }
}

/* ---- text ------------------------------------------------------------------------------------ */

/* "(4)", the first time "(4) name". Readers take blanks alone for no name, and lose its calls. */
static void write_name(graph *g, const char *keyword, uint32_t number, bool is_first,
                       const char *name)
{
    qp_out_format(g->out, "%s=(%" PRIu32 ")", keyword, number);
    if (is_first) {
        qp_out_char(g->out, ' ');
        qp_text_line(g->out, name[strspn(name, " ")] ? name : "???", "");
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
static void write_values(graph *g, const cost *c)
{
    for (qp_measure x = 0; x < QP_MEASURES; x++)
        if (g->has[x])
            qp_out_format(g->out, " %" PRIu64, c->by[x]);
    if (g->has_executions)
        qp_out_format(g->out, " %" PRIu64, c->executions);
    qp_out_char(g->out, '\n');
}

static void write_cost(graph *g, uint32_t line, cost c)
{
    qp_out_format(g->out, "%" PRIu32, line);
    write_values(g, &c);
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

static bool sum_methods(graph *g)
{
    for (uint32_t i = 1; i < g->m->n_methods; i++) {
        qp_line_figures *lines;
        size_t n;
        if (!g->is_written[i])
            continue;
        g->n_calls += g->flat[i].calls;
        if (!find_lines(g, i, &lines, &n))
            return false;
        for (size_t k = 0; k < n; k++) {
            g->has_executions |= lines[k].is_counted;
            g->n_executions += lines[k].count;
        }
        qp_free(lines);
    }
    return true;
}

/* Executions and self time on the lines that have them, the rest and the calls where the function
 * begins: rounded parts of a time that add up to it. */
static bool write_self(graph *g, uint32_t method)
{
    const qp_model_method *x = &g->m->methods[method];
    qp_line_figures *lines;
    size_t n;
    cost rest = in_units(g, cost_of(&g->flat[method]));
    uint64_t *left = &rest.by[QP_MEASURE_TIME];
    if (!find_lines(g, method, &lines, &n))
        return false;
    for (size_t i = 0; i < n; i++) {
        uint64_t self = qp_model_ns(g->m, lines[i].self);
        self = self < *left ? self : *left;
        if (self || lines[i].count)
            write_cost(g, lines[i].line,
                       (cost){.by[QP_MEASURE_TIME] = self, .executions = lines[i].count});
        *left -= self;
    }
    write_cost(g, x->first_line, rest);
    qp_free(lines);
    return true;
}

/* The cost after calls=0 is self cost of the caller for callgrind_annotate, and KCachegrind takes the
 * callee for one that is still active: calls that were not counted, or that --when does not charge,
 * are written as one.
 * @param line  where the caller begins: the line of a call is not known */
static void write_calls(graph *g, uint32_t caller, uint32_t line)
{
    for (uint32_t at = g->first[caller]; at;) {
        const edge *e = (const edge *)g->edges.items + at - 1;
        write_file(g, "cfi", e->callee);
        write_method(g, "cfn", e->callee);
        qp_out_format(g->out, "calls=%" PRIu64 " %" PRIu32 "\n", e->calls ? e->calls : 1,
                      g->m->methods[e->callee].first_line);
        write_cost(g, line, in_units(g, e->inclusive));
        at = e->next;
    }
}

/* Jumps on code that ran. KCachegrind wants after each a line that has only a place. */
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
        if (!g->is_written[i])
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
        /* all that it called may be hidden, and its time is there still */
        if (!g->first[caller] && is_nothing(&g->sums[m->threads[i].root]))
            continue;
        qp_out_char(g->out, '\n');
        write_file(g, "fl", QP_ROOT_METHOD);
        write_name(g, "fn", caller, true, qp_export_thread_name(m, i));
        /* hidden, or in no procedure */
        write_cost(g, 0, in_units(g, cost_of(&m->nodes[m->threads[i].root].f)));
        write_calls(g, caller, 0);
    }
    return !g->edges.failed;
}

enum { EVENT_BYTES = 80 };

/* "wall_ns", "Calls", ... */
static const char *event_name(const graph *g, qp_measure x, char name[EVENT_BYTES])
{
    static const char *const names[] = {[QP_MEASURE_CALLS] = "Calls",
                                        [QP_MEASURE_SAMPLES] = "Samples",
                                        [QP_MEASURE_INTERRUPTS] = "Interrupts",
                                        [QP_MEASURE_BYTES] = "Bytes",
                                        [QP_MEASURE_OBJECTS] = "Objects"};
    if (x == QP_MEASURE_METRIC) { /* a word, of letters that readers know */
        qp_text_format(name, EVENT_BYTES, "%s", qp_export_measure_name(g->m, x));
        for (char *at = name; *at; at++)
            if (!isalnum((unsigned char)*at))
                *at = '_';
        return name;
    }
    if (x != QP_MEASURE_TIME)
        return names[x];
    qp_text_format(name, EVENT_BYTES, "%s_%s", qp_export_measure_name(g->m, x), g->m->run.unit);
    return name;
}

static void write_events(graph *g)
{
    const qp_run_info *run = &g->m->run;
    char name[EVENT_BYTES];
    if (run->has_times)
        qp_out_format(g->out, "event: %s : %s time (%s)\n",
                      event_name(g, QP_MEASURE_TIME, name), run->clock_text, run->unit);
    if (g->has_executions)
        qp_out_text(g->out, "event: Executions : Executions of lines, without callees\n");
    qp_out_text(g->out, "events:");
    for (qp_measure x = 0; x < QP_MEASURES; x++)
        if (g->has[x])
            qp_out_format(g->out, " %s", event_name(g, x, name));
    qp_out_text(g->out, g->has_executions ? " Executions\n" : "\n");
}

static void write_head(graph *g)
{
    const qp_run_info *run = &g->m->run;
    qp_out_text(g->out, "# callgrind format\nversion: 1\n"
                        "creator: qprof " QPROF_VERSION_TEXT "\n");
    qp_out_format(g->out, "pid: %" PRIu64 "\ncmd: ", run->pid);
    qp_text_line(g->out, run->program, "");
    qp_out_text(g->out, "\npart: 1\npositions: line\n");
    write_events(g);
    cost all = in_units(g, g->sums[QP_ROOT_NODE]);
    all.by[QP_MEASURE_CALLS] = g->n_calls;
    all.executions = g->n_executions;
    qp_out_text(g->out, "summary:");
    write_values(g, &all);
}

bool qp_export_callgrind(const qp_model *m, qp_out *out, const qp_export_options *o,
                         qp_error *error)
{
    graph g = {.m = m,
               .out = out,
               .thread = o->thread,
               .has_jumps = o->has_jumps,
               .edges = QP_BUF(edge)};
    qp_measure measures[QP_MEASURES];
    for (uint32_t i = qp_export_measures(m, measures); i-- > 0;)
        g.has[measures[i]] = true;
    qp_arena tables = {0};
    g.first = qp_arena_take(&tables, (size_t)m->n_methods + m->n_threads, sizeof *g.first);
    g.sums = qp_arena_take(&tables, m->n_nodes, sizeof *g.sums);
    g.flat = qp_arena_take(&tables, m->n_methods, sizeof *g.flat);
    g.is_named = qp_arena_take(&tables, m->n_methods, sizeof *g.is_named);
    bool is_good = g.first && g.sums && g.flat && g.is_named &&
                   qp_model_flat(m, o->thread, g.flat) &&
                   qp_export_methods(m, o->thread, &g.is_written) && sum_methods(&g);
    if (is_good) {
        sum_nodes(&g);
        find_edges(&g);
        write_head(&g);
        is_good = write_methods(&g);
    }
    qp_arena_fini(&tables);
    qp_free(g.is_written);
    qp_free(g.edges.items);
    qp_dict_fini(&g.index);
    qp_dict_fini(&g.files);
    return is_good || qp_error_fail(error, "out of memory");
}
