/* test_counts.c tests record/counts.c and cover/: every run adds to the -counts-file, nothing is
 * counted twice or lost, and what cannot be added to is left alone. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cover/merge.h"
#include "cprof/tally.h"

static const char counts[] = "-counts-file=all.pcv";

static void run(const char *options, unsigned n, unsigned second)
{
    tally_begin(options);
    tally_call(TALLY_F, n, second);
    cprof_shutdown();
}

/* ---- adding ---------------------------------------------------------------------------------- */

static void the_first_run_makes_the_file(void **state)
{
    (void)state;
    run(counts, 3, 1);
    tally_read("all.pcv");
    assert_tally("f", 3, 3, 1);
    assert_int_equal(play_count_files("all.pcv"), 1);
}

static void a_later_run_adds_to_it(void **state) /* qii 45 */
{
    (void)state;
    run(counts, 3, 1);
    run(counts, 2, 2);
    run(counts, 1, 0);
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
    run(counts, 1, 0);
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
    run(counts, 5, 5);
    tally_begin(counts);
    cprof_context("a");
    tally_call(TALLY_F, 2, 1);
    cprof_shutdown();
    run(counts, 3, 0);
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
        uint64_t *bank = cprof_counter_bank(TALLY_F);
        bank[0] += i;
        bank[1] += 10 * i;
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
    run("-program-name=prog -counts-file=%v.pcv", 1, 0);
    run("-program-name=prog -counts-file=%v.pcv", 1, 0);
    tally_read("prog.pcv");
    assert_tally("f", 2, 2, 0);
}

/* ---- saving ---------------------------------------------------------------------------------- */

static void a_run_that_saves_again_replaces_what_it_saved(void **state)
{
    (void)state;
    run(counts, 1, 1);
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
        if (!pid) { /* follows nobody: a run of its own */
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
    run(counts, 1, 0);
    tally_begin(counts);
    tally_call(TALLY_F, 2, 0);
    assert_int_equal(cprof_save_data_to_file("mine.pcv"), 1);
    tally_read("mine.pcv");
    assert_tally("f", 2, 2, 0);
    cprof_shutdown();
    tally_read("all.pcv");
    assert_tally("f", 3, 3, 0);
}

/* ---- several processes ------------------------------------------------------------------------ */

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
            run(counts, 3, 1);
        _exit(0);
    }
    for (unsigned i = 0; i < PROCESSES; i++)
        assert_int_equal(play_child_status(pids[i]), 0);
    tally_read("all.pcv");
    assert_tally("f", 3 * PROCESSES * RUNS, 3 * PROCESSES * RUNS, PROCESSES * RUNS);
    assert_int_equal(play_count_files(""), 1);
}

static void a_process_that_is_killed_leaves_it_whole(void **state)
{
    (void)state;
    run(counts, 1, 0);
    for (unsigned i = 0; i < 20; i++) {
        int pid = fork();
        if (!pid)
            for (;;)
                run(counts, 1, 0);
        usleep(3000 + 700 * i);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        tally_read("all.pcv");
    }
    run(counts, 1, 0);
    tally_read("all.pcv");
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

/* ---- other versions --------------------------------------------------------------------------- */

static void run_changed(const char *options, int line_1, const char *text)
{
    assert_int_equal(cprof_initialize(options, NULL), 0);
    tally_register(TALLY_F, "f", 10, line_1);
    assert_int_equal(cprof_register_source("a.x", text, strlen(text)), 0);
    tally_call(TALLY_F, 5, 2);
    cprof_shutdown();
}

static void a_changed_source_is_kept_apart(void **state)
{
    (void)state;
    run_changed(counts, 11, "one");
    run_changed(counts, 11, "one");
    run_changed(counts, 11, "two");
    tally_read("all.pcv");
    assert_tally("f", 10, 10, 4);
    tally_read("all.pcv.1");
    assert_tally("f", 5, 5, 2);
    assert_note("all.pcv is of another version of a.x");
}

static void a_changed_method_is_kept_apart(void **state)
{
    (void)state;
    run(counts, 1, 1);
    assert_int_equal(cprof_initialize(counts, NULL), 0);
    tally_register(TALLY_F, "f", 10, 12);
    tally_call(TALLY_F, 2, 2);
    cprof_shutdown();
    tally_read("all.pcv");
    assert_tally("f", 1, 1, 1);
    tally_read("all.pcv.1");
    assert_tally("f", 2, 2, 2);
    assert_note("f has changed");
}

static void force_merge_adds_equal_numbers_of_blocks(void **state) /* qii 45 */
{
    (void)state;
    run_changed(counts, 11, "one");
    run_changed("-counts-file=all.pcv -force-merge", 12, "two");
    tally_read("all.pcv");
    assert_tally("f", 10, 10, 4);
    assert_int_equal(play_count_files(""), 1);
}

static void force_merge_keeps_the_current_run_of_other_blocks(void **state) /* qii 45 */
{
    static const qprof_LineInfo three[] = {{0, 10}, {4, 11}, {8, 12}};
    (void)state;
    run(counts, 7, 7);
    assert_int_equal(cprof_initialize("-counts-file=all.pcv -force-merge", NULL), 0);
    cprof_register_method_id(TALLY_F, "f", NULL, 0, "a.x", three, 3);
    tally_call(TALLY_F, 2, 1);
    cprof_shutdown();
    tally_read("all.pcv");
    assert_tally("f", 2, 2, 1);
}

static void another_granularity_is_kept_apart(void **state)
{
    (void)state;
    run(counts, 1, 1);
    run("-counts-file=all.pcv -purecov-granularity=function", 2, 2);
    tally_read("all.pcv");
    assert_tally("f", 1, 1, 1);
    tally_read("all.pcv.1");
    assert_note("another -collection-granularity");
}

/* ---- damage ----------------------------------------------------------------------------------- */

/* What stands in the way stays as it is, and the run's data are whole beside it. */
static void assert_left_alone(const void *bytes, size_t n, const char *reason)
{
    size_t n_found;
    tally_write("all.pcv", bytes, n);
    run(counts, 2, 1);
    unsigned char *found = tally_bytes("all.pcv", &n_found);
    assert_int_equal(n_found, n);
    assert_memory_equal(found, bytes, n);
    free(found);
    tally_read("all.pcv.1");
    assert_tally("f", 2, 2, 1);
    assert_note(reason);
    unlink("all.pcv.1");
}

static void what_is_no_profile_is_left_alone(void **state)
{
    static const char letter[] = "Dear reader, this file is somebody's.";
    (void)state;
    assert_left_alone(letter, sizeof letter, "all.pcv is not a profile");
    assert_left_alone("", 0, "all.pcv is not a profile");
}

static void a_damaged_file_is_left_alone(void **state)
{
    size_t n;
    (void)state;
    run(counts, 2, 1);
    unsigned char *bytes = tally_bytes("all.pcv", &n);
    assert_left_alone(bytes, n - 64, "is damaged");
    bytes[4096 + 3] ^= 0x40; /* the magic of the first extent */
    assert_left_alone(bytes, n, "is damaged");
    free(bytes);
}

static void a_live_file_is_left_alone(void **state)
{
    size_t n;
    (void)state;
    run(counts, 2, 1);
    unsigned char *bytes = tally_bytes("all.pcv", &n);
    memset(bytes + offsetof(qp_head, state), 0, 4);
    assert_left_alone(bytes, n, "live file of a run");
    free(bytes);
}

static void a_link_is_not_followed(void **state)
{
    struct stat st;
    (void)state;
    run("-counts-file=real.pcv", 1, 0);
    assert_int_equal(symlink("real.pcv", "link.pcv"), 0);
    assert_int_not_equal(cprof_initialize("-counts-file=link.pcv", NULL), 0);
    assert_int_equal(lstat("link.pcv", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    tally_read("real.pcv");
    assert_tally("f", 1, 1, 0);
}

static void no_memory_loses_nothing(void **state)
{
    (void)state;
    run(counts, 2, 1);
    struct stat st;
    assert_int_equal(stat("all.pcv", &st), 0);
    assert_int_equal(truncate("all.pcv", 2 << 20), 0); /* a hole behind the data */
    run("-counts-file=all.pcv -memory-limit=1M", 3, 0);
    tally_read("all.pcv.1");
    assert_tally("f", 3, 3, 0);
    assert_note("larger than -memory-limit");
}

/* A profile with a bit of everything, in memory with room behind it. */
static qp_space load(const char *path, size_t room)
{
    size_t n;
    qp_space s = {0};
    unsigned char *bytes = tally_bytes(path, &n);
    assert_int_equal(qp_mapping_open(&s.map, NULL, n + room), 0);
    assert_int_equal(qp_mapping_grow(&s.map, n), QP_GROWN);
    memcpy(s.map.base, bytes, n);
    s.head = (qp_head *)(void *)s.map.base;
    free(bytes);
    return s;
}

static void make_rich(const char *options)
{
    static const qprof_JumpInfo jumps[] = {{QPROF_JUMP_ENTRY, 0}, {0, 0}};
    static const unsigned char falls[] = {1, 0};
    tally_begin(options);
    tally_register(TALLY_G, "g", 20, 21);
    cprof_register_jumps(TALLY_G, jumps, 2, falls);
    cprof_register_source("a.x", "text", 4);
    ++*cprof_counter_bank(TALLY_G);
    cprof_context("a");
    tally_call(TALLY_F, 3, 1);
    cprof_context("b");
    ++*cprof_counter_bank(TALLY_G);
    cprof_save_data();
    cprof_clear_data();
    tally_call(TALLY_F, 3, 1);
    cprof_shutdown();
}

static void any_damage_is_harmless(void **state)
{
    enum { TRIES = 3000 };
    unsigned random = 12345;
    size_t n, n_merged = 0;
    (void)state;
    make_rich(counts);
    make_rich(counts);
    unsigned char *old = tally_bytes("all.pcv", &n);
    run("-output=now.pcv", 3, 1);
    for (unsigned i = 0; i < TRIES; i++) {
        char why[QP_WHY_BYTES] = "";
        unsigned char *damaged = malloc(n); /* exactly: sanitizers see what is read behind it */
        qp_space now = load("now.pcv", 4 << 20);
        memcpy(damaged, old, n);
        for (unsigned k = 0; k < 1 + i % 4;) { /* words that say something */
            static const uint32_t words[] = {0, 1, 0xFFFFFFFF, 64};
            random = random * 1103515245 + 12345;
            unsigned char *at = damaged + (random >> 3) % n / 4 * 4;
            if (!memcmp(at, &words[0], 4))
                continue;
            memcpy(at, &words[random >> 30], 4);
            k++;
        }
        size_t n_shown = i % 50 ? n : random % n;
        ((qp_head *)(void *)damaged)->state = i % 2 ? QP_SNAPSHOT : QP_SEALED;
        if (qp_merge_counts(&now, (const char *)damaged, n_shown, i % 3 == 0, why))
            n_merged++;
        else
            assert_int_not_equal(strlen(why), 0);
        qp_mapping_close(&now.map);
        free(damaged);
    }
    free(old);
    assert_in_range(n_merged, TRIES / 10, TRIES * 9 / 10); /* both ways were taken */
    tally_forget();
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
        PLAY_TEST(a_changed_source_is_kept_apart),
        PLAY_TEST(a_changed_method_is_kept_apart),
        PLAY_TEST(force_merge_adds_equal_numbers_of_blocks),
        PLAY_TEST(force_merge_keeps_the_current_run_of_other_blocks),
        PLAY_TEST(another_granularity_is_kept_apart),
        PLAY_TEST(what_is_no_profile_is_left_alone),
        PLAY_TEST(a_damaged_file_is_left_alone),
        PLAY_TEST(a_live_file_is_left_alone),
        PLAY_TEST(a_link_is_not_followed),
        PLAY_TEST(no_memory_loses_nothing),
        PLAY_TEST(any_damage_is_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
