/* park.c: virtual threads that wait give their rows to others.
 *
 * Where -thread-rows are in use, a thread that no OS thread drives can be parked: of its row, its
 * stack and its place in a tree nothing is kept but the ids and methods of its open calls. When it
 * is named again these calls are resumed on another row. Read qp_park_any first. */
#include "base/atomic.h"
#include "record/clock/clock.h"
#include "record/event/event.h"
#include "record/ring/ring.h"
#include "record/tree/tree.h"

enum { ROWS_LOOKED_AT = 16, DEPTH_MAX = 100, FRAMES_A_CELL = 5 };

/* From the outermost calls to the innermost ones; in a cell it is the other way round. */
typedef struct {
    qp_cell next;
    qp_cell methods[FRAMES_A_CELL]; /* 0: no more */
    uint64_t ids[FRAMES_A_CELL];    /* stack ids */
} qp_parked_frames;
_Static_assert(sizeof(qp_parked) == QP_CELL && sizeof(qp_parked_frames) == QP_CELL, "a cell");

/* ---- cells -------------------------------------------------------------------------------- */
/* Another OS thread may be looking at the first words of a cell that is no longer what it was: it finds
 * another id than it looks for, or that the list of free cells has changed. */

static qp_parked_frames *cell_at(qp_cell cell)
{
    return qp_at(&qp_recorder.space, cell);
}

/* @return 0: no room */
static qp_cell take_cell(void)
{
    uint64_t head = qp_observe(&qp_recorder.parked_cells), next;
    do {
        if (!(uint32_t)head)
            return qp_recorder_block(NULL);
        next = ((head >> 32) + 1) << 32 | qp_load(&cell_at((qp_cell)head)->next);
    } while (!qp_swap_if(&qp_recorder.parked_cells, &head, next));
    for (unsigned i = 0; i < FRAMES_A_CELL; i++)
        qp_store(&cell_at((qp_cell)head)->methods[i], 0);
    return (qp_cell)head;
}

static void drop_cell(qp_cell cell)
{
    uint64_t head = qp_observe(&qp_recorder.parked_cells), next;
    do {
        qp_store(&cell_at(cell)->next, (qp_cell)head);
        next = ((head >> 32) + 1) << 32 | cell;
    } while (!qp_swap_if(&qp_recorder.parked_cells, &head, next));
}

static void drop_frames(qp_cell cell)
{
    while (cell) {
        qp_cell next = cell_at(cell)->next;
        drop_cell(cell);
        cell = next;
    }
}

/* ---- parking ------------------------------------------------------------------------------ */

/* @param frames  gets what is saved. @return false: no room, or a call is open that cannot be resumed */
static bool save_frames(const qprof_thread *th, qprof_frame *top, qp_cell *frames)
{
    qp_stack_cursor c = qp_stack_from(th, top);
    uint32_t i = FRAMES_A_CELL;
    for (uint64_t n = qp_stack_depth(th, top); n; n--, qp_stack_down(th, &c)) {
        qp_cell method = qp_frame_method(th, c.f);
        if ((c.f->flags & ~(uint32_t)QPROF_FRAME_SAME) || !qp_method_id(method))
            return false;
        if (i == FRAMES_A_CELL) {
            qp_cell cell = take_cell();
            if (!cell)
                return false;
            qp_store(&cell_at(cell)->next, *frames);
            *frames = cell;
            i = 0;
        }
        qp_store(&cell_at(*frames)->methods[i], method);
        cell_at(*frames)->ids[i++] = c.f->stack_id;
    }
    return true;
}

static bool save(qprof_thread *th, qprof_frame *top)
{
    const qp_thread_record *r = qp_record_of(th);
    qp_cell cell = take_cell(), frames = 0;
    bool is_saved = cell && save_frames(th, top, &frames);
    if (is_saved) {
        qp_parked *p = qp_at(&qp_recorder.space, cell);
        qp_store(&p->vt_id, r->vt_id);
        qp_store(&p->host_id, r->host_id); /* atomic: see unpark() */
        qp_store(&p->has_host_id, qp_load(&r->has_host_id));
        qp_store(&p->name, qp_load(&r->name));
        qp_store(&p->creator, r->creator);
        p->frames = frames;
        is_saved = qp_thread_park_vt(th, cell);
    }
    if (is_saved)
        return true;
    drop_frames(frames);
    if (cell)
        drop_cell(cell);
    return false;
}

/* Can it be parked without anything being lost that is kept with its row? */
static bool is_plain(const qprof_thread *th, qp_cell creator)
{
    const uint32_t usual = QPROF_HOOK_EXACT | QPROF_HOOK_ADAPTIVE | QPROF_GATE_CLOCK |
                           QPROF_HOOK_COLD | QP_HOOK_STEPS;
    const uint64_t top = QPROF_LOAD(th->pulse->top);
    return (QPROF_LOAD(th->gate) & ~usual) == QPROF_GATE_OPEN &&
           qp_load(&qp_own_of(th)->is_listed) && top - th->floor <= th->span &&
           qp_load(&qp_record_of(th)->creator) == creator && !qp_load(&qp_recorder.has_handles);
}

/* The time at which the thread was suspended. */
static uint64_t end_of(qprof_thread *th)
{
    const qprof_pulse *p = th->pulse;
    uint64_t end = p->suspended_at - p->offset;
    return !p->suspended_at ? qp_clock_now(th) : (int64_t)(end - p->last) > 0 ? end : p->last;
}

/* The thread is frozen. */
static bool park(qprof_thread *th)
{
    if (!qp_set_busy(th))
        return false;
    qprof_frame *top = qp_busy_top(th);
    bool is_saved = top && qp_stack_depth(th, top) <= DEPTH_MAX && save(th, top);
    if (is_saved) {
        qp_steps_drop(th);
        qp_store(&qp_record_of(th)->has_tokens,
                 1); /* ends of suspended calls are not counted */
        if (qp_stack_depth(th, top))
            qp_event_unroll(th, &top, end_of(th));
        qp_thread_unsettled(th, 0);
        QPROF_STORE(th->gate, 0);
    }
    qp_clear_busy(th);
    return is_saved;
}

qprof_thread *qp_park_any(qp_cell creator)
{
    for (unsigned n = 0; n < ROWS_LOOKED_AT; n++) {
        uint32_t i = qp_fetch_add(&qp_recorder.next_parked, 1);
        qprof_thread *th = qp_threads_at(i % qp_load(&qp_recorder_head()->n_threads));
        if (!th || !qp_observe(&th->pulse) || !qp_thread_freeze(th))
            continue;
        if (is_plain(th, creator) && park(th))
            return th;
        qp_thread_thaw(th);
    }
    return NULL;
}

/* ---- the way back ------------------------------------------------------------------------- */

void qp_park_restore(qprof_thread *th, qp_cell parked)
{
    const qp_parked *p = qp_at(&qp_recorder.space, parked);
    for (qp_cell cell = p->frames; cell; cell = cell_at(cell)->next)
        for (unsigned i = FRAMES_A_CELL; i--;) {
            qp_cell method = cell_at(cell)->methods[i];
            if (!method)
                continue;
            qp_own_of(th)->is_resuming = true;
            if (qp_method_is_endpoint(method))
                qp_request_resume(th, method);
            else
                qp_event_enter_id(th, (uintptr_t)qp_method_id(method),
                                  (uintptr_t)cell_at(cell)->ids[i]);
            qp_own_of(th)->is_resuming = false;
        }
    drop_frames(p->frames);
    drop_cell(parked);
}
