/* check.c: `qprof cover check`: compares coverage with the thresholds of a file:
 *
 *   # a comment
 *   lines 80                        of all files together
 *   branches 70
 *   file src/parser/ lines 95       of each file that the glob matches
 *   file "my folder/a.lua" functions 100 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/buf.h"
#include "base/text/glob.h"
#include "base/text/unit.h"
#include "cli/cover/cover.h"

/* ---- the file of thresholds ------------------------------------------------------------------ */

typedef struct {
    const char *glob; /* NULL: all files together */
    qp_figure figure;
    double percent;
    unsigned line; /* of the file */
    /* The verdict. */
    const qp_cover *c;
    size_t n_files, n_failed; /* files that it is about; of one for all together: 1 */
    uint64_t n_hit, n_all;    /* of the worst one */
    bool has_passed;
} threshold;

typedef struct {
    threshold *items; /* [n] */
    size_t n;
    bool have_passed;
} thresholds;

enum { FILE_MAX = 1 << 20, WORD_SHOWN = 60 };

typedef struct {
    const qp_cli *cli;
    const char *path;
    unsigned line;
    const char *begin; /* of the line */
    char *at;
    bool has_failed;
} parser;

static void refuse(parser *p, const char *word, const char *expected)
{
    qp_cli_fail(p->cli, "%s:%u:%u: expected %s%s%.*s", p->path, p->line,
                (unsigned)(word - p->begin) + 1, expected, *word ? ", not " : "", WORD_SHOWN,
                word);
    p->has_failed = true;
}

/* Cut off the next word, which may contain blanks in quotes. @return "" at the end */
static char *next_word(parser *p)
{
    char *word = p->at + strspn(p->at, " \t\r");
    bool is_quoted = *word == '"';
    char *end = is_quoted ? strchr(word + 1, '"') : word + strcspn(word, " \t\r#");
    if (is_quoted && !end) {
        refuse(p, word, "a \" at the end of the name");
        end = word + strlen(word);
    }
    if (!is_quoted && end == word) { /* a comment, or nothing */
        *word = '\0';
        p->at = word;
        return word;
    }
    p->at = end + (*end != '\0');
    if (*end == '#')
        *p->at = '\0';
    *end = '\0';
    return word + is_quoted;
}

static bool read_percent(parser *p, double *percent)
{
    char *word = next_word(p), *end;
    *percent = strtod(word, &end);
    bool is_number = *word >= '0' && *word <= '9' && (*end == '\0' || strcmp(end, "%") == 0);
    if (!is_number || *percent < 0 || *percent > 100) {
        refuse(p, word, "a number from 0 to 100");
        return false;
    }
    word = next_word(p);
    if (*word)
        refuse(p, word, "the end of the line");
    return *word == '\0';
}

static void read_line(parser *p, qp_buf *items)
{
    char *word = next_word(p);
    const char *glob = NULL;
    double percent;
    if (!*word || p->has_failed)
        return;
    if (strcmp(word, "file") == 0) {
        glob = next_word(p);
        if (!*glob)
            refuse(p, glob, "a file, for example src/*.lua");
        word = *glob ? next_word(p) : word;
    }
    if (p->has_failed)
        return;
    int figure = qp_args_word(QP_FIGURE_WORDS, word);
    if (figure < 0) {
        refuse(p, word,
               glob ? "lines, branches or functions" : "lines, branches, functions or file");
        return;
    }
    if (!read_percent(p, &percent))
        return;
    threshold *t = qp_buf_add(items);
    if (t)
        *t = (threshold){.glob = glob ? qp_alloc_text(glob) : NULL,
                         .figure = (qp_figure)figure,
                         .percent = percent,
                         .line = p->line};
    items->failed |= t && glob && !t->glob;
}

static void free_thresholds(thresholds *t)
{
    for (size_t i = 0; i < t->n; i++)
        qp_free(t->items[i].glob);
    qp_free(t->items);
    *t = (thresholds){0};
}

/* @param text  is modified @return false: messages were printed */
static bool read_lines(const qp_cli *cli, const char *path, char *text, thresholds *t)
{
    bool has_failed = false;
    unsigned n = 0;
    qp_buf items;
    qp_buf_init(&items, sizeof(threshold));
    for (char *rest = text; rest;) {
        parser p = {.cli = cli, .path = path, .line = ++n};
        p.begin = p.at = strsep(&rest, "\n");
        read_line(&p, &items);
        has_failed |= p.has_failed;
    }
    if (!has_failed && !items.failed && items.n == 0) {
        qp_cli_fail(cli, "%s: no threshold (for example: lines 80)", path);
        has_failed = true;
    }
    t->items = items.items;
    t->n = items.n;
    if (items.failed)
        qp_cli_fail_memory(cli);
    if (!has_failed && !items.failed)
        return true;
    free_thresholds(t);
    return false;
}

/* @return false: a message was printed for the file, or for each bad line */
static bool read_thresholds(const qp_cli *cli, const char *path, thresholds *t)
{
    const char *why;
    size_t n_bytes;
    char *text = qp_text_file(path, FILE_MAX, &n_bytes, &why);
    *t = (thresholds){0};
    if (!text)
        qp_cli_fail(cli, "%s: %s (use --thresholds=FILE)", path, why);
    bool is_good = text && read_lines(cli, path, text, t);
    qp_free(text);
    return is_good;
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* Whether the threshold applies to the file, which has something to hit. */
static bool is_about(const threshold *t, const qp_cover_file *f)
{
    uint64_t n_hit, n;
    qp_figure_of(&f->totals, t->figure, &n_hit, &n);
    return t->glob && n && qp_glob_fits_path(t->glob, f->path);
}

/* A threshold that no file matches fails: it is a typing error, or code that is no longer loaded. */
static void judge(threshold *t, const qp_cover *c)
{
    qp_error why;
    t->c = c;
    if (!t->glob) {
        t->n_files = 1;
        t->n_failed = !qp_figure_reaches(&c->totals, t->figure, t->percent, &why);
        qp_figure_of(&c->totals, t->figure, &t->n_hit, &t->n_all);
    }
    for (size_t i = 0; i < c->n_files; i++) {
        const qp_cover_file *f = &c->files[i];
        uint64_t n_hit, n;
        if (!is_about(t, f))
            continue;
        qp_figure_of(&f->totals, t->figure, &n_hit, &n);
        if (!t->n_files || qp_cover_percent(n_hit, n) < qp_cover_percent(t->n_hit, t->n_all)) {
            t->n_hit = n_hit;
            t->n_all = n;
        }
        t->n_files++;
        t->n_failed += !qp_figure_reaches(&f->totals, t->figure, t->percent, &why);
    }
    t->has_passed = t->n_files && !t->n_failed;
}

/* Print a message for everything below the threshold. */
static void complain(const qp_cli *cli, const threshold *t, const qp_cover *c)
{
    qp_error why;
    if (!t->glob && !qp_figure_reaches(&c->totals, t->figure, t->percent, &why))
        qp_cli_warn(cli, "%s", why.text);
    for (size_t i = 0; t->glob && i < c->n_files; i++)
        if (is_about(t, &c->files[i]) &&
            !qp_figure_reaches(&c->files[i].totals, t->figure, t->percent, &why))
            qp_cli_warn(cli, "%s: %s", c->files[i].path, why.text);
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool print_text(const qp_cli *cli, const thresholds *all, const qp_cover *c)
{
    static const qp_column columns[] = {
        {"Figure", QP_ALIGN_LEFT, 0}, {"Of", QP_KEEP_BEGIN, 0},
        {"Files", QP_ALIGN_RIGHT, 1}, {"Least %", QP_ALIGN_RIGHT, 0},
        {"Limit", QP_ALIGN_RIGHT, 0}, {"Result", QP_ALIGN_LEFT, 0}};
    char text[QP_NUMBER_BYTES];
    qp_table t;
    qp_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < all->n; i++) {
        const threshold *x = &all->items[i];
        qp_table_plain(&t, QP_STYLE_PLAIN, qp_figure_names[x->figure]);
        qp_table_name(&t, QP_STYLE_PLAIN, x->glob ? x->glob : "all files together");
        qp_table_count(&t, x->glob ? x->n_files : c->n_files);
        qp_table_plain(&t, QP_STYLE_PLAIN, qp_unit_share(text, x->n_hit, x->n_all, 1));
        snprintf(text, sizeof text, "%g", x->percent);
        qp_table_plain(&t, QP_STYLE_PLAIN, text);
        qp_table_plain(&t, x->has_passed ? QP_STYLE_GOOD : QP_STYLE_BAD,
                       !x->n_files     ? "no such file"
                       : x->has_passed ? "ok"
                                       : "FAILED");
    }
    return qp_table_end(&t, &cli->screen, 0);
}

static void write_failed(qp_json *json, const void *data)
{
    qp_error why;
    const threshold *x = data;
    for (size_t i = 0; i < x->c->n_files; i++) {
        const qp_cover_file *f = &x->c->files[i];
        if (is_about(x, f) && !qp_figure_reaches(&f->totals, x->figure, x->percent, &why))
            qp_json_text(json, NULL, f->path);
    }
}

#define AT(member) QP_FIELD_AT(threshold, member)
static const qp_field threshold_fields[] = {
    {"figure", NULL, "figure that is limited", QP_FIELD_CHOICE, AT(figure),
     .words = QP_FIGURE_WORDS},
    {"file", NULL, "glob; null: all files together", QP_FIELD_NAME, AT(glob),
     .flags = QP_FIELD_NULLABLE},
    {"percent", NULL, "minimum", QP_FIELD_PERCENT, AT(percent)},
    {"passed", NULL, "it is reached", QP_FIELD_YES, AT(has_passed)},
    {"hit", NULL, "hit ones, in the worst file", QP_FIELD_COUNT, AT(n_hit)},
    {"all", NULL, "known ones, in the worst file", QP_FIELD_COUNT, AT(n_all)},
    {"failed", NULL, "paths of the files that do not reach it", QP_FIELD_TEXTS,
     .write = write_failed},
    {.key = NULL}};
#undef AT

static const qp_field document_fields[] = {
    {"passed", NULL, "no threshold failed", QP_FIELD_YES, QP_FIELD_AT(thresholds, have_passed)},
    {"thresholds", NULL, "thresholds in the order of their file", QP_FIELD_ROWS,
     QP_FIELD_ITEMS(thresholds, items, n), .sub = threshold_fields},
    {.key = NULL}};

static int show(qp_cli *cli, const qp_cover *c, void *data)
{
    thresholds *all = data;
    size_t n_files = 0;
    bool is_good = true;
    all->have_passed = true;
    for (size_t i = 0; i < all->n; i++) {
        threshold *t = &all->items[i];
        judge(t, c);
        all->have_passed &= t->has_passed;
        n_files += t->n_files;
        if (!t->n_files)
            qp_cli_warn(cli, "%s:%u: no file with %s matches %s", cli->args.cover.thresholds,
                        t->line, qp_figure_names[t->figure], t->glob);
    }
    if (cli->args.cover.annotations)
        qp_cover_notes(cli, c, NULL, NULL);
    else if (cli->args.format == QP_FORMAT_JSON)
        qp_document_json(&cli->out, document_fields, all);
    else
        is_good = print_text(cli, all, c);
    qp_out_flush(&cli->out); /* the reasons follow the table */
    for (size_t i = 0; i < all->n; i++)
        complain(cli, &all->items[i], c);
    if (!is_good)
        return qp_cli_fail_memory(cli);
    return !n_files ? QP_EXIT_UNUSABLE : all->have_passed ? QP_EXIT_CLEAN : QP_EXIT_FAILED;
}

static int run_check(qp_cli *cli)
{
    thresholds all;
    if (!qp_cover_notes_are_alone(cli) ||
        !read_thresholds(cli, cli->args.cover.thresholds, &all))
        return QP_EXIT_UNUSABLE;
    int status = qp_cover_show(cli, show, &all);
    free_thresholds(&all);
    return status;
}

const qp_command qp_command_cover_check = {
    .name = "cover check",
    .operands = "[FILE...]",
    .summary = "comparison with thresholds from a file, annotations for a CI",
    .about = "Compares coverage with the thresholds of a file; exit status 1 if one is not\n"
             "reached. A line of the file is a figure (lines, branches, functions) and its\n"
             "minimum in percent, for all files together, or for each file that a glob\n"
             "matches:\n"
             "  lines 80\n"
             "  branches 70\n"
             "  file src/parser/** lines 95       # comments are allowed",
    .flags = (const qp_flag[]){{"thresholds", 0, QP_FLAG_TEXT, "FILE", QP_COVER_AT(thresholds),
                                "coverage.thresholds", "file of thresholds"},
                               QP_COVER_FLAG_NOTES,
                               QP_COVER_FLAGS,
                               QP_COVER_FLAG_FORMAT,
                               QP_FLAGS_COMMON},
    .schemas = (const qp_schema[]){{"cover-check", document_fields}, {.name = NULL}},
    .examples = "qprof cover check\n"
                "qprof cover check --thresholds=ci/coverage run.qprof\n"
                "qprof cover check --annotations=github\n"
                "qprof cover check --annotations=gitlab >gl-code-quality-report.json",
    .run = run_check};
