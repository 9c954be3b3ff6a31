/* after_save.c: what follows the save of a dataset: its summary and export files, and commands. Read qp_after_save
 * first.
 *
 * The files are written by the program qprof, so that their figures are those of its reports. A shell starts it, as
 * it does commands. A file appears under its name complete or not at all, as datasets do. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/file.h"
#include "base/os/place.h"
#include "base/os/system.h"
#include "record/control/control.h"

enum { SUMMARY, EXPORT, N_KINDS };
enum { STACK = 1, COMPOSITE = 2 }; /* of -save-thread-data */
enum { NOT_STARTED = -2, STATUS_UNKNOWN = -1, STATUS_NO_PROGRAM = 127, MARK_BYTES = 24 };

/* $0: the dataset, $1: the temporary file, $2: the number of a thread or nothing. The file $1+ has the messages, and is
 * removed if all is well: the host may keep the exit status from us. */
#define WRITE(commands)                                                                        \
    "exec </dev/null 2>/dev/null; umask 077; set -C; exec >\"$1\" 2>\"$1+\"; " commands        \
    " && rm -f \"$1+\""

#if QP_PRODUCT_IS_COVERAGE
#define REPORT "qprof cover summary \"$0\""
#define OTHER  "qprof cover export --to=purecov \"$0\""
#define MARK   "# PureCoverage export, "
#else
#define REPORT "qprof report ${2:+--thread=$2} \"$0\""
#define OTHER  "qprof export --to=quantify ${2:+--thread=$2} \"$0\""
#define MARK   "Comment\tqprof "
#endif

static const struct {
    uint8_t option;
    char letter; /* in commands */
    char name[8], suffix[6];
    char mark[MARK_BYTES]; /* how such a file begins */
    const char *script;
} kinds[N_KINDS] = {
    {QP_OPT_write_summary_file, 's', "summary", QP_PRODUCT_SUMMARY, "Summary by qprof\n",
     WRITE("echo Summary by qprof && qprof info \"$0\" && " REPORT)},
    {QP_OPT_write_export_file, 'x', "export", QP_PRODUCT_EXPORT, MARK, WRITE(OTHER)},
};

/* Under the control lock, as all here. */
static char names[N_KINDS][QP_PATH_MAX], temporary[QP_PATH_MAX], messages[QP_PATH_MAX],
    command[QP_PATH_MAX];

/* Run a shell script and wait. No signal is blocked in it.
 * @return its exit status; STATUS_UNKNOWN: the host has taken it; NOT_STARTED */
static int run(const char *script, const char *const args[3])
{
    char shell[] = "/bin/sh", flag[] = "-c";
    char *const all[] = {shell,
                         flag,
                         (char *)(uintptr_t)script,
                         (char *)(uintptr_t)args[0],
                         (char *)(uintptr_t)args[1],
                         (char *)(uintptr_t)args[2],
                         NULL};
    pid_t pid;
    int status = 0;
    sigset_t set;
    posix_spawnattr_t how;
    if (posix_spawnattr_init(&how) != 0)
        return NOT_STARTED;
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&how, &set);
    sigaddset(&set, SIGCHLD); /* a shell that ignores it cannot wait */
    posix_spawnattr_setsigdefault(&how, &set);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    bool is_started = posix_spawn(&pid, shell, NULL, &how, all, environ) == 0;
    posix_spawnattr_destroy(&how);
    if (!is_started)
        return NOT_STARTED;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return STATUS_UNKNOWN;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- files ------------------------------------------------------------------------------- */

void (*qp_after_save_tell)(const char *text, bool is_left_to_run);

/* Log why a file was not written, and print it once a run. */
static bool fail(unsigned kind, const char *path, const char *why)
{
    static uint32_t epoch_told;
    qp_error line;
    qp_count(&qp_recorder.space, QP_D_e_io);
    qp_error_set(&line, QPROF_E_IO, "%s of the dataset not written: %.200s%s%.200s",
                 kinds[kind].name, path, *path ? ": " : "", why);
    qp_recorder_log("%s", line.text);
    if (epoch_told != qp_recorder.epoch)
        qp_after_save_tell(line.text, false);
    epoch_told = qp_recorder.epoch;
    return false;
}

/* May it be replaced? If it is empty, or such a file of an earlier run. */
static bool is_earlier(const void *mark, int fd)
{
    char begin[MARK_BYTES];
    struct stat st;
    uint64_t run_at = qp_recorder_head()->run_at;
    size_t n = qp_file_read_at(fd, begin, strlen(mark), 0);
    return !n ||
           (fstat(fd, &st) == 0 && n == strlen(mark) && memcmp(begin, mark, n) == 0 &&
            (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec < run_at);
}

/* Read the first line of what was printed. @return false: there was no such file, so all is well */
static bool read_reason(char *why, size_t n_bytes)
{
    int fd = open(messages, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    why[qp_file_read_at(fd, why, n_bytes - 1, 0)] = '\0';
    why[strcspn(why, "\n")] = '\0';
    close(fd);
    unlink(messages);
    return true;
}

/* @param thread  its number; "": all. @param path  the name that was taken */
static bool write_file(unsigned kind, const qp_saved *saved, const char *thread, char *path)
{
    char why[200] = "";
    qp_error error = {0};
    if (qp_system_is_privileged())
        return fail(kind, path, "a program with set-user-id starts no other");
    if (qp_output_check(path, &error) != 0)
        return fail(kind, "", error.text);
    if (snprintf(temporary, sizeof temporary, "%s.tmp%ld-%llx", path, (long)getpid(),
                 (unsigned long long)qp_recorder_head()->nonce) >= (int)sizeof temporary - 1)
        return fail(kind, path, "file name too long");
    snprintf(messages, sizeof messages, "%.*s+", (int)sizeof messages - 2, temporary);
    int status = run(kinds[kind].script, (const char *const[]){saved->path, temporary, thread});
    bool is_bad = read_reason(why, sizeof why) || (status != 0 && status != STATUS_UNKNOWN);
    if (is_bad && status == STATUS_NO_PROGRAM)
        snprintf(why, sizeof why, "the program qprof is not in PATH");
    else if (is_bad && !why[0])
        snprintf(why, sizeof why, "qprof ended with status %d", status);
    else if (!is_bad &&
             qp_place_file(temporary, path, QP_PATH_MAX, is_earlier, kinds[kind].mark))
        return true;
    else if (!is_bad)
        snprintf(why, sizeof why, "%s", qp_file_reason(errno, true));
    unlink(temporary);
    return fail(kind, path, why);
}

static bool is_word(const char *given, const char *word)
{
    return qp_option_is(word, given, strlen(given));
}

/* @param given  the option's value; NULL: a file that is removed. @return false: it has none */
static bool name_file(unsigned kind, const qp_saved *saved, const char *given, char *path)
{
    qp_error error = {0};
    if (given && given[0] && !is_word(given, "yes")) {
        return qp_output_name(given, saved->number, path, QP_PATH_MAX, &error) == 0 ||
               fail(kind, "", error.text);
    }
    size_t n = strlen(saved->path), n_suffix = strlen(QP_PRODUCT_SUFFIX);
    if (n > n_suffix && strcmp(saved->path + n - n_suffix, QP_PRODUCT_SUFFIX) == 0)
        n -= n_suffix;
    return snprintf(path, QP_PATH_MAX, "%.*s%s%s", (int)n, saved->path, given ? "" : ".tmp",
                    kinds[kind].suffix) < QP_PATH_MAX ||
           fail(kind, saved->path, "file name too long");
}

/* Is there a thread of this number that called nothing? */
static bool is_idle(uint32_t number)
{
    const qp_thread_record *r;
    for (uint32_t i = 0; (r = qp_walk_records(&i, false)) != NULL;)
        if (r->ordinal == number)
            return !qp_save_has_calls(r);
    return false;
}

static void write_threads(unsigned kind, const qp_saved *saved, const char *given)
{
    char number[16];
    static char name[QP_PATH_MAX], path[QP_PATH_MAX];
    if (!name_file(kind, saved, given, name))
        return;
    for (uint32_t i = 1; i <= saved->n_threads; i++) {
        if (is_idle(i))
            continue;
        snprintf(number, sizeof number, "%u", i);
        if (snprintf(path, sizeof path, "%s.T%s", name, number) >= (int)sizeof path)
            fail(kind, name, "file name too long");
        else
            write_file(kind, saved, number, path);
    }
}

/* ---- commands ---------------------------------------------------------------------------- */

static bool uses(const char *pattern, char letter)
{
    for (; (pattern = strchr(pattern, '%')) != NULL && pattern[1]; pattern += 2)
        if (pattern[1] == letter)
            return true;
    return false;
}

static void run_command(const char *pattern, const qp_saved *saved)
{
    const qp_output_files files = {saved->path, names[SUMMARY], names[EXPORT]};
    const char *const none[3] = {NULL};
    if (!pattern[0])
        return;
    for (unsigned kind = 0; kind < N_KINDS; kind++)
        if (!names[kind][0] && uses(pattern, kinds[kind].letter)) {
            qp_recorder_log("not run, because there is no %s: %.200s", kinds[kind].name,
                            pattern);
            return;
        }
    int status = qp_output_command(pattern, saved->number, &files, command, sizeof command) == 0
                     ? run(command, none)
                     : NOT_STARTED;
    if (status == NOT_STARTED)
        qp_recorder_log("cannot run: %.200s", pattern);
    else
        qp_recorder_log("ran with status %d: %.200s", status, command);
}

void qp_after_save(const qp_saved *saved)
{
    const qp_options *o = &qp_recorder.options;
    const char *at_save = qp_option_text(o, QP_OPT_run_at_save);
    const char *at_exit = saved->is_last ? qp_option_text(o, QP_OPT_run_at_exit) : "";
    uint64_t threads = QP_PRODUCT_IS_COVERAGE ? COMPOSITE : o->number[QP_OPT_save_thread_data];
    bool is_kept[N_KINDS];
    for (unsigned kind = 0; kind < N_KINDS; kind++) {
        const char *given = qp_option_text(o, kinds[kind].option);
        bool is_used = uses(at_save, kinds[kind].letter) || uses(at_exit, kinds[kind].letter);
        bool is_asked_for = saved->is_written && !is_word(given, "no");
        is_kept[kind] = is_asked_for && threads & COMPOSITE;
        if (is_asked_for && threads & STACK)
            write_threads(kind, saved, given);
        if (!saved->is_written || !(is_kept[kind] || is_used) ||
            !name_file(kind, saved, is_kept[kind] ? given : NULL, names[kind]) ||
            !write_file(kind, saved, "", names[kind]))
            names[kind][0] = '\0';
    }
    run_command(at_save, saved);
    run_command(at_exit, saved);
    for (unsigned kind = 0; kind < N_KINDS; kind++)
        if (!is_kept[kind] && names[kind][0])
            unlink(names[kind]);
}
