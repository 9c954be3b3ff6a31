/* leavings.c: see leavings.h. */
#include "unit/leavings.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/layout.h"

void leavings_open(leavings *x, const char *live_file)
{
    struct stat s;
    x->fd = open(live_file, O_RDONLY | O_CLOEXEC);
    assert_true(x->fd >= 0);
    assert_int_equal(fstat(x->fd, &s), 0);
    x->n_bytes = (size_t)s.st_size;
    x->now = mmap(NULL, x->n_bytes, PROT_READ, MAP_SHARED, x->fd, 0);
    assert_ptr_not_equal(x->now, MAP_FAILED);
    x->dead_fd = memfd_create("leavings", MFD_CLOEXEC);
    assert_true(x->dead_fd >= 0);
    assert_int_equal(ftruncate(x->dead_fd, s.st_size), 0);
    x->dead = mmap(NULL, x->n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, x->dead_fd, 0);
    assert_ptr_not_equal(x->dead, MAP_FAILED);
    snprintf(x->path, sizeof x->path, "/proc/self/fd/%d", x->dead_fd);
}

void leavings_close(leavings *x)
{
    munmap((void *)x->now, x->n_bytes);
    munmap(x->dead, x->n_bytes);
    close(x->fd);
    close(x->dead_fd);
}

static size_t used_bytes(const leavings *x)
{
    uint64_t n = ((const qp_head *)x->now)->n_cells * QP_CELL;
    return n < x->n_bytes ? (size_t)n : x->n_bytes;
}

bool leavings_look(leavings *x)
{
    size_t n_used = used_bytes(x);
    qp_head *dead = (void *)x->dead;
    dead->pid_start = ((const qp_head *)x->now)->pid_start;
    bool has_changed = memcmp(x->now, x->dead, n_used) != 0;
    if (has_changed)
        memcpy(x->dead, x->now, n_used);
    dead->pid_start++; /* another process has its id by now */
    return has_changed;
}

int leavings_step(pid_t thread, int how)
{
    int status;
    assert_int_equal(ptrace(how, thread, NULL, NULL), 0);
    assert_int_equal(waitpid(thread, &status, __WALL), thread);
    return status;
}

bool leavings_stopped_by(int status, int signal)
{
    return WIFSTOPPED(status) && WSTOPSIG(status) == signal;
}
