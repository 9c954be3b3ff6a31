/* pack.h: numbers as LEB128, for the columns of the store. */
#ifndef QP_STORE_PACK_H
#define QP_STORE_PACK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/text/buf.h"
#include "format/trace.h"

/* @param out  of bytes */
static inline void qp_pack_put(qp_buf *out, uint64_t n)
{
    unsigned char bytes[QP_VARINT_MAX];
    size_t n_bytes = qp_pack_varint(n, bytes);
    void *to = qp_buf_add_many(out, n_bytes);
    if (to)
        memcpy(to, bytes, n_bytes);
}

/* Small numbers of either sign are small; any number comes back. */
static inline uint64_t qp_pack_fold(uint64_t n)
{
    return n << 1 ^ (0 - (n >> 63));
}

static inline uint64_t qp_pack_unfold(uint64_t n)
{
    return n >> 1 ^ (0 - (n & 1));
}

typedef struct {
    const unsigned char *at, *end;
    bool is_bad; /* what was read is not valid */
} qp_cursor;

static inline uint64_t qp_pack_take(qp_cursor *c)
{
    uint64_t n = 0;
    if (c->at < c->end && *c->at < 0x80)
        return *c->at++;
    if (c->end - c->at > 1 && c->at[1] < 0x80) { /* most of the others */
        n = (uint64_t)(c->at[0] & 0x7F) | (uint64_t)c->at[1] << 7;
        c->at += 2;
        return n;
    }
    size_t n_bytes = c->is_bad ? 0 : qp_unpack_varint(c->at, (size_t)(c->end - c->at), &n);
    c->is_bad |= !n_bytes;
    c->at += n_bytes;
    return n;
}

/* A count of things, each of which has a byte. */
static inline size_t qp_pack_count(qp_cursor *c)
{
    uint64_t n = qp_pack_take(c);
    c->is_bad |= n > (uint64_t)(c->end - c->at);
    return c->is_bad ? 0 : (size_t)n;
}

#endif
