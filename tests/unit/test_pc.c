/* test_pc.c tests record/sample/pc.c, samples.c and record/report/report.c through the interface:
 * what an interrupt is credited to, spec/sampling.md. Interrupts are made by qprof_pc_sample();
 * the timer of an hour makes none, others are in test_pc_timers.c. Methods without a class are
 * in the module of their file: score. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/play.h"

static void assert_procedure(play_ctx *p, const char *name, uint64_t shallow, uint64_t deep)
{
    uint64_t found_shallow = 77, found_deep = 77;
    assert_int_equal(qprof_pc_procedure(play_method(p, name), &found_shallow, &found_deep), 0);
    assert_int_equal(found_shallow, shallow);
    assert_int_equal(found_deep, deep);
}

static void assert_totals(uint64_t counted, uint64_t skipped, uint64_t critical,
                          uint64_t foreign)
{
    qprof_PcTotals t;
    assert_int_equal(qprof_pc_totals(&t), 0);
    assert_int_equal(t.counted, counted);
    assert_int_equal(t.skipped, skipped);
    assert_int_equal(t.critical, critical);
    assert_int_equal(t.foreign, foreign);
    assert_int_equal(t.occurred, counted + skipped);
}

/* ---- the command ------------------------------------------------------------------------- */

static void assert_command(const char *text, int kind, unsigned long interval)
{
    qprof_PcTotals t;
    assert_int_equal(qprof_pc_command(text, NULL), 0);
    assert_int_equal(qprof_pc_totals(&t), 0);
    assert_int_equal(t.kind, kind);
    assert_int_equal(t.interval, interval);
}

static void commands_have_parts_and_prefixes(void **state) /* sampling 1, 2, 3, 42 */
{
    play_start(state, "");
    assert_command("PC", QPROF_PC_VIRTUAL, 10000);
    assert_command("PC V 5000", QPROF_PC_VIRTUAL, 5000);
    assert_command("pc virtual 5000", QPROF_PC_VIRTUAL, 5000);
    assert_command("real", QPROF_PC_REAL, 10000);
    assert_command("pc r 2000 wh\n  (loader.read -> * | :cache.fill)\n -> * -> store.write ;",
                   QPROF_PC_REAL, 2000);
    assert_command("500000", QPROF_PC_VIRTUAL, 500000);
    assert_int_equal(qprof_pc_supported(), QPROF_PC_VIRTUAL | QPROF_PC_REAL | QPROF_PC_DEEP);
}

static void assert_refused(const char *text, int code, int column)
{
    int found = -1;
    assert_int_equal(qprof_pc_command(text, &found), code);
    assert_int_equal(found, column);
    assert_true(qprof_error_text()[0] != '\0');
}

static void mistakes_name_their_column(void **state) /* sampling 6, 16, 33 */
{
    play_start(state, "");
    assert_refused("PC REAL 0", QPROF_E_SYNTAX, 9);
    assert_refused("PC REAL -1", QPROF_E_SYNTAX, 9);
    assert_refused("PC REAL 1.5", QPROF_E_SYNTAX, 9);
    assert_refused("PC REAL soon", QPROF_E_SYNTAX, 9);
    assert_refused("PC 100 REAL", QPROF_E_SYNTAX, 8);
    assert_refused("PC WHEN m.a", QPROF_E_SYNTAX, 12);
    assert_refused("PC WHEN m.a-> ;", QPROF_E_SYNTAX, 15);
    assert_refused("PC WHEN m.a->", QPROF_E_SYNTAX, 14);
    assert_non_null(strstr(qprof_error_text(), "expected a name"));
    assert_refused("PC WHEN *: ;", QPROF_E_SYNTAX, 10);
    char *long_one = test_calloc(1, 100000);
    memset(long_one, 'x', 99999);
    memcpy(long_one, "WHEN ", 5);
    assert_refused(long_one, QPROF_E_LIMIT, 6);
    test_free(long_one);
    assert_int_equal(qprof_pc_command(NULL, NULL), QPROF_E_ARG);
    qprof_PcTotals t;
    assert_int_equal(qprof_pc_totals(&t), QPROF_E_STATE); /* none of them is in force */
    assert_int_equal(qprof_pc_sample(1), QPROF_E_STATE);
}

static void an_interval_that_is_too_short_is_raised_and_counted(void **state)
{
    play_ctx *p = *state;
    qprof_PcTotals t;
    play_begin(p, "-pc='REAL 10'");
    assert_int_equal(qprof_pc_totals(&t), 0);
    assert_int_equal(t.interval, 50);
    assert_int_equal(qprof_diagnostic("clamped_options"), 1);
    assert_int_equal(qprof_config_line("-program-name=other"), 0);
    assert_int_equal(qprof_diagnostic("clamped_options"), 1);
}

static void commands_come_before_the_first_entry(void **state) /* sampling 5 */
{
    play_ctx *p = *state;
    assert_int_equal(qprof_pc_command("PC", NULL), QPROF_E_STATE);
    play_begin(p, "");
    play(p, "f( )");
    assert_int_equal(qprof_pc_command("PC", NULL), QPROF_E_STATE);
}

/* ---- credit ------------------------------------------------------------------------------ */

static void play_seed_example(play_ctx *p, const char *options)
{
    play_begin(p, options);
    play(p, "a( b(");
    assert_int_equal(qprof_pc_sample(1), 0);
    play(p, ")");
    assert_int_equal(qprof_pc_sample(2), 0);
    play(p, ")");
}

static void the_seed_example_holds(void **state) /* sampling 7 */
{
    play_ctx *p = *state;
    play_seed_example(p, "-pc='REAL 3600000000'");
    assert_procedure(p, "a", 2, 3);
    assert_procedure(p, "b", 1, 1);
    assert_totals(3, 0, 0, 0);
}

static void samples_alone_credit_the_same(void **state)
{
    play_ctx *p = *state;
    play_seed_example(p, "-collect=samples -pc='REAL 3600000000'");
    assert_procedure(p, "a", 2, 3);
    assert_procedure(p, "b", 1, 1);
    assert_int_equal(qprof_wants() & QPROF_WANT_STACK, QPROF_WANT_STACK);
}

static void recursion_is_active_once(void **state) /* sampling 8, 10 */
{
    play_ctx *p = play_start(state, "-collect=samples -pc='REAL 3600000000'");
    play(p, "a( b( a( a(");
    qprof_pc_sample(5);
    play(p, ") ) ) )");
    assert_procedure(p, "a", 5, 5);
    assert_procedure(p, "b", 0, 5);
}

static void foreign_code_is_not_charged(void **state) /* sampling 9, 11, 35 */
{
    play_ctx *p = play_start(state, "-pc='REAL 3600000000'");
    qprof_pc_sample(4); /* empty stack */
    play(p, "a(");
    qprof_record_fn_entry(QPROF_METHOD_NATIVE, 999);
    qprof_pc_sample(3);
    play(p, ". )");
    assert_procedure(p, "a", 0, 3);
    assert_totals(7, 0, 0, 7);
}

static void critical_sections_charge_no_method(void **state) /* sampling 13, 44 */
{
    play_ctx *p = play_start(state, "-pc='REAL 3600000000 WHEN score.b;' -pc-critical=gc");
    play(p, "a(");
    qprof_pc_enter_critical();
    qprof_pc_enter_critical();
    qprof_pc_leave_critical();
    qprof_pc_sample(2);
    qprof_pc_leave_critical();
    qprof_pc_leave_critical(); /* one too many */
    qprof_pc_sample(1);
    qprof_record_fn_entry(QPROF_METHOD_GC, 999);
    qprof_pc_sample(4);
    play(p, "$");
    assert_totals(6, 1, 6, 0);
    assert_procedure(p, "a", 0, 0);
}

static void a_pattern_chooses_and_charges(void **state) /* sampling 26, 31 */
{
    play_ctx *p = play_start(state, "-pc='REAL 3600000000 WHEN score.b:->*;'");
    play(p, "a( b( c(");
    qprof_pc_sample(3);
    play(p, ") ) c(");
    qprof_pc_sample(2);
    play(p, ") )");
    assert_procedure(p, "a", 0, 3);
    assert_procedure(p, "b", 3, 3);
    assert_procedure(p, "c", 0, 0);
    assert_totals(3, 2, 0, 0);
}

static void a_stopped_recording_has_no_interrupts(void **state) /* sampling 39 */
{
    play_ctx *p = play_start(state, "-pc='REAL 3600000000'");
    play(p, "a(");
    qprof_stop_recording();
    qprof_pc_sample(3);
    qprof_start_recording();
    qprof_pc_sample(1);
    assert_totals(1, 0, 0, 0);
    qprof_clear_data();
    assert_totals(0, 0, 0, 0);
    qprof_pc_sample(2);
    play(p, ")");
    assert_procedure(p, "a", 2, 2);
}

/* Neither closed by the gate, nor off by a trigger: an expiry has not even occurred. */
static void where_nothing_is_recorded_there_are_no_interrupts(void **state) /* sampling 39 */
{
    play_ctx *p = play_start(state, "-pc='REAL 3600000000'");
    qprof_trigger *t = qprof_trigger_create("off", QPROF_TRIGGER_OFF);
    qprof_trigger_add_routine(t, "quiet", 1);
    play(p, "a(");
    qprof_pc_sample(1);
    qprof_enable_profiling(0);
    qprof_pc_sample(3);
    qprof_enable_profiling(1);
    assert_totals(1, 0, 0, 0);
    play(p, "quiet( b(");
    qprof_pc_sample(5);
    play(p, ") )");
    assert_totals(1, 0, 0, 0);
    qprof_pc_sample(2);
    play(p, ")");
    assert_totals(3, 0, 0, 0);
    assert_procedure(p, "a", 3, 3);
    assert_procedure(p, "quiet", 0, 0);
    assert_procedure(p, "b", 0, 0);
}

static void deep_stacks_are_looked_up_once(void **state)
{
    play_ctx *p = play_start(state, "-collect=samples -pc='REAL 3600000000'");
    for (int i = 0; i < 3000; i++)
        play(p, i % 2 ? "b(" : "a(");
    qprof_pc_sample(1);
    play(p, ") a(");
    qprof_pc_sample(1);
    for (int i = 0; i < 2900; i++)
        play(p, ")");
    qprof_pc_sample(1);
    play(p, "b(");
    qprof_pc_sample(1);
    play(p, "$");
    assert_procedure(p, "a", 1, 4);
    assert_procedure(p, "b", 3, 4);
}

/* ---- the report -------------------------------------------------------------------------- */

static void the_report_has_two_orders_and_a_summary(void **state) /* sampling 14, 15 */
{
    play_ctx *p = *state;
    char text[4096];
    play_begin(p, "-pc='VIRTUAL 3600000000'");
    play(p, "a( b(");
    qprof_pc_sample(2);
    play(p, ") c(");
    qprof_pc_sample(6);
    play(p, ") d( ) )");
    qprof_pc_sample(2); /* foreign */
    assert_int_equal(qprof_pc_list("report.txt"), 0);
    FILE *f = fopen("report.txt", "r");
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    const char *shallow = strstr(text, "By shallow"), *deep = strstr(text, "By deep");
    assert_true(shallow && deep && shallow < deep);
    const char *c = strstr(shallow, "c    "), *b = strstr(shallow, "b    ");
    const char *foreign = strstr(shallow, "foreignPcs");
    assert_true(c < b && c < foreign && foreign < deep);
    assert_non_null(strstr(shallow, " 6  60.0%          6  60.0%"));
    assert_non_null(strstr(deep, " 0   0.0%          8  80.0%")); /* a */
    assert_null(strstr(text, "d    "));
    assert_non_null(strstr(text, "10 occurred, 10 counted, 0 skipped, 0 in critical sections, "
                                 "2 foreign"));
}

/* ---- configuration files ----------------------------------------------------------------- */

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    fputs(text, f);
    fclose(f);
}

static void a_command_in_a_file_ends_where_it_says(void **state)
{
    play_start(state, "");
    write_file("line.cfg", "PC REAL 1000   # what we want\n-program-name=named\n");
    assert_int_equal(qprof_load_config("line.cfg"), 0);
    assert_string_equal((const char *)qprof_get_option("program-name"), "named");
    write_file("pattern.cfg", "pc v WHEN # of the loader\n \"a#;b\".f\n -> * ; # all\n"
                              "-program-name=other\n");
    assert_int_equal(qprof_load_config("pattern.cfg"), 0);
    assert_string_equal((const char *)qprof_get_option("program-name"), "other");
    write_file("bad.cfg", "pc v WHEN a.b\n-program-name=third\n");
    assert_int_equal(qprof_load_config("bad.cfg"), QPROF_E_SYNTAX);
    assert_string_equal((const char *)qprof_get_option("program-name"), "other");
}

/* Called directly by main: g and h, which is called by g. Area: all but g. */
static void play_areas(play_ctx *p, const char *options)
{
    play_begin(p, options);
    assert_int_equal(qprof_pc_command("REAL 3600000000", NULL), 0);
    qprof_area *a = qprof_area_create("noise", QPROF_AREA_EXCLUDE, QPROF_LEVEL_ROUTINES);
    assert_non_null(a);
    assert_int_equal(qprof_area_add_method(a, play_method(p, "g"), 1), 0);
    play(p, "main( 1 g( 2 ");
    assert_int_equal(qprof_pc_sample(3), 0);
    play(p, "h( 4 ");
    assert_int_equal(qprof_pc_sample(5), 0);
    play(p, ") ");
    assert_int_equal(qprof_pc_sample(1), 0);
}

static void areas_are_not_consulted(void **state)
{
    play_ctx *p = *state;
    play_areas(p, "");
    assert_procedure(p, "main", 0, 9);
    assert_procedure(p, "g", 4, 9);
    assert_procedure(p, "h", 5, 5);
    play(p, ") h( 1 ) )");
    play_end(p);
    assert_flat(p, "main", 1, 8, 3); /* times and calls are those of the areas */
    assert_flat(p, "h", 2, 5, 5);
    assert_flat(p, "g", 0, 0, 0);
}

static void areas_can_be_consulted(void **state)
{
    play_ctx *p = *state;
    play_areas(p, "-samples-in-areas");
    assert_procedure(p, "main", 4, 9);
    assert_procedure(p, "g", 0, 0);
    assert_procedure(p, "h", 5, 5);
}

static void patterns_can_be_used_without_a_run(void **state)
{
    (void)state;
    static const char *const frames[] = {"u.main", "$arymod.newarrayn",
                                         "$arymod.$findarraydscr"};
    int column = -1, charged = -7;
    qprof_PcPattern *pattern = qprof_pc_pattern_compile(":$arymod.$findarraydscr", &column);
    assert_non_null(pattern);
    assert_int_equal(column, 0);
    assert_int_equal(qprof_pc_pattern_match(pattern, frames, 3, &charged), 1);
    assert_int_equal(charged, 1);
    charged = -7;
    assert_int_equal(qprof_pc_pattern_match(pattern, frames, 2, &charged), 0);
    assert_int_equal(charged, -7);
    assert_int_equal(qprof_pc_pattern_match(NULL, frames, 2, &charged), QPROF_E_ARG);
    qprof_pc_pattern_free(pattern);
    qprof_pc_pattern_free(NULL);
    assert_null(qprof_pc_pattern_compile("m.a->(", &column));
    assert_int_equal(column, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(commands_have_parts_and_prefixes),
        PLAY_TEST(mistakes_name_their_column),
        PLAY_TEST(an_interval_that_is_too_short_is_raised_and_counted),
        PLAY_TEST(commands_come_before_the_first_entry),
        PLAY_TEST(the_seed_example_holds),
        PLAY_TEST(samples_alone_credit_the_same),
        PLAY_TEST(recursion_is_active_once),
        PLAY_TEST(foreign_code_is_not_charged),
        PLAY_TEST(critical_sections_charge_no_method),
        PLAY_TEST(a_pattern_chooses_and_charges),
        PLAY_TEST(a_stopped_recording_has_no_interrupts),
        PLAY_TEST(where_nothing_is_recorded_there_are_no_interrupts),
        PLAY_TEST(deep_stacks_are_looked_up_once),
        PLAY_TEST(the_report_has_two_orders_and_a_summary),
        PLAY_TEST(a_command_in_a_file_ends_where_it_says),
        PLAY_TEST(areas_are_not_consulted),
        PLAY_TEST(areas_can_be_consulted),
        PLAY_TEST(patterns_can_be_used_without_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
