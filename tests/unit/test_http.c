/* test_http.c: what a request to the server may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "http/http.h"

static qp_http_request r;

static unsigned read_target(const char *target)
{
    const char *why = NULL;
    const unsigned status = qp_http_request_read(&r, target, &why);
    assert_non_null(why);
    return status;
}

static void parameters_are_decoded(void **state)
{
    (void)state;
    assert_int_equal(read_target("/"), 200);
    assert_string_equal(r.path, "/");
    assert_int_equal(r.n_pairs, 0);
    assert_int_equal(read_target("/top.json?a=1&b%3d=%41+%2B%e2%82%AC%26&c=&&d=x=y"), 200);
    static const char *const wanted[][2] = {
        {"a", "1"}, {"b=", "A +\xe2\x82\xac&"}, {"c", ""}, {"d", "x=y"}};
    assert_string_equal(r.path, "/top.json");
    assert_int_equal(r.n_pairs, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(r.pairs[i].key, wanted[i][0]);
        assert_string_equal(r.pairs[i].value, wanted[i][1]);
    }
}

static void other_targets_are_refused(void **state)
{
    static const char *const bad[] = {
        "",          "x",         "*",        "http://x/", "/..",    "/a/../b",
        "//a",       "/%2e",      "/a%00",    "/a?b",      "/a?b=%", "/a?b=%4",
        "/a?%zz=1",  "/a?b=%00",  "/a?%00=b", "/a b",      "/a\n",   "/a?b=\t",
        "/a?b=\x7f", "/a?b=\xff", "/#a",      "/a?b=1#c",  "/a\\b",  "/a;b"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(read_target(bad[i]), 400);
}

static void a_target_has_limits(void **state)
{
    static char text[QP_HTTP_TARGET_BYTES + 2];
    (void)state;
    memset(text, 'a', sizeof text - 1);
    text[0] = '/';
    assert_int_equal(read_target(text), 414);
    text[QP_HTTP_TARGET_BYTES] = '\0';
    assert_int_equal(read_target(text), 200);
    strcpy(text, "/?");
    for (int i = 0; i < QP_HTTP_PAIRS_MOST; i++)
        strcat(text, "a=&");
    assert_int_equal(read_target(text), 200);
    assert_int_equal(r.n_pairs, QP_HTTP_PAIRS_MOST);
    strcat(text, "a=");
    assert_int_equal(read_target(text), 400);
}

static void only_names_of_this_machine_are_local(void **state)
{
    static const char *const local[] = {"localhost",      "LocalHost:80", "127.0.0.1",
                                        "127.0.0.1:7700", "[::1]",        "[::1]:65535"};
    static const char *const others[] = {"",
                                         "example.org",
                                         "localhost.",
                                         "localhost.example.org",
                                         "127.0.0.1.nip.io",
                                         "127.0.0.10",
                                         "localhost:",
                                         "localhost:8a",
                                         "localhost:123456",
                                         "[::1",
                                         "[::1]x",
                                         "localhost:80:80",
                                         " localhost",
                                         "localhost ",
                                         "::1"};
    (void)state;
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        assert_true(qp_http_host_is_local(local[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(qp_http_host_is_local(others[i]));
    assert_false(qp_http_host_is_local(NULL));
}

static void a_token_fits_whole(void **state)
{
    static const char token[] = "0123456789abcdef";
    static const char *const right[] = {
        "Bearer 0123456789abcdef", "bearer 0123456789abcdef",
        "Basic OjAxMjM0NTY3ODlhYmNkZWY=",     /* ":0123456789abcdef" */
        "Basic bWU6MDEyMzQ1Njc4OWFiY2RlZg==", /* "me:0123456789abcdef" */
        "basic bWU6MDEyMzQ1Njc4OWFiY2RlZg"};  /* without its end */
    static const char *const wrong[] = {
        "",
        "0123456789abcdef",
        "Bearer",
        "Bearer ",
        "Bearer 0123456789abcde",
        "Bearer 0123456789abcdef0",
        "Bearer  0123456789abcdef",
        "Bearer 0123456789abcdeg",
        "Basic",
        "Basic ",
        "Basic MDEyMzQ1Njc4OWFiY2RlZg==", /* no name */
        "Basic OjAxMjM0NTY3ODlhYmNkZQ==", /* ":0123456789abcde" */
        "Basic bWU6MDEyMzQ1Njc4OWFiY2RlZg==x",
        "Basic bWU6MDEy MzQ1Njc4OWFiY2RlZg==",
        "Digest bWU6MDEyMzQ1Njc4OWFiY2RlZg=="};
    static char longest[QP_HTTP_TOKEN_BYTES * 4] = "Basic ";
    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        assert_true(qp_http_token_fits(right[i], token));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(qp_http_token_fits(wrong[i], token));
    assert_false(qp_http_token_fits(NULL, token));
    memset(longest + 6, 'A', sizeof longest - 7);
    assert_false(qp_http_token_fits(longest, token));
    memcpy(longest, "Bearer ", 7);
    assert_false(qp_http_token_fits(longest, token));
    /* of the greatest length, and one byte more */
    longest[7 + QP_HTTP_TOKEN_BYTES - 1] = '\0';
    static char great[QP_HTTP_TOKEN_BYTES];
    strcpy(great, longest + 7);
    assert_true(qp_http_token_fits(longest, great));
    longest[7 + QP_HTTP_TOKEN_BYTES - 1] = 'A';
    longest[7 + QP_HTTP_TOKEN_BYTES] = '\0';
    assert_false(qp_http_token_fits(longest, great));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_decoded),
        cmocka_unit_test(other_targets_are_refused),
        cmocka_unit_test(a_target_has_limits),
        cmocka_unit_test(only_names_of_this_machine_are_local),
        cmocka_unit_test(a_token_fits_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
