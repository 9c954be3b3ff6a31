/* signal.h: keeping a signal that one of our system calls may raise from the host. */
#ifndef QP_BASE_OS_SIGNAL_H
#define QP_BASE_OS_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

typedef struct {
    sigset_t held, before;
    bool was_pending;
} qp_signal_hold;

/* From here to the end, this signal stays off the calling thread. */
void qp_signal_hold_begin(qp_signal_hold *h, int number);

/* What came meanwhile is forgotten, unless one was pending before. Preserves errno. */
void qp_signal_hold_end(qp_signal_hold *h);

#endif
