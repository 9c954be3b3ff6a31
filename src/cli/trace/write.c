/* write.c: `qprof trace profile`, `trace export` and `trace convert`: a trace as a file of another kind. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os/file.h"
#include "base/text/unit.h"
#include "cli/core/cli.h"
#include "cli/trace/trace.h"
#include "export/export.h"
#include "replay/calls/calls.h"
#include "replay/read/trace.h"
#include "replay/write/write.h"

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

const qp_command qp_command_trace_profile = {
    .name = "trace profile",
    .operands = "-o FILE TRACE [PROFILE]",
    .summary = "a trace, or a part of it, as a profile",
    .about = "Makes a profile of a trace, for all reports, exports and pages. The figures of a "
             "whole trace equal those of exact mode for the same run, except that calls which "
             "only their caller announces are calls of their own; those of a window cover what "
             "happened in it.",
    .flags = (const qp_flag[]){QP_TEXT("output", 'o', "FILE", output, "profile to write"),
                               QP_FLAG_FORCE, QP_TRACE_FLAGS_WINDOW, QP_FLAGS_COMMON},
    .examples = "qprof trace profile -o run.qprof run.qtrace && qprof report run.qprof\n"
                "qprof trace profile --since=2s --until=3s -o third.qprof run.qtrace",
    .run = run_profile,
    .writes_profile = true};

#define WORDS "chrome|perfetto|firefox"

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
    if (qp_trace_exporters[which].is_binary && !path && isatty(STDOUT_FILENO))
        return qp_cli_fail(cli, "--to=%s is binary and not for a terminal (use -o FILE)",
                           qp_trace_exporters[which].name);
    if (!qp_trace_view_open(&view, cli, NULL))
        return QP_EXIT_UNUSABLE;
    export e = {{.trace = view.trace,
                 .window = &view.window,
                 .progress = &view.progress,
                 .choose = choose,
                 .to = &view},
                &qp_trace_exporters[which]},
           *data = &e;
    int status = qp_output_write(cli, path, write_all, &data);
    qp_bar_end(&view.bar);
    if (status == QP_EXIT_CLEAN)
        status = qp_trace_view_report(&view, &e.x.counts);
    qp_trace_view_close(&view);
    return status;
}

static const qp_flag flags_of_export[] = {
    QP_TEXT("to", 0, WORDS, to, "format"),
    QP_TEXT("output", 'o', "FILE", output, "file to write; default: standard output"),
    QP_FLAG_FORCE,
    QP_FLAG_THREAD,
    QP_TRACE_FLAGS_WINDOW,
    QP_FLAGS_COMMON};

const qp_command qp_command_trace_export = {
    .name = "trace export",
    .operands = "--to=FORMAT -o FILE TRACE [PROFILE]",
    .summary = "a timeline for Perfetto, Chrome, speedscope or Firefox",
    .about =
        "Writes every call with its real times. chrome: trace events, for Perfetto, Chrome's "
        "developer tools and speedscope; perfetto: ui.perfetto.dev; firefox: a processed "
        "profile for profiler.firefox.com. Each thread, virtual or not, has a track; markers "
        "are instants and counters have tracks of their own, except in firefox, which has "
        "calls only. Export a window of a long trace: viewers hold all of it in memory.",
    .flags = flags_of_export,
    .examples =
        "qprof trace export --to=perfetto -o run.pftrace run.qtrace\n"
        "qprof trace export --to=chrome --since=1s --until=1.1s -o part.json run.qtrace",
    .run = run_export};

#define FORMS "qtrace|qtrace.zst|dbf|delimited|csv"
typedef enum { TO_QTRACE, TO_ZSTD, TO_DBF, TO_DELIMITED, TO_CSV } form;

typedef struct {
    qp_trace_view *view;
    form to;
    qp_span_counts counts;
    qp_qtrace_omitted omitted;
} conversion;

/* ---- .qtrace, CSV ---------------------------------------------------------------------------- */

static bool fail_memory(qp_error *error)
{
    return qp_error_fail(error, "not enough memory");
}

/* Pack the whole trace, from a temporary file without a name. */
static bool write_packed(conversion *c, qp_out *out, qp_error *error)
{
    static qp_out plain; /* 64 KiB: not on the stack */
    const char *why = "";
    int fd = qp_file_temporary(&why);
    bool is_good = fd >= 0;
    if (is_good) {
        qp_out_init(&plain, fd);
        why = "not enough memory";
        is_good = qp_qtrace_write(c->view->trace, &plain, &c->view->progress, &c->counts,
                                  &c->omitted);
        if (is_good && qp_out_close(&plain) != 0) {
            why = "no space in /var/tmp for the temporary file";
            is_good = false;
        }
        is_good = is_good && qp_zstd(fd, out, &why);
        close(fd);
    }
    if (!is_good)
        qp_error_fail(error, "%s", why);
    return is_good;
}

static bool write_one(const void *data, qp_out *out, qp_error *error)
{
    conversion *c = *(conversion *const *)data;
    if (c->to == TO_ZSTD)
        return write_packed(c, out, error);
    bool is_good = c->to == TO_CSV ? qp_trace_write_csv(c->view, out, &c->counts)
                                   : qp_qtrace_write(c->view->trace, out, &c->view->progress,
                                                     &c->counts, &c->omitted);
    return is_good || fail_memory(error);
}

/* ---- Xbase++ --------------------------------------------------------------------------------- */

static int write_table(qp_cli *cli, conversion *c)
{
    qp_error error;
    const char *path = cli->args.output;
    if (qp_output_is_standard(path))
        return qp_cli_fail(cli, "a table cannot be written to standard output (use -o FILE)");
    if (c->to == TO_DBF && !qp_trace_memo_is_free(cli, c->view->paths[0]))
        return QP_EXIT_UNUSABLE;
    return qp_trace_write_table(c->view->trace, path, c->to == TO_DELIMITED, &c->view->progress,
                                &c->counts, &error)
               ? QP_EXIT_CLEAN
               : qp_cli_fail(cli, "%s", error.text);
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), n_end = strlen(end);
    return n > n_end && strcasecmp(text + n - n_end, end) == 0;
}

/* The form of --to or, without it, of the file's suffix. @return -1: a message was printed */
static int form_of(const qp_cli *cli)
{
    static const char *const ends[] = {".qtrace", ".qtrace.zst", ".prf", ".txt", ".csv"};
    const char *path = cli->args.output;
    for (int i = 0; i <= TO_CSV && path && !cli->args.to; i++)
        if (ends_with(path, ends[i]))
            return i;
    return qp_output_format(cli, FORMS);
}

/* The figures are the same, but a .qtrace file does not hold all of a table. */
static void report_omitted(const conversion *c)
{
    const qp_qtrace_omitted *o = &c->omitted;
    char lines[QP_NUMBER_BYTES], values[QP_NUMBER_BYTES];
    if (o->n_lines || o->n_values)
        qp_cli_warn(c->view->cli,
                    "%s: lines (of %s) and parameters (of %s) left out: .qtrace has calls and "
                    "times; --to=csv keeps them",
                    c->view->paths[0], qp_unit_things(lines, o->n_lines, "record"),
                    qp_unit_things(values, o->n_values, "record"));
}

static int run_convert(qp_cli *cli)
{
    qp_trace_view view;
    int to = form_of(cli);
    if (to < 0)
        return QP_EXIT_UNUSABLE;
    if (!qp_trace_view_open(&view, cli, NULL))
        return QP_EXIT_UNUSABLE;
    conversion c = {.view = &view, .to = (form)to}, *data = &c;
    int status = to == TO_DBF || to == TO_DELIMITED
                     ? write_table(cli, &c)
                     : qp_output_write(cli, cli->args.output, write_one, &data);
    qp_bar_end(&view.bar);
    if (status == QP_EXIT_CLEAN) {
        status = qp_trace_view_report(&view, &c.counts);
        report_omitted(&c);
        if (!qp_output_is_standard(cli->args.output))
            qp_trace_print_written(cli, c.counts.n_records, "record");
    }
    qp_trace_view_close(&view);
    return status;
}

static const qp_flag flags_of_convert[] = {
    QP_TEXT("to", 0, FORMS, to, "form of the file; default: by the suffix of its name"),
    QP_TEXT("output", 'o', "FILE", output,
            "file to write; default: standard output, except for tables"),
    QP_FLAG_FORCE, QP_FLAGS_COMMON};

const qp_command qp_command_trace_convert = {
    .name = "trace convert",
    .operands = "--to=FORM -o FILE TRACE [PROFILE]",
    .summary = "a trace in another form: packed, as a table, as text",
    .about =
        "Writes a trace as .qtrace or, packed by zstd, .qtrace.zst; as a table of the Xbase++ "
        "profiler (dbf: NAME.PRF, with parameters in NAME.PRV), or its delimited text; as CSV "
        "with the columns of trace dump. Tables have times in milliseconds and no rows for "
        "calls that did not return. A .qtrace file made of a table has its calls and times; "
        "lines and parameters are left out and reported with their count.",
    .flags = flags_of_convert,
    .examples = "qprof trace convert -o run.qtrace.zst run.qtrace\n"
                "qprof trace convert --to=dbf -o RUN.PRF run.qtrace\n"
                "qprof trace convert -o flight.qtrace run.qprof    the rings of a profile",
    .run = run_convert};
