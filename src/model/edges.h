/* edges.h: who called whom, and the path where most time went. */
#ifndef QP_MODEL_EDGES_H
#define QP_MODEL_EDGES_H

#include "model/model.h"

/* One row of a function detail. */
typedef struct {
    uint32_t method;   /* the caller or callee; QP_ROOT_METHOD: .root. */
    bool is_recursive; /* marked *: the calls lie inside the method, or lead back to it */
    uint64_t calls;
    uint64_t time; /* ticks, see below */
} qp_edge;

/** Callers of a method. time: what the caller got from the method's outermost activations; the
 * times of all rows add up to the method's total. Most time first.
 * @param thread  index, or QP_ALL_THREADS
 * @param out     [*n] free with qp_free()
 * @return false: no memory */
bool qp_model_callers(const qp_model *m, uint32_t method, uint32_t thread, qp_edge **out,
                      size_t *n);

/** Immediate callees of a method. time: their time with descendants, less the method's own time
 * inside (recursion), so that with the method's self it may exceed the total. The method itself
 * as a callee has time 0: nobody is its own descendant. */
bool qp_model_callees(const qp_model *m, uint32_t method, uint32_t thread, qp_edge **out,
                      size_t *n);

/** All pairs of caller and callee at once, for graphs: by caller, then by callee; .root. included.
 * time: with descendants, outermost activations of the pair only. */
typedef struct {
    uint32_t caller, callee;
    bool is_recursive;
    uint64_t calls, time;
} qp_pair;
bool qp_model_pairs(const qp_model *m, uint32_t thread, qp_pair **out, size_t *n);

/** The same by callee, then by caller, with the times of qp_model_callers(). */
bool qp_model_caller_pairs(const qp_model *m, uint32_t thread, qp_pair **out, size_t *n);

/** The path of greatest totals: from a thread's outermost method down to where own time is more
 * than that of any callee.
 * @param thread  index, or QP_ALL_THREADS: begins in the thread with most time
 * @param out     [*n] nodes, outermost first; free with qp_free()
 * @return false: no memory */
bool qp_model_hottest_path(const qp_model *m, uint32_t thread, uint32_t **out, size_t *n);

#endif
