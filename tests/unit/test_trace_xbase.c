/* test_trace_xbase.c tests record/trace_xbase*.c through the interface: what comes into a .PRF
 * file, under a fake clock. The rules of filter and files: test_xbase_*.c. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "qprof.h"
#include "unit/play.h"
#include "xbase/xbase.h"

enum { MS = 1000000, TEXT = 4096 };

/* The rows of a file as words: [THREAD:]OP CALL @TIME /LINE (PARAMS), what is 0 or empty left
 * out. */
static const char *rows(const char *path)
{
    static qp_prf_reader reader;
    static char text[TEXT];
    const char *why;
    qp_prf_row row;
    size_t n = 0;
    text[0] = '\0';
    if (!qp_prf_reader_open(&reader, path, &why))
        return why;
    while (qp_prf_reader_next(&reader, &row) && n < TEXT - 128) {
        n += (size_t)snprintf(text + n, TEXT - n, "%s", n ? " " : "");
        if (row.thread != 1)
            n += (size_t)snprintf(text + n, TEXT - n, "%u:", row.thread);
        n += (size_t)snprintf(text + n, TEXT - n, "%c%.*s", row.op, (int)row.call_bytes,
                              row.call);
        if (row.time_ms)
            n += (size_t)snprintf(text + n, TEXT - n, "@%u", (unsigned)row.time_ms);
        if (row.line)
            n += (size_t)snprintf(text + n, TEXT - n, "/%u", row.line);
        if (row.params_bytes)
            n += (size_t)snprintf(text + n, TEXT - n, "(%.*s)", (int)row.params_bytes,
                                  row.params);
    }
    assert_int_equal(reader.n_damaged, 0);
    qp_prf_reader_close(&reader);
    return text;
}

static void register_method(qprof_MethodID id, const char *name, const char *class_name)
{
    static const qprof_LineInfo lines[] = {{0, 10}, {4, 11}, {8, 15}};
    qprof_register_method_id(id, name, class_name, 0, "a.prg", lines, 3);
}

static void call(qprof_MethodID id, int line)
{
    qprof_trace_call(id, line);
    qprof_trace_return(id, line);
}

/* ---- what is recorded -------------------------------------------------------------------- */

static void calls_have_their_times_and_order(void **state) /* trace 2, 6 */
{
    play_run(state, "-trace=T.PRF", "main( 5000000 f( 2000000 ) f( 3999999 ) 1 )");
    assert_string_equal(rows("T.PRF"), "Imain If@5 Of@7 If@7 Of@10 Omain@11");
}

static void an_exit_over_two_frames_writes_no_return(void **state) /* trace 8, 9 */
{
    play_run(state, "-trace=T.PRF", "main( sub( sub2( ^main f( ) )");
    assert_string_equal(rows("T.PRF"), "Imain Isub Isub2 If Of Omain");
}

static void frames_that_the_end_closes_have_no_return(void **state)
{
    play_ctx *p = play_run(state, "-trace=T.PRF", "main( f( ) g( ");
    assert_string_equal(rows("T.PRF"), "Imain If Of Ig");
    play_begin(p, "-trace=T.PRF");
    play(p, "main( ");
    play_end(p);
    assert_string_equal(rows("T.PRF"), "Imain");
}

static void virtual_threads_are_told_apart(void **state) /* trace 7 */
{
    play_ctx *p = *state;
    play_begin_vt(p, "-trace=T.PRF");
    play(p, "@a main( f( @b main( @a ) @b g( @a g( ) ) @b ) )");
    play_end(p);
    const char *got = rows("T.PRF");
    char a[16] = "", b[16], expected[256];
    unsigned first = (unsigned)strtoul(got, NULL, 10);
    if (first)
        snprintf(a, sizeof a, "%u:", first);
    first = first ? first : 1; /* which is not written */
    snprintf(b, sizeof b, "%u:", first + 1);
    snprintf(expected, sizeof expected,
             "%sImain %sIf %sImain %sOf %sIg %sIg %sOg %sOmain %sOg %sOmain", a, a, b, a, b, a,
             a, a, b, b);
    assert_string_equal(got, expected);
}

static void callees_without_hooks_are_known_by_their_callers(void **state) /* trace 3, 5, 30 */
{
    (void)state;
    qprof_initialize("-output=run.qprof -trace=T.PRF", NULL);
    register_method(1, "MAIN", NULL);
    register_method(2, "LEN", NULL);
    register_method(3, "CB", "Log");
    qprof_record_fn_entry(1, 100);
    call(2, 12);
    qprof_trace_call(2, 13);
    qprof_record_fn_entry(3, 101);
    qprof_trace_line(77);
    qprof_record_fn_exit(100);
    qprof_trace_return(2, 14);
    assert_int_equal(qprof_trace_set("timeline", "0"), QPROF_E_STATE);
    assert_int_equal(qprof_trace_set("builtins", "0"), 0);
    call(2, 15);
    assert_int_equal(qprof_trace_set("BUILTINS", "1"), 0);
    assert_int_equal(qprof_trace_set("OperationMode", "4105"), 0);
    call(2, 16);
    qprof_record_fn_exit(0);
    qprof_shutdown();
    char text[TEXT], *to = text;
    for (const char *at = rows("T.PRF"); *at; at++) /* without times, which are real */
        if (*at == '@')
            at += strspn(at + 1, "0123456789");
        else
            *to++ = *at;
    *to = '\0';
    assert_string_equal(text, "IMAIN/10 ILEN/12 OLEN/12 ILEN/13 ILog.CB/10 OLog.CB/77 OLEN/14 "
                              "iLEN/16 oLEN/16 OMAIN/10");
}

static void blocks_say_where_a_frame_is(void **state)
{
    (void)state;
    qprof_initialize("-output=run.qprof -trace=T.PRF", NULL);
    assert_int_equal(qprof_trace_stop(), 0);
    assert_int_equal(qprof_trace_set("TIMELINE", "0"), 0);
    assert_int_equal(qprof_trace_start("T.PRF"), 0);
    register_method(1, "MAIN", NULL);
    qprof_record_fn_entry(1, 100);
    qprof_record_bb_counts(0, 1);
    qprof_record_bb_counts(2, 1);
    qprof_record_bb_counts(99, 1);
    qprof_record_fn_exit(0);
    qprof_shutdown();
    assert_string_equal(rows("T.PRF"), "IMAIN/10 OMAIN/15");
}

static void values_are_those_of_the_next_entry_and_return(void **state) /* trace 13 */
{
    (void)state;
    qprof_initialize("-output=run.qprof", NULL);
    assert_int_equal(qprof_wants() & (QPROF_WANT_TRACE | QPROF_WANT_PARAMETERS), 0);
    assert_int_equal(qprof_trace_set("PARAMLIST", "1"), 0);
    assert_int_equal(qprof_trace_set("TIMELINE", "0"), 0);
    assert_int_equal(qprof_trace_set("LINENUMBERS", "0"), 0);
    assert_int_equal(qprof_trace_start("V.PRF"), 0);
    assert_int_equal(qprof_wants() & (QPROF_WANT_TRACE | QPROF_WANT_PARAMETERS),
                     QPROF_WANT_TRACE | QPROF_WANT_PARAMETERS);
    register_method(1, "MAIN", NULL);
    register_method(2, "LEN", NULL);
    qprof_trace_parameter(1, "N", "17", "count");
    qprof_trace_parameter(2, "C", "a longer text of more than fifteen bytes", NULL);
    qprof_record_fn_entry(1, 100);
    qprof_trace_parameter(1, NULL, NULL, NULL);
    qprof_trace_parameter(0, "N", "no parameter", NULL);
    qprof_trace_call(2, 1);
    qprof_trace_result("N", "3");
    qprof_trace_return(2, 1);
    qprof_trace_result("L", ".T.");
    qprof_record_fn_exit(0);
    qprof_shutdown();
    assert_string_equal(rows("V.PRF"),
                        "IMAIN(17, a longer text of more than fifteen bytes) ILEN OLEN(3) "
                        "OMAIN(.T.)");
}

static void what_the_gate_keeps_out_has_neither_entry_nor_return(void **state) /* trace 32 */
{
    play_ctx *p = play_start(state, "-trace=T.PRF");
    play(p, "main( 1 ");
    qprof_stop_recording();
    play(p, "f( g( ");
    qprof_start_recording();
    play(p, "h( ) ) ) k( ) )");
    play_end(p);
    assert_string_equal(rows("T.PRF"), "Imain Ih Oh Ik Ok Omain");
}

static void a_call_that_outlives_recording_has_its_return(void **state)
{
    play_ctx *p = play_start(state, "-trace=T.PRF");
    qprof_MethodID len = play_method(p, "len");
    play(p, "main( ");
    qprof_trace_call(len, 0);
    qprof_stop_recording();
    qprof_trace_return(len, 0); /* its call is in the trace ... */
    call(len, 0);               /* ... that of this one is not */
    play(p, "f( ");
    call(len, 0);
    play(p, ") )");
    play_end(p);
    assert_string_equal(rows("T.PRF"), "Imain Ilen Olen Omain");
}

/* The call that is made while recording is off has the name of the one around it. */
static void a_recursive_call_that_is_off_takes_no_return(void **state)
{
    play_ctx *p = play_start(state, "-trace=T.PRF");
    qprof_MethodID len = play_method(p, "len");
    play(p, "main( ");
    qprof_trace_call(len, 0);
    qprof_stop_recording();
    play_clock_add(2 * MS);
    call(len, 0);
    qprof_trace_call(len, 0);
    qprof_start_recording();
    play_clock_add(3 * MS);
    qprof_trace_return(len, 0);
    play_clock_add(4 * MS);
    qprof_trace_return(len, 0);
    play(p, ")");
    play_end(p);
    assert_string_equal(rows("T.PRF"), "Imain Ilen Olen@9 Omain@9");
}

static void a_clock_that_falls_or_pauses_loses_no_record(void **state)
{
    play_ctx *p = play_start(state, "-trace=T.PRF");
    play(p, "main( 5000000 f( 5000000 ) ");
    play_clock_set(play_clock() - 9 * MS); /* to 1 ms */
    play(p, "g( ) h( 3000000 ) ");
    assert_int_equal(qprof_trace_flush(), 0);
    play(p, "k( ) )");
    play_end(p);
    assert_string_equal(rows("T.PRF"), "Imain If@5 Of@10 Ig@10 Og@10 Ih@10 Oh@10 Ik@10 Ok@10 "
                                       "Omain@10");
}

static uint32_t turn; /* of a relay */

/* Enter every other method of 1 to 6 as virtual thread 7, when it is its turn; then leave them. */
static void *enter_in_turn(void *parity)
{
    for (uint32_t i = 0; i < 12; i++) {
        uintptr_t id = i < 6 ? i + 1 : 12 - i;
        if ((i & 1) != (uintptr_t)parity)
            continue;
        while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != i)
            sched_yield();
        if (i < 6)
            qprof_record_fn_entry_vt(id, id, 7);
        else
            qprof_record_fn_exit_vt(id - 1, 7);
        __atomic_store_n(&turn, i + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void a_virtual_thread_moves_while_the_clock_pauses(void **state)
{
    pthread_t both[2];
    play_begin_vt(*state, "-trace=T.PRF");
    for (uintptr_t id = 1; id <= 6; id++) {
        char name[2] = {(char)('a' + id - 1), '\0'};
        register_method(id, name, NULL);
    }
    turn = 0;
    for (uintptr_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&both[i], NULL, enter_in_turn, (void *)i), 0);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(both[i], NULL);
    play_end(*state);
    assert_string_equal(rows("T.PRF"), "Ia/10 Ib/10 Ic/10 Id/10 Ie/10 If/10 Of/10 Oe/10 Od/10 "
                                       "Oc/10 Ob/10 Oa/10");
}

static void a_trace_may_begin_in_the_middle(void **state)
{
    play_ctx *p = play_start(state, "");
    play(p, "main( f( ");
    assert_int_equal(qprof_trace_start("A.PRF"), 0);
    assert_int_equal(qprof_trace_start("B.PRF"), QPROF_E_STATE);
    play(p, "g( ) ) h( ");
    assert_int_equal(qprof_trace_stop(), 0);
    assert_int_equal(qprof_trace_stop(), QPROF_E_STATE);
    play(p, ") ");
    assert_int_equal(qprof_trace_start("B.PRF"), 0);
    play(p, "k( ) )");
    play_end(p);
    assert_string_equal(rows("A.PRF"), "Ig Og Ih");
    assert_string_equal(rows("B.PRF"), "Ik Ok");
}

/* ---- while the program runs -------------------------------------------------------------- */

static void another_process_reads_what_is_flushed(void **state) /* trace 16 */
{
    play_ctx *p = *state;
    int status;
    play_begin(p, "");
    assert_int_equal(qprof_trace_set("OPERATIONMODE", "1025"), 0);
    assert_int_equal(qprof_trace_set("OUTFLUSHEVERY", "2"), 0);
    assert_int_equal(qprof_trace_start("T.PRF"), 0);
    play(p, "main( f( ) ");
    assert_int_equal(qprof_trace_flush(), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(strcmp(rows("T.PRF"), "Imain If Of") == 0 ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    play(p, ")");
    play_end(p);
    assert_string_equal(rows("T.PRF"), "Imain If Of Omain");
}

static void a_child_keeps_off_the_file_of_its_parent(void **state)
{
    play_ctx *p = *state;
    int status;
    for (unsigned follows = 0; follows < 1 + PLAY_CHILD_MAY_START_THREADS; follows++) {
        char path[64];
        play_begin(p, follows ? "-trace=T.PRF -follow-child-processes=yes" : "-trace=T.PRF");
        play(p, "main( ");
        pid_t child = fork();
        if (child == 0) {
            register_method(9, "child", NULL);
            qprof_record_fn_entry(9, 0x6000);
            qprof_record_fn_exit((uintptr_t)p->first_id); /* to main, which is open */
            qprof_shutdown();
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        play(p, ")");
        play_end(p);
        assert_string_equal(rows("T.PRF"), "Imain Omain");
        snprintf(path, sizeof path, "T.%d.PRF", (int)child);
        assert_int_equal(access(path, F_OK) == 0, follows);
        if (follows)
            assert_string_equal(rows(path), "Ichild/10 Ochild/10");
        unlink("run.qprof");
    }
}

static void a_removed_folder_ends_the_trace_and_nothing_else(void **state)
{
    play_ctx *p = *state;
    assert_int_equal(mkdir("d", 0700), 0);
    play_begin(p, "-log-file=log");
    assert_int_equal(qprof_trace_set("OPERATIONMODE", "3073"), 0);
    assert_int_equal(qprof_trace_set("OUTFLUSHEVERY", "1"), 0);
    assert_int_equal(qprof_trace_start("d/T.PRF"), 0);
    play(p, "main( f( ) ");
    assert_int_equal(qprof_trace_flush(), 0);
    assert_int_equal(system("rm -r d"), 0);
    play(p, "f( ) f( ) ");
    assert_int_equal(qprof_trace_stop(), QPROF_E_IO);
    assert_non_null(strstr(qprof_error_text(), "No such file or directory"));
    assert_int_equal(qprof_trace_start("T.PRF"), 0);
    play(p, "f( ) )");
    play_end(p);
    assert_string_equal(rows("T.PRF"), "If Of");
    assert_flat(p, "f", 4, 0, 0);
    char line[512] = "";
    FILE *log = fopen("log", "r");
    assert_non_null(log);
    assert_non_null(fgets(line, sizeof line, log));
    assert_non_null(strstr(line, "d/T.PRF"));
    assert_non_null(strstr(line, "the trace ends after 3 entries"));
    assert_null(fgets(line, sizeof line, log)); /* once */
    fclose(log);
}

static void a_full_disk_ends_the_trace_with_a_whole_record(void **state)
{
    play_ctx *p = *state;
    struct rlimit before, small;
    play_begin(p, "-log-file=log");
    assert_int_equal(qprof_trace_start("T.PRF"), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 456 + 3 * 87 + 50; /* room for three records of 1 + 5 + 8 + 1 + 64 + 8 */
    play(p, "main( f( ) f( ) ");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0); /* SIGXFSZ would end the process */
    int flushed = qprof_trace_flush(), stopped = qprof_trace_stop();
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(flushed, QPROF_E_IO);
    assert_int_equal(stopped, QPROF_E_IO);
    play(p, "f( ) )");
    play_end(p);
    assert_string_equal(rows("T.PRF"), "Imain If Of");
    assert_flat(p, "f", 3, 0, 0);
}

/* ---- settings ---------------------------------------------------------------------------- */

static void settings_are_refused_with_the_reason(void **state) /* trace 23, 35 */
{
    play_ctx *p = *state;
    assert_int_equal(qprof_trace_set("TIMELINE", "0"), QPROF_E_STATE);
    assert_null(qprof_trace_get("TIMELINE"));
    assert_int_equal(qprof_trace_start("T.PRF"), QPROF_E_STATE);
    play_begin(p, "-log-file=log");
    assert_int_equal(qprof_trace_set("COLOR", "0"), QPROF_E_NOTFOUND);
    assert_int_equal(qprof_trace_set(NULL, "0"), QPROF_E_ARG);
    assert_int_equal(qprof_trace_set("TIMELINE", NULL), QPROF_E_ARG);
    assert_int_equal(qprof_trace_set("OUTFLUSHEVERY", "0"), QPROF_E_OPTION);
    assert_string_equal(qprof_error_text(), "OUTFLUSHEVERY=0: a number from 1 on is expected");
    assert_int_equal(qprof_config_line("trace SYMBOLSIZE=7 SYMBOLSIZE=300"), QPROF_E_SYNTAX);
    assert_string_equal(qprof_trace_get("symbolsize"), "64");
    assert_int_equal(qprof_trace_load("none.pri"), QPROF_E_IO);
    assert_int_equal(system("printf 'COLOR=1\\n\\nno value\\n' >bad.pri"), 0);
    assert_int_equal(qprof_trace_load("bad.pri"), QPROF_E_SYNTAX);
    assert_string_equal(qprof_error_text(), "bad.pri:3: KEY=VALUE is expected");
    assert_int_equal(qprof_config_line("  pri bad.pri"), QPROF_E_SYNTAX);
    assert_string_equal(qprof_error_text(), "column 7: bad.pri:3: KEY=VALUE is expected");
    assert_int_equal(qprof_trace_save("none/none.pri"), QPROF_E_IO);
    assert_int_equal(qprof_trace_start("none/T.PRF"), QPROF_E_IO);
    assert_int_equal(qprof_trace_start("%y.PRF"), QPROF_E_OPTION);
    assert_int_equal(qprof_trace_flush(), QPROF_E_STATE);
    assert_int_equal(qprof_trace_start(NULL), 0);
    static const char *const layout[][2] = {{"HUMANREADABLE", "1"}, {"SYMBOLSIZE", "5"},
                                            {"PARAMLIST", "1"},     {"TIMELINE", "0"},
                                            {"LINENUMBERS", "0"},   {"OPERATIONMODE", "2049"}};
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(qprof_trace_set(layout[i][0], layout[i][1]), QPROF_E_STATE);
    assert_int_equal(qprof_trace_set("OPERATIONMODE", "17"), 0); /* 16 is unknown */
    assert_int_equal(qprof_trace_set("OPERATIONMODE", "17"), 0);
    play(p, "main( )");
    play_end(p);
    assert_int_equal(system("test $(grep -c 'OPERATIONMODE=17: unknown bits 16' log) -eq 1"),
                     0);
    assert_int_equal(system("ls *.PRF >list && test $(wc -l <list) -eq 1"), 0);
}

static void a_file_of_settings_goes_round(void **state) /* trace 25 */
{
    play_ctx *p = *state;
    assert_int_equal(system("printf '; mine\\nCOLOR=blue\\nSYMBOLSIZE=3\\n' >in.pri && "
                            "printf 'trace SYMBOLSIZE=9 TIMELINE=0\\npri in.pri\\n"
                            "trace LINENUMBERS=0 EXCLUDESYMBOL=\"a,b c\"\\n' >c.conf"),
                     0);
    play_begin(p, "-config=c.conf");
    assert_string_equal(qprof_trace_get("SYMBOLSIZE"), "3");
    assert_string_equal(qprof_trace_get("EXCLUDESYMBOL"), "a,b c");
    assert_int_equal(qprof_trace_save("out.pri"), 0);
    assert_int_equal(system("head -3 out.pri | tr -d '\\r' | tr '\\n' '|' >got; "
                            "printf '; mine|COLOR=blue|SYMBOLSIZE=3|' | cmp - got && "
                            "grep -q '^TIMELINE=0' out.pri && test $(wc -l <out.pri) -eq 15"),
                     0);
    play(p, "main( )");
    play_end(p);
    play_begin(p, ""); /* of another run: defaults */
    assert_string_equal(qprof_trace_get("SYMBOLSIZE"), "64");
    play(p, "main( )");
    play_end(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(calls_have_their_times_and_order),
        PLAY_TEST(an_exit_over_two_frames_writes_no_return),
        PLAY_TEST(frames_that_the_end_closes_have_no_return),
        PLAY_TEST(virtual_threads_are_told_apart),
        PLAY_TEST(callees_without_hooks_are_known_by_their_callers),
        PLAY_TEST(blocks_say_where_a_frame_is),
        PLAY_TEST(values_are_those_of_the_next_entry_and_return),
        PLAY_TEST(what_the_gate_keeps_out_has_neither_entry_nor_return),
        PLAY_TEST(a_call_that_outlives_recording_has_its_return),
        PLAY_TEST(a_recursive_call_that_is_off_takes_no_return),
        PLAY_TEST(a_clock_that_falls_or_pauses_loses_no_record),
        PLAY_TEST(a_virtual_thread_moves_while_the_clock_pauses),
        PLAY_TEST(a_trace_may_begin_in_the_middle),
        PLAY_TEST(another_process_reads_what_is_flushed),
        PLAY_TEST(a_child_keeps_off_the_file_of_its_parent),
        PLAY_TEST(a_removed_folder_ends_the_trace_and_nothing_else),
        PLAY_TEST(a_full_disk_ends_the_trace_with_a_whole_record),
        PLAY_TEST(settings_are_refused_with_the_reason),
        PLAY_TEST(a_file_of_settings_goes_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
