/* test_locks.c: waits for locks, by the path that waited and the path that held the lock. The clock is the test's. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "model/combine/combine.h"
#include "model/figures/figures.h"
#include "qprof/embed.h"
#include "unit/files.h"
#include "unit/play.h"

static const char *name_of(const qp_model *m, uint32_t node)
{
    return node ? m->methods[m->nodes[node].method].name : "-";
}

/* The row of a lock, a waiter and a holder ("-": not known). */
static qp_lock_waits row_of(const qp_model *m, const char *lock, const char *waiter,
                            const char *holder)
{
    qp_lock_waits *all, found = {.n = 0};
    size_t n;
    assert_true(qp_model_lock_waits(m, false, &all, &n));
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].lock, lock) == 0 && strcmp(name_of(m, all[i].waiter), waiter) == 0 &&
            strcmp(name_of(m, all[i].holder), holder) == 0)
            found = all[i];
    qp_free(all);
    return found;
}

static size_t n_rows(const qp_model *m, bool by_paths)
{
    qp_lock_waits *all;
    size_t n;
    assert_true(qp_model_lock_waits(m, by_paths, &all, &n));
    qp_free(all);
    return n;
}

static void assert_row(const qp_model *m, const char *lock, const char *waiter,
                       const char *holder, uint64_t n, uint64_t ns, uint64_t longest)
{
    qp_lock_waits w = row_of(m, lock, waiter, holder);
    assert_int_equal(w.n, n);
    assert_int_equal(w.ns, ns);
    assert_int_equal(w.longest_ns, longest);
}

static void wait_for(play_ctx *p, qprof_thread *th, const char *lock, uint64_t holder,
                     const char *time)
{
    uint64_t begun = qprof_wait_begin(th);
    play(p, time);
    qprof_wait_end(th, begun, lock, 0, holder);
}

/* f takes `a`; g waits 10 and 30 for it; h, called by f and by g, waits for `b`, of which the holder is not known. */
static void waits_belong_to_both_paths(void **state)
{
    static const char *const modes[] = {"-time=exact", "-time=adaptive", "-time=none",
                                        "-time=exact -collect=profile,trace",
                                        "-time=exact -check-host=yes"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        unlink("run.qprof");
        play_ctx *p = play_start(state, modes[i]);
        qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
        assert_int_equal(qprof_wait_begin(&(qprof_thread){.gate = 0}), 0);
        play(p, "f( 5");
        uint64_t f = qprof_thread_path(th);
        play(p, "h(");
        wait_for(p, th, "b", 0, "7");
        play(p, ") ) g(");
        wait_for(p, th, "a", f, "10");
        wait_for(p, th, "a", f, "30");
        play(p, "h(");
        wait_for(p, th, "b", 0, "2");
        wait_for(p, th, NULL, 12345, "1");
        play(p, ") )");
        play_end(p);
        assert_row(p->m, "a", "g", "f", 2, 40, 30);
        assert_row(p->m, "b", "h", "-", 2, 9, 7);
        assert_row(p->m, "(lock)", "h", "-", 1, 1, 1);
        assert_int_equal(n_rows(p->m, false), 3);
        assert_int_equal(n_rows(p->m, true), 4);
    }
}

/* A coroutine waits while the one that holds the lock runs; the waiter is named, and is below the top. */
static void coroutines_wait_for_each_other(void **state)
{
    static qprof_vm vm;
    qprof_stack other;
    qprof_set_clock(play_clock);
    assert_int_equal(qprof_vm_open(&vm, "-output=run.qprof -log-file=none"), 1);
    qprof_MethodID main_id = qprof_define("main", NULL, "a.src", NULL, 0),
                   taker = qprof_define("taker", NULL, "a.src", NULL, 0),
                   waiter = qprof_define("waiter", NULL, "a.src", NULL, 0),
                   acquire = qprof_define("acquire", NULL, NULL, NULL, 0);
    qprof_token tm = qprof_enter(&vm.main, 0, main_id);
    qprof_token tt = qprof_enter(&vm.main, tm, taker);
    uint64_t holder = qprof_path_of_token(qprof_thread_path(vm.main.th), tt);
    qprof_stack_create(&other, &vm.main);
    qprof_switch(&vm, &other);
    qprof_token tw = qprof_enter(&other, 0, waiter);
    qprof_token ta = qprof_enter(&other, tw, acquire);
    uint64_t path = qprof_path_of_token(qprof_thread_path(other.th), tw);
    uint64_t begun = qprof_wait_begin(other.th);
    qprof_switch(&vm, &vm.main);
    play_clock_add(100);
    qprof_switch(&vm, &other);
    qprof_wait_end(other.th, begun, "db", path, holder);
    begun = qprof_wait_begin(other.th);
    play_clock_add(1);
    qprof_wait_end(other.th, begun, "db", 0,
                   holder); /* acquire has no source: its caller is shown */
    qprof_leave(&other, ta);
    qprof_leave(&other, tw);
    qprof_switch(&vm, &vm.main);
    qprof_leave(&vm.main, tt);
    qprof_leave(&vm.main, tm);
    qprof_vm_close(&vm);
    play_end(*state);
    assert_row(((play_ctx *)*state)->m, "db", "waiter", "taker", 2, 101, 100);
    assert_int_equal(n_rows(((play_ctx *)*state)->m, false), 1);
}

static void more_locks_than_a_path_keeps(void **state)
{
    enum { N = 100 };
    char lock[16];
    play_ctx *p = play_start(state, "-time=none");
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    play(p, "f(");
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < N; i++) {
            snprintf(lock, sizeof lock, "l%d", i);
            wait_for(p, th, lock, 0, "3");
        }
    play(p, ")");
    play_end(p);
    assert_row(p->m, "l0", "f", "-", 2, 6, 3);
    assert_row(p->m, "l63", "f", "-", 2, 6, 3);
    assert_row(p->m, "l64", "f", "-", 0, 0, 0);
    assert_row(p->m, "", "f", "-", 2 * (N - QP_LOCK_WAITS), 6 * (N - QP_LOCK_WAITS), 3);
    assert_int_equal(n_rows(p->m, false), QP_LOCK_WAITS + 1);
}

/* Where calls have no times, a wait may be the only data of an open call since a clear. */
static void a_wait_alone_is_data(void **state)
{
    play_ctx *p = play_start(state, "-time=none");
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    play(p, "f(");
    wait_for(p, th, "a", 0, "8");
    qprof_clear_data();
    wait_for(p, th, "a", 0, "5");
    qprof_save_data();
    play_read(p, "run.qprof");
    assert_row(p->m, "a", "f", "-", 1, 5, 5);
    play(p, ")");
    qprof_shutdown();
}

static void stops_clears_and_wrong_moments(void **state)
{
    play_ctx *p = play_start(state, "-time=exact");
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    play(p, "f(");
    wait_for(p, th, "a", 0, "8");
    qprof_clear_data();
    wait_for(p, th, "a", UINT64_MAX, "5");
    qprof_stop_recording();
    wait_for(p, th, "a", 0, "50");
    qprof_start_recording();
    qprof_wait_end(th, 0, "a", 0, 0);
    uint64_t before = qprof_diagnostic("e_arg");
    qprof_wait_end(th, UINT64_MAX, "a", 0, 0);
    qprof_wait_end(th, 1, "a", 0, 0); /* before the run began */
    assert_int_equal(qprof_diagnostic("e_arg") - before, 2);
    qprof_wait_end(NULL, 1, "a", 0, 0);
    uint64_t begun = qprof_wait_begin(th);
    play(p, ")");
    play_end(p);
    qprof_wait_end(th, begun, "a", 0, 0);
    assert_row(p->m, "a", "f", "-", 1, 5, 5);
}

/* The holder is on a thread that comes after that of the waiter. */
static void sums_add_waits(void **state)
{
    qp_merge *sum = qp_merge_new();
    qp_error error;
    for (int i = 0; i < 2; i++) {
        unlink("run.qprof");
        play_ctx *p = *state;
        play_begin_vt(p, "-time=exact");
        play(p, "@a f( @b 1 t( u(");
        uint64_t holder =
            qprof_thread_path(qprof_thread_handle_vt(play_vt(p, "b"), QPROF_INLINE_VERSION));
        play(p, "@a g(");
        qprof_thread *th = qprof_thread_handle_vt(play_vt(p, "a"), QPROF_INLINE_VERSION);
        wait_for(p, th, "a", holder, i ? "20" : "6");
        wait_for(p, th, "b", 0, "1");
        play(p, ") ) @b ) )");
        play_end(p);
        assert_row(p->m, "a", "g", "u", 1, i ? 20 : 6, i ? 20 : 6);
        assert_true(qp_merge_add(sum, p->m, "run", false, &error));
    }
    qp_model *m = sum_finish(sum, "sum.qprof");
    assert_row(m, "a", "g", "u", 2, 26, 20);
    assert_row(m, "b", "g", "-", 2, 2, 1);
    assert_int_equal(n_rows(m, true), 2);
    qp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(waits_belong_to_both_paths),     PLAY_TEST(coroutines_wait_for_each_other),
        PLAY_TEST(more_locks_than_a_path_keeps),   PLAY_TEST(a_wait_alone_is_data),
        PLAY_TEST(stops_clears_and_wrong_moments), PLAY_TEST(sums_add_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
