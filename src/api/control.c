/* control.c: the life of a run, its options and its data, as exported. */
#include <stdio.h>
#include <string.h>

#include "api/door.h"
#include "record/config.h"
#include "record/data.h"
#include "record/rules.h"
#include "record/stack.h"
#include "record/trace.h"
#include "record/trace_xbase.h"
#include "record/watch.h"

static bool is_running(void)
{
    return qp_state() == QP_STATE_RUNNING;
}

/* ---- life ---------------------------------------------------------------------------------- */

/* A callback of an event, or a signal handler that interrupted a control call. @param here  frame
 * of the exported function */
static bool is_nested(const void *here)
{
    return qp_here.in_control || qp_thread_callbacks(here);
}

static int initialize(const qprof_InitInfo *info, const void *here)
{
    qp_parse_error error = {0, ""};
    int host_errno = errno, code;
    if (!info)
        return qp_door_refuse(QPROF_E_ARG, "qprof_initialize_ex: the structure is NULL");
    if (info->version != 0)
        return qp_door_refuse(QPROF_E_VERSION, "qprof_initialize_ex: only version 0 is known");
    if (is_nested(here))
        return qp_door_refuse(QPROF_E_STATE, "qprof_initialize: inside another call");
    qp_control_lock();
    code = qp_session_begin(info, &error);
    qp_control_unlock();
    if (code && !error.message[0])
        snprintf(error.message, sizeof error.message, "qprof_initialize: %s",
                 qprof_strerror(code));
    errno = host_errno;
    return code ? qp_door_refuse(code, error.message) : 0;
}

int qprof_initialize_ex(qprof_InitInfo *info)
{
    return initialize(info, __builtin_frame_address(0));
}

int qprof_initialize(const char *initial_options, void (*callback)(qprof_MethodID))
{
    const qprof_InitInfo info = {0, initial_options, callback, 0};
    return initialize(&info, __builtin_frame_address(0));
}

static void shut_down(bool is_virtual_call, const void *here)
{
    int host_errno = errno;
    if (!is_running()) {
        errno = host_errno;
        return;
    }
    if (is_nested(here)) {
        qp_door_refuse(QPROF_E_STATE, "qprof_shutdown: inside another call");
    } else {
        if (is_virtual_call != qp_run.is_virtual)
            qp_count(&qp_run.space, QP_D_wrong_mode);
        qp_session_end(false);
    }
    errno = host_errno;
}

void qprof_shutdown(void)
{
    shut_down(false, __builtin_frame_address(0));
}

void qprof_shutdown_vt(VthreadID vt)
{
    (void)vt;
    shut_down(true, __builtin_frame_address(0));
}

unsigned qprof_wants(void)
{
    if (!is_running())
        return 0;
    unsigned wants = QPROF_WANT_CALLS;
    uint32_t collect = qp_run_head()->collect;
    bool is_coverage = (collect & ~QP_COLLECT_ONCE) == QP_COLLECT_COVERAGE;
    if (qp_run.is_gated)
        wants |= QPROF_WANT_GATE;
    else if (is_coverage)
        wants |= QPROF_WANT_ALONE;
    wants |= collect & QP_COLLECT_COVERAGE ? QPROF_WANT_COVERAGE : 0;
    wants |= collect & QP_COLLECT_SAMPLES ? QPROF_WANT_SAMPLES : 0;
    wants |= collect & QP_COLLECT_STACK ? QPROF_WANT_SHADOW : 0;
    if (qp_load(&qp_run.hooks) & QPROF_HOOK_STACK)
        return wants | QPROF_WANT_STACK;
    if (qp_run_head()->grain != QP_GRAIN_FUNCTION) {
        wants |= QPROF_WANT_LINES | QPROF_WANT_BLOCKS;
        if (qp_run_head()->time_mode == QP_TIME_EXACT)
            wants |= QPROF_WANT_BLOCK_TIME;
    }
    if (qp_run_head()->clock_kind == QP_CLOCK_COUNTS)
        wants |= QPROF_WANT_COUNTS;
    if (!QP_PRODUCT_IS_COVERAGE && qp_trace_users() && qp_rules_want_values())
        wants |= QPROF_WANT_PARAMETERS;
    return QP_PRODUCT_IS_COVERAGE ? wants : wants | qp_trace_xbase_wants();
}

const uint32_t *qprof_changes(void)
{
    return qp_changes;
}

/* ---- options ------------------------------------------------------------------------------- */

void *qprof_get_option(const char *name)
{
    if (!name || !is_running())
        return NULL;
    qp_option which = qp_option_find(name, strlen(name));
    if (which == QP_N_OPTIONS)
        return NULL;
    qp_option_kind kind = qp_option_table[which].kind;
    if (kind == QP_OPTION_TEXT || kind == QP_OPTION_WORD || kind == QP_OPTION_SET)
        return (void *)(uintptr_t)qp_option_text(&qp_run.options, which);
    return (void *)(uintptr_t)qp_run.options.number[which];
}

static int configure(int (*apply)(const char *, qp_parse_error *), const char *argument)
{
    qp_parse_error error = {0, ""};
    int host_errno = errno, code;
    if (!argument)
        return qp_door_refuse(QPROF_E_ARG, "the configuration is NULL");
    if (!is_running())
        return qp_door_refuse(QPROF_E_STATE, "a configuration needs a run");
    if (!qp_control_lock())
        return qp_door_refuse(QPROF_E_STATE, "inside another call");
    code = apply(argument, &error);
    if (code)
        qp_session_log("%s", error.message);
    qp_control_unlock();
    errno = host_errno;
    return code ? qp_door_refuse(code, error.message) : 0;
}

static int add_file(const char *file, qp_parse_error *error)
{
    return qp_config_file(file, false, error);
}

int qprof_load_config(const char *file)
{
    return configure(add_file, file);
}

int qprof_config_line(const char *text)
{
    return configure(qp_config_words, text);
}

void qprof_set_clock(uint64_t (*now)(void))
{
    if (is_running())
        qp_door_refuse(QPROF_E_STATE, "qprof_set_clock: before qprof_initialize");
    else
        qp_session_set_clock(now);
}

/* ---- data ---------------------------------------------------------------------------------- */

int qprof_is_running(void)
{
    return is_running();
}

int qprof_is_recording(void)
{
    return is_running() && qp_data_is_recording();
}

/* Under the lock, with errno kept. */
static int with_data(bool (*change)(const char *, const char *), const char *a, const char *b)
{
    int host_errno = errno, result = 0;
    if (!is_running()) {
        qp_door_refuse(QPROF_E_STATE, "not running");
    } else if (!qp_control_lock()) {
        qp_door_refuse(QPROF_E_STATE, "inside another call");
    } else {
        result = is_running() && change(a, b);
        qp_control_unlock();
        qp_watch_settle();
    }
    errno = host_errno;
    return result;
}

static bool start(const char *a, const char *b)
{
    (void)a, (void)b;
    return qp_data_start();
}

static bool stop(const char *a, const char *b)
{
    (void)a, (void)b;
    return qp_data_stop();
}

static bool disable(const char *a, const char *b)
{
    (void)a, (void)b;
    qp_data_disable();
    return true;
}

static bool clear(const char *a, const char *b)
{
    (void)a, (void)b;
    qp_data_clear();
    return true;
}

static bool new_phase(const char *label, const char *unused)
{
    (void)unused;
    bool is_written = qp_data_save(NULL, label);
    if (is_written)
        qp_data_clear();
    return is_written;
}

static bool annotate(const char *text, const char *unused)
{
    (void)unused;
    return qp_session_note(QP_NOTE_ANNOTATION, text);
}

int qprof_start_recording(void)
{
    return with_data(start, NULL, NULL);
}

int qprof_stop_recording(void)
{
    return with_data(stop, NULL, NULL);
}

int qprof_disable_recording(void)
{
    return with_data(disable, NULL, NULL);
}

int qprof_clear_data(void)
{
    return with_data(clear, NULL, NULL);
}

int qprof_save_data(void)
{
    return with_data(qp_data_save, NULL, NULL);
}

int qprof_save_data_to_file(const char *name)
{
    if (name && name[0])
        return with_data(qp_data_save, name, NULL);
    qp_door_refuse(QPROF_E_ARG, "qprof_save_data_to_file: no name");
    return 0;
}

int qprof_new_phase(const char *label)
{
    return QP_PRODUCT_IS_COVERAGE ? 0 : with_data(new_phase, label, NULL);
}

int qprof_add_annotation(const char *text)
{
    if (!text || !is_running())
        return 0;
    if (text[0] && !with_data(annotate, text, NULL))
        return 0;
    size_t n = strlen(text);
    return n > INT32_MAX ? INT32_MAX : (int)n;
}

/* ---- diagnostics --------------------------------------------------------------------------- */

typedef enum { UNWOUND, DESTROYED_LIVE, STILL_LIVE, DROPPED, N_TERMS } term;

static const char *const term_names[N_TERMS] = {
#define QP_X(name, text) #name,
    QP_IDENTITY_TERMS(QP_X)
#undef QP_X
};

static bool has_figures(void)
{
    return qp_state() == QP_STATE_RUNNING || qp_state() == QP_STATE_CLOSED;
}

static uint64_t frames_of(const qprof_thread *th, const qp_thread_record *r)
{
    const qp_extent *e = r->chunk ? QPROF_CELL(th, qp_extent, r->chunk) : NULL;
    return e ? e->base_depth + ((qp_load(&r->top) & ~QP_TOP_BUSY) - r->chunk - 1) + r->n_deep
             : 0;
}

static uint64_t sum_term(term which)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; qp_threads_at(i); i++) {
        if (!qp_observe(&qp_threads_at(i)->pulse))
            continue;
        const qp_thread_record *r = qp_record_of(qp_threads_at(i));
        const uint64_t terms[N_TERMS] = {qp_load(&r->n_unwound), qp_load(&r->n_destroyed_live),
                                         frames_of(qp_threads_at(i), r),
                                         qp_load(&r->n_dropped)};
        sum += terms[which];
    }
    return sum;
}

uint64_t qprof_diagnostic(const char *name)
{
    if (!name || !has_figures())
        return 0;
    for (unsigned i = 0; i < QP_D_COUNT; i++)
        if (strcmp(name, qp_diagnostic_names[i]) == 0)
            return qp_load(&qp_run_head()->diagnostics[i]);
    for (unsigned i = 0; i < N_TERMS; i++)
        if (strcmp(name, term_names[i]) == 0)
            return sum_term((term)i);
    return 0;
}

size_t qprof_diagnostics(qprof_Diagnostic *out, size_t n_max)
{
    size_t n = 0;
    if (!has_figures())
        return 0;
    for (unsigned i = 0; i < QP_D_COUNT + N_TERMS; i++) {
        bool is_term = i >= QP_D_COUNT;
        uint64_t count = is_term ? sum_term((term)(i - QP_D_COUNT))
                                 : qp_load(&qp_run_head()->diagnostics[i]);
        if (count && n < n_max && out)
            out[n] = (qprof_Diagnostic){
                is_term ? term_names[i - QP_D_COUNT] : qp_diagnostic_names[i], count};
        n += count != 0;
    }
    return n;
}

const char *qprof_strerror(int code)
{
    static const char *const texts[] = {
        "no error",           "bad argument",       "unsupported version", "not possible now",
        "bad option value",   "out of memory",      "file error",          "syntax error",
        "not available here", "unknown id or name", "a maximum is reached"};
    unsigned index = 0u - (unsigned)code;
    return index < sizeof texts / sizeof *texts ? texts[index] : "unknown error";
}

const char *qprof_version(void)
{
    return QPROF_VERSION_TEXT;
}

const char *qprof_live_file(void)
{
    return is_running() ? qp_run.space.map.path : "";
}
