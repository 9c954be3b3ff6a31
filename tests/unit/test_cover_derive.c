/* test_cover_derive.c: functions, lines, blocks, branches, contexts and folders of a picture,
 * with figures worked out by hand from spec/qii.md section 10. */
#include <string.h>

#include "base/containers/alloc.h"
#include "unit/runs.h"

enum { BOTH = QP_COLLECT_PROFILE | QP_COLLECT_COVERAGE };

/* qii 43: registered and never called is missed; what was never registered is absent. */
static void a_function_that_was_never_called_is_missed(void **state)
{
    (void)state;
    run r = run_new(BOTH);
    qp_cell called = run_method(&r, "called", "a.lua", RUN_LINES(1, 2));
    run_method(&r, "never", "a.lua", RUN_LINES(4, 5, 6));
    run_calls(&r, called, 3);
    run_counts(&r, called, RUN_VALUES(3, 3));
    qp_cover *c = runs_picture_of(r);
    const qp_cover_file *f = runs_file(c, "a.lua");
    assert_true(runs_function(f, "called")->is_hit);
    assert_false(runs_function(f, "never")->is_hit);
    assert_totals(c->totals, 2, 1, functions);
    assert_totals(c->totals, 5, 2, lines);
    assert_totals(runs_function(f, "never")->totals, 3, 0, lines);
    assert_int_equal(runs_function(f, "never")->first_line, 4);
    assert_int_equal(runs_function(f, "never")->last_line, 6);
    assert_int_equal(c->totals.calls, 3);
    assert_int_equal(c->totals.files, 1);
    assert_true(c->is_coverage);
    qp_cover_free(c);
}

/* The set that it was made of is gone. */
static void a_picture_keeps_what_its_runs_are(void **state)
{
    (void)state;
    run r = run_new(BOTH);
    run_method(&r, "f", "a.lua", RUN_LINES(1));
    qp_ref script = profile_text(r.p, "main.lua"), labels = profile_text(r.p, "host=a");
    profile_head(r.p)->script = script;
    profile_head(r.p)->labels = labels;
    qp_error error;
    qp_cover_set *s = runs_set();
    runs_add(s, r, "run.qprof");
    qp_cover *c = qp_cover_derive(s, &(qp_cover_options){0}, &error);
    assert_non_null(c);
    for (size_t i = 0; i < s->n_runs; i++) { /* sanitizers also see what is freed */
        assert_ptr_not_equal(c->runs[i].script, s->runs[i].script);
        assert_ptr_not_equal(c->runs[i].labels, s->runs[i].labels);
    }
    qp_cover_set_free(s);
    assert_string_equal(c->runs[0].script, "main.lua");
    assert_string_equal(c->runs[0].labels, "host=a");
    qp_cover_free(c);
}

/* qii 44, triggers 42: two blocks, one hit. */
static void a_line_with_a_missed_block_is_partial_and_counts_as_hit(void **state)
{
    (void)state;
    for (int is_missed = 0; is_missed < 2; is_missed++) {
        run r = run_new(BOTH);
        qp_cell m = run_method(&r, "f", "a.lua", RUN_LINES(7, 7, 8));
        run_calls(&r, m, 5);
        run_counts(&r, m, RUN_VALUES(5, 0, 2));
        qp_cover_set *s = runs_set();
        runs_add(s, r, "run.qprof");
        qp_cover *c = runs_picture(s, &(qp_cover_options){.is_partial_missed = is_missed});
        const qp_cover_file *f = runs_file(c, "a.lua");
        const qp_cover_line *l = runs_line(f, 7);
        assert_true(l->is_partial);
        assert_int_equal(l->is_hit, !is_missed);
        assert_int_equal(l->count, 5);
        assert_int_equal(l->n_blocks, 2);
        assert_int_equal(l->n_blocks_hit, 1);
        assert_int_equal(f->blocks[l->first_block].count, 5);
        assert_true(f->blocks[l->first_block + 1].is_missed);
        assert_totals(f->totals, 2, is_missed ? 1 : 2, lines);
        assert_int_equal(f->totals.lines_partial, 1);
        assert_totals(f->totals, 3, 2, blocks);
        assert_totals(runs_function(f, "f")->totals, 2, is_missed ? 1 : 2, lines);
        qp_cover_free(c);
    }
}

/* A loop: block 0 tests and jumps to block 2 at the end, else falls into block 1, which jumps
 * back. Two calls with five rounds in all, and a third that an error ends in its first round: 3
 * + 5 tests; of these 2 leave the loop and 6 go into it. */
static void both_ways_of_a_conditional_jump_are_counted(void **state)
{
    static const qp_jump jumps[] = {{0, 2}, {1, 0}, {QP_JUMP_LEFT, 1}};
    (void)state;
    run r = run_new(BOTH);
    qp_cell m = run_method(&r, "f", "a.lua", RUN_LINES(10, 11, 12));
    run_jumps(&r, m, jumps, 3, "100");
    run_calls(&r, m, 3);
    run_counts(&r, m, RUN_VALUES(2, 5, 1));
    qp_cover *c = runs_picture_of(r);
    const qp_cover_file *f = runs_file(c, "a.lua");
    assert_int_equal(runs_line(f, 10)->count, 8);
    assert_int_equal(runs_line(f, 11)->count, 6);
    assert_int_equal(runs_line(f, 12)->count, 2);
    assert_int_equal(f->n_branches, 2); /* the jump back is not a branch: it has no other way */
    assert_int_equal(f->branches[0].count, 2);
    assert_int_equal(f->branches[0].to_line, 12);
    assert_int_equal(f->branches[1].count, 6);
    assert_int_equal(f->branches[1].to_line, 11);
    assert_int_equal(f->branches[1].way, 1);
    assert_true(f->branches[0].is_reached);
    assert_totals(c->totals, 2, 2, branches);
    qp_cover_free(c);
}

/* Three tests on one line; the second is never reached, the third only ever jumps. */
static void branches_of_a_line_are_numbered(void **state)
{
    static const qp_jump jumps[] = {{0, 2}, {1, 3}, {2, 1}, {2, 3}, {QP_JUMP_ENTRY, 0}};
    (void)state;
    run r = run_new(QP_COLLECT_COVERAGE);
    qp_cell m = run_method(&r, "f", "a.lua", RUN_LINES(1, 1, 1, 2));
    run_jumps(&r, m, jumps, 5, "1110");
    run_counts(&r, m, RUN_VALUES(4, 0, 0, 4, 4));
    qp_cover *c = runs_picture_of(r);
    const qp_cover_file *f = runs_file(c, "a.lua");
    static const struct {
        uint32_t block, way;
        uint64_t count;
        bool is_reached;
    } wanted[] = {{0, 0, 4, true}, {0, 1, 0, true}, {1, 0, 0, false}, {1, 1, 0, false},
                  {2, 0, 0, true}, {2, 1, 4, true}, {2, 2, 0, true}};
    assert_int_equal(f->n_branches, 7);
    for (unsigned i = 0; i < 7; i++) {
        assert_int_equal(f->branches[i].block, wanted[i].block);
        assert_int_equal(f->branches[i].way, wanted[i].way);
        assert_int_equal(f->branches[i].count, wanted[i].count);
        assert_int_equal(f->branches[i].is_reached, wanted[i].is_reached);
    }
    assert_int_equal(runs_line(f, 1)->n_branches, 7);
    assert_int_equal(runs_line(f, 1)->n_branches_hit, 2);
    assert_int_equal(runs_line(f, 2)->n_branches, 0);
    assert_int_equal(runs_function(f, "f")->calls, 4); /* of the counter: there is no tree */
    assert_true(runs_line(f, 1)->is_partial);
    qp_cover_free(c);
}

/* Section 10: a missed function must not have hit lines. */
static void a_function_with_an_executed_block_is_hit(void **state)
{
    (void)state;
    run r = run_new(BOTH);
    qp_cell m = run_method(&r, "f", "a.lua", RUN_LINES(1, 2));
    run_counts(&r, m, RUN_VALUES(0, 1));
    qp_cover *c = runs_picture_of(r);
    assert_int_equal(runs_function(runs_file(c, "a.lua"), "f")->calls, 0);
    assert_true(runs_function(runs_file(c, "a.lua"), "f")->is_hit);
    qp_cover_free(c);
}

/* Section 10: an entry alone hits no line. */
static void an_entry_alone_hits_no_line(void **state)
{
    (void)state;
    run r = run_new(BOTH);
    qp_cell m = run_method(&r, "f", "a.lua", RUN_LINES(1, 2));
    run_calls(&r, m, 9);
    qp_cover *c = runs_picture_of(r);
    assert_true(runs_function(runs_file(c, "a.lua"), "f")->is_hit);
    assert_totals(c->totals, 2, 0, lines);
    qp_cover_free(c);
}

static void function_granularity_has_no_lines(void **state)
{
    (void)state;
    run r = run_new(BOTH);
    profile_head(r.p)->grain = QP_GRAIN_FUNCTION;
    qp_cell m = run_method(&r, "f", "a.lua", RUN_LINES(1, 2));
    run_method(&r, "g", "a.lua", RUN_LINES(4));
    run_calls(&r, m, 1);
    qp_cover *c = runs_picture_of(r);
    assert_int_equal(c->grain, QP_GRAIN_FUNCTION);
    assert_int_equal(runs_file(c, "a.lua")->n_lines, 0);
    assert_totals(c->totals, 2, 1, functions);
    assert_totals(c->totals, 0, 0, lines);
    assert_int_equal(runs_function(runs_file(c, "a.lua"), "g")->first_line, 4);
    assert_true(qp_cover_percent(0, 0) == 100.0);
    qp_cover_free(c);
}

/* What was called and not counted is not known; it is not missed. */
static void a_plain_profile_shows_the_lines_that_were_counted(void **state)
{
    (void)state;
    run r = run_new(QP_COLLECT_PROFILE);
    qp_cell f = run_method(&r, "f", "a.lua", RUN_LINES(1, 2));
    qp_cell g = run_method(&r, "g", "a.lua", RUN_LINES(4));
    run_calls(&r, f, 1);
    run_calls(&r, g, 1);
    run_counts(&r, f, RUN_VALUES(1, 0));
    qp_cover *c = runs_picture_of(r);
    assert_false(c->is_coverage);
    assert_totals(c->totals, 2, 1, lines);
    assert_totals(c->totals, 2, 2, functions);
    qp_cover_free(c);
}

/* A line of two functions is one line of the file and one of each function. */
static void functions_share_a_line(void **state)
{
    (void)state;
    run r = run_new(BOTH);
    qp_cell f = run_method(&r, "f", "a.lua", RUN_LINES(1, 2));
    qp_cell g = run_method(&r, "g", "a.lua", RUN_LINES(2, 3));
    run_calls(&r, f, 1);
    run_counts(&r, f, RUN_VALUES(1, 6));
    run_counts(&r, g, RUN_VALUES(0, 0));
    qp_cover *c = runs_picture_of(r);
    const qp_cover_file *file = runs_file(c, "a.lua");
    assert_totals(file->totals, 3, 2, lines);
    assert_int_equal(file->totals.lines_partial, 1);
    assert_int_equal(runs_line(file, 2)->count, 6);
    assert_totals(runs_function(file, "f")->totals, 2, 2, lines);
    assert_int_equal(runs_function(file, "f")->totals.lines_partial, 0);
    assert_totals(runs_function(file, "g")->totals, 2, 0, lines);
    qp_cover_free(c);
}

/* The same code loaded twice, with and without knowledge of its jumps, by several spellings. */
static void one_function_under_several_ids_adds_up(void **state)
{
    static const qp_jump jumps[] = {{0, 2}};
    (void)state;
    run r = run_new(BOTH);
    qp_cell a = run_method(&r, "f", "./lib//a.lua", RUN_LINES(1, 2, 3));
    qp_cell b = run_method(&r, "f", "lib\\x\\..\\a.lua", RUN_LINES(1, 2, 3));
    qp_cell other = run_method(&r, "f", "lib/a.lua", RUN_LINES(5)); /* a namesake */
    run_jumps(&r, b, jumps, 1, "110");
    run_calls(&r, a, 2);
    run_calls(&r, b, 3);
    run_counts(&r, a, RUN_VALUES(2, 1, 2));
    run_counts(&r, b, RUN_VALUES(2)); /* 3, 1, 3 */
    run_counts(&r, other, RUN_VALUES(7));
    qp_cover *c = runs_picture_of(r);
    const qp_cover_file *f = runs_file(c, "lib/a.lua");
    assert_int_equal(c->n_files, 1);
    assert_int_equal(f->n_functions, 2);
    assert_int_equal(f->functions[0].calls, 5);
    assert_int_equal(runs_line(f, 1)->count, 5);
    assert_int_equal(runs_line(f, 2)->count, 2);
    assert_int_equal(runs_line(f, 3)->count, 5);
    assert_int_equal(f->n_branches, 2);
    assert_int_equal(f->branches[0].count, 2);
    assert_int_equal(f->branches[1].count, 1);
    assert_int_equal(runs_line(f, 5)->count, 7);
    qp_cover_free(c);
}

static void once_says_whether_and_not_how_often(void **state)
{
    (void)state;
    run r = run_new(BOTH | QP_COLLECT_ONCE);
    qp_cell m = run_method(&r, "f", "a.lua", RUN_LINES(1, 2));
    run_calls(&r, m, 9);
    run_counts(&r, m, RUN_VALUES(9, 0));
    qp_cover *c = runs_picture_of(r);
    assert_true(c->is_once);
    assert_int_equal(runs_line(runs_file(c, "a.lua"), 1)->count, 1);
    assert_int_equal(runs_line(runs_file(c, "a.lua"), 2)->count, 0);
    qp_cover_free(c);
}

/* ---- contexts ---------------------------------------------------------------------------- */

/* Context a enters f and is in block 1 when b begins; there the call continues into block 2.
 * Then b enters f once more and jumps over block 1. Counters: jump 0-2, left, entry. */
static run context_run(void)
{
    static const qp_jump jumps[] = {{0, 2}, {QP_JUMP_LEFT, 1}, {QP_JUMP_ENTRY, 0}};
    run r = run_new(QP_COLLECT_COVERAGE);
    qp_cell m = run_method(&r, "f", "a.lua", RUN_LINES(1, 2, 3));
    run_jumps(&r, m, jumps, 3, "110");
    run_counts(&r, m, RUN_VALUES(1, 0, 2));
    qp_cell a = profile_context(r.p, "a"), b = profile_context(r.p, "b");
    run_share(&r, a, m, 1, RUN_SIGNED(0, 1, 1));
    profile_head(r.p)->context = b; /* has the rest: 1, -1, 1 */
    return r;
}

static void a_call_that_spans_two_contexts_belongs_to_both(void **state)
{
    (void)state;
    qp_cover *c = runs_picture_of(context_run());
    const qp_cover_file *f = runs_file(c, "a.lua");
    assert_int_equal(c->n_contexts, 2);
    static const uint64_t all[] = {2, 1, 2}, of_a[] = {1, 1, 0}, of_b[] = {1, 0, 2};
    for (uint32_t line = 1; line <= 3; line++) {
        assert_int_equal(runs_line(f, line)->count, all[line - 1]);
        assert_int_equal(runs_touch(c, f, line, "a"), of_a[line - 1]);
        assert_int_equal(runs_touch(c, f, line, "b"), of_b[line - 1]);
    }
    assert_int_equal(f->n_touches, 4);
    qp_cover_free(c);
}

static void only_what_the_wanted_contexts_hit_counts(void **state)
{
    static const char *const globs[] = {"[a]", "nowhere"};
    (void)state;
    qp_error error;
    qp_cover_set *s = runs_set();
    runs_add(s, context_run(), "run.qprof");
    qp_cover_options o = {.contexts = globs + 1, .n_contexts = 1};
    assert_null(qp_cover_derive(s, &o, &error));
    assert_string_equal(error.text, "no context fits \"nowhere\": 2 are known");
    o = (qp_cover_options){.contexts = globs, .n_contexts = 2};
    qp_cover *c = runs_picture(s, &o);
    const qp_cover_file *f = runs_file(c, "a.lua");
    assert_int_equal(runs_line(f, 1)->count, 1);
    assert_int_equal(runs_line(f, 3)->count, 0);
    assert_int_equal(runs_function(f, "f")->calls, 1);
    assert_totals(c->totals, 3, 2, lines);
    assert_int_equal(f->n_touches, 2);
    qp_cover_free(c);
}

/* The counters got lost in a plain profile, and a context's share of them did not. */
static void shares_of_what_has_no_lines_touch_none(void **state)
{
    (void)state;
    run r = run_new(QP_COLLECT_PROFILE);
    qp_cell m = run_method(&r, "f", "a.lua", RUN_LINES(1, 2));
    run_calls(&r, m, 1);
    run_share(&r, profile_context(r.p, "a"), m, 1, RUN_SIGNED(1, 1));
    qp_cover *c = runs_picture_of(r);
    assert_int_equal(runs_file(c, "a.lua")->n_lines, 0);
    assert_int_equal(runs_file(c, "a.lua")->n_touches, 0);
    qp_cover_free(c);
}

/* Cleared since: the shares are of what is gone. */
static void shares_of_cleared_data_are_nothing(void **state)
{
    (void)state;
    run r = context_run();
    profile_head(r.p)->clear_count = 1;
    ((qp_thread_record *)profile_at(r.p, r.thread))->clear_count = 1;
    qp_cover *c = runs_picture_of(r);
    const qp_cover_file *f = runs_file(c, "a.lua");
    assert_int_equal(runs_touch(c, f, 1, "a"), 0);
    assert_int_equal(runs_touch(c, f, 1, "b"), 2);
    assert_int_equal(runs_touch(c, f, 2, "b"), 1);
    qp_cover_free(c);
}

/* An entry at a negative code offset says where a function is declared; functions without a
 * table are not covered, where others have one. */
static void a_declaration_is_no_statement(void **state)
{
    static const qp_jump jumps[] = {{0, 2}, {QP_JUMP_ENTRY, 0}};
    (void)state;
    run r = run_new(QP_COLLECT_COVERAGE);
    qp_cell m = run_method(&r, "f", "a.lua", RUN_LINES(1, 2, 3));
    run_method(&r, "not covered", "b.lua", NULL, 0);
    qp_method *record = profile_at(r.p, m);
    ((qp_lines *)(void *)(r.p->bytes + (size_t)record->lines * 8))->lines[0].code_offset = -1;
    run_jumps(&r, m, jumps, 2, "110");
    run_counts(&r, m, RUN_VALUES(0, 6));
    qp_cover *c = runs_picture_of(r);
    assert_int_equal(c->n_files, 1);
    const qp_cover_file *f = runs_file(c, "a.lua");
    assert_totals(f->totals, 2, 2, lines);
    assert_totals(f->totals, 2, 2, blocks);
    assert_int_equal(f->n_branches, 0);
    assert_int_equal(f->lines[0].line, 2);
    assert_int_equal(f->functions[0].first_line, 1);
    assert_int_equal(f->functions[0].calls, 6);
    qp_cover_free(c);
}

/* A C function, or an unregistered one, is in no file. */
static void functions_without_a_file_are_in_no_figure(void **state)
{
    (void)state;
    run r = run_new(BOTH);
    qp_cell c_function = run_method(&r, "string.find", NULL, NULL, 0);
    qp_cell unknown = run_method(&r, "", "a.lua", NULL, 0);
    ((qp_method *)profile_at(r.p, unknown))->flags = 0;
    run_calls(&r, c_function, 5);
    run_calls(&r, unknown, 5);
    qp_cover *c = runs_picture_of(r);
    assert_int_equal(c->n_files, 0);
    assert_int_equal(c->n_dirs, 1);
    assert_int_equal(c->totals.functions, 0);
    qp_cover_free(c);
}

/* ---- memory ------------------------------------------------------------------------------ */

static void every_failing_allocation_is_an_error_and_no_leak(void **state)
{
    (void)state;
    qp_error error;
    run r = context_run();
    qp_model *m = profile_load(r.p, QP_LOAD_CLEAN);
    for (uint64_t n = 1, is_done = 0; !is_done; n++) {
        qp_alloc_fail_after(n, n % 2);
        qp_cover_set *s = qp_cover_set_new();
        bool is_added = s && qp_cover_set_add(s, m, "run.qprof", NULL, &error);
        qp_cover *c = is_added ? qp_cover_derive(s, NULL, &error) : NULL;
        is_done = qp_alloc_count() < n;
        qp_alloc_fail_after(0, false);
        assert_int_equal(c != NULL, is_done);
        if (s && !is_added)
            assert_string_equal(error.text, "run.qprof: there is not enough memory to add it");
        if (is_added && !c)
            assert_string_equal(error.text, "there is not enough memory for a report");
        if (s && !is_added)
            assert_int_equal(s->n_methods, 0);
        qp_cover_free(c);
        qp_cover_set_free(s);
    }
    qp_model_free(m);
    profile_free(r.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_that_was_never_called_is_missed),
        cmocka_unit_test(a_picture_keeps_what_its_runs_are),
        cmocka_unit_test(a_line_with_a_missed_block_is_partial_and_counts_as_hit),
        cmocka_unit_test(both_ways_of_a_conditional_jump_are_counted),
        cmocka_unit_test(branches_of_a_line_are_numbered),
        cmocka_unit_test(a_function_with_an_executed_block_is_hit),
        cmocka_unit_test(an_entry_alone_hits_no_line),
        cmocka_unit_test(function_granularity_has_no_lines),
        cmocka_unit_test(a_plain_profile_shows_the_lines_that_were_counted),
        cmocka_unit_test(functions_share_a_line),
        cmocka_unit_test(one_function_under_several_ids_adds_up),
        cmocka_unit_test(once_says_whether_and_not_how_often),
        cmocka_unit_test(a_call_that_spans_two_contexts_belongs_to_both),
        cmocka_unit_test(only_what_the_wanted_contexts_hit_counts),
        cmocka_unit_test(shares_of_what_has_no_lines_touch_none),
        cmocka_unit_test(shares_of_cleared_data_are_nothing),
        cmocka_unit_test(a_declaration_is_no_statement),
        cmocka_unit_test(functions_without_a_file_are_in_no_figure),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
