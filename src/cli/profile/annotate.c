/* annotate.c: `qprof annotate`: source lines with the figures of the blocks that begin on them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/search.h"
#include "cli/profile/around.h"
#include "cli/show/show.h"
#include "model/figures/figures.h"

/* One file, or the part of it that one function takes. */
typedef struct {
    const char *file;
    uint32_t method;      /* 0: the whole file */
    uint32_t first, last; /* lines that are shown */
    uint32_t thread;
    qp_line_figures *lines;
    size_t n_lines;
    qp_source source;
    bool has_source;
} part;

static bool find_lines(part *p, const qp_model *m)
{
    return qp_model_lines(m, p->file, p->method, p->thread, &p->lines, &p->n_lines);
}

static void fini_part(part *p)
{
    qp_free(p->lines);
    if (p->has_source)
        qp_source_fini(&p->source);
}

/* Why there is nothing of lines: `none` unless the run was not to collect it. */
static const char *missing_reason(const qp_model *m, const char *none)
{
    if (m->run.is_stack_only && !m->run.is_imported)
        return "it holds interrupts alone, which say nothing of lines";
    return m->run.grain == QP_GRAIN_FUNCTION
               ? "it was recorded with -collection-granularity=function"
               : none;
}

/* ---- text ---------------------------------------------------------------------------------- */

/* Quantify's marks: | a line that has code begins, . it goes on, + several blocks begin on it,
 * # a block of it was never executed. */
static const char *mark_of(const qp_line_figures *f, bool is_inside)
{
    if (!f)
        return is_inside ? "." : "";
    if (f->n_missed)
        return f->n_blocks > 1 ? "+#" : "#";
    return f->n_blocks > 1 ? "+" : "|";
}

static const qp_line_figures *line_figures(const part *p, uint32_t line)
{
    size_t at = QP_SEARCH(p->lines, p->n_lines, line, line);
    return at < p->n_lines && p->lines[at].line == line ? &p->lines[at] : NULL;
}

typedef struct {
    bool has_counts, has_times;
    uint64_t most_count, most_self, self; /* largest of a line; sum of all lines */
    qp_unit unit;
} scale;

static scale measure(const qp_cli *cli, const qp_model *m, const part *p)
{
    scale x = {0};
    for (size_t i = 0; i < p->n_lines; i++) {
        const qp_line_figures *f = &p->lines[i];
        x.has_counts |= f->is_counted;
        x.has_times |= f->is_timed && m->run.has_times;
        x.most_count = f->count > x.most_count ? f->count : x.most_count;
        x.most_self = f->self > x.most_self ? f->self : x.most_self;
        x.self += f->self;
    }
    x.unit = qp_view_unit(m, x.most_self, cli->args.unit);
    return x;
}

/* Lines that take most of the time or, without times, are executed most often. */
static qp_style style_of_line(const scale *x, const qp_line_figures *f)
{
    if (!f || (f->is_counted && f->count == 0))
        return QP_STYLE_DIM;
    if (x->has_times)
        return qp_style_of_percent(qp_view_percent(f->self, x->self));
    return x->most_count > 1 && f->count > x->most_count / 2    ? QP_STYLE_HOT
           : x->most_count > 1 && f->count > x->most_count / 10 ? QP_STYLE_WARM
                                                                : QP_STYLE_PLAIN;
}

/* A line of the listing, but for its text. */
typedef struct {
    const char *mark, *line;
    uint64_t count, self, total;
    double self_percent, total_percent; /* of its function */
} listing_row;

enum { HAS_COUNTS = 1, HAS_LINE_TIMES = 2 };

#define AT(member) QP_FIELD_AT(listing_row, member)
static const qp_field columns[] = {
    {"mark", "", NULL, QP_FIELD_WORD, AT(mark), .flags = QP_FIELD_HOT},
    {"count", "Count", NULL, QP_FIELD_COUNT, AT(count), .flags = QP_FIELD_HOT | QP_FIELD_BLANK,
     .needs = HAS_COUNTS},
    {"self", "Self", NULL, QP_FIELD_TIME, AT(self), .flags = QP_FIELD_HOT | QP_FIELD_BLANK,
     .rank = 1, .needs = HAS_LINE_TIMES},
    {"self_percent", "Self %", NULL, QP_FIELD_PERCENT, AT(self_percent),
     .flags = QP_FIELD_HOT | QP_FIELD_BLANK, .needs = HAS_LINE_TIMES},
    {"total", "Total", NULL, QP_FIELD_TIME, AT(total), .flags = QP_FIELD_HOT | QP_FIELD_BLANK,
     .rank = 3, .needs = HAS_LINE_TIMES},
    {"total_percent", "Total %", NULL, QP_FIELD_PERCENT, AT(total_percent),
     .flags = QP_FIELD_HOT | QP_FIELD_BLANK, .rank = 2, .needs = HAS_LINE_TIMES},
    {"line", "Line", NULL, QP_FIELD_WORD, AT(line), .flags = QP_FIELD_RIGHT | QP_FIELD_DIM},
    {.key = NULL}};
#undef AT

static const listing_row empty_row = {"", "", QP_FIELD_NONE, QP_FIELD_NONE, QP_FIELD_NONE,
                                      -1, -1};

/* A comment of the tool in the listing, before the line on which a function begins. */
static void add_comment(qp_listing *l, const char *text)
{
    char comment[2100];
    snprintf(comment, sizeof comment, "* %s", text);
    qp_listing_row(l, &empty_row, QP_STYLE_PLAIN);
    qp_table_cell(&l->table, QP_STYLE_HEAD, comment);
}

static void add_summary(qp_listing *l, const qp_around *around, uint32_t method)
{
    char text[2048];
    add_comment(l, qp_around_figures(around, method, text, sizeof text));
    if (*qp_around_callers(around, method, text, sizeof text))
        add_comment(l, text);
}

/* @param whole  figures of the function around it */
static void add_line(qp_listing *l, const qp_model *m, const scale *x, const part *p,
                     const qp_figures *whole, uint32_t line, bool is_inside)
{
    char number[16], source[4096];
    const qp_line_figures *f = line_figures(p, line);
    qp_style style = style_of_line(x, f);
    listing_row row = empty_row;
    snprintf(number, sizeof number, "%" PRIu32, line);
    row.mark = mark_of(f, is_inside);
    row.line = number;
    if (f && f->is_counted)
        row.count = f->count;
    if (f && f->is_timed) {
        row.self = qp_model_ns(m, f->self);
        row.total = qp_model_ns(m, f->total);
        row.self_percent = qp_view_percent(f->self, whole->self);
        row.total_percent = qp_view_percent(f->total, whole->total);
    }
    qp_listing_row(l, &row, style);
    qp_listing_line(source, sizeof source, p->has_source ? &p->source : NULL, line);
    qp_table_cell(&l->table, style == QP_STYLE_DIM && f ? QP_STYLE_DIM : QP_STYLE_PLAIN,
                  source);
}

static void add_lines(qp_listing *l, const qp_model *m, const scale *x, const part *p,
                      qp_around *around)
{
    bool is_inside = false;
    for (uint32_t line = p->first; line && line <= p->last; line++) {
        bool has_code = line_figures(p, line) != NULL;
        if (!has_code && !p->has_source)
            continue;
        for (size_t n = qp_around_go(around, line); n > 0; n--)
            add_summary(l, around, around->ranges[around->n_begun - n].method);
        is_inside |= has_code;
        add_line(l, m, x, p, &around->view.flat[qp_around_method(around)], line, is_inside);
    }
}

static bool print_listing(const qp_cli *cli, const qp_model *m, const part *p)
{
    scale x = measure(cli, m, p);
    qp_around around;
    qp_listing l;
    qp_listing_begin(&l, &cli->screen, columns, NULL,
                     (x.has_counts ? HAS_COUNTS : 0) | (x.has_times ? HAS_LINE_TIMES : 0),
                     x.unit);
    qp_table_column(&l.table, "Source", QP_KEEP_BEGIN, 0);
    bool is_good = qp_around_init(&around, m, p->file, p->method, p->thread);
    if (is_good)
        add_lines(&l, m, &x, p, &around);
    is_good = qp_listing_end(&l, 0) && is_good;
    qp_around_fini(&around);
    if (is_good && !x.has_counts && !x.has_times)
        qp_out_format(cli->screen.out, "No figures of lines: %s.\n",
                      missing_reason(m, m->run.is_virtual && p->thread != QP_ALL_THREADS
                                            ? "they are not counted by virtual thread"
                                            : "the program reported none"));
    return is_good;
}

static bool print_text(const qp_cli *cli, const qp_model *m, part *p)
{
    const qp_screen *s = &cli->screen;
    qp_error error;
    qp_header_text(s, m, cli->path, false);
    if (!find_lines(p, m))
        return false;
    p->has_source = qp_source_read(p->file, cli->args.source_path, &p->source, &error);
    if (p->last == 0 && p->n_lines) {
        p->first = 1;
        p->last = p->has_source ? p->source.n_lines : p->lines[p->n_lines - 1].line;
    }
    qp_screen_style(s, QP_STYLE_HEAD);
    qp_screen_name(s, p->has_source ? p->source.path : p->file, 0);
    qp_screen_style(s, QP_STYLE_PLAIN);
    qp_out_char(s->out, '\n');
    if (!p->has_source) {
        qp_out_text(s->out, "No source text: ");
        qp_screen_name(s, error.text, 0);
        qp_out_text(s->out, "; --source-path=DIR says where to look\n");
    }
    if (p->n_lines == 0) {
        qp_out_text(s->out, "The profile has no lines of it.\n");
        return true;
    }
    return print_listing(cli, m, p);
}

/* ---- JSON, CSV ----------------------------------------------------------------------------- */

typedef struct {
    qp_line_figures f; /* times in the run's unit */
    const char *file;
} line_row;

#define AT(member) QP_FIELD_AT(line_row, member)
static const qp_field line_fields[] = {
    {"file", NULL, NULL, QP_FIELD_NAME, AT(file), .flags = QP_FIELD_NO_JSON},
    {"line", NULL, "number, from 1", QP_FIELD_COUNT, AT(f.line), .least = 1},
    {"count", NULL, "executions; null: not counted", QP_FIELD_COUNT, AT(f.count),
     .flags = QP_FIELD_NULLABLE},
    {"self", NULL, "self time of its blocks, in the run's unit", QP_FIELD_TIME, AT(f.self)},
    {"total", NULL, "time including called methods", QP_FIELD_TIME, AT(f.total)},
    {"timed", NULL, "self and total were measured", QP_FIELD_YES, AT(f.is_timed)},
    {"blocks", NULL, "blocks that begin on it", QP_FIELD_COUNT, AT(f.n_blocks)},
    {"missed", NULL, "blocks that were never executed", QP_FIELD_COUNT, AT(f.n_missed)},
    {.key = NULL}};
#undef AT

typedef struct {
    qp_document about;
    const part *wanted;         /* its file NULL: all files */
    const qp_model_file *files; /* [n_files] */
    size_t n_files;
    bool *has_failed; /* no memory */
} document;

typedef struct {
    const char *path;
    const document *document;
} file_row;

/* Give each line of a file, or of the part that is wanted, to one of two writers. */
static void write_file(const document *d, const char *path, qp_json *json, const qp_csv *csv)
{
    part p = d->wanted->file ? *d->wanted : (part){.file = path, .thread = d->wanted->thread};
    const qp_model *m = d->about.m;
    *d->has_failed |= !find_lines(&p, m);
    for (size_t i = 0; i < p.n_lines && !*d->has_failed; i++) {
        line_row row = {p.lines[i], p.file};
        if (p.last && (row.f.line < p.first || row.f.line > p.last))
            continue;
        row.f.count = row.f.is_counted ? row.f.count : QP_FIELD_NONE;
        row.f.self = qp_model_ns(m, row.f.self);
        row.f.total = qp_model_ns(m, row.f.total);
        if (json)
            qp_row_json(json, NULL, line_fields, QP_FIELDS_ALL, &row);
        else
            qp_csv_row(csv, &row);
    }
    fini_part(&p);
}

static void write_lines(qp_json *json, const void *row)
{
    const file_row *file = row;
    write_file(file->document, file->path, json, NULL);
}

static const qp_field file_fields[] = {
    {"path", NULL, "source as registered", QP_FIELD_NAME, QP_FIELD_AT(file_row, path)},
    {"lines", NULL, "lines that have code, ascending", QP_FIELD_ROWS, .sub = line_fields,
     .write = write_lines},
    {.key = NULL}};

static void write_files(qp_json *json, const void *row)
{
    const document *d = row;
    for (size_t i = 0; i < d->n_files; i++)
        qp_row_json(json, NULL, file_fields, QP_FIELDS_ALL,
                    &(file_row){d->wanted->file ? d->wanted->file : d->files[i].path, d});
}

static const qp_field document_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, .sub = qp_run_part},
    {"files", NULL, "all sources, or the one that is named", QP_FIELD_ROWS, .sub = file_fields,
     .write = write_files},
    {.key = NULL}};

/* Write the part that is wanted or, with none, all files. */
static bool write_all(qp_cli *cli, const qp_model *m, const part *wanted)
{
    qp_model_file *files = NULL;
    size_t n_files = 1;
    bool has_failed = !wanted->file && !qp_model_files(m, &files, &n_files);
    const document d = {{m, wanted->thread}, wanted, files, n_files, &has_failed};
    qp_csv csv;
    if (!has_failed && cli->args.format == QP_FORMAT_JSON) {
        qp_document_json(&cli->out, document_fields, &d);
    } else if (!has_failed) {
        qp_csv_begin(&csv, &cli->out, line_fields, "file line count self total blocks missed",
                     QP_FIELDS_ALL, m->run.unit);
        for (size_t i = 0; i < n_files; i++)
            write_file(&d, files ? files[i].path : NULL, NULL, &csv);
    }
    qp_free(files);
    return !has_failed;
}

/* ---- the command --------------------------------------------------------------------------- */

/* A source file by its whole path or the end of it. @return NULL: none, or several */
static const char *file_named(const qp_model *m, const char *name)
{
    const char *found = NULL;
    size_t n = strlen(name);
    for (uint32_t i = 1; i < m->n_methods; i++) {
        const char *file = m->methods[i].file;
        size_t n_file = strlen(file);
        if (strcmp(file, name) == 0)
            return file;
        if (n_file > n && file[n_file - n - 1] == '/' && strcmp(file + n_file - n, name) == 0) {
            if (found && strcmp(found, file) != 0)
                return NULL;
            found = file;
        }
    }
    return found;
}

/* @return false: a message was printed */
static bool choose_part(const qp_cli *cli, const qp_model *m, const char *name, part *p)
{
    bool is_text = cli->args.format == QP_FORMAT_TEXT;
    if (name && (p->file = file_named(m, name)))
        return true;
    if (!name && !is_text)
        return true;
    if (name && !qp_method_find(cli, m, name, &p->method))
        return false;
    if (!name && !(p->method = qp_method_hottest(m))) {
        qp_cli_fail(cli, "%s: no function that was called has lines: %s", cli->path,
                    missing_reason(m, "the program gave no line table"));
        return false;
    }
    p->file = m->methods[p->method].file;
    if (qp_method_range(&m->methods[p->method], &p->first, &p->last))
        return true;
    qp_cli_fail(cli, "%s: %s has no lines: %s", cli->path, m->methods[p->method].name,
                missing_reason(m, "the program gave no line table"));
    return false;
}

static int run_annotate(qp_cli *cli)
{
    const char *file, *name;
    qp_model *m;
    part p = {0};
    if (!qp_cli_operands(cli, &name, &file))
        return QP_EXIT_UNUSABLE;
    int status = qp_cli_load(cli, file, &m);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    if (!qp_cli_thread(cli, m, &p.thread) || !choose_part(cli, m, name, &p))
        status = QP_EXIT_UNUSABLE;
    else if (cli->args.format == QP_FORMAT_TEXT ? !print_text(cli, m, &p)
                                                : !write_all(cli, m, &p))
        status = qp_cli_fail_memory(cli);
    fini_part(&p);
    qp_model_free(m);
    return status;
}

static const qp_flag flags[] = {QP_FLAG_SAMPLE_INDEX, QP_FLAG_SOURCE_PATH, QP_FLAG_THREAD,
                                QP_FLAG_UNIT,         QP_FLAG_FORMAT,      QP_FLAGS_COMMON};

const qp_command qp_command_annotate = {
    .name = "annotate",
    .operands = "[SOURCE|METHOD] [FILE]",
    .summary = "source lines with counts and times",
    .about =
        "Shows source lines with how often they were executed and the time they took: of a\n"
        "source file, of the lines of one function, or of the hottest one that has lines.\n"
        "Percentages are of the function around the line; Total includes what the line "
        "called.\n"
        "JSON and CSV hold all files if none is named. Marks: | a line of code, . it goes\n"
        "on, + several blocks begin on it, # a block of it was never executed, * about a\n"
        "function.",
    .flags = flags,
    .examples = "qprof annotate                    the hottest function\n"
                "qprof annotate lexer.lua run.qprof\n"
                "qprof annotate parse run.qprof\n"
                "qprof annotate --format=json run.qprof | jq '.files[0].lines'",
    .schemas = (const qp_schema[]){{"annotate", document_fields}, {.name = NULL}},
    .run = run_annotate};
