/* event_triggers.c: the exported functions of event triggers. */
#include <stdio.h>
#include <string.h>

#include "api/guard.h"
#include "config/config.h"
#include "record/control/control.h"
#include "record/trigger/trigger.h"
#include "record/trigger_list/trigger_list.h"

/* Hosts, configuration files and the recorder use the same numbers. */
#define SAME(a, b) _Static_assert((int)(a) == (int)(b), "one number")
SAME(QPROF_TRG_COND_FUNC, QP_WHEN_FUNCTION);
SAME(QPROF_TRG_COND_VAR, QP_WHEN_VARIABLE);
SAME(QPROF_TRG_COND_LIB, QP_WHEN_PREDICATE);
SAME(QPROF_TRG_EQ, QP_OP_EQ);
SAME(QPROF_TRG_AND, QP_OP_AND);
SAME(QPROF_TRG_CTX_ANY, QP_CONTEXT_ANY);
SAME(QPROF_TRG_CTX_SYSTEM, QP_CONTEXT_SYSTEM);
SAME(QPROF_TRG_ACT_NONE, QP_DO_NOTHING);
SAME(QPROF_TRG_ACT_MARK, QP_DO_MARK);
SAME(QPROF_EV_FN_ENTRY, QP_EVENT_FN_ENTRY);
SAME(QPROF_EV_MEMORY, QP_EVENT_MEMORY);
SAME(QPROF_EV_USER_FIRST, QP_EVENT_USER_FIRST);
SAME(QPROF_EV_USER_LAST, QP_EVENT_USER_LAST);
SAME(QPROF_EV_ANY, QP_EVENT_ANY);

static int refuse(int code, const char *why)
{
    return qp_guard_refuse(code, why);
}

/* As qp_guard_begin(); an action that calls it is found by its stack. */
static int begin(const char *function)
{
    qp_event_note_stack(__builtin_frame_address(0));
    return qp_guard_begin(function);
}

/* @return 0; refused: not running, or no such event trigger. No lock: a signal handler may
 * ask */
static int look(qprof_TrgID t)
{
    qp_event_note_stack(__builtin_frame_address(0));
    if (!qp_is_running())
        return refuse(QPROF_E_STATE, "event triggers: not running");
    return qp_event_trigger_is(t) ? 0 : refuse(QPROF_E_NOTFOUND, "no such event trigger");
}

/* Begin a change of one event trigger, under the lock. */
static int begin_change(qprof_TrgID t)
{
    QP_TRY(begin("event triggers"));
    return qp_event_trigger_is(t) ? 0 : qp_guard_end(QPROF_E_NOTFOUND, "no such event trigger");
}

static int end_change(int code)
{
    return qp_guard_end(code, "event trigger: refused");
}

/* ---- adding ------------------------------------------------------------------------------ */

static const char *mistake(const qp_event_trigger *t, int status, int context, int conditional,
                           int op, int condition, int action, qprof_TrgID chain)
{
    bool is_call = action == QPROF_TRG_ACT_FUNC || action == QPROF_TRG_ACT_LIB;
    if (!qp_is_user_event(t->event) && !qp_event_name(t->event)[0])
        return "qprof_trg_add: no such event";
    if (status != QPROF_TRG_ENABLE && status != QPROF_TRG_DISABLE)
        return "qprof_trg_add: no such status";
    if ((unsigned)context > QPROF_TRG_CTX_SYSTEM)
        return "qprof_trg_add: no such context";
    if (conditional && ((unsigned)condition > QPROF_TRG_COND_LIB ||
                        (unsigned)op > QPROF_TRG_AND || !t->when_address))
        return "qprof_trg_add: no such condition";
    if ((unsigned)action > QPROF_TRG_ACT_MARK || (is_call && !t->function))
        return "qprof_trg_add: no such action, or no function";
    return chain && !qp_event_trigger_is(chain) ? "qprof_trg_add: no such chain" : NULL;
}

/* It was added or removed: update the flags of the methods whose calls it looks at. */
static void update_hooks(const qp_event_trigger *t)
{
    if (!qp_load(&qp_is_triggering) || !qp_event_target_is_of_calls(t))
        return;
    qp_cell method = t->object_id ? qp_methods_find(&qp_recorder.methods, t->object_id) : 0;
    if (method)
        qp_triggers_method(method);
    else if (!t->object_id && qp_load(&qp_event_triggers.n_all_calls) <= 1)
        qp_triggers_changed();
}

static qprof_TrgID add(const qp_event_trigger *from)
{
    qp_event_trigger t = *from;
    if (t.object_id)
        t.object = qp_event_target_of(QP_NAME_ID, "", t.object_id);
    if (t.is_deferred)
        qp_worker_start();
    qprof_TrgID added = qp_event_trigger_add(&t);
    if (added)
        update_hooks(added);
    qp_guard_end(added ? 0 : QPROF_E_LIMIT,
                 "qprof_trg_add: no memory, or too many are enabled");
    return added;
}

qprof_TrgID qprof_trg_add(qprof_event_t event, int status, int contextType, uintptr_t contextId,
                          uintptr_t objId, int conditional, int condType, void *condEx1,
                          int condOp, int condEx2, int disable, qprof_TrgID chain,
                          int actionType, qprof_TrgFunc actionFunc, int actionDef,
                          intptr_t actionArg)
{
    if (begin("qprof_trg_add"))
        return NULL;
    qp_event_trigger t = {.event = event,
                          .context_id = contextId,
                          .object_id = objId,
                          .when_address = condEx1,
                          .function = actionFunc,
                          .argument = actionArg};
    const char *why =
        mistake(&t, status, contextType, conditional, condOp, condType, actionType, chain);
    if (why) {
        qp_guard_end(QPROF_E_ARG, why);
        return NULL;
    }
    t.is_initially_enabled = status == QPROF_TRG_ENABLE;
    t.context = (uint8_t)contextType;
    t.is_conditional = conditional != QPROF_TRG_COND_NO;
    t.when_kind = (uint8_t)condType;
    t.when_operator = (uint8_t)condOp;
    t.when_value = condEx2;
    t.is_one_shot = disable != 0;
    t.chain = chain ? qp_event_trigger_cell(chain) : 0;
    t.action = (uint8_t)actionType;
    t.is_deferred = actionDef != 0;
    return add(&t);
}

int qprof_trg_delete(qprof_TrgID t)
{
    QP_TRY(begin_change(t));
    if (qp_here.hit == t && !qp_here.is_worker) { /* in its own action: remove it afterwards */
        qp_store(&t->is_doomed, true);
        return end_change(0);
    }
    bool was_on = qp_load(&qp_is_triggering);
    qp_event_trigger_remove(t);
    if (was_on && !qp_load(&qp_is_triggering)) /* it was the last one that was enabled */
        qp_triggers_changed();
    update_hooks(t);
    return end_change(0);
}

/* ---- one of them ------------------------------------------------------------------------- */

int qprof_trg_init(void)
{
    return qp_is_running() ? 0 : refuse(QPROF_E_STATE, "qprof_trg_init: not running");
}

int qprof_trg_enable(qprof_TrgID t)
{
    int code = look(t);
    if (!code && qp_event_trigger_enable(t) != 0)
        code = refuse(QPROF_E_LIMIT, "qprof_trg_enable: too many are enabled");
    return code;
}

int qprof_trg_disable(qprof_TrgID t)
{
    int host_errno = errno, code = look(t);
    if (!code)
        qp_event_trigger_disable(t);
    errno = host_errno;
    return code;
}

int qprof_trg_chain_set(qprof_TrgID from, qprof_TrgID to)
{
    QP_TRY(begin_change(from));
    if (to && !qp_event_trigger_is(to))
        return end_change(QPROF_E_NOTFOUND);
    if (to && qp_event_trigger_chain(from))
        return end_change(QPROF_E_STATE);
    qp_publish(&from->chain, to ? qp_event_trigger_cell(to) : 0);
    return end_change(0);
}

int qprof_trg_reset(qprof_TrgID t)
{
    QP_TRY(look(t));
    qp_store(&t->n_hits, 0);
    return t->is_initially_enabled ? qprof_trg_enable(t) : qprof_trg_disable(t);
}

int qprof_trg_narrow(qprof_TrgID t, int what, uint64_t limit)
{
    static const struct {
        uint32_t event; /* the only one; 0: any */
        uint64_t most;
    } kinds[] = {[QPROF_TRG_LONGER] = {QPROF_EV_FN_EXIT, UINT64_MAX},
                 [QPROF_TRG_DEPTH] = {QPROF_EV_FN_ENTRY, UINT64_MAX},
                 [QPROF_TRG_USED] = {QPROF_EV_MEMORY, 100},
                 [QPROF_TRG_RATE] = {0, 1000000000}};
    QP_TRY(begin_change(t));
    if (what < QPROF_TRG_LONGER || what > QPROF_TRG_RATE || limit > kinds[what].most ||
        (kinds[what].event && kinds[what].event != t->event))
        return end_change(QPROF_E_ARG);
    if (what == QPROF_TRG_LONGER || what == QPROF_TRG_DEPTH)
        qp_store(what == QPROF_TRG_LONGER ? &t->longer_ns : &t->depth, limit);
    else
        qp_store(what == QPROF_TRG_USED ? &t->used : &t->most_a_second, (uint32_t)limit);
    return end_change(0);
}

static int set_object(qp_event_trigger *t, const char *name)
{
    qp_name_kind kind;
    const char *text = qp_match_text(name, &kind);
    char why[8];
    bool has_method =
        t->event == QPROF_EV_ANY || qp_event_object_of(t->event) == QP_EVENT_OBJECT_METHOD;
    if (!text[0] || !has_method ||
        (kind == QP_NAME_REGEX && qp_match_mistake(text, why, sizeof why)))
        return QPROF_E_ARG;
    uint32_t watched = qp_event_target_of(kind, text, 0);
    if (!watched)
        return QPROF_E_MEMORY;
    qp_event_target_use(t, false);
    qp_store(&t->object_id, 0);
    qp_publish(&t->object, watched);
    qp_event_target_use(t, true);
    qp_triggers_changed(); /* methods are compared with it even while triggering is off */
    return 0;
}

int qprof_trg_set_object(qprof_TrgID t, const char *name)
{
    if (!name)
        return refuse(QPROF_E_ARG, "qprof_trg_set_object: no name");
    QP_TRY(begin_change(t));
    return end_change(set_object(t, name));
}

int qprof_trg_set_name(qprof_TrgID t, const char *name)
{
    QP_TRY(begin_change(t));
    return end_change(qp_event_trigger_name(t, name ? name : ""));
}

qprof_TrgID qprof_trg_find(const char *name)
{
    if (!name || begin("qprof_trg_find"))
        return NULL;
    qprof_TrgID found = qp_event_trigger_find(name);
    qp_guard_end(0, "");
    return found;
}

/* ---- triggering -------------------------------------------------------------------------- */

unsigned qprof_trg_enabled_count(void)
{
    return qp_is_running() ? qp_load(&qp_event_triggers.n_enabled) : 0;
}

int qprof_trg_on(void)
{
    QP_TRY(begin("qprof_trg_on"));
    if (!qp_event_triggers_is_used())
        return qp_guard_end(QPROF_E_STATE, "qprof_trg_on: there are no event triggers");
    if (!qp_load(&qp_is_triggering)) {
        qp_publish(&qp_is_triggering, 1);
        qp_triggers_changed();
    }
    return qp_guard_end(0, "");
}

void qprof_trg_off(void)
{
    int host_errno = errno;
    if (qp_is_running() && qp_load(&qp_is_triggering))
        qp_event_triggers_stop();
    errno = host_errno;
}

int qprof_trg_is_on(void)
{
    return qp_is_running() && qp_load(&qp_is_triggering);
}

static void nest(uint32_t *depth, int by)
{
    if (by > 0 || *depth)
        *depth += (uint32_t)by;
}

void qprof_trg_isr_enter(void)
{
    nest(&qp_here.n_interrupts, 1);
}

void qprof_trg_isr_leave(void)
{
    nest(&qp_here.n_interrupts, -1);
}

void qprof_trg_system_enter(void)
{
    nest(&qp_here.n_system, 1);
}

void qprof_trg_system_leave(void)
{
    nest(&qp_here.n_system, -1);
}

/* ---- actions ----------------------------------------------------------------------------- */

int qprof_trg_work_queue_reset(void)
{
    QP_TRY(qprof_trg_init());
    qprof_trg_off();
    qp_worker_reset();
    return 0;
}

unsigned long qprof_trg_dropped(void)
{
    return qp_is_running()
               ? (unsigned long)qp_load(&qp_recorder_head()->diagnostics[QP_D_actions_dropped])
               : 0;
}

int qprof_trg_symbol(const char *name, int kind, void *address)
{
    int host_errno = errno;
    if (!name || !name[0] || !address || kind < QPROF_TRG_SYM_VAR ||
        kind > QPROF_TRG_SYM_ACTION)
        return refuse(QPROF_E_ARG, "qprof_trg_symbol: no name, no address, or no such kind");
    if (!qp_control_lock()) /* a run need not be on */
        return refuse(QPROF_E_STATE, "qprof_trg_symbol: inside another control function");
    uint32_t cell = qp_symbol_of((unsigned)kind, name);
    if (cell)
        qp_symbol_at(cell)->address = address;
    if (cell && qp_is_running())
        qp_symbol_resolve(cell);
    qp_control_unlock();
    errno = host_errno;
    return cell ? 0 : refuse(QPROF_E_MEMORY, "qprof_trg_symbol: out of memory");
}

qprof_TrgFunc qprof_trg_library(const char *name)
{
    return name ? qp_event_action_find(name) : NULL;
}

/* ---- shown ------------------------------------------------------------------------------- */

int qprof_trg_get(qprof_TrgID t, qprof_TrgInfo *info)
{
    QP_TRY(look(t));
    if (!info)
        return refuse(QPROF_E_ARG, "qprof_trg_get: the structure is NULL");
    qp_name_kind kind;
    uint64_t id = qp_load(&t->object_id);
    *info = (qprof_TrgInfo){.number = t->number,
                            .next = qp_event_trigger_next(t),
                            .name = qp_event_trigger_text(qp_observe(&t->name)),
                            .event = t->event,
                            .status = qp_load(&t->slot) != 0,
                            .initialStatus = t->is_initially_enabled,
                            .disable = t->is_one_shot,
                            .contextType = t->context,
                            .contextId = t->context_id,
                            .objId = id,
                            .objName =
                                id ? "" : qp_event_target_text(qp_observe(&t->object), &kind),
                            .chain = qp_event_trigger_chain(t),
                            .conditional = t->is_conditional,
                            .condType = t->when_kind,
                            .condOp = t->when_operator,
                            .condEx2 = t->when_value,
                            .condEx1 = t->when_address,
                            .actionType = t->action,
                            .actionDef = t->is_deferred,
                            .actionFunc = t->function,
                            .actionArg = t->argument,
                            .hits = qp_load(&t->n_hits),
                            .longer = qp_load(&t->longer_ns),
                            .depth = qp_load(&t->depth),
                            .used = qp_load(&t->used),
                            .rate = qp_load(&t->most_a_second)};
    return 0;
}

static const char *symbol_text(uint32_t cell)
{
    return cell ? qp_pool_text_at(&qp_event_triggers.symbols, qp_symbol_at(cell)->name) : NULL;
}

static void describe(const qp_event_trigger *t, qp_shown *s)
{
    const qp_event_trigger *chain = qp_event_trigger_chain(t);
    qp_name_kind kind = QP_NAME_LITERAL;
    const char *object =
        t->object && !t->object_id ? qp_event_target_text(t->object, &kind) : NULL;
    *s = (qp_shown){.trigger = {.name = qp_event_trigger_text(qp_observe(&t->name)),
                                .event = t->event,
                                .is_enabled = qp_load(&t->slot) != 0,
                                .is_one_shot = t->is_one_shot,
                                .is_deferred = t->is_deferred,
                                .context = (qp_config_context)t->context,
                                .context_id = t->context_id,
                                .object_kind = object         ? QP_OBJECT_NAME
                                               : t->object_id ? QP_OBJECT_NUMBER
                                                              : QP_OBJECT_ANY,
                                .object = t->object_id,
                                .object_name = object,
                                .object_name_kind = kind,
                                .when_kind = (qp_config_when_kind)t->when_kind,
                                .when_operator = (qp_config_operator)t->when_operator,
                                .when_value = t->when_value,
                                .action = (qp_config_do)t->action,
                                .action_argument = t->argument,
                                .longer_ns = t->longer_ns,
                                .depth = t->depth,
                                .used = t->used,
                                .most_a_second = t->most_a_second},
                    .number = t->number,
                    .chain_number = chain ? chain->number : 0,
                    .is_initially_enabled = t->is_initially_enabled,
                    .n_hits = qp_load(&t->n_hits)};
    if (t->is_conditional)
        s->trigger.when_name = t->when_symbol ? symbol_text(t->when_symbol) : "condition";
    s->trigger.action_name =
        t->action_symbol ? symbol_text(t->action_symbol) : qp_event_action_name(t->function);
}

static void print(FILE *file, const char *line)
{
    fprintf(file, "%s\n", line);
}

static void show_one(FILE *file, const qp_event_trigger *t, bool has_members)
{
    char line[QP_SHOWN_BYTES];
    qp_shown s;
    describe(t, &s);
    if (!has_members) {
        qp_show_line(&s, line);
        print(file, line);
    }
    for (unsigned i = 0; has_members && qp_show_member(&s, i, line); i++)
        print(file, line);
}

int qprof_trg_show_to(FILE *file, qprof_TrgID id, int options)
{
    char line[QP_SHOWN_BYTES];
    QP_TRY(id ? look(id) : qprof_trg_init());
    if (!file)
        return refuse(QPROF_E_ARG, "qprof_trg_show_to: no stream");
    int host_errno = errno;
    if (!id || !options) {
        qp_show_head(line);
        print(file, line);
    }
    for (qp_event_trigger *t = NULL; !id && (t = qp_event_trigger_next(t));)
        show_one(file, t, false);
    if (id)
        show_one(file, id, options != 0);
    qp_show_foot(qprof_trg_enabled_count(), QPROF_TRG_MAX_ENABLED, qprof_trg_is_on(),
                 qprof_trg_dropped(), line);
    print(file, line);
    errno = host_errno;
    return 0;
}

int qprof_trg_show(qprof_TrgID id, int options)
{
    return qprof_trg_show_to(stdout, id, options);
}
