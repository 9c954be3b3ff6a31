/* config_make.c: making triggers, event triggers and settings from the statements of a
 * configuration. Read qp_config_making first. */
#include "record/control/control.h"

#include <string.h>

#include "base/atomic.h"
#include "record/stream/stream.h"

/* ---- triggers, actions, areas -------------------------------------------------------------- */

/* "profiling on|off" of the file. */
static qp_config_setting profiling;

static int on_initial_status(QP_UNUSED void *unused, bool is_on, QP_UNUSED qp_error *error)
{
    qp_triggers_initial_status(is_on);
    return 0;
}

static int on_profiling(QP_UNUSED void *unused, bool is_on, QP_UNUSED qp_error *error)
{
    profiling = is_on ? QP_SETTING_YES : QP_SETTING_NO;
    return 0;
}

/* Make a trigger, an action or an area with its names. */
static int make(qp_trigger_kind kind, const char *name, unsigned type, unsigned when,
                qp_config_list list, qp_trigger **trigger, qp_error *error)
{
    *trigger = qp_trigger_create(kind, name, type, when);
    if (!*trigger && qp_trigger_find(kind, name))
        return qp_error_set(error, QPROF_E_ARG,
                            "%.80s: there is one of this kind and name already", name);
    int code = *trigger ? 0 : QPROF_E_STATE;
    for (qp_config_element e; !code && qp_config_next(&list, &e);)
        code = qp_trigger_add(*trigger, &e);
    if (code)
        qp_error_set(error, code, "%.80s: cannot be made: no memory, or only stacks are kept",
                     name);
    return code;
}

static int on_trigger(QP_UNUSED void *unused, const qp_config_trigger *t, qp_error *error)
{
    qp_trigger *trigger;
    unsigned type = t->is_on ? QPROF_TRIGGER_ON : QPROF_TRIGGER_OFF;
    QP_TRY(make(QP_KIND_TRIGGER, t->name, type, 0, t->routines, &trigger, error));
    qp_store(&trigger->pass, t->pass);
    qp_store(&trigger->work, t->work);
    qp_store(&trigger->is_cycling, t->is_cycling);
    qp_store(&trigger->is_for_all, t->is_for_all_threads);
    qp_trigger_set_checked(trigger, t->is_checked);
    return 0;
}

static int on_action(QP_UNUSED void *unused, const qp_config_action *a, qp_error *error)
{
    qp_trigger *trigger;
    unsigned when = a->is_at_exit ? QPROF_ON_EXIT : QPROF_ON_ENTER;
    int code = make(QP_KIND_ACTION, a->name, a->kind, when, a->routines, &trigger, error);
    if (!code)
        qp_trigger_set_checked(trigger, a->is_checked);
    return code;
}

static int on_area(QP_UNUSED void *unused, const qp_config_area *a, qp_error *error)
{
    qp_trigger *trigger;
    unsigned mode = a->is_excluding ? QPROF_AREA_EXCLUDE : QPROF_AREA_INCLUDE;
    unsigned level = a->lines == QP_SETTING_NO ? QPROF_LEVEL_ROUTINES : QPROF_LEVEL_LINES;
    if (a->has_mode) {
        QP_TRY(make(QP_KIND_AREA, a->name, mode, level, a->elements, &trigger, error));
    } else {
        trigger = qp_trigger_find(QP_KIND_AREA, a->name);
        if (!trigger)
            return qp_error_set(error, QPROF_E_NOTFOUND,
                                "%.80s: no such area: expected include or exclude", a->name);
    }
    if (a->parameters != QP_SETTING_NONE)
        qp_store(&trigger->has_parameters, a->parameters == QP_SETTING_YES);
    if (a->checked != QP_SETTING_NONE)
        qp_trigger_set_checked(trigger, a->checked == QP_SETTING_YES);
    return 0;
}

/* ---- event triggers ------------------------------------------------------------------------ */

static void begin_event_triggers(bool replaces)
{
    for (qp_event_trigger *t = NULL; replaces && (t = qp_event_trigger_next(t));) {
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

static int on_event_trigger(QP_UNUSED void *unused, const qp_config_event_trigger *from,
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
                          .used = (uint32_t)from->used,
                          .most_a_second = (uint32_t)from->most_a_second,
                          .chain_line = from->chain_line,
                          .chain_column = from->chain_column,
                          .origin = QP_OF_NEW_FILE};
    if (qp_event_trigger_find(from->name))
        return qp_error_set(error, QPROF_E_ARG, "%.80s: there is an event trigger of this name",
                            from->name);
    qp_event_triggers.n_wanted += from->is_enabled;
    if (from->is_enabled &&
        count_staying() + qp_event_triggers.n_wanted > QPROF_TRG_MAX_ENABLED)
        return qp_error_set(error, QPROF_E_LIMIT, "%.80s: too many event triggers are enabled",
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
               : qp_error_set(error, QPROF_E_MEMORY, "%.80s: out of memory", from->name);
}

static int on_triggering(QP_UNUSED void *unused, bool is_on, QP_UNUSED qp_error *error)
{
    qp_event_triggers.triggering = is_on ? QP_SETTING_YES : QP_SETTING_NO;
    return 0;
}

static int check_chains(qp_error *error)
{
    for (qp_event_trigger *t = NULL; (t = qp_event_trigger_next(t));) {
        const char *name = qp_event_trigger_text(t->chain_name);
        if (t->origin != QP_OF_NEW_FILE || !name[0])
            continue;
        const qp_event_trigger *next = qp_event_trigger_find(name);
        if (!next) {
            error->line = t->chain_line;
            error->column = t->chain_column;
            return qp_error_set(error, QPROF_E_NOTFOUND, "chain=%.80s: no such event trigger",
                                name);
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

static void end_event_triggers(bool is_kept)
{
    bool is_on = qp_load(&qp_is_triggering),
         had_enabled = qp_load(&qp_event_triggers.n_enabled);
    unsigned dropped = is_kept ? QP_SET_ASIDE : QP_OF_NEW_FILE;
    unsigned kept = is_kept ? QP_OF_NEW_FILE : QP_SET_ASIDE;
    for (qp_event_trigger *t = NULL; (t = qp_event_trigger_next(t));)
        if (t->origin == dropped)
            qp_event_trigger_remove(t);
    for (qp_event_trigger *t = NULL; (t = qp_event_trigger_next(t));)
        if (t->origin == kept)
            keep(t);
    qp_event_triggers.is_reading = false;
    is_on = is_on && qp_event_triggers.n_listed &&
            (qp_load(&qp_event_triggers.n_enabled) || !had_enabled);
    if (is_kept && qp_event_triggers.triggering != QP_SETTING_NONE)
        is_on = qp_event_triggers.triggering == QP_SETTING_YES && qp_event_triggers.n_listed;
    qp_publish(&qp_is_triggering, is_on);
}

/* ---- a configuration ----------------------------------------------------------------------- */

/* The first pass has taken all options but -pri, which is a statement like those of the
 * trace. */
static int on_options(QP_UNUSED void *unused, const char *words, qp_error *error)
{
    static qp_options others; /* under the control lock, or before the run */
    const qp_option_events events = {.pri = qp_trace_xbase_on_pri};
    (void)unused;
    qp_options_init(&others);
    return qp_options_parse(&others, words, &events, error) == QP_PARSE_OK ? 0 : QPROF_E_OPTION;
}

const qp_config_sink qp_config_making = {
    .on_options = QP_PRODUCT_IS_COVERAGE ? NULL : on_options,
    .on_initial_status = on_initial_status,
    .on_profiling = on_profiling,
    .on_trigger = on_trigger,
    .on_action = on_action,
    .on_area = on_area,
    .on_event_trigger = on_event_trigger,
    .on_triggering = on_triggering,
    .on_trace = QP_PRODUCT_IS_COVERAGE ? NULL : qp_trace_xbase_on_trace,
    .on_pri = QP_PRODUCT_IS_COVERAGE ? NULL : qp_trace_xbase_on_pri};

void qp_config_make_begin(bool replaces)
{
    profiling = QP_SETTING_NONE;
    qp_triggers_begin_file(replaces);
    begin_event_triggers(replaces);
    if (!QP_PRODUCT_IS_COVERAGE)
        qp_trace_xbase_file_begin();
}

int qp_config_make_end(bool is_good, qp_error *error)
{
    int code = is_good ? check_chains(error) : 0;
    bool is_kept = is_good && !code;
    end_event_triggers(is_kept);
    qp_triggers_end_file(is_kept);
    if (qp_triggers.first)
        qp_triggers_changed();
    if (!QP_PRODUCT_IS_COVERAGE)
        qp_trace_xbase_file_end(is_kept);
    if (!is_kept || profiling == QP_SETTING_NONE)
        return code;
    if (qp_recorder.space.map.base)
        qp_data_gate(profiling == QP_SETTING_YES);
    else
        qp_recorder.begins_closed = profiling == QP_SETTING_NO;
    return 0;
}
