/* trace_profile.c: `qprof trace profile`: the profile of what a trace has recorded. */
#include "replay/profile.h"

#include "base/unit.h"
#include "cli/trace.h"

static int run_profile(qp_cli *cli)
{
    qp_trace_view view;
    qp_span_counts counts;
    char error[QP_ERROR_BYTES], calls[QP_NUMBER_BYTES];
    int status;
    if (!cli->args.output)
        return qp_cli_fail(cli, "where to? usage: qprof trace profile -o FILE TRACE [PROFILE]");
    if (!qp_trace_view_open(&view, cli, NULL))
        return QP_EXIT_UNUSABLE;
    bool is_written = qp_trace_profile(view.trace, &view.window, cli->args.output,
                                       &view.progress, &counts, error);
    qp_bar_end(&view.bar);
    if (is_written) {
        status = qp_trace_view_remark(&view, &counts);
        qp_screen_name(&cli->screen, cli->args.output, 0);
        qp_out_format(cli->screen.out, ": %s\n", qp_unit_things(calls, counts.n_calls, "call"));
    } else {
        status = qp_cli_fail(cli, "%s", error);
    }
    qp_trace_view_close(&view);
    return status;
}

static const qp_flag flags[] = {
    {"output", 'o', QP_FLAG_TEXT, "FILE", QP_FLAG_AT(output), NULL, "where the profile goes"},
    QP_TRACE_FLAGS_WINDOW,
    QP_FLAGS_COMMON};

const qp_command qp_command_trace_profile = {
    .name = "trace profile",
    .operands = "-o FILE TRACE [PROFILE]",
    .writes_profile = true,
    .summary = "a trace, or a part of it, as a profile",
    .about =
        "Makes a profile of a trace, for all reports, exports and pages. Of a whole trace its\n"
        "figures are those that recording the same run in exact mode gives, but that calls\n"
        "which only their caller announces are calls of their own; of a part of the run, what\n"
        "happened in it.",
    .flags = flags,
    .examples = "qprof trace profile -o run.qprof run.qtrace && qprof report run.qprof\n"
                "qprof trace profile --since=2s --until=3s -o third.qprof run.qtrace",
    .run = run_profile};
