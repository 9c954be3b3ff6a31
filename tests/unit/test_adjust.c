/* test_adjust.c: qii 47, markers and the adjustments file (spec/qii.md 12.2, items 9 and
 * 10). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "model/cover/cover.h"
#include "unit/runs.h"

#define NONE QP_ANNOTATION_NONE
#define DEAD QP_ANNOTATION_DEADCODE
#define TEST QP_ANNOTATION_TESTED
#define INSP QP_ANNOTATION_INSPECTED

static int enter_folder(void **state)
{
    static char folder[] = "/tmp/qprof-test-XXXXXX";
    memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
    *state = mkdtemp(folder);
    return *state ? chdir(folder) : -1;
}

static int leave_folder(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", (const char *)*state);
    return chdir("/") || system(command);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static qp_source read_source(const char *path)
{
    qp_source s;
    qp_error error;
    assert_true(qp_source_read_own(path, &s, &error));
    return s;
}

/* ---- markers ----------------------------------------------------------------------------- */

static void assert_marks(const char *text, const qp_annotation *wanted, uint32_t n,
                         const char *warning)
{
    write_file("a.lua", text);
    qp_source s = read_source("a.lua");
    qp_adjust *a = qp_adjust_new();
    assert_int_not_equal(qp_adjust_scan(a, "a.lua", 7, &s), SIZE_MAX);
    for (uint32_t line = 1; line <= n; line++) {
        qp_annotation mark =
            a->n_files ? qp_adjust_annotation(a->files, line) : QP_ANNOTATION_NONE;
        if (mark != wanted[line - 1])
            fail_msg("line %u: %d", line, mark);
    }
    assert_int_equal(a->n_warnings, warning != NULL);
    if (warning)
        assert_string_equal(a->warnings[0], warning);
    qp_adjust_free(a);
    qp_source_fini(&s);
}

static void a_marker_marks_its_line(void **state)
{
    (void)state;
    assert_marks("x = 1 -- purecov: deadcode\n"
                 "y = 2 --purecov:tested, by hand\n"
                 "z = 'purecov: inspected'\n" /* anywhere, even outside of comments */
                 "-- purecov: NOT deadcode\n"
                 "-- purecov: deadcodes, xpurecov: tested, Purecov: tested, purecov tested\n"
                 "-- purecov: tested purecov: deadcode\n",
                 (const qp_annotation[]){DEAD, TEST, INSP, NONE, NONE, DEAD}, 6, NULL);
}

static void a_block_has_both_its_marker_lines(void **state)
{
    (void)state;
    assert_marks("a\n"
                 "-- purecov: begin deadcode\n"
                 "b\n"
                 "c -- purecov: tested\n" /* nearer than the block */
                 "-- purecov:end deadcode\n"
                 "d\n",
                 (const qp_annotation[]){NONE, DEAD, DEAD, TEST, DEAD, NONE}, 6, NULL);
}

static void blocks_neither_nest_nor_cross(void **state)
{
    (void)state;
    assert_marks(
        "-- purecov: begin tested\n-- purecov: begin deadcode\n-- purecov: end tested\n",
        (const qp_annotation[]){TEST, TEST, TEST, NONE}, 4,
        "a.lua:2: \"purecov: begin\" inside a block that has not ended: it is ignored");
    assert_marks(
        "-- purecov: begin tested\n-- purecov: end deadcode\n-- purecov: end tested\n\n",
        (const qp_annotation[]){TEST, TEST, TEST, NONE}, 4,
        "a.lua:2: \"purecov: end\" of another type than the block: it is ignored");
    assert_marks("-- purecov: end deadcode\n", (const qp_annotation[]){NONE}, 1,
                 "a.lua:1: \"purecov: end\" without a beginning: it is ignored");
    assert_marks(
        "a\n-- purecov: begin inspected\nb\nc", (const qp_annotation[]){NONE, INSP, INSP, INSP},
        4, "a.lua:2: \"purecov: begin\" has no end: the block reaches to the end of the file");
}

/* ---- the file ---------------------------------------------------------------------------- */

#define FIRST "PureCoverage Adjustments File 1.0\n"

static qp_adjust *read_adjustments(const char *text)
{
    qp_error error;
    qp_adjust *a = qp_adjust_new();
    bool is_read = qp_adjust_read_text(a, text, strlen(text), "adj", &error);
    assert_string_equal(error.text, "");
    assert_true(is_read);
    return a;
}

static void lists_of_lines_and_ranges_are_read(void **state)
{
    (void)state;
    qp_adjust *a = read_adjustments(FIRST "# a comment\n"
                                          "\r\n"
                                          "a b.lua\t100\ttested\tL\t4 10 15-23\r\n"
                                          "a b.lua\t100\tdeadcode\tB\t1-5\n"
                                          "c.lua\t7\tinspected\tB\t 2 \n");
    assert_int_equal(a->n_files, 2);
    assert_int_equal(a->n_warnings, 0);
    assert_string_equal(a->files[0].name, "a b.lua");
    assert_int_equal(qp_adjust_annotation(&a->files[0], 1), DEAD);
    assert_int_equal(qp_adjust_annotation(&a->files[0], 4),
                     TEST); /* a line is nearer than a block */
    assert_int_equal(qp_adjust_annotation(&a->files[0], 10), TEST);
    assert_int_equal(qp_adjust_annotation(&a->files[0], 14), NONE);
    assert_int_equal(qp_adjust_annotation(&a->files[0], 23), TEST);
    assert_int_equal(qp_adjust_annotation(&a->files[1], 2), INSP);
    assert_int_equal(qp_adjust_lines(&a->files[0], TEST, 20), 1 + 1 + 6);
    assert_int_equal(qp_adjust_lines(&a->files[0], DEAD, 20), 4);
    qp_adjust_free(a);
}

static void only_the_newest_time_of_a_file_counts(void **state)
{
    (void)state;
    qp_adjust *a = read_adjustments(FIRST "a.lua\t100\ttested\tL\t1\n"
                                          "a.lua\t200\ttested\tL\t2\n"
                                          "a.lua\t150\ttested\tL\t3\n"
                                          "a.lua\t200\tdeadcode\tL\t4\n");
    static const qp_annotation wanted[] = {NONE, TEST, NONE, DEAD};
    for (uint32_t line = 1; line <= 4; line++)
        assert_int_equal(qp_adjust_annotation(a->files, line), wanted[line - 1]);
    assert_int_equal(a->files[0].time, 200);
    qp_adjust_free(a);
}

static void bad_lines_are_skipped_with_a_message_each(void **state)
{
    (void)state;
    qp_adjust *a = read_adjustments(FIRST "a.lua 100 tested L 1\n"
                                          "a.lua\tnow\ttested\tL\t1\n"
                                          "a.lua\t100\tTESTED\tL\t1\n"
                                          "a.lua\t100\ttested\tX\t1\n"
                                          "a.lua\t100\ttested\tL\t1 9-3 2\n"
                                          "a.lua\t100\ttested\tL\t0\n"
                                          "a.lua\t100\ttested\tL\t\n"
                                          "\t100\ttested\tL\t1\n"
                                          "a.lua\t99999999999999999999999\ttested\tL\t1\n"
                                          "a.lua\t100\ttested\tL\t99999999999\n"
                                          "b.lua\t100\ttested\tL\t3\n");
    static const char *const wanted[] = {
        "adj:2: expected five fields separated by tabs: the line is skipped",
        "adj:3: \"now\" is not a time in seconds since 1970: the line is skipped",
        "adj:4: \"TESTED\" is not one of deadcode, tested, inspected: the line is skipped",
        "adj:5: \"X\" is not a style, L or B: the line is skipped",
        "adj:6: \"9-3\" is not a line or a range of lines: the line is skipped",
        "adj:7: \"0\" is not a line or a range of lines: the line is skipped",
        "adj:8: there are no lines: the line is skipped",
        "adj:9: there is no file name: the line is skipped",
        ("adj:10: \"99999999999999999999999\" is not a time in seconds since 1970: the line is "
         "skipped"),
        "adj:11: \"99999999999\" is not a line or a range of lines: the line is skipped",
    };
    assert_int_equal(a->n_warnings, 10);
    for (size_t i = 0; i < 10; i++)
        assert_string_equal(a->warnings[i], wanted[i]);
    assert_int_equal(a->n_files, 1); /* nothing of a bad line is taken */
    assert_string_equal(a->files[0].name, "b.lua");
    qp_adjust_free(a);
}

static void a_byte_0_is_no_end_of_a_line(void **state)
{
    static const char text[] = FIRST "# a\0b\na.lua\t100\ttested\tL\t3\0 4\n\0\n";
    static const char head[] = "PureCoverage Adjustments File 1.0\0\n";
    qp_error error;
    (void)state;
    qp_adjust *a = qp_adjust_new();
    assert_true(qp_adjust_read_text(a, text, sizeof text - 1, "adj", &error));
    assert_int_equal(a->n_files, 0);
    assert_int_equal(a->n_warnings, 2);
    assert_string_equal(a->warnings[0], "adj:3: a byte 0 is not text: the line is skipped");
    assert_string_equal(a->warnings[1], "adj:4: a byte 0 is not text: the line is skipped");
    assert_false(qp_adjust_read_text(a, head, sizeof head - 1, "adj", &error));
    qp_adjust_free(a);
}

static void what_is_no_adjustments_file_is_refused(void **state)
{
    static const char *const texts[] = {"", "PureCoverage Adjustments File 1.1\n",
                                        " PureCoverage Adjustments File 1.0\n", "x"};
    (void)state;
    qp_error error;
    for (size_t i = 0; i < 4; i++) {
        qp_adjust *a = qp_adjust_new();
        assert_false(qp_adjust_read_text(a, texts[i], strlen(texts[i]), "adj", &error));
        assert_string_equal(error.text, "adj: not an adjustments file: its first line is not "
                                        "\"PureCoverage Adjustments File 1.0\"");
        assert_false(qp_adjust_read(a, "nowhere", &error));
        assert_non_null(strstr(error.text, "nowhere: "));
        qp_adjust_free(a);
    }
}

/* Extract from a source, write, read again. */
static void what_was_extracted_is_read_again(void **state)
{
    (void)state;
    write_file("a.lua",
               "1 purecov: tested\n2\n3 purecov: begin deadcode\n4\n5 purecov: end deadcode\n"
               "6 purecov: tested\n");
    qp_source s = read_source("a.lua");
    qp_adjust *a = qp_adjust_new();
    assert_int_equal(qp_adjust_scan(a, "#a.lua", 1234, &s), 3);
    assert_int_equal(qp_adjust_scan(a, "line\nbreak.lua", 1234, &s), 3);
    assert_int_equal(qp_adjust_lines(&a->files[0], TEST, s.n_lines), 2);
    assert_int_equal(qp_adjust_lines(&a->files[0], DEAD, s.n_lines), 3);
    qp_source_fini(&s);
    FILE *f = fopen("adj", "w");
    qp_out *out = malloc(sizeof *out);
    qp_out_init(out, fileno(f));
    assert_int_equal(qp_adjust_write(a, out), 1); /* the one that a line cannot hold */
    assert_int_equal(qp_out_close(out), 0);
    free(out);
    fclose(f);
    qp_adjust_free(a);
    s = read_source("adj");
    assert_string_equal(s.text, FIRST "# file, time, type, style (L lines, B blocks), lines\n"
                                      "./#a.lua\t1234\tdeadcode\tB\t3-5\n"
                                      "./#a.lua\t1234\ttested\tL\t1 6\n");
    a = read_adjustments(s.text);
    assert_int_equal(a->n_warnings, 0);
    assert_string_equal(a->files[0].name, "./#a.lua");
    assert_int_equal(qp_adjust_annotation(a->files, 4), DEAD);
    qp_adjust_free(a);
    qp_source_fini(&s);
}

/* ---- what they change -------------------------------------------------------------------- */

/* f: line 1 hit, 2 missed, 3 missed with two blocks and a branch. g: 5 missed. h: 7 missed. */
static run adjusted_run(uint64_t digest)
{
    static const qp_jump jumps[] = {{2, 3}, {QP_JUMP_LEFT, 0}, {QP_JUMP_ENTRY, 0}};
    run r = run_new(QP_COLLECT_COVERAGE);
    qp_cell f = run_method(&r, "f", "a.lua", RUN_LINES(1, 2, 3, 3));
    run_method(&r, "g", "a.lua", RUN_LINES(5));
    run_method(&r, "h", "a.lua", RUN_LINES(7));
    run_jumps(&r, f, jumps, 3, "1111");
    run_counts(&r, f, RUN_VALUES(0, 4, 4));
    profile_source(r.p, "a.lua", digest);
    return r;
}

static qp_cover *picture_with(uint64_t digest, const qp_cover_options *o)
{
    qp_cover_set *s = runs_set();
    runs_add(s, adjusted_run(digest), "run.qprof");
    return runs_picture(s, o);
}

static void marked_lines_leave_the_totals_or_count_as_hit(void **state)
{
    (void)state;
    write_file("a.lua",
               "1\n2 purecov: deadcode\n3 purecov: tested\n4\n5 purecov: inspected\n6\n"
               "7 purecov: deadcode\n8 purecov: tested\n");
    qp_source s = read_source("a.lua");
    qp_cover *c = picture_with(s.digest, NULL);
    const qp_cover_file *f = runs_file(c, "a.lua");
    assert_int_equal(f->n_lines, 5); /* a marker makes no code of line 8 */
    assert_int_equal(runs_line(f, 2)->annotation, DEAD);
    assert_true(runs_line(f, 3)->is_hit);
    assert_int_equal(runs_line(f, 3)->count, 0); /* counts stay true */
    assert_totals(f->totals, 3, 3, lines);       /* 1, 3, 5 */
    assert_totals(f->totals, 4, 4, blocks);
    assert_totals(f->totals, 2, 0, branches);
    assert_totals(f->totals, 2, 2, functions); /* h is dead; g has a line that counts as hit */
    assert_true(runs_function(f, "h")->is_dead);
    assert_true(runs_function(f, "g")->is_hit);
    assert_totals(runs_function(f, "f")->totals, 2, 2, lines);
    assert_int_equal(c->n_warnings, 0);
    qp_cover_free(c);
    c = picture_with(s.digest, &(qp_cover_options){.is_unadjusted = true});
    assert_totals(c->totals, 5, 1, lines);
    assert_totals(c->totals, 6, 1, blocks);
    assert_totals(c->totals, 3, 1, functions);
    qp_cover_free(c);
    qp_source_fini(&s);
}

static void markers_of_a_changed_source_are_not_heeded(void **state)
{
    (void)state;
    write_file("a.lua", "1\n2 purecov: deadcode\n");
    qp_cover *c = picture_with(42, NULL);
    assert_totals(c->totals, 5, 1, lines);
    assert_int_equal(c->n_warnings, 1);
    assert_string_equal(c->warnings[0],
                        "a.lua has changed since it was recorded: lines may have "
                        "moved, and its markers are ignored");
    qp_cover_free(c);
    write_file("a.lua", "1\n2\n");
    c = picture_with(42, NULL);
    assert_string_equal(c->warnings[0],
                        "a.lua has changed since it was recorded: lines may have moved");
    qp_cover_free(c);
    unlink("a.lua");
    c = picture_with(42, NULL);
    assert_int_equal(c->n_warnings, 1);
    assert_string_equal(c->warnings[0],
                        "markers of 1 source are not known: a.lua cannot be read");
    qp_cover_free(c);
}

static void the_file_adjusts_what_the_source_does_not(void **state)
{
    (void)state;
    write_file("a.lua", "1\n2 purecov: tested\n3\n4\n5\n6\n7\n");
    write_file("adj", FIRST "./a.lua\t5\tdeadcode\tB\t1-5\n"
                            "a.lua\t4\tdeadcode\tL\t7\n" /* older: not used */
                            "b.lua\t5\tdeadcode\tL\t7\n"
                            "bad\n");
    qp_cover *c = picture_with(0, &(qp_cover_options){.adjustments = "adj"});
    assert_totals(c->totals, 2, 1, lines); /* 2, and 7 that is missed */
    assert_int_equal(c->n_warnings, 1);
    assert_string_equal(c->warnings[0],
                        "adj:5: expected five fields separated by tabs: the line is skipped");
    qp_cover_free(c);
    c = picture_with(0, &(qp_cover_options){.adjustments = "nowhere"});
    assert_totals(c->totals, 5, 2, lines); /* the rest is reported */
    assert_int_equal(c->n_warnings, 1);
    assert_non_null(strstr(c->warnings[0], "nowhere: "));
    qp_cover_free(c);
}

static void every_failing_allocation_is_an_error_and_no_leak(void **state)
{
    (void)state;
    qp_error error;
    write_file("a.lua", "1\n2 purecov: tested\n3 purecov: begin tested\n");
    write_file("adj", FIRST "a.lua\t5\tdeadcode\tB\t1-5\nbad\n");
    qp_cover_set *s = runs_set();
    runs_add(s, adjusted_run(0), "run.qprof");
    for (uint64_t n = 1, is_done = 0; !is_done; n++) {
        qp_alloc_fail_after(n, true);
        qp_cover *c = qp_cover_derive(s, &(qp_cover_options){.adjustments = "adj"}, &error);
        is_done = qp_alloc_count() < n;
        qp_alloc_fail_after(0, false);
        assert_int_equal(c != NULL || !is_done, 1);
        qp_cover_free(c);
    }
    qp_cover_set_free(s);
}

#define TEST_IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(a_marker_marks_its_line),
        TEST_IN_FOLDER(a_block_has_both_its_marker_lines),
        TEST_IN_FOLDER(blocks_neither_nest_nor_cross),
        TEST_IN_FOLDER(lists_of_lines_and_ranges_are_read),
        TEST_IN_FOLDER(only_the_newest_time_of_a_file_counts),
        TEST_IN_FOLDER(bad_lines_are_skipped_with_a_message_each),
        TEST_IN_FOLDER(a_byte_0_is_no_end_of_a_line),
        TEST_IN_FOLDER(what_is_no_adjustments_file_is_refused),
        TEST_IN_FOLDER(what_was_extracted_is_read_again),
        TEST_IN_FOLDER(marked_lines_leave_the_totals_or_count_as_hit),
        TEST_IN_FOLDER(markers_of_a_changed_source_are_not_heeded),
        TEST_IN_FOLDER(the_file_adjusts_what_the_source_does_not),
        TEST_IN_FOLDER(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
