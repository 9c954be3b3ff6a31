/* stable.c: an array in parts that double, item i by the number of leading zeros. */
#include "base/containers/stable.h"

#include <sys/mman.h>

#include "base/atomic.h"
#include "base/os/mapping.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* Which part, and *at: which item of it. Part k begins with item FIRST * (2^k - 1). */
static unsigned part_of(uint32_t i, uint32_t *at)
{
    unsigned k = 31 - (unsigned)__builtin_clz(i / QP_STABLE_FIRST + 1);
    *at = i - QP_STABLE_FIRST * ((1u << k) - 1);
    return k;
}

void *qp_stable_at(const qp_stable *s, uint32_t i)
{
    uint32_t at;
    unsigned k = part_of(i, &at);
    char *part = k < QP_STABLE_PARTS ? qp_observe(&s->parts[k]) : NULL;
    return part ? part + (size_t)at * s->item_bytes : NULL;
}

void *qp_stable_make(qp_stable *s, uint32_t i)
{
    uint32_t at;
    unsigned k = part_of(i, &at);
    if (k >= QP_STABLE_PARTS)
        return NULL;
    char *part = qp_observe(&s->parts[k]);
    if (!part) {
        size_t n_bytes = ((size_t)QP_STABLE_FIRST << k) * s->item_bytes;
        char *mine = qp_pages_take(n_bytes);
        if (!mine)
            return NULL;
        if (s->is_wiped)
            madvise(mine, n_bytes, MADV_WIPEONFORK);
        if (qp_swap_if(&s->parts[k], &part, mine))
            part = mine;
        else /* another thread was faster */
            qp_pages_drop(mine, n_bytes);
    }
    return part + (size_t)at * s->item_bytes;
}
