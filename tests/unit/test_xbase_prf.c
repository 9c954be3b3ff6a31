/* test_xbase_prf.c tests xbase/dbf.c and prf.c: bytes as sections 6 to 8 of the specification
 * of traces have them. What other programs read: tests/cli/test_trace_xbase.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/xbase.h"

/* ---- bytes ------------------------------------------------------------------------------- */

static void a_table_is_what_the_specification_says(void **state) /* trace 14, 15, 27 */
{
    (void)state;
    assert_int_equal(qp_prf_open(&trace, "T.PRF", &table), 0);
    put(1, 12, 'I', "MAIN", 10, "");
    put(12345, 99999999, 'o', "SUB", 0, "");
    assert_int_equal(qp_prf_close(&trace), 0);
    size_t n = slurp("T.PRF", bytes);
    /* 32 + 5 fields of 32 + 1 + 263 = 456; a record is 1 + 5 + 8 + 1 + 20 + 8 = 43 */
    assert_int_equal(n, 456 + 2 * 43 + 1);
    assert_memory_equal(bytes, "\x30\x7e\x0b\x15\x02\0\0\0\xc8\x01\x2b\0", 12);
    assert_int_equal(bytes[28], 0);
    assert_memory_equal(bytes + 32, "THREAD\0\0\0\0\0N\x01\0\0\0\x05\0\0", 19);
    assert_memory_equal(bytes + 64, "TIME\0\0\0\0\0\0\0N\x06\0\0\0\x08\0\0", 19);
    assert_memory_equal(bytes + 96, "OP\0\0\0\0\0\0\0\0\0C\x0e\0\0\0\x01\0\0", 19);
    assert_memory_equal(bytes + 128, "CALL\0\0\0\0\0\0\0C\x0f\0\0\0\x14\0\0", 19);
    assert_memory_equal(bytes + 160, "LINE\0\0\0\0\0\0\0N\x23\0\0\0\x08\0\0", 19);
    assert_int_equal(bytes[192], '\r');
    for (unsigned i = 193; i < 456; i++)
        assert_int_equal(bytes[i], 0);
    assert_memory_equal(bytes + 456, "     1      12IMAIN                      10", 43);
    assert_memory_equal(bytes + 499, " 1234599999999oSUB                        0", 43);
    assert_int_equal(bytes[n - 1], 0x1A);
    assert_null(memchr(bytes + 456, 0x1A, 86));
    assert_false(exists("T.PRV"));
}

static void what_is_left_out_takes_no_bytes(void **state) /* trace 10 */
{
    (void)state;
    qp_prf_options o = table;
    put_rows("A.PRF", &o, 10);
    size_t all = slurp("A.PRF", bytes);
    o.has_time = false;
    put_rows("B.PRF", &o, 10);
    assert_int_equal(slurp("B.PRF", bytes), all - 10 * 8 - 32);
    assert_rows("B.PRF", 1, 10);
    o.has_line = false;
    put_rows("C.PRF", &o, 10);
    assert_int_equal(slurp("C.PRF", bytes), all - 10 * 16 - 64);
    assert_rows("C.PRF", 1, 10);
}

static void names_are_cut_at_a_whole_character(void **state) /* trace 11 */
{
    (void)state;
    qp_prf_options o = table;
    o.symbol_bytes = 5;
    assert_int_equal(qp_prf_open(&trace, "T.PRF", &o), 0);
    put(1, 0, 'I', "ABCDEFG", 0, "");
    put(1, 0, 'I', "abcd\xc3\xa9", 0, ""); /* the last one takes two bytes */
    put(1, 0, 'I', "abc\xc3\xa9z", 0, "");
    put(1, 0, 'I', "ab", 0, "");
    assert_int_equal(qp_prf_close(&trace), 0);
    slurp("T.PRF", bytes);
    static const char *const calls[] = {"ABCDE", "abcd ", "abc\xc3\xa9", "ab   "};
    for (unsigned i = 0; i < 4; i++)
        assert_memory_equal(bytes + 456 + i * 28 + 15, calls[i], 5);
}

static void numbers_that_do_not_fit_stay_at_the_largest(void **state)
{
    (void)state;
    assert_int_equal(qp_prf_open(&trace, "T.PRF", &table), 0);
    put(99999, 99999999, 'I', "A", 99999999, "");
    assert_false(trace.is_clamped);
    put(100000, 100000000, 'I', "A", 100000000, "");
    assert_true(trace.is_clamped);
    assert_int_equal(qp_prf_close(&trace), 0);
    slurp("T.PRF", bytes);
    assert_memory_equal(bytes + 456, bytes + 456 + 43, 43);
}

static void parameters_are_memos(void **state) /* trace 13 */
{
    (void)state;
    qp_prf_options o = table;
    o.has_params = true;
    char long_text[200];
    memset(long_text, 'x', 199);
    long_text[199] = '\0';
    assert_int_equal(qp_prf_open(&trace, "T.PRF", &o), 0);
    put(1, 0, 'I', "A", 0, "1, 2");
    put(1, 0, 'I', "A", 0, "");
    put(1, 0, 'I', "A", 0, long_text);
    put(1, 0, 'O', "A", 0, "z");
    assert_int_equal(qp_prf_close(&trace), 0);
    assert_int_equal(slurp("T.PRF", bytes), 488 + 4 * 47 + 1);
    assert_int_equal(bytes[28], 2);
    assert_memory_equal(bytes + 192, "PARAMS\0\0\0\0\0M\x2b\0\0\0\x04\0\0", 19);
    /* 8 and 199 bytes take 4 blocks of 64: the next is 8 + 1 + 4 = 13 */
    assert_memory_equal(bytes + 488 + 43, "\x08\0\0\0", 4);
    assert_memory_equal(bytes + 488 + 47 + 43, "\0\0\0\0", 4);
    assert_memory_equal(bytes + 488 + 94 + 43, "\x09\0\0\0", 4);
    assert_memory_equal(bytes + 488 + 141 + 43, "\x0d\0\0\0", 4);
    assert_int_equal(slurp("T.PRV", bytes), 14 * 64);
    assert_memory_equal(bytes, "\0\0\0\x0e\0\0\0\x40", 8);
    assert_memory_equal(bytes + 512,
                        "\0\0\0\x01\0\0\0\x04"
                        "1, 2\0",
                        13);
    assert_memory_equal(bytes + 576, "\0\0\0\x01\0\0\0\xc7xxx", 11);
    assert_memory_equal(bytes + 13 * 64, "\0\0\0\x01\0\0\0\x01z\0", 10);
    put_rows("U.prf", &o, 100);
    assert_true(exists("U.prv"));
    assert_rows("U.prf", 1, 100);
}

static void delimited_text_is_quoted(void **state) /* trace 21, 34 */
{
    (void)state;
    qp_prf_options o = table;
    o.is_text = true;
    assert_int_equal(qp_prf_open(&trace, "T.PRF", &o), 0);
    put(1, 12, 'I', "MAIN  ", 10, "no column");
    assert_int_equal(qp_prf_close(&trace), 0);
    size_t n = slurp("T.PRF", bytes);
    assert_int_equal(n, 20);
    assert_memory_equal(bytes, "1,12,\"I\",\"MAIN\",10\r\n", n);
    o.has_params = true;
    o.has_time = o.has_line = false;
    assert_int_equal(qp_prf_open(&trace, "T.PRF", &o), 0);
    put(2, 12, 'O', "say \"hi\"", 10, "\"a\", \"b\r\nc\"");
    assert_int_equal(qp_prf_close(&trace), 0);
    n = slurp("T.PRF", bytes);
    static const char line[] = "2,\"O\",\"say \"\"hi\"\"\",\"\"\"a\"\", \"\"b  c\"\"\"\r\n";
    assert_int_equal(n, sizeof line - 1);
    assert_memory_equal(bytes, line, n);
    assert_false(exists("T.PRV"));
    put_rows("U.PRF", &o, 100);
    assert_rows("U.PRF", 1, 100);
}

/* ---- flush and packets ------------------------------------------------------------------- */

static void each_flush_leaves_a_file_that_can_be_read(void **state) /* trace 16 */
{
    (void)state;
    qp_prf_options o = table;
    o.is_flushed = o.has_params = true;
    o.flush_every = 3;
    assert_int_equal(qp_prf_open(&trace, "T.PRF", &o), 0);
    for (unsigned i = 1; i <= 10; i++) {
        put_row(i);
        size_t n = slurp("T.PRF", bytes);
        unsigned n_whole = i / 3 * 3;
        assert_int_equal(n, 488 + n_whole * 47);
        assert_int_equal(bytes[4], n_whole);
        assert_rows("T.PRF", 1, n_whole);
    }
    assert_true(qp_prf_flush(&trace));
    assert_rows("T.PRF", 1, 10);
    assert_int_equal(qp_prf_close(&trace), 0);
    assert_int_equal(slurp("T.PRF", bytes), 488 + 470 + 1);
}

static size_t join_by_hand(const char *path, unsigned first, unsigned last, char *to)
{
    size_t n = slurp(path, to);
    for (unsigned i = first; i <= last; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.%06u", path, i);
        n += slurp(name, to + n);
    }
    return n;
}

static void packets_are_the_file_in_pieces(void **state) /* trace 17, 18, 24 */
{
    (void)state;
    qp_prf_options o = table;
    o.has_params = true;
    put_rows("ONE.PRF", &o, 25);
    size_t whole = slurp("ONE.PRF", others);
    o = in_packets(o, 10);
    put_rows("P.PRF", &o, 25);
    assert_int_equal(slurp("P.PRF.000001", bytes), 10 * 47);
    assert_int_equal(slurp("P.PRF.000002", bytes), 10 * 47);
    assert_int_equal(slurp("P.PRF.000003", bytes), 5 * 47);
    assert_false(exists("P.PRF.000004"));
    assert_int_equal(slurp("P.PRF", bytes), 488);
    assert_int_equal(bytes[4], 25);
    size_t n = join_by_hand("P.PRF", 1, 3, bytes);
    assert_int_equal(n, whole - 1);
    assert_memory_equal(bytes, others, n);
    assert_rows("P.PRF", 1, 25);
    size_t n_memo = slurp("ONE.PRV", others);
    assert_int_equal(slurp("P.PRV", bytes), n_memo);
    assert_memory_equal(bytes, others, n_memo);
    /* 2048 alone counts as both; normal, flushed and unflushed runs have the same bytes */
    qp_pri *p = calloc(1, sizeof *p);
    qp_error error;
    qp_pri_init(p);
    qp_pri_set(p, QP_PRI_OPERATIONMODE, "2049", &error);
    assert_true(qp_prf_options_of(p).is_flushed && qp_prf_options_of(p).is_packets);
    free(p);
}

static void a_full_last_packet_is_the_last(void **state)
{
    (void)state;
    qp_prf_options o = in_packets(table, 5);
    put_rows("P.PRF", &o, 10);
    assert_true(exists("P.PRF.000002"));
    assert_false(exists("P.PRF.000003"));
    assert_rows("P.PRF", 1, 10);
}

static void every_entry_may_be_a_packet(void **state) /* trace 23 */
{
    (void)state;
    qp_prf_options o = in_packets(table, 1);
    put_rows("P.PRF", &o, 12);
    assert_int_equal(slurp("P.PRF.000012", bytes), 43);
    assert_rows("P.PRF", 1, 12);
    assert_false(exists("P.PRF.000013"));
}

static void packets_of_the_run_before_are_removed(void **state)
{
    (void)state;
    qp_prf_options o = in_packets(table, 1);
    put_rows("P.PRF", &o, 12);
    unlink("P.PRF.000002");
    put_rows("P.PRF", &o, 3);
    assert_rows("P.PRF", 1, 3);
}

static void packets_may_be_removed_while_the_trace_is_written(void **state) /* trace 19, 31 */
{
    (void)state;
    for (unsigned is_text = 0; is_text < 2; is_text++) {
        qp_prf_options o = in_packets(table, 2);
        o.is_text = is_text;
        put_rows("ONE.PRF",
                 &(qp_prf_options){.is_text = is_text,
                                   .has_time = true,
                                   .has_line = true,
                                   .symbol_bytes = 20,
                                   .day = {126, 11, 21}},
                 7);
        size_t whole = slurp("ONE.PRF", others), n = 0;
        assert_int_equal(qp_prf_open(&trace, "P.PRF", &o), 0);
        static char moved[XBASE_ROOM];
        for (unsigned i = 1; i <= 7; i++) {
            put_row(i);
            if (i == 4) { /* what was copied is deleted, and the header packet by mistake */
                n = join_by_hand("P.PRF", 1, 1, moved);
                assert_int_equal(unlink("P.PRF.000001"), 0);
                assert_int_equal(unlink("P.PRF"), 0);
            }
            assert_true(i != 6 || exists("P.PRF"));
        }
        assert_int_equal(qp_prf_close(&trace), 0);
        /* the header is new, the first packet comes from the copy */
        size_t n_head = slurp("P.PRF", bytes);
        assert_int_equal(n_head, is_text ? 0 : 456);
        memcpy(bytes + n_head, moved + n_head, n - n_head);
        size_t all = n;
        for (unsigned i = 2; i <= 4; i++) {
            char name[32];
            snprintf(name, sizeof name, "P.PRF.%06u", i);
            all += slurp(name, bytes + all);
        }
        assert_int_equal(all, is_text ? whole : whole - 1);
        assert_memory_equal(bytes, others, all);
    }
}

static void some_packets_alone_can_be_read(void **state) /* trace 20, 21 */
{
    (void)state;
    qp_prf_options o = in_packets(table, 10);
    put_rows("P.PRF", &o, 35);
    size_t n = slurp("P.PRF", bytes);
    n += slurp("P.PRF.000003", bytes + n);
    spit("SOME.PRF", bytes, n);
    assert_int_equal(bytes[4], 35);
    assert_rows("SOME.PRF", 21, 30);
    qp_dbf t;
    assert_null(qp_dbf_read_head(&t, bytes, n));
    assert_int_equal((n - t.header_bytes) / t.record_bytes, 10);
    unlink("P.PRF.000001");
    unlink("P.PRF.000002");
    assert_rows("P.PRF", 21, 35);
    o.is_text = true;
    put_rows("D.PRF", &o, 35);
    assert_int_equal(slurp("D.PRF", bytes), 0);
    assert_rows("D.PRF.000003", 21, 30);
    assert_rows("D.PRF", 1, 35);
    unlink("D.PRF.000001");
    assert_rows("D.PRF", 11, 35);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILES_TEST(a_table_is_what_the_specification_says),
        FILES_TEST(what_is_left_out_takes_no_bytes),
        FILES_TEST(names_are_cut_at_a_whole_character),
        FILES_TEST(numbers_that_do_not_fit_stay_at_the_largest),
        FILES_TEST(parameters_are_memos),
        FILES_TEST(delimited_text_is_quoted),
        FILES_TEST(each_flush_leaves_a_file_that_can_be_read),
        FILES_TEST(packets_are_the_file_in_pieces),
        FILES_TEST(a_full_last_packet_is_the_last),
        FILES_TEST(every_entry_may_be_a_packet),
        FILES_TEST(packets_of_the_run_before_are_removed),
        FILES_TEST(packets_may_be_removed_while_the_trace_is_written),
        FILES_TEST(some_packets_alone_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
