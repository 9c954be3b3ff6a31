/* driver.h: a program for the interpreter interface as bytes, run by the recorder and by the
 * naive profiler side by side.
 *
 * The first eight bytes choose the run: mode, id policy, way in. Each further four are one
 * operation: what, and three arguments. Every string of bytes is a valid program. */
#ifndef QP_TESTS_DRIVER_H
#define QP_TESTS_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DRIVER_HEAD_BYTES = 8, DRIVER_OP_BYTES = 4, DRIVER_TEXT = 400 };

typedef struct {
    uint64_t n_events;            /* entries, exits, counts, blocks that both have seen */
    uint64_t n_compared;          /* nodes compared */
    uint64_t n_snapshots;         /* files compared */
    char difference[DRIVER_TEXT]; /* "" : none */
} driver_result;

/* Run a program in the current directory, which must be empty of *.qprof.
 * @return true: no difference. Then the library is shut down, whatever happened */
bool driver_run(const uint8_t *bytes, size_t n_bytes, driver_result *out);

/* One line for each operation, for people. */
void driver_print(const uint8_t *bytes, size_t n_bytes);

#endif
