/* merge_records.c: adds the methods, threads, call paths, counters, contexts and source digests
 * of a profile to equal ones in the sum. Start reading at qp_merge_add_threads(). */
#include <string.h>

#include "format/layout.h"
#include "model/combine/merge.h"

/* ---- methods ----------------------------------------------------------------------------- */

/* A placeholder's name is made of its id. */
static const char *name_of(const qp_model_method *k)
{
    return k->flags & QP_METHOD_REGISTERED ? k->bare_name : k->name;
}

static bool is_same(const qp_builder_code *a, const qp_model_method *k, const qp_jumps *jumps)
{
    return strcmp(a->name, name_of(k)) == 0 && strcmp(a->class_name, k->class_name) == 0 &&
           strcmp(a->file, k->file) == 0 && strcmp(a->module, k->module) == 0 &&
           !((a->flags ^ k->flags) & ~(uint32_t)QP_METHOD_MISSED) && /* which varies */
           qp_lines_agree(a->lines, a->n_lines, k->lines, k->n_blocks) &&
           qp_sizes_agree(a->sizes, k->sizes, k->n_blocks) && qp_jumps_agree(a->jumps, jumps);
}

static uint64_t hash_of(const qp_model_method *k)
{
    const char *const names[] = {name_of(k), k->class_name, k->file, k->module};
    uint64_t hash = QP_HASH_START;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        hash = qp_hash_bytes(hash, names[i], strlen(names[i]) + 1);
    return qp_hash_bytes(hash, k->lines, k->n_blocks * sizeof *k->lines);
}

static bool copy_method(qp_merge *s, qp_builder_code *to, const qp_model_method *k,
                        const qp_jumps *jumps)
{
    size_t jumps_bytes = jumps ? qp_jumps_bytes(jumps->n_jumps, jumps->n_blocks) : 0;
    *to = (qp_builder_code){
        .id = k->id,
        .flags = k->flags,
        .name = qp_arena_text(&s->arena, name_of(k)),
        .class_name = qp_arena_text(&s->arena, k->class_name),
        .file = qp_arena_text(&s->arena, k->file),
        .module = qp_arena_text(&s->arena, k->module),
        .lines = qp_arena_copy(&s->arena, k->lines, k->n_blocks, sizeof *k->lines),
        .n_lines = k->n_blocks,
        .sizes =
            k->sizes ? qp_arena_copy(&s->arena, k->sizes, k->n_blocks, sizeof *k->sizes) : NULL,
        .jumps = jumps ? qp_arena_copy(&s->arena, jumps, 1, jumps_bytes) : NULL};
    return to->name && to->class_name && to->file && to->module && to->lines &&
           (to->jumps || !jumps) && (to->sizes || !k->sizes);
}

/* What a counter block counts: jumps or blocks, or neither. */
static void look_at(const qp_counter_block *b, const qp_jumps *jumps, bool *has_jumps,
                    bool *has_blocks)
{
    bool is_counting = b->kind == QP_COUNTER_BLOCK_COUNTS && b->n_values;
    *has_jumps |= is_counting && b->n_values == jumps->n_jumps;
    *has_blocks |= is_counting && b->n_values != jumps->n_jumps;
}

/* The jumps that the method's counters count; NULL: they count blocks. A host may count the
 * blocks of a method with jumps in some runs; jumps and blocks do not add up, so it is another
 * method then. */
static const qp_jumps *jumps_of(const qp_model_private *own, uint32_t method)
{
    const qp_jumps *jumps = qp_counter_block_jumps(own, method);
    bool has_jumps = false, has_blocks = false;
    const qp_model_counter_block *end = own->counter_blocks + own->n_counter_blocks,
                                 *b = qp_counter_block_first(own, method);
    const qp_model_share *last = own->shares + own->n_shares, *s = qp_share_first(own, method);
    for (; jumps && b < end && b->method == method; b++)
        look_at(b->counters, jumps, &has_jumps, &has_blocks);
    for (; jumps && s < last && s->method == method; s++)
        look_at(s->counters, jumps, &has_jumps, &has_blocks);
    return has_blocks && !has_jumps ? NULL : jumps;
}

uint32_t qp_merge_method_like(qp_merge *s, const qp_model_method *k, const qp_jumps *jumps)
{
    uint64_t hash = hash_of(k);
    uint32_t first = qp_dict_get(&s->method_of, hash);
    for (uint32_t at = first; at;) {
        qp_merge_method *known = QP_MERGE_AT(s->methods, qp_merge_method, at - 1);
        if (is_same(&known->code, k, jumps)) {
            known->code.flags |= k->flags;
            return at - 1;
        }
        at = known->next_same;
    }
    qp_merge_method *fresh = qp_buf_add(&s->methods);
    if (!fresh || !copy_method(s, &fresh->code, k, jumps))
        return QP_MERGE_NONE;
    fresh->next_same = first;
    uint32_t number = (uint32_t)s->methods.n;
    return qp_dict_put(&s->method_of, hash, number) ? number - 1 : QP_MERGE_NONE;
}

bool qp_merge_add_methods(qp_merge_addition *x)
{
    for (uint32_t i = 1; i < x->m->n_methods; i++) {
        x->methods[i] = qp_merge_method_like(x->s, &x->m->methods[i], jumps_of(x->m->own, i));
        if (x->methods[i] == QP_MERGE_NONE)
            return false;
    }
    return true;
}

/* ---- threads ----------------------------------------------------------------------------- */

static void add_terms(qp_thread_record *to, const qp_model_thread *th)
{
    to->n_exits = qp_sum(to->n_exits, th->n_exits);
    to->n_unwound = qp_sum(to->n_unwound, th->n_unwound);
    to->n_destroyed_live = qp_sum(to->n_destroyed_live, th->n_destroyed_live);
    to->n_dropped = qp_sum(to->n_dropped, th->n_dropped);
    to->n_deep_total = qp_sum(to->n_deep_total, th->n_deep_total);
    to->n_overflowed = qp_sum(to->n_overflowed, th->n_overflowed);
    to->n_apart = qp_sum(to->n_apart, th->n_apart);
    /* calls before a clear that the thread had not done its part of yet are in no figure */
    uint64_t n_seen = qp_sum(th->calls, th->resumes);
    uint64_t n_unseen = th->n_in_tree > n_seen ? th->n_in_tree - n_seen : 0;
    to->n_cleared = qp_sum(to->n_cleared, qp_sum(th->n_cleared, n_unseen));
}

static uint32_t add_32(uint32_t a, uint64_t b)
{
    return b < UINT32_MAX - a ? a + (uint32_t)b : UINT32_MAX;
}

/* The sum only counts open frames. Events that were in flight at the end, or that a damaged
 * profile lacks, are settled: the entry counts as open, or as in no call path. */
static void settle(qp_thread_record *to, const qp_model_thread *th)
{
    uint64_t in = th->n_in_tree + th->n_deep_total + th->n_overflowed + th->n_cleared;
    uint64_t out = th->n_exits + th->n_unwound + th->n_destroyed_live + th->n_still_live;
    to->n_deep = add_32(to->n_deep, th->n_still_live + (in > out ? in - out : 0));
    to->n_overflowed = qp_sum(to->n_overflowed, out > in ? out - in : 0);
}

/* @return node; QP_MERGE_NONE: no memory */
static uint32_t new_node(qp_merge *s, uint32_t thread, uint32_t parent, uint32_t method)
{
    qp_merge_thread *th = QP_MERGE_AT(s->threads, qp_merge_thread, thread);
    uint32_t index = (uint32_t)s->nodes.n;
    qp_merge_node *fresh = index < QP_MERGE_NONE ? qp_buf_add(&s->nodes) : NULL;
    if (!fresh)
        return QP_MERGE_NONE;
    *fresh = (qp_merge_node){
        .parent = parent, .method = method, .before = th->last_node, .thread = thread};
    if (s->head.time_mode != QP_TIME_ADAPTIVE)
        fresh->min = UINT64_MAX;
    th->last_node = index;
    return index;
}

/* @param key  receives one that is free, if there is none @return index + 1; 0: there is none */
static uint32_t find_thread(const qp_merge *s, const char *name, uint32_t creator,
                            uint64_t *key)
{
    uint32_t at;
    *key = qp_hash_bytes(QP_HASH_START, name, strlen(name) + 1);
    *key = qp_hash_bytes(*key, &creator, sizeof creator);
    for (; (at = qp_dict_get(&s->thread_of, *key)) != 0; ++*key) {
        const qp_merge_thread *th = QP_MERGE_AT(s->threads, const qp_merge_thread, at - 1);
        if (th->creator == creator && strcmp(th->name, name) == 0)
            break;
    }
    return at;
}

uint32_t qp_merge_thread_named(qp_merge *s, const char *name, uint32_t creator,
                               uint32_t creator_thread)
{
    uint64_t key;
    uint32_t at = find_thread(s, name, creator, &key);
    if (at)
        return at - 1;
    const char *copy = qp_arena_text(&s->arena, name);
    qp_merge_thread *th = copy ? qp_buf_add(&s->threads) : NULL;
    if (!th || !qp_dict_put(&s->thread_of, key, (uint32_t)s->threads.n))
        return QP_MERGE_NONE;
    *th = (qp_merge_thread){.name = copy,
                            .creator = creator,
                            .creator_thread = creator_thread,
                            .last_block = QP_MERGE_NONE,
                            .last_node = (uint32_t)s->nodes.n}; /* of the root, itself */
    const uint32_t index = (uint32_t)s->threads.n - 1;
    th->root = new_node(s, index, th->last_node, 0);
    return th->root != QP_MERGE_NONE ? index : QP_MERGE_NONE;
}

/* ---- call paths -------------------------------------------------------------------------- */

static uint64_t rounded(double n)
{
    return n >= 0.5 ? n < 0x1p64 ? (uint64_t)(n + 0.5) : UINT64_MAX : 0;
}

/* Add the variances of independent runs. Those of a sum are not rounded again: the order of
 * merging must not matter. */
static void add_variance(qp_merge_addition *x, qp_merge_node *to, uint32_t i)
{
    const qp_model_private *own = x->m->own;
    const qp_head *h = qp_image_head(&own->image);
    uint64_t more, high = 0;
    if (x->m->run.is_merged) {
        const qp_node *r = qp_image_cell(&own->image, own->node_cells[i]);
        more = r->self_min;
        high = r->self_max;
    } else {
        bool is_tsc = h->clock_source == QP_SOURCE_TSC && h->tick_1 > h->tick_0;
        double ns_a_tick =
            is_tsc ? (double)(h->ns_1 - h->ns_0) / (double)(h->tick_1 - h->tick_0) : 1;
        more = rounded(own->total_variance[i] * ns_a_tick * ns_a_tick);
    }
    qp_variance_add(&to->min, &to->max, more, high);
}

static void add_figures(qp_merge_addition *x, qp_merge_node *to, uint32_t i)
{
    const qp_model *m = x->m;
    const qp_figures *f = &m->nodes[i].f;
    to->hits = qp_sum(to->hits, f->hits);
    to->skips = qp_sum(to->skips, f->skips);
    to->resumes = qp_sum(to->resumes, f->resumes);
    to->counts = qp_sum(to->counts, f->counts);
    to->pc_samples = qp_sum(to->pc_samples, f->pc_samples);
    qp_memory_add(&to->memory, &f->memory);
    to->self = qp_sum(to->self, qp_model_ns(m, f->self));
    to->off = qp_sum(to->off, qp_model_ns(m, f->off));
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

uint32_t qp_merge_node_below(qp_merge *s, uint32_t parent, uint32_t method)
{
    uint64_t key = qp_merge_key(parent, method);
    uint32_t at = qp_dict_get(&s->child_of, key); /* no node is 0: that is a root */
    if (at)
        return at;
    at = new_node(s, QP_MERGE_AT(s->nodes, qp_merge_node, parent)->thread, parent, method);
    return at != QP_MERGE_NONE && qp_dict_put(&s->child_of, key, at) ? at : QP_MERGE_NONE;
}

bool qp_merge_add_requests(qp_merge_addition *x)
{
    for (size_t i = 0; i < x->m->own->requests.n; i++) {
        const qp_model_requests *from = QP_MERGE_AT(x->m->own->requests, qp_model_requests, i);
        qp_merge_node *node = QP_MERGE_AT(x->s->nodes, qp_merge_node, x->nodes[from->node]);
        const bool is_first = !node->requests;
        if (is_first)
            node->requests = qp_arena_take(&x->s->arena, 1, sizeof *node->requests);
        if (!node->requests)
            return false;
        qp_node_requests r = from->r;
        r.n_begun -= qp_requests_open(x->m, from);
        if (is_first)
            *node->requests = (qp_node_requests){0};
        qp_requests_add(node->requests, &r);
    }
    return true;
}

/* The place of a metric in the sum. @return QP_METRICS: there is no room; QP_MERGE_NONE: no memory */
static uint32_t metric_of(qp_merge *s, const qp_run_metric *metric)
{
    uint32_t i = 0;
    while (i < s->n_metrics && strcmp(s->metrics[i].name, metric->name) != 0)
        i++;
    if (i < s->n_metrics || i == QP_METRICS)
        return i;
    qp_run_metric *to = &s->metrics[i];
    to->name = qp_arena_text(&s->arena, metric->name);
    to->unit = qp_arena_text(&s->arena, metric->unit);
    if (!to->name || !to->unit)
        return QP_MERGE_NONE;
    s->n_metrics++;
    return i;
}

bool qp_merge_add_metrics(qp_merge_addition *x)
{
    const qp_model *m = x->m;
    uint32_t places[QP_METRICS] = {0};
    for (size_t k = 0; k < m->run.n_metrics; k++) {
        places[k] = metric_of(x->s, &m->run.metrics[k]);
        if (places[k] == QP_MERGE_NONE)
            return false;
    }
    for (size_t i = 0; i < m->own->values.n; i++) {
        const qp_model_values *from = QP_MERGE_AT(m->own->values, qp_model_values, i);
        qp_merge_node *node = QP_MERGE_AT(x->s->nodes, qp_merge_node, x->nodes[from->node]);
        if (!node->values) {
            node->values = qp_arena_take(&x->s->arena, 1, sizeof *node->values);
            if (!node->values)
                return false;
            *node->values = (qp_node_values){{0}};
        }
        for (size_t k = 0; k < m->run.n_metrics; k++)
            if (places[k] < QP_METRICS)
                node->values->sums[places[k]] =
                    qp_sum(node->values->sums[places[k]], from->values.sums[k]);
    }
    return true;
}

/* The waits of a path for a lock and a holder; beyond QP_LOCK_WAITS those of all others. @return NULL: no memory */
static qp_merge_wait *wait_of(qp_merge *s, qp_merge_node *node, const char *lock,
                              uint32_t holder)
{
    qp_merge_wait *w = node->waits, *others = NULL;
    unsigned n = 0;
    for (; w && (w->holder != holder || strcmp(w->lock, lock) != 0); w = w->next, n++)
        others = !*w->lock && !w->holder ? w : others;
    if (w || (n > QP_LOCK_WAITS && others))
        return w ? w : others;
    w = qp_arena_take(&s->arena, 1, sizeof *w);
    if (!w)
        return NULL;
    *w = (qp_merge_wait){.next = node->waits, .lock = ""};
    if (n < QP_LOCK_WAITS) {
        w->lock = qp_arena_text(&s->arena, lock);
        w->holder = holder;
    }
    node->waits = w->lock ? w : node->waits;
    return w->lock ? w : NULL;
}

bool qp_merge_add_lock_waits(qp_merge_addition *x)
{
    for (size_t i = 0; i < x->m->own->waits.n; i++) {
        const qp_model_lock_wait *from = QP_MERGE_AT(x->m->own->waits, qp_model_lock_wait, i);
        qp_merge_node *node = QP_MERGE_AT(x->s->nodes, qp_merge_node, x->nodes[from->node]);
        qp_merge_wait *to =
            wait_of(x->s, node, from->lock, from->holder ? x->nodes[from->holder] + 1 : 0);
        if (!to)
            return false;
        to->n = qp_sum(to->n, from->n);
        to->ns = qp_sum(to->ns, from->ns);
        to->longest_ns = from->longest_ns > to->longest_ns ? from->longest_ns : to->longest_ns;
    }
    return true;
}

/* A thread and its call paths. Callers come before what they call, in the profile as in the sum.
 * @param paths  [n] the paths in the profile @return false: no memory */
static bool add_thread(qp_merge_addition *x, uint32_t thread, const uint32_t *paths, size_t n)
{
    qp_merge *s = x->s;
    const qp_model *m = x->m;
    const qp_model_thread *th = &m->threads[thread];
    const uint32_t creator = th->creator;
    const uint32_t at =
        qp_merge_thread_named(s, th->name, creator ? x->nodes[creator] + 1 : 0,
                              creator ? x->threads[m->nodes[creator].thread] : 0);
    if (at == QP_MERGE_NONE)
        return false;
    qp_merge_thread *to = QP_MERGE_AT(s->threads, qp_merge_thread, at);
    qp_merge_node *root = QP_MERGE_AT(s->nodes, qp_merge_node, to->root);
    to->sums.n_lives = add_32(to->sums.n_lives, th->n_lives);
    add_terms(&to->sums, th);
    to->sums.apart_ticks = qp_sum(to->sums.apart_ticks, qp_model_ns(m, th->apart_ticks));
    settle(&to->sums, th);
    root->pc_samples = qp_sum(root->pc_samples, m->nodes[th->root].f.pc_samples);
    qp_memory_add(&root->memory, &m->nodes[th->root].f.memory);
    x->threads[thread] = at;
    x->nodes[th->root] = to->root;
    for (size_t i = 0; i < n; i++) {
        const uint32_t path = paths[i];
        x->nodes[path] = qp_merge_node_below(s, x->nodes[m->nodes[path].parent],
                                             x->methods[m->nodes[path].method]);
        if (x->nodes[path] == QP_MERGE_NONE)
            return false;
        add_figures(x, QP_MERGE_AT(s->nodes, qp_merge_node, x->nodes[path]), path);
    }
    return true;
}

/* The paths of each thread, in their order. */
typedef struct {
    uint32_t *paths; /* [n_nodes] */
    uint32_t *
        ends; /* [n_threads] of a thread's, which begin at the end of those of the one before */
    uint32_t *above; /* [n_threads] threads that wait for their creators */
    bool *is_added;  /* [n_threads] */
} by_thread;

static void sort_paths(const qp_model *m, by_thread *t)
{
    for (uint32_t i = m->n_threads; i < m->n_nodes; i++)
        t->ends[m->nodes[i].thread]++;
    for (uint32_t i = 1, at = 0; i < m->n_threads; i++) {
        const uint32_t n = t->ends[i];
        t->ends[i] = at;
        at += n;
    }
    for (uint32_t i = m->n_threads; i < m->n_nodes; i++)
        t->paths[t->ends[m->nodes[i].thread]++] = i;
}

/* Each thread after the one that created it. */
static bool add_in_order(qp_merge_addition *x, by_thread *t)
{
    const qp_model *m = x->m;
    for (uint32_t i = 1; i < m->n_threads; i++) {
        uint32_t n = 0;
        for (uint32_t at = i; at && !t->is_added[at];) {
            t->above[n++] = at;
            t->is_added[at] = true;
            at = m->threads[at].creator ? m->nodes[m->threads[at].creator].thread : 0;
        }
        while (n) {
            const uint32_t thread = t->above[--n], first = t->ends[thread - 1];
            if (!add_thread(x, thread, t->paths + first, t->ends[thread] - first))
                return false;
        }
    }
    return true;
}

bool qp_merge_add_threads(qp_merge_addition *x)
{
    by_thread t = {.paths = qp_alloc(x->m->n_nodes, sizeof *t.paths),
                   .ends = qp_alloc_zeroed(x->m->n_threads, sizeof *t.ends),
                   .above = qp_alloc(x->m->n_threads, sizeof *t.above),
                   .is_added = qp_alloc_zeroed(x->m->n_threads, sizeof *t.is_added)};
    bool is_ok = t.paths && t.ends && t.above && t.is_added;
    if (is_ok)
        sort_paths(x->m, &t);
    is_ok = is_ok && add_in_order(x, &t);
    qp_free(t.paths);
    qp_free(t.ends);
    qp_free(t.above);
    qp_free(t.is_added);
    return is_ok;
}

/* ---- counters ---------------------------------------------------------------------------- */

static const qp_builder_code *code_of(const qp_merge *s, uint32_t method)
{
    return &QP_MERGE_AT(s->methods, const qp_merge_method, method)->code;
}

qp_merge_counter_block *qp_merge_block_of(qp_merge *s, uint32_t thread, uint32_t method,
                                          qp_merge_kind kind, uint32_t n_values)
{
    bool is_new;
    uint32_t at = qp_buf_keyed(&s->counter_blocks, &s->block_of[kind],
                               qp_merge_key(thread, method), &is_new);
    if (!at)
        return NULL;
    qp_merge_counter_block *b = QP_MERGE_AT(s->counter_blocks, qp_merge_counter_block, at - 1);
    if (is_new) {
        qp_merge_thread *th = QP_MERGE_AT(s->threads, qp_merge_thread, thread);
        uint64_t *values = qp_arena_take(&s->arena, n_values, sizeof *values);
        *b = (qp_merge_counter_block){method, thread, th->last_block, kind, n_values, values};
        th->last_block = at - 1;
    }
    return b->values ? b : NULL;
}

static void add_times(const qp_model *m, qp_merge_counter_block *to, const qp_counter_block *b)
{
    uint32_t n_times = 2 * b->n_blocks; /* then bits: which blocks were marked */
    for (uint32_t k = 0; k < b->n_values; k++)
        to->values[k] = k < n_times ? qp_sum(to->values[k], qp_model_ns(m, b->values[k]))
                                    : to->values[k] | b->values[k];
}

static bool add_counters(qp_merge_addition *x, const qp_model_counter_block *b)
{
    uint32_t method = x->methods[b->method], n = b->counters->n_values;
    bool is_times = b->counters->kind == QP_COUNTER_BLOCK_TIMES;
    const qp_jumps *jumps = code_of(x->s, method)->jumps;
    qp_merge_kind kind = is_times                                        ? QP_MERGE_TIMES
                         : b->counters->kind == QP_COUNTER_BLOCK_SAMPLES ? QP_MERGE_SAMPLES
                         : b->counters->kind == QP_COUNTER_BLOCK_MEMORY  ? QP_MERGE_MEMORY
                         : jumps && jumps->n_jumps == n                  ? QP_MERGE_JUMPS
                                                                         : QP_MERGE_BLOCKS;
    qp_merge_counter_block *to =
        qp_merge_block_of(x->s, x->threads[b->thread], method, kind, n);
    if (to && is_times)
        add_times(x->m, to, b->counters);
    for (uint32_t k = 0; to && !is_times && k < n; k++)
        to->values[k] = qp_sum(to->values[k], qp_counter_block_value(b, k));
    return to != NULL;
}

/* Block time of a call that was open at the end. */
static bool add_open_block(qp_merge_addition *x, const qp_open_block *b)
{
    uint32_t method = x->methods[b->method], n_blocks = code_of(x->s, method)->n_lines;
    if (b->block >= n_blocks)
        return true;
    qp_merge_counter_block *to =
        qp_merge_block_of(x->s, x->threads[b->thread], method, QP_MERGE_TIMES,
                          2 * n_blocks + (n_blocks + 63) / 64);
    if (!to)
        return false;
    uint64_t *times = &to->values[2 * (size_t)b->block];
    times[0] = qp_sum(times[0], qp_model_ns(x->m, b->self));
    times[1] = qp_sum(times[1], qp_model_ns(x->m, b->total));
    to->values[2 * (size_t)n_blocks + b->block / 64] |= 1ull << b->block % 64;
    return true;
}

bool qp_merge_add_counter_blocks(qp_merge_addition *x)
{
    const qp_model_private *own = x->m->own;
    for (size_t i = 0; i < own->n_counter_blocks; i++)
        if (!add_counters(x, &own->counter_blocks[i]))
            return false;
    for (size_t i = 0; i < own->n_open_blocks; i++)
        if (!add_open_block(x, &own->open_blocks[i]))
            return false;
    return true;
}

/* ---- contexts ---------------------------------------------------------------------------- */

/* A share with room for n_values, unless it counts something else. @return NULL: no memory */
static qp_merge_share *share_of(qp_merge *s, uint32_t context, uint32_t method,
                                uint32_t n_values)
{
    bool is_new;
    uint32_t at =
        qp_buf_keyed(&s->shares, &s->share_of, qp_merge_key(context, method), &is_new);
    qp_merge_share *share = at ? QP_MERGE_AT(s->shares, qp_merge_share, at - 1) : NULL;
    if (is_new)
        *share = (qp_merge_share){.method = method, .context = context};
    if (share && !share->n_values && n_values) {
        share->values = qp_arena_take(&s->arena, n_values, sizeof *share->values);
        share->n_values = share->values ? n_values : 0;
        share = share->values ? share : NULL;
    }
    return share;
}

/* Counters of a method to add to a context, or to take off. */
typedef struct {
    uint32_t context, method; /* of the sum */
    uint64_t calls;
    uint32_t n_values;
    const uint64_t *values;
    const uint64_t *base; /* NULL: nothing to take off */
} portion;

static bool add_portion(qp_merge *s, const portion *p, bool is_less)
{
    qp_merge_share *to = share_of(s, p->context, p->method, p->n_values);
    if (!to)
        return false;
    to->calls = (int64_t)((uint64_t)to->calls + (is_less ? 0 - p->calls : p->calls));
    for (uint32_t k = 0; p->n_values == to->n_values && k < p->n_values; k++) {
        uint64_t n = p->values[k] - (p->base ? p->base[k] : 0);
        to->values[k] += is_less ? 0 - n : n;
    }
    return true;
}

/* The context at the end has what no other has: all, less the shares. */
static bool add_rest(qp_merge_addition *x, uint32_t context)
{
    const qp_model_private *own = x->m->own;
    bool is_ok = true;
    for (uint32_t i = 1; is_ok && i < x->m->n_methods; i++) {
        const portion calls = {
            .context = context, .method = x->methods[i], .calls = x->m->methods[i].all.hits};
        is_ok = !calls.calls || add_portion(x->s, &calls, false);
    }
    for (size_t i = 0; is_ok && i < own->n_counter_blocks; i++) {
        const qp_model_counter_block *b = &own->counter_blocks[i];
        const portion counters = {
            context, x->methods[b->method], 0, b->counters->n_values, b->counters->values,
            b->base};
        if (b->counters->kind == QP_COUNTER_BLOCK_COUNTS)
            is_ok = add_portion(x->s, &counters, false);
    }
    return is_ok;
}

bool qp_merge_add_contexts(qp_merge_addition *x)
{
    const qp_model_private *own = x->m->own;
    uint32_t last = qp_context_at(own, qp_image_head(&own->image)->context);
    bool is_ok = true;
    for (uint32_t i = 0; is_ok && i < own->n_contexts; i++) {
        x->contexts[i] = qp_find_or_name(&x->s->context_of, &x->s->contexts, 0, &x->s->arena,
                                         own->contexts[i].name) -
                         1;
        is_ok = x->contexts[i] != QP_MERGE_NONE;
    }
    if (is_ok && last < own->n_contexts)
        is_ok = add_rest(x, x->contexts[last]);
    for (size_t i = 0; is_ok && i < own->n_shares; i++) {
        const qp_model_share *share = &own->shares[i];
        const qp_counter_block *b = share->counters;
        portion p = {.context = x->contexts[share->context],
                     .method = x->methods[share->method],
                     .calls = b->calls,
                     .n_values = b->n_values,
                     .values = b->values};
        is_ok = add_portion(x->s, &p, false);
        if (is_ok && last < own->n_contexts) {
            p.context = x->contexts[last];
            is_ok = add_portion(x->s, &p, true);
        }
    }
    return is_ok;
}

/* ---- sources ----------------------------------------------------------------------------- */

bool qp_merge_add_texts(qp_merge_addition *x)
{
    qp_merge *s = x->s;
    for (size_t i = 0; i < x->m->own->n_texts; i++) {
        const qp_model_text *t = &x->m->own->texts[i];
        size_t n = s->texts.n;
        uint32_t at = qp_find_or_name(&s->text_of, &s->texts, offsetof(qp_merge_text, path),
                                      &s->arena, t->path);
        if (!at)
            return false;
        qp_merge_text *to = QP_MERGE_AT(s->texts, qp_merge_text, at - 1);
        if (s->texts.n > n)
            *to = (qp_merge_text){to->path, t->digest, t->n_bytes};
        else if (to->digest != t->digest) /* several versions, added by --force-merge */
            to->digest = to->n_bytes = 0;
    }
    return true;
}
