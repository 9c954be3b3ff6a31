/* new_file.c: a file grows in its folder without a name, so that nothing is left of it even if the
 * program is killed, and is moved to its place when it is whole. Where the system has no files
 * without names it grows under a temporary one. There is no fsync: against a crash of the machine
 * only the order of the file system protects it. */
#include "base/os/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/file.h"
#include "base/text/buf.h"

#define OWN_FILES "/proc/self/fd" /* a file without a name is named through it */

enum { NAMES_TRIED = 100 };

static bool is_free(const char *path, const char **why)
{
    struct stat st;
    if (lstat(path, &st) != 0 || S_ISREG(st.st_mode))
        return true;
    *why = S_ISDIR(st.st_mode)   ? "is a directory"
           : S_ISLNK(st.st_mode) ? "is a symbolic link; name the file itself"
                                 : "is not a plain file";
    return false;
}

/* @return a descriptor; -1: the system has no such files there */
static int create_nameless(const char *path)
{
    char folder[QP_NEW_FILE_PATH_BYTES] = ".";
    const char *slash = strrchr(path, '/');
    if (slash) /* with the slash: it may be the root */
        qp_text_format(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    bool can_be_named = access(OWN_FILES, X_OK) == 0;
    return can_be_named ? open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666) : -1;
}

/* @return -1: errno says why */
static int give_name(int fd, const char *name)
{
    char own[sizeof OWN_FILES + 16];
    qp_text_format(own, sizeof own, OWN_FILES "/%d", fd);
    return linkat(AT_FDCWD, own, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* Find a free name, and create a file of that name or give it to one that has none.
 * @param nameless  -1: create one @return a descriptor, or 0; -1: errno says why */
static int take_temporary(qp_new_file *s, int nameless)
{
    int taken = -1;
    errno = EEXIST;
    for (unsigned i = 0; taken < 0 && errno == EEXIST && i < NAMES_TRIED; i++) {
        qp_text_format(s->temporary, sizeof s->temporary, "%.4000s.%d-%u.tmp", s->path,
                       (int)getpid(), i);
        taken = nameless < 0 ? open(s->temporary,
                                    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666)
                             : give_name(nameless, s->temporary);
    }
    if (taken < 0)
        s->temporary[0] = '\0'; /* it belongs to another program */
    return taken;
}

bool qp_new_file_begin(qp_new_file *s, const char *path, const char **why)
{
    enum { SUFFIX_BYTES = 96 };
    if (strlen(path) > QP_NEW_FILE_PATH_BYTES - SUFFIX_BYTES) {
        *why = qp_file_reason(ENAMETOOLONG, true);
        return false;
    }
    if (!*path) {
        *why = "no name was given";
        return false;
    }
    if (!is_free(path, why))
        return false;
    qp_text_format(s->path, sizeof s->path, "%s", path);
    s->temporary[0] = '\0';
    int fd = create_nameless(path);
    if (fd < 0)
        fd = take_temporary(s, -1);
    if (fd < 0)
        *why = qp_file_reason(errno, true);
    qp_out_init(&s->out, fd);
    return fd >= 0;
}

void qp_new_file_hide(qp_new_file *s)
{
    if (fchmod(s->out.fd, S_IRUSR | S_IWUSR) != 0 && !s->out.error)
        s->out.error = errno;
}

static void remove_temporary(const qp_new_file *s)
{
    if (*s->temporary)
        unlink(s->temporary);
}

bool qp_new_file_end(qp_new_file *s, const char **why)
{
    int error = qp_out_close(&s->out);
    bool is_good = !error && is_free(s->path, why);
    if (is_good && !*s->temporary && take_temporary(s, s->out.fd) < 0)
        error = errno;
    if (close(s->out.fd) != 0 && !error)
        error = errno;
    if (is_good && !error && rename(s->temporary, s->path) != 0)
        error = errno;
    if (error)
        *why = qp_file_reason(error, true);
    if (error || !is_good)
        remove_temporary(s);
    return is_good && !error;
}

void qp_new_file_drop(qp_new_file *s)
{
    close(s->out.fd);
    remove_temporary(s);
}
