/* test_spans.c: calls from records, by hand-worked values. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/containers/alloc.h"
#include "replay/calls/calls.h"
#include "unit/tracks.h"

/* The reported calls: "f 10/5 g 3" and so on, in the order of the ends. */
typedef struct {
    char text[4096];
    size_t n;
    qp_names names;
    qp_spans spans;
    track track;
} scene;

static void say(scene *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(scene *s, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    s->n += (size_t)vsnprintf(s->text + s->n, sizeof s->text - s->n, format, list);
    va_end(list);
}

/* "f total/self", with signs: < cut, ! unwound, . unfinished, ? lost, ' inside of another f, ^
 * foreign, and the number of a thread that is not 1. */
static void leave(void *to, qp_span_thread *th, const qp_span *span, qp_span_end end)
{
    scene *s = to;
    unsigned thread = qp_names_thread_at(&s->names, th->number)->ordinal;
    say(s, "%s%s%s%s%s %" PRIu64 "/%" PRIu64, s->n ? " " : "",
        span->flags & QP_SPAN_CUT ? "<" : "", qp_names_method_at(&s->names, span->method)->name,
        (const char *[]){"", "!", "?", "."}[end],
        span->flags & QP_SPAN_FOREIGN     ? "^"
        : span->flags & QP_SPAN_OUTERMOST ? ""
                                          : "'",
        qp_span_total(th, span), qp_span_self(th, span));
    if (thread != 1)
        say(s, "@%u", thread);
}

static void tell(void *to, qp_span_thread *th, const qp_span_event *e)
{
    scene *s = to;
    (void)th;
    if (e->op == QP_TRACE_MARKER)
        say(s, "%s*%s", s->n ? " " : "", e->name);
    if (e->op == QP_TRACE_COUNTER)
        say(s, "%s$%s=%" PRIu64, s->n ? " " : "", e->name, e->value);
    if (e->op == QP_TRACE_VALUE)
        say(s, "%s&%s", s->n ? " " : "", e->text);
}

static void begin(scene *s, uint64_t now)
{
    memset(s, 0, sizeof *s);
    assert_true(qp_names_init(&s->names, NULL));
    const qp_span_sink sink = {.to = s, .leave = leave, .event = tell};
    qp_spans_init(&s->spans, &s->names, &sink);
    track_init(&s->track, now);
}

static void finish(scene *s)
{
    qp_spans_fini(&s->spans);
    qp_names_fini(&s->names);
    track_fini(&s->track);
}

/* Play events from tick 100 on, the first `skipped` records left out, and compare. */
static void check_from(size_t skipped, uint64_t end, const char *events, const char *expected)
{
    static scene s;
    begin(&s, 100);
    track_play(&s.track, events);
    track_name(&s.track, &s.names);
    qp_spans_put(&s.spans, 0, s.track.records + skipped, s.track.n - skipped);
    qp_spans_end(&s.spans, end);
    assert_false(s.spans.failed);
    assert_string_equal(s.text, expected);
    finish(&s);
}

static void check(const char *events, const char *expected)
{
    check_from(0, 0, events, expected);
}

static void a_call_has_its_callees_in_its_total_and_not_in_its_self(void **state)
{
    (void)state;
    check("@1 f( 5 g( 3 ) 2 )", "g 3/3 f 10/7");
    check("@1 f( 1 g( 2 h( 4 ) 8 ) 16 g( 32 ) 64 )", "h 4/4 g 14/10 g 32/32 f 127/81");
}

static void of_a_recursive_call_only_the_outermost_says_so(void **state)
{
    (void)state;
    check("@1 f( 5 f( 3 g( 1 ) ) 2 )", "g 1/1 f' 4/3 f 11/7");
    check("@1 f( g( f( 1 ) ) ) f( )", "f' 1/1 g 1/0 f 1/0 f 0/0");
}

enum { METHODS = 300, STEPS = 100000 };
static unsigned n_open[METHODS + 1]; /* by number of the method */

static void count_entry(void *to, qp_span_thread *th, qp_span *span)
{
    (void)to;
    (void)th;
    assert_int_equal(span->flags & QP_SPAN_OUTERMOST,
                     n_open[span->method] ? 0 : QP_SPAN_OUTERMOST);
    n_open[span->method]++;
}

static void count_exit(void *to, qp_span_thread *th, const qp_span *span, qp_span_end end)
{
    (void)to;
    (void)th;
    (void)end;
    n_open[span->method]--;
}

/* Entries, exits of several frames and exits by name in any order, against a plain array. */
static void methods_are_open_as_often_as_they_were_begun(void **state)
{
    static scene s;
    uint64_t seed = 1;
    (void)state;
    begin(&s, 0);
    s.spans.sink = (qp_span_sink){.enter = count_entry, .leave = count_exit};
    for (uint32_t i = 1; i <= METHODS; i++)
        assert_int_equal(qp_names_add_method(&s.names, i * 610, &(qp_method_names){.id = i}),
                         i);
    for (unsigned i = 0; i < STEPS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint32_t m = 1 + (uint32_t)(seed >> 33) % METHODS, n_frames = 1 + (seed >> 20) % 4;
        unsigned kind = (seed >> 54) % 8, n_before = n_open[m];
        uint64_t n_unmatched = s.spans.counts.n_unmatched;
        qp_trace_record r = qp_trace_make(QP_TRACE_ENTRY, i, 0, m * 610);
        if (kind == 0)
            r = qp_trace_make(QP_TRACE_EXIT, i, QP_EXIT_NAMED, m * 610);
        else if (kind == 1)
            r = qp_trace_make(QP_TRACE_EXIT, i, n_frames, 0);
        qp_spans_put(&s.spans, 0, &r, 1);
        if (kind == 0)
            assert_int_equal(n_open[m], n_before ? n_before - 1 : 0);
        if (kind == 0)
            assert_int_equal(s.spans.counts.n_unmatched - n_unmatched, n_before == 0);
    }
    qp_spans_end(&s.spans, 0);
    for (unsigned m = 1; m <= METHODS; m++)
        assert_int_equal(n_open[m], 0);
    finish(&s);
}

static void calls_that_do_not_return_end_with_the_one_that_does(void **state)
{
    (void)state;
    check("@1 main( f( 1 g( 2 !2 3 ) 4", "g! 2/2 f! 3/1 main 6/3");
}

static void an_open_call_ends_at_the_end_of_the_trace(void **state)
{
    (void)state;
    check("@1 main( 1 f( 2", "f. 0/0 main. 1/1"); /* up to the thread's last event */
    check_from(0, 110, "@1 main( 1 f( 2", "f. 9/9 main. 10/1");
}

static void a_suspended_thread_takes_no_time(void **state)
{
    (void)state;
    /* thread 1 runs 5 and 3, thread 2 runs 7 and 11 */
    check("@1 a( 5 @2 b( 7 @1 3 ) @2 11 )", "a 8/8 b 18/18@2");
    check("@1 a( 5 = 100 @1 3 )", "a 8/8");
}

static void a_thread_still_rises_with_another_os_thread(void **state)
{
    static scene s;
    track other;
    (void)state;
    begin(&s, 100);
    track_play(&s.track, "@1 a( 5 ="); /* until 105 */
    track_name(&s.track, &s.names);
    track_init(&other, 200);
    other = (track){.now = 200};
    memcpy(other.methods, s.track.methods, sizeof other.methods);
    other.n_methods = s.track.n_methods;
    other.depth[1] = 1;
    other.stacks[1][0] = 1;
    other.paths[0] = s.track.paths[0];
    other.n_paths = 1;
    track_play(&other, "@1 4 )");
    qp_spans_put(&s.spans, 0, s.track.records, s.track.n);
    qp_spans_put(&s.spans, 1, other.records, other.n);
    qp_spans_end(&s.spans, 0);
    assert_string_equal(s.text, "a 9/9");
    track_fini(&other);
    finish(&s);
}

static void time_stands_while_recording_is_off(void **state)
{
    (void)state;
    check("@1 f( 5 - 100 + 2 )", "f 7/7");
    check("@1 f( 5 - 50 = 50 @1 50 + 2 )", "f 7/7"); /* off and suspended at once */
}

static void a_trace_that_begins_within_calls_has_them_all_the_same(void **state)
{
    (void)state;
    /* the switch and the entry of main are missing */
    check_from(2, 0, "@1 main( 5 f( 3 ) 2 )", "f 3/3@0 <main 5/2@0");
    /* the second call says that a and b are open; nothing tells when they began */
    check_from(3, 0, "@1 a( b( 5 c( 1 ) 2 ) 4 )", "c 1/1@0 <b 3/2@0 <a 7/4@0");
}

static void a_stack_is_right_again_after_lost_records(void **state)
{
    static scene s;
    (void)state;
    begin(&s, 100);
    track_play(&s.track, "@1 main( 1 a( 2 ) 4 b( 8 c( 16 ) 32 ) 64 )");
    track_name(&s.track, &s.names);
    /* records: @1, main(, a(, ), b(, c(, ), ), ): the end of a and the entry of b are lost */
    qp_spans_put(&s.spans, 0, s.track.records, 3);
    qp_spans_put(&s.spans, 0, s.track.records + 5, 4);
    qp_spans_end(&s.spans, 0);
    /* at c's entry (115): a, which began at 101, has ended by then; b is open */
    assert_string_equal(s.text, "a? 14/14 c 16/16 <b 48/32 main 127/65");
    finish(&s);
}

static void the_time_of_lost_records_is_not_charged(void **state)
{
    static scene s;
    const qp_trace_record lost = {(uint64_t)QP_TRACE_LOST << QP_TRACE_OP_SHIFT | 113, 2, 0};
    (void)state;
    begin(&s, 100);
    track_play(&s.track, "@1 main( 1 a( 2 ) 4 b( 8 c( 16 ) 32 ) 64 )");
    track_name(&s.track, &s.names);
    qp_spans_put(&s.spans, 0, s.track.records, 3);
    qp_spans_put(&s.spans, 0, &lost, 1);
    qp_spans_put(&s.spans, 0, s.track.records + 5, 4);
    qp_spans_end(&s.spans, 0);
    /* as above, but that the 12 ticks from a's entry (101) to 113 are not in a, nor in main */
    assert_string_equal(s.text, "a? 2/2 c 16/16 <b 48/32 main 115/65");
    finish(&s);
}

static void a_call_that_only_its_caller_announced_is_a_call(void **state)
{
    (void)state;
    check("@1 main( 1 ?len 2 ~len 4 )", "len^ 2/2 main 7/5");
    /* it calls back into code that has hooks */
    check("@1 main( ?sort 1 cmp( 2 ) 4 ~sort )", "cmp 2/2 sort^ 7/5 main 7/0");
    /* its return is missing */
    check("@1 main( ?sort 1 cmp( 2 ) 4 )", "cmp 2/2 sort!^ 7/5 main 7/0");
}

static void a_call_that_both_announced_is_one_call(void **state)
{
    static scene s;
    (void)state;
    check("@1 main( ?sub 1 sub( 2 ) 4 ~sub 8 )", "sub 2/2 main 15/13");
    /* Xbase++: from the caller's call to the caller's return */
    begin(&s, 100);
    s.spans.counts_from_call = true;
    track_play(&s.track, "@1 main( ?sub 1 sub( 2 ) 4 ~sub 8 )");
    track_name(&s.track, &s.names);
    qp_spans_put(&s.spans, 0, s.track.records, s.track.n);
    qp_spans_end(&s.spans, 0);
    assert_string_equal(s.text, "sub 7/7 main 15/8");
    finish(&s);
}

static void marks_counters_and_values_are_told_whole(void **state)
{
    (void)state;
    check("@1 f( *here $heap=4711 &a_text_of_more_than_fifteen_bytes g( ) )",
          "*here $heap=4711 &a_text_of_more_than_fifteen_bytes g 0/0 f 0/0");
}

/* No record that a hostile file could hold does any harm; sums stay finite. */
static void nonsense_is_harmless(void **state)
{
    static scene s;
    (void)state;
    begin(&s, 100);
    track_play(&s.track, "@1 f( g( ) )");
    track_name(&s.track, &s.names);
    uint64_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const qp_trace_record r = {seed >> 60 << 60 | seed >> 40, (uint32_t)(seed >> 33) % 3000,
                                   (uint32_t)(seed >> 20) % 3000};
        s.n = 0;
        qp_spans_put(&s.spans, (uint32_t)(seed >> 50) & 3, &r, 1);
    }
    qp_spans_end(&s.spans, UINT64_MAX >> 4);
    assert_false(s.spans.failed);
    finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_has_its_callees_in_its_total_and_not_in_its_self),
        cmocka_unit_test(of_a_recursive_call_only_the_outermost_says_so),
        cmocka_unit_test(methods_are_open_as_often_as_they_were_begun),
        cmocka_unit_test(calls_that_do_not_return_end_with_the_one_that_does),
        cmocka_unit_test(an_open_call_ends_at_the_end_of_the_trace),
        cmocka_unit_test(a_suspended_thread_takes_no_time),
        cmocka_unit_test(a_thread_still_rises_with_another_os_thread),
        cmocka_unit_test(time_stands_while_recording_is_off),
        cmocka_unit_test(a_trace_that_begins_within_calls_has_them_all_the_same),
        cmocka_unit_test(a_stack_is_right_again_after_lost_records),
        cmocka_unit_test(the_time_of_lost_records_is_not_charged),
        cmocka_unit_test(a_call_that_only_its_caller_announced_is_a_call),
        cmocka_unit_test(a_call_that_both_announced_is_one_call),
        cmocka_unit_test(marks_counters_and_values_are_told_whole),
        cmocka_unit_test(nonsense_is_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
