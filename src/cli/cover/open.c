/* open.c: from the profiles among the operands to the picture of coverage that a report shows. */
#include "cli/cover/cover.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/text/unit.h"

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

/* Print what is missing where runs recorded only what was executed. */
static void remark_on_plain(const qp_cli *cli, int n_plain, size_t n_runs)
{
    if (n_plain && (size_t)n_plain == n_runs)
        qp_cli_warn(cli,
                    "recorded without -cover: functions that were never called are missing");
    else if (n_plain)
        qp_cli_warn(
            cli,
            "%d of %zu profiles were recorded without -cover: their functions that were never "
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
                              .source_path = args->source_path,
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

/* Print why the picture is empty, if it is. */
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
