/* test_pc_waiting.c: PC samples of a call in which the host makes no events: each is there once, whatever
 * happens to the thread before its next event. The test itself takes the samples. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/play.h"

/* Of record/sample/sample.h, whose names are not those of the model. */
void qp_samples_note(qprof_thread *th, uint64_t ticks, uint64_t n_samples);

/* An hour between two passes of the sampler itself. */
#define NO_TIMER "'-pc=REAL 3600000000' "

static void note(unsigned n)
{
    qp_samples_note(qprof_thread_handle(QPROF_INLINE_VERSION), 0, n);
}

static void note_vt(play_ctx *p, const char *name, unsigned n)
{
    qp_samples_note(qprof_thread_handle_vt(play_vt(p, name), QPROF_INLINE_VERSION), 0, n);
}

static void assert_samples(play_ctx *p, const char *method, uint64_t n)
{
    assert_int_equal(play_figures(p, QP_ALL_THREADS, method).pc_samples, n);
}

static void samples_of_a_call_that_never_ends_are_credited_at_the_end(void **state)
{
    play_ctx *p = play_start(state, NO_TIMER);
    play(p, "f( g(");
    note(3);
    note(4);
    play_end(p);
    assert_samples(p, "g", 7);
    assert_samples(p, "f", 0);
}

static void samples_are_credited_to_the_call_they_were_taken_in(void **state)
{
    play_ctx *p = play_start(state, NO_TIMER);
    play(p, "f(");
    note(5);
    play(p, "g( )");
    play_end(p);
    assert_samples(p, "f", 5);
    assert_samples(p, "g", 0);
}

static void samples_before_a_stop_are_credited(void **state)
{
    play_ctx *p = play_start(state, NO_TIMER);
    play(p, "f(");
    note(3);
    qprof_stop_recording();
    note(4); /* of no call */
    play(p, "g( )");
    qprof_start_recording();
    play(p, "g(");
    note(2);
    qprof_stop_recording(); /* and no event until the end */
    play_end(p);
    assert_samples(p, "f", 3);
    assert_samples(p, "g", 2);
}

static void samples_before_a_thread_is_turned_off_are_credited(void **state)
{
    play_ctx *p = play_start(state, NO_TIMER);
    qprof_trigger *t = qprof_trigger_create("off", QPROF_TRIGGER_OFF);
    qprof_trigger_add_routine(t, "quiet", 1);
    play(p, "f(");
    note(3);
    play(p, "quiet( ) )");
    play_end(p);
    assert_samples(p, "f", 3);
}

static void samples_before_a_clear_are_cleared(void **state)
{
    play_ctx *p = play_start(state, NO_TIMER);
    play(p, "f(");
    note(3);
    qprof_clear_data();
    note(2);
    play(p, "g( )");
    play_end(p);
    assert_samples(p, "f", 2);
}

static void samples_of_a_suspended_virtual_thread_are_credited_at_the_end(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, NO_TIMER);
    play(p, "@a f(");
    note_vt(p, "a", 3);
    play(p, "@b g(");
    note_vt(p, "b", 2);
    play(p, ")");
    play_end(p);
    assert_samples(p, "f", 3);
    assert_samples(p, "g", 2);
}

static void samples_of_a_suspended_virtual_thread_wait_for_its_next_event(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, NO_TIMER);
    play(p, "@a f(");
    note_vt(p, "a", 3);
    play(p, "@b g( ) @a h( ) )");
    play_end(p);
    assert_samples(p, "f", 3);
    assert_samples(p, "h", 0);
}

/* The profile of a child that is killed in the call. */
static void read_killed(play_ctx *p, const char *options, const char *score, uint64_t ticks,
                        unsigned n)
{
    char words[160];
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        snprintf(words, sizeof words, "%s -output=./killed.qprof", options);
        play_begin(p, words);
        play(p, score);
        qp_samples_note(qprof_thread_handle(QPROF_INLINE_VERSION), ticks, n);
        qp_samples_note(qprof_thread_handle(QPROF_INLINE_VERSION), ticks, n);
        if (symlink(qprof_live_file(), "live.qprof") != 0)
            _exit(1);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    play_read(p, "live.qprof");
    remove("live.qprof");
}

static void samples_of_a_call_in_progress_survive_a_kill(void **state)
{
    play_ctx *p = *state;
    read_killed(p, NO_TIMER, "f( g(", 0, 4);
    assert_samples(p, "g", 8);
    assert_samples(p, "f", 0);
    read_killed(p, "-time=sampled -sample-period=3600000000", "f(", 700, 0);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "f").self, 1400);
}

static void *end_in_a_call(void *method)
{
    qprof_record_fn_entry((uintptr_t)method, 1);
    note(6);
    return NULL;
}

static void samples_of_a_thread_that_ends_are_credited(void **state)
{
    pthread_t thread;
    play_ctx *p = play_start(state, NO_TIMER);
    void *method = (void *)play_method(p, "f");
    assert_int_equal(pthread_create(&thread, NULL, end_in_a_call, method), 0);
    pthread_join(thread, NULL);
    play_end(p);
    assert_samples(p, "f", 6);
}

static void sampled_time_of_a_call_that_never_ends_is_its_own(void **state)
{
    play_ctx *p = play_start(state, "-time=sampled -sample-period=3600000000");
    play(p, "f(");
    qp_samples_note(qprof_thread_handle(QPROF_INLINE_VERSION), 1000, 0);
    qp_samples_note(qprof_thread_handle(QPROF_INLINE_VERSION), 500, 0);
    play_end(p);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "f").self, 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(samples_of_a_call_that_never_ends_are_credited_at_the_end),
        PLAY_TEST(samples_are_credited_to_the_call_they_were_taken_in),
        PLAY_TEST(samples_before_a_stop_are_credited),
        PLAY_TEST(samples_before_a_thread_is_turned_off_are_credited),
        PLAY_TEST(samples_before_a_clear_are_cleared),
        PLAY_TEST(samples_of_a_suspended_virtual_thread_are_credited_at_the_end),
        PLAY_TEST(samples_of_a_suspended_virtual_thread_wait_for_its_next_event),
        PLAY_TEST(samples_of_a_call_in_progress_survive_a_kill),
        PLAY_TEST(samples_of_a_thread_that_ends_are_credited),
        PLAY_TEST(sampled_time_of_a_call_that_never_ends_is_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
