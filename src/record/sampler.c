/* sampler.c: one pass each period over the threads that a carrier drives.
 *
 * The call path of a thread is one word of its record, the top frame: a pass sees the stack before
 * or after an event and never half of it. A sample is worth the time since the thread's sample
 * before: elapsed ticks, or CPU time of its carrier. */
#include "record/sampler.h"

#include <pthread.h>
#include <signal.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "record/charge.h"
#include "record/stack.h"
#include "record/tree.h"

enum { STACK_BYTES = 64 * 1024, CPU_TIMES_MAX = 4096, SLICE_NS = 5000000 };

static struct {
    pthread_t thread;
    bool is_running;
    uint32_t must_stop;
    uint64_t n_passes;
    struct {
        uint64_t cpu, pass, system_id; /* when it was looked at last, and on which carrier */
    } seen[CPU_TIMES_MAX];             /* the first threads, by their handle */
} sampler;

/* CPU time of a thread since the pass before, in ns; 0 if it was not seen there then. */
static uint64_t cpu_step(uint32_t i, const qprof_thread *th)
{
    if (i >= CPU_TIMES_MAX)
        return 0;
    uint64_t system_id = qp_load(&qp_record_of(th)->system_id);
    uint64_t now = qp_clock_cpu_of((int)system_id), before = sampler.seen[i].cpu;
    bool is_next =
        sampler.seen[i].pass + 1 == sampler.n_passes && sampler.seen[i].system_id == system_id;
    sampler.seen[i].cpu = now;
    sampler.seen[i].pass = sampler.n_passes;
    sampler.seen[i].system_id = system_id;
    return is_next && now > before ? now - before : 0;
}

/* Credit the call path that a thread is on. In this mode nobody else writes these two fields. */
static void sample(const qprof_thread *th, uint64_t ticks)
{
    uint32_t top = qp_observe(&th->pulse->top) & ~QPROF_TOP_BUSY;
    const qprof_frame *f = QPROF_CELL(th, qprof_frame, top);
    qprof_node *n = qp_node_at(th, QPROF_LOAD(f->node));
    if (!QPROF_LOAD(n->parent)) /* the root: the stack is empty */
        return;
    QPROF_ADD(n->self, ticks);
    QPROF_ADD(n->self_max, 1);
}

static void pass(uint64_t elapsed_ticks)
{
    bool is_elapsed = qp_run_head()->clock_kind == QP_CLOCK_ELAPSED;
    sampler.n_passes++;
    if (!(qp_load(&qp_run_head()->flags) & QP_FLAG_RECORDING))
        return;
    for (uint32_t i = 0; qp_threads_at(i); i++) {
        const qprof_thread *th = qp_threads_at(i);
        if (!qp_is_open(th) || !QPROF_LOAD(th->carrier) || !qp_observe(&th->pulse) ||
            !(qp_observe(&th->pulse->top) & ~QPROF_TOP_BUSY))
            continue;
        uint64_t ticks = is_elapsed ? elapsed_ticks : cpu_step(i, th);
        if (ticks)
            sample(th, ticks);
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

static void *run(void *unused)
{
    uint64_t period = qp_run_head()->sample_period;
    uint64_t due = qp_clock_monotonic() + period, first = due;
    uint64_t before = qp_charge_elapsed();
    (void)unused;
    pthread_setname_np(pthread_self(), "qprof");
    while (!qp_observe(&sampler.must_stop)) {
        sleep_until(due);
        uint64_t now = qp_charge_elapsed(), wall = qp_clock_monotonic();
        pass(now - before);
        before = now;
        qp_bump(&qp_run_head()->n_passes, 1);
        qp_store(&qp_run_head()->sample_ns, wall - first + period);
        for (due += period; due < wall; due += period) /* no storm to catch up */
            qp_count(&qp_run.space, QP_D_overrun);
    }
    return NULL;
}

bool qp_sampler_start(void)
{
    sigset_t all, before;
    pthread_attr_t attr;
    qp_run_head()->sample_period = qp_run.options.number[QP_OPT_sample_period] * 1000;
    qp_store(&sampler.must_stop, 0);
    sampler.n_passes += 2; /* nothing of an earlier run was seen in the pass before */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the new thread takes none of the host's */
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    sampler.is_running = pthread_create(&sampler.thread, &attr, run, NULL) == 0;
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!sampler.is_running)
        qp_count(&qp_run.space, QP_D_sampler_unavailable);
    return sampler.is_running;
}

void qp_sampler_stop(void)
{
    if (!sampler.is_running)
        return;
    qp_publish(&sampler.must_stop, 1);
    pthread_join(sampler.thread, NULL);
    sampler.is_running = false;
}
