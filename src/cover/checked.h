/* checked.h: a profile in memory, of which every index and length has been checked.
 *
 * Unlike the model it is read where nothing may be allocated and nothing repaired: a sealed file
 * with damage anywhere is refused; of a snapshot, which others wrote to while it was copied,
 * records that are not whole are left out. The bytes are a copy that nobody else changes. */
#ifndef QP_COVER_CHECKED_H
#define QP_COVER_CHECKED_H

#include "base/text/error.h"
#include "cover/scratch.h"
#include "format/layout.h"

typedef struct {
    const char *bytes;
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

/* Look through all of it. @return false: no memory, or why not, one line about the file */
bool qp_checked_open(qp_checked *im, const char *bytes, uint64_t n_bytes, qp_scratch *s,
                     qp_error *error);

static inline const void *qp_checked_at(const qp_checked *im, qp_cell cell)
{
    return im->bytes + (uint64_t)cell * QP_CELL;
}

static inline const qp_method *qp_checked_method(const qp_checked *im, uint32_t index)
{
    return qp_checked_at(im, im->methods[index]);
}

/* The next extent of a kind behind this one; begin with 0. @return 0: none */
qp_cell qp_checked_next(const qp_checked *im, qp_cell extent, qp_extent_kind kind);

bool qp_checked_is_thread(const qp_checked *im, qp_cell cell);
bool qp_checked_is_method(const qp_checked *im, qp_cell cell);

/* The next bank of a kind in an extent. @param at  begins with 1 @return NULL: none */
const qp_counter_block *qp_checked_next_counter_block(const qp_checked *im, qp_cell extent,
                                                      qp_counter_block_kind kind, uint32_t *at);

/* The next source. @param extent, at  begin with 0 @return NULL: none */
const qp_source_record *qp_checked_next_source(const qp_checked *im, qp_cell *extent,
                                               uint32_t *at);

/* What is known of a source's text. @return NULL: nothing */
const qp_source_record *qp_checked_source(const qp_checked *im, const char *path);

/* "" for 0. */
const char *qp_checked_text(const qp_checked *im, qp_ref ref);
const qp_lines *qp_checked_lines(const qp_checked *im, const qp_method *m); /* NULL: none */
const qp_jumps *qp_checked_jumps(const qp_checked *im, const qp_method *m);

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
