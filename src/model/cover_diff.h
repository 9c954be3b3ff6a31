/* cover_diff.h: two pictures compared, and a picture seen through a patch. */
#ifndef QP_MODEL_COVER_DIFF_H
#define QP_MODEL_COVER_DIFF_H

#include "model/cover.h"
#include "model/patch.h"

typedef enum {
    QP_CHANGE_WORSE,
    QP_CHANGE_IMPROVED,
    QP_CHANGE_NEW,
    QP_CHANGE_GONE,
    QP_CHANGE_NONE /* of its share of hit lines; single functions may have changed */
} qp_cover_change;

/* A function that is hit on one side only, has other figures, or is on one side only. */
typedef struct {
    qp_cover_change change;        /* of its hit lines; without lines: of being hit */
    const qp_cover_function *base; /* NULL: NEW */
    const qp_cover_function *now;  /* NULL: GONE */
} qp_cover_diff_function;

typedef struct {
    const char *path;
    qp_cover_change change;
    const qp_cover_file *base;        /* NULL: NEW */
    const qp_cover_file *now;         /* NULL: GONE */
    double base_percent, now_percent; /* of lines; of functions where there are no lines */
    const qp_cover_diff_function *functions; /* [n_functions] those that changed, by line */
    size_t n_functions;
} qp_cover_diff_file;

typedef struct {
    const qp_cover_diff_file
        *files; /* by change, in the order of qp_cover_change; then by path */
    size_t n_files;
    size_t n_changed[QP_CHANGE_NONE + 1]; /* how many files of each */
    struct qp_cover_diff_private *own;
} qp_cover_diff;

/** Compare. Files agree by path, functions by name and, among namesakes, by their order.
 * @param base, now  must outlive the result
 * @return NULL: no memory. Free with qp_cover_diff_free(), which takes NULL */
qp_cover_diff *qp_cover_diff_new(const qp_cover *base, const qp_cover *now);
void qp_cover_diff_free(qp_cover_diff *d);

/* Of the lines that a patch adds or changes in one file. */
typedef struct {
    const qp_patch_file *patch;
    const qp_cover_file *file; /* NULL: not in the picture */
    uint64_t n_changed;        /* lines in the patch, with code or without */
    uint64_t n_lines, n_hit;   /* with code, and not dead; hit ones */
    uint64_t n_partial;
    const qp_patch_span
        *missed; /* [n_missed] stretches without a hit line, from the first to the
                                  * last missed line; ascending */
    size_t n_missed;
} qp_cover_changed;

/** Coverage of changed lines.
 * @param p    its paths are those of the picture; it and c must outlive the result
 * @param out  [*n] a row for each file of the patch that is not gone; free with qp_free(), once
 * @return false: no memory */
bool qp_cover_changes(const qp_cover *c, const qp_patch *p, qp_cover_changed **out, size_t *n);

#endif
