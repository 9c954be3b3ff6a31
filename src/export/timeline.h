/* timeline.h: what happened when, in the order in which a raw trace tells it: what the timeline of the
 * profile page is made of. Whoever reads traces fills a qp_timeline; html_timeline.c writes it.
 *
 * Times are in the run's unit, ns as a rule, and count from the beginning of the trace. */
#ifndef QP_EXPORT_TIMELINE_H
#define QP_EXPORT_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    QP_TIMELINE_CALL,
    QP_TIMELINE_PAUSE,  /* the thread's clock stood: it was parked, or recording was stopped */
    QP_TIMELINE_MARK,   /* a moment with a name */
    QP_TIMELINE_COUNTER /* what a named value is from now on */
} qp_timeline_kind;

typedef struct {
    qp_timeline_kind kind;
    uint32_t thread;   /* index in the model; marks and counters: 0 is the whole run */
    uint32_t method;   /* calls: index in the model */
    uint32_t depth;    /* calls: open calls below it on its thread; 0: outermost */
    uint64_t begin;    /* of what was open at the trace's beginning: 0 */
    uint64_t duration; /* calls, pauses: up to the trace's end, where they are still open */
    const char *name;  /* marks, counters; borrowed during the call */
    uint64_t value;    /* counters */
} qp_timeline_item;

/* @return false: no more are wanted */
typedef bool qp_timeline_take(void *to, const qp_timeline_item *item);

typedef struct {
    uint64_t end;    /* of the trace, which begins at 0 */
    uint64_t n_lost; /* records that are known to be missing */
    void *from;      /* for each() */
    /* Hand on all items, in any order; asked again, the same ones in the same order.
     * @return false: no memory, or the trace could not be read */
    bool (*each)(void *from, qp_timeline_take *take, void *to);
} qp_timeline;

/* Of more calls the longest ones are shown: a page must stay small enough to be sent. */
enum { QP_TIMELINE_CALLS = 500000 };

#endif
