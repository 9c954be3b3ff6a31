/* salvage.c: finds the readable extents of a file that may be damaged.
 *
 * Extents follow each other; where one does not begin as it should, the next header is looked
 * for cell by cell. A header names its own place and repeats the file's nonce, so that no other
 * bytes pass for one by accident. Start reading at qp_salvage_extents(). */
#include "base/containers/alloc.h"
#include "base/containers/search.h"
#include "format/space.h"
#include "model/read/read.h"

static const qp_extent *extent_at(const qp_model_private *own, uint64_t cell)
{
    return qp_image_cell(&own->image, (qp_cell)cell);
}

static bool is_header(const qp_model_private *own, uint64_t cell)
{
    return cell >= QP_HEAD_CELLS && cell < own->image.n_cells &&
           qp_extent_begins(extent_at(own, cell), cell, own->nonce);
}

/* The first header from a cell on, or n_cells. */
static uint64_t next_header(const qp_model_private *own, uint64_t cell)
{
    for (; cell < own->image.n_cells; cell++) {
        cell = qp_image_skip_hole(&own->image, (uint32_t)cell);
        if (is_header(own, cell))
            return cell;
    }
    return own->image.n_cells;
}

/* Whether something was written between two cells. Claimed extents whose headers are not
 * finished are zero but for those headers, of which `self` comes first and the magic last. */
static bool is_damaged(const qp_model_private *own, uint64_t begin, uint64_t end)
{
    for (uint64_t cell = begin; cell < end; cell++) {
        cell = qp_image_skip_hole(&own->image, (uint32_t)cell);
        if (cell >= end)
            break;
        const qp_extent *e = extent_at(own, cell);
        if (e->magic == 0 && e->self == cell && !own->has_checksums)
            continue;
        const uint64_t *words = qp_image_cell(&own->image, (qp_cell)cell);
        for (unsigned i = 0; i < QP_CELL / sizeof *words; i++)
            if (words[i])
                return true;
    }
    return false;
}

/* If the nonce of the head is damaged, take that of the first header which names its own
 * place. */
static void repair_nonce(qp_model_private *own)
{
    own->nonce = qp_image_head(&own->image)->nonce;
    if (next_header(own, QP_HEAD_CELLS) < own->image.n_cells)
        return;
    for (uint64_t cell = QP_HEAD_CELLS; cell < own->image.n_cells; cell++) {
        cell = qp_image_skip_hole(&own->image, (uint32_t)cell);
        if (cell >= own->image.n_cells)
            return;
        const qp_extent *e = extent_at(own, cell);
        if (e->magic == QP_EXTENT_MAGIC && e->self == cell) {
            own->nonce = e->nonce ^ cell;
            own->n_losses[QP_LOSS_nonce]++;
            return;
        }
    }
}

/* The end of an extent: the one in its header, unless the bytes there contradict it. */
static uint64_t end_of(qp_model_private *own, uint64_t cell)
{
    const qp_extent *e = extent_at(own, cell);
    uint64_t end = cell + e->n_cells;
    bool is_whole = e->n_cells && e->n_used < e->n_cells;
    if (is_whole && (end == own->image.n_cells || is_header(own, end)))
        return end;
    uint64_t next = next_header(own, cell + 1);
    if (is_whole && end <= next)
        return end;
    own->n_losses[QP_LOSS_extents]++;
    return next;
}

static void add_span(qp_model_private *own, qp_buf *spans, uint64_t cell, uint64_t end)
{
    const qp_extent *e = extent_at(own, cell);
    qp_model_extent *s = qp_buf_add(spans);
    if (!s)
        return;
    uint32_t n_cells = (uint32_t)(end - cell);
    bool is_all_used = e->kind == QP_EXTENT_FRAMES;
    uint32_t n_used = is_all_used || e->n_used >= n_cells ? n_cells - 1 : e->n_used;
    *s = (qp_model_extent){(qp_cell)cell, e->owner, e->kind, n_used, n_cells};
}

static void note_damage(qp_model_private *own, uint64_t cell, uint64_t end, uint32_t kind)
{
    if (!own->first_damage.cell)
        own->first_damage = (qp_damage){(qp_cell)cell, (uint32_t)(end - cell), kind};
}

/* Leave an extent out: none of its bytes can be taken for a record or a text. */
static void leave_out(qp_model_private *own, uint64_t cell, uint64_t end)
{
    note_damage(own, cell, end, extent_at(own, cell)->kind);
    own->n_losses[QP_LOSS_checksums]++;
    memset(own->image.bytes + cell * QP_CELL, 0xff, (end - cell) * QP_CELL);
}

/* Count what the file lacks of the length in its head. While it is recorded, cells are claimed
 * before the file grows, and the file grows ahead of the claims. */
static void compare_length(qp_model_private *own)
{
    const qp_head *h = qp_image_head(&own->image);
    uint64_t is_bytes = own->image.file_bytes;
    uint64_t wanted = h->n_cells <= UINT32_MAX ? h->n_cells * QP_CELL : UINT64_MAX;
    if (h->state != QP_LIVE && wanted > is_bytes)
        own->n_losses[QP_LOSS_end] += wanted - is_bytes;
}

bool qp_salvage_extents(qp_model_private *own)
{
    qp_buf spans = QP_BUF(qp_model_extent);
    own->has_checksums = qp_head_has_checksums(qp_image_head(&own->image));
    own->first_damage = (qp_damage){0};
    repair_nonce(own);
    compare_length(own);
    uint64_t n_found = 0, first_gap = 0;
    for (uint64_t cell = QP_HEAD_CELLS; cell < own->image.n_cells;) {
        if (is_header(own, cell)) {
            uint64_t end = end_of(own, cell);
            const qp_extent *e = extent_at(own, cell);
            n_found += end - cell;
            if (own->has_checksums &&
                e->checksum != qp_extent_checksum(e, (uint32_t)(end - cell)))
                leave_out(own, cell, end);
            else
                add_span(own, &spans, cell, end);
            cell = end;
        } else {
            uint64_t next = next_header(own, cell);
            if (is_damaged(own, cell, next)) {
                own->n_losses[QP_LOSS_stretches]++;
                note_damage(own, cell, next, QP_EXTENT_FREE);
            }
            first_gap = first_gap ? first_gap : cell;
            cell = next;
        }
    }
    if (own->has_checksums && n_found < qp_image_head(&own->image)->n_sealed &&
        !own->first_damage.cell) { /* whole extents were overwritten by zeros */
        own->n_losses[QP_LOSS_stretches]++;
        note_damage(own, first_gap, first_gap + 1, QP_EXTENT_FREE);
    }
    own->spans = qp_buf_take(&spans, &own->n_spans);
    return own->spans != NULL;
}

const qp_model_extent *qp_salvage_extent(const qp_model_private *own, uint64_t cell)
{
    size_t low = QP_SEARCH(own->spans, own->n_spans, cell, cell + 1);
    const qp_model_extent *s = low ? &own->spans[low - 1] : NULL;
    return s && cell > s->cell && cell - s->cell <= s->n_used ? s : NULL;
}

bool qp_salvage_words(qp_model_private *own)
{
    enum { LINE = 128 };
    static const char *const texts[] = {
#define QP_X(name, text) text,
        QP_LOSSES(QP_X)
#undef QP_X
    };
    own->loss_texts = qp_alloc(QP_LOSS_COUNT, LINE);
    own->losses = qp_alloc(QP_LOSS_COUNT, sizeof *own->losses);
    if (!own->loss_texts || !own->losses)
        return false;
    size_t n = 0;
    for (unsigned i = 0; i < QP_LOSS_COUNT; i++)
        if (own->n_losses[i]) {
            own->losses[n] = qp_text_format(own->loss_texts + n * LINE, LINE, "%s: %llu",
                                            texts[i], (unsigned long long)own->n_losses[i]);
            n++;
        }
    own->model.losses = own->losses;
    own->model.n_losses = n;
    return true;
}
