/* frames.c: the frames that are open at the end of a profile, and the times that their call
 * paths do not have yet. Start reading at add_frame(). */
#include "base/containers/alloc.h"
#include "base/os/clock.h"
#include "base/os/thread.h"
#include "model/read/read.h"

/* A walk from the top frame down through the chunks of a stack. */
typedef struct {
    const qp_model_extent *chunk;
    uint32_t slot;
} cursor;

static const qp_thread_record *record_of(const qp_model_private *own, uint32_t thread)
{
    return qp_image_cell(&own->image, own->extras[thread].cell);
}

/* ---- thread time ------------------------------------------------------------------------- */

static bool is_shared_clock(const qp_head *h)
{
    return h->clock_kind == QP_CLOCK_ELAPSED && h->user_clock == QP_CLOCK_ELAPSED &&
           h->wait_clock == QP_CLOCK_ELAPSED;
}

/* The thread time up to which the top frame has run. Other threads can read the elapsed clock
 * and the host's counts only. */
static uint64_t time_now(const qp_model_private *own, const qp_thread_record *r)
{
    const qp_head *h = qp_image_head(&own->image);
    if (r->state != QP_THREAD_ALIVE)
        return r->last;
    if (h->clock_kind == QP_CLOCK_COUNTS && !r->suspended_at)
        return r->counts - r->offset;
    if (!is_shared_clock(h) || !own->now_raw)
        return r->last;
    if (r->suspended_at)
        return r->suspended_at - r->offset;
    uint64_t raw =
        h->stopped_since && h->stopped_since < own->now_raw ? h->stopped_since : own->now_raw;
    return raw - r->offset - (h->stopped_total - r->stopped_seen);
}

static uint64_t time_of_clear(const qp_model_private *own, const qp_thread_record *r)
{
    const qp_head *h = qp_image_head(&own->image);
    if (!is_shared_clock(h))
        return r->last;
    if (r->suspended_at)
        return r->suspended_at - r->offset;
    return h->clear_raw - h->clear_stopped - (r->offset - r->stopped_seen);
}

/* Ticks of the open interval off the processor: as the recorder noted them at the end, or of a thread
 * that can be looked at now. */
static uint64_t time_off(const qp_model_private *own, const qp_thread_record *r, uint64_t ticks)
{
    const qp_run_info *run = &own->model.run;
    if (!run->has_waits || !ticks || r->suspended_at || r->state != QP_THREAD_ALIVE)
        return 0;
    if (run->state == QP_RUN_LIVE) {
        uint64_t cpu = qp_task_cpu(run->pid, r->system_id), wall = qp_clock_monotonic();
        uint64_t interval = qp_model_ns(&own->model, ticks);
        bool is_known = r->wall_at && wall > r->wall_at && cpu >= r->cpu_at && cpu && interval;
        uint64_t off = is_known ? qp_time_off(interval, wall - r->wall_at, cpu - r->cpu_at) : 0;
        return (uint64_t)((double)ticks * ((double)off / (double)(interval ? interval : 1)));
    }
    uint64_t noted = r->off_since == r->last && run->state != QP_RUN_CRASHED ? r->off_open : 0;
    return noted < ticks ? noted : ticks;
}

static void set_times(qp_model_private *own, uint32_t thread)
{
    const qp_thread_record *r = record_of(own, thread);
    const qp_head *h = qp_image_head(&own->image);
    qp_thread_extra *x = &own->extras[thread];
    x->since = r->last;
    if (x->is_cleared)
        x->since += qp_ticks_between(r->last, time_of_clear(own, r));
    uint64_t ahead = qp_ticks_between(x->since, time_now(own, r));
    uint64_t run = own->now_raw ? qp_ticks_between(h->begun_raw, own->now_raw) : UINT64_MAX;
    x->now = x->since + (ahead < run ? ahead : run);
    x->off = x->is_cleared ? 0 : time_off(own, r, x->now - x->since);
}

/* ---- the stack --------------------------------------------------------------------------- */

static const qp_extent *header_of(const qp_model_private *own, const qp_model_extent *s)
{
    return qp_image_cell(&own->image, s->cell);
}

static const qp_model_extent *chunk_of(const qp_model_private *own, uint32_t thread,
                                       uint64_t frame)
{
    const qp_model_extent *s = qp_salvage_extent(own, frame);
    return s && s->kind == QP_EXTENT_FRAMES && s->owner == own->extras[thread].cell ? s : NULL;
}

/* One frame down. @return false: the root frame, or no way on (then *is_broken) */
static bool step_down(const qp_model_private *own, uint32_t thread, cursor *c, bool *is_broken)
{
    const qp_extent *e = header_of(own, c->chunk);
    if (c->slot > (e->prev ? 0u : 1u)) {
        c->slot--;
        return true;
    }
    if (!e->prev)
        return false;
    const qp_model_extent *below = chunk_of(own, thread, (uint64_t)e->prev + 1);
    *is_broken = true;
    if (!below || below->cell != e->prev || below->n_cells < 4)
        return false;
    /* its last slot is superseded by our slot 0; depths fall strictly, so the walk ends */
    if (header_of(own, below)->base_depth + below->n_cells - 2 != e->base_depth ||
        e->base_depth < below->n_cells - 2)
        return false;
    *is_broken = false;
    *c = (cursor){below, below->n_cells - 3};
    return c->slot > 0 || header_of(own, below)->prev;
}

/* ---- frames ------------------------------------------------------------------------------ */

static void add_block(qp_model_private *own, qp_buf *blocks, const qp_model_node *n,
                      const qp_frame *f, uint64_t self, uint64_t now)
{
    bool is_marked = f->flags & QP_FRAME_MARKED;
    qp_open_block *b = is_marked ? qp_buf_add(blocks) : NULL;
    if (!b)
        return;
    const qp_thread_extra *x = &own->extras[n->thread];
    uint64_t from = x->is_cleared ? x->since : f->mark_at;
    *b = (qp_open_block){n->method, n->thread, f->block,
                         x->is_cleared ? self : qp_ticks_between(f->mark_self, self),
                         qp_ticks_between(from, now)};
}

/* A call that is not timed began between two ticks of the coarse clock. */
static void add_untimed(qp_model_private *own, uint32_t node, uint64_t since_tick)
{
    double since = (double)since_tick, gap = own->model.run.coarse_period;
    double unknown = since < gap || gap <= 0 ? since : gap;
    own->open_ticks[node] = qp_sum(own->open_ticks[node], (uint64_t)(since - unknown / 2));
    own->open_variance[node] += 1 + unknown * unknown / 12;
}

static void add_adaptive(qp_model_private *own, uint32_t node, const qp_frame *f,
                         const qp_thread_extra *x)
{
    const uint32_t without_call =
        QP_FRAME_SKIP | QP_FRAME_OVERFLOWED | QP_FRAME_EXCLUDED | QP_FRAME_FOLDED;
    const qp_node *r = qp_image_cell(&own->image, own->node_cells[node]);
    uint64_t begun = r->begun & ~(QP_BEGUN_TIMED | QP_BEGUN_OLD),
             *ticks = &own->open_ticks[node];
    if (f->flags & without_call)
        return;
    if (!x->is_cleared && !(r->begun & QP_BEGUN_OLD))
        own->open_calls[node]++;
    if (x->is_cleared)
        *ticks = qp_sum(*ticks, x->now - x->since);
    else if (r->begun & QP_BEGUN_TIMED)
        *ticks = qp_sum(*ticks, qp_ticks_between(begun, x->now));
    else
        add_untimed(own, node, qp_ticks_between(begun, x->now));
}

/* Add the figures of an open frame to its call path as if the call ended now. */
static void add_frame(qp_model_private *own, qp_buf *blocks, uint32_t node, const qp_frame *f,
                      bool is_top)
{
    qp_model_node *n = &own->nodes[node];
    const qp_thread_extra *x = &own->extras[n->thread];
    qp_time_mode mode = own->model.run.time_mode;
    n->is_open = true;
    if (mode == QP_TIME_EXACT) {
        n->f.self = qp_sum(n->f.self, is_top ? x->now - x->since : 0);
        n->f.off = qp_sum(n->f.off, is_top ? x->off : 0);
        if (!(f->flags & QP_FRAME_EXCLUDED))
            add_block(own, blocks, n, f, n->f.self, x->now);
    } else if (mode == QP_TIME_ADAPTIVE) {
        add_adaptive(own, node, f, x);
    }
}

/* What the walk over a stack has found. */
typedef struct {
    uint32_t *nodes; /* of open frames, innermost first, as many as a path may have */
    uint32_t n;
    uint64_t depth;
    const qp_frame *bottom; /* the outermost one */
    bool is_broken;
} stack;

static void read_frame(qp_model_private *own, uint32_t thread, qp_buf *blocks,
                       const qp_frame *f, stack *s)
{
    uint32_t node = qp_index_at(own, (qp_cell)(f->node / QP_CELL), QP_TAG_NODE);
    s->depth++;
    s->bottom = f;
    if (!f->node && own->model.run.is_stack_only)
        return; /* never sampled: its path is not known */
    if (!node || own->nodes[node].thread != thread) {
        s->is_broken = true;
        return;
    }
    add_frame(own, blocks, node, f, s->depth == 1);
    if (!(f->flags & QP_FRAME_EXCLUDED)) /* its node is its caller's */
        s->nodes[s->n++] = node;
}

static void read_frames(qp_model_private *own, uint32_t thread, qp_buf *blocks, uint64_t top,
                        stack *s)
{
    const qp_model_extent *chunk = top ? chunk_of(own, thread, top / QP_CELL) : NULL;
    s->is_broken = top && !chunk;
    if (!chunk)
        return;
    cursor c = {chunk, (uint32_t)(top / QP_CELL) - chunk->cell - 1};
    bool is_frame = c.slot > 0 || header_of(own, chunk)->prev;
    for (; is_frame; is_frame = step_down(own, thread, &c, &s->is_broken))
        read_frame(own, thread, blocks, qp_image_cell(&own->image, c.chunk->cell + 1 + c.slot),
                   s);
}

/* An outermost call without a path of its own is open: its time is the root's. */
static void add_root(qp_model_private *own, uint32_t thread, const qp_frame *bottom)
{
    uint32_t root = own->threads[thread].root;
    const qp_node *r = qp_image_cell(&own->image, own->node_cells[root]);
    bool is_roots = bottom && (bottom->flags & (QP_FRAME_EXCLUDED | QP_FRAME_OVERFLOWED));
    if (is_roots && own->model.run.time_mode == QP_TIME_EXACT &&
        !own->extras[thread].is_cleared)
        own->nodes[root].f.self =
            qp_sum(own->nodes[root].f.self, qp_ticks_between(r->begun, r->self));
}

/* With a token on top, each node of its path has an open call. */
static void read_token(qp_model_private *own, uint32_t thread, uint64_t token, stack *s)
{
    uint32_t node = qp_index_at(own, (qp_cell)(token / QP_CELL), QP_TAG_NODE);
    uint32_t root = own->threads[thread].root;
    s->is_broken = !node || own->nodes[node].thread != thread;
    for (; !s->is_broken && node != root; node = own->nodes[node].parent) {
        s->depth++;
        add_frame(own, NULL, node, &(const qp_frame){.flags = 0}, s->depth == 1);
        s->nodes[s->n++] = node;
    }
}

/* With tokens, ends are not counted one by one: what is not open has ended. */
static void count_ends(qp_model_thread *th)
{
    uint64_t in = th->n_in_tree + th->n_deep_total + th->n_overflowed + th->n_cleared;
    uint64_t out = th->n_exits + th->n_unwound + th->n_destroyed_live + th->n_still_live;
    th->n_exits = qp_sum(th->n_exits, in > out ? in - out : 0);
}

/* The nodes of a thread's open frames, innermost first, into `to`. @return how many */
static uint32_t read_stack(qp_model_private *own, uint32_t thread, qp_buf *blocks, uint32_t *to)
{
    const qp_thread_record *r = record_of(own, thread);
    qp_model_thread *th = &own->threads[thread];
    uint64_t top = r->top & ~QP_TOP_BUSY;
    stack s = {.nodes = to};
    if (top & QP_TOP_TOKEN)
        read_token(own, thread, top, &s);
    else
        read_frames(own, thread, blocks, top, &s);
    add_root(own, thread, s.bottom);
    th->is_salvaged = s.is_broken;
    own->n_losses[QP_LOSS_stacks] += s.is_broken && !th->n_drift;
    th->n_still_live = s.depth + r->n_deep;
    th->depth = (uint32_t)th->n_still_live;
    if (r->has_tokens)
        count_ends(th);
    return s.n;
}

static void reverse(uint32_t *items, uint32_t n)
{
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t other = items[i];
        items[i] = items[n - 1 - i];
        items[n - 1 - i] = other;
    }
}

static bool reserve(qp_model_private *own)
{
    uint64_t most = qp_count_records(own, QP_EXTENT_FRAMES, 1) + own->model.n_nodes;
    own->frames = qp_alloc_zeroed(most, sizeof *own->frames);
    if (own->model.run.time_mode == QP_TIME_ADAPTIVE) {
        own->open_calls = qp_alloc_zeroed(own->model.n_nodes, sizeof *own->open_calls);
        own->open_ticks = qp_alloc_zeroed(own->model.n_nodes, sizeof *own->open_ticks);
        own->open_variance = qp_alloc_zeroed(own->model.n_nodes, sizeof *own->open_variance);
        if (!own->open_calls || !own->open_ticks || !own->open_variance)
            return false;
    }
    return own->frames != NULL;
}

bool qp_load_frames(qp_model_private *own)
{
    qp_buf blocks = QP_BUF(qp_open_block);
    uint32_t n_frames = 0;
    if (!reserve(own))
        return false;
    for (uint32_t i = 1; i < own->model.n_threads; i++) {
        qp_model_thread *th = &own->threads[i];
        set_times(own, i);
        th->n_frames = read_stack(own, i, &blocks, own->frames + n_frames);
        reverse(own->frames + n_frames, th->n_frames);
        th->frames = own->frames + n_frames;
        n_frames += th->n_frames;
    }
    own->open_blocks = qp_buf_take(&blocks, &own->n_open_blocks);
    return own->open_blocks != NULL;
}
