/* test_profiles.c: what all exporters of profiles have in common; export/profile/profile.c. */
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
#include "unit/profile.h"

static qp_out out;

/* main 10 ns, and f 5 ns below it, which jumps from one of its lines to the other. */
static qp_model *two_methods(void)
{
    static const qp_line lines[] = {{0, 7}, {4, 9}};
    static const qp_jump jump = {0, 1};
    profile *p = profile_new();
    qp_cell thread = profile_thread(p);
    qp_cell main_method = profile_method(p, 1, "main", NULL, "a.lua");
    qp_cell f = profile_method(p, 2, "f", NULL, "a.lua");
    ((qp_method *)profile_at(p, f))->lines = profile_lines(p, lines, 2);
    ((qp_method *)profile_at(p, f))->jumps =
        profile_jumps(p, &jump, 1, (const unsigned char[]){0, 0}, 2);
    profile_bank(p, thread, f, QP_COUNTER_BLOCK_COUNTS, 1, 2)->values[0] = 1;
    qp_cell node = profile_node(p, thread, 0, main_method, 1, 10);
    profile_node(p, thread, node, f, 1, 5);
    profile_balance(p, thread, 2, 0);
    qp_model *m = profile_read(p, QP_LOAD_CLEAN);
    return m;
}

static bool export(const qp_exporter *x, const qp_model *m, int fd, qp_error *error)
{
    qp_export_options o = {.thread = QP_ALL_THREADS, .has_jumps = true};
    qp_out_init(&out, fd);
    return x->write(m, &out, &o, error);
}

static void paths_have_their_frames_innermost_first(void **state)
{
    (void)state;
    qp_model *m = two_methods();
    qp_export_path *paths;
    size_t n;
    uint32_t frames[QP_EXPORT_FRAMES];
    assert_true(qp_export_paths(m, QP_ALL_THREADS, &paths, &n));
    assert_int_equal(n, 2);
    assert_int_equal(paths[0].f.self, 10);
    assert_int_equal(paths[1].f.self, 5);
    assert_int_equal(qp_export_frames(m, paths[1].node, frames), 2);
    assert_int_equal(frames[0], profile_index(m, "f"));
    assert_int_equal(frames[1], profile_index(m, "main"));
    qp_free(paths);
    qp_model_free(m);
}

/* main 10 ns, below it f 5 and h 1, and g 7 in f. */
static qp_model *four_paths(void)
{
    profile *p = profile_new();
    qp_cell thread = profile_thread(p);
    qp_cell main_node =
        profile_node(p, thread, 0, profile_method(p, 1, "main", NULL, "a.lua"), 1, 10);
    qp_cell f =
        profile_node(p, thread, main_node, profile_method(p, 2, "f", NULL, "a.lua"), 1, 5);
    profile_node(p, thread, f, profile_method(p, 3, "g", NULL, "b.lua"), 1, 7);
    profile_node(p, thread, main_node, profile_method(p, 4, "h", NULL, "a.lua"), 1, 1);
    profile_balance(p, thread, 4, 0);
    return profile_read(p, QP_LOAD_CLEAN);
}

typedef struct {
    const char *method; /* "": the root */
    bool is_rest;
    uint64_t self, calls;
} row;

/* @param rows  [n_rows], in any order */
static void cut_is(const qp_model *m, size_t n_most, uint32_t depth, const row *rows,
                   size_t n_rows)
{
    qp_export_path *paths;
    size_t n, n_found = 0;
    assert_true(qp_export_paths(m, QP_ALL_THREADS, &paths, &n));
    assert_true(qp_export_cut(m, n_most, depth, paths, &n));
    assert_int_equal(n, n_rows);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n_rows; k++) {
            const uint32_t method = m->nodes[paths[i].node].method;
            n_found += strcmp(method ? m->methods[method].name : "", rows[k].method) == 0 &&
                       paths[i].is_rest == rows[k].is_rest && paths[i].f.self == rows[k].self &&
                       paths[i].f.calls == rows[k].calls;
        }
    assert_int_equal(n_found, n_rows);
    qp_free(paths);
}

/* With main and g, or with g too, f and h need a rest each: 4 paths. So main is kept alone. */
static void what_is_cut_goes_to_the_deepest_ancestor_that_is_kept(void **state)
{
    (void)state;
    qp_model *m = four_paths();
    cut_is(m, 4, 9,
           (const row[]){{"main", 0, 10, 1}, {"f", 0, 5, 1}, {"g", 0, 7, 1}, {"h", 0, 1, 1}},
           4);
    cut_is(m, 3, 9, (const row[]){{"main", 0, 10, 1}, {"main", 1, 13, 3}}, 2);
    cut_is(m, 2, 9, (const row[]){{"main", 0, 10, 1}, {"main", 1, 13, 3}}, 2);
    cut_is(m, 1, 9, (const row[]){{"", 1, 23, 4}}, 1);
    cut_is(m, 9, 2,
           (const row[]){{"main", 0, 10, 1}, {"f", 0, 5, 1}, {"main", 1, 7, 1}, {"h", 0, 1, 1}},
           4);
    cut_is(m, 3, 2, (const row[]){{"main", 0, 10, 1}, {"f", 0, 5, 1}, {"main", 1, 8, 2}}, 3);
    qp_model_free(m);
}

/* Whatever allocation fails: no message, or one that is whole. */
static void messages_without_memory(void **state)
{
    (void)state;
    static qp_export_message *const all[] = {qp_export_pyroscope, qp_export_otlp};
    static const unsigned char id[QP_EXPORT_ID_BYTES] = {1};
    qp_model *m = four_paths();
    for (size_t i = 0; i < 2; i++) {
        bool is_written = false;
        uint64_t n = 1;
        for (; !is_written && n < 1000; n++) {
            qp_error error = {0};
            qp_buf to = QP_BUF(unsigned char);
            qp_export_limits limits = {.n_samples = 2, .depth = 2, .n_bytes = 1 << 20};
            qp_alloc_fail_after(n, true);
            is_written = all[i](m, id, &limits, &to, &error);
            qp_alloc_fail_after(0, false);
            assert_int_equal(limits.n_samples <= 2, 1);
            assert_int_equal(is_written, to.n > 0);
            if (!is_written)
                assert_string_equal(error.text, "out of memory");
            qp_free(to.items);
        }
        assert_true(is_written && n > 10);
    }
    qp_model_free(m);
}

static void a_message_that_cannot_be_small_enough_is_refused(void **state)
{
    (void)state;
    static const unsigned char id[QP_EXPORT_ID_BYTES] = {1};
    qp_model *m = four_paths();
    qp_error error;
    qp_buf to = QP_BUF(unsigned char);
    qp_export_limits limits = {.n_samples = 4, .depth = 9, .n_bytes = 60};
    assert_false(qp_export_pyroscope(m, id, &limits, &to, &error));
    assert_string_equal(error.text,
                        "cannot be cut to what the server takes: names are too long");
    limits = (qp_export_limits){.n_samples = 4, .depth = 9, .n_bytes = 60};
    assert_false(qp_export_otlp(m, id, &limits, &to, &error));
    assert_int_equal(to.n, 0);
    qp_free(to.items);
    qp_model_free(m);
}

/* Whatever allocation fails: a clean no, or all of it. */
static void no_memory_is_said(void **state)
{
    (void)state;
    qp_model *m = two_methods();
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (const qp_exporter *x = qp_exporters; x->name; x++) {
        bool is_written = false;
        for (uint64_t n = 1; !is_written && n < 1000; n++) {
            qp_error error = {0};
            qp_alloc_fail_after(n, true);
            is_written = export(x, m, fd, &error);
            qp_alloc_fail_after(0, false);
            if (!is_written)
                assert_string_equal(error.text, "out of memory");
        }
        assert_true(is_written);
    }
    close(fd);
    qp_model_free(m);
}

static void a_full_disk_is_known_at_the_end(void **state)
{
    (void)state;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        skip();
    qp_model *m = two_methods();
    for (const qp_exporter *x = qp_exporters; x->name; x++) {
        qp_error error;
        assert_true(export(x, m, fd, &error));
        assert_int_equal(qp_out_close(&out), ENOSPC);
    }
    close(fd);
    qp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_have_their_frames_innermost_first),
        cmocka_unit_test(what_is_cut_goes_to_the_deepest_ancestor_that_is_kept),
        cmocka_unit_test(messages_without_memory),
        cmocka_unit_test(a_message_that_cannot_be_small_enough_is_refused),
        cmocka_unit_test(no_memory_is_said),
        cmocka_unit_test(a_full_disk_is_known_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
