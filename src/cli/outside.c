/* outside.c: one pass in each period, until the time is over, the process ends or somebody types
 * Ctrl-C; what was found is written in any case. */
#include "cli/outside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/new_file.h"
#include "base/unit.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/recorder.h"
#include "model/live.h"
#include "model/outside.h"

/* "10s", "500ms", "2m", "10": seconds. @return ns; 0: it is none */
static uint64_t duration_of(const char *text)
{
    static const struct {
        const char *suffix;
        double ns;
    } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"m", 60e9}, {"h", 3600e9}};
    char *end;
    double value = strtod(text, &end);
    if (end == text || !(value > 0) || value > 1e6)
        return 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].suffix) == 0)
            return (uint64_t)(value * units[i].ns);
    return 0;
}

/* Absolute deadlines; those that are missed are not made up. @return how many were */
static uint64_t sample(qp_outside *o, uint64_t lasts)
{
    uint64_t period = qp_outside_measure(o).period_ns, n_missed = 0;
    uint64_t due = qp_clock_monotonic(), end = due + lasts;
    while (due < end && qp_interrupt_sleep(due) && qp_outside_pass(o)) {
        uint64_t now = qp_clock_monotonic();
        for (due += period; due < now; due += period)
            n_missed++;
    }
    return n_missed;
}

static void warn_of(const qp_cli *cli, const qp_outside *o, uint64_t n_missed)
{
    char torn[QP_NUMBER_BYTES], passes[QP_NUMBER_BYTES];
    qp_outside_figures f = qp_outside_measure(o);
    if (f.n_torn)
        qp_cli_warn(cli, "%s left out: the stack changed while it was read",
                    qp_unit_things(torn, f.n_torn, "sample"));
    if (f.is_hidden && f.n_interrupts)
        qp_cli_warn(cli,
                    "process %s samples itself and shows its stack to nobody: all interrupts "
                    "are foreign; see what it found itself with qprof list %s, or start it "
                    "with -collect=stack",
                    cli->args.pid, cli->args.pid);
    if (f.is_raised)
        qp_cli_warn(cli, "--pc=%s: the shortest interval is %" PRIu64 " us; it was taken",
                    cli->args.pc, f.period_ns / 1000);
    if (n_missed > f.n_passes / 10)
        qp_cli_warn(cli,
                    "%s of %s passes came too late and were left out; this machine reaches "
                    "--pc='%s %" PRIu64 "'",
                    qp_unit_count(torn, n_missed), qp_unit_count(passes, n_missed + f.n_passes),
                    f.is_real ? "REAL" : "VIRTUAL", f.reached_ns / 1000 + 1);
}

static bool is_plain_file(const char *path)
{
    struct stat at;
    return stat(path, &at) == 0 && S_ISREG(at.st_mode);
}

/* The profile's name, before a measurement that would be lost. A file that exists is never
 * overwritten: the name gets a number, as the recorder gives them.
 * @return false: none can be written there; a message was printed */
static bool choose_name(const qp_cli *cli, uint64_t pid, char *path, size_t n_bytes)
{
    static qp_new_file file; /* 72 KiB: not on the stack */
    char live[4096];
    const char *why;
    bool is_live = qp_live_path(pid, false, live, sizeof live);
    snprintf(path, n_bytes, "%s", cli->args.output ? cli->args.output : "");
    if (!cli->args.output)
        snprintf(path, n_bytes, "outside.%" PRIu64 ".qprof", pid);
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

bool qp_outside_run(const qp_cli *cli, char *path, size_t n_bytes)
{
    char error[QP_ERROR_BYTES];
    const qp_args *a = &cli->args;
    bool is_number = a->pid[strspn(a->pid, "0123456789")] == '\0';
    uint64_t pid = is_number ? strtoull(a->pid, NULL, 10) : 0;
    uint64_t lasts = duration_of(a->lasts ? a->lasts : "10s");
    if (!pid)
        qp_cli_fail(cli, "--pid=%s: expected the id of a process", a->pid);
    else if (!lasts)
        qp_cli_fail(cli, "--for=%s: expected a time, as 10s, 500ms or 2m", a->lasts);
    if (!pid || !lasts || !qp_recorder_check_pc(cli, a->pc ? a->pc : ""))
        return false;
    qp_outside *o = qp_outside_open(pid, a->pc ? a->pc : "", error);
    if (!o) {
        qp_cli_fail(cli, "%s", error);
        return false;
    }
    bool is_good = choose_name(cli, pid, path, n_bytes);
    if (is_good) {
        qp_interrupt_take();
        uint64_t n_missed = sample(o, lasts);
        warn_of(cli, o, n_missed);
        is_good = qp_outside_write(o, n_missed, path, error);
        if (!is_good)
            qp_cli_fail(cli, "%s", error);
    }
    qp_outside_free(o);
    return is_good;
}
