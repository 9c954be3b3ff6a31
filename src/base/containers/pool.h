/* pool.h: memory of the recorder that grows, never moves, and is freed as a whole.
 *
 * Addressed by cells of 64 bytes, so that qp_trie can lie in it, and by refs of 8 bytes for texts.
 * Taking is safe on any thread; cells are not freed one by one. */
#ifndef QP_BASE_CONTAINERS_POOL_H
#define QP_BASE_CONTAINERS_POOL_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    char *base;                   /* NULL: nothing was taken yet */
    uint32_t n_max;               /* cells */
    uint32_t n_used;              /* cells; the first is never given out */
    uint32_t text_next, text_end; /* refs: where the next text goes, where its block ends */
} qp_pool;

/* Zeroed cells. @return 0: no memory. Cost: no system call, but for a pool's first */
uint32_t qp_pool_take(qp_pool *p, size_t n_bytes);
void *qp_pool_at(const qp_pool *p, uint32_t cell);

/* A copy of a text, with a NUL. @return a ref; 0: no memory. One thread at a time */
uint32_t qp_pool_text(qp_pool *p, const char *text, size_t n_bytes);
const char *qp_pool_text_at(const qp_pool *p, uint32_t ref);

/* The cell of any address; 0: it is not one of the pool's. */
uint32_t qp_pool_cell(const qp_pool *p, const void *address);

/* Forget everything that was taken. */
void qp_pool_clear(qp_pool *p);

#endif
