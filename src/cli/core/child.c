/* child.c: start a program, hand signals on to it or take its output, wait for it. */
#include "cli/core/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/os/clock.h"
#include "model/model.h"

static const int passed_on[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,
                                SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};
enum { N_PASSED = sizeof passed_on / sizeof passed_on[0] };

/* What the tool ignores: a write that fails says so. Programs get back what was there before. */
static const int ignored[] = {SIGPIPE, SIGXFSZ};
enum { N_IGNORED = sizeof ignored / sizeof ignored[0] };
static struct sigaction before[N_IGNORED];

void qp_child_ignore_signals(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    for (int i = 0; i < N_IGNORED; i++)
        sigaction(ignored[i], &ignore, &before[i]);
}

static volatile pid_t child_pid;

/* A key typed at the terminal reaches the program by itself: only what a process sent is ours to
 * hand on. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    int error = errno;
    (void)context;
    if (info->si_code <= 0 && child_pid > 0)
        kill(child_pid, number);
    errno = error;
}

static void take_signals(void)
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    for (int i = 0; i < N_PASSED; i++) {
        struct sigaction old;
        if (sigaction(passed_on[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(passed_on[i], &action, NULL);
    }
}

/* In the child. @return only if the program could not be started: through the pipe */
static void become(char **argv, const char *value, const char *run_at, const sigset_t *mask,
                   int to_parent)
{
    for (int i = 0; i < N_IGNORED; i++)
        sigaction(ignored[i], &before[i], NULL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    bool is_set = setenv("QPROF", value, 1) == 0 && setenv("QPROF_RUN", run_at, 1) == 0;
    int error = is_set ? 0 : errno;
    if (!error) {
        execvp(argv[0], argv);
        error = errno;
    }
    if (write(to_parent, &error, sizeof error) < 0)
        _exit(126);
    _exit(127);
}

/* The program has ended when waitid returns, but its entry in /proc, which names its live file,
 * stays until it is reaped. */
static void wait_for(qp_child *child)
{
    siginfo_t info;
    while (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        continue;
    qp_live_path((uint64_t)child->pid, false, child->live, sizeof child->live);
    child_pid = 0;
    while (waitpid(child->pid, &child->status, 0) < 0 && errno == EINTR)
        continue;
}

bool qp_child_run(const qp_cli *cli, char **argv, const char *options, qp_child *child)
{
    int pipes[2], error = 0;
    sigset_t all, mask;
    char run_at[24];
    *child = (qp_child){.started_at = qp_clock_wall()};
    snprintf(run_at, sizeof run_at, "%" PRIu64, child->started_at);
    if (pipe2(pipes, O_CLOEXEC) != 0)
        return qp_cli_refuse(cli, "%s: %s", argv[0], strerror(errno));
    /* No signal is lost between the fork and the moment when the child's id is known. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    child->pid = fork();
    if (child->pid == 0)
        become(argv, options, run_at, &mask, pipes[1]);
    error = child->pid < 0 ? errno : 0;
    child_pid = child->pid;
    close(pipes[1]);
    take_signals();
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (!error) {
        ssize_t n;
        while ((n = read(pipes[0], &error, sizeof error)) < 0 && errno == EINTR)
            continue;
        error = n == sizeof error ? error : 0;
        wait_for(child);
    }
    close(pipes[0]);
    if (error)
        qp_cli_fail(cli, "%s: %s", argv[0],
                    error == ENOENT ? "no such program" : strerror(error));
    return error == 0;
}

/* ---- a program for its output ------------------------------------------------------------------ */

static int start(char *const *argv, const int out[2], const int complaints[2], pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t plain;
    sigemptyset(&plain);
    for (int i = 0; i < N_IGNORED; i++)
        sigaddset(&plain, ignored[i]);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, complaints[1], STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &plain);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    int error = posix_spawnp(pid, argv[0], &files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* @return bytes read: 0 at the end; < 0: no memory, or a failed read */
static ssize_t read_more(int fd, qp_child_output *o, size_t *room)
{
    enum { FIRST_BYTES = 1 << 16 };
    if (*room - o->n_bytes < 2) {
        size_t wanted = *room ? 2 * *room : FIRST_BYTES;
        char *text = qp_realloc(o->text, wanted, 1);
        if (!text)
            return -1;
        o->text = text;
        *room = wanted;
    }
    ssize_t n;
    while ((n = read(fd, o->text + o->n_bytes, *room - o->n_bytes - 1)) < 0 && errno == EINTR)
        continue;
    o->n_bytes += n > 0 ? (size_t)n : 0;
    o->text[o->n_bytes] = '\0';
    return n;
}

/* Read both pipes to their ends: the program must not wait for one of them. */
static bool read_all(int out, int complaints, qp_child_output *o)
{
    struct pollfd both[2] = {{.fd = out, .events = POLLIN},
                             {.fd = complaints, .events = POLLIN}};
    size_t room = 0, n_complaint = 0;
    bool is_good = true;
    while (is_good && (both[0].fd >= 0 || both[1].fd >= 0)) {
        char bytes[512];
        ssize_t n = 0;
        if (poll(both, 2, -1) < 0)
            continue;
        if (both[0].revents && (n = read_more(out, o, &room)) <= 0) {
            is_good = n == 0;
            both[0].fd = -1;
        }
        if (both[1].revents && (n = read(complaints, bytes, sizeof bytes)) <= 0)
            both[1].fd = -1;
        for (ssize_t i = 0; both[1].revents && i < n; i++)
            if (n_complaint + 1 < sizeof o->complaint)
                o->complaint[n_complaint++] = bytes[i];
    }
    o->complaint[strcspn(o->complaint, "\n")] = '\0';
    return is_good;
}

int qp_child_read(char *const *argv, qp_child_output *o)
{
    int out[2], complaints[2] = {-1, -1};
    pid_t pid;
    *o = (qp_child_output){0};
    if (pipe2(out, O_CLOEXEC) != 0)
        return errno;
    int error = pipe2(complaints, O_CLOEXEC) == 0 ? start(argv, out, complaints, &pid) : errno;
    close(out[1]);
    if (complaints[1] >= 0)
        close(complaints[1]);
    bool is_running = !error;
    if (is_running)
        error = read_all(out[0], complaints[0], o) ? 0 : ENOMEM;
    close(out[0]); /* a program of which we want no more ends by SIGPIPE */
    if (complaints[0] >= 0)
        close(complaints[0]);
    while (is_running && waitpid(pid, &o->status, 0) < 0 && errno == EINTR)
        continue;
    return error;
}
