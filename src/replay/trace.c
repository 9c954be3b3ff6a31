/* trace.c: carriers merged by time. What they hold is unpacked by trace_packets.c, trace_rings.c and
 * trace_prf.c. */
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "replay/trace_parts.h"
#include "replay/unzstd.h"

/* ---- carriers -------------------------------------------------------------------------------- */

uint32_t qp_trace_carrier_add(qp_trace *t)
{
    qp_trace_carrier *c = t->carriers.n < UINT32_MAX ? qp_buf_add(&t->carriers) : NULL;
    if (!c) {
        t->failed = true;
        return UINT32_MAX;
    }
    c->is_waiting = true;
    qp_buf_init(&c->packets, sizeof(qp_packet_place));
    return (uint32_t)t->carriers.n - 1;
}

qp_trace_record *qp_trace_batch(qp_trace *t, qp_trace_carrier *c)
{
    if (!c->batch)
        c->batch = qp_alloc(QP_BATCH_RECORDS + 2, sizeof *c->batch);
    t->failed |= !c->batch;
    return c->batch;
}

static void release(qp_trace_carrier *c)
{
    qp_free(c->batch);
    qp_free(c->payload);
    c->batch = NULL;
    c->payload = NULL;
    c->payload_room = 0;
}

/* ---- the heap -------------------------------------------------------------------------------- */

static uint32_t *heap_of(const qp_trace *t)
{
    return t->heap.items;
}

static bool is_before(const qp_trace *t, uint32_t a, uint32_t b)
{
    uint64_t x = qp_trace_carrier_at(t, a)->next, y = qp_trace_carrier_at(t, b)->next;
    return x < y || (x == y && a < b);
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t kept = *a;
    *a = *b;
    *b = kept;
}

static void sift_down(qp_trace *t)
{
    uint32_t *heap = heap_of(t);
    size_t n = t->heap.n;
    for (size_t at = 0, child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && is_before(t, heap[child + 1], heap[child]);
        if (!is_before(t, heap[child], heap[at]))
            return;
        swap(&heap[child], &heap[at]);
    }
}

void qp_trace_carrier_wake(qp_trace *t, uint32_t index)
{
    qp_trace_carrier *c = qp_trace_carrier_at(t, index);
    uint32_t *item = c->is_waiting ? qp_buf_add(&t->heap) : NULL;
    t->failed |= t->heap.failed;
    if (!item)
        return;
    c->is_waiting = false;
    *item = index;
    uint32_t *heap = heap_of(t);
    for (size_t at = t->heap.n - 1; at && is_before(t, heap[at], heap[(at - 1) / 2]);
         at = (at - 1) / 2)
        swap(&heap[at], &heap[(at - 1) / 2]);
}

static void remove_first(qp_trace *t)
{
    uint32_t *heap = heap_of(t);
    qp_trace_carrier *c = qp_trace_carrier_at(t, heap[0]);
    c->is_waiting = true;
    release(c);
    heap[0] = heap[--t->heap.n];
    sift_down(t);
}

/* When the next carrier behind the first one begins. */
static uint64_t limit_of(const qp_trace *t)
{
    const uint32_t *heap = heap_of(t);
    uint64_t limit = UINT64_MAX;
    for (size_t i = 1; i < 3 && i < t->heap.n; i++) {
        uint64_t next = qp_trace_carrier_at(t, heap[i])->next;
        limit = next < limit ? next : limit;
    }
    return limit;
}

/* ---- records --------------------------------------------------------------------------------- */

static bool fill(qp_trace *t, qp_trace_carrier *c)
{
    c->at = c->n = 0;
    if (t->prf)
        return qp_trace_prf_fill(t, c);
    return (t->fd >= 0 && qp_packets_fill(t, c)) || (c->ring.ring && qp_rings_fill(t, c));
}

/* @return false: it does not say when it was */
static bool ticks_of(const qp_trace_record *r, uint64_t *ticks)
{
    if (!qp_trace_has_ticks(qp_trace_op_of(r)))
        return false;
    *ticks = r->word & QP_TRACE_TICKS;
    return true;
}

/* How many records come before the limit; what belongs to the last of them comes with it. */
static size_t count_until(const qp_trace_carrier *c, uint64_t limit)
{
    size_t i = c->at;
    uint64_t ticks = 0;
    if (limit == UINT64_MAX)
        return c->n - c->at;
    while (i < c->n && (!ticks_of(&c->records[i], &ticks) || ticks <= limit))
        i++;
    return i - c->at;
}

bool qp_trace_next(qp_trace *t, qp_trace_run *run)
{
    while (t->heap.n && !t->failed) {
        uint32_t index = heap_of(t)[0];
        qp_trace_carrier *c = qp_trace_carrier_at(t, index);
        if (c->at == c->n && !fill(t, c)) {
            remove_first(t);
            continue;
        }
        ticks_of(&c->records[c->at], &c->next);
        size_t n = count_until(c, limit_of(t));
        if (n) {
            *run = (qp_trace_run){index, c->records + c->at, n};
            c->at += n;
            if (c->at < c->n)
                ticks_of(&c->records[c->at], &c->next);
        }
        sift_down(t);
        if (n)
            return true;
    }
    return false;
}

bool qp_trace_refresh(qp_trace *t)
{
    bool has_more = false;
    if (t->prf) {
        qp_trace_carrier_wake(t, 0);
        return true;
    }
    if (t->fd >= 0)
        has_more |= qp_packets_index(t);
    if (t->model && t->fd < 0)
        has_more |= qp_rings_refresh(t);
    return has_more || t->info.is_live;
}

/* ---- playing --------------------------------------------------------------------------------- */

/* What is before the window is put in for itself. */
static void put_before(qp_spans *x, qp_trace_run *run, const qp_trace_window *w)
{
    uint64_t ticks = 0;
    size_t n = 0;
    while (n < run->n && (!ticks_of(&run->records[n], &ticks) || ticks < w->from))
        n++;
    if (n)
        qp_spans_put(x, run->carrier, run->records, n);
    run->records += n;
    run->n -= n;
    if (run->n)
        qp_spans_cut(x, w->from);
}

/* @return false: the window has ended */
static bool put_run(qp_spans *x, qp_trace_run *run, const qp_trace_window *w)
{
    uint64_t ticks = 0;
    if (x->is_muted)
        put_before(x, run, w);
    size_t n = run->n;
    if (w->to != UINT64_MAX)
        for (n = 0; n < run->n && (!ticks_of(&run->records[n], &ticks) || ticks < w->to);)
            n++;
    if (n)
        qp_spans_put(x, run->carrier, run->records, n);
    return n == run->n;
}

void qp_trace_spans(qp_trace *t, qp_spans *x, const qp_span_sink *sink)
{
    qp_spans_init(x, &t->names, sink);
    x->is_shared = x->counts_from_call = t->prf != NULL;
}

bool qp_trace_play_on(qp_trace *t, qp_spans *x, const qp_trace_window *window,
                      const qp_progress *progress)
{
    const qp_trace_window whole = {0, UINT64_MAX}, *w = window ? window : &whole;
    qp_trace_run run;
    unsigned shown = 0;
    x->is_muted = w->from > x->counts.last && w->from > t->info.begun_raw;
    while (!x->failed && qp_trace_next(t, &run) && put_run(x, &run, w)) {
        uint64_t all = t->info.n_bytes ? t->info.n_bytes : 1;
        unsigned percent = (unsigned)(100 * (t->position < all ? t->position : all) / all);
        if (percent != shown)
            qp_progress_show(progress, shown = percent);
    }
    return !x->failed && !qp_trace_failed(t);
}

uint64_t qp_trace_missing(const qp_trace *t, const qp_span_counts *counts,
                          const qp_trace_window *window, uint64_t *places)
{
    uint64_t counted = t->losses.n_unheld + t->losses.n_unwritten;
    bool has_end = !window || window->to == UINT64_MAX;
    bool is_behind = has_end && !t->info.is_live && counted > counts->n_lost;
    *places = counts->n_gaps + is_behind;
    return is_behind ? counted : counts->n_lost;
}

uint64_t qp_trace_end_raw(const qp_trace *t, const qp_spans *x, const qp_trace_window *window)
{
    uint64_t end = t->info.end_raw > x->counts.last ? t->info.end_raw : x->counts.last;
    return window && window->to < end ? window->to : end;
}

bool qp_trace_play(qp_trace *t, qp_spans *x, const qp_trace_window *window,
                   const qp_progress *progress)
{
    bool is_played = qp_trace_play_on(t, x, window, progress);
    bool has_end = t->info.end_raw || (window && window->to != UINT64_MAX);
    qp_spans_end(x, has_end ? qp_trace_end_raw(t, x, window) : 0);
    return is_played && !x->failed;
}

/* ---- opening --------------------------------------------------------------------------------- */

static qp_trace *fail(qp_trace *t)
{
    qp_trace_close(t);
    return NULL;
}

static qp_trace *fail_at(qp_trace *t, const char *what, const char *why,
                         char error[QP_ERROR_BYTES])
{
    qp_text_format(error, QP_ERROR_BYTES, "%s: %s", what, why);
    return fail(t);
}

static bool begins_with(const unsigned char *bytes, size_t n, const char *magic, size_t n_magic)
{
    return n >= n_magic && memcmp(bytes, magic, n_magic) == 0;
}

/* @return whether there is a trace; what is wrong otherwise is in `error` */
static bool open_file(qp_trace *t, const char *what, int fd, char error[QP_ERROR_BYTES])
{
    unsigned char bytes[16];
    const char *why;
    size_t n = qp_file_read_at(fd, bytes, sizeof bytes, 0);
    if (begins_with(bytes, n, QP_MAGIC, strlen(QP_MAGIC))) {
        close(fd);
        return qp_rings_open(t, what, error);
    }
    bool is_packed = qp_unzstd_fits(bytes, n);
    if (is_packed) {
        int whole = qp_unzstd(fd, &why);
        close(fd);
        if (whole < 0) {
            qp_text_format(error, QP_ERROR_BYTES, "%s: %s", what, why);
            return false;
        }
        fd = whole;
        n = qp_file_read_at(fd, bytes, sizeof bytes, 0);
    }
    if (begins_with(bytes, n, QP_TRACE_MAGIC, strlen(QP_TRACE_MAGIC)))
        return qp_packets_open(t, fd, error);
    close(fd);
    if (is_packed)
        qp_text_format(error, QP_ERROR_BYTES,
                       "%s: packed by zstd, but no trace: damaged, or cut in its first block",
                       what);
    return !is_packed && qp_trace_prf_open(t, what, error);
}

qp_trace *qp_trace_open(const char *what, char error[QP_ERROR_BYTES])
{
    const char *why;
    qp_trace *t = qp_alloc_zeroed(1, sizeof *t);
    if (!t)
        return fail_at(NULL, what, "not enough memory", error);
    t->fd = t->rings_fd = -1;
    t->info.program = "";
    qp_text_format(t->path, sizeof t->path, "%s", what);
    qp_buf_init(&t->carriers, sizeof(qp_trace_carrier));
    qp_buf_init(&t->heap, sizeof(uint32_t));
    if (!qp_names_init(&t->names, NULL))
        return fail_at(t, what, "not enough memory", error);
    bool is_pid = *what && what[strspn(what, "0123456789")] == '\0' && access(what, F_OK) != 0;
    int fd = is_pid ? -1 : qp_file_open(what, &why);
    if (!is_pid && fd < 0)
        return fail_at(t, what, why, error);
    bool is_open = is_pid ? qp_rings_open(t, what, error) : open_file(t, what, fd, error);
    if (is_open && t->failed)
        return fail_at(t, what, "not enough memory", error);
    return is_open ? t : fail(t);
}

bool qp_trace_join(qp_trace *t, const char *profile, char error[QP_ERROR_BYTES])
{
    if (t->info.kind == QP_TRACE_OF_PACKETS && !t->model)
        return qp_rings_open(t, profile, error);
    qp_text_format(error, QP_ERROR_BYTES,
                   "%s: only to a .qtrace file can the rings of a profile be joined", profile);
    return false;
}

void qp_trace_close(qp_trace *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->carriers.n; i++) {
        release(qp_trace_carrier_at(t, (uint32_t)i));
        qp_free(qp_trace_carrier_at(t, (uint32_t)i)->packets.items);
    }
    qp_free(t->carriers.items);
    qp_free(t->heap.items);
    qp_free(t->scratch);
    qp_dict_fini(&t->by_ring);
    qp_names_fini(&t->names);
    if (t->fd >= 0)
        close(t->fd);
    if (t->rings_fd >= 0)
        close(t->rings_fd);
    qp_trace_prf_close(t);
    qp_model_free(t->model);
    qp_free(t);
}

/* ---- asking ---------------------------------------------------------------------------------- */

const qp_trace_info *qp_trace_about(const qp_trace *t)
{
    return &t->info;
}

const qp_trace_losses *qp_trace_lost(const qp_trace *t)
{
    return &t->losses;
}

qp_names *qp_trace_names(qp_trace *t)
{
    return &t->names;
}

bool qp_trace_failed(const qp_trace *t)
{
    return t->failed || t->names.failed;
}

uint64_t qp_trace_position(const qp_trace *t)
{
    return t->position;
}

static uint64_t scaled(uint64_t value, uint64_t to, uint64_t from)
{
    unsigned __int128 product = (unsigned __int128)value * to + from / 2;
    unsigned __int128 result = product / from;
    return result > UINT64_MAX ? UINT64_MAX : (uint64_t)result;
}

uint64_t qp_trace_ns(const qp_trace_info *info, uint64_t ticks)
{
    return info->n_ticks && info->n_ns ? scaled(ticks, info->n_ns, info->n_ticks) : ticks;
}

uint64_t qp_trace_moment(const qp_trace_info *info, uint64_t raw)
{
    return raw > info->begun_raw ? qp_trace_ns(info, raw - info->begun_raw) : 0;
}

uint64_t qp_trace_raw(const qp_trace_info *info, uint64_t ns)
{
    uint64_t ticks = info->n_ticks && info->n_ns ? scaled(ns, info->n_ticks, info->n_ns) : ns;
    return ticks > UINT64_MAX - info->begun_raw ? UINT64_MAX : info->begun_raw + ticks;
}
