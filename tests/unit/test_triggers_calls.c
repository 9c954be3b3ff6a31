/* test_triggers_calls.c: which calls of triggers act, and what acting does: triggers 1 to 28,
 * 32 to 38, 43 to 48 of the checklist. Times and counts are worked out from the
 * specification. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "play.h"

/* Scores of methods: t is a trigger's. Which calls of t were hits, as a line of X and '.'. */
static void assert_acting(play_ctx *p, unsigned long pass, unsigned long work, int cycling,
                          const char *wanted)
{
    char found[32] = "";
    play_begin(p, "");
    qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_ON);
    assert_non_null(t);
    assert_int_equal(qprof_trigger_set_pass(t, pass), 0);
    assert_int_equal(qprof_trigger_set_work(t, work), 0);
    assert_int_equal(qprof_trigger_set_cycling(t, cycling), 0);
    assert_int_equal(qprof_trigger_add_routine(t, "t", 1), 0);
    assert_int_equal(qprof_trigger_initial_status(0), 1);
    for (size_t i = 0; i < strlen(wanted); i++) {
        play(p, "t(");
        found[i] = qprof_trigger_thread_status() ? 'X' : '.';
        play(p, ")");
        assert_int_equal(qprof_trigger_thread_status(), 0);
    }
    assert_string_equal(found, wanted);
    play_end(p);
}

static void pass_work_and_cycling_say_which_calls_act(void **state)
{
    static const struct {
        unsigned long pass, work;
        int cycling;
        const char *acting;
    } rows[] = {/* the timelines of triggers 2; triggers 5 to 11 */
                {0, 0, 0, "XXXXXXXXXXXXXXX"}, {3, 0, 0, "...XXXXXXXXXXXX"},
                {2, 0, 1, "..XXXXXXXXXXXXX"}, {0, 2, 0, "XX............."},
                {0, 2, 1, "XXXXXXXXXXXXXXX"}, {3, 2, 0, "...XX.........."},
                {3, 2, 1, "...XX...XX...XX"}, {1, 1, 1, ".X.X.X.X.X.X.X."}};
    static const unsigned long most = ~0ul; /* a round that is longer than a number is none */
    assert_acting(*state, 1, most, 1, ".XXXXX");
    assert_int_equal(remove("run.qprof"), 0);
    assert_acting(*state, most / 2 + 1, most / 2 + 1, 1, "......");
    assert_int_equal(remove("run.qprof"), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_acting(*state, rows[i].pass, rows[i].work, rows[i].cycling, rows[i].acting);
        assert_int_equal(remove("run.qprof"), 0);
    }
}

static void a_single_on_trigger_selects_its_dynamic_extent(void **state) /* triggers 2 */
{
    play_ctx *p = play_start(state, "");
    qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_ON);
    qprof_trigger_add_routine(t, "t", 1);
    qprof_trigger_initial_status(0);
    play(p, "a( 5 t( 3 b( 2 ) 4 ) 7 ) b( 9 )");
    play_end(p);
    assert_skips(p, "a", 0, 1);
    assert_skips(p, "t", 1, 0);
    assert_skips(p, "b", 1, 1);
    assert_path(p, "a>t", 1, 7);
    assert_path(p, "a>t>b", 1, 2);
    assert_path(p, "b", 1, 0);
    assert_path(p, "a", 1, 0); /* triggers 44: time while disabled is not attributed */
}

static void the_seeds_example_of_an_off_trigger(void **state) /* triggers 3, 4 */
{
    play_ctx *p = play_start(state, "");
    qprof_trigger *t = qprof_trigger_create("off", QPROF_TRIGGER_OFF);
    qprof_trigger_add_routine(t, "Proc_B", 1);
    play(p, "Proc_A( 1 ) Proc_B( 2 Proc_D( 3 ) Proc_E( 4 ) 5 ) Proc_C( 6 )");
    play_end(p);
    assert_flat(p, "Proc_A", 1, 1, 1);
    assert_flat(p, "Proc_C", 1, 6, 6);
    assert_skips(p, "Proc_B", 0, 1);
    assert_skips(p, "Proc_D", 0, 1);
    assert_skips(p, "Proc_E", 0, 1);
    assert_flat(p, "Proc_D", 1, 0, 0); /* a skip is a call */
}

/* A and C turn recording off, B on. */
static void set_off_on_off(void)
{
    qprof_trigger *off = qprof_trigger_create("off", QPROF_TRIGGER_OFF);
    qprof_trigger *on = qprof_trigger_create("on", QPROF_TRIGGER_ON);
    qprof_trigger_add_routine(off, "A", 1);
    qprof_trigger_add_routine(on, "B", 1);
    qprof_trigger_add_routine(off, "C", 1);
}

static void nested_triggers_restore_last_in_first_out(void **state) /* triggers 21 */
{
    play_ctx *p = play_start(state, "");
    set_off_on_off();
    play(p, "x( 1 A( 2 B( 4 C( 8 ) 16 ) 32 ) 64 )");
    assert_int_equal(qprof_trigger_thread_status(), 1);
    play_end(p);
    assert_path(p, "x", 1, 65);
    assert_path(p, "x>A", 1, 0);
    assert_path(p, "x>A>B", 1, 20);
    assert_path(p, "x>A>B>C", 1, 0);
}

static void a_recursive_trigger_counts_each_entry(void **state) /* triggers 19, 20 */
{
    play_ctx *p = play_start(state, "");
    qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_ON);
    qprof_trigger_set_pass(t, 1);
    qprof_trigger_set_work(t, 1);
    qprof_trigger_add_routine(t, "fact", 1);
    qprof_trigger_initial_status(0);
    play(p, "fact( 1 ");
    assert_int_equal(qprof_trigger_thread_status(), 0);
    play(p, "fact( 2 ");
    assert_int_equal(qprof_trigger_thread_status(), 1);
    play(p, "fact( 4 ");
    assert_int_equal(qprof_trigger_thread_status(), 1);
    play(p, ") 8 ");
    assert_int_equal(qprof_trigger_thread_status(), 1);
    play(p, ") ");
    assert_int_equal(qprof_trigger_thread_status(), 0);
    play(p, "16 )");
    play_end(p);
    assert_skips(p, "fact", 2, 1);
    assert_path(p, "fact>fact", 1, 10);
    assert_path(p, "fact>fact>fact", 1, 4);
    assert_path(p, "fact", 1, 0);
}

static void counts_are_each_threads_or_all_threads(void **state) /* triggers 12 to 14 */
{
    static const char *const order[] = {"@T1", "@T2", "@T2", "@T1", "@T1", "@T2"};
    static const char *const wanted[] = {"....XX", "..X..."};
    play_ctx *p = *state;
    for (int all = 0; all < 2; all++) {
        char found[8] = "";
        play_begin_vt(p, "");
        qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_ON);
        qprof_trigger_set_pass(t, 2);
        qprof_trigger_set_work(t, 1);
        qprof_trigger_set_all_threads(t, all);
        qprof_trigger_add_routine(t, "t", 1);
        qprof_trigger_initial_status(0);
        for (size_t i = 0; i < 6; i++) {
            play(p, order[i]);
            play(p, "t(");
            found[i] = qprof_trigger_thread_status() ? 'X' : '.';
            play(p, i == 2 && all ? "@T1 x( 1 ) @T2 )" : ")"); /* T1 stays as it was */
        }
        assert_string_equal(found, wanted[all]);
        play_end(p);
        if (all)
            assert_skips(p, "x", 0, 1);
        assert_int_equal(remove("run.qprof"), 0);
    }
}

static void routines_of_one_trigger_share_its_count(void **state) /* triggers 15 to 18 */
{
    play_ctx *p = play_start(state, "");
    qprof_trigger *one = qprof_trigger_create("one", QPROF_TRIGGER_OFF);
    qprof_trigger *two = qprof_trigger_create("two", QPROF_TRIGGER_OFF);
    qprof_trigger *unchecked = qprof_trigger_create("unchecked", QPROF_TRIGGER_OFF);
    qprof_trigger_set_pass(one, 2);
    qprof_trigger_add_routine(one, "f", 1);
    qprof_trigger_add_routine(one, "g", 1);
    qprof_trigger_add_routine(one, "f", 1); /* twice: counts once */
    qprof_trigger_set_pass(two, 3);
    qprof_trigger_add_routine(two, "g", 1);
    qprof_trigger_add_routine(two, "h", 0); /* unchecked: neither counts nor acts */
    qprof_trigger_set_checked(unchecked, 0);
    qprof_trigger_add_routine(unchecked, "f", 1);
    play(p, "f( ) g( ) h( )");            /* one: 2 calls, two: 1 */
    play(p, "f( 1 ) g( 2 ) g( 4 ) h( )"); /* one acts on all; two: 3 calls */
    qprof_trigger_set_checked(one, 0);
    play(p, "f( 8 ) g( 16 ) h( 32 )"); /* two acts on g */
    play_end(p);
    assert_skips(p, "f", 2, 1);
    assert_skips(p, "g", 1, 3);
    assert_skips(p, "h", 3, 0);
    assert_flat(p, "f", 3, 8, 8);
    assert_flat(p, "h", 3, 32, 32);
}

static void unwinding_restores_every_frame(void **state) /* triggers 22 */
{
    play_ctx *p = play_start(state, "");
    set_off_on_off();
    play(p, "main( 1 A( B( C( 2 ^main 4 )");
    assert_int_equal(qprof_trigger_thread_status(), 1);
    play_end(p);
    assert_path(p, "main", 1, 5);
    assert_int_equal(qprof_diagnostic("unwound"), 2);
}

static void the_gate_hides_and_changes_nothing_beneath(void **state) /* triggers 23 to 25, 38 */
{
    play_ctx *p = play_start(state, "");
    qprof_trigger *off = qprof_trigger_create("off", QPROF_TRIGGER_OFF);
    qprof_trigger_set_pass(off, 1);
    qprof_trigger_add_routine(off, "t", 1);
    play(p, "a( 1 ) ");
    assert_int_equal(qprof_enable_profiling(0), 1);
    assert_int_equal(qprof_enable_profiling(-1), 0);
    play(p, "a( 2 ) t( 4 ) t( 8 "); /* the second t acts */
    assert_int_equal(qprof_enable_profiling(1), 0);
    play(p, "a( 16 ) "); /* the gate is open, the trigger's method still runs */
    assert_int_equal(qprof_trigger_thread_status(), 0);
    play(p, ") a( 32 )");
    play_end(p);
    assert_skips(p, "a", 2, 2);
    assert_skips(p, "t", 0, 2);
    assert_flat(p, "a", 4, 33, 33);
}

static void recording_and_gate_must_both_agree(void **state)
{
    play_ctx *p = play_start(state, "");
    play(p, "a( 1 ");
    qprof_enable_profiling(0);
    play(p, "2 ");
    assert_int_equal(qprof_stop_recording(), 1);
    play(p, "4 ");
    qprof_enable_profiling(1);
    play(p, "8 ");
    assert_int_equal(qprof_start_recording(), 1);
    play(p, "16 )");
    play_end(p);
    assert_flat(p, "a", 1, 17, 17);
}

static void actions_turn_all_threads(void **state) /* triggers 32 to 35 */
{
    play_ctx *p = *state;
    play_begin_vt(p, "");
    qprof_action *stop = qprof_action_create("stop", QPROF_ACTION_DISABLE, QPROF_ON_EXIT);
    qprof_action *go = qprof_action_create("go", QPROF_ACTION_ENABLE, QPROF_ON_ENTER);
    qprof_trigger *on = qprof_trigger_create("on", QPROF_TRIGGER_ON);
    qprof_action_add_routine(stop, "halt", 1);
    qprof_action_add_routine(go, "go", 1);
    qprof_trigger_add_routine(on, "keep", 1);
    play(p, "@A f( 1 @B g( 2 halt( 4 ) 8 "); /* B and A are off from here on */
    play(p, "@A +1 16 h( 32 ) ");            /* A learns of it */
    play(p,
         "@B keep( 64 go( 128 ) 256 ) 512 ) "); /* the trigger's exit undoes the action on B */
    play(p, "@A +1 1024 ) @B g( ) @C f( )");
    play_end(p);
    assert_path(p, "f", 2, 1 + 1024);
    assert_path(p, "f>h", 1, 0);
    assert_path(p, "g>halt", 1, 4); /* off only after it has ended */
    assert_path(p, "g>keep", 1, 64 + 256);
    assert_path(p, "g>keep>go", 1, 128);
    assert_skips(p, "g", 1, 1);
}

static void *halt_elsewhere(void *method)
{
    qprof_record_fn_entry((qprof_MethodID)(uintptr_t)method, 1);
    qprof_record_fn_exit(0);
    return NULL;
}

static void a_thread_that_another_one_turned_off_says_so_at_once(void **state) /* triggers 32 */
{
    play_ctx *p = *state;
    pthread_t other;
    play_begin(p, "");
    qprof_action *stop = qprof_action_create("stop", QPROF_ACTION_DISABLE, QPROF_ON_ENTER);
    qprof_action_add_routine(stop, "halt", 1);
    play(p, "a(");
    assert_int_equal(qprof_trigger_thread_status(), 1);
    pthread_create(&other, NULL, halt_elsewhere, (void *)(uintptr_t)play_method(p, "halt"));
    pthread_join(other, NULL);
    assert_int_equal(qprof_trigger_thread_status(), 0);
    play(p, "b( ) )");
    play_end(p);
    assert_skips(p, "b", 0, 1);
}

/* By the real clock: what looking at the trigger takes is not the caller's, which is off. */
static void a_caller_that_is_off_has_no_time_at_all(void **state) /* triggers 44 */
{
    play_ctx *p = *state;
    qprof_set_clock(NULL);
    play_begin(p, "");
    qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_ON);
    qprof_trigger_add_routine(t, "t", 1);
    qprof_trigger_initial_status(0);
    play(p, "a( t( ) t( ) t( ) )");
    play_end(p);
    assert_int_equal(play_figures(p, QP_ALL_THREADS, "a").self, 0);
    assert_skips(p, "t", 3, 0);
}

/* The i-th dataset of this test: numbers continue from test to test. */
static const char *dataset(unsigned i)
{
    static char name[32];
    for (unsigned number = 0; number < 1000; number++) {
        snprintf(name, sizeof name, "set%u.qprof", number);
        if (play_file_exists(name) && i-- == 0)
            return name;
    }
    return "missing";
}

static void results_can_be_had_and_cleared(void **state) /* triggers 36, 37, 45 */
{
    play_ctx *p = play_start(state, "-output=set%n.qprof");
    qprof_action *get = qprof_action_create("get", QPROF_ACTION_GET_RESULTS, QPROF_ON_EXIT);
    qprof_action *clear =
        qprof_action_create("clear", QPROF_ACTION_CLEAR_RESULTS, QPROF_ON_EXIT);
    qprof_action *first =
        qprof_action_create("first", QPROF_ACTION_CLEAR_RESULTS, QPROF_ON_ENTER);
    qprof_action_add_routine(get, "f", 1);
    qprof_action_add_routine(clear, "g", 1);
    qprof_action_add_routine(first, "h", 1);
    play(p, "f( 1 ) f( 2 ) ");  /* set0: 1 call, set1: 2 */
    play(p, "g( 4 ) f( 8 ) ");  /* g is discarded with the rest; set2 */
    play(p, "h( 16 ) f( 32 )"); /* h is kept; set3 */
    qprof_shutdown();
    play_read(p, dataset(0));
    assert_flat(p, "f", 1, 1, 1);
    play_read(p, dataset(1));
    assert_flat(p, "f", 2, 3, 3);
    play_read(p, dataset(2));
    assert_flat(p, "f", 1, 8, 8);
    assert_flat(p, "g", 0, 0, 0);
    play_read(p, dataset(3));
    assert_flat(p, "h", 1, 16, 16);
    assert_flat(p, "f", 1, 32, 32);
}

static void without_rules_the_initial_status_is_ignored(void **state) /* triggers 1 */
{
    play_ctx *p = play_start(state, "");
    qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_ON);
    qprof_trigger_add_routine(t, "t", 0); /* nothing checked */
    qprof_trigger_initial_status(0);
    assert_int_equal(qprof_trigger_validate(), 0);
    play(p, "a( 1 t( 2 ) )");
    play_end(p);
    assert_flat(p, "a", 1, 3, 1);
    assert_flat(p, "t", 1, 2, 2);
}

static void a_row_that_is_used_again_begins_with_the_initial_status(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, "-thread-rows=1");
    qprof_trigger_add_routine(qprof_trigger_create("t", QPROF_TRIGGER_ON), "t", 1);
    qprof_trigger_initial_status(0);
    for (uintptr_t vt = 0x77; vt < 0x7A; vt++) {
        qprof_record_fn_entry_vt(play_method(p, "f"), 1, vt);
        qprof_thread_destroy_vt(vt);
    }
    play_end(p);
    assert_skips(p, "f", 0, 3);
}

static void actions_alone_put_the_initial_status_in_force(void **state) /* triggers 41, 46 */
{
    play_ctx *p = play_start(state, "");
    qprof_action *a = qprof_action_create("a", QPROF_ACTION_CLEAR_RESULTS, QPROF_ON_ENTER);
    qprof_action_add_routine(a, "never", 1);
    qprof_trigger_initial_status(0);
    assert_int_equal(qprof_trigger_validate(), QPROF_WARN_MAY_BE_OFF);
    play(p, "a( 1 )");
    qprof_action *b = qprof_action_create("b", QPROF_ACTION_ENABLE, QPROF_ON_ENTER);
    qprof_action_add_routine(b, "never", 1);
    assert_int_equal(qprof_trigger_validate(), 0);
    play_end(p);
    assert_skips(p, "a", 0, 1);
    assert_int_equal(play_file_diagnostic(p, "unmatched_names"), 2);
}

static void names_may_be_patterns_and_come_before_their_methods(void **state) /* triggers 47 */
{
    play_ctx *p = play_start(state, "");
    qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_OFF);
    assert_int_equal(qprof_trigger_add_routine(t, "glob:log_*", 1), 0);
    assert_int_equal(qprof_trigger_add_routine(t, "regex:^(io|net)$", 1), 0);
    assert_int_equal(qprof_trigger_add_routine(t, "regex:(", 1), QPROF_E_SYNTAX);
    play(p, "log_write( 1 ) log( 2 ) io( 4 ) io2( 8 ) net( 16 )");
    play_end(p);
    assert_skips(p, "log_write", 0, 1);
    assert_skips(p, "io", 0, 1);
    assert_skips(p, "net", 0, 1);
    assert_flat(p, "log", 1, 2, 2);
    assert_flat(p, "io2", 1, 8, 8);
}

static void a_rule_for_a_method_that_has_paths_takes_effect(void **state)
{
    play_ctx *p = play_start(state, "");
    play(p, "a( b( 1 ) b( 1 ) c( ) b( 1 ) ) ");
    qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_OFF);
    qprof_trigger_add_method(t, play_method(p, "b"), 1);
    play(p, "a( b( 2 ) c( 4 ) b( 8 ) ) ");
    qprof_trigger_destroy(t);
    play(p, "a( b( 16 ) c( 32 ) b( 64 ) )");
    play_end(p);
    assert_path(p, "a>b", 7, 3 + 16 + 64);
    assert_skips(p, "b", 5, 2);
    assert_path(p, "a>c", 3, 4 + 32);
}

static void what_is_no_rule_is_refused(void **state)
{
    play_ctx *p = *state;
    int nothing[32] = {0};
    assert_null(qprof_trigger_create("t", QPROF_TRIGGER_ON)); /* no run */
    play_begin(p, "");
    qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_ON);
    assert_null(qprof_trigger_create("t", QPROF_TRIGGER_OFF));
    assert_null(qprof_trigger_create("", QPROF_TRIGGER_OFF));
    assert_null(qprof_trigger_create(NULL, QPROF_TRIGGER_OFF));
    assert_null(qprof_trigger_create("u", 7));
    assert_non_null(
        qprof_action_create("t", QPROF_ACTION_ENABLE, QPROF_ON_EXIT)); /* kinds apart */
    assert_ptr_equal(qprof_trigger_find("t"), t);
    assert_int_equal(qprof_trigger_set_pass((qprof_trigger *)(void *)nothing, 1), QPROF_E_ARG);
    assert_int_equal(qprof_trigger_set_pass((qprof_trigger *)((char *)t + 8), 1), QPROF_E_ARG);
    assert_int_equal(qprof_action_set_checked((qprof_action *)(void *)t, 1), QPROF_E_ARG);
    assert_int_equal(qprof_trigger_check_routine(t, "nowhere", 1), QPROF_E_NOTFOUND);
    assert_int_equal(qprof_trigger_destroy(t), 0);
    assert_int_equal(qprof_trigger_destroy(t), QPROF_E_ARG);
    assert_null(qprof_trigger_find("t"));
    assert_non_null(qprof_trigger_create("t", QPROF_TRIGGER_ON));
    qprof_shutdown();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(pass_work_and_cycling_say_which_calls_act),
        PLAY_TEST(a_single_on_trigger_selects_its_dynamic_extent),
        PLAY_TEST(the_seeds_example_of_an_off_trigger),
        PLAY_TEST(nested_triggers_restore_last_in_first_out),
        PLAY_TEST(a_recursive_trigger_counts_each_entry),
        PLAY_TEST(counts_are_each_threads_or_all_threads),
        PLAY_TEST(routines_of_one_trigger_share_its_count),
        PLAY_TEST(unwinding_restores_every_frame),
        PLAY_TEST(the_gate_hides_and_changes_nothing_beneath),
        PLAY_TEST(recording_and_gate_must_both_agree),
        PLAY_TEST(actions_turn_all_threads),
        PLAY_TEST(a_thread_that_another_one_turned_off_says_so_at_once),
        PLAY_TEST(a_caller_that_is_off_has_no_time_at_all),
        PLAY_TEST(results_can_be_had_and_cleared),
        PLAY_TEST(without_rules_the_initial_status_is_ignored),
        PLAY_TEST(a_row_that_is_used_again_begins_with_the_initial_status),
        PLAY_TEST(actions_alone_put_the_initial_status_in_force),
        PLAY_TEST(names_may_be_patterns_and_come_before_their_methods),
        PLAY_TEST(a_rule_for_a_method_that_has_paths_takes_effect),
        PLAY_TEST(what_is_no_rule_is_refused),
    };
    return cmocka_run_group_tests_name("triggers, calls", tests, NULL, NULL);
}
