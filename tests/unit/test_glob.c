/* test_glob.c: patterns of paths and names, and memory that is given back as a whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/containers/alloc.h"
#include "base/text/glob.h"

static void globs_of_paths_know_folders(void **state)
{
    static const struct {
        const char *glob, *path;
        bool fits;
    } cases[] = {
        {"a.lua", "a.lua", true},
        {"a.lua", "b/a.lua", false},
        {"*.lua", "a.lua", true},
        {"*.lua", "b/a.lua", false},
        {"**/*.lua", "a.lua", true},
        {"**/*.lua", "c/b/a.lua", true},
        {"**/a.lua", "ba.lua", false},
        {"**a.lua", "b/ba.lua", true},
        {"src/**/x.lua", "src/x.lua", true},
        {"src/**/x.lua", "src/a/b/x.lua", true},
        {"src/**/x.lua", "srcx.lua", false},
        {"src/**", "src/a/b.lua", true},
        {"src", "src/a/b.lua", true}, /* a folder is what lies in it */
        {"src/", "src/a/b.lua", true},
        {"sr", "src/a.lua", false},
        {"s*/b", "src/b/c.lua", true},
        {"*/b", "a/x/b", false},
        {"?.lua", "a.lua", true},
        {"a?b", "a/b", false},
        {"[a-c]*.lua", "bx.lua", true},
        {"[!a-c].lua", "b.lua", false},
        {"[^a-c].lua", "d.lua", true},
        {"[]x].lua", "].lua", true},
        {"[a-].lua", "-.lua", true},
        {"[!a]b", "/b", false},
        {"a[", "a[", true},
        {"\\*.lua", "*.lua", true},
        {"\\*.lua", "a.lua", false},
        {"a*b*c", "aXbXbXc", true},
        {"a*b*c", "aXbXbX", false},
        {"", "a", false},
        {"**", "", true},
        {"/usr/**", "/usr/x", true},
        {"**/b/**/d", "a/b/c/b/x/d", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (qp_glob_fits_path(cases[i].glob, cases[i].path) != cases[i].fits)
            fail_msg("%s and %s", cases[i].glob, cases[i].path);
}

static void globs_of_names_fit_the_whole_name(void **state)
{
    (void)state;
    assert_true(qp_glob_fits_name("test/*", "test/a/b"));
    assert_true(qp_glob_fits_name("*", ""));
    assert_true(qp_glob_fits_name("?", "/"));
    assert_false(qp_glob_fits_name("test", "test/a"));
    assert_false(qp_glob_fits_name("t?", "t"));
}

/* A pattern that would take exponential time by trying all ways. */
static void no_pattern_takes_long(void **state)
{
    (void)state;
    char text[2001], glob[2001];
    memset(text, 'a', 2000);
    text[2000] = '\0';
    for (size_t i = 0; i < 2000; i += 4)
        memcpy(glob + i, i % 8 ? "a*a*" : "a**a", 4);
    glob[1998] = 'b';
    glob[1999] = glob[2000] = '\0';
    assert_false(qp_glob_fits_path(glob, text));
    assert_false(qp_glob_fits_name(glob, text));
}

static void an_arena_has_aligned_zeroed_pieces_of_any_size(void **state)
{
    enum { PIECES = 2000 };
    (void)state;
    qp_arena a;
    unsigned char *pieces[PIECES];
    qp_arena_init(&a);
    for (size_t i = 0; i < PIECES; i++) {
        size_t n = i % 500 == 499 ? 200000 : i % 97;
        pieces[i] = qp_arena_take(&a, n, 1);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], 0xFF, n);
    }
    assert_string_equal(qp_arena_format(&a, "%s-%d", "x", 7), "x-7");
    assert_string_equal(qp_arena_text(&a, "text"), "text");
    assert_null(qp_arena_take(&a, SIZE_MAX, 2));
    assert_null(qp_arena_take(&a, SIZE_MAX, 1));
    qp_arena_fini(&a);
    qp_alloc_fail_after(1, true);
    assert_null(qp_arena_take(&a, 1, 1));
    assert_null(qp_arena_format(&a, "x"));
    qp_alloc_fail_after(0, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(globs_of_paths_know_folders),
        cmocka_unit_test(globs_of_names_fit_the_whole_name),
        cmocka_unit_test(no_pattern_takes_long),
        cmocka_unit_test(an_arena_has_aligned_zeroed_pieces_of_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
