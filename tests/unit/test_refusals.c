/* test_refusals.c: calls and options that are refused, each with its reason and without an effect; and rare ones that
 * are taken. */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "qprof/embed.h"
#include "qprof/events.h"
#include "qprof/sampling.h"
#include "qprof/triggers.h"
#include "unit/play.h"

static void assert_refused(int code, int wanted, const char *words)
{
    assert_int_equal(code, wanted);
    if (!strstr(qprof_error_text(), words))
        fail_msg("\"%s\" does not say \"%s\"", qprof_error_text(), words);
}

/* ---- options --------------------------------------------------------------------------------- */

/* Refused, and nothing has begun. */
static void assert_no_run(const char *options, int code, const char *words)
{
    assert_refused(qprof_initialize(options, NULL), code, words);
    assert_refused(qprof_save_data(), 0, "");
}

static void times_and_counters_are_not_combined(void **state)
{
    (void)state;
    assert_no_run("-clock=context-switches -time-user-functions=user", QPROF_E_OPTION,
                  "a counter and a time cannot be combined");
    assert_no_run("-clock=page-faults -time=sampled", QPROF_E_OPTION,
                  "-time=sampled measures elapsed or user+kernel time");
}

static void calls_are_counted_with_every_clock(void **state)
{
    static const char *const clocks[] = {"kernel",           "user",        "user+kernel",
                                         "hard-page-faults", "page-faults", "soft-page-faults",
                                         "context-switches"};
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        char options[64];
        snprintf(options, sizeof options, "-clock=%s", clocks[i]);
        play_ctx *p = play_run(state, options, "f( g( ) g( ) )");
        assert_int_equal(play_figures(p, QP_ALL_THREADS, "g").calls, 2);
        assert_int_equal(play_figures(p, QP_ALL_THREADS, "f").calls, 1);
    }
}

static void a_synonym_has_words_of_its_own(void **state)
{
    static const char *const words[][2] = {{"elapsed-time", "elapsed"},
                                           {"user+system", "user+kernel"},
                                           {"user", "user"},
                                           {"system", "kernel"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char options[64];
        snprintf(options, sizeof options, "-measure-timed-calls=%s", words[i][0]);
        play_start(state, options);
        assert_string_equal(qprof_get_option("measure-timed-calls"), words[i][0]);
        qprof_shutdown();
    }
}

/* So many letters for each of these options. @return the message */
static const char *refuse_long(const char *const *names, size_t n_each, const char *prefix)
{
    static char options[40000];
    size_t n = 0;
    for (; *names; names++) {
        n += (size_t)snprintf(options + n, sizeof options - n, "-%s=%s", *names, prefix);
        memset(options + n, 'x', n_each);
        options[n += n_each] = ' ';
        n++;
    }
    options[n] = '\0';
    assert_int_not_equal(qprof_initialize(options, NULL), 0);
    return qprof_error_text();
}

static void texts_have_a_limit(void **state)
{
    static const char *const one[] = {"annotation", NULL}, *const name[] = {"output", NULL};
    static const char *const many[] = {"annotation",   "log-file",    "summary", "labels",
                                       "program-name", "counts-file", NULL};
    (void)state;
    assert_string_equal(refuse_long(one, 5000, ""), "an option is longer than 4095 bytes");
    assert_non_null(strstr(refuse_long(many, 4000, ""), "option values are too long"));
    assert_non_null(strstr(refuse_long(name, 4070, "/"), "file name too long"));
}

static void an_option_without_its_value_has_the_first_word(void **state)
{
    play_start(state, "-cover");
    assert_string_equal(qprof_get_option("cover"), "hits");
}

static void names_know_the_thread_and_the_host(void **state)
{
    char host[256] = "", name[300];
    (void)state;
    assert_int_equal(qprof_initialize("-output=%T-%h.qprof", NULL), 0);
    qprof_record_fn_entry(1, 1);
    qprof_record_fn_exit(0);
    qprof_shutdown();
    gethostname(host, sizeof host - 1);
    snprintf(name, sizeof name, "%ld-%s.qprof", (long)syscall(SYS_gettid), host);
    assert_true(play_file_exists(name));
}

/* ---- calls ------------------------------------------------------------------------------------ */

static void figures_of_samples_want_a_command(void **state)
{
    qprof_PcTotals totals;
    assert_refused(qprof_pc_totals(&totals), QPROF_E_STATE, "not running");
    play_start(state, "-time=exact");
    assert_refused(qprof_pc_totals(NULL), QPROF_E_ARG, "totals is NULL");
    assert_refused(qprof_pc_totals(&totals), QPROF_E_STATE, "no PC command");
    assert_refused(qprof_pc_off(), QPROF_E_STATE, "no PC command");
    assert_refused(qprof_pc_sample(1), QPROF_E_STATE, "no PC command");
    assert_refused(qprof_pc_list(NULL), QPROF_E_STATE, "no PC command");
    qprof_shutdown();
    play_start(state, "-collect=samples -pc='REAL 1000000'");
    assert_refused(qprof_pc_procedure(0x12345, NULL, NULL), QPROF_E_NOTFOUND, "unknown method");
    assert_int_equal(qprof_pc_off(), 0);
    assert_refused(qprof_pc_off(), QPROF_E_STATE, "no PC command is in force");
    qprof_pc_pattern_free(NULL);
}

static void sources_want_a_name_and_a_text(void **state)
{
    play_start(state, "-time=exact");
    assert_refused(qprof_register_source(NULL, "x", 1), QPROF_E_ARG, "no file name");
    assert_refused(qprof_register_source("", "x", 1), QPROF_E_ARG, "no file name");
    assert_refused(qprof_register_source("f", NULL, 1), QPROF_E_ARG,
                   "no file name, or no text");
    assert_int_equal(qprof_register_source("f", NULL, 0), 0);
}

static void triggers_want_names(void **state)
{
    static char name[70000];
    assert_int_equal(qprof_trigger_validate(), 0); /* nothing runs */
    assert_null(qprof_trigger_find("t"));
    play_start(state, "-triggers=yes");
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_ON);
    assert_non_null(t);
    assert_null(qprof_trigger_find(NULL));
    assert_ptr_equal(qprof_trigger_find("t"), t);
    assert_int_equal(qprof_trigger_add_routine(t, NULL, 1), QPROF_E_ARG);
    assert_int_equal(qprof_trigger_check_routine(t, NULL, 1), QPROF_E_ARG);
    assert_int_equal(qprof_trigger_check_routine(t, "f", 1), QPROF_E_NOTFOUND);
    assert_int_equal(qprof_trigger_add_routine(t, "", 1), QPROF_E_ARG);
    assert_int_equal(qprof_trigger_add_routine(t, name, 1), QPROF_E_ARG);
    assert_int_equal(qprof_trigger_add_routine(t, "regex:[", 1), QPROF_E_SYNTAX);
}

static void a_predefined_area_is_only_unchecked(void **state)
{
    play_ctx *p = play_start(state, "-time=exact");
    qprof_area *all = qprof_area_find("all-routines");
    assert_non_null(all);
    assert_int_equal(qprof_area_destroy(all), 0);
    assert_ptr_equal(qprof_area_find("all-routines"), all);
    play(p, "f( 5 )");
    play_end(p);
    assert_path(p, "f", 1, 5); /* all-lines includes it */
}

static qprof_TrgID add_event_trigger(int event, int status, uintptr_t object)
{
    return qprof_trg_add(event, status, QPROF_TRG_CTX_ANY, 0, object, 0, 0, NULL, 0, 0, 0, 0,
                         QPROF_TRG_ACT_NONE, NULL, 0, 0);
}

static void event_triggers_want_an_event_a_status_and_names(void **state)
{
    play_start(state, "-triggers=yes");
    assert_int_equal(add_event_trigger(12345, QPROF_TRG_ENABLE, 0), 0);
    assert_non_null(strstr(qprof_error_text(), "no such event"));
    assert_int_equal(add_event_trigger(QPROF_EV_FN_ENTRY, 77, 0), 0);
    assert_non_null(strstr(qprof_error_text(), "no such status"));
    qprof_TrgID t = add_event_trigger(QPROF_EV_FN_ENTRY, QPROF_TRG_ENABLE, 0);
    assert_int_not_equal(t, 0);
    assert_refused(qprof_trg_set_object(t, NULL), QPROF_E_ARG, "no name");
    assert_int_equal(qprof_trg_set_object(t, ""), QPROF_E_ARG);
    assert_int_equal(qprof_trg_set_object(t, "regex:["), QPROF_E_ARG);
}

/* ---- hosts that embed ------------------------------------------------------------------------- */

static void a_vm_does_not_join_a_run_of_system_threads(void **state)
{
    qprof_vm vm;
    play_ctx *p = play_start(state, "-time=exact");
    assert_int_equal(qprof_vm_open(&vm, ""), QPROF_E_STATE);
    assert_non_null(strstr(qprof_error_text(), "without virtual threads"));
    assert_int_equal(qprof_diagnostic("wrong_mode"), 1);
    play(p, "f( 3 )");
    qprof_close(999); /* no VM's */
    play(p, "f( 4 )");
    play_end(p);
    assert_path(p, "f", 2, 7);
}

static void code_wants_a_method_and_a_place(void **state)
{
    play_start(state, "-time=exact -perf-map=yes");
    qprof_MethodID f = qprof_define("f", NULL, "a.src", NULL, 0);
    qprof_register_code(f, NULL, 10);
    qprof_register_code(f, (const void *)&code_wants_a_method_and_a_place, 0);
    qprof_register_code(f, (const void *)&code_wants_a_method_and_a_place, SIZE_MAX);
    assert_int_equal(qprof_diagnostic("e_arg"), 3);
    uint64_t bad = qprof_diagnostic("bad_method_id");
    qprof_register_code(f + 12345, (const void *)&code_wants_a_method_and_a_place, 8);
    qprof_unload(f + 12345);
    assert_int_equal(qprof_diagnostic("bad_method_id"), bad + 2);
    qprof_shutdown();
    qprof_register_code(f, (const void *)&code_wants_a_method_and_a_place, 8); /* no run */
    qprof_unload(f);
}

/* ---- samples of methods that are not described yet ------------------------------------------- */

static int n_asked;

static void describe(qprof_MethodID id)
{
    char name[32];
    n_asked++;
    snprintf(name, sizeof name, "m%ju", (uintmax_t)id);
    qprof_register_method_id(id, name, NULL, 0, NULL, NULL, 0);
}

/* With samples alone the host is not asked at first calls, but for what was sampled. */
static void the_host_is_asked_for_sampled_methods(void **state)
{
    qprof_InitInfo info = {0, "-output=run.qprof -collect=samples -pc='REAL 3600000000'",
                           describe, 0};
    n_asked = 0;
    assert_int_equal(qprof_initialize_ex(&info), 0);
    qprof_record_fn_entry(71, 1);
    qprof_record_fn_entry(72, 2);
    assert_int_equal(n_asked, 0);
    assert_int_equal(qprof_pc_sample(3), 0);
    qprof_record_fn_entry(73, 2); /* with the id of its caller: not in line */
    assert_int_equal(n_asked, 2);
    qprof_record_fn_exit(0);
    qprof_record_fn_entry(74, 1);
    qprof_record_fn_exit(0);
    assert_int_equal(n_asked, 2);
    play_ctx *p = *state;
    qprof_shutdown();
    play_read(p, "run.qprof");
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "m72").calls, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(times_and_counters_are_not_combined),
        PLAY_TEST(calls_are_counted_with_every_clock),
        PLAY_TEST(a_synonym_has_words_of_its_own),
        PLAY_TEST(texts_have_a_limit),
        PLAY_TEST(an_option_without_its_value_has_the_first_word),
        PLAY_TEST(names_know_the_thread_and_the_host),
        PLAY_TEST(figures_of_samples_want_a_command),
        PLAY_TEST(sources_want_a_name_and_a_text),
        PLAY_TEST(triggers_want_names),
        PLAY_TEST(a_predefined_area_is_only_unchecked),
        PLAY_TEST(event_triggers_want_an_event_a_status_and_names),
        PLAY_TEST(a_vm_does_not_join_a_run_of_system_threads),
        PLAY_TEST(code_wants_a_method_and_a_place),
        PLAY_TEST(the_host_is_asked_for_sampled_methods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
