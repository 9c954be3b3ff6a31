/* cover_set.c: adding profiles up. Read qp_cover_set_add first: everything that may fail comes
 * before the first figure changes. */
#include <string.h>

#include "base/alloc.h"
#include "format/tables.h"
#include "model/banks.h"
#include "model/cover_set.h"

typedef struct qp_cover_set_private set_private;

/* ---- a set ----------------------------------------------------------------------------------- */

qp_cover_set *qp_cover_set_new(void)
{
    set_private *own = qp_alloc_zeroed(1, sizeof *own);
    if (!own)
        return NULL;
    qp_arena_init(&own->arena);
    qp_buf_init(&own->methods, sizeof(qp_cover_method));
    qp_buf_init(&own->extras, sizeof(qp_cover_extra));
    qp_buf_init(&own->contexts, sizeof(const char *));
    qp_buf_init(&own->texts, sizeof(qp_cover_text));
    qp_buf_init(&own->runs, sizeof(qp_cover_run));
    qp_buf_init(&own->warnings, sizeof(char *));
    own->set.grain = QP_GRAIN_LINE;
    own->set.is_coverage = true;
    own->set.own = own;
    return &own->set;
}

void qp_cover_set_free(qp_cover_set *s)
{
    if (!s)
        return;
    set_private *own = s->own;
    qp_free(own->methods.items);
    qp_free(own->extras.items);
    qp_free(own->contexts.items);
    qp_free(own->texts.items);
    qp_free(own->runs.items);
    qp_free(own->warnings.items);
    qp_dict_fini(&own->same);
    qp_dict_fini(&own->named);
    qp_dict_fini(&own->paths);
    qp_dict_fini(&own->names);
    qp_dict_fini(&own->shares);
    qp_arena_fini(&own->arena);
    qp_free(own);
}

/* Show what is in the buffers: they may have moved. */
static void show(set_private *own)
{
    qp_cover_set *s = &own->set;
    s->methods = own->methods.items;
    s->contexts = own->contexts.items;
    s->texts = own->texts.items;
    s->runs = own->runs.items;
    s->warnings = own->warnings.items;
}

static void show_all(set_private *own)
{
    qp_cover_set *s = &own->set;
    show(own);
    s->n_methods = own->methods.n;
    s->n_contexts = own->contexts.n;
    s->n_texts = own->texts.n;
    s->n_runs = own->runs.n;
    s->n_warnings = own->warnings.n;
}

/* ---- identity -------------------------------------------------------------------------------- */

uint64_t qp_cover_text_hash(uint64_t hash, const char *text)
{
    return qp_hash_bytes(hash, text, strlen(text) + 1);
}

uint64_t qp_cover_named_hash(const qp_model_method *k)
{
    uint64_t hash = qp_cover_text_hash(QP_HASH_START, k->file);
    return qp_cover_text_hash(
        qp_cover_text_hash(qp_cover_text_hash(hash, k->bare_name), k->class_name), k->module);
}

uint64_t qp_cover_same_hash(const qp_model_method *k)
{
    return qp_hash_bytes(qp_cover_named_hash(k), k->lines, k->n_blocks * sizeof *k->lines);
}

bool qp_cover_is_named(const qp_cover_method *a, const qp_model_method *b)
{
    return strcmp(a->bare_name, b->bare_name) == 0 && strcmp(a->file, b->file) == 0 &&
           strcmp(a->class_name, b->class_name) == 0 && strcmp(a->module, b->module) == 0;
}

bool qp_cover_is_same_lines(const qp_cover_method *a, const qp_model_method *b)
{
    return qp_lines_agree(a->lines, a->n_blocks, b->lines, b->n_blocks);
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Shares are signed and add up modulo 2^64, so that what is taken off comes back. */
static void add_signed(int64_t *to, uint64_t n, int sign)
{
    *to = (int64_t)((uint64_t)*to + (sign > 0 ? n : 0 - n));
}

static void add_share(qp_cover_share *to, const qp_cover_addend *a, const qp_cover_method *c,
                      const qp_bank *b, int sign)
{
    uint64_t calls = b->calls;
    bool is_entry = false;
    for (uint32_t k = 0; a->is_whole && k < c->n_values; k++)
        add_signed(&to->values[k], calls, sign);
    for (uint32_t k = 0; k < b->n_values; k++) {
        add_signed(&to->values[k], b->values[k], sign);
        if (!c->jumps || c->jumps->jumps[k].from_block != QP_JUMP_ENTRY)
            continue;
        calls = is_entry ? calls + b->values[k] : b->values[k];
        is_entry = true;
    }
    add_signed(&to->calls, calls, sign);
}

/* What no share of the profile has is of the context that was the last. */
static void add_shares(qp_cover_addition *x, const qp_cover_addend *a, qp_cover_method *c)
{
    const qp_model_private *m = x->m->own;
    qp_cover_share *last = NULL;
    if (x->head_context != QP_COVER_NONE) {
        last = qp_cover_share_of(x->own, a->to, x->head_context);
        add_signed(&last->calls, a->calls, 1);
        for (uint32_t k = 0; a->values && k < a->n_values; k++)
            add_signed(&last->values[k], a->values[k], 1);
    }
    for (const qp_model_share *s = qp_share_first(m, a->method), *end = m->shares + m->n_shares;
         s < end && s->method == a->method; s++) {
        if (!qp_cover_share_fits(a, s))
            continue;
        if (last)
            add_share(last, a, c, s->bank, -1);
        add_share(qp_cover_share_of(x->own, a->to, x->contexts[s->context]), a, c, s->bank, 1);
    }
}

static void add_method(qp_cover_addition *x, const qp_cover_addend *a)
{
    qp_cover_method *c = qp_cover_method_at(x->own, a->to);
    c->calls = qp_sum(c->calls, a->calls);
    c->is_seen |= qp_figures_is_seen(&x->m->methods[a->method].all);
    c->entries = qp_sum(c->entries, a->entries);
    for (uint32_t k = 0; a->values && k < a->n_values; k++)
        c->values[k] = qp_sum(c->values[k], a->values[k]);
    bool is_missed = x->m->run.is_coverage || (x->has_counters && !a->calls && !a->entries);
    c->is_counted |= a->values || is_missed;
    add_shares(x, a, c);
}

static void add_figures(qp_cover_addition *x)
{
    qp_cover_set *s = &x->own->set;
    const qp_run *run = &x->m->run;
    for (size_t i = 0; i < x->n_addends; i++)
        if (x->addends[i].to != QP_COVER_NONE)
            add_method(x, &x->addends[i]);
    s->grain = run->grain < s->grain ? run->grain : s->grain;
    s->is_once |= run->is_once;
    s->is_coverage &= run->is_coverage;
}

static bool refuse(char *error, const char *what)
{
    if (!error[0])
        qp_text_format(error, QP_ERROR_BYTES, "%.300s: there is not enough memory to add it",
                       what);
    return false;
}

bool qp_cover_set_add(qp_cover_set *s, const qp_model *m, const char *what,
                      const qp_cover_add_options *o, char error[QP_ERROR_BYTES])
{
    qp_cover_addition x = {.own = s->own, .m = m, .what = what};
    bool is_forced = o && o->is_forced;
    x.rest = o && o->is_layered ? what : "";
    error[0] = '\0';
    qp_arena_init(&x.arena);
    x.is_other = qp_arena_take(&x.arena, m->n_methods, sizeof *x.is_other);
    bool is_ok = !s->own->is_full && x.is_other &&
                 qp_cover_versions(s->own, m, what, x.is_other, error) &&
                 (!error[0] || is_forced);
    if (is_ok) {
        error[0] = '\0';
        is_ok = qp_cover_count(&x) && qp_cover_place(&x);
        s->own->is_full = !is_ok;
        show(s->own);
    }
    if (is_ok) {
        add_figures(&x);
        show_all(s->own);
    }
    qp_arena_fini(&x.arena);
    return is_ok || refuse(error, what);
}
