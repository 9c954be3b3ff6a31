/* charge.h: thread time outside of the inline path: clocks, stops, parking, clears.
 *
 * A thread's time is its clock's raw ticks less an offset; whatever must not be charged to it
 * grows the offset. So every interval between two events is charged by one subtraction. */
#ifndef QP_RECORD_CHARGE_H
#define QP_RECORD_CHARGE_H

#include "record/thread.h"

/* Choose the clocks of the run by its options and write them into the head.
 * @return 0, QPROF_E_UNSUPPORTED or QPROF_E_OPTION; the hooks that follow go to qp_run.hooks */
int qp_charge_begin(uint64_t (*host_clock)(void), qp_parse_error *error);

/* The calling system thread is measured from now on. */
void qp_charge_begin_carrier(void);

/* Raw ticks of the run's elapsed clock now. */
uint64_t qp_charge_elapsed(void);

/* Nanoseconds of that many of its ticks, by the calibration so far. */
uint64_t qp_charge_ns(uint64_t ticks);

/* Write the second point of the calibration. */
void qp_charge_calibrate(void);

/* Thread time now, never before the last event. */
uint64_t qp_charge_now(qprof_thread *th);

/* Charge the time up to now to a frame, which is the thread's top. */
void qp_charge(qprof_thread *th, qprof_frame *top, uint64_t now);

/* Charge a frame that ends now, and whose time was charged to it, to its call path. */
void qp_charge_settle(qprof_thread *th, qprof_frame *f, uint64_t now);

/* The owner learns of stops, starts and clears since it last looked. @param top its top frame */
void qp_charge_sync(qprof_thread *th, qprof_frame *top);

/* The thread's status: while it is off, its clock stands and its calls are skips.
 * @param raw  when another thread said so, raw ticks; 0: now
 * @param is_parked  nobody drives it: see qp_charge_park() */
void qp_charge_turn(qprof_thread *th, qprof_frame *top, bool on, uint64_t raw, bool is_parked);

/* The thread's clock stands from now on, and runs again. @param top its top frame, or NULL */
void qp_charge_park(qprof_thread *th, qprof_frame *top);
void qp_charge_unpark(qprof_thread *th, qprof_frame *top);

/* It went on on another carrier without being parked. */
void qp_charge_migrate(qprof_thread *th);

#endif
