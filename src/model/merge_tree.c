/* merge_tree.c: methods, threads and call paths of a profile find their like in the sum. Read
 * qp_merge_add_nodes first. */
#include <string.h>

#include "format/tables.h"
#include "model/merge_parts.h"

/* ---- methods --------------------------------------------------------------------------------- */

/* Whether it was entered before it was registered differs from run to run. */
static uint32_t lasting(uint32_t flags)
{
    return flags & ~(uint32_t)QP_METHOD_MISSED;
}

/* A placeholder's name is made of its id. */
static const char *name_of(const qp_model_method *k)
{
    return k->flags & QP_METHOD_REGISTERED ? k->bare_name : k->name;
}

static bool is_same(const qp_merge_method *a, const qp_model_method *k, const qp_jumps *jumps)
{
    return strcmp(a->name, name_of(k)) == 0 && strcmp(a->class_name, k->class_name) == 0 &&
           strcmp(a->file, k->file) == 0 && strcmp(a->module, k->module) == 0 &&
           lasting(a->flags) == lasting(k->flags) &&
           qp_lines_agree(a->lines, a->n_blocks, k->lines, k->n_blocks) &&
           qp_jumps_agree(a->jumps, jumps);
}

static uint64_t hash_of(const qp_model_method *k)
{
    const char *const names[] = {name_of(k), k->class_name, k->file, k->module};
    uint64_t hash = QP_HASH_START;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        hash = qp_hash_bytes(hash, names[i], strlen(names[i]) + 1);
    return qp_hash_bytes(hash, k->lines, k->n_blocks * sizeof *k->lines);
}

static bool copy_method(qp_merge *s, qp_merge_method *to, const qp_model_method *k,
                        const qp_jumps *jumps)
{
    to->id = k->id;
    to->flags = k->flags;
    to->name = qp_arena_text(&s->arena, name_of(k));
    to->class_name = qp_arena_text(&s->arena, k->class_name);
    to->file = qp_arena_text(&s->arena, k->file);
    to->module = qp_arena_text(&s->arena, k->module);
    to->n_blocks = k->n_blocks;
    to->lines = qp_arena_copy(&s->arena, k->lines, k->n_blocks, sizeof *k->lines);
    to->jumps = jumps ? qp_arena_copy(&s->arena, jumps, 1,
                                      qp_jumps_bytes(jumps->n_jumps, jumps->n_blocks))
                      : NULL;
    return to->name && to->class_name && to->file && to->module && to->lines &&
           (to->jumps || !jumps);
}

/* Does the bank count, and what? */
static void look_at(const qp_bank *b, const qp_jumps *jumps, bool *has_jumps, bool *has_blocks)
{
    bool is_counting = b->kind != QP_BANK_TIMES && b->n_values;
    *has_jumps |= is_counting && b->n_values == jumps->n_jumps;
    *has_blocks |= is_counting && b->n_values != jumps->n_jumps;
}

/* A host may count the blocks of a method that has jumps, in some of its runs. Jumps and blocks do not
 * add up: there the method is one without jumps. */
static const qp_jumps *jumps_of(const qp_model_private *own, uint32_t method)
{
    const qp_jumps *jumps = qp_bank_jumps(own, method);
    bool has_jumps = false, has_blocks = false;
    const qp_model_bank *end = own->banks + own->n_banks, *b = qp_bank_first(own, method);
    const qp_model_share *last = own->shares + own->n_shares, *s = qp_share_first(own, method);
    for (; jumps && b < end && b->method == method; b++)
        look_at(b->bank, jumps, &has_jumps, &has_blocks);
    for (; jumps && s < last && s->method == method; s++)
        look_at(s->bank, jumps, &has_jumps, &has_blocks);
    return has_blocks && !has_jumps ? NULL : jumps;
}

/* @return index in the sum; QP_MERGE_NONE: no memory */
static uint32_t find_method(qp_merge_addition *x, uint32_t method)
{
    qp_merge *s = x->s;
    const qp_model_method *k = &x->m->methods[method];
    const qp_jumps *jumps = jumps_of(x->m->own, method);
    uint64_t hash = hash_of(k);
    uint32_t first = qp_dict_get(&s->method_of, hash);
    for (uint32_t at = first; at;) {
        qp_merge_method *known = QP_MERGE_AT(s->methods, qp_merge_method, at - 1);
        if (is_same(known, k, jumps)) {
            known->flags |= k->flags;
            return at - 1;
        }
        at = known->next_same;
    }
    qp_merge_method *fresh = qp_buf_add(&s->methods);
    if (!fresh || !copy_method(s, fresh, k, jumps))
        return QP_MERGE_NONE;
    fresh->next_same = first;
    uint32_t number = (uint32_t)s->methods.n;
    return qp_dict_put(&s->method_of, hash, number) ? number - 1 : QP_MERGE_NONE;
}

bool qp_merge_add_methods(qp_merge_addition *x)
{
    for (uint32_t i = 1; i < x->m->n_methods; i++) {
        x->methods[i] = find_method(x, i);
        if (x->methods[i] == QP_MERGE_NONE)
            return false;
    }
    return true;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void add_terms(qp_thread_record *to, const qp_model_thread *th)
{
    to->n_exits = qp_sum(to->n_exits, th->n_exits);
    to->n_unwound = qp_sum(to->n_unwound, th->n_unwound);
    to->n_destroyed_live = qp_sum(to->n_destroyed_live, th->n_destroyed_live);
    to->n_dropped = qp_sum(to->n_dropped, th->n_dropped);
    to->n_deep_total = qp_sum(to->n_deep_total, th->n_deep_total);
    to->n_folded = qp_sum(to->n_folded, th->n_folded);
    /* calls before a clear that the thread had not done its part of yet are in no figure */
    uint64_t n_unseen = th->n_in_tree > th->calls ? th->n_in_tree - th->calls : 0;
    to->n_cleared = qp_sum(to->n_cleared, qp_sum(th->n_cleared, n_unseen));
}

static uint32_t add_32(uint32_t a, uint64_t b)
{
    return b < UINT32_MAX - a ? a + (uint32_t)b : UINT32_MAX;
}

/* Open frames are only counted in the sum. An event that was in flight when the profile ended, or
 * what a damaged one lacks, is settled: the entry is open, or no call path counts it. */
static void settle(qp_thread_record *to, const qp_model_thread *th)
{
    uint64_t in = th->n_in_tree + th->n_deep_total + th->n_folded + th->n_cleared;
    uint64_t out = th->n_exits + th->n_unwound + th->n_destroyed_live + th->n_still_live;
    to->n_deep = add_32(to->n_deep, th->n_still_live + (in > out ? in - out : 0));
    to->n_folded = qp_sum(to->n_folded, out > in ? out - in : 0);
}

/* @return node; QP_MERGE_NONE: no memory */
static uint32_t new_node(qp_merge *s, qp_merge_thread *th, uint32_t parent, uint32_t method)
{
    uint32_t index = (uint32_t)s->nodes.n;
    qp_merge_node *fresh = index < QP_MERGE_NONE ? qp_buf_add(&s->nodes) : NULL;
    if (!fresh)
        return QP_MERGE_NONE;
    *fresh = (qp_merge_node){.parent = parent, .method = method, .before = th->last_node};
    if (s->head.time_mode != QP_TIME_ADAPTIVE)
        fresh->min = UINT64_MAX;
    th->last_node = index;
    return index;
}

static uint32_t new_thread(qp_merge *s, const char *name)
{
    qp_merge_thread *th = qp_buf_add(&s->threads);
    if (!th)
        return QP_MERGE_NONE;
    th->name = qp_arena_text(&s->arena, name);
    th->last_bank = QP_MERGE_NONE;
    th->last_node = (uint32_t)s->nodes.n; /* of the root, itself */
    th->root = new_node(s, th, th->last_node, 0);
    uint64_t hash = qp_hash_bytes(QP_HASH_START, name, strlen(name));
    bool is_ok = th->name && th->root != QP_MERGE_NONE &&
                 qp_dict_put(&s->thread_of, hash, (uint32_t)s->threads.n);
    return is_ok ? (uint32_t)s->threads.n - 1 : QP_MERGE_NONE;
}

bool qp_merge_add_threads(qp_merge_addition *x)
{
    qp_merge *s = x->s;
    for (uint32_t i = 1; i < x->m->n_threads; i++) {
        const qp_model_thread *th = &x->m->threads[i];
        uint32_t at = qp_merge_named(&s->thread_of, &s->threads,
                                     offsetof(qp_merge_thread, name), th->name);
        if (at == QP_MERGE_NONE)
            at = new_thread(s, th->name);
        if (at == QP_MERGE_NONE)
            return false;
        qp_thread_record *sums = &QP_MERGE_AT(s->threads, qp_merge_thread, at)->sums;
        sums->n_lives = add_32(sums->n_lives, th->n_lives);
        add_terms(sums, th);
        settle(sums, th);
        x->threads[i] = at;
    }
    return true;
}

/* ---- call paths ------------------------------------------------------------------------------ */

static uint64_t rounded(double n)
{
    return n >= 0.5 ? n < 0x1p64 ? (uint64_t)(n + 0.5) : UINT64_MAX : 0;
}

/* Variances of independent runs add up. Of a sum they are taken as they are, without a rounding on
 * the way: the order of merging must not matter. */
static void add_variance(qp_merge_addition *x, qp_merge_node *to, uint32_t i)
{
    const qp_model_private *own = x->m->own;
    const qp_head *h = qp_image_head(&own->image);
    unsigned __int128 sum = (unsigned __int128)to->max << 64 | to->min, more;
    if (x->m->run.is_merged) {
        const qp_node *r = qp_image_cell(&own->image, own->node_cells[i]);
        more = (unsigned __int128)r->self_max << 64 | r->self_min;
    } else {
        bool is_tsc = h->clock_source == QP_SOURCE_TSC && h->tick_1 > h->tick_0;
        double ns_a_tick =
            is_tsc ? (double)(h->ns_1 - h->ns_0) / (double)(h->tick_1 - h->tick_0) : 1;
        more = rounded(own->total_variance[i] * ns_a_tick * ns_a_tick);
    }
    sum = sum + more < sum ? ~(unsigned __int128)0 : sum + more;
    to->min = (uint64_t)sum;
    to->max = (uint64_t)(sum >> 64);
}

static void add_figures(qp_merge_addition *x, qp_merge_node *to, uint32_t i)
{
    const qp_model *m = x->m;
    const qp_figures *f = &m->nodes[i].f;
    to->hits = qp_sum(to->hits, f->hits);
    to->skips = qp_sum(to->skips, f->skips);
    to->counts = qp_sum(to->counts, f->counts);
    to->interrupts = qp_sum(to->interrupts, f->interrupts);
    to->self = qp_sum(to->self, qp_model_ns(m, f->self));
    if (m->run.time_mode == QP_TIME_ADAPTIVE)
        add_variance(x, to, i);
    if (m->run.time_mode == QP_TIME_SAMPLED)
        to->max = qp_sum(to->max, f->samples);
    if (m->run.time_mode == QP_TIME_EXACT && f->min <= f->max) {
        uint64_t min = qp_model_ns(m, f->min), max = qp_model_ns(m, f->max);
        to->min = min < to->min ? min : to->min;
        to->max = max > to->max ? max : to->max;
    }
}

static uint32_t find_node(qp_merge_addition *x, const qp_model_node *n)
{
    qp_merge *s = x->s;
    uint32_t parent = x->nodes[n->parent], method = x->methods[n->method];
    uint64_t key = qp_merge_key(parent, method);
    uint32_t at = qp_dict_get(&s->child_of, key); /* no node is 0: that is a root */
    if (at)
        return at;
    qp_merge_thread *th = QP_MERGE_AT(s->threads, qp_merge_thread, x->threads[n->thread]);
    at = new_node(s, th, parent, method);
    return at != QP_MERGE_NONE && qp_dict_put(&s->child_of, key, at) ? at : QP_MERGE_NONE;
}

/* Callers come before what they call, in the profile as in the sum. */
bool qp_merge_add_nodes(qp_merge_addition *x)
{
    const qp_model *m = x->m;
    for (uint32_t i = 1; i < m->n_threads; i++) {
        uint32_t from = m->threads[i].root,
                 root = QP_MERGE_AT(x->s->threads, qp_merge_thread, x->threads[i])->root;
        qp_merge_node *to = QP_MERGE_AT(x->s->nodes, qp_merge_node, root);
        to->interrupts = qp_sum(to->interrupts, m->nodes[from].f.interrupts);
        x->nodes[from] = root;
    }
    for (uint32_t i = m->n_threads; i < m->n_nodes; i++) {
        x->nodes[i] = find_node(x, &m->nodes[i]);
        if (x->nodes[i] == QP_MERGE_NONE)
            return false;
        add_figures(x, QP_MERGE_AT(x->s->nodes, qp_merge_node, x->nodes[i]), i);
    }
    return true;
}
