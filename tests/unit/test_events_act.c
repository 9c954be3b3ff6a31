/* test_events_act.c tests record/control/perform.c and worker.c: what event triggers do,
 * spec/events.md section 7, and what must not happen meanwhile. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "unit/trg.h"

/* ---- at once ----------------------------------------------------------------------------- */

static void actions_get_their_argument(void **state) /* events 36 */
{
    trg_begin(*state, "");
    static const intptr_t arguments[] = {7, 0, -1, INTPTR_MAX};
    for (unsigned i = 0; i < 4; i++)
        trg_must((trg){.event = E,
                       .action = QPROF_TRG_ACT_FUNC,
                       .function = trg_note,
                       .argument = arguments[i]});
    qprof_trg_event(E);
    assert_noted(sizeof(intptr_t) == 8 ? "7 0 -1 9223372036854775807" : "7 0 -1 2147483647");
}

static void none_and_mark_only_count(void **state)
{
    trg_begin(*state, "");
    qprof_TrgID none = trg_must((trg){.event = E});
    qprof_TrgID mark = trg_must((trg){.event = E, .action = QPROF_TRG_ACT_MARK});
    qprof_trg_event(E);
    assert_hits(none, 1);
    assert_hits(mark, 1);
}

static void the_starting_event_is_unrecorded_the_stopping_one_recorded(void **state)
{ /* events 5, 40 */
    play_ctx *p = *state;
    trg_begin(p, "-record-data=no");
    trg_must((trg){.event = QPROF_EV_FN_ENTRY,
                   .object = play_method(p, "begin"),
                   .action = QPROF_TRG_ACT_START});
    trg_must((trg){.event = QPROF_EV_FN_ENTRY,
                   .object = play_method(p, "end"),
                   .action = QPROF_TRG_ACT_STOP});
    play(p, "f( ) begin( g( ) end( h( ) ) )");
    assert_int_equal(qprof_is_recording(), 0);
    play_end(p);
    assert_skips(p, "f", 0, 1);
    assert_skips(p, "begin", 0, 1);
    assert_skips(p, "g", 1, 0);
    assert_skips(p, "end", 1, 0);
    assert_skips(p, "h", 0, 1);
}

static void recording_that_is_off_for_good_stays_off(void **state) /* events 52 */
{
    trg_begin(*state, "");
    trg_must((trg){.event = E, .action = QPROF_TRG_ACT_START});
    qprof_disable_recording();
    qprof_trg_event(E);
    assert_int_equal(qprof_is_recording(), 0);
}

static void library_actions_do_what_their_calls_do(void **state) /* events 48 */
{
    play_ctx *p = *state;
    static const char *const names[] = {
        "disable-profiling", "enable-profiling", "clear", "save",
        "new-phase",         "disable-recording"};
    trg_begin(p, "-output=run.%n.qprof");
    for (unsigned i = 0; i < 6; i++)
        trg_must((trg){.event = 40100 + i,
                       .action = QPROF_TRG_ACT_LIB,
                       .function = qprof_trg_library(names[i])});
    play(p, "f( )");
    qprof_trg_event(40100);
    assert_int_equal(qprof_enable_profiling(-1), 0);
    qprof_trg_event(40101);
    assert_int_equal(qprof_enable_profiling(-1), 1);
    int n_files = play_count_files(".qprof");
    qprof_trg_event(40103);
    assert_int_equal(play_count_files(".qprof"), n_files + 1);
    qprof_trg_event(40102);
    qprof_trg_event(40103); /* nothing to write */
    assert_int_equal(play_count_files(".qprof"), n_files + 1);
    play(p, "f( )");
    qprof_trg_event(40104);
    qprof_trg_event(40104); /* the first one cleared */
    assert_int_equal(play_count_files(".qprof"), n_files + 2);
    qprof_trg_event(40105);
    assert_int_equal(qprof_start_recording(), 0);
    assert_true(qprof_trg_library("nonsense") == NULL);
    assert_true(qprof_trg_library(NULL) == NULL);
    assert_true(qprof_trg_library("New_Phase") == qprof_trg_library("new-phase"));
}

static void a_snapshot_is_a_dataset(void **state)
{
    play_ctx *p = *state;
    trg_begin(p, "-output=run.%n.qprof");
    trg_must((trg){.event = QPROF_EV_FN_EXIT,
                   .object = play_method(p, "f"),
                   .action = QPROF_TRG_ACT_SNAPSHOT});
    int n_files = play_count_files(".qprof");
    play(p, "f( ) g( ) f( )");
    assert_int_equal(play_count_files(".qprof"), n_files + 2);
}

/* ---- in an action ------------------------------------------------------------------------ */

static qprof_TrgID it, another;
static int depth;

static int raise_again(intptr_t event)
{
    assert_int_equal(depth++, 0);
    qprof_trg_event((qprof_event_t)event);
    qprof_user_event((qprof_event_t)event);
    qprof_record_fn_entry(9, 9);
    qprof_record_fn_exit(0);
    depth--;
    return 0;
}

static void an_action_that_raises_its_event_does_not_recurse(void **state) /* events 42 */
{
    trg_begin(*state, "");
    depth = 0;
    it = trg_must((trg){.event = QPROF_EV_ANY,
                        .action = QPROF_TRG_ACT_FUNC,
                        .function = raise_again,
                        .argument = E});
    another = trg_must((trg){.event = QPROF_EV_FN_ENTRY});
    qprof_trg_event(E);
    assert_hits(it, 1);
    assert_hits(another, 0);
    qprof_trg_event(E); /* it is looked at again */
    assert_hits(it, 2);
}

/* An event delayed until the end of a call is still an event of the action. */
static void saves_and_clears_of_an_action_are_no_events(void **state) /* events 42 */
{
    play_ctx *p = *state;
    trg_begin(p, "-output=s-%n.qprof");
    qprof_TrgID saved =
        trg_must((trg){.event = QPROF_EV_SAVE, .action = QPROF_TRG_ACT_SNAPSHOT});
    qprof_TrgID cleared = trg_must((trg){.event = QPROF_EV_CLEAR,
                                         .action = QPROF_TRG_ACT_LIB,
                                         .function = qprof_trg_library("clear")});
    play(p, "f( )");
    assert_int_equal(qprof_save_data(), 1);
    play(p, "f( ) f( )");
    assert_hits(saved, 1);
    assert_int_equal(qprof_clear_data(), 1);
    play(p, "f( ) f( )");
    assert_hits(cleared, 1);
    assert_int_equal(qprof_save_data(), 1); /* it is looked at again */
    assert_hits(saved, 2);
}

static int delete_it(intptr_t unused)
{
    (void)unused;
    return qprof_trg_delete(it);
}

static int delete_another(intptr_t unused)
{
    (void)unused;
    return qprof_trg_delete(another);
}

static void a_trigger_that_deletes_itself_is_gone_afterwards(void **state) /* events 47 */
{
    trg_begin(*state, "");
    qprof_TrgID next = trg_must((trg){.event = E2, .is_disabled = 1});
    it = trg_must((trg){.event = E,
                        .is_one_shot = 1,
                        .chain = next,
                        .action = QPROF_TRG_ACT_FUNC,
                        .function = delete_it});
    another = trg_must((trg){.event = E});
    qprof_trg_event(E);
    assert_int_equal(qprof_trg_enable(it), QPROF_E_NOTFOUND);
    assert_hits(another, 1); /* the walk continued */
    assert_int_equal(trg_is_enabled(next), 1);
    assert_int_equal(qprof_trg_is_on(), 1);
}

static void a_trigger_may_delete_the_next_one(void **state)
{
    trg_begin(*state, "");
    it = trg_must((trg){.event = E, .action = QPROF_TRG_ACT_FUNC, .function = delete_another});
    another = trg_must((trg){.event = E, .action = QPROF_TRG_ACT_FUNC, .function = trg_note});
    qprof_trg_event(E);
    assert_noted("");
    qprof_trg_event(E);
    assert_hits(it, 2);
}

static int add_more(intptr_t n)
{
    for (intptr_t i = 0; i < n; i++)
        trg_must((trg){.event = E, .action = QPROF_TRG_ACT_FUNC, .function = trg_note});
    return 0;
}

static void what_an_action_adds_waits_for_the_next_event(void **state) /* section 5 */
{
    trg_begin(*state, "");
    trg_must((trg){.event = E,
                   .is_one_shot = 1,
                   .action = QPROF_TRG_ACT_FUNC,
                   .function = add_more,
                   .argument = 3});
    qprof_trg_event(E);
    assert_noted("");
    qprof_trg_event(E);
    assert_noted("0 0 0");
}

static int do_everything(intptr_t unused)
{
    (void)unused;
    qprof_trg_off();
    qprof_trg_on();
    qprof_trg_work_queue_reset();
    qprof_save_data();
    qprof_clear_data();
    qprof_stop_recording();
    qprof_start_recording();
    qprof_config_line("event-trigger of-an-action event=any status=disabled");
    qprof_trg_disable(it);
    qprof_shutdown();
    return 0;
}

static void an_action_may_make_any_call(void **state)
{
    play_ctx *p = *state;
    trg_begin(p, "");
    it = trg_must((trg){
        .event = QPROF_EV_FN_ENTRY, .action = QPROF_TRG_ACT_FUNC, .function = do_everything});
    play(p, "f( g(");
    assert_int_equal(qprof_is_running(), 0);
    play(p, ") )");
    play_begin(p, "");
    trg_must((trg){.event = QPROF_EV_FN_ENTRY});
    play(p, "f( )");
}

/* ---- actions that do not return ---------------------------------------------------------- */

static jmp_buf out;

static int jump(intptr_t value)
{
    longjmp(out, (int)value);
}

static void raise_and_be_left(qprof_event_t event)
{
    if (setjmp(out) == 0) {
        qprof_trg_event(event);
        fail_msg("the action returned");
    }
}

static void an_action_that_jumps_out_does_no_harm(void **state)
{
    play_ctx *p = *state;
    trg_begin(p, "");
    another = trg_must((trg){.event = E2, .is_disabled = 1});
    it = trg_must((trg){.event = E,
                        .is_one_shot = 1,
                        .chain = another,
                        .action = QPROF_TRG_ACT_FUNC,
                        .function = jump,
                        .argument = 1});
    raise_and_be_left(E);
    assert_hits(it, 1);
    qprof_trg_event(E2); /* made up first: the chain, then the disabling */
    assert_hits(another, 1);
    assert_int_equal(trg_is_enabled(it), 0);
    qprof_trg_event(E);
    assert_hits(it, 1);
}

static void a_call_whose_action_jumps_out_is_recorded(void **state)
{
    play_ctx *p = *state;
    trg_begin(p, "");
    trg_must((trg){.event = QPROF_EV_FN_ENTRY,
                   .object = play_method(p, "f"),
                   .action = QPROF_TRG_ACT_FUNC,
                   .function = jump,
                   .argument = 1});
    play(p, "main(");
    if (setjmp(out) == 0)
        qprof_record_fn_entry(play_method(p, "f"), 77777);
    qprof_record_fn_exit(0); /* the host unwinds to nothing */
    play_end(p);
    assert_skips(p, "f", 1, 0);
    assert_skips(p, "main", 1, 0);
}

static int jump_from_condition(void)
{
    longjmp(out, 1);
}

static void a_condition_that_jumps_out_is_no_hit(void **state)
{
    trg_begin(*state, "");
    it = trg_must((trg){.event = E,
                        .is_conditional = 1,
                        .kind = QPROF_TRG_COND_FUNC,
                        .left = (void *)(uintptr_t)jump_from_condition});
    raise_and_be_left(E);
    another = trg_must((trg){.event = E2});
    qprof_trg_event(E2);
    assert_hits(it, 0);
    assert_hits(another, 1);
}

/* ---- later ------------------------------------------------------------------------------- */

static int n_done, may_continue, has_begun;

static int wait_for_go(intptr_t unused)
{
    (void)unused;
    qp_publish(&has_begun, 1);
    trg_wait(&may_continue, 1);
    return 0;
}

static int note_done(intptr_t argument)
{
    trg_note(argument);
    qp_publish(&n_done, n_done + 1);
    return 0;
}

/* The worker is held up by an action; then `n` deeds are asked for. */
static void hold_worker(void)
{
    n_done = may_continue = has_begun = 0;
    trg_must((trg){
        .event = E, .is_deferred = 1, .action = QPROF_TRG_ACT_FUNC, .function = wait_for_go});
    qprof_trg_event(E);
    trg_wait(&has_begun, 1);
}

static void deferred_actions_come_later_in_their_order(void **state) /* events 37 */
{
    trg_begin(*state, "");
    hold_worker();
    for (int i = 1; i <= 4; i++)
        trg_must((trg){.event = E2,
                       .is_deferred = 1,
                       .is_one_shot = i == 4,
                       .action = QPROF_TRG_ACT_FUNC,
                       .function = note_done,
                       .argument = i});
    qprof_trg_event(E2);
    qprof_trg_event(E2);
    assert_noted("");
    qp_publish(&may_continue, 1);
    trg_wait(&n_done, 7);
    assert_noted("1 2 3 4 1 2 3");
    assert_int_equal(qprof_trg_dropped(), 0);
}

static void the_queue_holds_fifty(void **state) /* events 38 */
{
    trg_begin(*state, "");
    hold_worker();
    it = trg_must((trg){
        .event = E2, .is_deferred = 1, .action = QPROF_TRG_ACT_FUNC, .function = note_done});
    for (int i = 0; i < QPROF_TRG_QUEUE_SIZE; i++)
        qprof_trg_event(E2);
    assert_int_equal(qprof_trg_dropped(), 0);
    qprof_trg_event(E2);
    assert_int_equal(qprof_trg_dropped(), 1);
    assert_int_equal(qprof_diagnostic("actions_dropped"), 1);
    assert_hits(it, QPROF_TRG_QUEUE_SIZE + 1); /* hits count when they happen */
    qp_publish(&may_continue, 1);
    trg_wait(&n_done, QPROF_TRG_QUEUE_SIZE);
}

static void a_reset_forgets_what_waits(void **state) /* events 39 */
{
    trg_begin(*state, "");
    hold_worker();
    trg_must((trg){
        .event = E2, .is_deferred = 1, .action = QPROF_TRG_ACT_FUNC, .function = note_done});
    qprof_trg_event(E2);
    qprof_trg_event(E2);
    assert_int_equal(qprof_trg_work_queue_reset(), 0);
    assert_int_equal(qprof_trg_is_on(), 0);
    qp_publish(&may_continue, 1);
    assert_int_equal(qprof_trg_on(), 0);
    qprof_trg_event(E2);
    trg_wait(&n_done, 1);
    assert_noted("0");
}

static int raise_on_worker(intptr_t event)
{
    qprof_trg_event((qprof_event_t)event);
    qprof_record_fn_entry(9, 9);
    qprof_record_fn_exit(0);
    return note_done(event);
}

static void what_the_worker_does_is_not_looked_at(void **state) /* section 7 */
{
    trg_begin(*state, "");
    n_done = 0;
    it = trg_must((trg){.event = QPROF_EV_ANY,
                        .is_deferred = 1,
                        .action = QPROF_TRG_ACT_FUNC,
                        .function = raise_on_worker,
                        .argument = E});
    qprof_trg_event(E);
    trg_wait(&n_done, 1);
    assert_hits(it, 1);
}

static void what_waits_is_done_before_the_end(void **state) /* section 7 */
{
    play_ctx *p = *state;
    trg_begin(p, "");
    n_done = 0;
    play(p, "f( )");
    trg_must((trg){
        .event = E, .is_deferred = 1, .action = QPROF_TRG_ACT_FUNC, .function = note_done});
    trg_must((trg){.event = E, .is_deferred = 1, .action = QPROF_TRG_ACT_STOP});
    for (unsigned i = 0; i < 20; i++)
        qprof_trg_event(E);
    play_end(p);
    assert_int_equal(n_done, 20);
    assert_skips(p, "f", 1, 0);
}

/* ---- marks ------------------------------------------------------------------------------- */

static unsigned marks_of(const char *name)
{
    FILE *file = fopen(qprof_live_file(), "rb");
    static char bytes[1 << 22];
    assert_non_null(file);
    size_t n_bytes = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    const qp_head *head = (const void *)bytes;
    unsigned n = 0;
    for (uint64_t cell = QP_HEAD_CELLS; cell < head->n_cells && cell * QP_CELL < n_bytes;) {
        const qp_extent *e = (const void *)(bytes + cell * QP_CELL);
        for (uint32_t i = 1; e->kind == QP_EXTENT_MARKERS && i < e->n_cells; i++) {
            const qp_marker *m = (const void *)(bytes + (cell + i) * QP_CELL);
            const qp_text *text = (const void *)(bytes + (uint64_t)m->name * 8);
            if (m->published && m->kind == QP_MARKER_EVENT_TRIGGER && m->name &&
                strcmp(text->bytes, name) == 0 && m->event == E && m->at)
                n++;
        }
        cell += e->n_cells ? e->n_cells : 1;
    }
    return n;
}

static void every_hit_leaves_a_mark(void **state)
{
    trg_begin(*state, "");
    it = trg_must((trg){.event = E});
    another = trg_must((trg){.event = E, .is_one_shot = 1});
    qprof_trg_set_name(it, "here");
    qprof_trg_set_name(another, "there");
    qprof_trg_event(E);
    qprof_trg_event(E);
    qprof_trg_event(E2);
    assert_int_equal(marks_of("here"), 2);
    assert_int_equal(marks_of("there"), 1);
    qprof_clear_data();
    assert_int_equal(marks_of("here"), 0);
}

static void marks_have_an_end(void **state)
{
    trg_begin(*state, "");
    it = trg_must((trg){.event = E});
    for (unsigned i = 0; i < 65536 + 5; i++)
        qprof_trg_event(E);
    assert_hits(it, 65541);
    assert_int_equal(qprof_diagnostic("marks_lost"), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(actions_get_their_argument),
        PLAY_TEST(none_and_mark_only_count),
        PLAY_TEST(the_starting_event_is_unrecorded_the_stopping_one_recorded),
        PLAY_TEST(recording_that_is_off_for_good_stays_off),
        PLAY_TEST(library_actions_do_what_their_calls_do),
        PLAY_TEST(a_snapshot_is_a_dataset),
        PLAY_TEST(an_action_that_raises_its_event_does_not_recurse),
        PLAY_TEST(saves_and_clears_of_an_action_are_no_events),
        PLAY_TEST(a_trigger_that_deletes_itself_is_gone_afterwards),
        PLAY_TEST(a_trigger_may_delete_the_next_one),
        PLAY_TEST(what_an_action_adds_waits_for_the_next_event),
        PLAY_TEST(an_action_may_make_any_call),
        PLAY_TEST(an_action_that_jumps_out_does_no_harm),
        PLAY_TEST(a_call_whose_action_jumps_out_is_recorded),
        PLAY_TEST(a_condition_that_jumps_out_is_no_hit),
        PLAY_TEST(deferred_actions_come_later_in_their_order),
        PLAY_TEST(the_queue_holds_fifty),
        PLAY_TEST(a_reset_forgets_what_waits),
        PLAY_TEST(what_the_worker_does_is_not_looked_at),
        PLAY_TEST(what_waits_is_done_before_the_end),
        PLAY_TEST(every_hit_leaves_a_mark),
        PLAY_TEST(marks_have_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
