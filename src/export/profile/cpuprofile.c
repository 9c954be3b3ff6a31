/* cpuprofile.c: .cpuprofile of V8 (type Profiler.Profile of the DevTools protocol): a node a
 * call path, and a sample for each that has self time. The format knows one thread: of several, each
 * is a function below the root.
 *
 * Readers take for a node's self time its hits, as a part of all, or the times between samples. Both
 * are given: a hit is a unit of the run. */
#include <inttypes.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/text/buf.h"
#include "base/text/json.h"
#include "export/shared/profile.h"

enum { ROOT_ID = 1 }; /* path i has the id i + 1 */

typedef struct {
    const qp_model *m;
    qp_json json;
    qp_measure measure;
    unsigned n_digits; /* digits of a microsecond after the point, in the run's unit */
    qp_buf paths;      /* uint32_t: what is written; a thread comes before its paths */
    qp_dict scripts;   /* name of a file -> its number */
    qp_shares shares;
} cpuprofile;

/* ---- nodes ----------------------------------------------------------------------------------- */

/* @return 0: none */
static uint32_t script_of(cpuprofile *x, const char *file)
{
    uint64_t key = qp_hash_bytes(QP_HASH_START, file, strlen(file));
    uint32_t number = *file ? qp_dict_get(&x->scripts, key) : 0;
    if (*file && !number) {
        number = (uint32_t)x->scripts.n + 1;
        x->paths.failed |= !qp_dict_put(&x->scripts, key, number);
    }
    return number;
}

static void write_frame(cpuprofile *x, const char *name, const char *file, uint32_t line)
{
    char script[16];
    qp_text_format(script, sizeof script, "%" PRIu32, script_of(x, file));
    qp_json_begin(&x->json, "callFrame", '{');
    qp_json_text(&x->json, "functionName", name);
    qp_json_text(&x->json, "scriptId", script);
    qp_json_text(&x->json, "url", file);
    qp_json_change(&x->json, "lineNumber", (int64_t)line - 1);
    qp_json_change(&x->json, "columnNumber", line ? 0 : -1);
    qp_json_end(&x->json, '}');
}

static void write_tick(cpuprofile *x, uint32_t line, uint64_t ticks)
{
    if (!line || !ticks)
        return;
    qp_json_begin(&x->json, NULL, '{');
    qp_json_count(&x->json, "line", line);
    qp_json_count(&x->json, "ticks", qp_measure_units(x->measure, x->m, ticks));
    qp_json_end(&x->json, '}');
}

static void write_lines(cpuprofile *x, uint32_t path)
{
    const qp_model_node *n = &x->m->nodes[path];
    uint64_t self = qp_measure_self(x->measure, &n->f), part;
    uint32_t line;
    qp_json_begin(&x->json, "positionTicks", '[');
    while (x->measure == QP_MEASURE_TIME &&
           qp_shares_next(&x->shares, n->method, QP_ALL_THREADS, self, &line, &part)) {
        write_tick(x, line, part);
        self -= part;
    }
    write_tick(x, x->m->methods[n->method].first_line, self);
    qp_json_end(&x->json, ']');
}

static void write_node(cpuprofile *x, uint32_t path)
{
    const qp_model_node *n = &x->m->nodes[path];
    const qp_model_method *method = &x->m->methods[n->method];
    bool is_thread = n->method == QP_ROOT_METHOD;
    qp_json_begin(&x->json, NULL, '{');
    qp_json_count(&x->json, "id", (uint64_t)path + 1);
    write_frame(x, is_thread ? qp_export_thread_name(x->m, n->thread) : method->name,
                method->file, method->first_line);
    qp_json_count(&x->json, "hitCount", qp_path_self(x->m, path, x->measure));
    qp_json_begin(&x->json, "children", '[');
    for (uint32_t i = n->first_child; i; i = x->m->nodes[i].next_sibling)
        qp_json_count(&x->json, NULL, (uint64_t)i + 1);
    qp_json_end(&x->json, ']');
    if (!is_thread)
        write_lines(x, path);
    qp_json_end(&x->json, '}');
}

static void write_root(cpuprofile *x, const qp_export_options *o)
{
    qp_json_begin(&x->json, NULL, '{');
    qp_json_count(&x->json, "id", ROOT_ID);
    write_frame(x, "(root)", "", 0);
    qp_json_count(&x->json, "hitCount", 0);
    qp_json_begin(&x->json, "children", '[');
    for (uint32_t i = 1; i < x->m->n_threads; i++)
        if (qp_export_has_thread(x->m, i, o))
            qp_json_count(&x->json, NULL, (uint64_t)x->m->threads[i].root + 1);
    qp_json_end(&x->json, ']');
    qp_json_end(&x->json, '}');
}

/* ---- samples --------------------------------------------------------------------------------- */

/* A time precedes the sample that it ends in: the last sample is of the root. */
static void write_samples(cpuprofile *x)
{
    const uint32_t *paths = x->paths.items;
    uint64_t sum = 0;
    qp_json_begin(&x->json, "samples", '[');
    for (size_t i = 0; i < x->paths.n; i++)
        if (qp_path_self(x->m, paths[i], x->measure))
            qp_json_count(&x->json, NULL, (uint64_t)paths[i] + 1);
    qp_json_count(&x->json, NULL, ROOT_ID);
    qp_json_end(&x->json, ']');
    qp_json_begin(&x->json, "timeDeltas", '[');
    qp_json_count(&x->json, NULL, 0);
    for (size_t i = 0; i < x->paths.n; i++) {
        uint64_t self = qp_path_self(x->m, paths[i], x->measure);
        if (self)
            qp_json_decimal(&x->json, NULL, self, x->n_digits);
        sum += self;
    }
    qp_json_end(&x->json, ']');
    qp_json_count(&x->json, "startTime", 0);
    qp_json_decimal(&x->json, "endTime", sum, x->n_digits);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void find_paths(cpuprofile *x, const qp_export_options *o)
{
    for (uint32_t i = 1; i < x->m->n_nodes; i++) {
        const qp_model_node *n = &x->m->nodes[i];
        uint32_t *path =
            qp_export_has_thread(x->m, n->thread, o) ? qp_buf_add(&x->paths) : NULL;
        if (path)
            *path = i;
    }
}

bool qp_export_cpuprofile(const qp_model *m, qp_out *out, const qp_export_options *o,
                          qp_error *error)
{
    cpuprofile x = {.m = m, .measure = qp_export_measure(m, o), .paths = QP_BUF(uint32_t)};
    x.n_digits = qp_measure_is_ns(x.measure, m) ? 3 : 0;
    qp_json_init(&x.json, out);
    qp_shares_init(&x.shares, m);
    find_paths(&x, o);
    qp_json_begin(&x.json, NULL, '{');
    qp_json_begin(&x.json, "nodes", '[');
    write_root(&x, o);
    for (size_t i = 0; i < x.paths.n; i++)
        write_node(&x, ((const uint32_t *)x.paths.items)[i]);
    qp_json_end(&x.json, ']');
    write_samples(&x);
    qp_json_end(&x.json, '}');
    bool is_written = !x.shares.failed && !x.paths.failed;
    qp_shares_fini(&x.shares);
    qp_free(x.paths.items);
    qp_dict_fini(&x.scripts);
    return is_written || qp_error_fail(error, "out of memory");
}
