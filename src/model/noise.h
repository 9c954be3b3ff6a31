/* noise.h: what of the difference between two sides of measured runs may be chance.
 * Source: docs/measurement.md#differences. */
#ifndef QP_MODEL_NOISE_H
#define QP_MODEL_NOISE_H

#include <stdbool.h>
#include <stdint.h>

/* One figure in the runs of one side. */
typedef struct {
    uint64_t *values; /* [n] in any order; are sorted */
    uint32_t n;       /* > 0 */
    double variance;  /* of the estimate, if both sides have a single run; 0: exact */
} qp_noise_side;

typedef struct {
    qp_noise_side sides[2];
    uint64_t *distances; /* [n_distances] room for the computation */
    uint32_t n_distances;
} qp_noise;

/* With room for values, which are 0. @return false: no memory; qp_noise_fini() is allowed then */
bool qp_noise_init(qp_noise *x, uint32_t n_first, uint32_t n_second);
void qp_noise_fini(qp_noise *x);

/* Of an even number of runs the mean of the two in the middle, rounded down. */
uint64_t qp_noise_median(qp_noise_side *side);

/* Half of the interval in which 99 of 100 differences of medians lie if nothing changed. */
uint64_t qp_noise_between(qp_noise *x);

#endif
