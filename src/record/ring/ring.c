/* ring.c: all records but the usual entry and exit, which trace_fast.h makes. Read
 * room_for first. */
#include "record/ring/ring.h"

#include <string.h>

#include "base/atomic.h"
#include "base/os/clock.h"
#include "format/trace.h"
#include "record/clock/clock.h"
#include "record/ring/rings.h"
#include "record/ring/trace_fast.h"
#include "record/tree/tree.h"

enum {
    RETRY_LOSSES = 4096,   /* between two attempts to get the first ring ... */
    CHANGE_LOSSES = 64,    /* ... or another one */
    WAIT_STEP_NS = 100000, /* the writer looks every ms */
    TYPE_MAX = 64,         /* bytes of the texts of a value, their NUL included */
    VALUE_MAX = 1536,
    COMMENT_MAX = 256
};

/* Put a record other than the usual entry or exit. It may come late: its ticks are raised to
 * those of the record before. */
static __attribute__((noinline)) void put(const qp_trace_lane *lane, qp_trace_op op,
                                          uint64_t ticks, uint32_t a, uint32_t b)
{
    uint64_t head = qp_load(&lane->ring->head);
    const qp_trace_record *last = &qp_trace_ring_records(lane->ring)[(head - 1) & lane->mask];
    bool is_timed = qp_trace_has_ticks(op);
    if (is_timed && lane->held_at)
        ticks = lane->held_at;
    if (is_timed && ticks < lane->after)
        ticks = lane->after;
    if (is_timed && head && qp_trace_has_ticks(qp_trace_op_of(last)) &&
        ticks < (last->word & QP_TRACE_TICKS))
        ticks = last->word & QP_TRACE_TICKS;
    qp_trace_put(lane, op, ticks, a, b);
}

/* ---- the lane and its ring --------------------------------------------------------------- */

static void use_ring(qp_trace_lane *lane, qp_ring *ring)
{
    qp_store(&ring->os_thread, qp_here.ordinal);
    qp_store(&ring->system_id, qp_here.system_id);
    lane->mask = ring->n_slots - 1;
    lane->limit = qp_load(&ring->head);
    qp_store(&lane->ring, ring);
}

static bool has_ring(qp_trace_lane *lane)
{
    if (QP_LIKELY(lane->ring != NULL))
        return true;
    if (qp_load(&lane->n_lost) % RETRY_LOSSES)
        return false;
    qp_ring *ring = qp_rings_take();
    if (ring)
        use_ring(lane, ring);
    return ring;
}

/* @return the ticks of a ring's last record that has some */
static uint64_t last_ticks(const qp_ring *ring)
{
    uint64_t head = qp_load(&ring->head);
    for (uint64_t i = head; i && head - i < ring->n_slots; i--) {
        const qp_trace_record *r = &qp_trace_ring_records(ring)[(i - 1) & (ring->n_slots - 1)];
        if (qp_trace_has_ticks(qp_trace_op_of(r)))
            return r->word & QP_TRACE_TICKS;
    }
    return 0;
}

/* The lane's ring is full: continue in another one. Its records are later than those before, so
 * that readers, which merge rings by time, keep the order. @return false: there is none */
static QP_RARE bool change_ring(qp_trace_lane *lane)
{
    qp_ring *next = qp_rings_take(), *full = qp_load(&lane->ring);
    if (!next)
        return false;
    qp_store(&lane->th, (qprof_thread *)NULL); /* the first record there names it */
    lane->after = last_ticks(full) + 1;
    qp_rings_note_change();
    use_ring(lane, next);
    qp_publish(&full->is_ended, 1);
    return true;
}

/* Add the losses that no LOST record has reported yet to the diagnostics. */
static void count_lost(qp_trace_lane *lane)
{
    uint64_t n_lost = qp_load(&lane->n_lost);
    if (n_lost)
        qp_fetch_add(&qp_recorder_head()->diagnostics[QP_D_trace_lost], n_lost);
    qp_store(&lane->n_lost, 0);
}

QP_RARE void qp_trace_leave(void)
{
    qp_trace_lane *lane = qp_here.lane;
    if (lane->ring)
        qp_publish(&lane->ring->is_ended, 1);
    count_lost(lane);
    qp_store(&lane->th, (qprof_thread *)NULL);
    qp_store(&lane->ring, (qp_ring *)NULL);
    lane->limit = lane->after = 0;
    qp_here.lane = &qp_closed_lane;
}

/* ---- room -------------------------------------------------------------------------------- */

static void lose(qp_trace_lane *lane, uint32_t n)
{
    qp_bump(&lane->n_lost, n);
    if (lane->ring)
        qp_bump(&lane->ring->n_lost, n);
}

/* Is there room for n more records in the lane's ring? Where the oldest may be overwritten,
 * always: a ring is larger than any group of records. */
static bool fits(qp_trace_lane *lane, uint32_t n)
{
    uint64_t head = qp_load(&lane->ring->head);
    if (lane->limit - head >= n)
        return true;
    uint64_t tail = qp_rings_are_bounded() ? qp_observe(&lane->ring->tail) : head;
    lane->limit = tail + lane->ring->n_slots;
    return lane->limit - head >= n;
}

/* -trace-full=wait: the writer needs time. A program is not held up for ever: after a wait in
 * vain records are lost, until there is room again. */
static QP_RARE bool wait_for_room(qp_trace_lane *lane, uint32_t n)
{
    uint64_t since = qp_clock_monotonic(), now = since;
    bool has_room = false;
    while (!has_room && now - since < QP_TRACE_WAIT_NS && qp_rings_are_bounded()) {
        qp_clock_sleep_until(now + WAIT_STEP_NS);
        now = qp_clock_monotonic();
        has_room = fits(lane, n) || (change_ring(lane) && fits(lane, n));
    }
    lane->waits_in_vain = !has_room;
    qp_rings_note_wait(now - since);
    return has_room;
}

/* Make room for n more records. @return false: there is none */
static bool has_room(qp_trace_lane *lane, uint32_t n)
{
    if (QP_LIKELY(fits(lane, n))) {
        lane->waits_in_vain = false;
        return true;
    }
    if (qp_load(&lane->n_lost) % CHANGE_LOSSES == 0 && change_ring(lane) && fits(lane, n))
        return true;
    return qp_recorder.options.number[QP_OPT_trace_full] == QP_TRACE_FULL_WAIT &&
           !lane->waits_in_vain && wait_for_room(lane, n);
}

static void put_losses(qp_trace_lane *lane, uint64_t raw)
{
    uint64_t n_lost = qp_load(&lane->n_lost);
    if (QP_LIKELY(!n_lost))
        return;
    put(lane, QP_TRACE_LOST, raw, (uint32_t)n_lost, (uint32_t)(n_lost >> 32));
    count_lost(lane);
    qp_store(&lane->th, (qprof_thread *)NULL);
}

static void put_switch(qp_trace_lane *lane, qprof_thread *th, uint64_t raw)
{
    const qp_thread_record *r = qp_record_of(th);
    if (QP_LIKELY(qp_load(&lane->th) == th))
        return;
    uint64_t top = QPROF_LOAD(th->pulse->top) & ~QPROF_TOP_BUSY;
    put(lane, QP_TRACE_SWITCH, raw, qp_record_cell(th),
        top & QPROF_TOP_TOKEN ? (qp_cell)(top >> 6)
        : top                 ? qp_frame_path(QPROF_AT(th, qprof_frame, top))
                              : r->root);
    if (r->n_lives > 1) {
        uint64_t id = r->vt_id ? r->vt_id : r->host_id;
        put(lane, QP_TRACE_DATA, 0, (uint32_t)id, (uint32_t)(id >> 32));
    }
    qp_store(&lane->ring->thread, qp_record_cell(th));
    qp_store(&lane->th, th);
}

/* The OS thread's lane, with room for n records of a thread, after the records that must
 * precede them.
 * @return NULL: they are lost, and counted */
static qp_trace_lane *room_for(qprof_thread *th, uint32_t n, uint64_t raw)
{
    enum { PRECEDING = 3 }; /* LOST, SWITCH, DATA */
    qp_os_thread_renew();
    qp_trace_lane *lane = qp_here.lane;
    if (!has_ring(lane) || !has_room(lane, PRECEDING + n)) {
        lose(lane, n);
        return NULL;
    }
    put_losses(lane, raw);
    put_switch(lane, th, raw);
    return lane;
}

/* ---- events ------------------------------------------------------------------------------ */
/* An event that is in progress while the run ends is counted, although its thread's gate is
 * closed by then, and so it is traced. */

/* Raw ticks of the event in progress: where times are exact they were read already. */
static uint64_t raw_of_event(const qprof_thread *th)
{
    const qprof_pulse *p = th->pulse;
    uint32_t hooks = QPROF_LOAD(th->gate);
    bool is_read = (hooks & QP_HOOKS_EXACT) &&
                   !(hooks & (QP_HOOK_CLASSES | QP_HOOK_STOPPED | QP_HOOK_OFF)) &&
                   !p->suspended_at && qp_recorder_head()->clock_kind == QP_CLOCK_ELAPSED;
    return is_read ? p->last + p->offset : qp_clock_elapsed();
}

void qp_trace_entry(qprof_thread *th, qprof_frame *f)
{
    qp_trace_values_give(th, qp_frame_method(th, f), false);
    uint64_t raw = raw_of_event(th);
    qp_trace_lane *lane = room_for(th, 1, raw);
    if (!lane) {
        qp_stack_flag(th, f, QP_FRAME_UNTRACED);
        return;
    }
    put(lane, QP_TRACE_ENTRY, raw, f->flags & QP_FRAME_OVERFLOWED ? 0 : qp_frame_path(f),
        qp_frame_method(th, f));
}

void qp_trace_exit(qprof_thread *th, uint32_t n, bool is_unwound, const qprof_frame *resumes)
{
    uint64_t raw = raw_of_event(th);
    qp_trace_lane *lane = n && qp_trace_users() ? room_for(th, 1, raw) : NULL;
    if (lane)
        put(lane, QP_TRACE_EXIT, raw, n | (is_unwound ? QP_TRACE_UNWOUND : 0),
            qp_frame_path(resumes));
}

/* Raw ticks at which a thread's clock was stopped or started; now, if it has another clock. */
static uint64_t raw_of_change(uint64_t raw)
{
    bool is_elapsed = qp_recorder_head()->clock_kind == QP_CLOCK_ELAPSED &&
                      (qp_load(&qp_recorder.hooks) & (QPROF_HOOK_EXACT | QP_HOOK_CLASSES)) ==
                          QPROF_HOOK_EXACT;
    return raw && is_elapsed ? raw : qp_clock_elapsed();
}

/* @param path  on top, if the gate is open: some calls may have no entry in the trace */
static void put_gate(qprof_thread *th, bool is_open, qp_cell path, uint64_t raw)
{
    qp_trace_lane *lane = room_for(th, 1, raw);
    if (lane)
        put(lane, QP_TRACE_GATE, raw, is_open, path);
}

void qp_trace_resume(qprof_thread *th, const qprof_frame *resumes)
{
    if (!(QPROF_LOAD(th->gate) & (QP_HOOK_STOPPED | QP_HOOK_OFF)))
        put_gate(th, true, qp_frame_path(resumes), raw_of_event(th));
}

qp_trace_position qp_trace_position_of(const qprof_thread *th)
{
    return (qp_trace_position){th->pulse->last + th->pulse->offset, th->pulse->offset,
                               !(QPROF_LOAD(th->gate) & (QP_HOOK_STOPPED | QP_HOOK_OFF))};
}

/* A clock that was paused has a greater offset: it was paused from the last event on. */
QP_RARE void qp_trace_gates(qprof_thread *th, const qprof_frame *top,
                            const qp_trace_position *before)
{
    const qp_trace_position now = qp_trace_position_of(th);
    uint64_t paused = now.offset - before->offset;
    bool is_open = before->is_open;
    if (!(QPROF_LOAD(th->gate) & QP_HOOK_TRACE))
        return;
    if (is_open && paused)
        put_gate(th, false, 0, raw_of_change(before->raw));
    if (paused || (now.is_open && !is_open)) {
        put_gate(th, true, qp_frame_path(top), raw_of_change(before->raw + paused));
        is_open = true;
    }
    if (is_open && !now.is_open)
        put_gate(th, false, 0, raw_of_change(now.raw));
}

QP_RARE void qp_trace_woke(qprof_thread *th, const qprof_frame *top, bool was_open,
                           bool was_off, uint64_t raw)
{
    bool is_open = qp_trace_position_of(th).is_open,
         is_closed = was_open && (!is_open || was_off);
    if (!(QPROF_LOAD(th->gate) & QP_HOOK_TRACE))
        return;
    if (is_closed)
        put_gate(th, false, 0, raw_of_change(raw));
    if (is_open && (is_closed || !was_open))
        put_gate(th, true, qp_frame_path(top), raw_of_change(raw));
}

void qp_trace_note(qprof_thread *th, qp_trace_op op, uint32_t a, uint32_t b)
{
    uint64_t raw = qp_clock_elapsed();
    qp_trace_lane *lane = room_for(th, 1, raw);
    if (lane)
        put(lane, op, raw, a, b);
}

QP_RARE void qp_trace_marker(qp_marker_kind kind, qp_ref name)
{
    qp_trace_lane *lane = qp_here.lane;
    qprof_thread *th = qp_load(&lane->th);
    if (!qp_trace_users() || !lane->ring || !name)
        return;
    uint64_t raw = qp_clock_elapsed();
    if (th ? room_for(th, 1, raw) != NULL : fits(lane, 1))
        put(lane, QP_TRACE_MARKER, raw, name, (uint32_t)kind);
    else if (!th)
        lose(lane, 1);
}

QP_RARE void qp_trace_counter(qprof_thread *th, qp_ref name, int64_t value)
{
    uint64_t raw = qp_clock_elapsed(), bits = (uint64_t)value;
    qp_trace_lane *lane = room_for(th, 2, raw);
    if (!lane)
        return;
    put(lane, QP_TRACE_COUNTER, raw, name, 0);
    put(lane, QP_TRACE_DATA, 0, (uint32_t)bits, (uint32_t)(bits >> 32));
}

/* ---- texts of values --------------------------------------------------------------------- */

/* Bytes of a text with its NUL, cut before a character that does not fit. */
static uint32_t bytes_of(const char *text, uint32_t max)
{
    uint32_t n = text ? (uint32_t)strnlen(text, max) : 0;
    if (n == max)
        for (n--; n && ((unsigned char)text[n] & 0xC0) == 0x80;)
            n--;
    return n + 1;
}

/* 15 bytes at a time. */
typedef struct {
    const qp_trace_lane *lane;
    unsigned n;
    unsigned char bytes[QP_TRACE_TEXT_BYTES];
} text_writer;

static void flush_text(text_writer *w)
{
    uint64_t low = 0, high = 0;
    for (unsigned i = 0; i < w->n; i++)
        if (i < 7)
            low |= (uint64_t)w->bytes[i] << 8 * i;
        else
            high |= (uint64_t)w->bytes[i] << 8 * (i - 7);
    if (w->n)
        put(w->lane, QP_TRACE_TEXT, low, (uint32_t)high, (uint32_t)(high >> 32));
    w->n = 0;
}

/* Put n_bytes with the NUL: a text that changes meanwhile gives wrong bytes, not more of
 * them. */
static QP_RARE void put_text(text_writer *w, const char *text, uint32_t n_bytes)
{
    for (uint32_t i = 0; i < n_bytes; i++) {
        char c = i + 1 < n_bytes ? text[i] : '\0';
        w->bytes[w->n++] = (unsigned char)(c || i + 1 == n_bytes ? c : '?');
        if (w->n == QP_TRACE_TEXT_BYTES)
            flush_text(w);
    }
}

QP_RARE void qp_trace_value(qprof_thread *th, int number, const char *type, const char *value,
                            const char *comment)
{
    uint32_t n_type = bytes_of(type, TYPE_MAX), n_value = bytes_of(value, VALUE_MAX);
    uint32_t n_comment = bytes_of(comment, COMMENT_MAX), n = n_type + n_value + n_comment;
    uint64_t raw = qp_clock_elapsed();
    uint32_t n_texts = (n + QP_TRACE_TEXT_BYTES - 1) / QP_TRACE_TEXT_BYTES;
    qp_trace_lane *lane = room_for(th, 1 + n_texts, raw);
    if (!lane)
        return;
    text_writer w = {.lane = lane};
    put(lane, QP_TRACE_VALUE, raw, (uint32_t)number, n);
    put_text(&w, type, n_type);
    put_text(&w, value, n_value);
    put_text(&w, comment, n_comment);
    flush_text(&w);
}

/* ---- the end ----------------------------------------------------------------------------- */

QP_RARE void qp_trace_end(void)
{
    for (uint32_t i = 1; qp_os_thread_at(i); i++)
        count_lost(&qp_os_thread_at(i)->lane);
}

/* ---- which OS thread drives -------------------------------------------------------------- */

void qp_trace_switch(qprof_thread *th, uint64_t raw)
{
    bool has_stack = qp_load(&qp_record_of(th)->root); /* else its first event records it */
    qp_store(&qp_here.lane->th, (qprof_thread *)NULL); /* even if it was the last one here */
    if (qp_here.lane->ring && has_stack)
        room_for(th, 0, raw_of_change(raw));
}

void qp_trace_suspend(qprof_thread *th, bool has_ended, uint64_t raw)
{
    qp_trace_lane *lane = qp_here.lane;
    if (qp_load(&lane->th) != th)
        return;
    raw = raw_of_change(raw);
    if (fits(lane, 1) || room_for(th, 1, raw))
        put(lane, QP_TRACE_SUSPEND, raw, qp_record_cell(th), has_ended);
    qp_store(&lane->th, (qprof_thread *)NULL);
}

QP_RARE qprof_thread *qp_trace_ending(const qprof_thread *th)
{
    qp_trace_lane *lane = qp_here.lane;
    qprof_thread *before = qp_load(&lane->th);
    if (lane->ring && before != th)
        lane->held_at = qp_clock_elapsed();
    return before;
}

QP_RARE void qp_trace_ended(qprof_thread *th, qprof_thread *before, bool is_ended)
{
    qp_trace_lane *lane = qp_here.lane;
    bool continues =
        before && qp_is_open(before) && QPROF_LOAD(before->os_thread) == qp_here.ordinal;
    bool is_other = is_ended && before != th;
    bool is_set = is_other && qp_load(&lane->th) == th;
    if (is_set)
        qp_trace_suspend(th, true, 0);
    if (is_set && continues)
        room_for(before, 0, 0);
    else if (is_other && continues)
        qp_store(&lane->th, before);
    if (lane->held_at)
        lane->held_at = 0;
}
