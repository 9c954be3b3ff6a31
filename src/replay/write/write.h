/* write.h: traces as files: a .qtrace file from records of any origin, and files of the Xbase++
 * profiler. */
#ifndef QP_REPLAY_WRITE_WRITE_H
#define QP_REPLAY_WRITE_WRITE_H

#include "base/text/error.h"
#include "base/text/out.h"
#include "replay/calls/calls.h"

/* ---- qtrace.c ---------------------------------------------------------------------------- */

/* What a table of the Xbase++ profiler has and the file does not. */
typedef struct {
    uint64_t n_lines;  /* records with a line */
    uint64_t n_values; /* records with parameters or a result */
} qp_qtrace_omitted;

/** Write all of a trace that is open and not read yet. A call of a table begins and ends where its
 * caller announced it, if it did. @return false: no memory; errors of writing stay in
 * `out` */
bool qp_qtrace_write(qp_trace *t, qp_out *out, const qp_progress *progress,
                     qp_span_counts *counts, qp_qtrace_omitted *omitted);

/* ---- table.c ----------------------------------------------------------------------------- */

/** Write a trace that is open and not read yet as a table, or as delimited text; what was there
 * is replaced. Times are cut to ms; calls that did not return have no row.
 * @param counts  what was in it; its n_records are rows of the table
 * @return false: see error */
bool qp_trace_write_table(qp_trace *trace, const char *path, bool is_text,
                          const qp_progress *progress, qp_span_counts *counts, qp_error *error);

#endif
