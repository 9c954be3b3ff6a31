/* protobuf.c: see protobuf.h. */
#include "export/protobuf.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

void qp_proto_init(qp_proto *p)
{
    p->n = 0;
}

void qp_proto_varint(qp_proto *p, uint64_t value)
{
    do {
        if (p->n < QP_PROTO_BYTES)
            p->bytes[p->n++] = (unsigned char)((value & 0x7F) | (value > 0x7F ? 0x80 : 0));
        value >>= 7;
    } while (value);
}

void qp_proto_count(qp_proto *p, uint32_t field, uint64_t value)
{
    qp_proto_varint(p, (uint64_t)field << 3 | WIRE_VARINT);
    qp_proto_varint(p, value);
}

void qp_proto_head(qp_proto *p, uint32_t field, size_t n_bytes)
{
    qp_proto_varint(p, (uint64_t)field << 3 | WIRE_BYTES);
    qp_proto_varint(p, n_bytes);
}

char *qp_proto_text(const char *text, size_t *n_bytes)
{
    size_t rest = strlen(text), n = 0;
    char *clean = qp_alloc(rest + 1, 1);
    while (clean && rest > 0) {
        uint32_t code;
        size_t taken = qp_text_char(text, rest, &code);
        bool is_shown = code >= 0x20 && code != UINT32_MAX && !(code >= 0x7F && code <= 0x9F);
        memcpy(clean + n, is_shown ? text : "?", is_shown ? taken : 1);
        n += is_shown ? taken : 1;
        text += taken;
        rest -= taken;
    }
    if (clean)
        clean[n] = '\0';
    *n_bytes = n;
    return clean;
}

void qp_proto_message(qp_proto *p, uint32_t field, const qp_proto *message)
{
    qp_proto_head(p, field, message->n);
    if (message->n <= QP_PROTO_BYTES - p->n) {
        memcpy(p->bytes + p->n, message->bytes, message->n);
        p->n += message->n;
    }
}
