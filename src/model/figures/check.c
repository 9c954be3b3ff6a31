/* check.c: the invariants, each recomputed from what the model shows. Start reading at the
 * table `checks`. */
#include "base/containers/alloc.h"
#include "model/figures/figures.h"
#include "model/read/read.h"

typedef struct {
    const qp_model *m;
    qp_check *result;
    bool has_no_memory;
} inspection;

typedef unsigned long long count; /* for %llu */

/* Look at one thing. @return true: describe the failure, it is the first */
static bool is_first_failure(inspection *s, bool is_right)
{
    s->result->n_checked++;
    if (is_right)
        return false;
    s->result->passed = false;
    return s->result->n_failed++ == 0;
}

#define EXPECT(s, is_right, ...)                                                               \
    do {                                                                                       \
        if (is_first_failure(s, is_right))                                                     \
            qp_text_format((s)->result->detail, sizeof(s)->result->detail, __VA_ARGS__);       \
    } while (0)

/* ---- the accounting identity ------------------------------------------------------------- */

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static void check_identity(inspection *s)
{
    uint64_t entries = 0, ends = 0, allowed = 0;
    if (s->m->run.is_stack_only)
        return; /* entries were not counted */
    for (uint32_t i = 1; i < s->m->n_threads; i++) {
        const qp_model_thread *th = &s->m->threads[i];
        uint64_t in =
            th->n_in_tree + th->n_deep_total + th->n_overflowed + th->n_dropped + th->n_cleared;
        uint64_t out = th->n_exits + th->n_unwound + th->n_destroyed_live + th->n_still_live +
                       th->n_dropped;
        /* events that may be half recorded; one may be an unwinding, which ends many frames */
        uint64_t n_in_flight = th->n_unsettled ? th->n_unsettled : 1;
        uint64_t slack = th->n_drift + (s->m->run.state == QP_RUN_SEALED ? 0 : n_in_flight);
        entries += in;
        ends += out;
        allowed += slack;
        EXPECT(s, distance(in, out) <= slack,
               "thread %u %.40s: %llu entries, but %llu ends, still open and dropped",
               th->ordinal, th->name, (count)in, (count)out);
    }
    EXPECT(s, distance(entries, ends) <= allowed, "all threads: %llu entries, but %llu ends",
           (count)entries, (count)ends);
}

/* ---- the tree ---------------------------------------------------------------------------- */

static void check_parents(inspection *s)
{
    const qp_model_private *own = s->m->own;
    for (uint32_t i = s->m->n_threads; i < s->m->n_nodes; i++) {
        const qp_node *r = qp_image_cell(&own->image, own->node_cells[i]);
        EXPECT(s, r->parent < own->node_cells[i] && s->m->nodes[i].parent < i,
               "call path at cell %u has caller %u", own->node_cells[i], r->parent);
    }
}

static void check_reachable(inspection *s)
{
    const qp_model *m = s->m;
    for (uint32_t i = m->n_threads; i < m->n_nodes; i++) {
        const qp_model_node *n = &m->nodes[i], *parent = &m->nodes[n->parent];
        EXPECT(s, parent->thread == n->thread && n->depth == parent->depth + 1,
               "call path %u does not lead to its thread's root", i);
    }
    const qp_model_private *own = m->own;
    uint64_t n_lost = own->n_losses[QP_LOSS_orphans] + own->n_losses[QP_LOSS_nodes];
    EXPECT(s, n_lost == 0, "%llu call paths lost their caller or their method", (count)n_lost);
}

static void check_sum(inspection *s)
{
    const qp_model *m = s->m;
    uint64_t all = 0;
    for (uint32_t t = 1; t < m->n_threads; t++)
        all = qp_sum(all, m->threads[t].total);
    uint64_t self = 0;
    for (uint32_t i = 0; i < m->n_nodes; i++)
        self = qp_sum(self, m->nodes[i].f.self);
    EXPECT(s, self == all && self == m->nodes[QP_ROOT_NODE].f.total,
           "self times add up to %llu ticks, threads to %llu, the root has %llu", (count)self,
           (count)all, (count)m->nodes[QP_ROOT_NODE].f.total);
    uint64_t methods = 0;
    for (uint32_t t = 1; t < m->n_threads; t++) /* of no method */
        methods = qp_sum(methods, m->nodes[m->threads[t].root].f.self);
    for (uint32_t i = 1; i < m->n_methods; i++)
        methods = qp_sum(methods, m->methods[i].all.self);
    EXPECT(s, methods == self, "methods and roots have %llu ticks, call paths %llu",
           (count)methods, (count)self);
}

static void check_frames(inspection *s)
{
    const qp_model *m = s->m;
    for (uint32_t t = 1; t < m->n_threads; t++) {
        const qp_model_thread *th = &m->threads[t];
        bool is_path = !th->is_salvaged || th->n_drift;
        for (uint32_t i = 0; is_path && !th->n_drift && i < th->n_frames; i++) {
            uint32_t below = i ? th->frames[i - 1] : th->root, node = th->frames[i];
            /* a call that found no memory for a node has its caller's */
            is_path = m->nodes[node].parent == below || node == below ||
                      (!m->run.is_profile && m->nodes[node].parent == th->root);
        }
        EXPECT(s, is_path, "the open frames of thread %u are not a call path", th->ordinal);
    }
}

static void check_totals(inspection *s)
{
    for (uint32_t i = 1; i < s->m->n_methods; i++) {
        const qp_figures *f = &s->m->methods[i].all;
        EXPECT(s, f->self <= f->total && f->total <= s->m->run.total,
               "%.60s: self %llu, with callees %llu, whole run %llu ticks",
               s->m->methods[i].name, (count)f->self, (count)f->total, (count)s->m->run.total);
    }
}

/* ---- times ------------------------------------------------------------------------------- */

/* An average lies between minimum and maximum where all calls were complete. Calls that were
 * open at the end, or while recording stopped or data were cleared, have neither; in a sum of
 * runs they cannot be found. */
static void check_min_max(inspection *s)
{
    const qp_model *m = s->m;
    const qp_head *h = qp_image_head(&m->own->image);
    bool has_partial = h->stopped_total || h->stopped_since || h->clear_count || h->cut ||
                       m->run.is_merged || (h->flags & QP_FLAG_TURNED);
    for (uint32_t i = m->n_threads; i < m->n_nodes; i++) {
        const qp_model_node *n = &m->nodes[i];
        const qp_model_thread *th = &m->threads[n->thread];
        bool is_busy = th->n_drift || m->run.state == QP_RUN_CRASHED;
        const uint64_t n_entries = n->f.hits + n->f.resumes;
        if (n->f.min > n->f.max || !n_entries || n->is_open || is_busy || th->n_overflowed ||
            has_partial)
            continue;
        uint64_t remainder = n->f.self % n_entries, average = n->f.self / n_entries;
        EXPECT(s, n->f.min <= average && average + (remainder != 0) <= n->f.max,
               "%.60s: average %llu is not in %llu to %llu ticks", m->methods[n->method].name,
               (count)average, (count)n->f.min, (count)n->f.max);
    }
}

static void check_blocks(inspection *s)
{
    const qp_model *m = s->m;
    const qp_model_private *own = m->own;
    const qp_head *h = qp_image_head(&own->image);
    /* in a sum of runs, each time was rounded for itself */
    bool is_busy =
        m->run.state != QP_RUN_SEALED || h->clear_count || h->cut || m->run.is_merged;
    uint32_t checked = QP_ROOT_METHOD;
    for (size_t i = 0; i < own->n_counter_blocks; i++) {
        const qp_model_counter_block *b = &own->counter_blocks[i];
        if (b->counters->kind != QP_COUNTER_BLOCK_TIMES || b->method == checked)
            continue;
        checked = b->method;
        qp_block_figures *blocks;
        size_t n;
        if (!qp_model_blocks(m, b->method, QP_ALL_THREADS, &blocks, &n)) {
            s->has_no_memory = true;
            return;
        }
        uint64_t sum = 0;
        for (size_t k = 0; k < n; k++)
            sum = qp_sum(sum, blocks[k].self);
        qp_free(blocks);
        const qp_model_method *k = &m->methods[b->method];
        /* a call without block marks has self time and no block time */
        EXPECT(s, sum <= k->all.self || is_busy,
               "%.60s: blocks have %llu ticks, the method %llu", k->name, (count)sum,
               (count)k->all.self);
    }
}

static void check_order(inspection *s)
{
    const qp_head *h = qp_image_head(&s->m->own->image);
    EXPECT(
        s, /* a cut begins by the clock of the one before it, which may have been set since then */
        !h->ended_at || h->ended_at >= h->started_at || h->cut ||
            h->clock_source == QP_SOURCE_HOST,
        "it ended at %llu, before it started at %llu", (count)h->ended_at,
        (count)h->started_at);
    EXPECT(s, !h->end_raw || h->end_raw >= h->begun_raw, "its clock ended at %llu, before %llu",
           (count)h->end_raw, (count)h->begun_raw);
    EXPECT(s, h->tick_1 >= h->tick_0 && h->ns_1 >= h->ns_0,
           "its clock was calibrated backwards");
    EXPECT(s, s->m->run.stopped <= s->m->run.wall || !s->m->run.wall,
           "recording was stopped for %llu of %llu ticks", (count)s->m->run.stopped,
           (count)s->m->run.wall);
}

/* ---- the file ---------------------------------------------------------------------------- */

static void check_references(inspection *s)
{
    const uint64_t *n = s->m->own->n_losses;
    uint64_t n_bad = n[QP_LOSS_texts] + n[QP_LOSS_tables] + n[QP_LOSS_counter_blocks] +
                     n[QP_LOSS_notes] + n[QP_LOSS_markers] + n[QP_LOSS_more] +
                     n[QP_LOSS_contexts] + n[QP_LOSS_shares] + n[QP_LOSS_sources];
    s->result->n_checked = s->m->n_methods + s->m->own->n_counter_blocks;
    EXPECT(s, n_bad == 0, "%llu references lead nowhere", (count)n_bad);
}

static void check_extents(inspection *s)
{
    const uint64_t *n = s->m->own->n_losses;
    uint64_t n_bad = n[QP_LOSS_end] + n[QP_LOSS_nonce] + n[QP_LOSS_stretches] +
                     n[QP_LOSS_extents] + n[QP_LOSS_threads] + n[QP_LOSS_methods];
    s->result->n_checked = s->m->own->n_spans;
    EXPECT(s, n_bad == 0, "%s", s->m->n_losses ? s->m->losses[0] : "");
}

static void check_checksums(inspection *s)
{
    static const char *const kinds[] = {
        "free cells",       "methods", "threads",      "call paths",    "open calls",
        "counters",         "indices", "texts",        "sources",       "contexts",
        "context counters", "markers", "event counts", "trace records", "waiting samples"};
    const qp_model_private *own = s->m->own;
    const qp_damage *d = &own->first_damage;
    uint64_t n_bad = own->n_losses[QP_LOSS_checksums] + own->n_losses[QP_LOSS_stretches];
    if (!own->has_checksums)
        return; /* it is written to, or its writer was killed, or it is of an older recorder */
    const char *kind = d->kind < sizeof kinds / sizeof *kinds ? kinds[d->kind] : "unknown kind";
    s->result->n_checked = own->n_spans + n_bad;
    if (!n_bad)
        return;
    s->result->passed = false;
    s->result->n_failed = n_bad;
    if (d->kind == QP_EXTENT_FREE)
        qp_text_format(s->result->detail, sizeof s->result->detail,
                       "bytes %llu to %llu are damaged: an extent should begin there",
                       (count)d->cell * QP_CELL, ((count)d->cell + d->n_cells) * QP_CELL - 1);
    else
        qp_text_format(s->result->detail, sizeof s->result->detail,
                       "the extent of %s at bytes %llu to %llu is damaged and left out", kind,
                       (count)d->cell * QP_CELL, ((count)d->cell + d->n_cells) * QP_CELL - 1);
}

static const struct {
    const char *name, *claim;
    void (*check)(inspection *);
} checks[] = {
    {"extents", "the file is whole: its parts follow each other without damage", check_extents},
    {"checksums", "all extents of a finished file have their checksums", check_checksums},
    {"references", "all references to texts, tables and counters are valid", check_references},
    {"accounting_identity", "every entry has ended, is still open or is counted as lost",
     check_identity},
    {"parents_first", "every call path comes after its caller", check_parents},
    {"tree_reachable", "every call path leads to the root of its thread", check_reachable},
    {"open_frames", "the open frames of every thread are a call path", check_frames},
    {"time_sum", "self times add up to the time of the run", check_sum},
    {"totals", "self time is at most the time with callees, and that at most the run's",
     check_totals},
    {"min_max", "averages lie between minimum and maximum", check_min_max},
    {"block_times", "the times of blocks are part of their methods' self times", check_blocks},
    {"time_order", "nothing ends before it begins", check_order},
};

bool qp_model_check(const qp_model *m, qp_check **out, size_t *n)
{
    enum { N_CHECKS = sizeof checks / sizeof *checks };
    *n = 0;
    *out = qp_alloc_zeroed(N_CHECKS, sizeof **out);
    if (!*out)
        return false;
    inspection s = {.m = m};
    for (; *n < N_CHECKS && !s.has_no_memory; ++*n) {
        s.result = &(*out)[*n];
        s.result->name = checks[*n].name;
        s.result->claim = checks[*n].claim;
        s.result->passed = true;
        checks[*n].check(&s);
    }
    if (s.has_no_memory) {
        qp_free(*out);
        *out = NULL;
        *n = 0;
    }
    return *out != NULL;
}
