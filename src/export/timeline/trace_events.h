/* trace_events.h: calls of a trace as trace events of Chrome. */
#ifndef QP_EXPORT_TIMELINE_TRACE_EVENTS_H
#define QP_EXPORT_TIMELINE_TRACE_EVENTS_H

#include "base/text/json.h"
#include "export/timeline/steps.h"

typedef struct qp_chrome_calls qp_chrome_calls;
typedef struct qp_chrome_track qp_chrome_track; /* of a thread */

/* @param json  in the array of events. @return NULL: no memory */
qp_chrome_calls *qp_chrome_calls_new(const qp_steps *from, qp_json *json);
/* @param c  may be NULL */
void qp_chrome_calls_free(qp_chrome_calls *c);

/* @return NULL: no memory */
qp_chrome_track *qp_chrome_track_new(qp_chrome_calls *c, uint32_t thread);

/* A call begins, or ends. An event is written later, when its neighbors are known. */
void qp_chrome_enter(qp_chrome_calls *c, qp_chrome_track *track, const qp_step *s);
void qp_chrome_leave(qp_chrome_calls *c, qp_chrome_track *track, const qp_step *s);

/* Write what is left. @return false: there was no memory for all of it */
bool qp_chrome_calls_end(qp_chrome_calls *c);

#endif
