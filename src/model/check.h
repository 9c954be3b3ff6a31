/* check.h: what must be true of every profile, by name. */
#ifndef QP_MODEL_CHECK_H
#define QP_MODEL_CHECK_H

#include "model/model.h"

typedef struct {
    const char *name;  /* "accounting_identity", … */
    const char *claim; /* what is true when it passes, one line */
    bool passed;
    uint64_t n_checked; /* things looked at: threads, nodes, … */
    uint64_t n_failed;
    char detail[160]; /* the first failure with its figures; "" when passed */
} qp_check;

/** Check all invariants. In an unsealed profile each thread may have one event in flight, in a
 * live one or a snapshot as many as happened while it was copied.
 * @param out  [*n] free with qp_free()
 * @return false: no memory; else out says what failed */
bool qp_model_check(const qp_model *m, qp_check **out, size_t *n);

#endif
