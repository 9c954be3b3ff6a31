/* test_xbase_read.c tests xbase/prf_read.c, and what prf.c does where nothing can be
 * written. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/xbase.h"

static qp_out out;

/* ---- joining ----------------------------------------------------------------------------- */

static qp_prf_joined join(const char *from, const char *to)
{
    qp_prf_joined joined;
    const char *why;
    FILE *f = fopen(to, "wb");
    assert_non_null(f);
    qp_out_init(&out, fileno(f));
    assert_true(qp_prf_join(from, &out, &joined, &why));
    assert_int_equal(qp_out_close(&out), 0);
    fclose(f);
    return joined;
}

static void joined_packets_are_the_file_of_one_run(void **state) /* trace 18, 22 */
{
    (void)state;
    for (unsigned is_text = 0; is_text < 2; is_text++) {
        qp_prf_options o = table;
        o.is_text = is_text;
        put_rows("ONE.PRF", &o, 25);
        o = in_packets(o, 10);
        put_rows("P.PRF", &o, 25);
        qp_prf_joined joined = join("P.PRF", "ALL.PRF");
        assert_int_equal(joined.n_packets, 3);
        assert_int_equal(joined.n_damaged, 0);
        assert_int_equal(joined.n_rows, is_text ? 0 : 25);
        size_t n = slurp("ALL.PRF", bytes);
        assert_int_equal(slurp("ONE.PRF", others), n);
        assert_memory_equal(bytes, others, n);
        join("ALL.PRF", "AGAIN.PRF"); /* what is whole comes out whole */
        assert_int_equal(slurp("AGAIN.PRF", others), n);
        assert_memory_equal(bytes, others, n);
    }
}

static void joining_some_corrects_the_count(void **state) /* trace 20, 27 */
{
    (void)state;
    qp_prf_options o = in_packets(table, 10);
    put_rows("P.PRF", &o, 35);
    unlink("P.PRF.000001");
    unlink("P.PRF.000002");
    size_t n = slurp("P.PRF.000004", bytes);
    spit("P.PRF.000004", bytes, n - 3); /* cut off in its last record */
    qp_prf_joined joined = join("P.PRF", "SOME.PRF");
    assert_int_equal(joined.n_packets, 2);
    assert_int_equal(joined.n_rows, 14);
    assert_int_equal(joined.n_declared, 35);
    assert_int_equal(joined.n_damaged, 40);
    n = slurp("SOME.PRF", bytes);
    assert_int_equal(n, 456 + 14 * 43 + 1);
    assert_int_equal(bytes[4], 14);
    assert_int_equal(bytes[n - 1], 0x1A);
    assert_rows("SOME.PRF", 21, 34);
}

/* ---- errors ------------------------------------------------------------------------------ */

static void where_nothing_can_be_written_nothing_begins(void **state)
{
    (void)state;
    assert_int_equal(qp_prf_open(&trace, "gone/T.PRF", &table), 2 /* ENOENT */);
    assert_string_equal(trace.wrong, "gone/T.PRF");
    assert_int_equal(mkdir("D.PRF", 0700), 0);
    assert_int_equal(qp_prf_open(&trace, "D.PRF", &table), 21 /* EISDIR */);
    assert_int_equal(symlink("elsewhere", "L.PRF"), 0);
    assert_int_equal(qp_prf_open(&trace, "L.PRF", &table), 40 /* ELOOP */);
    assert_int_equal(mkfifo("F.PRF", 0600), 0);
    assert_int_equal(qp_prf_open(&trace, "F.PRF", &table), 6 /* ENXIO */);
    assert_int_not_equal(qp_prf_open(&trace, "/dev/null", &table), 0);
}

static void a_full_disk_ends_with_a_whole_record(void **state)
{
    (void)state;
    for (unsigned is_packets = 0; is_packets < 2; is_packets++) {
        struct rlimit before, small;
        qp_prf_options o = is_packets ? in_packets(table, 50) : table;
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
        small = before;
        small.rlim_cur = is_packets ? 1000 : 2000; /* a disk with that much room, for files */
        signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        int error = qp_prf_open(&trace, "T.PRF", &o);
        bool is_put = true;
        for (unsigned i = 1; i <= 5000 && !error; i++)
            is_put = put(1 + i % 3, i * 10, "IO"[i % 2], i < 10 ? "F" : "G", i, "");
        int end = qp_prf_close(&trace);
        setrlimit(RLIMIT_FSIZE, &before);
        signal(SIGXFSZ, SIG_DFL);
        assert_int_equal(error, 0);
        assert_false(is_put);
        assert_int_equal(end, 27 /* EFBIG */);
        assert_true(trace.n_lost > 0);
        /* (2000 - 456) / 43 = 35; 1000 / 43 = 23 */
        size_t n = slurp("T.PRF", bytes);
        assert_int_equal(n, is_packets ? 456 : 456 + 35 * 43);
        assert_int_equal(bytes[4], is_packets ? 23 : 35);
        const char *why;
        qp_prf_row row;
        unsigned n_rows = 0;
        assert_true(qp_prf_reader_open(&reader, "T.PRF", &why));
        while (qp_prf_reader_next(&reader, &row))
            n_rows++;
        qp_prf_reader_close(&reader);
        assert_int_equal(n_rows, is_packets ? 23 : 35);
    }
}

static void a_removed_folder_ends_packets_and_harms_nothing(void **state)
{
    (void)state;
    qp_prf_options o = in_packets(table, 2);
    assert_int_equal(mkdir("d", 0700), 0);
    assert_int_equal(qp_prf_open(&trace, "d/T.PRF", &o), 0);
    put(1, 0, 'I', "A", 0, "");
    put(1, 0, 'O', "A", 0, "");
    assert_int_equal(system("rm -r d"), 0);
    assert_false(put(1, 0, 'I', "A", 0, ""));
    assert_int_equal(trace.error, 2);
    assert_string_equal(trace.wrong, "d/T.PRF.000002");
    assert_false(put(1, 0, 'O', "A", 0, ""));
    assert_int_equal(trace.n_lost, 2);
    assert_int_equal(qp_prf_close(&trace), 2);
}

/* ---- tables of others -------------------------------------------------------------------- */

/* FoxPro 2.x: fields THREAD N 5, OP C 1, CALL C 4 and, with a memo file, PARAMS M 10. */
static size_t foxpro_2(unsigned char version, char *to)
{
    static const char plain[] = "THREAD\0\0\0\0\0N\0\0\0\0\x05";
    bool has_memo = version == 0xF5;
    unsigned n_fields = has_memo ? 4 : 3, n = 32 + 32 * n_fields + 1;
    memset(to, 0, n);
    to[0] = (char)version;
    to[4] = 2;
    to[8] = (char)n;
    to[10] = has_memo ? 21 : 11;
    memcpy(to + 32, plain, sizeof plain - 1);
    memcpy(to + 64, "OP\0\0\0\0\0\0\0\0\0C\0\0\0\0\x01", 17);
    memcpy(to + 96, "CALL\0\0\0\0\0\0\0C\0\0\0\0\x04", 17);
    if (has_memo)
        memcpy(to + 128, "PARAMS\0\0\0\0\0M\0\0\0\0\x0a", 17);
    to[n - 1] = '\r';
    const char *records = has_memo ? "     1IMAIN         8    22OB             \x1a"
                                   : "     1IMAIN    22OB   \x1a";
    strcpy(to + n, records);
    return n + strlen(records);
}

static void older_tables_are_read(void **state) /* trace 33 */
{
    (void)state;
    static const unsigned char versions[] = {0x03, 0xF5};
    for (unsigned i = 0; i < 2; i++) {
        const char *why;
        qp_prf_row row;
        spit("OLD.PRF", bytes, foxpro_2(versions[i], bytes));
        char memo[576] = {0};
        memcpy(memo, "\0\0\0\x09\0\0\0\x40", 8);
        memcpy(memo + 512, "\0\0\0\x01\0\0\0\x02ok", 10);
        spit("OLD.PRV", memo, sizeof memo);
        assert_true(qp_prf_reader_open(&reader, "OLD.PRF", &why));
        assert_false(reader.has_time || reader.has_line);
        assert_true(reader.has_params == (i == 1));
        assert_true(qp_prf_reader_next(&reader, &row));
        assert_true(row.thread == 1 && row.op == 'I' && row.call_bytes == 4);
        assert_int_equal(row.params_bytes, i ? 2 : 0);
        assert_memory_equal(row.params, "ok", row.params_bytes);
        assert_true(qp_prf_reader_next(&reader, &row));
        assert_true(row.thread == 22 && row.op == 'O' && row.call_bytes == 1);
        assert_int_equal(row.params_bytes, 0);
        assert_false(qp_prf_reader_next(&reader, &row));
        qp_prf_reader_close(&reader);
    }
}

static void damaged_rows_are_passed_over(void **state)
{
    (void)state;
    const char *why;
    qp_prf_row row;
    put_rows("T.PRF", &table, 5);
    size_t n = slurp("T.PRF", bytes);
    bytes[456 + 43] = '*';           /* the second was deleted */
    bytes[456 + 86 + 14] = '?';      /* no operation */
    bytes[456 + 129 + 1] = 'x';      /* no number */
    spit("T.PRF", bytes, n - 1 - 5); /* and the last one is cut off */
    assert_true(qp_prf_reader_open(&reader, "T.PRF", &why));
    assert_true(qp_prf_reader_next(&reader, &row));
    assert_memory_equal(row.call, "F1", 2);
    assert_false(qp_prf_reader_next(&reader, &row));
    assert_int_equal(reader.n_deleted, 1);
    assert_int_equal(reader.n_damaged, 2);
    assert_int_equal(reader.n_rest, 38);
    qp_prf_reader_close(&reader);
    static const char text[] =
        "1,\"I\",\"A\"\r\nnonsense\r\n1,\"I\",\"A\",5\r\n2,\"o\",\"B\"\n3,\"";
    spit("D.PRF", text, sizeof text - 1);
    assert_true(qp_prf_reader_open(&reader, "D.PRF", &why));
    assert_true(qp_prf_reader_next(&reader, &row));
    assert_true(qp_prf_reader_next(&reader, &row));
    assert_true(row.thread == 2 && row.op == 'o');
    assert_false(qp_prf_reader_next(&reader, &row));
    assert_int_equal(reader.n_damaged, 2);
    assert_int_equal(reader.n_rest, 3);
    qp_prf_reader_close(&reader);
    spit("N.PRF", "hello\n", 6);
    assert_false(qp_prf_reader_open(&reader, "N.PRF", &why));
    assert_non_null(strstr(why, "header packet"));
    spit("N.PRF", bytes + 456, 86); /* a packet of a table */
    assert_false(qp_prf_reader_open(&reader, "N.PRF", &why));
    assert_false(qp_prf_reader_open(&reader, "gone.PRF", &why));
}

static void a_growing_file_has_more_later(void **state)
{
    (void)state;
    const char *why;
    qp_prf_row row;
    for (unsigned is_packets = 0; is_packets < 2; is_packets++) {
        qp_prf_options o = is_packets ? in_packets(table, 4) : table;
        assert_int_equal(qp_prf_open(&trace, "T.PRF", &o), 0);
        assert_true(qp_prf_reader_open(&reader, "T.PRF", &why));
        for (unsigned i = 1; i <= 30; i++) {
            assert_false(qp_prf_reader_next(&reader, &row));
            put(1, i, 'I', "A", i, "");
            qp_prf_flush(&trace);
            assert_true(qp_prf_reader_next(&reader, &row));
            assert_int_equal(row.line, i);
        }
        assert_int_equal(qp_prf_close(&trace), 0);
        assert_false(qp_prf_reader_next(&reader, &row));
        assert_int_equal(reader.n_damaged, 0);
        qp_prf_reader_close(&reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILES_TEST(joined_packets_are_the_file_of_one_run),
        FILES_TEST(joining_some_corrects_the_count),
        FILES_TEST(where_nothing_can_be_written_nothing_begins),
        FILES_TEST(a_full_disk_ends_with_a_whole_record),
        FILES_TEST(a_removed_folder_ends_packets_and_harms_nothing),
        FILES_TEST(older_tables_are_read),
        FILES_TEST(damaged_rows_are_passed_over),
        FILES_TEST(a_growing_file_has_more_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
