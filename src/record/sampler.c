/* sampler.c: the thread that makes interrupts, one for each carrier in each period.
 *
 * It takes no signal, reads no stack and stops nobody: it counts an interrupt for whom a carrier
 * drives (samples.c says how it is credited). Deadlines are absolute; missed ones are counted and
 * not made up.
 *
 * By CPU time an interrupt is made only while the carrier is running, of time that it has used:
 * that of a short call before a long wait is not the wait's. It waits for a pass that finds the
 * carrier running again.
 *
 * While no carrier uses CPU time, or none has a thread, passes are fewer: one stands for the next
 * ones, too, and makes interrupts for all of them. By elapsed time that would not do: what began in a
 * long call would be credited to the short one behind it. */
#include "record/sampler.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "base/own_thread.h"
#include "base/pages.h"
#include "base/task.h"
#include "record/charge.h"
#include "record/pc_signal.h"
#include "record/samples.h"

enum {
    STACK_BYTES = 64 * 1024,
    CARRIERS_MAX = 1 << 20, /* that are looked at */
    SLICE_NS = 5000000,
    STEPS_MAX = 4, /* periods to the next pass while nothing is used */
    DUE_MAX = 64,  /* periods of CPU time that wait for a pass that finds the carrier running */
    COST_PERCENT = 5, /* of a period that a pass may take ... */
    COSTLY_MAX = 10   /* ... this often in a row */
};

static struct {
    pthread_t thread;
    bool is_running;
    bool has_descriptors; /* of its own */
    uint32_t must_stop;
    uint32_t *live; /* [n_live] ordinals of carriers that have not ended, of n_known */
    uint32_t n_live, n_known;
    uint64_t n_made;    /* interrupts of CPU time ... */
    uint64_t unmade_ns; /* ... and that of which there will be none, for passes came too late */
} sampler;

/* What has passed since the pass before. */
typedef struct {
    uint64_t ticks, ns;    /* elapsed */
    uint64_t n_interrupts; /* of the PC command that are due to each carrier */
    bool is_quiet;         /* so far no carrier has used anything */
} interval;

static bool is_interrupted_by_cpu(void)
{
    return qp_run.is_pc_on && qp_run_head()->pc_kind == QP_PC_VIRTUAL;
}

static bool is_charged_by_cpu(void)
{
    const qp_head *h = qp_run_head();
    return h->time_mode == QP_TIME_SAMPLED && h->clock_kind != QP_CLOCK_ELAPSED;
}

/* Carriers that began since the pass before: CPU time up to now is nobody's. */
static void note_new_carriers(void)
{
    for (qp_carrier_slot *slot; (slot = qp_carrier_at(sampler.n_known + 1)) != NULL;) {
        sampler.n_known++;
        if (sampler.n_live == CARRIERS_MAX)
            continue;
        sampler.live[sampler.n_live++] = sampler.n_known;
        slot->cpu_seen = slot->cpu_due = slot->cpu_waiting = 0;
    }
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* CPU time since the pass before is due; no more than can have passed: what was used while none
 * were made is nobody's. */
static void add_cpu(qp_carrier_slot *slot, interval *since)
{
    uint64_t cpu = qp_clock_cpu_of((int)qp_load(&slot->system_id));
    uint64_t step = slot->cpu_seen && cpu > slot->cpu_seen ? cpu - slot->cpu_seen : 0;
    step = least(step, since->ns);
    since->is_quiet &= !step;
    slot->cpu_seen = cpu;
    uint64_t due = slot->cpu_due + step;
    slot->cpu_due = least(due, DUE_MAX * qp_run_head()->pc_period);
    sampler.unmade_ns += due - slot->cpu_due;
    slot->cpu_waiting += step;
}

/* Is the carrier on a processor, or would it be if this thread was not? The one is seen by its
 * clock, which goes on; the other is asked of the system. */
static bool is_on_processor(const qp_carrier_slot *slot)
{
    uint64_t id = qp_load(&slot->system_id);
    return qp_clock_cpu_of((int)id) > slot->cpu_seen || !sampler.has_descriptors ||
           qp_task_is_running(0, id);
}

/* What is made of CPU time that is due. */
static void take_cpu(qp_carrier_slot *slot, uint64_t n_most, qp_ticks *made)
{
    uint64_t period = qp_run_head()->pc_period;
    uint64_t n_due = is_interrupted_by_cpu() ? least(slot->cpu_due / period, n_most) : 0;
    bool is_charged = is_charged_by_cpu() && slot->cpu_waiting;
    if (!(n_due || is_charged) || !is_on_processor(slot))
        return;
    slot->cpu_due -= n_due * period;
    sampler.n_made += n_due;
    made->n_interrupts += n_due;
    if (is_charged) {
        made->ticks = slot->cpu_waiting;
        slot->cpu_waiting = 0;
    }
}

static void pass_over(qp_carrier_slot *slot, interval *since)
{
    bool is_timed = qp_run_head()->time_mode == QP_TIME_SAMPLED;
    bool is_by_cpu = is_interrupted_by_cpu() || is_charged_by_cpu();
    qp_ticks made = {1, is_timed && !is_charged_by_cpu() ? since->ticks : 0,
                     is_interrupted_by_cpu() ? 0 : since->n_interrupts};
    qprof_thread *th = qp_observe(&slot->current);
    bool is_open =
        th && qp_is_open(th) && !(qp_load(&th->gate) & QP_HOOK_OFF) && qp_observe(&th->pulse);
    if (is_by_cpu)
        add_cpu(slot, since);
    else if (is_open) /* elapsed time is something that happens to it */
        since->is_quiet = false;
    if (!is_open)
        slot->cpu_due = slot->cpu_waiting = 0;
    else
        take_cpu(slot, since->n_interrupts, &made);
    if (is_open && (made.ticks || made.n_interrupts))
        qp_samples_note(th, made.ticks, made.n_interrupts);
}

/* What an interrupt of CPU time stands for. A pass that the machine was too busy for says nothing of
 * it: the program had to wait, too. */
static void note_reached(void)
{
    qp_head *h = qp_run_head();
    uint64_t unmade = sampler.n_made ? sampler.unmade_ns / sampler.n_made : 0;
    if (is_interrupted_by_cpu())
        qp_store(&h->pc_reached, h->pc_period + unmade);
}

static void pass(interval *since)
{
    if (qp_load(&qp_run_head()->stopped_since))
        return;
    note_new_carriers();
    for (uint32_t i = 0; i < sampler.n_live;) {
        qp_carrier_slot *slot = qp_carrier_at(sampler.live[i]);
        uint32_t state = qp_observe(&slot->state);
        if (state == QP_CARRIER_ENDED) {
            sampler.live[i] = sampler.live[--sampler.n_live];
            continue;
        }
        if (state == QP_CARRIER_ALIVE)
            pass_over(slot, since);
        i++;
    }
}

/* In slices, so that whoever stops the sampler need not wait for a long period. */
static void sleep_until(uint64_t due)
{
    uint64_t now = qp_clock_monotonic();
    while (now < due && !qp_observe(&sampler.must_stop)) {
        qp_clock_sleep_until(due - now > SLICE_NS ? now + SLICE_NS : due);
        now = qp_clock_monotonic();
    }
}

/* Twice the period after ten passes in a row that took too much of it. */
static uint64_t throttled(uint64_t period, uint64_t cost, unsigned *n_costly)
{
    *n_costly = cost * 100 > period * COST_PERCENT ? *n_costly + 1 : 0;
    if (*n_costly < COSTLY_MAX)
        return period;
    *n_costly = 0;
    qp_count(&qp_run.space, QP_D_throttled);
    return 2 * period;
}

/* Interrupts of the PC command, whose period may be longer than that of the passes: those that the
 * pass stands for, and none for what came too late. */
static uint64_t interrupts_due(uint64_t *due, uint64_t wall, uint64_t planned_ns)
{
    uint64_t period = qp_run_head()->pc_period;
    if (!qp_run.is_pc_on || wall < *due)
        return 0;
    uint64_t n = (wall - *due) / period + 1, n_planned = planned_ns / period;
    *due += n * period;
    return least(n, n_planned ? n_planned : 1);
}

static void *run(void *unused)
{
    qp_head *h = qp_run_head();
    uint64_t period = h->sample_period, n_steps = 1;
    uint64_t due = qp_clock_monotonic() + period, first = due;
    uint64_t interrupt_due = first - period + h->pc_period;
    uint64_t before = qp_charge_elapsed(), wall_before = first - period;
    unsigned n_costly = 0;
    (void)unused;
    pthread_setname_np(pthread_self(), "qprof");
    sampler.has_descriptors = qp_task_own_descriptors();
    while (!qp_observe(&sampler.must_stop)) {
        sleep_until(due);
        uint64_t now = qp_charge_elapsed(), wall = qp_clock_monotonic();
        bool is_last = qp_observe(&sampler.must_stop); /* time up to now is to be charged */
        interval since = {now - before, wall - wall_before, 0, true};
        if (!is_last)
            since.n_interrupts = interrupts_due(&interrupt_due, wall, n_steps * period);
        pass(&since);
        if (is_last)
            break;
        before = now;
        wall_before = wall;
        qp_bump(&h->n_passes, n_steps);
        qp_store(&h->sample_ns, wall - first + period);
        note_reached();
        period = throttled(period, qp_clock_monotonic() - wall, &n_costly);
        for (; due + period <= wall; due += period) /* no storm to catch up */
            qp_count(&qp_run.space, QP_D_overrun);
        n_steps = since.is_quiet ? least(2 * n_steps, STEPS_MAX) : 1;
        due += n_steps * period;
    }
    return NULL;
}

/* How often a pass is due; 0: never. */
static uint64_t period_of_run(void)
{
    bool is_sampled = qp_run_head()->time_mode == QP_TIME_SAMPLED;
    uint64_t of_times = is_sampled ? qp_run.options.number[QP_OPT_sample_period] * 1000 : 0;
    uint64_t of_command = qp_run.is_pc_on ? qp_run_head()->pc_period : 0;
    bool is_command_shorter = of_command && (of_command < of_times || !of_times);
    return is_command_shorter ? of_command : of_times;
}

static bool has_room(void)
{
    if (!sampler.live)
        sampler.live = qp_pages_take(CARRIERS_MAX * sizeof *sampler.live);
    sampler.n_live = sampler.n_known = 0;
    sampler.n_made = sampler.unmade_ns = 0;
    return sampler.live != NULL;
}

bool qp_sampler_start(void)
{
    if (QP_PRODUCT_IS_COVERAGE)
        return true;
    bool wants_signal = qp_run.is_pc_on && qp_run.options.number[QP_OPT_pc_signal];
    qp_run_head()->sample_period = period_of_run();
    if (!qp_run_head()->sample_period)
        return true;
    if (wants_signal && qp_run_head()->time_mode != QP_TIME_SAMPLED && qp_pc_signal_begin())
        return true;
    qp_store(&sampler.must_stop, 0);
    sampler.is_running = has_room() && qp_own_thread_start(&sampler.thread, run, STACK_BYTES);
    if (!sampler.is_running)
        qp_count(&qp_run.space, QP_D_sampler_unavailable);
    return sampler.is_running;
}

void qp_sampler_stop(void)
{
    qp_pc_signal_end();
    if (!sampler.is_running)
        return;
    qp_publish(&sampler.must_stop, 1);
    pthread_join(sampler.thread, NULL);
    sampler.is_running = false;
}

void qp_sampler_forget(void)
{
    qp_pc_signal_forget();
    sampler.is_running = false;
}
