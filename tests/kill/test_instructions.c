/* test_instructions.c: what a recording program leaves if it is killed at any instruction of
 * rare events: unit/stepped.h. What rules do there: test_instructions_rules.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "qprof.h"
#include "unit/stepped.h"

/* ---- what is stepped through ------------------------------------------------------------- */

static void call_and_return(void)
{
    stepped_in(A);
    stepped_in(B);
    qprof_record_counts(5);
    stepped_in(C);
    stepped_back_to(2);
    stepped_in(C);
    stepped_in(B);
    stepped_in(C);
    stepped_back_to(1); /* four frames end */
    stepped_in(B);
    stepped_back_to(0);
}

static void call_an_unknown_method(void)
{
    stepped_in(A);
    stepped_in(NEW);
    stepped_back_to(0);
}

/* No stack grows from here on. */
static void fill_memory(void)
{
    stepped_thread = 1;
    stepped_in(A);
    stepped_back_to(0);
    stepped_thread = 2;
    for (uintptr_t id = 1000; id < 100000 && !qprof_diagnostic("tree_overflow"); id++) {
        stepped_in(id);
        stepped_back_to(0);
    }
    stepped_thread = 1;
}

/* Of these the last ones are only counted. */
static void call_deeply(void)
{
    for (unsigned i = 0; i < 12; i++)
        stepped_in(i % 2 ? A : B);
}

static void fill_and_call_deeply(void)
{
    fill_memory();
    call_deeply();
}

static void unwind_from_the_deep(void)
{
    stepped_back_to(stepped_depth - 1);
    stepped_back_to(2);
    call_deeply();
    stepped_back_to(0);
}

static void end_a_deep_thread(void)
{
    qprof_thread_destroy_vt(stepped_thread);
    stepped_depth = 0;
}

static void outgrow_the_first_stack(void)
{
    stepped_thread = 1;
    call_deeply();
    stepped_back_to(0);
}

static void switch_threads(void)
{
    uintptr_t depths[3] = {0};
    for (unsigned i = 0; i < 12; i++) {
        stepped_thread = 1 + i % 2;
        stepped_depth = depths[stepped_thread];
        if (i < 8)
            stepped_in(i % 3 ? A : B);
        else
            stepped_back_to(i < 10 ? 1 : 0);
        depths[stepped_thread] = stepped_depth;
    }
    qprof_thread_destroy_vt(2);
}

static void call_often(void)
{
    for (unsigned i = 0; i < 20; i++)
        call_and_return();
}

static void clear_below_calls(void)
{
    stepped_in(A);
    stepped_in(B);
    qprof_clear_data();
    stepped_in(C);
    stepped_back_to(0);
}

static void time_blocks(void)
{
    stepped_in(A);
    qprof_record_bb_time(0);
    qprof_record_bb_counts(1, 3);
    stepped_in(B);
    qprof_record_bb_time(1);
    stepped_in(C);
    qprof_record_bb_time(0);
    stepped_back_to(1);
    qprof_record_bb_time(1);
    stepped_back_to(0);
}

static void call_and_count(void)
{
    for (uintptr_t method = A; method <= B; method++) {
        uint64_t *counters = qprof_counter_bank(method);
        stepped_in(method);
        if (counters)
            counters[0]++;
    }
    stepped_back_to(0);
}

static void count_in_a_context(void)
{
    qprof_context("one");
    call_and_count();
}

static void change_contexts(void)
{
    call_and_count();
    stepped_in(C);
    qprof_context("two");
    call_and_count();
    qprof_context("one");
}

static void shut_down(void)
{
    qprof_shutdown();
}

static void call_and_stay(void)
{
    call_often();
    stepped_in(A);
    stepped_in(B);
}

static void stop_and_start(void)
{
    stepped_in(A);
    qprof_stop_recording();
    stepped_in(B);
    stepped_in(C);
    qprof_start_recording();
    stepped_in(A);
    stepped_back_to(0);
}

#define KILLED(name, ...)                                                                      \
    static void name(void **state)                                                             \
    {                                                                                          \
        (void)state;                                                                           \
        stepped_in_every_mode(#name, __VA_ARGS__);                                             \
    }
#define PROGRAM(...) ((stepped_program){__VA_ARGS__})

KILLED(first_calls, PROGRAM(.play = call_and_return), "")
KILLED(later_calls, PROGRAM(.prepare = call_and_return, .play = call_and_return), "")
KILLED(an_unknown_method, PROGRAM(.play = call_an_unknown_method), "")
KILLED(a_stack_that_grows, PROGRAM(.is_virtual = true, .play = outgrow_the_first_stack), "")
KILLED(switches, PROGRAM(.is_virtual = true, .play = switch_threads), "")
KILLED(ends_of_frames_that_are_only_counted,
       PROGRAM(.is_virtual = true, .prepare = fill_and_call_deeply,
               .play = unwind_from_the_deep),
       "-memory-limit=1M")
KILLED(the_end_of_a_deep_thread,
       PROGRAM(.is_virtual = true, .prepare = fill_and_call_deeply, .play = end_a_deep_thread),
       "-memory-limit=1M")
KILLED(block_times, PROGRAM(.play = time_blocks), "")
KILLED(contexts, PROGRAM(.prepare = count_in_a_context, .play = change_contexts),
       "-collect=profile,coverage")
KILLED(a_clear, PROGRAM(.prepare = call_often, .play = clear_below_calls), "")
KILLED(a_stop, PROGRAM(.play = stop_and_start), "")

KILLED(first_calls_with_tokens, PROGRAM(.keeps_tokens = true, .play = call_and_return), "")
KILLED(later_calls_with_tokens,
       PROGRAM(.keeps_tokens = true, .prepare = call_and_return, .play = call_and_return), "")
KILLED(a_clear_with_tokens,
       PROGRAM(.keeps_tokens = true, .prepare = call_often, .play = clear_below_calls), "")
KILLED(a_stop_with_tokens, PROGRAM(.keeps_tokens = true, .play = stop_and_start), "")

static void a_shutdown(void **state)
{
    (void)state;
    stepped_everywhere("a_shutdown", &PROGRAM("-output=steps.qprof", .prepare = call_and_stay,
                                              .play = shut_down));
}

STEPPED_MAIN(stepped_prepare(), cmocka_unit_test(first_calls), cmocka_unit_test(later_calls),
             cmocka_unit_test(an_unknown_method), cmocka_unit_test(a_stack_that_grows),
             cmocka_unit_test(switches), cmocka_unit_test(ends_of_frames_that_are_only_counted),
             cmocka_unit_test(the_end_of_a_deep_thread), cmocka_unit_test(block_times),
             cmocka_unit_test(contexts), cmocka_unit_test(a_clear),
             cmocka_unit_test(first_calls_with_tokens),
             cmocka_unit_test(later_calls_with_tokens), cmocka_unit_test(a_clear_with_tokens),
             cmocka_unit_test(a_stop_with_tokens), cmocka_unit_test(a_shutdown),
             cmocka_unit_test(a_stop))
