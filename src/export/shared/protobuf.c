/* protobuf.c: see protobuf.h. */
#include "export/shared/protobuf.h"

#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/text.h"

enum { WIRE_VARINT = 0, WIRE_FIXED = 1, WIRE_BYTES = 2 };

void qp_proto_init(qp_proto *p)
{
    p->depth = 0;
    qp_buf_init(&p->bytes, 1);
}

void qp_proto_fini(qp_proto *p)
{
    qp_free(p->bytes.items);
}

void qp_proto_clear(qp_proto *p)
{
    p->bytes.n = 0;
    p->depth = 0;
}

static void add(qp_proto *p, const void *bytes, size_t n)
{
    void *to = n ? qp_buf_add_many(&p->bytes, n) : NULL;
    if (to)
        memcpy(to, bytes, n);
}

size_t qp_varint(uint64_t value, unsigned char to[QP_VARINT_BYTES])
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        to[n++] = (unsigned char)(value | 0x80);
    to[n++] = (unsigned char)value;
    return n;
}

void qp_proto_varint(qp_proto *p, uint64_t value)
{
    unsigned char bytes[QP_VARINT_BYTES];
    add(p, bytes, qp_varint(value, bytes));
}

void qp_proto_count(qp_proto *p, uint32_t field, uint64_t value)
{
    qp_proto_varint(p, (uint64_t)field << 3 | WIRE_VARINT);
    qp_proto_varint(p, value);
}

void qp_proto_fixed(qp_proto *p, uint32_t field, uint64_t value)
{
    unsigned char bytes[sizeof value];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
    qp_proto_varint(p, (uint64_t)field << 3 | WIRE_FIXED);
    add(p, bytes, sizeof bytes);
}

void qp_proto_bytes(qp_proto *p, uint32_t field, const void *bytes, size_t n)
{
    qp_proto_varint(p, (uint64_t)field << 3 | WIRE_BYTES);
    qp_proto_varint(p, n);
    add(p, bytes, n);
}

void qp_proto_text(qp_proto *p, uint32_t field, const char *text)
{
    size_t n;
    char *clean = qp_clean_text(text, &n);
    p->bytes.failed |= !clean;
    qp_proto_varint(p, (uint64_t)field << 3 | WIRE_BYTES);
    qp_proto_varint(p, n);
    add(p, clean, n);
    qp_free(clean);
}

void qp_proto_begin(qp_proto *p, uint32_t field)
{
    qp_proto_varint(p, (uint64_t)field << 3 | WIRE_BYTES);
    p->open[p->depth++] = p->bytes.n;
}

/* The length is known now: what it precedes makes room for it. */
void qp_proto_end(qp_proto *p)
{
    unsigned char length[QP_VARINT_BYTES];
    size_t at = p->open[--p->depth], n = p->bytes.n - at, n_length = qp_varint(n, length);
    add(p, length, n_length);
    if (p->bytes.failed)
        return;
    unsigned char *message = (unsigned char *)p->bytes.items + at;
    memmove(message + n_length, message, n);
    memcpy(message, length, n_length);
}

void qp_proto_end_all(qp_proto *p)
{
    while (p->depth)
        qp_proto_end(p);
}

char *qp_clean_text(const char *text, size_t *n_bytes)
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
