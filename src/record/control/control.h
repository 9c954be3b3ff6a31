/* control.h: control of the whole run: its begin and end, options, data, datasets, contexts.
 * Under the control lock unless noted. */
#ifndef QP_RECORD_CONTROL_CONTROL_H
#define QP_RECORD_CONTROL_CONTROL_H

#include "base/text/error.h"
#include "config/config.h"
#include "record/trigger/trigger.h"

/* ---- the run: lifecycle.c ---------------------------------------------------------------- */

/* Begin a run, from options to file. Takes no lock. @return 0 or QPROF_E_*; *error explains */
int qp_recorder_begin(const qprof_InitInfo *info, qp_error *error);
/* End the run and write its dataset. Takes the control lock. */
void qp_recorder_end(bool at_exit);

/* Measure time by the host's clock instead of the machine's, from the next run on. */
void qp_recorder_set_clock(uint64_t (*now)(void));

/* Put changed options in force before the first entry. @return 0, or as qp_recorder_begin();
 * then the caller restores the old ones */
int qp_apply_again(qp_error *error);

/* ---- what recording costs: calibrate.c ---------------------------------------------------- */

/* Measure what events in line cost in this run, and store it in the head. Before the first one. */
void qp_calibrate(void);
/* Measure it in the host's own loop instead, see qprof_measure_calls(). */
void qp_calibrate_host(qprof_calls_function execute, void *data, unsigned n, bool is_native);

/* ---- native code: native_code.c ---------------------------------------------------------- */

/* Write for perf, as the options ask for it, that code of a method lies here. */
void qp_native_code_add(const qp_method *m, const void *start, size_t n_bytes);

/* ---- options and configuration files: config.c ------------------------------------------- */

/* Whether the environment has options, in a program that may read them. */
bool qp_config_is_asked_for(void);

/* Read the options of a new run into qp_recorder.options: defaults, the environment, the host,
 * files.
 * @return 0 or QPROF_E_OPTION, _SYNTAX, _IO */
int qp_config_begin(const char *initial_options, qp_error *error);

/* The file exists: count and log the options that were unknown, clamped or ignored. */
void qp_config_report(void);

/* A line on standard error, if the environment has options and -quiet is not one of them.
 * @param is_left_to_run  not below `qprof run`, which reports the same */
void qp_config_tell(const char *text, bool is_left_to_run);

/* Apply a line or a file during the run. Its options override all others, and are too late
 * after the first entry. Nothing is applied on an error. @param replaces  drop what earlier
 * files configured */
int qp_config_words(const char *words, qp_error *error);
int qp_config_file(const char *file, bool replaces, qp_error *error);
/* Set one option, whose value may hold any character. */
int qp_config_set(qp_option which, const char *value, qp_error *error);

/* Apply the file that another process has asked for, if any, and answer. Takes the control
 * lock. */
void qp_config_answer(void);

/* ---- the data: data.c -------------------------------------------------------------------- */

/* Set the global gate. @param open  -1: only ask. @return is it open now? */
bool qp_data_gate(int open);

/* Let the calling thread apply what changed, and charge it up to now. */
void qp_data_sync_here(void);

/* What hosts and actions change of the whole run. */
typedef enum {
    QP_DATA_NO_CHANGE,
    QP_DATA_START,
    QP_DATA_STOP,
    QP_DATA_DISABLE, /* stop, for the rest of the run */
    QP_DATA_CLEAR,   /* zero all figures: here at once, on other threads at their next event */
    QP_DATA_SAVE,    /* write a dataset; a file error is counted and logged */
    QP_DATA_SAVE_LAST, /* the same, and the program ends */
    QP_DATA_NEW_PHASE, /* the same; if it is written, clear */
    QP_DATA_ANNOTATE,
    QP_DATA_OPEN_GATE,
    QP_DATA_CLOSE_GATE
} qp_data_change_kind;

/* Clear what belongs to the run; what belongs to threads is left to them. */
void qp_data_begin_clear(void);

/* @param file  of a dataset, a pattern; NULL: the run's, numbered. @param label  of it, or the
 * annotation. @return was it done? */
bool qp_data_change(qp_data_change_kind kind, const char *file, const char *label);

/* Write the cut of the spool that is due, if any. Takes the control lock. @return ns until the next one */
uint64_t qp_data_on_time(void);

/* ---- datasets: save.c -------------------------------------------------------------------- */

/* Was anything recorded since the start or the last clear, or annotated? */
bool qp_save_has_data(void);

/* The same of one thread, without counts of blocks. */
bool qp_save_has_calls(const qp_thread_record *r);

/* Write the profile as it is. @param path  expanded; an existing name gets .1 to .999 appended,
 * and path is changed to the name that was used. @return 0 or QPROF_E_IO, and then nothing is
 * left */
int qp_save_copy(char *path, size_t n_bytes, qp_file_state state, const char *label);

/* The same into an open file. @param h  receives its head @param live  path of the live file, for the first state of a cut of this
 * number; NULL: a profile */
bool qp_save_write(int fd, qp_head *h, qp_file_state state, const char *label, const char *live,
                   uint32_t cut);

/* ---- the folder that `qprof push` empties: spool.c ---------------------------------------- */

/* Begin -spool, if the options ask for it: again, in a forked child. */
void qp_spool_begin(void);
bool qp_spool_is_on(void);
/* Write what was recorded since the last cut.
 * @param path  [QP_PATH_MAX] receives the name. @return false: counted, and part of the next cut */
bool qp_spool_cut(qp_file_state state, const char *label, char *path);
/* How long until a cut is due; UINT64_MAX: none will be. */
uint64_t qp_spool_wait_ns(void);
/* It was tried. */
void qp_spool_set_due(void);
/* @param is_complete  all was written: nothing is left for the tool */
void qp_spool_end(bool is_complete);

/* ---- after a save: after_save.c ---------------------------------------------------------- */

typedef struct {
    const char *path;   /* its file, or the live file that remains */
    uint32_t number;    /* that its name was made with */
    uint32_t n_threads; /* that it has at least */
    bool is_written, is_last;
} qp_saved;

/* Write the summary and export files of a dataset, and run the commands that follow a save. It waits for them. */
void qp_after_save(const qp_saved *saved);
/* qp_config_tell(), set once a process. */
extern void (*qp_after_save_tell)(const char *text, bool is_left_to_run);

/* ---- contexts: contexts.c ---------------------------------------------------------------- */

/* Nothing is added to any event: a switch of the context looks through all counters and gives
 * what they have gained to the context before. So every increment, of any thread, lands in
 * exactly one context. */

/* Count for the context of this name from now on; NULL or "": for none.
 * @return false: no room, the context is unchanged */
bool qp_contexts_switch(const char *name);

/* Data were cleared: empty all contexts. What threads without a stack have counted so far,
 * which only their hosts touch, no longer counts. */
void qp_contexts_clear(void);

/* ---- a forked child that continues the run: fork.c ----------------------------------------- */

/* Before the fork: keep a copy of what the child needs. Without memory for it the child records
 * nothing. */
void qp_fork_prepare(void);
/* In the parent: drop the copy. */
void qp_fork_release(void);
/* In the child: make its own file out of the copy, at the parent's addresses.
 * @param output  where its dataset will be. @return false: not possible, and nothing is left */
bool qp_fork_restore(const char *output);
/* The clocks of the run are running: clear what the parent has recorded, and open the threads. */
void qp_fork_resume(void);
/* Is a path that was known once still in the file? */
bool qp_fork_has_path(qp_cell path);

/* ---- actions: perform.c ------------------------------------------------------------------ */

int (*qp_event_action_find(const char *name))(intptr_t argument);
/* @return "function": not one of the library; NULL: no function */
const char *qp_event_action_name(int (*function)(intptr_t argument));

/* The worker is a thread that performs deferred actions, and applies configurations that
 * another process hands in. */

/* Called on the worker when another process has woken it; set at the begin of a run. */
extern void (*qp_worker_on_bell)(void);
/* The same whenever it looks: does what is due. @return ns until it is to be called again */
extern uint64_t (*qp_worker_on_time)(void);

/* Start it, if it does not run.
 * @return false: no thread; deferred actions will be dropped, which is counted */
bool qp_worker_start(void);
/* Perform an action, or queue it if it is deferred. A full queue drops it: counted, and the
 * first one logged. Threads: any. */
void qp_worker_perform(const qp_action_request *request);
/* Forget what is queued. */
void qp_worker_reset(void);
/* Perform what is queued, then end. Not under the control lock, which actions may take. */
void qp_worker_stop(void);
/* Wake it, to look whether a signal wants something. Signal handlers may call it. */
void qp_worker_wake(void);
/* In a forked child: the thread is the parent's. @return was it running? */
bool qp_worker_forget(void);

/* ---- signals.c: saves and clears that signals ask for ------------------------------------ */

/* Take the signals that the options name, and start the worker for them. @return 0, QPROF_E_OPTION */
int qp_signals_begin(qp_error *error);
/* On the worker: do what signals have asked for. */
void qp_signals_perform(void);
/* Give the signals back. */
void qp_signals_end(void);

#endif
