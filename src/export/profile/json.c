/* json.c: the whole profile as one JSON document, docs/schema/export.json: the run, its
 * threads, its methods with their blocks, and every call path. */
#include "base/text/json.h"
#include "base/containers/alloc.h"
#include "export/shared/profile.h"
#include "export/shared/run_rows.h"
#include "model/figures/figures.h"

typedef struct {
    qp_document about;
    const uint32_t *numbers; /* [n_methods] of methods as nodes name them */
    const qp_figures *flat;  /* [n_methods] */
    bool *has_failed;        /* no memory */
} document;

/* ---- blocks ---------------------------------------------------------------------------------- */

typedef struct {
    uint32_t id, method;
    qp_method_row row;
    const document *document;
} method_row;

static void write_blocks(qp_json *json, const void *row)
{
    const method_row *r = row;
    const qp_document *about = &r->document->about;
    qp_block_figures *blocks = NULL;
    size_t n = 0;
    *r->document->has_failed |=
        !qp_model_blocks(about->m, r->method, about->thread, &blocks, &n);
    for (size_t i = 0; i < n; i++) {
        const qp_block_figures b = qp_block_row_of(about->m, &blocks[i]);
        qp_row_json(json, NULL, qp_block_fields, QP_FIELDS_ALL, &b);
    }
    qp_free(blocks);
}

/* ---- methods and call paths ------------------------------------------------------------------ */

static const qp_field method_fields[] = {
    {"id", NULL, "number that nodes use: its position", QP_FIELD_COUNT,
     QP_FIELD_AT(method_row, id)},
    {"", NULL, NULL, QP_FIELD_PART, QP_FIELD_AT(method_row, row), .sub = qp_method_fields},
    {"blocks", NULL, "entries of its line table", QP_FIELD_ROWS, .sub = qp_block_fields,
     .write = write_blocks},
    {.key = NULL}};

static void write_methods(qp_json *json, const void *row)
{
    const document *d = row;
    const qp_model *m = d->about.m;
    for (uint32_t i = 0; i < m->n_methods && !*d->has_failed; i++)
        if (d->numbers[i] || i == QP_ROOT_METHOD)
            qp_row_json(
                json, NULL, method_fields, qp_run_has_any(&m->run),
                &(method_row){d->numbers[i], i, qp_method_row_of(m, i, &d->flat[i]), d});
}

static void write_paths(qp_json *json, const void *row)
{
    const document *d = row;
    const qp_model *m = d->about.m;
    for (uint32_t i = 1; i < m->n_nodes; i++) {
        if (d->about.thread != QP_ALL_THREADS && m->nodes[i].thread != d->about.thread)
            continue;
        const qp_path_row path = qp_path_row_of(m, i, d->numbers[m->nodes[i].method]);
        qp_row_json(json, NULL, qp_path_fields, qp_run_has_any(&m->run), &path);
    }
}

const qp_field qp_export_document[] = {
    {"", NULL, NULL, QP_FIELD_PART, .sub = qp_run_part},
    {"", NULL, NULL, QP_FIELD_PART, .sub = qp_threads_part},
    {"methods", NULL, ".root. first, which has the sums of all", QP_FIELD_ROWS,
     .sub = method_fields, .write = write_methods},
    {"nodes", NULL, "call paths, parents first", QP_FIELD_ROWS, .sub = qp_path_fields,
     .write = write_paths},
    {.key = NULL}};

bool qp_export_json(const qp_model *m, qp_out *out, const qp_export_options *o, qp_error *error)
{
    uint32_t *numbers = NULL;
    bool has_failed = false;
    qp_figures *flat = qp_alloc_zeroed(m->n_methods, sizeof *flat);
    bool is_good =
        qp_export_numbers(m, o->thread, &numbers) && flat && qp_model_flat(m, o->thread, flat);
    if (is_good)
        qp_document_json(out, qp_export_document,
                         &(document){{m, o->thread}, numbers, flat, &has_failed});
    qp_free(numbers);
    qp_free(flat);
    return (is_good && !has_failed) || qp_error_fail(error, "out of memory");
}
