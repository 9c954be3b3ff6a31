/* cover_summary.c: `qprof cover summary`: the modules of a program, also while it runs. */
#include "base/json.h"
#include "base/table_text.h"
#include "base/unit.h"
#include "cli/cover.h"
#include "cli/cover_rows.h"

/* How often a module was called, by the power of ten: a class has a text and a colour. */
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

static bool is_shown(const qp_cover_row *row)
{
    return row->kind == QP_ROW_MODULE || row->kind == QP_ROW_ALL;
}

static bool print_text(const qp_cli *cli, const qp_cover *c, const qp_cover_rows *rows)
{
    char text[QP_NUMBER_BYTES], name[QP_NAME_BYTES];
    qp_table t;
    qp_cover_header(cli, c);
    qp_table_init(&t);
    qp_table_column(&t, "Module", QP_KEEP_BEGIN, 0);
    qp_table_column(&t, "Calls", QP_ALIGN_RIGHT, 0);
    qp_table_column(&t, "Class", QP_ALIGN_RIGHT, 1);
    qp_table_column(&t, "Functions", QP_ALIGN_RIGHT, 2);
    qp_table_column(&t, "Hit", QP_ALIGN_RIGHT, 0);
    qp_table_column(&t, "Missed", QP_ALIGN_RIGHT, 0);
    qp_table_column(&t, "Hit %", QP_ALIGN_RIGHT, 0);
    for (size_t i = 0; i < rows->n; i++) {
        const qp_cover_totals *f = rows->items[i].totals;
        size_t class = class_of(f->calls);
        if (!is_shown(&rows->items[i]))
            continue;
        qp_cover_row_name(&rows->items[i], name, sizeof name);
        qp_table_name(&t, rows->items[i].kind == QP_ROW_ALL ? QP_STYLE_HEAD : QP_STYLE_PLAIN,
                      name);
        qp_table_plain(&t, classes[class].style, qp_unit_count(text, f->calls));
        qp_table_plain(&t, classes[class].style, classes[class].text);
        qp_table_plain(&t, QP_STYLE_PLAIN, qp_unit_count(text, f->functions));
        qp_table_plain(&t, QP_STYLE_PLAIN, qp_unit_count(text, f->functions_hit));
        qp_table_plain(&t, QP_STYLE_PLAIN,
                       qp_unit_count(text, f->functions - f->functions_hit));
        qp_table_plain(&t, qp_cover_percent_style(f->functions_hit, f->functions),
                       qp_unit_share(text, f->functions_hit, f->functions, 1));
    }
    bool is_good = qp_table_print(&t, &cli->screen, 0);
    qp_table_fini(&t);
    return is_good;
}

static void write_json(qp_out *out, const qp_cover_rows *rows)
{
    qp_json json;
    qp_json_init(&json, out);
    qp_json_begin(&json, NULL, '{');
    qp_json_begin(&json, "modules", '[');
    for (size_t i = 0; i < rows->n; i++) {
        const qp_cover_totals *f = rows->items[i].totals;
        if (rows->items[i].kind != QP_ROW_MODULE)
            continue;
        qp_json_begin(&json, NULL, '{');
        qp_json_text(&json, "name", rows->items[i].path);
        qp_json_count(&json, "calls", f->calls);
        qp_json_text(&json, "class", classes[class_of(f->calls)].text);
        qp_json_count(&json, "functions", f->functions);
        qp_json_count(&json, "functions_hit", f->functions_hit);
        qp_json_end(&json, '}');
    }
    qp_json_end(&json, ']');
    qp_json_end(&json, '}');
}

static int run_summary(qp_cli *cli)
{
    qp_cover *c;
    qp_cover_rows rows;
    bool is_good = true;
    if (!qp_cover_operands(cli, NULL))
        return QP_EXIT_UNUSABLE;
    int status = qp_cover_open(cli, cli->args.operands, cli->args.n_operands, &c);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    cli->args.cover.view = QP_VIEW_MODULE;
    if (!qp_cover_rows_make(&rows, &cli->args, c))
        status = qp_cli_fail_memory(cli);
    else if (cli->args.format == QP_FORMAT_TEXT)
        is_good = print_text(cli, c, &rows);
    else
        write_json(&cli->out, &rows);
    if (status != QP_EXIT_UNUSABLE)
        qp_cover_rows_free(&rows);
    qp_cover_free(c);
    return is_good ? status : qp_cli_fail_memory(cli);
}

static const qp_flag flags[] = {{"sort", 's', QP_FLAG_WORD, QP_COVER_SORT_WORDS,
                                 QP_FLAG_AT(sort), "name", "order of the modules"},
                                QP_COVER_FLAGS_FILES,
                                QP_COVER_FLAG_FORCE,
                                QP_COVER_FLAG_FORMAT,
                                QP_FLAGS_COMMON};

const qp_command qp_command_cover_summary = {
    .name = "cover summary",
    .operands = "[FILE...]",
    .summary = "the modules of a program, also while it runs",
    .about = "Shows for each module its calls and how many of its functions were hit. The\n"
             "class of the calls is also a colour: 0, < 10, < 100, < 1,000 and more. FILE may\n"
             "be the process id of a program that is running.",
    .flags = flags,
    .examples = "qprof cover summary 4242                    a program that is running\n"
                "qprof cover summary --sort=calls run.qprof",
    .run = run_summary};
