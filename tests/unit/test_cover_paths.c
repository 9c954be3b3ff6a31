/* test_cover_paths.c: which file is meant, how it is shown, and which ones are left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/runs.h"

static qp_cover *picture_below(const char *const *paths, size_t n, const qp_cover_options *o)
{
    run r = run_new(QP_COLLECT_COVERAGE);
    for (size_t i = 0; i < n; i++)
        run_method(&r, "f", paths[i], RUN_LINES(1));
    qp_cover_set *s = runs_set();
    runs_add(s, r, "run.qprof");
    return runs_picture(s, o);
}

static void paths_are_relative_to_the_root(void **state)
{
    static const char *const paths[] = {"/r/src/b.lua", "/r/src/a/c.lua", "/r/./src/a-b.lua",
                                        "/usr/x.lua",   "/rest/y.lua",    "src/d.lua"};
    (void)state;
    qp_cover *c = picture_below(paths, 6, &(qp_cover_options){.root = "/r/"});
    static const char *const wanted[] = {"/rest/y.lua", "/usr/x.lua", "src/a/c.lua",
                                         "src/a-b.lua", "src/b.lua",  "src/d.lua"};
    static const char *const dirs[] = {"", "/rest", "/usr", "src", "src/a"};
    assert_int_equal(c->n_files, 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(c->files[i].path, wanted[i]);
    assert_int_equal(c->n_dirs, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(c->dirs[i].path, dirs[i]);
    assert_int_equal(c->dirs[4].parent, 3);
    assert_int_equal(c->dirs[4].depth, 2);
    assert_int_equal(c->dirs[3].totals.files, 4);
    assert_int_equal(c->dirs[3].totals.dirs, 1);
    assert_int_equal(c->totals.dirs, 4);
    assert_int_equal(c->files[2].dir, 4);
    size_t n_found;
    assert_int_equal(qp_cover_file_named(c, "a/c.lua", &n_found), 2);
    assert_int_equal(n_found, 1);
    assert_int_equal(qp_cover_file_named(c, "/r/src/b.lua", &n_found), 4);
    assert_int_equal(qp_cover_file_named(c, ".lua", &n_found), 6);
    assert_int_equal(n_found, 0);
    qp_cover_free(c);
}

/* Names come from the profile; a path never grows (the arena is poisoned after it). */
static void a_leading_backslash_is_a_slash(void **state)
{
    static const char *const paths[] = {
        "\\a",        "\\abc\\d.lua", "\\xbc\\..\\e.lua", "\\\\server\\f.lua",
        "\\r\\g.lua", "h\\i.lua"};
    static const char *const wanted[] = {"/a",    "/abc/d.lua", "/e.lua", "/server/f.lua",
                                         "g.lua", "h/i.lua"};
    (void)state;
    qp_cover *c = picture_below(paths, 6, &(qp_cover_options){.root = "\\r"});
    assert_int_equal(c->n_files, 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(c->files[i].path, wanted[i]);
    qp_cover_free(c);
}

/* What is no path has no folders. */
static void names_in_brackets_stay_as_they_are(void **state)
{
    static const char *const paths[] = {"[string \"a//b/c\"]", "<a/b>", "d/e.lua"};
    (void)state;
    qp_cover *c = picture_below(paths, 3, NULL);
    assert_int_equal(c->n_files, 3);
    assert_string_equal(c->files[0].path, "<a/b>");
    assert_string_equal(c->files[1].path, "[string \"a//b/c\"]");
    assert_string_equal(c->files[1].name, "[string \"a//b/c\"]");
    assert_int_equal(c->files[1].dir, 0);
    assert_string_equal(c->files[2].name, "e.lua");
    qp_cover_free(c);
}

static void files_are_chosen_by_globs_and_root(void **state)
{
    static const char *const paths[] = {"/r/src/b.lua", "/r/src/a/c.lua", "/r/t/d.lua",
                                        "/usr/x.lua", "/usr/y.lua"};
    static const char *const include[] = {"src", "**/x.lua"}, *const exclude[] = {"**/c.*"};
    (void)state;
    qp_cover_options o = {.root = "/r",
                          .is_unadjusted = true,
                          .include = include,
                          .n_include = 2,
                          .exclude = exclude,
                          .n_exclude = 1};
    qp_cover *c = picture_below(paths, 5, &o);
    assert_int_equal(c->n_files, 2);
    assert_string_equal(c->files[0].path, "/usr/x.lua");
    assert_string_equal(c->files[1].path, "src/b.lua");
    assert_int_equal(c->n_warnings, 0);
    qp_cover_free(c);
    o = (qp_cover_options){.root = "/r", .is_only_root = true, .is_unadjusted = true};
    c = picture_below(paths, 5, &o);
    assert_int_equal(c->n_files, 3);
    assert_int_equal(c->n_warnings, 1);
    assert_string_equal(c->warnings[0], "/usr/x.lua and 1 more lie outside /r: left out");
    qp_cover_free(c);
}

/* A relative path that leads out of the root is that of the current folder: one spelling. */
static void a_file_outside_the_root_has_one_path(void **state)
{
    (void)state;
    char *folder = getcwd(NULL, 0), *slash = strrchr(folder, '/');
    char absolute[4096];
    snprintf(absolute, sizeof absolute, "%.*s/lib/x.lua", (int)(slash - folder), folder);
    const char *const paths[] = {"../lib/x.lua", absolute};
    qp_cover *c = picture_below(paths, 2, NULL);
    assert_int_equal(c->n_files, 1);
    assert_string_equal(c->files[0].path, absolute);
    qp_cover_free(c);
    free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_relative_to_the_root),
        cmocka_unit_test(a_leading_backslash_is_a_slash),
        cmocka_unit_test(names_in_brackets_stay_as_they_are),
        cmocka_unit_test(files_are_chosen_by_globs_and_root),
        cmocka_unit_test(a_file_outside_the_root_has_one_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
