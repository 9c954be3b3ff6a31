/* test_sampling.c: the sampler against everything that a thread does: calls, unwinding,
 * coroutine switches, thread ends, saves, clears, stops, forks. QPROF_STRESS_SECONDS makes it
 * longer. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "unit/play.h"

enum { N_OS_THREADS = 3, N_VIRTUAL = 12, METHODS = 40, DEPTH_MAX = 300 };

static uint32_t must_stop;
static bool is_virtual;
static qprof_MethodID methods[METHODS];

typedef struct {
    uint64_t seed;
    uintptr_t depth[N_VIRTUAL]; /* of the virtual threads that this OS thread drives */
    unsigned ordinal;
} os_thread;

static unsigned pick(os_thread *c, unsigned n)
{
    c->seed ^= c->seed << 13;
    c->seed ^= c->seed >> 7;
    c->seed ^= c->seed << 17;
    return (unsigned)(c->seed >> 33) % n;
}

static void enter(os_thread *c, unsigned vt, uintptr_t depth)
{
    qprof_MethodID method = methods[pick(c, METHODS)];
    if (is_virtual)
        qprof_record_fn_entry_vt(method, depth, 1 + c->ordinal * N_VIRTUAL + vt);
    else
        qprof_record_fn_entry(method, depth);
}

static void leave(os_thread *c, unsigned vt, uintptr_t depth)
{
    if (is_virtual)
        qprof_record_fn_exit_vt(depth, 1 + c->ordinal * N_VIRTUAL + vt);
    else
        qprof_record_fn_exit(depth);
}

/* Calls, returns, errors that unwind, and in virtual-thread mode a switch now and then. */
static void play_a_while(os_thread *c, unsigned n_events)
{
    unsigned vt = 0;
    for (unsigned i = 0; i < n_events; i++) {
        unsigned what = pick(c, 100);
        if (is_virtual && what < 5)
            vt = pick(c, N_VIRTUAL);
        uintptr_t *depth = &c->depth[vt];
        if (what < 50 && *depth < DEPTH_MAX) {
            enter(c, vt, ++*depth);
        } else if (*depth) {
            *depth = what < 97 ? *depth - 1 : pick(c, (unsigned)*depth + 1);
            leave(c, vt, *depth);
        }
    }
}

static void *carry(void *arg)
{
    os_thread *c = arg;
    while (!__atomic_load_n(&must_stop, __ATOMIC_RELAXED))
        play_a_while(c, 2000);
    return NULL;
}

/* An OS thread that lives shortly. */
static void *visit(void *arg)
{
    os_thread c = {.seed = 77, .ordinal = *(unsigned *)arg};
    play_a_while(&c, 200);
    return NULL;
}

static void disturb(play_ctx *p, unsigned round)
{
    unsigned ordinal = N_OS_THREADS + round % 5;
    pthread_t visitor;
    assert_int_equal(pthread_create(&visitor, NULL, visit, &ordinal), 0);
    pthread_join(visitor, NULL);
    switch (round % 6) {
    case 0:
        qprof_stop_recording();
        qprof_start_recording();
        break;
    case 1:
        if (round % 4 == 1)
            qprof_clear_data();
        break;
    case 2:
        qprof_save_data_to_file("snapshot.qprof");
        break;
    case 3: {
        pid_t child = fork();
        if (!child)
            _exit(0);
        assert_int_equal(play_child_status(child), 0);
        break;
    }
    default: {
        qprof_PcTotals t;
        assert_int_equal(qprof_pc_totals(&t), 0);
        assert_int_equal(t.counted + t.skipped, t.occurred);
    }
    }
    (void)p;
}

static double seconds(void)
{
    const char *wanted = getenv("QPROF_STRESS_SECONDS");
    return wanted ? strtod(wanted, NULL) : 0.3;
}

static void stress(play_ctx *p, const char *options, bool with_vt)
{
    pthread_t threads[N_OS_THREADS];
    os_thread os_threads[N_OS_THREADS] = {0};
    uint64_t end = qp_clock_monotonic() + (uint64_t)(seconds() * 1e9);
    is_virtual = with_vt;
    must_stop = 0;
    if (with_vt)
        play_begin_vt(p, options);
    else
        play_begin(p, options);
    for (int i = 0; i < METHODS; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", i);
        methods[i] = play_method(p, name);
    }
    for (unsigned i = 0; i < N_OS_THREADS; i++) {
        os_threads[i] = (os_thread){.seed = 1000 + i, .ordinal = i};
        assert_int_equal(pthread_create(&threads[i], NULL, carry, &os_threads[i]), 0);
    }
    qprof_PcTotals t = {0};
    for (unsigned round = 0; qp_clock_monotonic() < end || !t.occurred; round++) {
        disturb(p, round);
        assert_int_equal(qprof_pc_totals(&t), 0);
    }
    __atomic_store_n(&must_stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < N_OS_THREADS; i++)
        pthread_join(threads[i], NULL);
    play_end(p); /* every invariant of the file holds */
}

/* One exit ends all frames that an error has left, at whatever moment the sampler looks. */
static void unwinding_is_sampled_without_harm(void **state) /* sampling 36 */
{
    enum { DEEP = 200 };
    play_ctx *p = *state;
    uint64_t end = qp_clock_monotonic() + (uint64_t)(seconds() * 1e9), n_rounds = 0;
    qprof_PcTotals t;
    play_begin(p, "'-pc=REAL 50'");
    qprof_MethodID outer = play_method(p, "outer"), inner = play_method(p, "inner");
    for (; qp_clock_monotonic() < end; n_rounds++) {
        qprof_record_fn_entry(outer, 1);
        for (uintptr_t depth = 2; depth < DEEP; depth++)
            qprof_record_fn_entry(inner, depth);
        qprof_record_fn_exit(1); /* caught in outer */
        qprof_record_fn_exit(0);
    }
    assert_int_equal(qprof_pc_totals(&t), 0);
    assert_true(t.occurred > 0);
    assert_int_equal(qprof_diagnostic("sample_lost"), 0);
    play_end(p);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "outer").calls, n_rounds);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "inner").calls, n_rounds * (DEEP - 2));
}

static void samples_alone_survive_everything(void **state)
{
    stress(*state, "-collect=samples '-pc=REAL 50'", false);
}

static void samples_of_virtual_threads_survive_everything(void **state)
{
    stress(*state, "-collect=samples '-pc=VIRTUAL 50 WHEN score.m1->*;'", true);
}

static void samples_beside_exact_times_survive_everything(void **state)
{
    stress(*state, "'-pc=REAL 50'", true);
}

static void sampled_times_survive_everything(void **state)
{
    stress(*state, "-time=sampled -sample-period=50 '-pc=REAL 50'", false);
}

static void a_signal_as_the_timer_survives_everything(void **state)
{
    stress(*state, "-collect=samples '-pc=REAL 50' -pc-signal=yes", false);
}

static void *wait_for_samples(void *unused)
{
    qprof_record_fn_entry(methods[0], 1);
    while (!__atomic_load_n(&must_stop, __ATOMIC_RELAXED)) {
        qprof_record_fn_entry(methods[1], 2);
        qprof_record_fn_exit(1);
    }
    qprof_record_fn_exit(0);
    return unused;
}

/* No timer expires before its time, so the mean of their intervals is what was asked for or more,
 * however many there are. The intervals of one timer do not overlap: those of all timers take at most the
 * time that has passed, once for each. */
static void the_measured_interval_is_that_of_one_timer(void **state)
{
    play_ctx *p = *state;
    pthread_t threads[N_OS_THREADS];
    qprof_PcTotals t = {0};
    must_stop = 0;
    uint64_t begin = qp_clock_monotonic();
    play_begin(p, "-collect=samples '-pc=REAL 2000' -pc-signal=yes");
    for (int i = 0; i < 2; i++)
        methods[i] = play_method(p, i ? "inner" : "outer");
    for (int i = 0; i < N_OS_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_samples, NULL), 0);
    while (t.occurred < 200)
        assert_int_equal(qprof_pc_totals(&t), 0); /* while it runs */
    uint64_t passed_us = (qp_clock_monotonic() - begin) / 1000;
    /* this thread has a timer if it has an event */
    assert_true(t.measured * t.occurred <= (N_OS_THREADS + 1) * passed_us);
    __atomic_store_n(&must_stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < N_OS_THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(t.measured >= 2000);
    play_end(p);
    assert_true(p->m->run.sample_period_reached_ns >= 2000000);
}

/* Below the smallest stack for signals that the kernel takes, and 1 KiB, no page can be written. */
static void *wait_on_a_small_signal_stack(void *unused)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), frame = getauxval(AT_MINSIGSTKSZ);
    size_t least = (size_t)MINSIGSTKSZ > frame ? (size_t)MINSIGSTKSZ : frame;
    size_t room = (least + 1024 + 15) & ~(size_t)15;
    size_t n_bytes = page + (room + page - 1) / page * page;
    char *pages =
        mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED && mprotect(pages, page, PROT_NONE) == 0);
    const stack_t small = {.ss_sp = pages + page, .ss_size = room};
    const stack_t none = {.ss_flags = SS_DISABLE};
    stack_t before;
    assert_int_equal(sigaltstack(&small, &before), 0);
    wait_for_samples(unused);
    assert_int_equal(sigaltstack(before.ss_sp ? &before : &none, NULL), 0);
    for (size_t i = 0; !unused && i < room; i++)
        unused = pages[page + i] ? &must_stop : NULL;
    munmap(pages, n_bytes);
    return unused; /* not NULL: the stack was used */
}

/* reliability.md A1 13 */
static void a_small_signal_stack_is_large_enough(void **state)
{
    play_ctx *p = *state;
    pthread_t thread;
    void *was_used;
    qprof_PcTotals t = {0};
    must_stop = 0;
    play_begin(p, "-collect=samples '-pc=REAL 100' -pc-signal=yes");
    for (int i = 0; i < 2; i++)
        methods[i] = play_method(p, i ? "inner" : "outer");
    assert_int_equal(pthread_create(&thread, NULL, wait_on_a_small_signal_stack, NULL), 0);
    while (t.occurred < 200)
        assert_int_equal(qprof_pc_totals(&t), 0);
    __atomic_store_n(&must_stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, &was_used);
    assert_non_null(was_used);
    play_end(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(unwinding_is_sampled_without_harm),
        PLAY_TEST(samples_alone_survive_everything),
        PLAY_TEST(samples_of_virtual_threads_survive_everything),
        PLAY_TEST(samples_beside_exact_times_survive_everything),
        PLAY_TEST(sampled_times_survive_everything),
        PLAY_TEST(a_signal_as_the_timer_survives_everything),
        PLAY_TEST(the_measured_interval_is_that_of_one_timer),
        PLAY_TEST(a_small_signal_stack_is_large_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
