/* stops.c: when a thread's time does not count: it is parked, recording is stopped, its status is
 * off, or what it has measured is cleared. Read qp_charge_sync first. */
#include "base/atomic.h"
#include "record/blocks.h"
#include "record/charge_parts.h"
#include "record/stack.h"
#include "record/trace.h"

/* ---- parking ------------------------------------------------------------------------------- */

/* Does its clock stand, or does it have none? */
static bool has_no_clock(const qprof_thread *th)
{
    return !qp_charge_is_timed(th) || (QPROF_LOAD(th->gate) & QP_HOOK_OFF);
}

void qp_charge_park(qprof_thread *th, qprof_frame *top)
{
    if (has_no_clock(th))
        return;
    if (top)
        qp_charge_sync(th, top);
    if (QPROF_LOAD(th->gate) & QP_HOOK_CLASSES) {
        qp_charge_by_class(th, top);
        QPROF_STORE(th->pulse->parked_at, 1);
    } else if (qp_charge_kind() != QP_CLOCK_COUNTS) {
        uint64_t raw = qp_charge_raw_now(th);
        QPROF_STORE(th->pulse->parked_at, raw ? raw : 1);
    }
}

void qp_charge_migrate(qprof_thread *th)
{
    if (qp_charge_kind() == QP_CLOCK_ELAPSED || qp_charge_kind() == QP_CLOCK_COUNTS ||
        !qp_charge_is_timed(th))
        return;
    if (QPROF_LOAD(th->gate) & QP_HOOK_CLASSES)
        qp_charge_by_class(th, NULL);
    else { /* the counter of another system thread: go on from the last event */
        uint64_t raw = qp_charge_raw_of(th, qp_charge_kind());
        QPROF_STORE(th->pulse->offset, raw - th->pulse->last);
        if (th->pulse->parked_at) /* recording is stopped: it goes on standing, here */
            QPROF_STORE(th->pulse->parked_at, raw);
    }
}

/* ---- stops and clears ---------------------------------------------------------------------- */

static void flag_open_frames(qprof_thread *th, qprof_frame *top, uint32_t flags)
{
    qp_stack_cursor c = qp_stack_from(th, top);
    do
        QPROF_STORE(c.f->flags, c.f->flags | flags);
    while (qp_stack_down(th, &c));
}

static void sync_shared_clock(qprof_thread *th, qprof_frame *top, qp_run_times times)
{
    qp_thread_record *r = qp_record_of(th);
    uint64_t unseen = times.total - r->stopped_seen;
    bool was_stopped = QPROF_LOAD(th->gate) & QP_HOOK_STOPPED;
    if (unseen) {
        QPROF_ADD(th->pulse->offset, unseen);
        qp_store(&r->stopped_seen, times.total);
    }
    if (unseen || times.since) {
        uint64_t raw = times.since ? times.since : qp_charge_raw_now(th);
        int64_t ahead = (int64_t)(raw - th->pulse->offset - th->pulse->last);
        if (ahead < 0) /* events before it saw the stop have their time: there it begins */
            QPROF_ADD(th->pulse->offset, (uint64_t)ahead);
        else if (times.since)
            qp_charge(th, top, raw - th->pulse->offset);
    }
    if (unseen || (times.since && !was_stopped))
        flag_open_frames(th, top, QPROF_FRAME_PARTIAL);
}

static void sync_own_clock(qprof_thread *th, qprof_frame *top, qp_run_times times)
{
    qp_thread_record *r = qp_record_of(th);
    qprof_pulse *p = th->pulse;
    bool was_stopped = QPROF_LOAD(th->gate) & QP_HOOK_STOPPED;
    if (times.since && !was_stopped) {
        qp_charge(th, top, qp_charge_now(th));
        flag_open_frames(th, top, QPROF_FRAME_PARTIAL);
        if (qp_charge_kind() != QP_CLOCK_COUNTS)
            QPROF_STORE(p->parked_at, qp_charge_raw_of(th, qp_charge_kind()));
    } else if (!times.since && was_stopped) {
        if (qp_load(&qp_run.hooks) & QP_HOOK_CLASSES)
            qp_charge_by_class(th, NULL);
        else if (qp_charge_kind() != QP_CLOCK_COUNTS)
            QPROF_ADD(p->offset, qp_charge_raw_of(th, qp_charge_kind()) - p->parked_at);
        QPROF_STORE(p->parked_at, 0);
    } else if (times.total != r->stopped_seen) { /* stopped and started since the last event */
        flag_open_frames(th, top, QPROF_FRAME_PARTIAL);
    }
    qp_store(&r->stopped_seen, times.total);
}

static void zero_nodes(qprof_thread *th)
{
    qp_thread_record *r = qp_record_of(th);
    bool is_adaptive = QPROF_LOAD(th->gate) & QPROF_HOOK_ADAPTIVE;
    uint64_t n_unsettled = r->n_unsettled;
    for (qp_cell cell = r->nodes; cell;) {
        const qp_extent *e = QPROF_CELL(th, qp_extent, cell);
        for (uint32_t i = 1; i <= e->n_used; i++) {
            qprof_node *n = qp_node_at(th, cell + i);
            qp_node_more *more = n->more ? QPROF_CELL(th, qp_node_more, n->more) : NULL;
            uint64_t n_entries = n->n_calls + (more ? more->n_skips : 0);
            qp_thread_unsettled(th, n_unsettled + n_entries);
            qp_bump(&r->n_cleared, n_entries);
            QPROF_STORE(n->n_calls, 0);
            QPROF_STORE(n->self, 0);
            QPROF_STORE(n->self_min, is_adaptive ? 0 : UINT64_MAX);
            QPROF_STORE(n->self_max, 0);
            if (more) {
                qp_store(&more->n_skips, 0);
                qp_store(&more->counts, 0);
                qp_store(&more->samples, 0);
            }
        }
        cell = e->prev;
    }
    qp_thread_unsettled(th, n_unsettled);
}

/* Thread time of the clear; it lies behind the last event. */
static uint64_t time_of_clear(const qprof_thread *th, qp_run_times times)
{
    const qp_thread_record *r = qp_record_of(th);
    if (!qp_charge_is_shared())
        return th->pulse->last;
    uint64_t at = times.clear_raw - times.clear_stopped - (r->offset - r->stopped_seen);
    if (r->parked_at)
        at = r->parked_at - r->offset;
    return (int64_t)(at - r->last) > 0 ? at : r->last;
}

static void sync_clear(qprof_thread *th, qprof_frame *top, qp_run_times times)
{
    qp_thread_record *r = qp_record_of(th);
    uint64_t at;
    if (qp_charge_is_shared()) {
        at = time_of_clear(th, times);
    } else {
        qp_charge(th, top, qp_charge_now(th));
        at = th->pulse->last;
    }
    zero_nodes(th);
    qp_blocks_zero(th);
    if (qp_charge_is_timed(th) && !(qp_load(&qp_run.hooks) & QP_HOOK_CLASSES))
        QPROF_STORE(th->pulse->last, at);
    bool is_adaptive = QPROF_LOAD(th->gate) & QPROF_HOOK_ADAPTIVE;
    qp_stack_cursor c = qp_stack_from(th, top);
    do {
        QPROF_STORE(c.f->own, 0);
        QPROF_STORE(c.f->start, is_adaptive ? 0 : at);
        QPROF_STORE(c.f->mark_at, at);
        QPROF_STORE(c.f->mark_own, 0);
    } while (qp_stack_down(th, &c));
    flag_open_frames(th, top, QPROF_FRAME_OLD | QPROF_FRAME_PARTIAL);
    qp_store(&r->clear_count, times.clear_count);
}

void qp_charge_unpark(qprof_thread *th, qprof_frame *top)
{
    qprof_pulse *p = th->pulse;
    qp_thread_record *r = qp_record_of(th);
    if (!p->parked_at)
        return;
    if (QPROF_LOAD(th->gate) & QP_HOOK_OFF) { /* goes on standing: somebody may turn it on */
        uint64_t raw = qp_charge_is_shared() ? qp_charge_raw_now(th) : p->parked_at;
        QPROF_ADD(p->offset, raw - p->parked_at);
        QPROF_STORE(p->parked_at, raw);
        return;
    }
    qp_run_times times = qp_charge_run_times();
    if (top && qp_load(&r->clear_count) != times.clear_count)
        sync_clear(th, top, times); /* while its clock still stands */
    if (QPROF_LOAD(th->gate) & QP_HOOK_CLASSES) {
        qp_charge_by_class(th, NULL);
    } else if (qp_charge_is_shared()) {
        uint64_t raw = times.since ? times.since : qp_charge_raw_of(th, qp_charge_kind());
        if (top && times.total != r->stopped_seen)
            flag_open_frames(th, top, QPROF_FRAME_PARTIAL);
        QPROF_ADD(p->offset, raw - p->parked_at);
        qp_store(&r->stopped_seen, times.total);
    } else if (!(QPROF_LOAD(th->gate) & QP_HOOK_STOPPED)) {
        QPROF_ADD(p->offset, qp_charge_raw_of(th, qp_charge_kind()) - p->parked_at);
    } else {
        return; /* recording is stopped: the clock goes on standing */
    }
    QPROF_STORE(p->parked_at, 0);
}

/* Thread time of a moment in raw ticks, but not before the last event; 0: now. */
static uint64_t time_of(qprof_thread *th, uint64_t raw, bool is_parked)
{
    uint64_t parked_at = th->pulse->parked_at;
    if (is_parked && parked_at && (!raw || raw > parked_at))
        raw = parked_at;
    if (!raw || !qp_charge_is_shared())
        return is_parked ? th->pulse->last : qp_charge_now(th);
    uint64_t at = raw - th->pulse->offset;
    return (int64_t)(at - th->pulse->last) > 0 ? at : th->pulse->last;
}

static void turn_off(qprof_thread *th, qprof_frame *top, uint64_t raw, bool is_parked)
{
    uint64_t at = time_of(th, raw, is_parked);
    qp_charge(th, top, at);
    if (qp_charge_is_timed(th) && !(QPROF_LOAD(th->gate) & QP_HOOK_CLASSES))
        QPROF_STORE(th->pulse->last, at);
    flag_open_frames(th, top, QPROF_FRAME_PARTIAL);
    if (!is_parked)
        qp_charge_park(th, top);
    if (qp_charge_is_shared() && th->pulse->parked_at) /* our own work is nobody's time */
        QPROF_STORE(th->pulse->parked_at, at + th->pulse->offset);
    qp_fetch_or(&th->gate, QP_HOOK_OFF);
    if (!(qp_load(&qp_run_head()->flags) & QP_FLAG_TURNED))
        qp_fetch_or(&qp_run_head()->flags, QP_FLAG_TURNED);
}

static void turn_on(qprof_thread *th, qprof_frame *top, uint64_t raw, bool is_parked)
{
    uint64_t parked_at = th->pulse->parked_at;
    bool was_stopped = qp_charge_run_times().total != qp_record_of(th)->stopped_seen;
    qp_fetch_and(&th->gate, ~(uint32_t)QP_HOOK_OFF);
    if (is_parked)
        return; /* its clock goes on when it is driven */
    if (raw && parked_at && qp_charge_is_shared() && !was_stopped &&
        !(QPROF_LOAD(th->gate) & QP_HOOK_STOPPED)) {
        QPROF_ADD(th->pulse->offset, raw > parked_at ? raw - parked_at : 0);
        QPROF_STORE(th->pulse->parked_at, 0);
    } else {
        qp_charge_unpark(th, top);
    }
}

void qp_charge_turn(qprof_thread *th, qprof_frame *top, bool on, uint64_t raw, bool is_parked)
{
    bool is_on = !(QPROF_LOAD(th->gate) & QP_HOOK_OFF);
    const qp_trace_stand before = qp_trace_stand_of(th);
    if (on && !is_on)
        turn_on(th, top, raw, is_parked);
    else if (!on && is_on)
        turn_off(th, top, raw, is_parked);
    if (!is_parked) /* else it is said when it goes on */
        qp_trace_gates(th, top, &before);
}

void qp_charge_sync(qprof_thread *th, qprof_frame *top)
{
    if (!(QPROF_LOAD(th->gate) & QP_HOOK_SYNC))
        return;
    qp_fetch_and(&th->gate, ~(uint32_t)QP_HOOK_SYNC);
    qp_run_times times = qp_charge_run_times();
    const qp_trace_stand before = qp_trace_stand_of(th);
    if (qp_load(&qp_record_of(th)->clear_count) != times.clear_count)
        sync_clear(th, top, times);
    bool stands = QPROF_LOAD(th->gate) & QP_HOOK_OFF; /* then qp_charge_unpark() does it */
    if (qp_charge_is_shared() && !stands)
        sync_shared_clock(th, top, times);
    else if (!stands)
        sync_own_clock(th, top, times);
    if (times.since)
        qp_fetch_or(&th->gate, QP_HOOK_STOPPED);
    else
        qp_fetch_and(&th->gate, ~(uint32_t)QP_HOOK_STOPPED);
    qp_trace_gates(th, top, &before);
}
