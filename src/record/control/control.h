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

/* ---- options in force: apply.c ----------------------------------------------------------- */

enum { QP_RESERVE_SHARE = 16 }; /* of the memory limit, kept for what must not fail */

/* Measure time by the host's clock instead of the machine's, from the next run on. */
void qp_recorder_set_clock(uint64_t (*now)(void));

/* Determine the name of the next dataset. @return 0, QPROF_E_OPTION or QPROF_E_IO */
int qp_apply_output(char *output, size_t n_bytes, qp_error *error);
/* Write the options of the run into the head. */
void qp_apply_head(void);
/* Choose the clocks of the run. */
int qp_apply_clock(qp_error *error);
/* Start the traces that are asked for, and stop them. */
int qp_apply_start_traces(qp_error *error);
void qp_apply_stop_traces(void);
/* The clocks are chosen: start what depends on them. */
void qp_apply_start(void);

/* Put changed options in force before the first entry. @return 0, or as qp_recorder_begin();
 * then the caller restores the old ones */
int qp_apply_again(qp_error *error);

/* ---- options and configuration files: config.c ------------------------------------------- */

/* Read the options of a new run into qp_recorder.options: defaults, the environment, the host,
 * files.
 * @return 0 or QPROF_E_OPTION, _SYNTAX, _IO */
int qp_config_begin(const char *initial_options, qp_error *error);

/* The file exists: count and log the options that were unknown, clamped or ignored. */
void qp_config_report(void);

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

/* ---- objects of a configuration: config_make.c, event_trigger_file.c --------------------- */

/* Objects that are made between the two come into force at the end, or not at all.
 * @param replaces  drop those of earlier files then */
void qp_config_make_begin(bool replaces);
/* @return 0 or QPROF_E_*: *error explains, with the place; only if is_good */
int qp_config_make_end(bool is_good, qp_error *error);

/* Sinks of all lines but options and pc. */
extern const qp_config_sink qp_config_making;

void qp_event_triggers_begin_file(bool replaces);
/* As a qp_config_sink calls them. @return 0 or QPROF_E_* with error->text */
int qp_event_triggers_configure(void *unused, const qp_config_event_trigger *from,
                                qp_error *error);
int qp_event_triggers_configure_triggering(void *unused, bool is_on, qp_error *error);
/* Check that what the file refers to exists. @return 0 or QPROF_E_*, with the place in
 * *error */
int qp_event_triggers_check_file(qp_error *error);
void qp_event_triggers_end_file(bool is_kept);

/* ---- the data: data.c -------------------------------------------------------------------- */

bool qp_data_is_recording(void);

/* @return true: it changed */
bool qp_data_start(void);
bool qp_data_stop(void);
void qp_data_disable(void);

/* Set the global gate. @param open  -1: only ask. @return is it open now? */
bool qp_data_gate(int open);

/* Let the calling thread apply what changed, and charge it up to now. */
void qp_data_sync_here(void);

/* Zero all figures. The calling thread does its part at once, others at their next event. */
void qp_data_clear(void);

/* Write a dataset. @param name  NULL: the run's, numbered; else a pattern of its own
 * @return false: nothing to write, or a file error, which is counted and logged */
bool qp_data_save(const char *name, const char *label);

/* ---- datasets: save.c, counts.c ---------------------------------------------------------- */

/* Was anything recorded since the start or the last clear, or annotated? */
bool qp_save_has_data(void);

/* Write the profile as it is. @param path  expanded; an existing name gets .1 to .999 appended,
 * and path is changed to the name that was used. @return 0 or QPROF_E_IO, and then nothing is
 * left */
int qp_save_copy(char *path, size_t n_bytes, qp_file_state state, const char *label);

/* Run a shell command and wait; its status is logged. */
void qp_save_run(const char *pattern, const char *file);

/* Is this the name of the -counts-file? */
bool qp_counts_is_file(const char *path);

/* Add a dataset that has just been written to the counts file: it becomes that file, or the sum
 * of both replaces the file. Several processes may do so at once.
 * @param temporary  the dataset; removed afterwards
 * @return false: the counts file is unchanged; the dataset remains, with a note that explains
 * it */
bool qp_counts_add(const char *temporary, const char *path);

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

/* ---- other parts ------------------------------------------------------------------------- */

/* Measure what recording itself costs and write it into head.cost_*, on a scratch tree; takes
 * some microseconds. */
void qp_cost_measure(void);

/* Register the methods and sources of the parent's live file in the run of a forked child.
 * @param fd  of that file; stays open */
void qp_inherit_methods(int fd);

/* ---- actions: perform.c, worker.c -------------------------------------------------------- */

/* Perform an action now. Takes the control lock. */
void qp_perform_now(const qp_action_request *request);
int (*qp_event_action_find(const char *name))(intptr_t argument);
/* @return "function": not one of the library; NULL: no function */
const char *qp_event_action_name(int (*function)(intptr_t argument));

/* The worker is a thread that performs deferred actions, and applies configurations that
 * another process hands in. */

/* Called on the worker when another process has woken it; set at the begin of a run. */
extern void (*qp_worker_on_bell)(void);

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

/* In a forked child: the thread is the parent's. */
void qp_worker_forget(void);

/* Number of actions that found the queue full, in this run. */
uint64_t qp_worker_dropped(void);

#endif
