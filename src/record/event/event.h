/* event.h: what an event may need that the inline path leaves out; the life of threads and who
 * drives them.
 *
 * Calls with a thread are made by the OS thread that drives it, and leave errno as it was. */
#ifndef QP_RECORD_EVENT_EVENT_H
#define QP_RECORD_EVENT_EVENT_H

#include "record/run/run.h"

/* ---- an event: event.c, exit.c ----------------------------------------------------------- */

/* Begin an event: not inside another one, and with changes of other threads applied.
 * @return the top frame, and the thread is busy until qp_event_end(); NULL: dropped, counted */
qprof_frame *qp_event_begin(qprof_thread *th);
/* The same, without crediting the PC samples that wait. */
qprof_frame *qp_event_look(qprof_thread *th);
static inline void qp_event_end(qprof_thread *th, const qprof_frame *top)
{
    bool has_token = qp_own_of(th)->has_token;
    QPROF_PUBLISH(th->pulse->top,
                  has_token ? top->node | QPROF_TOP_TOKEN : QPROF_OFFSET(th, top));
}

/* Is the entry of a frame with these flags in the trace? */
static inline bool qp_flags_are_traced(uint32_t flags)
{
    return !(flags & (QP_FRAME_UNTRACED | QPROF_FRAME_SKIP | QPROF_FRAME_EXCLUDED));
}

/* What an entry is that has just ended, or an exit that is about to begin. */
qp_cost_kind qp_event_cost_kind(const qprof_thread *th);

/* An entry and an exit by stack ids, in any case. */
void qp_event_enter_id(qprof_thread *th, uintptr_t method, uintptr_t id);
void qp_event_exit_id(qprof_thread *th, uintptr_t id);
/* The same where requests may be kept whole: in the usual case, with a step. */
void qp_event_step_in(qprof_thread *th, uintptr_t method, uintptr_t id);
void qp_event_step_out(qprof_thread *th, uintptr_t id);
/* An entry of a host that keeps tokens, from the frame that is on top. @return its token */
qprof_token qp_event_enter_token(qprof_thread *th, uintptr_t method);
/* The same from the frame of a token, and the end of a token's frame, in any case. */
qprof_token qp_event_enter_above(qprof_thread *th, qprof_token caller, uintptr_t method);
void qp_event_leave_token(qprof_thread *th, qprof_token token);

/* What the inline path calls out of line: these, or with -check-host what looks at the event first. */
typedef struct {
    void (*enter_id)(qprof_thread *th, uintptr_t method, uintptr_t id);
    void (*exit_id)(qprof_thread *th, uintptr_t id);
    qprof_token (*enter_above)(qprof_thread *th, qprof_token caller, uintptr_t method);
    void (*leave_token)(qprof_thread *th, qprof_token token);
} qp_event_calls;
extern qp_event_calls qp_on_event;

/* ---- tokens ------------------------------------------------------------------------------- */

/* A token is the offset of the call path, and QPROF_TOP_TOKEN. Of calls that share a path or have
 * none: */
enum {
    QP_TOKEN_OF_FRAME = 3, /* the frame's offset, and this */
    QP_TOKEN_OF_DEEP = 5 /* eight times the number of frames that are only counted, and this */
};

static inline qprof_token qp_token_of_deep(const qprof_thread *th)
{
    return (uint64_t)th->pulse->n_deep << 3 | QP_TOKEN_OF_DEEP;
}

/* Where a token is on top, and no frame is kept: the calls from the one on top end, up to one of a
 * caller, at `now`. @return their number */
uint64_t qp_event_end_calls(qprof_thread *th, qprof_frame *top, qp_cell resumes, uint64_t now);

/* ---- ends of frames: exit.c -------------------------------------------------------------- */

/* End the frames that are only counted and `stored` others. NULL in *top: the event is dropped. */
void qp_event_pop(qprof_thread *th, qprof_frame **top, uint64_t stored);

/* The number of stored frames above the innermost one with this id; -1: none has it. */
int64_t qp_event_frames_above(qprof_thread *th, qprof_frame *top, uint64_t id, uint64_t max);

/* An exit is complete: end the event, and raise what it has caused. @param n_unwound  before it */
void qp_event_left(qprof_thread *th, qprof_frame *top, uint64_t n_unwound);

/* Between the two the thread is in no event: the host may be called, and locks may be taken.
 * The event that asked for it has changed nothing yet, or is complete.
 * @param here  frame address of the function that calls the host, to detect that it left by a
 * jump
 * @return false: too deep in callbacks already, nothing was ended */
typedef struct {
    const void *outer;
    uint32_t nesting;
    bool was_mounted, was_resuming;
} qp_host_call;
bool qp_event_leave(qprof_thread *th, qprof_frame *top, qp_host_call *o, const void *here);
/* @return the top frame, in an event again; NULL: the thread is no longer recorded */
qprof_frame *qp_event_return(qprof_thread *th, const qp_host_call *o);

/* End all frames at `now`, in the thread's time. Inside an event; qp_thread_unsettled(th, 0) is
 * left to the caller, who counts them. @return their number, those that are only counted
 * included */
uint64_t qp_event_unroll(qprof_thread *th, qprof_frame **top, uint64_t now);

/* ---- metrics of the host: memory.c -------------------------------------------------------- */

/* Add to a metric. @param open  a path of the thread; else that on top @param metric  its number, from 1 */
void qp_metric_add(qprof_thread *th, qp_cell open, int metric, uint64_t n);

/* ---- locks: lock.c ------------------------------------------------------------------------- */

/* A path has waited. @param waiter  a path of the thread; else that on top @param holder  path; 0: unknown
 * @param ticks  of the run's elapsed clock */
void qp_lock_waited(qprof_thread *th, const char *lock, qp_cell waiter, qp_cell holder,
                    uint64_t ticks);

/* ---- requests: request.c, request_open.c --------------------------------------------------- */

/* Begin a request of an endpoint. @param trace, span  16 and 8 bytes; NULL: none */
void qp_request_begin(qprof_thread *th, const char *name, const unsigned char *trace,
                      const unsigned char *span);
/* End the innermost one that is open, and the frames above it. */
void qp_request_end(qprof_thread *th, bool has_failed);
/* One that was open on another row continues. */
void qp_request_resume(qprof_thread *th, qp_cell endpoint);

bool qp_method_is_endpoint(qp_cell method);
/* The record of a frame's method, in any case; 0: none. */
qp_cell qp_request_method(const qprof_thread *th, const qprof_frame *f);

/* A host that resumes in a frame resumes in the requests that were begun there. Of the n frames on top: how
 * many, directly above the rest, are requests? */
uint64_t qp_request_run(const qprof_thread *th, qprof_frame *top, uint64_t n);
/* The same where a token is on top: the path of the highest of those requests; without one, `path`.
 * @param top  the path on top @param path  open */
qp_cell qp_request_above(const qprof_thread *th, qp_cell top, qp_cell path);
/* The frame on top without the requests that are. Where a token is on top it is the root frame, with the path
 * of the call below them. */
qprof_frame *qp_request_below(const qprof_thread *th, qprof_frame *top);
/* How many requests are open: calls that are not the host's. */
uint64_t qp_request_depth(const qprof_thread *th, qprof_frame *top);

/* ---- triggers and actions of a call: actions.c ------------------------------------------- */

/* A hooked method is entered; it has no frame yet. Run its triggers, then its On-Enter actions.
 * @param top  may move; NULL afterwards: the event is dropped. @return QPROF_FRAME_RESTORE* */
uint32_t qp_actions_entry(qprof_thread *th, qprof_frame **top, qp_cell method);

/* The frame could not be made, or has ended: run the On-Exit actions of its method (0: none),
 * then restore the thread's status. */
void qp_actions_exit(qprof_thread *th, qprof_frame **top, qp_cell method, uint32_t frame_flags);

/* ---- life of threads: life.c ------------------------------------------------------------- */

/* Bind the calling OS thread to a host id. */
qprof_thread *qp_thread_create(uintptr_t host_id);

/* A virtual thread, made if necessary; 0 means the OS thread itself. @return NULL: no room */
qprof_thread *qp_thread_vt(uintptr_t vt, uintptr_t host_id);
/* The same, if it is made created by the code of a path. @param creator  its node; 0: unknown */
qprof_thread *qp_thread_vt_of(uintptr_t vt, uintptr_t host_id, qp_cell creator);

/* One that exists; a row is found for one that is parked. @return NULL: unknown, or no room */
qprof_thread *qp_thread_known_vt(uintptr_t vt);

/* The path on top of a thread, its root's if no call is open; 0: it has none. The caller drives it, or
 * nothing does. _here: of the virtual thread that is mounted on the calling OS thread. */
qp_cell qp_thread_path(const qprof_thread *th);
qp_cell qp_thread_path_here(void);

/* The OS thread's own record, for what belongs to an OS thread in either mode. NULL: no room */
qprof_thread *qp_thread_own(void);

/* End a thread: close its frames, keep its data. Its row may serve a later thread. */
void qp_thread_destroy(qprof_thread *th);

/* Park a virtual thread that waits: see park.c. @return its row; NULL: none was found */
qprof_thread *qp_park_any(qp_cell creator);
/* Open the calls of a parked thread again, on its new row, and forget the cell. */
void qp_park_restore(qprof_thread *th, qp_cell parked);

/* A thread for a stack of a host of embed.h, with an id that is in no index. Where -thread-rows are in
 * use, stacks of a VM share one. @param shared  see qprof_thread_new(). @param creator  as above
 * @return NULL: no room */
qprof_thread *qp_thread_new_stack(qprof_thread **shared, uintptr_t id, qp_cell creator);
/* The stack ends, and with the last one its thread. */
void qp_thread_drop_user(qprof_thread *th);

/* The calling OS thread ends: see qp_threads_reserve(). */
void qp_thread_leave(void *unused);

/* ---- mistakes of the host: host_check.c ---------------------------------------------------- */

/* Count a mistake; the first place is kept.
 * @param depth  frames open there; @param wanted, found  see qp_finding */
void qp_host_note(qp_host_mistake what, const qprof_thread *th, qp_cell method, qp_cell other,
                  uint64_t depth);

/* From now on events are looked at first, or no longer. */
void qp_host_check(bool is_on);

/* A token names the frame that ends (and_it), or in which execution is. @param is_exit  it is an
 * event of its own, and not part of an entry */
extern void (*qp_on_unwind)(qprof_thread *th, qprof_token token, bool and_it, bool is_exit);

/* The open calls of a thread, outside of events. */
uint64_t qp_host_depth(const qprof_thread *th, const qprof_frame *top);

/* In a forked child that records nothing: let its events show in the parent's file. */
void qp_host_forked(qprof_thread *th);
extern int qp_host_child; /* the descriptor for that; 0: not in such a child */
void qp_host_in_child(void);

/* ---- who drives a thread: mount.c -------------------------------------------------------- */

/* Continue with th on the calling OS thread; the thread before it is suspended.
 * @return the thread before; NULL: another OS thread is driving th at this moment */
qprof_thread *qp_thread_mount(qprof_thread *th);

/* The same in the usual case: between two threads without hooks, driven last by this OS thread.
 * Leaves errno alone. @return NULL: nothing was done */
qprof_thread *qp_thread_switch(qprof_thread *th);
/* @param entered  see qprof_token_mount() */
qprof_thread *qp_thread_switch_by(qprof_thread *th, qprof_token entered);

/* Drive the thread from here. @return false: another OS thread is in an event of it, counted */
bool qp_thread_take(qprof_thread *th);

/* Release the thread: its clock is paused until an OS thread takes it; if it ends, none
 * does. */
void qp_thread_release(qprof_thread *th, bool ends);

/* Let no OS thread take a thread that none drives, which those that want it wait for.
 * @return false: one drives it. */
bool qp_thread_freeze(qprof_thread *th);
void qp_thread_thaw(qprof_thread *th);
/* Wait until it is not frozen, nor passing to another OS thread. */
void qp_thread_await(const qprof_thread *th);

/* End a thread in the usual case: no OS thread drives it, no call of it is open, and nothing looks at its
 * end. @return false: nothing was done */
bool qp_thread_retire(qprof_thread *th);

/* Set the virtual thread that this OS thread is about from now on. */
void qp_thread_look_at(qprof_thread *th, uintptr_t vt);

#endif
