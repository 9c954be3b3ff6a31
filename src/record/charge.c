/* charge.c: what time it is for a thread, and whose time it was.
 *
 * Three kinds of clocks: the elapsed one, which is one for the process and stands while recording
 * is stopped; counters of a system thread (CPU time, faults); and the host's counts, which belong
 * to the thread itself. Read qp_charge_now and qp_charge_sync first. */
#include "record/charge.h"

#include <stdio.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "record/blocks.h"
#include "record/stack.h"

enum { CALIBRATION_NS = 200000 };

static uint64_t (*host_clock)(void);

static uint64_t raw_of(const qprof_thread *th, qp_clock_kind kind)
{
    switch (kind) {
    case QP_CLOCK_ELAPSED:
        return qp_charge_elapsed();
    case QP_CLOCK_USER:
        return qp_clock_thread_usage(QP_USAGE_USER);
    case QP_CLOCK_KERNEL:
        return qp_clock_thread_usage(QP_USAGE_KERNEL);
    case QP_CLOCK_USER_KERNEL:
        return qp_clock_thread_cpu();
    case QP_CLOCK_COUNTS:
        return th->pulse->counts;
    case QP_CLOCK_CONTEXT_SWITCHES:
        return qp_clock_thread_usage(QP_USAGE_SWITCHES);
    case QP_CLOCK_SOFT_PAGE_FAULTS:
        return qp_clock_thread_usage(QP_USAGE_SOFT_FAULTS);
    case QP_CLOCK_HARD_PAGE_FAULTS:
        return qp_clock_thread_usage(QP_USAGE_HARD_FAULTS);
    case QP_CLOCK_PAGE_FAULTS:
        return qp_clock_thread_usage(QP_USAGE_FAULTS);
    case QP_CLOCK_IGNORE:
        return 0;
    }
    return 0;
}

static qp_clock_kind clock_kind(void)
{
    return (qp_clock_kind)qp_run_head()->clock_kind;
}

uint64_t qp_charge_elapsed(void)
{
    switch ((qp_clock_source)qp_run_head()->clock_source) {
    case QP_SOURCE_HOST:
        return host_clock();
    case QP_SOURCE_TSC:
        return qp_clock_tsc();
    case QP_SOURCE_NS:
    case QP_SOURCE_UNITS:
        break;
    }
    return qp_clock_monotonic();
}

void qp_charge_calibrate(void)
{
    qp_head *h = qp_run_head();
    if (h->clock_source != QP_SOURCE_TSC)
        return;
    qp_store(&h->ns_1, qp_clock_monotonic());
    qp_store(&h->tick_1, qp_clock_tsc());
}

static void begin_calibration(qp_head *h)
{
    h->ns_0 = qp_clock_monotonic();
    h->tick_0 = qp_clock_tsc();
    while (qp_clock_monotonic() - h->ns_0 < CALIBRATION_NS)
        ;
    qp_charge_calibrate();
}

/* Which clock times a class of methods: the option's, or the run's. */
static qp_clock_kind class_clock(qp_option which, qp_clock_kind of_run, bool *is_known)
{
    static const qp_clock_kind kinds[] = {QP_CLOCK_ELAPSED, QP_CLOCK_KERNEL,
                                          QP_CLOCK_USER_KERNEL, QP_CLOCK_USER, QP_CLOCK_IGNORE};
    uint64_t word = qp_run.options.number[which];
    bool of_run_is_time = of_run <= QP_CLOCK_USER_KERNEL;
    if (word == UINT64_MAX)
        return of_run;
    if (!of_run_is_time && kinds[word] != QP_CLOCK_IGNORE) {
        *is_known = false; /* a counter cannot stand beside a time */
        return of_run;
    }
    return kinds[word];
}

static qp_clock_source choose_source(qp_clock_kind kind, bool has_classes)
{
    if (kind == QP_CLOCK_ELAPSED && host_clock)
        return QP_SOURCE_HOST;
    if (kind >= QP_CLOCK_COUNTS)
        return QP_SOURCE_UNITS;
    if (kind != QP_CLOCK_ELAPSED || has_classes)
        return QP_SOURCE_NS;
    switch (qp_run.options.number[QP_OPT_elapsed_source]) {
    case 0:
        return qp_clock_has_tsc() ? QP_SOURCE_TSC : QP_SOURCE_NS;
    case 1:
        return QP_SOURCE_TSC;
    default:
        return QP_SOURCE_NS;
    }
}

static int refuse_clock(qp_parse_error *error, int code, const char *why)
{
    snprintf(error->message, sizeof error->message, "-clock=%s: %s",
             qp_option_text(&qp_run.options, QP_OPT_clock), why);
    return code;
}

/* Coverage or samples alone: no event reads a clock. */
static void begin_without_times(void)
{
    qp_head *h = qp_run_head();
    h->clock_kind = h->user_clock = h->wait_clock = QP_CLOCK_ELAPSED;
    h->clock_source = host_clock ? QP_SOURCE_HOST : QP_SOURCE_NS;
    h->time_mode = QP_TIME_NONE;
    bool is_stack_only = !(h->collect & ~(QP_COLLECT_SAMPLES | QP_COLLECT_STACK));
    qp_run.hooks = is_stack_only ? QPROF_HOOK_STACK : 0;
    h->begun_raw = qp_charge_elapsed();
}

int qp_charge_begin(uint64_t (*given_clock)(void), qp_parse_error *error)
{
    qp_head *h = qp_run_head();
    bool is_known = true;
    uint64_t word = qp_run.options.number[QP_OPT_clock];
    host_clock = given_clock;
    if (!(h->collect & QP_COLLECT_PROFILE)) {
        begin_without_times();
        return 0;
    }
    if (word >= QP_CLOCK_IGNORE) /* the words behind the clocks of this machine */
        return refuse_clock(error, QPROF_E_UNSUPPORTED,
                            "counter not supported on this machine");
    if (qp_run.options.number[QP_OPT_elapsed_source] == 1 && !qp_clock_has_tsc())
        return refuse_clock(error, QPROF_E_UNSUPPORTED,
                            "-elapsed-source=tsc: not to be trusted on this machine");
    if (qp_run.options.number[QP_OPT_time] == QP_TIME_SAMPLED && word != QP_CLOCK_ELAPSED &&
        word != QP_CLOCK_USER_KERNEL)
        return refuse_clock(error, QPROF_E_OPTION,
                            "-time=sampled measures elapsed or user+kernel time");
    h->clock_kind = (uint32_t)word;
    h->user_clock = class_clock(QP_OPT_time_user_functions, clock_kind(), &is_known);
    h->wait_clock = class_clock(QP_OPT_time_blocking_functions, clock_kind(), &is_known);
    if (!is_known)
        return refuse_clock(error, QPROF_E_OPTION, "a counter cannot stand beside a time");
    bool has_classes = h->user_clock != h->clock_kind || h->wait_clock != h->clock_kind;
    h->clock_source = choose_source(clock_kind(), has_classes);
    h->time_mode = (uint32_t)qp_run.options.number[QP_OPT_time];
    if (has_classes && h->time_mode == QP_TIME_ADAPTIVE)
        h->time_mode = QP_TIME_EXACT; /* an estimate over two clocks would mean nothing */
    qp_run.hooks = h->time_mode == QP_TIME_EXACT      ? QPROF_HOOK_EXACT
                   : h->time_mode == QP_TIME_ADAPTIVE ? QPROF_HOOK_ADAPTIVE
                                                      : 0;
    if (h->clock_source == QP_SOURCE_TSC) {
        begin_calibration(h);
        if (qp_run.hooks)
            qp_run.hooks |= QPROF_HOOK_TSC;
    }
    if (has_classes && qp_run.hooks)
        qp_run.hooks |= QP_HOOK_CLASSES;
    h->begun_raw = qp_charge_elapsed();
    return 0;
}

/* ---- stops, seen by one thread ------------------------------------------------------------- */

typedef struct {
    uint64_t total, since;             /* of head.stopped_* */
    uint64_t clear_raw, clear_stopped; /* of the last clear */
    uint32_t clear_count;
} run_times;

/* All of one moment. */
static run_times read_run_times(void)
{
    const qp_head *h = qp_run_head();
    run_times t = {0};
    for (unsigned tries = 0; tries < 1000; tries++) {
        uint64_t before = qp_observe(&h->stop_change);
        t.total = qp_observe(&h->stopped_total); /* in this order, then stop_change again */
        t.since = qp_observe(&h->stopped_since);
        t.clear_raw = qp_observe(&h->clear_raw);
        t.clear_stopped = qp_observe(&h->clear_stopped);
        t.clear_count = qp_observe(&h->clear_count);
        if (!(before & 1) && before == qp_load(&h->stop_change))
            break;
    }
    return t;
}

/* Does the clock stand for everybody while recording is stopped? Else each thread parks its own. */
static bool clock_is_shared(void)
{
    return clock_kind() == QP_CLOCK_ELAPSED && !(qp_run.hooks & QP_HOOK_CLASSES);
}

static bool is_timed(const qprof_thread *th)
{
    return QPROF_LOAD(th->gate) & (QPROF_HOOK_EXACT | QPROF_HOOK_ADAPTIVE);
}

/* Raw ticks now, or of the moment when the thread's clock was stopped. */
static uint64_t raw_now(const qprof_thread *th)
{
    if (!(QPROF_LOAD(th->gate) & QP_HOOK_STOPPED) || clock_kind() == QP_CLOCK_COUNTS)
        return raw_of(th, clock_kind()); /* counts stand by themselves */
    uint64_t since = clock_is_shared() ? read_run_times().since : th->pulse->parked_at;
    return since ? since : th->pulse->last + th->pulse->offset; /* started again meanwhile */
}

uint64_t qp_charge_now(qprof_thread *th)
{
    qprof_pulse *p = th->pulse;
    if (!is_timed(th) || (QPROF_LOAD(th->gate) & QP_HOOK_CLASSES))
        return p->last;
    uint64_t now = raw_now(th) - p->offset;
    int64_t step = (int64_t)(now - p->last);
    if (QP_LIKELY(step >= 0))
        return now;
    uint64_t *max = &qp_run_head()->diagnostics[QP_D_clock_backwards_max];
    uint64_t largest = qp_load(max);
    qp_count(&qp_run.space, QP_D_clock_backwards);
    while ((uint64_t)-step > largest && !qp_swap_if(max, &largest, (uint64_t)-step))
        ;
    return p->last;
}

/* ---- methods timed by different clocks ------------------------------------------------------ */

static qp_clock_kind class_of(const qprof_thread *th, const qprof_frame *f)
{
    const qprof_node *n = qp_node_at(th, f->node);
    const qp_method *m = n->method ? qp_at(&qp_run.space, n->method) : NULL;
    bool waits = m && (qp_load(&m->flags) & (QP_METHOD_BLOCKS | QP_METHOD_WAITS));
    return (qp_clock_kind)(waits ? qp_run_head()->wait_clock : qp_run_head()->user_clock);
}

/* The interval is charged by the clock of the frame it belongs to. Both clocks are read at every
 * event; pulse.last and pulse.offset hold their last readings. */
static void charge_by_class(qprof_thread *th, qprof_frame *top)
{
    qprof_pulse *p = th->pulse;
    uint64_t user = raw_of(th, (qp_clock_kind)qp_run_head()->user_clock);
    uint64_t wait = raw_of(th, (qp_clock_kind)qp_run_head()->wait_clock);
    if (top && !(QPROF_LOAD(th->gate) & QP_HOOK_STOPPED)) {
        bool waits = class_of(th, top) == (qp_clock_kind)qp_run_head()->wait_clock;
        uint64_t step = waits ? wait - p->offset : user - p->last;
        if ((int64_t)step > 0)
            QPROF_ADD(top->own, step);
    }
    QPROF_STORE(p->last, user);
    QPROF_STORE(p->offset, wait);
}

/* ---- charging ------------------------------------------------------------------------------ */

void qp_charge(qprof_thread *th, qprof_frame *top, uint64_t now)
{
    uint32_t hooks = QPROF_LOAD(th->gate);
    if (!(hooks & QPROF_HOOK_EXACT))
        return;
    if (hooks & QP_HOOK_CLASSES) {
        charge_by_class(th, top);
        return;
    }
    QPROF_ADD(top->own, now - th->pulse->last);
    QPROF_STORE(th->pulse->last, now);
}

void qp_charge_settle(qprof_thread *th, qprof_frame *f, uint64_t now)
{
    uint32_t hooks = QPROF_LOAD(th->gate);
    qprof_node *n = qp_node_at(th, f->node);
    if (hooks & QPROF_HOOK_ADAPTIVE) {
        bool is_cut = (f->flags & QPROF_FRAME_PARTIAL) && !(f->start & 1);
        if (f->start && !is_cut) /* a sample that a stop shortened would lower the mean */
            qprof_exit_charge(th, QPROF_HOOK_ADAPTIVE, f, now);
        return;
    }
    if (!(hooks & QPROF_HOOK_EXACT))
        return;
    if (f->flags & QPROF_FRAME_MARKED)
        qp_blocks_settle(th, f, now);
    QPROF_ADD(n->self, f->own);
    if (f->flags &
        (QPROF_FRAME_SKIP | QPROF_FRAME_OLD | QPROF_FRAME_PARTIAL | QPROF_FRAME_FOLDED))
        return;
    if (f->own < n->self_min)
        QPROF_STORE(n->self_min, f->own);
    if (f->own > n->self_max)
        QPROF_STORE(n->self_max, f->own);
}

/* ---- parking ------------------------------------------------------------------------------- */

void qp_charge_park(qprof_thread *th, qprof_frame *top)
{
    if (!is_timed(th))
        return;
    if (top)
        qp_charge_sync(th, top);
    if (QPROF_LOAD(th->gate) & QP_HOOK_CLASSES) {
        charge_by_class(th, top);
        QPROF_STORE(th->pulse->parked_at, 1);
    } else if (clock_kind() != QP_CLOCK_COUNTS) {
        uint64_t raw = raw_now(th);
        QPROF_STORE(th->pulse->parked_at, raw ? raw : 1);
    }
}

void qp_charge_migrate(qprof_thread *th)
{
    if (clock_kind() == QP_CLOCK_ELAPSED || clock_kind() == QP_CLOCK_COUNTS || !is_timed(th))
        return;
    if (QPROF_LOAD(th->gate) & QP_HOOK_CLASSES)
        charge_by_class(th, NULL);
    else { /* the counter of another system thread: go on from the last event */
        uint64_t raw = raw_of(th, clock_kind());
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

static void sync_shared_clock(qprof_thread *th, qprof_frame *top, run_times times)
{
    qp_thread_record *r = qp_record_of(th);
    uint64_t unseen = times.total - r->stopped_seen;
    bool was_stopped = QPROF_LOAD(th->gate) & QP_HOOK_STOPPED;
    if (unseen) {
        QPROF_ADD(th->pulse->offset, unseen);
        qp_store(&r->stopped_seen, times.total);
    }
    if (times.since) {
        uint64_t now = times.since - th->pulse->offset;
        if ((int64_t)(now - th->pulse->last) > 0)
            qp_charge(th, top, now);
    }
    if (unseen || (times.since && !was_stopped))
        flag_open_frames(th, top, QPROF_FRAME_PARTIAL);
}

static void sync_own_clock(qprof_thread *th, qprof_frame *top, run_times times)
{
    qp_thread_record *r = qp_record_of(th);
    qprof_pulse *p = th->pulse;
    bool was_stopped = QPROF_LOAD(th->gate) & QP_HOOK_STOPPED;
    if (times.since && !was_stopped) {
        qp_charge(th, top, qp_charge_now(th));
        flag_open_frames(th, top, QPROF_FRAME_PARTIAL);
        if (clock_kind() != QP_CLOCK_COUNTS)
            QPROF_STORE(p->parked_at, raw_of(th, clock_kind()));
    } else if (!times.since && was_stopped) {
        if (qp_run.hooks & QP_HOOK_CLASSES)
            charge_by_class(th, NULL);
        else if (clock_kind() != QP_CLOCK_COUNTS)
            QPROF_ADD(p->offset, raw_of(th, clock_kind()) - p->parked_at);
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
    for (qp_cell cell = r->nodes; cell;) {
        const qp_extent *e = QPROF_CELL(th, qp_extent, cell);
        for (uint32_t i = 1; i <= e->n_used; i++) {
            qprof_node *n = qp_node_at(th, cell + i);
            qp_node_more *more = n->more ? QPROF_CELL(th, qp_node_more, n->more) : NULL;
            qp_bump(&r->n_cleared, n->n_calls + (more ? more->n_skips : 0));
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
}

/* Thread time of the clear; it lies behind the last event. */
static uint64_t time_of_clear(const qprof_thread *th, run_times times)
{
    const qp_thread_record *r = qp_record_of(th);
    if (!clock_is_shared())
        return th->pulse->last;
    uint64_t at = times.clear_raw - times.clear_stopped - (r->offset - r->stopped_seen);
    if (r->parked_at)
        at = r->parked_at - r->offset;
    return (int64_t)(at - r->last) > 0 ? at : r->last;
}

static void sync_clear(qprof_thread *th, qprof_frame *top, run_times times)
{
    qp_thread_record *r = qp_record_of(th);
    uint64_t at;
    if (clock_is_shared()) {
        at = time_of_clear(th, times);
    } else {
        qp_charge(th, top, qp_charge_now(th));
        at = th->pulse->last;
    }
    zero_nodes(th);
    qp_blocks_zero(th);
    if (is_timed(th) && !(qp_run.hooks & QP_HOOK_CLASSES))
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
    run_times times = read_run_times();
    if (top && r->clear_count != times.clear_count)
        sync_clear(th, top, times); /* while its clock still stands */
    if (QPROF_LOAD(th->gate) & QP_HOOK_CLASSES) {
        charge_by_class(th, NULL);
    } else if (clock_is_shared()) {
        uint64_t raw = times.since ? times.since : raw_of(th, clock_kind());
        if (top && times.total != r->stopped_seen)
            flag_open_frames(th, top, QPROF_FRAME_PARTIAL);
        QPROF_ADD(p->offset, raw - p->parked_at);
        qp_store(&r->stopped_seen, times.total);
    } else if (!(QPROF_LOAD(th->gate) & QP_HOOK_STOPPED)) {
        QPROF_ADD(p->offset, raw_of(th, clock_kind()) - p->parked_at);
    } else {
        return; /* recording is stopped: the clock goes on standing */
    }
    QPROF_STORE(p->parked_at, 0);
}

void qp_charge_sync(qprof_thread *th, qprof_frame *top)
{
    if (!(QPROF_LOAD(th->gate) & QP_HOOK_SYNC))
        return;
    qp_fetch_and(&th->gate, ~(uint32_t)QP_HOOK_SYNC);
    run_times times = read_run_times();
    if (qp_record_of(th)->clear_count != times.clear_count)
        sync_clear(th, top, times);
    if (clock_is_shared())
        sync_shared_clock(th, top, times);
    else
        sync_own_clock(th, top, times);
    if (times.since)
        qp_fetch_or(&th->gate, QP_HOOK_STOPPED);
    else
        qp_fetch_and(&th->gate, ~(uint32_t)QP_HOOK_STOPPED);
}
