/* lifecycle.c: begins, forks, ends and seals the run, and puts its options in force. Read
 * qp_recorder_begin first.
 *
 * The state of the run lies in a page that fork() zeroes: a forked child always finds
 * QP_STATE_OFF before it can touch the file, which it does not have, or replaces by its own: fork.c. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/os/file.h"
#include "base/os/perf.h"
#include "base/os/system.h"
#include "base/text/unit.h"
#include "record/clock/clock.h"
#include "record/control/control.h"
#include "record/event/event.h"
#include "record/report/report.h"
#include "record/ring/ring.h"
#include "record/sample/sample.h"
#include "record/stream/stream.h"

enum {
    QUIET_TRIES = 200,
    QUIET_NS = 100000,
    RESERVE_SHARE = 16 /* of the memory limit, kept for what must not fail */
};

static qp_head no_head;    /* between two runs: a late counter finds this one */
static qp_mapping retired; /* of the previous run: threads may still be leaving it */
static bool retired_has_counters;

/* ---- options in force --------------------------------------------------------------------- */

static uint64_t (*host_clock)(void);

void qp_recorder_set_clock(uint64_t (*now)(void))
{
    host_clock = now;
}

static int apply_clock(qp_error *error)
{
    int code = qp_clock_begin(host_clock, error);
    if (!code && !QP_PRODUCT_IS_COVERAGE)
        code = qp_kept_begin(error);
    if (qp_event_triggers_all_calls())
        qp_recorder.hooks |= QP_HOOK_EVENT_TRIGGERS;
    if (qp_recorder.options.number[QP_OPT_check_host])
        qp_recorder.hooks |= QP_HOOK_CHECK;
    qp_host_check(qp_recorder.hooks & QP_HOOK_CHECK);
    if (!QP_PRODUCT_IS_COVERAGE && qp_kept_is_on() && !(qp_recorder.hooks & QP_HOOK_CHECK)) {
        qp_on_event.enter_id = qp_event_step_in;
        qp_on_event.exit_id = qp_event_step_out;
    }
    return code;
}

/* What the file will contain: QP_COLLECT_*. */
static uint32_t collected(void)
{
    const qp_options *o = &qp_recorder.options;
    uint32_t set = (uint32_t)o->number[QP_OPT_collect], collect = set & 3;
    bool is_traced = set & 16 || o->number[QP_OPT_trace_mode] != UINT64_MAX ||
                     qp_option_text(o, QP_OPT_trace_output)[0];
    if (!QP_PRODUCT_IS_COVERAGE && is_traced)
        collect |= QP_COLLECT_TRACE | QP_COLLECT_PROFILE;
    if (qp_trace_xbase_is_asked_for())
        collect |= QP_COLLECT_PROFILE;
    if (!QP_PRODUCT_IS_COVERAGE && (set & 4 || qp_option_text(o, QP_OPT_pc)[0]))
        collect |= QP_COLLECT_SAMPLES;
    if (!QP_PRODUCT_IS_COVERAGE && set & 8)
        collect |= QP_COLLECT_STACK;
    if (o->number[QP_OPT_cover] != UINT64_MAX)
        collect |= QP_COLLECT_COVERAGE;
    if (!QP_PRODUCT_IS_COVERAGE && collect & QP_COLLECT_PROFILE &&
        o->number[QP_OPT_allocations])
        collect |= QP_COLLECT_MEMORY;
    return collect | (o->number[QP_OPT_cover] == 1 ? QP_COLLECT_ONCE : 0u);
}

static void apply_head(void)
{
    qp_head *h = qp_recorder_head();
    char words[4096];
    h->collect = collected();
    qp_options_print(&qp_recorder.options, words, sizeof words);
    h->options = qp_texts_add(&qp_recorder.texts, words);
    qp_names_store();
    qp_metrics_store();
    h->grain = (uint32_t)qp_recorder.options.number[QP_OPT_collection_granularity];
    h->flags &= ~(uint32_t)QP_FLAG_MIN_MAX;
    h->flags |= qp_recorder.options.number[QP_OPT_record_min_max] ? QP_FLAG_MIN_MAX : 0;
}

static int apply_output(char *output, size_t n_bytes, qp_error *error)
{
    int code = qp_output_name(NULL, qp_recorder.n_datasets, output, n_bytes, error);
    return !code && qp_output_check(output, error) != 0 ? QPROF_E_IO : code;
}

static int start_traces(qp_error *error)
{
    int code = qp_trace_start(error);
    return code || QP_PRODUCT_IS_COVERAGE ? code : qp_trace_xbase_begin(error);
}

static void stop_traces(void)
{
    if (!QP_PRODUCT_IS_COVERAGE)
        qp_trace_xbase_end();
    qp_trace_stop();
}

static void apply_start(void)
{
    qp_calibrate();
    if (!qp_recorder.options.number[QP_OPT_record_data])
        qp_data_change(QP_DATA_STOP, NULL, NULL);
    qp_sampler_start();
    qp_coarse_start();
}

int qp_apply_again(qp_error *error)
{
    char output[QP_PATH_MAX];
    qp_sampler_stop();
    qp_coarse_stop();
    stop_traces();
    qp_output_begin();
    int code = apply_output(output, sizeof output, error);
    apply_head();
    if (!code)
        code = qp_pc_begin(error);
    if (!code)
        code = apply_clock(error);
    if (!code)
        code = start_traces(error);
    if (code)
        return code;
    qp_recorder.space.map.limit_bytes = qp_recorder.options.number[QP_OPT_memory_limit];
    qp_recorder.space.reserve_bytes = qp_recorder.space.map.limit_bytes / RESERVE_SHARE;
    qp_recorder_head()->memory_limit = qp_recorder.space.map.limit_bytes;
    qp_recorder_head()->program = qp_texts_add(&qp_recorder.texts, qp_recorder.program);
    if (qp_recorder.options.number[QP_OPT_record_data])
        qp_data_change(QP_DATA_START, NULL, NULL);
    apply_start();
    qp_threads_reopen();
    return 0;
}

/* ---- fork and exit ----------------------------------------------------------------------- */

/* The dataset of a child has a name of its own. */
static void name_output(void)
{
    char name[QP_PATH_MAX];
    qp_error unused;
    const char *output = qp_option_text(&qp_recorder.options, QP_OPT_output);
    if (output[0] && !strstr(output, "%p") &&
        snprintf(name, sizeof name, "%s.%%p", output) < (int)sizeof name)
        qp_option_set(&qp_recorder.options, QP_OPT_output, name, &unused);
}

static void start_traces_again(void)
{
    qp_error error = {0};
    qp_fetch_and(&qp_recorder.hooks, ~(uint32_t)QP_HOOK_TRACE);
    qp_trace_begin();
    if (start_traces(&error) != 0) {
        stop_traces();
        qp_recorder_log("the child is not traced: %s", error.text);
    }
}

static void begin_spool(void)
{
    qp_spool_begin();
    if (qp_spool_wait_ns() != UINT64_MAX)
        qp_worker_start();
}

/* With -follow-child-processes a child continues the run of its parent: what is open stays open,
 * and what was recorded before is the parent's. @return false: it cannot */
static bool continue_run(bool has_worker)
{
    char output[QP_PATH_MAX] = "/";
    qp_error error = {0};
    qp_output_name(NULL, 0, output, sizeof output, &error);
    if (!qp_fork_restore(output))
        return false;
    qp_publish(qp_state_word, QP_STATE_CHANGING);
    name_output();
    apply_head();
    if (qp_here.epoch == qp_recorder.epoch)
        qp_clock_begin_os_thread();
    if (!QP_PRODUCT_IS_COVERAGE)
        qp_kept_begin(&error);
    qp_fork_resume();
    start_traces_again();
    qp_sampler_start();
    qp_coarse_start();
    if (has_worker)
        qp_worker_start();
    begin_spool();
    qp_publish(qp_state_word, QP_STATE_RUNNING);
    qp_store(&qp_gate_plain, qp_recorder.is_virtual ? QP_GATE_WRONG_MODE : QP_GATE_OPEN);
    qp_store(&qp_gate_vt, qp_recorder.is_virtual ? QP_GATE_OPEN : QP_GATE_WRONG_MODE);
    return true;
}

static void before_fork(void)
{
    int host_errno = errno;
    qp_control_before_fork();
    qp_pc_signal_hold(true);
    qp_fork_prepare();
    errno = host_errno;
}

static void after_fork_in_parent(void)
{
    int host_errno = errno;
    qp_fork_release();
    qp_control_after_fork(false);
    qp_pc_signal_hold(false);
    errno = host_errno;
}

/* The child records nothing: its memory holds no run. */
static void end_in_child(qprof_thread *current, bool was_running)
{
    qp_here = (qp_os_thread)QP_NEW_OS_THREAD;
    if (was_running && qp_recorder.options.number[QP_OPT_check_host] &&
        !qp_recorder.options.number[QP_OPT_follow_child_processes])
        qp_host_forked(current);
    qp_mapping_forget(&qp_recorder.space.map);
}

static void after_fork_in_child(void)
{
    int host_errno = errno;
    bool was_running = qp_gate_plain == QP_GATE_OPEN || qp_gate_vt == QP_GATE_OPEN;
    bool had_worker = qp_worker_forget();
    qp_spool_end(false);
    if (qp_state_word) /* zeroed already, where the kernel can do that */
        qp_state_word[1] = 0, qp_publish(qp_state_word, QP_STATE_OFF);
    qp_threads_close();
    qp_control_after_fork(true);
    qp_sampler_forget();
    qp_coarse_forget();
    if (!QP_PRODUCT_IS_COVERAGE)
        qp_trace_xbase_forget();
    qp_trace_forget();
    qp_pc_signal_hold(false);
    qp_perf_forget();
    qprof_thread *current = qp_thread_current();
    qp_gate_plain = qp_gate_vt = QP_GATE_OFF;
    qp_mapping_forget(&retired);
    if (!continue_run(had_worker))
        end_in_child(current, was_running);
    errno = host_errno;
}

static void at_exit(void)
{
    qp_recorder_end(true);
}

/* The run's OS threads: their clocks and timers. */
static void begin_os_thread(qp_os_thread_slot *slot)
{
    qp_clock_begin_os_thread();
    qp_pc_signal_arm(slot);
}

/* Set up what a process needs once. @return false: no memory */
static bool begin_process(void)
{
    static uint32_t *page;
    if (qp_state_word)
        return true;
    qp_on_os_thread_begin = begin_os_thread;
    qp_perform = qp_worker_perform;
    qp_worker_on_bell = qp_config_answer;
    qp_worker_on_time = qp_data_on_time;
    qp_after_save_tell = qp_config_tell;
    if (!page && !(page = qp_pages_take(4096)))
        return false;
    qp_system_wipe_on_fork(page, 4096);
    if (!qp_threads_reserve(qp_thread_leave) ||
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0 ||
        atexit(at_exit) != 0)
        return false;
    qp_publish(&qp_state_word, page);
    return true;
}

/* ---- beginning --------------------------------------------------------------------------- */

static int open_memory(const char *output)
{
    uint64_t *limit_option = &qp_recorder.options.number[QP_OPT_memory_limit], nonce = 0;
    uint64_t limit = qp_mapping_share(*limit_option, qp_mapping_address_space());
    char path[QP_PATH_MAX];
    qp_mapping *map = &qp_recorder.space.map;
    for (unsigned i = 0; i < 3 && !map->base; i++)
        if (qp_output_live_name(i, output, path, sizeof path))
            qp_mapping_open(map, path, limit);
    if (!map->base && qp_mapping_open(map, NULL, limit) != 0)
        return QPROF_E_MEMORY;
    if (!qp_system_random(&nonce, sizeof nonce))
        nonce = qp_clock_monotonic() * 0x9E3779B97F4A7C15u;
    if (qp_mapping_grow(map, QP_HEAD_BYTES) != QP_GROWN)
        return QPROF_E_MEMORY;
    qp_space_begin(&qp_recorder.space, nonce);
    *limit_option = map->limit_bytes; /* from now on the limit of the run */
    qp_recorder.space.reserve_bytes = map->limit_bytes / RESERVE_SHARE;
    if (map->fd < 0) {
        qp_recorder_head()->flags |= QP_FLAG_NO_FILE;
        qp_count(&qp_recorder.space, QP_D_no_crash_safety);
    }
    return 0;
}

static qp_ref text(const char *words)
{
    return qp_texts_add(&qp_recorder.texts, words);
}

/* Report a memory limit that the address space did not permit. */
static void report_limit(uint64_t wanted)
{
    char all[QP_NUMBER_BYTES], less[QP_NUMBER_BYTES];
    uint64_t n_bytes = qp_recorder.space.map.limit_bytes;
    if (n_bytes >= wanted)
        return;
    qp_count(&qp_recorder.space, QP_D_memory_reduced);
    qp_recorder_log(
        "-memory-limit is %s instead of %s, because address space is limited; what does not "
        "fit is counted",
        qp_unit_size(less, n_bytes), qp_unit_size(all, wanted));
}

static void describe_run(void)
{
    qp_head *h = qp_recorder_head();
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    h->dataset = qp_recorder.n_datasets; /* before the first note */
    apply_head();
    h->program = text(qp_recorder.program);
    h->module = h->program;
    qp_recorder.methods.module = h->program;
    h->host = text(host);
    h->version = text(QPROF_VERSION_TEXT);
    h->pid = (uint64_t)getpid();
    h->pid_start = qp_system_process_start();
    h->started_at = qp_clock_wall();
    h->run_at = qp_names_run_at(h->started_at);
    h->memory_limit = qp_recorder.space.map.limit_bytes;
    h->pointer_bytes = sizeof(void *);
    h->flags |= QP_FLAG_RECORDING | (qp_recorder.is_virtual ? QP_FLAG_VIRTUAL : 0);
}

static int begin_tables(qp_error *error)
{
    qp_recorder.texts = (qp_texts){.space = &qp_recorder.space};
    qp_recorder.vt_root = qp_texts_block(&qp_recorder.texts);
    qp_recorder.event_root = qp_texts_block(&qp_recorder.texts);
    if (!qp_recorder.vt_root || !qp_recorder.event_root ||
        !qp_methods_begin(&qp_recorder.methods, &qp_recorder.space, &qp_recorder.texts) ||
        !qp_sources_begin(&qp_recorder.sources, &qp_recorder.space, &qp_recorder.texts))
        return QPROF_E_MEMORY;
    describe_run();
    int code = qp_pc_begin(error);
    return code ? code : apply_clock(error);
}

static void abandon(void)
{
    char path[sizeof qp_recorder.space.map.path];
    memcpy(path, qp_recorder.space.map.path, sizeof path);
    qp_mapping_close(&qp_recorder.space.map);
    qp_recorder.space.head = &no_head; /* calls that do nothing then may look at it */
    if (path[0])
        unlink(path);
}

/* Begin with the options that are set. @return 0 or QPROF_E_*; then nothing is left */
static int begin_run(const char *output, qp_error *error)
{
    const uint64_t wanted = qp_recorder.options.number[QP_OPT_memory_limit];
    qp_on_note = NULL;
    int code = open_memory(output);
    if (!code)
        code = begin_tables(error);
    if (!code)
        report_limit(wanted);
    if (code) {
        abandon();
        return code;
    }
    qp_threads_begin();
    qp_triggers_changed();
    qp_trace_begin();
    qp_on_note = qp_trace_note_added;
    code = start_traces(error);
    if (code) {
        stop_traces();
        abandon();
        return code;
    }
    code = qp_signals_begin(error);
    if (code) {
        stop_traces();
        abandon();
        return code;
    }
    qp_config_report();
    apply_start();
    begin_spool();
    if (qp_recorder.begins_closed)
        qp_data_gate(0);
    if (qp_recorder.has_config || qp_recorder.options.number[QP_OPT_apply])
        qp_worker_start();
    qp_store(&qp_changes[0], 0);
    qp_store(&qp_changes[1], 0);
    qp_publish(qp_state_word, QP_STATE_RUNNING);
    qp_store(&qp_gate_plain, qp_recorder.is_virtual ? QP_GATE_WRONG_MODE : QP_GATE_OPEN);
    qp_store(&qp_gate_vt, qp_recorder.is_virtual ? QP_GATE_OPEN : QP_GATE_WRONG_MODE);
    return 0;
}

/* Wait until no thread is leaving the previous run, for at most about 20 ms: one that is in the
 * host's callback may be the caller. */
static void wait_for_leavers(void)
{
    for (unsigned tries = 0; tries < QUIET_TRIES && qp_announce(qp_state_word + 1, 0); tries++)
        qp_clock_sleep_until(qp_clock_monotonic() + QUIET_NS);
}

/* Threads may still be in events of the previous run, so its memory goes when the next one has begun. A
 * host may keep pointers to counters for ever: then empty memory takes its place. */
static void retire(const qp_mapping *before, bool has_counters)
{
    if (retired_has_counters)
        qp_mapping_empty(&retired);
    else
        qp_mapping_close(&retired);
    retired = *before;
    retired_has_counters = has_counters;
}

static void tell_refusal(int code, const qp_error *error)
{
    qp_error line;
    qp_error_set(&line, code, "%.400s: nothing is recorded",
                 error->text[0] ? error->text : "no memory, or no threads");
    qp_config_tell(line.text, false);
}

int qp_recorder_begin(const qprof_InitInfo *info, qp_error *error)
{
    char output[QP_PATH_MAX];
    uint32_t expected = QP_STATE_OFF;
    error->text[0] = '\0';
    if (!begin_process())
        return QPROF_E_MEMORY;
    if (!qp_swap_if(qp_state_word, &expected, QP_STATE_CHANGING) &&
        (expected != QP_STATE_CLOSED ||
         !qp_swap_if(qp_state_word, &expected, QP_STATE_CHANGING))) {
        return qp_error_set(error, QPROF_E_STATE, "a run is in progress");
    }
    wait_for_leavers();
    qp_mapping before = qp_recorder.space.map;
    bool has_counters = qp_recorder.has_counters;
    qp_mapping_trim(&before);
    qp_recorder =
        (qp_recorder_data){.space = {.map = {.fd = -1}, .head = &no_head},
                           .epoch = qp_recorder.epoch + 1,
                           .n_datasets = qp_recorder.n_datasets,
                           .had_counters = qp_recorder.has_counters || qp_recorder.had_counters,
                           .callback = info->callback_get_method_info,
                           .is_virtual = info->usingVirtualThreads != 0};
    qp_triggers_begin();
    qp_event_triggers_begin();
    int code = qp_config_begin(info->initial_options, error);
    if (!code) {
        qp_output_begin();
        code = apply_output(output, sizeof output, error);
    }
    if (!code)
        code = begin_run(output, error);
    if (before.base)
        retire(&before, has_counters);
    if (code)
        qp_publish(qp_state_word, QP_STATE_OFF);
    if (code && qp_recorder.epoch == 1) /* once a process */
        tell_refusal(code, error);
    return code;
}

/* ---- end --------------------------------------------------------------------------------- */

/* Wait until no other thread is inside an event, for at most about 20 ms. */
static void wait_for_quiet(void)
{
    for (unsigned tries = 0; tries < QUIET_TRIES; tries++) {
        bool is_quiet = true;
        for (uint32_t i = 0; qp_threads_at(i); i++) {
            const qprof_thread *th = qp_threads_at(i);
            if (th != qp_thread_current() && qp_observe(&th->pulse) && qp_is_busy(th))
                is_quiet = false;
        }
        if (is_quiet)
            return;
        qp_clock_sleep_until(qp_clock_monotonic() + QUIET_NS);
    }
}

/* Those of the calling thread that are open are cut by the end. */
static void end_requests(void)
{
    qprof_thread *th = qp_thread_current();
    if (!QP_PRODUCT_IS_COVERAGE && qp_here.epoch == qp_recorder.epoch && qp_is_open(th) &&
        qp_set_busy(th)) {
        qp_steps_close(th);
        qp_clear_busy(th);
    }
}

/* `qprof run` saves the live file, or reports that it cannot be saved. */
static void tell_loss(const char *path, int why)
{
    qp_error line;
    const char *live = qp_recorder.space.map.path;
    qp_error_set(&line, QPROF_E_IO, "%.200s: cannot be written: %s; the profile %s%.200s", path,
                 qp_file_reason(why, true), *live ? "remains in " : "is lost", live);
    qp_recorder_log("%s", line.text);
    qp_config_tell(line.text, *live != '\0');
}

/* There is no dataset, and nothing says why. */
static void tell_no_area(void)
{
    const char *text = "no profile: no method that was called is in an area";
    if (!qp_recorder.has_entries || qp_recorder.has_saved || qp_recorder.is_child ||
        qp_recorder_head()->clear_count || !qp_triggers_are_used())
        return;
    qp_recorder_log("%s", text);
    qp_config_tell(text, false);
}

/* A cut that cannot be written stays in the live file, from which `qprof push` makes it. */
static int write_last(char *path, size_t n_bytes, qp_error *error)
{
    if (qp_spool_is_on()) {
        if (qp_spool_cut(QP_SEALED, NULL, path))
            return 0;
        if (qp_recorder.space.map.path[0]) {
            qp_error_set(error, QPROF_E_IO, "-spool");
            return QPROF_E_IO;
        }
    }
    int code = qp_output_name(NULL, qp_recorder.n_datasets, path, n_bytes, error);
    return code ? code : qp_save_copy(path, n_bytes, QP_SEALED, NULL);
}

static void remove_live_file(void)
{
    if (qp_recorder.space.map.path[0])
        unlink(qp_recorder.space.map.path);
}

/* @return false: no dataset; path: the live file that remains, or "" */
static bool seal(bool at_exit_handler, char *path, size_t n_bytes)
{
    qp_head *h = qp_recorder_head();
    qp_error error = {0};
    if (at_exit_handler)
        qp_fetch_or(&h->flags, QP_FLAG_AT_EXIT);
    path[0] = '\0';
    if (!qp_spool_is_on() && !qp_save_has_data()) {
        tell_no_area();
        if (qp_recorder.has_entries || qp_recorder.has_saved || qp_recorder.is_child) {
            remove_live_file();
            return false;
        }
        qp_count(&qp_recorder.space, QP_D_no_events);
    }
    int code = write_last(path, n_bytes, &error);
    qp_spool_end(code == 0);
    if (code) { /* the live file remains, as the sealed one */
        qp_count(&qp_recorder.space, QP_D_e_io);
        tell_loss(path[0] ? path : error.text, errno);
        qp_publish(&h->state, QP_SEALED);
        snprintf(path, n_bytes, "%s", qp_recorder.space.map.path);
        return false;
    }
    qp_recorder.n_datasets++;
    remove_live_file();
    return true;
}

void qp_recorder_end(bool at_exit_handler)
{
    char path[QP_PATH_MAX];
    uint32_t expected = QP_STATE_RUNNING;
    if (!qp_state_word)
        return;
    qp_worker_stop();
    if (!qp_control_lock())
        return;
    if (qp_swap_if(qp_state_word, &expected, QP_STATE_CHANGING)) {
        qp_signals_end();
        qp_sampler_stop();
        qp_samples_on(NULL);
        qp_coarse_stop();
        qp_data_sync_here();
        end_requests();
        qp_store(&qp_gate_plain, QP_GATE_CLOSED);
        qp_store(&qp_gate_vt, QP_GATE_CLOSED);
        qp_threads_close();
        wait_for_quiet();
        qp_samples_end();
        qp_triggers_end();
        qp_event_triggers_end();
        qp_clock_calibrate();
        qp_waits_note_open();
        qp_recorder_head()->ended_at = qp_clock_wall(); /* before the files are written */
        qp_publish(&qp_recorder_head()->end_raw, qp_clock_elapsed());
        stop_traces();
        if (qp_recorder.had_counters && !qp_recorder.has_counters && qp_recorder.has_entries)
            qp_host_note(QP_HOST_earlier_counters, NULL, 0, 0, 0);
        qp_saved saved = {path, qp_recorder.n_datasets, qp_load(&qp_recorder_head()->n_threads),
                          false, true};
        saved.is_written = seal(at_exit_handler, path, sizeof path);
        qp_summary_print(path);
        if (path[0])
            qp_after_save(&saved);
        qp_perf_detach(); /* other threads: when they end, or are measured again */
        qp_mapping_detach(&qp_recorder.space.map);
        qp_publish(qp_state_word, QP_STATE_CLOSED);
    }
    qp_control_unlock();
}
