/* waits.c: how much of a long interval between two events an OS thread was off the processor, because
 * it waited or because others ran. Read qp_waits_charge first.
 *
 * The CPU clock is read at the end of long intervals alone. Between two readings lie one long interval,
 * which ends at the second one, and any number of short ones, which count as running: see
 * qp_time_off(). */
#include "base/atomic.h"
#include "base/os/clock.h"
#include "base/text/wide.h"
#include "record/clock/clock.h"
#include "record/tree/tree.h"

bool qp_waits_are_known(const qp_head *h, bool has_classes)
{
    return h->clock_kind == QP_CLOCK_ELAPSED && h->clock_source != QP_SOURCE_HOST &&
           !has_classes && h->time_mode != QP_TIME_NONE;
}

static bool are_known(void)
{
    return qp_load(&qp_recorder_head()->flags) & QP_FLAG_WAITS;
}

/* In the other modes a thread of the recorder finds out who waits. */
static bool are_measured(void)
{
    return are_known() && qp_recorder_head()->time_mode == QP_TIME_EXACT;
}

void qp_waits_begin_os_thread(void)
{
    if (!are_known())
        return;
    qp_store(&qp_here.slot->wall_at, qp_clock_monotonic());
    qp_store(&qp_here.slot->cpu_at, qp_clock_thread_cpu());
}

void qp_waits_begin(qprof_thread *th)
{
    qp_thread_record *r = qp_record_of(th);
    if (!are_measured())
        return;
    qp_store(&r->wall_at, qp_here.slot->wall_at);
    qp_store(&r->cpu_at, qp_here.slot->cpu_at);
}

static uint64_t part_of(uint64_t ticks, uint64_t elapsed, uint64_t cpu)
{
    uint64_t interval = qp_clock_ns(ticks), off = qp_time_off(interval, elapsed, cpu);
    return interval ? qp_product_share(ticks, off, 0, interval) : 0;
}

/* What passed between the end of the interval, which was read first, and the reading of the clocks: others may have had the
 * processor then. It belongs to the next interval. */
static void leave_to_next(qp_os_thread_slot *slot, const qp_thread_record *r)
{
    uint64_t late = qp_clock_elapsed() - QPROF_LOAD(r->offset) - QPROF_LOAD(r->last);
    if ((int64_t)late > 0)
        qp_store(&slot->wall_at, slot->wall_at - qp_clock_ns(late));
}

void qp_waits_charge(qprof_thread *th, qprof_node *n, uint64_t ticks)
{
    qp_os_thread_slot *slot = qp_here.slot;
    if (!are_known() || qp_here.epoch != qp_recorder.epoch)
        return;
    uint64_t wall = slot->wall_at, cpu = slot->cpu_at;
    qp_waits_begin_os_thread();
    leave_to_next(slot, qp_record_of(th));
    qp_waits_begin(th);
    uint64_t off = part_of(ticks, slot->wall_at - wall, slot->cpu_at - cpu);
    if (QPROF_LOAD(th->gate) & QP_HOOK_STEPS)
        qp_steps_of(th)->off += off;
    qp_node_metrics *m = off && n->parent ? qp_tree_metrics(th, QPROF_INDEX(th, n)) : NULL;
    if (m)
        qp_bump(&m->off, off);
}

/* The OS thread of th does not run this. */
static void note_open(const qprof_thread *th, const qp_os_thread_slot *slot)
{
    qp_thread_record *r = qp_record_of(th);
    uint64_t wall = qp_load(&slot->wall_at), cpu = qp_load(&slot->cpu_at);
    uint64_t last = QPROF_LOAD(r->last), raw = qp_clock_elapsed() - QPROF_LOAD(r->offset);
    uint64_t cpu_now = qp_clock_cpu_of((int)qp_load(&slot->system_id));
    uint64_t elapsed = qp_clock_monotonic() - wall;
    if (!cpu_now || (int64_t)(raw - last) <= 0)
        return;
    qp_store(&r->off_open, part_of(raw - last, elapsed, cpu_now > cpu ? cpu_now - cpu : 0));
    qp_store(&r->off_since, last);
}

void qp_waits_note_open(void)
{
    const qprof_thread *th;
    for (uint32_t i = 0; are_measured() && (th = qp_threads_at(i)) != NULL; i++) {
        uint32_t os_thread = qp_load(&th->os_thread) & INT32_MAX;
        const qp_os_thread_slot *slot = os_thread ? qp_os_thread_at(os_thread) : NULL;
        if (slot && qp_observe(&th->pulse) && qp_load(&slot->wall_at))
            note_open(th, slot);
    }
}
