/* compare.h: does a profile say what the naive profiler says? */
#ifndef QP_TESTS_COMPARE_H
#define QP_TESTS_COMPARE_H

#include "model/naive.h"

typedef enum {
    COMPARE_TIMES, /* and minima, maxima, blocks' times */
    COMPARE_CALLS, /* counts of all kinds */
    COMPARE_FIRST  /* counts, and the totals of paths with at most 64 calls at each step */
} compare_depth;

typedef struct {
    compare_depth depth;
    bool has_min_max;
    bool shares_rows; /* threads share rows: figures are those of all threads together */
    bool has_exits;   /* the exits of the identity are known: no entry was skipped */
    uint64_t n_nodes;
    char *difference; /* [n_text] */
    size_t n_text;
} comparison;

/* Load the file and compare. naive_derive() was called.
 * @return true: no difference; else c->difference says the first */
bool compare_file(comparison *c, naive *n, const char *file);

/* Compare the library's counters, while it runs or after. */
bool compare_diagnostics(comparison *c, const naive *n);

#endif
