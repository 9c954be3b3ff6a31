/* adjust.h: what people said about lines: dead code, tested by hand, inspected. In markers of the
 * sources, or in an adjustments file: docs/formats/adjustments.md. */
#ifndef QP_MODEL_ADJUST_H
#define QP_MODEL_ADJUST_H

#include "base/out.h"
#include "model/cover.h"
#include "model/lines.h"

typedef struct {
    uint32_t first, last; /* lines, from 1; UINT32_MAX: to the end of the file */
    qp_cover_mark mark;
    bool is_block; /* a line's own mark is stronger than that of a block it lies in */
} qp_adjust_range;

typedef struct {
    const char *name; /* of the source, as written */
    uint64_t time;    /* seconds since 1970; only ranges of the newest are kept */
    qp_adjust_range *ranges;
    size_t n_ranges;
} qp_adjust_file;

typedef struct {
    qp_adjust_file *files; /* by first mention */
    size_t n_files;
    char **warnings; /* one line each: "FILE:LINE: what is wrong" */
    size_t n_warnings;
    struct qp_adjust_private *own;
} qp_adjust;

/** No adjustments. @return NULL: no memory. Free with qp_adjust_free(), which takes NULL */
qp_adjust *qp_adjust_new(void);
void qp_adjust_free(qp_adjust *a);

/** Add those of an adjustments file. Bad lines are skipped, with a warning each.
 * @return false: see error: it cannot be read, or its first line is another; nothing was added */
bool qp_adjust_read(qp_adjust *a, const char *path, char error[QP_ERROR_BYTES]);
/** The same from memory. @param text  [n_bytes] @param name  for messages */
bool qp_adjust_read_text(qp_adjust *a, const char *text, size_t n_bytes, const char *name,
                         char error[QP_ERROR_BYTES]);

/** Add the markers of a source, `purecov: tested` and others.
 * @param name  of the source @param time  seconds since 1970
 * @return how many there are; a file without any is not added; SIZE_MAX: no memory */
size_t qp_adjust_scan(qp_adjust *a, const char *name, uint64_t time, const qp_source *source);

/** How many lines of a file are marked so? @param n_lines  of the file */
uint64_t qp_adjust_lines(const qp_adjust_file *f, qp_cover_mark mark, uint32_t n_lines);

/** What is said of a line. */
qp_cover_mark qp_adjust_mark(const qp_adjust_file *f, uint32_t line);

/** Write all as an adjustments file. Names that it cannot hold (with control characters) are left
 * out. @return how many files were left out */
size_t qp_adjust_write(const qp_adjust *a, qp_out *out);

/** The word of a mark: "deadcode", "tested", "inspected". */
const char *qp_adjust_word(qp_cover_mark mark);

#endif
