/* apply.c: a request in the head of a live profile, and a futex that wakes the thread that waits for it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/os/clock.h"
#include "base/os/system.h"
#include "cli/config/config.h"
#include "format/layout.h"
#include "model/model.h"

enum {
    WAIT_NS = 5000000,
    LOOKS_MAX = 2000,
    LOOKS_UNHEARD = 200 /* no thread was waiting */,
    PATH_BYTES = sizeof((qp_head *)0)->request_file
};

static bool has_ended(const qp_head *h)
{
    return qp_load(&h->state) != QP_LIVE || !qp_live_is_running(h->pid, h->pid_start);
}

/* Map the head for writing. @return NULL: not a live profile that can be written; a message was printed */
static qp_head *open_head(const qp_cli *cli, const char *path, int *fd)
{
    struct stat st;
    *fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    bool is_large = *fd >= 0 && fstat(*fd, &st) == 0 && S_ISREG(st.st_mode) &&
                    st.st_size >= (off_t)sizeof(qp_head);
    qp_head *h = is_large ? mmap(NULL, sizeof *h, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0)
                          : MAP_FAILED;
    if (h == MAP_FAILED) {
        qp_cli_fail(cli, "%s: %s", path, *fd < 0 ? strerror(errno) : "not a live profile");
        return NULL;
    }
    if (memcmp(h->magic, QP_MAGIC, sizeof h->magic) == 0 && h->endian == QP_ENDIAN &&
        h->major == QP_MAJOR && !has_ended(h))
        return h;
    qp_cli_fail(cli, "%s: not the profile of a running program", path);
    munmap(h, sizeof *h);
    return NULL;
}

/* Wait for the answer. @param max  how often to look */
static bool is_answered(qp_head *h, uint32_t request, unsigned max)
{
    bool is_last = false;
    for (unsigned n = 0; n < max && !is_last; n++) {
        is_last = has_ended(h); /* it may have answered before */
        if (qp_observe(&h->answer) == request)
            return true;
        qp_clock_sleep_until(qp_clock_monotonic() + WAIT_NS);
    }
    qp_publish(&h->request, qp_load(&h->answer)); /* withdrawn */
    return false;
}

/* @param file  shorter than PATH_BYTES */
static int ask(const qp_cli *cli, qp_head *h, const char *file)
{
    char text[sizeof h->answer_text];
    uint32_t request = qp_load(&h->answer) + 1;
    memcpy(h->request_file, file, strlen(file) + 1);
    qp_publish(&h->request, request);
    qp_fetch_add(&h->bell, 1);
    bool is_heard = qp_system_bell_ring(&h->bell, 1);
    bool is_done = is_answered(h, request, is_heard ? LOOKS_MAX : LOOKS_UNHEARD);
    if (!is_done && has_ended(h))
        return qp_cli_fail(cli, "process %llu ended before it answered",
                           (unsigned long long)h->pid);
    if (!is_done)
        return qp_cli_fail(cli,
                           "process %llu did not answer (start it with -config=FILE or -apply)",
                           (unsigned long long)h->pid);
    memcpy(text, h->answer_text, sizeof text);
    text[sizeof text - 1] = '\0';
    if (h->answer_code) {
        qp_cli_fail(cli, "process %llu: %s", (unsigned long long)h->pid,
                    text[0] ? text : "refused");
        return QP_EXIT_FAILED;
    }
    qp_screen_name(&cli->screen, file, 0);
    qp_out_format(cli->screen.out, ": applied in process %llu\n", (unsigned long long)h->pid);
    return QP_EXIT_CLEAN;
}

int qp_config_apply(const qp_cli *cli, const char *pid, const char *file)
{
    char path[4096], whole[PATH_MAX], *end;
    unsigned long long number = strtoull(pid, &end, 10);
    int fd;
    if (!number || *end)
        return qp_cli_fail(cli, "%s: expected the id of a process", pid);
    if (!qp_live_path(number, false, path, sizeof path)) {
        qp_live_why(number, path, sizeof path);
        return qp_cli_fail(cli, "%s: %s", pid, path);
    }
    if (!realpath(file, whole))
        return qp_cli_fail(cli, "%s: %s", file, strerror(errno));
    if (strlen(whole) >= PATH_BYTES)
        return qp_cli_fail(cli, "%s: path longer than %d bytes", file, PATH_BYTES - 1);
    qp_head *h = open_head(cli, path, &fd);
    int status = QP_EXIT_UNUSABLE;
    if (h && flock(fd, LOCK_EX) == 0) /* one request at a time */
        status = ask(cli, h, whole);
    if (h)
        munmap(h, sizeof *h);
    if (fd >= 0)
        close(fd);
    return status;
}
