/* pages.h: memory for the length of one call, from the system: the recorder's heap. */
#ifndef QP_BASE_OS_PAGES_H
#define QP_BASE_OS_PAGES_H

#include <stddef.h>

/* Zeroed memory. @return NULL: none. Cost: a system call; not for events */
void *qp_pages_take(size_t n_bytes);
/* @param p  NULL is allowed. @param n_bytes  as taken */
void qp_pages_drop(void *p, size_t n_bytes);

#endif
