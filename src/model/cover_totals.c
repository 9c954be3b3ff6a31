/* cover_totals.c: what is hit, and what adds up to which total. Read count_line first. */
#include "model/cover_picture.h"

static bool is_adjusted(qp_cover_mark mark)
{
    return mark == QP_MARK_TESTED || mark == QP_MARK_INSPECTED;
}

/* Is a line with these blocks hit, and partially? */
static void judge(const qp_cover_making *x, qp_cover_mark mark, uint32_t n_blocks,
                  uint32_t n_hit, bool *is_hit, bool *is_partial)
{
    *is_partial = n_hit && n_hit < n_blocks;
    *is_hit = n_hit && !(*is_partial && x->o->is_partial_missed);
    if (is_adjusted(mark)) {
        *is_hit = true;
        *is_partial = false;
    }
}

static void add_line(qp_cover_totals *t, bool is_hit, bool is_partial)
{
    t->lines++;
    t->lines_hit += is_hit;
    t->lines_partial += is_partial;
}

/* The blocks that one function has on a line. @return how many */
static uint32_t count_part(const qp_cover_making *x, const qp_cover_file *f,
                           const qp_cover_line *l, uint32_t first, qp_cover_function *functions)
{
    uint32_t end = l->first_block + l->n_blocks, n = 0, n_hit = 0;
    qp_cover_function *owner = &functions[f->blocks[first].function];
    for (uint32_t i = first; i < end && f->blocks[i].function == f->blocks[first].function;
         i++) {
        n++;
        n_hit += !f->blocks[i].is_missed;
    }
    bool is_hit, is_partial;
    judge(x, l->mark, n, n_hit, &is_hit, &is_partial);
    owner->is_dead &= l->mark == QP_MARK_DEADCODE;
    owner->is_hit |= is_adjusted(l->mark);
    if (l->mark == QP_MARK_DEADCODE)
        return n;
    add_line(&owner->totals, is_hit, is_partial);
    owner->totals.blocks += n;
    owner->totals.blocks_hit += is_adjusted(l->mark) ? n : n_hit;
    return n;
}

/* A line is one line of its file, and of each function that has blocks on it. */
static void count_line(const qp_cover_making *x, qp_cover_file *f, qp_cover_line *l,
                       qp_cover_function *functions)
{
    judge(x, l->mark, l->n_blocks, l->n_blocks_hit, &l->is_hit, &l->is_partial);
    for (uint32_t n = 0; n < l->n_blocks;)
        n += count_part(x, f, l, l->first_block + n, functions);
    if (l->mark == QP_MARK_DEADCODE)
        return;
    add_line(&f->totals, l->is_hit, l->is_partial);
    for (uint32_t i = l->first_branch; i < l->first_branch + l->n_branches; i++) {
        qp_cover_totals *t = &functions[f->branches[i].function].totals;
        t->branches++;
        t->branches_hit += f->branches[i].count > 0;
    }
}

void qp_cover_total_file(const qp_cover_making *x, qp_cover_file *f, qp_cover_line *lines,
                         qp_cover_function *functions)
{
    qp_cover_totals *t = &f->totals;
    for (uint32_t i = 0; i < f->n_blocks; i++)
        functions[f->blocks[i].function].is_dead = true; /* until one of its lines is not */
    for (uint32_t i = 0; i < f->n_lines; i++)
        count_line(x, f, &lines[i], functions);
    t->files = 1;
    for (uint32_t i = 0; i < f->n_functions; i++) {
        qp_cover_function *k = &functions[i];
        k->totals.functions = !k->is_dead;
        k->totals.functions_hit = k->is_hit && !k->is_dead;
        k->totals.calls = k->is_dead ? 0 : k->calls;
        t->functions += k->totals.functions;
        t->functions_hit += k->totals.functions_hit;
        t->calls = qp_cover_sum(t->calls, k->totals.calls);
        t->blocks += k->totals.blocks;
        t->blocks_hit += k->totals.blocks_hit;
        t->branches += k->totals.branches;
        t->branches_hit += k->totals.branches_hit;
    }
}

void qp_cover_totals_add(qp_cover_totals *to, const qp_cover_totals *t)
{
    to->files += t->files;
    to->dirs += t->dirs;
    to->functions += t->functions;
    to->functions_hit += t->functions_hit;
    to->lines += t->lines;
    to->lines_hit += t->lines_hit;
    to->lines_partial += t->lines_partial;
    to->blocks += t->blocks;
    to->blocks_hit += t->blocks_hit;
    to->branches += t->branches;
    to->branches_hit += t->branches_hit;
    to->calls = qp_cover_sum(to->calls, t->calls);
}
