/* screen.h: what the terminal or file that receives the tool's text can show. */
#ifndef QP_BASE_OS_SCREEN_H
#define QP_BASE_OS_SCREEN_H

#include <stdbool.h>

#include "base/text/out.h"

typedef enum {
    QP_STYLE_PLAIN,
    QP_STYLE_HEAD, /* names of columns, titles */
    QP_STYLE_DIM,  /* guides, and what is listed for completeness only */
    QP_STYLE_WARM, /* a good part of the time */
    QP_STYLE_HOT,  /* most of it */
    QP_STYLE_GOOD,
    QP_STYLE_BAD,
    QP_STYLE_HIT, /* lines: executed, in a colour that also color-blind readers tell from red */
    QP_STYLE_PARTIAL /* executed in part */
} qp_style;

typedef struct {
    qp_out *out;
    bool is_terminal;
    bool has_color;
    bool has_utf8;      /* its character set, for signs of the tool; names pass unchanged */
    unsigned n_columns; /* 0: no limit */
    unsigned n_rows;    /* 0: unknown */
} qp_screen;

/* Look at the descriptor of `out` and the environment (NO_COLOR, TERM, COLUMNS, the locale). */
void qp_screen_init(qp_screen *s, qp_out *out);

void qp_screen_style(const qp_screen *s, qp_style style);
/* A whole text in one style. */
void qp_screen_text(const qp_screen *s, qp_style style, const char *text);

/* A text of unknown origin, escaped, in at most `width` columns (0: no limit). */
void qp_screen_name(const qp_screen *s, const char *name, unsigned width);

/* Signs of the tool, in the characters that the receiver has. */
typedef enum { QP_SIGN_HALF, QP_SIGN_MORE, QP_SIGN_PIPE, QP_SIGN_FORK, QP_SIGN_LAST } qp_sign;
const char *qp_screen_sign(const qp_screen *s, qp_sign sign);

/* The style of a part of the run's time, in percent. */
qp_style qp_style_of_percent(double percent);

#endif
