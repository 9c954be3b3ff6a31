/* test_triggers_names.c: which methods the names of rules mean, whichever comes first: triggers
 * 1 and 47 of the checklist, and names that fit nothing. */
#include <stdio.h>
#include <string.h>

#include "play.h"

enum { FIRST_ID = 0x5000, FRAME = 0x90, MAIN_FRAME = 0x80 };

static void name_method(unsigned i, const char *class_name, const char *name)
{
    qprof_register_method_id(FIRST_ID + i, name, class_name, 0, "f.scr", NULL, 0);
}

/* Call method i. @return is its thread disabled in it? */
static bool is_off_in(unsigned i)
{
    qprof_record_fn_entry(FIRST_ID + i, FRAME);
    bool is_off = !qprof_trigger_thread_status();
    qprof_record_fn_exit(MAIN_FRAME);
    return is_off;
}

static void assert_off_in(const char *methods) /* "02": those of 0 to 5, and no others */
{
    char found[8] = "";
    for (unsigned i = 0; i < 6; i++)
        if (is_off_in(i))
            found[strlen(found)] = (char)('0' + i);
    assert_string_equal(found, methods);
}

/* Methods 0 to 5; 5 is met in a call, and has no name. */
static void name_methods(void)
{
    name_method(0, NULL, "poll");
    name_method(1, "Server", "poll");
    name_method(2, "Client", "poll");
    name_method(3, NULL, "Server.poll");
    name_method(4, "Server", "send");
}

/* The meaning of a name does not depend on when it was given. */
static void names_mean_the_same_before_and_after_their_methods(void **state) /* triggers 47 */
{
    static const struct {
        const char *name, *methods;
    } rows[] = {{"poll", "012"},
                {"Server.poll", "13"},
                {"Client.poll", "2"},
                {"send", "4"},
                {"Server", ""},
                {"glob:S*", "134"},
                {"glob:*.poll", "123"},
                {"regex:^poll$", "012"},
                {"regex:r\\.(poll|send)$", "134"},
                {"", "5"} /* by its id */};
    play_ctx *p = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int is_late = 0; is_late < 2; is_late++) {
            play_begin(p, "");
            play(p, "");
            qprof_record_fn_entry(play_method(p, "main"), MAIN_FRAME);
            if (is_late) {
                name_methods();
                assert_off_in("");
            }
            qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_OFF);
            assert_int_equal(rows[i].name[0] ? qprof_trigger_add_routine(t, rows[i].name, 1)
                                             : qprof_trigger_add_method(t, FIRST_ID + 5, 1),
                             0);
            if (!is_late)
                name_methods();
            assert_off_in(rows[i].methods);
            assert_int_equal(qprof_trigger_set_checked(t, 0), 0);
            assert_off_in("");
            assert_int_equal(qprof_trigger_set_checked(t, 1), 0);
            assert_off_in(rows[i].methods);
            assert_int_equal(qprof_trigger_destroy(t), 0);
            assert_off_in("");
            qprof_record_fn_exit(0);
            qprof_shutdown();
        }
    }
}

/* A host may describe a method after its first calls. */
static void a_method_that_is_named_late_is_meant_from_then_on(void **state)
{
    static const char *const names[] = {"late", "glob:la*", "regex:^late$"};
    play_ctx *p = *state;
    for (size_t i = 0; i < 3; i++) {
        play_begin(p, "");
        qprof_record_fn_entry(play_method(p, "main"), MAIN_FRAME);
        qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_OFF);
        qprof_trigger_add_routine(t, names[i], 1);
        assert_false(is_off_in(0));
        name_method(0, NULL, "late");
        assert_true(is_off_in(0));
        qprof_trigger *other = qprof_trigger_create("other", QPROF_TRIGGER_ON);
        qprof_trigger_add_routine(other, "late", 1); /* the last one wins */
        assert_false(is_off_in(0));
        qprof_shutdown();
    }
}

static bool is_noted(const play_ctx *p, const char *words)
{
    for (size_t i = 0; i < p->m->run.n_notes; i++)
        if (strstr(p->m->run.notes[i].text, words))
            return true;
    return false;
}

static void names_that_nothing_had_are_said_at_the_end(void **state)
{
    play_ctx *p = play_start(state, "");
    qprof_trigger *t = qprof_trigger_create("quiet", QPROF_TRIGGER_OFF);
    qprof_action *a = qprof_action_create("snap", QPROF_ACTION_GET_RESULTS, QPROF_ON_EXIT);
    qprof_trigger_add_routine(t, "a", 1);
    qprof_trigger_add_routine(t, "Log.wirte", 1);
    qprof_action_add_routine(a, "glob:never_*", 1);
    play(p, "a( 1 )");
    play_end(p);
    assert_true(is_noted(p, "trigger quiet: no method is named Log.wirte"));
    assert_true(is_noted(p, "action snap: no method is named never_*"));
    assert_false(is_noted(p, "no method is named a"));
    assert_int_equal(play_file_diagnostic(p, "unmatched_names"), 2);
}

static void names_forge_no_line_of_a_log(void **state)
{
    char text[1024];
    play_ctx *p = play_start(state, "-log-file=log");
    qprof_trigger *t = qprof_trigger_create("\x1b[31m", QPROF_TRIGGER_OFF);
    qprof_trigger_add_routine(t, "none\nqprof: all is well\x07", 1);
    play(p, "a( 1 )");
    play_end(p);
    assert_true(is_noted(p, "trigger ?[31m: no method is named none?qprof: all is well?"));
    FILE *log = fopen("log", "r");
    assert_non_null(log);
    text[fread(text, 1, sizeof text - 1, log)] = '\0';
    fclose(log);
    assert_non_null(strstr(text, "named none?qprof: all is well?\n"));
    assert_null(strchr(text, '\x1b'));
}

static void a_run_that_may_be_off_all_the_time_is_told_so(void **state) /* triggers 41 */
{
    play_ctx *p = play_start(state, "");
    qprof_trigger *t = qprof_trigger_create("off", QPROF_TRIGGER_OFF);
    qprof_trigger_add_routine(t, "a", 1);
    assert_int_equal(qprof_trigger_validate(), 0);
    qprof_trigger_initial_status(0);
    assert_int_equal(qprof_trigger_validate(), QPROF_WARN_MAY_BE_OFF);
    play(p, "a( 1 ) a( 2 )");
    play_end(p);
    assert_true(is_noted(p, "profiling may be off for the whole run"));
    assert_skips(p, "a", 0, 2);
}

/* A search of libc's in 60,000 bytes takes minutes for such expressions. */
static void expressions_look_at_the_beginning_of_long_names(void **state)
{
    enum { N_BYTES = 60000, SEEN = 500 };
    static char name[N_BYTES + 1];
    play_ctx *p = play_start(state, "");
    qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_OFF);
    assert_int_equal(qprof_trigger_add_routine(t, "regex:.*[ab]{1,100}.*c", 1), 0);
    assert_int_equal(qprof_trigger_add_routine(t, "regex:(a|aa)+b", 1), 0);
    memset(name, 'a', N_BYTES);
    name_method(0, NULL, name);
    assert_false(is_off_in(0));
    name[SEEN] = 'b'; /* the first byte that is not looked at */
    name_method(1, NULL, name);
    assert_false(is_off_in(1));
    name[SEEN - 1] = 'b';
    name_method(2, NULL, name);
    assert_true(is_off_in(2));
    play_end(p);
}

static void calls_refuse_the_expressions_that_files_refuse(void **state)
{
    static char longest[4100] = "regex:";
    play_ctx *p = play_start(state, "");
    qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_OFF);
    assert_int_equal(qprof_trigger_add_routine(t, "regex:(a)\\1", 1), QPROF_E_SYNTAX);
    assert_string_equal(qprof_error_text(), "references back (\\1) are not possible");
    for (unsigned i = 0; i < 2000; i++)
        strcat(longest, "a*");
    assert_int_equal(qprof_trigger_add_routine(t, longest, 1), 0);
    strcat(longest, "a");
    assert_int_equal(qprof_trigger_add_routine(t, longest, 1), QPROF_E_SYNTAX);
    assert_string_equal(qprof_error_text(), "longer than 4000 bytes");
    play(p, "a( 1 )");
    play_end(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(names_mean_the_same_before_and_after_their_methods),
        PLAY_TEST(a_method_that_is_named_late_is_meant_from_then_on),
        PLAY_TEST(names_that_nothing_had_are_said_at_the_end),
        PLAY_TEST(names_forge_no_line_of_a_log),
        PLAY_TEST(a_run_that_may_be_off_all_the_time_is_told_so),
        PLAY_TEST(expressions_look_at_the_beginning_of_long_names),
        PLAY_TEST(calls_refuse_the_expressions_that_files_refuse),
    };
    return cmocka_run_group_tests_name("triggers, names", tests, NULL, NULL);
}
