/* checksum.h: sums that show whether bytes are still as they were written.
 *
 * A sum is made of four CRC32C, each of every fourth word of 8 bytes: the
 * processor's instruction takes three cycles and can begin in each of them, so four at once
 * cost as much as one. Described in docs/formats/qprof.md. */
#ifndef QP_BASE_OS_CHECKSUM_H
#define QP_BASE_OS_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

enum { QP_CHECKSUM_STREAMS = 4 };
#define QP_CHECKSUM_FACTOR 0x9E3779B1u

typedef struct {
    uint32_t streams[QP_CHECKSUM_STREAMS];
} qp_checksum;

void qp_checksum_begin(qp_checksum *s);
/* @param bytes  aligned to 8 @param n_bytes  a multiple of 32 */
void qp_checksum_add(qp_checksum *s, const void *bytes, size_t n_bytes);
uint32_t qp_checksum_end(const qp_checksum *s);
/* All in one. */
uint32_t qp_checksum_of(const void *bytes, size_t n_bytes);

/* What qp_checksum_add() does without the processor's instruction. */
void qp_checksum_add_plainly(qp_checksum *s, const void *bytes, size_t n_bytes);

#endif
