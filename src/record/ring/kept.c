/* kept.c: -slowest=N/TIME: which requests are kept whole, and their way into the profile. Read qp_kept_offer
 * first.
 *
 * A look at two words tells that a request is not among the slowest. Else a lock is taken, for which the thread
 * waits 1000 times for its turn at most: then the request is counted as request_unkept. */
#include <sched.h>
#include <string.h>

#include "base/os/mapping.h"
#include "record/clock/clock.h"
#include "record/ring/ring.h"
#include "record/tree/tree.h"

enum {
    TRIES_MAX = 1000,
    NUMBER_MAX = 10000,
    MEMORY_SHARE = 64, /* of -memory-limit: what is kept */
    STEPS_SHARE = 8,   /* memory of all steps, for each byte of that */
    REQUEST_SHARE =
        4 /* a request may have that part of the space; its steps are half as large there */
};

/* What is known of an endpoint. */
typedef struct {
    qp_cell method;
    qp_cell first;  /* the shortest of those kept of this window: the next one is its sibling */
    uint32_t n;     /* of them */
    uint64_t least; /* its ticks */
} endpoint;

uint32_t qp_kept_most;

static struct {
    uint32_t is_busy;
    uint64_t window_ns;
    uint32_t window;
    uint32_t n_parts, most_parts, n_endpoints, number;
    qp_slab slab;
    qp_cell free;              /* parts that are */
    qp_cell past, past_newest; /* of earlier windows, the oldest first */
    endpoint *endpoints;
    uint64_t n_bytes; /* of them */
} kept;

/* ---- beginning --------------------------------------------------------------------------- */

/* @return 0: it is none from 1 to NUMBER_MAX */
static uint64_t number_at(const char **text)
{
    uint64_t n = 0;
    for (; (unsigned char)(**text - '0') < 10 && n <= NUMBER_MAX; ++*text)
        n = n * 10 + (uint64_t)(**text - '0');
    return n <= NUMBER_MAX ? n : 0;
}

/* @return N; 0: it is wrong */
static uint32_t parse(const char *text)
{
    const uint32_t n = (uint32_t)number_at(&text);
    if (!*text)
        return n;
    if (*text++ != '/')
        return 0;
    kept.window_ns = number_at(&text) * 1000000000u *
                     (*text == 's'   ? 1
                      : *text == 'm' ? 60
                      : *text == 'h' ? 3600
                                     : 0);
    return kept.window_ns && !text[1] ? n : 0;
}

QP_RARE int qp_kept_begin(qp_error *error)
{
    const qp_options *o = &qp_recorder.options;
    const char *words = qp_option_text(o, QP_OPT_slowest);
    const uint64_t bytes = o->number[QP_OPT_memory_limit] / MEMORY_SHARE;
    const qp_head *h = qp_recorder_head();
    bool is_exact = h->time_mode == QP_TIME_EXACT && h->clock_kind == QP_CLOCK_ELAPSED &&
                    !(qp_recorder.hooks & QP_HOOK_CLASSES);
    qp_pages_drop(kept.endpoints, kept.n_bytes);
    memset(&kept, 0, sizeof kept);
    qp_kept_most = 0;
    if (!words[0])
        return 0;
    const uint32_t most = parse(words);
    if (!is_exact || !most)
        return qp_error_set(error, QPROF_E_OPTION, "-slowest=%.40s: %s", words,
                            is_exact ? "expected N or N/TIME, as 8/60s; at most 10000"
                                     : "needs -time=exact and -clock=elapsed");
    kept.most_parts = (uint32_t)(bytes / QP_KEPT_BYTES);
    kept.n_bytes = (o->number[QP_OPT_endpoints] + 1) * sizeof *kept.endpoints;
    kept.endpoints = qp_pages_take(kept.n_bytes);
    if (!kept.endpoints || !qp_steps_reserve(bytes * STEPS_SHARE, bytes / REQUEST_SHARE * 2))
        return QPROF_E_MEMORY;
    qp_kept_most = most;
    return 0;
}

static bool lock(void)
{
    for (unsigned i = 0; i < TRIES_MAX; i++, sched_yield()) {
        uint32_t free = 0;
        if (qp_swap_if(&kept.is_busy, &free, 1))
            return true;
    }
    return false;
}

static void unlock(void)
{
    qp_publish(&kept.is_busy, 0);
}

/* ---- parts ------------------------------------------------------------------------------- */

static qp_kept *kept_at(qp_cell cell)
{
    return qp_at(&qp_recorder.space, cell);
}

/* Take one out of a list. From now on readers find nothing of it. */
static void drop(qp_cell *place)
{
    qp_cell cell = *place;
    *place = kept_at(cell)->sibling;
    while (cell) {
        qp_kept *k = kept_at(cell);
        const qp_cell next = (qp_cell)k->part.next;
        qp_publish(&k->part.published, 0);
        k->part.number = 0;
        k->part.next = kept.free;
        kept.free = cell;
        cell = next;
    }
}

/* @return cells that are zero; 0: no room */
static qp_cell take(void)
{
    qp_cell cell = 0;
    if (!kept.free && kept.n_parts < kept.most_parts)
        cell = qp_slab_take(&qp_recorder.space, &kept.slab, QP_EXTENT_KEPT, QP_KEPT_CELLS,
                            QP_RESERVE_ORDINARY);
    kept.n_parts += cell != 0;
    if (!cell && !kept.free && kept.past)
        drop(&kept.past);
    if (!cell && kept.free) {
        cell = kept.free;
        kept.free = (qp_cell)kept_at(cell)->part.next;
        memset(kept_at(cell), 0, QP_KEPT_BYTES);
    }
    return cell;
}

/* ---- steps ------------------------------------------------------------------------------- */

typedef struct {
    qp_kept *to;
    qp_kept_part *part;
    uint64_t *at, *end; /* at NULL: no more room */
    uint64_t raw;       /* of the path before */
    uint32_t n_parts;
} packer;

static void next_part(packer *p)
{
    qp_cell cell = p->n_parts++ < kept.most_parts / REQUEST_SHARE ? take() : 0;
    p->at = NULL;
    if (!cell)
        return;
    p->part->next = cell;
    p->part = qp_at(&qp_recorder.space, cell);
    p->part->number = p->to->part.number;
    p->at = (uint64_t *)(p->part + 1);
    p->end = p->at + (QP_KEPT_BYTES - sizeof *p->part) / sizeof *p->at;
}

static void put(packer *p, uint64_t what, uint64_t ticks)
{
    if (ticks >> 32)
        put(p, QP_STEP_UPPER, ticks >> 32);
    if (p->at == p->end)
        next_part(p);
    if (!p->at)
        return;
    *p->at++ = ticks << 32 | what;
    p->part->n_steps++;
}

static void put_step(void *to, const uint64_t *step)
{
    packer *p = to;
    uint64_t ticks = step[0], what = step[1];
    if (what > QP_STEP_OFF) {
        what >>= 6;
        ticks = ticks > p->raw ? ticks - p->raw : 0;
        p->raw += ticks;
    }
    put(p, what, ticks);
    p->to->n_after += !p->at;
}

/* ---- which ------------------------------------------------------------------------------- */

/* What was kept so far is of an earlier window, and gives way to others. */
static void end_window(void)
{
    for (uint32_t i = 0; i < kept.n_endpoints; i++) {
        endpoint *e = &kept.endpoints[i];
        *(kept.past ? &kept_at(kept.past_newest)->sibling : &kept.past) = e->first;
        for (; e->first; e->first = kept_at(e->first)->sibling)
            kept.past_newest = e->first;
        qp_store(&e->n, 0);
    }
}

static endpoint *endpoint_of(qp_node_requests *r, qp_cell method)
{
    uint32_t i = 0;
    while (i < kept.n_endpoints && kept.endpoints[i].method != method)
        i++;
    if (i == kept.n_endpoints)
        kept.n_endpoints++;
    r->endpoint = i + 1;
    kept.endpoints[i].method = method;
    return &kept.endpoints[i];
}

static uint64_t ticks_of(qp_cell cell)
{
    return kept_at(cell)->ended_raw - kept_at(cell)->begun_raw;
}

/* Where a request belongs in its endpoint's list: before those that are as long, or longer. */
static qp_cell *place_of(endpoint *e, uint64_t ticks)
{
    qp_cell *place = &e->first;
    while (*place && ticks_of(*place) < ticks)
        place = &kept_at(*place)->sibling;
    return place;
}

static bool is_candidate(const endpoint *e, uint32_t window, uint64_t ticks)
{
    return qp_load(&e->n) < qp_kept_most || ticks > qp_load(&e->least) ||
           window > qp_load(&kept.window);
}

/* @return false: no room at all */
static bool keep(qprof_thread *th, endpoint *e, const qp_node_requests *r, uint64_t raw,
                 uint32_t flags)
{
    if (e->n == qp_kept_most) {
        drop(&e->first);
        qp_store(&e->n, e->n - 1);
    }
    qp_cell cell = take();
    if (!cell)
        return false;
    qp_kept *k = kept_at(cell);
    k->part.number = ++kept.number;
    k->path = qp_steps_of(th)->open;
    k->thread = qp_record_cell(th);
    k->flags = flags;
    k->window = kept.window;
    k->begun_raw = r->begun;
    k->ended_raw = raw;
    memcpy(k->trace, r->trace, sizeof k->trace);
    memcpy(k->span, r->span, sizeof k->span);
    packer p = {.to = k,
                .part = &k->part,
                .at = (uint64_t *)(k + 1),
                .end = (uint64_t *)(k + 1) + (QP_KEPT_BYTES - sizeof *k) / sizeof *p.at,
                .raw = r->begun,
                .n_parts = 1};
    k->n_before = qp_steps_walk(th, r->first_step, put_step, &p);
    qp_cell *place = place_of(e, ticks_of(cell));
    k->sibling = *place;
    *place = cell;
    qp_store(&e->n, e->n + 1);
    qp_store(&e->least, ticks_of(e->first));
    qp_publish(&k->part.published, 1);
    return true;
}

/* The thread's clock is stopped from a moment until now. */
static void leave_out(qprof_thread *th, uint64_t raw)
{
    uint64_t ticks = qp_clock_elapsed() - raw;
    if (th->pulse->suspended_at || (int64_t)ticks <= 0)
        return;
    QPROF_ADD(th->pulse->offset, ticks);
    qp_steps_of(th)->offset = th->pulse->offset;
}

void qp_kept_offer(qprof_thread *th, qp_node_requests *r, uint64_t raw, uint32_t flags)
{
    uint32_t window = 0;
    if (kept.window_ns)
        window = (uint32_t)(qp_clock_ns(raw - qp_recorder_head()->begun_raw) / kept.window_ns);
    if (r->is_counted != QP_REQUEST_COUNTED ||
        (r->endpoint &&
         !is_candidate(&kept.endpoints[r->endpoint - 1], window, raw - r->begun)))
        return;
    bool is_kept = false, is_locked = lock();
    if (is_locked) {
        endpoint *e = endpoint_of(r, qp_node_at(th, qp_steps_of(th)->open)->method);
        if (window > kept.window) {
            end_window();
            qp_store(&kept.window, window);
        }
        /* meanwhile others may have been slower */
        is_kept = !is_candidate(e, kept.window, raw - r->begun) || keep(th, e, r, raw, flags);
        unlock();
    }
    if (!is_kept)
        qp_count(&qp_recorder.space, QP_D_request_unkept);
    leave_out(th, raw);
}

QP_RARE void qp_kept_clear(void)
{
    if (!qp_kept_is_on() || !lock())
        return;
    end_window();
    while (kept.past)
        drop(&kept.past);
    unlock();
}
