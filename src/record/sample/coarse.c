/* coarse.c: the thread of the coarse clock of -time=adaptive. Read pass first.
 *
 * At each tick it notes the thread time of every thread that is being driven: calls that are open
 * at that moment find it at their exits. A tick that comes late represents the longer time since
 * the one before. Ticks become rarer in a long run: what they leave uncertain remains the
 * same part of it. */
#include "base/atomic.h"
#include "base/os/clock.h"
#include "base/os/mapping.h"
#include "base/os/thread.h"
#include "record/clock/clock.h"
#include "record/sample/sample.h"

enum { STACK_BYTES = 64 * 1024, OS_THREADS_MAX = 1 << 20 };

static struct {
    pthread_t thread;
    bool is_running;
    uint32_t must_stop;
    uint32_t *live; /* [n_live] ordinals of OS threads that have not ended, out of n_known */
    uint32_t n_live, n_known;
    double ticks, squares; /* sums of the ticks between passes, and of their squares */
} coarse;

/* The thread time of a thread now. @return false: its clock does not run, or it changes */
static bool time_of(const qp_os_thread_slot *slot, const qprof_thread *th, uint64_t *at)
{
    const qp_head *h = qp_recorder_head();
    const qprof_pulse *p = qp_observe(&th->pulse);
    uint32_t gate = qp_load(&th->gate);
    if (!p || !(gate & QPROF_GATE_OPEN) || (gate & (QP_HOOK_OFF | QP_HOOK_STOPPED)))
        return false;
    uint64_t seen = qp_observe(&qp_record_of(th)->stopped_seen),
             total = qp_load(&h->stopped_total);
    uint64_t offset = qp_observe(&p->offset);
    if (qp_observe(&p->suspended_at))
        return false;
    uint64_t raw = qp_clock_is_shared() ? qp_clock_elapsed()
                                        : qp_clock_cpu_of((int)qp_load(&slot->system_id));
    *at = raw - offset - (qp_clock_is_shared() ? total - seen : 0);
    qp_fence();
    return (int64_t)*at > 0 && qp_load(&slot->current) == th && qp_load(&p->offset) == offset &&
           !qp_load(&p->suspended_at) && !qp_load(&h->stopped_since);
}

static void note_new_os_threads(void)
{
    while (qp_os_thread_at(coarse.n_known + 1)) {
        coarse.n_known++;
        if (coarse.n_live < OS_THREADS_MAX)
            coarse.live[coarse.n_live++] = coarse.n_known;
    }
}

static void pass(void)
{
    note_new_os_threads();
    for (uint32_t i = 0; i < coarse.n_live;) {
        const qp_os_thread_slot *slot = qp_os_thread_at(coarse.live[i]);
        uint32_t state = qp_observe(&slot->state);
        if (state == QP_OS_THREAD_ENDED) {
            coarse.live[i] = coarse.live[--coarse.n_live];
            continue;
        }
        qprof_thread *th = state == QP_OS_THREAD_ALIVE ? qp_observe(&slot->current) : NULL;
        uint64_t at;
        if (th && time_of(slot, th, &at))
            qp_adaptive_tick(th, at);
        i++;
    }
}

/* What a tick represents: a moment lies in a long interval the more likely the longer it is. */
static void note_interval(uint64_t ticks)
{
    coarse.ticks += (double)ticks;
    coarse.squares += (double)ticks * (double)ticks;
    if (coarse.ticks > 0)
        qp_store(&qp_recorder_head()->coarse_period, (uint64_t)(coarse.squares / coarse.ticks));
}

static void *run(QP_UNUSED void *unused)
{
    uint64_t first = qp_clock_monotonic(), due = first, before = qp_clock_elapsed();
    pthread_setname_np(pthread_self(), "qprof");
    while (!qp_observe(&coarse.must_stop)) {
        uint64_t wall = qp_clock_monotonic();
        due += qp_adaptive_period(wall - first);
        if (due < wall)
            due = wall;
        qp_clock_sleep_until(due);
        uint64_t now = qp_clock_elapsed();
        if (!qp_load(&qp_recorder_head()->stopped_since)) {
            pass();
            note_interval(now - before);
        }
        before = now;
    }
    return NULL;
}

bool qp_coarse_start(void)
{
    bool is_wanted = qp_recorder_head()->time_mode == QP_TIME_ADAPTIVE && qp_adaptive_period(0);
    if (!is_wanted)
        return true;
    qp_store(&coarse.must_stop, 0);
    if (!coarse.live)
        coarse.live = qp_pages_take(OS_THREADS_MAX * sizeof *coarse.live);
    coarse.n_live = coarse.n_known = 0;
    coarse.ticks = coarse.squares = 0;
    coarse.is_running = coarse.live && qp_own_thread_start(&coarse.thread, run, STACK_BYTES);
    if (!coarse.is_running)
        qp_count(&qp_recorder.space, QP_D_sampler_unavailable);
    return coarse.is_running;
}

void qp_coarse_stop(void)
{
    if (!coarse.is_running)
        return;
    qp_publish(&coarse.must_stop, 1);
    pthread_join(coarse.thread, NULL);
    coarse.is_running = false;
}

void qp_coarse_forget(void)
{
    coarse.is_running = false;
}
