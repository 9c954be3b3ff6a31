/* profile_json.c: the whole profile as one JSON document, docs/schema/export.json: the run, its
 * threads, its methods with their blocks, and every call path. */
#include "base/alloc.h"
#include "base/json.h"
#include "export/profile.h"
#include "export/run_json.h"
#include "model/lines.h"

/* @return false: no memory */
static bool write_blocks(qp_json *json, const qp_model *m, uint32_t method, uint32_t thread)
{
    qp_block_figures *blocks;
    size_t n;
    if (!qp_model_blocks(m, method, thread, &blocks, &n))
        return false;
    qp_json_begin(json, "blocks", '[');
    for (size_t i = 0; i < n; i++) {
        const qp_block_figures *b = &blocks[i];
        qp_json_begin(json, NULL, '{');
        qp_json_change(json, "line", b->line);
        qp_json_change(json, "offset", b->code_offset);
        if (b->is_counted)
            qp_json_count(json, "count", b->count);
        else
            qp_json_null(json, "count");
        qp_json_bool(json, "timed", b->is_timed);
        qp_json_count(json, "self", qp_model_ns(m, b->self));
        qp_json_count(json, "total", qp_model_ns(m, b->total));
        qp_json_end(json, '}');
    }
    qp_json_end(json, ']');
    qp_free(blocks);
    return true;
}

/* @return false: no memory */
static bool write_method(qp_json *json, const qp_model *m, uint32_t method, uint32_t thread,
                         uint32_t number, const qp_figures *f)
{
    qp_json_begin(json, NULL, '{');
    qp_json_count(json, "id", number);
    qp_method_json(json, m, method, f);
    bool is_written = write_blocks(json, m, method, thread);
    qp_json_end(json, '}');
    return is_written;
}

static bool write_methods(qp_json *json, const qp_model *m, uint32_t thread,
                          const uint32_t *numbers)
{
    qp_figures *flat = qp_alloc_zeroed(m->n_methods, sizeof *flat);
    bool is_written = flat && qp_model_flat(m, thread, flat);
    qp_json_begin(json, "methods", '[');
    for (uint32_t i = 0; is_written && i < m->n_methods; i++)
        if (numbers[i] || i == QP_ROOT_METHOD)
            is_written = write_method(json, m, i, thread, numbers[i], &flat[i]);
    qp_json_end(json, ']');
    qp_free(flat);
    return is_written;
}

static void write_path(qp_json *json, const qp_model *m, uint32_t path, const uint32_t *numbers)
{
    const qp_model_node *n = &m->nodes[path];
    qp_json_begin(json, NULL, '{');
    qp_json_count(json, "id", path);
    qp_json_count(json, "parent", n->parent);
    qp_json_count(json, "method", numbers[n->method]);
    qp_json_count(json, "thread", m->threads[n->thread].ordinal);
    qp_json_bool(json, "open", n->is_open);
    qp_json_bool(json, "includes_hidden", n->has_hidden);
    qp_figures_json(json, m, &n->f);
    qp_json_end(json, '}');
}

static bool write(const qp_model *m, qp_out *out, const qp_export_options *o,
                  char error[QP_ERROR_BYTES])
{
    qp_json json;
    uint32_t *numbers;
    if (!qp_export_numbers(m, o->thread, &numbers)) {
        qp_free(numbers);
        return qp_export_fails(error);
    }
    qp_json_init(&json, out);
    qp_json_begin(&json, NULL, '{');
    qp_run_json(&json, m);
    qp_json_begin(&json, "threads", '[');
    for (uint32_t i = 1; i < m->n_threads; i++)
        if (o->thread == QP_ALL_THREADS || o->thread == i)
            qp_thread_json(&json, m, i);
    qp_json_end(&json, ']');
    bool is_written = write_methods(&json, m, o->thread, numbers);
    qp_json_begin(&json, "nodes", '[');
    for (uint32_t i = 1; i < m->n_nodes; i++)
        if (o->thread == QP_ALL_THREADS || m->nodes[i].thread == o->thread)
            write_path(&json, m, i, numbers);
    qp_json_end(&json, ']');
    qp_json_end(&json, '}');
    qp_free(numbers);
    return is_written || qp_export_fails(error);
}

const qp_exporter qp_export_json = {
    .name = "json",
    .suffix = ".json",
    .summary = "jq, DuckDB and programs of yours: all of it, see docs/schema/export.json",
    .limits = "jumps between blocks",
    .has_functions = true,
    .write = write};
