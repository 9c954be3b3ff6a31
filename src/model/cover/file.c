/* file.c: a file of the coverage report: the blocks, branches and contexts of its functions,
 * its lines and totals. Start reading at qp_cover_draw_function(), which makes one function of
 * one or more methods. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "format/layout.h"
#include "model/cover/internal.h"

/* A way out of a branching block. */
typedef struct {
    uint32_t block, to; /* to: n_blocks: not known */
    uint32_t jump;      /* FALL: the one without a jump */
    uint32_t way;
    uint64_t count;
} way;

enum { FALL = UINT32_MAX };

/* A function while it is made. */
typedef struct {
    qp_cover_draft *draft;
    const qp_cover_member *members;
    size_t n_members;
    const qp_cover_method *lead; /* the one whose ways are shown: the first with jumps */
    uint64_t *counts;            /* [n_blocks] */
    qp_buf ways;                 /* by block, then as in the table */
    bool has_blocks;
} sketch;

/* Whether an entry is code; one with a negative code offset is the method's declaration. */
static bool is_code(const qp_line *l)
{
    return l->line > 0 && l->code_offset >= 0;
}

static uint64_t shown_count(const sketch *s, uint64_t n)
{
    return s->draft->making->set->is_once && n ? 1 : n;
}

/* ---- parts of the counters --------------------------------------------------------------- */

static void add_share(qp_block_flow *f, qp_wide *calls, const qp_cover_method *c,
                      const qp_cover_share *s, int sign)
{
    for (uint32_t k = 0; k < c->n_values; k++)
        f->counted[k] += (qp_wide)sign * s->values[k];
    f->entries += (qp_wide)sign * s->calls;
    *calls += (qp_wide)sign * s->calls;
}

static void clear_counters(qp_block_flow *f, qp_wide *calls, const qp_cover_method *c)
{
    memset(f->counted, 0, c->n_values * sizeof *f->counted);
    f->entries = *calls = 0;
}

static void add_all(qp_block_flow *f, qp_wide *calls, const qp_cover_method *c)
{
    for (uint32_t k = 0; c->values && k < c->n_values; k++)
        f->counted[k] += c->values[k];
    f->entries += c->entries;
    *calls += c->calls;
}

/* The part without a context: in no share, or in that of "". */
static void add_rest(const qp_cover_making *x, qp_block_flow *f, qp_wide *calls,
                     const qp_cover_method *c)
{
    add_all(f, calls, c);
    for (size_t i = 0; i < c->n_shares; i++)
        if (c->shares[i].context != x->none)
            add_share(f, calls, c, &c->shares[i], -1);
}

static void add_chosen(const qp_cover_making *x, qp_block_flow *f, qp_wide *calls,
                       const qp_cover_method *c)
{
    clear_counters(f, calls, c);
    if (x->is_all_chosen) {
        add_all(f, calls, c);
        return;
    }
    if (x->is_chosen[x->none])
        add_rest(x, f, calls, c);
    for (size_t i = 0; i < c->n_shares; i++)
        if (c->shares[i].context != x->none && x->is_chosen[c->shares[i].context])
            add_share(f, calls, c, &c->shares[i], 1);
}

/* ---- branches ---------------------------------------------------------------------------- */

static bool add_way(sketch *s, const qp_block_flow *f, uint32_t block, uint32_t jump,
                    uint32_t index)
{
    way *w = qp_buf_add(&s->ways);
    if (!w)
        return false;
    uint32_t to = jump == FALL ? block + 1 : (uint32_t)f->jumps->jumps[jump].to_block;
    *w = (way){.block = block, .to = to, .jump = jump, .way = index};
    return true;
}

/* A block with a jump out and a fall, or with several jumps out, is a branch.
 * @param next, first  lists of the jumps out of each block: index + 1; 0: the last */
static bool list_ways(sketch *s, const qp_block_flow *f, uint32_t *first, uint32_t *next)
{
    for (uint32_t k = f->jumps->n_jumps; k-- > 0;)
        if (qp_block_flow_is_way(f, k)) {
            uint32_t from = (uint32_t)f->jumps->jumps[k].from_block;
            next[k] = first[from];
            first[from] = k + 1;
        }
    for (uint32_t b = 0; b < f->n_blocks; b++) {
        bool is_branch = first[b] && (qp_block_flow_falls(f, b) || next[first[b] - 1]);
        uint32_t index = 0;
        for (uint32_t at = is_branch ? first[b] : 0; at; at = next[at - 1])
            if (!add_way(s, f, b, at - 1, index++))
                return false;
        if (is_branch && qp_block_flow_falls(f, b) && !add_way(s, f, b, FALL, index))
            return false;
    }
    return true;
}

static bool find_ways(sketch *s, const qp_block_flow *f)
{
    size_t n = (size_t)f->n_blocks + f->jumps->n_jumps;
    uint32_t *lists = qp_alloc_zeroed(n, sizeof *lists);
    bool is_ok = lists && list_ways(s, f, lists, lists + f->n_blocks);
    qp_free(lists);
    return is_ok;
}

static void count_ways(sketch *s, const qp_block_flow *f)
{
    way *ways = s->ways.items;
    for (size_t i = 0; i < s->ways.n; i++) {
        qp_wide n = ways[i].jump == FALL ? f->falls[ways[i].block] : f->counted[ways[i].jump];
        ways[i].count = qp_sum(ways[i].count, qp_wide_count(n));
    }
}

/* ---- contexts ---------------------------------------------------------------------------- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By line, then by context. */
static int compare_hits(const void *a, const void *b)
{
    const qp_cover_hit *x = a, *y = b;
    int order = compare_numbers(x->line, y->line);
    return order ? order : compare_numbers(x->context, y->context);
}

/* Until settle_hits() the line is a block. */
static bool add_hits(sketch *s, const qp_block_flow *f, uint32_t context)
{
    for (uint32_t i = 0; i < f->n_blocks; i++) {
        if (f->blocks[i] <= 0 || !is_code(&s->members->method->lines[i]))
            continue;
        qp_cover_hit *h = qp_buf_add(&s->draft->hits);
        if (!h)
            return false;
        *h = (qp_cover_hit){i, context, qp_wide_count(f->blocks[i])};
    }
    return true;
}

/* Add up the hits of a block that several members have; those of a line's blocks are not
 * added. */
static void settle_hits(sketch *s, size_t begin)
{
    const qp_line *lines = s->members->method->lines;
    qp_cover_hit *hits = s->draft->hits.items;
    size_t n = begin;
    if (s->n_members > 1)
        qsort(hits + begin, s->draft->hits.n - begin, sizeof *hits, compare_hits);
    for (size_t i = begin; i < s->draft->hits.n; i++) {
        bool is_more = n > begin && compare_hits(&hits[n - 1], &hits[i]) == 0;
        if (is_more)
            hits[n - 1].count = qp_sum(hits[n - 1].count, hits[i].count);
        else
            hits[n++] = hits[i];
    }
    s->draft->hits.n = n;
    for (size_t i = begin; i < n; i++) {
        hits[i].line = (uint32_t)lines[hits[i].line].line;
        hits[i].count = shown_count(s, hits[i].count);
    }
}

static bool add_contexts(sketch *s, qp_block_flow *f, const qp_cover_method *c)
{
    const qp_cover_making *x = s->draft->making;
    qp_wide calls;
    for (size_t i = 0; i <= c->n_shares; i++) {
        uint32_t context = i < c->n_shares ? c->shares[i].context : x->none;
        if (!x->is_chosen[context] || (i < c->n_shares && context == x->none))
            continue;
        clear_counters(f, &calls, c);
        if (context == x->none)
            add_rest(x, f, &calls, c);
        else
            add_share(f, &calls, c, &c->shares[i], 1);
        qp_block_flow_solve(f);
        if (!add_hits(s, f, x->contexts[context]))
            return false;
    }
    return true;
}

/* ---- a function -------------------------------------------------------------------------- */

static bool add_member(sketch *s, const qp_cover_method *c, qp_wide *all_calls)
{
    const qp_cover_making *x = s->draft->making;
    qp_block_flow f;
    qp_wide calls;
    if (!qp_block_flow_init(&f, c->jumps, c->n_blocks))
        return false;
    add_chosen(x, &f, &calls, c);
    *all_calls += calls > 0 ? calls : 0;
    s->has_blocks |= c->is_counted && x->set->grain != QP_GRAIN_FUNCTION;
    qp_block_flow_solve(&f);
    for (uint32_t i = 0; i < c->n_blocks; i++)
        s->counts[i] = qp_sum(s->counts[i], qp_wide_count(f.blocks[i]));
    bool is_ok = true;
    if (c == s->lead)
        is_ok = find_ways(s, &f);
    if (is_ok && s->lead && qp_jumps_agree(s->lead->jumps, c->jumps))
        count_ways(s, &f);
    if (is_ok && x->has_contexts && x->set->grain != QP_GRAIN_FUNCTION)
        is_ok = add_contexts(s, &f, c);
    qp_block_flow_fini(&f);
    return is_ok;
}

/* @return false: no memory */
static bool put_blocks(sketch *s, uint32_t function)
{
    const qp_cover_method *c = s->members->method;
    for (uint32_t i = 0; i < c->n_blocks; i++) {
        if (!is_code(&c->lines[i]))
            continue;
        qp_cover_block *b = qp_buf_add(&s->draft->blocks);
        if (!b)
            return false;
        *b = (qp_cover_block){.line = (uint32_t)c->lines[i].line,
                              .function = function,
                              .count = shown_count(s, s->counts[i]),
                              .is_missed = !s->counts[i]};
    }
    const way *ways = s->ways.items;
    for (size_t i = 0; i < s->ways.n; i++) {
        const way *w = &ways[i];
        const qp_line *from = &c->lines[w->block], *to = &c->lines[w->to];
        qp_cover_branch *b = is_code(from) ? qp_buf_add(&s->draft->branches) : NULL;
        if (b)
            *b = (qp_cover_branch){.line = (uint32_t)from->line,
                                   .block = w->block, /* until they are sorted by line */
                                   .way = w->way,
                                   .to_line = is_code(to) ? (uint32_t)to->line : 0,
                                   .function = function,
                                   .count = shown_count(s, w->count),
                                   .is_reached = s->counts[w->block] > 0};
    }
    return !s->draft->branches.failed;
}

static bool put_function(sketch *s, uint64_t calls)
{
    const qp_cover_method *c = s->members->method;
    qp_arena *arena = &s->draft->making->own->arena;
    uint32_t index = (uint32_t)s->draft->functions.n;
    qp_cover_function *to = qp_buf_add(&s->draft->functions);
    if (!to)
        return false;
    *to = (qp_cover_function){.name = qp_arena_text(arena, c->name),
                              .module = qp_arena_text(arena, c->module),
                              .bare_name = qp_arena_text(arena, c->bare_name),
                              .class_name = qp_arena_text(arena, c->class_name),
                              .first_line = s->members->first_line,
                              .last_line = s->members->last_line,
                              .calls = calls,
                              .is_hit = calls > 0};
    for (size_t i = 0; i < s->n_members; i++)
        to->skips = qp_sum(to->skips, s->members[i].method->skips);
    for (uint32_t i = 0; i < c->n_blocks; i++)
        to->is_hit |= s->counts[i] > 0;
    return to->name && to->module && to->bare_name && to->class_name &&
           (!s->has_blocks || put_blocks(s, index));
}

bool qp_cover_draw_function(qp_cover_draft *d, const qp_cover_member *members, size_t n)
{
    sketch s = {.draft = d, .members = members, .n_members = n, .ways = QP_BUF(way)};
    qp_wide calls = 0;
    size_t n_hits = d->hits.n;
    s.counts = qp_alloc_zeroed(members->method->n_blocks, sizeof *s.counts);
    for (size_t i = 0; i < n && !s.lead; i++)
        s.lead = members[i].method->jumps ? members[i].method : NULL;
    /* the lead first: it finds the ways, which the others count as well */
    bool is_ok = s.counts && (!s.lead || add_member(&s, s.lead, &calls));
    for (size_t i = 0; is_ok && i < n; i++)
        is_ok = members[i].method == s.lead || add_member(&s, members[i].method, &calls);
    is_ok = is_ok && put_function(&s, qp_wide_count(calls));
    if (!s.has_blocks) /* then there are no lines to be touched */
        d->hits.n = n_hits;
    if (is_ok && d->hits.n > n_hits)
        settle_hits(&s, n_hits);
    qp_free(s.counts);
    qp_free(s.ways.items);
    return is_ok;
}

/* ---- lines ------------------------------------------------------------------------------- */

_Static_assert(!offsetof(qp_cover_block, line) && !offsetof(qp_cover_branch, line), "sort()");

/* By line. Those of a function are in their order: where lines are equal, places in memory tell. */
static int compare_places(const void *a, const void *b)
{
    const uint32_t *const *x = a, *const *y = b;
    int order = compare_numbers(**x, **y);
    return order ? order : compare_numbers((uintptr_t)*x, (uintptr_t)*y);
}

/* Copy blocks or branches, sorted, into the report's memory. @return NULL: no memory */
static void *sort(qp_cover_draft *d, const qp_buf *from)
{
    qp_cover_making *x = d->making;
    char *to = qp_arena_take(&x->own->arena, from->n, from->item_bytes);
    const char **order = qp_arena_take(&x->arena, from->n, sizeof *order);
    if (!to || !order)
        return NULL;
    for (size_t i = 0; i < from->n; i++)
        order[i] = (const char *)from->items + i * from->item_bytes;
    qsort(order, from->n, sizeof *order, compare_places);
    for (size_t i = 0; i < from->n; i++)
        memcpy(to + i * from->item_bytes, order[i], from->item_bytes);
    return to;
}

/* Number the branching blocks of each line, which have had their index in the function. */
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
        l->sum = qp_sum(l->sum, b->count);
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
        qsort(hits, d->hits.n, sizeof *hits, compare_hits);
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
    qp_cover_branch *branches = sort(d, &d->branches);
    f->n_blocks = (uint32_t)d->blocks.n;
    f->n_branches = (uint32_t)d->branches.n;
    f->blocks = sort(d, &d->blocks);
    f->branches = branches;
    *lines = qp_arena_take(&d->making->own->arena, d->blocks.n, sizeof **lines);
    if (!branches || !f->blocks || !*lines)
        return false;
    number_branches(branches, f->n_branches);
    fill_lines(*lines, &f->n_lines, f);
    f->lines = *lines;
    return draw_touches(d, f, *lines);
}

/* ---- totals ------------------------------------------------------------------------------ */

static bool is_adjusted(qp_annotation annotation)
{
    return annotation == QP_ANNOTATION_TESTED || annotation == QP_ANNOTATION_INSPECTED;
}

/* Decide whether a line with these blocks is hit, and partially. */
static void judge(const qp_cover_making *x, qp_annotation annotation, uint32_t n_blocks,
                  uint32_t n_hit, bool *is_hit, bool *is_partial)
{
    *is_partial = n_hit && n_hit < n_blocks;
    *is_hit = n_hit && !(*is_partial && x->o->is_partial_missed);
    if (is_adjusted(annotation)) {
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
    judge(x, l->annotation, n, n_hit, &is_hit, &is_partial);
    owner->is_dead &= l->annotation == QP_ANNOTATION_DEADCODE;
    owner->is_hit |= is_adjusted(l->annotation);
    if (l->annotation == QP_ANNOTATION_DEADCODE)
        return n;
    add_line(&owner->totals, is_hit, is_partial);
    owner->totals.blocks += n;
    owner->totals.blocks_hit += is_adjusted(l->annotation) ? n : n_hit;
    return n;
}

/* Count a line once for its file, and once for each function that has blocks on it. */
static void count_line(const qp_cover_making *x, qp_cover_file *f, qp_cover_line *l,
                       qp_cover_function *functions)
{
    judge(x, l->annotation, l->n_blocks, l->n_blocks_hit, &l->is_hit, &l->is_partial);
    for (uint32_t n = 0; n < l->n_blocks;)
        n += count_part(x, f, l, l->first_block + n, functions);
    if (l->annotation == QP_ANNOTATION_DEADCODE)
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
        k->totals.skips = k->is_dead ? 0 : k->skips;
        t->calls = qp_sum(t->calls, k->totals.calls);
        t->skips = qp_sum(t->skips, k->totals.skips);
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
    to->calls = qp_sum(to->calls, t->calls);
    to->skips = qp_sum(to->skips, t->skips);
}
