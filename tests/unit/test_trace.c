/* test_trace.c tests record/ring/ring.c and its writer through the interface: what a trace
 * holds, word by word, under a fake clock. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "qprof.h"
#include "record/ring/ring.h"
#include "unit/play.h"
#include "unit/traces.h"

/* The words of the rings of run.qprof. */
static void assert_rings(const char *words)
{
    traces *t = traces_of_profile("run.qprof");
    assert_trace(t, words);
    traces_free(t);
}

static traces *read_stream(const char *file)
{
    traces *t = traces_of_file(file);
    assert_true(t->has_end && !t->is_damaged);
    assert_int_equal(t->n_missing, 0);
    return t;
}

static void calls_are_in_their_order(void **state)
{
    play_ctx *p = play_run(state, "-collect=profile,trace", "main( 5 f( 2 ) f( 3 ) 1 )");
    assert_rings("0 @1 0 main( 5 f( 7 ) 7 f( 10 ) 11 )");
    assert_flat(p, "main", 1, 11, 6);
}

static void a_trace_alone_has_a_call_tree_below_it(void **state)
{
    play_ctx *p = play_run(state, "-collect=trace", "main( 5 f( 2 ) )");
    assert_flat(p, "f", 1, 2, 2);
    assert_rings("0 @1 0 main( 5 f( 7 ) 7 )");
}

static void adaptive_times_of_a_traced_run_are_exact(void **state)
{
    play_ctx *p = play_run(state, "-collect=profile,trace -time=adaptive", "main( f( 2 ) )");
    assert_int_equal(p->m->run.time_mode, QP_TIME_EXACT);
}

static void runs_without_times_have_traces_with_times(void **state)
{
    play_run(state, "-collect=profile,trace -time=none", "main( 5 f( 2 ) )");
    assert_rings("0 @1 0 main( 5 f( 7 ) 7 )");
}

static void one_exit_of_several_frames_is_one_record(void **state)
{
    play_run(state, "-collect=profile,trace", "main( f( g( 4 ^main 1 f( 1 $ ");
    assert_rings("0 @1 0 main( 0 f( 0 g( 4 )2! 5 f( 6 )2!");
}

static void frames_that_are_open_at_the_end_have_no_exit(void **state)
{
    play_run(state, "-collect=profile,trace", "main( 1 f( 2 ");
    assert_rings("0 @1 0 main( 1 f(");
}

static void what_is_entered_while_recording_stands_is_left_out_with_its_exit(void **state)
{
    play_ctx *p = *state; /* trace 32 */
    play_begin(p, "-collect=profile,trace");
    play(p, "main( 1 f( 1 ");
    qprof_stop_recording();
    play(p, "5 g( 5 ) ) h( 5 ");
    qprof_start_recording();
    play(p, "2 ) 1 ) ");
    play_end(p);
    /* f's exit is recorded, as its entry is. h's is not, but main continues at 19; main's is */
    assert_rings("0 @1 0 main( 1 f( 2 gate0 12 ) 17 gate1 19 gate1 20 )");
    assert_flat(p, "main", 1, 5, 2);
}

static void a_stop_that_no_event_saw_is_there(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, "-collect=profile,trace");
    play(p, "@a main( 1 @b main( 2 ");
    qprof_stop_recording(); /* b sees it at once, a when it continues */
    play(p, "10 ");
    qprof_start_recording();
    play(p, "3 @a 4 ) ");
    play_end(p);
    traces *t = traces_of_profile("run.qprof");
    assert_non_null(strstr(traces_text(t, 1000000000), "3 gate0 13 gate1"));
    traces_free(t);
}

static void virtual_threads_are_switched(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, "-collect=profile,trace");
    play(p, "@a main( 1 @b main( 2 ) @a 3 )");
    qprof_thread_destroy_vt(play_vt(p, "b"));
    play_end(p);
    /* 1: a, 2: b; b's second life is only its end, and a is driven all the while */
    assert_rings("0 @1 0 main( 1 park1 1 @2 1 main( 3 ) 6 park2 6 @1 6 ) 6 @2 6 park2. 6 @1");
}

/* What threads do to each other while one is suspended: it continues in its place and time. */
static void a_thread_that_is_turned_while_it_is_parked_has_its_time(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, "-collect=profile,trace");
    qprof_action_add_routine(qprof_action_create("off", QPROF_ACTION_DISABLE, QPROF_ON_ENTER),
                             "off", 1);
    qprof_action_add_routine(qprof_action_create("on", QPROF_ACTION_ENABLE, QPROF_ON_ENTER),
                             "on", 1);
    play(p, "@a main( 1 @b off( 2 ) on( 3 ) @a 4 f( 5 ) )");
    play_end(p);
    traces *t = traces_of_profile("run.qprof");
    const char *text = traces_text(t, 1000000000);
    assert_non_null(strstr(text, "10 @1 10 gate0 10 gate1 10 f( 15 ) 15 )"));
    traces_free(t);
    assert_flat(p, "main", 1, 6, 1); /* it was driven until 1, and from 10 on */
}

static void callers_that_were_off_are_named_and_end_in_their_time(void **state)
{
    play_ctx *p = play_start(state, "-trace-output=t.qtrace");
    qprof_trigger_add_routine(qprof_trigger_create("t", QPROF_TRIGGER_ON), "t", 1);
    qprof_action_add_routine(qprof_action_create("on", QPROF_ACTION_ENABLE, QPROF_ON_EXIT),
                             "on", 1);
    qprof_trigger_initial_status(0);
    play(p, "main( 1 f( 2 t( 3 ) 4 on( ) 5 ) 6 g( 7 ) )");
    play_end(p);
    traces *t = read_stream("t.qtrace");
    for (size_t i = 0; i < t->n_names; i++) { /* a caller is named before its callees */
        uint64_t caller = t->names[i].kind == QP_NAMES_PATH ? t->names[i].numbers[1] : 0;
        bool is_known = !caller;
        for (size_t j = 0; j < i; j++)
            is_known |= t->names[j].kind == QP_NAMES_PATH && t->names[j].numbers[0] == caller;
        assert_true(is_known);
    }
    /* `on` ends at 10, and with f at 15 main continues */
    const char *text = traces_text(t, 1000000000);
    assert_non_null(strstr(text, "gate1 15 gate1 21 g( 28 ) 28 gate1"));
    traces_free(t);
}

/* Who ends it runs on; the one that is ended does not. */
static void a_thread_that_another_one_ends_takes_no_time(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, "-collect=profile,trace");
    play(p, "@a main( 1 @b f( 2 @a g( 3 ");
    qprof_thread_destroy_vt(play_vt(p, "b"));
    play(p, "4 ) )");
    play_end(p);
    assert_rings("0 @1 0 main( 1 park1 1 @2 1 f( 3 park2 3 @1 3 g( 6 @2 6 )1! 6 park2. 6 @1 "
                 "10 ) 10 )");
    assert_flat(p, "main", 1, 8, 1);
    assert_flat(p, "f", 1, 2, 2);
}

static void a_row_that_is_used_again_says_whose_it_is(void **state)
{
    play_ctx *p = *state;
    play_begin_vt(p, "-collect=profile,trace -thread-rows=1");
    qprof_record_fn_entry_vt(play_method(p, "f"), 1, 0x77);
    qprof_thread_destroy_vt(0x77);
    qprof_record_fn_entry_vt(play_method(p, "f"), 1, 0x78);
    qprof_thread_destroy_vt(0x78);
    play_end(p);
    assert_rings("0 @1 0 f( 0 )1! 0 park1. 0 @1120 0 f( 0 )1! 0 park1.");
}

static void marks_and_counters_are_there(void **state)
{
    play_ctx *p = play_start(state, "-trace-output=t.qtrace");
    play(p, "main( 1 ");
    qprof_mark("here");
    play(p, "2 ");
    qprof_counter("queue", -5);
    qprof_counter("queue", INT64_MAX);
    qprof_mark(NULL);
    qprof_counter("", 1);
    play(p, ")");
    play_end(p);
    traces *t = read_stream("t.qtrace");
    assert_trace(t, "0 @1 0 main( 1 mark1:here 3 queue=-5 3 queue=9223372036854775807 3 )");
    traces_free(t);
}

static void what_a_host_says_of_calls_is_there(void **state)
{
    play_ctx *p = play_start(state, "-trace-output=t.qtrace");
    qprof_area_set_parameters(qprof_area_find("all-lines"), 1);
    play(p, "main( ");
    qprof_trace_line(7);
    qprof_trace_parameter(1, "int", "42", NULL);
    qprof_trace_parameter(2, "string", "a text of some length", "name");
    qprof_trace_parameter(0, "int", "ignored", NULL);
    qprof_trace_parameter(-1, "int", "ignored", NULL);
    qprof_trace_call(play_method(p, "len"), 8);
    qprof_trace_return(play_method(p, "len"), 9);
    qprof_trace_result(NULL, NULL);
    play(p, ")");
    play_end(p);
    traces *t = read_stream("t.qtrace");
    assert_trace(t, "0 @1 0 main( 0 line7 0 value1:8int|42|||||||||"
                    " 0 value2:34string|a text o"
                    "f some length|n"
                    "ame||||||||||||"
                    " 0 call:len:8 0 return:len:9 0 value0:3||||||||||||||| 0 )");
    traces_free(t);
}

static void the_first_parameter_of_a_thread_is_that_of_its_first_call(void **state)
{
    play_ctx *p = play_start(state, "-trace-output=t.qtrace");
    qprof_area_set_parameters(qprof_area_find("all-lines"), 1);
    qprof_trace_parameter(1, "int", "42", NULL);
    play(p, "main( )");
    play_end(p);
    traces *t = read_stream("t.qtrace");
    assert_trace(t, "0 @1 0 value1:8int|42||||||||| 0 main( 0 )");
    traces_free(t);
}

static void say(const char *parameter)
{
    qprof_trace_parameter(1, "C", parameter, NULL);
}

/* Nothing is kept of the others, and a value for one call never reaches another. */
static void values_are_of_methods_whose_area_retrieves_them(void **state) /* triggers 51 */
{
    play_ctx *p = play_start(state, "-collect=profile,trace");
    assert_int_equal(qprof_wants() & QPROF_WANT_PARAMETERS, 0);
    qprof_area *others = qprof_area_create("others", QPROF_AREA_INCLUDE, QPROF_LEVEL_LINES);
    qprof_area *mine = qprof_area_create("mine", QPROF_AREA_INCLUDE, QPROF_LEVEL_ROUTINES);
    qprof_area_add(others, QPROF_ELEM_ROUTINE, "glob:*", 1);
    qprof_area_add(mine, QPROF_ELEM_ROUTINE, "f", 1);
    qprof_area_set_parameters(mine, 1);
    assert_int_equal(qprof_wants() & QPROF_WANT_PARAMETERS, QPROF_WANT_PARAMETERS);
    play(p, "main( ");
    for (int round = 0; round < 2; round++) {
        say("of g");
        play(p, "g( ");
        qprof_trace_result("C", "of g");
        play(p, ") f( ) ");
        say("of f");
        play(p, "f( ");
        qprof_trace_result("C", "of f");
        say("of none");
        play(p, ") f( ) ");
    }
    assert_int_equal(qprof_area_set_parameters(mine, 0), 0);
    assert_int_equal(qprof_wants() & QPROF_WANT_PARAMETERS, 0);
    say("late");
    play(p, "f( ) )");
    play_end(p);
    traces *t = traces_of_profile("run.qprof");
    const char *text = traces_text(t, 1000000000);
    assert_int_equal(traces_count(t, QP_TRACE_VALUE), 4);
    assert_non_null(strstr(text, " 0 value1:8C|of f|"));
    assert_non_null(strstr(text, " 0 value0:8C|of f|"));
    traces_free(t);
}

static void announce(qprof_MethodID callee, const char *result)
{
    qprof_trace_call(callee, 0);
    qprof_trace_result("C", result);
    qprof_trace_return(callee, 0);
}

/* Not that of the frame which announced the call; there need not be one. */
static void the_area_of_an_announced_call_retrieves_its_result(void **state)
{
    play_ctx *p = play_start(state, "-trace-output=t.qtrace");
    qprof_MethodID len = play_method(p, "len"), other = play_method(p, "other");
    qprof_area *all = qprof_area_create("all", QPROF_AREA_INCLUDE, QPROF_LEVEL_LINES);
    qprof_area *mine = qprof_area_create("mine", QPROF_AREA_INCLUDE, QPROF_LEVEL_ROUTINES);
    qprof_area_add(all, QPROF_ELEM_ROUTINE, "glob:*", 1);
    qprof_area_add(mine, QPROF_ELEM_ROUTINE, "len", 1);
    qprof_area_set_parameters(mine, 1);
    announce(len, "3");
    announce(other, "4");
    play(p, "main( ");
    announce(len, "5");
    announce(other, "6");
    qprof_trace_result("C", "7");
    play(p, ")");
    play_end(p);
    traces *t = read_stream("t.qtrace");
    assert_trace(t, "0 @1 0 call:len:0 0 value0:5C|3|||||||||||| 0 return:len:0"
                    " 0 call:other:0 0 return:other:0 0 main("
                    " 0 call:len:0 0 value0:5C|5|||||||||||| 0 return:len:0"
                    " 0 call:other:0 0 return:other:0 0 )");
    traces_free(t);
}

static void a_return_is_there_if_its_call_is(void **state)
{
    play_ctx *p = play_start(state, "-trace-output=t.qtrace");
    qprof_MethodID len = play_method(p, "len");
    qprof_stop_recording();
    qprof_trace_call(len, 1);
    qprof_trace_return(len, 1);
    qprof_trace_call(len, 2);
    qprof_start_recording();
    qprof_trace_return(len, 2);
    play(p, "main( ");
    qprof_trace_call(len, 3);
    qprof_stop_recording();
    qprof_trace_call(len, 4);
    qprof_trace_return(len, 4);
    qprof_trace_call(len, 5);
    qprof_start_recording();
    qprof_trace_call(len, 6);
    qprof_trace_return(len, 6);
    qprof_stop_recording();
    qprof_trace_return(len, 5);
    qprof_trace_return(len, 3);
    qprof_start_recording();
    play(p, ")");
    play_end(p);
    traces *t = read_stream("t.qtrace");
    char calls[256] = "";
    for (const char *at = traces_text(t, 1000000000); *at; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (strncmp(at, "call", 4) == 0 || strncmp(at, "return", 6) == 0)
            strncat(calls, at, strcspn(at, " ") + 1);
    }
    assert_string_equal(calls, "call:len:3 call:len:6 return:len:6 return:len:3 ");
    traces_free(t);
}

static void eleven_fields_are_ten_and_an_ellipsis(void **state) /* triggers 51 */
{
    static const char *const ten = "1\x1f"
                                   "2\x1f"
                                   "3\x1f"
                                   "4\x1f"
                                   "5\x1f"
                                   "6\x1f"
                                   "7\x1f"
                                   "8\x1f"
                                   "9\x1f"
                                   "10";
    play_ctx *p = *state;
    char eleven[64], wanted[64];
    snprintf(eleven, sizeof eleven,
             "%s\x1f"
             "11",
             ten);
    snprintf(wanted, sizeof wanted, "%s\x1f\xe2\x80\xa6", ten);
    play_begin(p, "-collect=profile,trace");
    qprof_area_set_parameters(qprof_area_find("all-lines"), 1);
    play(p, "main( ");
    say(ten);
    play(p, "f( ) ");
    say(eleven);
    play(p, "f( ) )");
    play_end(p);
    traces *t = traces_of_profile("run.qprof");
    /* type and comment are "C" and "": with their ends 3 bytes */
    char lengths[2][16];
    snprintf(lengths[0], 16, "value1:%d", (int)strlen(ten) + 1 + 3);
    snprintf(lengths[1], 16, "value1:%d", (int)strlen(wanted) + 1 + 3);
    const char *text = traces_text(t, 1000000000), *first = strstr(text, lengths[0]);
    assert_non_null(first);
    assert_non_null(strstr(first + 1, lengths[1]));
    traces_free(t);
}

static void long_values_are_cut_at_a_character(void **state)
{
    play_ctx *p = *state;
    char value[4000];
    play_begin(p, "-collect=profile,trace");
    qprof_area_set_parameters(qprof_area_find("all-lines"), 1);
    play(p, "main( ");
    memset(value, 'x', sizeof value);
    memcpy(value + 1534, "\xc3\xa4", 2); /* 1535 bytes fit: half of it would */
    value[3999] = '\0';
    qprof_trace_parameter(1, value, value, value);
    play(p, "f( ) )");
    play_end(p);
    traces *t = traces_of_profile("run.qprof");
    /* 63 + 1534 + 255 and three ends */
    assert_non_null(strstr(traces_text(t, 1000000000), " 0 value1:1855xxx"));
    assert_int_equal(traces_count(t, QP_TRACE_TEXT), 124);
    traces_free(t);
}

static void interrupts_are_samples_on_the_timeline(void **state)
{
    play_ctx *p = play_start(state, "-collect=profile,trace,samples '-pc=REAL 3600000000'");
    play(p, "main( 3 f( 2 ");
    assert_int_equal(qprof_pc_sample(2), 0);
    play(p, ") )");
    play_end(p);
    assert_rings("0 @1 0 main( 3 f( 5 sample2 5 ) 5 )");
}

static void garbage_collection_is_a_call(void **state)
{
    play_ctx *p = play_start(state, "-trace-output=t.qtrace");
    play(p, "main( 1 ");
    qprof_record_fn_entry(QPROF_METHOD_GC, 999);
    play_clock_add(5);
    qprof_record_fn_exit((qprof_StackID)p->first_id);
    play(p, ")");
    play_end(p);
    traces *t = read_stream("t.qtrace");
    assert_trace(t, "0 @1 0 main( 1 <Garbage collector>( 6 ) 6 )");
    traces_free(t);
}

static void names_that_come_late_come_at_the_end(void **state)
{
    play_ctx *p = play_start(state, "-trace-output=t.qtrace");
    qprof_record_fn_entry(77, 1);
    qprof_set_thread_name("worker");
    for (unsigned i = 0; i < 300; i++) /* until a packet is written */
        usleep(1000);
    qprof_register_method_id(77, "late", "Class", 0, "file", NULL, 0);
    qprof_record_fn_exit(0);
    play_end(p);
    traces *t = read_stream("t.qtrace");
    unsigned n_nameless = 0, n_named = 0;
    for (size_t i = 0; i < t->n_names; i++)
        if (t->names[i].kind == QP_NAMES_METHOD && t->names[i].numbers[1] == 77)
            (*t->names[i].texts[0] ? n_named++ : n_nameless++);
    assert_true(n_named && n_nameless);
    assert_string_equal(traces_name(t, QP_NAMES_THREAD, t->all[0].r.a)->texts[0], "worker");
    traces_free(t);
}

/* Entries and exits of one path, more than a ring holds. */
static void record_calls(play_ctx *p, unsigned n)
{
    qprof_MethodID f = play_method(p, "f");
    for (unsigned i = 0; i < n; i++) {
        qprof_record_fn_entry(f, 2);
        play_clock_add(1);
        qprof_record_fn_exit(1);
    }
}

static void a_ring_keeps_the_last_records(void **state)
{
    play_ctx *p = play_start(state, "-collect=profile,trace -trace-buffer=16K");
    qprof_record_fn_entry(play_method(p, "main"), 1);
    record_calls(p, 5000);
    play_end(p);
    traces *t = traces_of_profile("run.qprof");
    assert_int_equal(t->ring_head, 2 + 2 * 5000);
    assert_int_equal(t->n, 1023);
    assert_int_equal(t->all[1022].r.word & QP_TRACE_TICKS, 1000005000);
    assert_int_equal(qp_trace_op_of(&t->all[1022].r), QP_TRACE_EXIT);
    for (size_t i = 0; i < t->n; i++)
        assert_int_equal(qp_trace_op_of(&t->all[i].r), i % 2 ? QP_TRACE_ENTRY : QP_TRACE_EXIT);
    assert_int_equal(play_file_diagnostic(p, "trace_lost"), 0);
    traces_free(t);
}

static void a_dump_has_what_the_rings_have(void **state)
{
    play_ctx *p = play_start(state, "-collect=profile,trace -trace-buffer=16K");
    qprof_record_fn_entry(play_method(p, "main"), 1);
    record_calls(p, 5000);
    assert_int_equal(qprof_trace_dump("now.qtrace"), 0);
    assert_int_equal(qprof_trace_dump("now.qtrace"), 0);
    play_end(p);
    traces *rings = traces_of_profile("run.qprof"), *file = traces_of_file("now.qtrace");
    assert_true(file->has_end);
    assert_int_equal(file->n_missing, 10002 - 1023); /* before the first */
    assert_int_equal(file->n, 1023);
    for (size_t i = 0; i < file->n; i++)
        assert_memory_equal(&file->all[i].r, &rings->all[i].r, sizeof file->all[i].r);
    /* no record of the last thousand says whose they are: the dictionary does */
    const trace_name *path = traces_name(file, QP_NAMES_PATH, file->all[1].r.a);
    path = traces_name(file, QP_NAMES_PATH, path->numbers[1]); /* main */
    path = traces_name(file, QP_NAMES_PATH, path->numbers[1]); /* the root */
    assert_int_equal(path->numbers[1], 0);
    bool has_owner = false;
    for (size_t i = 0; i < file->n_names; i++)
        has_owner |= file->names[i].kind == QP_NAMES_THREAD &&
                     file->names[i].numbers[5] == path->numbers[0];
    assert_true(has_owner);
    traces_free(rings);
    traces_free(file);
    assert_true(play_file_exists("now.qtrace.1"));
}

static void a_dump_begins_with_a_record_that_says_when_it_was(void **state)
{
    play_ctx *p = play_start(state, "-collect=profile,trace -trace-buffer=16K");
    qprof_record_fn_entry(play_method(p, "main"), 1);
    for (unsigned i = 0; i < 1000; i++)
        qprof_counter("queue",
                      i); /* two records: the oldest that is kept is the second of one */
    assert_int_equal(qprof_trace_dump("now.qtrace"), 0);
    play_end(p);
    traces *t = traces_of_file("now.qtrace");
    assert_int_equal(t->n_missing, 2 + 2 * 1000 - 1022);
    assert_int_equal(t->n, 1022);
    assert_int_equal(qp_trace_op_of(&t->all[0].r), QP_TRACE_COUNTER);
    assert_int_equal(t->all[0].r.word & QP_TRACE_TICKS, 1000000000);
    traces_free(t);
}

static void a_dump_is_refused_where_there_is_nothing_to_dump(void **state)
{
    play_ctx *p = *state;
    assert_int_equal(qprof_trace_dump("x.qtrace"), QPROF_E_STATE);
    play_begin(p, "");
    assert_int_equal(qprof_trace_dump("x.qtrace"), QPROF_E_STATE);
    assert_string_equal(qprof_error_text(), "no trace is recorded: -collect=profile,trace");
    assert_int_equal(qprof_trace_dump(""), QPROF_E_ARG);
    assert_int_equal(qprof_trace_dump(NULL), QPROF_E_ARG);
}

static void a_dump_that_cannot_be_written_says_why(void **state)
{
    play_ctx *p = play_start(state, "-collect=trace");
    play(p, "main( ");
    assert_int_equal(qprof_trace_dump("no/such/folder.qtrace"), QPROF_E_IO);
    assert_non_null(
        strstr(qprof_error_text(), "/no/such/folder.qtrace: its folder does not exist"));
    assert_int_equal(qprof_trace_dump("%q.qtrace"), QPROF_E_OPTION);
    play(p, ")");
    play_end(p);
}

static void a_stream_has_everything(void **state)
{
    play_ctx *p =
        play_start(state, "-trace-output=%v.qtrace -program-name=prog -trace-buffer=1M");
    qprof_record_fn_entry(play_method(p, "main"), 1);
    for (unsigned i = 0; i < 20; i++) {
        record_calls(p, 5000);
        usleep(3000);
    }
    play_end(p);
    traces *t = read_stream("prog.qtrace");
    assert_int_equal(t->n_lost + traces_count(t, QP_TRACE_ENTRY), 100001);
    assert_int_equal(t->n_lost, 0);
    assert_int_equal(play_file_diagnostic(p, "trace_lost"), 0);
    assert_true(t->n_event_bytes < 4 * t->n); /* 3 bytes each, and headers */
    for (size_t i = 0; i < t->n;
         i++) { /* a writer that got no processor has led to a second ring */
        bool is_first = !i || t->all[i].ring != t->all[i - 1].ring;
        assert_int_equal(t->all[i].number, is_first ? 0 : t->all[i - 1].number + 1);
    }
    struct stat st; /* what was taken is not in the profile as well */
    assert_int_equal(stat("run.qprof", &st), 0);
    assert_true(st.st_blocks * 512 < st.st_size / 2);
    traces_free(t);
}

static void what_does_not_fit_a_stream_is_counted(void **state)
{
    play_ctx *p =
        play_start(state, "-trace-output=t.qtrace -trace-buffer=16K -trace-memory=16K");
    qprof_record_fn_entry(play_method(p, "main"), 1);
    record_calls(p, 200000);
    unsigned n = 200000;
    const uint64_t before = qprof_diagnostic("trace_lost");
    for (; n < 201000 && qprof_diagnostic("trace_lost") == before; n += 10) {
        usleep(20000); /* until there is room to say it */
        record_calls(p, 10);
    }
    play_end(p);
    traces *t = read_stream("t.qtrace");
    /* of a call whose entry is lost there is no exit: each call is lost once, or its exit is */
    assert_true(t->n_lost > 0);
    assert_int_equal(traces_count(t, QP_TRACE_EXIT) + t->n_lost, n);
    assert_int_equal(play_file_diagnostic(p, "trace_lost"), t->n_lost);
    assert_int_equal(t->diagnostics[QP_D_trace_lost], t->n_lost);
    /* after each LOST the thread is named again */
    for (size_t i = 0; i + 1 < t->n; i++)
        if (qp_trace_op_of(&t->all[i].r) == QP_TRACE_LOST)
            assert_int_equal(qp_trace_op_of(&t->all[i + 1].r), QP_TRACE_SWITCH);
    traces_free(t);
}

static bool has_note(const qp_model *m, const char *text)
{
    for (size_t i = 0; i < m->run.n_notes; i++)
        if (strcmp(m->run.notes[i].text, text) == 0)
            return true;
    return false;
}

static void a_buffer_that_cannot_be_had_is_told(void **state)
{
    /* half of 256 MiB for all, a quarter of that for one */
    play_ctx *p = play_run(state, "-collect=profile,trace -trace-buffer=512M", "main( 1 )");
    assert_true(has_note(
        p->m, "-trace-buffer: an OS thread gets 32.0 MiB, a power of 2 and at most a quarter "
              "of 128.0 MiB (-trace-memory, at most half of -memory-limit)"));
}

static void a_buffer_that_can_be_had_is_given(void **state)
{
    play_ctx *p = play_start(
        state,
        "-collect=profile,trace -trace-buffer=64M -trace-memory=256M -memory-limit=512M");
    play(p, "main( 1 )");
    assert_int_equal(qp_trace_ring_at(0)->n_slots, (64 << 20) / sizeof(qp_trace_record));
    play_end(p);
    assert_int_equal(p->m->run.n_notes, 0);
}

static void a_buffer_of_another_size_is_the_next_smaller(void **state)
{
    play_ctx *p = play_run(state, "-trace-output=t.qtrace -trace-buffer=3M", "main( 1 )");
    assert_true(has_note(
        p->m, "-trace-buffer: an OS thread gets 2.0 MiB, a power of 2 and at most a quarter "
              "of 128.0 MiB (-trace-memory, at most half of -memory-limit)"));
}

static void options_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    assert_int_equal(qprof_initialize("-trace-output=no/such/x.qtrace", NULL), QPROF_E_IO);
    assert_non_null(strstr(qprof_error_text(), "no/such/x.qtrace: its folder does not exist"));
    assert_true(mkdir("folder", 0700) == 0 || errno == EEXIST);
    assert_int_equal(qprof_initialize("-trace-output=folder", NULL), QPROF_E_IO);
    assert_non_null(strstr(qprof_error_text(), "/folder: exists, and is not a plain file"));
    assert_int_equal(qprof_initialize("-trace-mode=overwrite -trace-output=t.qtrace", NULL),
                     QPROF_E_OPTION);
    assert_string_equal(
        qprof_error_text(),
        "-trace-output and -trace-mode=overwrite cannot be combined (the latter "
        "keeps the trace in the profile)");
    assert_int_equal(qprof_initialize("-trace=t.qtrace -trace-output=t.qtrace", NULL),
                     QPROF_E_OPTION);
    assert_non_null(strstr(qprof_error_text(), "name the same file"));
    unlink("t.qtrace");
    assert_int_equal(qprof_initialize("-trace-output=%q", NULL), QPROF_E_OPTION);
    assert_int_equal(qprof_initialize("-trace-buffer=1K", NULL), QPROF_E_OPTION);
    assert_int_equal(qprof_initialize("-trace-output=t.qtrace", NULL), 0);
    qprof_shutdown();
    assert_true(play_file_exists("t.qtrace"));
}

static void a_stream_without_a_name_stands_beside_its_profile(void **state)
{
    play_ctx *p = *state;
    static const char *const names[][2] = {{"-output=x.qprof", "x.qtrace"},
                                           {"-output=x.prof", "x.prof.qtrace"},
                                           {"-output=.qprof", ".qtrace"}};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        char words[100];
        snprintf(words, sizeof words, "-trace-mode=stream %s", names[i][0]);
        play_begin(p, words);
        p->n_methods = 0;
        play(p, "main( 2 )");
        qprof_shutdown();
        traces *t = read_stream(names[i][1]);
        assert_int_equal(traces_count(t, QP_TRACE_ENTRY), 1);
        traces_free(t);
    }
}

static void what_a_ring_never_held_takes_no_disk(void **state)
{
    play_ctx *p = *state;
    struct stat st;
    play_begin(p, "-collect=profile,trace -trace-buffer=4M");
    play(p, "main( 5 f( 2 ) )");
    play_end(p);
    assert_int_equal(stat("run.qprof", &st), 0);
    assert_true(st.st_blocks * 512 < 512 * 1024);
}

static void a_file_without_an_owner_is_written_over(void **state)
{
    play_ctx *p = *state;
    FILE *f = fopen("t.qtrace", "w");
    fputs("precious", f);
    fclose(f);
    play_begin(p, "-trace-output=t.qtrace");
    play(p, "main( )");
    play_end(p);
    traces_free(read_stream("t.qtrace.1"));
    struct stat st;
    assert_int_equal(stat("t.qtrace", &st), 0);
    assert_int_equal(st.st_size, 8);
}

static void options_may_still_turn_it_on_before_the_first_entry(void **state)
{
    play_ctx *p = play_start(state, "");
    assert_int_equal(qprof_config_line("-trace-output=t.qtrace"), 0);
    play(p, "main( 2 )");
    play_end(p);
    traces *t = read_stream("t.qtrace");
    assert_trace(t, "0 @1 0 main( 2 )");
    traces_free(t);
}

/* The first run needs a second ring, whose records are not before those of the first one. */
static void times_of_a_run_follow_from_no_earlier_one(void **state)
{
    play_ctx *p = play_start(state, "-trace-output=t.qtrace -trace-buffer=16K");
    qprof_record_fn_entry(play_method(p, "main"), 1);
    record_calls(p, 50000);
    qprof_shutdown();
    unlink("t.qtrace");
    unlink("run.qprof");
    play_clock_set(1000000000);
    p->n_methods = 0;
    play_begin(p, "-trace-output=t.qtrace");
    play(p, "main( 2 )");
    play_end(p);
    traces *t = read_stream("t.qtrace");
    assert_trace(t, "0 @1 0 main( 2 )");
    traces_free(t);
}

static void each_run_has_its_trace(void **state)
{
    play_ctx *p = *state;
    for (unsigned i = 0; i < 3; i++) {
        play_clock_set(1000000000);
        play_begin(p, "-trace-output=t.qtrace");
        p->n_methods = 0;
        play(p, "main( 2 )");
        qprof_shutdown();
        traces *t = read_stream("t.qtrace");
        assert_trace(t, "0 @1 0 main( 2 )");
        traces_free(t);
        unlink("t.qtrace");
        unlink("run.qprof");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(calls_are_in_their_order),
        PLAY_TEST(a_trace_alone_has_a_call_tree_below_it),
        PLAY_TEST(adaptive_times_of_a_traced_run_are_exact),
        PLAY_TEST(runs_without_times_have_traces_with_times),
        PLAY_TEST(one_exit_of_several_frames_is_one_record),
        PLAY_TEST(frames_that_are_open_at_the_end_have_no_exit),
        PLAY_TEST(what_is_entered_while_recording_stands_is_left_out_with_its_exit),
        PLAY_TEST(a_stop_that_no_event_saw_is_there),
        PLAY_TEST(virtual_threads_are_switched),
        PLAY_TEST(a_thread_that_is_turned_while_it_is_parked_has_its_time),
        PLAY_TEST(callers_that_were_off_are_named_and_end_in_their_time),
        PLAY_TEST(a_thread_that_another_one_ends_takes_no_time),
        PLAY_TEST(a_row_that_is_used_again_says_whose_it_is),
        PLAY_TEST(marks_and_counters_are_there),
        PLAY_TEST(what_a_host_says_of_calls_is_there),
        PLAY_TEST(the_first_parameter_of_a_thread_is_that_of_its_first_call),
        PLAY_TEST(values_are_of_methods_whose_area_retrieves_them),
        PLAY_TEST(the_area_of_an_announced_call_retrieves_its_result),
        PLAY_TEST(a_return_is_there_if_its_call_is),
        PLAY_TEST(eleven_fields_are_ten_and_an_ellipsis),
        PLAY_TEST(long_values_are_cut_at_a_character),
        PLAY_TEST(interrupts_are_samples_on_the_timeline),
        PLAY_TEST(garbage_collection_is_a_call),
        PLAY_TEST(names_that_come_late_come_at_the_end),
        PLAY_TEST(a_ring_keeps_the_last_records),
        PLAY_TEST(a_dump_has_what_the_rings_have),
        PLAY_TEST(a_dump_begins_with_a_record_that_says_when_it_was),
        PLAY_TEST(a_dump_is_refused_where_there_is_nothing_to_dump),
        PLAY_TEST(a_dump_that_cannot_be_written_says_why),
        PLAY_TEST(a_stream_has_everything),
        PLAY_TEST(what_does_not_fit_a_stream_is_counted),
        PLAY_TEST(a_buffer_that_cannot_be_had_is_told),
        PLAY_TEST(a_buffer_that_can_be_had_is_given),
        PLAY_TEST(a_buffer_of_another_size_is_the_next_smaller),
        PLAY_TEST(options_that_make_no_sense_are_refused),
        PLAY_TEST(a_stream_without_a_name_stands_beside_its_profile),
        PLAY_TEST(what_a_ring_never_held_takes_no_disk),
        PLAY_TEST(a_file_without_an_owner_is_written_over),
        PLAY_TEST(options_may_still_turn_it_on_before_the_first_entry),
        PLAY_TEST(times_of_a_run_follow_from_no_earlier_one),
        PLAY_TEST(each_run_has_its_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
