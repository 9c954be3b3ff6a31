/* protobuf.h: writing fields of protocol buffers, into a message of bounded size. */
#ifndef QP_EXPORT_PROTOBUF_H
#define QP_EXPORT_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

enum { QP_PROTO_BYTES = 8192 };

typedef struct {
    size_t n;
    unsigned char
        bytes[QP_PROTO_BYTES]; /* what has no room is left out: the caller knows sizes */
} qp_proto;

void qp_proto_init(qp_proto *p);
void qp_proto_varint(qp_proto *p, uint64_t value); /* alone: an item of a packed field */
void qp_proto_count(qp_proto *p, uint32_t field, uint64_t value);
/* The head of a field with n bytes, which follow. */
void qp_proto_head(qp_proto *p, uint32_t field, size_t n_bytes);
/* A text as a message may hold it: what is no UTF-8, and what steers a terminal, becomes a '?'.
 * @return [*n_bytes] and NUL, free with qp_free(); NULL: no memory */
char *qp_proto_text(const char *text, size_t *n_bytes);
void qp_proto_message(qp_proto *p, uint32_t field, const qp_proto *message);

#endif
