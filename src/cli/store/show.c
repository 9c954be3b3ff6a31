/* show.c: `qprof store top`, `tree`, `requests` and `export`: the sum of what is chosen, which the commands for profiles
 * show. */
#include "cli/show/show.h"
#include "base/text/unit.h"
#include "cli/store/store.h"

/* ---- the sum -------------------------------------------------------------------------------- */

static bool has_any(const qp_choice *c, qp_error *error)
{
    return c->n || qp_error_fail(error, "no profile of it fits (qprof store list shows them)");
}

qp_load_status qp_choice_sum(const qp_cli *cli, const qp_choice *c,
                             const qp_store_profile *profiles, size_t n, qp_model **out,
                             qp_error *error)
{
    size_t n_bytes;
    void *bytes = NULL;
    qp_load_status status = QP_LOAD_UNUSABLE;
    *out = NULL;
    qp_merge *sum = has_any(c, error)
                        ? qp_store_sum(c->store, profiles, n, cli->args.is_forced, error)
                        : NULL;
    if (sum && qp_merge_bytes(sum, true, &bytes, &n_bytes, error))
        status = qp_model_load_bytes(bytes, n_bytes, NULL, out, error);
    qp_merge_free(sum);
    qp_free(bytes);
    return status;
}

qp_load_status qp_choice_load(qp_cli *cli, const char *path, qp_model **out, qp_error *error)
{
    qp_choice c;
    (void)path;
    if (!qp_choice_open(&c, cli, QP_STORE_READ, error))
        return QP_LOAD_UNUSABLE;
    const qp_load_status status = qp_choice_sum(cli, &c, c.profiles, c.n, out, error);
    if (*out)
        (*out)->run.n_stored = c.n;
    qp_choice_close(&c);
    return status;
}

/* Show the sum as another command shows a profile. */
static int show_as(qp_cli *cli, const qp_command *like)
{
    static qp_command command;
    if (!qp_choice_is_usage(cli))
        return QP_EXIT_UNUSABLE;
    command = *cli->command;
    command.show = like->show;
    command.threads = like->threads;
    cli->command = &command;
    cli->load = qp_choice_load;
    return qp_cli_show(cli);
}

static int run_top(qp_cli *cli)
{
    return show_as(cli, &qp_command_report);
}

static int run_tree(qp_cli *cli)
{
    return show_as(cli, &qp_command_tree);
}

static int run_requests(qp_cli *cli)
{
    return show_as(cli, &qp_command_requests);
}

/* ---- a profile of its own ------------------------------------------------------------------- */

static int export_sum(qp_cli *cli, qp_choice *c)
{
    qp_error error;
    char runs[QP_NUMBER_BYTES];
    const char *output = cli->args.output;
    qp_merge *sum = has_any(c, &error)
                        ? qp_store_sum(c->store, c->profiles, c->n, cli->args.is_forced, &error)
                        : NULL;
    if (!sum)
        return qp_cli_fail(cli, "%s: %s", cli->path, error.text);
    int status = QP_EXIT_CLEAN;
    if (qp_merge_write(sum, output, &error)) {
        qp_screen_name(&cli->screen, output, 0);
        qp_out_format(cli->screen.out, ": %s\n", qp_unit_things(runs, c->n, "profile"));
    } else {
        status = qp_cli_fail(cli, "%s", error.text);
    }
    qp_merge_free(sum);
    return status;
}

static int run_export(qp_cli *cli)
{
    if (!cli->args.output)
        return qp_cli_fail(cli, "missing -o FILE; usage: qprof store export -o FILE STORE");
    if (!qp_choice_is_usage(cli) ||
        !qp_output_is_free(cli, cli->args.output, cli->args.operands[0], NULL))
        return QP_EXIT_UNUSABLE;
    return qp_choice_run(cli, QP_STORE_READ, export_sum);
}

/* ---- the commands --------------------------------------------------------------------------- */

const qp_command qp_command_store_top = {
    .name = "store top",
    .operands = "STORE",
    .summary = "the functions of all profiles that are chosen, with calls and times",
    .about =
        "Lists functions as `qprof report` does, of the sum of the profiles that are chosen: "
        "the same figures, to the unit, that `qprof merge` of their files gives. JSON is "
        "that of `qprof report`.",
    .flags =
        (const qp_flag[]){
            QP_STORE_FLAGS_CHOICE,
            QP_WORD("sort", 's', QP_SORT_WORDS QP_SORT_MEMORY QP_SORT_WORK, sort, "self",
                    "order of the rows"),
            QP_COUNT("limit", 'n', limit, NULL,
                     "maximum number of rows; 0: all (default 25; all as json or csv)"),
            QP_FLAG_METRIC, QP_FLAG_ENDPOINT, QP_FLAG_FILTER, QP_STORE_FLAG_FORCE, QP_FLAG_UNIT,
            QP_FLAG_FORMAT, QP_FLAGS_COMMON},
    .examples = "qprof store top fleet.db\n"
                "qprof store top --service=web --since=24h fleet.db\n"
                "qprof store top --label=region=eu --sort=total fleet.db",
    .run = run_top};

const qp_command qp_command_store_tree = {
    .name = "store tree",
    .operands = "STORE",
    .summary = "the call tree of all profiles that are chosen",
    .about = "Shows the call tree as `qprof tree` does, of the sum of the profiles that are "
             "chosen. JSON is that of `qprof tree`.",
    .flags =
        (const qp_flag[]){
            QP_STORE_FLAGS_CHOICE,
            QP_YES("hottest", 0, is_hottest, "hottest path alone"),
            {"min-percent", 'p', QP_FLAG_REAL, "P", QP_FLAG_AT(min_percent), "1",
             "least part of the time, in percent, that a branch has"},
            QP_COUNT("depth", 'd', depth, NULL, "maximum number of levels; 0: all"),
            QP_COUNT("limit", 'n', limit, NULL, "maximum number of rows; 0: all (default 400)"),
            QP_FLAG_METRIC,
            QP_FLAG_ENDPOINT,
            QP_STORE_FLAG_FORCE,
            QP_FLAG_UNIT,
            QP_FLAG_FORMAT,
            QP_FLAGS_COMMON},
    .examples = "qprof store tree --hottest fleet.db\n"
                "qprof store tree --version=1.4 --min-percent=5 fleet.db",
    .run = run_tree};

const qp_command qp_command_store_requests = {
    .name = "store requests",
    .operands = "STORE",
    .summary = "the requests of all profiles that are chosen, by endpoint",
    .about = "Lists endpoints as `qprof requests` does, of the sum of the profiles that are "
             "chosen; the slowest request is that of all of them. JSON is that of `qprof "
             "requests`. Profiles that an older qprof imported have no requests.",
    .flags =
        (const qp_flag[]){QP_STORE_FLAGS_CHOICE, QP_FLAG_SORT_REQUESTS, QP_STORE_FLAG_FORCE,
                          QP_FLAG_UNIT, QP_FLAG_FORMAT, QP_FLAGS_COMMON},
    .examples = "qprof store requests --service=web --since=24h fleet.db\n"
                "qprof store requests --sort=slowest fleet.db",
    .run = run_requests};

const qp_command qp_command_store_export = {
    .name = "store export",
    .operands = "-o FILE STORE",
    .summary = "the sum of the profiles that are chosen, as a profile",
    .about =
        "Writes the profile that `qprof merge` of the chosen profiles' files would write, for "
        "all other commands.",
    .flags = (const qp_flag[]){QP_STORE_FLAGS_CHOICE,
                               QP_TEXT("output", 'o', "FILE", output, "profile to write"),
                               QP_FLAG_FORCE, QP_STORE_FLAG_FORCE, QP_FLAGS_COMMON},
    .examples = "qprof store export --since=7d -o week.qprof fleet.db && qprof html week.qprof",
    .run = run_export,
    .writes_profile = true};
