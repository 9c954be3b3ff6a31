/* lines.c: blocks, jumps, lines and files, from counters. Start reading at add_counters(). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/containers/search.h"
#include "model/figures/figures.h"
#include "model/read/read.h"

/* ---- blocks ------------------------------------------------------------------------------ */

static void add_times(qp_block_figures *blocks, const qp_counter_block *b)
{
    const uint64_t *marked = &b->values[2 * (size_t)b->n_blocks];
    for (uint32_t i = 0; i < b->n_blocks; i++) {
        blocks[i].self = qp_sum(blocks[i].self, b->values[2 * (size_t)i]);
        blocks[i].total = qp_sum(blocks[i].total, b->values[2 * (size_t)i + 1]);
        blocks[i].is_timed |= marked[i / 64] >> i % 64 & 1;
    }
}

static void add_count(qp_block_figures *block, uint64_t n, bool is_once)
{
    block->count = qp_sum(block->count, n);
    if (is_once && block->count)
        block->count = 1;
    block->is_counted = true;
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

/* Whether a counter block counts jumps. */
static bool has_jumps(const qp_block_flow *f, const qp_model_counter_block *b)
{
    return f->jumps && b->counters->kind == QP_COUNTER_BLOCK_COUNTS &&
           b->counters->n_values == f->jumps->n_jumps;
}

/* Solve the jumps of a method together, on one thread or on all, because several OS threads may
 * have run a virtual thread. @return false: none were counted */
static bool solve_jumps(const qp_model *m, uint32_t method, uint32_t thread, qp_block_flow *f)
{
    const qp_model_private *own = m->own;
    const qp_model_counter_block *end = own->counter_blocks + own->n_counter_blocks;
    bool is_counted = false;
    for (const qp_model_counter_block *b = qp_counter_block_first(own, method);
         b < end && b->method == method; b++) {
        if ((thread != QP_ALL_THREADS && b->thread != thread) || !has_jumps(f, b))
            continue;
        for (uint32_t k = 0; k < b->counters->n_values; k++)
            f->counted[k] += qp_counter_block_value(b, k);
        f->entries += b->calls;
        is_counted = true;
    }
    if (!is_counted)
        return false;
    if (m->run.is_virtual) /* counters belong to OS threads, calls to virtual threads */
        f->entries = m->methods[method].all.calls;
    qp_block_flow_solve(f);
    return true;
}

/* Add up the counter blocks of a method on one thread or on all. */
static void add_counters(const qp_model *m, uint32_t method, uint32_t thread, qp_block_flow *f,
                         qp_block_figures *blocks)
{
    const qp_model_private *own = m->own;
    const qp_model_counter_block *end = own->counter_blocks + own->n_counter_blocks;
    for (const qp_model_counter_block *b = qp_counter_block_first(own, method);
         b < end && b->method == method; b++) {
        if ((thread != QP_ALL_THREADS && b->thread != thread) || has_jumps(f, b))
            continue;
        if (b->counters->kind == QP_COUNTER_BLOCK_TIMES) {
            if (!own->has_units)
                add_times(blocks, b->counters);
        } else if (b->counters->kind == QP_COUNTER_BLOCK_MEMORY) {
            for (uint32_t i = 0; i < f->n_blocks; i++) {
                blocks[i].bytes = qp_sum(blocks[i].bytes, b->counters->values[2 * (size_t)i]);
                blocks[i].objects =
                    qp_sum(blocks[i].objects, b->counters->values[2 * (size_t)i + 1]);
            }
        } else if (b->counters->kind == QP_COUNTER_BLOCK_COUNTS) {
            for (uint32_t i = 0; i < f->n_blocks; i++)
                add_count(&blocks[i], qp_counter_block_value(b, i), m->run.is_once);
        }
    }
    if (!solve_jumps(m, method, thread, f))
        return;
    for (uint32_t i = 0; i < f->n_blocks; i++)
        add_count(&blocks[i], qp_wide_count(f->blocks[i]), m->run.is_once);
}

/* ---- samples ----------------------------------------------------------------------------- */

/* Divide the self time of the method among its blocks as its samples are, of which it has n on all
 * threads. The interval is that of a part of n samples, after Agresti and Coull 1998, and of the
 * method's own time. */
static void estimate_block(const qp_figures *method, double n, qp_block_figures *block)
{
    double part = (double)block->samples / n;
    double near = (part * n + 2) / (n + 4);
    double drawn = QP_INTERVAL_95 * (double)method->self * sqrt(near * (1 - near) / (n + 4));
    block->is_sampled = true;
    block->self = (uint64_t)((double)method->self * part + 0.5);
    block->self_half = (uint64_t)(hypot(drawn, (double)method->self_half * part) + 0.5);
}

/* Count samples of blocks, and estimate their times unless a block of the method was timed. */
static void estimate_blocks(const qp_model *m, uint32_t method, uint32_t thread,
                            qp_block_figures *blocks, size_t n_blocks)
{
    const qp_model_private *own = m->own;
    const qp_model_counter_block *end = own->counter_blocks + own->n_counter_blocks,
                                 *b = qp_counter_block_first(own, method);
    double n = 0;
    bool is_timed = false;
    for (; b < end && b->method == method; b++)
        for (size_t i = 0; b->counters->kind == QP_COUNTER_BLOCK_SAMPLES && i < n_blocks; i++) {
            uint64_t of_block = b->counters->values[i];
            n += (double)of_block;
            if (thread == QP_ALL_THREADS || b->thread == thread)
                blocks[i].samples = qp_sum(blocks[i].samples, of_block);
        }
    for (size_t i = 0; i < n_blocks; i++)
        is_timed |= blocks[i].is_timed;
    while (m->own->uncollapsed) /* where the method has its own time alone */
        m = m->own->uncollapsed;
    for (size_t i = 0; i < n_blocks && !is_timed; i++)
        if (blocks[i].samples && m->run.has_times)
            estimate_block(&m->methods[method].all, n, &blocks[i]);
}

/* ---- instructions ------------------------------------------------------------------------ */

static void count_instructions(const qp_model_method *k, qp_block_figures *blocks)
{
    for (uint32_t i = 0; k->sizes && i < k->n_blocks; i++)
        if (__builtin_mul_overflow(blocks[i].count, k->sizes[i], &blocks[i].instructions))
            blocks[i].instructions = UINT64_MAX;
}

bool qp_derive_instructions(qp_model_private *own)
{
    qp_run_info *run = &own->model.run;
    for (uint32_t i = 1; i < own->model.n_methods && !run->is_once; i++) {
        qp_model_method *k = &own->methods[i];
        qp_block_figures *blocks;
        size_t n;
        if (!k->sizes)
            continue;
        if (!qp_model_blocks(&own->model, i, QP_ALL_THREADS, &blocks, &n))
            return false;
        for (size_t j = 0; j < n; j++) {
            run->has_instructions |= blocks[j].is_counted;
            k->instructions = qp_sum(k->instructions, blocks[j].instructions);
        }
        qp_free(blocks);
    }
    return true;
}

bool qp_model_blocks(const qp_model *m, uint32_t method, uint32_t thread,
                     qp_block_figures **out, size_t *n)
{
    const qp_model_private *own = m->own;
    const qp_model_method *k = &m->methods[method];
    qp_block_figures *blocks = qp_alloc_zeroed(k->n_blocks, sizeof *blocks);
    qp_block_flow f;
    *out = NULL;
    *n = 0;
    if (!blocks || !qp_block_flow_init(&f, qp_counter_block_jumps(own, method), k->n_blocks)) {
        qp_free(blocks);
        return false;
    }
    for (uint32_t i = 0; i < k->n_blocks; i++) {
        blocks[i].line = k->lines[i].line;
        blocks[i].code_offset = k->lines[i].code_offset;
    }
    add_counters(m, method, thread, &f, blocks);
    add_open_blocks(own, method, thread, blocks, k->n_blocks);
    qp_block_flow_fini(&f);
    estimate_blocks(m, method, thread, blocks, k->n_blocks);
    count_instructions(k, blocks);
    *out = blocks;
    *n = k->n_blocks;
    return true;
}

/* ---- jumps ------------------------------------------------------------------------------- */

static void list_jumps(const qp_model *m, uint32_t method, const qp_block_flow *f,
                       const uint32_t *ways_out, qp_buf *out)
{
    const qp_line *lines = m->methods[method].lines;
    for (uint32_t k = 0; k < f->jumps->n_jumps; k++) {
        qp_jump jump = f->jumps->jumps[k];
        qp_jump_figures *to = qp_block_flow_is_way(f, k) ? qp_buf_add(out) : NULL;
        if (!to)
            continue;
        uint64_t taken = qp_wide_count(f->counted[k]);
        uint64_t executed = qp_wide_count(f->blocks[jump.from_block]);
        *to = (qp_jump_figures){.from_line = lines[jump.from_block].line,
                                .to_line = lines[jump.to_block].line,
                                .is_conditional = ways_out[jump.from_block] > 1,
                                .taken = m->run.is_once ? taken > 0 : taken,
                                .executed = m->run.is_once ? executed > 0 : executed};
    }
}

bool qp_model_jumps(const qp_model *m, uint32_t method, uint32_t thread, qp_jump_figures **out,
                    size_t *n)
{
    uint32_t n_blocks = m->methods[method].n_blocks;
    /* of each block to another */
    uint32_t *ways_out = qp_alloc_zeroed(n_blocks, sizeof *ways_out);
    qp_buf jumps = QP_BUF(qp_jump_figures);
    qp_block_flow f;
    *out = NULL;
    *n = 0;
    if (!ways_out ||
        !qp_block_flow_init(&f, qp_counter_block_jumps(m->own, method), n_blocks)) {
        qp_free(ways_out);
        return false;
    }
    if (solve_jumps(m, method, thread, &f)) {
        for (uint32_t k = 0; k < f.jumps->n_jumps; k++)
            if (qp_block_flow_is_way(&f, k))
                ways_out[f.jumps->jumps[k].from_block]++;
        for (uint32_t i = 0; i < n_blocks; i++)
            ways_out[i] += qp_block_flow_falls(&f, i);
        list_jumps(m, method, &f, ways_out, &jumps);
    }
    qp_block_flow_fini(&f);
    qp_free(ways_out);
    *out = qp_buf_take(&jumps, n);
    return *out != NULL;
}

/* ---- lines ------------------------------------------------------------------------------- */

static void add_block(qp_buf *lines, qp_dict *known, const qp_block_figures *b)
{
    bool is_new;
    uint32_t at = b->line > 0 ? qp_buf_keyed(lines, known, (uint32_t)b->line, &is_new) : 0;
    if (!at)
        return;
    qp_line_figures *l = (qp_line_figures *)lines->items + at - 1;
    l->line = (uint32_t)b->line;
    l->n_blocks++;
    l->n_missed += b->is_counted && !b->count && !b->is_timed && !b->samples;
    l->is_counted |= b->is_counted;
    l->is_timed |= b->is_timed;
    l->is_sampled |= b->is_sampled;
    l->samples = qp_sum(l->samples, b->samples);
    l->instructions = qp_sum(l->instructions, b->instructions);
    l->bytes = qp_sum(l->bytes, b->bytes);
    l->objects = qp_sum(l->objects, b->objects);
    l->self_half = (uint64_t)(hypot((double)l->self_half, (double)b->self_half) + 0.5);
    l->count = b->count > l->count ? b->count : l->count;
    l->self = qp_sum(l->self, b->self);
    l->total = qp_sum(l->total, b->total);
}

static int compare_lines(const void *a, const void *b)
{
    const qp_line_figures *x = a, *y = b;
    return QP_ORDER(x->line, y->line);
}

bool qp_model_lines(const qp_model *m, const char *file, uint32_t method, uint32_t thread,
                    qp_line_figures **out, size_t *n)
{
    qp_buf lines = QP_BUF(qp_line_figures);
    qp_dict known = {0};
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

/* ---- files ------------------------------------------------------------------------------- */

static int compare_files(const void *a, const void *b)
{
    const qp_model_file *x = a, *y = b;
    int c = QP_ORDER(y->self, x->self);
    return c ? c : strcmp(x->path, y->path);
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
    qp_buf files = QP_BUF(qp_model_file);
    qp_dict known = {0};
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
