/* memory.c: allocations and frees of the host, and what it adds to its metrics, out of line: the first of a
 * path, and where the event is not the usual one. */
#include <errno.h>

#include "base/atomic.h"
#include "record/clock/clock.h"
#include "record/event/event.h"
#include "record/sample/sample.h"
#include "record/tree/tree.h"

_Static_assert(sizeof(qprof_metrics) == sizeof(qp_node_metrics) &&
                   offsetof(qprof_metrics, freed_objects) ==
                       offsetof(qp_node_metrics, freed_objects) &&
                   offsetof(qprof_metrics, values) == offsetof(qp_node_metrics, values) &&
                   (int)QPROF_METRICS == (int)QP_METRICS &&
                   offsetof(qp_node_more, metrics) == 56,
               "what inline.h adds to");

/* The figures of a path, or its values; without room for them, of the nearest caller that has some, so that
 * their sum is right. @return NULL: none has */
static void *figures_of(qprof_thread *th, qp_cell path, bool are_values)
{
    void *found = !path        ? NULL
                  : are_values ? (void *)qp_tree_values(th, path)
                               : qp_tree_metrics(th, path);
    if (found || !path)
        return found;
    qp_count(&qp_recorder.space, QP_D_out_of_memory);
    while (!found && (path = qp_node_at(th, path)->parent) != 0) {
        qp_cell cell = qp_node_at(th, path)->more;
        cell = cell ? QPROF_CELL(th, const qp_node_more, cell)->metrics : 0;
        if (are_values && cell)
            cell = QPROF_CELL(th, const qp_node_metrics, cell)->values;
        found = cell ? QPROF_CELL(th, char, cell) : NULL;
    }
    return found;
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
    qp_node_metrics *m = top && !is_off(th) ? figures_of(th, qp_frame_path(top), false) : NULL;
    if (m) {
        QPROF_ADD(*(is_free ? &m->freed_bytes : &m->bytes), bytes);
        QPROF_ADD(*(is_free ? &m->freed_objects : &m->objects), objects);
    }
    if (top)
        qp_event_end(th, top);
    errno = host_errno;
}

void qprof_cold_metric(qprof_thread *th, int metric, uint64_t n)
{
    qp_metric_add(th, 0, metric, n);
}

void qp_metric_add(qprof_thread *th, qp_cell open, int metric, uint64_t n)
{
    int host_errno = errno;
    const unsigned at = (unsigned)metric - 1;
    const bool has_paths = qp_is_open(th) && qp_recorder_has_paths();
    qprof_frame *top = has_paths ? charged_top(th, n, at < QP_METRICS ? 0 : UINT64_MAX) : NULL;
    qp_cell path = top ? qp_frame_path(top) : 0;
    if (top && !path) /* only stacks are kept */
        path = qp_samples_path(th, top);
    if (top && open && qp_tree_holds(th, open))
        path = open;
    qp_node_values *v = top && !is_off(th) ? figures_of(th, path, true) : NULL;
    if (v)
        QPROF_ADD(v->sums[at], n);
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
