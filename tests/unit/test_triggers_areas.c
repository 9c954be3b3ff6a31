/* test_triggers_areas.c: what areas measure: triggers 26 to 31, 43 and 48 of the checklist. */
#include <stdio.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"
#include "play.h"

enum { AREA_TABLE = 3 };
static const qprof_LineInfo table[AREA_TABLE] = {{0, 10}, {4, 11}, {8, 12}};

/* A run whose methods a, b, c have line tables. */
static void begin(play_ctx *p, const char *options)
{
    play_begin(p, options);
    for (const char *name = "abc"; *name; name++)
        play_register(p, (const char[]){*name, 0}, 0, table, AREA_TABLE);
}

/* The method of that name; 0: none was called. */
static uint32_t find(const play_ctx *p, const char *name)
{
    for (uint32_t i = 1; i < p->m->n_methods; i++)
        if (strcmp(p->m->methods[i].name, name) == 0 && p->m->methods[i].all.calls)
            return i;
    return 0;
}

/* How often block 1 of a method was counted. */
static uint64_t block_1(const play_ctx *p, const char *name)
{
    qp_block_figures *blocks;
    size_t n;
    if (!qp_model_blocks(p->m, find(p, name), QP_ALL_THREADS, &blocks, &n))
        return 0;
    uint64_t count = n > 1 ? blocks[1].count : 0;
    qp_free(blocks);
    return count;
}

static void methods_outside_of_areas_are_part_of_their_callers(void **state)
{ /* triggers 29, 31, 43 */
    play_ctx *p = *state;
    begin(p, "");
    qprof_area *mine = qprof_area_create("mine", QPROF_AREA_INCLUDE, QPROF_LEVEL_LINES);
    qprof_area *not_these = qprof_area_create("not", QPROF_AREA_EXCLUDE, 0);
    assert_int_equal(qprof_area_add(mine, QPROF_ELEM_ROUTINE, "a", 1), 0);
    assert_int_equal(qprof_area_add(mine, QPROF_ELEM_ROUTINE, "c", 1), 0);
    assert_int_equal(qprof_area_add(mine, QPROF_ELEM_ROUTINE, "b", 0), 0); /* not checked */
    assert_int_equal(qprof_area_add(mine, QPROF_ELEM_ROUTINE, "x", 1), 0);
    assert_int_equal(qprof_area_add(not_these, QPROF_ELEM_ROUTINE, "x", 1), 0);
    play(p, "b( 1 a( 2 b( 4 c( 8 ) 16 b( x( 32 ) ) ) 64 ) 128 )");
    play_end(p);
    assert_path(p, "a", 1, 2 + 4 + 16 + 32 + 64); /* b's and x's time is its */
    assert_path(p, "a>c", 1, 8);
    assert_absent(p, "b");
    assert_absent(p, "x");
}

static void an_open_call_outside_of_areas_is_part_of_its_callers_block(void **state)
{
    play_ctx *p = *state;
    begin(p, "");
    qprof_area *mine = qprof_area_create("mine", QPROF_AREA_INCLUDE, QPROF_LEVEL_LINES);
    qprof_area_add(mine, QPROF_ELEM_ROUTINE, "a", 1);
    play(p, "a( 1 :1 2 x( 4 ) x( 8 y( 16 ");
    play_peek(p);
    assert_path(p, "a", 1, 1 + 2 + 4 + 8 + 16);
    assert_block(p, "a", 1, 0, 31, 31); /* what lies before the first mark is its as well */
    assert_int_equal(p->m->threads[1].n_frames, 1);
    play(p, ") ) 32 )");
    play_end(p);
    assert_block(p, "a", 1, 0, 63, 63);
}

static void the_root_has_the_time_of_what_no_area_holds(void **state) /* triggers 30, 43 */
{
    play_ctx *p = *state;
    begin(p, "");
    assert_int_equal(qprof_area_set_checked(qprof_area_find("all-lines"), 0), 0);
    qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_ON);
    qprof_trigger_add_routine(t, "b", 1);
    play(p, "a( 1 b( 2 c( 4 ) ) 8 )");
    play_end(p);
    assert_absent(p, "a");
    assert_absent(p, "c");
    assert_path(p, "b", 1, 6);
}

static void a_trigger_routine_is_never_excluded(void **state) /* triggers 26 to 28 */
{
    static const struct {
        const char *area; /* what a is in: nothing, an including, an excluding one */
        int level;
        uint64_t blocks; /* how often block 1 was counted: line level or not */
    } rows[] = {{"", 0, 0},
                {"include", QPROF_LEVEL_LINES, 5},
                {"include", QPROF_LEVEL_ROUTINES, 0},
                {"exclude", 0, 0}};
    play_ctx *p = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(p, "");
        qprof_area *some = qprof_area_create("some", QPROF_AREA_INCLUDE, QPROF_LEVEL_LINES);
        qprof_area_add(some, QPROF_ELEM_ROUTINE, "c", 1);
        bool is_excluding = rows[i].area[0] == 'e';
        if (rows[i].area[0])
            qprof_area_add(qprof_area_create(
                               "of a", is_excluding ? QPROF_AREA_EXCLUDE : QPROF_AREA_INCLUDE,
                               rows[i].level),
                           QPROF_ELEM_ROUTINE, "a", 1);
        qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_ON);
        qprof_trigger_add_routine(t, "a", 1);
        play(p, "a( 1 #1*5 c( #1*3 ) )");
        play_end(p);
        assert_flat(p, "a", 1, 1, 1);
        assert_int_equal(block_1(p, "a"), rows[i].blocks);
        assert_int_equal(block_1(p, "c"), 3);
        assert_int_equal(remove("run.qprof"), 0);
    }
}

static void an_unchecked_trigger_routine_is_not_implied(void **state)
{
    play_ctx *p = *state;
    begin(p, "");
    qprof_area *some = qprof_area_create("some", QPROF_AREA_INCLUDE, QPROF_LEVEL_LINES);
    qprof_area_add(some, QPROF_ELEM_ROUTINE, "c", 1);
    qprof_trigger *t = qprof_trigger_create("t", QPROF_TRIGGER_ON);
    qprof_trigger_add_routine(t, "a", 0);
    play(p, "a( 1 ) c( 2 )");
    qprof_trigger_check_routine(t, "a", 1);
    play(p, "a( 4 ) c( 8 )");
    play_end(p);
    assert_path(p, "a", 1, 4);
    assert_path(p, "c", 2, 10);
}

static void the_more_detailed_area_counts(void **state) /* triggers 48 */
{
    static const char *const options[] = {"", "-collection-granularity=function"};
    play_ctx *p = *state;
    for (size_t i = 0; i < 2; i++) {
        begin(p, options[i]);
        qprof_area *routines = qprof_area_create("r", QPROF_AREA_INCLUDE, QPROF_LEVEL_ROUTINES);
        qprof_area *lines = qprof_area_create("l", QPROF_AREA_INCLUDE, QPROF_LEVEL_LINES);
        qprof_area_add(lines, QPROF_ELEM_ROUTINE, "a", 1);
        qprof_area_add(routines, QPROF_ELEM_ROUTINE, "a", 1);
        qprof_area_add(routines, QPROF_ELEM_ROUTINE, "b", 1);
        play(p, "a( #1*2 b( #1*4 ) )");
        play_end(p);
        assert_int_equal(block_1(p, "a"), i ? 0 : 2);
        assert_int_equal(block_1(p, "b"), 0);
        assert_int_equal(remove("run.qprof"), 0);
    }
}

static void areas_name_modules_files_and_classes(void **state)
{
    static const struct {
        int kind;
        const char *name, *measured; /* of the methods below, those that are */
    } rows[] = {
        {QPROF_ELEM_MODULE, "core", "ab"},       {QPROF_ELEM_FILE, "src/one.scr", "ac"},
        {QPROF_ELEM_FILE, "one.scr", "ac"}, /* the last component */
        {QPROF_ELEM_FILE, "ne.scr", ""},         {QPROF_ELEM_CLASS, "Server", "cd"},
        {QPROF_ELEM_ROUTINE, "Server.d", "d"},   {QPROF_ELEM_ROUTINE, "d", "d"},
        {QPROF_ELEM_FILE, "glob:*.scr", "abcd"}, {QPROF_ELEM_CLASS, "regex:^S.*r$", "cd"}};
    static const char *const files[] = {"src/one.scr", "src/two.scr", "src/one.scr", "two.scr"};
    play_ctx *p = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        play_begin(p, "");
        qprof_area *area = qprof_area_create("some", QPROF_AREA_INCLUDE, QPROF_LEVEL_LINES);
        assert_int_equal(qprof_area_add(area, rows[i].kind, rows[i].name, 1), 0);
        play_register(p, "main", 0, NULL, 0);
        qprof_area_add(area, QPROF_ELEM_ROUTINE, "main", 1);
        for (int m = 0; m < 4; m++) {
            char name[2] = {(char)('a' + m), 0};
            qprof_set_module(m < 2 ? "core" : "");
            qprof_register_method_id(0x5000 + m, name, m < 2 ? NULL : "Server", 0, files[m],
                                     NULL, 0);
        }
        play(p, "main( ");
        for (uintptr_t m = 0; m < 4; m++) {
            qprof_record_fn_entry(0x5000 + m, 0x90);
            play_clock_add(1);
            qprof_record_fn_exit(p->threads[0].ids[0]);
        }
        play(p, ")");
        play_end(p);
        for (int m = 0; m < 4; m++) {
            char name[16];
            snprintf(name, sizeof name, "%s%c", m < 2 ? "" : "Server.", 'a' + m);
            bool is_measured = strchr(rows[i].measured, 'a' + m) != NULL;
            assert_int_equal(find(p, name) != 0, is_measured);
        }
        assert_int_equal(remove("run.qprof"), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* first: the expressions of a run are kept until the next one begins */
        PLAY_TEST(areas_name_modules_files_and_classes),
        PLAY_TEST(methods_outside_of_areas_are_part_of_their_callers),
        PLAY_TEST(an_open_call_outside_of_areas_is_part_of_its_callers_block),
        PLAY_TEST(the_root_has_the_time_of_what_no_area_holds),
        PLAY_TEST(a_trigger_routine_is_never_excluded),
        PLAY_TEST(an_unchecked_trigger_routine_is_not_implied),
        PLAY_TEST(the_more_detailed_area_counts),
    };
    return cmocka_run_group_tests_name("triggers, areas", tests, NULL, NULL);
}
