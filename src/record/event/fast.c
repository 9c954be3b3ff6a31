/* fast.c: what the inline path leaves out and still is usual: calls of which only the stack is kept,
 * in a host without the calls for that, and calls that leave a record in a trace. Compiled for
 * speed; all else is event.c and exit.c. */
/* The event path is straight: what it jumps to is rare and need not be aligned. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-align-jumps", "no-align-labels")
#endif
#include "record/event/event.h"
#include "record/ring/trace_fast.h"

void qprof_cold_entry(qprof_thread *th, uintptr_t method, uintptr_t id)
{
    if (!qp_trace_fast_entry(th, method, id) &&
        (qprof_is_due(th) || !qprof_push(th, method, id)))
        qp_event_enter_id(th, method, id);
}

void qprof_cold_exit(qprof_thread *th, uintptr_t id)
{
    if (!qp_trace_fast_exit(th, id) && (qprof_is_due(th) || !qprof_pop(th, id)))
        qp_event_exit_id(th, id);
}
