/* session.c: the beginning and the end of a run. Read qp_session_begin first.
 *
 * The state lies in a page that fork wipes: a child, however it was made, finds QP_STATE_OFF
 * there before it could touch the file, which is not mapped in it. */
#include "record/session.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "base/perf.h"
#include "base/plain.h"
#include "base/signal.h"
#include "record/charge.h"
#include "record/config.h"
#include "record/cost.h"
#include "record/data.h"
#include "record/inherit.h"
#include "record/names.h"
#include "record/pc.h"
#include "record/pc_signal.h"
#include "record/rules.h"
#include "record/sampler.h"
#include "record/samples.h"
#include "record/save.h"
#include "record/summary.h"
#include "record/thread.h"
#include "record/trace_writer.h"
#include "record/trace_xbase.h"
#include "record/watch.h"
#include "record/worker.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum { QUIET_TRIES = 200, QUIET_NS = 100000, RESERVE_SHARE = 16 };

qp_session qp_run;
uint32_t qp_gate_plain, qp_gate_vt;

static qp_head no_head;    /* between two runs: whoever still counts finds one */
static uint32_t *state;    /* in the wiped page; NULL: never started */
static qp_mapping retired; /* of the run before: threads may still be leaving it */
static uint64_t (*host_clock)(void);
static pthread_mutex_t control = PTHREAD_MUTEX_INITIALIZER;

qp_state_kind qp_state(void)
{
    return state ? (qp_state_kind)qp_observe(state) : QP_STATE_OFF;
}

void qp_session_set_clock(uint64_t (*now)(void))
{
    host_clock = now;
}

bool qp_control_lock(void)
{
    if (qp_here.in_control)
        return false;
    qp_here.in_control = true; /* before: a signal handler must not wait for its own thread */
    qp_signal_fence();
    pthread_mutex_lock(&control);
    return true;
}

void qp_control_unlock(void)
{
    pthread_mutex_unlock(&control);
    qp_signal_fence();
    qp_here.in_control = false;
}

/* ---- messages ------------------------------------------------------------------------------ */

bool qp_session_note(qp_note_kind kind, const char *text)
{
    qp_ref words = qp_texts_add(&qp_run.texts, text);
    qp_ref ref = words ? qp_blob_take(&qp_run.space, &qp_run.texts.blobs, sizeof(qp_note)) : 0;
    if (!ref)
        return false;
    qp_note *n = qp_at_ref(&qp_run.space, ref);
    *n = (qp_note){.text = words, .kind = (uint32_t)kind, .dataset = qp_run_head()->dataset};
    n->next = qp_load(&qp_run_head()->notes);
    while (!qp_swap_if(&qp_run_head()->notes, &n->next, ref))
        ;
    return true;
}

void qp_session_log(const char *format, ...)
{
    const char *file = qp_option_text(&qp_run.options, QP_OPT_log_file);
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    qp_plain(text, strlen(text), text, sizeof text);
    qp_session_note(QP_NOTE_MESSAGE, text);
    if (strcmp(file, "none") == 0)
        return;
    int fd =
        file[0] ? open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600) : 2;
    qp_signal_hold hold;
    qp_signal_hold_begin(&hold, SIGPIPE);
    if (fd >= 0)
        dprintf(fd, "qprof: %s\n", text);
    qp_signal_hold_end(&hold);
    if (fd > 2)
        close(fd);
}

/* ---- fork and exit ------------------------------------------------------------------------- */

static void before_fork(void)
{
    if (!qp_here.in_control)
        pthread_mutex_lock(&control);
    qp_pc_signal_hold(true);
}

static void after_fork_in_parent(void)
{
    if (!qp_here.in_control)
        pthread_mutex_unlock(&control);
    qp_pc_signal_hold(false);
}

/* The file is not mapped here. A child that follows begins a run of its own, with the words that
 * the parent's run began with, and knows the methods that the parent's knew. */
static void after_fork_in_child(void)
{
    bool was_running = qp_gate_plain == QP_GATE_OPEN || qp_gate_vt == QP_GATE_OPEN;
    if (state) /* wiped already, where the kernel can do that */
        qp_publish(state, QP_STATE_OFF);
    qp_threads_close();
    bool follows = was_running && qp_run.options.number[QP_OPT_follow_child_processes] == 1;
    int parent = follows ? dup(qp_run.space.map.fd) : -1;
    pthread_mutex_init(&control, NULL);
    qp_sampler_forget();
    qp_worker_forget();
    qp_trace_forget();
    qp_pc_signal_hold(false);
    qp_perf_forget();
    qp_here = (qp_carrier)QP_NEW_CARRIER;
    qp_gate_plain = qp_gate_vt = QP_GATE_OFF;
    qp_mapping_forget(&qp_run.space.map);
    qp_mapping_forget(&retired);
    if (!follows)
        return;
    char words[sizeof qp_run.options.pool + QP_PATH_MAX];
    qp_parse_error error;
    size_t n = qp_options_print(&qp_run.options, words, sizeof qp_run.options.pool);
    const char *output = qp_option_text(&qp_run.options, QP_OPT_output);
    if (output[0] && !strstr(output, "%p"))
        snprintf(words + n, sizeof words - n, " '-output=%s.%%p'", output);
    const qprof_InitInfo info = {0, words, qp_run.callback, qp_run.is_virtual};
    if (qp_session_begin(&info, &error) == 0 && parent >= 0)
        qp_inherit_methods(parent);
    if (parent >= 0)
        close(parent);
}

static void at_exit(void)
{
    qp_session_end(true);
}

/* What a process needs once. */
static bool begin_process(void)
{
    static uint32_t *page;
    if (state)
        return true;
    if (!page) {
        page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) {
            page = NULL;
            return false;
        }
        madvise(page, 4096, MADV_WIPEONFORK);
    }
    if (!qp_threads_reserve() ||
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0 ||
        atexit(at_exit) != 0)
        return false;
    qp_publish(&state, page);
    return true;
}

/* ---- beginning ----------------------------------------------------------------------------- */

static void open_gates(void)
{
    qp_store(&qp_gate_plain, qp_run.is_virtual ? QP_GATE_WRONG_MODE : QP_GATE_OPEN);
    qp_store(&qp_gate_vt, qp_run.is_virtual ? QP_GATE_OPEN : QP_GATE_WRONG_MODE);
}

static int open_memory(const char *output)
{
    uint64_t limit = qp_run.options.number[QP_OPT_memory_limit], nonce = 0;
    char path[QP_PATH_MAX];
    qp_mapping *map = &qp_run.space.map;
    for (unsigned i = 0; i < 3 && !map->base; i++)
        if (qp_names_live(i, output, path, sizeof path))
            qp_mapping_open(map, path, limit);
    if (!map->base && qp_mapping_open(map, NULL, limit) != 0)
        return QPROF_E_MEMORY;
    if (getrandom(&nonce, sizeof nonce, GRND_NONBLOCK) != (ssize_t)sizeof nonce)
        nonce = qp_clock_monotonic() * 0x9E3779B97F4A7C15u;
    if (qp_mapping_grow(map, QP_HEAD_CELLS * QP_CELL) != QP_GROWN)
        return QPROF_E_MEMORY;
    qp_space_begin(&qp_run.space, nonce);
    qp_run.space.reserve_bytes = map->limit_bytes / RESERVE_SHARE;
    if (map->fd < 0) {
        qp_run_head()->flags |= QP_FLAG_NO_FILE;
        qp_count(&qp_run.space, QP_D_no_crash_safety);
    }
    return 0;
}

static int begin_clock(qp_parse_error *error)
{
    int code = qp_charge_begin(host_clock, error);
    if (qp_watch_all_calls())
        qp_run.hooks |= QP_HOOK_WATCH;
    return code;
}

static qp_ref text(const char *words)
{
    return qp_texts_add(&qp_run.texts, words);
}

/* What goes into the file. */
static uint32_t collected(void)
{
    const qp_options *o = &qp_run.options;
    uint32_t words = (uint32_t)o->number[QP_OPT_collect], collect = words & 3;
    bool is_stream = o->number[QP_OPT_trace_mode] == QP_TRACE_STREAM ||
                     qp_option_text(o, QP_OPT_trace_output)[0];
    if (!QP_PRODUCT_IS_COVERAGE && (words & 16 || is_stream))
        collect |= QP_COLLECT_TRACE | QP_COLLECT_PROFILE;
    if (qp_trace_xbase_is_asked_for())
        collect |= QP_COLLECT_PROFILE;
    if (!QP_PRODUCT_IS_COVERAGE && (words & 4 || qp_option_text(o, QP_OPT_pc)[0]))
        collect |= QP_COLLECT_SAMPLES;
    if (!QP_PRODUCT_IS_COVERAGE && words & 8)
        collect |= QP_COLLECT_STACK;
    if (o->number[QP_OPT_cover] != UINT64_MAX)
        collect |= QP_COLLECT_COVERAGE;
    return collect | (o->number[QP_OPT_cover] == 1 ? QP_COLLECT_ONCE : 0u);
}

/* What the head says of the options. */
static void describe_options(void)
{
    qp_head *h = qp_run_head();
    char words[4096];
    h->collect = collected();
    qp_options_print(&qp_run.options, words, sizeof words);
    h->options = text(words);
    h->grain = (uint32_t)qp_run.options.number[QP_OPT_collection_granularity];
    h->flags &= ~(uint32_t)QP_FLAG_MIN_MAX;
    h->flags |= qp_run.options.number[QP_OPT_record_min_max] ? QP_FLAG_MIN_MAX : 0;
}

static void describe_run(void)
{
    qp_head *h = qp_run_head();
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    describe_options();
    h->program = text(qp_run.program);
    h->module = h->program;
    qp_run.methods.module = h->program;
    h->host = text(host);
    h->version = text(QPROF_VERSION_TEXT);
    h->pid = (uint64_t)getpid();
    h->pid_start = qp_names_process_start();
    h->started_at = qp_clock_wall();
    h->memory_limit = qp_run.space.map.limit_bytes;
    h->dataset = qp_run.n_datasets;
    h->pointer_bytes = sizeof(void *);
    h->flags |= QP_FLAG_RECORDING | (qp_run.is_virtual ? QP_FLAG_VIRTUAL : 0);
}

uint32_t qp_changes[2];

void qp_session_changed(void)
{
    qp_fetch_add(&qp_changes[0], 1);
}

void qp_session_cleared(void)
{
    qp_fetch_add(&qp_changes[1], 1);
    qp_session_changed();
}

void qp_session_gate(void)
{
    if (qp_run.is_gated)
        return;
    qp_run.is_gated = true;
    qp_session_changed();
}

/* The clocks are chosen: what depends on them. */
static void begin_recording(void)
{
    qp_cost_measure();
    if (!qp_run.options.number[QP_OPT_record_data])
        qp_data_stop();
    qp_sampler_start();
}

/* Where the profile will go. @return 0, QPROF_E_OPTION or QPROF_E_IO */
static int find_output(char *output, size_t n_bytes, qp_parse_error *error)
{
    int code = qp_names_dataset(NULL, qp_run.n_datasets, output, n_bytes, error);
    return !code && qp_names_check_output(output, error) != 0 ? QPROF_E_IO : code;
}

int qp_session_reapply(qp_parse_error *error)
{
    char output[QP_PATH_MAX];
    qp_sampler_stop();
    qp_trace_stop();
    qp_names_begin();
    int code = find_output(output, sizeof output, error);
    describe_options();
    if (!code)
        code = qp_pc_begin(error);
    if (!code)
        code = begin_clock(error);
    if (!code)
        code = qp_trace_start(error);
    if (code)
        return code;
    qp_run.space.map.limit_bytes = qp_run.options.number[QP_OPT_memory_limit];
    qp_run.space.reserve_bytes = qp_run.space.map.limit_bytes / RESERVE_SHARE;
    qp_run_head()->memory_limit = qp_run.space.map.limit_bytes;
    qp_run_head()->program = text(qp_run.program);
    if (qp_run.options.number[QP_OPT_record_data])
        qp_data_start();
    begin_recording();
    qp_threads_reopen();
    return 0;
}

static int begin_tables(qp_parse_error *error)
{
    qp_run.texts = (qp_texts){.space = &qp_run.space};
    qp_run.vt_root = qp_texts_block(&qp_run.texts);
    if (!qp_run.vt_root || !qp_methods_begin(&qp_run.methods, &qp_run.space, &qp_run.texts) ||
        !qp_sources_begin(&qp_run.sources, &qp_run.space, &qp_run.texts))
        return QPROF_E_MEMORY;
    describe_run();
    int code = qp_pc_begin(error);
    return code ? code : begin_clock(error);
}

static void abandon(void)
{
    char path[sizeof qp_run.space.map.path];
    memcpy(path, qp_run.space.map.path, sizeof path);
    qp_mapping_close(&qp_run.space.map);
    if (path[0])
        unlink(path);
}

/* Everything that depends on the options is in place. */
static int begin_run(const char *output, qp_parse_error *error)
{
    int code = open_memory(output);
    if (!code)
        code = begin_tables(error);
    if (code) {
        abandon();
        return code;
    }
    qp_threads_begin();
    qp_rules_changed();
    qp_trace_begin();
    code = qp_trace_start(error);
    if (code) {
        qp_trace_stop();
        abandon();
        return code;
    }
    qp_config_report();
    begin_recording();
    if (qp_run.begins_closed)
        qp_data_gate(0);
    if (qp_run.has_config || qp_run.options.number[QP_OPT_apply])
        qp_worker_start();
    qp_store(&qp_changes[0], 0);
    qp_store(&qp_changes[1], 0);
    qp_publish(state, QP_STATE_RUNNING);
    open_gates();
    return 0;
}

int qp_session_begin(const qprof_InitInfo *info, qp_parse_error *error)
{
    char output[QP_PATH_MAX];
    uint32_t expected = QP_STATE_OFF;
    error->message[0] = '\0';
    if (!begin_process())
        return QPROF_E_MEMORY;
    if (!qp_swap_if(state, &expected, QP_STATE_CHANGING) &&
        (expected != QP_STATE_CLOSED || !qp_swap_if(state, &expected, QP_STATE_CHANGING))) {
        snprintf(error->message, sizeof error->message, "a run is in progress");
        return QPROF_E_STATE;
    }
    qp_mapping before = qp_run.space.map;
    qp_run = (qp_session){.space = {.map = {.fd = -1}, .head = &no_head},
                          .epoch = qp_run.epoch + 1,
                          .n_datasets = qp_run.n_datasets,
                          .callback = info->callback_get_method_info,
                          .is_virtual = info->usingVirtualThreads != 0};
    qp_rules_begin();
    qp_watch_begin();
    int code = qp_config_begin(info->initial_options, error);
    if (!code) {
        qp_names_begin();
        code = find_output(output, sizeof output, error);
    }
    if (!code)
        code = begin_run(output, error);
    if (before.base) { /* pointers into the run before stay harmless for one more */
        qp_mapping_close(&retired);
        retired = before;
    }
    if (code)
        qp_publish(state, QP_STATE_OFF);
    return code;
}

/* ---- end ----------------------------------------------------------------------------------- */

/* Wait until no other thread is inside an event; give up after some 20 ms. */
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

/* What is left to write is nobody's time. */
static void stop_time(void)
{
    qp_run_head()->ended_at = qp_clock_wall();
    qp_publish(&qp_run_head()->end_raw, qp_charge_elapsed());
}

static void seal(bool at_exit_handler, char *path, size_t n_bytes)
{
    qp_head *h = qp_run_head();
    qp_parse_error error = {0, ""};
    h->flags |= at_exit_handler ? QP_FLAG_AT_EXIT : 0;
    path[0] = '\0';
    if (!qp_save_has_data()) {
        if (qp_run.space.map.path[0])
            unlink(qp_run.space.map.path);
        return;
    }
    int code = qp_names_dataset(NULL, qp_run.n_datasets, path, n_bytes, &error);
    if (!code)
        code = qp_save_copy(path, n_bytes, QP_SEALED, NULL);
    if (code) { /* the live file stays, as the sealed one */
        qp_count(&qp_run.space, QP_D_e_io);
        qp_session_log("%s: cannot be written; the profile stays in %s",
                       path[0] ? path : error.message, qp_run.space.map.path);
        qp_publish(&h->state, QP_SEALED);
        snprintf(path, n_bytes, "%s", qp_run.space.map.path);
        return;
    }
    qp_run.n_datasets++;
    if (qp_run.space.map.path[0])
        unlink(qp_run.space.map.path);
}

void qp_session_end(bool at_exit_handler)
{
    char path[QP_PATH_MAX];
    uint32_t expected = QP_STATE_RUNNING;
    if (!state)
        return;
    qp_worker_stop();
    if (!qp_control_lock())
        return;
    if (qp_swap_if(state, &expected, QP_STATE_CHANGING)) {
        qp_sampler_stop();
        qp_data_sync_here();
        qp_store(&qp_gate_plain, QP_GATE_CLOSED);
        qp_store(&qp_gate_vt, QP_GATE_CLOSED);
        qp_threads_close();
        wait_for_quiet();
        qp_samples_end();
        qp_rules_end();
        qp_watch_end();
        qp_charge_calibrate(); /* for the last time */
        stop_time();
        qp_trace_stop();
        seal(at_exit_handler, path, sizeof path);
        qp_summary_print(path);
        if (path[0])
            qp_save_run(qp_option_text(&qp_run.options, QP_OPT_run_at_exit), path);
        qp_perf_detach(); /* other threads: when they end, or are measured again */
        qp_mapping_detach(&qp_run.space.map);
        qp_publish(state, QP_STATE_CLOSED);
    }
    qp_control_unlock();
}
