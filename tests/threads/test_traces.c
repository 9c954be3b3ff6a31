/* test_traces.c: virtual threads that wander between OS threads while all of them are traced:
 * nothing is missing, and the records of each thread are its calls in their order. Built with
 * the thread sanitizer as well. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "qprof.h"
#include "unit/play.h"
#include "unit/traces.h"

enum { N_OS_THREADS = 4, N_VIRTUAL = 24, N_METHODS = 20, MAX_DEPTH = 40, N_TURNS = 2000 };

/* One thread of the host: its stack is its own on every OS thread. */
typedef struct {
    VthreadID vt;
    uint64_t random, n_entries, n_exits;
    unsigned depth;
} actor;

static struct {
    pthread_mutex_t lock;
    actor actors[N_VIRTUAL];
    actor *waiting[N_VIRTUAL];
    unsigned n_waiting, n_turns_left;
    pthread_barrier_t begun;
    bool is_over;
} stage;

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void act(actor *a, unsigned n_events, qprof_thread *handle)
{
    for (unsigned i = 0; i < n_events; i++) {
        uint64_t r = next_random(&a->random), method = 1 + r / 8 % N_METHODS;
        if (a->depth < MAX_DEPTH && r % 2) {
            uint64_t id = 10 + a->depth++;
            a->n_entries++;
            if (handle)
                qprof_entry(handle, method, id);
            else
                qprof_record_fn_entry_vt(method, id, a->vt);
        } else if (a->depth) {
            a->depth -= r % 16 ? 1 : a->depth;
            uint64_t id = a->depth ? 9 + a->depth : 0;
            a->n_exits++;
            if (handle)
                qprof_exit(handle, id);
            else
                qprof_record_fn_exit_vt(id, a->vt);
        }
    }
}

static actor *take_actor(void)
{
    actor *a = NULL;
    pthread_mutex_lock(&stage.lock);
    if (stage.n_turns_left && stage.n_waiting) {
        stage.n_turns_left--;
        a = stage.waiting[0]; /* the one that waited longest */
        memmove(stage.waiting, stage.waiting + 1, --stage.n_waiting * sizeof(actor *));
    }
    pthread_mutex_unlock(&stage.lock);
    return a;
}

static void *carry(void *by_handle)
{
    actor *a = take_actor();
    pthread_barrier_wait(&stage.begun);
    for (; a; a = take_actor()) {
        qprof_thread *handle =
            by_handle ? qprof_thread_handle_vt(a->vt, QPROF_INLINE_VERSION) : NULL;
        if (handle)
            qprof_thread_mount(handle);
        act(a, 1 + (unsigned)(next_random(&a->random) % 40), handle);
        pthread_mutex_lock(&stage.lock);
        stage.waiting[stage.n_waiting++] = a;
        pthread_mutex_unlock(&stage.lock);
    }
    return NULL;
}

static void *disturb(void *stops_too)
{
    for (unsigned i = 0; !__atomic_load_n(&stage.is_over, __ATOMIC_ACQUIRE); i++) {
        if (stops_too && i % 4 == 0) {
            qprof_stop_recording();
            qprof_start_recording();
        }
        if (i % 8 == 0) {
            qprof_trace_dump("dump.qtrace");
            unlink("dump.qtrace");
        }
        qprof_mark("from elsewhere");
        qprof_save_data_to_file("snapshot.qprof");
        unlink("snapshot.qprof");
        sched_yield();
    }
    return NULL;
}

typedef enum { BY_HANDLE = 1, DISTURBED = 2, STOPPED = 4, CUT_SHORT = 8 } stage_way;

static void set_stage(const char *options)
{
    qprof_InitInfo info = {0, options, NULL, 1};
    qprof_set_clock(NULL);
    assert_int_equal(qprof_initialize_ex(&info), 0);
    for (uint64_t i = 1; i <= N_METHODS; i++)
        qprof_register_method_id(i, "m", NULL, 0, "f", NULL, 0);
    memset(&stage, 0, sizeof stage);
    pthread_mutex_init(&stage.lock, NULL);
    pthread_barrier_init(&stage.begun, NULL, N_OS_THREADS);
    stage.n_turns_left = N_TURNS;
    for (unsigned i = 0; i < N_VIRTUAL; i++) {
        stage.actors[i] =
            (actor){.vt = 0x7000 + 16 * i, .random = 0x9E3779B97F4A7C15u * (i + 1)};
        stage.waiting[stage.n_waiting++] = &stage.actors[i];
    }
}

/* In the middle of what all OS threads do. */
static void end_the_run(void)
{
    unsigned n_left = N_TURNS;
    while (n_left > N_TURNS / 2) {
        sched_yield();
        pthread_mutex_lock(&stage.lock);
        n_left = stage.n_turns_left;
        pthread_mutex_unlock(&stage.lock);
    }
    qprof_shutdown_vt(0);
}

static void run_stage(const char *options, unsigned way)
{
    pthread_t os_threads[N_OS_THREADS], other;
    bool is_disturbed = way & (DISTURBED | STOPPED);
    set_stage(options);
    if (is_disturbed)
        pthread_create(&other, NULL, disturb, way & STOPPED ? &stage : NULL);
    for (unsigned i = 0; i < N_OS_THREADS; i++)
        pthread_create(&os_threads[i], NULL, carry, way & BY_HANDLE ? &stage : NULL);
    if (way & CUT_SHORT)
        end_the_run();
    for (unsigned i = 0; i < N_OS_THREADS; i++)
        pthread_join(os_threads[i], NULL);
    __atomic_store_n(&stage.is_over, true, __ATOMIC_RELEASE);
    if (is_disturbed)
        pthread_join(other, NULL);
    pthread_barrier_destroy(&stage.begun);
}

/* ---- what the trace must say ------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const traced *x = a, *y = b;
    uint64_t s = x->r.word & QP_TRACE_TICKS, t = y->r.word & QP_TRACE_TICKS;
    if (s != t)
        return s < t ? -1 : 1;
    if (x->ring != y->ring)
        return x->ring < y->ring ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Where a thread is, by the records so far. */
typedef struct {
    qp_cell thread, path;
} position;

/* Which thread each ring is about. */
typedef struct {
    qp_cell ring;
    position *th;
} driver;

static position *position_of(position *all, qp_cell thread)
{
    unsigned i = 0;
    while (all[i].thread && all[i].thread != thread)
        i++;
    assert_in_range(i, 0, N_VIRTUAL + N_OS_THREADS);
    all[i].thread = thread;
    return &all[i];
}

static driver *driver_of(driver *all, qp_cell ring)
{
    unsigned i = 0;
    while (all[i].ring && all[i].ring != ring)
        i++;
    assert_in_range(i, 0, N_OS_THREADS);
    all[i].ring = ring;
    return &all[i];
}

static void follow(const traces *t, const qp_trace_record *r, driver *d, position *positions)
{
    switch (qp_trace_op_of(r)) {
    case QP_TRACE_SWITCH:
        d->th = position_of(positions, r->a);
        assert_true(!d->th->path || d->th->path == r->b);
        d->th->path = r->b;
        break;
    case QP_TRACE_SUSPEND:
        assert_non_null(d->th);
        assert_int_equal(d->th->thread, r->a);
        d->th = NULL;
        break;
    case QP_TRACE_ENTRY:
        assert_int_equal(t->paths[r->a].caller, d->th->path);
        assert_int_equal(t->paths[r->a].method, r->b);
        d->th->path = r->a;
        break;
    case QP_TRACE_EXIT:
        for (uint32_t i = 0; i < (r->a & ~QP_TRACE_UNWOUND); i++)
            d->th->path = t->paths[d->th->path].caller;
        assert_int_equal(d->th->path, r->b);
        break;
    case QP_TRACE_MARKER:
        break;
    default:
        fail_msg("op %d", qp_trace_op_of(r));
    }
}

/* Each record continues where the previous one of its thread ended. */
static void assert_steps(traces *t)
{
    position positions[N_VIRTUAL + N_OS_THREADS + 1] = {{0}};
    driver drivers[N_OS_THREADS + 1] = {{0}};
    qsort(t->all, t->n, sizeof *t->all, by_time);
    for (size_t i = 0; i < t->n; i++)
        follow(t, &t->all[i].r, driver_of(drivers, t->all[i].ring), positions);
}

static void assert_every_call(traces *t)
{
    uint64_t n_entries = 0, n_exits = 0;
    for (unsigned i = 0; i < N_VIRTUAL; i++) {
        n_entries += stage.actors[i].n_entries;
        n_exits += stage.actors[i].n_exits;
    }
    assert_int_equal(t->n_lost, 0);
    assert_int_equal(traces_count(t, QP_TRACE_ENTRY), n_entries);
    assert_int_equal(traces_count(t, QP_TRACE_EXIT), n_exits);
    assert_steps(t);
    traces_free(t);
}

static void rings_have_every_call_of_threads_that_wander(void **state) /* reliability 2.7 */
{
    play_ctx *p = *state;
    run_stage("-output=run.qprof -collect=profile,trace", DISTURBED);
    play_end(p);
    assert_every_call(traces_of_profile("run.qprof"));
}

static void rings_have_every_call_of_handles_that_wander(void **state)
{
    play_ctx *p = *state;
    run_stage("-output=run.qprof -collect=profile,trace", BY_HANDLE | DISTURBED);
    play_end(p);
    assert_every_call(traces_of_profile("run.qprof"));
}

static void streams_have_every_call_of_threads_that_wander(void **state)
{
    play_ctx *p = *state;
    run_stage("-output=run.qprof -trace-output=t.qtrace", DISTURBED);
    play_end(p);
    assert_every_call(traces_of_file("t.qtrace"));
}

/* What came before the end is there, in the trace as in the profile but for the entry that each
 * OS thread may have been in. */
static void assert_up_to_the_end(traces *t)
{
    traces *profile = traces_of_profile("run.qprof");
    size_t n_entries = traces_count(t, QP_TRACE_ENTRY);
    assert_in_range(n_entries, N_TURNS / 4, profile->n_calls);
    assert_in_range(profile->n_calls - n_entries, 0, N_OS_THREADS);
    assert_int_equal(t->n_lost, 0);
    assert_steps(t);
    traces_free(profile);
    traces_free(t);
}

static void a_run_that_ends_while_threads_run_has_what_was_before(void **state)
{
    (void)state;
    run_stage("-output=run.qprof -collect=profile,trace", CUT_SHORT);
    assert_up_to_the_end(traces_of_profile("run.qprof"));
    unlink("run.qprof");
    run_stage("-output=run.qprof -trace-output=t.qtrace", CUT_SHORT | BY_HANDLE);
    traces *t = traces_of_file("t.qtrace");
    assert_true(t->has_end);
    assert_up_to_the_end(t);
}

static void threads_that_wander_are_traced_as_they_are_counted(void **state)
{
    (void)state;
    run_stage("-output=run.qprof -trace-output=t.qtrace", STOPPED);
    qprof_shutdown();
    traces *t = traces_of_file("t.qtrace"), *profile = traces_of_profile("run.qprof");
    assert_int_equal(traces_count(t, QP_TRACE_ENTRY), profile->n_calls);
    assert_int_equal(t->n_lost, 0);
    traces_free(profile);
    traces_free(t);
}

static void *record_some(void *number)
{
    qprof_thread_create(1000 + (uintptr_t)number);
    for (unsigned i = 0; i < 20; i++) {
        qprof_record_fn_entry(1 + i % N_METHODS, 1);
        qprof_record_fn_exit(0);
    }
    return NULL;
}

/* A thread's ring is handed on when it ends. */
static void a_thousand_threads_in_turn_need_few_rings(void **state)
{
    enum { N_THREADS = 1000 };
    play_ctx *p = *state;
    pthread_t threads[4];
    qprof_set_clock(NULL);
    assert_int_equal(qprof_initialize("-output=run.qprof -trace-output=t.qtrace", NULL), 0);
    for (uintptr_t i = 0; i < N_THREADS; i += 4) {
        for (uintptr_t k = 0; k < 4; k++)
            pthread_create(&threads[k], NULL, record_some, (void *)(i + k));
        for (unsigned k = 0; k < 4; k++)
            pthread_join(threads[k], NULL);
    }
    play_end(p);
    assert_int_equal(p->m->run.calls, 20 * N_THREADS);
    traces *t = traces_of_file("t.qtrace");
    unsigned n_rings = 0;
    for (size_t i = 0; i < t->n; i++)
        n_rings += !i || t->all[i].ring != t->all[i - 1].ring;
    assert_in_range(n_rings, 1, 8);
    assert_int_equal(t->n_lost, 0);
    assert_int_equal(traces_count(t, QP_TRACE_ENTRY), 20 * N_THREADS);
    assert_int_equal(traces_count(t, QP_TRACE_EXIT), 20 * N_THREADS);
    assert_int_equal(traces_count(t, QP_TRACE_SWITCH), N_THREADS);
    traces_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(rings_have_every_call_of_threads_that_wander),
        PLAY_TEST(rings_have_every_call_of_handles_that_wander),
        PLAY_TEST(streams_have_every_call_of_threads_that_wander),
        PLAY_TEST(a_run_that_ends_while_threads_run_has_what_was_before),
        PLAY_TEST(threads_that_wander_are_traced_as_they_are_counted),
        PLAY_TEST(a_thousand_threads_in_turn_need_few_rings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
