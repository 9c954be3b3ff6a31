/* watch.c: event triggers. */
#include "record/watch.h"

uint32_t qp_watch_on;

bool qp_watch_is_used(void)
{
    return false;
}

bool qp_watch_names(const qp_method *m)
{
    (void)m;
    return false;
}

bool qp_watch_all_calls(void)
{
    return false;
}

void qp_watch_raise(qprof_thread *th, uint32_t event, uintptr_t object,
                    const qp_watch_call *call)
{
    (void)th, (void)event, (void)object, (void)call;
}
