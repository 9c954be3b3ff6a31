/* watch_file.c: event triggers that configuration files describe. Under the control lock. */
#include <stdio.h>
#include <string.h>

#include "record/watch_parts.h"

void qp_watch_begin_file(bool replaces)
{
    for (uint32_t cell = qp_watch.first; cell && replaces; cell = qp_trg_at(cell)->next) {
        qp_trg *t = qp_trg_at(cell);
        if (t->origin != QP_OF_FILE)
            continue;
        qp_trg_drop_name(t);
        t->origin = QP_SET_ASIDE;
    }
    qp_watch.is_reading = true;
    qp_watch.triggering = QP_SAID_NOTHING;
    qp_watch.n_wanted = 0;
}

/* Those that stay enabled when the file is in force. */
static uint32_t count_staying(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < QPROF_TRG_MAX_ENABLED; i++) {
        uint32_t cell = qp_observe(&qp_watch.slots[i]);
        n += cell && qp_trg_at(cell)->origin != QP_SET_ASIDE;
    }
    return n;
}

static void describe_action(qp_trg *t, const qp_config_event_trigger *said)
{
    t->action = (uint8_t)said->action;
    t->argument = said->action_argument;
    if (said->action == QP_DO_LIBRARY)
        t->function = qp_watch_library(said->action_name);
    if (said->action_name && !t->function)
        t->action_symbol = qp_symbol_of(QPROF_TRG_SYM_ACTION, said->action_name);
}

static void describe_condition(qp_trg *t, const qp_config_event_trigger *said)
{
    static const uint8_t kinds[] = {[QP_WHEN_FUNCTION] = QPROF_TRG_SYM_FUNC,
                                    [QP_WHEN_VARIABLE] = QPROF_TRG_SYM_VAR,
                                    [QP_WHEN_PREDICATE] = QPROF_TRG_SYM_PREDICATE};
    t->is_conditional = said->when_name != NULL;
    t->when_kind = (uint8_t)said->when_kind;
    t->when_operator = (uint8_t)said->when_operator;
    t->when_value = said->when_value;
    if (said->when_name)
        t->when_symbol = qp_symbol_of(kinds[said->when_kind], said->when_name);
}

static void describe_object(qp_trg *t, const qp_config_event_trigger *said)
{
    if (said->object_kind == QP_OBJECT_NAME) {
        t->object = qp_watched_of(said->object_name_kind, said->object_name, 0);
    } else if (said->object_kind == QP_OBJECT_NUMBER && said->object) {
        t->object_id = said->object;
        t->object = qp_watched_of(QP_NAME_ID, "", said->object);
    }
}

static int refuse(qp_config_error *error, int code, const char *what, const char *name)
{
    snprintf(error->message, sizeof error->message, what, name);
    return code;
}

int qp_watch_on_event_trigger(void *unused, const qp_config_event_trigger *said,
                              qp_config_error *error)
{
    qp_trg t = {.event = said->event,
                .context = (uint8_t)said->context,
                .context_id = said->context_id,
                .is_one_shot = said->is_one_shot,
                .is_deferred = said->is_deferred,
                .is_initially_enabled = said->is_enabled,
                .is_wanted = said->is_enabled,
                .longer_ns = said->longer_ns,
                .depth = said->depth,
                .used = said->used,
                .most_a_second = said->most_a_second,
                .chain_line = said->chain_line,
                .chain_column = said->chain_column,
                .origin = QP_OF_NEW_FILE};
    (void)unused;
    if (qp_trg_find(said->name))
        return refuse(error, QPROF_E_ARG, "%.80s: there is an event trigger of this name",
                      said->name);
    qp_watch.n_wanted += said->is_enabled;
    if (said->is_enabled && count_staying() + qp_watch.n_wanted > QPROF_TRG_MAX_ENABLED)
        return refuse(error, QPROF_E_LIMIT, "%.80s: too many event triggers are enabled",
                      said->name);
    describe_object(&t, said);
    describe_condition(&t, said);
    describe_action(&t, said);
    if (said->chain)
        t.chain_name = qp_pool_text(&qp_watch.others, said->chain, strlen(said->chain));
    qp_trg *added = qp_trg_add(&t);
    return added && qp_trg_name(added, said->name) == 0
               ? 0
               : refuse(error, QPROF_E_MEMORY, "%.80s: out of memory", said->name);
}

int qp_watch_on_triggering(void *unused, bool is_on, qp_config_error *error)
{
    (void)unused, (void)error;
    qp_watch.triggering = is_on ? QP_SAID_YES : QP_SAID_NO;
    return 0;
}

int qp_watch_check_file(qp_config_error *error)
{
    for (uint32_t cell = qp_watch.first; cell; cell = qp_trg_at(cell)->next) {
        qp_trg *t = qp_trg_at(cell);
        const char *name = qp_watch_text(t->chain_name);
        if (t->origin != QP_OF_NEW_FILE || !name[0])
            continue;
        const qp_trg *next = qp_trg_find(name);
        if (!next) {
            error->line = t->chain_line;
            error->column = t->chain_column;
            return refuse(error, QPROF_E_NOTFOUND,
                          "chain=%.80s: there is no such event trigger", name);
        }
        t->chain = qp_trg_cell(next);
    }
    return 0;
}

/* New ones that stay, and old ones that come back. */
static void keep(qp_trg *t)
{
    if (t->origin == QP_SET_ASIDE)
        qp_trg_put_name(t);
    t->origin = QP_OF_FILE;
    if (!t->is_wanted)
        return;
    qp_symbol_look(t);
    t->is_wanted = t->n_missing != 0;
    if (!t->is_wanted)
        qp_trg_enable(t);
}

void qp_watch_end_file(bool is_kept)
{
    bool is_on = qp_load(&qp_watch_on), had_enabled = qp_load(&qp_watch.n_enabled);
    unsigned gone = is_kept ? QP_SET_ASIDE : QP_OF_NEW_FILE;
    unsigned staying = is_kept ? QP_OF_NEW_FILE : QP_SET_ASIDE;
    for (uint32_t cell = qp_watch.first; cell; cell = qp_trg_at(cell)->next)
        if (qp_trg_at(cell)->origin == gone)
            qp_trg_remove(qp_trg_at(cell));
    for (uint32_t cell = qp_watch.first; cell; cell = qp_trg_at(cell)->next)
        if (qp_trg_at(cell)->origin == staying)
            keep(qp_trg_at(cell));
    qp_watch.is_reading = false;
    is_on = is_on && qp_watch.n_listed && (qp_load(&qp_watch.n_enabled) || !had_enabled);
    if (is_kept && qp_watch.triggering != QP_SAID_NOTHING)
        is_on = qp_watch.triggering == QP_SAID_YES && qp_watch.n_listed;
    qp_publish(&qp_watch_on, is_on);
}
