/* space.h: handing out the cells of a profile file that is being written.
 *
 * No call here takes a lock or allocates elsewhere; any thread may make any of them at any time.
 * A crash between claiming cells and writing their header leaves a gap that readers skip. */
#ifndef QP_FORMAT_SPACE_H
#define QP_FORMAT_SPACE_H

#include "base/os/checksum.h"
#include "base/os/mapping.h"
#include "format/layout.h"

typedef struct {
    qp_mapping map;
    qp_head *head;          /* the first cells of map */
    uint64_t reserve_bytes; /* kept for what must not fail when the budget is used up */
    uint64_t
        method_cells; /* of extents of texts, and twice those of methods: they leave a share to paths */
} qp_space;

/* An extent that several threads fill with records: extent in the high half, used cells in the
 * low one. Zero: none yet. */
typedef uint64_t qp_slab;

typedef enum {
    QP_RESERVE_ORDINARY, /* leaves the reserve alone */
    QP_RESERVE_RESERVED  /* may use it */
} qp_reserve;

static inline void *qp_at(const qp_space *s, qp_cell cell)
{
    return s->map.base + ((uint64_t)cell << 6);
}

static inline void *qp_at_ref(const qp_space *s, qp_ref ref)
{
    return s->map.base + ((uint64_t)ref << 3);
}

/* Put a head into an open mapping. */
void qp_space_begin(qp_space *s, uint64_t nonce);

/* A new extent of n_cells (its header included), zeroed but for the header.
 * @return its header's cell; 0: no room, which is counted as lost_full where the disk is full */
qp_cell qp_extent_claim(qp_space *s, qp_extent_kind kind, qp_cell owner, uint32_t n_cells,
                        qp_reserve room);

/* n_cells zeroed cells of a chain of extents that one thread fills. *newest is the chain's newest
 * extent, replaced as need be; extents double from first_cells up to 1024 cells.
 * @return the first cell; 0: no room. Published by qp_cells_publish() */
qp_cell qp_cells_take(qp_space *s, qp_cell *newest, qp_extent_kind kind, qp_cell owner,
                      uint32_t n_cells, uint32_t first_cells, qp_reserve room);

/* Make what was taken last from the chain visible to readers. */
void qp_cells_publish(const qp_space *s, qp_cell newest, uint32_t n_cells);

/* n_cells zeroed cells of extents that several threads fill. @return 0: no room */
qp_cell qp_slab_take(qp_space *s, qp_slab *slab, qp_extent_kind kind, uint32_t n_cells,
                     qp_reserve room);

/* Its newest extent; those before it are prev. 0: none */
qp_cell qp_slab_newest(const qp_slab *slab);

/* n_bytes (padded to 8) of zeroed blob memory. @return 0: no room */
qp_ref qp_blob_take(qp_space *s, qp_slab *slab, uint64_t n_bytes);

static inline void qp_count(const qp_space *s, qp_diagnostic what)
{
    __atomic_fetch_add(&s->head->diagnostics[what], 1, __ATOMIC_RELAXED);
}

/* ---- checksums ------------------------------------------------------------------------------ */

/* The sums of a head and of an extent with all of its cells; the field `sum` counts as 0. */
uint32_t qp_head_checksum(const qp_head *h);
uint32_t qp_extent_checksum(const qp_extent *e, uint32_t n_cells);

/* Has each extent of the file its sum? Two bits would have to fall for a file to lose them. */
static inline bool qp_head_has_checksums(const qp_head *h)
{
    return (h->flags & QP_FLAG_CHECKSUMS) != 0 || h->checksum != 0;
}

/* Putting sums into a copy of a profile. Cells come in file order, in any number at a time. What belongs to
 * no extent becomes zero: it was claimed, and its header was not written yet. */

typedef struct {
    uint64_t nonce, n_cells; /* of the head of the copy */
    uint64_t n_sealed;       /* cells of the extents that began so far */
    int fd;          /* of the file, in which sums come later than their extents begin */
    uint32_t n_left; /* cells of the extent that are still to come */
    qp_cell extent;
    qp_checksum sum;
} qp_sealer;

/* @param h  of the copy @param fd  -1: all cells come at once */
void qp_seal_begin(qp_sealer *s, const qp_head *h, int fd);
/* All cells came: the head gets their number, and its own sum. */
void qp_seal_end(const qp_sealer *s, qp_head *h);
/* @param cells  n of them, from the cell `first` on; an extent that begins here gets its sum here, if
 *               it ends here, else in the file @return false: the file cannot be written */
bool qp_seal(qp_sealer *s, void *cells, uint64_t first, uint64_t n);

#endif
