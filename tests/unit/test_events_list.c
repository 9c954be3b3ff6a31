/* test_events_list.c tests record/trigger_list/event_trigger_list.c and api/event_triggers.c:
 * spec/events.md sections 3 and 9, and what of its checklist is about the list. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/trg.h"

static void triggering_needs_a_list(void **state) /* events 1 */
{
    play_begin(*state, "");
    assert_int_equal(qprof_trg_on(), QPROF_E_STATE);
    assert_int_equal(qprof_trg_is_on(), 0);
    qprof_trg_event(E);
    trg_must((trg){.event = E});
    assert_int_equal(qprof_trg_on(), 0);
    assert_int_equal(qprof_trg_is_on(), 1);
}

static void switching_twice_is_harmless(void **state) /* events 2 */
{
    trg_begin(*state, "");
    assert_int_equal(qprof_trg_on(), 0);
    assert_int_equal(qprof_trg_is_on(), 1);
    qprof_trg_off();
    qprof_trg_off();
    assert_int_equal(qprof_trg_is_on(), 0);
}

static void triggering_and_recording_are_apart(void **state) /* events 3 */
{
    trg_begin(*state, "");
    qprof_trg_off();
    assert_int_equal(qprof_is_recording(), 1);
    qprof_stop_recording();
    assert_int_equal(qprof_trg_on(), 0);
    assert_int_equal(qprof_is_recording(), 0);
    qprof_start_recording();
    assert_int_equal(qprof_trg_is_on(), 1);
}

static void wrong_arguments_add_nothing(void **state) /* events 33 */
{
    static int variable;
    const trg wrong[] = {
        {.event = 39999},
        {.event = 0},
        {.event = 15}, /* after the last event of the library */
        {.event = 65537},
        {.event = E, .context = -1},
        {.event = E, .context = QPROF_TRG_CTX_SYSTEM + 1},
        {.event = E, .action = -1},
        {.event = E, .action = QPROF_TRG_ACT_MARK + 1},
        {.event = E, .action = QPROF_TRG_ACT_FUNC},
        {.event = E, .action = QPROF_TRG_ACT_LIB},
        {.event = E, .is_conditional = 1, .kind = QPROF_TRG_COND_VAR},
        {.event = E, .is_conditional = 1, .kind = 7, .left = &variable},
        {.event = E, .is_conditional = 1, .kind = -1, .left = &variable},
        {.event = E, .is_conditional = 1, .kind = 1, .left = &variable, .op = 8},
        {.event = E, .is_conditional = 1, .kind = 1, .left = &variable, .op = -1},
        {.event = E, .chain = (qprof_TrgID)(void *)&variable},
    };
    play_begin(*state, "");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_null(trg_add(wrong[i]));
        assert_int_not_equal(strlen(qprof_error_text()), 0);
    }
    assert_int_equal(qprof_trg_on(), QPROF_E_STATE); /* the list is still empty */
}

static void without_a_condition_its_parts_are_not_looked_at(void **state) /* events 20 */
{
    trg_begin(*state, "");
    qprof_TrgID t = trg_must((trg){.event = E, .kind = 99, .op = 99});
    qprof_trg_event(E);
    assert_hits(t, 1);
}

static void unknown_ones_are_errors(void **state) /* events 43, section 3 */
{
    static uint64_t stranger[32];
    qprof_TrgID bad[] = {NULL, (qprof_TrgID)(void *)stranger, (qprof_TrgID)(void *)1, NULL};
    qprof_TrgInfo info;
    trg_begin(*state, "");
    bad[3] = trg_must((trg){.event = E});
    qprof_TrgID good = trg_must((trg){.event = E});
    assert_int_equal(qprof_trg_delete(bad[3]), 0);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(qprof_trg_delete(bad[i]), QPROF_E_NOTFOUND);
        assert_int_equal(qprof_trg_enable(bad[i]), QPROF_E_NOTFOUND);
        assert_int_equal(qprof_trg_disable(bad[i]), QPROF_E_NOTFOUND);
        assert_int_equal(qprof_trg_reset(bad[i]), QPROF_E_NOTFOUND);
        assert_int_equal(qprof_trg_get(bad[i], &info), QPROF_E_NOTFOUND);
        assert_int_equal(qprof_trg_set_name(bad[i], "x"), QPROF_E_NOTFOUND);
        assert_int_equal(qprof_trg_set_object(bad[i], "x"), QPROF_E_NOTFOUND);
        assert_int_equal(qprof_trg_narrow(bad[i], QPROF_TRG_RATE, 1), QPROF_E_NOTFOUND);
        assert_int_equal(qprof_trg_chain_set(bad[i], good), QPROF_E_NOTFOUND);
        if (bad[i]) {
            assert_int_equal(qprof_trg_chain_set(good, bad[i]), QPROF_E_NOTFOUND);
            assert_int_equal(qprof_trg_show(bad[i], 0), QPROF_E_NOTFOUND);
        }
    }
    assert_int_equal(qprof_trg_get(good, NULL), QPROF_E_ARG);
}

static void chains_must_be_cleared_first(void **state) /* events 28 */
{
    play_begin(*state, "");
    qprof_TrgID a = trg_must((trg){.event = E}), b = trg_must((trg){.event = E});
    qprof_TrgID c = trg_must((trg){.event = E});
    assert_int_equal(qprof_trg_chain_set(NULL, a), QPROF_E_NOTFOUND);
    assert_int_equal(qprof_trg_chain_set(a, b), 0);
    assert_int_equal(qprof_trg_chain_set(a, c), QPROF_E_STATE);
    assert_int_equal(qprof_trg_chain_set(a, NULL), 0);
    assert_int_equal(qprof_trg_chain_set(a, c), 0);
    assert_int_equal(qprof_trg_chain_set(b, b), 0); /* re-enables itself */
}

static void enabling_and_disabling_are_idempotent(void **state) /* events 31 */
{
    play_begin(*state, "");
    qprof_TrgID a = trg_must((trg){.event = E}),
                b = trg_must((trg){.event = E, .is_disabled = 1});
    assert_int_equal(qprof_trg_enabled_count(), 1);
    assert_int_equal(qprof_trg_enable(a), 0);
    assert_int_equal(qprof_trg_enabled_count(), 1);
    assert_int_equal(qprof_trg_disable(b), 0);
    assert_int_equal(qprof_trg_enabled_count(), 1);
    assert_int_equal(qprof_trg_disable(a), 0);
    assert_int_equal(qprof_trg_disable(a), 0);
    assert_int_equal(qprof_trg_enabled_count(), 0);
}

static void fifty_can_be_enabled(void **state) /* events 32 */
{
    qprof_TrgID all[QPROF_TRG_MAX_ENABLED];
    play_begin(*state, "");
    for (unsigned i = 0; i < QPROF_TRG_MAX_ENABLED; i++)
        all[i] = trg_must((trg){.event = E});
    assert_null(trg_add((trg){.event = E}));
    qprof_TrgID late = trg_must((trg){.event = E, .is_disabled = 1});
    assert_int_equal(qprof_trg_enable(late), QPROF_E_LIMIT);
    assert_int_equal(trg_is_enabled(late), 0);
    assert_int_equal(qprof_trg_disable(all[7]), 0);
    assert_int_equal(qprof_trg_enable(late), 0);
    assert_int_equal(qprof_trg_enable(all[7]), QPROF_E_LIMIT);
    assert_int_equal(qprof_trg_delete(all[0]), 0);
    assert_int_equal(qprof_trg_enable(all[7]), 0);
    assert_int_equal(qprof_trg_enabled_count(), QPROF_TRG_MAX_ENABLED);
}

static void the_last_one_that_is_deleted_ends_triggering(void **state) /* events 30 */
{
    trg_begin(*state, "");
    qprof_TrgID a = trg_must((trg){.event = E}), b = trg_must((trg){.event = E});
    assert_int_equal(qprof_trg_delete(a), 0);
    assert_int_equal(qprof_trg_is_on(), 1);
    assert_int_equal(qprof_trg_delete(b), 0);
    assert_int_equal(qprof_trg_is_on(), 0);
    assert_int_equal(qprof_trg_enabled_count(), 0);
}

static void a_reset_goes_back_to_the_beginning(void **state) /* events 50 */
{
    trg_begin(*state, "");
    qprof_TrgID on = trg_must((trg){.event = E}),
                off = trg_must((trg){.event = E, .is_disabled = 1});
    qprof_trg_enable(off);
    qprof_trg_event(E);
    qprof_trg_disable(on);
    assert_int_equal(qprof_trg_reset(on), 0);
    assert_int_equal(qprof_trg_reset(off), 0);
    assert_int_equal(trg_is_enabled(on), 1);
    assert_int_equal(trg_is_enabled(off), 0);
    assert_hits(on, 0);
    assert_hits(off, 0);
}

static void names_find_and_are_unique(void **state)
{
    trg_begin(*state, "");
    qprof_TrgID a = trg_must((trg){.event = E}), b = trg_must((trg){.event = E});
    assert_int_equal(qprof_trg_set_name(a, "first"), 0);
    assert_int_equal(qprof_trg_set_name(b, "first"), QPROF_E_ARG);
    assert_int_equal(qprof_trg_set_name(b, "second"), 0);
    assert_ptr_equal(qprof_trg_find("first"), a);
    assert_ptr_equal(qprof_trg_find("second"), b);
    assert_null(qprof_trg_find("third"));
    assert_null(qprof_trg_find(""));
    assert_null(qprof_trg_find(NULL));
    assert_int_equal(qprof_trg_set_name(a, "again"), 0);
    assert_null(qprof_trg_find("first"));
    assert_int_equal(qprof_trg_set_name(b, "first"), 0);
    assert_int_equal(qprof_trg_delete(b), 0);
    assert_null(qprof_trg_find("first"));
    assert_int_equal(qprof_trg_set_name(a, NULL), 0);
    assert_null(qprof_trg_find("again"));
}

static void limits_belong_to_events(void **state)
{
    qprof_TrgInfo info;
    trg_begin(*state, "");
    qprof_TrgID exit = trg_must((trg){.event = QPROF_EV_FN_EXIT});
    qprof_TrgID memory = trg_must((trg){.event = QPROF_EV_MEMORY});
    assert_int_equal(qprof_trg_narrow(exit, QPROF_TRG_LONGER, 50000000), 0);
    assert_int_equal(qprof_trg_narrow(exit, QPROF_TRG_DEPTH, 3), QPROF_E_ARG);
    assert_int_equal(qprof_trg_narrow(exit, QPROF_TRG_USED, 3), QPROF_E_ARG);
    assert_int_equal(qprof_trg_narrow(exit, QPROF_TRG_RATE, 10), 0);
    assert_int_equal(qprof_trg_narrow(exit, 0, 10), QPROF_E_ARG);
    assert_int_equal(qprof_trg_narrow(exit, 5, 10), QPROF_E_ARG);
    assert_int_equal(qprof_trg_narrow(memory, QPROF_TRG_USED, 101), QPROF_E_ARG);
    assert_int_equal(qprof_trg_narrow(memory, QPROF_TRG_USED, 80), 0);
    assert_int_equal(qprof_trg_get(exit, &info), 0);
    assert_int_equal(info.longer, 50000000);
    assert_int_equal(info.rate, 10);
    assert_int_equal(info.depth, 0);
}

static int nothing(intptr_t argument)
{
    return (int)argument;
}

static void all_members_can_be_asked_for(void **state) /* section 2 */
{
    static int left;
    qprof_TrgInfo i;
    trg_begin(*state, "");
    qprof_TrgID next = trg_must((trg){.event = E2, .is_disabled = 1});
    qprof_TrgID t = trg_must((trg){.event = E,
                                   .context = QPROF_TRG_CTX_TASK,
                                   .task = 77,
                                   .object = 88,
                                   .is_conditional = 1,
                                   .kind = QPROF_TRG_COND_VAR,
                                   .left = &left,
                                   .op = QPROF_TRG_GEQ,
                                   .right = -5,
                                   .is_one_shot = 1,
                                   .chain = next,
                                   .action = QPROF_TRG_ACT_FUNC,
                                   .function = nothing,
                                   .argument = 99});
    assert_int_equal(qprof_trg_set_name(t, "all"), 0);
    assert_int_equal(qprof_trg_get(t, &i), 0);
    assert_int_equal(i.number, 3);
    assert_null(i.next);
    assert_string_equal(i.name, "all");
    assert_int_equal(i.event, E);
    assert_int_equal(i.status, QPROF_TRG_ENABLE);
    assert_int_equal(i.initialStatus, QPROF_TRG_ENABLE);
    assert_int_equal(i.disable, 1);
    assert_int_equal(i.contextType, QPROF_TRG_CTX_TASK);
    assert_int_equal(i.contextId, 77);
    assert_int_equal(i.objId, 88);
    assert_ptr_equal(i.chain, next);
    assert_int_equal(i.conditional, QPROF_TRG_COND_YES);
    assert_int_equal(i.condType, QPROF_TRG_COND_VAR);
    assert_ptr_equal(i.condEx1, &left);
    assert_int_equal(i.condOp, QPROF_TRG_GEQ);
    assert_int_equal(i.condEx2, -5);
    assert_int_equal(i.actionType, QPROF_TRG_ACT_FUNC);
    assert_true(i.actionFunc == nothing);
    assert_int_equal(i.actionDef, 0);
    assert_int_equal(i.actionArg, 99);
    assert_int_equal(i.hits, 0);
    assert_int_equal(qprof_trg_get(next, &i), 0);
    assert_ptr_equal(i.next, t);
}

/* ---- showing ----------------------------------------------------------------------------- */

static char shown[8192];

static int show(qprof_TrgID id, int options)
{
    FILE *file = tmpfile();
    int code = qprof_trg_show_to(file, id, options);
    rewind(file);
    shown[fread(shown, 1, sizeof shown - 1, file)] = '\0';
    fclose(file);
    return code;
}

static unsigned count_lines(void)
{
    unsigned n = 0;
    for (const char *c = shown; *c; c++)
        n += *c == '\n';
    return n;
}

static void show_lists_all_or_one(void **state) /* events 43, section 9 */
{
    trg_begin(*state, "");
    qprof_TrgID t = trg_must((trg){.event = QPROF_EV_FN_ENTRY, .object = 5, .is_one_shot = 1});
    qprof_trg_set_name(t, "armed");
    trg_must((trg){.event = E, .chain = t, .context = QPROF_TRG_CTX_TASK, .task = 12});
    qprof_trg_event(E);
    assert_int_equal(show(NULL, 0), 0);
    assert_int_equal(count_lines(), 5); /* what the columns are, three triggers, the footer */
    assert_non_null(strstr(shown, "armed"));
    assert_non_null(strstr(shown, "fn-entry"));
    assert_non_null(strstr(shown, "task:12"));
    assert_non_null(strstr(shown, "\nenabled 2 of 50, triggering on, dropped 0\n"));
    assert_int_equal(show(t, 0), 0);
    assert_int_equal(count_lines(), 3);
    assert_int_equal(show(t, 1), 0);
    assert_non_null(strstr(shown, "id: 2\n"));
    assert_non_null(strstr(shown, "name: armed\n"));
    assert_non_null(strstr(shown, "event: fn-entry\n"));
    assert_non_null(strstr(shown, "object: 5\n"));
    assert_non_null(strstr(shown, "disable: yes\n"));
    assert_non_null(strstr(shown, "hits: 0\n"));
    assert_int_equal(qprof_trg_show_to(NULL, t, 1), QPROF_E_ARG);
}

static void names_steer_no_terminal(void **state)
{
    trg_begin(*state, "");
    qprof_TrgID t = trg_must((trg){.event = E});
    assert_int_equal(qprof_trg_set_name(t, "\x1b[31m\n\x07\xc2\x9b"), 0);
    assert_int_equal(show(NULL, 0), 0);
    assert_null(strchr(shown, '\x1b'));
    assert_null(strchr(shown, '\x07'));
    assert_null(strstr(shown, "\xc2\x9b"));
    assert_int_equal(count_lines(), 4);
}

static void nothing_is_possible_without_a_run(void **state)
{
    qprof_TrgInfo info;
    (void)state;
    assert_int_equal(qprof_trg_init(), QPROF_E_STATE);
    assert_null(trg_add((trg){.event = E}));
    assert_int_equal(qprof_trg_on(), QPROF_E_STATE);
    qprof_trg_off();
    qprof_trg_event(E);
    assert_int_equal(qprof_user_event(E), QPROF_E_STATE);
    assert_int_equal(qprof_trg_get(NULL, &info), QPROF_E_STATE);
    assert_int_equal(qprof_trg_work_queue_reset(), QPROF_E_STATE);
    assert_int_equal(qprof_trg_enabled_count(), 0);
    assert_int_equal(qprof_trg_dropped(), 0);
    assert_int_equal(show(NULL, 0), QPROF_E_STATE);
}

static void a_run_begins_with_an_empty_list(void **state)
{
    play_ctx *p = *state;
    trg_begin(p, "");
    qprof_TrgID t = trg_must((trg){.event = E});
    qprof_trg_set_name(t, "old");
    play(p, "f( )");
    play_end(p);
    play_begin(p, "");
    assert_int_equal(qprof_trg_init(), 0);
    assert_int_equal(qprof_trg_is_on(), 0);
    assert_int_equal(qprof_trg_enabled_count(), 0);
    assert_null(qprof_trg_find("old"));
    assert_int_equal(qprof_trg_enable(t), QPROF_E_NOTFOUND);
    assert_int_equal(qprof_trg_on(), QPROF_E_STATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(triggering_needs_a_list),
        PLAY_TEST(switching_twice_is_harmless),
        PLAY_TEST(triggering_and_recording_are_apart),
        PLAY_TEST(wrong_arguments_add_nothing),
        PLAY_TEST(without_a_condition_its_parts_are_not_looked_at),
        PLAY_TEST(unknown_ones_are_errors),
        PLAY_TEST(chains_must_be_cleared_first),
        PLAY_TEST(enabling_and_disabling_are_idempotent),
        PLAY_TEST(fifty_can_be_enabled),
        PLAY_TEST(the_last_one_that_is_deleted_ends_triggering),
        PLAY_TEST(a_reset_goes_back_to_the_beginning),
        PLAY_TEST(names_find_and_are_unique),
        PLAY_TEST(limits_belong_to_events),
        PLAY_TEST(all_members_can_be_asked_for),
        PLAY_TEST(show_lists_all_or_one),
        PLAY_TEST(names_steer_no_terminal),
        PLAY_TEST(nothing_is_possible_without_a_run),
        PLAY_TEST(a_run_begins_with_an_empty_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
