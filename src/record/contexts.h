/* contexts.h: whom hits belong to, for example a test.
 *
 * Nothing is added to any event: a change of the context looks through all counters and hands what
 * they have gained to the context before. So every increment, of whichever thread, lands in
 * exactly one context. All calls are made under the control lock. */
#ifndef QP_RECORD_CONTEXTS_H
#define QP_RECORD_CONTEXTS_H

#include <stdbool.h>

#include "format/layout.h"

typedef struct {
    qp_cell names;       /* index block: ref of a name -> qp_context */
    qp_cell shares;      /* index block: context and method -> bank */
    qp_cell context_end; /* newest extents */
    qp_cell share_end;
    qp_cell unnamed; /* the context of name 0 */
    uint32_t n;      /* contexts so far */
} qp_contexts;

/* What is counted from now on belongs to this name; NULL or "": to none.
 * @return false: no room, the context is the one before */
bool qp_contexts_switch(const char *name);

/* Data were cleared: no context has anything, and what threads without a stack, whose counters
 * only their hosts touch, have counted so far is no longer counted. */
void qp_contexts_clear(void);

#endif
