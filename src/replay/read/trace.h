/* trace.h: a raw trace as records in the order of time, from packets of a .qtrace file (also packed
 * by zstd), rings of a profile, or records of the Xbase++ profiler.
 *
 * OS threads are merged by time. Damaged parts are skipped and counted. Nothing is mapped, because
 * others may write, cut or replace the file. Memory: names, OS threads that are in use, and a packet
 * of each. */
#ifndef QP_REPLAY_READ_TRACE_H
#define QP_REPLAY_READ_TRACE_H

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/text/buf.h"
#include "base/text/error.h"
#include "base/text/out.h"
#include "format/trace.h"
#include "model/model.h"

/* Made by readers only. */
#define QP_TRACE_STACK QP_TRACE_NONE /* from here on: thread a is driven, path b is on top */
enum { QP_EXIT_NAMED = 0 };          /* EXIT, a: the innermost call of the method b ends */

/* Does a record have a time? @param ticks  receives it; else unchanged */
static inline bool qp_trace_has_time(const qp_trace_record *r, uint64_t *ticks)
{
    bool has_time = qp_trace_has_ticks((qp_trace_op)(r->word >> QP_TRACE_OP_SHIFT));
    if (has_time)
        *ticks = r->word & QP_TRACE_TICKS;
    return has_time;
}

/* How many of n records come before a moment (UINT64_MAX: all do); what belongs to the last of them
 * comes with it. */
static inline size_t qp_trace_count_before(const qp_trace_record *r, size_t n, uint64_t limit)
{
    uint64_t ticks = 0;
    size_t i = limit == UINT64_MAX ? n : 0;
    while (i < n && (!qp_trace_has_time(&r[i], &ticks) || ticks < limit))
        i++;
    return i;
}

/* ---- names ----------------------------------------------------------------------------------
 *
 * What the records of a trace refer to: methods, call paths, threads, texts.
 *
 * Records name them by cell; here they have numbers from 1 on, and 0 means unknown. A path's number is
 * larger than its caller's. Entries come from the trace as it is read, or from a profile when they
 * are needed for the first time. */

enum { QP_PATH_ROOT = 1 }; /* the path on which nothing is called yet */

typedef struct {
    const char *name;                                   /* to be shown */
    const char *bare_name, *class_name, *file, *module; /* "" where there is none */
    const char *pattern_module;                         /* what call patterns call its module */
    uint64_t id;
    uint32_t flags;      /* QP_METHOD_* */
    uint32_t first_line; /* 0: not known */
} qp_trace_method;

typedef struct {
    uint32_t parent; /* 0: of the root, or not known */
    uint32_t method; /* 0: of the root */
    uint32_t depth;  /* of the root 0 */
    uint32_t caller_cell, method_cell;
} qp_trace_path;

typedef struct {
    const char *name;  /* to be shown */
    const char *given; /* as the host set it; "" */
    uint64_t host_id, vt_id, system_id;
    uint32_t ordinal;   /* from 1 */
    uint32_t root_cell; /* of the path on which it calls nothing; 0: not known */
    bool is_started;    /* the name, if it was made here, has the start method */
} qp_trace_thread;

/* What a record needs of a path, in a table of those that were used last, by the low bits of the cell.
 * 4096: measured by tests/bench/trace_stat.sh. */
typedef struct {
    uint32_t cell, number;
    uint32_t caller_cell, method_cell;
} qp_path_entry;
enum { QP_PATH_CACHE = 4096 };

typedef struct {
    qp_arena texts;
    /* by qp_names_kind: qp_trace_method, qp_trace_path, qp_trace_thread, const char *; item 0 is
     * what is not known */
    qp_buf items[4];
    qp_dict by_cell[4];     /* cell -> number */
    qp_dict thread_of_root; /* cell of a root path -> cell of its thread */
    const qp_model *model;  /* where unknown cells are looked up; NULL: nowhere */
    qp_path_entry cache[QP_PATH_CACHE];
    bool failed; /* no memory */
} qp_names;

/* @return false: no memory; qp_names_fini() is allowed then */
bool qp_names_init(qp_names *t, const qp_model *model);
void qp_names_fini(qp_names *t);

/* Define a cell or ref; a later call replaces a method or thread. Texts are copied. */
typedef struct {
    uint64_t id;
    uint32_t flags, first_line;
    qp_name name, class_name, file, module;
} qp_method_names;
uint32_t qp_names_add_method(qp_names *t, uint32_t cell, const qp_method_names *names);
uint32_t qp_names_add_path(qp_names *t, uint32_t cell, uint32_t parent_cell,
                           uint32_t method_cell);
uint32_t qp_names_add_thread(qp_names *t, uint32_t cell, const qp_trace_thread *th,
                             qp_name given);
uint32_t qp_names_add_text(qp_names *t, uint32_t ref, qp_name text);

/* @return the number of a cell or ref; 0: unknown */
uint32_t qp_names_method(qp_names *t, uint32_t cell);
const qp_path_entry *qp_names_path_miss(qp_names *t, qp_path_entry *cache, uint32_t cell);
uint32_t qp_names_thread(qp_names *t, uint32_t cell);
/* @return the cell of the thread of a path; 0: unknown */
uint32_t qp_names_path_thread(qp_names *t, qp_path_entry *cache, uint32_t path_cell);
const char *qp_names_text(qp_names *t, uint32_t ref); /* "?": unknown */

/* Valid until the next path is looked up; all 0: not known.
 * @param cache  [QP_PATH_CACHE] of the calling thread */
static inline const qp_path_entry *qp_names_path_entry_in(qp_names *t, qp_path_entry *cache,
                                                          uint32_t cell)
{
    const qp_path_entry *e = &cache[cell & (QP_PATH_CACHE - 1)];
    return e->cell == cell ? e : qp_names_path_miss(t, cache, cell);
}

static inline const qp_path_entry *qp_names_path_entry(qp_names *t, uint32_t cell)
{
    return qp_names_path_entry_in(t, t->cache, cell);
}

static inline uint32_t qp_names_path(qp_names *t, uint32_t cell)
{
    return qp_names_path_entry(t, cell)->number;
}

static inline const qp_trace_method *qp_names_method_at(const qp_names *t, uint32_t number)
{
    return (const qp_trace_method *)t->items[QP_NAMES_METHOD].items + number;
}

static inline const qp_trace_path *qp_names_path_at(const qp_names *t, uint32_t number)
{
    return (const qp_trace_path *)t->items[QP_NAMES_PATH].items + number;
}

static inline const qp_trace_thread *qp_names_thread_at(const qp_names *t, uint32_t number)
{
    return (const qp_trace_thread *)t->items[QP_NAMES_THREAD].items + number;
}

/* Name a thread after the method with which it begins, unless it has a name. */
void qp_names_start(qp_names *t, uint32_t thread, uint32_t method);

/* ---- traces ------------------------------------------------------------------------------ */

typedef enum { QP_TRACE_OF_PACKETS, QP_TRACE_OF_RINGS, QP_TRACE_OF_XBASE } qp_trace_kind;

/* Facts about a trace. */
typedef struct {
    qp_trace_kind kind;
    const char *program; /* of a table, its file; "": not known */
    uint64_t pid;        /* 0: not known */
    uint64_t started_at; /* ns since 1970; 0: not known */
    uint64_t changed_at; /* the same of a table: the day in its header */
    bool is_ended;       /* closed properly: nothing will follow */
    bool is_live;        /* its process runs */
    bool is_elsewhere;   /* rings of a run that also wrote a .qtrace file */
    bool is_virtual;     /* threads are virtual threads */
    uint64_t n_bytes;    /* of the file, or of records in rings */
    uint64_t begun_raw;  /* raw ticks of the run's start */
    uint64_t end_raw;    /* of its end; 0: not known */
    /* raw ticks to ns: n_ns for n_ticks; 0: they are ns */
    uint64_t n_ns, n_ticks;
} qp_trace_info;

/* What is missing, or could not be read. */
typedef struct {
    uint64_t n_overwritten;   /* records that newer ones replaced, as they should */
    uint64_t n_removed_bytes; /* of the oldest packets, as -trace-limit says */
    uint64_t n_packets;       /* packets that are missing, by their numbers */
    uint64_t n_unread_packets,
        n_unread_texts;       /* of the Xbase++ profiler: files beside the trace */
    uint64_t n_damaged;       /* invalid packets, records of rings, rows */
    uint64_t n_skipped_bytes; /* between packets */
    uint64_t n_cut_bytes;     /* of a packet or table that does not reach its end */
    /* Records, counted by the recorder: those for which there was no room in memory, and those that
     * could not be written to the file. */
    uint64_t n_unheld, n_unwritten;
    const char *of_profile; /* what is missing of the profile with the rings; NULL: nothing */
} qp_trace_losses;

/* Records of one OS thread: until the next call. */
typedef struct {
    uint32_t os_thread; /* index from 0 */
    const qp_trace_record *records;
    size_t n;
} qp_trace_run;

typedef struct qp_trace qp_trace;

/** Open a trace.
 * @param what   a file; or the id of a process that records one
 * @param error  one line without a newline
 * @return NULL: see error. Free with qp_trace_close(), which takes NULL */
qp_trace *qp_trace_open(const char *what, qp_error *error);
/** Add the records that the rings of the run's profile have and the file does not. Before the
 * first qp_trace_next(). @return false: see error */
bool qp_trace_join(qp_trace *t, const char *profile, qp_error *error);
void qp_trace_close(qp_trace *t);
/** Find the live profile with the records that a killed program had not written to its file.
 * @param path  receives it. @return false: none, or it was joined, or nothing is missing */
bool qp_trace_rest(const qp_trace *t, char *path, size_t n_bytes);

const qp_trace_info *qp_trace_about(const qp_trace *t);
const qp_trace_losses *qp_trace_lost(const qp_trace *t);
qp_names *qp_trace_names(qp_trace *t); /* they grow while records are read */

/** Read the next records. @return false: no more (for now), or no memory: see qp_trace_failed() */
bool qp_trace_next(qp_trace *t, qp_trace_run *run);
bool qp_trace_failed(const qp_trace *t);

/** Let a thread of its own read the packets ahead, if that pays: the file is long and no process writes to it.
 * qp_trace_next() hands out the same runs, with the same losses. Meanwhile the calling thread may use the trace
 * and its names; what qp_trace_failed() says is final after the end.
 * Memory: 1 MiB. @return false: records are read when they are asked for */
bool qp_trace_ahead_begin(qp_trace *t);
/** End it. What was read ahead and not handed out is lost. */
void qp_trace_ahead_end(qp_trace *t);

/** Look for records that were written since. @return false: none, and none will follow */
bool qp_trace_refresh(qp_trace *t);

/** When its first record and its end are, raw ticks. @return false: that is known only when it was read */
bool qp_trace_extent(const qp_trace *t, uint64_t *first, uint64_t *end);

/* Bytes of the trace that were read, of qp_trace_info.n_bytes. */
uint64_t qp_trace_position(const qp_trace *t);

/* Ticks in ns, to half a ns. */
uint64_t qp_trace_ns(const qp_trace_info *info, uint64_t ticks);
/* ns from the run's start to a raw tick. */
uint64_t qp_trace_moment(const qp_trace_info *info, uint64_t raw);
/* And back. */
uint64_t qp_trace_raw(const qp_trace_info *info, uint64_t ns);

/** Pack the rest of a file with zstd. @return false: see why; errors of writing stay in
 * `out` */
bool qp_zstd(int fd, qp_out *out, const char **why);

#endif
