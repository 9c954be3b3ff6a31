/* trace_file_parts.h: a .qtrace file that is being written, for trace_file.c and trace_names.c. */
#ifndef QP_RECORD_TRACE_FILE_PARTS_H
#define QP_RECORD_TRACE_FILE_PARTS_H

#include "format/trace_pack.h"
#include "record/trace_file.h"

enum {
    QP_SINK_NAMES_BYTES = 128 * 1024, /* what is new, and what was new before */
    QP_SINK_RINGS = 4096
};

/* How the dictionary of the file knows a cell: a path by its caller and method, which are not in the
 * head's cells; an outermost path by ROOT and no method; a method by METHOD, and LATE while its name
 * is not known; a thread by the number of threads that had its record. */
enum { QP_SINK_ROOT = 1, QP_SINK_LATE = 1, QP_SINK_METHOD = 1 };

typedef struct {
    qp_pack_state at;
    uint64_t next;    /* number of the record that comes next */
    uint64_t written; /* of the one that is not in the file yet */
    qp_cell thread;
} qp_sink_ring;

/* A packet that is being filled. */
typedef struct {
    qp_packet head;
    unsigned char bytes[];
} qp_sink_packet;

struct qp_trace_sink {
    int fd; /* -1: none */
    uint64_t device, inode;
    uint64_t n_bytes; /* of whole packets */
    uint64_t n_ready; /* of space that is taken */
    uint64_t sequence;
    uint32_t n_names; /* packets of names so far */
    qp_sink_state state;
    uint32_t ring; /* whose records the packet has */
    uint32_t
        n_before; /* bytes of names that were in the packet before, n_entries_before of them */
    uint32_t n_entries_before;
    uint32_t n_late; /* methods whose names may still come */
    size_t n_memory;
    qp_pack_path *known;  /* by cell */
    unsigned char *texts; /* bit i of byte c: ref 8 * c + i is known */
    qp_sink_ring rings[QP_SINK_RINGS];
    qp_sink_packet *events, *names;
};

/* @param is_end  it may use the last of the space */
bool qp_sink_write(qp_trace_sink *s, qp_sink_packet *p, bool is_end);

/* What the record names is in the dictionary, or will be when names have been written.
 * @return false: the file cannot be written */
bool qp_sink_need(qp_trace_sink *s, const qp_trace_record *r);
bool qp_sink_need_text(qp_trace_sink *s, qp_ref ref);

/* Names that were not known when they were asked for, and threads, which may have been named. */
bool qp_sink_add_late_names(qp_trace_sink *s);

bool qp_sink_write_names(qp_trace_sink *s);

#endif
