/* test_run_summary.c tests record/report/report.c: what -summary writes when a run ends, word by word. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/play.h"

enum { MS = 1000000, TEXT = 4096 };

static const char heading[] = "           self                calls  method\n";

static const char *text_of(const char *file)
{
    static char text[TEXT];
    FILE *in = fopen(file, "r");
    assert_non_null(in);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    return text;
}

/* Its lines after the one that names the profile. */
static void assert_summary(const char *file, const char *rows)
{
    char wanted[TEXT];
    const char *text = text_of(file), *end = strchr(text, '\n');
    assert_non_null(end);
    assert_memory_equal(text, "qprof: ", 7);
    assert_memory_equal(end - 9, "run.qprof", 9);
    snprintf(wanted, sizeof wanted, "%s%s", heading, rows);
    assert_string_equal(end + 1, wanted);
}

static void methods_are_listed_by_their_own_time(void **state)
{
    play_ctx *p = play_start(state, "-summary=s.txt");
    play(p, "f( 1000000 g( 2000000 ) g( 2000000 ) 3000000 )");
    play_end(p);
    assert_summary("s.txt", "       4.000 ms  50.0 %            2  g\n"
                            "       4.000 ms  50.0 %            1  f\n");
}

static void of_equal_times_more_calls_come_first(void **state)
{
    play_ctx *p = play_start(state, "-summary=s.txt -time=none");
    play(p, "f( ) g( ) g( ) h( ) h( ) h( )");
    play_end(p);
    assert_summary("s.txt", "       0.000 ms   0.0 %            3  h\n"
                            "       0.000 ms   0.0 %            2  g\n"
                            "       0.000 ms   0.0 %            1  f\n");
}

static void ten_methods_are_listed(void **state)
{
    char score[32], *end;
    play_ctx *p = play_start(state, "-summary=s.txt");
    for (int i = 1; i <= 13; i++) {
        snprintf(score, sizeof score, "f%d( %d )", i, i * MS);
        play(p, score);
    }
    play_end(p);
    const char *text = text_of("s.txt");
    assert_non_null(strstr(text, "      13.000 ms  14.3 %            1  f13\n"));
    assert_non_null(end = strstr(text, "       4.000 ms   4.4 %            1  f4\n"));
    assert_string_equal(strchr(end, '\n'), "\n"); /* the last */
}

static void estimated_times_add_up_to_the_run(void **state)
{
    double sum = 0, self, percent, percents = 0;
    unsigned long long calls, all = 0;
    char name[64];
    play_ctx *p = play_start(state, "-summary=s.txt -time=adaptive");
    for (int i = 0; i < 500; i++)
        play(p, "f( 10000 g( 20000 ) 10000 g( 20000 ) )");
    play_end(p);
    const char *row = strstr(text_of("s.txt"), heading);
    assert_non_null(row);
    for (row += sizeof heading - 1; *row; row = strchr(row, '\n') + 1) {
        assert_int_equal(sscanf(row, "%lf ms %lf %% %llu %60s", &self, &percent, &calls, name),
                         4);
        sum += self;
        percents += percent;
        all += calls;
    }
    assert_int_equal(all, 1500);
    assert_true(percents > 99.8 && percents < 100.2);
    assert_true(sum > 29.99 && sum < 30.01); /* every call takes the same time */
}

static void names_have_their_class_and_unknown_methods_their_number(void **state)
{
    play_ctx *p = play_start(state, "-summary=s.txt");
    qprof_register_method_id(0x77, "name", "Class", 0, NULL, NULL, 0);
    qprof_record_fn_entry(0x77, 1);
    qprof_record_fn_exit(0);
    qprof_record_fn_entry(0xABC, 1);
    play_clock_add(MS);
    qprof_record_fn_exit(0);
    play_end(p);
    assert_string_equal(strstr(text_of("s.txt"), heading) + sizeof heading - 1,
                        "       1.000 ms 100.0 %            1  UnnamedFunctionabc\n"
                        "       0.000 ms   0.0 %            1  Class.name\n"
                        "qprof: noticed unknown_method=1\n");
}

static void what_was_noticed_is_one_line(void **state)
{
    play_ctx *p = play_start(state, "-summary=s.txt");
    play(p, "f( g( ! h( 1000000 )");
    qprof_record_fn_exit(5);
    play_end(p);
    const char *noticed = strstr(text_of("s.txt"), "qprof: noticed");
    assert_string_equal(noticed, "qprof: noticed exit_unknown_id=1, exit_empty_stack=1\n");
}

static void runs_are_added_to_the_file(void **state)
{
    play_ctx *p = play_start(state, "-summary=s.txt");
    play(p, "f( 1000000 )");
    play_end(p);
    p = play_start(state, "-summary=s.txt");
    play(p, "f( 1000000 )");
    play_end(p);
    const char *second = strstr(strstr(text_of("s.txt"), heading) + 1, heading);
    assert_string_equal(second + sizeof heading - 1,
                        "       1.000 ms 100.0 %            1  f\n");
}

static void stderr_is_the_programs(void **state)
{
    int kept = dup(2), to = open("err.txt", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    play_ctx *p = play_start(state, "-summary=stderr");
    play(p, "f( 1000000 )");
    dup2(to, 2);
    qprof_shutdown();
    dup2(kept, 2);
    close(kept);
    close(to);
    assert_summary("err.txt", "       1.000 ms 100.0 %            1  f\n");
}

static void what_is_no_file_is_not_written_to(void **state)
{
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(symlink("elsewhere", "link"), 0);
    for (int i = 0; i < 3; i++) {
        play_ctx *p = play_start(state, i == 0   ? "-summary=pipe"
                                        : i == 1 ? "-summary=link"
                                                 : "-summary=.");
        play(p, "f( 1000000 )");
        play_end(p);
        assert_path(p, "f", 1, MS);
    }
    assert_false(play_file_exists("elsewhere"));
    unlink("pipe");
    unlink("link");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(methods_are_listed_by_their_own_time),
        PLAY_TEST(of_equal_times_more_calls_come_first),
        PLAY_TEST(ten_methods_are_listed),
        PLAY_TEST(estimated_times_add_up_to_the_run),
        PLAY_TEST(names_have_their_class_and_unknown_methods_their_number),
        PLAY_TEST(what_was_noticed_is_one_line),
        PLAY_TEST(runs_are_added_to_the_file),
        PLAY_TEST(stderr_is_the_programs),
        PLAY_TEST(what_is_no_file_is_not_written_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
