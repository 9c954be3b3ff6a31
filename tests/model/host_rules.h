/* host_rules.h: triggers, actions and areas of random programs, for both profilers. */
#ifndef QP_TESTS_HOST_RULES_H
#define QP_TESTS_HOST_RULES_H

#include "model/operations.h"

/* Rules by these bytes; an even first one: none. */
void host_rules_begin(host *d, const uint8_t bytes[3]);

/* Operations. */
void host_rules_change(host *d, operation op);
void host_rules_gate(host *d, operation op);
void host_rules_ask(host *d);

/* What a Get Results action has saved is compared: the naive profiler calls it. */
void host_rules_results(void *host);

/* After an event: enough has been saved. */
void host_rules_settle(host *d);

/* The oldest file of the run's datasets. @return false: there is none */
bool host_rules_dataset(char *name, size_t n_bytes);

#endif
