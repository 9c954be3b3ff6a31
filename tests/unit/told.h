/* told.h: what readers make of a trace. */
#ifndef QP_TESTS_UNIT_TOLD_H
#define QP_TESTS_UNIT_TOLD_H

#include <stdint.h>

/* Calls and breaks. */
typedef struct {
    uint64_t n_calls, n_incomplete, n_gaps, n_unmatched, depth_max, n_markers;
} told;

told tell(const char *file);

#endif
