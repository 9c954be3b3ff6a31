/* signal.c: SIGXFSZ of a file that reaches its limit, SIGPIPE of a reader that went away. */
#include "base/os/signal.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

void qp_signal_hold_begin(qp_signal_hold *h, int number)
{
    sigset_t pending;
    sigemptyset(&h->held);
    sigaddset(&h->held, number);
    sigpending(&pending);
    h->was_pending = sigismember(&pending, number) == 1;
    pthread_sigmask(SIG_BLOCK, &h->held, &h->before);
}

void qp_signal_hold_end(qp_signal_hold *h)
{
    const struct timespec at_once = {0, 0};
    int host_errno = errno;
    if (!h->was_pending)
        while (sigtimedwait(&h->held, NULL, &at_once) > 0)
            ;
    pthread_sigmask(SIG_SETMASK, &h->before, NULL);
    errno = host_errno;
}
