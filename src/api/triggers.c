/* triggers.c: the exported functions of triggers, actions and areas. */
#include <stddef.h>
#include <string.h>

#include "api/guard.h"
#include "config/config.h"
#include "record/control/control.h"
#include "record/trigger/trigger.h"

/* What a change returns on success: 0: the flags of all its methods may differ; INNER: of none;
 * NAMED: of the methods that were named last. */
enum { INNER = 1, NAMED };

/* A change of one trigger, action or area, under the control lock. */
typedef struct {
    qp_trigger_kind kind;
    qp_trigger *trigger;
    int (*change)(qp_trigger *trigger, const void *to);
    const void *to;
} change;

static int refuse_argument(void)
{
    return qp_guard_refuse(QPROF_E_ARG, "trigger, action or area: invalid argument");
}

static int with_trigger(change c)
{
    QP_TRY(qp_guard_begin("trigger, action or area"));
    int code = qp_trigger_is(c.trigger, c.kind) ? c.change(c.trigger, c.to) : QPROF_E_ARG;
    if (code == 0 || code == NAMED)
        qp_triggers_changed_from(c.trigger, code ? c.trigger->last : c.trigger->first);
    return qp_guard_end(code > 0 ? 0 : code, "trigger, action or area: refused");
}

static qp_trigger *create(qp_trigger_kind kind, const char *name, unsigned n_types, int type,
                          int when)
{
    if (!name || (unsigned)type >= n_types || (unsigned)when >= 2) {
        refuse_argument();
        return NULL;
    }
    if (qp_guard_begin("trigger, action or area"))
        return NULL;
    qp_trigger *trigger = qp_trigger_create(kind, name, (unsigned)type, (unsigned)when);
    if (trigger && kind == QP_KIND_AREA) /* it may have unchecked all-lines */
        qp_triggers_changed();
    qp_guard_end(trigger ? 0 : QPROF_E_STATE, "trigger, action or area: not created");
    return trigger;
}

static qp_trigger *find(qp_trigger_kind kind, const char *name)
{
    if (!name || qp_guard_begin(NULL))
        return NULL;
    qp_trigger *trigger = qp_trigger_find(kind, name);
    qp_guard_end(0, "");
    return trigger;
}

/* ---- changes ----------------------------------------------------------------------------- */

static int destroy(qp_trigger *trigger, QP_UNUSED const void *unused)
{
    qp_trigger_destroy(trigger);
    return 0;
}

typedef enum { PASS, WORK, CYCLING, ALL_THREADS, CHECKED, PARAMETERS } field;

typedef struct {
    field field;
    unsigned long value;
} setting;

static int set(qp_trigger *trigger, const void *to)
{
    static const struct {
        size_t at, n_bytes;
        int result;
    } fields[] = {[PASS] = {offsetof(qp_trigger, pass), sizeof(uint64_t), INNER},
                  [WORK] = {offsetof(qp_trigger, work), sizeof(uint64_t), INNER},
                  [CYCLING] = {offsetof(qp_trigger, is_cycling), 1, INNER},
                  [ALL_THREADS] = {offsetof(qp_trigger, is_for_all), 1, INNER},
                  [CHECKED] = {0, 0, 0},
                  [PARAMETERS] = {offsetof(qp_trigger, has_parameters), 1, 0}};
    const setting *s = to;
    void *at = (char *)trigger + fields[s->field].at;
    if (s->field == CHECKED)
        qp_trigger_set_checked(trigger, s->value != 0);
    else if (fields[s->field].n_bytes == 1)
        qp_store((uint8_t *)at, s->value != 0);
    else
        qp_store((uint64_t *)at, s->value);
    return fields[s->field].result;
}

static int set_field(qp_trigger_kind kind, void *trigger, field f, unsigned long value)
{
    const setting s = {f, value};
    return with_trigger((change){kind, trigger, set, &s});
}

typedef struct {
    uint64_t id;
    bool is_checked;
} method;

static int add_method(qp_trigger *trigger, const void *to)
{
    const method *m = to;
    int code = m->id ? qp_trigger_add_id(trigger, m->id, m->is_checked) : QPROF_E_ARG;
    return code ? code : NAMED;
}

static int add_element(qp_trigger *trigger, const void *element)
{
    int code = qp_trigger_add(trigger, element);
    return code ? code : NAMED;
}

static int check_routine(qp_trigger *trigger, const void *to)
{
    const qp_config_element *e = to;
    return qp_trigger_check(trigger, e->name, e->is_checked) ? 0 : QPROF_E_NOTFOUND;
}

/* A name, or by its prefix a pattern. */
static qp_config_element element_of(int kind, const char *name, int checked)
{
    qp_config_element e = {(qp_element_kind)kind, QP_NAME_LITERAL, name, checked != 0};
    if (strncmp(name, "glob:", 5) == 0)
        e = (qp_config_element){e.kind, QP_NAME_GLOB, name + 5, e.is_checked};
    else if (strncmp(name, "regex:", 6) == 0)
        e = (qp_config_element){e.kind, QP_NAME_REGEX, name + 6, e.is_checked};
    return e;
}

static int add_named(qp_trigger_kind trigger_kind, void *trigger, int kind, const char *name,
                     int checked)
{
    if (!name || kind < QPROF_ELEM_MODULE || kind > QPROF_ELEM_ROUTINE)
        return refuse_argument();
    const qp_config_element e = element_of(kind, name, checked);
    char why[120];
    int host_errno = errno;
    bool is_wrong = e.name_kind == QP_NAME_REGEX && qp_match_mistake(e.name, why, sizeof why);
    errno = host_errno;
    return is_wrong ? qp_guard_refuse(QPROF_E_SYNTAX, why)
                    : with_trigger((change){trigger_kind, trigger, add_element, &e});
}

static int add_id(qp_trigger_kind kind, void *trigger, qprof_MethodID id, int checked)
{
    const method m = {id, checked != 0};
    return with_trigger((change){kind, trigger, add_method, &m});
}

/* ---- triggers ---------------------------------------------------------------------------- */

qprof_trigger *qprof_trigger_create(const char *name, int type)
{
    return (qprof_trigger *)(void *)create(QP_KIND_TRIGGER, name, 2, type, 0);
}

qprof_trigger *qprof_trigger_find(const char *name)
{
    return (qprof_trigger *)(void *)find(QP_KIND_TRIGGER, name);
}

int qprof_trigger_destroy(qprof_trigger *t)
{
    return with_trigger((change){QP_KIND_TRIGGER, (void *)t, destroy, NULL});
}

int qprof_trigger_set_pass(qprof_trigger *t, unsigned long n)
{
    return set_field(QP_KIND_TRIGGER, t, PASS, n);
}

int qprof_trigger_set_work(qprof_trigger *t, unsigned long n)
{
    return set_field(QP_KIND_TRIGGER, t, WORK, n);
}

int qprof_trigger_set_cycling(qprof_trigger *t, int yes)
{
    return set_field(QP_KIND_TRIGGER, t, CYCLING, yes != 0);
}

int qprof_trigger_set_all_threads(qprof_trigger *t, int yes)
{
    return set_field(QP_KIND_TRIGGER, t, ALL_THREADS, yes != 0);
}

int qprof_trigger_set_checked(qprof_trigger *t, int yes)
{
    return set_field(QP_KIND_TRIGGER, t, CHECKED, yes != 0);
}

int qprof_trigger_add_method(qprof_trigger *t, qprof_MethodID id, int checked)
{
    return add_id(QP_KIND_TRIGGER, t, id, checked);
}

int qprof_trigger_add_routine(qprof_trigger *t, const char *name, int checked)
{
    return add_named(QP_KIND_TRIGGER, t, QPROF_ELEM_ROUTINE, name, checked);
}

int qprof_trigger_check_routine(qprof_trigger *t, const char *name, int checked)
{
    if (!name)
        return refuse_argument();
    const qp_config_element e = element_of(QPROF_ELEM_ROUTINE, name, checked);
    return with_trigger((change){QP_KIND_TRIGGER, (void *)t, check_routine, &e});
}

int qprof_trigger_initial_status(int on)
{
    QP_TRY(qp_guard_begin("qprof_trigger_initial_status"));
    int before = qp_triggers_initial_status(on < 0 ? -1 : on != 0);
    qp_guard_end(0, "");
    return before;
}

int qprof_trigger_thread_status(void)
{
    return qp_is_running()
               ? qp_triggers_status()
               : qp_guard_refuse(QPROF_E_STATE, "qprof_trigger_thread_status: not running");
}

unsigned qprof_trigger_validate(void)
{
    if (qp_guard_begin(NULL))
        return 0;
    unsigned bits = qp_triggers_validate();
    qp_guard_end(0, "");
    return bits;
}

int qprof_enable_profiling(int on)
{
    QP_TRY(qp_guard_begin("qprof_enable_profiling"));
    int before = qp_data_gate(-1);
    qp_data_gate(on < 0 ? -1 : on != 0);
    qp_guard_end(0, "");
    return before;
}

/* ---- actions ----------------------------------------------------------------------------- */

qprof_action *qprof_action_create(const char *name, int type, int when)
{
    return (qprof_action *)(void *)create(QP_KIND_ACTION, name, 4, type, when);
}

qprof_action *qprof_action_find(const char *name)
{
    return (qprof_action *)(void *)find(QP_KIND_ACTION, name);
}

int qprof_action_destroy(qprof_action *a)
{
    return with_trigger((change){QP_KIND_ACTION, (void *)a, destroy, NULL});
}

int qprof_action_set_checked(qprof_action *a, int yes)
{
    return set_field(QP_KIND_ACTION, a, CHECKED, yes != 0);
}

int qprof_action_add_method(qprof_action *a, qprof_MethodID id, int checked)
{
    return add_id(QP_KIND_ACTION, a, id, checked);
}

int qprof_action_add_routine(qprof_action *a, const char *name, int checked)
{
    return add_named(QP_KIND_ACTION, a, QPROF_ELEM_ROUTINE, name, checked);
}

/* ---- areas ------------------------------------------------------------------------------- */

qprof_area *qprof_area_create(const char *name, int mode, int level)
{
    return (qprof_area *)(void *)create(QP_KIND_AREA, name, 2, mode, level);
}

qprof_area *qprof_area_find(const char *name)
{
    return (qprof_area *)(void *)find(QP_KIND_AREA, name);
}

int qprof_area_destroy(qprof_area *a)
{
    return with_trigger((change){QP_KIND_AREA, (void *)a, destroy, NULL});
}

int qprof_area_set_checked(qprof_area *a, int yes)
{
    return set_field(QP_KIND_AREA, a, CHECKED, yes != 0);
}

int qprof_area_set_parameters(qprof_area *a, int yes)
{
    return set_field(QP_KIND_AREA, a, PARAMETERS, yes != 0);
}

int qprof_area_add(qprof_area *a, int kind, const char *name, int checked)
{
    return add_named(QP_KIND_AREA, a, kind, name, checked);
}

int qprof_area_add_method(qprof_area *a, qprof_MethodID id, int checked)
{
    return add_id(QP_KIND_AREA, a, id, checked);
}
