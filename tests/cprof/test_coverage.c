/* test_coverage.c tests what is libcprof's own: its options, its stubs, its live summary, and
 * that it and libqprof leave each other alone in one program. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cprof/tally.h"

static const char output[] = "-output=run.pcv";

static int setup(void **state)
{
    unsetenv("CPROF");
    return play_setup(state);
}

static int teardown(void **state)
{
    cprof_shutdown();
    tally_forget();
    unsetenv("CPROF");
    return play_teardown(state);
}

static void finish(const char *path)
{
    cprof_shutdown();
    tally_read(path);
}

/* ---- what it does not do ------------------------------------------------------------------ */

extern __typeof__(qprof_pc_totals) cprof_pc_totals;
extern __typeof__(qprof_pc_procedure) cprof_pc_procedure;
extern __typeof__(qprof_pc_list) cprof_pc_list;
extern __typeof__(qprof_pc_command) cprof_pc_command;
extern __typeof__(qprof_pc_off) cprof_pc_off;
extern __typeof__(qprof_pc_sample) cprof_pc_sample;
extern __typeof__(qprof_pc_pattern_compile) cprof_pc_pattern_compile;
extern __typeof__(qprof_pc_pattern_match) cprof_pc_pattern_match;
extern __typeof__(qprof_pc_pattern_free) cprof_pc_pattern_free;
extern __typeof__(qprof_pc_enter_critical) cprof_pc_enter_critical;
extern __typeof__(qprof_pc_leave_critical) cprof_pc_leave_critical;
extern __typeof__(qprof_on_samples) cprof_on_samples;

static void it_does_not_sample(void **state)
{
    qprof_PcTotals totals = {.occurred = 7};
    uint64_t shallow = 7, deep = 7;
    int column = 7, charged = 7;
    (void)state;
    tally_begin(output);
    assert_int_equal(cprof_pc_totals(&totals), QPROF_E_UNSUPPORTED);
    assert_int_equal(cprof_pc_procedure(TALLY_F, &shallow, &deep), QPROF_E_UNSUPPORTED);
    assert_int_equal(cprof_pc_list("list.txt"), QPROF_E_UNSUPPORTED);
    assert_int_equal(cprof_pc_command("REAL 1000;", &column), QPROF_E_UNSUPPORTED);
    assert_int_equal(cprof_pc_off(), QPROF_E_UNSUPPORTED);
    assert_int_equal(cprof_pc_sample(1), QPROF_E_UNSUPPORTED);
    assert_null(cprof_pc_pattern_compile("f", &column));
    assert_string_equal(cprof_error_text(), "libcprof does not sample");
    assert_int_equal(cprof_pc_pattern_match(NULL, NULL, 0, &charged), QPROF_E_UNSUPPORTED);
    cprof_pc_pattern_free(NULL);
    cprof_pc_enter_critical();
    cprof_pc_leave_critical();
    cprof_on_samples(NULL);
    assert_true(totals.occurred == 7 && shallow == 7 && deep == 7 && charged == 7);
    assert_false(play_file_exists("list.txt"));
    tally_call(TALLY_F, 2, 1);
    finish("run.pcv");
    assert_tally("f", 2, 2, 1);
}

/* ---- options ----------------------------------------------------------------------------- */

static void its_files_are_called_pcv(void **state) /* qii 1 */
{
    (void)state;
    tally_begin("-filename-prefix=run");
    tally_call(TALLY_F, 1, 0);
    finish("run.pcv");
    assert_tally("f", 1, 1, 0);
}

static void its_environment_is_CPROF(void **state) /* qii 3 */
{
    (void)state;
    assert_string_equal(cprof_environment(), "CPROF");
    assert_string_equal(qprof_environment(), "QPROF");
    setenv("CPROF", "-program-name=mine", 1);
    setenv("QPROF", "-program-name=other", 1);
    tally_begin(output);
    assert_string_equal(cprof_get_option("program-name"), "mine");
    assert_int_equal(qprof_initialize(NULL, NULL), 0);
    assert_string_equal(qprof_get_option("program-name"), "other");
    cprof_shutdown();
    tally_begin("-program-name=given");
    assert_string_equal(cprof_get_option("program-name"), "given");
}

static void options_of_the_other_library_are_ignored_silently(void **state) /* qii 5 */
{
    (void)state;
    tally_begin("-output=run.pcv -clock=nonsense -time-user-functions=? -time-unit=year");
    assert_int_equal(cprof_diagnostic("unknown_option"), 0);
    assert_int_equal(qprof_initialize("-bb-counts=? -purecov-granularity=? -force-merge=? "
                                      "-counts-file=all.pcv -output=run.qprof",
                                      NULL),
                     0);
    assert_int_equal(qprof_diagnostic("unknown_option"), 0);
    qprof_record_fn_entry(1, 1);
    qprof_shutdown();
    assert_true(play_file_exists("run.qprof"));
    assert_false(play_file_exists("all.pcv"));
}

static void purecov_granularity_is_the_granularity(void **state) /* qii 5 */
{
    (void)state;
    tally_begin("-output=run.pcv -collection-granularity=line -purecov-granularity=function");
    assert_string_equal(cprof_get_option("collection-granularity"), "function");
    assert_string_equal(cprof_get_option("purecov-granularity"), "function");
    assert_int_equal(cprof_wants() & (QPROF_WANT_LINES | QPROF_WANT_BLOCKS), 0);
    cprof_shutdown();
    tally_begin("-purecov-granularity=function -collection-granularity=line");
    assert_string_equal(cprof_get_option("purecov-granularity"), "line");
    cprof_shutdown();
    assert_int_equal(cprof_initialize("-purecov-granularity=none", NULL), QPROF_E_OPTION);
}

static void bb_counts_once_counts_once(void **state) /* qii 5 */
{
    static const char *const words[] = {"-output=run.pcv -cover=once",
                                        "-output=run.pcv -bb-counts=once"};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        tally_begin(words[i]);
        tally_call(TALLY_F, 5, 0);
        finish("run.pcv");
        assert_tally("f", 5, 1, 0);
        unlink("run.pcv");
    }
}

/* ---- calls ------------------------------------------------------------------------------- */

static void calls_of_the_profiler_are_harmless(void **state) /* qii 6 */
{
    (void)state;
    tally_begin(output);
    cprof_record_fn_entry(TALLY_F, 1);
    cprof_record_counts(7);
    cprof_record_bb_time(0);
    cprof_record_bb_time(99);
    cprof_record_fn_exit(0);
    cprof_record_counts(7); /* on an empty stack */
    cprof_record_bb_time(0);
    assert_int_equal(cprof_diagnostic("counts_no_frame"), 0);
    assert_int_equal(cprof_diagnostic("bb_no_frame"), 0);
    assert_int_equal(cprof_diagnostic("bb_out_of_range"), 0);
    assert_int_equal(cprof_new_phase("phase"), 0);
    assert_int_equal(play_count_files(".pcv"), 0);
    finish("run.pcv");
    assert_tally("f", 1, 0, 0);
}

static void it_supports_no_kind_of_interrupts(void **state) /* sampling 4 */
{
    (void)state;
    int column = -1;
    tally_begin(output);
    assert_int_equal(cprof_pc_supported(), 0);
    assert_int_equal(cprof_pc_command("REAL", NULL), QPROF_E_UNSUPPORTED);
    assert_int_equal(cprof_pc_command("VIRTUAL", &column), QPROF_E_UNSUPPORTED);
    assert_int_equal(column, 0);
    assert_int_equal(cprof_pc_sample(1), QPROF_E_UNSUPPORTED);
}

static void it_asks_for_what_coverage_needs(void **state) /* qii 1, 60 */
{
    (void)state;
    assert_int_equal(cprof_wants(), 0);
    tally_begin(output);
    unsigned wants = cprof_wants(), never = QPROF_WANT_COUNTS | QPROF_WANT_BLOCK_TIME;
    unsigned always = QPROF_WANT_CALLS | QPROF_WANT_LINES | QPROF_WANT_BLOCKS;
    assert_int_equal(wants & always, always);
    assert_true(wants & QPROF_WANT_COVERAGE);
    assert_int_equal(wants & never, 0);
}

static unsigned n_readings;

static uint64_t counting_clock(void)
{
    return ++n_readings;
}

static void no_event_reads_a_clock(void **state) /* qii 10 */
{
    (void)state;
    cprof_set_clock(counting_clock);
    tally_begin(output);
    unsigned n_before = n_readings; /* the run's beginning has a time */
    tally_call(TALLY_F, 100, 50);
    assert_int_equal(n_readings, n_before);
    finish("run.pcv");
    cprof_set_clock(NULL);
    assert_tally("f", 100, 100, 50);
}

static void what_was_registered_and_not_called_is_missed(void **state) /* qii 43 */
{
    (void)state;
    tally_begin(output);
    tally_register(TALLY_G, "g", 20, 21);
    tally_call(TALLY_F, 1, 1);
    finish("run.pcv");
    assert_tally("f", 1, 1, 1);
    assert_tally("g", 0, 0, 0);
    assert_no_method("h");
}

static void counts_beyond_32_bits_survive(void **state) /* qii 53 */
{
    (void)state;
    tally_begin(output);
    cprof_record_fn_entry(TALLY_F, 1);
    cprof_record_bb_counts(0, 0);
    cprof_record_bb_counts(1, 5000000000u);
    cprof_record_bb_counts(1, 5000000000u);
    cprof_record_fn_exit(0);
    finish("run.pcv");
    assert_tally("f", 1, 0, 10000000000u);
}

/* ---- threads ----------------------------------------------------------------------------- */

enum { EVENTS = 20000 };

static void *count_much(void *unused)
{
    (void)unused;
    tally_call(TALLY_F, EVENTS, EVENTS / 2);
    return NULL;
}

static void threads_lose_no_count(void **state)
{
    pthread_t threads[2];
    FILE *nowhere = fopen("/dev/null", "w");
    (void)state;
    tally_begin(output);
    for (unsigned i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count_much, NULL);
    for (unsigned i = 0; i < 50; i++) /* reading while it runs is safe */
        cprof_live_summary(nowhere);
    fclose(nowhere);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    finish("run.pcv");
    assert_tally("f", 2 * EVENTS, 2 * EVENTS, EVENTS);
}

static void a_kill_loses_nothing_that_was_counted(void **state)
{
    char path[256];
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    int pid = fork();
    if (!pid) {
        tally_begin(output);
        tally_call(TALLY_F, 1234, 567);
        size_t n = strlen(cprof_live_file()) + 1;
        if (write(ends[1], cprof_live_file(), n) == (ssize_t)n)
            kill(getpid(), SIGKILL);
        _exit(1);
    }
    assert_true(read(ends[0], path, sizeof path) > 1);
    waitpid(pid, NULL, 0);
    tally_read(path);
    assert_tally("f", 1234, 1234, 567);
    unlink(path);
    close(ends[0]);
    close(ends[1]);
}

static void a_forked_child_has_files_of_its_own(void **state) /* qii 5 */
{
    char path[64];
    (void)state;
    tally_begin("-program-name=p -follow-child-processes -filename-prefix=%v.%p");
    tally_call(TALLY_F, 1, 0);
    int pid = fork();
    if (!pid) {
        tally_register(TALLY_F, "f", 10, 11);
        tally_call(TALLY_F, 10, 0);
        exit(0);
    }
    assert_int_equal(play_child_status(pid), 0);
    tally_call(TALLY_F, 100, 0);
    cprof_shutdown();
    snprintf(path, sizeof path, "p.%d.pcv", (int)getpid());
    tally_read(path);
    assert_tally("f", 101, 101, 0);
    snprintf(path, sizeof path, "p.%d.pcv", pid);
    tally_read(path);
    assert_tally("f", 10, 10, 0);
    assert_int_equal(play_count_files(".pcv"), 2);
}

static void a_forked_child_records_nothing_unasked(void **state) /* qii 5 */
{
    (void)state;
    tally_begin("-program-name=p -filename-prefix=%v.%p");
    tally_call(TALLY_F, 1, 0);
    int pid = fork();
    tally_call(TALLY_F, 10, 0);
    if (!pid)
        exit(0);
    assert_int_equal(play_child_status(pid), 0);
    cprof_shutdown();
    assert_int_equal(play_count_files(".pcv"), 1);
}

/* ---- both libraries ---------------------------------------------------------------------- */

static void both_libraries_keep_separate_data(void **state) /* qii 58 */
{
    (void)state;
    tally_begin(output);
    assert_int_equal(qprof_initialize("-output=run.qprof", NULL), 0);
    qprof_register_method_id(TALLY_F, "other", NULL, 0, "b.x", NULL, 0);
    assert_string_not_equal(qprof_live_file(), cprof_live_file());
    tally_call(TALLY_F, 3, 1);
    qprof_record_fn_entry(TALLY_F, 1);
    assert_int_equal(cprof_current_method_id(), 0);
    assert_int_equal(qprof_current_method_id(), TALLY_F);
    cprof_record_fn_entry(TALLY_F, 1);
    qprof_record_fn_exit(0);
    assert_int_equal(cprof_current_method_id(), TALLY_F);
    cprof_stop_recording();
    assert_int_equal(qprof_is_recording(), 1);
    qprof_shutdown();
    assert_int_equal(cprof_is_running(), 1);
    finish("run.pcv");
    assert_tally("f", 4, 3, 1);
    assert_no_method("other");
    tally_read("run.qprof");
    assert_tally("other", 1, 0, 0);
    assert_no_method("f");
}

static void handles_of_virtual_threads_can_be_mounted(void **state)
{
    qprof_InitInfo info = {0, output, NULL, 1};
    (void)state;
    assert_int_equal(cprof_initialize_ex(&info), 0);
    tally_register(TALLY_F, "f", 10, 11);
    cprof_thread *a = cprof_thread_handle_vt(7, QPROF_INLINE_VERSION);
    cprof_thread_mount(a);
    cprof_record_fn_entry_vt(TALLY_F, 1, 7);
    cprof_record_bb_counts(0, 2);
    cprof_record_fn_exit_vt(0, 7);
    finish("run.pcv");
    assert_tally("f", 1, 2, 0);
}

/* ---- the live summary -------------------------------------------------------------------- */

static void summary_is(const char *const *lines, size_t n_lines)
{
    char line[256];
    FILE *file = fopen("summary", "w+");
    fputs("before\n", file);
    assert_int_equal(cprof_live_summary(file), 0);
    rewind(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "before\n");
    for (size_t i = 0; i < n_lines; i++) {
        char *at = line;
        assert_non_null(fgets(line, sizeof line, file));
        for (char *c = line; *c; c++) /* blanks between columns are one */
            if (*c != ' ' || (at > line && at[-1] != ' '))
                *at++ = *c;
        *at = '\0';
        assert_string_equal(line, lines[i]);
    }
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
}

static void the_live_summary_has_classes_of_calls(void **state) /* qii 12.2 */
{
    static const unsigned calls[] = {0, 1, 9, 10, 99, 100, 999, 1000};
    static const char *const lines[] = {
        "Module Calls Hit Missed Functions Hit % 0 <10 <100 <1000 >=1000\n",
        "app 0 0 1 1 0.0 1 0 0 0 0\n", /* f of tally_begin */
        "lib 2218 7 1 8 87.5 1 2 2 2 1\n", "all 2218 7 2 9 77.8 2 2 2 2 1\n"};
    (void)state;
    tally_begin("-output=run.pcv -program-name=app");
    cprof_set_module("lib");
    for (unsigned i = 0; i < 8; i++) {
        tally_register(100 + i, "function", 20 + (int)i, 50);
        tally_call(100 + i, calls[i], 0);
    }
    summary_is(lines, 4);
    summary_is(lines, 4);                      /* asking changes nothing */
    cprof_record_fn_entry(QPROF_METHOD_GC, 1); /* no function of the program */
    cprof_record_fn_exit(0);
    summary_is(lines, 4);
}

static void the_live_summary_heeds_entries_that_jumps_count(void **state)
{
    static const qprof_JumpInfo jumps[] = {{QPROF_JUMP_ENTRY, 0}, {0, 0}};
    static const unsigned char falls[] = {1, 0};
    static const char *const lines[] = {
        "Module Calls Hit Missed Functions Hit % 0 <10 <100 <1000 >=1000\n",
        "a?b 12 1 0 1 100.0 0 0 1 0 0\n"};
    (void)state;
    tally_begin("-output=run.pcv '-program-name=a\tb'");
    assert_int_equal(cprof_register_jumps(TALLY_F, jumps, 2, falls), 0);
    cprof_counter_bank(TALLY_F)[0] += 12;
    summary_is(lines, 2);
}

static void the_live_summary_needs_a_run_and_a_file(void **state)
{
    char memory[64];
    FILE *stream = fmemopen(memory, sizeof memory, "w");
    (void)state;
    assert_int_equal(cprof_live_summary(stdout), QPROF_E_STATE);
    tally_begin(output);
    assert_int_equal(cprof_live_summary(NULL), QPROF_E_ARG);
    assert_int_equal(cprof_live_summary(stream), QPROF_E_ARG);
    fclose(stream);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_does_not_sample),
        TEST(its_files_are_called_pcv),
        TEST(its_environment_is_CPROF),
        TEST(options_of_the_other_library_are_ignored_silently),
        TEST(purecov_granularity_is_the_granularity),
        TEST(bb_counts_once_counts_once),
        TEST(calls_of_the_profiler_are_harmless),
        TEST(it_supports_no_kind_of_interrupts),
        TEST(it_asks_for_what_coverage_needs),
        TEST(no_event_reads_a_clock),
        TEST(what_was_registered_and_not_called_is_missed),
        TEST(counts_beyond_32_bits_survive),
        TEST(threads_lose_no_count),
        TEST(a_kill_loses_nothing_that_was_counted),
        TEST(a_forked_child_has_files_of_its_own),
        TEST(a_forked_child_records_nothing_unasked),
        TEST(both_libraries_keep_separate_data),
        TEST(handles_of_virtual_threads_can_be_mounted),
        TEST(the_live_summary_has_classes_of_calls),
        TEST(the_live_summary_heeds_entries_that_jumps_count),
        TEST(the_live_summary_needs_a_run_and_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
