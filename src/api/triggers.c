/* triggers.c: triggers, actions and areas, as exported. */
#include <string.h>

#include "api/door.h"
#include "config/match.h"
#include "record/data.h"
#include "record/rules.h"

/* What a change returns that no method's part in the rules depends on, or only that of the methods
 * which were named last. */
enum { INNER = 1, NAMED };

/* A change of the rules, under the control lock. */
typedef struct {
    qp_rule_kind kind;
    qp_rule *rule;
    int (*change)(qp_rule *rule, const void *to);
    const void *to;
} change;

static int refuse(int code)
{
    return code ? qp_door_refuse(code, "trigger, action or area: refused") : 0;
}

/* @return 0, or why not */
static int begin(void)
{
    if (qp_state() != QP_STATE_RUNNING)
        return QPROF_E_STATE;
    return qp_control_lock() ? 0 : QPROF_E_STATE;
}

static int with_rule(change c)
{
    int host_errno = errno, code = begin();
    if (!code) {
        code = qp_rule_is(c.rule, c.kind) ? c.change(c.rule, c.to) : QPROF_E_ARG;
        if (code == 0 || code == NAMED)
            qp_rules_changed_from(c.rule, code ? c.rule->last : c.rule->first);
        qp_control_unlock();
    }
    errno = host_errno;
    return refuse(code > 0 ? 0 : code);
}

static qp_rule *create(qp_rule_kind kind, const char *name, unsigned n_types, int type,
                       int when)
{
    int host_errno = errno;
    bool is_known = name && (unsigned)type < n_types && (unsigned)when < 2;
    qp_rule *rule = NULL;
    if (is_known && !begin()) {
        rule = qp_rule_create(kind, name, (unsigned)type, (unsigned)when);
        if (rule && kind == QP_RULE_AREA) /* it may have unchecked all-lines */
            qp_rules_changed();
        qp_control_unlock();
    }
    if (!rule)
        refuse(is_known ? QPROF_E_STATE : QPROF_E_ARG);
    errno = host_errno;
    return rule;
}

static qp_rule *find(qp_rule_kind kind, const char *name)
{
    int host_errno = errno;
    qp_rule *rule = NULL;
    if (name && !begin()) {
        rule = qp_rule_find(kind, name);
        qp_control_unlock();
    }
    errno = host_errno;
    return rule;
}

/* ---- changes ---------------------------------------------------------------------------------- */

static int destroy(qp_rule *rule, const void *unused)
{
    (void)unused;
    qp_rule_destroy(rule);
    return 0;
}

static int set_pass(qp_rule *rule, const void *n)
{
    __atomic_store_n(&rule->pass, *(const unsigned long *)n, __ATOMIC_RELAXED);
    return INNER;
}

static int set_work(qp_rule *rule, const void *n)
{
    __atomic_store_n(&rule->work, *(const unsigned long *)n, __ATOMIC_RELAXED);
    return INNER;
}

static int set_cycling(qp_rule *rule, const void *yes)
{
    qp_store(&rule->is_cycling, *(const int *)yes != 0);
    return INNER;
}

static int set_all_threads(qp_rule *rule, const void *yes)
{
    qp_store(&rule->is_for_all, *(const int *)yes != 0);
    return INNER;
}

static int set_checked(qp_rule *rule, const void *yes)
{
    qp_rule_set_checked(rule, *(const int *)yes != 0);
    return 0;
}

static int set_parameters(qp_rule *rule, const void *yes)
{
    qp_store(&rule->has_parameters, *(const int *)yes != 0);
    return 0;
}

typedef struct {
    uint64_t id;
    bool is_checked;
} method;

static int add_method(qp_rule *rule, const void *to)
{
    const method *m = to;
    int code = m->id ? qp_rule_add_id(rule, m->id, m->is_checked) : QPROF_E_ARG;
    return code ? code : NAMED;
}

static int add_element(qp_rule *rule, const void *element)
{
    int code = qp_rule_add(rule, element);
    return code ? code : NAMED;
}

static int check_routine(qp_rule *rule, const void *to)
{
    const qp_config_element *e = to;
    return qp_rule_check(rule, e->name, e->is_checked) ? 0 : QPROF_E_NOTFOUND;
}

/* A name, or a pattern by its prefix. */
static qp_config_element element_of(int kind, const char *name, int checked)
{
    qp_config_element e = {(qp_element_kind)kind, QP_NAME_LITERAL, name, checked != 0};
    if (strncmp(name, "glob:", 5) == 0)
        e = (qp_config_element){e.kind, QP_NAME_GLOB, name + 5, e.is_checked};
    else if (strncmp(name, "regex:", 6) == 0)
        e = (qp_config_element){e.kind, QP_NAME_REGEX, name + 6, e.is_checked};
    return e;
}

static int add_named(qp_rule_kind rule_kind, void *rule, int kind, const char *name,
                     int checked)
{
    if (!name || kind < QPROF_ELEM_MODULE || kind > QPROF_ELEM_ROUTINE)
        return refuse(QPROF_E_ARG);
    const qp_config_element e = element_of(kind, name, checked);
    char why[120];
    int host_errno = errno;
    bool is_wrong = e.name_kind == QP_NAME_REGEX && qp_match_mistake(e.name, why, sizeof why);
    errno = host_errno;
    return is_wrong ? qp_door_refuse(QPROF_E_SYNTAX, why)
                    : with_rule((change){rule_kind, rule, add_element, &e});
}

static int add_id(qp_rule_kind kind, void *rule, qprof_MethodID id, int checked)
{
    const method m = {id, checked != 0};
    return with_rule((change){kind, rule, add_method, &m});
}

/* ---- triggers --------------------------------------------------------------------------------- */

qprof_trigger *qprof_trigger_create(const char *name, int type)
{
    return (qprof_trigger *)(void *)create(QP_RULE_TRIGGER, name, 2, type, 0);
}

qprof_trigger *qprof_trigger_find(const char *name)
{
    return (qprof_trigger *)(void *)find(QP_RULE_TRIGGER, name);
}

int qprof_trigger_destroy(qprof_trigger *t)
{
    return with_rule((change){QP_RULE_TRIGGER, (void *)t, destroy, NULL});
}

int qprof_trigger_set_pass(qprof_trigger *t, unsigned long n)
{
    return with_rule((change){QP_RULE_TRIGGER, (void *)t, set_pass, &n});
}

int qprof_trigger_set_work(qprof_trigger *t, unsigned long n)
{
    return with_rule((change){QP_RULE_TRIGGER, (void *)t, set_work, &n});
}

int qprof_trigger_set_cycling(qprof_trigger *t, int yes)
{
    return with_rule((change){QP_RULE_TRIGGER, (void *)t, set_cycling, &yes});
}

int qprof_trigger_set_all_threads(qprof_trigger *t, int yes)
{
    return with_rule((change){QP_RULE_TRIGGER, (void *)t, set_all_threads, &yes});
}

int qprof_trigger_set_checked(qprof_trigger *t, int yes)
{
    return with_rule((change){QP_RULE_TRIGGER, (void *)t, set_checked, &yes});
}

int qprof_trigger_add_method(qprof_trigger *t, qprof_MethodID id, int checked)
{
    return add_id(QP_RULE_TRIGGER, t, id, checked);
}

int qprof_trigger_add_routine(qprof_trigger *t, const char *name, int checked)
{
    return add_named(QP_RULE_TRIGGER, t, QPROF_ELEM_ROUTINE, name, checked);
}

int qprof_trigger_check_routine(qprof_trigger *t, const char *name, int checked)
{
    if (!name)
        return refuse(QPROF_E_ARG);
    const qp_config_element e = element_of(QPROF_ELEM_ROUTINE, name, checked);
    return with_rule((change){QP_RULE_TRIGGER, (void *)t, check_routine, &e});
}

int qprof_trigger_initial_status(int on)
{
    int host_errno = errno, code = begin(), before = 0;
    if (!code) {
        before = qp_rules_initial_status(on < 0 ? -1 : on != 0);
        qp_control_unlock();
    }
    errno = host_errno;
    return code ? refuse(code) : before;
}

int qprof_trigger_thread_status(void)
{
    return qp_state() == QP_STATE_RUNNING ? qp_rules_status() : refuse(QPROF_E_STATE);
}

unsigned qprof_trigger_validate(void)
{
    unsigned bits = 0;
    if (!begin()) {
        bits = qp_rules_validate();
        qp_control_unlock();
    }
    return bits;
}

int qprof_enable_profiling(int on)
{
    int host_errno = errno, code = begin(), before = 0;
    if (!code) {
        before = qp_data_gate(-1);
        qp_data_gate(on < 0 ? -1 : on != 0);
        qp_control_unlock();
    }
    errno = host_errno;
    return code ? refuse(code) : before;
}

/* ---- actions ---------------------------------------------------------------------------------- */

qprof_action *qprof_action_create(const char *name, int type, int when)
{
    return (qprof_action *)(void *)create(QP_RULE_ACTION, name, 4, type, when);
}

qprof_action *qprof_action_find(const char *name)
{
    return (qprof_action *)(void *)find(QP_RULE_ACTION, name);
}

int qprof_action_destroy(qprof_action *a)
{
    return with_rule((change){QP_RULE_ACTION, (void *)a, destroy, NULL});
}

int qprof_action_set_checked(qprof_action *a, int yes)
{
    return with_rule((change){QP_RULE_ACTION, (void *)a, set_checked, &yes});
}

int qprof_action_add_method(qprof_action *a, qprof_MethodID id, int checked)
{
    return add_id(QP_RULE_ACTION, a, id, checked);
}

int qprof_action_add_routine(qprof_action *a, const char *name, int checked)
{
    return add_named(QP_RULE_ACTION, a, QPROF_ELEM_ROUTINE, name, checked);
}

/* ---- areas ------------------------------------------------------------------------------------ */

qprof_area *qprof_area_create(const char *name, int mode, int level)
{
    return (qprof_area *)(void *)create(QP_RULE_AREA, name, 2, mode, level);
}

qprof_area *qprof_area_find(const char *name)
{
    return (qprof_area *)(void *)find(QP_RULE_AREA, name);
}

int qprof_area_destroy(qprof_area *a)
{
    return with_rule((change){QP_RULE_AREA, (void *)a, destroy, NULL});
}

int qprof_area_set_checked(qprof_area *a, int yes)
{
    return with_rule((change){QP_RULE_AREA, (void *)a, set_checked, &yes});
}

int qprof_area_set_parameters(qprof_area *a, int yes)
{
    return with_rule((change){QP_RULE_AREA, (void *)a, set_parameters, &yes});
}

int qprof_area_add(qprof_area *a, int kind, const char *name, int checked)
{
    return add_named(QP_RULE_AREA, a, kind, name, checked);
}

int qprof_area_add_method(qprof_area *a, qprof_MethodID id, int checked)
{
    return add_id(QP_RULE_AREA, a, id, checked);
}
