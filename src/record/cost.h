/* cost.h: what recording itself costs, measured at the start of each run. */
#ifndef QP_RECORD_COST_H
#define QP_RECORD_COST_H

#include "record/session.h"

/* Measure and write head.cost_*, on a scratch tree; takes some microseconds. */
void qp_cost_measure(void);

#endif
