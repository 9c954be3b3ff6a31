/* summary.c: `qprof cover summary`: calls and coverage of the modules of a program. */
#include "base/text/unit.h"
#include "cli/cover/cover.h"

/* The class of a number of calls, by powers of ten; it has a text and a colour. */
static size_t class_of(uint64_t calls)
{
    return calls == 0 ? 0 : calls < 10 ? 1 : calls < 100 ? 2 : calls < 1000 ? 3 : 4;
}

static const struct {
    const char *text;
    qp_style style;
} classes[] = {{"0", QP_STYLE_BAD},
               {"< 10", QP_STYLE_PARTIAL},
               {"< 100", QP_STYLE_WARM},
               {"< 1,000", QP_STYLE_HIT},
               {">= 1,000", QP_STYLE_GOOD}};

static bool print_text(const qp_cli *cli, const qp_cover *c, const qp_cover_rows *rows)
{
    char text[QP_NUMBER_BYTES], name[QP_NAME_BYTES];
    static const qp_column columns[] = {
        {"Module", QP_KEEP_BEGIN, 0}, {"Calls", QP_ALIGN_RIGHT, 0},
        {"Class", QP_ALIGN_RIGHT, 1}, {"Functions", QP_ALIGN_RIGHT, 2},
        {"Hit", QP_ALIGN_RIGHT, 0},   {"Missed", QP_ALIGN_RIGHT, 0},
        {"Hit %", QP_ALIGN_RIGHT, 0}};
    qp_table t;
    qp_cover_header(cli, c);
    qp_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < rows->n; i++) {
        const qp_cover_totals *f = rows->items[i].totals;
        size_t class = class_of(f->calls);
        if (rows->items[i].kind != QP_ROW_MODULE && rows->items[i].kind != QP_ROW_ALL)
            continue;
        qp_cover_row_name(&rows->items[i], name, sizeof name);
        qp_table_name(&t, rows->items[i].kind == QP_ROW_ALL ? QP_STYLE_HEAD : QP_STYLE_PLAIN,
                      name);
        bool has_calls = c->has_calls || f->calls;
        qp_table_plain(&t, classes[class].style,
                       has_calls ? qp_unit_count(text, f->calls) : "-");
        qp_table_plain(&t, classes[class].style, has_calls ? classes[class].text : "-");
        qp_table_plain(&t, QP_STYLE_PLAIN, qp_unit_count(text, f->functions));
        qp_table_plain(&t, QP_STYLE_PLAIN, qp_unit_count(text, f->functions_hit));
        qp_table_plain(&t, QP_STYLE_PLAIN,
                       qp_unit_count(text, f->functions - f->functions_hit));
        qp_table_plain(&t, qp_cover_percent_style(f->functions_hit, f->functions),
                       qp_unit_share(text, f->functions_hit, f->functions, 1));
    }
    return qp_table_end(&t, &cli->screen, 0);
}

typedef struct {
    qp_cover_row row;
    const char *class;
    qp_cover_totals totals;
} module_row;

#define AT(member) QP_FIELD_AT(module_row, member)
static const qp_field module_fields[] = {
    {"name", NULL, "name, \"\" of functions without a module", QP_FIELD_NAME, AT(row.path)},
    {"calls", NULL, "recorded calls", QP_FIELD_COUNT, AT(totals.calls)},
    {"class", NULL, "magnitude of the calls", QP_FIELD_WORD, AT(class),
     .words = "0|< 10|< 100|< 1,000|>= 1,000"},
    {"functions", NULL, "known functions", QP_FIELD_COUNT, AT(totals.functions)},
    {"functions_hit", NULL, "functions that were hit", QP_FIELD_COUNT,
     AT(totals.functions_hit)},
    {.key = NULL}};
#undef AT

static void write_modules(qp_json *json, const void *data)
{
    const qp_cover_rows *rows = data;
    for (size_t i = 0; i < rows->n; i++) {
        const qp_cover_row *row = &rows->items[i];
        if (row->kind == QP_ROW_MODULE)
            qp_row_json(
                json, NULL, module_fields, QP_FIELDS_ALL,
                &(module_row){*row, classes[class_of(row->totals->calls)].text, *row->totals});
    }
}

static const qp_field document_fields[] = {{"modules", NULL, "modules in the order of --sort",
                                            QP_FIELD_ROWS, .sub = module_fields,
                                            .write = write_modules},
                                           {.key = NULL}};

static int show(qp_cli *cli, const qp_cover *c, void *unused)
{
    qp_cover_rows rows;
    bool is_good = true;
    (void)unused;
    cli->args.cover.view = QP_VIEW_MODULE;
    if (!qp_cover_rows_make(&rows, &cli->args, c))
        return qp_cli_fail_memory(cli);
    if (cli->args.format == QP_FORMAT_TEXT)
        is_good = print_text(cli, c, &rows);
    else
        qp_document_json(&cli->out, document_fields, &rows);
    qp_cover_rows_free(&rows);
    return is_good ? QP_EXIT_CLEAN : qp_cli_fail_memory(cli);
}

static int run_summary(qp_cli *cli)
{
    return qp_cover_show(cli, show, NULL);
}

const qp_command qp_command_cover_summary = {
    .name = "cover summary",
    .operands = "[FILE...]",
    .summary = "the modules of a program, also while it runs",
    .about =
        "Shows the calls of each module and how many of its functions were hit. The class\n"
        "of the calls is also a colour: 0, < 10, < 100, < 1,000 and more. FILE may be the\n"
        "process id of a running program.",
    .flags = (const qp_flag[]){{"sort", 's', QP_FLAG_WORD, QP_COVER_SORT_WORDS,
                                QP_FLAG_AT(sort), "name", "order of the modules"},
                               QP_COVER_FLAGS_FILES,
                               QP_COVER_FLAG_FORCE_MERGE,
                               QP_FLAG_MAX_MEMORY,
                               QP_COVER_FLAG_FORMAT,
                               QP_FLAGS_COMMON},
    .schemas = (const qp_schema[]){{"cover-summary", document_fields}, {.name = NULL}},
    .examples = "qprof cover summary 4242                    a program that is running\n"
                "qprof cover summary --sort=calls run.qprof",
    .run = run_summary};
