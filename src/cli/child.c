/* child.c: start a program, hand signals on to it, wait for it. */
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "model/live.h"

static const int passed_on[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,
                                SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};
enum { N_PASSED = sizeof passed_on / sizeof passed_on[0] };

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
static void become(char **argv, const char *value, const sigset_t *mask, int to_parent)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigaction(SIGPIPE, &plain, NULL); /* the tool ignores it */
    sigprocmask(SIG_SETMASK, mask, NULL);
    int error = setenv("QPROF", value, 1) == 0 ? 0 : errno;
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

bool qp_child_run(const qp_cli *cli, char **argv, const qp_recorder_words *words,
                  qp_child *child)
{
    static char value[16384];
    int pipes[2], error = 0;
    sigset_t all, mask;
    *child = (qp_child){.started_at = qp_clock_wall()};
    if (!qp_recorder_value(words, value, sizeof value)) {
        qp_cli_fail(cli, "too many options for the recorder");
        return false;
    }
    if (pipe2(pipes, O_CLOEXEC) != 0) {
        qp_cli_fail(cli, "%s: %s", argv[0], strerror(errno));
        return false;
    }
    /* No signal is lost between the fork and the moment when the child's id is known. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    child->pid = fork();
    if (child->pid == 0)
        become(argv, value, &mask, pipes[1]);
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
