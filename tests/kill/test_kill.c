/* test_kill.c: a recording program is killed at 200 random moments; nothing but the event in
 * flight of each thread may be missing from what it leaves. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"
#include "model/model.h"
#include "qprof.h"
#include "unit/victim.h"

enum { N_KILLS = 200 };

/* What else a program does while it is killed. */
static void disturb_for_ever(void)
{
    char name[32];
    for (uint64_t i = 1000;; i++) {
        snprintf(name, sizeof name, "method %ju", (uintmax_t)i);
        qprof_register_method_id(i, name, "Class", 0, "file", NULL, 0);
        qprof_add_annotation(name);
        if (i % 64 == 0)
            sched_yield();
    }
}

static const victim_plan plan = {.max_depth = 700, .meanwhile = disturb_for_ever};

static void assert_invariants(const qp_model *m)
{
    qp_check *checks;
    size_t n;
    assert_true(qp_model_check(m, &checks, &n));
    for (size_t i = 0; i < n; i++)
        if (!checks[i].passed)
            fail_msg("%s: %s", checks[i].name, checks[i].detail);
    qp_free(checks);
}

static uint64_t count_of(const qp_model *m, const char *name)
{
    for (size_t i = 0; i < m->run.n_diagnostics; i++)
        if (strcmp(m->run.diagnostics[i].name, name) == 0)
            return m->run.diagnostics[i].count;
    return 0;
}

static void assert_nothing_lost(const qp_model *m)
{
    unsigned n_found = 0, n_expected = 0;
    uint64_t n_lost = count_of(m, "out_of_memory");
    for (uint32_t i = 1; i < m->n_threads; i++) {
        const qp_model_thread *th = &m->threads[i];
        if (th->host_id < VICTIM_HOST_ID || th->host_id >= VICTIM_HOST_ID + VICTIM_THREADS)
            continue;
        const victim_tally *t = &victim->threads[th->host_id - VICTIM_HOST_ID];
        uint64_t n_entries = th->calls + th->n_overflowed + th->n_deep_total + th->n_dropped;
        victim_assert_between("entries", t->entries_done, n_entries, t->entries_begun, n_lost);
        victim_assert_between("exits", t->exits_done, th->n_exits, t->exits_begun, n_lost);
        n_found++;
    }
    for (unsigned i = 0; i < VICTIM_THREADS; i++)
        n_expected += victim->threads[i].entries_done > 0;
    assert_true(n_found >= n_expected || n_lost > 0);
}

static void kill_and_read(const char *options, unsigned n_kills, uint64_t seed, bool fits)
{
    for (unsigned i = 0; i < n_kills; i++) {
        qp_error error;
        qp_model *m;
        victim_kill_after(victim_moment(i, &seed), options, &plan);
        qp_load_status status = qp_model_load(victim->live_file, NULL, &m, &error);
        if (status != QP_LOAD_CLEAN)
            fail_msg("kill %u: %s", i, m && m->n_losses ? m->losses[0] : error.text);
        assert_int_equal(m->run.state, QP_RUN_CRASHED);
        if (fits)
            assert_int_equal(count_of(m, "out_of_memory"), 0);
        assert_nothing_lost(m);
        assert_invariants(m);
        qp_model_free(m);
        unlink(victim->live_file);
    }
}

static void exact_times_survive_kill_9(void **state) /* reliability 2.11, C10 */
{
    (void)state;
    kill_and_read("-time=exact", N_KILLS, 1, true);
}

static void counts_survive_kill_9(void **state)
{
    (void)state;
    kill_and_read("-time=none", N_KILLS / 4, 2, true);
}

static void a_full_memory_budget_survives_kill_9(void **state)
{
    (void)state;
    kill_and_read("-time=exact -memory-limit=1M", N_KILLS / 4, 3, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_times_survive_kill_9),
        cmocka_unit_test(counts_survive_kill_9),
        cmocka_unit_test(a_full_memory_budget_survives_kill_9),
    };
    unsetenv("QPROF");
    return victim_prepare() ? cmocka_run_group_tests(tests, NULL, NULL) : 99;
}
