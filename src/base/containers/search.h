/* search.h: finding a place among items that ascend. */
#ifndef QP_BASE_CONTAINERS_SEARCH_H
#define QP_BASE_CONTAINERS_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The order of two numbers, for qsort(): -1, 0 or 1. */
#define QP_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Index of the first of n items whose field, 32 bits without a sign, is `key` or more; n: none. */
#define QP_SEARCH(items, n, field, key)                                                        \
    qp_search(items, n, sizeof *(items), offsetof(__typeof__(*(items)), field), key)

static inline size_t qp_search(const void *items, size_t n, size_t item_bytes,
                               size_t field_offset, uint32_t key)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint32_t value;
        memcpy(&value, (const char *)items + middle * item_bytes + field_offset, sizeof value);
        if (value < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
