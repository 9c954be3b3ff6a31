/* space.c: extents, and the cells inside them. Read qp_extent_claim first. */
#include "format/space.h"

#include <string.h>

#include "base/atomic.h"

enum { EXTENT_CELLS = 1024, SLAB_CELLS = 64, BLOB_CELLS = 256 };

void qp_space_begin(qp_space *s, uint64_t nonce)
{
    qp_head *h = (qp_head *)(void *)s->map.base;
    s->head = h;
    memcpy(h->magic, QP_MAGIC, sizeof h->magic);
    h->major = QP_MAJOR;
    h->minor = QP_MINOR;
    h->endian = QP_ENDIAN;
    h->head_bytes = QP_HEAD_BYTES;
    h->nonce = nonce;
    qp_node *nil = qp_at(s, QP_NIL_NODE);
    nil->last = (uint64_t)QP_NIL_NODE * QP_CELL;
    nil->next = QP_NIL_NODE;
    nil->method = QP_NIL_METHOD;
    qp_publish(&h->n_cells, QP_HEAD_CELLS);
}

/* Claim cells of the file; 0: no room. */
static qp_cell claim(qp_space *s, uint32_t n_cells, qp_reserve room)
{
    uint64_t reserve = room == QP_RESERVE_ORDINARY ? s->reserve_bytes : 0;
    uint64_t first = qp_load(&s->head->n_cells);
    do {
        uint64_t end_bytes = (first + n_cells) * QP_CELL;
        if (end_bytes + reserve > qp_load(&s->map.limit_bytes))
            return 0;
        switch (qp_mapping_grow(&s->map, end_bytes)) {
        case QP_GROWN:
            break;
        case QP_GROW_HIJACKED:
            qp_count(s, QP_D_fd_hijacked);
            return 0;
        case QP_GROW_FULL:
            qp_count(s, QP_D_lost_full);
            return 0;
        case QP_GROW_LIMIT:
            return 0;
        }
    } while (!qp_swap_if(&s->head->n_cells, &first, first + n_cells));
    return (qp_cell)first;
}

/* Methods may take a quarter of the memory, with their texts up to half: one call path of each of them, and
 * the indices, need about as much again, and others are to fit. */
static bool has_share(const qp_space *s, uint32_t n_weighted)
{
    return (qp_load(&s->method_cells) + n_weighted) * QP_CELL <=
           qp_load(&s->map.limit_bytes) / 2;
}

qp_cell qp_extent_claim(qp_space *s, qp_extent_kind kind, qp_cell owner, uint32_t n_cells,
                        qp_reserve room)
{
    uint32_t n_weighted = kind == QP_EXTENT_METHODS ? 2 * n_cells
                          : kind == QP_EXTENT_BLOBS ? n_cells
                                                    : 0;
    if (n_weighted && !has_share(s, n_weighted))
        return 0;
    qp_cell self = claim(s, n_cells, room);
    if (!self)
        return 0;
    if (n_weighted)
        qp_fetch_add(&s->method_cells, n_weighted);
    qp_extent *e = qp_at(s, self);
    qp_store(&e->self, self); /* first: so a reader knows what was killed half written */
    qp_signal_fence();
    e->n_cells = n_cells;
    e->kind = kind;
    e->owner = owner;
    e->nonce = s->head->nonce ^ self;
    qp_publish(&e->magic, QP_EXTENT_MAGIC);
    return self;
}

qp_cell qp_cells_take(qp_space *s, qp_cell *newest, qp_extent_kind kind, qp_cell owner,
                      uint32_t n_cells, uint32_t first_cells, qp_reserve room)
{
    qp_extent *e = *newest ? qp_at(s, *newest) : NULL;
    if (!e || e->n_cells - 1 - e->n_used < n_cells) {
        uint32_t size = e ? e->n_cells * 2 : first_cells;
        if (size > EXTENT_CELLS)
            size = EXTENT_CELLS;
        if (size < n_cells + 1)
            size = n_cells + 1;
        qp_cell cell = qp_extent_claim(s, kind, owner, size, room);
        if (!cell && size > n_cells + 1)
            cell = qp_extent_claim(s, kind, owner, n_cells + 1, room);
        if (!cell)
            return 0;
        e = qp_at(s, cell);
        e->prev = *newest;
        qp_publish(newest, cell);
    }
    return *newest + 1 + e->n_used;
}

void qp_cells_publish(const qp_space *s, qp_cell newest, uint32_t n_cells)
{
    qp_extent *e = qp_at(s, newest);
    qp_publish(&e->n_used, e->n_used + n_cells);
}

/* A fresh extent for a slab, all of it published: its records say themselves whether they are. */
static qp_cell slab_extent(qp_space *s, qp_extent_kind kind, uint32_t n_cells, qp_reserve room)
{
    qp_cell cell = qp_extent_claim(s, kind, 0, n_cells, room);
    if (cell) {
        qp_extent *e = qp_at(s, cell);
        qp_publish(&e->n_used, n_cells - 1);
    }
    return cell;
}

/* units: how many of the slab's units (cells, or 8-byte words) are wanted. */
static uint64_t slab_take(qp_space *s, qp_slab *slab, qp_extent_kind kind, uint32_t units,
                          uint32_t units_a_cell, uint32_t extent_cells, qp_reserve room)
{
    uint64_t before = qp_observe(slab);
    for (;;) {
        qp_cell cell = (qp_cell)(before >> 32);
        uint32_t used = (uint32_t)before;
        const qp_extent *e = cell ? qp_at(s, cell) : NULL;
        if (e && (uint64_t)used + units <= (uint64_t)(e->n_cells - 1) * units_a_cell) {
            if (qp_swap_if(slab, &before, before + units))
                return ((uint64_t)cell + 1) * units_a_cell + used;
            continue;
        }
        uint32_t wanted = (units + units_a_cell - 1) / units_a_cell + 1;
        qp_cell fresh =
            slab_extent(s, kind, wanted > extent_cells ? wanted : extent_cells, room);
        if (!fresh && wanted < extent_cells)
            fresh = slab_extent(s, kind, wanted, room);
        if (!fresh)
            return 0;
        if (wanted > extent_cells) /* it has an extent of its own; the slab stays as it is */
            return ((uint64_t)fresh + 1) * units_a_cell;
        ((qp_extent *)qp_at(s, fresh))->prev = cell;
        if (qp_swap_if(slab, &before, (uint64_t)fresh << 32 | units))
            return ((uint64_t)fresh + 1) * units_a_cell;
        ((qp_extent *)qp_at(s, fresh))->kind = QP_EXTENT_FREE; /* another thread was faster */
    }
}

qp_cell qp_slab_take(qp_space *s, qp_slab *slab, qp_extent_kind kind, uint32_t n_cells,
                     qp_reserve room)
{
    return (qp_cell)slab_take(s, slab, kind, n_cells, 1, SLAB_CELLS, room);
}

qp_cell qp_slab_newest(const qp_slab *slab)
{
    return (qp_cell)(qp_observe(slab) >> 32);
}

qp_ref qp_blob_take(qp_space *s, qp_slab *slab, uint64_t n_bytes)
{
    if (n_bytes > UINT32_MAX)
        return 0;
    uint32_t words = (uint32_t)((n_bytes + 7) / 8);
    return (qp_ref)slab_take(s, slab, QP_EXTENT_BLOBS, words, 8, BLOB_CELLS,
                             QP_RESERVE_ORDINARY);
}
