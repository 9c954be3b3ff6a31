/* noise.c: medians, and how far apart those of two sides may be by chance.
 *
 * Machines are disturbed: one run of five takes twice as long. So the spread S is the median of
 * the distances between every two runs of one side, both sides taken together (Bickel and
 * Lehmann, Annals of Statistics 7, 1979), which a quarter of wild runs does not move.
 *
 * half = k * S * sqrt(1/n + 1/n). Of many normal runs S is 0.954 standard deviations, and
 * medians vary sqrt(pi / 2) as much as means: k = 2.576 * 1.2533 / 0.954 = 3.4 for 99 of 100.
 * What few pairs need besides was found by drawing normal runs; tests/unit/test_diff.c does it
 * again. */
#include <math.h>
#include <stdlib.h>

#include "base/containers/alloc.h"
#include "model/combine/combine.h"

static const double normal_99 = 2.576;
static const double many_pairs = 3.4, few_pairs = 15, one_pair = 47;

static int compare_values(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

bool qp_noise_init(qp_noise *x, uint32_t n_first, uint32_t n_second)
{
    *x = (qp_noise){.sides = {{.n = n_first}, {.n = n_second}}};
    bool is_good = true;
    for (int i = 0; i < 2; i++) {
        qp_noise_side *side = &x->sides[i];
        side->values = qp_alloc_zeroed(side->n, sizeof *side->values);
        x->n_distances += side->n * (side->n - 1) / 2;
        is_good &= side->values != NULL;
    }
    x->distances = qp_alloc(x->n_distances, sizeof *x->distances);
    return is_good && x->distances;
}

void qp_noise_fini(qp_noise *x)
{
    qp_free(x->sides[0].values);
    qp_free(x->sides[1].values);
    qp_free(x->distances);
}

uint64_t qp_noise_median(qp_noise_side *side)
{
    qsort(side->values, side->n, sizeof *side->values, compare_values);
    uint64_t low = side->values[(side->n - 1) / 2], high = side->values[side->n / 2];
    return low + (high - low) / 2;
}

/* Of an even number of distances the larger one in the middle. */
static double spread(qp_noise *x)
{
    uint32_t n = 0;
    for (int i = 0; i < 2; i++) {
        const qp_noise_side *side = &x->sides[i];
        for (uint32_t a = 1; a < side->n; a++)
            for (uint32_t b = 0; b < a; b++)
                x->distances[n++] = side->values[a] > side->values[b]
                                        ? side->values[a] - side->values[b]
                                        : side->values[b] - side->values[a];
    }
    qsort(x->distances, n, sizeof *x->distances, compare_values);
    uint64_t median = x->distances[n / 2];
    return (double)median;
}

uint64_t qp_noise_between(qp_noise *x)
{
    uint32_t n = x->n_distances;
    double half;
    if (n == 0) {
        half = normal_99 * sqrt(x->sides[0].variance + x->sides[1].variance);
    } else {
        double k = n == 1 ? one_pair : many_pairs + few_pairs / n;
        half = k * spread(x) * sqrt(1.0 / x->sides[0].n + 1.0 / x->sides[1].n);
    }
    return half < 9e18 ? (uint64_t)ceil(half) : INT64_MAX;
}
