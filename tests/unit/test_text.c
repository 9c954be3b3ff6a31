/* test_text.c: base/text/text.c, base/text/unit.c, base/text/json.c: what people and programs
 * are shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text/error.h"
#include "base/text/json.h"
#include "base/text/shell.h"
#include "base/text/text.h"
#include "base/text/unit.h"

static qp_out out;
static int pipes[2];

/* What was written to `out`. */
static const char *written(void)
{
    static char text[4096];
    assert_int_equal(qp_out_close(&out), 0);
    close(pipes[1]);
    ssize_t n = read(pipes[0], text, sizeof text - 1);
    close(pipes[0]);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static void begin(void)
{
    assert_int_equal(pipe(pipes), 0);
    qp_out_init(&out, pipes[1]);
}

static void assert_terminal(const char *from, const char *to)
{
    char text[256];
    size_t width;
    qp_text_terminal(text, sizeof text, from, &width);
    assert_string_equal(text, to);
    assert_int_equal(width, qp_text_width(to));
}

static void a_terminal_gets_no_control_character(void **state)
{
    (void)state;
    assert_terminal("plain", "plain");
    assert_terminal("\033[2J", "\\x1B[2J");
    assert_terminal("a\nb\tc\x7f", "a\\x0Ab\\x09c\\x7F");
    assert_terminal("\xC2\x9B", "\\x9B"); /* C1: CSI */
    assert_terminal("gr\xC3\xBCn", "gr\xC3\xBCn");
    assert_terminal("\xFF\xC3", "\\xFF\\xC3");          /* never a character; one cut short */
    assert_terminal("\xC0\xAF", "\\xC0\\xAF");          /* an overlong slash */
    assert_terminal("\xED\xA0\x80", "\\xED\\xA0\\x80"); /* half a surrogate pair */
    assert_terminal("\xE2\x80\xAE", "\\u{202E}");       /* turns the writing direction */
}

static void assert_shell(const char *from, const char *to)
{
    char text[64];
    char expected[64] = "qprof info ";
    strcpy(text, "qprof info");
    strcat(expected, to);
    assert_true(qp_shell_add_file(text, sizeof text, from));
    assert_string_equal(text, expected);
}

static void a_shell_reads_the_word_that_was_meant(void **state)
{
    char text[16];
    (void)state;
    assert_shell("runs/a-1.qprof", "runs/a-1.qprof");
    assert_shell("", "''");
    assert_shell("$(touch x) a", "'$(touch x) a'");
    assert_shell("it's", "'it'\\''s'");
    assert_shell("\xC3\xBC.qprof", "'\xC3\xBC.qprof'");
    assert_shell("a\\b\nc'\x1B", "$'a\\\\b\\012c\\'\\033'");
    assert_shell("u\xFF.qprof", "$'u\\377.qprof'");
    assert_shell("\xE2\x80\xAE", "$'\\342\\200\\256'"); /* turns the direction */
    assert_shell("-d.qprof", "./-d.qprof");
    assert_true(qp_shell_word(text, sizeof text, "-d"));
    assert_string_equal(text, "-d"); /* a word as such */
    assert_false(qp_shell_word(text, sizeof text, "1234567890123456"));
    assert_false(qp_shell_word(text, 2, "1"));
}

static void a_text_is_cut_at_a_character(void **state)
{
    char text[8];
    (void)state;
    assert_int_equal(qp_text_terminal(text, 4, "ab\xC3\xBC", NULL), 2);
    assert_string_equal(text, "ab");
    assert_int_equal(qp_text_terminal(text, 5, "ab\033", NULL), 2);
    assert_string_equal(text, "ab");
}

static void a_long_text_keeps_its_begin_or_its_end(void **state)
{
    char text[32];
    (void)state;
    qp_text_fit(text, sizeof text, "abcdefghij", 10, 0);
    assert_string_equal(text, "abcdefghij");
    qp_text_fit(text, sizeof text, "abcdefghij", 8, 0);
    assert_string_equal(text, "abcde...");
    qp_text_fit(text, sizeof text, "abcdefghij", 8, 1);
    assert_string_equal(text, "...fghij");
}

static void json_is_valid_whatever_the_name(void **state)
{
    (void)state;
    begin();
    qp_text_json(&out, "a\"b\\c\n\033\x7f\xFFz\xC3\xBC");
    assert_string_equal(written(), "\"a\\\"b\\\\c\\u000a\\u001b\\u007f\xEF\xBF\xBDz\xC3\xBC\"");
}

static void json_places_its_commas(void **state)
{
    qp_json json;
    (void)state;
    begin();
    qp_json_init(&json, &out);
    qp_json_begin(&json, NULL, '{');
    qp_json_count(&json, "a", UINT64_MAX);
    qp_json_begin(&json, "rows", '[');
    for (int i = 0; i < 2; i++) {
        qp_json_begin(&json, NULL, '{');
        qp_json_bool(&json, "x", i == 0);
        qp_json_null(&json, "y");
        qp_json_end(&json, '}');
    }
    qp_json_end(&json, ']');
    qp_json_end(&json, '}');
    assert_string_equal(written(),
                        "{\n \"a\":18446744073709551615,\n \"rows\":[\n"
                        "  {\"x\":true,\"y\":null},\n  {\"x\":false,\"y\":null}]}\n");
}

static void decimals_are_exact(void **state)
{
    (void)state;
    qp_json json;
    begin();
    qp_json_init(&json, &out);
    qp_json_begin(&json, NULL, '[');
    qp_json_decimal(&json, NULL, 0, 3);
    qp_json_decimal(&json, NULL, 7, 3);
    qp_json_decimal(&json, NULL, 12000, 3);
    qp_json_decimal(&json, NULL, 12040, 3);
    qp_json_decimal(&json, NULL, UINT64_MAX, 6);
    qp_json_end(&json, ']');
    assert_string_equal(written(), "[\n 0,\n 0.007,\n 12,\n 12.04,\n 18446744073709.551615]\n");
}

static void csv_is_quoted_and_no_formula(void **state)
{
    (void)state;
    begin();
    qp_text_csv(&out, "a\"b,c");
    qp_text_csv(&out, "=1+1");
    qp_text_csv(&out, "@x");
    qp_text_csv(&out, "\tx");
    qp_text_csv(&out, "a=b");
    assert_string_equal(written(), "\"a\"\"b,c\"\"'=1+1\"\"'@x\"\"'\tx\"\"a=b\"");
    begin();
    qp_text_csv(&out, "\x1B[2J");
    qp_text_csv(&out, "\xFF\xC2\x9B"
                      "two\nlines \xC3\xA4");
    assert_string_equal(written(), "\"\xEF\xBF\xBD[2J\""
                                   "\"\xEF\xBF\xBD\xEF\xBF\xBDtwo\nlines \xC3\xA4\"");
}

static void assert_number(const char *expected, uint64_t value, qp_unit unit)
{
    char text[QP_NUMBER_BYTES];
    assert_string_equal(qp_unit_number(text, value, unit), expected);
}

static void numbers_are_grouped_and_rounded_half_up(void **state)
{
    char text[QP_NUMBER_BYTES];
    const qp_unit ms = qp_unit_for(0, true, "ms");
    (void)state;
    assert_number("0.000", 0, ms);
    assert_number("0.001", 500, ms);
    assert_number("0.000", 499, ms);
    assert_number("1.000", 999500, ms);
    assert_number("1,234.568", 1234567500, ms);
    assert_number("18,446,744,073,709,551,615", UINT64_MAX, qp_unit_for(0, true, "ns"));
    assert_string_equal(qp_unit_count(text, 999), "999");
    assert_string_equal(qp_unit_count(text, 1000), "1,000");
    assert_string_equal(qp_unit_amount(text, 0, "counts"), "0 counts");
    assert_string_equal(qp_unit_amount(text, 1, "counts"), "1 count");
    assert_string_equal(qp_unit_amount(text, 1, "switches"), "1 switch");
    assert_string_equal(qp_unit_amount(text, 1, "misses"), "1 miss");
    assert_string_equal(qp_unit_amount(text, 1, "faults"), "1 fault");
    assert_string_equal(qp_unit_amount(text, 2000, "misses"), "2,000 misses");
    assert_string_equal(qp_unit_things(text, 0, "call"), "0 calls");
    assert_string_equal(qp_unit_things(text, 1, "call"), "1 call");
    assert_string_equal(qp_unit_things(text, 1000, "call"), "1,000 calls");
    assert_string_equal(qp_unit_things(text, UINT64_MAX, "function with a name"),
                        "18,446,744,073,709,551,615 function with a names");
    assert_string_equal(qp_unit_size(text, 1023), "1,023 bytes");
}

static void a_unit_fits_its_figure(void **state)
{
    char text[QP_NUMBER_BYTES];
    (void)state;
    assert_string_equal(qp_unit_time(text, 999), "999 ns");
    assert_string_equal(qp_unit_time(text, 1000), "1.000 us");
    assert_string_equal(qp_unit_time(text, 1234567), "1.235 ms");
    assert_string_equal(qp_unit_time(text, 61000000000), "61.000 s");
    assert_string_equal(qp_unit_for(9999, true, NULL).suffix, " ns");
    assert_string_equal(qp_unit_for(10000, true, NULL).suffix, " us");
    assert_string_equal(qp_unit_for(9999999999, true, NULL).suffix, " ms");
    assert_string_equal(qp_unit_for(10000000000, true, NULL).suffix, " s");
    assert_string_equal(qp_unit_for(10000000000, false, NULL).suffix, "");
    assert_string_equal(qp_unit_percent(text, 17, 45), "37.8");
    assert_string_equal(qp_unit_percent(text, 0, 0), "0.0");
    assert_string_equal(qp_unit_size(text, 1536), "1.5 KiB");
    assert_string_equal(qp_unit_size(text, 268435456), "256.0 MiB");
}

static void a_share_is_rounded_down(void **state)
{
    char text[QP_NUMBER_BYTES];
    (void)state;
    assert_string_equal(qp_unit_share(text, 2, 3, 1), "66.6");
    assert_string_equal(qp_unit_share(text, 2, 3, 2), "66.66");
    assert_string_equal(qp_unit_share(text, 60004, 60005, 2), "99.99");
    assert_string_equal(qp_unit_share(text, 1, 10000, 1), "0.0");
    assert_string_equal(qp_unit_share(text, UINT64_MAX, UINT64_MAX, 1), "100.0");
    assert_string_equal(qp_unit_share(text, 0, 0, 1), "-");
}

static void a_sink_remembers_its_first_error(void **state)
{
    (void)state;
    qp_out_init(&out, -1);
    qp_out_text(&out, "lost");
    qp_out_flush(&out);
    qp_out_text(&out, "lost as well");
    assert_int_not_equal(qp_out_close(&out), 0);
}

/* Of a long name the end is kept, so that the place and the reason fit into 256 bytes. */
static void an_error_has_its_place_before_its_text(void **state)
{
    char name[401];
    qp_error e = {.line = 5, .column = 7};
    (void)state;
    memset(name, 'd', sizeof name - 1);
    strcpy(name + 394, "/x.pri");
    assert_int_equal(qp_error_set(&e, 3, "%s", "bad"), 3);
    assert_int_equal(qp_error_locate(&e, "x.conf"), 3);
    assert_string_equal(e.text, "x.conf:5:7: bad");
    e = (qp_error){.line = 5};
    assert_false(qp_error_fail(&e, "bad"));
    assert_int_equal(qp_error_locate(&e, name), -1);
    assert_int_equal(strlen(e.text), 3 + 100 + strlen(":5: bad"));
    assert_memory_equal(e.text, "...dd", 5);
    assert_string_equal(e.text + 97, "/x.pri:5: bad");
    e = (qp_error){.column = 9, .text = "bad"};
    qp_error_locate(&e, NULL);
    assert_string_equal(e.text, "column 9: bad");
}

/* 82.7 ± 162: the second digit of 162 is that of tens. */
static void digits_that_an_interval_leaves_open_are_not_shown(void **state)
{
    (void)state;
    char text[QP_NUMBER_BYTES];
    const qp_unit ms = qp_unit_for(0, true, "ms");
    assert_string_equal(qp_unit_estimate(text, 12345678, 0, ms), "12.346");
    assert_string_equal(qp_unit_estimate(text, 12345678, 99000, ms), "12.346");
    assert_string_equal(qp_unit_estimate(text, 12345678, 123456, ms), "12.35 ");
    assert_string_equal(qp_unit_estimate(text, 12345678, 1234567, ms), "12.3  ");
    assert_string_equal(qp_unit_estimate(text, 12545678, 12345678, ms), "13    ");
    assert_string_equal(qp_unit_estimate(text, 82700000, 162000000, ms), "80    ");
    assert_string_equal(qp_unit_estimate(text, 162000000, 162000000, ms), "160    ");
    assert_string_equal(qp_unit_estimate(text, 4999, 120000, qp_unit_for(0, true, "ns")), "0");
    assert_string_equal(qp_unit_estimate(text, UINT64_MAX, 200, qp_unit_for(0, true, "ns")),
                        "18,446,744,073,709,551,610");
    assert_string_equal(qp_unit_time_estimate(text, 82700000, 162000000), "80 ms");
    assert_string_equal(qp_unit_time_estimate(text, 2345678901, 300000000), "2.35 s");
    assert_string_equal(qp_unit_time_estimate(text, 12345, 0), "12.345 us");
    assert_string_equal(qp_unit_percent_estimate(text, 37.84, 0), "37.8");
    assert_string_equal(qp_unit_percent_estimate(text, 37.84, 9.9), "37.8");
    assert_string_equal(qp_unit_percent_estimate(text, 37.84, 10), "38  ");
    assert_string_equal(qp_unit_percent_estimate(text, 37.84, 120), "40  ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_has_its_place_before_its_text),
        cmocka_unit_test(a_terminal_gets_no_control_character),
        cmocka_unit_test(a_shell_reads_the_word_that_was_meant),
        cmocka_unit_test(a_text_is_cut_at_a_character),
        cmocka_unit_test(a_long_text_keeps_its_begin_or_its_end),
        cmocka_unit_test(json_is_valid_whatever_the_name),
        cmocka_unit_test(json_places_its_commas),
        cmocka_unit_test(decimals_are_exact),
        cmocka_unit_test(csv_is_quoted_and_no_formula),
        cmocka_unit_test(numbers_are_grouped_and_rounded_half_up),
        cmocka_unit_test(a_unit_fits_its_figure),
        cmocka_unit_test(digits_that_an_interval_leaves_open_are_not_shown),
        cmocka_unit_test(a_share_is_rounded_down),
        cmocka_unit_test(a_sink_remembers_its_first_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
