/* merge.c: `qprof cover merge`: one profile of several. */
#include "base/text/unit.h"
#include "cli/cover/cover.h"

static void print_merged(const qp_cli *cli, const qp_cover_set *set)
{
    const qp_screen *s = &cli->screen;
    char runs[QP_NUMBER_BYTES], functions[QP_NUMBER_BYTES], contexts[QP_NUMBER_BYTES];
    qp_screen_name(s, cli->args.output, 0);
    qp_out_format(s->out, ": %s, %s", qp_unit_things(runs, set->n_runs, "run"),
                  qp_unit_things(functions, set->n_methods, "function"));
    if (set->n_contexts)
        qp_out_format(s->out, ", %s", qp_unit_things(contexts, set->n_contexts, "context"));
    qp_out_char(s->out, '\n');
    for (size_t i = 0; i < set->n_runs; i++) {
        qp_out_text(s->out, "  ");
        qp_screen_name(s, set->runs[i].what, 0);
        qp_out_char(s->out, '\n');
    }
}

static int run_merge(qp_cli *cli)
{
    qp_error error;
    qp_cover_set *set;
    if (!cli->args.output)
        return qp_cli_fail(cli, "missing -o FILE; usage: qprof cover merge -o OUT FILE...");
    if (!cli->args.n_operands)
        return qp_cli_fail(cli, "missing profiles; usage: qprof cover merge -o OUT FILE...");
    int status = qp_cover_read(cli, cli->args.operands, cli->args.n_operands, &set);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    for (size_t i = 0; i < set->n_warnings; i++)
        qp_cli_warn(cli, "%s", set->warnings[i]);
    if (qp_cover_set_write(set, cli->args.output, &error))
        print_merged(cli, set);
    else
        status = qp_cli_fail(cli, "%s", error.text);
    qp_cover_set_free(set);
    return status;
}

const qp_command qp_command_cover_merge = {
    .name = "cover merge",
    .operands = "-o OUT FILE...",
    .summary = "sum of several profiles, as one profile",
    .about = "Adds up the counts of profiles of one program. Functions are matched by name,\n"
             "file and lines. Profiles of different versions of a source are refused without\n"
             "--force-merge. The other commands of qprof cover also take several FILEs.",
    .flags =
        (const qp_flag[]){
            {"output", 'o', QP_FLAG_TEXT, "FILE", QP_FLAG_AT(output), NULL, "profile to write"},
            QP_FLAG_FORCE,
            QP_COVER_FLAG_FORCE_MERGE,
            QP_FLAG_MAX_MEMORY,
            {"layered", 0, QP_FLAG_YES, NULL, QP_COVER_AT(is_layered), NULL,
             "one context for each run: hits without a context get one named after the run"},
            QP_FLAGS_COMMON},
    .examples = "qprof cover merge -o all.qprof unit.qprof system.qprof\n"
                "qprof cover merge --layered -o all.qprof test-*.qprof\n"
                "qprof cover context all.qprof               then: hits of each run",
    .run = run_merge,
    .writes_profile = true};
