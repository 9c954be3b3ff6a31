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
    qp_match_method names;
    const char *base; /* of the file */
    char display[NAME_BYTES];
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

static const qp_hooks *hooks_in(uint32_t edition, qp_cell method)
{
    const qp_trigger_edition *e = &qp_triggers.editions[edition];
    uint32_t root = qp_observe(&e->roots[QP_ROOT_METHODS]);
    uint32_t cell = root ? qp_triggers_get(&e->pool, root, method) : 0;
    const place *p = cell ? qp_pool_at(&e->pool, cell) : NULL;
    uint32_t hooks = p ? qp_observe(&p->hooks) : 0;
    return hooks ? qp_pool_at(&e->pool, hooks) : NULL;
}

/* What lasts is hooked without a gap: what is not compared yet has the hooks of the edition before. */
const qp_hooks *qp_triggers_hooks(qp_cell method)
{
    if (!qp_triggers_are_used())
        return NULL;
    uint32_t edition = qp_triggers_edition();
    bool is_changing = qp_observe(&qp_triggers.is_changing); /* before it looks there */
    const qp_hooks *h = hooks_in(edition, method);
    return h || !is_changing ? h : hooks_in(3 - edition, method);
}

/* ---- methods by name --------------------------------------------------------------------- */
/* A name that is added to a trigger is compared with the methods of that name and not with all
 * methods. Only names of routines are indexed; elements of areas and patterns are rare. */

/* The keys of a method. */
enum { BY_ID, BY_NAME, BY_DISPLAY, N_WAYS };

/* A cell. A leaf of the trie is 4 * cell + way; leaves with one key are linked after the
 * first. */
typedef struct {
    uint64_t keys[N_WAYS];
    uint32_t next[N_WAYS];
    uint32_t method;
} named;

static named *named_at(uint32_t leaf)
{
    return qp_pool_at(qp_triggers_pool(0), leaf / 4);
}

static uint64_t key_of_leaf(QP_UNUSED void *unused, uint32_t leaf)
{
    return named_at(leaf)->keys[leaf % 4];
}

static qp_trie index_of_names(void)
{
    qp_pool *pool = qp_triggers_pool(0);
    return (qp_trie){pool->base, key_of_leaf, qp_triggers_block, pool};
}

static void describe_names(qp_cell method, named *n)
{
    const qp_method *m = qp_at(&qp_recorder.space, method);
    const char *name = qp_texts_of(&qp_recorder.texts, &m->name);
    const char *class_name = qp_texts_of(&qp_recorder.texts, &m->class_name);
    char display[NAME_BYTES];
    qp_triggers_display(m, display, sizeof display);
    *n = (named){.method = method};
    n->keys[BY_ID] = qp_triggers_id_key(m->id);
    n->keys[BY_NAME] = name[0] ? qp_triggers_key(QP_ELEMENT_ROUTINE, name) : 0;
    n->keys[BY_DISPLAY] = class_name[0] ? qp_triggers_key(QP_ELEMENT_ROUTINE, display) : 0;
}

static bool put(uint32_t leaf)
{
    uint32_t first = qp_trie_put(index_of_names(), qp_triggers.editions[0].roots[QP_ROOT_NAMED],
                                 key_of_leaf(NULL, leaf), leaf);
    if (!first || first == leaf)
        return first;
    uint32_t *link = &named_at(first)->next[first % 4], *next = &named_at(leaf)->next[leaf % 4];
    uint32_t second = qp_observe(link);
    do
        qp_store(next, second);
    while (!qp_swap_if(link, &second, leaf));
    return true;
}

/* Is it indexed? If its name has changed since, it can be found by both names. */
static bool is_known(const named *n)
{
    uint32_t leaf = qp_trie_get(index_of_names(), qp_triggers.editions[0].roots[QP_ROOT_NAMED],
                                n->keys[BY_ID]);
    for (; leaf; leaf = qp_observe(&named_at(leaf)->next[BY_ID]))
        if (memcmp(named_at(leaf)->keys, n->keys, sizeof n->keys) == 0)
            return true;
    return false;
}

/* Index the method by its id and names. Threads: any. @return false: no memory */
static bool index_method(qp_cell method)
{
    named n;
    describe_names(method, &n);
    if (is_known(&n))
        return true;
    uint32_t cell = qp_pool_take(qp_triggers_pool(0), sizeof(named));
    if (!cell)
        return false;
    *(named *)qp_pool_at(qp_triggers_pool(0), cell) = n;
    for (unsigned way = 0; way < N_WAYS; way++)
        if (n.keys[way] && !put(4 * cell + way))
            return false;
    qp_fence(); /* either a new name finds the method, or the method the name */
    return true;
}

/* The next method that a literal member may fit.
 * @param at  the place of the walk: 0 at first; 0 afterwards: no more. @return 0: none */
static qp_cell next_named(const qp_member *member, uint32_t *at)
{
    *at = *at ? qp_observe(&named_at(*at)->next[*at % 4])
              : qp_trie_get(index_of_names(), qp_triggers.editions[0].roots[QP_ROOT_NAMED],
                            member->id);
    return *at ? named_at(*at)->method : 0;
}

/* ---- one method -------------------------------------------------------------------------- */

static void describe(const qp_method *m, subject *s)
{
    const qp_texts *texts = &qp_recorder.texts;
    s->names = (qp_match_method){qp_texts_of(texts, &m->module), qp_texts_of(texts, &m->file),
                                 qp_texts_of(texts, &m->class_name),
                                 qp_texts_of(texts, &m->name), s->display};
    const char *slash = strrchr(s->names.file, '/');
    s->base = slash ? slash + 1 : s->names.file;
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

/* Take the members with a key. @param text  that they have as well; NULL: any */
static void take_same(verdict *v, uint64_t key, const char *text)
{
    uint32_t i = qp_triggers_edition();
    const qp_trigger_edition *e = &qp_triggers.editions[i];
    uint32_t cell = qp_triggers_get(&e->pool, e->roots[QP_ROOT_KEYS], key);
    for (; cell; cell = qp_observe(&qp_member_at(cell)->same[i]))
        if (!text || strcmp(qp_pool_text_at(&e->pool, qp_member_at(cell)->text), text) == 0)
            take(v, cell);
}

static void take_key(verdict *v, unsigned kind, const char *text)
{
    if (text[0])
        take_same(v, qp_triggers_key(kind, text), text);
}

static bool fits(const qp_member *member, const subject *s)
{
    return qp_match_fits_method(qp_pool_at(qp_triggers_pool(0), member->match),
                                (qp_element_kind)member->kind, &s->names);
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
    take_same(v, qp_triggers_id_key(s.id), NULL);
    take_key(v, QP_ELEMENT_MODULE, s.names.module);
    take_key(v, QP_ELEMENT_FILE, s.names.file);
    if (s.base != s.names.file)
        take_key(v, QP_ELEMENT_FILE, s.base);
    take_key(v, QP_ELEMENT_CLASS, s.names.class_name);
    take_key(v, QP_ELEMENT_ROUTINE, s.display);
    if (strcmp(s.display, s.names.name) != 0)
        take_key(v, QP_ELEMENT_ROUTINE, s.names.name);
    uint32_t i = qp_triggers_edition();
    for (uint32_t cell = qp_observe(&qp_triggers.editions[i].patterns); cell;
         cell = qp_observe(&qp_member_at(cell)->same[i]))
        if (fits(qp_member_at(cell), &s))
            take(v, cell);
    sort(v);
}

static uint32_t flags_of(const verdict *v, const qp_method *m)
{
    bool is_target =
        qp_event_triggers_names(m); /* first, because it records that the method fits */
    uint32_t flags = v->n || is_target ? QP_METHOD_HOOKED : 0;
    bool is_endpoint =
        qp_load(&m->flags) & QP_METHOD_ENDPOINT; /* areas are of the host's methods */
    uint32_t level = is_endpoint ? 2 : v->is_excluded ? 0 : v->level;
    if (level && v->wants_values)
        flags |= QP_METHOD_VALUES | QP_METHOD_HOOKED;
    if (!level)
        level = v->is_implied ? 1 : 0;
    return flags | (level == 0 ? QP_METHOD_EXCLUDED : level == 1 ? QP_METHOD_ROUTINE : 0);
}

/* @return false: no memory */
static bool keep_hooks(qp_cell method, const verdict *v)
{
    uint32_t edition = qp_triggers_edition();
    qp_trigger_edition *e = &qp_triggers.editions[edition];
    const qp_hooks *before = hooks_in(edition, method);
    if ((!before && !v->n) ||
        (before && before->n == v->n &&
         memcmp(before->members, v->members, v->n * sizeof(uint32_t)) == 0))
        return true;
    uint32_t fresh = qp_pool_take(&e->pool, sizeof(place));
    uint32_t hooks = qp_pool_take(&e->pool, sizeof(qp_hooks) + v->n * sizeof(uint32_t));
    if (!fresh || !hooks)
        return false;
    qp_hooks *h = qp_pool_at(&e->pool, hooks);
    h->n = v->n;
    memcpy(h->members, v->members, v->n * sizeof(uint32_t));
    ((place *)qp_pool_at(&e->pool, fresh))->method = method;
    uint32_t cell = qp_triggers_put(&e->pool, e->roots[QP_ROOT_METHODS], fresh);
    if (!cell)
        return false;
    qp_publish(&((place *)qp_pool_at(&e->pool, cell))->hooks, hooks);
    return true;
}

static bool compare_once(qp_cell cell)
{
    qp_method *m = qp_at(&qp_recorder.space, cell);
    verdict v = {.level = 2};
    if (qp_observe(&qp_triggers.all_lines)) {
        if (!index_method(cell))
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

/* Compare a method with everything, again if a file has replaced it meanwhile.
 * @return did its flags change? */
static bool compare(qp_cell cell)
{
    bool has_changed = false;
    uint32_t n_kept;
    qp_triggers_read(true);
    do {
        n_kept = qp_observe(&qp_triggers.n_kept);
        has_changed |= compare_once(cell);
    } while (n_kept != qp_observe(&qp_triggers.n_kept));
    qp_triggers_read(false);
    return has_changed;
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
    for (qp_trigger *trigger = NULL; (trigger = qp_trigger_next(trigger));) {
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
    for (qp_cell cell; !member->match && (cell = next_named(member, &at));)
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
