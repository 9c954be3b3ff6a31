/* calibrate.c: what events in line cost, measured at the start of the run. Read measure_burst first; events out
 * of line are timed where they happen, see run/cost.c.
 *
 * A burst of events on a scratch tree shows what one entry and one exit add to the caller's self
 * time, and how much of a callee's self time is the recorder's: the time between the clock reading
 * that ends the entry and the one that begins the exit, with nothing in between. A host that executes calls for
 * it, with and without events, shows what a call costs in its own loop. */
#include "base/os/clock.h"
#include "base/text/wide.h"
#include "record/clock/clock.h"
#include "record/control/control.h"
#include "record/event/event.h"
#include "record/ring/ring.h"

enum { PAIRS = 256, ROUNDS = 5, HOST_ROUNDS = 7 };

/* The scratch tree: cells that no extent holds, on the C stack. */
typedef struct {
    _Alignas(64) char head[QP_CELL]; /* cell 0 */
    qprof_node root, callee;         /* 1, 2 */
    qp_method method;                /* 3 */
    qprof_frame before, frames[4];   /* 4, 5.. */
    qp_ring ring;
    qp_trace_record slot; /* of the ring */
    qp_trace_lane lane;
} scratch;

static void prepare(scratch *s, qprof_thread *th, qprof_pulse *pulse, uint32_t hooks)
{
    *s = (scratch){0};
    s->root.last = s->callee.last = 2ull * QP_CELL;
    s->root.next = s->callee.next = 2;
    s->root.self_min = s->callee.self_min = QP_NO_MIN; /* adaptive: no call is timed */
    s->callee.parent = 1;
    s->callee.method = 3;
    s->method.id = 1;
    s->frames[0].node = QP_CELL;
    s->frames[0].stack_id = 1;
    *th = (qprof_thread){.gate = QPROF_GATE_OPEN | hooks,
                         .base = (char *)s,
                         .tick = &qp_recorder_tick,
                         .pulse = pulse};
    *pulse = (qprof_pulse){0};
    if (qp_recorder_head()->clock_source == QP_SOURCE_TSC)
        pulse->last = qp_clock_tsc(); /* no long interval before the first call */
    th->floor = th->low = pulse->top = QPROF_OFFSET(th, &s->frames[0]);
    th->span = 3 * sizeof(qprof_frame);
    s->lane = (qp_trace_lane){.th = th, .ring = &s->ring, .limit = UINT64_MAX};
}

/* In place of what the inline path calls out of line, which would take the scratch tree for a file: this
 * process has lost the processor, and the round counts for nothing. */
static bool is_disturbed;

static void drop_entry(QP_UNUSED qprof_thread *th, QP_UNUSED uintptr_t method,
                       QP_UNUSED uintptr_t id)
{
    is_disturbed = true;
}

static void drop_exit(QP_UNUSED qprof_thread *th, QP_UNUSED uintptr_t id)
{
    is_disturbed = true;
}

static qprof_token drop_enter(QP_UNUSED qprof_thread *th, QP_UNUSED qprof_token caller,
                              QP_UNUSED uintptr_t method)
{
    is_disturbed = true;
    return QPROF_NO_TOKEN;
}

static void drop_leave(QP_UNUSED qprof_thread *th, QP_UNUSED qprof_token token)
{
    is_disturbed = true;
}

/* A call by the body of the inline path that the run uses. */
static void call(qprof_thread *th)
{
    uint32_t gate = th->gate;
    if (gate >= QPROF_HOOK_STACK) {
        qprof_cold_entry(th, 1, 2);
        qprof_cold_exit(th, 1);
    } else if (gate & QPROF_HOOK_EXACT) {
        qprof_timed_entry(th, gate, 1, 2);
        qprof_timed_exit(th, 1);
    } else if (gate & QPROF_HOOK_ADAPTIVE) {
        qprof_untimed_entry(th, 1, 2);
        qprof_untimed_exit(th, 1);
    } else {
        qprof_entry(th, 1, 2);
        qprof_exit(th, 1);
    }
}

/* In thousandths of a tick: a call, and its part between both readings of the clock. */
typedef struct {
    uint64_t whole, inside;
} call_cost;

static void store(call_cost cost)
{
    qp_head *h = qp_recorder_head();
    h->cost_inside = cost.inside < cost.whole ? cost.inside : cost.whole;
    h->cost_entry = (cost.whole - h->cost_inside) / 2;
    h->cost_exit = cost.whole - h->cost_inside - h->cost_entry;
}

static const qp_event_calls drops = {drop_entry, drop_exit, drop_enter, drop_leave};

static void measure_burst(void)
{
    scratch s;
    qprof_thread th;
    qprof_pulse pulse;
    const uint32_t hooks = qp_recorder.hooks;
    uint64_t best_pair = UINT64_MAX, best_inside = UINT64_MAX, best_apart = UINT64_MAX;
    if (hooks & QPROF_HOOK_ADAPTIVE) {
        prepare(&s, &th, &pulse, hooks);
        qp_adaptive_measure(&th, &s.callee);
    }
    if (!qp_cost_is_measured() ||
        (hooks & (QP_HOOK_CHECK | QP_HOOK_CLASSES | QPROF_HOOK_COLD | QPROF_HOOK_STACK)))
        return;
    qp_trace_lane *lane = qp_here.lane;
    const qp_event_calls usual = qp_on_event;
    qp_on_event = drops;
    qp_here.lane = &s.lane;
    for (unsigned round = 0; round < ROUNDS; round++) {
        is_disturbed = false;
        prepare(&s, &th, &pulse, hooks);
        uint64_t start = qp_cost_now();
        for (unsigned i = 0; i < PAIRS; i++)
            call(&th);
        uint64_t whole = qp_cost_now() - start;
        uint64_t inside = s.callee.self, apart = 0;
        for (unsigned i = 0; i < PAIRS; i++) {
            start = qp_cost_now();
            call(&th);
            apart += qp_cost_now() - start;
        }
        if (is_disturbed)
            continue;
        best_pair = whole < best_pair ? whole : best_pair;
        best_inside = inside < best_inside ? inside : best_inside;
        best_apart = apart < best_apart ? apart : best_apart;
    }
    qp_here.lane = lane;
    qp_on_event = usual;
    if (best_pair == UINT64_MAX)
        return;
    if (best_apart > best_pair)
        qp_cost_set_least((best_apart - best_pair) / PAIRS);
    if (!(hooks & QPROF_HOOK_EXACT))
        best_inside = 0;
    store((call_cost){best_pair * 1000 / PAIRS, best_inside * 1000 / PAIRS});
}

void qp_calibrate(void)
{
    qp_here.until_timed = INT32_MAX; /* the scratch thread has no record */
    measure_burst();
    qp_here.until_timed = 0;
}

/* What a call costs in the host's own loop, in thousandths of a tick; UINT64_MAX: unknown. */
static uint64_t host_cost(qprof_calls_function execute, void *data, unsigned n, uint32_t hooks)
{
    scratch s;
    qprof_thread th;
    qprof_pulse pulse;
    uint64_t plain = UINT64_MAX, recorded = UINT64_MAX;
    for (unsigned round = 0; round < HOST_ROUNDS; round++) {
        is_disturbed = false;
        uint64_t start = qp_cost_now();
        execute(data, &qp_closed_thread, QPROF_NO_TOKEN, 0);
        uint64_t middle = qp_cost_now();
        prepare(&s, &th, &pulse, hooks | QPROF_HOOK_TOKENS);
        pulse.top = QP_CELL | QPROF_TOP_TOKEN;
        execute(data, &th, pulse.top, 1);
        uint64_t end = qp_cost_now();
        plain = middle - start < plain ? middle - start : plain;
        if (!is_disturbed && s.callee.n_calls >= n)
            recorded = end - middle < recorded ? end - middle : recorded;
    }
    if (recorded == UINT64_MAX)
        return UINT64_MAX;
    return recorded > plain ? (recorded - plain) * 1000 / n : 0;
}

void qp_calibrate_host(qprof_calls_function execute, void *data, unsigned n, bool is_native)
{
    qp_head *h = qp_recorder_head();
    const uint32_t in_line = QPROF_HOOK_EXACT | QPROF_HOOK_ADAPTIVE | QPROF_GATE_CLOCK;
    const uint32_t hooks = qp_recorder.hooks;
    if (!qp_cost_is_measured() || !n)
        return;
    const qp_event_calls usual = qp_on_event;
    qp_on_event = drops;
    qp_here.until_timed = INT32_MAX;
    uint64_t host = host_cost(execute, data, n, 0);
    uint64_t whole = hooks & in_line & ~QPROF_GATE_CLOCK && !(hooks & ~in_line)
                         ? host_cost(execute, data, n, hooks)
                         : host;
    qp_here.until_timed = 0;
    qp_on_event = usual;
    if (host == UINT64_MAX || whole == UINT64_MAX)
        return;
    uint64_t burst = h->cost_entry + h->cost_exit + h->cost_inside;
    if (is_native) {
        h->cost_native = whole > burst ? whole - burst : 0;
        return;
    }
    h->cost_host = host;
    store((call_cost){whole, burst ? qp_product_share(whole, h->cost_inside, 0, burst) : 0});
}
