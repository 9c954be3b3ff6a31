/* steps.h: the call tree of a thread as a sequence of entries and exits, for formats that know only
 * these: every path is entered once, and left when its callees and then its own time are over. */
#ifndef QP_EXPORT_STEPS_H
#define QP_EXPORT_STEPS_H

#include "base/buf.h"
#include "model/model.h"

typedef struct {
    const qp_model *m;
    uint32_t root;
    bool is_calls; /* the measure: calls in place of time */
    uint64_t sum;  /* ticks, or calls, of what was left so far */
    /* the step */
    uint32_t node; /* 0: before the first */
    bool is_entry;
} qp_steps;

/* The root of the thread is a path only where it has time of its own: of hidden callees. */
void qp_steps_init(qp_steps *s, const qp_model *m, uint32_t thread, bool is_calls);

/* @return false: that was all */
bool qp_steps_next(qp_steps *s);

/* Calls, or the run's unit, from the thread's beginning to the step. */
uint64_t qp_steps_at(const qp_steps *s);

/* What a path itself is worth: calls, or own time in the run's unit. */
uint64_t qp_path_own(const qp_model *m, uint32_t path, bool is_calls);

/* The paths of a thread in the order of their entries. @param out  receives node indices,
 * uint32_t, replacing what it held; see `failed` */
void qp_steps_paths(const qp_model *m, uint32_t thread, qp_buf *out);

#endif
