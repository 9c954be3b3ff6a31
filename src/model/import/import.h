/* import.h: turns profiles of other tools into qprof profiles: docs/import.md.
 *
 * An importer gathers functions, threads, call paths and lines. They become the bytes of a
 * profile, which are read and checked like those of any other. */
#ifndef QP_MODEL_IMPORT_IMPORT_H
#define QP_MODEL_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text/error.h"
#include "model/read/read.h"

enum { QP_IMPORT_SNIFF_BYTES = 4096 };

/** Whether the first bytes of a file belong to a format that can be imported.
 * @param n_bytes  QP_IMPORT_SNIFF_BYTES will do, or the whole file */
bool qp_import_fits(const void *bytes, size_t n_bytes);
bool qp_import_fits_file(int fd);

/** Make the image of a profile from foreign bytes. @return false: see error (one line) */
bool qp_import_copy(qp_image *image, const void *bytes, size_t n_bytes,
                    const qp_load_options *o, qp_error *error);
/** The same from a plain file. */
bool qp_import_read(qp_image *image, int fd, const qp_load_options *o, uint64_t max_bytes,
                    qp_error *error);

/* ---- gzip -------------------------------------------------------------------------------- */

/* Whether this is the beginning of a gzip file. */
bool qp_inflate_fits(const void *bytes, size_t n_bytes);

/** Unpack all members of a gzip file.
 * @param max_bytes  of what comes out
 * @param out    [*n] free with qp_free()
 * @param why    receives what is wrong, static text
 * @return false: see why */
bool qp_inflate(const void *bytes, size_t n_bytes, size_t max_bytes, void **out, size_t *n,
                const char **why);

/* For z_stream.zalloc and .zfree: zlib uses the tool's allocator. */
void *qp_zlib_alloc(void *context, unsigned n, unsigned bytes);
void qp_zlib_free(void *context, void *memory);

#endif
