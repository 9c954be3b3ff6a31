/* lock.c: waits for locks, by the path that waited and the path that held the lock. */
#include <errno.h>

#include "record/clock/clock.h"
#include "record/event/event.h"
#include "record/tree/tree.h"

/* The record of a lock and a holder; beyond QP_LOCK_WAITS that of all others. @return NULL: no room */
static qp_lock_wait *wait_of(qprof_thread *th, qp_node_metrics *m, qp_ref lock, qp_cell holder)
{
    unsigned n = 0;
    qp_lock_wait *w = NULL, *others = NULL;
    for (qp_cell at = m->waits; at; at = w->next, n++) {
        w = QPROF_CELL(th, qp_lock_wait, at);
        if (w->lock == lock && w->holder == holder)
            return w;
        if (!w->lock && !w->holder)
            others = w;
    }
    if (n > QP_LOCK_WAITS)
        return others;
    qp_cell cell = qp_tree_aux_cell(th);
    if (!cell)
        return NULL;
    w = QPROF_CELL(th, qp_lock_wait, cell);
    if (n < QP_LOCK_WAITS) { /* else all others share this one */
        w->lock = lock;
        w->holder = holder;
    }
    w->next = m->waits;
    qp_publish(&m->waits, cell);
    return w;
}

void qp_lock_waited(qprof_thread *th, const char *lock, qp_cell waiter, qp_cell holder,
                    uint64_t ticks)
{
    qprof_frame *top = qp_event_look(th);
    qp_cell path = top && !(QPROF_LOAD(th->gate) & (QP_HOOK_STOPPED | QP_HOOK_OFF))
                       ? qp_frame_path(top)
                       : 0;
    if (path && waiter && qp_tree_holds(th, waiter))
        path = waiter;
    qp_node_metrics *m = path ? qp_tree_metrics(th, path) : NULL;
    qp_ref name = m ? qp_texts_add(&qp_recorder.texts, lock) : 0;
    qp_lock_wait *w = name ? wait_of(th, m, name, holder) : NULL;
    if (w) {
        const uint64_t ns = qp_clock_ns(ticks);
        qp_bump(&w->n, 1);
        qp_bump(&w->ns, ns);
        if (ns > w->longest_ns)
            qp_store(&w->longest_ns, ns);
    } else if (path) {
        qp_count(&qp_recorder.space, QP_D_out_of_memory);
    }
    if (top)
        qp_event_end(th, top);
}
