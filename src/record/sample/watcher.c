/* watcher.c: a thread of the recorder that looks at all OS threads again and again. */
#include "record/sample/sample.h"

#include "base/atomic.h"
#include "base/os/clock.h"
#include "base/os/mapping.h"
#include "base/os/system.h"
#include "base/os/thread.h"
#include "base/text/wide.h"

enum {
    STACK_BYTES = 64 * 1024,
    OS_THREADS_MAX = 1 << 20 /* that are looked at */,
    PASSES = 64
};

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

void qp_watcher_began(qp_watcher *w)
{
    qp_system_name_thread("qprof");
    w->has_descriptors = qp_task_own_descriptors();
    w->n_passes = 0;
    w->cpu = 0;
}

void qp_watcher_ended(qp_watcher *w)
{
    uint64_t cpu = qp_clock_thread_cpu();
    qp_fetch_add(&qp_recorder_head()->watch_ns, cpu - w->cpu);
    w->cpu = cpu;
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
    if (w->n_passes++ % PASSES == PASSES - 1)
        qp_watcher_ended(w); /* so far */
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

/* The system adds a delay when it ends: what was counted before is left out. */
static uint64_t delay_of(qp_os_thread_slot *slot)
{
    uint64_t delay = qp_task_delay(qp_load(&slot->system_id));
    uint64_t known = slot->delay_seen + slot->delay_ahead;
    uint64_t more = slot->delay_seen && delay > known ? delay - known : 0;
    slot->delay_seen = delay;
    slot->delay_ahead = 0;
    return more;
}

static uint64_t off_of(const qp_watcher *w, qp_os_thread_slot *slot, uint64_t ns)
{
    int id = (int)qp_load(&slot->system_id);
    uint64_t before = qp_load(&slot->cpu_at), cpu = qp_clock_cpu_of(id), used = cpu - before;
    qp_store(&slot->cpu_at, cpu);
    if (!before || used > ns - ns / 64) /* the rest may have been interrupts */
        return 0;
    if (used && !w->has_descriptors)
        return 0;
    if (used && qp_clock_cpu_of(id) != cpu) /* it runs now */
        return delay_of(slot);
    if (used && qp_task_is_running(0, (uint64_t)id)) /* others have the processors */
        ns -= used;
    slot->delay_ahead += ns;
    return ns;
}

uint64_t qp_watcher_finds_off(const qp_watcher *w, qp_os_thread_slot *slot, uint64_t ticks,
                              uint64_t ns)
{
    bool is_asked = qp_load(&qp_recorder_head()->flags) & QP_FLAG_WAITS;
    uint64_t off = is_asked ? off_of(w, slot, ns) : 0;
    return off ? qp_product_share(ticks, off, 0, ns) : 0;
}
