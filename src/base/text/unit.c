/* unit.c: thousands, decimals, units of time and size. Integers throughout: what is printed is
 * the figure, rounded half up, not a binary approximation of it. */
#include "base/text/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/wide.h"

static const struct {
    const char *word, *suffix;
    uint64_t ns;
} units[] = {
    {"s", " s", 1000000000}, {"ms", " ms", 1000000}, {"us", " us", 1000}, {"ns", " ns", 1}};
enum { N_UNITS = sizeof units / sizeof units[0] };

static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};

/* The smallest unit in which `ns` is below `limit`; the last resort is seconds. */
static qp_unit unit_below(uint64_t ns, uint64_t limit)
{
    int i = N_UNITS - 1;
    while (i > 0 && ns / units[i].ns >= limit)
        i--;
    /* As many decimals as tell something: none of a nanosecond, three of all others. */
    return (qp_unit){units[i].suffix, units[i].ns, units[i].ns == 1 ? 0 : 3};
}

static const char cycles[] = " cycles";

bool qp_unit_is_cycles(qp_unit unit)
{
    return unit.suffix == cycles;
}

qp_unit qp_unit_for(uint64_t largest, bool is_time, const char *wanted)
{
    if (!is_time)
        return QP_UNIT_NONE;
    if (wanted && strcmp(wanted, "cycles") == 0) /* AQtime's: of a processor of 1 GHz */
        return (qp_unit){cycles, 1, 0};
    for (int i = 0; wanted && i < N_UNITS; i++)
        if (strcmp(wanted, units[i].word) == 0)
            return (qp_unit){units[i].suffix, units[i].ns, units[i].ns == 1 ? 0 : 3};
    return unit_below(largest, 10000);
}

/* The whole part with a comma every three digits, then the fraction. */
static char *print_grouped(char *to, uint64_t whole, uint64_t fraction, unsigned n_decimals)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, whole);
    char *at = to;
    for (int i = 0; i < n; i++) {
        *at++ = digits[i];
        if ((n - 1 - i) % 3 == 0 && i < n - 1)
            *at++ = ',';
    }
    *at = '\0';
    if (n_decimals > 0)
        snprintf(at, QP_NUMBER_BYTES - (size_t)(at - to), ".%0*" PRIu64, (int)n_decimals,
                 fraction);
    return to;
}

char *qp_unit_number(char *to, uint64_t value, qp_unit unit)
{
    uint64_t scale = powers[unit.n_decimals];
    uint64_t whole = value / unit.divisor;
    /* The rest is below the divisor, at most 1e9: times 1e3 it cannot overflow. */
    uint64_t fraction = (value % unit.divisor * scale + unit.divisor / 2) / unit.divisor;
    return print_grouped(to, whole + fraction / scale, fraction % scale, unit.n_decimals);
}

/* The power of ten that the second digit of an interval has; 1 of an exact figure. */
static uint64_t step_of(uint64_t half)
{
    uint64_t step = 1;
    while (half / step >= 100)
        step *= 10;
    return step;
}

/* The decimals that are known of a figure with such steps, at most those of the unit. */
static unsigned known_decimals(qp_unit unit, uint64_t step)
{
    unsigned n = unit.n_decimals;
    while (n > 0 && unit.divisor / powers[n] < step)
        n--;
    return n;
}

static uint64_t rounded(uint64_t value, uint64_t step)
{
    uint64_t rest = value % step, down = value - rest;
    return rest < step - rest || down > UINT64_MAX - step ? down : down + step;
}

char *qp_unit_estimate(char *to, uint64_t value, uint64_t half, qp_unit unit)
{
    uint64_t step = step_of(half);
    unsigned n_decimals = unit.n_decimals;
    unit.n_decimals = known_decimals(unit, step);
    qp_unit_number(to, rounded(value, step), unit);
    unsigned n_blanks = n_decimals - unit.n_decimals;
    if (n_decimals && !unit.n_decimals)
        n_blanks++; /* for the point */
    size_t length = strlen(to);
    memset(to + length, ' ', n_blanks);
    to[length + n_blanks] = '\0';
    return to;
}

char *qp_unit_time_estimate(char *to, uint64_t ns, uint64_t half)
{
    uint64_t step = step_of(half);
    ns = rounded(ns, step);
    qp_unit unit = unit_below(ns, 1000);
    unit.n_decimals = known_decimals(unit, step);
    qp_unit_number(to, ns, unit);
    return strcat(to, unit.suffix);
}

char *qp_unit_percent_estimate(char *to, double percent, double half)
{
    double step = 1;
    while (half / step >= 100)
        step *= 10;
    if (half < 10)
        snprintf(to, QP_NUMBER_BYTES, "%.1f", percent);
    else
        snprintf(to, QP_NUMBER_BYTES, "%.0f  ",
                 step * (double)(uint64_t)(percent / step + 0.5));
    return to;
}

char *qp_unit_time(char *to, uint64_t ns)
{
    qp_unit unit = unit_below(ns, 1000);
    qp_unit_number(to, ns, unit);
    strcat(to, unit.suffix);
    return to;
}

char *qp_unit_count(char *to, uint64_t n)
{
    return print_grouped(to, n, 0, 0);
}

char *qp_unit_things(char *to, uint64_t n, const char *thing)
{
    char count[QP_NUMBER_BYTES];
    snprintf(to, QP_NUMBER_BYTES, "%.26s %.20s%s", qp_unit_count(count, n), thing,
             n == 1 ? "" : "s");
    return to;
}

char *qp_unit_amount(char *to, uint64_t n, const char *unit)
{
    char count[QP_NUMBER_BYTES];
    int length = (int)strlen(unit);
    if (n == 1 && length > 4 && /* switches, misses; faults */
        (strcmp(unit + length - 4, "ches") == 0 || strcmp(unit + length - 4, "sses") == 0))
        length -= 2;
    else if (n == 1 && length > 1 && unit[length - 1] == 's')
        length--;
    snprintf(to, QP_NUMBER_BYTES, "%.26s %.*s", qp_unit_count(count, n), length, unit);
    return to;
}

char *qp_unit_size(char *to, uint64_t n_bytes)
{
    static const char suffix[][5] = {" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    if (n_bytes < 1024) {
        print_grouped(to, n_bytes, 0, 0);
        return strcat(to, " bytes");
    }
    int i = 0;
    uint64_t rest = n_bytes;
    for (; rest >= 1u << 20; i++)
        rest /= 1024;
    qp_unit_number(to, rest, (qp_unit){"", 1024, 1});
    return strcat(to, suffix[i]);
}

char *qp_unit_percent(char *to, uint64_t part, uint64_t whole)
{
    double percent = whole ? (double)part * 100.0 / (double)whole : 0.0;
    snprintf(to, QP_NUMBER_BYTES, "%.1f", percent);
    return to;
}

char *qp_unit_share(char *to, uint64_t part, uint64_t whole, unsigned n_decimals)
{
    if (whole == 0) {
        snprintf(to, QP_NUMBER_BYTES, "-");
        return to;
    }
    uint64_t one = powers[n_decimals];
    uint64_t percent = qp_product_share(part, 100 * one, 0, whole);
    snprintf(to, QP_NUMBER_BYTES, "%" PRIu64 ".%0*" PRIu64, percent / one, (int)n_decimals,
             percent % one);
    return to;
}
