/* growth.c: by how much figures grew, and what a gate makes of it. Start reading at qp_gate_judge().
 *
 * A gate that fails by mistake is not believed the next time, and one function of hundreds always grew by
 * chance. So chances are corrected for the number of figures (Holm, Scandinavian Journal of Statistics 6, 1979):
 * of 100 gates of equal programs at most one fails. Welch's test (Biometrika 34, 1947) of logarithms does
 * with few runs, which a permutation test does not: 5 and 5 runs have only 252 orders. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/combine/diff.h"

static const double error_rate = 0.01; /* of a gate */
static const double rounding = 1e-9;   /* of logarithms: 20 % more is not more than 20 % */

/* ---- Student's t ------------------------------------------------------------------------- */

/* The continued fraction of the incomplete beta function (Lentz's method; Abramowitz and Stegun 26.5.8). */
static double beta_fraction(double a, double b, double x)
{
    enum { TERMS = 300 };
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) > tiny ? d : tiny);
    double fraction = d;
    for (int i = 1; i < TERMS; i++) {
        const double terms[] = {i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i)),
                                -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1))};
        double factor = 1;
        for (int k = 0; k < 2; k++) {
            d = 1 + terms[k] * d;
            d = 1 / (fabs(d) > tiny ? d : tiny);
            c = 1 + terms[k] / c;
            c = fabs(c) > tiny ? c : tiny;
            factor = d * c;
            fraction *= factor;
        }
        if (fabs(factor - 1) < 1e-14)
            break;
    }
    return fraction;
}

/* The regularized incomplete beta function. */
static double incomplete_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double qp_student_above(double t, double freedom)
{
    if (freedom <= 0)
        return erfc(t / sqrt(2)) / 2;
    double half = incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
    return t > 0 ? half : 1 - half;
}

double qp_student_value(double chance, double freedom)
{
    double low = 0, high = 1;
    while (qp_student_above(high, freedom) > chance && high < 1e12)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        *(qp_student_above(middle, freedom) > chance ? &low : &high) = middle;
    }
    return high;
}

/* ---- growth ------------------------------------------------------------------------------ */

/* Of the logarithms of one side. */
typedef struct {
    double mean, variance; /* variance: of one run; of an estimate */
    double value;          /* the geometric mean; exact, if all runs have it */
    bool varies;
} side_growth;

static double log_of(uint64_t value)
{
    return log(value ? (double)value : 1);
}

/* A run without the row has no sample: its figure is 0. */
static side_growth growth_of(const qp_diff *d, uint32_t row, qp_diff_measure measure,
                             qp_diff_side side)
{
    const qp_diff_sample *first = ((const qp_diff_entry *)d->own->entries.items)[row].samples;
    const uint32_t n = d->n_runs[side];
    uint32_t n_present = 0;
    uint64_t least = UINT64_MAX, most = 0;
    side_growth g = {0};
    for (const qp_diff_sample *s = first; s; s = s->next) {
        uint64_t value = s->figures[measure];
        if (s->side != side)
            continue;
        n_present++;
        g.mean += log_of(value);
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    least = n_present < n ? 0 : least;
    g.mean /= n;
    g.varies = least != most;
    g.value = g.varies ? exp(g.mean) : (double)most;
    if (!g.varies)
        return g;
    g.variance = (n - n_present) * g.mean * g.mean;
    for (const qp_diff_sample *s = first; s; s = s->next) {
        double distance = log_of(s->figures[measure]) - g.mean;
        g.variance += s->side == side ? distance * distance : 0;
    }
    g.variance /= n - 1;
    return g;
}

/* With one run a side, of an estimate: the standard deviation of a logarithm is that of the figure in proportion. */
static double estimate_error(const qp_diff *d, uint32_t row, qp_diff_measure measure)
{
    double error = 0;
    const qp_diff_sample *s = ((const qp_diff_entry *)d->own->entries.items)[row].samples;
    for (; s; s = s->next) {
        double value = (double)s->figures[measure];
        error += value > 0 ? qp_diff_variance(s, measure) / (value * value) : 0;
    }
    return error > 0 ? sqrt(error) : -1;
}

static bool is_time(qp_diff_measure measure)
{
    return measure >= QP_DIFF_OF_SELF && measure <= QP_DIFF_OF_TOTAL_RUN;
}

qp_figure_growth qp_diff_growth(const qp_diff *d, uint32_t row, qp_diff_measure measure)
{
    side_growth sides[QP_DIFF_SIDES];
    double error = 0, runs = 0, freedom = 0;
    for (int i = 0; i < QP_DIFF_SIDES; i++) {
        sides[i] = growth_of(d, row, measure, (qp_diff_side)i);
        runs += 1.0 / d->n_runs[i];
    }
    const uint32_t n_base = d->n_runs[QP_DIFF_BASE], n_new = d->n_runs[QP_DIFF_NEW];
    qp_figure_growth g = {.sides = {sides[QP_DIFF_BASE].value, sides[QP_DIFF_NEW].value},
                          .log = sides[QP_DIFF_NEW].mean - sides[QP_DIFF_BASE].mean,
                          .varies = sides[QP_DIFF_BASE].varies || sides[QP_DIFF_NEW].varies};
    if (n_base == 1 && n_new == 1) {
        bool is_counted = !is_time(measure) || strcmp(d->own->unit, "counts") == 0;
        g.error = is_counted ? 0 : estimate_error(d, row, measure);
        g.spread = g.error / sqrt(2);
        return g;
    }
    /* a single run is taken to vary as those of the other side */
    sides[QP_DIFF_BASE].variance =
        n_base > 1 ? sides[QP_DIFF_BASE].variance : sides[QP_DIFF_NEW].variance;
    sides[QP_DIFF_NEW].variance =
        n_new > 1 ? sides[QP_DIFF_NEW].variance : sides[QP_DIFF_BASE].variance;
    for (int i = 0; i < QP_DIFF_SIDES; i++) {
        double part = sides[i].variance / d->n_runs[i];
        error += part;
        freedom += d->n_runs[i] > 1 ? part * part / (d->n_runs[i] - 1) : 0;
    }
    g.error = sqrt(error);
    g.spread = g.error / sqrt(runs);
    g.freedom = n_base == 1 || n_new == 1 ? n_base + n_new - 2 : error * error / freedom;
    if (!(error > 0))
        g.freedom = n_base + n_new - 2;
    return g;
}

/* ---- the gate ---------------------------------------------------------------------------- */

static bool has_noise(const qp_gate_item *item)
{
    return !item->is_exact && item->growth.error >= 0;
}

/* Those that are judged by their noise come first, the least chance before others. */
static int compare_chances(const void *a, const void *b)
{
    const qp_gate_item *x = a, *y = b;
    if (has_noise(x) != has_noise(y))
        return has_noise(x) ? -1 : 1;
    int order = (x->chance > y->chance) - (x->chance < y->chance);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static double chance_of(const qp_figure_growth *g)
{
    if (g->error > 0)
        return qp_student_above(g->log / g->error, g->freedom);
    return g->log > rounding ? 0 : 1;
}

/* Runs a side with which so much more would be seen. */
static uint32_t runs_for(double distance, double spread, double chance, uint32_t n_runs)
{
    uint32_t n = n_runs + 1;
    while (n <= QP_RUNS_MOST &&
           qp_student_above(distance / (spread * sqrt(2.0 / n)), 2 * n - 2) > chance)
        n++;
    return n;
}

static void judge_item(qp_gate_item *item, bool is_chance, size_t n, uint32_t n_runs)
{
    const qp_figure_growth *g = &item->growth;
    bool is_more = g->log > item->limit + rounding;
    bool is_enough = g->log + (item->half > 0 ? item->half : 0) <= item->least + rounding;
    item->verdict = is_more && !is_chance ? QP_VERDICT_FAIL
                    : is_enough           ? QP_VERDICT_PASS
                                          : QP_VERDICT_UNSURE;
    if (item->verdict != QP_VERDICT_UNSURE)
        return;
    item->n_runs = g->error < 0 ? QP_RUNS_USUAL
                   : is_more    ? runs_for(g->log, g->spread, error_rate / (double)n, n_runs)
                                : runs_for(item->least - g->log, g->spread, error_rate, n_runs);
}

void qp_gate_judge(qp_gate_item *items, size_t n, uint32_t n_runs)
{
    size_t n_tests = 0;
    for (size_t i = 0; i < n; i++) {
        const qp_figure_growth *g = &items[i].growth;
        bool is_test = has_noise(&items[i]);
        n_tests += is_test;
        items[i].chance = is_test ? chance_of(g) : 1;
        items[i].half = !is_test        ? -1
                        : g->error == 0 ? 0
                                        : g->error * qp_student_value(error_rate, g->freedom);
    }
    if (n)
        qsort(items, n, sizeof *items, compare_chances);
    bool is_chance = false;
    for (size_t i = 0; i < n; i++) {
        is_chance |= i >= n_tests || items[i].chance > error_rate / (double)(n_tests - i);
        if (!items[i].is_exact)
            judge_item(&items[i], is_chance, n_tests, n_runs);
    }
}
