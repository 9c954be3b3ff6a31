/* test_trace.c: .qtrace files: what was written is read; of a damaged one, what is whole. */
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "replay/calls/calls.h"
#include "unit/tracks.h"

static const char *const file = "test.qtrace";

/* All records of an OS thread, but for the ones that only readers make. */
static size_t read_all(qp_trace *t, uint32_t os_thread, qp_trace_record *out, size_t room)
{
    qp_trace_run run;
    size_t n = 0;
    while (qp_trace_next(t, &run))
        for (size_t i = 0; i < run.n && n < room; i++)
            if (run.os_thread == os_thread && qp_trace_op_of(&run.records[i]) != QP_TRACE_STACK)
                out[n++] = run.records[i];
    return n;
}

static qp_trace *open_file(void)
{
    qp_error error;
    qp_trace *t = qp_trace_open(file, &error);
    if (!t)
        fail_msg("%s", error.text);
    return t;
}

static void write_one(track *t, const char *events, unsigned per_packet, uint64_t end,
                      track_places *places)
{
    const track *const tracks[] = {t};
    track_init(t, 1000);
    track_play(t, events);
    if (places)
        *places = (track_places){0};
    track_write(tracks, 1, file, per_packet, end, places);
}

static const char *const story =
    "@1 main( 5 f( 3 ) 2 f( 70000 g( 1 ) 2 ) &value_of_a_parameter h( 4 !1 #3 @1 $heap=99 "
    "*mark 8 @2 other( 1 @1 2 ) 9 = 10 @2 ) - 5 + 1 ?len 1 ~len";

static void records_come_back_as_they_were_written(void **state)
{
    static track t;
    qp_trace_record records[200];
    (void)state;
    for (unsigned per_packet = 1; per_packet < 40; per_packet++) {
        write_one(&t, story, per_packet, t.now + 5, NULL);
        qp_trace *trace = open_file();
        assert_int_equal(read_all(trace, 0, records, 200), t.n);
        assert_memory_equal(records, t.records, t.n * sizeof *records);
        assert_true(qp_trace_about(trace)->is_ended);
        assert_false(qp_trace_failed(trace));
        const qp_trace_losses *lost = qp_trace_lost(trace);
        assert_int_equal(lost->n_packets + lost->n_damaged + lost->n_skipped_bytes, 0);
        qp_trace_close(trace);
        track_fini(&t);
    }
}

static void os_threads_are_merged_by_time(void **state)
{
    static track a, b;
    const track *const tracks[] = {&a, &b};
    qp_trace_run run;
    uint64_t last = 0;
    size_t n = 0;
    (void)state;
    track_init(&a, 0);
    track_init(&b, 0);
    b.cells = 10000;
    track_play(&a, "@1 x( 10 y( 10 ) 10 y( 10 ) 1 )");
    track_play(&b, "@2 5 z( 10 ) 10 z( 10 ) 1 z( )");
    track_write(tracks, 2, file, 3, 100, NULL);
    qp_trace *trace = open_file();
    while (qp_trace_next(trace, &run))
        for (size_t i = 0; i < run.n; i++, n++) {
            uint64_t ticks = run.records[i].word & QP_TRACE_TICKS;
            assert_true(ticks >= last);
            last = ticks;
        }
    assert_int_equal(n, a.n + b.n); /* each says itself what it drives */
    qp_trace_close(trace);
    track_fini(&a);
    track_fini(&b);
}

static void damage(uint64_t at, unsigned char bits)
{
    unsigned char byte;
    int fd = open(file, O_RDWR);
    assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
    byte ^= bits;
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
    close(fd);
}

static void a_damaged_packet_is_left_out_and_the_loss_is_counted(void **state)
{
    static track t;
    track_places places;
    qp_trace_record records[200];
    (void)state;
    write_one(&t, story, 5, t.now + 5, &places);
    damage(places.packets[2] + sizeof(qp_packet) + 3, 0x10); /* records 10 to 14 */
    qp_trace *trace = open_file();
    size_t n = read_all(trace, 0, records, 200);
    assert_int_equal(n, t.n - 5 + 1);
    assert_memory_equal(records, t.records, 10 * sizeof *records);
    assert_int_equal(qp_trace_op_of(&records[10]), QP_TRACE_LOST);
    assert_int_equal(records[10].a, 5);
    assert_memory_equal(records + 11, t.records + 15, (t.n - 15) * sizeof *records);
    assert_int_equal(qp_trace_lost(trace)->n_damaged, 1);
    qp_trace_close(trace);
    track_fini(&t);
}

static void of_a_cut_file_every_whole_packet_is_read(void **state)
{
    static track t;
    track_places places;
    qp_trace_record records[200];
    qp_error error;
    (void)state;
    write_one(&t, story, 5, 0, &places);
    for (uint64_t bytes = places.n_bytes; bytes-- > 0;) {
        size_t n_packets = 0;
        while (n_packets < places.n_packets &&
               (n_packets + 1 < places.n_packets ? places.packets[n_packets + 1]
                                                 : places.n_bytes) <= bytes)
            n_packets++;
        assert_int_equal(truncate(file, (off_t)bytes), 0);
        qp_trace *trace = qp_trace_open(file, &error);
        if (!trace) {
            assert_true(bytes < sizeof(qp_trace_file));
            assert_non_null(strstr(error.text, file));
            continue;
        }
        size_t n = read_all(trace, 0, records, 200);
        assert_true(n >= 5 * n_packets || n == t.n);
        assert_memory_equal(records, t.records, n * sizeof *records);
        qp_trace_close(trace);
    }
    track_fini(&t);
}

/* Whatever byte is wrong: records that are read are records that were written. */
static void a_wrong_byte_gives_no_wrong_record(void **state)
{
    static track t;
    track_places places;
    qp_trace_record records[200];
    qp_error error;
    (void)state;
    write_one(&t, story, 7, t.now + 5, &places);
    for (uint64_t at = 0; at < places.n_bytes; at++) {
        damage(at, 0x41);
        qp_trace *trace = qp_trace_open(file, &error);
        if (trace) {
            size_t n = read_all(trace, 0, records, 200), k = 0;
            for (size_t i = 0; i < n; i++) {
                if (qp_trace_op_of(&records[i]) == QP_TRACE_LOST)
                    continue;
                while (k < t.n && memcmp(&records[i], &t.records[k], sizeof *records))
                    k++;
                assert_true(k < t.n || at < places.packets[0]); /* else a name is missing */
            }
            qp_trace_close(trace);
        }
        damage(at, 0x41);
    }
    track_fini(&t);
}

static unsigned char bytes[1 << 16]; /* of the file that write_story() made */

/* @return size of the file */
static size_t write_story(track *t, track_places *places)
{
    write_one(t, story, 5, t->now + 5, places);
    FILE *f = fopen(file, "rb");
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    return n;
}

/* Packets that were joined twice, or in another order, are read once and in their order. */
static void packets_may_come_twice_and_in_any_order(void **state)
{
    static track t;
    track_places places;
    qp_trace_record records[200];
    (void)state;
    size_t n = write_story(&t, &places);
    FILE *f = fopen(file, "r+b");
    uint64_t first = places.packets[0], second = places.packets[1], third = places.packets[2];
    fseek(f, (long)first, SEEK_SET);
    fwrite(bytes + second, 1, third - second, f);
    fwrite(bytes + first, 1, second - first, f);
    fwrite(bytes + first, 1, n - first, f);
    fclose(f);
    qp_trace *trace = open_file();
    assert_int_equal(read_all(trace, 0, records, 200), t.n);
    assert_memory_equal(records, t.records, t.n * sizeof *records);
    qp_trace_close(trace);
    track_fini(&t);
}

static void what_is_written_meanwhile_is_read_as_well(void **state)
{
    static track t;
    track_places places;
    qp_trace_record records[200];
    (void)state;
    size_t n = write_story(&t, &places);
    assert_int_equal(truncate(file, (off_t)places.packets[2] + 20), 0);
    qp_trace *trace = open_file();
    assert_int_equal(read_all(trace, 0, records, 200), 10);
    FILE *f = fopen(file, "wb");
    fwrite(bytes, 1, n, f);
    fclose(f);
    assert_true(qp_trace_refresh(trace));
    assert_int_equal(read_all(trace, 0, records, 200), t.n - 10);
    assert_memory_equal(records, t.records + 10, (t.n - 10) * sizeof *records);
    assert_int_equal(qp_trace_lost(trace)->n_cut_bytes, 0);
    assert_false(qp_trace_refresh(trace));
    qp_trace_close(trace);
    track_fini(&t);
}

static void errors_name_the_file_and_what_is_wrong_with_it(void **state)
{
    qp_error error;
    (void)state;
    assert_null(qp_trace_open("missing.qtrace", &error));
    assert_string_equal(error.text, "missing.qtrace: no such file");
    assert_null(qp_trace_open("/dev/null", &error));
    assert_string_equal(error.text, "/dev/null: is a device");
}

/* ---- windows ----------------------------------------------------------------------------- */

static char seen[1024];

static void leave(void *to, qp_span_thread *th, const qp_span *s, qp_span_end end)
{
    qp_names *names = to;
    size_t n = strlen(seen);
    (void)end;
    snprintf(seen + n, sizeof seen - n, "%s%s %" PRIu64 "/%" PRIu64 " ",
             s->flags & QP_SPAN_CUT ? "<" : "", qp_names_method_at(names, s->method)->name,
             qp_span_total(th, s), qp_span_self(th, s));
}

static void check_window(uint64_t from, uint64_t to, const char *expected)
{
    qp_spans x;
    qp_trace *trace = open_file();
    const qp_trace_window window = {from, to};
    const qp_span_sink sink = {.to = qp_trace_names(trace), .leave = leave};
    seen[0] = '\0';
    qp_trace_spans(trace, &x, &sink);
    assert_true(qp_trace_play(trace, &x, &window, NULL));
    assert_string_equal(seen, expected);
    qp_spans_fini(&x);
    qp_trace_close(trace);
}

static void a_window_has_what_happens_in_it(void **state)
{
    static track t;
    (void)state;
    /*                 1000  1010  1020     1030     1040     1050 */
    write_one(&t, "@1 main( 10 a( 10 b( 10 ) 10 ) 10 )", 3, 1050, NULL);
    check_window(0, UINT64_MAX, "b 10/10 a 30/20 main 50/20 ");
    check_window(1015, UINT64_MAX, "b 10/10 <a 25/15 <main 35/10 ");
    check_window(1025, 1045, "<b 5/5 <a 15/10 <main 20/5 ");
    check_window(0, 1015, "a 5/5 main 15/10 ");
    track_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_back_as_they_were_written),
        cmocka_unit_test(os_threads_are_merged_by_time),
        cmocka_unit_test(a_damaged_packet_is_left_out_and_the_loss_is_counted),
        cmocka_unit_test(of_a_cut_file_every_whole_packet_is_read),
        cmocka_unit_test(a_wrong_byte_gives_no_wrong_record),
        cmocka_unit_test(packets_may_come_twice_and_in_any_order),
        cmocka_unit_test(what_is_written_meanwhile_is_read_as_well),
        cmocka_unit_test(errors_name_the_file_and_what_is_wrong_with_it),
        cmocka_unit_test(a_window_has_what_happens_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
