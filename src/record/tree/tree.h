/* tree.h: the call tree of a thread and its shadow stack. Only the thread's driver changes
 * them.
 *
 * The tree has one node for each distinct call path. The stack is made of chunks of frames:
 * slot 0 of the first chunk is the root frame; slot 0 of a later chunk is a copy of the last
 * frame of the chunk before, which it supersedes. */
#ifndef QP_RECORD_TREE_TREE_H
#define QP_RECORD_TREE_TREE_H

#include "record/run/run.h"

/* ---- the tree: tree.c -------------------------------------------------------------------- */

/* Make the root node of a thread. @return 0: no room */
qp_cell qp_tree_root(qprof_thread *th);
/* The callee of a method under a node. @param key  id of the method. @return 0: none yet */
qp_cell qp_tree_find(qprof_thread *th, qp_cell parent, uint64_t key);

/* Let the inline path find a callee that was called, unless its method is handled apart. */
void qp_tree_link(qprof_thread *th, qp_cell parent, qp_cell path);

/* Apply changed flags of methods: let the inline path find no node that it must not. */
void qp_tree_hook(qprof_thread *th);

/* Make a callee. Beyond the memory limit: the parent's <overflow>, at which its whole subtree
 * is counted; without room even for that: 0. @param method  its record */
qp_cell qp_tree_add(qprof_thread *th, qp_cell parent, qp_cell method);

/* In a forked child, where only some nodes are left, and their callers: link them anew, without
 * figures. */
void qp_tree_renew(qprof_thread *th);

/* The node at which calls of a caller are counted whose methods have no record. @return 0: no room */
qp_cell qp_tree_overflow(qprof_thread *th, qp_cell parent);

bool qp_tree_holds(const qprof_thread *th, qp_cell cell);
/* Is the node an <overflow>, at which all paths below it are counted? */
bool qp_tree_is_overflow(const qprof_thread *th, qp_cell node);
/* What few nodes need, made on demand. @return NULL: no room */
qp_node_more *qp_tree_more(qprof_thread *th, qp_cell node);

/* The figures of a path besides its time, made on demand. @return NULL: no room */
qp_node_metrics *qp_tree_metrics(qprof_thread *th, qp_cell node);

/* What was added to the host's metrics while a path was on top, made on demand. @return the same */
qp_node_values *qp_tree_values(qprof_thread *th, qp_cell node);

/* The record of a path that ends in an endpoint, made on demand. @return NULL: no room */
qp_node_requests *qp_tree_requests(qprof_thread *th, qp_cell node);

/* Charge the current block of a frame whose self time has been charged to it up to now. */
void qp_tree_settle_block(qprof_thread *th, qprof_frame *f, uint64_t now);
void qp_tree_charge_block(qp_counter_block *times, uint32_t block, uint64_t self,
                          uint64_t total);

/* A zeroed cell of the thread's own. @return 0: no room */
qp_cell qp_tree_aux_cell(qprof_thread *th);

/* ---- the stack: stack.c ------------------------------------------------------------------ */

/* The call path of a frame; 0: with samples alone it is not known yet. */
static inline qp_cell qp_frame_path(const qprof_frame *f)
{
    return (qp_cell)(QPROF_LOAD(f->node) >> 6);
}

static inline qprof_node *qp_frame_node(const qprof_thread *th, const qprof_frame *f)
{
    return QPROF_AT(th, qprof_node, f->node);
}

/* Make the first chunk and the root node. @return the root frame; NULL: no room */
qprof_frame *qp_stack_first(qprof_thread *th);
/* The frame above top, in a further chunk if necessary; then top is the slot below it.
 * @return NULL: no room, or too deep */
qprof_frame *qp_stack_above(qprof_thread *th, qprof_frame *top);

/* The frame below; the thread's chunk changes with it. Not for the root. */
qprof_frame *qp_stack_below(qprof_thread *th, qprof_frame *f);
/* Number of frames up to f, without the root. */
uint64_t qp_stack_depth(const qprof_thread *th, const qprof_frame *f);
/* The frame that was on top when the event in progress began; NULL: no stack yet. With a token on
 * top: the root frame, which has the path of the token meanwhile. */
qprof_frame *qp_busy_top(qprof_thread *th);

/* The root frame, or the first frame of the chunk in use. */
qprof_frame *qp_stack_floor(const qprof_thread *th);

/* In qprof_frame.start: the frame was made when its call was open already. */
#define QP_NO_START UINT64_MAX

/* Does a call, and not the bottom of the stack, own this top frame? */
bool qp_stack_has_call(const qprof_thread *th, const qprof_frame *top);

/* Flag a frame that is on top, or about to be: its end is out of line. */
void qp_stack_flag(qprof_thread *th, qprof_frame *f, uint32_t flags);
/* The same for all frames but the root's. */
void qp_stack_flag_all(qprof_thread *th, qprof_frame *top, uint32_t flags);
/* Frames anywhere on the stack have got flags: link them anew. */
void qp_stack_relink(qprof_thread *th, qprof_frame *top);
/* With a token on top: make a frame for each open call, with its token for a stack id.
 * @return the top frame; NULL: no room for all of them */
qprof_frame *qp_stack_unfold(qprof_thread *th, qprof_frame *top);
/* Give the frames up if tokens suffice: no frame has flags that its end needs. */
bool qp_stack_fold(qprof_thread *th, qprof_frame *top);
/* The record of the method of a frame, and its id; 0: none. A frame without a node has an id only. */
qp_cell qp_frame_method(const qprof_thread *th, const qprof_frame *f);
uint64_t qp_frame_method_id(const qprof_thread *th, const qprof_frame *f);

/* Outside of events: has the thread a stack, and which method is on top of it? 0: none */
bool qp_stack_is_idle(const qprof_thread *th);
uint64_t qp_stack_method(const qprof_thread *th);
/* The record of the method of what pulse.top says, without QPROF_TOP_BUSY. */
qp_cell qp_stack_method_record(const qprof_thread *th, uint64_t top);
bool qp_stack_is_excluded(const qprof_thread *th); /* is this method in no area? */

/* A walk along the stack that changes nothing. */
typedef struct {
    qprof_frame *f;
    qp_cell chunk;
} qp_stack_cursor;
qp_stack_cursor qp_stack_from(const qprof_thread *th, qprof_frame *top);
/* One frame down. @return false: it is at the root frame */
bool qp_stack_down(const qprof_thread *th, qp_stack_cursor *c);
/* One frame up; only below the top. */
void qp_stack_up(const qprof_thread *th, qp_stack_cursor *c);

#endif
