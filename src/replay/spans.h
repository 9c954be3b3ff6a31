/* spans.h: from the records of a trace to calls with a beginning and an end, thread by thread.
 *
 * Records are put in as they come; whoever wants calls is told of each entry, each end and of
 * everything else. A call whose beginning or end is not in the trace is a call all the same, and says
 * so. A thread's time stands while it is parked, or its recording is off. Memory: threads and open
 * calls. */
#ifndef QP_REPLAY_SPANS_H
#define QP_REPLAY_SPANS_H

#include "format/trace.h"
#include "replay/names.h"

/* What only readers of traces make. */
#define QP_TRACE_STACK QP_TRACE_NONE /* from here on: thread a is driven, path b is on top */
enum { QP_EXIT_NAMED = 0 };          /* EXIT, a: the innermost call of the method b ends */

enum {                              /* qp_span.flags */
       QP_SPAN_CUT = 1u << 0,       /* began before the trace, or where records are missing */
       QP_SPAN_OUTERMOST = 1u << 1, /* its method is not open further out */
       QP_SPAN_FOREIGN = 1u << 2,   /* announced by its caller alone */
       QP_SPAN_CALLED = 1u << 3,    /* its caller announced it, too */
       QP_SPAN_LEFT = 1u << 4, /* has ended for itself; its caller will say when it goes on */
       /* its recording was off when it was entered, and what it did later was recorded: no call. With QP_SPAN_CUT */
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
        n_gates;  /* of the thread, at its entry: equal while nothing stopped the recording */
    uint32_t tag; /* the receiver's, 0 at entry */
} qp_span;

typedef enum {
    QP_END_RETURNED,
    QP_END_UNWOUND,   /* a call further out ended */
    QP_END_LOST,      /* records are missing: it ended at this time at the latest */
    QP_END_UNFINISHED /* open at the end of the trace */
} qp_span_end;

typedef struct {
    uint32_t number; /* in names */
    uint32_t index;  /* from 0, in the order of first events */
    qp_span *spans;  /* [depth] outermost first */
    uint32_t depth, room;
    uint32_t carrier; /* that drives it, index + 1; 0: none */
    bool is_parked, is_off;
    bool failed;           /* no memory */
    uint32_t n_breaks;     /* that there were when its stack was found last */
    uint32_t n_gates;      /* how often its recording went on or off */
    uint64_t stands_since; /* raw ticks, while its time stands */
    uint64_t stood;        /* ticks that it stood before */
    uint64_t raw, time;    /* of its newest event */
    /* a call that was announced and has not begun; method 0: none */
    uint32_t called, called_line;
    uint64_t called_raw, called_time;
    uint32_t due; /* method whose caller has not said yet that it goes on; 0: none */
    uint32_t n_open, open_shift, open_mask;
    struct qp_open_method *open; /* how often each method is open */
    void *own;                   /* the receiver's */
} qp_span_thread;

/* Something else that happened. */
typedef struct {
    qp_trace_op op;
    uint32_t a, b;
    uint64_t value;                    /* COUNTER; LOST: records */
    const char *name;                  /* MARK, COUNTER */
    const char *type, *text, *comment; /* VALUE; "" where there is none */
} qp_span_event;

/* Whoever wants calls. Functions may be NULL. */
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

typedef struct {
    qp_names *names;
    qp_span_sink sink;
    bool is_shared;        /* threads of one carrier run at once: a switch parks nobody */
    bool counts_from_call; /* a call that its caller announced begins and ends there */
    qp_buf threads;        /* qp_span_thread *, by index */
    qp_buf carriers;       /* the state of each */
    uint32_t *index_of;    /* [n_indices] thread number -> index + 1 */
    size_t n_indices;
    uint32_t n_breaks;      /* beginnings and gaps, behind which no stack is known */
    uint64_t n_pushes_left; /* of calls that were not seen to begin: bounds hostile files */
    qp_span_counts counts;
    bool is_muted; /* nobody is told; see qp_spans_cut() */
    bool failed;   /* no memory */
} qp_spans;

void qp_spans_init(qp_spans *x, qp_names *names, const qp_span_sink *sink);
void qp_spans_fini(qp_spans *x);

/* Records of one carrier, in their order. A record's TEXT and DATA may come with the next ones.
 * @param carrier  index from 0 */
void qp_spans_put(qp_spans *x, uint32_t carrier, const qp_trace_record *records, size_t n);

/* From this raw tick on whoever wants calls is told, and what was put in before does not count: open
 * calls begin here. */
void qp_spans_cut(qp_spans *x, uint64_t raw);

/* That was all: what is open ends at `raw`, or its thread's last event if that is 0. */
void qp_spans_end(qp_spans *x, uint64_t raw);

static inline uint64_t qp_span_total(const qp_span_thread *th, const qp_span *s)
{
    return th->time - s->begin;
}

static inline uint64_t qp_span_self(const qp_span_thread *th, const qp_span *s)
{
    uint64_t total = qp_span_total(th, s);
    return total > s->callees ? total - s->callees : 0;
}

#endif
