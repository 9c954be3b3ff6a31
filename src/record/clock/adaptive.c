/* adaptive.c: -time=adaptive on the threads and paths of a run. pace.c decides which calls are
 * timed; here they are timed. Read qprof_cold_begin_timing first: an ordinary entry calls it when the
 * call is due, and an ordinary exit calls qprof_cold_end_timing when the coarse clock has ticked since the entry, or never equals
 * what the entry of a timed call stored. */
#include <errno.h>

#include "base/atomic.h"
#include "base/os/clock.h"
#include "base/text/wide.h"
#include "record/clock/clock.h"
#include "record/clock/pace.h"
#include "record/tree/tree.h"

static qp_pace_rules rules;
static uint64_t inside; /* ticks that a timed call of no length seems to take */
static const uint64_t first_period_ns = 1000000; /* of the coarse clock */
static const uint64_t last_period_ns = 8000000;

_Static_assert(sizeof(qp_pace) <= QP_CELL, "a cell");
_Static_assert(offsetof(qp_pace, tick) == 0, "a thread's tick leads to its pace");

/* ---- the run ----------------------------------------------------------------------------- */

/* Can the coarse clock read what a thread's clock shows? A host's clock is not asked from a thread of
 * the recorder. */
static bool is_readable(void)
{
    const qp_head *h = qp_recorder_head();
    return h->clock_source != QP_SOURCE_HOST &&
           (h->clock_kind == QP_CLOCK_ELAPSED || h->clock_kind == QP_CLOCK_USER_KERNEL);
}

static uint64_t ticks_of_ns(uint64_t ns)
{
    const qp_head *h = qp_recorder_head();
    uint64_t step = h->ns_1 - h->ns_0;
    if (h->clock_source != QP_SOURCE_TSC || !step)
        return ns;
    return qp_product_share(ns, h->tick_1 - h->tick_0, 0, step);
}

void qp_adaptive_begin_run(void)
{
    const qp_head *h = qp_recorder_head();
    rules = (qp_pace_rules){.cost = h->clock_kind <= QP_CLOCK_USER_KERNEL};
    if (is_readable())
        rules.period = ticks_of_ns(first_period_ns);
}

uint64_t qp_adaptive_period(uint64_t run_ns)
{
    uint64_t ns = run_ns / 1000;
    ns = ns < first_period_ns ? first_period_ns : ns > last_period_ns ? last_period_ns : ns;
    if (!is_readable())
        return 0;
    qp_store(&rules.period, ticks_of_ns(ns));
    return ns;
}

/* ---- threads ----------------------------------------------------------------------------- */

static qp_pace *pace_at(const uint64_t *tick)
{
    return (qp_pace *)(uintptr_t)tick;
}

/* @return NULL: no room for one */
static qp_pace *pace_of(qprof_thread *th)
{
    if (QP_LIKELY(th->tick != &qp_recorder_tick))
        return pace_at(th->tick);
    qp_cell cell = qp_tree_aux_cell(th);
    if (!cell) {
        qp_count(&qp_recorder.space, QP_D_out_of_memory);
        return NULL;
    }
    qp_pace *fresh = QPROF_CELL(th, qp_pace, cell);
    qp_pace_begin(fresh, &rules, qp_clock_monotonic() ^ (uint64_t)cell << 40, qp_clock_now(th));
    qp_publish(&th->tick, (const uint64_t *)&fresh->tick);
    return fresh;
}

void qp_adaptive_tick(const qprof_thread *th, uint64_t at)
{
    const uint64_t *tick = qp_observe(&th->tick);
    if (tick != &qp_recorder_tick)
        qp_pace_tick(pace_at(tick), at);
}

/* ---- paths ------------------------------------------------------------------------------- */

static qp_node_timing *record_of(const qprof_thread *th, const qprof_node *n)
{
    const qp_node_more *more = n->more ? QPROF_CELL(th, qp_node_more, n->more) : NULL;
    return more && more->timing ? QPROF_CELL(th, qp_node_timing, more->timing) : NULL;
}

static qp_node_timing *make_record(qprof_thread *th, const qprof_node *n)
{
    qp_node_more *more = qp_tree_more(th, QPROF_INDEX(th, n));
    qp_cell cell = more ? qp_tree_aux_cell(th) : 0;
    if (!cell) {
        qp_count(&qp_recorder.space, QP_D_out_of_memory);
        return NULL;
    }
    qp_node_timing *t = QPROF_CELL(th, qp_node_timing, cell);
    qp_pace_record(n, t);
    qp_publish(&more->timing, cell);
    return t;
}

void qp_adaptive_clear(const qprof_thread *th, qprof_node *n)
{
    qp_pace_clear(n, record_of(th, n));
}

/* With the clock read last: the caller pays for the rest. */
static void begin_timed(qprof_thread *th, qprof_node *n)
{
    uint64_t now = qp_clock_now(th);
    QPROF_STORE(th->pulse->last, now);
    QPROF_STORE(n->begun, now | QP_BEGUN_TIMED);
}

static bool is_new(const qprof_node *n)
{
    return n->n_calls == 1 && n->self_min == 1 && !n->self_max && !n->more;
}

void qp_adaptive_begin(qprof_thread *th, qprof_node *n)
{
    if (QPROF_LOAD(th->gate) & (QP_HOOK_STOPPED | QP_HOOK_OFF))
        return;
    if (QP_LIKELY(n->n_calls < n->self_min)) {
        QPROF_STORE(n->begun, qp_load(th->tick));
        return;
    }
    qp_pace *p = pace_of(th);
    if (!p)
        QPROF_STORE(n->self_min, UINT64_MAX); /* none of its calls is timed */
    else if (is_new(n))
        qp_pace_path(p, &rules, n);
    if (n->n_calls < n->self_min)
        QPROF_STORE(n->begun, qp_load(th->tick));
    else
        begin_timed(th, n);
}

void qp_adaptive_resume(qprof_thread *th, qprof_node *n, uint64_t at)
{
    if (pace_of(th))
        QPROF_STORE(n->begun, at | QP_BEGUN_TIMED | QP_BEGUN_OLD);
}

static void end_untimed(qprof_thread *th, qprof_node *n, uint64_t now)
{
    qp_node_timing *t = record_of(th, n);
    if (!t && qp_pace_has_untimed(n))
        t = make_record(th, n);
    if (t)
        qp_pace_crossed(pace_at(th->tick), &rules, n, t, n->begun, now);
}

static void end_timed(qprof_thread *th, qprof_node *n, uint64_t now)
{
    qp_pace *p = pace_at(th->tick);
    uint64_t begun = n->begun & ~(QP_BEGUN_TIMED | QP_BEGUN_OLD);
    uint64_t ticks = now > begun + inside ? now - begun - inside : 0;
    bool is_old = n->begun & QP_BEGUN_OLD;
    qp_node_timing *t = record_of(th, n);
    if (!t && !is_old && qp_pace_needs_record(p, &rules, n, ticks))
        t = make_record(th, n);
    if (is_old)
        qp_pace_add(n, t, ticks);
    else
        qp_pace_end(p, &rules, n, t, ticks, now);
    QPROF_STORE(n->begun, 0);
}

static void end_at(qprof_thread *th, qprof_node *n, uint64_t now)
{
    if (n->begun == qp_load(th->tick) || th->tick == &qp_recorder_tick)
        return;
    if (n->begun & QP_BEGUN_TIMED)
        end_timed(th, n, now);
    else
        end_untimed(th, n, now);
    QPROF_STORE(th->pulse->last, now);
}

/* A suspended thread, whose calls end because it ends or its row is taken, has not run since. */
void qp_adaptive_end(qprof_thread *th, qprof_node *n)
{
    const qprof_pulse *p = th->pulse;
    const uint64_t at = p->suspended_at - p->offset;
    const bool is_running = !p->suspended_at || !qp_clock_is_shared();
    end_at(th, n, is_running ? qp_clock_now(th) : (int64_t)(at - p->last) > 0 ? at : p->last);
}

/* ---- calls of the inline path ------------------------------------------------------------ */

/* Raw ticks now, if the clock is read in line and runs; else 0. */
static uint64_t ticks_at_once(const qprof_thread *th)
{
    const uint32_t usual = QPROF_GATE_OPEN | QPROF_HOOK_ADAPTIVE | QPROF_HOOK_TSC |
                           QPROF_HOOK_WAITS | QPROF_HOOK_TOKENS;
    uint32_t gate = QPROF_LOAD(th->gate);
    return (gate & QPROF_HOOK_TSC) && !(gate & ~usual) ? qprof_ticks() : 0;
}

/* A call that is timed has as little as possible of the recorder's work: its entry reads the clock
 * again at the very end, its exit at the very beginning. */
void qprof_cold_begin_timing(qprof_thread *th, qprof_node *n)
{
    int host_errno = errno;
    uint64_t start = qp_cost_is_due() ? qp_cost_start() : 0;
    if (qp_set_busy(th)) {
        qp_adaptive_begin(th, n);
        qp_clear_busy(th);
    }
    if (QP_UNLIKELY(start))
        qp_cost_add(th, QP_COST_PART, start);
    errno = host_errno;
    uint64_t raw = n->begun & QP_BEGUN_TIMED ? ticks_at_once(th) : 0;
    if (raw)
        QPROF_STORE(n->begun, (raw - th->pulse->offset) | QP_BEGUN_TIMED);
}

static void end_timing(qprof_thread *th, qprof_node *n)
{
    uint64_t raw = ticks_at_once(th);
    int host_errno = errno;
    uint64_t start = qp_cost_is_due() ? qp_cost_start() : 0;
    if (qp_set_busy(th)) {
        uint64_t now = raw - th->pulse->offset;
        if (!raw || (int64_t)(now - th->pulse->last) < 0)
            now = qp_clock_now(th);
        end_at(th, n, now);
        qp_clear_busy(th);
    }
    if (QP_UNLIKELY(start))
        qp_cost_add(th, QP_COST_PART, start);
    errno = host_errno;
}

/* The rest of the exit is done here: the inline path ends with this call. */
void qprof_cold_end_timing(qprof_thread *th, qprof_node *n)
{
    end_timing(th, n);
    uint64_t top = QPROF_LOAD(th->pulse->top);
    if (top & QPROF_TOP_TOKEN) {
        QPROF_PUBLISH(th->pulse->top, (uint64_t)n->parent << 6 | QPROF_TOP_TOKEN);
    } else {
        QPROF_ADD(th->pulse->n_exits, 1);
        QPROF_FENCE();
        QPROF_PUBLISH(th->pulse->top, top - sizeof(qprof_frame));
    }
}

void qp_adaptive_measure(qprof_thread *th, qprof_node *n)
{
    enum { ROUNDS = 32, CALLS = 8 }; /* of each round, all calls are timed without a record */
    uint64_t least_self = UINT64_MAX, least = UINT64_MAX;
    inside = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        qp_pace pace;
        qp_pace_begin(&pace, &rules, 1, 0);
        th->tick = &pace.tick;
        *n = (qprof_node){.self_min = 1};
        uint64_t begun = qp_clock_now(th);
        for (unsigned i = 0; i < CALLS; i++) {
            QPROF_ADD(n->n_calls, 1);
            qprof_cold_begin_timing(th, n);
            end_timing(th, n);
        }
        uint64_t ticks = (qp_clock_now(th) - begun) / CALLS;
        least = ticks < least ? ticks : least;
        least_self = n->self / CALLS < least_self ? n->self / CALLS : least_self;
    }
    th->tick = &qp_recorder_tick;
    inside = least_self;
    if (rules.cost)
        rules.cost =
            least + least / 2; /* in a program its code and data are often not cached */
}
