/* cover_lines.c: from the blocks and branches of the functions of a file to its lines. */
#include <stdlib.h>
#include <string.h>

#include "model/cover_picture.h"

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Blocks of a function are in their order: where lines are equal, places in memory tell. */
static int compare_blocks(const void *a, const void *b)
{
    const qp_cover_block *const *x = a, *const *y = b;
    int order = compare_numbers((*x)->line, (*y)->line);
    return order ? order : compare_numbers((uintptr_t)*x, (uintptr_t)*y);
}

static int compare_branches(const void *a, const void *b)
{
    const qp_cover_branch *const *x = a, *const *y = b;
    int order = compare_numbers((*x)->line, (*y)->line);
    return order ? order : compare_numbers((uintptr_t)*x, (uintptr_t)*y);
}

int qp_cover_compare_hits(const void *a, const void *b)
{
    const qp_cover_hit *x = a, *y = b;
    int order = compare_numbers(x->line, y->line);
    return order ? order : compare_numbers(x->context, y->context);
}

/* Sorted copies, in the picture's memory. @return NULL: no memory */
static void *sort(qp_cover_draft *d, const qp_buf *from,
                  int compare(const void *, const void *))
{
    qp_cover_making *x = d->making;
    char *to = qp_arena_take(&x->own->arena, from->n, from->item_bytes);
    const char **order = qp_arena_take(&x->arena, from->n, sizeof *order);
    if (!to || !order)
        return NULL;
    for (size_t i = 0; i < from->n; i++)
        order[i] = (const char *)from->items + i * from->item_bytes;
    qsort(order, from->n, sizeof *order, compare);
    for (size_t i = 0; i < from->n; i++)
        memcpy(to + i * from->item_bytes, order[i], from->item_bytes);
    return to;
}

/* Number the branching blocks of each line; until now they have the index in their function. */
static void number_branches(qp_cover_branch *branches, size_t n)
{
    uint32_t block = 0, own_block = 0;
    for (size_t i = 0; i < n; i++) {
        qp_cover_branch *b = &branches[i], *before = i ? &branches[i - 1] : NULL;
        bool is_line = before && before->line == b->line;
        bool is_same = is_line && before->function == b->function && own_block == b->block;
        own_block = b->block;
        block = !is_line ? 0 : block + !is_same;
        b->block = block;
    }
}

static void fill_lines(qp_cover_line *lines, uint32_t *n_lines, const qp_cover_file *f)
{
    for (uint32_t i = 0; i < f->n_blocks; i++) {
        const qp_cover_block *b = &f->blocks[i];
        if (!*n_lines || lines[*n_lines - 1].line != b->line)
            lines[(*n_lines)++] = (qp_cover_line){.line = b->line, .first_block = i};
        qp_cover_line *l = &lines[*n_lines - 1];
        l->n_blocks++;
        l->n_blocks_hit += !b->is_missed;
        l->count = b->count > l->count ? b->count : l->count;
    }
    uint32_t at = 0; /* a branch is of a block, so its line is there */
    for (uint32_t i = 0; i < f->n_branches; i++) {
        while (lines[at].line != f->branches[i].line)
            at++;
        if (!lines[at].n_branches)
            lines[at].first_branch = i;
        lines[at].n_branches++;
        lines[at].n_branches_hit += f->branches[i].count > 0;
    }
}

static bool draw_touches(qp_cover_draft *d, qp_cover_file *f, const qp_cover_line *lines)
{
    qp_cover_hit *hits = d->hits.items;
    qp_cover_touch *to = qp_arena_take(&d->making->own->arena, d->hits.n, sizeof *to);
    if (!to)
        return false;
    if (d->hits.n)
        qsort(hits, d->hits.n, sizeof *hits, qp_cover_compare_hits);
    uint32_t at = 0;
    for (size_t i = 0; i < d->hits.n; i++) {
        while (lines[at].line != hits[i].line)
            at++;
        qp_cover_touch *last = f->n_touches ? &to[f->n_touches - 1] : NULL;
        if (last && last->line == at && last->context == hits[i].context)
            last->count = hits[i].count > last->count ? hits[i].count : last->count;
        else
            to[f->n_touches++] = (qp_cover_touch){at, hits[i].context, hits[i].count};
    }
    f->touches = to;
    return true;
}

bool qp_cover_draw_lines(qp_cover_draft *d, qp_cover_file *f, qp_cover_line **lines)
{
    qp_cover_branch *branches = sort(d, &d->branches, compare_branches);
    f->n_blocks = (uint32_t)d->blocks.n;
    f->n_branches = (uint32_t)d->branches.n;
    f->blocks = sort(d, &d->blocks, compare_blocks);
    f->branches = branches;
    *lines = qp_arena_take(&d->making->own->arena, d->blocks.n, sizeof **lines);
    if (!branches || !f->blocks || !*lines)
        return false;
    number_branches(branches, f->n_branches);
    fill_lines(*lines, &f->n_lines, f);
    f->lines = *lines;
    return draw_touches(d, f, *lines);
}
