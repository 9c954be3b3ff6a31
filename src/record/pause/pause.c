/* pause.c: times that do not count: a thread is suspended, recording is stopped, its status is
 * off, or what it has measured is cleared. Read qp_pause_sync first. */
#include "record/pause/pause.h"
#include "base/atomic.h"
#include "record/clock/clock.h"
#include "record/ring/ring.h"
#include "record/tree/tree.h"

/* ---- suspending -------------------------------------------------------------------------- */

void qp_pause_suspend(qprof_thread *th, qprof_frame *top)
{
    if (!qp_clock_is_timed(th) || (QPROF_LOAD(th->gate) & QP_HOOK_OFF))
        return; /* it has no clock, or it is paused */
    if (top)
        qp_pause_sync(th, top);
    if (QPROF_LOAD(th->gate) & QP_HOOK_CLASSES) {
        qp_clock_by_class(th, top);
        QPROF_STORE(th->pulse->suspended_at, 1);
    } else if (qp_attribution_kind() != QP_CLOCK_COUNTS) {
        uint64_t raw = qp_clock_raw_now(th);
        QPROF_STORE(th->pulse->suspended_at, raw ? raw : 1);
    }
}

void qp_pause_migrate(qprof_thread *th)
{
    if (qp_attribution_kind() == QP_CLOCK_ELAPSED || qp_attribution_kind() == QP_CLOCK_COUNTS ||
        !qp_clock_is_timed(th))
        return;
    if (QPROF_LOAD(th->gate) & QP_HOOK_CLASSES)
        qp_clock_by_class(th, NULL);
    else { /* the counter of another OS thread: continue from the last event */
        uint64_t raw = qp_clock_raw_of(th, qp_attribution_kind());
        QPROF_STORE(th->pulse->offset, raw - th->pulse->last);
        if (th->pulse
                ->suspended_at) /* recording is stopped: it remains paused, on this OS thread */
            QPROF_STORE(th->pulse->suspended_at, raw);
    }
}

/* ---- stops and clears -------------------------------------------------------------------- */

/* The calls that are open have been cut: they give no minimum and no maximum. */
static void cut_open_calls(qprof_thread *th, const qprof_frame *top)
{
    qp_own_of(th)->is_cut = true;
    for (qp_cell at = qp_frame_path(top); at && qp_node_at(th, at)->parent;
         at = qp_node_at(th, at)->parent)
        qp_clock_cut_call(th, qp_node_at(th, at));
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
        uint64_t raw = times.since ? times.since : qp_clock_raw_now(th);
        int64_t ahead = (int64_t)(raw - th->pulse->offset - th->pulse->last);
        if (ahead < 0) /* events that preceded the look at the stop keep their time */
            QPROF_ADD(th->pulse->offset, (uint64_t)ahead);
        else if (times.since)
            qp_clock(th, top, raw - th->pulse->offset);
    }
    if (unseen || (times.since && !was_stopped))
        cut_open_calls(th, top);
}

static void sync_own_clock(qprof_thread *th, qprof_frame *top, qp_run_times times)
{
    qp_thread_record *r = qp_record_of(th);
    qprof_pulse *p = th->pulse;
    bool was_stopped = QPROF_LOAD(th->gate) & QP_HOOK_STOPPED;
    if (times.since && !was_stopped) {
        qp_clock(th, top, qp_clock_now(th));
        cut_open_calls(th, top);
        if (qp_attribution_kind() != QP_CLOCK_COUNTS)
            QPROF_STORE(p->suspended_at, qp_clock_raw_of(th, qp_attribution_kind()));
    } else if (!times.since && was_stopped) {
        if (qp_load(&qp_recorder.hooks) & QP_HOOK_CLASSES)
            qp_clock_by_class(th, NULL);
        else if (qp_attribution_kind() != QP_CLOCK_COUNTS)
            QPROF_ADD(p->offset, qp_clock_raw_of(th, qp_attribution_kind()) - p->suspended_at);
        QPROF_STORE(p->suspended_at, 0);
    } else if (times.total != r->stopped_seen) { /* stopped and started since the last event */
        cut_open_calls(th, top);
    }
    qp_store(&r->stopped_seen, times.total);
}

static void zero_wait(qp_lock_wait *w)
{
    qp_store(&w->n, 0);
    qp_store(&w->ns, 0);
    qp_store(&w->longest_ns, 0);
}

static void zero_metrics(qprof_thread *th, qp_node_metrics *m)
{
    qp_node_values *v = m->values ? QPROF_CELL(th, qp_node_values, m->values) : NULL;
    for (unsigned i = 0; v && i < QP_METRICS; i++)
        qp_store(&v->sums[i], 0);
    for (qp_cell at = m->waits; at; at = QPROF_CELL(th, qp_lock_wait, at)->next)
        zero_wait(QPROF_CELL(th, qp_lock_wait, at));
    qp_store(&m->bytes, 0);
    qp_store(&m->objects, 0);
    qp_store(&m->freed_bytes, 0);
    qp_store(&m->freed_objects, 0);
    qp_store(&m->off, 0);
}

static void zero_requests(qp_node_requests *r)
{
    qp_store(&r->n_begun, 0);
    qp_store(&r->n_ended, 0);
    qp_store(&r->n_failed, 0);
    qp_store(&r->n_timed, 0);
    qp_store(&r->elapsed_ns, 0);
    qp_store(&r->slowest_ns, 0);
    r->endpoint = 0;
    r->is_counted = r->is_counted == QP_REQUEST_COUNTED ? QP_REQUEST_OLD : QP_REQUEST_UNCOUNTED;
}

/* A request that is open counts where it ends: in what is recorded from now on. */
static void renew_requests(qprof_thread *th, qp_cell path)
{
    for (; path; path = qp_node_at(th, path)->parent) {
        const qp_cell more = qp_node_at(th, path)->more;
        const qp_cell cell = more ? QPROF_CELL(th, const qp_node_more, more)->requests : 0;
        qp_node_requests *r = cell ? QPROF_CELL(th, qp_node_requests, cell) : NULL;
        if (!r || r->is_counted != QP_REQUEST_OLD)
            continue;
        r->is_counted = QP_REQUEST_COUNTED;
        qp_store(&r->n_begun, 1);
    }
}

static bool zero_node(void *thread, qp_cell cell, QP_UNUSED const qp_node *unused)
{
    qprof_thread *th = thread;
    qp_thread_record *r = qp_record_of(th);
    qprof_node *n = qp_node_at(th, cell);
    qp_node_more *more = n->more ? QPROF_CELL(th, qp_node_more, n->more) : NULL;
    uint64_t n_entries = n->n_calls + (more ? more->n_skips : 0);
    uint64_t n_unsettled = r->n_unsettled;
    qp_thread_unsettled(th, n_unsettled + n_entries);
    qp_bump(&r->n_cleared, n_entries);
    QPROF_STORE(n->n_calls, 0);
    QPROF_STORE(n->self, 0);
    QPROF_STORE(n->self_min, QP_NO_MIN);
    QPROF_STORE(n->self_max, 0);
    QPROF_STORE(n->begun, 0);
    if (QPROF_LOAD(th->gate) & QPROF_HOOK_ADAPTIVE)
        qp_adaptive_clear(th, n);
    if (more) {
        qp_store(&more->n_skips, 0);
        qp_store(&more->n_resumes, 0);
        qp_store(&more->counts, 0);
        qp_store(&more->samples, 0);
    }
    if (more && more->metrics)
        zero_metrics(th, QPROF_CELL(th, qp_node_metrics, more->metrics));
    if (more && more->requests)
        zero_requests(QPROF_CELL(th, qp_node_requests, more->requests));
    qp_thread_unsettled(th, n_unsettled);
    return true;
}

/* Thread time of the clear, which came after the last event, of a thread with the shared clock. */
static uint64_t time_of_clear(const qp_thread_record *r, qp_run_times times)
{
    uint64_t last = qp_load(&r->last), offset = qp_load(&r->offset);
    uint64_t suspended_at = qp_load(&r->suspended_at);
    uint64_t at = times.clear_raw - times.clear_stopped - (offset - qp_load(&r->stopped_seen));
    if (suspended_at)
        at = suspended_at - offset;
    return (int64_t)(at - last) > 0 ? at : last;
}

bool qp_pause_has_run(const qp_thread_record *r)
{
    if (!qp_clock_is_shared() || qp_load(&r->state) != QP_THREAD_ALIVE)
        return false;
    qp_run_times times = qp_clock_run_times();
    bool is_cleared = qp_load(&r->clear_count) != times.clear_count;
    uint64_t since = is_cleared ? time_of_clear(r, times) : qp_load(&r->last);
    uint64_t raw = qp_load(&r->suspended_at);
    uint64_t unseen = raw ? 0 : times.total - qp_load(&r->stopped_seen);
    if (!raw)
        raw = times.since ? times.since : qp_clock_elapsed();
    return (int64_t)(raw - qp_load(&r->offset) - unseen - since) > 0;
}

static void sync_clear(qprof_thread *th, qprof_frame *top, qp_run_times times)
{
    qp_thread_record *r = qp_record_of(th);
    uint64_t at;
    if (qp_clock_is_shared()) {
        at = time_of_clear(r, times);
    } else {
        qp_clock(th, top, qp_clock_now(th));
        at = th->pulse->last;
    }
    qp_walk_nodes(r, zero_node, th);
    qp_blocks_zero(th);
    qp_store(&r->n_apart, 0);
    qp_store(&r->apart_ticks, 0);
    if (qp_clock_is_timed(th) && !(qp_load(&qp_recorder.hooks) & QP_HOOK_CLASSES))
        QPROF_STORE(th->pulse->last, at);
    qp_stack_cursor c = qp_stack_from(th, top);
    do {
        QPROF_STORE(c.f->start, at);
        if (c.f->flags & QPROF_FRAME_MARKED)
            QPROF_STORE(c.f->mark_at, at);
        QPROF_STORE(c.f->mark_self, 0);
    } while (qp_stack_down(th, &c));
    cut_open_calls(th, top);
    if (QPROF_LOAD(th->gate) & QPROF_HOOK_ADAPTIVE)
        for (qp_cell path = qp_frame_path(top); path; path = qp_node_at(th, path)->parent)
            qp_adaptive_resume(th, qp_node_at(th, path), at);
    renew_requests(th, qp_frame_path(top));
    qp_store(&r->clear_count, times.clear_count);
}

void qp_pause_clear(qprof_thread *th, qprof_frame *top)
{
    sync_clear(th, top, qp_clock_run_times());
}

void qp_pause_resume(qprof_thread *th, qprof_frame *top)
{
    qprof_pulse *p = th->pulse;
    qp_thread_record *r = qp_record_of(th);
    if (!p->suspended_at)
        return;
    if (QPROF_LOAD(th->gate) & QP_HOOK_OFF) { /* remains paused until it is turned on */
        uint64_t raw = qp_clock_is_shared() ? qp_clock_raw_now(th) : p->suspended_at;
        QPROF_ADD(p->offset, raw - p->suspended_at);
        QPROF_STORE(p->suspended_at, raw);
        return;
    }
    qp_run_times times = qp_clock_run_times();
    if (top && qp_load(&r->clear_count) != times.clear_count)
        sync_clear(th, top, times); /* while its clock is still paused */
    if (QPROF_LOAD(th->gate) & QP_HOOK_CLASSES) {
        qp_clock_by_class(th, NULL);
    } else if (qp_clock_is_shared()) {
        uint64_t raw = times.since ? times.since : qp_clock_raw_of(th, qp_attribution_kind());
        if (top && times.total != r->stopped_seen)
            cut_open_calls(th, top);
        QPROF_ADD(p->offset, raw - p->suspended_at);
        qp_store(&r->stopped_seen, times.total);
    } else if (!(QPROF_LOAD(th->gate) & QP_HOOK_STOPPED)) {
        QPROF_ADD(p->offset, qp_clock_raw_of(th, qp_attribution_kind()) - p->suspended_at);
    } else {
        return; /* recording is stopped: the clock remains paused */
    }
    QPROF_STORE(p->suspended_at, 0);
}

/* Thread time of a moment in raw ticks, but not before the last event; 0: now. */
static uint64_t time_of(qprof_thread *th, uint64_t raw, bool is_suspended)
{
    uint64_t suspended_at = th->pulse->suspended_at;
    if (is_suspended && suspended_at && (!raw || raw > suspended_at))
        raw = suspended_at;
    if (!raw || !qp_clock_is_shared())
        return is_suspended ? th->pulse->last : qp_clock_now(th);
    uint64_t at = raw - th->pulse->offset;
    return (int64_t)(at - th->pulse->last) > 0 ? at : th->pulse->last;
}

static void turn_off(qprof_thread *th, qprof_frame *top, uint64_t raw, bool is_suspended)
{
    uint64_t at = time_of(th, raw, is_suspended);
    qp_clock(th, top, at);
    if (qp_clock_is_timed(th) && !(QPROF_LOAD(th->gate) & QP_HOOK_CLASSES))
        QPROF_STORE(th->pulse->last, at);
    cut_open_calls(th, top);
    if (!is_suspended)
        qp_pause_suspend(th, top);
    if (qp_clock_is_shared() &&
        th->pulse->suspended_at) /* the recorder's own work is not charged to any method */
        QPROF_STORE(th->pulse->suspended_at, at + th->pulse->offset);
    qp_fetch_or(&th->gate, QP_HOOK_OFF);
    if (!(qp_load(&qp_recorder_head()->flags) & QP_FLAG_TURNED))
        qp_fetch_or(&qp_recorder_head()->flags, QP_FLAG_TURNED);
}

static void turn_on(qprof_thread *th, qprof_frame *top, uint64_t raw, bool is_suspended)
{
    uint64_t suspended_at = th->pulse->suspended_at;
    bool was_stopped = qp_clock_run_times().total != qp_record_of(th)->stopped_seen;
    qp_fetch_and(&th->gate, ~(uint32_t)QP_HOOK_OFF);
    if (is_suspended)
        return; /* its clock resumes when it is driven */
    if (raw && suspended_at && qp_clock_is_shared() && !was_stopped &&
        !(QPROF_LOAD(th->gate) & QP_HOOK_STOPPED)) {
        QPROF_ADD(th->pulse->offset, raw > suspended_at ? raw - suspended_at : 0);
        QPROF_STORE(th->pulse->suspended_at, 0);
    } else {
        qp_pause_resume(th, top);
    }
}

void qp_pause_turn(qprof_thread *th, qprof_frame *top, bool on, uint64_t raw, bool is_suspended)
{
    bool is_on = !(QPROF_LOAD(th->gate) & QP_HOOK_OFF);
    const qp_trace_position before = qp_trace_position_of(th);
    if (on && !is_on)
        turn_on(th, top, raw, is_suspended);
    else if (!on && is_on)
        turn_off(th, top, raw, is_suspended);
    if (!is_suspended) /* else qp_trace_woke() records it */
        qp_trace_gates(th, top, &before);
}

void qp_pause_sync(qprof_thread *th, qprof_frame *top)
{
    if (!(QPROF_LOAD(th->gate) & QP_HOOK_SYNC))
        return;
    qp_fetch_and(&th->gate, ~(uint32_t)QP_HOOK_SYNC);
    qp_run_times times = qp_clock_run_times();
    const qp_trace_position before = qp_trace_position_of(th);
    if (qp_load(&qp_record_of(th)->clear_count) != times.clear_count)
        sync_clear(th, top, times);
    bool is_off = QPROF_LOAD(th->gate) & QP_HOOK_OFF; /* then qp_pause_resume() does the rest */
    if (qp_clock_is_shared() && !is_off)
        sync_shared_clock(th, top, times);
    else if (!is_off)
        sync_own_clock(th, top, times);
    if (times.since)
        qp_fetch_or(&th->gate, QP_HOOK_STOPPED);
    else
        qp_fetch_and(&th->gate, ~(uint32_t)QP_HOOK_STOPPED);
    qp_trace_gates(th, top, &before);
}
