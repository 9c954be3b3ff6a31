/* detail.c: `qprof detail`: one function, its callers and its callees. */
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

typedef struct {
    uint32_t method, thread;
    qp_figures f;
    qp_edge *callers, *callees;
    size_t n_callers, n_callees;
} detail;

static bool find_detail(detail *d, const qp_model *m, uint32_t method, uint32_t thread)
{
    qp_view v;
    *d = (detail){.method = method, .thread = thread};
    bool is_good = qp_view_init(&v, m, thread, false);
    if (is_good)
        d->f = v.flat[method];
    qp_view_fini(&v);
    return is_good && qp_model_callers(m, method, thread, &d->callers, &d->n_callers) &&
           qp_model_callees(m, method, thread, &d->callees, &d->n_callees);
}

/* ---- text ---------------------------------------------------------------------------------- */

static void print_figures(const qp_cli *cli, const qp_model *m, const detail *d)
{
    const qp_screen *s = &cli->screen;
    const qp_figures *f = &d->f;
    const qp_model_method *x = &m->methods[d->method];
    uint64_t whole = d->thread ? m->threads[d->thread].total : m->run.total;
    char a[QP_NUMBER_BYTES], b[QP_NUMBER_BYTES], c[QP_NUMBER_BYTES];
    qp_method_title(s, m, d->method);
    qp_header_label(s, "calls");
    qp_out_text(s->out, qp_unit_count(a, f->calls));
    if (f->skips)
        qp_out_format(s->out, " (%s while recording was off)", qp_unit_count(a, f->skips));
    qp_out_char(s->out, '\n');
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
    qp_header_label(s, "one call");
    qp_out_format(s->out, "%s on average", qp_view_amount(m, a, qp_figures_average(f)));
    if (m->run.has_min_max && !m->run.is_estimated && f->min <= f->max)
        qp_out_format(s->out, ", from %s to %s", qp_view_amount(m, b, f->min),
                      qp_view_amount(m, c, f->max));
    qp_out_text(s->out, " of self\n");
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

/* ---- JSON, CSV ----------------------------------------------------------------------------- */

static void write_edges(qp_json *json, const qp_model *m, const char *key, const qp_edge *edges,
                        size_t n)
{
    qp_json_begin(json, key, '[');
    for (size_t i = 0; i < n; i++) {
        const qp_model_method *x = &m->methods[edges[i].method];
        qp_json_begin(json, NULL, '{');
        qp_json_text(json, "name", x->name);
        qp_json_text(json, "file", x->file);
        qp_json_count(json, "line", x->first_line);
        qp_json_count(json, "calls", edges[i].calls);
        qp_json_count(json, "time", qp_model_ns(m, edges[i].time));
        qp_json_bool(json, "recursive", edges[i].is_recursive);
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
    qp_json_end(&json, '}');
}

static void write_csv(qp_cli *cli, const qp_model *m, const detail *d)
{
    qp_out_format(&cli->out, "relation,function,file,line,calls,time_%s,recursive\r\n",
                  m->run.unit);
    for (size_t i = 0; i < d->n_callers + d->n_callees; i++) {
        bool is_caller = i < d->n_callers;
        const qp_edge *e = is_caller ? &d->callers[i] : &d->callees[i - d->n_callers];
        const qp_model_method *x = &m->methods[e->method];
        qp_out_text(&cli->out, is_caller ? "caller," : "callee,");
        qp_text_csv(&cli->out, x->name);
        qp_out_char(&cli->out, ',');
        qp_text_csv(&cli->out, x->file);
        qp_out_format(&cli->out, ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%s\r\n", x->first_line,
                      e->calls, qp_model_ns(m, e->time), e->is_recursive ? "yes" : "no");
    }
}

/* ---- the command --------------------------------------------------------------------------- */

static bool print_detail(qp_cli *cli, const qp_model *m, uint32_t method, uint32_t thread)
{
    detail d;
    bool is_good = find_detail(&d, m, method, thread);
    if (is_good && cli->args.format == QP_FORMAT_JSON) {
        write_json(cli, m, &d);
    } else if (is_good && cli->args.format == QP_FORMAT_CSV) {
        write_csv(cli, m, &d);
    } else if (is_good) {
        print_figures(cli, m, &d);
        is_good = print_edges(cli, m, "Callers", d.callers, d.n_callers, d.f.total) &&
                  print_edges(cli, m, "Callees", d.callees, d.n_callees, d.f.total);
    }
    qp_free(d.callers);
    qp_free(d.callees);
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

static const qp_flag flags[] = {QP_FLAG_WHEN, QP_FLAGS_FOLD,  QP_FLAG_THREAD,
                                QP_FLAG_UNIT, QP_FLAG_FORMAT, QP_FLAGS_COMMON};

const qp_command qp_command_detail = {
    .name = "detail",
    .operands = "METHOD [FILE]",
    .summary = "one function: its callers and callees",
    .about =
        "Shows one function with its callers and callees. METHOD is a name, a part of it that\n"
        "fits one function only, or FILE:LINE. Times of callers are what the function's calls\n"
        "cost them; times of callees are theirs with descendants, less the function's own "
        "time\n"
        "inside, so that percentages of a recursive function may add up to more than 100.",
    .flags = flags,
    .examples = "qprof detail parse run.qprof\n"
                "qprof detail lexer.lua:120 run.qprof",
    .run = run_detail};
