/* qtrace.h: writing a .qtrace file of records of any origin. */
#ifndef QP_REPLAY_QTRACE_H
#define QP_REPLAY_QTRACE_H

#include "base/out.h"
#include "replay/trace.h"

typedef struct {
    qp_out *out;
    qp_names *names; /* what the cells of the records are */
    uint64_t nonce, sequence;
    uint32_t n_names; /* NAMES packets */
    qp_buf carriers;  /* the packets that are being filled */
    qp_buf payload;   /* unsigned char, of a NAMES packet; entries since the last one: */
    uint32_t n_entries;
    qp_dict said[4]; /* cells of methods, paths, threads, refs of texts that were said */
    uint64_t n_records;
    bool failed; /* no memory */
} qp_qtrace;

/* Begin a file. @return false: no memory; qp_qtrace_fini() is allowed then */
bool qp_qtrace_init(qp_qtrace *w, qp_out *out, qp_names *names, const qp_trace_info *info);
void qp_qtrace_fini(qp_qtrace *w);

/* Records of one carrier, in their order. @param carrier  index from 0 */
void qp_qtrace_put(qp_qtrace *w, uint32_t carrier, const qp_trace_record *records, size_t n);

/* Write what is left, how ticks become time, and the end. @return false: no memory; errors of writing
 * stay in `out` */
bool qp_qtrace_end(qp_qtrace *w, const qp_trace_info *info, uint64_t end_raw);

/* What a table of the Xbase++ profiler has and the file has not. */
typedef struct {
    uint64_t n_lines;  /* records with a line */
    uint64_t n_values; /* records with parameters or a result */
} qp_qtrace_omitted;

/** All of a trace that is open and not read yet. A call of a table begins and ends where its caller
 * said so, if it did. @return false: no memory */
bool qp_qtrace_write(qp_trace *t, qp_out *out, const qp_progress *progress,
                     qp_span_counts *counts, qp_qtrace_omitted *omitted);

#endif
