/* test_trace_pack.c tests format/trace_pack.c: bytes worked out by hand from
 * docs/formats/qtrace.md, and everything there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/trace.h"

/* A dictionary of two paths below a root: main (cell 101) and main>f (cell 102). */
static qp_pack_path path_of(void *unused, qp_cell path)
{
    (void)unused;
    return path == 101   ? (qp_pack_path){100, 50}
           : path == 102 ? (qp_pack_path){101, 51}
                         : (qp_pack_path){0, 0};
}

static const qp_pack_paths paths = {path_of, NULL};

static qp_trace_record record(qp_trace_op op, uint64_t ticks, uint32_t a, uint32_t b)
{
    return (qp_trace_record){(uint64_t)op << QP_TRACE_OP_SHIFT | ticks, a, b};
}

static void assert_packs(qp_pack_state *s, qp_trace_record r, const char *bytes, size_t n_bytes)
{
    unsigned char out[QP_PACKED_MAX];
    qp_trace_record again;
    qp_pack_state there = *s, back = *s;
    assert_int_equal(qp_pack_record(&there, &r, &paths, out), n_bytes);
    assert_memory_equal(out, bytes, n_bytes);
    assert_int_equal(qp_unpack_record(&back, out, n_bytes, &paths, &again), n_bytes);
    assert_memory_equal(&again, &r, sizeof r);
    assert_memory_equal(&there, &back, sizeof there);
    *s = there;
}

#define PACKS(s, r, bytes) assert_packs(s, r, bytes, sizeof(bytes) - 1)

static void calls_take_three_bytes_or_four(void **state)
{
    (void)state;
    qp_pack_state s = {1000, 100, 100};
    /* 0x21: plain entry; 5 ticks; 101 - 100 = 1, zigzag 2 */
    PACKS(&s, record(QP_TRACE_ENTRY, 1005, 101, 50), "\x21\x05\x02");
    /* 130 ticks: 0x82 0x01 */
    PACKS(&s, record(QP_TRACE_ENTRY, 1135, 102, 51), "\x21\x82\x01\x02");
    PACKS(&s, record(QP_TRACE_EXIT, 1136, 1, 101), "\x22\x01");
    /* the same again: no step; 0x31: no time has passed, either */
    PACKS(&s, record(QP_TRACE_ENTRY, 1136, 102, 51), "\x31\x00");
    PACKS(&s, record(QP_TRACE_EXIT, 1137, 1, 101), "\x22\x01");
    PACKS(&s, record(QP_TRACE_EXIT, 1138, 1, 100), "\x22\x01");
    /* back to 101: 101 - 102 = -1, zigzag 1 */
    PACKS(&s, record(QP_TRACE_ENTRY, 1139, 101, 50), "\x21\x01\x01");
}

static void what_is_unusual_is_said(void **state)
{
    (void)state;
    qp_pack_state s = {0, 102, 102};
    /* two frames at once */
    PACKS(&s, record(QP_TRACE_EXIT, 1, 2, 100), "\x02\x01\x02\x64");
    /* unwound: 0x80000001 */
    PACKS(&s, record(QP_TRACE_EXIT, 2, QP_TRACE_UNWOUND | 1, 100),
          "\x02\x01\x81\x80\x80\x80\x08\x64");
    /* a path without a place: the method is named, the top stays: 0 - 102 = -102, 203 */
    PACKS(&s, record(QP_TRACE_ENTRY, 2, 0, 77), "\x11\xcb\x01\x4d");
    assert_int_equal(s.path, 100);
    assert_int_equal(s.last, 102);
    /* a path that the dictionary does not know: 200 - 102 = 98, 196 */
    PACKS(&s, record(QP_TRACE_ENTRY, 2, 200, 77), "\x11\xc4\x01\x4d");
    /* a method that is not the path's */
    PACKS(&s, record(QP_TRACE_ENTRY, 2, 101, 77), "\x11\xc5\x01\x4d");
    PACKS(&s, record(QP_TRACE_SWITCH, 3, 9, 101), "\x03\x01\x09\x65");
    PACKS(&s, record(QP_TRACE_EXIT, 3, 1, 100), "\x32"); /* 101's caller is 100 */
    PACKS(&s, record(QP_TRACE_SUSPEND, 3, 9, 1), "\x14\x09\x01");
    assert_int_equal(s.path, 0);
}

static void texts_and_values_are_as_they_are(void **state)
{
    (void)state;
    qp_pack_state s = {7, 101, 101};
    qp_trace_record text = {0, 0, 0}; /* "int\0" "42\0" "" NUL-padded */
    text.word = (uint64_t)QP_TRACE_TEXT << QP_TRACE_OP_SHIFT | 'i' | 'n' << 8 | 't' << 16 |
                (uint64_t)'4' << 32 | (uint64_t)'2' << 40;
    text.a = 0x04030201;
    PACKS(&s, text, "\x0eint\0\x34\x32\0\1\2\3\4\0\0\0\0");
    qp_trace_record data = record(QP_TRACE_DATA, 0, 0xfffffffe, 0xffffffff);
    PACKS(&s, data, "\x0f\xfe\xff\xff\xff\xff\xff\xff\xff");
    assert_int_equal(s.ticks, 7);
}

static void time_never_falls(void **state)
{
    (void)state;
    unsigned char out[QP_PACKED_MAX];
    qp_pack_state s = {1000, 0, 0};
    const qp_trace_record r = record(QP_TRACE_LINE, 999, 3, 0);
    assert_int_equal(qp_pack_record(&s, &r, &paths, out), 3);
    assert_memory_equal(out, "\x1a\x03\x00", 3);
    assert_int_equal(s.ticks, 1000);
}

static void the_largest_numbers_fit(void **state)
{
    (void)state;
    qp_pack_state s = {0, 0, 0};
    unsigned char out[QP_PACKED_MAX];
    qp_trace_record again;
    for (unsigned op = 0; op < 16; op++) {
        const qp_trace_record r =
            record((qp_trace_op)op, qp_trace_has_ticks((qp_trace_op)op) ? QP_TRACE_TICKS : 0,
                   UINT32_MAX, UINT32_MAX - 1);
        qp_pack_state there = s, back = s;
        size_t n = qp_pack_record(&there, &r, &paths, out);
        assert_in_range(n, 1, QP_PACKED_MAX);
        assert_int_equal(qp_unpack_record(&back, out, n, &paths, &again), n);
        assert_memory_equal(&again, &r, sizeof r);
        for (size_t cut = 0; cut < n; cut++)
            assert_int_equal(qp_unpack_record(&back, out, cut, &paths, &again), 0);
    }
}

static void numbers_that_are_too_long_are_refused(void **state)
{
    (void)state;
    uint64_t value = 5;
    const unsigned char longest[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    const unsigned char too_long[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02";
    const unsigned char endless[] = "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00";
    assert_int_equal(qp_unpack_varint(longest, 10, &value), 10);
    assert_true(value == UINT64_MAX);
    assert_int_equal(qp_unpack_varint(too_long, 10, &value), 0);
    assert_int_equal(qp_unpack_varint(endless, 11, &value), 0);
    assert_int_equal(qp_unpack_varint(longest, 9, &value), 0);
    assert_int_equal(qp_unpack_varint(longest, 0, &value), 0);
    /* a second number of more than 32 bits, a time beyond 60 bits */
    qp_pack_state s = {QP_TRACE_TICKS - 1, 0, 0};
    qp_trace_record r;
    assert_int_equal(qp_unpack_record(&s, (const unsigned char *)"\x1a\xff\xff\xff\xff\x10\x00",
                                      7, &paths, &r),
                     0);
    assert_int_equal(
        qp_unpack_record(&s, (const unsigned char *)"\x0a\x02\x00\x00", 4, &paths, &r), 0);
    assert_int_equal(
        qp_unpack_record(&s, (const unsigned char *)"\x0a\x01\x00\x00", 4, &paths, &r), 4);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void a_million_records_come_back(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252u, ticks = 5;
    qp_pack_state there = {5, 100, 100}, back = there;
    for (unsigned i = 0; i < 1000000; i++) {
        unsigned char out[QP_PACKED_MAX];
        uint64_t x = next_random(&random), y = next_random(&random);
        qp_trace_op op = (qp_trace_op)(x & 15);
        ticks += x >> 4 & 1 ? y >> (20 + (x >> 5 & 31)) : 0;
        uint32_t a = x >> 12 & 1 ? 98 + (uint32_t)(y & 7) : (uint32_t)(y >> 32);
        uint32_t b = x >> 13 & 1 ? 48 + (uint32_t)(y >> 3 & 63) : (uint32_t)(x >> 32);
        qp_trace_record r = record(op, qp_trace_has_ticks(op) ? ticks : 0, a, b), again;
        size_t n = qp_pack_record(&there, &r, &paths, out);
        assert_int_equal(qp_unpack_record(&back, out, sizeof out, &paths, &again), n);
        assert_memory_equal(&again, &r, sizeof r);
        assert_memory_equal(&there, &back, sizeof there);
    }
}

/* Paths by cell: a root (100), and calls below it. */
static const qp_pack_path known[256] = {[100] = {1, 0},    [101] = {100, 50}, [102] = {101, 51},
                                        [103] = {102, 50}, [104] = {100, 51}, [200] = {0, 1}};

static qp_pack_path known_path(void *unused, qp_cell path)
{
    (void)unused;
    return known[path].method ? known[path] : (qp_pack_path){0, 0};
}

static qp_trace_record random_call(uint64_t *random, uint64_t *ticks, qp_cell top)
{
    static const unsigned steps[] = {0, 7, 13, 14, 15, 20}; /* bits of the time that passes */
    uint64_t x = next_random(random);
    bool is_odd = x % 16 == 0, is_entry = x >> 4 & 1;
    uint32_t a = is_entry ? 100 + (uint32_t)((x >> 5) % 5) : 1,
             b = is_entry ? known[a].method : known[top].caller;
    *ticks += (x >> 40) & ((1u << steps[(x >> 8) % 6]) - 1);
    if (is_odd && x >> 12 & 1)
        a = (uint32_t)(x >> 16 & 255);
    else if (is_odd)
        b = (uint32_t)(x >> 24 & 255);
    uint64_t late = x >> 13 & 31 ? 0 : 3;
    return record(is_odd && x >> 14 & 1 ? QP_TRACE_SWITCH
                  : is_entry            ? QP_TRACE_ENTRY
                                        : QP_TRACE_EXIT,
                  *ticks - late, a, b);
}

static void usual_records_are_packed_as_all_are(void **state)
{
    (void)state;
    enum { N = 100000, ROOM = 10 * N };
    static qp_trace_record records[N];
    static unsigned char one[ROOM], many[ROOM];
    uint64_t random = 88172645463325252u, ticks = 1000;
    const qp_pack_paths all = {known_path, NULL};
    qp_pack_state by_one = {1000, 100, 100}, by_many = by_one;
    qp_packet p = {0}, q = {0};
    qp_cell thread = 0;
    size_t n_usual = 0;
    for (unsigned i = 0; i < N; i++) {
        records[i] = random_call(&random, &ticks, by_one.path);
        qp_packet_put(&p, one, &by_one, &thread, &records[i], &all);
    }
    for (size_t i = 0; i < N; i++) {
        size_t n = qp_packet_put_usual(&q, many, ROOM, &by_many, records + i, N - i, known);
        n_usual += n;
        i += n;
        if (i < N)
            qp_packet_put(&q, many, &by_many, &thread, &records[i], &all);
    }
    assert_in_range(n_usual, N / 4, N - 1);
    assert_int_equal(q.n_records, N);
    assert_int_equal(q.n_bytes, p.n_bytes);
    assert_memory_equal(many, one, p.n_bytes);
    assert_memory_equal(&by_many, &by_one, sizeof by_one);
}

static void usual_records_end_where_a_payload_ends(void **state)
{
    (void)state;
    const qp_trace_record r[2] = {record(QP_TRACE_ENTRY, 5, 101, 50),
                                  record(QP_TRACE_EXIT, 6, 1, 100)};
    qp_pack_state s = {0, 100, 100};
    unsigned char payload[QP_PACKED_MAX + 3];
    qp_packet p = {0};
    assert_int_equal(qp_packet_put_usual(&p, payload, sizeof payload - 1, &s, r, 2, known), 1);
    assert_int_equal(p.n_bytes, 3);
    assert_int_equal(qp_packet_put_usual(&p, payload, sizeof payload, &s, r + 1, 1, known), 1);
    assert_int_equal(p.n_bytes, 5);
}

static void each_bit_of_a_packet_counts_in_its_sum(void **state)
{
    (void)state;
    unsigned char payload[16] = "thirteen bytes";
    qp_packet p = {.magic = QP_PACKET_MAGIC, .n_bytes = 13};
    payload[13] = 0;
    uint32_t sum = qp_packet_sum(&p, payload);
    p.sum = 77; /* not a part of it */
    assert_int_equal(qp_packet_sum(&p, payload), sum);
    for (unsigned bit = 0; bit < 8 * 13; bit++) {
        payload[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_int_not_equal(qp_packet_sum(&p, payload), sum);
        payload[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    p.path = 1;
    assert_int_not_equal(qp_packet_sum(&p, payload), sum);
    p.path = 0;
    payload[3] ^= 0x80; /* two that a plain product would lose */
    payload[7] ^= 0x80;
    assert_int_not_equal(qp_packet_sum(&p, payload), sum);
}

/* One word, 3: (rotated 0 ^ 3) * 0x9E3779B1; all words before it are 0, and keep the sum 0. */
static void the_sum_is_what_the_page_says(void **state)
{
    (void)state;
    const qp_packet p = {.path = 3};
    assert_int_equal(qp_packet_sum(&p, ""), 3u * 0x9E3779B1u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_take_three_bytes_or_four),
        cmocka_unit_test(what_is_unusual_is_said),
        cmocka_unit_test(texts_and_values_are_as_they_are),
        cmocka_unit_test(time_never_falls),
        cmocka_unit_test(the_largest_numbers_fit),
        cmocka_unit_test(numbers_that_are_too_long_are_refused),
        cmocka_unit_test(a_million_records_come_back),
        cmocka_unit_test(usual_records_are_packed_as_all_are),
        cmocka_unit_test(usual_records_end_where_a_payload_ends),
        cmocka_unit_test(each_bit_of_a_packet_counts_in_its_sum),
        cmocka_unit_test(the_sum_is_what_the_page_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
