/* trace_cursor.c: see trace_cursor.h. */
#include "record/stream/trace_cursor.h"

#include "base/os/clock.h"
#include "record/ring/ring.h"
#include "record/run/run.h"

uint64_t qp_trace_cursor_time(const qp_trace_cursor *c)
{
    const qp_trace_record *r = qp_trace_cursor_record(c, 0);
    return qp_trace_op_of(r) < QP_TRACE_TEXT ? r->word & QP_TRACE_TICKS : 0;
}

bool qp_trace_cursor_switches(const qp_trace_cursor *c)
{
    return qp_trace_op_of(qp_trace_cursor_record(c, 0)) == QP_TRACE_SWITCH;
}

char qp_trace_cursor_text(const qp_trace_cursor *c, uint64_t i)
{
    const qp_trace_record *r = qp_trace_cursor_record(c, 1 + i / QP_TRACE_TEXT_BYTES);
    unsigned at = (unsigned)(i % QP_TRACE_TEXT_BYTES);
    uint64_t word = at < 7 ? r->word : at < 11 ? r->a : r->b;
    return (char)(word >> (8 * (at < 7 ? at : (at - 7) % 4)));
}

double qp_trace_ms_per_tick(void)
{
    const qp_head *h = qp_recorder_head();
    if (h->clock_source != QP_SOURCE_TSC)
        return 1e-6;
    uint64_t ns = qp_clock_monotonic() - h->ns_0, ticks = qp_clock_tsc() - h->tick_0;
    return ticks ? (double)ns / (double)ticks / 1e6 : 0;
}

bool qp_trace_clock_may_fall(void)
{
    return qp_recorder_head()->clock_source == QP_SOURCE_HOST;
}

uint64_t qp_trace_newest(uint64_t until)
{
    const qp_ring *ring;
    for (uint32_t i = 0; qp_trace_clock_may_fall() && (ring = qp_trace_ring_at(i)); i++) {
        qp_trace_cursor c = {.at = qp_observe(&ring->head), .mask = ring->n_slots - 1};
        c.records = qp_trace_ring_records(ring);
        while (c.at &&
               !qp_trace_has_ticks(qp_trace_op_of(qp_trace_cursor_record(&c, UINT64_MAX))))
            c.at--; /* texts */
        uint64_t last =
            c.at ? qp_trace_cursor_record(&c, UINT64_MAX)->word & QP_TRACE_TICKS : 0;
        until = last > until ? last : until;
    }
    return until;
}
