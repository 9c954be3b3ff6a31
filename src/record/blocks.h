/* blocks.h: what was counted and timed below the level of methods.
 *
 * A bank holds the counters of one method on one thread; a node knows its banks. */
#ifndef QP_RECORD_BLOCKS_H
#define QP_RECORD_BLOCKS_H

#include "record/thread.h"

/* Block bb of the method on top was executed n more times. top: not the root frame. */
void qp_blocks_count(qprof_thread *th, qprof_frame *top, int bb, uint64_t n);

/* Block bb of the method on top begins now. */
void qp_blocks_mark(qprof_thread *th, qprof_frame *top, int bb);

/* Add n units to the call on top. */
void qp_blocks_units(qprof_thread *th, qprof_frame *top, uint64_t n);

/* Charge the block of a marked frame up to now; its own time has been charged to the frame. */
void qp_blocks_settle(qprof_thread *th, qprof_frame *f, uint64_t now);

/* Counters that the host increments: one a jump, or one a block. @return NULL: nothing to count */
uint64_t *qp_blocks_counters(qprof_thread *th, qp_cell method);

/* Zero the thread's banks. */
void qp_blocks_zero(qprof_thread *th);

#endif
