/* gzip.h: a sink that compresses into another one. Sticky, as that is. */
#ifndef QP_EXPORT_SHARED_GZIP_H
#define QP_EXPORT_SHARED_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/buf.h"
#include "base/text/out.h"

typedef struct qp_gzip qp_gzip;

/* Compress all at once. @param to  a buffer of bytes @return false: no memory */
bool qp_gzip_pack(const void *bytes, size_t n_bytes, qp_buf *to);

/* @param out  borrowed @return NULL: no memory */
qp_gzip *qp_gzip_new(qp_out *out, bool is_base64);
void qp_gzip_bytes(qp_gzip *z, const void *bytes, size_t n_bytes);
void qp_gzip_varint(qp_gzip *z, uint64_t n);
/* Write the rest and free it. The same input gives the same bytes: no name, no date. */
void qp_gzip_end(qp_gzip *z);

#endif
