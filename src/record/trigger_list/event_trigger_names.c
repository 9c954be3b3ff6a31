/* event_trigger_names.c: what event triggers name: methods, whenever they are registered, and
 * symbols, whenever the host gives them addresses. Read qp_event_target_of first. */
#include <stdio.h>
#include <string.h>

#include "record/trigger_list/trigger_list.h"

enum { NAME_BYTES = 4096 };

qp_event_trigger_list qp_event_triggers;

/* Find the cell of a key, or make one, which the caller fills and puts; the root is made if
 * necessary. @return 0: no memory */
static uint32_t cell_of(qp_pool *pool, uint32_t *root, uint64_t key, size_t n_bytes,
                        bool *is_new)
{
    uint32_t none = 0, made = qp_observe(root) ? 0 : qp_triggers_block(pool);
    if (made)
        qp_swap_if(root, &none, made);
    uint32_t cell = qp_observe(root) ? qp_triggers_get(pool, *root, key) : 0;
    *is_new = !cell && qp_observe(root);
    if (*is_new && (cell = qp_pool_take(pool, n_bytes)) != 0)
        *(uint64_t *)qp_pool_at(pool, cell) = key;
    *is_new = *is_new && cell;
    return cell;
}

/* ---- methods ----------------------------------------------------------------------------- */

static qp_event_target *target_at(uint32_t cell)
{
    return qp_pool_at(&qp_event_triggers.others, cell);
}

uint32_t qp_event_target_of(unsigned kind, const char *text, uint64_t id)
{
    qp_pool *pool = &qp_event_triggers.others;
    uint64_t key = kind == QP_NAME_ID ? id * 8 + kind : qp_triggers_key(kind, text);
    bool is_new;
    uint32_t cell =
        cell_of(pool, &qp_event_triggers.targets, key, sizeof(qp_event_target), &is_new);
    if (!is_new)
        return cell;
    qp_event_target *w = target_at(cell);
    *w = (qp_event_target){.key = key, .id = id, .kind = kind};
    bool is_pattern = kind == QP_NAME_GLOB || kind == QP_NAME_REGEX;
    if (kind != QP_NAME_ID)
        w->text = qp_pool_text(pool, text, strlen(text));
    if (is_pattern) {
        w->match = qp_pool_take(pool, sizeof(qp_match));
        if (!w->match || !qp_match_begin(qp_pool_at(pool, w->match), (qp_name_kind)kind,
                                         qp_event_trigger_text(w->text)))
            return 0;
        w->next = qp_event_triggers.patterns;
        qp_publish(&qp_event_triggers.patterns, cell);
    }
    return qp_triggers_put(pool, qp_event_triggers.targets, cell);
}

/* Add the id of a method that fits: a leaf of qp_event_target.methods. */
static void add_method(qp_event_target *w, uint64_t id)
{
    bool is_new;
    uint32_t cell = cell_of(&qp_event_triggers.others, &w->methods, id, sizeof id, &is_new);
    if (is_new)
        qp_triggers_put(&qp_event_triggers.others, w->methods, cell);
}

bool qp_event_target_fits(uint32_t target, uint64_t id)
{
    const qp_event_target *w = target_at(target);
    uint32_t root = qp_observe(&w->methods);
    return w->kind == QP_NAME_ID ? w->id == id
                                 : root && qp_triggers_get(&qp_event_triggers.others, root, id);
}

const char *qp_event_target_text(uint32_t target, qp_name_kind *kind)
{
    const qp_event_target *w = target_at(target);
    *kind = target ? (qp_name_kind)w->kind : QP_NAME_LITERAL;
    return target ? qp_event_trigger_text(w->text) : "";
}

bool qp_event_target_has_methods(uint32_t target)
{
    return target_at(target)->methods;
}

bool qp_event_target_is_of_calls(const qp_event_trigger *t)
{
    return t->event == QP_EVENT_FN_ENTRY || t->event == QP_EVENT_FN_EXIT ||
           t->event == QP_EVENT_ANY;
}

void qp_event_target_use(const qp_event_trigger *t, bool is_used)
{
    uint32_t by = is_used ? 1 : -1u;
    if (qp_event_target_is_of_calls(t) && t->object)
        qp_fetch_add(&target_at(t->object)->n_users, by);
    else if (qp_event_target_is_of_calls(t))
        qp_fetch_add(&qp_event_triggers.n_all_calls, by);
}

/* Add the method to the target of a literal or an id. @return does an event trigger look at its
 * calls? */
static bool take_key(const qp_method *m, unsigned kind, const char *text, uint64_t id)
{
    uint64_t key = kind == QP_NAME_ID ? id * 8 + kind : qp_triggers_key(kind, text);
    uint32_t cell = qp_triggers_get(&qp_event_triggers.others, qp_event_triggers.targets, key);
    qp_event_target *w = cell ? target_at(cell) : NULL;
    if (!w || w->kind != kind || strcmp(qp_event_trigger_text(w->text), text) != 0)
        return false;
    add_method(w, m->id);
    return qp_load(&w->n_users) != 0;
}

bool qp_event_triggers_names(const qp_method *m)
{
    char display[NAME_BYTES];
    const char *name = qp_texts_of(&qp_recorder.texts, &m->name);
    if (!qp_observe(&qp_event_triggers.targets))
        return false;
    qp_triggers_display(m, display, sizeof display);
    bool is_looked_at = take_key(m, QP_NAME_ID, "", m->id);
    is_looked_at |= take_key(m, QP_NAME_LITERAL, display, 0);
    is_looked_at |= take_key(m, QP_NAME_LITERAL, name, 0);
    for (uint32_t cell = qp_observe(&qp_event_triggers.patterns); cell;
         cell = target_at(cell)->next) {
        qp_event_target *w = target_at(cell);
        const qp_match *match = qp_pool_at(&qp_event_triggers.others, w->match);
        if (!qp_match_fits(match, display) && !qp_match_fits(match, name))
            continue;
        add_method(w, m->id);
        is_looked_at |= qp_load(&w->n_users) != 0;
    }
    return is_looked_at && qp_load(&qp_is_triggering);
}

/* ---- addresses --------------------------------------------------------------------------- */

qp_event_symbol *qp_symbol_at(uint32_t cell)
{
    return qp_pool_at(&qp_event_triggers.symbols, cell);
}

uint32_t qp_symbol_of(unsigned kind, const char *name)
{
    qp_pool *pool = &qp_event_triggers.symbols;
    bool is_new;
    uint32_t cell = cell_of(pool, &qp_event_triggers.symbol_root, qp_triggers_key(kind, name),
                            sizeof(qp_event_symbol), &is_new);
    if (!is_new)
        return cell;
    qp_symbol_at(cell)->name = qp_pool_text(pool, name, strlen(name));
    return qp_triggers_put(pool, qp_event_triggers.symbol_root, cell);
}

void qp_symbol_look(qp_event_trigger *t)
{
    if (t->when_symbol)
        qp_store(&t->when_address, qp_symbol_at(t->when_symbol)->address);
    if (t->action_symbol) {
        void *address = qp_symbol_at(t->action_symbol)->address;
        qp_store(&t->function, (int (*)(intptr_t))(uintptr_t)address);
    }
    t->n_missing = (t->when_symbol && !t->when_address) + (t->action_symbol && !t->function);
}
