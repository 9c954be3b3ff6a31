/* context.c: `qprof cover context`: contexts, for example tests, and the lines that they hit. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/search.h"
#include "base/text/unit.h"
#include "cli/cover/cover.h"

/* ---- rows ------------------------------------------------------------------------------------ */

/* A context; lines that it hits, and that no other one hits, or its hits of one line. */
typedef struct {
    const char *name;
    uint64_t n_hit, n_only, hits;
} context_row;

/* Touches [*begin, *end) of a line, and how many contexts hit it. */
static size_t count_touches(const qp_cover_file *f, uint32_t line, size_t *begin, size_t *end)
{
    size_t n = 0;
    while (*begin < f->n_touches && f->touches[*begin].line < line)
        ++*begin;
    for (*end = *begin; *end < f->n_touches && f->touches[*end].line == line; ++*end)
        n += f->touches[*end].count > 0;
    return n;
}

static void add_reach(const qp_cover_file *f, context_row *all)
{
    size_t begin = 0, end;
    for (uint32_t line = 0; line < f->n_lines; line++, begin = end) {
        size_t n = count_touches(f, line, &begin, &end);
        bool is_dead = f->lines[line].annotation == QP_ANNOTATION_DEADCODE;
        for (size_t i = begin; i < end && !is_dead; i++) {
            context_row *r = &all[f->touches[i].context];
            r->n_hit += f->touches[i].count > 0;
            r->n_only += f->touches[i].count > 0 && n == 1;
        }
    }
}

/* The lines that the context hits and no other. @param context  size_t */
static bool is_only(const void *context, const qp_cover_file *f, size_t line)
{
    size_t begin = QP_SEARCH(f->touches, f->n_touches, line, (uint32_t)line), end;
    if (f->lines[line].annotation == QP_ANNOTATION_DEADCODE ||
        count_touches(f, (uint32_t)line, &begin, &end) != 1)
        return false;
    while (f->touches[begin].count == 0)
        begin++;
    return f->touches[begin].context == *(const size_t *)context;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* What the document has: rows of all contexts, those of a line, or the lines of one context. */
enum { HAS_REACH = 1, HAS_LINE = 2, HAS_ONLY = 4, HAS_CONTEXTS = 8 };

typedef struct {
    context_row *rows; /* [n_rows] */
    size_t n_rows;
    const char *path, *name;
    uint32_t line;
    uint64_t hits;
    const qp_cover *c;
    const qp_cover_file *f;
    size_t context;
} document;

#define AT(member) QP_FIELD_AT(context_row, member)
static const qp_field context_fields[] = {
    {"name", NULL, "name, \"\" of no context", QP_FIELD_NAME, AT(name)},
    {"lines", NULL, "lines that it hits", QP_FIELD_COUNT, AT(n_hit), .flags = QP_FIELD_OPTIONAL,
     .needs = HAS_REACH},
    {"only", NULL, "lines that no other context hits", QP_FIELD_COUNT, AT(n_only),
     .flags = QP_FIELD_OPTIONAL, .needs = HAS_REACH},
    {"hits", NULL, "executions of the line", QP_FIELD_COUNT, AT(hits),
     .flags = QP_FIELD_OPTIONAL, .needs = HAS_LINE},
    {.key = NULL}};
#undef AT

static void write_range(void *json, const qp_cover_file *f, uint32_t first, uint32_t last)
{
    (void)f;
    qp_row_json(json, NULL, qp_cover_span_fields, QP_FIELDS_ALL, &(qp_patch_span){first, last});
}

static void write_ranges(qp_json *json, const void *data)
{
    const document *d = data;
    qp_cover_each_range(d->f, is_only, &d->context, write_range, json);
}

static const qp_field file_fields[] = {
    {"path", NULL, "path as shown", QP_FIELD_NAME, QP_FIELD_AT(document, path)},
    {"ranges", NULL, "lines that this context alone hits", QP_FIELD_ROWS,
     .sub = qp_cover_span_fields, .write = write_ranges},
    {.key = NULL}};

static void write_files(qp_json *json, const void *data)
{
    document d = *(const document *)data;
    for (size_t i = 0; i < d.c->n_files; i++) {
        d.f = &d.c->files[i];
        d.path = d.f->path;
        qp_row_json(json, NULL, file_fields, QP_FIELDS_ALL, &d);
    }
}

#define AT(member) .flags = QP_FIELD_OPTIONAL, QP_FIELD_AT(document, member)
static const qp_field document_fields[] = {
    {"path", NULL, "with SOURCE:LINE: path as shown", QP_FIELD_NAME, AT(path),
     .needs = HAS_LINE},
    {"line", NULL, "with SOURCE:LINE: number, from 1", QP_FIELD_COUNT, AT(line),
     .needs = HAS_LINE},
    {"hits", NULL, "with SOURCE:LINE: executions in all contexts", QP_FIELD_COUNT, AT(hits),
     .needs = HAS_LINE},
    {"contexts", NULL, "all, or those that hit the line", QP_FIELD_ROWS,
     .flags = QP_FIELD_OPTIONAL, QP_FIELD_ITEMS(document, rows, n_rows), .needs = HAS_CONTEXTS,
     .sub = context_fields},
    {"context", NULL, "with --only: name", QP_FIELD_NAME, AT(name), .needs = HAS_ONLY},
    {"files", NULL, "with --only: files by path", QP_FIELD_ROWS, .flags = QP_FIELD_OPTIONAL,
     .needs = HAS_ONLY, .sub = file_fields, .write = write_files},
    {.key = NULL}};
#undef AT

static void write_json(qp_cli *cli, unsigned has, const document *d)
{
    qp_json json;
    qp_json_init(&json, &cli->out);
    qp_row_json(&json, NULL, document_fields, has == HAS_ONLY ? has : has | HAS_CONTEXTS, d);
}

/* ---- all contexts ---------------------------------------------------------------------------- */

static bool print_all(const qp_cli *cli, const document *d)
{
    char text[QP_NUMBER_BYTES];
    static const qp_column columns[] = {{"Context", QP_KEEP_BEGIN, 0},
                                        {"Lines", QP_ALIGN_RIGHT, 0},
                                        {"%", QP_ALIGN_RIGHT, 1},
                                        {"Only here", QP_ALIGN_RIGHT, 0}};
    qp_table t;
    qp_cover_header(cli, d->c);
    qp_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < d->n_rows; i++) {
        const context_row *r = &d->rows[i];
        qp_table_name(&t, QP_STYLE_PLAIN, qp_cover_context_name(r->name));
        qp_table_count(&t, r->n_hit);
        qp_table_plain(&t, QP_STYLE_PLAIN,
                       qp_unit_share(text, r->n_hit, d->c->totals.lines, 1));
        qp_table_plain(&t, r->n_only ? QP_STYLE_HEAD : QP_STYLE_DIM,
                       qp_unit_count(text, r->n_only));
    }
    return qp_table_end(&t, &cli->screen, 0);
}

/* "No context" is listed only if it hit something. @return false: no memory */
static bool show_all(qp_cli *cli, document *d)
{
    const qp_cover *c = d->c;
    for (size_t i = 0; i < c->n_files; i++)
        add_reach(&c->files[i], d->rows);
    for (size_t i = 0; i < c->n_contexts; i++) {
        context_row row = d->rows[i];
        row.name = c->contexts[i];
        if (*row.name || row.n_hit)
            d->rows[d->n_rows++] = row;
    }
    if (cli->args.format == QP_FORMAT_TEXT)
        return print_all(cli, d);
    write_json(cli, HAS_REACH, d);
    return true;
}

/* ---- one line -------------------------------------------------------------------------------- */

/* Find FILE:LINE. @return false: a message was printed */
static bool find_line(const qp_cli *cli, const qp_cover *c, const char *place,
                      const qp_cover_file **f, uint32_t *index)
{
    char file[4096], *end;
    const char *colon = strrchr(place, ':');
    unsigned long line = colon ? strtoul(colon + 1, &end, 10) : 0;
    if (!colon || end == colon + 1 || *end || colon - place >= (ptrdiff_t)sizeof file) {
        qp_cli_fail(cli, "%s: expected a profile, or FILE:LINE", place);
        return false;
    }
    memcpy(file, place, (size_t)(colon - place));
    file[colon - place] = '\0';
    *f = qp_cover_find_file(cli, c, file);
    if (!*f)
        return false;
    for (*index = 0; *index < (*f)->n_lines; ++*index)
        if ((*f)->lines[*index].line == line)
            return true;
    qp_cli_fail(cli, "%s: line %lu of %s has no code", cli->path, line, (*f)->path);
    return false;
}

static bool print_line(const qp_cli *cli, const document *d)
{
    static const qp_column columns[] = {{"Count", QP_ALIGN_RIGHT, 0},
                                        {"Context", QP_KEEP_BEGIN, 0}};
    char text[QP_NUMBER_BYTES];
    qp_table t;
    qp_screen_name(&cli->screen, d->path, 0);
    qp_out_format(cli->screen.out, ":%" PRIu32 ": %s\n", d->line,
                  d->hits ? qp_unit_things(text, d->hits, "execution") : "never executed");
    qp_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < d->n_rows; i++) {
        qp_table_count(&t, d->rows[i].hits);
        qp_table_name(&t, QP_STYLE_PLAIN, qp_cover_context_name(d->rows[i].name));
    }
    if (d->n_rows)
        return qp_table_end(&t, &cli->screen, 2);
    qp_table_fini(&t);
    return true;
}

/* @param status  receives QP_EXIT_UNUSABLE if no such line exists @return false: no memory */
static bool show_line(qp_cli *cli, document *d, const char *place, int *status)
{
    const qp_cover_file *f;
    uint32_t index;
    size_t begin = 0, end;
    if (!find_line(cli, d->c, place, &f, &index)) {
        *status = QP_EXIT_UNUSABLE;
        return true;
    }
    d->path = f->path;
    d->line = f->lines[index].line;
    d->hits = f->lines[index].count;
    count_touches(f, index, &begin, &end);
    for (; begin < end; begin++) {
        const qp_cover_touch *touch = &f->touches[begin];
        if (touch->count)
            d->rows[d->n_rows++] =
                (context_row){.name = d->c->contexts[touch->context], .hits = touch->count};
    }
    if (cli->args.format == QP_FORMAT_TEXT)
        return print_line(cli, d);
    write_json(cli, HAS_LINE, d);
    return true;
}

/* ---- lines that one context alone hits ------------------------------------------------------- */

static void print_only(const qp_cli *cli, const qp_cover *c, size_t context)
{
    const qp_screen *s = &cli->screen;
    size_t n = 0;
    qp_screen_name(s, qp_cover_context_name(c->contexts[context]), 0);
    qp_out_text(s->out, " is the only context that hits these lines:\n");
    for (size_t i = 0; i < c->n_files; i++) {
        const qp_cover_file *f = &c->files[i];
        qp_cover_list list = {.s = s, .indent = 4, .title = f->path};
        n += qp_cover_each_range(f, is_only, &context, qp_cover_show_range, &list);
        qp_out_text(s->out, list.column ? "\n" : "");
    }
    if (n == 0)
        qp_out_text(s->out, "  none\n");
}

/* ---- the command ----------------------------------------------------------------------------- */

/* The lines that the context of --only alone hits. */
static int show_only(qp_cli *cli, const qp_cover *c)
{
    const char *name = cli->args.cover.only;
    for (size_t i = 0; i < c->n_contexts; i++) {
        if (strcmp(c->contexts[i], name) != 0 &&
            strcmp(qp_cover_context_name(c->contexts[i]), name) != 0)
            continue;
        if (cli->args.format == QP_FORMAT_TEXT)
            print_only(cli, c, i);
        else
            write_json(cli, HAS_ONLY,
                       &(document){.c = c, .name = c->contexts[i], .context = i});
        return QP_EXIT_CLEAN;
    }
    return qp_cli_fail(cli, "%s: no context %s; qprof cover context lists all", cli->path,
                       name);
}

/* @param data  const char **: FILE:LINE; NULL: all contexts */
static int show(qp_cli *cli, const qp_cover *c, void *data)
{
    const char *place = *(const char **)data;
    int status = QP_EXIT_CLEAN;
    if (cli->args.cover.only)
        return show_only(cli, c);
    document d = {.c = c, .rows = qp_alloc_zeroed(c->n_contexts, sizeof *d.rows)};
    bool is_good = d.rows && (place ? show_line(cli, &d, place, &status) : show_all(cli, &d));
    qp_free(d.rows);
    if (is_good && status == QP_EXIT_CLEAN && c->n_contexts == 0)
        qp_cli_warn(cli, "%s: no contexts (a program sets them with qprof_context())",
                    cli->path);
    return is_good ? status : qp_cli_fail_memory(cli);
}

static int run_context(qp_cli *cli)
{
    const char *place;
    if (!qp_cover_operands(cli, &place))
        return QP_EXIT_UNUSABLE;
    if (place && cli->args.cover.only)
        return qp_cli_fail(cli, "%s and --only cannot be combined", place);
    return qp_cover_show(cli, show, &place);
}

const qp_command qp_command_cover_context = {
    .name = "cover context",
    .operands = "[SOURCE:LINE] [FILE...]",
    .summary = "contexts, for example tests, and the lines that they hit",
    .about =
        "Lists the contexts of a run with the number of lines that each hit, and how many\n"
        "of these no other context hit; or the contexts that hit one line. A context is a\n"
        "part of the run that the program named with qprof_context(), for example a test.",
    .flags = (const qp_flag[]){{"only", 0, QP_FLAG_TEXT, "NAME", QP_COVER_AT(only), NULL,
                                "lines that this context hits and no other"},
                               QP_COVER_FLAGS,
                               QP_COVER_FLAG_FORMAT,
                               QP_FLAGS_COMMON},
    .schemas = (const qp_schema[]){{"cover-context", document_fields}, {.name = NULL}},
    .examples = "qprof cover context                         all contexts\n"
                "qprof cover context parse.lua:120           contexts that ran this line\n"
                "qprof cover context --only='login test'     lines of this test alone",
    .run = run_context};
