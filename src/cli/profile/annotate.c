/* annotate.c: `qprof annotate`: source lines with the figures of the blocks that begin on them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/search.h"
#include "base/text/text.h"
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

/* Why there are no figures of lines: `none`, unless the run was not to collect them. */
static const char *missing_reason(const qp_model *m, const char *none)
{
    if (m->run.is_stack_only && !m->run.is_imported)
        return "it has only PC samples, which are not of lines";
    return m->run.grain == QP_GRAIN_FUNCTION
               ? "it was recorded with -collection-granularity=function"
               : none;
}

/* ---- the functions around a line ------------------------------------------------------------- */

enum { CALLERS_SHOWN = 3 };

/* Lines of a method. */
typedef struct {
    uint32_t first, last, method;
} range;

/* The functions of a source file, as they begin and end on the way down its lines. */
typedef struct {
    qp_view view;
    qp_pair *pairs; /* [n_pairs] by callee, most calls first */
    size_t n_pairs;
    range *ranges; /* [n_ranges] as they begin, outer ones first */
    size_t n_ranges;
    size_t n_begun; /* of them: up to the current line */
    size_t *open;   /* [n_open] ranges around the current line, the innermost last */
    size_t n_open;
} around;

static int order_of(uint64_t x, uint64_t y)
{
    return (x > y) - (x < y);
}

/* By the first line, outer ones first. */
static int compare_ranges(const void *a, const void *b)
{
    const range *x = a, *y = b;
    int by_first = order_of(x->first, y->first), by_last = order_of(y->last, x->last);
    return by_first ? by_first : by_last ? by_last : order_of(x->method, y->method);
}

/* By the callee, most calls first. */
static int compare_pairs(const void *a, const void *b)
{
    const qp_pair *x = a, *y = b;
    int by_callee = order_of(x->callee, y->callee), by_calls = order_of(y->calls, x->calls);
    return by_callee ? by_callee : by_calls ? by_calls : order_of(x->caller, y->caller);
}

/* A function that was loaded several times is there once, with the figures of all. */
static void merge_twins(around *a)
{
    const qp_model_method *methods = a->view.m->methods;
    size_t n = 0;
    for (size_t i = 0; i < a->n_ranges; i++) {
        const range *r = &a->ranges[i], *before = n ? &a->ranges[n - 1] : NULL;
        if (!before || before->first != r->first || before->last != r->last ||
            strcmp(methods[before->method].name, methods[r->method].name) != 0) {
            a->ranges[n++] = *r;
            continue;
        }
        qp_figures *sum = &a->view.flat[before->method], *f = &a->view.flat[r->method];
        sum->calls += f->calls;
        sum->self += f->self;
        sum->total += f->total;
        sum->off += f->off;
        sum->off_total += f->off_total;
        qp_memory_add(&sum->memory, &f->memory);
        qp_memory_add(&sum->memory_total, &f->memory_total);
    }
    a->n_ranges = n;
}

/* @param method  only this one; 0: all of the file
 * @return false: no memory; fini_around() is allowed then */
static bool init_around(around *a, const qp_model *m, const char *file, uint32_t method,
                        uint32_t thread)
{
    *a = (around){0};
    bool is_good = qp_view_init(&a->view, m, thread, false) &&
                   qp_model_pairs(m, thread, &a->pairs, &a->n_pairs);
    a->ranges = qp_alloc(m->n_methods, sizeof *a->ranges);
    a->open = qp_alloc(m->n_methods, sizeof *a->open);
    if (!is_good || !a->ranges || !a->open)
        return false;
    for (uint32_t i = 1; i < m->n_methods; i++) {
        range *r = &a->ranges[a->n_ranges];
        r->method = i;
        if ((method == 0 || method == i) && strcmp(m->methods[i].file, file) == 0 &&
            qp_method_range(&m->methods[i], &r->first, &r->last))
            a->n_ranges++;
    }
    qsort(a->ranges, a->n_ranges, sizeof *a->ranges, compare_ranges);
    qsort(a->pairs, a->n_pairs, sizeof *a->pairs, compare_pairs);
    merge_twins(a);
    return true;
}

static void fini_around(around *a)
{
    qp_view_fini(&a->view);
    qp_free(a->pairs);
    qp_free(a->ranges);
    qp_free(a->open);
}

/* Move to a line, which is below the last. @return functions that begin since then:
 * ranges[n_begun - n .. n_begun) */
static size_t go_to(around *a, uint32_t line)
{
    size_t before = a->n_begun;
    while (a->n_open && a->ranges[a->open[a->n_open - 1]].last < line)
        a->n_open--;
    for (; a->n_begun < a->n_ranges && a->ranges[a->n_begun].first <= line; a->n_begun++)
        if (a->ranges[a->n_begun].last >= line)
            a->open[a->n_open++] = a->n_begun;
    return a->n_begun - before;
}

/* The innermost function around the line; QP_ROOT_METHOD: none. */
static uint32_t method_around(const around *a)
{
    return a->n_open ? a->ranges[a->open[a->n_open - 1]].method : QP_ROOT_METHOD;
}

/* "main: 1 call, self 2.000 us (37.8 %), total 45.000 us (100.0 %)". @return to */
static char *text_of_figures(const around *a, uint32_t method, char *to, size_t n_bytes)
{
    const qp_model *m = a->view.m;
    const qp_figures *f = &a->view.flat[method];
    char name[QP_NAME_BYTES], calls[QP_NUMBER_BYTES], self[QP_NUMBER_BYTES],
        total[QP_NUMBER_BYTES], of_self[QP_NUMBER_BYTES], of_total[QP_NUMBER_BYTES];
    qp_text_fit(name, sizeof name, m->methods[method].name, QP_NAME_COLUMNS, 0);
    qp_unit_things(calls, f->calls, "call");
    if (!m->run.has_times) {
        snprintf(to, n_bytes, "%s: %s", name, calls);
        return to;
    }
    snprintf(to, n_bytes, "%s: %s, self %s (%s %%), total %s (%s %%)", name, calls,
             qp_view_estimate(m, self, f->self, f->self_half),
             qp_unit_percent(of_self, f->self, a->view.whole),
             qp_view_estimate(m, total, f->total, f->total_half),
             qp_unit_percent(of_total, f->total, a->view.whole));
    return to;
}

/* "allocated 1,024 bytes in 3 objects, with what it called 2,048 in 5"; "" without. @return to */
static char *text_of_memory(const around *a, uint32_t method, char *to, size_t n_bytes)
{
    const qp_figures *f = &a->view.flat[method];
    char bytes[QP_NUMBER_BYTES], objects[QP_NUMBER_BYTES], all_bytes[QP_NUMBER_BYTES],
        all_objects[QP_NUMBER_BYTES];
    to[0] = '\0';
    if (a->view.m->run.has_memory && f->memory_total.objects)
        snprintf(to, n_bytes, "allocated %s in %s, with what it called %s in %s",
                 qp_unit_things(bytes, f->memory.bytes, "byte"),
                 qp_unit_things(objects, f->memory.objects, "object"),
                 qp_unit_count(all_bytes, f->memory_total.bytes),
                 qp_unit_count(all_objects, f->memory_total.objects));
    return to;
}

/* "waiting 1.000 ms, with what it called 2.000 ms"; "" without. @return to */
static char *text_of_waits(const around *a, uint32_t method, char *to, size_t n_bytes)
{
    const qp_model *m = a->view.m;
    const qp_figures *f = &a->view.flat[method];
    char self[QP_NUMBER_BYTES], total[QP_NUMBER_BYTES];
    to[0] = '\0';
    if (qp_run_has(&m->run) & QP_HAS_WAITS && f->off_total)
        snprintf(to, n_bytes, "waiting %s, with what it called %s",
                 qp_view_amount(m, self, f->off), qp_view_amount(m, total, f->off_total));
    return to;
}

/* "called by main (3), f (2) and 2 more"; "" without callers. @return to */
static char *text_of_callers(const around *a, uint32_t method, char *to, size_t n_bytes)
{
    char name[QP_NAME_BYTES], calls[QP_NUMBER_BYTES];
    size_t first = QP_SEARCH(a->pairs, a->n_pairs, callee, method), n = 0, at = 0;
    to[0] = '\0';
    while (first + n < a->n_pairs && a->pairs[first + n].callee == method)
        n++;
    for (size_t i = 0; i < n && i < CALLERS_SHOWN; i++) {
        const qp_pair *p = &a->pairs[first + i];
        qp_text_fit(name, sizeof name, a->view.m->methods[p->caller].name, QP_NAME_COLUMNS / 2,
                    0);
        at += (size_t)snprintf(to + at, n_bytes - at, "%s%s (%s)", i ? ", " : "called by ",
                               name, qp_unit_count(calls, p->calls));
    }
    if (n > CALLERS_SHOWN)
        snprintf(to + at, n_bytes - at, " and %s more",
                 qp_unit_count(calls, n - CALLERS_SHOWN));
    return to;
}

/* ---- text ---------------------------------------------------------------------------------- */

/* Quantify's marks: | a line that has code begins, . it continues, + several blocks begin on it,
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
    bool has_counts, has_instructions, has_memory, has_times, has_totals, has_halves;
    uint64_t most_count, most_self, self; /* largest of a line; sum of all lines */
    qp_unit unit;
} scale;

static scale measure(const qp_cli *cli, const qp_model *m, const part *p)
{
    scale x = {0};
    for (size_t i = 0; i < p->n_lines; i++) {
        const qp_line_figures *f = &p->lines[i];
        x.has_counts |= f->is_counted;
        x.has_totals |= f->is_timed && m->run.has_times;
        x.has_halves |= f->is_sampled;
        x.most_count = f->count > x.most_count ? f->count : x.most_count;
        x.most_self = f->self > x.most_self ? f->self : x.most_self;
        x.self += f->self;
    }
    x.has_times = x.has_totals || x.has_halves;
    x.has_instructions = m->run.has_instructions;
    x.has_memory = m->run.has_memory;
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
    uint64_t count, instructions, bytes, objects, self, self_half, total;
    double self_percent, self_percent_half, total_percent; /* of its function */
} listing_row;

enum {
    HAS_COUNTS = 1,
    HAS_LINE_TIMES = 2,
    HAS_LINE_TOTALS = 4,
    HAS_LINE_HALVES = 8,
    HAS_LINE_INSTRUCTIONS = 16,
    HAS_LINE_MEMORY = 32
};

#define AT(member)   QP_FIELD_AT(listing_row, member)
#define HALF(member) QP_FIELD_HALF(listing_row, member)
static const qp_field columns[] = {
    {"mark", "", NULL, QP_FIELD_WORD, AT(mark), .flags = QP_FIELD_HOT},
    {"count", "Count", NULL, QP_FIELD_COUNT, AT(count), .flags = QP_FIELD_HOT | QP_FIELD_BLANK,
     .needs = HAS_COUNTS},
    {"instructions", "Instr", NULL, QP_FIELD_COUNT, AT(instructions),
     .flags = QP_FIELD_HOT | QP_FIELD_BLANK, .rank = 4, .needs = HAS_LINE_INSTRUCTIONS},
    {"bytes", "Bytes", NULL, QP_FIELD_COUNT, AT(bytes), .flags = QP_FIELD_HOT | QP_FIELD_BLANK,
     .rank = 1, .needs = HAS_LINE_MEMORY},
    {"objects", "Objects", NULL, QP_FIELD_COUNT, AT(objects),
     .flags = QP_FIELD_HOT | QP_FIELD_BLANK, .rank = 3, .needs = HAS_LINE_MEMORY},
    {"self", "Self", NULL, QP_FIELD_TIME, AT(self), HALF(self_half),
     .flags = QP_FIELD_HOT | QP_FIELD_BLANK, .rank = 1, .needs = HAS_LINE_TIMES},
    {"self_half", "±", NULL, QP_FIELD_TIME, AT(self_half), HALF(self_half),
     .flags = QP_FIELD_HOT | QP_FIELD_BLANK, .rank = 2, .needs = HAS_LINE_HALVES},
    {"self_percent", "Self %", NULL, QP_FIELD_PERCENT, AT(self_percent),
     HALF(self_percent_half), .flags = QP_FIELD_HOT | QP_FIELD_BLANK, .needs = HAS_LINE_TIMES},
    {"total", "Total", NULL, QP_FIELD_TIME, AT(total), .flags = QP_FIELD_HOT | QP_FIELD_BLANK,
     .rank = 3, .needs = HAS_LINE_TOTALS},
    {"total_percent", "Total %", NULL, QP_FIELD_PERCENT, AT(total_percent),
     .flags = QP_FIELD_HOT | QP_FIELD_BLANK, .rank = 2, .needs = HAS_LINE_TOTALS},
    {"line", "Line", NULL, QP_FIELD_WORD, AT(line), .flags = QP_FIELD_RIGHT | QP_FIELD_DIM},
    {.key = NULL}};
#undef AT
#undef HALF

static const listing_row empty_row = {.mark = "",
                                      .line = "",
                                      .count = QP_FIELD_NONE,
                                      .instructions = QP_FIELD_NONE,
                                      .bytes = QP_FIELD_NONE,
                                      .objects = QP_FIELD_NONE,
                                      .self = QP_FIELD_NONE,
                                      .self_half = QP_FIELD_NONE,
                                      .total = QP_FIELD_NONE,
                                      .self_percent = -1,
                                      .total_percent = -1};

/* A comment of the tool in the listing, before the line on which a function begins. */
static void add_comment(qp_listing *l, const char *text)
{
    char comment[2100];
    snprintf(comment, sizeof comment, "* %s", text);
    qp_listing_row(l, &empty_row, QP_STYLE_PLAIN);
    qp_table_cell(&l->table, QP_STYLE_HEAD, comment);
}

static void add_summary(qp_listing *l, const around *a, uint32_t method)
{
    char text[2048];
    add_comment(l, text_of_figures(a, method, text, sizeof text));
    if (*text_of_waits(a, method, text, sizeof text))
        add_comment(l, text);
    if (*text_of_memory(a, method, text, sizeof text))
        add_comment(l, text);
    if (*text_of_callers(a, method, text, sizeof text))
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
    if (f && f->is_counted) {
        row.count = f->count;
        row.instructions = f->instructions;
    }
    if (f && (f->bytes || f->objects)) {
        row.bytes = f->bytes;
        row.objects = f->objects;
    }
    if (f && f->is_timed) {
        row.self = qp_model_ns(m, f->self);
        row.total = qp_model_ns(m, f->total);
        row.self_percent = qp_view_percent(f->self, whole->self);
        row.total_percent = qp_view_percent(f->total, whole->total);
    }
    if (f && f->is_sampled) {
        row.self = qp_model_ns(m, f->self);
        row.self_half = qp_model_ns(m, f->self_half);
        row.self_percent = qp_view_percent(f->self, whole->self);
        row.self_percent_half = qp_view_percent(f->self_half, whole->self);
    }
    l->is_dim = f && f->self_half > f->self;
    qp_listing_row(l, &row, style);
    qp_listing_line(source, sizeof source, p->has_source ? &p->source : NULL, line);
    qp_table_cell(&l->table, style == QP_STYLE_DIM && f ? QP_STYLE_DIM : QP_STYLE_PLAIN,
                  source);
}

static void add_lines(qp_listing *l, const qp_model *m, const scale *x, const part *p,
                      around *a)
{
    bool is_inside = false;
    for (uint32_t line = p->first; line && line <= p->last; line++) {
        bool has_code = line_figures(p, line) != NULL;
        if (!has_code && !p->has_source)
            continue;
        for (size_t n = go_to(a, line); n > 0; n--)
            add_summary(l, a, a->ranges[a->n_begun - n].method);
        is_inside |= has_code;
        add_line(l, m, x, p, &a->view.flat[method_around(a)], line, is_inside);
    }
}

static bool print_listing(const qp_cli *cli, const qp_model *m, const part *p)
{
    scale x = measure(cli, m, p);
    around a;
    qp_listing l;
    qp_listing_begin(&l, &cli->screen, columns, NULL,
                     (x.has_counts ? HAS_COUNTS : 0) | (x.has_times ? HAS_LINE_TIMES : 0) |
                         (x.has_totals ? HAS_LINE_TOTALS : 0) |
                         (x.has_halves ? HAS_LINE_HALVES : 0) |
                         (x.has_instructions ? HAS_LINE_INSTRUCTIONS : 0) |
                         (x.has_memory ? HAS_LINE_MEMORY : 0),
                     x.unit);
    qp_table_column(&l.table, "Source", QP_KEEP_BEGIN, 0);
    bool is_good = init_around(&a, m, p->file, p->method, p->thread);
    if (is_good)
        add_lines(&l, m, &x, p, &a);
    is_good = qp_listing_end(&l, 0) && is_good;
    fini_around(&a);
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
    p->has_source = qp_source_read(p->file, qp_model_digest(m, p->file), &cli->args.folders,
                                   &p->source, &error);
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
        qp_out_text(s->out, "; specify its folder with --source-path=DIR\n");
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
    {"sampled", NULL, "self is an estimate; total is not known", QP_FIELD_YES,
     AT(f.is_sampled)},
    {"self_half", NULL, "half of the 95 % interval of self, in the run's unit", QP_FIELD_TIME,
     AT(f.self_half)},
    {"samples", NULL, "samples while it ran itself", QP_FIELD_COUNT, AT(f.samples)},
    {"instructions", NULL, "of the host's machine, executed in its blocks", QP_FIELD_COUNT,
     AT(f.instructions), .flags = QP_FIELD_OPTIONAL, .needs = QP_HAS_INSTRUCTIONS},
    {"bytes", NULL, "allocated by its blocks", QP_FIELD_COUNT, AT(f.bytes),
     .flags = QP_FIELD_OPTIONAL, .needs = QP_HAS_MEMORY},
    {"objects", NULL, "blocks of memory allocated by its blocks", QP_FIELD_COUNT, AT(f.objects),
     .flags = QP_FIELD_OPTIONAL, .needs = QP_HAS_MEMORY},
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
        row.f.self_half = qp_model_ns(m, row.f.self_half);
        if (json)
            qp_row_json(json, NULL, line_fields, qp_run_has_any(&m->run), &row);
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
        qp_csv_begin(&csv, &cli->out, line_fields,
                     "file line count self total blocks missed instructions bytes objects",
                     qp_run_has_any(&m->run), m->run.unit);
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
    if (!name && !(p->method = qp_method_hottest(m)))
        return qp_cli_refuse(cli, "%s: no function that was called has lines: %s", cli->path,
                             missing_reason(m, "the program gave no line table"));
    p->file = m->methods[p->method].file;
    if (qp_method_range(&m->methods[p->method], &p->first, &p->last))
        return true;
    return qp_cli_refuse(cli, "%s: %s has no lines: %s", cli->path, m->methods[p->method].name,
                         missing_reason(m, "the program gave no line table"));
}

static int show(qp_cli *cli, const qp_subject *s)
{
    part p = {.thread = s->thread};
    int status = QP_EXIT_CLEAN;
    if (!choose_part(cli, s->m, s->name, &p))
        status = QP_EXIT_UNUSABLE;
    else if (cli->args.format == QP_FORMAT_TEXT ? !print_text(cli, s->m, &p)
                                                : !write_all(cli, s->m, &p))
        status = qp_cli_fail_memory(cli);
    fini_part(&p);
    return status;
}

const qp_command qp_command_annotate = {
    .name = "annotate",
    .operands = "[SOURCE|METHOD] [FILE]",
    .summary = "source lines with counts and times",
    .about = "Shows source lines with how often they were executed and the time they took: of "
             "a source file, of the lines of one function, or of the hottest one that has "
             "lines. Percentages are of the function around the line; Total includes what the "
             "line called. JSON and CSV hold all files if none is named. Marks: | a line of "
             "code, . it continues, + several blocks begin on it, # a block of it was never "
             "executed, * about a function.",
    .flags = (const qp_flag[]){QP_FLAG_SAMPLE_INDEX, QP_FLAG_SOURCE_PATH, QP_FLAG_THREAD,
                               QP_FLAG_UNIT, QP_FLAG_FORMAT, QP_FLAGS_COMMON},
    .examples = "qprof annotate                    the hottest function\n"
                "qprof annotate lexer.lua run.qprof\n"
                "qprof annotate parse run.qprof\n"
                "qprof annotate --format=json run.qprof | jq '.files[0].lines'",
    .schemas = (const qp_schema[]){{"annotate", document_fields}, {.name = NULL}},
    .run = qp_cli_show,
    .show = show,
    .takes_name = true};
