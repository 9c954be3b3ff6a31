/* diff.h: what changed between two sides, each of one run or several.
 *
 * Make one, add the runs of both sides in any order, finish it, read its rows. A run is not needed
 * any more once it was added: memory grows with rows, not with profiles. Figures are in the runs'
 * unit, not in ticks: two runs seldom tick alike.
 *
 * What belongs together: functions of one display name, module and file; call paths of such
 * functions, whatever their thread; threads of one name. Source of the noise:
 * docs/measurement.md#differences. */
#ifndef QP_MODEL_DIFF_H
#define QP_MODEL_DIFF_H

#include "model/model.h"

typedef enum { QP_DIFF_FUNCTIONS, QP_DIFF_PATHS, QP_DIFF_THREADS } qp_diff_kind;
typedef enum { QP_DIFF_BASE, QP_DIFF_NEW, QP_DIFF_SIDES } qp_diff_side;
typedef enum {
    QP_DIFF_ALIKE,
    QP_DIFF_CHANGED,
    QP_DIFF_ADDED, /* not in base */
    QP_DIFF_GONE,  /* not in new */
    QP_DIFF_STATES
} qp_diff_state;

typedef struct {
    uint64_t sides[QP_DIFF_SIDES]; /* medians of the runs; a run without the row counts as 0 */
    uint64_t noise;                /* a difference up to this may be chance; 0: none is */
} qp_diff_figure;

/* New - base, saturating: less than 0 is an improvement. */
int64_t qp_diff_change(const qp_diff_figure *f);
/* Is the difference more than chance? */
bool qp_diff_is_outside(const qp_diff_figure *f);

typedef struct {
    const char *name, *module, *file; /* good as long as the diff */
    uint32_t line;                    /* of its beginning, in the run added last; 0: unknown */
    uint32_t function;                /* its number: the same in all comparisons of the same
                                         runs, added in the same order */
    uint32_t parent;                  /* paths: row of the caller; 0: outermost */
    uint32_t depth;                   /* paths: functions on it */
    bool has_hidden;                  /* in a run: model/fold.h */
    qp_diff_state state;              /* by its own calls and time: callees change their own */
    qp_diff_figure calls, self, total;
} qp_diff_row;

typedef struct {
    qp_diff_kind kind;
    bool has_noise; /* several runs, or estimated times: else the noise is unknown */
    bool has_times; /* in all runs; else only calls are compared, and times are 0 */
    bool has_calls; /* counted in all runs; else only times are compared, and calls are 0 */
    uint32_t n_runs[QP_DIFF_SIDES];
    qp_diff_row *rows; /* [n_rows]; 0: the whole runs; callers before callees */
    uint32_t n_rows;
    uint32_t n_states[QP_DIFF_STATES]; /* rows in each */
    struct qp_diff_private *own;
} qp_diff;

/* @param ignores_system  leave out functions that block or wait @return NULL: no memory */
qp_diff *qp_diff_new(qp_diff_kind kind, bool ignores_system);
void qp_diff_free(qp_diff *d); /* takes NULL */

/** Can a run be compared with those that were added?
 * @param error  why not, one line: another clock or unit, coverage alone, nothing in common
 * @return false: see error */
bool qp_diff_fits(const qp_diff *d, const qp_model *m, char error[QP_ERROR_BYTES]);

enum { QP_DIFF_NO_THREAD = UINT32_MAX };

/** Add a run, which fits.
 * @param thread  index, QP_ALL_THREADS, or QP_DIFF_NO_THREAD: the run has none of the thread that
 *                is compared, and nothing is in it
 * @return false: no memory */
bool qp_diff_add(qp_diff *d, qp_diff_side side, const qp_model *m, uint32_t thread);

/* The row of a function or, without module and file, of a thread. @return 0: there is none */
uint32_t qp_diff_named(const qp_diff *d, const char *name, const char *module,
                       const char *file);

/* Both sides have a run: fill the rows. @return false: no memory */
bool qp_diff_finish(qp_diff *d);

#endif
