/* trace.h: what the bytes of a raw trace mean: rings in a profile file, packets in a .qtrace file.
 * Each byte is described in docs/formats/qtrace.md.
 *
 * A ring belongs to an OS thread; records name the thread that it drives. The record of an entry
 * names the call path, which is a cell of the profile file, so that the whole stack is known from
 * any record on. A packet names what it needs of the dictionary, whose packets precede it: it can be
 * decoded when other parts of the file are lost. */
#ifndef QP_FORMAT_TRACE_H
#define QP_FORMAT_TRACE_H

#include "format/layout.h"

/* What happened. The highest 4 bits of qp_trace_record.word. */
typedef enum {
    QP_TRACE_NONE,
    QP_TRACE_ENTRY, /* a: call path (node; 0: none, the caller's remains), b: method */
    /* a: frames that ended, and whose entries are in the trace, and QP_TRACE_UNWOUND; b: path that
     * resumes */
    QP_TRACE_EXIT,
    /* this OS thread drives another thread; the previous one is suspended. a: thread record, b: its
     * path. If an earlier thread had that record, a DATA record follows with the id of the new one,
     * virtual or the host's */
    QP_TRACE_SWITCH,
    QP_TRACE_SUSPEND, /* it drives no thread. a: the one that is suspended, b: 1: that has ended */
    /* a: 1: what follows on this thread is recorded, and b is the path on top; 0: it is not */
    QP_TRACE_GATE,
    QP_TRACE_MARKER,  /* a: name (qp_ref), b: qp_marker_kind */
    QP_TRACE_COUNTER, /* a: name (qp_ref); its value is in the DATA record that follows */
    QP_TRACE_CALL,    /* about to be called. a: method, b: line */
    QP_TRACE_RETURN,  /* has returned. a: method, b: line */
    QP_TRACE_LINE,    /* a: current line of the top frame */
    /* a parameter of the next CALL or ENTRY, or a result of the next EXIT or RETURN. a: number (0:
     * result), b: bytes of type, value and comment, each ended by NUL, in the TEXT records that
     * follow */
    QP_TRACE_VALUE,
    QP_TRACE_SAMPLE, /* a: path on top, b: PC samples */
    QP_TRACE_LOST,   /* a, b: records that found no room before this one, low and high word; a
                        SWITCH follows */
    QP_TRACE_TEXT,   /* 15 bytes: bits 0..55 of word, then a and b; NUL padded */
    QP_TRACE_DATA    /* a, b: low and high word of a value of 64 bits */
} qp_trace_op;

enum { QP_TRACE_OP_SHIFT = 60, QP_TRACE_TEXT_BYTES = 15 };
#define QP_TRACE_TICKS   ((1ull << QP_TRACE_OP_SHIFT) - 1)
#define QP_TRACE_UNWOUND 0x80000000u /* they did not return, or their thread ended */

typedef struct {
    uint64_t
        word; /* op, and raw ticks of the run's elapsed clock; they never fall in a ring. TEXT
                      and DATA have no ticks */
    uint32_t a, b;
} qp_trace_record;

/* A ring: the first cell after the header of an extent of the kind RING; the records follow. Record
 * number i (from 0) lies in slot i % n_slots. The owner fills a slot, then publishes head. Readable:
 * tail or head - n_slots + 1, whichever is later, up to head. When its OS thread has ended, another
 * one takes the ring, and begins with a SWITCH. */
typedef struct {
    uint64_t head;      /* records written; the owner's */
    uint64_t tail;      /* stream mode: records taken by the writer, whose field it is */
    uint64_t n_lost;    /* records that found no room; the owner's */
    uint64_t system_id; /* gettid of the OS thread */
    uint32_t n_slots;   /* a power of two */
    uint32_t os_thread; /* ordinal, from 1 */
    qp_cell thread;     /* driven now, or last; the owner's */
    uint32_t is_ended;  /* 1: no OS thread uses it, and one may take it */
    uint64_t reserved[2];
} qp_ring;

typedef enum { QP_TRACE_STREAM, QP_TRACE_OVERWRITE } qp_trace_mode;

/* ---- a .qtrace file ------------------------------------------------------------------------- */

#define QP_TRACE_MAGIC  "QTRACE\r\n"
#define QP_PACKET_MAGIC 0x544b5051u /* "QPKT" */

enum { QP_TRACE_MAJOR = 1, QP_TRACE_MINOR = 1 };

typedef struct {
    char magic[8];
    uint32_t endian; /* QP_ENDIAN */
    uint16_t major, minor;
    uint64_t nonce; /* of the run, as in its profile */
    uint64_t pid;
    uint64_t started_at; /* wall clock, ns since 1970 */
    uint64_t begun_raw;
    uint32_t clock_source;
    uint32_t is_virtual;  /* 1: threads are virtual threads */
    qp_ref program, host; /* texts of the dictionary */
} qp_trace_file;

typedef enum {
    QP_PACKET_EVENTS,
    QP_PACKET_NAMES, /* of the dictionary */
    QP_PACKET_CLOCK, /* how ticks become time, and what was lost so far */
    QP_PACKET_END,   /* the trace was closed, at first_ticks: nothing follows */
    QP_PACKET_PART   /* what follows needs no earlier packet: those may have been removed */
} qp_packet_kind;

/* 72 bytes, then n_bytes of payload, padded to 8. The sum detects damage; reading continues at the
 * next magic. */
typedef struct {
    uint32_t magic;
    uint32_t kind;    /* qp_packet_kind */
    uint32_t n_bytes; /* of the payload */
    uint32_t sum;     /* qp_packet_sum: the header with sum 0, the padded payload */
    uint64_t nonce;
    uint64_t sequence;     /* from 1, all kinds */
    uint64_t first_record; /* EVENTS: number of the first record in its ring; else, of minor 1:
                              checksum of the file's header; 0: not known */
    uint64_t first_ticks;  /* EVENTS: what the first delta counts from */
    uint32_t n_records;    /* EVENTS: records; NAMES: entries; else 0 */
    uint32_t names;        /* EVENTS: NAMES packets that must have been read */
    uint32_t os_thread;    /* EVENTS: whose ring it was */
    qp_cell ring;          /* EVENTS: its cell */
    qp_cell thread;        /* EVENTS: driven when it begins; 0: none, or not known */
    qp_cell path;          /* EVENTS: on top then; 0: not known */
} qp_packet;

/* Payload of EVENTS: for each record one byte, op in bits 0..3 and QP_PACKED_* above; then varints
 * (LEB128, signed numbers zigzag): ticks since the record before; then a and b, but for
 *   ENTRY   path less the path of the last ENTRY (of the packet's header before the first one),
 *           signed; PLAIN: the method is that of the path in the dictionary; else b follows
 *   EXIT    PLAIN: one frame returned, and the caller of the path on top resumes; else a, b
 *   TEXT    15 raw bytes; DATA: a and b raw, 4 bytes each; neither has ticks */
enum {
    QP_PACKED_NO_TICKS = 1u << 4, /* no time has passed: the varint is left out */
    QP_PACKED_PLAIN = 1u << 5     /* ENTRY, EXIT: nothing unusual follows */
};

/* Payload of NAMES: entries, each one byte kind, then varints and texts (varint length, bytes). A
 * packet has what is new, and once more what was new in the one before: no single one is missed. A
 * later entry for a cell or ref replaces an earlier one. */
typedef enum {
    QP_NAMES_METHOD, /* cell, id, flags, first line, name, class, file, module */
    QP_NAMES_PATH, /* cell, caller (a thread's outermost path: 0), method cell (the same: 0) */
    QP_NAMES_THREAD, /* cell, ordinal, host id, virtual id, system id, outermost path, name */
    QP_NAMES_TEXT    /* ref, text */
} qp_names_kind;

/* Payload of CLOCK: tick_0, ns_0, tick_1, ns_1 of qp_head, 8 bytes each; then diagnostics, a varint
 * each, as many as there are. */

_Static_assert(sizeof(qp_trace_record) == 16 && sizeof(qp_ring) == QP_CELL, "traces");
_Static_assert(sizeof(qp_trace_file) == QP_CELL && sizeof(qp_packet) == 72, "packets");

/* ---- records as the bytes of a packet, and back: trace_pack.c --------------------------------
 *
 * No memory is taken and no byte is trusted: whatever a packet holds, reading it ends and gives
 * records. */

enum { QP_PACKED_MAX = 32, QP_VARINT_MAX = 10 }; /* bytes of one record, one varint */

/* What the dictionary says of a call path; method 0: nothing. */
typedef struct {
    qp_cell caller, method;
} qp_pack_path;

typedef struct {
    qp_pack_path (*of)(void *to, qp_cell path);
    void *to;
} qp_pack_paths;

/* Where a packet stands between two records. It begins with first_ticks and path, twice, of the
 * packet's header. */
typedef struct {
    uint64_t ticks; /* of the record before */
    qp_cell path;   /* on top */
    qp_cell last;   /* of the last ENTRY */
} qp_pack_state;

static inline qp_trace_record qp_trace_make(qp_trace_op op, uint64_t ticks, uint32_t a,
                                            uint32_t b)
{
    return (qp_trace_record){(uint64_t)op << QP_TRACE_OP_SHIFT | (ticks & QP_TRACE_TICKS), a,
                             b};
}

static inline qp_trace_op qp_trace_op_of(const qp_trace_record *r)
{
    return (qp_trace_op)(r->word >> QP_TRACE_OP_SHIFT);
}

/* Has the record ticks? Else bits 0 to 59 of its word are something else. */
static inline bool qp_trace_has_ticks(qp_trace_op op)
{
    return op != QP_TRACE_TEXT && op != QP_TRACE_DATA;
}

/* Ticks that fall are moved to those before. @param out  [QP_PACKED_MAX] @return bytes written */
size_t qp_pack_record(qp_pack_state *s, const qp_trace_record *r, const qp_pack_paths *paths,
                      unsigned char *out);

/* @return bytes read, at least 1; 0: the payload ends here, or is damaged; *s and *r are as they
 * were then */
size_t qp_unpack_record(qp_pack_state *s, const unsigned char *in, size_t n_bytes,
                        const qp_pack_paths *paths, qp_trace_record *r);

/* @return bytes written; at most QP_VARINT_MAX */
size_t qp_pack_varint(uint64_t value, unsigned char *out);
/* @return bytes read; 0: it is longer than 64 bits or than what is there */
size_t qp_unpack_varint(const unsigned char *in, size_t n_bytes, uint64_t *value);

/* An entry of the dictionary: the numbers of its kind, and after them its texts. */
typedef struct {
    const char *bytes; /* no NUL */
    size_t n_bytes;
} qp_name;
typedef struct {
    uint64_t numbers[6]; /* the cell or ref first */
    qp_name texts[4];
} qp_names_entry;

/* Bytes that an entry takes at most. */
size_t qp_names_most(qp_names_kind kind, const qp_names_entry *e);
/* @param out  [qp_names_most()] @return bytes written */
size_t qp_names_pack(qp_names_kind kind, const qp_names_entry *e, unsigned char *out);
/* Texts point into the payload; what the kind does not have is 0.
 * @return bytes read; 0: the payload ends within the entry, or is damaged */
size_t qp_names_unpack(const unsigned char *in, size_t n_bytes, qp_names_kind *kind,
                       qp_names_entry *e);

/* Append a record to a packet of events that is being filled.
 * @param payload  of p, with room for QP_PACKED_MAX bytes more
 * @param thread   that the OS thread drives */
void qp_packet_put(qp_packet *p, unsigned char *payload, qp_pack_state *s, qp_cell *thread,
                   const qp_trace_record *r, const qp_pack_paths *paths);

/* The same for the first of n records, as far as they are the usual ones and fit: entries of paths
 * that are known, and exits of one frame to the caller that is known, soon after the record before.
 * @param room   bytes of the payload
 * @param known  paths by cell, as qp_pack_paths finds them; only a path has a method that an entry
 *               or its callees name
 * @return how many */
size_t qp_packet_put_usual(qp_packet *p, unsigned char *payload, size_t room, qp_pack_state *s,
                           const qp_trace_record *r, size_t n, const qp_pack_path *known);

/* Bytes that a payload takes in the file. */
static inline size_t qp_packet_padded(size_t n_bytes)
{
    return (n_bytes + 7) / 8 * 8;
}

/* The sum of a packet. @param payload  [qp_packet_padded(p->n_bytes)], its end zero */
uint32_t qp_packet_sum(const qp_packet *p, const void *payload);

/* Complete a packet: magic, identity, sum and the zeros at the end of its payload.
 * @return bytes of the padded payload */
size_t qp_packet_seal(qp_packet *p, unsigned char *payload, uint64_t nonce, uint64_t sequence);

/* ---- files of earlier runs: earlier.c ------------------------------------------------------- */
/* May a file that has the name of a new one be replaced, because it is of an earlier run? Both are
 * judges for qp_place_file(). A run is all processes of one
 * `qprof run`, which tells the moment of its start, qp_head.run_at, in the variable QPROF_RUN; or a
 * process with those that it forks, and begins with its first recording. Of other files only empty ones may be replaced. */

/* When a profile was complete, wall clock, ns; of one that was not sealed, when it was written last. */
uint64_t qp_profile_completed(const qp_head *h, int fd);

/* Is it a profile that was complete before this run began?
 * @param own  const qp_head * of the new one */
bool qp_earlier_profile(const void *own, int fd);

/* Is it a trace that began before this run did, and that no process writes to? Who writes one
 * holds its flock(). @param own  const qp_head * of the new one's run */
bool qp_earlier_trace(const void *own, int fd);

#endif
