/* noise.h: what of the difference between two sides of measured runs may be chance.
 * Source: docs/measurement.md#differences. */
#ifndef QP_MODEL_NOISE_H
#define QP_MODEL_NOISE_H

#include <stdint.h>

/* One figure in the runs of one side. */
typedef struct {
    uint64_t *values; /* [n] in any order; are sorted */
    uint32_t n;       /* > 0 */
    double variance;  /* of the estimate, if there is a single run; 0: exact */
} qp_noise_runs;

/* Of an even number of runs the mean of the two in the middle, rounded down. */
uint64_t qp_noise_median(qp_noise_runs *runs);

/* Half of the interval in which 99 of 100 differences of medians lie if nothing changed. */
uint64_t qp_noise_between(const qp_noise_runs *base, const qp_noise_runs *new);

#endif
