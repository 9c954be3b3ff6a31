/* contexts.c: the contexts of a run and the texts that its sources had. */
#include "base/alloc.h"
#include "base/search.h"
#include "model/private.h"

void qp_load_cells(qp_model_private *own, qp_extent_kind kind,
                   void (*read)(qp_model_private *own, qp_cell cell, qp_buf *to), qp_buf *to)
{
    for (size_t i = 0; i < own->n_spans; i++) {
        const qp_span *s = &own->spans[i];
        for (uint32_t k = 1; s->kind == kind && k <= s->n_used; k++)
            read(own, s->cell + k, to);
    }
}

static void read_context(qp_model_private *own, qp_cell cell, qp_buf *to)
{
    const qp_context *r = qp_image_cell(&own->image, cell);
    own->n_losses[QP_LOSS_contexts] += r->published > 1;
    qp_model_context *fresh = r->published == 1 ? qp_buf_add(to) : NULL;
    if (fresh)
        *fresh = (qp_model_context){qp_load_text(own, r->name), cell};
}

bool qp_load_contexts(qp_model_private *own)
{
    size_t n;
    qp_buf contexts;
    qp_buf_init(&contexts, sizeof(qp_model_context));
    qp_load_cells(own, QP_EXTENT_CONTEXTS, read_context, &contexts);
    own->contexts = qp_buf_take(&contexts, &n);
    own->n_contexts = (uint32_t)n; /* fewer than cells */
    return own->contexts != NULL;
}

uint32_t qp_context_at(const qp_model_private *own, qp_cell cell)
{
    uint32_t at = (uint32_t)QP_SEARCH(own->contexts, own->n_contexts, cell, cell);
    return at < own->n_contexts && own->contexts[at].cell == cell ? at : own->n_contexts;
}

static void read_source(qp_model_private *own, qp_cell cell, qp_buf *to)
{
    const qp_source_record *r = qp_image_cell(&own->image, cell);
    own->n_losses[QP_LOSS_sources] += r->published > 1;
    const char *path = r->published == 1 ? qp_load_text(own, r->path) : "";
    qp_model_text *fresh = path[0] ? qp_buf_add(to) : NULL;
    if (fresh)
        *fresh = (qp_model_text){path, r->digest, r->n_bytes};
}

bool qp_load_sources(qp_model_private *own)
{
    qp_buf texts;
    qp_buf_init(&texts, sizeof(qp_model_text));
    qp_load_cells(own, QP_EXTENT_SOURCES, read_source, &texts);
    own->texts = qp_buf_take(&texts, &own->n_texts);
    return own->texts != NULL;
}
