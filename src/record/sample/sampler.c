/* sampler.c: the thread that takes PC samples, one of each OS thread in each period. Read run
 * and pass_over first.
 *
 * It uses no signal, reads no stack and stops no thread: it counts a sample for the thread that
 * an OS thread drives, and samples.c credits it. Deadlines are absolute; missed ones are
 * counted and not made up.
 *
 * By CPU time, a sample is taken only while the OS thread is running, and only of time that it
 * has used; otherwise the time of a short call before a long wait would be credited to the
 * wait. Samples that are due wait for a pass that finds the OS thread running again.
 *
 * While no OS thread uses CPU time, or none has a thread, there are fewer passes: one replaces
 * the next ones, and takes the samples of all of them. By elapsed time that would be wrong:
 * what began in a long call would be credited to the short one after it. */
#include "record/sample/sample.h"

#include "base/atomic.h"
#include "base/os/clock.h"
#include "base/os/system.h"
#include "base/os/thread.h"
#include "record/clock/clock.h"

enum {
    SLICE_NS = 5000000,
    STEPS_MAX = 4, /* periods to the next pass while nothing is used */
    DUE_MAX =
        64, /* periods of CPU time that wait for a pass that finds the OS thread running */
    COST_PERCENT = 5,   /* of a period that a pass may take ... */
    COSTLY_MAX = 10,    /* ... this often in a row */
    BUDGET_PERCENT = 1, /* of a processor that the thread may use ... */
    BUDGET_PASSES = 16, /* ... in so many passes, where the interval is not a request ... */
    BUDGET_NS = 1000000 /* ... because it is this or longer */
};

static struct {
    qp_watcher watcher;
    uint64_t n_made;    /* samples of CPU time */
    uint64_t unmade_ns; /* CPU time without samples, because passes came too late */
} sampler;

/* The time since the previous pass. */
typedef struct {
    uint64_t ticks, ns; /* elapsed */
    uint64_t n_samples; /* of the PC command that are due on each OS thread */
    bool is_quiet;      /* no OS thread has used any time so far */
    bool has_noted;     /* samples */
} interval;

static bool is_sampled_by_cpu(void)
{
    return qp_recorder.is_pc_on && qp_recorder_head()->pc_kind == QP_PC_VIRTUAL;
}

static bool is_charged_by_cpu(void)
{
    const qp_head *h = qp_recorder_head();
    return h->time_mode == QP_TIME_SAMPLED && h->clock_kind != QP_CLOCK_ELAPSED;
}

/* The OS thread began since the previous pass: its CPU time up to now is not counted. */
static void begin_os_thread(qp_os_thread_slot *slot)
{
    slot->cpu_seen = slot->cpu_due = slot->cpu_waiting = 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Add the CPU time since the previous pass to what is due, but no more than can have passed:
 * time without passes is not counted. */
static void add_cpu(qp_os_thread_slot *slot, interval *since)
{
    uint64_t cpu = qp_clock_cpu_of((int)qp_load(&slot->system_id));
    uint64_t step = slot->cpu_seen && cpu > slot->cpu_seen ? cpu - slot->cpu_seen : 0;
    step = least(step, since->ns);
    since->is_quiet &= !step;
    slot->cpu_seen = cpu;
    uint64_t due = slot->cpu_due + step;
    slot->cpu_due = least(due, DUE_MAX * qp_recorder_head()->pc_period);
    sampler.unmade_ns += due - slot->cpu_due;
    slot->cpu_waiting += step;
}

/* Is the OS thread on a processor, or waiting for one? Its clock shows the former, the system
 * the latter. */
static bool is_on_processor(const qp_os_thread_slot *slot)
{
    uint64_t id = qp_load(&slot->system_id);
    return qp_clock_cpu_of((int)id) > slot->cpu_seen || !sampler.watcher.has_descriptors ||
           qp_task_is_running(0, id);
}

static void take_cpu(qp_os_thread_slot *slot, uint64_t n_most, qp_ticks *made)
{
    uint64_t period = qp_recorder_head()->pc_period;
    uint64_t n_due = is_sampled_by_cpu() ? least(slot->cpu_due / period, n_most) : 0;
    bool is_charged = is_charged_by_cpu() && slot->cpu_waiting;
    if (!(n_due || is_charged) || !is_on_processor(slot))
        return;
    slot->cpu_due -= n_due * period;
    sampler.n_made += n_due;
    made->n_samples += n_due;
    if (is_charged) {
        made->ticks = slot->cpu_waiting;
        slot->cpu_waiting = 0;
    }
}

static void pass_over(qp_os_thread_slot *slot, void *with)
{
    interval *since = with;
    bool is_timed = qp_recorder_head()->time_mode == QP_TIME_SAMPLED;
    bool is_by_cpu = is_sampled_by_cpu() || is_charged_by_cpu();
    qp_ticks made = {1, is_timed && !is_charged_by_cpu() ? since->ticks : 0,
                     is_sampled_by_cpu() ? 0 : since->n_samples, 0};
    qprof_thread *th = qp_observe(&slot->current);
    bool is_open =
        th && qp_is_open(th) && !(qp_load(&th->gate) & QP_HOOK_OFF) && qp_observe(&th->pulse);
    if (is_by_cpu)
        add_cpu(slot, since);
    else if (is_open) /* it uses elapsed time */
        since->is_quiet = false;
    if (is_timed)
        made.off = qp_watcher_finds_off(&sampler.watcher, slot, made.ticks, since->ns);
    if (!is_open)
        slot->cpu_due = slot->cpu_waiting = 0;
    else
        take_cpu(slot, since->n_samples, &made);
    if (is_open && (made.ticks || made.n_samples)) {
        qp_samples_note(th, made.ticks, made.n_samples, made.off);
        since->has_noted = true;
    }
}

/* Note the CPU time that one sample represents. Passes that the machine was too busy for do not
 * count: the program had to wait as well. */
static void note_reached(void)
{
    qp_head *h = qp_recorder_head();
    uint64_t unmade = sampler.n_made ? sampler.unmade_ns / sampler.n_made : 0;
    if (is_sampled_by_cpu())
        qp_store(&h->pc_reached, h->pc_period + unmade);
}

static void pass(interval *since)
{
    if (qp_load(&qp_recorder_head()->stopped_since))
        return;
    qp_watcher_pass(&sampler.watcher, begin_os_thread, pass_over, since);
    if (since->has_noted)
        qp_samples_wake();
}

/* Sleep in slices, so that stopping the sampler need not wait for a long period. */
static void sleep_until(uint64_t due)
{
    uint64_t now = qp_clock_monotonic();
    while (now < due && !qp_observe(&sampler.watcher.must_stop)) {
        qp_clock_sleep_until(due - now > SLICE_NS ? now + SLICE_NS : due);
        now = qp_clock_monotonic();
    }
}

/* The period, doubled after ten passes in a row that took too much of it. */
static uint64_t throttled(uint64_t period, uint64_t cost, unsigned *n_costly)
{
    *n_costly = cost * 100 > period * COST_PERCENT ? *n_costly + 1 : 0;
    if (*n_costly < COSTLY_MAX)
        return period;
    *n_costly = 0;
    qp_count(&qp_recorder.space, QP_D_throttled);
    return 2 * period;
}

/* When the first of BUDGET_PASSES passes began: CPU time of this thread, and elapsed time. */
typedef struct {
    uint64_t cpu, wall;
    unsigned n_passes;
} budget;

/* The period, doubled if waking up so often costs more than the budget: that depends on the machine,
 * and is expensive on virtual ones. */
static uint64_t within_budget(uint64_t period, budget *b, uint64_t wall)
{
    if (b->n_passes++ % BUDGET_PASSES || qp_recorder.is_pc_on || period < BUDGET_NS)
        return period;
    uint64_t cpu = qp_clock_thread_cpu();
    bool is_dear = b->n_passes > 1 && (cpu - b->cpu) * 100 > (wall - b->wall) * BUDGET_PERCENT;
    b->cpu = cpu;
    b->wall = wall;
    if (!is_dear)
        return period;
    qp_count(&qp_recorder.space, QP_D_throttled);
    return 2 * period;
}

/* The samples of the PC command that are due; its period may be longer than that of the passes.
 * Passes that came too late yield none. */
static uint64_t samples_due(uint64_t *due, uint64_t wall, uint64_t planned_ns)
{
    uint64_t period = qp_recorder_head()->pc_period;
    if (!qp_recorder.is_pc_on || wall < *due)
        return 0;
    uint64_t n = (wall - *due) / period + 1, n_planned = planned_ns / period;
    *due += n * period;
    return least(n, n_planned ? n_planned : 1);
}

static void *run(QP_UNUSED void *unused)
{
    qp_head *h = qp_recorder_head();
    uint64_t period = h->sample_period, n_steps = 1;
    uint64_t due = qp_clock_monotonic() + period, first = due;
    uint64_t sample_due = first - period + h->pc_period;
    uint64_t before = qp_clock_elapsed(), wall_before = first - period;
    uint64_t ns_before = h->sample_ns; /* of an earlier thread of this run */
    unsigned n_costly = 0;
    budget spent = {0};
    qp_watcher_began(&sampler.watcher);
    while (!qp_observe(&sampler.watcher.must_stop)) {
        sleep_until(due);
        uint64_t now = qp_clock_elapsed(), wall = qp_clock_monotonic();
        bool is_last =
            qp_observe(&sampler.watcher.must_stop); /* it charges the time up to now */
        interval since = {now - before, wall - wall_before, 0, true, false};
        if (!is_last)
            since.n_samples = samples_due(&sample_due, wall, n_steps * period);
        pass(&since);
        if (is_last)
            break;
        before = now;
        wall_before = wall;
        qp_bump(&h->n_passes, n_steps);
        qp_store(&h->sample_ns, ns_before + wall - first + period);
        note_reached();
        period = throttled(period, qp_clock_monotonic() - wall, &n_costly);
        period = within_budget(period, &spent, wall);
        for (; due + period <= wall; due += period) /* missed passes are not made up */
            qp_count(&qp_recorder.space, QP_D_overrun);
        n_steps = since.is_quiet ? least(2 * n_steps, STEPS_MAX) : 1;
        due += n_steps * period;
    }
    qp_watcher_ended(&sampler.watcher);
    return NULL;
}

/* The period of the passes; 0: none. */
static uint64_t period_of_run(void)
{
    bool is_sampled = qp_recorder_head()->time_mode == QP_TIME_SAMPLED;
    uint64_t of_times =
        is_sampled ? qp_recorder.options.number[QP_OPT_sample_period] * 1000 : 0;
    uint64_t of_command = qp_recorder.is_pc_on ? qp_recorder_head()->pc_period : 0;
    bool is_command_shorter = of_command && (of_command < of_times || !of_times);
    return is_command_shorter ? of_command : of_times;
}

bool qp_sampler_start(void)
{
    if (QP_PRODUCT_IS_COVERAGE)
        return true;
    bool wants_signal = qp_recorder.is_pc_on && qp_recorder.options.number[QP_OPT_pc_signal];
    qp_recorder_head()->sample_period = period_of_run();
    if (!qp_recorder_head()->sample_period)
        return true;
    if (wants_signal && qp_recorder_head()->time_mode != QP_TIME_SAMPLED &&
        qp_pc_signal_begin())
        return true;
    sampler.n_made = sampler.unmade_ns = 0;
    return qp_watcher_start(&sampler.watcher, run);
}

void qp_sampler_stop(void)
{
    qp_pc_signal_end();
    qp_watcher_stop(&sampler.watcher);
}

void qp_sampler_forget(void)
{
    qp_pc_signal_forget();
    sampler.watcher.is_running = false;
}
