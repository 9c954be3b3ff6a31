/* marks.c: markers and counts of user events, in extents that all threads fill. */
#include "record/ring/ring.h"

#include "base/atomic.h"
#include "base/containers/trie.h"
#include "record/clock/clock.h"

enum { MARKERS_MAX = 65536 };

void qp_marker_add(const qprof_thread *th, qp_marker_kind kind, const char *name,
                   uint32_t event, uint64_t object, uint64_t value)
{
    bool has_room = qp_fetch_add(&qp_recorder.n_markers, 1) < MARKERS_MAX;
    qp_cell cell = has_room ? qp_slab_take(&qp_recorder.space, &qp_recorder.markers,
                                           QP_EXTENT_MARKERS, 1, QP_RESERVE_ORDINARY)
                            : 0;
    if (!cell) {
        qp_fetch_add(&qp_recorder.n_markers, -1u);
        qp_count(&qp_recorder.space, QP_D_marks_lost);
        return;
    }
    qp_marker *m = qp_at(&qp_recorder.space, cell);
    m->at = qp_clock_elapsed();
    m->thread = th && th != &qp_closed_thread ? qp_record_cell(th) : 0;
    m->kind = (uint32_t)kind;
    m->name = qp_texts_add(&qp_recorder.texts, name);
    m->event = event;
    m->object = object;
    m->value = value;
    qp_publish(&m->published, 1);
    qp_trace_marker(kind, m->name);
}

void qp_trace_note_added(qp_note *n)
{
    n->at = qp_clock_elapsed();
    qp_trace_marker((qp_marker_kind)(QP_MARKER_NOTE + n->kind), n->text);
}

/* ---- user events ------------------------------------------------------------------------- */

static uint64_t event_of(QP_UNUSED void *unused, uint32_t cell)
{
    return ((const qp_event_count *)qp_at(&qp_recorder.space, cell))->id;
}

/* The record of an event; 0: no room. */
static qp_cell count_of(uint32_t event)
{
    const qp_trie index = {qp_recorder.space.map.base, event_of, qp_recorder_block, NULL};
    qp_cell cell = qp_trie_get(index, qp_recorder.event_root, event);
    if (cell)
        return cell;
    cell = qp_slab_take(&qp_recorder.space, &qp_recorder.event_counts, QP_EXTENT_EVENTS, 1,
                        QP_RESERVE_ORDINARY);
    if (!cell)
        return 0;
    qp_event_count *c = qp_at(&qp_recorder.space, cell);
    c->id = event;
    qp_cell agreed = qp_trie_put(index, qp_recorder.event_root, event, cell);
    if (agreed == cell)
        qp_publish(&c->published, 1);
    return agreed;
}

void qp_event_count_add(uint32_t event)
{
    qp_cell cell = count_of(event);
    if (cell)
        qp_fetch_add(&((qp_event_count *)qp_at(&qp_recorder.space, cell))->count, 1);
    else
        qp_count(&qp_recorder.space, QP_D_out_of_memory);
}

/* ---- clearing ---------------------------------------------------------------------------- */

static const qp_extent *extent_at(qp_cell cell)
{
    return qp_at(&qp_recorder.space, cell);
}

void qp_markers_clear(void)
{
    for (qp_cell cell = qp_slab_newest(&qp_recorder.markers); cell;
         cell = extent_at(cell)->prev)
        for (uint32_t i = 1; i < extent_at(cell)->n_cells; i++)
            qp_store(&((qp_marker *)qp_at(&qp_recorder.space, cell + i))->published, 0);
    for (qp_cell cell = qp_slab_newest(&qp_recorder.event_counts); cell;
         cell = extent_at(cell)->prev)
        for (uint32_t i = 1; i < extent_at(cell)->n_cells; i++)
            qp_store(&((qp_event_count *)qp_at(&qp_recorder.space, cell + i))->count, 0);
}
