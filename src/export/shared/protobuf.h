/* protobuf.h: writing protocol buffers: fields go into one buffer, and messages are nested in it. */
#ifndef QP_EXPORT_SHARED_PROTOBUF_H
#define QP_EXPORT_SHARED_PROTOBUF_H

#include <stdint.h>

#include "base/text/buf.h"

enum { QP_PROTO_DEPTH = 8 };

typedef struct {
    qp_buf bytes; /* unsigned char; see `failed` */
    unsigned depth;
    size_t open[QP_PROTO_DEPTH]; /* where the messages begin that are not complete */
} qp_proto;

/* Seven bits a byte, the lowest first; all but the last byte have the eighth set. @return bytes */
enum { QP_VARINT_BYTES = 10 };
size_t qp_varint(uint64_t value, unsigned char to[QP_VARINT_BYTES]);

void qp_proto_init(qp_proto *p);
void qp_proto_fini(qp_proto *p);
/* Forget all bytes, to write the next message. */
void qp_proto_clear(qp_proto *p);

void qp_proto_varint(qp_proto *p, uint64_t value); /* alone: an item of a packed field */
void qp_proto_count(qp_proto *p, uint32_t field, uint64_t value);
void qp_proto_fixed(qp_proto *p, uint32_t field, uint64_t value); /* 64 bits */
void qp_proto_bytes(qp_proto *p, uint32_t field, const void *bytes, size_t n);
/* A text as qp_clean_text() returns it. */
void qp_proto_text(qp_proto *p, uint32_t field, const char *text);

/* A field that is a message, or packed: all that is written up to its end is in it. */
void qp_proto_begin(qp_proto *p, uint32_t field);
void qp_proto_end(qp_proto *p);
void qp_proto_end_all(qp_proto *p);

/* A text without bytes that are not UTF-8, and without control characters: each becomes a '?'.
 * @return [*n_bytes] and NUL, free with qp_free(); NULL: no memory */
char *qp_clean_text(const char *text, size_t *n_bytes);

#endif
