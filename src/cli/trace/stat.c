/* stat.c: `qprof trace stat`: sums and percentiles of the calls of a trace. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/json.h"
#include "base/text/table_text.h"
#include "base/text/text.h"
#include "base/text/unit.h"
#include "cli/trace/trace.h"
#include "replay/calls/calls.h"

#define SORT_WORDS "self|total|calls|avg|max|name"
typedef enum { BY_SELF, BY_TOTAL, BY_CALLS, BY_AVERAGE, BY_MAX, BY_NAME } order;

enum { BAR_COLUMNS = 40 };

typedef struct {
    qp_trace_view *view;
    qp_cli *cli;
    qp_stats stats;
    const qp_call_stat **rows; /* [n] sorted */
    size_t n;
    size_t n_hidden; /* rows that --limit leaves out */
} report;

static const char *name_of(const report *r, const qp_call_stat *row)
{
    return qp_trace_view_method(r->view, row->method)->name;
}

/* ---- times ----------------------------------------------------------------------------------- */

/* The times of a function, in the order of times_of() and of the columns of all forms. */
static const struct {
    const char *key, *title;
    unsigned rank;       /* of the column, see qp_column */
    bool is_of_complete; /* unknown where no call is complete */
} times[] = {{"total", "Total", 0, false},    {"self", "Self", 0, false},
             {"average", "Average", 2, true}, {"min", "Min", 4, true},
             {"p50", "50 %", 3, true},        {"p90", "90 %", 5, true},
             {"p99", "99 %", 3, true},        {"max", "Max", 2, true}};
enum { N_TIMES = sizeof times / sizeof *times, SELF = 1 };

static void times_of(const report *r, const qp_call_stat *row, uint64_t ns[N_TIMES])
{
    const uint64_t ticks[N_TIMES] = {row->total,
                                     row->self,
                                     qp_call_stat_average(row),
                                     row->min,
                                     qp_call_stat_quantile(row, 0.5),
                                     qp_call_stat_quantile(row, 0.9),
                                     qp_call_stat_quantile(row, 0.99),
                                     row->max};
    for (size_t i = 0; i < N_TIMES; i++)
        ns[i] = qp_trace_view_ns(r->view, ticks[i]);
}

static bool is_known(const qp_call_stat *row, size_t which)
{
    return row->n_complete || !times[which].is_of_complete;
}

/* ---- order ----------------------------------------------------------------------------------- */

static uint64_t key_of(const qp_call_stat *row, order by)
{
    return by == BY_TOTAL     ? row->total
           : by == BY_CALLS   ? row->calls
           : by == BY_AVERAGE ? qp_call_stat_average(row)
           : by == BY_MAX     ? row->max
                              : row->self;
}

static int compare(const void *a, const void *b, void *to)
{
    const qp_call_stat *x = *(const qp_call_stat *const *)a,
                       *y = *(const qp_call_stat *const *)b;
    const report *r = to;
    order by = (order)r->cli->args.sort;
    uint64_t key_x = key_of(x, by), key_y = key_of(y, by);
    int by_name = strcmp(name_of(r, x), name_of(r, y));
    if (by != BY_NAME && key_x != key_y)
        return key_x > key_y ? -1 : 1;
    return by_name ? by_name : x->thread < y->thread ? -1 : x->thread > y->thread;
}

static bool sort_rows(report *r)
{
    uint64_t limit = r->cli->args.limit;
    if (limit == UINT64_MAX) /* people read tables, programs read the other forms */
        limit = r->cli->args.format == QP_FORMAT_TEXT ? 30 : 0;
    r->rows = qp_alloc(r->stats.rows.n, sizeof *r->rows);
    if (!r->rows)
        return false;
    for (size_t i = 0; i < r->stats.rows.n; i++) {
        const qp_call_stat *row = (const qp_call_stat *)r->stats.rows.items + i;
        if (row->calls || row->self) /* else only a caller while recording was off */
            r->rows[r->n++] = row;
    }
    qsort_r(r->rows, r->n, sizeof *r->rows, compare, r);
    r->n_hidden = limit && limit < r->n ? r->n - (size_t)limit : 0;
    r->n -= r->n_hidden;
    return true;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void add_columns(qp_table *t, bool has_threads)
{
    qp_table_column(t, "Function", QP_KEEP_BEGIN, 0);
    if (has_threads)
        qp_table_column(t, "Thread", QP_KEEP_BEGIN, 1);
    qp_table_column(t, "Calls", QP_ALIGN_RIGHT, 0);
    for (size_t i = 0; i < N_TIMES; i++) {
        qp_table_column(t, times[i].title, QP_ALIGN_RIGHT, times[i].rank);
        if (i == SELF)
            qp_table_column(t, "Self %", QP_ALIGN_RIGHT, 1);
    }
    qp_table_column(t, "Cut", QP_ALIGN_RIGHT, 6);
}

static void add_row(const report *r, qp_table *t, const qp_call_stat *row)
{
    char text[QP_NUMBER_BYTES], thread[256];
    uint64_t ns[N_TIMES];
    double percent = r->stats.self ? 100.0 * (double)row->self / (double)r->stats.self : 0;
    qp_table_name(t, qp_style_of_percent(percent), name_of(r, row));
    if (r->stats.is_by_thread)
        qp_table_name(t, QP_STYLE_PLAIN,
                      qp_trace_view_thread(r->view, row->thread, thread, sizeof thread));
    qp_table_plain(t, QP_STYLE_PLAIN, qp_unit_count(text, row->calls));
    times_of(r, row, ns);
    for (size_t i = 0; i < N_TIMES; i++) {
        qp_table_plain(t, QP_STYLE_PLAIN, is_known(row, i) ? qp_unit_time(text, ns[i]) : "-");
        if (i == SELF)
            qp_table_plain(t, QP_STYLE_PLAIN, qp_unit_percent(text, row->self, r->stats.self));
    }
    qp_table_plain(t, QP_STYLE_PLAIN,
                   row->n_incomplete ? qp_unit_count(text, row->n_incomplete) : "");
}

static void write_bar(const qp_screen *s, uint64_t count, uint64_t most)
{
    size_t n = (size_t)((double)count / (double)most * BAR_COLUMNS + 0.5);
    qp_out_repeat(s->out, '#', n ? n : 1);
    qp_out_char(s->out, '\n');
}

/* Print the calls of a function by the power of two of their time. */
static void write_histogram(const report *r, const qp_call_stat *row)
{
    const qp_screen *s = &r->cli->screen;
    const qp_histogram *h = &row->histogram;
    char low[QP_NUMBER_BYTES], high[QP_NUMBER_BYTES], number[QP_NUMBER_BYTES];
    uint64_t sums[QP_HISTOGRAM_OCTAVES] = {0}, most = 1;
    for (unsigned i = 0; i < h->n; i++) {
        for (unsigned k = 0; k < QP_HISTOGRAM_STEPS; k++)
            sums[i] += h->counts[i * QP_HISTOGRAM_STEPS + k];
        most = sums[i] > most ? sums[i] : most;
    }
    qp_out_char(s->out, '\n');
    qp_screen_name(s, name_of(r, row), 0);
    qp_out_char(s->out, '\n');
    for (unsigned i = 0; i < h->n; i++) {
        unsigned at = (h->first + i) * QP_HISTOGRAM_STEPS;
        if (!sums[i])
            continue;
        qp_out_format(
            s->out, "  %12s - %12s %14s  ",
            qp_unit_time(low, qp_trace_view_ns(r->view, qp_histogram_low(at))),
            qp_unit_time(high,
                         qp_trace_view_ns(r->view, qp_histogram_low(at + QP_HISTOGRAM_STEPS))),
            qp_unit_count(number, sums[i]));
        write_bar(s, sums[i], most);
    }
}

static bool write_text(const report *r)
{
    qp_table t;
    char count[QP_NUMBER_BYTES];
    if (!r->n) {
        qp_out_text(r->cli->screen.out, "No calls in this part of the trace.\n");
        return true;
    }
    qp_table_init(&t);
    add_columns(&t, r->stats.is_by_thread);
    for (size_t i = 0; i < r->n; i++)
        add_row(r, &t, r->rows[i]);
    bool is_good = qp_table_print(&t, &r->cli->screen, 0);
    qp_table_fini(&t);
    if (r->n_hidden)
        qp_out_format(r->cli->screen.out, "%s more functions; show them with --limit=0\n",
                      qp_unit_count(count, r->n_hidden));
    for (size_t i = 0; i < r->n && r->cli->args.trace.has_histogram; i++)
        write_histogram(r, r->rows[i]);
    return is_good;
}

/* ---- JSON, CSV ------------------------------------------------------------------------------ */

static void write_classes(const report *r, qp_json *json, const qp_histogram *h)
{
    qp_json_begin(json, "histogram", '[');
    for (unsigned i = 0; i < h->n * (unsigned)QP_HISTOGRAM_STEPS; i++) {
        unsigned at = h->first * (unsigned)QP_HISTOGRAM_STEPS + i;
        if (!h->counts[i])
            continue;
        qp_json_begin(json, NULL, '{');
        qp_json_count(json, "from", qp_trace_view_ns(r->view, qp_histogram_low(at)));
        qp_json_count(json, "to", qp_trace_view_ns(r->view, qp_histogram_low(at + 1)));
        qp_json_count(json, "calls", h->counts[i]);
        qp_json_end(json, '}');
    }
    qp_json_end(json, ']');
}

static void write_row_json(const report *r, qp_json *json, const qp_call_stat *row)
{
    const qp_trace_method *m = qp_trace_view_method(r->view, row->method);
    uint64_t ns[N_TIMES];
    qp_json_begin(json, NULL, '{');
    qp_json_text(json, "name", m->name);
    qp_json_text(json, "file", m->file);
    qp_json_count(json, "line", m->first_line);
    if (r->stats.is_by_thread)
        qp_json_count(json, "thread", qp_trace_view_ordinal(r->view, row->thread));
    qp_json_count(json, "calls", row->calls);
    qp_json_count(json, "incomplete", row->n_incomplete);
    qp_json_count(json, "unwound", row->n_unwound);
    times_of(r, row, ns);
    for (size_t i = 0; i < N_TIMES; i++)
        if (is_known(row, i))
            qp_json_count(json, times[i].key, ns[i]);
    if (r->cli->args.trace.has_histogram)
        write_classes(r, json, &row->histogram);
    qp_json_end(json, '}');
}

static void write_json(const report *r, const qp_span_counts *counts)
{
    const qp_trace_info *info = qp_trace_about(r->view->trace);
    uint64_t places;
    qp_json json;
    qp_json_init(&json, &r->cli->out);
    qp_json_begin(&json, NULL, '{');
    qp_json_begin(&json, "trace", '{');
    qp_json_text(&json, "program", info->program);
    qp_json_count(&json, "pid", info->pid);
    qp_json_moment(&json, "started_at", info->started_at);
    qp_json_count(&json, "records", counts->n_records);
    qp_json_count(&json, "calls", counts->n_calls);
    qp_json_count(&json, "lost",
                  qp_trace_missing(r->view->trace, counts, &r->view->window, &places));
    qp_json_count(&json, "unwritten", qp_trace_lost(r->view->trace)->n_unwritten);
    qp_json_count(&json, "overwritten", qp_trace_lost(r->view->trace)->n_overwritten);
    qp_json_text(&json, "unit", "ns");
    qp_json_end(&json, '}');
    qp_json_begin(&json, "calls", '[');
    for (size_t i = 0; i < r->n; i++)
        write_row_json(r, &json, r->rows[i]);
    qp_json_end(&json, ']');
    qp_json_end(&json, '}');
}

static void write_csv(const report *r)
{
    qp_out *out = &r->cli->out;
    uint64_t ns[N_TIMES];
    qp_out_format(out, "name,file,line%s,calls", r->stats.is_by_thread ? ",thread" : "");
    for (size_t i = 0; i < N_TIMES; i++)
        qp_out_format(out, ",%s_ns", times[i].key);
    qp_out_text(out, ",incomplete,unwound\r\n");
    for (size_t i = 0; i < r->n; i++) {
        const qp_call_stat *row = r->rows[i];
        const qp_trace_method *m = qp_trace_view_method(r->view, row->method);
        qp_text_csv(out, m->name);
        qp_out_char(out, ',');
        qp_text_csv(out, m->file);
        qp_out_format(out, ",%" PRIu32, m->first_line);
        if (r->stats.is_by_thread)
            qp_out_format(out, ",%" PRIu32, qp_trace_view_ordinal(r->view, row->thread));
        qp_out_format(out, ",%" PRIu64, row->calls);
        times_of(r, row, ns);
        for (size_t k = 0; k < N_TIMES; k++)
            if (is_known(row, k))
                qp_out_format(out, ",%" PRIu64, ns[k]);
            else
                qp_out_char(out, ',');
        qp_out_format(out, ",%" PRIu64 ",%" PRIu64 "\r\n", row->n_incomplete, row->n_unwound);
    }
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool print(report *r, const qp_span_counts *counts)
{
    if (!sort_rows(r))
        return false;
    if (r->cli->args.format == QP_FORMAT_JSON)
        write_json(r, counts);
    else if (r->cli->args.format == QP_FORMAT_CSV)
        write_csv(r);
    else
        return write_text(r);
    return true;
}

static int run_stat(qp_cli *cli)
{
    qp_trace_view view;
    qp_spans x;
    report r = {.view = &view, .cli = cli};
    if (!qp_trace_view_open(&view, cli, NULL))
        return QP_EXIT_UNUSABLE;
    qp_stats_init(&r.stats, cli->args.has_threads);
    const qp_span_sink sink = qp_stats_sink(&r.stats);
    int status = qp_trace_view_play(&view, &x, &sink);
    if (status != QP_EXIT_UNUSABLE && (r.stats.failed || !print(&r, &x.counts)))
        status = qp_cli_fail_memory(cli);
    qp_free(r.rows);
    qp_stats_fini(&r.stats);
    qp_spans_fini(&x);
    qp_trace_view_close(&view);
    return status;
}

static const qp_flag flags[] = {
    {"sort", 's', QP_FLAG_WORD, SORT_WORDS, QP_FLAG_AT(sort), "self", "order of the rows"},
    {"limit", 'n', QP_FLAG_COUNT, "N", QP_FLAG_AT(limit), NULL,
     "maximum number of rows; 0: all (default 30; all as json or csv)"},
    {"threads", 0, QP_FLAG_YES, NULL, QP_FLAG_AT(has_threads), NULL,
     "one row for each function on each thread"},
    {"histogram", 0, QP_FLAG_YES, NULL, QP_FLAG_AT(trace.has_histogram), NULL,
     "distribution of the times of calls"},
    QP_FLAG_THREAD,
    QP_TRACE_FLAGS_CALLS,
    QP_TRACE_FLAGS_WINDOW,
    QP_FLAG_FORMAT,
    QP_FLAGS_COMMON};

const qp_command qp_command_trace_stat = {
    .name = "trace stat",
    .operands = "FILE [PROFILE]",
    .summary = "count, times, percentiles and histogram of calls",
    .about =
        "Adds up the calls of a trace. Total includes callees and counts only calls that are\n"
        "not inside another call of the same function; self excludes callees. Average,\n"
        "minimum, percentiles and maximum are times of single calls including callees, for\n"
        "calls whose entry and end are in the trace; the others are counted as cut.\n"
        "Percentiles are exact to 3 %. Memory does not grow with the trace.",
    .flags = flags,
    .examples = "qprof trace stat run.qtrace\n"
                "qprof trace stat --sort=max --histogram -n 5 run.qtrace\n"
                "qprof trace stat --threads --format=csv TEST.PRF",
    .run = run_stat};
