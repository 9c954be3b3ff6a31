/* stack.h: the shadow stack: chunks of frames.
 *
 * Slot 0 of the first chunk is the root frame. Slot 0 of a later chunk is the frame that stood
 * last in the chunk before, which it supersedes. */
#ifndef QP_RECORD_STACK_H
#define QP_RECORD_STACK_H

#include "record/thread.h"

/* The first chunk and the root node. @return the root frame; NULL: no room */
qprof_frame *qp_stack_first(qprof_thread *th);

/* The frame above top; if need be in a further chunk, where top then is the slot below. @return NULL: no room, or too deep */
qprof_frame *qp_stack_above(qprof_thread *th, qprof_frame *top);

/* The frame below; the thread's chunk changes with it. Not for the root. */
qprof_frame *qp_stack_below(qprof_thread *th, qprof_frame *f);

/* Frames on the stack up to f, the root not counted. */
uint64_t qp_stack_depth(const qprof_thread *th, const qprof_frame *f);

/* A walk downwards that changes nothing. */
typedef struct {
    qprof_frame *f;
    qp_cell chunk;
} qp_stack_cursor;
qp_stack_cursor qp_stack_from(const qprof_thread *th, qprof_frame *top);
/* @return false: it stands on the root frame */
bool qp_stack_down(const qprof_thread *th, qp_stack_cursor *c);
/* One frame up again, below the top only. */
bool qp_stack_up(const qprof_thread *th, qp_stack_cursor *c);

#endif
