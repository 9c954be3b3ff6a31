/* test_model_estimate.c: times of -time=adaptive and -time=sampled, and their intervals. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "unit/profile.h"

/* f was called 164 times: the first 64 took 640 whole ticks, 4 of the later 100 took 8, 12, 8
 * and 12: 640 + 100 * 10 = 1640. Variance of one call: (64+144+64+144 - 4*100) / 3 = 16/3; of
 * the sum: 100^2 * 16/3 / 4 * (1 - 4/100) = 12800; half = 1.96 * 113.137 = 221.7. g below took
 * 40 of it. */
static void adaptive_times_are_estimates_with_an_interval(void **state)
{
    (void)state;
    profile *p = profile_new();
    profile_head(p)->time_mode = QP_TIME_ADAPTIVE;
    qp_cell th = profile_thread(p);
    qp_cell f = profile_call(p, th, 0, 1, "f", 164, 640);
    qp_cell g = profile_call(p, th, f, 2, "g", 4, 40);
    qp_spread spread = {4, 64 + 144 + 64 + 144};
    qp_node *n = profile_at(p, f);
    n->self_min = 40;
    memcpy(&n->self_max, &spread, sizeof spread);
    ((qp_node *)profile_at(p, g))->self_min = 0;
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    profile_assert_times(m, "f", 1600, 1640);
    profile_assert_times(m, "g", 40, 40);
    assert_int_equal(profile_find(m, "f")->all.total_half, 222);
    assert_int_equal(profile_find(m, "g")->all.total_half, 0);
    assert_true(m->run.is_estimated);
    assert_true(profile_passes(m, "time_sum"));
    qp_model_free(m);
}

/* f was timed once, 100 ticks; its callees are estimated at 90 and 60. They cannot have taken
 * more than f did: 90 * 100 / 150 = 60 and 60 * 100 / 150 = 40. */
static void callees_share_what_their_caller_took(void **state)
{
    (void)state;
    profile *p = profile_new();
    profile_head(p)->time_mode = QP_TIME_ADAPTIVE;
    qp_cell th = profile_thread(p);
    qp_cell f = profile_call(p, th, 0, 1, "f", 1, 100);
    profile_call(p, th, f, 2, "g", 9, 90);
    profile_call(p, th, f, 3, "h", 6, 60);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    profile_assert_times(m, "f", 0, 100);
    profile_assert_times(m, "g", 60, 60);
    profile_assert_times(m, "h", 40, 40);
    assert_int_equal(m->run.total, 100);
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

/* 50 samples of 1.5 ms of CPU time each, though a pass was made each 4 ms only; if it is not
 * known what they represent, of 4 ms. */
static void interrupts_stand_for_cpu_time_that_was_used(void **state)
{
    (void)state;
    for (uint64_t reached = 0; reached <= 1500000; reached += 1500000) {
        profile *p = profile_new();
        qp_head *h = profile_head(p);
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
        cmocka_unit_test(callees_share_what_their_caller_took),
        cmocka_unit_test(sampled_times_have_an_interval),
        cmocka_unit_test(interrupts_stand_for_cpu_time_that_was_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
