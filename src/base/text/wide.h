/* wide.h: products of 64-bit numbers, whole: 128 bits, also where the compiler has no such type. */
#ifndef QP_BASE_TEXT_WIDE_H
#define QP_BASE_TEXT_WIDE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __SIZEOF_INT128__

typedef unsigned __int128 qp_product;

static inline qp_product qp_product_of(uint64_t a, uint64_t b)
{
    return (qp_product)a * b;
}

/* Modulo 2^128. */
static inline qp_product qp_product_times(qp_product p, uint64_t n)
{
    return p * n;
}

static inline bool qp_product_less(qp_product a, qp_product b)
{
    return a < b;
}

/* p / 2^shift + 1 + n; UINT64_MAX where that is more. */
static inline uint64_t qp_product_shifted(qp_product p, unsigned shift, uint64_t n)
{
    p = (p >> shift) + 1 + n;
    return p >> 64 ? UINT64_MAX : (uint64_t)p;
}

/* (a * b + more) / by; UINT64_MAX where that is more. @param by  not 0 */
static inline uint64_t qp_product_share(uint64_t a, uint64_t b, uint64_t more, uint64_t by)
{
    qp_product p = ((qp_product)a * b + more) / by;
    return p >> 64 ? UINT64_MAX : (uint64_t)p;
}

#else /* 32-bit machines */

typedef struct {
    uint64_t high, low;
} qp_product;

static inline qp_product qp_product_of(uint64_t a, uint64_t b)
{
    uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t low = a_low * b_low, one = a_high * b_low, other = a_low * b_high;
    uint64_t middle = (low >> 32) + (uint32_t)one + (uint32_t)other;
    return (qp_product){a_high * b_high + (one >> 32) + (other >> 32) + (middle >> 32),
                        middle << 32 | (uint32_t)low};
}

static inline qp_product qp_product_times(qp_product p, uint64_t n)
{
    qp_product r = qp_product_of(p.low, n);
    r.high += p.high * n;
    return r;
}

static inline bool qp_product_less(qp_product a, qp_product b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

static inline uint64_t qp_product_shifted(qp_product p, unsigned shift, uint64_t n)
{
    uint64_t low = shift ? p.high << (64 - shift) | p.low >> shift : p.low;
    bool is_more = p.high >> shift || low >= UINT64_MAX - n; /* with the 1 */
    return is_more ? UINT64_MAX : low + 1 + n;
}

static inline uint64_t qp_product_share(uint64_t a, uint64_t b, uint64_t more, uint64_t by)
{
    qp_product p = qp_product_of(a, b);
    p.low += more;
    p.high += p.low < more;
    if (p.high >= by)
        return UINT64_MAX;
    if (!p.high)
        return p.low / by;
    uint64_t rest = p.high, result = 0;
    for (unsigned i = 0; i < 64; i++) { /* by hand: rest < by */
        bool carry = rest >> 63;
        rest = rest << 1 | p.low >> 63;
        p.low <<= 1;
        result <<= 1;
        if (carry || rest >= by) {
            rest -= by;
            result |= 1;
        }
    }
    return result;
}

#endif
#endif
