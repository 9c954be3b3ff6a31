/* texts.c: texts by content, and sources by path. The index of texts leads from a hash to a place;
 * texts with one hash are compared, and the second of two different ones is stored without
 * an index entry. */
#include "code/code.h"

#include <string.h>

#include "base/atomic.h"
#include "base/containers/trie.h"

/* FNV-1a. */
static uint64_t hash_of(const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    uint64_t h = 0xCBF29CE484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ at[i]) * 0x100000001B3u;
    return h;
}

static uint64_t key_of(void *owner, uint32_t ref)
{
    const qp_texts *t = owner;
    const qp_text *text = qp_at_ref(t->space, ref);
    return hash_of(text->bytes, text->n_bytes);
}

uint32_t qp_texts_block(void *texts)
{
    qp_texts *t = texts;
    return qp_slab_take(t->space, &t->blocks, QP_EXTENT_AUX, 1, QP_RESERVE_ORDINARY);
}

static qp_ref store(qp_texts *t, const char *bytes, size_t n)
{
    qp_ref ref = qp_blob_take(t->space, &t->blobs, sizeof(uint32_t) + n + 1);
    if (!ref)
        return 0;
    qp_text *text = qp_at_ref(t->space, ref);
    memcpy(text->bytes, bytes, n);
    qp_publish(&text->n_bytes, (uint32_t)n);
    return ref;
}

/* The head of a text that is too long, and a hash of the whole. */
static qp_ref store_cut(qp_texts *t, const char *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    char tail[] = "...#0000000000000000";
    uint64_t hash = hash_of(bytes, n);
    for (unsigned i = 0; i < 16; i++)
        tail[4 + i] = digits[hash >> (60 - 4 * i) & 15];
    qp_ref ref = store(t, bytes, QP_TEXT_MAX);
    if (ref) {
        qp_text *text = qp_at_ref(t->space, ref);
        memcpy(text->bytes + QP_TEXT_MAX - (sizeof tail - 1), tail, sizeof tail - 1);
        qp_count(t->space, QP_D_name_truncated);
    }
    return ref;
}

qp_ref qp_texts_add(qp_texts *t, const char *text)
{
    size_t n = text ? strlen(text) : 0;
    if (!n)
        return 0;
    if (n > QP_TEXT_MAX)
        return store_cut(t, text, n);
    if (!t->root)
        t->root = qp_texts_block(t);
    if (!t->root)
        return 0;
    const qp_trie index = {t->space->map.base, key_of, qp_texts_block, t};
    uint64_t hash = hash_of(text, n);
    qp_ref known = qp_trie_get(index, t->root, hash);
    if (known) {
        const qp_text *same = qp_at_ref(t->space, known);
        if (same->n_bytes == n && memcmp(same->bytes, text, n) == 0)
            return known;
        return store(t, text, n);
    }
    qp_ref ref = store(t, text, n);
    if (ref)
        qp_trie_put(index, t->root, key_of(t, ref), ref);
    return ref;
}

const char *qp_texts_at(const qp_texts *t, qp_ref ref)
{
    return ref ? ((const qp_text *)qp_at_ref(t->space, ref))->bytes : "";
}

const char *qp_texts_of(const qp_texts *t, const qp_ref *place)
{
    return qp_texts_at(t, qp_observe(place));
}

/* ---- sources ----------------------------------------------------------------------------- */

static qp_source_record *record_at(const qp_sources *s, qp_cell cell)
{
    return qp_at(s->space, cell);
}

static uint64_t path_of(void *owner, uint32_t cell)
{
    return record_at(owner, cell)->path;
}

static uint32_t block_of(void *owner)
{
    return qp_texts_block(((qp_sources *)owner)->texts);
}

bool qp_sources_begin(qp_sources *s, qp_space *space, qp_texts *texts)
{
    *s = (qp_sources){.space = space, .texts = texts};
    s->root = qp_texts_block(texts);
    return s->root != 0;
}

static qp_cell record_of(qp_sources *s, qp_ref path)
{
    const qp_trie index = {s->space->map.base, path_of, block_of, s};
    qp_cell cell = path ? qp_trie_get(index, s->root, path) : 0;
    if (cell || !path)
        return cell;
    cell = qp_slab_take(s->space, &s->slab, QP_EXTENT_SOURCES, 1, QP_RESERVE_ORDINARY);
    if (!cell)
        return 0;
    record_at(s, cell)->path = path;
    return qp_trie_put(index, s->root, path, cell);
}

bool qp_sources_put(qp_sources *s, const char *path, uint64_t digest, uint64_t n_bytes)
{
    qp_cell cell = record_of(s, qp_texts_add(s->texts, path));
    if (!cell)
        return false;
    qp_source_record *r = record_at(s, cell);
    qp_store(&r->digest, digest);
    qp_store(&r->n_bytes, n_bytes);
    qp_publish(&r->published, 1);
    return true;
}

bool qp_sources_set_map(qp_sources *s, const char *file, qp_ref map)
{
    qp_cell cell = record_of(s, qp_texts_add(s->texts, file));
    if (cell)
        qp_publish(&record_at(s, cell)->map, map);
    qp_publish(&s->has_maps, true);
    return cell != 0;
}

const qp_source_map *qp_sources_map(qp_sources *s, const char *file)
{
    if (!qp_load(&s->has_maps))
        return NULL;
    const qp_trie index = {s->space->map.base, path_of, block_of, s};
    qp_ref path = qp_texts_add(s->texts, file);
    qp_cell cell = path ? qp_trie_get(index, s->root, path) : 0;
    qp_ref map = cell ? qp_observe(&record_at(s, cell)->map) : 0;
    return map ? qp_at_ref(s->space, map) : NULL;
}

bool qp_sources_add(qp_sources *s, const char *path, const void *text, uint64_t n_bytes)
{
    return qp_sources_put(s, path, hash_of(text, n_bytes), n_bytes);
}
