/* measure.h: what call paths are worth: what formats with one value show one of, and others all. */
#ifndef QP_EXPORT_MEASURE_H
#define QP_EXPORT_MEASURE_H

#include <string.h>

#include "model/model.h"

typedef enum {
    QP_MEASURE_TIME,
    QP_MEASURE_CALLS,
    QP_MEASURE_SAMPLES,    /* that times were estimated from */
    QP_MEASURE_INTERRUPTS, /* of the PC command */
    QP_MEASURES
} qp_measure;

/* Of a path itself: what adds up to the whole. In ticks, if it is time. */
static inline uint64_t qp_measure_own(qp_measure x, const qp_figures *f)
{
    return x == QP_MEASURE_TIME      ? f->self
           : x == QP_MEASURE_CALLS   ? f->calls
           : x == QP_MEASURE_SAMPLES ? f->samples
                                     : f->interrupts;
}

/* A sum of these in units: the run's, or what is counted. */
static inline uint64_t qp_measure_units(qp_measure x, const qp_model *m, uint64_t sum)
{
    return x == QP_MEASURE_TIME ? qp_model_ns(m, sum) : sum;
}

static inline const char *qp_measure_unit(qp_measure x, const qp_model *m)
{
    return x == QP_MEASURE_TIME      ? m->run.unit
           : x == QP_MEASURE_CALLS   ? "calls"
           : x == QP_MEASURE_SAMPLES ? "samples"
                                     : "interrupts";
}

static inline bool qp_measure_is_ns(qp_measure x, const qp_model *m)
{
    return strcmp(qp_measure_unit(x, m), "ns") == 0;
}

#endif
