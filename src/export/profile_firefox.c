/* profile_firefox.c: a processed profile of the Firefox Profiler, in the shape of its version 47, which
 * later ones upgrade when they load it. A sample a call path, as heavy as its own time.
 *
 * Every thread has tables of its own: of strings (first a function's name, then its file), functions,
 * frames (one for each function) and stacks (one for each path). */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "export/profile.h"
#include "export/steps.h"

enum { PROCESSED_VERSION = 47, GECKO_VERSION = 28, CATEGORY = 0 };

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

/* ---- columns --------------------------------------------------------------------------------- */

static void write_same(qp_json *json, const char *key, size_t n, int64_t value)
{
    qp_json_begin(json, key, '[');
    for (size_t i = 0; i < n; i++)
        qp_json_change(json, NULL, value);
    qp_json_end(json, ']');
}

static void write_nulls(qp_json *json, const char *key, size_t n)
{
    qp_json_begin(json, key, '[');
    for (size_t i = 0; i < n; i++)
        qp_json_null(json, NULL);
    qp_json_end(json, ']');
}

static void write_flags(qp_json *json, const char *key, size_t n)
{
    qp_json_begin(json, key, '[');
    for (size_t i = 0; i < n; i++)
        qp_json_bool(json, NULL, false);
    qp_json_end(json, ']');
}

/* first, first + step, ... */
static void write_series(qp_json *json, const char *key, size_t n, size_t first, size_t step)
{
    qp_json_begin(json, key, '[');
    for (size_t i = 0; i < n; i++)
        qp_json_count(json, NULL, first + step * i);
    qp_json_end(json, ']');
}

static void write_lines(firefox *x, const char *key)
{
    qp_json_begin(&x->json, key, '[');
    for (size_t i = 0; i < x->used.n; i++) {
        uint32_t line = used_method(x, i)->first_line;
        if (line)
            qp_json_count(&x->json, NULL, line);
        else
            qp_json_null(&x->json, NULL);
    }
    qp_json_end(&x->json, ']');
}

static void write_empty(qp_json *json, const char *table, const char *const *columns, size_t n)
{
    qp_json_begin(json, table, '{');
    for (size_t i = 0; i < n; i++)
        write_same(json, columns[i], 0, 0);
    qp_json_count(json, "length", 0);
    qp_json_end(json, '}');
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void write_strings(firefox *x)
{
    qp_json_begin(&x->json, "stringArray", '[');
    for (size_t i = 0; i < x->used.n; i++) {
        qp_json_text(&x->json, NULL, used_method(x, i)->name);
        qp_json_text(&x->json, NULL, used_method(x, i)->file);
    }
    qp_json_end(&x->json, ']');
}

static void write_functions(firefox *x)
{
    size_t n = x->used.n;
    qp_json_begin(&x->json, "funcTable", '{');
    write_series(&x->json, "name", n, 0, 2);
    write_flags(&x->json, "isJS", n);
    write_flags(&x->json, "relevantForJS", n);
    write_same(&x->json, "resource", n, -1);
    write_series(&x->json, "fileName", n, 1, 2);
    write_lines(x, "lineNumber");
    write_nulls(&x->json, "columnNumber", n);
    qp_json_count(&x->json, "length", n);
    qp_json_end(&x->json, '}');
}

static void write_frames(firefox *x)
{
    size_t n = x->used.n;
    qp_json_begin(&x->json, "frameTable", '{');
    write_same(&x->json, "address", n, -1);
    write_same(&x->json, "inlineDepth", n, 0);
    write_same(&x->json, "category", n, CATEGORY);
    write_same(&x->json, "subcategory", n, 0);
    write_series(&x->json, "func", n, 0, 1);
    write_nulls(&x->json, "nativeSymbol", n);
    write_same(&x->json, "innerWindowID", n, 0);
    write_nulls(&x->json, "implementation", n);
    write_lines(x, "line");
    write_nulls(&x->json, "column", n);
    write_nulls(&x->json, "optimizations", n);
    qp_json_count(&x->json, "length", n);
    qp_json_end(&x->json, '}');
}

static void write_stacks(firefox *x)
{
    const qp_model_node *nodes = x->m->nodes;
    size_t n = x->paths.n;
    qp_json_begin(&x->json, "stackTable", '{');
    qp_json_begin(&x->json, "frame", '[');
    for (size_t i = 0; i < n; i++)
        qp_json_count(&x->json, NULL, x->place[nodes[item(&x->paths, i)].method] - 1);
    qp_json_end(&x->json, ']');
    qp_json_begin(&x->json, "prefix", '[');
    for (size_t i = 0; i < n; i++) {
        uint32_t caller = x->stack[nodes[item(&x->paths, i)].parent];
        if (caller)
            qp_json_count(&x->json, NULL, caller - 1);
        else
            qp_json_null(&x->json, NULL);
    }
    qp_json_end(&x->json, ']');
    write_same(&x->json, "category", n, CATEGORY);
    write_same(&x->json, "subcategory", n, 0);
    qp_json_count(&x->json, "length", n);
    qp_json_end(&x->json, '}');
}

static void write_samples(firefox *x)
{
    size_t n = x->paths.n;
    uint64_t at = 0;
    qp_json_begin(&x->json, "samples", '{');
    write_series(&x->json, "stack", n, 0, 1);
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

static void write_thread_head(firefox *x, uint32_t thread)
{
    char pid[24], tid[48];
    qp_json *json = &x->json;
    qp_text_format(pid, sizeof pid, "%" PRIu64, x->m->run.pid);
    qp_text_format(tid, sizeof tid, "%s.%" PRIu32, pid, x->m->threads[thread].ordinal);
    qp_json_text(json, "processType", "default");
    qp_json_count(json, "processStartupTime", 0);
    qp_json_null(json, "processShutdownTime");
    qp_json_count(json, "registerTime", 0);
    qp_json_null(json, "unregisterTime");
    write_same(json, "pausedRanges", 0, 0);
    qp_json_text(json, "name", x->m->threads[thread].name);
    qp_json_bool(json, "isMainThread", thread == 1);
    qp_json_text(json, "pid", pid);
    qp_json_text(json, "tid", tid);
}

static void write_thread(firefox *x, uint32_t thread)
{
    static const char *const markers[] = {"data",    "name",  "startTime",
                                          "endTime", "phase", "category"};
    static const char *const resources[] = {"lib", "name", "host", "type"};
    static const char *const symbols[] = {"libIndex", "address", "name", "functionSize"};
    qp_json_begin(&x->json, NULL, '{');
    write_thread_head(x, thread);
    write_samples(x);
    write_empty(&x->json, "markers", markers, sizeof markers / sizeof *markers);
    write_stacks(x);
    write_frames(x);
    write_functions(x);
    write_strings(x);
    write_empty(&x->json, "resourceTable", resources, sizeof resources / sizeof *resources);
    write_empty(&x->json, "nativeSymbols", symbols, sizeof symbols / sizeof *symbols);
    qp_json_end(&x->json, '}');
}

static void write_meta(firefox *x)
{
    qp_json *json = &x->json;
    qp_json_begin(json, "meta", '{');
    qp_json_decimal(json, "interval", 1, 3); /* how long the last sample is drawn, ms */
    qp_json_decimal(json, "startTime", x->m->run.started_at, 6);
    qp_json_count(json, "processType", 0);
    qp_json_text(json, "product", x->m->run.program);
    qp_json_text(json, "importedFrom", "qprof " QPROF_VERSION_TEXT);
    qp_json_count(json, "stackwalk", 1);
    qp_json_count(json, "version", GECKO_VERSION);
    qp_json_count(json, "preprocessedProfileVersion", PROCESSED_VERSION);
    qp_json_bool(json, "symbolicated", true);
    qp_json_begin(json, "categories", '[');
    qp_json_begin(json, NULL, '{');
    qp_json_text(json, "name", "Function");
    qp_json_text(json, "color", "blue");
    qp_json_begin(json, "subcategories", '[');
    qp_json_text(json, NULL, "Other");
    qp_json_end(json, ']');
    qp_json_end(json, '}');
    qp_json_end(json, ']');
    write_same(json, "markerSchema", 0, 0);
    qp_json_end(json, '}');
}

static bool write_all(firefox *x, const qp_export_options *o)
{
    bool is_good = true;
    qp_json_begin(&x->json, NULL, '{');
    write_meta(x);
    write_same(&x->json, "libs", 0, 0);
    write_same(&x->json, "pages", 0, 0);
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
