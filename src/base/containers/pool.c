/* pool.c: memory in parts, each twice as large as the one before, that are mapped when they are
 * needed. Read qp_pool_take first.
 *
 * Parts may lie anywhere within REACH of the first: cells are counted from a place that far before
 * it. The first cell of a part says how large the part is. */
#include "base/containers/pool.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "base/atomic.h"
#include "base/os/mapping.h"

enum { CELL = 64, REF = 8, REFS_PER_CELL = CELL / REF, TEXT_BLOCK = 4096, FIRST_CELLS = 4096 };

/* 8 GiB, so that a cell has 28 bits and a ref 31; with 32-bit addresses all of them. */
static const uintptr_t reach = sizeof(uintptr_t) > 4 ? (uintptr_t)(UINT64_C(1) << 33)
                                                     : (uintptr_t)1 << 31;

static uint32_t cells_of(const char *part)
{
    return *(const uint32_t *)(const void *)part;
}

static bool is_in_reach(const qp_pool *p, const char *part, size_t n_bytes)
{
    uintptr_t from = (uintptr_t)part - (uintptr_t)p->base;
    return !p->base || (from < 2 * reach - 1 && 2 * reach - 1 - from >= n_bytes);
}

/* Map part i with room for n cells at least, if it does not exist. */
static bool make_part(qp_pool *p, uint32_t i, size_t n)
{
    char *none = NULL;
    if (i >= QP_POOL_PARTS)
        return false;
    if (qp_observe(&p->parts[i]))
        return true;
    size_t n_cells = (size_t)FIRST_CELLS << i;
    if (n_cells < n + 1)
        n_cells = (n + FIRST_CELLS) / FIRST_CELLS * FIRST_CELLS;
    char *mine = n_cells < UINT32_MAX ? qp_pages_take(n_cells * CELL) : NULL;
    if (!mine)
        return false;
    *(uint32_t *)(void *)mine = (uint32_t)n_cells;
    if (!is_in_reach(p, mine, n_cells * CELL)) {
        qp_pages_drop(mine, n_cells * CELL);
        return false;
    }
    if (!qp_swap_if(&p->parts[i], &none, mine)) /* another thread was faster */
        qp_pages_drop(mine, n_cells * CELL);
    return true;
}

static uint32_t cell_at(const qp_pool *p, const char *address)
{
    return (uint32_t)(((uintptr_t)address - (uintptr_t)p->base) / CELL);
}

uint32_t qp_pool_take(qp_pool *p, size_t n_bytes)
{
    size_t n = (n_bytes + CELL - 1) / CELL;
    if (!qp_observe(&p->parts[0]) && !make_part(p, 0, n))
        return 0;
    if (!qp_observe(&p->base))
        qp_publish(&p->base, (char *)((uintptr_t)qp_observe(&p->parts[0]) - reach));
    uint64_t before = qp_observe(&p->next);
    for (;;) {
        uint32_t i = (uint32_t)(before >> 32), n_used = (uint32_t)before;
        char *part = qp_observe(&p->parts[i]);
        n_used += !n_used; /* after the cell that says how large the part is */
        if (n <= cells_of(part) - n_used) {
            if (qp_swap_if(&p->next, &before, ((uint64_t)i << 32) + n_used + n))
                return cell_at(p, part) + n_used;
            continue;
        }
        if (!make_part(p, i + 1, n))
            return 0;
        qp_swap_if(&p->next, &before, (uint64_t)(i + 1) << 32);
        before = qp_observe(&p->next);
    }
}

void *qp_pool_at(const qp_pool *p, uint32_t cell)
{
    return (char *)((uintptr_t)p->base + (uintptr_t)cell * CELL);
}

uint32_t qp_pool_text(qp_pool *p, const char *text, size_t n_bytes)
{
    size_t n = n_bytes / REF + 1;
    if (n > p->text_end - p->text_next) {
        size_t n_block = n * REF > TEXT_BLOCK ? n * REF : TEXT_BLOCK;
        uint32_t cell = qp_pool_take(p, n_block);
        if (!cell)
            return 0;
        p->text_next = cell * REFS_PER_CELL;
        p->text_end = p->text_next + (uint32_t)(n_block / REF);
    }
    uint32_t ref = p->text_next;
    memcpy((char *)((uintptr_t)p->base + (uintptr_t)ref * REF), text, n_bytes);
    p->text_next += (uint32_t)n;
    return ref;
}

const char *qp_pool_text_at(const qp_pool *p, uint32_t ref)
{
    return ref ? (char *)((uintptr_t)p->base + (uintptr_t)ref * REF) : "";
}

uint32_t qp_pool_cell(const qp_pool *p, const void *address, uint32_t n_cells)
{
    uint64_t next = qp_observe(&p->next);
    for (uint32_t i = 0; i <= next >> 32 && p->base; i++) {
        const char *part = qp_observe(&p->parts[i]);
        uint32_t n = i == next >> 32 ? (uint32_t)next : cells_of(part);
        uintptr_t at = (uintptr_t)address - (uintptr_t)part - CELL; /* after the first cell */
        if (at % ((uintptr_t)n_cells * CELL) == 0 && at / CELL + 1 < n)
            return cell_at(p, address);
    }
    return 0;
}

void qp_pool_clear(qp_pool *p)
{
    for (uint32_t i = 0; i < QP_POOL_PARTS && p->parts[i]; i++) {
        uint32_t n_cells = cells_of(p->parts[i]);
        madvise(p->parts[i], (size_t)n_cells * CELL, MADV_DONTNEED);
        *(uint32_t *)(void *)p->parts[i] = n_cells;
    }
    p->next = 0;
    p->text_next = p->text_end = 0;
}
