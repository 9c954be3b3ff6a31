/* export.c: `qprof cover export`: writes coverage in the format of another tool. */
#include "export/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/out.h"
#include "cli/core/cli.h"
#include "cli/cover/cover.h"
#include "cli/show/show.h"

#define WORD(name) "|" #name
static const char *const words = &(QP_COVER_EXPORTERS(WORD))[1];
#undef WORD

typedef struct {
    const qp_cover_exporter *x;
    const qp_cover *c;
    qp_cover_export_options o;
} job;

static bool write_job(const void *data, qp_out *out, qp_error *error)
{
    const job *j = data;
    return qp_cover_export(j->x, j->c, out, &j->o, error);
}

/* Do the flags apply to the format? @return false: a message was printed */
static bool takes_flags(const qp_cli *cli, const qp_cover_exporter *x)
{
    const qp_cover_args *a = &cli->args.cover;
    if (a->is_gcovr7 && x->write != qp_cover_gcovr)
        return qp_cli_refuse(cli, "--gcovr7 applies to --to=gcovr, not to %s", x->name);
    const char *flag = a->is_lcov2      ? "lcov2"
                       : a->test        ? "test-name"
                       : a->is_relative ? "relative"
                                        : NULL;
    if (cli->args.has_no_sources && x->write != qp_cover_html)
        return qp_cli_refuse(cli, "--no-sources applies to --to=html, not to %s", x->name);
    return !flag || x->write == qp_cover_lcov ||
           qp_cli_refuse(cli, "--%s applies to --to=lcov, not to %s", flag, x->name);
}

/* @param data  const qp_cover_exporter ** */
static int show(qp_cli *cli, const qp_cover *c, void *data)
{
    char root[4096];
    const qp_cover_args *a = &cli->args.cover;
    qp_page_notes notes;
    job j = {*(const qp_cover_exporter **)data,
             c,
             {.root = a->is_relative ? NULL : realpath(a->root ? a->root : ".", root),
              .test = a->test,
              .is_lcov2 = a->is_lcov2,
              .is_gcovr7 = a->is_gcovr7,
              .sources = qp_page_notes_begin(cli, &notes)}};
    int status = qp_output_write(cli, cli->args.output, write_job, &j);
    qp_page_notes_end(cli, cli->args.output,
                      j.x->write == qp_cover_html && status == QP_EXIT_CLEAN, &notes);
    return status;
}

static int run_export(qp_cli *cli)
{
    int format = qp_output_format(cli, words);
    if (format < 0)
        return QP_EXIT_UNUSABLE;
    const qp_cover_exporter *x = &qp_cover_exporters[format];
    if (!takes_flags(cli, x))
        return QP_EXIT_UNUSABLE;
    if (qp_output_is_standard(cli->args.output) && cli->screen.is_terminal &&
        strcmp(x->suffix, ".html") == 0)
        return qp_cli_fail(cli, "a page of HTML is not for a terminal (use -o FILE%s)",
                           x->suffix);
    return qp_cover_show(cli, show, &x);
}

/* Print the use and the limits of each format. */
static void print_formats(const qp_screen *s)
{
    enum { TEXT_COLUMN = 14 };
    char limits[512];
    qp_screen_text(s, QP_STYLE_HEAD, "\nFormats:\n");
    for (const qp_cover_exporter *x = qp_cover_exporters; x->name; x++) {
        qp_out_format(s->out, "  %-12s", x->name);
        qp_help_text(s, x->summary, TEXT_COLUMN, TEXT_COLUMN);
        snprintf(limits, sizeof limits, "cannot hold: %s", x->limits);
        if (x->limits[0])
            qp_help_text(s, limits, TEXT_COLUMN, 0);
    }
}

const qp_command qp_command_cover_export = {
    .name = "cover export",
    .operands = "--to=FORMAT [-o FILE] [FILE...]",
    .summary = "coverage for other tools: lcov, Cobertura, a page of HTML, ...",
    .about = "Writes coverage in the format of another tool. Paths are relative to --root,\n"
             "best the top folder of the repository.",
    .flags =
        (const qp_flag[]){
            {"to", 't', QP_FLAG_TEXT, "FORMAT", QP_FLAG_AT(to), NULL, "format, see below"},
            {"output", 'o', QP_FLAG_TEXT, "FILE", QP_FLAG_AT(output), NULL,
             "file to write; default, or -: standard output. A failed export leaves no file"},
            {"relative", 0, QP_FLAG_YES, NULL, QP_COVER_AT(is_relative), NULL,
             "lcov: paths relative to --root; its readers expect absolute ones"},
            {"lcov2", 0, QP_FLAG_YES, NULL, QP_COVER_AT(is_lcov2), NULL,
             "lcov: with records that only lcov 2 reads"},
            {"gcovr7", 0, QP_FLAG_YES, NULL, QP_COVER_AT(is_gcovr7), NULL,
             "gcovr: the format of version 7; default: that of 5"},
            {"test-name", 0, QP_FLAG_TEXT, "NAME", QP_COVER_AT(test), NULL,
             "lcov: name of the test; default: the program's"},
            QP_FLAG_FORCE,
            QP_FLAG_NO_SOURCES,
            QP_COVER_FLAGS,
            QP_FLAGS_COMMON},
    .examples = "qprof cover export --to=lcov -o lcov.info\n"
                "qprof cover export --to=cobertura -o coverage.xml run.qprof\n"
                "qprof cover export --to=html -o coverage.html",
    .run = run_export,
    .print_more = print_formats};
