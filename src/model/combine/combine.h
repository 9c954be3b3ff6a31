/* combine.h: profiles of several runs: their sum and their difference. */
#ifndef QP_MODEL_COMBINE_COMBINE_H
#define QP_MODEL_COMBINE_COMBINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/error.h"
#include "format/builder.h"
#include "model/figures/figures.h"
#include "model/model.h"

/* ---- merging ----------------------------------------------------------------------------- */

typedef struct qp_merge qp_merge;

/* The size of the sum so far. */
typedef struct {
    size_t n_runs, n_threads; /* threads: on which something was called */
    uint64_t calls;
    qp_run_parts parts; /* of its runs */
} qp_merge_size;

/** An empty sum. @return NULL: no memory. Free with qp_merge_free(), which takes NULL */
qp_merge *qp_merge_new(void);
void qp_merge_free(qp_merge *s);

/** Add a profile. What was open in it counts up to its end, as in every report.
 *
 * Refused is what cannot be added: another clock, mode of time, granularity or kind of threads
 * than the first one's, and another version of a source file, unless is_forced.
 * @param m  may be freed afterwards. @param what  its name, for messages and for the notes
 * @return false: see error (one line); the sum is as before, but without memory it is spoilt */
bool qp_merge_add(qp_merge *s, const qp_model *m, const char *what, bool is_forced,
                  qp_error *error);

qp_merge_size qp_merge_measure(const qp_merge *s);

/** Write the sum as a sealed profile, whole or not at all. @return false: see error */
bool qp_merge_write(qp_merge *s, const char *path, qp_error *error);

/** The same as the bytes of a file.
 * @param has_paths  false: without its call paths and counters, and the methods that only they name; what
 *                   qp_merge_path_at() and qp_merge_counters_at() return is missing then. Requests are there
 * @param bytes      free with qp_free() */
bool qp_merge_bytes(qp_merge *s, bool has_paths, void **bytes, size_t *n_bytes,
                    qp_error *error);

enum { QP_LABELS_BYTES = 4096 };

/** The labels of several runs: each with the values of all, sorted and separated by '|'.
 * @param known  of the runs before; NULL: none. @return to */
const char *qp_labels_join(char to[QP_LABELS_BYTES], const char *known, const char *labels);

/* ---- the parts of a sum: merge_parts.c ----------------------------------------------------
 *
 * A store keeps the methods and call paths of all sums once, and of each sum its figures. Methods and
 * paths have indices; paths include the roots of threads, and what a path names has a smaller index. */

enum { QP_MERGE_NONE = UINT32_MAX };

typedef enum {
    QP_PATH_HITS,
    QP_PATH_SKIPS,
    QP_PATH_RESUMES,
    QP_PATH_COUNTS,
    QP_PATH_PC_SAMPLES,
    QP_PATH_BYTES,
    QP_PATH_OBJECTS,
    QP_PATH_FREED_BYTES,
    QP_PATH_FREED_OBJECTS,
    QP_PATH_SELF, /* in the unit of the sum, as OFF */
    QP_PATH_OFF,
    QP_PATH_LOW,  /* exact: of one call; adaptive: a variance, the lower half; else nothing */
    QP_PATH_HIGH, /* exact: of one call; adaptive: the upper half; sampled: samples */
    QP_PATH_COLUMNS
} qp_path_column;

typedef struct {
    uint32_t parent;    /* of the root of a thread: itself */
    uint32_t method;    /* of a root: 0 */
    const char *thread; /* of a root: the name of the thread; else NULL */
    uint32_t creator;   /* of a root: index + 1 of the path that created the thread; 0: none */
} qp_merge_path;

size_t qp_merge_n_methods(const qp_merge *s);
size_t qp_merge_n_paths(const qp_merge *s);
/* Texts and tables are the sum's. */
qp_builder_code qp_merge_method_at(const qp_merge *s, uint32_t i);
/* Fill both. Of a root the figures are 0: qp_merge_bytes() has them. */
void qp_merge_path_at(const qp_merge *s, uint32_t i, qp_merge_path *path,
                      uint64_t figures[QP_PATH_COLUMNS]);

/* Find a method or a path, or add it without figures. @return its index; QP_MERGE_NONE: no memory */
uint32_t qp_merge_put_method(qp_merge *s, const qp_builder_code *code);
uint32_t qp_merge_put_path(qp_merge *s, const qp_merge_path *path);

/* Add figures to a path, which is no root, of a sum that has the bytes of their sum without paths. */
void qp_merge_path_add(qp_merge *s, uint32_t i, const uint64_t figures[QP_PATH_COLUMNS]);

/* The counters of a method on a thread: how often its lines or jumps were executed, their times, ... */
typedef struct {
    uint32_t root; /* path: the root of the thread */
    uint32_t method;
    uint32_t kind; /* of QP_MERGE_COUNTER_KINDS; those of one kind add up */
    uint32_t n_values;
    const uint64_t *values; /* [n_values] the sum's */
} qp_merge_counters;

enum { QP_MERGE_COUNTER_KINDS = 5 };

size_t qp_merge_n_counters(const qp_merge *s);
qp_merge_counters qp_merge_counters_at(const qp_merge *s, uint32_t i);
/* @return false: the method has another number of them, or no memory */
bool qp_merge_counters_add(qp_merge *s, const qp_merge_counters *counters);

/** Add columns of figures, path by path.
 * @param to    [QP_PATH_COLUMNS] sums
 * @param from  [QP_PATH_COLUMNS][n]; NULL: the column adds nothing, and to's may be NULL
 * @param at    [n] of `from`: index in `to` */
void qp_path_columns_add(qp_time_mode mode, uint64_t *const to[QP_PATH_COLUMNS],
                         const uint64_t *const from[QP_PATH_COLUMNS], const uint32_t *at,
                         size_t n);
/* What a column of a path has before anything is added. */
uint64_t qp_path_column_start(qp_time_mode mode, qp_path_column column);
qp_time_mode qp_merge_time_mode(const qp_merge *s);
/* Paths are put into an empty sum before the first profile is added: this is its mode. */
void qp_merge_expect(qp_merge *s, qp_time_mode mode);

/* ---- differences ------------------------------------------------------------------------- */

typedef enum { QP_DIFF_FUNCTIONS, QP_DIFF_PATHS, QP_DIFF_THREADS } qp_diff_kind;
typedef enum { QP_DIFF_BASE, QP_DIFF_NEW, QP_DIFF_SIDES } qp_diff_side;
typedef enum {
    QP_DIFF_ALIKE,
    QP_DIFF_CHANGED,
    QP_DIFF_ADDED, /* not in base */
    QP_DIFF_GONE,  /* not in new */
    QP_DIFF_STATES
} qp_diff_state;

/* What is compared. Counted calls, bytes, objects and instructions are exact, but for those of the garbage
 * collector, which are in none of them: how often it begins is chance. */
typedef enum {
    QP_DIFF_OF_CALLS,
    QP_DIFF_OF_COUNTED, /* calls */
    QP_DIFF_OF_SELF,
    QP_DIFF_OF_TOTAL,
    QP_DIFF_OF_SELF_RUN,
    QP_DIFF_OF_TOTAL_RUN,
    QP_DIFF_OF_BYTES, /* allocated by itself, as are objects */
    QP_DIFF_OF_OBJECTS,
    QP_DIFF_OF_INSTRUCTIONS, /* of the host's machine, of functions on all threads */
    QP_DIFF_MEASURES
} qp_diff_measure;

typedef struct {
    uint64_t sides[QP_DIFF_SIDES]; /* medians of the runs; a run without the row counts as 0 */
    uint64_t noise;                /* a difference up to this may be chance; 0: none is */
} qp_diff_figure;

/* New - base, saturating: less than 0 is an improvement. */
int64_t qp_diff_change(const qp_diff_figure *f);
/* Whether the difference is larger than the noise. */
bool qp_diff_is_outside(const qp_diff_figure *f);

typedef struct {
    const char *name, *module, *file; /* good as long as the diff */
    uint32_t line;                    /* of its beginning, in the run added last; 0: unknown */
    uint32_t function;                /* its number: the same in all comparisons of the same
                                         runs, added in the same order */
    uint32_t parent;                  /* paths: row of the caller; 0: outermost */
    uint32_t depth;                   /* paths: functions on it */
    bool has_hidden;                  /* some run was collapsed */
    qp_diff_state state;              /* by its own calls and time: callees change their own */
    qp_diff_figure calls, self, total;
    qp_diff_figure self_run, total_run; /* on the processor; where has_waits */
} qp_diff_row;

typedef struct qp_diff {
    qp_diff_kind kind;
    bool has_noise;  /* several runs, or estimated times: else the noise is unknown */
    bool has_times;  /* in all runs; else only calls are compared, and times are 0 */
    bool has_calls;  /* counted in all runs; else only times are compared, and calls are 0 */
    bool has_waits;  /* run time is known in all runs; else it is 0 */
    bool has_memory; /* allocations are known in all runs; else they are 0 */
    bool has_instructions; /* are known in all runs, of functions on all threads; else 0 */
    bool is_by_run;  /* it is judged: much of one side was waiting; set by qp_diff_finish() */
    bool is_elapsed; /* elapsed time is judged in any case; set before qp_diff_finish() */
    uint32_t n_runs[QP_DIFF_SIDES];
    qp_diff_row *rows; /* [n_rows]; 0: the whole runs; callers before callees */
    uint32_t n_rows;
    uint32_t n_states[QP_DIFF_STATES]; /* rows in each */
    struct qp_diff_private *own;
} qp_diff;

/* @param ignores_system  leave out functions that block or wait @return NULL: no memory */
qp_diff *qp_diff_new(qp_diff_kind kind, bool ignores_system);
void qp_diff_free(qp_diff *d); /* takes NULL */

/** Whether a run can be compared with those that were added.
 * @param error  why not, one line: another clock or unit, coverage alone, nothing in common
 * @return false: see error */
bool qp_diff_fits(const qp_diff *d, const qp_model *m, qp_error *error);

enum { QP_DIFF_NO_THREAD = UINT32_MAX };

/** Add a run, which fits.
 * @param thread  index, QP_ALL_THREADS, or QP_DIFF_NO_THREAD: the run has none of the thread
 *                that is compared, and nothing is in it
 * @return false: no memory */
bool qp_diff_add(qp_diff *d, qp_diff_side side, const qp_model *m, uint32_t thread);

/* The same of functions, as reports show them: with merged threads. @return false: no memory */
bool qp_diff_add_joined(qp_diff *d, qp_diff_side side, const qp_model *m);

/* The row of a thread. @return 0: there is none */
uint32_t qp_diff_thread(const qp_diff *d, const char *name);
/* Of functions: the row of a method of the run that was added last to a side. @return 0: none */
uint32_t qp_diff_function(const qp_diff *d, qp_diff_side side, uint32_t method);

/* Fill the rows; both sides have a run. @return false: no memory */
bool qp_diff_finish(qp_diff *d);

/* The times by which a row is judged: run times, if is_by_run. */
const qp_diff_figure *qp_diff_self(const qp_diff *d, const qp_diff_row *row);
const qp_diff_figure *qp_diff_total(const qp_diff *d, const qp_diff_row *row);
/* The part of an elapsed time that is not run time. */
qp_diff_figure qp_diff_wait(const qp_diff_figure *elapsed, const qp_diff_figure *run);

/* ---- growth ------------------------------------------------------------------------------ */

/* How much a figure grew. Times vary in proportion, so logarithms are compared: 0.26 is 30 % more. */
typedef struct {
    double
        sides[QP_DIFF_SIDES]; /* geometric means of the runs; what is 0 counts as 1 in them */
    double log;               /* ln(new / base) */
    double error;             /* standard error of log; < 0: unknown, one exact run a side */
    double freedom;           /* degrees of freedom of error; 0: many */
    double spread;            /* standard deviation of one run's logarithm */
    bool varies;              /* the runs of one side differ */
} qp_figure_growth;

qp_figure_growth qp_diff_growth(const qp_diff *d, uint32_t row, qp_diff_measure measure);

typedef enum { QP_VERDICT_PASS, QP_VERDICT_FAIL, QP_VERDICT_UNSURE, QP_VERDICTS } qp_verdict;

enum { QP_RUNS_USUAL = 5, QP_RUNS_MOST = 64 }; /* a side: to begin with; that can be compared */

/* One figure of a row that a gate judges. */
typedef struct {
    uint32_t row;
    qp_diff_measure measure;
    qp_figure_growth growth;
    double limit;  /* ln of the growth that is allowed: ln(1.2) of 20 % */
    double least;  /* >= limit: what may hide in the noise and does not matter */
    bool is_exact; /* there is no noise: it has a verdict already */
    qp_verdict verdict;
    double half;     /* of the interval of growth.log, 99 of 100; < 0: unknown */
    double chance;   /* of so much growth if nothing changed */
    uint32_t n_runs; /* unsure: runs a side that would do; more than QP_RUNS_MOST: too many */
} qp_gate_item;

/** Judge figures by their noise.
 *
 * A figure fails if it grew by more than its limit, and if that is not chance: Welch's t-test, corrected for the
 * number of figures (Holm), errs in one of 100 gates. It passes if its growth is at most `least` with a
 * certainty of 99 of 100. Else it is not certain.
 * @param items   are reordered
 * @param n_runs  of the side that has more: n_runs of an item is larger */
void qp_gate_judge(qp_gate_item *items, size_t n, uint32_t n_runs);

/* Student's t: the chance of a value above t. @param freedom  0: many, the normal distribution */
double qp_student_above(double t, double freedom);
/* The value that is exceeded with this chance, < 0.5. */
double qp_student_value(double chance, double freedom);

/* ---- requests that were kept whole ----------------------------------------------------------- */

/** Make a profile of one request: the sums of its calls by call path. Method i of the calls is method i + 1 of it.
 * @param program  whose request it was
 * @param bytes  [*n_bytes] of a profile; free with qp_free() @return false: see error */
bool qp_kept_profile(const qp_kept_request *r, const qp_kept_calls *calls, const char *program,
                     void **bytes, size_t *n_bytes, qp_error *error);

/* ---- noise ------------------------------------------------------------------------------- */

/* One figure in the runs of one side. */
typedef struct {
    uint64_t *values; /* [n] in any order; are sorted */
    uint32_t n;       /* > 0 */
    double variance;  /* of the estimate, if both sides have a single run; 0: exact */
} qp_noise_side;

typedef struct {
    qp_noise_side sides[2];
    uint64_t *distances; /* [n_distances] room for the computation */
    uint32_t n_distances;
} qp_noise;

/* Make room for values, which are 0. @return false: no memory; call qp_noise_fini() all the
 * same */
bool qp_noise_init(qp_noise *x, uint32_t n_first, uint32_t n_second);
void qp_noise_fini(qp_noise *x);

/* Of an even number of runs the mean of the two in the middle, rounded down. */
uint64_t qp_noise_median(qp_noise_side *side);

/* Half of the interval in which 99 of 100 differences of medians lie if nothing changed. */
uint64_t qp_noise_between(qp_noise *x);

#endif
