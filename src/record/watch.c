/* watch.c: what an event does with the event triggers that are enabled. Read qp_watch_raise first.
 *
 * The row of slots is the list of those that are enabled; an event takes a copy of it, so that what
 * it enables waits for the next one. A trigger that was disabled meanwhile is not the one in the
 * copy any more, even if it is enabled again: n_enabled tells. */
#include "record/watch.h"

#include <errno.h>

#include "base/clock.h"
#include "record/event.h"
#include "record/marks.h"
#include "record/rules.h"
#include "record/stack.h"
#include "record/watch_parts.h"
#include "record/worker.h"

enum { RATE_TRIES = 100, HIT_BITS = 30, LOOK_WORDS = 8 };

uint32_t qp_watch_on;
qp_watch_list qp_watch;

/* An event, as it is compared. */
typedef struct {
    qprof_thread *th;
    uint32_t event;
    uintptr_t object;
    const qp_watch_call *call;
    uint64_t value; /* what it is about: ns, depth, percent */
    uint8_t level;  /* QP_CONTEXT_ANY_TASK, _ANY_ISR, _SYSTEM; _ANY: not asked for yet */
} occasion;

typedef struct {
    qp_trg *t;
    uint32_t n_enabled;
} candidate;

/* ---- status -------------------------------------------------------------------------------- */

/* A free slot, taken. @return 0: none */
static uint32_t take_slot(uint32_t cell)
{
    for (uint32_t i = 0; i < QPROF_TRG_MAX_ENABLED; i++) {
        uint32_t none = 0;
        if (!qp_swap_if(&qp_watch.slots[i], &none, cell))
            continue;
        uint32_t n = qp_observe(&qp_watch.n_slots);
        while (n <= i && !qp_swap_if(&qp_watch.n_slots, &n, i + 1))
            ;
        return i + 1;
    }
    return 0;
}

int qp_trg_enable(qp_trg *t)
{
    uint32_t disabled = 0;
    if (qp_observe(&t->slot))
        return 0;
    uint32_t slot = take_slot(qp_trg_cell(t));
    if (!slot)
        return QPROF_E_LIMIT;
    qp_fetch_add(&t->n_enabled, 1);
    qp_fetch_add(&qp_watch.n_enabled, 1);
    if (!qp_swap_if(&t->slot, &disabled, slot)) { /* somebody else has just enabled it */
        qp_fetch_add(&qp_watch.n_enabled, -1u);
        qp_publish(&qp_watch.slots[slot - 1], 0);
    } else if (qp_load(&t->is_dead)) {
        qp_trg_disable(t);
    }
    return 0;
}

void qp_watch_stop(void)
{
    qp_publish(&qp_watch_on, 0);
    qp_watch_changed();
}

void qp_trg_disable(qp_trg *t)
{
    uint32_t slot = __atomic_exchange_n(&t->slot, 0, __ATOMIC_ACQ_REL);
    if (!slot)
        return;
    qp_publish(&qp_watch.slots[slot - 1], 0);
    if (qp_fetch_add(&qp_watch.n_enabled, -1u) == 1 && qp_load(&qp_watch_on))
        qp_watch_stop();
}

/* ---- does it fit? -------------------------------------------------------------------------- */

static bool is_of_runtime(const qprof_thread *th)
{
    const qprof_frame *top = th ? qp_top_of(th) : NULL;
    if (!top)
        return false;
    uint64_t id = top->method_id;
    if (top->node) {
        qp_cell method = qp_event_method(th, top);
        id = method ? ((const qp_method *)qp_at(&qp_run.space, method))->id : 0;
    }
    return id == QPROF_METHOD_GC || id == QPROF_METHOD_COMPILER || id == QPROF_METHOD_LOADER;
}

static uint8_t level_of(const qprof_thread *th)
{
    if (qp_here.n_interrupts)
        return QP_CONTEXT_ANY_ISR;
    return qp_here.n_system || is_of_runtime(th) ? QP_CONTEXT_SYSTEM : QP_CONTEXT_ANY_TASK;
}

uintptr_t qp_watch_id(const qprof_thread *th)
{
    const qp_thread_record *r = qp_record_of(th);
    return (uintptr_t)(qp_run.is_virtual ? qp_load(&r->vt_id) : qp_load(&r->host_id));
}

static bool fits_context(const qp_trg *t, occasion *o)
{
    if (t->context == QP_CONTEXT_ANY)
        return true;
    if (o->level == QP_CONTEXT_ANY)
        o->level = level_of(o->th);
    switch ((qp_config_context)t->context) {
    case QP_CONTEXT_ANY:
    case QP_CONTEXT_ANY_TASK:
        return o->level == QP_CONTEXT_ANY_TASK;
    case QP_CONTEXT_TASK:
        return o->level == QP_CONTEXT_ANY_TASK && o->th && qp_watch_id(o->th) == t->context_id;
    case QP_CONTEXT_ANY_ISR:
    case QP_CONTEXT_ISR:
        return o->level == QP_CONTEXT_ANY_ISR;
    case QP_CONTEXT_SYSTEM:
        return o->level == QP_CONTEXT_SYSTEM;
    }
    return false;
}

static bool fits_object(const qp_trg *t, const occasion *o)
{
    uint32_t named = qp_observe(&t->object);
    uint64_t id = qp_load(&t->object_id);
    if (id)
        return o->object == id;
    return !named || qp_watched_fits(named, o->object);
}

static bool fits_limits(const qp_trg *t, const occasion *o)
{
    uint64_t longer_ns = qp_load(&t->longer_ns), depth = qp_load(&t->depth);
    return (!longer_ns || (o->call && o->call->duration_ns >= longer_ns)) &&
           (!depth || (o->call && o->call->depth >= depth)) && o->value >= qp_load(&t->used);
}

static bool compare(int left, unsigned operator, int right)
{
    switch (operator) {
    case QPROF_TRG_EQ:
        return left == right;
    case QPROF_TRG_NEQ:
        return left != right;
    case QPROF_TRG_LSS:
        return left < right;
    case QPROF_TRG_LEQ:
        return left <= right;
    case QPROF_TRG_GRT:
        return left > right;
    case QPROF_TRG_GEQ:
        return left >= right;
    case QPROF_TRG_OR:
        return (left | right) != 0;
    default:
        return (left & right) != 0;
    }
}

typedef int condition(void);
typedef int predicate(uintptr_t object);

static bool fits_condition(const qp_trg *t, const occasion *o)
{
    void *address = qp_load(&t->when_address);
    int left;
    if (!t->is_conditional)
        return true;
    if (!address) /* of a run that has ended meanwhile */
        return false;
    if (t->when_kind == QPROF_TRG_COND_VAR)
        left = qp_load((int *)address);
    else if (t->when_kind == QPROF_TRG_COND_FUNC)
        left = ((condition *)(uintptr_t)address)();
    else
        left = ((predicate *)(uintptr_t)address)(o->object);
    return compare(left, t->when_operator, t->when_value);
}

/* Is there room for one more hit in this second, which began with a hit? `second` holds when that was,
 * in ms, and the hits since. */
static bool within_rate(qp_trg *t)
{
    static const uint64_t hits = (1u << HIT_BITS) - 1;
    uint32_t most = qp_load(&t->most_a_second);
    if (!most)
        return true;
    uint64_t now = qp_clock_monotonic() / 1000000 << HIT_BITS;
    uint64_t before = qp_load(&t->second);
    for (unsigned tries = 0; tries < RATE_TRIES; tries++) {
        bool is_over = !(before & hits) || now - (before & ~hits) >= 1000ull << HIT_BITS;
        uint64_t next = is_over ? now + 1 : before + 1;
        if ((next & hits) > most)
            return false;
        if (qp_swap_if(&t->second, &before, next))
            return true;
    }
    return false;
}

/* ---- hits ---------------------------------------------------------------------------------- */

/* What follows an action. */
static void after_hit(qp_trg *t)
{
    qp_trg *next = qp_trg_chain(t);
    if (next && qp_trg_enable(next) != 0)
        qp_trg_log(t, "its chain is not enabled, as many as can be are enabled already");
    if (t->is_one_shot && next != t) /* else its chain enables it again */
        qp_trg_disable(t);
}

/* An action that left by a jump: what it has left undone. */
static void finish_left_hit(void)
{
    qp_trg *t = qp_here.look_run == qp_run.epoch ? qp_here.hit : NULL;
    qp_here.hit = NULL;
    if (!t)
        return;
    after_hit(t);
    if (qp_load(&t->is_doomed))
        qp_trg_remove(t);
}

static void hit(qp_trg *t, const occasion *o)
{
    const qp_deed deed = {t->action, qp_observe(&t->name), qp_load(&t->function), t->argument};
    qp_fetch_add(&t->n_hits, 1);
    qp_mark_add(o->th, QP_MARK_EVENT_TRIGGER, qp_watch_text(deed.name), o->event, o->object,
                o->value);
    qp_here.hit = t;
    if (t->is_deferred)
        qp_worker_add(&deed);
    else
        qp_watch_act(&deed);
    qp_here.hit = NULL;
    after_hit(t);
}

/* ---- events -------------------------------------------------------------------------------- */

/* Those that are enabled and wait for this event, in the order of the list. */
static unsigned take_candidates(uint32_t event, candidate *all)
{
    unsigned n = 0;
    for (uint32_t i = 0, n_slots = qp_observe(&qp_watch.n_slots); i < n_slots; i++) {
        uint32_t cell = qp_observe(&qp_watch.slots[i]);
        qp_trg *t = cell ? qp_trg_at(cell) : NULL;
        if (!t || (t->event != event && t->event != QPROF_EV_ANY) ||
            qp_observe(&t->slot) != i + 1)
            continue;
        unsigned at = n++;
        for (; at && all[at - 1].t->number > t->number; at--)
            all[at] = all[at - 1];
        all[at] = (candidate){t, qp_load(&t->n_enabled)};
    }
    return n;
}

void qp_watch_note_stack(const void *here)
{
    if (qp_here.look_run != qp_run.epoch || (uintptr_t)here > (uintptr_t)qp_here.look)
        qp_here.look = NULL;
}

/* Is an event being looked at by a function that called this one, or was that left by a jump or an
 * exception? Then something calls from above it at some time, or writes something else to it.
 * @param here  frame of the function that asks */
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
__attribute__((no_sanitize("address")))
#endif
static bool
is_looking(const void *here)
{
    qp_watch_note_stack(here);
    const uint64_t *look = qp_here.look;
    if (!look)
        return false;
    for (unsigned i = 0; i < LOOK_WORDS; i++)
        if (((const volatile uint64_t *)look)[i] != qp_here.n_looks)
            return false;
    return true;
}

static uint64_t value_of(uint32_t event, const qp_watch_call *call)
{
    if (event == QP_EVENT_MEMORY)
        return qp_watch.percent;
    return !call ? 0 : event == QP_EVENT_FN_EXIT ? call->duration_ns : call->depth;
}

void qp_watch_raise(qprof_thread *th, uint32_t event, uintptr_t object,
                    const qp_watch_call *call)
{
    uint64_t look[LOOK_WORDS];
    candidate all[QPROF_TRG_MAX_ENABLED];
    int host_errno = errno;
    if (!qp_load(&qp_watch_on) || qp_here.is_worker || is_looking(__builtin_frame_address(0)))
        return;
    finish_left_hit();
    occasion o = {th, event, object, call, value_of(event, call), QP_CONTEXT_ANY};
    unsigned n = take_candidates(event, all);
    qp_here.n_looks++;
    for (unsigned i = 0; i < LOOK_WORDS; i++)
        ((volatile uint64_t *)look)[i] = qp_here.n_looks;
    qp_here.look = look;
    qp_here.look_run = qp_run.epoch;
    for (unsigned i = 0; i < n; i++) {
        qp_trg *t = all[i].t;
        if (qp_observe(&t->slot) && qp_load(&t->n_enabled) == all[i].n_enabled &&
            fits_context(t, &o) && fits_object(t, &o) && fits_limits(t, &o) &&
            fits_condition(t, &o) && within_rate(t))
            hit(t, &o);
    }
    for (unsigned i = 0; i < n; i++)
        if (qp_load(&all[i].t->is_doomed))
            qp_trg_remove(all[i].t);
    qp_here.look = NULL;
    errno = host_errno;
}

/* ---- later --------------------------------------------------------------------------------- */

static void note_percent(void)
{
    uint64_t limit = qp_load(&qp_run.space.map.limit_bytes);
    uint64_t used = qp_load(&qp_run_head()->n_cells) * QP_CELL;
    uint32_t percent = (uint32_t)(used >= limit ? 100 : used * 100 / limit);
    uint32_t before = qp_load(&qp_watch.percent);
    while (percent > before)
        if (qp_swap_if(&qp_watch.percent, &before, percent)) {
            qp_watch_later(QP_EVENT_MEMORY, 0);
            break;
        }
}

void qp_watch_later(uint32_t event, uintptr_t object)
{
    if (!qp_load(&qp_watch_on) || is_looking(__builtin_frame_address(0)))
        return; /* what an action causes is not compared, not even later */
    qp_here.waiting |= 1u << event;
    qp_here.sampled = event == QP_EVENT_SAMPLE ? object : qp_here.sampled;
}

qprof_thread *qp_watch_here(void)
{
    qprof_thread *th = qp_thread_current();
    return qp_here.epoch == qp_run.epoch && qp_is_open(th) ? th : NULL;
}

void qp_watch_settle(void)
{
    if (QP_LIKELY(!qp_load(&qp_watch_on)))
        return;
    qp_watch_note_stack(__builtin_frame_address(0));
    note_percent();
    uint32_t waiting = qp_here.waiting;
    qp_here.waiting = 0;
    for (uint32_t event = 1; waiting >> event; event++) {
        qprof_thread *th = waiting >> event & 1 ? qp_watch_here() : NULL;
        uintptr_t object = event == QP_EVENT_SAMPLE         ? qp_here.sampled
                           : event == QP_EVENT_STATUS && th ? qp_watch_id(th)
                                                            : 0;
        if (waiting >> event & 1)
            qp_watch_raise(th, event, object, NULL);
    }
}
