/* watch_list.c: the list of event triggers: adding, removing, naming. Under the control lock. */
#include <stdio.h>
#include <string.h>

#include "record/rules.h"
#include "record/watch_parts.h"
#include "record/worker.h"

bool qp_watch_is_used(void)
{
    return qp_load(&qp_watch.n_listed);
}

bool qp_watch_all_calls(void)
{
    return qp_load(&qp_watch_on) && qp_load(&qp_watch.n_all_calls);
}

void qp_watch_changed(void)
{
    if (qp_watch.is_reading || !qp_control_lock())
        return;
    if (qp_state() == QP_STATE_RUNNING)
        qp_rules_changed();
    qp_control_unlock();
}

/* ---- names --------------------------------------------------------------------------------- */

enum { KIND_NAME }; /* of qp_watch_key */

static uint64_t key_of_name(void *unused, uint32_t cell)
{
    (void)unused;
    return qp_watch_key(KIND_NAME, qp_watch_text(qp_trg_at(cell)->name));
}

static qp_trie names(void)
{
    return (qp_trie){qp_watch.others.base, key_of_name, qp_watch_block, &qp_watch.others};
}

qp_trg *qp_trg_find(const char *name)
{
    const qp_trie index = names();
    uint32_t cell = qp_watch.names && name[0]
                        ? qp_trie_get(&index, qp_watch.names, qp_watch_key(KIND_NAME, name))
                        : 0;
    qp_trg *t = cell ? qp_trg_at(cell) : NULL;
    return t && strcmp(qp_watch_text(t->name), name) == 0 ? t : NULL;
}

void qp_trg_drop_name(const qp_trg *t)
{
    const qp_trie index = names();
    if (t->name)
        qp_trie_drop(&index, qp_watch.names, key_of_name(NULL, qp_trg_cell(t)), qp_trg_cell(t));
}

bool qp_trg_put_name(const qp_trg *t)
{
    uint32_t cell = qp_trg_cell(t);
    if (!qp_watch.names)
        qp_watch.names = qp_watch_block(&qp_watch.others);
    const qp_trie index = names();
    return !t->name || (qp_watch.names && qp_trie_put(&index, qp_watch.names,
                                                      key_of_name(NULL, cell), cell) == cell);
}

int qp_trg_name(qp_trg *t, const char *name)
{
    uint32_t ref = name[0] ? qp_pool_text(&qp_watch.others, name, strlen(name)) : 0;
    const qp_trg *other = qp_trg_find(name);
    if (other)
        return other == t ? 0 : QPROF_E_ARG;
    if (name[0] && !ref)
        return QPROF_E_MEMORY;
    qp_trg_drop_name(t);
    qp_publish(&t->name, ref);
    if (qp_trg_put_name(t))
        return 0;
    t->name = 0;
    return QPROF_E_MEMORY;
}

void qp_trg_log(const qp_trg *t, const char *what)
{
    const char *name = qp_watch_text(t->name);
    if (name[0])
        qp_session_log("event trigger %.80s: %s", name, what);
    else
        qp_session_log("event trigger %u: %s", t->number, what);
}

/* ---- the list ------------------------------------------------------------------------------ */

bool qp_trg_is(const qp_trg *t)
{
    uint32_t cell = qp_trg_cell(t);
    return cell && (cell - 1) % QP_TRIGGER_CELLS == 0 && qp_observe(&t->number) &&
           !qp_load(&t->is_dead);
}

qp_trg *qp_trg_chain(const qp_trg *t)
{
    uint32_t cell = qp_observe(&t->chain);
    qp_trg *next = cell ? qp_trg_at(cell) : NULL;
    return next && !qp_load(&next->is_dead) ? next : NULL;
}

static void link_last(qp_trg *t, uint32_t cell)
{
    t->prev = qp_watch.last;
    if (qp_watch.last)
        qp_publish(&qp_trg_at(qp_watch.last)->next, cell);
    else
        qp_publish(&qp_watch.first, cell);
    qp_watch.last = cell;
    qp_store(&qp_watch.n_listed, qp_watch.n_listed + 1);
}

/* Whoever stands at it goes on behind it. */
static void unlink_it(const qp_trg *t)
{
    if (t->prev)
        qp_publish(&qp_trg_at(t->prev)->next, t->next);
    else
        qp_publish(&qp_watch.first, t->next);
    if (t->next)
        qp_trg_at(t->next)->prev = t->prev;
    else
        qp_watch.last = t->prev;
    qp_store(&qp_watch.n_listed, qp_watch.n_listed - 1);
}

qp_trg *qp_trg_add(const qp_trg *from)
{
    uint32_t cell = qp_pool_take(&qp_watch.triggers, sizeof *from);
    if (!cell)
        return NULL;
    qp_trg *t = qp_trg_at(cell);
    *t = *from;
    if (t->is_deferred)
        qp_worker_start();
    link_last(t, cell);
    qp_watched_use(t, true);
    qp_publish(&t->number, ++qp_watch.n_numbers);
    if (!t->is_initially_enabled || qp_watch.is_reading || qp_trg_enable(t) == 0)
        return t;
    qp_trg_remove(t);
    qp_watch.n_numbers--;
    return NULL;
}

void qp_trg_remove(qp_trg *t)
{
    bool has_lock = qp_control_lock(), is_it = qp_trg_is(t);
    if (is_it) {
        qp_store(&t->is_dead, true);
        qp_trg_drop_name(t);
        unlink_it(t);
        qp_watched_use(t, false);
    }
    if (has_lock)
        qp_control_unlock();
    if (!is_it)
        return;
    qp_trg_disable(t);
    if (!qp_load(&qp_watch.n_enabled) && qp_load(&qp_watch_on))
        qp_watch_stop();
}

/* ---- a run --------------------------------------------------------------------------------- */

static void end_matches(void)
{
    const qp_pool *others = &qp_watch.others;
    for (uint32_t cell = qp_watch.patterns; cell;
         cell = ((qp_watched *)qp_pool_at(others, cell))->next)
        qp_match_end(qp_pool_at(others, ((qp_watched *)qp_pool_at(others, cell))->match));
    qp_publish(&qp_watch.patterns, 0);
}

void qp_watch_begin(void)
{
    end_matches();
    qp_pool triggers = qp_watch.triggers, others = qp_watch.others;
    qp_publish(&qp_watch_on, 0);
    qp_pool_clear(&triggers);
    qp_pool_clear(&others);
    qp_watch = (qp_watch_list){.triggers = triggers,
                               .others = others,
                               .symbols = qp_watch.symbols,
                               .symbol_root = qp_watch.symbol_root};
}

static void report_names(void)
{
    char why[128];
    qp_name_kind kind;
    for (uint32_t cell = qp_watch.first; cell; cell = qp_trg_at(cell)->next) {
        const qp_trg *t = qp_trg_at(cell);
        const char *object = qp_watched_text(t->object, &kind);
        if (t->n_missing)
            qp_trg_log(t, "waits for a symbol that was never registered");
        if (!object[0] || qp_watched_has_methods(t->object))
            continue;
        qp_count(&qp_run.space, QP_D_unmatched_names);
        snprintf(why, sizeof why, "no method is named %.80s", object);
        qp_trg_log(t, why);
    }
}

void qp_watch_end(void)
{
    qp_publish(&qp_watch_on, 0);
    report_names();
    end_matches();
}
