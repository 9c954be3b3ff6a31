/* rule_list.c: triggers, actions and areas: making, finding and naming. Read make_rule first. */
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "record/rule_parts.h"

enum { TEXT_MAX = 64 * 1024, REPORTED_MAX = 10 };

/* In qp_rule.is_of_file: a configuration file made it. While another one is read those of the file
 * before may be put aside; at the end they or the new ones go. */
enum { OF_FILE = 1, ASIDE, NEW };

qp_rule_set qp_rules;

/* ---- indices ---------------------------------------------------------------------------------- */

static uint64_t digest(unsigned kind, const void *bytes, size_t n_bytes)
{
    uint64_t h = (0xcbf29ce484222325u ^ kind) * 0x100000001b3u;
    for (size_t i = 0; i < n_bytes; i++)
        h = (h ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return h ? h : 1;
}

uint64_t qp_rules_key(unsigned kind, const char *text)
{
    return digest(kind, text, strlen(text));
}

uint64_t qp_rules_id_key(uint64_t id)
{
    return digest(QP_MEMBER_ID, &id, sizeof id);
}

static uint32_t block_of(void *unused)
{
    (void)unused;
    return qp_pool_take(&qp_rules.pool, sizeof(qp_rule));
}

static uint64_t key_of_member(void *unused, uint32_t cell)
{
    (void)unused;
    return qp_member_at(cell)->id;
}

static uint64_t key_of_rule(void *unused, uint32_t cell)
{
    (void)unused;
    return qp_rule_at(cell)->key;
}

qp_trie qp_rules_members(void)
{
    return (qp_trie){qp_rules.pool.base, key_of_member, block_of, NULL};
}

static qp_trie names(void)
{
    return (qp_trie){qp_rules.pool.base, key_of_rule, block_of, NULL};
}

static bool begin_indices(void)
{
    uint32_t *const roots[] = {&qp_rules.names, &qp_rules.keys, &qp_rules.methods,
                               &qp_rules.threads, &qp_rules.named};
    for (unsigned i = 0; i < sizeof roots / sizeof *roots; i++)
        if (!*roots[i]) {
            uint32_t block = block_of(NULL);
            if (!block)
                return false;
            qp_publish(roots[i], block);
        }
    return true;
}

/* ---- rules ------------------------------------------------------------------------------------ */

static uint32_t cell_of(const qp_rule *rule)
{
    return qp_pool_cell(&qp_rules.pool, rule);
}

static qp_rule *make_rule(qp_rule_kind kind, const char *name, unsigned type, unsigned when)
{
    size_t n_bytes = strnlen(name, TEXT_MAX);
    if (!begin_indices())
        return NULL;
    const qp_trie index = names();
    uint32_t text = qp_pool_text(&qp_rules.pool, name, n_bytes);
    uint32_t cell = text ? qp_pool_take(&qp_rules.pool, sizeof(qp_rule)) : 0;
    if (!cell)
        return NULL;
    qp_rule *rule = qp_rule_at(cell);
    *rule = (qp_rule){.kind = kind,
                      .ordinal = ++qp_rules.n_rules,
                      .name = text,
                      .type = (uint8_t)type,
                      .when = (uint8_t)when,
                      .is_checked = true,
                      .is_of_file = qp_rules.is_of_file ? NEW : 0,
                      .key = qp_rules_key(kind, name)};
    if (qp_trie_put(&index, qp_rules.names, rule->key, cell) != cell) {
        rule->is_dead = true; /* taken meanwhile, or no memory: a cell that nobody finds */
        return NULL;
    }
    if (qp_rules.last)
        qp_rule_at(qp_rules.last)->next = cell;
    else
        qp_rules.first = cell;
    qp_rules.last = cell;
    return rule;
}

/* Nothing is configured: all methods are measured, by the one area that is checked. */
static bool begin_areas(void)
{
    if (qp_rules.all_lines)
        return true;
    qp_rule *lines =
        make_rule(QP_RULE_AREA, "all-lines", QPROF_AREA_INCLUDE, QPROF_LEVEL_LINES);
    qp_rule *routines = lines ? make_rule(QP_RULE_AREA, "all-routines", QPROF_AREA_INCLUDE,
                                          QPROF_LEVEL_ROUTINES)
                              : NULL;
    if (!routines)
        return false;
    routines->is_checked = lines->is_of_file = routines->is_of_file = false;
    qp_rules.all_routines = cell_of(routines);
    qp_publish(&qp_rules.all_lines, cell_of(lines));
    return true;
}

/* libc has memory for expressions, which a host that looks for leaks would find. */
static void end_matches(void)
{
    for (uint32_t cell = qp_rules.patterns; cell; cell = qp_member_at(cell)->same)
        qp_match_end(qp_pool_at(&qp_rules.pool, qp_member_at(cell)->match));
    qp_rules.patterns = 0;
}

void qp_rules_begin(void)
{
    end_matches();
    qp_pool pool = qp_rules.pool;
    qp_pool_clear(&pool);
    qp_rules = (qp_rule_set){.pool = pool};
}

qp_rule *qp_rule_find(qp_rule_kind kind, const char *name)
{
    if (!begin_indices() || !begin_areas())
        return NULL;
    const qp_trie index = names();
    uint32_t cell = qp_trie_get(&index, qp_rules.names, qp_rules_key(kind, name));
    bool is_it = cell && !qp_rule_at(cell)->is_dead &&
                 strcmp(qp_pool_text_at(&qp_rules.pool, qp_rule_at(cell)->name), name) == 0;
    return is_it ? qp_rule_at(cell) : NULL;
}

qp_rule *qp_rule_create(qp_rule_kind kind, const char *name, unsigned type, unsigned when)
{
    bool keeps_only_stacks = (qp_run.hooks & QPROF_HOOK_STACK) && qp_load(&qp_run.has_entries);
    if (!name[0] || strnlen(name, TEXT_MAX) == TEXT_MAX || keeps_only_stacks ||
        qp_rule_find(kind, name))
        return NULL;
    qp_rule *rule = qp_rules.all_lines ? make_rule(kind, name, type, when) : NULL;
    if (rule && kind == QP_RULE_AREA && type == QPROF_AREA_INCLUDE &&
        !qp_rules.is_all_lines_said)
        qp_store(&qp_rule_at(qp_rules.all_lines)->is_checked, false);
    return rule;
}

bool qp_rule_is(const void *rule, qp_rule_kind kind)
{
    uint32_t cell = qp_pool_cell(&qp_rules.pool, rule);
    const qp_rule *it = cell ? rule : NULL;
    return it && it->kind == kind && it->ordinal && it->ordinal <= qp_rules.n_rules &&
           !it->is_dead && qp_rule_find(kind, qp_pool_text_at(&qp_rules.pool, it->name)) == it;
}

static void hide(qp_rule *rule)
{
    const qp_trie index = names();
    qp_store(&rule->is_dead, true);
    qp_trie_drop(&index, qp_rules.names, rule->key, cell_of(rule));
}

void qp_rule_destroy(qp_rule *rule)
{
    uint32_t cell = cell_of(rule);
    if (cell == qp_rules.all_lines || cell == qp_rules.all_routines)
        qp_store(&rule->is_checked, false); /* the predefined ones stay */
    else
        hide(rule);
}

/* ---- members ---------------------------------------------------------------------------------- */

static int add_member(qp_rule *rule, qp_member member)
{
    const qp_trie index = qp_rules_members();
    uint32_t cell = qp_pool_take(&qp_rules.pool, sizeof(qp_member));
    if (!cell)
        return QPROF_E_MEMORY;
    member.rule = cell_of(rule);
    *qp_member_at(cell) = member;
    if (member.match) {
        qp_member_at(cell)->same = qp_rules.patterns;
        qp_publish(&qp_rules.patterns, cell);
    } else {
        uint32_t first = qp_trie_put(&index, qp_rules.keys, member.id, cell);
        if (!first)
            return QPROF_E_MEMORY;
        if (first != cell) {
            qp_member_at(cell)->same = qp_member_at(first)->same;
            qp_publish(&qp_member_at(first)->same, cell);
        }
    }
    if (rule->last)
        qp_member_at(rule->last)->next = cell;
    else
        rule->first = cell;
    rule->last = cell;
    return 0;
}

int qp_rule_add(qp_rule *rule, const qp_config_element *element)
{
    size_t n_bytes = strnlen(element->name, TEXT_MAX);
    if (!n_bytes || n_bytes == TEXT_MAX)
        return QPROF_E_ARG;
    uint32_t text = qp_pool_text(&qp_rules.pool, element->name, n_bytes);
    qp_member member = {.text = text,
                        .kind = (uint8_t)element->kind,
                        .is_checked = element->is_checked,
                        .id = qp_rules_key(element->kind, element->name)};
    if (!text)
        return QPROF_E_MEMORY;
    if (element->name_kind != QP_NAME_LITERAL) {
        member.match = qp_pool_take(&qp_rules.pool, sizeof(qp_match));
        if (!member.match)
            return QPROF_E_MEMORY;
        if (!qp_match_begin(qp_pool_at(&qp_rules.pool, member.match), element->name_kind,
                            qp_pool_text_at(&qp_rules.pool, text)))
            return QPROF_E_SYNTAX;
    }
    return add_member(rule, member);
}

int qp_rule_add_id(qp_rule *rule, uint64_t id, bool is_checked)
{
    return add_member(
        rule,
        (qp_member){.kind = QP_MEMBER_ID, .is_checked = is_checked, .id = qp_rules_id_key(id)});
}

void qp_rule_set_checked(qp_rule *rule, bool is_checked)
{
    qp_store(&rule->is_checked, is_checked);
    qp_rules.is_all_lines_said |= cell_of(rule) == qp_rules.all_lines;
}

bool qp_rule_check(qp_rule *rule, const char *name, bool is_checked)
{
    bool has_it = false;
    for (uint32_t cell = rule->first; cell; cell = qp_member_at(cell)->next) {
        qp_member *m = qp_member_at(cell);
        if (strcmp(qp_pool_text_at(&qp_rules.pool, m->text), name) != 0)
            continue;
        qp_store(&m->is_checked, is_checked);
        has_it = true;
    }
    return has_it;
}

/* ---- files ------------------------------------------------------------------------------------ */

static void show(qp_rule *rule)
{
    const qp_trie index = names();
    qp_store(&rule->is_dead, false);
    qp_trie_put(&index, qp_rules.names, rule->key, cell_of(rule));
}

/* What may be said of the predefined areas, and of new threads. */
static qp_rule_defaults defaults_now(void)
{
    return (qp_rule_defaults){.is_known = true,
                              .all_lines = qp_rule_at(qp_rules.all_lines)->is_checked,
                              .all_routines = qp_rule_at(qp_rules.all_routines)->is_checked,
                              .is_all_lines_said = qp_rules.is_all_lines_said,
                              .is_initially_off = qp_rules.is_initially_off};
}

static void set_defaults(const qp_rule_defaults *d)
{
    qp_store(&qp_rule_at(qp_rules.all_lines)->is_checked, d->all_lines);
    qp_store(&qp_rule_at(qp_rules.all_routines)->is_checked, d->all_routines);
    qp_rules.is_all_lines_said = d->is_all_lines_said;
    qp_rules.is_initially_off = d->is_initially_off;
}

void qp_rules_begin_file(bool replaces)
{
    for (uint32_t cell = qp_rules.first; cell && replaces; cell = qp_rule_at(cell)->next) {
        qp_rule *rule = qp_rule_at(cell);
        if (rule->is_of_file != OF_FILE || rule->is_dead)
            continue;
        rule->is_of_file = ASIDE;
        hide(rule);
    }
    qp_rules.is_of_file = true;
    if (!begin_indices() || !begin_areas())
        return;
    qp_rules.before = defaults_now();
    if (!qp_rules.of_host.is_known)
        qp_rules.of_host = qp_rules.before;
    else if (replaces)
        set_defaults(&qp_rules.of_host);
}

void qp_rules_end_file(bool is_kept)
{
    qp_rules.is_of_file = false;
    for (uint32_t cell = qp_rules.first; cell; cell = qp_rule_at(cell)->next) {
        qp_rule *rule = qp_rule_at(cell);
        if (rule->is_of_file != NEW)
            continue;
        rule->is_of_file = OF_FILE;
        if (!is_kept && !rule->is_dead)
            hide(rule);
    }
    for (uint32_t cell = qp_rules.first; cell; cell = qp_rule_at(cell)->next) {
        qp_rule *rule = qp_rule_at(cell);
        if (rule->is_of_file != ASIDE)
            continue;
        rule->is_of_file = OF_FILE;
        if (!is_kept)
            show(rule);
    }
    if (!is_kept && qp_rules.all_lines)
        set_defaults(&qp_rules.before);
    if (qp_rules.first)
        qp_rules_changed();
}

/* ---- questions -------------------------------------------------------------------------------- */

static bool is_in_use(const qp_rule *rule)
{
    if (rule->kind == QP_RULE_AREA || rule->is_dead || !rule->is_checked)
        return false;
    for (uint32_t cell = rule->first; cell; cell = qp_member_at(cell)->next)
        if (qp_member_at(cell)->is_checked)
            return true;
    return false;
}

bool qp_rules_have_active(void)
{
    for (uint32_t cell = qp_rules.first; cell; cell = qp_rule_at(cell)->next)
        if (is_in_use(qp_rule_at(cell)))
            return true;
    return false;
}

bool qp_rules_initial_status(int on)
{
    bool before = !qp_rules.is_initially_off;
    if (on >= 0)
        qp_store(&qp_rules.is_initially_off, !on);
    return before;
}

unsigned qp_rules_validate(void)
{
    bool is_used = false, may_turn_on = false;
    for (uint32_t cell = qp_rules.first; cell; cell = qp_rule_at(cell)->next) {
        const qp_rule *rule = qp_rule_at(cell);
        if (!is_in_use(rule))
            continue;
        is_used = true;
        may_turn_on |= rule->kind == QP_RULE_TRIGGER ? rule->type == QPROF_TRIGGER_ON
                                                     : rule->type == QP_ACTION_ENABLE;
    }
    return is_used && qp_rules.is_initially_off && !may_turn_on ? QP_WARN_MAY_BE_OFF : 0;
}

bool qp_rules_want_values(void)
{
    return qp_load(&qp_rules.want_values);
}

static void report(void)
{
    static const char *const kinds[] = {"", "trigger", "action", "area"};
    unsigned n = 0;
    for (uint32_t cell = qp_rules.first; cell; cell = qp_rule_at(cell)->next) {
        const qp_rule *rule = qp_rule_at(cell);
        for (uint32_t m = rule->is_dead ? 0 : rule->first; m; m = qp_member_at(m)->next) {
            const qp_member *member = qp_member_at(m);
            if (member->has_fitted || !member->text || n++ >= REPORTED_MAX)
                continue;
            qp_session_log("%s %.100s: nothing was ever called %.200s", kinds[rule->kind],
                           qp_pool_text_at(&qp_rules.pool, rule->name),
                           qp_pool_text_at(&qp_rules.pool, member->text));
        }
    }
    if (n > REPORTED_MAX)
        qp_session_log("%u more names of triggers, actions and areas fitted nothing",
                       n - REPORTED_MAX);
    for (; n; n--)
        qp_count(&qp_run.space, QP_D_unmatched_names);
}

void qp_rules_end(void)
{
    report();
    end_matches();
}
