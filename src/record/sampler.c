/* sampler.c: the thread that makes interrupts, one for each carrier in each period.
 *
 * It takes no signal, reads no stack and stops nobody: it counts an interrupt for whom a carrier
 * drives (samples.c says how it is credited). Deadlines are absolute; missed ones are counted and
 * not made up. */
#include "record/sampler.h"

#include <pthread.h>
#include <signal.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "base/pages.h"
#include "record/charge.h"
#include "record/pc_signal.h"
#include "record/samples.h"

enum {
    STACK_BYTES = 64 * 1024,
    CARRIERS_MAX = 1 << 20, /* that are looked at */
    SLICE_NS = 5000000,
    COST_PERCENT = 5, /* of a period that a pass may take ... */
    COSTLY_MAX = 10   /* ... this often in a row */
};

static struct {
    pthread_t thread;
    bool is_running;
    uint32_t must_stop;
    uint32_t *live; /* [n_live] ordinals of carriers that have not ended, of n_known */
    uint32_t n_live, n_known;
} sampler;

/* What has passed since the pass before. */
typedef struct {
    uint64_t ticks, ns; /* elapsed */
    bool is_interrupt;  /* one of the PC command is due */
} interval;

/* Are CPU clocks of carriers to be read? */
static bool needs_cpu(void)
{
    const qp_head *h = qp_run_head();
    return (qp_run.is_pc_on && h->pc_kind == QP_PC_VIRTUAL) ||
           (h->time_mode == QP_TIME_SAMPLED && h->clock_kind != QP_CLOCK_ELAPSED);
}

/* Carriers that began since the pass before: CPU time up to now is nobody's. */
static void note_new_carriers(void)
{
    for (qp_carrier_slot *slot; (slot = qp_carrier_at(sampler.n_known + 1)) != NULL;) {
        sampler.n_known++;
        if (sampler.n_live == CARRIERS_MAX)
            continue;
        sampler.live[sampler.n_live++] = sampler.n_known;
        slot->cpu_seen = slot->cpu_charged = 0;
    }
}

/* CPU time of the carrier since it was asked last, in whole periods; no more than can have passed:
 * what it used while none were made is nobody's. */
static uint64_t expiries(qp_carrier_slot *slot, uint64_t cpu, uint64_t passed_ns)
{
    uint64_t period = qp_run_head()->pc_period, most = passed_ns / period + 1;
    if (!slot->cpu_seen)
        slot->cpu_seen = cpu;
    uint64_t n = cpu > slot->cpu_seen ? (cpu - slot->cpu_seen) / period : 0;
    slot->cpu_seen += n * period;
    return n < most ? n : most;
}

/* The same in ns. */
static uint64_t cpu_step(qp_carrier_slot *slot, uint64_t cpu, uint64_t passed_ns)
{
    uint64_t step = slot->cpu_charged && cpu > slot->cpu_charged ? cpu - slot->cpu_charged : 0;
    slot->cpu_charged = cpu;
    return step < passed_ns ? step : passed_ns;
}

static void pass_over(qp_carrier_slot *slot, const interval *since)
{
    const qp_head *h = qp_run_head();
    bool is_virtual = qp_run.is_pc_on && h->pc_kind == QP_PC_VIRTUAL;
    uint64_t cpu = needs_cpu() ? qp_clock_cpu_of((int)qp_load(&slot->system_id)) : 0;
    uint64_t n = is_virtual ? expiries(slot, cpu, since->ns) : since->is_interrupt;
    uint64_t ticks = 0;
    if (h->time_mode == QP_TIME_SAMPLED)
        ticks =
            h->clock_kind == QP_CLOCK_ELAPSED ? since->ticks : cpu_step(slot, cpu, since->ns);
    qprof_thread *th = qp_observe(&slot->current);
    if (th && qp_is_open(th) && qp_observe(&th->pulse) && (n || ticks))
        qp_samples_note(th, ticks, n);
}

static void pass(const interval *since)
{
    if (!(qp_load(&qp_run_head()->flags) & QP_FLAG_RECORDING))
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

/* Is an interrupt of the PC command due, whose period may be longer than that of the passes? */
static bool is_interrupt_due(uint64_t *due, uint64_t wall)
{
    if (!qp_run.is_pc_on || wall < *due)
        return false;
    uint64_t period = qp_run_head()->pc_period;
    *due += ((wall - *due) / period + 1) * period;
    return true;
}

static void *run(void *unused)
{
    qp_head *h = qp_run_head();
    uint64_t period = h->sample_period;
    uint64_t due = qp_clock_monotonic() + period, first = due;
    uint64_t interrupt_due = first - period + h->pc_period;
    uint64_t before = qp_charge_elapsed(), wall_before = first - period;
    unsigned n_costly = 0;
    (void)unused;
    pthread_setname_np(pthread_self(), "qprof");
    while (!qp_observe(&sampler.must_stop)) {
        sleep_until(due);
        uint64_t now = qp_charge_elapsed(), wall = qp_clock_monotonic();
        bool is_last = qp_observe(&sampler.must_stop); /* time up to now is to be charged */
        const interval since = {now - before, wall - wall_before,
                                !is_last && is_interrupt_due(&interrupt_due, wall)};
        pass(&since);
        if (is_last)
            break;
        before = now;
        wall_before = wall;
        qp_bump(&h->n_passes, 1);
        qp_store(&h->sample_ns, wall - first + period);
        period = throttled(period, qp_clock_monotonic() - wall, &n_costly);
        for (due += period; due < wall; due += period) /* no storm to catch up */
            qp_count(&qp_run.space, QP_D_overrun);
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
    return sampler.live != NULL;
}

bool qp_sampler_start(void)
{
    sigset_t all, before;
    pthread_attr_t attr;
    if (QP_PRODUCT_IS_COVERAGE)
        return true;
    bool wants_signal = qp_run.is_pc_on && qp_run.options.number[QP_OPT_pc_signal];
    qp_run_head()->sample_period = period_of_run();
    if (!qp_run_head()->sample_period)
        return true;
    if (wants_signal && qp_run_head()->time_mode != QP_TIME_SAMPLED && qp_pc_signal_begin())
        return true;
    qp_store(&sampler.must_stop, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the new thread takes none of the host's */
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    sampler.is_running = has_room() && pthread_create(&sampler.thread, &attr, run, NULL) == 0;
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
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
