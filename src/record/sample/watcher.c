/* watcher.c: a thread of the recorder that looks at all OS threads again and again. */
#include "record/sample/sample.h"

#include "base/atomic.h"
#include "base/os/mapping.h"
#include "base/os/thread.h"

enum { STACK_BYTES = 64 * 1024, OS_THREADS_MAX = 1 << 20 /* that are looked at */ };

bool qp_watcher_start(qp_watcher *w, void *(*run)(void *))
{
    qp_store(&w->must_stop, 0);
    if (!w->live)
        w->live = qp_pages_take(OS_THREADS_MAX * sizeof *w->live);
    w->n_live = w->n_known = 0;
    w->is_running = w->live && qp_own_thread_start(&w->thread, run, STACK_BYTES);
    if (!w->is_running)
        qp_count(&qp_recorder.space, QP_D_sampler_unavailable);
    return w->is_running;
}

void qp_watcher_stop(qp_watcher *w)
{
    if (!w->is_running)
        return;
    qp_publish(&w->must_stop, 1);
    pthread_join(w->thread, NULL);
    w->is_running = false;
}

void qp_watcher_pass(qp_watcher *w, void (*begin)(qp_os_thread_slot *),
                     void (*visit)(qp_os_thread_slot *, void *), void *with)
{
    for (qp_os_thread_slot *slot; (slot = qp_os_thread_at(w->n_known + 1)) != NULL;) {
        w->n_known++;
        if (w->n_live == OS_THREADS_MAX)
            continue;
        w->live[w->n_live++] = w->n_known;
        if (begin)
            begin(slot);
    }
    for (uint32_t i = 0; i < w->n_live;) {
        qp_os_thread_slot *slot = qp_os_thread_at(w->live[i]);
        uint32_t state = qp_observe(&slot->state);
        if (state == QP_OS_THREAD_ENDED) {
            w->live[i] = w->live[--w->n_live];
            continue;
        }
        if (state == QP_OS_THREAD_ALIVE)
            visit(slot, with);
        i++;
    }
}
