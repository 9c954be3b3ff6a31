/* diff.c: the runs of two sides: which functions, paths and threads are the same, and their figures.
 *
 * What a run has of a row is a sample, chained to the row. Start reading at add_functions();
 * diff_rows.c makes rows of the samples. */
#include <stdlib.h>
#include <string.h>

#include "model/combine/diff.h"
#include "model/figures/figures.h"
#include "model/read/read.h"

typedef qp_diff_sample sample;
typedef qp_diff_identity identity;
typedef qp_diff_entry entry;

/* Functions whose names and files differ in lines at most. */
typedef struct {
    uint32_t *identities; /* [n] in the order of the text */
    uint32_t n, next;     /* next: of the same hash; + 1; 0: none */
} group;

/* ---- names ------------------------------------------------------------------------------- */

static identity *identity_at(struct qp_diff_private *own, uint32_t i)
{
    return (identity *)own->identities.items + i;
}

static entry *entry_at(struct qp_diff_private *own, uint32_t i)
{
    return (entry *)own->entries.items + i;
}

static uint64_t hash_of(const identity *k)
{
    uint64_t hash = qp_hash_bytes(QP_HASH_START, k->name, strlen(k->name) + 1);
    hash = qp_hash_bytes(hash, k->module, strlen(k->module) + 1);
    return qp_hash_bytes(hash, k->file, strlen(k->file) + 1);
}

/* @return 0: there is none alike */
static uint32_t find(const struct qp_diff_private *own, const identity *wanted, uint64_t hash)
{
    uint32_t i = qp_dict_get(&own->by_name, hash);
    while (i) {
        const identity *known = (const identity *)own->identities.items + i;
        if (strcmp(known->name, wanted->name) == 0 &&
            strcmp(known->module, wanted->module) == 0 &&
            strcmp(known->file, wanted->file) == 0)
            break;
        i = known->next;
    }
    return i;
}

/* The index of a thread's identity, which is copied if it is new. @return 0: no memory */
static uint32_t identify(struct qp_diff_private *own, const identity *wanted)
{
    uint64_t hash = hash_of(wanted);
    uint32_t known = find(own, wanted, hash);
    if (known)
        return known;
    identity copy = {qp_arena_text(&own->arena, wanted->name),
                     qp_arena_text(&own->arena, wanted->module),
                     qp_arena_text(&own->arena, wanted->file),
                     wanted->line,
                     qp_dict_get(&own->by_name, hash),
                     0,
                     0};
    identity *k = qp_buf_add(&own->identities);
    if (!k || !copy.name || !copy.module || !copy.file)
        return 0;
    *k = copy;
    uint32_t index = (uint32_t)own->identities.n - 1;
    return qp_dict_put(&own->by_name, hash, index) ? index : 0;
}

/* The entry of an identity below a caller's entry. @return 0: no memory */
static uint32_t enter(struct qp_diff_private *own, uint32_t parent, uint32_t name)
{
    uint64_t key = (uint64_t)parent << 32 | name;
    uint32_t at = qp_dict_get(&own->by_path, key);
    if (at)
        return at;
    entry *e = qp_buf_add(&own->entries);
    if (!e)
        return 0;
    *e = (entry){.identity = name, .parent = parent};
    at = (uint32_t)own->entries.n - 1;
    return qp_dict_put(&own->by_path, key, at) ? at : 0;
}

/* What the run being added has of an entry. @return NULL: no memory */
static sample *sample_of(struct qp_diff_private *own, qp_diff_side side, uint32_t at)
{
    entry *e = entry_at(own, at);
    uint32_t run = own->diff.n_runs[side];
    if (e->samples && e->samples->side == side && e->samples->run == run)
        return e->samples;
    sample *s = qp_arena_take(&own->arena, 1, sizeof *s);
    if (!s)
        return NULL;
    *s = (sample){.next = e->samples, .side = side, .run = run};
    e->samples = s;
    return s;
}

/* ---- adding a run ------------------------------------------------------------------------ */

typedef struct {
    struct qp_diff_private *own;
    const qp_model *m;
    qp_diff_side side;
    uint32_t thread;
    uint32_t *identities; /* [m->n_methods]; 0: ignored */
    uint32_t *entries;    /* [m->n_methods] or, of paths, [m->n_nodes] */
    uint32_t *n_open;     /* [entries] nodes of it above us */
    bool has_failed;
} addition;

/* The interval is half * 1.96 standard deviations wide: model/figures/derive.c. */
static double variance_of(const qp_model *m, uint64_t half)
{
    double deviation = (double)qp_model_ns(m, half) / 1.96;
    return deviation * deviation;
}

static void add_to(uint64_t *sum, uint64_t value)
{
    *sum = qp_sum(*sum, value);
}

/* A function of the run that is added. */
typedef struct {
    const qp_model_method *k;
    uint32_t method;
    qp_name_stem name, file;
    uint64_t hash;  /* of stems and module */
    uint64_t shape; /* see qp_pair_item */
} function;

static uint64_t hash_stem(uint64_t hash, const qp_name_stem *s)
{
    return qp_hash_bytes(qp_hash_bytes(hash, s->text, s->n), &s->is_bracketed, 1);
}

static function function_of(const qp_model *m, uint32_t method)
{
    const qp_model_method *k = &m->methods[method];
    function f = {k, method,          qp_name_stem_of(k->name), qp_name_stem_of(k->file),
                  0, qp_pair_shape(k)};
    f.hash = hash_stem(hash_stem(QP_HASH_START, &f.name), &f.file);
    f.hash = qp_hash_bytes(f.hash, k->module, strlen(k->module));
    return f;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static uint32_t line_of(const function *f)
{
    return f->k->first_line ? f->k->first_line : f->name.line;
}

/* By group, then in the order of the text. */
static int compare_functions(const void *a, const void *b)
{
    const function *x = a, *y = b;
    int order = compare_numbers(x->hash, y->hash);
    order = order ? order : compare_numbers(line_of(x), line_of(y));
    order = order ? order : compare_numbers(x->name.number, y->name.number);
    order = order ? order : strcmp(x->k->name, y->k->name);
    order = order ? order : compare_numbers(x->shape, y->shape);
    return order ? order : compare_numbers(x->method, y->method);
}

/* One function that the run has several times: it was loaded again. */
static bool is_again(const function *a, const function *b)
{
    return a->hash == b->hash && line_of(a) == line_of(b) && a->shape == b->shape &&
           strcmp(a->k->name, b->k->name) == 0;
}

static bool is_of_group(struct qp_diff_private *own, const group *g, const function *f)
{
    const identity *known = identity_at(own, g->identities[0]);
    qp_name_stem name = qp_name_stem_of(known->name), file = qp_name_stem_of(known->file);
    return qp_name_stem_equals(&name, &f->name) && qp_name_stem_equals(&file, &f->file) &&
           strcmp(known->module, f->k->module) == 0;
}

/* The group of a function, empty if it is new. @return NULL: no memory */
static group *group_of(struct qp_diff_private *own, const function *f)
{
    uint32_t first = qp_dict_get(&own->by_stem, f->hash);
    for (uint32_t i = first; i; i = ((group *)own->groups.items + i - 1)->next)
        if (is_of_group(own, (group *)own->groups.items + i - 1, f))
            return (group *)own->groups.items + i - 1;
    group *g = qp_buf_add(&own->groups);
    if (!g || !qp_dict_put(&own->by_stem, f->hash, (uint32_t)own->groups.n))
        return NULL;
    g->next = first;
    return g;
}

/* @param known  its identity so far; 0: none. @return its identity; 0: no memory */
static uint32_t update(struct qp_diff_private *own, uint32_t known, const function *f,
                       uint64_t calls)
{
    uint32_t index = known ? known : (uint32_t)own->identities.n;
    if (!known && !qp_buf_add(&own->identities))
        return 0;
    identity *k = identity_at(own, index);
    if (!known || strcmp(k->name, f->k->name) != 0)
        k->name = qp_arena_text(&own->arena, f->k->name);
    if (!known || strcmp(k->file, f->k->file) != 0)
        k->file = qp_arena_text(&own->arena, f->k->file);
    if (!known)
        k->module = qp_arena_text(&own->arena, f->k->module);
    k->line = f->k->first_line;
    k->shape = f->shape;
    k->calls = calls;
    return k->name && k->file && k->module ? index : 0;
}

/* The functions of one group in the run; those that it has several times are one. */
typedef struct {
    uint32_t n;
    const function **firsts; /* [n] */
    qp_pair_item *items;     /* [n] */
    uint32_t *to;            /* [n] item of the group; then the identity */
} members;

/* Put the new identities between the known ones. */
static bool extend(struct qp_diff_private *own, group *g, members *x)
{
    uint32_t *all = qp_arena_take(&own->arena, g->n + x->n, sizeof *all), n = 0, at = 0;
    for (uint32_t i = 0; all && i < x->n; i++) {
        uint32_t pair = x->to[i];
        while (pair != QP_PAIR_NONE && at <= pair)
            all[n++] = g->identities[at++];
        uint32_t known = pair != QP_PAIR_NONE ? all[n - 1] : 0;
        x->to[i] = update(own, known, x->firsts[i], x->items[i].calls);
        if (!x->to[i])
            return false;
        if (!known)
            all[n++] = x->to[i];
    }
    while (all && at < g->n)
        all[n++] = g->identities[at++];
    g->identities = all;
    g->n = n;
    return all != NULL;
}

static bool match_members(struct qp_diff_private *own, group *g, members *x)
{
    qp_pair_item *known = qp_alloc(g->n, sizeof *known);
    for (uint32_t i = 0; known && i < g->n; i++) {
        const identity *k = identity_at(own, g->identities[i]);
        known[i] = (qp_pair_item){k->name, k->shape, k->calls};
    }
    bool is_ok =
        known && qp_pair_functions(known, g->n, x->items, x->n, x->to) && extend(own, g, x);
    qp_free(known);
    return is_ok;
}

/* @param f  [n] of one group, in order */
static bool add_group(addition *a, const function *f, uint32_t n)
{
    members x = {0, qp_alloc(n, sizeof *x.firsts), qp_alloc(n, sizeof *x.items),
                 qp_alloc(n, sizeof *x.to)};
    bool is_ok = x.firsts && x.items && x.to;
    for (uint32_t i = 0; is_ok && i < n; i++) {
        if (!i || !is_again(&f[i - 1], &f[i])) {
            x.firsts[x.n] = &f[i];
            x.items[x.n++] = (qp_pair_item){f[i].k->name, f[i].shape, 0};
        }
        add_to(&x.items[x.n - 1].calls, f[i].k->all.calls);
    }
    group *g = is_ok ? group_of(a->own, f) : NULL;
    is_ok = g && match_members(a->own, g, &x);
    for (uint32_t i = 0, at = 0; is_ok && i < n; i++) {
        at += i && !is_again(&f[i - 1], &f[i]);
        a->identities[f[i].method] = x.to[at];
    }
    qp_free(x.firsts);
    qp_free(x.items);
    qp_free(x.to);
    return is_ok;
}

static bool is_ignored(const addition *a, const qp_model_method *k)
{
    return !qp_figures_is_seen(&k->all) ||
           (a->own->ignores_system && k->flags & (QP_METHOD_BLOCKS | QP_METHOD_WAITS));
}

static bool identify_methods(addition *a)
{
    const qp_model *m = a->m;
    function *all = qp_alloc(m->n_methods, sizeof *all);
    a->identities = qp_alloc_zeroed(m->n_methods, sizeof *a->identities);
    bool is_ok = all && a->identities;
    uint32_t n = 0;
    for (uint32_t i = 1; is_ok && i < m->n_methods; i++)
        if (!is_ignored(a, &m->methods[i]))
            all[n++] = function_of(m, i);
    if (is_ok && n)
        qsort(all, n, sizeof *all, compare_functions);
    for (uint32_t i = 0, end; is_ok && i < n; i = end) {
        for (end = i + 1; end < n && all[end].hash == all[i].hash;)
            end++;
        is_ok = add_group(a, all + i, end - i);
    }
    qp_free(all);
    return is_ok;
}

static bool is_wanted(const addition *a, uint32_t node)
{
    const qp_model_node *n = &a->m->nodes[node];
    return n->method != QP_ROOT_METHOD && a->identities[n->method] &&
           (a->thread == QP_ALL_THREADS || n->thread == a->thread);
}

static bool is_collector(const qp_model *m, const qp_model_node *n)
{
    return qp_method_is_collector(m->methods[n->method].name);
}

/* Of the node itself. */
static void add_counts(sample *s, const qp_model *m, const qp_model_node *n)
{
    add_to(&s->figures[QP_DIFF_OF_CALLS], n->f.calls);
    if (is_collector(m, n))
        return;
    add_to(&s->figures[QP_DIFF_OF_COUNTED], n->f.calls);
    add_to(&s->figures[QP_DIFF_OF_BYTES], n->f.memory.bytes);
    add_to(&s->figures[QP_DIFF_OF_OBJECTS], n->f.memory.objects);
}

/* A method of one name has one row, even if the run has several of that name: their total is
 * that of outermost calls of any of them. */
static void enter_node(void *context, uint32_t i)
{
    addition *a = context;
    const qp_model_node *n = &a->m->nodes[i];
    if (a->has_failed || !is_wanted(a, i))
        return;
    uint32_t at = a->entries[n->method];
    sample *s = sample_of(a->own, a->side, at);
    a->has_failed |= !s;
    if (!s)
        return;
    add_counts(s, a->m, n);
    add_to(&s->figures[QP_DIFF_OF_SELF], n->f.self);
    add_to(&s->figures[QP_DIFF_OF_SELF_RUN], qp_figures_self_run(&n->f));
    if (a->n_open[at]++ == 0) {
        add_to(&s->figures[QP_DIFF_OF_TOTAL], n->f.total);
        add_to(&s->figures[QP_DIFF_OF_TOTAL_RUN], qp_figures_total_run(&n->f));
    }
    entry_at(a->own, at)->has_hidden |= n->has_hidden;
}

static void leave_node(void *context, uint32_t i)
{
    addition *a = context;
    if (!a->has_failed && is_wanted(a, i))
        a->n_open[a->entries[a->m->nodes[i].method]]--;
}

/* Ticks so far: into the run's unit. */
static void convert(const addition *a, uint32_t at)
{
    sample *s = entry_at(a->own, at)->samples;
    bool is_of_run = s && s->side == a->side && s->run == a->own->diff.n_runs[a->side];
    for (qp_diff_measure which = QP_DIFF_OF_SELF; is_of_run && which <= QP_DIFF_OF_TOTAL_RUN;
         which++)
        s->figures[which] = qp_model_ns(a->m, s->figures[which]);
}

/* Methods of one name are taken as independent of each other. */
static bool add_variances(addition *a)
{
    const qp_model *m = a->m;
    qp_figures *flat = qp_alloc(m->n_methods, sizeof *flat);
    bool is_ok = flat && qp_model_flat(m, a->thread, flat);
    for (uint32_t i = 1; is_ok && i < m->n_methods; i++) {
        if (!a->identities[i] || !(flat[i].self_half || flat[i].total_half))
            continue;
        sample *s = sample_of(a->own, a->side, a->entries[i]);
        is_ok = s != NULL;
        if (!s)
            break;
        s->self_variance += variance_of(m, flat[i].self_half);
        s->total_variance += variance_of(m, flat[i].total_half);
    }
    qp_free(flat);
    return is_ok;
}

/* They are known of functions alone, not of their paths. */
static bool add_instructions(addition *a)
{
    const qp_model *m = a->m;
    for (uint32_t i = 1; i < m->n_methods; i++) {
        if (!a->identities[i] || !m->methods[i].instructions)
            continue;
        sample *s = sample_of(a->own, a->side, a->entries[i]);
        if (!s)
            return false;
        add_to(&s->figures[QP_DIFF_OF_INSTRUCTIONS], m->methods[i].instructions);
    }
    return true;
}

static bool add_functions(addition *a)
{
    const qp_model *m = a->m;
    uint32_t n = (uint32_t)a->own->entries.n + m->n_methods;
    a->entries = qp_alloc_zeroed(m->n_methods, sizeof *a->entries);
    a->n_open = qp_alloc_zeroed(n, sizeof *a->n_open);
    if (!a->entries || !a->n_open)
        return false;
    for (uint32_t i = 1; i < m->n_methods; i++)
        if (a->identities[i] && !(a->entries[i] = enter(a->own, 0, a->identities[i])))
            return false;
    for (qp_walk w = {.m = m}; qp_walk_next(&w);)
        (w.is_entry ? enter_node : leave_node)(a, w.node);
    if (a->has_failed || (m->run.is_estimated && !add_variances(a)) || !add_instructions(a))
        return false;
    for (uint32_t i = 1; i < a->own->entries.n; i++)
        convert(a, i);
    return true;
}

/* The callees of an ignored function are below its caller. */
static bool add_paths(addition *a)
{
    const qp_model *m = a->m;
    a->entries = qp_alloc_zeroed(m->n_nodes, sizeof *a->entries);
    if (!a->entries)
        return false;
    for (uint32_t i = 1; i < m->n_nodes; i++) {
        const qp_model_node *n = &m->nodes[i];
        a->entries[i] = a->entries[n->parent];
        if (!is_wanted(a, i) || !qp_figures_is_seen(&n->f))
            continue;
        uint32_t at = enter(a->own, a->entries[n->parent], a->identities[n->method]);
        sample *s = at ? sample_of(a->own, a->side, at) : NULL;
        if (!s)
            return false;
        a->entries[i] = at;
        add_counts(s, m, n);
        add_to(&s->figures[QP_DIFF_OF_SELF], qp_model_ns(m, n->f.self));
        add_to(&s->figures[QP_DIFF_OF_TOTAL], qp_model_ns(m, n->f.total));
        add_to(&s->figures[QP_DIFF_OF_SELF_RUN], qp_model_ns(m, qp_figures_self_run(&n->f)));
        add_to(&s->figures[QP_DIFF_OF_TOTAL_RUN], qp_model_ns(m, qp_figures_total_run(&n->f)));
        s->self_variance += variance_of(m, n->f.self_half);
        s->total_variance += variance_of(m, n->f.total_half);
        entry_at(a->own, at)->has_hidden |= n->has_hidden;
    }
    return true;
}

/* Threads that share a name are one row. @param sums  [n_threads] of their paths */
static bool add_each_thread(addition *a, const sample *sums)
{
    for (uint32_t i = 1; i < a->m->n_threads; i++) {
        const qp_model_thread *th = &a->m->threads[i];
        if (!(th->calls || th->total) || (a->thread != QP_ALL_THREADS && a->thread != i))
            continue;
        uint32_t name = identify(a->own, &(identity){th->name, "", "", 0, 0, 0, 0});
        uint32_t at = name ? enter(a->own, 0, name) : 0;
        sample *s = at ? sample_of(a->own, a->side, at) : NULL;
        if (!s)
            return false;
        uint64_t total = qp_model_ns(a->m, th->total);
        uint64_t run = qp_model_ns(a->m, qp_figures_total_run(&a->m->nodes[th->root].f));
        double variance = variance_of(a->m, a->m->nodes[th->root].f.total_half);
        add_to(&s->figures[QP_DIFF_OF_CALLS], th->calls);
        add_to(&s->figures[QP_DIFF_OF_COUNTED],
               th->calls -
                   (sums[i].figures[QP_DIFF_OF_CALLS] - sums[i].figures[QP_DIFF_OF_COUNTED]));
        add_to(&s->figures[QP_DIFF_OF_BYTES], sums[i].figures[QP_DIFF_OF_BYTES]);
        add_to(&s->figures[QP_DIFF_OF_OBJECTS], sums[i].figures[QP_DIFF_OF_OBJECTS]);
        add_to(&s->figures[QP_DIFF_OF_SELF], total);
        add_to(&s->figures[QP_DIFF_OF_TOTAL], total);
        add_to(&s->figures[QP_DIFF_OF_SELF_RUN], run);
        add_to(&s->figures[QP_DIFF_OF_TOTAL_RUN], run);
        s->self_variance += variance;
        s->total_variance += variance;
    }
    return true;
}

static bool add_threads(addition *a)
{
    sample *sums = qp_alloc_zeroed(a->m->n_threads, sizeof *sums);
    for (uint32_t i = a->m->n_threads; sums && i < a->m->n_nodes; i++)
        add_counts(&sums[a->m->nodes[i].thread], a->m, &a->m->nodes[i]);
    bool is_ok = sums && add_each_thread(a, sums);
    qp_free(sums);
    return is_ok;
}

/* The whole run, less what is ignored. */
static bool add_whole(addition *a)
{
    const qp_model *m = a->m;
    uint32_t root = a->thread ? m->threads[a->thread].root : QP_ROOT_NODE;
    uint64_t ticks = m->nodes[root].f.total, run = qp_figures_total_run(&m->nodes[root].f);
    sample *s = sample_of(a->own, a->side, 0);
    if (!s)
        return false;
    for (uint32_t i = m->n_threads; i < m->n_nodes; i++) {
        const qp_model_node *n = &m->nodes[i];
        if (a->thread != QP_ALL_THREADS && n->thread != a->thread)
            continue;
        if (is_wanted(a, i)) {
            add_counts(s, m, n);
            continue;
        }
        uint64_t self_run = qp_figures_self_run(&n->f);
        ticks -= n->f.self < ticks ? n->f.self : ticks;
        run -= self_run < run ? self_run : run;
    }
    s->figures[QP_DIFF_OF_SELF] = s->figures[QP_DIFF_OF_TOTAL] = qp_model_ns(m, ticks);
    s->figures[QP_DIFF_OF_SELF_RUN] = s->figures[QP_DIFF_OF_TOTAL_RUN] = qp_model_ns(m, run);
    s->self_variance = s->total_variance = variance_of(m, m->nodes[root].f.total_half);
    return true;
}

bool qp_diff_fits(const qp_diff *d, const qp_model *m, qp_error *error)
{
    const struct qp_diff_private *own = d->own;
    const qp_run_info *run = &m->run;
    error->text[0] = '\0';
    if (!run->is_profile)
        qp_error_fail(error, "it has only coverage (compare it with qprof cover diff)");
    else if (!*own->unit)
        return true;
    else if (strcmp(own->unit, run->unit) != 0)
        qp_error_fail(
            error, "its figures are %s and those of the other runs %s: they cannot be compared",
            run->unit, own->unit);
    else if (strcmp(own->clock, run->clock_text) != 0)
        qp_error_fail(error,
                      "it has %s time and the other runs have %s time: they cannot be compared",
                      run->clock_text, own->clock);
    else if (!(d->has_times && run->has_times) && !(d->has_calls && run->has_calls))
        qp_error_fail(error,
                      "it and the other runs have neither times nor counted calls in common");
    return !error->text[0];
}

bool qp_diff_add(qp_diff *d, qp_diff_side side, const qp_model *m, uint32_t thread)
{
    struct qp_diff_private *own = d->own;
    addition a = {.own = own, .m = m, .side = side, .thread = thread};
    bool is_ok = true;
    qp_text_format(own->unit, sizeof own->unit, "%s", m->run.unit);
    qp_text_format(own->clock, sizeof own->clock, "%s", m->run.clock_text);
    d->has_times &= m->run.has_times;
    d->has_calls &= m->run.has_calls;
    d->has_waits &= m->run.has_waits;
    d->has_memory &= m->run.has_memory;
    d->has_instructions &= d->kind == QP_DIFF_FUNCTIONS && m->run.has_instructions &&
                           (thread == QP_ALL_THREADS || thread == QP_DIFF_NO_THREAD);
    own->is_estimated |= m->run.is_estimated;
    if (thread != QP_DIFF_NO_THREAD)
        is_ok = identify_methods(&a) &&
                (d->kind == QP_DIFF_FUNCTIONS ? add_functions(&a)
                 : d->kind == QP_DIFF_PATHS   ? add_paths(&a)
                                              : add_threads(&a)) &&
                add_whole(&a);
    qp_free(own->newest[side]);
    own->newest[side] = a.identities;
    qp_free(a.entries);
    qp_free(a.n_open);
    d->n_runs[side]++;
    return is_ok;
}

bool qp_diff_add_joined(qp_diff *d, qp_diff_side side, const qp_model *m)
{
    const qp_model *joined = qp_model_joined(m);
    bool is_good = joined && qp_diff_add(d, side, joined, QP_ALL_THREADS);
    qp_model_joined_end(joined, m);
    return is_good;
}

uint32_t qp_diff_thread(const qp_diff *d, const char *name)
{
    identity wanted = {name, "", "", 0, 0, 0, 0};
    uint32_t i = find(d->own, &wanted, hash_of(&wanted));
    return i ? qp_dict_get(&d->own->by_path, i) : 0;
}

uint32_t qp_diff_function(const qp_diff *d, qp_diff_side side, uint32_t method)
{
    const uint32_t *newest = d->own->newest[side];
    return newest && newest[method] ? qp_dict_get(&d->own->by_path, newest[method]) : 0;
}

/* ---- making one -------------------------------------------------------------------------- */

qp_diff *qp_diff_new(qp_diff_kind kind, bool ignores_system)
{
    struct qp_diff_private *own = qp_alloc_zeroed(1, sizeof *own);
    if (!own)
        return NULL;
    own->diff = (qp_diff){.kind = kind,
                          .has_times = true,
                          .has_calls = true,
                          .has_waits = true,
                          .has_memory = true,
                          .has_instructions = true,
                          .own = own};
    own->ignores_system = ignores_system;
    own->identities = QP_BUF(identity);
    own->entries = QP_BUF(entry);
    own->groups = QP_BUF(group);
    identity *whole = qp_buf_add(&own->identities);
    if (!whole || !qp_buf_add(&own->entries)) {
        qp_diff_free(&own->diff);
        return NULL;
    }
    *whole = (identity){"", "", "", 0, 0, 0, 0};
    return &own->diff;
}

void qp_diff_free(qp_diff *d)
{
    if (!d)
        return;
    struct qp_diff_private *own = d->own;
    qp_free(d->rows);
    qp_arena_fini(&own->arena);
    qp_free(own->identities.items);
    qp_free(own->entries.items);
    qp_free(own->groups.items);
    for (int side = 0; side < QP_DIFF_SIDES; side++)
        qp_free(own->newest[side]);
    qp_dict_fini(&own->by_name);
    qp_dict_fini(&own->by_stem);
    qp_dict_fini(&own->by_path);
    qp_free(own);
}
