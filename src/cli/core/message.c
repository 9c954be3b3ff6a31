/* message.c: messages and the progress bar on standard error, and the signals that end a long command. */
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/text/buf.h"
#include "base/text/text.h"
#include "cli/core/cli.h"

/* One write: lines of several processes do not mix. A failure cannot be reported. */
static void write_line(const char *text, size_t n)
{
    if (write(STDERR_FILENO, text, n) < 0)
        return;
}

int qp_cli_fail(const qp_cli *cli, const char *format, ...)
{
    char message[2048], shown[4096], place[24] = "", line[4200];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    if (cli->line)
        snprintf(place, sizeof place, "line %u: ", cli->line);
    qp_text_terminal(shown, sizeof shown, message, NULL);
    int n = snprintf(line, sizeof line, "qprof%s%s: %s%s\n", cli->command ? " " : "",
                     cli->command ? cli->command->name : "", place, shown);
    write_line(line, (size_t)n);
    return QP_EXIT_UNUSABLE;
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
    write_line(lines, (size_t)n);
}

enum { BAR_COLUMNS = 40, BAR_AFTER_NS = 1000000000 };

static void show_bar(void *to, unsigned percent)
{
    qp_bar *b = to;
    char line[BAR_COLUMNS + 64];
    percent = (100 * b->n_done + percent) / b->n_parts;
    int n = (int)(percent * BAR_COLUMNS / 100);
    if (qp_clock_monotonic() - b->begun < BAR_AFTER_NS)
        return;
    snprintf(line, sizeof line, "\r%.20s [%.*s%*s] %3u %%", b->what, n,
             "########################################", BAR_COLUMNS - n, "", percent);
    write_line(line, strlen(line));
    b->is_shown = true;
}

qp_progress qp_bar_begin(qp_bar *b, const char *what, unsigned n_parts)
{
    *b = (qp_bar){.what = what, .n_parts = n_parts, .begun = qp_clock_monotonic()};
    return (qp_progress){isatty(STDERR_FILENO) ? show_bar : NULL, b};
}

void qp_bar_end(const qp_bar *b)
{
    char line[BAR_COLUMNS + 64];
    int n = BAR_COLUMNS + 9 + (int)strlen(b->what);
    snprintf(line, sizeof line, "\r%*s\r", n, "");
    if (b->is_shown)
        write_line(line, strlen(line));
}

static volatile sig_atomic_t has_signal;

static void note(int number)
{
    (void)number;
    has_signal = 1;
}

void qp_interrupt_take(void)
{
    struct sigaction action = {.sa_handler = note};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool qp_interrupt_sleep(uint64_t until)
{
    while (!has_signal && qp_clock_monotonic() < until)
        qp_clock_sleep_until(until);
    return !has_signal;
}
