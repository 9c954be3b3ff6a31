/* prf_join.h: header packet and packets to one file again. */
#ifndef QP_XBASE_PRF_JOIN_H
#define QP_XBASE_PRF_JOIN_H

#include "base/text/out.h"
#include "xbase/prf_read.h"

typedef struct {
    uint64_t n_packets;  /* joined */
    uint64_t n_rows;     /* records of a table; 0 with delimited text */
    uint64_t n_declared; /* by the header packet */
    uint64_t n_damaged;  /* bytes at the end of packets that are no whole record: left out */
} qp_prf_joined;

/* Write the trace at `path`, whose packets lie beside it, as one file: the count is corrected, and
 * the end is marked. A file that is no header packet comes out as a whole one.
 * @param out  errors of writing stay in it
 * @param why  receives what is wrong, static text
 * @return false: it cannot be read */
bool qp_prf_join(const char *path, qp_out *out, qp_prf_joined *joined, const char **why);

#endif
