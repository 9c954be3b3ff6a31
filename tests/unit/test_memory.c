/* test_memory.c: allocations and frees of the host, by call path. The expected values were added up by
 * hand, or by a second allocator that keeps its own accounts of the paths. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/combine/combine.h"
#include "unit/files.h"
#include "unit/first_vm.h"
#include "unit/play.h"

static const char *const modes[] = {"-time=exact", "-time=adaptive", "-time=none",
                                    "-time=exact -collect=profile,trace",
                                    "-time=exact -check-host=yes"};
enum { N_MODES = sizeof modes / sizeof *modes };

static void assert_memory(qp_memory m, uint64_t bytes, uint64_t objects, uint64_t freed_bytes,
                          uint64_t freed_objects)
{
    assert_int_equal(m.bytes, bytes);
    assert_int_equal(m.objects, objects);
    assert_int_equal(m.freed_bytes, freed_bytes);
    assert_int_equal(m.freed_objects, freed_objects);
}

/* a( 100, b( 10, 7 freed ), b( 20 -> 50 -> 5 ) ), and 1,000 outside of calls. */
static void bytes_belong_to_the_path_on_top(void **state)
{
    for (size_t i = 0; i < N_MODES; i++) {
        char options[128];
        snprintf(options, sizeof options, "%s -allocations=yes", modes[i]);
        qprof_vm *vm = first_vm(options);
        qprof_stack *s = &vm->main;
        assert_true(qprof_wants() & QPROF_WANT_MEMORY);
        qprof_MethodID a = define("a"), b = define("b");
        qprof_allocated(s, 5); /* before the first call: there is nothing to which it belongs */
        qprof_token ta = qprof_enter(s, 0, a);
        qprof_allocated(s, 100);
        qprof_token tb = qprof_enter(s, ta, b);
        qprof_allocated(s, 10);
        qprof_freed(s, 7);
        qprof_leave(s, tb);
        tb = qprof_enter(s, ta, b);
        qprof_allocated(s, 20);
        qprof_resized(s, 20, 50);
        qprof_resized(s, 50, 5);
        qprof_resized(s, 5, 5);
        qprof_leave(s, tb);
        qprof_leave(s, ta);
        qprof_allocated(s, 1000);
        qprof_vm_close(vm);
        qprof_allocated(s, 3);
        play_end(*state);
        const qp_model *m = ((play_ctx *)*state)->m;
        assert_true(m->run.has_memory);
        qp_figures f = play_figures(*state, QP_ALL_THREADS, "a");
        assert_memory(f.memory, 100, 1, 0, 0);
        assert_memory(f.memory_total, 160, 3, 52, 1);
        f = play_figures(*state, QP_ALL_THREADS, "b");
        assert_memory(f.memory, 60, 2, 52, 1);
        assert_memory(f.memory_total, 60, 2, 52, 1);
        assert_memory(m->methods[QP_ROOT_METHOD].all.memory, 1160, 4, 52, 1);
        assert_memory(m->nodes[QP_ROOT_NODE].f.memory_total, 1160, 4, 52, 1);
        assert_int_equal(m->threads[1].calls, 3);
    }
}

/* Of a host with stack ids. A recursion counts once in the total of its method. */
static void hosts_with_stack_ids(void **state)
{
    play_ctx *p = play_start(state, "-allocations=yes");
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    qprof_record_alloc(th, 2);
    for (int i = 0; i < 2; i++) {
        play(p, "f( g(");
        qprof_record_alloc(th, 16);
        play(p, "f(");
        qprof_record_alloc(th, 4);
        qprof_record_free(th, 1);
        play(p, ") ) )");
    }
    play_end(p);
    assert_memory(play_figures(p, QP_ALL_THREADS, "f").memory, 8, 2, 2, 2);
    assert_memory(play_figures(p, QP_ALL_THREADS, "f").memory_total, 40, 4, 2, 2);
    assert_memory(play_figures(p, QP_ALL_THREADS, "g").memory_total, 40, 4, 2, 2);
    assert_memory(p->m->methods[QP_ROOT_METHOD].all.memory, 42, 5, 2, 2);
}

static void nothing_is_recorded_unasked(void **state)
{
    static const char *const options[] = {"", "-allocations=no",
                                          "-allocations=yes -collect=coverage"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        qprof_vm *vm = first_vm(options[i]);
        qprof_stack *s = &vm->main;
        assert_false(qprof_wants() & QPROF_WANT_MEMORY);
        qprof_token ta = qprof_enter(s, 0, define("a"));
        qprof_allocated(s, 100);
        qprof_freed(s, UINT64_MAX);
        qprof_leave(s, ta);
        qprof_vm_close(vm);
        play_end(*state);
        assert_false(((play_ctx *)*state)->m->run.has_memory);
        assert_memory(play_figures(*state, QP_ALL_THREADS, "a").memory, 0, 0, 0, 0);
    }
}

static void stops_clears_snapshots_and_sizes_that_no_block_has(void **state)
{
    qprof_vm *vm = first_vm("-allocations=yes");
    qprof_stack *s = &vm->main;
    qprof_MethodID a = define("a");
    qprof_token ta = qprof_enter(s, 0, a);
    qprof_allocated(s, 100);
    qprof_stop_recording();
    qprof_allocated(s, 50);
    qprof_freed(s, 50);
    qprof_start_recording();
    qprof_allocated(s, 1);
    qprof_allocated(s, UINT64_MAX);
    qprof_freed(s, 1ull << 48);
    qprof_resized(s, 0, UINT64_MAX);
    assert_int_equal(qprof_diagnostic("e_arg"), 3);
    play_peek(*state);
    assert_memory(play_figures(*state, QP_ALL_THREADS, "a").memory, 101, 2, 0, 0);
    qprof_clear_data();
    qprof_allocated(s, 7);
    qprof_freed(s, (1ull << 48) - 1);
    qprof_leave(s, ta);
    qprof_vm_close(vm);
    play_end(*state);
    assert_memory(play_figures(*state, QP_ALL_THREADS, "a").memory, 7, 1, (1ull << 48) - 1, 1);
}

/* Paths without room are in <overflow>, or with their callers: nothing is missing in the sum. */
static void a_memory_limit_loses_no_byte(void **state)
{
    enum { N = 20000 };
    qprof_vm *vm = first_vm("-allocations=yes -time=none -memory-limit=1M");
    qprof_stack *s = &vm->main;
    qprof_token main_token = qprof_enter(s, 0, define("main"));
    uint64_t sum = 0;
    for (uint64_t i = 0; i < N; i++) {
        qprof_token t = qprof_enter(s, main_token, 1000 + i);
        qprof_allocated(s, i);
        sum += i;
        qprof_leave(s, t);
    }
    qprof_leave(s, main_token);
    assert_true(qprof_diagnostic("tree_overflow") > 0);
    qprof_vm_close(vm);
    play_end(*state);
    const qp_model *m = ((play_ctx *)*state)->m;
    assert_memory(m->methods[QP_ROOT_METHOD].all.memory, sum, N, 0, 0);
    assert_memory(play_figures(*state, QP_ALL_THREADS, "main").memory_total, sum, N, 0, 0);
}

/* ---- against a second allocator ---------------------------------------------------------- */

enum { N_METHODS = 4, DEPTH = 6 };

/* Accounts by path: a number of base 5, of 1 + the methods from the outermost one. */
typedef struct {
    qp_memory of[15625]; /* 5 to the power of DEPTH */
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

static void step(accounts *x, qprof_stack *s, const qprof_MethodID *methods)
{
    uint32_t bytes = next(x, 1000), old = next(x, 1000);
    qp_memory *now = &x->of[x->path[x->depth]];
    switch (next(x, 6)) {
    case 0:
    case 1:
        if (x->depth < DEPTH) {
            uint32_t method = next(x, N_METHODS);
            x->path[x->depth + 1] = x->path[x->depth] * 5 + 1 + method;
            x->tokens[x->depth + 1] = qprof_enter(s, x->tokens[x->depth], methods[method]);
            x->depth++;
        }
        break;
    case 2:
        if (x->depth > 1)
            qprof_leave(s, x->tokens[x->depth--]);
        break;
    case 3:
        qprof_allocated(s, bytes);
        now->bytes += bytes;
        now->objects++;
        break;
    case 4:
        qprof_freed(s, bytes);
        now->freed_bytes += bytes;
        now->freed_objects++;
        break;
    default:
        qprof_resized(s, old, bytes);
        *(bytes > old ? &now->bytes : &now->freed_bytes) +=
            bytes > old ? bytes - old : old - bytes;
    }
}

static void assert_paths(const qp_model *m, const accounts *x)
{
    size_t n_seen = 0, n_expected = 0;
    for (uint32_t i = m->n_threads; i < m->n_nodes; i++) {
        uint32_t path = 0, power = 1;
        for (uint32_t at = i; m->nodes[at].method != QP_ROOT_METHOD; at = m->nodes[at].parent) {
            path += power * (uint32_t)(1 + m->methods[m->nodes[at].method].name[0] - 'a');
            power *= 5;
        }
        const qp_memory *e = &x->of[path];
        assert_memory(m->nodes[i].f.memory, e->bytes, e->objects, e->freed_bytes,
                      e->freed_objects);
        n_seen += m->nodes[i].f.memory.bytes > 0;
    }
    for (size_t i = 0; i < sizeof x->of / sizeof *x->of; i++)
        n_expected += x->of[i].bytes > 0;
    assert_int_equal(n_seen, n_expected);
}

static void bytes_equal_a_counting_allocator(void **state)
{
    static accounts x;
    for (size_t i = 0; i < N_MODES; i++) {
        char options[128];
        snprintf(options, sizeof options, "%s -allocations=yes", modes[i]);
        qprof_vm *vm = first_vm(options);
        const qprof_MethodID methods[N_METHODS] = {define("a"), define("b"), define("c"),
                                                   define("d")};
        memset(&x, 0, sizeof x);
        x.seed = (uint32_t)i;
        x.tokens[1] = qprof_enter(&vm->main, 0, methods[0]);
        x.path[1] = 1;
        x.depth = 1;
        for (int n = 0; n < 50000; n++)
            step(&x, &vm->main, methods);
        while (x.depth)
            qprof_leave(&vm->main, x.tokens[x.depth--]);
        qprof_vm_close(vm);
        play_end(*state);
        assert_paths(((play_ctx *)*state)->m, &x);
    }
}

static void sums_add_memory(void **state)
{
    qp_merge *sum = qp_merge_new();
    qp_error error;
    for (int i = 0; i < 2; i++) {
        qprof_vm *vm = first_vm(i ? "-allocations=yes" : "");
        qprof_token ta = qprof_enter(&vm->main, 0, define("a"));
        qprof_allocated(&vm->main, 30);
        qprof_freed(&vm->main, 10);
        qprof_leave(&vm->main, ta);
        qprof_allocated(&vm->main, 4);
        qprof_vm_close(vm);
        play_end(*state);
        assert_true(qp_merge_add(sum, ((play_ctx *)*state)->m, "run", false, &error));
        if (i) /* this one twice */
            assert_true(qp_merge_add(sum, ((play_ctx *)*state)->m, "run", false, &error));
    }
    qp_model *m = sum_finish(sum, "sum.qprof");
    assert_true(m->run.has_memory);
    assert_memory(profile_find(m, "a")->all.memory, 60, 2, 20, 2);
    assert_memory(m->methods[QP_ROOT_METHOD].all.memory, 68, 4, 20, 2);
    assert_int_equal(profile_find(m, "a")->all.calls, 3);
    qp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(bytes_belong_to_the_path_on_top),
        PLAY_TEST(hosts_with_stack_ids),
        PLAY_TEST(nothing_is_recorded_unasked),
        PLAY_TEST(stops_clears_snapshots_and_sizes_that_no_block_has),
        PLAY_TEST(a_memory_limit_loses_no_byte),
        PLAY_TEST(bytes_equal_a_counting_allocator),
        PLAY_TEST(sums_add_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
