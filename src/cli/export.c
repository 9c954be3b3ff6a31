/* export.c: `qprof export`: a profile in the format of another tool. */
#include "export/profile.h"

#include <stdio.h>
#include <string.h>

#include "base/new_file.h"
#include "cli/fold.h"

/* Written to a file it is there whole or not at all. */
static int write_file(const qp_cli *cli, const qp_exporter *x, const qp_model *m,
                      const qp_export_options *o)
{
    static qp_new_file file; /* 72 KiB: not on the stack */
    char error[QP_ERROR_BYTES];
    const char *path = cli->args.output, *why;
    if (!qp_new_file_begin(&file, path, &why))
        return qp_cli_fail(cli, "%s: %s", path, why);
    if (!x->write(m, &file.out, o, error)) {
        qp_new_file_drop(&file);
        return qp_cli_fail(cli, "%s: %s", path, error);
    }
    return qp_new_file_end(&file, &why) ? QP_EXIT_CLEAN : qp_cli_fail(cli, "%s: %s", path, why);
}

static int write_screen(qp_cli *cli, const qp_exporter *x, const qp_model *m,
                        const qp_export_options *o)
{
    char error[QP_ERROR_BYTES];
    if (x->is_binary && cli->screen.is_terminal)
        return qp_cli_fail(cli, "%s is nothing to read on a terminal; -o FILE%s names a file",
                           x->name, x->suffix);
    return x->write(m, &cli->out, o, error) ? QP_EXIT_CLEAN : qp_cli_fail(cli, "%s", error);
}

/* The exporter of --to. @return NULL: a message was printed */
static const qp_exporter *choose(const qp_cli *cli)
{
    char words[256] = "";
    const char *found, *name = cli->args.to;
    for (const qp_exporter *const *x = qp_exporters; *x; x++)
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", *words ? "|" : "",
                 (*x)->name);
    const qp_exporter *x = name ? qp_exporter_named(name) : NULL;
    size_t n = name ? qp_args_nearest(words, name, &found) : 0;
    if (!name)
        qp_cli_fail(cli, "to which format? --to=%s", words);
    else if (!x && n)
        qp_cli_fail(cli, "no format %s; did you mean --to=%.*s?", name, (int)n, found);
    else if (!x)
        qp_cli_fail(cli, "no format %s; expected %s", name, words);
    return x;
}

static int run_export(qp_cli *cli)
{
    const char *file;
    qp_model *m;
    const qp_exporter *x = choose(cli);
    if (!x || !qp_cli_operands(cli, NULL, &file))
        return QP_EXIT_UNUSABLE;
    int status = qp_cli_load_folded(cli, file, &m);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    qp_export_options o = {.is_calls = cli->args.is_calls};
    int written = !qp_cli_thread(cli, m, &o.thread) ? QP_EXIT_UNUSABLE
                  : cli->args.output                ? write_file(cli, x, m, &o)
                                                    : write_screen(cli, x, m, &o);
    qp_model_free(m);
    return written == QP_EXIT_CLEAN ? status : written;
}

/* What each format is for, and what it cannot say. */
static void print_formats(const qp_screen *s)
{
    qp_screen_text(s, QP_STYLE_HEAD, "\nFormats:\n");
    for (const qp_exporter *const *x = qp_exporters; *x; x++) {
        qp_out_format(s->out, "  %-12s%s\n", (*x)->name, (*x)->summary);
        if ((*x)->limits[0])
            qp_out_format(s->out, "  %-12scannot hold: %s\n", "", (*x)->limits);
    }
}

static const qp_flag flags[] = {
    {"to", 't', QP_FLAG_TEXT, "FORMAT", QP_FLAG_AT(to), NULL, "the format, see below"},
    {"output", 'o', QP_FLAG_TEXT, "FILE", QP_FLAG_AT(output), NULL,
     "where to; default: standard output. A failed export leaves no file"},
    {"calls", 0, QP_FLAG_YES, NULL, QP_FLAG_AT(is_calls), NULL,
     "calls in place of time, where a format has one value"},
    QP_FLAG_WHEN,
    QP_FLAGS_FOLD,
    QP_FLAG_THREAD,
    QP_FLAGS_COMMON};

const qp_command qp_command_export = {
    .name = "export",
    .operands = "--to=FORMAT [-o FILE] [FILE]",
    .summary = "a profile for other tools: pprof, KCachegrind, flame graphs, ...",
    .about = "Writes a profile in the format of another tool.",
    .flags = flags,
    .examples = "qprof export --to=pprof -o run.pb.gz run.qprof\n"
                "go tool pprof -top run.pb.gz\n"
                "qprof export --to=callgrind -o callgrind.out.1 run.qprof\n"
                "qprof export --to=folded run.qprof | flamegraph.pl --countname=ns > run.svg\n"
                "qprof export --to=dot --focus=parse run.qprof | dot -Tsvg > parse.svg",
    .run = run_export,
    .print_more = print_formats};
