/* test_arguments.c: every call, with any argument, in any state, leaves the library usable.
 * Rows of reliability.md 2.1 to 2.8 that are about arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/calls.h"
#include "unit/play.h"

static const qp_model_method *method_with(const play_ctx *p, uint64_t id)
{
    for (uint32_t i = 1; i < p->m->n_methods; i++)
        if (p->m->methods[i].id == id)
            return &p->m->methods[i];
    fail_msg("no method has the id %ju", (uintmax_t)id);
    return NULL;
}

static void call_all(const play_call *calls, size_t n)
{
    for (size_t i = 0; i < n; i++)
        calls[i].call();
}

static void every_call_is_harmless_before_initialise(void **state) /* R1, 2.5 */
{
    (void)state;
    call_all(good_calls, n_good_calls);
    call_all(bad_calls, n_bad_calls);
    qprof_shutdown();
    assert_int_equal(qprof_is_running(), 0);
    assert_int_equal(play_count_files(""), 0);
}

static void every_call_is_harmless_after_shutdown(void **state) /* R1, 2.2 */
{
    play_ctx *p = play_run(state, "", "f( 3 )");
    call_all(good_calls, n_good_calls);
    call_all(bad_calls, n_bad_calls);
    qprof_shutdown();
    qprof_shutdown();
    play_read(p, "run.qprof");
    assert_flat(p, "f", 1, 3, 3);
    assert_int_equal(play_count_files(""), 1);
}

/* Each bad call in turn, in the middle of a program whose figures must not change. */
static void play_among_bad_calls(play_ctx *p, bool is_virtual)
{
    for (size_t i = 0; i < n_bad_calls; i++) {
        unlink("run.qprof");
        if (is_virtual)
            play_begin_vt(p, "");
        else
            play_begin(p, "");
        play(p, is_virtual ? "@a f( 3 g( 4 )" : "f( 3 g( 4 )");
        bad_calls[i].call();
        p->threads[0].depth = 0;
        play(p, is_virtual ? "@a $ h( 5 k( 6 ) )" : "$ h( 5 k( 6 ) )");
        play_end(p);
        assert_flat(p, "f", 1, 7, 3);
        assert_flat(p, "g", 1, 4, 4);
        assert_flat(p, "h", 1, 11, 5);
        assert_flat(p, "k", 1, 6, 6);
    }
}

static void bad_arguments_change_nothing_in_system_mode(void **state)
{
    play_among_bad_calls(*state, false);
}

static void bad_arguments_change_nothing_in_virtual_mode(void **state)
{
    play_among_bad_calls(*state, true);
}

static void hostile_names_come_back_byte_for_byte(void **state) /* 2.3 */
{
    static const char *const names[] = {"a",
                                        "\xff\xfe not utf-8 \x80",
                                        "line\nbreak\tTAB \x1b[31m",
                                        ";,\"'<&]]></script>",
                                        "\xe2\x80\xa8 \xe2\x80\xae",
                                        "../../etc/passwd",
                                        "=1+1",
                                        "+@-",
                                        "%s%n%d",
                                        " "};
    const size_t n = sizeof names / sizeof *names;
    play_ctx *p = play_start(state, "");
    for (uintptr_t i = 0; i < n; i++) {
        qprof_register_method_id(i + 1, names[i], NULL, 0, names[i], NULL, 0);
        qprof_record_fn_entry(i + 1, i + 1);
    }
    qprof_set_thread_name(names[3]);
    play_end(p);
    for (uintptr_t i = 0; i < n; i++) {
        assert_string_equal(method_with(p, i + 1)->name, names[i]);
        assert_string_equal(method_with(p, i + 1)->file, names[i]);
    }
    assert_string_equal(p->m->threads[1].name, names[3]);
}

static void a_text_of_a_megabyte_is_cut_and_counted(void **state) /* 2.3 */
{
    play_ctx *p = *state;
    enum { BYTES = 1 << 20 };
    char *text = malloc(BYTES + 1);
    memset(text, 'n', BYTES);
    text[BYTES] = '\0';
    play_begin(p, "");
    qprof_register_method_id(1, text, NULL, 0, text, NULL, 0);
    qprof_record_fn_entry(1, 1);
    qprof_set_thread_name(text);
    free(text);
    assert_true(qprof_diagnostic("name_truncated") >= 2);
    play_end(p);
    size_t n = strlen(method_with(p, 1)->name);
    assert_true(n >= 60000 && n <= 65536);
    assert_true(strspn(method_with(p, 1)->name, "n") > 60000);
}

static void two_long_names_that_differ_late_stay_two(void **state) /* 2.3: "...#<hash64>" */
{
    play_ctx *p = *state;
    enum { BYTES = 100000 };
    char *text = malloc(BYTES + 1);
    memset(text, 'n', BYTES);
    text[BYTES] = '\0';
    play_begin(p, "");
    for (uintptr_t i = 1; i <= 2; i++) {
        text[BYTES - 1] = (char)('a' + i);
        qprof_register_method_id(i, text, NULL, 0, NULL, NULL, 0);
        qprof_record_fn_entry(i, i);
    }
    free(text);
    play_end(p);
    assert_string_not_equal(method_with(p, 1)->name, method_with(p, 2)->name);
}

static void a_huge_line_table_is_cut_and_counted(void **state) /* 2.3 */
{
    play_ctx *p = *state;
    enum { LINES = 1500000, KEPT = 1000000 };
    qprof_LineInfo *table = malloc(LINES * sizeof *table);
    for (int i = 0; i < LINES; i++)
        table[i] = (qprof_LineInfo){i, i + 1};
    play_begin(p, "");
    qprof_register_method_id(1, "f", NULL, 0, "f", table, LINES);
    free(table);
    assert_int_equal(qprof_diagnostic("line_table_truncated"), 1);
    assert_int_equal(qprof_line_at(1, 999), 1000);
    assert_true(qprof_block_at(1, LINES) >= KEPT - 1);
    qprof_record_fn_entry(1, 1);
    play_end(p);
    assert_true(method_with(p, 1)->n_blocks >= KEPT);
}

static void lines_of_all_kinds_are_kept(void **state) /* 2.3 */
{
    static const qprof_LineInfo strange[] = {{-5, 7}, {0, 0}, {0, 3}, {9, -4}, {9, 2147483647}};
    play_ctx *p = play_start(state, "");
    qprof_register_method_id(1, "f", NULL, 0, "f", strange, 5);
    qprof_record_fn_entry(1, 1);
    for (int i = 0; i < 5; i++)
        qprof_record_bb_counts(i, 1);
    assert_int_equal(qprof_line_at(1, -1), 7);
    assert_int_equal(qprof_line_at(1, 100), 2147483647);
    assert_int_equal(qprof_diagnostic("unsorted_line_table"), 0);
    play_end(p);
    for (size_t i = 0; i < 5; i++)
        assert_block(p, "f", i, 1, 0, 0);
}

static void sums_end_at_64_bits(void **state) /* 2.5, 2.8 */
{
    static const qprof_LineInfo table[] = {{0, 1}};
    play_ctx *p = play_start(state, "");
    qprof_register_method_id(1, "f", NULL, 0, "f", table, 1);
    qprof_record_fn_entry(1, 1);
    for (int i = 0; i < 3; i++) {
        qprof_record_counts(UINT64_MAX);
        qprof_record_bb_counts(0, UINT64_MAX);
    }
    qprof_record_fn_exit(0);
    play_end(p);
    assert_flat(p, "f", 1, 0, 0);
    assert_counts(p, "f", UINT64_MAX, UINT64_MAX);
    assert_block(p, "f", 0, UINT64_MAX, 0, 0);
}

static void any_options_give_a_code_and_never_a_crash(void **state) /* 2.1 */
{
    static const char *const strange[] = {" ",
                                          "-",
                                          "--",
                                          "=",
                                          "-=",
                                          "-=x",
                                          "x",
                                          "\"",
                                          "'",
                                          "-clock",
                                          "-clock=",
                                          "-output=\"x",
                                          "-output='",
                                          "-memory-limit=99999999999999999999",
                                          "-memory-limit=-1",
                                          "-memory-limit=1MM",
                                          "-thread-rows=0",
                                          "-sample-period=",
                                          "\xff\xfe",
                                          "-filename-prefix=%",
                                          "-output=%q",
                                          "-config=/",
                                          "-config=missing",
                                          "-time-user-functions=",
                                          "-\n-\t-",
                                          "-clock=counts\n"};
    (void)state;
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        int code = qprof_initialize(strange[i], NULL);
        assert_true(code <= 0 && code >= QPROF_E_LIMIT);
        assert_int_equal(qprof_is_running(), code == 0);
        qprof_shutdown();
    }
    char *many = malloc(1 << 20);
    memset(many, '-', (1 << 20) - 1);
    many[(1 << 20) - 1] = '\0';
    int code = qprof_initialize(many, NULL);
    free(many);
    assert_true(code <= 0);
}

static void diagnostics_are_listed_as_far_as_there_is_room(void **state)
{
    play_ctx *p = *state;
    qprof_Diagnostic out[2] = {{"untouched", 1}, {"untouched", 1}};
    play_begin(p, "");
    assert_int_equal(qprof_diagnostics(NULL, 0), 0);
    qprof_record_fn_exit(9);
    qprof_record_counts(1);
    qprof_record_bb_time(1);
    assert_int_equal(qprof_diagnostics(NULL, 0), 3);
    assert_int_equal(qprof_diagnostics(out, 1), 3);
    assert_int_equal(out[0].count, 1);
    assert_string_equal(out[1].name, "untouched");
    qprof_shutdown();
    assert_int_equal(qprof_diagnostic("exit_empty_stack"), 1); /* of the last run */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(every_call_is_harmless_before_initialise),
        PLAY_TEST(every_call_is_harmless_after_shutdown),
        PLAY_TEST(bad_arguments_change_nothing_in_system_mode),
        PLAY_TEST(bad_arguments_change_nothing_in_virtual_mode),
        PLAY_TEST(hostile_names_come_back_byte_for_byte),
        PLAY_TEST(a_text_of_a_megabyte_is_cut_and_counted),
        PLAY_TEST(two_long_names_that_differ_late_stay_two),
        PLAY_TEST(a_huge_line_table_is_cut_and_counted),
        PLAY_TEST(lines_of_all_kinds_are_kept),
        PLAY_TEST(sums_end_at_64_bits),
        PLAY_TEST(any_options_give_a_code_and_never_a_crash),
        PLAY_TEST(diagnostics_are_listed_as_far_as_there_is_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
