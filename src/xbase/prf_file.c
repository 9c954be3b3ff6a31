/* prf_file.c: the one place of the room that writes files. */
#include "xbase/prf_file.h"

#include "base/os/file.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MIN_FD = 1000 /* out of the way of hosts that close low descriptors */ };

static int open_plain(const char *path, int flags, int *fd)
{
    struct stat st;
    int low =
        open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | flags, 0600);
    if (low < 0)
        return errno;
    if (fstat(low, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(low);
        return EINVAL;
    }
    *fd = fcntl(low, F_DUPFD_CLOEXEC, MIN_FD);
    if (*fd < 0)
        *fd = low;
    else
        close(low);
    return 0;
}

int qp_prf_file_open(qp_prf_file *f)
{
    f->at = 0;
    f->n_bytes = 0;
    return open_plain(f->path, O_TRUNC, &f->fd);
}

int qp_prf_file_flush(qp_prf_file *f)
{
    size_t done;
    int error = qp_file_write_at(f->fd, f->bytes, f->n_bytes, f->at, &done);
    f->at += done;
    f->n_bytes -= done;
    memmove(f->bytes, f->bytes + done, f->n_bytes);
    return error;
}

int qp_prf_file_add(qp_prf_file *f, const void *bytes, size_t n_bytes)
{
    const char *from = bytes;
    while (n_bytes) {
        int error = f->n_bytes == sizeof f->bytes ? qp_prf_file_flush(f) : 0;
        if (error)
            return error;
        size_t room = sizeof f->bytes - f->n_bytes, n = n_bytes < room ? n_bytes : room;
        memcpy(f->bytes + f->n_bytes, from, n);
        f->n_bytes += n;
        from += n;
        n_bytes -= n;
    }
    return 0;
}

int qp_prf_file_head(qp_prf_file *f, const void *bytes, size_t n_bytes)
{
    size_t unused;
    return qp_file_write_at(f->fd, bytes, n_bytes, 0, &unused);
}

int qp_prf_file_cut(qp_prf_file *f, uint64_t n_bytes)
{
    f->n_bytes = 0;
    f->at = n_bytes;
    return ftruncate(f->fd, (off_t)n_bytes) == 0 ? 0 : errno;
}

int qp_prf_file_close(qp_prf_file *f)
{
    int error = f->fd < 0 || close(f->fd) == 0 ? 0 : errno;
    f->fd = -1;
    return error;
}

int qp_prf_file_write(const char *path, bool is_new, const void *bytes, size_t n_bytes)
{
    int fd;
    size_t unused;
    int error = open_plain(path, is_new ? O_TRUNC : 0, &fd);
    if (error)
        return error;
    error = qp_file_write_at(fd, bytes, n_bytes, 0, &unused);
    return close(fd) == 0 || error ? error : errno;
}

bool qp_prf_file_remove(const char *path)
{
    return unlink(path) == 0;
}
