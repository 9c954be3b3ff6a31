/* coarse.c: the thread of the coarse clock of -time=adaptive. Read tick first.
 *
 * At each tick it notes the thread time of every thread that is being driven: calls that are open
 * at that moment find it at their exits. A tick that comes late represents the longer time since
 * the one before. Ticks become rarer in a long run: what they leave uncertain remains the
 * same part of it. */
#include "base/atomic.h"
#include "base/os/clock.h"
#include "record/clock/clock.h"
#include "record/sample/sample.h"

static qp_watcher watcher;
static double sum_of_ticks, sum_of_squares; /* of the ticks between passes */

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

/* Time off the processors is credited as samples are: to the path that is on top until the next event. */
static void tick(qp_os_thread_slot *slot, void *ticks)
{
    const uint64_t *passed = ticks;
    qprof_thread *th = qp_observe(&slot->current);
    uint64_t off = qp_watcher_finds_off(&watcher, slot, *passed, qp_clock_ns(*passed));
    uint64_t at;
    if (!th || !time_of(slot, th, &at))
        return;
    qp_adaptive_tick(th, at);
    if (off)
        qp_samples_note(th, 0, 0, off);
}

/* What a tick represents: a moment lies in a long interval the more likely the longer it is. */
static void note_interval(uint64_t ticks)
{
    sum_of_ticks += (double)ticks;
    sum_of_squares += (double)ticks * (double)ticks;
    if (sum_of_ticks > 0)
        qp_store(&qp_recorder_head()->coarse_period, (uint64_t)(sum_of_squares / sum_of_ticks));
}

static void *run(QP_UNUSED void *unused)
{
    uint64_t first = qp_clock_monotonic(), due = first, before = qp_clock_elapsed();
    qp_watcher_began(&watcher);
    while (!qp_observe(&watcher.must_stop)) {
        uint64_t wall = qp_clock_monotonic();
        due += qp_adaptive_period(wall - first);
        if (due < wall)
            due = wall;
        qp_clock_sleep_until(due);
        uint64_t now = qp_clock_elapsed(), passed = now - before;
        if (!qp_load(&qp_recorder_head()->stopped_since)) {
            qp_watcher_pass(&watcher, NULL, tick, &passed);
            note_interval(passed);
        }
        before = now;
    }
    qp_watcher_ended(&watcher);
    return NULL;
}

bool qp_coarse_start(void)
{
    bool is_wanted = qp_recorder_head()->time_mode == QP_TIME_ADAPTIVE && qp_adaptive_period(0);
    sum_of_ticks = sum_of_squares = 0;
    return !is_wanted || qp_watcher_start(&watcher, run);
}

void qp_coarse_stop(void)
{
    qp_watcher_stop(&watcher);
}

void qp_coarse_forget(void)
{
    watcher.is_running = false;
}
