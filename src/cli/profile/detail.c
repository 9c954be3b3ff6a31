/* detail.c: `qprof detail`: one function, its callers, its callees and its stack suffixes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "cli/show/show.h"
#include "model/figures/figures.h"

/* The document: a function and what is about it. */
typedef struct {
    qp_document about;
    uint32_t method;
    qp_figures f;
    qp_method_row row;
    qp_edge *callers, *callees;
    size_t n_callers, n_callees;
    uint32_t suffix_depth; /* frames of a stack suffix; 0: not requested */
    qp_stack_suffix *suffixes;
    size_t n_suffixes, n_shown; /* as --limit lets through */
    uint64_t n_left_out;
} detail;

/* Of text, and each with up to QP_STACK_SUFFIX_MOST_FRAMES rows. */
enum { SUFFIXES_SHOWN = 10 /* without --limit */, SUFFIXES_OF_A_TABLE = 1000 };

static bool has_suffixes(const qp_model *m)
{
    return m->run.has_calls && m->run.has_paths;
}

/* Find the stack suffixes, if they were requested. */
static bool find_suffixes(detail *d, const qp_args *args)
{
    const qp_model *m = d->about.m;
    uint64_t limit = args->limit != UINT64_MAX        ? args->limit
                     : args->format == QP_FORMAT_TEXT ? SUFFIXES_SHOWN
                                                      : 0;
    d->suffix_depth = (uint32_t)args->suffixes;
    if (!d->suffix_depth || !has_suffixes(m))
        return true;
    if (!qp_model_stack_suffixes(m, d->method, d->about.thread, d->suffix_depth, &d->suffixes,
                                 &d->n_suffixes))
        return false;
    d->n_shown = limit && limit < d->n_suffixes ? (size_t)limit : d->n_suffixes;
    d->n_left_out = d->n_suffixes - d->n_shown;
    return true;
}

/* Fill in the figures, callers, callees and suffixes of d->method. @return false: no memory */
static bool find_detail(detail *d, const qp_args *args)
{
    qp_view v;
    const qp_model *m = d->about.m;
    uint32_t method = d->method, thread = d->about.thread;
    bool is_good = qp_view_init(&v, m, thread, false);
    if (is_good)
        d->f = v.flat[method];
    qp_view_fini(&v);
    d->row = qp_method_row_of(m, method, &d->f);
    return is_good && qp_model_callers(m, method, thread, &d->callers, &d->n_callers) &&
           qp_model_callees(m, method, thread, &d->callees, &d->n_callees) &&
           find_suffixes(d, args);
}

/* ---- text ---------------------------------------------------------------------------------- */

static void print_times(const qp_screen *s, const detail *d)
{
    const qp_figures *f = &d->f;
    const qp_model *m = d->about.m;
    uint32_t thread = d->about.thread;
    uint64_t whole = thread ? m->threads[thread].total : m->run.total;
    char a[QP_NUMBER_BYTES], b[QP_NUMBER_BYTES], c[QP_NUMBER_BYTES];
    const char *half = qp_screen_sign(s, QP_SIGN_HALF);
    qp_header_line(s, "self", "%s, %s %% of the %s",
                   qp_view_estimate(m, a, f->self, f->self_half),
                   qp_unit_percent(b, f->self, whole), qp_view_noun(m));
    qp_header_line(s, "total", "%s, %s %% of the %s",
                   qp_view_estimate(m, a, f->total, f->total_half),
                   qp_unit_percent(b, f->total, whole), qp_view_noun(m));
    if (qp_run_has(&m->run) & QP_HAS_WAITS)
        qp_header_line(s, "waiting", "%s of self, %s of total", qp_view_amount(m, a, f->off),
                       qp_view_amount(m, b, f->off_total));
    qp_view_estimate(m, a, qp_figures_average(f), f->hits ? f->self_half / f->hits : 0);
    if (f->hits && m->run.has_min_max && !m->run.is_estimated && f->min <= f->max)
        qp_header_line(s, "one call", "%s on average, from %s to %s of self", a,
                       qp_view_amount(m, b, f->min), qp_view_amount(m, c, f->max));
    else if (f->hits)
        qp_header_line(s, "one call", "%s on average of self", a);
    if (m->run.is_estimated)
        qp_header_line(s, "interval", "self %s %s, total %s %s", half,
                       qp_view_estimate(m, a, f->self_half, f->self_half), half,
                       qp_view_estimate(m, b, f->total_half, f->total_half));
}

static void print_memory(const qp_screen *s, const qp_figures *f)
{
    char bytes[QP_NUMBER_BYTES], objects[QP_NUMBER_BYTES], all_bytes[QP_NUMBER_BYTES],
        all_objects[QP_NUMBER_BYTES];
    qp_header_line(s, "allocated", "%s in %s, with what it called %s in %s",
                   qp_unit_things(bytes, f->memory.bytes, "byte"),
                   qp_unit_things(objects, f->memory.objects, "object"),
                   qp_unit_count(all_bytes, f->memory_total.bytes),
                   qp_unit_count(all_objects, f->memory_total.objects));
}

static void print_figures(const qp_cli *cli, const detail *d)
{
    const qp_screen *s = &cli->screen;
    const qp_model *m = d->about.m;
    const qp_model_method *x = &m->methods[d->method];
    char calls[QP_NUMBER_BYTES], skips[QP_NUMBER_BYTES];
    qp_method_title(s, m, d->method);
    qp_unit_count(calls, d->f.calls);
    if (m->run.has_calls && d->f.skips)
        qp_header_line(s, "calls", "%s (%s while recording was off)", calls,
                       qp_unit_count(skips, d->f.skips));
    else if (m->run.has_calls)
        qp_header_line(s, "calls", "%s", calls);
    if (d->f.resumes)
        qp_header_line(s, "resumes", "%s", qp_unit_count(skips, d->f.resumes));
    qp_header_line(s, "measured", "%s%s%.300s%s", x->type, *x->module ? ", module " : "",
                   x->module, x->has_hidden ? "; self with functions that are hidden" : "");
    if (m->run.has_times)
        print_times(s, d);
    if (m->run.has_memory)
        print_memory(s, &d->f);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* A caller, a callee, or a frame of a stack suffix. */
typedef struct {
    qp_model_method method;
    const char *relation, *recursive; /* of CSV; recursive "": of a frame */
    uint64_t calls, time, half;
    double percent; /* of the method's total; of its hits */
    bool is_recursive;
    uint64_t suffix_no, call_no;
    uint64_t shown_no, hits; /* of a frame, in text: in the first row of a suffix alone */
    const char *more, *place;
    char place_bytes[2048];
} relative;

#define AT(member)   QP_FIELD_AT(relative, member)
#define HALF(member) QP_FIELD_HALF(relative, member)
static const qp_field edge_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, AT(method), .sub = qp_method_name_fields},
    {"calls", "Calls", "calls between the two", QP_FIELD_COUNT, AT(calls),
     .needs = QP_HAS_CALLS},
    {"time", "Time", "time of these calls, in the run's unit", QP_FIELD_TIME, AT(time),
     HALF(half), .needs = QP_HAS_TIMES},
    {"time_half", "±", "half of the 95 % interval of time; 0: exact", QP_FIELD_TIME, AT(half),
     HALF(half), .rank = 3, .needs = QP_HAS_HALVES},
    {"recursive", "", "leads back to the method", QP_FIELD_YES, AT(is_recursive), .words = "*"},
    {"percent", "% of total", NULL, QP_FIELD_PERCENT, AT(percent), .flags = QP_FIELD_NO_JSON,
     .needs = QP_HAS_TIMES},
    {"place", "File:Line", NULL, QP_FIELD_PLACE, AT(place), .flags = QP_FIELD_NO_JSON,
     .rank = 1},
    {.key = NULL}};

static const qp_field frame_fields[] = {
    {"suffix_no", "Suffix No", NULL, QP_FIELD_COUNT, AT(shown_no),
     .flags = QP_FIELD_NO_JSON | QP_FIELD_BLANK},
    {"hits", "Hits", NULL, QP_FIELD_COUNT, AT(hits),
     .flags = QP_FIELD_NO_JSON | QP_FIELD_BLANK},
    {"percent", "% of hits", NULL, QP_FIELD_PERCENT, AT(percent),
     .flags = QP_FIELD_NO_JSON | QP_FIELD_BLANK, .rank = 2},
    {"number", "Call No", "0: the method, 1: its caller, ...", QP_FIELD_COUNT, AT(call_no)},
    {"", NULL, NULL, QP_FIELD_PART, AT(method), .sub = qp_method_name_fields},
    {"more", "", NULL, QP_FIELD_WORD, AT(more), .flags = QP_FIELD_NO_JSON | QP_FIELD_DIM},
    {"place", "File:Line", NULL, QP_FIELD_PLACE, AT(place), .flags = QP_FIELD_NO_JSON,
     .rank = 1},
    {.key = NULL}};

static const qp_field csv_fields[] = {
    {"relation", NULL, NULL, QP_FIELD_WORD, AT(relation)},
    {"", NULL, NULL, QP_FIELD_PART, AT(method), .sub = qp_method_name_fields},
    {"calls", NULL, NULL, QP_FIELD_COUNT, AT(calls)},
    {"time", NULL, NULL, QP_FIELD_TIME, AT(time), .flags = QP_FIELD_NULLABLE},
    {"recursive", NULL, NULL, QP_FIELD_WORD, AT(recursive)},
    {"suffix_no", NULL, NULL, QP_FIELD_COUNT, AT(suffix_no), .flags = QP_FIELD_NULLABLE},
    {"call_no", NULL, NULL, QP_FIELD_COUNT, AT(call_no), .flags = QP_FIELD_NULLABLE},
    {.key = NULL}};
#undef AT
#undef HALF

static void fill_method(relative *r, const qp_model *m, uint32_t method)
{
    r->method = m->methods[method];
    r->place = qp_view_place(r->place_bytes, sizeof r->place_bytes, &r->method);
}

/* Callers from *at on, then callees. @return false: there are no more */
static bool next_edge(const void *data, size_t *at, void *row)
{
    const detail *d = data;
    relative *r = row;
    bool is_caller = *at < d->n_callers;
    if (*at == d->n_callers + d->n_callees)
        return false;
    const qp_edge *e = is_caller ? &d->callers[*at] : &d->callees[*at - d->n_callers];
    ++*at;
    fill_method(r, d->about.m, e->method);
    r->relation = is_caller ? "caller" : "callee";
    r->recursive = e->is_recursive ? "yes" : "no";
    r->calls = e->calls;
    r->time = qp_model_ns(d->about.m, e->time);
    r->half = qp_model_ns(d->about.m, e->half);
    r->percent = qp_view_percent(e->time, d->f.total);
    r->is_recursive = e->is_recursive;
    r->suffix_no = r->call_no = QP_FIELD_NONE;
    return true;
}

static bool next_caller(const void *data, size_t *at, void *row)
{
    return *at < ((const detail *)data)->n_callers && next_edge(data, at, row);
}

static bool next_callee(const void *data, size_t *at, void *row)
{
    size_t n = ((const detail *)data)->n_callers, all = n + *at;
    bool is_one = next_edge(data, &all, row);
    *at = all - n;
    return is_one;
}

static const qp_rows callers = QP_ROWS(edge_fields, relative, next_caller);
static const qp_rows callees = QP_ROWS(edge_fields, relative, next_callee);

/* Stack suffixes from one index to another. */
typedef struct {
    const detail *d;
    size_t from, to;
} suffix_range;

/* Frames of the suffixes, innermost first. */
static bool next_frame(const void *data, size_t *at, void *row)
{
    enum { STEP = QP_STACK_SUFFIX_MOST_FRAMES + 1 }; /* of *at, between suffixes */
    const suffix_range *range = data;
    const qp_model *m = range->d->about.m;
    relative *r = row;
    size_t i = range->from + *at / STEP, k = *at % STEP;
    if (i == range->to)
        return false;
    const qp_stack_suffix *x = &range->d->suffixes[i];
    bool is_last = k + 1 >= x->n_frames;
    uint32_t node = x->node;
    for (size_t n = 0; n < k; n++)
        node = m->nodes[node].parent;
    *at += is_last ? STEP - k : 1;
    fill_method(r, m, m->nodes[node].method);
    r->relation = "stack_suffix";
    r->calls = x->hits;
    r->time = QP_FIELD_NONE;
    r->suffix_no = i + 1;
    r->call_no = k;
    r->shown_no = k ? QP_FIELD_NONE : r->suffix_no;
    r->hits = k ? QP_FIELD_NONE : x->hits;
    r->percent = k ? -1 : qp_view_percent(x->hits, range->d->f.hits);
    r->more = is_last && x->is_cut ? "..." : "";
    return true;
}

static const qp_rows frames = QP_ROWS(frame_fields, relative, next_frame);

/* ---- tables ---------------------------------------------------------------------------------- */

static bool print_edges(const qp_cli *cli, const detail *d, const char *title,
                        const qp_rows *rows, const qp_edge *edges, size_t n)
{
    const qp_model *m = d->about.m;
    bool has_recursion = false;
    qp_listing l;
    qp_out_char(cli->screen.out, '\n');
    if (!n) {
        qp_out_format(cli->screen.out, "%s: none\n", title);
        return true;
    }
    qp_listing_begin(&l, &cli->screen, edge_fields,
                     "name recursive calls time time_half percent place", qp_run_has(&m->run),
                     qp_view_unit(m, d->f.total, cli->args.unit));
    qp_listing_title(&l, "name", title);
    qp_listing_rows(&l, rows, d);
    bool is_good = qp_listing_end(&l, 0);
    for (size_t i = 0; i < n; i++)
        has_recursion |= edges[i].is_recursive;
    if (has_recursion)
        qp_out_text(cli->screen.out, "* recursive\n");
    return is_good;
}

static bool print_suffixes(const qp_cli *cli, const detail *d)
{
    const qp_screen *s = &cli->screen;
    char count[QP_NUMBER_BYTES], percent[QP_NUMBER_BYTES];
    uint64_t rest = 0;
    bool is_good = true, is_cut = false;
    if (!d->suffix_depth)
        return true;
    if (!has_suffixes(d->about.m))
        qp_out_text(s->out,
                    "\nStack suffixes: unknown; the profile has no calls with their paths\n");
    else if (!d->n_suffixes)
        qp_out_text(s->out, "\nStack suffixes: none; no call was recorded\n");
    /* a table holds all that it prints */
    for (size_t i = 0; i < d->n_shown && is_good; i += SUFFIXES_OF_A_TABLE) {
        size_t end =
            d->n_shown - i > SUFFIXES_OF_A_TABLE ? i + SUFFIXES_OF_A_TABLE : d->n_shown;
        qp_out_char(s->out, '\n');
        is_good = qp_rows_text(s, &frames, &(suffix_range){d, i, end},
                               "suffix_no hits percent number name more place", QP_FIELDS_ALL,
                               QP_UNIT_NONE);
    }
    for (size_t i = 0; i < d->n_suffixes; i++)
        if (i < d->n_shown)
            is_cut |= d->suffixes[i].is_cut;
        else
            rest += d->suffixes[i].hits;
    if (d->n_left_out)
        qp_out_format(s->out, "and %s more with %s %% of the hits; --limit=0 shows all\n",
                      qp_unit_count(count, d->n_left_out),
                      qp_unit_percent(percent, rest, d->f.hits));
    if (is_cut)
        qp_out_format(s->out,
                      "... more callers: stack suffixes are cut at %" PRIu32 " frames\n",
                      d->suffix_depth);
    return is_good;
}

static bool print_text(const qp_cli *cli, const void *data)
{
    const detail *d = data;
    print_figures(cli, d);
    return print_edges(cli, d, "Callers", &callers, d->callers, d->n_callers) &&
           print_edges(cli, d, "Callees", &callees, d->callees, d->n_callees) &&
           print_suffixes(cli, d);
}

/* ---- JSON, CSV ----------------------------------------------------------------------------- */

typedef struct {
    suffix_range range; /* the suffix alone; first, as its rows are frames */
    uint64_t number;
    qp_stack_suffix suffix;
} suffix_row;

#define AT(member) QP_FIELD_AT(suffix_row, member)
static const qp_field suffix_fields[] = {
    {"number", NULL, "number in this document", QP_FIELD_COUNT, AT(number), .least = 1},
    {"hits", NULL, "calls that were recorded with this stack", QP_FIELD_COUNT, AT(suffix.hits),
     .least = 1},
    {"cut", NULL, "some of the stacks have more frames", QP_FIELD_YES, AT(suffix.is_cut)},
    {"calls", NULL, "the stack, innermost first", QP_FIELD_ROWS, .rows = &frames},
    {.key = NULL}};
#undef AT
#undef HALF

static bool next_suffix(const void *data, size_t *at, void *row)
{
    const detail *d = data;
    size_t i = *at;
    if (i == d->n_shown)
        return false;
    *at = i + 1;
    *(suffix_row *)row = (suffix_row){{d, i, i + 1}, i + 1, d->suffixes[i]};
    return true;
}

static const qp_rows suffixes = QP_ROWS(suffix_fields, suffix_row, next_suffix);

#define AT(member) QP_FIELD_AT(qp_method_row, member)
static const qp_field method_fields[] = {
    {"class", NULL, "class, \"\" without one", QP_FIELD_NAME, AT(method.class_name)},
    {"", NULL, NULL, QP_FIELD_PART, AT(method), .sub = qp_method_name_fields},
    {"calls", NULL, "hits + skips", QP_FIELD_COUNT, AT(figures.f.calls)},
    {"hits", NULL, "calls that were recorded", QP_FIELD_COUNT, AT(figures.f.hits)},
    {"skips", NULL, "calls while recording was off", QP_FIELD_COUNT, AT(figures.f.skips)},
    {"resumes", NULL, "how often a suspended call was continued; no part of calls",
     QP_FIELD_COUNT, AT(figures.f.resumes)},
    {"self", NULL, "time in the method itself, in the run's unit", QP_FIELD_TIME,
     AT(figures.f.self)},
    {"total", NULL, "time including the methods it called, recursion counted once",
     QP_FIELD_TIME, AT(figures.f.total)},
    {.key = NULL}};
#undef AT
#undef HALF

#define AT(member) QP_FIELD_AT(detail, member)
static const qp_field document_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, .sub = qp_run_part},
    {"method", NULL, "the function", QP_FIELD_OBJECT, AT(row), .sub = method_fields},
    {"callers", NULL, "functions that call it, most time first", QP_FIELD_ROWS,
     .rows = &callers},
    {"callees", NULL, "functions it calls, most time first", QP_FIELD_ROWS, .rows = &callees},
    {"stack_suffix_depth", NULL, "longest stack suffix, frames; 0: not requested",
     QP_FIELD_COUNT, AT(suffix_depth)},
    {"stack_suffixes_left_out", NULL, "number that --limit leaves out, those with fewest hits",
     QP_FIELD_COUNT, AT(n_left_out)},
    {"stack_suffixes", NULL, "stacks with which it was called, most hits first", QP_FIELD_ROWS,
     .rows = &suffixes},
    {.key = NULL}};
#undef AT
#undef HALF

static bool next_csv(const void *data, size_t *at, void *row)
{
    const detail *d = data;
    size_t n_edges = d->n_callers + d->n_callees;
    if (*at < n_edges)
        return next_edge(d, at, row);
    size_t rest = *at - n_edges;
    bool is_one = next_frame(&(suffix_range){d, 0, d->n_shown}, &rest, row);
    *at = n_edges + rest;
    return is_one;
}

static void write_csv(qp_cli *cli, const void *data)
{
    static const qp_rows rows = QP_ROWS(csv_fields, relative, next_csv);
    const detail *d = data;
    qp_rows_csv(&cli->out, &rows, d,
                d->suffix_depth
                    ? "relation name:function file line calls time recursive suffix_no call_no"
                    : "relation name:function file line calls time recursive",
                QP_FIELDS_ALL, d->about.m->run.unit);
}

/* ---- the command --------------------------------------------------------------------------- */

static int show(qp_cli *cli, const qp_subject *s)
{
    static const qp_forms forms = {print_text, document_fields, write_csv};
    detail d = {.about = {s->m, s->thread}};
    if (!qp_method_find(cli, s->m, s->name, &d.method))
        return QP_EXIT_UNUSABLE;
    int status = find_detail(&d, &cli->args) ? qp_output_print(cli, &forms, &d)
                                             : qp_cli_fail_memory(cli);
    qp_free(d.callers);
    qp_free(d.callees);
    qp_free(d.suffixes);
    return status;
}

static int run_detail(qp_cli *cli)
{
    const char *name, *file;
    if (!qp_cli_operands(cli, &name, &file))
        return QP_EXIT_UNUSABLE;
    if (!name)
        return qp_cli_fail(cli, "missing METHOD; usage: qprof detail METHOD [FILE]");
    if (cli->args.suffixes > QP_STACK_SUFFIX_MOST_FRAMES && cli->args.suffixes != UINT64_MAX)
        return qp_cli_fail(cli, "--routes=%" PRIu64 ": at most %d frames", cli->args.suffixes,
                           QP_STACK_SUFFIX_MOST_FRAMES);
    return qp_cli_show(cli);
}

const qp_command qp_command_detail = {
    .name = "detail",
    .operands = "METHOD [FILE]",
    .summary = "one function: its callers, callees and stack suffixes",
    .about =
        "Shows one function with its callers and callees. METHOD is a name, a part of it that "
        "matches one function only, or FILE:LINE. Times of callers are what the function's "
        "calls "
        "cost them; times of callees are theirs with descendants, less the function's own time "
        "inside, so that percentages of a recursive function may add up to more than 100. With "
        "--routes its calls are listed by stack suffix, most calls first: call 0 is the "
        "function, 1 its caller, 2 the caller of that, and so on.",
    .flags =
        (const qp_flag[]){
            QP_FLAG_WHEN, QP_FLAGS_COLLAPSE, QP_FLAG_THREAD,
            QP_COUNT("routes", 0, suffixes, NULL,
                     "stack suffixes of up to N frames, with their calls; 0: none (default: "
                     "the run's "
                     "-max-route-depth)"),
            QP_COUNT(
                "limit", 'n', limit, NULL,
                "maximum number of stack suffixes; 0: all (default 10; all as json or csv)"),
            QP_FLAG_THREADS_APART, QP_FLAG_UNIT, QP_FLAG_FORMAT, QP_FLAGS_COMMON},
    .examples = "qprof detail parse run.qprof\n"
                "qprof detail lexer.lua:120 run.qprof\n"
                "qprof detail parse --routes=5 run.qprof",
    .schemas = (const qp_schema[]){{"detail", document_fields}, {.name = NULL}},
    .threads = QP_THREADS_JOINED,
    .run = run_detail,
    .show = show,
    .takes_name = true};
