/* html.c: `qprof html`: a profile, or two and what changed between them, as one page. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text/buf.h"
#include "base/text/unit.h"
#include "cli/core/cli.h"
#include "cli/show/show.h"
#include "export/export.h"
#include "export/page/page.h"
#include "model/combine/combine.h"

enum { PATH_BYTES = 4096, NAMES_TRIED = 1000 };

typedef struct {
    const qp_model *m;
    const qp_export_options *o;
} job;

static bool write_job(const void *data, qp_out *out, qp_error *error)
{
    const job *j = data;
    return qp_export_html(j->m, out, j->o, error);
}

/* Without -o the page goes to this folder, under the profile's name with the suffix of pages; where
 * there is something of that name it gets a number, as recorded profiles do. */
static bool choose_path(const qp_cli *cli, char path[PATH_BYTES])
{
    struct stat at;
    const char *name = strrchr(cli->path, '/'), *suffix = ".html";
    name = name ? name + 1 : cli->path;
    const char *dot = strrchr(name, '.');
    int n = (int)(dot && dot > name ? (size_t)(dot - name) : strlen(name));
    qp_text_format(path, PATH_BYTES, "%.*s%s", n, name, suffix);
    for (unsigned i = 1; i < NAMES_TRIED && lstat(path, &at) == 0; i++)
        qp_text_format(path, PATH_BYTES, "%.*s.%u%s", n, name, i, suffix);
    return lstat(path, &at) != 0;
}

static int write_page(qp_cli *cli, const qp_model *m, const qp_export_options *o)
{
    char chosen[PATH_BYTES];
    const char *path = cli->args.output;
    if (!path) {
        path = chosen;
        if (!choose_path(cli, chosen))
            return qp_cli_fail(cli, "%s: file exists (use -o FILE)", path);
    }
    int status = qp_output_write(cli, path, write_job, &(job){m, o});
    bool is_written = status == QP_EXIT_CLEAN;
    if (is_written && !qp_output_is_standard(path)) {
        qp_out_text(&cli->out, "Written: ");
        qp_screen_name(&cli->screen, path, 0);
        qp_out_text(&cli->out, "; any browser opens it\n");
    }
    qp_page_notes_end(cli, path, is_written, o->sources.to);
    return status;
}

/* Write the page, with the timeline of a trace if there is one.
 * @param base  NULL: nothing to compare with; base_path NULL as well */
static int show(qp_cli *cli, const qp_model *m, const qp_model *base, const char *base_path)
{
    char root[PATH_BYTES], at[QP_NUMBER_BYTES], size[QP_NUMBER_BYTES];
    qp_error error;
    qp_timeline timeline;
    qp_page_notes notes;
    qp_export_options o = {.name = cli->path,
                           .base = base,
                           .base_name = base_path,
                           .root = realpath(".", root),
                           .sources = qp_page_notes_begin(cli, &notes),
                           .is_apart = cli->args.has_threads};
    if (!cli->args.trace.file)
        return write_page(cli, m, &o);
    if (!qp_timeline_open(&timeline, m, cli->args.trace.file, &error))
        return qp_cli_fail(cli, "%s", error.text);
    if (timeline.n_removed_bytes)
        qp_cli_warn(cli,
                    "%s: begins %s after the start: the first %s were removed (-trace-limit)",
                    cli->args.trace.file, qp_unit_time(at, timeline.begin),
                    qp_unit_size(size, timeline.n_removed_bytes));
    o.timeline = &timeline;
    int status = write_page(cli, m, &o);
    qp_timeline_close(&timeline);
    return status;
}

/* Can the two be compared? @return false: a message was printed */
static bool is_alike(const qp_cli *cli, const qp_model *base, const char *base_file,
                     const qp_model *m)
{
    qp_error error = {0};
    qp_diff *d = qp_diff_new(QP_DIFF_THREADS, false);
    bool is_good = false;
    if (d && !qp_diff_fits(d, base, &error))
        qp_cli_fail(cli, "%s: %s", base_file, error.text);
    else if (!d || !qp_diff_add(d, QP_DIFF_BASE, base, QP_ALL_THREADS))
        qp_cli_fail_memory(cli);
    else if (!(is_good = qp_diff_fits(d, m, &error)))
        qp_cli_fail(cli, "%s: %s", cli->path, error.text);
    qp_diff_free(d);
    return is_good;
}

/* @param m  NULL: none */
static void leave_out_arguments(const qp_cli *cli, qp_model *m)
{
    if (m && !cli->args.has_arguments)
        m->run.arguments = "";
}

/* @param base_file  NULL: nothing to compare with */
static int show_files(qp_cli *cli, const char *base_file, const char *file)
{
    qp_model *base = NULL, *m = NULL;
    int status = base_file ? qp_cli_load_collapsed(cli, base_file, &base) : QP_EXIT_CLEAN;
    int of_new = status == QP_EXIT_UNUSABLE ? status : qp_cli_load_collapsed(cli, file, &m);
    leave_out_arguments(cli, base);
    leave_out_arguments(cli, m);
    if (of_new != QP_EXIT_UNUSABLE && (!base || is_alike(cli, base, base_file, m))) {
        int written = show(cli, m, base, base_file);
        of_new = written == QP_EXIT_CLEAN ? of_new : written;
    } else {
        of_new = QP_EXIT_UNUSABLE;
    }
    qp_model_free(m);
    qp_model_free(base);
    return of_new > status ? of_new : status;
}

static int run_html(qp_cli *cli)
{
    char **files = cli->args.operands;
    int n = cli->args.n_operands;
    cli->args.fold.follows_creators = !cli->args.has_threads;
    if (n > 2)
        return qp_cli_fail(
            cli, "%s: too many operands: a page shows one profile, or compares two", files[2]);
    if (n == 2 && cli->args.trace.file)
        return qp_cli_fail(cli, "--trace cannot be combined with two profiles");
    return show_files(cli, n == 2 ? files[0] : NULL, n ? files[n - 1] : NULL);
}

const qp_command qp_command_html = {
    .name = "html",
    .operands = "[[BASE] FILE] [-o FILE]",
    .summary = "one page for any browser; of two runs, what changed",
    .about = "Writes one self-contained page: flame graphs, functions, call tree, annotated "
             "sources, threads. It needs no network and no server. With two profiles it shows "
             "what changed from BASE to FILE. Sources are in the page if they are the text "
             "that was recorded, or lie below this folder or --source-path; which ones is "
             "printed: check them before you share the page.",
    .flags = (const qp_flag[]){QP_TEXT("output", 'o', "FILE", output,
                                       "page to write; -: standard output (default: the "
                                       "profile's name with .html, in this "
                                       "folder; numbered if there is one)"),
                               QP_YES("force", 0, is_replacing,
                                      "replacement of a file that is not a page of qprof"),
                               QP_TEXT("trace", 0, "FILE", trace.file,
                                       "a raw trace of the run, for a timeline; where it is in "
                                       "the rings of the profile: "
                                       "the profile itself"),
                               QP_YES("with-arguments", 0, has_arguments,
                                      "the arguments of the program as well, which may be "
                                      "secrets"),
                               QP_FLAG_SOURCE_PATH, QP_FLAG_NO_SOURCES, QP_FLAG_WHEN,
                               QP_FLAGS_COLLAPSE, QP_FLAG_THREADS_APART, QP_FLAGS_COMMON},
    .examples = "qprof html                        the newest profile here\n"
                "qprof html run.qprof -o run.html\n"
                "qprof html --trace=run.qtrace run.qprof\n"
                "qprof html before.qprof after.qprof -o change.html",
    .run = run_html,
    .replaces = QP_PAGE_MARK};
