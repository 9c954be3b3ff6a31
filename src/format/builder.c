/* builder.c: records are gathered kind by kind, and refer to each other by number until all are
 * known. Then write_* turns numbers into cells on the way to the file: an extent for each kind of
 * records, and for each thread one for call paths, their further figures and its counter blocks.
 * Texts and tables have their places at once.
 *
 * Everything is written three times: into a hash, which becomes the nonce, into the sums of extents, and
 * to the file. Read qp_builder_finish first. */
#include <stddef.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/os/new_file.h"
#include "base/text/buf.h"
#include "format/builder.h"
#include "format/space.h"

enum {
    REF_BYTES = 8,                                         /* a qp_ref counts these */
    FIRST_REF = (QP_HEAD_CELLS + 1) * QP_CELL / REF_BYTES, /* blobs follow the head */
    THREAD_CELLS = sizeof(qp_thread_record) / QP_CELL,
    TEXT_MAX = 64 * 1024
};

/* What belongs to a thread: numbers in the arrays of all. */
typedef struct {
    qp_thread_record record;
    size_t first_node, n_nodes; /* the root is the first */
    size_t first_more, n_more;
    size_t first_block_cell, n_block_cells;
    uint64_t first_cell; /* of its extents, from the beginning of those of the first thread */
    uint32_t creator_thread, creator_node;
} thread_part;

struct qp_builder {
    qp_head head;
    qp_buf blobs;    /* units of REF_BYTES */
    qp_buf methods;  /* qp_method */
    qp_buf contexts; /* qp_context */
    qp_buf sources;  /* qp_source_record */
    qp_buf threads;  /* thread_part */
    qp_buf nodes;    /* qp_node; parent and more: from 1 in their thread's, method: a number */
    qp_buf more;     /* qp_node_more, each followed by what it names: qp_node_metrics with its
                        qp_node_values and qp_lock_wait, of which `reserved` is the number of the
                        holder's thread; qp_node_requests */
    size_t metrics;  /* the newest qp_node_metrics in `more` */
    qp_buf counter_blocks; /* cells; qp_counter_block.method and .context: numbers */
    qp_buf shares;         /* the same */
    qp_dict texts;         /* hash -> ref */
    uint64_t max_cells;
    bool is_too_large;
};

/* Has memory run out? Then records are missing. */
static bool has_failed(const qp_builder *b)
{
    return b->blobs.failed || b->methods.failed || b->contexts.failed || b->sources.failed ||
           b->threads.failed || b->nodes.failed || b->more.failed || b->counter_blocks.failed ||
           b->shares.failed;
}

/* ---- gathering ------------------------------------------------------------------------------- */

qp_builder *qp_builder_new(uint64_t max_bytes)
{
    qp_builder *b = qp_alloc_zeroed(1, sizeof *b);
    if (!b)
        return NULL;
    *b = (qp_builder){.blobs = {.item_bytes = REF_BYTES},
                      .methods = QP_BUF(qp_method),
                      .contexts = QP_BUF(qp_context),
                      .sources = QP_BUF(qp_source_record),
                      .threads = QP_BUF(thread_part),
                      .nodes = QP_BUF(qp_node),
                      .more = QP_BUF(qp_node_more),
                      .counter_blocks = {.item_bytes = QP_CELL},
                      .shares = {.item_bytes = QP_CELL},
                      .max_cells = max_bytes ? max_bytes / QP_CELL : UINT32_MAX};
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

static uint32_t number_of(const qp_buf *records)
{
    return (uint32_t)records->n;
}

/* ---- blobs ----------------------------------------------------------------------------------- */

static void *blob_at(const qp_builder *b, qp_ref ref)
{
    return (char *)b->blobs.items + (size_t)(ref - FIRST_REF) * REF_BYTES;
}

/* @return zeroed bytes; NULL: no room. *ref is 0 then */
static void *add_blob(qp_builder *b, uint64_t n_bytes, qp_ref *ref)
{
    uint64_t at = FIRST_REF + b->blobs.n, n_units = (n_bytes + REF_BYTES - 1) / REF_BYTES;
    *ref = 0;
    if (at + n_units > UINT32_MAX || n_units > b->max_cells * (QP_CELL / REF_BYTES)) {
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

void qp_builder_metric(qp_builder *b, const char *name, const char *unit)
{
    const qp_metric *newest = b->head.metrics ? blob_at(b, b->head.metrics) : NULL;
    const uint32_t number = newest ? newest->number + 1 : 1;
    const qp_ref words = qp_builder_text(b, name), of_unit = qp_builder_text(b, unit);
    qp_ref ref;
    qp_metric *metric = add_blob(b, sizeof *metric, &ref);
    if (!metric)
        return;
    *metric = (qp_metric){b->head.metrics, words, of_unit, number};
    b->head.metrics = ref;
}

static qp_ref add_lines(qp_builder *b, const qp_builder_code *m)
{
    const qp_line *lines = m->lines;
    const uint32_t n = m->n_lines, flags = m->sizes ? QP_LINES_SIZED : 0;
    qp_ref ref = 0;
    qp_lines *t = n ? add_blob(b, qp_lines_bytes(n, flags), &ref) : NULL;
    if (!t)
        return 0;
    t->n_lines = n;
    t->flags = flags;
    for (uint32_t i = 1; i < n; i++)
        if (lines[i].code_offset < lines[i - 1].code_offset)
            t->flags |= QP_LINES_UNSORTED;
    memcpy(t->lines, lines, n * sizeof *lines);
    if (m->sizes)
        memcpy((char *)t + qp_lines_bytes(n, 0), m->sizes, n * sizeof *m->sizes);
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
                     .lines = add_lines(b, m),
                     .jumps = add_jumps(b, m->jumps),
                     .ordinal = number_of(&b->methods),
                     .published = 1};
    return number_of(&b->methods);
}

static thread_part *newest_thread(qp_builder *b)
{
    return (thread_part *)b->threads.items + b->threads.n - 1;
}

/* An extent of n cells that begins at *at. @return its first record */
static uint64_t claim(uint64_t *at, uint64_t n)
{
    uint64_t first = *at + 1;
    *at += n ? n + 1 : 0;
    return first;
}

/* @return what follows the extents of a thread, which begin at a cell */
static uint64_t claim_thread(uint64_t at, const thread_part *th)
{
    claim(&at, th->n_nodes);
    claim(&at, th->n_more);
    claim(&at, th->n_block_cells);
    return at;
}

qp_thread_record *qp_builder_thread(qp_builder *b, const qp_thread_record *r)
{
    const uint64_t first_cell =
        b->threads.n ? claim_thread(newest_thread(b)->first_cell, newest_thread(b)) : 0;
    thread_part *th = qp_buf_add(&b->threads);
    qp_node *root = th ? qp_buf_add(&b->nodes) : NULL;
    if (!root)
        return NULL;
    root->self_min = UINT64_MAX;
    *th = (thread_part){.record = *r,
                        .first_node = b->nodes.n - 1,
                        .n_nodes = 1,
                        .first_more = b->more.n,
                        .first_block_cell = b->counter_blocks.n,
                        .first_cell = first_cell};
    th->record.ordinal = number_of(&b->threads);
    return &th->record;
}

void qp_builder_creator(qp_builder *b, uint32_t thread, uint32_t node)
{
    if (has_failed(b))
        return;
    newest_thread(b)->creator_thread = thread;
    newest_thread(b)->creator_node = node;
}

uint32_t qp_builder_node(qp_builder *b, uint32_t parent, uint32_t method,
                         const qp_node *figures)
{
    qp_node *n = has_failed(b) ? NULL : qp_buf_add(&b->nodes);
    if (!n)
        return 0;
    thread_part *th = newest_thread(b);
    *n = (qp_node){.n_calls = figures->n_calls,
                   .self = figures->self,
                   .self_min = figures->self_min,
                   .self_max = figures->self_max,
                   .parent = parent + 1, /* the root is 1 */
                   .method = method};
    return (uint32_t)th->n_nodes++;
}

void qp_builder_node_more(qp_builder *b, uint64_t n_skips, uint64_t counts, uint64_t samples,
                          uint64_t n_resumes)
{
    qp_node_more *more = has_failed(b) ? NULL : qp_buf_add(&b->more);
    if (!more)
        return;
    *more = (qp_node_more){
        .n_skips = n_skips, .counts = counts, .samples = samples, .n_resumes = n_resumes};
    ((qp_node *)b->nodes.items)[b->nodes.n - 1].more = (uint32_t)++newest_thread(b)->n_more;
}

void qp_builder_node_metrics(qp_builder *b, const qp_node_metrics *metrics)
{
    qp_node *n = has_failed(b) ? NULL : (qp_node *)b->nodes.items + b->nodes.n - 1;
    if (n && !n->more)
        qp_builder_node_more(b, 0, 0, 0, 0);
    qp_node_metrics *m = has_failed(b) ? NULL : qp_buf_add(&b->more);
    if (!m)
        return;
    *m = *metrics;
    b->metrics = b->more.n - 1;
    /* it follows the record that names it */
    ((qp_node_more *)b->more.items)[b->more.n - 2].metrics =
        (qp_cell)++newest_thread(b)->n_more;
}

void qp_builder_node_values(qp_builder *b, const qp_node_values *values)
{
    enum { N = sizeof *values / QP_CELL };
    qp_node_values *to = has_failed(b) ? NULL : qp_buf_add_many(&b->more, N);
    if (!to)
        return;
    thread_part *th = newest_thread(b);
    *to = *values;
    ((qp_node_metrics *)b->more.items)[b->metrics].values = (qp_cell)th->n_more + 1;
    th->n_more += N;
}

void qp_builder_node_wait(qp_builder *b, const char *lock, const qp_lock_wait *wait,
                          uint32_t thread, uint32_t node)
{
    const qp_ref name = qp_builder_text(b, lock);
    qp_lock_wait *to = has_failed(b) ? NULL : qp_buf_add(&b->more);
    if (!to)
        return;
    qp_node_metrics *m = (qp_node_metrics *)b->more.items + b->metrics;
    *to = *wait;
    to->lock = name;
    to->holder = node;
    to->reserved = thread;
    to->next = m->waits;
    m->waits = (qp_cell)++newest_thread(b)->n_more;
}

void qp_builder_node_requests(qp_builder *b, const qp_node_requests *requests)
{
    enum { N = sizeof *requests / QP_CELL };
    const qp_node *n = has_failed(b) ? NULL : (qp_node *)b->nodes.items + b->nodes.n - 1;
    if (n && !n->more)
        qp_builder_node_more(b, 0, 0, 0, 0);
    qp_node_requests *to = has_failed(b) ? NULL : qp_buf_add_many(&b->more, N);
    if (!to)
        return;
    thread_part *th = newest_thread(b);
    *to = *requests;
    ((qp_node_more *)b->more.items)[th->first_more + n->more - 1].requests =
        (qp_cell)th->n_more + 1;
    th->n_more += N;
}

static qp_counter_block *add_counter_block(qp_buf *to, qp_counter_block_kind kind,
                                           uint32_t method, uint32_t n_blocks,
                                           uint32_t n_values)
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
        has_failed(b) ? NULL
                      : add_counter_block(&b->counter_blocks, kind, method, n_blocks, n_values);
    if (!counters)
        return NULL;
    newest_thread(b)->n_block_cells += counters->n_cells;
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
        add_counter_block(&b->shares, QP_COUNTER_BLOCK_SHARE, method, n_blocks, n_values);
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

/* ---- places ---------------------------------------------------------------------------------- */

/* Cells of the extents' first records; extents without records are left out. */
typedef struct {
    uint64_t methods, contexts, threads;
    uint64_t end;
} places;

static uint64_t blob_cells(const qp_builder *b)
{
    return (b->blobs.n * REF_BYTES + QP_CELL - 1) / QP_CELL;
}

static places place_all(const qp_builder *b)
{
    places p = {.end = QP_HEAD_CELLS};
    claim(&p.end, blob_cells(b));
    p.methods = claim(&p.end, b->methods.n);
    p.contexts = claim(&p.end, b->contexts.n);
    claim(&p.end, b->sources.n);
    p.threads = claim(&p.end, b->threads.n * THREAD_CELLS);
    for (size_t i = 0; i < b->threads.n; i++)
        p.end = claim_thread(p.end, (const thread_part *)b->threads.items + i);
    claim(&p.end, b->shares.n);
    return p;
}

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct {
    const qp_builder *b;
    places at;
    uint64_t next;       /* cell that is written next */
    uint64_t of_threads; /* cell of the extents of the first thread */
    uint64_t nonce;      /* 0 as long as it is found out */
    uint64_t hash;
    enum { WRITE_HASH, WRITE_SUMS, WRITE_FILE, WRITE_BYTES } mode;
    qp_out *out;
    unsigned char *bytes; /* where the next ones go */
    qp_buf sums;          /* uint32_t: of the head and of each extent; WRITE_BYTES: none */
    size_t n_used;        /* of them, WRITE_FILE */
    qp_checksum sum;      /* of the extent that is being written, WRITE_SUMS ... */
    _Alignas(
        8) unsigned char cell[QP_CELL]; /* ... without the [n_staged] bytes of its last cell */
    size_t n_staged;
} writer;

static void sum_bytes(writer *w, const char *bytes, size_t n_bytes)
{
    for (size_t n; n_bytes; bytes += n, n_bytes -= n) {
        n = QP_CELL - w->n_staged < n_bytes ? QP_CELL - w->n_staged : n_bytes;
        memcpy(w->cell + w->n_staged, bytes, n);
        w->n_staged += n;
        if (w->n_staged == QP_CELL)
            qp_checksum_add(&w->sum, w->cell, QP_CELL);
        w->n_staged %= QP_CELL;
    }
}

static void put(writer *w, const void *bytes, size_t n_bytes)
{
    switch (w->mode) {
    case WRITE_HASH:
        w->hash = qp_hash_bytes(w->hash, bytes, n_bytes);
        break;
    case WRITE_SUMS:
        sum_bytes(w, bytes, n_bytes);
        break;
    case WRITE_FILE:
        qp_out_bytes(w->out, bytes, n_bytes);
        break;
    case WRITE_BYTES:
        if (n_bytes)
            w->bytes = (unsigned char *)memcpy(w->bytes, bytes, n_bytes) + n_bytes;
    }
}

/* WRITE_SUMS: what was written is an extent, or the head, whose sum needs no pass. */
static void end_sum(writer *w)
{
    uint32_t *sum = w->mode == WRITE_SUMS ? qp_buf_add(&w->sums) : NULL;
    if (sum)
        *sum = qp_checksum_end(&w->sum);
    qp_checksum_begin(&w->sum);
}

/* WRITE_FILE: the sum of the extent that begins. */
static uint32_t next_sum(writer *w)
{
    return w->mode == WRITE_FILE ? ((const uint32_t *)w->sums.items)[++w->n_used] : 0;
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
    if (n) {
        end_sum(w);
        e.checksum = next_sum(w);
        put(w, &e, sizeof e);
    }
    return (uint32_t)first;
}

static void write_blobs(writer *w)
{
    static const char padding[QP_CELL];
    size_t n_bytes = w->b->blobs.n * REF_BYTES, n_cells = blob_cells(w->b);
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
    const thread_part *threads = b->threads.items;
    put_header(w, QP_EXTENT_THREADS, 0, b->threads.n * THREAD_CELLS);
    const uint64_t begin = w->of_threads = w->next;
    for (size_t i = 0; i < b->threads.n; i++) {
        const thread_part *th = &threads[i];
        qp_thread_record r = th->record;
        uint64_t next = begin + th->first_cell;
        if (th->creator_thread) /* after the root, which is the first record of an extent */
            r.creator = (qp_cell)(begin + threads[th->creator_thread - 1].first_cell + 1 +
                                  th->creator_node);
        r.root = (qp_cell)claim(&next, th->n_nodes);
        r.nodes = r.root - 1;
        uint64_t aux = claim(&next, th->n_more),
                 counter_blocks = claim(&next, th->n_block_cells);
        r.aux = th->n_more ? (qp_cell)aux - 1 : 0;
        r.counter_blocks = th->n_block_cells ? (qp_cell)counter_blocks - 1 : 0;
        put(w, &r, sizeof r);
    }
}

static void write_counter_blocks(writer *w, qp_extent_kind kind, uint64_t owner,
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

/* n waits of a path. Numbers of their holders become cells. */
static void put_waits(writer *w, const qp_lock_wait *from, size_t n, uint32_t base)
{
    const thread_part *threads = w->b->threads.items;
    for (size_t i = 0; i < n; i++) {
        qp_lock_wait wait = from[i];
        if (wait.reserved) /* after the root, which is the first record of an extent */
            wait.holder += (qp_cell)(w->of_threads + threads[wait.reserved - 1].first_cell + 1);
        wait.reserved = 0;
        wait.next += wait.next ? base : 0;
        put(w, &wait, sizeof wait);
    }
}

/* What a call path has besides its node. @param base  cell before the first @return cells after the first */
static size_t put_more(writer *w, const qp_node_more *from, uint32_t base)
{
    qp_node_more more = *from;
    qp_node_metrics metrics = {.values = 0};
    const size_t n_metrics = more.metrics ? 1 : 0;
    memcpy(&metrics, from + 1, n_metrics * sizeof metrics);
    const size_t n_values = metrics.values ? sizeof(qp_node_values) / QP_CELL : 0,
                 n_waits = metrics.waits ? metrics.waits - more.metrics - n_values : 0,
                 n_requests = more.requests ? sizeof(qp_node_requests) / QP_CELL : 0;
    metrics.values += metrics.values ? base : 0;
    metrics.waits += metrics.waits ? base : 0;
    more.metrics += more.metrics ? base : 0;
    more.requests += more.requests ? base : 0;
    put(w, &more, sizeof more);
    put(w, &metrics, n_metrics * sizeof metrics);
    from += 1 + n_metrics;
    put(w, from, n_values * QP_CELL);
    put_waits(w, (const qp_lock_wait *)(const void *)(from + n_values), n_waits, base);
    put(w, from + n_values + n_waits, n_requests * QP_CELL);
    return n_metrics + n_values + n_waits + n_requests;
}

static void write_thread(writer *w, size_t i)
{
    const qp_builder *b = w->b;
    const thread_part *th = (const thread_part *)b->threads.items + i;
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
    for (size_t k = 0; k < th->n_more; k++) {
        const qp_node_more *from = (const qp_node_more *)b->more.items + th->first_more + k;
        k += put_more(w, from, aux - 1);
    }
    write_counter_blocks(w, QP_EXTENT_BANKS, owner, &b->counter_blocks, th->first_block_cell,
                         th->n_block_cells);
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
    h->n_sealed = w->at.end - QP_HEAD_CELLS;
    h->n_threads = (uint32_t)b->threads.n;
    h->n_methods = b->methods.n;
    h->context += h->context ? (qp_cell)w->at.contexts - 1 : 0;
    first.nodes[QP_NIL_NODE].last = first.nodes[QP_NIL_NODE].next = QP_NIL_NODE;
    h->flags |= w->mode == WRITE_BYTES ? 0 : QP_FLAG_CHECKSUMS;
    h->checksum = w->mode == WRITE_FILE ? qp_head_checksum(h) : 0;
    put(w, &first, sizeof first);
}

static void write_all(writer *w)
{
    const qp_builder *b = w->b;
    w->next = QP_HEAD_CELLS;
    qp_checksum_begin(&w->sum);
    write_head(w);
    write_blobs(w);
    write_shared(w, QP_EXTENT_METHODS, &b->methods);
    write_shared(w, QP_EXTENT_CONTEXTS, &b->contexts);
    write_shared(w, QP_EXTENT_SOURCES, &b->sources);
    write_threads(w);
    for (size_t i = 0; i < b->threads.n; i++)
        write_thread(w, i);
    write_counter_blocks(w, QP_EXTENT_SHARES, 0, &b->shares, 0, b->shares.n);
    end_sum(w);
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
        w->mode = WRITE_FILE;
        write_all(w);
        is_good = qp_new_file_end(s, why);
    }
    qp_free(s);
    return is_good;
}

/* Find the nonce. @return NULL, or why the profile cannot be written */
static const char *begin(writer *w, const qp_builder *b)
{
    *w = (writer){.b = b, .at = place_all(b), .hash = QP_HASH_START, .sums = QP_BUF(uint32_t)};
    if (b->is_too_large || w->at.end > b->max_cells)
        return "it would be too large for a profile";
    if (has_failed(b))
        return "there is not enough memory to write it";
    write_all(w);
    w->nonce = w->hash;
    return NULL;
}

/* Find the sums. @return NULL, or why not */
static const char *sum_all(writer *w)
{
    w->mode = WRITE_SUMS;
    write_all(w);
    return w->sums.failed ? "there is not enough memory to write it" : NULL;
}

bool qp_builder_finish(qp_builder *b, const char *path, qp_error *error)
{
    writer w;
    const char *why = begin(&w, b);
    error->text[0] = '\0';
    if (!why)
        why = sum_all(&w);
    if (!why)
        write_file(&w, path, &why);
    qp_free(w.sums.items);
    if (why)
        qp_error_fail(error, "%.300s: %s", path, why);
    return !why;
}

bool qp_builder_bytes(qp_builder *b, void **out, size_t *n_bytes, const char **why)
{
    writer w;
    *out = NULL;
    *why = begin(&w, b);
    if (!*why) {
        *n_bytes = (size_t)w.at.end * QP_CELL;
        *out = w.bytes = qp_alloc(*n_bytes + QP_CELL, 1);
        w.mode = WRITE_BYTES;
        if (w.bytes) {
            memset(w.bytes + *n_bytes, 0, QP_CELL);
            write_all(&w);
        } else
            *why = "there is not enough memory to write it";
    }
    return !*why;
}
