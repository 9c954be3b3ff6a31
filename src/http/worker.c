/* worker.c: a process that answers one request. The server continues, however it ends. */
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/file.h"
#include "http/internal.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RESERVES_MEMORY 1 /* a sanitizer: far more than is used */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RESERVES_MEMORY 1
#endif
#endif
#ifndef RESERVES_MEMORY
#define RESERVES_MEMORY 0
#endif

enum { STATUS_FD = 3 };

static void limit(int what, uint64_t most)
{
    const struct rlimit value = {.rlim_cur = (rlim_t)most, .rlim_max = (rlim_t)most};
    setrlimit(what, &value);
}

static void take_limits(uint64_t max_memory)
{
    const uint64_t body_bytes = (uint64_t)1 << 30;
    if (!RESERVES_MEMORY)
        limit(RLIMIT_AS, max_memory);
    limit(RLIMIT_CPU, QP_HTTP_ANSWER_SECONDS);
    limit(RLIMIT_FSIZE, body_bytes);
    limit(RLIMIT_CORE, 0);
}

/* The process has its answer, its messages and its status, and none of the server's connections. */
static bool take_files(int body, int messages, int status)
{
    enum { MOST = 1024 };
    if (dup2(body, STDOUT_FILENO) < 0 || dup2(messages, STDERR_FILENO) < 0 ||
        dup2(status, STATUS_FD) < 0)
        return false;
    for (int fd = STATUS_FD + 1; fd < MOST; fd++)
        close(fd);
    return true;
}

static void work(const qp_http_service *service, const qp_http_route *route,
                 const qp_http_request *r)
{
    take_limits(service->max_memory);
    const unsigned status = service->answer(service->to, route, r);
    _exit(write(STATUS_FD, &status, sizeof status) != sizeof status);
}

static bool open_files(int pipes[2], int *body, int *messages, qp_error *error)
{
    const char *why = "";
    *body = *messages = -1;
    if (pipe2(pipes, O_CLOEXEC) != 0)
        return qp_error_fail(error, "this server has too many files open");
    *body = qp_file_temporary(&why);
    *messages = *body < 0 ? -1 : qp_file_temporary(&why);
    return *messages >= 0 || qp_error_fail(error, "%s", why);
}

bool qp_http_worker_start(qp_http_worker *w, const qp_http_service *service,
                          const qp_http_route *route, const qp_http_request *r,
                          const sigset_t *mask, qp_error *error)
{
    int pipes[2] = {-1, -1}, body, messages;
    const pid_t parent = getpid();
    bool is_good = open_files(pipes, &body, &messages, error);
    const pid_t pid = is_good ? fork() : -1;
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigprocmask(SIG_SETMASK, mask, NULL);
        if (getppid() == parent && take_files(body, messages, pipes[1]))
            work(service, route, r);
        _exit(1);
    }
    if (is_good && pid < 0)
        is_good = qp_error_fail(error, "this machine has too many processes");
    if (messages >= 0)
        close(messages);
    if (pipes[1] >= 0)
        close(pipes[1]);
    if (is_good) {
        *w = (qp_http_worker){pid, pipes[0], body};
        return true;
    }
    if (pipes[0] >= 0)
        close(pipes[0]);
    if (body >= 0)
        close(body);
    return false;
}

unsigned qp_http_worker_end(qp_http_worker *w)
{
    unsigned status = 0;
    ssize_t n;
    while ((n = read(w->status_pipe, &status, sizeof status)) < 0 && errno == EINTR)
        continue;
    while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    close(w->status_pipe);
    w->pid = 0;
    if (n == sizeof status && status)
        return status;
    close(w->body);
    w->body = -1;
    return 0;
}

void qp_http_worker_stop(qp_http_worker *w)
{
    kill(w->pid, SIGKILL);
    if (qp_http_worker_end(w))
        close(w->body);
}
