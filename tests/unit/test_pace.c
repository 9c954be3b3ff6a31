/* test_pace.c: which calls -time=adaptive times, and whether the estimate of all of them and its
 * interval are right: by hand, and with eleven distributions of the lengths of calls. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/clock/pace.h"

/* ---- one thread with its paths ----------------------------------------------------------- */

enum { PATHS_MAX = 16 };

typedef struct {
    qp_pace_rules rules;
    qp_pace pace;
    qprof_node nodes[PATHS_MAX];
    qp_node_timing records[PATHS_MAX];
    bool has_record[PATHS_MAX];
    uint64_t now, n_timed;
} paths;

/* @param period  of the coarse clock */
static paths *begin(uint64_t period, uint64_t cost)
{
    paths *x = test_calloc(1, sizeof *x);
    x->rules = (qp_pace_rules){period, cost};
    qp_pace_begin(&x->pace, &x->rules, 1, 0);
    for (unsigned i = 0; i < PATHS_MAX; i++)
        qp_pace_path(&x->pace, &x->rules, &x->nodes[i]);
    return x;
}

static qp_node_timing *record(paths *x, unsigned i)
{
    if (!x->has_record[i])
        qp_pace_record(&x->nodes[i], &x->records[i]);
    x->has_record[i] = true;
    return &x->records[i];
}

/* A call of a path has taken so long, up to now. @return was it timed? */
static bool end_call(paths *x, unsigned i, uint64_t ticks, uint64_t tick_at_entry)
{
    qprof_node *n = &x->nodes[i];
    bool is_timed = ++n->n_calls >= n->self_min;
    if (is_timed && !x->has_record[i] && qp_pace_needs_record(&x->pace, &x->rules, n, ticks))
        record(x, i);
    if (is_timed)
        qp_pace_end(&x->pace, &x->rules, n, x->has_record[i] ? &x->records[i] : NULL, ticks,
                    x->now);
    else if (x->pace.tick != tick_at_entry && qp_pace_has_untimed(n))
        qp_pace_crossed(&x->pace, &x->rules, n, record(x, i), tick_at_entry, x->now);
    else if (x->pace.tick != tick_at_entry && x->has_record[i])
        qp_pace_crossed(&x->pace, &x->rules, n, &x->records[i], tick_at_entry, x->now);
    x->n_timed += is_timed;
    return is_timed;
}

static bool call(paths *x, unsigned i, uint64_t ticks)
{
    x->now += ticks;
    return end_call(x, i, ticks, x->pace.tick);
}

static qp_path_time time_of(const paths *x, unsigned i)
{
    qp_node n;
    memcpy(&n, &x->nodes[i], sizeof n);
    return qp_path_time_of(&n, x->has_record[i] ? &x->records[i] : NULL, n.n_calls);
}

/* ---- by hand ----------------------------------------------------------------------------- */

/* The first 16 calls are timed and known exactly, all long ones as well. */
static void few_calls_and_long_calls_are_exact(void **state)
{
    (void)state;
    paths *x = begin(1000000, 50);
    for (int i = 0; i < 16; i++)
        assert_true(call(x, 0, 7));
    for (int i = 0; i < 1000; i++)
        assert_true(call(x, 1, 100000));
    assert_int_equal(time_of(x, 0).ticks, 16 * 7);
    assert_int_equal(time_of(x, 1).ticks, 100000000);
    assert_true(time_of(x, 0).variance == 0 && time_of(x, 1).variance == 0);
    assert_false(x->has_record[1]);
    test_free(x);
}

/* Blocks grow to an eighth of the calls that were timed, and to 256; each has one timed call. All
 * calls are alike: the estimate is exact, whatever was drawn. Timing takes 1 % of 80 ms: 16000
 * calls, and the 2000 that can be owed. */
static void blocks_grow_and_have_one_timed_call_each(void **state)
{
    (void)state;
    paths *x = begin(1000000, 50);
    uint64_t n_calls = 0, block = 1, largest = 0, n_timed = 0;
    for (; n_calls < 2000000; n_calls++) {
        uint64_t next = x->has_record[0] ? x->records[0].next_block : n_calls + 1;
        unsigned shift = x->has_record[0] ? x->records[0].next_shift : 0;
        if (n_calls + 1 == next) {
            assert_true(n_calls == 0 || n_timed == 1);
            block = 1ull << shift;
            assert_true(block <= 1 || block * 8 <= x->n_timed);
            largest = block > largest ? block : largest;
            n_timed = 0;
        }
        n_timed += call(x, 0, 40);
    }
    assert_int_equal(largest, 256);
    assert_in_range(x->n_timed, 2000000 / 256, 18000);
    assert_in_range((uint64_t)time_of(x, 0).ticks, 79999999, 80000001);
    test_free(x);
}

/* Where in its block the timed call is: anywhere, equally often. Of 8000 blocks of 256, each
 * sixteenth of the places has 500 ± 5 standard deviations (21.7). */
static void any_call_of_a_block_may_be_timed(void **state)
{
    (void)state;
    paths *x = begin(1000000, 50);
    unsigned places[16] = {0}, n = 0;
    while (n < 8000) {
        call(x, 0, 1);
        const qp_node_timing *t = &x->records[0];
        uint64_t place = x->nodes[0].self_min - t->next_block;
        if (x->has_record[0] && t->next_shift == 8 &&
            x->nodes[0].n_calls + 1 == t->next_block) {
            places[place / 16]++;
            n++;
        }
        if (x->has_record[0] && x->nodes[0].n_calls + 1 >= t->next_block)
            assert_in_range(place, 0, (1u << t->next_shift) - 1);
    }
    for (unsigned i = 0; i < 16; i++)
        assert_in_range(places[i], 391, 609);
    test_free(x);
}

/* A path with blocks of 4 and a coarse clock of 1000: a timed call of 1250 represents four times
 * 250, and 1000 of it no other call. */
static void a_long_timed_call_stands_for_its_block_up_to_the_cap(void **state)
{
    (void)state;
    paths *x = begin(1000, 50);
    qp_node_timing *t = record(x, 0);
    *t = (qp_node_timing){.next_block = 1, .next_shift = 2, .mean = 50 * 64, .n_timed = 9};
    x->nodes[0].self_min = 1;
    x->now = 1250;
    end_call(x, 0, 1250, 0);
    assert_int_equal(x->nodes[0].self, 4 * 250);
    assert_int_equal(t->beyond, 1000);
    assert_int_equal(t->covered, 4);
    assert_int_equal(t->n_timed, 10);
    assert_int_equal(t->variance, 4 * 3 * 200 * 200 / 1024 + 1);
    test_free(x);
}

/* The same path, a call that is not timed. The coarse clock ticks at 1000, 2000 and 3100. */
static void ticks_show_calls_that_are_not_timed(void **state)
{
    (void)state;
    static const struct {
        uint64_t begun, now, beyond, variance;
    } cases[] = {
        {2000, 3349, 0, 0},                     /* after the tick it took less than 250 */
        {2000, 3350, 1100, 1210000 / 1024 + 1}, /* one tick, which represents 1100 */
        {1000, 3350, 2100, 1210000 / 1024 + 1}, /* two: it was under way between them */
        {1000, 3300, 1000,
         1000000 / 1024 + 1}, /* two, the second of which is too near the end */
        {0, 3300, 2000, 1210000 / 1024 + 1},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        paths *x = begin(1000, 50);
        qp_node_timing *t = record(x, 0);
        *t = (qp_node_timing){.next_block = 9, .shift = 2, .next_shift = 3};
        x->nodes[0].self_min = 9;
        qp_pace_tick(&x->pace, 1000);
        qp_pace_tick(&x->pace, 2000);
        qp_pace_tick(&x->pace, 3100);
        qp_pace_tick(&x->pace, 3000); /* a thread's clock does not go back */
        x->now = cases[i].now;
        assert_false(end_call(x, 0, 0, cases[i].begun));
        assert_int_equal(t->beyond, cases[i].beyond);
        assert_int_equal(t->variance, cases[i].variance);
        assert_int_equal(t->n_timed, 0);
        test_free(x);
    }
}

/* The time of a thread begins at 7,000,000, and the first tick comes 1000 later: a call that was
 * open found 1000. */
static void the_first_tick_represents_what_the_thread_has_lived(void **state)
{
    (void)state;
    paths *x = begin(1000, 50);
    qp_pace_begin(&x->pace, &x->rules, 1, 7000000);
    qp_node_timing *t = record(x, 0);
    *t = (qp_node_timing){.next_block = 9, .shift = 2, .next_shift = 2};
    x->nodes[0].self_min = 9;
    uint64_t begun = x->pace.tick;
    qp_pace_tick(&x->pace, 7001000);
    x->now = 7001300;
    assert_false(end_call(x, 0, 0, begun));
    assert_int_equal(t->beyond, 1000);
    assert_int_equal(t->variance, 1000000 / 1024 + 1);
    test_free(x);
}

/* Without a coarse clock a timed call represents its block, however long it is. */
static void without_a_coarse_clock_nothing_is_cut(void **state)
{
    (void)state;
    paths *x = begin(0, 50);
    qp_node_timing *t = record(x, 0);
    *t = (qp_node_timing){.next_block = 1, .next_shift = 2};
    x->nodes[0].self_min = 1;
    end_call(x, 0, 5000, 0);
    assert_int_equal(x->nodes[0].self, 20000);
    assert_int_equal(t->beyond, 0);
    test_free(x);
}

/* A program of many paths with few calls each: timing all of them would cost as much as they
 * take. Blocks are then larger from the first call on, and the sum of all is free of bias. */
static void new_paths_are_timed_less_if_there_are_too_many(void **state)
{
    (void)state;
    enum { PATHS = 20000, CALLS = 10 };
    paths *x = begin(1000000, 50);
    double sum = 0, variance = 0;
    for (unsigned i = 0; i < PATHS; i++) {
        memset(&x->nodes[0], 0, sizeof x->nodes[0]);
        memset(&x->records[0], 0, sizeof x->records[0]);
        x->has_record[0] = false;
        qp_pace_path(&x->pace, &x->rules, &x->nodes[0]);
        for (unsigned k = 0; k < CALLS; k++)
            call(x, 0, 60);
        sum += time_of(x, 0).ticks;
        variance += time_of(x, 0).variance;
    }
    double truth = 60.0 * PATHS * CALLS;
    assert_true(x->n_timed < PATHS * CALLS / 8);
    assert_true(fabs(sum - truth) < 3 * sqrt(variance));
    assert_true(sqrt(variance) < 0.05 * truth);
    test_free(x);
}

/* After a clear a path begins again, with all its calls timed; the open one adds its time. */
static void a_clear_begins_again(void **state)
{
    (void)state;
    paths *x = begin(1000000, 50);
    for (int i = 0; i < 5000; i++) {
        x->now += 5000; /* timing is affordable */
        call(x, 0, 40);
    }
    assert_true(x->has_record[0]);
    x->nodes[0].n_calls = x->nodes[0].self = 0;
    qp_pace_clear(&x->nodes[0], &x->records[0]);
    qp_pace_add(&x->nodes[0], &x->records[0], 1234);
    for (int i = 0; i < 16; i++)
        assert_true(call(x, 0, 10));
    assert_int_equal(time_of(x, 0).ticks, 1234 + 160);
    assert_true(time_of(x, 0).variance == 0);
    test_free(x);
}

/* ---- eleven distributions ---------------------------------------------------------------- */

enum { N_FUNCTIONS = 11, TRIALS = 60 };
static const double cost_ns = 100, between_ns = 30, first_period_ns = 1e6;

static uint64_t seed;

static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return ((double)(seed >> 12) + 0.5) * 0x1p-52;
}

static double at_most(double x, double most)
{
    return x < most ? x : most;
}

/* ns of the k-th call */
static double constant(unsigned k)
{
    (void)k;
    return 50;
}
static double log_normal(unsigned k)
{
    (void)k;
    return 100 * exp(sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform()));
}
static double rarely_2_ms(unsigned k)
{
    (void)k;
    return uniform() < 1e-4 ? 2e6 : 30;
}
static double pareto_13(unsigned k)
{
    (void)k;
    return at_most(50 * pow(uniform(), -1 / 1.3), 5e7);
}
static double pareto_11(unsigned k)
{
    (void)k;
    return at_most(40 * pow(uniform(), -1 / 1.1), 1e8);
}
static double exponential(unsigned k)
{
    (void)k;
    return -3000 * log(uniform());
}
static double rarely_200_us(unsigned k)
{
    (void)k;
    return uniform() < 1e-3 ? 2e5 : 40;
}
static double sometimes_5_us(unsigned k)
{
    (void)k;
    return uniform() < 0.02 ? 5000 : 20;
}
static double always_10_ms(unsigned k)
{
    (void)k;
    return 1e7;
}
static double slow_later(unsigned k)
{
    return k < 10000 ? 50 : 2000;
}
static double rarely_20_ms(unsigned k)
{
    (void)k;
    return uniform() < 1.0 / 20000 ? 2e7 : 100;
}

/* The error is the root mean square of 60 trials in percent: half as much again as was found. */
static const struct {
    double (*draw)(unsigned k);
    unsigned n_calls;
    double error;
} functions[N_FUNCTIONS] = {
    {constant, 600000, 0.1},     {log_normal, 300000, 5},      {rarely_2_ms, 400000, 5},
    {pareto_13, 200000, 10},     {pareto_11, 100000, 13},      {exponential, 20000, 4.4},
    {rarely_200_us, 200000, 18}, {sometimes_5_us, 100000, 23}, {always_10_ms, 5, 0.1},
    {slow_later, 50000, 0.3},    {rarely_20_ms, 60000, 3},
};

typedef struct {
    double n_covered[N_FUNCTIONS], squares[N_FUNCTIONS], truth[N_FUNCTIONS];
    double n_first, n_calls, n_timed, ns;
} findings;

/* The coarse clock ticks late, by so many periods on average. */
typedef struct {
    double late, next, last, sum, squares;
} ticker;

static void advance(paths *x, ticker *t, double *now, double ns)
{
    *now += ns;
    x->now = (uint64_t)*now;
    while (t->next <= *now) {
        double gap = t->next - t->last;
        qp_pace_tick(&x->pace, (uint64_t)t->next);
        t->sum += gap;
        t->squares += gap * gap;
        t->last = t->next;
        t->next += first_period_ns * (1 - t->late * log(uniform()));
    }
}

static void compare(const paths *x, const double *truth, double tick, findings *to)
{
    unsigned first = 0, found = 0;
    double most = 0;
    for (unsigned f = 0; f < N_FUNCTIONS; f++) {
        qp_path_time t = time_of(x, f);
        double half = t.variance > 0 ? 1.96 * sqrt(t.variance + tick * tick) + 1.04 * tick : 0;
        double error = t.ticks - truth[f];
        to->n_covered[f] += fabs(error) <= half + 1;
        to->squares[f] += error * error;
        to->truth[f] += truth[f];
        first = truth[f] > truth[first] ? f : first;
        found = t.ticks > most ? f : found;
        most = t.ticks > most ? t.ticks : most;
    }
    to->n_first += first == found;
}

static void try_once(double late, unsigned *order, findings *to)
{
    paths *x = begin((uint64_t)first_period_ns, (uint64_t)cost_ns);
    ticker t = {.late = late, .next = first_period_ns * uniform()};
    double truth[N_FUNCTIONS] = {0}, now = 0;
    unsigned n = 0, n_seen[N_FUNCTIONS] = {0};
    for (unsigned f = 0; f < N_FUNCTIONS; f++)
        for (unsigned k = 0; k < functions[f].n_calls; k++)
            order[n++] = f;
    for (unsigned i = n - 1; i > 0; i--) {
        unsigned other = (unsigned)(uniform() * (i + 1)), f = order[i];
        order[i] = order[other];
        order[other] = f;
    }
    for (unsigned i = 0; i < n; i++) {
        unsigned f = order[i];
        double ns = floor(functions[f].draw(n_seen[f]++));
        advance(x, &t, &now, between_ns);
        uint64_t tick = x->pace.tick;
        advance(x, &t, &now, ns);
        end_call(x, f, (uint64_t)ns, tick);
        truth[f] += ns;
    }
    compare(x, truth, t.squares / t.sum, to);
    to->n_calls += n;
    to->n_timed += (double)x->n_timed;
    to->ns += now;
    test_free(x);
}

static findings try_all(double late, unsigned n_trials)
{
    unsigned *order = test_malloc(2100000 * sizeof *order);
    findings found = {0};
    seed = 7;
    for (unsigned i = 0; i < n_trials; i++)
        try_once(late, order, &found);
    test_free(order);
    return found;
}

/* Short calls with rare long ones among them: intervals hold in 93 % of runs at least, the largest
 * time is found in 95 %, and timing takes a share of the run that was allowed. */
static void estimates_are_right_and_intervals_hold(void **state)
{
    (void)state;
    findings x = try_all(0.1, TRIALS);
    for (unsigned f = 0; f < N_FUNCTIONS; f++) {
        double error = 100 * sqrt(x.squares[f] / TRIALS) / (x.truth[f] / TRIALS);
        if (x.n_covered[f] < 0.93 * TRIALS || error > functions[f].error)
            fail_msg("function %u: the interval holds in %.0f of %u, error %.1f %%", f,
                     x.n_covered[f], TRIALS, error);
    }
    assert_true(x.n_first >= 0.95 * TRIALS);
    assert_true(x.n_timed < 0.04 * x.n_calls);
    assert_true(x.n_timed * cost_ns < 0.01 * x.ns);
}

/* On a machine that is too busy, ticks come late, four periods on average: estimates are worse, and
 * intervals say so. Of all functions together, as the trials are few. */
static void intervals_hold_where_ticks_come_late(void **state)
{
    (void)state;
    enum { FEW = 15 };
    findings x = try_all(4, FEW);
    double n_covered = 0;
    for (unsigned f = 0; f < N_FUNCTIONS; f++)
        n_covered += x.n_covered[f];
    assert_true(n_covered >= 0.93 * FEW * N_FUNCTIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_calls_and_long_calls_are_exact),
        cmocka_unit_test(blocks_grow_and_have_one_timed_call_each),
        cmocka_unit_test(any_call_of_a_block_may_be_timed),
        cmocka_unit_test(a_long_timed_call_stands_for_its_block_up_to_the_cap),
        cmocka_unit_test(ticks_show_calls_that_are_not_timed),
        cmocka_unit_test(the_first_tick_represents_what_the_thread_has_lived),
        cmocka_unit_test(without_a_coarse_clock_nothing_is_cut),
        cmocka_unit_test(new_paths_are_timed_less_if_there_are_too_many),
        cmocka_unit_test(a_clear_begins_again),
        cmocka_unit_test(estimates_are_right_and_intervals_hold),
        cmocka_unit_test(intervals_hold_where_ticks_come_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
