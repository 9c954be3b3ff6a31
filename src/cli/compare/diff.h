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
    uint64_t started_at;        /* ns since 1970 */
    uint64_t first_at, last_at; /* the same, of the runs that began first and last */
    const char *time_mode_text;
    bool has_programs;       /* not all are of one program */
    bool has_modes;          /* not all have one time mode */
    const char *part_path;   /* of the first run that is not whole; NULL: all are */
    char part[QP_WHY_BYTES]; /* why it is not */
} qp_diff_runs;

/* ---- gates ------------------------------------------------------------------------------- */

/* The exact figures that --fail-if-more takes. */
enum {
    QP_DIFF_COUNT_CALLS,
    QP_DIFF_COUNT_BYTES,
    QP_DIFF_COUNT_OBJECTS,
    QP_DIFF_COUNT_INSTRUCTIONS,
    QP_DIFF_COUNTS
};

typedef struct {
    bool is_set, is_percent;
    double value;
} qp_diff_limit;

typedef struct {
    bool is_set;   /* some limit is */
    double slower; /* percent; < 0: not set */
    qp_diff_limit of[QP_DIFF_COUNTS];
} qp_diff_limits;

/* What the gates found. */
typedef struct {
    qp_verdict verdict;
    qp_gate_item *items; /* [n_items] that were judged: failures, then what is not certain */
    size_t n_items;
    uint32_t *of_rows; /* [rows of the diff] number of its worst item, from 1; 0: none */
    uint64_t n_verdicts[QP_VERDICTS];
    size_t n_varying; /* counts that vary from run to run */
    uint32_t n_runs;  /* a side, that would settle what is not certain */
} qp_gate;

/* ---- the comparison ---------------------------------------------------------------------- */

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
    qp_diff_limits limits;
    qp_gate gate; /* where limits are set */
} qp_comparison;

/* diff_values.c. The figure that the comparison is about. */
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

/* judge.c: --fail-if-slower and --fail-if-more. @return false: a message was printed */
bool qp_diff_read_limits(const qp_cli *cli, qp_diff_limits *to);
bool qp_diff_fits_filter(const qp_cli *cli, const qp_diff_row *row);
/* Fill c->gate, of a comparison that is finished. @return QP_EXIT_CLEAN; else a message was printed */
int qp_diff_judge(qp_comparison *c);
/* Can a run be judged? @param thread  of it, as in qp_diff_add() @return false: a message was printed */
bool qp_diff_can_judge(const qp_comparison *c, const qp_model *m, int status, uint32_t thread);
void qp_gate_fini(qp_gate *gate);
/* Print why the gate does not pass. @param status  so far @return the status of the tool */
int qp_gate_print(const qp_comparison *c, int status);

enum { QP_GATE_BYTES = 700 };
const char *qp_verdict_name(qp_verdict verdict); /* "cannot tell" */
bool qp_gate_is_count(const qp_gate_item *item); /* not a time */
double qp_gate_end(const qp_gate_item *item,
                   int sign); /* percent: of its interval the lower end, < 0, or the upper */
const char *qp_gate_figure(const qp_gate_item *item); /* "self time", "calls" */
/* "calls of f, bytes of g": the next item from *at on that varies from run to run. @return NULL: none */
const qp_gate_item *qp_gate_varying(const qp_gate *gate, size_t *at);
/* "fail: 2 of 14 figures grew by more than the limit" @return to */
char *qp_gate_summary(const qp_comparison *c, char to[QP_GATE_BYTES]);
/* "+26.0 % (22.9 to 29.1 %)", the growth and between what it is in 99 of 100 comparisons; "new" @return to */
char *qp_gate_percent(const qp_comparison *c, const qp_gate_item *item, char to[QP_GATE_BYTES]);
/* "self time of hot", "26.0 % (22.9 to 29.1 %; 50.000 ms -> 63.000 ms)", "20 %" @return to */
char *qp_gate_subject(const qp_comparison *c, const qp_gate_item *item, char to[QP_GATE_BYTES]);
char *qp_gate_growth(const qp_comparison *c, const qp_gate_item *item, char to[QP_GATE_BYTES]);
char *qp_gate_limit(const qp_comparison *c, const qp_gate_item *item, char to[QP_NUMBER_BYTES]);

extern const qp_field qp_diff_document[]; /* of --format=json */

/* diff_text.c, diff_write.c, diff_markdown.c: the forms. @return false: no memory */
bool qp_diff_print(const qp_comparison *c);
void qp_diff_write_json(const qp_comparison *c, qp_out *out);
void qp_diff_write_csv(const qp_comparison *c, qp_out *out);
void qp_diff_write_markdown(const qp_comparison *c, qp_out *out);
void qp_diff_write_qxdiff(const qp_comparison *c, qp_out *out);

#endif
