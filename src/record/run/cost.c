/* cost.c: what events out of line cost, measured where they happen. Read qp_cost_add first; what an event in
 * line costs is measured at the start of the run, see control/calibrate.c.
 *
 * An event is out of line if it is a rare one, or if the run needs more than a clock for it. How long it takes
 * depends on the program: which caches it leaves to the recorder, how many call paths it has. */
#include "base/atomic.h"
#include "base/os/clock.h"
#include "record/run/run.h"

static bool is_measured;             /* the run's clock shows time */
static uint64_t no_length;           /* what an event of no length seems to take */
static uint64_t least[QP_COST_ONCE]; /* ticks of a batch, by its kind */

enum { BATCH = 32, EACH_PERIOD = 16 /* timed events */ };

uint64_t qp_cost_now(void)
{
    return qp_recorder_head()->clock_source == QP_SOURCE_TSC ? qp_clock_tsc()
                                                             : qp_clock_monotonic();
}

/* The same, when all that comes before it is done, loads that miss the caches too. */
static uint64_t now_done(void)
{
#if defined(__SSE2__)
    __builtin_ia32_lfence();
#endif
    return qp_cost_now();
}

bool qp_cost_is_measured(void)
{
    return is_measured;
}

void qp_cost_begin_run(void)
{
    const qp_head *h = qp_recorder_head();
    is_measured = h->collect & QP_COLLECT_PROFILE &&
                  (h->clock_source == QP_SOURCE_TSC || h->clock_source == QP_SOURCE_NS);
    qp_here.n_timed = 0;
    no_length = UINT64_MAX;
    for (unsigned kind = 0; kind < QP_COST_ONCE; kind++)
        qp_store(&least[kind], UINT64_MAX);
    for (unsigned i = 0; is_measured && i < QP_COST_PERIOD; i++) {
        uint64_t start = qp_cost_now(), ticks = qp_cost_now() - start;
        no_length = ticks < no_length ? ticks : no_length;
    }
}

void qp_cost_set_least(uint64_t ticks)
{
    no_length = ticks;
}

/* The events of which the nth that is timed is one. */
static uint32_t period_of(uint32_t n)
{
    return n / EACH_PERIOD < QP_COST_PERIOD ? 1 + n / EACH_PERIOD : QP_COST_PERIOD;
}

/* From 0 to twice the period less 2: the events from one that is timed to the next are as many as the period
 * is, on average. A rhythm of the program's does not matter to it. */
static int32_t next_due(uint64_t seed, uint32_t period)
{
    return (int32_t)((seed * 0x9E3779B97F4A7C15u >> 32) % (2 * period - 1));
}

uint64_t qp_cost_start(void)
{
    uint64_t start = is_measured ? qp_cost_now() : 0;
    qp_here.until_timed =
        is_measured ? next_due(start, period_of(++qp_here.n_timed)) : INT32_MAX;
    return start;
}

/* What a batch takes beyond the least of all is because its code and data were not cached. What it brings
 * into the caches displaces what the program has there, much of which is fetched again after it: that takes about
 * half as long (tests/bench/overhead.py). @return it */
static uint64_t displaced(qp_cost_kind kind, uint64_t ticks)
{
    qp_cost_batch *b = &qp_here.timed[kind];
    b->ticks += ticks;
    if (++b->n < BATCH)
        return 0;
    uint64_t all = b->ticks, smallest = qp_load(&least[kind]);
    *b = (qp_cost_batch){0};
    if (all < smallest)
        qp_store(&least[kind], smallest = all);
    return (all - smallest) / 2;
}

/* The mean of the last 64 or so that were timed. */
static void note_skip(qp_thread_record *r, int32_t sixteenths)
{
    int32_t mean = (int32_t)r->skip_ticks;
    qp_store(&r->skip_ticks, (uint32_t)(mean ? mean + (sixteenths - mean) / 64 : sixteenths));
}

void qp_cost_add(const qprof_thread *th, qp_cost_kind kind, uint64_t start)
{
    if (!is_measured)
        return;
    /* Between what a processor has to wait for and what it can do meanwhile: the mean of both. */
    bool is_done = kind == QP_COST_PART && qp_here.n_timed & 1;
    uint64_t end = is_done ? now_done() : qp_cost_now();
    uint64_t ticks = end - start > no_length ? end - start - no_length : 0;
    if (!start || !qp_is_open(th) || (int64_t)(end - start) < 0)
        return;
    qp_thread_record *r = qp_record_of(th);
    if (QPROF_LOAD(th->gate) & (QP_HOOK_STOPPED | QP_HOOK_OFF)) { /* no time is the run's */
        if (ticks < QPROF_LONG)
            note_skip(r, (int32_t)ticks * 16);
        return;
    }
    uint32_t period = period_of(qp_here.n_timed - 1);
    if (kind == QP_COST_EVENT)
        qp_bump(&r->n_apart, period);
    /* one that has lost the processor, or has waited for the disk, is not like others */
    if (kind != QP_COST_ONCE && ticks < QPROF_LONG)
        ticks = (ticks + displaced(kind, ticks)) * period;
    qp_bump(&r->apart_ticks, ticks);
}
