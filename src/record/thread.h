/* thread.h: the threads of a run: their handles, their records, who drives them.
 *
 * A thread is what the host schedules, system or virtual; a carrier is a system thread. A handle
 * is private memory that fork wipes, one line of the processor's cache; handle i and its record
 * in the file belong together for the whole run. */
#ifndef QP_RECORD_THREAD_H
#define QP_RECORD_THREAD_H

#include "base/atomic.h"
#include "format/trace.h"
#include "record/session.h"

/* Where a carrier leaves records of a trace. */
typedef struct {
    qprof_thread *th; /* whose they are; NULL: the next record says it */
    qp_ring *ring;    /* NULL: none yet */
    uint64_t mask;    /* of a record's number: its slot */
    uint64_t limit;   /* number of the record for which room must be looked for */
    uint64_t n_lost;  /* records that found none, since the last LOST record */
    uint64_t held_at; /* ticks of all records until a thread has been ended; 0: their own */
} qp_trace_lane;

/* What other system threads see of a carrier. */
typedef enum { QP_CARRIER_COMING, QP_CARRIER_ALIVE, QP_CARRIER_ENDED } qp_carrier_state;
typedef struct {
    qprof_thread *driven;  /* which thread a _vt call of it is about */
    qprof_thread *current; /* whom its interrupts are for; NULL: nobody, or it has ended */
    uint64_t system_id;    /* gettid */
    uint64_t cpu_seen;    /* CPU time at the pass before, ns; the sampler's, as the next two: */
    uint64_t cpu_due;     /* ... that no interrupt was made of yet */
    uint64_t cpu_waiting; /* ... that -time=sampled has not charged yet */
    uint32_t n_critical;  /* nesting of qprof_pc_enter_critical() */
    uint32_t has_timer;   /* of -pc-signal */
    uint32_t values;      /* its own: what waits for the next call, trace_values.c */
    uint32_t state;       /* qp_carrier_state */
    void *timer;
    qp_trace_lane lane; /* its own */
} qp_carrier_slot;

/* Passes of a sampler over a thread that wait to be credited, the elapsed ticks between them, and
 * those of them that were interrupts of the PC command. */
typedef struct {
    uint64_t n_passes, ticks, n_interrupts;
} qp_ticks;

/* What this system thread knows: thread-local. */
typedef struct {
    /* never NULL: qp_closed_thread if there is none, which sends an event to the door */
    qprof_thread *plain;        /* system-thread mode: whom events are recorded for */
    qprof_thread *th;           /* virtual-thread mode: the same */
    qprof_thread *own;          /* the carrier's own record, in either mode */
    uintptr_t vt;               /* id of th */
    uint32_t epoch;             /* of the run that th belongs to */
    uint32_t ordinal;           /* of the carrier in that run, from 1 */
    qp_carrier_slot *slot;      /* what others see of it; valid once epoch is the run's */
    qp_trace_lane *lane;        /* in the slot; before there is one: of nobody */
    uint64_t system_id;         /* gettid */
    uint32_t callbacks;         /* nesting of the callback; see qp_thread_callbacks() */
    const void *callback_frame; /* of the C stack, where the innermost one was called */
    bool in_control;            /* holds the control lock */
    /* Of event triggers (watch.c): */
    bool is_worker;        /* performs deferred actions: its events are not looked at */
    uint32_t n_interrupts; /* nesting of qprof_trg_isr_enter() ... */
    uint32_t n_system;     /* ... and of qprof_trg_system_enter() */
    const uint64_t *look;  /* of the C stack, where an event is looked at; NULL: none is */
    uint64_t n_looks;      /* so far: what stands there, in each word */
    uint32_t look_run;     /* epoch of the run whose event that is, and the next */
    struct qprof_Trg *hit; /* whose action is performed */
    uint32_t waiting;      /* events that are raised later: bit is number */
    uintptr_t sampled;     /* object of QP_EVENT_SAMPLE among them */
} qp_carrier;

extern _Thread_local qp_carrier qp_here __attribute__((tls_model("initial-exec")));

/* A handle whose gate never opens, and a lane that no thread has. */
extern qprof_thread qp_closed_thread;
extern qp_trace_lane qp_closed_lane;

/* What a system thread knows before its first event. */
#define QP_NEW_CARRIER                                                                         \
    {                                                                                          \
        .plain = &qp_closed_thread, .th = &qp_closed_thread, .own = &qp_closed_thread,         \
        .lane = &qp_closed_lane                                                                \
    }

/* Whom events of this system thread are recorded for, in either mode. */
static inline qprof_thread *qp_thread_current(void)
{
    return qp_run.is_virtual ? qp_here.th : qp_here.plain;
}

static inline qp_thread_record *qp_record_of(const qprof_thread *th)
{
    return (qp_thread_record *)(void *)th->pulse;
}

static inline qp_cell qp_record_cell(const qprof_thread *th)
{
    return QPROF_INDEX(th, th->pulse);
}

static inline qprof_node *qp_node_at(const qprof_thread *th, qp_cell cell)
{
    return QPROF_CELL(th, qprof_node, cell);
}

/* Before n frames end by one event, or a clear takes n entries out; 0: done. A file that is left in
 * between says that so many may be counted twice, or not at all. */
static inline void qp_thread_unsettled(qprof_thread *th, uint64_t n)
{
    qp_publish(&qp_record_of(th)->n_unsettled, n);
    qp_signal_fence();
}

static inline bool qp_is_open(const qprof_thread *th)
{
    return QPROF_LOAD(th->gate) & QPROF_GATE_OPEN;
}

/* The top frame. @return NULL: inside an event, or no stack yet */
static inline qprof_frame *qp_top_of(const qprof_thread *th)
{
    uint32_t top = QPROF_LOAD(th->pulse->top);
    return top && !(top & QPROF_TOP_BUSY) ? QPROF_CELL(th, qprof_frame, top) : NULL;
}

static inline bool qp_is_busy(const qprof_thread *th)
{
    return QPROF_LOAD(th->pulse->top) & QPROF_TOP_BUSY;
}

/* An event begins. @return false: one is in progress */
static inline bool qp_set_busy(qprof_thread *th)
{
    uint32_t top = QPROF_LOAD(th->pulse->top);
    if (top & QPROF_TOP_BUSY)
        return false;
    QPROF_STORE(th->pulse->top, top | QPROF_TOP_BUSY);
    QPROF_FENCE();
    return true;
}

/* The frame that was on top when the event in progress began; NULL: no stack yet. */
qprof_frame *qp_busy_top(qprof_thread *th);

static inline void qp_clear_busy(qprof_thread *th)
{
    QPROF_FENCE();
    QPROF_STORE(th->pulse->top, QPROF_LOAD(th->pulse->top) & ~QPROF_TOP_BUSY);
}

/* Forget the handles of the last run. */
void qp_threads_begin(void);

/* Memory for handles, once a process. @return false: none */
bool qp_threads_reserve(void);

/* Close every gate: events in progress end, no further one begins. */
void qp_threads_close(void);

/* Walk all handles of the run, ended threads included. @param i from 0. @return NULL: no more */
qprof_thread *qp_threads_at(uint32_t i);

/* What others see of the calling system thread. @return NULL: not running */
qp_carrier_slot *qp_carrier_here(void);

/* Carriers of the run, ended ones included. @param i  from 1. @return NULL: no more */
qp_carrier_slot *qp_carrier_at(uint32_t i);

qp_ticks *qp_thread_ticks(const qprof_thread *th);

/* Let all threads record by the hooks of the run, which have changed before the first entry. */
void qp_threads_reopen(void);

/* Set hooks of all threads of the run. */
void qp_threads_set_hooks(uint32_t bits);

/* Bind the calling system thread to a host id. */
qprof_thread *qp_thread_create(uintptr_t host_id);

/* A virtual thread, made if need be; 0 means the carrier itself. @return NULL: no room */
qprof_thread *qp_thread_vt(uintptr_t vt, uintptr_t host_id);
/* @return NULL: unknown */
qprof_thread *qp_thread_find_vt(uintptr_t vt);
qprof_thread *qp_thread_find_host_id(uintptr_t host_id);

/* The carrier's own record, for what belongs to a system thread in either mode. NULL: no room */
qprof_thread *qp_thread_own(void);

/* The calling carrier goes on with th; the thread before it is parked.
 * @return the thread before; NULL: th is being driven by another carrier at this moment */
qprof_thread *qp_thread_mount(qprof_thread *th);

/* Nobody takes th from this carrier from now on, until qp_thread_drop(): the mark is made before
 * the carrier is checked, and a taker looks at them in the other order.
 * @return false: it has been taken */
static inline bool qp_thread_hold(qprof_thread *th)
{
    QPROF_STORE(qp_here.slot->driven, th);
    QPROF_FENCE();
    return QP_LIKELY(QPROF_LOAD(th->carrier) == qp_here.ordinal);
}

static inline void qp_thread_drop(void)
{
    __atomic_store_n(&qp_here.slot->driven, (qprof_thread *)0, __ATOMIC_RELEASE);
}

/* End a thread: close its frames, keep its data. Its row may serve a later thread. */
void qp_thread_destroy(qprof_thread *th);

/* How deep the calling thread is inside the callback. A callback that left by a jump is found by
 * the C stack. @param here  frame of the exported function: inside a callback it lies below */
uint32_t qp_thread_callbacks(const void *here);

#endif
