/* watch.c: event triggers, as exported. */
#include <stdio.h>
#include <string.h>

#include "api/door.h"
#include "record/marks.h"
#include "record/rules.h"
#include "record/watch_parts.h"
#include "record/worker.h"

/* The numbers that hosts know, configuration files and the recorder are one. */
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

static bool is_running(void)
{
    return qp_state() == QP_STATE_RUNNING;
}

static int refuse(int code, const char *why)
{
    return qp_door_refuse(code, why);
}

/* Under the lock, if it can be had. @return 0 or QPROF_E_STATE */
static int begin(void)
{
    qp_watch_note_stack(__builtin_frame_address(0));
    if (!is_running() || !qp_control_lock())
        return refuse(QPROF_E_STATE, "event triggers: not running, or inside another call");
    return 0;
}

static int end(int code, const char *why)
{
    qp_control_unlock();
    return code ? refuse(code, why) : 0;
}

static int unknown(void)
{
    return refuse(QPROF_E_NOTFOUND, "no such event trigger");
}

/* A change of one trigger under the lock. */
static int with(qprof_TrgID t, int (*change)(qp_trg *t, const void *to), const void *to)
{
    int host_errno = errno, code = begin();
    if (!code && !qp_trg_is(t))
        code = end(QPROF_E_NOTFOUND, "no such event trigger");
    else if (!code)
        code = end(change(t, to), "event trigger: refused");
    errno = host_errno;
    return code;
}

/* ---- adding -------------------------------------------------------------------------------- */

static bool is_user_event(qprof_event_t event)
{
    return event >= QPROF_EV_USER_FIRST && event <= QPROF_EV_USER_LAST;
}

static const char *mistake(const qp_trg *t, int status, int context, int conditional, int op,
                           int condition, int action, qprof_TrgID chain)
{
    bool is_call = action == QPROF_TRG_ACT_FUNC || action == QPROF_TRG_ACT_LIB;
    if (!is_user_event(t->event) && !qp_event_name(t->event)[0])
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
    return chain && !qp_trg_is(chain) ? "qprof_trg_add: no such chain" : NULL;
}

/* It was added, or is gone: calls that it looks at. */
static void update_hooks(const qp_trg *t)
{
    if (!qp_load(&qp_watch_on) || !qp_watched_is_of_calls(t))
        return;
    qp_cell method = t->object_id ? qp_methods_find(&qp_run.methods, t->object_id) : 0;
    if (method)
        qp_rules_method(method);
    else if (!t->object_id && qp_load(&qp_watch.n_all_calls) <= 1)
        qp_rules_changed();
}

static qprof_TrgID add(const qp_trg *from)
{
    qp_trg t = *from;
    if (t.object_id)
        t.object = qp_watched_of(QP_NAME_ID, "", t.object_id);
    qprof_TrgID added = qp_trg_add(&t);
    if (added)
        update_hooks(added);
    end(added ? 0 : QPROF_E_LIMIT, "qprof_trg_add: no memory, or too many are enabled");
    return added;
}

qprof_TrgID qprof_trg_add(qprof_event_t event, int status, int contextType, uintptr_t contextId,
                          uintptr_t objId, int conditional, int condType, void *condEx1,
                          int condOp, int condEx2, int disable, qprof_TrgID chain,
                          int actionType, qprof_TrgFunc actionFunc, int actionDef,
                          intptr_t actionArg)
{
    int host_errno = errno;
    if (begin() != 0)
        return NULL;
    qp_trg t = {.event = event,
                .context_id = contextId,
                .object_id = objId,
                .when_address = condEx1,
                .function = actionFunc,
                .argument = actionArg};
    const char *why =
        mistake(&t, status, contextType, conditional, condOp, condType, actionType, chain);
    if (why) {
        end(QPROF_E_ARG, why);
        return NULL;
    }
    t.is_initially_enabled = status == QPROF_TRG_ENABLE;
    t.context = (uint8_t)contextType;
    t.is_conditional = conditional != QPROF_TRG_COND_NO;
    t.when_kind = (uint8_t)condType;
    t.when_operator = (uint8_t)condOp;
    t.when_value = condEx2;
    t.is_one_shot = disable != 0;
    t.chain = chain ? qp_trg_cell(chain) : 0;
    t.action = (uint8_t)actionType;
    t.is_deferred = actionDef != 0;
    qprof_TrgID added = add(&t);
    errno = host_errno;
    return added;
}

static int delete_it(qp_trg *t, const void *unused)
{
    (void)unused;
    if (qp_here.hit == t && !qp_here.is_worker) { /* in its own action: when that is over */
        qp_store(&t->is_doomed, true);
        return 0;
    }
    bool was_on = qp_load(&qp_watch_on);
    qp_trg_remove(t);
    if (was_on && !qp_load(&qp_watch_on)) /* it was the last one that was enabled */
        qp_rules_changed();
    update_hooks(t);
    return 0;
}

int qprof_trg_delete(qprof_TrgID t)
{
    return with(t, delete_it, NULL);
}

/* ---- one of them --------------------------------------------------------------------------- */

int qprof_trg_init(void)
{
    return is_running() ? 0 : refuse(QPROF_E_STATE, "qprof_trg_init: not running");
}

/* @return 0, or why not. No lock: a signal handler may ask */
static int look(qprof_TrgID t)
{
    qp_watch_note_stack(__builtin_frame_address(0));
    if (!is_running())
        return refuse(QPROF_E_STATE, "event triggers: not running");
    return qp_trg_is(t) ? 0 : unknown();
}

int qprof_trg_enable(qprof_TrgID t)
{
    int code = look(t);
    if (!code && qp_trg_enable(t) != 0)
        code = refuse(QPROF_E_LIMIT, "qprof_trg_enable: too many are enabled");
    return code;
}

int qprof_trg_disable(qprof_TrgID t)
{
    int host_errno = errno, code = look(t);
    if (!code)
        qp_trg_disable(t);
    errno = host_errno;
    return code;
}

static int set_chain(qp_trg *from, const void *to)
{
    const qp_trg *next = to;
    if (next && !qp_trg_is(next))
        return QPROF_E_NOTFOUND;
    if (next && qp_trg_chain(from))
        return QPROF_E_STATE;
    qp_publish(&from->chain, next ? qp_trg_cell(next) : 0);
    return 0;
}

int qprof_trg_chain_set(qprof_TrgID from, qprof_TrgID to)
{
    return with(from, set_chain, to);
}

int qprof_trg_reset(qprof_TrgID t)
{
    int code = look(t);
    if (code)
        return code;
    qp_store(&t->n_hits, 0);
    return t->is_initially_enabled ? qprof_trg_enable(t) : qprof_trg_disable(t);
}

typedef struct {
    int what;
    uint64_t limit;
} narrowing;

static int narrow(qp_trg *t, const void *to)
{
    const narrowing *n = to;
    static const uint32_t events[] = {[QPROF_TRG_LONGER] = QPROF_EV_FN_EXIT,
                                      [QPROF_TRG_DEPTH] = QPROF_EV_FN_ENTRY,
                                      [QPROF_TRG_USED] = QPROF_EV_MEMORY,
                                      [QPROF_TRG_RATE] = 0};
    if (n->what < QPROF_TRG_LONGER || n->what > QPROF_TRG_RATE ||
        (events[n->what] && events[n->what] != t->event) ||
        (n->what >= QPROF_TRG_USED && n->limit > 1000000000) ||
        (n->what == QPROF_TRG_USED && n->limit > 100))
        return QPROF_E_ARG;
    if (n->what == QPROF_TRG_LONGER)
        qp_store(&t->longer_ns, n->limit);
    else if (n->what == QPROF_TRG_DEPTH)
        qp_store(&t->depth, n->limit);
    else if (n->what == QPROF_TRG_USED)
        qp_store(&t->used, (uint32_t)n->limit);
    else
        qp_store(&t->most_a_second, (uint32_t)n->limit);
    return 0;
}

int qprof_trg_narrow(qprof_TrgID t, int what, uint64_t limit)
{
    const narrowing n = {what, limit};
    return with(t, narrow, &n);
}

static int set_object(qp_trg *t, const void *name)
{
    qp_name_kind kind;
    const char *text = qp_match_text(name, &kind);
    char why[8];
    bool has_method =
        t->event == QPROF_EV_ANY || qp_event_object_of(t->event) == QP_EVENT_OBJECT_METHOD;
    if (!text[0] || !has_method ||
        (kind == QP_NAME_REGEX && qp_match_mistake(text, why, sizeof why)))
        return QPROF_E_ARG;
    uint32_t watched = qp_watched_of(kind, text, 0);
    if (!watched)
        return QPROF_E_MEMORY;
    qp_watched_use(t, false);
    qp_store(&t->object_id, 0);
    qp_publish(&t->object, watched);
    qp_watched_use(t, true);
    qp_rules_changed(); /* methods are compared with it, whether triggering is on or not */
    return 0;
}

int qprof_trg_set_object(qprof_TrgID t, const char *name)
{
    if (!name)
        return refuse(QPROF_E_ARG, "qprof_trg_set_object: no name");
    return with(t, set_object, name);
}

static int set_name(qp_trg *t, const void *name)
{
    return qp_trg_name(t, name);
}

int qprof_trg_set_name(qprof_TrgID t, const char *name)
{
    return with(t, set_name, name ? name : "");
}

qprof_TrgID qprof_trg_find(const char *name)
{
    qprof_TrgID found = NULL;
    if (!name || begin() != 0)
        return NULL;
    found = qp_trg_find(name);
    qp_control_unlock();
    return found;
}

/* ---- triggering ---------------------------------------------------------------------------- */

unsigned qprof_trg_enabled_count(void)
{
    return is_running() ? qp_load(&qp_watch.n_enabled) : 0;
}

int qprof_trg_on(void)
{
    int host_errno = errno, code = begin();
    if (code)
        return code;
    if (!qp_watch_is_used()) {
        code = end(QPROF_E_STATE, "qprof_trg_on: there are no event triggers");
    } else {
        if (!qp_load(&qp_watch_on)) {
            qp_publish(&qp_watch_on, 1);
            qp_rules_changed();
        }
        qp_control_unlock();
    }
    errno = host_errno;
    return code;
}

void qprof_trg_off(void)
{
    int host_errno = errno;
    if (is_running() && qp_load(&qp_watch_on))
        qp_watch_stop();
    errno = host_errno;
}

int qprof_trg_is_on(void)
{
    return is_running() && qp_load(&qp_watch_on);
}

void qprof_trg_event(qprof_event_t id)
{
    if (QP_UNLIKELY(qp_load(&qp_watch_on)) && is_user_event(id) && is_running())
        qp_watch_raise(qp_watch_here(), id, 0, NULL);
}

/* Would a call be recorded now? */
static bool is_recording(qprof_thread *th)
{
    uint32_t flags = qp_load(&qp_run_head()->flags);
    if (!(flags & QP_FLAG_RECORDING) || (flags & QP_FLAG_CLOSED))
        return false;
    const qprof_frame *top = th ? qp_top_of(th) : NULL;
    return !th || (!(QPROF_LOAD(th->gate) & QP_HOOK_OFF) &&
                   !(top && (top->flags & QPROF_FRAME_EXCLUDED)));
}

int qprof_user_event(qprof_event_t id)
{
    int host_errno = errno;
    if (!is_user_event(id))
        return refuse(QPROF_E_ARG, "qprof_user_event: no event of the host's");
    if (!is_running())
        return refuse(QPROF_E_STATE, "qprof_user_event: not running");
    if (is_recording(qp_watch_here()))
        qp_event_count_add(id);
    qprof_trg_event(id);
    errno = host_errno;
    return 0;
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

/* ---- actions ------------------------------------------------------------------------------- */

int qprof_trg_work_queue_reset(void)
{
    int code = qprof_trg_init();
    if (code)
        return code;
    qprof_trg_off();
    qp_worker_reset();
    return 0;
}

unsigned long qprof_trg_dropped(void)
{
    return is_running() ? (unsigned long)qp_worker_dropped() : 0;
}

int qprof_trg_symbol(const char *name, int kind, void *address)
{
    int host_errno = errno, code = QPROF_E_ARG;
    if (!name || !name[0] || !address || kind < QPROF_TRG_SYM_VAR ||
        kind > QPROF_TRG_SYM_ACTION)
        return refuse(code, "qprof_trg_symbol: no name, no address, or no such kind");
    if (!qp_control_lock())
        return refuse(QPROF_E_STATE, "qprof_trg_symbol: inside another call");
    uint32_t cell = qp_symbol_of((unsigned)kind, name);
    if (cell)
        qp_symbol_at(cell)->address = address;
    if (cell && is_running())
        qp_symbol_resolve(cell);
    code = end(cell ? 0 : QPROF_E_MEMORY, "qprof_trg_symbol: out of memory");
    errno = host_errno;
    return code;
}

qprof_TrgFunc qprof_trg_library(const char *name)
{
    return name ? qp_watch_library(name) : NULL;
}
