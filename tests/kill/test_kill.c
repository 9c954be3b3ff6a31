/* test_kill.c: a recording program is killed at 200 random moments; nothing but the event in
 * flight of each thread may be missing from what it leaves.
 *
 * The program counts its events in a page that it shares with the test, before and after each
 * one. What the profile says must lie between the two. The moment is a number of events, not a
 * time: the test watches the page and kills when the number is reached. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "model/check.h"
#include "model/model.h"
#include "qprof.h"

enum { N_KILLS = 200, N_THREADS = 3, N_METHODS = 40, MAX_DEPTH = 700, MAX_EVENTS = 30000 };

typedef struct {
    uint64_t entries_begun, entries_done, exits_begun, exits_done;
} tally;

typedef struct {
    char live_file[300];
    uint32_t is_ready, has_failed;
    uint64_t n_events;
    tally threads[N_THREADS];
} page;

static page *shared;

#define BUMP(counter) __atomic_fetch_add(&(counter), 1, __ATOMIC_SEQ_CST)
#define READ(counter) __atomic_load_n(&(counter), __ATOMIC_SEQ_CST)

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* ---- the program that will be killed -------------------------------------------------------- */

static void enter(tally *t, uint64_t method, uint64_t depth, qprof_thread *handle)
{
    BUMP(t->entries_begun);
    if (handle)
        qprof_entry(handle, method, 100 + depth);
    else
        qprof_record_fn_entry(method, 100 + depth);
    BUMP(t->entries_done);
}

static void leave(tally *t, uint64_t id, qprof_thread *handle)
{
    BUMP(t->exits_begun);
    if (handle)
        qprof_exit(handle, id);
    else
        qprof_record_fn_exit(id);
    BUMP(t->exits_done);
}

/* Calls and returns without end; each thread in its own way. */
static void *record_for_ever(void *number)
{
    uintptr_t index = (uintptr_t)number;
    tally *t = &shared->threads[index];
    uint64_t state = 88172645463325252u + index, depth = 0;
    qprof_thread_create(1000 + index);
    qprof_thread *handle = index ? qprof_thread_handle(QPROF_INLINE_VERSION) : NULL;
    for (;;) {
        uint64_t r = next_random(&state);
        if (depth < MAX_DEPTH && r % 100 < 54) {
            enter(t, 1 + r / 128 % N_METHODS, depth++, handle);
        } else if (depth) {
            depth -= r % 1000 < 3 ? depth : 1;
            leave(t, depth ? 100 + depth - 1 : 0, handle);
        }
        BUMP(shared->n_events);
    }
    return NULL;
}

/* What else a program does while it is killed. */
static void *disturb_for_ever(void *unused)
{
    char name[32];
    (void)unused;
    for (uint64_t i = 1000;; i++) {
        snprintf(name, sizeof name, "method %ju", (uintmax_t)i);
        qprof_register_method_id(i, name, "Class", 0, "file", NULL, 0);
        qprof_add_annotation(name);
        if (i % 64 == 0)
            sched_yield();
    }
    return NULL;
}

static void run_program(const char *options)
{
    pthread_t thread;
    if (qprof_initialize(options, NULL))
        shared->has_failed = 1;
    for (uint64_t i = 1; i <= N_METHODS; i++)
        qprof_register_method_id(i, "method", NULL, 0, "file", NULL, 0);
    snprintf(shared->live_file, sizeof shared->live_file, "%s", qprof_live_file());
    __atomic_store_n(&shared->is_ready, 1, __ATOMIC_SEQ_CST);
    for (uintptr_t i = 0; i < N_THREADS; i++)
        if (pthread_create(&thread, NULL, record_for_ever, (void *)i))
            shared->has_failed = 1;
    disturb_for_ever(NULL);
}

/* ---- the one who kills ----------------------------------------------------------------------- */

static void kill_after(uint64_t n_events, const char *options)
{
    int status = 0;
    memset(shared, 0, sizeof *shared);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        run_program(options);
    assert_true(child > 0);
    while (!READ(shared->is_ready) || READ(shared->n_events) < n_events)
        sched_yield();
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(shared->has_failed, 0);
}

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

/* @param n_lost  events that the profile itself says it could not store */
static void assert_between(const char *what, uint64_t done, uint64_t recorded, uint64_t begun,
                           uint64_t n_lost)
{
    if (recorded + n_lost < done || recorded > begun)
        fail_msg("%s: %ju recorded, but %ju were done and %ju begun", what, (uintmax_t)recorded,
                 (uintmax_t)done, (uintmax_t)begun);
}

static void assert_nothing_lost(const qp_model *m)
{
    unsigned n_found = 0, n_expected = 0;
    uint64_t n_lost = count_of(m, "out_of_memory");
    for (uint32_t i = 1; i < m->n_threads; i++) {
        const qp_model_thread *th = &m->threads[i];
        if (th->host_id < 1000 || th->host_id >= 1000 + N_THREADS)
            continue;
        const tally *t = &shared->threads[th->host_id - 1000];
        uint64_t n_entries = th->calls + th->n_folded + th->n_deep_total + th->n_dropped;
        assert_between("entries", t->entries_done, n_entries, t->entries_begun, n_lost);
        assert_between("exits", t->exits_done, th->n_exits, t->exits_begun, n_lost);
        n_found++;
    }
    for (unsigned i = 0; i < N_THREADS; i++)
        n_expected += shared->threads[i].entries_done > 0;
    assert_true(n_found >= n_expected || n_lost > 0);
}

static void kill_and_read(const char *options, unsigned n_kills, uint64_t seed, bool fits)
{
    for (unsigned i = 0; i < n_kills; i++) {
        char error[QP_ERROR_BYTES];
        qp_model *m;
        uint64_t moment = next_random(&seed) % MAX_EVENTS;
        kill_after(i % 8 == 0 ? moment % 16 : moment, options);
        qp_load_status status = qp_model_load(shared->live_file, NULL, &m, error);
        if (status != QP_LOAD_CLEAN)
            fail_msg("kill %u: %s", i, m && m->n_losses ? m->losses[0] : error);
        assert_int_equal(m->run.state, QP_RUN_CRASHED);
        if (fits)
            assert_int_equal(count_of(m, "out_of_memory"), 0);
        assert_nothing_lost(m);
        assert_invariants(m);
        qp_model_free(m);
        unlink(shared->live_file);
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
    shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? 99 : cmocka_run_group_tests(tests, NULL, NULL);
}
