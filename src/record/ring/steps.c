/* steps.c: what a thread does in a request, step by step. Read put and qp_steps_note first; usual events are
 * in trace_fast.h.
 *
 * Steps lie in chunks of a memory that all threads share: a thread takes one more where its newest is full, and
 * gives them back when its outermost request ends. One that may have no more uses its oldest again, so that the
 * first steps of a request are lost, and not the last. */
#include "record/ring/ring.h"

#include "base/os/mapping.h"
#include "record/clock/clock.h"
#include "record/tree/tree.h"

enum {
    CHUNK_BYTES = 4096,
    STEP_WORDS = 2,
    CHUNK_STEPS = (CHUNK_BYTES - 16) / 16,
    CHUNK_WORDS = CHUNK_STEPS * STEP_WORDS
};

typedef struct {
    uint32_t next;   /* number of the thread's next chunk, or of the next free one */
    uint32_t number; /* of its first step */
    uint64_t unused;
    uint64_t steps[CHUNK_WORDS];
} chunk;
_Static_assert(sizeof(chunk) == CHUNK_BYTES, "pages");

static struct {
    chunk *chunks;
    uint64_t n_bytes;
    uint64_t free;    /* tag, number from 1: atomic, like the next */
    uint32_t n_used;  /* ever */
    uint32_t n, most; /* chunks; of a thread */
} memory;

bool qp_steps_reserve(uint64_t n_bytes, uint64_t n_thread_bytes)
{
    if (n_bytes != memory.n_bytes) {
        qp_pages_drop(memory.chunks, memory.n_bytes);
        memory.chunks = qp_pages_take(n_bytes);
        memory.n_bytes = memory.chunks ? n_bytes : 0;
    }
    memory.free = 0;
    memory.n_used = 0;
    memory.n = (uint32_t)(memory.n_bytes / CHUNK_BYTES);
    memory.most = (uint32_t)(n_thread_bytes / CHUNK_BYTES);
    return memory.chunks;
}

/* ---- chunks ------------------------------------------------------------------------------ */

static chunk *chunk_at(uint32_t number)
{
    return &memory.chunks[number - 1];
}

/* @return 0: there is none */
static uint32_t take_chunk(void)
{
    uint64_t head = qp_observe(&memory.free), next;
    do {
        uint32_t used = qp_load(&memory.n_used);
        if (!(uint32_t)head && used < memory.n)
            used = qp_fetch_add(&memory.n_used, 1);
        if (!(uint32_t)head)
            return used < memory.n ? used + 1 : 0;
        next = ((head >> 32) + 1) << 32 | qp_load(&chunk_at((uint32_t)head)->next);
    } while (!qp_swap_if(&memory.free, &head, next));
    return (uint32_t)head;
}

static void drop_chunks(uint32_t first, uint32_t last)
{
    uint64_t head = qp_observe(&memory.free), next;
    do {
        qp_store(&chunk_at(last)->next, (uint32_t)head);
        next = ((head >> 32) + 1) << 32 | first;
    } while (!qp_swap_if(&memory.free, &head, next));
}

/* The number of the next step. */
static uint32_t next_number(const qp_steps *s)
{
    const chunk *c = chunk_at(s->newest);
    return c->number + (uint32_t)(s->at - c->steps) / STEP_WORDS;
}

static void use_chunk(qp_steps *s, uint32_t which, uint32_t first_step)
{
    chunk *c = chunk_at(which);
    qp_store(&c->next, 0);
    c->number = first_step;
    s->newest = which;
    s->at = c->steps;
    s->end = c->steps + CHUNK_WORDS;
}

/* The newest chunk is full. */
static QP_RARE void extend(qp_steps *s)
{
    uint32_t first_step = next_number(s);
    uint32_t full = s->newest, next = s->n_chunks < memory.most ? take_chunk() : 0;
    s->n_chunks += next != 0;
    if (!next) {
        next = s->first;
        s->first = next == full ? next : qp_load(&chunk_at(next)->next);
    }
    use_chunk(s, next, first_step);
    if (next != full)
        qp_store(&chunk_at(full)->next, next);
}

static void put(qp_steps *s, uint64_t first, uint64_t second)
{
    if (s->at == s->end)
        extend(s);
    s->at[0] = first;
    s->at[1] = second;
    s->at += STEP_WORDS;
}

/* ---- requests ---------------------------------------------------------------------------- */

static qp_node_requests *requests_of(const qprof_thread *th, qp_cell path)
{
    const qp_node_more *more = QPROF_CELL(th, qp_node_more, qp_node_at(th, path)->more);
    return QPROF_CELL(th, qp_node_requests, more->requests);
}

static bool is_at_or_below(const qprof_thread *th, qp_cell path, qp_cell endpoint)
{
    while (path > endpoint)
        path = qp_node_at(th, path)->parent;
    return path == endpoint;
}

void qp_steps_begin(qprof_thread *th, qp_cell path, qp_node_requests *r)
{
    qp_steps *s = qp_steps_of(th);
    r->outer = s->open;
    if (!s->open && !(s->first = take_chunk())) {
        qp_count(&qp_recorder.space, QP_D_request_unkept);
        return;
    }
    if (!s->open) {
        use_chunk(s, s->first, 1);
        s->n_chunks = 1;
        s->off = 0;
        s->offset = th->pulse->offset;
        qp_fetch_or(&th->gate, QP_HOOK_STEPS);
        qp_fetch_and(&th->gate, ~(uint32_t)QPROF_HOOK_EXACT);
    }
    s->open = path;
    r->first_step = next_number(s);
    put(s, r->begun, (uint64_t)path << 6);
}

void qp_steps_drop(qprof_thread *th)
{
    qp_steps *s = qp_steps_of(th);
    if (!s->open)
        return;
    s->open = 0;
    drop_chunks(s->first, s->newest);
    if (QPROF_LOAD(th->gate) & QP_HOOK_STEPS) {
        qp_fetch_or(&th->gate, QPROF_HOOK_EXACT);
        qp_fetch_and(&th->gate, ~(uint32_t)QP_HOOK_STEPS);
    }
}

void qp_steps_end(qprof_thread *th, qp_node_requests *r, uint64_t raw, uint32_t flags)
{
    qp_steps *s = qp_steps_of(th);
    qp_kept_offer(th, r, raw, flags);
    r->first_step = 0;
    if (r->outer)
        s->open = r->outer;
    else
        qp_steps_drop(th);
}

static void cut(qprof_thread *th)
{
    qp_steps_end(th, requests_of(th, qp_steps_of(th)->open), qp_clock_elapsed(), QP_KEPT_CUT);
}

void qp_steps_close(qprof_thread *th)
{
    while (qp_steps_of(th)->open)
        cut(th);
}

/* Is a path in the innermost request? The last step's was. Usually one call was entered or left since then: the
 * way up to the request, which may be long, is walked only where the stack was changed otherwise. */
static bool is_inside(const qprof_thread *th, const qp_steps *s, qp_cell path)
{
    const qp_cell caller = qp_node_at(th, path)->parent;
    qp_cell at = (qp_cell)(s->at[-1] >> 6);
    while (at > caller && at != path && at != s->open)
        at = qp_node_at(th, at)->parent;
    return at == path || at == caller || is_at_or_below(th, path, s->open);
}

void qp_steps_note(qprof_thread *th, const qprof_frame *top)
{
    qp_steps *s = qp_steps_of(th);
    const qp_cell path = qp_frame_path(top);
    const uint64_t offset = th->pulse->offset;
    if ((int64_t)(offset - s->offset) > 0)
        put(s, offset - s->offset, QP_STEP_SUSPENDED);
    s->offset = offset;
    if (s->off)
        put(s, s->off, QP_STEP_OFF);
    s->off = 0;
    while (s->open && !is_inside(th, s, path))
        cut(th);
    if (s->open)
        put(s, th->pulse->last + offset, (uint64_t)path << 6);
}

/* ---- walks ------------------------------------------------------------------------------- */

uint32_t qp_steps_walk(const qprof_thread *th, uint32_t from, qp_step_visitor *visit, void *to)
{
    const qp_steps *s = qp_steps_of(th);
    const uint32_t oldest = chunk_at(s->first)->number;
    const chunk *c;
    for (uint32_t i = s->first; i; i = c->next) {
        c = chunk_at(i);
        const uint64_t *at = c->steps;
        const uint64_t *end = i == s->newest ? s->at : c->steps + CHUNK_WORDS;
        for (uint32_t number = c->number; at != end; at += STEP_WORDS)
            if (number++ >= from)
                visit(to, at);
    }
    return oldest > from ? oldest - from : 0;
}
