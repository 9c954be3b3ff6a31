/* event_trigger_list.c: the list of event triggers: adding, removing, naming, enabling. Read
 * qp_event_trigger_add first. */
#include <stdio.h>
#include <string.h>

#include "record/trigger_list/trigger_list.h"

void qp_event_triggers_changed(void)
{
    if (qp_event_triggers.is_reading || !qp_control_lock())
        return;
    if (qp_state() == QP_STATE_RUNNING)
        qp_triggers_changed();
    qp_control_unlock();
}

/* ---- names ------------------------------------------------------------------------------- */

enum { KIND_NAME }; /* of qp_triggers_key */

static uint64_t key_of_name(QP_UNUSED void *unused, uint32_t cell)
{
    return qp_triggers_key(KIND_NAME, qp_event_trigger_text(qp_event_trigger_at(cell)->name));
}

static qp_trie names(void)
{
    return (qp_trie){qp_event_triggers.others.base, key_of_name, qp_triggers_block,
                     &qp_event_triggers.others};
}

qp_event_trigger *qp_event_trigger_find(const char *name)
{
    uint32_t cell =
        qp_event_triggers.names && name[0]
            ? qp_trie_get(names(), qp_event_triggers.names, qp_triggers_key(KIND_NAME, name))
            : 0;
    qp_event_trigger *t = cell ? qp_event_trigger_at(cell) : NULL;
    return t && strcmp(qp_event_trigger_text(t->name), name) == 0 ? t : NULL;
}

void qp_event_trigger_drop_name(const qp_event_trigger *t)
{
    if (t->name)
        qp_trie_swap(names(), qp_event_triggers.names,
                     key_of_name(NULL, qp_event_trigger_cell(t)), qp_event_trigger_cell(t), 0);
}

bool qp_event_trigger_put_name(const qp_event_trigger *t)
{
    uint32_t cell = qp_event_trigger_cell(t);
    if (!qp_event_triggers.names)
        qp_event_triggers.names = qp_triggers_block(&qp_event_triggers.others);
    return !t->name ||
           (qp_event_triggers.names && qp_trie_put(names(), qp_event_triggers.names,
                                                   key_of_name(NULL, cell), cell) == cell);
}

int qp_event_trigger_name(qp_event_trigger *t, const char *name)
{
    uint32_t ref = name[0] ? qp_pool_text(&qp_event_triggers.others, name, strlen(name)) : 0;
    const qp_event_trigger *other = qp_event_trigger_find(name);
    if (other)
        return other == t ? 0 : QPROF_E_ARG;
    if (name[0] && !ref)
        return QPROF_E_MEMORY;
    qp_event_trigger_drop_name(t);
    qp_publish(&t->name, ref);
    if (qp_event_trigger_put_name(t))
        return 0;
    t->name = 0;
    return QPROF_E_MEMORY;
}

void qp_event_trigger_log(const qp_event_trigger *t, const char *what)
{
    const char *name = qp_event_trigger_text(t->name);
    if (name[0])
        qp_recorder_log("event trigger %.80s: %s", name, what);
    else
        qp_recorder_log("event trigger %u: %s", t->number, what);
}

/* ---- status ------------------------------------------------------------------------------ */

/* A free slot, taken. @return 0: none */
static uint32_t take_slot(uint32_t cell)
{
    for (uint32_t i = 0; i < QPROF_TRG_MAX_ENABLED; i++) {
        uint32_t none = 0;
        if (!qp_swap_if(&qp_event_triggers.slots[i], &none, cell))
            continue;
        uint32_t n = qp_observe(&qp_event_triggers.n_slots);
        while (n <= i && !qp_swap_if(&qp_event_triggers.n_slots, &n, i + 1))
            ;
        return i + 1;
    }
    return 0;
}

int qp_event_trigger_enable(qp_event_trigger *t)
{
    uint32_t disabled = 0;
    if (qp_observe(&t->slot))
        return 0;
    uint32_t slot = take_slot(qp_event_trigger_cell(t));
    if (!slot)
        return QPROF_E_LIMIT;
    qp_fetch_add(&t->n_enabled, 1);
    qp_fetch_add(&qp_event_triggers.n_enabled, 1);
    if (!qp_swap_if(&t->slot, &disabled, slot)) { /* another thread has just enabled it */
        qp_fetch_add(&qp_event_triggers.n_enabled, -1u);
        qp_publish(&qp_event_triggers.slots[slot - 1], 0);
    } else if (qp_load(&t->is_dead)) {
        qp_event_trigger_disable(t);
    }
    return 0;
}

void qp_event_triggers_stop(void)
{
    qp_publish(&qp_is_triggering, 0);
    qp_event_triggers_changed();
}

void qp_event_trigger_disable(qp_event_trigger *t)
{
    uint32_t slot = __atomic_exchange_n(&t->slot, 0, __ATOMIC_ACQ_REL);
    if (!slot)
        return;
    qp_publish(&qp_event_triggers.slots[slot - 1], 0);
    if (qp_fetch_add(&qp_event_triggers.n_enabled, -1u) == 1 && qp_load(&qp_is_triggering))
        qp_event_triggers_stop();
}

/* ---- the list ---------------------------------------------------------------------------- */

bool qp_event_trigger_is(const qp_event_trigger *t)
{
    uint32_t cell = qp_event_trigger_cell(t);
    return cell && qp_observe(&t->number) && !qp_load(&t->is_dead);
}

qp_event_trigger *qp_event_trigger_chain(const qp_event_trigger *t)
{
    uint32_t cell = qp_observe(&t->chain);
    qp_event_trigger *next = cell ? qp_event_trigger_at(cell) : NULL;
    return next && !qp_load(&next->is_dead) ? next : NULL;
}

static void link_last(qp_event_trigger *t, uint32_t cell)
{
    t->prev = qp_event_triggers.last;
    if (qp_event_triggers.last)
        qp_publish(&qp_event_trigger_at(qp_event_triggers.last)->next, cell);
    else
        qp_publish(&qp_event_triggers.first, cell);
    qp_event_triggers.last = cell;
    qp_store(&qp_event_triggers.n_listed, qp_event_triggers.n_listed + 1);
}

/* A walk that is at it continues with the next one. */
static void unlink_it(const qp_event_trigger *t)
{
    if (t->prev)
        qp_publish(&qp_event_trigger_at(t->prev)->next, t->next);
    else
        qp_publish(&qp_event_triggers.first, t->next);
    if (t->next)
        qp_event_trigger_at(t->next)->prev = t->prev;
    else
        qp_event_triggers.last = t->prev;
    qp_store(&qp_event_triggers.n_listed, qp_event_triggers.n_listed - 1);
}

qp_event_trigger *qp_event_trigger_add(const qp_event_trigger *from)
{
    uint32_t cell = qp_pool_take(&qp_event_triggers.triggers, sizeof *from);
    if (!cell)
        return NULL;
    qp_event_trigger *t = qp_event_trigger_at(cell);
    *t = *from;
    qp_event_triggers.has_deferred |= t->is_deferred;
    link_last(t, cell);
    qp_event_target_use(t, true);
    qp_publish(&t->number, ++qp_event_triggers.n_numbers);
    if (!t->is_initially_enabled || qp_event_triggers.is_reading ||
        qp_event_trigger_enable(t) == 0)
        return t;
    qp_event_trigger_remove(t);
    qp_event_triggers.n_numbers--;
    return NULL;
}

void qp_event_trigger_remove(qp_event_trigger *t)
{
    bool has_lock = qp_control_lock(), is_it = qp_event_trigger_is(t);
    if (is_it) {
        qp_store(&t->is_dead, true);
        qp_event_trigger_drop_name(t);
        unlink_it(t);
        qp_event_target_use(t, false);
    }
    if (has_lock)
        qp_control_unlock();
    if (!is_it)
        return;
    qp_event_trigger_disable(t);
    if (!qp_load(&qp_event_triggers.n_enabled) && qp_load(&qp_is_triggering))
        qp_event_triggers_stop();
}

/* ---- symbols ----------------------------------------------------------------------------- */

void qp_symbol_resolve(uint32_t cell)
{
    for (qp_event_trigger *t = NULL; (t = qp_event_trigger_next(t));) {
        if (t->is_dead || (t->when_symbol != cell && t->action_symbol != cell))
            continue;
        qp_symbol_look(t);
        if (t->n_missing || !t->is_wanted)
            continue;
        t->is_wanted = false;
        if (qp_event_trigger_enable(t) != 0)
            qp_event_trigger_log(t, "not enabled: too many event triggers are enabled");
    }
}

/* ---- a run ------------------------------------------------------------------------------- */

static void end_matches(void)
{
    const qp_pool *others = &qp_event_triggers.others;
    for (uint32_t cell = qp_event_triggers.patterns; cell;
         cell = ((qp_event_target *)qp_pool_at(others, cell))->next)
        qp_match_end(qp_pool_at(others, ((qp_event_target *)qp_pool_at(others, cell))->match));
    qp_publish(&qp_event_triggers.patterns, 0);
}

void qp_event_triggers_begin(void)
{
    end_matches();
    qp_pool triggers = qp_event_triggers.triggers, others = qp_event_triggers.others;
    qp_publish(&qp_is_triggering, 0);
    qp_pool_clear(&triggers);
    qp_pool_clear(&others);
    qp_event_triggers = (qp_event_trigger_list){.triggers = triggers,
                                                .others = others,
                                                .symbols = qp_event_triggers.symbols,
                                                .symbol_root = qp_event_triggers.symbol_root};
}

static void report_names(void)
{
    char why[128];
    qp_name_kind kind;
    for (qp_event_trigger *t = NULL; (t = qp_event_trigger_next(t));) {
        const char *object = qp_event_target_text(t->object, &kind);
        if (t->n_missing)
            qp_event_trigger_log(t, "waits for a symbol that was never registered");
        if (!object[0] || qp_event_target_has_methods(t->object))
            continue;
        qp_count(&qp_recorder.space, QP_D_unmatched_names);
        snprintf(why, sizeof why, "no method is named %.80s", object);
        qp_event_trigger_log(t, why);
    }
}

void qp_event_triggers_end(void)
{
    qp_publish(&qp_is_triggering, 0);
    report_names();
    end_matches();
}
