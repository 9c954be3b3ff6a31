/* annotate.c: `qprof annotate`: source lines with the figures of the blocks that begin on them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/search.h"
#include "base/table_text.h"
#include "base/text.h"
#include "cli/around.h"
#include "cli/cli.h"
#include "cli/header.h"
#include "cli/listing.h"
#include "cli/method.h"
#include "cli/view.h"
#include "export/run_json.h"
#include "model/lines.h"

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

/* A line of ours in the listing, before the line on which a function begins. */
static void add_comment(qp_table *t, const scale *x, const char *text)
{
    char comment[2100];
    snprintf(comment, sizeof comment, "* %s", text);
    for (int i = 0; i < 2 + x->has_counts + 4 * x->has_times; i++)
        qp_table_plain(t, QP_STYLE_PLAIN, "");
    qp_table_cell(t, QP_STYLE_HEAD, comment);
}

static void add_summary(qp_table *t, const scale *x, const qp_around *around, uint32_t method)
{
    char text[2048];
    add_comment(t, x, qp_around_figures(around, method, text, sizeof text));
    if (*qp_around_callers(around, method, text, sizeof text))
        add_comment(t, x, text);
}

/* Times of a line, in percent of those of its function. */
static void add_times(qp_table *t, const qp_model *m, const scale *x, const qp_figures *whole,
                      const qp_line_figures *f, qp_style style)
{
    char text[QP_NUMBER_BYTES];
    if (!f || !f->is_timed) {
        for (int i = 0; i < 4; i++)
            qp_table_plain(t, style, "");
        return;
    }
    qp_table_plain(t, style, qp_unit_number(text, qp_model_ns(m, f->self), x->unit));
    qp_table_plain(t, style, qp_unit_percent(text, f->self, whole->self));
    qp_table_plain(t, style, qp_unit_number(text, qp_model_ns(m, f->total), x->unit));
    qp_table_plain(t, style, qp_unit_percent(text, f->total, whole->total));
}

/* @param whole  figures of the function around it */
static void add_line(qp_table *t, const qp_model *m, const scale *x, const part *p,
                     const qp_figures *whole, uint32_t line, bool is_inside)
{
    char text[QP_NUMBER_BYTES], source[4096];
    const qp_line_figures *f = line_figures(p, line);
    qp_style style = style_of_line(x, f);
    qp_table_plain(t, style, mark_of(f, is_inside));
    if (x->has_counts)
        qp_table_plain(t, style, f && f->is_counted ? qp_unit_count(text, f->count) : "");
    if (x->has_times)
        add_times(t, m, x, whole, f, style);
    snprintf(text, sizeof text, "%" PRIu32, line);
    qp_table_plain(t, QP_STYLE_DIM, text);
    qp_listing_line(source, sizeof source, p->has_source ? &p->source : NULL, line);
    qp_table_cell(t, style == QP_STYLE_DIM && f ? QP_STYLE_DIM : QP_STYLE_PLAIN, source);
}

static void begin_listing(qp_table *t, const scale *x, char heads[2][32])
{
    qp_table_init(t);
    snprintf(heads[0], sizeof heads[0], "Self%s", x->unit.suffix);
    snprintf(heads[1], sizeof heads[1], "Total%s", x->unit.suffix);
    qp_table_column(t, "", QP_ALIGN_LEFT, 0);
    if (x->has_counts)
        qp_table_column(t, "Count", QP_ALIGN_RIGHT, 0);
    if (x->has_times) {
        qp_table_column(t, heads[0], QP_ALIGN_RIGHT, 1);
        qp_table_column(t, "Self %", QP_ALIGN_RIGHT, 0);
        qp_table_column(t, heads[1], QP_ALIGN_RIGHT, 3);
        qp_table_column(t, "Total %", QP_ALIGN_RIGHT, 2);
    }
    qp_table_column(t, "Line", QP_ALIGN_RIGHT, 0);
    qp_table_column(t, "Source", QP_KEEP_BEGIN, 0);
}

static void add_lines(qp_table *t, const qp_model *m, const scale *x, const part *p,
                      qp_around *around)
{
    bool is_inside = false;
    for (uint32_t line = p->first; line && line <= p->last; line++) {
        bool has_code = line_figures(p, line) != NULL;
        if (!has_code && !p->has_source)
            continue;
        for (size_t n = qp_around_go(around, line); n > 0; n--)
            add_summary(t, x, around, around->ranges[around->n_begun - n].method);
        is_inside |= has_code;
        add_line(t, m, x, p, &around->view.flat[qp_around_method(around)], line, is_inside);
    }
}

static bool print_listing(const qp_cli *cli, const qp_model *m, const part *p)
{
    scale x = measure(cli, m, p);
    char heads[2][32];
    qp_around around;
    qp_table t;
    begin_listing(&t, &x, heads);
    bool is_good = qp_around_init(&around, m, p->file, p->method, p->thread);
    if (is_good)
        add_lines(&t, m, &x, p, &around);
    is_good = is_good && qp_table_print(&t, &cli->screen, 0);
    qp_around_fini(&around);
    qp_table_fini(&t);
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
    char error[QP_ERROR_BYTES];
    qp_header_text(s, m, cli->path, false);
    if (!find_lines(p, m))
        return false;
    p->has_source = qp_source_read(p->file, cli->args.source_path, &p->source, error);
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
        qp_screen_name(s, error, 0);
        qp_out_text(s->out, "; --source-path=DIR says where to look\n");
    }
    if (p->n_lines == 0) {
        qp_out_text(s->out, "The profile has no lines of it.\n");
        return true;
    }
    return print_listing(cli, m, p);
}

/* ---- JSON, CSV ----------------------------------------------------------------------------- */

static void write_lines(qp_json *json, const qp_model *m, const part *p)
{
    qp_json_begin(json, NULL, '{');
    qp_json_text(json, "path", p->file);
    qp_json_begin(json, "lines", '[');
    for (size_t i = 0; i < p->n_lines; i++) {
        const qp_line_figures *f = &p->lines[i];
        if (p->last && (f->line < p->first || f->line > p->last))
            continue;
        qp_json_begin(json, NULL, '{');
        qp_json_count(json, "line", f->line);
        if (f->is_counted)
            qp_json_count(json, "count", f->count);
        else
            qp_json_null(json, "count");
        qp_json_count(json, "self", qp_model_ns(m, f->self));
        qp_json_count(json, "total", qp_model_ns(m, f->total));
        qp_json_bool(json, "timed", f->is_timed);
        qp_json_count(json, "blocks", f->n_blocks);
        qp_json_count(json, "missed", f->n_missed);
        qp_json_end(json, '}');
    }
    qp_json_end(json, ']');
    qp_json_end(json, '}');
}

static void write_csv_lines(qp_out *out, const qp_model *m, const part *p)
{
    for (size_t i = 0; i < p->n_lines; i++) {
        const qp_line_figures *f = &p->lines[i];
        if (p->last && (f->line < p->first || f->line > p->last))
            continue;
        qp_text_csv(out, p->file);
        qp_out_format(out, ",%" PRIu32 ",", f->line);
        if (f->is_counted)
            qp_out_format(out, "%" PRIu64, f->count);
        qp_out_format(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 "\r\n",
                      qp_model_ns(m, f->self), qp_model_ns(m, f->total), f->n_blocks,
                      f->n_missed);
    }
}

/* The part that was asked for or, with none, all files. */
static bool write_all(qp_cli *cli, const qp_model *m, const part *wanted)
{
    qp_json json;
    qp_model_file *files = NULL;
    size_t n_files = 1;
    bool is_json = cli->args.format == QP_FORMAT_JSON, is_good = true;
    if (!wanted->file && !qp_model_files(m, &files, &n_files))
        return false;
    qp_json_init(&json, &cli->out);
    if (is_json) {
        qp_json_begin(&json, NULL, '{');
        qp_run_json(&json, m);
        qp_json_begin(&json, "files", '[');
    } else {
        qp_out_format(&cli->out, "file,line,count,self_%s,total_%s,blocks,missed\r\n",
                      m->run.unit, m->run.unit);
    }
    for (size_t i = 0; i < n_files && is_good; i++) {
        part p =
            wanted->file ? *wanted : (part){.file = files[i].path, .thread = wanted->thread};
        is_good = find_lines(&p, m);
        if (is_good && is_json)
            write_lines(&json, m, &p);
        else if (is_good)
            write_csv_lines(&cli->out, m, &p);
        fini_part(&p);
    }
    if (is_json) {
        qp_json_end(&json, ']');
        qp_json_end(&json, '}');
    }
    qp_free(files);
    return is_good;
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
    .run = run_annotate};
