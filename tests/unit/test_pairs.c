/* test_pairs.c: which function of one run is which of another, whose lines have moved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/containers/alloc.h"
#include "model/combine/combine.h"
#include "model/figures/figures.h"
#include "unit/profile.h"

/* ---- names ------------------------------------------------------------------------------- */

static void the_stem_of_a_name_has_no_line_and_no_number(void **state)
{
    (void)state;
    static const struct {
        const char *name, *stem;
        bool is_bracketed;
        uint32_t line, number;
    } rows[] = {
        {"f", "f", false, 0, 0},
        {"a.lua:12", "a.lua", false, 12, 0},
        {"a.lua:12#3", "a.lua", false, 12, 3},
        {"argument 1 of map at a.lua:7", "argument 1 of map at a.lua", false, 7, 0},
        {"main chunk of [string from a.lua:3]", "main chunk of [string from a.lua", true, 3, 0},
        {"function of [string from a.lua:3]#2", "function of [string from a.lua", true, 3, 2},
        {"u.f#2", "u.f", false, 0, 2},
        {"12", "12", false, 0, 0},
        {":12", ":12", false, 0, 0},
        {"#2", "#2", false, 0, 0},
        {"a:", "a:", false, 0, 0},
        {"a:1234567890123", "a:1234567890123", false, 0, 0},
        {"", "", false, 0, 0},
        {"]", "]", false, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qp_name_stem s = qp_name_stem_of(rows[i].name);
        assert_int_equal(s.n, strlen(rows[i].stem));
        assert_memory_equal(s.text, rows[i].stem, s.n);
        assert_int_equal(s.is_bracketed, rows[i].is_bracketed);
        assert_int_equal(s.line, rows[i].line);
        assert_int_equal(s.number, rows[i].number);
    }
    qp_name_stem a = qp_name_stem_of("[a:1]"), b = qp_name_stem_of("[a:2]"),
                 c = qp_name_stem_of("[a:1");
    assert_true(qp_name_stem_equals(&a, &b));
    assert_false(qp_name_stem_equals(&a, &c));
}

/* ---- lists ------------------------------------------------------------------------------- */

enum { MOST = 8 };

/* @param expected  [n_b] for each of b the index in a, or -1 */
static void assert_match(const qp_pair_item *a, uint32_t n_a, const qp_pair_item *b,
                         uint32_t n_b, const int *expected)
{
    uint32_t to[MOST];
    assert_true(qp_pair_functions(a, n_a, b, n_b, to));
    for (uint32_t k = 0; k < n_b; k++)
        assert_int_equal((int)to[k], expected[k]);
}
#define ITEMS(...)                                                                             \
    (const qp_pair_item[]){__VA_ARGS__},                                                       \
        sizeof((const qp_pair_item[]){__VA_ARGS__}) / sizeof(qp_pair_item)
#define TO(...) ((const int[]){__VA_ARGS__})

static void an_inserted_function_leaves_the_others_their_partners(void **state)
{
    (void)state;
    /* of another shape */
    assert_match(ITEMS({"a:10", 1, 5}, {"a:20", 1, 7}),
                 ITEMS({"a:10", 1, 5}, {"a:15", 2, 9}, {"a:25", 1, 7}), TO(0, -1, 1));
    /* of the same shape, on the line where the other one was: calls tell */
    assert_match(ITEMS({"a:10", 1, 5}, {"a:20", 1, 7}),
                 ITEMS({"a:10", 1, 5}, {"a:20", 1, 9}, {"a:30", 1, 7}), TO(0, -1, 1));
    /* first and last; one less */
    assert_match(ITEMS({"a:10", 1, 5}, {"a:20", 2, 7}),
                 ITEMS({"a:5", 3, 1}, {"a:15", 1, 5}, {"a:25", 2, 7}, {"a:30", 3, 1}),
                 TO(-1, 0, 1, -1));
    assert_match(ITEMS({"a:10", 1, 5}, {"a:20", 2, 7}, {"a:30", 1, 6}),
                 ITEMS({"a:10", 1, 5}, {"a:15", 1, 6}), TO(0, 2));
}

static void equals_are_matched_in_order(void **state)
{
    (void)state;
    assert_match(ITEMS({"a:1", 1, 5}, {"a:1#2", 1, 5}), ITEMS({"a:2", 1, 5}, {"a:2#2", 1, 5}),
                 TO(0, 1));
    assert_match(ITEMS({"a:1", 1, 5}), ITEMS({"a:2", 1, 5}, {"a:2#2", 1, 5}), TO(0, -1));
    /* nothing in common but the order, with and without a pair between */
    assert_match(ITEMS({"a:1", 1, 5}, {"a:2", 2, 6}), ITEMS({"a:3", 3, 7}, {"a:4", 4, 8}),
                 TO(0, 1));
    assert_match(ITEMS({"a:1", 1, 5}, {"a:2", 2, 6}, {"a:3", 3, 7}),
                 ITEMS({"a:4", 9, 1}, {"a:5", 2, 6}, {"a:6", 8, 1}, {"a:7", 7, 1}),
                 TO(0, 1, -1, -1));
}

/* One body changed and lines stayed: its name tells. Without shapes, names and order do. */
static void a_changed_body_keeps_its_name(void **state)
{
    (void)state;
    assert_match(ITEMS({"a:1", 1, 5}, {"a:2", 2, 6}),
                 ITEMS({"a:1", 9, 4}, {"a:2", 2, 6}, {"a:9", 3, 3}), TO(0, 1, -1));
    assert_match(ITEMS({"a:1", 0, 5}, {"a:4", 0, 6}, {"a:9", 0, 6}),
                 ITEMS({"a:1", 0, 3}, {"a:9", 0, 2}), TO(0, 2));
}

static void an_empty_list_has_no_pairs(void **state)
{
    (void)state;
    uint32_t to[1] = {7};
    assert_true(qp_pair_functions(NULL, 0, &(qp_pair_item){"a", 1, 1}, 1, to));
    assert_int_equal(to[0], QP_PAIR_NONE);
    assert_true(qp_pair_functions(&(qp_pair_item){"a", 1, 1}, 1, NULL, 0, to));
}

/* 3,000 and 3,000 are too many to weigh: equal names are found. */
static void long_lists_are_matched_by_name(void **state)
{
    (void)state;
    enum { N = 3000 };
    static char names[N][16];
    static qp_pair_item a[N], b[N];
    static uint32_t to[N];
    for (uint32_t i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "a:%u", i + 1);
        a[i] = (qp_pair_item){names[i], 1, i};
    }
    for (uint32_t i = 0; i < N; i++) /* the first one is gone, and calls have changed */
        b[i] = (qp_pair_item){i + 1 < N ? names[i + 1] : "a:9999", 1, i + 7};
    assert_true(qp_pair_functions(a, N, b, N, to));
    for (uint32_t i = 0; i + 1 < N; i++)
        assert_int_equal(to[i], i + 1);
    assert_int_equal(to[N - 1], QP_PAIR_NONE);
}

/* ---- runs -------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    int line, last; /* of its two blocks */
    uint64_t calls;
} function;

static qp_model *run_of(const function *f)
{
    profile *p = profile_new();
    qp_cell th = profile_thread(p);
    for (uint64_t id = 1; f->name; f++, id++) {
        const qp_line lines[] = {{0, f->line}, {3, f->last}};
        qp_cell method = profile_method(p, id, f->name, NULL, "a.lua");
        ((qp_method *)profile_at(p, method))->lines = profile_lines(p, lines, 2);
        profile_node(p, th, 0, method, f->calls, 10 * f->calls);
    }
    return profile_read(p, QP_LOAD_CLEAN);
}
#define RUN(...) run_of((const function[]){__VA_ARGS__, {NULL, 0, 0, 0}})

static void add(qp_diff *d, qp_diff_side side, qp_model *m)
{
    assert_true(qp_diff_add(d, side, m, QP_ALL_THREADS));
    qp_model_free(m);
}

static const qp_diff_row *row_at(const qp_diff *d, uint32_t line)
{
    for (uint32_t i = 1; i < d->n_rows; i++)
        if (d->rows[i].line == line)
            return &d->rows[i];
    fail_msg("no row of line %u", line);
    return NULL;
}

static void assert_row(const qp_diff *d, uint32_t line, const char *name, uint64_t base,
                       uint64_t new)
{
    const qp_diff_row *row = row_at(d, line);
    assert_string_equal(row->name, name);
    assert_int_equal(row->calls.sides[QP_DIFF_BASE], base);
    assert_int_equal(row->calls.sides[QP_DIFF_NEW], new);
}

/* In each run each of them was called first; the order of calls does not matter. */
static void a_diff_shows_the_inserted_function_alone(void **state)
{
    (void)state;
    for (int kind = QP_DIFF_FUNCTIONS; kind <= QP_DIFF_PATHS; kind++) {
        qp_diff *d = qp_diff_new((qp_diff_kind)kind, false);
        add(d, QP_DIFF_BASE, RUN({"a.lua:20", 20, 21, 7}, {"a.lua:10", 10, 11, 5}));
        add(d, QP_DIFF_BASE, RUN({"a.lua:10", 10, 11, 5}, {"a.lua:20", 20, 21, 7}));
        add(d, QP_DIFF_NEW,
            RUN({"a.lua:15", 15, 18, 3}, {"a.lua:25", 25, 26, 7}, {"a.lua:10", 10, 11, 5}));
        add(d, QP_DIFF_NEW, RUN({"a.lua:25", 25, 26, 7}, {"a.lua:10", 10, 11, 5}));
        assert_true(qp_diff_finish(d));
        assert_int_equal(d->n_rows, 4);
        assert_row(d, 10, "a.lua:10", 5, 5);
        assert_row(d, 25, "a.lua:25", 7, 7);
        assert_row(d, 15, "a.lua:15", 0, 1); /* 3 and 0: the mean is rounded down */
        assert_int_equal(d->n_states[QP_DIFF_ADDED], 1);
        assert_int_equal(d->n_states[QP_DIFF_ALIKE], 2);
        qp_diff_free(d);
    }
}

/* Two functions of one name at different lines are two rows; one that was loaded again is one. */
static void namesakes_are_rows_of_their_own(void **state)
{
    (void)state;
    qp_diff *d = qp_diff_new(QP_DIFF_FUNCTIONS, false);
    add(d, QP_DIFF_BASE, RUN({"f", 10, 11, 5}, {"f", 20, 21, 7}, {"f", 10, 11, 1}));
    add(d, QP_DIFF_NEW, RUN({"f", 12, 13, 8}, {"f", 22, 23, 9}));
    assert_true(qp_diff_finish(d));
    assert_int_equal(d->n_rows, 3);
    assert_row(d, 12, "f", 6, 8);
    assert_row(d, 22, "f", 7, 9);
    qp_diff_free(d);
}

static void methods_of_either_run_lead_to_their_rows(void **state)
{
    (void)state;
    qp_model *base = RUN({"a.lua:10", 10, 11, 5}, {"g", 30, 31, 0}),
             *new = RUN({"h", 1, 2, 1}, {"a.lua:12", 12, 13, 5});
    qp_diff *d = qp_diff_new(QP_DIFF_FUNCTIONS, false);
    assert_true(qp_diff_add(d, QP_DIFF_BASE, base, QP_ALL_THREADS));
    assert_true(qp_diff_add(d, QP_DIFF_NEW, new, QP_ALL_THREADS));
    assert_true(qp_diff_finish(d));
    uint32_t row = qp_diff_function(d, QP_DIFF_BASE, profile_index(base, "a.lua:10"));
    assert_int_equal(row, 1);
    assert_int_equal(qp_diff_function(d, QP_DIFF_NEW, profile_index(new, "a.lua:12")), row);
    assert_int_equal(qp_diff_function(d, QP_DIFF_NEW, profile_index(new, "h")), 2);
    assert_int_equal(qp_diff_function(d, QP_DIFF_BASE, profile_index(base, "g")), 0);
    qp_diff_free(d);
    qp_model_free(base);
    qp_model_free(new);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stem_of_a_name_has_no_line_and_no_number),
        cmocka_unit_test(an_inserted_function_leaves_the_others_their_partners),
        cmocka_unit_test(equals_are_matched_in_order),
        cmocka_unit_test(a_changed_body_keeps_its_name),
        cmocka_unit_test(an_empty_list_has_no_pairs),
        cmocka_unit_test(long_lists_are_matched_by_name),
        cmocka_unit_test(a_diff_shows_the_inserted_function_alone),
        cmocka_unit_test(namesakes_are_rows_of_their_own),
        cmocka_unit_test(methods_of_either_run_lead_to_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
