/* trace_chrome.c: trace events of Chrome: a beginning and an end for each call, on a track for each
 * thread, virtual or not; marks are instants, counters are counters. */
#include "base/json.h"
#include "export/trace.h"

typedef struct {
    qp_trace_export *x;
    qp_json json;
} chrome;

static void begin_event(chrome *c, const qp_span_thread *th, const char *type, const char *name)
{
    const qp_names *names = qp_trace_names(c->x->trace);
    qp_json_begin(&c->json, NULL, '{');
    qp_json_text(&c->json, "ph", type);
    qp_json_count(&c->json, "pid", qp_trace_about(c->x->trace)->pid);
    qp_json_count(&c->json, "tid", qp_names_thread_at(names, th->number)->ordinal);
    qp_json_text(&c->json, "name", name);
}

static void write_title(chrome *c, const qp_span_thread *th, const char *what, const char *name)
{
    begin_event(c, th, "M", what);
    qp_json_begin(&c->json, "args", '{');
    qp_json_text(&c->json, "name", name);
    qp_json_end(&c->json, '}');
    qp_json_end(&c->json, '}');
}

static void write_titles(chrome *c, qp_span_thread *th)
{
    const qp_names *names = qp_trace_names(c->x->trace);
    if (th->own)
        return;
    th->own = c;
    write_title(c, th, "process_name", qp_trace_about(c->x->trace)->program);
    write_title(c, th, "thread_name", qp_names_thread_at(names, th->number)->name);
}

static void write_time(chrome *c, uint64_t ns)
{
    qp_json_decimal(&c->json, "ts", ns, 3); /* us */
}

static uint64_t now(const chrome *c, const qp_span_thread *th)
{
    return qp_trace_moment(qp_trace_about(c->x->trace), th->raw);
}

static void enter(void *to, qp_span_thread *th, qp_span *s)
{
    chrome *c = to;
    const qp_trace_method *m = qp_names_method_at(qp_trace_names(c->x->trace), s->method);
    write_titles(c, th);
    begin_event(c, th, "B", m->name);
    qp_json_text(&c->json, "cat", *m->module ? m->module : "function");
    write_time(c, qp_trace_export_begin(c->x, s));
    qp_json_begin(&c->json, "args", '{');
    qp_json_text(&c->json, "file", m->file);
    qp_json_count(&c->json, "line", m->first_line);
    qp_json_end(&c->json, '}');
    qp_json_end(&c->json, '}');
}

static void leave(void *to, qp_span_thread *th, const qp_span *s, qp_span_end end)
{
    chrome *c = to;
    const qp_trace_method *m = qp_names_method_at(qp_trace_names(c->x->trace), s->method);
    (void)end;
    begin_event(c, th, "E", m->name);
    write_time(c, now(c, th));
    qp_json_end(&c->json, '}');
}

static void tell(void *to, qp_span_thread *th, const qp_span_event *e)
{
    chrome *c = to;
    if (e->op != QP_TRACE_MARK && e->op != QP_TRACE_COUNTER && e->op != QP_TRACE_LOST)
        return;
    write_titles(c, th);
    begin_event(c, th, e->op == QP_TRACE_COUNTER ? "C" : "i",
                e->name ? e->name : "records lost");
    write_time(c, now(c, th));
    if (e->op != QP_TRACE_COUNTER)
        qp_json_text(&c->json, "s", "t");
    if (e->op != QP_TRACE_MARK) {
        qp_json_begin(&c->json, "args", '{');
        qp_json_change(&c->json, "value", (int64_t)e->value);
        qp_json_end(&c->json, '}');
    }
    qp_json_end(&c->json, '}');
}

static bool write(qp_trace_export *x, qp_out *out)
{
    chrome c = {.x = x};
    const qp_span_sink sink = {&c, enter, leave, tell};
    qp_json_init(&c.json, out);
    qp_json_begin(&c.json, NULL, '{');
    qp_json_begin(&c.json, "traceEvents", '[');
    bool is_played = qp_trace_export_play(x, &sink);
    qp_json_end(&c.json, ']');
    qp_json_text(&c.json, "displayTimeUnit", "ns");
    qp_json_begin(&c.json, "otherData", '{');
    qp_json_text(&c.json, "creator", "qprof " QPROF_VERSION_TEXT);
    qp_json_end(&c.json, '}');
    qp_json_end(&c.json, '}');
    return is_played;
}

const qp_trace_exporter qp_trace_export_chrome = {
    .name = "chrome",
    .suffix = ".trace.json",
    .summary = "trace events: Perfetto, Chrome's developer tools, speedscope, Firefox",
    .write = write};
