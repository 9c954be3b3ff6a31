/* profile.h: what writers of profiles share: what an exporter is, what paths are worth, the paths of a
 * thread, and how self times lie on lines. */
#ifndef QP_EXPORT_SHARED_PROFILE_H
#define QP_EXPORT_SHARED_PROFILE_H

#include <string.h>

#include "base/containers/dict.h"
#include "base/text/buf.h"
#include "base/text/error.h"
#include "base/text/field.h"
#include "model/figures/figures.h"
#include "model/model.h"

/* ---- what paths are worth -------------------------------------------------------------------- */

typedef enum {
    QP_MEASURE_TIME,
    QP_MEASURE_CALLS,
    QP_MEASURE_SAMPLES,    /* that times were estimated from */
    QP_MEASURE_INTERRUPTS, /* of the PC command */
    QP_MEASURE_BYTES,      /* allocated */
    QP_MEASURE_OBJECTS,
    QP_MEASURE_METRIC, /* of the host */
    QP_MEASURES
} qp_measure;

/* Of a path itself: what adds up to the whole. In ticks, if it is time. */
static inline uint64_t qp_measure_self(qp_measure x, const qp_figures *f)
{
    return x == QP_MEASURE_TIME      ? f->self
           : x == QP_MEASURE_CALLS   ? f->calls
           : x == QP_MEASURE_SAMPLES ? f->samples
           : x == QP_MEASURE_BYTES   ? f->memory.bytes
           : x == QP_MEASURE_OBJECTS ? f->memory.objects
           : x == QP_MEASURE_METRIC  ? f->metric
                                     : f->pc_samples;
}

/* A sum of these in units: the run's, or what is counted. */
static inline uint64_t qp_measure_units(qp_measure x, const qp_model *m, uint64_t sum)
{
    return x == QP_MEASURE_TIME ? qp_model_ns(m, sum) : sum;
}

/* @param metric  NULL: there is none */
static inline const char *qp_metric_unit(const qp_run_metric *metric)
{
    return metric && *metric->unit ? metric->unit : "count";
}

static inline const char *qp_measure_unit(qp_measure x, const qp_model *m)
{
    return x == QP_MEASURE_TIME      ? m->run.unit
           : x == QP_MEASURE_CALLS   ? "calls"
           : x == QP_MEASURE_SAMPLES ? "samples"
           : x == QP_MEASURE_BYTES   ? "bytes"
           : x == QP_MEASURE_OBJECTS ? "objects"
           : x == QP_MEASURE_METRIC  ? qp_metric_unit(m->run.metric)
                                     : "pc_samples";
}

static inline bool qp_measure_is_ns(qp_measure x, const qp_model *m)
{
    return strcmp(qp_measure_unit(x, m), "ns") == 0;
}

/* ---- timelines -------------------------------------------------------------------------------
 *
 * What happened when, for the timeline of the profile page. Times are ns and count from the beginning
 * of the run. */

typedef enum {
    QP_TIMELINE_CALL,
    QP_TIMELINE_PAUSE,  /* the thread was suspended, or its recording was off */
    QP_TIMELINE_MARKER, /* a moment with a name */
    QP_TIMELINE_COUNTER /* what a named value is from now on */
} qp_timeline_kind;

typedef struct {
    qp_timeline_kind kind;
    uint32_t thread; /* index in the model; markers, counters: 0 is the whole run */
    uint32_t method; /* calls: index in the model */
    uint32_t depth;  /* calls: open calls below it on its thread; 0: outermost */
    uint64_t begin;
    uint64_t duration; /* calls, pauses: up to the trace's end, where they are still open */
    const char *name;  /* markers, counters; borrowed during the call */
    uint64_t value;    /* counters */
    uint64_t self;     /* calls: self time, as far as its beginning and end are known */
} qp_timeline_item;

/* What a method did on a thread in a slice of the time: indices in the model, as in an item. Times are
 * ticks, see QP_TIMELINE_TICKS. */
typedef struct {
    uint32_t slice, thread, method; /* slice: from number * width on */
    uint64_t began, ended;          /* calls */
    uint64_t self, total;
} qp_timeline_row;

typedef struct {
    uint64_t width;        /* ns */
    qp_timeline_row *rows; /* [n_rows] by thread, slice, method; free with qp_free() */
    size_t n_rows;
} qp_timeline_slices;

/* @return false: no more are wanted */
typedef bool qp_timeline_take(void *to, const qp_timeline_item *item);

/* Shorter calls may be left out. The taker may raise `least` while items come. */
typedef struct {
    uint64_t least;     /* ns */
    uint64_t n_shorter; /* calls that were left out */
} qp_timeline_limit;

typedef struct {
    uint64_t begin, end;      /* of what is known */
    uint64_t n_lost;          /* records that are known to be missing: after each() */
    uint64_t n_removed_bytes; /* before `begin`, by -trace-limit */
    const char *about;        /* what it is of, a sentence; NULL: the run */
    bool lacks_end;           /* the program was killed, and its last records are unknown */
    void *from;               /* for each() */
    /* Hand on all items, in any order; asked again, the same ones in the same order.
     * @param limit  NULL: none
     * @return false: no memory, or the trace could not be read */
    bool (*each)(void *from, qp_timeline_take *take, void *to, qp_timeline_limit *limit);
    uint64_t ns_of_ticks; /* ns that QP_TIMELINE_TICKS take */
    /* Add up all calls by slices, after each(). @return false: as each() */
    bool (*slice)(void *from, qp_timeline_slices *out);
} qp_timeline;

#define QP_TIMELINE_TICKS ((uint64_t)1 << 50)

/* Of more calls the longest ones are shown: a page must stay small enough to be sent. */
enum { QP_TIMELINE_CALLS = 500000 };

/* Which texts of sources a page has. */
typedef enum {
    QP_TEXT_RECORDED, /* what was recorded */
    QP_TEXT_UNKNOWN,  /* of which nothing was recorded */
    QP_TEXT_CHANGED,
    QP_TEXT_MISSING /* not in the page */
} qp_text_state;

typedef struct {
    qp_source_folders folders;
    bool are_left_out;
    /* Called for each source. @param path  where it was found; of a missing one its name
     * @param why  it is missing */
    void (*note)(void *to, const char *path, qp_text_state state, const char *why);
    void *to;
    /* What the page has: the same file under many names fills it but once */
    qp_dict *seen;        /* file ids; NULL: not asked */
    uint64_t *n_repeated; /* bytes */
} qp_page_sources;

/* ---- exporters -------------------------------------------------------------------------------
 *
 * An exporter writes the model that it is given and reads nothing else, so the same profile gives the
 * same bytes. */

typedef struct {
    uint32_t thread;    /* index, or QP_ALL_THREADS */
    qp_measure measure; /* formats of one value: what was asked for, see qp_export_measure() */
    bool has_jumps; /* callgrind only: jumps between lines, which not all of its readers know */
    /* pages only; NULL: not given */
    const char *name;     /* of the profile: its path */
    const qp_model *base; /* a run to compare with, which fits: model/combine/combine.h */
    const char *base_name;
    /* With base: the comparison of all runs of both sides, these two added last; functions as reports
     * show them, with merged threads unless is_apart */
    const struct qp_diff *functions, *threads;
    const qp_timeline *timeline; /* of the run */
    const char *root;            /* absolute: sources below it may be shown */
    const char *home;            /* the address of the page that leads to this one */
    qp_page_sources sources;
    bool is_apart; /* threads are not merged at first */
} qp_export_options;

/* @return false: it cannot be written at all, see error (one line). Whether all of it reached the
 * sink is known to qp_out_close() alone. */
typedef bool qp_export_write(const qp_model *m, qp_out *out, const qp_export_options *o,
                             qp_error *error);

/* All formats, in the order of the help; a writer is qp_export_NAME. */
#define QP_EXPORTERS(X)                                                                        \
    X(pprof)                                                                                   \
    X(callgrind)                                                                               \
    X(folded)                                                                                  \
    X(speedscope)                                                                              \
    X(dot)                                                                                     \
    X(quantify)                                                                                \
    X(csv)                                                                                     \
    X(json)                                                                                    \
    X(cpuprofile)                                                                              \
    X(chrome)                                                                                  \
    X(firefox)                                                                                 \
    X(perfetto)                                                                                \
    X(sqlite)                                                                                  \
    X(html)

#define QP_EXPORTER(name) qp_export_write qp_export_##name;
QP_EXPORTERS(QP_EXPORTER)
#undef QP_EXPORTER

/* ---- messages to servers ---------------------------------------------------------------------
 *
 * A profile, its threads joined, as the body of a request: labels, names, and a sample a path. Lines and
 * arguments of the program are left out. */

typedef struct {
    size_t n_samples; /* receives how many were written */
    uint32_t depth;
    size_t n_bytes;     /* of the profile, not compressed */
    uint64_t rest, all; /* receive what went to rests, and the sum: time, or else calls */
} qp_export_limits;

enum { QP_EXPORT_ID_BYTES = 16 };

/** A message that is cut until it is within the limits.
 * @param id  of the profile: the same whenever it is sent
 * @param to  an empty buffer of bytes
 * @return false: see error (one line) */
typedef bool qp_export_message(const qp_model *m, const unsigned char id[QP_EXPORT_ID_BYTES],
                               qp_export_limits *limits, qp_buf *to, qp_error *error);

qp_export_message qp_export_pyroscope; /* push.v1.PushRequest, with a profile of pprof */
qp_export_message qp_export_otlp;      /* ExportProfilesServiceRequest, compressed by gzip */

/** A profile of pprof, not compressed, without lines, cut to the limits but for n_bytes: where it is
 * longer, it ends somewhere beyond.
 * @param to  a buffer of bytes @return false: no memory */
bool qp_export_pprof_within(const qp_model *m, qp_export_limits *limits, qp_buf *to);

/* A label of a run: see qp_labels_next(). */
typedef struct {
    char name[128], value[2048]; /* cut to this */
} qp_export_label;

/** The next label of a run: first `service`, `version` where there is one, and `host`, then all others.
 * @param at  0 at first
 * @return false: that was all */
bool qp_export_label_next(const qp_run_info *run, size_t *at, qp_export_label *label);

/* ---- paths ----------------------------------------------------------------------------------- */

/* Frames of a path at most, in formats that write all frames of every path. */
enum { QP_EXPORT_FRAMES = 1024 };

/* What a call path itself has; deeper ones count for the path of its first QP_EXPORT_FRAMES frames. */
typedef struct {
    uint32_t node;
    qp_figures f; /* calls, self, samples, PC samples, memory */
    bool
        is_rest; /* what was cut below the node, see qp_export_cut(); shown as QP_EXPORT_REST */
} qp_export_path;

#define QP_EXPORT_REST "<other>"

/** The paths of a thread, or of all, that have self figures; parents before children.
 * @param out  [*n] free with qp_free() @return false: no memory */
bool qp_export_paths(const qp_model *m, uint32_t thread, qp_export_path **out, size_t *n);

/** Add what a path itself has. */
void qp_export_add(qp_figures *to, const qp_figures *f);

/** Cut paths to a number of paths and of frames: those with most time, or else most calls, are kept. What
 * is cut goes to the rest of its deepest ancestor that is kept or has a kept path below it, so that sums
 * stay.
 * @param n_most  > 0; the rests of threads without a kept path are beyond it
 * @param depth   frames, the one of the rest included; 2 to QP_EXPORT_FRAMES
 * @param paths   [*n] of qp_export_paths(); receive what is left
 * @return false: no memory */
bool qp_export_cut(const qp_model *m, size_t n_most, uint32_t depth, qp_export_path *paths,
                   size_t *n);

/** What limits receive. @param paths  [n] as they were cut */
void qp_export_note_cut(const qp_model *m, const qp_export_path *paths, size_t n,
                        qp_export_limits *limits);

/** The methods of a path. @param frames  receives them, innermost first
 * @return how many */
uint32_t qp_export_frames(const qp_model *m, uint32_t node, uint32_t frames[QP_EXPORT_FRAMES]);

/** Functions that are on a path with figures, of themselves or of what they called. Formats that list
 * functions and their callers list these, so that each caller exists.
 * @param out  [n_methods] free with qp_free() @return false: no memory */
bool qp_export_methods(const qp_model *m, uint32_t thread, bool **out);

/** Numbers of functions, for formats that also list functions without calls: .root. is 0, the others
 * count from 1. The recorder's placeholders, the function without a name and <overflow>, have one
 * where they were needed.
 * @param out  [n_methods] 0: not to be listed, of .root. alone its number; free with qp_free()
 * @return false: no memory */
bool qp_export_numbers(const qp_model *m, uint32_t thread, uint32_t **out);

extern const qp_field qp_export_document[]; /* of --to=json */

/* What a format of one value shows: calls, if the run has no times. */
qp_measure qp_export_measure(const qp_model *m, const qp_export_options *o);

/* All that the run has, for formats of several values: time is the last. Where PC samples are all
 * there is they are the samples, from which times are estimated.
 * @return how many, >= 1 */
uint32_t qp_export_measures(const qp_model *m, qp_measure out[QP_MEASURES]);

/* Of a thread that has call paths: its name, or "all threads" where they are joined. */
const char *qp_export_thread_name(const qp_model *m, uint32_t thread);

/* Whether the thread has anything to show. */
bool qp_export_has_thread(const qp_model *m, uint32_t thread, const qp_export_options *o);

/* What pprof, Perfetto and callgrind call it: calls, samples, PC samples; alloc_space, alloc_objects;
 * wall, cpu or counts. */
const char *qp_export_measure_name(const qp_model *m, qp_measure measure);

/* ---- walking ---------------------------------------------------------------------------------
 *
 * The call tree of a thread as a sequence of entries and exits: every path is entered once, and left
 * after its callees and its self time. */

typedef struct {
    qp_walk walk; /* with the step */
    qp_measure measure;
    uint64_t sum; /* of what was left so far; ticks, if it is time */
} qp_path_walk;

/* The root of the thread is a path only if it has self figures: time of hidden callees,
 * or PC samples in no procedure. */
void qp_path_walk_init(qp_path_walk *s, const qp_model *m, uint32_t thread, qp_measure measure);

/* @return false: that was all */
bool qp_path_walk_next(qp_path_walk *s);

/* Units from the thread's beginning to the step. */
uint64_t qp_path_walk_at(const qp_path_walk *s);

/* What a path itself is worth, in units. */
uint64_t qp_path_self(const qp_model *m, uint32_t path, qp_measure measure);

/* ---- lines ----------------------------------------------------------------------------------- */

/* Self times of call paths on source lines. Lines are timed for a function on all its paths, and
 * readers of formats that put lines on paths add them up again: so each path takes what those before
 * it left. Sums over a source are exact. */
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
 * @param self    ticks that the path has left, > 0
 * @param part    receives how many of them are the line's: 1 to self
 * @return false: the rest is on no known line, or self is 0 */
bool qp_shares_next(qp_shares *s, uint32_t method, uint32_t thread, uint64_t self,
                    uint32_t *line, uint64_t *part);

#endif
