/* file.c: see file.h. */
#include "base/os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/text/buf.h"

enum { MIN_FD = 1000 };

const char *qp_file_reason(int error, bool is_new)
{
    /* Two errors, the text for a file that should exist, and for a new one; "": the system's text. No
     * pointers, each of which costs a relocation. */
    static const struct {
        uint8_t errors[2];
        char of_existing[24], of_new[38];
    } reasons[] = {
        {{ENOENT, ENOTDIR}, "no such file", "no such folder"},
        {{EACCES, EPERM}, "permission denied", "the folder may not be written to"},
        {{ENXIO, ENODEV}, "is not a plain file", ""}, /* ENXIO: a socket */
        {{EMFILE, ENFILE}, "too many files are open", ""},
        {{EROFS, EROFS}, "", "the file system may not be written to"},
        {{ENOSPC, EDQUOT}, "", "no space is left"},
        {{ENAMETOOLONG, ENAMETOOLONG}, "its name is too long", "its name is too long"}};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        const char *text = is_new ? reasons[i].of_new : reasons[i].of_existing;
        if (*text && (error == reasons[i].errors[0] || error == reasons[i].errors[1]))
            return text;
    }
    return strerror(error);
}

bool qp_file_is_plain(int fd, uint64_t *n_bytes, const char **why)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        *why = qp_file_reason(errno, false);
        return false;
    }
    if (!S_ISREG(st.st_mode)) {
        *why = S_ISDIR(st.st_mode)    ? "is a directory"
               : S_ISFIFO(st.st_mode) ? "is a pipe"
               : S_ISCHR(st.st_mode)  ? "is a device"
                                      : "is not a plain file";
        return false;
    }
    *n_bytes = (uint64_t)st.st_size;
    return true;
}

/* Found without being opened: opening a pipe or a device may do something. */
static int find(const char *path, int flags, const char **why)
{
    uint64_t n_bytes;
    int fd = open(path, O_PATH | O_CLOEXEC | flags);
    if (fd < 0) {
        *why = qp_file_reason(errno, false);
        return -1;
    }
    if (qp_file_is_plain(fd, &n_bytes, why))
        return fd;
    close(fd);
    return -1;
}

int qp_file_find(const char *path, const char **why)
{
    return find(path, 0, why);
}

int qp_file_open_found(int found, const char *path, const char **why)
{
    char name[sizeof "/proc/self/fd/" + 12];
    const int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
    qp_text_format(name, sizeof name, "/proc/self/fd/%d", found);
    int fd = open(name, flags);
    if (fd < 0 && errno == ENOENT)
        fd = open(path, flags); /* there is no /proc */
    if (fd < 0)
        *why = qp_file_reason(errno, false);
    return fd;
}

static int open_with(const char *path, int flags, const char **why)
{
    int found = find(path, flags, why);
    int fd = found < 0 ? -1 : qp_file_open_found(found, path, why);
    if (found >= 0)
        close(found);
    return fd;
}

int qp_file_open(const char *path, const char **why)
{
    return open_with(path, 0, why);
}

int qp_file_open_beside(const char *path, const char **why)
{
    return open_with(path, O_NOFOLLOW, why);
}

int qp_file_raise(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, MIN_FD);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

static int read_error;

int qp_file_read_error(void)
{
    return qp_load(&read_error);
}

/* @param error  receives why it ends before n_bytes; 0: the file does */
static size_t read_at(int fd, void *to, size_t n_bytes, uint64_t at, int *error)
{
    size_t n_read = 0;
    *error = 0;
    while (n_read < n_bytes) {
        ssize_t n = pread(fd, (char *)to + n_read, n_bytes - n_read, (off_t)(at + n_read));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            *error = errno;
        if (n <= 0)
            break;
        n_read += (size_t)n;
    }
    return n_read;
}

size_t qp_file_read_at(int fd, void *to, size_t n_bytes, uint64_t at)
{
    int error;
    size_t n = read_at(fd, to, n_bytes, at, &error);
    if (error)
        qp_store(&read_error, error);
    return n;
}

bool qp_file_write(int fd, const void *bytes, uint64_t n_bytes)
{
    for (const char *at = bytes; n_bytes;) {
        ssize_t n = write(fd, at, n_bytes < 1u << 30 ? n_bytes : 1u << 30);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        at += n > 0 ? n : 0;
        n_bytes -= n > 0 ? (uint64_t)n : 0;
    }
    return true;
}

int qp_file_write_at(int fd, const void *bytes, size_t n_bytes, uint64_t at, size_t *done)
{
    for (*done = 0; *done < n_bytes;) {
        size_t left = n_bytes - *done, step = left < 1u << 30 ? left : 1u << 30;
        ssize_t n = pwrite(fd, (const char *)bytes + *done, step, (off_t)(at + *done));
        if (n == 0 || (n < 0 && errno != EINTR))
            return n ? errno : ENOSPC;
        *done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

bool qp_file_next_data(int fd, uint64_t at, uint64_t n_bytes, uint64_t *begin, uint64_t *end)
{
    off_t here = lseek(fd, 0, SEEK_CUR);
    off_t data = lseek(fd, (off_t)at, SEEK_DATA);
    off_t hole = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);
    bool is_hole = data < 0 && errno == ENXIO;
    lseek(fd, here, SEEK_SET);
    if (is_hole || at >= n_bytes)
        return false;
    *begin = data < 0 ? at : (uint64_t)data;
    *end = hole <= data || (uint64_t)hole > n_bytes ? n_bytes : (uint64_t)hole;
    return *begin < n_bytes;
}

int qp_file_temporary(const char **why)
{
    static const char *const folders[] = {"/var/tmp",
                                          "/tmp"}; /* the first one is for large files */
    int fd = -1;
    for (size_t i = 0; i < 2 && fd < 0; i++)
        fd = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        *why = "no file can be made in /var/tmp or /tmp";
    return fd;
}

size_t qp_file_text(const char *path, char *to, size_t room)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    int error; /* is no loss: what /proc describes may be gone */
    size_t n = fd < 0 ? 0 : read_at(fd, to, room - 1, 0, &error);
    if (fd >= 0)
        close(fd);
    to[n] = '\0';
    return n;
}
