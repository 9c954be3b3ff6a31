/* markers.c: the markers of a run, and how often its events were raised. */
#include <stdlib.h>

#include "base/containers/dict.h"
#include "format/layout.h"
#include "model/read/read.h"

/* @return NULL: no such kind */
static const char *kind_of(uint32_t kind)
{
    static const char *const kinds[] = {[QP_MARKER_USER] = "user",
                                        [QP_MARKER_TRIGGER] = "trigger",
                                        [QP_MARKER_ACTION] = "action",
                                        [QP_MARKER_EVENT_TRIGGER] = "event-trigger"};
    return kind < sizeof kinds / sizeof *kinds ? kinds[kind] : NULL;
}

static const char *unit_of(uint32_t event)
{
    return event == QP_EVENT_FN_EXIT    ? "ns"
           : event == QP_EVENT_FN_ENTRY ? "frames"
           : event == QP_EVENT_MEMORY   ? "%"
                                        : "";
}

static void read_marker(qp_model_private *own, qp_cell cell, qp_buf *to)
{
    const qp_marker *r = qp_image_cell(&own->image, cell);
    const char *kind = kind_of(r->kind);
    own->n_losses[QP_LOSS_markers] += r->published > 1 || (r->published && !kind);
    qp_run_marker *m = r->published == 1 && kind ? qp_buf_add(to) : NULL;
    if (m)
        *m = (qp_run_marker){
            .kind = kind,
            .name = qp_load_text(own, r->name),
            .at = qp_ticks_between(qp_image_head(&own->image)->begun_raw, r->at),
            .thread = r->thread ? qp_index_at(own, r->thread, QP_TAG_THREAD) : QP_ALL_THREADS,
            .event = r->kind == QP_MARKER_EVENT_TRIGGER ? r->event : 0,
            .object = r->object,
            .value = r->value,
            .value_unit = r->kind == QP_MARKER_EVENT_TRIGGER ? unit_of(r->event) : ""};
}

/* @return false: no memory */
static bool name_methods(const qp_model_private *own, qp_run_marker *marks, size_t n)
{
    bool is_good = true;
    qp_dict by_id = {0};
    for (uint32_t i = 1; n && is_good && i < own->model.n_methods; i++)
        is_good = qp_dict_put(&by_id, own->methods[i].id, i);
    for (size_t i = 0; is_good && i < n; i++) {
        const qp_run_marker *m = &marks[i];
        bool is_of_method = !m->event || qp_event_object_of(m->event) == QP_EVENT_OBJECT_METHOD;
        uint32_t method = is_of_method && m->object ? qp_dict_get(&by_id, m->object) : 0;
        marks[i].method = method ? own->methods[method].name : "";
    }
    qp_dict_fini(&by_id);
    return is_good;
}

static int by_time(const void *a, const void *b)
{
    const qp_run_marker *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void read_event(qp_model_private *own, qp_cell cell, qp_buf *to)
{
    const qp_event_count *r = qp_image_cell(&own->image, cell);
    own->n_losses[QP_LOSS_markers] += r->published > 1;
    qp_run_event *e = r->published == 1 && r->count ? qp_buf_add(to) : NULL;
    if (e)
        *e = (qp_run_event){r->id, r->count};
}

static int by_number(const void *a, const void *b)
{
    const qp_run_event *x = a, *y = b;
    return x->event < y->event ? -1 : x->event > y->event;
}

bool qp_load_markers(qp_model_private *own)
{
    qp_run_info *run = &own->model.run;
    qp_buf marks = QP_BUF(qp_run_marker), events = QP_BUF(qp_run_event);
    qp_load_cells(own, QP_EXTENT_MARKERS, read_marker, &marks);
    qp_load_cells(own, QP_EXTENT_EVENTS, read_event, &events);
    run->markers = own->markers = qp_buf_take(&marks, &run->n_markers);
    run->events = own->events = qp_buf_take(&events, &run->n_events);
    if (!own->markers || !own->events)
        return false;
    qsort(own->markers, run->n_markers, sizeof *own->markers, by_time);
    qsort(own->events, run->n_events, sizeof *own->events, by_number);
    return name_methods(own, own->markers, run->n_markers);
}
