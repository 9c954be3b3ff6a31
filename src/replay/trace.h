/* trace.h: a raw trace as records in the order of time, whatever it is kept in: packets of a .qtrace
 * file (also packed by zstd), rings of a profile, records of the Xbase++ profiler.
 *
 * Carriers are merged by time. What is damaged is skipped and counted. Nothing is mapped: others may
 * write, cut or replace the file. Memory: names, carriers that are in use, and a packet of each. */
#ifndef QP_REPLAY_TRACE_H
#define QP_REPLAY_TRACE_H

#include "replay/names.h"
#include "replay/spans.h"

typedef enum { QP_TRACE_OF_PACKETS, QP_TRACE_OF_RINGS, QP_TRACE_OF_XBASE } qp_trace_kind;

/* What a trace says of itself. */
typedef struct {
    qp_trace_kind kind;
    const char *program; /* of a table, its file; "": not known */
    uint64_t pid;        /* 0: not known */
    uint64_t started_at; /* ns since 1970; 0: not known */
    uint64_t changed_at; /* the same of a table: the day in its header */
    bool is_ended;       /* closed properly: nothing will follow */
    bool is_live;        /* its process runs */
    bool is_elsewhere;   /* rings of a run whose records were written to a .qtrace file, too */
    bool is_virtual;     /* threads are virtual threads */
    uint64_t n_bytes;    /* of the file, or of records in rings */
    uint64_t begun_raw;  /* raw ticks of the run's start */
    uint64_t end_raw;    /* of its end; 0: not known */
    /* raw ticks to ns: n_ns for n_ticks; 0: they are ns */
    uint64_t n_ns, n_ticks;
} qp_trace_info;

/* What is not in it any more, or could not be read. */
typedef struct {
    uint64_t n_overwritten;   /* records that newer ones replaced, as they should */
    uint64_t n_packets;       /* packets that are missing, by their numbers */
    uint64_t n_damaged;       /* packets, records of rings, rows that make no sense */
    uint64_t n_skipped_bytes; /* between packets */
    uint64_t n_cut_bytes;     /* of a packet that was not written to its end */
    /* Records, as the recorder has counted them: those that found no room in memory, and those that
     * could not be written to the file. */
    uint64_t n_unheld, n_unwritten;
} qp_trace_losses;

/* Records of one carrier: until the next call. */
typedef struct {
    uint32_t carrier; /* index from 0 */
    const qp_trace_record *records;
    size_t n;
} qp_trace_run;

typedef struct qp_trace qp_trace;

/** Open a trace.
 * @param what   a file; or the id of a process that records one
 * @param error  one line without a newline
 * @return NULL: see error. Free with qp_trace_close(), which takes NULL */
qp_trace *qp_trace_open(const char *what, char error[QP_ERROR_BYTES]);
/** The same file's run goes on in the rings of its profile: what they have and the file has not
 * follows. Before the first qp_trace_next(). @return false: see error */
bool qp_trace_join(qp_trace *t, const char *profile, char error[QP_ERROR_BYTES]);
void qp_trace_close(qp_trace *t);
/** Where is what a program that was killed had not written to its file? @param path  receives the live
 * profile that it left. @return false: it is not there, or was joined, or nothing is missing */
bool qp_trace_rest(const qp_trace *t, char *path, size_t n_bytes);

const qp_trace_info *qp_trace_about(const qp_trace *t);
const qp_trace_losses *qp_trace_lost(const qp_trace *t);
qp_names *qp_trace_names(qp_trace *t); /* grow while records are read */

/** The next records. @return false: there are no more (now), or no memory: see qp_trace_failed() */
bool qp_trace_next(qp_trace *t, qp_trace_run *run);
bool qp_trace_failed(const qp_trace *t);

/** Look whether more was written since. @return false: no, and nothing more will come */
bool qp_trace_refresh(qp_trace *t);

/* Bytes of the trace that were read, of qp_trace_info.n_bytes. */
uint64_t qp_trace_position(const qp_trace *t);

/* A part of the run, in raw ticks: from <= at < to. */
typedef struct {
    uint64_t from, to; /* UINT64_MAX: to the end */
} qp_trace_window;

void qp_trace_spans(qp_trace *t, qp_spans *x, const qp_span_sink *sink);

/** Put all records of a window into x, which has been prepared for t. Calls that are open when it
 * begins are cut there. @param window, progress  may be NULL
 * @return false: no memory */
bool qp_trace_play_on(qp_trace *t, qp_spans *x, const qp_trace_window *window,
                      const qp_progress *progress);
/* The same, and what is open ends. */
bool qp_trace_play(qp_trace *t, qp_spans *x, const qp_trace_window *window,
                   const qp_progress *progress);
/* Records that are missing in what was played: said by records, or counted by the recorder behind the
 * last of them. @param places  receives where */
uint64_t qp_trace_missing(const qp_trace *t, const qp_span_counts *counts,
                          const qp_trace_window *window, uint64_t *places);

/* Raw ticks of the end of what was played. */
uint64_t qp_trace_end_raw(const qp_trace *t, const qp_spans *x, const qp_trace_window *window);

/* Ticks in ns, to half a ns. */
uint64_t qp_trace_ns(const qp_trace_info *info, uint64_t ticks);
/* ns from the run's start to a raw tick. */
uint64_t qp_trace_moment(const qp_trace_info *info, uint64_t raw);
/* And back. */
uint64_t qp_trace_raw(const qp_trace_info *info, uint64_t ns);

#endif
