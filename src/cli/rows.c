/* rows.c: choose, sort and print the rows of a function table. */
#include "cli/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* ---- choosing ------------------------------------------------------------------------------ */

typedef struct {
    const qp_view *v;
    qp_sort sort;
} order;

static uint64_t sort_key(const qp_figures *f, qp_sort sort)
{
    switch (sort) {
    case QP_SORT_TOTAL:
        return f->total;
    case QP_SORT_CALLS:
        return f->calls;
    case QP_SORT_AVERAGE:
        return qp_figures_average(f);
    case QP_SORT_MAX:
        return f->min > f->max ? 0 : f->max;
    case QP_SORT_NAME:
        return 0;
    default:
        return f->self;
    }
}

/* Most first; equal ones by calls, then by name, so that two runs list alike. */
static int compare_rows(const void *a, const void *b, void *data)
{
    const order *o = data;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const qp_figures *f = o->v->flat;
    uint64_t key_x = sort_key(&f[x], o->sort), key_y = sort_key(&f[y], o->sort);
    if (key_x != key_y)
        return key_x < key_y ? 1 : -1;
    if (o->sort != QP_SORT_NAME && f[x].calls != f[y].calls)
        return f[x].calls < f[y].calls ? 1 : -1;
    int c = strcmp(o->v->m->methods[x].name, o->v->m->methods[y].name);
    return c ? c : (x > y) - (x < y);
}

/* Rows without hits are hidden, unless time was charged to them or their skips are asked for. */
static bool is_shown(const qp_args *args, const qp_view *v, uint32_t method)
{
    const qp_figures *f = &v->flat[method];
    const qp_model_method *x = &v->m->methods[method];
    /* and its calls do not count, or nobody counted any */
    bool is_on_path = f->total && (f->skips == 0 || *v->m->run.when);
    if (f->hits == 0 && f->self == 0 && !is_on_path && !(args->has_skips && f->skips))
        return false;
    return !args->filter || strstr(x->name, args->filter) || strstr(x->file, args->filter);
}

/* The columns of percentages are to total 100. */
static void add_up(qp_view *v, const uint32_t *rows, size_t n)
{
    v->whole_self = v->whole_total = 0;
    for (size_t i = 0; i < n; i++) {
        v->whole_self += v->flat[rows[i]].self;
        v->whole_total += v->flat[rows[i]].total;
    }
}

bool qp_rows_select(const qp_args *args, qp_view *v, uint32_t **rows, size_t *n)
{
    order o = {v, (qp_sort)args->sort};
    *n = 0;
    *rows = qp_alloc(v->m->n_methods, sizeof **rows);
    if (!*rows)
        return false;
    if (!v->m->run.has_times && o.sort == QP_SORT_SELF)
        o.sort = QP_SORT_CALLS;
    for (uint32_t i = 1; i < v->m->n_methods; i++)
        if (is_shown(args, v, i))
            (*rows)[(*n)++] = i;
    qsort_r(*rows, *n, sizeof **rows, compare_rows, &o);
    if (args->percent == QP_PERCENT_OF_ROWS)
        add_up(v, *rows, *n);
    return true;
}

/* ---- printing ------------------------------------------------------------------------------ */

typedef enum {
    CALLS,
    SKIPS,
    SELF,
    SELF_HALF,
    SELF_PERCENT,
    TOTAL,
    TOTAL_HALF,
    TOTAL_PERCENT,
    AVERAGE,
    AVERAGE_TOTAL,
    MIN,
    MAX,
    N_COLUMNS
} column;

static const struct {
    const char *head;
    unsigned rank;
    bool has_unit; /* all its figures are in one unit, which the head names */
} heads[N_COLUMNS] = {{"Calls", 0, false},     {"Skips", 0, false},   {"Self", 0, true},
                      {"", 3, false},          {"Self %", 0, false},  {"Total", 1, true},
                      {"", 4, false},          {"Total %", 1, false}, {"Avg", 4, false},
                      {"Avg total", 6, false}, {"Min", 6, false},     {"Max", 5, false}};

typedef struct {
    const qp_view *v;
    qp_unit unit;
    bool has[N_COLUMNS];
    char texts[N_COLUMNS][32]; /* of the heads */
    bool has_hidden, is_long;
} layout;

static void choose_columns(layout *l, const qp_cli *cli, const qp_view *v, const uint32_t *rows,
                           size_t n)
{
    const qp_run *run = &v->m->run;
    uint64_t largest = 0;
    *l = (layout){.v = v, .is_long = cli->args.is_long};
    for (size_t i = 0; i < n; i++) {
        largest = v->flat[rows[i]].total > largest ? v->flat[rows[i]].total : largest;
        l->has_hidden |= v->m->methods[rows[i]].has_hidden;
    }
    l->unit = qp_view_unit(v->m, largest, cli->args.unit);
    for (int c = 0; c < N_COLUMNS; c++) {
        l->has[c] = run->has_times;
        snprintf(l->texts[c], sizeof l->texts[c], "%s%s", heads[c].head,
                 heads[c].has_unit ? l->unit.suffix : "");
    }
    l->has[CALLS] = run->has_calls;
    l->has[AVERAGE] &= run->has_calls;
    l->has[AVERAGE_TOTAL] &= run->has_calls && l->is_long;
    l->has[SKIPS] = cli->args.has_skips;
    l->has[SELF_HALF] = l->has[TOTAL_HALF] = run->has_times && run->is_estimated;
    l->has[MIN] = l->has[MAX] = run->has_times && run->has_min_max && !run->is_estimated;
    for (int c = SELF_HALF; c <= TOTAL_HALF; c += TOTAL_HALF - SELF_HALF)
        snprintf(l->texts[c], sizeof l->texts[c], "%s",
                 qp_screen_sign(&cli->screen, QP_SIGN_HALF));
}

/* A figure of one call: from nanoseconds to minutes in one column, each in its own unit. */
static void print_one(char *to, const layout *l, uint64_t ticks)
{
    uint64_t value = qp_model_ns(l->v->m, ticks);
    if (qp_view_is_time(l->v->m))
        qp_unit_time(to, value);
    else
        qp_unit_count(to, value);
}

/* Ticks of one call. */
static uint64_t of_one(const qp_figures *f, column c)
{
    return c == AVERAGE         ? qp_figures_average(f)
           : c == AVERAGE_TOTAL ? qp_figures_average_total(f)
           : c == MIN           ? f->min
                                : f->max;
}

static void print_figure(char *to, const layout *l, const qp_figures *f, column c)
{
    const qp_model *m = l->v->m;
    bool has_one = c == MIN || c == MAX ? f->min <= f->max : f->hits > 0;
    switch (c) {
    case CALLS:
        qp_unit_count(to, f->calls);
        return;
    case SKIPS:
        qp_unit_count(to, f->skips);
        return;
    case SELF:
        qp_unit_number(to, qp_model_ns(m, f->self), l->unit);
        return;
    case SELF_HALF:
        qp_unit_number(to, qp_model_ns(m, f->self_half), l->unit);
        return;
    case SELF_PERCENT:
        qp_unit_percent(to, f->self, l->v->whole_self);
        return;
    case TOTAL:
        qp_unit_number(to, qp_model_ns(m, f->total), l->unit);
        return;
    case TOTAL_HALF:
        qp_unit_number(to, qp_model_ns(m, f->total_half), l->unit);
        return;
    case TOTAL_PERCENT:
        qp_unit_percent(to, f->total, l->v->whole_total);
        return;
    default:
        if (has_one)
            print_one(to, l, of_one(f, c));
        else
            snprintf(to, QP_NUMBER_BYTES, "-");
    }
}

/* Why there is no row. */
static const char *none_reason(const qp_args *args, const qp_view *v)
{
    if (args->filter)
        return "No function fits the filter.\n";
    if (*v->m->run.when)
        return "No call path fits the pattern.\n";
    if (v->m->run.is_stack_only && !v->m->run.has_times)
        return "It keeps its stack for others to look at: qprof run --pid samples it.\n";
    if (!v->m->run.has_calls)
        return "No function was seen, and calls were not counted.\n";
    if (v->m->run.n_hidden)
        return "All functions that were called are hidden.\n";
    for (uint32_t i = 1; i < v->m->n_methods; i++)
        if (v->flat[i].skips)
            return "All calls were made while recording was off; qprof report --show-skips "
                   "shows them.\n";
    return "No function was called.\n";
}

static void begin_table(qp_table *t, const layout *l)
{
    qp_table_init(t);
    qp_table_column(t, "Function", QP_KEEP_BEGIN, 0);
    if (l->has_hidden)
        qp_table_column(t, "", QP_ALIGN_LEFT, 0);
    for (int c = 0; c < N_COLUMNS; c++)
        if (l->has[c])
            qp_table_column(t, l->texts[c], QP_ALIGN_RIGHT, heads[c].rank);
    qp_table_column(t, "File:Line", QP_KEEP_END, 2);
    if (l->is_long) {
        qp_table_column(t, "Module", QP_KEEP_BEGIN, 3);
        qp_table_column(t, "Measured", QP_ALIGN_LEFT, 3);
    }
}

static void add_row(qp_table *t, const layout *l, uint32_t row)
{
    char text[QP_NUMBER_BYTES], place[4096];
    const qp_model_method *method = &l->v->m->methods[row];
    const qp_figures *f = &l->v->flat[row];
    qp_style style = qp_style_of_percent(qp_view_percent(f->self, l->v->whole));
    qp_table_name(t, style, method->name);
    if (l->has_hidden)
        qp_table_plain(t, style, method->has_hidden ? "+" : "");
    for (int c = 0; c < N_COLUMNS; c++) {
        if (!l->has[c])
            continue;
        print_figure(text, l, f, (column)c);
        qp_table_plain(t, c == SELF_PERCENT ? style : QP_STYLE_PLAIN, text);
    }
    qp_table_name(t, QP_STYLE_DIM, qp_view_place(place, sizeof place, method));
    if (l->is_long) {
        qp_table_name(t, QP_STYLE_PLAIN, method->module);
        qp_table_plain(t, QP_STYLE_PLAIN, method->type);
    }
}

bool qp_rows_print(const qp_cli *cli, const qp_view *v, const uint32_t *rows, size_t n)
{
    layout l;
    qp_table t;
    if (n == 0) {
        qp_out_text(cli->screen.out, none_reason(&cli->args, v));
        return true;
    }
    choose_columns(&l, cli, v, rows, n);
    begin_table(&t, &l);
    for (size_t i = 0; i < n; i++)
        add_row(&t, &l, rows[i]);
    bool is_printed = qp_table_print(&t, &cli->screen, 0);
    if (is_printed && l.has_hidden)
        qp_out_text(cli->screen.out, "+ with functions that are hidden\n");
    qp_table_fini(&t);
    return is_printed;
}
