/* kept.c: the requests that a profile has kept whole, and their steps. */
#include "base/text/buf.h"
#include "format/layout.h"
#include "model/read/read.h"

static bool is_part(const qp_model_private *own, uint64_t cell)
{
    const qp_model_extent *s = qp_salvage_extent(own, cell);
    return s && s->kind == QP_EXTENT_KEPT && cell - s->cell + QP_KEPT_CELLS - 1 <= s->n_used &&
           (cell - s->cell - 1) % QP_KEPT_CELLS == 0;
}

/* The part that continues another one. @return NULL: there is none, or it is damaged */
static const qp_kept_part *next_part(const qp_model_private *own, const qp_kept_part *part)
{
    const qp_kept_part *next =
        part->next && is_part(own, part->next)
            ? (const qp_kept_part *)qp_image_cell(&own->image, (qp_cell)part->next)
            : NULL;
    return next && next->number == part->number ? next : NULL;
}

bool qp_load_kept(const qp_model_private *own, qp_model_kept **out, size_t *n)
{
    qp_buf all = QP_BUF(qp_model_kept);
    for (size_t i = 0; i < own->n_spans; i++) {
        const qp_model_extent *s = &own->spans[i];
        for (uint64_t at = 1; s->kind == QP_EXTENT_KEPT && at + QP_KEPT_CELLS - 1 <= s->n_used;
             at += QP_KEPT_CELLS) {
            const qp_kept *k = qp_image_cell(&own->image, (qp_cell)(s->cell + at));
            uint32_t node = k->part.published == 1 ? qp_index_at(own, k->path, QP_TAG_NODE) : 0;
            qp_model_kept *item = node ? qp_buf_add(&all) : NULL;
            if (item)
                *item = (qp_model_kept){(qp_cell)(s->cell + at), k, node};
        }
    }
    *out = qp_buf_take(&all, n);
    return *out != NULL;
}

/* Steps while they are read. */
typedef struct {
    const qp_model_private *own;
    qp_buf steps; /* qp_model_step */
    uint64_t raw;
    uint64_t upper; /* of the next one */
} reader;

/* @return false: it is damaged */
static bool take_step(reader *r, uint64_t word)
{
    const uint32_t what = (uint32_t)word;
    const uint64_t ticks = r->upper | word >> 32;
    uint32_t node = what > QP_STEP_UPPER ? qp_index_at(r->own, what, QP_TAG_NODE) : 0;
    r->upper = what == QP_STEP_UPPER ? ticks << 32 : 0;
    if (what == QP_STEP_UPPER)
        return true;
    if (!what || (what > QP_STEP_UPPER && !node) || ticks > INT64_MAX - r->raw)
        return false;
    if (node)
        r->raw += ticks;
    qp_model_step *s = qp_buf_add(&r->steps);
    if (s)
        *s = (qp_model_step){node ? 0 : (qp_kept_step)what, node, node ? r->raw : ticks};
    return s;
}

bool qp_load_kept_steps(const qp_model_private *own, const qp_model_kept *k,
                        qp_model_step **out, size_t *n)
{
    reader r = {.own = own, .steps = QP_BUF(qp_model_step), .raw = k->at->begun_raw};
    const qp_kept_part *part = &k->at->part;
    const uint64_t *words = (const uint64_t *)(k->at + 1);
    uint64_t n_left = own->image.n_cells / QP_KEPT_CELLS; /* parts: a circle ends */
    for (bool is_good = r.raw <= INT64_MAX; is_good && part && n_left; n_left--) {
        const size_t room =
            (size_t)(QP_KEPT_BYTES - ((const char *)words - (const char *)part)) /
            sizeof *words;
        for (size_t i = 0; is_good && i < part->n_steps && i < room; i++)
            is_good = take_step(&r, words[i]);
        part = next_part(own, part);
        words = (const uint64_t *)(part + 1);
    }
    bool has_failed = r.steps.failed;
    *out = qp_buf_take(&r.steps, n);
    return !has_failed && *out;
}
