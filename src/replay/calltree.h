/* calltree.h: calls of a trace added up by call path: the profile that the same run would have. */
#ifndef QP_REPLAY_CALLTREE_H
#define QP_REPLAY_CALLTREE_H

#include "replay/spans.h"

/* A call path. Times in ticks. */
typedef struct {
    uint32_t parent, method;                /* parent 0: none */
    uint32_t first_child, last_child, next; /* nodes; next: sibling */
    uint64_t calls, self, total;
    uint64_t min, max; /* own time of complete calls; min > max: none */
} qp_calltree_node;

typedef struct {
    qp_buf nodes; /* qp_calltree_node; 0 is unused */
    qp_dict index;
    bool failed; /* no memory */
} qp_calltree;

void qp_calltree_init(qp_calltree *t);
void qp_calltree_fini(qp_calltree *t);
void qp_calltree_clear(qp_calltree *t);

/* A node of its own. @return 0: no memory */
uint32_t qp_calltree_root(qp_calltree *t, uint32_t method);
/* The node below another one; made if need be. */
uint32_t qp_calltree_child(qp_calltree *t, uint32_t parent, uint32_t method);

static inline qp_calltree_node *qp_calltree_at(const qp_calltree *t, uint32_t node)
{
    return (qp_calltree_node *)t->nodes.items + node;
}

/* A call has ended there. */
void qp_calltree_add(qp_calltree *t, uint32_t node, const qp_span_thread *th, const qp_span *s,
                     bool is_complete);

#endif
