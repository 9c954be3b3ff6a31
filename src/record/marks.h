/* marks.h: what is worth finding again: moments that have a name, and how often user events were
 * raised. */
#ifndef QP_RECORD_MARKS_H
#define QP_RECORD_MARKS_H

#include "record/thread.h"

/* Put a mark into the profile, at this moment.
 * @param th     whose; NULL: nobody's. @param name  of the trigger, or the host's text
 * @param event  of event triggers: what was raised; object, value: of it
 * More than 65,536 marks of a run are counted as marks_lost. Threads: any. Cost: a look-up. */
void qp_mark_add(const qprof_thread *th, qp_mark_kind kind, const char *name, uint32_t event,
                 uint64_t object, uint64_t value);

/* A user event was raised while it was recorded. */
void qp_event_count_add(uint32_t event);

/* The figures are cleared: marks and counts so far, too. */
void qp_marks_clear(void);

#endif
