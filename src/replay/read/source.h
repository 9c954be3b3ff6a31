/* source.h: what the files of this room share: merge.c merges OS threads by time, and
 * packets.c, rings.c and prf.c unpack their records. */
#ifndef QP_REPLAY_READ_SOURCE_H
#define QP_REPLAY_READ_SOURCE_H

#include "base/os/file.h"
#include "base/text/error.h"
#include "model/read/read.h"
#include "replay/read/trace.h"

enum { QP_BATCH_RECORDS = 2048 };

/* A packet of events in the file. */
typedef struct {
    uint64_t at;           /* of its header */
    uint64_t first_record; /* as in the header */
    uint64_t first_ticks;
    uint32_t n_records;
    uint32_t n_gaps; /* how often packets were missing in the file before it */
} qp_packet_place;

/* A stream of records in the order of time. */
typedef struct {
    uint64_t next;                  /* ticks of its next record, or not later */
    const qp_trace_record *records; /* [n] of which [at] is next */
    size_t at, n;
    bool is_waiting;        /* it had no more, and is not merged */
    qp_trace_record *batch; /* [QP_BATCH_RECORDS + 2] unpacked records; NULL: none yet */
    /* packets */
    qp_buf packets; /* qp_packet_place */
    size_t n_packets_read;
    unsigned char *payload; /* of the packet that is being unpacked */
    size_t payload_room, n_payload, payload_at;
    qp_pack_state state;
    uint32_t n_left;     /* records of it */
    uint64_t n_known;    /* the first of them were read before */
    uint32_t n_gaps;     /* of the packet before */
    uint64_t end_record; /* number after the last record that was read */
    /* a ring */
    qp_model_ring ring;  /* ring.ring NULL: none */
    uint64_t ring_first; /* number of the oldest record that is sound */
    bool ring_begun;     /* the STACK record before its records was handed out */
} qp_trace_os_thread;

/* How far packets were read, and what could not be. */
typedef struct {
    uint64_t position;  /* bytes */
    uint64_t n_damaged; /* packets */
} qp_trace_progress;

/* A source of records. */
typedef struct {
    /* Unpack some records of an OS thread. @return false: it has no more, or no memory */
    bool (*fill)(qp_trace *t, qp_trace_os_thread *c);
    /* Look for records that were written since. @return false: none */
    bool (*refresh)(qp_trace *t);
    void (*close)(qp_trace *t);
} qp_trace_source;

struct qp_trace {
    qp_trace_info info;
    qp_trace_losses losses;
    qp_names names;
    const qp_trace_source *sources[2]; /* in the order of their records; NULL: none */
    qp_buf os_threads;                 /* qp_trace_os_thread */
    qp_dict by_ring;                   /* index + 1 of those */
    qp_buf heap; /* uint32_t: OS threads that have records, the earliest first */
    uint64_t position;
    bool failed; /* no memory */
    qp_trace_progress read,
        shown; /* of the packets that were read, and of the runs handed out */
    struct qp_trace_ahead *ahead; /* NULL: records are read when they are asked for */
    qp_path_entry *paths;         /* [QP_PATH_CACHE] of the thread that reads packets */
    char path[QP_ERROR_BYTES];
    /* packets */
    int fd; /* -1: none */
    qp_trace_file head;
    bool is_head_damaged;
    uint64_t indexed;       /* bytes whose packets are known */
    uint64_t sequence;      /* of the newest packet */
    uint32_t n_gaps;        /* how often a packet was missing */
    unsigned char *scratch; /* of packets that are not events */
    size_t scratch_room;
    /* rings */
    qp_model *model; /* NULL: none */
    int rings_fd;    /* of the file that the model was copied from; -1: none */
    char profile[QP_ERROR_BYTES];
    /* records of the Xbase++ profiler */
    struct qp_trace_prf *prf; /* NULL: none */
};

/* ---- merge.c ----------------------------------------------------------------------------- */

static inline qp_trace_os_thread *qp_trace_os_thread_at(const qp_trace *t, uint32_t index)
{
    return (qp_trace_os_thread *)t->os_threads.items + index;
}
/* Find the OS thread of a ring or of a number, or add it. @return its index; UINT32_MAX: no memory */
uint32_t qp_trace_os_thread_of(qp_trace *t, uint64_t key);
/* Merge the OS thread again: it has records from `next` on. */
void qp_trace_os_thread_wake(qp_trace *t, uint32_t index);
/* The batch of an OS thread. @return NULL: no memory */
qp_trace_record *qp_trace_batch(qp_trace *t, qp_trace_os_thread *c);
void qp_trace_merge_end(qp_trace *t);
/* The next records, read now: what qp_trace_next() does unless a thread reads ahead. */
bool qp_trace_read(qp_trace *t, qp_trace_run *run);
/* The position and the losses of the trace are those of a run that was handed out. */
static inline void qp_trace_show(qp_trace *t, const qp_trace_progress *read)
{
    t->position += read->position - t->shown.position;
    t->losses.n_damaged += read->n_damaged - t->shown.n_damaged;
    t->shown = *read;
}

/* ---- ahead.c ----------------------------------------------------------------------------- */

/* The next run of those that were read ahead. @return false: that was all */
bool qp_trace_ahead_next(struct qp_trace_ahead *a, qp_trace_run *run);

/* ---- the sources ------------------------------------------------------------------------- */

/* Begin to read. @param fd of the .qtrace file, which the trace owns now @return false: see
 * error */
bool qp_packets_open(qp_trace *t, int fd, qp_error *error);
/* With packets, records are added that the file does not have. */
bool qp_rings_open(qp_trace *t, const char *what, qp_error *error);
bool qp_rows_open(qp_trace *t, const char *path, qp_error *error);

/* ---- unzstd.c ---------------------------------------------------------------------------- */

/* Does a file that begins with these bytes hold zstd frames? 4 bytes suffice. */
bool qp_unzstd_fits(const void *bytes, size_t n_bytes);

/** Unpack a file into a temporary one without a name. Cut or damaged input ends where it is.
 * @param why  receives what is wrong, static text
 * @return a descriptor; -1: see why */
int qp_unzstd(int fd, const char **why);

#endif
