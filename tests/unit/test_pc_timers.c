/* test_pc_timers.c: PC samples that the sampler makes of the time that passes, and what they
 * represent. No limit is in wall-clock time: the machine may be busy. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "unit/play.h"

/* Use CPU time of this thread; what it is used for does not matter. */
static void burn(uint64_t ms)
{
    uint64_t end = qp_clock_thread_cpu() + ms * 1000000;
    while (qp_clock_thread_cpu() < end)
        ;
}

static uint64_t occurred(void)
{
    qprof_PcTotals t;
    assert_int_equal(qprof_pc_totals(&t), 0);
    return t.occurred;
}

/* Of 20 ms at most 20 PC samples can come, and a few late ones; of the 300 besides none. */
static void assert_nothing_of_the_300(void)
{
    assert_true(occurred() <= 60);
}

static void time_while_recording_is_stopped_is_not_charged(void **state)
{
    play_ctx *p = play_start(state, "'-pc=VIRTUAL 1000'");
    play(p, "f(");
    burn(20);
    play(p, "g( )");
    qprof_stop_recording();
    play(p, "g( )");
    burn(300);
    qprof_start_recording();
    play(p, "g( ) )");
    assert_nothing_of_the_300();
}

static void time_while_a_thread_is_off_or_the_gate_closed_is_not_charged(void **state)
{
    play_ctx *p = play_start(state, "'-pc=VIRTUAL 1000'");
    qprof_trigger *t = qprof_trigger_create("off", QPROF_TRIGGER_OFF);
    qprof_trigger_add_routine(t, "quiet", 1);
    play(p, "f(");
    burn(20);
    play(p, "quiet( g( )");
    burn(150);
    play(p, "g( ) )");
    qprof_enable_profiling(0);
    play(p, "g( )");
    burn(150);
    qprof_enable_profiling(1);
    play(p, "g( ) )");
    assert_nothing_of_the_300();
}

static void time_before_the_command_is_not_charged(void **state)
{
    play_ctx *p = *state;
    burn(300);
    play_begin(p, "");
    qprof_thread_create(1);
    assert_int_equal(qprof_pc_command("VIRTUAL 1000", NULL), 0);
    play(p, "f(");
    burn(20);
    play(p, "g( ) )");
    assert_nothing_of_the_300();
}

static void time_after_the_last_command_is_not_charged(void **state)
{
    play_ctx *p = play_start(state, "'-pc=VIRTUAL 1000'");
    play(p, "f(");
    burn(20);
    play(p, "g( )");
    assert_int_equal(qprof_pc_off(), 0);
    burn(300);
    play(p, "g( )");
    assert_nothing_of_the_300();
    assert_int_equal(qprof_pc_sample(1), QPROF_E_STATE);
    play_end(p);
    assert_true(play_figures(p, QP_ALL_THREADS, "f").pc_samples <= 60);
}

/* Calls of 5, 3, 1.5 and 0.5 ms in turn: no pass represents more than its own period, so that
 * what is short has no PC samples of the long call before it. PC samples that came too late
 * could have been of any method. Each round begins at another place in the period: in step with it
 * a call of half a period would have a PC sample in each round, or in none. */
static void calls_of_different_lengths_have_their_shares(void **state)
{
    enum { PARTS = 4, ROUNDS = 80 };
    static const unsigned wait_us[PARTS] = {5000, 3000, 1500, 500};
    static const char *const names[PARTS] = {"a", "b", "c", "d"};
    play_ctx *p = *state;
    double elapsed[PARTS] = {0}, all = 0, n_all = 0;
    play_begin(p, "'-pc=REAL 1000'");
    play(p, "main(");
    for (unsigned i = 0; i < ROUNDS * PARTS; i++) {
        if (i % PARTS == 0)
            qp_clock_sleep_until(qp_clock_monotonic() + i / PARTS * 617 % 1000 * 1000);
        uint64_t began = qp_clock_monotonic();
        qprof_record_fn_entry(play_method(p, names[i % PARTS]), 2);
        qp_clock_sleep_until(began + wait_us[i % PARTS] * 1000);
        qprof_record_fn_exit(1);
        elapsed[i % PARTS] += (double)(qp_clock_monotonic() - began);
    }
    play(p, ")");
    play_end(p);
    double n_late = (double)play_file_diagnostic(p, "overrun");
    for (unsigned i = 0; i < PARTS; i++) {
        all += elapsed[i];
        n_all += (double)play_figures(p, QP_ALL_THREADS, names[i]).pc_samples;
    }
    double most = 5 + 100 * n_late / (n_all + n_late);
    for (unsigned i = 0; i < PARTS; i++) {
        double points =
            100 * ((double)play_figures(p, QP_ALL_THREADS, names[i]).pc_samples / n_all -
                   elapsed[i] / all);
        if (points < -most || points > most)
            fail_msg("%s is %.1f points off: more than %.1f", names[i], points, most);
    }
}

/* Interrupts that were made, and those that came too late. */
static uint64_t accounted(play_ctx *p)
{
    play(p, "g( )"); /* those that wait are credited */
    return occurred() + qprof_diagnostic("overrun");
}

/* The sampler has come by twice: what was due before has been accounted for. @return how
 * many */
static uint64_t wait_for_passes(play_ctx *p)
{
    uint64_t n = accounted(p), end = occurred() + 2;
    for (; occurred() < end; n = accounted(p))
        qp_clock_sleep_until(qp_clock_monotonic() + 1000000);
    return n;
}

/* A wait has an interrupt for each period, but for those that came too late. */
static void a_host_that_waits_has_all_its_interrupts(void **state)
{
    enum { WAIT_MS = 300 };
    play_ctx *p = play_start(state, "'-pc=REAL 1000'");
    play(p, "f(");
    uint64_t began = qp_clock_monotonic(), before = wait_for_passes(p);
    qp_clock_sleep_until(qp_clock_monotonic() + WAIT_MS * 1000000);
    uint64_t n = wait_for_passes(p) - before;
    uint64_t waited_ms = (qp_clock_monotonic() - began) / 1000000;
    play(p, ")");
    assert_true(qprof_diagnostic("throttled") || n >= WAIT_MS * 9 / 10);
    assert_true(n <= waited_ms + 10);
}

/* Somebody stops the program for a while, by job control. */
static void be_stopped(uint64_t ms)
{
    pid_t stopped = getpid(), waker = fork();
    assert_true(waker >= 0);
    if (!waker) {
        qp_clock_sleep_until(qp_clock_monotonic() + ms * 1000000);
        while (kill(stopped, SIGCONT) == 0 && getppid() == stopped)
            qp_clock_sleep_until(qp_clock_monotonic() + 1000000);
        _exit(0);
    }
    raise(SIGSTOP);
    kill(waker, SIGKILL);
    waitpid(waker, NULL, 0);
}

/* As much as the machine has other things to do: passes that come late have no CPU time to
 * show. */
static void interrupts_of_cpu_time_stand_for_no_more_than_was_used(void **state)
{
    play_ctx *p = *state;
    qprof_set_clock(NULL);
    play_begin(p, "-collect=samples '-pc=VIRTUAL 1000'");
    uint64_t began = qp_clock_process_cpu();
    play(p, "f(");
    burn(50);
    be_stopped(500);
    burn(50);
    play(p, "g( ) )");
    uint64_t used = qp_clock_process_cpu() - began;
    qprof_pc_sample(1); /* there is a profile, whatever the machine does */
    play_end(p);
    assert_true(qp_model_ns(p->m, play_figures(p, QP_ALL_THREADS, "f").total) <= used);
}

static void sampled_times_continue_without_the_command(void **state)
{
    play_ctx *p = *state;
    qprof_set_clock(NULL);
    play_begin(p, "-time=sampled -sample-period=1000 -pc=REAL");
    play(p, "f(");
    assert_int_equal(qprof_pc_off(), 0);
    burn(50);
    play(p, "g( ) )");
    play_end(p);
    assert_true(play_figures(p, QP_ALL_THREADS, "f").self > 0);
}

static void a_os_thread_that_was_there_before_gets_its_timer(void **state)
{
    play_ctx *p = play_start(state, "-pc-signal");
    qprof_thread_create(1);
    assert_int_equal(qprof_pc_command("VIRTUAL 1000", NULL), 0);
    play(p, "f(");
    const char *emulator = getenv("QPROF_EMULATOR");
    if (emulator && *emulator && qprof_diagnostic("sampler_unavailable"))
        skip(); /* qemu-user refuses the timer of a thread's CPU time */
    burn(100);
    play(p, "g( ) )");
    assert_true(occurred() > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(time_while_recording_is_stopped_is_not_charged),
        PLAY_TEST(time_while_a_thread_is_off_or_the_gate_closed_is_not_charged),
        PLAY_TEST(time_before_the_command_is_not_charged),
        PLAY_TEST(time_after_the_last_command_is_not_charged),
        PLAY_TEST(calls_of_different_lengths_have_their_shares),
        PLAY_TEST(a_host_that_waits_has_all_its_interrupts),
        PLAY_TEST(interrupts_of_cpu_time_stand_for_no_more_than_was_used),
        PLAY_TEST(sampled_times_continue_without_the_command),
        PLAY_TEST(a_os_thread_that_was_there_before_gets_its_timer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
