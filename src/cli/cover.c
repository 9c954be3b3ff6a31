/* cover.c: `qprof cover`: its commands, and from the files that one names to a picture of coverage. */
#include "cli/cover.h"

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

static int add_file(qp_cli *cli, const char *file, qp_cover_set *set)
{
    qp_model *m;
    int status = qp_cli_load(cli, file, &m);
    if (status != QP_EXIT_UNUSABLE && qp_cover_add(cli, m, set) == QP_EXIT_UNUSABLE)
        status = QP_EXIT_UNUSABLE;
    qp_model_free(m);
    return status;
}

int qp_cover_read(qp_cli *cli, char *const *files, int n, qp_cover_set **set)
{
    int status = QP_EXIT_CLEAN;
    *set = qp_cover_set_new();
    if (!*set)
        return qp_cli_fail_memory(cli);
    for (int i = 0; (i < n || i == 0) && status != QP_EXIT_UNUSABLE; i++) {
        int added = add_file(cli, n ? files[i] : NULL, *set);
        status = added > status ? added : status;
    }
    if (status == QP_EXIT_UNUSABLE) {
        qp_cover_set_free(*set);
        *set = NULL;
        return status;
    }
    if (!(*set)->is_coverage)
        qp_cli_warn(cli,
                    "recorded without -cover: functions that were never called are not in it");
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
