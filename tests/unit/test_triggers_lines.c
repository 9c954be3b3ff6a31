/* test_triggers_lines.c: what is made by lines of a configuration is what calls make: triggers
 * 25 and 52 of the checklist. */
#include <stdio.h>
#include <string.h>

#include "play.h"

static void trigger(const char *name, int type, unsigned long pass, unsigned long work,
                    int cycling, int all, const char *routine)
{
    qprof_trigger *t = qprof_trigger_create(name, type);
    qprof_trigger_set_pass(t, pass);
    qprof_trigger_set_work(t, work);
    qprof_trigger_set_cycling(t, cycling);
    qprof_trigger_set_all_threads(t, all);
    assert_int_equal(qprof_trigger_add_routine(t, routine, 1), 0);
}

static void area(const char *name, int mode, int level, int kind, const char *element)
{
    qprof_area *a = qprof_area_create(name, mode, level);
    assert_int_equal(qprof_area_add(a, kind, element, 1), 0);
}

static void begin_off(void)
{
    qprof_trigger_initial_status(0);
    trigger("t", QPROF_TRIGGER_ON, 0, 0, 0, 0, "b");
}

static void cycle(void)
{
    trigger("t", QPROF_TRIGGER_OFF, 1, 2, 1, 0, "c");
    qprof_trigger_add_routine(qprof_trigger_find("t"), "b", 0);
}

static void count_all(void)
{
    trigger("t", QPROF_TRIGGER_OFF, 3, 1, 0, 1, "c");
}

static void leave_unchecked(void)
{
    trigger("t", QPROF_TRIGGER_OFF, 0, 0, 0, 0, "b");
    qprof_trigger_set_checked(qprof_trigger_find("t"), 0);
}

static void stop_and_go(void)
{
    qprof_action *stop = qprof_action_create("stop", QPROF_ACTION_DISABLE, QPROF_ON_EXIT);
    qprof_action *go = qprof_action_create("go", QPROF_ACTION_ENABLE, QPROF_ON_ENTER);
    qprof_action_add_routine(stop, "b", 1);
    qprof_action_add_routine(go, "d", 1);
}

static void clear(void)
{
    qprof_action *a = qprof_action_create("z", QPROF_ACTION_CLEAR_RESULTS, QPROF_ON_ENTER);
    qprof_action_add_routine(a, "d", 1);
}

static void close_gate(void)
{
    qprof_enable_profiling(0);
}

static void exclude(void)
{
    area("not", QPROF_AREA_EXCLUDE, 0, QPROF_ELEM_ROUTINE, "b");
}

static void include(void)
{
    area("some", QPROF_AREA_INCLUDE, QPROF_LEVEL_ROUTINES, QPROF_ELEM_ROUTINE, "c");
    qprof_area_add(qprof_area_find("some"), QPROF_ELEM_ROUTINE, "b", 0);
}

static void include_nothing(void)
{
    qprof_area_set_checked(qprof_area_find("all-lines"), 0);
}

static void include_by_pattern(void)
{
    area("some", QPROF_AREA_INCLUDE, QPROF_LEVEL_LINES, QPROF_ELEM_ROUTINE, "regex:^[ad]$");
}

/* Figures of a to d after the score, by hand: hits+skips/self of each that has any. */
static const struct {
    const char *lines;
    void (*calls)(void);
    const char *figures;
} rows[] = {
    {"initial-status off\ntrigger t on : b", begin_off, "a0+1/0 b2+0/6 c2+1/16 d0+1/0"},
    {"trigger t off pass=1 work=2 cycling=yes : c !b", cycle, "a1+0/1 b2+0/6 c1+2/8 d1+0/64"},
    {"trigger t off pass=3 work=1 all-threads=yes : c", count_all,
     "a1+0/1 b2+0/6 c3+0/48 d1+0/64"},
    {"trigger t off checked=no : b", leave_unchecked, "a1+0/1 b2+0/6 c3+0/48 d1+0/64"},
    {"action stop disable exit : b\naction go enable enter : d", stop_and_go,
     "a1+0/1 b1+1/2 c1+2/8 d1+0/64"},
    {"action z clear-results enter : d", clear, "d1+0/64"},
    {"profiling off", close_gate, "a0+1/0 b0+2/0 c0+3/0 d0+1/0"},
    {"area not exclude : b", exclude, "a1+0/7 c3+0/48 d1+0/64"},
    {"area some include routines : c !b", include, "c3+0/48"},
    {"area all-lines checked=no", include_nothing, ""},
    {"area some include lines : regex:^[ad]$", include_by_pattern, "a1+0/55 d1+0/64"},
};

static const char *const score = "a( 1 b( 2 c( 8 ) ) b( 4 c( 8 ) ) c( 32 ) d( 64 ) )";

static void assert_figures(play_ctx *p, const char *wanted)
{
    char found[256] = "";
    for (char name[2] = "a"; *name <= 'd'; ++*name) {
        uint32_t i = 1;
        while (i < p->m->n_methods && strcmp(p->m->methods[i].name, name) != 0)
            i++;
        const qp_figures *f = i < p->m->n_methods ? &p->m->methods[i].all : NULL;
        size_t n = strlen(found);
        if (f && f->hits + f->skips + f->self)
            snprintf(found + n, sizeof found - n, "%s%s%d+%d/%d", n ? " " : "", name,
                     (int)f->hits, (int)f->skips, (int)f->self);
    }
    assert_string_equal(found, wanted);
}

static void lines_make_what_calls_make(void **state) /* triggers 52 */
{
    play_ctx *p = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int by_lines = 0; by_lines < 2; by_lines++) {
            char lines[256];
            play_begin(p, "");
            snprintf(lines, sizeof lines, "%s", rows[i].lines);
            char *rest = lines;
            for (char *line; by_lines && (line = strsep(&rest, "\n"));)
                assert_int_equal(qprof_config_line(line), 0);
            if (!by_lines)
                rows[i].calls();
            play(p, score);
            if (!rows[i].figures[0]) { /* a run without data leaves no file */
                qprof_shutdown();
                assert_false(play_file_exists("run.qprof"));
                continue;
            }
            play_end(p);
            assert_figures(p, rows[i].figures);
            assert_int_equal(remove("run.qprof"), 0);
        }
    }
}

static void a_bad_line_applies_nothing(void **state) /* triggers 52 */
{
    static const char *const bad[] = {"trigger t off pass=-1 : a",
                                      "trigger t off pass=1 pass=2x : a",
                                      "trigger t maybe : a",
                                      "trigger t off a",
                                      "trigger t off : regex:(",
                                      "action t vanish enter : a",
                                      "action t disable sometimes : a",
                                      "area t include columns : a",
                                      "area t exclude lines : a",
                                      "area t include lines : glob:",
                                      "initial-status perhaps",
                                      "profiling",
                                      "area all-lines checked=whatever",
                                      "trigger t off : a \"unfinished"};
    play_ctx *p = *state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        play_begin(p, "");
        if (qprof_config_line(bad[i]) == 0)
            fail_msg("taken: %s", bad[i]);
        assert_null(qprof_trigger_find("t"));
        assert_null(qprof_action_find("t"));
        assert_null(qprof_area_find("t"));
        play(p, "a( 1 )");
        play_end(p);
        assert_flat(p, "a", 1, 1, 1);
        assert_skips(p, "a", 1, 0);
        assert_int_equal(remove("run.qprof"), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(lines_make_what_calls_make),
        PLAY_TEST(a_bad_line_applies_nothing),
    };
    return cmocka_run_group_tests_name("triggers, lines", tests, NULL, NULL);
}
