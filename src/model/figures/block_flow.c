/* block_flow.c: from counters of jumps to executions of blocks. Every activation begins in
 * block 0. A block is executed when a jump leads to it or the previous block falls through into
 * it, which is how often that block was entered less how often jumps left it. An activation
 * that is counted from mid-block on has not executed that block, but may fall through into the
 * next. */
#include "base/containers/alloc.h"
#include "model/figures/figures.h"

bool qp_block_flow_init(qp_block_flow *f, const qp_jumps *jumps, uint32_t n_blocks)
{
    size_t n_counted = jumps ? jumps->n_jumps : n_blocks;
    *f = (qp_block_flow){.jumps = jumps, .n_blocks = n_blocks};
    f->counted = qp_alloc_zeroed(n_counted + 2 * (size_t)n_blocks, sizeof *f->counted);
    if (!f->counted)
        return false;
    f->blocks = f->counted + n_counted;
    f->falls = f->blocks + n_blocks;
    return true;
}

void qp_block_flow_fini(qp_block_flow *f)
{
    qp_free(f->counted);
}

bool qp_block_flow_falls(const qp_block_flow *f, uint32_t block)
{
    const unsigned char *falls = (const unsigned char *)&f->jumps->jumps[f->jumps->n_jumps];
    return falls[block] && block + 1 < f->n_blocks;
}

bool qp_block_flow_is_way(const qp_block_flow *f, uint32_t jump)
{
    const qp_jump *j = &f->jumps->jumps[jump];
    return j->from_block >= 0 && (uint32_t)j->from_block < f->n_blocks && j->to_block >= 0 &&
           (uint32_t)j->to_block < f->n_blocks;
}

/* Entries of the method that jumps count. @return false: no jump counts them */
static bool count_calls(const qp_block_flow *f, qp_wide *calls)
{
    bool is_counted = false;
    *calls = 0;
    for (uint32_t k = 0; f->jumps && k < f->jumps->n_jumps; k++)
        if (f->jumps->jumps[k].from_block == QP_JUMP_ENTRY) {
            *calls += f->counted[k];
            is_counted = true;
        }
    return is_counted;
}

/* Add the entries of blocks by jumps to `blocks`, and their exits by jumps to `falls`. */
static void spread_jumps(qp_block_flow *f)
{
    for (uint32_t k = 0; k < f->jumps->n_jumps; k++) {
        qp_jump jump = f->jumps->jumps[k];
        if (qp_block_flow_is_way(f, k)) {
            f->blocks[jump.to_block] += f->counted[k];
            f->falls[jump.from_block] += f->counted[k];
        } else if ((uint32_t)jump.to_block < f->n_blocks) {
            f->falls[jump.to_block] += jump.from_block == QP_JUMP_LEFT     ? f->counted[k]
                                       : jump.from_block == QP_JUMP_JOINED ? -f->counted[k]
                                                                           : 0;
        }
    }
}

void qp_block_flow_solve(qp_block_flow *f)
{
    for (uint32_t i = 0; i < f->n_blocks; i++) {
        f->blocks[i] = f->jumps ? 0 : f->counted[i];
        f->falls[i] = 0;
    }
    if (!f->jumps)
        return;
    qp_wide fallen;
    if (!count_calls(f, &fallen))
        fallen = f->entries;
    spread_jumps(f);
    for (uint32_t i = 0; i < f->n_blocks; i++) {
        f->blocks[i] += fallen;
        fallen = f->blocks[i] - f->falls[i];
        if (fallen < 0 || !qp_block_flow_falls(f, i))
            fallen = 0;
        f->falls[i] = fallen;
    }
}
