/* banks.c: the counters of methods: whose they are, which of them are sound, and the contexts'
 * shares of them. Read qp_load_banks first. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/dict.h"
#include "base/search.h"
#include "format/tables.h"
#include "model/banks.h"

const qp_jumps *qp_bank_jumps(const qp_model_private *own, uint32_t method)
{
    if (method == QP_ROOT_METHOD)
        return NULL;
    const qp_method *r = qp_image_cell(&own->image, own->method_cells[method]);
    const qp_jumps *j = r->jumps ? qp_image_blob(&own->image, r->jumps, QP_JUMPS_HEAD) : NULL;
    uint64_t n_bytes = j ? qp_jumps_bytes(j->n_jumps, j->n_blocks) : 0;
    bool fits = j && qp_image_blob(&own->image, r->jumps, n_bytes) &&
                j->n_blocks == own->methods[method].n_blocks;
    return fits ? j : NULL;
}

static uint64_t values_of(uint32_t n_cells)
{
    return (uint64_t)(n_cells - 1) * (QP_CELL / sizeof(uint64_t));
}

static uint32_t words_of_bits(uint32_t n_bits)
{
    return (n_bits + 63) / 64;
}

static bool is_sound(const qp_model_private *own, const qp_bank *b, uint32_t method)
{
    uint32_t n_blocks = own->methods[method].n_blocks;
    if (b->n_values > values_of(b->n_cells) || b->n_blocks != n_blocks)
        return false;
    if (b->kind == QP_BANK_TIMES)
        return b->n_values == 2 * (uint64_t)n_blocks + words_of_bits(n_blocks);
    const qp_jumps *j = qp_bank_jumps(own, method);
    return b->n_values == n_blocks || (j && b->n_values == j->n_jumps) ||
           (b->kind == QP_BANK_SHARE && !b->n_values); /* calls only */
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A bank at a place, which may be anything. @return NULL: none begins there */
static const qp_bank *bank_at(const qp_model_private *own, const qp_span *s, uint32_t k)
{
    const qp_bank *b = qp_image_cell(&own->image, s->cell + k);
    return b->n_cells && b->n_cells <= s->n_used - k + 1 ? b : NULL;
}

/* What a bank held at the last clear. */
static const uint64_t *base_of(qp_model_private *own, const qp_bank *b)
{
    if (b->kind != QP_BANK_COUNTS || !b->base)
        return NULL;
    const qp_span *s = qp_salvage_span(own, b->base);
    const qp_bank *base =
        s && s->kind == QP_EXTENT_SHARES ? bank_at(own, s, b->base - s->cell) : NULL;
    bool fits = base && base->kind == QP_BANK_BASE && base->n_values == b->n_values &&
                base->n_values <= values_of(base->n_cells);
    own->n_losses[QP_LOSS_banks] += !fits;
    return fits ? base->values : NULL;
}

typedef void take_bank(qp_model_private *own, const qp_span *s, const qp_bank *b, qp_buf *to);

static void take_counters(qp_model_private *own, const qp_span *s, const qp_bank *b, qp_buf *to)
{
    uint32_t thread = qp_index_at(own, s->owner, QP_TAG_THREAD);
    uint32_t method = qp_index_at(own, b->method, QP_TAG_METHOD);
    bool is_known = b->kind == QP_BANK_COUNTS || b->kind == QP_BANK_TIMES;
    if (!method || !thread || !is_known || !is_sound(own, b, method)) {
        own->n_losses[QP_LOSS_banks]++;
        return;
    }
    qp_model_bank *fresh = own->extras[thread].is_cleared ? NULL : qp_buf_add(to);
    if (fresh)
        *fresh = (qp_model_bank){
            .method = method, .thread = thread, .bank = b, .base = base_of(own, b)};
}

static void take_share(qp_model_private *own, const qp_span *s, const qp_bank *b, qp_buf *to)
{
    (void)s;
    if (b->kind != QP_BANK_SHARE) /* the recorder's own */
        return;
    uint32_t method = qp_index_at(own, b->method, QP_TAG_METHOD);
    uint32_t context = qp_context_at(own, b->context);
    if (!method || context == own->n_contexts || !is_sound(own, b, method)) {
        own->n_losses[QP_LOSS_shares]++;
        return;
    }
    qp_model_share *fresh = qp_buf_add(to);
    if (fresh)
        *fresh = (qp_model_share){.method = method, .context = context, .bank = b};
}

static void read_span(qp_model_private *own, const qp_span *s, take_bank *take, qp_loss loss,
                      qp_buf *to)
{
    const qp_bank *b;
    for (uint32_t k = 1; k <= s->n_used; k += b->n_cells) {
        b = bank_at(own, s, k);
        if (!b) { /* where the next one begins is unknown */
            const qp_bank *bad = qp_image_cell(&own->image, s->cell + k);
            own->n_losses[loss] += bad->n_cells || bad->kind;
            return;
        }
        if (b->kind)
            take(own, s, b, to);
    }
}

/* ---- order ----------------------------------------------------------------------------------- */

static uint64_t key_of(uint32_t method, uint32_t thread)
{
    return (uint64_t)method << 32 | thread;
}

/* The first bank of a method on a thread is one of jumps or blocks, if there is one. */
static int compare_banks(const void *a, const void *b)
{
    const qp_model_bank *x = a, *y = b;
    if (x->method != y->method)
        return x->method < y->method ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->bank->kind > y->bank->kind) - (x->bank->kind < y->bank->kind);
}

static int compare_shares(const void *a, const void *b)
{
    const qp_model_share *x = a, *y = b;
    if (x->method != y->method)
        return x->method < y->method ? -1 : 1;
    return (x->context > y->context) - (x->context < y->context);
}

/* One pass over the call paths for the calls that all banks need. */
static bool count_calls(qp_model_private *own)
{
    qp_dict first;
    bool is_ok = true;
    qp_dict_init(&first);
    for (size_t i = own->n_banks; is_ok && i-- > 0;)
        is_ok = qp_dict_put(&first, key_of(own->banks[i].method, own->banks[i].thread),
                            (uint32_t)i + 1);
    for (uint32_t i = own->model.n_threads; own->n_banks && i < own->model.n_nodes; i++) {
        const qp_model_node *n = &own->nodes[i];
        uint32_t at = qp_dict_get(&first, key_of(n->method, n->thread));
        if (at)
            own->banks[at - 1].calls = qp_sum(own->banks[at - 1].calls, n->f.calls);
    }
    qp_dict_fini(&first);
    return is_ok;
}

bool qp_load_banks(qp_model_private *own)
{
    const qp_head *h = qp_image_head(&own->image);
    qp_buf banks, shares;
    qp_buf_init(&banks, sizeof(qp_model_bank));
    qp_buf_init(&shares, sizeof(qp_model_share));
    for (size_t i = 0; i < own->n_spans; i++) {
        const qp_span *s = &own->spans[i];
        if (s->kind == QP_EXTENT_BANKS)
            read_span(own, s, take_counters, QP_LOSS_banks, &banks);
        else if (s->kind == QP_EXTENT_SHARES && h->context_clears == h->clear_count)
            read_span(own, s, take_share, QP_LOSS_shares, &shares);
    }
    own->banks = qp_buf_take(&banks, &own->n_banks);
    own->shares = qp_buf_take(&shares, &own->n_shares);
    if (!own->banks || !own->shares)
        return false;
    qsort(own->banks, own->n_banks, sizeof *own->banks, compare_banks);
    qsort(own->shares, own->n_shares, sizeof *own->shares, compare_shares);
    return count_calls(own);
}

/* ---- calls ----------------------------------------------------------------------------------- */

bool qp_bank_entries(const qp_model_private *own, const qp_model_bank *b, uint64_t *n)
{
    const qp_jumps *j = qp_bank_jumps(own, b->method);
    bool is_counted = false;
    *n = 0;
    if (b->bank->kind != QP_BANK_COUNTS || !j || b->bank->n_values != j->n_jumps)
        return false;
    for (uint32_t k = 0; k < j->n_jumps; k++)
        if (j->jumps[k].from_block == QP_JUMP_ENTRY) {
            *n = qp_sum(*n, qp_bank_value(b, k));
            is_counted = true;
        }
    return is_counted;
}

void qp_bank_calls(const qp_model *m, uint32_t thread, qp_figures *out)
{
    const qp_model_private *own = m->own;
    uint32_t method = QP_ROOT_METHOD; /* whose calls of the tree were taken off */
    for (size_t i = 0; !m->run.is_profile && i < own->n_banks; i++) {
        const qp_model_bank *b = &own->banks[i];
        qp_figures *f = &out[b->method], *root = &out[QP_ROOT_METHOD];
        uint64_t n;
        if ((thread != QP_ALL_THREADS && b->thread != thread) || !qp_bank_entries(own, b, &n))
            continue;
        if (method != b->method) {
            method = b->method;
            root->hits -= f->hits;
            root->calls -= f->hits;
            f->calls -= f->hits;
            f->hits = 0;
        }
        f->hits = qp_sum(f->hits, n);
        f->calls = qp_sum(f->calls, n);
        root->hits = qp_sum(root->hits, n);
        root->calls = qp_sum(root->calls, n);
    }
}

/* ---- finding --------------------------------------------------------------------------------- */

const qp_model_bank *qp_bank_first(const qp_model_private *own, uint32_t method)
{
    return own->banks + QP_SEARCH(own->banks, own->n_banks, method, method);
}

const qp_model_share *qp_share_first(const qp_model_private *own, uint32_t method)
{
    return own->shares + QP_SEARCH(own->shares, own->n_shares, method, method);
}
