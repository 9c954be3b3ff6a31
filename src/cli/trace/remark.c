/* remark.c: `qprof trace remark`: a comment beside a trace, NAME.PRA. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os/file.h"
#include "base/os/new_file.h"
#include "cli/core/cli.h"
#include "cli/trace/trace.h"

enum { REMARK_BYTES = 64 * 1024 };

/* TEST.PRF -> TEST.PRA */
static bool remark_path(const char *trace, char *to, size_t n_bytes)
{
    const char *slash = strrchr(trace, '/'), *dot = strrchr(slash ? slash : trace, '.');
    size_t n = dot ? (size_t)(dot - trace) : strlen(trace);
    return snprintf(to, n_bytes, "%.*s.PRA", (int)n, trace) < (int)n_bytes;
}

static bool write_remark(const void *data, qp_out *out, qp_error *error)
{
    (void)error;
    qp_out_text(out, data);
    qp_out_char(out, '\n');
    return true;
}

static int show(qp_cli *cli, const char *path)
{
    static char text[REMARK_BYTES];
    const char *why;
    int fd = qp_file_open(path, &why);
    if (fd < 0)
        return qp_cli_fail(cli, "%s: %s", path, why);
    size_t n = qp_file_read_at(fd, text, sizeof text - 1, 0);
    close(fd);
    text[n] = '\0';
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\r\n");
        bool is_last = !*end;
        *end = '\0';
        qp_screen_name(&cli->screen, line, 0);
        qp_out_char(cli->screen.out, '\n');
        end += !is_last;
        while (*end == '\n' || *end == '\r')
            end++;
    }
    return QP_EXIT_CLEAN;
}

static int run_remark(qp_cli *cli)
{
    char path[QP_NEW_FILE_PATH_BYTES];
    int n = cli->args.n_operands;
    if (n < 1 || n > 2)
        return qp_cli_fail(cli, "usage: qprof trace remark FILE [TEXT]");
    const char *trace = cli->args.operands[0], *text = n == 2 ? cli->args.operands[1] : NULL;
    if (access(trace, F_OK) != 0)
        return qp_cli_fail(cli, "%s: %s", trace, strerror(errno));
    if (!remark_path(trace, path, sizeof path))
        return qp_cli_fail(cli, "%s: file name too long", trace);
    if (!text)
        return show(cli, path);
    if (!*text && unlink(path) != 0 && errno != ENOENT)
        return qp_cli_fail(cli, "%s: %s", path, strerror(errno));
    return *text ? qp_output_write(cli, path, write_remark, text) : QP_EXIT_CLEAN;
}

static const qp_flag flags[] = {QP_FLAGS_COMMON};

const qp_command qp_command_trace_remark = {
    .name = "trace remark",
    .operands = "FILE [TEXT]",
    .summary = "a comment beside a trace",
    .about = "Stores a text in NAME.PRA beside the trace NAME.PRF (any suffix); without TEXT, "
             "shows\n"
             "the stored one. An empty TEXT removes it.",
    .flags = flags,
    .examples = "qprof trace remark TEST.PRF 'before the index was added'\n"
                "qprof trace remark TEST.PRF",
    .run = run_remark};
