/* test_model_routes.c: by which ways a method was called: worked out by hand, and by comparing
 * each stack with each other one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/containers/alloc.h"
#include "base/text/buf.h"
#include "model/figures/figures.h"
#include "unit/profile.h"

typedef struct {
    uint64_t hits;
    bool is_cut;
    const char *frames; /* names, innermost first, each after a space */
} wanted_route;

static void assert_route(const qp_model *m, const qp_stack_suffix *suffix,
                         const wanted_route *wanted)
{
    char frames[2048] = "";
    uint32_t node = suffix->node;
    for (uint32_t i = 0; i < suffix->n_frames; i++, node = m->nodes[node].parent)
        qp_text_format(frames + strlen(frames), sizeof frames - strlen(frames), " %s",
                       m->methods[m->nodes[node].method].name);
    assert_string_equal(frames, wanted->frames);
    assert_int_equal(suffix->hits, wanted->hits);
    assert_int_equal(suffix->is_cut, wanted->is_cut);
}

static void assert_routes(const qp_model *m, const char *method, uint32_t thread,
                          uint32_t n_frames, const wanted_route *wanted, size_t n_wanted)
{
    qp_stack_suffix *suffixes;
    size_t n;
    assert_true(
        qp_model_stack_suffixes(m, profile_index(m, method), thread, n_frames, &suffixes, &n));
    assert_int_equal(n, n_wanted);
    for (size_t i = 0; i < n; i++)
        assert_route(m, &suffixes[i], &wanted[i]);
    qp_free(suffixes);
}
#define ASSERT_ROUTES(m, method, thread, n_frames, ...)                                        \
    assert_routes(m, method, thread, n_frames, (const wanted_route[]){__VA_ARGS__},            \
                  sizeof((const wanted_route[]){__VA_ARGS__}) / sizeof(wanted_route))

/* One thread: main calls f twice; a, which calls f twice and b, which calls f once; and b,
 * which calls f four times, and f itself three times there. Other thread: main calls a, a calls
 * f five times. */
static qp_model *example(void)
{
    profile *p = profile_new();
    qp_cell one = profile_thread(p), two = profile_thread(p);
    qp_cell top = profile_method(p, 1, "main", NULL, NULL),
            a = profile_method(p, 2, "a", NULL, NULL);
    qp_cell b = profile_method(p, 3, "b", NULL, NULL),
            f = profile_method(p, 4, "f", NULL, NULL);
    profile_method(p, 5, "never", NULL, NULL);
    qp_cell main_ = profile_node(p, one, 0, top, 1, 0);
    profile_node(p, one, main_, f, 2, 0);
    qp_cell in_a = profile_node(p, one, main_, a, 1, 0);
    profile_node(p, one, in_a, f, 2, 0);
    profile_node(p, one, profile_node(p, one, in_a, b, 1, 0), f, 1, 0);
    qp_cell in_b = profile_node(p, one, main_, b, 1, 0);
    profile_node(p, one, profile_node(p, one, in_b, f, 4, 0), f, 3, 0);
    main_ = profile_node(p, two, 0, top, 1, 0);
    profile_node(p, two, profile_node(p, two, main_, a, 1, 0), f, 5, 0);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    return m;
}

/* triggers 50: call 0 is the method itself, 1 its parent. */
static void calls_are_told_apart_by_their_innermost_frames(void **state)
{
    (void)state;
    qp_model *m = example();
    ASSERT_ROUTES(m, "f", QP_ALL_THREADS, 1, {17, true, " f"});
    ASSERT_ROUTES(m, "f", QP_ALL_THREADS, 2, {7, true, " f a"}, {5, true, " f b"},
                  {3, true, " f f"}, {2, false, " f main"});
    ASSERT_ROUTES(m, "f", QP_ALL_THREADS, 3, {7, false, " f a main"}, {4, false, " f b main"},
                  {3, true, " f f b"}, {2, false, " f main"}, {1, true, " f b a"});
    for (uint32_t n_frames = 4; n_frames <= QP_STACK_SUFFIX_MOST_FRAMES; n_frames += 48)
        ASSERT_ROUTES(m, "f", QP_ALL_THREADS, n_frames, {7, false, " f a main"},
                      {4, false, " f b main"}, {3, false, " f f b main"}, {2, false, " f main"},
                      {1, false, " f b a main"});
    ASSERT_ROUTES(m, "main", QP_ALL_THREADS, 5, {2, false, " main"});
    qp_model_free(m);
}

static void one_thread_has_routes_of_its_own(void **state)
{
    (void)state;
    qp_model *m = example();
    ASSERT_ROUTES(m, "f", 2, 5, {5, false, " f a main"});
    ASSERT_ROUTES(m, "f", 1, 2, {5, true, " f b"}, {3, true, " f f"}, {2, false, " f main"},
                  {2, true, " f a"});
    assert_routes(m, "b", 2, 5, NULL, 0);
    qp_model_free(m);
}

static void what_was_not_called_has_no_routes(void **state)
{
    (void)state;
    qp_model *m = example();
    assert_routes(m, "never", QP_ALL_THREADS, 5, NULL, 0);
    qp_stack_suffix *suffixes;
    size_t n;
    assert_true(qp_model_stack_suffixes(m, QP_ROOT_METHOD, QP_ALL_THREADS, 5, &suffixes, &n));
    assert_int_equal(n, 0);
    qp_free(suffixes);
    qp_model_free(m);
}

static void hidden_methods_are_no_frames(void **state)
{
    (void)state;
    qp_model *m = example();
    bool is_hidden[6] = {false};
    assert_int_equal(m->n_methods, 6);
    is_hidden[profile_index(m, "b")] = true;
    assert_true(qp_model_collapse(&m, &(qp_collapse){.is_hidden = is_hidden}));
    ASSERT_ROUTES(m, "f", QP_ALL_THREADS, 3, {8, false, " f a main"}, {6, false, " f main"},
                  {3, false, " f f main"});
    qp_model_free(m);
}

/* 300 deep: the outermost 99 are stacks of 1 to 99 frames, the other 201 agree in 100. */
static void deep_recursion_ends_in_one_route(void **state)
{
    (void)state;
    profile *p = profile_new();
    qp_cell th = profile_thread(p), f = profile_method(p, 1, "f", NULL, NULL), at = 0;
    for (unsigned i = 0; i < 300; i++)
        at = profile_node(p, th, at, f, 1, 0);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    qp_stack_suffix *suffixes;
    size_t n;
    assert_true(
        qp_model_stack_suffixes(m, profile_index(m, "f"), QP_ALL_THREADS, 100, &suffixes, &n));
    assert_int_equal(n, 100);
    assert_int_equal(suffixes[0].hits, 201);
    assert_int_equal(suffixes[0].n_frames, 100);
    assert_true(suffixes[0].is_cut);
    for (uint32_t i = 1; i < 100; i++) {
        assert_int_equal(suffixes[i].hits, 1);
        assert_int_equal(suffixes[i].n_frames, i);
        assert_false(suffixes[i].is_cut);
    }
    qp_free(suffixes);
    qp_model_free(m);
}

/* ---- random trees ------------------------------------------------------------------------ */

enum { RANDOM_NODES = 400, RANDOM_METHODS = 3 };

static uint64_t dice;

static uint32_t roll(uint32_t n)
{
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(dice >> 33) % n;
}

static qp_model *random_run(void)
{
    profile *p = profile_new();
    qp_cell threads[3], methods[RANDOM_METHODS], nodes[RANDOM_NODES];
    for (unsigned i = 0; i < 3; i++)
        threads[i] = profile_thread(p);
    for (unsigned i = 0; i < RANDOM_METHODS; i++)
        methods[i] = profile_method(p, i + 1, ((const char *[]){"f", "g", "h"})[i], NULL, NULL);
    for (unsigned i = 0; i < RANDOM_NODES; i++) {
        unsigned parent = i >= 9 && roll(8) ? i - 3 * (1 + roll(i / 3)) : i;
        nodes[i] = profile_node(p, threads[i % 3], parent == i ? 0 : nodes[parent],
                                methods[roll(RANDOM_METHODS)], roll(4), 0);
    }
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    return m;
}

static bool agree(const qp_model *m, uint32_t a, uint32_t b, uint32_t n_frames)
{
    for (uint32_t k = 0; k < n_frames; k++) {
        if (m->nodes[a].method != m->nodes[b].method)
            return false;
        a = m->nodes[a].parent;
        b = m->nodes[b].parent;
    }
    return true;
}

static void assert_as_compared(const qp_model *m, uint32_t method, uint32_t n_frames)
{
    static uint64_t hits[RANDOM_NODES + 8]; /* at the first node of a route */
    qp_stack_suffix *suffixes;
    size_t n, n_wanted = 0;
    memset(hits, 0, sizeof hits);
    assert_true(m->n_nodes <= RANDOM_NODES + 8);
    for (uint32_t i = 1; i < m->n_nodes; i++) {
        uint32_t first = 1;
        if (m->nodes[i].method != method || !m->nodes[i].f.hits)
            continue;
        while (!m->nodes[first].f.hits || !agree(m, first, i, n_frames))
            first++;
        n_wanted += first == i;
        hits[first] += m->nodes[i].f.hits;
    }
    assert_true(qp_model_stack_suffixes(m, method, QP_ALL_THREADS, n_frames, &suffixes, &n));
    assert_int_equal(n, n_wanted);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(suffixes[i].hits, hits[suffixes[i].node]);
    qp_free(suffixes);
}

static void random_trees_have_the_routes_of_comparing_all_stacks(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        dice = seed;
        qp_model *m = random_run();
        for (uint32_t method = 1; method < m->n_methods; method++)
            for (uint32_t n_frames = 1; n_frames <= 12; n_frames++)
                assert_as_compared(m, method, n_frames);
        qp_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_told_apart_by_their_innermost_frames),
        cmocka_unit_test(one_thread_has_routes_of_its_own),
        cmocka_unit_test(what_was_not_called_has_no_routes),
        cmocka_unit_test(hidden_methods_are_no_frames),
        cmocka_unit_test(deep_recursion_ends_in_one_route),
        cmocka_unit_test(random_trees_have_the_routes_of_comparing_all_stacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
