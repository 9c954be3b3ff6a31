/* spans_state.c: threads, carriers, how often methods are open, and records in several pieces. */
#include <string.h>

#include "base/alloc.h"
#include "replay/spans_parts.h"

/* ---- open methods ---------------------------------------------------------------------------- */

enum { OPEN_FIRST_SHIFT = 28, TEXT_MOST = 1 << 16 };

bool qp_open_grow(qp_span_thread *th)
{
    struct qp_open_method *old = th->open;
    uint32_t n_old = old ? th->open_mask + 1 : 0;
    uint32_t shift = old ? th->open_shift - 1 : OPEN_FIRST_SHIFT;
    struct qp_open_method *wider =
        shift ? qp_alloc_zeroed((size_t)1 << (32 - shift), sizeof *wider) : NULL;
    th->failed |= !wider;
    if (!wider)
        return false;
    th->open = wider;
    th->open_shift = shift;
    th->open_mask = (1u << (32 - shift)) - 1;
    for (uint32_t i = 0; i < n_old; i++)
        if (old[i].n)
            wider[qp_open_slot(th, old[i].method)] = old[i];
    qp_free(old);
    return true;
}

void qp_open_close(qp_span_thread *th, uint32_t hole)
{
    uint32_t mask = th->open_mask;
    for (uint32_t i = (hole + 1) & mask; th->open[i].n; i = (i + 1) & mask) {
        uint32_t home = qp_open_home(th, th->open[i].method);
        if (((i - home) & mask) < ((i - hole) & mask))
            continue; /* it is not looked for at the hole */
        th->open[hole] = th->open[i];
        th->open[i].n = 0;
        hole = i;
    }
}

/* ---- threads and carriers -------------------------------------------------------------------- */

qp_span_carrier *qp_span_carrier_at(qp_spans *x, uint32_t carrier)
{
    while (x->carriers.n <= carrier && !x->failed) {
        qp_span_carrier *c = qp_buf_add(&x->carriers);
        x->failed |= !c;
        if (c)
            qp_buf_init(&c->text, 1);
    }
    return x->failed ? NULL : (qp_span_carrier *)x->carriers.items + carrier;
}

static qp_span_thread *add_thread(qp_spans *x, uint32_t number)
{
    qp_span_thread *th = qp_alloc_zeroed(1, sizeof *th), **item = qp_buf_add(&x->threads);
    if (!th || !item) {
        qp_free(th);
        x->failed = true;
        return NULL;
    }
    *item = th;
    th->number = number;
    th->index = (uint32_t)x->threads.n - 1;
    x->index_of[number] = th->index + 1;
    return th;
}

qp_span_thread *qp_span_thread_of(qp_spans *x, uint32_t number)
{
    if (number >= x->n_indices) {
        size_t n = ((size_t)number + 16) * 2;
        uint32_t *wider = qp_realloc(x->index_of, n, sizeof *wider);
        x->failed |= !wider;
        if (!wider)
            return NULL;
        memset(wider + x->n_indices, 0, (n - x->n_indices) * sizeof *wider);
        x->index_of = wider;
        x->n_indices = n;
    }
    uint32_t index = x->index_of[number];
    return index ? ((qp_span_thread **)x->threads.items)[index - 1] : add_thread(x, number);
}

/* ---- records in several pieces --------------------------------------------------------------- */

/* The n-th of the texts that follow each other, each ended by NUL. */
static const char *text_at(const qp_buf *text, unsigned n)
{
    const char *at = text->items, *end = at + text->n;
    while (n-- > 0 && at < end)
        at += strnlen(at, (size_t)(end - at)) + 1;
    return at && at < end ? at : "";
}

static void tell_begun(qp_spans *x, qp_span_carrier *c, uint64_t value)
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
static void add_text(qp_spans *x, qp_span_carrier *c, const qp_trace_record *r)
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
        tell_begun(x, c, 0);
}

bool qp_span_collect(qp_spans *x, qp_span_carrier *c, qp_trace_op op, const qp_trace_record *r)
{
    qp_trace_op begun = (qp_trace_op)(c->begun.word >> QP_TRACE_OP_SHIFT);
    if (op == QP_TRACE_TEXT && begun == QP_TRACE_VALUE) {
        add_text(x, c, r);
    } else if (op == QP_TRACE_DATA && begun == QP_TRACE_COUNTER) {
        tell_begun(x, c, (uint64_t)r->b << 32 | r->a);
    } else if (begun) { /* the rest of it was lost */
        tell_begun(x, c, 0);
    }
    if (op != QP_TRACE_VALUE && op != QP_TRACE_COUNTER)
        return op == QP_TRACE_TEXT || op == QP_TRACE_DATA;
    c->begun = *r;
    c->n_missing = op == QP_TRACE_VALUE ? r->b : 0;
    c->text.n = 0;
    if (op == QP_TRACE_VALUE && !r->b)
        tell_begun(x, c, 0);
    return true;
}

void qp_span_tell(qp_spans *x, qp_span_carrier *c, qp_span_thread *th, qp_trace_op op,
                  const qp_trace_record *r)
{
    qp_span_event e = {.op = op, .a = r->a, .b = r->b};
    if (op == QP_TRACE_LOST) {
        e.value = (uint64_t)r->b << 32 | r->a;
        x->counts.n_lost += e.value;
        x->counts.n_gaps++;
    }
    if (op == QP_TRACE_MARK)
        e.name = qp_names_text(x->names, r->a);
    if (!th)
        th = c->thread ? c->thread : qp_span_thread_of(x, 0);
    if (x->sink.event && !x->is_muted && th && op != QP_TRACE_STACK)
        x->sink.event(x->sink.to, th, &e);
}
