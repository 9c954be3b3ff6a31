/* sampler.h: the thread that makes interrupts, for the PC command and for -time=sampled. */
#ifndef QP_RECORD_SAMPLER_H
#define QP_RECORD_SAMPLER_H

#include "record/session.h"

/* Start it, if the options ask for interrupts.
 * @return false: it could not be started, which is counted; recording works without samples */
bool qp_sampler_start(void);
void qp_sampler_stop(void);
/* In a forked child: the thread and the timers are the parent's. */
void qp_sampler_forget(void);

#endif
