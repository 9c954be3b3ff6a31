/* collapse.c: from the pattern of --when and the globs of --hide and --hide-module to a collapsed model. */
#include "cli/show/show.h"

#include <stdio.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/glob.h"
#include "model/figures/figures.h"

static bool fits_name(const char *glob, const qp_model_method *method)
{
    return qp_glob_fits_name(glob, method->name);
}

/* A module is named by the host or by a pattern; a file is one as well, by its path or its name. */
static bool fits_module(const char *glob, const qp_model_method *method)
{
    char name[QP_ERROR_BYTES];
    size_t n;
    const char *base = strrchr(method->file, '/'),
               *part = qp_attribution_module(method->class_name, method->file, &n);
    snprintf(name, sizeof name, "%.*s", (int)n, part);
    return qp_glob_fits_name(glob, method->module) || qp_glob_fits_name(glob, name) ||
           (*method->file && (qp_glob_fits_path(glob, method->file) ||
                              (base && qp_glob_fits_name(glob, base + 1))));
}

static bool fits_endpoint(const char *glob, const qp_model_method *method)
{
    return (method->flags & QP_METHOD_ENDPOINT) &&
           (strcmp(glob, method->name) == 0 || qp_glob_fits_name(glob, method->name));
}

static void mark(const qp_cli *cli, const qp_model *m, const char *flag, const qp_list *globs,
                 bool (*fits)(const char *glob, const qp_model_method *method), bool *is_hidden)
{
    for (size_t g = 0; g < globs->n; g++) {
        size_t n_found = 0;
        for (uint32_t i = 1; i < m->n_methods; i++) {
            bool is_found = fits(globs->items[g], &m->methods[i]);
            is_hidden[i] |= is_found;
            n_found += is_found;
        }
        const bool is_endpoint = globs == &cli->args.fold.endpoints;
        if (!n_found && !(is_endpoint && cli->args.fold.may_lack_endpoint))
            qp_cli_warn(cli, "%s: --%s=%s matches no %s", cli->path, flag, globs->items[g],
                        is_endpoint ? "endpoint; qprof requests lists them" : "function");
    }
}

/* ---- patterns -------------------------------------------------------------------------------- */

int qp_collapse_refuse_pattern(const qp_cli *cli, const char *pattern, const qp_error *error)
{
    qp_cli_fail(cli, "%s: column %u: %s", cli->args.fold.when ? "--when" : cli->path,
                error->column, error->text);
    qp_cli_point(pattern, error->column);
    return QP_EXIT_UNUSABLE;
}

void qp_collapse_remark(const qp_cli *cli, const qp_attributions *c)
{
    if (*c->unknown)
        qp_cli_warn(
            cli,
            "%s: no module or procedure %s; patterns name MODULE or MODULE.PROCEDURE, as "
            "qprof list does",
            cli->path, c->unknown);
}

/* @return false: a message was printed */
static bool charge(const qp_cli *cli, qp_model **m)
{
    const char *when = cli->args.fold.when;
    qp_error error;
    qp_attributions c;
    if (!when)
        return true;
    qp_attribution_status status = qp_attributions_init(&c, *m, when, false, &error);
    if (status == QP_ATTRIBUTION_OK)
        qp_collapse_remark(cli, &c);
    if (status == QP_ATTRIBUTION_OK &&
        !qp_model_collapse(m, &(qp_collapse){.charged = c.nodes, .when = when}))
        status = QP_ATTRIBUTION_NO_MEMORY;
    qp_attributions_fini(&c);
    if (status == QP_ATTRIBUTION_SYNTAX)
        qp_collapse_refuse_pattern(cli, when, &error);
    else if (status == QP_ATTRIBUTION_NO_MEMORY)
        qp_cli_fail_memory(cli);
    return status == QP_ATTRIBUTION_OK;
}

/* ---- hiding ---------------------------------------------------------------------------------- */

/* @return false: a message was printed */
static bool collapse(const qp_cli *cli, qp_model **m)
{
    const qp_collapse_args *args = &cli->args.fold;
    uint32_t focus = 0;
    if (!args->focus && !args->hide.n && !args->hide_modules.n && !args->joins_recursion)
        return true;
    if (args->focus && !qp_method_find(cli, *m, args->focus, &focus))
        return false;
    bool *is_hidden = qp_alloc_zeroed((*m)->n_methods, sizeof *is_hidden);
    if (is_hidden) {
        mark(cli, *m, "hide", &args->hide, fits_name, is_hidden);
        mark(cli, *m, "hide-module", &args->hide_modules, fits_module, is_hidden);
    }
    bool is_good =
        is_hidden &&
        qp_model_collapse(m, &(qp_collapse){.is_hidden = is_hidden,
                                            .focus = focus,
                                            .joins_recursion = args->joins_recursion,
                                            .follows_creators = args->follows_creators});
    if (!is_good)
        qp_cli_fail_memory(cli);
    qp_free(is_hidden);
    return is_good;
}

/* Keep what the endpoints called. @return false: a message was printed */
static bool keep_endpoints(qp_cli *cli, qp_model **m)
{
    const qp_list *globs = &cli->args.fold.endpoints;
    bool *is_focus = globs->n ? qp_alloc_zeroed((*m)->n_methods, sizeof *is_focus) : NULL,
         has_any;
    if (!globs->n)
        return true;
    if (is_focus)
        mark(cli, *m, "endpoint", globs, fits_endpoint, is_focus);
    has_any = is_focus && memchr(is_focus, true, (*m)->n_methods);
    const qp_collapse how = {.is_focus = is_focus, .name = globs->items[0]};
    const bool is_wanted = is_focus && (has_any || cli->args.fold.may_lack_endpoint);
    bool is_good = is_wanted && qp_model_collapse(m, &how);
    if (!is_focus || (is_wanted && !is_good))
        qp_cli_fail_memory(cli);
    cli->args.fold.has_endpoint |= has_any;
    qp_free(is_focus);
    return is_good;
}

/* After the others: they choose of which calls the collector's share is. @return false: a message was
 * printed */
static bool charge_collector(const qp_cli *cli, qp_model **m)
{
    if (cli->args.fold.gc == QP_GC_CALLER && !qp_model_charge_collector(m)) {
        qp_cli_fail_memory(cli);
        return false;
    }
    return true;
}

/* Refuse flags of call paths for a profile that has only coverage. @return false: a message was printed */
static bool can_collapse(const qp_cli *cli, const qp_model *m)
{
    const qp_collapse_args *args = &cli->args.fold;
    const char *flag = args->when             ? "when"
                       : args->endpoints.n    ? "endpoint"
                       : args->focus          ? "focus"
                       : args->hide.n         ? "hide"
                       : args->hide_modules.n ? "hide-module"
                       : args->gc             ? "gc"
                                              : NULL;
    if (m->run.is_profile || !flag)
        return true;
    return qp_cli_refuse(cli, "%s: it has only coverage; --%s needs call paths", cli->path,
                         flag);
}

/* @return false: a message was printed */
static bool join(const qp_cli *cli, qp_model **m)
{
    const qp_args *a = &cli->args;
    const bool is_text = a->format == QP_FORMAT_TEXT;
    const bool is_joined = a->fold.joins_threads || a->fold.endpoints.n ||
                           cli->command->threads == QP_THREADS_JOINED ||
                           (cli->command->threads == QP_THREADS_JOINED_IN_TEXT && is_text);
    if (!is_joined || a->thread || a->has_threads || qp_model_join_threads(m))
        return true;
    qp_cli_fail_memory(cli);
    return false;
}

bool qp_collapse_has_endpoint(const qp_cli *cli)
{
    return !cli->args.fold.endpoints.n || cli->args.fold.has_endpoint ||
           qp_cli_refuse(
               cli, "--endpoint=%s matches no endpoint of any run; qprof requests lists them",
               cli->args.fold.endpoints.items[0]);
}

bool qp_collapse_apply(qp_cli *cli, qp_model **m)
{
    return can_collapse(cli, *m) && join(cli, m) && keep_endpoints(cli, m) && charge(cli, m) &&
           collapse(cli, m) && charge_collector(cli, m);
}

int qp_cli_load_collapsed(qp_cli *cli, const char *file, qp_model **m)
{
    int status = qp_cli_load(cli, file, m);
    if (status == QP_EXIT_UNUSABLE || qp_collapse_apply(cli, m))
        return status;
    qp_model_free(*m);
    *m = NULL;
    return QP_EXIT_UNUSABLE;
}

int qp_cli_show(qp_cli *cli)
{
    const char *file;
    qp_model *m;
    qp_subject s = {.name = NULL};
    if (!qp_cli_operands(cli, cli->command->takes_name ? &s.name : NULL, &file))
        return QP_EXIT_UNUSABLE;
    int status = qp_cli_load_collapsed(cli, file, &m);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    s.m = m;
    int shown =
        qp_cli_thread(cli, m, &s.thread) ? cli->command->show(cli, &s) : QP_EXIT_UNUSABLE;
    qp_model_free(m);
    return shown > status ? shown : status;
}
