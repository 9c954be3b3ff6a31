/* pool.c: one reserved range, of which pages come into being as they are touched. */
#include "base/containers/pool.h"

#include <string.h>
#include <sys/mman.h>

#include "base/atomic.h"
#include "base/os/mapping.h"

enum { CELL = 64, REF = 8, REFS_PER_CELL = CELL / REF, TEXT_BLOCK = 4096 };

static const size_t most_bytes = 1u << 30, least_bytes = 1u << 20;

/* Two threads may both reserve: one gives its range back. */
static int reserve(qp_pool *p)
{
    for (size_t n = most_bytes; n >= least_bytes; n /= 2) {
        char *mine = qp_pages_take(n), *none = NULL;
        if (!mine)
            continue;
        qp_store(&p->n_max, (uint32_t)(n / CELL));
        if (!qp_swap_if(&p->base, &none, mine))
            qp_pages_drop(mine, n);
        return 1;
    }
    return 0;
}

uint32_t qp_pool_take(qp_pool *p, size_t n_bytes)
{
    size_t n = (n_bytes + CELL - 1) / CELL;
    if (!qp_observe(&p->base) && !reserve(p))
        return 0;
    uint32_t before = qp_load(&p->n_used);
    do {
        if (n > p->n_max - 1 - before)
            return 0;
    } while (!qp_swap_if(&p->n_used, &before, before + (uint32_t)n));
    return before + 1;
}

void *qp_pool_at(const qp_pool *p, uint32_t cell)
{
    return p->base + (size_t)cell * CELL;
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
    memcpy(p->base + (size_t)ref * REF, text, n_bytes);
    p->text_next += (uint32_t)n;
    return ref;
}

const char *qp_pool_text_at(const qp_pool *p, uint32_t ref)
{
    return ref ? p->base + (size_t)ref * REF : "";
}

uint32_t qp_pool_cell(const qp_pool *p, const void *address)
{
    uintptr_t at = (uintptr_t)address - (uintptr_t)p->base;
    if (!p->base || at % CELL || at / CELL - 1 >= qp_load(&p->n_used))
        return 0;
    return (uint32_t)(at / CELL);
}

void qp_pool_clear(qp_pool *p)
{
    if (p->base)
        madvise(p->base, ((size_t)p->n_used + 1) * CELL, MADV_DONTNEED);
    p->n_used = p->text_next = p->text_end = 0;
}
