/* interrupt.h: Ctrl-C ends what a command waits for, and not the command. */
#ifndef QP_CLI_INTERRUPT_H
#define QP_CLI_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

/* From now on SIGINT and SIGTERM only say so here. */
void qp_interrupt_take(void);
bool qp_is_interrupted(void);

/* Sleep up to a monotonic time, ns. @return false: a signal came */
bool qp_interrupt_sleep(uint64_t until);

#endif
