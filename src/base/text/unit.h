/* unit.h: numbers as people read them. */
#ifndef QP_BASE_TEXT_UNIT_H
#define QP_BASE_TEXT_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QP_NUMBER_BYTES = 64 }; /* room for any text made here, with its NUL */

/* One unit for a whole column, so that its decimals stand below each other. */
typedef struct {
    const char *suffix; /* " ms"; "" for plain counts */
    uint64_t divisor;   /* of the value: ns, or counts */
    unsigned n_decimals;
} qp_unit;
#define QP_UNIT_NONE ((qp_unit){"", 1, 0}) /* plain numbers */

/* Cycles have no larger unit: single figures are in the unit of their table as well. */
bool qp_unit_is_cycles(qp_unit unit);

/* The smallest unit that shows `largest` (ns, or counts if not is_time) below 10,000.
 * @param wanted  "s", "ms", "us", "ns" or "cycles"; NULL: choose */
qp_unit qp_unit_for(uint64_t largest, bool is_time, const char *wanted);

/* "12.345" in that unit, thousands grouped. @return to */
char *qp_unit_number(char *to, uint64_t value, qp_unit unit);

/* An estimate without the digits that its interval leaves open: those below the second digit of half. The
 * place of missing decimals is blank, for columns. The interval itself: value = half. @return to */
char *qp_unit_estimate(char *to, uint64_t value, uint64_t half, qp_unit unit);
/* The same of a single figure, "83 ms"; of a percentage, for a column. @return to */
char *qp_unit_time_estimate(char *to, uint64_t ns, uint64_t half);
char *qp_unit_percent_estimate(char *to, double percent, double half);

/* "12.345 ms": a single figure in the unit that fits it. @return to */
char *qp_unit_time(char *to, uint64_t ns);
/* "1,234,567". @return to */
char *qp_unit_count(char *to, uint64_t n);
/* "1 call", "1,234 calls". @param thing  "call", 20 bytes at most. @return to */
char *qp_unit_things(char *to, uint64_t n, const char *thing);
/* "1 switch", "1,234 switches". @param unit  in the plural, 20 bytes at most. @return to */
char *qp_unit_amount(char *to, uint64_t n, const char *unit);
/* "17.2 KiB". @return to */
char *qp_unit_size(char *to, uint64_t n_bytes);
/* "37.8": part of whole in percent; "0.0" of nothing. @return to */
char *qp_unit_percent(char *to, uint64_t part, uint64_t whole);
/* "99.9" of 9,999 in 10,000: percent rounded down, so that only all of it is 100; "-" of nothing.
 * @param n_decimals  1 to 6. @return to */
char *qp_unit_share(char *to, uint64_t part, uint64_t whole, unsigned n_decimals);

#endif
