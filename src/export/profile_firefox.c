/* profile_firefox.c: a processed profile of the Firefox Profiler: a sample a call path, as heavy as its
 * own time. */
#include "base/alloc.h"
#include "base/buf.h"
#include "export/firefox.h"
#include "export/profile.h"
#include "export/steps.h"

typedef struct {
    const qp_model *m;
    qp_json json;
    qp_measure measure;
    unsigned n_digits; /* of the run's unit behind the point of a millisecond */
    qp_buf paths;      /* uint32_t: of this thread, callers before callees */
    qp_buf used;       /* uint32_t: its methods */
    uint32_t *stack;   /* [n_nodes] place of a path in the thread's paths + 1; 0: none */
    uint32_t *place;   /* [n_methods] place in used + 1; 0: not used */
} firefox;

static uint32_t item(const qp_buf *b, size_t i)
{
    return ((const uint32_t *)b->items)[i];
}

static const qp_model_method *used_method(const firefox *x, size_t i)
{
    return &x->m->methods[item(&x->used, i)];
}

static void write_samples(firefox *x)
{
    size_t n = x->paths.n;
    uint64_t at = 0;
    qp_json_begin(&x->json, "samples", '{');
    qp_firefox_series(&x->json, "stack", n, 0, 1);
    qp_json_begin(&x->json, "time", '[');
    for (size_t i = 0; i < n; i++) {
        qp_json_decimal(&x->json, NULL, at, x->n_digits);
        at += qp_path_own(x->m, item(&x->paths, i), x->measure);
    }
    qp_json_end(&x->json, ']');
    qp_json_begin(&x->json, "weight", '[');
    for (size_t i = 0; i < n; i++)
        qp_json_decimal(&x->json, NULL, qp_path_own(x->m, item(&x->paths, i), x->measure),
                        x->n_digits);
    qp_json_end(&x->json, ']');
    qp_json_text(&x->json, "weightType", x->n_digits ? "tracing-ms" : "samples");
    qp_json_count(&x->json, "length", n);
    qp_json_end(&x->json, '}');
}

/* ---- threads --------------------------------------------------------------------------------- */

/* @return false: no memory */
static bool find_paths(firefox *x, uint32_t thread)
{
    for (size_t i = 0; i < x->used.n; i++)
        x->place[item(&x->used, i)] = 0;
    x->used.n = 0;
    qp_steps_paths(x->m, thread, x->measure, &x->paths);
    for (size_t i = 0; i < x->paths.n; i++) {
        uint32_t path = item(&x->paths, i), method = x->m->nodes[path].method;
        uint32_t *used = x->place[method] ? NULL : qp_buf_add(&x->used);
        if (used) {
            *used = method;
            x->place[method] = (uint32_t)x->used.n;
        }
        x->stack[path] = (uint32_t)i + 1;
    }
    return !x->paths.failed && !x->used.failed;
}

static qp_firefox_function function_of(const void *of, size_t i)
{
    const qp_model_method *m = used_method(of, i);
    return (qp_firefox_function){m->name, m->file, m->first_line};
}

static qp_firefox_stack stack_of(const void *of, size_t i)
{
    const firefox *x = of;
    const qp_model_node *n = &x->m->nodes[item(&x->paths, i)];
    return (qp_firefox_stack){x->place[n->method] - 1, x->stack[n->parent]};
}

static void write_thread(firefox *x, uint32_t thread)
{
    const qp_firefox_tables tables = {x, x->used.n, x->paths.n, function_of, stack_of};
    const qp_model_thread *th = &x->m->threads[thread];
    qp_json_begin(&x->json, NULL, '{');
    qp_firefox_thread(&x->json, x->m->run.pid, th->ordinal, th->name, thread == 1);
    write_samples(x);
    qp_firefox_write(&x->json, &tables);
    qp_json_end(&x->json, '}');
}

static bool write_all(firefox *x, const qp_export_options *o)
{
    bool is_good = true;
    qp_json_begin(&x->json, NULL, '{');
    qp_firefox_meta(&x->json, x->m->run.program, x->m->run.started_at);
    qp_json_begin(&x->json, "threads", '[');
    for (uint32_t i = 1; is_good && i < x->m->n_threads; i++) {
        if (!qp_export_has_thread(x->m, i, o))
            continue;
        is_good = find_paths(x, i);
        if (is_good && x->paths.n) /* a thread without samples is refused */
            write_thread(x, i);
    }
    qp_json_end(&x->json, ']');
    qp_json_end(&x->json, '}');
    return is_good;
}

static bool write(const qp_model *m, qp_out *out, const qp_export_options *o,
                  char error[QP_ERROR_BYTES])
{
    firefox x = {.m = m, .measure = qp_export_measure(m, o)};
    x.n_digits = qp_measure_is_ns(x.measure, m) ? 6 : 0;
    qp_json_init(&x.json, out);
    qp_buf_init(&x.paths, sizeof(uint32_t));
    qp_buf_init(&x.used, sizeof(uint32_t));
    x.stack = qp_alloc_zeroed(m->n_nodes, sizeof *x.stack);
    x.place = qp_alloc_zeroed(m->n_methods, sizeof *x.place);
    bool is_written = x.stack && x.place && write_all(&x, o);
    qp_free(x.paths.items);
    qp_free(x.used.items);
    qp_free(x.stack);
    qp_free(x.place);
    return is_written || qp_export_fails(error);
}

const qp_exporter qp_export_firefox = {.name = "firefox",
                                       .suffix = ".firefox.json",
                                       .summary = "profiler.firefox.com: a processed profile",
                                       .limits = "calls and interrupts beside times, lines "
                                                 "within functions",
                                       .has_measure = true,
                                       .has_samples = true,
                                       .write = write};
