/* test_diff.c: what changed between runs, and what of it is chance. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/containers/alloc.h"
#include "model/combine/combine.h"
#include "unit/profile.h"

/* ---- noise ------------------------------------------------------------------------------- */

static void fill(qp_noise *x, int side, const uint64_t *values)
{
    memcpy(x->sides[side].values, values, x->sides[side].n * sizeof *values);
}

/* @param base, new  [n_base], [n_new] */
static uint64_t noise_of(const uint64_t *base, uint32_t n_base, const uint64_t *new,
                         uint32_t n_new)
{
    qp_noise x;
    assert_true(qp_noise_init(&x, n_base, n_new));
    fill(&x, 0, base);
    fill(&x, 1, new);
    uint64_t noise = qp_noise_between(&x);
    qp_noise_fini(&x);
    return noise;
}
#define RUNS(...)                                                                              \
    (const uint64_t[])                                                                         \
    {                                                                                          \
        __VA_ARGS__                                                                            \
    }

/* Distances 10, 10, 20, 10, 10, 20: their median is 10 (of 10 and 10), k = 3.4 + 15 / 6 = 5.9;
 * 5.9 * 10 * sqrt(2 / 3) = 48.2. */
static void noise_comes_from_the_distances_between_runs(void **state)
{
    (void)state;
    assert_int_equal(noise_of(RUNS(110, 90, 100), 3, RUNS(210, 190, 200), 3), 49);
    /* 10, 10, 20 of base alone: k = 3.4 + 15 / 3 = 8.4; 8.4 * 10 * sqrt(1/3 + 1) = 96.99 */
    assert_int_equal(noise_of(RUNS(90, 100, 110), 3, RUNS(200), 1), 97);
    assert_int_equal(noise_of(RUNS(200), 1, RUNS(90, 100, 110), 3), 97);
    /* one pair: 47 * 20 * sqrt(1/2 + 1) = 1151.3 */
    assert_int_equal(noise_of(RUNS(90, 110), 2, RUNS(200), 1), 1152);
}

/* Ten distances of each side, four of them to the wild run: the median stays small. */
static void a_wild_run_does_not_make_noise(void **state)
{
    (void)state;
    uint64_t calm =
        noise_of(RUNS(100, 101, 102, 103, 104), 5, RUNS(100, 101, 102, 103, 104), 5);
    uint64_t wild =
        noise_of(RUNS(100, 101, 102, 103, 9999), 5, RUNS(100, 101, 102, 103, 9999), 5);
    assert_in_range(calm, 5, 8); /* (3.4 + 15 / 20) * 2 * sqrt(2 / 5) = 5.2 */
    assert_in_range(wild, 5, 11);
}

/* Estimates with standard deviations 3 and 4: 2.576 * 5 = 12.88. */
static void two_single_runs_have_the_noise_of_their_estimates(void **state)
{
    (void)state;
    qp_noise x;
    assert_true(qp_noise_init(&x, 1, 1));
    assert_int_equal(qp_noise_between(&x), 0);
    x.sides[0].variance = 9;
    x.sides[1].variance = 16;
    assert_int_equal(qp_noise_between(&x), 13);
    qp_noise_fini(&x);
}

static void the_median_of_four_lies_between_the_middle_two(void **state)
{
    (void)state;
    qp_noise_side side = {(uint64_t[]){1000, 10, 30, 20}, 4, 0};
    assert_int_equal(qp_noise_median(&side), 25);
}

static double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
}

/* A run of 1,000,000 on average, with a standard deviation of 10,000; in `wild` of 1 it is
 * disturbed ten times as much, and only ever slower. */
static uint64_t draw(uint64_t *seed, double wild)
{
    double deviate = sqrt(-2 * log(uniform(seed))) * cos(6.283185307179586 * uniform(seed));
    if (uniform(seed) < wild)
        deviate = 10 * fabs(deviate);
    return (uint64_t)(1000000 + 10000 * deviate);
}

/* How many of 100 comparisons see a change, if new is slower by `slower`. */
static double seen(uint32_t n_base, uint32_t n_new, double wild, uint64_t slower)
{
    enum { ROUNDS = 20000 };
    qp_noise x;
    uint64_t seed = n_base * 100 + n_new, n_seen = 0;
    assert_true(qp_noise_init(&x, n_base, n_new));
    for (int round = 0; round < ROUNDS; round++) {
        for (int side = 0; side < 2; side++)
            for (uint32_t i = 0; i < x.sides[side].n; i++)
                x.sides[side].values[i] = draw(&seed, wild) + (side ? slower : 0);
        uint64_t a = qp_noise_median(&x.sides[0]), b = qp_noise_median(&x.sides[1]);
        n_seen += (a > b ? a - b : b - a) > qp_noise_between(&x);
    }
    qp_noise_fini(&x);
    return (double)n_seen * 100 / ROUNDS;
}

static void one_of_a_hundred_that_did_not_change_seems_to(void **state)
{
    (void)state;
    static const uint32_t sides[][2] = {{1, 2}, {1, 3}, {1, 5},   {2, 2}, {2, 5},
                                        {3, 3}, {5, 5}, {10, 10}, {3, 8}};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        double percent = seen(sides[i][0], sides[i][1], 0, 0);
        if (percent < 0.1 || percent > 1.5)
            fail_msg("%u and %u runs: %.2f of 100", sides[i][0], sides[i][1], percent);
    }
}

static void disturbed_runs_neither_feign_a_change_nor_hide_one(void **state)
{
    (void)state;
    assert_true(seen(5, 5, 0.1, 0) < 2);
    assert_true(seen(5, 5, 0.1, 80000) > 90); /* 8 % slower, 1 % noise, every tenth run wild */
    assert_true(seen(10, 10, 0.1, 40000) > 90);
}

/* ---- rows -------------------------------------------------------------------------------- */

/* A run: main calls each function of the list; then a second thread `other`. */
typedef struct {
    const char *name;
    uint64_t calls, self;
} call;

static qp_model *run_of(const call *calls)
{
    profile *p = profile_new();
    qp_cell th = profile_thread(p), id = 1;
    qp_cell top = profile_node(p, th, 0, profile_method(p, id, "main", NULL, "a.lua"), 1, 10);
    for (; calls->name; calls++)
        profile_node(p, th, top, profile_method(p, ++id, calls->name, NULL, "a.lua"),
                     calls->calls, calls->self);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    return m;
}
#define RUN(...) run_of((const call[]){__VA_ARGS__, {NULL, 0, 0}})

/* Takes the model. */
static void add(qp_diff *d, qp_diff_side side, qp_model *m)
{
    qp_error error;
    assert_true(qp_diff_fits(d, m, &error));
    assert_true(qp_diff_add(d, side, m, QP_ALL_THREADS));
    qp_model_free(m);
}

static const qp_diff_row *row_named(const qp_diff *d, const char *name)
{
    const qp_diff_row *found = NULL;
    for (uint32_t i = 1; i < d->n_rows; i++) {
        if (strcmp(d->rows[i].name, name) != 0)
            continue;
        assert_null(found);
        found = &d->rows[i];
    }
    assert_non_null(found);
    return found;
}

static void assert_row(const qp_diff *d, const char *name, qp_diff_state state, int64_t calls,
                       int64_t self, int64_t total)
{
    const qp_diff_row *row = row_named(d, name);
    assert_int_equal(row->state, state);
    assert_int_equal(qp_diff_change(&row->calls), calls);
    assert_int_equal(qp_diff_change(&row->self), self);
    assert_int_equal(qp_diff_change(&row->total), total);
}

static void rows_are_new_gone_changed_or_alike(void **state)
{
    (void)state;
    qp_diff *d = qp_diff_new(QP_DIFF_FUNCTIONS, false);
    add(d, QP_DIFF_BASE, RUN({"f", 5, 50}, {"old", 1, 7}, {"same", 2, 3}));
    add(d, QP_DIFF_NEW, RUN({"same", 2, 3}, {"fresh", 4, 9}, {"f", 6, 40}));
    assert_true(qp_diff_finish(d));
    assert_row(d, "f", QP_DIFF_CHANGED, 1, -10, -10);
    assert_row(d, "old", QP_DIFF_GONE, -1, -7, -7);
    assert_row(d, "fresh", QP_DIFF_ADDED, 4, 9, 9);
    assert_row(d, "same", QP_DIFF_ALIKE, 0, 0, 0);
    assert_row(d, "main", QP_DIFF_ALIKE, 0, 0, -8); /* 50+7+3 -> 40+9+3 below it */
    assert_int_equal(d->n_states[QP_DIFF_CHANGED], 1);
    assert_int_equal(d->n_states[QP_DIFF_ALIKE], 2);
    assert_int_equal(d->rows[0].total.sides[QP_DIFF_BASE], 70);
    assert_int_equal(qp_diff_change(&d->rows[0].total), -8);
    assert_false(d->has_noise);
    qp_diff_free(d);
}

static qp_diff *compare(qp_diff_kind kind, qp_model *base, qp_model *new)
{
    qp_diff *d = qp_diff_new(kind, false);
    add(d, QP_DIFF_BASE, base);
    add(d, QP_DIFF_NEW, new);
    assert_true(qp_diff_finish(d));
    return d;
}

/* main calls f, which waited a part of its time, and g, which ran. */
static qp_model *waiting_run(uint64_t self, uint64_t off, uint64_t g)
{
    profile *p = profile_new();
    qp_cell th = profile_thread(p);
    qp_cell top = profile_node(p, th, 0, profile_method(p, 1, "main", NULL, "a.lua"), 1, 100);
    qp_cell f = profile_node(p, th, top, profile_method(p, 2, "f", NULL, "a.lua"), 1, self);
    profile_node(p, th, top, profile_method(p, 3, "g", NULL, "a.lua"), 1, g);
    profile_metrics(p, th, profile_more(p, th, f))->off = off;
    profile_head(p)->flags |= QP_FLAG_WAITS;
    return profile_read(p, QP_LOAD_CLEAN);
}

static void assert_sides(const qp_diff_figure *f, uint64_t base, uint64_t new)
{
    assert_int_equal(f->sides[QP_DIFF_BASE], base);
    assert_int_equal(f->sides[QP_DIFF_NEW], new);
}

/* f: 50, of which it waited 40, and 90, of which it waited 79. */
static void run_time_is_judged_where_there_is_waiting(void **state)
{
    (void)state;
    for (qp_diff_kind kind = QP_DIFF_FUNCTIONS; kind <= QP_DIFF_THREADS; kind++) {
        qp_diff *d = compare(kind, waiting_run(50, 40, 5), waiting_run(90, 79, 5));
        assert_true(d->has_waits && d->is_by_run);
        assert_sides(&d->rows[0].total, 155, 195);
        assert_sides(&d->rows[0].total_run, 115, 116);
        if (kind != QP_DIFF_THREADS) {
            assert_sides(&row_named(d, "f")->self_run, 10, 11);
            assert_sides(&row_named(d, "main")->total_run, 115, 116);
            assert_sides(&row_named(d, "main")->self_run, 100, 100);
            assert_sides(qp_diff_self(d, row_named(d, "f")), 10, 11);
            const qp_diff_row *f = row_named(d, "f");
            const qp_diff_figure wait = qp_diff_wait(&f->self, &f->self_run);
            assert_sides(&wait, 40, 79);
        }
        qp_diff_free(d);
    }
    qp_diff *d = compare(QP_DIFF_FUNCTIONS, waiting_run(50, 40, 5), waiting_run(90, 80, 5));
    assert_int_equal(row_named(d, "f")->state, QP_DIFF_CHANGED); /* it waited longer */
    assert_int_equal(row_named(d, "g")->state, QP_DIFF_ALIKE);
    qp_diff_free(d);
}

static void elapsed_time_is_judged_on_request_and_without_waiting(void **state)
{
    (void)state;
    qp_diff *d = qp_diff_new(QP_DIFF_FUNCTIONS, false);
    d->is_elapsed = true;
    add(d, QP_DIFF_BASE, waiting_run(50, 40, 5));
    add(d, QP_DIFF_NEW, waiting_run(90, 79, 5));
    assert_true(qp_diff_finish(d));
    assert_sides(qp_diff_total(d, &d->rows[0]), 155, 195);
    qp_diff_free(d);
    d = compare(QP_DIFF_FUNCTIONS, waiting_run(50, 1, 5), waiting_run(90, 1, 5));
    assert_true(d->has_waits && !d->is_by_run); /* less than 1 % of 155 and 195 */
    qp_diff_free(d);
    d = compare(QP_DIFF_FUNCTIONS, RUN({"f", 1, 50}, {"g", 1, 5}), waiting_run(90, 79, 5));
    assert_false(d->has_waits || d->is_by_run);
    qp_diff_free(d);
}

/* main and f called once each, and the collector 3 and 8 times. */
static void calls_of_the_collector_are_true_and_are_no_change(void **state)
{
    (void)state;
    static const char gc[] = "<Garbage collector>";
    for (qp_diff_kind kind = QP_DIFF_FUNCTIONS; kind <= QP_DIFF_THREADS; kind++) {
        qp_diff *d = compare(kind, RUN({"f", 1, 5}, {gc, 3, 7}), RUN({"f", 1, 5}, {gc, 8, 7}));
        assert_int_equal(d->n_states[QP_DIFF_CHANGED], 0);
        const qp_diff_row *whole = &d->rows[0], *row = &d->rows[1];
        assert_int_equal(whole->calls.sides[QP_DIFF_BASE], 5);
        assert_int_equal(whole->calls.sides[QP_DIFF_NEW], 10);
        assert_false(qp_diff_is_outside(&whole->calls));
        row = kind == QP_DIFF_THREADS ? row : row_named(d, gc);
        assert_int_equal(row->calls.sides[QP_DIFF_NEW], kind == QP_DIFF_THREADS ? 10 : 8);
        assert_false(qp_diff_is_outside(&row->calls));
        qp_diff_free(d);
    }
    qp_diff *d =
        compare(QP_DIFF_THREADS, RUN({"f", 1, 5}, {gc, 3, 7}), RUN({"f", 6, 5}, {gc, 1, 7}));
    assert_int_equal(d->rows[1].state, QP_DIFF_CHANGED); /* 5 calls more of f */
    qp_diff_free(d);
    d = compare(QP_DIFF_FUNCTIONS, RUN({"f", 1, 5}), RUN({"f", 1, 5}, {gc, 8, 7}));
    assert_row(d, gc, QP_DIFF_ADDED, 8, 7, 7); /* for its time */
    qp_diff_free(d);
}

/* f: 90, 100, 110 and 190, 200, 210 differ by 100 with noise 49; g: by 20 with the same. */
static void a_difference_within_the_noise_is_none(void **state)
{
    (void)state;
    qp_diff *d = qp_diff_new(QP_DIFF_FUNCTIONS, false);
    for (uint64_t i = 0; i < 3; i++) {
        add(d, QP_DIFF_BASE, RUN({"f", 1, 90 + 10 * i}, {"g", 1, 90 + 10 * i}));
        add(d, QP_DIFF_NEW, RUN({"f", 1, 210 - 10 * i}, {"g", 1, 110 + 10 * i}));
    }
    assert_true(qp_diff_finish(d));
    assert_row(d, "f", QP_DIFF_CHANGED, 0, 100, 100);
    assert_row(d, "g", QP_DIFF_ALIKE, 0, 20, 20);
    assert_int_equal(row_named(d, "f")->self.noise, 49);
    assert_true(d->has_noise);
    qp_diff_free(d);
}

/* g is in one run of three: the median of 0, 0, 5 is 0, but it is in base. */
static void a_run_without_the_function_counts_as_nothing(void **state)
{
    (void)state;
    qp_diff *d = qp_diff_new(QP_DIFF_FUNCTIONS, false);
    add(d, QP_DIFF_BASE, RUN({"f", 1, 5}));
    add(d, QP_DIFF_BASE, RUN({"g", 1, 5}));
    add(d, QP_DIFF_BASE, RUN({"f", 1, 5}));
    add(d, QP_DIFF_NEW, RUN({"f", 1, 5}));
    assert_true(qp_diff_finish(d));
    assert_int_equal(row_named(d, "g")->self.sides[QP_DIFF_BASE], 0);
    assert_int_equal(row_named(d, "g")->state, QP_DIFF_GONE);
    assert_int_equal(row_named(d, "f")->state, QP_DIFF_ALIKE);
    qp_diff_free(d);
}

/* The same name in another file is another function; two of one name in one file are one. */
static void functions_match_by_name_and_file(void **state)
{
    (void)state;
    qp_diff *d = qp_diff_new(QP_DIFF_FUNCTIONS, false);
    profile *p = profile_new();
    qp_cell th = profile_thread(p);
    qp_cell f = profile_node(p, th, 0, profile_method(p, 1, "f", NULL, "a.lua"), 1, 4);
    profile_node(p, th, f, profile_method(p, 2, "f", NULL, "a.lua"), 1, 5);
    profile_node(p, th, 0, profile_method(p, 3, "f", NULL, "b.lua"), 1, 6);
    add(d, QP_DIFF_BASE, profile_load(p, QP_LOAD_CLEAN));
    add(d, QP_DIFF_NEW, profile_load(p, QP_LOAD_CLEAN));
    assert_true(qp_diff_finish(d));
    assert_int_equal(d->n_rows, 3);
    assert_int_equal(d->rows[1].self.sides[QP_DIFF_BASE], 9);
    assert_int_equal(d->rows[1].total.sides[QP_DIFF_BASE], 9); /* one inside the other: once */
    assert_string_equal(d->rows[2].file, "b.lua");
    assert_int_equal(d->rows[2].self.sides[QP_DIFF_NEW], 6);
    qp_diff_free(d);
    profile_free(p);
}

/* 100 samples of 10 ticks have a standard deviation of 100, 36 of 10 one of 60: noise
 * 2.576 * sqrt(10000 + 3600) = 300.4. */
static void estimated_times_bring_their_own_noise(void **state)
{
    (void)state;
    qp_diff *d = qp_diff_new(QP_DIFF_FUNCTIONS, false);
    for (int side = 0; side < QP_DIFF_SIDES; side++) {
        profile *p = profile_new();
        profile_head(p)->time_mode = QP_TIME_SAMPLED;
        qp_cell th = profile_thread(p);
        uint64_t n = side ? 36 : 100;
        qp_cell f = profile_call(p, th, 0, 1, "f", 3, 10 * n);
        ((qp_node *)profile_at(p, f))->self_max = n;
        add(d, (qp_diff_side)side, profile_load(p, QP_LOAD_CLEAN));
        profile_free(p);
    }
    assert_true(qp_diff_finish(d));
    /* intervals are kept as whole ticks: 196 and 117.6, rounded */
    assert_in_range(row_named(d, "f")->self.noise, 300, 303);
    assert_row(d, "f", QP_DIFF_CHANGED, 0, -640, -640);
    assert_true(d->has_noise);
    qp_diff_free(d);
}

static void a_run_differs_from_itself_in_nothing(void **state)
{
    (void)state;
    for (int kind = QP_DIFF_FUNCTIONS; kind <= QP_DIFF_THREADS; kind++) {
        qp_diff *d = qp_diff_new((qp_diff_kind)kind, false);
        add(d, QP_DIFF_BASE, RUN({"f", 5, 50}, {"g", 1, 7}));
        add(d, QP_DIFF_NEW, RUN({"f", 5, 50}, {"g", 1, 7}));
        assert_true(qp_diff_finish(d));
        assert_true(d->n_rows > 1);
        assert_int_equal(d->n_states[QP_DIFF_ALIKE], d->n_rows - 1);
        qp_diff_free(d);
    }
}

/* main, main > f and main > g > f on one thread, main > f on another. */
static void paths_of_all_threads_are_one_tree(void **state)
{
    (void)state;
    qp_diff *d = qp_diff_new(QP_DIFF_PATHS, false);
    profile *p = profile_new();
    qp_cell one = profile_thread(p), two = profile_thread(p);
    qp_cell top = profile_method(p, 1, "main", NULL, NULL),
            f = profile_method(p, 2, "f", NULL, NULL);
    qp_cell main_1 = profile_node(p, one, 0, top, 1, 1);
    profile_node(p, one, main_1, f, 2, 10);
    qp_cell g = profile_call(p, one, main_1, 3, "g", 1, 3);
    profile_node(p, one, g, f, 1, 20);
    profile_node(p, two, profile_node(p, two, 0, top, 1, 1), f, 3, 100);
    add(d, QP_DIFF_BASE, profile_load(p, QP_LOAD_CLEAN));
    ((qp_node *)profile_at(p, g))->self = 5;
    add(d, QP_DIFF_NEW, profile_load(p, QP_LOAD_CLEAN));
    assert_true(qp_diff_finish(d));
    assert_int_equal(d->n_rows, 5);
    const qp_diff_row *rows = d->rows;
    assert_string_equal(rows[2].name, "f");
    assert_int_equal(rows[2].parent, 1);
    assert_int_equal(rows[2].depth, 2);
    assert_int_equal(rows[2].calls.sides[QP_DIFF_BASE], 5);
    assert_int_equal(rows[2].self.sides[QP_DIFF_BASE], 110);
    assert_string_equal(rows[rows[4].parent].name, "g");
    assert_int_equal(qp_diff_change(&rows[3].self), 2);
    assert_int_equal(qp_diff_change(&rows[1].total), 2);
    assert_int_equal(d->n_states[QP_DIFF_CHANGED], 1);
    qp_diff_free(d);
    profile_free(p);
}

/* sleep waits: neither it nor its time is compared. */
static void functions_that_wait_can_be_ignored(void **state)
{
    (void)state;
    for (int kind = QP_DIFF_FUNCTIONS; kind <= QP_DIFF_PATHS; kind++) {
        qp_diff *d = qp_diff_new((qp_diff_kind)kind, true);
        profile *p = profile_new();
        qp_cell th = profile_thread(p), sleep = profile_method(p, 1, "sleep", NULL, NULL);
        qp_cell f = profile_call(p, th, 0, 2, "f", 1, 4);
        qp_cell wait = profile_node(p, th, f, sleep, 1, 1000);
        ((qp_method *)profile_at(p, sleep))->flags |= QP_METHOD_WAITS;
        add(d, QP_DIFF_BASE, profile_load(p, QP_LOAD_CLEAN));
        ((qp_node *)profile_at(p, wait))->self = 2000;
        add(d, QP_DIFF_NEW, profile_load(p, QP_LOAD_CLEAN));
        assert_true(qp_diff_finish(d));
        assert_int_equal(d->n_rows, 2);
        assert_int_equal(d->rows[0].total.sides[QP_DIFF_BASE], 4);
        assert_int_equal(qp_diff_change(&d->rows[0].total), 0);
        qp_diff_free(d);
        profile_free(p);
    }
}

static void runs_of_different_clocks_do_not_fit(void **state)
{
    (void)state;
    qp_error error;
    qp_diff *d = qp_diff_new(QP_DIFF_FUNCTIONS, false);
    profile *p = profile_new();
    profile_node(p, profile_thread(p), 0, profile_method(p, 1, "f", NULL, NULL), 1, 1);
    add(d, QP_DIFF_BASE, profile_load(p, QP_LOAD_CLEAN));
    profile_head(p)->clock_kind = QP_CLOCK_USER;
    qp_model *m = profile_load(p, QP_LOAD_CLEAN);
    assert_false(qp_diff_fits(d, m, &error));
    assert_string_equal(error.text,
                        "it has user time and the other runs have elapsed time: they "
                        "cannot be compared");
    qp_model_free(m);
    profile_head(p)->clock_kind = QP_CLOCK_COUNTS;
    m = profile_load(p, QP_LOAD_CLEAN);
    assert_false(qp_diff_fits(d, m, &error));
    assert_string_equal(error.text,
                        "its figures are counts and those of the other runs ns: they "
                        "cannot be compared");
    qp_model_free(m);
    qp_diff_free(d);
    profile_free(p);
}

/* A thread that the new run does not have: its functions are gone. */
static void a_run_without_the_thread_has_nothing(void **state)
{
    (void)state;
    qp_diff *d = qp_diff_new(QP_DIFF_FUNCTIONS, false);
    qp_model *m = RUN({"f", 5, 50});
    assert_true(qp_diff_add(d, QP_DIFF_BASE, m, 1));
    assert_true(qp_diff_add(d, QP_DIFF_NEW, m, QP_DIFF_NO_THREAD));
    assert_true(qp_diff_finish(d));
    assert_row(d, "f", QP_DIFF_GONE, -5, -50, -50);
    assert_int_equal(qp_diff_change(&d->rows[0].total), -60);
    qp_model_free(m);
    qp_diff_free(d);
}

static bool compare_all(qp_diff_kind kind, const qp_model *m)
{
    qp_diff *d = qp_diff_new(kind, false);
    bool is_ok = d && qp_diff_add(d, QP_DIFF_BASE, m, QP_ALL_THREADS) &&
                 qp_diff_add(d, QP_DIFF_NEW, m, QP_ALL_THREADS) && qp_diff_finish(d);
    qp_diff_free(d);
    return is_ok;
}

static void without_memory_there_is_no_diff(void **state)
{
    (void)state;
    qp_model *m = RUN({"f", 5, 50}, {"g", 1, 7});
    for (int kind = QP_DIFF_FUNCTIONS; kind <= QP_DIFF_THREADS; kind++) {
        bool is_ok = false;
        for (uint64_t n = 1; !is_ok; n++) {
            assert_true(n < 200);
            qp_alloc_fail_after(n, false);
            is_ok = compare_all((qp_diff_kind)kind, m);
            is_ok &= qp_alloc_count() < n;
            qp_alloc_fail_after(0, false);
        }
    }
    qp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_comes_from_the_distances_between_runs),
        cmocka_unit_test(a_wild_run_does_not_make_noise),
        cmocka_unit_test(two_single_runs_have_the_noise_of_their_estimates),
        cmocka_unit_test(the_median_of_four_lies_between_the_middle_two),
        cmocka_unit_test(one_of_a_hundred_that_did_not_change_seems_to),
        cmocka_unit_test(disturbed_runs_neither_feign_a_change_nor_hide_one),
        cmocka_unit_test(rows_are_new_gone_changed_or_alike),
        cmocka_unit_test(calls_of_the_collector_are_true_and_are_no_change),
        cmocka_unit_test(run_time_is_judged_where_there_is_waiting),
        cmocka_unit_test(elapsed_time_is_judged_on_request_and_without_waiting),
        cmocka_unit_test(a_difference_within_the_noise_is_none),
        cmocka_unit_test(a_run_without_the_function_counts_as_nothing),
        cmocka_unit_test(functions_match_by_name_and_file),
        cmocka_unit_test(estimated_times_bring_their_own_noise),
        cmocka_unit_test(a_run_differs_from_itself_in_nothing),
        cmocka_unit_test(paths_of_all_threads_are_one_tree),
        cmocka_unit_test(functions_that_wait_can_be_ignored),
        cmocka_unit_test(runs_of_different_clocks_do_not_fit),
        cmocka_unit_test(a_run_without_the_thread_has_nothing),
        cmocka_unit_test(without_memory_there_is_no_diff),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
