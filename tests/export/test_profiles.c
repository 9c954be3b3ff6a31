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
        cmocka_unit_test(no_memory_is_said),
        cmocka_unit_test(a_full_disk_is_known_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
