/* linux.c: what Linux has beyond POSIX, for glibc and musl. */
#include "base/os/system.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/file.h"
#include "base/os/thread.h"

uint64_t qp_system_thread_id(void)
{
    return (uint64_t)syscall(SYS_gettid);
}

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

bool qp_system_wipe_on_fork(void *p, size_t n_bytes)
{
    return madvise(p, n_bytes, MADV_WIPEONFORK) == 0;
}

void qp_system_barrier_begin(void)
{
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

bool qp_system_barrier(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool qp_system_random(void *to, size_t n_bytes)
{
    return getrandom(to, n_bytes, GRND_NONBLOCK) == (ssize_t)n_bytes;
}

bool qp_system_is_privileged(void)
{
    return getauxval(AT_SECURE) != 0;
}

void qp_system_program(char *to, size_t n_bytes)
{
    ssize_t n = readlink("/proc/self/exe", to, n_bytes - 1);
    to[n > 0 ? n : 0] = '\0';
}

uint64_t qp_system_process_start(void)
{
    char text[1024];
    qp_file_text("/proc/self/stat", text, sizeof text);
    const char *at = strrchr(text, ')'); /* the end of field 2, which may hold anything */
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

void qp_system_bell_wait(const uint32_t *bell, uint32_t heard, uint64_t most_ns)
{
    struct timespec most = {(time_t)(most_ns / 1000000000), (long)(most_ns % 1000000000)};
    syscall(SYS_futex, bell, FUTEX_WAIT, heard, &most, NULL, 0);
}

bool qp_system_bell_ring(const uint32_t *bell, int n_most)
{
    return syscall(SYS_futex, bell, FUTEX_WAKE, n_most, NULL, NULL, 0) > 0;
}

const char *qp_system_next_name(qp_folder *f)
{
    enum { LENGTH_AT = 16, NAME_AT = 19 }; /* of linux_dirent64 */
    uint16_t n_bytes;
    if (f->at == f->n) {
        f->n = (int)syscall(SYS_getdents64, f->fd, f->bytes, sizeof f->bytes);
        f->at = 0;
    }
    if (f->n <= 0)
        return NULL;
    const char *entry = f->bytes + f->at;
    memcpy(&n_bytes, entry + LENGTH_AT, sizeof n_bytes);
    f->at += n_bytes;
    return entry + NAME_AT;
}

void qp_system_name_thread(const char *name)
{
    pthread_setname_np(pthread_self(), name);
}

/* ---- tasks: thread.h ----------------------------------------------------------------------- */

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

uint64_t qp_task_delay(uint64_t tid)
{
    char text[128], *end = text;
    if (!read_about("schedstat", 0, tid, text, sizeof text))
        return 0;
    strtoull(text, &end, 10);
    return strtoull(end, NULL, 10);
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
