/* profile_chrome.c: trace events of Chrome: a beginning and an end for each call path, on a track for
 * each thread, virtual or not.
 *
 * Events have a time and we have sums, so each path begins where the one before it ends. */
#include "base/json.h"
#include "export/profile.h"
#include "export/steps.h"

static void begin_event(qp_json *json, const qp_model *m, uint32_t thread, const char *type,
                        const char *name)
{
    qp_json_begin(json, NULL, '{');
    qp_json_text(json, "ph", type);
    qp_json_count(json, "pid", m->run.pid);
    qp_json_count(json, "tid", m->threads[thread].ordinal);
    qp_json_text(json, "name", name);
}

/* What a track, or all of them, are called. */
static void write_title(qp_json *json, const qp_model *m, uint32_t thread, const char *what,
                        const char *name)
{
    begin_event(json, m, thread, "M", what);
    qp_json_begin(json, "args", '{');
    qp_json_text(json, "name", name);
    qp_json_end(json, '}');
    qp_json_end(json, '}');
}

/* Where the function is at its beginning, the figures of the path at its end: readers that add up
 * events take those with other arguments at the beginning for other functions. */
static void write_args(qp_json *json, const qp_model *m, const qp_steps *s)
{
    const qp_model_node *n = &m->nodes[s->node];
    const qp_model_method *x = &m->methods[n->method];
    qp_json_begin(json, "args", '{');
    if (s->is_entry) {
        qp_json_text(json, "file", x->file);
        qp_json_count(json, "line", x->first_line);
    } else {
        if (m->run.has_calls)
            qp_json_count(json, "calls", n->f.calls);
        if (m->run.has_times)
            qp_json_count(json, "self", qp_model_ns(m, n->f.self));
        if (m->run.pc_period_ns)
            qp_json_count(json, "interrupts", n->f.interrupts);
    }
    qp_json_end(json, '}');
}

static void write_thread(qp_json *json, const qp_model *m, uint32_t thread, qp_measure measure)
{
    qp_steps s;
    qp_steps_init(&s, m, thread, measure);
    while (qp_steps_next(&s)) {
        const qp_model_method *x = &m->methods[m->nodes[s.node].method];
        begin_event(json, m, thread, s.is_entry ? "B" : "E", x->name);
        qp_json_text(json, "cat", *x->module ? x->module : "function");
        qp_json_decimal(json, "ts", qp_steps_at(&s), qp_measure_is_ns(measure, m) ? 3 : 0);
        write_args(json, m, &s);
        qp_json_end(json, '}');
    }
}

static bool write(const qp_model *m, qp_out *out, const qp_export_options *o,
                  char error[QP_ERROR_BYTES])
{
    qp_json json;
    qp_measure measure = qp_export_measure(m, o);
    (void)error;
    qp_json_init(&json, out);
    qp_json_begin(&json, NULL, '{');
    qp_json_begin(&json, "traceEvents", '[');
    for (uint32_t i = 1; i < m->n_threads; i++)
        if (qp_export_has_thread(m, i, o)) {
            write_title(&json, m, i, "process_name", m->run.program);
            write_title(&json, m, i, "thread_name", m->threads[i].name);
            write_thread(&json, m, i, measure);
        }
    qp_json_end(&json, ']');
    qp_json_text(&json, "displayTimeUnit", "ns");
    qp_json_begin(&json, "otherData", '{');
    qp_json_text(&json, "creator", "qprof " QPROF_VERSION_TEXT);
    qp_json_text(&json, "unit", qp_measure_unit(measure, m));
    qp_json_end(&json, '}');
    qp_json_end(&json, '}');
    return true;
}

const qp_exporter qp_export_chrome = {
    .name = "chrome",
    .suffix = ".trace.json",
    .summary = "trace events: Perfetto, Chrome's developer tools, speedscope",
    .limits = "lines within functions, units other than time (1 is shown as 1 us)",
    .has_measure = true,
    .has_samples = true,
    .write = write};
