/* changes.c: coverage of the lines that a patch changes, for `qprof cover diff`. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/containers/search.h"
#include "base/os/file.h"
#include "base/text/buf.h"
#include "base/text/unit.h"
#include "cli/cover/cover.h"

/* ---- the patch from git ----------------------------------------------------------------------- */

/* Removes const from words of git without a cast: execv takes char *const []. */
typedef union {
    const char *readable;
    char *word;
} word;

/* Run git in the repository, without pager, file system monitor, diff drivers and text converters,
 * which could change the form of its output. Filters of .gitattributes run as in any git command.
 * @param words  [n] @return false: a message was printed */
static bool run_git(const qp_cli *cli, const char *const *words, size_t n, qp_child_output *o)
{
    enum { MOST = 24 };
    const char *folder = cli->args.cover.repo ? cli->args.cover.repo : ".";
    const char *const first[] = {"git", "--no-optional-locks", "-C", folder,
                                 "-c",  "core.quotePath=true", "-c", "core.fsmonitor=false"};
    enum { N_FIRST = sizeof first / sizeof first[0] };
    char *argv[N_FIRST + MOST] = {NULL};
    for (size_t i = 0; i < N_FIRST + n; i++)
        argv[i] = (word){.readable = i < N_FIRST ? first[i] : words[i - N_FIRST]}.word;
    int error = qp_child_read(argv, o);
    if (!error && WIFEXITED(o->status) && WEXITSTATUS(o->status) == 0)
        return true;
    const char *why =
        strncmp(o->complaint, "fatal: ", 7) == 0 ? o->complaint + 7 : o->complaint;
    if (error == ENOENT)
        qp_cli_fail(cli, "git is not installed (use --patch=FILE with the output of git diff)");
    else if (error)
        qp_cli_fail(cli, "git: %s", strerror(error));
    else
        qp_cli_fail(cli, "git: %s: %s", folder, *why ? why : "failed without a message");
    qp_free(o->text);
    return false;
}

static qp_patch *patch_of_git(const qp_cli *cli)
{
    const char *revision = cli->args.cover.git;
    const char *const ask[] = {"rev-parse", "--is-inside-work-tree"};
    const char *const diff[] = {"diff",
                                "--relative",
                                "--unified=0",
                                "--no-color",
                                "--no-ext-diff",
                                "--no-textconv",
                                "--src-prefix=a/",
                                "--dst-prefix=b/",
                                "--ignore-submodules",
                                revision,
                                "--"};
    qp_error error;
    qp_child_output o;
    if (*revision == '-' || *revision == '\0') {
        qp_cli_fail(cli, "--git=%s: expected a revision, for example --git=main", revision);
        return NULL;
    }
    if (!run_git(cli, ask, sizeof ask / sizeof ask[0], &o))
        return NULL;
    qp_free(o.text);
    if (!run_git(cli, diff, sizeof diff / sizeof diff[0], &o))
        return NULL;
    qp_patch *patch = qp_patch_read(o.text ? o.text : "", o.n_bytes, &error);
    qp_free(o.text);
    if (!patch)
        qp_cli_fail(cli, "git diff %s: %s", revision, error.text);
    return patch;
}

/* ---- the patch from a file -------------------------------------------------------------------- */

/* Whether a text without changed lines names files that differ, for example renamed ones, or is empty. */
static bool names_files(const char *text)
{
    return !*text || strncmp(text, "diff ", strlen("diff ")) == 0 || strstr(text, "\ndiff ");
}

/* Open a patch; the shell makes a pipe of --patch=<(git diff). */
static int open_patch(const char *path, const char **why)
{
    if (strncmp(path, "/dev/fd/", strlen("/dev/fd/")) != 0)
        return qp_file_open(path, why);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    *why = strerror(errno);
    return fd;
}

static qp_patch *patch_of_file(const qp_cli *cli)
{
    const char *path = cli->args.cover.patch, *why;
    qp_error error;
    bool is_input = strcmp(path, "-") == 0;
    const char *name = is_input ? "standard input" : path;
    size_t n_bytes = 0;
    int fd = is_input ? STDIN_FILENO : open_patch(path, &why);
    char *text = fd >= 0 ? qp_text_read(fd, SIZE_MAX / 2, &n_bytes, &why) : NULL;
    if (fd >= 0 && !is_input)
        close(fd);
    if (!text) {
        qp_cli_fail(cli, "%s: %s", name, why);
        return NULL;
    }
    qp_patch *patch = qp_patch_read(text, n_bytes, &error);
    if (!patch) {
        qp_cli_fail(cli, "%s: %s", name, error.text);
    } else if (patch->n_files == 0 && !names_files(text)) {
        qp_cli_fail(cli, "%s: not a unified diff", name);
        qp_patch_free(patch);
        patch = NULL;
    }
    qp_free(text);
    return patch;
}

/* The files of a patch. */
typedef struct {
    const qp_cover *c;
    const qp_cover_changed *const *of_file; /* [c->n_files] NULL: not in the patch */
    const qp_cover_changed *files;          /* [n] */
    size_t n;
    qp_cover_totals totals; /* lines alone */
    size_t n_unknown;       /* files that are not in the report */
} changes;

static void add_up(changes *x)
{
    for (size_t i = 0; i < x->n; i++) {
        x->totals.lines += x->files[i].n_lines;
        x->totals.lines_hit += x->files[i].n_hit;
        x->totals.lines_partial += x->files[i].n_partial;
        x->n_unknown += !x->files[i].file;
    }
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool print_table(const qp_screen *s, const changes *x)
{
    static const qp_column columns[] = {{"File", QP_KEEP_END, 0},
                                        {"Changed lines", QP_ALIGN_RIGHT, 0},
                                        {"Missed", QP_ALIGN_RIGHT, 1},
                                        {"%", QP_ALIGN_RIGHT, 0}};
    qp_table t;
    qp_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < x->n; i++) {
        const qp_cover_changed *f = &x->files[i];
        if (!f->n_lines)
            continue;
        qp_table_name(&t, QP_STYLE_PLAIN, f->path);
        qp_cover_add_share(&t, f->n_hit, f->n_lines, true);
    }
    qp_table_plain(&t, QP_STYLE_HEAD, "Total");
    qp_cover_add_share(&t, x->totals.lines_hit, x->totals.lines, true);
    return qp_table_end(&t, s, 0);
}

static void print_missed(const qp_screen *s, const changes *x)
{
    if (x->totals.lines_hit < x->totals.lines)
        qp_out_text(s->out, "\nNever executed\n");
    for (size_t i = 0; i < x->n; i++) {
        const qp_cover_changed *f = &x->files[i];
        qp_cover_list list = {.s = s, .indent = 4, .title = f->path};
        for (size_t k = 0; k < f->n_missed; k++)
            qp_cover_show_range(&list, f->file, f->missed[k].first, f->missed[k].last);
        qp_out_text(s->out, list.column ? "\n" : "");
    }
}

static bool print_text(const qp_cli *cli, const changes *x)
{
    const qp_screen *s = &cli->screen;
    char text[QP_NUMBER_BYTES];
    qp_cover_header(cli, x->c);
    if (x->totals.lines == 0)
        qp_out_text(s->out, "No changed line has code in the profile.\n");
    else if (!print_table(s, x))
        return false;
    print_missed(s, x);
    if (x->n_unknown)
        qp_out_format(s->out, "\n%s of the patch not in the profile.\n",
                      qp_unit_things(text, x->n_unknown, "file"));
    return true;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

const qp_field qp_cover_span_fields[] = {
    {"first", NULL, "line", QP_FIELD_COUNT, QP_FIELD_AT(qp_patch_span, first)},
    {"last", NULL, "line", QP_FIELD_COUNT, QP_FIELD_AT(qp_patch_span, last)},
    {.key = NULL}};

#define AT(member) QP_FIELD_AT(qp_cover_changed, member)
static const qp_field file_fields[] = {
    {"path", NULL, "path as in the patch", QP_FIELD_NAME, AT(path)},
    {"known", NULL, "the profile has the file", QP_FIELD_YES, AT(is_known)},
    {"changed", NULL, "changed lines, with code or without", QP_FIELD_COUNT, AT(n_changed)},
    {"lines", NULL, "changed lines with code", QP_FIELD_COUNT, AT(n_lines)},
    {"lines_hit", NULL, "changed lines that were hit", QP_FIELD_COUNT, AT(n_hit)},
    {"missed", NULL, "ranges of changed lines that were not hit", QP_FIELD_ROWS,
     QP_FIELD_ITEMS(qp_cover_changed, missed, n_missed), .sub = qp_cover_span_fields},
    {.key = NULL}};
#undef AT

static const qp_field totals_fields[] = {{"lines", NULL, "changed lines with code",
                                          QP_FIELD_COUNT, QP_FIELD_AT(qp_cover_totals, lines)},
                                         {"lines_hit", NULL, "changed lines that were hit",
                                          QP_FIELD_COUNT,
                                          QP_FIELD_AT(qp_cover_totals, lines_hit)},
                                         {.key = NULL}};

const qp_field qp_cover_changes_document[] = {
    {"files", NULL, "files of the patch that are not removed", QP_FIELD_ROWS,
     QP_FIELD_ITEMS(changes, files, n), .sub = file_fields},
    {"totals", NULL, "sums", QP_FIELD_OBJECT, QP_FIELD_AT(changes, totals),
     .sub = totals_fields},
    {.key = NULL}};

/* ---- all ------------------------------------------------------------------------------------- */

/* Does the patch change the line? */
static bool is_changed(const void *data, const qp_cover_file *f, size_t line)
{
    const changes *x = data;
    const qp_cover_changed *row = x->of_file[f - x->c->files];
    uint32_t number = f->lines[line].line;
    size_t n = row ? row->patch->n_spans : 0;
    size_t at = n ? QP_SEARCH(row->patch->spans, n, last, number) : 0;
    return at < n && row->patch->spans[at].first <= number;
}

/* @return false: no memory */
static bool write_notes(qp_cli *cli, changes *x)
{
    const qp_cover_changed **rows = qp_alloc_zeroed(x->c->n_files, sizeof *rows);
    for (size_t i = 0; rows && i < x->n; i++)
        if (x->files[i].file)
            rows[x->files[i].file - x->c->files] = &x->files[i];
    x->of_file = rows;
    if (rows)
        qp_cover_notes(cli, x->c, is_changed, x);
    qp_free(rows);
    return rows != NULL;
}

static int show_rows(qp_cli *cli, changes *x)
{
    bool is_good = true;
    if (cli->args.cover.annotations)
        is_good = write_notes(cli, x);
    else if (cli->args.format == QP_FORMAT_JSON)
        qp_document_json(&cli->out, qp_cover_changes_document, x);
    else
        is_good = print_text(cli, x);
    if (!is_good)
        return qp_cli_fail_memory(cli);
    qp_out_flush(&cli->out); /* the verdict follows it */
    return x->totals.lines ? qp_cover_judge(cli, &x->totals) : QP_EXIT_CLEAN;
}

static int show(qp_cli *cli, const qp_cover *c, void *patch)
{
    changes x = {.c = c};
    qp_cover_changed *files;
    if (!qp_cover_changes(c, patch, &files, &x.n))
        return qp_cli_fail_memory(cli);
    x.files = files;
    add_up(&x);
    int status = show_rows(cli, &x);
    qp_free(files);
    return status;
}

int qp_cover_show_changes(qp_cli *cli)
{
    const qp_cover_args *a = &cli->args.cover;
    if (!qp_cover_notes_are_alone(cli))
        return QP_EXIT_UNUSABLE;
    if (!a->root) /* the patch's paths are relative to it */
        cli->args.cover.root = a->git ? a->repo : NULL;
    qp_patch *patch = a->git ? patch_of_git(cli) : patch_of_file(cli);
    int status = patch ? qp_cover_show(cli, show, patch) : QP_EXIT_UNUSABLE;
    qp_patch_free(patch);
    return status;
}
