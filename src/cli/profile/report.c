/* report.c: `qprof report`: the functions of a run, its source files, classes or modules, or its threads.
 * The rows and columns are in cli/show/functions.c and groups.c. */
#include "base/containers/alloc.h"
#include "cli/core/cli.h"
#include "cli/show/show.h"

/* ---- text ---------------------------------------------------------------------------------- */

static void print_small(const qp_cli *cli, size_t n, const char *thing)
{
    char count[QP_NUMBER_BYTES];
    if (n)
        qp_out_format(cli->screen.out, "%s left out by --min-self or --min-total\n",
                      qp_unit_things(count, n, thing));
}

static void print_rest(const qp_cli *cli, const qp_functions *f)
{
    char count[QP_NUMBER_BYTES], percent[QP_NUMBER_BYTES];
    uint64_t run = 0;
    if (f->n == f->n_all)
        return;
    for (size_t i = f->n; i < f->n_all; i++)
        run += qp_figures_self_run(&f->v.flat[f->methods[i]]);
    qp_out_format(cli->screen.out, "and %s more", qp_unit_count(count, f->n_all - f->n));
    if (f->about.m->run.has_times)
        qp_out_format(cli->screen.out, " with %s %% of the %s",
                      qp_unit_percent(percent, run, f->v.whole - f->v.whole_off),
                      qp_view_noun(f->about.m));
    qp_out_text(cli->screen.out, "; --limit=0 shows all\n");
}

static bool print_threads(const qp_cli *cli, const qp_model *m)
{
    const qp_screen *s = &cli->screen;
    qp_thread_row row;
    qp_listing l;
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

static bool print_text(const qp_cli *cli, const void *data)
{
    const qp_functions *f = data;
    qp_header_text(&cli->screen, f->about.m, cli->path,
                   cli->args.has_subtract && !cli->args.has_threads);
    if (cli->args.has_threads)
        return print_threads(cli, f->about.m);
    if (!qp_functions_print(cli, f))
        return false;
    print_rest(cli, f);
    print_small(cli, f->n_small, "function");
    return true;
}

/* ---- JSON, CSV ----------------------------------------------------------------------------- */

static const qp_field document_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, .sub = qp_run_part},
    {"", NULL, NULL, QP_FIELD_PART, .sub = qp_threads_part},
    {"methods", NULL, "functions in the order of --sort", QP_FIELD_ROWS,
     .rows = &qp_function_rows},
    {.key = NULL}};

static bool print_groups(const qp_cli *cli, const void *data)
{
    const qp_groups *g = data;
    qp_header_text(&cli->screen, g->about.m, cli->path, cli->args.has_subtract);
    if (!qp_groups_print(cli, g))
        return false;
    if (g->n < g->all.n)
        qp_out_format(cli->screen.out, "and %zu more; --limit=0 shows all\n", g->all.n - g->n);
    print_small(cli, g->n_small, "row");
    return true;
}

static const qp_field groups_document[] = {
    {"", NULL, NULL, QP_FIELD_PART, .sub = qp_run_part},
    {"rows", NULL, "source files, classes or modules in the order of --sort", QP_FIELD_ROWS,
     .rows = &qp_group_rows},
    {.key = NULL}};

static void write_groups_csv(qp_cli *cli, const void *data)
{
    const qp_groups *g = data;
    qp_rows_csv(&cli->out, &qp_group_rows, g,
                "name functions calls hits skips self self_percent total total_percent average",
                qp_run_has_any(&g->about.m->run), g->about.m->run.unit);
}

static void write_csv(qp_cli *cli, const void *data)
{
    const qp_functions *f = data;
    qp_rows_csv(&cli->out, &qp_function_rows, f,
                "name class module file line calls hits skips self total average min max "
                "self_half total_half type includes_hidden average_total self_percent "
                "total_percent resumes self_run self_off total_run total_off bytes bytes_total "
                "objects objects_total freed_bytes freed_bytes_total freed_objects "
                "freed_objects_total instructions",
                qp_run_has_any(&f->about.m->run), f->about.m->run.unit);
}

/* ---- the command --------------------------------------------------------------------------- */

static int show_groups(qp_cli *cli, const qp_subject *s, uint64_t limit)
{
    static const qp_forms forms = {print_groups, groups_document, write_groups_csv};
    qp_groups g;
    if (cli->args.sort > QP_SORT_CALLS && cli->args.sort != QP_SORT_NAME)
        return qp_cli_fail(cli, "--by: rows can be sorted by self, total, calls and name");
    if (cli->args.has_threads)
        return qp_cli_fail(cli, "--by and --threads cannot be combined");
    int status = qp_groups_init(&g, &cli->args, s->m, s->thread, limit)
                     ? qp_output_print(cli, &forms, &g)
                     : qp_cli_fail_memory(cli);
    qp_groups_fini(&g);
    return status;
}

static int show(qp_cli *cli, const qp_subject *s)
{
    static const qp_forms forms = {print_text, document_fields, write_csv};
    const qp_args *a = &cli->args;
    qp_functions f;
    /* A table is for people, who want the top of it; the other forms are for programs. */
    uint64_t limit = a->limit != UINT64_MAX ? a->limit : a->format == QP_FORMAT_TEXT ? 25 : 0;
    if (!s->m->run.has_times && (a->min_percent > 0 || a->min_total > 0))
        qp_cli_warn(cli, "%s: --min-self and --min-total are ignored: it has no times",
                    cli->path);
    if (a->cover.by != QP_BY_FUNCTION)
        return show_groups(cli, s, limit);
    if (a->sort == QP_SORT_INSTRUCTIONS && (!s->m->run.has_instructions || s->thread))
        return qp_cli_fail(
            cli,
            "%s: no instructions of %s are known; they need counted blocks of a host that "
            "tells their instructions",
            cli->path, s->thread ? "single threads" : "functions");
    if (a->sort >= QP_SORT_BYTES && a->sort <= QP_SORT_OBJECTS && !s->m->run.has_memory)
        return qp_cli_fail(
            cli, "%s: no allocations were recorded; record with -allocations=yes", cli->path);
    int status = qp_functions_init(&f, a, s->m, s->thread, limit)
                     ? qp_output_print(cli, &forms, &f)
                     : qp_cli_fail_memory(cli);
    qp_functions_fini(&f);
    return status;
}

const qp_command qp_command_report = {
    .name = "report",
    .operands = "[FILE]",
    .summary = "the functions of a run, with calls and times",
    .about =
        "Lists the functions of a run. Self is the time in a function itself, Total includes "
        "what it called, recursion counted once. Percentages are of the time of the run, or of "
        "the thread. Avg, Min and Max are Self of one call. With --focus the calls of one "
        "function are the run; functions that are hidden give their time to their callers. "
        "With "
        "--by the rows are source files, classes or modules: Total counts a call inside "
        "another "
        "call of the same row once.",
    .flags =
        (const qp_flag[]){
            QP_WORD("sort", 's', QP_SORT_WORDS QP_SORT_MEMORY QP_SORT_WORK, sort, "self",
                    "order of the rows"),
            QP_COUNT("limit", 'n', limit, NULL,
                     "maximum number of rows; 0: all (default 25; all as json or csv)"),
            QP_WORD("by", 0, QP_BY_WORDS, cover.by, "function", "what the rows are"),
            {"min-self", 0, QP_FLAG_PERCENT, "PERCENT", QP_FLAG_AT(min_percent), "0",
             "least part of the run's time, in percent, that a row has itself: of Self %, or "
             "of Run % where that is shown"},
            {"min-total", 0, QP_FLAG_PERCENT, "PERCENT", QP_FLAG_AT(min_total), "0",
             "the same with what it called"},
            QP_FLAG_FILTER,
            QP_FLAG_WHEN,
            QP_FLAGS_COLLAPSE,
            QP_YES("long", 'l', is_long,
                   "columns for the average of Total, the module and the type of measurement"),
            QP_WORD("percent", 0, QP_PERCENT_WORDS, percent, NULL,
                    "base of percentages: the run's time, of which the Totals add up to more "
                    "than 100, "
                    "or the sum of all rows (default: the run's -percent-real-values, or run)"),
            QP_FLAG_THREAD,
            QP_YES("threads", 0, has_threads, "a row for each thread, instead of functions"),
            QP_YES("show-skips", 0, has_skips,
                   "column of calls while recording was off, and functions that had no others"),
            QP_FLAG_UNIT,
            QP_FLAG_SUBTRACT,
            QP_FLAG_FORMAT,
            QP_FLAGS_COMMON},
    .examples = "qprof report                      the newest profile here\n"
                "qprof report --sort=total run.qprof\n"
                "qprof report 4242                 a process that is running\n"
                "qprof report --filter=json --limit=0 run.qprof\n"
                "qprof report --by=file --min-self=3 run.qprof\n"
                "qprof report --format=json run.qprof | jq '.methods[0]'",
    .schemas = (const qp_schema[]){{"report", document_fields},
                                   {"report-by", groups_document},
                                   {.name = NULL}},
    .threads = QP_THREADS_JOINED,
    .run = qp_cli_show,
    .show = show};
