/* dump.c: `qprof trace dump`: every record, in the order of the trace or of a column. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/search.h"
#include "base/os/clock.h"
#include "base/text/buf.h"
#include "base/text/json.h"
#include "base/text/text.h"
#include "base/text/unit.h"
#include "cli/core/cli.h"
#include "cli/trace/trace.h"

enum { FOLLOW_NS = 200000000, INDENT_MOST = 40, OP_COLUMNS = 8 };

/* The words of --sort, in the same order. */
#define SORT_WORDS                                                                             \
    "at|thread|op|method|file|depth|line|number|text|type|comment|call|caller|self|total"
typedef enum {
    BY_AT,
    BY_THREAD,
    BY_OP,
    BY_METHOD,
    BY_FILE,
    BY_DEPTH,
    BY_LINE,
    BY_NUMBER,
    BY_TEXT,
    BY_TYPE,
    BY_COMMENT,
    BY_CALL,
    BY_CALLER,
    BY_SELF,
    BY_TOTAL
} sort;

typedef struct {
    qp_trace_view *view;
    qp_cli *cli;
    qp_out *out;
    unsigned format;
    uint64_t n_lines, n_most; /* n_most 0: no limit */
    uint32_t n_calls;
    sort sort;      /* BY_AT: rows are printed at once, else at the end */
    qp_buf rows;    /* row */
    qp_arena texts; /* of rows */
    bool failed;    /* no memory */
    /* of Xbase++: from the events before a record, which is printed with them */
    uint32_t line;
    char params[1024];
} dump;

/* A record, as it is printed. */
typedef struct {
    uint64_t at; /* ns */
    uint32_t thread;
    const char *op;
    uint32_t method;                   /* number */
    const char *type, *text, *comment; /* of values; names of marks and counters; "": none */
    uint32_t line, depth;              /* line 0: none */
    uint32_t call, caller;             /* numbers of calls, from 1; caller 0: none, left out */
    int64_t number;                    /* meaning depends on op */
    uint64_t self, total;              /* ns; of the end of a call */
    bool has_method, has_number, has_times;
} row;

static const qp_trace_method *method_of(const dump *d, const row *r)
{
    return r->has_method ? qp_trace_view_method(d->view, r->method) : NULL;
}

/* ---- forms ----------------------------------------------------------------------------------- */

/* "2 type text  -- comment" */
static void write_value(const qp_screen *s, const row *r)
{
    qp_out_format(s->out, "%" PRId64 " ", r->number);
    if (*r->type) {
        qp_screen_name(s, r->type, 0);
        qp_out_char(s->out, ' ');
    }
    qp_screen_name(s, r->text, 0);
    if (!*r->comment)
        return;
    qp_out_text(s->out, "  -- ");
    qp_screen_name(s, r->comment, 0);
}

static void write_call(const qp_screen *s, const row *r)
{
    char self[QP_NUMBER_BYTES], total[QP_NUMBER_BYTES];
    qp_out_format(s->out, "  call %" PRIu32 ", caller %" PRIu32, r->call, r->caller);
    if (r->has_times)
        qp_out_format(s->out, ", self %s, total %s", qp_unit_time(self, r->self),
                      qp_unit_time(total, r->total));
}

static void write_text(const dump *d, const row *r)
{
    const qp_screen *s = &d->cli->screen;
    uint32_t indent = 2 * r->depth < INDENT_MOST ? 2 * r->depth : INDENT_MOST;
    bool is_value = strcmp(r->op, "value") == 0;
    qp_out_format(s->out, "%10" PRIu64 ".%06" PRIu64 " ms %5" PRIu32 "  %s", r->at / 1000000,
                  r->at % 1000000, r->thread, r->op);
    if (r->has_method || *r->text || is_value)
        qp_out_repeat(s->out, ' ', OP_COLUMNS - strlen(r->op) + indent);
    if (r->has_method)
        qp_screen_name(s, method_of(d, r)->name, 0);
    if (*r->text && !is_value) {
        qp_out_text(s->out, r->has_method ? "  " : "");
        qp_screen_name(s, r->text, 0);
    }
    if (is_value)
        write_value(s, r);
    else if (r->has_number)
        qp_out_format(s->out, "  %" PRId64, r->number);
    if (r->line)
        qp_out_format(s->out, "  line %" PRIu32, r->line);
    if (r->call && d->sort >= BY_CALL)
        write_call(s, r);
    qp_out_char(s->out, '\n');
}

static void write_json(const dump *d, const row *r)
{
    const qp_trace_method *method = method_of(d, r);
    qp_json json;
    qp_json_init(&json, d->out);
    json.is_line = true;
    qp_json_begin(&json, NULL, '{');
    qp_json_count(&json, "at", r->at);
    qp_json_count(&json, "thread", r->thread);
    qp_json_text(&json, "op", r->op);
    if (method) {
        qp_json_text(&json, "method", method->name);
        qp_json_text(&json, "file", method->file);
        qp_json_count(&json, "first_line", method->first_line);
        qp_json_count(&json, "depth", r->depth);
    }
    if (r->call) {
        qp_json_count(&json, "call", r->call);
        qp_json_count(&json, "caller", r->caller);
    }
    if (r->has_times) {
        qp_json_count(&json, "self", r->self);
        qp_json_count(&json, "total", r->total);
    }
    if (r->line)
        qp_json_count(&json, "line", r->line);
    if (r->has_number)
        qp_json_change(&json, "number", r->number);
    if (*r->type)
        qp_json_text(&json, "type", r->type);
    if (*r->text)
        qp_json_text(&json, "text", r->text);
    if (*r->comment)
        qp_json_text(&json, "comment", r->comment);
    qp_json_end(&json, '}');
}

/* A cell that is empty if the record has no such number. */
static void write_cell(qp_out *out, bool has_it, uint64_t number)
{
    qp_out_char(out, ',');
    if (has_it)
        qp_out_format(out, "%" PRIu64, number);
}

static void write_csv(const dump *d, const row *r)
{
    const qp_trace_method *method = method_of(d, r);
    qp_out *out = d->out;
    qp_out_format(out, "%" PRIu64 ",%" PRIu32 ",%s,", r->at, r->thread, r->op);
    qp_text_csv(out, method ? method->name : "");
    qp_out_char(out, ',');
    qp_text_csv(out, method ? method->file : "");
    write_cell(out, method, method ? method->first_line : 0);
    write_cell(out, true, r->depth);
    write_cell(out, r->line, r->line);
    qp_out_char(out, ',');
    if (r->has_number)
        qp_out_format(out, "%" PRId64, r->number);
    qp_out_char(out, ',');
    qp_text_csv(out, r->text);
    qp_out_char(out, ',');
    qp_text_csv(out, r->type);
    qp_out_char(out, ',');
    qp_text_csv(out, r->comment);
    write_cell(out, r->call, r->call);
    write_cell(out, r->call, r->caller);
    write_cell(out, r->has_times, r->self);
    write_cell(out, r->has_times, r->total);
    qp_out_text(out, "\r\n");
}

static void print_row(dump *d, const row *r)
{
    if (d->n_most && d->n_lines >= d->n_most)
        return;
    d->n_lines++;
    if (d->format == QP_FORMAT_JSON)
        write_json(d, r);
    else if (d->format == QP_FORMAT_CSV)
        write_csv(d, r);
    else
        write_text(d, r);
}

/* ---- order ----------------------------------------------------------------------------------- */

static const char *word_of(const dump *d, const row *r)
{
    const qp_trace_method *method = method_of(d, r);
    return d->sort == BY_OP        ? r->op
           : d->sort == BY_TEXT    ? r->text
           : d->sort == BY_TYPE    ? r->type
           : d->sort == BY_COMMENT ? r->comment
           : !method               ? ""
           : d->sort == BY_FILE    ? method->file
                                   : method->name;
}

static int64_t key_of(const dump *d, const row *r)
{
    const int64_t keys[] = {
        [BY_THREAD] = r->thread,      [BY_DEPTH] = r->depth,         [BY_LINE] = r->line,
        [BY_NUMBER] = r->number,      [BY_CALL] = r->call,           [BY_CALLER] = r->caller,
        [BY_SELF] = (int64_t)r->self, [BY_TOTAL] = (int64_t)r->total};
    return keys[d->sort];
}

static bool is_by_word(const dump *d)
{
    return (d->sort >= BY_OP && d->sort <= BY_FILE) ||
           (d->sort >= BY_TEXT && d->sort <= BY_COMMENT);
}

/* Whether the record has what it is sorted by. */
static bool has_key(const dump *d, const row *r)
{
    if (is_by_word(d))
        return *word_of(d, r) != '\0';
    return d->sort == BY_LINE     ? r->line > 0
           : d->sort == BY_NUMBER ? r->has_number
           : d->sort >= BY_SELF   ? r->has_times
                                  : d->sort < BY_CALL || r->call > 0;
}

/* Longest times first, else ascending; equal ones in the order of the trace. Those that have none are
 * last. */
static int compare(const void *a, const void *b, void *data)
{
    const dump *d = data;
    const row *x = *(const row *const *)a, *y = *(const row *const *)b;
    int order = has_key(d, y) - has_key(d, x);
    if (!order && is_by_word(d))
        order = strcmp(word_of(d, x), word_of(d, y));
    else if (!order)
        order = QP_ORDER(key_of(d, x), key_of(d, y)) * (d->sort >= BY_SELF ? -1 : 1);
    return order ? order : QP_ORDER(x, y);
}

/* An empty one as well: it lies in what the next record overwrites. */
static void keep_text(dump *d, const char **text)
{
    const char *copy = **text ? qp_arena_text(&d->texts, *text) : "";
    d->failed |= !copy;
    *text = copy ? copy : "";
}

static void keep_row(dump *d, const row *r)
{
    row *to = qp_buf_add(&d->rows);
    d->failed |= !to;
    if (!to)
        return;
    *to = *r;
    keep_text(d, &to->type);
    keep_text(d, &to->text);
    keep_text(d, &to->comment);
}

static bool print_sorted(dump *d)
{
    const row *rows = d->rows.items;
    const row **order = qp_alloc(d->rows.n + 1, sizeof *order);
    if (!order)
        return false;
    for (size_t i = 0; i < d->rows.n; i++)
        order[i] = &rows[i];
    qsort_r(order, d->rows.n, sizeof *order, compare, d);
    for (size_t i = 0; i < d->rows.n; i++)
        print_row(d, order[i]);
    qp_free(order);
    return true;
}

static bool is_xbase(const dump *d)
{
    return qp_trace_about(d->view->trace)->kind == QP_TRACE_OF_XBASE;
}

static void write_row(dump *d, const qp_span_thread *th, row *r)
{
    r->at = qp_trace_view_moment(d->view, th->raw);
    r->thread = qp_trace_view_ordinal(d->view, th->number);
    if (is_xbase(d)) {
        r->line = r->line ? r->line : d->line;
        r->text = d->params;
    }
    if (d->sort == BY_AT)
        print_row(d, r);
    else
        keep_row(d, r);
    d->line = 0;
    d->params[0] = '\0';
}

/* ---- records --------------------------------------------------------------------------------- */

static row row_of(const char *op, uint32_t depth)
{
    return (row){.op = op, .type = "", .text = "", .comment = "", .depth = depth};
}

/* @param s  the top one of th */
static row row_of_call(const char *op, const qp_span_thread *th, const qp_span *s)
{
    row r = row_of(op, th->depth - 1);
    r.method = s->method;
    r.has_method = true;
    r.call = s->tag;
    r.caller = th->depth > 1 ? th->spans[th->depth - 2].tag : 0;
    return r;
}

static void enter(void *to, qp_span_thread *th, qp_span *s)
{
    dump *d = to;
    s->tag = ++d->n_calls;
    row r = row_of_call("entry", th, s);
    if (!(s->flags & (QP_SPAN_CUT | QP_SPAN_FOREIGN)))
        write_row(d, th, &r);
}

static void leave(void *to, qp_span_thread *th, const qp_span *s, qp_span_end end)
{
    dump *d = to;
    row r = row_of_call(end == QP_END_RETURNED ? "exit" : "unwind", th, s);
    bool is_recorded = end == QP_END_RETURNED || (end == QP_END_UNWOUND && !is_xbase(d));
    r.has_times = true;
    r.self = qp_trace_view_ns(d->view, qp_span_self(th, s));
    r.total = qp_trace_view_ns(d->view, qp_span_total(th, s));
    if (is_recorded && !(s->flags & QP_SPAN_FOREIGN))
        write_row(d, th, &r);
}

static void take_event(void *to, qp_span_thread *th, const qp_span_event *e)
{
    static const char *const ops[16] = {
        [QP_TRACE_SWITCH] = "switch", [QP_TRACE_SUSPEND] = "suspend",
        [QP_TRACE_GATE] = "gate",     [QP_TRACE_MARKER] = "mark",
        [QP_TRACE_COUNTER] = "count", [QP_TRACE_CALL] = "call",
        [QP_TRACE_RETURN] = "return", [QP_TRACE_LINE] = "line",
        [QP_TRACE_VALUE] = "value",   [QP_TRACE_SAMPLE] = "sample",
        [QP_TRACE_LOST] = "lost"};
    dump *d = to;
    row r = row_of(ops[e->op & 15], th->depth);
    if (is_xbase(d) && e->op == QP_TRACE_LINE)
        d->line = e->a;
    if (is_xbase(d) && e->op == QP_TRACE_VALUE)
        qp_text_format(d->params, sizeof d->params, "%s", e->text);
    if (!r.op || (is_xbase(d) && e->op != QP_TRACE_CALL && e->op != QP_TRACE_RETURN))
        return;
    r.text = e->name ? e->name : e->text ? e->text : "";
    r.type = e->type ? e->type : "";
    r.comment = e->comment ? e->comment : "";
    if (e->op == QP_TRACE_CALL || e->op == QP_TRACE_RETURN) {
        r.method = qp_names_method(qp_trace_names(d->view->trace), e->a);
        r.has_method = true;
        r.line = e->b;
    } else if (e->op == QP_TRACE_LINE) {
        r.line = e->a;
    } else if (e->op == QP_TRACE_COUNTER || e->op == QP_TRACE_LOST) {
        r.number = (int64_t)e->value;
        r.has_number = true;
    } else if (e->op == QP_TRACE_GATE || e->op == QP_TRACE_VALUE) {
        r.number = e->a;
        r.has_number = true;
        if (e->op == QP_TRACE_VALUE && !e->a && !*r.comment)
            r.comment = "Return Value";
    }
    write_row(d, th, &r);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Dump what the program still writes, until it ends or the user interrupts. */
static bool follow(dump *d, qp_spans *x)
{
    bool is_good = true;
    qp_interrupt_take();
    while (is_good && !d->cli->out.error && qp_trace_refresh(d->view->trace)) {
        is_good = qp_trace_play_on(d->view->trace, x, &d->view->window, NULL);
        qp_out_flush(&d->cli->out);
        if (!qp_interrupt_sleep(qp_clock_monotonic() + FOLLOW_NS))
            break;
    }
    return is_good;
}

/* Prepare to dump the records that x receives. */
static void begin(dump *d, qp_spans *x)
{
    const qp_span_sink inner = {d, enter, leave, take_event};
    const qp_span_sink sink = qp_trace_view_sink(d->view, &inner);
    qp_trace_spans(d->view->trace, x, &sink);
    x->counts_from_call = false; /* each record at its own time */
    if (d->format == QP_FORMAT_CSV)
        qp_out_text(d->out, "at,thread,op,method,file,first_line,depth,line,number,text,type,"
                            "comment,call,caller,self,total\r\n");
}

bool qp_trace_write_csv(qp_trace_view *v, qp_out *out, qp_span_counts *counts)
{
    qp_spans x;
    dump d = {.view = v, .cli = v->cli, .out = out, .format = QP_FORMAT_CSV};
    begin(&d, &x);
    bool is_played = qp_trace_play_on(v->trace, &x, &v->window, &v->progress);
    *counts = x.counts;
    counts->n_records = d.n_lines;
    qp_spans_fini(&x);
    return is_played;
}

static int run_dump(qp_cli *cli)
{
    qp_trace_view view;
    qp_spans x;
    dump d = {.view = &view,
              .cli = cli,
              .out = &cli->out,
              .format = cli->args.format,
              .sort = (sort)cli->args.sort,
              .rows = QP_BUF(row)};
    d.n_most = cli->args.limit == UINT64_MAX ? 0 : cli->args.limit;
    if (d.sort != BY_AT && cli->args.trace.is_followed)
        return qp_cli_fail(cli, "--sort and --follow cannot be combined");
    if (!qp_trace_view_open(&view, cli, NULL))
        return QP_EXIT_UNUSABLE;
    begin(&d, &x);
    bool is_played = qp_trace_play_on(view.trace, &x, &view.window, &view.progress);
    qp_bar_end(&view.bar);
    qp_out_flush(&cli->out);
    if (is_played && cli->args.trace.is_followed)
        is_played = follow(&d, &x);
    is_played = is_played && !d.failed && (d.sort == BY_AT || print_sorted(&d));
    int status = is_played && !view.failed ? qp_trace_view_report(&view, &x.counts)
                                           : qp_cli_fail_memory(cli);
    qp_free(d.rows.items);
    qp_arena_fini(&d.texts);
    qp_spans_fini(&x);
    qp_trace_view_close(&view);
    return status;
}

const qp_command qp_command_trace_dump = {
    .name = "trace dump",
    .operands = "FILE [PROFILE]",
    .summary = "every record, in order",
    .about =
        "Prints the records of a trace, each with its time since the start of the run and "
        "the number of its thread: entry and exit; unwind, a call that did not return; "
        "call and return, announced by the caller; switch and suspend of virtual threads; "
        "markers, counters, lines, values with their types and comments; lost, a place where "
        "records were dropped. JSON is one object a line, with times in nanoseconds. JSON "
        "and CSV also number the calls: call, and caller, the number of the call that made "
        "it, or 0 where there is none or --name or --when leaves it out; the end of a call has "
        "its times self and total. Numbers are of one output. Calls that began before --since "
        "have numbers, also as callers, but no entry.",
    .flags = (const qp_flag[]){QP_YES("follow", 'f', trace.is_followed,
                                      "output until the program ends"),
                               QP_FLAG_THREAD, QP_TRACE_FLAGS_CALLS, QP_TRACE_FLAGS_WINDOW,
                               QP_WORD("sort", 's', SORT_WORDS, sort, "at",
                                       "order of the records; times: longest first"),
                               QP_COUNT("limit", 'n', limit, NULL, "maximum number of records"),
                               QP_FLAG_FORMAT, QP_FLAGS_COMMON},
    .examples = "qprof trace dump --since=1.5s --until=1.6s run.qtrace\n"
                "qprof trace dump --when='app.handle->*' --format=json run.qtrace\n"
                "qprof trace dump -f 4242                    a program that is running",
    .run = run_dump};
