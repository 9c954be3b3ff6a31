/* config_make.c: making triggers, actions, areas and settings from the statements of a
 * configuration. */
#include "record/control/control.h"

#include <stdio.h>

#include "base/atomic.h"
#include "record/stream/stream.h"
#include "record/trigger/trigger.h"

/* "profiling on|off" of the file. */
static qp_config_setting profiling;

static int refuse(qp_error *error, int code, const char *name, const char *why)
{
    return qp_error_set(error, code, "%.80s: %s", name, why);
}

static int on_initial_status(void *unused, bool is_on, qp_error *error)
{
    (void)unused, (void)error;
    qp_triggers_initial_status(is_on);
    return 0;
}

static int on_profiling(void *unused, bool is_on, qp_error *error)
{
    (void)unused, (void)error;
    profiling = is_on ? QP_SETTING_YES : QP_SETTING_NO;
    return 0;
}

/* Make a trigger, an action or an area with its names. */
static int make(qp_trigger_kind kind, const char *name, unsigned type, unsigned when,
                qp_config_list list, qp_trigger **trigger, qp_error *error)
{
    *trigger = qp_trigger_create(kind, name, type, when);
    if (!*trigger && qp_trigger_find(kind, name))
        return refuse(error, QPROF_E_ARG, name, "there is one of this kind and name already");
    int code = *trigger ? 0 : QPROF_E_STATE;
    for (qp_config_element e; !code && qp_config_next(&list, &e);)
        code = qp_trigger_add(*trigger, &e);
    return code
               ? refuse(error, code, name, "cannot be made: no memory, or only stacks are kept")
               : 0;
}

static int on_trigger(void *unused, const qp_config_trigger *t, qp_error *error)
{
    qp_trigger *trigger;
    unsigned type = t->is_on ? QPROF_TRIGGER_ON : QPROF_TRIGGER_OFF;
    int code = make(QP_KIND_TRIGGER, t->name, type, 0, t->routines, &trigger, error);
    (void)unused;
    if (code)
        return code;
    qp_store(&trigger->pass, t->pass);
    qp_store(&trigger->work, t->work);
    qp_store(&trigger->is_cycling, t->is_cycling);
    qp_store(&trigger->is_for_all, t->is_for_all_threads);
    qp_trigger_set_checked(trigger, t->is_checked);
    return 0;
}

static int on_action(void *unused, const qp_config_action *a, qp_error *error)
{
    qp_trigger *trigger;
    unsigned when = a->is_at_exit ? QPROF_ON_EXIT : QPROF_ON_ENTER;
    int code = make(QP_KIND_ACTION, a->name, a->kind, when, a->routines, &trigger, error);
    (void)unused;
    if (!code)
        qp_trigger_set_checked(trigger, a->is_checked);
    return code;
}

static int on_area(void *unused, const qp_config_area *a, qp_error *error)
{
    qp_trigger *trigger;
    unsigned mode = a->is_excluding ? QPROF_AREA_EXCLUDE : QPROF_AREA_INCLUDE;
    unsigned level = a->lines == QP_SETTING_NO ? QPROF_LEVEL_ROUTINES : QPROF_LEVEL_LINES;
    (void)unused;
    if (a->has_mode) {
        int code = make(QP_KIND_AREA, a->name, mode, level, a->elements, &trigger, error);
        if (code)
            return code;
    } else {
        trigger = qp_trigger_find(QP_KIND_AREA, a->name);
        if (!trigger)
            return refuse(error, QPROF_E_NOTFOUND, a->name,
                          "there is no such area: expected include or exclude");
    }
    if (a->parameters != QP_SETTING_NONE)
        qp_store(&trigger->has_parameters, a->parameters == QP_SETTING_YES);
    if (a->checked != QP_SETTING_NONE)
        qp_trigger_set_checked(trigger, a->checked == QP_SETTING_YES);
    return 0;
}

/* The first pass has taken all options but -pri, which is a statement like those of the
 * trace. */
static int on_options(void *unused, const char *words, qp_error *error)
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
    .on_event_trigger = qp_event_triggers_configure,
    .on_triggering = qp_event_triggers_configure_triggering,
    .on_trace = QP_PRODUCT_IS_COVERAGE ? NULL : qp_trace_xbase_on_trace,
    .on_pri = QP_PRODUCT_IS_COVERAGE ? NULL : qp_trace_xbase_on_pri};

void qp_config_make_begin(bool replaces)
{
    profiling = QP_SETTING_NONE;
    qp_triggers_begin_file(replaces);
    qp_event_triggers_begin_file(replaces);
    if (!QP_PRODUCT_IS_COVERAGE)
        qp_trace_xbase_file_begin();
}

int qp_config_make_end(bool is_good, qp_error *error)
{
    int code = is_good ? qp_event_triggers_check_file(error) : 0;
    bool is_kept = is_good && !code;
    qp_event_triggers_end_file(is_kept);
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
