/* open_methods.c: see open_methods.h. */
#include "replay/calls/open_methods.h"

#include "base/containers/alloc.h"

enum { OPEN_FIRST_SHIFT = 28 };

bool qp_open_grow(qp_span_thread *th)
{
    struct qp_open_method *old = th->open;
    uint32_t n_old = old ? th->open_mask + 1 : 0;
    uint32_t shift = old ? th->open_shift - 1 : OPEN_FIRST_SHIFT;
    struct qp_open_method *wider =
        shift ? qp_alloc_zeroed((size_t)1 << (32 - shift), sizeof *wider) : NULL;
    th->failed |= !wider;
    if (!wider)
        return false;
    th->open = wider;
    th->open_shift = shift;
    th->open_mask = (1u << (32 - shift)) - 1;
    for (uint32_t i = 0; i < n_old; i++)
        if (old[i].n)
            wider[qp_open_slot(th, old[i].method)] = old[i];
    qp_free(old);
    return true;
}

void qp_open_close(qp_span_thread *th, uint32_t hole)
{
    uint32_t mask = th->open_mask;
    for (uint32_t i = (hole + 1) & mask; th->open[i].n; i = (i + 1) & mask) {
        uint32_t home = qp_open_home(th, th->open[i].method);
        if (((i - home) & mask) < ((i - hole) & mask))
            continue; /* it is not looked for at the hole */
        th->open[hole] = th->open[i];
        th->open[i].n = 0;
        hole = i;
    }
}
