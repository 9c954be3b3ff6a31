/* cost.c: measuring the cost of recording with the recorder itself.
 *
 * A burst of events on a scratch tree shows what one entry and one exit add to the caller's
 * self time, and how much of a callee's self time is the recorder's: the time between the clock
 * reading that ends the entry and the one that begins the exit, with nothing in between. */
#include "record/control/control.h"

#include "base/atomic.h"
#include "base/os/clock.h"
#include "record/run/run.h"

enum { PAIRS = 256, ROUNDS = 5 };

/* The scratch tree: cells that no extent holds, on the C stack. */
typedef struct {
    _Alignas(64) char head[QP_CELL]; /* cell 0 */
    qprof_node root, callee;         /* 1, 2 */
    qprof_frame before, frames[4];   /* 3, 4.. */
    qp_ring ring;
    qp_trace_record slot; /* of the ring */
    qp_trace_lane lane;
} scratch;

static void prepare(scratch *s, qprof_thread *th, qprof_pulse *pulse)
{
    *s = (scratch){0};
    s->root.last = s->callee.last = s->root.next = s->callee.next = 2;
    s->callee.parent = 1;
    s->callee.method_id = 1;
    s->callee.self_min = UINT64_MAX;
    s->callee.n_calls = QPROF_ADAPTIVE_FIRST; /* adaptive: a path whose calls are sampled */
    s->frames[0].node = 1;
    s->frames[0].stack_id = 1;
    *th = (qprof_thread){.gate = QPROF_GATE_OPEN | qp_recorder.hooks,
                         .countdown = 32,
                         .base = (char *)s,
                         .pulse = pulse};
    *pulse = (qprof_pulse){0};
    th->floor = pulse->top = QPROF_INDEX(th, &s->frames[0]);
    th->span = 3;
    s->lane = (qp_trace_lane){.th = th, .ring = &s->ring, .limit = UINT64_MAX};
}

void qp_cost_measure(void)
{
    qp_head *h = qp_recorder_head();
    scratch s;
    qprof_thread th;
    qprof_pulse pulse;
    uint64_t best_pair = UINT64_MAX, best_inside = UINT64_MAX;
    if (h->clock_source != QP_SOURCE_TSC || !qp_recorder.hooks)
        return; /* no clock to measure with, or no times that it would distort */
    qp_trace_lane *lane = qp_here.lane;
    qp_here.lane = &s.lane;
    for (unsigned round = 0; round < ROUNDS; round++) {
        prepare(&s, &th, &pulse);
        uint64_t start = qp_clock_tsc();
        for (unsigned i = 0; i < PAIRS; i++) {
            qprof_entry(&th, 1, 2);
            qprof_exit(&th, 1);
        }
        uint64_t whole = qp_clock_tsc() - start;
        uint64_t inside = s.callee.self;
        best_pair = whole < best_pair ? whole : best_pair;
        best_inside = inside < best_inside ? inside : best_inside;
    }
    qp_here.lane = lane;
    bool is_exact = qp_recorder.hooks & QPROF_HOOK_EXACT;
    h->cost_inside = is_exact ? best_inside * 1000 / PAIRS : 0;
    uint64_t pair = best_pair * 1000 / PAIRS;
    uint64_t outside = pair > h->cost_inside ? pair - h->cost_inside : 0;
    h->cost_entry = outside / 2;
    h->cost_exit = outside - h->cost_entry;
}
