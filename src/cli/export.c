/* export.c: `qprof export`: a profile in the format of another tool. */
#include "export/profile.h"

#include "cli/fold.h"
#include "cli/output.h"

#define WORD(name) "|" #name
static const char *const words = &(QP_EXPORTERS(WORD))[1];
#undef WORD

typedef struct {
    const qp_exporter *x;
    const qp_model *m;
    qp_export_options o;
} job;

static bool write_job(const void *data, qp_out *out, char error[QP_ERROR_BYTES])
{
    const job *j = data;
    return j->x->write(j->m, out, &j->o, error);
}

static int run_export(qp_cli *cli)
{
    const char *file, *path = cli->args.output;
    qp_model *m;
    int format = qp_output_format(cli, words);
    if (format < 0 || !qp_cli_operands(cli, NULL, &file))
        return QP_EXIT_UNUSABLE;
    const qp_exporter *x = qp_exporters[format];
    if (x->is_binary && qp_output_is_standard(path) && cli->screen.is_terminal)
        return qp_cli_fail(cli, "%s is nothing to read on a terminal; -o FILE%s names a file",
                           x->name, x->suffix);
    if (cli->args.has_callgrind_jumps && x != &qp_export_callgrind)
        return qp_cli_fail(cli, "--callgrind-jumps is for --to=callgrind; %s has no jumps",
                           x->name);
    int status = qp_cli_load_folded(cli, file, &m);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    job j = {
        x, m, {.is_calls = cli->args.is_calls, .has_jumps = cli->args.has_callgrind_jumps}};
    int written = qp_cli_thread(cli, m, &j.o.thread) ? qp_output_write(cli, path, write_job, &j)
                                                     : QP_EXIT_UNUSABLE;
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
     "where to; default, or -: standard output. A failed export leaves no file"},
    {"calls", 0, QP_FLAG_YES, NULL, QP_FLAG_AT(is_calls), NULL,
     "calls in place of time, where a format has one value"},
    {"callgrind-jumps", 0, QP_FLAG_YES, NULL, QP_FLAG_AT(has_callgrind_jumps), NULL,
     "callgrind: jumps between lines, where the host counts them; speedscope cannot read them"},
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
