/* stable.h: an array that grows while other threads use it, and whose items never move.
 *
 * It lies in parts, each twice as large as the one before, which are mapped when their first item
 * is made: what is not needed takes no address space. Any thread may make items. */
#ifndef QP_BASE_CONTAINERS_STABLE_H
#define QP_BASE_CONTAINERS_STABLE_H

#include <stdbool.h>
#include <stdint.h>

/* The last item is number QP_STABLE_MOST - 1. */
enum { QP_STABLE_FIRST = 1024, QP_STABLE_PARTS = 14 };
#define QP_STABLE_MOST ((uint32_t)QP_STABLE_FIRST * ((1u << QP_STABLE_PARTS) - 1))

typedef struct {
    uint32_t item_bytes;
    bool is_wiped; /* a forked child finds zeros */
    char *parts[QP_STABLE_PARTS];
} qp_stable;

/* @return NULL: item i was not made yet */
void *qp_stable_at(const qp_stable *s, uint32_t i);

/* Make item i, zeroed, if it does not exist. @return NULL: no memory, or too many. Cost: a system
 * call for the first item of a part */
void *qp_stable_make(qp_stable *s, uint32_t i);

#endif
