/* fold.h: a model with functions hidden, of one function's calls only, or of what a call pattern
 * counts.
 *
 * A hidden method's time belongs to its nearest visible caller then, as if its code stood there;
 * visible methods that it called are called by that caller. Call paths that become the same are
 * one. What is hidden below no visible method belongs to the root of its thread. Times of visible
 * methods with callees stay what they were. */
#ifndef QP_MODEL_FOLD_H
#define QP_MODEL_FOLD_H

#include "model/model.h"

typedef struct {
    const bool *is_hidden; /* [n_methods]; NULL: none */
    uint32_t focus; /* only calls of this method, with what they called: then they are the
                            * run, and stand below the roots of their threads; 0: all */
    /* [n_nodes] of qp_charges, without only_hit: a path's own figures are those of the path that it
     * is charged to, or left out; calls count where they are charged themselves. Then nothing is
     * hidden and there is no focus: fold again. NULL: no pattern */
    const uint32_t *charged;
    const char *when; /* the pattern, borrowed; "": none */
} qp_fold;

/** Fold a model.
 *
 * The result can be asked for everything but qp_model_check(): methods and threads keep their
 * indices; run.total, run.calls and those of threads are what is left. Figures of blocks and lines
 * do not change. A method or node with has_hidden has no minimum and maximum.
 * @param m  becomes the folded model, and keeps the one it was made of until it is freed;
 *           untouched without memory
 * @return false: no memory. Cost: one pass over the call paths */
bool qp_model_fold(qp_model **m, const qp_fold *how);

#endif
