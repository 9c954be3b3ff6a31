/* trace_pack.h: records of a trace as the bytes of a packet, and back. No memory is taken, and no
 * byte is trusted: whatever a packet holds, reading it ends and gives records. */
#ifndef QP_FORMAT_TRACE_PACK_H
#define QP_FORMAT_TRACE_PACK_H

#include <stdbool.h>
#include <stddef.h>

#include "format/trace.h"

enum { QP_PACKED_MAX = 32, QP_VARINT_MAX = 10 }; /* bytes of one record, one varint */

/* What the dictionary says of a call path; method 0: nothing. */
typedef struct {
    qp_cell caller, method;
} qp_pack_path;

typedef struct {
    qp_pack_path (*of)(void *to, qp_cell path);
    void *to;
} qp_pack_paths;

/* Where a packet stands between two records. It begins with first_ticks and path, twice, of the
 * packet's header. */
typedef struct {
    uint64_t ticks; /* of the record before */
    qp_cell path;   /* on top */
    qp_cell last;   /* of the last ENTRY */
} qp_pack_state;

static inline qp_trace_op qp_trace_op_of(const qp_trace_record *r)
{
    return (qp_trace_op)(r->word >> QP_TRACE_OP_SHIFT);
}

/* Has the record ticks? Else bits 0 to 59 of its word are something else. */
static inline bool qp_trace_has_ticks(qp_trace_op op)
{
    return op != QP_TRACE_TEXT && op != QP_TRACE_DATA;
}

/* Ticks that fall are moved to those before. @param out  [QP_PACKED_MAX] @return bytes written */
size_t qp_pack_record(qp_pack_state *s, const qp_trace_record *r, const qp_pack_paths *paths,
                      unsigned char *out);

/* @return bytes read, at least 1; 0: the payload ends here, or is damaged; *s and *r are as they
 * were then */
size_t qp_unpack_record(qp_pack_state *s, const unsigned char *in, size_t n_bytes,
                        const qp_pack_paths *paths, qp_trace_record *r);

/* @return bytes written; at most QP_VARINT_MAX */
size_t qp_pack_varint(uint64_t value, unsigned char *out);
/* @return bytes read; 0: it is longer than 64 bits or than what is there */
size_t qp_unpack_varint(const unsigned char *in, size_t n_bytes, uint64_t *value);

/* Bytes that a payload takes in the file. */
static inline size_t qp_packet_padded(size_t n_bytes)
{
    return (n_bytes + 7) / 8 * 8;
}

/* The sum that belongs into a packet. @param payload  [qp_packet_padded(p->n_bytes)], its end zero */
uint32_t qp_packet_sum(const qp_packet *p, const void *payload);

#endif
