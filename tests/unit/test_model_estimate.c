/* test_model_estimate.c: times of -time=adaptive and -time=sampled, and their intervals. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"
#include "unit/profile.h"

static profile *adaptive_profile(uint64_t coarse_period)
{
    profile *p = profile_new();
    profile_head(p)->time_mode = QP_TIME_ADAPTIVE;
    profile_head(p)->end_raw = PROFILE_START + 10000;
    profile_head(p)->coarse_period = coarse_period;
    return p;
}

/* A path without a record: blocks of 2^shift calls, and the mean of the squared ticks. */
static void set_light(profile *p, qp_cell node, uint64_t next, uint32_t shift,
                      uint64_t mean_square)
{
    qp_node *n = profile_at(p, node);
    n->self_min = next;
    n->self_max = mean_square * 64 << 8 | shift;
}

/* f was called 164 times. 40 calls were timed, which represent 160 and took 1600 for them; 500 ticks
 * were of long calls: 1600 * 164 / 160 + 500 = 2140. Half: 1.96 * sqrt(12289 + 10 * 10) + 1.04 * 10 =
 * 228.6. g below took 40 of it, and all of its calls were timed. */
static void adaptive_times_are_estimates_with_an_interval(void **state)
{
    (void)state;
    profile *p = adaptive_profile(10);
    qp_cell th = profile_thread(p);
    qp_cell f = profile_call(p, th, 0, 1, "f", 164, 1600);
    qp_cell g = profile_call(p, th, f, 2, "g", 4, 40);
    *profile_timing(p, th, f) =
        (qp_node_timing){.beyond = 500, .covered = 160, .n_timed = 40, .variance = 12};
    set_light(p, g, 5, 0, 100);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    profile_assert_times(m, "f", 2100, 2140);
    profile_assert_times(m, "g", 40, 40);
    assert_int_equal(profile_find(m, "f")->all.total_half, 229);
    assert_int_equal(profile_find(m, "f")->all.self_half, 229);
    assert_int_equal(profile_find(m, "g")->all.total_half, 0);
    assert_true(m->run.is_estimated);
    assert_true(profile_passes(m, "time_sum"));
    qp_model_free(m);
}

/* Ten calls in blocks of four, of which two were timed, with 5 and 7 ticks: 4 * 12 = 48, whether the
 * third block is over or not. Variance: 4 * 3 * (25 + 49) = 888; half 1.96 * sqrt(988) + 10.4 = 72.0.
 * A path of which no call was timed, or none could be, is not exact either: ± 3 ticks. */
static void paths_without_a_record_are_estimates_too(void **state)
{
    (void)state;
    profile *p = adaptive_profile(10);
    qp_cell th = profile_thread(p);
    set_light(p, profile_call(p, th, 0, 1, "f", 10, 48), 9, 2, 37);
    set_light(p, profile_call(p, th, 0, 2, "g", 3, 0), 4, 2, 0);
    set_light(p, profile_call(p, th, 0, 3, "h", 3, 0), UINT64_MAX, 0, 0);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    profile_assert_times(m, "f", 48, 48);
    assert_int_equal(profile_find(m, "f")->all.total_half, 72);
    assert_int_equal(profile_find(m, "g")->all.total_half, 30);
    assert_int_equal(profile_find(m, "h")->all.total_half, 30);
    qp_model_free(m);
}

/* f calls g on two threads, 3 times each, and no call was timed: ± 3 ticks of 10 on each, so
 * sqrt(30 * 30 + 30 * 30) = 42.4. */
static void callers_and_callees_have_intervals(void **state)
{
    (void)state;
    profile *p = adaptive_profile(10);
    qp_cell f = profile_method(p, 1, "f", NULL, NULL),
            g = profile_method(p, 2, "g", NULL, NULL);
    for (int i = 0; i < 2; i++) {
        qp_cell th = profile_thread(p), outer = profile_node(p, th, 0, f, 1, 0);
        set_light(p, outer, 2, 0, 0);
        set_light(p, profile_node(p, th, outer, g, 3, 0), 4, 2, 0);
    }
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    qp_edge *edges;
    size_t n;
    uint32_t method_g = (uint32_t)(profile_find(m, "g") - m->methods);
    assert_true(qp_model_callers(m, method_g, QP_ALL_THREADS, &edges, &n));
    assert_int_equal(n, 1);
    assert_int_equal(edges[0].half, 42);
    uint32_t method_f = edges[0].method;
    qp_free(edges);
    assert_true(qp_model_callees(m, method_f, QP_ALL_THREADS, &edges, &n));
    assert_int_equal(n, 1);
    assert_int_equal(edges[0].half, 42);
    qp_free(edges);
    qp_model_free(m);
}

/* f took 1400 ticks in one call; its callees are estimated at 900 and 600, with 1.96 * 32 and
 * 1.96 * 64 to each side. They cannot have taken more than f did: the 100 too many are a third and two
 * thirds theirs. */
static void callees_are_reduced_by_what_is_not_known_of_them(void **state)
{
    (void)state;
    profile *p = adaptive_profile(0);
    qp_cell th = profile_thread(p);
    qp_cell f = profile_call(p, th, 0, 1, "f", 1, 1400);
    qp_cell g = profile_call(p, th, f, 2, "g", 90, 900);
    qp_cell h = profile_call(p, th, f, 3, "h", 60, 600);
    set_light(p, f, 2, 0, 10000);
    *profile_timing(p, th, g) = (qp_node_timing){.covered = 90, .n_timed = 9, .variance = 1};
    *profile_timing(p, th, h) = (qp_node_timing){.covered = 60, .n_timed = 9, .variance = 4};
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    profile_assert_times(m, "f", 0, 1400);
    profile_assert_times(m, "g", 867, 867);
    profile_assert_times(m, "h", 533, 533);
    assert_int_equal(m->run.total, 1400);
    qp_model_free(m);
}

/* f is estimated at 1000, variance 3 * 1024, its callee g at 1500, variance 1024: three quarters of
 * the difference are f's. And of a caller none of whose calls was timed, all of it is. */
static void callers_are_raised_by_what_is_not_known_of_them(void **state)
{
    (void)state;
    for (int is_timed = 0; is_timed < 2; is_timed++) {
        profile *p = adaptive_profile(0);
        qp_cell th = profile_thread(p);
        qp_cell f = profile_call(p, th, 0, 1, "f", 100, is_timed ? 1000 : 0);
        qp_cell g = profile_call(p, th, f, 2, "g", 90, 1500);
        *profile_timing(p, th, f) =
            (qp_node_timing){.covered = 100, .n_timed = 9, .variance = 3};
        *profile_timing(p, th, g) =
            (qp_node_timing){.covered = 90, .n_timed = 9, .variance = 1};
        qp_model *m = profile_read(p, QP_LOAD_CLEAN);
        uint64_t expected = is_timed ? 1375 : 1500;
        profile_assert_times(m, "f", 0, expected);
        profile_assert_times(m, "g", expected, expected);
        qp_model_free(m);
    }
}

/* A snapshot at 2000 raw ticks, 1000 of thread time. f was entered at 100 and is timed; g is not, and
 * the last tick before it was at 400, a period before: it began between 400 and 600. h was open when
 * data were cleared at 700: what it took since then is known, and its call is not counted. */
static void open_calls_count_up_to_the_end(void **state)
{
    (void)state;
    profile *p = adaptive_profile(200);
    qp_head *head = profile_head(p);
    head->state = QP_SNAPSHOT;
    head->end_raw = 2000;
    qp_cell th = profile_thread(p);
    ((qp_thread_record *)profile_at(p, th))->offset = 1000;
    qp_cell h = profile_call(p, th, 0, 3, "h", 0, 0);
    qp_cell f = profile_call(p, th, h, 1, "f", 1, 0), g = profile_call(p, th, f, 2, "g", 3, 20);
    ((qp_node *)profile_at(p, h))->begun = 700 | QP_BEGUN_TIMED | QP_BEGUN_OLD;
    ((qp_node *)profile_at(p, f))->begun = 800 | QP_BEGUN_TIMED;
    ((qp_node *)profile_at(p, g))->begun = 850;
    set_light(p, f, 1, 0, 0);
    set_light(p, g, 3, 0, 0);
    const qp_cell open[] = {h, f, g};
    profile_stack(p, th, open, 3);
    profile_balance(p, th, 4, 3);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    assert_int_equal(profile_find(m, "h")->all.total, 300);
    assert_int_equal(profile_find(m, "f")->all.total, 200);
    assert_int_equal(profile_find(m, "g")->all.total, 20 + 75);
    assert_int_equal(profile_find(m, "f")->all.total_half, 0);
    qp_model_free(m);
}

/* 100 samples of 10 ticks: 1000 ± 1.96 * 1000 / sqrt(100) = 196. */
static void sampled_times_have_an_interval(void **state)
{
    (void)state;
    profile *p = profile_new();
    profile_head(p)->time_mode = QP_TIME_SAMPLED;
    qp_cell th = profile_thread(p);
    qp_cell f = profile_call(p, th, 0, 1, "f", 3, 1000);
    ((qp_node *)profile_at(p, f))->self_max = 100;
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    profile_assert_times(m, "f", 1000, 1000);
    assert_int_equal(profile_find(m, "f")->all.samples, 100);
    assert_int_equal(profile_find(m, "f")->all.self_half, 196);
    qp_model_free(m);
}

/* A run of 1000 ticks on two threads of one OS thread. The first is estimated at 1600: 1200 and 400, which
 * becomes 750 and 250. With the 500 of the other there are 1500, so two thirds remain of all. If
 * the other ran on an OS thread of its own, nothing more is reduced. */
static void estimates_do_not_exceed_the_run(void **state)
{
    (void)state;
    for (unsigned n_os = 1; n_os <= 2; n_os++) {
        profile *p = profile_new();
        profile_head(p)->time_mode = QP_TIME_SAMPLED;
        qp_cell one = profile_thread(p);
        qp_cell f = profile_call(p, one, 0, 1, "f", 3, 1200);
        qp_cell g = profile_call(p, one, f, 2, "g", 3, 400);
        qp_cell two = profile_thread(p);
        qp_cell h = profile_call(p, two, 0, 3, "h", 3, 500);
        ((qp_node *)profile_at(p, f))->self_max = 9;
        ((qp_node *)profile_at(p, g))->self_max = 4;
        ((qp_node *)profile_at(p, h))->self_max = 5;
        ((qp_thread_record *)profile_at(p, one))->system_id = 70;
        ((qp_thread_record *)profile_at(p, two))->system_id = 69 + n_os;
        qp_model *m = profile_read(p, QP_LOAD_CLEAN);
        profile_assert_times(m, "f", n_os == 1 ? 500 : 750, n_os == 1 ? 666 : 1000);
        profile_assert_times(m, "g", n_os == 1 ? 166 : 250, n_os == 1 ? 166 : 250);
        profile_assert_times(m, "h", n_os == 1 ? 333 : 500, n_os == 1 ? 333 : 500);
        assert_int_equal(m->run.total, n_os == 1 ? 999 : 1500);
        assert_true(profile_passes(m, "totals"));
        qp_model_free(m);
    }
}

/* Of a run of 1000 ticks, 400 belong to a call that was timed whole, with 150 of its callee, which was
 * timed too. For the estimated 900 of another path 600 are left, and its interval, 1.96 times the root of 10000
 * and a little for a period of one tick, shrinks with it. */
static void measured_times_are_kept_if_estimates_exceed_the_run(void **state)
{
    (void)state;
    profile *p = adaptive_profile(0);
    profile_head(p)->end_raw = PROFILE_START + 1000;
    qp_cell th = profile_thread(p);
    qp_cell f = profile_call(p, th, 0, 1, "f", 2, 400),
            g = profile_call(p, th, f, 2, "g", 5, 150);
    qp_cell h = profile_call(p, th, 0, 3, "h", 60, 900);
    set_light(p, f, 3, 0, 0);
    set_light(p, g, 6, 0, 0);
    *profile_timing(p, th, h) = (qp_node_timing){.covered = 60, .n_timed = 9, .variance = 1};
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    profile_assert_times(m, "f", 250, 400);
    profile_assert_times(m, "g", 150, 150);
    profile_assert_times(m, "h", 600, 600);
    assert_int_equal(profile_find(m, "h")->all.total_half, 42);
    assert_int_equal(profile_find(m, "f")->all.total_half, 0);
    qp_model_free(m);
}

/* A host that opened its VM and reported no call leaves a file that says so. */
static void a_run_without_threads_has_no_estimates(void **state)
{
    (void)state;
    for (unsigned mode = QP_TIME_EXACT; mode <= QP_TIME_NONE; mode++) {
        profile *p = adaptive_profile(10);
        profile_head(p)->time_mode = mode;
        qp_model *m = profile_read(p, QP_LOAD_CLEAN);
        assert_int_equal(m->run.total, 0);
        assert_int_equal(m->run.calls, 0);
        qp_model_free(m);
    }
}

/* 50 samples of 1.5 ms of CPU time each, though a pass was made each 4 ms only; if it is not
 * known what they represent, of 4 ms. */
static void interrupts_stand_for_cpu_time_that_was_used(void **state)
{
    (void)state;
    for (uint64_t reached = 0; reached <= 1500000; reached += 1500000) {
        profile *p = profile_new();
        qp_head *h = profile_head(p);
        h->end_raw = PROFILE_START + 1000000000;
        h->time_mode = QP_TIME_NONE;
        h->clock_source = QP_SOURCE_NS;
        h->collect = QP_COLLECT_SAMPLES;
        h->pc_kind = QP_PC_VIRTUAL;
        h->pc_period = h->sample_period = 1000000;
        h->pc_reached = reached;
        h->n_passes = 100;
        h->sample_ns = 400000000;
        qp_cell th = profile_thread(p);
        qp_cell f = profile_call(p, th, 0, 1, "f", 0, 0);
        profile_more(p, th, f)->samples = 50;
        qp_model *m = profile_load(p, QP_LOAD_CLEAN);
        uint64_t expected = reached ? 75000000 : 200000000;
        profile_assert_times(m, "f", expected, expected);
        qp_model_free(m);
        profile_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adaptive_times_are_estimates_with_an_interval),
        cmocka_unit_test(callers_and_callees_have_intervals),
        cmocka_unit_test(paths_without_a_record_are_estimates_too),
        cmocka_unit_test(callees_are_reduced_by_what_is_not_known_of_them),
        cmocka_unit_test(callers_are_raised_by_what_is_not_known_of_them),
        cmocka_unit_test(open_calls_count_up_to_the_end),
        cmocka_unit_test(sampled_times_have_an_interval),
        cmocka_unit_test(estimates_do_not_exceed_the_run),
        cmocka_unit_test(measured_times_are_kept_if_estimates_exceed_the_run),
        cmocka_unit_test(a_run_without_threads_has_no_estimates),
        cmocka_unit_test(interrupts_stand_for_cpu_time_that_was_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
