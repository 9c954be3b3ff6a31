/* main.c: find the command, parse its flags, run it, report whether the output could be written. */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/help.h"

const qp_command *const qp_commands[] = {&qp_command_run,      &qp_command_report,
                                         &qp_command_tree,     &qp_command_detail,
                                         &qp_command_annotate, &qp_command_info,
                                         &qp_command_check,    &qp_command_top,
                                         &qp_command_help,     NULL};

static const qp_command *command_named(const char *name)
{
    for (const qp_command *const *c = qp_commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

static int refuse_command(const qp_cli *cli, const char *name)
{
    char words[256] = "";
    const char *found;
    for (const qp_command *const *c = qp_commands; *c; c++)
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", *words ? "|" : "",
                 (*c)->name);
    size_t n = qp_args_nearest(words, name, &found);
    if (n)
        return qp_cli_fail(cli, "unknown command %s; did you mean %.*s?", name, (int)n, found);
    return qp_cli_fail(cli, "unknown command %s; see qprof help", name);
}

static int run_command(qp_cli *cli, int argc, char **argv)
{
    char error[512];
    if (!qp_args_parse(cli->command, argc, argv, &cli->args, error, sizeof error))
        return qp_cli_fail(cli, "%s", error);
    if (cli->args.color != QP_COLOR_AUTO)
        cli->screen.has_color = cli->args.color == QP_COLOR_ALWAYS;
    if (cli->args.help) {
        qp_help_command(&cli->screen, cli->command);
        return QP_EXIT_CLEAN;
    }
    return qp_cli_unit_is_good(cli) ? cli->command->run(cli) : QP_EXIT_UNUSABLE;
}

static int dispatch(qp_cli *cli, int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (argc < 2) {
        qp_help_all(&cli->screen);
        return QP_EXIT_UNUSABLE;
    }
    if (strcmp(name, "--version") == 0) {
        qp_out_text(&cli->out, "qprof " QPROF_VERSION_TEXT "\n");
        return QP_EXIT_CLEAN;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    const qp_command *command = command_named(name);
    if (!command)
        return refuse_command(cli, name);
    cli->command = command;
    return run_command(cli, argc - 2, argv + 2);
}

int main(int argc, char **argv)
{
    static qp_cli cli; /* 64 KiB of buffers: not on the stack */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    /* The character set is the user's; sorting and numbers are not. */
    setlocale(LC_CTYPE, "");
    qp_out_init(&cli.out, 1);
    qp_screen_init(&cli.screen, &cli.out);
    if (!cli.screen.has_utf8)
        setlocale(LC_CTYPE, "C.UTF-8"); /* widths of names, whatever the terminal shows */
    sigaction(SIGPIPE, &ignore, NULL);

    int status = dispatch(&cli, argc, argv);
    int error = qp_out_close(&cli.out);
    if (error && error != EPIPE) /* a reader that has seen enough is no error */
        return qp_cli_fail(&cli, "standard output: %s; the output is not complete",
                           strerror(error));
    return status;
}
