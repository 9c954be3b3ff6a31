/* screen.c: terminal or not, colour or not, how wide. */
#include "base/os/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text/text.h"

void qp_screen_init(qp_screen *s, qp_out *out)
{
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    struct winsize size;
    *s = (qp_screen){.out = out, .is_terminal = isatty(out->fd) == 1};
    s->has_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    if (!s->is_terminal)
        return;
    s->has_color = !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
    if (ioctl(out->fd, TIOCGWINSZ, &size) == 0) {
        s->n_columns = size.ws_col;
        s->n_rows = size.ws_row;
    }
    const char *columns = getenv("COLUMNS");
    if (s->n_columns == 0 && columns)
        s->n_columns = (unsigned)strtoul(columns, NULL, 10);
}

void qp_screen_style(const qp_screen *s, qp_style style)
{
    static const char *const codes[] = {"\033[0m",    "\033[1m",    "\033[2m",
                                        "\033[33m",   "\033[1;31m", "\033[32m",
                                        "\033[1;31m", "\033[94m",   "\033[1;35m"};
    if (s->has_color)
        qp_out_text(s->out, codes[style]);
}

void qp_screen_text(const qp_screen *s, qp_style style, const char *text)
{
    if (style != QP_STYLE_PLAIN)
        qp_screen_style(s, style);
    qp_out_text(s->out, text);
    if (style != QP_STYLE_PLAIN)
        qp_screen_style(s, QP_STYLE_PLAIN);
}

void qp_screen_name(const qp_screen *s, const char *name, unsigned width)
{
    char shown[4096], fitted[4096 + 4];
    qp_text_terminal(shown, sizeof shown, name, NULL);
    qp_text_fit(fitted, sizeof fitted, shown, width ? width : SIZE_MAX, 0);
    qp_out_text(s->out, fitted);
}

const char *qp_screen_sign(const qp_screen *s, qp_sign sign)
{
    static const char *const signs[][2] = {{"+-", "\u00b1"},
                                           {"...", "\u2026"},
                                           {"|  ", "\u2502  "},
                                           {"|- ", "\u251c\u2500 "},
                                           {"`- ", "\u2514\u2500 "}};
    return signs[sign][s->has_utf8];
}

qp_style qp_style_of_percent(double percent)
{
    return percent >= 20 ? QP_STYLE_HOT : percent >= 5 ? QP_STYLE_WARM : QP_STYLE_PLAIN;
}
