/* cover_place.c: room in a set for what a profile brings. Read qp_cover_place first. */
#include <string.h>

#include "format/tables.h"
#include "model/banks.h"
#include "model/cover_set.h"

/* ---- finding places in the set --------------------------------------------------------------- */

/* A method of the set with equal names; with equal lines, or in another version of its file one
 * whose blocks are as many and follow each other alike. */
static uint32_t find_method(qp_cover_addition *x, const qp_cover_addend *a, bool by_lines,
                            bool *has_namesake)
{
    const qp_model_method *k = &x->m->methods[a->method];
    struct qp_cover_set_private *own = x->own;
    uint32_t at = by_lines ? qp_dict_get(&own->same, qp_cover_same_hash(k))
                           : qp_dict_get(&own->named, qp_cover_named_hash(k));
    for (; at; at = by_lines ? qp_cover_extra_at(own, at - 1)->next_same
                             : qp_cover_extra_at(own, at - 1)->next_named) {
        const qp_cover_method *c = qp_cover_method_at(own, at - 1);
        if (!qp_cover_is_named(c, k))
            continue;
        *has_namesake = true;
        bool fits = by_lines ? qp_cover_is_same_lines(c, k) : c->n_blocks == k->n_blocks;
        if (fits && qp_jumps_agree(c->jumps, a->jumps))
            return at - 1;
    }
    return QP_COVER_NONE;
}

static bool link_method(struct qp_cover_set_private *own, const qp_model_method *k, uint32_t at)
{
    uint64_t same = qp_cover_same_hash(k), named = qp_cover_named_hash(k);
    qp_cover_extra *extra = qp_cover_extra_at(own, at);
    extra->next_same = qp_dict_get(&own->same, same);
    extra->next_named = qp_dict_get(&own->named, named);
    extra->run = (uint32_t)own->runs.n - 1;
    return qp_dict_put(&own->same, same, at + 1) && qp_dict_put(&own->named, named, at + 1);
}

static bool new_method(qp_cover_addition *x, qp_cover_addend *a)
{
    struct qp_cover_set_private *own = x->own;
    const qp_model_method *k = &x->m->methods[a->method];
    uint32_t at = (uint32_t)own->methods.n;
    qp_cover_method *c = qp_buf_add(&own->methods);
    if (!c || !qp_buf_add(&own->extras))
        return false;
    *c = (qp_cover_method){
        .name = qp_arena_text(&own->arena, k->name),
        .bare_name = qp_arena_text(&own->arena, k->bare_name),
        .class_name = qp_arena_text(&own->arena, k->class_name),
        .module = qp_arena_text(&own->arena, k->module),
        .file = qp_arena_text(&own->arena, k->file),
        .flags = k->flags,
        .n_blocks = k->n_blocks,
        .lines = qp_arena_copy(&own->arena, k->lines, k->n_blocks, sizeof *k->lines),
        .jumps = a->jumps ? qp_arena_copy(&own->arena, a->jumps, 1,
                                          qp_jumps_bytes(a->jumps->n_jumps, a->jumps->n_blocks))
                          : NULL,
        .n_values = a->n_values,
    };
    a->to = at;
    return c->name && c->bare_name && c->class_name && c->module && c->file && c->lines &&
           (c->jumps || !a->jumps) && link_method(own, k, at);
}

/* Of a method of another version of a source: its lines are those of another text. */
static bool warn(qp_cover_addition *x, const qp_cover_addend *a, bool has_namesake)
{
    const qp_model_method *k = &x->m->methods[a->method];
    char **to = qp_buf_add(&x->own->warnings);
    if (to)
        *to = qp_arena_format(&x->own->arena, "%s: %s of %s %s: its figures are left out",
                              k->file, k->name, x->what,
                              has_namesake ? "has other blocks than before"
                                           : "is not in the version that came first");
    return to && *to;
}

static bool place_method(qp_cover_addition *x, qp_cover_addend *a)
{
    bool has_namesake = false;
    a->to = find_method(x, a, true, &has_namesake);
    if (a->to == QP_COVER_NONE && x->is_other[a->method])
        a->to = find_method(x, a, false, &has_namesake);
    if (a->to == QP_COVER_NONE && x->is_other[a->method])
        return warn(x, a, has_namesake);
    if (a->to == QP_COVER_NONE && !new_method(x, a))
        return false;
    qp_cover_method *c = qp_cover_method_at(x->own, a->to);
    if (a->values && !c->values)
        c->values = qp_arena_take(&x->own->arena, c->n_values, sizeof *c->values);
    return !a->values || c->values;
}

/* ---- contexts -------------------------------------------------------------------------------- */

/* @return its index; QP_COVER_NONE: no memory */
static uint32_t place_context(struct qp_cover_set_private *own, const char *name)
{
    uint64_t hash = qp_cover_text_hash(QP_HASH_START, name);
    uint32_t at = qp_dict_get(&own->names, hash);
    while (at && strcmp(((const char **)own->contexts.items)[at - 1], name) != 0)
        at = qp_dict_get(&own->names, ++hash);
    if (at)
        return at - 1;
    char *copy = qp_arena_text(&own->arena, name);
    const char **to = copy ? qp_buf_add(&own->contexts) : NULL;
    if (!to || !qp_dict_put(&own->names, hash, (uint32_t)own->contexts.n)) {
        own->contexts.failed = true;
        return QP_COVER_NONE;
    }
    *to = copy;
    return (uint32_t)own->contexts.n - 1;
}

static bool place_contexts(qp_cover_addition *x)
{
    const qp_model_private *m = x->m->own;
    x->contexts = qp_arena_take(&x->arena, m->n_contexts, sizeof *x->contexts);
    if (!x->contexts)
        return false;
    for (uint32_t i = 0; i < m->n_contexts; i++) {
        const char *name = m->contexts[i].name;
        x->contexts[i] = place_context(x->own, name[0] ? name : x->rest);
    }
    uint32_t head = qp_context_at(m, qp_image_head(&m->image)->context);
    x->head_context = QP_COVER_NONE;
    if (head < m->n_contexts)
        x->head_context = x->contexts[head];
    else if (x->rest[0])
        x->head_context = place_context(x->own, x->rest);
    return !x->own->contexts.failed;
}

/* @return false: no memory */
static bool place_share(struct qp_cover_set_private *own, uint32_t method, uint32_t context)
{
    qp_cover_method *c = qp_cover_method_at(own, method);
    uint64_t key = (uint64_t)method << 32 | context;
    if (context == QP_COVER_NONE || qp_dict_get(&own->shares, key))
        return true;
    bool is_full = (c->n_shares & (c->n_shares - 1)) == 0; /* room is for a power of 2 */
    if (is_full) {
        size_t room = c->n_shares ? 2 * c->n_shares : 1;
        qp_cover_share *wider = qp_arena_take(&own->arena, room, sizeof *wider);
        if (!wider)
            return false;
        if (c->n_shares)
            memcpy(wider, c->shares, c->n_shares * sizeof *wider);
        c->shares = wider;
    }
    int64_t *values = qp_arena_take(&own->arena, c->n_values, sizeof *values);
    if (!values || !qp_dict_put(&own->shares, key, (uint32_t)c->n_shares + 1))
        return false;
    c->shares[c->n_shares++] = (qp_cover_share){.context = context, .values = values};
    return true;
}

qp_cover_share *qp_cover_share_of(struct qp_cover_set_private *own, uint32_t method,
                                  uint32_t context)
{
    uint32_t at = qp_dict_get(&own->shares, (uint64_t)method << 32 | context);
    return &qp_cover_method_at(own, method)->shares[at - 1];
}

bool qp_cover_share_fits(const qp_cover_addend *a, const qp_model_share *s)
{
    return !s->bank->n_values || s->bank->n_values == a->n_values;
}

static bool place_shares(qp_cover_addition *x, const qp_cover_addend *a)
{
    const qp_model_private *m = x->m->own;
    const qp_model_share *end = m->shares + m->n_shares;
    bool is_ok = place_share(x->own, a->to, x->head_context);
    for (const qp_model_share *s = qp_share_first(m, a->method);
         is_ok && s < end && s->method == a->method; s++)
        if (qp_cover_share_fits(a, s))
            is_ok = place_share(x->own, a->to, x->contexts[s->context]);
    return is_ok;
}

/* ---- texts, runs ----------------------------------------------------------------------------- */

uint32_t qp_cover_text_of(const struct qp_cover_set_private *own, const char *path)
{
    const qp_cover_text *texts = own->texts.items;
    uint64_t hash = qp_cover_text_hash(QP_HASH_START, path);
    uint32_t at = qp_dict_get(&own->paths, hash);
    while (at && strcmp(texts[at - 1].path, path) != 0)
        at = qp_dict_get(&own->paths, ++hash);
    return at;
}

/* The text that came first stays; one that was not known is no text. */
static bool place_text(struct qp_cover_set_private *own, const qp_model_text *t)
{
    uint32_t at = qp_cover_text_of(own, t->path);
    uint64_t hash = qp_cover_text_hash(QP_HASH_START, t->path);
    if (at) {
        qp_cover_text *known = (qp_cover_text *)own->texts.items + at - 1;
        if (!known->digest) {
            known->digest = t->digest;
            known->n_bytes = t->n_bytes;
        }
        return true;
    }
    while (qp_dict_get(&own->paths, hash))
        hash++;
    qp_cover_text *to = qp_buf_add(&own->texts);
    if (!to)
        return false;
    *to = (qp_cover_text){.path = qp_arena_text(&own->arena, t->path),
                          .digest = t->digest,
                          .n_bytes = t->n_bytes,
                          .run = (uint32_t)own->runs.n - 1};
    return to->path && qp_dict_put(&own->paths, hash, (uint32_t)own->texts.n);
}

static bool place_run(qp_cover_addition *x)
{
    const qp_run *run = &x->m->run;
    qp_cover_run *to = qp_buf_add(&x->own->runs);
    if (!to)
        return false;
    *to = (qp_cover_run){.what = qp_arena_text(&x->own->arena, x->what),
                         .program = qp_arena_text(&x->own->arena, run->program),
                         .label = qp_arena_text(&x->own->arena, run->label),
                         .started_at = run->started_at,
                         .pid = run->pid};
    return to->what && to->program && to->label;
}

bool qp_cover_place(qp_cover_addition *x)
{
    const qp_model_private *m = x->m->own;
    bool is_ok = place_run(x) && place_contexts(x);
    for (size_t i = 0; is_ok && i < m->n_texts; i++)
        is_ok = place_text(x->own, &m->texts[i]);
    for (size_t i = 0; is_ok && i < x->n_addends; i++) {
        qp_cover_addend *a = &x->addends[i];
        is_ok = place_method(x, a) && (a->to == QP_COVER_NONE || place_shares(x, a));
    }
    return is_ok;
}
