/* speedscope.c: JSON of speedscope: a profile a thread, in which every call path opens once
 * and is closed when its time and that of its callees is over. */
#include "base/text/json.h"
#include "base/text/text.h"
#include "export/shared/profile.h"

/* Those of bytes and of a metric follow that of time. */
static void write_profile_name(qp_json *json, const qp_model *m, const char *thread,
                               qp_measure measure)
{
    char name[640];
    const bool is_apart = measure == QP_MEASURE_BYTES || measure == QP_MEASURE_METRIC;
    qp_text_format(name, sizeof name, "%.480s, %s", thread,
                   measure == QP_MEASURE_BYTES ? "bytes" : qp_export_measure_name(m, measure));
    qp_json_text(json, "name", is_apart ? name : thread);
}

static void write_profile(qp_json *json, const qp_model *m, uint32_t thread, qp_measure measure)
{
    qp_path_walk s;
    qp_path_walk_init(&s, m, thread, measure);
    qp_json_begin(json, NULL, '{');
    qp_json_text(json, "type", "evented");
    write_profile_name(json, m, qp_export_thread_name(m, thread), measure);
    qp_json_text(json, "unit",
                 qp_measure_is_ns(measure, m)  ? "nanoseconds"
                 : measure == QP_MEASURE_BYTES ? "bytes"
                                               : "none");
    qp_json_count(json, "startValue", 0);
    qp_json_begin(json, "events", '[');
    while (qp_path_walk_next(&s)) {
        qp_json_begin(json, NULL, '{');
        qp_json_text(json, "type", s.walk.is_entry ? "O" : "C");
        qp_json_count(json, "frame", m->nodes[s.walk.node].method);
        qp_json_count(json, "at", qp_path_walk_at(&s));
        qp_json_end(json, '}');
    }
    qp_json_end(json, ']');
    qp_json_count(json, "endValue", qp_path_walk_at(&s));
    qp_json_end(json, '}');
}

static void write_others(qp_json *json, const qp_model *m, uint32_t thread, qp_measure measure)
{
    const qp_export_options o = {.thread = thread, .measure = measure};
    for (uint32_t i = 1; i < m->n_threads; i++)
        if (qp_export_has_thread(m, i, &o))
            write_profile(json, m, i, measure);
}

static void write_frames(qp_json *json, const qp_model *m)
{
    qp_json_begin(json, "shared", '{');
    qp_json_begin(json, "frames", '[');
    for (uint32_t i = 0; i < m->n_methods; i++) { /* .root. is one: it may have self time */
        const qp_model_method *x = &m->methods[i];
        qp_json_begin(json, NULL, '{');
        qp_json_text(json, "name", x->name);
        if (x->file[0])
            qp_json_text(json, "file", x->file);
        if (x->first_line)
            qp_json_count(json, "line", x->first_line);
        qp_json_end(json, '}');
    }
    qp_json_end(json, ']');
    qp_json_end(json, '}');
}

bool qp_export_speedscope(const qp_model *m, qp_out *out, const qp_export_options *o,
                          qp_error *error)
{
    qp_json json;
    (void)error;
    qp_json_init(&json, out);
    qp_json_begin(&json, NULL, '{');
    qp_json_text(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    qp_json_text(&json, "name", m->run.program);
    qp_json_text(&json, "exporter", "qprof " QPROF_VERSION_TEXT);
    qp_json_count(&json, "activeProfileIndex", 0);
    write_frames(&json, m);
    qp_json_begin(&json, "profiles", '[');
    for (uint32_t i = 1; i < m->n_threads; i++)
        if (qp_export_has_thread(m, i, o))
            write_profile(&json, m, i, qp_export_measure(m, o));
    if (o->measure == QP_MEASURE_TIME && m->run.has_memory)
        write_others(&json, m, o->thread, QP_MEASURE_BYTES);
    if (o->measure == QP_MEASURE_TIME && m->run.metric)
        write_others(&json, m, o->thread, QP_MEASURE_METRIC);
    qp_json_end(&json, ']');
    qp_json_end(&json, '}');
    return true;
}
