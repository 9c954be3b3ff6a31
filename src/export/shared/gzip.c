/* gzip.c: see gzip.h. */
#include "export/shared/gzip.h"

#include <zlib.h>

#include "base/containers/alloc.h"
#include "export/shared/protobuf.h"
#include "model/import/import.h"

struct qp_gzip {
    z_stream z;
    qp_out *out;
    bool is_base64;
    unsigned n_held; /* bytes of the next group of 3 */
    Bytef held[3];
    Bytef bytes[1 << 14];
};

/* The group that is held, filled up with nothing. */
static void write_group(qp_gzip *z)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (unsigned i = z->n_held; i < 3; i++)
        z->held[i] = 0;
    unsigned bits = (unsigned)z->held[0] << 16 | (unsigned)z->held[1] << 8 | z->held[2];
    for (unsigned i = 0; i < 4; i++)
        qp_out_char(z->out, i <= z->n_held ? digits[bits >> (18 - 6 * i) & 63] : '=');
    z->n_held = 0;
}

static void write_out(qp_gzip *z, const Bytef *bytes, size_t n_bytes)
{
    if (!z->is_base64) {
        qp_out_bytes(z->out, (const char *)bytes, n_bytes);
        return;
    }
    for (size_t i = 0; i < n_bytes; i++) {
        z->held[z->n_held++] = bytes[i];
        if (z->n_held == 3)
            write_group(z);
    }
}

static void deflate_all(qp_gzip *z, int flush)
{
    do {
        z->z.next_out = z->bytes;
        z->z.avail_out = sizeof z->bytes;
        deflate(&z->z, flush);
        write_out(z, z->bytes, sizeof z->bytes - z->z.avail_out);
    } while (z->z.avail_out == 0);
}

enum { GZIP_WINDOW = 16 + MAX_WBITS };

qp_gzip *qp_gzip_new(qp_out *out, bool is_base64)
{
    qp_gzip *z = qp_alloc_zeroed(1, sizeof *z);
    if (!z)
        return NULL;
    z->out = out;
    z->is_base64 = is_base64;
    z->z.zalloc = qp_zlib_alloc;
    z->z.zfree = qp_zlib_free;
    if (deflateInit2(&z->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MAX_MEM_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        qp_free(z);
        return NULL;
    }
    return z;
}

void qp_gzip_bytes(qp_gzip *z, const void *bytes, size_t n_bytes)
{
    enum { MOST = 1 << 30 }; /* zlib counts in unsigned int */
    const Bytef *from = bytes;
    while (n_bytes > 0) {
        size_t n = n_bytes < MOST ? n_bytes : MOST;
        z->z.next_in = (Bytef *)from;
        z->z.avail_in = (uInt)n;
        deflate_all(z, Z_NO_FLUSH);
        from += n;
        n_bytes -= n;
    }
}

void qp_gzip_varint(qp_gzip *z, uint64_t n)
{
    unsigned char bytes[QP_VARINT_BYTES];
    qp_gzip_bytes(z, bytes, qp_varint(n, bytes));
}

void qp_gzip_end(qp_gzip *z)
{
    deflate_all(z, Z_FINISH);
    if (z->n_held)
        write_group(z);
    deflateEnd(&z->z);
    qp_free(z);
}

bool qp_gzip_pack(const void *bytes, size_t n_bytes, qp_buf *to)
{
    z_stream z = {.zalloc = qp_zlib_alloc, .zfree = qp_zlib_free};
    if (n_bytes > UINT32_MAX / 2 ||
        deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MAX_MEM_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    const size_t most = deflateBound(&z, n_bytes), begin = to->n;
    z.next_in = (Bytef *)bytes;
    z.avail_in = (uInt)n_bytes;
    z.next_out = qp_buf_add_many(to, most);
    z.avail_out = (uInt)most;
    const bool is_good = z.next_out && deflate(&z, Z_FINISH) == Z_STREAM_END;
    to->n = is_good ? begin + z.total_out : begin;
    deflateEnd(&z);
    return is_good;
}
