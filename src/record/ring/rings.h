/* rings.h: the rings of a run, which its OS threads share. For the files of this room. */
#ifndef QP_RECORD_RING_RINGS_H
#define QP_RECORD_RING_RINGS_H

#include "record/ring/ring.h"

/* Must a record be written to a file before its slot is used again? */
bool qp_rings_are_bounded(void);

/* A ring that no OS thread uses, and that has room; else a new one. @return NULL: no memory */
qp_ring *qp_rings_take(void);

/* An OS thread is about to continue in another ring: what it recorded is final. */
void qp_rings_note_change(void);

/* An OS thread has waited for room. */
void qp_rings_note_wait(uint64_t ns);

#endif
