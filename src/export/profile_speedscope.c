/* profile_speedscope.c: JSON of speedscope: a profile a thread, in which every call path opens once
 * and is closed when its time and that of its callees is over. */
#include "base/json.h"
#include "export/profile.h"

/* A walk over the tree of a thread. */
typedef struct {
    qp_json *json;
    const qp_model *m;
    bool is_calls;
    uint64_t at; /* ticks, or calls, of what was opened so far */
} walk;

static uint64_t value_of(const walk *w)
{
    return w->is_calls ? w->at : qp_model_ns(w->m, w->at);
}

static void write_event(walk *w, const char *type, uint32_t node)
{
    qp_json_begin(w->json, NULL, '{');
    qp_json_text(w->json, "type", type);
    qp_json_count(w->json, "frame", w->m->nodes[node].method - 1);
    qp_json_count(w->json, "at", value_of(w));
    qp_json_end(w->json, '}');
}

static void close_path(walk *w, uint32_t node)
{
    const qp_figures *f = &w->m->nodes[node].f;
    w->at += w->is_calls ? f->calls : f->self;
    write_event(w, "C", node);
}

/* Without recursion: trees may be millions of levels deep. */
static void write_events(walk *w, uint32_t root)
{
    const qp_model_node *nodes = w->m->nodes;
    uint32_t i = root;
    do {
        while (nodes[i].first_child) {
            i = nodes[i].first_child;
            write_event(w, "O", i);
        }
        for (uint32_t next = 0; i != root && !next; i = next ? next : nodes[i].parent) {
            close_path(w, i);
            next = nodes[i].next_sibling;
            if (next)
                write_event(w, "O", next);
        }
    } while (i != root);
}

static void write_profile(qp_json *json, const qp_model *m, uint32_t thread, bool is_calls)
{
    bool is_ns = !is_calls && m->run.unit[0] == 'n';
    walk w = {json, m, is_calls, 0};
    qp_json_begin(json, NULL, '{');
    qp_json_text(json, "type", "evented");
    qp_json_text(json, "name", m->threads[thread].name);
    qp_json_text(json, "unit", is_ns ? "nanoseconds" : "none");
    qp_json_count(json, "startValue", 0);
    qp_json_begin(json, "events", '[');
    write_events(&w, m->threads[thread].root);
    qp_json_end(json, ']');
    qp_json_count(json, "endValue", value_of(&w));
    qp_json_end(json, '}');
}

static void write_frames(qp_json *json, const qp_model *m)
{
    qp_json_begin(json, "shared", '{');
    qp_json_begin(json, "frames", '[');
    for (uint32_t i = 1; i < m->n_methods; i++) {
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

static bool write(const qp_model *m, qp_out *out, const qp_export_options *o,
                  char error[QP_ERROR_BYTES])
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
            write_profile(&json, m, i, o->is_calls || !m->run.has_times);
    qp_json_end(&json, ']');
    qp_json_end(&json, '}');
    return true;
}

const qp_exporter qp_export_speedscope = {.name = "speedscope",
                                          .suffix = ".speedscope.json",
                                          .summary = "speedscope, a flame graph in the browser",
                                          .limits = "calls beside times, lines of calls",
                                          .write = write};
