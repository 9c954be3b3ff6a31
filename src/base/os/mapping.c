/* mapping.c: the live file and the memory over it.
 *
 * Read qp_mapping_grow first: it is the one place where the recorder meets a full disk, a lowered
 * file size limit or a descriptor that the host closed. */
#include "base/os/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/os/file.h"
#include "base/os/thread.h"

enum {
    STEP_BYTES = 1 << 20,       /* 256 pages: a growth of about 0.1 ms every 16,000 cells */
    FIRST_STEP_BYTES = 1 << 18, /* small programs stay small */
    MIN_RESERVE_BYTES = 1 << 20,
    PAGE_MOST = 1 << 16, /* the largest page of any system */
    SHARE = 4            /* of the address space: one part in four */
};

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static struct {
    unsigned n_left; /* growths until one fails; 0: never */
    bool for_ever;
} failing;

void qp_mapping_fail_after(unsigned n, bool for_ever)
{
    failing.n_left = n;
    failing.for_ever = for_ever;
}

static bool growth_must_fail(void)
{
    if (QP_LIKELY(!failing.n_left))
        return false;
    if (failing.n_left > 1)
        return --failing.n_left == 0;
    failing.n_left = failing.for_ever;
    return true;
}

static int create_file(qp_mapping *m, const char *path)
{
    struct stat st;
    size_t n_bytes = strlen(path) + 1;
    if (n_bytes > sizeof m->path)
        return ENAMETOOLONG;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno;
    m->fd = qp_file_raise(fd);
    if (fstat(m->fd, &st) != 0) {
        int error = errno;
        close(m->fd);
        unlink(path);
        return error;
    }
    m->device = st.st_dev;
    m->inode = st.st_ino;
    memcpy(m->path, path, n_bytes);
    return 0;
}

/* Memory without a file is not accessible until it is needed: the system sets memory aside for what
 * can be written, if it does so strictly. A shared file is no such memory.
 * @param at  where it lies, in place of what is there; NULL: anywhere. @return NULL: not possible */
static char *reserve_at(const qp_mapping *m, char *at, size_t n_bytes)
{
    bool has_file = m->fd >= 0;
    int access = has_file ? PROT_READ | PROT_WRITE : PROT_NONE;
    int flags = has_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *base = mmap(at, n_bytes, access, flags | (at ? MAP_FIXED : 0), m->fd, 0);
    return base == MAP_FAILED ? NULL : base;
}

static char *reserve(const qp_mapping *m, size_t *n_bytes)
{
    char *base = NULL;
    for (; !base && *n_bytes >= MIN_RESERVE_BYTES; *n_bytes /= base ? 1 : 2)
        base = reserve_at(m, NULL, *n_bytes);
    return base;
}

uint64_t qp_mapping_share(uint64_t wanted_bytes, uint64_t space_bytes)
{
    uint64_t share = space_bytes / 4096 / SHARE * 4096;
    if (share < MIN_RESERVE_BYTES)
        share = MIN_RESERVE_BYTES;
    return wanted_bytes < share ? wanted_bytes : share;
}

uint64_t qp_mapping_address_space(void)
{
    const uint64_t all = sizeof(void *) > 4 ? UINT64_MAX : UINT64_C(2) << 30;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return all;
    return limit.rlim_cur < all ? limit.rlim_cur : all;
}

static void undo(qp_mapping *m)
{
    if (m->base)
        munmap(m->base, m->reserved_bytes);
    if (m->fd >= 0) {
        close(m->fd);
        unlink(m->path);
    }
    *m = (qp_mapping){.fd = -1};
}

int qp_mapping_open(qp_mapping *m, const char *path, size_t limit_bytes)
{
    *m = (qp_mapping){.fd = -1};
    if (path) {
        int error = create_file(m, path);
        if (error)
            return error;
    }
    m->base = reserve(m, &limit_bytes);
    m->limit_bytes = m->reserved_bytes = limit_bytes;
    int error = m->base ? 0 : ENOMEM;
    if (!error && qp_mapping_grow(m, FIRST_STEP_BYTES) != QP_GROWN)
        error = ENOSPC;
    if (!error)
        madvise(m->base, m->limit_bytes, MADV_DONTFORK);
    else
        undo(m);
    return error;
}

/* Is the descriptor still our file? If not, open the file again by its name. */
static bool own_fd(qp_mapping *m)
{
    struct stat st;
    int fd = qp_load(&m->fd);
    if (fstat(fd, &st) == 0 && st.st_dev == m->device && st.st_ino == m->inode)
        return true;
    int again = open(m->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (again < 0)
        return false;
    if (fstat(again, &st) != 0 || st.st_dev != m->device || st.st_ino != m->inode) {
        close(again);
        return false;
    }
    qp_store(&m->fd, qp_file_raise(again));
    return true;
}

/* fallocate beyond the file size limit sends SIGXFSZ to the calling thread. */
static int allocate(int fd, off_t from, off_t n_bytes)
{
    qp_signal_hold hold;
    int error;
    qp_signal_hold_begin(&hold, SIGXFSZ);
    do {
        error = fallocate(fd, 0, from, n_bytes) == 0 ? 0 : errno;
    } while (error == EINTR);
    qp_signal_hold_end(&hold);
    return error;
}

/* File systems without fallocate: writing zeros allocates just as well. */
static int allocate_by_writing(int fd, off_t from, off_t n_bytes)
{
    static char zeros[4096]; /* not const: this way it takes no room in the library */
    for (off_t at = from; at < from + n_bytes; at += (off_t)sizeof zeros)
        if (pwrite(fd, zeros, sizeof zeros, at) != (ssize_t)sizeof zeros)
            return ENOSPC;
    return 0;
}

static qp_growth grow_file(qp_mapping *m, uint64_t from, uint64_t to)
{
    if (!own_fd(m))
        return QP_GROW_HIJACKED;
    int fd = qp_load(&m->fd);
    int error = allocate(fd, (off_t)from, (off_t)(to - from));
    if (error == EOPNOTSUPP && from == 0)
        error = allocate_by_writing(fd, 0, (off_t)to); /* later steps would race with writers */
    return error ? QP_GROW_FULL : QP_GROWN;
}

static qp_growth make_ready(qp_mapping *m, uint64_t from, uint64_t to)
{
    if (m->path[0])
        return grow_file(m, from, to);
    bool is_ready = mprotect(m->base + from, to - from, PROT_READ | PROT_WRITE) == 0;
    return is_ready ? QP_GROWN : QP_GROW_FULL;
}

qp_growth qp_mapping_grow(qp_mapping *m, uint64_t n_bytes)
{
    uint64_t ready = qp_load(&m->n_ready_bytes), limit = qp_load(&m->limit_bytes);
    if (QP_LIKELY(n_bytes <= ready))
        return QP_GROWN;
    if (n_bytes > limit)
        return QP_GROW_LIMIT;
    if (growth_must_fail())
        return QP_GROW_FULL;
    int host_errno = errno;
    uint64_t step = ready < STEP_BYTES ? FIRST_STEP_BYTES : STEP_BYTES;
    uint64_t target = (n_bytes + step - 1) / step * step;
    if (target > limit)
        target = limit;
    qp_growth growth = make_ready(m, ready, target);
    if (growth == QP_GROW_FULL && target > n_bytes) { /* a smaller bite may still fit */
        target = (n_bytes + 4095) / 4096 * 4096;
        growth = make_ready(m, ready, target);
    }
    if (growth == QP_GROWN) {
        madvise(m->base + ready, target - ready, MADV_POPULATE_WRITE);
        while (ready < target && !qp_swap_if(&m->n_ready_bytes, &ready, target))
            ;
    }
    errno = host_errno;
    return growth;
}

void qp_mapping_pass_on(const qp_mapping *m, bool is_inherited)
{
    madvise(m->base, m->reserved_bytes, is_inherited ? MADV_DOFORK : MADV_DONTFORK);
}

/* The end of what is written piece by piece is allocated to where growth continues. */
int qp_mapping_open_like(qp_mapping *m, const char *path, const qp_mapping *parent,
                         uint64_t n_bytes)
{
    uint64_t ready = n_bytes / PAGE_MOST * PAGE_MOST, end = ready + PAGE_MOST;
    *m = (qp_mapping){.fd = -1};
    int error = path ? create_file(m, path) : 0;
    if (error)
        return error;
    end = end < parent->limit_bytes ? end : parent->limit_bytes;
    m->reserved_bytes = parent->reserved_bytes;
    m->limit_bytes = parent->limit_bytes;
    m->n_ready_bytes = end;
    m->base = reserve_at(m, parent->base, m->reserved_bytes);
    if (!m->base)
        error = ENOMEM;
    else if (make_ready(m, path ? ready : 0, end) != QP_GROWN)
        error = ENOSPC;
    else
        madvise(m->base, m->reserved_bytes, MADV_DONTFORK);
    if (error)
        undo(m);
    return error;
}

bool qp_mapping_put(const qp_mapping *m, uint64_t at, const void *bytes, size_t n_bytes)
{
    size_t done;
    if (m->fd >= 0)
        return qp_file_write_at(m->fd, bytes, n_bytes, at, &done) == 0;
    memcpy(m->base + at, bytes, n_bytes);
    return true;
}

bool qp_mapping_next_data(qp_mapping *m, uint64_t at, uint64_t n_bytes, uint64_t *begin,
                          uint64_t *end)
{
    if (m->path[0] && own_fd(m))
        return qp_file_next_data(qp_load(&m->fd), at, n_bytes, begin, end);
    *begin = at;
    *end = n_bytes;
    return at < n_bytes;
}

void qp_mapping_detach(qp_mapping *m)
{
    struct stat st;
    int fd = m->fd;
    qp_store(&m->limit_bytes, m->n_ready_bytes); /* no growth any more, the reservation stays */
    qp_store(&m->fd, -1);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == m->device && st.st_ino == m->inode)
        close(fd);
}

void qp_mapping_trim(qp_mapping *m)
{
    size_t n_bytes = (m->n_ready_bytes + PAGE_MOST - 1) / PAGE_MOST * PAGE_MOST;
    if (n_bytes >= m->reserved_bytes) /* both are 0 if it is closed */
        return;
    munmap(m->base + n_bytes, m->reserved_bytes - n_bytes);
    m->reserved_bytes = n_bytes;
}

/* Put empty memory where pointers of the host can point to, and close. */
static void replace(qp_mapping *m, int how)
{
    if (m->base)
        (void)mmap(m->base, m->n_ready_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | how, -1, 0);
    qp_mapping_detach(m);
    *m = (qp_mapping){.fd = -1};
}

void qp_mapping_forget(qp_mapping *m)
{
    replace(m, MAP_FIXED_NOREPLACE);
}

void qp_mapping_empty(qp_mapping *m)
{
    replace(m, MAP_FIXED);
}

void qp_mapping_close(qp_mapping *m)
{
    if (m->base)
        munmap(m->base, m->reserved_bytes);
    qp_mapping_detach(m);
    *m = (qp_mapping){.fd = -1};
}

void *qp_pages_take(size_t n_bytes)
{
    void *p = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void qp_pages_drop(void *p, size_t n_bytes)
{
    if (p)
        munmap(p, n_bytes);
}
