/* inflate.c: unpacks gzip files. */
#include <string.h>
#include <zlib.h>

#include "base/containers/alloc.h"
#include "base/text/buf.h"
#include "model/import/import.h"

enum { GZIP_WINDOW = 16 + MAX_WBITS, PIECE_BYTES = 1 << 16, MOST_AT_ONCE = 1 << 30 };

void *qp_zlib_alloc(void *context, unsigned n, unsigned bytes)
{
    (void)context;
    return qp_alloc(n, bytes);
}

void qp_zlib_free(void *context, void *memory)
{
    (void)context;
    qp_free(memory);
}

bool qp_inflate_fits(const void *bytes, size_t n_bytes)
{
    const unsigned char *b = bytes;
    return n_bytes >= 2 && b[0] == 0x1F && b[1] == 0x8B;
}

typedef struct {
    z_stream z;
    const unsigned char *at, *end; /* what zlib has not been given yet */
    qp_buf out;
    size_t max_bytes;
} unpacking;

/* Unpack one piece. @return Z_OK: continue; Z_STREAM_END; else an error, Z_BUF_ERROR: too
 * large */
static int unpack_piece(unpacking *u)
{
    unsigned char piece[PIECE_BYTES];
    if (u->z.avail_in == 0) {
        size_t n =
            (size_t)(u->end - u->at) < MOST_AT_ONCE ? (size_t)(u->end - u->at) : MOST_AT_ONCE;
        u->z.next_in = (Bytef *)u->at;
        u->z.avail_in = (uInt)n;
        u->at += n;
    }
    u->z.next_out = piece;
    u->z.avail_out = sizeof piece;
    bool is_at_end = u->z.avail_in == 0;
    int status = inflate(&u->z, Z_NO_FLUSH);
    size_t n = sizeof piece - u->z.avail_out;
    if (status == Z_BUF_ERROR || (status == Z_OK && is_at_end && n == 0))
        return Z_DATA_ERROR; /* it ends too early */
    if (n > u->max_bytes - u->out.n)
        return Z_BUF_ERROR;
    void *to = n ? qp_buf_add_many(&u->out, n) : NULL;
    if (to)
        memcpy(to, piece, n);
    return to || n == 0 ? status : Z_MEM_ERROR;
}

/* Whether another member follows the one that ended. */
static bool has_next_member(unpacking *u)
{
    u->at -= u->z.avail_in;
    u->z.avail_in = 0;
    return qp_inflate_fits(u->at, (size_t)(u->end - u->at)) && inflateReset(&u->z) == Z_OK;
}

bool qp_inflate(const void *bytes, size_t n_bytes, size_t max_bytes, void **out, size_t *n,
                const char **why)
{
    unpacking u = {.at = bytes, .max_bytes = max_bytes, .out = QP_BUF(char)};
    int status = Z_MEM_ERROR;
    u.end = u.at + n_bytes;
    u.z.zalloc = qp_zlib_alloc;
    u.z.zfree = qp_zlib_free;
    if (inflateInit2(&u.z, GZIP_WINDOW) == Z_OK) {
        do
            status = unpack_piece(&u);
        while (status == Z_OK || (status == Z_STREAM_END && has_next_member(&u)));
        inflateEnd(&u.z);
    }
    *out = qp_buf_take(&u.out, n);
    if (status == Z_STREAM_END && *out)
        return true;
    *why = status == Z_BUF_ERROR ? "unpacked it would be too large"
           : status == Z_MEM_ERROR || status == Z_STREAM_END
               ? "there is not enough memory to "
                 "unpack it"
               : "its compressed data are damaged "
                 "or cut off";
    qp_free(*out);
    *out = NULL;
    return false;
}
