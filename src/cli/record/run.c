/* run.c: `qprof run`: starts a program so that it records, or samples a running process, and shows the result.
 * Start reading at run_run(). */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/os/clock.h"
#include "base/os/new_file.h"
#include "base/text/buf.h"
#include "base/text/shell.h"
#include "base/text/unit.h"
#include "cli/core/cli.h"
#include "cli/cover/cover.h"
#include "cli/record/record.h"
#include "cli/show/show.h"
#include "format/layout.h"
#include "model/attach/attach.h"
#include "model/model.h"

/* Sample at absolute deadlines; missed ones are not made up. @return how many were missed */
static uint64_t sample_passes(qp_attach *o, uint64_t lasts)
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

/* Say in which functions a process waits that used too little CPU time for a sample. */
static void print_waits(const qp_cli *cli, qp_attach *o)
{
    enum { SHOWN = 10 };
    qp_attach_place places[SHOWN];
    qp_model *m;
    char place[2048], threads[QP_NUMBER_BYTES];
    qp_attach_figures f = qp_attach_measure(o);
    if (f.is_real || f.n_interrupts || f.n_torn)
        return;
    size_t n = qp_attach_now(o, &m, places, SHOWN);
    if (n)
        qp_cli_warn(cli,
                    "process %s used less than %" PRIu64
                    " us of CPU time in each thread: there are no "
                    "samples; --pc=REAL samples it while it waits",
                    cli->args.pid, f.period_ns / 1000);
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        const qp_attach_place *p = &places[i];
        const char *at =
            p->method ? qp_view_place(place, sizeof place, &m->methods[p->method]) : "";
        qp_cli_warn(cli, "thread %" PRIu32 " waits in %s%s%s%s%s%s",
                    m->threads[p->thread].ordinal, *p->name ? p->name : "an unknown function",
                    *at ? " (" : "", at, *at ? ")" : "", *p->caller ? ", called by " : "",
                    p->caller);
    }
    if (n > SHOWN)
        qp_cli_warn(cli, "%s more", qp_unit_things(threads, n - SHOWN, "thread"));
    qp_model_free(m);
}

static bool is_plain_file(const char *path)
{
    struct stat at;
    return stat(path, &at) == 0 && S_ISREG(at.st_mode);
}

/* Choose the name of the profile before the measurement. Without --output it gets a number if there is
 * one already.
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
    for (int i = 1; !cli->args.output && i < 1000 && is_plain_file(path); i++)
        snprintf(path + n, n_bytes - n, ".%d", i);
    if (!qp_new_file_begin(&file, path, &why))
        return qp_cli_refuse(cli, "%s: %s", path, why);
    qp_new_file_drop(&file);
    return true;
}

/* Sample the process of --pid for the time of --for, and write a profile.
 * @param path  receives its name @return false: a message was printed */
static bool attach(const qp_cli *cli, char *path, size_t n_bytes)
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
    if (!o)
        return qp_cli_refuse(cli, "%s", error.text);
    bool is_good = choose_name(cli, pid, path, n_bytes);
    if (is_good) {
        qp_interrupt_take();
        uint64_t n_missed = sample_passes(o, lasts);
        warn_of(cli, o, n_missed);
        is_good = qp_attach_write(o, n_missed, path, &error);
        if (is_good)
            print_waits(cli, o);
        else
            qp_cli_fail(cli, "%s", error.text);
    }
    qp_attach_free(o);
    return is_good;
}

enum { ROWS_SHOWN = 10 };

/* ---- the result ---------------------------------------------------------------------------- */

/* The hottest functions. */
static bool print_functions(const qp_cli *cli, const qp_model *m)
{
    qp_functions f;
    bool is_good = qp_functions_init(&f, &cli->args, m, QP_ALL_THREADS, ROWS_SHOWN);
    if (is_good) {
        qp_header_text(&cli->screen, m, cli->path, false);
        is_good = qp_functions_print(cli, &f);
    }
    qp_functions_fini(&f);
    return is_good;
}

/* The functions of the PC samples, most first. */
static bool print_samples(const qp_cli *cli, const qp_model *m)
{
    qp_pc_samples s;
    qp_pc_samples_init(&s, false);
    qp_header_text(&cli->screen, m, cli->path, false);
    bool is_good = qp_pc_samples_add(cli, &s, m) == QP_EXIT_CLEAN;
    qp_pc_samples_finish(&s);
    if (is_good && s.has_command)
        is_good = qp_pc_samples_print(cli, &s, ROWS_SHOWN);
    qp_pc_samples_fini(&s);
    return is_good;
}

/* How much was covered. */
static bool print_coverage(const qp_cli *cli, const qp_model *m)
{
    qp_error error;
    char hit[QP_NUMBER_BYTES], all[QP_NUMBER_BYTES], percent[QP_NUMBER_BYTES];
    qp_cover_set *set = qp_cover_set_new();
    bool is_good =
        set && qp_cover_set_add(set, m, cli->path, &(qp_cover_add_options){0}, &error);
    qp_cover *c = is_good ? qp_cover_derive(set, NULL, &error) : NULL;
    if (c && !m->run.is_profile)
        qp_cover_header(cli, c);
    for (qp_figure f = 0; c && f < QP_N_FIGURES; f++) {
        uint64_t n_hit, n;
        qp_figure_of(&c->totals, f, &n_hit, &n);
        if (!n)
            continue;
        qp_header_label(&cli->screen, qp_figure_names[f]);
        qp_out_format(cli->screen.out, "%s %%, %s of %s were hit\n",
                      qp_unit_share(percent, n_hit, n, 1), qp_unit_count(hit, n_hit),
                      qp_unit_count(all, n));
    }
    is_good = c != NULL;
    qp_cover_free(c);
    qp_cover_set_free(set);
    return is_good;
}

/* A line with a command to copy. */
static void print_command(const qp_cli *cli, const char *before, const char *words,
                          const char *path)
{
    char command[4096 + 64];
    snprintf(command, sizeof command, "%s", words);
    if (!qp_shell_add_file(command, sizeof command, path))
        snprintf(command, sizeof command, "%s %s", words, path);
    qp_out_text(cli->screen.out, before);
    qp_screen_name(&cli->screen, command, 0);
    qp_out_char(cli->screen.out, '\n');
}

/* Bytes of a trace that -trace-limit removed: its first hole. */
static uint64_t removed_of(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    off_t hole = fd < 0 ? -1 : lseek(fd, 0, SEEK_HOLE);
    off_t data = hole < 0 ? -1 : lseek(fd, hole, SEEK_DATA);
    if (fd >= 0)
        close(fd);
    return data > hole ? (uint64_t)(data - hole) : 0;
}

static void print_next(const qp_cli *cli, const qp_model *m, const char *path)
{
    char size[QP_NUMBER_BYTES];
    static const char *const first = "\nNext: ", *const more = "      ";
    bool has_functions = m->run.is_profile || !m->run.is_coverage;
    if (has_functions) {
        print_command(cli, first, m->run.is_stack_only ? "qprof list" : "qprof report", path);
        print_command(cli, more, "qprof tree --hottest", path);
    } else {
        print_command(cli, first, "qprof cover report --uncovered", path);
        print_command(cli, more, "qprof cover annotate --only-missed", path);
    }
    if (has_functions && !m->run.is_stack_only && m->run.pc_period_ns)
        print_command(cli, more, "qprof list", path);
    if (has_functions && !m->run.is_stack_only && m->run.is_coverage)
        print_command(cli, more, "qprof cover report", path);
    if (*m->run.trace_file)
        print_command(cli, more, "qprof trace stat", qp_shorter_path(m->run.trace_file));
    uint64_t n_removed = *m->run.trace_file ? removed_of(m->run.trace_file) : 0;
    if (n_removed)
        qp_out_format(cli->screen.out,
                      "      (the first %s of it were removed: -trace-limit)\n",
                      qp_unit_size(size, n_removed));
}

/* What weighs most, also since an earlier run: that of --since, else one in the same folder. */
static void print_findings(const qp_cli *cli, const qp_model *m, const char *path)
{
    static qp_finding_list list;
    char found[4096];
    qp_error error;
    qp_model *since = NULL;
    const char *earlier = cli->args.earlier;
    if (!earlier)
        earlier = qp_run_earlier(path, found, sizeof found);
    if (*earlier && qp_model_load(earlier, NULL, &since, &error) == QP_LOAD_UNUSABLE &&
        cli->args.earlier)
        qp_cli_warn(cli, "--since: %s", error.text);
    qp_findings_find(m, path, since, earlier, &list);
    qp_model_free(since);
    if (list.n)
        qp_out_text(cli->screen.out, "\nSummary:\n");
    qp_findings_print(&cli->screen, &list);
}

/* Labels that the recorder did not keep: it left a message. */
static void warn_of_labels(const qp_cli *cli, const qp_model *m)
{
    for (size_t i = 0; i < m->run.n_notes; i++)
        if (m->run.notes[i].is_message && strncmp(m->run.notes[i].text, "labels: ", 8) == 0)
            qp_cli_warn(cli, "%s", m->run.notes[i].text);
}

/* Print a few rows of the profile at `path` and the next commands on standard error: standard output
 * belongs to the program. */
static void print_result(qp_cli *cli, const char *path)
{
    static qp_out out;
    qp_model *m;
    qp_out_init(&out, STDERR_FILENO);
    qp_screen_init(&cli->screen, &out);
    if (cli->args.color != QP_COLOR_AUTO)
        cli->screen.has_color = cli->args.color == QP_COLOR_ALWAYS;
    cli->args.output = NULL; /* already written; now it is an input */
    if (qp_cli_load(cli, path, &m) == QP_EXIT_UNUSABLE)
        return;
    bool has_functions = m->run.is_profile || !m->run.is_coverage, is_good = true;
    warn_of_labels(cli, m);
    qp_out_char(&out, '\n');
    if (m->run.is_stack_only)
        is_good = print_samples(cli, m);
    else if (has_functions)
        is_good = print_functions(cli, m);
    if (is_good && has_functions && m->run.is_coverage)
        qp_out_char(&out, '\n');
    if (is_good && m->run.is_coverage)
        is_good = print_coverage(cli, m);
    if (is_good) {
        print_next(cli, m, path);
        print_findings(cli, m, path);
    } else {
        qp_cli_fail_memory(cli);
    }
    qp_model_free(m);
    qp_out_close(&out);
}

/* ---- the command --------------------------------------------------------------------------- */

/* The other profiles of the run, and what still records. */
static void print_others(const qp_cli *cli, const qp_run_files *files)
{
    enum { SHOWN = 10 };
    char more[QP_NUMBER_BYTES];
    for (size_t i = 1; i < files->n && i <= SHOWN; i++)
        qp_cli_warn(cli, "another profile of this run, of process %" PRIu64 ": %s",
                    files->all[i].pid, files->all[i].path);
    if (files->n > SHOWN + 1)
        qp_cli_warn(cli, "%s more", qp_unit_things(more, files->n - SHOWN - 1, "profile"));
    for (size_t i = 0; i < files->n_running && i < SHOWN; i++)
        qp_cli_warn(cli, "process %" PRIu64 " still records: qprof report %" PRIu64,
                    files->running[i], files->running[i]);
}

/* The profiles that a run wrote. */
typedef struct {
    char shown[4096]; /* "": none */
    bool is_running;  /* a process of the run still records */
} run_outcome;

/* @return exit status of the command, given the program's */
static int show_profile(qp_cli *cli, const qp_child *child, const qp_recorder_words *words,
                        run_outcome *outcome)
{
    qp_run_files files;
    int status =
        WIFSIGNALED(child->status) ? 128 + WTERMSIG(child->status) : WEXITSTATUS(child->status);
    char end[64];
    bool is_good = qp_run_files_find(cli, child, words, &files);
    const char *spool = words->spool;
    if (is_good && files.n)
        qp_text_format(outcome->shown, sizeof outcome->shown, "%s", files.all[0].path);
    outcome->is_running = files.n_running;
    if (*outcome->shown && !cli->args.stream)
        print_result(cli, outcome->shown);
    else if (is_good && *spool)
        qp_cli_warn(cli,
                    "%s %s; its profiles are in %s (qprof push --spool=%s --to=sqlite:FILE)",
                    cli->args.rest[0], qp_child_end(child, end, sizeof end), spool, spool);
    else if (is_good && !files.n && !files.n_running)
        qp_cli_warn(
            cli,
            "%s %s; no profile was written: if no line above says why, the program does "
            "not use libqprof, refused its options, cleared QPROF, or made no call to "
            "record (try: qprof run -- qlua SCRIPT)",
            cli->args.rest[0], qp_child_end(child, end, sizeof end));
    print_others(cli, &files);
    if (!is_good || (!status && !files.n && !files.n_running && !*spool))
        status = QP_EXIT_UNUSABLE;
    qp_run_files_fini(&files);
    return status;
}

/* The first word that sets how to record, which a running process does not accept.
 * @return NULL: there is none */
static const char *word_of_recording(const qp_args *a)
{
    if (a->n_rest || a->n_operands)
        return a->n_rest ? a->rest[0] : a->operands[0];
    return a->time ? "--time" : a->granularity ? "--granularity" : a->clock ? "--clock" : NULL;
}

static int sample_process(qp_cli *cli, run_outcome *outcome)
{
    const char *word = word_of_recording(&cli->args);
    if (word)
        return qp_cli_fail(
            cli,
            "%s: cannot be combined with --pid; usage: qprof run --pid PID [--for TIME] "
            "[--pc COMMAND] [-o FILE]",
            word);
    if (!attach(cli, outcome->shown, sizeof outcome->shown)) {
        *outcome->shown = '\0';
        return QP_EXIT_UNUSABLE;
    }
    if (!cli->args.stream)
        print_result(cli, outcome->shown);
    return QP_EXIT_CLEAN;
}

static int record(qp_cli *cli, run_outcome *outcome)
{
    qp_recorder_words words;
    qp_child child;
    if (cli->args.pid)
        return sample_process(cli, outcome);
    if (cli->args.lasts)
        return qp_cli_fail(cli, "--for=%s: requires --pid (a program is recorded to its end)",
                           cli->args.lasts);
    if (cli->args.n_rest == 0)
        return qp_cli_fail(cli,
                           "missing program; usage: qprof run [options] -- PROGRAM [words]");
    if (!qp_recorder_parse(cli, &words))
        return QP_EXIT_UNUSABLE;
    if (!qp_child_run(cli, cli->args.rest, words.words, &child))
        return QP_EXIT_UNUSABLE;
    return show_profile(cli, &child, &words, outcome);
}

static int run_run(qp_cli *cli)
{
    qp_run_stream stream;
    run_outcome outcome = {.shown = ""};
    if (cli->args.has_list) {
        qp_recorder_list(&cli->screen);
        return QP_EXIT_CLEAN;
    }
    if (!qp_run_stream_is(cli->args.output))
        return record(cli, &outcome);
    if (!qp_run_stream_begin(cli, &stream))
        return QP_EXIT_UNUSABLE;
    int status = record(cli, &outcome);
    bool is_sent = qp_run_stream_end(cli, &stream, outcome.shown, outcome.is_running);
    return is_sent ? status : QP_EXIT_UNUSABLE;
}

const qp_command qp_command_run = {
    .name = "run",
    .operands = "-- PROGRAM [words] | --pid=PID",
    .summary = "recording of a program, with a short report",
    .about =
        "Runs a program that uses libqprof and shows on standard error where its time went. "
        "Every option of the recorder can be given as --name=value or -name=value; those of "
        "the variable QPROF apply as well. If the program is killed, its profile is saved. The "
        "exit status is the program's, or 128 plus the signal's number if it was killed; 2 if "
        "it could not be started, or ended with 0 and wrote no profile. With --pid a recording "
        "process is sampled through its live profile: it is not stopped, asked or signalled. "
        "Without --pc its threads are sampled every 10 ms of their CPU time.",
    .flags =
        (const qp_flag[]){
            QP_ONE_OF("time", 't', "exact|adaptive|sampled|none", time,
                      "timing mode (default exact)"),
            QP_TEXT(
                "clock", 'c', "CLOCK", clock,
                "measured quantity: elapsed, user, user+kernel, counts, ... (default elapsed)"),
            QP_TEXT("output", 'o', "FILE", output,
                    "name of the profile; %p is the process id, %n the number of the dataset "
                    "(default PROGRAM.%p.qprof); -: standard output, and what the program "
                    "writes there goes to standard error; a pipe or device: without a report"),
            QP_ONE_OF("granularity", 'g', "function|basic-block|line", granularity,
                      "finest detail to collect (default line)"),
            QP_TEXT(
                "pc", 0, "COMMAND", pc,
                "sampling: 'VIRTUAL or REAL, MICROSECONDS, WHEN PATTERN;', each part optional"),
            QP_TEXT("pid", 0, "PID", pid,
                    "process to sample from outside; it must be recording"),
            QP_TEXT(
                "for", 0, "TIME", lasts,
                "duration with --pid: 10s, 500ms, 2m; Ctrl-C ends it earlier (default 10s)"),
            QP_FLAG_SINCE,
            QP_YES("options", 0, has_list, "list of all options of the recorder"),
            QP_FLAGS_COMMON},
    .examples = "qprof run -- qlua script.lua\n"
                "qprof run --time=adaptive -o parse.qprof -- qlua parse.lua input\n"
                "qprof run -memory-limit=1G -- qlua script.lua\n"
                "qprof run --pc='VIRTUAL 1000' -- qlua script.lua\n"
                "qprof run --pid 4242 --for 10s -o attach.qprof\n"
                "qprof run --options",
    .run = run_run,
    .writes_profile = true,
    .replaces = QP_MAGIC,
    .takes_rest = true};
