/* rings.c: the rings of a raw trace that a profile holds. */
#include "base/text/buf.h"
#include "format/layout.h"
#include "model/read/read.h"

/* @return the ring in an extent that has room for all of its slots; NULL: there is none */
static const qp_ring *ring_in(const qp_model_private *own, const qp_model_extent *s)
{
    if (s->kind != QP_EXTENT_RING || s->n_cells < 2)
        return NULL;
    const qp_ring *ring = qp_image_cell(&own->image, s->cell + 1);
    uint64_t room = (uint64_t)(s->n_cells - 2) * (QP_CELL / sizeof(qp_trace_record));
    bool is_power = ring->n_slots && (ring->n_slots & (ring->n_slots - 1)) == 0;
    return is_power && ring->n_slots <= room ? ring : NULL;
}

static uint64_t lost_of_rings(const qp_model_private *own)
{
    uint64_t n_lost = 0;
    for (size_t i = 0; i < own->n_spans; i++) {
        const qp_ring *ring = ring_in(own, &own->spans[i]);
        n_lost = qp_sum(n_lost, ring ? ring->n_lost : 0);
    }
    return n_lost;
}

uint64_t qp_load_diagnostic(const qp_model_private *own, unsigned i)
{
    uint64_t n = qp_image_head(&own->image)->diagnostics[i];
    uint64_t n_lost = i == QP_D_trace_lost ? lost_of_rings(own) : 0;
    return n > n_lost ? n : n_lost;
}

bool qp_model_rings(const qp_model *m, qp_model_ring **out, size_t *n)
{
    const qp_model_private *own = m->own;
    qp_buf rings = QP_BUF(qp_model_ring);
    for (size_t i = 0; i < own->n_spans; i++) {
        const qp_ring *ring = ring_in(own, &own->spans[i]);
        qp_model_ring *item = ring ? qp_buf_add(&rings) : NULL;
        if (item)
            *item = (qp_model_ring){own->spans[i].cell + 1, ring,
                                    qp_image_cell(&own->image, own->spans[i].cell + 2)};
    }
    *out = qp_buf_take(&rings, n);
    return *out != NULL;
}
