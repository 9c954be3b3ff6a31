/* alloc.h: all memory of the tool. It can be told to fail. */
#ifndef QP_BASE_CONTAINERS_ALLOC_H
#define QP_BASE_CONTAINERS_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL: no memory, or n * bytes overflows. Zero bytes give a pointer that can be freed. */
void *qp_alloc(size_t n, size_t bytes);
void *qp_alloc_zeroed(size_t n, size_t bytes); /* untouched pages of large ones cost nothing */
void *qp_realloc(void *p, size_t n, size_t bytes); /* NULL leaves p as it was */
char *qp_alloc_text(const char *text);
void qp_free(const void *p); /* takes NULL */

/* Tests: let the n-th allocation from now on fail, and all after it if for_ever; n 0: none.
 * qp_alloc_count: allocations since the last call of qp_alloc_fail_after. */
void qp_alloc_fail_after(uint64_t n, bool for_ever);
uint64_t qp_alloc_count(void);

#endif
