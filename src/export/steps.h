/* steps.h: the call tree of a thread as a sequence of entries and exits, for formats that know only
 * these: every path is entered once, and left when its callees and then its own time are over. */
#ifndef QP_EXPORT_STEPS_H
#define QP_EXPORT_STEPS_H

#include "base/buf.h"
#include "export/measure.h"

typedef struct {
    const qp_model *m;
    uint32_t root;
    qp_measure measure;
    uint64_t sum; /* of what was left so far; ticks, if it is time */
    /* the step */
    uint32_t node; /* 0: before the first */
    bool is_entry;
} qp_steps;

/* The root of the thread is a path only where it has something of its own: time of hidden callees,
 * or interrupts in no procedure. */
void qp_steps_init(qp_steps *s, const qp_model *m, uint32_t thread, qp_measure measure);

/* @return false: that was all */
bool qp_steps_next(qp_steps *s);

/* Units from the thread's beginning to the step. */
uint64_t qp_steps_at(const qp_steps *s);

/* What a path itself is worth, in units. */
uint64_t qp_path_own(const qp_model *m, uint32_t path, qp_measure measure);

/* The paths of a thread in the order of their entries. @param out  receives node indices,
 * uint32_t, replacing what it held; see `failed` */
void qp_steps_paths(const qp_model *m, uint32_t thread, qp_measure measure, qp_buf *out);

#endif
