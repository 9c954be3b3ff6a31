/* export.c: `qprof trace export`: writes a trace as a timeline in the format of another tool. */
#include "export/export.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/core/cli.h"
#include "cli/trace/trace.h"

#define WORDS "chrome|perfetto|firefox"
static const qp_trace_exporter *const exporters[] = {
    &qp_trace_export_chrome, &qp_trace_export_perfetto, &qp_trace_export_firefox};

typedef struct {
    qp_trace_export x;
    const qp_trace_exporter *exporter;
} export;

static qp_span_sink choose(void *view, const qp_span_sink *inner)
{
    return qp_trace_view_sink(view, inner);
}

static bool write_all(const void *data, qp_out *out, qp_error *error)
{
    export *e = *(export *const *)data;
    if (qp_trace_export_write(e->exporter, &e->x, out))
        return true;
    return qp_error_fail(error, "not enough memory");
}

static int run_export(qp_cli *cli)
{
    qp_trace_view view;
    int which = qp_output_format(cli, WORDS);
    if (which < 0)
        return QP_EXIT_UNUSABLE;
    const char *path = cli->args.output;
    if (exporters[which]->is_binary && !path && isatty(STDOUT_FILENO))
        return qp_cli_fail(cli, "--to=%s is binary and not for a terminal (use -o FILE)",
                           exporters[which]->name);
    if (!qp_trace_view_open(&view, cli, NULL))
        return QP_EXIT_UNUSABLE;
    export e = {{.trace = view.trace,
                 .window = &view.window,
                 .progress = &view.progress,
                 .choose = choose,
                 .to = &view},
                exporters[which]},
           *data = &e;
    int status = qp_output_write(cli, path, write_all, &data);
    qp_bar_end(&view.bar);
    if (status == QP_EXIT_CLEAN)
        status = qp_trace_view_report(&view, &e.x.counts);
    qp_trace_view_close(&view);
    return status;
}

static const qp_flag flags[] = {{"to", 0, QP_FLAG_TEXT, WORDS, QP_FLAG_AT(to), NULL, "format"},
                                {"output", 'o', QP_FLAG_TEXT, "FILE", QP_FLAG_AT(output), NULL,
                                 "file to write; default: standard output"},
                                QP_FLAG_THREAD,
                                QP_TRACE_FLAGS_WINDOW,
                                QP_FLAGS_COMMON};

const qp_command qp_command_trace_export = {
    .name = "trace export",
    .operands = "--to=FORMAT -o FILE TRACE [PROFILE]",
    .summary = "a timeline for Perfetto, Chrome, speedscope or Firefox",
    .about =
        "Writes every call with its real times. chrome: trace events, for Perfetto, Chrome's\n"
        "developer tools and speedscope; perfetto: ui.perfetto.dev; firefox: a processed\n"
        "profile for profiler.firefox.com. Each thread, virtual or not, has a track; markers\n"
        "are instants and counters have tracks of their own, except in firefox, which has\n"
        "calls only. Export a window of a long trace: viewers hold all of it in memory.",
    .flags = flags,
    .examples =
        "qprof trace export --to=perfetto -o run.pftrace run.qtrace\n"
        "qprof trace export --to=chrome --since=1s --until=1.1s -o part.json run.qtrace",
    .run = run_export};
