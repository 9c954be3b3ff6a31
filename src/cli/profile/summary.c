/* summary.c: `qprof summary`: up to five sentences about a run, each with the command that shows its figure. */
#include "cli/show/show.h"

static const qp_field document_fields[] = {{"findings", NULL,
                                            "what weighs most in the run, the most first",
                                            QP_FIELD_ROWS, .rows = &qp_finding_rows},
                                           {.key = NULL}};

static bool print_text(const qp_cli *cli, const void *data)
{
    const qp_finding_list *list = data;
    qp_findings_print(&cli->screen, list);
    if (!list->n)
        qp_out_text(cli->screen.out, "  Nothing that was measured reaches 1 % of the run.\n");
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
    static qp_finding_list list;
    char path[sizeof cli->path];
    qp_model *since = NULL;
    int status = QP_EXIT_CLEAN;
    qp_text_format(path, sizeof path, "%s", cli->path);
    if (cli->args.earlier)
        status = qp_cli_load(cli, cli->args.earlier, &since);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    qp_findings_find(s->m, path, since, cli->args.earlier, &list);
    int printed = qp_output_print(cli, &forms, &list);
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
        "since an earlier run. What is below 1 % of the run, or below its own interval, is "
        "left out.",
    .flags =
        (const qp_flag[]){QP_FLAG_SINCE, QP_FLAG_MAX_MEMORY, QP_FLAG_FORMAT, QP_FLAGS_COMMON},
    .examples = "qprof summary                     the newest profile here\n"
                "qprof summary --since=before.qprof after.qprof\n"
                "qprof summary --format=json run.qprof | jq -r '.findings[].command'",
    .schemas = (const qp_schema[]){{"summary", document_fields}, {.name = NULL}},
    .run = qp_cli_show,
    .show = show};
