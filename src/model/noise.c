/* noise.c: medians, and Welch's interval of a difference.
 *
 * Half = t * 1.2533 * sqrt(s²/n + s²/n), with the variance s² and the number n of the runs of each
 * side, and Student's t for 99 % and Welch's degrees of freedom (Biometrika 34, 1947). A median of
 * many runs varies sqrt(pi / 2) = 1.2533 times as much as their mean, of few runs less. */
#include "model/noise.h"

#include <math.h>
#include <stdlib.h>

static const double normal_99 = 2.576;
static const double median_by_mean = 1.2533;

static int compare_values(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

uint64_t qp_noise_median(qp_noise_runs *runs)
{
    qsort(runs->values, runs->n, sizeof *runs->values, compare_values);
    uint64_t low = runs->values[(runs->n - 1) / 2], high = runs->values[runs->n / 2];
    return low + (high - low) / 2;
}

/* Variance of one run; 0: there is a single one. */
static double spread(const qp_noise_runs *runs)
{
    double mean = 0, squares = 0;
    for (uint32_t i = 0; i < runs->n; i++)
        mean += (double)runs->values[i] / runs->n;
    for (uint32_t i = 0; i < runs->n; i++)
        squares += ((double)runs->values[i] - mean) * ((double)runs->values[i] - mean);
    return runs->n > 1 ? squares / (runs->n - 1) : 0;
}

/* Student's t: 99 of 100 values lie between -t and t. */
static double student(double freedom)
{
    static const double table[] = {63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355,
                                   3.250,  3.169, 3.106, 3.055, 3.012, 2.977, 2.947, 2.921,
                                   2.898,  2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797,
                                   2.787,  2.779, 2.771, 2.763, 2.756, 2.750};
    enum { N = sizeof table / sizeof table[0] };
    uint32_t whole = freedom < 1 ? 1 : freedom > N ? N : (uint32_t)freedom;
    return table[whole - 1];
}

/* A side with a single run is taken to vary as the other does. */
static double half_of(const qp_noise_runs *base, const qp_noise_runs *new)
{
    double one = spread(base->n > 1 ? base : new), two = spread(new->n > 1 ? new : base);
    double a = one / base->n, b = two / new->n;
    double freedom = (base->n > new->n ? base->n : new->n) - 1;
    if (base->n > 1 && new->n > 1 && a + b > 0)
        freedom = (a + b) * (a + b) / (a * a / (base->n - 1) + b * b / (new->n - 1));
    return student(freedom) * median_by_mean * sqrt(a + b);
}

uint64_t qp_noise_between(const qp_noise_runs *base, const qp_noise_runs *new)
{
    double half = base->n == 1 && new->n == 1 ? normal_99 *sqrt(base->variance + new->variance)
                                              : half_of(base, new);
    return half < 9e18 ? (uint64_t)ceil(half) : INT64_MAX;
}
