/* bar.c: a line on standard error that is written over itself. */
#include "cli/core/cli.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os/clock.h"

enum { BAR_COLUMNS = 40, BAR_AFTER_NS = 1000000000 };

/* One write, whose failure does not matter. */
static void write_bar(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return;
}

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
    write_bar(line);
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
        write_bar(line);
}
