/* cover.c: `qprof cover`: its commands, and from the files that one names to a picture of coverage. */
#include "cli/cover.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/unit.h"
#include "model/adjust.h"

/* ---- operands -------------------------------------------------------------------------------- */

bool qp_cover_operands(qp_cli *cli, const char **name)
{
    char **operands = cli->args.operands, *other = NULL;
    int n_files = 0;
    for (int i = 0; i < cli->args.n_operands; i++) {
        bool is_file = !name || qp_cli_is_profile(operands[i]);
        if (is_file) {
            operands[n_files++] = operands[i];
        } else if (!other) {
            other = operands[i];
        } else {
            qp_cli_fail(cli,
                        "%s: no profile, and %s was named before; usage: qprof %s [options] %s",
                        operands[i], other, cli->command->name, cli->command->operands);
            return false;
        }
    }
    if (name)
        *name = other;
    cli->args.n_operands = n_files;
    return true;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* What was lost, repaired or misused, in one line. */
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

/* Areas of routines alone: lines of their methods are supposed, not counted. */
static void remark_on_areas(const qp_cli *cli, const qp_model *m)
{
    char text[QP_NUMBER_BYTES];
    uint64_t n = 0;
    for (uint32_t i = 1; i < m->n_methods; i++)
        n += m->methods[i].flags & QP_METHOD_ROUTINE && m->methods[i].n_blocks;
    if (n && m->run.grain != QP_GRAIN_FUNCTION)
        qp_cli_warn(cli,
                    "%s: in areas of routines (%s function%s) lines are not counted; all of a "
                    "function are hit if it was called",
                    cli->path, qp_unit_count(text, n), n == 1 ? "" : "s");
}

/* What of a run makes its figures less than they seem. */
static void remark_on(const qp_cli *cli, const qp_model *m)
{
    if (m->run.state == QP_RUN_CRASHED)
        qp_cli_warn(cli, "%s: unsealed, the program was killed; all that it counted is here",
                    cli->path);
    else if (m->run.state == QP_RUN_LIVE)
        qp_cli_warn(cli, "%s: still running; figures up to now", cli->path);
    if (m->run.grain == QP_GRAIN_FUNCTION)
        qp_cli_warn(
            cli,
            "%s: recorded with -collection-granularity=function: nothing is known of lines",
            cli->path);
    remark_on_areas(cli, m);
    remark_on_diagnostics(cli, m);
}

int qp_cover_add(const qp_cli *cli, const qp_model *m, qp_cover_set *set)
{
    char error[QP_ERROR_BYTES];
    qp_cover_add_options o = {.is_forced = cli->args.cover.is_forced,
                              .is_layered = cli->args.cover.is_layered};
    remark_on(cli, m);
    return qp_cover_set_add(set, m, cli->path, &o, error) ? QP_EXIT_CLEAN
                                                          : qp_cli_fail(cli, "%s", error);
}

/* @param n_plain  one more if the run knows nothing of functions that were never called */
static int add_file(qp_cli *cli, const char *file, qp_cover_set *set, int *n_plain)
{
    qp_model *m;
    int status = qp_cli_load(cli, file, &m);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    *n_plain += !m->run.is_coverage;
    if (m->run.is_stack_only)
        status = qp_cli_fail(cli,
                             "%s: recorded with -collect=samples, which counts nothing; record "
                             "it with -collect=coverage, or see qprof list",
                             cli->path);
    else if (!m->run.has_calls)
        status = qp_cli_fail(cli,
                             "%s: %s counted neither calls nor lines; qprof report shows its "
                             "times",
                             cli->path, m->run.version);
    else if (qp_cover_add(cli, m, set) == QP_EXIT_UNUSABLE)
        status = QP_EXIT_UNUSABLE;
    qp_model_free(m);
    return status;
}

/* What is missing where runs recorded what was executed, and not what there is. */
static void remark_on_plain(const qp_cli *cli, int n_plain, size_t n_runs)
{
    if (n_plain && (size_t)n_plain == n_runs)
        qp_cli_warn(cli,
                    "recorded without -cover: functions that were never called are not in it");
    else if (n_plain)
        qp_cli_warn(cli,
                    "%d of %zu profiles were recorded without -cover: of the functions that "
                    "were never called, those of the others are in it",
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
                              .source_path = args->source_path,
                              .is_partial_missed = a->partial == 1,
                              .is_unadjusted = a->is_unadjusted,
                              .adjustments = a->adjustments};
}

/* A profile may come from another machine, so that a root that is not here is no mistake. */
static void remark_on_root(const qp_cli *cli)
{
    struct stat st;
    const char *root = cli->args.cover.root;
    if (root && (stat(root, &st) != 0 || !S_ISDIR(st.st_mode)))
        qp_cli_warn(cli, "--root=%s: there is no such folder here; paths are compared with it",
                    root);
}

/* Why the picture is empty, if it is. */
static void remark_on_nothing(const qp_cli *cli, const qp_cover *c)
{
    const qp_cover_args *a = &cli->args.cover;
    if (c->n_files)
        return;
    qp_cli_warn(cli, "%s: %s", cli->path,
                a->include.n || a->exclude.n || a->root
                    ? "no file is left by --root, --include and --exclude"
                    : "no function with a source file is in it");
}

/* A file that was named is there and is what it is to be, else its name was a mistake. */
static bool has_adjustments(const qp_cli *cli)
{
    char error[QP_ERROR_BYTES];
    const char *path = cli->args.cover.adjustments;
    qp_adjust *a = path ? qp_adjust_new() : NULL;
    bool is_good = !path || (a && qp_adjust_read(a, path, error));
    if (path && !a)
        qp_cli_fail_memory(cli);
    else if (!is_good)
        qp_cli_fail(cli, "%s", error);
    qp_adjust_free(a);
    return is_good;
}

int qp_cover_open(qp_cli *cli, char *const *files, int n, qp_cover **cover)
{
    char error[QP_ERROR_BYTES];
    qp_cover_set *set;
    *cover = NULL;
    if (!has_adjustments(cli))
        return QP_EXIT_UNUSABLE;
    int status = qp_cover_read(cli, files, n, &set);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    remark_on_root(cli);
    qp_cover_options o = options_of(&cli->args);
    *cover = qp_cover_derive(set, &o, error);
    qp_cover_set_free(set);
    if (!*cover)
        return qp_cli_fail(cli, "%s", error);
    for (size_t i = 0; i < (*cover)->n_warnings; i++)
        qp_cli_warn(cli, "%s", (*cover)->warnings[i]);
    remark_on_nothing(cli, *cover);
    return status;
}

/* ---- the group ------------------------------------------------------------------------------- */

static const qp_command *const subs[] = {&qp_command_cover_report,  &qp_command_cover_annotate,
                                         &qp_command_cover_merge,   &qp_command_cover_diff,
                                         &qp_command_cover_check,   &qp_command_cover_context,
                                         &qp_command_cover_adjust,  &qp_command_cover_export,
                                         &qp_command_cover_summary, NULL};

const qp_command qp_command_cover = {
    .name = "cover",
    .operands = "COMMAND [options] [FILE...]",
    .summary = "which lines, branches and functions were reached, and by which tests",
    .about = "Says what of a program was executed and what was not. Record it with qprof run\n"
             "-collect=coverage -- PROGRAM, or beside a profile with -cover. Several FILEs\n"
             "add up.",
    .examples =
        "qprof cover report --uncovered          files, and the lines that were missed\n"
        "qprof cover annotate src/parse.lua      its source with counts\n"
        "qprof cover export --to=lcov -o lcov.info",
    .subs = subs};
