/* write.h: traces as files: a .qtrace file from records of any origin, and files of the Xbase++
 * profiler, whose packets become one file again. */
#ifndef QP_REPLAY_WRITE_WRITE_H
#define QP_REPLAY_WRITE_WRITE_H

#include "base/text/error.h"
#include "base/text/out.h"
#include "replay/calls/calls.h"

/* ---- qtrace.c ---------------------------------------------------------------------------- */

typedef struct {
    qp_out *out;
    qp_names *names; /* what the cells of the records are */
    uint64_t nonce, sequence;
    uint32_t n_names;  /* NAMES packets */
    qp_buf os_threads; /* the packets that are being filled */
    qp_buf payload;    /* unsigned char, of a NAMES packet; entries since the last one: */
    uint32_t n_entries;
    qp_dict is_written[4]; /* by qp_names_kind: cells and refs in the file */
    uint64_t n_records;
    bool failed; /* no memory */
} qp_qtrace;

/* Begin a file. @return false: no memory; qp_qtrace_fini() is allowed then */
bool qp_qtrace_init(qp_qtrace *w, qp_out *out, qp_names *names, const qp_trace_info *info);
void qp_qtrace_fini(qp_qtrace *w);

/* Records of one OS thread, in their order. @param OS thread  index from 0 */
void qp_qtrace_put(qp_qtrace *w, uint32_t os_thread, const qp_trace_record *records, size_t n);

/* Write what is left, how ticks become time, and the end. @return false: no memory; errors of
 * writing stay in `out` */
bool qp_qtrace_end(qp_qtrace *w, const qp_trace_info *info, uint64_t end_raw);

/* What a table of the Xbase++ profiler has and the file does not. */
typedef struct {
    uint64_t n_lines;  /* records with a line */
    uint64_t n_values; /* records with parameters or a result */
} qp_qtrace_omitted;

/** All of a trace that is open and not read yet. A call of a table begins and ends where its
 * caller announced it, if it did. @return false: no memory */
bool qp_qtrace_write(qp_trace *t, qp_out *out, const qp_progress *progress,
                     qp_span_counts *counts, qp_qtrace_omitted *omitted);

/* ---- table.c ----------------------------------------------------------------------------- */

enum { QP_TRACE_PATH_BYTES = 4096 };

/** Write a trace that is open and not read yet as a table, or as delimited text; what was there
 * is replaced. Times are cut to ms; calls that did not return have no row.
 * @param counts  what was in it; its n_records are rows of the table
 * @return false: see error */
bool qp_trace_write_table(qp_trace *trace, const char *path, bool is_text,
                          const qp_progress *progress, qp_span_counts *counts, qp_error *error);

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
