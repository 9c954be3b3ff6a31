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

void qprof_cold_memory(qprof_thread *th, uint64_t bytes, uint64_t objects, int is_free)
{
    if (!qp_is_open(th))
        return;
    if (bytes >> 48) {
        qp_count(&qp_recorder.space, QP_D_e_arg);
        return;
    }
    int host_errno = errno;
    qprof_frame *top = qp_event_look(th);
    if (top) {
        bool is_off = QPROF_LOAD(th->gate) & (QP_HOOK_STOPPED | QP_HOOK_OFF);
        qp_node_metrics *m = is_off ? NULL : metrics_of(th, qp_frame_path(top));
        if (m) {
            QPROF_ADD(*(is_free ? &m->freed_bytes : &m->bytes), bytes);
            QPROF_ADD(*(is_free ? &m->freed_objects : &m->objects), objects);
        }
        qp_event_end(th, top);
    }
    errno = host_errno;
}

void qprof_record_alloc_block(qprof_thread *th, uint64_t bytes, uint64_t objects, int block)
{
    if (!qp_is_open(th) || !(qp_recorder_head()->collect & QP_COLLECT_MEMORY))
        return;
    if (bytes >> 48 || objects >> 48) {
        qp_count(&qp_recorder.space, QP_D_e_arg);
        return;
    }
    int host_errno = errno;
    qprof_frame *top = qp_event_look(th);
    if (top) {
        bool is_off = QPROF_LOAD(th->gate) & (QP_HOOK_STOPPED | QP_HOOK_OFF);
        if (!is_off)
            qp_blocks_allocated(th, qp_node_at(th, qp_frame_path(top))->method, block, bytes,
                                objects);
        qp_event_end(th, top);
    }
    errno = host_errno;
}
