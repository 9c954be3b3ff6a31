/* trigger_list.c: triggers, actions and areas: making, finding and naming. Read make_trigger
 * first. */
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "record/trigger_list/trigger_list.h"

enum { TEXT_MAX = 64 * 1024, REPORTED_MAX = 10 };

/* In qp_trigger.is_of_file: a configuration file made it. While the next file is read, those of
 * the file before may be set aside; at the end these or the new ones are dropped. */
enum { OF_FILE = 1, ASIDE, NEW };

qp_trigger_set qp_triggers;

/* ---- indices ----------------------------------------------------------------------------- */

static uint64_t digest(unsigned kind, const void *bytes, size_t n_bytes)
{
    uint64_t h = (0xcbf29ce484222325u ^ kind) * 0x100000001b3u;
    for (size_t i = 0; i < n_bytes; i++)
        h = (h ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return h ? h : 1;
}

uint64_t qp_triggers_key(unsigned kind, const char *text)
{
    return digest(kind, text, strlen(text));
}

uint64_t qp_triggers_id_key(uint64_t id)
{
    return digest(QP_MEMBER_ID, &id, sizeof id);
}

void qp_triggers_display(const qp_method *m, char *to, size_t n_bytes)
{
    const char *class_name = qp_texts_of(&qp_recorder.texts, &m->class_name);
    snprintf(to, n_bytes, "%s%s%s", class_name, class_name[0] ? "." : "",
             qp_texts_of(&qp_recorder.texts, &m->name));
}

uint32_t qp_triggers_block(QP_UNUSED void *unused)
{
    return qp_pool_take(&qp_triggers.pool, sizeof(qp_trigger));
}

static uint64_t key_of(QP_UNUSED void *unused, uint32_t cell)
{
    return *(const uint64_t *)qp_pool_at(&qp_triggers.pool, cell);
}

qp_trie qp_triggers_index(void)
{
    return (qp_trie){qp_triggers.pool.base, key_of, qp_triggers_block, NULL};
}

static bool begin_indices(void)
{
    uint32_t *const roots[] = {&qp_triggers.names, &qp_triggers.keys, &qp_triggers.methods,
                               &qp_triggers.threads, &qp_triggers.named};
    for (unsigned i = 0; i < sizeof roots / sizeof *roots; i++)
        if (!*roots[i]) {
            uint32_t block = qp_triggers_block(NULL);
            if (!block)
                return false;
            qp_publish(roots[i], block);
        }
    return true;
}

/* ---- triggers ---------------------------------------------------------------------------- */

static uint32_t cell_of(const qp_trigger *trigger)
{
    return qp_pool_cell(&qp_triggers.pool, trigger, 1);
}

static qp_trigger *make_trigger(qp_trigger_kind kind, const char *name, unsigned type,
                                unsigned when)
{
    size_t n_bytes = strnlen(name, TEXT_MAX);
    if (!begin_indices())
        return NULL;
    uint32_t text = qp_pool_text(&qp_triggers.pool, name, n_bytes);
    uint32_t cell = text ? qp_pool_take(&qp_triggers.pool, sizeof(qp_trigger)) : 0;
    if (!cell)
        return NULL;
    qp_trigger *trigger = qp_trigger_at(cell);
    *trigger = (qp_trigger){.kind = kind,
                            .ordinal = ++qp_triggers.n_triggers,
                            .name = text,
                            .type = (uint8_t)type,
                            .when = (uint8_t)when,
                            .is_checked = true,
                            .is_of_file = qp_triggers.is_of_file ? NEW : 0,
                            .key = qp_triggers_key(kind, name)};
    if (qp_trie_put(qp_triggers_index(), qp_triggers.names, trigger->key, cell) != cell) {
        trigger->is_dead = true; /* taken meanwhile, or no memory: the cell is never found */
        return NULL;
    }
    if (qp_triggers.last)
        qp_trigger_at(qp_triggers.last)->next = cell;
    else
        qp_triggers.first = cell;
    qp_triggers.last = cell;
    return trigger;
}

/* Make the predefined areas: unless configured, all-lines is checked and all methods are
 * measured. */
static bool begin_areas(void)
{
    if (qp_triggers.all_lines)
        return true;
    qp_trigger *lines =
        make_trigger(QP_KIND_AREA, "all-lines", QPROF_AREA_INCLUDE, QPROF_LEVEL_LINES);
    qp_trigger *routines = lines ? make_trigger(QP_KIND_AREA, "all-routines",
                                                QPROF_AREA_INCLUDE, QPROF_LEVEL_ROUTINES)
                                 : NULL;
    if (!routines)
        return false;
    routines->is_checked = lines->is_of_file = routines->is_of_file = false;
    qp_triggers.all_routines = cell_of(routines);
    qp_publish(&qp_triggers.all_lines, cell_of(lines));
    return true;
}

/* Free the memory that libc has for expressions, so that leak checkers of hosts find none. */
static void end_matches(void)
{
    for (uint32_t cell = qp_triggers.patterns; cell; cell = qp_member_at(cell)->same)
        qp_match_end(qp_pool_at(&qp_triggers.pool, qp_member_at(cell)->match));
    qp_triggers.patterns = 0;
}

void qp_triggers_begin(void)
{
    end_matches();
    qp_pool pool = qp_triggers.pool;
    qp_pool_clear(&pool);
    qp_triggers = (qp_trigger_set){.pool = pool};
}

qp_trigger *qp_trigger_find(qp_trigger_kind kind, const char *name)
{
    if (!begin_indices() || !begin_areas())
        return NULL;
    uint32_t cell =
        qp_trie_get(qp_triggers_index(), qp_triggers.names, qp_triggers_key(kind, name));
    bool is_it =
        cell && !qp_trigger_at(cell)->is_dead &&
        strcmp(qp_pool_text_at(&qp_triggers.pool, qp_trigger_at(cell)->name), name) == 0;
    return is_it ? qp_trigger_at(cell) : NULL;
}

qp_trigger *qp_trigger_create(qp_trigger_kind kind, const char *name, unsigned type,
                              unsigned when)
{
    bool keeps_only_stacks =
        (qp_recorder.hooks & QPROF_HOOK_STACK) && qp_load(&qp_recorder.has_entries);
    if (!name[0] || strnlen(name, TEXT_MAX) == TEXT_MAX || keeps_only_stacks ||
        qp_trigger_find(kind, name))
        return NULL;
    qp_trigger *trigger = qp_triggers.all_lines ? make_trigger(kind, name, type, when) : NULL;
    if (trigger && kind == QP_KIND_AREA && type == QPROF_AREA_INCLUDE &&
        !qp_triggers.is_all_lines_set)
        qp_store(&qp_trigger_at(qp_triggers.all_lines)->is_checked, false);
    return trigger;
}

bool qp_trigger_is(const void *trigger, qp_trigger_kind kind)
{
    uint32_t cell = qp_pool_cell(&qp_triggers.pool, trigger, 1);
    const qp_trigger *it = cell ? trigger : NULL;
    return it && it->kind == kind && it->ordinal && it->ordinal <= qp_triggers.n_triggers &&
           !it->is_dead &&
           qp_trigger_find(kind, qp_pool_text_at(&qp_triggers.pool, it->name)) == it;
}

static void hide(qp_trigger *trigger)
{
    qp_store(&trigger->is_dead, true);
    qp_trie_swap(qp_triggers_index(), qp_triggers.names, trigger->key, cell_of(trigger), 0);
}

void qp_trigger_destroy(qp_trigger *trigger)
{
    uint32_t cell = cell_of(trigger);
    if (cell == qp_triggers.all_lines || cell == qp_triggers.all_routines)
        qp_store(&trigger->is_checked, false); /* the predefined ones stay */
    else
        hide(trigger);
}

/* ---- members ----------------------------------------------------------------------------- */

static int add_member(qp_trigger *trigger, qp_member member)
{
    uint32_t cell = qp_pool_take(&qp_triggers.pool, sizeof(qp_member));
    if (!cell)
        return QPROF_E_MEMORY;
    member.trigger = cell_of(trigger);
    *qp_member_at(cell) = member;
    if (member.match) {
        qp_member_at(cell)->same = qp_triggers.patterns;
        qp_publish(&qp_triggers.patterns, cell);
    } else {
        uint32_t first = qp_trie_put(qp_triggers_index(), qp_triggers.keys, member.id, cell);
        if (!first)
            return QPROF_E_MEMORY;
        if (first != cell) {
            qp_member_at(cell)->same = qp_member_at(first)->same;
            qp_publish(&qp_member_at(first)->same, cell);
        }
    }
    if (trigger->last)
        qp_member_at(trigger->last)->next = cell;
    else
        trigger->first = cell;
    trigger->last = cell;
    return 0;
}

int qp_trigger_add(qp_trigger *trigger, const qp_config_element *element)
{
    size_t n_bytes = strnlen(element->name, TEXT_MAX);
    if (!n_bytes || n_bytes == TEXT_MAX)
        return QPROF_E_ARG;
    uint32_t text = qp_pool_text(&qp_triggers.pool, element->name, n_bytes);
    qp_member member = {.text = text,
                        .kind = (uint8_t)element->kind,
                        .is_checked = element->is_checked,
                        .id = qp_triggers_key(element->kind, element->name)};
    if (!text)
        return QPROF_E_MEMORY;
    if (element->name_kind != QP_NAME_LITERAL) {
        member.match = qp_pool_take(&qp_triggers.pool, sizeof(qp_match));
        if (!member.match)
            return QPROF_E_MEMORY;
        if (!qp_match_begin(qp_pool_at(&qp_triggers.pool, member.match), element->name_kind,
                            qp_pool_text_at(&qp_triggers.pool, text)))
            return QPROF_E_SYNTAX;
    }
    return add_member(trigger, member);
}

int qp_trigger_add_id(qp_trigger *trigger, uint64_t id, bool is_checked)
{
    return add_member(trigger, (qp_member){.kind = QP_MEMBER_ID,
                                           .is_checked = is_checked,
                                           .id = qp_triggers_id_key(id)});
}

void qp_trigger_set_checked(qp_trigger *trigger, bool is_checked)
{
    qp_store(&trigger->is_checked, is_checked);
    qp_triggers.is_all_lines_set |= cell_of(trigger) == qp_triggers.all_lines;
}

bool qp_trigger_check(qp_trigger *trigger, const char *name, bool is_checked)
{
    bool has_it = false;
    for (uint32_t cell = trigger->first; cell; cell = qp_member_at(cell)->next) {
        qp_member *m = qp_member_at(cell);
        if (strcmp(qp_pool_text_at(&qp_triggers.pool, m->text), name) != 0)
            continue;
        qp_store(&m->is_checked, is_checked);
        has_it = true;
    }
    return has_it;
}

/* ---- files ------------------------------------------------------------------------------- */

static qp_trigger_defaults defaults_now(void)
{
    return (qp_trigger_defaults){.is_known = true,
                                 .all_lines = qp_trigger_at(qp_triggers.all_lines)->is_checked,
                                 .all_routines =
                                     qp_trigger_at(qp_triggers.all_routines)->is_checked,
                                 .is_all_lines_set = qp_triggers.is_all_lines_set,
                                 .is_initially_off = qp_triggers.is_initially_off};
}

static void set_defaults(const qp_trigger_defaults *d)
{
    qp_store(&qp_trigger_at(qp_triggers.all_lines)->is_checked, d->all_lines);
    qp_store(&qp_trigger_at(qp_triggers.all_routines)->is_checked, d->all_routines);
    qp_triggers.is_all_lines_set = d->is_all_lines_set;
    qp_triggers.is_initially_off = d->is_initially_off;
}

void qp_triggers_begin_file(bool replaces)
{
    for (qp_trigger *trigger = NULL; replaces && (trigger = qp_trigger_next(trigger));) {
        if (trigger->is_of_file != OF_FILE || trigger->is_dead)
            continue;
        trigger->is_of_file = ASIDE;
        hide(trigger);
    }
    qp_triggers.is_of_file = true;
    if (!begin_indices() || !begin_areas())
        return;
    qp_triggers.before = defaults_now();
    if (!qp_triggers.of_host.is_known)
        qp_triggers.of_host = qp_triggers.before;
    else if (replaces)
        set_defaults(&qp_triggers.of_host);
}

void qp_triggers_end_file(bool is_kept)
{
    qp_triggers.is_of_file = false;
    for (qp_trigger *trigger = NULL; (trigger = qp_trigger_next(trigger));) {
        if (trigger->is_of_file != NEW)
            continue;
        trigger->is_of_file = OF_FILE;
        if (!is_kept && !trigger->is_dead)
            hide(trigger);
    }
    for (qp_trigger *trigger = NULL; (trigger = qp_trigger_next(trigger));) {
        if (trigger->is_of_file != ASIDE)
            continue;
        trigger->is_of_file = OF_FILE;
        if (is_kept)
            continue;
        qp_store(&trigger->is_dead, false);
        qp_trie_put(qp_triggers_index(), qp_triggers.names, trigger->key, cell_of(trigger));
    }
    if (!is_kept && qp_triggers.all_lines)
        set_defaults(&qp_triggers.before);
}

/* ---- queries ----------------------------------------------------------------------------- */

static bool is_in_use(const qp_trigger *trigger)
{
    if (trigger->kind == QP_KIND_AREA || trigger->is_dead || !trigger->is_checked)
        return false;
    for (uint32_t cell = trigger->first; cell; cell = qp_member_at(cell)->next)
        if (qp_member_at(cell)->is_checked)
            return true;
    return false;
}

bool qp_triggers_have_active(void)
{
    for (qp_trigger *t = NULL; (t = qp_trigger_next(t));)
        if (is_in_use(t))
            return true;
    return false;
}

bool qp_triggers_initial_status(int on)
{
    bool before = !qp_triggers.is_initially_off;
    if (on >= 0)
        qp_store(&qp_triggers.is_initially_off, !on);
    return before;
}

unsigned qp_triggers_validate(void)
{
    bool is_used = false, may_turn_on = false;
    for (qp_trigger *trigger = NULL; (trigger = qp_trigger_next(trigger));) {
        if (!is_in_use(trigger))
            continue;
        is_used = true;
        may_turn_on |= trigger->kind == QP_KIND_TRIGGER ? trigger->type == QPROF_TRIGGER_ON
                                                        : trigger->type == QP_ACTION_ENABLE;
    }
    return is_used && qp_triggers.is_initially_off && !may_turn_on ? QP_WARN_MAY_BE_OFF : 0;
}

static void report(void)
{
    static const char kinds[][8] = {"", "trigger", "action", "area"};
    unsigned n = 0;
    for (qp_trigger *trigger = NULL; (trigger = qp_trigger_next(trigger));) {
        for (uint32_t m = trigger->is_dead ? 0 : trigger->first; m; m = qp_member_at(m)->next) {
            const qp_member *member = qp_member_at(m);
            if (member->has_fitted || !member->text || n++ >= REPORTED_MAX)
                continue;
            qp_recorder_log("%s %.100s: no method is named %.200s", kinds[trigger->kind],
                            qp_pool_text_at(&qp_triggers.pool, trigger->name),
                            qp_pool_text_at(&qp_triggers.pool, member->text));
        }
    }
    if (n > REPORTED_MAX)
        qp_recorder_log("%u more names of triggers, actions and areas fitted no method",
                        n - REPORTED_MAX);
    for (; n; n--)
        qp_count(&qp_recorder.space, QP_D_unmatched_names);
}

void qp_triggers_end(void)
{
    report();
    end_matches();
}
