/* main.c: find the command, parse its flags, run it, report whether the output could be written. */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/help.h"

const qp_command *const qp_commands[] = {&qp_command_run,
                                         &qp_command_report,
                                         &qp_command_tree,
                                         &qp_command_detail,
                                         &qp_command_annotate,
                                         &qp_command_info,
                                         &qp_command_check,
                                         &qp_command_cover,
                                         &qp_command_list,
                                         &qp_command_diff,
                                         &qp_command_merge,
                                         &qp_command_export,
                                         &qp_command_html,
                                         &qp_command_pm,
                                         &qp_command_trace,
                                         &qp_command_top,
                                         &qp_command_config,
                                         &qp_command_help,
                                         NULL};

/* "report" of "cover report" */
static const char *last_word(const qp_command *command)
{
    const char *blank = strrchr(command->name, ' ');
    return blank ? blank + 1 : command->name;
}

static const qp_command *refuse_command(const qp_cli *cli, const qp_command *group,
                                        const char *name)
{
    char words[512] = "";
    const char *found, *before = group ? group->name : "", *blank = group ? " " : "";
    for (const qp_command *const *c = group ? group->subs : qp_commands; *c; c++)
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", *words ? "|" : "",
                 last_word(*c));
    size_t n = qp_args_nearest(words, name, &found);
    if (n)
        qp_cli_fail(cli, "unknown command %s%s%s; did you mean %s%s%.*s?", before, blank, name,
                    before, blank, (int)n, found);
    else
        qp_cli_fail(cli, "unknown command %s%s%s; see qprof help%s%s", before, blank, name,
                    blank, before);
    return NULL;
}

const qp_command *qp_cli_command(const qp_cli *cli, int n, char *const *words, int *n_taken)
{
    const qp_command *found = NULL;
    *n_taken = 0;
    while (*n_taken < n && (!found || found->subs)) {
        const qp_command *const *c = found ? found->subs : qp_commands;
        if (found && words[*n_taken][0] == '-')
            return found;
        while (*c && strcmp(last_word(*c), words[*n_taken]) != 0)
            c++;
        if (!*c)
            return refuse_command(cli, found, words[*n_taken]);
        found = *c;
        ++*n_taken;
    }
    return found;
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

/* A group by itself does nothing but to say what it has. */
static int run_group(qp_cli *cli, int argc, char **argv)
{
    bool is_asked = argc && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0);
    if (argc && !is_asked)
        return qp_cli_fail(cli, "%s stands before the command; usage: qprof %s %s", argv[0],
                           cli->command->name, cli->command->operands);
    qp_help_command(&cli->screen, cli->command);
    return is_asked ? QP_EXIT_CLEAN : QP_EXIT_UNUSABLE;
}

static int dispatch(qp_cli *cli, int argc, char **argv)
{
    static char help[] = "help";
    int n_taken;
    if (argc < 2) {
        qp_help_all(&cli->screen);
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
