/* test_counts.c tests record/control/counts.c and cover/: every run adds to the -counts-file,
 * and nothing is counted twice or lost. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cprof/tally.h"

static const char counts[] = "-counts-file=all.pcv";

/* ---- adding ------------------------------------------------------------------------------ */

static void the_first_run_makes_the_file(void **state)
{
    (void)state;
    tally_run(counts, 3, 1);
    tally_read("all.pcv");
    assert_tally("f", 3, 3, 1);
    assert_int_equal(play_count_files("all.pcv"), 1);
}

static void a_later_run_adds_to_it(void **state) /* qii 45 */
{
    (void)state;
    tally_run(counts, 3, 1);
    tally_run(counts, 2, 2);
    tally_run(counts, 1, 0);
    tally_read("all.pcv");
    assert_tally("f", 6, 6, 3);
    assert_int_equal(play_count_files(""), 1);
}

static void methods_of_either_run_are_there(void **state) /* qii 43, 45 */
{
    (void)state;
    tally_begin(counts);
    tally_register(TALLY_G, "g", 20, 21);
    tally_call(TALLY_G, 4, 2);
    tally_call(TALLY_F, 1, 1);
    cprof_shutdown();
    tally_begin(counts);
    tally_register(TALLY_G, "h", 30, 31); /* the id means another one in this run */
    tally_call(TALLY_G, 7, 7);
    cprof_shutdown();
    tally_read("all.pcv");
    assert_tally("f", 1, 1, 1);
    assert_tally("g", 4, 4, 2);
    assert_tally("h", 7, 7, 7);
}

static void a_method_that_was_never_called_stays_missed(void **state) /* qii 43 */
{
    (void)state;
    tally_begin(counts);
    tally_register(TALLY_G, "g", 20, 21);
    tally_call(TALLY_F, 1, 0);
    cprof_shutdown();
    tally_run(counts, 1, 0);
    tally_read("all.pcv");
    assert_tally("f", 2, 2, 0);
    assert_tally("g", 0, 0, 0);
}

static void nameless_functions_of_a_file_stay_apart(void **state)
{
    (void)state;
    tally_begin(counts);
    tally_register(TALLY_G, "?", 20, 21);
    tally_register(TALLY_H, "?", 30, 31);
    tally_call(TALLY_G, 1, 1);
    cprof_shutdown();
    tally_begin(counts);
    tally_register(TALLY_G, "?", 40, 41);
    tally_call(TALLY_G, 1, 1);
    cprof_shutdown();
    assert_int_equal(play_count_files(""), 1);
}

static void contexts_add_up_by_name(void **state)
{
    (void)state;
    tally_begin(counts);
    tally_call(TALLY_F, 1, 1);
    cprof_context("a");
    tally_call(TALLY_F, 2, 0);
    cprof_shutdown();
    tally_begin(counts);
    cprof_context("b");
    tally_call(TALLY_F, 4, 0);
    cprof_context("a");
    tally_call(TALLY_F, 8, 8);
    cprof_shutdown();
    tally_read("all.pcv");
    assert_tally("f", 15, 15, 9);
    assert_context("f", "a", 10, 10, 8);
    assert_context("f", "b", 4, 4, 0);
    assert_context("f", "", 1, 1, 1);
}

static void a_run_without_contexts_adds_to_none(void **state)
{
    (void)state;
    tally_run(counts, 5, 5);
    tally_begin(counts);
    cprof_context("a");
    tally_call(TALLY_F, 2, 1);
    cprof_shutdown();
    tally_run(counts, 3, 0);
    tally_read("all.pcv");
    assert_tally("f", 10, 10, 6);
    assert_context("f", "a", 2, 2, 1);
    assert_context("f", "", 8, 8, 5);
}

static void jumps_add_up(void **state)
{
    static const qprof_JumpInfo jumps[] = {{QPROF_JUMP_ENTRY, 0}, {0, 0}};
    static const unsigned char falls[] = {1, 0};
    (void)state;
    for (unsigned i = 1; i <= 2; i++) {
        tally_begin(counts);
        assert_int_equal(cprof_register_jumps(TALLY_F, jumps, 2, falls), 0);
        uint64_t *counters = cprof_counter_bank(TALLY_F);
        counters[0] += i;
        counters[1] += 10 * i;
        cprof_shutdown();
    }
    tally_read("all.pcv");
    assert_tally("f", 3, 3, 30); /* values are those of the jumps */
    assert_int_equal(play_count_files(""), 1);
}

static void counts_beyond_32_bits_add_up(void **state) /* qii 53 */
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        tally_begin(counts);
        cprof_record_fn_entry(TALLY_F, 1);
        cprof_record_bb_counts(0, 1ull << 40);
        cprof_record_bb_counts(1, 0);
        cprof_record_fn_exit(0);
        cprof_shutdown();
    }
    tally_read("all.pcv");
    assert_tally("f", 2, 1ull << 41, 0);
}

static void names_have_conversions(void **state) /* qii 50 */
{
    (void)state;
    tally_run("-program-name=prog -counts-file=%v.pcv", 1, 0);
    tally_run("-program-name=prog -counts-file=%v.pcv", 1, 0);
    tally_read("prog.pcv");
    assert_tally("f", 2, 2, 0);
}

/* ---- saving ------------------------------------------------------------------------------ */

static void a_run_that_saves_again_replaces_what_it_saved(void **state)
{
    (void)state;
    tally_run(counts, 1, 1);
    tally_begin(counts);
    tally_call(TALLY_F, 2, 1);
    assert_int_equal(cprof_save_data(), 1);
    tally_read("all.pcv");
    assert_tally("f", 3, 3, 2);
    tally_call(TALLY_F, 4, 1);
    assert_int_equal(cprof_save_data(), 1);
    tally_read("all.pcv");
    assert_tally("f", 7, 7, 3);
    tally_call(TALLY_F, 8, 1);
    cprof_shutdown();
    tally_read("all.pcv");
    assert_tally("f", 15, 15, 4);
}

static void what_was_saved_before_a_clear_stays(void **state)
{
    (void)state;
    tally_begin(counts);
    cprof_context("a");
    tally_call(TALLY_F, 2, 1);
    cprof_save_data();
    cprof_clear_data();
    tally_call(TALLY_F, 4, 0);
    cprof_save_data();
    tally_call(TALLY_F, 8, 0);
    cprof_shutdown();
    tally_read("all.pcv");
    assert_tally("f", 14, 14, 1);
    assert_context("f", "a", 14, 14, 1);
}

static void other_runs_may_add_between_two_saves(void **state)
{
    (void)state;
    tally_begin(counts);
    cprof_context("ours");
    for (unsigned i = 0; i < 3; i++) {
        tally_call(TALLY_F, 1, 0);
        assert_int_equal(cprof_save_data(), 1);
        int pid = fork();
        if (!pid) { /* does not follow its parent: a run of its own */
            tally_begin(counts);
            cprof_context("theirs");
            tally_call(TALLY_F, 100, 100);
            cprof_shutdown();
            _exit(0);
        }
        assert_int_equal(play_child_status(pid), 0);
    }
    cprof_shutdown();
    tally_read("all.pcv");
    assert_tally("f", 303, 303, 300);
    assert_context("f", "ours", 3, 3, 0);
    assert_context("f", "theirs", 300, 300, 300);
}

static void another_name_gets_a_dataset_of_its_own(void **state)
{
    (void)state;
    tally_run(counts, 1, 0);
    tally_begin(counts);
    tally_call(TALLY_F, 2, 0);
    assert_int_equal(cprof_save_data_to_file("mine.pcv"), 1);
    tally_read("mine.pcv");
    assert_tally("f", 2, 2, 0);
    cprof_shutdown();
    tally_read("all.pcv");
    assert_tally("f", 3, 3, 0);
}

/* ---- several processes ------------------------------------------------------------------- */

static void eight_processes_lose_nothing(void **state)
{
    enum { PROCESSES = 8, RUNS = 12 };
    int pids[PROCESSES];
    (void)state;
    for (unsigned i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        if (pids[i])
            continue;
        for (unsigned k = 0; k < RUNS; k++)
            tally_run(counts, 3, 1);
        _exit(0);
    }
    for (unsigned i = 0; i < PROCESSES; i++)
        assert_int_equal(play_child_status(pids[i]), 0);
    tally_read("all.pcv");
    assert_tally("f", 3 * PROCESSES * RUNS, 3 * PROCESSES * RUNS, PROCESSES * RUNS);
    assert_int_equal(play_count_files(""), 1);
}

/* Runs until it is killed, and tells of each that is over. */
static void run_for_ever(int to)
{
    for (;;) {
        tally_run(counts, 1, 0);
        if (write(to, "", 1) != 1)
            _exit(1);
    }
}

/* Kill a process in the middle of something. @return runs that were over before */
static unsigned run_and_kill(unsigned after_us)
{
    char byte;
    int ends[2];
    unsigned n = 0;
    assert_int_equal(pipe(ends), 0);
    int pid = fork();
    if (!pid)
        run_for_ever(ends[1]);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    usleep(after_us);
    kill(pid, SIGKILL);
    for (ssize_t got = 1; got > 0; n++)
        got = read(ends[0], &byte, 1);
    close(ends[0]);
    waitpid(pid, NULL, 0);
    return n;
}

static void a_process_that_is_killed_leaves_it_whole(void **state)
{
    enum { PROCESSES = 20 };
    unsigned n_over = 0;
    (void)state;
    for (unsigned i = 0; i < PROCESSES; i++) {
        n_over += run_and_kill(137 * i);
        tally_read("all.pcv");
        assert_in_range(tally_calls("f"), n_over, n_over + i + 1); /* the last may have added */
    }
    assert_true(n_over >= PROCESSES);
    tally_run(counts, 1, 0);
    tally_read("all.pcv");
    assert_in_range(tally_calls("f"), n_over + 1, n_over + 1 + PROCESSES);
}

static void a_forked_child_adds_nothing(void **state)
{
    (void)state;
    tally_begin(counts);
    tally_call(TALLY_F, 1, 0);
    int pid = fork();
    tally_call(TALLY_F, 10, 0);
    if (!pid)
        exit(0);
    assert_int_equal(play_child_status(pid), 0);
    cprof_shutdown();
    tally_read("all.pcv");
    assert_tally("f", 11, 11, 0);
}

static void a_child_that_follows_adds_its_own(void **state)
{
    (void)state;
    tally_begin("-counts-file=all.pcv -follow-child-processes");
    tally_call(TALLY_F, 1, 0);
    int pid = fork();
    if (!pid) {
        tally_register(TALLY_F, "f", 10, 11);
        tally_call(TALLY_F, 10, 0);
        cprof_shutdown();
        _exit(0);
    }
    assert_int_equal(play_child_status(pid), 0);
    tally_call(TALLY_F, 100, 0);
    cprof_shutdown();
    tally_read("all.pcv");
    assert_tally("f", 111, 111, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(the_first_run_makes_the_file),
        PLAY_TEST(a_later_run_adds_to_it),
        PLAY_TEST(methods_of_either_run_are_there),
        PLAY_TEST(a_method_that_was_never_called_stays_missed),
        PLAY_TEST(nameless_functions_of_a_file_stay_apart),
        PLAY_TEST(contexts_add_up_by_name),
        PLAY_TEST(a_run_without_contexts_adds_to_none),
        PLAY_TEST(jumps_add_up),
        PLAY_TEST(counts_beyond_32_bits_add_up),
        PLAY_TEST(names_have_conversions),
        PLAY_TEST(a_run_that_saves_again_replaces_what_it_saved),
        PLAY_TEST(what_was_saved_before_a_clear_stays),
        PLAY_TEST(other_runs_may_add_between_two_saves),
        PLAY_TEST(another_name_gets_a_dataset_of_its_own),
        PLAY_TEST(eight_processes_lose_nothing),
        PLAY_TEST(a_process_that_is_killed_leaves_it_whole),
        PLAY_TEST(a_forked_child_adds_nothing),
        PLAY_TEST(a_child_that_follows_adds_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
