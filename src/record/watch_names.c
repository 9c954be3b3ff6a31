/* watch_names.c: what event triggers mean by a name: methods, whenever they are registered, and
 * addresses, whenever the host gives them. */
#include <stdio.h>
#include <string.h>

#include "record/rules.h"
#include "record/watch_parts.h"

enum { NAME_BYTES = 4096 };

uint64_t qp_watch_key(unsigned kind, const char *text)
{
    uint64_t h = (0xcbf29ce484222325u ^ kind) * 0x100000001b3u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h;
}

uint32_t qp_watch_block(void *pool)
{
    return qp_pool_take(pool, QP_CELL);
}

static uint64_t key_of(void *pool, uint32_t cell)
{
    return *(const uint64_t *)qp_pool_at(pool, cell); /* of a qp_watched, symbol or place */
}

static qp_trie index_of(qp_pool *pool)
{
    return (qp_trie){pool->base, key_of, qp_watch_block, pool};
}

/* A trie whose root is at *root, which is made if need be. @return its root; 0: no memory */
static uint32_t root_of(qp_pool *pool, uint32_t *root)
{
    uint32_t none = 0, made = qp_observe(root) ? 0 : qp_watch_block(pool);
    if (made && !qp_swap_if(root, &none, made))
        made = none;
    return made ? made : qp_observe(root);
}

/* ---- methods ------------------------------------------------------------------------------- */

static qp_watched *watched_at(uint32_t cell)
{
    return qp_pool_at(&qp_watch.others, cell);
}

static bool begin_match(qp_watched *w, unsigned kind)
{
    w->match = qp_pool_take(&qp_watch.others, sizeof(qp_match));
    return w->match && qp_match_begin(qp_pool_at(&qp_watch.others, w->match),
                                      (qp_name_kind)kind, qp_watch_text(w->text));
}

uint32_t qp_watched_of(unsigned kind, const char *text, uint64_t id)
{
    qp_pool *pool = &qp_watch.others;
    uint64_t key = kind == QP_NAME_ID ? id * 8 + kind : qp_watch_key(kind, text);
    uint32_t root = root_of(pool, &qp_watch.watched);
    const qp_trie index = index_of(pool);
    uint32_t cell = root ? qp_trie_get(&index, root, key) : 0;
    if (cell || !root)
        return cell;
    cell = qp_pool_take(pool, sizeof(qp_watched));
    if (!cell)
        return 0;
    qp_watched *w = watched_at(cell);
    *w = (qp_watched){.key = key, .id = id, .kind = kind};
    bool is_pattern = kind == QP_NAME_GLOB || kind == QP_NAME_REGEX;
    if (kind != QP_NAME_ID)
        w->text = qp_pool_text(pool, text, strlen(text));
    if (is_pattern && !begin_match(w, kind))
        return 0;
    if (is_pattern) {
        w->next = qp_watch.patterns;
        qp_publish(&qp_watch.patterns, cell);
    }
    return qp_trie_put(&index, root, key, cell);
}

/* The id of a method that a name fits: a leaf of qp_watched.methods. */
static void add_method(qp_watched *w, uint64_t id)
{
    qp_pool *pool = &qp_watch.others;
    uint32_t root = root_of(pool, &w->methods);
    const qp_trie index = index_of(pool);
    if (!root || qp_trie_get(&index, root, id))
        return;
    uint32_t cell = qp_pool_take(pool, sizeof id);
    if (!cell)
        return;
    *(uint64_t *)qp_pool_at(pool, cell) = id;
    qp_trie_put(&index, root, id, cell);
}

bool qp_watched_fits(uint32_t watched, uint64_t id)
{
    const qp_watched *w = watched_at(watched);
    const qp_trie index = index_of(&qp_watch.others);
    uint32_t root = qp_observe(&w->methods);
    return w->kind == QP_NAME_ID ? w->id == id : root && qp_trie_get(&index, root, id);
}

const char *qp_watched_text(uint32_t watched, qp_name_kind *kind)
{
    const qp_watched *w = watched_at(watched);
    *kind = watched ? (qp_name_kind)w->kind : QP_NAME_LITERAL;
    return watched ? qp_watch_text(w->text) : "";
}

bool qp_watched_has_methods(uint32_t watched)
{
    return watched_at(watched)->methods;
}

bool qp_watched_is_of_calls(const qp_trg *t)
{
    return t->event == QP_EVENT_FN_ENTRY || t->event == QP_EVENT_FN_EXIT ||
           t->event == QP_EVENT_ANY;
}

void qp_watched_use(const qp_trg *t, bool is_used)
{
    uint32_t by = is_used ? 1 : -1u;
    if (qp_watched_is_of_calls(t) && t->object)
        qp_fetch_add(&watched_at(t->object)->n_users, by);
    else if (qp_watched_is_of_calls(t))
        qp_fetch_add(&qp_watch.n_all_calls, by);
}

/* A literal that is the method's name, or its id. @return does somebody look at its calls? */
static bool take_key(const qp_method *m, unsigned kind, const char *text, uint64_t id)
{
    const qp_trie index = index_of(&qp_watch.others);
    uint64_t key = kind == QP_NAME_ID ? id * 8 + kind : qp_watch_key(kind, text);
    uint32_t cell = qp_trie_get(&index, qp_watch.watched, key);
    qp_watched *w = cell ? watched_at(cell) : NULL;
    if (!w || w->kind != kind || strcmp(qp_watch_text(w->text), text) != 0)
        return false;
    add_method(w, m->id);
    return qp_load(&w->n_users) != 0;
}

bool qp_watch_names(const qp_method *m)
{
    char display[NAME_BYTES];
    const char *name = qp_texts_of(&qp_run.texts, &m->name);
    const char *class_name = qp_texts_of(&qp_run.texts, &m->class_name);
    if (!qp_observe(&qp_watch.watched))
        return false;
    snprintf(display, sizeof display, "%s%s%s", class_name, class_name[0] ? "." : "", name);
    bool is_looked_at = take_key(m, QP_NAME_ID, "", m->id);
    is_looked_at |= take_key(m, QP_NAME_LITERAL, display, 0);
    is_looked_at |= take_key(m, QP_NAME_LITERAL, name, 0);
    for (uint32_t cell = qp_observe(&qp_watch.patterns); cell; cell = watched_at(cell)->next) {
        qp_watched *w = watched_at(cell);
        const qp_match *match = qp_pool_at(&qp_watch.others, w->match);
        if (!qp_match_fits(match, display) && !qp_match_fits(match, name))
            continue;
        add_method(w, m->id);
        is_looked_at |= qp_load(&w->n_users) != 0;
    }
    return is_looked_at && qp_load(&qp_watch_on);
}

/* ---- addresses ----------------------------------------------------------------------------- */

qp_watch_symbol *qp_symbol_at(uint32_t cell)
{
    return qp_pool_at(&qp_watch.symbols, cell);
}

uint32_t qp_symbol_of(unsigned kind, const char *name)
{
    qp_pool *pool = &qp_watch.symbols;
    uint64_t key = qp_watch_key(kind, name);
    uint32_t root = root_of(pool, &qp_watch.symbol_root);
    const qp_trie index = index_of(pool);
    uint32_t cell = root ? qp_trie_get(&index, root, key) : 0;
    if (cell || !root)
        return cell;
    cell = qp_pool_take(pool, sizeof(qp_watch_symbol));
    if (!cell)
        return 0;
    *qp_symbol_at(cell) =
        (qp_watch_symbol){.key = key, .name = qp_pool_text(pool, name, strlen(name))};
    return qp_trie_put(&index, root, key, cell);
}

void qp_symbol_look(qp_trg *t)
{
    t->n_missing = 0;
    if (t->when_symbol) {
        void *address = qp_symbol_at(t->when_symbol)->address;
        qp_store(&t->when_address, address);
        t->n_missing += !address;
    }
    if (t->action_symbol) {
        void *address = qp_symbol_at(t->action_symbol)->address;
        qp_store(&t->function, (int (*)(intptr_t))(uintptr_t)address);
        t->n_missing += !address;
    }
}

void qp_symbol_resolve(uint32_t cell)
{
    for (uint32_t i = qp_watch.first; i; i = qp_trg_at(i)->next) {
        qp_trg *t = qp_trg_at(i);
        if (t->is_dead || (t->when_symbol != cell && t->action_symbol != cell))
            continue;
        qp_symbol_look(t);
        if (t->n_missing || !t->is_wanted)
            continue;
        t->is_wanted = false;
        if (qp_trg_enable(t) != 0)
            qp_trg_log(t, "not enabled, as many as can be are enabled already");
    }
}
