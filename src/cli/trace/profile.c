/* profile.c: `qprof trace profile`: makes a profile of a trace. */
#include "replay/calls/calls.h"

#include "cli/trace/trace.h"

static int run_profile(qp_cli *cli)
{
    qp_trace_view view;
    qp_span_counts counts;
    qp_error error;
    int status;
    if (!cli->args.output)
        return qp_cli_fail(
            cli, "missing -o FILE; usage: qprof trace profile -o FILE TRACE [PROFILE]");
    if (!qp_trace_view_open(&view, cli, NULL))
        return QP_EXIT_UNUSABLE;
    bool is_written = qp_trace_profile(view.trace, &view.window, cli->args.output,
                                       &view.progress, &counts, &error);
    qp_bar_end(&view.bar);
    if (is_written) {
        status = qp_trace_view_report(&view, &counts);
        qp_trace_print_written(cli, counts.n_calls, "call");
    } else {
        status = qp_cli_fail(cli, "%s", error.text);
    }
    qp_trace_view_close(&view);
    return status;
}

static const qp_flag flags[] = {
    {"output", 'o', QP_FLAG_TEXT, "FILE", QP_FLAG_AT(output), NULL, "profile to write"},
    QP_TRACE_FLAGS_WINDOW,
    QP_FLAGS_COMMON};

const qp_command qp_command_trace_profile = {
    .name = "trace profile",
    .operands = "-o FILE TRACE [PROFILE]",
    .writes_profile = true,
    .summary = "a trace, or a part of it, as a profile",
    .about =
        "Makes a profile of a trace, for all reports, exports and pages. The figures of a "
        "whole\n"
        "trace equal those of exact mode for the same run, except that calls which only their\n"
        "caller announces are calls of their own; those of a window cover what happened in it.",
    .flags = flags,
    .examples = "qprof trace profile -o run.qprof run.qtrace && qprof report run.qprof\n"
                "qprof trace profile --since=2s --until=3s -o third.qprof run.qtrace",
    .run = run_profile};
