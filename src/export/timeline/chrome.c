/* chrome.c: trace events of Chrome, on a track for each thread, virtual or not; markers are
 * instants, counters are counters. Calls of a trace: trace_events.c.
 *
 * A profile has sums where events have times, so each path begins where the one before it ends,
 * with an event each for its beginning and its end. */
#include "base/text/json.h"
#include "export/timeline/steps.h"
#include "export/timeline/trace_events.h"

typedef struct {
    const qp_steps *from;
    qp_json json;
    qp_chrome_calls *calls; /* NULL: a profile */
} chrome;

static void begin_event(chrome *c, const qp_step *s, const char *type, const char *name)
{
    qp_json_begin(&c->json, NULL, '{');
    qp_json_text(&c->json, "ph", type);
    qp_json_count(&c->json, "pid", c->from->pid);
    qp_json_count(&c->json, "tid", c->from->thread(c->from, s->thread).ordinal);
    qp_json_text(&c->json, "name", name);
}

static void write_title(chrome *c, const qp_step *s, const char *what, const char *name)
{
    begin_event(c, s, "M", what);
    qp_json_begin(&c->json, "args", '{');
    qp_json_text(&c->json, "name", name);
    qp_json_end(&c->json, '}');
    qp_json_end(&c->json, '}');
}

/* Viewers count in us; other units have no digits after the point. */
static void write_time(chrome *c, const qp_step *s)
{
    qp_json_decimal(&c->json, "ts", s->at, c->from->is_ns ? 3 : 0);
}

static void write_category(chrome *c, const qp_step_function *x)
{
    qp_json_text(&c->json, "cat", *x->module ? x->module : "function");
}

static void write_enter(chrome *c, const qp_step *s)
{
    const qp_step_function x = c->from->function(c->from, s->function);
    begin_event(c, s, "B", x.name);
    write_category(c, &x);
    write_time(c, s);
    qp_json_begin(&c->json, "args", '{');
    qp_json_text(&c->json, "file", x.file);
    qp_json_count(&c->json, "line", x.line);
    qp_json_end(&c->json, '}');
    qp_json_end(&c->json, '}');
}

/* The figures of a path are arguments of its end: readers that add up events take those with other
 * arguments at the beginning for other functions. */
static void write_figures(chrome *c, const qp_figures *f)
{
    const qp_run_info *run = &c->from->m->run;
    qp_json_begin(&c->json, "args", '{');
    if (run->has_calls)
        qp_json_count(&c->json, "calls", f->calls);
    if (run->has_times)
        qp_json_count(&c->json, "self", qp_model_ns(c->from->m, f->self));
    if (run->pc_period_ns)
        qp_json_count(&c->json, "pc_samples", f->pc_samples);
    qp_json_end(&c->json, '}');
}

static void write_leave(chrome *c, const qp_step *s)
{
    const qp_step_function x = c->from->function(c->from, s->function);
    begin_event(c, s, "E", x.name);
    if (s->f)
        write_category(c, &x);
    write_time(c, s);
    if (s->f)
        write_figures(c, s->f);
    qp_json_end(&c->json, '}');
}

static void write_other(chrome *c, const qp_step *s)
{
    begin_event(c, s, s->kind == QP_STEP_COUNTER ? "C" : "i",
                s->kind == QP_STEP_LOST ? "records lost" : s->name);
    write_time(c, s);
    if (s->kind != QP_STEP_COUNTER)
        qp_json_text(&c->json, "s", "t");
    if (s->kind != QP_STEP_MARKER) {
        qp_json_begin(&c->json, "args", '{');
        qp_json_change(&c->json, "value", (int64_t)s->value);
        qp_json_end(&c->json, '}');
    }
    qp_json_end(&c->json, '}');
}

static void take(void *to, const qp_step *s)
{
    chrome *c = to;
    if (s->kind == QP_STEP_PAUSE)
        return;
    if (!*s->data) {
        *s->data = c->calls ? (void *)qp_chrome_track_new(c->calls, s->thread) : c;
        write_title(c, s, "process_name", c->from->program);
        write_title(c, s, "thread_name", c->from->thread(c->from, s->thread).name);
    }
    if (!*s->data)
        return; /* no memory, which the end reports */
    if (c->calls && s->kind == QP_STEP_ENTER)
        qp_chrome_enter(c->calls, *s->data, s);
    else if (c->calls && s->kind == QP_STEP_LEAVE)
        qp_chrome_leave(c->calls, *s->data, s);
    else if (s->kind == QP_STEP_ENTER)
        write_enter(c, s);
    else if (s->kind == QP_STEP_LEAVE)
        write_leave(c, s);
    else
        write_other(c, s);
}

bool qp_trace_export_chrome(const qp_steps *from, qp_out *out)
{
    chrome c = {.from = from};
    qp_json_init(&c.json, out);
    if (!from->m && !(c.calls = qp_chrome_calls_new(from, &c.json)))
        return false;
    qp_json_begin(&c.json, NULL, '{');
    qp_json_begin(&c.json, "traceEvents", '[');
    bool is_played = from->play(from, take, &c);
    if (c.calls)
        is_played &= qp_chrome_calls_end(c.calls);
    qp_chrome_calls_free(c.calls);
    qp_json_end(&c.json, ']');
    qp_json_text(&c.json, "displayTimeUnit", "ns");
    qp_json_begin(&c.json, "otherData", '{');
    qp_json_text(&c.json, "creator", "qprof " QPROF_VERSION_TEXT);
    if (from->m)
        qp_json_text(&c.json, "unit", qp_measure_unit(from->measure, from->m));
    qp_json_end(&c.json, '}');
    qp_json_end(&c.json, '}');
    return is_played;
}

bool qp_export_chrome(const qp_model *m, qp_out *out, const qp_export_options *o,
                      qp_error *error)
{
    return qp_steps_of_profile(m, o, out, qp_trace_export_chrome, error);
}
