/* clock.c: the time of a thread, and the frame to which it is charged. Read qp_clock_now first;
 * stops, clears and suspensions are in pause.c.
 *
 * There are three kinds of clocks: the elapsed clock, which all threads share and which is
 * paused while recording is stopped; counters of an OS thread (CPU time, faults, misses); and
 * the host's counts, which belong to the thread itself. */
#include "record/clock/clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>

#include "base/atomic.h"
#include "base/os/clock.h"
#include "base/os/clock_reads.h"
#include "base/os/perf.h"
#include "base/text/wide.h"
#include "record/tree/tree.h"
#include "record/trigger_list/trigger_list.h"

enum { CALIBRATION_NS = 200000 };

static uint64_t (*host_clock)(void);

static uint64_t processor_count(void)
{
    uint64_t value;
    if (!qp_perf_read(&value))
        qp_count(&qp_recorder.space, QP_D_counter_unread);
    return value;
}

uint64_t qp_clock_raw_of(const qprof_thread *th, qp_clock_kind kind)
{
    switch (kind) {
    case QP_CLOCK_ELAPSED:
        return qp_clock_elapsed();
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

uint64_t qp_clock_elapsed(void)
{
    switch ((qp_clock_source)qp_recorder_head()->clock_source) {
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

uint64_t qp_clock_ns(uint64_t ticks)
{
    const qp_head *h = qp_recorder_head();
    uint64_t n_ticks = qp_load(&h->tick_1) - h->tick_0;
    if (h->clock_source != QP_SOURCE_TSC || !n_ticks)
        return ticks;
    return qp_product_share(ticks, qp_load(&h->ns_1) - h->ns_0, 0, n_ticks);
}

void qp_clock_calibrate(void)
{
    qp_head *h = qp_recorder_head();
    if (h->clock_source != QP_SOURCE_TSC)
        return;
    qp_store(&h->ns_1, qp_clock_monotonic());
    qp_store(&h->tick_1, qp_clock_tsc());
}

/* Does a read of the counter wait for earlier loads? The time of the calibration is enough to see
 * that some 200 times. */
static void begin_calibration(qp_head *h)
{
    enum { AUTO, OVERLAP }; /* of -clock-reads */
    uint64_t word = qp_recorder.options.number[QP_OPT_clock_reads];
    qp_clock_reads least = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    h->ns_0 = qp_clock_monotonic();
    h->tick_0 = qp_clock_tsc();
    do
        qp_clock_reads_add(&least);
    while (qp_clock_monotonic() - h->ns_0 < CALIBRATION_NS);
    qp_clock_calibrate();
    bool waits = word == AUTO ? qp_clock_reads_wait(&least) : word != OVERLAP;
    h->flags |= waits ? QP_FLAG_READS_WAIT : QP_FLAG_READS_OVERLAP;
}

uint32_t qp_clock_hooks(void)
{
    const qp_head *h = qp_recorder_head();
    if (h->clock_source != QP_SOURCE_TSC)
        return 0;
    return QPROF_HOOK_TSC | (h->flags & QP_FLAG_READS_WAIT ? (uint32_t)QPROF_HOOK_WAITS : 0);
}

/* The clock that times a class of methods: the option's, or the run's. */
static qp_clock_kind class_clock(qp_option which, qp_clock_kind of_run, bool *is_known)
{
    static const qp_clock_kind kinds[] = {QP_CLOCK_ELAPSED, QP_CLOCK_KERNEL,
                                          QP_CLOCK_USER_KERNEL, QP_CLOCK_USER, QP_CLOCK_IGNORE};
    uint64_t word = qp_recorder.options.number[which];
    bool of_run_is_time = of_run <= QP_CLOCK_USER_KERNEL;
    if (word == UINT64_MAX)
        return of_run;
    if (!of_run_is_time && kinds[word] != QP_CLOCK_IGNORE) {
        *is_known = false; /* a counter and a time cannot be combined */
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
    uint64_t word = qp_recorder.options.number[QP_OPT_elapsed_source]; /* auto, tsc, ... */
    return word == 1 || (word == 0 && qp_clock_has_tsc()) ? QP_SOURCE_TSC : QP_SOURCE_NS;
}

static int refuse_clock(qp_error *error, int code, const char *why)
{
    return qp_error_set(error, code, "-clock=%s: %s",
                        qp_option_text(&qp_recorder.options, QP_OPT_clock), why);
}

/* A counter of the processor, if that is what the run measures. */
static bool begin_counter(uint64_t word, qp_error *error)
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
    return qp_error_fail(error, "-clock=%s: counter not supported: %s",
                         qp_option_text(&qp_recorder.options, QP_OPT_clock), why);
}

/* Coverage or samples alone: no event reads a clock. */
static void begin_without_times(void)
{
    qp_head *h = qp_recorder_head();
    h->clock_kind = h->user_clock = h->wait_clock = QP_CLOCK_ELAPSED;
    h->clock_source = host_clock ? QP_SOURCE_HOST : QP_SOURCE_NS;
    h->time_mode = QP_TIME_NONE;
    bool is_stack_only = !(h->collect & ~(QP_COLLECT_SAMPLES | QP_COLLECT_STACK)) &&
                         !qp_triggers_are_used() && !qp_event_triggers_is_used();
    qp_recorder.hooks = is_stack_only ? QPROF_HOOK_STACK : 0;
    h->begun_raw = qp_clock_elapsed();
}

QP_RARE int qp_clock_begin(uint64_t (*given_clock)(void), qp_error *error)
{
    qp_head *h = qp_recorder_head();
    bool is_known = true;
    uint64_t word = qp_recorder.options.number[QP_OPT_clock];
    host_clock = given_clock;
    if (!(h->collect & QP_COLLECT_PROFILE)) {
        begin_without_times();
        return 0;
    }
    if (!begin_counter(word, error))
        return QPROF_E_UNSUPPORTED;
    if (qp_recorder.options.number[QP_OPT_elapsed_source] == 1 && !qp_clock_has_tsc())
        return refuse_clock(error, QPROF_E_UNSUPPORTED,
                            "-elapsed-source=tsc: this machine's TSC is unreliable");
    if (qp_recorder.options.number[QP_OPT_time] == QP_TIME_SAMPLED &&
        word != QP_CLOCK_ELAPSED && word != QP_CLOCK_USER_KERNEL)
        return refuse_clock(error, QPROF_E_OPTION,
                            "-time=sampled measures elapsed or user+kernel time");
    h->clock_kind = (uint32_t)word;
    h->user_clock = class_clock(QP_OPT_time_user_functions, qp_attribution_kind(), &is_known);
    h->wait_clock =
        class_clock(QP_OPT_time_blocking_functions, qp_attribution_kind(), &is_known);
    if (!is_known)
        return refuse_clock(error, QPROF_E_OPTION, "a counter and a time cannot be combined");
    bool has_classes = h->user_clock != h->clock_kind || h->wait_clock != h->clock_kind;
    h->clock_source = choose_source(qp_attribution_kind(), has_classes);
    h->time_mode = (uint32_t)qp_recorder.options.number[QP_OPT_time];
    bool is_traced = h->collect & QP_COLLECT_TRACE ||
                     qp_option_text(&qp_recorder.options, QP_OPT_slowest)[0];
    if ((has_classes || is_traced) && h->time_mode == QP_TIME_ADAPTIVE)
        h->time_mode =
            QP_TIME_EXACT; /* no estimates over two clocks; a trace reads the clock at
                                         each event anyway */
    qp_recorder.hooks = h->time_mode == QP_TIME_EXACT      ? QPROF_HOOK_EXACT
                        : h->time_mode == QP_TIME_ADAPTIVE ? QPROF_HOOK_ADAPTIVE
                                                           : 0;
    if (h->clock_source == QP_SOURCE_TSC)
        begin_calibration(h);
    qp_cost_begin_run();
    if (qp_recorder.hooks)
        qp_recorder.hooks |= qp_clock_hooks();
    if (h->time_mode == QP_TIME_ADAPTIVE)
        qp_adaptive_begin_run();
    if (has_classes && qp_recorder.hooks)
        qp_recorder.hooks |= QP_HOOK_CLASSES;
    if ((qp_recorder.hooks & (QPROF_HOOK_EXACT | QPROF_HOOK_TSC)) == QPROF_HOOK_EXACT)
        qp_recorder.hooks |= QPROF_HOOK_COLD; /* the inline path can read no other clock */
    if (qp_waits_are_known(h, has_classes))
        h->flags |= QP_FLAG_WAITS;
    h->begun_raw = qp_clock_elapsed();
    return 0;
}

void qp_clock_begin_os_thread(void)
{
    if (qp_attribution_kind() == QP_CLOCK_MISPREDICTED_BRANCHES ||
        qp_attribution_kind() == QP_CLOCK_CACHE_MISSES)
        qp_perf_attach();
    else
        qp_perf_detach(); /* the counter of an earlier run */
    qp_waits_begin_os_thread();
}

/* ---- stops, seen by one thread ----------------------------------------------------------- */

qp_run_times qp_clock_run_times(void)
{
    const qp_head *h = qp_recorder_head();
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

bool qp_clock_is_shared(void)
{
    return qp_attribution_kind() == QP_CLOCK_ELAPSED &&
           !(qp_load(&qp_recorder.hooks) & QP_HOOK_CLASSES);
}

uint64_t qp_clock_raw_now(const qprof_thread *th)
{
    if (!(QPROF_LOAD(th->gate) & QP_HOOK_STOPPED) || qp_attribution_kind() == QP_CLOCK_COUNTS)
        return qp_clock_raw_of(th, qp_attribution_kind()); /* counts need no stop */
    uint64_t since =
        qp_clock_is_shared() ? qp_clock_run_times().since : th->pulse->suspended_at;
    return since ? since : th->pulse->last + th->pulse->offset; /* started again meanwhile */
}

uint64_t qp_clock_now(qprof_thread *th)
{
    qprof_pulse *p = th->pulse;
    if (!qp_clock_is_timed(th) || (QPROF_LOAD(th->gate) & (QP_HOOK_CLASSES | QP_HOOK_OFF)))
        return p->last;
    uint64_t now = qp_clock_raw_now(th) - p->offset;
    int64_t step = (int64_t)(now - p->last);
    if (QP_LIKELY(step >= 0))
        return now;
    uint64_t *max = &qp_recorder_head()->diagnostics[QP_D_clock_backwards_max];
    uint64_t largest = qp_load(max);
    qp_count(&qp_recorder.space, QP_D_clock_backwards);
    while ((uint64_t)-step > largest && !qp_swap_if(max, &largest, (uint64_t)-step))
        ;
    return p->last;
}

/* ---- methods timed by different clocks --------------------------------------------------- */

static qp_clock_kind class_of(const qprof_thread *th, const qprof_frame *f)
{
    const qprof_node *n = qp_frame_node(th, f);
    const qp_method *m = n->method ? qp_at(&qp_recorder.space, n->method) : NULL;
    bool waits = m && (qp_load(&m->flags) & (QP_METHOD_BLOCKS | QP_METHOD_WAITS));
    return (qp_clock_kind)(waits ? qp_recorder_head()->wait_clock
                                 : qp_recorder_head()->user_clock);
}

/* Every event reads both clocks; pulse.last and pulse.offset hold their last readings. */
void qp_clock_by_class(qprof_thread *th, const qprof_frame *top)
{
    qprof_pulse *p = th->pulse;
    uint64_t user = qp_clock_raw_of(th, (qp_clock_kind)qp_recorder_head()->user_clock);
    uint64_t wait = qp_clock_raw_of(th, (qp_clock_kind)qp_recorder_head()->wait_clock);
    if (top && !(QPROF_LOAD(th->gate) & QP_HOOK_STOPPED)) {
        bool waits = class_of(th, top) == (qp_clock_kind)qp_recorder_head()->wait_clock;
        uint64_t step = waits ? wait - p->offset : user - p->last;
        if ((int64_t)step > 0)
            QPROF_ADD(qp_frame_node(th, top)->self, step);
    }
    QPROF_STORE(p->last, user);
    QPROF_STORE(p->offset, wait);
}

/* ---- charging ---------------------------------------------------------------------------- */

void qp_clock(qprof_thread *th, const qprof_frame *top, uint64_t now)
{
    uint32_t hooks = QPROF_LOAD(th->gate);
    if (!(hooks & QP_HOOKS_EXACT) || (hooks & QP_HOOK_OFF))
        return;
    if (hooks & QP_HOOK_CLASSES) {
        qp_clock_by_class(th, top);
        return;
    }
    qprof_node *n = qp_frame_node(th, top);
    uint64_t ticks = now - th->pulse->last;
    qprof_charge(th->pulse, n, now);
    if (QP_UNLIKELY(ticks >= QPROF_LONG))
        qp_waits_charge(th, n, ticks);
}

/* ---- calls ------------------------------------------------------------------------------- */

void qp_clock_begin_call(qprof_thread *th, qprof_node *n)
{
    uint32_t hooks = QPROF_LOAD(th->gate);
    if (hooks & QPROF_HOOK_ADAPTIVE)
        qp_adaptive_begin(th, n);
    else
        QPROF_STORE(n->begun,
                    n->self | (hooks & (QP_HOOK_STOPPED | QP_HOOK_OFF) ? QP_NO_EXTREMES : 0));
}

void qp_clock_cut_call(const qprof_thread *th, qprof_node *n)
{
    if (!(QPROF_LOAD(th->gate) & QPROF_HOOK_ADAPTIVE))
        QPROF_STORE(n->begun, n->begun | QP_NO_EXTREMES);
}

void qp_clock_end_call(qprof_thread *th, qprof_node *n)
{
    uint32_t hooks = QPROF_LOAD(th->gate);
    if (hooks & QPROF_HOOK_ADAPTIVE)
        qp_adaptive_end(th, n);
    else if (hooks & QP_HOOKS_EXACT)
        qprof_settle(n);
}

void qp_clock_settle(qprof_thread *th, qprof_frame *f, uint64_t now)
{
    if (f->flags & QPROF_FRAME_MARKED)
        qp_tree_settle_block(th, f, now);
    if (f->node && !(f->flags & (QPROF_FRAME_SKIP | QPROF_FRAME_OVERFLOWED |
                                 QPROF_FRAME_EXCLUDED | QPROF_FRAME_FOLDED)))
        qp_clock_end_call(th, qp_frame_node(th, f));
}
