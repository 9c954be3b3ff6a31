/* list.c: `qprof list`: the report of MAINPM: PC samples, which cli/show prints, calls, statements, and
 * what was not executed. Read the table `sections` first. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/glob.h"
#include "cli/config/config.h"
#include "cli/cover/cover.h"
#include "cli/show/show.h"
#include "config/config.h"
#include "model/cover/cover.h"
#include "model/figures/figures.h"

#define BY_WORDS "procedure|module|statement"
enum { BY_PROCEDURE, BY_MODULE, BY_STATEMENT };

/* ---- the scope ------------------------------------------------------------------------------- */

/* Which procedures are listed: --module, --area, --no-module, --no-area. If any module or area is wanted,
 * only what one of them holds is listed; what is not wanted is always left out. An area is a set of
 * procedures here, whether its run was to include or to exclude them; elements that are not checked do
 * not belong to it. */
typedef struct {
    const qp_args *args;
    qp_config_file file; /* of --config */
    qp_buf parts;        /* elements of the areas that were named */
} list_scope;

typedef struct {
    qp_match match;
    qp_element_kind kind;
    bool is_unwanted;
} part;

static bool add_area(list_scope *s, const qp_config_object *area, bool is_unwanted)
{
    const qp_config_element *elements = s->file.elements.items;
    for (uint32_t i = 0; i < area->n_names; i++) {
        const qp_config_element *e = &elements[area->first_name + i];
        part *p = e->is_checked ? qp_buf_add(&s->parts) : NULL;
        if (!p)
            continue;
        *p = (part){.kind = e->kind, .is_unwanted = is_unwanted};
        if (!qp_match_begin(&p->match, e->name_kind, e->name)) {
            s->parts.n--;
            return false;
        }
    }
    return !s->parts.failed;
}

static int add_areas(list_scope *s, const qp_cli *cli, const qp_list *titles, bool is_unwanted)
{
    char why[1024];
    for (size_t i = 0; i < titles->n; i++) {
        const qp_config_object *area =
            qp_config_file_area(&s->file, titles->items[i], why, sizeof why);
        if (!area)
            return qp_cli_fail(cli, "--%sarea: %s", is_unwanted ? "no-" : "", why);
        if (!add_area(s, area, is_unwanted))
            return qp_cli_fail_memory(cli);
    }
    return QP_EXIT_CLEAN;
}

/* Read the flags. Call fini_scope() in any case.
 * @return QP_EXIT_CLEAN; else a message was printed */
static int init_scope(list_scope *s, const qp_cli *cli)
{
    const qp_cover_args *a = &cli->args.cover;
    *s = (list_scope){.args = &cli->args};
    qp_buf_init(&s->parts, sizeof(part));
    if (!a->areas.n && !a->no_areas.n)
        return QP_EXIT_CLEAN;
    if (!cli->args.config)
        return qp_cli_fail(cli, "--area and --no-area name areas of a configuration file "
                                "(missing --config=FILE)");
    if (qp_config_file_read_areas(cli, cli->args.config, &s->file) != QP_EXIT_CLEAN)
        return QP_EXIT_UNUSABLE;
    int status = add_areas(s, cli, &a->areas, false);
    return status == QP_EXIT_CLEAN ? add_areas(s, cli, &a->no_areas, true) : status;
}

static void fini_scope(list_scope *s)
{
    part *parts = s->parts.items;
    for (size_t i = 0; i < s->parts.n; i++)
        qp_match_end(&parts[i].match);
    qp_free(parts);
    qp_config_file_fini(&s->file);
}

static bool is_named(const qp_list *globs, const char *module)
{
    for (size_t i = 0; i < globs->n; i++)
        if (qp_glob_fits_name(globs->items[i], module))
            return true;
    return false;
}

/* Is it in the report? @param module  as call patterns name it: qp_attribution_module_text() */
static bool is_in_scope(const list_scope *s, const char *module, const qp_match_method *method)
{
    const qp_cover_args *a = &s->args->cover;
    const part *parts = s->parts.items;
    if (is_named(&a->exclude, module))
        return false;
    bool is_wanted = (!a->include.n && !a->areas.n) || is_named(&a->include, module);
    for (size_t i = 0; i < s->parts.n; i++) {
        if ((is_wanted && !parts[i].is_unwanted) ||
            !qp_match_fits_method(&parts[i].match, parts[i].kind, method))
            continue;
        if (parts[i].is_unwanted)
            return false;
        is_wanted = true;
    }
    return is_wanted;
}

static bool is_listed(const void *s, const char *module, const qp_model_method *method)
{
    const qp_match_method match = {method->module, method->file, method->class_name,
                                   method->bare_name, method->name};
    return is_in_scope(s, module, &match);
}

/* ---- collecting ------------------------------------------------------------------------------ */

/* A module, a procedure or a statement. Only of statements is `executions` known. */
typedef struct {
    const char *module, *procedure, *file;
    uint32_t line;
    uint64_t calls, procedures, procedures_called;
    uint64_t statements, executed, executions;
} list_item;

/* One for each; modules and procedures as call patterns name them: model/figures/figures.h. Texts live as
 * long as the arena and what they were made of. */
typedef struct {
    list_item *items; /* [n], free with qp_free() */
    size_t n;
} rows;

/* A host that counts blocks may report no calls. */
static bool is_executed(const qp_cover_method *k)
{
    bool is = k->is_seen;
    for (uint32_t i = 0; !is && k->values && i < k->n_values; i++)
        is = k->values[i] > 0;
    return is;
}

/* @return false: no memory */
static bool list_procedures(const list_scope *scope, const qp_cover_set *set, qp_arena *arena,
                            rows *to)
{
    qp_buf buf;
    qp_paths paths;
    qp_buf_init(&buf, sizeof(list_item));
    if (!qp_paths_init(&paths, arena, NULL))
        return false;
    for (size_t i = 0; i < set->n_methods && !buf.failed; i++) {
        const qp_cover_method *k = &set->methods[i];
        const char *module = qp_attribution_module_text(arena, k->class_name, k->file);
        buf.failed |= !module;
        const qp_match_method method = {k->module, k->file, k->class_name, k->bare_name,
                                        k->name};
        bool is_due = module && is_in_scope(scope, module, &method);
        list_item *r = is_due ? qp_buf_add(&buf) : NULL;
        if (!r)
            continue;
        bool is_inside;
        *r = (list_item){.module = module,
                         .procedure = *k->bare_name ? k->bare_name : k->name,
                         .file = qp_paths_show(&paths, arena, k->file, &is_inside),
                         .calls = k->calls,
                         .procedures = 1,
                         .procedures_called = k->calls > 0,
                         .executed = is_executed(k)};
        buf.failed |= r->file == NULL;
        for (uint32_t b = 0; b < k->n_blocks; b++)
            if (k->lines[b].line > 0 && (!r->line || (uint32_t)k->lines[b].line < r->line))
                r->line = (uint32_t)k->lines[b].line;
    }
    to->items = qp_buf_take(&buf, &to->n);
    return to->items != NULL;
}

/* A statement is what a procedure has on a line; blocks are sorted by line, then procedure. */
static void collect_from(const list_scope *scope, const qp_cover_file *f, qp_arena *arena,
                         qp_buf *buf)
{
    for (uint32_t i = 0; i < f->n_blocks;) {
        const qp_cover_block *b = &f->blocks[i];
        const qp_cover_function *x = &f->functions[b->function];
        uint64_t count = 0;
        uint32_t end = i;
        for (; end < f->n_blocks && f->blocks[end].line == b->line &&
               f->blocks[end].function == b->function;
             end++)
            count = f->blocks[end].count > count ? f->blocks[end].count : count;
        i = end;
        const char *module = qp_attribution_module_text(arena, x->class_name, f->path);
        buf->failed |= !module;
        const qp_match_method method = {x->module, f->file, x->class_name, x->bare_name,
                                        x->name};
        bool is_due = module && is_in_scope(scope, module, &method);
        list_item *r = is_due ? qp_buf_add(buf) : NULL;
        if (r)
            *r = (list_item){.module = module,
                             .procedure = *x->bare_name ? x->bare_name : x->name,
                             .file = f->path,
                             .line = b->line,
                             .statements = 1,
                             .executed = count > 0,
                             .executions = count};
    }
}

/* @return false: no memory */
static bool list_statements(const list_scope *scope, const qp_cover *c, qp_arena *arena,
                            rows *to)
{
    qp_buf buf;
    qp_buf_init(&buf, sizeof(list_item));
    for (size_t i = 0; i < c->n_files; i++)
        collect_from(scope, &c->files[i], arena, &buf);
    to->items = qp_buf_take(&buf, &to->n);
    return to->items != NULL;
}

/* ---- breaking down --------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
    const list_item *x = a, *y = b;
    int c = strcmp(x->module, y->module);
    c = c ? c : strcmp(x->file, y->file);
    c = c ? c : strcmp(x->procedure, y->procedure);
    return c ? c : (x->line > y->line) - (x->line < y->line);
}

static int compare_counts(const void *a, const void *b)
{
    const list_item *x = a, *y = b;
    if (x->calls != y->calls)
        return x->calls < y->calls ? 1 : -1;
    if (x->executions != y->executions)
        return x->executions < y->executions ? 1 : -1;
    return compare_places(a, b);
}

static bool is_one(const list_item *a, const list_item *b, unsigned by)
{
    return strcmp(a->module, b->module) == 0 &&
           (by == BY_MODULE ||
            (strcmp(a->file, b->file) == 0 && strcmp(a->procedure, b->procedure) == 0));
}

/* Add up what belongs together at this level; most first. */
static void break_down(rows *r, unsigned by)
{
    size_t n = 0;
    qsort(r->items, r->n, sizeof(list_item), compare_places);
    for (size_t i = 0; i < r->n; i++) {
        list_item *to = n ? &r->items[n - 1] : NULL, *from = &r->items[i];
        if (!to || by == BY_STATEMENT || !is_one(to, from, by)) {
            r->items[n++] = *from;
            continue;
        }
        to->calls += from->calls;
        to->procedures += from->procedures;
        to->procedures_called += from->procedures_called;
        to->statements += from->statements;
        to->executed += from->executed;
        to->executions += from->executions;
    }
    r->n = n;
    qsort(r->items, r->n, sizeof(list_item), compare_counts);
}

/* ---- sections -------------------------------------------------------------------------------- */

/* A section of the report: its rows, added up as --by says. */
typedef struct {
    const struct section *kind;
    rows rows;
    unsigned by;
    bool is_known; /* the profile has some */
} listed;

typedef struct {
    list_item row;
    const char *place;
    char place_bytes[2048];
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

/* Statements of a procedure or module lie on several lines. */
static bool has_line(const listed *l);

static bool next_listed(const void *data, size_t *at, void *to)
{
    const listed *l = data;
    list_row *shown = to;
    if (*at == l->rows.n)
        return false;
    const list_item *r = &l->rows.items[(*at)++];
    shown->row = *r;
    shown->place = shown->place_bytes;
    if (r->line && has_line(l))
        snprintf(shown->place_bytes, sizeof shown->place_bytes, "%s:%" PRIu32, r->file,
                 r->line);
    else
        snprintf(shown->place_bytes, sizeof shown->place_bytes, "%s", r->file);
    return true;
}

static unsigned has_of(const void *data, const void *row)
{
    (void)row;
    return ((const listed *)data)->by == BY_MODULE ? 0 : HAS_PROCEDURES;
}

static const qp_rows calls_rows = QP_ROWS(calls_fields, list_row, next_listed, .has = has_of);
static const qp_rows counts_rows = QP_ROWS(counts_fields, list_row, next_listed, .has = has_of);
static const qp_rows missed_rows = QP_ROWS(missed_fields, list_row, next_listed, .has = has_of);

#define MISSED_COLUMNS "module procedure place"
static const struct section {
    const char *title, *none;
    const qp_rows *rows;
    bool of_statements, is_missed;
    const char *columns[3]; /* by procedure, module and statement, from left to right */
} sections[] = {
    {"Calls",
     "Nothing was called.",
     &calls_rows,
     false,
     false,
     {"module procedure calls place", "module procedures procedures_called calls",
      "module procedure calls place"}},
    {"Statements",
     "The profile has no statements.",
     &counts_rows,
     true,
     false,
     {"module procedure statements executed executions place",
      "module statements executed executions", "module procedure executions place"}},
    {"Procedures not executed",
     "Every procedure was executed.",
     &missed_rows,
     false,
     true,
     {[BY_STATEMENT] = MISSED_COLUMNS}},
    {"Statements not executed",
     "Every statement was executed.",
     &missed_rows,
     true,
     true,
     {[BY_STATEMENT] = MISSED_COLUMNS}}};
enum { CALLS, COUNTS, N_SECTIONS = sizeof sections / sizeof *sections };

static bool has_line(const listed *l)
{
    return l->kind != &sections[COUNTS] || l->by == BY_STATEMENT;
}

/* @param all  procedures or statements, which stay as they are @return false: no memory */
static bool make_section(listed *l, const rows *all, unsigned by)
{
    l->by = l->kind->is_missed ? BY_STATEMENT : by;
    l->is_known = all->n > 0 || !l->kind->of_statements;
    l->rows.items = qp_alloc(all->n, sizeof(list_item));
    if (!l->rows.items)
        return false;
    for (size_t i = 0; i < all->n; i++)
        if (!l->kind->is_missed || all->items[i].executed == 0)
            l->rows.items[l->rows.n++] = all->items[i];
    break_down(&l->rows, l->by);
    if (l->kind == &sections[CALLS] && l->by != BY_MODULE) /* most calls are first */
        while (l->rows.n && !l->rows.items[l->rows.n - 1].calls)
            l->rows.n--;
    return true;
}

static bool print_section(const qp_cli *cli, const listed *s)
{
    const qp_screen *screen = &cli->screen;
    qp_listing l;
    qp_screen_text(screen, QP_STYLE_HEAD, s->kind->title);
    qp_out_char(screen->out, '\n');
    if (s->rows.n == 0) {
        qp_out_format(screen->out, "  %s\n\n",
                      (s->is_known ? s->kind : &sections[COUNTS])->none);
        return true;
    }
    qp_listing_begin(&l, screen, s->kind->rows->fields, s->kind->columns[s->by], QP_FIELDS_ALL,
                     QP_UNIT_NONE);
    if (!has_line(s))
        qp_listing_title(&l, "place", "File");
    qp_listing_rows(&l, s->kind->rows, s);
    bool is_good = qp_listing_end(&l, 2);
    qp_out_char(screen->out, '\n');
    return is_good;
}

/* ---- the report ------------------------------------------------------------------------------ */

/* All that is listed. */
typedef struct {
    listed sections[N_SECTIONS];
    qp_pc_samples samples;
    unsigned has; /* HAS_SAMPLES, and 1 << section */
    qp_cover_set *set;
    qp_cover *cover;
    qp_arena arena; /* of texts */
} report;

enum { HAS_SAMPLES = 1 << N_SECTIONS };

#define SECTION(i)                                                                             \
    .needs = 1 << (i), QP_FIELD_AT(report, sections[i]), .flags = QP_FIELD_OPTIONAL
static const qp_field document_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, QP_FIELD_AT(report, samples), .sub = qp_pc_samples_part,
     .needs = HAS_SAMPLES},
    {"calls", NULL, "calls, most first", QP_FIELD_ROWS, .rows = &calls_rows, SECTION(0)},
    {"counts", NULL, "executions of statements, most first", QP_FIELD_ROWS,
     .rows = &counts_rows, SECTION(1)},
    {"procedures_not_executed", NULL, "by module and file", QP_FIELD_ROWS, .rows = &missed_rows,
     SECTION(2)},
    {"statements_not_executed", NULL, "by module, file and procedure", QP_FIELD_ROWS,
     .rows = &missed_rows, SECTION(3)},
    {.key = NULL}};
#undef SECTION

static bool wants_counts(const qp_args *args)
{
    const qp_cover_args *a = &args->cover;
    return a->has_calls || a->has_counts || a->has_not_executed;
}

/* Without a choice PC samples are listed where there are some, else the rest. */
static bool wants_samples(const qp_args *args)
{
    return args->has_samples || !wants_counts(args);
}

/* @return NULL, or the flag that chooses PC samples */
static const char *flag_of_samples(const qp_args *args)
{
    return args->fold.when ? "--when" : args->thread ? "--thread" : NULL;
}

/* Make the sections that are wanted. @return QP_EXIT_CLEAN; else a message was printed */
static int make_sections(const qp_cli *cli, const list_scope *scope, report *r)
{
    const qp_cover_args *a = &cli->args.cover;
    qp_error error;
    rows procedures = {0}, statements = {0};
    if (!r->set->is_coverage)
        qp_cli_warn(
            cli,
            "recorded without -collect=coverage: functions that were never called are missing");
    r->cover = qp_cover_derive(r->set, &(qp_cover_options){.is_unadjusted = true}, &error);
    if (!r->cover)
        return qp_cli_fail(cli, "%s", error.text);
    bool is_good = list_procedures(scope, r->set, &r->arena, &procedures) &&
                   list_statements(scope, r->cover, &r->arena, &statements);
    for (unsigned i = 0; i < N_SECTIONS && is_good; i++) {
        const struct section *kind = &sections[i];
        bool is_wanted = kind->is_missed       ? a->has_not_executed
                         : kind->of_statements ? a->has_counts
                                               : a->has_calls;
        r->sections[i].kind = kind;
        if (!is_wanted && wants_counts(&cli->args))
            continue;
        r->has |= 1u << i;
        is_good = make_section(&r->sections[i], kind->of_statements ? &statements : &procedures,
                               a->by);
    }
    qp_free(procedures.items);
    qp_free(statements.items);
    return is_good ? QP_EXIT_CLEAN : qp_cli_fail_memory(cli);
}

#define HOW_TO_SAMPLE "qprof run --pc='VIRTUAL 1000' -- PROGRAM"

static bool print_text(const qp_cli *cli, const void *data)
{
    const report *r = data;
    bool is_good = !(r->has & HAS_SAMPLES) || qp_pc_samples_print(cli, &r->samples, 0);
    for (unsigned i = 0; i < N_SECTIONS && is_good; i++)
        if (r->has & 1u << i)
            is_good = print_section(cli, &r->sections[i]);
    if (!r->samples.has_command && !wants_counts(&cli->args))
        qp_out_text(cli->screen.out,
                    "No PC samples: there was no PC command; record some with:\n"
                    "  " HOW_TO_SAMPLE "\n");
    return is_good;
}

static int list_all(qp_cli *cli, const list_scope *scope, report *r)
{
    bool is_sampled = r->samples.has_command;
    int status = QP_EXIT_CLEAN;
    if (!is_sampled && (cli->args.has_samples || flag_of_samples(&cli->args)))
        return qp_cli_fail(cli,
                           "%s: no PC samples: it was recorded without a PC command (record "
                           "some with: " HOW_TO_SAMPLE ")",
                           cli->path);
    if (is_sampled && wants_samples(&cli->args))
        r->has = HAS_SAMPLES;
    if (r->has && r->samples.by_line)
        r->has |= QP_PC_SAMPLES_HAVE_LINES;
    qp_pc_samples_finish(&r->samples);
    if (wants_counts(&cli->args) || !is_sampled)
        status = make_sections(cli, scope, r);
    if (status == QP_EXIT_CLEAN && cli->args.format == QP_FORMAT_JSON) {
        qp_json json;
        qp_json_init(&json, &cli->out);
        qp_row_json(&json, NULL, document_fields, r->has, r);
    } else if (status == QP_EXIT_CLEAN && !print_text(cli, r)) {
        status = qp_cli_fail_memory(cli);
    }
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* A profile that has nothing of what is wanted. */
static int fail_uncounted(const qp_cli *cli, const qp_run_info *run)
{
    if (run->is_stack_only && run->pc_period_ns)
        return qp_cli_fail(cli, "%s: it has only PC samples, no calls and statements",
                           cli->path);
    if (run->is_stack_only)
        return qp_cli_fail(
            cli, "%s: only the stack is published: qprof run --pid=%" PRIu64 " samples it",
            cli->path, run->pid);
    return qp_cli_fail(cli, "%s: the profile has no call counts (qprof report shows its times)",
                       cli->path);
}

/* Once for all sections. */
static int read_file(qp_cli *cli, const char *file, report *r)
{
    qp_model *m;
    int status = qp_cli_load(cli, file, &m);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    int added = QP_EXIT_CLEAN;
    if (!m->run.has_calls && (wants_counts(&cli->args) || !m->run.pc_period_ns))
        added = fail_uncounted(cli, &m->run);
    else if (wants_samples(&cli->args))
        added = qp_pc_samples_add(cli, &r->samples, m);
    if (added != QP_EXIT_UNUSABLE)
        added = qp_cover_add(cli, m, r->set);
    qp_model_free(m);
    return added == QP_EXIT_UNUSABLE ? added : status;
}

static int list_files(qp_cli *cli, const list_scope *scope)
{
    report r = {.set = qp_cover_set_new()};
    int n = cli->args.n_operands, status = r.set ? QP_EXIT_CLEAN : qp_cli_fail_memory(cli);
    qp_arena_init(&r.arena);
    qp_pc_samples_init(&r.samples, cli->args.cover.by == BY_MODULE);
    r.samples.by_line = cli->args.cover.by == BY_STATEMENT;
    r.samples.is_listed = is_listed;
    r.samples.scope = scope;
    for (int i = 0; (i < n || i == 0) && status != QP_EXIT_UNUSABLE; i++) {
        int one = read_file(cli, n ? cli->args.operands[i] : NULL, &r);
        status = one > status ? one : status;
    }
    if (status != QP_EXIT_UNUSABLE && list_all(cli, scope, &r) == QP_EXIT_UNUSABLE)
        status = QP_EXIT_UNUSABLE;
    for (unsigned i = 0; i < N_SECTIONS; i++)
        qp_free(r.sections[i].rows.items);
    qp_pc_samples_fini(&r.samples);
    qp_cover_free(r.cover);
    qp_arena_fini(&r.arena);
    qp_cover_set_free(r.set);
    return status;
}

static int run_list(qp_cli *cli)
{
    list_scope scope;
    if (flag_of_samples(&cli->args) && !wants_samples(&cli->args))
        return qp_cli_fail(cli, "%s chooses PC samples, which are not listed (add --samples)",
                           flag_of_samples(&cli->args));
    int status = init_scope(&scope, cli);
    if (status == QP_EXIT_CLEAN)
        status = list_files(cli, &scope);
    fini_scope(&scope);
    return status;
}

static const qp_flag flags[] = {
    QP_YES("samples", 0, has_samples,
           "PC samples: shallow, while a procedure ran itself; deep, while it was active"),
    QP_YES("calls", 0, cover.has_calls, "calls of procedures"),
    QP_YES("counts", 0, cover.has_counts,
           "executions of statements: of the lines that a procedure has"),
    QP_YES("not-executed", 0, cover.has_not_executed,
           "procedures and statements that were not executed"),
    QP_WORD("by", 0, BY_WORDS, cover.by, "procedure", "level to which figures are broken down"),
    {"module", 0, QP_FLAG_LIST, "GLOB[:GLOB]", QP_COVER_AT(include), NULL,
     "modules that are listed; may be repeated"},
    {"no-module", 0, QP_FLAG_LIST, "GLOB[:GLOB]", QP_COVER_AT(exclude), NULL,
     "modules that are left out; may be repeated"},
    QP_TEXT("config", 0, "FILE", config,
            "configuration file with the areas of --area and --no-area"),
    {"area", 0, QP_FLAG_NAMES, "TITLE", QP_COVER_AT(areas), NULL,
     "area whose procedures are listed, with the modules of --module; may be repeated"},
    {"no-area", 0, QP_FLAG_NAMES, "TITLE", QP_COVER_AT(no_areas), NULL,
     "area whose procedures are left out; may be repeated"},
    QP_TEXT("when", 0, "PATTERN", fold.when,
            "call pattern of the stacks whose PC samples count (default: the run's own)"),
    QP_TEXT("thread", 0, "N|NAME", thread, "thread whose PC samples count, by number or name"),
    QP_COVER_FLAG_FORCE_MERGE,
    QP_FLAG_MAX_MEMORY,
    QP_COVER_FLAG_FORMAT,
    QP_FLAGS_COMMON};

const qp_command qp_command_list = {
    .name = "list",
    .operands = "[FILE...]",
    .summary = "PC samples, calls, statement counts, and what was not executed",
    .about = "Lists the PC samples of each procedure; calls of procedures, executions of "
             "statements, and procedures and statements that were not executed. Without a "
             "choice: PC samples where the run had a PC command, else the rest. Several FILEs "
             "add up. A pattern of --when gives what it would have given while recording, and "
             "replaces the run's own; '*' is every stack. Annotations in sources and "
             "adjustments are ignored: qprof cover report applies them.",
    .flags = flags,
    .examples = "qprof list run.qprof\n"
                "qprof list --when='parse->*' --by=module run.qprof\n"
                "qprof list --by=statement run.qprof\n"
                "qprof list --calls run.qprof\n"
                "qprof list --counts --by=module\n"
                "qprof list --not-executed --module=parser\n"
                "qprof list --format=json | jq '.rows[0]'",
    .schemas = (const qp_schema[]){{"list", document_fields}, {.name = NULL}},
    .run = run_list};
