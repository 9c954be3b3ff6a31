/* test_memory.c: the recorder's memory fails to grow the k-th time, once and for ever, for
 * every k: no crash, and what is lost is counted. reliability.md 5.3, C8. */
#include <stdio.h>
#include <string.h>

#include "base/os/mapping.h"
#include "unit/play.h"

enum { N_ENTRIES = 60000, MAX_GROWTHS = 400 };

/* A bit of everything that takes memory. */
static void record_a_lot(bool is_virtual)
{
    char name[64];
    for (uintptr_t i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "a method with number %ju", (uintmax_t)i);
        qprof_register_method_id(1 + i, name, "Class", 0, "file", NULL, 0);
    }
    for (uintptr_t i = 0; i < N_ENTRIES; i++) {
        VthreadID vt = 1 + i / 2000;
        uintptr_t method = 1 + i * 2654435761u % 1999;
        if (is_virtual)
            qprof_record_fn_entry_vt(method, 1 + i, vt);
        else
            qprof_record_fn_entry(method, 1 + i);
        if (i % 400 == 399) {
            if (is_virtual)
                qprof_record_fn_exit_vt(0, vt);
            else
                qprof_record_fn_exit(0);
        }
    }
}

static uint64_t count_losses(void)
{
    static const char *const losses[] = {"tree_overflow", "depth_overflow", "stack_nomem",
                                         "thread_nomem",  "out_of_memory",  "method_limit",
                                         "lost_full",     "e_memory"};
    uint64_t n = 0;
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        n += qprof_diagnostic(losses[i]);
    return n;
}

static uint64_t all_entries(const qp_model *m)
{
    uint64_t n = m->run.calls;
    for (uint32_t i = 1; i < m->n_threads; i++)
        n += m->threads[i].n_deep_total + m->threads[i].n_overflowed + m->threads[i].n_dropped;
    return n;
}

/* @return false: the k-th growth was never asked for */
static bool run_failing(play_ctx *p, unsigned k, bool for_ever, bool is_virtual)
{
    qprof_InitInfo info = {0, "-output=run.qprof", NULL, is_virtual};
    qp_mapping_fail_after(k, for_ever);
    int code = qprof_initialize_ex(&info);
    if (code) {
        qp_mapping_fail_after(0, false);
        assert_true(code == QPROF_E_MEMORY || code == QPROF_E_IO);
        assert_int_equal(qprof_is_running(), 0);
        return true;
    }
    record_a_lot(is_virtual);
    qp_mapping_fail_after(0, false);
    uint64_t n_losses = count_losses();
    qprof_shutdown();
    if (play_file_exists("run.qprof")) {
        play_read(p, "run.qprof"); /* checks the identity */
        assert_true(all_entries(p->m) == N_ENTRIES || n_losses > 0);
        remove("run.qprof");
    } else {
        assert_true(n_losses > 0);
    }
    return n_losses > 0;
}

static void every_growth_may_fail_once(void **state)
{
    for (int is_virtual = 0; is_virtual < 2; is_virtual++) {
        unsigned k = 1, n_quiet = 0;
        for (; k < MAX_GROWTHS && n_quiet < 3; k++)
            n_quiet = run_failing(*state, k, false, is_virtual) ? 0 : n_quiet + 1;
        assert_true(k > 4 && k < MAX_GROWTHS);
    }
}

static void every_growth_may_fail_for_ever(void **state)
{
    for (int is_virtual = 0; is_virtual < 2; is_virtual++) {
        unsigned k = 1, n_quiet = 0;
        for (; k < MAX_GROWTHS && n_quiet < 3; k++)
            n_quiet = run_failing(*state, k, true, is_virtual) ? 0 : n_quiet + 1;
        assert_true(k > 4 && k < MAX_GROWTHS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(every_growth_may_fail_once),
        PLAY_TEST(every_growth_may_fail_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
