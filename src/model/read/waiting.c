/* waiting.c: PC samples of threads since their last events. A thread that is in one long call credits them
 * later; in the profile of a process that was killed, or that still runs, they are in a place of their
 * own, and the top frame of the thread says where they belong. */
#include "model/read/read.h"

static void read_waiting(qp_model_private *own, const qp_waiting *w)
{
    uint32_t thread = qp_index_at(own, w->thread, QP_TAG_THREAD);
    if (!thread || own->extras[thread].is_cleared)
        return;
    qp_model_thread *th = &own->threads[thread];
    uint32_t node = th->n_frames ? th->frames[th->n_frames - 1] : th->root;
    qp_figures *f = &own->nodes[node].f;
    f->pc_samples = qp_sum(f->pc_samples, w->n_samples);
    th->n_waiting = qp_sum(th->n_waiting, w->n_samples);
    f->off = qp_sum(f->off, own->model.run.has_waits && node != th->root ? w->off : 0);
    if (own->model.run.time_mode == QP_TIME_SAMPLED && node != th->root) {
        f->self = qp_sum(f->self, w->ticks);
        f->max = qp_sum(f->max, w->ticks ? w->n_passes : 0);
    }
}

void qp_load_waiting(qp_model_private *own)
{
    for (size_t i = 0; i < own->n_spans; i++) {
        const qp_model_extent *s = &own->spans[i];
        for (uint32_t k = 1; s->kind == QP_EXTENT_WAITING && k <= s->n_used; k++) {
            const qp_waiting *w = qp_image_cell(&own->image, s->cell + k);
            if (w->thread && w->n_passes)
                read_waiting(own, w);
        }
    }
}
