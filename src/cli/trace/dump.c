/* dump.c: `qprof trace dump`: every record, in order. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/text/buf.h"
#include "base/text/json.h"
#include "base/text/text.h"
#include "base/text/unit.h"
#include "cli/core/cli.h"
#include "cli/trace/trace.h"

enum { FOLLOW_NS = 200000000, INDENT_MOST = 40, OP_COLUMNS = 8 };

typedef struct {
    qp_trace_view *view;
    qp_cli *cli;
    qp_out *out;
    unsigned format;
    uint64_t n_lines, n_most; /* n_most 0: no limit */
    /* of Xbase++: from the events before a record, which is printed with them */
    uint32_t line;
    char params[1024];
} dump;

/* A record, as it is printed. */
typedef struct {
    const char *op;
    const qp_trace_method *method;     /* NULL: none */
    const char *type, *text, *comment; /* of values; names of marks and counters; "": none */
    uint32_t line, depth;              /* line 0: none */
    int64_t number;                    /* meaning depends on op */
    bool has_number;
} row;

/* ---- forms ----------------------------------------------------------------------------------- */

static void write_text(const dump *d, const qp_span_thread *th, const row *r)
{
    const qp_screen *s = &d->cli->screen;
    uint64_t ns = qp_trace_view_moment(d->view, th->raw);
    uint32_t indent = 2 * r->depth < INDENT_MOST ? 2 * r->depth : INDENT_MOST;
    qp_out_format(s->out, "%10" PRIu64 ".%06" PRIu64 " ms %5" PRIu32 "  %s", ns / 1000000,
                  ns % 1000000, qp_trace_view_ordinal(d->view, th->number), r->op);
    if (r->method || *r->text)
        qp_out_repeat(s->out, ' ', OP_COLUMNS - strlen(r->op) + indent);
    if (r->method)
        qp_screen_name(s, r->method->name, 0);
    if (*r->text) {
        qp_out_text(s->out, r->method ? "  " : "");
        qp_screen_name(s, r->text, 0);
    }
    if (r->has_number)
        qp_out_format(s->out, "  %" PRId64, r->number);
    if (r->line)
        qp_out_format(s->out, "  line %" PRIu32, r->line);
    qp_out_char(s->out, '\n');
}

static void write_json(const dump *d, const qp_span_thread *th, const row *r)
{
    qp_json json;
    qp_json_init(&json, d->out);
    json.is_line = true;
    qp_json_begin(&json, NULL, '{');
    qp_json_count(&json, "at", qp_trace_view_moment(d->view, th->raw));
    qp_json_count(&json, "thread", qp_trace_view_ordinal(d->view, th->number));
    qp_json_text(&json, "op", r->op);
    if (r->method) {
        qp_json_text(&json, "method", r->method->name);
        qp_json_text(&json, "file", r->method->file);
        qp_json_count(&json, "first_line", r->method->first_line);
        qp_json_count(&json, "depth", r->depth);
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

static void write_csv(const dump *d, const qp_span_thread *th, const row *r)
{
    qp_out *out = d->out;
    qp_out_format(out, "%" PRIu64 ",%" PRIu32 ",%s,", qp_trace_view_moment(d->view, th->raw),
                  qp_trace_view_ordinal(d->view, th->number), r->op);
    qp_text_csv(out, r->method ? r->method->name : "");
    qp_out_char(out, ',');
    qp_text_csv(out, r->method ? r->method->file : "");
    qp_out_char(out, ',');
    if (r->method)
        qp_out_format(out, "%" PRIu32, r->method->first_line);
    qp_out_format(out, ",%" PRIu32 ",", r->depth);
    if (r->line)
        qp_out_format(out, "%" PRIu32, r->line);
    qp_out_char(out, ',');
    if (r->has_number)
        qp_out_format(out, "%" PRId64, r->number);
    qp_out_char(out, ',');
    qp_text_csv(out, r->text);
    qp_out_text(out, "\r\n");
}

static bool is_xbase(const dump *d)
{
    return qp_trace_about(d->view->trace)->kind == QP_TRACE_OF_XBASE;
}

static void write_row(dump *d, const qp_span_thread *th, row *r)
{
    if (is_xbase(d)) {
        r->line = r->line ? r->line : d->line;
        r->text = d->params;
    }
    if (!d->n_most || d->n_lines < d->n_most) {
        d->n_lines++;
        if (d->format == QP_FORMAT_JSON)
            write_json(d, th, r);
        else if (d->format == QP_FORMAT_CSV)
            write_csv(d, th, r);
        else
            write_text(d, th, r);
    }
    d->line = 0;
    d->params[0] = '\0';
}

/* ---- records --------------------------------------------------------------------------------- */

static row row_of(const char *op, const qp_trace_method *method, uint32_t depth)
{
    return (row){
        .op = op, .method = method, .type = "", .text = "", .comment = "", .depth = depth};
}

static void enter(void *to, qp_span_thread *th, qp_span *s)
{
    dump *d = to;
    row r = row_of("entry", qp_trace_view_method(d->view, s->method), th->depth - 1);
    if (!(s->flags & (QP_SPAN_CUT | QP_SPAN_FOREIGN)))
        write_row(d, th, &r);
}

static void leave(void *to, qp_span_thread *th, const qp_span *s, qp_span_end end)
{
    dump *d = to;
    row r = row_of(end == QP_END_RETURNED ? "exit" : "unwind",
                   qp_trace_view_method(d->view, s->method), th->depth - 1);
    bool is_recorded = end == QP_END_RETURNED || (end == QP_END_UNWOUND && !is_xbase(d));
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
    row r = row_of(ops[e->op & 15], NULL, th->depth);
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
        r.method = qp_trace_view_method(d->view,
                                        qp_names_method(qp_trace_names(d->view->trace), e->a));
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
        qp_out_text(d->out, "at,thread,op,method,file,first_line,depth,line,number,text\r\n");
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
    dump d = {.view = &view, .cli = cli, .out = &cli->out, .format = cli->args.format};
    d.n_most = cli->args.limit == UINT64_MAX ? 0 : cli->args.limit;
    if (!qp_trace_view_open(&view, cli, NULL))
        return QP_EXIT_UNUSABLE;
    begin(&d, &x);
    bool is_played = qp_trace_play_on(view.trace, &x, &view.window, &view.progress);
    qp_bar_end(&view.bar);
    qp_out_flush(&cli->out);
    if (is_played && cli->args.trace.is_followed)
        is_played = follow(&d, &x);
    int status = is_played && !view.failed ? qp_trace_view_report(&view, &x.counts)
                                           : qp_cli_fail_memory(cli);
    qp_spans_fini(&x);
    qp_trace_view_close(&view);
    return status;
}

const qp_command qp_command_trace_dump = {
    .name = "trace dump",
    .operands = "FILE [PROFILE]",
    .summary = "every record, in order",
    .about = "Prints the records of a trace, each with its time since the start of the run and "
             "the number of its thread: entry and exit; unwind, a call that did not return; "
             "call and return, announced by the caller; switch and suspend of virtual threads; "
             "markers, counters, lines, values; lost, a place where records were dropped. JSON "
             "is one object a line, with times in nanoseconds.",
    .flags = (const qp_flag[]){QP_YES("follow", 'f', trace.is_followed,
                                      "output until the program ends"),
                               QP_FLAG_THREAD, QP_TRACE_FLAGS_CALLS, QP_TRACE_FLAGS_WINDOW,
                               QP_COUNT("limit", 'n', limit, NULL, "maximum number of records"),
                               QP_FLAG_FORMAT, QP_FLAGS_COMMON},
    .examples = "qprof trace dump --since=1.5s --until=1.6s run.qtrace\n"
                "qprof trace dump --when='app.handle->*' --format=json run.qtrace\n"
                "qprof trace dump -f 4242                    a program that is running",
    .run = run_dump};
