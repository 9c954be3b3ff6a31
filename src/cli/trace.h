/* trace.h: what the commands of `qprof trace` share: their table, opening a trace, which part of it
 * is meant, and what of it is missing. */
#ifndef QP_CLI_TRACE_H
#define QP_CLI_TRACE_H

#include "cli/bar.h"
#include "cli/cli.h"
#include "code/pattern.h"
#include "replay/trace.h"

extern const qp_command qp_command_trace_dump, qp_command_trace_stat, qp_command_trace_flow,
    qp_command_trace_slow, qp_command_trace_profile, qp_command_trace_convert,
    qp_command_trace_export, qp_command_trace_rebuild, qp_command_trace_remark;

/* A trace that a command reads, and which part. */
typedef struct {
    qp_cli *cli;
    qp_trace *trace;
    const char *paths[2]; /* the file; and a profile that goes on with it, or NULL */
    qp_trace_window window;
    qp_bar bar;
    qp_progress progress;
    /* which calls: --thread, --name, --when */
    qp_pattern *pattern; /* NULL: none */
    void *scratch;
    size_t scratch_bytes;
    signed char *thread_is_meant; /* [n_threads] by number; 0: not asked yet */
    size_t n_threads;
    bool has_thread, has_call; /* that are meant, so far */
    bool failed;               /* no memory */
    qp_span_sink inner;        /* told of what is meant */
} qp_trace_view;

/** Open the trace among the operands, and see what the flags say.
 * @param name  receives the first operand, which is not the trace; NULL: the command takes none
 * @return false: a message was printed, and nothing is open */
bool qp_trace_view_open(qp_trace_view *v, qp_cli *cli, const char **name);
/* Read it from its beginning again. @return false: a message was printed */
bool qp_trace_view_again(qp_trace_view *v);
void qp_trace_view_close(qp_trace_view *v);

/* A sink that is told of the threads (and calls) that are meant alone. */
qp_span_sink qp_trace_view_threads(qp_trace_view *v, const qp_span_sink *inner);
qp_span_sink qp_trace_view_calls(qp_trace_view *v, const qp_span_sink *inner);

/** Play all of the window; tells of losses on standard error.
 * @return QP_EXIT_CLEAN; QP_EXIT_SALVAGED: something is damaged; QP_EXIT_UNUSABLE: no memory, a
 *         message was printed */
int qp_trace_view_play(qp_trace_view *v, qp_spans *x);
/* The same of what was told by others. */
int qp_trace_view_remark(const qp_trace_view *v, const qp_span_counts *counts);

/* Who a thread is: "1 main". @param to [n_bytes] @return to */
char *qp_trace_thread_text(const qp_trace_view *v, uint32_t thread, char *to, size_t n_bytes);

/* All records as CSV, as `trace dump` writes them: counts->n_records lines. @return false: no memory */
bool qp_trace_write_csv(qp_trace_view *v, qp_out *out, qp_span_counts *counts);

#define QP_TRACE_FLAG_THREAD                                                                   \
    {                                                                                          \
        "thread", 0, QP_FLAG_TEXT, "N|NAME", QP_FLAG_AT(thread), NULL,                         \
            "only this thread, by number or name"                                              \
    }
#define QP_TRACE_FLAGS_WINDOW                                                                  \
    {"since",                                                                                  \
     0,                                                                                        \
     QP_FLAG_TEXT,                                                                             \
     "TIME",                                                                                   \
     QP_FLAG_AT(trace.since),                                                                  \
     NULL,                                                                                     \
     "from this time of the run on: 1.5s, 200ms, 17us, 5ns"},                                  \
    {                                                                                          \
        "until", 0, QP_FLAG_TEXT, "TIME", QP_FLAG_AT(trace.until), NULL, "up to this time"     \
    }
#define QP_TRACE_FLAGS_CALLS                                                                   \
    {"name",                                                                                   \
     0,                                                                                        \
     QP_FLAG_NAMES,                                                                            \
     "GLOB",                                                                                   \
     QP_FLAG_AT(trace.names),                                                                  \
     NULL,                                                                                     \
     "only functions with such names"},                                                        \
    {                                                                                          \
        "when", 0, QP_FLAG_TEXT, "PATTERN", QP_FLAG_AT(fold.when), NULL,                       \
            "only calls whose stack fits the call pattern"                                     \
    }

#endif
