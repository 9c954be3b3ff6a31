/* own_thread.c: what a thread that lives in somebody else's process owes to it. */
#include "base/os/own_thread.h"

#include <signal.h>

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
