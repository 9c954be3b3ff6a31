/* counter_blocks.c: the counters of methods, the shares that contexts have of them, and the
 * digests of sources. Start reading at qp_load_counter_blocks(). */
#include <stdlib.h>

#include "base/containers/dict.h"
#include "base/containers/search.h"
#include "format/layout.h"
#include "model/read/read.h"

const qp_jumps *qp_counter_block_jumps(const qp_model_private *own, uint32_t method)
{
    if (method == QP_ROOT_METHOD)
        return NULL;
    const qp_method *r = qp_image_cell(&own->image, own->method_cells[method]);
    const qp_jumps *j = qp_bytes_jumps(qp_image_bytes(&own->image), r->jumps);
    return j && j->n_blocks == own->methods[method].n_blocks ? j : NULL;
}

static uint64_t values_of(uint32_t n_cells)
{
    return (uint64_t)(n_cells - 1) * (QP_CELL / sizeof(uint64_t));
}

static bool is_sound(const qp_model_private *own, const qp_counter_block *b, uint32_t method)
{
    uint32_t n_blocks = own->methods[method].n_blocks;
    if (b->n_values > values_of(b->n_cells) || b->n_blocks != n_blocks)
        return false;
    if (b->kind == QP_COUNTER_BLOCK_TIMES)
        return b->n_values == 2 * (uint64_t)n_blocks + (n_blocks + 63) / 64;
    if (b->kind == QP_COUNTER_BLOCK_SAMPLES)
        return b->n_values == n_blocks;
    if (b->kind == QP_COUNTER_BLOCK_MEMORY)
        return b->n_values == 2 * (uint64_t)n_blocks;
    const qp_jumps *j = qp_counter_block_jumps(own, method);
    return b->n_values == n_blocks || (j && b->n_values == j->n_jumps) ||
           (b->kind == QP_COUNTER_BLOCK_SHARE && !b->n_values); /* calls only */
}

/* ---- reading ----------------------------------------------------------------------------- */

/* The counter block at cell k of an extent, which may be damaged; NULL: none begins there. */
static const qp_counter_block *block_at(const qp_model_private *own, const qp_model_extent *s,
                                        uint32_t k)
{
    const qp_counter_block *b = qp_image_cell(&own->image, s->cell + k);
    return b->n_cells && b->n_cells <= s->n_used - k + 1 ? b : NULL;
}

/* The values of a counter block at the last clear. */
static const uint64_t *base_of(qp_model_private *own, const qp_counter_block *b)
{
    if (b->kind != QP_COUNTER_BLOCK_COUNTS || !b->base)
        return NULL;
    const qp_model_extent *s = qp_salvage_extent(own, b->base);
    const qp_counter_block *base =
        s && s->kind == QP_EXTENT_SHARES ? block_at(own, s, b->base - s->cell) : NULL;
    bool fits = base && base->kind == QP_COUNTER_BLOCK_BASE && base->n_values == b->n_values &&
                base->n_values <= values_of(base->n_cells);
    own->n_losses[QP_LOSS_counter_blocks] += !fits;
    return fits ? base->values : NULL;
}

typedef void take_block(qp_model_private *own, const qp_model_extent *s,
                        const qp_counter_block *b, qp_buf *to);

static void take_counters(qp_model_private *own, const qp_model_extent *s,
                          const qp_counter_block *b, qp_buf *to)
{
    uint32_t thread = qp_index_at(own, s->owner, QP_TAG_THREAD);
    uint32_t method = qp_index_at(own, b->method, QP_TAG_METHOD);
    bool is_known = b->kind == QP_COUNTER_BLOCK_COUNTS || b->kind == QP_COUNTER_BLOCK_TIMES ||
                    b->kind == QP_COUNTER_BLOCK_SAMPLES || b->kind == QP_COUNTER_BLOCK_MEMORY;
    if (!method || !thread || !is_known || !is_sound(own, b, method)) {
        own->n_losses[QP_LOSS_counter_blocks]++;
        return;
    }
    qp_model_counter_block *fresh = own->extras[thread].is_cleared ? NULL : qp_buf_add(to);
    if (fresh)
        *fresh = (qp_model_counter_block){
            .method = method, .thread = thread, .counters = b, .base = base_of(own, b)};
}

static void take_share(qp_model_private *own, const qp_model_extent *s,
                       const qp_counter_block *b, qp_buf *to)
{
    (void)s;
    if (b->kind != QP_COUNTER_BLOCK_SHARE) /* the recorder's own */
        return;
    uint32_t method = qp_index_at(own, b->method, QP_TAG_METHOD);
    uint32_t context = qp_context_at(own, b->context);
    if (!method || context == own->n_contexts || !is_sound(own, b, method)) {
        own->n_losses[QP_LOSS_shares]++;
        return;
    }
    qp_model_share *fresh = qp_buf_add(to);
    if (fresh)
        *fresh = (qp_model_share){.method = method, .context = context, .counters = b};
}

static void read_span(qp_model_private *own, const qp_model_extent *s, take_block *take,
                      qp_loss loss, qp_buf *to)
{
    const qp_counter_block *b;
    for (uint32_t k = 1; k <= s->n_used; k += b->n_cells) {
        b = block_at(own, s, k);
        if (!b) { /* where the next one begins is unknown */
            const qp_counter_block *bad = qp_image_cell(&own->image, s->cell + k);
            own->n_losses[loss] += bad->n_cells || bad->kind;
            return;
        }
        if (b->kind)
            take(own, s, b, to);
    }
}

/* ---- order ------------------------------------------------------------------------------- */

static uint64_t key_of(uint32_t method, uint32_t thread)
{
    return (uint64_t)method << 32 | thread;
}

/* Of a method on a thread, blocks that count come before those with times. */
static int compare_blocks(const void *a, const void *b)
{
    const qp_model_counter_block *x = a, *y = b;
    int c = QP_ORDER(x->method, y->method);
    c = c ? c : QP_ORDER(x->thread, y->thread);
    return c ? c : QP_ORDER(x->counters->kind, y->counters->kind);
}

static int compare_shares(const void *a, const void *b)
{
    const qp_model_share *x = a, *y = b;
    int c = QP_ORDER(x->method, y->method);
    return c ? c : QP_ORDER(x->context, y->context);
}

/* Count the calls of each counter block's method in one pass over the call paths. */
static bool count_calls(qp_model_private *own)
{
    qp_dict first = {0};
    bool is_ok = true;
    for (size_t i = own->n_counter_blocks; is_ok && i-- > 0;)
        is_ok = qp_dict_put(
            &first, key_of(own->counter_blocks[i].method, own->counter_blocks[i].thread),
            (uint32_t)i + 1);
    for (uint32_t i = own->model.n_threads; own->n_counter_blocks && i < own->model.n_nodes;
         i++) {
        const qp_model_node *n = &own->nodes[i];
        uint32_t at = qp_dict_get(&first, key_of(n->method, n->thread));
        if (at)
            own->counter_blocks[at - 1].calls =
                qp_sum(own->counter_blocks[at - 1].calls, n->f.calls);
    }
    qp_dict_fini(&first);
    return is_ok;
}

bool qp_load_counter_blocks(qp_model_private *own)
{
    const qp_head *h = qp_image_head(&own->image);
    qp_buf counter_blocks = QP_BUF(qp_model_counter_block), shares = QP_BUF(qp_model_share);
    for (size_t i = 0; i < own->n_spans; i++) {
        const qp_model_extent *s = &own->spans[i];
        if (s->kind == QP_EXTENT_BANKS)
            read_span(own, s, take_counters, QP_LOSS_counter_blocks, &counter_blocks);
        else if (s->kind == QP_EXTENT_SHARES && h->context_clears == h->clear_count)
            read_span(own, s, take_share, QP_LOSS_shares, &shares);
    }
    own->counter_blocks = qp_buf_take(&counter_blocks, &own->n_counter_blocks);
    own->shares = qp_buf_take(&shares, &own->n_shares);
    if (!own->counter_blocks || !own->shares)
        return false;
    qsort(own->counter_blocks, own->n_counter_blocks, sizeof *own->counter_blocks,
          compare_blocks);
    qsort(own->shares, own->n_shares, sizeof *own->shares, compare_shares);
    return count_calls(own);
}

/* ---- calls ------------------------------------------------------------------------------- */

bool qp_counter_block_entries(const qp_model_private *own, const qp_model_counter_block *b,
                              uint64_t *n)
{
    const qp_jumps *j = qp_counter_block_jumps(own, b->method);
    bool is_counted = false;
    *n = 0;
    if (b->counters->kind != QP_COUNTER_BLOCK_COUNTS || !j ||
        b->counters->n_values != j->n_jumps)
        return false;
    for (uint32_t k = 0; k < j->n_jumps; k++)
        if (j->jumps[k].from_block == QP_JUMP_ENTRY) {
            *n = qp_sum(*n, qp_counter_block_value(b, k));
            is_counted = true;
        }
    return is_counted;
}

void qp_counter_block_calls(const qp_model *m, uint32_t thread, qp_figures *out)
{
    const qp_model_private *own = m->own;
    uint32_t method = QP_ROOT_METHOD; /* whose calls of the tree were taken off */
    for (size_t i = 0; !m->run.is_profile && i < own->n_counter_blocks; i++) {
        const qp_model_counter_block *b = &own->counter_blocks[i];
        qp_figures *f = &out[b->method], *root = &out[QP_ROOT_METHOD];
        uint64_t n;
        if ((thread != QP_ALL_THREADS && b->thread != thread) ||
            !qp_counter_block_entries(own, b, &n))
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

/* ---- finding ----------------------------------------------------------------------------- */

const qp_model_counter_block *qp_counter_block_first(const qp_model_private *own,
                                                     uint32_t method)
{
    return own->counter_blocks +
           QP_SEARCH(own->counter_blocks, own->n_counter_blocks, method, method);
}

const qp_model_share *qp_share_first(const qp_model_private *own, uint32_t method)
{
    return own->shares + QP_SEARCH(own->shares, own->n_shares, method, method);
}

/* ---- contexts and sources ---------------------------------------------------------------- */

void qp_load_cells(qp_model_private *own, qp_extent_kind kind,
                   void (*read)(qp_model_private *own, qp_cell cell, qp_buf *to), qp_buf *to)
{
    for (size_t i = 0; i < own->n_spans; i++) {
        const qp_model_extent *s = &own->spans[i];
        for (uint32_t k = 1; s->kind == kind && k <= s->n_used; k++)
            read(own, s->cell + k, to);
    }
}

static void read_context(qp_model_private *own, qp_cell cell, qp_buf *to)
{
    const qp_context *r = qp_image_cell(&own->image, cell);
    own->n_losses[QP_LOSS_contexts] += r->published > 1;
    qp_model_context *fresh = r->published == 1 ? qp_buf_add(to) : NULL;
    if (fresh)
        *fresh = (qp_model_context){qp_load_text(own, r->name), cell};
}

bool qp_load_contexts(qp_model_private *own)
{
    size_t n;
    qp_buf contexts = QP_BUF(qp_model_context);
    qp_load_cells(own, QP_EXTENT_CONTEXTS, read_context, &contexts);
    own->contexts = qp_buf_take(&contexts, &n);
    own->n_contexts = (uint32_t)n; /* fewer than cells */
    return own->contexts != NULL;
}

uint32_t qp_context_at(const qp_model_private *own, qp_cell cell)
{
    uint32_t at = (uint32_t)QP_SEARCH(own->contexts, own->n_contexts, cell, cell);
    return at < own->n_contexts && own->contexts[at].cell == cell ? at : own->n_contexts;
}

static void read_source(qp_model_private *own, qp_cell cell, qp_buf *to)
{
    const qp_source_record *r = qp_image_cell(&own->image, cell);
    own->n_losses[QP_LOSS_sources] += r->published > 1;
    const char *path = r->published == 1 ? qp_load_text(own, r->path) : "";
    qp_model_text *fresh = path[0] ? qp_buf_add(to) : NULL;
    if (fresh)
        *fresh = (qp_model_text){path, r->digest, r->n_bytes};
}

bool qp_load_sources(qp_model_private *own)
{
    qp_buf texts = QP_BUF(qp_model_text);
    qp_load_cells(own, QP_EXTENT_SOURCES, read_source, &texts);
    own->texts = qp_buf_take(&texts, &own->n_texts);
    return own->texts != NULL;
}
