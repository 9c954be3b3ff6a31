/* event_trigger.c: comparing an event with the enabled event triggers. Read
 * qp_event_triggers_raise first.
 *
 * The row of slots lists the enabled event triggers. An event works on a copy of it, so one
 * that it enables waits for the next event. One that was disabled meanwhile does not count,
 * even if it is enabled again: its n_enabled has changed. */
#include "record/trigger/trigger.h"

#include <errno.h>

#include "base/os/clock.h"
#include "record/ring/ring.h"
#include "record/tree/tree.h"

enum { RATE_TRIES = 100, HIT_BITS = 30 };

void (*qp_perform)(const qp_action_request *request);

/* An event that is being compared. */
typedef struct {
    qprof_thread *th;
    uint32_t event;
    uintptr_t object;
    const qp_event_call *call;
    uint64_t value; /* ns, depth, percent */
    uint8_t level;  /* QP_CONTEXT_ANY_TASK, _ANY_ISR, _SYSTEM; _ANY: not determined yet */
} occasion;

typedef struct {
    qp_event_trigger *t;
    uint32_t n_enabled;
} candidate;

/* ---- does it fit? ------------------------------------------------------------------------ */

static bool is_of_runtime(const qprof_thread *th)
{
    uint64_t id = th ? qp_stack_method(th) : 0;
    return id == QPROF_METHOD_GC || id == QPROF_METHOD_COMPILER || id == QPROF_METHOD_LOADER;
}

uintptr_t qp_event_triggers_id(const qprof_thread *th)
{
    const qp_thread_record *r = qp_record_of(th);
    return (uintptr_t)(qp_recorder.is_virtual ? qp_load(&r->vt_id) : qp_load(&r->host_id));
}

static bool fits_context(const qp_event_trigger *t, occasion *o)
{
    if (t->context == QP_CONTEXT_ANY)
        return true;
    if (o->level == QP_CONTEXT_ANY)
        o->level = qp_here.n_interrupts                       ? QP_CONTEXT_ANY_ISR
                   : qp_here.n_system || is_of_runtime(o->th) ? QP_CONTEXT_SYSTEM
                                                              : QP_CONTEXT_ANY_TASK;
    if (t->context == QP_CONTEXT_TASK)
        return o->level == QP_CONTEXT_ANY_TASK && o->th &&
               qp_event_triggers_id(o->th) == t->context_id;
    return o->level == (t->context == QP_CONTEXT_ISR ? QP_CONTEXT_ANY_ISR : t->context);
}

static bool fits_object(const qp_event_trigger *t, const occasion *o)
{
    uint32_t named = qp_observe(&t->object);
    uint64_t id = qp_load(&t->object_id);
    if (id)
        return o->object == id;
    return !named || qp_event_target_fits(named, o->object);
}

static bool fits_limits(const qp_event_trigger *t, const occasion *o)
{
    uint64_t longer_ns = qp_load(&t->longer_ns), depth = qp_load(&t->depth);
    return (!longer_ns || (o->call && o->call->duration_ns >= longer_ns)) &&
           (!depth || (o->call && o->call->depth >= depth)) && o->value >= qp_load(&t->used);
}

static bool compare(int left, unsigned operator, int right)
{
    const bool results[] = {
        [QPROF_TRG_EQ] = left == right,
        [QPROF_TRG_NEQ] = left != right,
        [QPROF_TRG_LSS] =
            left<right, [QPROF_TRG_LEQ] = left <= right, [QPROF_TRG_GRT] = left> right,
        [QPROF_TRG_GEQ] = left >= right,
        [QPROF_TRG_OR] = (left | right) != 0,
        [QPROF_TRG_AND] = (left & right) != 0};
    return results[operator];
}

typedef int condition(void);
typedef int predicate(uintptr_t object);

static bool fits_condition(const qp_event_trigger *t, const occasion *o)
{
    void *address = qp_load(&t->when_address);
    int left;
    if (!t->is_conditional)
        return true;
    if (!address) /* its run has ended meanwhile */
        return false;
    if (t->when_kind == QPROF_TRG_COND_VAR)
        left = qp_load((int *)address);
    else if (t->when_kind == QPROF_TRG_COND_FUNC)
        left = ((condition *)(uintptr_t)address)();
    else
        left = ((predicate *)(uintptr_t)address)(o->object);
    return compare(left, t->when_operator, t->when_value);
}

/* Does the rate allow one more hit in this second, which began with a hit? `second` holds the
 * time of that hit in ms, and the number of hits since. */
static bool within_rate(qp_event_trigger *t)
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

/* ---- hits -------------------------------------------------------------------------------- */

/* Enable the chain, and disable a one-shot, after the action. The chain comes first: triggering ends
 * when the last one is disabled. If all slots are taken, the one-shot makes room. */
static void after_hit(qp_event_trigger *t)
{
    qp_event_trigger *next = qp_event_trigger_chain(t);
    int code = next ? qp_event_trigger_enable(next) : 0;
    if (t->is_one_shot && next != t) { /* its chain may be itself: it remains enabled */
        qp_event_trigger_disable(t);
        code = code ? qp_event_trigger_enable(next) : 0;
    }
    if (code)
        qp_event_trigger_log(t,
                             "its chain is not enabled: too many event triggers are enabled");
}

/* Finish a hit whose action left by a jump. */
static void finish_left_hit(void)
{
    qp_event_trigger *t = qp_here.look_run == qp_recorder.epoch ? qp_here.hit : NULL;
    qp_here.hit = NULL;
    if (!t)
        return;
    after_hit(t);
    if (qp_load(&t->is_doomed))
        qp_event_trigger_remove(t);
}

static void hit(qp_event_trigger *t, const occasion *o)
{
    const qp_action_request request = {t->action, qp_observe(&t->name), qp_load(&t->function),
                                       t->argument, t->is_deferred};
    qp_fetch_add(&t->n_hits, 1);
    qp_marker_add(o->th, QP_MARKER_EVENT_TRIGGER, qp_event_trigger_text(request.name), o->event,
                  o->object, o->value);
    qp_here.hit = t;
    qp_perform(&request);
    qp_here.hit = NULL;
    after_hit(t);
}

/* ---- events ------------------------------------------------------------------------------ */

/* Collect the enabled ones for this event, in the order of the list. @return their number */
static unsigned take_candidates(uint32_t event, candidate *all)
{
    unsigned n = 0;
    for (uint32_t i = 0, n_slots = qp_observe(&qp_event_triggers.n_slots); i < n_slots; i++) {
        uint32_t cell = qp_observe(&qp_event_triggers.slots[i]);
        qp_event_trigger *t = cell ? qp_event_trigger_at(cell) : NULL;
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

/* It shows by its place on the stack that it is at work. */
QP_REAL_STACK void qp_event_triggers_raise(qprof_thread *th, uint32_t event, uintptr_t object,
                                           const qp_event_call *call)
{
    uint64_t look[QP_LOOK_WORDS];
    candidate all[QPROF_TRG_MAX_ENABLED];
    int host_errno = errno;
    if (!qp_load(&qp_is_triggering) || qp_here.is_worker ||
        qp_event_is_looking(__builtin_frame_address(0)))
        return;
    finish_left_hit();
    uint64_t value = event == QP_EVENT_MEMORY    ? qp_event_triggers.percent
                     : !call                     ? 0
                     : event == QP_EVENT_FN_EXIT ? call->duration_ns
                                                 : call->depth;
    occasion o = {th, event, object, call, value, QP_CONTEXT_ANY};
    unsigned n = take_candidates(event, all);
    qp_here.n_looks++;
    for (unsigned i = 0; i < QP_LOOK_WORDS; i++)
        ((volatile uint64_t *)look)[i] = qp_here.n_looks;
    qp_here.look = look;
    qp_here.look_run = qp_recorder.epoch;
    for (unsigned i = 0; i < n; i++) {
        qp_event_trigger *t = all[i].t;
        if (qp_observe(&t->slot) && qp_load(&t->n_enabled) == all[i].n_enabled &&
            fits_context(t, &o) && fits_object(t, &o) && fits_limits(t, &o) &&
            fits_condition(t, &o) && within_rate(t))
            hit(t, &o);
    }
    for (unsigned i = 0; i < n; i++)
        if (qp_load(&all[i].t->is_doomed))
            qp_event_trigger_remove(all[i].t);
    qp_here.look = NULL;
    errno = host_errno;
}

/* ---- later ------------------------------------------------------------------------------- */

static void note_percent(void)
{
    uint64_t limit = qp_load(&qp_recorder.space.map.limit_bytes);
    uint64_t used = qp_load(&qp_recorder_head()->n_cells) * QP_CELL;
    uint32_t percent = (uint32_t)(used >= limit ? 100 : used * 100 / limit);
    uint32_t before = qp_load(&qp_event_triggers.percent);
    while (percent > before)
        if (qp_swap_if(&qp_event_triggers.percent, &before, percent)) {
            qp_event_later(QP_EVENT_MEMORY, 0);
            break;
        }
}

qprof_thread *qp_event_triggers_here(void)
{
    qprof_thread *th = qp_thread_current();
    return qp_here.epoch == qp_recorder.epoch && qp_is_open(th) ? th : NULL;
}

void qp_event_triggers_settle(void)
{
    if (QP_LIKELY(!qp_load(&qp_is_triggering)))
        return;
    qp_event_note_stack(__builtin_frame_address(0));
    note_percent();
    uint32_t waiting = qp_here.waiting;
    qp_here.waiting = 0;
    for (uint32_t event = 1; waiting >> event; event++) {
        qprof_thread *th = waiting >> event & 1 ? qp_event_triggers_here() : NULL;
        uintptr_t object = event == QP_EVENT_SAMPLE         ? qp_here.sampled
                           : event == QP_EVENT_STATUS && th ? qp_event_triggers_id(th)
                                                            : 0;
        if (waiting >> event & 1)
            qp_event_triggers_raise(th, event, object, NULL);
    }
}
