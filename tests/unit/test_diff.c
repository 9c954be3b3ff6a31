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

/* ---- gates ------------------------------------------------------------------------------- */

/* From a table of Student's t, and of the normal distribution. */
static void the_t_distribution_is_that_of_the_tables(void **state)
{
    (void)state;
    static const struct {
        double freedom, chance, t;
    } table[] = {{1, 0.01, 31.8205}, {2, 0.05, 2.91999},  {4, 0.01, 3.74695},
                 {8, 0.01, 2.89646}, {8, 0.0005, 5.0413}, {30, 0.025, 2.04227},
                 {0, 0.01, 2.32635}, {0, 0.0005, 3.29053}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const double t = table[i].t, chance = table[i].chance, freedom = table[i].freedom;
        assert_true(fabs(qp_student_value(chance, freedom) / t - 1) < 1e-4);
        assert_true(fabs(qp_student_above(t, freedom) / chance - 1) < 1e-3);
        assert_true(fabs(qp_student_above(-t, freedom) + chance - 1) < 1e-4);
    }
}

/* Of five runs a side: a figure that grew by `percent` with an error of `error` percent, and may grow by
 * `limit` percent. */
static qp_gate_item item_of(uint32_t row, double percent, double error, double limit)
{
    qp_gate_item item = {.row = row};
    item.growth.log = log1p(percent / 100);
    item.growth.error = error / 100;
    item.growth.spread = error / 100 / sqrt(0.4);
    item.growth.freedom = 8;
    item.limit = item.least = log1p(limit / 100);
    return item;
}

static const qp_gate_item *judge(qp_gate_item *items, size_t n, uint32_t row)
{
    qp_gate_judge(items, n, 5);
    while (items->row != row)
        items++;
    return items;
}

/* With 8 degrees of freedom t is 2.896 for 1 of 100, and 3.833 for 1 of 400. */
static void a_gate_fails_passes_or_cannot_tell(void **state)
{
    (void)state;
    enum { N = 5 };
    qp_gate_item items[N] = {
        item_of(1, 30, 2, 20), /* ln 1.3 = 0.262 is 13 errors */
        item_of(2, 1, 2, 20),  /* at most 1 + 6 % */
        item_of(3, 1, 7, 20),  /* ln 1.01 + 7 % * 2.896 = 0.2127; ln 1.2 = 0.1823 */
        item_of(4, 30, 9, 20), /* 2.915 errors, and four others are left */
        item_of(5, -40, 9, 20)};
    assert_int_equal(judge(items, N, 1)->verdict, QP_VERDICT_FAIL);
    assert_int_equal(judge(items, N, 2)->verdict, QP_VERDICT_PASS);
    assert_int_equal(judge(items, N, 3)->verdict, QP_VERDICT_UNSURE);
    assert_int_equal(judge(items, N, 4)->verdict, QP_VERDICT_UNSURE);
    assert_int_equal(judge(items, N, 5)->verdict, QP_VERDICT_PASS);
    /* 0.1724 = 0.1107 * t * sqrt(2 / n): with 6 runs t is 2.697, and 2.764 is needed; with 7 2.914, and 2.681 */
    assert_int_equal(judge(items, N, 3)->n_runs, 7);
    qp_gate_item alone = item_of(4, 30, 9, 20);
    assert_int_equal(judge(&alone, 1, 4)->verdict, QP_VERDICT_FAIL); /* 2.915 > 2.896 */
}

/* The least of ten chances must be below 1 of 1,000: 4.501 errors. 20 % is 4.56 errors of 4 %, 4.34 of 4.2 %. */
static void many_figures_need_more_certainty(void **state)
{
    (void)state;
    enum { N = 10 };
    for (int is_enough = 0; is_enough < 2; is_enough++) {
        qp_gate_item items[N];
        for (uint32_t i = 0; i < N; i++)
            items[i] = item_of(i, 0, 4, 10);
        items[3] = item_of(3, 20, is_enough ? 4 : 4.2, 10);
        assert_int_equal(judge(items, N, 3)->verdict,
                         is_enough ? QP_VERDICT_FAIL : QP_VERDICT_UNSURE);
        assert_int_equal(judge(items, N, 4)->verdict, QP_VERDICT_UNSURE); /* 11.6 % > ln 1.1 */
    }
}

/* ln 1.14 is 3.047 errors of 4.3 %: more than 2.896, and less than the 3.355 of 1 of 200. */
static void a_figure_that_failed_is_no_chance_for_the_next(void **state)
{
    (void)state;
    qp_gate_item items[2] = {item_of(0, 30, 2, 10), item_of(1, 14, 4.3, 10)};
    assert_int_equal(judge(items, 2, 1)->verdict, QP_VERDICT_FAIL);
    qp_gate_item calm[2] = {item_of(0, 0, 2, 10), item_of(1, 14, 4.3, 10)};
    assert_int_equal(judge(calm, 2, 1)->verdict, QP_VERDICT_UNSURE);
}

static void what_does_not_matter_does_not_hold_up_a_gate(void **state)
{
    (void)state;
    qp_gate_item item = item_of(0, 10, 20, 20);
    assert_int_equal(judge(&item, 1, 0)->verdict, QP_VERDICT_UNSURE);
    item.least = log(3); /* 1.0986; ln 1.1 + 20 % * 2.896 = 0.6746 */
    assert_int_equal(judge(&item, 1, 0)->verdict, QP_VERDICT_PASS);
    item = item_of(0, 300, 10, 20);
    item.least = log(5);
    assert_int_equal(judge(&item, 1, 0)->verdict, QP_VERDICT_FAIL); /* that is certain */
}

static void without_noise_what_is_above_the_limit_is_not_certain(void **state)
{
    (void)state;
    qp_gate_item items[2] = {item_of(0, 30, 0, 20), item_of(1, 19, 0, 20)};
    items[0].growth.error = items[1].growth.error = -1;
    assert_int_equal(judge(items, 2, 0)->verdict, QP_VERDICT_UNSURE);
    assert_int_equal(judge(items, 2, 0)->n_runs, QP_RUNS_USUAL);
    assert_int_equal(judge(items, 2, 1)->verdict, QP_VERDICT_PASS);
    qp_gate_item exact = item_of(0, 30, 0, 20); /* an error of 0 */
    assert_int_equal(judge(&exact, 1, 0)->verdict, QP_VERDICT_FAIL);
    qp_gate_item hopeless = item_of(0, 19.99, 30, 20);
    assert_true(judge(&hopeless, 1, 0)->n_runs > QP_RUNS_MOST);
}

enum { RUNS_A_SIDE = 5 };

/* Mean and variance of the mean of the logarithms of some runs. */
static void draw_side(uint64_t *seed, double wild, uint64_t slower, double *mean,
                      double *variance)
{
    double values[RUNS_A_SIDE];
    *mean = *variance = 0;
    for (int i = 0; i < RUNS_A_SIDE; i++) {
        values[i] = log((double)(draw(seed, wild) + slower));
        *mean += values[i] / RUNS_A_SIDE;
    }
    for (int i = 0; i < RUNS_A_SIDE; i++)
        *variance +=
            (values[i] - *mean) * (values[i] - *mean) / (RUNS_A_SIDE - 1) / RUNS_A_SIDE;
}

/* How many of 100 gates fail that compare 20 figures, of which the first grew. */
static double failing(double wild, uint64_t slower)
{
    enum { ROUNDS = 1000, N = 20 };
    uint64_t seed = 7, n_failed = 0;
    for (int round = 0; round < ROUNDS; round++) {
        qp_gate_item items[N];
        for (uint32_t i = 0; i < N; i++) {
            double means[2], parts[2];
            for (int side = 0; side < 2; side++)
                draw_side(&seed, wild, side && !i ? slower : 0, &means[side], &parts[side]);
            const double all = parts[0] + parts[1];
            items[i] = item_of(i, 0, 0, 2);
            items[i].growth.log = means[1] - means[0];
            items[i].growth.error = sqrt(all);
            items[i].growth.freedom =
                all * all / (parts[0] * parts[0] + parts[1] * parts[1]) * (RUNS_A_SIDE - 1);
        }
        qp_gate_judge(items, N, RUNS_A_SIDE);
        bool has_failed = false;
        for (int i = 0; i < N; i++)
            has_failed |= items[i].verdict == QP_VERDICT_FAIL;
        n_failed += has_failed;
    }
    return (double)n_failed * 100 / ROUNDS;
}

static void one_gate_of_a_hundred_fails_by_chance(void **state)
{
    (void)state;
    assert_true(failing(0, 0) <= 1.5);
    assert_true(failing(0.1, 0) <= 1.5);   /* every tenth run is wild */
    assert_true(failing(0, 100000) >= 99); /* 10 % slower, 1 % noise */
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

/* Runs of f: 90, 100, 110 and 120, 130, 140. The means of the logarithms are 4.601820 and 4.865556, their variances
 * 0.0100756 and 0.0059435. */
static void growth_is_that_of_the_geometric_means(void **state)
{
    (void)state;
    qp_diff *d = qp_diff_new(QP_DIFF_FUNCTIONS, false);
    for (uint64_t i = 0; i < 3; i++) {
        add(d, QP_DIFF_BASE, RUN({"f", 2, 90 + 10 * i}, {"g", 1 + i, 5}));
        add(d, QP_DIFF_NEW, RUN({"f", 3, 120 + 10 * i}, {"g", 4, 5}));
    }
    assert_true(qp_diff_finish(d));
    const uint32_t f = (uint32_t)(row_named(d, "f") - d->rows),
                   g = (uint32_t)(row_named(d, "g") - d->rows);
    const qp_figure_growth time = qp_diff_growth(d, f, QP_DIFF_OF_SELF);
    assert_true(fabs(time.sides[0] - 99.66555) < 1e-3);
    assert_true(fabs(time.sides[1] - 129.74308) < 1e-3);
    assert_true(fabs(time.log - 0.263736) < 1e-5);
    assert_true(fabs(time.error - 0.0730733) < 1e-5); /* sqrt(0.0160191 / 3) */
    /* 0.00533971^2 / (0.00335853^2 / 2 + 0.00198118^2 / 2) */
    assert_true(fabs(time.freedom - 3.75046) < 1e-3);
    assert_true(time.varies);
    const qp_figure_growth calls = qp_diff_growth(d, f, QP_DIFF_OF_COUNTED);
    assert_false(calls.varies);
    assert_true(calls.sides[0] == 2 && calls.sides[1] == 3 && calls.error == 0);
    assert_true(qp_diff_growth(d, g, QP_DIFF_OF_COUNTED).varies); /* 1, 2 and 3 calls in base */
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
        cmocka_unit_test(the_t_distribution_is_that_of_the_tables),
        cmocka_unit_test(a_gate_fails_passes_or_cannot_tell),
        cmocka_unit_test(many_figures_need_more_certainty),
        cmocka_unit_test(a_figure_that_failed_is_no_chance_for_the_next),
        cmocka_unit_test(what_does_not_matter_does_not_hold_up_a_gate),
        cmocka_unit_test(without_noise_what_is_above_the_limit_is_not_certain),
        cmocka_unit_test(one_gate_of_a_hundred_fails_by_chance),
        cmocka_unit_test(growth_is_that_of_the_geometric_means),
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
