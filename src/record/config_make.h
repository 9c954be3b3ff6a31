/* config_make.h: what the lines of a configuration make besides options: rules, event triggers,
 * settings of the trace. */
#ifndef QP_RECORD_CONFIG_MAKE_H
#define QP_RECORD_CONFIG_MAKE_H

#include "config/config.h"

/* What is made between the two is in force at its end, or not at all. Under the control lock.
 * @param replaces  what files before said is gone then */
void qp_config_make_begin(bool replaces);
/* @return 0 or QPROF_E_*: *error says where and why; only if is_good */
int qp_config_make_end(bool is_good, qp_config_error *error);

/* Sinks of all lines but options and pc. */
extern const qp_config_sink qp_config_making;

#endif
