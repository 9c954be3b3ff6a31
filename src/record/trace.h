/* trace.h: what happens, in its order: records in rings.
 *
 * A carrier has a ring of its own, made at the first record that it leaves and handed on when it
 * ends. Nothing here waits: where a ring has no room records are dropped and counted, and a LOST
 * record says where. Every call is made by the carrier itself; those with a thread are made while
 * it drives that thread. */
#ifndef QP_RECORD_TRACE_H
#define QP_RECORD_TRACE_H

#include "record/thread.h"

typedef enum {
    QP_TRACE_FOR_RINGS = 1,  /* the rings are read where they are: the oldest records go */
    QP_TRACE_FOR_STREAM = 2, /* -trace-output: none goes before it is written */
    QP_TRACE_FOR_XBASE = 4   /* the same, by trace_xbase.c */
} qp_trace_user;

/* Who wants records now; a set of qp_trace_user. */
uint32_t qp_trace_users(void);

/* Forget the rings of the run before; nobody wants records. */
void qp_trace_begin(void);
/* No thread records any more: what was lost is in the diagnostics. */
void qp_trace_end(void);

/* Somebody does, or does no longer, from the next event of each thread on. */
void qp_trace_add_user(qp_trace_user user);
void qp_trace_drop_user(qp_trace_user user);

/* ---- events, from within one ----------------------------------------------------------------- */

/* The frame that is about to be on top was entered: a record, and the frame says that it has one. */
void qp_trace_entry(qprof_thread *th, qprof_frame *f);

/* Frames ended by one exit. @param n  of them that are traced; 0: no record. @param resumes  the top frame now */
void qp_trace_exit(qprof_thread *th, uint32_t n, bool is_unwound, const qprof_frame *resumes);

/* Frames ended of which none is traced: if the thread is recorded now, a record that says so. */
void qp_trace_resume(qprof_thread *th, const qprof_frame *resumes);

/* Where a thread's clock is, before something that may stop it, start it, or show that it stood. */
typedef struct {
    uint64_t raw; /* of its last event */
    uint64_t offset;
    bool is_open; /* entries are recorded */
} qp_trace_stand;
qp_trace_stand qp_trace_stand_of(const qprof_thread *th);
/* It went on at `raw` (0: now), and was parked before. was_open: then. has_stood: its recording was
 * off in between. */
void qp_trace_woke(qprof_thread *th, const qprof_frame *top, bool was_open, bool has_stood,
                   uint64_t raw);
/* What has come of it. */
void qp_trace_gates(qprof_thread *th, const qprof_frame *top, const qp_trace_stand *before);

void qp_trace_note(qprof_thread *th, qp_trace_op op, uint32_t a, uint32_t b);
/* Of what the carrier does now; not within an event. */
void qp_trace_mark(qp_mark_kind kind, qp_ref name);
void qp_trace_counter(qprof_thread *th, qp_ref name, int64_t value);

/* A parameter (number from 1) or result (0); texts are cut. */
void qp_trace_value(qprof_thread *th, int number, const char *type, const char *value,
                    const char *comment);

/* ---- who drives whom -------------------------------------------------------------------------- */

/* The carrier goes on with th, or drives it no longer; raw: since when; 0: now. */
void qp_trace_switch(qprof_thread *th, uint64_t raw);
void qp_trace_park(const qprof_thread *th, bool has_ended, uint64_t raw);

/* th is about to be ended by a carrier that drives another thread: for that one no time passes in
 * the trace until it has. @return the other one; NULL: there is none */
qprof_thread *qp_trace_ending(const qprof_thread *th);
/* It was ended, if is_ended, and the carrier goes on with `before`. */
void qp_trace_ended(qprof_thread *th, qprof_thread *before, bool is_ended);

/* The carrier ends: another one may have its ring. */
void qp_trace_leave(void);

/* ---- rings, for those who read them ------------------------------------------------------------ */

/* Ring i of the run, from 0; those of ended carriers, too. @return NULL: no more */
qp_ring *qp_trace_ring_at(uint32_t i);

static inline qp_trace_record *qp_trace_ring_records(const qp_ring *ring)
{
    return (qp_trace_record *)(uintptr_t)(ring + 1);
}

#endif
