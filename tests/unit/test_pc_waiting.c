/* test_pc_waiting.c: PC samples of a call in which the host makes no events: each is there once, whatever
 * happens to the thread before its next event. The test itself takes the samples. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"
#include "unit/play.h"

/* Of record/sample/sample.h, whose names are not those of the model. */
void qp_samples_note(qprof_thread *th, uint64_t ticks, uint64_t n_samples, uint64_t off);
void qp_samples_wake(void);

/* An hour between two passes of the sampler itself. */
#define NO_TIMER "'-pc=REAL 3600000000' "

static void note(unsigned n)
{
    qp_samples_note(qprof_thread_handle(QPROF_INLINE_VERSION), 0, n, 0);
}

static void note_vt(play_ctx *p, const char *name, unsigned n)
{
    qp_samples_note(qprof_thread_handle_vt(play_vt(p, name), QPROF_INLINE_VERSION), 0, n, 0);
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
        qp_samples_note(qprof_thread_handle(QPROF_INLINE_VERSION), ticks, n, 0);
        qp_samples_note(qprof_thread_handle(QPROF_INLINE_VERSION), ticks, n, 0);
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
    qp_samples_note(qprof_thread_handle(QPROF_INLINE_VERSION), 1000, 0, 0);
    qp_samples_note(qprof_thread_handle(QPROF_INLINE_VERSION), 500, 0, 0);
    play_end(p);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "f").self, 1500);
}

/* Blocks of f: offsets 0, 10 and 20, on lines 1, 2 and 3. */
static play_ctx *start_with_blocks(void **state, const char *options)
{
    static const qprof_LineInfo lines[] = {{0, 1}, {10, 2}, {20, 3}};
    play_ctx *p = play_start(state, options);
    play_register(p, "f", 0, lines, 3);
    return p;
}

static void tell(int block)
{
    qprof_sample_block(qprof_thread_handle(QPROF_INLINE_VERSION), block);
}

static void assert_block_samples(play_ctx *p, uint64_t first, uint64_t second, uint64_t third)
{
    play_figures(p, QP_ALL_THREADS, "f"); /* reads the profile */
    const qp_model *m = p->m;
    qp_block_figures *blocks;
    size_t n;
    assert_true(
        qp_model_blocks(m, qp_model_method_named(m, "f", NULL), QP_ALL_THREADS, &blocks, &n));
    assert_int_equal(n, 3);
    assert_int_equal(blocks[0].samples, first);
    assert_int_equal(blocks[1].samples, second);
    assert_int_equal(blocks[2].samples, third);
    qp_free(blocks);
}

static void samples_belong_to_the_block_that_the_host_tells(void **state)
{
    play_ctx *p = start_with_blocks(state, NO_TIMER);
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    play(p, "f(");
    assert_int_equal(qprof_has_samples(th), 0);
    note(3);
    assert_int_equal(qprof_has_samples(th), 1);
    tell(1);
    assert_int_equal(qprof_has_samples(th), 0);
    tell(1); /* none waits */
    note(4);
    tell(3); /* not a block: they belong to f alone */
    note(2);
    play(p, "g( )"); /* not told */
    note(1);
    tell(0);
    play_end(p);
    assert_samples(p, "f", 10);
    assert_block_samples(p, 1, 3, 0);
    assert_int_equal(qprof_diagnostic("bb_out_of_range"), 1);
}

static void samples_of_blocks_are_cleared(void **state)
{
    play_ctx *p = start_with_blocks(state, "-time=sampled -sample-period=3600000000");
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    play(p, "f(");
    qp_samples_note(th, 1000, 0, 0);
    tell(1);
    qprof_clear_data();
    qp_samples_note(th, 500, 0, 0);
    qp_samples_note(th, 500, 0, 0);
    tell(2);
    play_end(p);
    assert_block_samples(p, 0, 0, 2);
}

static unsigned n_woken;

static void count_wakes(void)
{
    n_woken++;
}

static void a_host_is_called_until_the_run_ends(void **state)
{
    play_ctx *p = start_with_blocks(state, NO_TIMER);
    n_woken = 0;
    qprof_on_samples(count_wakes);
    qp_samples_wake();
    qprof_on_samples(NULL);
    qp_samples_wake();
    qprof_on_samples(count_wakes);
    play_end(p);
    qp_samples_wake();
    assert_int_equal(n_woken, 1);
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
        PLAY_TEST(samples_belong_to_the_block_that_the_host_tells),
        PLAY_TEST(samples_of_blocks_are_cleared),
        PLAY_TEST(a_host_is_called_until_the_run_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
