/* steps.h: what happens on the threads of a run, one step after another.
 *
 * Formats with a time axis are written from steps: those of a profile, whose call trees are walked,
 * or those of a trace, whose calls are played. The writers of these formats do not know which. */
#ifndef QP_EXPORT_TIMELINE_STEPS_H
#define QP_EXPORT_TIMELINE_STEPS_H

#include "base/text/error.h"
#include "export/shared/profile.h"
#include "model/figures/figures.h"
#include "replay/calls/calls.h"

typedef enum {
    QP_STEP_ENTER,
    QP_STEP_LEAVE,
    QP_STEP_PAUSE, /* the thread was suspended, or its recording was off */
    QP_STEP_MARKER,
    QP_STEP_COUNTER,
    QP_STEP_LOST /* records are missing here */
} qp_step_kind;

typedef struct {
    qp_step_kind kind;
    uint32_t thread, function; /* numbers in the run; function: of calls */
    uint32_t depth;            /* of calls: open calls of the thread below it */
    uint64_t at;
    uint64_t begin; /* of a call, once it is left */
    uint64_t until; /* of a pause: its end; of a call that is left: when its clock stopped */
    bool is_paused; /* left while the thread's clock was stopped, at `until` */
    uint64_t
        self; /* of a profile: self time of the path, in units; of a trace, of a call that is
                    * left: its self time */
    const qp_figures *f; /* of a profile: figures of the path; else NULL */
    const char *name;    /* of markers and counters; NULL otherwise */
    uint64_t value;      /* of counters; of LOST: records */
    uint32_t counter;    /* number of the counter */
    void **data;         /* a place for the writer, one a thread; NULL at first */
} qp_step;

typedef struct {
    const char *name, *module, *file;
    uint32_t line; /* 0: not known */
} qp_step_function;

typedef struct {
    const char *name;
    uint32_t ordinal; /* from 1 */
} qp_step_thread;

typedef void qp_step_take(void *to, const qp_step *step);

typedef struct qp_steps qp_steps;
struct qp_steps {
    const char *program;
    uint64_t pid, started_at;
    bool is_virtual;
    bool is_ns;         /* times are ns, not another unit */
    const qp_model *m;  /* NULL: a trace */
    qp_measure measure; /* of a profile: what times are a sum of */
    uint32_t only;      /* of a profile: the thread that is shown, or QP_ALL_THREADS */
    struct qp_trace_export *trace;
    qp_timeline_limit *limit; /* of a trace, for those who take calls when they are left and do
                               * not look at entries; NULL: none */
    qp_step_function (*function)(const qp_steps *from, uint32_t number);
    qp_step_thread (*thread)(const qp_steps *from, uint32_t number);
    /* Hand on all steps; those of a thread in the order of time. @return false: no memory */
    bool (*play)(const qp_steps *from, qp_step_take *take, void *to);
};

/* Write steps. @return false: no memory */
typedef bool qp_steps_write(const qp_steps *from, qp_out *out);
qp_steps_write qp_trace_export_chrome, qp_trace_export_perfetto, qp_trace_export_firefox;

/* ---- profiles -------------------------------------------------------------------------------- */

/* Write the steps of a profile. @return false: no memory, see error */
bool qp_steps_of_profile(const qp_model *m, const qp_export_options *o, qp_out *out,
                         qp_steps_write *write, qp_error *error);

/* ---- traces ---------------------------------------------------------------------------------- */

typedef struct qp_trace_export {
    qp_trace *trace;               /* open, and not read yet */
    const qp_trace_window *window; /* this and progress: may be NULL */
    const qp_progress *progress;
    /* A sink for the threads that are shown; NULL: all of them. */
    qp_span_sink (*choose)(void *to, const qp_span_sink *inner);
    void *to;
    qp_slicer *slicer; /* that receives the records as well; NULL: none */
    /* results */
    qp_span_counts counts;
    uint64_t end_raw;
} qp_trace_export;

/* Play the trace, all records at their own times. @return false: no memory */
bool qp_trace_export_play(qp_trace_export *x, const qp_span_sink *sink);

/* The steps of a trace. */
qp_steps qp_steps_of_trace(qp_trace_export *x);

/* ---- timelines ------------------------------------------------------------------------------- */

/* The thread of that name, else the one of that number: a thread without a name of its own may have another one in
 * the model. @return 0: neither is in it */
uint32_t qp_timeline_thread(const qp_model *m, const char *name, uint64_t ordinal);

/** The timeline of a raw trace.
 * @param m      the profile of the same run, or one that was made of the trace: calls of functions
 *               that are not in it are left out; borrowed until the timeline is closed
 * @param profile  its file, where the last records of a program that was killed are
 * @param trace  anything that qp_trace_open() takes
 * @param error  one line, which names the trace: what is wrong with it, or it is of another run
 * @return false: see error, and nothing is open */
bool qp_timeline_open(qp_timeline *t, const qp_model *m, const char *profile, const char *trace,
                      qp_error *error);
void qp_timeline_close(qp_timeline *t);

/* A request that was kept whole, for its timeline. */
typedef struct {
    const qp_model *m;
    const qp_kept_request *r;
    const qp_kept_calls *calls;
    uint32_t first_method; /* index in m of what is method 0 of the calls */
    uint64_t begin;        /* ns: of the request */
    uint32_t thread;       /* index in m: filled by qp_timeline_of_kept() */
} qp_kept_picture;

/* The timeline of one request. @param p, about  borrowed; it needs no closing */
void qp_timeline_of_kept(qp_timeline *t, qp_kept_picture *p, const char *about);

#endif
