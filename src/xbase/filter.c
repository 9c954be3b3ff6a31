/* filter.c: a stack of open calls for each thread. Read qp_filter_event_put first.
 *
 * A call on the stack was announced by its caller (i), entered (I), or both: i and I belong
 * together if nothing of the thread came between them. Calls of callees without hooks stay
 * announced until their o, or until the frame that called them ends. */
#include <string.h>

#include "xbase/xbase.h"

typedef struct {
    uint32_t method, line, flags;
} call;

enum { /* call.flags */
       ANNOUNCED = 1u << 0,
       ENTERED = 1u << 1,
       RETURNED = 1u << 2,  /* O was there, o is to come */
       DECIDED = 1u << 3,   /* whether the announcement is written */
       HAS_CALL = 1u << 4,  /* it was: o is written ... */
       AS_ENTRY = 1u << 5,  /* ... as O */
       HAS_ENTRY = 1u << 6, /* I was: O is written */

       CALLS = QP_FILTER_VALUES / sizeof(call)
};

struct qp_filter_block {
    qp_filter_block *below;
    _Alignas(8) uint32_t n; /* calls, or bytes */
    uint32_t reserved;
    union {
        call calls[CALLS];
        char bytes[QP_FILTER_VALUES];
    } as;
};

_Static_assert(sizeof(qp_filter_block) == QP_FILTER_BLOCK, "what the caller hands out");

/* ---- blocks -------------------------------------------------------------------------------- */

static qp_filter_block *block_take(qp_filter *f, qp_filter_block *below)
{
    qp_filter_block *b = f->idle;
    if (b)
        f->idle = b->below;
    else
        b = f->take(f->to);
    if (!b) {
        f->n_cut++;
        return NULL;
    }
    b->below = below;
    b->n = 0;
    return b;
}

static void block_drop(qp_filter *f, qp_filter_block **b)
{
    if (!*b)
        return;
    (*b)->below = f->idle;
    f->idle = *b;
    *b = NULL;
}

static call *top_of(const qp_filter_thread *th)
{
    return th->calls ? &th->calls->as.calls[th->calls->n - 1] : NULL;
}

static call *push(qp_filter *f, qp_filter_thread *th, uint32_t method, uint32_t line,
                  uint32_t flags)
{
    if (!th->calls || th->calls->n == CALLS) {
        qp_filter_block *b = block_take(f, th->calls);
        if (!b)
            return NULL;
        th->calls = b;
    }
    call *c = &th->calls->as.calls[th->calls->n++];
    *c = (call){method, line, flags};
    return c;
}

static void pop(qp_filter *f, qp_filter_thread *th)
{
    if (--th->calls->n)
        return;
    qp_filter_block *empty = th->calls;
    th->calls = empty->below;
    block_drop(f, &empty);
}

/* A walk from the top downwards. */
typedef struct {
    qp_filter_block *block;
    uint32_t n_seen; /* of it */
} cursor;

/* @return NULL: no more */
static call *down(cursor *at)
{
    if (at->block && at->n_seen == at->block->n)
        *at = (cursor){at->block->below, 0};
    return at->block ? &at->block->as.calls[at->block->n - ++at->n_seen] : NULL;
}

static bool is_open_frame(const call *c)
{
    return (c->flags & (ENTERED | RETURNED)) == ENTERED;
}

/* Pop what is above the innermost frame. @return the frame; NULL: there is none */
static call *pop_to_frame(qp_filter *f, qp_filter_thread *th)
{
    call *c = top_of(th);
    for (; c && !is_open_frame(c); c = top_of(th))
        pop(f, th);
    return c;
}

/* ---- writing ------------------------------------------------------------------------------- */

/* Write an entry, and drop its values. */
static void write_entry(qp_filter *f, const qp_filter_thread *th, const qp_filter_event *e,
                        qp_filter_block **values)
{
    const qp_filter_block *v = *values;
    f->write(f->to, th, e, v ? v->as.bytes : "", v ? v->n : 0);
    block_drop(f, values);
}

static bool is_wanted(const qp_filter *f, const qp_filter_thread *th, uint32_t method)
{
    return (f->mode & QP_PRI_ON) && !(f->is_excluded && f->is_excluded(f->to, th, method));
}

static bool is_unfiltered(const qp_filter *f)
{
    return f->mode & QP_PRI_UNFILTERED;
}

/* Write the announcement that is held, or drop it. */
static void announce(qp_filter *f, qp_filter_thread *th, call *c, bool is_seen)
{
    bool is_extended = f->mode & QP_PRI_EXTENDED;
    bool has_letter = is_extended || !is_unfiltered(f);
    if (c->flags & DECIDED)
        return;
    c->flags |= DECIDED;
    if (!is_seen || !has_letter || !is_wanted(f, th, c->method)) {
        block_drop(f, &th->held_params);
        return;
    }
    qp_filter_event e = th->held;
    e.op = is_extended ? 'i' : 'I';
    c->flags |= HAS_CALL | (is_extended ? 0 : AS_ENTRY);
    write_entry(f, th, &e, &th->held_params);
}

/* Decide on the announcement that is held: its entry does not follow. */
static void settle(qp_filter *f, qp_filter_thread *th)
{
    if (th->held.op)
        announce(f, th, top_of(th), f->has_builtins);
    th->held.op = '\0';
}

/* ---- events -------------------------------------------------------------------------------- */

static void put_call(qp_filter *f, qp_filter_thread *th, const qp_filter_event *e)
{
    settle(f, th);
    call *c = top_of(th);
    for (; c && (c->flags & RETURNED); c = top_of(th)) /* its o never came */
        pop(f, th);
    c = th->n_deep ? NULL : push(f, th, e->method, e->line, ANNOUNCED);
    if (!c)
        return;
    th->held = *e;
    th->held_params = th->params;
    th->params = NULL;
    if (is_unfiltered(f) && f->has_builtins)
        announce(f, th, c, true);
}

static void put_entry(qp_filter *f, qp_filter_thread *th, const qp_filter_event *e)
{
    call *c = th->held.op && th->held.method == e->method ? top_of(th) : NULL;
    if (c) {
        if (is_unfiltered(f))
            announce(f, th, c, true);
        else if (th->held_params && !th->params) {
            th->params = th->held_params;
            th->held_params = NULL;
        }
        c->flags |= ENTERED | DECIDED;
        c->line = e->line;
        th->held.op = '\0';
        block_drop(f, &th->held_params);
    } else {
        settle(f, th);
        c = th->n_deep ? NULL : push(f, th, e->method, e->line, ENTERED);
    }
    if (!c)
        th->n_deep++;
    else if (is_wanted(f, th, e->method)) {
        c->flags |= HAS_ENTRY;
        write_entry(f, th, e, &th->params);
    }
    block_drop(f, &th->params);
}

static void put_exit(qp_filter *f, qp_filter_thread *th, const qp_filter_event *e)
{
    settle(f, th);
    call *c = th->n_deep ? NULL : pop_to_frame(f, th);
    th->n_deep -= th->n_deep != 0;
    if (c) {
        const qp_filter_event exit = {'O', c->method, c->line, e->time_ms};
        if (c->flags & HAS_ENTRY)
            write_entry(f, th, &exit, &th->result);
        c->flags |= RETURNED;
        if (!(c->flags & ANNOUNCED))
            pop(f, th);
    }
    block_drop(f, &th->result);
}

/* Has the frame on top announced this call? */
static bool is_awaited(const qp_filter_thread *th, uint32_t method)
{
    cursor at = {th->calls, 0};
    for (const call *c = down(&at); c && !is_open_frame(c); c = down(&at))
        if (c->method == method)
            return true;
    return false;
}

static void put_return(qp_filter *f, qp_filter_thread *th, const qp_filter_event *e)
{
    settle(f, th);
    if (!th->n_deep && is_awaited(th, e->method)) {
        while (top_of(th)->method != e->method)
            pop(f, th);
        qp_filter_event end = *e;
        end.op = top_of(th)->flags & AS_ENTRY ? 'O' : 'o';
        if (top_of(th)->flags & HAS_CALL)
            write_entry(f, th, &end, &th->result);
        pop(f, th);
    }
    block_drop(f, &th->result);
}

void qp_filter_event_put(qp_filter *f, qp_filter_thread *th, const qp_filter_event *e)
{
    switch (e->op) {
    case 'i':
        put_call(f, th, e);
        break;
    case 'I':
        put_entry(f, th, e);
        break;
    case 'O':
        put_exit(f, th, e);
        break;
    default:
        put_return(f, th, e);
    }
}

void qp_filter_unwind(qp_filter *f, qp_filter_thread *th, uint64_t n)
{
    settle(f, th);
    block_drop(f, &th->result);
    uint64_t n_counted = n < th->n_deep ? n : th->n_deep;
    th->n_deep -= (uint32_t)n_counted;
    for (n -= n_counted; n && pop_to_frame(f, th); n--)
        pop(f, th);
}

void qp_filter_line(qp_filter_thread *th, uint32_t line)
{
    cursor at = {th->n_deep ? NULL : th->calls, 0};
    call *c = down(&at);
    while (c && !is_open_frame(c))
        c = down(&at);
    if (c)
        c->line = line;
}

void qp_filter_value(qp_filter *f, qp_filter_thread *th, bool is_result, const char *value,
                     size_t n_bytes)
{
    qp_filter_block **place = is_result ? &th->result : &th->params;
    if (!f->has_params)
        return;
    bool is_first = !*place;
    if (is_first)
        *place = block_take(f, NULL);
    qp_filter_block *v = *place;
    if (!v)
        return;
    size_t room = QP_FILTER_VALUES - v->n, n_gap = is_first ? 0 : 2;
    if (room < n_gap + n_bytes)
        f->n_cut++;
    if (room < n_gap)
        return;
    memcpy(v->as.bytes + v->n, ", ", n_gap);
    size_t n = qp_dbf_cut(value, n_bytes, room - n_gap);
    memcpy(v->as.bytes + v->n + n_gap, value, n);
    v->n += (uint32_t)(n_gap + n);
}

void qp_filter_reset(qp_filter *f, qp_filter_thread *th)
{
    settle(f, th);
    while (th->calls)
        pop(f, th);
    th->n_deep = 0;
    block_drop(f, &th->params);
    block_drop(f, &th->result);
}
