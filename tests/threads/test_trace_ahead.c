/* test_trace_ahead.c: records that a thread reads ahead are those that are read when they are asked for, with the
 * same losses at each of them. Built with the thread sanitizer as well. */
#include <fcntl.h>
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

static const char *const file = "long.qtrace";

enum { ROUNDS = 30000, RECORDS_A_PACKET = 4000 };

static qp_trace *open_file(void)
{
    qp_error error;
    qp_trace *t = qp_trace_open(file, &error);
    if (!t)
        fail_msg("%s", error.text);
    return t;
}

/* Two OS threads, at times one after the other and at times record by record in turns. */
static void write_file(unsigned rounds, track_places *places)
{
    static track a, b;
    const track *const tracks[] = {&a, &b};
    track_init(&a, 0);
    track_init(&b, 3);
    b.cells = 10000;
    track_play(&a, "@1 main(");
    track_play(&b, "@2 main(");
    for (unsigned i = 0; i < rounds; i++) {
        track_play(&a, "5 f( 3 ) 200 g( 5 h( 5 ) 5 ) &value k( 2 ) $heap=7 5 f( 1 )");
        track_play(&b, i % 7 ? "225 i( 3 )" : "50 f( 70 k( 4 ) 1 i( ) ) 100 !1 2 main(");
    }
    *places = (track_places){0};
    track_write(tracks, 2, file, RECORDS_A_PACKET, b.now > a.now ? b.now + 5 : a.now + 5,
                places);
    track_fini(&a);
    track_fini(&b);
}

static void damage(uint64_t at)
{
    unsigned char byte;
    int fd = open(file, O_RDWR);
    assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
    close(fd);
}

/* What is known after a run. */
typedef struct {
    uint64_t position, n_damaged, os_thread, n;
} step;

typedef struct {
    step *steps;
    qp_trace_record *records;
    size_t n_steps, n_records;
    step end;
} reading;

enum { STEPS_MOST = 1000000, RECORDS_MOST = 2000000 };

static step step_of(const qp_trace *t, const qp_trace_run *run)
{
    return (step){qp_trace_position(t), qp_trace_lost(t)->n_damaged, run->os_thread, run->n};
}

/* Read up to a number of runs. */
static reading *read_file(bool ahead, size_t n_most)
{
    reading *r = calloc(1, sizeof *r);
    qp_trace_run run = {0};
    r->steps = malloc(STEPS_MOST * sizeof *r->steps);
    r->records = malloc(RECORDS_MOST * sizeof *r->records);
    qp_trace *t = open_file();
    assert_true(!ahead || qp_trace_ahead_begin(t));
    while (r->n_steps < n_most && qp_trace_next(t, &run)) {
        assert_true(r->n_steps < STEPS_MOST && r->n_records + run.n < RECORDS_MOST);
        memcpy(r->records + r->n_records, run.records, run.n * sizeof *run.records);
        r->n_records += run.n;
        r->steps[r->n_steps++] = step_of(t, &run);
    }
    run = (qp_trace_run){0};
    qp_trace_ahead_end(t);
    r->end = step_of(t, &run);
    assert_false(qp_trace_failed(t));
    qp_trace_close(t);
    return r;
}

static void done(reading *r)
{
    free(r->steps);
    free(r->records);
    free(r);
}

static void assert_same(const reading *a, const reading *b)
{
    assert_int_equal(a->n_steps, b->n_steps);
    assert_int_equal(a->n_records, b->n_records);
    assert_memory_equal(a->steps, b->steps, a->n_steps * sizeof *a->steps);
    assert_memory_equal(a->records, b->records, a->n_records * sizeof *a->records);
    assert_memory_equal(&a->end, &b->end, sizeof a->end);
}

static void what_is_read_ahead_is_what_is_read_when_asked_for(void **state)
{
    track_places places;
    (void)state;
    write_file(ROUNDS, &places);
    assert_true(places.n_packets > 20 && places.n_packets < 512);
    for (unsigned n_damages = 0; n_damages < 3; n_damages++) {
        if (n_damages) /* inside of a packet in the middle, and of the last one */
            damage(
                places.packets[n_damages == 1 ? places.n_packets / 2 : places.n_packets - 1] +
                sizeof(qp_packet));
        reading *direct = read_file(false, SIZE_MAX), *ahead = read_file(true, SIZE_MAX);
        assert_int_equal(direct->end.n_damaged, n_damages);
        assert_same(direct, ahead);
        done(direct);
        done(ahead);
    }
}

/* Whatever the thread has read meanwhile, also of what is damaged. */
static void who_stops_early_knows_of_no_later_loss(void **state)
{
    track_places places;
    (void)state;
    write_file(ROUNDS, &places);
    damage(places.packets[12] + sizeof(qp_packet));
    for (size_t n = 0; n < 3000; n = 2 * n + 1) {
        reading *direct = read_file(false, n), *ahead = read_file(true, n);
        assert_int_equal(ahead->end.n_damaged, 0);
        assert_same(direct, ahead);
        done(direct);
        done(ahead);
    }
}

/* The threads of the trace get their names while the other thread reads. */
static void calls_have_their_names_and_their_window(void **state)
{
    track_places places;
    qp_spans x;
    (void)state;
    write_file(ROUNDS, &places);
    for (uint64_t from = 0, until = 4000000; until > 10000; from += 100, until /= 2) {
        const qp_trace_window window = {from, until};
        qp_trace *t = open_file();
        qp_trace_spans(t, &x, &(qp_span_sink){0});
        assert_true(qp_trace_play(t, &x, &window, NULL));
        assert_true(x.counts.n_calls > 40);
        assert_true(x.counts.last < until);
        for (size_t i = 0; i < x.threads.n; i++) {
            const qp_trace_thread *th =
                qp_names_thread_at(qp_trace_names(t), qp_spans_thread(&x, i)->number);
            assert_string_equal(th->name, th->ordinal == 1 ? ".main_1." : ".main_2.");
        }
        qp_spans_fini(&x);
        qp_trace_close(t);
    }
}

static void add_to_slices(void *slicer, const qp_trace_run *run)
{
    qp_slices_put(slicer, run);
}

static void slices_are_the_same_if_the_trace_is_played_for_something_else(void **state)
{
    track_places places;
    qp_slices alone, beside;
    qp_spans x;
    (void)state;
    write_file(ROUNDS, &places);
    qp_trace *t = open_file();
    assert_true(qp_slices_play(&alone, t, 0, 7000000));
    assert_true(alone.rows.n > 1000);
    qp_trace_close(t);

    t = open_file();
    qp_trace_spans(t, &x, &(qp_span_sink){0});
    x.watch = add_to_slices;
    x.watcher = qp_slices_begin(&beside, t, 0, 7000000);
    assert_true(qp_trace_play(t, &x, NULL, NULL));
    assert_true(qp_slices_end(x.watcher));
    assert_int_equal(beside.width, alone.width);
    assert_int_equal(beside.rows.n, alone.rows.n);
    assert_memory_equal(beside.rows.items, alone.rows.items,
                        alone.rows.n * sizeof(qp_slice_row));
    qp_spans_fini(&x);
    qp_trace_close(t);
    qp_slices_fini(&alone);
    qp_slices_fini(&beside);
}

static void a_short_file_needs_no_thread(void **state)
{
    track_places places;
    (void)state;
    write_file(100, &places);
    qp_trace *t = open_file();
    assert_false(qp_trace_ahead_begin(t));
    qp_trace_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_ahead_is_what_is_read_when_asked_for),
        cmocka_unit_test(who_stops_early_knows_of_no_later_loss),
        cmocka_unit_test(calls_have_their_names_and_their_window),
        cmocka_unit_test(slices_are_the_same_if_the_trace_is_played_for_something_else),
        cmocka_unit_test(a_short_file_needs_no_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
