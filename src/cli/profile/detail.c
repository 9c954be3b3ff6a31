/* detail.c: `qprof detail`: one function, its callers, its callees and its stack suffixes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "cli/show/show.h"
#include "model/figures/figures.h"

typedef struct {
    uint32_t method, thread;
    qp_figures f;
    qp_edge *callers, *callees;
    size_t n_callers, n_callees;
    uint32_t suffix_depth; /* frames of a stack suffix; 0: not requested */
    qp_stack_suffix *suffixes;
    size_t n_suffixes, n_shown; /* as --limit lets through */
} detail;

/* Of text, and each with up to QP_STACK_SUFFIX_MOST_FRAMES rows. */
enum { SUFFIXES_SHOWN = 10 /* without --limit */, SUFFIXES_OF_A_TABLE = 1000 };

static bool has_suffixes(const qp_model *m)
{
    return m->run.has_calls && m->run.has_paths;
}

/* Find the stack suffixes, if they were requested. */
static bool find_suffixes(detail *d, const qp_model *m, const qp_args *args)
{
    uint64_t limit = args->limit != UINT64_MAX        ? args->limit
                     : args->format == QP_FORMAT_TEXT ? SUFFIXES_SHOWN
                                                      : 0;
    d->suffix_depth = (uint32_t)args->suffixes;
    if (!d->suffix_depth || !has_suffixes(m))
        return true;
    if (!qp_model_stack_suffixes(m, d->method, d->thread, d->suffix_depth, &d->suffixes,
                                 &d->n_suffixes))
        return false;
    d->n_shown = limit && limit < d->n_suffixes ? (size_t)limit : d->n_suffixes;
    return true;
}

/* Fills what is asked for; the rest was zeroed by the caller. */
static bool find_detail(detail *d, const qp_model *m, const qp_args *args)
{
    qp_view v;
    uint32_t method = d->method, thread = d->thread;
    bool is_good = qp_view_init(&v, m, thread, false);
    if (is_good)
        d->f = v.flat[method];
    qp_view_fini(&v);
    return is_good && qp_model_callers(m, method, thread, &d->callers, &d->n_callers) &&
           qp_model_callees(m, method, thread, &d->callees, &d->n_callees) &&
           find_suffixes(d, m, args);
}

/* ---- text ---------------------------------------------------------------------------------- */

static void print_calls(const qp_screen *s, const qp_figures *f)
{
    char text[QP_NUMBER_BYTES];
    qp_header_label(s, "calls");
    qp_out_text(s->out, qp_unit_count(text, f->calls));
    if (f->skips)
        qp_out_format(s->out, " (%s while recording was off)", qp_unit_count(text, f->skips));
    qp_out_char(s->out, '\n');
}

static void print_one_call(const qp_screen *s, const qp_model *m, const qp_figures *f)
{
    char a[QP_NUMBER_BYTES], b[QP_NUMBER_BYTES], c[QP_NUMBER_BYTES];
    qp_header_label(s, "one call");
    qp_out_format(s->out, "%s on average", qp_view_amount(m, a, qp_figures_average(f)));
    if (m->run.has_min_max && !m->run.is_estimated && f->min <= f->max)
        qp_out_format(s->out, ", from %s to %s", qp_view_amount(m, b, f->min),
                      qp_view_amount(m, c, f->max));
    qp_out_text(s->out, " of self\n");
}

static void print_figures(const qp_cli *cli, const qp_model *m, const detail *d)
{
    const qp_screen *s = &cli->screen;
    const qp_figures *f = &d->f;
    const qp_model_method *x = &m->methods[d->method];
    uint64_t whole = d->thread ? m->threads[d->thread].total : m->run.total;
    char a[QP_NUMBER_BYTES], b[QP_NUMBER_BYTES];
    qp_method_title(s, m, d->method);
    if (m->run.has_calls)
        print_calls(s, f);
    qp_header_label(s, "measured");
    qp_out_text(s->out, x->type);
    if (*x->module) {
        qp_out_text(s->out, ", module ");
        qp_screen_name(s, x->module, QP_NAME_COLUMNS);
    }
    qp_out_text(s->out, x->has_hidden ? "; self with functions that are hidden\n" : "\n");
    if (!m->run.has_times)
        return;
    qp_header_label(s, "self");
    qp_out_format(s->out, "%s, %s %% of the time\n", qp_view_amount(m, a, f->self),
                  qp_unit_percent(b, f->self, whole));
    qp_header_label(s, "total");
    qp_out_format(s->out, "%s, %s %% of the time\n", qp_view_amount(m, a, f->total),
                  qp_unit_percent(b, f->total, whole));
    if (f->hits)
        print_one_call(s, m, f);
    if (m->run.is_estimated) {
        qp_header_label(s, "interval");
        qp_out_format(s->out, "self %s %s, total %s %s\n", qp_screen_sign(s, QP_SIGN_HALF),
                      qp_view_amount(m, a, f->self_half), qp_screen_sign(s, QP_SIGN_HALF),
                      qp_view_amount(m, b, f->total_half));
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* A caller or callee. */
typedef struct {
    qp_model_method method;
    uint64_t calls, time;
    double percent;
    bool is_recursive;
    const char *place;
} edge_row;

#define AT(member) QP_FIELD_AT(edge_row, member)
static const qp_field edge_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, AT(method), .sub = qp_method_name_fields},
    {"calls", "Calls", "calls between the two", QP_FIELD_COUNT, AT(calls),
     .needs = QP_HAS_CALLS},
    {"time", "Time", "time of these calls, in the run's unit", QP_FIELD_TIME, AT(time),
     .needs = QP_HAS_TIMES},
    {"recursive", "", "leads back to the method", QP_FIELD_YES, AT(is_recursive), .words = "*"},
    {"percent", "% of total", NULL, QP_FIELD_PERCENT, AT(percent), .flags = QP_FIELD_NO_JSON,
     .needs = QP_HAS_TIMES},
    {"place", "File:Line", NULL, QP_FIELD_PLACE, AT(place), .flags = QP_FIELD_NO_JSON,
     .rank = 1},
    {.key = NULL}};
#undef AT

static edge_row edge_row_of(const qp_model *m, const qp_edge *e, uint64_t total)
{
    return (edge_row){.method = m->methods[e->method],
                      .calls = e->calls,
                      .time = qp_model_ns(m, e->time),
                      .percent = qp_view_percent(e->time, total),
                      .is_recursive = e->is_recursive,
                      .place = ""};
}

/* A frame of a stack suffix; what it does not have of its own is of the suffix. */
typedef struct {
    qp_model_method method;
    uint64_t suffix_no, call_no, hits;
    double percent;
    const char *more, *place;
} frame_row;

#define AT(member) QP_FIELD_AT(frame_row, member)
static const qp_field frame_fields[] = {
    {"suffix_no", "Suffix No", NULL, QP_FIELD_COUNT, AT(suffix_no),
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
#undef AT

typedef struct {
    uint64_t number;
    qp_stack_suffix suffix;
    const qp_model *m;
} suffix_row;

/* Frame k of a suffix, from the innermost. @param node  its node */
static frame_row frame_row_of(const suffix_row *r, uint32_t k, uint32_t node)
{
    return (frame_row){.method = r->m->methods[r->m->nodes[node].method],
                       .suffix_no = r->number,
                       .call_no = k,
                       .hits = r->suffix.hits,
                       .more = "",
                       .place = ""};
}

/* ---- tables ---------------------------------------------------------------------------------- */

static bool print_edges(const qp_cli *cli, const qp_model *m, const char *title,
                        const qp_edge *edges, size_t n, uint64_t total)
{
    char place[2048];
    bool has_recursion = false;
    qp_listing l;
    qp_out_char(cli->screen.out, '\n');
    if (!n) {
        qp_out_format(cli->screen.out, "%s: none\n", title);
        return true;
    }
    qp_listing_begin(&l, &cli->screen, edge_fields, "name recursive calls time percent place",
                     qp_run_has(&m->run), qp_view_unit(m, total, cli->args.unit));
    qp_listing_title(&l, "name", title);
    for (size_t i = 0; i < n; i++) {
        edge_row row = edge_row_of(m, &edges[i], total);
        row.place = qp_view_place(place, sizeof place, &row.method);
        has_recursion |= row.is_recursive;
        qp_listing_row(&l, &row, QP_STYLE_PLAIN);
    }
    bool is_good = qp_listing_end(&l, 0);
    if (has_recursion)
        qp_out_text(cli->screen.out, "* recursive\n");
    return is_good;
}

static void add_suffix(qp_listing *l, const qp_model *m, const detail *d, size_t i)
{
    char place[2048];
    const suffix_row suffix = {i + 1, d->suffixes[i], m};
    uint32_t node = suffix.suffix.node, n = suffix.suffix.n_frames;
    for (uint32_t k = 0; k < n; k++, node = m->nodes[node].parent) {
        frame_row row = frame_row_of(&suffix, k, node);
        row.percent = k ? -1 : qp_view_percent(row.hits, d->f.hits);
        row.suffix_no = k ? QP_FIELD_NONE : row.suffix_no;
        row.hits = k ? QP_FIELD_NONE : row.hits;
        row.more = k + 1 == n && suffix.suffix.is_cut ? "..." : "";
        row.place = qp_view_place(place, sizeof place, &row.method);
        qp_listing_row(l, &row, QP_STYLE_PLAIN);
    }
}

/* Suffixes from one index to another: a table holds all that it prints. */
static bool print_some_suffixes(const qp_cli *cli, const qp_model *m, const detail *d,
                                size_t from, size_t to)
{
    qp_listing l;
    qp_listing_begin(&l, &cli->screen, frame_fields,
                     "suffix_no hits percent number name more place", QP_FIELDS_ALL,
                     (qp_unit){"", 1, 0});
    for (size_t i = from; i < to; i++)
        add_suffix(&l, m, d, i);
    qp_out_char(cli->screen.out, '\n');
    return qp_listing_end(&l, 0);
}

static bool print_suffixes(const qp_cli *cli, const qp_model *m, const detail *d)
{
    const qp_screen *s = &cli->screen;
    char count[QP_NUMBER_BYTES], percent[QP_NUMBER_BYTES];
    uint64_t rest = 0;
    bool is_good = true, is_cut = false;
    if (!d->suffix_depth)
        return true;
    if (!has_suffixes(m))
        qp_out_text(s->out,
                    "\nStack suffixes: unknown; the profile has no calls with their paths\n");
    else if (!d->n_suffixes)
        qp_out_text(s->out, "\nStack suffixes: none; no call was recorded\n");
    for (size_t i = 0; i < d->n_shown && is_good; i += SUFFIXES_OF_A_TABLE)
        is_good = print_some_suffixes(
            cli, m, d, i,
            d->n_shown - i > SUFFIXES_OF_A_TABLE ? i + SUFFIXES_OF_A_TABLE : d->n_shown);
    for (size_t i = 0; i < d->n_suffixes; i++)
        if (i < d->n_shown)
            is_cut |= d->suffixes[i].is_cut;
        else
            rest += d->suffixes[i].hits;
    if (d->n_shown < d->n_suffixes)
        qp_out_format(s->out, "and %s more with %s %% of the hits; --limit=0 shows all\n",
                      qp_unit_count(count, d->n_suffixes - d->n_shown),
                      qp_unit_percent(percent, rest, d->f.hits));
    if (is_cut)
        qp_out_format(s->out,
                      "... more callers: stack suffixes are cut at %" PRIu32 " frames\n",
                      d->suffix_depth);
    return is_good;
}

/* ---- JSON, CSV ----------------------------------------------------------------------------- */

typedef struct {
    qp_document about;
    const detail *d;
    qp_method_row method;
    uint32_t depth;
    uint64_t n_left_out;
} document;

static void write_edges(qp_json *json, const qp_model *m, const qp_edge *edges, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        edge_row row = edge_row_of(m, &edges[i], 0);
        qp_row_json(json, NULL, edge_fields, QP_FIELDS_ALL, &row);
    }
}

static void write_callers(qp_json *json, const void *row)
{
    const document *x = row;
    write_edges(json, x->about.m, x->d->callers, x->d->n_callers);
}

static void write_callees(qp_json *json, const void *row)
{
    const document *x = row;
    write_edges(json, x->about.m, x->d->callees, x->d->n_callees);
}

static void write_frames(qp_json *json, const void *row)
{
    const suffix_row *r = row;
    uint32_t node = r->suffix.node;
    for (uint32_t k = 0; k < r->suffix.n_frames; k++, node = r->m->nodes[node].parent) {
        frame_row frame = frame_row_of(r, k, node);
        qp_row_json(json, NULL, frame_fields, QP_FIELDS_ALL, &frame);
    }
}

#define AT(member) QP_FIELD_AT(suffix_row, member)
static const qp_field suffix_fields[] = {
    {"number", NULL, "number in this document", QP_FIELD_COUNT, AT(number), .least = 1},
    {"hits", NULL, "calls that were recorded with this stack", QP_FIELD_COUNT, AT(suffix.hits),
     .least = 1},
    {"cut", NULL, "some of the stacks have more frames", QP_FIELD_YES, AT(suffix.is_cut)},
    {"calls", NULL, "the stack, innermost first", QP_FIELD_ROWS, .sub = frame_fields,
     .write = write_frames},
    {.key = NULL}};
#undef AT

static void write_suffixes(qp_json *json, const void *row)
{
    const document *x = row;
    for (size_t i = 0; i < x->d->n_shown; i++)
        qp_row_json(json, NULL, suffix_fields, QP_FIELDS_ALL,
                    &(suffix_row){i + 1, x->d->suffixes[i], x->about.m});
}

#define AT(member) QP_FIELD_AT(qp_method_row, member)
static const qp_field method_fields[] = {
    {"class", NULL, "class, \"\" without one", QP_FIELD_NAME, AT(method.class_name)},
    {"", NULL, NULL, QP_FIELD_PART, AT(method), .sub = qp_method_name_fields},
    {"calls", NULL, "hits + skips", QP_FIELD_COUNT, AT(figures.f.calls)},
    {"hits", NULL, "calls that were recorded", QP_FIELD_COUNT, AT(figures.f.hits)},
    {"skips", NULL, "calls while recording was off", QP_FIELD_COUNT, AT(figures.f.skips)},
    {"self", NULL, "time in the method itself, in the run's unit", QP_FIELD_TIME,
     AT(figures.f.self)},
    {"total", NULL, "time including the methods it called, recursion counted once",
     QP_FIELD_TIME, AT(figures.f.total)},
    {.key = NULL}};
#undef AT

static const qp_field document_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, .sub = qp_run_part},
    {"method", NULL, "the function", QP_FIELD_OBJECT, QP_FIELD_AT(document, method),
     .sub = method_fields},
    {"callers", NULL, "functions that call it, most time first", QP_FIELD_ROWS,
     .sub = edge_fields, .write = write_callers},
    {"callees", NULL, "functions it calls, most time first", QP_FIELD_ROWS, .sub = edge_fields,
     .write = write_callees},
    {"stack_suffix_depth", NULL, "longest stack suffix, frames; 0: not requested",
     QP_FIELD_COUNT, QP_FIELD_AT(document, depth)},
    {"stack_suffixes_left_out", NULL, "number that --limit leaves out, those with fewest hits",
     QP_FIELD_COUNT, QP_FIELD_AT(document, n_left_out)},
    {"stack_suffixes", NULL, "stacks with which it was called, most hits first", QP_FIELD_ROWS,
     .sub = suffix_fields, .write = write_suffixes},
    {.key = NULL}};

/* A row of CSV: a caller, a callee, or a frame of a stack suffix. */
typedef struct {
    qp_model_method method;
    const char *relation, *recursive; /* "": it has none */
    uint64_t calls, time, suffix_no, call_no;
} csv_row;

#define AT(member) QP_FIELD_AT(csv_row, member)
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

static void write_csv_suffix(const qp_csv *csv, const qp_model *m, const qp_stack_suffix *x,
                             uint64_t number)
{
    uint32_t node = x->node;
    for (uint32_t k = 0; k < x->n_frames; k++, node = m->nodes[node].parent)
        qp_csv_row(csv, &(csv_row){m->methods[m->nodes[node].method], "stack_suffix", "",
                                   x->hits, QP_FIELD_NONE, number, k});
}

static void write_csv(qp_cli *cli, const qp_model *m, const detail *d)
{
    qp_csv csv;
    qp_csv_begin(&csv, &cli->out, csv_fields,
                 d->suffix_depth
                     ? "relation name:function file line calls time recursive suffix_no call_no"
                     : "relation name:function file line calls time recursive",
                 QP_FIELDS_ALL, m->run.unit);
    for (size_t i = 0; i < d->n_callers + d->n_callees; i++) {
        bool is_caller = i < d->n_callers;
        const qp_edge *e = is_caller ? &d->callers[i] : &d->callees[i - d->n_callers];
        qp_csv_row(&csv, &(csv_row){m->methods[e->method], is_caller ? "caller" : "callee",
                                    e->is_recursive ? "yes" : "no", e->calls,
                                    qp_model_ns(m, e->time), QP_FIELD_NONE, QP_FIELD_NONE});
    }
    for (size_t i = 0; i < d->n_shown; i++)
        write_csv_suffix(&csv, m, &d->suffixes[i], i + 1);
}

/* ---- the command --------------------------------------------------------------------------- */

static bool print_detail(qp_cli *cli, const qp_model *m, uint32_t method, uint32_t thread)
{
    detail d = {.method = method, .thread = thread};
    bool is_good = find_detail(&d, m, &cli->args);
    if (is_good && cli->args.format == QP_FORMAT_JSON) {
        qp_document_json(&cli->out, document_fields,
                         &(document){{m, thread},
                                     &d,
                                     qp_method_row_of(m, method, &d.f),
                                     d.suffix_depth,
                                     d.n_suffixes - d.n_shown});
    } else if (is_good && cli->args.format == QP_FORMAT_CSV) {
        write_csv(cli, m, &d);
    } else if (is_good) {
        print_figures(cli, m, &d);
        is_good = print_edges(cli, m, "Callers", d.callers, d.n_callers, d.f.total) &&
                  print_edges(cli, m, "Callees", d.callees, d.n_callees, d.f.total) &&
                  print_suffixes(cli, m, &d);
    }
    qp_free(d.callers);
    qp_free(d.callees);
    qp_free(d.suffixes);
    return is_good;
}

static int run_detail(qp_cli *cli)
{
    const char *file, *name;
    qp_model *m;
    uint32_t thread, method;
    if (!qp_cli_operands(cli, &name, &file))
        return QP_EXIT_UNUSABLE;
    if (!name)
        return qp_cli_fail(cli, "missing METHOD; usage: qprof detail METHOD [FILE]");
    if (cli->args.suffixes > QP_STACK_SUFFIX_MOST_FRAMES && cli->args.suffixes != UINT64_MAX)
        return qp_cli_fail(cli, "--routes=%" PRIu64 ": at most %d frames", cli->args.suffixes,
                           QP_STACK_SUFFIX_MOST_FRAMES);
    int status = qp_cli_load_collapsed(cli, file, &m);
    if (status == QP_EXIT_UNUSABLE)
        return status;
    if (!qp_cli_thread(cli, m, &thread) || !qp_method_find(cli, m, name, &method))
        status = QP_EXIT_UNUSABLE;
    else if (!print_detail(cli, m, method, thread))
        status = qp_cli_fail_memory(cli);
    qp_model_free(m);
    return status;
}

static const qp_flag flags[] = {
    QP_FLAG_WHEN,
    QP_FLAGS_COLLAPSE,
    QP_FLAG_THREAD,
    {"routes", 0, QP_FLAG_COUNT, "N", QP_FLAG_AT(suffixes), NULL,
     "stack suffixes of up to N frames, with their calls; 0: none (default: the run's "
     "-max-route-depth)"},
    {"limit", 'n', QP_FLAG_COUNT, "N", QP_FLAG_AT(limit), NULL,
     "maximum number of stack suffixes; 0: all (default 10; all as json or csv)"},
    QP_FLAG_UNIT,
    QP_FLAG_FORMAT,
    QP_FLAGS_COMMON};

const qp_command qp_command_detail = {
    .name = "detail",
    .operands = "METHOD [FILE]",
    .summary = "one function: its callers, callees and stack suffixes",
    .about =
        "Shows one function with its callers and callees. METHOD is a name, a part of it that\n"
        "fits one function only, or FILE:LINE. Times of callers are what the function's calls\n"
        "cost them; times of callees are theirs with descendants, less the function's own "
        "time\n"
        "inside, so that percentages of a recursive function may add up to more than 100.\n"
        "With --routes its calls are listed by stack suffix, most calls first: call 0 is\n"
        "the function, 1 its caller, 2 the caller of that, and so on.",
    .flags = flags,
    .examples = "qprof detail parse run.qprof\n"
                "qprof detail lexer.lua:120 run.qprof\n"
                "qprof detail parse --routes=5 run.qprof",
    .schemas = (const qp_schema[]){{"detail", document_fields}, {.name = NULL}},
    .run = run_detail};
