/* scratch.h: memory for one merge: zeroed, taken in turn, given back all at once.
 *
 * The recorder takes nothing from the host's allocator, and what a merge needs would only swell
 * the profile's own memory. */
#ifndef QP_COVER_SCRATCH_H
#define QP_COVER_SCRATCH_H

#include "base/os/mapping.h"

typedef struct {
    qp_mapping map;
    uint64_t n_used;
} qp_scratch;

/* @return false: no such amount of memory */
static inline bool qp_scratch_open(qp_scratch *s, uint64_t n_bytes)
{
    *s = (qp_scratch){.n_used = 0};
    if (qp_mapping_open(&s->map, NULL, n_bytes) != 0)
        return false;
    if (s->map.limit_bytes >= n_bytes)
        return true;
    qp_mapping_close(&s->map);
    return false;
}

static inline void qp_scratch_close(qp_scratch *s)
{
    if (s->map.base)
        qp_mapping_close(&s->map);
}

/* n items of zeroed memory. @return NULL: the amount is used up */
static inline void *qp_scratch_take(qp_scratch *s, uint64_t n, uint64_t item_bytes)
{
    uint64_t n_bytes = (n * item_bytes + 15) & ~15ull, at = s->n_used;
    if (n > s->map.limit_bytes || qp_mapping_grow(&s->map, at + n_bytes) != QP_GROWN)
        return NULL;
    s->n_used += n_bytes;
    return s->map.base + at;
}

#endif
