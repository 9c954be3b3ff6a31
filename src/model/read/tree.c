/* tree.c: the threads of a profile and their call paths.
 *
 * Model nodes are numbered: root of the run, roots of the threads, then call paths in the order
 * of their cells, so that parents come before children without sorting. */
#include "base/containers/alloc.h"
#include "model/read/read.h"

enum {
    THREAD_CELLS = sizeof(qp_thread_record) / QP_CELL,
    NODES_MAX = (1u << QP_TAG_SHIFT) - 1
};

uint64_t qp_count_records(const qp_model_private *own, qp_extent_kind kind, uint32_t cells)
{
    uint64_t n = 0;
    for (size_t i = 0; i < own->n_spans; i++)
        if (own->spans[i].kind == kind)
            n += own->spans[i].n_used / cells;
    return n;
}

/* ---- threads ----------------------------------------------------------------------------- */

static void read_thread(qp_model_private *own, qp_cell cell, uint32_t index)
{
    const qp_thread_record *r = qp_image_cell(&own->image, cell);
    const qp_head *h = qp_image_head(&own->image);
    own->extras[index] =
        (qp_thread_extra){.cell = cell, .is_cleared = r->clear_count != h->clear_count};
    own->threads[index] = (qp_model_thread){
        .name = qp_load_text(own, r->name),
        .host_id = r->host_id,
        .vt_id = r->vt_id,
        .system_id = r->system_id,
        .ordinal = r->ordinal,
        .is_alive = r->state == QP_THREAD_ALIVE,
        .is_suspended = (h->flags & QP_FLAG_VIRTUAL) && r->suspended_at,
        .n_lives = r->n_lives,
        .n_exits = r->n_exits,
        .n_unwound = r->n_unwound,
        .n_destroyed_live = r->n_destroyed_live,
        .n_unsettled = r->n_unsettled,
        .n_dropped = r->n_dropped,
        .n_deep = r->n_deep,
        .n_deep_total = r->n_deep_total,
        .n_overflowed = r->n_overflowed,
        .n_cleared = r->n_cleared,
        .n_drift = r->n_drift,
        .n_apart = own->extras[index].is_cleared ? 0 : r->n_apart,
        .apart_ticks = own->extras[index].is_cleared ? 0 : r->apart_ticks,
        .skip_ticks = r->skip_ticks,
    };
    qp_index_put(own, cell, QP_TAG_THREAD, index);
}

bool qp_load_threads(qp_model_private *own)
{
    uint64_t n = 1 + qp_count_records(own, QP_EXTENT_THREADS, THREAD_CELLS);
    own->threads = qp_alloc_zeroed(n, sizeof *own->threads);
    own->extras = qp_alloc_zeroed(n, sizeof *own->extras);
    if (!own->threads || !own->extras)
        return false;
    own->threads[0].name = "all threads";
    own->model.n_threads = 1;
    own->model.threads = own->threads;
    for (size_t i = 0; i < own->n_spans; i++) {
        const qp_model_extent *s = &own->spans[i];
        if (s->kind != QP_EXTENT_THREADS)
            continue;
        for (uint32_t k = 1; k + THREAD_CELLS - 1 <= s->n_used; k += THREAD_CELLS) {
            const qp_thread_record *r = qp_image_cell(&own->image, s->cell + k);
            if (r->state == QP_THREAD_ALIVE || r->state == QP_THREAD_ENDED)
                read_thread(own, s->cell + k, own->model.n_threads++);
            else
                own->n_losses[QP_LOSS_threads] += r->state != 0;
        }
    }
    return true;
}

/* ---- nodes ------------------------------------------------------------------------------- */

/* A record that the thread's nodes name. @return NULL: there is none, or it is no such record */
static const void *aux_record(const qp_model_private *own, uint32_t thread, qp_cell cell)
{
    const qp_model_extent *s = cell ? qp_salvage_extent(own, cell) : NULL;
    bool is_ours = s && s->kind == QP_EXTENT_AUX && s->owner == own->extras[thread].cell;
    return is_ours ? qp_image_cell(&own->image, cell) : NULL;
}

static void read_values(qp_model_private *own, const qp_model_node *n, qp_cell cell)
{
    const qp_node_values *v = aux_record(own, n->thread, cell);
    const bool is_whole = v && aux_record(own, n->thread, cell + sizeof *v / QP_CELL - 1);
    const bool counts = is_whole && !own->extras[n->thread].is_cleared;
    qp_model_values *fresh = counts ? qp_buf_add(&own->values) : NULL;
    if (fresh)
        *fresh = (qp_model_values){(uint32_t)(n - own->nodes), *v};
    own->n_losses[QP_LOSS_more] += !is_whole && own->threads[n->thread].n_drift == 0;
}

/* A damaged list may lead back to itself: it has no more records than the recorder makes. */
static void read_waits(qp_model_private *own, const qp_model_node *n, qp_cell cell)
{
    for (unsigned i = 0; cell && i <= QP_LOCK_WAITS; i++) {
        const qp_lock_wait *w = aux_record(own, n->thread, cell);
        bool counts = w && w->n && !own->extras[n->thread].is_cleared;
        qp_model_lock_wait *fresh = counts ? qp_buf_add(&own->waits) : NULL;
        own->n_losses[QP_LOSS_more] += !w && own->threads[n->thread].n_drift == 0;
        if (fresh)
            *fresh = (qp_model_lock_wait){.node = (uint32_t)(n - own->nodes),
                                          .holder_cell = w->holder,
                                          .lock = w->lock ? qp_load_text(own, w->lock) : "",
                                          .n = w->n,
                                          .ns = w->ns,
                                          .longest_ns = w->longest_ns};
        cell = w ? w->next : 0;
    }
}

/* All call paths are known now. */
static void find_holders(qp_model_private *own)
{
    for (size_t i = 0; i < own->waits.n; i++) {
        qp_model_lock_wait *w = (qp_model_lock_wait *)own->waits.items + i;
        w->holder = qp_index_at(own, w->holder_cell, QP_TAG_NODE);
    }
}

static void read_metrics(qp_model_private *own, qp_model_node *n, qp_cell cell)
{
    const qp_node_metrics *m = aux_record(own, n->thread, cell);
    if (m) {
        n->f.memory = (qp_memory){m->bytes, m->objects, m->freed_bytes, m->freed_objects};
        n->f.off = m->off;
        if (m->values)
            read_values(own, n, m->values);
        read_waits(own, n, m->waits);
    } else {
        own->n_losses[QP_LOSS_more] += own->threads[n->thread].n_drift == 0;
    }
}

static void read_requests(qp_model_private *own, const qp_model_node *n, qp_cell cell)
{
    const qp_node_requests *r = aux_record(own, n->thread, cell);
    const bool is_whole =
        r && aux_record(own, n->thread, cell + sizeof *r / QP_CELL - 1) && n->method;
    const bool counts = is_whole && !own->extras[n->thread].is_cleared;
    qp_model_requests *fresh = counts ? qp_buf_add(&own->requests) : NULL;
    if (fresh)
        *fresh = (qp_model_requests){(uint32_t)(n - own->nodes), *r};
    own->n_losses[QP_LOSS_more] += !is_whole && own->threads[n->thread].n_drift == 0;
}

static void read_more(qp_model_private *own, qp_model_node *n, qp_cell cell)
{
    const qp_node_more *more = aux_record(own, n->thread, cell);
    if (!cell)
        return;
    if (!more) {
        own->n_losses[QP_LOSS_more] += own->threads[n->thread].n_drift == 0;
        return;
    }
    n->f.skips = more->n_skips;
    n->f.resumes = more->n_resumes;
    n->f.counts = more->counts;
    n->f.pc_samples = more->samples;
    if (more->metrics)
        read_metrics(own, n, more->metrics);
    if (more->requests)
        read_requests(own, n, more->requests);
}

const qp_node_timing *qp_timing_of(const qp_model_private *own, uint32_t node)
{
    const qp_node *r = qp_image_cell(&own->image, own->node_cells[node]);
    const uint32_t thread = own->nodes[node].thread;
    const qp_node_more *more = aux_record(own, thread, r->more);
    return more ? aux_record(own, thread, more->timing) : NULL;
}

/* Copy the figures as they are in the file; derive.c turns them into times. */
static void read_figures(qp_model_private *own, qp_model_node *n, const qp_node *r)
{
    qp_figures *f = &n->f;
    f->hits = r->n_calls;
    f->self = r->self;
    f->min = r->self_min >= QP_NO_MIN ? UINT64_MAX : r->self_min;
    f->max = r->self_max;
    read_more(own, n, r->more);
    qp_model_thread *th = &own->threads[n->thread];
    th->n_in_tree = qp_sum(th->n_in_tree, qp_sum(f->hits, f->skips));
    f->resumes = f->resumes < f->hits ? f->resumes : f->hits;
    f->hits -= f->resumes;
    f->calls = qp_sum(f->hits, f->skips);
    if (own->extras[n->thread].is_cleared)
        *f = (qp_figures){.min = UINT64_MAX};
}

/* The caller of a call path: the thread's root if it cannot be found; 0: leave the path out. A
 * path that was made while its thread was copied may be there before its caller: it is as if it
 * had not been made yet. */
static uint32_t parent_of(qp_model_private *own, const qp_node *r, qp_cell cell,
                          uint32_t thread)
{
    uint32_t root = own->threads[thread].root;
    uint32_t parent = r->parent < cell ? qp_index_at(own, r->parent, QP_TAG_NODE) : 0;
    if (parent && own->nodes[parent].thread == thread)
        return parent;
    if (own->threads[thread].n_drift)
        return 0;
    own->n_losses[QP_LOSS_orphans]++;
    return root;
}

/* The root of a thread has PC samples that found the stack empty. Its own time is that of outermost
 * methods that are in no area, or that found no memory; frames.c adds an open one. */
static void read_root(qp_model_private *own, uint32_t thread, const qp_node *r)
{
    qp_figures *f = &own->nodes[own->threads[thread].root].f;
    if (own->extras[thread].is_cleared)
        return;
    read_more(own, &own->nodes[own->threads[thread].root], r->more);
    f->skips = f->counts = 0;
    f->self = own->model.run.time_mode == QP_TIME_EXACT ? r->self_max : r->self;
}

static void read_node(qp_model_private *own, qp_cell cell, uint32_t thread, qp_cell root)
{
    const qp_node *r = qp_image_cell(&own->image, cell);
    if (cell == root) {
        uint32_t index = own->threads[thread].root;
        own->node_cells[index] = cell;
        qp_index_put(own, cell, QP_TAG_NODE, index);
        read_root(own, thread, r);
        return;
    }
    if (!root && !r->parent && !r->method)
        return; /* a thread's root that it has not published yet: nothing is lost */
    uint32_t method = qp_index_at(own, r->method, QP_TAG_METHOD);
    if (!method || own->model.n_nodes >= NODES_MAX) {
        own->n_losses[QP_LOSS_nodes] += own->threads[thread].n_drift == 0;
        return;
    }
    uint32_t parent = parent_of(own, r, cell, thread);
    if (!parent)
        return;
    uint32_t index = own->model.n_nodes++;
    qp_model_node *n = &own->nodes[index];
    n->method = method;
    n->thread = thread;
    n->parent = parent;
    n->depth = own->nodes[n->parent].depth + 1;
    read_figures(own, n, r);
    own->node_cells[index] = cell;
    qp_index_put(own, cell, QP_TAG_NODE, index);
}

static void make_roots(qp_model_private *own)
{
    own->nodes[QP_ROOT_NODE].f.min = UINT64_MAX;
    for (uint32_t i = 1; i < own->model.n_threads; i++) {
        own->threads[i].root = i;
        own->nodes[i] = (qp_model_node){.thread = i, .depth = 1, .f.min = UINT64_MAX};
    }
    own->model.n_nodes = own->model.n_threads;
}

void qp_link_children(qp_model_private *own)
{
    for (uint32_t i = own->model.n_nodes; --i > 0;) {
        qp_model_node *parent = &own->nodes[own->nodes[i].parent];
        own->nodes[i].next_sibling = parent->first_child;
        parent->first_child = i;
    }
}

bool qp_load_nodes(qp_model_private *own)
{
    uint64_t n = own->model.n_threads + qp_count_records(own, QP_EXTENT_NODES, 1);
    own->nodes = qp_alloc_zeroed(n, sizeof *own->nodes);
    own->node_cells = qp_alloc_zeroed(n, sizeof *own->node_cells);
    if (!own->nodes || !own->node_cells)
        return false;
    own->model.nodes = own->nodes;
    own->requests = QP_BUF(qp_model_requests);
    own->values = QP_BUF(qp_model_values);
    own->waits = QP_BUF(qp_model_lock_wait);
    make_roots(own);
    for (size_t i = 0; i < own->n_spans; i++) {
        const qp_model_extent *s = &own->spans[i];
        if (s->kind != QP_EXTENT_NODES)
            continue;
        uint32_t thread = qp_index_at(own, s->owner, QP_TAG_THREAD);
        if (!thread) {
            /* a thread is published after its first extents: while it begins, nothing is
             * lost */
            own->n_losses[QP_LOSS_nodes] += s->n_used > 1 ? s->n_used - 1 : 0;
            continue;
        }
        const qp_thread_record *r = qp_image_cell(&own->image, own->extras[thread].cell);
        for (uint32_t k = 1; k <= s->n_used; k++)
            read_node(own, s->cell + k, thread, r->root);
    }
    qp_link_children(own);
    find_holders(own);
    return !own->requests.failed && !own->values.failed && !own->waits.failed;
}

/* ---- creators ---------------------------------------------------------------------------- */

/* A damaged file may state that two threads created each other. Each thread is visited once: `seen` has
 * the thread from which it was reached. */
static void break_cycles(qp_model_private *own, uint32_t *seen)
{
    for (uint32_t i = 1; i < own->model.n_threads; i++) {
        uint32_t at = i;
        while (!seen[at]) {
            seen[at] = i;
            qp_model_thread *th = &own->threads[at];
            uint32_t above = th->creator ? own->nodes[th->creator].thread : 0;
            if (!above)
                break;
            if (seen[above] == i)
                th->creator = 0;
            at = above;
        }
    }
}

bool qp_load_creators(qp_model_private *own)
{
    uint32_t *seen = qp_alloc_zeroed(own->model.n_threads, sizeof *seen);
    for (uint32_t i = 1; seen && i < own->model.n_threads; i++) {
        const qp_thread_record *r = qp_image_cell(&own->image, own->extras[i].cell);
        uint32_t creator = qp_index_at(own, r->creator, QP_TAG_NODE);
        own->threads[i].creator = creator && own->nodes[creator].thread != i ? creator : 0;
    }
    if (seen)
        break_cycles(own, seen);
    qp_free(seen);
    return seen != NULL;
}

bool qp_load_thread_names(qp_model_private *own)
{
    enum { NAME_BYTES = 160 };
    char *names = qp_alloc_zeroed(own->model.n_threads, NAME_BYTES);
    own->thread_names = names;
    if (!names)
        return false;
    for (uint32_t i = 1; i < own->model.n_threads; i++) {
        qp_model_thread *th = &own->threads[i];
        char *to = names + (size_t)i * NAME_BYTES;
        uint32_t first = own->nodes[th->root].first_child;
        if (th->name[0])
            continue;
        if (first)
            qp_text_format(to, NAME_BYTES, ".%.120s_%u.",
                           own->methods[own->nodes[first].method].name, th->ordinal);
        else
            qp_text_format(to, NAME_BYTES, ".thread_%u.", th->ordinal);
        th->name = to;
    }
    return true;
}
