/* test_patch.c: the lines that a unified diff adds or changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/containers/alloc.h"
#include "model/cover/cover.h"

static qp_patch *read_patch(const char *text)
{
    qp_error error;
    size_t n = strlen(text);
    char *exact = malloc(n + 1); /* without the NUL, so that reads past the end are found */
    memcpy(exact, text, n);
    char *cut = realloc(exact, n ? n : 1);
    qp_patch *p = qp_patch_read(cut, n, &error);
    free(cut);
    assert_string_equal(error.text, "");
    assert_non_null(p);
    return p;
}

static void assert_refused(const char *text, const char *why)
{
    qp_error error;
    assert_null(qp_patch_read(text, strlen(text), &error));
    assert_string_equal(error.text, why);
}

static void assert_span(const qp_patch *p, size_t file, size_t span, uint32_t first,
                        uint32_t last)
{
    assert_true(span < p->files[file].n_spans);
    assert_int_equal(p->files[file].spans[span].first, first);
    assert_int_equal(p->files[file].spans[span].last, last);
}

/* Context 1, one changed line (2), one added after line 3, so 4. */
static void changed_and_added_lines_are_those_of_the_new_text(void **state)
{
    (void)state;
    qp_patch *p = read_patch("diff --git a/src/x.lua b/src/x.lua\n"
                             "index 1..2 100644\n"
                             "--- a/src/x.lua\n"
                             "+++ b/src/x.lua\n"
                             "@@ -1,3 +1,4 @@ function f()\n"
                             " one\n"
                             "-two\n"
                             "+TWO\n"
                             " three\n"
                             "+four\n"
                             "@@ -10 +11,2 @@\n"
                             "-ten\n"
                             "+eleven\n"
                             "+twelve\n");
    assert_int_equal(p->n_files, 1);
    assert_string_equal(p->files[0].path, "src/x.lua");
    assert_int_equal(p->files[0].n_spans, 3);
    assert_span(p, 0, 0, 2, 2);
    assert_span(p, 0, 1, 4, 4);
    assert_span(p, 0, 2, 11, 12);
    qp_patch_free(p);
}

static void without_context_it_says_the_same(void **state)
{
    (void)state;
    qp_patch *p = read_patch("--- a/x\n+++ b/x\n"
                             "@@ -2 +2 @@\n-two\n+TWO\n"
                             "@@ -4,2 +3,0 @@\n-a\n-b\n"
                             "@@ -9,0 +8,3 @@\n+a\n+b\n+c\n");
    assert_int_equal(p->files[0].n_spans, 2);
    assert_span(p, 0, 0, 2, 2);
    assert_span(p, 0, 1, 8, 10);
    qp_patch_free(p);
}

static void files_come_go_and_move(void **state)
{
    (void)state;
    qp_patch *p = read_patch("diff --git a/new.lua b/new.lua\n"
                             "new file mode 100644\n"
                             "--- /dev/null\n+++ b/new.lua\n@@ -0,0 +1,2 @@\n+a\n+b\n"
                             "diff --git a/old.lua b/old.lua\n"
                             "deleted file mode 100644\n"
                             "--- a/old.lua\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
                             "diff --git a/was.lua b/is.lua\n"
                             "similarity index 100%\nrename from was.lua\nrename to is.lua\n"
                             "diff --git a/p.lua b/q.lua\n"
                             "rename from p.lua\nrename to q.lua\n"
                             "--- a/p.lua\n+++ b/q.lua\n@@ -1 +1 @@\n-a\n+b\n"
                             "Binary files a/x.png and b/x.png differ\n");
    assert_int_equal(p->n_files, 3);
    assert_string_equal(p->files[0].path, "new.lua");
    assert_span(p, 0, 0, 1, 2);
    assert_string_equal(p->files[1].path, "old.lua");
    assert_true(p->files[1].is_gone);
    assert_int_equal(p->files[1].n_spans, 0);
    assert_string_equal(p->files[2].path, "q.lua");
    assert_false(p->files[2].is_gone);
    qp_patch_free(p);
}

/* What git and diff write around paths. */
static void paths_lose_prefixes_quotes_and_times(void **state)
{
    static const struct {
        const char *old_path, *new_path, *wanted;
    } paths[] = {
        {"a/x y.lua\t", "b/x y.lua\t", "x y.lua"},
        {"x.lua\t2026-01-01 00:00:00", "x.lua\t2026-01-02 00:00:00", "x.lua"},
        {"a/lib/x.lua", "a/lib/x.lua", "a/lib/x.lua"}, /* --no-prefix, and a folder named a */
        {"i/x.lua", "w/x.lua", "x.lua"},               /* mnemonic prefixes */
        {"lib/x.lua", "lib/x.lua", "lib/x.lua"},
        {"\"a/na\\303\\257ve\\t\\\"\\\\.lua\"", "\"b/na\\303\\257ve\\t\\\"\\\\.lua\"",
         "na\303\257ve\t\"\\.lua"},
        {"/dev/null", "c/x.lua", "x.lua"},
        {"/tmp/a/x.lua", "/tmp/b/x.lua", "/tmp/b/x.lua"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char text[512];
        strcpy(text, "--- ");
        strcat(strcat(strcat(text, paths[i].old_path), "\n+++ "), paths[i].new_path);
        qp_patch *p = read_patch(strcat(text, "\n@@ -1 +1 @@\n-a\n+b\n"));
        assert_string_equal(p->files[0].path, paths[i].wanted);
        qp_patch_free(p);
    }
}

/* Content may look like anything. */
static void the_counts_of_a_hunk_say_what_is_content(void **state)
{
    (void)state;
    qp_patch *p = read_patch("--- a/x\r\n+++ b/x\r\n"
                             "@@ -1,3 +1,5 @@\r\n"
                             "--- a/no file\r\n"
                             "+++ b/no file\r\n"
                             "\n" /* a line of context whose blank got lost */
                             "+@@ -1 +1 @@\r\n"
                             "+\r\n"
                             "-last\n\\ No newline at end of file\n"
                             "+last\n\\ No newline at end of file\n");
    assert_int_equal(p->n_files, 1);
    assert_string_equal(p->files[0].path, "x");
    assert_int_equal(p->files[0].n_spans, 2);
    assert_span(p, 0, 0, 1, 1);
    assert_span(p, 0, 1, 3, 5);
    qp_patch_free(p);
}

static void what_is_no_patch_is_refused_with_its_line(void **state)
{
    (void)state;
    assert_refused("--- a/x\n@@ -1 +1 @@\n",
                   "line 2 of the patch: expected \"+++\" after \"---\"");
    assert_refused("@@ -1 +1 @@\n-a\n+b\n",
                   "line 1 of the patch: a hunk before the name of a file");
    assert_refused("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n",
                   "line 4 of the patch: the patch ends inside a hunk");
    assert_refused("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n-b\n",
                   "line 5 of the patch: the hunk has other lines than its head says");
    assert_refused("--- a/x\n+++ b/x\n@@ -1 +99999999999 @@\n",
                   "line 3 of the patch: not a hunk (expected \"@@ -1,2 +3,4 @@\")");
    assert_refused("--- a/x\n+++ b/x\n@@@ -1 -1 +1 @@@\n",
                   "line 3 of the patch: a combined diff of a merge is not understood: compare "
                   "with one parent");
    assert_refused("--- a/x\n+++ b/x\n@@ -5 +5 @@\n-a\n+b\n@@ -5 +5 @@\n-a\n+b\n",
                   "line 8 of the patch: hunks are not in ascending order");
    assert_refused("--- \"a/x\n",
                   "line 1 of the patch: the path's quotes are not closed, or it is "
                   "too long");
    qp_patch *p = read_patch("");
    assert_int_equal(p->n_files, 0);
    qp_patch_free(p);
    p = read_patch("no differences\n");
    assert_int_equal(p->n_files, 0);
    qp_patch_free(p);
}

static void every_failing_allocation_is_an_error_and_no_leak(void **state)
{
    static const char text[] = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
    qp_error error;
    (void)state;
    for (uint64_t n = 1, is_done = 0; !is_done; n++) {
        qp_alloc_fail_after(n, true);
        qp_patch *p = qp_patch_read(text, sizeof text - 1, &error);
        is_done = qp_alloc_count() < n;
        qp_alloc_fail_after(0, false);
        assert_int_equal(p != NULL, is_done);
        assert_string_equal(error.text,
                            p ? "" : "there is not enough memory to read the patch");
        qp_patch_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changed_and_added_lines_are_those_of_the_new_text),
        cmocka_unit_test(without_context_it_says_the_same),
        cmocka_unit_test(files_come_go_and_move),
        cmocka_unit_test(paths_lose_prefixes_quotes_and_times),
        cmocka_unit_test(the_counts_of_a_hunk_say_what_is_content),
        cmocka_unit_test(what_is_no_patch_is_refused_with_its_line),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
