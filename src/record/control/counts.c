/* counts.c: replacing the counts file. Read qp_counts_add first.
 *
 * The process that holds the lock of the named file may replace it. A process that has waited
 * for this lock finds another file under the name, and begins again. So no lock file can be
 * left. The file is never written to: a complete new one takes its name. */
#include "record/control/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/os/file.h"
#include "base/os/thread.h"
#include "cover/merge.h"
#include "record/run/run.h"

enum { ROOM_LEAST = 1 << 20 }; /* of what is added, beyond the size of the file */

static const uint64_t patience_ns = 10000000000u, pause_ns = 2000000;

bool qp_counts_is_file(const char *path)
{
    char file[QP_PATH_MAX];
    qp_error unused;
    const char *pattern = qp_option_text(&qp_recorder.options, QP_OPT_counts_file);
    return pattern[0] &&
           qp_output_name(pattern, qp_recorder.n_datasets, file, sizeof file, &unused) == 0 &&
           strcmp(path, file) == 0;
}

static bool fail(qp_error *error, const char *what)
{
    qp_error_fail(error, "%s", what);
    return false;
}

/* ---- a profile in memory ----------------------------------------------------------------- */

/* Read a whole file. @param room  bytes to reserve after it. @return false: see why */
static bool read_whole(qp_mapping *m, int fd, uint64_t room, uint64_t *n_bytes, qp_error *error)
{
    const char *unused;
    *m = (qp_mapping){.fd = -1};
    if (!qp_file_is_plain(fd, n_bytes, &unused))
        return fail(error, "is not a plain file");
    if (*n_bytes > qp_recorder.options.number[QP_OPT_memory_limit])
        return fail(error, "is larger than -memory-limit");
    if (qp_mapping_open(m, NULL, *n_bytes + room + ROOM_LEAST) != 0)
        return fail(error, "cannot be added to: out of memory");
    if (m->limit_bytes > *n_bytes + room && qp_mapping_grow(m, *n_bytes) == QP_GROWN &&
        qp_file_read_at(fd, m->base, *n_bytes, 0) == *n_bytes)
        return true;
    qp_mapping_close(m);
    return fail(error, "cannot be read");
}

/* Read a dataset, with room for what is added. */
static bool open_dataset(qp_space *s, const char *path, uint64_t room, qp_error *error)
{
    uint64_t n_bytes;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return fail(error, "cannot be added to: the run's data were removed");
    *s = (qp_space){0};
    bool is_read = read_whole(&s->map, fd, room, &n_bytes, error);
    close(fd);
    s->head = (qp_head *)(void *)s->map.base;
    return is_read;
}

static bool write_dataset(const qp_space *s, const char *path, mode_t mode)
{
    qp_signal_hold hold;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    qp_signal_hold_begin(&hold, SIGXFSZ);
    bool is_written = qp_file_write(fd, s->map.base, s->head->n_cells * QP_CELL);
    qp_signal_hold_end(&hold);
    if (mode)
        fchmod(fd, mode);
    return close(fd) == 0 && is_written;
}

/* ---- one of several processes ------------------------------------------------------------ */

static bool is_still(int fd, const char *path)
{
    struct stat here, there;
    return fstat(fd, &here) == 0 && lstat(path, &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

typedef enum { LOCKED, ABSENT, REFUSED } lock_result;

/* Lock the file of this name. */
static lock_result lock_file(const char *path, int *fd, qp_error *error)
{
    uint64_t until = qp_clock_monotonic() + patience_ns;
    for (;;) {
        *fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (*fd < 0 && errno == ENOENT)
            return ABSENT;
        if (*fd < 0) {
            fail(error, errno == ELOOP ? "is a symbolic link" : "cannot be opened");
            return REFUSED;
        }
        bool is_held = flock(*fd, LOCK_EX | LOCK_NB) == 0;
        if (is_held && is_still(*fd, path))
            return LOCKED;
        bool is_busy = is_held || errno == EWOULDBLOCK || errno == EINTR;
        close(*fd);
        if (!is_busy || qp_clock_monotonic() > until) {
            fail(error, is_busy ? "is locked by other processes" : "cannot be locked");
            return REFUSED;
        }
        if (!is_held)
            qp_clock_sleep_until(qp_clock_monotonic() + pause_ns);
    }
}

/* Replace the counts file by the sum of both. @param fd  the counts file, locked */
static bool replace(int fd, const char *temporary, const char *path, qp_error *error)
{
    char sum[QP_PATH_MAX];
    struct stat st;
    uint64_t old_bytes;
    qp_mapping old;
    qp_space now;
    if (fstat(fd, &st) != 0 || snprintf(sum, sizeof sum, "%s+", temporary) >= (int)sizeof sum)
        return fail(error, "cannot be read");
    if (!read_whole(&old, fd, 0, &old_bytes, error))
        return false;
    bool is_done = open_dataset(&now, temporary, 2 * old_bytes, error);
    if (is_done) {
        bool is_forced = qp_recorder.options.number[QP_OPT_force_merge] == 1;
        is_done = qp_merge_counts(&now, old.base, old_bytes, is_forced, error);
        if (is_done && (!write_dataset(&now, sum, st.st_mode & 0777) || !is_still(fd, path) ||
                        rename(sum, path) != 0)) {
            unlink(sum);
            is_done = fail(error, "cannot be replaced");
        }
        qp_mapping_close(&now.map);
    }
    qp_mapping_close(&old);
    return is_done;
}

/* Become the counts file, without replacing a file. @return false: see errno */
static bool become(const char *temporary, const char *path)
{
    struct stat st;
    if (link(temporary, path) == 0)
        return true;
    if (errno != EPERM && errno != EOPNOTSUPP) /* else: a file system without links */
        return false;
    if (lstat(path, &st) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(temporary, path) == 0;
}

/* Write the dataset from memory again; the file is the only copy, and remains if there is no
 * space. */
static void rewrite(const qp_space *s, const char *path)
{
    char fresh[QP_PATH_MAX];
    if (snprintf(fresh, sizeof fresh, "%s+", path) < (int)sizeof fresh &&
        (!write_dataset(s, fresh, 0) || rename(fresh, path) != 0))
        unlink(fresh);
}

/* Note in the dataset why it is not in the counts file. */
static void note(const char *temporary, const char *path, const qp_error *error)
{
    qp_error text, unused;
    qp_space s;
    qp_error_set(&text, 0,
                 "-counts-file=%.200s %.200s; this run's counts have a file of their own", path,
                 error->text);
    qp_recorder_log("%s", text.text);
    if (!open_dataset(&s, temporary, 0, &unused))
        return;
    qp_texts texts = {.space = &s};
    qp_ref words = qp_texts_add(&texts, text.text);
    qp_ref ref = words ? qp_blob_take(&s, &texts.blobs, sizeof(qp_note)) : 0;
    if (ref) {
        qp_note *n = qp_at_ref(&s, ref);
        *n = (qp_note){s.head->notes, words, QP_NOTE_MESSAGE, s.head->dataset};
        s.head->notes = ref;
        rewrite(&s, temporary);
    }
    qp_mapping_close(&s.map);
}

bool qp_counts_add(const char *temporary, const char *path)
{
    qp_error why = {0};
    int fd;
    for (;;) {
        lock_result result = lock_file(path, &fd, &why);
        bool is_done = false;
        if (result == LOCKED) {
            is_done = replace(fd, temporary, path, &why);
            close(fd);
        } else if (result == ABSENT) {
            is_done = become(temporary, path);
            if (!is_done && errno == EEXIST)
                continue; /* another process was faster */
            if (!is_done)
                fail(&why, "cannot be made");
        }
        if (is_done)
            unlink(temporary);
        else
            note(temporary, path, &why);
        return is_done;
    }
}
