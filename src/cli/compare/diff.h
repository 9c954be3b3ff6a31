/* diff.h: what the forms of a comparison share. */
#ifndef QP_CLI_COMPARE_DIFF_H
#define QP_CLI_COMPARE_DIFF_H

#include "base/text/unit.h"
#include "cli/core/cli.h"
#include "model/combine/combine.h"

/* What --sort takes, and which figure a comparison is about then, in the same order. */
#define QP_DIFF_SORT_WORDS "self|total|calls|name"
typedef enum { QP_DIFF_SELF, QP_DIFF_TOTAL, QP_DIFF_CALLS, QP_DIFF_NAME } qp_diff_sort;

/* The runs of one side. */
typedef struct {
    char program_bytes[128]; /* of the first run, as all that follows */
    const char *program;
    char script[128], labels[QP_LABELS_BYTES]; /* the labels of all runs */
    const char *first_path;                    /* borrowed from the command line */
    const char *last_path;
    uint64_t started_at; /* ns since 1970 */
    const char *time_mode_text;
    bool has_programs; /* not all are of one program */
    bool has_modes;    /* not all have one time mode */
} qp_diff_runs;

typedef struct {
    const qp_cli *cli;
    qp_diff *diff;
    qp_diff_runs runs[QP_DIFF_SIDES];
    qp_diff_sort sort;
    char unit_text[16]; /* "ns", "counts", … */
    const char *clock_text;
    bool is_time;
    uint32_t *rows; /* [n_rows] of the diff that differ and fit the filter, in order */
    size_t n_rows;
    size_t n_small; /* that differ and are not in rows, see is_small() */
} qp_comparison;

/* The figure that the comparison is about. */
const qp_diff_figure *qp_diff_main_figure(const qp_comparison *c, const qp_diff_row *row);

uint64_t qp_diff_size(int64_t change); /* without its sign */
/* "9.000 ms", "3 counts": in a unit of its own. `to` has QP_NUMBER_BYTES. @return to */
char *qp_diff_value(const qp_comparison *c, char *to, uint64_t value);
/* "+9.000 ms", "-3 counts": a change in its own unit. `to` has QP_NUMBER_BYTES. @return to */
char *qp_diff_amount(const qp_comparison *c, char *to, int64_t change);
/* "+20.0", "-" if base is 0. @return to */
char *qp_diff_percent(char *to, const qp_diff_figure *f);

/* "main > f > g", as much of its end as fits into `to`; of a function its name. @return to */
char *qp_diff_path(const qp_comparison *c, const qp_diff_row *row, char *to, size_t n_bytes);

extern const qp_field qp_diff_document[]; /* of --format=json */

/* diff_text.c, diff_write.c: the forms. @return false: no memory */
bool qp_diff_print(const qp_comparison *c);
void qp_diff_write_json(const qp_comparison *c, qp_out *out);
void qp_diff_write_csv(const qp_comparison *c, qp_out *out);
void qp_diff_write_qxdiff(const qp_comparison *c, qp_out *out);

#endif
