/* test_cover_diff.c: qii 46, the four sections of pc_diff; functions; lines of a patch. */
#include <string.h>

#include "base/containers/alloc.h"
#include "model/cover/cover.h"
#include "unit/runs.h"

/* A function whose line k was executed as often as the k-th digit says. */
static void add(run *r, const char *name, const char *file, int first, const char *digits)
{
    int lines[32];
    uint64_t counts[32];
    uint32_t n = (uint32_t)strlen(digits);
    for (uint32_t i = 0; i < n; i++) {
        lines[i] = first + (int)i;
        counts[i] = (uint64_t)(digits[i] - '0');
    }
    qp_cell m = run_method(r, name, file, lines, n);
    if (counts[0])
        run_calls(r, m, counts[0]);
    run_counts(r, m, counts, n);
}

/* 5 of 7 lines are 71 %, 24 of 25 are 96 %. */
static qp_cover *base_picture(void)
{
    run r = run_new(QP_COLLECT_COVERAGE);
    add(&r, "f", "better.lua", 1, "1111100");
    add(&r, "f", "worse.lua", 1, "11");
    add(&r, "g", "worse.lua", 5, "11");
    add(&r, "f", "gone.lua", 1, "10");
    add(&r, "f", "same.lua", 1, "10");
    add(&r, "g", "same.lua", 5, "01");
    return runs_picture_of(r);
}

static qp_cover *new_picture(void)
{
    run r = run_new(QP_COLLECT_COVERAGE);
    add(&r, "f", "better.lua", 1, "1111111111110111111111111");
    add(&r, "f", "worse.lua", 1, "11");
    add(&r, "g", "worse.lua", 5, "00");
    add(&r, "h", "worse.lua", 9, "1");
    add(&r, "f", "new.lua", 1, "1");
    add(&r, "f", "same.lua", 1, "10");
    add(&r, "g", "same.lua", 5, "01");
    return runs_picture_of(r);
}

/* Of hit lines; what is not there has none, and of nothing all are hit. */
static int percent_of(const qp_cover_totals *t)
{
    return t ? (int)qp_cover_percent(t->lines_hit, t->lines) : 100;
}

static void files_are_worse_improved_new_or_gone(void **state)
{
    (void)state;
    qp_cover *base = base_picture(), *now = new_picture();
    qp_cover_diff *d = qp_cover_diff_new(base, now);
    assert_non_null(d);
    static const struct {
        const char *path;
        qp_cover_change change;
        int base, now; /* percent */
    } wanted[] = {{"worse.lua", QP_CHANGE_WORSE, 100, 60},
                  {"better.lua", QP_CHANGE_IMPROVED, 71, 96},
                  {"new.lua", QP_CHANGE_NEW, 100, 100},
                  {"gone.lua", QP_CHANGE_GONE, 50, 100},
                  {"same.lua", QP_CHANGE_NONE, 50, 50}};
    assert_int_equal(d->n_files, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(d->files[i].name, wanted[i].path);
        assert_int_equal(d->files[i].change, wanted[i].change);
        assert_int_equal(d->n_changed[i], 1);
        assert_int_equal(percent_of(d->files[i].was), wanted[i].base);
        assert_int_equal(percent_of(d->files[i].is), wanted[i].now);
    }
    assert_null(d->files[2].was);
    assert_null(d->files[3].is);
    const qp_cover_diff_row *f = &d->files[0];
    assert_int_equal(f->n_functions, 2);
    assert_string_equal(f->functions[0].name, "g");
    assert_int_equal(f->functions[0].change, QP_CHANGE_WORSE);
    assert_string_equal(f->functions[1].name, "h");
    assert_int_equal(f->functions[1].change, QP_CHANGE_NEW);
    assert_int_equal(d->files[4].n_functions, 0);
    qp_cover_diff_free(d);
    qp_cover_free(base);
    qp_cover_free(now);
}

static void equal_shares_may_hide_changed_functions(void **state)
{
    (void)state;
    run r = run_new(QP_COLLECT_COVERAGE), q = run_new(QP_COLLECT_COVERAGE);
    add(&r, "f", "a.lua", 1, "1");
    add(&r, "f", "a.lua", 3, "0"); /* a namesake */
    add(&q, "f", "a.lua", 1, "0");
    add(&q, "f", "a.lua", 3, "1");
    qp_cover *base = runs_picture_of(r), *now = runs_picture_of(q);
    qp_cover_diff *d = qp_cover_diff_new(base, now);
    assert_int_equal(d->files[0].change, QP_CHANGE_NONE);
    assert_int_equal(d->files[0].n_functions, 2);
    assert_int_equal(d->files[0].functions[0].line, 1);
    assert_int_equal(d->files[0].functions[0].change, QP_CHANGE_WORSE);
    assert_int_equal(d->files[0].functions[1].change, QP_CHANGE_IMPROVED);
    qp_cover_diff_free(d);
    qp_cover_free(base);
    qp_cover_free(now);
}

/* The second function moved by four lines, and one was inserted before it. */
static void a_function_is_the_same_where_its_lines_moved(void **state)
{
    (void)state;
    run r = run_new(QP_COLLECT_COVERAGE), q = run_new(QP_COLLECT_COVERAGE);
    add(&r, "a.lua:1", "a.lua", 1, "11");
    add(&r, "a.lua:5", "a.lua", 5, "10");
    add(&q, "a.lua:1", "a.lua", 1, "11");
    add(&q, "a.lua:5", "a.lua", 5, "000");
    add(&q, "a.lua:9", "a.lua", 9, "10");
    qp_cover *base = runs_picture_of(r), *now = runs_picture_of(q);
    qp_cover_diff *d = qp_cover_diff_new(base, now);
    assert_int_equal(d->files[0].n_functions, 1);
    assert_int_equal(d->files[0].functions[0].line, 5);
    assert_int_equal(d->files[0].functions[0].change, QP_CHANGE_NEW);
    qp_cover_diff_free(d);
    d = qp_cover_diff_new(now, base);
    assert_int_equal(d->files[0].n_functions, 1);
    assert_int_equal(d->files[0].functions[0].change, QP_CHANGE_GONE);
    qp_cover_diff_free(d);
    qp_cover_free(base);
    qp_cover_free(now);
}

/* Lines 1 to 7 of better.lua are 1111100; 8 and 9 have no code. */
static void only_changed_lines_count(void **state)
{
    static const char text[] = "--- a/better.lua\n+++ b/better.lua\n"
                               "@@ -1,0 +2,2 @@\n+a\n+b\n"
                               "@@ -3,0 +5,5 @@\n+a\n+b\n+c\n+d\n+e\n"
                               "--- a/README\n+++ b/README\n@@ -0,0 +1 @@\n+a\n"
                               "--- a/gone.lua\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n";
    (void)state;
    qp_error error;
    qp_cover *c = base_picture();
    qp_patch *p = qp_patch_read(text, sizeof text - 1, &error);
    assert_non_null(p);
    qp_cover_changed *rows;
    size_t n;
    assert_true(qp_cover_changes(c, p, &rows, &n));
    assert_int_equal(n, 2);
    assert_string_equal(rows[0].file->path, "better.lua");
    assert_int_equal(rows[0].n_changed, 7);
    assert_int_equal(rows[0].n_lines, 5);
    assert_int_equal(rows[0].n_hit, 3);
    assert_int_equal(rows[0].n_missed, 1);
    assert_int_equal(rows[0].missed[0].first, 6);
    assert_int_equal(rows[0].missed[0].last, 7);
    assert_null(rows[1].file);
    assert_int_equal(rows[1].n_changed, 1);
    assert_int_equal(rows[1].n_lines, 0);
    qp_free(rows);
    qp_patch_free(p);
    qp_cover_free(c);
}

static void every_failing_allocation_is_an_error_and_no_leak(void **state)
{
    (void)state;
    qp_cover *base = base_picture(), *now = new_picture();
    for (uint64_t n = 1, is_done = 0; !is_done; n++) {
        qp_alloc_fail_after(n, true);
        qp_cover_diff *d = qp_cover_diff_new(base, now);
        is_done = qp_alloc_count() < n;
        qp_alloc_fail_after(0, false);
        assert_int_equal(d != NULL, is_done);
        qp_cover_diff_free(d);
    }
    qp_cover_free(base);
    qp_cover_free(now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_worse_improved_new_or_gone),
        cmocka_unit_test(equal_shares_may_hide_changed_functions),
        cmocka_unit_test(a_function_is_the_same_where_its_lines_moved),
        cmocka_unit_test(only_changed_lines_count),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
