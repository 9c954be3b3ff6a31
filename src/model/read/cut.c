/* cut.c: what a recorder counted between two states of its profile. Read qp_cut first.
 *
 * A cut of a spool is a file of two states. Counters and times only grow, so each is subtracted for itself, and what was being written
 * while a state was copied is in exactly one cut. Three things need more: an open call, to which a reader credits the time since the
 * thread's last event, which the thread adds later; adaptive times, which are estimates of all calls so far; and a thread whose data
 * were cleared in between, of which the earlier state has nothing to subtract. What a file names is compared with its end: it may be
 * damaged. */
#include "base/text/wide.h"
#include "format/space.h"
#include "model/read/read.h"

enum { OPEN = 1, THREAD_CELLS = sizeof(qp_thread_record) / QP_CELL };

typedef struct {
    qp_state_bytes now, before;
    bool has_data;
} cut;

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static qp_head *head_of(qp_state_bytes s)
{
    return (qp_head *)(void *)s.bytes;
}

/* @return NULL: not in the file */
static void *cells_at(qp_state_bytes s, uint64_t cell, uint64_t n)
{
    uint64_t all = s.n_bytes / QP_CELL;
    return cell && cell < all && n <= all - cell ? s.bytes + cell * QP_CELL : NULL;
}

/* What a state has of a record, of which a thread's is the largest; zeros: nothing. They may be written to: the cells that
 * a damaged file names. */
static void *record_at(qp_state_bytes s, uint64_t cell, uint64_t n)
{
    static uint64_t none[sizeof(qp_thread_record) / sizeof(uint64_t)];
    void *p = cells_at(s, cell, n);
    return p ? p : memset(none, 0, sizeof none);
}

static qp_extent *next_extent(qp_state_bytes s, uint64_t *cell)
{
    qp_extent *e;
    for (; (e = cells_at(s, *cell, 1)) != NULL; ++*cell)
        if (qp_extent_begins(e, *cell, head_of(s)->nonce) && e->n_cells &&
            cells_at(s, *cell, e->n_cells)) {
            *cell += e->n_cells;
            return e;
        }
    return NULL;
}

/* ---- what a reader sees ------------------------------------------------------------------- */

static bool is_method(qp_state_bytes s, qp_cell cell)
{
    return ((const qp_method *)record_at(s, cell, 1))->published == 1;
}

/* A path that was made while its thread was copied may be there without its caller or its method. */
static void drop_unseen_nodes(qp_state_bytes s, qp_extent *e)
{
    const qp_thread_record *r = record_at(s, e->owner, THREAD_CELLS);
    qp_node *n = (qp_node *)(void *)(e + 1);
    for (uint32_t cell = e->self + 1; cell <= e->self + e->n_used; cell++, n++) {
        const qp_node *parent = record_at(s, n->parent, 1);
        bool has_parent = n->parent < cell && (n->parent == r->root || parent->method);
        if (!r->state || (cell != r->root && !(has_parent && is_method(s, n->method))))
            *n = (qp_node){.method = 0};
        n->last = 0; /* OPEN from now on */
    }
}

/* Zero what a reader leaves out, so that it is not subtracted. */
static void drop_unseen(qp_state_bytes s)
{
    const uint32_t filled = 1u << QP_EXTENT_NODES | 1u << QP_EXTENT_AUX |
                            1u << QP_EXTENT_BANKS | 1u << QP_EXTENT_SHARES;
    qp_extent *e;
    for (uint64_t cell = QP_HEAD_CELLS; (e = next_extent(s, &cell)) != NULL;) {
        if (e->kind > QP_EXTENT_WAITING || !(filled >> e->kind & 1))
            continue;
        if (e->n_used >= e->n_cells)
            e->n_used = e->n_cells - 1;
        memset(e + 1 + e->n_used, 0, (size_t)(e->n_cells - 1 - e->n_used) * QP_CELL);
        if (e->kind == QP_EXTENT_NODES)
            drop_unseen_nodes(s, e);
    }
}

/* Thread time up to which a reader credits the open call. */
static uint64_t credited(qp_state_bytes s, const qp_thread_record *r)
{
    const qp_head *h = head_of(s);
    bool is_shared = h->clock_kind == QP_CLOCK_ELAPSED && h->user_clock == QP_CLOCK_ELAPSED &&
                     h->wait_clock == QP_CLOCK_ELAPSED;
    uint64_t raw =
        h->stopped_since && h->stopped_since < h->end_raw ? h->stopped_since : h->end_raw;
    uint64_t at = raw - (h->stopped_total - r->stopped_seen);
    if (r->state != QP_THREAD_ALIVE || !is_shared || !raw || r->n_drift)
        return r->last;
    at = (r->suspended_at ? r->suspended_at : at) - r->offset;
    return (int64_t)(at - r->last) > 0 ? at : r->last;
}

/* A walk over the open frames of a thread, the top one first. */
typedef struct {
    qp_state_bytes s;
    const qp_extent *chunk;
    uint64_t slot;
} cursor;

static cursor stack_of(qp_state_bytes s, const qp_thread_record *r)
{
    uint64_t top = r->top & ~QP_TOP_BUSY;
    if (top & QP_TOP_TOKEN) /* there are no frames */
        return (cursor){s, record_at(s, 0, 1), 0};
    const qp_extent *chunk = record_at(s, r->chunk, 1);
    return (cursor){s, chunk, less(top / QP_CELL, (uint64_t)chunk->self + 1)};
}

static uint64_t depth_of(const cursor *c)
{
    return c->chunk->base_depth + c->slot;
}

/* @return NULL: no more */
static qp_frame *frame_of(const cursor *c)
{
    return c->slot || c->chunk->prev ? cells_at(c->s, (uint64_t)c->chunk->self + 1 + c->slot, 1)
                                     : NULL;
}

/* The first slot of a chunk takes the place of the last one of the chunk below. */
static void step_down(cursor *c)
{
    if (c->slot) {
        c->slot--;
        return;
    }
    const qp_extent *below = record_at(c->s, c->chunk->prev, 1);
    bool fits =
        below->base_depth < c->chunk->base_depth && below->n_cells > 3; /* so that it ends */
    c->chunk = fits ? below : record_at(c->s, 0, 1);
    c->slot = fits ? below->n_cells - 3 : 0;
}

/* The path on top of a thread's stack; 0: none. */
static qp_cell open_path(qp_state_bytes s, const qp_thread_record *r)
{
    const cursor c = stack_of(s, r);
    const qp_frame *f = frame_of(&c);
    uint64_t top = r->top & ~QP_TOP_BUSY;
    return (qp_cell)((top & QP_TOP_TOKEN ? top : f ? f->node : 0) / QP_CELL);
}

static void mark_open(qp_state_bytes s, const qp_thread_record *r)
{
    qp_node *n;
    for (qp_cell at = open_path(s, r); (n = cells_at(s, at, 1)) != NULL;) {
        n->last = OPEN;
        at = n->parent < at ? n->parent : 0;
    }
}

/* ---- call paths --------------------------------------------------------------------------- */

/* Are data of the thread from before? Not if they were cleared in between. */
static bool is_cleared(const qp_thread_record *now, const qp_thread_record *before)
{
    return now->clear_count != before->clear_count;
}

/* Is it yet to clear its data, which no reader counts any more? */
static bool is_pending(qp_state_bytes s, qp_cell thread)
{
    const qp_thread_record *r = record_at(s, thread, THREAD_CELLS);
    return r->clear_count != head_of(s)->clear_count;
}

/* Adaptive: ticks of the calls that have ended. */
static uint64_t estimate(const qp_node *n, const qp_node_timing *t)
{
    uint64_t n_ended =
        n->n_calls - (n->n_calls && n->last == OPEN && !(n->begun & QP_BEGUN_OLD));
    return t->n_timed < QP_TIMING_KNOWN || !t->covered
               ? n->self + t->beyond
               : qp_product_share(n->self, n_ended, 0, t->covered) + t->beyond;
}

static uint64_t light_n_timed(const qp_node *n, uint32_t shift)
{
    return n->self_min ? (n->self_min - 1) >> shift : 0;
}

/* Ticks that a reader credits to the open call of a path. */
static uint64_t open_ticks(const cut *x, const qp_node *n, uint64_t until)
{
    uint64_t ticks = less(until, n->begun & ~(QP_BEGUN_TIMED | QP_BEGUN_OLD));
    uint64_t gap = head_of(x->before)->coarse_period;
    if (n->last != OPEN)
        return 0;
    return n->begun & QP_BEGUN_TIMED ? ticks : ticks - (gap && gap < ticks ? gap : ticks) / 2;
}

static void cut_adaptive(const cut *x, qp_node *n, const qp_node *o, uint64_t until)
{
    const qp_node_more *m = record_at(x->now, n->more, 1),
                       *om = record_at(x->before, o->more, 1);
    qp_node_timing *t = record_at(x->now, m->timing, 1);
    const qp_node_timing *ot = record_at(x->before, om->timing, 1);
    uint32_t shift = (n->self_max & 0xFF) <= 8 ? n->self_max & 0xFF : 0;
    uint64_t timed = om->timing ? ot->n_timed : light_n_timed(o, shift);
    n->self = less(estimate(n, t), estimate(o, ot));
    if (n->last == OPEN && o->last == OPEN && n->begun == o->begun)
        n->begun = (until > (o->begun & ~(QP_BEGUN_TIMED | QP_BEGUN_OLD)) ? until : o->begun) |
                   QP_BEGUN_TIMED | QP_BEGUN_OLD;
    else
        n->self = less(n->self, open_ticks(x, o, until));
    if (m->timing) {
        t->n_timed = less(t->n_timed, timed);
        t->variance = less(t->variance, ot->variance);
        t->covered = t->beyond = 0;
    } else {
        n->self_min = (less(light_n_timed(n, shift), timed) << shift) + 1;
    }
}

static void cut_requests(const cut *x, const qp_node *o, qp_cell cell, qp_cell old)
{
    qp_node_requests *r = record_at(x->now, cell, 2);
    const qp_node_requests *was = record_at(x->before, old, 2);
    bool was_open = o->last == OPEN && was->n_begun > was->n_ended; /* counts where it ends */
    r->n_begun = less(r->n_begun, was->n_begun) + was_open;
    r->n_ended = less(r->n_ended, was->n_ended);
    r->n_failed = less(r->n_failed, was->n_failed);
    r->n_timed = less(r->n_timed, was->n_timed);
    r->elapsed_ns = less(r->elapsed_ns, was->elapsed_ns);
}

/* n of the words that follow each other. @return is anything left? */
static bool cut_words(uint64_t *now, const uint64_t *before, uint64_t n)
{
    uint64_t all = 0;
    for (uint64_t i = 0; i < n; i++)
        all |= now[i] = less(now[i], before[i]);
    return all;
}

/* Records stay in their cells: what the earlier state does not have is zero there. */
static void cut_waits(const cut *x, qp_cell cell)
{
    for (unsigned i = 0; cell && i <= QP_LOCK_WAITS; i++) {
        qp_lock_wait *w = record_at(x->now, cell, 1);
        const qp_lock_wait *was = record_at(x->before, cell, 1);
        cut_words(&w->n, &was->n, 2);
        cell = w->next;
    }
}

static bool cut_more(const cut *x, const qp_node *o, qp_cell cell, qp_cell old)
{
    qp_node_more *m = record_at(x->now, cell, 1);
    const qp_node_more *om = record_at(x->before, old, 1);
    bool has_data = cut_words(&m->n_skips, &om->n_skips, 4);
    if (m->metrics) {
        qp_node_metrics *k = record_at(x->now, m->metrics, 1);
        qp_node_metrics *ok = record_at(x->before, om->metrics, 1);
        has_data |= cut_words(&k->bytes, &ok->bytes, 5);
        cut_waits(x, k->waits);
        if (k->values)
            has_data |= cut_words(record_at(x->now, k->values, 2),
                                  record_at(x->before, ok->values, 2), QP_METRICS);
    }
    if (m->requests)
        cut_requests(x, o, m->requests, om->requests);
    return has_data;
}

static void cut_node(cut *x, qp_node *n, const qp_node *o, qp_thread_record *r, uint64_t until)
{
    uint32_t mode = head_of(x->now)->time_mode;
    const qp_node_more *om = record_at(x->before, o->more, 1);
    r->n_cleared += o->n_calls + om->n_skips;
    if (mode == QP_TIME_ADAPTIVE && n->parent)
        cut_adaptive(x, n, o, until);
    else if (mode != QP_TIME_EXACT || n->parent) /* see cut_top() */
        n->self = less(n->self, o->self);
    if (n->more)
        x->has_data |= cut_more(x, o, n->more, o->more);
    n->n_calls = less(n->n_calls, o->n_calls);
    if (mode == QP_TIME_SAMPLED)
        n->self_max = less(n->self_max, o->self_max);
    if (mode == QP_TIME_EXACT && n->parent && !n->n_calls) {
        n->self_min = QP_NO_MIN;
        n->self_max = 0;
    }
    x->has_data |= n->n_calls || (n->parent && n->self);
}

static void cut_nodes(cut *x, qp_extent *e)
{
    qp_thread_record *r = cells_at(x->now, e->owner, THREAD_CELLS);
    const qp_thread_record *was = record_at(x->before, e->owner, THREAD_CELLS);
    uint64_t until = credited(x->before, was);
    qp_node *n = (qp_node *)(void *)(e + 1);
    bool is_void = r && is_cleared(r, was);
    for (uint32_t i = 1; r && i <= e->n_used; i++, n++)
        if (n->method || e->self + i == r->root)
            cut_node(x, n, record_at(x->before, is_void ? 0 : (uint64_t)e->self + i, 1), r,
                     until);
}

/* ---- counters ------------------------------------------------------------------------------ */

static uint64_t n_sums(const qp_counter_block *b)
{
    uint64_t most = (uint64_t)(b->n_cells - 1) * (QP_CELL / sizeof *b->values);
    uint64_t n = b->kind == QP_COUNTER_BLOCK_TIMES ? 2 * (uint64_t)b->n_blocks : b->n_values;
    return n < most ? n : most;
}

/* Shares have a sign. */
static void cut_blocks(cut *x, qp_extent *e)
{
    const qp_thread_record *r = record_at(x->now, e->owner, THREAD_CELLS);
    const qp_thread_record *was = record_at(x->before, e->owner, THREAD_CELLS);
    qp_counter_block *b;
    bool is_void = is_cleared(r, was);
    for (uint32_t i = 1; i <= e->n_used; i += b->n_cells) {
        b = (qp_counter_block *)(void *)(e + i);
        if (!b->n_cells || b->n_cells > e->n_used + 1 - i)
            return;
        const qp_counter_block *o =
            is_void ? NULL : cells_at(x->before, (uint64_t)e->self + i, b->n_cells);
        if (!is_method(x->now, b->method))
            b->kind = 0;
        bool is_new = !o || o->kind != b->kind || !is_method(x->before, b->method);
        b->calls -= is_new ? 0 : o->calls;
        for (uint64_t k = 0; k < n_sums(b); k++) {
            b->values[k] -= is_new ? 0 : o->values[k];
            x->has_data |= b->kind && b->values[k];
        }
    }
}

/* A request that is kept whole is in one cut. @param i  cell of the extent */
static void cut_kept(qp_kept_part *now, const qp_kept_part *before, uint32_t i)
{
    if (i % QP_KEPT_CELLS == 1 && before->published && before->number == now->number)
        now->published = 0;
}

/* Records that belong to no thread. */
static void cut_shared(const cut *x, qp_extent *e)
{
    bool is_cleared = head_of(x->now)->clear_count != head_of(x->before)->clear_count;
    for (uint32_t i = 1; i < e->n_cells; i++) {
        void *now = e + i;
        const void *before = record_at(x->before, (uint64_t)e->self + i, 1);
        if (e->kind == QP_EXTENT_KEPT)
            cut_kept(now, before, i);
        else if (e->kind == QP_EXTENT_MARKERS)
            ((qp_marker *)now)->published &= !((const qp_marker *)before)->published;
        else if (e->kind == QP_EXTENT_WAITING && head_of(x->now)->state == QP_SNAPSHOT)
            ((qp_waiting *)now)->n_passes =
                0; /* the next cut has what the thread then credits */
        else if (e->kind == QP_EXTENT_EVENTS && !is_cleared)
            cut_words(&((qp_event_count *)now)->count, &((const qp_event_count *)before)->count,
                      1);
        else if (e->kind == QP_EXTENT_CONTEXTS)
            cut_words(&((qp_context *)now)->n_switches,
                      &((const qp_context *)before)->n_switches, 1);
    }
}

/* ---- threads ------------------------------------------------------------------------------- */

/* Of outermost calls without a path of their own, with the open one: what a reader gives to the root. */
static uint64_t time_of_root(qp_state_bytes s, const qp_thread_record *r)
{
    const qp_node *root = record_at(s, r->root, 1);
    uint32_t bottom = 0;
    const qp_frame *f;
    for (cursor c = stack_of(s, r); (f = frame_of(&c)) != NULL; step_down(&c))
        bottom = f->flags;
    bool is_roots = bottom & (QP_FRAME_EXCLUDED | QP_FRAME_OVERFLOWED);
    return root->self_max + (is_roots ? less(root->self, root->begun) : 0);
}

/* A reader has given the time since the mark to the block; then the block was left. */
static void cut_left_block(const cut *x, const qp_frame *was, uint64_t self, uint64_t until)
{
    const qp_node *n = record_at(x->now, was->node / QP_CELL, 1);
    const qp_node_more *more = record_at(x->now, n->more, 1);
    qp_counter_block *b = cells_at(x->now, more->time_counters, 1);
    uint64_t at = 2 * (uint64_t)was->block;
    if (!b || b->kind != QP_COUNTER_BLOCK_TIMES || at + 1 >= n_sums(b))
        return;
    b->values[at] = less(b->values[at], less(self, was->mark_self));
    b->values[at + 1] = less(b->values[at + 1], less(until, was->mark_at));
}

static uint64_t self_before(const cut *x, const qp_frame *f, qp_cell top, uint64_t ticks)
{
    qp_cell cell = (qp_cell)(f->node / QP_CELL);
    return ((const qp_node *)record_at(x->before, cell, 1))->self + (cell == top ? ticks : 0);
}

/* Blocks that are marked in open frames. @param top  path to which a reader has credited `ticks` */
static void cut_marks(const cut *x, const qp_thread_record *r, const qp_thread_record *was,
                      qp_cell top, uint64_t ticks)
{
    cursor c = stack_of(x->now, r), o = stack_of(x->before, was);
    uint64_t until = was->last + ticks;
    for (qp_frame *f, *g; f = frame_of(&c), g = frame_of(&o), f || g;) {
        bool is_upper = f && (!g || depth_of(&c) >= depth_of(&o)),
             was_upper = g && (!f || depth_of(&o) >= depth_of(&c));
        bool is_same = is_upper && was_upper && f->flags & QP_FRAME_MARKED &&
                       f->mark_at == g->mark_at && f->node == g->node;
        if (was_upper && g->flags & QP_FRAME_MARKED && !(g->flags & QP_FRAME_EXCLUDED) &&
            !is_same)
            cut_left_block(x, g, self_before(x, g, top, ticks), until);
        if (is_upper && f->flags & QP_FRAME_MARKED) {
            f->mark_self = less(f->mark_self, self_before(x, f, top, ticks));
            f->mark_at = f->mark_at > until ? f->mark_at : until;
        }
        if (is_upper)
            step_down(&c);
        if (was_upper)
            step_down(&o);
    }
}

/* A reader has credited `ticks` to the path, and will credit what follows. The thread has charged it since then, or has had
 * no event. */
static void cut_open(cut *x, qp_thread_record *r, const qp_thread_record *was, uint64_t *self,
                     uint64_t *off)
{
    uint64_t until = credited(x->before, was), ticks = until - was->last;
    uint64_t noted = was->off_since == was->last && !was->suspended_at ? was->off_open : 0;
    noted = noted < ticks ? noted : ticks;
    if (*self >= ticks) {
        *self -= ticks;
        *off = less(*off, noted);
        return;
    }
    r->off_open = less(r->off_open, noted);
    r->last = r->off_since = until;
}

/* Exact times. */
static void cut_top(cut *x, qp_thread_record *r, const qp_thread_record *was)
{
    uint64_t unused = 0, ticks = credited(x->before, was) - was->last;
    qp_cell path = open_path(x->before, was);
    qp_node *root = cells_at(x->now, r->root, 1), *top = cells_at(x->now, path, 1);
    if (root && was->root == r->root) {
        root->self_max = less(time_of_root(x->now, r), time_of_root(x->before, was));
        root->begun = root->self;
        x->has_data |= root->self_max != 0;
    }
    cut_marks(x, r, was, path, ticks);
    if (!top || !ticks)
        return;
    const qp_node_more *more = record_at(x->now, top->more, 1);
    qp_node_metrics *k = more->metrics ? cells_at(x->now, more->metrics, 1) : NULL;
    cut_open(x, r, was, top == root ? &top->self_max : &top->self, k ? &k->off : &unused);
}

static void cut_thread(cut *x, qp_thread_record *r, const qp_thread_record *was)
{
    const qp_head *h = head_of(x->now);
    if (!r->state)
        return;
    if (!is_cleared(r, was)) {
        r->n_apart = less(r->n_apart, was->n_apart);
        r->apart_ticks = less(r->apart_ticks, was->apart_ticks);
        if (h->time_mode == QP_TIME_EXACT)
            cut_top(x, r, was);
        r->n_drift += was->n_drift;
    }
    if (h->state == QP_SNAPSHOT && (r->n_drift || r->clear_count != h->clear_count))
        r->suspended_at = r->last + r->offset; /* its open call is left to the next cut */
    bool is_first =
        !head_of(x->before)->cut && !h->clear_count; /* then a call that is open is counted */
    x->has_data |= !is_first && h->time_mode <= QP_TIME_ADAPTIVE && open_path(x->now, r) &&
                   credited(x->now, r) > r->last;
}

static void each_thread(cut *x, qp_extent *e, bool marks)
{
    for (uint32_t i = 1; i + THREAD_CELLS <= e->n_cells; i += THREAD_CELLS) {
        qp_thread_record *r = (qp_thread_record *)(void *)(e + i);
        const qp_thread_record *was = record_at(x->before, (uint64_t)e->self + i, THREAD_CELLS);
        if (!marks) {
            cut_thread(x, r, was);
            continue;
        }
        mark_open(x->now, r);
        mark_open(x->before, was);
    }
}

/* ---- a cut --------------------------------------------------------------------------------- */

static void cut_head(qp_head *h, const qp_head *o)
{
    h->cut = o->cut + 1;
    if (!o->nonce)
        return;
    h->begun_raw = o->end_raw;
    h->started_at = o->ended_at;
    cut_words(&h->n_passes, &o->n_passes, 2);
    cut_words(&h->n_critical, &o->n_critical, 1);
    cut_words(&h->watch_ns, &o->watch_ns, 1);
    h->spool_dropped = (uint32_t)less(h->spool_dropped, o->spool_dropped);
    cut_words(h->diagnostics, o->diagnostics, QP_N_DIAGNOSTICS);
    for (unsigned i = 0; i < QP_N_FINDINGS; i++)
        cut_words(&h->findings[i].count, &o->findings[i].count, 2);
}

bool qp_cut(qp_state_bytes now, qp_state_bytes before)
{
    static qp_head nothing;
    enum { MARK, CUT, THREADS, N_PASSES };
    cut x = {now, before, false};
    qp_extent *e;
    if (!before.n_bytes)
        x.before = (qp_state_bytes){(char *)&nothing, sizeof nothing};
    drop_unseen(x.now);
    drop_unseen(x.before);
    for (unsigned pass = 0; pass < N_PASSES; pass++)
        for (uint64_t cell = QP_HEAD_CELLS; (e = next_extent(now, &cell)) != NULL;) {
            bool had_data = x.has_data;
            if (e->kind == QP_EXTENT_THREADS && pass != CUT)
                each_thread(&x, e, pass == MARK);
            else if (pass != CUT)
                continue;
            else if (e->kind == QP_EXTENT_NODES)
                cut_nodes(&x, e);
            else if (e->kind == QP_EXTENT_BANKS || e->kind == QP_EXTENT_SHARES)
                cut_blocks(&x, e);
            else
                cut_shared(&x, e);
            if (e->owner && is_pending(now, e->owner))
                x.has_data = had_data;
        }
    cut_head(head_of(now), head_of(x.before));
    head_of(now)->major = QP_MAJOR;
    head_of(now)->flags &= ~(uint32_t)QP_FLAG_CHECKSUMS;
    head_of(now)->checksum = 0;
    const uint64_t *losses = head_of(now)->diagnostics;
    return x.has_data || losses[QP_D_thread_nomem] || losses[QP_D_out_of_memory];
}

/* ---- a file of two states ------------------------------------------------------------------- */

static bool is_whole(qp_state_bytes s)
{
    uint64_t n_found = 0;
    const qp_extent *e;
    for (uint64_t cell = QP_HEAD_CELLS; (e = next_extent(s, &cell)) != NULL;
         n_found += e->n_cells)
        if (e->checksum != qp_extent_checksum(e, e->n_cells))
            return false;
    return head_of(s)->checksum == qp_head_checksum(head_of(s)) &&
           n_found == head_of(s)->n_sealed;
}

qp_state_bytes qp_image_state(const qp_image *image)
{
    uint64_t n_bytes = qp_image_head(image)->n_cells * QP_CELL;
    return (qp_state_bytes){(char *)image->bytes,
                            n_bytes < image->file_bytes ? n_bytes : image->file_bytes};
}

bool qp_image_cut(qp_image *image, qp_error *error)
{
    qp_head *h = (qp_head *)(void *)image->bytes;
    if (h->major != QP_MAJOR_CUT)
        return true;
    qp_state_bytes now = qp_image_state(image),
                   before = {image->bytes ? now.bytes + now.n_bytes : NULL,
                             image->file_bytes - now.n_bytes};
    bool has_before =
        before.n_bytes >= sizeof *h && head_of(before)->n_cells * QP_CELL == before.n_bytes;
    if (!is_whole(now) || (before.n_bytes && !has_before) || (!has_before && h->cut > 1) ||
        (has_before && (!is_whole(before) || head_of(before)->nonce != h->nonce)))
        return qp_error_fail(error, "damaged: a checksum does not match, or it is cut off");
    qp_cut(now, before);
    image->file_bytes = now.n_bytes;
    image->n_cells = (uint32_t)(now.n_bytes / QP_CELL);
    return true;
}
