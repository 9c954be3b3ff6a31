/* shared.c: what the commands of `qprof cover` share: from the profiles among the operands to the
 * coverage report, and the pieces of its text. */
#include "cli/cover/cover.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text/buf.h"
#include "base/text/unit.h"
#include "cli/show/show.h"
#include "model/combine/combine.h"

/* ---- operands -------------------------------------------------------------------------------- */

bool qp_cover_operands(qp_cli *cli, const char **name)
{
    char **operands = cli->args.operands;
    int n_files = 0;
    *name = NULL;
    for (int i = 0; i < cli->args.n_operands; i++) {
        if (qp_cli_is_profile(operands[i])) {
            operands[n_files++] = operands[i];
        } else if (*name) {
            qp_cli_fail(cli, "%s: not a profile (and not %s); usage: qprof %s [options] %s",
                        operands[i], *name, cli->command->name, cli->command->operands);
            return false;
        } else {
            *name = operands[i];
        }
    }
    cli->args.n_operands = n_files;
    return true;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Print what was lost, repaired or misused, in one line. */
static void remark_on_diagnostics(const qp_cli *cli, const qp_model *m)
{
    enum { ALL_BYTES = 400 };
    char all[ALL_BYTES] = "", number[QP_NUMBER_BYTES];
    size_t n = 0;
    for (size_t i = 0; i < m->run.n_diagnostics && n < ALL_BYTES - QP_NUMBER_BYTES; i++) {
        const qp_run_diagnostic *d = &m->run.diagnostics[i];
        if (d->kind != 'N')
            n += (size_t)snprintf(all + n, sizeof all - n, "%s%s %s", n ? ", " : "", d->name,
                                  qp_unit_count(number, d->count));
    }
    if (n)
        qp_cli_warn(cli, "%s: %s; qprof info explains", cli->path, all);
}

/* In areas of routines the lines of methods are inferred, not counted. */
static void remark_on_areas(const qp_cli *cli, const qp_model *m)
{
    char text[QP_NUMBER_BYTES];
    uint64_t n = 0;
    for (uint32_t i = 1; i < m->n_methods; i++)
        n += m->methods[i].flags & QP_METHOD_ROUTINE && m->methods[i].n_blocks;
    if (n && m->run.grain != QP_GRAIN_FUNCTION)
        qp_cli_warn(
            cli,
            "%s: lines are not counted in areas of routines (%s): all lines of a function "
            "are hit if it was called",
            cli->path, qp_unit_things(text, n, "function"));
}

/* Print what limits the meaning of a run's figures. */
static void remark_on(const qp_cli *cli, const qp_model *m)
{
    if (m->run.state == QP_RUN_CRASHED)
        qp_cli_warn(cli, "%s: unsealed, the program was killed; all its counts are here",
                    cli->path);
    else if (m->run.state == QP_RUN_LIVE)
        qp_cli_warn(cli, "%s: still running; figures up to now", cli->path);
    if (m->run.grain == QP_GRAIN_FUNCTION)
        qp_cli_warn(cli,
                    "%s: recorded with -collection-granularity=function: no counts of lines",
                    cli->path);
    remark_on_areas(cli, m);
    remark_on_diagnostics(cli, m);
}

int qp_cover_add(const qp_cli *cli, const qp_model *m, qp_cover_set *set)
{
    qp_error error;
    qp_cover_add_options o = {.is_forced = cli->args.cover.is_forced,
                              .is_layered = cli->args.cover.is_layered};
    remark_on(cli, m);
    return qp_cover_set_add(set, m, cli->path, &o, &error) ? QP_EXIT_CLEAN
                                                           : qp_cli_fail(cli, "%s", error.text);
}

/* --fail-if-lower: what a run did not register, or lost, looks like code that is gone. @return false: a message
 * was printed */
static bool can_judge(const qp_cli *cli, const qp_model *m, int status)
{
    char why[QP_WHY_BYTES];
    if (!qp_cli_is_whole(m, status, why))
        return qp_cli_refuse(cli, "nothing was checked: %s %s", cli->path, why);
    return m->run.is_coverage ||
           qp_cli_refuse(cli,
                         "nothing was checked: %s was recorded without -collect=coverage: "
                         "functions that were never called are missing",
                         cli->path);
}

/* @param n_plain  counts runs without the functions that were never called */
static int add_file(qp_cli *cli, const char *file, qp_cover_set *set, int *n_plain)
{
    qp_model *m;
    int status = qp_cli_load(cli, file, &m);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    *n_plain += !m->run.is_coverage;
    if (m->run.is_stack_only)
        status = qp_cli_fail(cli,
                             "%s: recorded with -collect=samples, without counts; record with "
                             "-collect=coverage, or see qprof list",
                             cli->path);
    else if (!m->run.has_calls && !m->run.is_coverage)
        status = qp_cli_fail(cli,
                             "%s: %s counted neither calls nor lines; qprof report shows its "
                             "times",
                             cli->path, m->run.version);
    else if (cli->args.cover.is_no_lower && !can_judge(cli, m, status))
        status = QP_EXIT_UNUSABLE;
    else if (qp_cover_add(cli, m, set) == QP_EXIT_UNUSABLE)
        status = QP_EXIT_UNUSABLE;
    qp_model_free(m);
    return status;
}

/* Print what is missing where runs recorded only what was executed. */
static void remark_on_plain(const qp_cli *cli, int n_plain, size_t n_runs)
{
    if (n_plain && (size_t)n_plain == n_runs)
        qp_cli_warn(
            cli,
            "recorded without -collect=coverage: functions that were never called are missing");
    else if (n_plain)
        qp_cli_warn(cli,
                    "%d of %zu profiles were recorded without -collect=coverage: their "
                    "functions that were never "
                    "called are missing",
                    n_plain, n_runs);
}

int qp_cover_read(qp_cli *cli, char *const *files, int n, qp_cover_set **set)
{
    int status = QP_EXIT_CLEAN, n_plain = 0;
    *set = qp_cover_set_new();
    if (!*set)
        return qp_cli_fail_memory(cli);
    for (int i = 0; (i < n || i == 0) && status != QP_EXIT_UNUSABLE; i++) {
        int added = add_file(cli, n ? files[i] : NULL, *set, &n_plain);
        status = added > status ? added : status;
    }
    if (status == QP_EXIT_UNUSABLE) {
        qp_cover_set_free(*set);
        *set = NULL;
        return status;
    }
    remark_on_plain(cli, n_plain, (*set)->n_runs);
    return status;
}

static qp_cover_options options_of(const qp_args *args)
{
    const qp_cover_args *a = &args->cover;
    return (qp_cover_options){.root = a->root,
                              .is_only_root = a->root != NULL,
                              .include = a->include.items,
                              .n_include = a->include.n,
                              .exclude = a->exclude.items,
                              .n_exclude = a->exclude.n,
                              .contexts = a->contexts.items,
                              .n_contexts = a->contexts.n,
                              .folders = args->folders,
                              .is_partial_missed = a->partial == 1,
                              .is_unadjusted = a->is_unadjusted,
                              .adjustments = a->adjustments};
}

/* A root that does not exist is allowed: a profile may come from another machine. */
static void remark_on_root(const qp_cli *cli)
{
    struct stat st;
    const char *root = cli->args.cover.root;
    if (root && (stat(root, &st) != 0 || !S_ISDIR(st.st_mode)))
        qp_cli_warn(cli, "--root=%s: no such folder here; paths are compared with it", root);
}

/* Print why the report is empty, if it is. */
static void remark_on_nothing(const qp_cli *cli, const qp_cover *c)
{
    const qp_cover_args *a = &cli->args.cover;
    if (c->n_files)
        return;
    qp_cli_warn(cli, "%s: %s", cli->path,
                a->include.n || a->exclude.n || a->root
                    ? "--root, --include and --exclude leave no file"
                    : "no function with a source file");
}

/* Can the file of --adjustments be read? @return false: a message was printed */
static bool check_adjustments(const qp_cli *cli)
{
    qp_error error;
    const char *path = cli->args.cover.adjustments;
    qp_adjust *a = path ? qp_adjust_new() : NULL;
    bool is_good = !path || (a && qp_adjust_read(a, path, &error));
    if (path && !a)
        qp_cli_fail_memory(cli);
    else if (!is_good)
        qp_cli_fail(cli, "%s", error.text);
    qp_adjust_free(a);
    return is_good;
}

int qp_cover_open(qp_cli *cli, char *const *files, int n, qp_cover **cover)
{
    qp_error error;
    qp_cover_set *set;
    *cover = NULL;
    if (!check_adjustments(cli))
        return QP_EXIT_UNUSABLE;
    int status = qp_cover_read(cli, files, n, &set);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    remark_on_root(cli);
    cli->args.folders.root = cli->args.cover.root; /* which the user named as well */
    qp_cover_options o = options_of(&cli->args);
    *cover = qp_cover_derive(set, &o, &error);
    qp_cover_set_free(set);
    if (!*cover)
        return qp_cli_fail(cli, "%s", error.text);
    for (size_t i = 0; i < (*cover)->n_warnings; i++)
        qp_cli_warn(cli, "%s", (*cover)->warnings[i]);
    remark_on_nothing(cli, *cover);
    return status;
}

int qp_cover_show(qp_cli *cli, int (*show)(qp_cli *cli, const qp_cover *c, void *data),
                  void *data)
{
    qp_cover *c;
    int status = qp_cover_open(cli, cli->args.operands, cli->args.n_operands, &c);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    int shown = show(cli, c, data);
    qp_cover_free(c);
    return shown > status ? shown : status;
}

const qp_cover_file *qp_cover_find_file(const qp_cli *cli, const qp_cover *c, const char *name)
{
    size_t n_found, at = qp_cover_file_named(c, name, &n_found);
    if (n_found == 1)
        return &c->files[at];
    if (n_found > 1)
        qp_cli_fail(cli, "%s: %s is ambiguous: matches %zu files (add more of its path)",
                    cli->path, name, n_found);
    else
        qp_cli_fail(cli, "%s: no source %s; qprof cover report lists all", cli->path, name);
    return NULL;
}

/* ---- the head -------------------------------------------------------------------------------- */

static void print_runs(const qp_screen *s, const qp_cover *c)
{
    char moment[QP_MOMENT_BYTES];
    uint64_t newest = 0;
    for (size_t i = 0; i < c->n_runs; i++)
        newest = c->runs[i].started_at > newest ? c->runs[i].started_at : newest;
    qp_header_label(s, "recorded");
    qp_out_format(s->out, "%s%s%s\n", c->n_runs > 1 ? "last " : "",
                  qp_header_moment(moment, newest),
                  c->is_once ? "; whether code was executed, not how often" : "");
}

void qp_cover_header(const qp_cli *cli, const qp_cover *c)
{
    const qp_screen *s = &cli->screen;
    char count[QP_NUMBER_BYTES];
    if (c->n_runs == 0)
        return;
    qp_screen_style(s, QP_STYLE_HEAD);
    qp_header_program(s, c->runs[0].program, c->runs[0].script);
    qp_screen_style(s, QP_STYLE_PLAIN);
    if (c->n_runs > 1)
        qp_out_format(s->out, ", %s", qp_unit_things(count, c->n_runs, "run"));
    qp_out_text(s->out, "  (");
    qp_screen_name(s, c->runs[0].what, 0);
    qp_out_text(s->out, c->n_runs > 1 ? ", ...)\n" : ")\n");
    print_runs(s, c);
    char labels[QP_LABELS_BYTES] = "", joined[QP_LABELS_BYTES];
    for (size_t i = 0; i < c->n_runs; i++)
        memcpy(labels, qp_labels_join(joined, labels, c->runs[i].labels), sizeof labels);
    qp_header_labels(s, labels);
    if (cli->args.cover.contexts.n) {
        qp_header_label(s, "contexts");
        qp_out_text(s->out, "only hits of ");
        for (size_t i = 0; i < cli->args.cover.contexts.n; i++) {
            qp_out_text(s->out, i ? ", " : "");
            qp_screen_name(s, cli->args.cover.contexts.items[i], 60);
        }
        qp_out_char(s->out, '\n');
    }
    qp_out_char(s->out, '\n');
}

const char *qp_cover_context_name(const char *name)
{
    return *name ? name : "(no context)";
}

/* ---- percentages ----------------------------------------------------------------------------- */

const char *const qp_figure_names[QP_N_FIGURES] = {"lines", "branches", "functions"};

void qp_figure_of(const qp_cover_totals *t, qp_figure figure, uint64_t *n_hit, uint64_t *n)
{
    const uint64_t hits[] = {t->lines_hit, t->branches_hit, t->functions_hit},
                   all[] = {t->lines, t->branches, t->functions};
    *n_hit = hits[figure];
    *n = all[figure];
}

bool qp_figure_reaches(const qp_cover_totals *t, qp_figure figure, double limit, qp_error *why)
{
    uint64_t n_hit, n;
    qp_figure_of(t, figure, &n_hit, &n);
    why->text[0] = '\0';
    if (n == 0) {
        return qp_error_fail(why, "no %s were counted", qp_figure_names[figure]);
    }
    if (qp_cover_percent(n_hit, n) >= limit)
        return true;
    char reached[QP_NUMBER_BYTES], count[QP_NUMBER_BYTES];
    qp_unit_share(reached, n_hit, n, 2);
    return qp_error_fail(why, "%s %% of %s %s were hit, %.2f below %g", reached,
                         qp_unit_count(count, n), qp_figure_names[figure],
                         limit - atof(reached), limit);
}

void qp_cover_add_share(qp_table *t, uint64_t n_hit, uint64_t n, bool has_missed)
{
    char text[2 * QP_NUMBER_BYTES], a[QP_NUMBER_BYTES], b[QP_NUMBER_BYTES];
    snprintf(text, sizeof text, "%s/%s", qp_unit_count(a, n_hit), qp_unit_count(b, n));
    qp_table_plain(t, QP_STYLE_PLAIN, n ? text : "-");
    if (has_missed)
        qp_table_plain(t, QP_STYLE_PLAIN, qp_unit_count(a, n - n_hit));
    qp_table_plain(t, qp_cover_percent_style(n_hit, n), qp_unit_share(a, n_hit, n, 1));
}

/* With the limits of genhtml. */
qp_style qp_cover_percent_style(uint64_t n_hit, uint64_t n)
{
    double percent = qp_cover_percent(n_hit, n);
    return n == 0          ? QP_STYLE_DIM
           : percent >= 90 ? QP_STYLE_GOOD
           : percent >= 75 ? QP_STYLE_WARM
                           : QP_STYLE_BAD;
}

int qp_cover_judge(const qp_cli *cli, const qp_cover_totals *t)
{
    const qp_cover_args *a = &cli->args.cover;
    const double limits[QP_N_FIGURES] = {a->lines_under, a->branches_under, a->functions_under};
    static const char *const flags[QP_N_FIGURES] = {"", "-branches", "-functions"};
    int status = QP_EXIT_CLEAN;
    for (qp_figure f = 0; f < QP_N_FIGURES; f++) {
        qp_error why;
        if (limits[f] < 0 || qp_figure_reaches(t, f, limits[f], &why))
            continue;
        qp_cli_warn(cli, "--fail-under%s: %s", flags[f], why.text);
        status = QP_EXIT_FAILED;
    }
    return status;
}

bool qp_cover_is_way_missed(const qp_cover_branch *b)
{
    return b->is_reached && !b->count;
}

char *qp_cover_way_text(const qp_cover_branch *b, char *to, size_t n_bytes)
{
    if (b->to_line)
        snprintf(to, n_bytes, "line %" PRIu32 " never continues at line %" PRIu32, b->line,
                 b->to_line);
    else
        snprintf(to, n_bytes,
                 "way %" PRIu32 " of branch %" PRIu32 " in line %" PRIu32 " was never taken",
                 b->way + 1, b->block + 1, b->line);
    return to;
}

/* ---- ranges of lines ------------------------------------------------------------------------- */

bool qp_cover_is_missed(const void *unused, const qp_cover_file *f, size_t line)
{
    (void)unused;
    return !f->lines[line].is_hit && f->lines[line].annotation != QP_ANNOTATION_DEADCODE;
}

size_t qp_cover_each_range(const qp_cover_file *f, qp_cover_wants *wants, const void *data,
                           qp_cover_take *show, void *to)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_lines;) {
        size_t end = i;
        while (end < f->n_lines && wants(data, f, end))
            end++;
        if (end == i) {
            i++;
            continue;
        }
        show(to, f, f->lines[i].line, f->lines[end - 1].line);
        n++;
        i = end;
    }
    return n;
}

void qp_cover_show_item(qp_cover_list *list, const char *text)
{
    enum { DEFAULT_COLUMNS = 80 };
    unsigned most = list->s->n_columns ? list->s->n_columns : DEFAULT_COLUMNS;
    unsigned n = (unsigned)strlen(text);
    if (list->column && list->column + 2 + n + 1 > most) {
        qp_out_text(list->s->out, ",\n");
        list->column = 0;
    } else if (list->column) {
        qp_out_text(list->s->out, ", ");
        list->column += 2;
    }
    if (!list->column) {
        if (list->title) {
            qp_out_text(list->s->out, "  ");
            qp_screen_name(list->s, list->title, 0);
            qp_out_char(list->s->out, '\n');
            list->title = NULL;
        }
        qp_out_repeat(list->s->out, ' ', list->indent);
        list->column = list->indent;
    }
    qp_out_text(list->s->out, text);
    list->column += n;
}

void qp_cover_show_range(void *list, const qp_cover_file *f, uint32_t first, uint32_t last)
{
    char text[32];
    (void)f;
    if (first == last)
        snprintf(text, sizeof text, "%" PRIu32, first);
    else
        snprintf(text, sizeof text, "%" PRIu32 "-%" PRIu32, first, last);
    qp_cover_show_item(list, text);
}
