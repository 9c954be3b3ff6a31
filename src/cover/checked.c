/* checked.c: checking a profile from end to end. Read qp_checked_open first. */
#include "cover/checked.h"

#include <string.h>

#include "format/space.h"

enum { THREAD_CELLS = sizeof(qp_thread_record) / QP_CELL, TABLE_MAX = 1000000 };

/* In index_of; methods and contexts have less, and lie in extents of different kinds. */
static const uint32_t thread_tag = UINT32_MAX, block_tag = UINT32_MAX - 1;

/* ---- texts and tables ----------------------------------------------------------------------- */

static bool is_text(const qp_checked *im, qp_ref ref)
{
    return !ref || qp_bytes_text(im->file, ref);
}

static bool are_tables(const qp_checked *im, const qp_method *m)
{
    const qp_lines *lines = qp_bytes_lines(im->file, m->lines);
    const qp_jumps *jumps = qp_bytes_jumps(im->file, m->jumps);
    if (m->lines && (!lines || !lines->n_lines || lines->n_lines > TABLE_MAX))
        return false;
    return !m->jumps || (jumps && lines && jumps->n_jumps <= TABLE_MAX &&
                         jumps->n_blocks == lines->n_lines &&
                         qp_jumps_fit(jumps->jumps, jumps->n_jumps, jumps->n_blocks));
}

/* ---- head and extents ---------------------------------------------------------------------- */

static bool check_head(const qp_head *h, uint64_t n_bytes, qp_error *error)
{
    if (n_bytes < sizeof *h || memcmp(h->magic, QP_MAGIC, sizeof h->magic) != 0)
        return qp_error_fail(error, "is not a profile");
    if (h->major != QP_MAJOR || h->endian != QP_ENDIAN || h->head_bytes != sizeof *h)
        return qp_error_fail(error, "was written by another version of the library");
    if (h->state != QP_SNAPSHOT && h->state != QP_SEALED)
        return qp_error_fail(error, "is the live file of a run");
    if (h->n_cells < QP_HEAD_CELLS || h->n_cells > n_bytes / QP_CELL || h->n_cells > UINT32_MAX)
        return qp_error_fail(error, "is damaged: it is shorter than its head says");
    if (qp_head_has_checksums(h) && h->checksum != qp_head_checksum(h))
        return qp_error_fail(error, "is damaged");
    return true;
}

/* Cells that were claimed when the file was copied, and of which no header was written yet: zero,
 * but for a header without its magic. */
static bool is_gap(const qp_checked *im, uint32_t cell)
{
    static const char zeros[QP_CELL];
    const qp_extent *e = qp_checked_at(im, cell);
    return memcmp(e, zeros, sizeof zeros) == 0 || (!e->magic && e->self == cell);
}

static bool check_extents(const qp_checked *im)
{
    for (uint32_t cell = QP_HEAD_CELLS; cell < im->n_cells;) {
        const qp_extent *e = qp_checked_at(im, cell);
        bool is_extent = qp_extent_begins(e, cell, im->head->nonce) && e->n_cells &&
                         e->n_cells <= im->n_cells - cell && e->n_used < e->n_cells;
        if (is_extent ? qp_head_has_checksums(im->head) &&
                            e->checksum != qp_extent_checksum(e, e->n_cells)
                      : !is_gap(im, cell))
            return false;
        cell += is_extent ? e->n_cells : 1;
    }
    return true;
}

/* The next extent of a kind after this one; begin with 0. @return 0: none */
static qp_cell next_extent(const qp_checked *im, qp_cell extent, qp_extent_kind kind)
{
    uint32_t cell = QP_HEAD_CELLS;
    if (extent)
        cell = extent + ((const qp_extent *)qp_checked_at(im, extent))->n_cells;
    while (cell < im->n_cells) {
        const qp_extent *e = qp_checked_at(im, cell);
        if (e->magic == QP_EXTENT_MAGIC && e->kind == kind)
            return cell;
        cell += e->magic == QP_EXTENT_MAGIC ? e->n_cells : 1;
    }
    return 0;
}

static uint32_t used(const qp_checked *im, qp_cell extent)
{
    return ((const qp_extent *)qp_checked_at(im, extent))->n_used;
}

uint64_t qp_checked_count(const qp_checked *im, qp_extent_kind kind)
{
    uint64_t n = 0;
    for (qp_cell e = 0; (e = next_extent(im, e, kind)) != 0;)
        n += used(im, e);
    return n;
}

const void *qp_checked_next(const qp_checked *im, qp_extent_kind kind, uint32_t n_cells,
                            qp_cursor *c)
{
    while (!c->extent || c->next - c->extent + n_cells - 1 > used(im, c->extent)) {
        c->extent = next_extent(im, c->extent, kind);
        if (!c->extent)
            return NULL;
        c->next = c->extent + 1;
    }
    c->cell = c->next;
    c->next += n_cells;
    return qp_checked_at(im, c->cell);
}

/* ---- records ------------------------------------------------------------------------------- */

/* List a record that is whole. @return false: one that is not spoils the file */
static bool keep(qp_checked *im, qp_cell cell, bool is_whole, qp_cell *list, uint32_t *n)
{
    if (is_whole) {
        list[++*n] = cell;
        im->index_of[cell] = *n;
    }
    return is_whole || !im->is_strict;
}

static bool check_methods(qp_checked *im)
{
    const qp_method *m;
    bool is_good = true;
    for (qp_cursor c = {0}; (m = qp_checked_next(im, QP_EXTENT_METHODS, 1, &c)) != NULL;)
        if (m->published)
            is_good &=
                keep(im, c.cell,
                     is_text(im, m->name) && is_text(im, m->class_name) &&
                         is_text(im, m->file) && is_text(im, m->module) && are_tables(im, m),
                     im->methods, &im->n_methods);
    return is_good;
}

static bool check_contexts(qp_checked *im)
{
    const qp_context *x;
    bool is_good = true;
    for (qp_cursor c = {0}; (x = qp_checked_next(im, QP_EXTENT_CONTEXTS, 1, &c)) != NULL;)
        if (x->published)
            is_good &= keep(im, c.cell, is_text(im, x->name), im->contexts, &im->n_contexts);
    return is_good;
}

static bool check_threads(qp_checked *im)
{
    const qp_thread_record *r;
    for (qp_cursor c = {0};
         (r = qp_checked_next(im, QP_EXTENT_THREADS, THREAD_CELLS, &c)) != NULL;)
        if (r->state == QP_THREAD_ALIVE || r->state == QP_THREAD_ENDED)
            im->index_of[c.cell] = thread_tag;
        else if (r->state && im->is_strict)
            return false;
    return true;
}

static bool is_listed(const qp_checked *im, qp_cell cell, const qp_cell *list, uint32_t n)
{
    uint32_t index = cell < im->n_cells ? im->index_of[cell] : 0;
    return index && index <= n && list[index] == cell;
}

bool qp_checked_is_thread(const qp_checked *im, qp_cell cell)
{
    return cell < im->n_cells && im->index_of[cell] == thread_tag;
}

bool qp_checked_is_method(const qp_checked *im, qp_cell cell)
{
    return is_listed(im, cell, im->methods, im->n_methods);
}

static bool is_context(const qp_checked *im, qp_cell cell)
{
    return is_listed(im, cell, im->contexts, im->n_contexts);
}

static bool check_nodes(const qp_checked *im)
{
    const qp_node *n;
    for (qp_cursor c = {0};
         im->is_strict && (n = qp_checked_next(im, QP_EXTENT_NODES, 1, &c)) != NULL;)
        if (n->method && !qp_checked_is_method(im, n->method))
            return false;
    return true;
}

/* ---- counter blocks -------------------------------------------------------------------------- */

/* Counters of a method: as many as it has jumps or blocks. */
static bool fits_method(const qp_checked *im, const qp_counter_block *b)
{
    if (!qp_checked_is_method(im, b->method))
        return false;
    const qp_method *m = qp_checked_at(im, b->method);
    const qp_lines *lines = qp_bytes_lines(im->file, m->lines);
    const qp_jumps *jumps = qp_bytes_jumps(im->file, m->jumps);
    return (lines && b->n_values == lines->n_lines) ||
           (jumps && b->n_values == jumps->n_jumps) ||
           (!b->n_values && b->kind == QP_COUNTER_BLOCK_SHARE);
}

/* May it be read? The bases of counts have to be known. */
static bool is_whole_block(const qp_checked *im, const qp_counter_block *b)
{
    if (!fits_method(im, b))
        return false;
    if (b->kind == QP_COUNTER_BLOCK_SHARE)
        return is_context(im, b->context) && (!b->row || qp_checked_is_thread(im, b->row));
    if (b->kind != QP_COUNTER_BLOCK_COUNTS || !b->base)
        return true;
    if (b->base >= im->n_cells || im->index_of[b->base] != block_tag)
        return false;
    const qp_counter_block *base = qp_checked_at(im, b->base);
    return base->kind == QP_COUNTER_BLOCK_BASE && base->n_values >= b->n_values;
}

/* The next counter block of any kind. @param is_placed  receives: it lies in the extent; else the
 * rest of the extent is skipped */
static const qp_counter_block *next_block(const qp_checked *im, qp_extent_kind room,
                                          qp_cursor *c, bool *is_placed)
{
    const qp_counter_block *b = qp_checked_next(im, room, 1, c);
    if (!b)
        return NULL;
    qp_cell end = c->extent + used(im, c->extent) + 1;
    *is_placed = b->n_cells && b->n_cells <= end - c->cell &&
                 b->n_values <= ((uint64_t)b->n_cells - 1) * (QP_CELL / sizeof b->values[0]);
    c->next = *is_placed ? c->cell + b->n_cells : end;
    return b;
}

/* Tag those that may be read. */
static bool check_blocks(qp_checked *im, qp_extent_kind room, qp_counter_block_kind kind)
{
    const qp_counter_block *b;
    bool is_placed;
    for (qp_cursor c = {0}; (b = next_block(im, room, &c, &is_placed)) != NULL;)
        if (is_placed && b->kind == kind && is_whole_block(im, b))
            im->index_of[c.cell] = block_tag;
        else if (im->is_strict && (!is_placed || b->kind == kind))
            return false;
    return true;
}

const qp_counter_block *qp_checked_next_counters(const qp_checked *im, qp_extent_kind room,
                                                 qp_counter_block_kind kind, qp_cursor *c)
{
    const qp_counter_block *b;
    bool is_placed;
    while ((b = next_block(im, room, c, &is_placed)) != NULL)
        if (im->index_of[c->cell] == block_tag && b->kind == kind)
            break;
    return b;
}

/* ---- sources --------------------------------------------------------------------------------- */

const qp_source_record *qp_checked_next_source(const qp_checked *im, qp_cursor *c)
{
    const qp_source_record *r;
    while ((r = qp_checked_next(im, QP_EXTENT_SOURCES, 1, c)) != NULL)
        if (r->published && r->path && is_text(im, r->path))
            break;
    return r;
}

const qp_source_record *qp_checked_source(const qp_checked *im, const char *path)
{
    const qp_source_record *r;
    for (qp_cursor c = {0}; (r = qp_checked_next_source(im, &c)) != NULL;)
        if (strcmp(qp_checked_text(im, r->path), path) == 0)
            break;
    return r;
}

/* ---- methods by name ----------------------------------------------------------------------- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    while (*text++);
    return hash;
}

/* A placeholder is known by its id alone. */
static uint64_t key_of_name(const qp_checked *im, const qp_method *m)
{
    if (!(m->flags & QP_METHOD_REGISTERED))
        return m->id * 0x9E3779B97F4A7C15u;
    uint64_t hash = hash_text(0xcbf29ce484222325u, qp_checked_text(im, m->name));
    return hash_text(hash_text(hash, qp_checked_text(im, m->class_name)),
                     qp_checked_text(im, m->file));
}

/* Of its name and the line where it begins. */
static uint64_t key_of(const qp_checked *im, const qp_method *m)
{
    const qp_lines *t = qp_bytes_lines(im->file, m->lines);
    uint32_t line = t && t->n_lines ? (uint32_t)t->lines[0].line : 0;
    return (key_of_name(im, m) + line) * 0x9E3779B97F4A7C15u;
}

static uint32_t *bucket_of(const qp_checked *im, uint32_t *buckets, uint64_t key)
{
    return &buckets[(uint32_t)(key >> 32 ^ key) & im->mask];
}

/* The first method of a's name in b. @return 0: none */
static uint32_t name_in(const qp_checked *a, uint32_t method_of_a, const qp_checked *b)
{
    uint64_t key = key_of_name(a, qp_checked_method(a, method_of_a));
    uint32_t i = *bucket_of(b, b->name_buckets, key);
    while (i && !qp_checked_same_name(a, method_of_a, b, i))
        i = b->next_name[i];
    return i;
}

static void index_methods(qp_checked *im)
{
    for (uint32_t i = im->n_methods; i >= 1; i--) {
        uint32_t *bucket = bucket_of(im, im->buckets, key_of(im, qp_checked_method(im, i)));
        im->next_alike[i] = *bucket;
        *bucket = i;
    }
    for (uint32_t i = 1; i <= im->n_methods; i++) {
        uint32_t first = name_in(im, i, im);
        if (!first) {
            uint64_t key = key_of_name(im, qp_checked_method(im, i));
            uint32_t *bucket = bucket_of(im, im->name_buckets, key);
            im->next_name[i] = *bucket;
            *bucket = first = i;
        }
        im->n_namesakes[first]++;
    }
}

static bool same_text(const qp_checked *a, qp_ref of_a, const qp_checked *b, qp_ref of_b)
{
    return strcmp(qp_checked_text(a, of_a), qp_checked_text(b, of_b)) == 0;
}

bool qp_checked_same_name(const qp_checked *a, uint32_t method_of_a, const qp_checked *b,
                          uint32_t method_of_b)
{
    enum { KIND = QP_METHOD_REGISTERED | QP_METHOD_PSEUDO | QP_METHOD_OVERFLOW };
    const qp_method *m = qp_checked_method(a, method_of_a),
                    *n = qp_checked_method(b, method_of_b);
    if ((m->flags & KIND) != (n->flags & KIND))
        return false;
    if (!(m->flags & QP_METHOD_REGISTERED))
        return m->id == n->id;
    return same_text(a, m->name, b, n->name) && same_text(a, m->class_name, b, n->class_name) &&
           same_text(a, m->file, b, n->file) && same_text(a, m->module, b, n->module);
}

uint32_t qp_checked_find(const qp_checked *a, uint32_t method_of_a, const qp_checked *b)
{
    return *bucket_of(b, b->buckets, key_of(a, qp_checked_method(a, method_of_a)));
}

uint32_t qp_checked_namesakes(const qp_checked *a, uint32_t method_of_a, const qp_checked *b,
                              uint32_t *first)
{
    uint32_t i = name_in(a, method_of_a, b);
    if (first)
        *first = i;
    return i ? b->n_namesakes[i] : 0;
}

/* ---- all of it ----------------------------------------------------------------------------- */

static bool take_tables(qp_checked *im, qp_scratch *s)
{
    uint64_t n_methods = qp_checked_count(im, QP_EXTENT_METHODS);
    for (im->mask = 63; im->mask < n_methods;)
        im->mask = im->mask * 2 + 1;
    im->index_of = qp_scratch_take(s, im->n_cells, sizeof *im->index_of);
    im->methods = qp_scratch_take(s, n_methods + 1, sizeof *im->methods);
    im->next_alike = qp_scratch_take(s, n_methods + 1, sizeof *im->next_alike);
    im->buckets = qp_scratch_take(s, (uint64_t)im->mask + 1, sizeof *im->buckets);
    im->next_name = qp_scratch_take(s, n_methods + 1, sizeof *im->next_name);
    im->n_namesakes = qp_scratch_take(s, n_methods + 1, sizeof *im->n_namesakes);
    im->name_buckets = qp_scratch_take(s, (uint64_t)im->mask + 1, sizeof *im->name_buckets);
    im->contexts =
        qp_scratch_take(s, qp_checked_count(im, QP_EXTENT_CONTEXTS) + 1, sizeof *im->contexts);
    return im->index_of && im->methods && im->next_alike && im->buckets && im->next_name &&
           im->n_namesakes && im->name_buckets && im->contexts;
}

bool qp_checked_open(qp_checked *im, const char *bytes, uint64_t n_bytes, qp_scratch *s,
                     qp_error *error)
{
    *im = (qp_checked){.head = (const qp_head *)(const void *)bytes};
    if (!check_head(im->head, n_bytes, error))
        return false;
    im->n_cells = (uint32_t)im->head->n_cells;
    im->file = (qp_bytes){bytes, (uint64_t)im->n_cells * QP_CELL};
    im->is_strict = im->head->state == QP_SEALED;
    if (!check_extents(im))
        return qp_error_fail(error, "is damaged");
    if (!take_tables(im, s))
        return false;
    if (!check_methods(im) || !check_contexts(im) || !check_threads(im) ||
        !check_blocks(im, QP_EXTENT_SHARES, QP_COUNTER_BLOCK_BASE) ||
        !check_blocks(im, QP_EXTENT_SHARES, QP_COUNTER_BLOCK_SHARE) ||
        !check_blocks(im, QP_EXTENT_BANKS, QP_COUNTER_BLOCK_COUNTS) || !check_nodes(im) ||
        (im->head->context && !is_context(im, im->head->context)))
        return qp_error_fail(error, "is damaged");
    index_methods(im);
    return true;
}
