/* Which sources get into a page that is sent to others: unit tests of
 * src/export/page/coverage.c. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/containers/dict.h"
#include "export/export.h"
#include "export/page/page.h"
#include "export/picture.h"

static const char text[] = "local key = \"open sesame\"\n";
static const char in_page[] = "open sesame";

static void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

/* The page of one file. @return free it; *n receives its bytes */
static char *page_of(const char *path, uint64_t digest, const char *source_path, size_t *n)
{
    static qp_out out;
    qp_error error;
    qp_cover_export_options o = {.sources = {.folders = {.path = source_path}}};
    picture *p = picture_new();
    picture_file(p, path);
    picture_block(p, 1, picture_function(p, "f", 1), 1);
    const qp_cover *c = picture_done(p);
    ((qp_cover_file *)c->files)[0].digest = digest;

    FILE *file = tmpfile();
    assert_non_null(file);
    qp_out_init(&out, fileno(file));
    bool is_good = qp_cover_export(qp_cover_exporter_named("html"), c, &out, &o, &error);
    picture_free(p);
    if (!is_good) {
        assert_null(qp_page_cover.script.text);
        assert_non_null(strstr(error.text, "install nodejs and npm"));
        fclose(file);
        skip();
    }
    assert_int_equal(qp_out_close(&out), 0);
    long end = lseek(fileno(file), 0, SEEK_END);
    char *page = calloc((size_t)end + 1, 1);
    assert_non_null(page);
    assert_int_equal(pread(fileno(file), page, (size_t)end, 0), end);
    fclose(file);
    *n = (size_t)end;
    return page;
}

static bool shows(const char *path, uint64_t digest, const char *source_path)
{
    size_t n;
    char *page = page_of(path, digest, source_path, &n);
    bool is_shown = strstr(page, in_page) != NULL;
    bool is_set = strstr(page, "{\"missing\":\"\"") == NULL;
    free(page);
    assert_int_equal(is_shown, !is_set);
    return is_shown;
}

static uint64_t digest_of_text(void)
{
    return qp_hash_bytes(QP_HASH_START, text, strlen(text));
}

/* root/main.lua, root/lib/util.lua and outside.lua, all with the same text; we are in root. */
static int in_a_root(void **state)
{
    (void)state;
    static char folder[] = "/tmp/qprof-test-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) || mkdir("root", 0700) || mkdir("root/lib", 0700))
        return -1;
    write_file("outside.lua", text, strlen(text));
    write_file("root/main.lua", text, strlen(text));
    write_file("root/lib/util.lua", text, strlen(text));
    return chdir("root");
}

static int remove_root(void **state)
{
    (void)state;
    char folder[256];
    unlink("lib/util.lua");
    unlink("main.lua");
    unlink("odd.lua");
    rmdir("lib");
    if (chdir("..") || !getcwd(folder, sizeof folder))
        return -1;
    unlink("outside.lua");
    return rmdir("root") || rmdir(folder);
}

static void outside(char path[300])
{
    char folder[256];
    assert_non_null(getcwd(folder, sizeof folder));
    snprintf(path, 300, "%.*s/outside.lua", (int)(strrchr(folder, '/') - folder), folder);
}

static void a_source_below_the_root_is_shown(void **state)
{
    (void)state;
    assert_true(shows("main.lua", 0, NULL));
    assert_true(shows("lib/util.lua", 0, NULL));
}

static void a_source_outside_is_shown_only_if_it_is_the_text_that_was_recorded(void **state)
{
    (void)state;
    char path[300];
    outside(path);
    assert_false(shows(path, 0, NULL));
    assert_false(shows(path, digest_of_text() + 1, NULL));
    assert_true(shows(path, digest_of_text(), NULL));
}

static void steps_upwards_lead_nowhere(void **state)
{
    (void)state;
    assert_false(shows("../outside.lua", 0, NULL));
    assert_false(shows("lib/../../outside.lua", 0, NULL));
    assert_false(shows("/nowhere/../../outside.lua", 0, "lib"));
    assert_true(shows("../outside.lua", digest_of_text(), NULL));
}

static void links_may_not_lead_out(void **state)
{
    (void)state;
    char path[300];
    outside(path);
    assert_int_equal(symlink(path, "linked.lua"), 0);
    assert_int_equal(symlink("..", "lib/up"), 0);
    assert_false(shows("linked.lua", 0, NULL));
    assert_false(shows("lib/up/../outside.lua", 0, NULL));
    assert_false(shows("/build/linked.lua", 0, "."));
    assert_true(shows("lib/up/main.lua", 0, NULL));
    assert_true(shows("linked.lua", digest_of_text(), NULL));
    unlink("linked.lua");
    unlink("lib/up");
}

static void what_is_no_file_is_not_opened(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("pipe.lua", 0600), 0);
    int reader = open("pipe.lua", O_RDONLY | O_NONBLOCK), writer = open("pipe.lua", O_WRONLY);
    assert_true(reader >= 0 && writer >= 0);
    close(reader); /* opened now, it would have a reader again */
    assert_false(shows("pipe.lua", 0, NULL));
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(write(writer, "x", 1), -1);
    close(writer);
    unlink("pipe.lua");
}

static void a_folder_with_a_colon_is_one_folder(void **state)
{
    (void)state;
    qp_source s;
    qp_error error;
    assert_int_equal(mkdir("p", 0700), 0);
    assert_int_equal(mkdir("p:q", 0700), 0);
    write_file("p/key.lua", text, strlen(text));
    assert_false(
        qp_source_read("/no/key.lua", 0, &(qp_source_folders){.root = "p:q"}, &s, &error));
    write_file("p:q/key.lua", text, strlen(text));
    assert_true(
        qp_source_read("/no/key.lua", 0, &(qp_source_folders){.root = "p:q"}, &s, &error));
    assert_string_equal(s.path, "p:q/key.lua");
    qp_source_fini(&s);
    unlink("p/key.lua");
    unlink("p:q/key.lua");
    rmdir("p");
    rmdir("p:q");
}

static void what_is_hidden_is_shown_where_the_user_named_its_folder(void **state)
{
    (void)state;
    assert_int_equal(mkdir(".keys", 0700), 0);
    write_file(".keys/key.lua", text, strlen(text));
    assert_false(shows(".keys/key.lua", 0, NULL));
    assert_false(shows("lib/../.keys/key.lua", 0, NULL));
    assert_true(shows("key.lua", 0, ".keys"));
    assert_true(shows(".keys/key.lua", 0, "."));
    unlink(".keys/key.lua");
    rmdir(".keys");
}

static void the_top_of_the_file_system_is_no_folder_of_sources(void **state)
{
    (void)state;
    char path[300], folder[256];
    outside(path);
    assert_non_null(getcwd(folder, sizeof folder));
    assert_int_equal(chdir("/"), 0);
    assert_false(shows(path, 0, NULL));
    assert_false(shows(path + 1, 0, NULL));
    assert_true(shows(path, 0, "/"));
    assert_int_equal(chdir(folder), 0);
}

static void a_source_where_the_user_said_sources_are_is_shown(void **state)
{
    (void)state;
    assert_true(shows("/build/machine/lib/util.lua", 0, "."));
}

static void a_changed_source_is_said(void **state)
{
    (void)state;
    size_t n;
    char *page = page_of("main.lua", digest_of_text() + 1, NULL, &n);
    assert_non_null(strstr(page, "\"changed\":true"));
    free(page);
    page = page_of("main.lua", digest_of_text(), NULL, &n);
    assert_non_null(strstr(page, "\"changed\":false"));
    free(page);
}

/* The number of times a text occurs in a page that may contain NUL. */
static unsigned count_in(const char *page, size_t n, const char *what)
{
    unsigned found = 0;
    for (const char *at = page; (at = memmem(at, n - (size_t)(at - page), what, strlen(what)));
         at++)
        found++;
    return found;
}

static void a_source_of_any_bytes_stays_a_text(void **state)
{
    (void)state;
    static char bytes[1 << 16 | 256];
    size_t n = 0, n_plain, n_page;
    for (unsigned i = 0; i < 256; i++)
        bytes[n++] = (char)i;
    memcpy(bytes + n, "</script><!--<script>", 21);
    memset(bytes + n + 21, 'x', sizeof bytes - n - 21);
    char *plain = page_of("main.lua", 0, NULL, &n_plain);
    write_file("odd.lua", bytes, sizeof bytes);
    char *page = page_of("odd.lua", 0, NULL, &n_page);

    assert_int_equal(strlen(page), n_page);
    assert_int_equal(count_in(page, n_page, "<script"), count_in(plain, n_plain, "<script"));
    assert_int_equal(count_in(page, n_page, "</script"), count_in(plain, n_plain, "</script"));
    assert_int_equal(count_in(page, n_page, "<!--"), count_in(plain, n_plain, "<!--"));
    assert_int_equal(count_in(page, n_page, "\\u0000"),
                     count_in(plain, n_plain, "\\u0000") + 1);
    /* bytes 128 to 255 are no UTF-8, each one */
    assert_int_equal(count_in(page, n_page, "\xEF\xBF\xBD"), 128);
    free(plain);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_source_below_the_root_is_shown),
        cmocka_unit_test(a_source_outside_is_shown_only_if_it_is_the_text_that_was_recorded),
        cmocka_unit_test(steps_upwards_lead_nowhere),
        cmocka_unit_test(links_may_not_lead_out),
        cmocka_unit_test(what_is_no_file_is_not_opened),
        cmocka_unit_test(a_folder_with_a_colon_is_one_folder),
        cmocka_unit_test(what_is_hidden_is_shown_where_the_user_named_its_folder),
        cmocka_unit_test(the_top_of_the_file_system_is_no_folder_of_sources),
        cmocka_unit_test(a_source_where_the_user_said_sources_are_is_shown),
        cmocka_unit_test(a_changed_source_is_said),
        cmocka_unit_test(a_source_of_any_bytes_stays_a_text),
    };
    return cmocka_run_group_tests(tests, in_a_root, remove_root);
}
