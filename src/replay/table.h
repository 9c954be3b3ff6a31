/* table.h: traces as files of the Xbase++ profiler, and its packets as one file again. */
#ifndef QP_REPLAY_TABLE_H
#define QP_REPLAY_TABLE_H

#include "base/out.h"
#include "replay/trace.h"

enum { QP_TRACE_PATH_BYTES = 4096 };

/** Write a trace that is open and not read yet as a table, or as delimited text; what was there is
 * replaced. Times are cut to ms; calls that did not return have no row.
 * @param counts  what was in it; its n_records are rows of the table
 * @return false: see error */
bool qp_trace_write_table(qp_trace *trace, const char *path, bool is_text,
                          const qp_progress *progress, qp_span_counts *counts,
                          char error[QP_ERROR_BYTES]);

typedef struct {
    uint64_t n_packets;
    uint64_t n_rows;     /* records of a table; 0 with delimited text */
    uint64_t n_declared; /* by the header packet */
    uint64_t n_damaged;  /* bytes at the end of packets that are no whole record */
} qp_trace_rebuilt;

/** Join a header packet and the packets beside it. @return false: see why, static text */
bool qp_trace_rebuild(const char *path, qp_out *out, qp_trace_rebuilt *r, const char **why);

/* The file that has the parameters of a table, beside it. */
void qp_trace_memo_path(const char *path, char to[QP_TRACE_PATH_BYTES]);

#endif
