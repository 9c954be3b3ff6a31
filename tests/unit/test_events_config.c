/* test_events_config.c tests record/control/config.c: what
 * lines of a configuration make of a run, spec/events.md section 10, spec/README.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/trg.h"

static void write_text(const char *file, const char *text)
{
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static qprof_TrgID find(const char *name)
{
    qprof_TrgID t = qprof_trg_find(name);
    assert_non_null(t);
    return t;
}

static void assert_error(const char *words)
{
    if (!strstr(qprof_error_text(), words))
        fail_msg("%s", qprof_error_text());
}

static const char spec_example[] =
    "event-trigger armed  event=fn-entry object=Server.accept disable=yes chain=grab\n"
    "event-trigger grab   status=disabled event=40001 context=any-task when=\"depth >= 3\" "
    "action=start deferred=no disable=yes chain=done\n"
    "event-trigger done   status=disabled event=fn-exit object=Server.accept action=stop "
    "deferred=no\n"
    "event-trigger report event=any context=system when=\"pending(object) & 6\" "
    "action=lib:save(0)\n"
    "triggering on\n";

static int pending(uintptr_t object)
{
    (void)object;
    return 0;
}

static void the_example_of_the_spec_works(void **state) /* events 53 */
{
    static int stack_depth = 3;
    play_ctx *p = *state;
    write_text("spec.conf", spec_example);
    play_begin(p, "-config=spec.conf -record-data=no");
    assert_int_equal(qprof_trg_is_on(), 1);
    assert_int_equal(qprof_trg_enabled_count(), 1); /* "report" waits for its predicate */
    assert_int_equal(trg_is_enabled(find("report")), 0);
    assert_int_equal(
        qprof_trg_symbol("pending", QPROF_TRG_SYM_PREDICATE, (void *)(uintptr_t)pending), 0);
    assert_int_equal(trg_is_enabled(find("report")), 1);
    assert_int_equal(trg_is_enabled(find("grab")), 0);
    assert_int_equal(qprof_trg_symbol("depth", QPROF_TRG_SYM_VAR, &stack_depth), 0);
    assert_int_equal(trg_is_enabled(find("grab")), 0); /* that was its status */
    qprof_register_method_id(500, "accept", "Server", 0, NULL, NULL, 0);
    qprof_record_fn_entry(500, 500);
    assert_hits(find("armed"), 1);
    assert_int_equal(trg_is_enabled(find("armed")), 0);
    stack_depth = 2;
    qprof_trg_event(E);
    assert_int_equal(qprof_is_recording(), 0);
    stack_depth = 3;
    qprof_trg_event(E);
    assert_int_equal(qprof_is_recording(), 1);
    play(p, "f( )");
    qprof_record_fn_exit(0);
    assert_int_equal(qprof_is_recording(), 0);
    assert_hits(find("done"), 1);
    play_end(p);
    assert_skips(p, "f", 1, 0);
    assert_skips(p, "Server.accept", 0, 1);
}

static void members_are_those_of_the_line(void **state) /* events 53 */
{
    qprof_TrgInfo i;
    play_begin(*state, "");
    assert_int_equal(
        qprof_config_line("event-trigger slow event=fn-exit object=glob:net.* longer=50ms "
                          "rate=10/s context=task:7 disable=yes action=snapshot"),
        0);
    assert_int_equal(qprof_trg_get(find("slow"), &i), 0);
    assert_int_equal(i.event, QPROF_EV_FN_EXIT);
    assert_string_equal(i.objName, "net.*");
    assert_int_equal(i.longer, 50000000);
    assert_int_equal(i.rate, 10);
    assert_int_equal(i.contextType, QPROF_TRG_CTX_TASK);
    assert_int_equal(i.contextId, 7);
    assert_int_equal(i.disable, 1);
    assert_int_equal(i.actionType, QPROF_TRG_ACT_SNAPSHOT);
    assert_int_equal(i.actionDef, 1); /* the file's default */
    assert_int_equal(i.status, QPROF_TRG_ENABLE);
    assert_int_equal(i.conditional, QPROF_TRG_COND_NO);
}

static void functions_are_called_by_name(void **state)
{
    play_begin(*state, "");
    trg_noted[0] = '\0';
    assert_int_equal(qprof_config_line("event-trigger f event=40001 deferred=no "
                                       "action=func:note(-7)"),
                     0);
    assert_int_equal(qprof_config_line("triggering on"), 0);
    qprof_trg_event(E);
    assert_noted("");
    assert_int_equal(qprof_trg_symbol("note", QPROF_TRG_SYM_FUNC, (void *)(uintptr_t)trg_note),
                     0);
    qprof_trg_event(E);
    assert_noted(""); /* of another kind */
    assert_int_equal(
        qprof_trg_symbol("note", QPROF_TRG_SYM_ACTION, (void *)(uintptr_t)trg_note), 0);
    qprof_trg_event(E);
    assert_noted("-7");
}

static void symbols_may_come_before_the_run(void **state)
{
    (void)state;
    assert_int_equal(
        qprof_trg_symbol("early", QPROF_TRG_SYM_ACTION, (void *)(uintptr_t)trg_note), 0);
    play_begin(*state, "");
    assert_int_equal(qprof_config_line("event-trigger e event=40001 action=func:early(1)"), 0);
    assert_int_equal(trg_is_enabled(find("e")), 1);
    assert_int_equal(qprof_trg_symbol(NULL, 0, NULL), QPROF_E_ARG);
    assert_int_equal(qprof_trg_symbol("x", 4, (void *)1), QPROF_E_ARG);
    assert_int_equal(qprof_trg_symbol("x", 0, NULL), QPROF_E_ARG);
}

/* ---- mistakes ---------------------------------------------------------------------------- */

typedef struct {
    const char *text, *where;
} bad_file;

static const bad_file bad_files[] = {
    {"triggering on\nevent-trigger a event=any\n event-trigger a event=40001\n", ":3:16: a:"},
    {"event-trigger a event=any\n\nevent-trigger b event=any chain=c\n", ":3:27: chain=c:"},
    {"trigger t on : f\ntrigger t off : g\n", ":2:9: t:"},
    {"action t enable exit : f\naction t disable exit : g\n", ":2:8: t:"},
    {"area t include : f\narea t exclude : g\n", ":2:6: t:"},
    {"area nowhere checked=no\n", ":1:6: nowhere:"},
    {"initial-status off\nprofiling off\nevent-trigger a event=any\nnonsense\n",
     ":4:1: nonsense"},
};

static void nothing_of_a_bad_file_is_applied(void **state) /* spec README */
{
    play_begin(*state, "");
    trg_must((trg){.event = E});
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        write_text("bad.conf", bad_files[i].text);
        assert_true(qprof_load_config("bad.conf") < 0);
        assert_error("bad.conf");
        assert_error(bad_files[i].where);
        assert_null(qprof_trg_find("a"));
        assert_null(qprof_trigger_find("t"));
        assert_null(qprof_action_find("t"));
        assert_null(qprof_area_find("t"));
        assert_int_equal(qprof_trg_enabled_count(), 1);
        assert_int_equal(qprof_trg_is_on(), 0);
        assert_int_equal(qprof_trigger_initial_status(-1), 1);
        assert_int_equal(qprof_enable_profiling(-1), 1);
    }
}

static void a_bad_file_ends_the_beginning(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        write_text("bad.conf", bad_files[i].text);
        assert_true(qprof_initialize("-config=bad.conf", NULL) < 0);
        assert_error(bad_files[i].where);
        assert_int_equal(qprof_is_running(), 0);
    }
    assert_true(qprof_initialize("-config=missing.conf", NULL) < 0);
    assert_error("missing.conf: no such file");
    assert_true(qprof_initialize("-config=.", NULL) < 0);
    assert_error("is a directory");
    write_text("wrong.conf", "nonsense\n");
    assert_true(qprof_initialize("-config=wrong.conf", NULL) < 0);
    assert_error("nonsense: expected -name=value");
    assert_error("triggering, pc, trace, pri"); /* to the end */
}

static void fifty_can_be_enabled_by_a_file(void **state) /* events 32 */
{
    FILE *f = fopen("many.conf", "w");
    for (unsigned i = 0; i < 51; i++)
        fprintf(f, "event-trigger t%u event=any\n", i);
    fclose(f);
    play_begin(*state, "");
    assert_int_equal(qprof_load_config("many.conf"), QPROF_E_LIMIT);
    assert_error(":51:15: t50:");
    assert_int_equal(qprof_trg_enabled_count(), 0);
}

static void options_are_too_late_after_the_first_entry_and_objects_are_not(void **state)
{
    play_ctx *p = play_start(state, "");
    play(p, "f( )");
    assert_int_equal(qprof_config_line("-time-unit=ms"), QPROF_E_STATE);
    assert_int_equal(qprof_config_line("pc real 1000"), QPROF_E_STATE);
    write_text("both.conf", "event-trigger a event=any\n-time-unit=ms\n");
    assert_int_equal(qprof_load_config("both.conf"), QPROF_E_STATE);
    assert_null(qprof_trg_find("a"));
    assert_int_equal(qprof_config_line("event-trigger a event=any"), 0);
    assert_int_equal(qprof_config_line("trigger t off : g"), 0);
    play(p, "g( h( ) ) h( )");
    play_end(p);
    assert_skips(p, "g", 0, 1);
    assert_skips(p, "h", 1, 1);
}

static void an_option_that_cannot_be_takes_objects_back(void **state)
{
    play_begin(*state, "");
    write_text("late.conf", "event-trigger a event=any\n-clock=cache-misses\n");
    assert_int_equal(qprof_load_config("late.conf"), QPROF_E_UNSUPPORTED);
    assert_null(qprof_trg_find("a"));
}

/* ---- one after the other ----------------------------------------------------------------- */

static void files_add_up(void **state)
{
    play_begin(*state, "");
    write_text("one.conf", "event-trigger a event=any\ntrigger t on : f\n");
    write_text("two.conf", "event-trigger b event=any chain=a\n");
    assert_int_equal(qprof_load_config("one.conf"), 0);
    assert_int_equal(qprof_load_config("two.conf"), 0);
    find("a");
    find("b");
    assert_non_null(qprof_trigger_find("t"));
    assert_int_equal(qprof_load_config("one.conf"), QPROF_E_ARG); /* the names are taken */
}

/* Triggering may be on while all are disabled. */
static void what_says_nothing_of_triggering_leaves_it_on(void **state)
{
    play_begin(*state, "");
    qprof_TrgID later = trg_must((trg){.event = E, .is_disabled = 1});
    assert_int_equal(qprof_trg_on(), 0);
    assert_int_equal(qprof_config_line("area all-lines checked=yes"), 0);
    assert_int_equal(qprof_trg_is_on(), 1);
    assert_int_equal(qprof_config_line("event-trigger x event=any chain=nothing"),
                     QPROF_E_NOTFOUND);
    assert_int_equal(qprof_trg_is_on(), 1);
    assert_int_equal(qprof_trg_enable(later), 0);
    qprof_trg_event(E);
    assert_hits(later, 1);
}

static void another_process_replaces_what_files_said(void **state)
{
    play_ctx *p = *state;
    char text[256];
    write_text("one.conf",
               "event-trigger a event=any\ntrigger t on : f\narea all-lines checked=no\n"
               "triggering on\n");
    write_text("two.conf", "event-trigger a event=40001\ntrigger u off : g\n");
    write_text("bad.conf", "event-trigger b event=any\nnonsense\n");
    play_begin(p, "-config=one.conf");
    qprof_TrgID old = find("a");
    qprof_TrgID ours = trg_must((trg){.event = E});
    play(p, "main( f( ) )");
    assert_int_equal(trg_apply("bad.conf", text), QPROF_E_SYNTAX);
    assert_non_null(strstr(text, "bad.conf:2:1: nonsense"));
    assert_ptr_equal(find("a"), old);
    assert_int_equal(trg_is_enabled(old), 1);
    assert_non_null(qprof_trigger_find("t"));
    assert_int_equal(trg_apply("two.conf", text), 0);
    assert_string_equal(text, "");
    assert_int_equal(qprof_trg_enable(old), QPROF_E_NOTFOUND);
    assert_int_equal(trg_is_enabled(find("a")), 1);
    assert_null(qprof_trigger_find("t"));
    assert_non_null(qprof_trigger_find("u"));
    assert_int_equal(qprof_trg_is_on(), 1);
    assert_int_equal(trg_is_enabled(ours), 1); /* the host's stay */
    play(p, "g( ) f( )");
    play_end(p);
    assert_skips(p, "main", 0, 0);
    assert_skips(p, "g", 0, 1);
    assert_skips(p, "f", 2, 0); /* a trigger's, then of all lines again */
}

static void a_run_can_ask_for_configurations(void **state)
{
    char text[256];
    write_text("one.conf", "event-trigger a event=any\n");
    play_begin(*state, "-apply");
    assert_int_equal(trg_apply("one.conf", text), 0);
    find("a");
    assert_int_equal(trg_apply("one.conf", text), 0); /* and once more */
    find("a");
}

/* What a host has found is another object never, and the name is that of the new one. */
static void what_a_host_has_found_of_a_file_is_gone_with_it(void **state)
{
    char text[256];
    write_text("one.conf",
               "trigger t off : f\naction a enable enter : f\narea r include : f\n");
    write_text("two.conf",
               "trigger u off : f\naction a disable exit : f\narea s include : f\n");
    play_begin(*state, "-config=one.conf");
    qprof_trigger *mine = qprof_trigger_create("mine", QPROF_TRIGGER_OFF);
    qprof_trigger *t = qprof_trigger_find("t");
    qprof_action *action = qprof_action_find("a");
    qprof_area *area = qprof_area_find("r");
    assert_true(mine && t && action && area);
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(trg_apply(i % 2 ? "one.conf" : "two.conf", text), 0);
        assert_int_equal(qprof_trigger_set_pass(t, 1), QPROF_E_ARG);
        assert_int_equal(qprof_action_set_checked(action, 0), QPROF_E_ARG);
        assert_int_equal(qprof_area_set_checked(area, 0), QPROF_E_ARG);
        assert_ptr_equal(qprof_trigger_find("mine"), mine);
        assert_int_equal(qprof_trigger_set_pass(mine, i), 0);
    }
}

static void what_a_host_made_still_works_after_many_files(void **state)
{
    play_ctx *p = *state;
    char text[256];
    write_text("one.conf", "trigger t off : f\narea r exclude : glob:h?\n");
    write_text("two.conf", "trigger t on : g\ntrigger s off : glob:h?\n");
    write_text("bad.conf",
               "trigger x off : g regex:g f\ntrigger t off : g\ntrigger t off : g\n");
    play_begin(p, "-config=one.conf");
    qprof_trigger *mine = qprof_trigger_create("mine", QPROF_TRIGGER_OFF);
    assert_int_equal(qprof_trigger_add_routine(mine, "f", 1), 0);
    assert_int_equal(qprof_trigger_add_routine(mine, "regex:^q+$", 1), 0);
    for (unsigned i = 0; i < 9; i++) {
        assert_int_equal(trg_apply(i % 2 ? "one.conf" : "two.conf", text), 0);
        assert_int_equal(trg_apply("bad.conf", text), QPROF_E_ARG);
        play(p, "main( f( g( ) ) qq( ) g( ) h1( ) )");
    }
    play_end(
        p); /* t of two.conf is on in g, below f too: 5 of 9; s is off in h1, r excludes it */
    assert_skips(p, "f", 0, 9);
    assert_skips(p, "qq", 0, 9);
    assert_skips(p, "g", 9 + 5, 4);
    assert_skips(p, "h1", 0, 5);
}

static void names_that_fit_nothing_are_reported(void **state)
{
    play_ctx *p = play_start(state, "-log-file=log");
    assert_int_equal(qprof_config_line("event-trigger a event=fn-entry object=never.called"),
                     0);
    assert_int_equal(qprof_config_line("event-trigger b event=any when=nothing==1"), 0);
    play(p, "f( )");
    play_end(p);
    char log[1024] = "";
    FILE *f = fopen("log", "r");
    assert_non_null(f);
    log[fread(log, 1, sizeof log - 1, f)] = '\0';
    fclose(f);
    assert_non_null(strstr(log, "event trigger a: no method is named never.called"));
    assert_non_null(strstr(log, "event trigger b: waits for a symbol"));
    assert_int_equal(play_file_diagnostic(p, "unmatched_names"), 1);
}

/* Event triggers were not compared with a method that a trigger or an action names as well. */
static void a_method_may_be_of_a_trigger_and_of_an_event_trigger(void **state)
{
    play_ctx *p = play_start(state, "-log-file=log");
    assert_int_equal(qprof_config_line("trigger t on : f"), 0);
    assert_int_equal(qprof_config_line("event-trigger e event=fn-exit object=f"), 0);
    assert_int_equal(qprof_config_line("triggering on"), 0);
    play(p, "f( ) f( )");
    assert_hits(find("e"), 2);
    play_end(p);
    assert_int_equal(play_file_diagnostic(p, "unmatched_names"), 0);
}

static void many_triggers_of_a_file_are_read(void **state) /* issue: 1 million triggers load */
{
    enum { N = 100000 };
    FILE *f = fopen("many.conf", "w");
    for (unsigned i = 0; i < N; i++)
        fprintf(f, "event-trigger t%u event=fn-entry object=m%u status=disabled chain=t%u\n", i,
                i, i + 1 < N ? i + 1 : 0);
    fclose(f);
    play_begin(*state, "-config=many.conf");
    assert_int_equal(qprof_trg_enable(find("t99999")), 0);
    qprof_register_method_id(7, "m99999", NULL, 0, NULL, NULL, 0);
    assert_int_equal(qprof_trg_on(), 0);
    qprof_record_fn_entry(7, 7);
    assert_hits(find("t99999"), 1);
    assert_int_equal(trg_is_enabled(find("t0")), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(the_example_of_the_spec_works),
        PLAY_TEST(members_are_those_of_the_line),
        PLAY_TEST(functions_are_called_by_name),
        PLAY_TEST(symbols_may_come_before_the_run),
        PLAY_TEST(nothing_of_a_bad_file_is_applied),
        PLAY_TEST(a_bad_file_ends_the_beginning),
        PLAY_TEST(fifty_can_be_enabled_by_a_file),
        PLAY_TEST(options_are_too_late_after_the_first_entry_and_objects_are_not),
        PLAY_TEST(an_option_that_cannot_be_takes_objects_back),
        PLAY_TEST(files_add_up),
        PLAY_TEST(what_says_nothing_of_triggering_leaves_it_on),
        PLAY_TEST(another_process_replaces_what_files_said),
        PLAY_TEST(a_run_can_ask_for_configurations),
        PLAY_TEST(what_a_host_has_found_of_a_file_is_gone_with_it),
        PLAY_TEST(what_a_host_made_still_works_after_many_files),
        PLAY_TEST(names_that_fit_nothing_are_reported),
        PLAY_TEST(a_method_may_be_of_a_trigger_and_of_an_event_trigger),
        PLAY_TEST(many_triggers_of_a_file_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
