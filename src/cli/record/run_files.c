/* run_files.c: the profiles of all processes of one `qprof run`, and what killed ones of them left.
 * Read qp_run_files_find first. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/os/clock.h"
#include "base/os/file.h"
#include "base/os/place.h"
#include "base/text/buf.h"
#include "cli/record/record.h"
#include "format/layout.h"
#include "format/trace.h"
#include "model/model.h"
#include "model/read/read.h"

const char *qp_shorter_path(const char *path)
{
    char folder[4096];
    size_t n = getcwd(folder, sizeof folder) ? strlen(folder) : 0;
    bool is_below = n && strncmp(path, folder, n) == 0 && path[n] == '/';
    return is_below ? path + n + 1 : path;
}

/* ---- heads --------------------------------------------------------------------------------- */

/* Are two texts of two profiles equal? */
static bool is_text_equal(const char *a, qp_ref in_a, const char *b, qp_ref in_b)
{
    char text_a[4096], text_b[4096];
    return strcmp(qp_live_text(a, in_a, text_a, sizeof text_a),
                  qp_live_text(b, in_b, text_b, sizeof text_b)) == 0;
}

const char *qp_run_earlier(const char *path, char *to, size_t n_bytes)
{
    char pattern[4096 + 8];
    qp_head own, head;
    glob_t found = {0};
    uint64_t newest = 0;
    const char *slash = strrchr(path, '/');
    *to = '\0';
    qp_text_format(pattern, sizeof pattern, "%.*s*.qprof", slash ? (int)(slash + 1 - path) : 0,
                   path);
    if (!qp_live_head(path, &own) || strcspn(pattern, "?[\\") < strlen(pattern) ||
        strchr(pattern, '*') != strrchr(pattern, '*') || glob(pattern, 0, NULL, &found) != 0)
        return to;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *other = found.gl_pathv[i];
        if (!qp_live_head(other, &head) || head.ended_at <= newest ||
            head.ended_at > own.started_at || (own.run_at && head.run_at == own.run_at) ||
            !is_text_equal(path, own.program, other, head.program) ||
            !is_text_equal(path, own.script, other, head.script) ||
            !is_text_equal(path, own.arguments, other, head.arguments))
            continue;
        newest = head.ended_at;
        qp_text_format(to, n_bytes, "%s", other);
    }
    globfree(&found);
    return to;
}

/* The name that the recorder would have given to the profile. */
static void name_profile(const char *live, const qp_head *head, const qp_recorder_words *words,
                         char *to, size_t n_bytes)
{
    char program[256], target[4096], script[4096], folder[4096], host[256], labels[4096];
    char executable[64], whole[4096];
    snprintf(executable, sizeof executable, "/proc/%" PRIu64 "/exe", head->pid);
    ssize_t n = readlink(executable, target, sizeof target - 1);
    target[n > 0 ? n : 0] = '\0'; /* of a process that was not reaped yet */
    const qp_name_facts facts = {
        .program = qp_live_text(live, head->program, program, sizeof program),
        .program_path = *target ? target : program,
        .script = qp_live_text(live, head->script, script, sizeof script),
        .folder = qp_live_text(live, head->folder, folder, sizeof folder),
        .host = qp_live_text(live, head->host_version, host, sizeof host),
        .labels = qp_live_text(live, head->labels, labels, sizeof labels),
        .pid = (pid_t)head->pid,
        .thread = (pid_t)head->pid,
        .dataset = head->dataset};
    qp_recorder_path(words, &facts, whole, sizeof whole);
    qp_text_format(to, n_bytes, "%s", qp_shorter_path(whole));
}

/* ---- a process that did not seal its profile ----------------------------------------------- */

int qp_copy_bytes(int in, int out)
{
    char bytes[1 << 16];
    for (ssize_t n; (n = read(in, bytes, sizeof bytes)) != 0;) {
        if (n < 0)
            return errno;
        for (ssize_t at = 0, done; at < n; at += done) {
            done = write(out, bytes + at, (size_t)(n - at));
            if (done <= 0)
                return done < 0 ? errno : ENOSPC;
        }
    }
    return 0;
}

/* Copy a file to a new one. @return 0, or an errno value; no file is left then */
static int copy_file(const char *from, const char *to)
{
    int in = qp_live_open(from);
    int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int error = in < 0 || out < 0 ? errno : qp_copy_bytes(in, out);
    if (out >= 0 && close(out) != 0 && !error)
        error = errno;
    if (out >= 0 && error)
        unlink(to);
    if (in >= 0)
        close(in);
    return error;
}

/* Is there a state at the last cut of its spool, up to which all is saved already? Where the folder was missing all the time there is
 * none, and no cut. @param state  [4096] of the last one */
static bool has_spool(const char *live, const qp_head *head, char *state)
{
    return *qp_live_text(live, head->spool, state, 4096) &&
           (head->dataset || access(state, F_OK) == 0 || errno != ENOENT);
}

static int copy_remainder(const char *live, const char *state, const char *to)
{
    qp_image image;
    qp_error error;
    if (!qp_live_remainder(live, state, &image, &error))
        return errno ? errno : ENOENT;
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int why = out >= 0 && qp_file_write(out, image.bytes, image.file_bytes) ? 0 : errno;
    if (out >= 0 && close(out) != 0 && !why)
        why = errno;
    if (out >= 0 && why)
        unlink(to);
    qp_image_fini(&image);
    return why;
}

bool qp_live_save(const qp_cli *cli, const char *live, char *path, size_t n_bytes)
{
    qp_head head;
    char temporary[4096 + 32], state[4096];
    qp_live_head(live, &head);
    snprintf(temporary, sizeof temporary, "%s.tmp%ld", path, (long)getpid());
    int error = has_spool(live, &head, state) ? copy_remainder(live, state, temporary)
                                              : copy_file(live, temporary);
    if (!error && !qp_place_file(temporary, path, n_bytes, qp_earlier_profile, &head)) {
        error = errno;
        unlink(temporary);
    }
    if (error)
        return qp_cli_refuse(cli, "%s: %s; the profile is still in %s", path, strerror(error),
                             live);
    unlink(live); /* it occupies memory, and its copy is complete */
    if (*state)
        unlink(state);
    return true;
}

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
#define SIGNAL_PREFIX "SIG"
static const char *signal_name(int number)
{
    const char *name = sigabbrev_np(number);
    return name ? name : "?";
}
#else /* it has only sentences */
#define SIGNAL_PREFIX "a signal: "
#define signal_name   strsignal
#endif

const char *qp_child_end(const qp_child *child, char *to, size_t n_bytes)
{
    int status = child->status;
    if (WIFSIGNALED(status))
        snprintf(to, n_bytes, "was killed by %s%s", SIGNAL_PREFIX,
                 signal_name(WTERMSIG(status)));
    else
        snprintf(to, n_bytes, "ended with status %d", WEXITSTATUS(status));
    return to;
}

/* Save a live file of the run under the name that its profile would have had. */
static bool save_live(const qp_cli *cli, const qp_child *child, const qp_recorder_words *words,
                      const char *live)
{
    char path[4096], who[64], end[64];
    qp_head head;
    qp_live_head(live, &head);
    bool is_own = head.pid == (uint64_t)child->pid;
    name_profile(live, &head, words, path, sizeof path);
    if (!qp_live_save(cli, live, path, sizeof path))
        return false;
    snprintf(who, sizeof who, "process %" PRIu64, head.pid);
    qp_cli_warn(cli, "%s %s before its profile was complete; saved what was recorded to %s",
                is_own ? cli->args.rest[0] : who,
                is_own ? qp_child_end(child, end, sizeof end) : "ended",
                is_own && cli->args.stream ? cli->args.stream : path);
    return true;
}

/* Save what processes of the run have left, and list those that run. A process that is being killed needs
 * a moment to end.
 * @return false: a message was printed */
static bool save_all(const qp_cli *cli, const qp_child *child, const qp_recorder_words *words,
                     qp_buf *running)
{
    enum { WAIT_NS = 300000000, PAUSE_NS = 10000000 };
    uint64_t until = qp_clock_monotonic() + WAIT_NS;
    qp_live_file *live;
    size_t n;
    bool is_good = qp_live_list(true, &live, &n);
    for (size_t i = 0; is_good && i < n; i++) {
        qp_head head;
        if (!qp_live_head(live[i].path, &head) || head.run_at != child->started_at)
            continue;
        while (qp_live_is_running(head.pid, head.pid_start) && qp_clock_monotonic() < until)
            qp_clock_sleep_until(qp_clock_monotonic() + PAUSE_NS);
        live[i].is_running = qp_live_is_running(head.pid, head.pid_start);
        if (access(live[i].path, F_OK) != 0)
            continue; /* it sealed its profile meanwhile */
        uint64_t *pid = live[i].is_running ? qp_buf_add(running) : NULL;
        if (pid)
            *pid = live[i].pid;
        else
            is_good = save_live(cli, child, words, live[i].path);
    }
    qp_free(live);
    bool is_left = *child->live && access(child->live, F_OK) == 0; /* or older than QPROF_RUN */
    return is_good && (!is_left || save_live(cli, child, words, child->live));
}

/* ---- sealed profiles ------------------------------------------------------------------------ */

/* Is the profile of this run? One without a time of the run is of an older recorder. */
static bool is_of_run(const qp_child *child, const char *path, qp_run_file *f)
{
    enum { TICK_NS = 10000000 }; /* how late the clock of a file system may be */
    qp_head head;
    int fd = qp_live_head(path, &head) ? qp_live_open(path) : -1;
    if (fd < 0)
        return false;
    *f = (qp_run_file){.pid = head.pid,
                       .ended_at = qp_profile_completed(&head, fd),
                       .is_own = head.pid == (uint64_t)child->pid};
    close(fd);
    qp_text_format(f->path, sizeof f->path, "%s", qp_shorter_path(path));
    return head.run_at == child->started_at ||
           (!head.run_at && f->is_own && f->ended_at + TICK_NS >= child->started_at);
}

/* The program's own come first, then the newest; equal times decide nothing. */
static int compare(const void *a, const void *b)
{
    const qp_run_file *x = a, *y = b;
    if (x->is_own != y->is_own)
        return x->is_own ? -1 : 1;
    if (x->ended_at != y->ended_at)
        return x->ended_at > y->ended_at ? -1 : 1;
    return -strverscmp(x->path, y->path);
}

bool qp_run_files_find(const qp_cli *cli, const qp_child *child, const qp_recorder_words *words,
                       qp_run_files *to)
{
    char pattern[2 * 4096];
    glob_t names = {0};
    qp_buf found = QP_BUF(qp_run_file), running = QP_BUF(uint64_t);
    bool is_good = save_all(cli, child, words, &running);
    qp_recorder_glob(words, pattern, sizeof pattern);
    glob(pattern, 0, NULL, &names);
    strncat(pattern, ".[0-9]*", sizeof pattern - strlen(pattern) - 1);
    glob(pattern, GLOB_APPEND, NULL, &names);
    for (size_t i = 0; i < names.gl_pathc; i++) {
        static qp_run_file f;
        qp_run_file *row = is_of_run(child, names.gl_pathv[i], &f) ? qp_buf_add(&found) : NULL;
        if (row)
            *row = f;
    }
    globfree(&names);
    to->all = qp_buf_take(&found, &to->n);
    to->running = qp_buf_take(&running, &to->n_running);
    if (!to->all || !to->running) {
        qp_cli_fail_memory(cli);
        return false;
    }
    qsort(to->all, to->n, sizeof *to->all, compare);
    return is_good;
}

void qp_run_files_fini(qp_run_files *files)
{
    qp_free(files->all);
    qp_free(files->running);
}
