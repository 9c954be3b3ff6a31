/* control.c: the exported functions that begin, end, configure, save and diagnose a run. */
#include <stdio.h>
#include <string.h>

#include "api/guard.h"
#include "record/control/control.h"
#include "record/report/report.h"
#include "record/ring/ring.h"
#include "record/stream/stream.h"
#include "record/tree/tree.h"
#include "record/trigger/trigger.h"

/* ---- begin and end ----------------------------------------------------------------------- */

/* Whether a callback of an event, or a signal handler that interrupted a control function,
 * calls. @param here frame of the exported function */
static bool is_nested(const void *here)
{
    return qp_here.in_control || qp_thread_callbacks(here);
}

static int initialize(const qprof_InitInfo *info, const void *here)
{
    qp_error error = {0};
    int host_errno = errno, code;
    if (!info)
        return qp_guard_refuse(QPROF_E_ARG, "qprof_initialize_ex: the structure is NULL");
    if (info->version != 0)
        return qp_guard_refuse(QPROF_E_VERSION, "qprof_initialize_ex: only version 0 is known");
    if (is_nested(here))
        return qp_guard_refuse(QPROF_E_STATE, "qprof_initialize: inside another call");
    qp_control_lock();
    code = qp_recorder_begin(info, &error);
    qp_control_unlock();
    if (code && !error.text[0])
        qp_error_fail(&error, "qprof_initialize: %s", qprof_strerror(code));
    errno = host_errno;
    return code ? qp_guard_refuse(code, error.text) : 0;
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
    if (!qp_is_running())
        return;
    if (is_nested(here)) {
        qp_guard_refuse(QPROF_E_STATE, "qprof_shutdown: inside another call");
    } else {
        if (is_virtual_call != qp_recorder.is_virtual && !qp_recorder.is_embedded)
            qp_count(&qp_recorder.space, QP_D_wrong_mode);
        qp_recorder_end(false);
    }
    errno = host_errno;
}

void qprof_shutdown(void)
{
    shut_down(false, __builtin_frame_address(0));
}

void qprof_shutdown_vt(QP_UNUSED VthreadID vt)
{
    shut_down(true, __builtin_frame_address(0));
}

unsigned qprof_wants(void)
{
    if (!qp_is_running())
        return 0;
    unsigned wants = QPROF_WANT_CALLS;
    uint32_t collect = qp_recorder_head()->collect;
    bool is_coverage = (collect & ~QP_COLLECT_ONCE) == QP_COLLECT_COVERAGE;
    if (qp_recorder.is_gated)
        wants |= QPROF_WANT_GATE;
    else if (is_coverage)
        wants |= QPROF_WANT_ALONE;
    wants |= collect & QP_COLLECT_COVERAGE ? QPROF_WANT_COVERAGE : 0;
    wants |= collect & QP_COLLECT_SAMPLES ? QPROF_WANT_SAMPLES : 0;
    wants |= collect & QP_COLLECT_STACK ? QPROF_WANT_SHADOW : 0;
    wants |= collect & QP_COLLECT_MEMORY ? QPROF_WANT_MEMORY : 0;
    if (qp_load(&qp_recorder.hooks) & QPROF_HOOK_STACK)
        return wants | QPROF_WANT_STACK;
    if (qp_recorder_head()->grain != QP_GRAIN_FUNCTION) {
        wants |= QPROF_WANT_LINES | QPROF_WANT_BLOCKS;
        if (qp_recorder_head()->time_mode == QP_TIME_EXACT)
            wants |= QPROF_WANT_BLOCK_TIME;
        wants |= qp_recorder_head()->sample_period ? QPROF_WANT_SAMPLE_BLOCKS : 0;
    }
    if (qp_recorder_head()->clock_kind == QP_CLOCK_COUNTS)
        wants |= QPROF_WANT_COUNTS;
    if (!QP_PRODUCT_IS_COVERAGE && qp_trace_users() && qp_load(&qp_triggers.want_values))
        wants |= QPROF_WANT_PARAMETERS;
    return QP_PRODUCT_IS_COVERAGE ? wants : wants | qp_trace_xbase_wants();
}

const uint32_t *qprof_changes(void)
{
    return qp_changes;
}

/* ---- options ----------------------------------------------------------------------------- */

void *qprof_get_option(const char *name)
{
    if (!name || !qp_is_running())
        return NULL;
    qp_option which = qp_option_find(name, strlen(name));
    if (which == QP_N_OPTIONS)
        return NULL;
    qp_option_kind kind = (qp_option_kind)qp_option_table[which].kind;
    if (kind == QP_OPTION_TEXT || kind == QP_OPTION_WORD || kind == QP_OPTION_SET)
        return (void *)(uintptr_t)qp_option_text(&qp_recorder.options, which);
    return (void *)(uintptr_t)qp_recorder.options.number[which];
}

/* What follows every configuration. @return code */
static int configured(int code, const qp_error *error)
{
    if (qp_event_triggers.has_deferred)
        qp_worker_start();
    if (code)
        qp_recorder_log("%s", error->text);
    return code;
}

static int add_file(const char *file, qp_error *error)
{
    return configured(qp_config_file(file, false, error), error);
}

static int add_line(const char *text, qp_error *error)
{
    return configured(qp_config_words(text, error), error);
}

int qprof_load_config(const char *file)
{
    return file ? qp_guard_control("qprof_load_config", add_file, file)
                : qp_guard_refuse(QPROF_E_ARG, "qprof_load_config: no file");
}

int qprof_config_line(const char *text)
{
    return text ? qp_guard_control("qprof_config_line", add_line, text)
                : qp_guard_refuse(QPROF_E_ARG, "qprof_config_line: no text");
}

void qprof_set_clock(uint64_t (*now)(void))
{
    if (qp_is_running())
        qp_guard_refuse(QPROF_E_STATE, "qprof_set_clock: before qprof_initialize");
    else
        qp_recorder_set_clock(now);
}

/* ---- data -------------------------------------------------------------------------------- */

int qprof_is_running(void)
{
    return qp_is_running();
}

int qprof_is_recording(void)
{
    return qp_is_running() && (qp_load(&qp_recorder_head()->flags) & QP_FLAG_RECORDING);
}

/* @return 1: it was done; 0: not, or it is not possible now */
static int change(const char *function, qp_data_change_kind kind, const char *file,
                  const char *label)
{
    if (qp_guard_begin(function))
        return 0;
    bool is_done = qp_data_change(kind, file, label);
    qp_guard_end(0, "");
    int host_errno = errno;
    qp_event_triggers_settle();
    errno = host_errno;
    return is_done;
}

int qprof_start_recording(void)
{
    return change("qprof_start_recording", QP_DATA_START, NULL, NULL);
}

int qprof_stop_recording(void)
{
    return change("qprof_stop_recording", QP_DATA_STOP, NULL, NULL);
}

int qprof_disable_recording(void)
{
    return change("qprof_disable_recording", QP_DATA_DISABLE, NULL, NULL);
}

int qprof_clear_data(void)
{
    return change("qprof_clear_data", QP_DATA_CLEAR, NULL, NULL);
}

int qprof_save_data(void)
{
    return change("qprof_save_data", QP_DATA_SAVE, NULL, NULL);
}

int qprof_save_data_to_file(const char *name)
{
    if (name && name[0])
        return change("qprof_save_data_to_file", QP_DATA_SAVE, name, NULL);
    qp_guard_refuse(QPROF_E_ARG, "qprof_save_data_to_file: no name");
    return 0;
}

int qprof_new_phase(const char *label)
{
    return QP_PRODUCT_IS_COVERAGE ? 0
                                  : change("qprof_new_phase", QP_DATA_NEW_PHASE, NULL, label);
}

int qprof_add_annotation(const char *text)
{
    if (!text || !qp_is_running())
        return 0;
    if (text[0] && !change("qprof_add_annotation", QP_DATA_ANNOTATE, NULL, text))
        return 0;
    size_t n = strlen(text);
    return n > INT32_MAX ? INT32_MAX : (int)n;
}

/* ---- names of the run -------------------------------------------------------------------- */

/* @param here  frame of the exported function. @return 0, or QPROF_E_STATE */
static int begin_names(const char *function, const void *here)
{
    if (is_nested(here) || !qp_control_lock())
        return qp_guard_refuse(QPROF_E_STATE, function);
    return 0;
}

static int end_names(int host_errno)
{
    if (qp_is_running()) {
        qp_names_begin();
        qp_names_store();
    }
    qp_control_unlock();
    errno = host_errno;
    return 0;
}

int qprof_set_program(const char *script, int n_arguments, const char *const *arguments,
                      const char *host)
{
    int host_errno = errno;
    if (n_arguments < 0 || (n_arguments && !arguments))
        return qp_guard_refuse(QPROF_E_ARG, "qprof_set_program: no arguments");
    if (begin_names("qprof_set_program: inside another call", __builtin_frame_address(0)))
        return QPROF_E_STATE;
    qp_names_set(script, n_arguments, arguments, host);
    return end_names(host_errno);
}

int qprof_set_labels(const char *labels)
{
    int host_errno = errno;
    if (begin_names("qprof_set_labels: inside another call", __builtin_frame_address(0)))
        return QPROF_E_STATE;
    qp_names_set_labels(labels);
    return end_names(host_errno);
}

/* ---- diagnostics ------------------------------------------------------------------------- */

typedef enum { UNWOUND, DESTROYED_LIVE, STILL_LIVE, DROPPED, N_TERMS } term;

static const char term_names[N_TERMS][16] = {
#define QP_X(name, text) #name,
    QP_IDENTITY_TERMS(QP_X)
#undef QP_X
};

static bool has_figures(void)
{
    return qp_is_running() || qp_state() == QP_STATE_CLOSED;
}

static uint64_t frames_of(const qprof_thread *th, const qp_thread_record *r)
{
    uint64_t top = qp_load(&r->top) & ~QP_TOP_BUSY, n = 0;
    const qp_extent *e = r->chunk ? QPROF_CELL(th, qp_extent, r->chunk) : NULL;
    if (!(top & QP_TOP_TOKEN))
        return e ? e->base_depth + ((top >> 6) - r->chunk - 1) + r->n_deep : 0;
    for (qp_cell at = (qp_cell)(top >> 6); at != r->root; at = qp_node_at(th, at)->parent)
        n++;
    return n;
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

enum { N_FIGURES = QP_D_COUNT + N_TERMS };

static const char *figure_name(unsigned i)
{
    return i < QP_D_COUNT ? qp_diagnostic_names[i] : term_names[i - QP_D_COUNT];
}

static uint64_t figure(unsigned i)
{
    return i < QP_D_COUNT ? qp_load(&qp_recorder_head()->diagnostics[i])
                          : sum_term((term)(i - QP_D_COUNT));
}

uint64_t qprof_diagnostic(const char *name)
{
    for (unsigned i = 0; name && has_figures() && i < N_FIGURES; i++)
        if (strcmp(name, figure_name(i)) == 0)
            return figure(i);
    return 0;
}

size_t qprof_diagnostics(qprof_Diagnostic *out, size_t n_max)
{
    size_t n = 0;
    for (unsigned i = 0; has_figures() && i < N_FIGURES; i++) {
        uint64_t count = figure(i);
        if (count && n < n_max && out)
            out[n] = (qprof_Diagnostic){figure_name(i), count};
        n += count != 0;
    }
    return n;
}

const char *qprof_strerror(int code)
{
    static const char texts[][22] = {
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
    return qp_is_running() ? qp_recorder.space.map.path : "";
}

/* ---- coverage ---------------------------------------------------------------------------- */

int qprof_context(const char *name)
{
    QP_TRY(qp_guard_begin("qprof_context"));
    return qp_guard_end(qp_contexts_switch(name) ? 0 : QPROF_E_MEMORY,
                        "qprof_context: out of memory");
}

int qprof_register_source(const char *file, const void *text, size_t n_bytes)
{
    if (!file || !file[0] || (n_bytes && !text))
        return qp_guard_refuse(QPROF_E_ARG, "qprof_register_source: no file name, or no text");
    QP_TRY(qp_guard_begin("qprof_register_source"));
    bool is_added = qp_sources_add(&qp_recorder.sources, file, text, n_bytes);
    return qp_guard_end(is_added ? 0 : QPROF_E_MEMORY, "qprof_register_source: out of memory");
}

int qprof_set_source_map(const char *file, const char *map, size_t n_bytes)
{
    if (!file || !file[0] || !map)
        return qp_guard_refuse(QPROF_E_ARG, "qprof_set_source_map: no file name, or no map");
    QP_TRY(qp_guard_begin("qprof_set_source_map"));
    switch (qp_source_map_add(&qp_recorder.sources, file, map, n_bytes)) {
    case QP_SOURCE_MAP_SET:
        return qp_guard_end(0, "");
    case QP_SOURCE_MAP_BAD:
        return qp_guard_end(QPROF_E_SYNTAX,
                            "qprof_set_source_map: not a source map of version 3");
    default:
        return qp_guard_end(QPROF_E_MEMORY, "qprof_set_source_map: out of memory");
    }
}

const char *qprof_environment(void)
{
    return QP_PRODUCT_ENVIRONMENT;
}

#if QP_PRODUCT_IS_COVERAGE
/* Not from cprof.h: here its names are those of qprof.h, renamed. */
QPROF_FN(int) cprof_live_summary(FILE *file);

int cprof_live_summary(FILE *file)
{
    int host_errno = errno;
    int fd = file && fflush(file) == 0 ? fileno(file) : -1;
    errno = host_errno;
    if (fd < 0)
        return qp_guard_refuse(QPROF_E_ARG, "cprof_live_summary: no stream, or not of a file");
    QP_TRY(qp_guard_begin("cprof_live_summary"));
    qp_live_summary_print(fd);
    return qp_guard_end(0, "");
}
#endif
