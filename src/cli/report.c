/* report.c: `qprof report`: the functions of a run, or its threads. */
#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/fold.h"
#include "cli/header.h"
#include "cli/rows.h"
#include "export/run_json.h"

/* Rows that --limit lets through. */
static size_t limited(const qp_cli *cli, size_t n)
{
    return cli->args.limit && cli->args.limit < n ? (size_t)cli->args.limit : n;
}

/* ---- text ---------------------------------------------------------------------------------- */

static void print_rest(const qp_cli *cli, const qp_view *v, const uint32_t *rows, size_t n)
{
    size_t shown = limited(cli, n);
    char count[QP_NUMBER_BYTES], percent[QP_NUMBER_BYTES];
    uint64_t self = 0;
    if (shown == n)
        return;
    for (size_t i = shown; i < n; i++)
        self += v->flat[rows[i]].self;
    qp_out_format(cli->screen.out, "and %s more", qp_unit_count(count, n - shown));
    if (v->m->run.has_times)
        qp_out_format(cli->screen.out, " with %s %% of the time",
                      qp_unit_percent(percent, self, v->whole));
    qp_out_text(cli->screen.out, "; --limit=0 shows all\n");
}

static bool print_text(const qp_cli *cli, const qp_view *v, const uint32_t *rows, size_t n)
{
    qp_header_text(&cli->screen, v->m, cli->path, cli->args.has_subtract);
    if (!qp_rows_print(cli, v, rows, limited(cli, n)))
        return false;
    print_rest(cli, v, rows, n);
    return true;
}

static bool print_threads(const qp_cli *cli, const qp_model *m)
{
    const qp_screen *s = &cli->screen;
    char text[QP_NUMBER_BYTES], head[32];
    qp_unit unit = qp_view_unit(m, m->run.total, cli->args.unit);
    qp_table t;
    qp_header_text(s, m, cli->path, false);
    if (qp_view_threads(m) == 0) {
        qp_out_text(s->out, "No function was called.\n");
        return true;
    }
    snprintf(head, sizeof head, "Time%s", unit.suffix);
    qp_table_init(&t);
    qp_table_column(&t, "Thread", QP_ALIGN_RIGHT, 0);
    qp_table_column(&t, "Name", QP_KEEP_BEGIN, 0);
    qp_table_column(&t, "Calls", QP_ALIGN_RIGHT, 0);
    qp_table_column(&t, head, QP_ALIGN_RIGHT, 0);
    qp_table_column(&t, "Time %", QP_ALIGN_RIGHT, 0);
    qp_table_column(&t, "Open", QP_ALIGN_RIGHT, 2);
    qp_table_column(&t, "State", QP_ALIGN_LEFT, 1);
    for (uint32_t i = 1; i < m->n_threads; i++) {
        const qp_model_thread *th = &m->threads[i];
        if (!qp_view_is_busy(th))
            continue;
        qp_table_plain(&t, QP_STYLE_PLAIN, qp_unit_count(text, th->ordinal));
        qp_table_name(&t, QP_STYLE_PLAIN, th->name);
        qp_table_plain(&t, QP_STYLE_PLAIN, qp_unit_count(text, th->calls));
        qp_table_plain(&t, QP_STYLE_PLAIN,
                       qp_unit_number(text, qp_model_ns(m, th->total), unit));
        qp_table_plain(&t, QP_STYLE_PLAIN, qp_unit_percent(text, th->total, m->run.total));
        qp_table_plain(&t, QP_STYLE_PLAIN, qp_unit_count(text, th->depth));
        qp_table_plain(&t, QP_STYLE_PLAIN,
                       !th->is_alive   ? "ended"
                       : th->is_parked ? "parked"
                                       : "alive");
    }
    bool is_printed = qp_table_print(&t, s, 0);
    qp_table_fini(&t);
    return is_printed;
}

/* ---- JSON, CSV ----------------------------------------------------------------------------- */

/* What only a table of functions has. */
static void write_shares(qp_json *json, const qp_view *v, const qp_figures *f)
{
    qp_json_count(json, "average_total", qp_model_ns(v->m, qp_figures_average_total(f)));
    qp_json_number(json, "self_percent", qp_view_percent(f->self, v->whole_self));
    qp_json_number(json, "total_percent", qp_view_percent(f->total, v->whole_total));
}

static void write_json(qp_cli *cli, const qp_view *v, const uint32_t *rows, size_t n)
{
    qp_json json;
    qp_json_init(&json, &cli->out);
    qp_json_begin(&json, NULL, '{');
    qp_run_json(&json, v->m);
    qp_json_begin(&json, "threads", '[');
    for (uint32_t i = 1; i < v->m->n_threads; i++)
        if (v->thread == QP_ALL_THREADS || v->thread == i)
            qp_thread_json(&json, v->m, i);
    qp_json_end(&json, ']');
    qp_json_begin(&json, "methods", '[');
    for (size_t i = 0; i < n; i++) {
        qp_json_begin(&json, NULL, '{');
        qp_method_json(&json, v->m, rows[i], &v->flat[rows[i]]);
        write_shares(&json, v, &v->flat[rows[i]]);
        qp_json_end(&json, '}');
    }
    qp_json_end(&json, ']');
    qp_json_end(&json, '}');
}

static void write_csv(qp_cli *cli, const qp_view *v, const uint32_t *rows, size_t n)
{
    qp_out *out = &cli->out;
    const char *unit = v->m->run.unit;
    qp_out_format(out,
                  "name,class,module,file,line,calls,hits,skips,self_%s,total_%s,"
                  "average_%s,min_%s,max_%s,self_half_%s,total_half_%s,type,"
                  "includes_hidden,average_total_%s,self_percent,total_percent\r\n",
                  unit, unit, unit, unit, unit, unit, unit, unit);
    for (size_t i = 0; i < n; i++) {
        const qp_model_method *x = &v->m->methods[rows[i]];
        const qp_figures *f = &v->flat[rows[i]];
        const char *const texts[] = {x->name, x->class_name, x->module, x->file};
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
            qp_text_csv(out, texts[k]);
            qp_out_char(out, ',');
        }
        qp_out_format(out,
                      "%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                      ",%" PRIu64 ",",
                      x->first_line, f->calls, f->hits, f->skips, qp_model_ns(v->m, f->self),
                      qp_model_ns(v->m, f->total), qp_model_ns(v->m, qp_figures_average(f)));
        if (f->min <= f->max)
            qp_out_format(out, "%" PRIu64 ",%" PRIu64, qp_model_ns(v->m, f->min),
                          qp_model_ns(v->m, f->max));
        else
            qp_out_char(out, ',');
        qp_out_format(
            out, ",%" PRIu64 ",%" PRIu64 ",%s,%s,%" PRIu64 ",%.2f,%.2f\r\n",
            qp_model_ns(v->m, f->self_half), qp_model_ns(v->m, f->total_half), x->type,
            x->has_hidden ? "yes" : "no", qp_model_ns(v->m, qp_figures_average_total(f)),
            qp_view_percent(f->self, v->whole_self), qp_view_percent(f->total, v->whole_total));
    }
}

/* ---- the command --------------------------------------------------------------------------- */

static bool print_functions(qp_cli *cli, const qp_model *m, uint32_t thread)
{
    qp_view v;
    uint32_t *rows = NULL;
    size_t n;
    bool is_good = qp_view_init(&v, m, thread, cli->args.has_subtract) &&
                   qp_rows_select(&cli->args, &v, &rows, &n);
    if (is_good && cli->args.format == QP_FORMAT_TEXT)
        is_good = print_text(cli, &v, rows, n);
    else if (is_good && cli->args.format == QP_FORMAT_JSON)
        write_json(cli, &v, rows, limited(cli, n));
    else if (is_good)
        write_csv(cli, &v, rows, limited(cli, n));
    qp_free(rows);
    qp_view_fini(&v);
    return is_good;
}

static int run_report(qp_cli *cli)
{
    const char *file;
    qp_model *m;
    uint32_t thread;
    if (!qp_cli_operands(cli, NULL, &file))
        return QP_EXIT_UNUSABLE;
    int status = qp_cli_load_folded(cli, file, &m);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    /* A table is for people, who want the top of it; the other forms are for programs. */
    if (cli->args.limit == UINT64_MAX)
        cli->args.limit = cli->args.format == QP_FORMAT_TEXT ? 25 : 0;
    if (!qp_cli_thread(cli, m, &thread))
        status = QP_EXIT_UNUSABLE;
    else if (cli->args.has_threads && cli->args.format == QP_FORMAT_TEXT
                 ? !print_threads(cli, m)
                 : !print_functions(cli, m, thread))
        status = qp_cli_fail_memory(cli);
    qp_model_free(m);
    return status;
}

static const qp_flag flags[] = {
    {"sort", 's', QP_FLAG_WORD, QP_SORT_WORDS, QP_FLAG_AT(sort), "self", "order of the rows"},
    {"limit", 'n', QP_FLAG_COUNT, "N", QP_FLAG_AT(limit), NULL,
     "rows at most; 0: all (default 25; all as json or csv)"},
    {"filter", 0, QP_FLAG_TEXT, "TEXT", QP_FLAG_AT(filter), NULL,
     "only functions with TEXT in their name or file"},
    QP_FLAG_WHEN,
    QP_FLAGS_FOLD,
    {"long", 'l', QP_FLAG_YES, NULL, QP_FLAG_AT(is_long), NULL,
     "with the average of Total, the module and the type of measurement"},
    {"percent", 0, QP_FLAG_WORD, QP_PERCENT_WORDS, QP_FLAG_AT(percent), NULL,
     "what percentages are of: the run's time, so that those of Total add up to more than 100, "
     "or the sum of all rows; default: the run's -percent-real-values, or run"},
    QP_FLAG_THREAD,
    {"threads", 0, QP_FLAG_YES, NULL, QP_FLAG_AT(has_threads), NULL,
     "a row for each thread, instead of functions"},
    {"show-skips", 0, QP_FLAG_YES, NULL, QP_FLAG_AT(has_skips), NULL,
     "calls while recording was off, and functions that had no others"},
    QP_FLAG_UNIT,
    QP_FLAG_SUBTRACT,
    QP_FLAG_FORMAT,
    QP_FLAGS_COMMON};

const qp_command qp_command_report = {
    .name = "report",
    .operands = "[FILE]",
    .summary = "the functions of a run, with calls and times",
    .about =
        "Lists the functions of a run. Self is the time in a function itself, Total includes\n"
        "what it called, recursion counted once. Percentages are of the time of the run, or "
        "of\n"
        "the thread. Avg, Min and Max are Self of one call. With --focus the calls of one\n"
        "function are the run; functions that are hidden give their time to their callers.",
    .flags = flags,
    .examples = "qprof report                      the newest profile here\n"
                "qprof report --sort=total run.qprof\n"
                "qprof report 4242                 a process that is running\n"
                "qprof report --filter=json --limit=0 run.qprof\n"
                "qprof report --format=json run.qprof | jq '.methods[0]'",
    .run = run_report};
