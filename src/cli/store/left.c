/* left.c: what processes that were killed recorded after the last cut of their spool becomes one more profile of the folder: see
 * push.h. Read take_left first. Killed at any moment, it makes the same profile again, with the same identity. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/os/new_file.h"
#include "cli/store/push.h"
#include "format/options.h"
#include "model/model.h"
#include "model/read/read.h"

/* The name that the recorder would have given to the cut. */
static void name_cut(const qp_spool *spool, const qp_image *image, char *to, size_t n_bytes)
{
    char who[256];
    const qp_head *h = qp_image_head(image);
    const char *program = qp_image_text(image, h->program),
               *labels = qp_image_text(image, h->labels);
    const qp_name_facts facts = {.program = program, .labels = labels};
    const bool has_label = labels && qp_name_label(labels, "service", 7);
    qp_name_convert(&facts, has_label ? "{service}" : "v", who, sizeof who);
    snprintf(to, n_bytes, "%s/%s.%016" PRIx64 ".%08u.qprof", spool->path, who, h->nonce,
             h->cut);
}

static bool write_left(const qp_spool *spool, const qp_image *image, qp_error *error)
{
    static qp_new_file file; /* 72 KiB */
    char path[4096];
    const char *why = "";
    name_cut(spool, image, path, sizeof path);
    if (!qp_new_file_begin(&file, path, &why))
        return qp_error_fail(error, "%.300s: %s", path, why);
    qp_new_file_hide(&file);
    qp_out_bytes(&file.out, (const char *)image->bytes, image->file_bytes);
    return qp_new_file_end(&file, &why) || qp_error_fail(error, "%.300s: %s", path, why);
}

/* Is it the state of a process that has ended, on this machine? */
static bool is_over(const char *state, qp_head *h)
{
    char host[256] = "", of_state[256];
    gethostname(host, sizeof host - 1);
    return qp_live_head(state, h) && !qp_live_is_running(h->pid, h->pid_start) &&
           strcmp(qp_live_text(state, h->host, of_state, sizeof of_state), host) == 0;
}

/* The state has the same owner as the live file. First the profile is there, then the
 * live file goes, then the state.
 * @return false: see error */
static bool take_left(const qp_spool *spool, const char *state, qp_error *error)
{
    char live[4096];
    struct stat of_state, of_live;
    qp_head h;
    qp_image image;
    error->text[0] = '\0';
    if (!is_over(state, &h) || lstat(state, &of_state) != 0)
        return true;
    qp_live_text(state, h.spool, live, sizeof live);
    const bool is_there = lstat(live, &of_live) == 0;
    if (!is_there && errno != ENOENT)
        return qp_error_fail(error, "%.300s: %s", live, strerror(errno));
    if (is_there && of_live.st_uid == of_state.st_uid) {
        const bool is_good =
            qp_live_remainder(live, state, &image, error) && write_left(spool, &image, error);
        qp_image_fini(&image);
        if (!is_good)
            return false;
        unlink(live);
    }
    unlink(state);
    return is_there || !*live ||
           qp_error_fail(error, "%.300s is gone, with what process %" PRIu64 " recorded last",
                         live, h.pid);
}

static bool is_state(const char *name)
{
    enum { HEX = 16 };
    return *name == '.' && strspn(name + 1, "0123456789abcdef") == HEX &&
           strcmp(name + 1 + HEX, ".state") == 0;
}

size_t qp_spool_take_left(const qp_spool *spool, void (*say)(void *to, const char *text),
                          void *to)
{
    size_t n_left = 0;
    char path[4096];
    qp_error error;
    const int fd = openat(spool->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        if (is_state(entry->d_name) &&
            snprintf(path, sizeof path, "%s/%s", spool->path, entry->d_name) <
                (int)sizeof path &&
            !take_left(spool, path, &error)) {
            say(to, error.text);
            n_left += access(path, F_OK) == 0;
        }
    if (folder)
        closedir(folder);
    return n_left;
}
