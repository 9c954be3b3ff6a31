/* annotate.c: `qprof cover annotate`: sources with what was executed of each line. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text/buf.h"
#include "base/text/text.h"
#include "base/text/unit.h"
#include "cli/cover/cover.h"
#include "cli/show/show.h"

enum { CONTEXT_LINES = 2, TEXT_BYTES = 4096, NOTE_INDENT = 6 };

/* A file that is being listed. */
typedef struct {
    const qp_cli *cli;
    const qp_cover *c;
    const qp_cover_file *f;
    const qp_source *source; /* NULL: there is none */
    qp_table t;
    uint32_t next;     /* first of f->lines not before the line that is shown */
    uint32_t near;     /* first of f->lines that is at most CONTEXT_LINES before it */
    uint32_t function; /* next of f->functions to get its summary */
    size_t touch;      /* next of f->touches */
} listing;

/* ---- what a line looks like ------------------------------------------------------------------ */

static qp_style style_of(const qp_cover_line *l)
{
    return l->annotation == QP_ANNOTATION_DEADCODE                ? QP_STYLE_DIM
           : !l->is_hit && !l->is_partial                         ? QP_STYLE_BAD
           : l->is_partial && l->annotation == QP_ANNOTATION_NONE ? QP_STYLE_PARTIAL
                                                                  : QP_STYLE_HIT;
}

/* Marks as in Quantify and PureCoverage; see the help of the command. */
static const char *mark_of(const qp_cover_line *l)
{
    static const char *const marks[][4] = {{"|", "|D", "|T", "|I"},
                                           {"#", "#D", "#T", "#I"},
                                           {"+", "+D", "+T", "+I"},
                                           {"+#", "+#D", "+#T", "+#I"}};
    bool has_several = l->n_blocks > 1, has_missed = l->n_blocks_hit < l->n_blocks;
    if (l->n_blocks_hit == 0)
        return marks[l->count == 0][l->annotation];
    return marks[2 * has_several + has_missed][l->annotation];
}

/* The style of a line without code: that of its neighbours, if they are alike. */
static qp_style style_between(const listing *x)
{
    const qp_cover_line *next = &x->f->lines[x->next];
    if (x->next == 0 || x->next >= x->f->n_lines)
        return QP_STYLE_PLAIN;
    return style_of(next) == style_of(next - 1) ? style_of(next) : QP_STYLE_PLAIN;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_row(listing *x, qp_style style, const char *mark, const char *count,
                    const char *line, const char *text)
{
    qp_table_plain(&x->t, style, mark);
    qp_table_plain(&x->t, style, count);
    qp_table_plain(&x->t, QP_STYLE_DIM, line);
    qp_table_cell(&x->t, style, text);
}

static void add_summary(listing *x, const qp_cover_function *function)
{
    char text[QP_NAME_BYTES + 160], name[QP_NAME_BYTES], calls[QP_NUMBER_BYTES],
        percent[QP_NUMBER_BYTES], lines[QP_NUMBER_BYTES], hit[QP_NUMBER_BYTES];
    const qp_cover_totals *t = &function->totals;
    qp_text_fit(name, sizeof name, function->name, QP_NAME_COLUMNS, 0);
    int n = snprintf(text, sizeof text, "%s: %s", name,
                     function->calls    ? qp_unit_things(calls, function->calls, "call")
                     : function->is_hit ? "executed"
                     : x->c->has_calls  ? "never called"
                                        : "never executed");
    if (function->is_dead)
        snprintf(text + n, sizeof text - (size_t)n, ", dead code");
    else if (t->lines)
        snprintf(text + n, sizeof text - (size_t)n, ", %s of %s hit (%s %%)",
                 qp_unit_count(hit, t->lines_hit), qp_unit_things(lines, t->lines, "line"),
                 qp_unit_share(percent, t->lines_hit, t->lines, 1));
    add_row(x, QP_STYLE_GOOD, "*", "", "", text);
}

/* Add rows for functions that begin here, or began at a line that was not shown. */
static void add_summaries(listing *x, uint32_t line)
{
    for (; x->function < x->f->n_functions; x->function++) {
        const qp_cover_function *function = &x->f->functions[x->function];
        if (function->first_line > line)
            return;
        if (function->first_line == line || function->last_line >= line)
            add_summary(x, function);
    }
}

static void add_blocks(listing *x, const qp_cover_line *l)
{
    char count[QP_NUMBER_BYTES], text[64];
    for (uint32_t i = 0; i < l->n_blocks && l->n_blocks > 1; i++) {
        const qp_cover_block *b = &x->f->blocks[l->first_block + i];
        snprintf(text, sizeof text, "    block %" PRIu32 " of %" PRIu32, i + 1, l->n_blocks);
        add_row(x, b->count ? QP_STYLE_HIT : QP_STYLE_BAD, b->count ? "+" : "+#",
                qp_unit_count(count, b->count), "", text);
    }
}

/* Add the ways of the line's branches that were never taken. */
static void add_branches(listing *x, const qp_cover_line *l)
{
    char text[96] = "    ^ ";
    for (uint32_t i = 0; i < l->n_branches; i++) {
        const qp_cover_branch *b = &x->f->branches[l->first_branch + i];
        if (!qp_cover_is_way_missed(b))
            continue;
        qp_cover_way_text(b, text + NOTE_INDENT, sizeof text - NOTE_INDENT);
        add_row(x, QP_STYLE_PARTIAL, "", "", "", text);
    }
}

static void add_contexts(listing *x, uint32_t line)
{
    char text[TEXT_BYTES], count[QP_NUMBER_BYTES];
    int n = 0;
    for (; x->touch < x->f->n_touches && x->f->touches[x->touch].line <= line; x->touch++) {
        const qp_cover_touch *touch = &x->f->touches[x->touch];
        if (touch->line < line || touch->count == 0 || n > TEXT_BYTES - 200)
            continue;
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%.100s %s", n ? ", " : "    by ",
                      qp_cover_context_name(x->c->contexts[touch->context]),
                      qp_unit_count(count, touch->count));
    }
    if (n)
        add_row(x, QP_STYLE_DIM, "", "", "", text);
}

static void add_line(listing *x, uint32_t line)
{
    char number[16], text[TEXT_BYTES], count[QP_NUMBER_BYTES];
    const qp_cover_args *a = &x->cli->args.cover;
    const qp_cover_line *l = &x->f->lines[x->next];
    snprintf(number, sizeof number, "%" PRIu32, line);
    qp_listing_line(text, sizeof text, x->source, line);
    add_summaries(x, line);
    if (x->next == x->f->n_lines || l->line != line) {
        add_row(x, style_between(x), "", "", number, text);
        return;
    }
    add_row(x, style_of(l), mark_of(l),
            qp_unit_count(count, x->cli->args.cover.has_sums ? l->sum : l->count), number,
            text);
    if (a->has_blocks)
        add_blocks(x, l);
    add_branches(x, l);
    if (a->has_contexts)
        add_contexts(x, x->next);
    x->next++;
}

/* ---- a file ---------------------------------------------------------------------------------- */

static bool is_missed(const qp_cover_file *f, const qp_cover_line *l)
{
    if (l->annotation != QP_ANNOTATION_NONE)
        return false;
    for (uint32_t i = 0; i < l->n_branches; i++)
        if (qp_cover_is_way_missed(&f->branches[l->first_branch + i]))
            return true;
    return l->n_blocks_hit < l->n_blocks || !l->is_hit;
}

/* Was something missed at most CONTEXT_LINES away? Lines must ascend from call to call. */
static bool is_near_missed(listing *x, uint32_t line)
{
    const qp_cover_file *f = x->f;
    while (x->near < f->n_lines && f->lines[x->near].line + CONTEXT_LINES < line)
        x->near++;
    for (uint32_t i = x->near; i < f->n_lines && f->lines[i].line <= line + CONTEXT_LINES; i++)
        if (is_missed(f, &f->lines[i]))
            return true;
    return false;
}

/* Add the lines of the text; after its end, and without a text, the lines that have code. */
static void add_lines(listing *x)
{
    const qp_cover_file *f = x->f;
    uint32_t n_text = x->source ? x->source->n_lines : 0, shown = 0;
    for (uint32_t line = 1; line <= n_text || x->next < f->n_lines; line++) {
        if (line > n_text)
            line = f->lines[x->next].line;
        bool has_code = x->next < f->n_lines && f->lines[x->next].line == line;
        if (x->cli->args.cover.has_only_missed && !is_near_missed(x, line)) {
            x->next += has_code;
            continue;
        }
        if (x->source && shown && line > shown + 1)
            add_row(x, QP_STYLE_DIM, "", "", "...", "");
        add_line(x, line);
        shown = line;
    }
}

/* Read the source of a file, if it did not change since it was recorded.
 * @param error  why not, one line */
static bool read_source(const qp_cli *cli, const qp_cover_file *file, qp_source *source,
                        qp_error *error)
{
    if (!qp_source_read(file->file, file->digest, &cli->args.folders, source, error))
        return false;
    if (!file->digest || file->digest == source->digest)
        return true;
    qp_error_fail(error, "%.400s: changed since it was recorded (record again)", file->path);
    qp_source_fini(source);
    return false;
}

static bool print_file(const qp_cli *cli, const qp_cover *c, const qp_cover_file *f)
{
    const qp_screen *s = &cli->screen;
    qp_error error;
    char percent[QP_NUMBER_BYTES], lines[QP_NUMBER_BYTES];
    static const qp_column columns[] = {{"", QP_ALIGN_LEFT, 0},
                                        {"Count", QP_ALIGN_RIGHT, 0},
                                        {"Line", QP_ALIGN_RIGHT, 0},
                                        {"Source", QP_KEEP_BEGIN, 0}};
    qp_source source;
    bool has_source = read_source(cli, f, &source, &error);
    listing x = {.cli = cli, .c = c, .f = f, .source = has_source ? &source : NULL};
    qp_screen_style(s, QP_STYLE_HEAD);
    qp_screen_name(s, f->path, 0);
    qp_screen_style(s, QP_STYLE_PLAIN);
    if (f->totals.lines)
        qp_out_format(s->out, ": %s %% of %s hit",
                      qp_unit_share(percent, f->totals.lines_hit, f->totals.lines, 1),
                      qp_unit_things(lines, f->totals.lines, "line"));
    qp_out_char(s->out, '\n');
    if (!has_source)
        qp_cli_warn(cli, "%s; lines are listed without text", error.text);
    qp_table_begin(&x.t, columns, sizeof columns / sizeof *columns);
    add_lines(&x);
    bool is_good = x.t.n_cells ? qp_table_print(&x.t, s, 0) : !x.t.has_failed;
    if (is_good && !x.t.n_cells)
        qp_out_text(s->out, f->n_lines ? "Nothing was missed.\n" : "No lines were counted.\n");
    qp_table_fini(&x.t);
    if (has_source)
        qp_source_fini(&source);
    return is_good;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* @param data  const char **: name of the file; NULL: all */
static int show(qp_cli *cli, const qp_cover *c, void *data)
{
    const char *name = *(const char **)data;
    const qp_cover_file *only = name ? qp_cover_find_file(cli, c, name) : NULL;
    bool is_good = true;
    if (name && !only)
        return QP_EXIT_UNUSABLE;
    qp_cover_header(cli, c);
    if (only)
        is_good = print_file(cli, c, only);
    for (size_t i = 0; i < c->n_files && !only && is_good; i++) {
        qp_out_text(&cli->out, i ? "\n" : "");
        is_good = print_file(cli, c, &c->files[i]);
    }
    return is_good ? QP_EXIT_CLEAN : qp_cli_fail_memory(cli);
}

static int run_annotate(qp_cli *cli)
{
    const char *name;
    return qp_cover_operands(cli, &name) ? qp_cover_show(cli, show, &name) : QP_EXIT_UNUSABLE;
}

const qp_command qp_command_cover_annotate = {
    .name = "cover annotate",
    .operands = "[SOURCE] [FILE...]",
    .summary = "source lines with their counts of executions",
    .about = "Shows a source, or all of them, with the count of executions of each line: that\n"
             "of its most executed block. Marks: | executed, # never, + several blocks begin\n"
             "on the line, +# some of them were never executed, D dead code, T tested and I\n"
             "inspected by its marker, * about a function, ^ about a branch.",
    .flags =
        (const qp_flag[]){{"only-missed", 'm', QP_FLAG_YES, NULL, QP_COVER_AT(has_only_missed),
                           NULL, "only what was missed, with two lines of context"},
                          {"blocks", 0, QP_FLAG_YES, NULL, QP_COVER_AT(has_blocks), NULL,
                           "one row for each block of lines with several blocks"},
                          {"sum", 0, QP_FLAG_YES, NULL, QP_COVER_AT(has_sums), NULL,
                           "counts of lines are the sums of their blocks"},
                          {"contexts", 0, QP_FLAG_YES, NULL, QP_COVER_AT(has_contexts), NULL,
                           "hits of each context below each line"},
                          QP_COVER_FLAGS,
                          QP_FLAGS_COMMON},
    .examples = "qprof cover annotate parse.lua run.qprof\n"
                "qprof cover annotate --only-missed          what is still to be tested\n"
                "qprof cover annotate --contexts parse.lua   and which test ran it",
    .run = run_annotate};
