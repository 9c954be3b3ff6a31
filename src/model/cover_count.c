/* cover_count.c: what a profile has counted of each method, on all threads. */
#include "model/banks.h"
#include "model/cover_set.h"

static uint64_t entry_jumps(const qp_cover_addend *a, bool *is_known)
{
    uint64_t calls = 0;
    for (uint32_t k = 0; a->jumps && k < a->jumps->n_jumps; k++)
        if (a->jumps->jumps[k].from_block == QP_JUMP_ENTRY) {
            *is_known = true;
            calls = qp_sum(calls, a->values ? a->values[k] : 0);
        }
    return calls;
}

/* Add up the banks that count what the method's jumps say; blocks, if none does. */
static bool sum_banks(qp_cover_addition *x, qp_cover_addend *a)
{
    const qp_model_private *m = x->m->own;
    const qp_model_bank *first = qp_bank_first(m, a->method), *end = m->banks + m->n_banks;
    uint32_t n_blocks = x->m->methods[a->method].n_blocks;
    a->jumps = qp_bank_jumps(m, a->method);
    bool has_any = false, has_jumps = false;
    for (const qp_model_bank *b = first; b < end && b->method == a->method; b++) {
        has_any |= b->bank->kind == QP_BANK_COUNTS;
        has_jumps |= b->bank->kind == QP_BANK_COUNTS && a->jumps &&
                     b->bank->n_values == a->jumps->n_jumps;
    }
    if (has_any && !has_jumps)
        a->jumps = NULL;
    a->n_values = a->jumps ? a->jumps->n_jumps : n_blocks;
    if (!has_any)
        return true;
    a->values = qp_arena_take(&x->arena, a->n_values, sizeof *a->values);
    for (const qp_model_bank *b = first; a->values && b < end && b->method == a->method; b++) {
        if (b->bank->kind != QP_BANK_COUNTS || b->bank->n_values != a->n_values)
            continue;
        for (uint32_t k = 0; k < a->n_values; k++)
            a->values[k] = qp_sum(a->values[k], qp_bank_value(b, k));
        a->entries = qp_sum(a->entries, b->calls);
    }
    return a->values != NULL;
}

static bool count_method(qp_cover_addition *x, qp_cover_addend *a)
{
    if (!sum_banks(x, a))
        return false;
    const qp_figures *f = &x->m->methods[a->method].all;
    bool is_known = false;
    uint64_t entered = entry_jumps(a, &is_known);
    if (x->m->run.is_virtual && a->values)
        a->entries = f->calls;
    if (is_known || !a->jumps || !a->values)
        a->entries = 0;
    a->calls = is_known && a->values ? entered : f->hits;
    x->has_counters |= a->values != NULL;
    return true;
}

/* A method whose areas are of routines alone, as triggers 8.3 wants it: nothing is known of its
 * blocks, and all are executed once a call. Of its branches nothing is known, called or not. */
static bool count_whole(qp_cover_addition *x, qp_cover_addend *a)
{
    const qp_model_method *k = &x->m->methods[a->method];
    bool is_due = x->m->run.is_coverage || x->has_counters;
    if (!is_due || !(k->flags & QP_METHOD_ROUTINE) || a->values)
        return true;
    a->is_whole = true;
    a->jumps = NULL;
    a->n_values = k->n_blocks;
    a->values = a->calls ? qp_arena_take(&x->arena, a->n_values, sizeof *a->values) : NULL;
    for (uint32_t i = 0; a->values && i < a->n_values; i++)
        a->values[i] = a->calls;
    return a->values || !a->calls;
}

/* Methods outside of the areas are left out, unless they were inside before. */
bool qp_cover_count(qp_cover_addition *x)
{
    bool is_ok = true;
    x->addends = qp_arena_take(&x->arena, x->m->n_methods, sizeof *x->addends);
    for (uint32_t i = 1; x->addends && i < x->m->n_methods; i++) {
        const qp_model_method *k = &x->m->methods[i];
        if (!(k->flags & QP_METHOD_REGISTERED) || k->flags & QP_METHOD_PSEUDO)
            continue;
        qp_cover_addend *a = &x->addends[x->n_addends];
        a->method = i;
        if (!count_method(x, a))
            return false;
        x->n_addends += !(k->flags & QP_METHOD_EXCLUDED) || a->values || a->calls;
    }
    for (size_t i = 0; is_ok && i < x->n_addends; i++)
        is_ok = count_whole(x, &x->addends[i]);
    return is_ok && x->addends;
}
