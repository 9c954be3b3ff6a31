/* histogram.h: how many of what size: sixteen classes between each power of two and the next, so that
 * a percentile is known to 1/32 of itself, in little memory and one pass. */
#ifndef QP_REPLAY_HISTOGRAM_H
#define QP_REPLAY_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QP_HISTOGRAM_STEPS = 16, QP_HISTOGRAM_OCTAVES = 61 };

typedef struct {
    uint64_t *counts; /* [n][QP_HISTOGRAM_STEPS]; free with qp_free() */
    uint8_t first, n; /* octaves; n 0: empty */
} qp_histogram;

static inline unsigned qp_histogram_octave(uint64_t value)
{
    return value < QP_HISTOGRAM_STEPS ? 0 : 60 - (unsigned)__builtin_clzll(value);
}

/* @return NULL: no memory */
uint64_t *qp_histogram_grow(qp_histogram *h, unsigned octave);

/* @return false: no memory, and it is not counted */
static inline bool qp_histogram_add(qp_histogram *h, uint64_t value)
{
    unsigned octave = qp_histogram_octave(value), at = octave - h->first;
    uint64_t *counts =
        at < h->n ? h->counts + at * QP_HISTOGRAM_STEPS : qp_histogram_grow(h, octave);
    if (counts)
        counts[octave ? (value >> (octave - 1)) % QP_HISTOGRAM_STEPS : value]++;
    return counts != NULL;
}

/* Lowest value of a class, and of the one behind it. @param at  of all classes, from 0 */
uint64_t qp_histogram_low(unsigned at);

/* The value that `share` (0 to 1) of `n` values do not exceed; within the class, the values are taken
 * to be evenly spread. */
uint64_t qp_histogram_quantile(const qp_histogram *h, uint64_t n, double share);

#endif
