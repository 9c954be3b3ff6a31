/* charge_parts.h: what the files of thread time share. */
#ifndef QP_RECORD_CHARGE_PARTS_H
#define QP_RECORD_CHARGE_PARTS_H

#include "record/charge.h"

/* When recording was stopped and when data were cleared, all of one moment. */
typedef struct {
    uint64_t total, since;             /* of head.stopped_* */
    uint64_t clear_raw, clear_stopped; /* of the last clear */
    uint32_t clear_count;
} qp_run_times;
qp_run_times qp_charge_run_times(void);

static inline qp_clock_kind qp_charge_kind(void)
{
    return (qp_clock_kind)qp_run_head()->clock_kind;
}

static inline bool qp_charge_is_timed(const qprof_thread *th)
{
    return QPROF_LOAD(th->gate) & (QPROF_HOOK_EXACT | QPROF_HOOK_ADAPTIVE);
}

/* Does the clock stand for everybody while recording is stopped? Else each thread parks its own. */
bool qp_charge_is_shared(void);

uint64_t qp_charge_raw_of(const qprof_thread *th, qp_clock_kind kind);

/* Raw ticks now, or of the moment when the thread's clock was stopped. */
uint64_t qp_charge_raw_now(const qprof_thread *th);

/* Methods timed by different clocks: charge the interval by the clock of the frame it belongs to. */
void qp_charge_by_class(qprof_thread *th, qprof_frame *top);

#endif
