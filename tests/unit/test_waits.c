/* test_waits.c: time on the processor and off it. Waits are real, so expected values are lower and upper
 * bounds that hold on a machine of any load: a thread that sleeps uses no time, and one that computes
 * uses as much as its CPU clock says. */
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/os/clock.h"
#include "base/os/thread.h"
#include "format/layout.h"
#include "unit/play.h"

enum { MS = 1000000, SLEPT = 30 * MS, COMPUTED = 20 * MS, SHORT = 2 * MS };

static void sleep_ns(long ns)
{
    const struct timespec t = {0, ns};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static void compute(void)
{
    uint64_t until = qp_clock_thread_cpu() + COMPUTED;
    while (qp_clock_thread_cpu() < until)
        ;
}

static uint64_t off_of(play_ctx *p, const char *name)
{
    qp_figures f = play_figures(p, QP_ALL_THREADS, name);
    assert_true(f.off <= f.self);
    return qp_model_ns(p->m, f.off);
}

static uint64_t run_of(play_ctx *p, const char *name)
{
    qp_figures f = play_figures(p, QP_ALL_THREADS, name);
    return qp_model_ns(p->m, qp_figures_self_run(&f));
}

static play_ctx *begin(void **state, const char *options)
{
    play_ctx *p = *state;
    qprof_set_clock(NULL);
    play_begin(p, options);
    return p;
}

static void the_part_off_the_processor_is_elapsed_less_cpu(void **state)
{
    (void)state;
    assert_int_equal(qp_time_off(30 * MS, 30 * MS, 0), 30 * MS);
    assert_int_equal(qp_time_off(30 * MS, 30 * MS, 10 * MS), 20 * MS);
    assert_int_equal(qp_time_off(30 * MS, 30 * MS, 30 * MS), 0);
    assert_int_equal(qp_time_off(30 * MS, 30 * MS, 31 * MS), 0); /* clocks of different steps */
    assert_int_equal(qp_time_off(30000, 30000, 28001), 0);       /* less than any switch */
    assert_int_equal(qp_time_off(30000, 30000, 28000), 2000);
}

static void short_intervals_before_it_count_as_running(void **state)
{
    (void)state;
    /* 6.4 ms of them: a 64th of that, 0.1 ms, may have been interrupts */
    assert_int_equal(qp_time_off(30 * MS, 36400000, 6400000), 29900000);
    /* nor can more be off than the interval */
    assert_int_equal(qp_time_off(MS, 65 * MS, 10 * MS), MS);
    /* and of an hour not more than 1 ms */
    assert_int_equal(qp_time_off(30 * MS, 3600000ull * MS, 3599970ull * MS), 29 * MS);
}

static void a_sleeping_call_waits_and_a_computing_call_runs(void **state)
{
    play_ctx *p = begin(state, "");
    play(p, "main( sleeps(");
    sleep_ns(SLEPT);
    play(p, ") computes(");
    compute();
    play(p, ") )");
    play_end(p);
    assert_true(p->m->run.has_waits);
    assert_in_range(off_of(p, "sleeps"), SLEPT - SHORT, UINT64_MAX);
    assert_in_range(run_of(p, "sleeps"), 0, SHORT);
    assert_in_range(run_of(p, "computes"), COMPUTED - SHORT, COMPUTED + SHORT);
    qp_figures all = play_figures(p, QP_ALL_THREADS, "main");
    assert_in_range(qp_model_ns(p->m, all.off_total), SLEPT - SHORT, UINT64_MAX);
    assert_int_equal(all.off_total, p->m->run.off);
    assert_int_equal(p->m->nodes[QP_ROOT_NODE].f.off_total, p->m->run.off);
}

/* ns for which the threads of this process were ready, but had no processor, since they began. */
static uint64_t delays(void)
{
    uint64_t sum = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (const struct dirent *task; (task = readdir(tasks)) != NULL;)
        sum += qp_task_delay(strtoull(task->d_name, NULL, 10));
    closedir(tasks);
    return sum;
}

static uint64_t less(uint64_t ns, uint64_t delay)
{
    return ns > delay ? ns - delay : 0;
}

/* A thread of the recorder looks who waits. A call that sleeps is found by each pass, and the last pass may
 * come too late for it, by as long as the machine does not run that thread. A call that computes is off
 * as long as the machine does not run it, and what is found too late may be twice as long. */
static void estimated_times_know_waits(void **state)
{
    static const char *const modes[] = {"-time=adaptive", "-time=sampled"};
    for (size_t mode = 0; mode < 2; mode++) {
        play_ctx *p = begin(state, modes[mode]);
        uint64_t before = delays();
        play(p, "main( computes(");
        compute();
        play(p, ") sleeps(");
        sleep_ns(6 * SLEPT);
        play(p, ") computes(");
        compute();
        play(p, ") )");
        sleep_ns(SLEPT / 2); /* a delay is known when it is over */
        uint64_t delay = delays() - before;
        play_end(p);
        assert_true(p->m->run.has_waits);
        assert_in_range(off_of(p, "sleeps"), less(3 * SLEPT, delay), UINT64_MAX);
        assert_in_range(off_of(p, "main") + off_of(p, "computes"), 0, SLEPT / 2 + 2 * delay);
        assert_in_range(p->m->run.off, less(3 * SLEPT, delay), UINT64_MAX);
    }
}

/* accept() is open when the run ends. */
static void an_open_call_waits_in_estimated_times(void **state)
{
    static const char *const modes[] = {"-time=adaptive", "-time=sampled"};
    for (size_t mode = 0; mode < 2; mode++) {
        play_ctx *p = begin(state, modes[mode]);
        uint64_t before = delays();
        play(p, "main( accept(");
        sleep_ns(6 * SLEPT);
        uint64_t delay = delays() - before;
        play_end(p);
        assert_in_range(off_of(p, "accept"), less(3 * SLEPT, delay), UINT64_MAX);
    }
}

static void an_interval_belongs_to_the_call_on_top(void **state)
{
    play_ctx *p = begin(state, "");
    play(p, "main(");
    sleep_ns(SLEPT);
    play(p, "callee( )");
    compute();
    play(p, ")");
    play_end(p);
    assert_in_range(off_of(p, "main"), SLEPT - SHORT, UINT64_MAX);
    assert_in_range(run_of(p, "main"), COMPUTED - SHORT, COMPUTED + SHORT);
}

static void an_open_call_waits_until_the_end(void **state)
{
    play_ctx *p = begin(state, "");
    play(p, "main( accept(");
    sleep_ns(SLEPT);
    play_end(p);
    assert_in_range(off_of(p, "accept"), SLEPT - SHORT, UINT64_MAX);
    assert_in_range(run_of(p, "accept"), 0, SHORT);
}

static void *sleep_in_a_call(void *context)
{
    play_ctx *p = context;
    play(p, "@b sleeps(");
    sleep_ns(SLEPT);
    play(p, ") @a");
    return NULL;
}

static void a_virtual_thread_waits_on_the_os_thread_that_drives_it(void **state)
{
    play_ctx *p = *state;
    pthread_t thread;
    qprof_set_clock(NULL);
    play_begin_vt(p, "");
    play(p, "@b main( @a computes(");
    compute();
    play(p, ")");
    assert_int_equal(pthread_create(&thread, NULL, sleep_in_a_call, p), 0);
    pthread_join(thread, NULL);
    play(p, "@b ) @a");
    play_end(p);
    assert_in_range(off_of(p, "sleeps"), SLEPT - SHORT, UINT64_MAX);
    assert_in_range(run_of(p, "computes"), COMPUTED - SHORT, COMPUTED + SHORT);
    assert_in_range(run_of(p, "main"), 0,
                    COMPUTED); /* it was suspended while others computed */
}

static void a_clear_forgets_waits(void **state)
{
    play_ctx *p = begin(state, "");
    play(p, "main( sleeps(");
    sleep_ns(SLEPT);
    play(p, ")");
    qprof_clear_data();
    play(p, "other( ) )");
    play_end(p);
    assert_int_equal(off_of(p, "sleeps"), 0);
}

static void a_clock_of_the_host_knows_no_waits(void **state)
{
    play_ctx *p = *state;
    play_begin(p, "");
    play(p, "f( 1000000 )");
    play_end(p);
    assert_false(p->m->run.has_waits);
    assert_int_equal(off_of(p, "f"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_part_off_the_processor_is_elapsed_less_cpu),
        cmocka_unit_test(short_intervals_before_it_count_as_running),
        cmocka_unit_test_setup_teardown(a_sleeping_call_waits_and_a_computing_call_runs,
                                        play_setup, play_teardown),
        cmocka_unit_test_setup_teardown(estimated_times_know_waits, play_setup, play_teardown),
        cmocka_unit_test_setup_teardown(an_open_call_waits_in_estimated_times, play_setup,
                                        play_teardown),
        cmocka_unit_test_setup_teardown(an_interval_belongs_to_the_call_on_top, play_setup,
                                        play_teardown),
        cmocka_unit_test_setup_teardown(an_open_call_waits_until_the_end, play_setup,
                                        play_teardown),
        cmocka_unit_test_setup_teardown(a_virtual_thread_waits_on_the_os_thread_that_drives_it,
                                        play_setup, play_teardown),
        cmocka_unit_test_setup_teardown(a_clear_forgets_waits, play_setup, play_teardown),
        cmocka_unit_test_setup_teardown(a_clock_of_the_host_knows_no_waits, play_setup,
                                        play_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
