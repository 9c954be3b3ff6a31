/* run_stream.c: a profile of `qprof run` for standard output, a pipe or a device. While it grows it is a file in memory;
 * then it lies in a folder of its own until it was copied. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/text/buf.h"
#include "cli/record/record.h"

bool qp_run_stream_is(const char *output)
{
    return output && (qp_output_is_standard(output) || qp_output_is_stream(output));
}

/* Open what the profile goes to. The reader of a pipe may begin at the same time as this command.
 * @return a descriptor; < 0: see errno */
static int open_stream(const char *to)
{
    enum { PAUSE_NS = 10000000, N_TRIES = 500 };
    int out = -1;
    if (qp_output_is_standard(to))
        return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    for (int i = 0; out < 0 && i < N_TRIES; i++) {
        out = open(to, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (out < 0 && errno != ENXIO)
            return -1;
        if (out < 0)
            qp_clock_sleep_until(qp_clock_monotonic() + PAUSE_NS);
    }
    if (out < 0)
        errno = ENXIO;
    return out >= 0 && fcntl(out, F_SETFL, 0) == 0 ? out : -1;
}

/* What the program writes to standard output goes to standard error or, if that is closed, nowhere. */
static void divert_standard_output(void)
{
    if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
        return;
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, STDOUT_FILENO);
}

bool qp_run_stream_begin(qp_cli *cli, qp_run_stream *s)
{
    const char *folder = getenv("TMPDIR");
    *s = (qp_run_stream){.to = cli->args.output, .out = open_stream(cli->args.output)};
    if (s->out < 0)
        return qp_cli_refuse(cli, "%s: %s", s->to,
                             errno == ENXIO ? "no program reads this pipe" : strerror(errno));
    qp_text_format(s->folder, sizeof s->folder, "%s/qprof-run.XXXXXX",
                   folder && *folder ? folder : "/tmp");
    if (!mkdtemp(s->folder))
        return qp_cli_refuse(cli, "%s: %s (TMPDIR names another folder)", s->folder,
                             strerror(errno));
    qp_text_format(s->path, sizeof s->path, "%s/profile.qprof", s->folder);
    cli->args.output = s->path;
    cli->args.stream = s->to;
    if (qp_output_is_standard(s->to))
        divert_standard_output();
    return true;
}

bool qp_run_stream_end(const qp_cli *cli, const qp_run_stream *s, const char *profile,
                       bool is_running)
{
    int in = *profile ? open(profile, O_RDONLY | O_CLOEXEC) : -1;
    int error = *profile ? in < 0 ? errno : qp_copy_bytes(in, s->out) : 0;
    if (in >= 0)
        close(in);
    if (close(s->out) != 0 && !error)
        error = errno;
    if (error)
        return qp_cli_refuse(cli, "%s: %s; the profile is still in %s", s->to, strerror(error),
                             profile);
    if (*profile)
        unlink(profile);
    if (is_running || rmdir(s->folder) != 0)
        qp_cli_warn(cli, "%s got one profile; what else this run writes is in %s", s->to,
                    s->folder);
    return true;
}
