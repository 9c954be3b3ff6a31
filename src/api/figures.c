/* figures.c: the exported functions that name and describe a run, and those of sources and contexts. */
#include <stdio.h>
#include <string.h>

#include "api/guard.h"
#include "record/control/control.h"
#include "record/report/report.h"
#include "record/ring/ring.h"
#include "record/stream/stream.h"
#include "record/tree/tree.h"

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

/* ---- names of the run -------------------------------------------------------------------- */

/* @param here  frame of the exported function. @return 0, or QPROF_E_STATE */
static int begin_names(const char *function, const void *here)
{
    if (qp_guard_is_nested(here) || !qp_control_lock())
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

int qprof_metric_create(const char *name, const char *unit)
{
    int host_errno = errno;
    if (!name || !*name)
        return qp_guard_refuse(QPROF_E_ARG, "qprof_metric_create: no name");
    if (begin_names("qprof_metric_create: inside another call", __builtin_frame_address(0)))
        return QPROF_E_STATE;
    int number = qp_metrics_create(name, unit);
    if (qp_is_running())
        qp_metrics_store();
    qp_control_unlock();
    errno = host_errno;
    return number ? number : qp_guard_refuse(QPROF_E_LIMIT, "qprof_metric_create: too many");
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

enum { N_FIGURES = (int)QP_D_COUNT + (int)N_TERMS };

static const char *figure_name(unsigned i)
{
    return i < QP_D_COUNT ? qp_diagnostic_name((qp_diagnostic)i) : term_names[i - QP_D_COUNT];
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
