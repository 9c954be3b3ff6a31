/* report.c: `qprof report`: the functions of a run, or its threads. */
#include "base/containers/alloc.h"
#include "cli/core/cli.h"
#include "cli/show/show.h"

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
    qp_thread_row row;
    qp_listing l;
    qp_header_text(s, m, cli->path, false);
    if (qp_view_threads(m) == 0) {
        qp_out_text(s->out, "No function was called.\n");
        return true;
    }
    qp_listing_begin(&l, s, qp_thread_fields,
                     "number name calls total percent open_frames state", QP_FIELDS_ALL,
                     qp_view_unit(m, m->run.total, cli->args.unit));
    for (uint32_t i = 1; i < m->n_threads; i++) {
        if (!qp_view_is_busy(&m->threads[i]))
            continue;
        qp_thread_row_fill(&row, m, i);
        qp_listing_row(&l, &row, QP_STYLE_PLAIN);
    }
    return qp_listing_end(&l, 0);
}

/* ---- JSON, CSV ----------------------------------------------------------------------------- */

typedef struct {
    qp_document about;
    const qp_view *v;
    const uint32_t *rows; /* [n] methods */
    size_t n;
} document;

static void write_methods(qp_json *json, const void *row)
{
    const document *d = row;
    for (size_t i = 0; i < d->n; i++) {
        qp_function_row function = qp_function_row_of(d->v, d->rows[i]);
        qp_row_json(json, NULL, qp_function_fields, QP_FIELDS_ALL, &function);
    }
}

static const qp_field document_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, .sub = qp_run_part},
    {"", NULL, NULL, QP_FIELD_PART, .sub = qp_threads_part},
    {"methods", NULL, "functions in the order of --sort", QP_FIELD_ROWS,
     .sub = qp_function_fields, .write = write_methods},
    {.key = NULL}};

static void write_csv(qp_cli *cli, const qp_view *v, const uint32_t *rows, size_t n)
{
    qp_csv csv;
    qp_csv_begin(&csv, &cli->out, qp_function_fields,
                 "name class module file line calls hits skips self total average min max "
                 "self_half total_half type includes_hidden average_total self_percent "
                 "total_percent",
                 QP_FIELDS_ALL, v->m->run.unit);
    for (size_t i = 0; i < n; i++) {
        qp_function_row row = qp_function_row_of(v, rows[i]);
        qp_csv_row(&csv, &row);
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
        qp_document_json(&cli->out, document_fields,
                         &(document){{m, thread}, &v, rows, limited(cli, n)});
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
    int status = qp_cli_load_collapsed(cli, file, &m);
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
    QP_FLAGS_COLLAPSE,
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
    .schemas = (const qp_schema[]){{"report", document_fields}, {.name = NULL}},
    .run = run_report};
