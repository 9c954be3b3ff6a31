/* test_qii_options.c: options, their sources, names of files, spec/qii.md section 5. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit/play.h"

static void begin(const char *options)
{
    assert_int_equal(qprof_initialize(options, NULL), 0);
}

static void assert_text(const char *option, const char *value)
{
    const char *text = qprof_get_option(option);
    assert_non_null(text);
    assert_string_equal(text, value);
}

static void assert_number(const char *option, uintptr_t value)
{
    assert_int_equal((uintptr_t)qprof_get_option(option), value);
}

static void a_bare_yes_no_option_means_yes(void **state) /* qii 3 */
{
    (void)state;
    begin("-clear-on-save -record-min-max=no");
    assert_number("clear-on-save", 1);
    assert_number("record-min-max", 0);
    assert_number("follow-child-processes", 0);
}

static void case_hyphens_and_underscores_do_not_matter(void **state) /* qii 3 */
{
    (void)state;
    begin("-CLEAR_onSave=yes -Program-Name=Prog");
    assert_number("clear-on-save", 1);
    assert_number("-Clear_On_Save", 1);
    assert_text("programname", "Prog"); /* values keep their case */
}

static void the_later_option_wins(void **state) /* qii 3 */
{
    (void)state;
    begin("-program-name=one -clock=user -program-name=two -clock=elapsed");
    assert_text("program-name", "two");
    assert_text("clock", "elapsed");
}

static void initial_options_beat_the_environment_and_it_the_defaults(void **state) /* qii 3 */
{
    (void)state;
    setenv("QPROF", "-program-name=environment -time-unit=ms", 1);
    begin("-program-name=host");
    unsetenv("QPROF");
    assert_text("program-name", "host");
    assert_text("time-unit", "ms");
    assert_text("clock", "elapsed");
}

static void a_string_option_without_value_is_cleared(void **state) /* section 5 */
{
    (void)state;
    setenv("QPROF", "-source-path=a:b", 1);
    begin("-source-path=");
    unsetenv("QPROF");
    const char *value = qprof_get_option("source-path");
    assert_true(!value || !*value);
}

static void quotes_protect_blanks(void **state) /* qii 3 */
{
    (void)state;
    begin("-program-name=\"a \\\"b\\\" \\\\ c\" '-source-path=d e' -time-unit='ns'");
    assert_text("program-name", "a \"b\" \\ c");
    assert_text("source-path", "d e");
    assert_text("time-unit", "ns");
}

static void unknown_options_are_ignored_and_known_ones_with_bad_values_refused(void **state)
{
    static const char *const bad[] = {"-clock=never",         "-time=exactly",
                                      "-clear-on-save=maybe", "-unknown-exit=unwind",
                                      "-memory-limit=0",      "-memory-limit=1000",
                                      "-memory-limit=lots",   "-time-user-functions=counts",
                                      "-thread-rows=x"};
    (void)state;
    begin("-no-such-option=3 -another -purecov-granularity=line -counts-file=x");
    assert_int_equal(qprof_diagnostic("unknown_option"), 2); /* two are libcprof's */
    assert_null(qprof_get_option("no-such-option"));
    qprof_shutdown();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(qprof_initialize(bad[i], NULL), QPROF_E_OPTION);
        assert_int_not_equal(strlen(qprof_error_text()), 0);
        assert_int_equal(qprof_is_running(), 0);
    }
}

static void an_unknown_name_asks_for_null(void **state) /* qii 4 */
{
    (void)state;
    begin("-thread-rows=17 -memory-limit=2M");
    assert_null(qprof_get_option("no-such"));
    assert_null(qprof_get_option(""));
    assert_null(qprof_get_option(NULL));
    assert_number("thread-rows", 17);
    assert_number("memory-limit", 2 << 20);
    assert_text("collection-granularity", "line");
}

static void a_number_out_of_range_is_clamped_and_counted(void **state) /* reliability 2.1 */
{
    (void)state;
    begin("-sample-period=1");
    assert_number("sample-period", 50);
    assert_int_equal(qprof_diagnostic("clamped_options"), 1);
}

static void write_text(const char *file, const char *text)
{
    int fd = open(file, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void a_configuration_file_stands_where_it_is_named(void **state) /* section 5 */
{
    (void)state;
    write_text("my.conf",
               "# options\n-program-name=\"from file\" -time-unit=ms\n-thread-rows=9\n");
    begin("-time-unit=s -config=my.conf -thread-rows=11");
    assert_text("program-name", "from file");
    assert_text("time-unit", "ms");
    assert_number("thread-rows", 11);
}

static void an_error_in_a_configuration_file_applies_nothing(void **state) /* spec README */
{
    (void)state;
    write_text("bad.conf", "-time-unit=ms\n-program-name=\"open\n");
    assert_int_equal(qprof_initialize("-config=bad.conf", NULL), QPROF_E_SYNTAX);
    assert_non_null(strstr(qprof_error_text(), "bad.conf:2:"));
    assert_int_equal(qprof_is_running(), 0);
    begin("-time-unit=s");
    assert_int_equal(qprof_load_config("bad.conf"), QPROF_E_SYNTAX);
    assert_text("time-unit", "s");
    assert_int_equal(qprof_load_config("missing.conf"), QPROF_E_IO);
}

static void configuration_is_too_late_after_the_first_entry(void **state) /* section 5 */
{
    play_ctx *p = play_start(state, "");
    assert_int_equal(qprof_config_line("-time-unit=ns"), 0);
    assert_text("time-unit", "ns");
    play(p, "f( )");
    assert_int_equal(qprof_config_line("-time-unit=ms"), QPROF_E_STATE);
    assert_text("time-unit", "ns");
}

static void conversions_expand_in_names(void **state) /* qii 50 */
{
    char name[128];
    unsigned n_found = 0;
    (void)state;
    begin("-program-name=prog -filename-prefix=%v.%p.%n.%%");
    qprof_record_fn_entry(1, 1);
    qprof_shutdown();
    for (unsigned i = 0; i < 100; i++) { /* the number continues from test to test */
        snprintf(name, sizeof name, "prog.%d.%u.%%.qprof", (int)getpid(), i);
        n_found += play_file_exists(name);
    }
    assert_int_equal(n_found, 1);
}

static void an_output_name_has_conversions_too(void **state) /* qii 50, design 5 */
{
    time_t now = time(NULL);
    struct tm day;
    char expected[128], date[16];
    (void)state;
    begin("-program-name=prog -output=%v-%p-%d.out");
    qprof_record_fn_entry(1, 1);
    qprof_shutdown();
    localtime_r(&now, &day);
    strftime(date, sizeof date, "%y%m%d", &day);
    snprintf(expected, sizeof expected, "prog-%d-%s.out", (int)getpid(), date);
    assert_true(play_file_exists(expected));
}

static void the_program_is_named_after_its_executable(void **state) /* section 5 */
{
    (void)state;
    char path[512], expected[600];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(n > 0);
    path[n] = '\0';
    begin("-filename-prefix=%v=%V");
    qprof_record_fn_entry(1, 1);
    qprof_shutdown();
    const char *base = strrchr(path, '/') + 1;
    char under[512];
    strcpy(under, path);
    for (char *c = under; *c; c++)
        *c = *c == '/' ? '_' : *c;
    snprintf(expected, sizeof expected, "%s=%s.qprof", base, under);
    assert_true(play_file_exists(expected));
}

/* ---- names of the run ---------------------------------------------------------------------- */

static void the_host_names_script_arguments_and_version(void **state)
{
    play_ctx *p = *state;
    const char *const arguments[] = {"--n=3", "two words", "it's", "", "*", NULL, "not there"};
    char folder[512];
    assert_int_equal(qprof_set_program("a/bench.x", 7, arguments, "Host 1.0"), 0);
    play_begin(p, "");
    play(p, "f( 3 )");
    play_end(p);
    assert_string_equal(p->m->run.script, "a/bench.x");
    assert_string_equal(p->m->run.arguments, "--n=3 'two words' 'it'\\''s' '' '*'");
    assert_string_equal(p->m->run.host_version, "Host 1.0");
    assert_non_null(getcwd(folder, sizeof folder));
    assert_string_equal(p->m->run.folder, folder);
    assert_string_equal(p->m->run.labels, "");
    assert_int_equal(qprof_set_program(NULL, 0, NULL, NULL), 0);
}

static void arguments_that_do_not_fit_are_cut_between_two(void **state)
{
    play_ctx *p = *state;
    static char word[5001];
    const char *const arguments[] = {word, word, "c"};
    memset(word, '\'', sizeof word - 1);
    qprof_set_program("s", 3, arguments, NULL); /* a quote takes four bytes: none fits */
    play_begin(p, "");
    play(p, "f( )");
    play_end(p);
    assert_string_equal(p->m->run.arguments, "...");
    memset(word, 'a', sizeof word - 1);
    qprof_set_program("s", 3, arguments, NULL);
    unlink("run.qprof");
    play_begin(p, "");
    play(p, "f( )");
    play_end(p);
    assert_int_equal(strlen(p->m->run.arguments), 5000 + strlen(" ..."));
    qprof_set_program(NULL, 0, NULL, NULL);
}

/* Is the text anywhere in the file? */
static bool file_has(const char *file, const char *text)
{
    static char bytes[1 << 22];
    int fd = open(file, O_RDONLY);
    ssize_t n = read(fd, bytes, sizeof bytes);
    close(fd);
    assert_true(n > 0 && n < (ssize_t)sizeof bytes);
    return memmem(bytes, (size_t)n, text, strlen(text)) != NULL;
}

static void arguments_are_in_no_file_if_they_are_not_recorded(void **state)
{
    play_ctx *p = *state;
    const char *const arguments[] = {"--token=s3cret"};
    qprof_set_program("bench.x", 1, arguments, "Host 1.0");
    play_begin(p, "-record-arguments=no");
    play(p, "f( 3 )");
    assert_false(file_has(qprof_live_file(), "s3cret"));
    assert_int_equal(qprof_set_program("other.x", 1, arguments, "Host 1.0"), 0);
    assert_false(file_has(qprof_live_file(), "s3cret"));
    play_end(p);
    assert_false(file_has("run.qprof", "s3cret"));
    assert_string_equal(p->m->run.arguments, "");
    assert_string_equal(p->m->run.script, "other.x");
    unlink("run.qprof");
    play_begin(p, "");
    play(p, "f( 3 )");
    assert_true(file_has(qprof_live_file(), "s3cret")); /* the test would notice */
    play_end(p);
    qprof_set_program(NULL, 0, NULL, NULL);
}

static void bad_arguments_of_a_program_are_refused(void **state)
{
    (void)state;
    begin("");
    assert_int_equal(qprof_set_program("s", 1, NULL, NULL), QPROF_E_ARG);
    assert_int_equal(qprof_set_program("s", -1, NULL, NULL), QPROF_E_ARG);
    assert_int_equal(qprof_diagnostic("e_arg"), 2);
}

static const char *labels_of(play_ctx *p, const char *environment, const char *options,
                             const char *host)
{
    unlink("run.qprof");
    if (environment)
        setenv("QPROF_LABELS", environment, 1);
    qprof_set_labels(host);
    play_begin(p, options);
    play(p, "f( 3 )");
    play_end(p);
    unsetenv("QPROF_LABELS");
    qprof_set_labels(NULL);
    return p->m->run.labels;
}

static void labels_come_from_environment_options_and_host(void **state)
{
    play_ctx *p = *state;
    assert_string_equal(labels_of(p, "service=web,version=1.2", "", NULL),
                        "service=web,version=1.2");
    assert_string_equal(labels_of(p, "a=1,b=1,c=1", "-labels=b=2,c=2", "c=3"), "a=1,b=2,c=3");
    assert_string_equal(labels_of(p, NULL, "-labels=a=1,a=2", NULL), "a=2");
    assert_string_equal(labels_of(p, " a=x y , b= 3 ", "", NULL), "a=x y,b= 3");
}

static void labels_of_any_bytes_have_one_meaning(void **state)
{
    play_ctx *p = *state;
    assert_string_equal(labels_of(p, "a=b=c", "", NULL), "a=b=c");
    assert_string_equal(labels_of(p, "a=,b", "", NULL), "a="); /* b is left out */
    assert_int_equal(p->m->run.n_notes, 1);
    assert_non_null(strstr(p->m->run.notes[0].text, "labels: 1 left out"));
    assert_string_equal(labels_of(p, "=x,,a=1,,", "", NULL), "a=1");
    assert_string_equal(labels_of(p, "a=\n\x7f\x01z", "", NULL), "a=___z");
    assert_string_equal(labels_of(p, "a=\xff\xc3\xa9", "", NULL), "a=\xff\xc3\xa9");
}

static void labels_of_64_kilobytes_keep_what_fits(void **state)
{
    play_ctx *p = *state;
    static char text[65537];
    strcpy(text, "first=1,long=");
    memset(text + strlen(text), 'x', 65000);
    strcat(text, ",last=2");
    assert_string_equal(labels_of(p, text, "", NULL), "first=1,last=2");
    assert_int_equal(p->m->run.n_notes, 1);
}

static void labels_may_change_while_the_run_lasts(void **state)
{
    play_ctx *p = play_start(state, "-labels=a=1");
    play(p, "f( 3 )");
    assert_int_equal(qprof_set_labels("b=2"), 0);
    play_peek(p);
    assert_string_equal(p->m->run.labels, "a=1,b=2");
    assert_int_equal(qprof_set_labels("a=3"), 0);
    play_end(p);
    assert_string_equal(p->m->run.labels, "a=3");
    qprof_set_labels(NULL);
}

static void names_of_files_have_script_interpreter_and_labels(void **state)
{
    char folder[512];
    (void)state;
    qprof_set_program("/x/bench.v2.lua", 0, NULL, "Host 1.0");
    begin("-labels=service=web/../x,version=1.2 -output=%s-%i-%{service}-%{version}.out");
    qprof_record_fn_entry(1, 1);
    qprof_shutdown();
    assert_true(play_file_exists("bench.v2-Host_1.0-web_.._x-1.2.out"));
    qprof_set_program(NULL, 0, NULL, NULL);
    assert_non_null(getcwd(folder, sizeof folder));
    begin("-output=%s-%i-%{none}-%w.out");
    qprof_record_fn_entry(1, 1);
    qprof_shutdown();
    char expected[600];
    snprintf(expected, sizeof expected, "unknown-unknown-unknown-%s.out",
             strrchr(folder, '/') + 1);
    assert_true(play_file_exists(expected));
    assert_int_equal(qprof_initialize("-output=%{.out", NULL), QPROF_E_OPTION);
    assert_int_equal(qprof_initialize("-output=%{}.out", NULL), QPROF_E_OPTION);
}

/* ---- set-user-id ------------------------------------------------------------------------- */

enum { IGNORED = 70, HEARD, HEARD_AS_USUAL, NOT_COUNTED, CANNOT_RUN };
static const char helper_word[] = "--as-a-privileged-program";

/* Run as a set-user-id program with QPROF in its environment: is it heard? */
static int report_the_option(void)
{
    bool is_privileged = getauxval(AT_SECURE);
    if (qprof_initialize("-time-unit=ms", NULL))
        return CANNOT_RUN;
    const char *name = qprof_get_option("program-name");
    bool is_heard = name && strcmp(name, "evil") == 0;
    bool is_counted = qprof_diagnostic("env_ignored") > 0;
    qprof_disable_recording();
    qprof_shutdown();
    if (!is_privileged)
        return is_heard ? HEARD_AS_USUAL : IGNORED;
    return is_heard ? HEARD : is_counted ? IGNORED : NOT_COUNTED;
}

static bool copy_file(const char *from, const char *to)
{
    char bytes[65536];
    int in = open(from, O_RDONLY), out = open(to, O_CREAT | O_EXCL | O_WRONLY, 0755);
    ssize_t n = -1;
    while (in >= 0 && out >= 0 && (n = read(in, bytes, sizeof bytes)) > 0)
        if (write(out, bytes, (size_t)n) != n)
            break;
    close(in);
    close(out);
    return n == 0;
}

static int run_helper(bool is_privileged)
{
    fflush(NULL);
    int child = fork();
    if (child == 0) {
        if (chown("helper", 65534, 65534) || chmod("helper", is_privileged ? 04755 : 0755) ||
            chmod(".", 0777) || setgid(1000) || setuid(1000))
            _exit(CANNOT_RUN);
        char *argv[] = {(char *)"helper", (char *)helper_word, NULL};
        char *envp[] = {(char *)"QPROF=-program-name=evil", NULL};
        execve("./helper", argv, envp);
        _exit(CANNOT_RUN);
    }
    return play_child_status(child);
}

static void the_environment_of_a_privileged_program_is_ignored(void **state) /* qii 52 */
{
    (void)state;
    if (geteuid() != 0) {
        print_message("not root: a set-user-id program cannot be made, qii 52 is not tested\n");
        skip();
    }
    assert_true(copy_file("/proc/self/exe", "helper"));
    int plain = run_helper(false);
    if (plain == CANNOT_RUN) {
        print_message("other users cannot run a program here, qii 52 is not tested\n");
        skip();
    }
    assert_int_equal(plain, HEARD_AS_USUAL); /* so the test would notice */
    int privileged = run_helper(true);
    if (privileged == HEARD_AS_USUAL) {
        print_message("set-user-id has no effect here (nosuid?), qii 52 is not tested\n");
        skip();
    }
    assert_int_equal(privileged, IGNORED);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], helper_word) == 0)
        _exit(report_the_option()); /* no sanitizer may look for leaks with privileges */
    const struct CMUnitTest tests[] = {
        PLAY_TEST(a_bare_yes_no_option_means_yes),
        PLAY_TEST(case_hyphens_and_underscores_do_not_matter),
        PLAY_TEST(the_later_option_wins),
        PLAY_TEST(initial_options_beat_the_environment_and_it_the_defaults),
        PLAY_TEST(a_string_option_without_value_is_cleared),
        PLAY_TEST(quotes_protect_blanks),
        PLAY_TEST(unknown_options_are_ignored_and_known_ones_with_bad_values_refused),
        PLAY_TEST(an_unknown_name_asks_for_null),
        PLAY_TEST(a_number_out_of_range_is_clamped_and_counted),
        PLAY_TEST(a_configuration_file_stands_where_it_is_named),
        PLAY_TEST(an_error_in_a_configuration_file_applies_nothing),
        PLAY_TEST(configuration_is_too_late_after_the_first_entry),
        PLAY_TEST(conversions_expand_in_names),
        PLAY_TEST(an_output_name_has_conversions_too),
        PLAY_TEST(the_program_is_named_after_its_executable),
        PLAY_TEST(the_host_names_script_arguments_and_version),
        PLAY_TEST(arguments_that_do_not_fit_are_cut_between_two),
        PLAY_TEST(arguments_are_in_no_file_if_they_are_not_recorded),
        PLAY_TEST(bad_arguments_of_a_program_are_refused),
        PLAY_TEST(labels_come_from_environment_options_and_host),
        PLAY_TEST(labels_of_any_bytes_have_one_meaning),
        PLAY_TEST(labels_of_64_kilobytes_keep_what_fits),
        PLAY_TEST(labels_may_change_while_the_run_lasts),
        PLAY_TEST(names_of_files_have_script_interpreter_and_labels),
        PLAY_TEST(the_environment_of_a_privileged_program_is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
