/* mount.c: which OS thread drives a thread. Read qp_thread_take first, then qp_thread_switch.
 *
 * A virtual thread passes from OS thread to OS thread by a compare-and-swap on its os_thread.
 * One that was not released is taken only while its OS thread is in no event of it. */
#include "record/event/event.h"

#include <sched.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/os/clock.h"
#include "base/os/system.h"
#include "record/clock/clock.h"
#include "record/pause/pause.h"
#include "record/ring/ring.h"
#include "record/tree/tree.h"
#include "record/trigger/trigger.h"

enum {
    TAKE_SPINS = 1000,        /* before it yields the processor, for at most: */
    PATIENCE_NS = 1000000000, /* the other OS thread may have lost its processor meanwhile */
};

/* In qprof_thread.os_thread, with the ordinal of an OS thread: it is passing to that one, or from
 * it. */
#define BETWEEN 0x80000000u

/* Hooks that do not matter while a thread is neither entered nor left. */
#define HOOKS_WITHOUT_SWITCH                                                                   \
    (QPROF_HOOK_EXACT | QPROF_HOOK_ADAPTIVE | QPROF_HOOK_TSC | QPROF_HOOK_STACK |              \
     QPROF_HOOK_WAITS | QPROF_HOOK_TOKENS | QPROF_HOOK_COLD | QP_HOOK_SAMPLE | QP_HOOK_DEEP |  \
     QP_HOOK_ZERO | QP_HOOK_STEPS)

static QP_RARE bool give_up(void)
{
    qp_count(&qp_recorder.space, QP_D_vt_conflict);
    return false;
}

/* Apply what triggers have changed. @return the top frame, which may have moved */
static qprof_frame *apply_triggers(qprof_thread *th, qprof_frame *top, bool is_suspended)
{
    if (QP_LIKELY(!(QPROF_LOAD(th->gate) & (QP_HOOK_TRIGGERS | QP_HOOK_TURNED))))
        return top;
    qprof_frame *unfolded = qp_stack_unfold(th, top);
    top = unfolded ? unfolded : qp_busy_top(th);
    qp_triggers_sync(th, top, is_suspended);
    return top;
}

/* Resume a thread that was suspended, or never driven. */
static QP_RARE void wake(qprof_thread *th)
{
    qp_thread_record *r = qp_record_of(th);
    if (r->system_id != qp_here.system_id) {
        qp_store(&r->system_id, qp_here.system_id);
        qp_waits_begin(th);
        qp_count(&qp_recorder.space, QP_D_vt_migrations);
    }
    bool is_free = qp_set_busy(th);
    qprof_frame *top = is_free ? qp_busy_top(th) : NULL;
    bool was_open = qp_trace_position_of(th).is_open;
    qp_own_of(th)->is_cut = false;
    if (top)
        top = apply_triggers(th, top, true);
    uint64_t suspended = th->pulse->suspended_at, before = th->pulse->offset;
    qp_pause_resume(th, top);
    if (qp_trace_users()) { /* it was suspended for as long as its offset has grown */
        uint64_t raw = suspended ? suspended + (th->pulse->offset - before) : 0;
        qp_trace_switch(th, raw);
        if (top)
            qp_trace_woke(th, top, was_open, qp_own_of(th)->is_cut, raw);
    }
    if (top)
        qp_event_end(th, top);
    else if (is_free)
        qp_clear_busy(th);
}

/* In slot.driven: the thread is being released by a switch. */
static qprof_thread *leaving(qprof_thread *th)
{
    return (qprof_thread *)(void *)((char *)th + 1);
}

typedef enum { TAKEN, REFUSED, RELEASED } steal_result;

/* Take a thread that was not released, and that is BETWEEN for us. The barrier makes the other OS
 * thread's stores visible: if it holds the thread then, it keeps it, or releases it, which is
 * waited for. */
static QP_RARE steal_result steal(qprof_thread *th, uint32_t from, uint32_t between)
{
    qp_fence();
    bool is_seen = qp_system_barrier(); /* else it must release the thread itself */
    const qprof_thread *driven = qp_observe(&qp_os_thread_at(from)->driven);
    bool is_used = driven == th || qp_is_busy(th);
    if (!is_seen || is_used || driven == leaving(th) || qp_observe(&th->os_thread) != between) {
        qp_swap_if(&th->os_thread, &between, from); /* fails if it was released meanwhile */
        return is_seen && is_used && driven != leaving(th) ? REFUSED : RELEASED;
    }
    qp_store(&qp_record_of(th)->system_id, qp_here.system_id);
    qp_waits_begin(th);
    qp_count(&qp_recorder.space, QP_D_vt_migrations);
    qp_pause_migrate(th);
    if (qp_trace_users())
        qp_trace_switch(th, 0);
    qp_publish(&th->os_thread, qp_here.ordinal);
    return TAKEN;
}

/* Has the row been given to another virtual thread than the one that was found on it? */
static bool is_another(const qprof_thread *th)
{
    return qp_here.wanted && qp_load(&qp_record_of(th)->vt_id) != qp_here.wanted;
}

QP_RARE bool qp_thread_take(qprof_thread *th)
{
    uint64_t until = 0;
    for (unsigned tries = 0; !until || qp_clock_monotonic() < until; tries++) {
        uint32_t from = qp_observe(&th->os_thread), between = BETWEEN | qp_here.ordinal;
        if (is_another(th))
            return false;
        if (from == qp_here.ordinal)
            return true;
        if (!(from & BETWEEN) && qp_swap_if(&th->os_thread, &from, between)) {
            if (!from) {
                wake(th);
                qp_publish(&th->os_thread, qp_here.ordinal);
                return true;
            }
            steal_result result = steal(th, from, between);
            if (result != RELEASED)
                return result == TAKEN || give_up();
            sched_yield();
        }
        if (tries == TAKE_SPINS)
            until = qp_clock_monotonic() + PATIENCE_NS;
        if (until)
            sched_yield();
    }
    return give_up();
}

QP_RARE void qp_thread_release(qprof_thread *th, bool ends)
{
    uint32_t ours = qp_here.ordinal;
    if (!qp_is_open(th) || !qp_swap_if(&th->os_thread, &ours, BETWEEN | ours))
        return;
    bool is_free = qp_set_busy(th);
    qprof_frame *top = is_free ? qp_busy_top(th) : NULL;
    if (top)
        top = apply_triggers(th, top, false);
    qp_pause_suspend(th, top);
    if (qp_trace_users())
        qp_trace_suspend(th, ends, th->pulse->suspended_at);
    if (top)
        qp_event_end(th, top);
    else if (is_free)
        qp_clear_busy(th);
    if (ends)
        QPROF_STORE(th->gate, 0);
    qp_publish(&th->os_thread, 0);
}

QP_RARE bool qp_thread_freeze(qprof_thread *th)
{
    uint32_t free = 0;
    return qp_swap_if(&th->os_thread, &free, BETWEEN | qp_here.ordinal);
}

QP_RARE void qp_thread_thaw(qprof_thread *th)
{
    qp_publish(&th->os_thread, 0);
}

QP_RARE void qp_thread_await(const qprof_thread *th)
{
    for (unsigned n = 0; n < TAKE_SPINS && (qp_observe(&th->os_thread) & BETWEEN); n++)
        sched_yield();
}

bool qp_thread_retire(qprof_thread *th)
{
    const uint32_t hooks = QPROF_HOOK_EXACT | QPROF_HOOK_ADAPTIVE | QPROF_GATE_CLOCK;
    const uint64_t root = (uint64_t)qp_record_of(th)->root << 6 | QPROF_TOP_TOKEN;
    uint32_t free = 0, gate = QPROF_LOAD(th->gate);
    if ((gate & ~hooks) != QPROF_GATE_TOKENS || QPROF_LOAD(th->pulse->top) != root ||
        qp_trace_users() || qp_load(&qp_is_triggering) ||
        !qp_swap_if(&th->os_thread, &free, BETWEEN | qp_here.ordinal))
        return false;
    bool is_idle = QPROF_LOAD(th->pulse->top) == root; /* still */
    if (is_idle)
        QPROF_STORE(th->gate, 0);
    qp_publish(&th->os_thread, 0);
    return is_idle;
}

void qp_thread_look_at(qprof_thread *th, uintptr_t vt)
{
    qp_here.th = th;
    qp_here.vt = vt;
    qp_publish(&qp_here.slot->current, th == &qp_closed_thread ? NULL : th);
}

/* ---- from one virtual thread to another, and nothing else happens --------------------------- */

#define TIMED (QP_HOOKS_EXACT | QPROF_HOOK_ADAPTIVE)

/* Whether a switch needs no more of two threads than their clocks. A trace sets a hook. */
static inline bool is_usual(uint32_t gate, uint32_t other)
{
    uint32_t all = gate | other, both = gate & other;
    return !(all & ~(HOOKS_WITHOUT_SWITCH | QPROF_GATE_OPEN)) && (both & QPROF_GATE_OPEN) &&
           (!(all & TIMED) || (both & QPROF_HOOK_TSC));
}

/* Raw ticks of a switch. @param entered  token of a function of `before` that was entered just now, or
 * 0: if it has had no time yet, the switch is at its entry */
static inline uint64_t switch_time(const qprof_thread *before, const qprof_thread *th,
                                   qprof_token entered)
{
    if (entered && QPROF_LOAD(before->pulse->top) == (entered | QPROF_TOP_BUSY) &&
        (QPROF_LOAD(before->gate) & QP_HOOKS_EXACT)) {
        const qprof_node *n = QPROF_AT(before, qprof_node, entered - QPROF_TOP_TOKEN);
        uint64_t raw = before->pulse->last + before->pulse->offset;
        if (n->begun == n->self && (int64_t)(raw - th->pulse->suspended_at) >= 0)
            return raw;
    }
    return qprof_ticks();
}

/* Suspend the clock of one thread and resume that of the other, at one moment. Both are busy,
 * because a signal handler that records would find half of the change. @return false: a control
 * function has changed their gates meanwhile, or an event is in progress; nothing was done */
static inline bool switch_clock(qprof_thread *before, qprof_thread *th, uint32_t gates,
                                qprof_token entered)
{
    uint64_t top = QPROF_LOAD(th->pulse->top), top_before = QPROF_LOAD(before->pulse->top);
    if (QP_UNLIKELY((top | top_before) & QPROF_TOP_BUSY))
        return false;
    QPROF_STORE(th->pulse->top, top | QPROF_TOP_BUSY);
    QPROF_STORE(before->pulse->top, top_before | QPROF_TOP_BUSY);
    QPROF_FENCE();
    uint64_t raw = switch_time(before, th, entered);
    bool is_usual_still = (QPROF_LOAD(th->gate) | QPROF_LOAD(before->gate)) == gates;
    if (QP_LIKELY(is_usual_still)) {
        uint64_t suspended = th->pulse->suspended_at;
        QPROF_STORE(before->pulse->suspended_at, raw);
        if (suspended) {
            QPROF_STORE(th->pulse->offset, th->pulse->offset + (raw - suspended));
            QPROF_STORE(th->pulse->suspended_at, 0);
        }
    }
    QPROF_FENCE();
    QPROF_STORE(before->pulse->top, top_before);
    QPROF_STORE(th->pulse->top, top);
    return is_usual_still;
}

/* As qp_thread_hold(), to release the thread: an OS thread that wants it waits.
 * @return false: it has been taken */
static inline bool hold_to_leave(qprof_thread *th)
{
    QPROF_STORE(qp_here.slot->driven, leaving(th));
    QPROF_FENCE();
    return QP_LIKELY(QPROF_LOAD(th->os_thread) == qp_here.ordinal);
}

static inline __attribute__((always_inline)) qprof_thread *switch_to(qprof_thread *th,
                                                                     qprof_token entered)
{
    qp_os_thread *here = &qp_here;
    qprof_thread *before = here->th;
    uint32_t gate = QPROF_LOAD(th->gate), gate_before = QPROF_LOAD(before->gate), free = 0;
    if (QP_UNLIKELY(--here->until_timed < 0 || !is_usual(gate, gate_before) ||
                    qp_load(&qp_is_triggering) ||
                    !qp_swap_if(&th->os_thread, &free, BETWEEN | here->ordinal)))
        return NULL;
    const qp_thread_record *r = qp_record_of(th);
    qprof_thread *driven = here->slot->driven; /* by what a signal handler has interrupted */
    bool is_done = r->system_id == here->system_id && hold_to_leave(before) &&
                   (!(gate & TIMED) || switch_clock(before, th, gate | gate_before, entered));
    if (QP_LIKELY(is_done)) {
        qp_publish(&before->os_thread, 0);
        here->th = th;
        here->vt = (uintptr_t)r->vt_id;
        qp_publish(&here->slot->current, th);
    }
    qp_publish(&th->os_thread, is_done ? here->ordinal : 0);
    qp_publish(&here->slot->driven, driven);
    return is_done ? before : NULL;
}

qprof_thread *qp_thread_switch(qprof_thread *th)
{
    return switch_to(th, 0);
}

qprof_thread *qp_thread_switch_by(qprof_thread *th, qprof_token entered)
{
    return switch_to(th, entered);
}

/* ---- any thread ---------------------------------------------------------------------------- */

static QP_RARE __attribute__((noinline)) qprof_thread *mount_slowly(qprof_thread *th)
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

qprof_thread *qp_thread_mount(qprof_thread *th)
{
    qprof_thread *before = qp_thread_switch(th);
    return before ? before : mount_slowly(th);
}
