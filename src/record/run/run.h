/* run.h: the run of this process: its file, options and state; its threads; the OS threads.
 *
 * Every other room asks qp_state() before it touches the file: in a forked child the parent's file is
 * gone, and the state, which lies in memory that fork() zeroes, is QP_STATE_OFF until it has its own. */
#ifndef QP_RECORD_RUN_RUN_H
#define QP_RECORD_RUN_RUN_H

#include <stdbool.h>

#include "base/atomic.h"
#include "base/text/error.h"
#include "code/code.h"
#include "format/options.h"
#include "format/space.h"
#include "format/trace.h"
#include "qprof.h"

/* In a file that is compiled for speed: a function that is rarely called is compiled for
 * size. */
#define QP_RARE __attribute__((cold))

/* ---- the run: run.c ---------------------------------------------------------------------- */

typedef enum {
    QP_STATE_OFF, /* never started, or a forked child that does not follow */
    QP_STATE_RUNNING,
    QP_STATE_CLOSED,  /* shut down: the figures of the run can still be read */
    QP_STATE_CHANGING /* starting or shutting down */
} qp_state_kind;

enum {
    QP_PATH_MAX = 4096,
    QP_LOOK_WORDS = 8, /* that a look at an event fills */
    /* hooks of the recorder's own, see QPROF_HOOK_COLD */
    QP_HOOK_SAMPLE =
        QPROF_HOOK_SAMPLE,  /* PC samples are waiting to be credited to the top frame */
    QP_HOOK_SYNC = 1u << 9, /* recording was stopped or restarted, or data were cleared */
    QP_HOOK_STOPPED = QPROF_HOOK_STOPPED,
    QP_HOOK_DEEP = 1u << 11,    /* frames above the depth limit are counted, not stored */
    QP_HOOK_ZERO = 1u << 12,    /* frames with stack id 0 are on the stack */
    QP_HOOK_CLASSES = 1u << 13, /* methods with flags are timed by another clock */
    QP_HOOK_OFF = QPROF_HOOK_OFF,
    QP_HOOK_TRIGGERS = 1u << 15, /* triggers changed since this thread last applied them */
    QP_HOOK_EVENT_TRIGGERS = 1u << 16, /* event triggers look at all entries and exits */
    QP_HOOK_TRACE = 1u << 17,          /* events leave records in a trace */
    QP_HOOK_TURNED = 1u << 18,         /* actions have turned all threads on or off */
    QP_HOOK_UNTRACED = 1u << 19,       /* a trace has begun: what is open is not in it */
    QP_HOOK_CHECK = 1u << 20,          /* events are checked for mistakes of the host */
    /* Each event in a request leaves a step. In place of QPROF_HOOK_EXACT, so that hosts which keep tokens
     * come here without reading the clock themselves. */
    QP_HOOK_STEPS = QPROF_HOOK_STEPS,
    QP_HOOKS_EXACT = QPROF_HOOK_EXACT | QP_HOOK_STEPS, /* each event reads the clock */
    /* those for which a thread with a token on top needs frames */
    QP_HOOKS_FRAMES = QPROF_HOOK_STACK | QP_HOOK_STOPPED | QP_HOOK_DEEP | QP_HOOK_ZERO |
                      QP_HOOK_CLASSES | QP_HOOK_OFF | QP_HOOK_TRIGGERS |
                      QP_HOOK_EVENT_TRIGGERS | QP_HOOK_TRACE | QP_HOOK_UNTRACED
};

/* Coverage contexts: see qp_contexts_switch(). */
typedef struct {
    qp_cell names;       /* index block: ref of a name -> qp_context */
    qp_cell shares;      /* index block: context and method -> counter block */
    qp_cell context_end; /* newest extents */
    qp_cell share_end;
    qp_cell unnamed; /* the context of name 0 */
    uint32_t n;      /* contexts so far */
} qp_contexts;

enum { QP_IDLE_LISTS = 65 }; /* the first one is of rows without a creator */

typedef struct {
    qp_space space;
    qp_texts texts;
    qp_methods methods;
    qp_sources sources;
    qp_options options;
    void (*callback)(qprof_MethodID);
    uint32_t epoch;         /* number of this run, from 1 */
    uint32_t hooks;         /* of a new thread */
    bool is_virtual;        /* threads are virtual threads */
    bool has_saved;         /* a dataset was written before the last one */
    bool is_child;          /* of a process that was recording when it forked */
    uint32_t clear_of_fork; /* number of the clear that a fork was; 0: none */
    bool is_embedded;       /* begun by qprof_open(); the last of these users ends it: */
    bool is_ending;         /* which it is doing */
    uint32_t n_users;
    uint32_t has_counters; /* a host has pointers to counters in the file */
    bool had_counters;     /* the same, in an earlier run of this process */
    bool has_entries;      /* an event was recorded: too late for options */
    bool has_unknown;      /* a sampled path has a method that the host was not asked for */
    qp_contexts contexts;
    bool is_pc_on;   /* a PC command is in force */
    qp_slab threads; /* extents of thread records */
    qp_slab markers, event_counts;
    qp_slab waiting;                   /* extents of qp_waiting */
    uint32_t n_markers;                /* atomic */
    uint32_t n_endpoints;              /* atomic; without <other> */
    qp_cell event_root;                /* index block: user event -> its count */
    uint64_t idle_rows[QP_IDLE_LISTS]; /* rows of ended threads, by creator: tag, handle + 1 */
    qp_cell vt_root;                   /* index block: virtual thread id -> row or qp_parked */
    uint64_t parked_cells;             /* that are free: tag, cell */
    uint32_t next_parked; /* row to be looked at next for a thread that can be parked */
    bool has_handles;     /* a host has handles of virtual threads: none is parked any more */
    char output[QP_PATH_MAX]; /* absolute, conversions not expanded; "": by the prefix */
    char folder[QP_PATH_MAX]; /* the working directory at the start */
    char program[256];
    char program_path[QP_PATH_MAX];
    bool begins_closed; /* the global gate, by a configuration file */
    bool has_config;    /* a configuration file was read */
    bool is_gated; /* triggers or event triggers are in use, or recording was stopped once */
    uint32_t n_datasets; /* number of the next dataset; continues from run to run */
} qp_recorder_data;

extern qp_recorder_data qp_recorder;

/* The coarse clock of adaptive timing: raw ticks, now and then. */
extern uint64_t qp_recorder_tick;

/* The triggering bit of event triggers: while it is 0, no event looks at them. */
extern uint32_t qp_is_triggering;

/* Gates of the exported calls: 1 open, 0 off, else the reason. A forked child finds stale
 * gates: a call that passes one still meets its thread's own gate, or qp_state(). */
enum { QP_GATE_OFF, QP_GATE_OPEN, QP_GATE_CLOSED, QP_GATE_WRONG_MODE };
extern uint32_t qp_gate_plain, qp_gate_vt;

qp_state_kind qp_state(void);
/* Holds the state, in a page that fork() zeroes; NULL: never started. The next word counts the threads
 * that are leaving the run. */
extern uint32_t *qp_state_word;

/* Calls of a path: the entries that resumed none. */
static inline uint64_t qp_node_calls(const qp_node *n)
{
    const qp_cell cell = qp_observe(&n->more);
    const qp_node_more *more = cell ? qp_at(&qp_recorder.space, cell) : NULL;
    uint64_t n_resumes = more ? qp_load(&more->n_resumes) : 0; /* first: it is never ahead */
    return qp_load(&n->n_calls) - n_resumes;
}

static inline qp_head *qp_recorder_head(void)
{
    return qp_recorder.space.head;
}

/* Coverage alone has no paths: every method is called by the root. */
static inline bool qp_recorder_has_paths(void)
{
    const uint32_t without_paths = QP_COLLECT_COVERAGE | QP_COLLECT_ONCE;
    return qp_recorder_head()->collect & ~without_paths;
}

/* Take the lock of control calls: start, stop, clear, save, initialise, shut down.
 * @return false: this thread holds it already (a signal handler, a callback) */
bool qp_control_lock(void);
void qp_control_unlock(void);
/* Around fork(): the child finds the lock free. */
void qp_control_before_fork(void);
void qp_control_after_fork(bool is_child);

/* The two counters of qprof_changes(): wishes or counters of hosts changed, counters were zeroed.
 * _gate: counters which hosts increment in place may have to pause from now on. */
extern uint32_t qp_changes[2];
void qp_recorder_changed(void);
void qp_recorder_cleared(void);
void qp_recorder_gate(void);

/* A block of a trie in the file, for qp_trie. @return 0: no room */
uint32_t qp_recorder_block(void *unused);

/* Attach a message to the file, and write it to -log-file. */
void qp_recorder_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Write a line to standard error, if that neither waits nor can damage a file of the host. */
void qp_recorder_tell(const char *text);
bool qp_recorder_note(qp_note_kind kind, const char *text);
/* Called with a note that becomes visible: it gets its moment. NULL: the clock of the run has not begun. */
extern void (*qp_on_note)(qp_note *n);

/* ---- names of files: output_name.c ------------------------------------------------------- */

/* Determine program, working directory and process. */
void qp_output_begin(void);

/* Expand the name of a dataset; the result is absolute.
 * @param pattern  as -output; NULL: -counts-file, -output, or -filename-prefix with the suffix
 * @return QPROF_E_OPTION: an unknown conversion, or too long; *error explains */
int qp_output_name(const char *pattern, uint32_t dataset, char *out, size_t n_bytes,
                   qp_error *error);

/* Expand the name of a trace: that of the next dataset with the suffix .qtrace. */
int qp_output_trace_name(char *out, size_t n_bytes, qp_error *error);

/* What %b, %s and %x of a command are. */
typedef struct {
    const char *dataset, *summary, *export;
} qp_output_files;

/* Expand a command about a dataset.
 * @return 0; -1: too long; else the letter of an unknown conversion, or a blank at the end */
int qp_output_command(const char *pattern, uint32_t dataset, const qp_output_files *files,
                      char *out, size_t n_bytes);

/* Check that a file can be made there. @return 0, or an errno value with the reason in
 * *error */
int qp_output_check(const char *path, qp_error *error);

/* Make the folder of the i-th place for the live file. @return false: not usable, try the next;
 * after the last place *out is "" */
bool qp_output_live_name(unsigned i, const char *output, char *out, size_t n_bytes);

/* ---- what the run is called: names.c ----------------------------------------------------- */

/* What the host executes, and its labels: copied, and used by the runs that follow.
 * @param arguments  [n]; a NULL ends them. @param host  its name and version */
void qp_names_set(const char *script, int n, const char *const *arguments, const char *host);
void qp_names_set_labels(const char *labels);

/* Determine arguments and labels by the options in force. */
void qp_names_begin(void);
/* When the run began, see qp_head.run_at. @param now  wall clock, ns since 1970 */
uint64_t qp_names_run_at(uint64_t now);
/* Fill in those that names of files can contain. */
void qp_names_facts(qp_name_facts *facts);
/* Store all names in the file. */
void qp_names_store(void);

/* ---- metrics of the host: metrics.c ------------------------------------------------------ */

/* The number of the metric of this name. @return 0: there are too many */
int qp_metrics_create(const char *name, const char *unit);
/* Store those that the file does not have. */
void qp_metrics_store(void);

/* ---- threads: threads.c ------------------------------------------------------------------ */

/* A thread is what the host schedules: an OS thread or a virtual thread. A handle is private
 * memory that fork() zeroes, one cache line; handle i and its record in the file belong
 * together for the whole run. */

/* Bytes between what two threads write: two cache lines, which processors fetch together. */
enum { QP_APART = 128 };

/* Where an OS thread leaves records of a trace. */
typedef struct {
    qprof_thread *th;   /* owner of the records; NULL: the next record names it */
    qp_ring *ring;      /* NULL: none yet */
    uint64_t mask;      /* slot of a record: its number & mask */
    uint64_t limit;     /* number of the record that must check for room */
    uint64_t n_lost;    /* records that found no room since the last LOST record */
    uint64_t held_at;   /* ticks of all records until a thread has been ended; 0: their own */
    uint64_t after;     /* ticks that its first record here has at least: of the ring before */
    bool waits_in_vain; /* -trace-full=wait: the last wait found no room */
} qp_trace_lane;

/* What other OS threads see of an OS thread. */
typedef enum { QP_OS_THREAD_COMING, QP_OS_THREAD_ALIVE, QP_OS_THREAD_ENDED } qp_os_thread_state;
typedef struct {
    _Alignas(QP_APART) qprof_thread *driven; /* that its _vt call in progress is about */
    qprof_thread *current; /* the thread that its PC samples are for; NULL: none, or it ended */
    uint64_t system_id;    /* gettid */
    uint64_t
        cpu_seen; /* CPU time at the previous pass, ns; for the sampler, like the next two */
    uint64_t cpu_due;     /* CPU time for which no sample was taken yet */
    uint64_t cpu_waiting; /* CPU time that -time=sampled has not charged yet */
    uint32_t n_critical;  /* nesting of qprof_pc_enter_critical() */
    uint64_t timer_seen;  /* of -pc-signal: its clock at its last expiry, ns */
    uint32_t has_timer;   /* of -pc-signal */
    uint32_t values;      /* private: values that wait for the next call, trace_values.c */
    uint32_t state;       /* qp_os_thread_state */
    uint64_t delay_seen;  /* qp_task_delay() when a thread of the recorder asked last */
    uint64_t
        delay_ahead; /* ns that counted as off a processor since, and may be in the next delay */
    void *timer;
    uint64_t wall_at, cpu_at; /* ns: when both clocks were read last, by the OS thread */
    qp_trace_lane lane;       /* private */
} qp_os_thread_slot;

/* Passes of a sampler over a thread, the elapsed ticks between them, how many of them were samples of
 * the PC command, and the ticks for which its OS thread was found waiting. */
typedef struct {
    uint64_t n_passes, ticks, n_samples, off;
} qp_ticks;

/* What is timed of events out of line: cost.c. */
typedef enum {
    QP_COST_EVENT,   /* an entry or exit */
    QP_COST_OUTSIDE, /* the same, of a method in no area: of no call in the profile */
    QP_COST_PART,    /* of one that has begun in line; or a switch */
    QP_COST_ONCE     /* each is timed */
} qp_cost_kind;

/* The events that were timed last. */
typedef struct {
    uint64_t ticks;
    uint32_t n;
} qp_cost_batch;

/* What this OS thread knows: thread-local. */
typedef struct {
    /* never NULL: without a thread qp_closed_thread, whose gate refuses every event */
    qprof_thread *plain;     /* system-thread mode: the thread that events are recorded for */
    qprof_thread *th;        /* virtual-thread mode: the same */
    qprof_thread *own;       /* the OS thread's own record, in either mode */
    uintptr_t vt;            /* id of th */
    uintptr_t wanted;        /* of the virtual thread that is being mounted; 0: any */
    uint32_t epoch;          /* of the run that th belongs to */
    uint32_t ordinal;        /* of the OS thread in that run, from 1 */
    qp_os_thread_slot *slot; /* what others see of it; valid if epoch is the run's */
    qp_trace_lane *lane;     /* in the slot; without a slot qp_closed_lane */
    uint64_t system_id;      /* gettid */
    uint32_t callbacks;      /* nesting of the callback; see qp_thread_callbacks() */
    const void *callback_frame; /* of the C stack, where the innermost callback was called */
    bool in_control;            /* holds the control lock */
    int32_t until_timed;        /* events out of line before the next one is timed: cost.c */
    uint32_t n_timed;           /* so far */
    qp_cost_batch timed[QP_COST_ONCE]; /* by qp_cost_kind */
    /* of event triggers (event_trigger.c): */
    bool is_worker;        /* performs deferred actions: its events are not looked at */
    uint32_t n_interrupts; /* nesting of qprof_trg_isr_enter() ... */
    uint32_t n_system;     /* ... and of qprof_trg_system_enter() */
    const uint64_t *look; /* of the C stack, where an event is being looked at; NULL: none is */
    uint64_t n_looks;     /* so far: the value of each word at `look` */
    uint32_t look_run;    /* epoch of the run of that event, and of the next field */
    struct qprof_Trg *hit; /* the event trigger whose action is being performed */
    uint32_t waiting;      /* events that are raised later: bit is number */
    uintptr_t sampled;     /* object of QP_EVENT_SAMPLE among them */
} qp_os_thread;

extern QP_THREAD_LOCAL qp_os_thread qp_here;

/* A handle whose gate never opens, and a lane without a ring. */
extern qprof_thread qp_closed_thread;
extern qp_trace_lane qp_closed_lane;

/* What an OS thread knows before its first event. */
#define QP_NEW_OS_THREAD                                                                       \
    {                                                                                          \
        .plain = &qp_closed_thread, .th = &qp_closed_thread, .own = &qp_closed_thread,         \
        .lane = &qp_closed_lane                                                                \
    }

/* The thread that events of this OS thread are recorded for, in either mode. */
static inline qprof_thread *qp_thread_current(void)
{
    return qp_recorder.is_virtual ? qp_here.th : qp_here.plain;
}

/* What a handle has for the recorder alone. */
typedef struct {
    uint32_t next_free;
    bool uses_tokens;             /* ever */
    bool has_token;               /* on top: no frames but the root's */
    bool is_cut;                  /* its open calls lack time: recording was off */
    bool is_resuming;             /* the entry in progress is no call */
    uint64_t flagged;             /* offset of the highest frame with flags; 0: none */
    uint64_t deep_low, deep_high; /* ids of the last stored frames, while others are counted */
    uint32_t n_searches;
    qp_cell check; /* what is known of its events: host_check.c */
#if defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ == 4
    uint32_t unused;
#endif
    qprof_thread *
        *shared; /* whose stacks share it, see qprof_thread_new(); NULL: it is not shared */
    uint32_t n_users;  /* then */
    bool is_listed;    /* under its id, see qp_thread_find_vt() */
    uint8_t n_unbegun; /* requests whose begin was lost: as many ends are ignored */
} qp_thread_private;

/* The steps of a thread whose requests may be kept whole, since its outermost one began: ring/steps.c.
 * A step is two words: raw ticks, and the offset of the call path that is on top since then; or with
 * qp_kept_step in place of it, how many ticks. */
typedef struct {
    uint64_t *at, *end;     /* the next step; where its chunk ends */
    uint64_t offset;        /* of the thread's clock at the last step */
    uint64_t off;           /* ticks off the processor that no step has yet */
    uint32_t first, newest; /* chunks */
    uint32_t n_chunks;
    bool is_inside; /* an event of stack ids is being left to the inline path */
    qp_cell open;   /* path of the innermost request; 0: no steps are taken */
} qp_steps;

/* They follow the handle in memory. */
static inline qp_steps *qp_steps_of(const qprof_thread *th)
{
    return (qp_steps *)(void *)(uintptr_t)(th + 1);
}

static inline qp_thread_private *qp_own_of(const qprof_thread *th)
{
    return (qp_thread_private *)(void *)(uintptr_t)th->own;
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

/* Announce that n frames are about to end by one event, or that a clear takes n entries out; 0:
 * done. A file that is left in between says that up to n may be counted twice, or not at
 * all. */
static inline void qp_thread_unsettled(qprof_thread *th, uint64_t n)
{
    qp_publish(&qp_record_of(th)->n_unsettled, n);
    qp_signal_fence();
}

static inline bool qp_is_open(const qprof_thread *th)
{
    return QPROF_LOAD(th->gate) & QPROF_GATE_OPEN;
}

static inline bool qp_is_busy(const qprof_thread *th)
{
    return (QPROF_LOAD(th->pulse->top) & QPROF_TOP_BUSY) != 0;
}

/* An event begins. @return false: one is in progress */
static inline bool qp_set_busy(qprof_thread *th)
{
    uint64_t top = QPROF_LOAD(th->pulse->top);
    if (top & QPROF_TOP_BUSY)
        return false;
    QPROF_STORE(th->pulse->top, top | QPROF_TOP_BUSY);
    QPROF_FENCE();
    return true;
}

static inline void qp_clear_busy(qprof_thread *th)
{
    QPROF_FENCE();
    QPROF_STORE(th->pulse->top, QPROF_LOAD(th->pulse->top) & ~QPROF_TOP_BUSY);
}

/* Reserve memory for handles, once a process.
 * @param at_thread_exit  called on each OS thread of a run that ends. @return false: no memory */
bool qp_threads_reserve(void (*at_thread_exit)(void *));
/* Forget the handles of the last run. */
void qp_threads_begin(void);
/* Close every gate: events in progress end, and none begins. */
void qp_threads_close(void);
/* Let all threads record by the hooks of the run, which have changed before the first entry. */
void qp_threads_reopen(void);
void qp_threads_set_hooks(uint32_t bits);
/* All handles of the run, ended threads included. @param i from 0. @return NULL: no more */
qprof_thread *qp_threads_at(uint32_t i);
/* What waits to be credited to a thread: a cell of the file, so that it survives the process.
 * @param makes  take a cell, if it has none. @return NULL: none, or no room */
qp_waiting *qp_thread_waiting(const qprof_thread *th, bool makes);

/* Take a row, which is a handle and its record: a new one while there are few, then that of an
 * ended thread of the same creator, so that all of its time is in one creator's total.
 * @param creator  cell of a node; 0: none. The record has it, or 0 where no other row was left
 * @return NULL: no room */
qprof_thread *qp_thread_take_row(qp_cell creator);
/* The row of an ended thread of this creator. @return NULL: there is none, or new rows are left */
qprof_thread *qp_thread_take_idle(qp_cell creator);
/* Are there so many rows that those of ended threads are used? */
bool qp_thread_has_many(void);
/* The handle after this one among those that stacks of a VM share. */
qprof_thread **qp_thread_next_shared(qprof_thread *th);
/* A thread has ended, and no OS thread uses its handle: later threads may have its row. */
void qp_thread_drop_row(qprof_thread *th);

/* A row as bytes, for a forked child, in which rows are zeroed. */
enum { QP_HANDLE_BYTES = 2 * QP_APART };
void qp_thread_save_row(uint32_t i, void *to);
void qp_thread_restore_row(uint32_t i, const void *from);

qprof_thread *qp_thread_find_host_id(uintptr_t host_id);
/* @param vt  0: the OS thread's own. @param parked  then the cell of one that has no row; 0: it has
 * @return NULL: unknown, or parked */
qprof_thread *qp_thread_find_vt(uintptr_t vt, qp_cell *parked);
/* Make th the thread of its vt_id. @return false: another one has the id, or there is no room */
bool qp_thread_put_vt(qprof_thread *th);
void qp_thread_drop_vt(qprof_thread *th);

/* A virtual thread without a row: see event/park.c. One cell, the recorder's own. */
typedef struct {
    uint64_t vt_id, host_id;
    qp_ref name;
    qp_cell creator;
    qp_cell frames; /* qp_parked_frames of the outermost calls; 0: no call is open */
    uint32_t has_host_id;
    uint64_t reserved[4];
} qp_parked;

/* Let the index lead from the thread's vt_id to the cell instead of its row, or back.
 * @return false: another OS thread was faster, nothing was changed */
bool qp_thread_park_vt(qprof_thread *th, qp_cell parked);
bool qp_thread_unpark_vt(qprof_thread *th, qp_cell parked);

/* How deep the calling thread is inside the callback. The C stack shows whether a callback left
 * by a jump. @param here  frame of the exported function: inside a callback it lies below */
uint32_t qp_thread_callbacks(const void *here);

/* ---- OS threads -------------------------------------------------------------------------- */

/* Enter this run: forget what an earlier run left in this OS thread's memory. */
void qp_os_thread_renew(void);
/* Called on an OS thread when it enters the run; set by the control room. */
extern void (*qp_on_os_thread_begin)(qp_os_thread_slot *slot);
/* The slot of the calling OS thread. @return NULL: not running */
qp_os_thread_slot *qp_os_thread_here(void);
/* In a forked child: no OS thread but the calling one exists. */
void qp_os_threads_forget_others(void);
/* OS threads of the run, ended ones included. @param i  from 1. @return NULL: no more */
qp_os_thread_slot *qp_os_thread_at(uint32_t i);

/* Prevent other OS threads from taking th away until qp_thread_drop(): `driven` is stored
 * before os_thread is checked, and a taker reads them in the other order.
 * @return false: it has been taken */
static inline bool qp_thread_hold(qprof_thread *th)
{
    QPROF_STORE(qp_here.slot->driven, th);
    QPROF_FENCE();
    return QP_LIKELY(QPROF_LOAD(th->os_thread) == qp_here.ordinal);
}

static inline void qp_thread_drop(void)
{
    __atomic_store_n(&qp_here.slot->driven, (qprof_thread *)0, __ATOMIC_RELEASE);
}

/* A function whose variables lie on the C stack, where the address sanitizer would place them elsewhere. */
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
#define QP_REAL_STACK __attribute__((no_sanitize("address")))
#else
#define QP_REAL_STACK
#endif

/* A function with this frame of the C stack was called: a look at an event below it was left by
 * a jump. */
void qp_event_note_stack(const void *here);
/* Is this OS thread looking at an event, in a function that called this one?
 * @param here  frame of the function that asks */
bool qp_event_is_looking(const void *here);
/* Let event triggers see an event as soon as calls are allowed: qp_event_triggers_settle(). */
void qp_event_later(uint32_t event, uintptr_t object);

/* ---- walks ------------------------------------------------------------------------------- */

/* @return false: stop */
typedef bool qp_counter_block_visitor(void *to, qp_counter_block *b);
typedef bool qp_node_visitor(void *to, qp_cell cell, const qp_node *n);

/* Walk the records of all threads. @param i  from 0; advanced. @param counts  skip those whose
 * data are cleared, although they have not applied it yet. @return NULL: no more */
qp_thread_record *qp_walk_records(uint32_t *i, bool counts);

/* Walk the extents of methods, newest first. @return the next method that is published; 0: no
 * more */
typedef struct {
    qp_cell extent; /* 0: not begun */
    uint32_t at;
} qp_method_walk;
qp_cell qp_walk_methods(qp_method_walk *w);

/* The host's id of a method; 0: no method. */
static inline uint64_t qp_method_id(qp_cell method)
{
    return method ? ((const qp_method *)qp_at(&qp_recorder.space, method))->id : 0;
}

/* The first line of a method; 0: unknown. */
uint32_t qp_method_first_line(const qp_method *m);
/* NULL: its jumps are not described. */
const qp_jumps *qp_method_jumps(const qp_method *m);

/* Visit the counter blocks of a thread, which may be recording. @return false: a visitor
 * stopped */
bool qp_walk_counter_blocks(const qp_thread_record *r, qp_counter_block_visitor *visit,
                            void *to);
/* Visit its call paths, the root included. */
bool qp_walk_nodes(const qp_thread_record *r, qp_node_visitor *visit, void *to);

/* ---- what recording costs: cost.c --------------------------------------------------------- */

/* Some events out of line are timed where they happen, with the misses of the caches and the new pages
 * that they have there: the first ones of an OS thread, then ever fewer, down to one in QP_COST_PERIOD, at
 * random. So the cost of a short run does not depend on chance. */
enum { QP_COST_PERIOD = 128 };

/* The run's clock has been chosen. */
void qp_cost_begin_run(void);
/* What it takes more to time an event than to execute it among others, which a processor does in part at once: it is
 * subtracted from what events seem to take. */
void qp_cost_set_least(uint64_t ticks);
/* Is an event of the calling OS thread to be timed? */
static inline bool qp_cost_is_due(void)
{
    return QP_UNLIKELY(--qp_here.until_timed < 0);
}
/* Does the run's clock show time? If not, nothing is measured. */
bool qp_cost_is_measured(void);
/* Raw ticks of the elapsed clock that the run's ticks are of. */
uint64_t qp_cost_now(void);
/* The same, before an event that is timed. */
uint64_t qp_cost_start(void);
/* It is over; th: whose it was. */
void qp_cost_add(const qprof_thread *th, qp_cost_kind kind, uint64_t start);

#endif
