/* test_metrics.c: what a host adds to its metrics, by call path. The expected values were added up by hand, or
 * by a second account of the paths. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/combine/combine.h"
#include "model/figures/figures.h"
#include "unit/files.h"
#include "unit/first_vm.h"
#include "unit/play.h"

static const char *const modes[] = {"-time=exact",
                                    "-time=adaptive",
                                    "-time=none",
                                    "-time=exact -allocations=yes",
                                    "-time=exact -collect=profile,trace",
                                    "-time=exact -check-host=yes"};
enum { N_MODES = sizeof modes / sizeof *modes };

static int rows(void)
{
    return qprof_metric_create("rows", "rows");
}

static int hits(void)
{
    return qprof_metric_create("hits", NULL);
}

/* Show the metric in place of time. */
static const qp_model *choose(void **state, const char *name)
{
    qp_error error;
    qp_model *m = ((play_ctx *)*state)->m;
    assert_true(qp_model_choose_metric(m, name, false, &error));
    return m;
}

static void assert_values(void **state, const char *method, uint64_t self, uint64_t total)
{
    qp_figures f = play_figures(*state, QP_ALL_THREADS, method);
    assert_int_equal(f.self, self);
    assert_int_equal(f.total, total);
}

static uint64_t sum_of(const qp_model *m, const char *name)
{
    for (size_t i = 0; i < m->run.n_metrics; i++)
        if (strcmp(m->run.metrics[i].name, name) == 0)
            return m->run.metrics[i].sum;
    fail_msg("no metric %s", name);
    return 0;
}

/* a( 100 rows, b( 10 rows, 5 hits ), b( 20 rows ) ), and 1,000 rows outside of calls. */
static void values_belong_to_the_path_on_top(void **state)
{
    for (size_t i = 0; i < N_MODES; i++) {
        qprof_vm *vm = first_vm(modes[i]);
        qprof_stack *s = &vm->main;
        qprof_MethodID a = define("a"), b = define("b");
        qprof_add(s, rows(),
                  5); /* before the first call: there is nothing to which it belongs */
        qprof_token ta = qprof_enter(s, 0, a);
        qprof_add(s, rows(), 100);
        qprof_token tb = qprof_enter(s, ta, b);
        qprof_add(s, rows(), 10);
        qprof_add(s, hits(), 2);
        qprof_add(s, hits(), 3);
        qprof_leave(s, tb);
        tb = qprof_enter(s, ta, b);
        qprof_add(s, rows(), 20);
        qprof_add(s, rows(), 0);
        qprof_leave(s, tb);
        qprof_leave(s, ta);
        qprof_add(s, rows(), 1000);
        qprof_vm_close(vm);
        qprof_add(s, rows(), 3);
        play_end(*state);
        const qp_model *m = ((play_ctx *)*state)->m;
        assert_int_equal(sum_of(m, "rows"), 1130);
        assert_int_equal(sum_of(m, "hits"), 5);
        assert_int_equal(play_figures(*state, QP_ALL_THREADS, "b").calls, 2);
        choose(state, "rows");
        assert_string_equal(m->run.unit, "rows");
        assert_int_equal(m->run.total, 1130);
        assert_values(state, "a", 100, 130);
        assert_values(state, "b", 30, 30);
        choose(state, "hits");
        assert_string_equal(m->run.unit, "hits");
        assert_values(state, "a", 0, 5);
        assert_values(state, "b", 5, 5);
    }
}

/* Of a host with stack ids. A recursion counts once in the total of its method. */
static void hosts_with_stack_ids(void **state)
{
    play_ctx *p = play_start(state, "");
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    qprof_record_metric(th, rows(), 2);
    for (int i = 0; i < 2; i++) {
        play(p, "f( g(");
        qprof_record_metric(th, rows(), 16);
        play(p, "f(");
        qprof_record_metric(th, rows(), 4);
        play(p, ") ) )");
    }
    play_end(p);
    choose(state, "rows");
    assert_values(state, "f", 8, 40);
    assert_values(state, "g", 32, 40);
    assert_int_equal(p->m->run.total, 42);
}

static void times_stay_beside_a_metric(void **state)
{
    qp_error error;
    play_ctx *p = play_start(state, "-time=exact");
    play(p, "f( 10");
    qprof_record_metric(qprof_thread_handle(QPROF_INLINE_VERSION), rows(), 7);
    play(p, "20 )");
    play_end(p);
    assert_true(qp_model_choose_metric(p->m, "rows", true, &error));
    assert_string_equal(p->m->run.metric->name, "rows");
    assert_string_equal(p->m->run.unit, "ns");
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "f").self, 30);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->m->n_nodes; i++)
        sum += p->m->nodes[i].f.metric;
    assert_int_equal(sum, 7);
    assert_false(qp_model_choose_metric(p->m, "none", false, &error));
    assert_string_equal(error.text, "no metric none (available: rows, hits)");
}

static void stops_clears_snapshots_and_wrong_numbers(void **state)
{
    qprof_vm *vm = first_vm("");
    qprof_stack *s = &vm->main;
    qprof_token ta = qprof_enter(s, 0, define("a"));
    qprof_add(s, rows(), 100);
    qprof_stop_recording();
    qprof_add(s, rows(), 50);
    qprof_start_recording();
    qprof_add(s, rows(), 1);
    qprof_add(s, rows(), UINT64_MAX);
    qprof_add(s, rows(), 1ull << 48);
    static const int wrong[] = {0, -1, QPROF_E_LIMIT, QPROF_METRICS + 1, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        qprof_add(s, wrong[i], 1);
    assert_int_equal(qprof_diagnostic("e_arg"), 8);
    qprof_add(s, QPROF_METRICS, 9); /* a number that was not given yet */
    play_peek(*state);
    assert_int_equal(sum_of(((play_ctx *)*state)->m, "rows"), 101);
    assert_int_equal(sum_of(((play_ctx *)*state)->m, "metric 16"), 9);
    choose(state, "rows");
    assert_values(state, "a", 101, 101);
    qprof_clear_data();
    qprof_add(s, rows(), (1ull << 48) - 1);
    qprof_leave(s, ta);
    qprof_vm_close(vm);
    play_end(*state);
    choose(state, "rows");
    assert_values(state, "a", (1ull << 48) - 1, (1ull << 48) - 1);
}

/* Without a call there is a dataset, if something was added outside of calls. */
static void values_are_data(void **state)
{
    qprof_vm *vm = first_vm("");
    qprof_token t = qprof_enter(&vm->main, 0, define("a"));
    qprof_leave(&vm->main, t);
    qprof_clear_data();
    qprof_add(&vm->main, rows(), 4);
    qprof_vm_close(vm);
    play_end(*state);
    assert_int_equal(sum_of(((play_ctx *)*state)->m, "rows"), 4);
    vm = first_vm("");
    t = qprof_enter(&vm->main, 0, define("a"));
    qprof_leave(&vm->main, t);
    qprof_add(&vm->main, rows(), 4);
    qprof_clear_data();
    qprof_vm_close(vm);
    assert_int_not_equal(access("run.qprof", F_OK), 0);
}

/* Paths without room are in <overflow>, or with their callers: nothing is missing in the sum. */
static void a_memory_limit_loses_no_value(void **state)
{
    enum { N = 20000 };
    qprof_vm *vm = first_vm("-time=none -memory-limit=1M");
    qprof_stack *s = &vm->main;
    qprof_token main_token = qprof_enter(s, 0, define("main"));
    uint64_t sum = 0;
    for (uint64_t i = 0; i < N; i++) {
        qprof_token t = qprof_enter(s, main_token, 1000 + i);
        qprof_add(s, rows(), i);
        sum += i;
        qprof_leave(s, t);
    }
    qprof_leave(s, main_token);
    assert_true(qprof_diagnostic("tree_overflow") > 0);
    qprof_vm_close(vm);
    play_end(*state);
    assert_int_equal(choose(state, "rows")->run.total, sum);
    assert_int_equal(play_figures(*state, QP_ALL_THREADS, "main").total, sum);
}

static void coverage_alone_records_none(void **state)
{
    qprof_vm *vm = first_vm("-collect=coverage");
    qprof_token t = qprof_enter(&vm->main, 0, define("a"));
    qprof_add(&vm->main, rows(), 4);
    qprof_leave(&vm->main, t);
    qprof_vm_close(vm);
    play_end(*state);
    assert_int_equal(sum_of(((play_ctx *)*state)->m, "rows"), 0);
}

static void where_only_stacks_are_kept(void **state)
{
    play_ctx *p = play_start(state, "-collect=samples -pc='REAL 3600000000'");
    play_method(p, "f");
    play_method(p, "g");
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    play(p, "f( g(");
    qprof_record_metric(th, rows(), 16);
    play(p, ")");
    qprof_record_metric(th, rows(), 1);
    play(p, ")");
    play_end(p);
    choose(state, "rows");
    assert_values(state, "f", 1, 17);
    assert_values(state, "g", 16, 16);
}

/* ---- against a second account ------------------------------------------------------------ */

enum { N_METHODS = 4, DEPTH = 6, N_KINDS = 3, N_PATHS = 15625 /* 5 to the power of DEPTH */ };

/* By path: a number of base 5, of 1 + the methods from the outermost one. */
typedef struct {
    uint64_t of[N_PATHS][N_KINDS];
    uint32_t path[DEPTH + 1];
    qprof_token tokens[DEPTH + 1];
    int depth;
    uint32_t seed;
} accounts;

static uint32_t next(accounts *x, uint32_t n)
{
    x->seed = x->seed * 1664525u + 1013904223u;
    return (x->seed >> 8) % n;
}

static void step(accounts *x, qprof_stack *s, const qprof_MethodID *methods, const int *kinds)
{
    switch (next(x, 4)) {
    case 0:
        if (x->depth < DEPTH) {
            uint32_t method = next(x, N_METHODS);
            x->path[x->depth + 1] = x->path[x->depth] * 5 + 1 + method;
            x->tokens[x->depth + 1] = qprof_enter(s, x->tokens[x->depth], methods[method]);
            x->depth++;
        }
        break;
    case 1:
        if (x->depth > 1)
            qprof_leave(s, x->tokens[x->depth--]);
        break;
    default: {
        uint32_t kind = next(x, N_KINDS), n = next(x, 1000);
        qprof_add(s, kinds[kind], n);
        x->of[x->path[x->depth]][kind] += n;
    }
    }
}

static void assert_paths(const qp_model *m, const accounts *x, unsigned kind)
{
    uint64_t expected = 0;
    for (uint32_t i = m->n_threads; i < m->n_nodes; i++) {
        uint32_t path = 0, power = 1;
        for (uint32_t at = i; m->nodes[at].method != QP_ROOT_METHOD; at = m->nodes[at].parent) {
            path += power * (uint32_t)(1 + m->methods[m->nodes[at].method].name[0] - 'a');
            power *= 5;
        }
        assert_int_equal(m->nodes[i].f.self, x->of[path][kind]);
    }
    for (size_t i = 0; i < N_PATHS; i++)
        expected += x->of[i][kind];
    assert_int_equal(m->run.total, expected);
}

static void values_equal_a_second_account(void **state)
{
    static accounts x;
    static const char *const names[N_KINDS] = {"rows", "hits", "third"};
    for (size_t i = 0; i < N_MODES; i++) {
        qprof_vm *vm = first_vm(modes[i]);
        const int kinds[N_KINDS] = {rows(), hits(), qprof_metric_create("third", NULL)};
        const qprof_MethodID methods[N_METHODS] = {define("a"), define("b"), define("c"),
                                                   define("d")};
        memset(&x, 0, sizeof x);
        x.seed = (uint32_t)i;
        x.tokens[1] = qprof_enter(&vm->main, 0, methods[0]);
        x.path[1] = 1;
        x.depth = 1;
        for (int n = 0; n < 20000; n++)
            step(&x, &vm->main, methods, kinds);
        while (x.depth)
            qprof_leave(&vm->main, x.tokens[x.depth--]);
        qprof_vm_close(vm);
        play_end(*state);
        for (unsigned k = 0; k < N_KINDS; k++)
            assert_paths(choose(state, names[k]), &x, k);
    }
}

/* A run without the metric adds nothing; of one that is added twice, all is there twice. */
static void sums_add_metrics(void **state)
{
    qp_merge *sum = qp_merge_new();
    qp_error error;
    for (int i = 0; i < 2; i++) {
        qprof_vm *vm = first_vm("");
        qprof_token ta = qprof_enter(&vm->main, 0, define("a"));
        if (i)
            qprof_add(&vm->main, rows(), 30);
        qprof_leave(&vm->main, ta);
        if (i)
            qprof_add(&vm->main, hits(), 4);
        qprof_vm_close(vm);
        play_end(*state);
        assert_true(qp_merge_add(sum, ((play_ctx *)*state)->m, "run", false, &error));
        if (i)
            assert_true(qp_merge_add(sum, ((play_ctx *)*state)->m, "run", false, &error));
    }
    qp_model *m = sum_finish(sum, "sum.qprof");
    assert_int_equal(sum_of(m, "rows"), 60);
    assert_int_equal(sum_of(m, "hits"), 8);
    assert_true(qp_model_choose_metric(m, "rows", false, &error));
    assert_int_equal(profile_find(m, "a")->all.self, 60);
    assert_int_equal(profile_find(m, "a")->all.calls, 3);
    qp_model_free(m);
}

/* ---- definitions ------------------------------------------------------------------------- */

/* The last test: the metrics of a process stay. */
static void a_name_has_one_number(void **state)
{
    char name[100];
    assert_int_equal(qprof_metric_create(NULL, NULL), QPROF_E_ARG);
    assert_int_equal(qprof_metric_create("", "rows"), QPROF_E_ARG);
    assert_int_equal(rows(), qprof_metric_create("rows", "others"));
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    int cut = qprof_metric_create(name, "a unit of more than 15 bytes");
    name[63] = 'y'; /* beyond the bytes that count */
    assert_int_equal(qprof_metric_create(name, NULL), cut);
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof name, "n%d", i);
        int number = qprof_metric_create(name, NULL);
        assert_true(number == QPROF_E_LIMIT || number == cut + 1 + i);
    }
    assert_int_equal(qprof_metric_create("n29", NULL), QPROF_E_LIMIT);
    assert_int_equal(qprof_metric_create("n0", NULL), cut + 1);
    qprof_vm *vm = first_vm("");
    qprof_token t = qprof_enter(&vm->main, 0, define("a"));
    qprof_add(&vm->main, cut, 2);
    qprof_add(&vm->main, QPROF_METRICS, 3);
    qprof_leave(&vm->main, t);
    qprof_vm_close(vm);
    play_end(*state);
    const qp_model *m = ((play_ctx *)*state)->m;
    assert_int_equal(m->run.n_metrics, QPROF_METRICS);
    assert_string_equal(m->run.metrics[rows() - 1].unit, "rows");
    assert_int_equal(strlen(m->run.metrics[cut - 1].name), 63);
    assert_string_equal(m->run.metrics[cut - 1].unit, "a unit of more ");
    assert_int_equal(m->run.metrics[cut - 1].sum, 2);
    assert_int_equal(m->run.metrics[QPROF_METRICS - 1].sum, 3);
    qp_merge *sum = qp_merge_new();
    qp_error error;
    assert_true(qp_merge_add(sum, m, "one", false, &error));
    ((qp_run_metric *)(uintptr_t)m->run.metrics)[cut - 1].name = "a 17th";
    assert_true(qp_merge_add(sum, m, "two", false, &error));
    qp_model *both = sum_finish(sum, "sum.qprof");
    assert_int_equal(both->run.metrics[cut - 1].sum, 2); /* of the first alone */
    assert_int_equal(both->run.metrics[QPROF_METRICS - 1].sum, 6);
    unsigned n_notes = 0;
    for (size_t i = 0; i < both->run.n_notes; i++)
        n_notes += strcmp(both->run.notes[i].text, "not in the sum: metric a 17th of two") == 0;
    assert_int_equal(n_notes, 1);
    qp_model_free(both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(values_belong_to_the_path_on_top),
        PLAY_TEST(hosts_with_stack_ids),
        PLAY_TEST(times_stay_beside_a_metric),
        PLAY_TEST(stops_clears_snapshots_and_wrong_numbers),
        PLAY_TEST(values_are_data),
        PLAY_TEST(a_memory_limit_loses_no_value),
        PLAY_TEST(coverage_alone_records_none),
        PLAY_TEST(where_only_stacks_are_kept),
        PLAY_TEST(values_equal_a_second_account),
        PLAY_TEST(sums_add_metrics),
        PLAY_TEST(a_name_has_one_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
