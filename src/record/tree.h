/* tree.h: the call tree: one node for each distinct call path of one thread. */
#ifndef QP_RECORD_TREE_H
#define QP_RECORD_TREE_H

#include "record/thread.h"

/* The root node of a thread. @return 0: no room */
qp_cell qp_tree_root(qprof_thread *th);

/* The callee of a method under a node. @return 0: none yet */
qp_cell qp_tree_find(qprof_thread *th, qp_cell parent, uint64_t method_id);

/* The same for a method whose entries are looked at, or not measured: the inline path finds its
 * nodes under no id. @param method  its record */
qp_cell qp_tree_find_hooked(qprof_thread *th, qp_cell parent, qp_cell method);

/* The flags of some methods have changed: let the inline path find the nodes that it may. */
void qp_tree_hook(qprof_thread *th);

/* Make it. Beyond the memory limit: the parent's <overflow>, in which its whole subtree is folded;
 * without room even for that: 0. @param method  its record */
qp_cell qp_tree_add(qprof_thread *th, qp_cell parent, uint64_t method_id, qp_cell method);

/* Is it the cell of a node of this thread's? */
bool qp_tree_holds(const qprof_thread *th, qp_cell cell);

/* Does the node stand for all paths below it? */
bool qp_tree_is_overflow(const qprof_thread *th, qp_cell node);

/* What few nodes need. @return NULL: no room */
qp_node_more *qp_tree_more(qprof_thread *th, qp_cell node);

/* A zeroed cell of the thread's own. @return 0: no room */
qp_cell qp_tree_aux_cell(qprof_thread *th);

#endif
