/* test_cover_areas.c: pictures of methods whose areas are of routines alone, with figures
 * worked out by hand from spec/triggers.md 8.3: all lines count as executed if it was called,
 * else none. */
#include "unit/runs.h"

enum { BOTH = QP_COLLECT_PROFILE | QP_COLLECT_COVERAGE };

static qp_cell whole_method(run *r, const char *name, const int *lines, uint32_t n)
{
    qp_cell m = run_method(r, name, "a.lua", lines, n);
    ((qp_method *)profile_at(r->p, m))->flags |= QP_METHOD_ROUTINE;
    return m;
}

/* Of jumps nothing is known, so it has no branches, be it called or not. */
static void all_lines_of_a_called_routine_are_executed_else_none(void **state)
{
    static const qp_jump jumps[] = {{0, 2}, {QP_JUMP_ENTRY, 0}};
    (void)state;
    run r = run_new(BOTH);
    qp_cell called = whole_method(&r, "called", RUN_LINES(1, 2, 3));
    qp_cell never = whole_method(&r, "never", RUN_LINES(5, 6));
    run_jumps(&r, called, jumps, 2, "110");
    run_jumps(&r, never, jumps + 1, 1, "10");
    run_calls(&r, called, 4);
    qp_cover *c = runs_picture_of(r);
    const qp_cover_file *f = runs_file(c, "a.lua");
    assert_totals(runs_function(f, "called")->totals, 3, 3, lines);
    assert_totals(runs_function(f, "never")->totals, 2, 0, lines);
    assert_totals(f->totals, 5, 3, blocks);
    assert_int_equal(f->totals.lines_partial, 0);
    assert_int_equal(runs_function(f, "called")->calls, 4);
    for (uint32_t line = 1; line <= 3; line++)
        assert_int_equal(runs_line(f, line)->count, 4);
    assert_int_equal(f->n_branches, 0);
    qp_cover_free(c);
}

/* Counted in one run: line 2 never. In another one called twice, and no more is known. */
static void a_sum_has_the_calls_of_a_routine_beside_what_was_counted(void **state)
{
    static const qp_jump jumps[] = {{0, 2}};
    (void)state;
    for (int order = 0; order < 2; order++) {
        qp_cover_set *s = runs_set();
        for (int i = 0; i < 2; i++) {
            run r = run_new(BOTH);
            bool is_whole = i == order;
            qp_cell m = is_whole ? whole_method(&r, "f", RUN_LINES(1, 2, 3))
                                 : run_method(&r, "f", "a.lua", RUN_LINES(1, 2, 3));
            run_jumps(&r, m, jumps, 1, "110");
            run_calls(&r, m, is_whole ? 2 : 1);
            if (!is_whole)
                run_counts(&r, m, RUN_VALUES(1)); /* 1, 0, 1 */
            runs_add(s, r, is_whole ? "whole.qprof" : "counted.qprof");
        }
        qp_cover *c = runs_picture(s, NULL);
        const qp_cover_file *f = runs_file(c, "a.lua");
        assert_int_equal(f->n_functions, 1);
        assert_int_equal(f->functions[0].calls, 3);
        assert_int_equal(runs_line(f, 1)->count, 3);
        assert_int_equal(runs_line(f, 2)->count, 2);
        assert_int_equal(runs_line(f, 3)->count, 3);
        assert_totals(c->totals, 2, 1, branches);
        qp_cover_free(c);
    }
}

static void calls_of_a_routine_are_those_of_their_contexts(void **state)
{
    (void)state;
    run r = run_new(QP_COLLECT_COVERAGE);
    qp_cell m = whole_method(&r, "f", RUN_LINES(1, 2));
    run_calls(&r, m, 5);
    qp_cell a = profile_context(r.p, "a"), b = profile_context(r.p, "b");
    run_share(&r, a, m, 3, NULL, 0);
    profile_head(r.p)->context = b; /* has the rest */
    qp_cover *c = runs_picture_of(r);
    const qp_cover_file *f = runs_file(c, "a.lua");
    for (uint32_t line = 1; line <= 2; line++) {
        assert_int_equal(runs_touch(c, f, line, "a"), 3);
        assert_int_equal(runs_touch(c, f, line, "b"), 2);
    }
    qp_cover_free(c);
}

/* If no lines are known, those of routines are not known either. */
static void a_plain_profile_without_counters_has_no_lines_of_routines(void **state)
{
    (void)state;
    run r = run_new(QP_COLLECT_PROFILE);
    run_calls(&r, whole_method(&r, "f", RUN_LINES(1, 2)), 1);
    run_calls(&r, run_method(&r, "g", "a.lua", RUN_LINES(4)), 1);
    qp_cover *c = runs_picture_of(r);
    assert_totals(c->totals, 0, 0, lines);
    assert_totals(c->totals, 2, 2, functions);
    qp_cover_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_lines_of_a_called_routine_are_executed_else_none),
        cmocka_unit_test(a_sum_has_the_calls_of_a_routine_beside_what_was_counted),
        cmocka_unit_test(calls_of_a_routine_are_those_of_their_contexts),
        cmocka_unit_test(a_plain_profile_without_counters_has_no_lines_of_routines),
    };
    return cmocka_run_group_tests_name("coverage of areas", tests, NULL, NULL);
}
