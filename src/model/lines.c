/* lines.c: from the counters of blocks to blocks, lines and files. Read count_from_jumps first. */
#include "model/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/dict.h"
#include "model/private.h"

/* ---- banks ----------------------------------------------------------------------------------- */

static uint64_t values_of(uint32_t n_cells)
{
    return (uint64_t)(n_cells - 1) * (QP_CELL / sizeof(uint64_t));
}

static uint32_t words_of_bits(uint32_t n_bits)
{
    return (n_bits + 63) / 64;
}

static const qp_jumps *jumps_of(const qp_model_private *own, uint32_t method)
{
    enum { BEFORE = offsetof(qp_jumps, jumps) };
    const qp_method *r = qp_image_cell(&own->image, own->method_cells[method]);
    const qp_jumps *j = r->jumps ? qp_image_blob(&own->image, r->jumps, BEFORE) : NULL;
    uint64_t n_bytes = j ? BEFORE + j->n_jumps * (uint64_t)sizeof(qp_jump) + j->n_blocks : 0;
    bool fits = j && qp_image_blob(&own->image, r->jumps, n_bytes) &&
                j->n_blocks == own->methods[method].n_blocks;
    return fits ? j : NULL;
}

static bool is_sound(const qp_model_private *own, const qp_bank *b, uint32_t method)
{
    uint32_t n_blocks = own->methods[method].n_blocks;
    if (b->n_values > values_of(b->n_cells) || b->n_blocks != n_blocks)
        return false;
    if (b->kind == QP_BANK_TIMES)
        return b->n_values == 2 * (uint64_t)n_blocks + words_of_bits(n_blocks);
    const qp_jumps *j = jumps_of(own, method);
    return b->kind == QP_BANK_COUNTS &&
           (b->n_values == n_blocks || (j && b->n_values == j->n_jumps));
}

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

static void read_span(qp_model_private *own, const qp_span *s, qp_buf *banks)
{
    uint32_t thread = qp_index_at(own, s->owner, QP_TAG_THREAD);
    for (uint32_t k = 1; k <= s->n_used;) {
        const qp_bank *b = qp_image_cell(&own->image, s->cell + k);
        if (!b->n_cells || b->n_cells > s->n_used - k + 1) {
            own->n_losses[QP_LOSS_banks] += b->n_cells || b->kind;
            return; /* where the next one begins is unknown */
        }
        k += b->n_cells;
        if (!b->kind)
            continue;
        uint32_t method = qp_index_at(own, b->method, QP_TAG_METHOD);
        if (!method || !thread || !is_sound(own, b, method)) {
            own->n_losses[QP_LOSS_banks]++;
            continue;
        }
        qp_model_bank *to = own->extras[thread].is_cleared ? NULL : qp_buf_add(banks);
        if (to)
            *to = (qp_model_bank){.method = method, .thread = thread, .bank = b};
    }
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
    qp_buf banks;
    qp_buf_init(&banks, sizeof(qp_model_bank));
    for (size_t i = 0; i < own->n_spans; i++)
        if (own->spans[i].kind == QP_EXTENT_BANKS)
            read_span(own, &own->spans[i], &banks);
    own->banks = qp_buf_take(&banks, &own->n_banks);
    if (!own->banks)
        return false;
    qsort(own->banks, own->n_banks, sizeof *own->banks, compare_banks);
    return count_calls(own);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static const qp_model_bank *first_bank(const qp_model_private *own, uint32_t method)
{
    size_t low = 0, high = own->n_banks;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (own->banks[middle].method < method)
            low = middle + 1;
        else
            high = middle;
    }
    return own->banks + low;
}

static void add_times(qp_block_figures *blocks, const qp_bank *b)
{
    const uint64_t *marked = &b->values[2 * (size_t)b->n_blocks];
    for (uint32_t i = 0; i < b->n_blocks; i++) {
        blocks[i].self = qp_sum(blocks[i].self, b->values[2 * (size_t)i]);
        blocks[i].total = qp_sum(blocks[i].total, b->values[2 * (size_t)i + 1]);
        blocks[i].is_timed |= marked[i / 64] >> i % 64 & 1;
    }
}

/* How often blocks of a method were entered and left by a jump, or left in mid-block. */
typedef struct {
    const qp_jumps *jumps; /* NULL: the host counts blocks themselves, or nothing */
    int64_t *in, *out;     /* [n_blocks] each */
    uint64_t calls;        /* that the counters have seen */
    bool has_counters;
} traffic;

static void add_jumps(traffic *t, const qp_bank *b)
{
    const qp_jumps *j = t->jumps;
    t->has_counters = true;
    for (uint32_t k = 0; k < j->n_jumps; k++) {
        qp_jump jump = j->jumps[k];
        int64_t n = b->values[k] < INT64_MAX / 4 ? (int64_t)b->values[k] : 0;
        bool leaves = jump.from_block < 0;
        uint32_t from = (uint32_t)(leaves ? jump.to_block : jump.from_block);
        uint32_t to = (uint32_t)jump.to_block;
        if (from < j->n_blocks && t->out[from] < INT64_MAX / 2)
            t->out[from] += n;
        if (!leaves && to < j->n_blocks && t->in[to] < INT64_MAX / 2)
            t->in[to] += n;
    }
}

/* Every activation begins in block 0. A block is executed when it is jumped to or fallen into;
 * what falls into it is what came into the block before less what left that one. */
static void count_from_jumps(const traffic *t, qp_block_figures *blocks)
{
    const qp_jumps *j = t->jumps;
    const unsigned char *falls = (const unsigned char *)&j->jumps[j->n_jumps];
    int64_t fallen = t->calls < INT64_MAX / 4 ? (int64_t)t->calls : 0;
    for (uint32_t i = 0; i < j->n_blocks; i++) {
        int64_t n;
        if (__builtin_add_overflow(fallen, t->in[i], &n))
            n = 0;
        blocks[i].count = qp_sum(blocks[i].count, (uint64_t)n);
        blocks[i].is_counted = true;
        fallen = falls[i] && n > t->out[i] ? n - t->out[i] : 0;
    }
}

static void count_directly(const qp_bank *b, qp_block_figures *blocks)
{
    for (uint32_t i = 0; i < b->n_blocks; i++) {
        blocks[i].count = qp_sum(blocks[i].count, b->values[i]);
        blocks[i].is_counted = true;
    }
}

static void add_open_blocks(const qp_model_private *own, uint32_t method, uint32_t thread,
                            qp_block_figures *blocks, size_t n)
{
    for (size_t i = 0; i < own->n_open_blocks; i++) {
        const qp_open_block *b = &own->open_blocks[i];
        bool is_on = thread == QP_ALL_THREADS || b->thread == thread;
        if (b->method != method || !is_on || b->block >= n)
            continue;
        blocks[b->block].self = qp_sum(blocks[b->block].self, b->self);
        blocks[b->block].total = qp_sum(blocks[b->block].total, b->total);
        blocks[b->block].is_timed = true;
    }
}

/* Add up the banks of a method on one thread or on all; the jumps of all are resolved together,
 * because a virtual thread may have been driven by several carriers. */
static void add_banks(const qp_model *m, uint32_t method, uint32_t thread, traffic *t,
                      qp_block_figures *blocks)
{
    const qp_model_private *own = m->own;
    const qp_model_bank *end = own->banks + own->n_banks;
    for (const qp_model_bank *b = first_bank(own, method); b < end && b->method == method;
         b++) {
        if (thread != QP_ALL_THREADS && b->thread != thread)
            continue;
        if (b->bank->kind == QP_BANK_TIMES) {
            add_times(blocks, b->bank);
        } else if (t->jumps && b->bank->n_values == t->jumps->n_jumps) {
            add_jumps(t, b->bank);
            t->calls = qp_sum(t->calls, b->calls);
        } else {
            count_directly(b->bank, blocks);
        }
    }
    if (m->run.is_virtual) /* counters belong to carriers, calls to virtual threads */
        t->calls = m->methods[method].all.calls;
    if (t->has_counters)
        count_from_jumps(t, blocks);
}

bool qp_model_blocks(const qp_model *m, uint32_t method, uint32_t thread,
                     qp_block_figures **out, size_t *n)
{
    const qp_model_private *own = m->own;
    const qp_model_method *k = &m->methods[method];
    qp_block_figures *blocks = qp_alloc_zeroed(k->n_blocks, sizeof *blocks);
    int64_t *in_out = qp_alloc_zeroed(2 * (size_t)k->n_blocks, sizeof *in_out);
    *out = NULL;
    *n = 0;
    if (!blocks || !in_out) {
        qp_free(blocks);
        qp_free(in_out);
        return false;
    }
    for (uint32_t i = 0; i < k->n_blocks; i++) {
        blocks[i].line = k->lines[i].line;
        blocks[i].code_offset = k->lines[i].code_offset;
    }
    traffic t = {.in = in_out, .out = in_out + k->n_blocks};
    t.jumps = method != QP_ROOT_METHOD ? jumps_of(own, method) : NULL;
    add_banks(m, method, thread, &t, blocks);
    add_open_blocks(own, method, thread, blocks, k->n_blocks);
    qp_free(in_out);
    *out = blocks;
    *n = k->n_blocks;
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void add_block(qp_buf *lines, qp_dict *known, const qp_block_figures *b)
{
    uint32_t at = b->line > 0 ? qp_dict_get(known, (uint32_t)b->line) : 0;
    if (b->line <= 0)
        return;
    if (!at) {
        qp_line_figures *fresh = qp_buf_add(lines);
        at = (uint32_t)lines->n;
        if (!fresh || !qp_dict_put(known, (uint32_t)b->line, at)) {
            lines->failed = true;
            return;
        }
        fresh->line = (uint32_t)b->line;
    }
    qp_line_figures *l = (qp_line_figures *)lines->items + at - 1;
    l->n_blocks++;
    l->n_missed += b->is_counted && !b->count && !b->is_timed;
    l->is_counted |= b->is_counted;
    l->is_timed |= b->is_timed;
    l->count = b->count > l->count ? b->count : l->count;
    l->self = qp_sum(l->self, b->self);
    l->total = qp_sum(l->total, b->total);
}

static int compare_lines(const void *a, const void *b)
{
    const qp_line_figures *x = a, *y = b;
    return (x->line > y->line) - (x->line < y->line);
}

bool qp_model_lines(const qp_model *m, const char *file, uint32_t method, uint32_t thread,
                    qp_line_figures **out, size_t *n)
{
    qp_buf lines;
    qp_dict known;
    qp_buf_init(&lines, sizeof(qp_line_figures));
    qp_dict_init(&known);
    for (uint32_t i = 1; i < m->n_methods && !lines.failed; i++) {
        qp_block_figures *blocks;
        size_t n_blocks;
        if ((method && i != method) || !m->methods[i].n_blocks ||
            (m->methods[i].file != file && strcmp(m->methods[i].file, file) != 0))
            continue;
        if (!qp_model_blocks(m, i, thread, &blocks, &n_blocks)) {
            lines.failed = true;
            break;
        }
        for (size_t k = 0; k < n_blocks; k++)
            add_block(&lines, &known, &blocks[k]);
        qp_free(blocks);
    }
    qp_dict_fini(&known);
    *out = qp_buf_take(&lines, n);
    if (*out)
        qsort(*out, *n, sizeof **out, compare_lines);
    return *out != NULL;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int compare_files(const void *a, const void *b)
{
    const qp_model_file *x = a, *y = b;
    if (x->self != y->self)
        return x->self < y->self ? 1 : -1;
    return strcmp(x->path, y->path);
}

/* The row of a file: by where its name lies, which is nearly always the same place, else by the
 * name. @return its index + 1; 0: no memory */
static uint32_t row_of_file(qp_buf *files, qp_dict *known, const char *path)
{
    uint64_t place = (uint64_t)(uintptr_t)path;
    uint32_t at = qp_dict_get(known, place);
    if (at)
        return at;
    uint64_t hash = qp_hash_bytes(QP_HASH_START, path, strlen(path));
    at = qp_dict_get(known, hash);
    if (!at || strcmp(((qp_model_file *)files->items)[at - 1].path, path) != 0) {
        qp_model_file *fresh = qp_buf_add(files);
        if (!fresh)
            return 0;
        fresh->path = path;
        at = (uint32_t)files->n;
    }
    return qp_dict_put(known, place, at) && qp_dict_put(known, hash, at) ? at : 0;
}

bool qp_model_files(const qp_model *m, qp_model_file **out, size_t *n)
{
    qp_buf files;
    qp_dict known;
    qp_buf_init(&files, sizeof(qp_model_file));
    qp_dict_init(&known);
    for (uint32_t i = 1; i < m->n_methods && !files.failed; i++) {
        const qp_model_method *k = &m->methods[i];
        uint32_t at = k->file[0] ? row_of_file(&files, &known, k->file) : 0;
        if (at) {
            qp_model_file *f = (qp_model_file *)files.items + at - 1;
            f->n_methods++;
            f->self = qp_sum(f->self, k->all.self);
        } else {
            files.failed |= k->file[0] != '\0';
        }
    }
    qp_dict_fini(&known);
    *out = qp_buf_take(&files, n);
    if (*out)
        qsort(*out, *n, sizeof **out, compare_files);
    return *out != NULL;
}
