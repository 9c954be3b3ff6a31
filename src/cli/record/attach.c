/* attach.c: samples a running process once in each period until the time is over, the process ends or
 * the user interrupts; the profile is written in any case. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os/clock.h"
#include "base/os/new_file.h"
#include "base/text/unit.h"
#include "cli/core/cli.h"
#include "cli/record/record.h"
#include "model/attach/attach.h"
#include "model/model.h"

/* Sample at absolute deadlines; missed ones are not made up. @return how many were missed */
static uint64_t sample(qp_attach *o, uint64_t lasts)
{
    uint64_t period = qp_attach_measure(o).period_ns, n_missed = 0;
    uint64_t due = qp_clock_monotonic(), end = due + lasts;
    while (due < end && qp_interrupt_sleep(due) && qp_attach_pass(o)) {
        uint64_t now = qp_clock_monotonic();
        for (due += period; due < now; due += period)
            n_missed++;
    }
    return n_missed;
}

static void warn_of(const qp_cli *cli, const qp_attach *o, uint64_t n_missed)
{
    char torn[QP_NUMBER_BYTES], passes[QP_NUMBER_BYTES];
    qp_attach_figures f = qp_attach_measure(o);
    if (f.n_torn)
        qp_cli_warn(cli, "%s left out: the stack changed while it was read",
                    qp_unit_things(torn, f.n_torn, "sample"));
    if (f.is_hidden && f.n_interrupts)
        qp_cli_warn(
            cli,
            "process %s samples itself and does not publish its stack: all PC samples are "
            "foreign; show its own samples with qprof list %s, or start it with "
            "-collect=stack",
            cli->args.pid, cli->args.pid);
    if (f.is_raised)
        qp_cli_warn(cli, "--pc=%s: raised to the shortest interval, %" PRIu64 " us",
                    cli->args.pc, f.period_ns / 1000);
    if (n_missed > f.n_passes / 10)
        qp_cli_warn(
            cli,
            "%s of %s passes were late and left out (this machine reaches --pc='%s %" PRIu64
            "')",
            qp_unit_count(torn, n_missed), qp_unit_count(passes, n_missed + f.n_passes),
            f.is_real ? "REAL" : "VIRTUAL", f.reached_ns / 1000 + 1);
}

static bool is_plain_file(const char *path)
{
    struct stat at;
    return stat(path, &at) == 0 && S_ISREG(at.st_mode);
}

/* Choose the name of the profile before the measurement. An existing file is never overwritten: the
 * name gets a number, as in the recorder.
 * @return false: it cannot be written; a message was printed */
static bool choose_name(const qp_cli *cli, uint64_t pid, char *path, size_t n_bytes)
{
    static qp_new_file file; /* 72 KiB: not on the stack */
    char live[4096];
    const char *why;
    bool is_live = qp_live_path(pid, false, live, sizeof live);
    snprintf(path, n_bytes, "%s", cli->args.output ? cli->args.output : "");
    if (!cli->args.output)
        snprintf(path, n_bytes, "attach.%" PRIu64 ".qprof", pid);
    if (!qp_output_is_free(cli, path, is_live ? live : NULL, NULL))
        return false;
    size_t n = strlen(path);
    for (int i = 1; i < 1000 && is_plain_file(path); i++)
        snprintf(path + n, n_bytes - n, ".%d", i);
    if (!qp_new_file_begin(&file, path, &why)) {
        qp_cli_fail(cli, "%s: %s", path, why);
        return false;
    }
    qp_new_file_drop(&file);
    return true;
}

bool qp_attach_run(const qp_cli *cli, char *path, size_t n_bytes)
{
    qp_error error;
    const qp_args *a = &cli->args;
    bool is_number = a->pid[strspn(a->pid, "0123456789")] == '\0';
    uint64_t pid = is_number ? strtoull(a->pid, NULL, 10) : 0;
    uint64_t lasts;
    if (!qp_args_time(a->lasts ? a->lasts : "10s", &lasts))
        lasts = 0;
    if (!pid)
        qp_cli_fail(cli, "--pid=%s: expected the id of a process", a->pid);
    else if (!lasts)
        qp_cli_fail(cli, "--for=%s: expected a time: 10s, 500ms or 2m", a->lasts);
    if (!pid || !lasts || !qp_recorder_check_pc(cli, a->pc ? a->pc : ""))
        return false;
    qp_attach *o = qp_attach_open(pid, a->pc ? a->pc : "", &error);
    if (!o) {
        qp_cli_fail(cli, "%s", error.text);
        return false;
    }
    bool is_good = choose_name(cli, pid, path, n_bytes);
    if (is_good) {
        qp_interrupt_take();
        uint64_t n_missed = sample(o, lasts);
        warn_of(cli, o, n_missed);
        is_good = qp_attach_write(o, n_missed, path, &error);
        if (!is_good)
            qp_cli_fail(cli, "%s", error.text);
    }
    qp_attach_free(o);
    return is_good;
}
