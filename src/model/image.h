/* image.h: the bytes of a profile, copied, so that nobody can change or cut them any more. */
#ifndef QP_MODEL_IMAGE_H
#define QP_MODEL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/layout.h"
#include "model/model.h"

typedef struct {
    uint64_t begin, end; /* bytes */
} qp_stretch;

typedef struct {
    unsigned char *bytes;   /* zero where the file has holes */
    uint64_t file_bytes;    /* as large as the file was */
    uint64_t foreign_bytes; /* the same of another tool's file that this was made of, or 0 */
    uint32_t n_cells;       /* whole ones */
    qp_stretch *data;       /* what is not a hole, ascending */
    size_t n_data;
} qp_image;

enum {
    QP_IMAGE_PERCENT = 40
}; /* of the time that loading takes, reading takes about so much */

/* Copy a file. @param progress  may be NULL; is told up to QP_IMAGE_PERCENT
 * @param error  [QP_ERROR_BYTES], what is wrong with it @return false: see error */
bool qp_image_read(qp_image *image, int fd, uint64_t max_bytes, const qp_progress *progress,
                   char *error);
bool qp_image_copy(qp_image *image, const void *bytes, size_t n_bytes, char *error);
void qp_image_fini(qp_image *image);

/* Is this a head that we can read? @return false: see error */
bool qp_image_check_head(const qp_image *image, char *error);

static inline const qp_head *qp_image_head(const qp_image *image)
{
    return (const qp_head *)(const void *)image->bytes;
}

/* A cell that the caller knows to be in range. */
static inline const void *qp_image_cell(const qp_image *image, qp_cell cell)
{
    return image->bytes + (uint64_t)cell * QP_CELL;
}

/* n_bytes at a reference. @return NULL: out of range */
const void *qp_image_blob(const qp_image *image, qp_ref ref, uint64_t n_bytes);

/* The text at a reference. @return NULL: no text there */
const char *qp_image_text(const qp_image *image, qp_ref ref);

/* The first cell at or behind this one that does not lie in a hole, or n_cells. */
uint32_t qp_image_skip_hole(const qp_image *image, uint32_t cell);

#endif
