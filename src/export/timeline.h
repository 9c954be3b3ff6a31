/* timeline.h: what happened when: what the timeline of the profile page is made of, by a raw trace or
 * by anyone else. html_timeline.c writes it.
 *
 * Times are ns and count from the beginning of the run. */
#ifndef QP_EXPORT_TIMELINE_H
#define QP_EXPORT_TIMELINE_H

#include "model/model.h"

typedef enum {
    QP_TIMELINE_CALL,
    QP_TIMELINE_PAUSE,  /* the thread's clock stood: it was parked, or recording was stopped */
    QP_TIMELINE_MARK,   /* a moment with a name */
    QP_TIMELINE_COUNTER /* what a named value is from now on */
} qp_timeline_kind;

typedef struct {
    qp_timeline_kind kind;
    uint32_t thread; /* index in the model; marks, counters: 0 is the whole run */
    uint32_t method; /* calls: index in the model */
    uint32_t depth;  /* calls: open calls below it on its thread; 0: outermost */
    uint64_t begin;
    uint64_t duration; /* calls, pauses: up to the trace's end, where they are still open */
    const char *name;  /* marks, counters; borrowed during the call */
    uint64_t value;    /* counters */
} qp_timeline_item;

/* @return false: no more are wanted */
typedef bool qp_timeline_take(void *to, const qp_timeline_item *item);

typedef struct {
    uint64_t begin, end; /* of what is known */
    uint64_t n_lost;     /* records that are known to be missing */
    void *from;          /* for each() */
    /* Hand on all items, in any order; asked again, the same ones in the same order.
     * @return false: no memory, or the trace could not be read */
    bool (*each)(void *from, qp_timeline_take *take, void *to);
} qp_timeline;

/** The timeline of a raw trace.
 * @param m      the profile of the same run, or one that was made of the trace: calls of functions
 *               that are not in it are left out; borrowed until the timeline is closed
 * @param trace  anything that qp_trace_open() takes
 * @param error  one line, which names the trace: what is wrong with it, or it is of another run
 * @return false: see error, and nothing is open */
bool qp_timeline_open(qp_timeline *t, const qp_model *m, const char *trace,
                      char error[QP_ERROR_BYTES]);
void qp_timeline_close(qp_timeline *t);

/* Of more calls the longest ones are shown: a page must stay small enough to be sent. */
enum { QP_TIMELINE_CALLS = 500000 };

#endif
