/* test_instructions_rules.c: what a program leaves if it is killed at any instruction of what
 * triggers, actions, areas and event triggers do: unit/stepped.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "qprof.h"
#include "unit/stepped.h"

/* ---- rules ------------------------------------------------------------------------------- */

static void set(const char *line)
{
    if (qprof_config_line(line) != 0)
        _exit(8);
}

static void set_triggers(void)
{
    set("trigger off off : hooked");
    set("trigger other on : other");
    set("area without exclude : excluded");
}

static void set_clears(void)
{
    set("action before clear-results enter : hooked");
    set("action after clear-results exit : other");
}

static void set_switches(void)
{
    set("initial-status off");
    set("action off disable enter : other");
    set("action on enable exit : hooked");
    set("trigger within on : excluded");
}

static void set_saves(void)
{
    set("action save get-results exit : hooked");
}

static int raise_another(intptr_t event)
{
    return qprof_user_event((qprof_event_t)event);
}

static void set_marks(void)
{
    qprof_trg_symbol("raise", QPROF_TRG_SYM_ACTION, (void *)(uintptr_t)raise_another);
    set("event-trigger end event=fn-exit object=other status=disabled action=mark deferred=no");
    set("event-trigger begin event=fn-entry object=hooked disable=yes chain=end deferred=no");
    set("event-trigger own event=fn-exit object=hooked action=func:raise(40000) deferred=no");
    set("event-trigger jump event=unwind action=mark deferred=no");
    set("triggering on");
}

static void set_deeds(void)
{
    set("event-trigger off event=fn-entry object=hooked action=stop deferred=no");
    set("event-trigger on event=fn-exit object=other action=start deferred=no");
    set("event-trigger new event=fn-exit object=hooked action=lib:clear(0) deferred=no");
    set("triggering on");
}

/* ---- what is stepped through ------------------------------------------------------------- */

static void unwind_what_is_hooked(void)
{
    stepped_in(A);
    stepped_in(HOOKED);
    stepped_in(B);
    qprof_record_bb_counts(0, 2);
    qprof_record_counts(3);
    stepped_in(EXCLUDED);
    stepped_in(C);
    stepped_in(OTHER_HOOKED);
    qprof_record_bb_time(0);
    stepped_in(A);
    stepped_in(B);
    stepped_back_to(1); /* seven frames end, two of them with something to do */
    stepped_back_to(0);
}

static void narrow(int mode, const char *routine)
{
    qprof_area *area = qprof_area_create(routine, mode, QPROF_LEVEL_LINES);
    qprof_area_add(area, QPROF_ELEM_ROUTINE, routine, 1);
}

/* Frames are open when their methods are no longer measured, or something is to be done for
 * them. */
static void set_triggers_below_calls(void)
{
    stepped_in(A);
    stepped_in(B);
    stepped_in(HOOKED);
    stepped_in(C);
    narrow(QPROF_AREA_INCLUDE, "c");
    stepped_in(C);
    stepped_in(B);
    qprof_trigger_add_method(qprof_trigger_create("hush", QPROF_TRIGGER_OFF), B, 1);
    qprof_action *clear =
        qprof_action_create("clear", QPROF_ACTION_CLEAR_RESULTS, QPROF_ON_EXIT);
    qprof_action_add_method(clear, HOOKED, 1);
    stepped_in(EXCLUDED);
    stepped_in(B);
    stepped_back_to(3);
    narrow(QPROF_AREA_EXCLUDE, "hooked");
    stepped_in(C);
    stepped_back_to(1);
    stepped_in(A);
    stepped_back_to(0);
}

/* ---- the tests --------------------------------------------------------------------------- */

#define UNWOUND(name, triggers)                                                                \
    static void name(void **state)                                                             \
    {                                                                                          \
        (void)state;                                                                           \
        stepped_in_every_mode(                                                                 \
            #name, (stepped_program){.prepare = triggers, .play = unwind_what_is_hooked}, ""); \
    }

UNWOUND(triggers, set_triggers)
UNWOUND(actions_that_clear, set_clears)
UNWOUND(actions_that_switch, set_switches)
UNWOUND(marks, set_marks)
UNWOUND(deeds_of_event_triggers, set_deeds)

/* These take many instructions, which are the same in every mode. */

static void actions_that_save(void **state)
{
    (void)state;
    stepped_everywhere(__func__, &(stepped_program){"-output=steps.qprof", .prepare = set_saves,
                                                    .play = unwind_what_is_hooked});
}

static void rules_that_come_below_calls(void **state)
{
    (void)state;
    stepped_everywhere(
        __func__, &(stepped_program){"-output=steps.qprof", .play = set_triggers_below_calls});
}

STEPPED_MAIN(stepped_prepare(), cmocka_unit_test(triggers),
             cmocka_unit_test(actions_that_clear), cmocka_unit_test(actions_that_switch),
             cmocka_unit_test(actions_that_save), cmocka_unit_test(marks),
             cmocka_unit_test(deeds_of_event_triggers),
             cmocka_unit_test(rules_that_come_below_calls))
