/* derive.c: totals, estimates and figures of methods, from the figures of single call paths.
 *
 * A node's total is the sum of the self times at and below it; a method's total counts a node
 * only if no node of the same method is above it. Children have larger indices than their
 * parents, so one pass from the end suffices. Start at add_up(). */
#include <math.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "format/layout.h"
#include "model/figures/figures.h"
#include "model/read/read.h"

/* ---- walking ----------------------------------------------------------------------------- */

bool qp_walk_next(qp_walk *w)
{
    const qp_model_node *n = &w->m->nodes[w->node];
    bool is_first = w->node == QP_ROOT_NODE, was_left = !is_first && !w->is_entry;
    uint32_t next = is_first && w->root ? w->root : was_left ? n->next_sibling : n->first_child;
    if (was_left && w->node == w->root)
        return false;
    w->is_entry = next != 0;
    w->node = next ? next : was_left ? n->parent : w->node;
    return w->node != QP_ROOT_NODE;
}

/* ---- estimates --------------------------------------------------------------------------- */

static uint64_t whole_ticks(double ticks)
{
    if (!(ticks > 0))
        return 0;
    return ticks < 18e18 ? (uint64_t)(ticks + 0.5) : UINT64_MAX;
}

/* Half of the 95 % interval. Of a path that is not timed throughout, a call between two ticks of
 * the coarse clock may have been missed altogether: as many as Poisson's law allows where none was
 * found, which is three, and not more where some were. */
static uint64_t half_interval(const qp_model *m, double variance)
{
    double tick = m->run.coarse_period;
    return variance > 0
               ? whole_ticks(QP_INTERVAL_95 * sqrt(variance + tick * tick) + 1.04 * tick)
               : 0;
}

/* Estimate the time with callees of an adaptive path, into self. */
static void estimate_adaptive(qp_model_private *own, uint32_t i)
{
    qp_figures *f = &own->nodes[i].f;
    bool is_there = own->node_cells[i] && !own->extras[own->nodes[i].thread].is_cleared;
    f->min = UINT64_MAX;
    f->max = 0;
    f->self = own->open_ticks[i];
    own->total_variance[i] = own->open_variance[i];
    if (!is_there)
        return;
    uint64_t n_entries = f->hits + f->resumes;
    uint64_t n_open = own->open_calls[i] < n_entries ? own->open_calls[i] : n_entries;
    const qp_node *r = qp_image_cell(&own->image, own->node_cells[i]);
    qp_path_time time = qp_path_time_of(r, qp_timing_of(own, i), n_entries - n_open);
    f->self = qp_sum(f->self, whole_ticks(time.ticks));
    own->total_variance[i] += time.variance;
}

/* A sum of runs has self times, and the variances of times with callees in 128 bits. */
static void take_merged(qp_model_private *own, uint32_t i)
{
    qp_figures *f = &own->nodes[i].f;
    own->total_variance[i] = ldexp((double)f->max, 64) + (double)f->min;
    f->min = UINT64_MAX;
    f->max = 0;
}

static void estimate_sampled(qp_model_private *own, uint32_t i)
{
    qp_figures *f = &own->nodes[i].f;
    double ticks = (double)f->self;
    f->samples = f->max;
    f->min = UINT64_MAX;
    f->max = 0;
    if (f->samples) /* a count of independent events varies by itself */
        own->self_variance[i] = ticks * ticks / (double)f->samples;
}

/* Interrupts alone: by the wall clock there is one in each pass, and passes may come late; by
 * CPU time there is one for so much that was used, and the head says how much. */
static void estimate_interrupts(qp_model_private *own, uint32_t i)
{
    const qp_run_info *run = &own->model.run;
    qp_figures *f = &own->nodes[i].f;
    uint64_t each = qp_image_head(&own->image)->pc_reached;
    if (!each)
        each =
            run->sample_period_reached_ns ? run->sample_period_reached_ns : run->pc_period_ns;
    f->self = whole_ticks((double)f->pc_samples * (double)each);
    f->max = f->pc_samples;
}

static bool estimate(qp_model_private *own)
{
    qp_time_mode mode = own->model.run.time_mode;
    uint32_t n = own->model.n_nodes;
    if (own->model.run.is_estimated) {
        own->self_variance = qp_alloc_zeroed(n, sizeof *own->self_variance);
        own->total_variance = qp_alloc_zeroed(n, sizeof *own->total_variance);
        if (!own->self_variance || !own->total_variance)
            return false;
    }
    bool is_interrupts =
        mode == QP_TIME_SAMPLED && qp_image_head(&own->image)->time_mode == QP_TIME_NONE;
    for (uint32_t i = own->model.n_threads; i < n; i++) {
        if (is_interrupts)
            estimate_interrupts(own, i);
        if (mode == QP_TIME_ADAPTIVE && own->model.run.is_merged)
            take_merged(own, i);
        else if (mode == QP_TIME_ADAPTIVE)
            estimate_adaptive(own, i);
        else if (mode == QP_TIME_SAMPLED)
            estimate_sampled(own, i);
        else if (mode == QP_TIME_NONE)
            own->nodes[i].f.self = 0;
        if (mode == QP_TIME_NONE || own->nodes[i].f.min == UINT64_MAX) {
            own->nodes[i].f.min = UINT64_MAX;
            own->nodes[i].f.max = 0;
        }
    }
    return true;
}

/* ---- callees and callers ----------------------------------------------------------------- */

/* The callees of a path, whose estimates may exceed its own. */
typedef struct {
    double sum, variance;
    double loose; /* of the sum: what their intervals leave open */
} callees;

/* With the variance of what the coarse clock may have missed. */
static double whole_variance(const qp_model_private *own, uint32_t i)
{
    double drawn = own->total_variance[i], tick = own->model.run.coarse_period;
    return drawn > 0 ? drawn + tick * tick : 0;
}

static double loose_part(const qp_model_private *own, uint32_t i)
{
    double whole = (double)own->nodes[i].f.self;
    double half = QP_INTERVAL_95 * sqrt(whole_variance(own, i));
    return half < whole ? half : whole;
}

/* A caller gets the more of what its callees have in excess, the less is known of it: all of it if
 * none of its calls was timed. */
static void raise_caller(qp_model_private *own, const callees *of, uint32_t i)
{
    double whole = (double)own->nodes[i].f.self, more = of[i].sum - whole;
    double variance = whole_variance(own, i);
    if (more > 0 && variance > 0)
        own->nodes[i].f.self = whole_ticks(
            whole + (whole > 0 ? more * variance / (variance + of[i].variance) : more));
}

/* If callees still have more than their caller, each is reduced: first within its interval, then
 * in proportion. It is then no better known than the caller. */
static void reduce_callee(qp_model_private *own, const callees *of, uint32_t i)
{
    uint32_t parent = own->nodes[i].parent;
    const callees *all = &of[parent];
    double whole = (double)own->nodes[i].f.self, above = (double)own->nodes[parent].f.self;
    double more = all->sum - above, loose = loose_part(own, i);
    if (parent < own->model.n_threads || more <= 0)
        return;
    if (more <= all->loose || all->sum <= all->loose)
        whole -= more * loose / all->loose;
    else
        whole -= loose + (more - all->loose) * (whole - loose) / (all->sum - all->loose);
    double part = above > 0 ? whole / above : 0;
    own->nodes[i].f.self = whole_ticks(whole);
    own->total_variance[i] += own->total_variance[parent] * part * part;
}

/* Adaptive: f->self has an estimate of the time with callees. A caller is timed more completely
 * than callees that it calls often, so an estimate that is well known is kept where callees exceed
 * it; what they leave is its self time. */
static bool divide_wholes(qp_model_private *own)
{
    uint32_t first = own->model.n_threads, n = own->model.n_nodes;
    callees *of = qp_alloc_zeroed(n, sizeof *of);
    if (!of)
        return false;
    for (uint32_t i = n; i-- > first;) {
        callees *above = &of[own->nodes[i].parent];
        raise_caller(own, of, i);
        above->sum += (double)own->nodes[i].f.self;
        above->variance += whole_variance(own, i);
        above->loose += loose_part(own, i);
    }
    for (uint32_t i = first; i < n; i++)
        reduce_callee(own, of, i);
    uint64_t *below = qp_alloc_zeroed(n, sizeof *below);
    for (uint32_t i = first; below && i < n; i++)
        below[own->nodes[i].parent] = qp_sum(below[own->nodes[i].parent], own->nodes[i].f.self);
    for (uint32_t i = first; below && i < n; i++)
        own->nodes[i].f.self -=
            below[i] < own->nodes[i].f.self ? below[i] : own->nodes[i].f.self;
    qp_free(below);
    qp_free(of);
    return below != NULL;
}

/* ---- what the run cannot exceed ----------------------------------------------------------- */

/* Different OS threads that had threads of the run. @return 0: no memory */
static uint64_t count_os_threads(const qp_model *m)
{
    qp_dict known = {0};
    uint64_t n = 0;
    bool is_ok = true;
    for (uint32_t i = 1; is_ok && i < m->n_threads; i++)
        if (!qp_dict_get(&known, m->threads[i].system_id)) {
            is_ok = qp_dict_put(&known, m->threads[i].system_id, 1);
            n++;
        }
    qp_dict_fini(&known);
    return is_ok ? n : 0;
}

/* What fit_into_run() knows of a thread, in ticks. */
typedef struct {
    uint64_t sure, loose; /* of paths whose time is measured; of the others */
} fit;

/* Which paths keep their time? Sampled: those whose self time is no estimate. Adaptive: all below an
 * outermost path that was timed whole, into whose time theirs was fitted. */
static bool is_sure(const qp_model_private *own, const bool *sure, uint32_t i)
{
    uint32_t parent = own->nodes[i].parent;
    if (own->model.run.time_mode != QP_TIME_ADAPTIVE)
        return own->self_variance[i] <= 0;
    return parent < own->model.n_threads ? own->total_variance[i] <= 0 : sure[parent];
}

/* What is left of the estimates if they and what is sure have to fit into a limit. */
static double part_left(const fit *f, double limit)
{
    double sure = (double)f->sure, loose = (double)f->loose;
    return sure + loose <= limit ? 1 : sure < limit ? (limit - sure) / loose : 0;
}

static uint64_t reduced(uint64_t ticks, double by)
{
    return by < 1 ? (uint64_t)((double)ticks * by) : ticks;
}

/* No thread can have more time than the run had, and all threads together not more than the OS
 * threads had that drove them. Estimates that exceed it are reduced in one proportion before anything
 * is added up, so that all sums agree. @return false: no memory */
static bool fit_into_run(qp_model_private *own)
{
    const qp_run_info *run = &own->model.run;
    const uint32_t first = own->model.n_threads, n = own->model.n_nodes;
    double limit = run->wall > run->stopped ? (double)(run->wall - run->stopped) : 0;
    if (!run->is_estimated || run->is_merged || run->is_imported || limit <= 0 ||
        run->clock_kind != QP_CLOCK_ELAPSED || first == n)
        return true;
    fit *threads = qp_alloc_zeroed(first, sizeof *threads), all = {0, 0};
    bool *sure = qp_alloc_zeroed(n, sizeof *sure);
    uint64_t n_os = count_os_threads(&own->model);
    bool is_ok = threads && sure && n_os;
    for (uint32_t i = first; is_ok && i < n; i++) {
        fit *f = &threads[own->nodes[i].thread];
        sure[i] = is_sure(own, sure, i);
        uint64_t *sum = sure[i] ? &f->sure : &f->loose;
        *sum = qp_sum(*sum, own->nodes[i].f.self);
    }
    for (uint32_t i = 1; is_ok && i < first; i++) {
        const fit *f = &threads[i];
        all = (fit){qp_sum(all.sure, f->sure),
                    qp_sum(all.loose, reduced(f->loose, part_left(f, limit)))};
    }
    double of_all = is_ok ? part_left(&all, limit * (double)n_os) : 1;
    for (uint32_t i = first; is_ok && i < n; i++) {
        if (sure[i])
            continue;
        double by = part_left(&threads[own->nodes[i].thread], limit);
        own->nodes[i].f.self = reduced(reduced(own->nodes[i].f.self, by), of_all);
        own->self_variance[i] *= by * by * of_all * of_all;
        own->total_variance[i] *= by * by * of_all * of_all;
    }
    qp_free(threads);
    qp_free(sure);
    return is_ok;
}

/* ---- totals ------------------------------------------------------------------------------ */

void qp_memory_add(qp_memory *to, const qp_memory *more)
{
    to->bytes = qp_sum(to->bytes, more->bytes);
    to->objects = qp_sum(to->objects, more->objects);
    to->freed_bytes = qp_sum(to->freed_bytes, more->freed_bytes);
    to->freed_objects = qp_sum(to->freed_objects, more->freed_objects);
}

void qp_figures_add_self(qp_figures *to, const qp_figures *f)
{
    to->self = qp_sum(to->self, f->self);
    to->off = qp_sum(to->off, f->off);
    to->counts = qp_sum(to->counts, f->counts);
    to->samples = qp_sum(to->samples, f->samples);
    to->pc_samples = qp_sum(to->pc_samples, f->pc_samples);
    to->cost = qp_sum(to->cost, f->cost);
    qp_memory_add(&to->memory, &f->memory);
    to->metric = qp_sum(to->metric, f->metric);
}

void qp_figures_add_calls(qp_figures *to, const qp_figures *f)
{
    to->calls = qp_sum(to->calls, f->calls);
    to->hits = qp_sum(to->hits, f->hits);
    to->skips = qp_sum(to->skips, f->skips);
    to->resumes = qp_sum(to->resumes, f->resumes);
    to->min = f->min < to->min ? f->min : to->min;
    to->max = f->max > to->max ? f->max : to->max;
}

uint64_t qp_figures_self_run(const qp_figures *f)
{
    return f->self - (f->off < f->self ? f->off : f->self);
}

uint64_t qp_figures_total_run(const qp_figures *f)
{
    return f->total - (f->off_total < f->total ? f->off_total : f->total);
}

bool qp_waits_are_shown(uint64_t off, uint64_t total)
{
    enum { SHARE = 100 };
    return off && total / off <= SHARE;
}

static void add_totals(qp_figures *to, const qp_figures *f)
{
    to->total = qp_sum(to->total, f->total);
    to->off_total = qp_sum(to->off_total, f->off_total);
    to->counts_total = qp_sum(to->counts_total, f->counts_total);
    to->samples_total = qp_sum(to->samples_total, f->samples_total);
    to->pc_samples_total = qp_sum(to->pc_samples_total, f->pc_samples_total);
    qp_memory_add(&to->memory_total, &f->memory_total);
}

/* Add a node's self figures to its totals, which have those of its callees, and to its
 * caller's. */
static void add_up(qp_model_private *own, uint32_t i)
{
    qp_figures *f = &own->nodes[i].f;
    add_totals(f, &(qp_figures){.total = f->self,
                                .off_total = f->off,
                                .counts_total = f->counts,
                                .samples_total = f->samples,
                                .pc_samples_total = f->pc_samples,
                                .memory_total = f->memory});
    if (i != QP_ROOT_NODE)
        add_totals(&own->nodes[own->nodes[i].parent].f, f);
}

/* Of the times of threads that were created at a path or below it. */
static double joined_variance(const qp_model_private *own, uint32_t i)
{
    return own->joined_variance ? own->joined_variance[i] : 0;
}

/* Adaptive estimates are of times with callees: self times add the variances of the callees.
 * Sampled ones are of self times: times with callees add those of the callees. */
static void add_up_variances(qp_model_private *own, uint32_t i)
{
    double *self = own->self_variance, *total = own->total_variance;
    uint32_t parent = own->nodes[i].parent;
    bool is_whole = own->model.run.time_mode == QP_TIME_ADAPTIVE;
    bool is_measured = is_whole && own->nodes[i].method;
    if (is_measured)
        self[i] += total[i];
    else
        total[i] += self[i];
    if (i != QP_ROOT_NODE && !own->nodes[i].is_joined) {
        double *above = is_whole && own->nodes[parent].method ? self : total;
        above[parent] += total[i];
    }
    const qp_model *m = &own->model;
    own->nodes[i].f.self_half = own->nodes[i].method ? half_interval(m, self[i]) : 0;
    own->nodes[i].f.total_half = half_interval(m, total[i] + joined_variance(own, i));
}

static bool find_outermost(qp_model_private *own)
{
    /* [n_methods] nodes of the method above us */
    uint32_t *n_open = qp_alloc_zeroed(own->model.n_methods, sizeof *n_open);
    for (qp_walk w = {.m = &own->model}; n_open && qp_walk_next(&w);) {
        qp_model_node *n = &own->nodes[w.node];
        if (w.is_entry)
            n->is_outermost = n_open[n->method]++ == 0;
        else
            n_open[n->method]--;
    }
    qp_free(n_open);
    return n_open != NULL;
}

/* ---- methods ----------------------------------------------------------------------------- */

static void add_figures(qp_figures *to, const qp_model_node *n)
{
    qp_figures_add_self(to, &n->f);
    qp_figures_add_calls(to, &n->f);
    if (n->is_outermost)
        add_totals(to, &n->f);
}

/* Adaptive: a time with callees is added to its method and subtracted from the caller's; in a
 * direct recursion it cancels out. */
static void add_variances(const qp_model *m, uint32_t i, double *self, double *total)
{
    const qp_model_private *own = m->own;
    const qp_model_node *n = &m->nodes[i];
    uint32_t caller = m->nodes[n->parent].method;
    if (m->run.time_mode != QP_TIME_ADAPTIVE) {
        self[n->method] += own->self_variance[i];
    } else if (caller != n->method) {
        self[n->method] += own->total_variance[i];
        self[caller] += n->is_joined ? 0 : own->total_variance[i];
    }
    total[n->method] += n->is_outermost ? own->total_variance[i] + joined_variance(own, i) : 0;
}

bool qp_model_flat(const qp_model *m, uint32_t thread, qp_figures *out)
{
    const qp_model_private *own = m->own;
    double *self = NULL, *total = NULL;
    if (own->self_variance) {
        self = qp_alloc_zeroed(m->n_methods, sizeof *self);
        total = qp_alloc_zeroed(m->n_methods, sizeof *total);
    }
    bool is_ok = !own->self_variance || (self && total);
    for (uint32_t i = 0; is_ok && i < m->n_methods; i++)
        out[i] = (qp_figures){.min = UINT64_MAX};
    for (uint32_t i = m->n_threads; is_ok && i < m->n_nodes; i++) {
        const qp_model_node *n = &m->nodes[i];
        if (thread != QP_ALL_THREADS && n->thread != thread)
            continue;
        add_figures(&out[n->method], n);
        add_figures(&out[QP_ROOT_METHOD], n);
        if (self)
            add_variances(m, i, self, total);
    }
    for (uint32_t i = 1; is_ok && self && i < m->n_methods; i++) {
        out[i].self_half = half_interval(m, self[i]);
        out[i].total_half = half_interval(m, total[i]);
    }
    if (is_ok) { /* the root's total is the sum of all self times */
        qp_figures *root = &out[QP_ROOT_METHOD];
        for (uint32_t i = 1; i < m->n_threads;
             i++) /* of collapsed methods without a visible caller */
            if (thread == QP_ALL_THREADS || thread == i) {
                const qp_figures *above = &m->nodes[m->threads[i].root].f;
                root->self = qp_sum(root->self, above->self);
                root->off = qp_sum(root->off, above->off);
                root->pc_samples = qp_sum(root->pc_samples, above->pc_samples);
                qp_memory_add(&root->memory, &above->memory);
                root->metric = qp_sum(root->metric, above->metric);
            }
        root->total = root->self;
        root->off_total = root->off;
        root->counts_total = root->counts;
        root->samples_total = root->samples;
        root->pc_samples_total = root->pc_samples;
        root->memory_total = root->memory;
        qp_counter_block_calls(m, thread, out);
    }
    qp_free(self);
    qp_free(total);
    return is_ok;
}

bool qp_figures_is_seen(const qp_figures *f)
{
    return f->calls || f->total || f->counts_total || f->samples_total || f->pc_samples_total;
}

uint64_t qp_figures_average(const qp_figures *f)
{
    return f->hits ? f->self / f->hits : 0;
}

uint64_t qp_figures_average_total(const qp_figures *f)
{
    return f->hits ? f->total / f->hits : 0;
}

static bool fill_methods(qp_model_private *own)
{
    qp_figures *all = qp_alloc(own->model.n_methods, sizeof *all);
    bool is_ok = all && qp_model_flat(&own->model, QP_ALL_THREADS, all);
    for (uint32_t i = 0; is_ok && i < own->model.n_methods; i++)
        own->methods[i].all = all[i];
    qp_free(all);
    return is_ok;
}

/* What recording a call of a thread costs, in thousandths of a tick. */
typedef struct {
    uint64_t n_entries, n_skips;
    bool has_skips; /* `apart` is also what a skip costs */
    double inside, in_caller, apart;
} call_cost;

/* Events in line cost what was measured at the start of the run. Those out of line were timed where they
 * happened, and it is their callers that they delay; the calls of a thread have equal parts of that, and all
 * calls of what the threads took that look at the others. */
static void find_call_cost(const qp_head *h, const qp_model_thread *th, double watch,
                           call_cost *cost)
{
    double n_events = 2.0 * (double)cost->n_entries, n_apart = (double)th->n_apart;
    double in_line = n_apart < n_events ? 1 - n_apart / n_events : 0;
    cost->has_skips = n_apart > n_events; /* events of skipped calls, then, are among them */
    double n_delays = (double)(cost->n_entries + (cost->has_skips ? cost->n_skips : 0));
    cost->apart = 1000.0 * (double)th->apart_ticks / n_delays;
    cost->inside = in_line * (double)h->cost_inside;
    cost->in_caller = in_line * ((double)h->cost_entry + (double)h->cost_exit) +
                      (1 - in_line) * (double)h->cost_host + watch;
}

/* Skips that delay a caller whose time is recorded. */
static uint64_t skips_in_caller(const qp_model_private *own, uint32_t i)
{
    const qp_figures *f = &own->nodes[i].f, *above = &own->nodes[own->nodes[i].parent].f;
    return above->hits + above->resumes ? f->skips : 0;
}

static uint64_t rounded(double value)
{
    return value < 1e18 ? (uint64_t)(value + 0.5) : (uint64_t)1e18;
}

/* What the recorder's threads took that look at the others, in ticks. */
static uint64_t watch_ticks(const qp_model_private *own)
{
    const qp_head *h = qp_image_head(&own->image);
    const uint64_t second = 1000000000;
    uint64_t of_second = qp_model_ns(&own->model, second); /* ns of that many ticks */
    bool is_time = h->clock_kind <= QP_CLOCK_USER_KERNEL && h->clock_source != QP_SOURCE_HOST;
    return is_time && of_second ? (uint64_t)((double)h->watch_ns * 1e9 / (double)of_second) : 0;
}

/* The cost of recording: each call costs its caller and the called method. In thousandths of
 * ticks until a node is final. */
static bool find_cost(qp_model_private *own)
{
    const qp_head *h = qp_image_head(&own->image);
    call_cost *costs = qp_alloc_zeroed(own->model.n_threads, sizeof *costs);
    if (!costs)
        return false;
    double all = 0, watch = (double)watch_ticks(own) * 1000;
    for (uint32_t i = 1; i < own->model.n_nodes; i++) {
        costs[own->nodes[i].thread].n_entries += own->nodes[i].f.hits + own->nodes[i].f.resumes;
        costs[own->nodes[i].thread].n_skips += skips_in_caller(own, i);
    }
    for (uint32_t i = 1; i < own->model.n_threads; i++)
        all += (double)costs[i].n_entries;
    for (uint32_t i = 1; i < own->model.n_threads; i++) {
        const qp_model_thread *th = &own->threads[i];
        if (costs[i].n_entries)
            find_call_cost(h, th, watch / all, &costs[i]);
        else /* all its calls are of methods in no area */
            own->nodes[th->root].f.cost = rounded(1000.0 * (double)th->apart_ticks);
    }
    for (uint32_t i = own->model.n_nodes; i-- > 1;) {
        qp_figures *f = &own->nodes[i].f, *above = &own->nodes[own->nodes[i].parent].f;
        const call_cost *each = &costs[own->nodes[i].thread];
        const double n_entries = (double)(f->hits + f->resumes);
        bool is_native = !own->methods[own->nodes[i].method].file[0];
        double in_caller = each->in_caller + (is_native ? (double)h->cost_native : 0);
        f->cost = qp_sum(f->cost, rounded(n_entries * each->inside)) / 1000;
        const double n_delays =
            n_entries + (each->has_skips ? (double)skips_in_caller(own, i) : 0);
        above->cost =
            qp_sum(above->cost, rounded(n_entries * in_caller + n_delays * each->apart));
    }
    qp_free(costs);
    return true;
}

bool qp_derive(qp_model_private *own)
{
    if (!estimate(own))
        return false;
    bool has_wholes = own->model.run.time_mode == QP_TIME_ADAPTIVE && !own->model.run.is_merged;
    if (has_wholes && !divide_wholes(own))
        return false;
    if (!fit_into_run(own))
        return false;
    for (uint32_t i = 1; own->model.run.is_estimated && i < own->model.n_nodes; i++) {
        qp_figures *f = &own->nodes[i].f; /* both are estimates */
        f->off = f->off < f->self ? f->off : f->self;
    }
    return find_cost(own) && qp_derive_totals(own);
}

/* Counted calls of a method replace those of its call paths. */
static bool count_thread_calls(qp_model_private *own)
{
    bool *is_counted = qp_alloc_zeroed(own->model.n_methods, sizeof *is_counted);
    uint64_t n;
    if (!is_counted)
        return false;
    for (size_t i = 0; i < own->n_counter_blocks; i++)
        is_counted[own->counter_blocks[i].method] |=
            qp_counter_block_entries(own, &own->counter_blocks[i], &n);
    for (uint32_t i = own->model.n_threads; i < own->model.n_nodes; i++)
        if (is_counted[own->nodes[i].method])
            own->threads[own->nodes[i].thread].calls -= own->nodes[i].f.hits;
    for (size_t i = 0; i < own->n_counter_blocks; i++)
        if (qp_counter_block_entries(own, &own->counter_blocks[i], &n))
            own->threads[own->counter_blocks[i].thread].calls += n;
    qp_free(is_counted);
    return true;
}

bool qp_derive_calls(qp_model_private *own)
{
    return own->model.run.is_profile || (count_thread_calls(own) && fill_methods(own));
}

bool qp_method_is_collector(const char *name)
{
    return strcmp(name, "<Garbage collector>") == 0;
}

static void find_collector(qp_model_private *own)
{
    qp_run_info *run = &own->model.run;
    if (run->is_collector_charged)
        return;
    run->collector = run->collector_total = run->collector_half = 0;
    for (uint32_t i = 1; i < own->model.n_methods; i++) {
        const qp_figures *f = &own->methods[i].all;
        if (!qp_method_is_collector(own->methods[i].name))
            continue;
        run->collector = qp_sum(run->collector, f->self);
        run->collector_total = qp_sum(run->collector_total, f->total);
        run->collector_half = qp_sum(run->collector_half, f->self_half);
    }
}

bool qp_derive_totals(qp_model_private *own)
{
    for (uint32_t i = own->model.n_nodes; i-- > 0;) {
        add_up(own, i);
        if (own->self_variance)
            add_up_variances(own, i);
    }
    for (uint32_t i = own->model.n_threads; i < own->model.n_nodes; i++) {
        qp_model_thread *th = &own->threads[own->nodes[i].thread];
        th->calls = qp_sum(th->calls, own->nodes[i].f.calls);
        th->resumes = qp_sum(th->resumes, own->nodes[i].f.resumes);
    }
    for (uint32_t i = 1; i < own->model.n_threads; i++)
        own->threads[i].total = own->nodes[own->threads[i].root].f.total;
    if (!find_outermost(own) || !fill_methods(own))
        return false;
    find_collector(own);
    return true;
}
