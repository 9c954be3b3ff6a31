/* diff.c: `qprof diff`: what changed between two runs, or between two sides of several runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/table_text.h"
#include "base/text/text.h"
#include "cli/compare/diff.h"
#include "cli/show/show.h"

/* ---- loading --------------------------------------------------------------------------------- */

/* The files of both sides. @return false: wrong usage, a message was printed */
static bool choose_sides(qp_cli *cli)
{
    qp_diff_args *args = &cli->args.diff;
    char **operands = cli->args.operands;
    int n = cli->args.n_operands;
    if (n == 2 && !args->base.n && !args->new.n) {
        args->base = (qp_list){{operands[0]}, 1};
        args->new = (qp_list){{operands[1]}, 1};
    } else if (n > 0 && args->base.n && args->new.n) {
        return qp_cli_refuse(cli, "%s: too many operands: --base and --new name all profiles",
                             operands[0]);
    }
    if (!args->base.n || !args->new.n)
        qp_cli_fail(cli, "expected two profiles; usage: qprof diff BASE NEW, or qprof diff "
                         "--base A1 A2 A3 --new B1 B2 B3");
    return args->base.n && args->new.n;
}

static void describe(qp_comparison *c, qp_diff_side side, const qp_model *m, const char *path)
{
    qp_diff_runs *r = &c->runs[side];
    char labels[QP_LABELS_BYTES];
    r->last_path = path;
    memcpy(r->labels, qp_labels_join(labels, r->labels, m->run.labels), sizeof r->labels);
    const uint64_t at = m->run.started_at;
    r->first_at = r->first_path && r->first_at < at ? r->first_at : at;
    r->last_at = r->last_at > at ? r->last_at : at;
    if (r->first_path) {
        r->has_programs |=
            strncmp(r->program, m->run.program, sizeof r->program_bytes - 1) != 0;
        r->has_modes |= strcmp(r->time_mode_text, m->run.time_mode_text) != 0;
        return;
    }
    snprintf(r->program_bytes, sizeof r->program_bytes, "%s", m->run.program);
    r->program = r->program_bytes;
    qp_text_format(r->script, sizeof r->script, "%s", m->run.script);
    r->first_path = path;
    r->started_at = m->run.started_at;
    r->time_mode_text = m->run.time_mode_text;
    c->is_time = qp_view_is_time(m);
    c->clock_text = m->run.clock_text;
    snprintf(c->unit_text, sizeof c->unit_text, "%s", m->run.unit);
}

/* --thread in this run; it may lack it. */
static uint32_t thread_of(const qp_cli *cli, const qp_model *m)
{
    uint32_t thread;
    return qp_cli_thread_named(cli, m, &thread) ? thread : QP_DIFF_NO_THREAD;
}

/* @param has_thread  becomes true if the run has what --thread wants */
static int add_run(qp_comparison *c, qp_cli *cli, qp_diff_side side, const char *file,
                   bool *has_thread)
{
    qp_error error;
    qp_model *m;
    int status = qp_cli_load_collapsed(cli, file, &m);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    uint32_t thread = thread_of(cli, m);
    *has_thread |= thread != QP_DIFF_NO_THREAD;
    if (!qp_diff_fits(c->diff, m, &error)) {
        status = qp_cli_fail(cli, "%s: %s", cli->path, error.text);
    } else if (c->limits.is_set && !qp_diff_can_judge(c, m, status, thread)) {
        status = QP_EXIT_UNUSABLE;
    } else {
        qp_diff_runs *runs = &c->runs[side];
        describe(c, side, m, file);
        if (!runs->part_path && !qp_cli_is_whole(m, status, runs->part))
            runs->part_path = file;
        if (!qp_diff_add(c->diff, side, m, thread))
            status = qp_cli_fail_memory(cli);
    }
    qp_model_free(m);
    return status;
}

static int add_sides(qp_comparison *c, qp_cli *cli)
{
    const qp_list *const lists[] = {&cli->args.diff.base, &cli->args.diff.new};
    bool has_thread = false;
    int status = QP_EXIT_CLEAN;
    cli->args.fold.may_lack_endpoint = true;
    for (int side = 0; side < QP_DIFF_SIDES; side++) {
        for (size_t i = 0; i < lists[side]->n; i++) {
            int of_run =
                add_run(c, cli, (qp_diff_side)side, lists[side]->items[i], &has_thread);
            if (of_run == QP_EXIT_UNUSABLE)
                return of_run;
            status = of_run > status ? of_run : status;
        }
    }
    if (!qp_collapse_has_endpoint(cli))
        return QP_EXIT_UNUSABLE;
    if (!has_thread)
        return qp_cli_fail(cli, "no run has a thread %s (qprof report --threads lists them)",
                           cli->args.thread);
    return qp_diff_finish(c->diff) ? status : qp_cli_fail_memory(cli);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The figure of --sort or, where the runs do not have it, another one. */
static qp_diff_sort sort_of(const qp_comparison *c)
{
    bool is_of_time = c->sort == QP_DIFF_SELF || c->sort == QP_DIFF_TOTAL;
    if (is_of_time && !c->diff->has_times)
        return QP_DIFF_CALLS;
    return c->sort == QP_DIFF_CALLS && !c->diff->has_calls ? QP_DIFF_SELF : c->sort;
}

static bool holds_up(const qp_comparison *c, const qp_diff_row *row)
{
    uint32_t item = c->gate.of_rows ? c->gate.of_rows[row - c->diff->rows] : 0;
    return item && c->gate.items[item - 1].verdict != QP_VERDICT_PASS;
}

/* A function whose callees alone changed is shown with --sort=total, and one that a gate does not let pass
 * in any case. */
static bool differs(const qp_comparison *c, const qp_diff_row *row)
{
    return row->state != QP_DIFF_ALIKE || holds_up(c, row) ||
           (c->sort == QP_DIFF_TOTAL && qp_diff_is_outside(qp_diff_total(c->diff, row)));
}

/* How often the garbage collector was called is chance, which does not rank it. */
static uint64_t rank_of(const qp_diff_row *row, const qp_diff_figure *f)
{
    return f == &row->calls && !qp_diff_is_outside(f) ? 0 : qp_diff_size(qp_diff_change(f));
}

/* The largest change first; equal ones by their other figures, then by name. */
static int compare_rows(const void *a, const void *b, void *data)
{
    const qp_comparison *c = data;
    const qp_diff_row *rows = c->diff->rows;
    uint32_t at_x = *(const uint32_t *)a, at_y = *(const uint32_t *)b;
    const qp_diff_row *x = &rows[at_x], *y = &rows[at_y];
    if (c->sort != QP_DIFF_NAME) {
        const qp_diff_figure *of_x[] = {qp_diff_main_figure(c, x), qp_diff_self(c->diff, x),
                                        &x->calls};
        const qp_diff_figure *of_y[] = {qp_diff_main_figure(c, y), qp_diff_self(c->diff, y),
                                        &y->calls};
        for (int i = 0; i < 3; i++) {
            uint64_t size_x = rank_of(x, of_x[i]), size_y = rank_of(y, of_y[i]);
            if (size_x != size_y)
                return size_x < size_y ? 1 : -1;
        }
    }
    int by_name = strcmp(x->name, y->name), by_file = strcmp(x->file, y->file);
    return by_name ? by_name : by_file ? by_file : (at_x > at_y) - (at_x < at_y);
}

/* Less than a thousandth of the run: two runs of the same program differ by as much. */
static bool is_small_change(const qp_comparison *c, const qp_diff_figure *f)
{
    enum { SHARE = 1000 };
    const qp_diff_figure *whole = &c->diff->rows[0].total;
    uint64_t base = whole->sides[QP_DIFF_BASE], new = whole->sides[QP_DIFF_NEW];
    return qp_diff_size(qp_diff_change(f)) < (base > new ? base : new) / SHARE;
}

/* With one run a side the noise is unknown, and exact times of nearly all functions differ. A table leaves
 * out those whose calls are equal and whose times hardly changed. */
static bool is_small(const qp_comparison *c, const qp_diff_row *row)
{
    const unsigned format = c->cli->args.format;
    bool is_table = (format == QP_FORMAT_TEXT || format == QP_FORMAT_MARKDOWN) &&
                    !c->cli->args.diff.is_qxdiff;
    return is_table && c->cli->args.limit && !holds_up(c, row) && c->diff->has_times &&
           !c->diff->has_noise &&
           (row->state == QP_DIFF_CHANGED || row->state == QP_DIFF_ALIKE) &&
           !qp_diff_is_outside(&row->calls) && is_small_change(c, &row->self) &&
           (c->sort != QP_DIFF_TOTAL || is_small_change(c, &row->total));
}

static bool choose_rows(qp_comparison *c)
{
    const qp_diff *d = c->diff;
    c->rows = qp_alloc(d->n_rows, sizeof *c->rows);
    for (uint32_t i = 1; c->rows && i < d->n_rows; i++) {
        if (!differs(c, &d->rows[i]) || !qp_diff_fits_filter(c->cli, &d->rows[i]))
            continue;
        if (is_small(c, &d->rows[i]))
            c->n_small++;
        else
            c->rows[c->n_rows++] = i;
    }
    if (c->rows)
        qsort_r(c->rows, c->n_rows, sizeof *c->rows, compare_rows, c);
    return c->rows != NULL;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int show(qp_comparison *c, qp_cli *cli, int status)
{
    bool is_short =
        cli->args.format == QP_FORMAT_TEXT || cli->args.format == QP_FORMAT_MARKDOWN;
    if (cli->args.limit == UINT64_MAX)
        cli->args.limit = is_short && !cli->args.diff.is_qxdiff ? 25 : 0;
    c->sort = sort_of(c);
    int judged = qp_diff_judge(c);
    if (judged != QP_EXIT_CLEAN)
        return judged;
    if (!choose_rows(c))
        return qp_cli_fail_memory(cli);
    if (cli->args.format == QP_FORMAT_JSON)
        qp_diff_write_json(c, &cli->out);
    else if (cli->args.format == QP_FORMAT_CSV)
        qp_diff_write_csv(c, &cli->out);
    else if (cli->args.format == QP_FORMAT_MARKDOWN)
        qp_diff_write_markdown(c, &cli->out);
    else if (cli->args.diff.is_qxdiff)
        qp_diff_write_qxdiff(c, &cli->out);
    else if (!qp_diff_print(c))
        return qp_cli_fail_memory(cli);
    return qp_gate_print(c, status);
}

static bool is_good_usage(const qp_cli *cli)
{
    const qp_diff_args *args = &cli->args.diff;
    bool is_text = cli->args.format == QP_FORMAT_TEXT;
    if (args->has_paths && cli->args.has_threads)
        qp_cli_fail(cli, "--paths and --threads cannot be combined");
    else if (!is_text && (args->is_qxdiff || args->has_legend))
        qp_cli_fail(cli, "%s is for text and cannot be combined with --format",
                    args->is_qxdiff ? "--qxdiff" : "--legend");
    else
        return true;
    return false;
}

static int run_diff(qp_cli *cli)
{
    const qp_diff_args *args = &cli->args.diff;
    if (!choose_sides(cli))
        return QP_EXIT_UNUSABLE;
    if (!is_good_usage(cli))
        return QP_EXIT_UNUSABLE;
    qp_diff_kind kind = args->has_paths         ? QP_DIFF_PATHS
                        : cli->args.has_threads ? QP_DIFF_THREADS
                                                : QP_DIFF_FUNCTIONS;
    qp_comparison c = {.cli = cli, .sort = (qp_diff_sort)cli->args.sort};
    if (!qp_diff_read_limits(cli, &c.limits))
        return QP_EXIT_UNUSABLE;
    c.diff = qp_diff_new(kind, args->ignores_system);
    if (c.diff)
        c.diff->is_elapsed = args->is_elapsed;
    int status = c.diff ? add_sides(&c, cli) : qp_cli_fail_memory(cli);
    if (status != QP_EXIT_UNUSABLE)
        status = show(&c, cli, status);
    qp_free(c.rows);
    qp_gate_fini(&c.gate);
    qp_diff_free(c.diff);
    return status;
}

const qp_command qp_command_diff = {
    .name = "diff",
    .operands = "BASE NEW | --base FILE... --new FILE...",
    .summary = "what changed between two runs, or two sets of them",
    .about = "Lists the functions that differ, the largest change first. Differences are new - "
             "base: less than 0 is an improvement. With several runs a side their medians are "
             "compared, and what may be chance is not listed. Where at least 1 % of the time "
             "was waiting, "
             "run times are compared.",
    .flags =
        (const qp_flag[]){
            QP_FLAGS_SIDES,
            QP_YES("paths", 0, diff.has_paths,
                   "comparison of call paths, instead of functions"),
            QP_YES("threads", 0, has_threads, "comparison of threads, by their names"),
            QP_WORD("sort", 's', QP_DIFF_SORT_WORDS, sort, "self",
                    "figure whose changes are listed, largest first"),
            QP_COUNT("limit", 'n', limit, NULL,
                     "maximum number of rows; 0: all (default 25; all as json, csv, qxdiff)"),
            QP_FLAG_FILTER,
            QP_FLAGS_COLLAPSE,
            QP_YES("ignore-system", 'i', diff.ignores_system,
                   "comparison without functions that block or wait"),
            {"fail-if-slower", 0, QP_FLAG_REAL, "PERCENT", QP_FLAG_AT(diff.slower), NULL,
             "limit of growth of the run's time and of each function's self time (with "
             "--filter: total time), in percent of what it was; exit status 1 above it, 3 if "
             "that may be noise"},
            {"fail-if-more", 0, QP_FLAG_LIMITS, "LIMITS", QP_FLAG_AT(diff.more), NULL,
             "limits of growth of exact figures of each function: calls, bytes, objects, "
             "instructions, as calls:0,bytes:2%; exit status 1 above them"},
            QP_YES("elapsed", 0, diff.is_elapsed,
                   "comparison by elapsed time, also where much of it is waiting; else by run "
                   "time"),
            QP_YES("qxdiff", 0, diff.is_qxdiff, "lines in the form of Quantify's qxdiff"),
            QP_YES("legend", 'l', diff.has_legend, "meaning of the signs"),
            QP_FLAG_THREAD,
            QP_FLAG_UNIT,
            QP_WORD("format", 0, "text|json|csv|markdown", format, NULL,
                    "form of the output; markdown: for the comment of a pull request"),
            QP_FLAGS_COMMON},
    .examples = "qprof diff before.qprof after.qprof\n"
                "qprof diff --base old-*.qprof --new new-*.qprof\n"
                "qprof diff --paths --focus=parse before.qprof after.qprof\n"
                "qprof diff --fail-if-slower=20 --base old-*.qprof --new new-*.qprof\n"
                "qprof diff --fail-if-more=calls:0,bytes:2% before.qprof after.qprof",
    .schemas = (const qp_schema[]){{"diff", qp_diff_document}, {.name = NULL}},
    .threads = QP_THREADS_JOINED,
    .run = run_diff};
