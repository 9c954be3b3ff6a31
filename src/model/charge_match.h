/* charge_match.h: a call pattern against all call paths of a profile. */
#ifndef QP_MODEL_CHARGE_MATCH_H
#define QP_MODEL_CHARGE_MATCH_H

#include "code/pattern.h"
#include "model/charge.h"

/* Fill c->nodes; c->modules are there. @return false: no memory */
bool qp_charge_match(qp_charges *c, const qp_pattern *p, bool only_hit);

#endif
