/* mount.c: which OS thread drives a thread. Read qp_thread_take first.
 *
 * A virtual thread passes from OS thread to OS thread by a compare-and-swap on its os_thread.
 * One that was not released is taken only while its OS thread is in no event of it. */
#include "record/event/event.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/os/clock.h"
#include "record/clock/clock.h"
#include "record/pause/pause.h"
#include "record/ring/ring.h"
#include "record/tree/tree.h"
#include "record/trigger/trigger.h"

enum {
    TAKE_SPINS = 1000,        /* before it yields the processor, for at most: */
    PATIENCE_NS = 1000000000, /* the other OS thread may have lost its processor meanwhile */
};

/* In qprof_thread.os_thread: it is passing to another OS thread. */
#define BETWEEN UINT32_MAX

static bool give_up(void)
{
    qp_count(&qp_recorder.space, QP_D_vt_conflict);
    return false;
}

/* Resume a thread that was suspended, or never driven. */
static void wake(qprof_thread *th)
{
    qp_thread_record *r = qp_record_of(th);
    if (r->system_id != qp_here.system_id) {
        qp_store(&r->system_id, qp_here.system_id);
        qp_count(&qp_recorder.space, QP_D_vt_migrations);
    }
    bool is_free = qp_set_busy(th);
    qprof_frame *top = is_free ? qp_busy_top(th) : NULL;
    bool was_open = qp_trace_position_of(th).is_open;
    uint32_t flags = top ? top->flags : 0;
    if (top)
        qp_triggers_sync(th, top, true);
    uint64_t suspended = th->pulse->suspended_at, before = th->pulse->offset;
    qp_pause_resume(th, top);
    if (qp_trace_users()) { /* it was suspended for as long as its offset has grown */
        uint64_t raw = suspended ? suspended + (th->pulse->offset - before) : 0;
        qp_trace_switch(th, raw);
        if (top)
            qp_trace_woke(th, top, was_open, top->flags & ~flags & QPROF_FRAME_PARTIAL, raw);
    }
    if (is_free)
        qp_clear_busy(th);
}

/* Take a thread that was not released. The barrier makes the other OS thread's stores visible:
 * if it holds the thread then, it keeps it. */
static bool steal(qprof_thread *th, uint32_t from)
{
    qp_fence();
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    if (qp_observe(&qp_os_thread_at(from)->driven) == th || qp_is_busy(th))
        return false;
    qp_store(&qp_record_of(th)->system_id, qp_here.system_id);
    qp_count(&qp_recorder.space, QP_D_vt_migrations);
    qp_pause_migrate(th);
    if (qp_trace_users())
        qp_trace_switch(th, 0);
    return true;
}

bool qp_thread_take(qprof_thread *th)
{
    uint64_t until = 0;
    for (unsigned tries = 0; !until || qp_clock_monotonic() < until; tries++) {
        uint32_t from = qp_observe(&th->os_thread);
        if (from == qp_here.ordinal)
            return true;
        if (from != BETWEEN && qp_swap_if(&th->os_thread, &from, BETWEEN)) {
            bool is_ours = !from || steal(th, from);
            if (!from)
                wake(th);
            qp_publish(&th->os_thread, is_ours ? qp_here.ordinal : from);
            return is_ours || give_up();
        }
        if (tries == TAKE_SPINS)
            until = qp_clock_monotonic() + PATIENCE_NS;
        if (until)
            sched_yield();
    }
    return give_up();
}

void qp_thread_release(qprof_thread *th, bool ends)
{
    uint32_t ours = qp_here.ordinal;
    if (!qp_is_open(th) || !qp_swap_if(&th->os_thread, &ours, BETWEEN))
        return;
    bool is_free = qp_set_busy(th);
    qprof_frame *top = is_free ? qp_busy_top(th) : NULL;
    if (top)
        qp_triggers_sync(th, top, false);
    qp_pause_suspend(th, top);
    if (qp_trace_users())
        qp_trace_suspend(th, ends, th->pulse->suspended_at);
    if (is_free)
        qp_clear_busy(th);
    if (ends)
        QPROF_STORE(th->gate, 0);
    qp_publish(&th->os_thread, 0);
}

void qp_thread_look_at(qprof_thread *th, uintptr_t vt)
{
    qp_here.th = th;
    qp_here.vt = vt;
    qp_publish(&qp_here.slot->current, th == &qp_closed_thread ? NULL : th);
}

qprof_thread *qp_thread_mount(qprof_thread *th)
{
    qp_os_thread_renew();
    qprof_thread *before = qp_here.th;
    if (!qp_is_open(th)) {
        qp_thread_release(before, false);
        qp_thread_look_at(&qp_closed_thread, 0);
        return before;
    }
    if (th == before && QPROF_LOAD(th->os_thread) == qp_here.ordinal)
        return before;
    if (before != th) /* first, so that in a trace it ends before th begins */
        qp_thread_release(before, false);
    if (!qp_thread_take(th)) {
        if (qp_is_open(before))
            qp_thread_take(before);
        return NULL;
    }
    qp_thread_look_at(th, (uintptr_t)qp_record_of(th)->vt_id);
    return before;
}
