/* bar.h: how far long work is, on a terminal and only once it has taken a second. */
#ifndef QP_CLI_BAR_H
#define QP_CLI_BAR_H

#include "model/model.h"

typedef struct {
    const char *what;         /* "reading" */
    unsigned n_done, n_parts; /* of equal parts, whose percents are shown */
    uint64_t begun;           /* monotonic ns */
    bool is_shown;
} qp_bar;

/* @return what loading is to be told; good as long as b */
qp_progress qp_bar_begin(qp_bar *b, const char *what, unsigned n_parts);
/* Take it off the screen. */
void qp_bar_end(const qp_bar *b);

#endif
