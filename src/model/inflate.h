/* inflate.h: gzip unpacked, and whose memory zlib uses. */
#ifndef QP_MODEL_INFLATE_H
#define QP_MODEL_INFLATE_H

#include <stdbool.h>
#include <stddef.h>

/* Is this the beginning of a gzip file? */
bool qp_inflate_fits(const void *bytes, size_t n_bytes);

/** Unpack all members of a gzip file.
 * @param max_bytes  of what comes out
 * @param out    [*n] free with qp_free()
 * @param why    receives what is wrong, static text
 * @return false: see why */
bool qp_inflate(const void *bytes, size_t n_bytes, size_t max_bytes, void **out, size_t *n,
                const char **why);

/* For z_stream.zalloc and .zfree: zlib's memory is the tool's. */
void *qp_zlib_alloc(void *context, unsigned n, unsigned bytes);
void qp_zlib_free(void *context, void *memory);

#endif
