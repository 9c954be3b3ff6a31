/* pc_signal.h: interrupts by a timer of each carrier and a signal: -pc-signal. The handler does no
 * more than the sampler's thread: it counts an interrupt (samples.h). */
#ifndef QP_RECORD_PC_SIGNAL_H
#define QP_RECORD_PC_SIGNAL_H

#include "record/thread.h"

/* Take a real-time signal that nobody uses. @return false: there is none */
bool qp_pc_signal_begin(void);
/* No timer runs any more; the signal is ignored from now on. */
void qp_pc_signal_end(void);

/* The calling carrier's timer, if the run has them. */
void qp_pc_signal_arm(qp_carrier_slot *slot);
void qp_pc_signal_disarm(qp_carrier_slot *slot);

/* In a forked child, which has no timers. */
void qp_pc_signal_forget(void);

/* Around a fork, which a signal would restart for ever. */
void qp_pc_signal_hold(bool is_held);

#endif
