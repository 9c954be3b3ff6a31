/* earlier.c: see trace.h. */
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/os/file.h"
#include "format/layout.h"
#include "format/trace.h"

uint64_t qp_profile_completed(const qp_head *h, int fd)
{
    struct stat st;
    if (h->ended_at)
        return h->ended_at;
    return fstat(fd, &st) == 0
               ? (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec
               : UINT64_MAX;
}

bool qp_earlier_profile(const void *own, int fd)
{
    const qp_head *h = own;
    qp_head old;
    size_t n = qp_file_read_at(fd, &old, sizeof old, 0);
    if (!n)
        return true;
    return n == sizeof old && memcmp(old.magic, QP_MAGIC, sizeof old.magic) == 0 &&
           qp_profile_completed(&old, fd) < h->run_at;
}

bool qp_earlier_trace(const void *own, int fd)
{
    const qp_head *h = own;
    qp_trace_file old;
    size_t n = qp_file_read_at(fd, &old, sizeof old, 0);
    bool is_earlier = n == sizeof old &&
                      memcmp(old.magic, QP_TRACE_MAGIC, sizeof old.magic) == 0 &&
                      old.started_at < h->run_at;
    return (!n || is_earlier) && flock(fd, LOCK_EX | LOCK_NB) == 0;
}
