/* charge.c: what time it is for a thread, and whose time it was.
 *
 * Three kinds of clocks: the elapsed one, which is one for the process and stands while recording
 * is stopped; counters of a system thread (CPU time, faults, misses); and the host's counts, which belong
 * to the thread itself. Read qp_charge_now first; stops, clears and parking: stops.c. */
#include "record/charge.h"

#include <linux/perf_event.h>
#include <stdio.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "base/perf.h"
#include "record/blocks.h"
#include "record/charge_parts.h"
#include "record/rules.h"
#include "record/watch.h"

enum { CALIBRATION_NS = 200000 };

static uint64_t (*host_clock)(void);

static uint64_t processor_count(void)
{
    uint64_t value;
    if (!qp_perf_read(&value))
        qp_count(&qp_run.space, QP_D_counter_unread);
    return value;
}

uint64_t qp_charge_raw_of(const qprof_thread *th, qp_clock_kind kind)
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
    case QP_CLOCK_MISPREDICTED_BRANCHES:
    case QP_CLOCK_CACHE_MISSES:
        return processor_count();
    case QP_CLOCK_IGNORE:
        return 0;
    }
    return 0;
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

uint64_t qp_charge_ns(uint64_t ticks)
{
    const qp_head *h = qp_run_head();
    uint64_t n_ticks = qp_load(&h->tick_1) - h->tick_0;
    if (h->clock_source != QP_SOURCE_TSC || !n_ticks)
        return ticks;
    return (uint64_t)((double)ticks * (double)(qp_load(&h->ns_1) - h->ns_0) / (double)n_ticks);
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

/* A counter of the processor, if that is what the run measures. */
static bool begin_counter(uint64_t word, qp_parse_error *error)
{
    char why[120] = QP_CLOCK_UNKNOWN;
    if (word < QP_CLOCK_MISPREDICTED_BRANCHES)
        return true;
    if (word < QP_CLOCK_IGNORE) {
        int refused = qp_perf_choose(PERF_TYPE_HARDWARE, word == QP_CLOCK_CACHE_MISSES
                                                             ? PERF_COUNT_HW_CACHE_MISSES
                                                             : PERF_COUNT_HW_BRANCH_MISSES);
        if (!refused)
            return true;
        qp_perf_explain(refused, why, sizeof why);
    }
    snprintf(error->message, sizeof error->message, "-clock=%s: counter not supported: %s",
             qp_option_text(&qp_run.options, QP_OPT_clock), why);
    return false;
}

/* Coverage or samples alone: no event reads a clock. */
static void begin_without_times(void)
{
    qp_head *h = qp_run_head();
    h->clock_kind = h->user_clock = h->wait_clock = QP_CLOCK_ELAPSED;
    h->clock_source = host_clock ? QP_SOURCE_HOST : QP_SOURCE_NS;
    h->time_mode = QP_TIME_NONE;
    bool is_stack_only = !(h->collect & ~(QP_COLLECT_SAMPLES | QP_COLLECT_STACK)) &&
                         !qp_rules_are_used() && !qp_watch_is_used();
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
    if (!begin_counter(word, error))
        return QPROF_E_UNSUPPORTED;
    if (qp_run.options.number[QP_OPT_elapsed_source] == 1 && !qp_clock_has_tsc())
        return refuse_clock(error, QPROF_E_UNSUPPORTED,
                            "-elapsed-source=tsc: not to be trusted on this machine");
    if (qp_run.options.number[QP_OPT_time] == QP_TIME_SAMPLED && word != QP_CLOCK_ELAPSED &&
        word != QP_CLOCK_USER_KERNEL)
        return refuse_clock(error, QPROF_E_OPTION,
                            "-time=sampled measures elapsed or user+kernel time");
    h->clock_kind = (uint32_t)word;
    h->user_clock = class_clock(QP_OPT_time_user_functions, qp_charge_kind(), &is_known);
    h->wait_clock = class_clock(QP_OPT_time_blocking_functions, qp_charge_kind(), &is_known);
    if (!is_known)
        return refuse_clock(error, QPROF_E_OPTION, "a counter cannot stand beside a time");
    bool has_classes = h->user_clock != h->clock_kind || h->wait_clock != h->clock_kind;
    h->clock_source = choose_source(qp_charge_kind(), has_classes);
    h->time_mode = (uint32_t)qp_run.options.number[QP_OPT_time];
    if ((has_classes || (h->collect & QP_COLLECT_TRACE)) && h->time_mode == QP_TIME_ADAPTIVE)
        h->time_mode = QP_TIME_EXACT; /* an estimate over two clocks would mean nothing, and a
                                         trace reads the clock at each event anyway */
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

void qp_charge_begin_carrier(void)
{
    if (qp_charge_kind() == QP_CLOCK_MISPREDICTED_BRANCHES ||
        qp_charge_kind() == QP_CLOCK_CACHE_MISSES)
        qp_perf_attach();
    else
        qp_perf_detach(); /* the counter of an earlier run */
}

/* ---- stops, seen by one thread ------------------------------------------------------------- */

qp_run_times qp_charge_run_times(void)
{
    const qp_head *h = qp_run_head();
    qp_run_times t = {0};
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

bool qp_charge_is_shared(void)
{
    return qp_charge_kind() == QP_CLOCK_ELAPSED && !(qp_load(&qp_run.hooks) & QP_HOOK_CLASSES);
}

uint64_t qp_charge_raw_now(const qprof_thread *th)
{
    if (!(QPROF_LOAD(th->gate) & QP_HOOK_STOPPED) || qp_charge_kind() == QP_CLOCK_COUNTS)
        return qp_charge_raw_of(th, qp_charge_kind()); /* counts stand by themselves */
    uint64_t since = qp_charge_is_shared() ? qp_charge_run_times().since : th->pulse->parked_at;
    return since ? since : th->pulse->last + th->pulse->offset; /* started again meanwhile */
}

uint64_t qp_charge_now(qprof_thread *th)
{
    qprof_pulse *p = th->pulse;
    if (!qp_charge_is_timed(th) || (QPROF_LOAD(th->gate) & (QP_HOOK_CLASSES | QP_HOOK_OFF)))
        return p->last;
    uint64_t now = qp_charge_raw_now(th) - p->offset;
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

/* Both clocks are read at every event; pulse.last and pulse.offset hold their last readings. */
void qp_charge_by_class(qprof_thread *th, qprof_frame *top)
{
    qprof_pulse *p = th->pulse;
    uint64_t user = qp_charge_raw_of(th, (qp_clock_kind)qp_run_head()->user_clock);
    uint64_t wait = qp_charge_raw_of(th, (qp_clock_kind)qp_run_head()->wait_clock);
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
    if (!(hooks & QPROF_HOOK_EXACT) || (hooks & QP_HOOK_OFF))
        return;
    if (hooks & QP_HOOK_CLASSES) {
        qp_charge_by_class(th, top);
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
    if (!(hooks & QPROF_HOOK_EXACT) || (f->flags & QPROF_FRAME_EXCLUDED))
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
