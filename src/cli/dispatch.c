/* dispatch.c: find the command, parse its flags, run it, report whether the output could be written. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/containers/alloc.h"
#include "base/os/file.h"
#include "base/text/buf.h"
#include "cli/core/cli.h"

static const qp_command *const commands[] = {
    &qp_command_run,     &qp_command_report, &qp_command_summary,   &qp_command_requests,
    &qp_command_locks,   &qp_command_tree,   &qp_command_detail,    &qp_command_annotate,
    &qp_command_info,    &qp_command_check,  &qp_command_cover,     &qp_command_list,
    &qp_command_diff,    &qp_command_merge,  &qp_command_export,    &qp_command_html,
    &qp_command_pm,      &qp_command_trace,  &qp_command_store,     &qp_command_push,
    &qp_command_serve,   &qp_command_top,    &qp_command_list_live, &qp_command_config,
    &qp_command_version, &qp_command_doctor, &qp_command_help,      NULL};

/* Name what --source-path has and is no folder: sources would be missing without a reason. */
static void warn_of_folders(const qp_cli *cli)
{
    char folder[4096];
    struct stat at;
    for (const char *next = cli->args.folders.path; next && *next;) {
        size_t n = strcspn(next, ":");
        qp_text_format(folder, sizeof folder, "%.*s", (int)n, next);
        if (n && (stat(folder, &at) != 0 || !S_ISDIR(at.st_mode)))
            qp_cli_warn(cli, "--source-path: %s: no such folder", folder);
        next += n + (next[n] == ':');
    }
}

static int run_command(qp_cli *cli, int argc, char **argv)
{
    qp_error error;
    if (!qp_args_parse(cli->command, argc, argv, &cli->args, &error))
        return qp_cli_fail(cli, "%s", error.text);
    if (cli->args.color != QP_COLOR_AUTO)
        cli->screen.has_color = cli->args.color == QP_COLOR_ALWAYS;
    if (cli->args.help) {
        qp_help_command(&cli->screen, cli->command);
        return QP_EXIT_CLEAN;
    }
    warn_of_folders(cli);
    return cli->command->run(cli);
}

/* A group without a command: print the list of its commands. */
static int run_group(qp_cli *cli, int argc, char **argv)
{
    bool is_asked = argc && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0);
    if (argc && !is_asked)
        return qp_cli_fail(cli, "%s: expected a command first; usage: qprof %s %s", argv[0],
                           cli->command->name, cli->command->operands);
    qp_help_command(&cli->screen, cli->command);
    return is_asked ? QP_EXIT_CLEAN : QP_EXIT_UNUSABLE;
}

static int dispatch(qp_cli *cli, int argc, char **argv)
{
    static char help[] = "help";
    int n_taken;
    if (argc < 2) {
        qp_help_all(cli);
        return QP_EXIT_UNUSABLE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        qp_out_text(&cli->out, "qprof " QPROF_VERSION_TEXT "\n");
        return QP_EXIT_CLEAN;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        argv[1] = help;
    const qp_command *command = qp_cli_command(cli, argc - 1, argv + 1, &n_taken);
    if (!command)
        return QP_EXIT_UNUSABLE;
    cli->command = command;
    if (command->subs)
        return run_group(cli, argc - 1 - n_taken, argv + 1 + n_taken);
    return run_command(cli, argc - 1 - n_taken, argv + 1 + n_taken);
}

/* Whatever a command could do without, and did: it says so. @return status */
static int complete(const qp_cli *cli, int status)
{
    const char *why = qp_alloc_has_failed()  ? "there was not enough memory"
                      : qp_file_read_error() ? strerror(qp_file_read_error())
                                             : NULL;
    if (!why || !cli->command || status == QP_EXIT_UNUSABLE)
        return status;
    qp_cli_warn(cli, "not complete: %s", why);
    return QP_EXIT_SALVAGED;
}

int qp_cli_main(int argc, char **argv)
{
    static qp_cli cli;           /* 64 KiB of buffers: not on the stack */
    memset(&cli, 0, sizeof cli); /* a test runs many commands in one process */
    /* The character set is the user's; sorting and numbers are not. */
    setlocale(LC_CTYPE, "");
    cli.commands = commands;
    qp_out_init(&cli.out, 1);
    qp_screen_init(&cli.screen, &cli.out);
    if (!cli.screen.has_utf8)
        setlocale(LC_CTYPE, "C.UTF-8"); /* widths of names, whatever the terminal shows */
    qp_child_ignore_signals();

    int status = dispatch(&cli, argc, argv);
    status = complete(&cli, status);
    int error = qp_out_close(&cli.out);
    if (error && error != EPIPE) /* a reader may close the pipe early */
        return qp_cli_fail(&cli, "standard output: %s; the output is not complete",
                           strerror(error));
    return status;
}
