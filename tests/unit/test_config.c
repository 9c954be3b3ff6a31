/* test_config.c tests config/: each statement as its sink gets it, each kind of mistake with
 * its line and column, and texts that mean harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"

/* ---- a sink that tells what it got, a line a statement ----------------------------------- */

static char seen[16384];

static void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void tell(const char *format, ...)
{
    size_t n = strlen(seen);
    va_list args;
    va_start(args, format);
    vsnprintf(seen + n, sizeof seen - n, format, args);
    va_end(args);
}

static void tell_list(qp_config_list list)
{
    static const char *const kinds[] = {"module", "file", "class", "routine"};
    static const char *const names[] = {"", "glob ", "regex "};
    for (qp_config_element e; qp_config_next(&list, &e);)
        tell(" %s%s %s<%s>", e.is_checked ? "" : "not ", kinds[e.kind], names[e.name_kind],
             e.name);
    tell("\n");
}

static int on_options(void *to, const char *words, qp_error *error)
{
    (void)to, (void)error;
    tell("options <%s>\n", words);
    return 0;
}

static int on_switch(void *to, qp_config_switch which, bool is_on, qp_error *error)
{
    static const char *const names[] = {"initial", "profiling", "triggering"};
    (void)to, (void)error;
    tell("%s %d\n", names[which], is_on);
    return 0;
}

static int on_trigger(void *to, const qp_config_trigger *t, qp_error *error)
{
    (void)to, (void)error;
    tell("trigger <%s> on %d pass %d work %d cycling %d all %d checked %d:", t->name, t->is_on,
         (int)t->pass, (int)t->work, t->is_cycling, t->is_for_all_threads, t->is_checked);
    tell_list(t->routines);
    return 0;
}

static int on_action(void *to, const qp_config_action *a, qp_error *error)
{
    (void)to, (void)error;
    tell("action <%s> %d exit %d checked %d:", a->name, a->kind, a->is_at_exit, a->is_checked);
    tell_list(a->routines);
    return 0;
}

static int on_area(void *to, const qp_config_area *a, qp_error *error)
{
    (void)to, (void)error;
    tell("area <%s> mode %d excluding %d lines %d parameters %d checked %d:", a->name,
         a->has_mode, a->is_excluding, a->lines, a->parameters, a->checked);
    if (a->has_mode)
        tell_list(a->elements);
    else
        tell("\n");
    return 0;
}

static int on_event_trigger(void *to, const qp_config_event_trigger *t, qp_error *error)
{
    (void)to, (void)error;
    tell("event <%s> %u enabled %d once %d deferred %d context %d %d", t->name, t->event,
         t->is_enabled, t->is_one_shot, t->is_deferred, t->context, (int)t->context_id);
    if (t->object_kind == QP_OBJECT_NUMBER)
        tell(" object %llu", (unsigned long long)t->object);
    if (t->object_kind == QP_OBJECT_NAME)
        tell(" object %d <%s>", t->object_name_kind, t->object_name);
    if (t->when_name)
        tell(" when %d <%s> %d %d", t->when_kind, t->when_name, t->when_operator,
             t->when_value);
    if (t->chain)
        tell(" chain <%s>", t->chain);
    tell(" do %d", t->action);
    if (t->action_name)
        tell(" <%s> %ld", t->action_name, (long)t->action_argument);
    tell(" %llu %llu %llu %llu\n", (unsigned long long)t->longer_ns,
         (unsigned long long)t->depth, (unsigned long long)t->used,
         (unsigned long long)t->most_a_second);
    return 0;
}

static int on_pc(void *to, const char *command, qp_error *error)
{
    (void)to, (void)error;
    tell("pc <%s>\n", command);
    return 0;
}

static int on_trace(void *to, const char *key, const char *value, qp_error *error)
{
    (void)to, (void)error;
    tell("trace <%s> <%s>\n", key, value);
    return 0;
}

static int on_pri(void *to, const char *file, qp_error *error)
{
    (void)to, (void)error;
    tell("pri <%s>\n", file);
    return 0;
}

static const qp_config_sink telling = {
    on_options,       on_switch, on_trigger, on_action, on_area,
    on_event_trigger, on_pc,     on_trace,   on_pri,    NULL};

static int read_text(const char *text, qp_error *error)
{
    seen[0] = '\0';
    return qp_config_read(text, strlen(text), &telling, error);
}

static void assert_told(const char *text, const char *expected)
{
    qp_error error;
    if (read_text(text, &error) != 0)
        fail_msg("%u:%u: %s", error.line, error.column, error.text);
    assert_string_equal(seen, expected);
}

static void assert_mistake(const char *text, unsigned line, unsigned column, const char *words)
{
    qp_error error;
    assert_int_equal(read_text(text, &error), QP_CONFIG_SYNTAX);
    if (error.line != line || error.column != column || !strstr(error.text, words))
        fail_msg("%s\n%u:%u: %s", text, error.line, error.column, error.text);
}

/* ---- what is read ------------------------------------------------------------------------ */

static void nothing_says_nothing(void **state)
{
    (void)state;
    assert_told("", "");
    assert_told(" \t\r\n\n# a comment \\\n  # \"another\n\\\n", "");
}

static void lines_of_options_come_as_they_are(void **state)
{
    (void)state;
    assert_told("-clock=elapsed -record-min-max=yes\n -a='b # c'   # d\n",
                "options <-clock=elapsed -record-min-max=yes>\noptions <-a='b # c'      >\n");
    assert_told("-a=1 \\\n -b=\"2 \\\n3\" # x \\\n-c=4",
                "options <-a=1    -b=\"2   3\"      >\noptions <-c=4>\n");
    assert_told("'-source-path=d e' -x", "options <'-source-path=d e' -x>\n");
}

static void switches_are_on_or_off(void **state)
{
    (void)state;
    assert_told("initial-status off\nINITIALSTATUS On # yes\n"
                "profiling on\ntriggering off\nTrigger_ing on",
                "initial 0\ninitial 1\nprofiling 1\ntriggering 0\ntriggering 1\n");
}

static void triggers_have_counts_and_routines(void **state) /* triggers 52 */
{
    (void)state;
    assert_told("trigger steady on pass=3 work=2 cycling=yes : Server.handle r2 !r3\n"
                "trigger noisy off all-threads=yes : Log.write\n"
                "trigger \"load \\\"phase\\\" \\\\\" ON checked=no : \"operator ()\" # why\n"
                "trigger\tg on \\\n  ALL_Threads=Yes \\\r\n : glob:net.* !regex:^a|b$ "
                "file:x Glob::f",
                "trigger <steady> on 1 pass 3 work 2 cycling 1 all 0 checked 1: "
                "routine <Server.handle> routine <r2> not routine <r3>\n"
                "trigger <noisy> on 0 pass 0 work 0 cycling 0 all 1 checked 1: "
                "routine <Log.write>\n"
                "trigger <load \"phase\" \\> on 1 pass 0 work 0 cycling 0 all 0 checked 0: "
                "routine <operator ()>\n"
                "trigger <g> on 1 pass 0 work 0 cycling 0 all 1 checked 1: "
                "routine glob <net.*> not routine regex <^a|b$> routine <file:x> "
                "routine <Glob::f>\n");
}

static void actions_have_a_kind_and_a_side(void **state) /* triggers 52 */
{
    (void)state;
    assert_told("action stop disable exit : Server.shutdown\n"
                "action snap get-results enter checked=no : Server.tick a\n"
                "action e Enable enter : x\naction c clear_results exit : x\n",
                "action <stop> 1 exit 1 checked 1: routine <Server.shutdown>\n"
                "action <snap> 2 exit 0 checked 0: routine <Server.tick> routine <a>\n"
                "action <e> 0 exit 0 checked 1: routine <x>\n"
                "action <c> 3 exit 1 checked 1: routine <x>\n");
}

static void areas_have_elements_of_kinds(void **state) /* triggers 52 */
{
    (void)state;
    assert_told("area mine include lines parameters=yes : class:Server file:src/queue.scr "
                "!class:Debug\n"
                "area not_these exclude : Server.poll \"operator ()\" module:glob:lib*\n"
                "area r include routines : routine:x class::f regex:[ab]c\n"
                "area n include checked=no : x\narea all-lines checked=no\n",
                "area <mine> mode 1 excluding 0 lines 1 parameters 1 checked 2: class <Server> "
                "file <src/queue.scr> not class <Debug>\n"
                "area <not_these> mode 1 excluding 1 lines 2 parameters 2 checked 2: "
                "routine <Server.poll> routine <operator ()> module glob <lib*>\n"
                "area <r> mode 1 excluding 0 lines 0 parameters 2 checked 2: routine <x> "
                "routine <class::f> routine regex <[ab]c>\n"
                "area <n> mode 1 excluding 0 lines 2 parameters 2 checked 0: routine <x>\n"
                "area <all-lines> mode 0 excluding 0 lines 2 parameters 2 checked 0:\n");
}

static void event_triggers_have_the_members_of_the_spec(void **state) /* events 53 */
{
    (void)state;
    assert_told(
        "event-trigger armed  event=fn-entry object=Server.accept disable=yes chain=grab\n"
        "event-trigger grab   status=disabled event=40001 context=any-task "
        "when=\"depth >= 3\" action=start deferred=no disable=yes chain=done\n"
        "event-trigger report event=any context=system when=\"pending(object) & 6\" "
        "action=lib:save(0)\n"
        "event_trigger t event=0xFFFF context=task:7 object=12 when=f()!=-1 "
        "action=func:act(-0x10) deferred=no\n",
        "event <armed> 1 enabled 1 once 1 deferred 1 context 0 0 object 0 "
        "<Server.accept> chain <grab> do 0 0 0 0 0\n"
        "event <grab> 40001 enabled 0 once 1 deferred 0 context 1 0 when 1 <depth> 5 3 "
        "chain <done> do 1 0 0 0 0\n"
        "event <report> 65536 enabled 1 once 0 deferred 1 context 5 0 when 2 <pending> 7 "
        "6 do 4 <save> 0 0 0 0 0\n"
        "event <t> 65535 enabled 1 once 0 deferred 0 context 2 7 object 12 when 0 <f> 1 "
        "-1 do 3 <act> -16 0 0 0 0\n");
}

static void all_operators_contexts_and_actions_are_known(void **state)
{
    static const char *const operators[] = {"==", "!=", "<", "<=", ">", ">=", "|", "&"};
    static const char *const contexts[] = {"any",     "any-task", "task:0",
                                           "any-isr", "isr",      "system"};
    static const char *const actions[] = {"none",    "start",    "stop", "func:f()",
                                          "lib:f()", "snapshot", "dump", "mark"};
    char text[128], expected[64];
    qp_error error;
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        snprintf(text, sizeof text, "event-trigger x event=any when=v%s2", operators[i]);
        snprintf(expected, sizeof expected, "when 1 <v> %u 2", i);
        assert_int_equal(read_text(text, &error), 0);
        assert_non_null(strstr(seen, expected));
        snprintf(text, sizeof text, "event-trigger x event=any action=%s", actions[i]);
        snprintf(expected, sizeof expected, "do %u", i);
        assert_int_equal(read_text(text, &error), 0);
        assert_non_null(strstr(seen, expected));
    }
    for (unsigned i = 0; i < 6; i++) {
        snprintf(text, sizeof text, "event-trigger x event=any context=%s", contexts[i]);
        snprintf(expected, sizeof expected, "context %u 0", i);
        assert_int_equal(read_text(text, &error), 0);
        assert_non_null(strstr(seen, expected));
    }
}

static void events_have_numbers_and_names(void **state)
{
    (void)state;
    assert_int_equal(qp_event_find("fn-exit", 7), QP_EVENT_FN_EXIT);
    assert_int_equal(qp_event_find("FN_Exit", 7), QP_EVENT_FN_EXIT);
    assert_int_equal(qp_event_find("fn-exits", 8), 0);
    assert_int_equal(qp_event_find("", 0), 0);
    assert_string_equal(qp_event_name(QP_EVENT_THREAD_DESTROY), "thread-destroy");
    assert_string_equal(qp_event_name(QP_EVENT_ANY), "any");
    assert_string_equal(qp_event_name(40000), "");
    assert_int_equal(qp_event_object_of(QP_EVENT_BLOCK), QP_EVENT_OBJECT_METHOD);
    assert_int_equal(qp_event_object_of(QP_EVENT_STATUS), QP_EVENT_OBJECT_THREAD);
    assert_int_equal(qp_event_object_of(40000), QP_EVENT_OBJECT_NONE);
}

static void event_triggers_can_be_narrowed(void **state)
{
    (void)state;
    assert_told("event-trigger a event=fn-exit object=glob:net.* longer=50ms rate=10/s "
                "action=dump\n"
                "event-trigger b event=fn-entry depth=100\n"
                "event-trigger c event=memory used=80% action=snapshot\n"
                "event-trigger d event=fn-exit longer=3s object=regex:^(a|b)$\n",
                "event <a> 2 enabled 1 once 0 deferred 1 context 0 0 object 1 <net.*> do 6 "
                "50000000 0 0 10\n"
                "event <b> 1 enabled 1 once 0 deferred 1 context 0 0 do 0 0 100 0 0\n"
                "event <c> 14 enabled 1 once 0 deferred 1 context 0 0 do 5 0 0 80 0\n"
                "event <d> 2 enabled 1 once 0 deferred 1 context 0 0 object 2 <^(a|b)$> do 0 "
                "3000000000 0 0 0\n");
}

static void pc_commands_run_on_to_their_semicolon(void **state)
{
    (void)state;
    assert_told("pc REAL 5000 WHEN Server.main -> # main\n * -> Queue.pop; # end\n-a\n",
                "pc <pc REAL 5000 WHEN Server.main ->       \n * -> Queue.pop;      >\n"
                "options <-a>\n");
    assert_told("PC virtual 100 # w\n-a", "pc <PC virtual 100    >\noptions <-a>\n");
    assert_told("pc\ntriggering on", "pc <pc>\ntriggering 1\n");
}

static void trace_lines_have_keys(void **state)
{
    (void)state;
    assert_told(
        "trace OPERATIONMODE=1025 OUTFLUSHEVERY=500\n"
        "trace EXCLUDESYMBOL=\"AEVAL,Log write\" outfile=\npri \"my settings.pri\"",
        "trace <OPERATIONMODE> <1025>\ntrace <OUTFLUSHEVERY> <500>\n"
        "trace <EXCLUDESYMBOL> <AEVAL,Log write>\ntrace <outfile> <>\npri <my settings.pri>\n");
}

static void statements_without_a_taker_are_still_checked(void **state)
{
    static const qp_config_sink ignore_all;
    static const char good[] = "-a=b\ninitial-status on\nprofiling on\ntrigger a on : b\n"
                               "action a enable exit : b\narea a include : b\n"
                               "event-trigger a event=any\ntriggering on\npc real\n"
                               "trace outfile=b\npri a\n";
    static const char bad[] = "trace a";
    qp_error error;
    (void)state;
    assert_int_equal(qp_config_read(good, strlen(good), &ignore_all, &error), 0);
    assert_int_equal(qp_config_read(bad, strlen(bad), &ignore_all, &error), QP_CONFIG_SYNTAX);
}

/* ---- mistakes ---------------------------------------------------------------------------- */

typedef struct {
    const char *text;
    unsigned line, column;
    const char *words; /* of the message */
} mistake;

static const mistake mistakes[] = {
    {"\n\n  trigle x on : y", 3, 3, "trigle: expected -name=value, initial-status"},
    {"initial-status", 1, 15, "the line ends: expected off|on"},
    {"initial-status maybe", 1, 16, "maybe: expected off|on"},
    {"initial-status off now", 1, 20, "now: expected the end of the line"},
    {"-a\ntriggering", 2, 11, "expected off|on"},
    {"trigger", 1, 8, "the line ends: expected a name"},
    {"trigger \"\" on : x", 1, 9, "nothing: expected a name"},
    {"trigger a sideways : x", 1, 11, "sideways: expected off|on"},
    {"trigger a on pass=-1 : x", 1, 14, "-1: expected a whole number"},
    {"trigger a on pass=99999999999999999999 : x", 1, 14, "too large: expected a whole number"},
    {"trigger a on pass=3: x", 1, 14, "3:: expected a whole number"},
    {"trigger a on pass= : x", 1, 14, "pass=: expected a value"},
    {"trigger a on pass=1 PASS=2 : x", 1, 21, "pass=: given twice"},
    {"trigger a on cycling=ja : x", 1, 14, "ja: expected no|yes"},
    {"trigger a on frob=1 : x", 1, 14,
     "frob=1: expected pass= work= cycling= all-threads= checked= or a : between blanks"},
    {"trigger a on \\\n  frob : x", 2, 3, "frob: expected pass="},
    {"trigger a on", 1, 13, "the line ends: expected a : and names"},
    {"trigger a on :", 1, 15, "the line ends: expected names after the :"},
    {"trigger a on : x !", 1, 18, "nothing: expected a name"},
    {"trigger a on : x glob:", 1, 18, "nothing: expected a name"},
    {"trigger a on : x \"y", 1, 18, "this quote is not closed"},
    {"trigger \"a on : x\n\" y", 1, 9, "this quote is not closed"},
    {"trigger a on : x\n regex:y", 2, 2, "regex:y: expected -name=value"},
    {"trigger a on : x regex:(", 1, 18, "regex:(: "},
    {"trigger a on : regex:(a)\\1", 1, 16, "references back"},
    {"trigger a on : regex:((a{99}){99}){99}", 1, 16, "too many repetitions"},
    {"action a explode exit : x", 1, 10,
     "explode: expected enable|disable|get-results|clear-results"},
    {"action a enable : x", 1, 17, ":: expected enter|exit"},
    {"action a enable exit pass=1 : x", 1, 22, "pass=1: expected checked= or a :"},
    {"area a", 1, 7, "expected include, exclude, or checked="},
    {"area a sometimes : x", 1, 8, "sometimes: expected include|exclude"},
    {"area a include words : x", 1, 16, "words: expected routines|lines"},
    {"area a exclude lines : x", 1, 16, "an excluding area has no level"},
    {"area a include lines", 1, 21, "expected a : and names, as in class:Server"},
    {"area a checked=no : x", 1, 19, ":: expected parameters= checked="},
    {"area a checked=perhaps", 1, 8, "perhaps: expected no|yes"},
    {"area a include : class:", 1, 18, "nothing: expected a name"},
    {"event-trigger a", 1, 15, "a: expected event="},
    {"event-trigger a event=39999", 1, 17, "event=39999: expected 40000 to 65535, any, or"},
    {"event-trigger a event=65536", 1, 17, "expected 40000 to 65535"},
    {"event-trigger a event=fn-entrance", 1, 17, "event=fn-entrance: expected"},
    {"event-trigger a event=any status=on", 1, 27, "on: expected disabled|enabled"},
    {"event-trigger a event=any context=task", 1, 27, "task: expected any|any-task|task:ID"},
    {"event-trigger a event=any context=task:x", 1, 27, "context=task:x: expected"},
    {"event-trigger a event=any context=isr:1", 1, 27, "context=isr:1: expected"},
    {"event-trigger a event=save object=f", 1, 15, "object= names a routine"},
    {"event-trigger a event=any object=glob:", 1, 27, "nothing: expected a name"},
    {"event-trigger a event=any object=!f", 1, 27, "object=!f: expected a name without a !"},
    {"\xEF\xBB\xBFtrigle", 1, 1, "trigle: expected -name=value"},
    {"event-trigger a event=any when=x", 1, 27, "when=x: expected \"NAME OP NUMBER\""},
    {"event-trigger a event=any when=\"x = 3\"", 1, 27, "expected \"NAME OP NUMBER\""},
    {"event-trigger a event=any when=\"x(3) == 3\"", 1, 27, "expected \"NAME OP NUMBER\""},
    {"event-trigger a event=any when=\"x( == 3\"", 1, 27, "expected \"NAME OP NUMBER\""},
    {"event-trigger a event=any when=\"== 3\"", 1, 27, "expected \"NAME OP NUMBER\""},
    {"event-trigger a event=any when=x==2147483648", 1, 27, "expected \"NAME OP NUMBER\""},
    {"event-trigger a event=any when=\"x == 3 y\"", 1, 27, "expected \"NAME OP NUMBER\""},
    {"event-trigger a event=any action=explode", 1, 27, "explode: expected none|start|stop|"},
    {"event-trigger a event=any action=func:f", 1, 27, "action=func:f: expected none|start"},
    {"event-trigger a event=any action=func:(3)", 1, 27, "action=func:(3): expected"},
    {"event-trigger a event=any action=func:f(x)", 1, 27, "action=func:f(x): expected"},
    {"event-trigger a event=any action=start(3)", 1, 27, "action=start(3): expected"},
    {"event-trigger a event=any longer=5ms", 1, 15, "longer= is for event=fn-exit"},
    {"event-trigger a event=fn-exit longer=5", 1, 31, "longer=5: expected a time such as 50ms"},
    {"event-trigger a event=fn-exit longer=0ms", 1, 31, "expected a time"},
    {"event-trigger a event=fn-exit longer=9999999999999999s", 1, 31,
     "too large: expected a time"},
    {"event-trigger a event=fn-exit depth=3", 1, 15, "depth= is for event=fn-entry"},
    {"event-trigger a event=fn-entry depth=0", 1, 32, "depth=0: expected a number of frames"},
    {"event-trigger a event=any used=5%", 1, 15, "used= is for event=memory"},
    {"event-trigger a event=memory used=101%", 1, 30,
     "used=101%: too large: expected 1% to 100%"},
    {"event-trigger a event=memory used=80", 1, 30, "used=80: expected 1% to 100%"},
    {"event-trigger a event=any rate=10", 1, 27, "rate=10: expected a number such as 10/s"},
    {"event-trigger a event=any : x", 1, 27, ":: expected event="},
    {"pc REAL 0", 1, 9, "expected microseconds"},
    {"# a\n pc WHEN m.a->\n ;", 3, 2, "expected"},
    {"pc WHEN m.a\n", 2, 1, "expected ; after the pattern"},
    {"trace", 1, 6, "the line ends: expected KEY=VALUE"},
    {"trace OUTFILE=b c", 1, 17, "c: expected KEY=VALUE"},
    {"trace timeline=1 FOO=3", 1, 18, "FOO: expected one of OPERATIONMODE OUTFLUSHEVERY"},
    {"trace TIMELINE=2", 1, 7, "TIMELINE=2: "},
    {"trace SYMBOLSIZE=x", 1, 7, "SYMBOLSIZE=x: "},
    {"trace =c", 1, 7, "=c: expected KEY=VALUE"},
    {"pri", 1, 4, "the line ends: expected a file"},
    {"pri a b", 1, 7, "b: expected the end of the line"},
};

static void each_mistake_names_its_line_its_column_and_what_was_expected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        assert_mistake(mistakes[i].text, mistakes[i].line, mistakes[i].column,
                       mistakes[i].words);
}

static int refuse_words(void *to, const char *words, qp_error *error)
{
    (void)to, (void)words;
    error->column = 9;
    return qp_error_set(error, -4, "no such\noption");
}

static int refuse_trigger(void *to, const qp_config_trigger *t, qp_error *error)
{
    (void)to, (void)t;
    return qp_error_set(error, -10, "there is one already");
}

static void what_a_sink_refuses_is_placed(void **state)
{
    const qp_config_sink refusing = {.on_options = refuse_words, .on_trigger = refuse_trigger};
    static const char options[] = "\n -a=1 \\\n -b=2", trigger[] = "\ntrigger t on : x";
    qp_error error;
    (void)state;
    assert_int_equal(qp_config_read(options, strlen(options), &refusing, &error), -4);
    assert_int_equal(error.line, 3); /* "-a=1 ", the end of the line, " " */
    assert_int_equal(error.column, 2);
    assert_string_equal(error.text, "no such?option");
    assert_int_equal(qp_config_read(trigger, strlen(trigger), &refusing, &error), -10);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 9);
}

/* ---- harm -------------------------------------------------------------------------------- */

static void a_byte_0_is_no_text(void **state)
{
    static const char *const before[] = {"", "-a", "trigger a on : x", "pc real", "trace a=b"};
    qp_error error;
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        char text[64];
        size_t n = (size_t)snprintf(text, sizeof text, "%s", before[i]);
        text[n] = '\0';
        text[n + 1] = 'x';
        assert_int_equal(qp_config_read(text, n + 2, &telling, &error), QP_CONFIG_SYNTAX);
        assert_int_equal(error.column, n + 1);
        assert_non_null(strstr(error.text, "a byte 0"));
    }
}

static void what_is_too_long_is_refused(void **state)
{
    static const char *const before[] = {
        "-a=",       "trigger ", "trigger a on : ",
        "pc real 1", "trace a=", "event-trigger a event=any when=x==1 chain="};
    enum { N = 100000 };
    char *text = malloc(N + 64);
    qp_error error;
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        size_t n = (size_t)snprintf(text, 64, "%s", before[i]);
        memset(text + n, '1', N);
        assert_int_equal(qp_config_read(text, n + N, &telling, &error), QP_CONFIG_SYNTAX);
        assert_int_equal(error.line, 1);
    }
    free(text);
}

static void lists_may_be_as_long_as_they_like(void **state)
{
    enum { N = 100000 };
    char *text = malloc(N * 3 + 64);
    size_t n = (size_t)sprintf(text, "trigger a on :");
    static const qp_config_sink ignore_all;
    qp_error error;
    (void)state;
    for (unsigned i = 0; i < N; i++)
        n += (size_t)sprintf(text + n, " x");
    assert_int_equal(qp_config_read(text, n, &ignore_all, &error), 0);
    free(text);
}

static void a_message_steers_no_terminal(void **state)
{
    qp_error error;
    (void)state;
    assert_int_equal(read_text("\x1b[31m\x07x on", &error), QP_CONFIG_SYNTAX);
    assert_non_null(strstr(error.text, "?[31m?x: expected"));
}

static void expressions_that_explode_are_refused(void **state)
{
    static const char *const bad[] = {
        "(((((((((((((((((((((((((((((((((a)))))))))))))))))))))))))))))))))",
        "a{1,99}{1,99}{9}",
        "a{30000}",
        "a{99999999999999999999}",
        "a+++++++++++++++++",
        "(a)\\1",
        "[a",
        "("};
    static const char *const good[] = {"a", "^net\\.(get|put)$", "a{1,99}", "[a-c]+",
                                       "\\(1\\)"};
    char why[120];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_true(qp_match_mistake(bad[i], why, sizeof why));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_false(qp_match_mistake(good[i], why, sizeof why));
}

static void names_fit_literals_globs_and_expressions(void **state)
{
    static const struct {
        qp_name_kind kind;
        const char *text, *name;
        bool fits;
    } cases[] = {
        {QP_NAME_LITERAL, "a.b", "a.b", true},    {QP_NAME_LITERAL, "a.b", "a.bc", false},
        {QP_NAME_GLOB, "net.*", "net.get", true}, {QP_NAME_GLOB, "net.*", "a/net.x", false},
        {QP_NAME_GLOB, "*", "a/b", true},         {QP_NAME_REGEX, "et", "net.get", true},
        {QP_NAME_REGEX, "^(a|b)$", "ab", false},  {QP_NAME_REGEX, "^(a|b)$", "b", true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qp_match m;
        assert_true(qp_match_begin(&m, cases[i].kind, cases[i].text));
        assert_int_equal(qp_match_fits(&m, cases[i].name), cases[i].fits);
        qp_match_end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_says_nothing),
        cmocka_unit_test(lines_of_options_come_as_they_are),
        cmocka_unit_test(switches_are_on_or_off),
        cmocka_unit_test(triggers_have_counts_and_routines),
        cmocka_unit_test(actions_have_a_kind_and_a_side),
        cmocka_unit_test(areas_have_elements_of_kinds),
        cmocka_unit_test(event_triggers_have_the_members_of_the_spec),
        cmocka_unit_test(all_operators_contexts_and_actions_are_known),
        cmocka_unit_test(events_have_numbers_and_names),
        cmocka_unit_test(event_triggers_can_be_narrowed),
        cmocka_unit_test(pc_commands_run_on_to_their_semicolon),
        cmocka_unit_test(trace_lines_have_keys),
        cmocka_unit_test(statements_without_a_taker_are_still_checked),
        cmocka_unit_test(each_mistake_names_its_line_its_column_and_what_was_expected),
        cmocka_unit_test(what_a_sink_refuses_is_placed),
        cmocka_unit_test(a_byte_0_is_no_text),
        cmocka_unit_test(what_is_too_long_is_refused),
        cmocka_unit_test(lists_may_be_as_long_as_they_like),
        cmocka_unit_test(a_message_steers_no_terminal),
        cmocka_unit_test(expressions_that_explode_are_refused),
        cmocka_unit_test(names_fit_literals_globs_and_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
