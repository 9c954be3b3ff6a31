/* tables.h: how long a method's tables are, and when two of them agree. */
#ifndef QP_FORMAT_TABLES_H
#define QP_FORMAT_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "format/layout.h"

/* What says how long the rest is. */
enum { QP_LINES_HEAD = offsetof(qp_lines, lines), QP_JUMPS_HEAD = offsetof(qp_jumps, jumps) };

static inline uint64_t qp_lines_bytes(uint32_t n_lines)
{
    return QP_LINES_HEAD + n_lines * (uint64_t)sizeof(qp_line);
}

static inline uint64_t qp_jumps_bytes(uint32_t n_jumps, uint32_t n_blocks)
{
    return QP_JUMPS_HEAD + n_jumps * (uint64_t)sizeof(qp_jump) + n_blocks;
}

static inline bool qp_lines_agree(const qp_line *a, uint32_t n_a, const qp_line *b,
                                  uint32_t n_b)
{
    return n_a == n_b && (!n_a || memcmp(a, b, n_a * sizeof *a) == 0);
}

/* NULL: none. */
static inline bool qp_jumps_agree(const qp_jumps *a, const qp_jumps *b)
{
    return a == b || (a && b && a->n_jumps == b->n_jumps && a->n_blocks == b->n_blocks &&
                      memcmp(a, b, qp_jumps_bytes(a->n_jumps, a->n_blocks)) == 0);
}

#endif
