/* summary.c: `qprof summary`: up to five sentences about a run, each with the command that shows its figure. */
#include "cli/show/show.h"

static const qp_field document_fields[] = {{"findings", NULL,
                                            "what weighs most in the run, the most first",
                                            QP_FIELD_ROWS, .rows = &qp_finding_rows},
                                           {.key = NULL}};

typedef struct {
    qp_finding_list list; /* first: the rows are of a list */
    const qp_run_info *run;
    bool has_since;
} document;

/* Why there is no sentence. */
static const char *why_nothing(const document *d)
{
    const qp_run_info *run = d->run;
    if (run->is_stack_only)
        return "Samples alone were recorded: qprof list shows them";
    if (run->is_coverage && !run->is_profile)
        return "Coverage alone was recorded: qprof cover summary shows it";
    if (run->has_calls && !run->calls)
        return "No call was recorded";
    if (run->has_times)
        return "Nothing that was measured reaches 1 % of the run";
    if (!run->has_calls)
        return "Neither times nor calls were recorded";
    return d->has_since ? "No times were recorded, and the calls of no function changed by 10 %"
                        : "No times were recorded; --since=FILE compares the calls with those "
                          "of an earlier run";
}

static bool print_text(const qp_cli *cli, const void *data)
{
    const document *d = data;
    qp_findings_print(&cli->screen, &d->list);
    if (!d->list.n)
        qp_out_format(cli->screen.out, "  %s.\n", why_nothing(d));
    return true;
}

static void write_csv(qp_cli *cli, const void *data)
{
    qp_rows_csv(&cli->out, &qp_finding_rows, data, "percent figure text command", QP_FIELDS_ALL,
                "");
}

static int show(qp_cli *cli, const qp_subject *s)
{
    static const qp_forms forms = {print_text, document_fields, write_csv};
    static document d;
    char path[sizeof cli->path];
    qp_model *since = NULL;
    int status = QP_EXIT_CLEAN;
    qp_text_format(path, sizeof path, "%s", cli->path);
    if (cli->args.earlier)
        status = qp_cli_load(cli, cli->args.earlier, &since);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    d.run = &s->m->run;
    d.has_since = since != NULL;
    qp_findings_find(s->m, path, since, cli->args.earlier, &d.list);
    int printed = qp_output_print(cli, &forms, &d);
    qp_model_free(since);
    return printed > status ? printed : status;
}

const qp_command qp_command_summary = {
    .name = "summary",
    .operands = "[FILE]",
    .summary = "what weighs most in a run, in up to five sentences",
    .about =
        "Says what weighs most in a run, in up to five sentences, each with a figure and the "
        "command that shows it: waiting, garbage collection, functions, the cost of "
        "recording, calls that were lost. With --since also which function's calls changed "
        "since an earlier run, also without times. What is below 1 % of the run, or below its "
        "own interval, is left out.",
    .flags =
        (const qp_flag[]){QP_FLAG_SINCE, QP_FLAG_MAX_MEMORY, QP_FLAG_FORMAT, QP_FLAGS_COMMON},
    .examples = "qprof summary                     the newest profile here\n"
                "qprof summary --since=before.qprof after.qprof\n"
                "qprof summary --format=json run.qprof | jq -r '.findings[].command'",
    .schemas = (const qp_schema[]){{"summary", document_fields}, {.name = NULL}},
    .run = qp_cli_show,
    .show = show};
