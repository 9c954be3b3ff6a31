/* test_trace.c: a traced program is killed at 300 random moments in each mode: every packet that was
 * written and every ring's tail are read back, and at most the event in flight of each thread is
 * missing.
 *
 * As in test_kill.c the program counts its events in a page that it shares with the test, before and
 * after each one; what the trace has must lie between the two. */
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

#include "qprof.h"
#include "unit/traces.h"

enum {
    N_KILLS = 300,
    N_THREADS = 3,
    N_METHODS = 40,
    MAX_DEPTH = 300,
    MAX_EVENTS = 30000, /* of all threads, before the kill is sent */
    THREAD_EVENTS =
        100000, /* of one thread, however late the kill comes: a ring of 2M holds them */
};

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
static char folder[] = "/tmp/qprof-kill-XXXXXX";

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

static void *record_events(void *number)
{
    uintptr_t index = (uintptr_t)number;
    tally *t = &shared->threads[index];
    uint64_t state = 88172645463325252u + index, depth = 0;
    qprof_thread_create(1000 + index);
    qprof_thread *handle = index ? qprof_thread_handle(QPROF_INLINE_VERSION) : NULL;
    for (unsigned i = 0; i < THREAD_EVENTS; i++) {
        uint64_t r = next_random(&state);
        if (depth < MAX_DEPTH && r % 100 < 54) {
            enter(t, 1 + r / 128 % N_METHODS, depth++, handle);
        } else if (depth) {
            depth -= r % 1000 < 3 ? depth : 1;
            leave(t, depth ? 100 + depth - 1 : 0, handle);
        }
        BUMP(shared->n_events);
    }
    for (;;)
        pause();
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
        if (pthread_create(&thread, NULL, record_events, (void *)i))
            shared->has_failed = 1;
    for (;;)
        pause();
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

/* Events of one ring, from wherever they are read. */
typedef struct {
    qp_cell ring;
    uint64_t host_id;
    uint64_t n_entries, n_exits;
    uint64_t next, ticks;
} ring_sum;

static ring_sum *sum_of(ring_sum *sums, qp_cell ring)
{
    unsigned i = 0;
    while (sums[i].ring && sums[i].ring != ring)
        i++;
    assert_true(i < N_THREADS);
    sums[i].ring = ring;
    return &sums[i];
}

/* Records follow each other without a gap; those that are here and there are taken once. */
static void add_events(ring_sum *sums, const traces *t, const traces *names)
{
    for (size_t i = 0; i < t->n; i++) {
        const qp_trace_record *r = &t->all[i].r;
        ring_sum *s = sum_of(sums, t->all[i].ring);
        if (t->all[i].number < s->next)
            continue;
        assert_int_equal(t->all[i].number, s->next);
        s->next++;
        assert_true((r->word & QP_TRACE_TICKS) >= s->ticks);
        s->ticks = r->word & QP_TRACE_TICKS;
        switch (qp_trace_op_of(r)) {
        case QP_TRACE_SWITCH:
            s->host_id = traces_name(names, QP_NAMES_THREAD, r->a)->numbers[2];
            break;
        case QP_TRACE_ENTRY:
            s->n_entries++;
            assert_int_equal(names->paths[r->a].method, r->b);
            break;
        case QP_TRACE_EXIT:
            s->n_exits++;
            assert_in_range(r->a & ~QP_TRACE_UNWOUND, 1, MAX_DEPTH);
            break;
        case QP_TRACE_LOST:
            break;
        default:
            fail_msg("record %zu has op %d", i, qp_trace_op_of(r));
        }
    }
}

/* @param n_lost  that the ring itself says found no room: the machine was busy elsewhere */
static void assert_between(const char *what, uint64_t done, uint64_t recorded, uint64_t begun,
                           uint64_t n_lost)
{
    if (recorded + n_lost < done || recorded > begun)
        fail_msg("%s: %ju recorded, but %ju were done and %ju begun", what, (uintmax_t)recorded,
                 (uintmax_t)done, (uintmax_t)begun);
}

static void assert_nothing_lost(const ring_sum *sums, uint64_t n_lost)
{
    for (unsigned i = 0; i < N_THREADS; i++) {
        const tally *t = &shared->threads[i];
        const ring_sum *found = NULL;
        for (unsigned k = 0; k < N_THREADS; k++)
            if (sums[k].host_id == 1000 + i)
                found = &sums[k];
        assert_between("entries", t->entries_done, found ? found->n_entries : 0,
                       t->entries_begun, n_lost);
        uint64_t n_lost_or_of_lost =
            n_lost ? t->exits_done : 0; /* of a lost entry there is no exit */
        assert_between("exits", t->exits_done, found ? found->n_exits : 0, t->exits_begun,
                       n_lost_or_of_lost);
    }
}

static uint64_t moment_of(unsigned i, uint64_t *seed)
{
    uint64_t moment = next_random(seed) % MAX_EVENTS;
    return i % 8 == 0 ? moment % 16 : moment;
}

static void rings_survive_kill_9(void **state) /* reliability 2.11 */
{
    uint64_t seed = 1;
    (void)state;
    for (unsigned i = 0; i < N_KILLS; i++) {
        ring_sum sums[N_THREADS] = {{0}};
        kill_after(moment_of(i, &seed), "-collect=profile,trace -trace-buffer=2M");
        traces *t = traces_of_profile(shared->live_file);
        add_events(sums, t, t);
        assert_nothing_lost(sums, 0);
        traces_free(t);
        unlink(shared->live_file);
    }
}

/* Only the last thousand are there, and nothing of what they replaced. */
static void a_ring_that_went_round_survives_kill_9(void **state)
{
    uint64_t seed = 2;
    (void)state;
    for (unsigned i = 0; i < N_KILLS / 4; i++) {
        uint64_t done = 0, begun = 0;
        kill_after(moment_of(i, &seed), "-collect=profile,trace -trace-buffer=16K");
        traces *t = traces_of_profile(shared->live_file);
        unsigned n_rings = 0;
        for (size_t k = 0; k < t->n; k++) {
            bool is_first = !k || t->all[k].ring != t->all[k - 1].ring;
            n_rings += is_first;
            assert_true(is_first || (t->all[k].r.word & QP_TRACE_TICKS) >=
                                        (t->all[k - 1].r.word & QP_TRACE_TICKS));
            qp_trace_op op = qp_trace_op_of(&t->all[k].r);
            assert_true(op == QP_TRACE_ENTRY || op == QP_TRACE_EXIT || t->all[k].number == 0);
        }
        for (unsigned k = 0; k < N_THREADS; k++) {
            done += shared->threads[k].entries_done + shared->threads[k].exits_done;
            begun += shared->threads[k].entries_begun + shared->threads[k].exits_begun;
        }
        /* each ring begins with a SWITCH, which may be all that it has */
        assert_between("events", done, t->ring_head - n_rings, begun, 0);
        traces_free(t);
        unlink(shared->live_file);
    }
}

static void streams_survive_kill_9(void **state) /* reliability 2.11 */
{
    uint64_t seed = 3;
    char options[200], file[100];
    unsigned n_full = 0;
    (void)state;
    snprintf(file, sizeof file, "%s/t.qtrace", folder);
    snprintf(options, sizeof options, "-trace-output=%s", file);
    for (unsigned i = 0; i < N_KILLS; i++) {
        ring_sum sums[N_THREADS] = {{0}};
        kill_after(moment_of(i, &seed) * 2, options);
        traces *written = traces_of_file(file), *left = traces_of_profile(shared->live_file);
        assert_int_equal(written->n_missing, 0);
        add_events(sums, written, written);
        add_events(sums, left, left);
        n_full += left->ring_lost > 0;
        assert_nothing_lost(sums, left->ring_lost);
        traces_free(written);
        traces_free(left);
        unlink(shared->live_file);
        unlink(file);
    }
    assert_in_range(n_full, 0, N_KILLS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_survive_kill_9),
        cmocka_unit_test(a_ring_that_went_round_survives_kill_9),
        cmocka_unit_test(streams_survive_kill_9),
    };
    unsetenv("QPROF");
    shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || !mkdtemp(folder))
        return 99;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
