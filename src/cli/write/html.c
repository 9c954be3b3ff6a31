/* html.c: `qprof html`: a profile, or two and what changed between them, as one page. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/containers/alloc.h"
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

/* ---- timelines --------------------------------------------------------------------------------- */

enum { ABOUT_BYTES = 1024 };

/* "Request 2 of 6 that were kept whole: GET /list, 3.1 ms, of which it waited 1.2 ms". @return to */
static const char *about_request(const qp_kept_request *r, uint64_t number, size_t n,
                                 char to[ABOUT_BYTES])
{
    char elapsed[QP_NUMBER_BYTES], waited[QP_NUMBER_BYTES] = "",
                                   known[2 * QP_NUMBER_BYTES] = "";
    const uint64_t waiting_ns = r->off_ns + r->suspended_ns;
    if (n > 1)
        qp_text_format(known, sizeof known, " %llu of %zu", (unsigned long long)number, n);
    return qp_text_format(to, ABOUT_BYTES, "Request%s that %s kept whole: %.500s, %s%s%s%s%s",
                          known, n > 1 ? "were" : "was", r->endpoint,
                          qp_unit_time(elapsed, r->elapsed_ns), r->has_failed ? ", failed" : "",
                          r->is_cut ? ", cut" : "", waiting_ns ? ", waiting " : "",
                          waiting_ns ? qp_unit_time(waited, waiting_ns) : "");
}

/* The page of a request alone, whose times begin with it. */
static int show_alone(qp_cli *cli, const qp_model *m, qp_export_options *o)
{
    char about[ABOUT_BYTES];
    qp_timeline timeline;
    const qp_kept_request *r = cli->args.page.request;
    qp_kept_picture picture = {
        .m = m, .r = r, .calls = cli->args.page.calls, .first_method = 1};
    qp_timeline_of_kept(&timeline, &picture, about_request(r, 1, 1, about));
    o->timeline = &timeline;
    return write_page(cli, m, o);
}

/* Write the page with the timeline of a request, if one was kept whole: the slowest, or that of --request. */
static int show_request(qp_cli *cli, const qp_model *m, qp_export_options *o)
{
    static const qp_kept_request none;
    char about[ABOUT_BYTES];
    qp_timeline timeline;
    qp_kept_request *all;
    qp_kept_calls calls = {.items = NULL};
    size_t n;
    const uint64_t wanted = cli->args.kept.shown;
    const uint64_t number = wanted == UINT64_MAX ? 1 : wanted;
    bool is_good = qp_model_kept_requests(m, &all, &n);
    const bool is_there = is_good && number >= 1 && number <= n;
    const qp_kept_request *r = is_there ? &all[number - 1] : &none;
    qp_kept_picture picture = {.m = m, .r = r, .calls = &calls, .begin = r->begun_ns};
    int status = QP_EXIT_UNUSABLE;
    if (is_there)
        is_good = qp_model_kept_calls(m, r, &calls);
    if (is_there && is_good) {
        qp_timeline_of_kept(&timeline, &picture, about_request(r, number, n, about));
        o->timeline = &timeline;
    }
    if (!is_good)
        qp_cli_fail_memory(cli);
    else if (!is_there && wanted != UINT64_MAX)
        qp_cli_fail(cli, "--request=%llu: %s (see qprof requests --slowest)",
                    (unsigned long long)wanted,
                    n ? "no request that was kept whole has this number"
                      : "no request was kept whole");
    else
        status = write_page(cli, m, o);
    o->timeline = NULL;
    qp_kept_calls_fini(&calls);
    qp_free(all);
    return status;
}

/* Write the page, with the timeline of a trace if there is one. */
static int show(qp_cli *cli, const qp_model *m, qp_export_options *o)
{
    char root[PATH_BYTES], at[QP_NUMBER_BYTES], size[QP_NUMBER_BYTES];
    qp_error error;
    qp_timeline timeline;
    qp_page_notes notes;
    o->name = cli->args.page.home ? cli->args.page.name : cli->path;
    o->home = cli->args.page.home;
    if (o->home)
        o->base_name = cli->args.page.base_name;
    o->root = realpath(".", root);
    o->sources = qp_page_notes_begin(cli, &notes);
    o->is_apart = cli->args.has_threads;
    if (o->base)
        return write_page(cli, m, o);
    if (cli->args.page.request)
        return show_alone(cli, m, o);
    if (!cli->args.trace.file)
        return show_request(cli, m, o);
    if (!qp_timeline_open(&timeline, m, cli->path, cli->args.trace.file, &error))
        return qp_cli_fail(cli, "%s", error.text);
    if (timeline.n_removed_bytes)
        qp_cli_warn(cli,
                    "%s: begins %s after the start: the first %s were removed (-trace-limit)",
                    cli->args.trace.file, qp_unit_time(at, timeline.begin),
                    qp_unit_size(size, timeline.n_removed_bytes));
    if (timeline.lacks_end)
        qp_cli_warn(cli, "%s: not closed: the program was killed; its last calls are missing",
                    cli->args.trace.file);
    o->timeline = &timeline;
    int status = write_page(cli, m, o);
    qp_timeline_close(&timeline);
    return status;
}

/* @return exit status; *to is NULL if it is QP_EXIT_UNUSABLE */
static int load(qp_cli *cli, const char *file, qp_model **to)
{
    *to = NULL;
    int status = qp_cli_load_collapsed(cli, file, to);
    if (*to && !cli->args.has_arguments)
        (*to)->run.arguments = "";
    return status;
}

/* ---- runs that are compared ------------------------------------------------------------------ */

typedef struct {
    qp_cli *cli;
    qp_diff *functions, *threads;
    qp_model *shown[QP_DIFF_SIDES]; /* the runs whose call paths the page has */
    int status;                     /* the worst of all files */
} comparison;

static bool take_status(comparison *c, int status)
{
    c->status = status > c->status ? status : c->status;
    return c->status != QP_EXIT_UNUSABLE;
}

typedef struct {
    uint64_t size; /* the run's time, or calls where times are not known */
    size_t i;
} candidate;

static int compare_sizes(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return x->size != y->size ? (x->size > y->size) - (x->size < y->size)
                              : (x->i > y->i) - (x->i < y->i);
}

/* Put the run of median time at the end. @return false: one cannot be read */
static bool choose_shown(comparison *c, qp_list *files)
{
    if (files->n < 2)
        return true;
    candidate *all = qp_alloc(files->n, sizeof *all);
    bool is_good = all || take_status(c, qp_cli_fail_memory(c->cli));
    for (size_t i = 0; is_good && i < files->n; i++) {
        qp_model *m;
        is_good = take_status(c, load(c->cli, files->items[i], &m));
        if (is_good)
            all[i] =
                (candidate){m->run.has_times ? qp_model_ns(m, m->run.total) : m->run.calls, i};
        qp_model_free(m);
    }
    if (is_good) {
        qsort(all, files->n, sizeof *all, compare_sizes);
        size_t last = files->n - 1, median = all[last / 2].i;
        const char *shown = files->items[median];
        files->items[median] = files->items[last];
        files->items[last] = shown;
    }
    qp_free(all);
    return is_good;
}

/* Add a run, which stays in c->shown until the next one of its side. */
static bool add_run(comparison *c, qp_diff_side side, const char *file)
{
    qp_error error = {0};
    qp_model *m;
    if (!take_status(c, load(c->cli, file, &m)))
        return false;
    qp_model_free(c->shown[side]);
    c->shown[side] = m;
    if (!qp_diff_fits(c->threads, m, &error))
        return take_status(c, qp_cli_fail(c->cli, "%s: %s", file, error.text));
    bool is_good =
        (c->cli->args.has_threads ? qp_diff_add(c->functions, side, m, QP_ALL_THREADS)
                                  : qp_diff_add_joined(c->functions, side, m)) &&
        qp_diff_add(c->threads, side, m, QP_ALL_THREADS);
    return is_good || take_status(c, qp_cli_fail_memory(c->cli));
}

static bool add_side(comparison *c, qp_diff_side side, qp_list *files)
{
    bool is_good = choose_shown(c, files);
    c->cli->is_again = files->n > 1;
    for (size_t i = 0; is_good && i < files->n; i++)
        is_good = add_run(c, side, files->items[i]);
    c->cli->is_again = false;
    return is_good;
}

/* A page of two runs or, with the call paths of one run a side, of two sets of runs. */
static int compare_sides(qp_cli *cli, qp_list *base, qp_list *new)
{
    comparison c = {.cli = cli,
                    .functions = qp_diff_new(QP_DIFF_FUNCTIONS, false),
                    .threads = qp_diff_new(QP_DIFF_THREADS, false)};
    bool is_good = (c.functions && c.threads) || take_status(&c, qp_cli_fail_memory(cli));
    if (is_good && add_side(&c, QP_DIFF_BASE, base) && add_side(&c, QP_DIFF_NEW, new)) {
        is_good = qp_diff_finish(c.functions) && qp_diff_finish(c.threads);
        take_status(&c, is_good
                            ? show(cli, c.shown[QP_DIFF_NEW],
                                   &(qp_export_options){.base = c.shown[QP_DIFF_BASE],
                                                        .base_name = base->items[base->n - 1],
                                                        .functions = c.functions,
                                                        .threads = c.threads})
                            : qp_cli_fail_memory(cli));
    }
    qp_model_free(c.shown[QP_DIFF_BASE]);
    qp_model_free(c.shown[QP_DIFF_NEW]);
    qp_diff_free(c.functions);
    qp_diff_free(c.threads);
    return c.status;
}

/* @param file  NULL: the newest */
static int show_file(qp_cli *cli, const char *file)
{
    qp_model *m;
    int status = load(cli, file, &m);
    if (status != QP_EXIT_UNUSABLE) {
        int written = show(cli, m, &(qp_export_options){0});
        status = written == QP_EXIT_CLEAN ? status : written;
    }
    qp_model_free(m);
    return status;
}

static int run_html(qp_cli *cli)
{
    char **files = cli->args.operands;
    int n = cli->args.n_operands;
    qp_list *base = &cli->args.diff.base, *new = &cli->args.diff.new;
    const bool has_sets = base->n || new->n;
    cli->args.fold.follows_creators = !cli->args.has_threads;
    if (has_sets && (n || !base->n || !new->n))
        return qp_cli_fail(
            cli, "%s: expected two sets of profiles: qprof html --base A1 A2 A3 --new B1 B2 B3",
            n         ? files[0]
            : base->n ? "--base"
                      : "--new");
    if (n > 2)
        return qp_cli_fail(cli,
                           "%s: too many operands: a page shows one profile, or compares two; "
                           "--base and --new compare sets of them",
                           files[2]);
    if ((n == 2 || has_sets) && cli->args.trace.file)
        return qp_cli_fail(cli, "--trace cannot be combined with several profiles");
    if (cli->args.kept.shown != UINT64_MAX && (n == 2 || has_sets || cli->args.trace.file))
        return qp_cli_fail(cli, "--request cannot be combined with %s",
                           cli->args.trace.file ? "--trace" : "several profiles");
    if (n == 2)
        return compare_sides(cli, &(qp_list){{files[0]}, 1}, &(qp_list){{files[1]}, 1});
    return has_sets ? compare_sides(cli, base, new) : show_file(cli, n ? files[0] : NULL);
}

const qp_command qp_command_html = {
    .name = "html",
    .operands = "[[BASE] FILE] | --base FILE... --new FILE...",
    .summary = "one page for any browser; of two runs, what changed",
    .about = "Writes one self-contained page: flame graphs, functions, call tree, annotated "
             "sources, threads. It needs no network and no server. With two profiles it shows "
             "what changed from BASE to FILE; of two sets, medians of functions, and the call "
             "paths of the run of median time. Sources are in the page if they are the text "
             "that was recorded, or lie below this folder or --source-path; which ones is "
             "printed: check them before you share the page.",
    .flags =
        (const qp_flag[]){QP_TEXT("output", 'o', "FILE", output,
                                  "page to write; -: standard output (default: the "
                                  "profile's name with .html, in this "
                                  "folder; numbered if there is one)"),
                          QP_FLAGS_SIDES,
                          QP_YES("force", 0, is_replacing,
                                 "replacement of a file that is not a page of qprof"),
                          QP_TEXT("trace", 0, "FILE", trace.file,
                                  "a raw trace of the run, for a timeline; where it is in "
                                  "the rings of the profile: "
                                  "the profile itself"),
                          {"request", 0, QP_FLAG_COUNT, "N", QP_FLAG_AT(kept.shown), NULL,
                           "request that is the timeline, of those that were kept whole "
                           "(-slowest): its number in `qprof requests --slowest`; default: "
                           "the slowest"},
                          QP_YES("with-arguments", 0, has_arguments,
                                 "the arguments of the program as well, which may be "
                                 "secrets"),
                          QP_FLAG_SOURCE_PATH,
                          QP_FLAG_NO_SOURCES,
                          QP_FLAG_WHEN,
                          QP_FLAGS_COLLAPSE,
                          QP_FLAG_THREADS_APART,
                          QP_FLAGS_COMMON},
    .examples = "qprof html                        the newest profile here\n"
                "qprof html run.qprof -o run.html\n"
                "qprof html --trace=run.qtrace run.qprof\n"
                "qprof html before.qprof after.qprof -o change.html\n"
                "qprof html --base old-*.qprof --new new-*.qprof -o change.html",
    .run = run_html,
    .replaces = QP_PAGE_MARK};
