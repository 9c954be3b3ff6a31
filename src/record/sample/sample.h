/* sample.h: PC samples: the PC command, the sampler, and crediting samples to call paths.
 *
 * The sampler's thread or a timer's signal only counts a sample for a thread and sets a hook.
 * The thread itself credits it at its next event: up to then its stack has not changed, so the
 * credit is exact, nothing is read while it is being written, and the path of the stack is
 * looked up by the one thread that may add to the tree. */
#ifndef QP_RECORD_SAMPLE_SAMPLE_H
#define QP_RECORD_SAMPLE_SAMPLE_H

#include <pthread.h>

#include "base/text/error.h"
#include "code/pattern.h"
#include "record/run/run.h"

/* ---- the PC command: pc.c ---------------------------------------------------------------- */

/* Write the command of -pc into the head. @return 0, QPROF_E_SYNTAX, QPROF_E_LIMIT */
int qp_pc_begin(qp_error *error);

/* ---- crediting: samples.c ---------------------------------------------------------------- */

/* Count a pass over a thread, unless recording is stopped. Any thread, any signal handler. @param ticks  since the previous
 * pass, for -time=sampled. @param n_samples  of the PC command. @param off  ticks for which it was found waiting */
void qp_samples_note(qprof_thread *th, uint64_t ticks, uint64_t n_samples, uint64_t off);

enum { QP_NO_BLOCK = INT32_MIN };

/* Credit what waits to a path, 0: to the one on top, and to a block of its method; th is in an event. */
void qp_samples_take(qprof_thread *th, qprof_frame *top, qp_cell path, int block);

/* Set what is called after samples were counted, by the sampler or in a signal handler; NULL:
 * nothing. Call it. */
void qp_samples_on(void (*given)(void));
void qp_samples_wake(void);

/* The path of a callee, made if necessary; its caller's where there is no room. */
qp_cell qp_samples_callee(qprof_thread *th, qp_cell parent, uint64_t method);

/* Credit n samples to the path on top, now. */
void qp_samples_add(qprof_thread *th, qprof_frame *top, uint64_t n);

/* The path of a frame whose calls are not counted, looked up if it never was. */
qp_cell qp_samples_path(qprof_thread *th, qprof_frame *top);

/* All data are cleared: so is what waits. */
void qp_samples_clear(void);

/* Recording has ended: credit what still waits, also to threads that are suspended. */
void qp_samples_end(void);

/* ---- the sampler: sampler.c -------------------------------------------------------------- */

/* Start the sampler, if the options ask for samples.
 * @return false: it cannot be started, which is counted; recording works without samples */
bool qp_sampler_start(void);
void qp_sampler_stop(void);
/* In a forked child: the thread and the timers are the parent's. */
void qp_sampler_forget(void);

/* ---- threads of the recorder that look at all OS threads: watcher.c ---------------------- */

typedef struct {
    pthread_t thread;
    bool is_running;
    uint32_t must_stop;
    uint32_t *live; /* [n_live] ordinals of OS threads that have not ended, out of n_known */
    uint32_t n_live, n_known;
    bool has_descriptors; /* its thread's own, to read what the system knows of a thread */
    uint32_t n_passes;
    uint64_t cpu; /* ns of its thread that are in the head */
} qp_watcher;

/* Start its thread. @return false: it cannot be started, which is counted */
bool qp_watcher_start(qp_watcher *w, void *(*run)(void *));
/* Called by its thread, which ends when it finds must_stop: where it begins, and where it ends. */
void qp_watcher_began(qp_watcher *w);
void qp_watcher_ended(qp_watcher *w);
void qp_watcher_stop(qp_watcher *w);
/* Of the ticks since the previous pass, which took ns, those for which an OS thread was off the processors: all if it
 * waits now, or did not run; else those for which it was ready. */
uint64_t qp_watcher_finds_off(const qp_watcher *w, qp_os_thread_slot *slot, uint64_t ticks,
                              uint64_t ns);
/* Visit all OS threads that live. @param begin  called for new ones before; may be NULL */
void qp_watcher_pass(qp_watcher *w, void (*begin)(qp_os_thread_slot *),
                     void (*visit)(qp_os_thread_slot *, void *), void *with);

/* ---- the coarse clock of -time=adaptive: coarse.c ---------------------------------------- */

/* Start its thread, if the run needs it. @return false: it cannot be started, which is counted */
bool qp_coarse_start(void);
void qp_coarse_stop(void);
/* In a forked child, which has no such thread. */
void qp_coarse_forget(void);

/* ---- samples by signal: pc_signal.c ------------------------------------------------------ */

/* -pc-signal: a timer of each OS thread and a signal, whose handler counts a sample. */

/* Take an unused real-time signal. @return false: there is none */
bool qp_pc_signal_begin(void);
/* Stop all timers; the signal is ignored from now on. */
void qp_pc_signal_end(void);
/* Start and stop the OS thread's timer, if the run has them. */
void qp_pc_signal_arm(qp_os_thread_slot *slot);
void qp_pc_signal_disarm(qp_os_thread_slot *slot);
/* In a forked child, which has no timers. */
void qp_pc_signal_forget(void);
/* Block the signal around a fork, which it would restart again and again. */
void qp_pc_signal_hold(bool is_held);

/* ---- attribution: pc.c ------------------------------------------------------------------- */

/* The samples of one call path, attributed by the pattern of the PC command. */
typedef struct {
    uint64_t n;
    bool is_counted;       /* false: the pattern skips them */
    const qp_cell *frames; /* [n_frames] methods, outermost first */
    uint32_t n_frames;
    int64_t charged; /* frame; QP_PATTERN_FOREIGN: foreignPcs */
    uint32_t n_deep; /* number of outermost frames that were active for the charged one */
} qp_pc_attribution;

/* Call `visit` for each path with samples, of all threads. Others may record meanwhile.
 * @return false: no memory */
bool qp_pc_each(void (*visit)(void *to, const qp_pc_attribution *c), void *to);

/* Is it a procedure? Pseudo-methods are not. */
bool qp_pc_is_procedure(qp_cell method);

/* Names for patterns and reports. @return bytes of the module, *module points into a text */
int qp_pc_module(qp_cell method, const char **module);
const char *qp_pc_procedure_name(qp_cell method);

#endif
