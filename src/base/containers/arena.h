/* arena.h: memory that is taken piece by piece and given back as a whole. */
#ifndef QP_BASE_CONTAINERS_ARENA_H
#define QP_BASE_CONTAINERS_ARENA_H

#include <stddef.h>

typedef struct {
    struct qp_arena_block *blocks; /* the newest first */
} qp_arena;

void qp_arena_init(qp_arena *a);
void qp_arena_fini(qp_arena *a);

/* Zeroed, aligned for anything, good until the arena goes. @return NULL: no memory, or n * bytes
 * overflows. Zero bytes give a pointer, too. */
void *qp_arena_take(qp_arena *a, size_t n, size_t bytes);

/* Copies. */
void *qp_arena_copy(qp_arena *a, const void *items, size_t n, size_t bytes);
char *qp_arena_text(qp_arena *a, const char *text);
char *qp_arena_format(qp_arena *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
