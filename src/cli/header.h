/* header.h: what a report says about the run it shows, and about what it does not know. */
#ifndef QP_CLI_HEADER_H
#define QP_CLI_HEADER_H

#include "base/screen.h"
#include "model/model.h"

/* A few lines: program, time, mode, cost, losses; then an empty line.
 * @param path  of the profile */
void qp_header_text(const qp_screen *s, const qp_model *m, const char *path,
                    bool is_subtracted);

/* "label   text" with the label padded; a line of any header. */
void qp_header_label(const qp_screen *s, const char *label);

enum { QP_MOMENT_BYTES = 32 };

/* Local time "2026-11-21 05:22:10" of ns since 1970, or that it is not known.
 * @param to  [QP_MOMENT_BYTES] @return to */
char *qp_header_moment(char *to, uint64_t ns);

#endif
