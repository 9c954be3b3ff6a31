/* pc_samples.c: MAINPM's report of PC monitoring: procedures by their shallow, then by their deep
 * counts. model/figures says which procedure a PC sample is charged to. */
#include "cli/show/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"

void qp_pc_samples_init(qp_pc_samples *s, bool by_module)
{
    *s = (qp_pc_samples){.by_module = by_module};
    qp_buf_init(&s->rows, sizeof(qp_attribution_row));
    qp_buf_init(&s->lines, sizeof(qp_line_samples));
    qp_arena_init(&s->names);
}

void qp_pc_samples_fini(qp_pc_samples *s)
{
    qp_free(s->rows.items);
    qp_free(s->lines.items);
    qp_arena_fini(&s->names);
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* What all runs agree in. */
static void agree(const char **so_far, const char *text)
{
    if (!*so_far)
        *so_far = text;
    else if (strcmp(*so_far, text) != 0)
        *so_far = "several";
}

static bool add_summary(qp_pc_samples *s, const qp_model *m, const char *pattern,
                        uint32_t thread)
{
    const qp_run_info *run = &m->run;
    const char *kept = qp_arena_text(&s->names, pattern);
    const char *name =
        thread != QP_ALL_THREADS ? qp_arena_text(&s->names, m->threads[thread].name) : NULL;
    if (!kept || (thread != QP_ALL_THREADS && !name))
        return false;
    s->has_command = true;
    qp_attribution_command(s->command, run);
    s->interval_us = run->pc_period_ns / 1000;
    s->kind = run->is_pc_real ? "REAL" : "VIRTUAL";
    s->passes += run->n_passes;
    s->passes_ns += run->n_passes * run->sample_period_reached_ns;
    s->measured_us = s->passes ? s->passes_ns / s->passes / 1000 : 0;
    agree(&s->pattern, kept);
    s->thread = name;
    return true;
}

/* Rows of one name become one. @param fresh  [n] */
static bool add_rows(qp_pc_samples *s, const qp_attribution_row *fresh, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        qp_attribution_row *r = qp_buf_add(&s->rows);
        if (!r)
            return false;
        *r = fresh[i];
        r->module = qp_arena_text(&s->names, r->module);
        r->procedure = qp_arena_text(&s->names, r->procedure);
        if (!r->module || !r->procedure)
            return false;
    }
    return true;
}

/* Which methods are in the report. @return [n_methods], free with qp_free(); NULL: no memory */
static bool *methods_of(const qp_pc_samples *s, const qp_attributions *c)
{
    bool *are_listed = qp_alloc_zeroed(c->m->n_methods, sizeof *are_listed);
    for (uint32_t i = 1; are_listed && i < c->m->n_methods; i++)
        are_listed[i] = s->is_listed(s->scope, c->modules[i], &c->m->methods[i]);
    return are_listed;
}

static bool add_line(qp_pc_samples *s, const qp_model_method *method, const char *module,
                     const qp_block_figures *block)
{
    qp_line_samples *r = qp_buf_add(&s->lines);
    if (!r)
        return false;
    *r = (qp_line_samples){
        qp_arena_text(&s->names, module), qp_arena_text(&s->names, method->bare_name),
        qp_arena_text(&s->names, method->file), (uint64_t)block->line, block->samples};
    return r->module && r->procedure && r->file;
}

/* Add the blocks of the listed methods that have samples, a row each. */
static bool add_lines(qp_pc_samples *s, const qp_attributions *c, uint32_t thread)
{
    bool is_good = true;
    for (uint32_t i = 1; is_good && i < c->m->n_methods; i++) {
        qp_block_figures *blocks;
        size_t n;
        if (c->is_listed && !c->is_listed[i])
            continue;
        if (!qp_model_blocks(c->m, i, thread, &blocks, &n))
            return false;
        for (size_t k = 0; is_good && k < n; k++)
            if (blocks[k].samples && blocks[k].line > 0)
                is_good = add_line(s, &c->m->methods[i], c->modules[i], &blocks[k]);
        qp_free(blocks);
    }
    return is_good;
}

static bool add_run(qp_pc_samples *s, qp_attributions *c, const char *pattern, uint32_t thread)
{
    qp_attribution_row *rows = NULL;
    size_t n = 0;
    bool *are_listed = s->is_listed ? methods_of(s, c) : NULL;
    c->is_listed = are_listed;
    bool is_good = (are_listed || !s->is_listed) && add_summary(s, c->m, pattern, thread) &&
                   qp_attributions_list(c, thread, s->by_module, &rows, &n, &s->totals) &&
                   add_rows(s, rows, n) && (!s->by_line || add_lines(s, c, thread));
    qp_free(are_listed);
    qp_free(rows);
    return is_good;
}

/* @return false: a message was printed */
static bool agrees(const qp_cli *cli, const qp_pc_samples *s, const qp_run_info *run)
{
    char command[QP_ATTRIBUTION_COMMAND_BYTES];
    bool is_same =
        !s->has_command || strcmp(qp_attribution_command(command, run), s->command) == 0;
    if (!is_same)
        qp_cli_fail(
            cli,
            "%s: PC %s differs from PC %s of the profiles before; their PC samples do not "
            "add up (list them apart)",
            cli->path, command, s->command);
    return is_same;
}

int qp_pc_samples_add(const qp_cli *cli, qp_pc_samples *s, const qp_model *m)
{
    const char *pattern = cli->args.fold.when ? cli->args.fold.when : m->run.pc_pattern;
    uint32_t thread;
    qp_attributions c;
    qp_error error;
    if (!qp_cli_thread(cli, m, &thread))
        return QP_EXIT_UNUSABLE;
    if (!m->run.pc_period_ns)
        return QP_EXIT_CLEAN;
    if (!agrees(cli, s, &m->run))
        return QP_EXIT_UNUSABLE;
    int status = QP_EXIT_CLEAN;
    switch (qp_attributions_init(&c, m, pattern, true, &error)) {
    case QP_ATTRIBUTION_SYNTAX:
        status = qp_collapse_refuse_pattern(cli, pattern, &error);
        break;
    case QP_ATTRIBUTION_OK:
        qp_collapse_remark(cli, &c);
        if (add_run(s, &c, pattern, thread))
            break;
        /* fall through */
    case QP_ATTRIBUTION_NO_MEMORY:
        status = qp_cli_fail_memory(cli);
    }
    qp_attributions_fini(&c);
    return status;
}

/* ---- order ----------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    const qp_attribution_row *x = a, *y = b;
    int c = strcmp(x->module, y->module);
    return c ? c : strcmp(x->procedure, y->procedure);
}

static int compare_shallow(const void *a, const void *b)
{
    const qp_attribution_row *x = a, *y = b;
    return x->shallow != y->shallow ? (x->shallow < y->shallow ? 1 : -1) : compare_names(a, b);
}

static int compare_deep(const void *a, const void *b)
{
    const qp_attribution_row *x = a, *y = b;
    return x->deep != y->deep ? (x->deep < y->deep ? 1 : -1) : compare_names(a, b);
}

static int compare_places(const void *a, const void *b)
{
    const qp_line_samples *x = a, *y = b;
    int c = strcmp(x->module, y->module);
    c = c ? c : strcmp(x->procedure, y->procedure);
    c = c ? c : strcmp(x->file, y->file);
    return c ? c : (x->line > y->line) - (x->line < y->line);
}

static int compare_samples(const void *a, const void *b)
{
    const qp_line_samples *x = a, *y = b;
    return x->samples != y->samples ? (x->samples < y->samples ? 1 : -1) : compare_places(a, b);
}

/* Join what lies on one line of a procedure. */
static void finish_lines(qp_pc_samples *s)
{
    qp_line_samples *lines = s->lines.items;
    size_t n = 0;
    if (!s->lines.n)
        return;
    qsort(lines, s->lines.n, sizeof *lines, compare_places);
    for (size_t i = 0; i < s->lines.n; i++) {
        if (n && compare_places(&lines[n - 1], &lines[i]) == 0)
            lines[n - 1].samples += lines[i].samples;
        else
            lines[n++] = lines[i];
    }
    s->lines.n = n;
    qsort(lines, n, sizeof *lines, compare_samples);
}

void qp_pc_samples_finish(qp_pc_samples *s)
{
    finish_lines(s);
    qp_attribution_row *rows = s->rows.items;
    size_t n = 0;
    if (!s->rows.n)
        return;
    qsort(rows, s->rows.n, sizeof *rows, compare_names);
    for (size_t i = 0; i < s->rows.n; i++) {
        if (n && compare_names(&rows[n - 1], &rows[i]) == 0) {
            rows[n - 1].shallow += rows[i].shallow;
            rows[n - 1].deep += rows[i].deep;
        } else {
            rows[n++] = rows[i];
        }
    }
    s->rows.n = n;
    qsort(rows, n, sizeof *rows, compare_shallow);
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct {
    const char *module, *procedure;
    uint64_t shallow, deep;
    double shallow_percent, deep_percent;
} sample_row;

enum { HAS_PROCEDURE = 1 };

#define AT(member) QP_FIELD_AT(sample_row, member)
static const qp_field row_fields[] = {
    {"module", "Module", "as patterns name it: class, or file without folder and suffix",
     QP_FIELD_NAME, AT(module), .flags = QP_FIELD_HOT},
    {"procedure", "Procedure", "bare name; missing with --by=module", QP_FIELD_NAME,
     AT(procedure), .flags = QP_FIELD_HOT | QP_FIELD_OPTIONAL, .needs = HAS_PROCEDURE},
    {"shallow", "Shallow", "samples while it ran itself", QP_FIELD_COUNT, AT(shallow)},
    {"shallow_percent", "%", NULL, QP_FIELD_PERCENT, AT(shallow_percent),
     .flags = QP_FIELD_HOT | QP_FIELD_NO_JSON},
    {"deep", "Deep", "samples while it was active", QP_FIELD_COUNT, AT(deep),
     .flags = QP_FIELD_BLANK},
    {"deep_percent", "%", NULL, QP_FIELD_PERCENT, AT(deep_percent),
     .flags = QP_FIELD_NO_JSON | QP_FIELD_BLANK},
    {.key = NULL}};
#undef AT

static bool next_sample(const void *data, size_t *at, void *to)
{
    const qp_pc_samples *s = data;
    if (*at == s->rows.n)
        return false;
    const qp_attribution_row *r = (const qp_attribution_row *)s->rows.items + (*at)++;
    *(sample_row *)to = (sample_row){r->module,
                                     r->procedure,
                                     r->shallow,
                                     r->deep,
                                     qp_view_percent(r->shallow, s->totals.counted),
                                     qp_view_percent(r->deep, s->totals.counted)};
    return true;
}

static unsigned has_of(const void *data, const void *row)
{
    (void)row;
    return ((const qp_pc_samples *)data)->by_module ? 0 : HAS_PROCEDURE;
}

static const qp_rows sample_rows = QP_ROWS(row_fields, sample_row, next_sample, .has = has_of);

/* ---- lines ----------------------------------------------------------------------------------- */

typedef struct {
    qp_line_samples of;
    double percent;
    const char *place;
    char place_bytes[2048];
} line_row;

#define AT(member) QP_FIELD_AT(line_row, member)
static const qp_field line_fields[] = {
    {"module", "Module", "as patterns name it", QP_FIELD_NAME, AT(of.module),
     .flags = QP_FIELD_HOT},
    {"procedure", "Procedure", "bare name", QP_FIELD_NAME, AT(of.procedure),
     .flags = QP_FIELD_HOT},
    {"samples", "Samples", "samples while the line ran itself", QP_FIELD_COUNT, AT(of.samples)},
    {"percent", "%", NULL, QP_FIELD_PERCENT, AT(percent),
     .flags = QP_FIELD_HOT | QP_FIELD_NO_JSON},
    {"file", NULL, "source as registered", QP_FIELD_NAME, AT(of.file)},
    {"line", NULL, "line, from 1", QP_FIELD_COUNT, AT(of.line), .least = 1},
    {"place", "File:Line", NULL, QP_FIELD_PLACE, AT(place), .flags = QP_FIELD_NO_JSON,
     .rank = 1},
    {.key = NULL}};
#undef AT

static bool next_line(const void *data, size_t *at, void *to)
{
    const qp_pc_samples *s = data;
    line_row *row = to;
    if (*at == s->lines.n)
        return false;
    row->of = ((const qp_line_samples *)s->lines.items)[(*at)++];
    row->percent = qp_view_percent(row->of.samples, s->totals.occurred);
    snprintf(row->place_bytes, sizeof row->place_bytes, "%s:%" PRIu64, row->of.file,
             row->of.line);
    row->place = row->place_bytes;
    return true;
}

static const qp_rows line_rows = QP_ROWS(line_fields, line_row, next_line);

static bool print_lines(const qp_cli *cli, const qp_pc_samples *s)
{
    qp_listing l;
    line_row row;
    if (!s->lines.n) {
        qp_out_text(cli->screen.out, "No statement has samples: the program did not tell which "
                                     "one ran.\n\n");
        return true;
    }
    qp_screen_text(&cli->screen, QP_STYLE_HEAD, "By statement\n");
    qp_listing_begin(&l, &cli->screen, line_fields, "module procedure samples percent place",
                     QP_FIELDS_ALL, QP_UNIT_NONE);
    for (size_t at = 0; next_line(s, &at, &row);)
        qp_listing_row(&l, &row, qp_style_of_percent(row.percent));
    bool is_good = qp_listing_end(&l, 2);
    qp_out_char(cli->screen.out, '\n');
    return is_good;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Samples in no procedure; they have no deep count. */
static void add_foreign(qp_listing *l, const qp_pc_samples *s)
{
    uint64_t n = s->totals.foreign;
    qp_listing_row(l,
                   &(sample_row){"foreignPcs", "", n, QP_FIELD_NONE,
                                 qp_view_percent(n, s->totals.counted), -1},
                   QP_STYLE_PLAIN);
}

static bool print_table(const qp_cli *cli, const qp_pc_samples *s, bool is_deep, size_t most)
{
    bool is_foreign_due = s->totals.foreign != 0;
    qp_listing l;
    sample_row row;
    if (s->rows.n)
        qsort(s->rows.items, s->rows.n, sizeof(qp_attribution_row),
              is_deep ? compare_deep : compare_shallow);
    qp_screen_text(&cli->screen, QP_STYLE_HEAD,
                   is_deep ? "By deep count\n" : "By shallow count\n");
    qp_listing_begin(&l, &cli->screen, row_fields, NULL, has_of(s, NULL), QP_UNIT_NONE);
    for (size_t at = 0; at < most && next_sample(s, &at, &row);) {
        if (is_foreign_due && !is_deep && row.shallow < s->totals.foreign) {
            add_foreign(&l, s);
            is_foreign_due = false;
        }
        qp_listing_row(&l, &row, qp_style_of_percent(row.shallow_percent));
    }
    if (is_foreign_due)
        add_foreign(&l, s);
    bool is_good = qp_listing_end(&l, 2);
    qp_out_char(cli->screen.out, '\n');
    return is_good;
}

static void print_summary(const qp_screen *screen, const qp_pc_samples *s)
{
    char occurred[QP_NUMBER_BYTES], counted[QP_NUMBER_BYTES], skipped[QP_NUMBER_BYTES],
        critical[QP_NUMBER_BYTES], foreign[QP_NUMBER_BYTES], us[QP_NUMBER_BYTES];
    const qp_attribution_totals *t = &s->totals;
    qp_out *out = screen->out;
    qp_out_format(
        out,
        "PC samples: %s occurred, %s counted, %s skipped, %s in critical sections, %s "
        "foreign\n%s, every %s us",
        qp_unit_count(occurred, t->occurred), qp_unit_count(counted, t->counted),
        qp_unit_count(skipped, t->skipped), qp_unit_count(critical, t->critical),
        qp_unit_count(foreign, t->foreign), s->kind, qp_unit_count(us, s->interval_us));
    if (s->passes)
        qp_out_format(out, ", measured %s us", qp_unit_count(us, s->measured_us));
    if (s->thread) {
        qp_out_text(out, "\nThread ");
        qp_screen_name(screen, s->thread, 0);
        qp_out_text(out, ", without critical sections: they are only known of all threads");
    }
    if (*s->pattern) {
        qp_out_text(out, "\nWHEN ");
        qp_screen_name(screen, s->pattern, 0);
    }
    qp_out_char(out, '\n');
}

bool qp_pc_samples_print(const qp_cli *cli, const qp_pc_samples *s, size_t most)
{
    bool is_good = !s->totals.counted || print_table(cli, s, false, most ? most : SIZE_MAX);
    if (is_good && s->totals.counted && !most)
        is_good = print_table(cli, s, true, SIZE_MAX);
    if (is_good && s->by_line)
        is_good = print_lines(cli, s);
    if (is_good)
        print_summary(&cli->screen, s);
    return is_good;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

#define AT(member) QP_FIELD_AT(qp_pc_samples, member)
static const qp_field summary_fields[] = {
    {"occurred", NULL, "samples while recording was on", QP_FIELD_COUNT, AT(totals.occurred)},
    {"counted", NULL, "samples that are 100 % of the rows", QP_FIELD_COUNT, AT(totals.counted)},
    {"skipped", NULL, "samples that the pattern leaves out", QP_FIELD_COUNT,
     AT(totals.skipped)},
    {"critical", NULL, "samples in critical sections", QP_FIELD_COUNT, AT(totals.critical)},
    {"foreign", NULL, "samples in no procedure: foreignPcs", QP_FIELD_COUNT,
     AT(totals.foreign)},
    {"kind", NULL, "VIRTUAL, REAL, or several", QP_FIELD_WORD, AT(kind)},
    {"interval_us", NULL, "requested interval; 0: runs differ", QP_FIELD_COUNT,
     AT(interval_us)},
    {"measured_us", NULL, "average interval; 0: unknown", QP_FIELD_COUNT, AT(measured_us)},
    {"pattern", NULL, "call pattern of the stacks that count; null: all", QP_FIELD_NAME,
     AT(pattern), .flags = QP_FIELD_NULLABLE},
    {"thread", NULL, "thread of --thread; null: all", QP_FIELD_NAME, AT(thread),
     .flags = QP_FIELD_NULLABLE},
    {.key = NULL}};
#undef AT

const qp_field qp_pc_samples_part[] = {
    {"rows", NULL, "PC samples of procedures, most shallow ones first; missing without any",
     QP_FIELD_ROWS, .rows = &sample_rows, .flags = QP_FIELD_OPTIONAL},
    {"statements", NULL,
     "samples of lines with --by=statement, by whatever caller, most first; missing without "
     "any",
     QP_FIELD_ROWS, .rows = &line_rows, .flags = QP_FIELD_OPTIONAL,
     .needs = QP_PC_SAMPLES_HAVE_LINES},
    {"summary", NULL,
     "all PC samples: counted + skipped = occurred; shallow of all rows + foreign + critical = "
     "counted",
     QP_FIELD_OBJECT, .bytes = sizeof(qp_pc_samples), .sub = summary_fields,
     .flags = QP_FIELD_OPTIONAL},
    {.key = NULL}};
