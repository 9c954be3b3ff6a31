/* builder.c: records are gathered kind by kind, and name each other by numbers until all are known;
 * builder_write.c gives them their cells. Texts and tables have their places at once. */
#include <stddef.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "format/builder_parts.h"
#include "format/tables.h"

/* ---- gathering ------------------------------------------------------------------------------- */

qp_builder *qp_builder_new(uint64_t max_bytes)
{
    qp_builder *b = qp_alloc_zeroed(1, sizeof *b);
    if (!b)
        return NULL;
    qp_buf_init(&b->blobs, QP_REF_BYTES);
    qp_buf_init(&b->methods, sizeof(qp_method));
    qp_buf_init(&b->contexts, sizeof(qp_context));
    qp_buf_init(&b->sources, sizeof(qp_source_record));
    qp_buf_init(&b->threads, sizeof(qp_builder_thread_of));
    qp_buf_init(&b->nodes, sizeof(qp_node));
    qp_buf_init(&b->more, sizeof(qp_node_more));
    qp_buf_init(&b->counter_blocks, QP_CELL);
    qp_buf_init(&b->shares, QP_CELL);
    qp_dict_init(&b->texts);
    b->max_cells = max_bytes ? max_bytes / QP_CELL : UINT32_MAX;
    return b;
}

void qp_builder_free(qp_builder *b)
{
    if (!b)
        return;
    qp_buf *const all[] = {&b->blobs, &b->methods, &b->contexts,       &b->sources, &b->threads,
                           &b->nodes, &b->more,    &b->counter_blocks, &b->shares};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        qp_free(all[i]->items);
    qp_dict_fini(&b->texts);
    qp_free(b);
}

qp_head *qp_builder_head(qp_builder *b)
{
    return &b->head;
}

enum { TEXT_MAX = 64 * 1024 };

static uint32_t number_of(const qp_buf *records)
{
    return (uint32_t)records->n;
}

/* ---- blobs ----------------------------------------------------------------------------------- */

static void *blob_at(const qp_builder *b, qp_ref ref)
{
    return (char *)b->blobs.items + (size_t)(ref - QP_FIRST_REF) * QP_REF_BYTES;
}

/* @return zeroed bytes; NULL: no room. *ref is 0 then */
static void *add_blob(qp_builder *b, uint64_t n_bytes, qp_ref *ref)
{
    uint64_t at = QP_FIRST_REF + b->blobs.n,
             n_units = (n_bytes + QP_REF_BYTES - 1) / QP_REF_BYTES;
    *ref = 0;
    if (at + n_units > UINT32_MAX || n_units > b->max_cells * (QP_CELL / QP_REF_BYTES)) {
        b->is_too_large = true;
        return NULL;
    }
    void *bytes = qp_buf_add_many(&b->blobs, n_units);
    if (bytes)
        *ref = (qp_ref)at;
    return bytes;
}

static qp_ref add_text(qp_builder *b, const char *text, uint32_t n_bytes)
{
    qp_ref ref;
    uint32_t *place = add_blob(b, sizeof n_bytes + (uint64_t)n_bytes + 1, &ref);
    if (place) {
        *place = n_bytes;
        memcpy(place + 1, text, n_bytes);
    }
    return ref;
}

qp_ref qp_builder_text(qp_builder *b, const char *text)
{
    if (!text || !*text)
        return 0;
    uint32_t n_bytes = (uint32_t)strnlen(text, TEXT_MAX);
    uint64_t hash = qp_hash_bytes(QP_HASH_START, text, n_bytes);
    qp_ref known = qp_dict_get(&b->texts, hash);
    if (known) {
        const uint32_t *place = blob_at(b, known);
        if (*place == n_bytes && memcmp(place + 1, text, n_bytes) == 0)
            return known;
        return add_text(b, text, n_bytes); /* two texts of one hash: this one is not shared */
    }
    qp_ref ref = add_text(b, text, n_bytes);
    if (ref && !qp_dict_put(&b->texts, hash, ref))
        b->blobs.failed = true;
    return ref;
}

void qp_builder_note(qp_builder *b, qp_note_kind kind, const char *text)
{
    qp_ref ref, words = qp_builder_text(b, text);
    qp_note *note = add_blob(b, sizeof *note, &ref);
    if (!note)
        return;
    *note = (qp_note){.next = b->head.notes, .text = words, .kind = kind};
    b->head.notes = ref;
}

static qp_ref add_lines(qp_builder *b, const qp_line *lines, uint32_t n)
{
    qp_ref ref = 0;
    qp_lines *t = n ? add_blob(b, qp_lines_bytes(n), &ref) : NULL;
    if (!t)
        return 0;
    t->n_lines = n;
    for (uint32_t i = 1; i < n; i++)
        if (lines[i].code_offset < lines[i - 1].code_offset)
            t->flags = QP_LINES_UNSORTED;
    memcpy(t->lines, lines, n * sizeof *lines);
    return ref;
}

static qp_ref add_jumps(qp_builder *b, const qp_jumps *jumps)
{
    qp_ref ref = 0;
    uint64_t n_bytes = jumps ? qp_jumps_bytes(jumps->n_jumps, jumps->n_blocks) : 0;
    void *place = jumps ? add_blob(b, n_bytes, &ref) : NULL;
    if (place)
        memcpy(place, jumps, n_bytes);
    return ref;
}

/* ---- records --------------------------------------------------------------------------------- */

uint32_t qp_builder_method(qp_builder *b, const qp_builder_code *m)
{
    qp_method *r = qp_buf_add(&b->methods);
    if (!r)
        return 0;
    *r = (qp_method){.id = m->id,
                     .flags = m->flags,
                     .name = qp_builder_text(b, m->name),
                     .class_name = qp_builder_text(b, m->class_name),
                     .file = qp_builder_text(b, m->file),
                     .module = qp_builder_text(b, m->module),
                     .lines = add_lines(b, m->lines, m->n_lines),
                     .jumps = add_jumps(b, m->jumps),
                     .ordinal = number_of(&b->methods),
                     .published = 1};
    return number_of(&b->methods);
}

static qp_builder_thread_of *newest_thread(qp_builder *b)
{
    return (qp_builder_thread_of *)b->threads.items + b->threads.n - 1;
}

qp_thread_record *qp_builder_thread(qp_builder *b, const qp_thread_record *r)
{
    qp_builder_thread_of *th = qp_buf_add(&b->threads);
    qp_node *root = th ? qp_buf_add(&b->nodes) : NULL;
    if (!root)
        return NULL;
    root->self_min = UINT64_MAX;
    *th = (qp_builder_thread_of){.record = *r,
                                 .first_node = b->nodes.n - 1,
                                 .n_nodes = 1,
                                 .first_more = b->more.n,
                                 .first_bank = b->counter_blocks.n};
    th->record.ordinal = number_of(&b->threads);
    return &th->record;
}

uint32_t qp_builder_node(qp_builder *b, uint32_t parent, uint32_t method,
                         const qp_node *figures)
{
    qp_node *n = qp_builder_has_failed(b) ? NULL : qp_buf_add(&b->nodes);
    if (!n)
        return 0;
    qp_builder_thread_of *th = newest_thread(b);
    *n = (qp_node){.method_id = ((const qp_method *)b->methods.items)[method - 1].id,
                   .n_calls = figures->n_calls,
                   .self = figures->self,
                   .self_min = figures->self_min,
                   .self_max = figures->self_max,
                   .parent = parent + 1, /* the root is 1 */
                   .method = method};
    return (uint32_t)th->n_nodes++;
}

void qp_builder_node_more(qp_builder *b, uint64_t n_skips, uint64_t counts, uint64_t interrupts)
{
    qp_node_more *more = qp_builder_has_failed(b) ? NULL : qp_buf_add(&b->more);
    if (!more)
        return;
    *more = (qp_node_more){.n_skips = n_skips, .counts = counts, .samples = interrupts};
    ((qp_node *)b->nodes.items)[b->nodes.n - 1].more = (uint32_t)++newest_thread(b)->n_more;
}

static qp_counter_block *add_bank(qp_buf *to, qp_counter_block_kind kind, uint32_t method,
                                  uint32_t n_blocks, uint32_t n_values)
{
    uint64_t n_cells = 1 + ((uint64_t)n_values * sizeof(uint64_t) + QP_CELL - 1) / QP_CELL;
    qp_counter_block *counters = qp_buf_add_many(to, n_cells);
    if (!counters)
        return NULL;
    counters->n_cells =
        (uint32_t)n_cells; /* without values it is shorter than a qp_counter_block */
    counters->kind = kind;
    counters->method = method;
    counters->n_values = n_values;
    counters->n_blocks = n_blocks;
    return counters;
}

uint64_t *qp_builder_counter_block(qp_builder *b, qp_counter_block_kind kind, uint32_t method,
                                   uint32_t n_blocks, uint32_t n_values)
{
    qp_counter_block *counters =
        qp_builder_has_failed(b)
            ? NULL
            : add_bank(&b->counter_blocks, kind, method, n_blocks, n_values);
    if (!counters)
        return NULL;
    newest_thread(b)->n_bank_cells += counters->n_cells;
    return counters->values;
}

uint32_t qp_builder_context(qp_builder *b, const char *name, uint64_t n_switches)
{
    qp_context *c = qp_buf_add(&b->contexts);
    if (!c)
        return 0;
    *c = (qp_context){.name = qp_builder_text(b, name),
                      .ordinal = number_of(&b->contexts),
                      .published = 1,
                      .n_switches = n_switches};
    return number_of(&b->contexts);
}

int64_t *qp_builder_share(qp_builder *b, uint32_t context, uint32_t method, int64_t calls,
                          uint32_t n_blocks, uint32_t n_values)
{
    qp_counter_block *counters =
        add_bank(&b->shares, QP_COUNTER_BLOCK_SHARE, method, n_blocks, n_values);
    if (!counters)
        return NULL;
    counters->context = context;
    counters->calls = (uint64_t)calls;
    return (int64_t *)counters->values;
}

void qp_builder_source(qp_builder *b, const char *path, uint64_t digest, uint64_t n_bytes)
{
    qp_source_record *s = qp_buf_add(&b->sources);
    if (s)
        *s = (qp_source_record){.path = qp_builder_text(b, path),
                                .published = 1,
                                .digest = digest,
                                .n_bytes = n_bytes};
}
