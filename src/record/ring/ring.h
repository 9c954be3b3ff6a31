/* ring.h: what happens, in its order: records in rings, and the markers of the profile.
 *
 * An OS thread has a ring of its own, made at the first record that it leaves and handed on
 * when the OS thread ends. Where a ring is full because the writer lags, the OS thread continues
 * in another one, while there is memory for that; then records are dropped and counted, and a
 * LOST record says where. Nothing here waits but for -trace-full=wait. Every call is made by the OS thread itself; those
 * with a thread are made while it drives that thread. */
#ifndef QP_RECORD_RING_RING_H
#define QP_RECORD_RING_RING_H

#include "record/run/run.h"

typedef enum {
    QP_TRACE_FOR_RINGS =
        1, /* the rings are read in place: the oldest records are overwritten */
    QP_TRACE_FOR_STREAM = 2, /* -trace-output: none is overwritten before it is written */
    QP_TRACE_FOR_XBASE = 4   /* the same, by trace_xbase.c */
} qp_trace_user;

/* The consumers of records; a set of qp_trace_user. */
uint32_t qp_trace_users(void);
/* Is there one, or are there steps? */
bool qp_trace_is_any(void);

/* Forget the rings of the previous run; no consumer is registered. */
void qp_trace_begin(void);
/* Recording has ended: add what was lost to the diagnostics. */
void qp_trace_end(void);

/* Register a consumer, or remove it, from the next event of each thread on. */
void qp_trace_add_user(qp_trace_user user);
void qp_trace_drop_user(qp_trace_user user);

/* ---- events, from within one ------------------------------------------------------------- */

/* Record the entry of the frame that is about to be on top; or note in the frame that it is not
 * in the trace. */
void qp_trace_entry(qprof_thread *th, qprof_frame *f);

/* Record that frames ended by one exit.
 * @param n  number of them that are traced; 0: no record. @param resumes  the top frame now */
void qp_trace_exit(qprof_thread *th, uint32_t n, bool is_unwound, const qprof_frame *resumes);

/* Frames ended, none of them traced: record that the thread is recorded now, if it is. */
void qp_trace_resume(qprof_thread *th, const qprof_frame *resumes);

/* The thread's clock and gate before a change that may stop, start or shift them. */
typedef struct {
    uint64_t raw; /* of its last event */
    uint64_t offset;
    bool is_open; /* entries are recorded */
} qp_trace_position;
qp_trace_position qp_trace_position_of(const qprof_thread *th);
/* Record how the change has opened or closed the thread's gate. */
void qp_trace_gates(qprof_thread *th, const qprof_frame *top, const qp_trace_position *before);
/* The same for a suspended thread that resumed at `raw` (0: now).
 * @param was_open  when it was suspended. @param was_off  recording was off in between */
void qp_trace_woke(qprof_thread *th, const qprof_frame *top, bool was_open, bool was_off,
                   uint64_t raw);

void qp_trace_note(qprof_thread *th, qp_trace_op op, uint32_t a, uint32_t b);
/* Of what the OS thread does now; not within an event. */
void qp_trace_marker(qp_marker_kind kind, qp_ref name);
/* For qp_on_note: annotations and messages are in the trace as well. */
void qp_trace_note_added(qp_note *n);
void qp_trace_counter(qprof_thread *th, qp_ref name, int64_t value);

/* ---- values of parameters and results: trace_values.c ------------------------------------ */

/* Record a parameter (number from 1) or result (0) now; texts are cut. */
void qp_trace_value(qprof_thread *th, int number, const char *type, const char *value,
                    const char *comment);

/* Take all values, not only those that areas retrieve; set by the stream room. */
extern uint32_t qp_trace_wants_values;

/* Take a parameter (number from 1) of the next call, or the result (0) of the top frame or of a call that was
 * announced, from the host. Within an event of th, which its OS thread drives. */
void qp_trace_values_take(qprof_thread *th, int number, const char *type, const char *value,
                          const char *comment);

/* This method is about to be called, or entered (0: an uninteresting one), or a call of it that was
 * announced has returned: record the values that wait for that. */
void qp_trace_values_give(qprof_thread *th, qp_cell method, bool has_returned);

/* ---- which OS thread drives which thread ------------------------------------------------- */

/* The OS thread drives th from now on, or no longer. @param raw  since when; 0: now */
void qp_trace_switch(qprof_thread *th, uint64_t raw);
void qp_trace_suspend(qprof_thread *th, bool has_ended, uint64_t raw);

/* th is about to be ended by an OS thread that drives another thread, for which no time passes
 * in the trace meanwhile. @return the other thread; NULL: there is none */
qprof_thread *qp_trace_ending(const qprof_thread *th);
/* th was ended, if is_ended; the OS thread continues with `before`. */
void qp_trace_ended(qprof_thread *th, qprof_thread *before, bool is_ended);

/* The OS thread ends: another one may have its ring. */
void qp_trace_leave(void);

/* ---- rings: rings.c ---------------------------------------------------------------------- */

/* -trace-full */
enum { QP_TRACE_FULL_DROP, QP_TRACE_FULL_WAIT };

/* The longest wait of a record for room. */
#define QP_TRACE_WAIT_NS 1000000000u

/* Bytes that all rings may have: -trace-memory, at most half of -memory-limit. */
uint64_t qp_trace_memory(void);
/* Bytes of records in the next OS thread's ring. */
uint64_t qp_trace_ring_bytes(void);

/* Make a ring for an OS thread whose own fills up, unless one is ready. By the writer. */
void qp_trace_prepare_ring(void);

/* How often an OS thread has continued in another ring. While this does not change, what is in
 * one ring was recorded after what the same OS thread left in others. */
uint32_t qp_trace_changes(void);

typedef struct {
    uint64_t n, ns;
} qp_trace_waits;
/* The waits of -trace-full=wait. */
qp_trace_waits qp_trace_waits_so_far(void);

/* Ring i of the run, from 0; those of ended OS threads included. @return NULL: no more */
qp_ring *qp_trace_ring_at(uint32_t i);

static inline qp_trace_record *qp_trace_ring_records(const qp_ring *ring)
{
    return (qp_trace_record *)(uintptr_t)(ring + 1);
}

/* ---- markers: marks.c -------------------------------------------------------------------- */

/* Put a marker into the profile, at this moment. Beyond 65,536 markers of a run they are
 * counted as marks_lost. Threads: any. Cost: a look-up.
 * @param th     its thread; NULL: none. @param name  of the trigger, or the host's text
 * @param event  of event triggers: what was raised; object, value: of it */
void qp_marker_add(const qprof_thread *th, qp_marker_kind kind, const char *name,
                   uint32_t event, uint64_t object, uint64_t value);

/* Count a user event that was raised while it was recorded. */
void qp_event_count_add(uint32_t event);

/* Forget the markers and counts so far: the data were cleared. */
void qp_markers_clear(void);

/* ---- steps: steps.c ---------------------------------------------------------------------- */
/* -slowest: while a request is open, each event of its thread leaves a step in memory of the thread's own. At
 * the end of the request the steps are forgotten, unless it is among the slowest of its endpoint: then they are
 * packed into the profile. So what is paid for each event does not depend on how many requests are kept. */

/* @param n_bytes  of all steps. @param n_thread_bytes  of one thread's. @return false: no memory */
bool qp_steps_reserve(uint64_t n_bytes, uint64_t n_thread_bytes);

/* A request has begun, and its path is on top. Without memory it has no steps, and is counted.
 * @param r  of its path */
void qp_steps_begin(qprof_thread *th, qp_cell path, qp_node_requests *r);

/* The innermost request that has steps has ended: it may be kept.
 * @param r  of its path. @param raw  when @param flags  QP_KEPT_* */
void qp_steps_end(qprof_thread *th, qp_node_requests *r, uint64_t raw, uint32_t flags);

/* An event is complete, within it: note the path on top. Requests below which it lies no longer were cut. */
void qp_steps_note(qprof_thread *th, const qprof_frame *top);

/* All calls of the thread end: its requests are cut. */
void qp_steps_close(qprof_thread *th);

/* Forget its steps. */
void qp_steps_drop(qprof_thread *th);

/* Visit the two words of each step from a number on. @return how many of them are lost */
typedef void qp_step_visitor(void *to, const uint64_t *step);
uint32_t qp_steps_walk(const qprof_thread *th, uint32_t from, qp_step_visitor *visit, void *to);

/* ---- which are kept: kept.c -------------------------------------------------------------- */

/* Read -slowest. @return 0 or QPROF_E_OPTION, QPROF_E_MEMORY */
int qp_kept_begin(qp_error *error);

/* How many are kept, of an endpoint and a window; 0: none. */
extern uint32_t qp_kept_most;

static inline bool qp_kept_is_on(void)
{
    return qp_load(&qp_kept_most);
}

/* The innermost request that has steps has ended: keep it if it is among the slowest. The time that this takes is left out.
 * @param flags  QP_KEPT_* */
void qp_kept_offer(qprof_thread *th, qp_node_requests *r, uint64_t raw, uint32_t flags);

/* Data are cleared: forget what was kept. */
void qp_kept_clear(void);

#endif
