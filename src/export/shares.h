/* shares.h: own times of call paths on source lines.
 *
 * Lines are timed for a function on all its paths, and readers of formats that put lines on paths add
 * them up again: so each path takes what those before it left. Sums over a source are exact. */
#ifndef QP_EXPORT_SHARES_H
#define QP_EXPORT_SHARES_H

#include "base/buf.h"
#include "base/dict.h"
#include "model/model.h"

typedef struct {
    const qp_model *m;
    qp_dict index; /* thread, method -> index + 1 into rests */
    qp_buf rests;
    bool failed; /* no memory */
} qp_shares;

void qp_shares_init(qp_shares *s, const qp_model *m);
void qp_shares_fini(qp_shares *s);

/** The next line that a path takes time of, which is gone then.
 * @param thread  whose lines, or QP_ALL_THREADS: the same for all calls
 * @param own     ticks that the path has left, > 0
 * @param part    receives how many of them are the line's: 1 to own
 * @return false: what is left is on no line that is known, or own is 0 */
bool qp_shares_next(qp_shares *s, uint32_t method, uint32_t thread, uint64_t own,
                    uint32_t *line, uint64_t *part);

#endif
