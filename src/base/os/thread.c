/* thread.c: what a thread that lives in the host's process owes to the host; SIGXFSZ of a file that
 * reaches its limit, SIGPIPE of a reader that has ended. */
#include "base/os/thread.h"

#include <errno.h>
#include <time.h>

#include "base/atomic.h"

#if defined(QPROF_NO_THREADS)
bool qp_own_thread_start(QP_UNUSED pthread_t *thread, QP_UNUSED void *(*run)(void *unused),
                         QP_UNUSED size_t stack_bytes)
{
    return false;
}

bool qp_helper_thread_start(QP_UNUSED pthread_t *thread, QP_UNUSED void *(*run)(void *to),
                            QP_UNUSED void *to)
{
    return false;
}
#else
bool qp_helper_thread_start(pthread_t *thread, void *(*run)(void *to), void *to)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_started = pthread_create(thread, NULL, run, to) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

bool qp_own_thread_start(pthread_t *thread, void *(*run)(void *unused), size_t stack_bytes)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* inherited: there is no moment without */
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    bool is_started = pthread_create(thread, &attributes, run, NULL) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (is_started)
        pthread_setname_np(*thread, "qprof");
    return is_started;
}
#endif

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
