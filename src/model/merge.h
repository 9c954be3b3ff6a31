/* merge.h: the profiles of several runs added up, one at a time.
 *
 * Methods are the same if their names, file, module, line table and jumps agree; threads if their
 * names do; call paths if their methods do. In which order profiles are added, and in what groups,
 * makes no difference to any figure. Memory: the sum, and what the caller holds. */
#ifndef QP_MODEL_MERGE_H
#define QP_MODEL_MERGE_H

#include "model/model.h"

typedef struct qp_merge qp_merge;

/* What there is so far. */
typedef struct {
    size_t n_runs, n_threads; /* threads: on which something was called */
    uint64_t calls;
} qp_merge_size;

/** An empty sum. @return NULL: no memory. Free with qp_merge_free(), which takes NULL */
qp_merge *qp_merge_new(void);
void qp_merge_free(qp_merge *s);

/** Add a profile. What was open in it counts up to its end, as in every report.
 *
 * Refused is what cannot be added: another clock, mode of time, granularity or kind of threads than
 * the first one's, and another version of a source file, unless is_forced.
 * @param m  may be freed afterwards. @param what  its name, for messages and for the notes
 * @return false: see error (one line); the sum is as before, but without memory it is spoilt */
bool qp_merge_add(qp_merge *s, const qp_model *m, const char *what, bool is_forced,
                  char error[QP_ERROR_BYTES]);

qp_merge_size qp_merge_measure(const qp_merge *s);

/** Write the sum as a sealed profile, whole or not at all. @return false: see error */
bool qp_merge_write(qp_merge *s, const char *path, char error[QP_ERROR_BYTES]);

#endif
