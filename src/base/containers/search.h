/* search.h: finding a place among items that ascend. */
#ifndef QP_BASE_CONTAINERS_SEARCH_H
#define QP_BASE_CONTAINERS_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The order of two numbers, for qsort(): -1, 0 or 1. */
#define QP_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Index of the first of n items whose field, 32 or 64 bits without a sign, is `key` or more; n:
 * none. */
#define QP_SEARCH(items, n, field, key)                                                        \
    qp_search(items, n, sizeof *(items), offsetof(__typeof__(*(items)), field),                \
              sizeof(items)->field, key)

static inline size_t qp_search(const void *items, size_t n, size_t item_bytes,
                               size_t field_offset, size_t field_bytes, uint64_t key)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *at = (const char *)items + middle * item_bytes + field_offset;
        uint32_t narrow;
        uint64_t value;
        memcpy(&narrow, at, sizeof narrow);
        if (field_bytes == sizeof value)
            memcpy(&value, at, sizeof value);
        else
            value = narrow;
        if (value < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
