/* histogram.c: see calls.h. */
#include "replay/calls/calls.h"

#include <math.h>
#include <string.h>

#include "base/containers/alloc.h"

uint64_t *qp_histogram_grow(qp_histogram *h, unsigned octave)
{
    unsigned first = h->n && h->first < octave ? h->first : octave;
    unsigned end = h->n && h->first + h->n > octave + 1 ? h->first + h->n : octave + 1u;
    size_t row = QP_HISTOGRAM_STEPS * sizeof(uint64_t);
    uint64_t *counts = qp_alloc_zeroed(end - first, row);
    if (!counts)
        return NULL;
    if (h->n)
        memcpy(counts + (size_t)(h->first - first) * QP_HISTOGRAM_STEPS, h->counts, h->n * row);
    qp_free(h->counts);
    *h = (qp_histogram){counts, (uint8_t)first, (uint8_t)(end - first)};
    return counts + (size_t)(octave - first) * QP_HISTOGRAM_STEPS;
}

uint64_t qp_histogram_low(unsigned at)
{
    unsigned octave = at / QP_HISTOGRAM_STEPS, step = at % QP_HISTOGRAM_STEPS;
    if (octave >= QP_HISTOGRAM_OCTAVES)
        return UINT64_MAX;
    return octave ? (uint64_t)(QP_HISTOGRAM_STEPS + step) << (octave - 1) : step;
}

uint64_t qp_histogram_quantile(const qp_histogram *h, uint64_t n, double share)
{
    double wanted = ceil((double)n * share);
    uint64_t rank = wanted < 1 ? 1 : (uint64_t)wanted, before = 0;
    for (unsigned i = 0; i < h->n * (unsigned)QP_HISTOGRAM_STEPS; i++) {
        if (before + h->counts[i] < rank) {
            before += h->counts[i];
            continue;
        }
        unsigned at = h->first * (unsigned)QP_HISTOGRAM_STEPS + i;
        uint64_t low = qp_histogram_low(at), width = qp_histogram_low(at + 1) - low;
        double part = ((double)(rank - before) - 0.5) / (double)h->counts[i];
        return low + (uint64_t)((double)width * part);
    }
    return 0;
}
