/* export.c: `qprof export`: a profile in the format of another tool. */
#include "export/export.h"

#include "cli/core/cli.h"
#include "cli/show/show.h"

#define WORD(name) "|" #name
static const char *const words = &(QP_EXPORTERS(WORD))[1];
#undef WORD

typedef struct {
    const qp_exporter *x;
    const qp_model *m;
    qp_export_options o;
} job;

static bool write_job(const void *data, qp_out *out, qp_error *error)
{
    const job *j = data;
    return j->x->write(j->m, out, &j->o, error);
}

/* Does the format have what the flags request? @return false: a message was printed */
static bool does_fit(const qp_cli *cli, const qp_exporter *x)
{
    const qp_args *a = &cli->args;
    if (a->has_callgrind_jumps && x->write != qp_export_callgrind)
        qp_cli_fail(cli, "--callgrind-jumps is for --to=callgrind; %s has no jumps", x->name);
    else if (a->is_calls + a->has_samples + a->is_bytes + a->is_objects > 1)
        qp_cli_fail(cli, "--calls, --samples, --bytes and --objects cannot be combined");
    else if (a->fold.metric && (a->is_calls || a->has_samples || a->is_bytes || a->is_objects))
        qp_cli_fail(cli, "--metric and another value cannot be combined");
    else if ((a->is_bytes || a->is_objects) && !x->has_samples)
        qp_cli_fail(cli, "--%s is for formats of one value that adds up; %s %s",
                    a->is_bytes ? "bytes" : "objects", x->name,
                    x->has_measure ? "draws calls or times" : "has all values");
    else if (a->is_calls && !x->has_measure)
        qp_cli_fail(cli, "--calls is for formats of one value; %s has times and calls",
                    x->name);
    else if (a->has_samples && !x->has_samples)
        qp_cli_fail(cli, "--samples is for formats of one value that adds up; %s %s", x->name,
                    x->has_measure ? "draws calls or times" : "has all values");
    else
        return true;
    return false;
}

/* Of coverage alone a format of call paths would be empty. @return false: a message was printed */
static bool has_content(const qp_cli *cli, const qp_model *m, const qp_exporter *x)
{
    if (m->run.is_profile || x->has_functions)
        return true;
    return qp_cli_refuse(
        cli,
        "%s: it has only coverage, and %s shows call paths (qprof cover export writes "
        "coverage)",
        cli->path, x->name);
}

static bool is_wanted(const qp_args *a, qp_measure x)
{
    return x == QP_MEASURE_CALLS     ? a->is_calls
           : x == QP_MEASURE_BYTES   ? a->is_bytes
           : x == QP_MEASURE_OBJECTS ? a->is_objects
                                     : a->has_samples && x != QP_MEASURE_TIME;
}

/* Formats that have a metric of the host beside times, if they have it. */
static bool has_both(const qp_exporter *x)
{
    return x->write == qp_export_pprof || x->write == qp_export_callgrind ||
           x->write == qp_export_speedscope || x->write == qp_export_perfetto;
}

/* Formats of one value, which is then the metric; in the others it is in the place of times. */
static bool is_single(const qp_cli *cli, const qp_exporter *x)
{
    return cli->args.fold.metric && x->has_samples && !has_both(x);
}

/* @return false: the run does not have what was requested; a message was printed */
static bool choose_measure(const qp_cli *cli, const qp_model *m, const qp_exporter *x,
                           qp_measure *out)
{
    const qp_args *a = &cli->args;
    qp_measure all[QP_MEASURES];
    bool is_known = !a->is_calls && !a->has_samples && !a->is_bytes && !a->is_objects;
    *out = is_single(cli, x) ? QP_MEASURE_METRIC : QP_MEASURE_TIME;
    for (uint32_t i = qp_export_measures(m, all); !is_known && i-- > 0;) {
        is_known = is_wanted(a, all[i]);
        *out = all[i];
    }
    if (!is_known && a->is_calls)
        qp_cli_fail(cli, "--calls: the calls of this run were not counted");
    else if (!is_known && !a->has_samples)
        qp_cli_fail(cli, "--%s: this run has none (record with -allocations=yes)",
                    a->is_bytes ? "bytes" : "objects");
    else if (!is_known)
        qp_cli_fail(cli, "--samples: this run has none (qprof run --pc takes them)");
    return is_known;
}

static int run_export(qp_cli *cli)
{
    const char *file, *path = cli->args.output;
    qp_model *m;
    int format = qp_output_format(cli, words);
    if (format < 0 || !qp_cli_operands(cli, NULL, &file))
        return QP_EXIT_UNUSABLE;
    const qp_exporter *x = &qp_exporters[format];
    if (x->is_binary && qp_output_is_standard(path) && cli->screen.is_terminal)
        return qp_cli_fail(cli, "--to=%s is binary and not for a terminal (use -o FILE%s)",
                           x->name, x->suffix);
    if (!does_fit(cli, x))
        return QP_EXIT_UNUSABLE;
    const bool is_apart = cli->args.has_threads;
    cli->args.fold.keeps_times = has_both(x) || is_single(cli, x);
    cli->args.fold.follows_creators = x->write == qp_export_html && !is_apart;
    cli->args.has_threads |= x->is_by_thread && !cli->args.fold.joins_threads;
    int status = qp_cli_load_collapsed(cli, file, &m);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    if (!cli->args.has_arguments)
        m->run.arguments = "";
    qp_page_notes notes;
    job j = {x,
             m,
             {.has_jumps = cli->args.has_callgrind_jumps,
              .name = cli->path,
              .is_apart = is_apart,
              .sources = qp_page_notes_begin(cli, &notes)}};
    bool is_good = has_content(cli, m, x) && qp_cli_thread(cli, m, &j.o.thread) &&
                   choose_measure(cli, m, x, &j.o.measure);
    int written = is_good ? qp_output_write(cli, path, write_job, &j) : QP_EXIT_UNUSABLE;
    qp_page_notes_end(cli, path, x->write == qp_export_html && written == QP_EXIT_CLEAN,
                      &notes);
    qp_model_free(m);
    return written == QP_EXIT_CLEAN ? status : written;
}

/* The purpose of each format, and what it cannot hold. */
static void print_formats(const qp_screen *s)
{
    qp_screen_text(s, QP_STYLE_HEAD, "\nFormats:\n");
    for (const qp_exporter *x = qp_exporters; x->name; x++) {
        qp_out_format(s->out, "  %-12s%s\n", x->name, x->summary);
        if (x->limits[0])
            qp_out_format(s->out, "  %-12scannot hold: %s\n", "", x->limits);
    }
    qp_out_text(s->out, "\nIntervals of estimated times are in csv, json and sqlite; in pprof "
                        "those of\n-time=sampled, which follow from its samples.\n");
}

static const qp_flag flags[] = {
    QP_TEXT("to", 't', "FORMAT", to, "format, see below"),
    QP_TEXT("output", 'o', "FILE", output, "file to write; default, or -: standard output"),
    QP_FLAG_FORCE,
    QP_YES("calls", 0, is_calls, "calls instead of time, in formats of one value"),
    QP_YES("samples", 0, has_samples,
           "the same with PC samples, or with the samples of which times were estimated"),
    QP_YES("bytes", 0, is_bytes, "the same with allocated bytes"),
    QP_YES("objects", 0, is_objects, "the same with allocated objects"),
    QP_YES("callgrind-jumps", 0, has_callgrind_jumps,
           "callgrind: jumps between lines, where the host counts them; speedscope cannot read "
           "them"),
    QP_YES("with-arguments", 0, has_arguments,
           "the arguments of the program as well, which may be secrets"),
    QP_FLAG_WHEN,
    QP_FLAGS_COLLAPSE,
    QP_FLAG_THREAD,
    QP_FLAG_THREADS_APART,
    QP_FLAG_MERGE_THREADS,
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
    .schemas = (const qp_schema[]){{"export", qp_export_document}, {.name = NULL}},
    .threads = QP_THREADS_JOINED,
    .run = run_export,
    .print_more = print_formats};
