/* trigger.c: triggers at work, and the status of threads. Read qp_triggers_act first.
 *
 * An acting trigger saves the status of its thread in the call's frame and sets it; the end of
 * the frame restores it. Where several act, the status saved first is restored last, so one
 * saved value is enough. Actions save nothing. */
#include "record/trigger/trigger.h"

#include "base/atomic.h"
#include "record/clock/clock.h"
#include "record/pause/pause.h"
#include "record/ring/ring.h"
#include "record/tree/tree.h"

enum { TURNS_MAX = 4096 };

/* An action on all threads; each thread applies it at its next event. */
typedef struct {
    uint64_t raw; /* when */
    bool on;
} turn;
static turn turns[TURNS_MAX]; /* the last ones */

/* What a trigger, or (ordinal 0) the list of turns, has seen of a thread. A cell of its edition. */
typedef struct {
    uint64_t key;     /* row of the thread and ordinal */
    uint64_t n;       /* calls, or turns */
    uint64_t n_lives; /* the row's, when it was counted */
    bool begins_off;  /* ordinal 0: its status until its first event */
} seen;

/* Only the thread's driver calls it. @return NULL: no memory */
static seen *seen_of(const qprof_thread *th, uint32_t edition, uint32_t ordinal)
{
    uint64_t key = (uint64_t)qp_record_cell(th) << 32 | ordinal;
    qp_pool *pool = qp_triggers_pool(edition);
    uint32_t root = qp_observe(&qp_triggers.editions[edition].roots[QP_ROOT_THREADS]);
    if (!root)
        return NULL;
    uint32_t cell = qp_triggers_get(pool, root, key);
    if (!cell) {
        uint32_t fresh = qp_pool_take(pool, sizeof(seen));
        if (!fresh)
            return NULL;
        ((seen *)qp_pool_at(pool, fresh))->key = key;
        cell = qp_triggers_put(pool, root, fresh);
    }
    seen *s = cell ? qp_pool_at(pool, cell) : NULL;
    if (s && s->n_lives != qp_record_of(th)->n_lives) { /* the row has another thread now ... */
        s->n = 0;                                       /* ... but others read the key */
        s->n_lives = qp_record_of(th)->n_lives;
        s->begins_off = false;
    }
    return s;
}

static void add_marker(const qprof_thread *th, const qp_trigger *trigger, qp_cell method)
{
    const qp_method *m = qp_at(&qp_recorder.space, method);
    qp_marker_add(th, trigger->kind == QP_KIND_TRIGGER ? QP_MARKER_TRIGGER : QP_MARKER_ACTION,
                  qp_pool_text_at(qp_triggers_pool(0), trigger->name), 0, m->id, 0);
}

/* ---- status and actions ------------------------------------------------------------------ */

void qp_triggers_turn(qprof_thread *th, qprof_frame *top, bool on, uint64_t raw)
{
    if (on == qp_triggers_is_on(th))
        return;
    qp_pause_turn(th, top, on, raw, false);
    qp_event_later(QP_EVENT_STATUS, 0); /* the call is complete then: an action may jump out */
}

void qp_triggers_turn_all(bool on)
{
    turn *t = &turns[qp_triggers.n_turns % TURNS_MAX];
    uint64_t since = qp_recorder_head()->stopped_since; /* clocks are paused */
    qp_store(&t->raw, since ? since : qp_clock_elapsed());
    qp_store(&t->on, on);
    qp_publish(&qp_triggers.n_turns, qp_triggers.n_turns + 1);
    qp_fence();
    qp_threads_set_hooks(QP_HOOK_TURNED);
}

/* ---- calls ------------------------------------------------------------------------------- */

/* Is call number n, from 1, one that acts? */
static bool is_operative(const qp_trigger *trigger, uint64_t n)
{
    uint64_t pass = qp_load(&trigger->pass), work = qp_load(&trigger->work);
    if (!work)
        return n > pass;
    if (!qp_load(&trigger->is_cycling))
        return n > pass && n - pass <= work;
    uint64_t round = pass + work < pass ? UINT64_MAX : pass + work;
    return (n - 1) % round >= pass;
}

static bool acts(const qprof_thread *th, qp_trigger *trigger)
{
    const uint64_t step = !qp_own_of(th)->is_resuming;
    if (qp_load(&trigger->is_for_all))
        return is_operative(trigger, qp_fetch_add(&trigger->n_calls, step) + step);
    seen *s = seen_of(th, trigger->edition, trigger->ordinal);
    return s && is_operative(trigger, s->n += step);
}

/* The trigger of the member at *i, if it is in use; *i advances to the first member of another
 * one. */
static qp_trigger *trigger_in_use(const qp_hooks *h, uint32_t *i)
{
    uint32_t cell = qp_member_at(h->members[*i])->trigger;
    bool is_checked = false;
    for (; *i < h->n && qp_member_at(h->members[*i])->trigger == cell; ++*i)
        is_checked |= qp_load(&qp_member_at(h->members[*i])->is_checked);
    qp_trigger *trigger = qp_trigger_at(cell);
    return is_checked && qp_load(&trigger->is_checked) && !qp_load(&trigger->is_dead) ? trigger
                                                                                      : NULL;
}

uint32_t qp_triggers_act(qprof_thread *th, const qp_hooks *h, qp_cell method, bool *status)
{
    uint32_t flags = 0;
    for (uint32_t i = 0; i < h->n;) {
        qp_trigger *trigger = trigger_in_use(h, &i);
        if (!trigger || trigger->kind != QP_KIND_TRIGGER || !acts(th, trigger))
            continue;
        if (!flags)
            flags = QPROF_FRAME_RESTORE | (*status ? QPROF_FRAME_RESTORE_ON : 0);
        *status = trigger->type == QPROF_TRIGGER_ON;
        add_marker(th, trigger, method);
    }
    return flags;
}

const qp_trigger *qp_triggers_next_action(const qprof_thread *th, const qp_hooks *h,
                                          uint32_t *i, qp_cell method, unsigned when)
{
    const qp_trigger *trigger = trigger_in_use(h, i);
    if (!trigger || trigger->kind != QP_KIND_ACTION || trigger->when != when)
        return NULL;
    add_marker(th, trigger, method);
    return trigger;
}

/* ---- threads ----------------------------------------------------------------------------- */

void qp_triggers_create(const qprof_thread *th)
{
    seen *s = qp_triggers_are_used() ? seen_of(th, 0, 0) : NULL;
    if (!s)
        return;
    s->n = qp_observe(&qp_triggers.n_turns);
    s->begins_off = !qp_triggers_initial_status(-1) && qp_triggers_have_active();
}

void qp_triggers_thread(qprof_thread *th, qprof_frame *top)
{
    const seen *s = qp_triggers_are_used() ? seen_of(th, 0, 0) : NULL;
    if (!s || !s->begins_off)
        return;
    qp_pause_turn(th, top, false, 0, false);
    if (!qp_fetch_or(&qp_triggers.is_warned, 1) &&
        (qp_triggers_validate() & QP_WARN_MAY_BE_OFF))
        qp_recorder_log(
            "profiling may be off for the whole run: threads begin disabled, and no "
            "trigger or action that is checked enables them");
}

/* Hook the open frames of methods that have become hooked: their durations begin now. */
static void hook_open_frames(qprof_thread *th, qprof_frame *top)
{
    bool are_all = qp_load(&qp_recorder.hooks) & QP_HOOK_EVENT_TRIGGERS;
    qp_stack_cursor c = qp_stack_from(th, top);
    do {
        qp_cell method = qp_frame_method(th, c.f);
        const qp_method *m = method ? qp_at(&qp_recorder.space, method) : NULL;
        if (!m || (c.f->flags & QPROF_FRAME_HOOKED) ||
            !(are_all || (qp_load(&m->flags) & QP_METHOD_HOOKED)))
            continue;
        QPROF_STORE(c.f->method_id, qp_clock_elapsed());
        QPROF_STORE(c.f->flags, c.f->flags | QPROF_FRAME_HOOKED);
    } while (qp_stack_down(th, &c));
    qp_stack_relink(th, top);
}

/* Apply the actions on all threads, one after the other. */
static void take_turns(qprof_thread *th, qprof_frame *top, bool is_suspended)
{
    uint64_t now = qp_observe(&qp_triggers.n_turns);
    seen *s = qp_triggers_are_used() ? seen_of(th, 0, 0) : NULL;
    bool was_on = qp_triggers_is_on(th);
    if (s && now - s->n > TURNS_MAX)
        s->n = now - 1;
    for (; s && s->n < now; s->n++)
        qp_pause_turn(th, top, qp_load(&turns[s->n % TURNS_MAX].on),
                      qp_load(&turns[s->n % TURNS_MAX].raw), is_suspended);
    if (qp_triggers_is_on(th) != was_on)
        qp_event_later(QP_EVENT_STATUS, 0);
}

void qp_triggers_sync(qprof_thread *th, qprof_frame *top, bool is_suspended)
{
    uint32_t hooks = QPROF_LOAD(th->gate) & (QP_HOOK_TRIGGERS | QP_HOOK_TURNED);
    if (QP_LIKELY(!hooks))
        return;
    qp_fetch_and(&th->gate, ~hooks);
    take_turns(th, top, is_suspended);
    if (!(hooks & QP_HOOK_TRIGGERS))
        return;
    qp_tree_hook(th);
    if (qp_load(&qp_recorder.hooks) & QP_HOOK_EVENT_TRIGGERS)
        qp_fetch_or(&th->gate, QP_HOOK_EVENT_TRIGGERS);
    else
        qp_fetch_and(&th->gate, ~(uint32_t)QP_HOOK_EVENT_TRIGGERS);
    if (top && !(QPROF_LOAD(th->gate) & QPROF_HOOK_STACK))
        hook_open_frames(th, top);
}

/* A thread without events has the status that it was made with; actions may have turned any
 * thread since its last event. */
static bool status_of(const qprof_thread *th)
{
    uint64_t now = qp_observe(&qp_triggers.n_turns);
    const seen *s = qp_triggers_are_used() ? seen_of(th, 0, 0) : NULL;
    if (s && s->n < now)
        return qp_load(&turns[(now - 1) % TURNS_MAX].on);
    return QPROF_LOAD(th->pulse->top) ? qp_triggers_is_on(th) : !s || !s->begins_off;
}

bool qp_triggers_status(void)
{
    const qprof_thread *th = qp_thread_current();
    if (qp_here.epoch != qp_recorder.epoch || !qp_is_open(th))
        return qp_triggers_initial_status(-1) || !qp_triggers_have_active();
    return status_of(th);
}
