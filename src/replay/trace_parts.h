/* trace_parts.h: what the readers of a trace share: trace.c merges what the others unpack. */
#ifndef QP_REPLAY_TRACE_PARTS_H
#define QP_REPLAY_TRACE_PARTS_H

#include "base/file.h"
#include "format/trace_pack.h"
#include "model/cells.h"
#include "replay/trace.h"

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
    qp_trace_record *batch; /* [QP_BATCH_RECORDS + 2] what was unpacked; NULL: nothing yet */
    /* packets */
    qp_buf packets; /* qp_packet_place */
    size_t n_packets_read;
    unsigned char *payload; /* of the packet that is being unpacked */
    size_t payload_room, n_payload, payload_at;
    qp_pack_state state;
    uint32_t n_left;     /* records of it */
    uint64_t n_known;    /* the first of them were read before */
    uint32_t n_gaps;     /* of the packet before */
    uint64_t end_record; /* number behind the last record that was read */
    /* a ring */
    qp_model_ring ring;  /* ring.ring NULL: none */
    uint64_t ring_first; /* number of the oldest record that is sound */
    bool ring_begun;     /* it was said whose records follow */
} qp_trace_carrier;

struct qp_trace {
    qp_trace_info info;
    qp_trace_losses losses;
    qp_names names;
    qp_buf carriers; /* qp_trace_carrier */
    qp_buf heap;     /* uint32_t: carriers that have records, the earliest first */
    uint64_t position;
    bool failed; /* no memory */
    char path[QP_ERROR_BYTES];
    /* packets */
    int fd; /* -1: none */
    qp_trace_file head;
    qp_dict by_ring;        /* carriers */
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

/* Append a carrier. @return its index; UINT32_MAX: no memory */
uint32_t qp_trace_carrier_add(qp_trace *t);
static inline qp_trace_carrier *qp_trace_carrier_at(const qp_trace *t, uint32_t index)
{
    return (qp_trace_carrier *)t->carriers.items + index;
}
/* It has records now, from `next` on. */
void qp_trace_carrier_wake(qp_trace *t, uint32_t index);
/* Its batch. @return NULL: no memory */
qp_trace_record *qp_trace_batch(qp_trace *t, qp_trace_carrier *c);

static inline qp_trace_record qp_trace_make(qp_trace_op op, uint64_t ticks, uint32_t a,
                                            uint32_t b)
{
    return (qp_trace_record){(uint64_t)op << QP_TRACE_OP_SHIFT | (ticks & QP_TRACE_TICKS), a,
                             b};
}

/* trace_packets.c: begin, look for more packets in the file, unpack some records of a carrier.
 * @return false: see error; of the others: nothing more */
bool qp_packets_open(qp_trace *t, int fd, char error[QP_ERROR_BYTES]);
bool qp_packets_index(qp_trace *t);
bool qp_packets_fill(qp_trace *t, qp_trace_carrier *c);

/* trace_names.c: take the entries of a NAMES packet. */
void qp_packet_names(qp_trace *t, const unsigned char *payload, size_t n_bytes,
                     uint32_t n_entries);

/* trace_rings.c: the same of a profile; beside packets, what they have not is added. */
bool qp_rings_open(qp_trace *t, const char *what, char error[QP_ERROR_BYTES]);
bool qp_rings_refresh(qp_trace *t);
bool qp_rings_fill(qp_trace *t, qp_trace_carrier *c);

/* trace_prf.c: the same of a PRF file. */
bool qp_trace_prf_open(qp_trace *t, const char *path, char error[QP_ERROR_BYTES]);
bool qp_trace_prf_fill(qp_trace *t, qp_trace_carrier *c);
void qp_trace_prf_close(qp_trace *t);

#endif
