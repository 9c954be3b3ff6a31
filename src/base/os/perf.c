/* perf.c: performance counters of the calling thread.
 *
 * A counter is a descriptor, and a page in which the kernel says how to read the processor's own
 * register. Neither may be trusted for ever: a host may close descriptors that it does not know,
 * and a forked child has the descriptors of all the parent's threads, and not one of the pages.
 * Therefore the counters of all threads lie side by side. */
#include "base/os/perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/os/file.h"

enum { PAGE_BYTES = 4096, TRIES = 100, COUNTERS_MAX = 4096, LEVEL_OF_OWN_PROGRAM = 2 };

typedef struct {
    bool is_taken;
    int fd_1;    /* descriptor + 1; 0: none */
    uint64_t id; /* the kernel's number of it: no other descriptor has it */
    const struct perf_event_mmap_page *page;
    uint64_t last;
} counter;

static struct perf_event_attr event; /* of the process */
static pid_t owner;                  /* the process that chose it */
static counter counters[COUNTERS_MAX];
static uint32_t n_counters; /* counters from this one on were never taken */

static QP_THREAD_LOCAL counter *here;

static int open_event(void)
{
    return (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int qp_perf_choose(uint32_t type, uint64_t config)
{
    int kept = errno, refused = 0;
    event = (struct perf_event_attr){
        .type = type, .size = sizeof event, .config = config, .pinned = 1};
    owner = getpid();
    int fd = open_event();
    if (fd < 0 && (errno == EACCES || errno == EPERM)) {
        event.exclude_kernel = event.exclude_hv = 1;
        fd = open_event();
    }
    if (fd < 0)
        refused = errno;
    else
        close(fd);
    errno = kept;
    return refused;
}

/* What the kernel permits to programs; an unknown level counts as the usual one. */
static int paranoid_level(void)
{
    char text[16];
    return qp_file_text("/proc/sys/kernel/perf_event_paranoid", text, sizeof text)
               ? (int)strtoull(text, NULL, 10)
               : LEVEL_OF_OWN_PROGRAM;
}

void qp_perf_explain(int refused, char *to, size_t n_bytes)
{
    int level = paranoid_level();
    bool is_forbidden = refused == EACCES || refused == EPERM;
    if (is_forbidden && level > LEVEL_OF_OWN_PROGRAM)
        snprintf(to, n_bytes,
                 "kernel.perf_event_paranoid is %d: set it to %d, or give CAP_PERFMON", level,
                 LEVEL_OF_OWN_PROGRAM);
    else if (is_forbidden)
        snprintf(to, n_bytes, "perf_event_open is forbidden here: permit it in the container");
    else if (refused == ENOSYS)
        snprintf(to, n_bytes, "this kernel has no perf_event_open, or a container hides it");
    else if (refused == ENOENT || refused == EOPNOTSUPP || refused == ENODEV)
        snprintf(to, n_bytes, "this machine has none; a virtual machine often hides it");
    else
        snprintf(to, n_bytes, "perf_event_open fails with errno %d", refused);
}

/* ---- threads ------------------------------------------------------------------------------- */

/* Is the descriptor still the counter, or did the host close it and open another one? */
static bool is_ours(const counter *c)
{
    uint64_t id = 0;
    return c->fd_1 && ioctl(c->fd_1 - 1, PERF_EVENT_IOC_ID, &id) == 0 && id == c->id;
}

static counter *take(void)
{
    for (uint32_t i = 0; i < COUNTERS_MAX; i++) {
        if (__atomic_test_and_set(&counters[i].is_taken, __ATOMIC_ACQUIRE))
            continue;
        uint32_t n = qp_load(&n_counters);
        while (n <= i && !qp_swap_if(&n_counters, &n, i + 1))
            ;
        return &counters[i];
    }
    return NULL;
}

static void release(counter *c)
{
    if (is_ours(c))
        close(c->fd_1 - 1);
    c->fd_1 = 0;
    c->page = NULL;
    c->last = 0;
    __atomic_clear(&c->is_taken, __ATOMIC_RELEASE);
}

void qp_perf_detach(void)
{
    int kept = errno;
    counter *c = here;
    here = NULL;
    qp_signal_fence(); /* a handler does not read any more what goes now */
    if (c && c->page && owner == getpid())
        munmap((void *)(uintptr_t)c->page, PAGE_BYTES);
    if (c)
        release(c);
    errno = kept;
}

void qp_perf_attach(void)
{
    int kept = errno;
    qp_perf_detach();
    counter *c = take();
    int fd = c ? open_event() : -1;
    if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_ID, &c->id) == 0) {
        c->fd_1 = fd + 1;
        void *page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
        c->page = page == MAP_FAILED ? NULL : page;
        qp_signal_fence();
        here = c;
    } else if (c) {
        if (fd >= 0)
            close(fd);
        release(c);
    }
    errno = kept;
}

void qp_perf_forget(void)
{
    int kept = errno;
    here = NULL;
    for (uint32_t i = 0; i < n_counters; i++)
        release(&counters[i]);
    errno = kept;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The register's value belongs to the page's as long as the kernel has not written there. */
static bool read_register(QP_UNUSED const struct perf_event_mmap_page *p,
                          QP_UNUSED uint64_t *value)
{
#if defined(__x86_64__) || defined(__i386__)
    for (unsigned i = 0; p && i < TRIES; i++) {
        uint32_t lock = qp_observe(&p->lock), index = qp_load(&p->index);
        if (!p->cap_user_rdpmc || !index) /* it does not count on this processor now */
            return false;
        uint64_t count = (uint64_t)qp_load(&p->offset);
        unsigned n_unused = 64u - qp_load(&p->pmc_width);
        uint64_t bits = (uint64_t)__builtin_ia32_rdpmc((int)index - 1) << n_unused;
        count += (uint64_t)((int64_t)bits >> n_unused);
        qp_signal_fence(); /* the kernel writes it on this processor only */
        if (qp_load(&p->lock) == lock) {
            *value = count;
            return true;
        }
    }
#else
#endif
    return false;
}

static bool read_descriptor(const counter *c, uint64_t *value)
{
    int kept = errno;
    bool is_read = is_ours(c) && read(c->fd_1 - 1, value, sizeof *value) == sizeof *value;
    errno = kept;
    return is_read;
}

bool qp_perf_read(uint64_t *value)
{
    counter *c = here;
    uint64_t now = 0;
    *value = 0;
    if (!c)
        return false;
    bool is_read = read_register(c->page, &now) || read_descriptor(c, &now);
    if (is_read && now > c->last)
        c->last = now;
    *value = c->last;
    return is_read;
}
