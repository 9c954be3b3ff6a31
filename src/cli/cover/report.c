/* report.c: `qprof cover report`: coverage of folders, files and functions. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text/text.h"
#include "base/text/unit.h"
#include "cli/cover/cover.h"
#include "export/export.h"

/* ---- text ------------------------------------------------------------------------------------ */

typedef struct {
    bool has_lines, has_branches, has_calls, has_skips;
} columns;

static void begin_table(qp_table *t, const columns *x, const char *first)
{
    qp_table_init(t);
    qp_table_column(t, first, QP_KEEP_BEGIN, 0);
    if (x->has_calls)
        qp_table_column(t, "Calls", QP_ALIGN_RIGHT, 2);
    if (x->has_skips)
        qp_table_column(t, "Skips", QP_ALIGN_RIGHT, 2);
    qp_table_column(t, "Functions", QP_ALIGN_RIGHT, 4);
    qp_table_column(t, "Func %", QP_ALIGN_RIGHT, 3);
    if (x->has_lines) {
        qp_table_column(t, "Lines", QP_ALIGN_RIGHT, 0);
        qp_table_column(t, "Missed", QP_ALIGN_RIGHT, 6);
        qp_table_column(t, "Line %", QP_ALIGN_RIGHT, 0);
    }
    if (x->has_branches) {
        qp_table_column(t, "Branches", QP_ALIGN_RIGHT, 5);
        qp_table_column(t, "Branch %", QP_ALIGN_RIGHT, 1);
    }
}

static void add_row(qp_table *t, const columns *x, const qp_cover_row *row)
{
    char name[QP_NAME_BYTES], text[QP_NUMBER_BYTES];
    const qp_cover_totals *f = row->totals;
    qp_style style = row->kind == QP_ROW_ALL      ? QP_STYLE_HEAD
                     : row->kind == QP_ROW_FOLDER ? QP_STYLE_DIM
                                                  : QP_STYLE_PLAIN;
    int n = snprintf(name, sizeof name, "%*s", (int)(2 * row->depth), "");
    qp_cover_row_name(row, name + n, sizeof name - (size_t)n);
    qp_table_name(t, style, name);
    if (x->has_calls)
        qp_table_plain(t, QP_STYLE_PLAIN, qp_unit_count(text, f->calls));
    if (x->has_skips)
        qp_table_plain(t, QP_STYLE_PLAIN, qp_unit_count(text, f->skips));
    qp_cover_add_share(t, f->functions_hit, f->functions, false);
    if (x->has_lines)
        qp_cover_add_share(t, f->lines_hit, f->lines, true);
    if (x->has_branches)
        qp_cover_add_share(t, f->branches_hit, f->branches, false);
}

static bool print_table(const qp_cli *cli, const qp_cover *c, const qp_cover_rows *rows)
{
    const qp_cover_args *a = &cli->args.cover;
    columns x = {.has_lines = c->totals.lines > 0,
                 .has_branches = c->totals.branches > 0,
                 .has_calls = (a->has_functions || cli->args.has_skips) &&
                              (c->has_calls || c->totals.calls),
                 .has_skips = cli->args.has_skips};
    qp_table t;
    begin_table(&t, &x,
                a->has_functions            ? "File, function"
                : a->view == QP_VIEW_MODULE ? "Module, file"
                                            : "File");
    for (size_t i = 0; i < rows->n; i++)
        add_row(&t, &x, &rows->items[i]);
    return qp_table_end(&t, &cli->screen, 0);
}

/* "12->15": the branch of line 12 never continued at line 15. */
static void list_branches(qp_cover_list *list, const qp_cover_file *f)
{
    char text[64];
    for (uint32_t i = 0; i < f->n_branches; i++) {
        const qp_cover_branch *b = &f->branches[i];
        if (!qp_cover_is_way_missed(b))
            continue;
        if (b->to_line)
            snprintf(text, sizeof text, "%" PRIu32 "->%" PRIu32, b->line, b->to_line);
        else
            snprintf(text, sizeof text, "%" PRIu32 "->", b->line);
        qp_cover_show_item(list, text);
    }
}

/* A missed function is named, unless a missed line of it is: others may have executed its lines. */
static bool is_uncalled(const qp_cover_file *f, const qp_cover_function *x)
{
    if (x->is_hit || x->is_dead)
        return false;
    for (size_t i = qp_cover_line_from(f, x->first_line);
         x->first_line && i < f->n_lines && f->lines[i].line <= x->last_line; i++)
        if (qp_cover_is_missed(NULL, f, i))
            return false;
    return true;
}

static bool print_uncalled(const qp_screen *s, const qp_cover *c)
{
    bool is_first = true;
    for (size_t i = 0; i < c->n_files; i++) {
        const qp_cover_file *f = &c->files[i];
        qp_cover_list list = {.s = s, .indent = 4, .title = f->path};
        for (uint32_t k = 0; k < f->n_functions; k++) {
            char name[QP_NAME_BYTES];
            size_t width;
            if (!is_uncalled(f, &f->functions[k]))
                continue;
            qp_out_text(s->out, is_first ? "\nNever called\n" : "");
            is_first = false;
            qp_text_terminal(name, sizeof name, f->functions[k].name, &width);
            qp_cover_show_item(&list, name);
        }
        qp_out_text(s->out, list.column ? "\n" : "");
    }
    return !is_first;
}

static void print_uncovered(const qp_screen *s, const qp_cover *c)
{
    bool is_first = true;
    for (size_t i = 0; i < c->n_files; i++) {
        const qp_cover_file *f = &c->files[i];
        qp_cover_list list = {.s = s, .indent = 4, .title = f->path};
        const qp_cover_totals *t = &f->totals;
        if (t->lines_hit == t->lines && t->branches_hit == t->branches)
            continue;
        qp_out_text(s->out, is_first
                                ? "\nNever executed (12->15: line 12 never continued at 15)\n"
                                : "");
        is_first = false;
        qp_cover_each_range(f, qp_cover_is_missed, NULL, qp_cover_show_range, &list);
        list_branches(&list, f);
        qp_out_text(s->out, list.column ? "\n" : "");
    }
    if (!print_uncalled(s, c) && is_first)
        qp_out_text(s->out, "\nNothing was missed.\n");
}

static bool print_text(const qp_cli *cli, const qp_cover *c, const qp_cover_rows *rows)
{
    qp_cover_header(cli, c);
    if (c->n_files == 0) {
        qp_out_text(cli->screen.out, "No file was covered.\n");
        return true;
    }
    if (!print_table(cli, c, rows))
        return false;
    bool counts_lines = c->grain != QP_GRAIN_FUNCTION;
    if (cli->args.cover.has_uncovered && !counts_lines && !print_uncalled(&cli->screen, c))
        qp_out_text(cli->screen.out, "\nEvery function was called; lines were not counted.\n");
    else if (cli->args.cover.has_uncovered && counts_lines)
        print_uncovered(&cli->screen, c);
    return true;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void write_figure(qp_out *out, uint64_t n_hit, uint64_t n)
{
    char percent[QP_NUMBER_BYTES];
    qp_out_format(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s", n_hit, n - n_hit, n,
                  n ? qp_unit_share(percent, n_hit, n, 2) : "100.00");
}

static void write_csv(qp_out *out, const qp_cover_rows *rows)
{
    static const char *const kinds[] = {"total", "folder", "module", "file", "function"};
    qp_out_text(
        out, "kind,path,name,line,calls,functions_hit,functions_missed,functions,"
             "functions_percent,lines_hit,lines_missed,lines,lines_percent,"
             "lines_partial,branches_hit,branches_missed,branches,branches_percent,skips\r\n");
    for (size_t i = 0; i < rows->n; i++) {
        const qp_cover_row *row = &rows->items[i];
        const qp_cover_totals *t = row->totals;
        qp_out_format(out, "%s,", kinds[row->kind]);
        qp_text_csv(out, row->path);
        qp_out_char(out, ',');
        qp_text_csv(out, row->function ? row->function->name : "");
        qp_out_format(out, ",%" PRIu32 ",%" PRIu64,
                      row->function ? row->function->first_line : 0, t->calls);
        write_figure(out, t->functions_hit, t->functions);
        write_figure(out, t->lines_hit, t->lines);
        qp_out_format(out, ",%" PRIu64, t->lines_partial);
        write_figure(out, t->branches_hit, t->branches);
        qp_out_format(out, ",%" PRIu64 "\r\n", t->skips);
    }
}

/* ---- the command ----------------------------------------------------------------------------- */

static int show(qp_cli *cli, const qp_cover *c, void *unused)
{
    qp_error error;
    qp_cover_rows rows;
    bool is_good = true;
    (void)unused;
    if (cli->args.format == QP_FORMAT_JSON) {
        if (!qp_cover_export(qp_cover_exporter_named("json"), c, &cli->out, NULL, &error))
            return qp_cli_fail(cli, "%s", error.text);
        return qp_cover_judge(cli, &c->totals);
    }
    if (!qp_cover_rows_make(&rows, &cli->args, c))
        return qp_cli_fail_memory(cli);
    if (cli->args.format == QP_FORMAT_CSV)
        write_csv(&cli->out, &rows);
    else
        is_good = print_text(cli, c, &rows);
    qp_cover_rows_free(&rows);
    return is_good ? qp_cover_judge(cli, &c->totals) : qp_cli_fail_memory(cli);
}

static int run_report(qp_cli *cli)
{
    return qp_cover_show(cli, show, NULL);
}

const qp_command qp_command_cover_report = {
    .name = "cover report",
    .operands = "[FILE...]",
    .summary = "coverage of folders and files",
    .about =
        "Shows functions, lines and branches of each folder and file: hit/all, and\n"
        "percent. A line is hit if some of its code was executed; a branch is one way out\n"
        "of a condition.",
    .flags =
        (const qp_flag[]){{"functions", 0, QP_FLAG_YES, NULL, QP_COVER_AT(has_functions), NULL,
                           "rows for functions, with their calls"},
                          {"show-skips", 0, QP_FLAG_YES, NULL, QP_FLAG_AT(has_skips), NULL,
                           "columns of calls, and of those while recording was off"},
                          {"uncovered", 'u', QP_FLAG_YES, NULL, QP_COVER_AT(has_uncovered),
                           NULL, "missed lines and ways of branches, file by file"},
                          {"view", 0, QP_FLAG_WORD, QP_COVER_VIEW_WORDS, QP_COVER_AT(view),
                           "file",
                           "grouping of files: by folders, or by modules of the program"},
                          {"sort", 's', QP_FLAG_WORD, QP_COVER_SORT_WORDS, QP_FLAG_AT(sort),
                           "name", "order of files; by name a tree, else one list"},
                          QP_COVER_FLAGS_LIMITS,
                          QP_COVER_FLAGS,
                          QP_FLAG_FORMAT,
                          QP_FLAGS_COMMON},
    .schemas = (const qp_schema[]){{"cover", qp_cover_document}, {.name = NULL}},
    .examples = "qprof cover report                          the newest profile here\n"
                "qprof cover report a.qprof b.qprof          the sum of two\n"
                "qprof cover report --uncovered --sort=missed\n"
                "qprof cover report --fail-under=80 --exclude='tests/**'\n"
                "qprof cover report --format=json | jq .totals",
    .run = run_report};
