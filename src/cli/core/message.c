/* message.c: messages of the tool, one line each on standard error. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text/buf.h"
#include "base/text/text.h"
#include "cli/core/cli.h"

static void print_message(const qp_cli *cli, const char *format, va_list list)
{
    char message[2048], shown[4096], place[24] = "", line[4200];
    vsnprintf(message, sizeof message, format, list);
    if (cli->line)
        snprintf(place, sizeof place, "line %u: ", cli->line);
    qp_text_terminal(shown, sizeof shown, message, NULL);
    int n = snprintf(line, sizeof line, "qprof%s%s: %s%s\n", cli->command ? " " : "",
                     cli->command ? cli->command->name : "", place, shown);
    /* One write: lines of several processes do not mix. Nobody could be told if it failed. */
    if (write(STDERR_FILENO, line, (size_t)n) < 0)
        return;
}

int qp_cli_fail(const qp_cli *cli, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print_message(cli, format, list);
    va_end(list);
    return QP_EXIT_UNUSABLE;
}

void qp_cli_warn(const qp_cli *cli, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print_message(cli, format, list);
    va_end(list);
}

int qp_cli_fail_memory(const qp_cli *cli)
{
    return qp_cli_fail(cli, "%s: not enough memory for this report", cli->path);
}

void qp_cli_point(const char *text, unsigned column)
{
    enum { MOST = 400 };
    char part[MOST + 1], shown[4 * MOST], lines[10 * MOST];
    size_t at = strnlen(text, column - 1), begin = at, width;
    while (begin > 0 && at - begin < MOST / 2 && text[begin - 1] != '\n')
        begin--;
    text += begin;
    qp_text_format(part, sizeof part, "%.*s", (int)(at - begin), text);
    qp_text_terminal(shown, sizeof shown, part, &width);
    qp_text_format(part, sizeof part, "%.*s", (int)strcspn(text, "\n"), text);
    qp_text_terminal(shown, sizeof shown, part, NULL);
    int n = snprintf(lines, sizeof lines, "  %s\n  %*s^\n", shown, (int)width, "");
    if (write(STDERR_FILENO, lines, (size_t)n) < 0)
        return;
}
