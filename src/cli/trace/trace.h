/* trace.h: the commands of `qprof trace`, and the trace that one of them reads. */
#ifndef QP_CLI_TRACE_TRACE_H
#define QP_CLI_TRACE_TRACE_H

#include "cli/core/cli.h"
#include "code/pattern.h"
#include "replay/calls/calls.h"

extern const qp_command qp_command_trace_dump, qp_command_trace_stat, qp_command_trace_flow,
    qp_command_trace_slow, qp_command_trace_profile, qp_command_trace_convert,
    qp_command_trace_export, qp_command_trace_rebuild, qp_command_trace_remark;

/* A trace that a command reads, and the part of it that the flags choose. */
typedef struct {
    qp_cli *cli;
    qp_trace *trace;
    const char *paths[2]; /* the file; and a profile that continues it, or NULL */
    qp_trace_window window;
    qp_bar bar;
    qp_progress progress;
    /* the chosen calls: --thread, --name, --when */
    bool chooses_calls;  /* by --name or --when */
    qp_pattern *pattern; /* NULL: none */
    void *scratch;
    size_t scratch_bytes;
    signed char *thread_is_chosen; /* [n_threads] by number; 0: not known yet */
    size_t n_threads;
    bool has_thread, has_call; /* that are chosen, so far */
    bool failed;               /* no memory */
    qp_span_sink inner;        /* receives what is chosen */
} qp_trace_view;

/** Open the trace among the operands and take the flags.
 * @param name  receives the first operand, which is not the trace; NULL: the command takes none
 * @return false: a message was printed, and nothing is open */
bool qp_trace_view_open(qp_trace_view *v, qp_cli *cli, const char **name);
/* Read it from its beginning again. @return false: a message was printed */
bool qp_trace_view_again(qp_trace_view *v);
void qp_trace_view_close(qp_trace_view *v);

/* A sink that hands to `inner` what the flags choose. */
qp_span_sink qp_trace_view_sink(qp_trace_view *v, const qp_span_sink *inner);

/** Play all of the window to `inner`; losses are reported on standard error.
 * @param x  free with qp_spans_fini()
 * @return QP_EXIT_CLEAN; QP_EXIT_SALVAGED: something is damaged; QP_EXIT_UNUSABLE: no memory, a
 *         message was printed */
int qp_trace_view_play(qp_trace_view *v, qp_spans *x, const qp_span_sink *inner);
/* Report losses, where the caller has played the trace. @return the same */
int qp_trace_view_report(const qp_trace_view *v, const qp_span_counts *counts);

const qp_trace_method *qp_trace_view_method(const qp_trace_view *v, uint32_t number);
uint32_t qp_trace_view_ordinal(const qp_trace_view *v, uint32_t thread);
/* "1 main". @param to [n_bytes] @return to */
char *qp_trace_view_thread(const qp_trace_view *v, uint32_t thread, char *to, size_t n_bytes);
/* ns of a duration; and of a moment, since the start of the run. */
uint64_t qp_trace_view_ns(const qp_trace_view *v, uint64_t ticks);
uint64_t qp_trace_view_moment(const qp_trace_view *v, uint64_t raw);

/* Write all records as CSV, as `trace dump` does: counts->n_records lines.
 * @return false: no memory */
bool qp_trace_write_csv(qp_trace_view *v, qp_out *out, qp_span_counts *counts);

/* May the parameters of the table of -o be written beside it? @param from  the trace
 * @return false: a message was printed */
bool qp_trace_memo_is_free(const qp_cli *cli, const char *from);

/* Print the file of -o with what was written to it: "run.qprof: 12 calls". */
void qp_trace_print_written(const qp_cli *cli, uint64_t n, const char *thing);

/* clang-format off */ /* a flag is two lines */
#define QP_TRACE_FLAGS_WINDOW                                                                  \
    QP_TEXT("since", 0, "TIME", trace.since,                                                   \
            "start of the window, as a time of the run: 1.5s, 200ms, 17us, 5ns"),              \
    QP_TEXT("until", 0, "TIME", trace.until, "end of the window")
#define QP_TRACE_FLAGS_CALLS                                                                   \
    {"name", 0, QP_FLAG_NAMES, "GLOB", QP_FLAG_AT(trace.names), NULL,                          \
     "functions that are shown; may be repeated"},                                             \
    QP_TEXT("when", 0, "PATTERN", fold.when, "call pattern of the calls that are shown")
/* clang-format on */

#endif
