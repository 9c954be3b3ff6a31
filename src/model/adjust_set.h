/* adjust_set.h: what the files that collect adjustments share. */
#ifndef QP_MODEL_ADJUST_SET_H
#define QP_MODEL_ADJUST_SET_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/dict.h"
#include "model/adjust.h"

struct qp_adjust_private {
    qp_adjust adjust; /* what the caller sees */
    qp_arena arena;
    qp_buf files, warnings;
    qp_buf rooms;  /* size_t: ranges that a file has room for */
    qp_dict names; /* hash of a name: index of a file + 1 */
};

/* A mark's word at the beginning of a text. @param n_bytes  receives its length
 * @return QP_MARK_NONE: none */
qp_cover_mark qp_adjust_word_at(const char *text, size_t n_left, size_t *n_bytes);

/* Add a range to a file of this name and time, unless that has a newer one; what is older goes.
 * @return false: no memory */
bool qp_adjust_add(struct qp_adjust_private *own, const char *name, uint64_t time,
                   qp_adjust_range range);

/* @return false: no memory */
bool qp_adjust_warn(struct qp_adjust_private *own, const char *file, uint64_t line,
                    const char *what);

/* Show what is in the buffers. */
void qp_adjust_show(struct qp_adjust_private *own);

#endif
