/* memory.c: allocations and frees of the host, out of line: the first of a path, and where the event is
 * not the usual one. */
#include <errno.h>

#include "base/atomic.h"
#include "record/clock/clock.h"
#include "record/event/event.h"
#include "record/tree/tree.h"

_Static_assert(sizeof(qprof_metrics) == sizeof(qp_node_metrics) &&
                   offsetof(qprof_metrics, freed_objects) ==
                       offsetof(qp_node_metrics, freed_objects) &&
                   offsetof(qp_node_more, metrics) == 56,
               "what inline.h adds to");

/* The figures of a path; without room for them, of the nearest caller that has some, so that their sum
 * is right. @return NULL: none has */
static qp_node_metrics *metrics_of(qprof_thread *th, qp_cell path)
{
    qp_node_metrics *m = path ? qp_tree_metrics(th, path) : NULL;
    if (m || !path)
        return m;
    qp_count(&qp_recorder.space, QP_D_out_of_memory);
    while (!m && (path = qp_node_at(th, path)->parent) != 0) {
        qp_cell more = qp_node_at(th, path)->more;
        qp_cell cell = more ? QPROF_CELL(th, const qp_node_more, more)->metrics : 0;
        m = cell ? QPROF_CELL(th, qp_node_metrics, cell) : NULL;
    }
    return m;
}

/* The frame on top, to which memory is charged; qp_event_end() follows. @return NULL: nothing is */
static qprof_frame *charged_top(qprof_thread *th, uint64_t bytes, uint64_t objects)
{
    if (!qp_is_open(th))
        return NULL;
    if ((bytes | objects) >> 48) {
        qp_count(&qp_recorder.space, QP_D_e_arg);
        return NULL;
    }
    return qp_event_look(th);
}

static bool is_off(const qprof_thread *th)
{
    return QPROF_LOAD(th->gate) & (QP_HOOK_STOPPED | QP_HOOK_OFF);
}

void qprof_cold_memory(qprof_thread *th, uint64_t bytes, uint64_t objects, int is_free)
{
    int host_errno = errno;
    qprof_frame *top = charged_top(th, bytes, objects);
    qp_node_metrics *m = top && !is_off(th) ? metrics_of(th, qp_frame_path(top)) : NULL;
    if (m) {
        QPROF_ADD(*(is_free ? &m->freed_bytes : &m->bytes), bytes);
        QPROF_ADD(*(is_free ? &m->freed_objects : &m->objects), objects);
    }
    if (top)
        qp_event_end(th, top);
    errno = host_errno;
}

void qprof_record_alloc_block(qprof_thread *th, uint64_t bytes, uint64_t objects, int block)
{
    int host_errno = errno;
    bool is_wanted = qp_is_open(th) && (qp_recorder_head()->collect & QP_COLLECT_MEMORY);
    qprof_frame *top = is_wanted ? charged_top(th, bytes, objects) : NULL;
    if (top && !is_off(th))
        qp_blocks_allocated(th, qp_node_at(th, qp_frame_path(top))->method, block, bytes,
                            objects);
    if (top)
        qp_event_end(th, top);
    errno = host_errno;
}
