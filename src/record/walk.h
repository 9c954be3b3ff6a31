/* walk.h: everything that the threads of a run have counted, while they go on. */
#ifndef QP_RECORD_WALK_H
#define QP_RECORD_WALK_H

#include "record/thread.h"

/* @return false: stop */
typedef bool qp_bank_visitor(void *to, qp_bank *b);
typedef bool qp_node_visitor(void *to, qp_cell cell, const qp_node *n);

/* The banks of a thread. @return false: a visitor stopped */
bool qp_walk_banks(const qp_thread_record *r, qp_bank_visitor *visit, void *to);
/* Its call paths, the root included. */
bool qp_walk_nodes(const qp_thread_record *r, qp_node_visitor *visit, void *to);

#endif
