/* rule_match.c: which methods rules mean: the flags of a method that the event path tests, and the
 * triggers and actions that its entries and exits concern. Read qp_rules_method first. */
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "record/rule_parts.h"
#include "record/watch.h"

enum {
    MEMBERS_MAX = 256, /* triggers and actions of one method; more are counted */
    NAME_BYTES = 4096,
    RULE_FLAGS = QP_METHOD_HOOKED | QP_METHOD_EXCLUDED | QP_METHOD_ROUTINE | QP_METHOD_VALUES
};

/* What a method is compared by. */
typedef struct {
    const char *module, *file, *base, *class_name, *name;
    char display[NAME_BYTES]; /* "class.name" */
    uint64_t id;
} subject;

/* What was found: members of triggers and actions, and what areas say. */
typedef struct {
    uint32_t members[MEMBERS_MAX], n;
    uint32_t level; /* 0: in no area, 1: routines, 2: lines */
    bool is_excluded, is_implied, wants_values;
} verdict;

/* Where the hooks of a method are. A cell. */
typedef struct {
    uint32_t method, hooks;
} place;

static uint64_t key_of_place(void *unused, uint32_t cell)
{
    (void)unused;
    return ((const place *)qp_pool_at(&qp_rules.pool, cell))->method;
}

static uint32_t block_of(void *unused)
{
    (void)unused;
    return qp_pool_take(&qp_rules.pool, sizeof(qp_rule));
}

static qp_trie places(void)
{
    return (qp_trie){qp_rules.pool.base, key_of_place, block_of, NULL};
}

const qp_hooks *qp_rules_hooks(qp_cell method)
{
    const qp_trie index = places();
    if (!qp_observe(&qp_rules.methods))
        return NULL;
    uint32_t cell = qp_trie_get(&index, qp_rules.methods, method);
    const place *p = cell ? qp_pool_at(&qp_rules.pool, cell) : NULL;
    uint32_t hooks = p ? qp_observe(&p->hooks) : 0;
    return hooks ? qp_pool_at(&qp_rules.pool, hooks) : NULL;
}

/* ---- one method ------------------------------------------------------------------------------- */

static void describe(const qp_method *m, subject *s)
{
    const qp_texts *texts = &qp_run.texts;
    s->module = qp_texts_of(texts, &m->module);
    s->file = qp_texts_of(texts, &m->file);
    const char *slash = strrchr(s->file, '/');
    s->base = slash ? slash + 1 : s->file;
    s->class_name = qp_texts_of(texts, &m->class_name);
    s->name = qp_texts_of(texts, &m->name);
    s->id = m->id;
    snprintf(s->display, sizeof s->display, "%s%s%s", s->class_name,
             s->class_name[0] ? "." : "", s->name);
}

static void take_area(verdict *v, const qp_rule *rule)
{
    uint32_t level = rule->when == QPROF_LEVEL_LINES ? 2 : 1;
    if (rule->type == QPROF_AREA_EXCLUDE) {
        v->is_excluded = true;
        return;
    }
    v->level = level > v->level ? level : v->level;
    v->wants_values |= qp_load(&rule->has_parameters);
}

/* A member fits the method. */
static void take(verdict *v, uint32_t cell)
{
    qp_member *member = qp_member_at(cell);
    const qp_rule *rule = qp_rule_at(member->rule);
    if (qp_load(&rule->is_dead))
        return;
    qp_store(&member->has_fitted, true);
    bool is_checked = qp_load(&rule->is_checked) && qp_load(&member->is_checked);
    if (rule->kind == QP_RULE_AREA) {
        if (is_checked)
            take_area(v, rule);
        return;
    }
    v->is_implied |= is_checked;
    if (v->n < MEMBERS_MAX)
        v->members[v->n++] = cell;
    else
        qp_count(&qp_run.space, QP_D_e_limit);
}

static void take_key(verdict *v, unsigned kind, const char *text)
{
    const qp_trie index = qp_rules_members();
    uint64_t key = qp_rules_key(kind, text);
    for (uint32_t cell = qp_trie_get(&index, qp_rules.keys, key); cell;
         cell = qp_observe(&qp_member_at(cell)->same))
        if (text[0] &&
            strcmp(qp_pool_text_at(&qp_rules.pool, qp_member_at(cell)->text), text) == 0)
            take(v, cell);
}

static void take_id(verdict *v, uint64_t id)
{
    const qp_trie index = qp_rules_members();
    uint64_t key = qp_rules_id_key(id);
    for (uint32_t cell = qp_trie_get(&index, qp_rules.keys, key); cell;
         cell = qp_observe(&qp_member_at(cell)->same))
        take(v, cell);
}

static bool fits(const qp_member *member, const subject *s)
{
    const qp_match_method method = {s->module, s->file, s->class_name, s->name, s->display};
    return qp_match_fits_method(qp_pool_at(&qp_rules.pool, member->match),
                                (qp_element_kind)member->kind, &method);
}

/* In the order of the list; a trigger that names a method twice has its members side by side. */
static void sort(verdict *v)
{
    for (uint32_t i = 1; i < v->n; i++) {
        uint32_t cell = v->members[i], at = i;
        uint32_t ordinal = qp_rule_at(qp_member_at(cell)->rule)->ordinal;
        for (; at && qp_rule_at(qp_member_at(v->members[at - 1])->rule)->ordinal > ordinal;
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
    if (qp_load(&qp_rule_at(qp_rules.all_routines)->is_checked))
        take_area(v, qp_rule_at(qp_rules.all_routines));
    if (qp_load(&qp_rule_at(qp_rules.all_lines)->is_checked))
        take_area(v, qp_rule_at(qp_rules.all_lines));
    take_id(v, s.id);
    take_key(v, QP_ELEMENT_MODULE, s.module);
    take_key(v, QP_ELEMENT_FILE, s.file);
    if (s.base != s.file)
        take_key(v, QP_ELEMENT_FILE, s.base);
    take_key(v, QP_ELEMENT_CLASS, s.class_name);
    take_key(v, QP_ELEMENT_ROUTINE, s.display);
    if (strcmp(s.display, s.name) != 0)
        take_key(v, QP_ELEMENT_ROUTINE, s.name);
    for (uint32_t cell = qp_observe(&qp_rules.patterns); cell;
         cell = qp_observe(&qp_member_at(cell)->same))
        if (fits(qp_member_at(cell), &s))
            take(v, cell);
    sort(v);
}

/* What areas and what is implied come to. */
static uint32_t flags_of(const verdict *v, const qp_method *m)
{
    bool is_watched = qp_watch_names(m); /* which remembers that it fits: ask it first */
    uint32_t flags = v->n || is_watched ? QP_METHOD_HOOKED : 0;
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
    const qp_trie index = places();
    const qp_hooks *before = qp_rules_hooks(method);
    if ((!before && !v->n) ||
        (before && before->n == v->n &&
         memcmp(before->members, v->members, v->n * sizeof(uint32_t)) == 0))
        return true;
    uint32_t fresh = qp_pool_take(&qp_rules.pool, sizeof(place));
    uint32_t hooks = qp_pool_take(&qp_rules.pool, sizeof(qp_hooks) + v->n * sizeof(uint32_t));
    if (!fresh || !hooks)
        return false;
    qp_hooks *h = qp_pool_at(&qp_rules.pool, hooks);
    h->n = v->n;
    memcpy(h->members, v->members, v->n * sizeof(uint32_t));
    ((place *)qp_pool_at(&qp_rules.pool, fresh))->method = method;
    uint32_t cell = qp_trie_put(&index, qp_rules.methods, method, fresh);
    if (!cell)
        return false;
    qp_publish(&((place *)qp_pool_at(&qp_rules.pool, cell))->hooks, hooks);
    return true;
}

/* @return did its flags change? */
static bool compare(qp_cell cell)
{
    qp_method *m = qp_at(&qp_run.space, cell);
    verdict v = {.level = 2};
    if (qp_rules.all_lines) {
        if (!qp_rules_name(cell))
            qp_store(&qp_rules.are_named, false);
        judge(m, &v);
        if (cell == qp_run.methods.anonymous) { /* an area may hold it, no rule can name it */
            v.n = 0;
            v.is_implied = false;
        }
        if (!keep_hooks(cell, &v))
            qp_count(&qp_run.space, QP_D_out_of_memory);
    }
    uint32_t wanted = flags_of(&v, m), now = qp_observe(&m->flags);
    if ((now & RULE_FLAGS) == wanted)
        return false;
    while (!qp_swap_if(&m->flags, &now, (now & ~(uint32_t)RULE_FLAGS) | wanted))
        ;
    return true;
}

/* Threads whose trees have its paths link them anew. */
static void tell_threads(void)
{
    qp_fence();
    qp_threads_set_hooks(QP_HOOK_RULES);
}

void qp_rules_method(qp_cell method)
{
    bool is_of_interest = qp_observe(&qp_rules.all_lines) || qp_watch_is_used();
    if (is_of_interest && method != qp_run.methods.overflow && compare(method))
        tell_threads();
}

/* Over all methods, newest extents first. */
typedef struct {
    qp_cell extent; /* 0: not begun */
    uint32_t at;
} cell_walk;

/* @return 0: no more */
static qp_cell next_method(cell_walk *w)
{
    const qp_methods *all = &qp_run.methods;
    if (!w->extent)
        w->extent = qp_slab_newest(&all->slab);
    while (w->extent) {
        const qp_extent *e = qp_at(&qp_run.space, w->extent);
        while (++w->at < e->n_cells) {
            qp_cell cell = w->extent + w->at;
            const qp_method *m = qp_at(&qp_run.space, cell);
            if (qp_observe(&m->published) && cell != all->overflow)
                return cell;
        }
        *w = (cell_walk){e->prev, 0};
    }
    return 0;
}

static bool an_area_retrieves(void)
{
    for (uint32_t cell = qp_rules.first; cell; cell = qp_rule_at(cell)->next) {
        const qp_rule *rule = qp_rule_at(cell);
        if (rule->kind == QP_RULE_AREA && rule->type == QPROF_AREA_INCLUDE && !rule->is_dead &&
            rule->is_checked && rule->has_parameters)
            return true;
    }
    return false;
}

void qp_rules_changed(void)
{
    bool has_changed = false;
    if (!qp_run.space.map.base) /* a configuration before the run */
        return;
    if (qp_observe(&qp_rules.all_lines) || qp_watch_is_used())
        qp_session_gate();
    qp_store(&qp_rules.are_named, qp_rules.all_lines != 0);
    qp_store(&qp_rules.want_values, an_area_retrieves());
    cell_walk walk = {0};
    for (qp_cell cell; (cell = next_method(&walk));)
        has_changed |= compare(cell);
    if (qp_watch_all_calls())
        qp_fetch_or(&qp_run.hooks, QP_HOOK_WATCH);
    else
        qp_fetch_and(&qp_run.hooks, ~(uint32_t)QP_HOOK_WATCH);
    if (has_changed)
        qp_session_changed();
    tell_threads();
}

/* Compare methods that may fit one member of a trigger or an action. @return did flags change? */
static bool compare_for(const qp_member *member)
{
    bool has_changed = false;
    uint32_t at = 0;
    for (qp_cell cell; !member->match && (cell = qp_rules_next_named(member, &at));)
        has_changed |= compare(cell);
    cell_walk walk = {0};
    for (qp_cell cell; member->match && (cell = next_method(&walk));) {
        subject s;
        describe(qp_at(&qp_run.space, cell), &s);
        if (fits(member, &s))
            has_changed |= compare(cell);
    }
    return has_changed;
}

void qp_rules_changed_from(const qp_rule *rule, uint32_t first)
{
    bool has_changed = false;
    if (rule->kind == QP_RULE_AREA || !qp_load(&qp_rules.are_named)) {
        qp_rules_changed();
        return;
    }
    qp_fence();
    for (uint32_t cell = first; cell; cell = qp_member_at(cell)->next)
        has_changed |= compare_for(qp_member_at(cell));
    if (has_changed) {
        qp_session_changed();
        tell_threads();
    }
}
