/* spool.c: the folder that `qprof push` empties: its profiles, and those that are set aside: see push.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/store/push.h"

static int compare_files(const void *a, const void *b)
{
    const qp_spool_file *x = a, *y = b;
    return x->failed != y->failed ? (x->failed < y->failed ? -1 : 1) : strcmp(x->name, y->name);
}

void qp_spool_sort(qp_buf *files)
{
    if (files->n)
        qsort(files->items, files->n, sizeof(qp_spool_file), compare_files);
}

bool qp_spool_is_name(const char *name)
{
    return *name != '.' && strstr(name, ".qprof");
}

/* A file system without locks is pushed from all the same. */
qp_spool_state qp_spool_open(const qp_cli *cli, const char *path, qp_spool *spool)
{
    struct stat st;
    *spool = (qp_spool){.path = path, .fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (spool->fd < 0 || fstat(spool->fd, &st) != 0) {
        qp_cli_fail(cli, "%s: %s", path, errno == ENOENT ? "no such folder" : strerror(errno));
        return QP_SPOOL_UNUSABLE;
    }
    if (flock(spool->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return QP_SPOOL_BUSY;
    if (faccessat(spool->fd, ".", W_OK | X_OK, AT_EACCESS) != 0) {
        qp_cli_fail(cli, "%s: nothing is sent, as files could not be removed from it: %s", path,
                    strerror(errno));
        return QP_SPOOL_UNUSABLE;
    }
    spool->is_limited = st.st_mode & S_ISVTX && geteuid() != 0 && st.st_uid != geteuid();
    return QP_SPOOL_OPEN;
}

void qp_spool_close(qp_spool *spool)
{
    if (spool->fd >= 0)
        close(spool->fd);
    spool->fd = -1;
}

/* The profiles that a recorder has finished appear under their names at once; hidden ones are not. */
bool qp_spool_list(const qp_cli *cli, const qp_spool *spool, qp_buf *files, qp_arena *arena)
{
    const int fd = openat(spool->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder) {
        qp_cli_fail(cli, "%s: %s", spool->path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    bool is_good = true;
    for (struct dirent *entry = readdir(folder); entry && is_good && files->n < QP_SPOOL_NAMES;
         entry = readdir(folder)) {
        if (!qp_spool_is_name(entry->d_name))
            continue;
        qp_spool_file *file = qp_buf_add(files);
        if (file)
            *file = (qp_spool_file){.name = qp_arena_text(arena, entry->d_name)};
        is_good = file && file->name;
    }
    closedir(folder);
    if (is_good)
        qp_spool_sort(files);
    return is_good || qp_cli_refuse(cli, "%s: not enough memory for its list", spool->path);
}

/* @return the folder, which is made where there is none; -1: errno says why not */
static int open_quarantine(const qp_spool *spool)
{
    static const char name[] = "quarantine";
    if (mkdirat(spool->fd, name, 0700) != 0 && errno != EEXIST)
        return -1;
    return openat(spool->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* A link with the name of the folder could lead anywhere, and is not followed. */
bool qp_spool_set_aside(const qp_cli *cli, const qp_spool *spool, const char *name,
                        const char *why)
{
    enum { TRIES = 1000, NO_REPLACE = 1 }; /* RENAME_NOREPLACE, which musl lacks */
    char to[NAME_MAX + 8];
    bool is_moved = false;
    const int fd = open_quarantine(spool);
    const char *reason = fd < 0 && (errno == ENOTDIR || errno == ELOOP)
                             ? "a file or a link has the name of the folder"
                             : strerror(errno);
    for (int i = 0; fd >= 0 && !is_moved && i < TRIES; i++) {
        if (i)
            snprintf(to, sizeof to, "%s.%d", name, i);
        else
            snprintf(to, sizeof to, "%s", name);
        is_moved = syscall(SYS_renameat2, spool->fd, name, fd, to, NO_REPLACE) == 0;
        reason = strerror(errno);
        if (!is_moved && errno != EEXIST)
            break;
    }
    if (fd >= 0)
        close(fd);
    if (is_moved)
        qp_cli_warn(cli, "%s; moved to %s/quarantine/%s", why, spool->path, to);
    else
        qp_cli_warn(cli, "%s; it cannot be moved to quarantine: %s", why, reason);
    return is_moved;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool qp_spool_remove(const qp_cli *cli, const char *path, const struct stat *before)
{
    struct stat now;
    if (lstat(path, &now) != 0 || !is_same(before, &now))
        return true;
    if (unlink(path) == 0 || errno == ENOENT)
        return true;
    return qp_cli_refuse(cli, "%s: has arrived, but cannot be removed: %s", path,
                         strerror(errno));
}
