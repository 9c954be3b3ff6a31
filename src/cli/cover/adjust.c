/* adjust.c: `qprof cover adjust`: writes the markers of sources to an adjustments file. */
#include <sys/stat.h>

#include "base/containers/alloc.h"
#include "base/os/clock.h"
#include "base/text/buf.h"
#include "base/text/unit.h"
#include "cli/core/cli.h"
#include "cli/cover/cover.h"

static const qp_annotation marks[] = {QP_ANNOTATION_DEADCODE, QP_ANNOTATION_TESTED,
                                      QP_ANNOTATION_INSPECTED};
enum { N_MARKS = sizeof marks / sizeof marks[0] };

/* Sources with markers. */
typedef struct {
    qp_adjust *found;
    qp_buf n_lines; /* uint32_t of each of found->files */
} extraction;

/* The time of an entry: that of its source, for which the markers hold. */
static uint64_t time_of(const char *path)
{
    struct stat at;
    return stat(path, &at) == 0 && at.st_mtim.tv_sec > 0 ? (uint64_t)at.st_mtim.tv_sec
                                                         : qp_clock_wall() / 1000000000;
}

/* @param f  of a profile; NULL: the user named the file @param shown  name to write @return exit status */
static int scan(const qp_cli *cli, extraction *x, const qp_cover_file *f, const char *shown)
{
    qp_error error;
    qp_source source;
    if (!(f ? qp_source_read(f->file, f->digest, &cli->args.folders, &source, &error)
            : qp_source_read_own(shown, &source, &error))) {
        qp_cli_warn(cli, "%s", error.text);
        return QP_EXIT_SALVAGED;
    }
    if (!qp_output_is_free(cli, cli->args.output, source.path, NULL)) {
        qp_source_fini(&source);
        return QP_EXIT_UNUSABLE;
    }
    size_t before = x->found->n_files;
    size_t n = qp_adjust_scan(x->found, shown, time_of(source.path), &source);
    uint32_t *n_lines = x->found->n_files > before ? qp_buf_add(&x->n_lines) : NULL;
    if (n_lines)
        *n_lines = source.n_lines;
    qp_source_fini(&source);
    return n == SIZE_MAX || x->n_lines.failed ? qp_cli_fail_memory(cli) : QP_EXIT_CLEAN;
}

static bool print_found(const qp_screen *s, const extraction *x)
{
    static const qp_column columns[] = {{"File", QP_KEEP_END, 0},
                                        {"Dead", QP_ALIGN_RIGHT, 0},
                                        {"Tested", QP_ALIGN_RIGHT, 0},
                                        {"Inspected", QP_ALIGN_RIGHT, 0}};
    uint64_t sums[N_MARKS] = {0};
    qp_table t;
    qp_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < x->found->n_files; i++) {
        const qp_adjust_file *f = &x->found->files[i];
        qp_table_name(&t, QP_STYLE_PLAIN, f->name);
        for (size_t k = 0; k < N_MARKS; k++) {
            uint64_t n = qp_adjust_lines(f, marks[k], ((const uint32_t *)x->n_lines.items)[i]);
            sums[k] += n;
            qp_table_count(&t, n);
        }
    }
    qp_table_plain(&t, QP_STYLE_HEAD, "Total");
    for (size_t k = 0; k < N_MARKS; k++)
        qp_table_count(&t, sums[k]);
    return qp_table_end(&t, s, 0);
}

/* The sources of a profile, or one source. @return status */
static int scan_operand(qp_cli *cli, extraction *x, char *operand)
{
    qp_cover *c;
    if (operand && !qp_cli_is_profile(operand))
        return scan(cli, x, NULL, operand);
    int status = qp_cover_open(cli, &operand, operand != NULL, &c);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    for (size_t i = 0; i < c->n_files && status != QP_EXIT_UNUSABLE; i++) {
        int scanned = scan(cli, x, &c->files[i], c->files[i].path);
        status = scanned > status ? scanned : status;
    }
    qp_cover_free(c);
    return status;
}

/* The source of an adjustments file, and the number of files that it cannot hold. */
typedef struct {
    const qp_adjust *found;
    size_t *n_left_out;
} job;

static bool write_job(const void *data, qp_out *out, qp_error *error)
{
    const job *j = data;
    (void)error;
    *j->n_left_out = qp_adjust_write(j->found, out);
    return true;
}

static int write_file(qp_cli *cli, const qp_adjust *found)
{
    char text[QP_NUMBER_BYTES];
    size_t n_left_out;
    int status = qp_output_write(cli, cli->args.output, write_job, &(job){found, &n_left_out});
    if (status != QP_EXIT_CLEAN || !n_left_out)
        return status;
    qp_cli_warn(cli, "%s: %s with control characters in the name left out", cli->args.output,
                qp_unit_things(text, n_left_out, "file"));
    return QP_EXIT_SALVAGED;
}

static int show(qp_cli *cli, const extraction *x)
{
    int status = QP_EXIT_CLEAN;
    for (size_t i = 0; i < x->found->n_warnings; i++)
        qp_cli_warn(cli, "%s", x->found->warnings[i]);
    if (x->found->n_files == 0)
        qp_cli_warn(cli, "no source has a marker, for example \"purecov: tested\"");
    if (cli->args.output) {
        status = write_file(cli, x->found);
        if (qp_output_is_standard(cli->args.output))
            return status; /* the table would be in the file */
    }
    return print_found(&cli->screen, x) ? status : qp_cli_fail_memory(cli);
}

static int run_adjust(qp_cli *cli)
{
    extraction x = {.found = qp_adjust_new()};
    int status = x.found ? QP_EXIT_CLEAN : qp_cli_fail_memory(cli);
    qp_buf_init(&x.n_lines, sizeof(uint32_t));
    cli->args.cover.is_unadjusted = true; /* the command looks for the markers itself */
    int n = cli->args.n_operands;
    for (int i = 0; (i < n || i == 0) && status != QP_EXIT_UNUSABLE; i++) {
        int scanned = scan_operand(cli, &x, n ? cli->args.operands[i] : NULL);
        status = scanned > status ? scanned : status;
    }
    if (status != QP_EXIT_UNUSABLE) {
        int shown = show(cli, &x);
        status = shown > status ? shown : status;
    }
    qp_free(x.n_lines.items);
    qp_adjust_free(x.found);
    return status;
}

const qp_command qp_command_cover_adjust = {
    .name = "cover adjust",
    .operands = "[SOURCE...|FILE...]",
    .summary = "markers of dead, tested and inspected lines, also as a file",
    .about =
        "Finds the markers \"purecov: deadcode\", \"purecov: tested\" and \"purecov:\n"
        "inspected\" in sources, or in all sources of a profile, counts the lines that\n"
        "each marks, and writes them to an adjustments file. Reports apply the markers of\n"
        "sources themselves; the file is for reports that are made without the sources.",
    .flags =
        (const qp_flag[]){
            {"output", 'o', QP_FLAG_TEXT, "FILE", QP_FLAG_AT(output), NULL,
             "adjustments file to write, - for standard output; default: none, only a table"},
            QP_FLAG_FORCE,
            QP_COVER_FLAGS_FILES,
            QP_FLAG_SOURCE_PATH,
            QP_FLAGS_COMMON},
    .examples = "qprof cover adjust run.qprof                marked lines\n"
                "qprof cover adjust -o purecov.adjust src/*.lua\n"
                "qprof cover report --adjustments=purecov.adjust run.qprof",
    .run = run_adjust};
