/* patterns.h: call patterns for tests: the worked results of spec/sampling.md, section 4, and
 * random patterns. */
#ifndef TESTS_UNIT_PATTERNS_H
#define TESTS_UNIT_PATTERNS_H

#include <stddef.h>

#define PATTERN_SEED "(m.a->m.b->*|m.c)->(*->m.d|m.e->*)"

/* A pattern, a stack, outermost first ("?" is foreign code), and the procedure that it charges:
 * "foreignPcs", or "-" for none. */
typedef struct {
    const char *pattern, *stack, *charged;
} pattern_result;
extern const pattern_result pattern_results[];
extern const size_t n_pattern_results;

/* @return one of 0 to n - 1, the same in each run of the program */
unsigned pattern_pick(unsigned n);

/* Write a random pattern at *at, which is moved to its end. @param depth of parentheses, at
 * most */
void pattern_write(char **at, int depth);

#endif
