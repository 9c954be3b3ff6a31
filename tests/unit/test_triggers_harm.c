/* test_triggers_harm.c: rules whose calls are left by jumps, that go away meanwhile, in forked
 * children and beyond the limits is safe: what was saved is restored, and every call is
 * counted. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "trg.h"

static jmp_buf out;

static int jump(intptr_t value)
{
    longjmp(out, (int)value);
}

/* An action that leaves by a jump when this event happens, once. */
static void jump_at(qprof_event_t event)
{
    trg_must((trg){.event = event,
                   .is_one_shot = 1,
                   .action = QPROF_TRG_ACT_FUNC,
                   .function = jump,
                   .argument = 1});
}

static void off_in(const char *name)
{
    qprof_trigger *t = qprof_trigger_create("off", QPROF_TRIGGER_OFF);
    qprof_trigger_add_routine(t, name, 1);
}

/* The call is complete before anything of the host's is called that may jump. */
static void a_jump_out_of_a_status_event_leaves_a_frame_that_restores(void **state)
{
    play_ctx *p = *state;
    trg_begin(p, "");
    off_in("t");
    play(p, "main(");
    jump_at(QPROF_EV_STATUS);
    if (setjmp(out) == 0) {
        qprof_record_fn_entry(play_method(p, "t"), 0x5000);
        fail_msg("no jump happened");
    }
    assert_int_equal(qprof_trigger_thread_status(), 0);
    play(p, "1 ^main"); /* the host has caught it there */
    assert_int_equal(qprof_trigger_thread_status(), 1);
    play(p, "f( 2 ) )");
    play_end(p);
    assert_skips(p, "t", 0, 1);
    assert_skips(p, "f", 1, 0);
    assert_path(p, "main>f", 1, 2);
}

static void a_jump_out_of_a_save_leaves_a_frame_that_restores(void **state)
{
    play_ctx *p = *state;
    trg_begin(p, "-output=set%n.qprof");
    off_in("t");
    qprof_action *get = qprof_action_create("get", QPROF_ACTION_GET_RESULTS, QPROF_ON_ENTER);
    qprof_action_add_routine(get, "t", 1);
    play(p, "main( f( )");
    jump_at(QPROF_EV_SAVE);
    if (setjmp(out) == 0) {
        qprof_record_fn_entry(play_method(p, "t"), 0x5000);
        fail_msg("no jump happened");
    }
    play(p, "1 ^main");
    assert_int_equal(qprof_trigger_thread_status(), 1);
    assert_int_equal(qprof_stop_recording(), 1); /* no lock is held */
    qprof_shutdown();
    assert_int_equal(play_count_files(".qprof"), 2);
}

/* At exits as well: the status is restored before. */
static void a_jump_out_of_an_exit_has_restored(void **state)
{
    play_ctx *p = *state;
    trg_begin(p, "");
    off_in("t");
    play(p, "main( t( 1");
    jump_at(QPROF_EV_STATUS);
    if (setjmp(out) == 0)
        play(p, ")");
    assert_int_equal(qprof_trigger_thread_status(), 1);
    qprof_record_fn_exit(0);
    play_end(p);
    assert_skips(p, "t", 0, 1);
    assert_skips(p, "main", 1, 0);
}

static qprof_trigger *it;
static qprof_action *action;

/* What a host may do while a trigger's method runs, or is entered. */
static int destroy_all(intptr_t unused)
{
    (void)unused;
    qprof_trigger_destroy(it);
    qprof_action_destroy(action);
    return 0;
}

/* Its own trigger and action go away while they do something. */
static void a_rule_may_be_destroyed_by_what_it_causes(void **state)
{
    static const qprof_event_t events[] = {QPROF_EV_STATUS, QPROF_EV_SAVE, QPROF_EV_FN_ENTRY};
    play_ctx *p = *state;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        trg_begin(p, "-output=set%n.qprof");
        it = qprof_trigger_create("t", QPROF_TRIGGER_OFF);
        action = qprof_action_create("a", QPROF_ACTION_GET_RESULTS, QPROF_ON_ENTER);
        qprof_trigger_add_routine(it, "t", 1);
        qprof_action_add_routine(action, "t", 1);
        trg_must((trg){.event = events[i],
                       .is_one_shot = 1,
                       .action = QPROF_TRG_ACT_FUNC,
                       .function = destroy_all});
        play(p, "main( t( ");
        if (i < 2)
            assert_null(qprof_trigger_find("t"));
        assert_int_equal(qprof_trigger_thread_status(), i == 2); /* main destroys them */
        play(p, ")");
        assert_int_equal(qprof_trigger_thread_status(), 1); /* its frame still restores */
        play(p, "t( ");
        assert_int_equal(qprof_trigger_thread_status(), 1);
        play(p, ") )");
        qprof_shutdown();
    }
}

/* A child that follows its parent continues: with the triggers of the configuration, those that calls
 * have made, and the states of threads. */
static void a_forked_child_continues_with_triggers_and_states(void **state)
{
    play_ctx *p = *state;
    if (!PLAY_CHILD_MAY_START_THREADS)
        skip();
    FILE *f = fopen("rules.conf", "w");
    fputs("trigger off off : t\n", f);
    fclose(f);
    assert_int_equal(qprof_initialize("-filename-prefix=data.%p -follow-child-processes "
                                      "-config=rules.conf",
                                      NULL),
                     0);
    qprof_trigger_create("by a call", QPROF_TRIGGER_OFF);
    play(p, "main( t( 1 ");
    assert_int_equal(qprof_trigger_thread_status(), 0);
    fflush(NULL);
    int child = fork();
    if (child == 0) {
        bool is_good = qprof_trigger_thread_status() == 0 && qprof_trigger_find("off") &&
                       qprof_trigger_find("by a call");
        play(p, ")"); /* of t, which was open at the fork: it restores the status */
        is_good &= qprof_trigger_thread_status() == 1;
        play(p, "t( ");
        is_good &= qprof_trigger_thread_status() == 0;
        play(p, ") )");
        exit(!(is_good && qprof_trigger_thread_status() == 1));
    }
    assert_int_equal(play_child_status(child), 0);
    play(p, ") )");
    assert_int_equal(qprof_trigger_thread_status(), 1);
    qprof_shutdown();
}

/* Calls beyond the memory for stacks are only counted: no trigger looks at them. */
static void beyond_the_depth_that_is_stored_no_trigger_acts(void **state)
{
    enum { DEPTH = 200000 };
    play_ctx *p = play_start(state, "-memory-limit=1M");
    off_in("t");
    for (uintptr_t i = 1; i <= DEPTH; i++)
        qprof_record_fn_entry(play_method(p, "f"), i);
    assert_true(qprof_diagnostic("depth_overflow") > 0);
    qprof_record_fn_entry(play_method(p, "t"), DEPTH + 1);
    assert_int_equal(qprof_trigger_thread_status(), 1);
    qprof_record_fn_exit(DEPTH);
    qprof_record_fn_exit(1);
    qprof_record_fn_entry(play_method(p, "t"), 2);
    assert_int_equal(qprof_trigger_thread_status(), 0);
    qprof_record_fn_exit(1);
    assert_int_equal(qprof_trigger_thread_status(), 1);
    qprof_record_fn_exit(0);
    play_end(p);
    assert_skips(p, "t", 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(a_jump_out_of_a_status_event_leaves_a_frame_that_restores),
        PLAY_TEST(a_jump_out_of_a_save_leaves_a_frame_that_restores),
        PLAY_TEST(a_jump_out_of_an_exit_has_restored),
        PLAY_TEST(a_rule_may_be_destroyed_by_what_it_causes),
        PLAY_TEST(a_forked_child_continues_with_triggers_and_states),
        PLAY_TEST(beyond_the_depth_that_is_stored_no_trigger_acts),
    };
    return cmocka_run_group_tests_name("triggers, harm", tests, NULL, NULL);
}
