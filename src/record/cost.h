/* cost.h: what recording itself costs, measured at the start of each run. */
#ifndef QP_RECORD_COST_H
#define QP_RECORD_COST_H

#include "record/session.h"

/* Measure and write head.cost_*. On a thread of its own in the file's tables that is removed
 * again; costs some microseconds. */
void qp_cost_measure(void);

#endif
