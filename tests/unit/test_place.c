/* test_place.c: a file gets its name, and no file is lost. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/file.h"
#include "base/os/place.h"
#include "format/layout.h"
#include "format/trace.h"

static void write_file(const char *name, const void *bytes, size_t n)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_true(qp_file_write(fd, bytes, n));
    close(fd);
}

static void assert_text(const char *name, const char *text)
{
    char read[64];
    qp_file_text(name, read, sizeof read);
    assert_string_equal(read, text);
}

static int remove_files(void **state)
{
    (void)state;
    static const char *const names[] = {"x", "x.1", "x.2", "x.3", "new", "new.1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(names[i]);
    return 0;
}

/* Files of "old" may be replaced. */
static bool is_old(const void *to, int fd)
{
    char text[4] = "";
    (void)to;
    return qp_file_read_at(fd, text, 3, 0) == 3 && strcmp(text, "old") == 0;
}

/* Place "new" as x. */
static void assert_placed(qp_place_judge *judge, const char *name)
{
    char path[64] = "x";
    write_file("new", "new", 3);
    assert_true(qp_place_file("new", path, sizeof path, judge, NULL));
    assert_string_equal(path, name);
    assert_text(name, "new");
    assert_int_equal(access("new", F_OK), -1);
}

static void an_old_file_is_replaced_and_others_are_kept(void **state)
{
    (void)state;
    write_file("x", "mine", 4);
    write_file("x.1", "old", 3);
    assert_placed(is_old, "x.1");
    assert_text("x", "mine");
}

static void without_a_judge_nothing_is_replaced(void **state)
{
    (void)state;
    write_file("x", "old", 3);
    assert_placed(NULL, "x.1");
    assert_text("x", "old");
}

static void a_link_is_kept(void **state)
{
    char to[8] = "";
    (void)state;
    write_file("x.1", "old", 3);
    assert_int_equal(symlink("x.1", "x"), 0);
    assert_placed(is_old, "x.1");
    assert_int_equal(readlink("x", to, sizeof to), 3);
}

/* Another process takes the name between the look at the old file and the exchange. */
static bool is_overtaken(const void *to, int fd)
{
    bool was_old = is_old(to, fd);
    if (was_old) {
        write_file("x.tmp", "other", 5);
        assert_int_equal(rename("x.tmp", "x"), 0);
    }
    return was_old;
}

static void the_file_of_a_faster_process_gets_the_next_name(void **state)
{
    (void)state;
    write_file("x", "old", 3);
    assert_placed(is_overtaken, "x");
    assert_text("x.1", "other");
}

static void a_name_that_is_too_long_is_refused_and_the_file_kept(void **state)
{
    (void)state;
    char path[2] = "x";
    write_file("x", "mine", 4);
    write_file("new", "new", 3);
    assert_false(qp_place_file("new", path, sizeof path, is_old, NULL));
    assert_text("x", "mine");
    assert_text("new", "new");
}

/* ---- what is of an earlier run ----------------------------------------------------------- */

static bool profile_is_earlier(qp_head own, qp_head old)
{
    memcpy(old.magic, QP_MAGIC, sizeof old.magic);
    write_file("x", &old, sizeof old);
    int fd = open("x", O_RDONLY);
    bool is_it = qp_earlier_profile(&own, fd);
    close(fd);
    return is_it;
}

static void a_profile_is_earlier_if_it_was_complete_before_the_run_began(void **state)
{
    (void)state;
    const qp_head own = {.run_at = 1000};
    assert_true(profile_is_earlier(own, (qp_head){.ended_at = 999}));
    assert_false(profile_is_earlier(own, (qp_head){.ended_at = 1000}));
    assert_false(profile_is_earlier(own, (qp_head){0})); /* written just now */
    assert_true(profile_is_earlier((qp_head){.run_at = UINT64_MAX}, (qp_head){0}));
    static const struct {
        const char *bytes;
        size_t n;
        bool is_earlier;
    } rows[] = {{"", 0, true}, {"text", 4, false}, {QP_MAGIC, 8, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_file("x", rows[i].bytes, rows[i].n);
        int fd = open("x", O_RDONLY);
        assert_int_equal(qp_earlier_profile(&own, fd), rows[i].is_earlier);
        close(fd);
    }
}

static void a_trace_that_is_written_is_not_earlier(void **state)
{
    (void)state;
    const qp_head own = {.run_at = 1000};
    qp_trace_file old = {.started_at = 999};
    memcpy(old.magic, QP_TRACE_MAGIC, sizeof old.magic);
    write_file("x", &old, sizeof old);
    int fd = open("x", O_RDONLY), writer = open("x", O_WRONLY);
    assert_int_equal(flock(writer, LOCK_EX), 0);
    assert_false(qp_earlier_trace(&own, fd));
    close(writer);
    assert_true(qp_earlier_trace(&own, fd));
    close(fd);
    old.started_at = 1000;
    write_file("x", &old, sizeof old);
    fd = open("x", O_RDONLY);
    assert_false(qp_earlier_trace(&own, fd));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(an_old_file_is_replaced_and_others_are_kept, remove_files),
        cmocka_unit_test_teardown(without_a_judge_nothing_is_replaced, remove_files),
        cmocka_unit_test_teardown(a_link_is_kept, remove_files),
        cmocka_unit_test_teardown(the_file_of_a_faster_process_gets_the_next_name,
                                  remove_files),
        cmocka_unit_test_teardown(a_name_that_is_too_long_is_refused_and_the_file_kept,
                                  remove_files),
        cmocka_unit_test_teardown(a_profile_is_earlier_if_it_was_complete_before_the_run_began,
                                  remove_files),
        cmocka_unit_test_teardown(a_trace_that_is_written_is_not_earlier, remove_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
