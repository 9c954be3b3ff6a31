/* test_wide.c: products of 128 bits without a type for them equal those of the compiler, and what was
 * worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifdef __SIZEOF_INT128__
typedef unsigned __int128 wide;
#define HAS_WIDE 1
#undef __SIZEOF_INT128__ /* what 32-bit machines have */
#else
typedef uint64_t wide;
#define HAS_WIDE 0
#endif
#include "base/text/wide.h"

static void shares_are_exact_or_at_the_limit(void **state)
{
    const uint64_t max = UINT64_MAX;
    (void)state;
    assert_int_equal(qp_product_share(7, 3, 1, 2), 11);
    assert_int_equal(qp_product_share(max, max, 0, max), max);
    assert_true(qp_product_share(max, max, max, max) == max); /* one more than fits */
    assert_int_equal(qp_product_share(max, 2, 0, 4), max / 2);
    assert_int_equal(qp_product_share(1ull << 63, 6, 5, 3ull << 62), 4);
    assert_int_equal(qp_product_share(0, max, 0, max), 0);
}

static void shifted_products_have_one_added(void **state)
{
    (void)state;
    assert_int_equal(qp_product_shifted(qp_product_of(1024, 5), 10, 7), 13);
    assert_int_equal(qp_product_shifted(qp_product_of(1ull << 40, 1ull << 32), 10, 0),
                     (1ull << 62) + 1);
    assert_true(qp_product_shifted(qp_product_of(1ull << 40, 1ull << 40), 10, 0) == UINT64_MAX);
    assert_true(qp_product_shifted(qp_product_of(0, 0), 10, UINT64_MAX) == UINT64_MAX);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> (*seed >> 58); /* of all lengths */
}

static uint64_t limited(wide w)
{
    return w > UINT64_MAX ? UINT64_MAX : (uint64_t)w;
}

static void products_equal_those_of_the_compiler(void **state)
{
    uint64_t seed = 1;
    (void)state;
    if (!HAS_WIDE)
        skip();
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t a = next_random(&seed), b = next_random(&seed), c = next_random(&seed),
                 by = next_random(&seed) | 1;
        wide w = (wide)a * b, other = (wide)c * by;
        assert_true(limited((w + c) / by) == qp_product_share(a, b, c, by));
        qp_product p = qp_product_of(a, b), q = qp_product_of(c, by);
        assert_int_equal(w < other, qp_product_less(p, q));
        assert_true(limited((w >> 10) + 1 + c) == qp_product_shifted(p, 10, c));
        qp_product three = qp_product_times(p, c);
        w *= c;
        assert_true(three.low == (uint64_t)w && three.high == (uint64_t)(w >> 32 >> 32));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_exact_or_at_the_limit),
        cmocka_unit_test(shifted_products_have_one_added),
        cmocka_unit_test(products_equal_those_of_the_compiler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
