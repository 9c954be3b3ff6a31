/* import.h: profiles of other tools, made into profiles of ours: docs/import.md.
 *
 * A reader of a foreign format gathers functions, threads, call paths and lines; what it gathered
 * becomes the bytes of a profile, which are read and checked like those of any other. */
#ifndef QP_MODEL_IMPORT_H
#define QP_MODEL_IMPORT_H

#include "model/image.h"

enum { QP_IMPORT_SNIFF_BYTES = 4096 };

/** Do these first bytes of a file belong to a format that can be imported?
 * @param n_bytes  QP_IMPORT_SNIFF_BYTES will do, or the whole file */
bool qp_import_fits(const void *bytes, size_t n_bytes);
bool qp_import_fits_file(int fd);

/** Make the image of a profile of foreign bytes. @return false: see error (one line) */
bool qp_import_copy(qp_image *image, const void *bytes, size_t n_bytes,
                    const qp_load_options *o, char error[QP_ERROR_BYTES]);
/** The same from a plain file. */
bool qp_import_read(qp_image *image, int fd, const qp_load_options *o, uint64_t max_bytes,
                    char error[QP_ERROR_BYTES]);

#endif
