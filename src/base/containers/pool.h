/* pool.h: memory of the recorder that grows, never moves, and is freed as a whole. It takes address
 * space as it grows.
 *
 * Addressed by cells of 64 bytes, so that qp_trie can lie in it, and by refs of 8 bytes for texts.
 * Taking is safe on any thread; cells are not freed one by one. */
#ifndef QP_BASE_CONTAINERS_POOL_H
#define QP_BASE_CONTAINERS_POOL_H

#include <stddef.h>
#include <stdint.h>

enum { QP_POOL_PARTS = 13 }; /* 2 GiB in all */

typedef struct {
    /* Cell i is at base + 64 * i; NULL: nothing was taken yet. Pools which begin with the base of another
     * one have cells that are found through each of them. */
    char *base;
    char *parts[QP_POOL_PARTS];
    uint64_t next; /* cells in use: the part in the high half, and how many of it */
    uint32_t text_next, text_end; /* refs: where the next text goes, where its block ends */
} qp_pool;

/* Zeroed cells. @return 0: no memory. Cost: a system call when the pool has to grow */
uint32_t qp_pool_take(qp_pool *p, size_t n_bytes);
void *qp_pool_at(const qp_pool *p, uint32_t cell);

/* A copy of a text, with a NUL. @return a ref; 0: no memory. One thread at a time */
uint32_t qp_pool_text(qp_pool *p, const char *text, size_t n_bytes);
const char *qp_pool_text_at(const qp_pool *p, uint32_t ref);

/* The cell of any address; 0: it is not one of the pool's.
 * @param n_cells  of each item that the pool contains; 1: they differ */
uint32_t qp_pool_cell(const qp_pool *p, const void *address, uint32_t n_cells);

/* Forget everything that was taken. */
void qp_pool_clear(qp_pool *p);

#endif
