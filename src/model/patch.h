/* patch.h: which lines a patch changes: a unified diff, as git and diff write it. */
#ifndef QP_MODEL_PATCH_H
#define QP_MODEL_PATCH_H

#include "model/model.h"

typedef struct {
    uint32_t first, last; /* lines of the new text, from 1 */
} qp_patch_span;

typedef struct {
    const char *path; /* of the new text; of the old one if is_gone. Without "a/" and "b/" */
    bool is_gone;     /* the patch removes the file */
    const qp_patch_span *spans; /* [n_spans] added or changed lines, ascending, not adjacent */
    size_t n_spans;
} qp_patch_file;

typedef struct {
    const qp_patch_file *files; /* in the order of the patch */
    size_t n_files;
    struct qp_patch_private *own;
} qp_patch;

/** Read a patch: with or without context, with renames, quoted paths, any line ends.
 * @param text   [n_bytes]
 * @param error  one line: what is wrong, and in which line of the patch
 * @return NULL: see error. Free with qp_patch_free(), which takes NULL */
qp_patch *qp_patch_read(const char *text, size_t n_bytes, char error[QP_ERROR_BYTES]);
void qp_patch_free(qp_patch *p);

#endif
