/* trigger_names.c: the methods of a name, so that a name that is added to a trigger is compared
 * with these and not with all methods. Only names of routines are indexed; elements of areas
 * and patterns are rare. Read qp_triggers_name first. */
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "record/trigger_list/trigger_list.h"

/* The keys of a method. */
enum { BY_ID, BY_NAME, BY_DISPLAY, N_WAYS };
enum { NAME_BYTES = 4096 };

/* A cell. A leaf of the trie is 4 * cell + way; leaves with one key are linked after the
 * first. */
typedef struct {
    uint64_t keys[N_WAYS];
    uint32_t next[N_WAYS];
    uint32_t method;
} named;

static named *named_at(uint32_t leaf)
{
    return qp_pool_at(&qp_triggers.pool, leaf / 4);
}

static uint64_t key_of(void *unused, uint32_t leaf)
{
    (void)unused;
    return named_at(leaf)->keys[leaf % 4];
}

static qp_trie index_of_names(void)
{
    return (qp_trie){qp_triggers.pool.base, key_of, qp_triggers_block, NULL};
}

static void describe(qp_cell method, named *n)
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
    const qp_trie index = index_of_names();
    uint32_t first = qp_trie_put(&index, qp_triggers.named, key_of(NULL, leaf), leaf);
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
    const qp_trie index = index_of_names();
    uint32_t leaf = qp_trie_get(&index, qp_triggers.named, n->keys[BY_ID]);
    for (; leaf; leaf = qp_observe(&named_at(leaf)->next[BY_ID]))
        if (memcmp(named_at(leaf)->keys, n->keys, sizeof n->keys) == 0)
            return true;
    return false;
}

bool qp_triggers_name(qp_cell method)
{
    named n;
    describe(method, &n);
    if (is_known(&n))
        return true;
    uint32_t cell = qp_pool_take(&qp_triggers.pool, sizeof(named));
    if (!cell)
        return false;
    *(named *)qp_pool_at(&qp_triggers.pool, cell) = n;
    for (unsigned way = 0; way < N_WAYS; way++)
        if (n.keys[way] && !put(4 * cell + way))
            return false;
    qp_fence(); /* either a new name finds the method, or the method the name */
    return true;
}

qp_cell qp_triggers_next_named(const qp_member *member, uint32_t *at)
{
    const qp_trie index = index_of_names();
    *at = *at ? qp_observe(&named_at(*at)->next[*at % 4])
              : qp_trie_get(&index, qp_triggers.named, member->id);
    return *at ? named_at(*at)->method : 0;
}
