/* flow.h: from what a host counted of a method to the executions of its blocks. */
#ifndef QP_MODEL_FLOW_H
#define QP_MODEL_FLOW_H

#include <stdbool.h>

#include "format/layout.h"

typedef __int128 qp_wide; /* no sum of 2^32 counters of 64 bits overflows it */

/* Counters of a method, added up. */
typedef struct {
    const qp_jumps *jumps; /* what is counted; NULL: blocks */
    uint32_t n_blocks;
    qp_wide entries;  /* executions of block 0 that no jump counts */
    qp_wide *counted; /* [jumps ? jumps->n_jumps : n_blocks] */
    /* by qp_flow_solve(): */
    qp_wide *blocks; /* [n_blocks] executions */
    qp_wide *falls;  /* [n_blocks] how often the next block was entered without a jump */
} qp_flow;

/* All figures 0. @return false: no memory. Free with qp_flow_fini() */
bool qp_flow_init(qp_flow *f, const qp_jumps *jumps, uint32_t n_blocks);
void qp_flow_fini(qp_flow *f);

/* May execution go on in the next block? */
bool qp_flow_falls(const qp_flow *f, uint32_t block);

/* Is this the jump from one block to another, and not an entry or an exit in mid-block? */
bool qp_flow_is_way(const qp_flow *f, uint32_t jump);

/* Entries of the method, as far as jumps count them. @return false: they do not */
bool qp_flow_calls(const qp_flow *f, qp_wide *calls);

/* Find blocks and falls. Where counters contradict each other nothing is below 0. */
void qp_flow_solve(qp_flow *f);

/* A figure to show. */
static inline uint64_t qp_wide_count(qp_wide n)
{
    return n < 0 ? 0 : n > (qp_wide)UINT64_MAX ? UINT64_MAX : (uint64_t)n;
}

#endif
