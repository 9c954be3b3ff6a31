/* cover_thresholds.h: the file that says how much is to be covered.
 *
 *   # a comment
 *   lines 80                        of all files together
 *   branches 70
 *   file src/parser/ lines 95       of each file that the glob fits
 *   file "my folder/a.lua" functions 100 */
#ifndef QP_CLI_COVER_THRESHOLDS_H
#define QP_CLI_COVER_THRESHOLDS_H

#include "cli/cover.h"

typedef struct {
    char *glob; /* NULL: all files together */
    qp_figure figure;
    double percent;
    unsigned line; /* of the file it stands in */
} qp_threshold;

typedef struct {
    qp_threshold *items; /* [n] */
    size_t n;
} qp_thresholds;

/* @return false: no file, or bad lines; each has its message, which names line and column */
bool qp_thresholds_read(const qp_cli *cli, const char *path, qp_thresholds *t);
void qp_thresholds_free(qp_thresholds *t);

#endif
