/* trace_xbase.c: settings, start and stop of the .PRF file; trace_xbase_pass.c fills it. Read
 * qp_trace_xbase_start first. */
#include "record/stream/stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/os/file.h"
#include "base/os/thread.h"
#include "base/text/text.h"
#include "record/clock/clock.h"
#include "record/run/run.h"
#include "record/stream/trace_writer.h"
#include "record/stream/trace_xbase.h"

static qp_pri next;                 /* settings that are being made */
static qp_pri kept;                 /* those before a file of them */
static char text[2 * QP_PRI_BYTES]; /* of a file */

#define X qp_trace_xbase

static int refuse(qp_error *error, int code, const char *what, const char *why)
{
    return qp_error_set(error, code, "%.120s: %s", what, why);
}

/* ---- settings ---------------------------------------------------------------------------- */

/* Begin the settings of a run, with the defaults or those of its parent process. */
static void begin_settings(void)
{
    if (X.epoch == qp_recorder.epoch)
        return;
    X.epoch = qp_recorder.epoch;
    if (!X.is_inherited)
        qp_pri_init(&X.settings);
    qp_pool_clear(&X.pool);
    X.filter = (qp_filter){0}; /* its idle blocks were the pool's */
    memset(X.threads, 0, sizeof X.threads);
    X.cursors = 0;
}

static uint32_t mode_of(const qp_pri *p)
{
    return p->number[QP_PRI_OPERATIONMODE];
}

static bool changes_layout(const qp_pri *a, const qp_pri *b)
{
    static const qp_pri_key keys[] = {QP_PRI_HUMANREADABLE, QP_PRI_SYMBOLSIZE, QP_PRI_PARAMLIST,
                                      QP_PRI_TIMELINE, QP_PRI_LINENUMBERS};
    bool changes = (mode_of(a) ^ mode_of(b)) & QP_PRI_PACKETS;
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
        changes |= a->number[keys[i]] != b->number[keys[i]];
    return changes;
}

/* Log unknown bits, once for each mode. */
static void note_unknown_bits(void)
{
    uint32_t unknown = mode_of(&X.settings) & ~(uint32_t)QP_PRI_MODES;
    if (unknown && unknown != X.unknown_bits)
        qp_recorder_log("OPERATIONMODE=%u: unknown bits %u are ignored", mode_of(&X.settings),
                        unknown);
    X.unknown_bits = unknown;
}

/* Put the settings in force from the next entry on. */
static void use_settings(void)
{
    const qp_pri *p = &X.settings;
    const qp_prf_options o = qp_prf_options_of(p);
    X.filter.mode = mode_of(p);
    X.filter.has_builtins = p->number[QP_PRI_BUILTINS];
    X.filter.has_params = o.has_params;
    X.excluded_threads = qp_pri_value(p, QP_PRI_EXCLUDETHREAD);
    X.excluded_symbols = qp_pri_value(p, QP_PRI_EXCLUDESYMBOL);
    bool has_lists = *X.excluded_threads || *X.excluded_symbols;
    X.filter.is_excluded = has_lists ? qp_trace_xbase_excludes : NULL;
    X.prf.options.is_flushed = o.is_flushed;
    X.prf.options.flush_every = o.flush_every;
    qp_trace_xbase_set_on(qp_load(&X.is_on));
}

/* Put `next` in force; what was traced so far uses the settings before. */
static int apply(const char *what, qp_error *error)
{
    if (X.is_open && changes_layout(&X.settings, &next))
        return refuse(error, QPROF_E_STATE, what,
                      "the layout of a trace cannot change while its file is open");
    if (X.is_open)
        qp_trace_drain();
    pthread_mutex_lock(&X.lock);
    X.settings = next;
    use_settings();
    pthread_mutex_unlock(&X.lock);
    if (qp_recorder.space.map.base) /* else the start of the trace logs them */
        note_unknown_bits();
    return 0;
}

const char *qp_trace_xbase_get(const char *key)
{
    qp_pri_key which = qp_pri_find(key, strlen(key));
    begin_settings();
    return which == QP_N_PRI ? NULL : qp_pri_value(&X.settings, which);
}

int qp_trace_xbase_set(const char *key, const char *value, qp_error *error)
{
    qp_pri_key which = qp_pri_find(key, strlen(key));
    if (which == QP_N_PRI)
        return refuse(error, QPROF_E_NOTFOUND, key,
                      "unknown setting (see docs/trace-xbase.md)");
    begin_settings();
    next = X.settings;
    return qp_pri_set(&next, which, value, error) ? apply(qp_pri_name(which), error)
                                                  : QPROF_E_OPTION;
}

/* @return bytes; -1: see *why */
static int64_t read_text(const char *file, const char **why)
{
    uint64_t n_bytes;
    int fd = qp_file_open(file, why);
    if (fd < 0)
        return -1;
    *why = "too long for settings of a trace";
    bool fits = qp_file_is_plain(fd, &n_bytes, why) && n_bytes <= sizeof text;
    size_t n = fits ? qp_file_read_at(fd, text, sizeof text, 0) : 0;
    close(fd);
    return fits ? (int64_t)n : -1;
}

int qp_trace_xbase_load(const char *pri_file, qp_error *error)
{
    const char *why;
    begin_settings();
    int64_t n = read_text(pri_file, &why);
    if (n < 0)
        return refuse(error, QPROF_E_IO, pri_file, why);
    if (qp_pri_read(&next, &X.settings, text, (size_t)n, error))
        return apply(pri_file, error);
    qp_error_locate(error, pri_file);
    return QPROF_E_SYNTAX;
}

int qp_trace_xbase_save(const char *pri_file, qp_error *error)
{
    begin_settings();
    size_t n = qp_pri_write(&X.settings, text, sizeof text);
    qp_signal_hold hold;
    qp_signal_hold_begin(&hold, SIGXFSZ);
    int code = qp_prf_file_write(pri_file, true, text, n);
    qp_signal_hold_end(&hold);
    return code ? refuse(error, QPROF_E_IO, pri_file, strerror(code)) : 0;
}

qp_parse qp_trace_xbase_take_pri(void *unused, const char *file, qp_error *error)
{
    (void)unused;
    return qp_trace_xbase_load(file, error) ? QP_PARSE_VALUE : QP_PARSE_OK;
}

int qp_trace_xbase_on_trace(void *unused, const char *key, const char *value, qp_error *error)
{
    (void)unused;
    return qp_trace_xbase_set(key, value, error);
}

int qp_trace_xbase_on_pri(void *unused, const char *file, qp_error *error)
{
    (void)unused;
    return qp_trace_xbase_load(file, error);
}

void qp_trace_xbase_file_begin(void)
{
    begin_settings();
    kept = X.settings;
}

void qp_trace_xbase_file_end(bool is_kept)
{
    qp_error unused;
    next = kept;
    if (!is_kept)
        apply("", &unused);
}

/* ---- the file ---------------------------------------------------------------------------- */

static qp_dbf_day today(void)
{
    time_t now = (time_t)(qp_clock_wall() / 1000000000u);
    struct tm t = {0};
    localtime_r(&now, &t);
    return (qp_dbf_day){(uint8_t)t.tm_year, (uint8_t)(t.tm_mon + 1), (uint8_t)t.tm_mday};
}

/* Rename the file of a forked child, so that it does not use that of its parent: NAME.PRF
 * becomes NAME.PID.PRF. */
static void keep_apart(char *path, size_t n_bytes)
{
    char ending[16] = "";
    if (!X.is_inherited || strcmp(path, X.prf.path) != 0)
        return;
    char *dot = strrchr(path, '.');
    if (dot && strlen(dot) < sizeof ending && !strchr(dot, '/')) {
        strcpy(ending, dot);
        *dot = '\0';
    }
    size_t n = strlen(path);
    snprintf(path + n, n_bytes - n, ".%ld%s", (long)getpid(), ending);
}

static const qp_trace_consumer consumer = {qp_trace_xbase_pass, qp_trace_xbase_cursor};

static int find_path(const char *prf_file, char *path, size_t n_bytes, qp_error *error)
{
    const char *pattern = prf_file ? prf_file : qp_pri_value(&X.settings, QP_PRI_OUTFILE);
    if (!pattern[0])
        return refuse(error, QPROF_E_OPTION, "OUTFILE", "the trace has no name");
    int code = qp_output_name(pattern, qp_recorder.n_datasets, path, n_bytes, error);
    if (code)
        return code;
    keep_apart(path, n_bytes);
    if (qp_trace_is_stream(path))
        return refuse(error, QPROF_E_OPTION, path,
                      "-trace and -trace-output name the same file");
    return qp_output_check(path, error) ? QPROF_E_IO : 0;
}

/* Log what was wrong with a file that is closed. */
static void report(void)
{
    char shown[160];
    qp_plain(X.prf.path, strlen(X.prf.path), shown, sizeof shown);
    if (!X.prf.error && access(X.prf.path, F_OK) != 0)
        qp_recorder_log("%s: removed while the trace was being written to it", shown);
    if (X.filter.n_cut)
        qp_recorder_log("%s: %llu calls or parameters exceeded the memory of the trace", shown,
                        (unsigned long long)X.filter.n_cut);
}

/* Under the lock. */
static void close_file(void)
{
    bool is_logged = X.prf.error;
    qp_signal_hold hold;
    qp_trace_xbase_set_on(false);
    qp_signal_hold_begin(&hold, SIGXFSZ);
    qp_trace_xbase_end_threads();
    qp_prf_close(&X.prf);
    qp_signal_hold_end(&hold);
    if (X.prf.error && !is_logged)
        qp_trace_xbase_report_error();
    X.is_open = false;
}

static int end_trace(qp_error *error)
{
    qp_trace_demand(NULL);
    pthread_mutex_lock(&X.lock);
    close_file();
    pthread_mutex_unlock(&X.lock);
    report();
    return X.prf.error ? refuse(error, QPROF_E_IO, X.prf.wrong, strerror(X.prf.error)) : 0;
}

int qp_trace_xbase_start(const char *prf_file, qp_error *error)
{
    char path[QP_PATH_MAX];
    begin_settings();
    if (X.is_open)
        return refuse(error, QPROF_E_STATE, X.prf.path, "this trace is still being written");
    int code = find_path(prf_file, path, sizeof path, error);
    if (code)
        return code;
    note_unknown_bits();
    qp_prf_options o = qp_prf_options_of(&X.settings);
    o.day = today();
    qp_signal_hold hold;
    qp_signal_hold_begin(&hold, SIGXFSZ);
    code = qp_prf_open(&X.prf, path, &o);
    qp_signal_hold_end(&hold);
    if (code)
        return refuse(error, QPROF_E_IO, X.prf.wrong, strerror(code));
    pthread_mutex_lock(&X.lock);
    use_settings();
    qp_trace_xbase_skip_rings();
    X.is_open = true;
    X.is_inherited = false;
    pthread_mutex_unlock(&X.lock);
    qp_trace_xbase_set_on(true);
    code = qp_trace_demand(&consumer);
    if (!code)
        return 0;
    end_trace(error);
    return refuse(error, code, path, "no memory for a trace");
}

int qp_trace_xbase_stop(qp_error *error)
{
    return X.is_open
               ? end_trace(error)
               : refuse(error, QPROF_E_STATE, "qprof_trace_stop", "no trace is being made");
}

int qp_trace_xbase_flush(qp_error *error)
{
    if (!X.is_open)
        return refuse(error, QPROF_E_STATE, "qprof_trace_flush", "no trace is being made");
    qp_trace_drain();
    qp_signal_hold hold;
    qp_signal_hold_begin(&hold, SIGXFSZ);
    pthread_mutex_lock(&X.lock);
    bool is_flushed = qp_prf_flush(&X.prf);
    pthread_mutex_unlock(&X.lock);
    qp_signal_hold_end(&hold);
    return is_flushed ? 0 : refuse(error, QPROF_E_IO, X.prf.wrong, strerror(X.prf.error));
}

/* Is -trace this word? It may also be a file. */
static bool is_set(const char *word)
{
    const char *given = qp_option_text(&qp_recorder.options, QP_OPT_trace);
    return qp_option_is(word, given, strlen(given));
}

bool qp_trace_xbase_is_asked_for(void)
{
    return !is_set("no") || X.is_inherited;
}

int qp_trace_xbase_begin(qp_error *error)
{
    char path[QP_PATH_MAX];
    if (X.is_interrupted) {
        X.is_interrupted = false;
        snprintf(path, sizeof path, "%s", X.prf.path);
        return qp_trace_xbase_start(path, error);
    }
    if (!qp_trace_xbase_is_asked_for())
        return 0;
    bool has_name = !is_set("no") && !is_set("yes") && !is_set("");
    return qp_trace_xbase_start(
        has_name ? qp_option_text(&qp_recorder.options, QP_OPT_trace) : NULL, error);
}

void qp_trace_xbase_end(void)
{
    qp_error unused;
    X.is_interrupted = X.is_open && qp_state() == QP_STATE_RUNNING;
    if (X.is_open)
        end_trace(&unused);
}

void qp_trace_xbase_forget(void)
{
    pthread_mutex_init(&X.lock, NULL);
    X.is_inherited = X.is_open;
    if (X.is_open)
        qp_prf_forget(&X.prf);
    X.is_open = X.is_interrupted = false;
    qp_trace_xbase_set_on(false);
}

/* ---- what others ask --------------------------------------------------------------------- */

void qp_trace_xbase_block(qprof_thread *th, const qprof_frame *top, int block)
{
    bool is_traced = (top->flags & QP_FRAME_TRACED) && top->node;
    const qp_method *m =
        is_traced ? qp_at(&qp_recorder.space, qp_node_at(th, top->node)->method) : NULL;
    qp_ref ref = m ? qp_observe(&m->lines) : 0;
    const qp_lines *lines = ref ? qp_at_ref(&qp_recorder.space, ref) : NULL;
    if (lines && block >= 0 && (uint32_t)block < lines->n_lines && lines->lines[block].line > 0)
        qp_trace_note(th, QP_TRACE_LINE, (uint32_t)lines->lines[block].line, 0);
}

bool qp_trace_xbase_is_on(void)
{
    return qp_load(&X.is_on);
}

bool qp_trace_xbase_wants_lines(void)
{
    return qp_load(&X.is_on) && X.settings.number[QP_PRI_LINENUMBERS];
}

unsigned qp_trace_xbase_wants(void)
{
    bool has_calls =
        (mode_of(&X.settings) & QP_PRI_EXTENDED) || X.settings.number[QP_PRI_BUILTINS];
    return (qp_trace_xbase_is_on() && has_calls ? QPROF_WANT_TRACE : 0u) |
           (qp_load(&qp_trace_wants_values) ? QPROF_WANT_PARAMETERS : 0u);
}
