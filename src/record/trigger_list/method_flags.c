/* method_flags.c: comparing methods with triggers: the flags of a method, which the event path
 * tests, and the triggers and actions that look at its calls. Read qp_triggers_method first. */
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "record/trigger_list/trigger_list.h"

enum {
    MEMBERS_MAX = 256, /* triggers and actions of one method; more are counted */
    NAME_BYTES = 4096,
    TRIGGER_FLAGS = QP_METHOD_HOOKED | QP_METHOD_EXCLUDED | QP_METHOD_ROUTINE | QP_METHOD_VALUES
};

/* The names of a method that is compared. */
typedef struct {
    const char *module, *file, *base, *class_name, *name;
    char display[NAME_BYTES]; /* "class.name" */
    uint64_t id;
} subject;

/* The result: members of triggers and actions, and the level of areas. */
typedef struct {
    uint32_t members[MEMBERS_MAX], n;
    uint32_t level; /* 0: in no area, 1: routines, 2: lines */
    bool is_excluded, is_implied, wants_values;
} verdict;

/* Where the hooks of a method are. A cell. */
typedef struct {
    uint64_t method;
    uint32_t hooks;
} place;

const qp_hooks *qp_triggers_hooks(qp_cell method)
{
    const qp_trie index = qp_triggers_index();
    if (!qp_observe(&qp_triggers.methods))
        return NULL;
    uint32_t cell = qp_trie_get(&index, qp_triggers.methods, method);
    const place *p = cell ? qp_pool_at(&qp_triggers.pool, cell) : NULL;
    uint32_t hooks = p ? qp_observe(&p->hooks) : 0;
    return hooks ? qp_pool_at(&qp_triggers.pool, hooks) : NULL;
}

/* ---- one method -------------------------------------------------------------------------- */

static void describe(const qp_method *m, subject *s)
{
    const qp_texts *texts = &qp_recorder.texts;
    s->module = qp_texts_of(texts, &m->module);
    s->file = qp_texts_of(texts, &m->file);
    const char *slash = strrchr(s->file, '/');
    s->base = slash ? slash + 1 : s->file;
    s->class_name = qp_texts_of(texts, &m->class_name);
    s->name = qp_texts_of(texts, &m->name);
    s->id = m->id;
    qp_triggers_display(m, s->display, sizeof s->display);
}

static void take_area(verdict *v, const qp_trigger *trigger)
{
    uint32_t level = trigger->when == QPROF_LEVEL_LINES ? 2 : 1;
    if (trigger->type == QPROF_AREA_EXCLUDE) {
        v->is_excluded = true;
        return;
    }
    v->level = level > v->level ? level : v->level;
    v->wants_values |= qp_load(&trigger->has_parameters);
}

/* Add a member that fits the method. */
static void take(verdict *v, uint32_t cell)
{
    qp_member *member = qp_member_at(cell);
    const qp_trigger *trigger = qp_trigger_at(member->trigger);
    if (qp_load(&trigger->is_dead))
        return;
    qp_store(&member->has_fitted, true);
    bool is_checked = qp_load(&trigger->is_checked) && qp_load(&member->is_checked);
    if (trigger->kind == QP_KIND_AREA) {
        if (is_checked)
            take_area(v, trigger);
        return;
    }
    v->is_implied |= is_checked;
    if (v->n < MEMBERS_MAX)
        v->members[v->n++] = cell;
    else
        qp_count(&qp_recorder.space, QP_D_e_limit);
}

static void take_key(verdict *v, unsigned kind, const char *text)
{
    const qp_trie index = qp_triggers_index();
    uint64_t key = qp_triggers_key(kind, text);
    for (uint32_t cell = qp_trie_get(&index, qp_triggers.keys, key); cell;
         cell = qp_observe(&qp_member_at(cell)->same))
        if (text[0] &&
            strcmp(qp_pool_text_at(&qp_triggers.pool, qp_member_at(cell)->text), text) == 0)
            take(v, cell);
}

static void take_id(verdict *v, uint64_t id)
{
    const qp_trie index = qp_triggers_index();
    uint64_t key = qp_triggers_id_key(id);
    for (uint32_t cell = qp_trie_get(&index, qp_triggers.keys, key); cell;
         cell = qp_observe(&qp_member_at(cell)->same))
        take(v, cell);
}

static bool fits(const qp_member *member, const subject *s)
{
    const qp_match_method method = {s->module, s->file, s->class_name, s->name, s->display};
    return qp_match_fits_method(qp_pool_at(&qp_triggers.pool, member->match),
                                (qp_element_kind)member->kind, &method);
}

/* In the order of the list; a trigger that names a method twice has its members side by
 * side. */
static void sort(verdict *v)
{
    for (uint32_t i = 1; i < v->n; i++) {
        uint32_t cell = v->members[i], at = i;
        uint32_t ordinal = qp_trigger_at(qp_member_at(cell)->trigger)->ordinal;
        for (;
             at && qp_trigger_at(qp_member_at(v->members[at - 1])->trigger)->ordinal > ordinal;
             at--)
            v->members[at] = v->members[at - 1];
        v->members[at] = cell;
    }
}

static void judge(const qp_method *m, verdict *v)
{
    subject s;
    describe(m, &s);
    v->n = v->level = 0;
    v->is_excluded = v->is_implied = v->wants_values = false;
    if (qp_load(&qp_trigger_at(qp_triggers.all_routines)->is_checked))
        take_area(v, qp_trigger_at(qp_triggers.all_routines));
    if (qp_load(&qp_trigger_at(qp_triggers.all_lines)->is_checked))
        take_area(v, qp_trigger_at(qp_triggers.all_lines));
    take_id(v, s.id);
    take_key(v, QP_ELEMENT_MODULE, s.module);
    take_key(v, QP_ELEMENT_FILE, s.file);
    if (s.base != s.file)
        take_key(v, QP_ELEMENT_FILE, s.base);
    take_key(v, QP_ELEMENT_CLASS, s.class_name);
    take_key(v, QP_ELEMENT_ROUTINE, s.display);
    if (strcmp(s.display, s.name) != 0)
        take_key(v, QP_ELEMENT_ROUTINE, s.name);
    for (uint32_t cell = qp_observe(&qp_triggers.patterns); cell;
         cell = qp_observe(&qp_member_at(cell)->same))
        if (fits(qp_member_at(cell), &s))
            take(v, cell);
    sort(v);
}

/* The flags that follow from areas and from members. */
static uint32_t flags_of(const verdict *v, const qp_method *m)
{
    bool is_target =
        qp_event_triggers_names(m); /* first, because it records that the method fits */
    uint32_t flags = v->n || is_target ? QP_METHOD_HOOKED : 0;
    uint32_t level = v->is_excluded ? 0 : v->level;
    if (level && v->wants_values)
        flags |= QP_METHOD_VALUES | QP_METHOD_HOOKED;
    if (!level)
        level = v->is_implied ? 1 : 0;
    return flags | (level == 0 ? QP_METHOD_EXCLUDED : level == 1 ? QP_METHOD_ROUTINE : 0);
}

/* @return false: no memory */
static bool keep_hooks(qp_cell method, const verdict *v)
{
    const qp_trie index = qp_triggers_index();
    const qp_hooks *before = qp_triggers_hooks(method);
    if ((!before && !v->n) ||
        (before && before->n == v->n &&
         memcmp(before->members, v->members, v->n * sizeof(uint32_t)) == 0))
        return true;
    uint32_t fresh = qp_pool_take(&qp_triggers.pool, sizeof(place));
    uint32_t hooks =
        qp_pool_take(&qp_triggers.pool, sizeof(qp_hooks) + v->n * sizeof(uint32_t));
    if (!fresh || !hooks)
        return false;
    qp_hooks *h = qp_pool_at(&qp_triggers.pool, hooks);
    h->n = v->n;
    memcpy(h->members, v->members, v->n * sizeof(uint32_t));
    ((place *)qp_pool_at(&qp_triggers.pool, fresh))->method = method;
    uint32_t cell = qp_trie_put(&index, qp_triggers.methods, method, fresh);
    if (!cell)
        return false;
    qp_publish(&((place *)qp_pool_at(&qp_triggers.pool, cell))->hooks, hooks);
    return true;
}

/* Compare a method with everything. @return did its flags change? */
static bool compare(qp_cell cell)
{
    qp_method *m = qp_at(&qp_recorder.space, cell);
    verdict v = {.level = 2};
    if (qp_triggers.all_lines) {
        if (!qp_triggers_name(cell))
            qp_store(&qp_triggers.are_named, false);
        judge(m, &v);
        if (cell ==
            qp_recorder.methods.anonymous) { /* an area may hold it; triggers cannot name it */
            v.n = 0;
            v.is_implied = false;
        }
        if (!keep_hooks(cell, &v))
            qp_count(&qp_recorder.space, QP_D_out_of_memory);
    }
    uint32_t wanted = flags_of(&v, m), now = qp_observe(&m->flags);
    if ((now & TRIGGER_FLAGS) == wanted)
        return false;
    while (!qp_swap_if(&m->flags, &now, (now & ~(uint32_t)TRIGGER_FLAGS) | wanted))
        ;
    return true;
}

/* Let threads relink the paths of hooked methods in their trees. */
static void tell_threads(void)
{
    qp_fence();
    qp_threads_set_hooks(QP_HOOK_TRIGGERS);
}

void qp_triggers_method(qp_cell method)
{
    bool is_of_interest = qp_observe(&qp_triggers.all_lines) || qp_event_triggers_is_used();
    if (is_of_interest && method != qp_recorder.methods.overflow && compare(method))
        tell_threads();
}

/* The next method that triggers may name; 0: no more. */
static qp_cell next_method(qp_method_walk *w)
{
    qp_cell cell = qp_walk_methods(w);
    return cell && cell == qp_recorder.methods.overflow ? qp_walk_methods(w) : cell;
}

static bool an_area_retrieves(void)
{
    for (uint32_t cell = qp_triggers.first; cell; cell = qp_trigger_at(cell)->next) {
        const qp_trigger *trigger = qp_trigger_at(cell);
        if (trigger->kind == QP_KIND_AREA && trigger->type == QPROF_AREA_INCLUDE &&
            !trigger->is_dead && trigger->is_checked && trigger->has_parameters)
            return true;
    }
    return false;
}

void qp_triggers_changed(void)
{
    bool has_changed = false;
    if (!qp_recorder.space.map.base) /* a configuration before the run */
        return;
    if (qp_observe(&qp_triggers.all_lines) || qp_event_triggers_is_used())
        qp_recorder_gate();
    qp_store(&qp_triggers.are_named, qp_triggers.all_lines != 0);
    qp_store(&qp_triggers.want_values, an_area_retrieves());
    qp_method_walk walk = {0};
    for (qp_cell cell; (cell = next_method(&walk));)
        has_changed |= compare(cell);
    if (qp_event_triggers_all_calls())
        qp_fetch_or(&qp_recorder.hooks, QP_HOOK_EVENT_TRIGGERS);
    else
        qp_fetch_and(&qp_recorder.hooks, ~(uint32_t)QP_HOOK_EVENT_TRIGGERS);
    if (has_changed)
        qp_recorder_changed();
    tell_threads();
}

/* Compare methods that may fit one member of a trigger or an action. @return did flags
 * change? */
static bool compare_for(const qp_member *member)
{
    bool has_changed = false;
    uint32_t at = 0;
    for (qp_cell cell; !member->match && (cell = qp_triggers_next_named(member, &at));)
        has_changed |= compare(cell);
    qp_method_walk walk = {0};
    for (qp_cell cell; member->match && (cell = next_method(&walk));) {
        subject s;
        describe(qp_at(&qp_recorder.space, cell), &s);
        if (fits(member, &s))
            has_changed |= compare(cell);
    }
    return has_changed;
}

void qp_triggers_changed_from(const qp_trigger *trigger, uint32_t first)
{
    bool has_changed = false;
    if (trigger->kind == QP_KIND_AREA || !qp_load(&qp_triggers.are_named)) {
        qp_triggers_changed();
        return;
    }
    qp_fence();
    for (uint32_t cell = first; cell; cell = qp_member_at(cell)->next)
        has_changed |= compare_for(qp_member_at(cell));
    if (has_changed) {
        qp_recorder_changed();
        tell_threads();
    }
}
