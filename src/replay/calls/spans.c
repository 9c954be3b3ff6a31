/* spans.c: see calls.h. Read qp_spans_put first, then put_entry and put_exit.
 *
 * Records name the call path that is on top, so that the next record corrects a stack that is
 * unknown or wrong: see align. */
#include <string.h>

#include "base/atomic.h"
#include "base/containers/alloc.h"
#include "replay/calls/calls.h"

enum {
    PUSHES_FIRST = 1 << 20, /* calls that may be found open without an entry ... */
    PUSHES_A_RECORD = 4,    /* ... and so many more for each record */
    TEXT_MOST = 1 << 16
};

/* The thread that an OS thread drives, and a record whose texts or value are still to come. */
typedef struct {
    qp_span_thread *thread; /* NULL: none */
    qp_trace_record begun;  /* VALUE or COUNTER; op 0: none */
    uint64_t n_missing;     /* bytes of text */
    qp_buf text;            /* char */
} os_thread_state;

/* ---- threads and OS threads -------------------------------------------------------------- */

static os_thread_state *os_thread_at(qp_spans *x, uint32_t os_thread)
{
    os_thread_state *c = qp_buf_at(&x->os_threads, os_thread);
    x->failed |= !c;
    return c;
}

static qp_span_thread *thread_of(qp_spans *x, uint32_t number)
{
    uint32_t *index = qp_buf_at(&x->index_of, number);
    if (index && *index)
        return qp_spans_thread(x, *index - 1);
    qp_span_thread *th = index ? qp_alloc_zeroed(1, sizeof *th) : NULL;
    qp_span_thread **item = th ? qp_buf_add(&x->threads) : NULL;
    if (!item) {
        qp_free(th);
        x->failed = true;
        return NULL;
    }
    *item = th;
    *index = (uint32_t)x->threads.n;
    th->innermost = QP_BUF(uint32_t);
    th->number = number;
    th->index = *index - 1;
    return th;
}

/* ---- records in several pieces ----------------------------------------------------------- */

/* The n-th of the texts that follow each other, each ended by NUL. */
static const char *text_at(const qp_buf *text, unsigned n)
{
    const char *at = text->items, *end = at + text->n;
    while (n-- > 0 && at < end)
        at += strnlen(at, (size_t)(end - at)) + 1;
    return at && at < end ? at : "";
}

static void report_begun(qp_spans *x, os_thread_state *c, uint64_t value)
{
    qp_trace_op op = (qp_trace_op)(c->begun.word >> QP_TRACE_OP_SHIFT);
    qp_span_event e = {.op = op, .a = c->begun.a, .b = c->begun.b, .value = value};
    c->begun.word = 0;
    if (op == QP_TRACE_COUNTER)
        e.name = qp_names_text(x->names, e.a);
    char *end = op == QP_TRACE_VALUE ? qp_buf_add(&c->text) : NULL; /* NUL */
    x->failed |= op == QP_TRACE_VALUE && !end;
    if (end) {
        e.type = text_at(&c->text, 0);
        e.text = text_at(&c->text, 1);
        e.comment = text_at(&c->text, 2);
    }
    if (x->sink.event && !x->is_muted && c->thread && !x->failed)
        x->sink.event(x->sink.to, c->thread, &e);
}

/* 15 bytes of a text. */
static void add_text(qp_spans *x, os_thread_state *c, const qp_trace_record *r)
{
    unsigned char bytes[16];
    memcpy(bytes, &r->word, 7);
    memcpy(bytes + 7, &r->a, 4);
    memcpy(bytes + 11, &r->b, 4);
    size_t n = c->n_missing < QP_TRACE_TEXT_BYTES ? (size_t)c->n_missing : QP_TRACE_TEXT_BYTES;
    c->n_missing -= n;
    char *to = n && c->text.n < TEXT_MOST ? qp_buf_add_many(&c->text, n) : NULL;
    if (to)
        memcpy(to, bytes, n);
    x->failed |= c->text.failed;
    if (!c->n_missing)
        report_begun(x, c, 0);
}

static bool collect(qp_spans *x, os_thread_state *c, qp_trace_op op, const qp_trace_record *r)
{
    qp_trace_op begun = (qp_trace_op)(c->begun.word >> QP_TRACE_OP_SHIFT);
    if (op == QP_TRACE_TEXT && begun == QP_TRACE_VALUE) {
        add_text(x, c, r);
    } else if (op == QP_TRACE_DATA && begun == QP_TRACE_COUNTER) {
        report_begun(x, c, (uint64_t)r->b << 32 | r->a);
    } else if (begun) { /* the rest of it was lost */
        report_begun(x, c, 0);
    }
    if (op != QP_TRACE_VALUE && op != QP_TRACE_COUNTER)
        return op == QP_TRACE_TEXT || op == QP_TRACE_DATA;
    c->begun = *r;
    c->n_missing = op == QP_TRACE_VALUE ? r->b : 0;
    c->text.item_bytes = 1;
    c->text.n = 0;
    if (op == QP_TRACE_VALUE && !r->b)
        report_begun(x, c, 0);
    return true;
}

static void report_other(qp_spans *x, os_thread_state *c, qp_span_thread *th, qp_trace_op op,
                         const qp_trace_record *r)
{
    qp_span_event e = {.op = op, .a = r->a, .b = r->b};
    if (op == QP_TRACE_LOST) {
        e.value = (uint64_t)r->b << 32 | r->a;
        x->counts.n_lost += e.value;
        x->counts.n_gaps++;
    }
    if (op == QP_TRACE_MARKER)
        e.name = qp_names_text(x->names, r->a);
    if (!th)
        th = c->thread ? c->thread : thread_of(x, 0);
    if (x->sink.event && !x->is_muted && th && op != QP_TRACE_STACK)
        x->sink.event(x->sink.to, th, &e);
}

/* ---- the stack --------------------------------------------------------------------------- */

static qp_span *top_of(const qp_span_thread *th)
{
    return th->depth ? &th->spans[th->depth - 1] : NULL;
}

static uint32_t top_path(const qp_span_thread *th)
{
    return th->depth ? th->spans[th->depth - 1].path : QP_PATH_ROOT;
}

/* ---- time -------------------------------------------------------------------------------- */

static bool is_paused(const qp_span_thread *th)
{
    return th->is_suspended || th->is_off;
}

static void advance(qp_span_thread *th, uint64_t raw)
{
    th->raw = raw > th->raw ? raw : th->raw;
    th->time = (is_paused(th) ? th->paused_since : th->raw) - th->paused_ticks;
}

/* Records are missing up to this moment: the time is not charged to any call. */
static void pass_gap(qp_span_thread *th, uint64_t raw)
{
    if (is_paused(th) || raw <= th->raw)
        return;
    th->paused_since = th->raw;
    th->paused_ticks += raw - th->raw;
}

/* Set one of the two reasons for which a thread is paused: its clock stops, resumes, or
 * neither. */
static void set_paused(qp_span_thread *th, bool *reason, bool is_on, uint64_t raw)
{
    bool was_paused = is_paused(th);
    raw = raw > th->raw ? raw : th->raw;
    *reason = is_on;
    if (!was_paused && is_paused(th))
        th->paused_since = raw;
    else if (was_paused && !is_paused(th))
        th->paused_ticks += raw > th->paused_since ? raw - th->paused_since : 0;
    advance(th, raw);
}

/* ---- calls ------------------------------------------------------------------------------- */

/* @return false: no memory */
static bool grow(qp_span_thread *th)
{
    uint32_t room = th->room ? th->room * 2 : 8;
    qp_span *wider = room > th->room ? qp_realloc(th->spans, room, sizeof *wider) : NULL;
    if (!wider)
        return false;
    th->spans = wider;
    th->room = room;
    return true;
}

/* The slot of a method in `innermost`, + 1. @return 0: no memory */
static inline uint32_t slot_of(qp_spans *x, qp_span_thread *th, uint32_t method)
{
    bool is_new;
    qp_span_slot *s = &x->slots[(method ^ th->index * 31) & (QP_SPAN_SLOTS - 1)];
    if (QP_UNLIKELY(s->method != method || s->thread != th->index + 1))
        *s = (qp_span_slot){th->index + 1, method,
                            qp_buf_keyed(&th->innermost, &th->slots, method, &is_new)};
    return s->slot;
}

/* Push a call that begins now; the caller completes it before report_entry.
 * @return NULL: no memory */
static inline qp_span *push(qp_spans *x, qp_span_thread *th, uint32_t method)
{
    uint32_t slot = slot_of(x, th, method);
    if (QP_UNLIKELY(!slot || (th->depth == th->room && !grow(th)))) {
        x->failed = true;
        return NULL;
    }
    uint32_t *innermost = (uint32_t *)th->innermost.items + slot - 1;
    qp_span *s = &th->spans[th->depth++];
    *s = (qp_span){.method = method,
                   .flags = *innermost ? 0 : QP_SPAN_OUTERMOST,
                   .outer = *innermost,
                   .slot = slot,
                   .begin = th->time,
                   .raw = th->raw,
                   .n_gates = th->n_gates};
    *innermost = th->depth;
    return s;
}

static inline void report_entry(qp_spans *x, qp_span_thread *th, qp_span *s)
{
    x->counts.n_calls += !(s->flags & QP_SPAN_SKIPPED);
    if (th->depth == 1)
        qp_names_start(x->names, th->number, s->method);
    if (x->sink.enter && !x->is_muted)
        x->sink.enter(x->sink.to, th, s);
}

/* The top call ends at th->time. */
static inline void leave_top(qp_spans *x, qp_span_thread *th, qp_span_end end)
{
    qp_span *s = &th->spans[th->depth - 1];
    if (x->sink.leave && !x->is_muted)
        x->sink.leave(x->sink.to, th, s, end);
    if (th->depth > 1)
        s[-1].callees += qp_span_total(th, s);
    ((uint32_t *)th->innermost.items)[s->slot - 1] = s->outer;
    th->depth--;
}

/* The same, but a call that has reported its own end ends at that time. */
static void leave(qp_spans *x, qp_span_thread *th, qp_span_end end)
{
    const qp_span *s = &th->spans[th->depth - 1];
    uint64_t now = th->time;
    if (s->flags & QP_SPAN_LEFT)
        th->time = s->left;
    leave_top(x, th, end);
    th->time = now;
}

/* Let a call begin when its caller announced it. */
static void take_announced(const qp_span_thread *th, qp_span *s)
{
    s->begin = th->called_time;
    s->raw = th->called_raw;
    s->line = th->called_line;
}

/* Begin a call that was announced, and end one whose return its caller has not reported: another event
 * comes first. */
static void settle(qp_spans *x, qp_span_thread *th)
{
    qp_span *top = top_of(th);
    if (top && (top->flags & QP_SPAN_LEFT))
        leave(x, th, QP_END_RETURNED);
    th->due = 0;
    if (!th->called)
        return;
    qp_span *s = push(x, th, th->called);
    th->called = 0;
    if (!s)
        return;
    s->flags |= QP_SPAN_FOREIGN;
    take_announced(th, s);
    report_entry(x, th, s);
}

/* ---- stacks that do not agree with a record ---------------------------------------------- */

/* End the calls that are not on the way to a path. @return the path, or its nearest caller that is on
 * the stack */
static uint32_t drop_others(qp_spans *x, qp_span_thread *th, uint32_t path)
{
    for (uint32_t at = path; th->depth; leave(x, th, QP_END_LOST)) {
        const qp_span *top = top_of(th);
        uint32_t depth = qp_names_path_at(x->names, top->path)->depth;
        while (top->path && qp_names_path_at(x->names, at)->depth > depth)
            at = qp_names_path_at(x->names, at)->parent;
        if (top->path && at == top->path)
            return at;
    }
    return QP_PATH_ROOT;
}

/* Make the stack of a thread that of a path, which is known. */
static void align(qp_spans *x, qp_span_thread *th, uint32_t path)
{
    uint32_t shared = drop_others(x, th, path), first = th->depth, n = 0;
    for (uint32_t at = path; at > QP_PATH_ROOT && at != shared; n++)
        at = qp_names_path_at(x->names, at)->parent;
    if (n > x->n_pushes_left)
        return;
    x->n_pushes_left -= n;
    uint32_t *paths = qp_alloc(n, sizeof *paths);
    x->failed |= !paths;
    for (uint32_t at = path, i = n; paths && i > 0; at = qp_names_path_at(x->names, at)->parent)
        paths[--i] = at;
    for (uint32_t i = 0; paths && i < n && th->depth == first + i; i++) {
        qp_span *s = push(x, th, qp_names_path_at(x->names, paths[i])->method);
        if (!s)
            break;
        s->path = paths[i];
        s->flags |= QP_SPAN_CUT | (th->n_breaks == x->n_breaks ? QP_SPAN_SKIPPED : 0);
        report_entry(x, th, s);
    }
    th->n_breaks = x->n_breaks;
    qp_free(paths);
}

/* Align the stack with the path that a record names as the top one; 0: it names none. */
static void expect(qp_spans *x, qp_span_thread *th, uint32_t path)
{
    uint32_t top = top_path(th);
    if (path && top && top != path)
        align(x, th, path);
}

/* ---- records ----------------------------------------------------------------------------- */

static void put_entry(qp_spans *x, qp_span_thread *th, uint32_t cell, uint32_t method_cell)
{
    uint32_t path = qp_names_path(x->names, cell);
    const qp_trace_path *p = qp_names_path_at(x->names, path);
    uint32_t method = path ? p->method : qp_names_method(x->names, method_cell);
    bool was_called = th->called && th->called == method;
    if (was_called)
        th->called = 0;
    else if (th->called || th->due)
        settle(x, th);
    if (path && top_path(th) != path) /* else the recorder charges it to its caller's path */
        expect(x, th, p->parent);
    qp_span *s = push(x, th, method);
    if (!s)
        return;
    s->path = path;
    s->cell = cell;
    if (was_called) {
        s->flags |= QP_SPAN_CALLED;
        s->line = th->called_line;
        if (x->counts_from_call)
            take_announced(th, s);
    }
    report_entry(x, th, s);
}

/* The innermost open call of a method, if it is open. */
static qp_span *find_open(const qp_span_thread *th, uint32_t method)
{
    uint32_t slot = qp_dict_get(&th->slots, method);
    uint32_t depth = slot ? ((const uint32_t *)th->innermost.items)[slot - 1] : 0;
    return depth ? &th->spans[depth - 1] : NULL;
}

static void leave_down_to(qp_spans *x, qp_span_thread *th, const qp_span *s)
{
    uint32_t keep = (uint32_t)(s - th->spans) + 1;
    while (th->depth > keep)
        leave(x, th, QP_END_UNWOUND);
}

/* End the top call; if its caller will report its return, that time counts. */
static void end_call(qp_spans *x, qp_span_thread *th)
{
    qp_span *top = top_of(th);
    bool was_called = top->flags & QP_SPAN_CALLED;
    uint32_t due = was_called ? top->method : 0;
    if (was_called && x->counts_from_call) {
        top->flags |= QP_SPAN_LEFT;
        top->left = th->time;
    } else {
        leave(x, th, QP_END_RETURNED);
    }
    th->due = due;
}

static void put_exit(qp_spans *x, qp_span_thread *th, uint32_t frames, uint32_t resumes)
{
    bool is_unwound = frames & QP_TRACE_UNWOUND;
    uint32_t n = frames & ~QP_TRACE_UNWOUND;
    if (th->called || th->due)
        settle(x, th);
    if (n == QP_EXIT_NAMED) {
        const qp_span *s = find_open(th, qp_names_method(x->names, resumes));
        x->counts.n_unmatched += s == NULL;
        if (!s)
            return;
        leave_down_to(x, th, s);
        end_call(x, th);
        return;
    }
    while (n && th->depth) {
        uint32_t flags = top_of(th)->flags;
        uint32_t caller_cell = th->depth > 1 ? th->spans[th->depth - 2].cell : 0;
        bool is_skipped = (flags & QP_SPAN_SKIPPED) && caller_cell != resumes;
        n -= !is_skipped && !(flags & QP_SPAN_FOREIGN);
        if (is_skipped)
            leave(x, th, QP_END_LOST);
        else if (n || is_unwound || (flags & QP_SPAN_FOREIGN))
            leave(x, th, QP_END_UNWOUND);
        else
            end_call(x, th);
    }
    x->counts.n_unmatched += n;
    const qp_span *top = top_of(th);
    bool is_expected = top && (top->cell == resumes || (top->flags & QP_SPAN_LEFT));
    if (!is_expected)
        expect(x, th, qp_names_path(x->names, resumes));
}

static void put_call(qp_spans *x, qp_span_thread *th, uint32_t method, uint32_t line)
{
    settle(x, th);
    th->called = qp_names_method(x->names, method);
    th->called_line = line;
    th->called_raw = th->raw;
    th->called_time = th->time;
}

static void put_return(qp_spans *x, qp_span_thread *th, uint32_t method_cell)
{
    uint32_t method = qp_names_method(x->names, method_cell);
    if (th->due && th->due == method) {
        qp_span *top = top_of(th);
        th->due = 0;
        if (top && (top->flags & QP_SPAN_LEFT)) {
            top->flags &= ~(uint32_t)QP_SPAN_LEFT;
            leave(x, th, QP_END_RETURNED);
        }
        return;
    }
    settle(x, th);
    const qp_span *s = find_open(th, method);
    x->counts.n_unmatched += s == NULL;
    if (!s || !(s->flags & (QP_SPAN_FOREIGN | QP_SPAN_CALLED)))
        return;
    leave_down_to(x, th, s);
    leave(x, th, QP_END_RETURNED);
}

/* The common case: one call returned that was not announced, and its caller resumes.
 * @return false: another case */
static inline bool put_return_of_top(qp_spans *x, qp_span_thread *th, const qp_trace_record *r)
{
    enum { UNUSUAL = QP_SPAN_FOREIGN | QP_SPAN_CALLED | QP_SPAN_LEFT | QP_SPAN_SKIPPED };
    if (r->a != 1 || th->depth < 2 || th->called || th->due)
        return false;
    const qp_span *top = &th->spans[th->depth - 1];
    if (top->flags & UNUSUAL || top[-1].cell != r->b)
        return false;
    leave_top(x, th, QP_END_RETURNED);
    return true;
}

/* ---- OS threads -------------------------------------------------------------------------- */

static void drive(qp_spans *x, uint32_t os_thread, uint32_t thread_cell, uint32_t path_cell,
                  uint64_t raw)
{
    os_thread_state *c = os_thread_at(x, os_thread);
    qp_span_thread *before = c ? c->thread : NULL;
    qp_span_thread *th =
        thread_cell ? thread_of(x, qp_names_thread(x->names, thread_cell)) : NULL;
    if (!c || !th)
        return;
    if (before && before != th && before->os_thread == os_thread + 1 && !x->is_shared)
        set_paused(before, &before->is_suspended, true, raw);
    c->thread = th;
    th->os_thread = os_thread + 1;
    set_paused(th, &th->is_suspended, false, raw);
    expect(x, th, qp_names_path(x->names, path_cell));
}

static void suspend(qp_spans *x, os_thread_state *c, uint32_t thread_cell, uint64_t raw)
{
    uint32_t number = thread_cell ? qp_names_thread(x->names, thread_cell) : 0;
    qp_span_thread *th = number ? thread_of(x, number) : c->thread;
    if (th && !x->is_shared)
        set_paused(th, &th->is_suspended, true, raw);
    c->thread = NULL;
}

/* A record that is neither an entry nor an exit. */
static void put_other(qp_spans *x, uint32_t os_thread, const qp_trace_record *r, uint64_t raw)
{
    os_thread_state *c = os_thread_at(x, os_thread);
    qp_trace_op op = (qp_trace_op)(r->word >> QP_TRACE_OP_SHIFT);
    if (!c || collect(x, c, op, r))
        return;
    qp_span_thread *th = c->thread;
    if (op == QP_TRACE_STACK || op == QP_TRACE_SWITCH) {
        x->counts.n_records -=
            op == QP_TRACE_STACK; /* readers add it, the recorder does not write it */
        x->n_breaks += op == QP_TRACE_STACK;
        drive(x, os_thread, r->a, r->b, raw);
        th = c->thread;
    } else if (op == QP_TRACE_SUSPEND) {
        suspend(x, c, r->a, raw);
    } else if (th && op == QP_TRACE_GATE) {
        th->n_gates += th->is_off == (r->a != 0);
        set_paused(th, &th->is_off, !r->a, raw);
        expect(x, th, qp_names_path(x->names, r->b));
    } else if (th && op == QP_TRACE_CALL) {
        put_call(x, th, r->a, r->b);
    } else if (th && op == QP_TRACE_RETURN) {
        put_return(x, th, r->a);
    }
    report_other(x, c, th, op, r);
}

/* @return the thread that an OS thread drives; an unknown one if no record names it */
static qp_span_thread *driven(qp_spans *x, uint32_t os_thread)
{
    os_thread_state *c = os_thread_at(x, os_thread);
    if (c && !c->thread) {
        c->thread = thread_of(x, 0);
        x->n_breaks++;
    }
    return c ? c->thread : NULL;
}

static void note_time(qp_spans *x, uint64_t raw)
{
    x->counts.first = raw < x->counts.first ? raw : x->counts.first;
    x->counts.last = raw > x->counts.last ? raw : x->counts.last;
}

void qp_spans_put(qp_spans *x, uint32_t os_thread, const qp_trace_record *records, size_t n)
{
    os_thread_state *c = os_thread_at(x, os_thread);
    qp_span_thread *th = c ? c->thread : NULL;
    x->counts.n_records += n;
    x->n_pushes_left += n * PUSHES_A_RECORD;
    for (const qp_trace_record *r = records, *end = records + n; r < end && !x->failed; r++) {
        unsigned op = (unsigned)(r->word >> QP_TRACE_OP_SHIFT);
        uint64_t raw = r->word & QP_TRACE_TICKS;
        bool has_ticks = op < QP_TRACE_TEXT;
        if (has_ticks)
            note_time(x, raw);
        if (op != QP_TRACE_ENTRY && op != QP_TRACE_EXIT) {
            x->n_breaks += op == QP_TRACE_LOST;
            if (th && op == QP_TRACE_LOST)
                pass_gap(th, raw);
            if (th && has_ticks)
                advance(th, raw);
            put_other(x, os_thread, r, raw);
            c = os_thread_at(x, os_thread);
            th = c ? c->thread : NULL;
            continue;
        }
        if (!th && !(th = driven(x, os_thread)))
            break;
        advance(th, raw);
        if (op == QP_TRACE_ENTRY)
            put_entry(x, th, r->a, r->b);
        else if (!put_return_of_top(x, th, r))
            put_exit(x, th, r->a, r->b);
    }
}

/* ---- beginning and end ------------------------------------------------------------------- */

void qp_spans_init(qp_spans *x, qp_names *names, const qp_span_sink *sink)
{
    *x = (qp_spans){.names = names,
                    .sink = *sink,
                    .n_pushes_left = PUSHES_FIRST,
                    .counts.first = UINT64_MAX,
                    .threads = QP_BUF(qp_span_thread *),
                    .os_threads = QP_BUF(os_thread_state),
                    .index_of = QP_BUF(uint32_t)};
}

/* Let all open calls of a thread begin at this moment. */
static void cut_thread(qp_spans *x, qp_span_thread *th, uint64_t raw)
{
    uint32_t depth = th->depth;
    advance(th, raw);
    for (th->depth = 0; th->depth < depth;) {
        qp_span *s = &th->spans[th->depth++];
        s->begin = th->time;
        s->raw = raw;
        s->callees = 0;
        s->flags |= QP_SPAN_CUT;
        x->counts.n_calls += !(s->flags & QP_SPAN_SKIPPED);
        if (x->sink.enter)
            x->sink.enter(x->sink.to, th, s);
    }
}

void qp_spans_cut(qp_spans *x, uint64_t raw)
{
    x->is_muted = false;
    x->counts = (qp_span_counts){.first = raw};
    for (size_t i = 0; i < x->threads.n; i++)
        cut_thread(x, qp_spans_thread(x, i), raw);
}

static void slice_thread(qp_spans *x, qp_span_thread *th, uint64_t raw)
{
    uint32_t depth = th->depth;
    advance(th, raw);
    while (th->depth) {
        qp_span *s = &th->spans[th->depth - 1];
        x->sink.leave(x->sink.to, th, s, QP_END_OF_SLICE);
        if (--th->depth)
            s[-1].callees += qp_span_total(th, s);
        s->begin = th->time;
        s->raw = raw;
        s->callees = 0;
        s->flags |= QP_SPAN_CUT;
    }
    th->depth = depth;
}

void qp_spans_slice(qp_spans *x, uint64_t raw)
{
    for (size_t i = 0; i < x->threads.n; i++)
        slice_thread(x, qp_spans_thread(x, i), raw);
}

void qp_spans_end(qp_spans *x, uint64_t raw)
{
    for (size_t i = 0; i < x->threads.n; i++) {
        qp_span_thread *th = qp_spans_thread(x, i);
        if (raw > th->raw)
            advance(th, raw);
        if (th->called || th->due)
            settle(x, th);
        while (th->depth)
            leave(x, th, QP_END_UNFINISHED);
    }
}

void qp_spans_fini(qp_spans *x)
{
    for (size_t i = 0; i < x->threads.n; i++) {
        qp_span_thread *th = qp_spans_thread(x, i);
        qp_free(th->spans);
        qp_dict_fini(&th->slots);
        qp_free(th->innermost.items);
        qp_free(th);
    }
    for (size_t i = 0; i < x->os_threads.n; i++)
        qp_free(((os_thread_state *)x->os_threads.items)[i].text.items);
    qp_free(x->threads.items);
    qp_free(x->os_threads.items);
    qp_free(x->index_of.items);
}

/* ---- playing a window of a trace --------------------------------------------------------- */

/* The spans are muted for the records before the window. @return false: the window has ended */
static bool put_run(qp_spans *x, const qp_trace_run *run, const qp_trace_window *w)
{
    size_t first = x->is_muted ? qp_trace_count_before(run->records, run->n, w->from) : 0;
    if (x->watch)
        x->watch(x->watcher, run);
    if (first)
        qp_spans_put(x, run->os_thread, run->records, first);
    if (first == run->n)
        return true;
    if (x->is_muted)
        qp_spans_cut(x, w->from);
    size_t n = qp_trace_count_before(run->records + first, run->n - first, w->to);
    if (n)
        qp_spans_put(x, run->os_thread, run->records + first, n);
    return n == run->n - first;
}

void qp_trace_spans(qp_trace *t, qp_spans *x, const qp_span_sink *sink)
{
    qp_spans_init(x, qp_trace_names(t), sink);
    x->is_shared = x->counts_from_call = qp_trace_about(t)->kind == QP_TRACE_OF_XBASE;
}

bool qp_trace_play_on(qp_trace *t, qp_spans *x, const qp_trace_window *window,
                      const qp_progress *progress)
{
    const qp_trace_window whole = {0, UINT64_MAX}, *w = window ? window : &whole;
    const qp_trace_info *info = qp_trace_about(t);
    qp_trace_run run;
    unsigned shown = 0;
    x->is_muted = w->from > x->counts.last && w->from > info->begun_raw;
    qp_trace_ahead_begin(t);
    while (!x->failed && qp_trace_next(t, &run) && put_run(x, &run, w)) {
        uint64_t all = info->n_bytes ? info->n_bytes : 1, at = qp_trace_position(t);
        unsigned percent = (unsigned)(100 * (at < all ? at : all) / all);
        if (percent != shown)
            qp_progress_show(progress, shown = percent);
    }
    qp_trace_ahead_end(t);
    return !x->failed && !qp_trace_failed(t);
}

uint64_t qp_trace_missing(const qp_trace *t, const qp_span_counts *counts,
                          const qp_trace_window *window, uint64_t *places)
{
    const qp_trace_losses *losses = qp_trace_lost(t);
    uint64_t counted = losses->n_unheld + losses->n_unwritten;
    bool has_end = !window || window->to == UINT64_MAX;
    bool is_cut = has_end && !qp_trace_about(t)->is_live && counted > counts->n_lost;
    *places = counts->n_gaps + is_cut;
    return is_cut ? counted : counts->n_lost;
}

uint64_t qp_trace_end_raw(const qp_trace *t, const qp_spans *x, const qp_trace_window *window)
{
    uint64_t end_raw = qp_trace_about(t)->end_raw;
    uint64_t end = end_raw > x->counts.last ? end_raw : x->counts.last;
    return window && window->to < end ? window->to : end;
}

bool qp_trace_play(qp_trace *t, qp_spans *x, const qp_trace_window *window,
                   const qp_progress *progress)
{
    bool is_played = qp_trace_play_on(t, x, window, progress);
    bool has_end = qp_trace_about(t)->end_raw || (window && window->to != UINT64_MAX);
    qp_spans_end(x, has_end ? qp_trace_end_raw(t, x, window) : 0);
    return is_played && !x->failed;
}
