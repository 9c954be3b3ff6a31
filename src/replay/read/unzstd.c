/* unzstd.c: a packed trace is unpacked first, because packets of OS threads, which are merged by time,
 * are read in any order. */
#include "replay/read/source.h"

#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/containers/alloc.h"

/* What a packed trace may become: traces of loops, which pack best, stay far below. */
enum { LEVEL = 6, ROOM = 64 << 20, TIMES = 1024 };

bool qp_unzstd_fits(const void *bytes, size_t n_bytes)
{
    uint32_t magic;
    if (n_bytes < sizeof magic)
        return false;
    memcpy(&magic, bytes, sizeof magic);
    return magic == ZSTD_MAGICNUMBER;
}

/* Of another file, or a damaged one, no more than the first piece is unpacked. @return NULL, or what is wrong */
static const char *unpack(ZSTD_DStream *stream, int from, int to, char *in_bytes,
                          char *out_bytes)
{
    uint64_t n_out = 0;
    size_t n;
    for (uint64_t at = 0; (n = qp_file_read_at(from, in_bytes, ZSTD_DStreamInSize(), at)) > 0;
         at += n) {
        ZSTD_inBuffer in = {in_bytes, n, 0};
        while (in.pos < in.size) {
            ZSTD_outBuffer out = {out_bytes, ZSTD_DStreamOutSize(), 0};
            size_t left = ZSTD_decompressStream(stream, &out, &in);
            if (!n_out && out.pos >= sizeof QP_TRACE_MAGIC - 1 &&
                memcmp(out_bytes, QP_TRACE_MAGIC, sizeof QP_TRACE_MAGIC - 1) != 0)
                return NULL;
            n_out += out.pos;
            if (n_out > ROOM + TIMES * (at + n))
                return "it would become more than a thousand times as large (use zstd -d)";
            if (!qp_file_write(to, out_bytes, out.pos))
                return "not enough room in /var/tmp to unpack it (use zstd -d)";
            if (ZSTD_isError(left))
                return NULL;
        }
    }
    return NULL;
}

int qp_unzstd(int fd, const char **why)
{
    int to = qp_file_temporary(why);
    ZSTD_DStream *stream = ZSTD_createDStream();
    char *in = qp_alloc(ZSTD_DStreamInSize(), 1), *out = qp_alloc(ZSTD_DStreamOutSize(), 1);
    const char *wrong = !stream || !in || !out ? "not enough memory" : NULL;
    if (to >= 0 && !wrong)
        wrong = unpack(stream, fd, to, in, out);
    ZSTD_freeDStream(stream);
    qp_free(in);
    qp_free(out);
    if (to >= 0 && wrong) {
        close(to);
        *why = wrong;
        to = -1;
    }
    return to;
}

bool qp_zstd(int fd, qp_out *to, const char **why)
{
    ZSTD_CStream *stream = ZSTD_createCStream();
    char *in_bytes = qp_alloc(ZSTD_CStreamInSize(), 1),
         *out_bytes = qp_alloc(ZSTD_CStreamOutSize(), 1);
    bool is_good =
        stream && in_bytes && out_bytes &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(stream, ZSTD_c_compressionLevel, LEVEL));
    size_t n = 1, left = 1;
    for (uint64_t at = 0; is_good && n; at += n) {
        n = qp_file_read_at(fd, in_bytes, ZSTD_CStreamInSize(), at);
        ZSTD_inBuffer in = {in_bytes, n, 0};
        do {
            ZSTD_outBuffer out = {out_bytes, ZSTD_CStreamOutSize(), 0};
            left = ZSTD_compressStream2(stream, &out, &in, n ? ZSTD_e_continue : ZSTD_e_end);
            qp_out_bytes(to, out_bytes, out.pos);
            is_good = !ZSTD_isError(left);
        } while (is_good && (n ? in.pos < in.size : left > 0));
    }
    ZSTD_freeCStream(stream);
    qp_free(in_bytes);
    qp_free(out_bytes);
    *why = "not enough memory";
    return is_good;
}
