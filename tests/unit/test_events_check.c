/* test_events_check.c tests record/trigger/event_trigger.c: which event triggers an event hits,
 * spec/events.md sections 4 to 6 and 8. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "unit/trg.h"

/* ---- status, event, object --------------------------------------------------------------- */

static void events_without_triggering_touch_nothing(void **state) /* events 4, 35 */
{
    play_ctx *p = play_start(state, "");
    qprof_TrgID any = trg_must((trg){.event = QPROF_EV_ANY});
    qprof_stop_recording(); /* the whole action word is 0 */
    play(p, "f( g( ) )");
    qprof_trg_event(E);
    qprof_user_event(E);
    assert_hits(any, 0);
}

static void a_disabled_trigger_never_fires(void **state) /* events 6 */
{
    trg_begin(*state, "");
    qprof_TrgID t = trg_must((trg){.event = E, .is_disabled = 1});
    qprof_trg_event(E);
    assert_hits(t, 0);
    qprof_trg_enable(t);
    qprof_trg_event(E);
    assert_hits(t, 1);
    qprof_trg_disable(t);
    qprof_trg_on(); /* it was the last one */
    qprof_trg_event(E);
    assert_hits(t, 1);
}

static void an_event_matches_itself_and_any(void **state) /* events 7 */
{
    trg_begin(*state, "");
    qprof_TrgID one = trg_must((trg){.event = E}), any = trg_must((trg){.event = QPROF_EV_ANY});
    qprof_trg_event(E);
    qprof_trg_event(E2);
    qprof_trg_event(40000);
    assert_hits(one, 1);
    assert_hits(any, 3);
}

static void only_host_numbers_can_be_raised(void **state) /* events 34 */
{
    trg_begin(*state, "");
    qprof_TrgID any = trg_must((trg){.event = QPROF_EV_ANY});
    qprof_trg_event(39999);
    qprof_trg_event(65536);
    qprof_trg_event(QPROF_EV_FN_ENTRY);
    assert_hits(any, 0);
    assert_int_equal(qprof_user_event(39999), QPROF_E_ARG);
    assert_int_equal(qprof_user_event(65536), QPROF_E_ARG);
    assert_hits(any, 0);
    qprof_trg_event(40000);
    qprof_trg_event(65535);
    assert_int_equal(qprof_user_event(40000), 0);
    assert_int_equal(qprof_user_event(65535), 0);
    assert_hits(any, 4);
}

static void an_object_is_any_or_that_one(void **state) /* events 10 */
{
    play_ctx *p = *state;
    trg_begin(p, "");
    qprof_TrgID any = trg_must((trg){.event = QPROF_EV_FN_ENTRY});
    qprof_TrgID f = trg_must((trg){.event = QPROF_EV_FN_ENTRY, .object = play_method(p, "f")});
    play(p, "f( g( f( ) ) ) h( )");
    assert_hits(any, 4);
    assert_hits(f, 2);
}

static void exits_come_frame_by_frame(void **state) /* section 1 */
{
    play_ctx *p = *state;
    trg_begin(p, "");
    qprof_TrgID exit = trg_must((trg){.event = QPROF_EV_FN_EXIT});
    qprof_TrgID g = trg_must((trg){.event = QPROF_EV_FN_EXIT, .object = play_method(p, "g")});
    qprof_TrgID unwind = trg_must((trg){.event = QPROF_EV_UNWIND});
    qprof_TrgID to_f = trg_must((trg){.event = QPROF_EV_UNWIND, .object = play_method(p, "f")});
    play(p, "f( g( h(");
    play(p, "^f");
    assert_hits(exit, 2);
    assert_hits(g, 1);
    assert_hits(unwind, 1);
    assert_hits(to_f, 1);
    play(p, "g( )");
    assert_hits(unwind, 1); /* one frame is no unwinding */
    assert_hits(g, 2);
    play(p, "$");
    assert_hits(exit, 4);
}

static void innermost_frames_end_first(void **state) /* section 1 */
{
    play_ctx *p = *state;
    trg_begin(p, "");
    const char *const names[] = {"f", "g", "h"};
    for (int i = 0; i < 3; i++)
        trg_must((trg){.event = QPROF_EV_FN_EXIT,
                       .object = play_method(p, names[i]),
                       .action = QPROF_TRG_ACT_FUNC,
                       .function = trg_note,
                       .argument = i});
    play(p, "f( g( h( $");
    assert_noted("2 1 0");
}

static void a_call_that_began_before_it_was_asked_for_ends(void **state)
{
    play_ctx *p = *state;
    trg_begin(p, "");
    play(p, "f( g(");
    qprof_TrgID g = trg_must((trg){.event = QPROF_EV_FN_EXIT, .object = play_method(p, "g")});
    play(p, ")");
    assert_hits(g, 1);
}

static void details_of_calls_are_events(void **state) /* section 1 */
{
    play_ctx *p = *state;
    static const qprof_LineInfo table[] = {{0, 1}, {4, 2}, {8, 3}};
    trg_begin(p, "");
    play_register(p, "f", 0, table, 3);
    qprof_TrgID block = trg_must((trg){.event = QPROF_EV_BLOCK});
    qprof_TrgID f = trg_must((trg){.event = QPROF_EV_BLOCK, .object = play_method(p, "f")});
    qprof_TrgID counts =
        trg_must((trg){.event = QPROF_EV_COUNTS, .object = play_method(p, "f")});
    play(p, "f( :2 #1*5 +7 g( #0*1 ) )");
    assert_hits(block, 3);
    assert_hits(f, 2);
    assert_hits(counts, 1);
}

static void details_of_no_call_are_no_events(void **state)
{
    play_ctx *p = *state;
    trg_begin(p, "");
    qprof_TrgID block = trg_must((trg){.event = QPROF_EV_BLOCK});
    qprof_TrgID counts = trg_must((trg){.event = QPROF_EV_COUNTS});
    qprof_record_bb_counts(0, 1);
    qprof_record_counts(1);
    assert_hits(block, 0);
    assert_hits(counts, 0);
}

static void threads_and_methods_are_events(void **state) /* section 1 */
{
    play_ctx *p = *state;
    trg_begin(p, "");
    qprof_TrgID begun = trg_must((trg){.event = QPROF_EV_THREAD_CREATE});
    qprof_TrgID seven = trg_must((trg){.event = QPROF_EV_THREAD_CREATE, .object = 7});
    qprof_TrgID ended = trg_must((trg){.event = QPROF_EV_THREAD_DESTROY, .object = 7});
    qprof_TrgID method = trg_must((trg){.event = QPROF_EV_METHOD_REGISTER, .object = 4711});
    qprof_thread_create(7);
    assert_hits(begun, 1);
    assert_hits(seven, 1);
    assert_hits(ended, 0);
    qprof_thread_destroy(7);
    assert_hits(ended, 1);
    qprof_register_method_id(4711, "m", NULL, 0, NULL, NULL, 0);
    qprof_register_method_id(4712, "n", NULL, 0, NULL, NULL, 0);
    assert_hits(method, 1);
}

static void saves_and_clears_are_events(void **state) /* section 1 */
{
    play_ctx *p = *state;
    trg_begin(p, "");
    qprof_TrgID saved = trg_must((trg){.event = QPROF_EV_SAVE});
    qprof_TrgID cleared = trg_must((trg){.event = QPROF_EV_CLEAR});
    play(p, "f( )");
    assert_int_equal(qprof_save_data(), 1);
    assert_hits(saved, 1);
    assert_hits(cleared, 0);
    assert_int_equal(qprof_clear_data(), 1);
    assert_hits(cleared, 1);
    play(p, "f( )");
    assert_int_equal(qprof_new_phase("two"), 1);
    assert_hits(saved, 2);
    assert_hits(cleared, 2);
}

/* Each thread's is one when it learns of it. */
static void changes_of_status_are_events(void **state) /* section 1 */
{
    play_ctx *p = *state;
    play_begin_vt(p, "");
    assert_int_equal(qprof_config_line("trigger quiet off : quiet"), 0);
    assert_int_equal(qprof_config_line("action end disable exit : end"), 0);
    assert_int_equal(qprof_config_line("action begin enable enter : begin"), 0);
    qprof_TrgID all = trg_must((trg){.event = QPROF_EV_STATUS});
    qprof_TrgID on_b = trg_must((trg){.event = QPROF_EV_STATUS, .object = play_vt(p, "b")});
    assert_int_equal(qprof_trg_on(), 0);
    play(p, "@b f( @a f( quiet(");
    assert_hits(all, 1);
    play(p, ")");
    assert_hits(all, 2);
    play(p, "end( )");
    assert_hits(all, 3);
    play(p, "end( )"); /* it is off already */
    assert_hits(all, 3);
    assert_hits(on_b, 0);
    play(p, "@b g( )");
    assert_hits(on_b, 1);
    play(p, "begin( )");
    assert_hits(on_b, 2);
    play(p, "@a g( )");
    assert_hits(all, 6);
}

static void samples_are_events(void **state)
{
    play_ctx *p = *state;
    trg_begin(p, "-pc='REAL 3600000000'");
    qprof_TrgID f = trg_must((trg){.event = QPROF_EV_SAMPLE, .object = play_method(p, "f")});
    play(p, "f(");
    qprof_pc_sample(3);
    play(p, "g(");
    qprof_pc_sample(1);
    play(p, ") )");
    assert_hits(f, 1);
}

static void virtual_threads_that_resume_are_events(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, "");
    qprof_TrgID b = trg_must((trg){.event = QPROF_EV_VT_SWITCH, .object = play_vt(p, "b")});
    assert_int_equal(qprof_trg_on(), 0);
    play(p, "@a f( @b g( @a ) @b )");
    assert_hits(b, 2);
}

static void events_come_while_recording_is_off(void **state) /* section 1 */
{
    play_ctx *p = *state;
    trg_begin(p, "-record-data=no");
    qprof_TrgID f = trg_must((trg){.event = QPROF_EV_FN_ENTRY, .object = play_method(p, "f")});
    play(p, "f( )");
    qprof_enable_profiling(0);
    play(p, "f( )");
    assert_hits(f, 2);
}

/* ---- names ------------------------------------------------------------------------------- */

static void names_mean_methods_whenever_they_come(void **state)
{
    play_ctx *p = *state;
    trg_begin(p, "");
    static const char *const names[] = {"Server.accept", "accept", "glob:Serv*",
                                        "regex:^ac+ept$"};
    qprof_TrgID t[4];
    for (unsigned i = 0; i < 4; i++) {
        t[i] = trg_must((trg){.event = QPROF_EV_FN_ENTRY});
        assert_int_equal(qprof_trg_set_object(t[i], names[i]), 0);
    }
    qprof_register_method_id(501, "accept", "Server", 0, NULL, NULL, 0);
    qprof_register_method_id(502, "accept", "Client", 0, NULL, NULL, 0);
    qprof_register_method_id(503, "close", "Server", 0, NULL, NULL, 0);
    for (uintptr_t id = 501; id <= 503; id++) {
        qprof_record_fn_entry(id, id);
        qprof_record_fn_exit(0);
    }
    assert_hits(t[0], 1);
    assert_hits(t[1], 2);
    assert_hits(t[2], 2);
    assert_hits(t[3], 2);
    qprof_TrgID late = trg_must((trg){.event = QPROF_EV_FN_ENTRY});
    assert_int_equal(qprof_trg_set_object(late, "Client.accept"), 0);
    qprof_record_fn_entry(502, 1);
    assert_hits(late, 1);
    assert_int_equal(qprof_trg_set_object(late, ""), QPROF_E_ARG);
    assert_int_equal(qprof_trg_set_object(late, "regex:("), QPROF_E_ARG);
    qprof_TrgID save = trg_must((trg){.event = QPROF_EV_SAVE});
    assert_int_equal(qprof_trg_set_object(save, "f"), QPROF_E_ARG);
}

static void methods_without_an_event_trigger_stay_as_fast(void **state)
{
    play_ctx *p = *state;
    trg_begin(p, "-time=none"); /* the test's clock is no processor's: times are out of line */
    trg_must((trg){.event = QPROF_EV_FN_ENTRY, .object = play_method(p, "f")});
    play(p, "f( g( ) g( ) )");
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    assert_true(QPROF_LOAD(th->gate) < QPROF_HOOK_STACK); /* nothing is out of the ordinary */
    qprof_TrgID all = trg_must((trg){.event = QPROF_EV_FN_ENTRY});
    play(p, "g( )");
    assert_true(QPROF_LOAD(th->gate) >= QPROF_HOOK_STACK);
    assert_hits(all, 1);
    assert_int_equal(qprof_trg_delete(all), 0);
    play(p, "g( )");
    assert_true(QPROF_LOAD(th->gate) < QPROF_HOOK_STACK);
}

/* ---- context ----------------------------------------------------------------------------- */

enum { N_CONTEXTS = 6 };

/* Raise an event; which contexts were hit, a digit each. */
static void assert_contexts(const qprof_TrgID *t, const char *expected)
{
    uint64_t before[N_CONTEXTS];
    char hit[N_CONTEXTS + 1] = "";
    for (unsigned i = 0; i < N_CONTEXTS; i++)
        before[i] = trg_hits(t[i]);
    qprof_trg_event(E);
    for (unsigned i = 0; i < N_CONTEXTS; i++)
        hit[i] = trg_hits(t[i]) > before[i] ? '1' : '0';
    assert_string_equal(hit, expected);
}

static void contexts_follow_what_runs(void **state) /* events 8, 9, 51 */
{
    play_ctx *p = *state;
    qprof_TrgID t[N_CONTEXTS];
    trg_begin(p, "");
    qprof_thread_create(7);
    for (int i = 0; i < N_CONTEXTS; i++)
        t[i] = trg_must((trg){.event = E, .context = i, .task = 7});
    /* any, any task, task 7, any interrupt, interrupt, system */
    assert_contexts(t, "111000");
    qprof_trg_isr_enter();
    assert_contexts(t, "100110");
    qprof_trg_isr_enter();
    qprof_trg_isr_leave();
    assert_contexts(t, "100110"); /* they nest */
    qprof_trg_isr_leave();
    qprof_trg_isr_leave(); /* one too many */
    assert_contexts(t, "111000");
    qprof_trg_system_enter();
    assert_contexts(t, "100001");
    qprof_trg_isr_enter();
    assert_contexts(t, "100110"); /* interrupt before system */
    qprof_trg_isr_leave();
    qprof_trg_system_enter();
    qprof_trg_system_leave();
    assert_contexts(t, "100001");
    qprof_trg_system_leave();
    assert_contexts(t, "111000");
    qprof_thread_destroy(7);
    qprof_thread_create(8);
    assert_contexts(t, "110000");
}

static void the_collector_is_the_runtime(void **state) /* section 6 */
{
    static const qprof_MethodID runtime[] = {QPROF_METHOD_GC, QPROF_METHOD_COMPILER,
                                             QPROF_METHOD_LOADER};
    play_ctx *p = *state;
    trg_begin(p, "");
    qprof_TrgID system = trg_must((trg){.event = E, .context = QPROF_TRG_CTX_SYSTEM});
    play(p, "f(");
    for (unsigned i = 0; i < 3; i++) {
        qprof_record_fn_entry(runtime[i], 900);
        qprof_trg_event(E);
        assert_hits(system, i + 1);
        qprof_record_fn_entry(play_method(p, "g"), 901); /* it called back */
        qprof_trg_event(E);
        assert_hits(system, i + 1);
        play(p, "^f");
    }
    qprof_record_fn_entry(QPROF_METHOD_NATIVE, 900);
    qprof_trg_event(E);
    assert_hits(system, 3);
}

static void a_task_is_a_virtual_thread(void **state) /* section 6 */
{
    play_ctx *p = *state;
    play_begin_vt(p, "");
    qprof_TrgID b = trg_must((trg){
        .event = QPROF_EV_FN_ENTRY, .context = QPROF_TRG_CTX_TASK, .task = play_vt(p, "b")});
    assert_int_equal(qprof_trg_on(), 0);
    play(p, "@a f( @b f( g( @a g(");
    assert_hits(b, 2);
}

/* ---- conditions -------------------------------------------------------------------------- */

typedef struct {
    int op, left, right, is_true;
} comparison;

static const comparison comparisons[] = {
    {QPROF_TRG_EQ, 3, 3, 1},         {QPROF_TRG_EQ, 3, 4, 0},   /* events 11 */
    {QPROF_TRG_NEQ, 3, 4, 1},        {QPROF_TRG_NEQ, 3, 3, 0},  /* events 12 */
    {QPROF_TRG_LSS, -5, 2, 1},       {QPROF_TRG_LSS, 2, -5, 0}, /* events 13 */
    {QPROF_TRG_LSS, 2, 2, 0},        {QPROF_TRG_LEQ, 2, 2, 1},  /* events 14 */
    {QPROF_TRG_LEQ, -1, 0, 1},       {QPROF_TRG_LEQ, 3, 2, 0},
    {QPROF_TRG_GRT, 3, 2, 1},        {QPROF_TRG_GRT, 2, 2, 0}, /* events 15 */
    {QPROF_TRG_GRT, -1, INT_MIN, 1}, {QPROF_TRG_GEQ, 2, 2, 1}, /* events 16 */
    {QPROF_TRG_GEQ, 1, 2, 0},        {QPROF_TRG_OR, 0, 0, 0},  /* events 17 */
    {QPROF_TRG_OR, 0, 4, 1},         {QPROF_TRG_OR, 4, 0, 1},
    {QPROF_TRG_AND, 6, 2, 1},        {QPROF_TRG_AND, 4, 2, 0}, /* events 18 */
    {QPROF_TRG_AND, 0, 0, 0},
};

static void operators_compare_a_variable_with_a_constant(void **state) /* events 11 to 18 */
{
    static int left;
    trg_begin(*state, "");
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        const comparison *c = &comparisons[i];
        left = c->left;
        qprof_TrgID t = trg_must((trg){.event = E,
                                       .is_conditional = 1,
                                       .kind = QPROF_TRG_COND_VAR,
                                       .left = &left,
                                       .op = c->op,
                                       .right = c->right});
        qprof_trg_event(E);
        if (trg_hits(t) != (uint64_t)c->is_true)
            fail_msg("operator %d, %d and %d", c->op, c->left, c->right);
        qprof_trg_disable(t);
        qprof_trg_on();
    }
}

static int n_asked, answer;
static uintptr_t asked_object;

static int ask(void)
{
    n_asked++;
    return answer;
}

static int ask_of(uintptr_t object)
{
    n_asked++;
    asked_object = object;
    return answer;
}

static void a_function_is_asked_once_and_last(void **state) /* events 19 */
{
    play_ctx *p = *state;
    trg t = {.event = E,
             .context = QPROF_TRG_CTX_ANY_ISR,
             .is_conditional = 1,
             .kind = QPROF_TRG_COND_FUNC,
             .left = (void *)(uintptr_t)ask,
             .op = QPROF_TRG_EQ,
             .right = 1};
    n_asked = 0;
    answer = 1;
    trg_begin(p, "");
    qprof_TrgID id = trg_must(t);
    qprof_trg_event(E); /* the context fails */
    qprof_trg_event(E2);
    assert_int_equal(n_asked, 0);
    qprof_trg_isr_enter();
    qprof_trg_event(E);
    assert_int_equal(n_asked, 1);
    assert_hits(id, 1);
    answer = 2;
    qprof_trg_event(E);
    qprof_trg_isr_leave();
    assert_int_equal(n_asked, 2);
    assert_hits(id, 1);
    t.context = QPROF_TRG_CTX_ANY;
    t.object = 99; /* a user event has none */
    trg_must(t);
    qprof_trg_event(E);
    assert_int_equal(n_asked, 2);
}

static void a_predicate_gets_the_object(void **state) /* events 48 */
{
    play_ctx *p = *state;
    answer = 6;
    trg_begin(p, "");
    qprof_TrgID t = trg_must((trg){.event = QPROF_EV_FN_ENTRY,
                                   .is_conditional = 1,
                                   .kind = QPROF_TRG_COND_LIB,
                                   .left = (void *)(uintptr_t)ask_of,
                                   .op = QPROF_TRG_AND,
                                   .right = 2});
    play(p, "f(");
    assert_int_equal(asked_object, play_method(p, "f"));
    assert_hits(t, 1);
}

/* ---- limits ------------------------------------------------------------------------------ */

static void long_calls_and_deep_ones_are_told_apart(void **state)
{
    play_ctx *p = *state;
    trg_begin(p, "");
    qprof_TrgID slow =
        trg_must((trg){.event = QPROF_EV_FN_EXIT, .object = play_method(p, "f")});
    assert_int_equal(qprof_trg_narrow(slow, QPROF_TRG_LONGER, 50), 0);
    qprof_TrgID deep = trg_must((trg){.event = QPROF_EV_FN_ENTRY});
    assert_int_equal(qprof_trg_narrow(deep, QPROF_TRG_DEPTH, 3), 0);
    play(p, "f( 49 ) f( 50 ) f( 10 g( 40 ) ) f( 51 )");
    assert_hits(slow, 3); /* time in callees is time of the call */
    assert_hits(deep, 0);
    play(p, "f( f( g( h( ) ) g( ) ) )");
    assert_hits(deep, 3);
    play(p, "f( f( 60 ) )");
    assert_hits(slow, 5);
}

static void a_rate_limits_hits(void **state)
{
    trg_begin(*state, "");
    qprof_TrgID t = trg_must((trg){.event = E}), all = trg_must((trg){.event = E});
    assert_int_equal(qprof_trg_narrow(t, QPROF_TRG_RATE, 3), 0);
    for (unsigned i = 0; i < 1000; i++)
        qprof_trg_event(E);
    assert_hits(all, 1000);
    assert_hits(t, 3); /* the second begins with the first hit */
}

static void memory_is_an_event_at_each_percent(void **state)
{
    play_ctx *p = *state;
    char name[16];
    trg_begin(p, "-memory-limit=1M");
    qprof_TrgID each = trg_must((trg){.event = QPROF_EV_MEMORY});
    qprof_TrgID half = trg_must((trg){.event = QPROF_EV_MEMORY, .is_one_shot = 1});
    assert_int_equal(qprof_trg_narrow(half, QPROF_TRG_USED, 50), 0);
    for (uintptr_t id = 1; id <= 20000 && !trg_hits(half); id++) {
        snprintf(name, sizeof name, "m%u", (unsigned)id);
        qprof_register_method_id(id, name, NULL, 0, NULL, NULL, 0);
        qprof_record_fn_entry(id, id);
    }
    assert_hits(half, 1);
    assert_in_range(trg_hits(each), 10, 51);
}

/* ---- several ----------------------------------------------------------------------------- */

static void all_that_match_fire_in_their_order(void **state) /* events 41 */
{
    trg_begin(*state, "");
    for (int i = 0; i < 5; i++)
        trg_must((trg){.event = i == 2 ? QPROF_EV_ANY : E,
                       .is_disabled = i == 1,
                       .action = QPROF_TRG_ACT_FUNC,
                       .function = trg_note,
                       .argument = i});
    qprof_trg_event(E);
    assert_noted("0 2 3 4");
}

static void the_order_is_that_of_adding_not_of_enabling(void **state) /* events 41 */
{
    qprof_TrgID t[3];
    trg_begin(*state, "");
    for (int i = 0; i < 3; i++)
        t[i] = trg_must((trg){
            .event = E, .action = QPROF_TRG_ACT_FUNC, .function = trg_note, .argument = i});
    qprof_trg_disable(t[0]);
    qprof_trg_disable(t[1]);
    qprof_trg_enable(t[1]);
    qprof_trg_enable(t[0]);
    qprof_trg_event(E);
    assert_noted("0 1 2");
}

static qprof_TrgID others[2];

static int disable_others(intptr_t unused)
{
    (void)unused;
    qprof_trg_disable(others[0]);
    qprof_trg_disable(others[1]);
    return 0;
}

static int turn_others(intptr_t unused)
{
    disable_others(unused);
    qprof_trg_enable(others[0]);
    qprof_trg_enable(others[1]);
    return 0;
}

/* A trigger between two others acts upon them. */
static void surround(qprof_TrgFunc function)
{
    others[0] = trg_must((trg){.event = E});
    trg_must((trg){.event = E, .action = QPROF_TRG_ACT_FUNC, .function = function});
    others[1] = trg_must((trg){.event = E});
}

static void what_an_earlier_one_disables_does_not_fire(void **state) /* events 46 */
{
    trg_begin(*state, "");
    surround(disable_others);
    qprof_trg_event(E);
    assert_hits(others[0], 1); /* it was before */
    assert_hits(others[1], 0);
}

static void what_was_disabled_and_enabled_waits_for_the_next_event(void **state) /* section 5 */
{
    trg_begin(*state, "");
    surround(turn_others);
    qprof_trg_event(E);
    assert_int_equal(trg_is_enabled(others[1]), 1);
    assert_hits(others[1], 0);
    qprof_trg_event(E);
    assert_hits(others[0], 2);
    assert_hits(others[1], 0);
}

/* ---- user events ------------------------------------------------------------------------- */

/* How often the file says that an event was recorded. */
static uint64_t count_in_file(uint32_t event)
{
    uint64_t n = 0;
    FILE *file = fopen(qprof_live_file(), "rb");
    qp_head head;
    assert_non_null(file);
    assert_int_equal(fread(&head, sizeof head, 1, file), 1);
    for (uint64_t cell = QP_HEAD_CELLS; cell < head.n_cells;) {
        qp_extent e;
        qp_event_count c;
        fseek(file, (long)(cell * QP_CELL), SEEK_SET);
        assert_int_equal(fread(&e, sizeof e, 1, file), 1);
        for (uint32_t i = 1; e.kind == QP_EXTENT_EVENTS && i < e.n_cells; i++) {
            assert_int_equal(fread(&c, sizeof c, 1, file), 1);
            n += c.published && c.id == event ? c.count : 0;
        }
        cell += e.n_cells ? e.n_cells : 1;
    }
    fclose(file);
    return n;
}

static void user_events_count_while_recording(void **state) /* events 5, 49 */
{
    play_ctx *p = *state;
    trg_begin(p, "");
    qprof_TrgID t = trg_must((trg){.event = E});
    play(p, "f(");
    qprof_user_event(E);
    qprof_user_event(E);
    qprof_stop_recording();
    qprof_user_event(E);
    qprof_start_recording();
    qprof_trg_event(E);
    qprof_user_event(E2);
    assert_hits(t, 4);
    qprof_trg_off();
    qprof_user_event(E); /* counted, not looked at */
    assert_hits(t, 4);
    play(p, ")");
    assert_int_equal(count_in_file(E), 3);
    assert_int_equal(count_in_file(E2), 1);
    assert_int_equal(count_in_file(40003), 0);
    qprof_clear_data();
    qprof_user_event(E2);
    assert_int_equal(count_in_file(E), 0);
    assert_int_equal(count_in_file(E2), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(events_without_triggering_touch_nothing),
        PLAY_TEST(a_disabled_trigger_never_fires),
        PLAY_TEST(an_event_matches_itself_and_any),
        PLAY_TEST(only_host_numbers_can_be_raised),
        PLAY_TEST(an_object_is_any_or_that_one),
        PLAY_TEST(exits_come_frame_by_frame),
        PLAY_TEST(innermost_frames_end_first),
        PLAY_TEST(a_call_that_began_before_it_was_asked_for_ends),
        PLAY_TEST(details_of_calls_are_events),
        PLAY_TEST(details_of_no_call_are_no_events),
        PLAY_TEST(threads_and_methods_are_events),
        PLAY_TEST(saves_and_clears_are_events),
        PLAY_TEST(changes_of_status_are_events),
        PLAY_TEST(samples_are_events),
        PLAY_TEST(virtual_threads_that_resume_are_events),
        PLAY_TEST(events_come_while_recording_is_off),
        PLAY_TEST(names_mean_methods_whenever_they_come),
        PLAY_TEST(methods_without_an_event_trigger_stay_as_fast),
        PLAY_TEST(contexts_follow_what_runs),
        PLAY_TEST(the_collector_is_the_runtime),
        PLAY_TEST(a_task_is_a_virtual_thread),
        PLAY_TEST(operators_compare_a_variable_with_a_constant),
        PLAY_TEST(a_function_is_asked_once_and_last),
        PLAY_TEST(a_predicate_gets_the_object),
        PLAY_TEST(long_calls_and_deep_ones_are_told_apart),
        PLAY_TEST(a_rate_limits_hits),
        PLAY_TEST(memory_is_an_event_at_each_percent),
        PLAY_TEST(all_that_match_fire_in_their_order),
        PLAY_TEST(the_order_is_that_of_adding_not_of_enabling),
        PLAY_TEST(what_an_earlier_one_disables_does_not_fire),
        PLAY_TEST(what_was_disabled_and_enabled_waits_for_the_next_event),
        PLAY_TEST(user_events_count_while_recording),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
