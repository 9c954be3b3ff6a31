/* list_samples.c: MAINPM's report of PC monitoring: procedures by their shallow, then by their deep
 * counts. Whom an interrupt is charged to: model/charge.h. */
#include "cli/list_samples.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/table_text.h"
#include "base/unit.h"
#include "cli/fold.h"
#include "cli/view.h"

void qp_list_samples_init(qp_list_samples *s, const qp_list_scope *scope, bool by_module)
{
    *s = (qp_list_samples){.scope = scope, .by_module = by_module};
    qp_buf_init(&s->rows, sizeof(qp_charge_row));
    qp_arena_init(&s->names);
}

void qp_list_samples_fini(qp_list_samples *s)
{
    qp_free(s->rows.items);
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

static bool add_summary(qp_list_samples *s, const qp_model *m, const char *pattern,
                        uint32_t thread)
{
    const qp_run *run = &m->run;
    const char *kept = qp_arena_text(&s->names, pattern);
    const char *name =
        thread != QP_ALL_THREADS ? qp_arena_text(&s->names, m->threads[thread].name) : NULL;
    if (!kept || (thread != QP_ALL_THREADS && !name))
        return false;
    s->has_command = true;
    qp_charge_command(s->command, run);
    s->period_ns = run->pc_period_ns;
    s->kind = run->is_pc_real ? "REAL" : "VIRTUAL";
    s->passes += run->n_passes;
    s->passes_ns += run->n_passes * run->sample_period_reached_ns;
    agree(&s->pattern, kept);
    s->thread = name;
    return true;
}

/* Rows of one name become one. @param fresh  [n] */
static bool add_rows(qp_list_samples *s, const qp_charge_row *fresh, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        qp_charge_row *r = qp_buf_add(&s->rows);
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
static bool *methods_of(const qp_list_scope *scope, const qp_charges *c)
{
    bool *are_listed = qp_alloc_zeroed(c->m->n_methods, sizeof *are_listed);
    for (uint32_t i = 1; are_listed && i < c->m->n_methods; i++) {
        const qp_model_method *k = &c->m->methods[i];
        are_listed[i] = qp_list_scope_has(
            scope, c->modules[i],
            &(qp_match_method){k->module, k->file, k->class_name, k->bare_name, k->name});
    }
    return are_listed;
}

static bool add_run(qp_list_samples *s, qp_charges *c, const char *pattern, uint32_t thread)
{
    qp_charge_row *rows = NULL;
    size_t n = 0;
    bool *are_listed = s->scope ? methods_of(s->scope, c) : NULL;
    c->is_listed = are_listed;
    bool is_good = (are_listed || !s->scope) && add_summary(s, c->m, pattern, thread) &&
                   qp_charges_list(c, thread, s->by_module, &rows, &n, &s->totals) &&
                   add_rows(s, rows, n);
    qp_free(are_listed);
    qp_free(rows);
    return is_good;
}

/* @return false: a message was printed */
static bool agrees(const qp_cli *cli, const qp_list_samples *s, const qp_run *run)
{
    char command[QP_CHARGE_COMMAND_BYTES];
    bool is_same = !s->has_command || strcmp(qp_charge_command(command, run), s->command) == 0;
    if (!is_same)
        qp_cli_fail(
            cli,
            "%s: its interrupts are of PC %s, but those before of PC %s: their counts do "
            "not add up; list them apart",
            cli->path, command, s->command);
    return is_same;
}

int qp_list_samples_add(const qp_cli *cli, qp_list_samples *s, const qp_model *m)
{
    const char *pattern = cli->args.fold.when ? cli->args.fold.when : m->run.pc_pattern;
    uint32_t thread;
    qp_charges c;
    qp_parse_error error;
    if (!qp_cli_thread(cli, m, &thread))
        return QP_EXIT_UNUSABLE;
    if (!m->run.pc_period_ns)
        return QP_EXIT_CLEAN;
    if (!agrees(cli, s, &m->run))
        return QP_EXIT_UNUSABLE;
    int status = QP_EXIT_CLEAN;
    switch (qp_charges_init(&c, m, pattern, true, &error)) {
    case QP_CHARGE_SYNTAX:
        status = qp_fold_refuse_pattern(cli, pattern, &error);
        break;
    case QP_CHARGE_OK:
        qp_fold_remark(cli, &c);
        if (add_run(s, &c, pattern, thread))
            break;
        /* fall through */
    case QP_CHARGE_NO_MEMORY:
        status = qp_cli_fail_memory(cli);
    }
    qp_charges_fini(&c);
    return status;
}

/* ---- order ----------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    const qp_charge_row *x = a, *y = b;
    int c = strcmp(x->module, y->module);
    return c ? c : strcmp(x->procedure, y->procedure);
}

static int compare_shallow(const void *a, const void *b)
{
    const qp_charge_row *x = a, *y = b;
    return x->shallow != y->shallow ? (x->shallow < y->shallow ? 1 : -1) : compare_names(a, b);
}

static int compare_deep(const void *a, const void *b)
{
    const qp_charge_row *x = a, *y = b;
    return x->deep != y->deep ? (x->deep < y->deep ? 1 : -1) : compare_names(a, b);
}

/* Rows of one name, of several runs, become one. */
static void join(qp_list_samples *s)
{
    qp_charge_row *rows = s->rows.items;
    size_t n = 0;
    if (s->rows.n)
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
}

/* ---- text ------------------------------------------------------------------------------------ */

static void add_row(qp_table *t, const qp_list_samples *s, const qp_charge_row *r)
{
    char text[QP_NUMBER_BYTES];
    uint64_t whole = s->totals.counted;
    qp_style style = qp_style_of_percent(qp_view_percent(r->shallow, whole));
    qp_table_name(t, style, r->module);
    if (!s->by_module)
        qp_table_name(t, style, r->procedure);
    qp_table_plain(t, QP_STYLE_PLAIN, qp_unit_count(text, r->shallow));
    qp_table_plain(t, style, qp_unit_percent(text, r->shallow, whole));
    qp_table_plain(t, QP_STYLE_PLAIN, qp_unit_count(text, r->deep));
    qp_table_plain(t, QP_STYLE_PLAIN, qp_unit_percent(text, r->deep, whole));
}

/* It has no deep count. */
static void add_foreign(qp_table *t, const qp_list_samples *s)
{
    char text[QP_NUMBER_BYTES];
    qp_table_plain(t, QP_STYLE_PLAIN, "foreignPcs");
    if (!s->by_module)
        qp_table_plain(t, QP_STYLE_PLAIN, "");
    qp_table_plain(t, QP_STYLE_PLAIN, qp_unit_count(text, s->totals.foreign));
    qp_table_plain(t, QP_STYLE_PLAIN,
                   qp_unit_percent(text, s->totals.foreign, s->totals.counted));
    qp_table_plain(t, QP_STYLE_PLAIN, "");
    qp_table_plain(t, QP_STYLE_PLAIN, "");
}

static bool print_table(const qp_cli *cli, qp_list_samples *s, bool is_deep, size_t most)
{
    const qp_charge_row *rows = s->rows.items;
    bool is_foreign_due = s->totals.foreign != 0;
    qp_table t;
    if (s->rows.n)
        qsort(s->rows.items, s->rows.n, sizeof *rows, is_deep ? compare_deep : compare_shallow);
    qp_screen_text(&cli->screen, QP_STYLE_HEAD,
                   is_deep ? "By deep count\n" : "By shallow count\n");
    qp_table_init(&t);
    qp_table_column(&t, "Module", QP_KEEP_BEGIN, 0);
    if (!s->by_module)
        qp_table_column(&t, "Procedure", QP_KEEP_BEGIN, 0);
    qp_table_column(&t, "Shallow", QP_ALIGN_RIGHT, 0);
    qp_table_column(&t, "%", QP_ALIGN_RIGHT, 0);
    qp_table_column(&t, "Deep", QP_ALIGN_RIGHT, 0);
    qp_table_column(&t, "%", QP_ALIGN_RIGHT, 0);
    for (size_t i = 0; i < s->rows.n && i < most; i++) {
        if (is_foreign_due && !is_deep && rows[i].shallow < s->totals.foreign) {
            add_foreign(&t, s);
            is_foreign_due = false;
        }
        add_row(&t, s, &rows[i]);
    }
    if (is_foreign_due)
        add_foreign(&t, s);
    bool is_good = qp_table_print(&t, &cli->screen, 2);
    qp_table_fini(&t);
    qp_out_char(cli->screen.out, '\n');
    return is_good;
}

static uint64_t measured_us(const qp_list_samples *s)
{
    return s->passes ? s->passes_ns / s->passes / 1000 : 0;
}

static void print_summary(const qp_screen *screen, const qp_list_samples *s)
{
    char occurred[QP_NUMBER_BYTES], counted[QP_NUMBER_BYTES], skipped[QP_NUMBER_BYTES],
        critical[QP_NUMBER_BYTES], foreign[QP_NUMBER_BYTES], us[QP_NUMBER_BYTES];
    const qp_charge_totals *t = &s->totals;
    qp_out *out = screen->out;
    qp_out_format(
        out,
        "Interrupts: %s occurred, %s counted, %s skipped, %s in critical sections, %s "
        "foreign\n%s, every %s us",
        qp_unit_count(occurred, t->occurred), qp_unit_count(counted, t->counted),
        qp_unit_count(skipped, t->skipped), qp_unit_count(critical, t->critical),
        qp_unit_count(foreign, t->foreign), s->kind, qp_unit_count(us, s->period_ns / 1000));
    if (s->passes)
        qp_out_format(out, ", measured %s us", qp_unit_count(us, measured_us(s)));
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

bool qp_list_samples_print(const qp_cli *cli, qp_list_samples *s, size_t most)
{
    join(s);
    bool is_good = !s->totals.counted || print_table(cli, s, false, most ? most : SIZE_MAX);
    if (is_good && s->totals.counted && !most)
        is_good = print_table(cli, s, true, SIZE_MAX);
    if (is_good)
        print_summary(&cli->screen, s);
    return is_good;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_summary(qp_json *json, const qp_list_samples *s)
{
    const qp_charge_totals *t = &s->totals;
    qp_json_begin(json, "summary", '{');
    qp_json_count(json, "occurred", t->occurred);
    qp_json_count(json, "counted", t->counted);
    qp_json_count(json, "skipped", t->skipped);
    qp_json_count(json, "critical", t->critical);
    qp_json_count(json, "foreign", t->foreign);
    qp_json_text(json, "kind", s->kind);
    qp_json_count(json, "interval_us", s->period_ns / 1000);
    qp_json_count(json, "measured_us", measured_us(s));
    qp_json_text(json, "pattern", *s->pattern ? s->pattern : NULL);
    qp_json_text(json, "thread", s->thread);
    qp_json_end(json, '}');
}

void qp_list_samples_write(qp_json *json, qp_list_samples *s)
{
    join(s);
    const qp_charge_row *rows = s->rows.items;
    if (s->rows.n)
        qsort(s->rows.items, s->rows.n, sizeof *rows, compare_shallow);
    qp_json_begin(json, "rows", '[');
    for (size_t i = 0; i < s->rows.n; i++) {
        qp_json_begin(json, NULL, '{');
        qp_json_text(json, "module", rows[i].module);
        if (!s->by_module)
            qp_json_text(json, "procedure", rows[i].procedure);
        qp_json_count(json, "shallow", rows[i].shallow);
        qp_json_count(json, "deep", rows[i].deep);
        qp_json_end(json, '}');
    }
    qp_json_end(json, ']');
    write_summary(json, s);
}
