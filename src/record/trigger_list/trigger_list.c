/* trigger_list.c: triggers, actions and areas: making, finding and naming. Read make_trigger
 * first. */
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "base/os/clock.h"
#include "base/os/system.h"
#include "record/trigger_list/trigger_list.h"

enum { TEXT_MAX = 64 * 1024, REPORTED_MAX = 10 };

/* In qp_trigger.is_of_file: a configuration file made it; the one that is being read. */
enum { OF_FILE = 1, NEW };

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

uint32_t qp_triggers_block(void *pool)
{
    return qp_pool_take(pool, QP_CELL);
}

static uint64_t key_of(void *pool, uint32_t cell)
{
    return *(const uint64_t *)qp_pool_at(pool, cell);
}

static qp_trie index_of(const qp_pool *pool)
{
    return (qp_trie){pool->base, key_of, qp_triggers_block, (void *)(uintptr_t)pool};
}

uint32_t qp_triggers_get(const qp_pool *pool, uint32_t root, uint64_t key)
{
    return qp_trie_get(index_of(pool), root, key);
}

uint32_t qp_triggers_put(qp_pool *pool, uint32_t root, uint32_t cell)
{
    return qp_trie_put(index_of(pool), root, key_of(pool, cell), cell);
}

static qp_trigger_edition *making(void)
{
    return &qp_triggers.editions[qp_triggers.making];
}

static bool begin_edition(qp_trigger_edition *e)
{
    for (unsigned i = 0; i < QP_N_ROOTS; i++) {
        uint32_t block = e->roots[i] ? 0 : qp_triggers_block(&e->pool);
        if (block)
            qp_publish(&e->roots[i], block);
        if (!e->roots[i])
            return false;
    }
    return true;
}

static bool begin_indices(void)
{
    if (!begin_edition(&qp_triggers.editions[0]))
        return false;
    if (!qp_triggers.making)
        qp_triggers.making = qp_triggers_edition();
    qp_trigger_edition *e = making();
    if (!e->pool.base)
        e->pool.base = qp_triggers_pool(0)->base;
    return begin_edition(e);
}

/* ---- triggers ---------------------------------------------------------------------------- */

/* The cell of any address; 0: it is not one of the editions'. */
static uint32_t cell_of(const void *trigger)
{
    uint32_t cell = 0;
    for (uint32_t i = 0; i < 3 && !cell; i++)
        cell = qp_pool_cell(qp_triggers_pool(i), trigger, 1);
    return cell;
}

static uint32_t put_name(uint32_t cell)
{
    return qp_triggers_put(&making()->pool, making()->roots[QP_ROOT_NAMES], cell);
}

static qp_trigger *make_trigger(qp_trigger_kind kind, const char *name, unsigned type,
                                unsigned when)
{
    size_t n_bytes = strnlen(name, TEXT_MAX);
    if (!begin_indices())
        return NULL;
    bool is_of_file = qp_triggers.is_of_file && qp_triggers.all_lines;
    uint32_t edition = is_of_file ? qp_triggers.making : 0;
    uint32_t text = qp_pool_text(qp_triggers_pool(edition), name, n_bytes);
    uint32_t cell = text ? qp_pool_take(qp_triggers_pool(edition), sizeof(qp_trigger)) : 0;
    if (!cell)
        return NULL;
    qp_trigger *trigger = qp_trigger_at(cell);
    *trigger = (qp_trigger){.kind = kind,
                            .ordinal = ++qp_triggers.n_triggers,
                            .name = text,
                            .type = (uint8_t)type,
                            .when = (uint8_t)when,
                            .is_checked = true,
                            .is_of_file = is_of_file ? NEW : 0,
                            .edition = edition,
                            .key = qp_triggers_key(kind, name)};
    if (put_name(cell) != cell) {
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
    routines->is_checked = false;
    qp_triggers.all_routines = cell_of(routines);
    qp_publish(&qp_triggers.all_lines, cell_of(lines));
    return true;
}

/* Free the memory that libc has for expressions, so that leak checkers of hosts find none. */
static void end_matches(qp_trigger_edition *e)
{
    for (uint32_t cell = e->matches; cell; cell = qp_member_at(cell)->next_match)
        qp_match_end(qp_pool_at(&e->pool, qp_member_at(cell)->match));
    e->matches = e->patterns = 0;
}

static void clear(qp_trigger_edition *e)
{
    end_matches(e);
    qp_pool pool = e->pool;
    qp_pool_clear(&pool);
    *e = (qp_trigger_edition){.pool = pool};
}

void qp_triggers_begin(void)
{
    for (uint32_t i = 0; i < 3; i++)
        clear(&qp_triggers.editions[i]);
    memset(&qp_triggers.n_kept, 0, sizeof qp_triggers - offsetof(qp_trigger_set, n_kept));
}

qp_trigger *qp_trigger_find(qp_trigger_kind kind, const char *name)
{
    if (!begin_indices() || !begin_areas())
        return NULL;
    uint32_t cell = qp_triggers_get(&making()->pool, making()->roots[QP_ROOT_NAMES],
                                    qp_triggers_key(kind, name));
    bool is_it =
        cell && !qp_trigger_at(cell)->is_dead &&
        strcmp(qp_pool_text_at(qp_triggers_pool(0), qp_trigger_at(cell)->name), name) == 0;
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
    const qp_trigger *it = cell_of(trigger) ? trigger : NULL;
    return it && it->kind == kind && it->ordinal && it->ordinal <= qp_triggers.n_triggers &&
           !it->is_dead &&
           qp_trigger_find(kind, qp_pool_text_at(qp_triggers_pool(0), it->name)) == it;
}

static void hide(qp_trigger *trigger)
{
    qp_store(&trigger->is_dead, true);
    qp_trie_swap(index_of(&making()->pool), making()->roots[QP_ROOT_NAMES], trigger->key,
                 cell_of(trigger), 0);
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

/* Let methods find a member. @return false: no memory */
static bool put_member(uint32_t cell)
{
    qp_trigger_edition *e = making();
    qp_member *m = qp_member_at(cell);
    uint32_t *link = &e->patterns;
    if (!m->match) {
        uint32_t first = qp_triggers_put(&e->pool, e->roots[QP_ROOT_KEYS], cell);
        if (!first)
            return false;
        link = &qp_member_at(first)->same[qp_triggers.making];
        if (first == cell) { /* of the edition before the last one, it may have another next */
            qp_publish(link, 0);
            return true;
        }
    }
    qp_publish(&m->same[qp_triggers.making], *link);
    qp_publish(link, cell);
    return true;
}

static int add_member(qp_trigger *trigger, qp_member member)
{
    qp_trigger_edition *own = &qp_triggers.editions[trigger->edition];
    uint32_t cell = qp_pool_take(&own->pool, sizeof(qp_member));
    if (!cell)
        return QPROF_E_MEMORY;
    member.trigger = cell_of(trigger);
    if (member.match) {
        member.next_match = own->matches;
        own->matches = cell;
    }
    *qp_member_at(cell) = member;
    if (!put_member(cell))
        return QPROF_E_MEMORY;
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
    qp_pool *pool = qp_triggers_pool(trigger->edition);
    uint32_t text = qp_pool_text(pool, element->name, n_bytes);
    qp_member member = {.text = text,
                        .kind = (uint8_t)element->kind,
                        .is_checked = element->is_checked,
                        .id = qp_triggers_key(element->kind, element->name)};
    if (!text)
        return QPROF_E_MEMORY;
    if (element->name_kind != QP_NAME_LITERAL) {
        member.match = qp_pool_take(pool, sizeof(qp_match));
        if (!member.match)
            return QPROF_E_MEMORY;
        if (!qp_match_begin(qp_pool_at(pool, member.match), element->name_kind,
                            qp_pool_text_at(pool, text)))
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
        if (strcmp(qp_pool_text_at(qp_triggers_pool(0), m->text), name) != 0)
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
    qp_store(&qp_triggers.is_initially_off, d->is_initially_off);
}

/* Is one of them at it? 0: a thread that is not busy with an event; else a thread of the run, from 1. */
static bool reads(uint32_t i)
{
    if (!i)
        return qp_observe(&qp_triggers.n_readers);
    const qprof_pulse *pulse = qp_observe(&qp_threads_at(i - 1)->pulse);
    return pulse && qp_observe(&pulse->top) & QPROF_TOP_BUSY;
}

/* May a thread still read an edition that is not in force? One that begins now does not: the barrier lets
 * it see what is in force. The others are waited for, each until it has ended once, 20 ms in all. */
static bool is_read(void)
{
    enum { TRIES_MAX = 20 };
    if (!qp_system_barrier())
        return true;
    for (uint32_t i = 0, n = 0; !i || qp_threads_at(i - 1); i++)
        for (; reads(i); n++) {
            if (n == TRIES_MAX)
                return true;
            qp_clock_sleep_until(qp_clock_monotonic() + 1000000);
        }
    return false;
}

void qp_triggers_free(void)
{
    qp_trigger_edition *other = &qp_triggers.editions[3 - qp_triggers_edition()];
    qp_publish(&qp_triggers.is_changing, false);
    if (!other->is_held && other->pool.next && !is_read())
        clear(other);
}

/* Let the edition of a file find what lasts. */
static bool put_lasting(void)
{
    for (const qp_trigger *t = NULL; (t = qp_trigger_next(t));) {
        if (t->edition || t->is_dead)
            continue;
        if (!put_name(cell_of(t)))
            return false;
        for (uint32_t cell = t->first; cell; cell = qp_member_at(cell)->next)
            if (!put_member(cell))
                return false;
    }
    return true;
}

bool qp_triggers_begin_file(bool replaces)
{
    bool is_good = begin_indices() && begin_areas();
    qp_triggers.is_of_file = true;
    if (!is_good)
        return false;
    qp_triggers.before = defaults_now();
    if (!qp_triggers.of_host.is_known)
        qp_triggers.of_host = qp_triggers.before;
    else if (replaces)
        set_defaults(&qp_triggers.of_host);
    if (!replaces)
        return true;
    qp_triggers_free();
    qp_triggers.making = 3 - qp_triggers.making;
    qp_trigger_edition *e = making();
    memset(e->roots, 0, sizeof e->roots);
    e->patterns = 0;
    return begin_indices() && put_lasting();
}

/* Drop those of a file; a walk that is at one of them continues with the next one. */
static void drop(unsigned which)
{
    qp_trigger *before = NULL;
    for (qp_trigger *t = NULL; (t = qp_trigger_next(t));) {
        if (t->is_of_file != which) {
            before = t;
            continue;
        }
        hide(t);
        *(before ? &before->next : &qp_triggers.first) = t->next;
        if (!t->next)
            qp_triggers.last = before ? cell_of(before) : 0;
    }
}

void qp_triggers_end_file(bool is_kept)
{
    bool replaces = qp_triggers.making && qp_triggers.making != qp_triggers_edition();
    qp_triggers.is_of_file = false;
    if (!is_kept)
        drop(NEW);
    else if (replaces)
        drop(OF_FILE);
    for (qp_trigger *t = NULL; (t = qp_trigger_next(t));)
        if (t->is_of_file)
            t->is_of_file = OF_FILE;
    if (is_kept && replaces) {
        qp_store(&qp_triggers.is_changing, true);
        qp_publish(&qp_triggers.n_kept, qp_triggers.n_kept + 1);
    }
    qp_triggers.making = qp_triggers_edition();
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
    bool is_any = false;
    qp_triggers_read(true);
    for (qp_trigger *t = NULL; !is_any && (t = qp_trigger_next(t));)
        is_any = is_in_use(t);
    qp_triggers_read(false);
    return is_any;
}

bool qp_triggers_initial_status(int on)
{
    bool before = !qp_load(&qp_triggers.is_initially_off);
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
    return is_used && qp_load(&qp_triggers.is_initially_off) && !may_turn_on
               ? QP_WARN_MAY_BE_OFF
               : 0;
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
                            qp_pool_text_at(qp_triggers_pool(0), trigger->name),
                            qp_pool_text_at(qp_triggers_pool(0), member->text));
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
    for (uint32_t i = 0; i < 3; i++)
        end_matches(&qp_triggers.editions[i]);
}
