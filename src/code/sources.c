/* sources.c: the registry of source texts. */
#include "code/sources.h"

#include "base/atomic.h"
#include "base/containers/trie.h"

static qp_source_record *record_at(const qp_sources *s, qp_cell cell)
{
    return qp_at(s->space, cell);
}

static uint64_t key_of(void *owner, uint32_t cell)
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

/* FNV-1a. */
static uint64_t digest_of(const unsigned char *text, uint64_t n_bytes)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint64_t i = 0; i < n_bytes; i++)
        hash = (hash ^ text[i]) * 0x100000001b3u;
    return hash;
}

static qp_cell record_of(qp_sources *s, qp_ref path)
{
    const qp_trie index = {s->space->map.base, key_of, block_of, s};
    qp_cell cell = path ? qp_trie_get(&index, s->root, path) : 0;
    if (cell || !path)
        return cell;
    cell = qp_slab_take(s->space, &s->slab, QP_EXTENT_SOURCES, 1, QP_RESERVE_ORDINARY);
    if (!cell)
        return 0;
    record_at(s, cell)->path = path;
    return qp_trie_put(&index, s->root, path, cell);
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

bool qp_sources_add(qp_sources *s, const char *path, const void *text, uint64_t n_bytes)
{
    return qp_sources_put(s, path, digest_of(text, n_bytes), n_bytes);
}
