/* test_xbase_pri.c tests xbase/pri.c: section 5 of the specification of traces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "xbase/xbase.h"

static qp_pri settings, scratch;
static char written[QP_PRI_BYTES * 2];

static bool read_text(const char *text, qp_error *error)
{
    bool is_read = qp_pri_read(&scratch, &settings, text, strlen(text), error);
    if (is_read)
        settings = scratch;
    return is_read;
}

static void assert_refused(const char *text, unsigned line, const char *message)
{
    qp_error error;
    assert_false(read_text(text, &error));
    assert_int_equal(error.line, line);
    assert_string_equal(error.text, message);
}

static void assert_written(const char *text)
{
    size_t n = qp_pri_write(&settings, written, sizeof written);
    assert_int_equal(n, strlen(text));
    assert_memory_equal(written, text, n);
}

#define DEFAULTS                                                                               \
    "OPERATIONMODE=1\r\nOUTFLUSHEVERY=1000\r\nPROGRAM=\r\nPARAMETERS=\r\nBUILTINS=1\r\n"       \
    "HUMANREADABLE=0\r\nSYMBOLSIZE=64\r\nPARAMLIST=0\r\nTIMELINE=1\r\nLINENUMBERS=1\r\n"       \
    "EXCLUDETHREAD=\r\nEXCLUDESYMBOL=\r\nOUTFILE=%v.PRF\r\n"

static void defaults_are_those_of_the_table(void **state)
{
    (void)state;
    qp_pri_init(&settings);
    assert_written(DEFAULTS);
    qp_prf_options o = qp_prf_options_of(&settings);
    assert_true(!o.is_text && o.has_time && o.has_line && !o.has_params);
    assert_true(!o.is_flushed && !o.is_packets);
    assert_int_equal(o.symbol_bytes, 64);
    assert_int_equal(o.flush_every, 1000);
}

static void unknown_keys_and_comments_are_kept(void **state) /* trace 25 */
{
    (void)state;
    qp_error error;
    qp_pri_init(&settings);
    assert_true(read_text(
        "; by hand\nOperationMode = 4105\r\n\n# more\nCOLOR=blue \nSymbolSize=20", &error));
    assert_int_equal(settings.number[QP_PRI_OPERATIONMODE], 4105);
    assert_int_equal(settings.number[QP_PRI_SYMBOLSIZE], 20);
    assert_true(qp_pri_set(&settings, QP_PRI_OPERATIONMODE, "3073", &error));
    assert_written("; by hand\r\nOPERATIONMODE=3073\r\n\r\n# more\r\nCOLOR=blue\r\n"
                   "SymbolSize=20\r\nOUTFLUSHEVERY=1000\r\nPROGRAM=\r\nPARAMETERS=\r\n"
                   "BUILTINS=1\r\nHUMANREADABLE=0\r\nPARAMLIST=0\r\nTIMELINE=1\r\n"
                   "LINENUMBERS=1\r\nEXCLUDETHREAD=\r\nEXCLUDESYMBOL=\r\nOUTFILE=%v.PRF\r\n");
    /* a second file has them as well; what it does not set stays */
    assert_true(read_text("TIMELINE=0\n", &error));
    assert_int_equal(settings.number[QP_PRI_OPERATIONMODE], 3073);
    size_t n = qp_pri_write(&settings, written, sizeof written);
    written[n] = '\0';
    assert_non_null(strstr(written, "COLOR=blue\r\n"));
    assert_ptr_equal(strstr(written, "TIMELINE=0\r\n"), written);
    assert_int_equal(qp_pri_write(&settings, written, 5), n);
}

static void a_later_line_wins(void **state)
{
    (void)state;
    qp_error error;
    qp_pri_init(&settings);
    assert_true(read_text("SYMBOLSIZE=10\nSYMBOLSIZE=12\nPROGRAM=a\nprogram=b c\n", &error));
    assert_int_equal(settings.number[QP_PRI_SYMBOLSIZE], 12);
    assert_string_equal(qp_pri_value(&settings, QP_PRI_SYMBOLSIZE), "12");
    assert_string_equal(qp_pri_value(&settings, QP_PRI_PROGRAM), "b c");
    assert_true(qp_pri_set(&settings, QP_PRI_PROGRAM, "d", &error));
    assert_string_equal(qp_pri_value(&settings, QP_PRI_PROGRAM), "d");
}

static void bad_values_name_their_line(void **state) /* trace 23 */
{
    (void)state;
    qp_pri_init(&settings);
    assert_refused("OUTFLUSHEVERY=0", 1, "OUTFLUSHEVERY=0: a number from 1 on is expected");
    assert_refused("\n;x\nOUTFLUSHEVERY=-3", 3,
                   "OUTFLUSHEVERY=-3: a number from 1 on is expected");
    assert_refused("SYMBOLSIZE=255", 1, "SYMBOLSIZE=255: a number from 1 to 254 is expected");
    assert_refused("SYMBOLSIZE=0", 1, "SYMBOLSIZE=0: a number from 1 to 254 is expected");
    assert_refused("TIMELINE=yes\n", 1, "TIMELINE=yes: a number from 0 to 1 is expected");
    assert_refused("OPERATIONMODE=4294967296", 1,
                   "OPERATIONMODE=4294967296: a number from 0 on is expected");
    assert_refused("EXCLUDETHREAD=1,x", 1,
                   "EXCLUDETHREAD=1,x: numbers of threads are expected, as 2,5");
    assert_refused("TIMELINE=0\nnonsense\n", 2, "KEY=VALUE is expected");
    assert_refused("=5\n", 1, "KEY=VALUE is expected");
    assert_refused("TIMELINE=\x1b[2J", 1, "TIMELINE=?[2J: a number from 0 to 1 is expected");
    assert_written(DEFAULTS); /* and nothing has changed */
    qp_error error;
    assert_true(qp_pri_set(&settings, QP_PRI_OUTFLUSHEVERY, " 1 ", &error));
    assert_int_equal(settings.number[QP_PRI_OUTFLUSHEVERY], 1);
    assert_false(qp_pri_set(&settings, QP_PRI_OUTFLUSHEVERY, "0", &error));
    assert_false(qp_pri_set(&settings, QP_PRI_PROGRAM, "a\r\nTIMELINE=0", &error));
    assert_string_equal(error.text, "PROGRAM: one line is expected");
    assert_int_equal(settings.number[QP_PRI_OUTFLUSHEVERY], 1);
}

static void a_text_that_is_too_long_is_refused(void **state)
{
    (void)state;
    static char text[QP_PRI_BYTES + 16];
    qp_error error;
    qp_pri_init(&settings);
    memset(text, 'x', sizeof text - 1);
    assert_false(qp_pri_set(&settings, QP_PRI_PROGRAM, text, &error));
    assert_string_equal(error.text, "PROGRAM: the settings take more than 16384 bytes");
    text[0] = ';';
    assert_refused(text, 1, "the settings take more than 16384 bytes");
    assert_false(qp_pri_read(&scratch, &settings, "A=\0\n", 4, &error));
    assert_int_equal(error.line, 1);
    assert_written(DEFAULTS);
}

static void lists_are_separated_by_commas_or_blanks(void **state)
{
    (void)state;
    assert_true(qp_pri_list_has("AEVAL, Log.write  X", "Log.write", 9));
    assert_true(qp_pri_list_has(",,X", "X", 1));
    assert_false(qp_pri_list_has("AEVAL", "AEVA", 4));
    assert_false(qp_pri_list_has("AEVAL", "aeval", 5));
    assert_false(qp_pri_list_has("", "", 0));
    assert_true(qp_pri_list_has_number("1,22 3", 22));
    assert_false(qp_pri_list_has_number("1,22 3", 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_table),
        cmocka_unit_test(unknown_keys_and_comments_are_kept),
        cmocka_unit_test(a_later_line_wins),
        cmocka_unit_test(bad_values_name_their_line),
        cmocka_unit_test(a_text_that_is_too_long_is_refused),
        cmocka_unit_test(lists_are_separated_by_commas_or_blanks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
