/* spool.c: -spool: a profile of each interval, in a folder that `qprof push` empties. Read write_state first.
 *
 * No thread stops, and nothing is cleared: the recorder copies its state, appends that of the last cut, and readers subtract. The last
 * cut has a second name in the folder, so that the tool can find what came after it when the process is killed. The identity of a cut
 * is nonce and number: what the tool makes again after a kill is the same cut, or a later state of it. A cut that cannot be written is
 * part of the next one. All under the control lock. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/os/file.h"
#include "base/os/system.h"
#include "base/os/thread.h"
#include "record/control/control.h"

static struct {
    int fd;           /* of the last cut ... */
    uint64_t n_bytes; /* ... whose first bytes are the state at it; 0: none */
    uint32_t n_cuts;
    uint64_t due;          /* monotonic ns; UINT64_MAX: never; 0: there is no spool */
    uint32_t epoch_failed; /* run in which the first failure was reported */
} spool;

/* folder/service.nonce. of cuts; second name of the last one; name of one that is being written. */
static char prefix[QP_PATH_MAX], state_path[QP_PATH_MAX], fresh[QP_PATH_MAX];

void qp_spool_set_due(void)
{
    uint64_t every = qp_recorder.options.number[QP_OPT_spool_every];
    spool.due = every ? qp_clock_monotonic() + every * 1000000000 : UINT64_MAX;
}

/* ---- names -------------------------------------------------------------------------------- */

/* @return false: they are too long, or have an unknown conversion */
static bool make_names(void)
{
    static char pattern[QP_PATH_MAX];
    qp_error unused;
    unsigned long long nonce = qp_recorder_head()->nonce;
    qp_name_facts facts = {0};
    qp_names_facts(&facts);
    const char *who = qp_name_label(facts.labels, "service", 7) ? "%{service}" : "%v";
    snprintf(pattern, sizeof pattern, "%.3900s/%s.%016llx.",
             qp_option_text(&qp_recorder.options, QP_OPT_spool), who, nonce);
    errno = EINVAL;
    if (qp_output_name(pattern, qp_recorder.n_datasets, prefix, sizeof prefix - 32, &unused) !=
        0)
        return false;
    int n = (int)(strrchr(prefix, '/') + 1 - prefix);
    n = snprintf(state_path, sizeof state_path, "%.*s.%016llx.state", n, prefix, nonce);
    memcpy(fresh, state_path, sizeof fresh);
    fresh[n - 1] = 'x'; /* .statx */
    return true;
}

/* ---- the limit ---------------------------------------------------------------------------- */

/* Add up the cuts of this service.
 * @param oldest  [QP_PATH_MAX] receives the path of the one that was written first, but for the newest; "": there is none */
static uint64_t look(const char *newest, char *oldest)
{
    static char path[QP_PATH_MAX];
    static qp_folder f; /* all of it is zero but while it is read */
    struct stat st;
    struct timespec first = {0, 0};
    uint64_t n_bytes = 0;
    size_t n_folder = (size_t)(strrchr(newest, '/') + 1 - newest), n_all = strlen(newest);
    size_t n_service = strlen(prefix) - sizeof "0123456789abcdef"; /* and the dot */
    memcpy(path, newest, n_folder);
    path[n_folder] = *oldest = '\0';
    f.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (const char *name; f.fd >= 0 && (name = qp_system_next_name(&f)) != NULL;) {
        snprintf(path + n_folder, QP_PATH_MAX - n_folder, "%s", name);
        if (strlen(path) != n_all || strncmp(path, prefix, n_service) != 0 ||
            lstat(path, &st) != 0)
            continue;
        n_bytes += (uint64_t)st.st_blocks * 512;
        bool is_older =
            !*oldest || st.st_mtim.tv_sec < first.tv_sec ||
            (st.st_mtim.tv_sec == first.tv_sec && st.st_mtim.tv_nsec < first.tv_nsec);
        if (is_older && strcmp(path, newest) != 0) {
            first = st.st_mtim;
            memcpy(oldest, path, n_all + 1);
        }
    }
    if (f.fd >= 0)
        close(f.fd);
    return n_bytes;
}

/* Remove the oldest cuts of this service, at most so many at once. The newest stays, whatever its size. */
static void keep_limit(const char *newest)
{
    enum { MOST = 16 };
    static char oldest[QP_PATH_MAX];
    uint64_t limit = qp_recorder.options.number[QP_OPT_spool_limit];
    for (unsigned i = 0; i < MOST && look(newest, oldest) > limit && *oldest; i++)
        qp_recorder_head()->spool_dropped +=
            unlink(oldest) == 0; /* else it was pushed meanwhile */
}

/* ---- a cut -------------------------------------------------------------------------------- */

/* errno says why. It is reported once a run. */
static bool fail(void)
{
    qp_error line;
    qp_count(&qp_recorder.space, QP_D_e_io);
    qp_error_set(&line, QPROF_E_IO, "-spool: %s; it goes into the next profile",
                 qp_file_reason(errno, true));
    if (spool.epoch_failed != qp_recorder.epoch) {
        qp_recorder_log("%s", line.text);
        qp_after_save_tell(line.text, false);
    }
    spool.epoch_failed = qp_recorder.epoch;
    return false;
}

/* The folder has the state at the last cut in the first half of that cut, whatever becomes of the cut itself. */
static bool keep_state(int fd, uint64_t n_bytes)
{
    bool is_kept = rename(fresh, state_path) == 0;
    if (spool.n_bytes)
        close(spool.fd);
    spool.fd = fd;
    spool.n_bytes = n_bytes;
    return is_kept;
}

/* Append the state at the last cut. */
static bool append_state(int fd, uint64_t n_bytes)
{
    off_t from = 0, to = (off_t)n_bytes;
    ssize_t n = 1;
    qp_signal_hold hold;
    qp_signal_hold_begin(&hold, SIGXFSZ);
    while (n > 0 && (uint64_t)from < spool.n_bytes)
        n = copy_file_range(spool.fd, &from, fd, &to, spool.n_bytes - (uint64_t)from, 0);
    qp_signal_hold_end(&hold);
    return n > 0;
}

/* @param path  of the cut; NULL: the first state, from which the first cut begins
 * @return false: errno says why */
static bool write_state(qp_file_state state, const char *label, char *path)
{
    qp_head h;
    uint32_t number = spool.n_cuts + (path != NULL);
    if (!make_names())
        return false;
    int fd = open(fresh, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    fd = fd < 0 ? fd : qp_file_raise(fd);
    bool is_good =
        fd >= 0 && qp_save_write(fd, &h, state, label, qp_recorder.space.map.path, number);
    if (is_good && path) {
        snprintf(path, QP_PATH_MAX, "%.4000s%08u" QP_PRODUCT_SUFFIX, prefix, number);
        is_good = append_state(fd, h.n_cells * QP_CELL) && link(fresh, path) == 0;
    }
    if (is_good)
        return keep_state(fd, h.n_cells * QP_CELL);
    int why = errno;
    if (fd >= 0) {
        close(fd);
        unlink(fresh);
    }
    errno = why;
    return false;
}

bool qp_spool_cut(qp_file_state state, const char *label, char *path)
{
    qp_recorder_head()->dataset++; /* first: what is left after a kill is later than the cut */
    if (write_state(state, label, path)) {
        spool.n_cuts++;
        keep_limit(path);
        return true;
    }
    qp_recorder_head()->dataset--;
    return state != QP_SEALED && fail();
}

/* ---- the run ------------------------------------------------------------------------------ */

bool qp_spool_is_on(void)
{
    return spool.due != 0;
}

void qp_spool_begin(void)
{
    if (QP_PRODUCT_IS_COVERAGE || !qp_option_text(&qp_recorder.options, QP_OPT_spool)[0])
        return;
    qp_spool_set_due();
    if (!write_state(QP_SNAPSHOT, NULL, NULL))
        fail();
    qp_publish(&qp_recorder_head()->spool, qp_texts_add(&qp_recorder.texts, state_path));
}

void qp_spool_end(bool is_complete)
{
    if (spool.n_bytes)
        close(spool.fd);
    if (spool.due && is_complete)
        unlink(state_path);
    spool.n_bytes = spool.due = spool.n_cuts = 0;
}

uint64_t qp_spool_wait_ns(void)
{
    uint64_t now = qp_clock_monotonic();
    return !spool.due || spool.due == UINT64_MAX ? UINT64_MAX
           : spool.due > now                     ? spool.due - now
                                                 : 0;
}
