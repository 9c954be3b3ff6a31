/* trace.h: what the bytes of a raw trace mean: rings in a profile file, packets in a .qtrace file.
 * The bytes themselves: docs/formats/qtrace.md.
 *
 * A ring belongs to a carrier, a system thread; records say which thread goes on. A record of an
 * entry names the call path, which is a cell of the profile file, so that the whole stack is known
 * from any record on. A packet says what it needs of the dictionary, and packets of the dictionary
 * come before: whatever else of the file is lost, it can be decoded. */
#ifndef QP_FORMAT_TRACE_H
#define QP_FORMAT_TRACE_H

#include "format/layout.h"

/* What happened. The highest 4 bits of qp_trace_record.word. */
typedef enum {
    QP_TRACE_NONE,
    QP_TRACE_ENTRY, /* a: call path (node; 0: none is kept), b: method */
    QP_TRACE_EXIT,  /* a: frames that ended, innermost first; b: path that resumes */
    QP_TRACE_SWITCH, /* this carrier goes on with another thread. a: thread record, b: its path */
    QP_TRACE_PARK,   /* it drives no thread. a: the thread that is parked */
    QP_TRACE_GATE,   /* a: 1: what follows on this thread is recorded, 0: it is not */
    QP_TRACE_MARK,   /* a: name (qp_ref), b: qp_mark_kind */
    QP_TRACE_COUNTER, /* a: name (qp_ref); its value is in the DATA record behind it */
    QP_TRACE_CALL,    /* about to be called. a: method, b: line */
    QP_TRACE_RETURN,  /* has returned. a: method, b: line */
    QP_TRACE_LINE,    /* a: current line of the top frame */
    QP_TRACE_VALUE, /* a parameter or a result; texts follow. a: number (0: result), b: bytes of
                       * type | value | comment, each ended by NUL, in the TEXT records behind it */
    QP_TRACE_SAMPLE, /* a: path on top, b: interrupts */
    QP_TRACE_LOST,   /* a, b: records that found no room before this one, low and high word */
    QP_TRACE_TEXT,   /* 15 bytes: bits 0..55 of word, then a and b; NUL padded */
    QP_TRACE_DATA    /* a, b: low and high word of a value of 64 bits */
} qp_trace_op;

enum { QP_TRACE_OP_SHIFT = 60, QP_TRACE_TEXT_BYTES = 15 };
#define QP_TRACE_TICKS ((1ull << QP_TRACE_OP_SHIFT) - 1)

typedef struct {
    uint64_t word; /* op, and raw ticks of the run's elapsed clock; they never fall in a ring */
    uint32_t a, b;
} qp_trace_record;

/* A ring: first cell of an extent of the kind RING behind its header; the records follow. Record
 * number i (from 0, ever) lies in slot i % n_slots. The owner fills a slot, then publishes head.
 * Readable: tail or head - n_slots + 1, whichever is later, up to head. */
typedef struct {
    uint64_t head;      /* records written; the owner's */
    uint64_t tail;      /* stream mode: records taken by the writer, whose field it is */
    uint64_t n_lost;    /* records that found no room; the owner's */
    uint64_t system_id; /* gettid of the carrier */
    uint32_t n_slots;   /* a power of two */
    uint32_t carrier;   /* ordinal, from 1 */
    qp_cell thread;     /* driven now, or last; the owner's */
    uint32_t is_ended;
    uint64_t reserved[2];
} qp_ring;

typedef enum { QP_TRACE_OVERWRITE = 1, QP_TRACE_STREAM = 2 } qp_trace_mode;

/* ---- a .qtrace file ------------------------------------------------------------------------- */

#define QP_TRACE_MAGIC  "QTRACE\r\n"
#define QP_PACKET_MAGIC 0x544b5051u /* "QPKT" */

typedef struct {
    char magic[8];
    uint32_t endian; /* QP_ENDIAN */
    uint16_t major, minor;
    uint64_t nonce; /* of the run, as in its profile */
    uint64_t pid;
    uint64_t started_at; /* wall clock, ns since 1970 */
    uint64_t begun_raw;
    uint32_t clock_source, reserved;
    uint64_t reserved2;
} qp_trace_file;

typedef enum {
    QP_PACKET_EVENTS,
    QP_PACKET_NAMES, /* of the dictionary */
    QP_PACKET_CLOCK, /* two points of the calibration, as in qp_head */
    QP_PACKET_END    /* the trace was closed: nothing follows */
} qp_packet_kind;

/* 64 bytes, then n_bytes of payload, padded to 8. Reading goes on at the next magic where one is
 * damaged: sum says so. */
typedef struct {
    uint32_t magic;
    uint32_t kind;
    uint32_t n_bytes; /* of the payload */
    uint32_t sum;     /* FNV-1a, 32 bits, of the header with sum 0, then the payload */
    uint64_t nonce;
    uint64_t sequence;    /* from 1, all kinds */
    uint32_t carrier;     /* EVENTS */
    uint32_t n_records;   /* EVENTS: records; NAMES: entries; CLOCK: 0 */
    uint64_t first_ticks; /* EVENTS: what the first delta counts from */
    uint32_t names;       /* NAMES packets that must have been read */
    qp_cell thread;       /* EVENTS: driven when it begins; 0: none */
    qp_cell path;         /* EVENTS: on top then */
    uint32_t reserved;
} qp_packet;

/* Payload of EVENTS: for each record one byte, op in bits 0..3 and QP_PACKED_* above; then varints
 * (LEB128, signed numbers zigzag): ticks since the record before; then a and b, but for
 *   ENTRY   path less the path of the last ENTRY in the packet, signed; PLAIN: the method is the
 *           one that the dictionary gives the path; else b follows
 *   EXIT    PLAIN: one frame, and the parent of its path resumes; else a, b
 *   TEXT    15 raw bytes; DATA: 8 raw bytes, low first; neither has ticks */
enum {
    QP_PACKED_NO_TICKS = 1u << 4, /* no time has passed: the varint is left out */
    QP_PACKED_PLAIN = 1u << 5     /* ENTRY, EXIT: nothing unusual follows */
};

/* Payload of NAMES: entries, each one byte kind, then varints and texts (varint length, bytes). */
typedef enum {
    QP_NAMES_METHOD, /* cell, id, flags, first line, name, class, file, module */
    QP_NAMES_PATH,   /* cell, parent (0: outermost), method cell */
    QP_NAMES_THREAD, /* cell, ordinal, host id, virtual id, system id, name */
    QP_NAMES_TEXT    /* ref, text */
} qp_names_kind;

_Static_assert(sizeof(qp_trace_record) == 16 && sizeof(qp_ring) == QP_CELL, "traces");
_Static_assert(sizeof(qp_trace_file) == QP_CELL && sizeof(qp_packet) == QP_CELL, "packets");

#endif
