/* life.c: making, finding and ending threads. Read qp_thread_create first. */
#include "base/os/perf.h"
#include "record/clock/clock.h"
#include "record/event/event.h"
#include "record/ring/ring.h"
#include "record/sample/sample.h"
#include "record/tree/tree.h"
#include "record/trigger/trigger.h"

enum { NO_USER = 1 }; /* a shared handle: no stack has this address */

/* Has nothing happened since the row's last event that its next one must apply? */
static bool is_in_step(const qprof_thread *th)
{
    const qp_thread_record *r = qp_record_of(th);
    const qp_head *h = qp_recorder_head();
    return qp_load(&r->clear_count) == qp_load(&h->clear_count) &&
           r->stopped_seen == qp_load(&h->stopped_total) && !qp_load(&h->stopped_since) &&
           !(qp_load(&qp_recorder.hooks) & QP_HOOKS_FRAMES) && !qp_triggers_are_used() &&
           !qp_trace_users();
}

/* The gate of a thread that begins. Where its row was used by tokens and nothing has changed, its events are
 * in line at once; else the first one applies what has. */
static void open_gate(qprof_thread *th)
{
    const uint32_t hooks = qp_load(&qp_recorder.hooks) | QPROF_GATE_OPEN;
    const qp_thread_record *r = qp_record_of(th);
    bool is_ready = qp_own_of(th)->uses_tokens && r->root && r->chunk && is_in_step(th) &&
                    qp_stack_first(th) && qp_stack_fold(th, qp_stack_floor(th));
    if (is_ready)
        QPROF_STORE(th->pulse->top, (uint64_t)r->root << 6 | QPROF_TOP_TOKEN);
    qp_publish(&th->gate, hooks | (is_ready ? QPROF_HOOK_TOKENS : QP_HOOK_SYNC));
    qp_fence();
    if (is_ready && !is_in_step(th)) /* it has not heard of that */
        qp_fetch_or(&th->gate, QP_HOOK_SYNC);
}

/* Begin a thread on a row of an ended one, or on a new one; or continue one that was parked. */
static qprof_thread *begin_on(qprof_thread *th, uintptr_t host_id, uintptr_t vt, bool is_new)
{
    qp_thread_record *r = qp_record_of(th);
    const qp_head *h = qp_recorder_head();
    qp_store(&r->host_id, (uint64_t)host_id);
    qp_store(&r->has_host_id, 0);
    qp_store(&r->vt_id, (uint64_t)vt);
    qp_store(&r->system_id, qp_here.system_id);
    qp_store(&r->name, 0);
    qp_waits_begin(th);
    if (!r->n_lives) {
        qp_store(&r->clear_count, qp_load(&h->clear_count));
        r->stopped_seen = qp_load(&h->stopped_total);
        is_new = true;
    }
    qp_bump(&r->n_lives, is_new);
    QPROF_STORE(th->pulse->top,
                0); /* the row may be a used one: its first event begins it anew */
    qp_steps_drop(th);
    th->user = 0;
    qp_own_of(th)->shared = NULL;
    qp_triggers_create(th);
    qp_publish(&r->state, QP_THREAD_ALIVE);
    open_gate(th);
    if (qp_state() != QP_STATE_RUNNING) /* it was shut down meanwhile */
        qp_store(&th->gate, 0);
    qp_publish(&th->os_thread, 0); /* last: OS threads may wait for the one that had this row */
    return th;
}

static qprof_thread *begin_thread(uintptr_t host_id, uintptr_t vt, qp_cell creator)
{
    qprof_thread *th = qp_thread_take_row(creator);
    return th ? begin_on(th, host_id, vt, true) : NULL;
}

/* Where something follows the frames of each thread, rows are not shared. */
static bool may_share(void)
{
    return qp_recorder_has_paths() && !qp_triggers_are_used() && !qp_trace_users() &&
           !(qp_load(&qp_recorder.hooks) & (QP_HOOKS_FRAMES | QP_HOOK_CHECK));
}

/* A row for a virtual thread with an id. */
static qprof_thread *row_for(qp_cell creator)
{
    qprof_thread *th = qp_thread_take_idle(creator);
    if (!th && qp_thread_has_many() && may_share())
        th = qp_park_any(creator);
    return th ? th : qp_thread_take_row(creator);
}

/* Give a row back that no thread has been found on. */
static void give_back(qprof_thread *th)
{
    QPROF_STORE(th->gate, 0);
    qp_record_of(th)->state = QP_THREAD_ENDED;
    qp_thread_drop_row(th);
}

/* Continue a thread that is parked. Until it is ours, another OS thread may continue it and use the cell again: what was read of it
 * then is given back with the row. @return NULL: no room */
static qprof_thread *unpark(uintptr_t vt, qp_cell cell)
{
    const qp_parked *p = qp_at(&qp_recorder.space, cell);
    qprof_thread *th = row_for(qp_load(&p->creator));
    if (!th)
        return NULL;
    begin_on(th, (uintptr_t)qp_load(&p->host_id), vt, false);
    qp_store(&qp_record_of(th)->has_host_id, qp_load(&p->has_host_id));
    qp_store(&qp_record_of(th)->name, qp_load(&p->name));
    bool is_ours = qp_thread_take(th) && qp_thread_hold(th) && qp_thread_unpark_vt(th, cell);
    if (is_ours)
        qp_park_restore(th, cell);
    qp_thread_drop();
    qp_thread_release(th, false);
    if (is_ours)
        return th;
    give_back(th); /* another OS thread was faster */
    return qp_thread_known_vt(vt);
}

qprof_thread *qp_thread_known_vt(uintptr_t vt)
{
    qp_cell parked;
    qprof_thread *th = qp_thread_find_vt(vt, &parked);
    return parked ? unpark(vt, parked) : th;
}

/* Give up the OS thread's own thread. Where another OS thread ended it, its row becomes free
 * only now, because this OS thread no longer looks at it. */
static void retire_own(void)
{
    if (qp_here.own != &qp_closed_thread)
        qp_thread_drop_row(qp_here.own);
    qp_here.own = qp_here.plain = &qp_closed_thread;
}

/* Raise the event of a new thread. @return NULL: an action has ended the thread */
static qprof_thread *raise_create(qprof_thread *th)
{
    qp_event_triggers_raise(th, QP_EVENT_THREAD_CREATE, qp_event_triggers_id(th), NULL);
    return qp_is_open(th) ? th : NULL;
}

static qprof_thread *begin_here(uintptr_t host_id)
{
    qprof_thread *th = begin_thread(host_id, 0, 0);
    if (!th)
        return NULL;
    qp_here.own = th;
    if (!qp_recorder.is_virtual) {
        qp_here.plain = th;
        qp_thread_take(th);
        qp_publish(&qp_here.slot->current, th);
    }
    return raise_create(th);
}

qprof_thread *qp_thread_own(void)
{
    if (qp_state() != QP_STATE_RUNNING)
        return NULL;
    qp_os_thread_renew();
    if (qp_is_open(qp_here.own))
        return qp_here.own;
    retire_own();
    return begin_here(0);
}

qprof_thread *qp_thread_create(uintptr_t host_id)
{
    if (qp_state() != QP_STATE_RUNNING)
        return NULL;
    qp_os_thread_renew();
    qprof_thread *same = qp_thread_find_host_id(host_id);
    if (same)
        qp_thread_destroy(same);
    if (qp_is_open(qp_here.own)) {
        qp_thread_record *r = qp_record_of(qp_here.own);
        if (!r->has_host_id) { /* its events have made it; now it gets its id */
            qp_store(&r->host_id, (uint64_t)host_id);
            qp_publish(&r->has_host_id, 1);
            return qp_here.own;
        }
        qp_thread_destroy(qp_here.own);
    }
    retire_own();
    qprof_thread *th = begin_here(host_id);
    if (th)
        qp_publish(&qp_record_of(th)->has_host_id, 1);
    return th;
}

qp_cell qp_thread_path(const qprof_thread *th)
{
    uint64_t top = qp_is_open(th) ? QPROF_LOAD(th->pulse->top) & ~QPROF_TOP_BUSY : 0;
    qp_cell cell = top & QPROF_TOP_TOKEN ? (qp_cell)(top >> 6)
                   : top                 ? qp_frame_path(QPROF_FRAME_AT(th, top))
                                         : 0;
    return cell;
}

qp_cell qp_thread_path_here(void)
{
    return qp_here.epoch == qp_recorder.epoch ? qp_thread_path(qp_here.th) : 0;
}

qprof_thread *qp_thread_vt(uintptr_t vt, uintptr_t host_id)
{
    return qp_thread_vt_of(vt, host_id, 0);
}

qprof_thread *qp_thread_vt_of(uintptr_t vt, uintptr_t host_id, qp_cell creator)
{
    if (qp_state() != QP_STATE_RUNNING)
        return NULL;
    qp_cell parked;
    qprof_thread *th = qp_thread_find_vt(vt, &parked);
    if (th)
        return th;
    if (parked)
        return unpark(vt, parked);
    if (!vt)
        return qp_thread_own();
    th = row_for(creator);
    if (!th)
        return NULL;
    if (qp_thread_put_vt(begin_on(th, host_id, vt, true)))
        return raise_create(th);
    give_back(th); /* no room, or another OS thread was faster */
    if (!(th = qp_thread_known_vt(vt)))
        qp_count(&qp_recorder.space, QP_D_thread_nomem);
    return th;
}

/* A handle that stacks of the VM share, of this creator. Where the VM has many, the rest share one of no
 * creator. @return NULL: there is none yet */
static qprof_thread *find_shared(qprof_thread **shared, qp_cell *creator)
{
    enum { SHARED_MAX = 8 };
    qprof_thread *th = *shared;
    unsigned n = 0;
    for (; th && n <= SHARED_MAX; th = *qp_thread_next_shared(th), n++) {
        if (!qp_is_open(th) || qp_own_of(th)->shared != shared)
            break; /* the rest has ended, or is not found any more */
        if (qp_record_of(th)->creator == *creator)
            return th;
    }
    if (n < SHARED_MAX || !*creator)
        return NULL;
    qp_count(&qp_recorder.space, QP_D_creator_lost);
    *creator = 0;
    return find_shared(shared, creator);
}

/* Begin a thread that stacks of the VM share. */
static qprof_thread *begin_shared(qprof_thread **shared, uintptr_t id, qp_cell creator)
{
    qprof_thread *before = *shared, *th = begin_thread(0, id, creator);
    if (!th)
        return NULL;
    *qp_thread_next_shared(th) = before;
    *shared = th;
    th->user = NO_USER;
    qp_own_of(th)->shared = shared;
    qp_own_of(th)->n_users = 1;
    return th;
}

qprof_thread *qp_thread_new_stack(qprof_thread **shared, uintptr_t id, qp_cell creator)
{
    if (qp_state() != QP_STATE_RUNNING)
        return NULL;
    qp_os_thread_renew();
    qp_store(&qp_recorder.has_handles, true);
    bool shares = shared && qp_thread_has_many() && may_share();
    qprof_thread *th = shares ? qp_thread_take_idle(creator) : NULL;
    if (th) {
        begin_on(th, 0, id, true);
    } else if (shares && (th = find_shared(shared, &creator)) != NULL) {
        th->user = NO_USER;
        qp_own_of(th)->n_users++;
        qp_bump(&qp_record_of(th)->n_lives, 1);
        return th;
    } else {
        th = shares ? begin_shared(shared, id, creator) : begin_thread(0, id, creator);
    }
    return th ? raise_create(th) : NULL;
}

/* ---- the end ----------------------------------------------------------------------------- */

/* The time at which a thread that no OS thread drives was suspended: it does not run while
 * another one ends it. @return 0: it is driven, or its clock is not the machine's */
static uint64_t suspended_time(const qprof_thread *th)
{
    const uint32_t others = QP_HOOK_CLASSES | QP_HOOK_STOPPED;
    const qprof_pulse *p = qp_observe(&th->pulse);
    bool is_suspended = !qp_load(&th->os_thread) && qp_clock_is_shared() &&
                        !(QPROF_LOAD(th->gate) & others) && QPROF_LOAD(p->suspended_at);
    return is_suspended ? QPROF_LOAD(p->suspended_at) - QPROF_LOAD(p->offset) : 0;
}

/* End all its frames. @return false: it is no longer recorded */
static bool unroll(qprof_thread *th, uint64_t suspended)
{
    qprof_frame *top = qp_event_begin(th);
    if (!top)
        return false;
    uint64_t now = qp_clock_now(th);
    bool was_suspended = suspended >= th->pulse->last && suspended < now;
    uint64_t n_ended = qp_event_unroll(th, &top, was_suspended ? suspended : now);
    qp_bump(&qp_record_of(th)->n_destroyed_live, n_ended);
    qp_event_end(th, top);
    qp_thread_unsettled(th, 0);
    return true;
}

/* Take it, and end its frames. @return false: an event of it is in progress */
static bool end_frames(qprof_thread *th)
{
    const uint64_t suspended = suspended_time(th);
    if (!qp_thread_take(th))
        return false;
    if (qp_thread_hold(th) && (!QPROF_LOAD(th->pulse->top) || unroll(th, suspended)))
        return true;
    qp_thread_drop();
    return false;
}

void qp_thread_drop_user(qprof_thread *th)
{
    qp_thread_private *own = qp_own_of(th);
    if (own->shared && own->n_users > 1)
        own->n_users--;
    else
        qp_thread_destroy(th);
}

void qp_thread_destroy(qprof_thread *th)
{
    qp_thread_record *r = qp_record_of(th);
    qp_os_thread_renew(); /* it may be a collector's, which records nothing */
    if (r->vt_id && qp_thread_retire(th)) {
        qp_thread_drop_vt(th);
        qp_publish(&r->state, QP_THREAD_ENDED);
        qp_thread_drop_row(th);
        return;
    }
    const uintptr_t id = qp_event_triggers_id(th);
    qprof_thread *before = qp_trace_ending(th);
    bool is_ended = end_frames(th);
    qp_trace_ended(th, before, is_ended);
    if (!is_ended)
        return;
    if (r->vt_id)
        qp_thread_drop_vt(th);
    qp_thread_release(th, true);
    qp_thread_drop();
    qp_publish(&r->state, QP_THREAD_ENDED);
    if (qp_here.th == th)
        qp_thread_look_at(&qp_closed_thread, 0);
    if (qp_here.own == th)
        retire_own();
    else if (r->vt_id) /* its own OS thread does not look at it */
        qp_thread_drop_row(th);
    qp_event_triggers_raise(th, QP_EVENT_THREAD_DESTROY, id, NULL);
}

/* An OS thread ends: its own record ends with it; the virtual thread on it waits for another
 * one. */
static void leave_run(void)
{
    if (qp_state() != QP_STATE_RUNNING || qp_here.epoch != qp_recorder.epoch)
        return;
    if (qp_recorder.is_virtual)
        qp_thread_release(qp_here.th, false);
    if (qp_is_open(qp_here.own))
        qp_thread_destroy(qp_here.own);
    else
        retire_own();
    qp_here.plain = qp_here.th = qp_here.own = &qp_closed_thread;
    qp_trace_leave();
    qp_pc_signal_disarm(qp_here.slot);
    qp_publish(&qp_here.slot->current, (qprof_thread *)NULL);
    qp_publish(&qp_here.slot->state, QP_OS_THREAD_ENDED);
    qp_here.epoch = 0; /* a later destructor may record: then this runs again */
}

void qp_thread_leave(QP_UNUSED void *unused)
{
    uint32_t *n_leaving = qp_state_word + 1; /* a thread has been in a run */
    qp_announce(n_leaving, 1);
    leave_run();
    qp_announce(n_leaving, -1u);
    qp_perf_detach();
}
