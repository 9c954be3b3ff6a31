/* threads.c: the arena of handles, their rows and indices, and OS threads. event/life.c makes
 * and ends threads, event/mount.c lets OS threads drive them.
 *
 * No lock is taken: rows are claimed from slabs, and those of ended threads wait on a lock-free
 * stack. Read qp_thread_take_row first. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/stable.h"
#include "base/containers/trie.h"
#include "base/os/mapping.h"
#include "base/os/system.h"
#include "format/layout.h"
#include "record/run/run.h"

enum { RECORD_CELLS = sizeof(qp_thread_record) / QP_CELL };

/* Processors fetch lines in pairs, so that a write to one line of a pair would
 * slow down the thread that uses the other one. */
typedef struct {
    _Alignas(QP_APART) qprof_thread th;
    qp_steps steps;
    uint32_t number;           /* of the row, from 1; 0: not in use yet */
    qp_cell waiting;           /* qp_waiting; 0: never sampled */
    qprof_thread *next_shared; /* see qp_thread_next_shared() */
} handle_row;

_Static_assert(sizeof(qprof_thread) == 128 &&
                   sizeof(qp_thread_private) == sizeof qp_closed_thread.own,
               "a handle is two lines");
_Static_assert(offsetof(handle_row, steps) == sizeof(qprof_thread), "see qp_steps_of()");
_Static_assert(sizeof(handle_row) % QP_APART == 0 && sizeof(qp_os_thread_slot) % QP_APART == 0,
               "no two threads write to one pair of lines");
_Static_assert(sizeof(handle_row) == QP_HANDLE_BYTES, "a row is saved whole");
_Static_assert(sizeof(qprof_node) == sizeof(qp_node) &&
                   sizeof(qprof_frame) == sizeof(qp_frame) && sizeof(qprof_pulse) == QP_CELL,
               "the inline header and the file agree");
_Static_assert(offsetof(qprof_node, parent) == offsetof(qp_node, parent) &&
                   offsetof(qprof_node, more) == offsetof(qp_node, more) &&
                   offsetof(qprof_frame, node) == offsetof(qp_frame, node) &&
                   offsetof(qprof_frame, block) == offsetof(qp_frame, block) &&
                   offsetof(qprof_pulse, index) == offsetof(qp_thread_record, index) &&
                   offsetof(qprof_pulse, suspended_at) ==
                       offsetof(qp_thread_record, suspended_at) &&
                   offsetof(qprof_pulse, counts) == offsetof(qp_thread_record, counts),
               "the inline header and the file agree");

static struct {
    qp_stable handles;    /* of all runs; wiped in a forked child */
    qp_stable os_threads; /* by their ordinals */
    uint32_t n_handles;   /* atomic, like the next */
    uint32_t n_os_threads;
    uint32_t first; /* handle of this run */
    pthread_key_t at_thread_exit;
} arena = {.handles = {.item_bytes = sizeof(handle_row), .is_wiped = true},
           .os_threads = {.item_bytes = sizeof(qp_os_thread_slot)}};

/* ---- handles ----------------------------------------------------------------------------- */

QP_RARE bool qp_threads_reserve(void (*at_thread_exit)(void *))
{
    static bool has_key;
    if (has_key)
        return true;
    if (!qp_stable_make(&arena.handles, 0) || !qp_stable_make(&arena.os_threads, 0) ||
        pthread_key_create(&arena.at_thread_exit, at_thread_exit) != 0)
        return false;
    qp_system_barrier_begin();
    return has_key = true;
}

QP_RARE void qp_threads_begin(void)
{
    arena.first = arena.n_handles;
    for (uint32_t i = 1; qp_os_thread_at(i); i++) {
        qp_os_thread_slot *slot = qp_os_thread_at(i);
        qp_store(&slot->state, QP_OS_THREAD_COMING);
        qp_store(&slot->lane.th, (qprof_thread *)NULL);
        qp_store(&slot->lane.ring, (qp_ring *)NULL);
    }
    arena.n_os_threads = 0;
}

static handle_row *row_at(uint32_t number)
{
    return qp_stable_at(&arena.handles, number - 1);
}

qprof_thread *qp_threads_at(uint32_t i)
{
    uint32_t n = qp_load(&arena.n_handles);
    return arena.first + i < n ? &row_at(arena.first + i + 1)->th : NULL;
}

qp_os_thread_slot *qp_os_thread_at(uint32_t i)
{
    return i <= qp_load(&arena.n_os_threads) ? qp_stable_at(&arena.os_threads, i - 1) : NULL;
}

qp_waiting *qp_thread_waiting(const qprof_thread *th, bool makes)
{
    handle_row *row = (handle_row *)(void *)(uintptr_t)th;
    qp_cell cell = qp_observe(&row->waiting);
    if (!cell && makes) {
        cell = qp_slab_take(&qp_recorder.space, &qp_recorder.waiting, QP_EXTENT_WAITING, 1,
                            QP_RESERVE_RESERVED);
        qp_cell other = 0; /* which another sampler has made meanwhile */
        if (cell) {
            ((qp_waiting *)qp_at(&qp_recorder.space, cell))->thread = qp_record_cell(th);
            if (!qp_swap_if(&row->waiting, &other, cell))
                cell = other;
        }
    }
    return cell ? qp_at(&qp_recorder.space, cell) : NULL;
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

/* QPROF_THREAD_* */
static uint32_t wants(void)
{
    return qp_recorder_head()->collect & QP_COLLECT_MEMORY ? QPROF_THREAD_MEMORY : 0;
}

void qp_threads_reopen(void)
{
    for (uint32_t i = 0; qp_threads_at(i); i++) {
        QPROF_STORE(qp_threads_at(i)->wants, wants());
        if (qp_is_open(qp_threads_at(i)))
            QPROF_STORE(qp_threads_at(i)->gate,
                        qp_load(&qp_recorder.hooks) | QP_HOOK_SYNC | QPROF_GATE_OPEN);
    }
}

/* ---- rows -------------------------------------------------------------------------------- */

static uint32_t row_of(const qprof_thread *th)
{
    return ((const handle_row *)(const void *)th)->number;
}

qprof_thread **qp_thread_next_shared(qprof_thread *th)
{
    return &((handle_row *)(void *)th)->next_shared;
}

/* The list of rows of ended threads of a creator, and of some others. */
static uint64_t *idle_list(qp_cell creator)
{
    uint32_t i = creator ? 1 + (creator * 2654435769u >> 26) : 0;
    return &qp_recorder.idle_rows[i];
}

static void push_idle(uint64_t *list, qprof_thread *th)
{
    uint64_t head = qp_observe(list), next;
    do {
        qp_store(&qp_own_of(th)->next_free, (uint32_t)head);
        next = ((head >> 32) + 1) << 32 | row_of(th);
    } while (!qp_swap_if(list, &head, next));
}

void qp_thread_drop_row(qprof_thread *th)
{
    push_idle(idle_list(qp_load(&qp_record_of(th)->creator)), th);
}

static qprof_thread *pop_idle(uint64_t *list)
{
    uint64_t head = qp_observe(list), next;
    qprof_thread *th;
    do {
        if (!(uint32_t)head)
            return NULL;
        th = &row_at((uint32_t)head)->th;
        next = ((head >> 32) + 1) << 32 | qp_load(&qp_own_of(th)->next_free);
    } while (!qp_swap_if(list, &head, next));
    return th;
}

/* @return NULL: none of the rows that were looked at is of this creator */
static qprof_thread *find_idle(qp_cell creator)
{
    enum { LOOKED_AT = 8 };
    qprof_thread *others[LOOKED_AT], *th = NULL;
    uint64_t *list = idle_list(creator);
    unsigned n = 0;
    while (n < LOOKED_AT && (th = pop_idle(list)) != NULL &&
           qp_load(&qp_record_of(th)->creator) != creator) {
        others[n++] = th;
        th = NULL;
    }
    while (n)
        push_idle(list, others[--n]);
    return th;
}

/* A handle that no thread has had. @return NULL: no memory */
static handle_row *new_handle(void)
{
    uint32_t i = qp_load(&arena.n_handles);
    handle_row *row;
    do { /* made before it is counted: a walk over the handles finds them all */
        row = qp_stable_make(&arena.handles, i);
    } while (row && !qp_swap_if(&arena.n_handles, &i, i + 1));
    if (row)
        row->number = i + 1;
    return row;
}

static qprof_thread *new_row(void)
{
    qp_cell cell = qp_slab_take(&qp_recorder.space, &qp_recorder.threads, QP_EXTENT_THREADS,
                                RECORD_CELLS, QP_RESERVE_RESERVED);
    handle_row *row = cell ? new_handle() : NULL;
    if (!row)
        return NULL;
    qprof_thread *th = &row->th;
    qp_thread_record *r = qp_at(&qp_recorder.space, cell);
    r->ordinal = (uint32_t)qp_fetch_add(&qp_recorder_head()->n_threads, 1) + 1;
    th->base = qp_recorder.space.map.base;
    th->tick = &qp_recorder_tick;
    th->wants = wants();
    qp_publish(&th->pulse, (qprof_pulse *)(void *)r);
    return th;
}

bool qp_thread_has_many(void)
{
    return qp_load(&qp_recorder_head()->n_threads) >=
           qp_recorder.options.number[QP_OPT_thread_rows];
}

qprof_thread *qp_thread_take_idle(qp_cell creator)
{
    return qp_thread_has_many() ? find_idle(creator) : NULL;
}

/* There is no memory for a row: any other one will do, whose times are then of no creator. */
static qprof_thread *take_any(qp_cell creator)
{
    qprof_thread *th = find_idle(creator);
    for (unsigned i = 0; !th && i < QP_IDLE_LISTS; i++)
        th = pop_idle(&qp_recorder.idle_rows[i]);
    return th;
}

qprof_thread *qp_thread_take_row(qp_cell creator)
{
    qprof_thread *th = qp_thread_take_idle(creator);
    if (!th && (th = new_row()) != NULL)
        qp_store(&qp_record_of(th)->creator, creator);
    if (!th)
        th = take_any(creator);
    if (!th) {
        qp_count(&qp_recorder.space, QP_D_thread_nomem);
    } else if (qp_record_of(th)->creator != creator) {
        qp_count(&qp_recorder.space, QP_D_creator_lost);
        qp_store(&qp_record_of(th)->creator, 0);
    }
    return th;
}

/* Others may be writing to their rows, of which the child uses nothing. */
__attribute__((no_sanitize("thread"))) void qp_thread_save_row(uint32_t i, void *to)
{
    typedef uint64_t __attribute__((may_alias)) word;
    const volatile word *from = (void *)row_at(arena.first + i + 1);
    for (unsigned k = 0; k < QP_HANDLE_BYTES / sizeof(word); k++)
        ((word *)to)[k] = from[k];
}

void qp_thread_restore_row(uint32_t i, const void *from)
{
    memcpy(row_at(arena.first + i + 1), from, QP_HANDLE_BYTES);
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

/* A leaf of the index of virtual threads is a row, or with this the cell of a qp_parked. */
#define PARKED (1u << 30)

static uint64_t vt_key(QP_UNUSED void *unused, uint32_t leaf)
{
    const uint64_t *id = leaf & PARKED ? qp_at(&qp_recorder.space, leaf - PARKED)
                                       : &qp_record_of(&row_at(leaf)->th)->vt_id;
    return qp_load(id);
}

static qp_trie vt_index(void)
{
    return (qp_trie){qp_recorder.space.map.base, vt_key, qp_recorder_block, NULL};
}

qprof_thread *qp_thread_find_vt(uintptr_t vt, qp_cell *parked)
{
    qp_os_thread_renew();
    *parked = 0;
    if (!vt)
        return qp_is_open(qp_here.own) ? qp_here.own : NULL;
    uint32_t leaf = qp_trie_get(vt_index(), qp_recorder.vt_root, vt);
    if (leaf & PARKED)
        *parked = leaf - PARKED;
    qprof_thread *th = leaf && !*parked ? &row_at(leaf)->th : NULL;
    return th && qp_is_open(th) ? th : NULL;
}

bool qp_thread_put_vt(qprof_thread *th)
{
    uint32_t leaf =
        qp_trie_put(vt_index(), qp_recorder.vt_root, qp_record_of(th)->vt_id, row_of(th));
    qp_store(&qp_own_of(th)->is_listed, leaf == row_of(th));
    return leaf == row_of(th);
}

/* Let the id of a thread name another leaf, or none. @return false: it does not name this one */
static bool swap_vt(const qprof_thread *th, uint32_t leaf, uint32_t by)
{
    return qp_trie_swap(vt_index(), qp_recorder.vt_root, qp_record_of(th)->vt_id, leaf, by);
}

void qp_thread_drop_vt(qprof_thread *th)
{
    if (!qp_load(&qp_own_of(th)->is_listed))
        return;
    qp_store(&qp_own_of(th)->is_listed, false);
    swap_vt(th, row_of(th), 0);
}

bool qp_thread_park_vt(qprof_thread *th, qp_cell parked)
{
    bool is_done = parked < PARKED && swap_vt(th, row_of(th), PARKED | parked);
    if (is_done)
        qp_store(&qp_own_of(th)->is_listed, false);
    return is_done;
}

bool qp_thread_unpark_vt(qprof_thread *th, qp_cell parked)
{
    bool is_done = swap_vt(th, PARKED | parked, row_of(th));
    qp_store(&qp_own_of(th)->is_listed, is_done);
    return is_done;
}

uint32_t qp_thread_callbacks(const void *here)
{
    if (qp_here.callbacks && (uintptr_t)here >= (uintptr_t)qp_here.callback_frame)
        qp_here.callbacks = 0;
    return qp_here.callbacks;
}

/* ---- OS threads -------------------------------------------------------------------------- */

void (*qp_on_os_thread_begin)(qp_os_thread_slot *slot);

/* The number of a slot for the calling OS thread. When there is no memory, or after 16 million OS
 * threads, it takes that of one that has ended. */
static uint32_t take_slot(void)
{
    uint32_t n = qp_load(&arena.n_os_threads);
    while (qp_stable_make(&arena.os_threads, n))
        if (qp_swap_if(&arena.n_os_threads, &n, n + 1))
            return n + 1;
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t ended = QP_OS_THREAD_ENDED;
        if (qp_swap_if(&qp_os_thread_at(i)->state, &ended, QP_OS_THREAD_COMING))
            return i;
    }
    qp_count(&qp_recorder.space, QP_D_thread_nomem);
    return n; /* shared with another one: their traces and samples mix */
}

void qp_os_thread_renew(void)
{
    if (qp_here.epoch == qp_recorder.epoch)
        return;
    qp_here.epoch = qp_recorder.epoch;
    qp_here.ordinal = take_slot();
    qp_here.slot = qp_os_thread_at(qp_here.ordinal);
    qp_here.lane = &qp_here.slot->lane;
    qp_here.plain = qp_here.th = qp_here.own = &qp_closed_thread;
    qp_here.vt = 0;
    qp_here.system_id = qp_system_thread_id();
    qp_store(&qp_here.slot->current, (qprof_thread *)NULL);
    qp_store(&qp_here.slot->n_critical, 0);
    qp_here.slot->values = 0; /* they lay in the previous run */
    qp_here.lane->after = 0;
    qp_store(&qp_here.slot->system_id, qp_here.system_id);
    qp_publish(&qp_here.slot->state, QP_OS_THREAD_ALIVE);
    qp_on_os_thread_begin(qp_here.slot);
    pthread_setspecific(arena.at_thread_exit, &qp_here);
}

void qp_os_threads_forget_others(void)
{
    qp_here.system_id = qp_system_thread_id();
    for (uint32_t i = 1; qp_os_thread_at(i); i++) {
        qp_os_thread_slot *slot = qp_os_thread_at(i);
        bool is_here = qp_here.epoch == qp_recorder.epoch && slot == qp_here.slot;
        slot->lane = (qp_trace_lane){0};
        slot->values = slot->has_timer = 0;
        slot->system_id = is_here ? qp_here.system_id : 0;
        slot->driven = is_here ? slot->driven : NULL;
        slot->current = is_here ? slot->current : NULL;
        slot->state = is_here ? QP_OS_THREAD_ALIVE : QP_OS_THREAD_ENDED;
        slot->cpu_seen = slot->cpu_due = slot->cpu_waiting = 0;
    }
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
QP_REAL_STACK bool qp_event_is_looking(const void *here)
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
