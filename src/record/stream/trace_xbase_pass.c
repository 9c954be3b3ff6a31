/* trace_xbase_pass.c: records of the rings become events of the filter, and these rows of the
 * file. Read qp_trace_xbase_pass first.
 *
 * A virtual thread may move from ring to ring, so the rings are merged by time. That is exact:
 * a later record of a thread was written later, and what was written before the moment `until`
 * is visible before any head is read. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/text/text.h"
#include "format/trace.h"
#include "record/clock/clock.h"
#include "record/ring/ring.h"
#include "record/run/run.h"
#include "record/stream/trace_xbase.h"

enum { NAME_BYTES = 512, VALUE_BYTES = QP_FILTER_BLOCK };

#define X qp_trace_xbase

qp_xbase qp_trace_xbase = {.lock = PTHREAD_MUTEX_INITIALIZER};

void qp_trace_xbase_set_on(bool is_on)
{
    qp_publish(&X.is_on, is_on);
    qp_store(&qp_trace_wants_values, is_on && X.settings.number[QP_PRI_PARAMLIST]);
}

/* ---- threads ----------------------------------------------------------------------------- */

/* @return NULL: no thread, or no memory */
static qp_filter_thread *thread_of(qp_cell cell)
{
    const qp_thread_record *r = qp_at(&qp_recorder.space, cell);
    uint32_t ordinal = cell ? r->ordinal : 0, chunk = ordinal / QP_XBASE_THREADS;
    if (!ordinal || chunk >= QP_XBASE_CHUNKS)
        return NULL;
    if (!X.threads[chunk])
        X.threads[chunk] = qp_pool_take(&X.pool, QP_XBASE_THREADS * sizeof(qp_filter_thread));
    if (!X.threads[chunk])
        return NULL;
    qp_filter_thread *all = qp_pool_at(&X.pool, X.threads[chunk]);
    qp_filter_thread *th = &all[ordinal % QP_XBASE_THREADS];
    th->ordinal = ordinal;
    return th;
}

void qp_trace_xbase_end_threads(void)
{
    for (uint32_t i = 0; i < QP_XBASE_CHUNKS; i++) {
        qp_filter_thread *all = X.threads[i] ? qp_pool_at(&X.pool, X.threads[i]) : NULL;
        for (uint32_t k = 0; all && k < QP_XBASE_THREADS; k++)
            if (all[k].ordinal)
                qp_filter_reset(&X.filter, &all[k]);
    }
}

/* ---- callbacks of the filter ------------------------------------------------------------- */

static const qp_method *method_at(uint32_t cell)
{
    return qp_at(&qp_recorder.space, cell);
}

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
    const qp_method *m = method_at(method);
    if (!m->name && !(qp_load(&m->flags) & QP_METHOD_REGISTERED))
        return (size_t)snprintf(to, NAME_BYTES, "UnnamedFunction%llx",
                                (unsigned long long)m->id);
    size_t n = append(to, 0, m->class_name);
    if (n && n < NAME_BYTES)
        to[n++] = '.';
    return append(to, n, m->name);
}

bool qp_trace_xbase_excludes(void *unused, const qp_filter_thread *th, uint32_t method)
{
    (void)unused;
    char name[NAME_BYTES];
    return qp_pri_list_has_number(X.excluded_threads, th->ordinal) ||
           (*X.excluded_symbols &&
            qp_pri_list_has(X.excluded_symbols, name, name_of(method, name)));
}

static void note_clamped(void)
{
    if (X.prf.is_clamped && !X.has_clamped)
        qp_recorder_log("a number did not fit its column of the trace (at most 99,999 for "
                        "threads, 99,999,999 ms for times): the largest is written");
    X.has_clamped = X.prf.is_clamped;
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
    qp_prf_put(&X.prf, &row);
    note_clamped();
}

static void *take_block(void *unused)
{
    (void)unused;
    uint32_t cell = qp_pool_take(&X.pool, QP_FILTER_BLOCK);
    return cell ? qp_pool_at(&X.pool, cell) : NULL;
}

/* ---- records ----------------------------------------------------------------------------- */

static const qp_trace_record *record_at(const qp_xbase_cursor *c, uint64_t i)
{
    return &c->records[(c->at + i) & c->mask];
}

static uint64_t ticks_of(const qp_trace_record *r)
{
    return r->word & QP_TRACE_TICKS;
}

/* When the next record was written. One that continues a lost record is skipped at once. */
static uint64_t time_of(const qp_xbase_cursor *c)
{
    const qp_trace_record *r = record_at(c, 0);
    return qp_trace_op_of(r) < QP_TRACE_TEXT ? ticks_of(r) : 0;
}

static uint64_t ms_of(const qp_trace_record *r)
{
    int64_t ticks = (int64_t)(ticks_of(r) - (qp_recorder_head()->begun_raw & QP_TRACE_TICKS));
    uint64_t ms = ticks > 0 ? (uint64_t)((double)ticks * X.ms_per_tick) : 0;
    if (ms > X.last_ms)
        X.last_ms = ms;
    return X.last_ms;
}

/* Byte i of the texts after a VALUE. */
static char text_byte(const qp_xbase_cursor *c, uint64_t i)
{
    const qp_trace_record *r = record_at(c, 1 + i / QP_TRACE_TEXT_BYTES);
    unsigned at = (unsigned)(i % QP_TRACE_TEXT_BYTES);
    uint64_t word = at < 7 ? r->word : at < 11 ? r->a : r->b;
    return (char)(word >> (8 * (at < 7 ? at : (at - 7) % 4)));
}

/* Take the value of "type, value, comment". @return false: not all of its texts are there
 * yet */
static bool take_value(const qp_xbase_cursor *c, qp_filter_thread *th, uint64_t n_records)
{
    static char value[VALUE_BYTES];
    const qp_trace_record *r = record_at(c, 0);
    uint64_t i = 0;
    size_t n = 0;
    if (c->at + n_records > c->head)
        return false;
    while (i < r->b && text_byte(c, i++))
        ;
    for (char byte; i < r->b && n < sizeof value && (byte = text_byte(c, i)) != '\0'; i++)
        value[n++] = byte;
    if (th)
        qp_filter_value(&X.filter, th, r->a == 0, value, n);
    return true;
}

static void put_event(qp_filter_thread *th, const qp_trace_record *r, char op, uint32_t method,
                      uint32_t line)
{
    const qp_filter_event e = {op, method, line, ms_of(r)};
    if (th)
        qp_filter_event_put(&X.filter, th, &e);
}

static void end_frames(qp_filter_thread *th, const qp_trace_record *r)
{
    if (r->a == 1)
        put_event(th, r, 'O', 0, 0);
    else if (th)
        qp_filter_unwind(&X.filter, th, r->a & ~QP_TRACE_UNWOUND);
}

static void forget(qp_cell thread)
{
    qp_filter_thread *th = thread_of(thread);
    if (th)
        qp_filter_reset(&X.filter, th);
}

/* The OS thread continues with another thread, perhaps with a new one in the row of an ended
 * one. */
static uint64_t take_switch(qp_xbase_cursor *c)
{
    const qp_trace_record *r = record_at(c, 0);
    bool is_new = c->at + 1 < c->head && qp_trace_op_of(record_at(c, 1)) == QP_TRACE_DATA;
    c->thread = r->a;
    if (is_new)
        forget(r->a);
    return is_new ? 2 : 1;
}

/* Take a record, with those that continue it. @return their number; 0: not all of them are
 * there yet */
static uint64_t take_record(qp_xbase_cursor *c)
{
    const qp_trace_record *r = record_at(c, 0);
    qp_filter_thread *th = thread_of(c->thread);
    uint64_t n = 1;
    switch (qp_trace_op_of(r)) {
    case QP_TRACE_SWITCH:
        return take_switch(c);
    case QP_TRACE_SUSPEND:
        if (r->b)
            forget(r->a);
        c->thread = 0;
        break;
    case QP_TRACE_ENTRY:
        put_event(th, r, 'I', r->b, qp_method_first_line(method_at(r->b)));
        break;
    case QP_TRACE_EXIT:
        end_frames(th, r);
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
            qp_trace_xbase_end_threads();
        else
            forget(c->thread);
        break;
    default:
        break;
    }
    return n;
}

/* ---- rings ------------------------------------------------------------------------------- */

static qp_xbase_cursor *cursor_of(uint32_t ring)
{
    qp_xbase_cursor *all = X.cursors ? qp_pool_at(&X.pool, X.cursors) : NULL;
    return all && ring < QP_XBASE_RINGS ? &all[ring] : NULL;
}

/* Look at what a ring holds now. @return NULL: nothing new */
static qp_xbase_cursor *look_at(uint32_t i, const qp_ring *ring)
{
    qp_xbase_cursor *c = cursor_of(i);
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

/* Take records from the ring that has the oldest one, until another ring has the oldest, and so
 * on. */
static void merge(qp_xbase_cursor *list, uint64_t until)
{
    while (list) {
        qp_xbase_cursor **oldest = &list;
        uint64_t limit = until;
        for (qp_xbase_cursor **c = &list; *c; c = &(*c)->next)
            if (time_of(*c) < time_of(*oldest))
                oldest = c;
        for (const qp_xbase_cursor *c = list; c; c = c->next)
            if (c != *oldest && time_of(c) < limit)
                limit = time_of(c);
        qp_xbase_cursor *c = *oldest;
        uint64_t n = 1;
        while (n && c->at < c->head && time_of(c) <= limit) {
            n = take_record(c);
            c->at += n;
        }
        if (!n || c->at == c->head || time_of(c) > until)
            *oldest = c->next;
    }
}

/* Determine the time per tick, as exactly as it is known by now. */
static void calibrate(void)
{
    const qp_head *h = qp_recorder_head();
    X.ms_per_tick = 1e-6;
    if (h->clock_source != QP_SOURCE_TSC)
        return;
    uint64_t ns = qp_clock_monotonic() - h->ns_0, ticks = qp_clock_tsc() - h->tick_0;
    X.ms_per_tick = ticks ? (double)ns / (double)ticks / 1e6 : 0;
}

void qp_trace_xbase_report_error(void)
{
    char shown[160];
    qp_count(&qp_recorder.space, QP_D_e_io);
    qp_plain(X.prf.wrong, strlen(X.prf.wrong), shown, sizeof shown);
    qp_recorder_log(
        "%s: %s; the trace ends after %llu entries, which can be read (start it again "
        "elsewhere)",
        shown, strerror(X.prf.error), (unsigned long long)X.prf.n_rows);
}

void qp_trace_xbase_pass(uint64_t until)
{
    if (!qp_load(&X.is_on))
        return;
    pthread_mutex_lock(&X.lock);
    qp_xbase_cursor *list = NULL;
    const qp_ring *ring;
    calibrate();
    for (uint32_t i = 0; (ring = qp_trace_ring_at(i)) != NULL; i++) {
        qp_xbase_cursor *c = look_at(i, ring);
        if (c) {
            c->next = list;
            list = c;
        }
    }
    merge(list, until);
    if (X.prf.error) {
        qp_trace_xbase_set_on(false);
        qp_trace_xbase_report_error();
    }
    pthread_mutex_unlock(&X.lock);
}

uint64_t qp_trace_xbase_cursor(uint32_t ring)
{
    const qp_xbase_cursor *c = qp_load(&X.is_on) ? cursor_of(ring) : NULL;
    return c ? c->at : UINT64_MAX;
}

void qp_trace_xbase_skip_rings(void)
{
    const qp_ring *ring;
    if (!X.cursors)
        X.cursors = qp_pool_take(&X.pool, QP_XBASE_RINGS * sizeof(qp_xbase_cursor));
    for (uint32_t i = 0; (ring = qp_trace_ring_at(i)) != NULL; i++) {
        qp_xbase_cursor *c = cursor_of(i);
        if (!c)
            return;
        do { /* until the owner wrote nothing meanwhile */
            c->at = qp_observe(&ring->head);
            c->thread = qp_observe(&ring->thread);
        } while (c->at != qp_observe(&ring->head));
    }
    X.filter.write = write_entry;
    X.filter.take = take_block;
    X.filter.n_cut = 0;
    X.last_ms = 0;
    X.has_clamped = false;
}
