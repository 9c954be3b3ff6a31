/* test_limits.c: far more than fits: depth, threads, methods, paths. What does not fit is
 * folded or counted, and the sums stay exact. reliability.md 2.3, 2.5 to 2.7, C16, C17; design
 * D11. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/play.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { DEEP = 1000000, STORED = 200000, MANY = 50000 };
#else
enum { DEEP = 10000000, STORED = 2000000, MANY = 1000000 };
#endif

static void begin(const char *options, bool is_virtual)
{
    char words[256];
    qprof_InitInfo info = {0, words, NULL, is_virtual};
    snprintf(words, sizeof words, "-output=run.qprof %s", options);
    assert_int_equal(qprof_initialize_ex(&info), 0);
}

/* Down to the bottom and back, one exit a frame. */
static void recurse_and_return(play_ctx *p, const char *options, uintptr_t n_levels, bool fits)
{
    begin(options, false);
    qprof_MethodID f = play_method(p, "f"), g = play_method(p, "g");
    for (uintptr_t i = 0; i < n_levels; i++)
        qprof_record_fn_entry(f, 1 + i);
    assert_int_equal(qprof_diagnostic("depth_overflow") == 0, fits);
    for (uintptr_t i = n_levels - 1; i > 0; i--)
        qprof_record_fn_exit(i);
    assert_int_equal(qprof_current_method_id(), f); /* the stack is exact again */
    qprof_record_fn_entry(g, n_levels + 1);
    qprof_record_fn_exit(1);
    qprof_record_fn_exit(0);
    assert_int_equal(qprof_current_method_id(), 0);
    assert_int_equal(qprof_diagnostic("exit_unknown_id"), 0);
    assert_int_equal(qprof_diagnostic("exit_empty_stack"), 0);
    play_end(p);
    assert_int_equal(p->m->threads[1].n_exits + p->m->threads[1].n_unwound, n_levels + 1);
    assert_int_equal(p->m->threads[1].depth, 0);
    assert_path(p, "f>g", 1, 0);
}

/* What reports show as the total: with the calls that were lost. */
static uint64_t all_calls(const qp_model *m)
{
    return m->run.calls + m->run.calls_lost;
}

static void levels_that_fit_the_budget_are_exact(void **state) /* C17 */
{
    play_ctx *p = *state;
    recurse_and_return(p, "-memory-limit=4G", STORED, true);
    assert_int_equal(p->m->run.calls, STORED + 1);
    assert_int_equal(p->m->run.calls_lost, 0);
}

static void
levels_that_do_not_fit_are_counted_and_the_stack_is_exact_below(void **state) /* 2.6 */
{
    play_ctx *p = *state;
    recurse_and_return(p, "-memory-limit=4M", STORED / 4, false);
    assert_int_equal(all_calls(p->m), STORED / 4 + 1);
    assert_true(play_file_diagnostic(p, "depth_overflow") > 0);
}

static void one_exit_ends_ten_million_levels(void **state) /* 2.6, [24] */
{
    play_ctx *p = *state;
    begin("-memory-limit=64M", false);
    qprof_MethodID f = play_method(p, "f");
    for (int round = 0; round < 2; round++) {
        for (uintptr_t i = 0; i < DEEP; i++)
            qprof_record_fn_entry(f, 1 + i);
        qprof_record_fn_exit(round ? 1 : 0); /* a frame that is stored; everything */
    }
    assert_int_equal(qprof_current_method_id(), f);
    qprof_record_fn_exit(0);
    play_end(p);
    assert_int_equal(all_calls(p->m), 2 * (uint64_t)DEEP);
    assert_int_equal(p->m->threads[1].n_exits + p->m->threads[1].n_unwound, 2 * (uint64_t)DEEP);
}

static void a_deep_stack_is_in_a_snapshot(void **state)
{
    play_ctx *p = *state;
    begin("-memory-limit=16M", false);
    qprof_MethodID f = play_method(p, "f");
    for (uintptr_t i = 0; i < DEEP; i++)
        qprof_record_fn_entry(f, 1 + i);
    play_peek(p);
    assert_int_equal(p->m->threads[1].depth, DEEP);
    assert_int_equal(all_calls(p->m), DEEP);
}

static void a_million_methods_keep_their_names(void **state) /* C17, 2.3 */
{
    play_ctx *p = *state;
    char name[32];
    begin("-memory-limit=1G", false);
    for (uintptr_t i = 1; i <= MANY; i++) {
        snprintf(name, sizeof name, "method %ju", (uintmax_t)i);
        qprof_register_method_id(i * 0x9E3779B97F4A7C15u, name, NULL, 0, "file", NULL, 0);
    }
    for (uintptr_t i = MANY; i >= 1; i--) {
        qprof_record_fn_entry(i * 0x9E3779B97F4A7C15u, 1);
        qprof_record_fn_exit(0);
    }
    assert_int_equal(qprof_diagnostic("unknown_method"), 0);
    assert_int_equal(qprof_diagnostic("method_limit"), 0);
    play_end(p);
    assert_true(p->m->n_methods > MANY);
    assert_int_equal(p->m->run.calls, MANY);
    uint64_t n_right = 0;
    for (uint32_t i = 1; i < p->m->n_methods; i++) {
        const qp_model_method *m = &p->m->methods[i];
        uint64_t number = strncmp(m->name, "method ", 7) ? 0 : strtoull(m->name + 7, NULL, 10);
        n_right += number && m->id == number * 0x9E3779B97F4A7C15u && m->all.calls == 1;
    }
    assert_int_equal(n_right, MANY);
}

static void methods_that_do_not_fit_are_counted(void **state) /* 2.3 */
{
    play_ctx *p = *state;
    char name[32];
    begin("-memory-limit=2M", false);
    for (uintptr_t i = 1; i <= 100000; i++) {
        snprintf(name, sizeof name, "method %ju", (uintmax_t)i);
        qprof_register_method_id(i, name, NULL, 0, "file", NULL, 0);
        qprof_record_fn_entry(i, 1);
        qprof_record_fn_exit(0);
    }
    assert_true(qprof_diagnostic("method_limit") + qprof_diagnostic("tree_overflow") > 0);
    play_end(p);
    assert_int_equal(all_calls(p->m), 100000);
}

/* Known methods on new paths keep their names when methods have used up their share; of the others each
 * caller has one <overflow>, however many there are. */
static void methods_that_do_not_fit_leave_room_for_paths(void **state)
{
    enum { METHODS = 40, CALLED = 100000 };
    play_ctx *p = *state;
    begin("-memory-limit=2M", false);
    for (uintptr_t i = 1; i <= METHODS; i++)
        qprof_register_method_id(i,
                                 i == 1   ? "first"
                                 : i == 2 ? "second"
                                          : "other",
                                 NULL, 0, NULL, NULL, 0);
    for (uintptr_t i = METHODS + 1; i <= CALLED; i++) {
        qprof_record_fn_entry(i, 1);
        qprof_record_fn_exit(0);
    }
    uint64_t n_lost = qprof_diagnostic("tree_overflow");
    assert_true(n_lost > 0);
    for (uintptr_t i = 1; i <= METHODS; i++)
        for (uintptr_t k = 1; k <= METHODS; k++) {
            qprof_record_fn_entry(i, 1);
            qprof_record_fn_entry(k, 2);
            qprof_record_fn_exit(0);
        }
    assert_int_equal(qprof_diagnostic("tree_overflow"), n_lost);
    play_end(p);
    assert_path(p, "first>second", 1, 0);
    assert_path(p, "second>first", 1, 0);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "<overflow>").calls, n_lost);
    uint64_t n_overflows = 0;
    for (uint32_t i = 1; i < p->m->n_nodes; i++)
        n_overflows += !strcmp(p->m->methods[p->m->nodes[i].method].name, "<overflow>");
    assert_int_equal(n_overflows, 1);
    assert_int_equal(all_calls(p->m), CALLED - METHODS + 2 * METHODS * METHODS);
}

static void paths_that_do_not_fit_are_folded_and_times_stay_whole(void **state) /* 2.5, [55] */
{
    enum { PATHS = 60000, DEPTH = 12 };
    play_ctx *p = *state;
    uint64_t random = 1, n_entries = 0;
    begin("-memory-limit=1M", false);
    for (int i = 0; i < PATHS; i++) {
        for (uintptr_t d = 0; d < DEPTH; d++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            qprof_record_fn_entry(1 + (random >> 40) % 61, 1 + d);
            play_clock_add(3);
            n_entries++;
        }
        qprof_record_fn_exit(0);
    }
    assert_true(qprof_diagnostic("tree_overflow") > 0);
    play_end(p);
    assert_int_equal(all_calls(p->m), n_entries);
    assert_int_equal(p->m->run.total, 3 * n_entries);
    assert_true(p->m->run.file_bytes <= 1 << 20);
    assert_true(play_figures(p, QP_ALL_THREADS, "<overflow>").calls > 0);
}

/* A call of each of n virtual threads, all open at once. */
static void call_at_once(qprof_MethodID f, uintptr_t n)
{
    for (uintptr_t i = 1; i <= n; i++)
        qprof_record_fn_entry_vt(f, 1, i);
    for (uintptr_t i = 1; i <= n; i++)
        qprof_record_fn_exit_vt(0, i);
}

static void a_million_virtual_threads_at_once_need_256_bytes_each(void **state) /* C16 */
{
    play_ctx *p = *state;
    begin("", true);
    call_at_once(play_method(p, "f"), MANY);
    assert_int_equal(qprof_diagnostic("exit_empty_stack"), 0);
    play_end(p);
    assert_int_equal(p->m->run.calls, MANY);
    assert_int_equal(p->m->run.calls_lost, 0);
    assert_true(p->m->run.file_bytes <= (uint64_t)256 * MANY);
}

/* Of each one that has no room the calls are lost and counted. */
static void virtual_threads_that_do_not_fit_are_counted(void **state)
{
    enum { TOO_MANY = 100000 }; /* 2 MB have room for 13,000 at 155 bytes each */
    play_ctx *p = *state;
    begin("-memory-limit=2M", true);
    call_at_once(play_method(p, "f"), TOO_MANY);
    uint64_t n_lost = qprof_diagnostic("out_of_memory");
    play_end(p);
    uint64_t n_recorded = all_calls(p->m);
    assert_true(n_recorded > 0 && n_recorded < TOO_MANY);
    assert_true(n_recorded + n_lost >= TOO_MANY);
}

static void a_million_virtual_threads_in_turn_need_little(void **state) /* C15 */
{
    play_ctx *p = *state;
    begin("", true);
    qprof_MethodID f = play_method(p, "f");
    for (uintptr_t i = 1; i <= MANY; i++) {
        qprof_record_fn_entry_vt(f, 1, i);
        qprof_thread_destroy_vt(i);
    }
    assert_int_equal(qprof_diagnostic("thread_nomem"), 0);
    assert_int_equal(qprof_diagnostic("out_of_memory"), 0);
    play_end(p);
    assert_int_equal(p->m->run.calls, MANY);
    assert_true(p->m->run.file_bytes < 64 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(levels_that_fit_the_budget_are_exact),
        PLAY_TEST(levels_that_do_not_fit_are_counted_and_the_stack_is_exact_below),
        PLAY_TEST(one_exit_ends_ten_million_levels),
        PLAY_TEST(a_deep_stack_is_in_a_snapshot),
        PLAY_TEST(a_million_methods_keep_their_names),
        PLAY_TEST(methods_that_do_not_fit_are_counted),
        PLAY_TEST(methods_that_do_not_fit_leave_room_for_paths),
        PLAY_TEST(paths_that_do_not_fit_are_folded_and_times_stay_whole),
        PLAY_TEST(a_million_virtual_threads_at_once_need_256_bytes_each),
        PLAY_TEST(virtual_threads_that_do_not_fit_are_counted),
        PLAY_TEST(a_million_virtual_threads_in_turn_need_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
