/* sampler.h: the thread that supplies the times of -time=sampled. It reads what the recording
 * threads publish anyway; no signal is sent and nobody waits. */
#ifndef QP_RECORD_SAMPLER_H
#define QP_RECORD_SAMPLER_H

#include "record/session.h"

/* @return false: it could not be started, which is counted; recording works without samples */
bool qp_sampler_start(void);
void qp_sampler_stop(void);

#endif
