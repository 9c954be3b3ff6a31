/* event_trigger_file.c: making event triggers from configuration files. Read
 * qp_event_triggers_configure first. */
#include <stdio.h>
#include <string.h>

#include "record/control/control.h"

void qp_event_triggers_begin_file(bool replaces)
{
    for (uint32_t cell = qp_event_triggers.first; cell && replaces;
         cell = qp_event_trigger_at(cell)->next) {
        qp_event_trigger *t = qp_event_trigger_at(cell);
        if (t->origin != QP_OF_FILE)
            continue;
        qp_event_trigger_drop_name(t);
        t->origin = QP_SET_ASIDE;
    }
    qp_event_triggers.is_reading = true;
    qp_event_triggers.triggering = QP_SETTING_NONE;
    qp_event_triggers.n_wanted = 0;
}

/* Count those that will be enabled when the file is in force. */
static uint32_t count_staying(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < QPROF_TRG_MAX_ENABLED; i++) {
        uint32_t cell = qp_observe(&qp_event_triggers.slots[i]);
        n += cell && qp_event_trigger_at(cell)->origin != QP_SET_ASIDE;
    }
    return n;
}

static void describe_action(qp_event_trigger *t, const qp_config_event_trigger *from)
{
    t->action = (uint8_t)from->action;
    t->argument = from->action_argument;
    if (from->action == QP_DO_LIBRARY)
        t->function = qp_event_action_find(from->action_name);
    if (from->action_name && !t->function)
        t->action_symbol = qp_symbol_of(QPROF_TRG_SYM_ACTION, from->action_name);
}

static void describe_condition(qp_event_trigger *t, const qp_config_event_trigger *from)
{
    static const uint8_t kinds[] = {[QP_WHEN_FUNCTION] = QPROF_TRG_SYM_FUNC,
                                    [QP_WHEN_VARIABLE] = QPROF_TRG_SYM_VAR,
                                    [QP_WHEN_PREDICATE] = QPROF_TRG_SYM_PREDICATE};
    t->is_conditional = from->when_name != NULL;
    t->when_kind = (uint8_t)from->when_kind;
    t->when_operator = (uint8_t)from->when_operator;
    t->when_value = from->when_value;
    if (from->when_name)
        t->when_symbol = qp_symbol_of(kinds[from->when_kind], from->when_name);
}

static void describe_object(qp_event_trigger *t, const qp_config_event_trigger *from)
{
    if (from->object_kind == QP_OBJECT_NAME) {
        t->object = qp_event_target_of(from->object_name_kind, from->object_name, 0);
    } else if (from->object_kind == QP_OBJECT_NUMBER && from->object) {
        t->object_id = from->object;
        t->object = qp_event_target_of(QP_NAME_ID, "", from->object);
    }
}

static int refuse(qp_error *error, int code, const char *what, const char *name)
{
    return qp_error_set(error, code, what, name);
}

int qp_event_triggers_configure(void *unused, const qp_config_event_trigger *from,
                                qp_error *error)
{
    qp_event_trigger t = {.event = from->event,
                          .context = (uint8_t)from->context,
                          .context_id = from->context_id,
                          .is_one_shot = from->is_one_shot,
                          .is_deferred = from->is_deferred,
                          .is_initially_enabled = from->is_enabled,
                          .is_wanted = from->is_enabled,
                          .longer_ns = from->longer_ns,
                          .depth = from->depth,
                          .used = from->used,
                          .most_a_second = from->most_a_second,
                          .chain_line = from->chain_line,
                          .chain_column = from->chain_column,
                          .origin = QP_OF_NEW_FILE};
    (void)unused;
    if (qp_event_trigger_find(from->name))
        return refuse(error, QPROF_E_ARG, "%.80s: there is an event trigger of this name",
                      from->name);
    qp_event_triggers.n_wanted += from->is_enabled;
    if (from->is_enabled &&
        count_staying() + qp_event_triggers.n_wanted > QPROF_TRG_MAX_ENABLED)
        return refuse(error, QPROF_E_LIMIT, "%.80s: too many event triggers are enabled",
                      from->name);
    describe_object(&t, from);
    describe_condition(&t, from);
    describe_action(&t, from);
    if (from->chain)
        t.chain_name =
            qp_pool_text(&qp_event_triggers.others, from->chain, strlen(from->chain));
    qp_event_trigger *added = qp_event_trigger_add(&t);
    return added && qp_event_trigger_name(added, from->name) == 0
               ? 0
               : refuse(error, QPROF_E_MEMORY, "%.80s: out of memory", from->name);
}

int qp_event_triggers_configure_triggering(void *unused, bool is_on, qp_error *error)
{
    (void)unused, (void)error;
    qp_event_triggers.triggering = is_on ? QP_SETTING_YES : QP_SETTING_NO;
    return 0;
}

int qp_event_triggers_check_file(qp_error *error)
{
    for (uint32_t cell = qp_event_triggers.first; cell;
         cell = qp_event_trigger_at(cell)->next) {
        qp_event_trigger *t = qp_event_trigger_at(cell);
        const char *name = qp_event_trigger_text(t->chain_name);
        if (t->origin != QP_OF_NEW_FILE || !name[0])
            continue;
        const qp_event_trigger *next = qp_event_trigger_find(name);
        if (!next) {
            error->line = t->chain_line;
            error->column = t->chain_column;
            return refuse(error, QPROF_E_NOTFOUND,
                          "chain=%.80s: there is no such event trigger", name);
        }
        t->chain = qp_event_trigger_cell(next);
    }
    return 0;
}

/* Keep a new one, or restore an old one. */
static void keep(qp_event_trigger *t)
{
    if (t->origin == QP_SET_ASIDE)
        qp_event_trigger_put_name(t);
    t->origin = QP_OF_FILE;
    if (!t->is_wanted)
        return;
    qp_symbol_look(t);
    t->is_wanted = t->n_missing != 0;
    if (!t->is_wanted)
        qp_event_trigger_enable(t);
}

void qp_event_triggers_end_file(bool is_kept)
{
    bool is_on = qp_load(&qp_is_triggering),
         had_enabled = qp_load(&qp_event_triggers.n_enabled);
    unsigned dropped = is_kept ? QP_SET_ASIDE : QP_OF_NEW_FILE;
    unsigned kept = is_kept ? QP_OF_NEW_FILE : QP_SET_ASIDE;
    for (uint32_t cell = qp_event_triggers.first; cell; cell = qp_event_trigger_at(cell)->next)
        if (qp_event_trigger_at(cell)->origin == dropped)
            qp_event_trigger_remove(qp_event_trigger_at(cell));
    for (uint32_t cell = qp_event_triggers.first; cell; cell = qp_event_trigger_at(cell)->next)
        if (qp_event_trigger_at(cell)->origin == kept)
            keep(qp_event_trigger_at(cell));
    qp_event_triggers.is_reading = false;
    is_on = is_on && qp_event_triggers.n_listed &&
            (qp_load(&qp_event_triggers.n_enabled) || !had_enabled);
    if (is_kept && qp_event_triggers.triggering != QP_SETTING_NONE)
        is_on = qp_event_triggers.triggering == QP_SETTING_YES && qp_event_triggers.n_listed;
    qp_publish(&qp_is_triggering, is_on);
}
