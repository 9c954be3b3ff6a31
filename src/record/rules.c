/* rules.c: what triggers and actions do at the entries and exits of their methods.
 *
 * An acting trigger saves the status of its thread in the call's frame and sets it; the end of the
 * frame restores it. Where several act, what was saved first is what is restored last, so that one
 * saved value is enough. Actions save nothing. Read qp_rules_entry first. */
#include "record/rules.h"

#include "base/atomic.h"
#include "record/charge.h"
#include "record/data.h"
#include "record/event.h"
#include "record/marks.h"
#include "record/rule_parts.h"
#include "record/stack.h"
#include "record/tree.h"
#include "record/watch.h"

enum { TURNS_MAX = 4096 };

/* What actions did to all threads; each takes it over at its next event. */
typedef struct {
    uint64_t raw; /* when */
    bool on;
} turn;
static turn turns[TURNS_MAX]; /* the last of them */

/* What a rule, or (ordinal 0) the list of turns, has seen of a thread. A cell. */
typedef struct {
    uint64_t key;     /* row of the thread and ordinal */
    uint64_t n;       /* calls, or turns */
    uint64_t n_lives; /* the row's, when it was counted */
    bool begins_off;  /* ordinal 0: its status until its first event */
} seen;

static uint64_t key_of_seen(void *unused, uint32_t cell)
{
    (void)unused;
    return ((const seen *)qp_pool_at(&qp_rules.pool, cell))->key;
}

static uint32_t block_of(void *unused)
{
    (void)unused;
    return qp_pool_take(&qp_rules.pool, sizeof(qp_rule));
}

/* Only the thread's driver asks. @return NULL: no memory */
static seen *seen_of(const qprof_thread *th, uint32_t ordinal)
{
    const qp_trie index = {qp_rules.pool.base, key_of_seen, block_of, NULL};
    uint64_t key = (uint64_t)qp_record_cell(th) << 32 | ordinal;
    if (!qp_observe(&qp_rules.threads))
        return NULL;
    uint32_t cell = qp_trie_get(&index, qp_rules.threads, key);
    if (!cell) {
        uint32_t fresh = qp_pool_take(&qp_rules.pool, sizeof(seen));
        if (!fresh)
            return NULL;
        ((seen *)qp_pool_at(&qp_rules.pool, fresh))->key = key;
        cell = qp_trie_put(&index, qp_rules.threads, key, fresh);
    }
    seen *s = cell ? qp_pool_at(&qp_rules.pool, cell) : NULL;
    if (s && s->n_lives != qp_record_of(th)->n_lives) { /* the row has another thread now */
        s->n = 0;                                       /* but others read the key */
        s->n_lives = qp_record_of(th)->n_lives;
        s->begins_off = false;
    }
    return s;
}

static bool is_on(const qprof_thread *th)
{
    return !(QPROF_LOAD(th->gate) & QP_HOOK_OFF);
}

static void mark(const qprof_thread *th, const qp_rule *rule, qp_cell method)
{
    const qp_method *m = qp_at(&qp_run.space, method);
    qp_mark_add(th, rule->kind == QP_RULE_TRIGGER ? QP_MARK_TRIGGER : QP_MARK_ACTION,
                qp_pool_text_at(&qp_rules.pool, rule->name), 0, m->id, 0);
}

/* ---- status and actions ------------------------------------------------------------------------ */

/* @param raw  when, in ticks of a clock that others can read; 0: now */
static void change_status(qprof_thread *th, qprof_frame *top, bool on, uint64_t raw)
{
    if (on == is_on(th))
        return;
    qp_charge_turn(th, top, on, raw, false);
    qp_watch_later(QP_EVENT_STATUS, 0); /* the call is complete then: an action may jump out */
}

static void turn_all(bool on)
{
    turn *t = &turns[qp_rules.n_turns % TURNS_MAX];
    uint64_t since = qp_run_head()->stopped_since; /* clocks stand */
    qp_store(&t->raw, since ? since : qp_charge_elapsed());
    qp_store(&t->on, on);
    qp_publish(&qp_rules.n_turns, qp_rules.n_turns + 1);
    qp_fence();
    qp_threads_set_hooks(QP_HOOK_TURNED);
}

static void act_locked(qp_action_kind kind)
{
    switch (kind) {
    case QP_ACTION_ENABLE:
    case QP_ACTION_DISABLE:
        turn_all(kind == QP_ACTION_ENABLE);
        break;
    case QP_ACTION_GET_RESULTS:
        qp_data_save(NULL, NULL);
        break;
    case QP_ACTION_CLEAR_RESULTS:
        qp_data_clear();
        break;
    }
}

/* What needs the control lock is done between events. NULL in *top: the thread is gone. */
static void act(qprof_thread *th, qprof_frame **top, qp_action_kind kind)
{
    qp_outside o;
    if (!qp_event_leave(th, *top, &o, __builtin_frame_address(0)))
        return;
    if (qp_control_lock()) {
        act_locked(kind);
        qp_control_unlock();
    }
    *top = qp_event_return(th, &o);
}

/* ---- calls ------------------------------------------------------------------------------------ */

/* Is call number n, from 1, one that acts? */
static bool is_operative(const qp_rule *rule, uint64_t n)
{
    uint64_t pass = qp_load(&rule->pass), work = qp_load(&rule->work);
    if (!work)
        return n > pass;
    if (!qp_load(&rule->is_cycling))
        return n > pass && n - pass <= work;
    uint64_t round = pass + work < pass ? UINT64_MAX : pass + work;
    return (n - 1) % round >= pass;
}

static bool acts(const qprof_thread *th, qp_rule *rule)
{
    if (qp_load(&rule->is_for_all))
        return is_operative(rule, qp_fetch_add(&rule->n_calls, 1) + 1);
    seen *s = seen_of(th, rule->ordinal);
    return s && is_operative(rule, ++s->n);
}

/* The rule of the member at *i, if it is in use; *i goes on to the first member of another. */
static qp_rule *rule_in_use(const qp_hooks *h, uint32_t *i)
{
    uint32_t cell = qp_member_at(h->members[*i])->rule;
    bool is_checked = false;
    for (; *i < h->n && qp_member_at(h->members[*i])->rule == cell; ++*i)
        is_checked |= qp_load(&qp_member_at(h->members[*i])->is_checked);
    qp_rule *rule = qp_rule_at(cell);
    return is_checked && qp_load(&rule->is_checked) && !qp_load(&rule->is_dead) ? rule : NULL;
}

static uint32_t run_triggers(qprof_thread *th, const qp_hooks *h, qp_cell method, bool *status)
{
    uint32_t flags = 0;
    for (uint32_t i = 0; i < h->n;) {
        qp_rule *rule = rule_in_use(h, &i);
        if (!rule || rule->kind != QP_RULE_TRIGGER || !acts(th, rule))
            continue;
        if (!flags)
            flags = QPROF_FRAME_RESTORE | (*status ? QPROF_FRAME_RESTORE_ON : 0);
        *status = rule->type == QPROF_TRIGGER_ON;
        mark(th, rule, method);
    }
    return flags;
}

static void run_actions(qprof_thread *th, qprof_frame **top, const qp_hooks *h, qp_cell method,
                        unsigned when)
{
    for (uint32_t i = 0; i < h->n && *top;) {
        qp_rule *rule = rule_in_use(h, &i);
        if (!rule || rule->kind != QP_RULE_ACTION || rule->when != when)
            continue;
        mark(th, rule, method);
        act(th, top, (qp_action_kind)rule->type);
    }
}

uint32_t qp_rules_entry(qprof_thread *th, qprof_frame **top, qp_cell method)
{
    const qp_hooks *h = qp_rules_hooks(method);
    if (!h)
        return 0;
    bool status = is_on(th);
    uint32_t flags = run_triggers(th, h, method, &status);
    change_status(th, *top, status, 0);
    run_actions(th, top, h, method, QPROF_ON_ENTER);
    return flags;
}

void qp_rules_exit(qprof_thread *th, qprof_frame **top, qp_cell method, uint32_t frame_flags)
{
    const qp_hooks *h = method ? qp_rules_hooks(method) : NULL;
    if (h)
        run_actions(th, top, h, method, QPROF_ON_EXIT);
    if (!*top || !(frame_flags & QPROF_FRAME_RESTORE))
        return;
    bool on = frame_flags & QPROF_FRAME_RESTORE_ON,
         is_exact = QPROF_LOAD(th->gate) & QPROF_HOOK_EXACT;
    uint64_t ended = is_exact && !on ? th->pulse->last + th->pulse->offset : 0;
    change_status(th, *top, on, ended); /* a caller that is off has not the time of our work */
}

/* ---- threads ---------------------------------------------------------------------------------- */

bool qp_rules_are_used(void)
{
    return qp_observe(&qp_rules.all_lines) != 0;
}

void qp_rules_create(const qprof_thread *th)
{
    seen *s = qp_rules_are_used() ? seen_of(th, 0) : NULL;
    if (!s)
        return;
    s->n = qp_observe(&qp_rules.n_turns);
    s->begins_off = !qp_rules_initial_status(-1) && qp_rules_have_active();
}

void qp_rules_thread(qprof_thread *th, qprof_frame *top)
{
    const seen *s = qp_rules_are_used() ? seen_of(th, 0) : NULL;
    if (!s || !s->begins_off)
        return;
    qp_charge_turn(th, top, false, 0, false);
    if (!qp_fetch_or(&qp_rules.is_warned, 1) && (qp_rules_validate() & QP_WARN_MAY_BE_OFF))
        qp_session_log("profiling may be off for the whole run: threads begin disabled, and no "
                       "trigger or action that is checked enables them");
}

/* Frames that were open when something was first to be done for their methods: their exits are looked
 * at, and last from now on. */
static void hook_open_frames(qprof_thread *th, qprof_frame *top)
{
    bool are_all = qp_load(&qp_run.hooks) & QP_HOOK_WATCH;
    qp_stack_cursor c = qp_stack_from(th, top);
    do {
        qp_cell method = qp_event_method(th, c.f);
        const qp_method *m = method ? qp_at(&qp_run.space, method) : NULL;
        if (!m || (c.f->flags & QPROF_FRAME_HOOKED) ||
            !(are_all || (qp_load(&m->flags) & QP_METHOD_HOOKED)))
            continue;
        QPROF_STORE(c.f->method_id, qp_charge_elapsed());
        QPROF_STORE(c.f->flags, c.f->flags | QPROF_FRAME_HOOKED);
    } while (qp_stack_down(th, &c));
}

/* What actions did to all threads, one after the other. */
static void take_turns(qprof_thread *th, qprof_frame *top, bool is_parked)
{
    uint64_t now = qp_observe(&qp_rules.n_turns);
    seen *s = qp_rules_are_used() ? seen_of(th, 0) : NULL;
    bool was_on = is_on(th);
    if (s && now - s->n > TURNS_MAX)
        s->n = now - 1;
    for (; s && s->n < now; s->n++)
        qp_charge_turn(th, top, qp_load(&turns[s->n % TURNS_MAX].on),
                       qp_load(&turns[s->n % TURNS_MAX].raw), is_parked);
    if (is_on(th) != was_on)
        qp_watch_later(QP_EVENT_STATUS, 0);
}

void qp_rules_sync(qprof_thread *th, qprof_frame *top, bool is_parked)
{
    uint32_t hooks = QPROF_LOAD(th->gate) & (QP_HOOK_RULES | QP_HOOK_TURNED);
    if (QP_LIKELY(!hooks))
        return;
    qp_fetch_and(&th->gate, ~hooks);
    take_turns(th, top, is_parked);
    if (!(hooks & QP_HOOK_RULES))
        return;
    qp_tree_hook(th);
    if (qp_load(&qp_run.hooks) & QP_HOOK_WATCH)
        qp_fetch_or(&th->gate, QP_HOOK_WATCH);
    else
        qp_fetch_and(&th->gate, ~(uint32_t)QP_HOOK_WATCH);
    if (top && !(QPROF_LOAD(th->gate) & QPROF_HOOK_STACK))
        hook_open_frames(th, top);
}

/* A thread without an event begins as it was made; actions may have turned any since its last. */
static bool status_of(const qprof_thread *th)
{
    uint64_t now = qp_observe(&qp_rules.n_turns);
    const seen *s = qp_rules_are_used() ? seen_of(th, 0) : NULL;
    if (s && s->n < now)
        return qp_load(&turns[(now - 1) % TURNS_MAX].on);
    return QPROF_LOAD(th->pulse->top) ? is_on(th) : !s || !s->begins_off;
}

bool qp_rules_status(void)
{
    const qprof_thread *th = qp_thread_current();
    if (qp_here.epoch != qp_run.epoch || !qp_is_open(th))
        return qp_rules_initial_status(-1) || !qp_rules_have_active();
    return status_of(th);
}
