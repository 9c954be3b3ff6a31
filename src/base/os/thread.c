/* thread.c: what a thread that lives in the host's process owes to the host; SIGXFSZ of a file that
 * reaches its limit, SIGPIPE of a reader that has ended. */
#include "base/os/thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/os/file.h"

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

/* The beginning of a file of the system about a thread. @return false: there is none */
static bool read_about(const char *file, uint64_t pid, uint64_t tid, char *to, size_t room)
{
    char process[24] = "self", path[96];
    if (pid)
        snprintf(process, sizeof process, "%llu", (unsigned long long)pid);
    snprintf(path, sizeof path, "/proc/%s/task/%llu/%s", process, (unsigned long long)tid,
             file);
    return qp_file_text(path, to, room) > 0;
}

bool qp_task_is_running(uint64_t pid, uint64_t tid)
{
    char text[128]; /* "17 (a name) R ...": there may be brackets in names */
    if (!read_about("stat", pid, tid, text, sizeof text))
        return true;
    const char *name_end = strrchr(text, ')');
    return !name_end || strncmp(name_end, ") R", 3) == 0;
}

uint64_t qp_task_cpu(uint64_t pid, uint64_t tid)
{
    char text[128];
    return read_about("schedstat", pid, tid, text, sizeof text) ? strtoull(text, NULL, 10) : 0;
}

bool qp_task_own_descriptors(void)
{
#ifdef SYS_close_range
    enum { UNSHARE = 1 << 1 }; /* CLOSE_RANGE_UNSHARE: they are not closed for the others */
    return syscall(SYS_close_range, 0u, ~0u, UNSHARE) == 0;
#else
    return false;
#endif
}

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
