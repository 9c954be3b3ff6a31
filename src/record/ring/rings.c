/* rings.c: the rings of a run. Each OS thread has one; where the writer lags, an OS thread
 * continues in another one, and the writer keeps one ready. Read qp_rings_take first. */
#include "record/ring/rings.h"

#include <string.h>

#include "base/atomic.h"
#include "format/trace.h"
#include "record/clock/clock.h"

enum {
    RINGS_MAX = 4096,
    SLOTS_MIN = 1024,
    FURTHER_MIN = 256 << 10, /* bytes of a ring that follows a full one ... */
    FURTHER_MAX = 4 << 20,   /* ... which takes 1 ms to get */
    FURTHER_LEFT = 64 << 10  /* where memory ends */
};

static struct {
    uint32_t users;
    uint32_t n_rings;
    qp_cell rings[RINGS_MAX]; /* 0: about to be known */
    uint64_t n_ring_bytes;    /* of the run's memory */
    uint32_t n_changes;       /* how often an OS thread has continued in another ring */
    qp_trace_waits waits;
} trace;

/* ---- who takes the records --------------------------------------------------------------- */

uint32_t qp_trace_users(void)
{
    return qp_load(&trace.users);
}

bool qp_trace_is_any(void)
{
    return qp_load(&trace.users) | qp_load(&qp_kept_most);
}

bool qp_rings_are_bounded(void)
{
    return qp_trace_users() & (QP_TRACE_FOR_STREAM | QP_TRACE_FOR_XBASE);
}

void qp_trace_begin(void)
{
    memset(&trace, 0, sizeof trace);
}

void qp_trace_add_user(qp_trace_user user)
{
    uint32_t untraced = qp_fetch_or(&trace.users, (uint32_t)user) ? 0u : QP_HOOK_UNTRACED;
    uint32_t hooks = QP_HOOK_TRACE | qp_clock_hooks();
    qp_fetch_or(&qp_recorder.hooks, hooks);
    qp_threads_set_hooks(hooks | untraced);
}

void qp_trace_drop_user(qp_trace_user user)
{
    if (qp_fetch_and(&trace.users, ~(uint32_t)user) & ~(uint32_t)user)
        return;
    qp_fetch_and(&qp_recorder.hooks, ~(uint32_t)QP_HOOK_TRACE);
    for (uint32_t i = 0; qp_threads_at(i); i++)
        qp_fetch_and(&qp_threads_at(i)->gate, ~(uint32_t)QP_HOOK_TRACE);
}

/* ---- memory ------------------------------------------------------------------------------ */

uint64_t qp_trace_memory(void)
{
    uint64_t most = qp_load(&qp_recorder.space.map.limit_bytes) / 2;
    uint64_t asked = qp_recorder.options.number[QP_OPT_trace_memory];
    return asked < most ? asked : most;
}

/* The largest ring of at most so many bytes, and of a quarter of what is left for others: unless
 * that is next to nothing. @return 0: none */
static uint32_t slots_of(uint64_t bytes)
{
    uint64_t most = qp_trace_memory(), used = qp_load(&trace.n_ring_bytes);
    uint64_t room = most > used ? most - used : 0;
    if (room / 4 >= SLOTS_MIN * sizeof(qp_trace_record))
        room /= 4;
    bytes = bytes < room ? bytes : room;
    uint32_t slots = 1u << 31;
    while (slots >= SLOTS_MIN && (uint64_t)slots * sizeof(qp_trace_record) > bytes)
        slots /= 2;
    return slots >= SLOTS_MIN ? slots : 0;
}

uint64_t qp_trace_ring_bytes(void)
{
    return (uint64_t)sizeof(qp_trace_record) *
           slots_of(qp_recorder.options.number[QP_OPT_trace_buffer]);
}

/* @param is_ended  an OS thread may take it */
static qp_ring *new_ring(uint32_t slots, bool is_ended)
{
    uint64_t n_bytes = sizeof(qp_ring) + (uint64_t)slots * sizeof(qp_trace_record);
    uint32_t n_cells = (uint32_t)(n_bytes / QP_CELL);
    if (!slots || qp_load(&trace.n_rings) >= RINGS_MAX)
        return NULL;
    qp_cell extent = qp_extent_claim(&qp_recorder.space, QP_EXTENT_RING, 0, 1 + n_cells,
                                     QP_RESERVE_ORDINARY);
    if (!extent)
        return NULL;
    qp_fetch_add(&trace.n_ring_bytes, n_bytes);
    qp_ring *ring = qp_at(&qp_recorder.space, extent + 1);
    ring->n_slots = slots;
    qp_store(&ring->is_ended, is_ended);
    qp_publish(&((qp_extent *)qp_at(&qp_recorder.space, extent))->n_used, n_cells);
    uint32_t i = qp_fetch_add(&trace.n_rings, 1);
    if (i < RINGS_MAX)
        qp_publish(&trace.rings[i], extent + 1);
    return ring;
}

/* ---- the rings --------------------------------------------------------------------------- */

qp_ring *qp_trace_ring_at(uint32_t i)
{
    qp_cell cell =
        i < qp_load(&trace.n_rings) && i < RINGS_MAX ? qp_observe(&trace.rings[i]) : 0;
    return cell ? qp_at(&qp_recorder.space, cell) : NULL;
}

/* A ring that an OS thread may take. @return NULL: none */
static qp_ring *free_ring(void)
{
    qp_ring *ring;
    for (uint32_t i = 0; (ring = qp_trace_ring_at(i)) != NULL; i++)
        if (qp_observe(&ring->is_ended) &&
            (!qp_rings_are_bounded() ||
             qp_load(&ring->head) - qp_observe(&ring->tail) <= ring->n_slots / 2))
            break;
    return ring;
}

/* The size of a ring that follows a full one: of many small ones none would be worth it. */
static uint32_t slots_of_further(void)
{
    uint64_t bytes = qp_recorder.options.number[QP_OPT_trace_buffer];
    bytes = bytes > FURTHER_MAX ? FURTHER_MAX : bytes < FURTHER_MIN ? FURTHER_MIN : bytes;
    uint32_t slots = slots_of(bytes);
    return slots * sizeof(qp_trace_record) >= FURTHER_LEFT ? slots : 0;
}

qp_ring *qp_rings_take(void)
{
    qp_ring *ring;
    uint32_t ended = 1;
    while ((ring = free_ring()) != NULL)
        if (qp_swap_if(&ring->is_ended, &ended, 0))
            return ring;
        else
            ended = 1;
    return new_ring(qp_here.lane->ring
                        ? slots_of_further()
                        : slots_of(qp_recorder.options.number[QP_OPT_trace_buffer]),
                    false);
}

void qp_trace_prepare_ring(void)
{
    if (!free_ring())
        new_ring(slots_of_further(), true);
}

void qp_rings_note_change(void)
{
    qp_fetch_add(&trace.n_changes, 1);
}

uint32_t qp_trace_changes(void)
{
    return qp_observe(&trace.n_changes);
}

void qp_rings_note_wait(uint64_t ns)
{
    qp_fetch_add(&trace.waits.n, 1);
    qp_fetch_add(&trace.waits.ns, ns);
}

qp_trace_waits qp_trace_waits_so_far(void)
{
    return (qp_trace_waits){qp_load(&trace.waits.n), qp_load(&trace.waits.ns)};
}
