/* xbase.c: `qprof trace rebuild` and `trace remark`: the files of an Xbase++ trace. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os/file.h"
#include "base/os/new_file.h"
#include "base/text/unit.h"
#include "cli/core/cli.h"
#include "cli/trace/trace.h"
#include "xbase/xbase.h"

typedef struct {
    const char *path;
    qp_prf_joined joined;
} rebuild;

static bool write_rows(const void *data, qp_out *out, qp_error *error)
{
    rebuild *r = *(rebuild *const *)data;
    const char *why;
    if (qp_prf_join(r->path, out, &r->joined, &why))
        return true;
    return qp_error_fail(error, "%s: %s", r->path, why);
}

/* Parameters are in a separate file, which is copied with the table. */
static bool write_copy(const void *data, qp_out *out, qp_error *error)
{
    static char bytes[1 << 16];
    const int *fd = data;
    uint64_t at = 0;
    (void)error;
    for (size_t n; (n = qp_file_read_at(*fd, bytes, sizeof bytes, at)) > 0; at += n)
        qp_out_bytes(out, bytes, n);
    return true;
}

bool qp_trace_memo_is_free(const qp_cli *cli, const char *from)
{
    char memo_from[QP_PRF_PATH_BYTES], memo_to[QP_PRF_PATH_BYTES];
    qp_prf_memo_path(from, memo_from);
    qp_prf_memo_path(cli->args.output, memo_to);
    return qp_output_is_free(cli, memo_to, memo_from, NULL);
}

static int copy_memo(qp_cli *cli, const char *from, const char *to)
{
    char memo_from[QP_PRF_PATH_BYTES], memo_to[QP_PRF_PATH_BYTES];
    const char *why;
    qp_prf_memo_path(from, memo_from);
    qp_prf_memo_path(to, memo_to);
    if (access(memo_from, F_OK) != 0)
        return QP_EXIT_CLEAN;
    int fd = qp_file_open_beside(memo_from, &why);
    if (fd < 0)
        return qp_cli_fail(cli, "%s: %s", memo_from, why);
    int status = qp_output_write(cli, memo_to, write_copy, &fd);
    close(fd);
    return status;
}

static int report(const qp_cli *cli, const rebuild *r)
{
    const qp_prf_joined *j = &r->joined;
    uint64_t n_missing = j->n_declared > j->n_rows ? j->n_declared - j->n_rows : 0;
    char packets[QP_NUMBER_BYTES], rows[QP_NUMBER_BYTES];
    qp_screen_name(&cli->screen, cli->args.output, 0);
    qp_out_format(cli->screen.out, ": %s", qp_unit_things(packets, j->n_packets, "packet"));
    if (j->n_rows)
        qp_out_format(cli->screen.out, ", %s", qp_unit_things(rows, j->n_rows, "record"));
    qp_out_char(cli->screen.out, '\n');
    if (j->n_unread)
        qp_cli_warn(cli, "%s: %s beside it cannot be read, and may not be a link", r->path,
                    qp_unit_things(packets, j->n_unread, "packet"));
    if (n_missing)
        qp_cli_warn(cli, "%s: %s missing: the header packet counts them, their packets are %s",
                    r->path, qp_unit_things(rows, n_missing, "record"),
                    j->n_unread ? "left out" : "absent");
    if (j->n_damaged)
        qp_cli_warn(cli, "%s: %s at the end of packets left out: not a whole record", r->path,
                    qp_unit_size(packets, j->n_damaged));
    return n_missing || j->n_unread || j->n_damaged ? QP_EXIT_SALVAGED : QP_EXIT_CLEAN;
}

static int run_rebuild(qp_cli *cli)
{
    const qp_args *a = &cli->args;
    if (!a->output || a->n_operands != 1 || qp_output_is_standard(a->output))
        return qp_cli_fail(cli, "usage: qprof trace rebuild -o FILE TEST.PRF");
    rebuild r = {.path = a->operands[0]}, *data = &r;
    snprintf(cli->path, sizeof cli->path, "%s", r.path);
    if (!qp_output_is_free(cli, a->output, r.path, NULL) || !qp_trace_memo_is_free(cli, r.path))
        return QP_EXIT_UNUSABLE;
    int status = qp_output_write(cli, a->output, write_rows, &data);
    if (status == QP_EXIT_CLEAN)
        status = copy_memo(cli, r.path, a->output);
    return status == QP_EXIT_CLEAN ? report(cli, &r) : status;
}

const qp_command qp_command_trace_rebuild = {
    .name = "trace rebuild",
    .operands = "-o FILE TEST.PRF",
    .summary = "the packets of an Xbase++ trace as one file",
    .about = "Joins a header packet and the packets beside it, TEST.PRF.000001 and so on, in "
             "the order of their numbers; missing packets leave no gap. The count of records "
             "is corrected and the end is marked. Parameters, in TEST.PRV, are copied. Other "
             "commands read packets without this.",
    .flags = (const qp_flag[]){QP_TEXT("output", 'o', "FILE", output, "file to write"),
                               QP_FLAG_FORCE, QP_FLAGS_COMMON},
    .examples = "qprof trace rebuild -o WHOLE.PRF TEST.PRF",
    .run = run_rebuild};

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
    int fd = qp_file_open_beside(path, &why);
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

const qp_command qp_command_trace_remark = {
    .name = "trace remark",
    .operands = "FILE [TEXT]",
    .summary = "a comment beside a trace",
    .about = "Stores a text in NAME.PRA beside the trace NAME.PRF (any suffix); without TEXT, "
             "shows the stored one. An empty TEXT removes it.",
    .flags = qp_flags_common,
    .examples = "qprof trace remark TEST.PRF 'before the index was added'\n"
                "qprof trace remark TEST.PRF",
    .run = run_remark};
