/* left.c: what a process that was killed recorded after the last cut of its spool. Read qp_live_remainder first. */
#include <sys/types.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/os/file.h"
#include "model/model.h"
#include "model/read/read.h"

/* Only a plain file is opened. Its errors are no loss: it may be no profile of the run, or gone. */
int qp_live_open(const char *path)
{
    const char *unused;
    return qp_file_open_beside(path, &unused);
}

bool qp_live_head(const char *path, qp_head *to)
{
    int fd = qp_live_open(path);
    bool is_read = fd >= 0 && pread(fd, to, sizeof *to, 0) == sizeof *to &&
                   memcmp(to->magic, QP_MAGIC, sizeof to->magic) == 0;
    if (fd >= 0)
        close(fd);
    if (!is_read)
        *to = (qp_head){0};
    return is_read;
}

const char *qp_live_text(const char *path, qp_ref ref, char *to, size_t n_bytes)
{
    int fd = ref ? qp_live_open(path) : -1;
    off_t at = (off_t)ref * 8 + (off_t)offsetof(qp_text, bytes);
    ssize_t n = fd >= 0 ? pread(fd, to, n_bytes - 1, at) : 0;
    to[n > 0 ? n : 0] = '\0';
    if (fd >= 0)
        close(fd);
    return to;
}

static bool read_file(const char *path, qp_image *image, qp_error *error)
{
    const char *why = "";
    int fd = qp_file_open_beside(path, &why);
    bool is_read = fd >= 0 ? qp_image_read(image, fd, UINT64_MAX, NULL, error)
                           : qp_error_fail(error, "%s", why);
    if (fd >= 0)
        close(fd);
    if (!is_read)
        qp_error_fail(error, "%.300s: %.200s", path, error->text);
    return is_read;
}

bool qp_live_remainder(const char *live, const char *state, qp_image *to, qp_error *error)
{
    qp_image before = {0};
    *to = (qp_image){0};
    error->text[0] = '\0';
    bool is_good = read_file(live, to, error) && read_file(state, &before, error);
    if (is_good && qp_image_head(to)->nonce != qp_image_head(&before)->nonce)
        is_good = qp_error_fail(error, "%.300s: it is not of the run of %.150s", state, live);
    if (is_good) {
        const qp_state_bytes all = qp_image_state(to);
        qp_cut(all, qp_image_state(&before));
        to->file_bytes = all.n_bytes;
    } else {
        qp_image_fini(to);
    }
    qp_image_fini(&before);
    return is_good;
}
