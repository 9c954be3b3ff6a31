/* config_make.c: from statements to objects. */
#include "record/config_make.h"

#include <stdio.h>

#include "base/atomic.h"
#include "record/data.h"
#include "record/rules.h"
#include "record/trace_xbase.h"
#include "record/watch.h"

/* "profiling on|off" of the file. */
static qp_config_said profiling;

static int refuse(qp_config_error *error, int code, const char *name, const char *why)
{
    snprintf(error->message, sizeof error->message, "%.80s: %s", name, why);
    return code;
}

static int on_initial_status(void *unused, bool is_on, qp_config_error *error)
{
    (void)unused, (void)error;
    qp_rules_initial_status(is_on);
    return 0;
}

static int on_profiling(void *unused, bool is_on, qp_config_error *error)
{
    (void)unused, (void)error;
    profiling = is_on ? QP_SAID_YES : QP_SAID_NO;
    return 0;
}

/* A rule and what it names. */
static int make(qp_rule_kind kind, const char *name, unsigned type, unsigned when,
                qp_config_list list, qp_rule **rule, qp_config_error *error)
{
    *rule = qp_rule_create(kind, name, type, when);
    if (!*rule && qp_rule_find(kind, name))
        return refuse(error, QPROF_E_ARG, name, "there is one of this kind and name already");
    int code = *rule ? 0 : QPROF_E_STATE;
    for (qp_config_element e; !code && qp_config_next(&list, &e);)
        code = qp_rule_add(*rule, &e);
    return code
               ? refuse(error, code, name, "cannot be made: no memory, or only stacks are kept")
               : 0;
}

static int on_trigger(void *unused, const qp_config_trigger *t, qp_config_error *error)
{
    qp_rule *rule;
    unsigned type = t->is_on ? QPROF_TRIGGER_ON : QPROF_TRIGGER_OFF;
    int code = make(QP_RULE_TRIGGER, t->name, type, 0, t->routines, &rule, error);
    (void)unused;
    if (code)
        return code;
    qp_store(&rule->pass, t->pass);
    qp_store(&rule->work, t->work);
    qp_store(&rule->is_cycling, t->is_cycling);
    qp_store(&rule->is_for_all, t->is_for_all_threads);
    qp_rule_set_checked(rule, t->is_checked);
    return 0;
}

static int on_action(void *unused, const qp_config_action *a, qp_config_error *error)
{
    qp_rule *rule;
    unsigned when = a->is_at_exit ? QPROF_ON_EXIT : QPROF_ON_ENTER;
    int code = make(QP_RULE_ACTION, a->name, a->kind, when, a->routines, &rule, error);
    (void)unused;
    if (!code)
        qp_rule_set_checked(rule, a->is_checked);
    return code;
}

static int on_area(void *unused, const qp_config_area *a, qp_config_error *error)
{
    qp_rule *rule;
    unsigned mode = a->is_excluding ? QPROF_AREA_EXCLUDE : QPROF_AREA_INCLUDE;
    unsigned level = a->lines == QP_SAID_NO ? QPROF_LEVEL_ROUTINES : QPROF_LEVEL_LINES;
    (void)unused;
    if (a->has_mode) {
        int code = make(QP_RULE_AREA, a->name, mode, level, a->elements, &rule, error);
        if (code)
            return code;
    } else {
        rule = qp_rule_find(QP_RULE_AREA, a->name);
        if (!rule)
            return refuse(error, QPROF_E_NOTFOUND, a->name,
                          "there is no such area: expected include or exclude");
    }
    if (a->parameters != QP_SAID_NOTHING)
        qp_store(&rule->has_parameters, a->parameters == QP_SAID_YES);
    if (a->checked != QP_SAID_NOTHING)
        qp_rule_set_checked(rule, a->checked == QP_SAID_YES);
    return 0;
}

/* Options were taken before; -pri is a statement among those of the trace. */
static int on_options(void *unused, const char *words, qp_config_error *error)
{
    static qp_options others; /* under the control lock, or before the run */
    const qp_option_events events = {.pri = qp_trace_xbase_take_pri};
    qp_parse_error said;
    (void)unused;
    qp_options_init(&others);
    if (qp_options_parse(&others, words, &events, &said) == QP_PARSE_OK)
        return 0;
    error->column = said.column;
    snprintf(error->message, sizeof error->message, "%s", said.message);
    return QPROF_E_OPTION;
}

const qp_config_sink qp_config_making = {
    .on_options = QP_PRODUCT_IS_COVERAGE ? NULL : on_options,
    .on_initial_status = on_initial_status,
    .on_profiling = on_profiling,
    .on_trigger = on_trigger,
    .on_action = on_action,
    .on_area = on_area,
    .on_event_trigger = qp_watch_on_event_trigger,
    .on_triggering = qp_watch_on_triggering,
    .on_trace = QP_PRODUCT_IS_COVERAGE ? NULL : qp_trace_xbase_on_trace,
    .on_pri = QP_PRODUCT_IS_COVERAGE ? NULL : qp_trace_xbase_on_pri};

void qp_config_make_begin(bool replaces)
{
    profiling = QP_SAID_NOTHING;
    qp_rules_begin_file(replaces);
    qp_watch_begin_file(replaces);
    if (!QP_PRODUCT_IS_COVERAGE)
        qp_trace_xbase_file_begin();
}

int qp_config_make_end(bool is_good, qp_config_error *error)
{
    int code = is_good ? qp_watch_check_file(error) : 0;
    bool is_kept = is_good && !code;
    qp_watch_end_file(is_kept);
    qp_rules_end_file(is_kept);
    if (!QP_PRODUCT_IS_COVERAGE)
        qp_trace_xbase_file_end(is_kept);
    if (!is_kept || profiling == QP_SAID_NOTHING)
        return code;
    if (qp_run.space.map.base)
        qp_data_gate(profiling == QP_SAID_YES);
    else
        qp_run.begins_closed = profiling == QP_SAID_NO;
    return 0;
}
