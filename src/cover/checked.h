/* checked.h: a profile in memory, of which every index and length has been checked.
 *
 * Unlike the model it is read where nothing may be allocated and nothing repaired: a sealed file
 * with damage anywhere is refused; of a snapshot, which others wrote to while it was copied,
 * records that are not whole are left out. The bytes are a copy that does not change. */
#ifndef QP_COVER_CHECKED_H
#define QP_COVER_CHECKED_H

#include "base/os/mapping.h"
#include "base/text/error.h"
#include "format/layout.h"

/* ---- memory for one merge: zeroed, taken in turn, given back all at once -------------------- */

/* The recorder takes nothing from the host's allocator, and what a merge needs would only swell
 * the profile's own memory. */
typedef struct {
    qp_mapping map;
    uint64_t n_used;
} qp_scratch;

/* @return false: no such amount of memory */
static inline bool qp_scratch_open(qp_scratch *s, uint64_t n_bytes)
{
    *s = (qp_scratch){.n_used = 0};
    if (qp_mapping_open(&s->map, NULL, n_bytes) != 0)
        return false;
    if (s->map.limit_bytes >= n_bytes)
        return true;
    qp_mapping_close(&s->map);
    return false;
}

static inline void qp_scratch_close(qp_scratch *s)
{
    if (s->map.base)
        qp_mapping_close(&s->map);
}

/* n items of zeroed memory. @return NULL: the amount is used up */
static inline void *qp_scratch_take(qp_scratch *s, uint64_t n, uint64_t item_bytes)
{
    uint64_t n_bytes = (n * item_bytes + 15) & ~15ull, at = s->n_used;
    if (n > s->map.limit_bytes || qp_mapping_grow(&s->map, at + n_bytes) != QP_GROWN)
        return NULL;
    s->n_used += n_bytes;
    return s->map.base + at;
}

/* ---- the profile --------------------------------------------------------------------------- */

typedef struct {
    qp_bytes file;
    const qp_head *head;
    uint32_t n_cells;
    bool is_strict;     /* sealed: everything must be whole */
    uint32_t *index_of; /* [n_cells] of a method or context: its index */
    qp_cell *methods;   /* [n_methods + 1] from 1 */
    uint32_t n_methods;
    qp_cell *contexts; /* [n_contexts + 1] from 1 */
    uint32_t n_contexts;
    uint32_t *next_alike;   /* [n_methods + 1] next method in the same bucket; 0: none */
    uint32_t *buckets;      /* [mask + 1] of methods, by their names and first lines */
    uint32_t *next_name;    /* the same for the first method of each name */
    uint32_t *name_buckets; /* [mask + 1] of them */
    uint32_t *n_namesakes;  /* [n_methods + 1] of a first one: methods that have the name */
    uint32_t mask;
} qp_checked;

/* Check all of it. @return false: see error, one line about the file; "": no memory */
bool qp_checked_open(qp_checked *im, const char *bytes, uint64_t n_bytes, qp_scratch *s,
                     qp_error *error);

static inline const void *qp_checked_at(const qp_checked *im, qp_cell cell)
{
    return im->file.base + (uint64_t)cell * QP_CELL;
}

static inline const qp_method *qp_checked_method(const qp_checked *im, uint32_t index)
{
    return qp_checked_at(im, im->methods[index]);
}

/* "" for 0. */
static inline const char *qp_checked_text(const qp_checked *im, qp_ref ref)
{
    return ref ? qp_bytes_text(im->file, ref) : "";
}

bool qp_checked_is_thread(const qp_checked *im, qp_cell cell);
bool qp_checked_is_method(const qp_checked *im, qp_cell cell);

/* ---- walks over records --------------------------------------------------------------------- */

/* Where a walk is; begins with zeros. */
typedef struct {
    qp_cell extent, cell; /* of the record */
    qp_cell next;         /* the first cell after it */
} qp_cursor;

/* The next record of n_cells cells in extents of a kind. @return NULL: there is none */
const void *qp_checked_next(const qp_checked *im, qp_extent_kind kind, uint32_t n_cells,
                            qp_cursor *c);
/* The next counter block of a kind in such extents. */
const qp_counter_block *qp_checked_next_counters(const qp_checked *im, qp_extent_kind room,
                                                 qp_counter_block_kind kind, qp_cursor *c);
const qp_source_record *qp_checked_next_source(const qp_checked *im, qp_cursor *c);

/* What is known of a source's text. @return NULL: nothing */
const qp_source_record *qp_checked_source(const qp_checked *im, const char *path);

/* Cells in use in extents of a kind. */
uint64_t qp_checked_count(const qp_checked *im, qp_extent_kind kind);

/* ---- methods by name ------------------------------------------------------------------------ */

/* Two methods that have the same names, file and module, whatever their code. */
bool qp_checked_same_name(const qp_checked *a, uint32_t method_of_a, const qp_checked *b,
                          uint32_t method_of_b);

/* The first method of b that may have the name and the first line of a's; others follow by
 * next_alike. */
uint32_t qp_checked_find(const qp_checked *a, uint32_t method_of_a, const qp_checked *b);

/* How many methods of b have the name of a's. @param first  receives the first one; may be NULL */
uint32_t qp_checked_namesakes(const qp_checked *a, uint32_t method_of_a, const qp_checked *b,
                              uint32_t *first);

#endif
