/* builder_write.c: an extent for each kind of records, and for each thread one for call paths, their
 * further figures and its banks.
 *
 * write_* turns numbers into cells on the way to the file. Everything is written twice: first into
 * a hash, which becomes the nonce. Read qp_builder_finish first. */
#include <stddef.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/os/new_file.h"
#include "format/builder_parts.h"

enum { THREAD_CELLS = sizeof(qp_thread_record) / QP_CELL };

/* ---- places ---------------------------------------------------------------------------------- */

/* Cells of the extents' first records; extents without records are left out. */
typedef struct {
    uint64_t methods, contexts, threads;
    uint64_t end;
} places;

/* An extent of n cells that begins at *at. @return its first record */
static uint64_t claim(uint64_t *at, uint64_t n)
{
    uint64_t first = *at + 1;
    *at += n ? n + 1 : 0;
    return first;
}

static uint64_t blob_cells(const qp_builder *b)
{
    return (b->blobs.n * QP_REF_BYTES + QP_CELL - 1) / QP_CELL;
}

static places place_all(const qp_builder *b)
{
    places p = {.end = QP_HEAD_CELLS};
    claim(&p.end, blob_cells(b));
    p.methods = claim(&p.end, b->methods.n);
    p.contexts = claim(&p.end, b->contexts.n);
    claim(&p.end, b->sources.n);
    p.threads = claim(&p.end, b->threads.n * THREAD_CELLS);
    for (size_t i = 0; i < b->threads.n; i++) {
        const qp_builder_thread_of *th = (const qp_builder_thread_of *)b->threads.items + i;
        claim(&p.end, th->n_nodes);
        claim(&p.end, th->n_more);
        claim(&p.end, th->n_bank_cells);
    }
    claim(&p.end, b->shares.n);
    return p;
}

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct {
    const qp_builder *b;
    places at;
    uint64_t next;  /* cell that is written next */
    uint64_t nonce; /* 0 as long as it is found out */
    uint64_t hash;
    qp_out *out;          /* NULL: not to a file */
    unsigned char *bytes; /* where the next ones go; NULL: only the hash is wanted */
} writer;

static void put(writer *w, const void *bytes, size_t n_bytes)
{
    if (w->out)
        qp_out_bytes(w->out, bytes, n_bytes);
    else if (w->bytes && n_bytes)
        w->bytes = (unsigned char *)memcpy(w->bytes, bytes, n_bytes) + n_bytes;
    else
        w->hash = qp_hash_bytes(w->hash, bytes, n_bytes);
}

/* The header of an extent of n cells. @return the cell of its first record */
static uint32_t put_header(writer *w, qp_extent_kind kind, uint64_t owner, uint64_t n)
{
    qp_extent e = {.magic = QP_EXTENT_MAGIC,
                   .self = (qp_cell)w->next,
                   .n_cells = (uint32_t)n + 1,
                   .kind = kind,
                   .owner = (qp_cell)owner,
                   .n_used = (uint32_t)n,
                   .nonce = w->nonce ^ w->next};
    uint64_t first = claim(&w->next, n);
    if (n)
        put(w, &e, sizeof e);
    return (uint32_t)first;
}

static void write_blobs(writer *w)
{
    static const char padding[QP_CELL];
    size_t n_bytes = w->b->blobs.n * QP_REF_BYTES, n_cells = blob_cells(w->b);
    put_header(w, QP_EXTENT_BLOBS, 0, n_cells);
    put(w, w->b->blobs.items, n_bytes);
    put(w, padding, n_cells * QP_CELL - n_bytes);
}

static void write_shared(writer *w, qp_extent_kind kind, const qp_buf *records)
{
    put_header(w, kind, 0, records->n);
    put(w, records->items, records->n * records->item_bytes);
}

static void write_threads(writer *w)
{
    const qp_builder *b = w->b;
    const qp_builder_thread_of *threads = b->threads.items;
    put_header(w, QP_EXTENT_THREADS, 0, b->threads.n * THREAD_CELLS);
    uint64_t next = w->next;
    for (size_t i = 0; i < b->threads.n; i++) {
        const qp_builder_thread_of *th = &threads[i];
        qp_thread_record r = th->record;
        r.root = (qp_cell)claim(&next, th->n_nodes);
        r.nodes = r.root - 1;
        uint64_t aux = claim(&next, th->n_more),
                 counter_blocks = claim(&next, th->n_bank_cells);
        r.aux = th->n_more ? (qp_cell)aux - 1 : 0;
        r.counter_blocks = th->n_bank_cells ? (qp_cell)counter_blocks - 1 : 0;
        put(w, &r, sizeof r);
    }
}

static void write_banks(writer *w, qp_extent_kind kind, uint64_t owner,
                        const qp_buf *counter_blocks, size_t first, size_t n)
{
    if (!n)
        return;
    const char *at = (const char *)counter_blocks->items + first * QP_CELL,
               *end = at + n * QP_CELL;
    put_header(w, kind, owner, n);
    while (at < end) {
        qp_counter_block counters;
        size_t n_bytes;
        memcpy(&counters, at, offsetof(qp_counter_block, values));
        n_bytes = (size_t)counters.n_cells * QP_CELL;
        counters.method += (qp_cell)w->at.methods - 1;
        counters.context += counters.context ? (qp_cell)w->at.contexts - 1 : 0;
        put(w, &counters, offsetof(qp_counter_block, values));
        put(w, at + offsetof(qp_counter_block, values),
            n_bytes - offsetof(qp_counter_block, values));
        at += n_bytes;
    }
}

static void write_thread(writer *w, size_t i)
{
    const qp_builder *b = w->b;
    const qp_builder_thread_of *th = (const qp_builder_thread_of *)b->threads.items + i;
    uint64_t owner = w->at.threads + i * THREAD_CELLS;
    uint32_t root = put_header(w, QP_EXTENT_NODES, owner, th->n_nodes);
    uint32_t aux = root + (uint32_t)th->n_nodes + 1;
    for (size_t k = 0; k < th->n_nodes; k++) {
        qp_node n = ((const qp_node *)b->nodes.items)[th->first_node + k];
        n.parent += n.parent ? root - 1 : 0;
        n.method += n.method ? (qp_cell)w->at.methods - 1 : 0;
        n.more += n.more ? aux - 1 : 0;
        put(w, &n, sizeof n);
    }
    put_header(w, QP_EXTENT_AUX, owner, th->n_more);
    if (th->n_more)
        put(w, (const qp_node_more *)b->more.items + th->first_more,
            th->n_more * sizeof(qp_node_more));
    write_banks(w, QP_EXTENT_BANKS, owner, &b->counter_blocks, th->first_bank,
                th->n_bank_cells);
}

static void write_head(writer *w)
{
    const qp_builder *b = w->b;
    union {
        qp_head head;
        qp_node nodes[QP_HEAD_CELLS];
    } first = {.head = b->head};
    qp_head *h = &first.head;
    memcpy(h->magic, QP_MAGIC, sizeof h->magic);
    h->major = QP_MAJOR;
    h->minor = QP_MINOR;
    h->endian = QP_ENDIAN;
    h->head_bytes = sizeof *h;
    h->state = QP_SEALED;
    h->nonce = w->nonce;
    h->n_cells = w->at.end;
    h->n_threads = (uint32_t)b->threads.n;
    h->n_methods = b->methods.n;
    h->context += h->context ? (qp_cell)w->at.contexts - 1 : 0;
    first.nodes[QP_NIL_NODE].last = first.nodes[QP_NIL_NODE].next = QP_NIL_NODE;
    put(w, &first, sizeof first);
}

static void write_all(writer *w)
{
    const qp_builder *b = w->b;
    w->next = QP_HEAD_CELLS;
    write_head(w);
    write_blobs(w);
    write_shared(w, QP_EXTENT_METHODS, &b->methods);
    write_shared(w, QP_EXTENT_CONTEXTS, &b->contexts);
    write_shared(w, QP_EXTENT_SOURCES, &b->sources);
    write_threads(w);
    for (size_t i = 0; i < b->threads.n; i++)
        write_thread(w, i);
    write_banks(w, QP_EXTENT_SHARES, 0, &b->shares, 0, b->shares.n);
}

/* ---- finishing ------------------------------------------------------------------------------- */

static bool write_file(writer *w, const char *path, const char **why)
{
    qp_new_file *s = qp_alloc(1, sizeof *s);
    bool is_good = false;
    if (!s) {
        *why = "there is not enough memory to write it";
    } else if (qp_new_file_begin(s, path, why)) {
        qp_new_file_hide(s);
        w->out = &s->out;
        write_all(w);
        is_good = qp_new_file_end(s, why);
    }
    qp_free(s);
    return is_good;
}

/* Find out the nonce. @return NULL, or why the profile can not be written */
static const char *begin(writer *w, const qp_builder *b)
{
    *w = (writer){.b = b, .at = place_all(b), .hash = QP_HASH_START};
    if (b->is_too_large || w->at.end > b->max_cells)
        return "it would be too large for a profile";
    if (qp_builder_has_failed(b))
        return "there is not enough memory to write it";
    write_all(w);
    w->nonce = w->hash;
    return NULL;
}

bool qp_builder_finish(qp_builder *b, const char *path, char error[QP_BUILDER_ERROR_BYTES])
{
    writer w;
    const char *why = begin(&w, b);
    error[0] = '\0';
    if (!why)
        write_file(&w, path, &why);
    if (why)
        qp_text_format(error, QP_BUILDER_ERROR_BYTES, "%.300s: %s", path, why);
    return !why;
}

bool qp_builder_bytes(qp_builder *b, void **out, size_t *n_bytes, const char **why)
{
    writer w;
    *out = NULL;
    *why = begin(&w, b);
    if (!*why) {
        *n_bytes = (size_t)w.at.end * QP_CELL;
        *out = w.bytes = qp_alloc(*n_bytes, 1);
        if (w.bytes)
            write_all(&w);
        else
            *why = "there is not enough memory to write it";
    }
    return !*why;
}
