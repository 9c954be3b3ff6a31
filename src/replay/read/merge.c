/* merge.c: OS threads merged by time: a heap of those that have records, the earliest first. */
#include "base/containers/alloc.h"
#include "replay/read/source.h"

enum { SOURCES = sizeof((qp_trace *)0)->sources / sizeof(const qp_trace_source *) };

/* ---- OS threads -------------------------------------------------------------------------- */

uint32_t qp_trace_os_thread_of(qp_trace *t, uint64_t key)
{
    bool is_new;
    uint32_t number = qp_buf_keyed(&t->os_threads, &t->by_ring, key, &is_new);
    t->failed |= !number;
    if (is_new)
        *qp_trace_os_thread_at(t, number - 1) =
            (qp_trace_os_thread){.is_waiting = true, .packets = QP_BUF(qp_packet_place)};
    return number - 1;
}

qp_trace_record *qp_trace_batch(qp_trace *t, qp_trace_os_thread *c)
{
    if (!c->batch)
        c->batch = qp_alloc(QP_BATCH_RECORDS + 2, sizeof *c->batch);
    t->failed |= !c->batch;
    return c->batch;
}

static void release(qp_trace_os_thread *c)
{
    qp_free(c->batch);
    qp_free(c->payload);
    c->batch = NULL;
    c->payload = NULL;
    c->payload_room = 0;
}

/* ---- the heap ---------------------------------------------------------------------------- */

static uint32_t *heap_of(const qp_trace *t)
{
    return t->heap.items;
}

static bool is_before(const qp_trace *t, uint32_t a, uint32_t b)
{
    uint64_t x = qp_trace_os_thread_at(t, a)->next, y = qp_trace_os_thread_at(t, b)->next;
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

void qp_trace_os_thread_wake(qp_trace *t, uint32_t index)
{
    qp_trace_os_thread *c = qp_trace_os_thread_at(t, index);
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
    qp_trace_os_thread *c = qp_trace_os_thread_at(t, heap[0]);
    c->is_waiting = true;
    release(c);
    heap[0] = heap[--t->heap.n];
    sift_down(t);
}

/* @return the moment after the one at which the next OS thread begins; UINT64_MAX: there is none */
static uint64_t limit_of(const qp_trace *t)
{
    const uint32_t *heap = heap_of(t);
    uint64_t limit = UINT64_MAX;
    for (size_t i = 1; i < 3 && i < t->heap.n; i++) {
        uint64_t next = qp_trace_os_thread_at(t, heap[i])->next;
        limit = next < limit - 1 ? next + 1 : limit;
    }
    return limit;
}

/* ---- records ----------------------------------------------------------------------------- */

static bool fill(qp_trace *t, qp_trace_os_thread *c)
{
    bool is_filled = false;
    c->at = c->n = 0;
    for (size_t i = 0; !is_filled && i < SOURCES && t->sources[i]; i++)
        is_filled = t->sources[i]->fill(t, c);
    return is_filled;
}

bool qp_trace_read(qp_trace *t, qp_trace_run *run)
{
    while (t->heap.n && !t->failed) {
        uint32_t index = heap_of(t)[0];
        qp_trace_os_thread *c = qp_trace_os_thread_at(t, index);
        if (c->at == c->n && !fill(t, c)) {
            remove_first(t);
            continue;
        }
        qp_trace_has_time(&c->records[c->at], &c->next);
        size_t n = qp_trace_count_before(c->records + c->at, c->n - c->at, limit_of(t));
        if (n) {
            *run = (qp_trace_run){index, c->records + c->at, n};
            c->at += n;
            if (c->at < c->n)
                qp_trace_has_time(&c->records[c->at], &c->next);
        }
        sift_down(t);
        if (n)
            return true;
    }
    return false;
}

bool qp_trace_next(qp_trace *t, qp_trace_run *run)
{
    if (t->ahead)
        return qp_trace_ahead_next(t->ahead, run);
    bool is_read = qp_trace_read(t, run);
    qp_trace_show(t, &t->read);
    return is_read;
}

/* ---- the end ----------------------------------------------------------------------------- */

void qp_trace_merge_end(qp_trace *t)
{
    for (uint32_t i = 0; i < t->os_threads.n; i++) {
        release(qp_trace_os_thread_at(t, i));
        qp_free(qp_trace_os_thread_at(t, i)->packets.items);
    }
    qp_free(t->os_threads.items);
    qp_free(t->heap.items);
    qp_dict_fini(&t->by_ring);
}
