/* seal.c: the checksums of a profile's head and extents. Read qp_seal first. */
#include <unistd.h>

#include "base/os/checksum.h"
#include "base/os/file.h"
#include "format/space.h"

/* ---- heads and extents ----------------------------------------------------------------------- */

/* @param sum_at  offset of 4 bytes that count as 0 */
static uint32_t sum_without(const void *bytes, size_t n_bytes, size_t sum_at)
{
    _Alignas(8) char cell[QP_CELL];
    const char *from = bytes;
    size_t at = sum_at / QP_CELL * QP_CELL;
    qp_checksum s;
    memcpy(cell, from + at, sizeof cell);
    memset(cell + sum_at % QP_CELL, 0, sizeof(uint32_t));
    qp_checksum_begin(&s);
    qp_checksum_add(&s, from, at);
    qp_checksum_add(&s, cell, sizeof cell);
    qp_checksum_add(&s, from + at + QP_CELL, n_bytes - at - QP_CELL);
    return qp_checksum_end(&s);
}

uint32_t qp_head_checksum(const qp_head *h)
{
    return sum_without(h, sizeof *h, offsetof(qp_head, checksum));
}

uint32_t qp_extent_checksum(const qp_extent *e, uint32_t n_cells)
{
    return sum_without(e, (size_t)n_cells * QP_CELL, offsetof(qp_extent, checksum));
}

/* ---- a copy ---------------------------------------------------------------------------------- */

void qp_seal_begin(qp_sealer *s, const qp_head *h, int fd)
{
    *s = (qp_sealer){.nonce = h->nonce, .n_cells = h->n_cells, .fd = fd};
}

void qp_seal_end(const qp_sealer *s, qp_head *h)
{
    h->flags |= QP_FLAG_CHECKSUMS;
    h->n_sealed = s->n_sealed;
    h->checksum = 0;
    h->checksum = qp_checksum_of(h, sizeof *h);
}

/* The extent is complete. @param e  its header; NULL: it is in the file */
static bool put_sum(const qp_sealer *s, qp_extent *e)
{
    uint32_t sum = qp_checksum_end(&s->sum);
    off_t at = (off_t)((uint64_t)s->extent * QP_CELL + offsetof(qp_extent, checksum));
    if (!e)
        return lseek(s->fd, at, SEEK_SET) == at && qp_file_write(s->fd, &sum, sizeof sum);
    e->checksum = sum;
    return true;
}

bool qp_seal(qp_sealer *s, void *cells, uint64_t first, uint64_t n)
{
    for (uint64_t i = 0; i < n;) {
        char *at = (char *)cells + i * QP_CELL;
        qp_extent *e = (qp_extent *)(void *)at;
        uint64_t cell = first + i;
        if (!s->n_left) {
            if (!qp_extent_begins(e, cell, s->nonce) || !e->n_cells ||
                e->n_cells > s->n_cells - cell) {
                memset(at, 0, QP_CELL);
                i++;
                continue;
            }
            s->extent = e->self;
            s->n_left = e->n_cells;
            s->n_sealed += e->n_cells;
            e->checksum = 0;
            qp_checksum_begin(&s->sum);
        }
        uint64_t n_taken = s->n_left < n - i ? s->n_left : n - i;
        qp_checksum_add(&s->sum, at, n_taken * QP_CELL);
        s->n_left -= (uint32_t)n_taken;
        i += n_taken;
        e = s->extent < first ? NULL : (qp_extent *)cells + (s->extent - first);
        if (!s->n_left && !put_sum(s, e))
            return false;
    }
    return true;
}
