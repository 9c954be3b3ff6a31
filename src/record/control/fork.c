/* fork.c: a forked child continues the run in a file of its own, see -follow-child-processes. Read
 * qp_fork_prepare first.
 *
 * The child's file lies at the parent's addresses and what it has lies at the same offsets: so the
 * host's handles, tokens and pointers stay valid. It is copied before the fork, because afterwards
 * the parent continues. Of a call tree the child needs the paths that are open, and those that have
 * created threads; the rest becomes free extents, which are holes in the file.
 *
 * Other OS threads of the parent may record meanwhile: nothing of their threads is used, and what all
 * threads share is copied until it does not change. Threads that no OS thread drives are kept from
 * being driven until the fork is over. */
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/os/clock.h"
#include "base/os/system.h"
#include "base/os/thread.h"
#include "record/clock/clock.h"
#include "record/control/control.h"
#include "record/event/event.h"
#include "record/pause/pause.h"
#include "record/tree/tree.h"

enum { TRIES = 4, MORE_CELLS = 1 << 18 /* that others may claim meanwhile: 16 MiB */ };

/* What becomes of a thread. */
typedef enum {
    GONE,
    PATHS, /* it continues, with the open paths of its tree */
    WHOLE  /* the same, with all of its memory: pointers may lead anywhere into it */
} thread_fate;

typedef struct {
    uint32_t gate;
    bool is_frozen;
} row_state;

/* In memory that the child inherits. Arrays follow it. */
typedef struct {
    size_t n_bytes; /* of all */
    qp_recorder_data recorder;
    uint64_t n_cells, most_cells;
    uint64_t paused, stopped; /* ticks that recording has been stopped now, and in all */
    uint32_t n_rows, n_fates;
    row_state *states;    /* of rows */
    unsigned char *fates; /* thread_fate, by the ordinals of thread records */
    char *rows;           /* QP_HANDLE_BYTES each */
    char *image;          /* of the file; what is not copied is zero */
    uint64_t *starts;     /* a bit for each cell: the header of an extent that the image has */
    uint64_t *marks;      /* the same: a node that the child needs; apart */
    size_t n_mark_bytes;
} fork_copy;

_Static_assert(sizeof(qp_recorder_data) % sizeof(uint64_t) == 0, "it is copied by words");

static fork_copy *kept; /* NULL: none */

/* In a child: which of the first cells are nodes that it has. */
static struct {
    uint64_t *marks;
    uint64_t n_cells;
    size_t n_bytes;
    uint32_t epoch; /* of the run */
} inherited;

/* ---- copying ----------------------------------------------------------------------------- */

/* Copy what other threads may be writing: words are copied whole. @return did any change? */
__attribute__((no_sanitize("thread"))) static bool copy(void *to, const void *from,
                                                        uint64_t n_bytes)
{
    typedef uint64_t __attribute__((may_alias)) word;
    const volatile word *source = from;
    word *target = to, changes = 0;
    for (uint64_t i = 0; i < n_bytes / sizeof *target; i++) {
        word value = source[i];
        changes |= target[i] ^ value;
        target[i] = value;
    }
    return changes;
}

static char *image_at(const fork_copy *c, uint64_t cell)
{
    return c->image + cell * QP_CELL;
}

static bool has_bit(const uint64_t *bits, uint64_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

static void set_bit(uint64_t *bits, uint64_t i)
{
    bits[i / 64] |= (uint64_t)1 << i % 64;
}

/* The first bit from i on that is set. @return n: none */
static uint64_t next_bit(const uint64_t *bits, uint64_t i, uint64_t n)
{
    for (; i < n; i = (i / 64 + 1) * 64)
        if (bits[i / 64] >> i % 64)
            break;
    i += i < n ? (uint64_t)__builtin_ctzll(bits[i / 64] >> i % 64) : 0;
    return i < n ? i : n;
}

static bool copy_cells(const fork_copy *c, uint64_t cell, uint64_t n_cells)
{
    return copy(image_at(c, cell), qp_at(&qp_recorder.space, (qp_cell)cell), n_cells * QP_CELL);
}

static thread_fate fate_at(const fork_copy *c, const qp_thread_record *r)
{
    uint32_t ordinal = qp_load(&r->ordinal);
    return ordinal < c->n_fates ? (thread_fate)c->fates[ordinal] : GONE;
}

/* How many cells of an extent the child needs. Of a tree of which it needs some paths, the headers of
 * extents that have any; nodes are copied one by one. */
static uint32_t n_needed(const fork_copy *c, const qp_extent *e)
{
    thread_fate fate = e->owner ? fate_at(c, qp_at(&qp_recorder.space, e->owner)) : WHOLE;
    uint64_t end = (uint64_t)e->self + e->n_cells;
    switch (e->kind) {
    case QP_EXTENT_FREE:
    case QP_EXTENT_RING:
    case QP_EXTENT_MARKERS:
    case QP_EXTENT_KEPT:
        return 0;
    case QP_EXTENT_NODES:
        return fate == WHOLE ? e->n_cells
                             : fate == PATHS && next_bit(c->marks, e->self, end) < end;
    case QP_EXTENT_FRAMES:
        return fate == GONE ? 0 : e->n_cells;
    default:
        return fate == WHOLE ? e->n_cells : 0;
    }
}

/* Does another OS thread record? */
static bool has_other_os_threads(void)
{
    for (uint32_t i = 1; qp_os_thread_at(i); i++)
        if (qp_observe(&qp_os_thread_at(i)->state) != QP_OS_THREAD_ENDED &&
            !(qp_here.epoch == qp_recorder.epoch && i == qp_here.ordinal))
            return true;
    return false;
}

typedef enum { NOTHING, CHANGED, GREW } copy_change;

/* Copy extents that the copy lacks, and with others those again that threads share. An extent is
 * copied after those below it: so a reference that was copied leads to what is complete, or to an
 * extent that the copy still lacks.
 * @return has the copy of what is shared changed? */
static copy_change copy_extents(fork_copy *c, bool again)
{
    const uint32_t apart = 1u << QP_EXTENT_THREADS | 1u << QP_EXTENT_WAITING |
                           1u << QP_EXTENT_EVENTS | 1u << QP_EXTENT_SHARES;
    copy_change change = NOTHING;
    for (uint64_t cell = QP_HEAD_CELLS, n; cell < c->n_cells; cell += n) {
        const qp_extent *e = qp_at(&qp_recorder.space, (qp_cell)cell);
        n = 1;
        if (qp_observe(&e->magic) != QP_EXTENT_MAGIC || e->self != cell || !e->n_cells ||
            e->n_cells > c->n_cells - cell)
            continue; /* another thread is about to write its header */
        n = e->n_cells;
        uint32_t n_copied = n_needed(c, e);
        bool is_new = n_copied && !has_bit(c->starts, cell);
        bool is_shared = !e->owner && !(apart >> e->kind & 1);
        if (is_new)
            set_bit(c->starts, cell);
        if (is_new || (n_copied && again && is_shared)) {
            bool is_changed = copy_cells(c, cell, n_copied) && is_shared;
            change = is_changed && is_new ? GREW : is_changed && !change ? CHANGED : change;
        }
    }
    return change;
}

/* Once more, until nothing has changed. If others never rest, a method that one of them is registering
 * may lack its name. @return false: others make too much */
static bool copy_file(fork_copy *c)
{
    copy_change change = GREW;
    bool has_others = true;
    for (unsigned tries = 0; change != NOTHING && has_others; tries++) {
        c->n_cells = qp_observe(&qp_recorder_head()->n_cells);
        if (c->n_cells > c->most_cells)
            return false;
        change = copy_extents(c, tries && tries < TRIES);
        copy(&c->recorder, &qp_recorder, sizeof c->recorder);
        has_others = has_other_os_threads() || qp_recorder_head()->sample_period;
    }
    copy(c->image, qp_recorder_head(), QP_HEAD_BYTES);
    return true;
}

/* ---- the paths that the child needs ------------------------------------------------------- */

static void mark(const fork_copy *c, qp_cell path)
{
    for (qp_cell cell = path; cell && cell < c->n_cells && !has_bit(c->marks, cell);) {
        set_bit(c->marks, cell);
        copy_cells(c, cell, 1);
        cell = ((const qp_node *)qp_at(&qp_recorder.space, cell))->parent;
    }
}

/* Frames without a path were never sampled; those below one with a path have parts of it. */
static void mark_open(const fork_copy *c, qprof_thread *th)
{
    uint64_t top = QPROF_LOAD(th->pulse->top);
    mark(c, qp_record_of(th)->root);
    if (top & QPROF_TOP_BUSY)
        return; /* then it is WHOLE */
    if (top & QPROF_TOP_TOKEN) {
        mark(c, (qp_cell)(top >> 6));
    } else if (top) {
        qp_stack_cursor s = qp_stack_from(th, QPROF_AT(th, qprof_frame, top));
        while (!s.f->node && qp_stack_down(th, &s))
            ;
        mark(c, qp_frame_path(s.f));
    }
}

/* The path that created a thread, unless its own thread is gone. */
static void mark_creator(const fork_copy *c, const qprof_thread *th)
{
    qp_cell creator = qp_load(&qp_record_of(th)->creator), root = creator;
    while (root && root < c->n_cells && qp_node_at(th, root)->parent)
        root = qp_node_at(th, root)->parent;
    if (root && root < c->n_cells && has_bit(c->marks, root))
        mark(c, creator);
}

static void mark_paths(const fork_copy *c)
{
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < c->n_rows; i++) {
            qprof_thread *th = qp_threads_at(i);
            if (!qp_observe(&th->pulse) || fate_at(c, qp_record_of(th)) == GONE)
                continue;
            if (pass == 0)
                mark_open(c, th);
            else
                mark_creator(c, th);
        }
}

/* ---- before the fork ---------------------------------------------------------------------- */

/* Stacks that share a handle keep tokens of frames that are open on none of its paths. */
static bool may_lead_anywhere(const qprof_thread *th)
{
    bool has_blocks =
        qp_record_of(th)->counter_blocks && qp_recorder_head()->grain != QP_GRAIN_FUNCTION;
    return qp_is_busy(th) || th->user || has_blocks || qp_load(&qp_recorder.has_counters) ||
           (qp_load(&qp_recorder.hooks) & QP_HOOK_CHECK);
}

static thread_fate decide(qprof_thread *th, bool has_others, bool *is_frozen)
{
    bool is_here = qp_here.epoch == qp_recorder.epoch, is_left;
    if (!qp_is_open(th))
        is_left = !has_others;
    else if (is_here && QPROF_LOAD(th->os_thread) == qp_here.ordinal)
        is_left = true;
    else if (!qp_record_of(th)->vt_id && !(is_here && th == qp_here.own))
        is_left = false;
    else
        is_left = *is_frozen = qp_thread_freeze(th);
    return !is_left ? GONE : may_lead_anywhere(th) ? WHOLE : PATHS;
}

static void save_rows(fork_copy *c, bool has_others)
{
    for (uint32_t i = 0; i < c->n_rows; i++) {
        qprof_thread *th = qp_threads_at(i);
        qprof_thread *copied = (void *)(c->rows + (size_t)i * QP_HANDLE_BYTES);
        row_state *state = &c->states[i];
        if (!qp_observe(&th->pulse))
            continue;
        thread_fate fate = decide(th, has_others, &state->is_frozen);
        uint32_t ordinal = qp_load(&qp_record_of(th)->ordinal);
        qp_thread_save_row(i, copied);
        if (state->is_frozen)
            copied->os_thread = 0;
        state->gate = fate == GONE ? 0 : copied->gate;
        copied->gate = 0;
        if (ordinal < c->n_fates)
            c->fates[ordinal] = (unsigned char)fate;
    }
}

/* Put the arrays side by side. @return bytes of all */
static size_t lay_out(fork_copy *c, char *base)
{
    char *at = base + (sizeof *c + QP_CELL - 1) / QP_CELL * QP_CELL;
    c->rows = at;
    at += (size_t)c->n_rows * QP_HANDLE_BYTES;
    c->image = at;
    at += c->most_cells * QP_CELL;
    c->starts = (void *)at;
    at += (c->most_cells / 64 + 1) * sizeof *c->starts;
    c->states = (void *)at;
    at += c->n_rows * sizeof *c->states;
    c->fates = (void *)at;
    at += c->n_fates;
    return (size_t)(at - base);
}

void qp_fork_prepare(void)
{
    fork_copy plan = {0};
    if (qp_state() != QP_STATE_RUNNING || qp_here.in_control ||
        !qp_recorder.options.number[QP_OPT_follow_child_processes])
        return;
    plan.n_cells = qp_observe(&qp_recorder_head()->n_cells);
    plan.most_cells = plan.n_cells + MORE_CELLS;
    plan.n_fates = qp_load(&qp_recorder_head()->n_threads) + 1;
    while (qp_threads_at(plan.n_rows))
        plan.n_rows++;
    plan.n_bytes = lay_out(&plan, NULL);
    plan.n_mark_bytes = (size_t)(plan.most_cells / 64 + 1) * sizeof *plan.marks;
    plan.marks = qp_pages_take(plan.n_mark_bytes);
    fork_copy *c = plan.marks ? qp_pages_take(plan.n_bytes) : NULL;
    if (!c) {
        qp_pages_drop(plan.marks, plan.n_mark_bytes);
        return;
    }
    *c = plan;
    lay_out(c, (char *)c);
    kept = c;
    qp_data_sync_here();
    save_rows(c, has_other_os_threads());
    mark_paths(c);
    if (!copy_file(c))
        c->n_cells = 0;
    qp_mapping_pass_on(&qp_recorder.space.map, true);
}

static void drop_copy(fork_copy *c)
{
    kept = NULL;
    qp_pages_drop(c->marks, c->n_mark_bytes);
    qp_pages_drop(c, c->n_bytes);
}

void qp_fork_release(void)
{
    fork_copy *c = kept;
    if (!c)
        return;
    qp_mapping_pass_on(&qp_recorder.space.map, false);
    for (uint32_t i = 0; i < c->n_rows; i++)
        if (c->states[i].is_frozen)
            qp_thread_thaw(qp_threads_at(i));
    drop_copy(c);
}

/* ---- the child's file --------------------------------------------------------------------- */

/* Extents are written in the order of their cells; what lies between them becomes free. */
typedef struct {
    const qp_mapping *map;
    uint64_t nonce;
    uint64_t next; /* cell after the last extent */
    bool has_failed;
} file_writer;

static void put(file_writer *w, uint64_t cell, const void *bytes, uint64_t n_cells)
{
    w->has_failed = w->has_failed ||
                    !qp_mapping_put(w->map, cell * QP_CELL, bytes, (size_t)(n_cells * QP_CELL));
}

static void put_free(file_writer *w, uint64_t end)
{
    const qp_extent e = {.magic = QP_EXTENT_MAGIC,
                         .self = (qp_cell)w->next,
                         .n_cells = (uint32_t)(end - w->next),
                         .kind = QP_EXTENT_FREE,
                         .nonce = w->nonce ^ w->next};
    if (w->next < end)
        put(w, w->next, &e, 1);
}

static void put_extent(file_writer *w, qp_extent *e)
{
    e->nonce = w->nonce ^ e->self;
    put_free(w, e->self);
    put(w, e->self, e, e->n_cells);
    w->next = (uint64_t)e->self + e->n_cells;
}

static void put_whole(const fork_copy *c, file_writer *w, qp_extent *e)
{
    for (uint32_t i = 1; e->kind == QP_EXTENT_NODES && i < e->n_cells; i++)
        set_bit(c->marks, (uint64_t)e->self + i);
    put_extent(w, e);
}

/* Of an extent of nodes, those that are marked: each run of them becomes an extent, whose header takes
 * the place of what precedes it. */
static void put_nodes(const fork_copy *c, file_writer *w, const qp_extent *from)
{
    qp_thread_record *r = (void *)image_at(c, from->owner);
    const qp_extent whole = *from;
    uint64_t end = (uint64_t)whole.self + whole.n_cells;
    for (uint64_t first = whole.self + 1, last; first < end; first = last + 1) {
        last = first;
        if (!has_bit(c->marks, first))
            continue;
        while (last < end && has_bit(c->marks, last))
            last++;
        qp_extent *e = (void *)image_at(c, first - 1);
        *e = (qp_extent){.magic = QP_EXTENT_MAGIC,
                         .self = (qp_cell)(first - 1),
                         .n_cells = (uint32_t)(last - first + 1),
                         .kind = QP_EXTENT_NODES,
                         .owner = whole.owner,
                         .n_used = (uint32_t)(last - first),
                         .prev = r->nodes};
        r->nodes = e->self;
        put_extent(w, e);
    }
}

/* Of a thread that is gone the id is needed once more. */
static void prepare_records(const fork_copy *c, qp_extent *e)
{
    for (uint32_t i = 1; i + 4 <= e->n_cells; i += 4) {
        qp_thread_record *r = (void *)((char *)e + (size_t)i * QP_CELL);
        if (fate_at(c, r) == GONE)
            *r = (qp_thread_record){.ordinal = r->ordinal, .vt_id = r->vt_id};
        else if (fate_at(c, r) == PATHS)
            r->nodes = r->aux = r->counter_blocks = r->index = 0;
    }
}

/* Other threads may have been making or registering them, and will not finish. */
static void prepare_methods(qp_extent *e)
{
    for (uint32_t i = 1; i < e->n_cells; i++) {
        qp_method *m = (void *)((char *)e + (size_t)i * QP_CELL);
        if (!m->published)
            *m = (qp_method){0};
        else if (!(m->flags & QP_METHOD_REGISTERED))
            m->flags &= ~(uint32_t)QP_METHOD_CLAIMED;
    }
}

static bool write_file(const fork_copy *c, const qp_mapping *map)
{
    file_writer w = {.map = map, .next = QP_HEAD_CELLS};
    qp_signal_hold hold;
    if (!qp_system_random(&w.nonce, sizeof w.nonce))
        w.nonce = qp_clock_monotonic() * 0x9E3779B97F4A7C15u;
    ((qp_head *)(void *)c->image)->nonce = w.nonce;
    ((qp_head *)(void *)c->image)->n_cells = c->n_cells;
    qp_signal_hold_begin(&hold, SIGXFSZ);
    for (uint64_t cell = QP_HEAD_CELLS;
         (cell = next_bit(c->starts, cell, c->n_cells)) < c->n_cells; cell++) {
        qp_extent *e = (void *)image_at(c, cell);
        if (e->kind == QP_EXTENT_THREADS)
            prepare_records(c, e);
        if (e->kind == QP_EXTENT_METHODS)
            prepare_methods(e);
        if (e->kind == QP_EXTENT_NODES && fate_at(c, (void *)image_at(c, e->owner)) == PATHS)
            put_nodes(c, &w, e);
        else
            put_whole(c, &w, e);
    }
    put_free(&w, c->n_cells);
    put(&w, 0, c->image, QP_HEAD_CELLS);
    qp_signal_hold_end(&hold);
    return !w.has_failed;
}

static bool make_file(const fork_copy *c, const char *output, qp_mapping *map)
{
    const qp_mapping *parent = &c->recorder.space.map;
    const uint64_t n_bytes = c->n_cells * QP_CELL;
    char path[QP_PATH_MAX];
    *map = (qp_mapping){.fd = -1};
    for (unsigned i = 0; i < 3 && !map->base; i++)
        if (qp_output_live_name(i, output, path, sizeof path))
            qp_mapping_open_like(map, path, parent, n_bytes);
    if (!map->base && qp_mapping_open_like(map, NULL, parent, n_bytes) != 0)
        return false;
    if (write_file(c, map))
        return true;
    if (map->path[0])
        unlink(map->path);
    qp_mapping_close(map);
    return false;
}

/* ---- the child's run ---------------------------------------------------------------------- */

/* The head has what is the parent's: times, process, messages, losses. */
static void begin_head(fork_copy *c)
{
    qp_head *h = qp_recorder_head();
    uint64_t now = qp_clock_elapsed();
    c->paused = h->stopped_since ? now - h->stopped_since : 0;
    c->stopped = h->stopped_total + c->paused;
    h->stopped_total = 0;
    h->stopped_since = h->stopped_since ? now : 0;
    h->stop_change = 0;
    h->begun_raw = now;
    h->pid = (uint64_t)getpid();
    h->pid_start = qp_system_process_start();
    h->started_at = qp_clock_wall();
    h->dataset = 0;
    h->n_passes = h->sample_ns = 0;
    h->spool_dropped = 0;
    h->notes = h->label = h->trace_file = h->spool = 0;
    h->request = h->answer = 0;
    h->flags &= ~(uint32_t)QP_FLAG_NO_FILE;
    memset(h->diagnostics, 0, sizeof h->diagnostics);
    memset(h->findings, 0, sizeof h->findings);
    if (qp_recorder.space.map.fd < 0) {
        h->flags |= QP_FLAG_NO_FILE;
        qp_count(&qp_recorder.space, QP_D_no_crash_safety);
    }
}

/* Its record is one that no thread has used. */
static void end_row(qprof_thread *th)
{
    qp_thread_record *r = qp_record_of(th);
    if (r->vt_id)
        qp_thread_drop_vt(th);
    *r = (qp_thread_record){.ordinal = r->ordinal};
    memset(th->own, 0, sizeof th->own);
}

static void begin_row(const fork_copy *c, qprof_thread *th)
{
    qp_thread_record *r = qp_record_of(th);
    const qp_thread_record *copied = (void *)image_at(c, qp_record_cell(th));
    r->nodes = copied->nodes; /* known since all of the file was written */
    if (r->creator && !has_bit(c->marks, r->creator))
        r->creator = 0;
    r->system_id = qp_here.system_id;
    if (fate_at(c, r) == PATHS)
        qp_tree_renew(th);
}

static void begin_rows(const fork_copy *c)
{
    memset(qp_recorder.idle_rows, 0, sizeof qp_recorder.idle_rows);
    qp_recorder.parked_cells = 0;
    for (uint32_t i = 0; i < c->n_rows; i++)
        qp_thread_restore_row(i, c->rows + (size_t)i * QP_HANDLE_BYTES);
    for (uint32_t i = 0; i < c->n_rows; i++) {
        qprof_thread *th = qp_threads_at(i);
        if (!th->pulse)
            continue;
        *qp_steps_of(th) = (qp_steps){0};
        if (fate_at(c, qp_record_of(th)) == GONE)
            end_row(th);
        else
            begin_row(c, th);
        if (!c->states[i].gate && th != qp_here.own)
            qp_thread_drop_row(th);
    }
}

bool qp_fork_restore(const char *output)
{
    fork_copy *c = kept;
    qp_mapping own, parents = qp_recorder.space.map;
    if (c && !(c->n_cells && make_file(c, output, &own))) {
        qp_pages_drop(parents.base, parents.reserved_bytes);
        drop_copy(c);
        c = NULL;
    }
    if (!c)
        return false;
    qp_mapping_detach(&parents);
    qp_recorder = c->recorder;
    qp_recorder.space.map = own;
    qp_recorder.is_child = true;
    qp_recorder.has_saved = false;
    qp_recorder.n_datasets = 0;
    qp_recorder.markers = 0;
    qp_recorder.n_markers = 0;
    qp_os_threads_forget_others();
    begin_head(c);
    begin_rows(c);
    return true;
}

/* What came before the fork has been counted in the parent's file: n calls are open. */
static void begin_counts(qp_thread_record *r, uint64_t n)
{
    r->n_exits = r->n_unwound = r->n_destroyed_live = r->n_dropped = r->n_overflowed = 0;
    r->n_deep_total = r->n_unsettled = 0;
    r->n_cleared = n;
    r->n_lives = 1;
}

/* Clear a thread. One that an event was interrupted on is left to its next event. */
static void resume_row(const fork_copy *c, qprof_thread *th, uint32_t gate)
{
    const uint32_t trace = QP_HOOK_TRACE | QP_HOOK_UNTRACED | QP_HOOK_SAMPLE;
    qp_thread_record *r = qp_record_of(th);
    uint64_t n_open = 0;
    if (gate & QP_HOOK_STEPS) /* an open request is the parent's */
        gate = (gate | QPROF_HOOK_EXACT) & ~(uint32_t)QP_HOOK_STEPS;
    if (qp_is_busy(th)) {
        r->stopped_seen -= c->stopped;
        QPROF_STORE(th->gate, (gate & ~trace) | QP_HOOK_SYNC);
        return;
    }
    r->stopped_seen = 0;
    if ((gate & QP_HOOK_STOPPED) && qp_clock_is_shared() && !th->pulse->suspended_at)
        QPROF_ADD(th->pulse->offset, c->paused);
    qp_set_busy(th);
    QPROF_STORE(th->gate, gate ? gate & ~trace : qp_recorder.hooks & QPROF_HOOK_ADAPTIVE);
    if (QPROF_LOAD(th->os_thread)) {
        qp_waits_begin(th);
        qp_pause_migrate(th);
    }
    qprof_frame *top = gate ? qp_busy_top(th) : r->root ? qp_stack_first(th) : NULL;
    if (top && qp_load(&r->clear_count) != qp_load(&qp_recorder_head()->clear_count))
        qp_pause_clear(th, top);
    if (top && gate)
        n_open = qp_host_depth(th, top);
    begin_counts(r, n_open);
    if (!gate) {
        QPROF_STORE(th->pulse->top, 0);
        QPROF_STORE(th->gate, 0);
    } else if (top) {
        qp_event_end(th, top);
    } else {
        qp_clear_busy(th);
    }
}

void qp_fork_resume(void)
{
    fork_copy *c = kept;
    qp_data_begin_clear();
    qp_recorder.clear_of_fork = qp_recorder_head()->clear_count;
    for (uint32_t i = 0; i < c->n_rows; i++) {
        qprof_thread *th = qp_threads_at(i);
        if (th->pulse && fate_at(c, qp_record_of(th)) != GONE)
            resume_row(c, th, c->states[i].gate);
    }
    qp_recorder_cleared();
    qp_pages_drop(inherited.marks, inherited.n_bytes);
    inherited.marks = c->marks;
    inherited.n_bytes = c->n_mark_bytes;
    inherited.n_cells = c->n_cells;
    inherited.epoch = qp_recorder.epoch;
    c->marks = NULL;
    drop_copy(c);
}

bool qp_fork_has_path(qp_cell path)
{
    return inherited.epoch != qp_recorder.epoch || path >= inherited.n_cells ||
           (inherited.marks[path / 64] >> path % 64 & 1);
}
