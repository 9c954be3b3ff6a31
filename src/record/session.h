/* session.h: the one run of a process: its file, its options, its state.
 *
 * Rooms above ask qp_state() first: in a forked child the file is not mapped, and the state, which
 * lies in memory that fork wipes, says so. */
#ifndef QP_RECORD_SESSION_H
#define QP_RECORD_SESSION_H

#include <stdbool.h>

#include "code/methods.h"
#include "code/sources.h"
#include "code/texts.h"
#include "format/options.h"
#include "format/space.h"
#include "qprof.h"
#include "record/contexts.h"

typedef enum {
    QP_STATE_OFF, /* never started, or a forked child */
    QP_STATE_RUNNING,
    QP_STATE_CLOSED,  /* shut down: figures of the run can still be asked for */
    QP_STATE_CHANGING /* being started or shut down */
} qp_state_kind;

enum {
    QP_PATH_MAX = 4096,
    /* hooks of our own, see QPROF_HOOK_COLD */
    QP_HOOK_SAMPLE = 1u << 8, /* interrupts wait to be credited to the top frame */
    QP_HOOK_SYNC = 1u << 9,   /* recording was stopped or started, or data cleared */
    QP_HOOK_STOPPED = QPROF_HOOK_STOPPED,
    QP_HOOK_DEEP = 1u << 11,    /* frames above the stored ones are only counted */
    QP_HOOK_ZERO = 1u << 12,    /* frames with stack id 0 are on the stack */
    QP_HOOK_CLASSES = 1u << 13, /* methods with flags are timed by another clock */
    QP_HOOK_OFF = QPROF_HOOK_OFF,
    QP_HOOK_RULES = 1u << 15, /* rules have changed since this thread looked */
    QP_HOOK_WATCH = 1u << 16, /* event triggers look at all entries and exits */
    QP_HOOK_TRACE = 1u << 17, /* events leave records in a trace */
    QP_HOOK_TURNED = 1u << 18 /* actions have turned all threads on or off */
};

typedef struct {
    qp_space space;
    qp_texts texts;
    qp_methods methods;
    qp_sources sources;
    qp_options options;
    void (*callback)(qprof_MethodID);
    uint32_t epoch;   /* number of this run, from 1 */
    uint32_t hooks;   /* of a thread that begins */
    bool is_virtual;  /* threads are virtual threads */
    bool has_entries; /* some event was recorded: too late for options */
    bool has_unknown; /* a sampled path has a method that the host was not asked for */
    qp_contexts contexts;
    bool is_pc_on;   /* a PC command is in force */
    qp_slab threads; /* extents of thread records */
    qp_slab marks, event_counts;
    uint32_t n_marks;         /* atomic */
    qp_cell event_root;       /* index block: user event -> its count; 0: none yet */
    uint64_t idle_rows;       /* ended threads whose rows can be used again: tag, handle + 1 */
    qp_cell vt_root;          /* index block: virtual thread id -> handle */
    char output[QP_PATH_MAX]; /* absolute, conversions not expanded; "": by the prefix */
    char folder[QP_PATH_MAX]; /* the working directory at the start */
    char program[256];
    char program_path[QP_PATH_MAX];
    bool begins_closed;  /* the global gate, by a configuration file */
    bool has_config;     /* a configuration file was read */
    bool is_gated;       /* rules or event triggers are in use, or recording was stopped once */
    uint32_t n_datasets; /* number of the next dataset; goes on from run to run */
} qp_session;

extern qp_session qp_run;

/* Gates of the exported calls: 1 open, 0 off, else why not. In a child after fork they are stale,
 * so that what they let through still meets a thread's own gate or qp_state(). */
enum { QP_GATE_OFF, QP_GATE_OPEN, QP_GATE_CLOSED, QP_GATE_WRONG_MODE };
extern uint32_t qp_gate_plain, qp_gate_vt;

qp_state_kind qp_state(void);

/* A run, from options to file. @return 0 or QPROF_E_*; *error says what was wrong */
int qp_session_begin(const qprof_InitInfo *info, qp_parse_error *error);
void qp_session_end(bool at_exit);

/* Options have changed before the first entry. @return 0, or as qp_session_begin; the caller puts
 * the old ones back then */
int qp_session_reapply(qp_parse_error *error);

/* One control call at a time: start, stop, clear, save, initialise, shut down.
 * @return false: this thread holds it already (a signal handler, a callback) */
bool qp_control_lock(void);
void qp_control_unlock(void);

/* What hosts have asked for may be another now: see qprof_changes(). */
extern uint32_t qp_changes[2];
void qp_session_changed(void);
/* Counters are zeroed. */
void qp_session_cleared(void);
/* From now on what hosts count in place may have to stand. */
void qp_session_gate(void);

/* Attach a message to the file; if -log-file says so, write it there, too. */
void qp_session_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool qp_session_note(qp_note_kind kind, const char *text);

/* The host's clock instead of the machine's, from the next run on. */
void qp_session_set_clock(uint64_t (*now)(void));

static inline qp_head *qp_run_head(void)
{
    return qp_run.space.head;
}

#endif
