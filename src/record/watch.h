/* watch.h: event triggers. */
#ifndef QP_RECORD_WATCH_H
#define QP_RECORD_WATCH_H

#include "format/events.h"
#include "record/thread.h"

typedef struct {
    uint64_t duration_ns, depth;
} qp_watch_call;

extern uint32_t qp_watch_on;
bool qp_watch_is_used(void);
bool qp_watch_names(const qp_method *m);
bool qp_watch_all_calls(void);
void qp_watch_raise(qprof_thread *th, uint32_t event, uintptr_t object,
                    const qp_watch_call *call);

#endif
