/* host_rules.h: triggers, actions and areas of random programs, for both profilers. */
#ifndef QP_TESTS_HOST_TRIGGERS_H
#define QP_TESTS_HOST_TRIGGERS_H

#include "model/operations.h"

/* Rules by these bytes; an even first one: none. */
void host_triggers_begin(host *d, const uint8_t bytes[3]);

/* Operations. */
void host_triggers_change(host *d, operation op);
void host_triggers_gate(host *d, operation op);
void host_triggers_ask(host *d);

/* What a Get Results action has saved is compared: the naive profiler calls it. */
void host_triggers_results(void *host);

/* After an event: enough has been saved. */
void host_triggers_settle(host *d);

/* The oldest file of the run's datasets. @return false: there is none */
bool host_triggers_dataset(char *name, size_t n_bytes);

#endif
