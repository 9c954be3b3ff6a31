/* calls.h: the calls of a trace, and their sums.
 *
 * Spans are the calls of each thread, with a beginning and an end, in a window of a trace. Sinks of
 * spans make call trees, statistics by method, the slowest calls, the flow of calls, a profile. */
#ifndef QP_REPLAY_CALLS_CALLS_H
#define QP_REPLAY_CALLS_CALLS_H

#include "base/text/error.h"
#include "replay/read/trace.h"

/* ---- spans ----------------------------------------------------------------------------------
 *
 * From the records of a trace to calls with a beginning and an end, thread by thread.
 *
 * Records go in as they come, and a sink receives each entry, each end and every other event. A
 * call whose beginning or end is missing from the trace is reported with a flag. A thread's
 * clock stops while the thread is suspended or its recording is off. Memory: threads and open
 * calls. */

enum {                              /* qp_span.flags */
       QP_SPAN_CUT = 1u << 0,       /* began before the trace, or where records are missing */
       QP_SPAN_OUTERMOST = 1u << 1, /* its method is not open further out */
       QP_SPAN_FOREIGN = 1u << 2,   /* announced by its caller alone */
       QP_SPAN_CALLED = 1u << 3,    /* announced by its caller, and entered */
       QP_SPAN_LEFT = 1u << 4,      /* has ended; its caller will report the return */
       /* recording was off at its entry and on later: not counted. Always with QP_SPAN_CUT */
       QP_SPAN_SKIPPED = 1u << 5
};

/* An open call. Times are those of its thread, in ticks. */
typedef struct {
    uint32_t method, path; /* numbers in names; path 0: not known */
    uint32_t cell;         /* of the path */
    uint32_t flags;        /* QP_SPAN_* */
    uint64_t begin;
    uint64_t callees; /* ticks of calls that it made and that have ended */
    uint64_t raw;     /* ticks of the run's clock at its entry */
    uint64_t left;    /* with QP_SPAN_LEFT: when */
    uint32_t line;    /* where it was called from; 0: not known */
    uint32_t
        n_gates;    /* of the thread, at its entry: equal while nothing stopped the recording */
    uint32_t tag;   /* the sink's, 0 at entry */
    uint32_t outer; /* depth of the next call of the method further out; 0: none */
    uint32_t slot;  /* of the method in the thread's `innermost` + 1 */
} qp_span;

typedef enum {
    QP_END_RETURNED,
    QP_END_UNWOUND,    /* a call further out ended */
    QP_END_LOST,       /* records are missing: it ended at this time at the latest */
    QP_END_UNFINISHED, /* open at the end of the trace */
    QP_END_OF_SLICE    /* it is still open: qp_spans_slice() */
} qp_span_end;

typedef struct {
    uint32_t number; /* in names */
    uint32_t index;  /* from 0, in the order of first events */
    qp_span *spans;  /* [depth] outermost first */
    uint32_t depth, room;
    uint32_t os_thread; /* that drives it, index + 1; 0: none */
    bool is_suspended, is_off;
    uint32_t n_breaks;     /* that there were when its stack was found last */
    uint32_t n_gates;      /* how often its recording was switched */
    uint64_t paused_since; /* raw ticks, while its clock is stopped */
    uint64_t paused_ticks; /* ticks of the pauses that are over */
    uint64_t raw, time;    /* of its newest event */
    /* a call that was announced and has not begun; method 0: none */
    uint32_t called, called_line;
    uint64_t called_raw, called_time;
    uint32_t due; /* method whose return its caller has not reported yet; 0: none */
    qp_buf
        innermost; /* uint32_t, by slot: depth of the innermost open call of a method; 0: none */
    qp_dict slots; /* of methods + 1 */
    void *data;    /* of the sink */
} qp_span_thread;

/* Something else that happened. */
typedef struct {
    qp_trace_op op;
    uint32_t a, b;
    uint64_t value;                    /* COUNTER; LOST: records */
    const char *name;                  /* MARK, COUNTER */
    const char *type, *text, *comment; /* VALUE; "" where there is none */
} qp_span_event;

/* The receiver of calls and events. Functions may be NULL. */
typedef struct {
    void *to;
    void (*enter)(void *to, qp_span_thread *th, qp_span *s); /* it is the top one */
    void (*leave)(void *to, qp_span_thread *th, const qp_span *s, qp_span_end end);
    void (*event)(void *to, qp_span_thread *th, const qp_span_event *e);
} qp_span_sink;

typedef struct {
    uint64_t n_records, n_calls;
    uint64_t n_lost;      /* records that the recorder dropped */
    uint64_t n_gaps;      /* places where records are missing */
    uint64_t n_unmatched; /* exits and returns of calls that are not open */
    uint64_t first, last; /* raw ticks */
} qp_span_counts;

/* The slot of a method in a thread, among those that were used last. 256: measured by
 * tests/bench/trace_stat.sh. */
typedef struct {
    uint32_t thread, method; /* index + 1; 0: none */
    uint32_t slot;
} qp_span_slot;
enum { QP_SPAN_SLOTS = 256 };

typedef struct {
    qp_names *names;
    qp_span_sink sink;
    bool is_shared;         /* threads of one OS thread run at once: a switch suspends none */
    bool counts_from_call;  /* a call that its caller announced begins and ends there */
    qp_buf threads;         /* qp_span_thread *, by index */
    qp_buf os_threads;      /* the state of each */
    qp_buf index_of;        /* uint32_t, by number of the thread: index + 1 */
    uint32_t n_breaks;      /* beginnings and gaps, after which no stack is known */
    uint64_t n_pushes_left; /* of calls that were not seen to begin: bounds hostile files */
    qp_span_counts counts;
    bool is_muted; /* the sink receives nothing; see qp_spans_cut() */
    bool failed;   /* no memory */
    /* Who looks at the records as well, before the spans do; NULL: no one. */
    void (*watch)(void *watcher, const qp_trace_run *run);
    void *watcher;
    qp_span_slot slots[QP_SPAN_SLOTS];
} qp_spans;

void qp_spans_init(qp_spans *x, qp_names *names, const qp_span_sink *sink);
void qp_spans_fini(qp_spans *x);

/* Take records of one OS thread, in their order. TEXT and DATA of a record may come with the next
 * call.
 * @param os_thread  index from 0 */
void qp_spans_put(qp_spans *x, uint32_t os_thread, const qp_trace_record *records, size_t n);

/* Begin to report to the sink at this raw tick: open calls begin there, and earlier records are not
 * counted. */
void qp_spans_cut(qp_spans *x, uint64_t raw);

/* A slice of time ends at this raw tick: the sink receives all open calls, innermost first, as
 * if they ended with QP_END_OF_SLICE, and they begin again there. */
void qp_spans_slice(qp_spans *x, uint64_t raw);

/* End all open calls at `raw`; 0: at the last event of their thread. */
void qp_spans_end(qp_spans *x, uint64_t raw);

static inline qp_span_thread *qp_spans_thread(const qp_spans *x, size_t index)
{
    return ((qp_span_thread **)x->threads.items)[index];
}

static inline uint64_t qp_span_total(const qp_span_thread *th, const qp_span *s)
{
    return th->time - s->begin;
}

static inline uint64_t qp_span_self(const qp_span_thread *th, const qp_span *s)
{
    uint64_t total = qp_span_total(th, s);
    return total > s->callees ? total - s->callees : 0;
}

/* ---- playing ----------------------------------------------------------------------------- */

/* A part of the run, in raw ticks: from <= at < to. */
typedef struct {
    uint64_t from, to; /* UINT64_MAX: to the end */
} qp_trace_window;

void qp_trace_spans(qp_trace *t, qp_spans *x, const qp_span_sink *sink);

/** Put all records of a window into x, which has been prepared for t. Calls that are open when
 * it begins are cut there. @param window, progress may be NULL
 * @return false: no memory */
bool qp_trace_play_on(qp_trace *t, qp_spans *x, const qp_trace_window *window,
                      const qp_progress *progress);
/* The same, and end all open calls. */
bool qp_trace_play(qp_trace *t, qp_spans *x, const qp_trace_window *window,
                   const qp_progress *progress);
/* @return records that are missing in what was played: those that records report, and those that the
 * recorder counted after the last one. @param places  receives the number of gaps */
uint64_t qp_trace_missing(const qp_trace *t, const qp_span_counts *counts,
                          const qp_trace_window *window, uint64_t *places);

/* @return raw ticks of the end of what was played */
uint64_t qp_trace_end_raw(const qp_trace *t, const qp_spans *x, const qp_trace_window *window);

/* ---- histogram ------------------------------------------------------------------------------
 *
 * How many of what size: sixteen classes between each power of two and the next, so that
 * a percentile is known to 1/32 of itself, in little memory and one pass. */

enum { QP_HISTOGRAM_STEPS = 16, QP_HISTOGRAM_OCTAVES = 61 };

typedef struct {
    uint64_t *counts; /* [n][QP_HISTOGRAM_STEPS]; free with qp_free() */
    uint8_t first, n; /* octaves; n 0: empty */
} qp_histogram;

static inline unsigned qp_histogram_octave(uint64_t value)
{
    return value < QP_HISTOGRAM_STEPS ? 0 : 60 - (unsigned)__builtin_clzll(value);
}

/* @return NULL: no memory */
uint64_t *qp_histogram_grow(qp_histogram *h, unsigned octave);

/* @return false: no memory, and it is not counted */
static inline bool qp_histogram_add(qp_histogram *h, uint64_t value)
{
    unsigned octave = qp_histogram_octave(value), at = octave - h->first;
    uint64_t *counts =
        at < h->n ? h->counts + (size_t)at * QP_HISTOGRAM_STEPS : qp_histogram_grow(h, octave);
    if (counts)
        counts[octave ? (value >> (octave - 1)) % QP_HISTOGRAM_STEPS : value]++;
    return counts != NULL;
}

/* @return the lowest value of a class; that of the next class is its end. @param at of all
 * classes, from 0 */
uint64_t qp_histogram_low(unsigned at);

/* The value that `share` (0 to 1) of `n` values do not exceed; within the class, the values are
 * taken to be evenly spread. */
uint64_t qp_histogram_quantile(const qp_histogram *h, uint64_t n, double share);

/* ---- calltree -------------------------------------------------------------------------------
 *
 * Calls of a trace added up by call path: the profile that the same run would have. */

/* A call path. Times in ticks. */
typedef struct {
    uint32_t parent, method;                /* parent 0: none */
    uint32_t first_child, last_child, next; /* nodes; next: sibling */
    uint64_t calls, self, total;
    uint64_t min, max; /* self time of complete calls; min > max: none */
} qp_calltree_node;

typedef struct {
    qp_buf nodes; /* qp_calltree_node; 0 is unused */
    qp_dict index;
    bool failed; /* no memory */
} qp_calltree;

void qp_calltree_init(qp_calltree *t);
void qp_calltree_fini(qp_calltree *t);
void qp_calltree_clear(qp_calltree *t);

/* Make a node without a parent. @return 0: no memory */
uint32_t qp_calltree_root(qp_calltree *t, uint32_t method);
/* The node below another one; made if need be. */
uint32_t qp_calltree_child(qp_calltree *t, uint32_t parent, uint32_t method);

static inline qp_calltree_node *qp_calltree_at(const qp_calltree *t, uint32_t node)
{
    return (qp_calltree_node *)t->nodes.items + node;
}

/* Add a call that has ended to its node. */
void qp_calltree_add(qp_calltree *t, uint32_t node, const qp_span_thread *th, const qp_span *s,
                     bool is_complete);

/* ---- stat -----------------------------------------------------------------------------------
 *
 * What the calls of a trace add up to, method by method. */

/* Of a method, on one thread or all. Times in ticks. */
typedef struct {
    uint32_t method, thread; /* numbers; thread 0: all */
    uint64_t calls;
    uint64_t total; /* callees included; of calls that are not inside one of the same method */
    uint64_t self;  /* of all calls */
    uint64_t n_incomplete; /* of the calls: their beginning or end is not in the trace */
    uint64_t n_unwound;    /* of the calls: they did not return */
    /* of complete calls, each of them, callees included */
    uint64_t n_complete, sum, min, max;
    qp_histogram histogram;
} qp_call_stat;

typedef struct {
    qp_buf rows;          /* qp_call_stat, in the order of the first ends */
    uint64_t self;        /* of all calls */
    bool is_by_thread;    /* a row for each thread */
    bool failed;          /* no memory */
    qp_buf row_of_method; /* uint32_t, by method: index + 1; by thread instead: */
    qp_dict row_of_pair;  /* thread, method -> index + 1 */
} qp_stats;

void qp_stats_init(qp_stats *s, bool is_by_thread);
void qp_stats_fini(qp_stats *s);

/* @return the sink to play a trace into */
qp_span_sink qp_stats_sink(qp_stats *s);

/* Average of complete calls; 0 of none. */
uint64_t qp_call_stat_average(const qp_call_stat *r);
/* A percentile of them: `share` from 0 to 1; never outside of min and max. */
uint64_t qp_call_stat_quantile(const qp_call_stat *r, double share);

/* ---- slices ---------------------------------------------------------------------------------
 *
 * What functions did in each slice of the time: exact, whatever window of whole slices is added
 * up. Memory: rows of at most some 1,000 slices. */

/* A function on a thread in a slice. Times in ticks, as in qp_call_stat. */
typedef struct {
    uint32_t slice, thread, method; /* slice: from number * width on */
    uint64_t began, ended;          /* calls */
    uint64_t self, total;
} qp_slice_row;

typedef struct {
    uint64_t width; /* ns */
    qp_buf rows;    /* qp_slice_row, by thread, slice, method */
    bool failed;    /* no memory, or the trace could not be read */
} qp_slices;

/** Play a trace that was not read yet.
 * @param begin, end  of what is known, in ns of the run
 * @return !s->failed; qp_slices_fini() is due in either case */
bool qp_slices_play(qp_slices *s, qp_trace *t, uint64_t begin, uint64_t end);
void qp_slices_fini(qp_slices *s);

/* The same of a trace that is played for something else: give all its runs to qp_slices_put(). */
typedef struct qp_slicer qp_slicer;
/* @return NULL: no memory; else qp_slices_end() is due */
qp_slicer *qp_slices_begin(qp_slices *s, qp_trace *t, uint64_t begin, uint64_t end);
void qp_slices_put(qp_slicer *x, const qp_trace_run *run);
/* @return !s->failed */
bool qp_slices_end(qp_slicer *x);

/* ---- slow -----------------------------------------------------------------------------------
 *
 * The slowest calls of a method, with what each of them called. */

enum { QP_SLOW_MOST = 1000 };

typedef struct {
    uint32_t thread, method; /* numbers in names */
    uint64_t raw;            /* when it began */
    uint64_t total, self;    /* ticks */
    qp_span_end end;
    bool is_cut;      /* it began before the trace */
    qp_calltree tree; /* node 1 is the call itself */
} qp_slow_call;

typedef struct {
    /* Is a call of the method wanted? Called once for each method. */
    bool (*is_wanted)(void *to, uint32_t method);
    void *to;
    uint32_t n_most;      /* calls that are kept; 1 to QP_SLOW_MOST */
    qp_slow_call **calls; /* [n] slowest first */
    uint32_t n;
    uint64_t n_seen; /* calls that are not inside another one */
    bool failed;     /* no memory */
    qp_buf answers;  /* signed char, by method; 0: not asked yet */
} qp_slow;

/* @return false: no memory */
bool qp_slow_init(qp_slow *s, uint32_t n_most);
void qp_slow_fini(qp_slow *s, qp_spans *x);

/* @return the sink to play a trace into */
qp_span_sink qp_slow_sink(qp_slow *s);

/* ---- flow -----------------------------------------------------------------------------------
 *
 * The calls of each thread in their order, with repeats collapsed, for people to read.
 *
 * A call is reported with all that is in it once it has ended; calls of the same shape in a row
 * become one, with a count. A call in which too much happens is reported in two parts, its
 * beginning and its end. Memory: some thousand lines for each thread. */

typedef enum {
    QP_FLOW_CALL,  /* ended; what it called follows, deeper */
    QP_FLOW_BEGIN, /* what it called follows, then its end */
    QP_FLOW_END
} qp_flow_kind;

typedef struct {
    qp_flow_kind kind;
    uint32_t method, depth; /* outermost: 0 */
    uint64_t n;             /* calls that were collapsed, with this one */
    uint64_t raw;           /* when the first of them began, or of END: ended */
    uint64_t total;         /* ticks, of all of them; BEGIN: 0 */
    bool is_whole;          /* of all of them, beginning and end are in the trace */
} qp_flow_line;

typedef struct {
    void *to;
    void (*line)(void *to, const qp_span_thread *th, const qp_flow_line *line);
    bool failed; /* no memory */
} qp_flow;

/* @return the sink to play a trace into */
qp_span_sink qp_flow_sink(qp_flow *f);
/* After the end: report the rest, and free the data of threads. */
void qp_flow_end(qp_flow *f, qp_spans *x);

/* ---- profile --------------------------------------------------------------------------------
 *
 * A trace becomes a profile: calls, self times, smallest and largest ones of each call path,
 * as recording them in exact mode would have given. */

/** Write the profile of a trace.
 * @param t  open and not read yet
 * @param counts  receives what was in it
 * @return false: see error (one line) */
bool qp_trace_profile(qp_trace *t, const qp_trace_window *window, const char *path,
                      const qp_progress *progress, qp_span_counts *counts, qp_error *error);

#endif
