/* stat.c: `qprof trace stat`: sums and percentiles of the calls of a trace. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "cli/show/show.h"
#include "cli/trace/trace.h"
#include "replay/calls/calls.h"

enum { BAR_COLUMNS = 40 };

typedef struct {
    qp_trace_view *view;
    qp_cli *cli;
    qp_stats stats;
    const qp_span_counts *counts;
    const qp_call_stat **rows; /* [n] sorted */
    size_t n;
    size_t n_hidden; /* rows that --limit leaves out */
} report;

static const char *name_of(const report *r, const qp_call_stat *row)
{
    return qp_trace_view_method(r->view, row->method)->name;
}

/* ---- order ----------------------------------------------------------------------------------- */

static uint64_t key_of(const qp_call_stat *row, qp_sort by)
{
    return by == QP_SORT_TOTAL     ? row->total
           : by == QP_SORT_CALLS   ? row->calls
           : by == QP_SORT_AVERAGE ? qp_call_stat_average(row)
           : by == QP_SORT_MAX     ? row->max
                                   : row->self;
}

static int compare(const void *a, const void *b, void *to)
{
    const qp_call_stat *x = *(const qp_call_stat *const *)a,
                       *y = *(const qp_call_stat *const *)b;
    const report *r = to;
    qp_sort by = (qp_sort)r->cli->args.sort;
    uint64_t key_x = key_of(x, by), key_y = key_of(y, by);
    int by_name = strcmp(name_of(r, x), name_of(r, y));
    if (by != QP_SORT_NAME && key_x != key_y)
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

/* ---- rows ------------------------------------------------------------------------------------ */

enum { BY_THREAD = 1, HAS_HISTOGRAM = 2, HAS_COMPLETE = 4 };

/* A function. Of times that only complete calls have, QP_FIELD_NONE: there are none. */
typedef struct {
    const report *r;
    qp_call_stat sums;
    qp_trace_method method;
    const char *thread_name;
    uint32_t thread;
    uint64_t cut; /* QP_FIELD_NONE: 0 */
    uint64_t total, self, average, min, p50, p90, p99, max;
    double self_percent;
    char thread_bytes[256];
} stat_row;

/* Calls that took from one time to another. */
typedef struct {
    uint64_t from, to, calls;
} class_row;

#define AT(member) QP_FIELD_AT(class_row, member)
static const qp_field class_fields[] = {
    {"from", NULL, "shortest time", QP_FIELD_SPAN, AT(from)},
    {"to", NULL, "time that is too long", QP_FIELD_SPAN, AT(to)},
    {"calls", NULL, "complete calls", QP_FIELD_COUNT, AT(calls)},
    {.key = NULL}};
#undef AT

static bool next_class(const void *data, size_t *at, void *to)
{
    const stat_row *row = data;
    const qp_histogram *h = &row->sums.histogram;
    size_t n = (size_t)h->n * QP_HISTOGRAM_STEPS;
    while (*at < n && !h->counts[*at])
        ++*at;
    if (*at == n)
        return false;
    unsigned number = h->first * (unsigned)QP_HISTOGRAM_STEPS + (unsigned)*at;
    *(class_row *)to = (class_row){qp_trace_view_ns(row->r->view, qp_histogram_low(number)),
                                   qp_trace_view_ns(row->r->view, qp_histogram_low(number + 1)),
                                   h->counts[*at]};
    ++*at;
    return true;
}

static const qp_rows classes = QP_ROWS(class_fields, class_row, next_class);

#define AT(member)  QP_FIELD_AT(stat_row, member)
#define OF_COMPLETE .flags = QP_FIELD_NULLABLE | QP_FIELD_OPTIONAL, .needs = HAS_COMPLETE
static const qp_field fields[] = {
    {"name", "Function", "display name", QP_FIELD_NAME, AT(method.name), .flags = QP_FIELD_HOT},
    {"file", NULL, "source as registered", QP_FIELD_NAME, AT(method.file)},
    {"line", NULL, "first line; 0: unknown", QP_FIELD_COUNT, AT(method.first_line)},
    {"thread", NULL, "number of the thread", QP_FIELD_COUNT, AT(thread),
     .flags = QP_FIELD_OPTIONAL, .needs = BY_THREAD},
    {"thread_name", "Thread", NULL, QP_FIELD_NAME, AT(thread_name), .flags = QP_FIELD_NO_JSON,
     .rank = 1, .needs = BY_THREAD},
    {"calls", "Calls", "number of calls", QP_FIELD_COUNT, AT(sums.calls)},
    {"incomplete", NULL, "those whose entry or end is missing", QP_FIELD_COUNT,
     AT(sums.n_incomplete)},
    {"unwound", NULL, "those that did not return", QP_FIELD_COUNT, AT(sums.n_unwound)},
    {"total", "Total", "time including callees", QP_FIELD_SPAN, AT(total)},
    {"self", "Self", "time without callees", QP_FIELD_SPAN, AT(self)},
    {"self_percent", "Self %", NULL, QP_FIELD_PERCENT, AT(self_percent),
     .flags = QP_FIELD_NO_JSON, .rank = 1},
    {"average", "Average", "of complete calls", QP_FIELD_SPAN, AT(average), OF_COMPLETE,
     .rank = 2},
    {"min", "Min", "of complete calls", QP_FIELD_SPAN, AT(min), OF_COMPLETE, .rank = 4},
    {"p50", "50 %", "of complete calls", QP_FIELD_SPAN, AT(p50), OF_COMPLETE, .rank = 3},
    {"p90", "90 %", "of complete calls", QP_FIELD_SPAN, AT(p90), OF_COMPLETE, .rank = 5},
    {"p99", "99 %", "of complete calls", QP_FIELD_SPAN, AT(p99), OF_COMPLETE, .rank = 3},
    {"max", "Max", "of complete calls", QP_FIELD_SPAN, AT(max), OF_COMPLETE, .rank = 2},
    {"cut", "Cut", NULL, QP_FIELD_COUNT, AT(cut), .flags = QP_FIELD_NO_JSON | QP_FIELD_BLANK,
     .rank = 6},
    {"histogram", NULL, "times of complete calls", QP_FIELD_ROWS, .rows = &classes,
     .flags = QP_FIELD_OPTIONAL, .needs = HAS_HISTOGRAM},
    {.key = NULL}};
#undef OF_COMPLETE
#undef AT

static bool next_row(const void *data, size_t *at, void *to)
{
    const report *r = data;
    stat_row *row = to;
    if (*at == r->n)
        return false;
    const qp_call_stat *x = r->rows[(*at)++];
    row->r = r;
    row->sums = *x;
    row->method = *qp_trace_view_method(r->view, x->method);
    if (r->stats.is_by_thread) {
        row->thread = qp_trace_view_ordinal(r->view, x->thread);
        row->thread_name = qp_trace_view_thread(r->view, x->thread, row->thread_bytes,
                                                sizeof row->thread_bytes);
    }
    row->cut = x->n_incomplete ? x->n_incomplete : QP_FIELD_NONE;
    row->total = qp_trace_view_ns(r->view, x->total);
    row->self = qp_trace_view_ns(r->view, x->self);
    row->self_percent = qp_view_percent(x->self, r->stats.self);
    uint64_t *const times[] = {&row->average, &row->min, &row->p50,
                               &row->p90,     &row->p99, &row->max};
    const uint64_t ticks[] = {qp_call_stat_average(x),        x->min,
                              qp_call_stat_quantile(x, 0.5),  qp_call_stat_quantile(x, 0.9),
                              qp_call_stat_quantile(x, 0.99), x->max};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        *times[i] = x->n_complete ? qp_trace_view_ns(r->view, ticks[i]) : QP_FIELD_NONE;
    return true;
}

static qp_style style_of(const void *row)
{
    return qp_style_of_percent(((const stat_row *)row)->self_percent);
}

/* What all rows have. */
static unsigned has_of(const report *r)
{
    return (r->stats.is_by_thread ? BY_THREAD : 0) |
           (r->cli->args.trace.has_histogram ? HAS_HISTOGRAM : 0);
}

static unsigned has_of_row(const void *r, const void *row)
{
    return has_of(r) | (((const stat_row *)row)->sums.n_complete ? HAS_COMPLETE : 0);
}

static const qp_rows rows =
    QP_ROWS(fields, stat_row, next_row, .style = style_of, .has = has_of_row);

/* ---- text ------------------------------------------------------------------------------------ */

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

static bool write_text(const qp_cli *cli, const void *data)
{
    const report *r = data;
    const qp_screen *s = &cli->screen;
    char count[QP_NUMBER_BYTES];
    if (!r->n) {
        qp_out_text(s->out, "No calls in this part of the trace.\n");
        return true;
    }
    bool is_good = qp_rows_text(s, &rows, r,
                                "name thread_name calls total self self_percent average min "
                                "p50 p90 p99 max cut",
                                has_of(r) | HAS_COMPLETE, qp_unit_for(0, true, NULL));
    if (r->n_hidden)
        qp_out_format(s->out, "%s more functions; show them with --limit=0\n",
                      qp_unit_count(count, r->n_hidden));
    for (size_t i = 0; i < r->n && cli->args.trace.has_histogram; i++)
        write_histogram(r, r->rows[i]);
    return is_good;
}

/* ---- JSON, CSV ------------------------------------------------------------------------------ */

/* The trace itself. */
typedef struct {
    qp_trace_info about;
    qp_span_counts counts;
    uint64_t lost, unwritten, overwritten, removed, begins;
    const char *unit;
} trace_row;

#define AT(member) QP_FIELD_AT(trace_row, member)
static const qp_field trace_fields[] = {
    {"program", NULL, "name of the program", QP_FIELD_NAME, AT(about.program)},
    {"pid", NULL, "id of the process", QP_FIELD_COUNT, AT(about.pid)},
    {"started_at", NULL, "start of the run", QP_FIELD_MOMENT, AT(about.started_at)},
    {"records", NULL, "records that were read", QP_FIELD_COUNT, AT(counts.n_records)},
    {"calls", NULL, "calls", QP_FIELD_COUNT, AT(counts.n_calls)},
    {"lost", NULL, "records that are missing", QP_FIELD_COUNT, AT(lost)},
    {"unwritten", NULL, "records that could not be written", QP_FIELD_COUNT, AT(unwritten)},
    {"overwritten", NULL, "records that newer ones replaced", QP_FIELD_COUNT, AT(overwritten)},
    {"removed_bytes", NULL, "of the oldest records, which -trace-limit removed", QP_FIELD_COUNT,
     AT(removed)},
    {"begins", NULL, "the first record, after the start of the run", QP_FIELD_COUNT,
     AT(begins)},
    {"unit", NULL, "unit of times", QP_FIELD_WORD, AT(unit)},
    {.key = NULL}};
#undef AT

static void write_trace(qp_json *json, const void *data)
{
    const report *r = data;
    const qp_trace_losses *lost = qp_trace_lost(r->view->trace);
    uint64_t places;
    qp_fields_json(
        json, trace_fields, QP_FIELDS_ALL,
        &(trace_row){*qp_trace_about(r->view->trace), *r->counts,
                     qp_trace_missing(r->view->trace, r->counts, &r->view->window, &places),
                     lost->n_unwritten, lost->n_overwritten, lost->n_removed_bytes,
                     r->counts->n_records ? qp_trace_view_moment(r->view, r->counts->first) : 0,
                     "ns"});
}

static const qp_field document_fields[] = {
    {"trace", NULL, "the trace", QP_FIELD_OBJECT, .sub = trace_fields, .write = write_trace},
    {"calls", NULL, "functions", QP_FIELD_ROWS, .rows = &rows},
    {.key = NULL}};

static void write_csv(qp_cli *cli, const void *data)
{
    qp_rows_csv(&cli->out, &rows, data,
                "name file line thread calls total self average min p50 p90 p99 max "
                "incomplete unwound",
                has_of(data) | HAS_COMPLETE, "ns");
}

/* ---- the command ----------------------------------------------------------------------------- */

static int run_stat(qp_cli *cli)
{
    static const qp_forms forms = {write_text, document_fields, write_csv};
    qp_trace_view view;
    qp_spans x;
    report r = {.view = &view, .cli = cli, .counts = &x.counts};
    if (!qp_trace_view_open(&view, cli, NULL))
        return QP_EXIT_UNUSABLE;
    qp_stats_init(&r.stats, cli->args.has_threads);
    const qp_span_sink sink = qp_stats_sink(&r.stats);
    int status = qp_trace_view_play(&view, &x, &sink);
    if (status != QP_EXIT_UNUSABLE) {
        int shown = r.stats.failed || !sort_rows(&r) ? qp_cli_fail_memory(cli)
                                                     : qp_output_print(cli, &forms, &r);
        status = shown > status ? shown : status;
    }
    qp_free(r.rows);
    qp_stats_fini(&r.stats);
    qp_spans_fini(&x);
    qp_trace_view_close(&view);
    return status;
}

const qp_command qp_command_trace_stat = {
    .name = "trace stat",
    .operands = "FILE [PROFILE]",
    .summary = "count, times, percentiles and histogram of calls",
    .about = "Adds up the calls of a trace. Total includes callees and counts only calls that "
             "are not inside another call of the same function; self excludes callees. "
             "Average, minimum, percentiles and maximum are times of single calls including "
             "callees, for calls whose entry and end are in the trace; the others are counted "
             "as cut. Percentiles are exact to 3 %. Memory does not grow with the trace.",
    .flags =
        (const qp_flag[]){
            QP_WORD("sort", 's', QP_SORT_WORDS, sort, "self", "order of the rows"),
            QP_COUNT("limit", 'n', limit, NULL,
                     "maximum number of rows; 0: all (default 30; all as json or csv)"),
            QP_YES("threads", 0, has_threads, "one row for each function on each thread"),
            QP_YES("histogram", 0, trace.has_histogram, "distribution of the times of calls"),
            QP_FLAG_THREAD, QP_TRACE_FLAGS_CALLS, QP_TRACE_FLAGS_WINDOW, QP_FLAG_FORMAT,
            QP_FLAGS_COMMON},
    .examples = "qprof trace stat run.qtrace\n"
                "qprof trace stat --sort=max --histogram -n 5 run.qtrace\n"
                "qprof trace stat --threads --format=csv TEST.PRF",
    .schemas = (const qp_schema[]){{"trace-stat", document_fields}, {.name = NULL}},
    .run = run_stat};
