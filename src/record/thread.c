/* thread.c: making, finding, mounting and ending threads.
 *
 * No lock is taken: rows are claimed from slabs, ended rows wait on a lock-free stack, and a
 * virtual thread passes from carrier to carrier by a compare-and-swap on its `carrier`. */
#include "record/thread.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/perf.h"
#include "base/trie.h"
#include "record/charge_parts.h"
#include "record/event.h"
#include "record/mount.h"
#include "record/pc_signal.h"
#include "record/rules.h"
#include "record/trace.h"
#include "record/watch.h"

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
                   offsetof(qprof_pulse, parked_at) == offsetof(qp_thread_record, parked_at) &&
                   offsetof(qprof_pulse, counts) == offsetof(qp_thread_record, counts),
               "the inline header and the file agree");

qprof_thread qp_closed_thread;
qp_trace_lane qp_closed_lane;
_Thread_local qp_carrier qp_here = QP_NEW_CARRIER;

static struct {
    qprof_thread *all; /* handles of all runs; wiped in a forked child */
    uint32_t n_max;
    uint32_t n_used; /* atomic */
    uint32_t first;  /* of this run */
    uint32_t n_carriers;
    qp_carrier_slot *carriers; /* by their ordinals */
    qp_ticks *ticks;           /* by handle */
    pthread_key_t at_thread_exit;
} arena;

/* ---- handles ------------------------------------------------------------------------------- */

static void leave_thread(void *unused);

static void *reserve(size_t n_bytes)
{
    void *p = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

bool qp_threads_reserve(void)
{
    if (arena.all)
        return true;
    for (uint32_t n = HANDLES_MAX; n >= HANDLES_MIN; n /= 2) {
        void *p = reserve(n * sizeof(qprof_thread));
        if (!p)
            continue;
        arena.carriers = reserve(n * sizeof *arena.carriers);
        arena.ticks = reserve(n * sizeof *arena.ticks);
        if (!arena.carriers || !arena.ticks ||
            pthread_key_create(&arena.at_thread_exit, leave_thread) != 0)
            return false;
        madvise(p, n * sizeof(qprof_thread), MADV_WIPEONFORK);
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
        arena.all = p;
        arena.n_max = n;
        return true;
    }
    return false;
}

void qp_threads_begin(void)
{
    arena.first = arena.n_used;
    for (uint32_t i = 1; qp_carrier_at(i); i++) {
        qp_store(&arena.carriers[i].state, QP_CARRIER_COMING);
        qp_store(&arena.carriers[i].lane.th, (qprof_thread *)NULL);
        qp_store(&arena.carriers[i].lane.ring, (qp_ring *)NULL);
    }
    arena.n_carriers = 0;
}

qprof_thread *qp_threads_at(uint32_t i)
{
    uint32_t n = qp_load(&arena.n_used);
    return arena.first + i < n ? &arena.all[arena.first + i] : NULL;
}

qp_carrier_slot *qp_carrier_at(uint32_t i)
{
    return i <= qp_load(&arena.n_carriers) && i < arena.n_max ? &arena.carriers[i] : NULL;
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
                        qp_load(&qp_run.hooks) | QP_HOOK_SYNC | QPROF_GATE_OPEN);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static uint32_t row_of(const qprof_thread *th)
{
    return (uint32_t)(th - arena.all) + 1;
}

static void push_idle(qprof_thread *th)
{
    uint64_t head = qp_observe(&qp_run.idle_rows), next;
    do {
        qp_store(&th->next_free, (uint32_t)head);
        next = ((head >> 32) + 1) << 32 | row_of(th);
    } while (!qp_swap_if(&qp_run.idle_rows, &head, next));
}

static qprof_thread *pop_idle(void)
{
    uint64_t head = qp_observe(&qp_run.idle_rows), next;
    qprof_thread *th;
    do {
        if (!(uint32_t)head)
            return NULL;
        th = &arena.all[(uint32_t)head - 1];
        next = ((head >> 32) + 1) << 32 | qp_load(&th->next_free);
    } while (!qp_swap_if(&qp_run.idle_rows, &head, next));
    return th;
}

static qprof_thread *new_row(void)
{
    qp_cell cell = qp_slab_take(&qp_run.space, &qp_run.threads, QP_EXTENT_THREADS, RECORD_CELLS,
                                QP_ROOM_RESERVED);
    uint32_t i = cell ? qp_fetch_add(&arena.n_used, 1) : arena.n_max;
    if (i >= arena.n_max) {
        if (cell)
            qp_store(&arena.n_used, arena.n_max);
        return NULL;
    }
    qprof_thread *th = &arena.all[i];
    qp_thread_record *r = qp_at(&qp_run.space, cell);
    r->ordinal = (uint32_t)qp_fetch_add(&qp_run_head()->n_threads, 1) + 1;
    th->base = qp_run.space.map.base;
    th->countdown = 1;
    qp_publish(&th->pulse, (qprof_pulse *)(void *)r);
    return th;
}

/* A row of its own for each thread, as long as there are few; then those of ended threads. */
static qprof_thread *take_row(void)
{
    bool has_many =
        qp_load(&qp_run_head()->n_threads) >= qp_run.options.number[QP_OPT_thread_rows];
    qprof_thread *th = has_many ? pop_idle() : NULL;
    if (!th)
        th = new_row();
    return th ? th : pop_idle();
}

static qprof_thread *begin_thread(uintptr_t host_id, uintptr_t vt)
{
    qprof_thread *th = take_row();
    if (!th) {
        qp_count(&qp_run.space, QP_D_thread_nomem);
        return NULL;
    }
    qp_thread_record *r = qp_record_of(th);
    const qp_head *h = qp_run_head();
    qp_store(&r->host_id, (uint64_t)host_id);
    qp_store(&r->has_host_id, 0);
    qp_store(&r->vt_id, (uint64_t)vt);
    qp_store(&r->system_id, qp_here.system_id);
    qp_store(&r->name, 0);
    qp_bump(&r->n_lives, 1);
    if (r->n_lives == 1) {
        qp_store(&r->clear_count, qp_load(&h->clear_count));
        r->stopped_seen = qp_load(&h->stopped_total);
    }
    qp_store(&th->carrier, 0);
    QPROF_STORE(th->pulse->top,
                0); /* its first event begins it anew, on a row that was used, too */
    qp_rules_create(th);
    qp_publish(&r->state, QP_THREAD_ALIVE);
    qp_publish(&th->gate, qp_load(&qp_run.hooks) | QP_HOOK_SYNC | QPROF_GATE_OPEN);
    qp_fence();
    if (qp_state() != QP_STATE_RUNNING) /* shut down meanwhile */
        qp_store(&th->gate, 0);
    return th;
}

/* ---- carriers ------------------------------------------------------------------------------ */

/* Forget what an earlier run left in this system thread's memory. */
void qp_carrier_renew(void)
{
    if (qp_here.epoch == qp_run.epoch)
        return;
    qp_here.epoch = qp_run.epoch;
    qp_here.ordinal = qp_fetch_add(&arena.n_carriers, 1) % (arena.n_max - 1) + 1;
    qp_here.slot = &arena.carriers[qp_here.ordinal];
    qp_here.lane = &qp_here.slot->lane;
    qp_here.plain = qp_here.th = qp_here.own = &qp_closed_thread;
    qp_here.vt = 0;
    qp_here.system_id = (uint64_t)syscall(SYS_gettid);
    qp_store(&qp_here.slot->current, (qprof_thread *)NULL);
    qp_store(&qp_here.slot->n_critical, 0);
    qp_here.slot->values = 0; /* they lay in the run before */
    qp_store(&qp_here.slot->system_id, qp_here.system_id);
    qp_publish(&qp_here.slot->state, QP_CARRIER_ALIVE);
    qp_charge_begin_carrier();
    qp_pc_signal_arm(qp_here.slot);
    pthread_setspecific(arena.at_thread_exit, &qp_here);
}

qp_carrier_slot *qp_carrier_here(void)
{
    if (qp_state() != QP_STATE_RUNNING)
        return NULL;
    qp_carrier_renew();
    return qp_here.slot;
}

/* The carrier's own thread was ended by another carrier: its row is free now that nobody here
 * looks at it any more. */
static void retire_own(void)
{
    if (qp_here.own != &qp_closed_thread)
        push_idle(qp_here.own);
    qp_here.own = qp_here.plain = &qp_closed_thread;
}

/* Event triggers learn of a thread. @return NULL: one of their actions has ended it */
static qprof_thread *told(qprof_thread *th)
{
    qp_watch_raise(th, QP_EVENT_THREAD_CREATE, qp_watch_id(th), NULL);
    return qp_is_open(th) ? th : NULL;
}

static qprof_thread *begin_here(uintptr_t host_id)
{
    qprof_thread *th = begin_thread(host_id, 0);
    if (!th)
        return NULL;
    qp_here.own = th;
    if (!qp_run.is_virtual) {
        qp_here.plain = th;
        qp_thread_take(th);
        qp_publish(&qp_here.slot->current, th);
    }
    return told(th);
}

qprof_thread *qp_thread_own(void)
{
    if (qp_state() != QP_STATE_RUNNING)
        return NULL;
    qp_carrier_renew();
    if (qp_is_open(qp_here.own))
        return qp_here.own;
    retire_own();
    return begin_here(0);
}

qprof_thread *qp_thread_create(uintptr_t host_id)
{
    if (qp_state() != QP_STATE_RUNNING)
        return NULL;
    qp_carrier_renew();
    qprof_thread *same = qp_thread_find_host_id(host_id);
    if (same)
        qp_thread_destroy(same);
    if (qp_is_open(qp_here.own)) {
        qp_thread_record *r = qp_record_of(qp_here.own);
        if (!r->has_host_id) { /* known by its events, now by its name */
            qp_store(&r->host_id, (uint64_t)host_id);
            qp_publish(&r->has_host_id, 1);
            return qp_here.own;
        }
        qp_thread_destroy(qp_here.own);
    }
    retire_own();
    qprof_thread *th = begin_here(host_id);
    if (th)
        qp_publish(&qp_record_of(th)->has_host_id, 1);
    return th;
}

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

/* ---- virtual threads ----------------------------------------------------------------------- */

static uint64_t vt_key(void *unused, uint32_t row)
{
    (void)unused;
    return qp_load(&qp_record_of(&arena.all[row - 1])->vt_id);
}

static uint32_t vt_block(void *unused)
{
    (void)unused;
    return qp_texts_block(&qp_run.texts);
}

static qp_trie vt_index(void)
{
    return (qp_trie){qp_run.space.map.base, vt_key, vt_block, NULL};
}

qprof_thread *qp_thread_find_vt(uintptr_t vt)
{
    const qp_trie index = vt_index();
    qp_carrier_renew();
    if (!vt)
        return qp_is_open(qp_here.own) ? qp_here.own : NULL;
    uint32_t row = qp_trie_get(&index, qp_run.vt_root, vt);
    qprof_thread *th = row ? &arena.all[row - 1] : NULL;
    return th && qp_is_open(th) ? th : NULL;
}

qprof_thread *qp_thread_vt(uintptr_t vt, uintptr_t host_id)
{
    if (qp_state() != QP_STATE_RUNNING)
        return NULL;
    qprof_thread *th = qp_thread_find_vt(vt);
    if (th)
        return th;
    if (!vt)
        return qp_thread_own();
    th = begin_thread(host_id, vt);
    if (!th)
        return NULL;
    const qp_trie index = vt_index();
    uint32_t agreed = qp_trie_put(&index, qp_run.vt_root, vt, row_of(th));
    if (agreed == row_of(th))
        return told(th);
    QPROF_STORE(th->gate, 0); /* no room, or another carrier was faster */
    qp_record_of(th)->state = QP_THREAD_ENDED;
    push_idle(th);
    if (!agreed)
        qp_count(&qp_run.space, QP_D_thread_nomem);
    return agreed ? &arena.all[agreed - 1] : NULL;
}

/* ---- the end ------------------------------------------------------------------------------- */

/* The time of a thread that nobody drives, and which does not run while another one ends it. 0: it
 * is driven, or has a clock that is not the machine's. */
static uint64_t stood_at(const qprof_thread *th)
{
    const uint32_t others = QP_HOOK_CLASSES | QP_HOOK_STOPPED;
    const qprof_pulse *p = qp_observe(&th->pulse);
    bool stands = !qp_load(&th->carrier) && qp_charge_is_shared() &&
                  !(QPROF_LOAD(th->gate) & others) && QPROF_LOAD(p->parked_at);
    return stands ? QPROF_LOAD(p->parked_at) - QPROF_LOAD(p->offset) : 0;
}

/* All its frames end. @return false: it is not recorded any more */
static bool unroll(qprof_thread *th, uint64_t stood)
{
    qprof_frame *top = qp_event_begin(th);
    if (!top)
        return false;
    uint64_t now = qp_charge_now(th);
    bool has_stood = stood >= th->pulse->last && stood < now;
    uint64_t n_ended = qp_event_unroll(th, &top, has_stood ? stood : now);
    qp_bump(&qp_record_of(th)->n_destroyed_live, n_ended);
    qp_event_end(th, top);
    qp_thread_unsettled(th, 0);
    return true;
}

/* Take it, and end its frames. @return false: it has an event, here or on another carrier */
static bool end_frames(qprof_thread *th)
{
    const uint64_t stood = stood_at(th);
    if (!qp_thread_take(th))
        return false;
    if (qp_thread_hold(th) && (!QPROF_LOAD(th->pulse->top) || unroll(th, stood)))
        return true;
    qp_thread_drop();
    return false;
}

void qp_thread_destroy(qprof_thread *th)
{
    qp_thread_record *r = qp_record_of(th);
    const uintptr_t id = qp_watch_id(th);
    const qp_trie index = vt_index();
    qprof_thread *before = qp_trace_ending(th);
    bool is_ended = end_frames(th);
    qp_trace_ended(th, before, is_ended);
    if (!is_ended)
        return;
    if (r->vt_id)
        qp_trie_drop(&index, qp_run.vt_root, r->vt_id, row_of(th));
    qp_thread_release(th, true);
    qp_thread_drop();
    qp_publish(&r->state, QP_THREAD_ENDED);
    if (qp_here.th == th)
        qp_thread_look_at(&qp_closed_thread, 0);
    if (qp_here.own == th)
        retire_own();
    else if (r->vt_id) /* else its own carrier still looks at it */
        push_idle(th);
    qp_watch_raise(th, QP_EVENT_THREAD_DESTROY, id, NULL);
}

/* A system thread ends: its own record with it, the virtual thread on it waits for another. */
static void leave_run(void)
{
    if (qp_state() != QP_STATE_RUNNING || qp_here.epoch != qp_run.epoch)
        return;
    if (qp_run.is_virtual)
        qp_thread_release(qp_here.th, false);
    if (qp_is_open(qp_here.own))
        qp_thread_destroy(qp_here.own);
    else
        retire_own();
    qp_here.plain = qp_here.th = qp_here.own = &qp_closed_thread;
    qp_trace_leave();
    qp_pc_signal_disarm(qp_here.slot);
    qp_publish(&qp_here.slot->current, (qprof_thread *)NULL);
    qp_publish(&qp_here.slot->state, QP_CARRIER_ENDED);
    qp_here.epoch = 0; /* a later destructor may record: then this is called again */
}

static void leave_thread(void *unused)
{
    (void)unused;
    leave_run();
    qp_perf_detach();
}

uint32_t qp_thread_callbacks(const void *here)
{
    if (qp_here.callbacks && (uintptr_t)here >= (uintptr_t)qp_here.callback_frame)
        qp_here.callbacks = 0;
    return qp_here.callbacks;
}
