/* outside_parts.h: what the two halves of sampling from outside share. */
#ifndef QP_MODEL_OUTSIDE_PARTS_H
#define QP_MODEL_OUTSIDE_PARTS_H

#include "base/buf.h"
#include "base/dict.h"
#include "code/pc_command.h"
#include "model/outside.h"

/* A call path, found on some stack. */
typedef struct {
    uint64_t method; /* cell of its record or, of the stack alone, the host's id */
    uint64_t n;      /* interrupts */
    uint32_t parent; /* index; a root has itself */
    uint32_t next;   /* of the same thread, 0: none */
    uint32_t same;   /* the node before it with the same hash, + 1; 0: none */
    uint32_t number; /* while it is written */
} qp_outside_node;

typedef struct {
    qp_cell cell;
    uint32_t root, last; /* nodes */
} qp_outside_thread;

/* A system thread: its CPU time at the pass before, and what of it no interrupt was made of. */
typedef struct {
    uint64_t seen_ns, due_ns;
} qp_outside_carrier;

struct qp_outside {
    uint64_t pid;
    char path[512];
    int fd;
    bool is_stack_only, may_hide_stack, has_frames;
    qp_head head; /* as of the last pass */
    char *text;   /* of the command, which points into it */
    qp_pc_command command;
    qp_buf rows;     /* qp_stretch of cells: where thread records are */
    uint64_t n_seen; /* cells in which they were looked for */
    qp_buf threads, nodes, carriers;
    qp_dict thread_of;  /* cell -> index + 1 */
    qp_dict node_of;    /* cell, or hash of caller and method -> index + 1 */
    qp_dict carrier_of; /* system id -> index + 1 */
    qp_buf stack[2];    /* uint64_t: methods of the two copies, outermost first */
    qp_buf scratch;     /* bytes of the file */
    uint64_t n_passes, n_interrupts, n_torn;
    uint64_t unmade_ns; /* CPU time of which there will be no interrupt: passes came too late */
    uint64_t first_at, last_at,
        running_at;      /* monotonic ns of passes, of the last look at /proc */
    uint64_t started_at; /* ns since 1970 */
};

#define QP_OUTSIDE_AT(buf, type, i) ((type *)(buf).items + (i))

#endif
