/* checked.c: checking a profile from end to end. Read qp_checked_open first. */
#include "cover/checked.h"

#include <stdio.h>
#include <string.h>

#include "format/layout.h"

enum { THREAD_CELLS = sizeof(qp_thread_record) / QP_CELL, TABLE_MAX = 1000000 };

/* In index_of; methods and contexts have less, and lie in extents of different kinds. */
static const uint32_t thread_tag = UINT32_MAX, bank_tag = UINT32_MAX - 1;

static bool fail(qp_error *error, const char *what)
{
    qp_error_fail(error, "%s", what);
    return false;
}

/* ---- blobs --------------------------------------------------------------------------------- */

/* n_bytes at a ref. @return NULL: not in the file */
static const void *blob(const qp_checked *im, qp_ref ref, uint64_t n_bytes)
{
    uint64_t at = (uint64_t)ref * 8, end = (uint64_t)im->n_cells * QP_CELL;
    return at >= QP_HEAD_BYTES && at <= end && n_bytes <= end - at ? im->bytes + at : NULL;
}

static bool is_text(const qp_checked *im, qp_ref ref)
{
    if (!ref)
        return true;
    const qp_text *t = blob(im, ref, sizeof *t);
    uint64_t n = t ? t->n_bytes : 0;
    return t && blob(im, ref, offsetof(qp_text, bytes) + n + 1) && !t->bytes[n];
}

static bool are_lines(const qp_checked *im, qp_ref ref)
{
    if (!ref)
        return true;
    const qp_lines *t = blob(im, ref, QP_LINES_HEAD);
    return t && t->n_lines && t->n_lines <= TABLE_MAX &&
           blob(im, ref, qp_lines_bytes(t->n_lines));
}

static bool are_jumps(const qp_checked *im, const qp_method *m)
{
    if (!m->jumps)
        return true;
    const qp_jumps *t = blob(im, m->jumps, QP_JUMPS_HEAD);
    if (!t || !m->lines || t->n_jumps > TABLE_MAX ||
        t->n_blocks != qp_checked_lines(im, m)->n_lines ||
        !blob(im, m->jumps, qp_jumps_bytes(t->n_jumps, t->n_blocks)))
        return false;
    for (uint32_t i = 0; i < t->n_jumps; i++)
        if (t->jumps[i].from_block < QP_JUMP_JOINED ||
            t->jumps[i].from_block >= (int64_t)t->n_blocks || t->jumps[i].to_block < 0 ||
            t->jumps[i].to_block >= (int64_t)t->n_blocks)
            return false;
    return true;
}

const char *qp_checked_text(const qp_checked *im, qp_ref ref)
{
    return ref ? ((const qp_text *)(const void *)(im->bytes + (uint64_t)ref * 8))->bytes : "";
}

const qp_lines *qp_checked_lines(const qp_checked *im, const qp_method *m)
{
    return m->lines ? (const void *)(im->bytes + (uint64_t)m->lines * 8) : NULL;
}

const qp_jumps *qp_checked_jumps(const qp_checked *im, const qp_method *m)
{
    return m->jumps ? (const void *)(im->bytes + (uint64_t)m->jumps * 8) : NULL;
}

/* ---- head and extents ---------------------------------------------------------------------- */

static bool check_head(const qp_head *h, uint64_t n_bytes, qp_error *error)
{
    if (n_bytes < sizeof *h || memcmp(h->magic, QP_MAGIC, sizeof h->magic) != 0)
        return fail(error, "is not a profile");
    if (h->major != QP_MAJOR || h->endian != QP_ENDIAN || h->head_bytes != sizeof *h)
        return fail(error, "was written by another version of the library");
    if (h->state != QP_SNAPSHOT && h->state != QP_SEALED)
        return fail(error, "is the live file of a run");
    if (h->n_cells < QP_HEAD_CELLS || h->n_cells > n_bytes / QP_CELL || h->n_cells > UINT32_MAX)
        return fail(error, "is damaged: it is shorter than its head says");
    return true;
}

static bool is_zero(const qp_checked *im, uint32_t cell)
{
    static const char zeros[QP_CELL];
    return memcmp(qp_checked_at(im, cell), zeros, QP_CELL) == 0;
}

/* Cells that were claimed when the file was copied, and of which no header was written yet: zero,
 * but for a header without its magic. */
static bool is_gap(const qp_checked *im, uint32_t cell)
{
    const qp_extent *e = qp_checked_at(im, cell);
    return is_zero(im, cell) || (!e->magic && e->self == cell);
}

static bool is_extent(const qp_checked *im, uint32_t cell)
{
    const qp_extent *e = qp_checked_at(im, cell);
    return e->magic == QP_EXTENT_MAGIC && e->self == cell &&
           e->nonce == (im->head->nonce ^ cell) && e->n_cells &&
           e->n_cells <= im->n_cells - cell && e->n_used < e->n_cells;
}

static bool check_extents(const qp_checked *im, qp_error *error)
{
    for (uint32_t cell = QP_HEAD_CELLS; cell < im->n_cells;) {
        if (is_extent(im, cell))
            cell += ((const qp_extent *)qp_checked_at(im, cell))->n_cells;
        else if (is_gap(im, cell))
            cell++;
        else
            return fail(error, "is damaged");
    }
    return true;
}

qp_cell qp_checked_next(const qp_checked *im, qp_cell extent, qp_extent_kind kind)
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

/* ---- records ------------------------------------------------------------------------------- */

static bool is_whole_method(const qp_checked *im, const qp_method *m)
{
    return is_text(im, m->name) && is_text(im, m->class_name) && is_text(im, m->file) &&
           is_text(im, m->module) && are_lines(im, m->lines) && are_jumps(im, m);
}

static bool check_methods(qp_checked *im)
{
    for (qp_cell e = 0; (e = qp_checked_next(im, e, QP_EXTENT_METHODS)) != 0;)
        for (uint32_t i = 1; i <= used(im, e); i++) {
            const qp_method *m = qp_checked_at(im, e + i);
            if (!m->published)
                continue;
            if (is_whole_method(im, m)) {
                im->methods[++im->n_methods] = e + i;
                im->index_of[e + i] = im->n_methods;
            } else if (im->is_strict) {
                return false;
            }
        }
    return true;
}

static bool check_contexts(qp_checked *im)
{
    for (qp_cell e = 0; (e = qp_checked_next(im, e, QP_EXTENT_CONTEXTS)) != 0;)
        for (uint32_t i = 1; i <= used(im, e); i++) {
            const qp_context *c = qp_checked_at(im, e + i);
            if (!c->published)
                continue;
            if (is_text(im, c->name)) {
                im->contexts[++im->n_contexts] = e + i;
                im->index_of[e + i] = im->n_contexts;
            } else if (im->is_strict) {
                return false;
            }
        }
    return true;
}

static bool check_threads(qp_checked *im)
{
    for (qp_cell e = 0; (e = qp_checked_next(im, e, QP_EXTENT_THREADS)) != 0;)
        for (uint32_t i = 1; i + THREAD_CELLS - 1 <= used(im, e); i += THREAD_CELLS) {
            const qp_thread_record *r = qp_checked_at(im, e + i);
            if (r->state == QP_THREAD_ALIVE || r->state == QP_THREAD_ENDED)
                im->index_of[e + i] = thread_tag;
            else if (r->state && im->is_strict)
                return false;
        }
    return true;
}

bool qp_checked_is_thread(const qp_checked *im, qp_cell cell)
{
    return cell < im->n_cells && im->index_of[cell] == thread_tag;
}

bool qp_checked_is_method(const qp_checked *im, qp_cell cell)
{
    uint32_t index = cell < im->n_cells ? im->index_of[cell] : 0;
    return index && index <= im->n_methods && im->methods[index] == cell;
}

static bool is_context(const qp_checked *im, qp_cell cell)
{
    uint32_t index = cell < im->n_cells ? im->index_of[cell] : 0;
    return index && index <= im->n_contexts && im->contexts[index] == cell;
}

/* Counters of a method: as many as it has jumps or blocks. */
static bool fits_method(const qp_checked *im, const qp_counter_block *b)
{
    if (!qp_checked_is_method(im, b->method))
        return false;
    const qp_method *m = qp_checked_at(im, b->method);
    const qp_lines *lines = qp_checked_lines(im, m);
    const qp_jumps *jumps = qp_checked_jumps(im, m);
    return (lines && b->n_values == lines->n_lines) ||
           (jumps && b->n_values == jumps->n_jumps) ||
           (!b->n_values && b->kind == QP_COUNTER_BLOCK_SHARE);
}

static bool fits_extent(const qp_counter_block *b, uint32_t n_left)
{
    return b->n_cells && b->n_cells <= n_left &&
           b->n_values <= ((uint64_t)b->n_cells - 1) * (QP_CELL / sizeof b->values[0]);
}

/* Find the banks of a kind, and tag those that may be read. */
static bool check_banks(qp_checked *im, qp_extent_kind room, uint32_t kind,
                        bool (*is_whole)(const qp_checked *im, const qp_counter_block *b))
{
    for (qp_cell e = 0; (e = qp_checked_next(im, e, room)) != 0;)
        for (uint32_t at = 1, n = used(im, e); at <= n;) {
            const qp_counter_block *b = qp_checked_at(im, e + at);
            bool has_place = fits_extent(b, n - at + 1);
            if (has_place && b->kind == kind && fits_method(im, b) && is_whole(im, b))
                im->index_of[e + at] = bank_tag;
            else if (im->is_strict && (!has_place || b->kind == kind))
                return false;
            at += has_place ? b->n_cells : n;
        }
    return true;
}

static bool is_whole_base(const qp_checked *im, const qp_counter_block *b)
{
    (void)im, (void)b;
    return true;
}

static bool is_whole_share(const qp_checked *im, const qp_counter_block *b)
{
    return is_context(im, b->context) && (!b->row || qp_checked_is_thread(im, b->row));
}

static bool is_whole_count(const qp_checked *im, const qp_counter_block *b)
{
    if (!b->base)
        return true;
    if (b->base >= im->n_cells || im->index_of[b->base] != bank_tag)
        return false;
    const qp_counter_block *base = qp_checked_at(im, b->base);
    return base->kind == QP_COUNTER_BLOCK_BASE && base->n_values >= b->n_values;
}

const qp_counter_block *qp_checked_next_counter_block(const qp_checked *im, qp_cell extent,
                                                      qp_counter_block_kind kind, uint32_t *at)
{
    while (*at <= used(im, extent)) {
        qp_cell cell = extent + *at;
        const qp_counter_block *b = qp_checked_at(im, cell);
        bool has_place = fits_extent(b, used(im, extent) - *at + 1);
        *at += has_place ? b->n_cells : used(im, extent);
        if (im->index_of[cell] == bank_tag && b->kind == kind)
            return b;
    }
    return NULL;
}

static bool check_nodes(const qp_checked *im)
{
    for (qp_cell e = 0; (e = qp_checked_next(im, e, QP_EXTENT_NODES)) != 0;)
        for (uint32_t i = 1; i <= used(im, e); i++) {
            const qp_node *n = qp_checked_at(im, e + i);
            if (im->is_strict && n->method && !qp_checked_is_method(im, n->method))
                return false;
        }
    return true;
}

const qp_source_record *qp_checked_next_source(const qp_checked *im, qp_cell *extent,
                                               uint32_t *at)
{
    for (;; *at = 0) {
        while (*extent && *at < used(im, *extent)) {
            const qp_source_record *r = qp_checked_at(im, *extent + ++*at);
            if (r->published && r->path && is_text(im, r->path))
                return r;
        }
        *extent = qp_checked_next(im, *extent, QP_EXTENT_SOURCES);
        if (!*extent)
            return NULL;
    }
}

const qp_source_record *qp_checked_source(const qp_checked *im, const char *path)
{
    const qp_source_record *r;
    qp_cell extent = 0;
    for (uint32_t at = 0; (r = qp_checked_next_source(im, &extent, &at)) != NULL;)
        if (strcmp(qp_checked_text(im, r->path), path) == 0)
            return r;
    return NULL;
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
    const qp_lines *t = qp_checked_lines(im, m);
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

static uint64_t count_cells(const qp_checked *im, qp_extent_kind kind)
{
    uint64_t n = 0;
    for (qp_cell e = 0; (e = qp_checked_next(im, e, kind)) != 0;)
        n += used(im, e);
    return n;
}

static bool take_tables(qp_checked *im, qp_scratch *s)
{
    uint64_t n_methods = count_cells(im, QP_EXTENT_METHODS);
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
        qp_scratch_take(s, count_cells(im, QP_EXTENT_CONTEXTS) + 1, sizeof *im->contexts);
    return im->index_of && im->methods && im->next_alike && im->buckets && im->next_name &&
           im->n_namesakes && im->name_buckets && im->contexts;
}

bool qp_checked_open(qp_checked *im, const char *bytes, uint64_t n_bytes, qp_scratch *s,
                     qp_error *error)
{
    *im = (qp_checked){.bytes = bytes, .head = (const qp_head *)(const void *)bytes};
    if (!check_head(im->head, n_bytes, error))
        return false;
    im->n_cells = (uint32_t)im->head->n_cells;
    im->is_strict = im->head->state == QP_SEALED;
    if (!check_extents(im, error))
        return false;
    if (!take_tables(im, s))
        return fail(error, "cannot be added to: there is not enough memory");
    if (!check_methods(im) || !check_contexts(im) || !check_threads(im) ||
        !check_banks(im, QP_EXTENT_SHARES, QP_COUNTER_BLOCK_BASE, is_whole_base) ||
        !check_banks(im, QP_EXTENT_SHARES, QP_COUNTER_BLOCK_SHARE, is_whole_share) ||
        !check_banks(im, QP_EXTENT_BANKS, QP_COUNTER_BLOCK_COUNTS, is_whole_count) ||
        !check_nodes(im) || (im->head->context && !is_context(im, im->head->context)))
        return fail(error, "is damaged");
    index_methods(im);
    return true;
}
