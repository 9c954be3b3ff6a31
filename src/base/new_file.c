/* new_file.c: a file grows under a temporary name in the same folder and is moved when it is whole.
 * There is no fsync: against a crash of the machine the file system's own order must do. */
#include "base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

enum { NAMES_TRIED = 100 };

static const char *reason_of(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return "there is no such folder";
    case EACCES:
    case EPERM:
        return "the folder may not be written to";
    case EROFS:
        return "the file system may not be written to";
    case ENOSPC:
    case EDQUOT:
        return "there is no space left";
    case ENAMETOOLONG:
        return "its name is too long";
    default:
        return strerror(error);
    }
}

/* May a file appear there? */
static bool is_free(const char *path, const char **why)
{
    struct stat st;
    if (lstat(path, &st) != 0 || S_ISREG(st.st_mode))
        return true;
    *why = S_ISDIR(st.st_mode)   ? "it is a directory"
           : S_ISLNK(st.st_mode) ? "it is a symbolic link; name the file itself"
                                 : "it is not a plain file";
    return false;
}

static int create(qp_new_file *s)
{
    int fd = -1;
    for (unsigned i = 0; fd < 0 && i < NAMES_TRIED; i++) {
        qp_text_format(s->temporary, sizeof s->temporary, "%.4000s.%d-%u.tmp", s->path,
                       (int)getpid(), i);
        fd = open(s->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

bool qp_new_file_begin(qp_new_file *s, const char *path, const char **why)
{
    enum { SUFFIX_BYTES = 96 };
    if (strlen(path) > QP_NEW_FILE_PATH_BYTES - SUFFIX_BYTES) {
        *why = reason_of(ENAMETOOLONG);
        return false;
    }
    if (!*path) {
        *why = "no name was given";
        return false;
    }
    if (!is_free(path, why))
        return false;
    qp_text_format(s->path, sizeof s->path, "%s", path);
    int fd = create(s);
    if (fd < 0)
        *why = reason_of(errno);
    qp_out_init(&s->out, fd);
    return fd >= 0;
}

void qp_new_file_hide(qp_new_file *s)
{
    if (fchmod(s->out.fd, S_IRUSR | S_IWUSR) != 0 && !s->out.error)
        s->out.error = errno;
}

bool qp_new_file_end(qp_new_file *s, const char **why)
{
    int error = qp_out_close(&s->out);
    if (close(s->out.fd) != 0 && !error)
        error = errno;
    bool is_good = error ? false : is_free(s->path, why);
    if (is_good && rename(s->temporary, s->path) != 0) {
        error = errno;
        is_good = false;
    }
    if (error)
        *why = reason_of(error);
    if (!is_good)
        unlink(s->temporary);
    return is_good;
}

void qp_new_file_drop(qp_new_file *s)
{
    close(s->out.fd);
    unlink(s->temporary);
}
