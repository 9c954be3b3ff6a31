/* merge_banks.c: counters and times of blocks, what contexts have of them, and the texts that the
 * sources had. */
#include <string.h>

#include "model/merge_parts.h"

/* ---- banks ----------------------------------------------------------------------------------- */

static uint32_t blocks_of(const qp_merge *s, uint32_t method)
{
    return QP_MERGE_AT(s->methods, qp_merge_method, method)->n_blocks;
}

static bool counts_jumps(const qp_merge *s, uint32_t method, uint32_t n_values)
{
    const qp_jumps *j = QP_MERGE_AT(s->methods, qp_merge_method, method)->jumps;
    return j && j->n_jumps == n_values;
}

/* A bank of the sum; it is made if there is none. @return NULL: no memory */
static qp_merge_bank *bank_of(qp_merge *s, uint32_t thread, uint32_t method, qp_merge_kind kind,
                              uint32_t n_values)
{
    uint64_t key = qp_merge_key(thread, method);
    uint32_t at = qp_dict_get(&s->bank_of[kind], key);
    if (at)
        return QP_MERGE_AT(s->banks, qp_merge_bank, at - 1);
    qp_merge_thread *th = QP_MERGE_AT(s->threads, qp_merge_thread, thread);
    uint64_t *values = qp_arena_take(&s->arena, n_values, sizeof *values);
    qp_merge_bank *fresh = values ? qp_buf_add(&s->banks) : NULL;
    if (!fresh || !qp_dict_put(&s->bank_of[kind], key, (uint32_t)s->banks.n))
        return NULL;
    *fresh = (qp_merge_bank){method, th->last_bank, kind, n_values, values};
    th->last_bank = (uint32_t)s->banks.n - 1;
    return fresh;
}

static void add_times(const qp_model *m, qp_merge_bank *to, const qp_bank *b)
{
    uint32_t n_times = 2 * b->n_blocks; /* then bits: which blocks were marked */
    for (uint32_t k = 0; k < b->n_values; k++)
        to->values[k] = k < n_times ? qp_sum(to->values[k], qp_model_ns(m, b->values[k]))
                                    : to->values[k] | b->values[k];
}

static bool add_bank(qp_merge_addition *x, const qp_model_bank *b)
{
    uint32_t method = x->methods[b->method], n = b->bank->n_values;
    bool is_times = b->bank->kind == QP_BANK_TIMES;
    qp_merge_kind kind = is_times                        ? QP_MERGE_TIMES
                         : counts_jumps(x->s, method, n) ? QP_MERGE_JUMPS
                                                         : QP_MERGE_BLOCKS;
    qp_merge_bank *to = bank_of(x->s, x->threads[b->thread], method, kind, n);
    if (to && is_times)
        add_times(x->m, to, b->bank);
    for (uint32_t k = 0; to && !is_times && k < n; k++)
        to->values[k] = qp_sum(to->values[k], qp_bank_value(b, k));
    return to != NULL;
}

/* Block time of a call that was open at the end. */
static bool add_open_block(qp_merge_addition *x, const qp_open_block *b)
{
    uint32_t method = x->methods[b->method], n_blocks = blocks_of(x->s, method);
    if (b->block >= n_blocks)
        return true;
    qp_merge_bank *to = bank_of(x->s, x->threads[b->thread], method, QP_MERGE_TIMES,
                                2 * n_blocks + (n_blocks + 63) / 64);
    if (!to)
        return false;
    uint64_t *times = &to->values[2 * (size_t)b->block];
    times[0] = qp_sum(times[0], qp_model_ns(x->m, b->self));
    times[1] = qp_sum(times[1], qp_model_ns(x->m, b->total));
    to->values[2 * (size_t)n_blocks + b->block / 64] |= 1ull << b->block % 64;
    return true;
}

bool qp_merge_add_banks(qp_merge_addition *x)
{
    const qp_model_private *own = x->m->own;
    for (size_t i = 0; i < own->n_banks; i++)
        if (!add_bank(x, &own->banks[i]))
            return false;
    for (size_t i = 0; i < own->n_open_blocks; i++)
        if (!add_open_block(x, &own->open_blocks[i]))
            return false;
    return true;
}

/* ---- contexts -------------------------------------------------------------------------------- */

/* @return index in the sum; QP_MERGE_NONE: no memory */
static uint32_t context_of(qp_merge *s, const char *name)
{
    uint32_t at = qp_merge_named(&s->context_of, &s->contexts, 0, name);
    if (at != QP_MERGE_NONE)
        return at;
    const char **fresh = qp_buf_add(&s->contexts);
    uint64_t hash = qp_hash_bytes(QP_HASH_START, name, strlen(name));
    if (!fresh || !(*fresh = qp_arena_text(&s->arena, name)) ||
        !qp_dict_put(&s->context_of, hash, (uint32_t)s->contexts.n))
        return QP_MERGE_NONE;
    return (uint32_t)s->contexts.n - 1;
}

/* A share with room for n_values, unless it counts something else. @return NULL: no memory */
static qp_merge_share *share_of(qp_merge *s, uint32_t context, uint32_t method,
                                uint32_t n_values)
{
    uint64_t key = qp_merge_key(context, method);
    uint32_t at = qp_dict_get(&s->share_of, key);
    qp_merge_share *share =
        at ? QP_MERGE_AT(s->shares, qp_merge_share, at - 1) : qp_buf_add(&s->shares);
    if (share && !at) {
        *share = (qp_merge_share){.method = method, .context = context};
        if (!qp_dict_put(&s->share_of, key, (uint32_t)s->shares.n))
            return NULL;
    }
    if (share && !share->n_values && n_values) {
        share->values = qp_arena_take(&s->arena, n_values, sizeof *share->values);
        share->n_values = share->values ? n_values : 0;
        share = share->values ? share : NULL;
    }
    return share;
}

/* What a context has more of a method, or less. */
typedef struct {
    uint32_t context, method; /* of the sum */
    uint64_t calls;
    uint32_t n_values;
    const uint64_t *values;
    const uint64_t *base; /* NULL: nothing to take off */
} portion;

static bool add_portion(qp_merge *s, const portion *p, bool is_less)
{
    qp_merge_share *to = share_of(s, p->context, p->method, p->n_values);
    if (!to)
        return false;
    to->calls = (int64_t)((uint64_t)to->calls + (is_less ? 0 - p->calls : p->calls));
    for (uint32_t k = 0; p->n_values == to->n_values && k < p->n_values; k++) {
        uint64_t n = p->values[k] - (p->base ? p->base[k] : 0);
        to->values[k] += is_less ? 0 - n : n;
    }
    return true;
}

/* The context that was on at the end has what no other has: all, less the shares. */
static bool add_rest(qp_merge_addition *x, uint32_t context)
{
    const qp_model_private *own = x->m->own;
    bool is_ok = true;
    for (uint32_t i = 1; is_ok && i < x->m->n_methods; i++) {
        const portion calls = {
            .context = context, .method = x->methods[i], .calls = x->m->methods[i].all.hits};
        is_ok = !calls.calls || add_portion(x->s, &calls, false);
    }
    for (size_t i = 0; is_ok && i < own->n_banks; i++) {
        const qp_model_bank *b = &own->banks[i];
        const portion counters = {context,           x->methods[b->method], 0,
                                  b->bank->n_values, b->bank->values,       b->base};
        if (b->bank->kind == QP_BANK_COUNTS)
            is_ok = add_portion(x->s, &counters, false);
    }
    return is_ok;
}

bool qp_merge_add_contexts(qp_merge_addition *x)
{
    const qp_model_private *own = x->m->own;
    uint32_t last = qp_context_at(own, qp_image_head(&own->image)->context);
    bool is_ok = true;
    for (uint32_t i = 0; is_ok && i < own->n_contexts; i++) {
        x->contexts[i] = context_of(x->s, own->contexts[i].name);
        is_ok = x->contexts[i] != QP_MERGE_NONE;
    }
    if (is_ok && last < own->n_contexts)
        is_ok = add_rest(x, x->contexts[last]);
    for (size_t i = 0; is_ok && i < own->n_shares; i++) {
        const qp_model_share *share = &own->shares[i];
        const qp_bank *b = share->bank;
        portion p = {.context = x->contexts[share->context],
                     .method = x->methods[share->method],
                     .calls = b->calls,
                     .n_values = b->n_values,
                     .values = b->values};
        is_ok = add_portion(x->s, &p, false);
        if (is_ok && last < own->n_contexts) {
            p.context = x->contexts[last];
            is_ok = add_portion(x->s, &p, true);
        }
    }
    return is_ok;
}

/* ---- sources --------------------------------------------------------------------------------- */

bool qp_merge_add_texts(qp_merge_addition *x)
{
    qp_merge *s = x->s;
    for (size_t i = 0; i < x->m->own->n_texts; i++) {
        const qp_model_text *t = &x->m->own->texts[i];
        uint32_t at =
            qp_merge_named(&s->text_of, &s->texts, offsetof(qp_merge_text, path), t->path);
        if (at != QP_MERGE_NONE) {
            qp_merge_text *known = QP_MERGE_AT(s->texts, qp_merge_text, at);
            if (known->digest != t->digest) /* several versions, as was asked for */
                known->digest = known->n_bytes = 0;
            continue;
        }
        qp_merge_text *fresh = qp_buf_add(&s->texts);
        uint64_t hash = qp_hash_bytes(QP_HASH_START, t->path, strlen(t->path));
        if (!fresh || !qp_dict_put(&s->text_of, hash, (uint32_t)s->texts.n))
            return false;
        *fresh = (qp_merge_text){qp_arena_text(&s->arena, t->path), t->digest, t->n_bytes};
        if (!fresh->path)
            return false;
    }
    return true;
}
