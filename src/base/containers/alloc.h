/* alloc.h: all memory of the tool, which tests can tell to fail; and arenas, whose memory is freed as
 * a whole. */
#ifndef QP_BASE_CONTAINERS_ALLOC_H
#define QP_BASE_CONTAINERS_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL: no memory, or n * bytes overflows. Zero bytes give a pointer that can be freed. */
void *qp_alloc(size_t n, size_t bytes);
/* Pages of large ones cost nothing until they are written. */
void *qp_alloc_zeroed(size_t n, size_t bytes);
void *qp_realloc(void *p, size_t n, size_t bytes); /* NULL leaves p as it was */
char *qp_alloc_text(const char *text);
void qp_free(const void *p); /* takes NULL */

typedef struct {
    struct qp_arena_block *blocks; /* the newest first */
} qp_arena;

void qp_arena_init(qp_arena *a);
void qp_arena_fini(qp_arena *a);

/* Zeroed, aligned for anything, valid until qp_arena_fini(). @return as qp_alloc() */
void *qp_arena_take(qp_arena *a, size_t n, size_t bytes);

/* Copies. */
void *qp_arena_copy(qp_arena *a, const void *items, size_t n, size_t bytes);
char *qp_arena_text(qp_arena *a, const char *text);
char *qp_arena_format(qp_arena *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Was there not enough memory, for whatever was asked? */
bool qp_alloc_has_failed(void);

/* Tests: let the n-th allocation from now on fail, and all after it if for_ever; n 0: none.
 * qp_alloc_count: allocations since the last call of qp_alloc_fail_after. */
void qp_alloc_fail_after(uint64_t n, bool for_ever);
uint64_t qp_alloc_count(void);

/* Let calls fail that would take more than so many bytes beyond those that are taken now. 0: no limit */
void qp_alloc_limit(uint64_t n_bytes);
/* Another limit, counted from the same moment; nothing if there is none. */
void qp_alloc_limit_change(uint64_t n_bytes);
/* The limit that made a call fail since it was set. 0: none did */
uint64_t qp_alloc_limit_reached(void);

#endif
