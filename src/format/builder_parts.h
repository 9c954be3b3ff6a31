/* builder_parts.h: what the two halves of the builder share. */
#ifndef QP_FORMAT_BUILDER_PARTS_H
#define QP_FORMAT_BUILDER_PARTS_H

#include "base/containers/dict.h"
#include "base/text/buf.h"
#include "format/builder.h"

enum {
    QP_REF_BYTES = 8,                                           /* a qp_ref counts these */
    QP_FIRST_REF = (QP_HEAD_CELLS + 1) * QP_CELL / QP_REF_BYTES /* blobs follow the head */
};

/* What belongs to a thread: numbers in the arrays of all. */
typedef struct {
    qp_thread_record record;
    size_t first_node, n_nodes; /* the root is the first */
    size_t first_more, n_more;
    size_t first_bank, n_bank_cells;
} qp_builder_thread_of;

struct qp_builder {
    qp_head head;
    qp_buf blobs;    /* units of QP_REF_BYTES */
    qp_buf methods;  /* qp_method */
    qp_buf contexts; /* qp_context */
    qp_buf sources;  /* qp_source_record */
    qp_buf threads;  /* qp_builder_thread_of */
    qp_buf nodes;    /* qp_node; parent and more: from 1 in their thread's, method: a number */
    qp_buf more;     /* qp_node_more */
    qp_buf counter_blocks; /* cells; qp_counter_block.method and .context: numbers */
    qp_buf shares;         /* the same */
    qp_dict texts;         /* hash -> ref */
    uint64_t max_cells;
    bool is_too_large;
};

/* Did memory run out? Then what is there is not all. */
static inline bool qp_builder_has_failed(const qp_builder *b)
{
    return b->blobs.failed || b->methods.failed || b->contexts.failed || b->sources.failed ||
           b->threads.failed || b->nodes.failed || b->more.failed || b->counter_blocks.failed ||
           b->shares.failed;
}

#endif
