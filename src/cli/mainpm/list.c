/* list.c: `qprof list`: the report of MAINPM. Here are its sections that are counts: calls, statements,
 * and what was not executed; PC samples are in cli/show. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "cli/cover/cover.h"
#include "cli/mainpm/mainpm.h"

#define BY_WORDS "procedure|module|statement"

static bool was_called(const qp_list_row *r)
{
    return r->calls > 0;
}

static bool was_missed(const qp_list_row *r)
{
    return r->executed == 0;
}

static void keep(qp_list_rows *r, bool fits(const qp_list_row *))
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        if (fits(&r->items[i]))
            r->items[n++] = r->items[i];
    r->n = n;
}

/* ---- text ------------------------------------------------------------------------------------ */

typedef enum { SECTION_CALLS, SECTION_COUNTS, SECTION_MISSED } section;

static const struct {
    const char *title, *none;
} sections[][2] = {{{"Calls", "Nothing was called."}, {"Calls", "Nothing was called."}},
                   {{"Statements", "Nothing is known of statements."},
                    {"Statements", "Nothing is known of statements."}},
                   {{"Procedures not executed", "Every procedure was executed."},
                    {"Statements not executed", "Every statement was executed."}}};

typedef struct {
    qp_list_row row;
    const char *place;
} list_row;

enum { HAS_PROCEDURES = 1 }; /* rows are not of modules */

#define AT(member) QP_FIELD_AT(list_row, member)
static const qp_field place_fields[] = {
    {"module", "Module", "\"\" without one", QP_FIELD_NAME, AT(row.module), .rank = 1},
    {"procedure", "Procedure", "display name; missing with --by=module", QP_FIELD_NAME,
     AT(row.procedure), .flags = QP_FIELD_OPTIONAL, .needs = HAS_PROCEDURES},
    {"file", NULL, "source as registered; missing with --by=module", QP_FIELD_NAME,
     AT(row.file), .flags = QP_FIELD_OPTIONAL, .needs = HAS_PROCEDURES},
    {"line", NULL, "line, of a procedure its first one; 0: unknown; missing with --by=module",
     QP_FIELD_COUNT, AT(row.line), .flags = QP_FIELD_OPTIONAL, .needs = HAS_PROCEDURES},
    {"place", "File:Line", NULL, QP_FIELD_PLACE, AT(place), .flags = QP_FIELD_NO_JSON,
     .rank = 1},
    {.key = NULL}};

static const qp_field calls_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, .sub = place_fields},
    {"calls", "Calls", "number of calls", QP_FIELD_COUNT, AT(row.calls)},
    {"procedures", "Procedures", "1, or the number of the module's procedures", QP_FIELD_COUNT,
     AT(row.procedures), .rank = 2},
    {"procedures_called", "Called", "those of them that were called", QP_FIELD_COUNT,
     AT(row.procedures_called), .rank = 2},
    {.key = NULL}};

static const qp_field counts_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, .sub = place_fields},
    {"statements", "Statements", "1, or the number of statements", QP_FIELD_COUNT,
     AT(row.statements), .rank = 2},
    {"executed", "Executed", "those of them that were executed", QP_FIELD_COUNT,
     AT(row.executed), .rank = 2},
    {"executions", "Executions", "sum of their executions", QP_FIELD_COUNT, AT(row.executions)},
    {.key = NULL}};

static const qp_field missed_fields[] = {
    {"module", "Module", "\"\" without one", QP_FIELD_NAME, AT(row.module), .rank = 1},
    {"procedure", "Procedure", "display name", QP_FIELD_NAME, AT(row.procedure)},
    {"file", NULL, "source as registered", QP_FIELD_NAME, AT(row.file)},
    {"line", NULL, "line, of a procedure its first one; 0: unknown", QP_FIELD_COUNT,
     AT(row.line)},
    {"place", "File:Line", NULL, QP_FIELD_PLACE, AT(place), .flags = QP_FIELD_NO_JSON,
     .rank = 1},
    {.key = NULL}};
#undef AT

static const qp_field *fields_of(section s, bool of_statements)
{
    return s == SECTION_MISSED ? missed_fields : of_statements ? counts_fields : calls_fields;
}

/* Columns from left to right. */
static const char *columns_of(section s, unsigned by)
{
    if (s == SECTION_MISSED)
        return "module procedure place";
    if (s == SECTION_CALLS)
        return by == QP_LIST_BY_MODULE ? "module procedures procedures_called calls"
                                       : "module procedure calls place";
    return by == QP_LIST_BY_MODULE      ? "module statements executed executions"
           : by == QP_LIST_BY_STATEMENT ? "module procedure executions place"
                                        : "module procedure statements executed executions "
                                          "place";
}

static void add_row(qp_listing *l, const qp_list_row *r, bool has_line)
{
    char place[4096];
    if (r->line && has_line)
        snprintf(place, sizeof place, "%s:%" PRIu32, r->file, r->line);
    else
        snprintf(place, sizeof place, "%s", r->file);
    qp_listing_row(l, &(list_row){*r, place}, QP_STYLE_PLAIN);
}

/* @param is_known  there are some at all */
static bool print_section(const qp_cli *cli, const qp_list_rows *r, section s,
                          bool of_statements, bool is_known)
{
    unsigned by = s == SECTION_MISSED ? QP_LIST_BY_STATEMENT : cli->args.cover.by;
    qp_listing l;
    qp_screen_text(&cli->screen, QP_STYLE_HEAD, sections[s][of_statements].title);
    qp_out_text(cli->screen.out, "\n");
    if (r->n == 0) {
        qp_out_format(cli->screen.out, "  %s\n\n",
                      sections[is_known ? s : SECTION_COUNTS][of_statements].none);
        return true;
    }
    bool has_line = s != SECTION_COUNTS || by == QP_LIST_BY_STATEMENT;
    qp_listing_begin(&l, &cli->screen, fields_of(s, of_statements), columns_of(s, by),
                     QP_FIELDS_ALL, (qp_unit){"", 1, 0});
    if (!has_line)
        qp_listing_title(&l, "place", "File");
    for (size_t i = 0; i < r->n; i++)
        add_row(&l, &r->items[i], has_line);
    bool is_good = qp_listing_end(&l, 2);
    qp_out_char(cli->screen.out, '\n');
    return is_good;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* A document has the sections that were requested; show() writes them. */
static const qp_field document_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, .sub = qp_pc_samples_part},
    {"calls", NULL, "calls, most first", QP_FIELD_ROWS, .sub = calls_fields,
     .flags = QP_FIELD_OPTIONAL},
    {"counts", NULL, "executions of statements, most first", QP_FIELD_ROWS,
     .sub = counts_fields, .flags = QP_FIELD_OPTIONAL},
    {"procedures_not_executed", NULL, "by module and file", QP_FIELD_ROWS, .sub = missed_fields,
     .flags = QP_FIELD_OPTIONAL},
    {"statements_not_executed", NULL, "by module, file and procedure", QP_FIELD_ROWS,
     .sub = missed_fields, .flags = QP_FIELD_OPTIONAL},
    {.key = NULL}};

static void write_section(qp_json *json, const char *key, const qp_list_rows *r, section s,
                          bool of_statements, unsigned by)
{
    qp_json_begin(json, key, '[');
    for (size_t i = 0; i < r->n; i++)
        qp_row_json(json, NULL, fields_of(s, of_statements),
                    by == QP_LIST_BY_MODULE ? 0 : HAS_PROCEDURES, &(list_row){r->items[i], ""});
    qp_json_end(json, ']');
}

/* ---- the command ----------------------------------------------------------------------------- */

/* A section of procedures or of statements, which are `all` and stay so. */
static bool show(qp_cli *cli, qp_json *json, const char *key, const qp_list_rows *all,
                 section s, bool of_statements)
{
    qp_list_rows r = {qp_alloc(all->n, sizeof(qp_list_row)), all->n};
    unsigned by = s == SECTION_MISSED ? QP_LIST_BY_STATEMENT : cli->args.cover.by;
    bool is_good = r.items != NULL;
    if (!is_good)
        return false;
    memcpy(r.items, all->items, all->n * sizeof(qp_list_row));
    if (s == SECTION_MISSED)
        keep(&r, was_missed);
    qp_list_break_down(&r, by);
    if (s == SECTION_CALLS && by != QP_LIST_BY_MODULE)
        keep(&r, was_called);
    if (cli->args.format == QP_FORMAT_JSON)
        write_section(json, key, &r, s, of_statements, by);
    else
        is_good = print_section(cli, &r, s, of_statements, all->n > 0 || !of_statements);
    qp_free(r.items);
    return is_good;
}

/* Calls, statements, and what was not executed. */
static bool show_counts(qp_cli *cli, qp_json *json, const qp_list_rows *procedures,
                        const qp_list_rows *statements)
{
    const qp_cover_args *a = &cli->args.cover;
    bool has_all = !a->has_calls && !a->has_counts && !a->has_not_executed, is_good = true;
    if (has_all || a->has_calls)
        is_good = show(cli, json, "calls", procedures, SECTION_CALLS, false);
    if (is_good && (has_all || a->has_counts))
        is_good = show(cli, json, "counts", statements, SECTION_COUNTS, true);
    if (is_good && (has_all || a->has_not_executed))
        is_good =
            show(cli, json, "procedures_not_executed", procedures, SECTION_MISSED, false) &&
            show(cli, json, "statements_not_executed", statements, SECTION_MISSED, true);
    return is_good;
}

static bool wants_counts(const qp_args *args)
{
    const qp_cover_args *a = &args->cover;
    return a->has_calls || a->has_counts || a->has_not_executed;
}

static bool has_choice(const qp_args *args)
{
    return args->has_samples || wants_counts(args);
}

/* Without a choice interrupts are shown where there are some, else the rest. */
static bool wants_samples(const qp_args *args)
{
    return args->has_samples || !has_choice(args);
}

/* @return NULL, or the flag that says which interrupts */
static const char *flag_of_samples(const qp_args *args)
{
    return args->fold.when ? "--when" : args->thread ? "--thread" : NULL;
}

static int list_counts(qp_cli *cli, qp_json *json, const qp_list_scope *scope,
                       const qp_cover_set *set)
{
    qp_error error;
    qp_list_rows procedures = {0}, statements = {0};
    qp_arena arena;
    int status = QP_EXIT_CLEAN;
    if (!set->is_coverage)
        qp_cli_warn(cli,
                    "recorded without -cover: functions that were never called are not in it");
    qp_arena_init(&arena);
    qp_cover *c = qp_cover_derive(set, &(qp_cover_options){.is_unadjusted = true}, &error);
    if (!c)
        status = qp_cli_fail(cli, "%s", error.text);
    else if (!qp_list_procedures(scope, set, &arena, &procedures) ||
             !qp_list_statements(scope, c, &arena, &statements) ||
             !show_counts(cli, json, &procedures, &statements))
        status = qp_cli_fail_memory(cli);
    qp_free(procedures.items);
    qp_free(statements.items);
    qp_arena_fini(&arena);
    qp_cover_free(c);
    return status;
}

#define HOW_TO_SAMPLE "qprof run --pc='VIRTUAL 1000' -- PROGRAM"

static int list_all(qp_cli *cli, const qp_cover_set *set, qp_pc_samples *samples)
{
    bool is_json = cli->args.format == QP_FORMAT_JSON, is_sampled = samples->has_command;
    bool has_counts = wants_counts(&cli->args) || !is_sampled;
    int status = QP_EXIT_CLEAN;
    qp_json json;
    if (!is_sampled && (cli->args.has_samples || flag_of_samples(&cli->args)))
        return qp_cli_fail(cli,
                           "%s: no interrupts, for it was recorded without a PC command; "
                           "record some with: " HOW_TO_SAMPLE,
                           cli->path);
    qp_json_init(&json, &cli->out);
    if (is_json)
        qp_json_begin(&json, NULL, '{');
    if (is_sampled && wants_samples(&cli->args) && is_json)
        qp_pc_samples_write(&json, samples);
    else if (is_sampled && wants_samples(&cli->args) && !qp_pc_samples_print(cli, samples, 0))
        status = qp_cli_fail_memory(cli);
    if (status == QP_EXIT_CLEAN && has_counts)
        status = list_counts(cli, &json, samples->scope, set);
    if (is_json)
        qp_json_end(&json, '}');
    else if (!is_sampled && !has_choice(&cli->args))
        qp_out_text(cli->screen.out,
                    "No interrupts, for there was no PC command; record some with:\n"
                    "  " HOW_TO_SAMPLE "\n");
    return status;
}

/* A profile that has nothing of what is wanted. */
static int fail_uncounted(const qp_cli *cli, const qp_run_info *run)
{
    if (run->is_stack_only && run->pc_period_ns)
        return qp_cli_fail(cli,
                           "%s: it has interrupts alone: nobody counted its calls and "
                           "statements",
                           cli->path);
    if (run->is_stack_only)
        return qp_cli_fail(cli,
                           "%s: it keeps its stack for others to look at: "
                           "qprof run --pid=%" PRIu64,
                           cli->path, run->pid);
    return qp_cli_fail(
        cli, "%s: nobody counted its calls and statements; qprof report shows its times",
        cli->path);
}

/* Once for all sections. */
static int read_file(qp_cli *cli, const char *file, qp_cover_set *set, qp_pc_samples *samples)
{
    qp_model *m;
    int status = qp_cli_load(cli, file, &m);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    bool has_what_is_wanted =
        m->run.has_calls || (!wants_counts(&cli->args) && m->run.pc_period_ns);
    if (!has_what_is_wanted) {
        status = fail_uncounted(cli, &m->run);
        qp_model_free(m);
        return status;
    }
    int added = wants_samples(&cli->args) ? qp_pc_samples_add(cli, samples, m) : status;
    if (added != QP_EXIT_UNUSABLE)
        added = qp_cover_add(cli, m, set);
    qp_model_free(m);
    return added == QP_EXIT_UNUSABLE ? added : status;
}

static int list_files(qp_cli *cli, const qp_list_scope *scope)
{
    qp_pc_samples samples;
    int status = QP_EXIT_CLEAN;
    if (flag_of_samples(&cli->args) && !wants_samples(&cli->args))
        return qp_cli_fail(cli,
                           "%s is about interrupts, which were not asked for; add --samples",
                           flag_of_samples(&cli->args));
    qp_cover_set *set = qp_cover_set_new();
    if (!set)
        return qp_cli_fail_memory(cli);
    qp_pc_samples_init(&samples, cli->args.cover.by == QP_LIST_BY_MODULE);
    samples.is_listed = qp_list_scope_has_method;
    samples.scope = scope;
    int n = cli->args.n_operands;
    for (int i = 0; (i < n || i == 0) && status != QP_EXIT_UNUSABLE; i++) {
        int one = read_file(cli, n ? cli->args.operands[i] : NULL, set, &samples);
        status = one > status ? one : status;
    }
    if (status != QP_EXIT_UNUSABLE && list_all(cli, set, &samples) == QP_EXIT_UNUSABLE)
        status = QP_EXIT_UNUSABLE;
    qp_pc_samples_fini(&samples);
    qp_cover_set_free(set);
    return status;
}

static int run_list(qp_cli *cli)
{
    qp_list_scope scope;
    int status = qp_list_scope_init(&scope, cli);
    if (status == QP_EXIT_CLEAN)
        status = list_files(cli, &scope);
    qp_list_scope_fini(&scope);
    return status;
}

static const qp_flag flags[] = {
    {"samples", 0, QP_FLAG_YES, NULL, QP_FLAG_AT(has_samples), NULL,
     "interrupts of the PC command: shallow, while a procedure ran itself; deep, while it was "
     "active"},
    {"calls", 0, QP_FLAG_YES, NULL, QP_COVER_AT(has_calls), NULL, "calls of procedures"},
    {"counts", 0, QP_FLAG_YES, NULL, QP_COVER_AT(has_counts), NULL,
     "executions of statements: of the lines that a procedure has"},
    {"not-executed", 0, QP_FLAG_YES, NULL, QP_COVER_AT(has_not_executed), NULL,
     "procedures and statements that were not executed"},
    {"by", 0, QP_FLAG_WORD, BY_WORDS, QP_COVER_AT(by), "procedure",
     "level to which figures are broken down"},
    {"module", 0, QP_FLAG_LIST, "GLOB[:GLOB]", QP_COVER_AT(include), NULL,
     "only modules whose name fits; may be repeated"},
    {"no-module", 0, QP_FLAG_LIST, "GLOB[:GLOB]", QP_COVER_AT(exclude), NULL,
     "no modules whose name fits; may be repeated"},
    {"config", 0, QP_FLAG_TEXT, "FILE", QP_FLAG_AT(config), NULL,
     "configuration file that has the areas of --area and --no-area"},
    {"area", 0, QP_FLAG_NAMES, "TITLE", QP_COVER_AT(areas), NULL,
     "only procedures of this area, and of the modules of --module; may be repeated"},
    {"no-area", 0, QP_FLAG_NAMES, "TITLE", QP_COVER_AT(no_areas), NULL,
     "no procedures of this area; may be repeated"},
    {"when", 0, QP_FLAG_TEXT, "PATTERN", QP_FLAG_AT(fold.when), NULL,
     "interrupts: only of stacks that fit, charged as the call pattern says; default: the "
     "run's own"},
    {"thread", 0, QP_FLAG_TEXT, "N|NAME", QP_FLAG_AT(thread), NULL,
     "interrupts: only of this thread, by number or name"},
    QP_COVER_FLAG_FORCE,
    QP_COVER_FLAG_FORMAT,
    QP_FLAGS_COMMON};

const qp_command qp_command_list = {
    .name = "list",
    .operands = "[FILE...]",
    .summary = "interrupts, calls, statement counts, and what was not executed",
    .about =
        "Lists how often the PC command's interrupts found each procedure; calls of\n"
        "procedures, executions of statements, and procedures and statements that were not\n"
        "executed. Without a choice: interrupts where the run had a PC command, else the\n"
        "rest. Several FILEs add up. A pattern of --when gives what it would have given while\n"
        "recording, and stands in place of the run's own; '*' is every stack.\n"
        "Markers in sources and adjustments are not heeded: qprof cover report heeds them.",
    .flags = flags,
    .examples = "qprof list run.qprof\n"
                "qprof list --when='parse->*' --by=module run.qprof\n"
                "qprof list --calls run.qprof\n"
                "qprof list --counts --by=module\n"
                "qprof list --not-executed --module=parser\n"
                "qprof list --format=json | jq '.rows[0]'",
    .schemas = (const qp_schema[]){{"list", document_fields}, {.name = NULL}},
    .run = run_list};
