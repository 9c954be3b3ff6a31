#include "base/os/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAMES_MAX = 999, PATH_BYTES = 4096 };

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* @return false: EEXIST, or another reason */
static bool take_free(const char *temporary, const char *name)
{
    struct stat unused;
    if (link(temporary, name) == 0)
        return unlink(temporary) == 0;
    if (errno != EPERM && errno != EOPNOTSUPP)
        return false;
    if (lstat(name, &unused) == 0) { /* a file system without links */
        errno = EEXIST;
        return false;
    }
    return errno == ENOENT && rename(temporary, name) == 0;
}

static bool exchange(const char *a, const char *b)
{
    enum { EXCHANGE = 2 }; /* RENAME_EXCHANGE, which not all headers have */
    return syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, EXCHANGE) == 0;
}

typedef enum { KEPT, REPLACED, SWAPPED } replacement;

/* @return SWAPPED: the name was taken, and the temporary file is now one that must be kept */
static replacement replace(const char *temporary, const char *name, qp_place_judge *may_replace,
                           const void *to)
{
    struct stat old, swapped;
    if (!may_replace)
        return KEPT;
    int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool may = fd >= 0 && fstat(fd, &old) == 0 && S_ISREG(old.st_mode) && may_replace(to, fd);
    if (fd >= 0)
        close(fd);
    if (!may)
        return KEPT;
    if (!exchange(temporary, name)) /* the file system cannot: another process may lose */
        return rename(temporary, name) == 0 ? REPLACED : KEPT;
    if (lstat(temporary, &swapped) == 0 && is_same(&old, &swapped)) {
        unlink(temporary);
        return REPLACED;
    }
    return SWAPPED;
}

bool qp_place_file(const char *temporary, char *path, size_t n_bytes,
                   qp_place_judge *may_replace, const void *to)
{
    char name[PATH_BYTES];
    bool is_placed = false; /* then the temporary file is another process's */
    size_t n = strlen(path);
    for (unsigned i = 0; i <= NAMES_MAX; i++) {
        char number[8] = "";
        if (i)
            snprintf(number, sizeof number, ".%u", i);
        int length = snprintf(name, sizeof name, "%.*s%s", (int)n, path, number);
        if ((size_t)length >= n_bytes || (size_t)length >= sizeof name)
            break;
        bool is_free = take_free(temporary, name);
        if (!is_free && errno != EEXIST)
            break;
        replacement result = is_free ? REPLACED : replace(temporary, name, may_replace, to);
        if (result != KEPT && !is_placed)
            memcpy(path, name, (size_t)length + 1);
        is_placed |= result != KEPT;
        if (result == REPLACED)
            return true;
    }
    return is_placed;
}
