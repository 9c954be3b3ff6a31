/* trace_xbase.c: the .PRF file: its settings, start and stop, and how records of the rings become events
 * of the filter, and these rows of the file. Read qp_trace_xbase_start, then pass.
 *
 * A virtual thread may move from ring to ring, so the rings are merged by time. That is exact:
 * a later record of a thread was written later, and what was written before the moment `until`
 * is visible before any head is read. */
#include "record/stream/stream.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/containers/pool.h"
#include "base/os/clock.h"
#include "base/os/file.h"
#include "base/os/thread.h"
#include "base/text/text.h"
#include "format/trace.h"
#include "record/clock/clock.h"
#include "record/ring/ring.h"
#include "record/run/run.h"
#include "record/stream/trace_cursor.h"
#include "record/stream/trace_writer.h"
#include "xbase/xbase.h"

enum {
    RINGS = 4096,
    THREADS = 4096, /* in a chunk */
    CHUNKS = 4096,
    NAME_BYTES = 512,
    VALUE_BYTES = QP_FILTER_BLOCK
};

static struct {
    pthread_mutex_t lock;  /* a pass, or a change of what it uses */
    uint32_t is_on;        /* a file takes entries */
    bool is_open;          /* between start and stop; control lock */
    bool is_inherited;     /* the parent of this process had a trace open */
    bool is_interrupted;   /* closed because options of the run change */
    uint32_t unknown_bits; /* of OPERATIONMODE that were logged */
    uint32_t epoch;        /* of the run that the settings belong to */
    bool has_clamped;      /* it was logged that a number did not fit */
    qp_pri settings;
    qp_pri next;                                     /* settings that are being made */
    qp_pri kept;                                     /* those before a file of them */
    const char *excluded_threads, *excluded_symbols; /* in the settings */
    qp_filter filter;
    qp_prf prf;
    qp_pool pool;             /* of all that follows */
    uint32_t cursors;         /* [RINGS] qp_trace_cursor */
    uint32_t threads[CHUNKS]; /* chunks of qp_filter_thread, by ordinal */
    double ms_per_tick;       /* as of this pass */
    uint64_t last_ms;         /* times do not fall */
} xbase = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void set_on(bool is_on)
{
    qp_publish(&xbase.is_on, is_on);
    qp_store(&qp_trace_wants_values, is_on && xbase.settings.number[QP_PRI_PARAMLIST]);
}

/* @return NULL: no thread, or no memory */
static qp_filter_thread *thread_of(qp_cell cell)
{
    const qp_thread_record *r = qp_at(&qp_recorder.space, cell);
    uint32_t ordinal = cell ? r->ordinal : 0, chunk = ordinal / THREADS;
    if (!ordinal || chunk >= CHUNKS)
        return NULL;
    if (!xbase.threads[chunk])
        xbase.threads[chunk] = qp_pool_take(&xbase.pool, THREADS * sizeof(qp_filter_thread));
    if (!xbase.threads[chunk])
        return NULL;
    qp_filter_thread *all = qp_pool_at(&xbase.pool, xbase.threads[chunk]);
    qp_filter_thread *th = &all[ordinal % THREADS];
    th->ordinal = ordinal;
    return th;
}

static void end_threads(void)
{
    for (uint32_t i = 0; i < CHUNKS; i++) {
        qp_filter_thread *all =
            xbase.threads[i] ? qp_pool_at(&xbase.pool, xbase.threads[i]) : NULL;
        for (uint32_t k = 0; all && k < THREADS; k++)
            if (all[k].ordinal)
                qp_filter_reset(&xbase.filter, &all[k]);
    }
}

/* ---- callbacks of the filter ------------------------------------------------------------- */

static size_t append(char *to, size_t n, qp_ref text)
{
    const char *from = qp_texts_at(&qp_recorder.texts, text);
    while (*from && n < NAME_BYTES)
        to[n++] = *from++;
    return n;
}

/* "class.name", as reports show it. @param to [NAME_BYTES], no NUL. @return bytes */
static size_t name_of(uint32_t method, char *to)
{
    const qp_method *m = qp_at(&qp_recorder.space, method);
    if (!m->name && !(qp_load(&m->flags) & QP_METHOD_REGISTERED))
        return (size_t)snprintf(to, NAME_BYTES, "UnnamedFunction%llx",
                                (unsigned long long)m->id);
    size_t n = append(to, 0, m->class_name);
    if (n && n < NAME_BYTES)
        to[n++] = '.';
    return append(to, n, m->name);
}

static bool is_excluded(void *unused, const qp_filter_thread *th, uint32_t method)
{
    (void)unused;
    char name[NAME_BYTES];
    return qp_pri_list_has_number(xbase.excluded_threads, th->ordinal) ||
           (*xbase.excluded_symbols &&
            qp_pri_list_has(xbase.excluded_symbols, name, name_of(method, name)));
}

static void note_clamped(void)
{
    if (xbase.prf.is_clamped && !xbase.has_clamped)
        qp_recorder_log("a number did not fit its column of the trace (at most 99,999 for "
                        "threads, 99,999,999 ms for times): the largest is written");
    xbase.has_clamped = xbase.prf.is_clamped;
}

static void write_entry(void *unused, const qp_filter_thread *th, const qp_filter_event *e,
                        const char *params, size_t n_bytes)
{
    (void)unused;
    char name[NAME_BYTES];
    const qp_prf_row row = {.thread = th->ordinal,
                            .line = e->line,
                            .time_ms = e->time_ms,
                            .op = e->op,
                            .call = name,
                            .call_bytes = name_of(e->method, name),
                            .params = params,
                            .params_bytes = n_bytes};
    qp_prf_put(&xbase.prf, &row);
    note_clamped();
}

static void *take_block(void *unused)
{
    (void)unused;
    uint32_t cell = qp_pool_take(&xbase.pool, QP_FILTER_BLOCK);
    return cell ? qp_pool_at(&xbase.pool, cell) : NULL;
}

/* ---- records ----------------------------------------------------------------------------- */

static uint64_t ms_of(const qp_trace_record *r)
{
    int64_t ticks = (int64_t)((r->word & QP_TRACE_TICKS) -
                              (qp_recorder_head()->begun_raw & QP_TRACE_TICKS));
    const double half_a_ns = 5e-7; /* a product of whole milliseconds may be a little less */
    uint64_t ms = ticks > 0 ? (uint64_t)((double)ticks * xbase.ms_per_tick + half_a_ns) : 0;
    xbase.last_ms = ms > xbase.last_ms ? ms : xbase.last_ms;
    return xbase.last_ms;
}

/* Take the value of "type, value, comment". @return false: not all of its texts are there
 * yet */
static bool take_value(const qp_trace_cursor *c, qp_filter_thread *th, uint64_t n_records)
{
    static char value[VALUE_BYTES];
    const qp_trace_record *r = qp_trace_cursor_record(c, 0);
    uint64_t i = 0;
    size_t n = 0;
    if (c->at + n_records > c->head)
        return false;
    while (i < r->b && qp_trace_cursor_text(c, i++))
        ;
    for (char byte; i < r->b && n < sizeof value && (byte = qp_trace_cursor_text(c, i)) != '\0';
         i++)
        value[n++] = byte;
    if (th)
        qp_filter_value(&xbase.filter, th, r->a == 0, value, n);
    return true;
}

static void put_event(qp_filter_thread *th, const qp_trace_record *r, char op, uint32_t method,
                      uint32_t line)
{
    const qp_filter_event e = {op, method, line, ms_of(r)};
    if (th)
        qp_filter_event_put(&xbase.filter, th, &e);
}

static void end_frames(qp_filter_thread *th, const qp_trace_record *r)
{
    if (r->a == 1)
        put_event(th, r, 'O', 0, 0);
    else if (th)
        qp_filter_unwind(&xbase.filter, th, r->a & ~QP_TRACE_UNWOUND);
}

/* @param path  on top; 0: unknown */
static void note_path(qp_filter_thread *th, uint32_t path)
{
    if (th)
        th->path = path;
}

static void forget(qp_cell thread)
{
    qp_filter_thread *th = thread_of(thread);
    note_path(th, 0);
    if (th)
        qp_filter_reset(&xbase.filter, th);
}

/* The OS thread continues with another thread, perhaps with a new one in the row of an ended
 * one. */
static uint64_t take_switch(qp_trace_cursor *c)
{
    const qp_trace_record *r = qp_trace_cursor_record(c, 0);
    bool is_new =
        c->at + 1 < c->head && qp_trace_op_of(qp_trace_cursor_record(c, 1)) == QP_TRACE_DATA;
    c->thread = r->a;
    if (is_new)
        forget(r->a);
    note_path(thread_of(r->a), r->b);
    return is_new ? 2 : 1;
}

/* Take a record, with those that continue it. @return their number; 0: not all of them are
 * there yet */
static uint64_t take_record(qp_trace_cursor *c)
{
    const qp_trace_record *r = qp_trace_cursor_record(c, 0);
    qp_filter_thread *th = thread_of(c->thread);
    uint64_t n = 1;
    qp_cell method;
    switch (qp_trace_op_of(r)) {
    case QP_TRACE_SWITCH:
        return take_switch(c);
    case QP_TRACE_SUSPEND:
        if (r->b)
            forget(r->a);
        c->thread = 0;
        break;
    case QP_TRACE_ENTRY:
        note_path(th, r->a);
        method =
            r->b ? r->b : qp_recorder.methods.overflow; /* there was no memory for a record */
        put_event(th, r, 'I', method, qp_method_first_line(qp_at(&qp_recorder.space, method)));
        break;
    case QP_TRACE_EXIT:
        note_path(th, r->b);
        end_frames(th, r);
        break;
    case QP_TRACE_GATE:
        note_path(th, r->b); /* 0 while it is closed */
        break;
    case QP_TRACE_CALL:
        put_event(th, r, 'i', r->a, r->b);
        break;
    case QP_TRACE_RETURN:
        put_event(th, r, 'o', r->a, r->b);
        break;
    case QP_TRACE_LINE:
        if (th)
            qp_filter_line(th, r->a);
        break;
    case QP_TRACE_VALUE:
        n += (r->b + QP_TRACE_TEXT_BYTES - 1) / QP_TRACE_TEXT_BYTES;
        return take_value(c, th, n) ? n : 0;
    case QP_TRACE_LOST: /* threads may have come and gone meanwhile */
        if (qp_recorder.is_virtual)
            end_threads();
        else
            forget(c->thread);
        break;
    default:
        break;
    }
    return n;
}

/* ---- rings ------------------------------------------------------------------------------- */

static qp_trace_cursor *cursor_of(uint32_t ring)
{
    qp_trace_cursor *all = xbase.cursors ? qp_pool_at(&xbase.pool, xbase.cursors) : NULL;
    return all && ring < RINGS ? &all[ring] : NULL;
}

/* Look at what a ring holds now. @return NULL: nothing new */
static qp_trace_cursor *look_at(uint32_t i, const qp_ring *ring)
{
    qp_trace_cursor *c = cursor_of(i);
    if (!c)
        return NULL;
    c->head = qp_observe(&ring->head);
    c->records = qp_trace_ring_records(ring);
    c->mask = ring->n_slots - 1;
    if (c->head - c->at > ring->n_slots) { /* overwritten meanwhile */
        c->at = c->head;
        forget(c->thread);
    }
    return c->at < c->head ? c : NULL;
}

/* Must the next record wait, although it may be the oldest one? The clock of a host may pause or fall.
 * Then one OS thread at a time drives a thread, and continues on the path where the one before stopped. */
static bool waits(const qp_trace_cursor *c, const qp_trace_cursor *list)
{
    const qp_trace_record *r = qp_trace_cursor_record(c, 0);
    if (!qp_trace_clock_may_fall() || !qp_trace_cursor_switches(c))
        return false;
    for (; list; list = list->next)
        if (list != c && list->thread == r->a && !qp_trace_cursor_switches(list))
            return true;
    const qp_thread_record *t = qp_at(&qp_recorder.space, r->a);
    const qp_filter_thread *th = thread_of(r->a);
    return th && (th->path ? th->path : qp_load(&t->root)) != r->b;
}

/* The order of records: their times, and those that wait after all others. */
static uint64_t rank_of(const qp_trace_cursor *c, const qp_trace_cursor *list)
{
    return qp_trace_cursor_time(c) | (uint64_t)waits(c, list) << 60;
}

/* Take records from the ring that has the oldest one, until another ring has the oldest, and so
 * on. */
static void merge(qp_trace_cursor *list, uint64_t until)
{
    while (list) {
        qp_trace_cursor **first = &list;
        uint64_t limit = until;
        for (qp_trace_cursor **c = &list; *c; c = &(*c)->next)
            if (rank_of(*c, list) < rank_of(*first, list))
                first = c;
        qp_trace_cursor *c = *first;
        for (const qp_trace_cursor *other = list; other; other = other->next)
            if (other != c && rank_of(other, list) < limit)
                limit = rank_of(other, list);
        uint64_t n = qp_trace_cursor_time(c) <= until;
        while (n) {
            n = take_record(c);
            c->at += n;
            if (c->at == c->head || rank_of(c, list) > limit)
                break;
        }
        if (!n || c->at == c->head || qp_trace_cursor_time(c) > until)
            *first = c->next;
    }
}

static void log_error(void)
{
    char shown[160];
    qp_count(&qp_recorder.space, QP_D_e_io);
    qp_plain(xbase.prf.wrong, strlen(xbase.prf.wrong), shown, sizeof shown);
    qp_recorder_log(
        "%s: %s; the trace ends after %llu entries, which can be read (start it again "
        "elsewhere)",
        shown, strerror(xbase.prf.error), (unsigned long long)xbase.prf.n_rows);
}

static void pass(uint64_t until)
{
    if (!qp_load(&xbase.is_on))
        return;
    pthread_mutex_lock(&xbase.lock);
    qp_trace_cursor *list = NULL;
    const qp_ring *ring;
    until = qp_trace_newest(until);
    xbase.ms_per_tick = qp_trace_ms_per_tick();
    for (uint32_t i = 0; (ring = qp_trace_ring_at(i)) != NULL; i++) {
        qp_trace_cursor *c = look_at(i, ring);
        if (c) {
            c->next = list;
            list = c;
        }
    }
    merge(list, until);
    if (xbase.prf.error) {
        set_on(false);
        log_error();
    }
    pthread_mutex_unlock(&xbase.lock);
}

static uint64_t next_of(uint32_t ring)
{
    const qp_trace_cursor *c = qp_load(&xbase.is_on) ? cursor_of(ring) : NULL;
    return c ? c->at : UINT64_MAX;
}

static void skip_rings(void)
{
    const qp_ring *ring;
    if (!xbase.cursors)
        xbase.cursors = qp_pool_take(&xbase.pool, RINGS * sizeof(qp_trace_cursor));
    for (uint32_t i = 0; (ring = qp_trace_ring_at(i)) != NULL; i++) {
        qp_trace_cursor *c = cursor_of(i);
        if (!c)
            return;
        do { /* until the owner wrote nothing meanwhile */
            c->at = qp_observe(&ring->head);
            c->thread = qp_observe(&ring->thread);
        } while (c->at != qp_observe(&ring->head));
    }
    xbase.filter.n_cut = 0;
    xbase.last_ms = 0;
    xbase.has_clamped = false;
}

static int refuse(qp_error *error, int code, const char *what, const char *why)
{
    return qp_error_set(error, code, "%.120s: %s", what, why);
}

/* ---- settings ---------------------------------------------------------------------------- */

/* Forget rings and threads. */
static void begin_filter(void)
{
    qp_pool_clear(&xbase.pool);
    xbase.filter = (qp_filter){.write = write_entry, .take = take_block};
    memset(xbase.threads, 0, sizeof xbase.threads);
    xbase.cursors = 0;
}

/* Begin the settings of a run, with the defaults or those of its parent process. */
static void begin_settings(void)
{
    if (xbase.epoch == qp_recorder.epoch)
        return;
    xbase.epoch = qp_recorder.epoch;
    if (!xbase.is_inherited)
        qp_pri_init(&xbase.settings);
    begin_filter();
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
    uint32_t unknown = mode_of(&xbase.settings) & ~(uint32_t)QP_PRI_MODES;
    if (unknown && unknown != xbase.unknown_bits)
        qp_recorder_log("OPERATIONMODE=%u: unknown bits %u are ignored",
                        mode_of(&xbase.settings), unknown);
    xbase.unknown_bits = unknown;
}

/* Put the settings in force from the next entry on. */
static void use_settings(void)
{
    const qp_pri *p = &xbase.settings;
    const qp_prf_options o = qp_prf_options_of(p);
    xbase.filter.mode = mode_of(p);
    xbase.filter.has_builtins = p->number[QP_PRI_BUILTINS];
    xbase.filter.has_params = o.has_params;
    xbase.excluded_threads = qp_pri_value(p, QP_PRI_EXCLUDETHREAD);
    xbase.excluded_symbols = qp_pri_value(p, QP_PRI_EXCLUDESYMBOL);
    bool has_lists = *xbase.excluded_threads || *xbase.excluded_symbols;
    xbase.filter.is_excluded = has_lists ? is_excluded : NULL;
    xbase.prf.options.is_flushed = o.is_flushed;
    xbase.prf.options.flush_every = o.flush_every;
    set_on(qp_load(&xbase.is_on));
}

/* Put `next` in force; what was traced so far uses the settings before. */
static int apply(const char *what, qp_error *error)
{
    if (xbase.is_open && changes_layout(&xbase.settings, &xbase.next))
        return refuse(error, QPROF_E_STATE, what,
                      "the layout of a trace cannot change while its file is open");
    if (xbase.is_open)
        qp_trace_drain();
    pthread_mutex_lock(&xbase.lock);
    xbase.settings = xbase.next;
    use_settings();
    pthread_mutex_unlock(&xbase.lock);
    if (qp_recorder.space.map.base) /* else the start of the trace logs them */
        note_unknown_bits();
    return 0;
}

const char *qp_trace_xbase_get(const char *key)
{
    qp_pri_key which = qp_pri_find(key, strlen(key));
    begin_settings();
    return which == QP_N_PRI ? NULL : qp_pri_value(&xbase.settings, which);
}

int qp_trace_xbase_set(const char *key, const char *value, qp_error *error)
{
    qp_pri_key which = qp_pri_find(key, strlen(key));
    if (which == QP_N_PRI)
        return refuse(error, QPROF_E_NOTFOUND, key,
                      "unknown setting (see docs/trace-xbase.md)");
    begin_settings();
    xbase.next = xbase.settings;
    return qp_pri_set(&xbase.next, which, value, error) ? apply(qp_pri_name(which), error)
                                                        : QPROF_E_OPTION;
}

static char settings_text[2 * QP_PRI_BYTES]; /* of a file */

/* @return bytes; -1: see *why */
static int64_t read_text(const char *file, const char **why)
{
    uint64_t n_bytes;
    int fd = qp_file_open(file, why);
    if (fd < 0)
        return -1;
    *why = "too long for settings of a trace";
    bool fits = qp_file_is_plain(fd, &n_bytes, why) && n_bytes <= sizeof settings_text;
    size_t n = fits ? qp_file_read_at(fd, settings_text, sizeof settings_text, 0) : 0;
    close(fd);
    return fits ? (int64_t)n : -1;
}

int qp_trace_xbase_load(const char *pri_file, qp_error *error)
{
    const char *why;
    qp_error mistake = {0}; /* its line is one of the PRI file, not of what names that */
    begin_settings();
    int64_t n = read_text(pri_file, &why);
    if (n < 0)
        return refuse(error, QPROF_E_IO, pri_file, why);
    if (qp_pri_read(&xbase.next, &xbase.settings, settings_text, (size_t)n, &mistake))
        return apply(pri_file, error);
    qp_error_locate(&mistake, pri_file);
    return qp_error_set(error, QPROF_E_SYNTAX, "%s", mistake.text);
}

int qp_trace_xbase_save(const char *pri_file, qp_error *error)
{
    begin_settings();
    size_t n = qp_pri_write(&xbase.settings, settings_text, sizeof settings_text);
    qp_signal_hold hold;
    qp_signal_hold_begin(&hold, SIGXFSZ);
    int code = qp_prf_file_write(pri_file, true, settings_text, n);
    qp_signal_hold_end(&hold);
    return code ? refuse(error, QPROF_E_IO, pri_file, strerror(code)) : 0;
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
    xbase.kept = xbase.settings;
}

void qp_trace_xbase_file_end(bool is_kept)
{
    qp_error unused;
    xbase.next = xbase.kept;
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
    if (!xbase.is_inherited || strcmp(path, xbase.prf.path) != 0)
        return;
    char *dot = strrchr(path, '.');
    if (dot && strlen(dot) < sizeof ending && !strchr(dot, '/')) {
        strcpy(ending, dot);
        *dot = '\0';
    }
    size_t n = strlen(path);
    snprintf(path + n, n_bytes - n, ".%ld%s", (long)getpid(), ending);
}

static const qp_trace_consumer consumer = {pass, next_of};

static int find_path(const char *prf_file, char *path, size_t n_bytes, qp_error *error)
{
    const char *pattern = prf_file ? prf_file : qp_pri_value(&xbase.settings, QP_PRI_OUTFILE);
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
    qp_plain(xbase.prf.path, strlen(xbase.prf.path), shown, sizeof shown);
    if (!xbase.prf.error && access(xbase.prf.path, F_OK) != 0)
        qp_recorder_log("%s: removed while the trace was being written to it", shown);
    if (xbase.filter.n_cut)
        qp_recorder_log("%s: %llu calls or parameters exceeded the memory of the trace", shown,
                        (unsigned long long)xbase.filter.n_cut);
}

/* Under the lock. */
static void close_file(void)
{
    bool is_logged = xbase.prf.error;
    qp_signal_hold hold;
    set_on(false);
    qp_signal_hold_begin(&hold, SIGXFSZ);
    end_threads();
    qp_prf_close(&xbase.prf);
    qp_signal_hold_end(&hold);
    if (xbase.prf.error && !is_logged)
        log_error();
    xbase.is_open = false;
}

static int end_trace(qp_error *error)
{
    qp_trace_demand(NULL);
    pthread_mutex_lock(&xbase.lock);
    close_file();
    pthread_mutex_unlock(&xbase.lock);
    report();
    return xbase.prf.error
               ? refuse(error, QPROF_E_IO, xbase.prf.wrong, strerror(xbase.prf.error))
               : 0;
}

int qp_trace_xbase_start(const char *prf_file, qp_error *error)
{
    char path[QP_PATH_MAX];
    begin_settings();
    if (xbase.is_open)
        return refuse(error, QPROF_E_STATE, xbase.prf.path,
                      "this trace is still being written");
    int code = find_path(prf_file, path, sizeof path, error);
    if (code)
        return code;
    note_unknown_bits();
    qp_prf_options o = qp_prf_options_of(&xbase.settings);
    o.day = today();
    qp_signal_hold hold;
    qp_signal_hold_begin(&hold, SIGXFSZ);
    code = qp_prf_open(&xbase.prf, path, &o);
    qp_signal_hold_end(&hold);
    if (code)
        return refuse(error, QPROF_E_IO, xbase.prf.wrong, strerror(code));
    pthread_mutex_lock(&xbase.lock);
    use_settings();
    skip_rings();
    xbase.is_open = true;
    xbase.is_inherited = false;
    pthread_mutex_unlock(&xbase.lock);
    set_on(true);
    code = qp_trace_demand(&consumer);
    if (!code)
        return 0;
    end_trace(error);
    return refuse(error, code, path, "no memory for a trace");
}

int qp_trace_xbase_stop(qp_error *error)
{
    return xbase.is_open
               ? end_trace(error)
               : refuse(error, QPROF_E_STATE, "qprof_trace_stop", "no trace is being made");
}

int qp_trace_xbase_flush(qp_error *error)
{
    if (!xbase.is_open)
        return refuse(error, QPROF_E_STATE, "qprof_trace_flush", "no trace is being made");
    qp_trace_drain();
    qp_signal_hold hold;
    qp_signal_hold_begin(&hold, SIGXFSZ);
    pthread_mutex_lock(&xbase.lock);
    bool is_flushed = qp_prf_flush(&xbase.prf);
    pthread_mutex_unlock(&xbase.lock);
    qp_signal_hold_end(&hold);
    return is_flushed ? 0
                      : refuse(error, QPROF_E_IO, xbase.prf.wrong, strerror(xbase.prf.error));
}

/* Is -trace this word? It may also be a file. */
static bool is_set(const char *word)
{
    const char *given = qp_option_text(&qp_recorder.options, QP_OPT_trace);
    return qp_option_is(word, given, strlen(given));
}

bool qp_trace_xbase_is_asked_for(void)
{
    return !is_set("no") || xbase.is_inherited;
}

int qp_trace_xbase_begin(qp_error *error)
{
    char path[QP_PATH_MAX];
    if (xbase.is_interrupted) {
        xbase.is_interrupted = false;
        snprintf(path, sizeof path, "%s", xbase.prf.path);
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
    xbase.is_interrupted = xbase.is_open && qp_state() == QP_STATE_RUNNING;
    if (xbase.is_open)
        end_trace(&unused);
}

void qp_trace_xbase_forget(void)
{
    pthread_mutex_init(&xbase.lock, NULL);
    xbase.is_inherited = xbase.is_open;
    if (xbase.is_open)
        qp_prf_forget(&xbase.prf);
    xbase.is_open = xbase.is_interrupted = false;
    begin_filter();
    set_on(false);
}

/* ---- what others ask --------------------------------------------------------------------- */

void qp_trace_xbase_block(qprof_thread *th, const qprof_frame *top, int block)
{
    uint32_t untraced = QP_FRAME_UNTRACED | QP_FRAME_SKIP | QP_FRAME_EXCLUDED;
    bool is_traced = top->node && !(top->flags & untraced);
    qp_cell method = is_traced ? QPROF_AT(th, const qprof_node, top->node)->method : 0;
    const qp_method *m = method ? qp_at(&qp_recorder.space, method) : NULL;
    qp_ref ref = m ? qp_observe(&m->lines) : 0;
    const qp_lines *lines = ref ? qp_at_ref(&qp_recorder.space, ref) : NULL;
    if (lines && block >= 0 && (uint32_t)block < lines->n_lines && lines->lines[block].line > 0)
        qp_trace_note(th, QP_TRACE_LINE, (uint32_t)lines->lines[block].line, 0);
}

bool qp_trace_xbase_wants_lines(void)
{
    return qp_load(&xbase.is_on) && xbase.settings.number[QP_PRI_LINENUMBERS];
}

unsigned qp_trace_xbase_wants(void)
{
    bool has_calls =
        (mode_of(&xbase.settings) & QP_PRI_EXTENDED) || xbase.settings.number[QP_PRI_BUILTINS];
    return (qp_load(&xbase.is_on) && has_calls ? QPROF_WANT_TRACE : 0u) |
           (qp_load(&qp_trace_wants_values) ? QPROF_WANT_PARAMETERS : 0u);
}
