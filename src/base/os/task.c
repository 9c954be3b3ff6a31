/* task.c: see task.h. */
#include "base/os/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/file.h"

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
