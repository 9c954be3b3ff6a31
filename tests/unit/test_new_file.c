/* test_new_file.c: files that are there whole or not at all. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/file.h"
#include "base/os/new_file.h"

static qp_new_file file; /* 72 KiB: not on the stack */

/* A folder of its own, to which the test goes. */
static int enter(void **state)
{
    (void)state;
    return mkdir("new", 0777) == 0 && chdir("new") == 0 ? mkdir("sub", 0777) : -1;
}

static size_t count_files(const char *folder)
{
    size_t n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *entry = readdir(d); entry; entry = readdir(d))
        n += entry->d_type == DT_REG;
    closedir(d);
    return n;
}

static void begin(const char *path, const char *text)
{
    const char *why = "";
    assert_true(qp_new_file_begin(&file, path, &why));
    qp_out_text(&file.out, text);
}

static void assert_text(const char *path, const char *wanted)
{
    char text[64];
    qp_file_text(path, text, sizeof text);
    assert_string_equal(text, wanted);
}

static void a_file_appears_when_it_is_whole(void **state)
{
    static const char *const paths[] = {"plain", "sub/below", "./dot"};
    const char *why = "";
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        begin(paths[i], "one");
        assert_int_not_equal(access(paths[i], F_OK), 0);
        assert_true(qp_new_file_end(&file, &why));
        assert_text(paths[i], "one");
    }
    begin("plain", "two");
    assert_text("plain", "one");
    assert_true(qp_new_file_end(&file, &why));
    assert_text("plain", "two");
    assert_int_equal(count_files("."), 2);
    assert_int_equal(count_files("sub"), 1);
}

static void a_file_that_is_dropped_leaves_nothing(void **state)
{
    (void)state;
    size_t n = count_files(".");
    begin("dropped", "text");
    qp_new_file_drop(&file);
    begin("plain", "three");
    qp_new_file_drop(&file);
    assert_text("plain", "two");
    assert_int_equal(count_files("."), n);
}

/* A program that is killed ends neither. Not every file system can do this. */
static void a_file_that_is_forgotten_leaves_nothing(void **state)
{
    (void)state;
    size_t n = count_files(".");
    begin("forgotten", "text");
    qp_out_flush(&file.out);
    bool has_name = *file.temporary != '\0';
    close(file.out.fd);
    if (has_name)
        skip();
    assert_int_equal(count_files("."), n);
}

static void a_file_that_is_hidden_is_its_owners(void **state)
{
    struct stat at;
    const char *why = "";
    (void)state;
    begin("hidden", "text");
    qp_new_file_hide(&file);
    assert_true(qp_new_file_end(&file, &why));
    assert_int_equal(stat("hidden", &at), 0);
    assert_int_equal(at.st_mode & 0777, 0600);
}

static void what_is_no_plain_file_stays(void **state)
{
    const char *why = "";
    (void)state;
    assert_int_equal(symlink("plain", "link"), 0);
    assert_false(qp_new_file_begin(&file, "link", &why));
    assert_string_equal(why, "is a symbolic link; name the file itself");
    assert_false(qp_new_file_begin(&file, "sub", &why));
    assert_string_equal(why, "is a directory");
    assert_false(qp_new_file_begin(&file, "", &why));
    assert_false(qp_new_file_begin(&file, "missing/x", &why));
    assert_string_equal(why, "no such folder");
    begin("turned", "text"); /* something else has its name when it is complete */
    assert_int_equal(mkdir("turned", 0777), 0);
    assert_false(qp_new_file_end(&file, &why));
    assert_string_equal(why, "is a directory");
    assert_text("plain", "two");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_appears_when_it_is_whole),
        cmocka_unit_test(a_file_that_is_dropped_leaves_nothing),
        cmocka_unit_test(a_file_that_is_forgotten_leaves_nothing),
        cmocka_unit_test(a_file_that_is_hidden_is_its_owners),
        cmocka_unit_test(what_is_no_plain_file_stays),
    };
    return cmocka_run_group_tests(tests, enter, NULL);
}
