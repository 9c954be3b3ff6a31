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

static int refuse_argument(void)
{
    return qp_guard_refuse(QPROF_E_ARG, "trigger, action or area: invalid argument");
}

/* Begin and end a change of one trigger, action or area, under the control lock. */
static int begin(qp_trigger_kind kind, const void *trigger)
{
    QP_TRY(qp_guard_begin("trigger, action or area"));
    return qp_trigger_is(trigger, kind)
               ? 0
               : qp_guard_end(QPROF_E_ARG, "trigger, action or area: refused");
}

static int end(const qp_trigger *trigger, int code)
{
    if (code == 0 || code == NAMED)
        qp_triggers_changed_from(trigger, code ? trigger->last : trigger->first);
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
    if (trigger)
        qp_trigger_hold(trigger);
    qp_guard_end(0, "");
    return trigger;
}

/* ---- changes ----------------------------------------------------------------------------- */

static int destroy(qp_trigger_kind kind, void *trigger)
{
    QP_TRY(begin(kind, trigger));
    qp_trigger_destroy(trigger);
    return end(trigger, 0);
}

typedef enum { PASS, WORK, CYCLING, ALL_THREADS, CHECKED, PARAMETERS } field;

static int set_field(qp_trigger_kind kind, void *trigger, field f, unsigned long value)
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
    void *at = (char *)trigger + fields[f].at;
    QP_TRY(begin(kind, trigger));
    if (f == CHECKED)
        qp_trigger_set_checked(trigger, value != 0);
    else if (fields[f].n_bytes == 1)
        qp_store((uint8_t *)at, value != 0);
    else
        qp_store((uint64_t *)at, value);
    return end(trigger, fields[f].result);
}

static int add_named(qp_trigger_kind trigger_kind, void *trigger, int kind, const char *name,
                     int checked)
{
    if (!name || kind < QPROF_ELEM_MODULE || kind > QPROF_ELEM_ROUTINE)
        return refuse_argument();
    qp_config_element e = {.kind = (qp_element_kind)kind, .is_checked = checked != 0};
    e.name = qp_match_text(name, &e.name_kind);
    char why[120];
    int host_errno = errno;
    bool is_wrong = e.name_kind == QP_NAME_REGEX && qp_match_mistake(e.name, why, sizeof why);
    errno = host_errno;
    if (is_wrong)
        return qp_guard_refuse(QPROF_E_SYNTAX, why);
    QP_TRY(begin(trigger_kind, trigger));
    int code = qp_trigger_add(trigger, &e);
    return end(trigger, code ? code : NAMED);
}

static int add_id(qp_trigger_kind kind, void *trigger, qprof_MethodID id, int checked)
{
    QP_TRY(begin(kind, trigger));
    int code = id ? qp_trigger_add_id(trigger, id, checked != 0) : QPROF_E_ARG;
    return end(trigger, code ? code : NAMED);
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
    return destroy(QP_KIND_TRIGGER, t);
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
    qp_name_kind kind;
    qp_trigger *trigger = (void *)t;
    QP_TRY(begin(QP_KIND_TRIGGER, t));
    bool has_it = qp_trigger_check(trigger, qp_match_text(name, &kind), checked != 0);
    return end(trigger, has_it ? 0 : QPROF_E_NOTFOUND);
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
    return destroy(QP_KIND_ACTION, a);
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
    return destroy(QP_KIND_AREA, a);
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
