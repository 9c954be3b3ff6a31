/* test_exporters.c: export/coverage/coverage.c and what all exporters have in common. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/containers/alloc.h"
#include "export/export.h"
#include "export/picture.h"

static qp_out out;

static int null_file(void)
{
    return open("/dev/null", O_WRONLY | O_CLOEXEC);
}

static void an_exporter_is_found_by_its_name(void **state)
{
    (void)state;
    assert_string_equal(qp_cover_exporter_named("lcov")->name, "lcov");
    assert_null(qp_cover_exporter_named("lco"));
    assert_null(qp_cover_exporter_named(""));
    for (const qp_cover_exporter *x = qp_cover_exporters; x->name; x++)
        assert_ptr_equal(qp_cover_exporter_named(x->name), x);
}

/* The figures that a person adds up from the text above picture_small(). */
static void the_small_picture_is_what_its_text_says(void **state)
{
    (void)state;
    picture *p = picture_new();
    const qp_cover_totals *t = &picture_small(p)->totals;
    assert_int_equal(t->files, 2);
    assert_int_equal(t->functions, 5);
    assert_int_equal(t->functions_hit, 4);
    assert_int_equal(t->lines, 12);
    assert_int_equal(t->lines_hit, 11);
    assert_int_equal(t->lines_partial, 1);
    assert_int_equal(t->blocks, 14);
    assert_int_equal(t->blocks_hit, 12);
    assert_int_equal(t->branches, 6);
    assert_int_equal(t->branches_hit, 3);
    assert_int_equal(t->calls, 9);
    picture_free(p);
}

static void a_format_of_lines_refuses_what_has_none(void **state)
{
    (void)state;
    picture *p = picture_new();
    qp_cover c = *picture_done(p);
    qp_error error;
    c.grain = QP_GRAIN_FUNCTION;
    int fd = null_file();
    qp_out_init(&out, fd);
    assert_false(qp_cover_export(qp_cover_exporter_named("lcov"), &c, &out, NULL, &error));
    assert_string_equal(error.text, "lcov is about lines, and these were not recorded: "
                                    "-collection-granularity=function");
    assert_true(qp_cover_export(qp_cover_exporter_named("purecov"), &c, &out, NULL, &error));
    c.grain = QP_GRAIN_LINE; /* no line, because there was no source: an empty report */
    assert_true(qp_cover_export(qp_cover_exporter_named("lcov"), &c, &out, NULL, &error));
    close(fd);
    picture_free(p);
}

static void functions_with_one_name_get_their_lines(void **state)
{
    (void)state;
    picture *p = picture_new();
    picture_file(p, "a.lua");
    picture_block(p, 1, picture_function(p, "f", 1), 1);
    picture_block(p, 2, picture_function(p, "g", 1), 1);
    picture_block(p, 3, picture_function(p, "f", 1), 1);
    picture_block(p, 3, picture_function(p, "f", 1), 1);
    const qp_cover_file *f = &picture_done(p)->files[0];
    const char **names = qp_cover_names(f);
    assert_non_null(names);
    assert_string_equal(names[0], "f:1");
    assert_string_equal(names[1], "g");
    assert_string_equal(names[2], "f:3");
    assert_string_equal(names[3], "f:3#2");
    qp_cover_names_free(f, names);
    picture_free(p);
}

/* Its first line is dead: a format that wants lines to be listed gets the next one. */
static void a_function_begins_on_a_live_line(void **state)
{
    (void)state;
    picture *p = picture_new();
    picture_file(p, "a.lua");
    uint32_t f = picture_function(p, "f", 1), g = picture_function(p, "g", 1);
    uint32_t without = picture_function(p, "without lines", 1);
    picture_block(p, 1, f, 1);
    picture_mark(p, 1, QP_ANNOTATION_DEADCODE);
    picture_block(p, 2, f, 1);
    picture_block(p, 3, g, 1);
    picture_mark(p, 3, QP_ANNOTATION_DEADCODE);
    const qp_cover_file *file = &picture_done(p)->files[0];
    assert_int_equal(qp_cover_start_line(file, &file->functions[f]), 2);
    assert_int_equal(qp_cover_start_line(file, &file->functions[g]), 0);
    assert_int_equal(qp_cover_start_line(file, &file->functions[without]), 0);
    picture_free(p);
}

static bool can_write(const qp_cover_exporter *x, const qp_cover *c, int fd)
{
    qp_error error;
    qp_out_init(&out, fd);
    return qp_cover_export(x, c, &out, NULL, &error);
}

/* Whatever allocation fails: a clean no, or all of it. */
static void no_memory_is_said(void **state)
{
    (void)state;
    picture *p = picture_new();
    const qp_cover *c = picture_small(p);
    int fd = null_file();
    for (const qp_cover_exporter *x = qp_cover_exporters; x->name; x++) {
        bool is_written = !can_write(x, c, fd); /* a build without pages has no html */
        for (uint64_t n = 1; !is_written && n < 1000; n++) {
            qp_error error;
            qp_out_init(&out, fd);
            qp_alloc_fail_after(n, true);
            is_written = qp_cover_export(x, c, &out, NULL, &error);
            qp_alloc_fail_after(0, false);
            if (!is_written)
                assert_string_equal(error.text, "out of memory");
        }
        assert_true(is_written);
    }
    close(fd);
    picture_free(p);
}

static void a_full_disk_is_known_at_the_end(void **state)
{
    (void)state;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        skip();
    picture *p = picture_new();
    const qp_cover *c = picture_large(p);
    for (const qp_cover_exporter *x = qp_cover_exporters; x->name; x++) {
        if (can_write(x, c, fd))
            assert_int_equal(qp_out_close(&out), ENOSPC);
    }
    close(fd);
    picture_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exporter_is_found_by_its_name),
        cmocka_unit_test(the_small_picture_is_what_its_text_says),
        cmocka_unit_test(a_format_of_lines_refuses_what_has_none),
        cmocka_unit_test(functions_with_one_name_get_their_lines),
        cmocka_unit_test(a_function_begins_on_a_live_line),
        cmocka_unit_test(no_memory_is_said),
        cmocka_unit_test(a_full_disk_is_known_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
