/* functions.c: chooses, sorts and prints the rows of the table of functions. */
#include "cli/show/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"

/* ---- choosing ------------------------------------------------------------------------------ */

typedef struct {
    const qp_view *v;
    qp_sort sort;
} order;

/* What is certain of an estimate: the lower end of its interval. */
static uint64_t certain(uint64_t value, uint64_t half)
{
    return value > half ? value - half : 0;
}

/* @param is_whole  the estimate itself, for rows that are certain of the same */
static uint64_t sort_key(const order *o, uint32_t method, bool is_whole)
{
    const qp_figures *f = &o->v->flat[method];
    uint64_t self = certain(qp_figures_self_run(f), is_whole ? 0 : f->self_half);
    switch (o->sort) {
    case QP_SORT_TOTAL:
        return certain(qp_figures_total_run(f), is_whole ? 0 : f->total_half);
    case QP_SORT_CALLS:
        return f->calls;
    case QP_SORT_AVERAGE:
        return f->hits ? self / f->hits : 0;
    case QP_SORT_MAX:
        return f->min > f->max ? 0 : f->max;
    case QP_SORT_NAME:
        return 0;
    case QP_SORT_BYTES:
        return f->memory.bytes;
    case QP_SORT_BYTES_TOTAL:
        return f->memory_total.bytes;
    case QP_SORT_OBJECTS:
        return f->memory.objects;
    case QP_SORT_INSTRUCTIONS:
        return o->v->m->methods[method].instructions;
    default:
        return self;
    }
}

/* Most that is certain first; equal ones by the estimate, those that did not run by what they waited, then by
 * calls and by name, so that two runs list alike. */
static int compare_rows(const void *a, const void *b, void *data)
{
    const order *o = data;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const qp_figures *f = o->v->flat;
    for (int is_whole = 0; is_whole < 2; is_whole++) {
        uint64_t key_x = sort_key(o, x, is_whole), key_y = sort_key(o, y, is_whole);
        if (key_x != key_y)
            return key_x < key_y ? 1 : -1;
    }
    if (o->sort == QP_SORT_SELF && f[x].off != f[y].off)
        return f[x].off < f[y].off ? 1 : -1;
    if (o->sort != QP_SORT_NAME && f[x].calls != f[y].calls)
        return f[x].calls < f[y].calls ? 1 : -1;
    int c = strcmp(o->v->m->methods[x].name, o->v->m->methods[y].name);
    return c ? c : (x > y) - (x < y);
}

/* Rows without hits are hidden, unless time was charged to them, or with --show-skips. */
static bool is_shown(const qp_args *args, const qp_view *v, uint32_t method)
{
    const qp_figures *f = &v->flat[method];
    const qp_model_method *x = &v->m->methods[method];
    /* and its calls do not count, or were not counted */
    bool is_on_path = f->total && (f->skips == 0 || *v->m->run.when);
    if (f->hits == 0 && f->resumes == 0 && f->self == 0 && !is_on_path &&
        !(args->has_skips && f->skips))
        return false;
    return !args->filter || strstr(x->name, args->filter) || strstr(x->file, args->filter);
}

/* By the column of percentages that a table has. */
static bool is_enough(const qp_args *args, const qp_view *v, uint32_t method)
{
    const qp_figures *f = &v->flat[method];
    double self = qp_run_has(&v->m->run) & QP_HAS_WAITS
                      ? qp_view_percent(qp_figures_self_run(f), v->whole - v->whole_off)
                      : qp_view_percent(f->self, v->whole);
    return qp_view_is_enough(v, args, self, f->total);
}

/* The columns of percentages are to total 100. */
static void add_up(qp_view *v, const uint32_t *rows, size_t n)
{
    v->whole_self = v->whole_total = v->whole_run = 0;
    for (size_t i = 0; i < n; i++) {
        v->whole_self += v->flat[rows[i]].self;
        v->whole_total += v->flat[rows[i]].total;
        v->whole_run += qp_figures_self_run(&v->flat[rows[i]]);
    }
}

bool qp_functions_init(qp_functions *f, const qp_args *args, const qp_model *m, uint32_t thread,
                       uint64_t limit)
{
    qp_view *v = &f->v;
    order o = {v, (qp_sort)args->sort};
    *f = (qp_functions){.about = {m, thread}};
    if (!qp_view_init(v, m, thread, args->has_subtract) ||
        !(f->methods = qp_alloc(m->n_methods, sizeof *f->methods)))
        return false;
    if (!m->run.has_times && o.sort == QP_SORT_SELF)
        o.sort = QP_SORT_CALLS;
    for (uint32_t i = 1; i < m->n_methods; i++) {
        if (!is_shown(args, v, i))
            continue;
        if (is_enough(args, v, i))
            f->methods[f->n_all++] = i;
        else
            f->n_small++;
    }
    qsort_r(f->methods, f->n_all, sizeof *f->methods, compare_rows, &o);
    if (args->percent == QP_PERCENT_OF_ROWS)
        add_up(v, f->methods, f->n_all);
    f->n = limit && limit < f->n_all ? (size_t)limit : f->n_all;
    return true;
}

void qp_functions_fini(qp_functions *f)
{
    qp_free(f->methods);
    qp_view_fini(&f->v);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* A function, with what it has of the whole. */
typedef struct {
    qp_method_row method;
    double self_percent, run_percent, total_percent;
    double self_percent_half, total_percent_half;
    const char *place; /* of text */
    char place_bytes[2048];
} function_row;

#define AT(member)   QP_FIELD_AT(function_row, member)
#define HALF(member) QP_FIELD_HALF(function_row, member)
static const qp_field function_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, AT(method), .sub = qp_method_fields},
    {"average_total", "Avg total", "average time of one call, total / hits", QP_FIELD_SPAN,
     AT(method.figures.average_total), HALF(method.figures.average_total_half), .rank = 6,
     .needs = QP_HAS_TIMES | QP_HAS_CALLS},
    {"self_percent", "Self %",
     "self in percent of the run, or with --percent=rows of the sum of all rows",
     QP_FIELD_PERCENT, AT(self_percent), HALF(self_percent_half), .flags = QP_FIELD_HOT,
     .needs = QP_HAS_TIMES},
    {"run_percent", "Run %", "self_run in percent of the same, without time off the processor",
     QP_FIELD_PERCENT, AT(run_percent), .flags = QP_FIELD_HOT | QP_FIELD_OPTIONAL,
     .needs = QP_HAS_TIMES | QP_HAS_WAITS},
    {"total_percent", "Total %", "total in percent of the same", QP_FIELD_PERCENT,
     AT(total_percent), HALF(total_percent_half), .rank = 1, .needs = QP_HAS_TIMES},
    {"place", "File:Line", NULL, QP_FIELD_PLACE, AT(place), .flags = QP_FIELD_NO_JSON,
     .rank = 2},
    {.key = NULL}};
#undef AT
#undef HALF

static bool next_function(const void *data, size_t *at, void *to)
{
    const qp_functions *list = data;
    const qp_view *v = &list->v;
    function_row *row = to;
    if (*at == list->n)
        return false;
    uint32_t method = list->methods[(*at)++];
    const qp_figures *f = &v->flat[method];
    row->method = qp_method_row_of(v->m, method, f);
    row->self_percent = qp_view_percent(f->self, v->whole_self);
    row->run_percent = qp_view_percent(qp_figures_self_run(f), v->whole_run);
    row->total_percent = qp_view_percent(f->total, v->whole_total);
    row->self_percent_half = qp_view_percent(f->self_half, v->whole_self);
    row->total_percent_half = qp_view_percent(f->total_half, v->whole_total);
    return true;
}

static unsigned has_figures(const void *data, const void *row)
{
    const qp_view *v = &((const qp_functions *)data)->v;
    (void)row;
    return qp_run_has_any(&v->m->run) & ~(v->thread ? (unsigned)QP_HAS_INSTRUCTIONS : 0);
}

const qp_rows qp_function_rows =
    QP_ROWS(function_fields, function_row, next_function, .has = has_figures);

/* ---- text ------------------------------------------------------------------------------------ */

static bool next_line(const void *data, size_t *at, void *to)
{
    function_row *row = to;
    if (!next_function(data, at, to))
        return false;
    row->place = qp_view_place(row->place_bytes, sizeof row->place_bytes, &row->method.method);
    if (!row->method.figures.f.hits)
        row->method.figures.average = row->method.figures.average_total = QP_FIELD_NONE;
    return true;
}

static bool print_table(const qp_cli *cli, const qp_functions *list)
{
    char columns[256];
    const qp_args *a = &cli->args;
    const qp_view *v = &list->v;
    uint64_t largest = 0;
    bool has_hidden = false, has_resumes = false;
    qp_listing l;
    function_row row;
    for (size_t i = 0; i < list->n; i++) {
        uint32_t method = list->methods[i];
        largest = v->flat[method].total > largest ? v->flat[method].total : largest;
        has_hidden |= v->m->methods[method].has_hidden;
        has_resumes |= v->flat[method].resumes > 0;
    }
    snprintf(columns, sizeof columns,
             "name %s calls %s %s self self_off self_half %s total total_half total_percent "
             "average %s min max %s bytes bytes_total objects place %s",
             has_hidden ? "includes_hidden" : "", a->has_skips ? "skips" : "",
             has_resumes ? "resumes" : "",
             qp_run_has(&v->m->run) & QP_HAS_WAITS ? "run_percent" : "self_percent",
             a->is_long ? "average_total" : "",
             a->is_long || a->sort == QP_SORT_INSTRUCTIONS ? "instructions" : "",
             a->is_long ? "module type" : "");
    qp_listing_begin(&l, &cli->screen, function_fields, columns, qp_run_has(&v->m->run),
                     qp_view_unit(v->m, largest, a->unit));
    for (size_t at = 0; next_line(list, &at, &row);) {
        const qp_figures *f = &v->flat[list->methods[at - 1]];
        double percent = qp_view_percent(qp_figures_self_run(f), v->whole - v->whole_off);
        l.is_dim = f->self_half > f->self;
        qp_listing_row(&l, &row, qp_style_of_percent(percent));
    }
    bool is_printed = qp_listing_end(&l, 0);
    if (is_printed && has_hidden)
        qp_out_text(cli->screen.out, "+ includes functions that are hidden\n");
    return is_printed;
}

/* Why there is no row. */
static const char *none_reason(const qp_args *args, const qp_view *v, size_t n_small)
{
    if (n_small)
        return "No function has that much of the time.\n";
    if (args->filter)
        return "No function matches the filter.\n";
    if (*v->m->run.when)
        return "No call path matches the pattern.\n";
    if (v->m->run.is_stack_only && !v->m->run.has_times)
        return "Only the stack is published: qprof run --pid=PID samples it.\n";
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

bool qp_functions_print(const qp_cli *cli, const qp_functions *f)
{
    if (f->n)
        return print_table(cli, f);
    qp_out_text(cli->screen.out, none_reason(&cli->args, &f->v, f->n_small));
    return true;
}
