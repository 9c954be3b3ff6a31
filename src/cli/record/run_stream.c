/* run_stream.c: a profile of `qprof run` for standard output, a pipe or a device. While it grows it is a file in memory;
 * then it lies in a folder of its own until it was copied. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/buf.h"
#include "base/text/unit.h"
#include "cli/record/record.h"

static const char profile_name[] = "profile.qprof";

bool qp_run_stream_is(const char *output)
{
    return output && (qp_output_is_standard(output) || qp_output_is_stream(output));
}

/* Open what the profile goes to; what the program prints to standard output must not get there.
 * @return a descriptor; < 0: see errno */
static int open_stream(const char *to)
{
    int out;
    if (!qp_output_is_standard(to)) {
        out = open(to,
                   O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY); /* not waiting for a reader */
        return out >= 0 && fcntl(out, F_SETFL, 0) == 0 ? out : -1;
    }
    out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    return out >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 ? out : -1;
}

bool qp_run_stream_begin(qp_cli *cli, qp_run_stream *s)
{
    const char *folder = getenv("TMPDIR");
    *s = (qp_run_stream){.to = cli->args.output, .out = open_stream(cli->args.output)};
    if (s->out < 0)
        return qp_cli_refuse(cli, "%s: %s", s->to,
                             errno == ENXIO ? "no program reads this pipe" : strerror(errno));
    qp_text_format(s->folder, sizeof s->folder, "%s/qprof-run.XXXXXX",
                   folder && *folder == '/' ? folder : "/tmp");
    if (!mkdtemp(s->folder))
        return qp_cli_refuse(cli, "%s: %s (TMPDIR names another folder)", s->folder,
                             strerror(errno));
    qp_text_format(s->path, sizeof s->path, "%s/%s", s->folder, profile_name);
    cli->args.output = s->path;
    return true;
}

/* @return false: a message was printed */
static bool send(const qp_cli *cli, const qp_run_stream *s)
{
    int in = open(s->path, O_RDONLY | O_CLOEXEC);
    if (in < 0 && errno == ENOENT)
        return true; /* nothing was recorded: a line says why */
    int error = in < 0 ? errno : qp_copy_bytes(in, s->out);
    if (in >= 0)
        close(in);
    if (close(s->out) != 0 && !error)
        error = errno;
    return !error || qp_cli_refuse(cli, "%s: %s; the profile is still in %s", s->to,
                                   strerror(error), s->path);
}

bool qp_run_stream_end(const qp_cli *cli, const qp_run_stream *s)
{
    char path[sizeof s->folder + 256 + 1], number[QP_NUMBER_BYTES];
    size_t n_others = 0;
    if (!send(cli, s))
        return false;
    DIR *folder = opendir(s->folder);
    for (const struct dirent *e; folder && (e = readdir(folder));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        n_others += strcmp(e->d_name, profile_name) != 0;
        qp_text_format(path, sizeof path, "%s/%s", s->folder, e->d_name);
        unlink(path);
    }
    if (folder)
        closedir(folder);
    rmdir(s->folder);
    if (n_others)
        qp_cli_warn(cli,
                    "%s got the first profile; %s of this run left out (-o FILE keeps all)",
                    s->to, qp_unit_things(number, n_others, "further file"));
    return true;
}
