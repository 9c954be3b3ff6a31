/* threads.c: the arena of handles, their rows and indices, and OS threads. event/life.c makes
 * and ends threads, event/mount.c lets OS threads drive them.
 *
 * No lock is taken: rows are claimed from slabs, and those of ended threads wait on a lock-free
 * stack. Read qp_thread_take_row first. */
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/containers/trie.h"
#include "base/os/mapping.h"
#include "format/layout.h"
#include "record/run/run.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum {
    HANDLES_MAX = 1 << 24,
    HANDLES_MIN = 1 << 12,
    RECORD_CELLS = sizeof(qp_thread_record) / QP_CELL
};

_Static_assert(sizeof(qprof_thread) == 64, "a handle is one line");
_Static_assert(sizeof(qprof_node) == sizeof(qp_node) &&
                   sizeof(qprof_frame) == sizeof(qp_frame) && sizeof(qprof_pulse) == QP_CELL,
               "the inline header and the file agree");
_Static_assert(offsetof(qprof_node, parent) == offsetof(qp_node, parent) &&
                   offsetof(qprof_node, more) == offsetof(qp_node, more) &&
                   offsetof(qprof_frame, node) == offsetof(qp_frame, node) &&
                   offsetof(qprof_frame, block) == offsetof(qp_frame, block) &&
                   offsetof(qprof_pulse, suspended_at) ==
                       offsetof(qp_thread_record, suspended_at) &&
                   offsetof(qprof_pulse, counts) == offsetof(qp_thread_record, counts),
               "the inline header and the file agree");

static struct {
    qprof_thread *all; /* handles of all runs; wiped in a forked child */
    uint32_t n_max;
    uint32_t n_used; /* atomic */
    uint32_t first;  /* of this run */
    uint32_t n_os_threads;
    qp_os_thread_slot *os_threads; /* by their ordinals */
    qp_ticks *ticks;               /* by handle */
    pthread_key_t at_thread_exit;
} arena;

/* ---- handles ----------------------------------------------------------------------------- */

QP_RARE bool qp_threads_reserve(void (*at_thread_exit)(void *))
{
    if (arena.all)
        return true;
    for (uint32_t n = HANDLES_MAX; n >= HANDLES_MIN; n /= 2) {
        void *p = qp_pages_take(n * sizeof(qprof_thread));
        if (!p)
            continue;
        arena.os_threads = qp_pages_take(n * sizeof *arena.os_threads);
        arena.ticks = qp_pages_take(n * sizeof *arena.ticks);
        if (!arena.os_threads || !arena.ticks ||
            pthread_key_create(&arena.at_thread_exit, at_thread_exit) != 0)
            return false;
        madvise(p, n * sizeof(qprof_thread), MADV_WIPEONFORK);
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
        arena.all = p;
        arena.n_max = n;
        return true;
    }
    return false;
}

QP_RARE void qp_threads_begin(void)
{
    arena.first = arena.n_used;
    for (uint32_t i = 1; qp_os_thread_at(i); i++) {
        qp_store(&arena.os_threads[i].state, QP_OS_THREAD_COMING);
        qp_store(&arena.os_threads[i].lane.th, (qprof_thread *)NULL);
        qp_store(&arena.os_threads[i].lane.ring, (qp_ring *)NULL);
    }
    arena.n_os_threads = 0;
}

qprof_thread *qp_threads_at(uint32_t i)
{
    uint32_t n = qp_load(&arena.n_used);
    return arena.first + i < n ? &arena.all[arena.first + i] : NULL;
}

qp_os_thread_slot *qp_os_thread_at(uint32_t i)
{
    return i <= qp_load(&arena.n_os_threads) && i < arena.n_max ? &arena.os_threads[i] : NULL;
}

qp_ticks *qp_thread_ticks(const qprof_thread *th)
{
    return &arena.ticks[th - arena.all];
}

void qp_threads_close(void)
{
    for (uint32_t i = 0; qp_threads_at(i); i++)
        QPROF_STORE(qp_threads_at(i)->gate, 0);
    qp_fence();
}

void qp_threads_set_hooks(uint32_t bits)
{
    for (uint32_t i = 0; qp_threads_at(i); i++)
        if (qp_is_open(qp_threads_at(i)))
            qp_fetch_or(&qp_threads_at(i)->gate, bits);
}

void qp_threads_reopen(void)
{
    for (uint32_t i = 0; qp_threads_at(i); i++)
        if (qp_is_open(qp_threads_at(i)))
            QPROF_STORE(qp_threads_at(i)->gate,
                        qp_load(&qp_recorder.hooks) | QP_HOOK_SYNC | QPROF_GATE_OPEN);
}

/* ---- rows -------------------------------------------------------------------------------- */

static uint32_t row_of(const qprof_thread *th)
{
    return (uint32_t)(th - arena.all) + 1;
}

void qp_thread_drop_row(qprof_thread *th)
{
    uint64_t head = qp_observe(&qp_recorder.idle_rows), next;
    do {
        qp_store(&th->next_free, (uint32_t)head);
        next = ((head >> 32) + 1) << 32 | row_of(th);
    } while (!qp_swap_if(&qp_recorder.idle_rows, &head, next));
}

static qprof_thread *pop_idle(void)
{
    uint64_t head = qp_observe(&qp_recorder.idle_rows), next;
    qprof_thread *th;
    do {
        if (!(uint32_t)head)
            return NULL;
        th = &arena.all[(uint32_t)head - 1];
        next = ((head >> 32) + 1) << 32 | qp_load(&th->next_free);
    } while (!qp_swap_if(&qp_recorder.idle_rows, &head, next));
    return th;
}

static qprof_thread *new_row(void)
{
    qp_cell cell = qp_slab_take(&qp_recorder.space, &qp_recorder.threads, QP_EXTENT_THREADS,
                                RECORD_CELLS, QP_RESERVE_RESERVED);
    uint32_t i = cell ? qp_fetch_add(&arena.n_used, 1) : arena.n_max;
    if (i >= arena.n_max) {
        if (cell)
            qp_store(&arena.n_used, arena.n_max);
        return NULL;
    }
    qprof_thread *th = &arena.all[i];
    qp_thread_record *r = qp_at(&qp_recorder.space, cell);
    r->ordinal = (uint32_t)qp_fetch_add(&qp_recorder_head()->n_threads, 1) + 1;
    th->base = qp_recorder.space.map.base;
    th->countdown = 1;
    qp_publish(&th->pulse, (qprof_pulse *)(void *)r);
    return th;
}

qprof_thread *qp_thread_take_row(void)
{
    bool has_many = qp_load(&qp_recorder_head()->n_threads) >=
                    qp_recorder.options.number[QP_OPT_thread_rows];
    qprof_thread *th = has_many ? pop_idle() : NULL;
    if (!th)
        th = new_row();
    if (!th)
        th = pop_idle();
    if (!th)
        qp_count(&qp_recorder.space, QP_D_thread_nomem);
    return th;
}

/* ---- ids --------------------------------------------------------------------------------- */

qprof_thread *qp_thread_find_host_id(uintptr_t host_id)
{
    for (uint32_t i = 0; qp_threads_at(i); i++) {
        qprof_thread *th = qp_threads_at(i);
        if (qp_is_open(th) && qp_observe(&th->pulse) &&
            qp_observe(&qp_record_of(th)->has_host_id) &&
            qp_load(&qp_record_of(th)->host_id) == host_id)
            return th;
    }
    return NULL;
}

static uint64_t vt_key(QP_UNUSED void *unused, uint32_t row)
{
    return qp_load(&qp_record_of(&arena.all[row - 1])->vt_id);
}

static qp_trie vt_index(void)
{
    return (qp_trie){qp_recorder.space.map.base, vt_key, qp_recorder_block, NULL};
}

qprof_thread *qp_thread_find_vt(uintptr_t vt)
{
    qp_os_thread_renew();
    if (!vt)
        return qp_is_open(qp_here.own) ? qp_here.own : NULL;
    uint32_t row = qp_trie_get(vt_index(), qp_recorder.vt_root, vt);
    qprof_thread *th = row ? &arena.all[row - 1] : NULL;
    return th && qp_is_open(th) ? th : NULL;
}

qprof_thread *qp_thread_put_vt(qprof_thread *th)
{
    uint32_t row =
        qp_trie_put(vt_index(), qp_recorder.vt_root, qp_record_of(th)->vt_id, row_of(th));
    return row ? &arena.all[row - 1] : NULL;
}

void qp_thread_drop_vt(qprof_thread *th)
{
    qp_trie_drop(vt_index(), qp_recorder.vt_root, qp_record_of(th)->vt_id, row_of(th));
}

uint32_t qp_thread_callbacks(const void *here)
{
    if (qp_here.callbacks && (uintptr_t)here >= (uintptr_t)qp_here.callback_frame)
        qp_here.callbacks = 0;
    return qp_here.callbacks;
}

/* ---- OS threads -------------------------------------------------------------------------- */

void (*qp_on_os_thread_begin)(qp_os_thread_slot *slot);

void qp_os_thread_renew(void)
{
    if (qp_here.epoch == qp_recorder.epoch)
        return;
    qp_here.epoch = qp_recorder.epoch;
    qp_here.ordinal = qp_fetch_add(&arena.n_os_threads, 1) % (arena.n_max - 1) + 1;
    qp_here.slot = &arena.os_threads[qp_here.ordinal];
    qp_here.lane = &qp_here.slot->lane;
    qp_here.plain = qp_here.th = qp_here.own = &qp_closed_thread;
    qp_here.vt = 0;
    qp_here.system_id = (uint64_t)syscall(SYS_gettid);
    qp_store(&qp_here.slot->current, (qprof_thread *)NULL);
    qp_store(&qp_here.slot->n_critical, 0);
    qp_here.slot->values = 0; /* they lay in the previous run */
    qp_store(&qp_here.slot->system_id, qp_here.system_id);
    qp_publish(&qp_here.slot->state, QP_OS_THREAD_ALIVE);
    qp_on_os_thread_begin(qp_here.slot);
    pthread_setspecific(arena.at_thread_exit, &qp_here);
}

qp_os_thread_slot *qp_os_thread_here(void)
{
    if (qp_state() != QP_STATE_RUNNING)
        return NULL;
    qp_os_thread_renew();
    return qp_here.slot;
}

/* ---- looks of event triggers ------------------------------------------------------------- */

void qp_event_note_stack(const void *here)
{
    if (qp_here.look_run != qp_recorder.epoch || (uintptr_t)here > (uintptr_t)qp_here.look)
        qp_here.look = NULL;
}

/* The function that looks at an event has filled `look` with n_looks. After a jump or an
 * exception out of it, a function above calls one of ours sooner or later, or other words are
 * written there. */
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
__attribute__((no_sanitize("address")))
#endif
bool
qp_event_is_looking(const void *here)
{
    qp_event_note_stack(here);
    const uint64_t *look = qp_here.look;
    if (!look)
        return false;
    for (unsigned i = 0; i < QP_LOOK_WORDS; i++)
        if (((const volatile uint64_t *)look)[i] != qp_here.n_looks)
            return false;
    return true;
}

void qp_event_later(uint32_t event, uintptr_t object)
{
    if (!qp_load(&qp_is_triggering) || qp_event_is_looking(__builtin_frame_address(0)))
        return; /* what an action causes is never compared */
    qp_here.waiting |= 1u << event;
    qp_here.sampled = event == QP_EVENT_SAMPLE ? object : qp_here.sampled;
}

/* ---- walks ------------------------------------------------------------------------------- */
/* Others may be adding to the records: they are published one by one and never move. */

qp_thread_record *qp_walk_records(uint32_t *i, bool counts)
{
    for (const qprof_thread *th; (th = qp_threads_at(*i)) != NULL;) {
        ++*i;
        if (qp_observe(&th->pulse) &&
            (!counts || qp_load(&qp_record_of(th)->clear_count) ==
                            qp_load(&qp_recorder_head()->clear_count)))
            return qp_record_of(th);
    }
    return NULL;
}

qp_cell qp_walk_methods(qp_method_walk *w)
{
    if (!w->extent)
        w->extent = qp_slab_newest(&qp_recorder.methods.slab);
    while (w->extent) {
        const qp_extent *e = qp_at(&qp_recorder.space, w->extent);
        while (++w->at < e->n_cells) {
            const qp_method *m = qp_at(&qp_recorder.space, w->extent + w->at);
            if (qp_observe(&m->published))
                return w->extent + w->at;
        }
        *w = (qp_method_walk){e->prev, 0};
    }
    return 0;
}

uint32_t qp_method_first_line(const qp_method *m)
{
    qp_ref ref = qp_observe(&m->lines);
    const qp_lines *lines = ref ? qp_at_ref(&qp_recorder.space, ref) : NULL;
    return lines && lines->n_lines && lines->lines[0].line > 0 ? (uint32_t)lines->lines[0].line
                                                               : 0;
}

const qp_jumps *qp_method_jumps(const qp_method *m)
{
    qp_ref ref = qp_observe(&m->jumps);
    return ref ? qp_at_ref(&qp_recorder.space, ref) : NULL;
}

bool qp_walk_counter_blocks(const qp_thread_record *r, qp_counter_block_visitor *visit,
                            void *to)
{
    for (qp_cell cell = qp_observe(&r->counter_blocks); cell;) {
        const qp_extent *e = qp_at(&qp_recorder.space, cell);
        uint32_t n_used = qp_observe(&e->n_used);
        for (uint32_t at = 1; at <= n_used;) {
            qp_counter_block *b = qp_at(&qp_recorder.space, cell + at);
            if (!visit(to, b))
                return false;
            at += b->n_cells;
        }
        cell = e->prev;
    }
    return true;
}

bool qp_walk_nodes(const qp_thread_record *r, qp_node_visitor *visit, void *to)
{
    for (qp_cell cell = qp_observe(&r->nodes); cell;) {
        const qp_extent *e = qp_at(&qp_recorder.space, cell);
        uint32_t n_used = qp_observe(&e->n_used);
        for (uint32_t at = 1; at <= n_used; at++)
            if (!visit(to, cell + at, qp_at(&qp_recorder.space, cell + at)))
                return false;
        cell = e->prev;
    }
    return true;
}
