/* detail.c: `qprof detail`: one function, its callers, its callees and its call routes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/table_text.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/fold.h"
#include "cli/header.h"
#include "cli/method.h"
#include "cli/view.h"
#include "export/run_json.h"
#include "model/edges.h"
#include "model/routes.h"

typedef struct {
    uint32_t method, thread;
    qp_figures f;
    qp_edge *callers, *callees;
    size_t n_callers, n_callees;
    uint32_t route_depth; /* frames of a route; 0: routes were not asked for */
    qp_route *routes;
    size_t n_routes, n_shown; /* as --limit lets through */
} detail;

/* Of text, and each with up to QP_ROUTE_MOST_FRAMES rows. */
enum { ROUTES_SHOWN = 10 /* without --limit */, ROUTES_OF_A_TABLE = 1000 };

static bool has_routes(const qp_model *m)
{
    return m->run.has_calls && m->run.has_paths;
}

/* Routes that are asked for. */
static bool find_routes(detail *d, const qp_model *m, const qp_args *args)
{
    uint64_t limit = args->limit != UINT64_MAX        ? args->limit
                     : args->format == QP_FORMAT_TEXT ? ROUTES_SHOWN
                                                      : 0;
    d->route_depth = (uint32_t)args->routes;
    if (!d->route_depth || !has_routes(m))
        return true;
    if (!qp_model_routes(m, d->method, d->thread, d->route_depth, &d->routes, &d->n_routes))
        return false;
    d->n_shown = limit && limit < d->n_routes ? (size_t)limit : d->n_routes;
    return true;
}

/* Fills what is asked for; the rest was zeroed by the caller. */
static bool find_detail(detail *d, const qp_model *m, const qp_args *args)
{
    qp_view v;
    uint32_t method = d->method, thread = d->thread;
    bool is_good = qp_view_init(&v, m, thread, false);
    if (is_good)
        d->f = v.flat[method];
    qp_view_fini(&v);
    return is_good && qp_model_callers(m, method, thread, &d->callers, &d->n_callers) &&
           qp_model_callees(m, method, thread, &d->callees, &d->n_callees) &&
           find_routes(d, m, args);
}

/* ---- text ---------------------------------------------------------------------------------- */

static void print_calls(const qp_screen *s, const qp_figures *f)
{
    char text[QP_NUMBER_BYTES];
    qp_header_label(s, "calls");
    qp_out_text(s->out, qp_unit_count(text, f->calls));
    if (f->skips)
        qp_out_format(s->out, " (%s while recording was off)", qp_unit_count(text, f->skips));
    qp_out_char(s->out, '\n');
}

static void print_one_call(const qp_screen *s, const qp_model *m, const qp_figures *f)
{
    char a[QP_NUMBER_BYTES], b[QP_NUMBER_BYTES], c[QP_NUMBER_BYTES];
    qp_header_label(s, "one call");
    qp_out_format(s->out, "%s on average", qp_view_amount(m, a, qp_figures_average(f)));
    if (m->run.has_min_max && !m->run.is_estimated && f->min <= f->max)
        qp_out_format(s->out, ", from %s to %s", qp_view_amount(m, b, f->min),
                      qp_view_amount(m, c, f->max));
    qp_out_text(s->out, " of self\n");
}

static void print_figures(const qp_cli *cli, const qp_model *m, const detail *d)
{
    const qp_screen *s = &cli->screen;
    const qp_figures *f = &d->f;
    const qp_model_method *x = &m->methods[d->method];
    uint64_t whole = d->thread ? m->threads[d->thread].total : m->run.total;
    char a[QP_NUMBER_BYTES], b[QP_NUMBER_BYTES];
    qp_method_title(s, m, d->method);
    if (m->run.has_calls)
        print_calls(s, f);
    qp_header_label(s, "measured");
    qp_out_text(s->out, x->type);
    if (*x->module) {
        qp_out_text(s->out, ", module ");
        qp_screen_name(s, x->module, QP_NAME_COLUMNS);
    }
    qp_out_text(s->out, x->has_hidden ? "; self with functions that are hidden\n" : "\n");
    if (!m->run.has_times)
        return;
    qp_header_label(s, "self");
    qp_out_format(s->out, "%s, %s %% of the time\n", qp_view_amount(m, a, f->self),
                  qp_unit_percent(b, f->self, whole));
    qp_header_label(s, "total");
    qp_out_format(s->out, "%s, %s %% of the time\n", qp_view_amount(m, a, f->total),
                  qp_unit_percent(b, f->total, whole));
    if (f->hits)
        print_one_call(s, m, f);
    if (m->run.is_estimated) {
        qp_header_label(s, "interval");
        qp_out_format(s->out, "self %s %s, total %s %s\n", qp_screen_sign(s, QP_SIGN_HALF),
                      qp_view_amount(m, a, f->self_half), qp_screen_sign(s, QP_SIGN_HALF),
                      qp_view_amount(m, b, f->total_half));
    }
}

static bool print_edges(const qp_cli *cli, const qp_model *m, const char *title,
                        const qp_edge *edges, size_t n, uint64_t total)
{
    char text[QP_NUMBER_BYTES], place[2048], head[32];
    qp_unit unit = qp_view_unit(m, total, cli->args.unit);
    bool has_recursion = false;
    qp_table t;
    qp_table_init(&t);
    snprintf(head, sizeof head, "Time%s", unit.suffix);
    qp_table_column(&t, title, QP_KEEP_BEGIN, 0);
    qp_table_column(&t, "", QP_ALIGN_LEFT, 0);
    if (m->run.has_calls)
        qp_table_column(&t, "Calls", QP_ALIGN_RIGHT, 0);
    if (m->run.has_times) {
        qp_table_column(&t, head, QP_ALIGN_RIGHT, 0);
        qp_table_column(&t, "% of total", QP_ALIGN_RIGHT, 0);
    }
    qp_table_column(&t, "File:Line", QP_KEEP_END, 1);
    for (size_t i = 0; i < n; i++) {
        const qp_model_method *x = &m->methods[edges[i].method];
        has_recursion |= edges[i].is_recursive;
        qp_table_name(&t, QP_STYLE_PLAIN, x->name);
        qp_table_plain(&t, QP_STYLE_PLAIN, edges[i].is_recursive ? "*" : "");
        if (m->run.has_calls)
            qp_table_plain(&t, QP_STYLE_PLAIN, qp_unit_count(text, edges[i].calls));
        if (m->run.has_times) {
            qp_table_plain(&t, QP_STYLE_PLAIN,
                           qp_unit_number(text, qp_model_ns(m, edges[i].time), unit));
            qp_table_plain(&t, QP_STYLE_PLAIN, qp_unit_percent(text, edges[i].time, total));
        }
        qp_table_name(&t, QP_STYLE_DIM, qp_view_place(place, sizeof place, x));
    }
    qp_out_char(cli->screen.out, '\n');
    bool is_good = true;
    if (n)
        is_good = qp_table_print(&t, &cli->screen, 0);
    else
        qp_out_format(cli->screen.out, "%s: none\n", title);
    if (has_recursion)
        qp_out_text(cli->screen.out, "* recursive\n");
    qp_table_fini(&t);
    return is_good;
}

static void add_route(qp_table *t, const qp_model *m, const detail *d, size_t i)
{
    char text[QP_NUMBER_BYTES], place[2048];
    const qp_route *route = &d->routes[i];
    uint32_t node = route->node;
    for (uint32_t k = 0; k < route->n_frames; k++, node = m->nodes[node].parent) {
        const qp_model_method *x = &m->methods[m->nodes[node].method];
        bool is_last = k + 1 == route->n_frames;
        qp_table_plain(t, QP_STYLE_PLAIN, k ? "" : qp_unit_count(text, i + 1));
        qp_table_plain(t, QP_STYLE_PLAIN, k ? "" : qp_unit_count(text, route->hits));
        qp_table_plain(t, QP_STYLE_PLAIN,
                       k ? "" : qp_unit_percent(text, route->hits, d->f.hits));
        qp_table_plain(t, QP_STYLE_PLAIN, qp_unit_count(text, k));
        qp_table_name(t, QP_STYLE_PLAIN, x->name);
        qp_table_plain(t, QP_STYLE_DIM, is_last && route->is_cut ? "..." : "");
        qp_table_name(t, QP_STYLE_DIM, qp_view_place(place, sizeof place, x));
    }
}

/* Routes from one index to another: a table holds all that it prints. */
static bool print_some_routes(const qp_cli *cli, const qp_model *m, const detail *d,
                              size_t from, size_t to)
{
    qp_table t;
    qp_table_init(&t);
    qp_table_column(&t, "Route No", QP_ALIGN_RIGHT, 0);
    qp_table_column(&t, "Hits", QP_ALIGN_RIGHT, 0);
    qp_table_column(&t, "% of hits", QP_ALIGN_RIGHT, 2);
    qp_table_column(&t, "Call No", QP_ALIGN_RIGHT, 0);
    qp_table_column(&t, "Function", QP_KEEP_BEGIN, 0);
    qp_table_column(&t, "", QP_ALIGN_LEFT, 0);
    qp_table_column(&t, "File:Line", QP_KEEP_END, 1);
    for (size_t i = from; i < to; i++)
        add_route(&t, m, d, i);
    qp_out_char(cli->screen.out, '\n');
    bool is_good = qp_table_print(&t, &cli->screen, 0);
    qp_table_fini(&t);
    return is_good;
}

static bool print_routes(const qp_cli *cli, const qp_model *m, const detail *d)
{
    const qp_screen *s = &cli->screen;
    char count[QP_NUMBER_BYTES], percent[QP_NUMBER_BYTES];
    uint64_t rest = 0;
    bool is_good = true, is_cut = false;
    if (!d->route_depth)
        return true;
    if (!has_routes(m))
        qp_out_text(s->out,
                    "\nRoutes: not known; this profile has no calls with their paths\n");
    else if (!d->n_routes)
        qp_out_text(s->out, "\nRoutes: none; no call of it was recorded\n");
    for (size_t i = 0; i < d->n_shown && is_good; i += ROUTES_OF_A_TABLE)
        is_good = print_some_routes(cli, m, d, i,
                                    d->n_shown - i > ROUTES_OF_A_TABLE ? i + ROUTES_OF_A_TABLE
                                                                       : d->n_shown);
    for (size_t i = 0; i < d->n_routes; i++)
        if (i < d->n_shown)
            is_cut |= d->routes[i].is_cut;
        else
            rest += d->routes[i].hits;
    if (d->n_shown < d->n_routes)
        qp_out_format(s->out, "and %s more with %s %% of the hits; --limit=0 shows all\n",
                      qp_unit_count(count, d->n_routes - d->n_shown),
                      qp_unit_percent(percent, rest, d->f.hits));
    if (is_cut)
        qp_out_format(s->out, "... has more callers: routes are cut at %" PRIu32 " frames\n",
                      d->route_depth);
    return is_good;
}

/* ---- JSON, CSV ----------------------------------------------------------------------------- */

static void write_function(qp_json *json, const qp_model_method *x)
{
    qp_json_text(json, "name", x->name);
    qp_json_text(json, "file", x->file);
    qp_json_count(json, "line", x->first_line);
}

static void write_edges(qp_json *json, const qp_model *m, const char *key, const qp_edge *edges,
                        size_t n)
{
    qp_json_begin(json, key, '[');
    for (size_t i = 0; i < n; i++) {
        qp_json_begin(json, NULL, '{');
        write_function(json, &m->methods[edges[i].method]);
        qp_json_count(json, "calls", edges[i].calls);
        qp_json_count(json, "time", qp_model_ns(m, edges[i].time));
        qp_json_bool(json, "recursive", edges[i].is_recursive);
        qp_json_end(json, '}');
    }
    qp_json_end(json, ']');
}

static void write_routes(qp_json *json, const qp_model *m, const detail *d)
{
    qp_json_count(json, "route_depth", d->route_depth);
    qp_json_count(json, "routes_left_out", d->n_routes - d->n_shown);
    qp_json_begin(json, "routes", '[');
    for (size_t i = 0; i < d->n_shown; i++) {
        const qp_route *route = &d->routes[i];
        uint32_t node = route->node;
        qp_json_begin(json, NULL, '{');
        qp_json_count(json, "number", i + 1);
        qp_json_count(json, "hits", route->hits);
        qp_json_bool(json, "cut", route->is_cut);
        qp_json_begin(json, "calls", '[');
        for (uint32_t k = 0; k < route->n_frames; k++, node = m->nodes[node].parent) {
            qp_json_begin(json, NULL, '{');
            qp_json_count(json, "number", k);
            write_function(json, &m->methods[m->nodes[node].method]);
            qp_json_end(json, '}');
        }
        qp_json_end(json, ']');
        qp_json_end(json, '}');
    }
    qp_json_end(json, ']');
}

static void write_json(qp_cli *cli, const qp_model *m, const detail *d)
{
    const qp_model_method *x = &m->methods[d->method];
    qp_json json;
    qp_json_init(&json, &cli->out);
    qp_json_begin(&json, NULL, '{');
    qp_run_json(&json, m);
    qp_json_begin(&json, "method", '{');
    qp_json_text(&json, "name", x->name);
    qp_json_text(&json, "class", x->class_name);
    qp_json_text(&json, "file", x->file);
    qp_json_count(&json, "line", x->first_line);
    qp_json_count(&json, "calls", d->f.calls);
    qp_json_count(&json, "hits", d->f.hits);
    qp_json_count(&json, "skips", d->f.skips);
    qp_json_count(&json, "self", qp_model_ns(m, d->f.self));
    qp_json_count(&json, "total", qp_model_ns(m, d->f.total));
    qp_json_end(&json, '}');
    write_edges(&json, m, "callers", d->callers, d->n_callers);
    write_edges(&json, m, "callees", d->callees, d->n_callees);
    write_routes(&json, m, d);
    qp_json_end(&json, '}');
}

/* relation, function, file, line, calls */
static void write_csv_begin(qp_out *out, const char *relation, const qp_model_method *x,
                            uint64_t calls)
{
    qp_out_format(out, "%s,", relation);
    qp_text_csv(out, x->name);
    qp_out_char(out, ',');
    qp_text_csv(out, x->file);
    qp_out_format(out, ",%" PRIu32 ",%" PRIu64, x->first_line, calls);
}

static void write_csv_routes(qp_out *out, const qp_model *m, const detail *d)
{
    for (size_t i = 0; i < d->n_shown; i++) {
        const qp_route *route = &d->routes[i];
        uint32_t node = route->node;
        for (uint32_t k = 0; k < route->n_frames; k++, node = m->nodes[node].parent) {
            write_csv_begin(out, "route", &m->methods[m->nodes[node].method], route->hits);
            qp_out_format(out, ",,,%zu,%" PRIu32 "\r\n", i + 1, k);
        }
    }
}

static void write_csv(qp_cli *cli, const qp_model *m, const detail *d)
{
    qp_out *out = &cli->out;
    qp_out_format(out, "relation,function,file,line,calls,time_%s,recursive%s\r\n", m->run.unit,
                  d->route_depth ? ",route_no,call_no" : "");
    for (size_t i = 0; i < d->n_callers + d->n_callees; i++) {
        bool is_caller = i < d->n_callers;
        const qp_edge *e = is_caller ? &d->callers[i] : &d->callees[i - d->n_callers];
        write_csv_begin(out, is_caller ? "caller" : "callee", &m->methods[e->method], e->calls);
        qp_out_format(out, ",%" PRIu64 ",%s%s\r\n", qp_model_ns(m, e->time),
                      e->is_recursive ? "yes" : "no", d->route_depth ? ",," : "");
    }
    write_csv_routes(out, m, d);
}

/* ---- the command --------------------------------------------------------------------------- */

static bool print_detail(qp_cli *cli, const qp_model *m, uint32_t method, uint32_t thread)
{
    detail d = {.method = method, .thread = thread};
    bool is_good = find_detail(&d, m, &cli->args);
    if (is_good && cli->args.format == QP_FORMAT_JSON) {
        write_json(cli, m, &d);
    } else if (is_good && cli->args.format == QP_FORMAT_CSV) {
        write_csv(cli, m, &d);
    } else if (is_good) {
        print_figures(cli, m, &d);
        is_good = print_edges(cli, m, "Callers", d.callers, d.n_callers, d.f.total) &&
                  print_edges(cli, m, "Callees", d.callees, d.n_callees, d.f.total) &&
                  print_routes(cli, m, &d);
    }
    qp_free(d.callers);
    qp_free(d.callees);
    qp_free(d.routes);
    return is_good;
}

static int run_detail(qp_cli *cli)
{
    const char *file, *name;
    qp_model *m;
    uint32_t thread, method;
    if (!qp_cli_operands(cli, &name, &file))
        return QP_EXIT_UNUSABLE;
    if (!name)
        return qp_cli_fail(cli, "which function? usage: qprof detail METHOD [FILE]");
    if (cli->args.routes > QP_ROUTE_MOST_FRAMES && cli->args.routes != UINT64_MAX)
        return qp_cli_fail(cli, "--routes=%" PRIu64 ": a route has %d frames at most",
                           cli->args.routes, QP_ROUTE_MOST_FRAMES);
    int status = qp_cli_load_folded(cli, file, &m);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    if (!qp_cli_thread(cli, m, &thread) || !qp_method_find(cli, m, name, &method))
        status = QP_EXIT_UNUSABLE;
    else if (!print_detail(cli, m, method, thread))
        status = qp_cli_fail_memory(cli);
    qp_model_free(m);
    return status;
}

static const qp_flag flags[] = {
    QP_FLAG_WHEN,
    QP_FLAGS_FOLD,
    QP_FLAG_THREAD,
    {"routes", 0, QP_FLAG_COUNT, "N", QP_FLAG_AT(routes), NULL,
     "by which ways it was called: stacks, cut at N frames, with their calls; 0: none; "
     "default: the run's -max-route-depth"},
    {"limit", 'n', QP_FLAG_COUNT, "N", QP_FLAG_AT(limit), NULL,
     "routes at most; 0: all (default 10; all as json or csv)"},
    QP_FLAG_UNIT,
    QP_FLAG_FORMAT,
    QP_FLAGS_COMMON};

const qp_command qp_command_detail = {
    .name = "detail",
    .operands = "METHOD [FILE]",
    .summary = "one function: its callers, callees and call routes",
    .about =
        "Shows one function with its callers and callees. METHOD is a name, a part of it that\n"
        "fits one function only, or FILE:LINE. Times of callers are what the function's calls\n"
        "cost them; times of callees are theirs with descendants, less the function's own "
        "time\n"
        "inside, so that percentages of a recursive function may add up to more than 100.\n"
        "With --routes its calls are told apart by their stacks, most calls first: call 0 is\n"
        "the function, 1 its caller, 2 that one's, and so on.",
    .flags = flags,
    .examples = "qprof detail parse run.qprof\n"
                "qprof detail lexer.lua:120 run.qprof\n"
                "qprof detail parse --routes=5 run.qprof",
    .run = run_detail};
