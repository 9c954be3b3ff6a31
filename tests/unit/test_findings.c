/* test_findings.c: model/figures/findings.c: sentences about time off the processor, and their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/figures/figures.h"

enum { MAIN = 1, NATIVE, SCRIPT, N_METHODS };

static qp_model_method methods[N_METHODS];
static qp_model model;
static qp_run_finding found[QP_FINDINGS_MOST];
static size_t n_found;

/* A run of 1,000 ticks of exact time: main 100, native 400, script 500, and so much of the last two off
 * the processor. */
static void find(uint64_t native_off, uint64_t script_off, qp_time_mode mode, uint32_t flags)
{
    static const char *const names[] = {"", "main", "accept", "mid"};
    static const uint64_t self[] = {0, 100, 400, 500};
    for (int i = 0; i < N_METHODS; i++)
        methods[i] = (qp_model_method){.name = names[i],
                                       .file = i == NATIVE ? "" : "s.lua",
                                       .all = {.calls = 1, .self = self[i]}};
    methods[NATIVE].all.off = native_off;
    methods[SCRIPT].all.off = script_off;
    methods[SCRIPT].flags = flags;
    model = (qp_model){.methods = methods, .n_methods = N_METHODS};
    model.run = (qp_run_info){.has_times = true,
                              .has_calls = true,
                              .has_waits = true,
                              .focus = "",
                              .when = "",
                              .unit = "ns",
                              .total = 1000,
                              .calls = 3,
                              .time_mode = mode,
                              .off = native_off + script_off};
    n_found = qp_model_findings(&model, "a.qprof", NULL, NULL, found);
    assert_true(n_found > 0);
}

static void assert_finding(size_t i, double percent, const char *text, const char *command)
{
    assert_true(i < n_found);
    assert_true(found[i].percent == percent);
    assert_string_equal(found[i].text, text);
    assert_string_equal(found[i].command, command);
}

static void what_has_no_source_may_wait(void **state)
{
    (void)state;
    find(390, 200, QP_TIME_EXACT, 0); /* accept waits most; 410 ticks run, 300 of them in mid */
    assert_finding(0, 59, "59.0 % was waiting, off the processor, most of it in `accept`",
                   "qprof report --filter=accept a.qprof");
    assert_finding(1, 30, "73.2 % of the running time is in `mid` itself",
                   "qprof report --filter=mid a.qprof");
}

static void a_function_of_the_script_is_not_said_to_wait(void **state)
{
    (void)state;
    find(0, 450, QP_TIME_EXACT, 0); /* 550 ticks run: 400, 100 and 50 */
    assert_finding(0, 40, "72.7 % of the running time is in `accept` itself",
                   "qprof report --filter=accept a.qprof");
    assert_finding(1, 10, "18.2 % of the running time is in `main` itself",
                   "qprof report --filter=main a.qprof");
    assert_finding(2, 45, "45.0 % was off the processor: waiting, or other programs ran",
                   "qprof report a.qprof");
}

/* Other programs take the processor from all functions alike. */
static void a_native_function_that_runs_as_much_is_not_said_to_wait(void **state)
{
    (void)state;
    /* for each tick that runs accept lacks 280 / 120, the others 170 / 430: 6 times less */
    find(280, 170, QP_TIME_EXACT, 0);
    assert_finding(n_found - 1, 45,
                   "45.0 % was off the processor: waiting, or other programs ran",
                   "qprof report a.qprof");
}

static void unless_the_host_or_the_system_says_that_it_does(void **state)
{
    static const char *const text =
        "45.0 % was waiting, off the processor, most of it in `mid`";
    (void)state;
    find(0, 450, QP_TIME_EXACT, QP_METHOD_WAITS);
    assert_finding(0, 45, text, "qprof report --filter=mid a.qprof");
    find(0, 450, QP_TIME_EXACT, QP_METHOD_BLOCKS);
    assert_finding(0, 45, text, "qprof report --filter=mid a.qprof");
}

/* With estimates as well a thread may have been ready while others ran. */
static void estimated_waits_are_judged_as_exact_ones(void **state)
{
    (void)state;
    find(0, 450, QP_TIME_ADAPTIVE, 0);
    assert_finding(n_found - 1, 45,
                   "45.0 % was off the processor: waiting, or other programs ran",
                   "qprof report a.qprof");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_no_source_may_wait),
        cmocka_unit_test(a_function_of_the_script_is_not_said_to_wait),
        cmocka_unit_test(a_native_function_that_runs_as_much_is_not_said_to_wait),
        cmocka_unit_test(unless_the_host_or_the_system_says_that_it_does),
        cmocka_unit_test(estimated_waits_are_judged_as_exact_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
